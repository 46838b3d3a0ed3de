/* The posterior of a mixture's weights against a plain version of the formulas of docs/why/posterior-mixture.md: explicit inverses,
 * visits by walking through all trajectories, scores from the table's integers. */
#include "plan/posterior/mixture_belief.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/check.h"
#include "support/played.h"
#include "support/random.h"
#include "support/solve.h"

SCOPED_TYPE(tacit__mixture_model, tacit__mixture_model_destroy)
SCOPED_TYPE(tacit__mixture_belief, tacit__mixture_belief_destroy)

enum { STATES = 3, ACTIONS = 2, PARTS = 4, WIDTH = PARTS - 1, PAIRS = STATES * ACTIONS };
enum { STEPS = 3, HORIZON = STEPS + 1, BATCHES = 2, CELLS = STEPS * WIDTH };

static double features[PAIRS][PARTS][STATES];

static void row(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    memcpy(out, features[state * ACTIONS + action], sizeof features[0]);
}

static const tacit_mixture mixture = {.dimension = PARTS,
                                      .bound = 1,
                                      .parameter_norm = 2,
                                      .kernels = true,
                                      .nonnegative = true,
                                      .row = row};

/* Kernels times a factor of each part. */
static tacit__mixture_model *draw_rewarding_model(uint64_t seed, bool learns_rewards)
{
    tacit__mixture_model *m = NULL;
    for (size_t pair = 0; pair < PAIRS; pair++)
        for (size_t j = 0; j < PARTS; j++) {
            random_simplex(&seed, STATES, features[pair][j]);
            for (size_t next = 0; next < STATES; next++)
                features[pair][j][next] *= 0.5 + 0.1 * (double)j;
        }
    assert_ok(
        tacit__mixture_model_create(&mixture, STATES, ACTIONS, 1000, learns_rewards, &m, NULL));
    return m;
}

static tacit__mixture_model *draw_model(uint64_t seed)
{
    return draw_rewarding_model(seed, false);
}

static double kernel(size_t pair, size_t j, size_t next)
{
    return features[pair][j][next] / (0.5 + 0.1 * (double)j);
}

static double score(const tacit__mixture_model *m, size_t pair, size_t next, size_t i)
{
    return ldexp(m->scores[(pair * STATES + next) * WIDTH + i], -m->bits);
}

/* --- The model ------------------------------------------------------------------------------------- */

TEST(the_basis_is_orthonormal_and_sums_to_nothing)
{
    SCOPED(tacit__mixture_model) *m = draw_model(1);
    for (size_t i = 0; i < WIDTH; i++)
        for (size_t k = 0; k < WIDTH; k++) {
            double product = 0, sum = 0;
            for (size_t j = 0; j < PARTS; j++) {
                product += m->basis[i * PARTS + j] * m->basis[k * PARTS + j];
                sum += m->basis[i * PARTS + j];
            }
            assert_within(product - (i == k), -1e-14, 1e-14);
            assert_within(sum, -1e-14, 1e-14);
        }
}

/* T = (B' phi - c) / D with the same c and D for all triples, up to half a step of the lattice; and it uses the lattice well. */
TEST(scores_are_the_features_without_their_mean_in_units)
{
    SCOPED(tacit__mixture_model) *m = draw_model(2);
    double center[WIDTH], unit = 0, most = 0;
    for (size_t i = 0; i < WIDTH; i++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (size_t k = 0; k < PAIRS * STATES; k++) {
            double x = 0;
            for (size_t j = 0; j < PARTS; j++)
                x += m->basis[i * PARTS + j] * kernel(k / STATES, j, k % STATES);
            low = fmin(low, x);
            high = fmax(high, x);
        }
        center[i] = (low + high) / 2;
        unit = fmax(unit, high - low);
    }
    for (size_t k = 0; k < PAIRS * STATES; k++)
        for (size_t i = 0; i < WIDTH; i++) {
            double x = -center[i];
            for (size_t j = 0; j < PARTS; j++)
                x += m->basis[i * PARTS + j] * kernel(k / STATES, j, k % STATES);
            const double got = score(m, k / STATES, k % STATES, i);
            assert_within(got - x / unit, -0.51 * ldexp(1, -m->bits), 0.51 * ldexp(1, -m->bits));
            most = fmax(most, fabs(got));
        }
    assert_within(most, 0.4999, 0.5);
}

