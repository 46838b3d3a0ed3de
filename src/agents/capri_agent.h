/* The inside of the learner capri, shared by its files. */
#ifndef TACIT_AGENTS_CAPRI_AGENT_H
#define TACIT_AGENTS_CAPRI_AGENT_H

#include "agents/curated.h"
#include "agents/pairs.h"
#include "agents/reading.h"
#include "curate/epochs.h"
#include "noise/stream.h"
#include "plan/capri.h"

/* What a user acts and reports by; public. */
typedef struct capri_model {
    uint64_t version;
    bool last;           /* of the epochs: nothing is reported any more */
    size_t p;            /* numbers of a vector; 0 in the last epoch */
    const double *mixed; /* [pairs] */
    const double *v;     /* [active pairs][p] */
    const size_t *place; /* [pairs] -> row of v, or SIZE_MAX */
} capri_model;

enum { CAPRI_MARK = 16 };

typedef struct capri_agent {
    tacit__curated base;
    tacit__capri_options options;
    tacit__capri *planner;
    tacit__site chance; /* public, of the setting public_seed: S and R */
    uint64_t users, n_users, in_epoch;
    size_t dimension, n_shown; /* of sums; epochs shown so far */
    double *shown;      /* [epochs - 1][dimension]: public, so that a planner can be made again */
    void *followed;     /* memory of a model from elsewhere; NULL: the planner's own is used */
    capri_model theirs; /* which lies there */
    uint8_t mark[CAPRI_MARK]; /* of the model: reports name the one that they were made by */
    uint8_t request[TACIT__KEY_BYTES]; /* fingerprint */
    char remark[400];
    tacit_guarantee guarantee;
    double published; /* scale of that calibration, or 0 */
} capri_agent;

/* --- capri_settings.c: what a request may say */

extern const tacit__agent_rows tacit__capri_rows;

/* Everything but the source of public chance. */
TACIT_MUST_USE tacit_status tacit__capri_read(const tacit__reading *r, tacit__capri_options *out,
                                              tacit_error *err);
/* Of the published calibration; 0: another one is asked for. */
double tacit__capri_published(const tacit_agent_request *q);
/* What is to be known about the settings beside their help. */
void tacit__capri_write_remark(capri_agent *agent, const tacit__reading *r);
/* A hash of all that saved states must agree with. */
void tacit__capri_fingerprint(capri_agent *agent, const tacit__reading *r);

/* --- capri_agent.c */

/* The model that the agent goes by, and its mark. */
capri_model tacit__capri_model(const capri_agent *agent);
void tacit__capri_set_mark(capri_agent *agent);

/* One more user has been added; the epoch may be over by that. */
TACIT_MUST_USE tacit_status tacit__capri_count(capri_agent *agent, tacit_error *err);

/* The vector of a pair; NULL: there is none, for the action is not on the billboard, or this is the
 * last epoch. */
const double *tacit__capri_vector(const capri_model *model, size_t pair);

/* --- capri_bytes.c: what goes into the table of the family; see agents/family.h */

tacit_status tacit__capri_report(void *self, const tacit_trajectory *user, void *bytes,
                                 size_t *size, tacit_error *err);
tacit_status tacit__capri_check_report(const void *self, const void *bytes, size_t size,
                                       tacit_error *err);
tacit_status tacit__capri_absorb(void *self, const void *bytes, size_t size, tacit_error *err);
tacit_status tacit__capri_publish(const void *self, void *bytes, size_t *size, tacit_error *err);
tacit_status tacit__capri_follow(void *self, const void *bytes, size_t size, tacit_error *err);
void tacit__capri_fields(void *self, tacit__saved *s);

#endif
