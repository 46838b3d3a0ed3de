/* What an LSVI learner decides before the first user: sensitivities against brute force, schedules, caps, the split of
 * the budget, the printed constants. */
#include "release/archive/lsvi_scheme.h"

#include <math.h>

#include "release/archive/archive.h"
#include "support/check.h"
#include "support/random.h"

enum { D = 4, BITS = 18 };

/* |x x^T - y y^T|_F^2 + t |x a - y b|^2, entry by entry. */
static double moved(const double *x, const double *y, double a, double b, double t)
{
    double gram = 0, response = 0;
    for (size_t i = 0; i < D; i++) {
        for (size_t j = 0; j < D; j++)
            gram += pow(x[i] * x[j] - y[i] * y[j], 2);
        response += pow(x[i] * a - y[i] * b, 2);
    }
    return gram + t * response;
}

typedef struct draw {
    bool simplex, one_hot;
    uint64_t seed;
} draw;

/* Long and short vectors, corners and opposite pairs among them. */
static void draw_feature(draw *w, double *x)
{
    double sum = 0;
    for (size_t j = 0; j < D; j++)
        x[j] = 0;
    if (w->one_hot || random_below(&w->seed, 4) == 0) {
        x[random_below(&w->seed, D)] =
            w->simplex || w->one_hot || random_below(&w->seed, 2) ? 1 : -1;
        return;
    }
    for (size_t j = 0; j < D; j++) {
        x[j] = w->simplex ? -log(random_unit(&w->seed)) : random_normal(&w->seed);
        sum += w->simplex ? x[j] : x[j] * x[j];
    }
    double length = w->simplex                       ? sum
                    : random_below(&w->seed, 2) == 0 ? sqrt(sum)
                                                     : sqrt(sum) / random_unit(&w->seed);
    for (size_t j = 0; j < D; j++)
        x[j] /= length;
}

/* The largest move that random search with local steps finds. */
static double search(draw w, bool centered, double t)
{
    double most = 0, low = centered ? -0.5 : 0;
    for (int i = 0; i < 20000; i++) {
        double x[D], y[D], share = random_unit(&w.seed);
        draw_feature(&w, x);
        draw_feature(&w, y);
        if (!w.one_hot && random_below(&w.seed, 2) == 0) { /* y on the way from x or -x to y */
            double sign = w.simplex || random_below(&w.seed, 2) == 0 ? 1 : -1, square = 0;
            for (size_t j = 0; j < D; j++) {
                y[j] = share * y[j] + sign * (1 - share) * x[j];
                square += y[j] * y[j];
            }
            for (size_t j = 0; j < D && !w.simplex && square > 0; j++)
                y[j] /= sqrt(square);
        }
        double a = low + (double)random_below(&w.seed, 2),
               b = low + (double)random_below(&w.seed, 2);
        if (random_below(&w.seed, 4) == 0)
            a = low + random_unit(&w.seed);
        most = fmax(most, moved(x, y, a, b, t));
    }
    return most;
}

TEST(sensitivities_hold_against_brute_force_and_are_reached)
{
    for (int kind = 0; kind < 3; kind++)
        for (int centered = 0; centered < 2; centered++)
            for (double t = 1.0 / 64; t <= 64; t *= 4) {
                tacit__linear_space sp = {.form = kind == 2 ? TACIT__ONE_HOT : TACIT__CARRIED,
                                          .n_actions = 2,
                                          .horizon = 3,
                                          .dimension = D,
                                          .bound = 1,
                                          .simplex = kind > 0};
                double reach = tacit__lsvi_reach(&sp, centered, t);
                double found = search(
                    (draw){kind > 0, kind == 2, (uint64_t)(kind + 10 * centered) + 1}, centered, t);
                assert_within(found, 0, reach);
                /* simplex vectors are short where they are not corners, so the bound for the ball is not reached */
                assert_within(found, (kind == 1 && centered ? 0.75 : 0.95) * reach, reach);
            }
}