/* For weights 1/d + B z the mean of the score is gain z + base, with the integers that are really added. */
TEST(the_mean_of_a_score_is_linear_in_the_weights)
{
    SCOPED(tacit__mixture_model) *m = draw_model(3);
    uint64_t seed = 5;
    double weights[PARTS], z[WIDTH], chances[PAIRS * STATES], moments[PAIRS * WIDTH * WIDTH];
    random_simplex(&seed, PARTS, weights);
    tacit__mixture_model_differences(m, weights, z);
    tacit__mixture_model_mix(m, weights, chances);
    tacit__mixture_model_moments(m, chances, moments);
    for (size_t pair = 0; pair < PAIRS; pair++)
        for (size_t i = 0; i < WIDTH; i++) {
            double mean = 0, told = m->base[pair * WIDTH + i];
            for (size_t next = 0; next < STATES; next++) {
                double chance = 0;
                for (size_t j = 0; j < PARTS; j++)
                    chance += weights[j] * kernel(pair, j, next);
                assert_close(chances[pair * STATES + next], chance, 1e-12);
                mean += chance * score(m, pair, next, i);
            }
            for (size_t k = 0; k < WIDTH; k++) {
                double moment = 0;
                told += m->gain[(pair * WIDTH + k) * WIDTH + i] * z[k];
                for (size_t next = 0; next < STATES; next++)
                    moment += chances[pair * STATES + next] * score(m, pair, next, i) *
                              score(m, pair, next, k);
                if (i >= k)
                    assert_within(moments[(pair * WIDTH + k) * WIDTH + i] - moment, -1e-13, 1e-13);
            }
            assert_within(told - mean, -1e-13, 1e-13);
        }
}

/* Kernels that are all alike have nothing to tell, and no score. */
TEST(equal_kernels_score_nothing_and_ask_for_all_users)
{
    SCOPED(tacit__mixture_model) *m = NULL;
    for (size_t i = 0; i < PAIRS * PARTS * STATES; i++)
        features[i / (PARTS * STATES)][i / STATES % PARTS][i % STATES] = 1.0 / 3;
    assert_ok(tacit__mixture_model_create(&mixture, STATES, ACTIONS, 1000, false, &m, NULL));
    for (size_t i = 0; i < PAIRS * STATES * WIDTH; i++)
        assert_int_equal(m->scores[i], 0);
    assert_int_equal(tacit__mixture_model_users(m, NOISE(1, 0), 1, 77), 77);
    assert_int_equal(tacit__mixture_model_users(m, NOISE(0, 0), 1, 77), 77);
}

TEST(what_is_no_mixture_of_kernels_is_refused)
{
    tacit__mixture_model *m = draw_model(4);
    tacit_error err = {.message = ""};
    tacit_mixture one = mixture;
    tacit__mixture_model_destroy(m);
    features[4][1][2] += 0.01;
    assert_status(tacit__mixture_model_create(&mixture, STATES, ACTIONS, 10, false, &m, &err),
                  TACIT_OUT_OF_BOUND);
    assert_non_null(strstr(err.message, "state 2, action 0: part 1"));
    features[4][1][2] -= 0.01 + 2 * features[4][1][1];
    features[4][1][1] *= -1;
    assert_status(tacit__mixture_model_create(&mixture, STATES, ACTIONS, 10, false, &m, &err),
                  TACIT_OUT_OF_BOUND);
    one.dimension = 1;
    assert_status(tacit__mixture_model_create(&one, STATES, ACTIONS, 10, false, &m, &err),
                  TACIT_UNSUPPORTED);
}

