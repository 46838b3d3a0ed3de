/* Learners with scores: sums of bounded vectors over batches of users, each shown once
 * (curate/score_curator.c), and plans for every batch by all that was shown (plan/bold_batches.c). What
 * they have in common, and the yardsticks that explore and commit: one batch of users who act at random, and
 * one greedy plan after it. */
#ifndef TACIT_AGENTS_SCORED_H
#define TACIT_AGENTS_SCORED_H

#include "agents/curated.h"
#include "agents/reading.h"
#include "curate/score_curator.h"
#include "plan/bold_batches.h"

/* How one family of them learns. */
typedef struct tacit__scored_rules {
    double growth, local_growth; /* of the users from batch to batch, where it is not set */
    double most;                 /* n1 is at most K / most */
    size_t calm;                 /* plans of those users of a batch who are not bold */
    double calmness;             /* of these plans; 0: greedy */
    /* A yardstick's users who explore: so many n1, or so many roots of n1 K, whichever is more. */
    double commit_quotas, commit_roots;
    /* n1: how many users halve the prior variance, with noise of this variance in each number of the sum
     * and in each user's report; `steps` steps tell of the same. */
    uint64_t (*users)(const void *model, double sum_variance, double user_variance, size_t steps,
                      double most);
    void (*absorb)(void *planner, const tacit__score_sums *shown);
    size_t (*fields)(void *planner, tacit__saved *s); /* returns batches that are over */
    void (*destroy_planner)(void *planner);
    void (*destroy_model)(void *model);
} tacit__scored_rules;

/* The parts of a row. */
typedef struct tacit__scored_parts {
    const tacit__scored_rules *rules;
    bool commits; /* explores and commits */
} tacit__scored_parts;

/* Parameters of a learner, with the default boldness, and of a yardstick. */
#define TACIT__SCORED_PARAMETERS(growths, boldness)                                                \
    TACIT__REAL("growth", "0", 0, 100,                                                             \
                "of the users from release to release, from 1.1; 0: " growths),                    \
        TACIT__INTEGER("plans", "16", 1, 1024, "bold plans that are drawn from each release"),     \
        TACIT__REAL("boldness", boldness, 0, 100,                                                  \
                    "how many standard deviations of the posterior a bold plan hopes for, on a "   \
                    "half-normal scale"),                                                          \
        TACIT__INTEGER("first", "0", 0, 1e15,                                                      \
                       "users before the first release; 0: by a public rule")
#define TACIT__COMMIT_PARAMETERS                                                                   \
    TACIT__INTEGER("explore", "0", 0, 1e15,                                                        \
                   "users who act at random before the release; 0: by a public rule")

/* The beginning of every such agent. `model` and `planner` are made by the family. */
typedef struct tacit__scored {
    tacit__curated base; /* its curator is a tacit__scores */
    void *model, *planner;
    tacit__bold_batches *batches; /* the planner's */
    /* what batches are sized by */
    tacit_guarantee guarantee;
    double l2;    /* of two users */
    size_t alike; /* steps that tell of the same */
} tacit__scored;

/* What no learner with scores can do. */
TACIT_MUST_USE tacit_status tacit__scored_check(const tacit__reading *r, tacit_error *err);

/* The curator of an agent whose model is made, and what is known of the batches of its planner. */
TACIT_MUST_USE tacit_status tacit__scored_create_curator(
    tacit__scored *agent, const tacit__reading *r, const tacit__score_form *form, size_t alike,
    tacit_noise *noise, tacit__bold_options *out, tacit_error *err);

/* What goes into the table of a family; see agents/family.h. */
void tacit__scored_clear(void *self);
tacit_status tacit__scored_plan(void *self, tacit_billboard *out, tacit_error *err);
tacit_status tacit__scored_learn(void *self, const tacit_trajectory *user, tacit_error *err);
tacit_status tacit__scored_absorb(void *self, const void *bytes, size_t size, tacit_error *err);
void tacit__scored_fields(void *self, tacit__saved *s);
const char *tacit__scored_remark(const void *self);

#endif
