/* The inside of the learner lsvi-ucb, shared by its files. */
#ifndef TACIT_AGENTS_LSVI_AGENT_H
#define TACIT_AGENTS_LSVI_AGENT_H

#include "agents/agent_base.h"
#include "agents/reading.h"
#include "noise/stream.h"
#include "plan/papers/lsvi.h"
#include "plan/papers/lsvi_printed.h"
#include "release/archive/archive.h"

typedef struct lsvi_agent {
    tacit__agent_base base;
    tacit__linear_space space;
    double *table;    /* of features, in lattice steps */
    bool come_back;   /* people, with several visits */
    double *response; /* [d] */
    tacit__lsvi *planner;
    uint8_t fingerprint[TACIT__KEY_BYTES];
    char remark[560];
} lsvi_agent;

/* A request as the settings and the theory complete it. */
typedef struct lsvi_design {
    const tacit__reading *r;
    bool private, theorem, wide, spans;
    bool printed, published; /* the noise of the paper; all of it */
    tacit__lsvi_scheme_options options;
    tacit__lsvi_scheme scheme;
    double *range, *cap; /* [H] */
    double bonus_scale, ridge, bonus, archive_bytes;
    tacit__lsvi_printed constants;
} lsvi_design;

/* --- lsvi_settings.c: what a request may say */

extern const tacit__agent_rows tacit__lsvi_rows;

/* States, actions and features; the table of these is not read yet. */
TACIT_MUST_USE tacit_status tacit__lsvi_read_space(const tacit__reading *r,
                                                   tacit__linear_space *out, tacit_error *err);

/* The public table of features, on the lattice, if there is one: into the agent and its space. */
TACIT_MUST_USE tacit_status tacit__lsvi_read_table(lsvi_agent *agent, const tacit__reading *r,
                                                   tacit_error *err);

/* All the rest of the design, of its reading and the agent's space; `range` and `cap` have room for H. */
TACIT_MUST_USE tacit_status tacit__lsvi_make_design(lsvi_design *g, const lsvi_agent *agent,
                                                    tacit_error *err);

/* Returns the case for which the papers' formulas are to be computed. */
tacit__lsvi_case tacit__lsvi_case_of(const lsvi_design *g);

/* --- lsvi_plays.c */

/* Writes the remark: what was decided, in a line, and beside what the papers print. */
void tacit__lsvi_write_remark(lsvi_agent *agent, const lsvi_design *g);
void tacit__lsvi_fill_plays(lsvi_agent *agent, const lsvi_design *g);

/* --- lsvi_bytes.c */

/* A hash of all that saved states must agree with. */
void tacit__lsvi_fingerprint(lsvi_agent *agent, const lsvi_design *g);

/* These go into the table of the family; see agents/family.h. */
void tacit__lsvi_agent_fields(void *self, tacit__saved *s);

#endif