TEST(the_first_batch_halves_the_prior_variance)
{
    SCOPED(tacit__mixture_model) *m = draw_model(6);
    double f2 = 0, c2 = 0;
    for (size_t i = 0; i < WIDTH; i++) {
        for (size_t k = 0; k < WIDTH; k++) {
            double gain = 0;
            for (size_t pair = 0; pair < PAIRS; pair++)
                gain += m->gain[(pair * WIDTH + k) * WIDTH + i] / PAIRS;
            f2 += gain * gain / WIDTH;
        }
        for (size_t t = 0; t < PAIRS * STATES; t++)
            for (size_t j = 0; j < PARTS; j++)
                c2 += kernel(t / STATES, j, t % STATES) / (PARTS * PAIRS) *
                      pow(score(m, t / STATES, t % STATES, i), 2) / WIDTH;
    }
    assert_halves_the_prior(tacit__mixture_model_users, m, f2, c2, 2 * PARTS);
}

/* --- The simplex ----------------------------------------------------------------------------------- */

/* The nearest point: x - y = shift on the positive parts, and at least -y on the others. */
TEST(the_projection_is_the_nearest_point_of_the_simplex)
{
    enum { N = 7 };
    uint64_t seed = 9;
    double sorted[N], x[N], y[N];
    for (int trial = 0; trial < 200; trial++) {
        double sum = 0, shift = (double)NAN;
        for (size_t i = 0; i < N; i++)
            x[i] = y[i] = (trial % 3 + 1) * random_normal(&seed);
        tacit__simplex_project(N, x, sorted);
        for (size_t i = 0; i < N; i++) {
            assert_true(x[i] >= 0);
            sum += x[i];
            if (x[i] > 0)
                shift = y[i] - x[i];
        }
        assert_close(sum, 1, 1e-12);
        for (size_t i = 0; i < N; i++)
            assert_true(x[i] > 0 ? fabs(y[i] - x[i] - shift) < 1e-12 : y[i] <= shift + 1e-12);
    }
}

/* --- The posterior --------------------------------------------------------------------------------- */

/* What the plain version has: weights of each table, precision, starts. */
typedef struct plain {
    size_t tables;
    double weights[STEPS][PARTS], precision[STEPS][WIDTH * WIDTH], start[STATES];
} plain;

/* The chances by these weights. */
typedef struct mixed {
    double chances[STEPS][PAIRS][STATES];
} mixed;

static mixed mix_plainly(const plain *x)
{
    mixed out = {.chances = {{{0}}}};
    for (size_t i = 0; i < x->tables * PAIRS * STATES; i++) {
        const size_t t = i / (PAIRS * STATES), pair = i / STATES % PAIRS, next = i % STATES;
        for (size_t j = 0; j < PARTS; j++)
            out.chances[t][pair][next] += x->weights[t][j] * kernel(pair, j, next);
    }
    return out;
}

static tacit__walk walk_of(const plain *x, const double *chances)
{
    return (tacit__walk){SPACE_OF(STATES, ACTIONS, HORIZON), .steps = STEPS, .tables = x->tables,
                         .chances = chances, .start = x->start};
}

/* How many of a batch tell of step h. */
static double asked(const tacit__played_batch *b, size_t h)
{
    return b->shown.asked != NULL ? b->shown.asked[h] : (double)b->shown.users;
}

/* The covariance of numbers i and k of a score over all rows. */
static double even(const tacit__mixture_model *m, size_t i, size_t k)
{
    double both = 0, first = 0, second = 0;
    for (size_t t = 0; t < PAIRS * STATES; t++) {
        const double x = score(m, t / STATES, t % STATES, i),
                     y = score(m, t / STATES, t % STATES, k);
        both += x * y / (PAIRS * STATES);
        first += x / (PAIRS * STATES);
        second += y / (PAIRS * STATES);
    }
    return both - first * second;
}