TEST(a_table_is_searched_pair_by_pair)
{
    enum { ROWS = 12 };
    double table[ROWS * D], one = ldexp(1, BITS);
    draw w = {.seed = 5};
    tacit__linear_space sp = {SPACE_OF(ROWS / 2, 2, 3), .form = TACIT__TABLE,
                              .dimension = D,           .bound = 1,
                              .feature_bits = BITS,     .table = table};
    for (size_t i = 0; i < ROWS; i++) {
        double phi[D];
        draw_feature(&w, phi);
        for (size_t j = 0; j < D; j++)
            phi[j] *= 0.7;
        assert_true(tacit__lsvi_place(&sp, phi, table + i * D));
    }
    for (double t = 0; t < 10; t += 1.5) {
        double most = 0;
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < ROWS; j++)
                for (int a = 0; a < 2; a++)
                    for (int b = 0; b < 2; b++) {
                        double x[D], y[D];
                        for (size_t k = 0; k < D; k++) {
                            x[k] = table[i * D + k] / one;
                            y[k] = table[j * D + k] / one;
                        }
                        most = fmax(most, moved(x, y, a, b, t));
                    }
        assert_close(tacit__lsvi_reach(&sp, false, t), most, 1e-8);
        assert_true(tacit__lsvi_reach(&sp, false, t) < 2 + 4 * t + 1e-9);
    }
}

TEST(features_on_the_lattice_are_never_longer_than_one)
{
    draw w = {.seed = 9};
    for (int i = 0; i < 20000; i++) {
        double phi[D], out[D], square = 0, bound = 0.01 + 3 * random_unit(&w.seed);
        const tacit__linear_space sp = {.dimension = D, .bound = bound, .feature_bits = BITS};
        draw_feature(&w, phi);
        for (size_t j = 0; j < D; j++)
            phi[j] *= bound * (1 + 5e-10);
        assert_true(tacit__lsvi_place(&sp, phi, out));
        for (size_t j = 0; j < D; j++) {
            assert_true(out[j] == floor(out[j]));
            assert_within(fabs(ldexp(out[j], -BITS) * bound - phi[j]), 0, ldexp(2 * bound, -BITS));
            square += out[j] * out[j];
        }
        assert_true(square <= ldexp(1, 2 * BITS));
        phi[0] += 0.01 * bound * (phi[0] < 0 ? -1 : 1);
        double length = 0;
        for (size_t j = 0; j < D; j++)
            length += phi[j] * phi[j];
        assert_true(tacit__lsvi_place(&sp, phi, out) == (sqrt(length) <= bound));
    }
    const double bad[D] = {(double)NAN, 0, 0, 0}, far[D] = {HUGE_VAL, 0, 0, 0};
    double out[D];
    const tacit__linear_space unit = {.dimension = D, .bound = 1, .feature_bits = BITS};
    assert_false(tacit__lsvi_place(&unit, bad, out));
    assert_false(tacit__lsvi_place(&unit, far, out));
}

/* What is declared to be on the simplex moves sums by less, so it is looked at: whatever passes sums to at most 1 on the lattice. */
TEST(features_of_the_simplex_stay_there)
{
    draw w = {.seed = 10, .simplex = true};
    const tacit__linear_space sp = {
        .dimension = D, .bound = 1, .feature_bits = BITS, .simplex = true};
    for (int i = 0; i < 20000; i++) {
        double phi[D], out[D], sum = 0, total = 0;
        for (size_t j = 0; j < D; j++)
            sum += phi[j] = -log(random_unit(&w.seed));
        for (size_t j = 0; j < D; j++)
            phi[j] *= (1 + 5e-10) / sum;
        assert_true(tacit__lsvi_place(&sp, phi, out));
        for (size_t j = 0; j < D; j++) {
            assert_true(out[j] >= 0);
            total += out[j];
        }
        assert_true(total <= ldexp(1, BITS));
        phi[0] += 1e-6;
        assert_false(tacit__lsvi_place(&sp, phi, out));
    }
    static const double wrong[][D] = {{0.7, 0.7}, {0.5, 0.6, -0.1}, {0.5, 0.4}, {0}};
    double out[D];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(tacit__lsvi_place(&sp, wrong[i], out));
    const double half[D] = {0.5 + 4e-10, 0.5 + 4e-10}; /* too much by rounding */
    assert_true(tacit__lsvi_place(&sp, half, out));
    assert_true(out[0] + out[1] <= ldexp(1, BITS));
}

