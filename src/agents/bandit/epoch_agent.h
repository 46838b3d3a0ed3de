/* Learners in epochs: sums of vectors (contribute/epochs.c), and a planner that makes each epoch of the sums
 * before it (plan/epoch_planner.h). What all of them have; their settings are files of their own. */
#ifndef TACIT_AGENTS_EPOCH_AGENT_H
#define TACIT_AGENTS_EPOCH_AGENT_H

#include "agents/agent_base.h"
#include "agents/bandit/context_action_pairs.h"
#include "agents/reading.h"
#include "plan/epoch_planner.h"
#include "release/curator.h"

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
    size_t dimension;       /* of sums; 0: as many as vectors have at most, and the cells */
    size_t cells;           /* beside its vector a user adds `cell` in the cell of the context: */
    double cell;            /* contexts, or 0 */
    double published_scale; /* of every coordinate; 0: calibrated to the guarantee */
    char remark[400];
    /* what tacit__epoch_build makes */
    void *planner;
    bool local;
    size_t n_shown; /* epochs shown to the planner so far */
    double *shown;  /* [epochs - 1][dimension]: public, so that a planner can be made again */
    double *zeros;  /* [dimension]: the numbers of a late report */
    void *followed; /* memory of a model from elsewhere; NULL: the planner's own is used */
    tacit__epoch_model theirs;       /* which lies there */
    uint8_t mark[TACIT__EPOCH_MARK]; /* of the model: reports name the one that they were made by */
} tacit__epoch_agent;

/* The planner, in its first epoch, and the curator. */
TACIT_MUST_USE tacit_status tacit__epoch_build(tacit__epoch_agent *agent, const tacit__reading *r,
                                               tacit_noise *noise, tacit_error *err);

/* How far all visits of one person move the sums of epochs that end so, in units of one visit. */
TACIT_MUST_USE tacit_status tacit__epoch_column(const tacit_agent_request *q, size_t n_ends,
                                                const uint64_t *ends, double *out,
                                                tacit_error *err);

/* What is to be known if kernel, norm or weights were chosen; "": they were not. */
const char *tacit__epoch_warn_public(const tacit__reading *r);

/* The table of a family (agents/family.h), but for its rows and for what reads a request. */
#define TACIT__EPOCH_FAMILY                                                                        \
    .clear = tacit__epoch_clear, .view_user = tacit__epoch_view_user, .plan = tacit__epoch_plan,   \
    .learned = tacit__epoch_learned, .report = tacit__epoch_report, .absorb = tacit__epoch_absorb, \
    .publish = tacit__epoch_publish, .follow = tacit__epoch_follow,                                \
    .check_report = tacit__epoch_check_report, .fields = tacit__epoch_fields,                      \
    .remark = tacit__epoch_remark

/* --- epoch_agent.c, epoch_bytes.c: what goes into it */

void tacit__epoch_clear(void *self);
tacit_status tacit__epoch_view_user(void *self, const tacit_trajectory *user, tacit__user_view *out,
                                    tacit_error *err);
tacit_status tacit__epoch_plan(void *self, tacit_billboard *out, tacit_error *err);
void tacit__epoch_learned(void *self);
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

/* The model that the agent goes by. */
tacit__epoch_model tacit__epoch_model_of(const tacit__epoch_agent *agent);
/* There is another one: its mark, and the numbers that reports have. */
void tacit__epoch_set_model(tacit__epoch_agent *agent);
/* The epoch is over, and its sum is in `shown`. */
void tacit__epoch_close(tacit__epoch_agent *agent);

/* The user by the model. Vector NULL: the action is not on the billboard, so there is none. */
TACIT_MUST_USE tacit_status tacit__epoch_view(const tacit__epoch_agent *agent,
                                              const tacit_trajectory *user, tacit__user_view *out,
                                              tacit_error *err);

#endif