/* What step h of a batch says: J B, the sum without J 1/d, and R. */
static void look(const tacit__mixture_model *m, const plain *x, const played *p, size_t h,
                 const double *all_visits, double *jb, double *rest, double *cover)
{
    const tacit__played_batch *b = &p->batch;
    double visits[PAIRS];
    for (size_t pair = 0; pair < PAIRS; pair++)
        visits[pair] = all_visits[pair] * asked(b, h) / (double)b->shown.users;
    memset(jb, 0, WIDTH * WIDTH * sizeof *jb);
    for (size_t i = 0; i < WIDTH * WIDTH; i++)
        cover[i] = asked(b, h) * b->spread * even(m, i / WIDTH, i % WIDTH);
    for (size_t i = 0; i < WIDTH; i++) {
        rest[i] = p->sums[h * WIDTH + i];
        cover[i * (WIDTH + 1)] += b->variance + 1e-6 * (double)b->shown.users;
    }
    for (size_t t = 0; t < PAIRS * STATES; t++) {
        const size_t pair = t / STATES, next = t % STATES;
        double chance = 0, mean = 0;
        for (size_t j = 0; j < PARTS; j++) {
            chance += x->weights[x->tables == 1 ? 0 : h][j] * kernel(pair, j, next);
            mean += kernel(pair, j, next) / PARTS;
        }
        for (size_t i = 0; i < WIDTH; i++) {
            const double T = score(m, pair, next, i);
            rest[i] -= visits[pair] * T * mean;
            for (size_t k = 0; k < WIDTH; k++) {
                double t_k = 0;
                for (size_t j = 0; j < PARTS; j++)
                    t_k += m->basis[k * PARTS + j] * kernel(pair, j, next);
                jb[i * WIDTH + k] += visits[pair] * T * t_k;
                cover[i * WIDTH + k] +=
                    visits[pair] * chance * T * score(m, pair, next, k) / b->truth;
            }
        }
    }
}

static void plain_pass(const tacit__mixture_model *m, const played *batches, size_t n, plain *x)
{
    const mixed by = mix_plainly(x);
    const tacit__walk walk = walk_of(x, &by.chances[0][0][0]);
    double target[STEPS][WIDTH] = {{0}}, precision[STEPS][WIDTH * WIDTH] = {{0}};
    for (size_t t = 0; t < x->tables; t++)
        for (size_t i = 0; i < WIDTH; i++)
            precision[t][i * (WIDTH + 1)] = 2 * PARTS;
    for (size_t k = 0; k < n; k++) {
        double visits[STEPS][PAIRS] = {{0}};
        played_walk(&batches[k].batch, &walk, &visits[0][0]);
        for (size_t h = 0; h < STEPS; h++) {
            double jb[WIDTH * WIDTH], rest[WIDTH], cover[WIDTH * WIDTH], inverse[WIDTH * WIDTH];
            const size_t t = x->tables == 1 ? 0 : h;
            look(m, x, &batches[k], h, visits[h], jb, rest, cover);
            invert_plainly(WIDTH, cover, inverse);
            for (size_t i = 0; i < WIDTH; i++)
                for (size_t a = 0; a < WIDTH; a++)
                    for (size_t b = 0; b < WIDTH; b++) {
                        const double left = jb[a * WIDTH + i] * inverse[a * WIDTH + b];
                        target[t][i] += left * rest[b];
                        for (size_t c = 0; c < WIDTH; c++)
                            precision[t][i * WIDTH + c] += left * jb[b * WIDTH + c];
                    }
        }
    }
    for (size_t t = 0; t < x->tables; t++) {
        double inverse[WIDTH * WIDTH], sorted[PARTS];
        invert_plainly(WIDTH, precision[t], inverse);
        for (size_t j = 0; j < PARTS; j++) {
            x->weights[t][j] = 1.0 / PARTS;
            for (size_t i = 0; i < WIDTH * WIDTH; i++)
                x->weights[t][j] +=
                    m->basis[i / WIDTH * PARTS + j] * inverse[i] * target[t][i % WIDTH];
        }
        tacit__simplex_project(PARTS, x->weights[t], sorted);
    }
    memcpy(x->precision, precision, sizeof precision);
}

/* Least squares of the starts, with an even prior of weight S. */
static void plain_start(const played *batches, size_t n, plain *x)
{
    double precision = STATES, sorted[STATES];
    for (size_t s = 0; s < STATES; s++)
        x->start[s] = 1;
    for (size_t k = 0; k < n; k++) {
        const tacit__played_batch *b = &batches[k].batch;
        const double users = asked(b, 0), noise = b->variance + users * b->spread / STATES,
                     variance = noise / 0.16 + users / (4 * b->truth);
        precision += users * users / variance;
        for (size_t s = 0; s < STATES; s++)
            x->start[s] += users * batches[k].sums[CELLS + s] / 0.4 / variance;
    }
    for (size_t s = 0; s < STATES; s++)
        x->start[s] /= precision;
    tacit__simplex_project(STATES, x->start, sorted);
}

