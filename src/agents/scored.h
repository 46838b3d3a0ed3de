/* Learners with scores: sums of bounded vectors over batches of users, each shown once
 * (contribute/scores.c), and plans for every batch by all that was shown (plan/posterior/batch_plans.c). What
 * they have in common, and the baselines that explore and commit: one batch of users who act at random, and
 * one greedy plan after it. */
#ifndef TACIT_AGENTS_SCORED_H
#define TACIT_AGENTS_SCORED_H

#include "agents/agent_base.h"
#include "agents/reading.h"
#include "contribute/scores.h"
#include "plan/posterior/score_planner.h"

typedef struct tacit__scored tacit__scored;

/* How one family of them learns. */
typedef struct tacit__scored_rules {
    /* Of the users from batch to batch, where it is not set: joint, local and no privacy. */
    double growth, local_growth, open_growth;
    double fade;            /* of sums under joint privacy, times the growth; 0: they do not */
    uint64_t open_first;    /* users of the first batch without privacy; 0: n1 */
    double most;            /* n1 is at most K / most */
    size_t steady;          /* plans of those users of a batch who do not explore */
    double steady_boldness; /* of these plans; 0: greedy */
    /* A baseline's users who explore: this many times n1, or this many times the root of n1 K,
     * whichever is more. */
    double commit_quotas, commit_roots;
    /* n1: how many users halve the prior variance with this noise, at most `most`; `steps` steps tell of
     * the same. */
    uint64_t (*users)(const void *model, const tacit__score_noise *noise, size_t steps,
                      double most);
    /* The same without bounds, where users can answer instead of adding numbers; else NULL. */
    double (*wanted)(const void *model, const tacit__score_noise *noise, size_t steps);
    /* What the family cannot do of what is asked for. */
    tacit_status (*check)(const tacit__reading *r, tacit_error *err);
    /* Sets `model` and `alike` of the agent, and the form of its scores. */
    tacit_status (*create_model)(tacit__scored *agent, const tacit_agent_request *q,
                                 tacit__score_form *form, tacit_error *reason);
    void (*destroy_model)(void *model);
    tacit_status (*create_planner)(const void *model, const tacit_agent_request *q,
                                   const tacit__batch_plans_options *batches,
                                   tacit__score_planner **out);
} tacit__scored_rules;

/* The parts of a row. */
typedef struct tacit__scored_parts {
    const tacit__scored_rules *rules;
    bool commits; /* explores and commits */
} tacit__scored_parts;

/* Parameters of a learner, with the default plans and boldness, and of a baseline. */
#define TACIT__SCORED_PARAMETERS(growths, plans, boldness)                                         \
    TACIT__REAL("growth", "0", 0, 100,                                                             \
                "of the users from release to release, from 1.1; 0: " growths),                    \
        TACIT__INTEGER("plans", plans, 1, 1024, "bold plans that are drawn from each release"),    \
        TACIT__REAL("boldness", boldness, 0, 100,                                                  \
                    "how many standard deviations of the posterior a bold plan hopes for, on a "   \
                    "half-normal scale"),                                                          \
        TACIT__INTEGER("first", "0", 0, 1e15,                                                      \
                       "users before the first release; 0: by a public rule")
#define TACIT__COMMIT_PARAMETERS                                                                   \
    TACIT__INTEGER("explore", "0", 0, 1e15,                                                        \
                   "users who act at random before the release; 0: by a public rule")

/* The beginning of every such agent. */
struct tacit__scored {
    tacit__agent_base base;
    void *model; /* the family's */
    tacit__score_planner *planner;
    size_t numbers, n_states; /* of the scores; of their first states */
    uint64_t *ends;           /* users when each batch is over, also the last, which is not shown */
    /* what batches are sized by */
    tacit_guarantee guarantee;
    double reach;               /* how far two users are apart: in L2, with delta 0 in L1 */
    uint32_t fade;              /* of sums */
    tacit__score_noise answers; /* if users answer */
    size_t alike;               /* steps that tell of the same */
};

/* The table of such a family (agents/family.h), but for its rows, the size of its agents, and why it has no
 * delta 0. */
#define TACIT__SCORED_FAMILY                                                                       \
    .looks_ahead = true, .check = tacit__check_batches, .build = tacit__scored_build,              \
    .clear = tacit__scored_clear, .plan = tacit__scored_plan, .learned = tacit__scored_learned,    \
    .fields = tacit__scored_fields, .remark = tacit__scored_remark

tacit_status tacit__scored_build(void *self, const tacit__reading *r, tacit_noise *noise,
                                 tacit_error *err);
void tacit__scored_clear(void *self);
tacit_status tacit__scored_plan(void *self, tacit_billboard *out, tacit_error *err);
void tacit__scored_learned(void *self);
void tacit__scored_fields(void *self, tacit__saved *s);
const char *tacit__scored_remark(const void *self);

#endif
