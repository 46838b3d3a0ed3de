/* phi_u(s, a) = sum_s' phi(s' | s, a) u(s') for all pairs is one product of a matrix [width x
 * pairs][S] and u: 2 d n S flops, bound by memory. The one-hot embedding needs none: phi_u is u
 * copied into the pair's block.
 *
 * The bound. |phi_u| over u in [0, 1]^S (or [-1, 1]^S for kernels) is the length of a vector of a
 * zonotope. If no feature is negative the longest is that of u = 1. Else linalg/zonotope.c finds
 * it, or a proof that it is within the bound; a table of which neither can be had in STEPS steps is
 * refused, with a bound that is certain to hold. So a bound that is accepted is true. The curator
 * clips what is longer all the same. */
#include "plan/pair_features.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "linalg/symmetric.h"
#include "linalg/zonotope.h"

#define SLACK 1e-9 /* relative excess that is taken for the caller's rounding */

enum { STEPS = 1 << 22 }; /* for all rows of a table together: less than a second */

static double length(size_t d, const double *x)
{
    double square = 0;
    for (size_t j = 0; j < d; j++)
        square += x[j] * x[j];
    return sqrt(square);
}

/* The length of phi_u at u = 1. */
static double length_of_sums(size_t d, size_t n_states, const double *row)
{
    double square = 0;
    for (size_t j = 0; j < d; j++) {
        double sum = 0;
        for (size_t next = 0; next < n_states; next++)
            sum += row[j * n_states + next];
        square += sum * sum;
    }
    return sqrt(square);
}

static tacit__length longest(const tacit_mixture *m, size_t n_states, const double *row,
                             uint64_t *steps, double *scratch)
{
    if (m->nonnegative) {
        double most = length_of_sums(m->dimension, n_states, row);
        return (tacit__length){most, most};
    }
    const tacit__zonotope z = {m->dimension, n_states, row, m->kernels ? -1 : 0};
    return tacit__zonotope_longest(&z, m->bound * (1 + SLACK), steps, scratch);
}

static tacit_status check_row(const tacit_mixture *m, size_t n_states, const double *row, size_t s,
                              size_t a, uint64_t *steps, double *scratch, tacit_error *err)
{
    for (size_t i = 0; i < m->dimension * n_states; i++) {
        if (!isfinite(row[i]))
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "state %zu, action %zu: a feature is not a finite number", s, a);
        if (m->nonnegative && row[i] < 0)
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "state %zu, action %zu: a feature is %g, but features were declared "
                               "not to be negative",
                               s, a, row[i]);
    }
    tacit__length found = longest(m, n_states, row, steps, scratch);
    if (found.met > m->bound * (1 + SLACK))
        return tacit__fail(err, TACIT_OUT_OF_BOUND,
                           "state %zu, action %zu: features of a value function can be %.9g long, "
                           "their declared bound is %g",
                           s, a, found.met, m->bound);
    if (found.proved > m->bound * (1 + SLACK))
        return tacit__fail(err, TACIT_OUT_OF_BOUND,
                           "state %zu, action %zu: whether features of a value function can be "
                           "longer than their declared bound of %g takes too long to find out; "
                           "none is longer than %.9g",
                           s, a, m->bound, found.proved * (1 + SLACK));
    return TACIT_OK;
}

static tacit_status fill(const tacit_mixture *m, tacit__pair_features *out, tacit_error *err)
{
    const tacit__frame *f = &out->frame;
    size_t n_states = out->n_states, n_actions = f->pairs / n_states, d = m->dimension;
    double *row, *scratch;
    void *memory = TACIT__PIECES(TACIT__PIECE(row, d * n_states),
                                 TACIT__PIECE(scratch, tacit__zonotope_scratch(d, n_states)));
    uint64_t steps = STEPS;
    tacit_status status = memory != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t pair = 0; pair < f->pairs && status == TACIT_OK; pair++) {
        size_t s = pair / n_actions, a = pair % n_actions;
        m->row(m->context, (uint32_t)s, (uint32_t)a, row);
        status = check_row(m, n_states, row, s, a, &steps, scratch, err);
        for (size_t j = 0; j < d; j++)
            for (size_t next = 0; next < n_states; next++)
                out->parts[(next * d + j) * f->pairs + pair] = row[j * n_states + next] / m->bound;
    }
    tacit__workspace_destroy(memory);
    return status;
}