static void compare(const tacit__mixture_belief *p, const plain *x)
{
    for (size_t s = 0; s < STATES; s++)
        assert_within(p->start[s] - x->start[s], -1e-12, 1e-12);
    for (size_t t = 0; t < x->tables; t++) {
        for (size_t j = 0; j < PARTS; j++)
            assert_within(p->weights[t * PARTS + j] - x->weights[t][j], -1e-8, 1e-8);
        for (size_t i = 0; i < WIDTH; i++)
            for (size_t k = 0; k <= i; k++) {
                double product = 0; /* L L' */
                for (size_t c = 0; c <= k; c++)
                    product += p->factor[(t * WIDTH + c) * WIDTH + i] *
                               p->factor[(t * WIDTH + c) * WIDTH + k];
                assert_within(product - x->precision[t][i * WIDTH + k], -1e-6, 1e-6);
            }
    }
}

/* The sums of a batch are what its users add on average, by these weights and starts. */
static void fill_sums(const tacit__mixture_model *m, const plain *truth, played *b)
{
    const mixed by = mix_plainly(truth);
    const tacit__walk walk = walk_of(truth, &by.chances[0][0][0]);
    double visits[STEPS][PAIRS] = {{0}};
    played_walk(&b->batch, &walk, &visits[0][0]);
    memset(b->sums, 0, sizeof b->sums);
    for (size_t s = 0; s < STATES; s++)
        b->sums[CELLS + s] = 0.4 * asked(&b->batch, 0) * truth->start[s];
    for (size_t i = 0; i < STEPS * PAIRS * STATES; i++) {
        const size_t h = i / (PAIRS * STATES), pair = i / STATES % PAIRS, next = i % STATES;
        const double chance = by.chances[truth->tables == 1 ? 0 : h][pair][next];
        for (size_t k = 0; k < WIDTH; k++)
            b->sums[h * WIDTH + k] += visits[h][pair] * asked(&b->batch, h) /
                                      (double)b->batch.shown.users * chance *
                                      score(m, pair, next, k);
    }
}

static plain draw_truth(size_t tables, uint64_t *seed)
{
    plain truth = {.tables = tables};
    for (size_t t = 0; t < tables; t++)
        random_simplex(seed, PARTS, truth.weights[t]);
    random_simplex(seed, STATES, truth.start);
    return truth;
}

TEST(the_posterior_is_that_of_the_formulas)
{
    for (int same = 0; same < 2; same++)
        for (int noisy = 0; noisy < 3; noisy++) { /* the third: answers */
            SCOPED(tacit__mixture_model) *m = draw_model(7);
            SCOPED(tacit__mixture_belief) *p = NULL;
            uint64_t seed = 11;
            static played batches[BATCHES];
            tacit__played_batch list[BATCHES];
            plain x = {.tables = same ? 1 : STEPS};
            const plain truth = draw_truth(x.tables, &seed);
            const tacit__walk walk = walk_of(&x, NULL);
            assert_ok(tacit__mixture_belief_create(m, STEPS, same != 0, &p));
            for (size_t i = 0; i < STEPS * PARTS; i++)
                x.weights[i / PARTS][i % PARTS] = 1.0 / PARTS;
            for (size_t n = 1; n <= BATCHES; n++) {
                played_draw(&batches[n - 1], &walk, CELLS, 30 * n, noisy == 1 ? 25 : 0, &seed);
                if (noisy == 2)
                    played_ask(&batches[n - 1], STEPS);
                fill_sums(m, &truth, &batches[n - 1]);
                for (size_t i = 0; i < CELLS; i++)
                    if (asked(&batches[n - 1].batch, i / WIDTH) > 0) /* else the sum is 0 */
                        batches[n - 1].sums[i] += (noisy == 1 ? 5 : 1) * random_normal(&seed);
                list[n - 1] = batches[n - 1].batch;
                plain_start(batches, n, &x);
                for (int round = 0; round < 3; round++)
                    plain_pass(m, batches, n, &x);
                tacit__mixture_belief_fit(p, list, n);
                compare(p, &x);
            }
        }
}

