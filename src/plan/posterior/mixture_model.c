/* See mixture_model.h and docs/why/posterior-mixture.md#the-score.
 *
 * Weights w of the kernels lie in the simplex, w = 1/d + B z with B an orthonormal basis of the
 * vectors that sum to 0 (Helmert's). A step (s, a, s') has the score
 *
 *     T = (B' phi(s' | s, a) - c) / D,      phi = (phi_1, ..., phi_d),
 *
 * with a public center c and unit D that make no number larger than 1/2; then it is rounded to the
 * lattice, and the rounded numbers are used from here on. Given (s, a), E T is linear in w:
 * E T = gain z + base. Neither c nor D changes what z can be told from: sum_s' B' phi = B' 1 = 0,
 * so c drops out of `gain`, and noise is measured against the diameter of the table, which scales
 * with 1 / D (contribute/scores.c).
 *
 * Cost: memory for S A S' d numbers; to create, S A S' d^2 operations. */
#include "plan/posterior/mixture_model.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"

enum { MOST_BITS = 24, ROOM_BITS = 56 }; /* the sums below 2^60 have room for 16 units a user */
#define SLACK 1e-9                       /* relative, of sums of rows: the caller's rounding */
enum { MORE = 5 }; /* times as many of scarce users: docs/why/posterior-mixture.md#scarcity */

void tacit__mixture_model_destroy(void *model)
{
    tacit__workspace_destroy(model);
}

/* --- Kernels ------------------------------------------------------------------------------------- */

/* Rows of features into kernels. A part's rows have the same sum for all pairs, and that is its factor. */
static tacit_status fill_kernels(tacit__mixture_model *m, const tacit_mixture *from,
                                 tacit_error *err)
{
    const size_t S = m->n_states, d = m->parts;
    for (size_t pair = 0; pair < m->pairs; pair++) {
        double *row = m->kernels + pair * d * S;
        from->row(from->context, (uint32_t)(pair / m->n_actions), (uint32_t)(pair % m->n_actions),
                  row);
        for (size_t j = 0; j < d; j++) {
            double sum = 0, first = 0, least = 0;
            for (size_t next = 0; next < S; next++) {
                sum += row[j * S + next];
                first += m->kernels[j * S + next];
                least = fmin(least, row[j * S + next]);
            }
            if (!(sum > 0 && isfinite(sum) && least >= 0 && fabs(sum - first) <= SLACK * sum))
                return tacit__fail(err, TACIT_OUT_OF_BOUND,
                                   "state %zu, action %zu: part %zu of the mixture is no "
                                   "probability kernel",
                                   pair / m->n_actions, pair % m->n_actions, j);
        }
    }
    for (size_t i = 0; i < m->pairs * d; i++) {
        double *row = m->kernels + i * S, sum = 0;
        for (size_t next = 0; next < S; next++)
            sum += row[next];
        for (size_t next = 0; next < S; next++)
            row[next] /= sum;
    }
    return TACIT_OK;
}

/* Row i - 1 is (1, ..., 1, -i, 0, ..., 0) / sqrt(i (i + 1)), with i ones. */
static void fill_basis(tacit__mixture_model *m)
{
    for (size_t i = 1; i <= m->width; i++) {
        double *row = m->basis + (i - 1) * m->parts, k = (double)i;
        for (size_t j = 0; j < i; j++)
            row[j] = 1 / sqrt(k * (k + 1));
        row[i] = -k / sqrt(k * (k + 1));
    }
}

void tacit__mixture_model_differences(const tacit__mixture_model *m, const double *x, double *out)
{
    for (size_t i = 0; i < m->width; i++) {
        double sum = 0;
        for (size_t j = 0; j <= i + 1; j++) /* the rest of the row is 0 */
            sum += m->basis[i * m->parts + j] * x[j];
        out[i] = sum;
    }
}

/* --- Scores -------------------------------------------------------------------------------------- */

/* B' phi of a triple; phi[part] is scratch. */
static void score_triple(const tacit__mixture_model *m, size_t pair, size_t next, double *phi,
                         double *out)
{
    for (size_t j = 0; j < m->parts; j++)
        phi[j] = m->kernels[(pair * m->parts + j) * m->n_states + next];
    tacit__mixture_model_differences(m, phi, out);
}

/* The middle of each number's range into center[width]; returns the widest range. */
static double find_center(const tacit__mixture_model *m, double *phi, double *t, double *low,
                          double *center)
{
    double *high = center, widest = 0;
    for (size_t i = 0; i < m->width; i++) {
        low[i] = HUGE_VAL;
        high[i] = -HUGE_VAL;
    }
    for (size_t pair = 0; pair < m->pairs; pair++)
        for (size_t next = 0; next < m->n_states; next++) {
            score_triple(m, pair, next, phi, t);
            for (size_t i = 0; i < m->width; i++) {
                low[i] = fmin(low[i], t[i]);
                high[i] = fmax(high[i], t[i]);
            }
        }
    for (size_t i = 0; i < m->width; i++) {
        widest = fmax(widest, high[i] - low[i]);
        center[i] = (low[i] + high[i]) / 2;
    }
    return widest;
}

