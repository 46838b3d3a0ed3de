/* The inside of the learners for linear mixtures, shared by their files. */
#ifndef TACIT_AGENTS_MIXTURE_AGENTS_H
#define TACIT_AGENTS_MIXTURE_AGENTS_H

#include "agents/agent_base.h"
#include "agents/reading.h"
#include "contribute/gram.h"
#include "plan/optimist.h"
#include "plan/radius.h"
#include "release/curator.h"

/* The parts of a learner for mixtures, beside the curator and the skeleton of a planner that all
 * of them have. */
typedef struct mixture_parts {
    tacit__optimist_form form;
    tacit__confidence_fn *confidence;
    const tacit__soft_policy *soft; /* with the setting step_scale; NULL: the policy is greedy */
    /* The constants that its paper prints. */
    tacit__printed_fn *print;
    tacit__optimist_clip clip;
    bool rare;     /* releases are, where nothing is said about them */
    double events; /* its bounds are made of this many, for each user and step, which may fail */
    const char *streams[TACIT__REGRESSIONS]; /* names of the curator's sums */
    /* the setting that is the budget's share of the first stream; NULL: all of it */
    const char *share;
} mixture_parts;

typedef struct signs {
    bool centered, centered_rewards;
    bool nonnegative, nonnegative_rewards;
} signs;

typedef struct mixture_agent {
    tacit__agent_base base;
    const mixture_parts *parts;
    tacit__lens lenses[TACIT__REGRESSIONS]; /* what the next user is seen through */
    tacit__optimist *planner;
    tacit__radius_options radius;
    tacit_billboard board;
    bool planned;
    uint64_t planned_users; /* of the last plan */
    uint64_t interval;      /* users between plans; 0: they double */
    bool theory;
    char remark[240];
} mixture_agent;

/* --- mixture_learners.c: the rows */

extern const tacit__agent_rows tacit__mixture_rows;

/* --- mixture_settings.c: what is made of a request */

/* bonus_scale: 1, and a scale that is then 1 as well unless it was set. */
bool tacit__mixture_is_theory(const tacit__reading *r);
double tacit__mixture_scale(const tacit__reading *r, const char *parameter);

/* The papers' own noise is asked for. */
bool tacit__mixture_is_printed(const tacit__reading *r);

TACIT_MUST_USE tacit_status tacit__mixture_check(const mixture_parts *parts,
                                                 const tacit__reading *r, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__mixture_read_signs(const tacit__reading *r, signs *out,
                                                      tacit_error *err);
/* Reads how often the curator releases. */
TACIT_MUST_USE tacit_status tacit__mixture_read_schedule(const tacit__reading *r,
                                                         const mixture_parts *parts, double *growth,
                                                         tacit_error *err);
TACIT_MUST_USE tacit_status tacit__mixture_read_replan(const tacit__reading *r, uint64_t *interval,
                                                       tacit_error *err);

/* --- mixture_agents.c */

/* Returns the case for which the paper's formulas are to be computed. */
tacit__printed_case tacit__mixture_printed_case(const mixture_agent *agent,
                                                const tacit__reading *r);

/* The plan of the model that the planner has. */
void tacit__mixture_make_plan(mixture_agent *agent);

/* --- mixture_plays.c */

/* The list of an agent whose curator is made. */
void tacit__mixture_fill_plays(mixture_agent *agent, const tacit__reading *r, const signs *sign,
                               double growth);

/* --- mixture_bytes.c: what goes into the table of the family; see agents/family.h */

tacit_status tacit__mixture_publish(const void *self, void *bytes, size_t *size, tacit_error *err);
tacit_status tacit__mixture_follow(void *self, const void *bytes, size_t size, tacit_error *err);
void tacit__mixture_fields(void *self, tacit__saved *s);

#endif