enum { REWARDS = HORIZON * PAIRS };

/* Means and precisions of rewards, cell by cell, with the visits that the posterior itself expects: of all steps, or of each.
 * One reward has the variance 1/4, and the second time 1/4 less the square of the mean, at least 0.01. */
static void plain_rewards(tacit__mixture_belief *p, const tacit__played_batch *list, bool same,
                          double *mean, double *precision)
{
    const size_t cells = same ? PAIRS : REWARDS;
    double visits[REWARDS], variance[REWARDS];
    for (size_t c = 0; c < cells; c++)
        variance[c] = 0.25;
    for (int round = 0; round < 2; round++) {
        for (size_t c = 0; c < cells; c++) {
            mean[c] = 0;
            precision[c] = 12;
        }
        for (size_t i = 0; i < BATCHES * REWARDS; i++) {
            const size_t k = i / REWARDS, c = i % REWARDS, at = same ? c % PAIRS : c;
            if (c == 0)
                tacit__mixture_belief_visits(p, &list[k], visits);
            const double told = asked(&list[k], c / PAIRS),
                         v = visits[c] * told / (double)list[k].shown.users,
                         cover = list[k].variance + told * list[k].spread / 4 / PAIRS +
                                 v * variance[at] / list[k].truth;
            precision[at] += v > 0 ? v * v / cover : 0;
            mean[at] += v > 0 ? v * list[k].shown.sums[CELLS + c] / cover : 0;
        }
        for (size_t c = 0; c < cells; c++) {
            mean[c] /= precision[c];
            variance[c] = fmax(0.01, 0.25 - mean[c] * mean[c]);
        }
    }
}

TEST(learned_rewards_are_those_of_the_formula)
{
    for (int i = 0; i < 6; i++) { /* from 4 on: answers */
        const bool same = i % 2 == 1;
        SCOPED(tacit__mixture_model) *m = draw_rewarding_model(7, true);
        SCOPED(tacit__mixture_belief) *p = NULL;
        uint64_t seed = 21;
        static played batches[BATCHES];
        tacit__played_batch list[BATCHES];
        plain x = {.tables = same ? 1 : STEPS};
        const tacit__walk walk = walk_of(&x, NULL);
        double mean[REWARDS], precision[REWARDS];
        assert_ok(tacit__mixture_belief_create(m, STEPS, same, &p));
        for (size_t k = 0; k < BATCHES; k++) {
            played_draw(&batches[k], &walk, CELLS + REWARDS, 30 * (k + 1), i < 2 ? 25 : 0, &seed);
            if (i >= 4)
                played_ask(&batches[k], HORIZON);
            list[k] = batches[k].batch;
        }
        tacit__mixture_belief_fit(p, list, BATCHES);
        plain_rewards(p, list, same, mean, precision);
        for (size_t c = 0; c < (same ? PAIRS : REWARDS); c++) {
            assert_close(p->spread[c], 1 / sqrt(precision[c]), 1e-9);
            assert_close(1 + p->rewards[c], 1 + mean[c], 1e-9);
        }
    }
}

/* n users spread over all pairs halve the prior variance of rewards: n / pairs visits of each step tell 12. */
TEST(the_first_batch_tells_of_rewards_too)
{
    SCOPED(tacit__mixture_model) *m = draw_rewarding_model(7, true), *known = draw_model(7);
    for (int i = 0; i < 8; i++) {
        const double sum = i % 2 == 0 ? 0 : 400, user = i / 2 % 2 == 0 ? 0 : 3;
        const size_t steps = i / 4 == 0 ? 1 : STEPS;
        const double n = (double)tacit__mixture_model_users(m, NOISE(sum, user), steps, 1e9);
        assert_true(n >= (double)tacit__mixture_model_users(known, NOISE(sum, user), steps, 1e9));
        for (int less = 0; less < 2; less++) {
            const double v = (n - less) / PAIRS,
                         told = (double)steps * v * v / (sum + (n - less) * user + v / 4);
            if (less == 0)
                assert_true(told >= 12 * (1 - 1e-9));
            else if (n > (double)tacit__mixture_model_users(known, NOISE(sum, user), steps, 1e9))
                assert_true(told < 12);
        }
    }
}

