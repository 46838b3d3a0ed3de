/* Planners of tabular learners for tests: made in one call, and counts to plan by. */
#ifndef TACIT_TESTS_TABULAR_PLANNERS_H
#define TACIT_TESTS_TABULAR_PLANNERS_H

#include <math.h>

#include "plan/papers/ucbvi.h"
#include "support/check.h"

enum { S = 3, A = 4, H = 4, ROWS = H * S * A, USERS = 5000 };

static const double failure = 0.1;

/* A planner with one or two settings of its own. */
static inline void *make(const tacit__planner *planner, tacit__space space,
                         const tacit__planner_options *options, const tacit_parameter *own,
                         size_t n)
{
    void *out;
    tacit__values values;
    tacit_error err;
    assert_ok(tacit__values_read(own, n, NULL, 0, &(tacit__origin){.kind = "test"}, &values, &err));
    for (size_t i = 0; i < n; i++)
        values.at[i].given = true;
    assert_ok(planner->create(space, options, &values, &out, &err));
    return out;
}

/* UCBVI: what its reference needs to know. */
typedef struct ucbvi_case {
    tacit__ucbvi_bonus bonus;
    tacit__planner_options o;
} ucbvi_case;

static inline void *make_ucbvi(tacit__space space, const ucbvi_case *c, bool monotone)
{
    const tacit_parameter own[] = {
        {"bonus", TACIT_PARAMETER_TEXT, tacit__ucbvi_bonuses[c->bonus], 0, 0, ""},
        {"monotone", TACIT_PARAMETER_TEXT, monotone ? "yes" : "no", 0, 0, ""}};
    return make(&tacit__ucbvi, space, &c->o, own, 2);
}

typedef struct sample {
    tacit__counts counts;
    double visits[ROWS], moves[ROWS * S], rewards[ROWS];
} sample;

/* Without the moves of the last step: a planner that reads them gets no number. */
static inline void drop_last(sample *x)
{
    for (size_t i = (H - 1) * S * A * S; i < ROWS * S; i++)
        x->moves[i] = (double)NAN;
    x->counts.drop_last = true;
}

static inline size_t row_at(size_t tables, size_t h, size_t s, size_t a)
{
    return ((tables == 1 ? 0 : h) * S + s) * A + a;
}

#endif
