/* Small tables of scores, and users who add by them. */
#ifndef TACIT_TESTS_SCORE_TABLES_H
#define TACIT_TESTS_SCORE_TABLES_H

#include "base/error.h"
#include "contribute/score_answers.h"
#include "contribute/scores.h"
#include "release/curator.h"
#include "release/schedule.h"
#include "support/check.h"
#include "support/random.h"
#include "support/scoped.h"

enum { STATES = 3, ACTIONS = 2, WIDTH = 2, STEPS = 3, ROWS = STATES * ACTIONS * STATES, BITS = 20 };
enum { DIMENSION = STEPS * WIDTH + STATES, HORIZON = STEPS + 1 };

static int32_t scores[ROWS * WIDTH];

static inline tacit__score_table draw_table(uint64_t seed)
{
    for (size_t i = 0; i < N_OF(scores); i++)
        scores[i] = (int32_t)random_below(&seed, 1 << BITS) - (1 << (BITS - 1));
    return (tacit__score_table){.n_states = STATES,
                                .n_actions = ACTIONS,
                                .steps = STEPS,
                                .width = WIDTH,
                                .bits = BITS,
                                .scores = scores};
}

static inline tacit__score_form form_in(const tacit__score_table *t, bool is_l1)
{
    tacit__score_form form;
    assert_ok(tacit__score_form_of_table(t, is_l1, &form));
    assert_true((form.l1 > 0) == is_l1 && (form.l2 > 0) == !is_l1);
    return form;
}

/* The form of the table that was drawn last. */
static inline tacit__score_form draw_form(uint64_t seed, bool is_l1)
{
    static tacit__score_table table;
    table = draw_table(seed);
    return form_in(&table, is_l1);
}

typedef struct user {
    uint32_t states[HORIZON + 1], actions[HORIZON];
    double rewards[HORIZON];
} user;

static inline tacit_trajectory draw_user(uint64_t *seed, user *u)
{
    for (size_t h = 0; h <= HORIZON; h++)
        u->states[h] = (uint32_t)random_below(seed, STATES);
    for (size_t h = 0; h < HORIZON; h++) {
        u->actions[h] = (uint32_t)random_below(seed, ACTIONS);
        u->rewards[h] = random_unit(seed);
    }
    return (tacit_trajectory){STEPS_OF(u->states, u->actions, u->rewards)};
}

/* --- Curators of scores -------------------------------------------------------------------------- */

SCOPED_TYPE(tacit__curator, tacit__curator_destroy)

/* A curator whose batches grow; nothing is shown after `last` users (0: no limit). */
static inline tacit_status hire_batches(tacit__scores_options o, uint64_t first, double growth,
                                        uint64_t last, tacit_noise *noise, tacit__curator **out)
{
    uint64_t ends[1000];
    tacit__curator_spec spec;
    o.batches = tacit__schedule_batches(o.episodes, first, growth, last, ends) - 1;
    o.ends = ends;
    TRY(tacit__scores_describe(&o, &spec, NULL));
    return tacit__curator_create(&spec, noise, out, NULL);
}

static inline tacit_status add_user(tacit__curator *c, const tacit_trajectory *t)
{
    return tacit__curator_add(c, &(tacit__user_view){.trajectory = t}, NULL);
}

static inline tacit_status make_report(tacit__curator *c, const tacit_trajectory *t, void *bytes,
                                       size_t *size)
{
    return tacit__curator_report(c, &(tacit__user_view){.trajectory = t}, bytes, size, NULL);
}

/* The last release of a curator whose users add so many numbers, and as many for first states as there are. */
static inline tacit__score_sums last_release(const tacit__curator *c, size_t numbers)
{
    const size_t i = (size_t)tacit__curator_released(c) - 1;
    const uint64_t *ends = tacit__curator_ends(c);
    const tacit__score_answers *answers = tacit__curator_responder(c);
    const double *sums =
        answers != NULL ? tacit__score_answers_shown(answers) : tacit__curator_sums(c, 0);
    return (tacit__score_sums){.users = ends[i] - (i > 0 ? ends[i - 1] : 0),
                               .sums = sums,
                               .starts = sums + numbers,
                               .asked = answers != NULL ? sums + numbers + STATES : NULL};
}

#endif