/* Where users are scarce and rewards are learned, there are more than `most`: up to five times as many, but not more than half of n1
 * and than twice as many as the weights need. With noise in reports, and with known rewards, there are not. */
TEST(scarce_users_begin_with_more_of_them_if_rewards_are_learned)
{
    SCOPED(tacit__mixture_model) *m = draw_rewarding_model(7, true), *known = draw_model(7);
    const double sum = 40000, n = (double)tacit__mixture_model_users(m, NOISE(sum, 0), 1, 1e9),
                 weights = (double)tacit__mixture_model_users(known, NOISE(sum, 0), 1, 1e9),
                 more = fmin(n / 2, 2 * weights);
    for (double most = n / 40; most < 2 * n; most *= 1.1) {
        const double wanted = fmin(n, fmax(most, fmin(5 * most, more)));
        assert_within((double)tacit__mixture_model_users(m, NOISE(sum, 0), 1, most), wanted - 3,
                      wanted + 3);
        assert_within((double)tacit__mixture_model_users(known, NOISE(sum, 0), 1, most),
                      fmin(weights, most) - 1, fmin(weights, most));
    }
    assert_int_equal(tacit__mixture_model_users(m, NOISE(0, sum), 1, 100), 100);
}

/* Users without a plan: before there are data, weights and starts are even. */
TEST(who_acts_at_random_is_found_everywhere)
{
    SCOPED(tacit__mixture_model) *m = draw_model(7);
    tacit__mixture_belief *p = NULL;
    const uint64_t players = 30;
    const tacit__played_batch batch = {.n_plans = 1, .players = &players};
    plain x = {.tables = 1};
    double wanted[STEPS][PAIRS] = {{0}}, got[STEPS][PAIRS];
    for (size_t j = 0; j < PARTS; j++)
        x.weights[0][j] = 1.0 / PARTS;
    for (size_t s = 0; s < STATES; s++)
        x.start[s] = 1.0 / STATES;
    const mixed by = mix_plainly(&x);
    const tacit__walk walk = walk_of(&x, &by.chances[0][0][0]);
    played_walk(&batch, &walk, &wanted[0][0]);
    for (int same = 0; same < 2; same++) {
        assert_ok(tacit__mixture_belief_create(m, STEPS, same != 0, &p));
        tacit__mixture_belief_visits(p, &batch, &got[0][0]);
        for (size_t i = 0; i < STEPS * PAIRS; i++)
            assert_close(got[i / PAIRS][i % PAIRS], wanted[i / PAIRS][i % PAIRS], 1e-12);
        tacit__mixture_belief_destroy(p);
    }
}

/* Exact sums of a hundred million users, as they are on average: weights, and starts, are found. */
TEST(exact_sums_of_many_users_tell_the_weights)
{
    SCOPED(tacit__mixture_model) *m = draw_model(8);
    SCOPED(tacit__mixture_belief) *p = NULL;
    uint64_t seed = 13;
    static played b;
    const plain truth = draw_truth(STEPS, &seed);
    const tacit__walk space = walk_of(&truth, NULL);
    played_draw(&b, &space, CELLS, 100000000, 0, &seed);
    fill_sums(m, &truth, &b);
    assert_ok(tacit__mixture_belief_create(m, STEPS, false, &p));
    for (int i = 0; i < 20; i++)
        tacit__mixture_belief_fit(p, &b.batch, 1);
    for (size_t s = 0; s < STATES; s++)
        assert_within(p->start[s] - truth.start[s], -1e-6, 1e-6);
    for (size_t i = 0; i < STEPS * PARTS; i++)
        assert_within(p->weights[i] - truth.weights[i / PARTS][i % PARTS], -1e-3, 1e-3);
}

TEST(no_memory_is_survived)
{
    SCOPED(tacit__mixture_model) *m = draw_model(9), *other = NULL;
    SCOPED(tacit__mixture_belief) *p = NULL;
    assert_survives_no_memory(
        tacit__mixture_model_create(&mixture, STATES, ACTIONS, 10, true, &other, NULL), );
    assert_survives_no_memory(tacit__mixture_belief_create(m, STEPS, false, &p), );
}