/* sum T T' / rows - mean mean' */
static void fill_even(tacit__mixture_model *m)
{
    const size_t w = m->width, rows = m->pairs * m->n_states;
    const double unit = ldexp(1, -m->bits);
    for (size_t i = 0; i < w; i++)
        for (size_t j = 0; j < w; j++) {
            double both = 0, first = 0, second = 0;
            for (size_t k = 0; k < rows; k++) {
                const double x = m->scores[k * w + i] * unit, y = m->scores[k * w + j] * unit;
                both += x * y / (double)rows;
                first += x / (double)rows;
                second += y / (double)rows;
            }
            m->even[j * w + i] = both - first * second;
        }
}

static tacit_status fill_scores(tacit__mixture_model *m)
{
    const size_t w = m->width, S = m->n_states;
    double *phi, *t, *low, *center;
    void *memory = TACIT__PIECES(TACIT__PIECE(phi, m->parts), TACIT__PIECE(t, w),
                                 TACIT__PIECE(low, w), TACIT__PIECE(center, w));
    if (memory == NULL)
        return TACIT_NO_MEMORY;
    const double unit = ldexp(1, -m->bits), widest = find_center(m, phi, t, low, center);
    for (size_t pair = 0; pair < m->pairs; pair++)
        for (size_t next = 0; next < S; next++) {
            int32_t *score = m->scores + (pair * S + next) * w;
            double *gain = m->gain + pair * w * w, *base = m->base + pair * w, mean = 0;
            score_triple(m, pair, next, phi, t);
            for (size_t j = 0; j < m->parts; j++)
                mean += phi[j] / (double)m->parts;
            for (size_t i = 0; i < w; i++) {
                /* kernels that are all alike differ by rounding at most, and score 0 */
                const double x = widest > SLACK ? (t[i] - center[i]) / widest : 0;
                score[i] = (int32_t)rint(ldexp(x, m->bits));
                base[i] += score[i] * unit * mean;
                for (size_t j = 0; j < w; j++)
                    gain[j * w + i] += score[i] * unit * t[j];
            }
        }
    tacit__workspace_destroy(memory);
    fill_even(m);
    return TACIT_OK;
}

tacit_status tacit__mixture_model_create(const tacit_mixture *from, size_t n_states,
                                         size_t n_actions, uint64_t users, bool learns_rewards,
                                         tacit__mixture_model **out, tacit_error *err)
{
    TACIT__REQUIRE(n_states > 0 && n_actions > 0);
    if (from->dimension < 2)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "a mixture of one part is known: there is nothing to learn");
    const size_t d = from->dimension, w = d - 1, pairs = n_states * n_actions;
    tacit__mixture_model made = {.n_states = n_states,
                                 .n_actions = n_actions,
                                 .pairs = pairs,
                                 .parts = d,
                                 .width = w,
                                 .learns_rewards = learns_rewards,
                                 .bits = ROOM_BITS - (int)ceil(log2((double)users + 1))};
    made.bits = made.bits < MOST_BITS ? made.bits : MOST_BITS;
    if (learns_rewards && made.bits <= TACIT__REWARD_BITS)
        return tacit__fail(err, TACIT_NO_ROOM, "rewards of so many users do not fit the lattice");
    tacit__mixture_model *m = TACIT__WORKSPACE(
        made, TACIT__PIECE(made.kernels, pairs * d * n_states), TACIT__PIECE(made.basis, w * d),
        TACIT__PIECE(made.scores, pairs * n_states * w), TACIT__PIECE(made.gain, pairs * w * w),
        TACIT__PIECE(made.base, pairs * w), TACIT__PIECE(made.even, w * w));
    if (m == NULL)
        return tacit__fail(err, TACIT_NO_MEMORY,
                           "%zu kernels of %zu pairs and %zu next states do not fit into memory", d,
                           pairs, n_states);
    tacit_status status = fill_kernels(m, from, err);
    fill_basis(m);
    if (status == TACIT_OK && (status = fill_scores(m)) != TACIT_OK)
        (void)tacit__fail_plain(err, status);
    if (status != TACIT_OK) {
        tacit__mixture_model_destroy(m);
        return status;
    }
    *out = m;
    return TACIT_OK;
}

tacit__score_table tacit__mixture_model_table(const tacit__mixture_model *m, size_t steps)
{
    TACIT__REQUIRE(steps > 0);
    return (tacit__score_table){
        .n_states = m->n_states,
        .n_actions = m->n_actions,
        .steps = steps,
        .width = m->width,
        .bits = m->bits,
        .reward = m->learns_rewards ? (int64_t)1 << (m->bits - TACIT__REWARD_BITS - 1) : 0,
        .scores = m->scores};
}

/* --- What scores tell ------------------------------------------------------------------------------ */

