/* What a user adds where scores are features, and how far apart two users can be: the sensitivity of
 * contribute/scores.c for linear MDPs, in integers.
 *
 * At a step before the last a user adds (phi e(s')', phi (2 y - 1)), e(s') a unit vector. Replace the user;
 * with n = |phi|^2, n' = |phi'|^2 and c = phi . phi' the step moves by
 *
 *     n (1 + (2 y - 1)^2) + n' (1 + (2 y' - 1)^2) - 2 c ([same s'] + (2 y - 1)(2 y' - 1)),
 *
 * squared. That is convex in y and in y', so rewards 0 and 1 are the worst:
 *
 *     before the last  2 (n + n') + max(2 c, -4 c),      the last  n + n' + 2 |c|:
 *
 * another s' and the other reward if c >= 0, the same of both if c < 0; the last step has the reward only.
 * These are integers, whose largest values over all pairs of rows of the table add up over the steps. Lengths
 * of at most 1 and no negative features: 6 and 4, as docs/why/posterior-linear.md#the-score has it; with
 * negative ones 8 and 4. Up to ENUMERATED rows all pairs are compared; above, these bounds are used, times
 * the largest squared length.
 *
 * Rewards are rounded to the lattice before anything else; 0 and 1 lie on it, so the bound stays. */
#include "contribute/feature_reach.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

enum { ENUMERATED = 4096 };

/* The largest squares, in squared steps of the features' lattice: below 2^44, as no vector of the table is
 * longer than 2^20. */
typedef struct moves {
    uint64_t step, last;
} moves;

static int64_t inner(const int32_t *x, const int32_t *y, size_t d)
{
    int64_t sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += (int64_t)x[j] * y[j];
    return sum;
}

static moves move_of(int64_t squares, int64_t product)
{
    const int64_t apart = product >= 0 ? product : -product;
    return (moves){.step = (uint64_t)(2 * squares + (product >= 0 ? 2 : 4) * apart),
                   .last = (uint64_t)(squares + 2 * apart)};
}

static moves enumerate(const int32_t *rows, size_t n, size_t d)
{
    moves most = {0};
    for (size_t i = 0; i < n; i++) {
        const int64_t square = inner(rows + i * d, rows + i * d, d);
        for (size_t k = 0; k <= i; k++) {
            const int32_t *x = rows + i * d, *y = rows + k * d;
            const moves here = move_of(square + inner(y, y, d), inner(x, y, d));
            most.step = here.step > most.step ? here.step : most.step;
            most.last = here.last > most.last ? here.last : most.last;
        }
    }
    return most;
}

/* |c| is at most the largest square; c is not negative where no feature is. */
static moves enclose(const int32_t *rows, size_t n, size_t d)
{
    int64_t most = 0;
    bool negative = false;
    for (size_t i = 0; i < n; i++) {
        const int64_t square = inner(rows + i * d, rows + i * d, d);
        most = square > most ? square : most;
        for (size_t j = 0; j < d; j++)
            negative = negative || rows[i * d + j] < 0;
    }
    return move_of(2 * most, negative ? -most : most);
}

static void write_features(const void *context, const tacit_trajectory *u, int64_t *out)
{
    const tacit__feature_scores *f = context;
    const size_t d = f->dimension;
    const int64_t whole = (int64_t)1 << f->reward_bits;
    memset(out, 0, tacit__feature_scores_rewards(f, 0) * sizeof *out);
    for (size_t h = 0; h < f->horizon; h++) {
        const int32_t *phi =
            f->features + ((size_t)u->states[h] * f->n_actions + u->actions[h]) * d;
        const int64_t y = 2 * llrint(ldexp(u->rewards[h], f->reward_bits)) - whole;
        int64_t *next = out + (h * f->n_states + u->states[h + 1]) * d,
                *reward = out + tacit__feature_scores_rewards(f, h);
        for (size_t j = 0; j < d; j++) {
            if (h + 1 < f->horizon)
                next[j] = phi[j] * whole;
            reward[j] = phi[j] * y;
        }
    }
}

tacit__score_form tacit__score_form_of_features(const tacit__feature_scores *f)
{
    const size_t rows = f->n_states * f->n_actions, d = f->dimension;
    TACIT__REQUIRE(f->feature_bits <= 20);
    const moves most =
        rows <= ENUMERATED ? enumerate(f->features, rows, d) : enclose(f->features, rows, d);
    const tacit__u128 moved = (tacit__u128)most.step * (f->horizon - 1) + most.last;
    tacit__score_form form = {
        .n_states = f->n_states,
        .n_actions = f->n_actions,
        .horizon = f->horizon,
        .numbers = tacit__feature_scores_rewards(f, f->horizon),
        .bits = tacit__feature_scores_bits(f),
        .largest = ldexp(1, tacit__feature_scores_bits(f) + 5), /* a feature, or the start */
        .reason =
            "features in the row of the next state at H - 1 steps, and features times the reward, "
            "from its middle, at H: the worst two rows of the public table, next states and "
            "rewards, and one first state or another; a user is in one batch only, so batches "
            "compose in parallel",
        .fading_reason =
            "features in the row of the next state at H - 1 steps, and features times the reward, "
            "from its middle, at H: the worst two rows of the public table, next states and "
            "rewards, and one first state or another; each sum has a fixed share of the one before "
            "it, so a user is in later ones with powers of that share, whose squares add up",
        .write = write_features,
        .context = f};
    tacit__score_form_reach(&form,
                            moved << (2 * f->reward_bits)); /* a feature's step is 2^reward_bits */
    return form;
}
