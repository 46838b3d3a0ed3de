/* Small tables of scores, and users who add by them. */
#ifndef TACIT_TESTS_SCORE_TABLES_H
#define TACIT_TESTS_SCORE_TABLES_H

#include "contribute/scores.h"
#include "support/check.h"
#include "support/random.h"

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

#endif