void tacit__mixture_model_mix(const tacit__mixture_model *m, const double *weights, double *chances)
{
    const size_t S = m->n_states;
    memset(chances, 0, m->pairs * S * sizeof *chances);
    for (size_t pair = 0; pair < m->pairs; pair++)
        for (size_t j = 0; j < m->parts; j++) {
            const double *kernel = m->kernels + (pair * m->parts + j) * S;
            for (size_t next = 0; next < S; next++)
                chances[pair * S + next] += weights[j] * kernel[next];
        }
}

void tacit__mixture_model_moments(const tacit__mixture_model *m, const double *chances,
                                  double *moments)
{
    const size_t S = m->n_states, w = m->width;
    const double unit = ldexp(1, -m->bits);
    memset(moments, 0, m->pairs * w * w * sizeof *moments);
    for (size_t pair = 0; pair < m->pairs; pair++)
        for (size_t next = 0; next < S; next++) {
            const int32_t *score = m->scores + (pair * S + next) * w;
            const double chance = chances[pair * S + next] * unit * unit;
            double *out = moments + pair * w * w;
            for (size_t j = 0; j < w; j++)
                for (size_t i = j; i < w; i++)
                    out[j * w + i] += chance * score[i] * (double)score[j];
        }
}

/* n users come to a pair v = n / pairs times a step, which tells of its reward, with a variance of at most
 * 1/4, steps v^2 / (variance + n user_variance + v / 4); the prior has 12: steps v^2 - (3 + 12 pairs
 * user_variance) v - 12 variance = 0. Of answers, a share counts, each with the variance (1 / truth +
 * spread) / 4. */
static double reward_users(const tacit__mixture_model *m, const tacit__score_noise *noise,
                           size_t steps)
{
    const double pairs = (double)m->pairs, L = (double)steps,
                 linear = noise->each > 0 ? 3 * (1 / noise->truth + noise->spread) / noise->share
                                          : 3 + 12 * pairs * noise->user;
    return pairs * (linear + sqrt(linear * linear + 48 * L * noise->sum)) / (2 * L);
}

/* f2 = |gain|_F^2 / (d - 1) and c2 = tr C / (d - 1) of one even user with weights 1/d; n users have
 * the information n^2 f2 / (variance + n c2) about a direction, and the prior has 2 d: the smallest n
 * solves n^2 L f2 - 2 d c2 n - 2 d variance = 0. If users answer, c2 is that of an answer over their share
 * (contribute/score_answers.c). Infinite if scores tell nothing. */
static double weight_users(const tacit__mixture_model *m, const tacit__score_noise *noise,
                           size_t steps)
{
    const size_t w = m->width, S = m->n_states;
    const double unit = ldexp(1, -m->bits), d = (double)m->parts, pairs = (double)m->pairs;
    double f2 = 0, c2 = 0, even = 0;
    for (size_t i = 0; i < w; i++)
        even += m->even[i * (w + 1)] / (double)w;
    for (size_t i = 0; i < w * w; i++) {
        double gain = 0;
        for (size_t pair = 0; pair < m->pairs; pair++)
            gain += m->gain[pair * w * w + i] / pairs;
        f2 += gain * gain / (double)w;
    }
    for (size_t k = 0; k < m->pairs * S; k++) {
        double chance = 0, square = 0;
        for (size_t j = 0; j < m->parts; j++)
            chance += m->kernels[(k / S * m->parts + j) * S + k % S] / (d * pairs);
        for (size_t i = 0; i < w; i++)
            square += pow(m->scores[k * w + i] * unit, 2) / (double)w;
        c2 += chance * square;
    }
    f2 *= (double)steps;
    c2 = noise->each > 0 ? (c2 / noise->truth + noise->spread * even) / noise->share
                         : c2 + noise->user;
    return f2 > 0 ? (d * c2 + sqrt(d * d * c2 * c2 + 2 * d * f2 * noise->sum)) / f2 : HUGE_VAL;
}

double tacit__mixture_model_wanted(const void *model, const tacit__score_noise *noise, size_t steps)
{
    const tacit__mixture_model *m = model;
    TACIT__REQUIRE(noise->sum >= 0 && noise->user >= 0 && steps > 0);
    return fmax(weight_users(m, noise, steps),
                m->learns_rewards ? reward_users(m, noise, steps) : 0);
}

/* Where users are scarce and rewards are learned, plans of the first batches know neither: then more than
 * `most` users, but not more than half of those who are wanted and than twice as many as the weights need. */
uint64_t tacit__mixture_model_users(const void *model, const tacit__score_noise *noise,
                                    size_t steps, double most)
{
    const tacit__mixture_model *m = model;
    const double n = tacit__mixture_model_wanted(m, noise, steps);
    if (m->learns_rewards && noise->user == 0 && noise->each == 0)
        most = fmax(most, fmin(MORE * most, fmin(n / 2, 2 * weight_users(m, noise, steps))));
    return (uint64_t)fmax(1, fmin(most, fmax(4, ceil(n))));
}