static tacit__lsvi_scheme_options options_of(tacit__lsvi_schedule schedule, uint64_t K,
                                             tacit_guarantee g)
{
    return (tacit__lsvi_scheme_options){.space = {.form = TACIT__CARRIED,
                                                  .n_actions = 4,
                                                  .horizon = 5,
                                                  .dimension = 5,
                                                  .bound = 1,
                                                  .simplex = true,
                                                  .feature_bits = BITS},
                                        .schedule = schedule,
                                        .episodes = K,
                                        .guarantee = g,
                                        .mechanism = tacit_sum_default_mechanism(g),
                                        .centered = true,
                                        .lambda = 1,
                                        .shift = 2,
                                        .failure = 0.05};
}

static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 1e-6},
                             pure = {TACIT_MODEL_JOINT, 1, 0};

/* After i ceil(K / B) users for i = 1 .. B - 1, and never after the last user. */
TEST(batches_have_the_boundaries_of_the_paper)
{
    for (uint64_t K = 1; K <= 40; K++)
        for (uint64_t B = 1; B <= K; B++) {
            tacit__lsvi_scheme_options w = options_of(TACIT__BATCHED, K, none);
            tacit__lsvi_scheme s;
            w.batches = B;
            assert_ok(tacit__lsvi_decide(&w, &s, NULL));
            assert_int_equal(s.leaf, (K + B - 1) / B);
            uint64_t boundaries = 0;
            for (uint64_t i = 1; i < B; i++)
                boundaries += i * s.leaf < K;
            assert_int_equal(s.switches, boundaries > 0 ? boundaries : 1);
            assert_true(B == 1 || K == 1 || s.leaf * s.leaves < K);
        }
    tacit__lsvi_scheme_options w = options_of(TACIT__EVERY, 40, none);
    tacit__lsvi_scheme s;
    assert_ok(tacit__lsvi_decide(&w, &s, NULL));
    assert_true(s.leaf == 1 && s.leaves == 39 && s.switches == 39);
}

/* The budget is spent: H (A (column / s_G)^2 + U N / s_u^2) = mu^2, and in L1 for pure privacy. */
TEST(scales_spend_the_budget_exactly)
{
    for (int schedule = TACIT__EVERY; schedule <= TACIT__DOUBLING; schedule++)
        for (int is_pure = 0; is_pure < (schedule == TACIT__DOUBLING ? 1 : 2); is_pure++) {
            tacit__lsvi_scheme_options w =
                options_of((tacit__lsvi_schedule)schedule, 5000, is_pure ? pure : joint);
            tacit__lsvi_scheme s;
            assert_ok(tacit__lsvi_decide(&w, &s, NULL));
            double N = (double)s.switches, mu;
            if (is_pure) {
                double epsilon = 5 * (s.gram_l1 * s.column / s.gram_scale +
                                      s.response_l1 * N / s.response_scale);
                assert_close(epsilon, 1, 1e-9);
                continue;
            }
            assert_ok(tacit_gdp_mu(1, 1e-6, &mu));
            double spent = 5 * (pow(s.gram_l2 * s.column / s.gram_scale, 2) +
                                N * pow(s.response_l2 / s.response_scale, 2));
            assert_close(spent, mu * mu, 1e-2); /* the slack of the ratio */
            double ratio = N / pow(s.response_scale, 2) / pow(s.column / s.gram_scale, 2);
            assert_within(ratio, 0.99 * s.ratio, s.ratio);
        }
}