tacit_status tacit__pair_features_create(const tacit_mixture *m, size_t n_states, size_t n_actions,
                                         tacit__pair_features *out, tacit_error *err)
{
    TACIT__REQUIRE(n_states > 0 && n_actions > 0);
    size_t pairs = n_states * n_actions, numbers;
    if (m == NULL) { /* theta is sqrt(S) P(. | s, a) in each block */
        *out = (tacit__pair_features){.frame = {0, pairs, n_states, pairs},
                                      .n_states = n_states,
                                      .parameter_norm = sqrt((double)n_states)};
        return TACIT_OK;
    }
    if (m->dimension == 0 || m->row == NULL || !(m->bound > 0 && isfinite(m->bound)) ||
        !(m->parameter_norm > 0 && isfinite(m->parameter_norm)))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a mixture needs a dimension, a bound, a parameter norm and its rows");
    tacit__pair_features made = {.frame = {0, 1, m->dimension, pairs},
                                 .n_states = n_states,
                                 .parameter_norm = m->parameter_norm * m->bound};
    if (!__builtin_mul_overflow(pairs * m->dimension, n_states, &numbers))
        made.parts = tacit__alloc(numbers, sizeof *made.parts);
    if (made.parts == NULL)
        return tacit__fail(err, TACIT_NO_MEMORY,
                           "%zu features of %zu pairs and %zu next states do not fit into memory",
                           m->dimension, pairs, n_states);
    tacit_status status = fill(m, &made, err);
    if (status != TACIT_OK)
        tacit__pair_features_destroy(&made);
    else
        *out = made;
    return status;
}

void tacit__pair_features_destroy(tacit__pair_features *m)
{
    tacit__free(m->parts);
    m->parts = NULL;
}

void tacit__pair_features_apply(const tacit__pair_features *m, const double *u, double *out)
{
    if (m->parts != NULL) {
        tacit__combine_rows(m->n_states, m->frame.width * m->frame.pairs, m->parts, u, out);
        return;
    }
    double scale = 1 / sqrt((double)m->n_states);
    for (size_t next = 0; next < m->n_states; next++)
        out[next] = scale * u[next];
}

static bool is_simplex(size_t d, const double *row)
{
    double sum = 0;
    bool positive = true;
    for (size_t j = 0; j < d; j++) {
        sum += row[j];
        positive = positive && row[j] >= 0;
    }
    return positive && fabs(sum - 1) <= SLACK;
}

static tacit_status fill_rewards(const tacit_linear *l, size_t n_actions, size_t pairs,
                                 double *table, tacit_error *err)
{
    double *row = tacit__alloc(l->dimension, sizeof *row);
    if (row == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = TACIT_OK;
    for (size_t pair = 0; pair < pairs && status == TACIT_OK; pair++) {
        size_t s = pair / n_actions, a = pair % n_actions;
        l->row(l->context, (uint32_t)s, (uint32_t)a, row);
        double found = length(l->dimension, row);
        if (!(found <= l->bound * (1 + SLACK)))
            status = tacit__fail(err, TACIT_OUT_OF_BOUND,
                                 "state %zu, action %zu: features of the reward are %g long, their "
                                 "declared bound is %g",
                                 s, a, found, l->bound);
        else if (l->simplex && !is_simplex(l->dimension, row))
            status = tacit__fail(err, TACIT_OUT_OF_BOUND,
                                 "state %zu, action %zu: features of the reward were declared not "
                                 "to be negative and to sum to 1, and these do not",
                                 s, a);
        for (size_t j = 0; j < l->dimension; j++)
            table[j * pairs + pair] = row[j] / l->bound;
    }
    tacit__free(row);
    return status;
}

tacit_status tacit__reward_features(const tacit_linear *l, size_t n_states, size_t n_actions,
                                    tacit__frame *frame, double **out, tacit_error *err)
{
    TACIT__REQUIRE(n_states > 0 && n_actions > 0);
    size_t pairs = n_states * n_actions, width = l != NULL ? l->dimension : 1, numbers;
    if (l != NULL && (width == 0 || l->row == NULL || !(l->bound > 0 && isfinite(l->bound))))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "features of rewards need a dimension, a bound and their rows");
    double *table = __builtin_mul_overflow(l != NULL ? pairs : 1, width, &numbers)
                        ? NULL
                        : tacit__alloc(numbers, sizeof *table);
    if (table == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = TACIT_OK;
    if (l != NULL)
        status = fill_rewards(l, n_actions, pairs, table, err);
    else
        table[0] = 1;
    if (status != TACIT_OK) {
        tacit__free(table);
        return status;
    }
    *frame = (tacit__frame){0, l != NULL ? 1 : pairs, width, pairs};
    *out = table;
    return TACIT_OK;
}
