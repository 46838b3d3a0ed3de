/* See linear_model.h and docs/why/posterior-linear.md.
 *
 * Features are divided by the length of the longest vector of the table, which is public, and rounded to a
 * lattice; the rounded numbers are used from here on. */
#include "plan/posterior/linear_model.h"

#include <math.h>

#include "base/error.h"
#include "base/workspace.h"

enum { MOST_BITS = 14, LEAST_BITS = 6, REWARD_BITS = 10 };
enum { ROOM_BITS = 56 - REWARD_BITS }; /* the sums below 2^60 have room for 16 units a user */
#define SLACK 1e-9                     /* relative: the caller's rounding, of lengths and sums */

void tacit__linear_model_destroy(void *model)
{
    tacit__workspace_destroy(model);
}

/* Reads the features; returns the length of the longest vector, or less than 0 if one is not what was
 * declared, which is then *pair. */
static double read_features(tacit__linear_model *m, const tacit_linear *from, size_t *pair)
{
    double longest = 0;
    for (*pair = 0; *pair < m->pairs; ++*pair) {
        double *phi = m->features + *pair * m->dimension, square = 0, sum = 0, least = 0;
        from->row(from->context, (uint32_t)(*pair / m->n_actions), (uint32_t)(*pair % m->n_actions),
                  phi);
        for (size_t j = 0; j < m->dimension; j++) {
            square += phi[j] * phi[j];
            sum += phi[j];
            least = fmin(least, phi[j]);
        }
        const double length = sqrt(square), bound = from->simplex ? 1 : from->bound;
        if (!(length <= bound * (1 + SLACK)) ||
            (from->simplex && !(least >= 0 && fabs(sum - 1) <= SLACK)))
            return -1;
        longest = fmax(longest, length);
    }
    return longest;
}

/* Rounded toward 0, so that nothing gets longer. */
static void place_features(tacit__linear_model *m, double longest)
{
    const double one = ldexp(1, m->scores.feature_bits);
    for (size_t i = 0; i < m->pairs * m->dimension; i++) {
        m->table[i] = (int32_t)(longest > 0 ? trunc(m->features[i] / longest * one) : 0);
        m->features[i] = m->table[i] / one;
    }
}

tacit_status tacit__linear_model_create(const tacit_linear *from, size_t n_states, size_t n_actions,
                                        size_t horizon, uint64_t users, tacit__linear_model **out,
                                        tacit_error *err)
{
    TACIT__REQUIRE(n_states > 0 && n_actions > 0 && horizon > 0);
    const size_t d = from->dimension, pairs = n_states * n_actions;
    const int room = ROOM_BITS - (int)ceil(log2((double)users + 1));
    if (d == 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "features need a dimension of at least 1");
    if (room < LEAST_BITS)
        return tacit__fail(err, TACIT_NO_ROOM, "there are too many episodes");
    tacit__linear_model made = {.n_states = n_states,
                                .n_actions = n_actions,
                                .pairs = pairs,
                                .horizon = horizon,
                                .dimension = d};
    tacit__linear_model *m = TACIT__WORKSPACE(made, TACIT__PIECE(made.table, pairs * d),
                                              TACIT__PIECE(made.features, pairs * d));
    if (m == NULL)
        return tacit__fail(err, TACIT_NO_MEMORY, "%zu features of %zu pairs do not fit into memory",
                           d, pairs);
    size_t pair;
    const double longest = read_features(m, from, &pair);
    if (longest < 0) {
        tacit__linear_model_destroy(m);
        return tacit__fail(err, TACIT_OUT_OF_BOUND,
                           "the features of state %zu, action %zu are not what was declared: of "
                           "length at most %g%s",
                           pair / n_actions, pair % n_actions, from->simplex ? 1 : from->bound,
                           from->simplex ? ", not negative, with sum 1" : "");
    }
    m->scores = (tacit__feature_scores){.n_states = n_states,
                                        .n_actions = n_actions,
                                        .horizon = horizon,
                                        .dimension = d,
                                        .feature_bits = room < MOST_BITS ? room : MOST_BITS,
                                        .reward_bits = REWARD_BITS,
                                        .features = m->table};
    place_features(m, longest);
    *out = m;
    return TACIT_OK;
}

/* f2 = |J|_F^2 / d and c2 = tr J / (d S) of one even user, J = the mean of phi phi'; n users have the
 * information n^2 f2 / (variance + n c2) about a direction of a measure, and the prior has 2 S: the smallest
 * n solves n^2 L f2 - 2 S c2 n - 2 S variance = 0. */
uint64_t tacit__linear_model_users(const void *model, const tacit__score_noise *noise, size_t steps,
                                   double most)
{
    TACIT__REQUIRE(noise->sum >= 0 && noise->user >= 0 && noise->each == 0 && steps > 0);
    const tacit__linear_model *m = model;
    const size_t d = m->dimension;
    const double S = (double)m->n_states, prior = tacit__linear_model_prior(m);
    double f2 = 0, c2 = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double cell = 0;
            for (size_t pair = 0; pair < m->pairs; pair++)
                cell += m->features[pair * d + i] * m->features[pair * d + j] / (double)m->pairs;
            f2 += cell * cell / (double)d;
            c2 += i == j ? cell / ((double)d * S) : 0;
        }
    f2 *= (double)steps;
    c2 += noise->user;
    const double b = prior * c2, n = (b + sqrt(b * b + 4 * f2 * prior * noise->sum)) / (2 * f2);
    return (uint64_t)fmax(1, fmin(most, n >= 4 ? ceil(n) : f2 > 0 ? 4 : most));
}