TEST(the_cap_is_where_the_prediction_is_least)
{
    tacit__lsvi_scheme_options w = options_of(TACIT__DOUBLING, 20000, joint);
    tacit__lsvi_scheme best, other;
    assert_ok(tacit__lsvi_decide(&w, &best, NULL));
    assert_true(best.switches < best.bound);
    assert_within(best.switch_factor, 2, 1000);
    for (uint64_t n = 1; n < 60; n++) {
        w.switches = n;
        assert_ok(tacit__lsvi_decide(&w, &other, NULL));
        assert_int_equal(other.switches, n);
        assert_true(best.predicted <= other.predicted * (1 + 1e-12));
    }
    /* a larger promise pays for more switches with less noise */
    tacit__lsvi_scheme generous;
    w = options_of(TACIT__DOUBLING, 20000, (tacit_guarantee){TACIT_MODEL_JOINT, 10, 1e-6});
    assert_ok(tacit__lsvi_decide(&w, &generous, NULL));
    assert_true(generous.switches > best.switches && generous.gram_stddev < best.gram_stddev);
}

/* The theorem's cap solves N = ceil(d H / log 2 log(3/2 + K / (2 d Upsilon(N)))) at its own noise. */
TEST(the_theorems_cap_is_a_fixed_point)
{
    tacit__lsvi_scheme_options w = options_of(TACIT__DOUBLING, 20000, joint);
    tacit__lsvi_scheme s;
    w.theorem = true;
    assert_ok(tacit__lsvi_decide(&w, &s, NULL));
    assert_int_equal(s.switches, s.bound);
    double upsilon = s.gram_stddev * tacit__lsvi_matrix_level(&w.space, s.law, s.row * s.row,
                                                              0.05 / (6 * 20000.0 * 5));
    assert_int_equal(s.switches, (uint64_t)ceil(25 / log(2) * log(1.5 + 20000 / (10 * upsilon))));
    assert_true(s.switch_factor == 2 && s.leaf == 1);
    w = options_of(TACIT__DOUBLING, 20000, none);
    assert_ok(tacit__lsvi_decide(&w, &s, NULL));
    assert_int_equal(s.switches, (uint64_t)ceil(25 / log(2) * log(1 + 20000 / 5.0)));
}

/* Direct releases have noise sqrt(B - 1), the tree's worst prefix about its number of levels: they cross between 10 and 50
 * batches. blt and smooth sums are never worse than direct releases. */
TEST(gram_matrices_take_the_less_noisy_mechanism)
{
    int seen[2] = {0};
    for (uint64_t batches = 2; batches < 60; batches++) {
        tacit__lsvi_scheme_options w = options_of(TACIT__BATCHED, 1000, joint);
        tacit__lsvi_scheme s, direct;
        w.batches = batches;
        assert_ok(tacit__lsvi_decide(&w, &s, NULL));
        assert_false(s.direct && s.leaves > 1);
        w.mechanism = TACIT_SUM_TREE;
        assert_ok(tacit__lsvi_decide(&w, &s, NULL));
        w.gram = TACIT__GRAM_DIRECT;
        assert_ok(tacit__lsvi_decide(&w, &direct, NULL));
        assert_true(direct.direct && s.column * s.row <= direct.column * direct.row);
        w.gram = TACIT__GRAM_SUMS;
        assert_ok(tacit__lsvi_decide(&w, &direct, NULL));
        assert_true(!direct.direct && s.column * s.row <= direct.column * direct.row);
        assert_int_equal(s.direct,
                         sqrt((double)s.leaves) * (1 + 1e-12) < direct.column * direct.row);
        seen[s.direct]++;
    }
    assert_true(seen[0] > 10 && seen[1] > 10);
    tacit__lsvi_scheme_options w = options_of(TACIT__DOUBLING, 1000, joint);
    tacit__lsvi_scheme s;
    w.mechanism = TACIT_SUM_TREE;
    assert_ok(tacit__lsvi_decide(&w, &s, NULL));
    assert_false(s.direct);
}
