/* Learners in epochs: sums of vectors (curate/epochs.c), and a planner that makes each epoch of the sums
 * before it (plan/epoch_planner.h). What all of them have; their settings are files of their own. */
#ifndef TACIT_AGENTS_EPOCH_AGENT_H
#define TACIT_AGENTS_EPOCH_AGENT_H

#include "agents/agent_base.h"
#include "agents/pairs.h"
#include "agents/reading.h"
#include "curate/epochs.h"
#include "noise/stream.h"
#include "plan/epoch_planner.h"

/* What a user acts and reports by; public. */
typedef struct tacit__epoch_model {
    uint64_t version;
    bool last;           /* of the epochs: nothing is reported any more */
    size_t p;            /* numbers of a vector; 0 in the last epoch */
    const double *mixed; /* [pairs] */
    const double *v;     /* [rows][p] */
    const size_t *place; /* [pairs] -> row of v; only where `mixed` is above 0 */
} tacit__epoch_model;

enum { TACIT__EPOCH_MARK = 16 };

typedef struct tacit__epoch_agent {
    tacit__agent_base base;
    /* the learner's own; set before tacit__epoch_build */
    const tacit__epoch_planner *kind;
    const void *options; /* of the planner */
    tacit__pairs pairs;
    uint64_t n_users;
    size_t dimension;       /* of sums; 0: as many as vectors have at most, and the cells */
    size_t cells;           /* beside its vector a user adds `cell` in the cell of the context: */
    double cell;            /* contexts, or 0; |v|^2 + cell^2 <= 1 */
    double published_scale; /* of every coordinate; 0: calibrated to the guarantee */
    tacit__site chance;     /* public, of planners that draw */
    uint8_t request[TACIT__KEY_BYTES]; /* fingerprint of all that saved states must agree with */
    char remark[400];
    /* what tacit__epoch_build makes */
    void *planner;
    tacit_guarantee guarantee;
    uint64_t users, in_epoch;
    size_t n_shown; /* epochs shown so far */
    double *shown;  /* [epochs - 1][dimension]: public, so that a planner can be made again */
    double *user;   /* [dimension] scratch: of a user, if there are cells */
    void *followed; /* memory of a model from elsewhere; NULL: the planner's own is used */
    tacit__epoch_model theirs;       /* which lies there */
    uint8_t mark[TACIT__EPOCH_MARK]; /* of the model: reports name the one that they were made by */
} tacit__epoch_agent;

/* The planner, in its first epoch, and the curator. */
TACIT_MUST_USE tacit_status tacit__epoch_build(tacit__epoch_agent *agent, const tacit__reading *r,
                                               tacit_noise *noise, tacit_error *err);

/* What is to be known if kernel, norm or weights were chosen; "": they were not. */
const char *tacit__epoch_warn_public(const tacit__reading *r);

/* The table of a family (agents/family.h), but for its rows and for what reads a request. */
#define TACIT__EPOCH_FAMILY                                                                        \
    .clear = tacit__epoch_clear, .plan = tacit__epoch_plan, .learn = tacit__epoch_learn,           \
    .report = tacit__epoch_report, .absorb = tacit__epoch_absorb, .publish = tacit__epoch_publish, \
    .follow = tacit__epoch_follow, .check_report = tacit__epoch_check_report,                      \
    .fields = tacit__epoch_fields, .remark = tacit__epoch_remark

/* --- epoch_agent.c, epoch_bytes.c: what goes into it */

void tacit__epoch_clear(void *self);
tacit_status tacit__epoch_plan(void *self, tacit_billboard *out, tacit_error *err);
tacit_status tacit__epoch_learn(void *self, const tacit_trajectory *user, tacit_error *err);
const char *tacit__epoch_remark(const void *self);
tacit_status tacit__epoch_report(void *self, const tacit_trajectory *user, void *bytes,
                                 size_t *size, tacit_error *err);
tacit_status tacit__epoch_check_report(const void *self, const void *bytes, size_t size,
                                       tacit_error *err);
tacit_status tacit__epoch_absorb(void *self, const void *bytes, size_t size, tacit_error *err);
tacit_status tacit__epoch_publish(const void *self, void *bytes, size_t *size, tacit_error *err);
tacit_status tacit__epoch_follow(void *self, const void *bytes, size_t size, tacit_error *err);
void tacit__epoch_fields(void *self, tacit__saved *s);

/* --- Between the two */

/* The model that the agent goes by, and its mark. */
tacit__epoch_model tacit__epoch_model_of(const tacit__epoch_agent *agent);
void tacit__epoch_set_mark(tacit__epoch_agent *agent);

/* How many numbers a user adds by this model. */
size_t tacit__epoch_size(const tacit__epoch_agent *agent, const tacit__epoch_model *model);

/* The user as the curator sees one. Vector NULL: the action is not on the billboard, so there is none. */
TACIT_MUST_USE tacit_status tacit__epoch_view_user(tacit__epoch_agent *agent,
                                                   const tacit__epoch_model *model,
                                                   const tacit_trajectory *user,
                                                   tacit__user_view *out, tacit_error *err);

/* One more user has been added; the epoch may be over by that. */
TACIT_MUST_USE tacit_status tacit__epoch_count(tacit__epoch_agent *agent, tacit_error *err);

#endif
