/* The posterior of a kernel bandit against a plain version of docs/why/posterior-kernel.md: a Gaussian process on the pairs
 * themselves, with dense matrices and elimination; and that water-filling is what it is said to be, the best of all weights. */
#include "plan/posterior/kernel_belief.h"

#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"
#include "support/solve.h"

SCOPED_TYPE(tacit__kernel_features, tacit__kernel_features_destroy)
SCOPED_TYPE(tacit__kernel_belief, tacit__kernel_belief_destroy)

enum { CONTEXTS = 4, ACTIONS = 5, PAIRS = CONTEXTS * ACTIONS, DIRECTIONS = 3, BATCHES = 2 };

static double points[PAIRS][2];
static const double law[CONTEXTS] = {0.4, 0.3, 0.2, 0.1};

static tacit__kernel_features *make_features(const char *kernel, size_t rank)
{
    tacit__pairs pairs = {
        .n_contexts = CONTEXTS, .n_actions = ACTIONS, .points = &points[0][0], .weights = law};
    tacit__kernel_features *f = NULL;
    for (size_t w = 0; w < PAIRS; w++) {
        points[w][0] = (double)(w / ACTIONS) / CONTEXTS;
        points[w][1] = (double)(w % ACTIONS) / ACTIONS;
    }
    assert_ok(tacit__kernel_read(kernel, 2, 1, &pairs.kernel, NULL));
    tacit__kernel_fit(&pairs.kernel, PAIRS, &points[0][0]);
    assert_ok(tacit__kernel_features_create(&pairs, rank, 0.4, &f));
    return f;
}

static double product(const tacit__kernel_features *f, size_t v, size_t w)
{
    double sum = 0;
    for (size_t j = 0; j < f->p; j++)
        sum += f->phi[v * f->p + j] * f->phi[w * f->p + j];
    return sum;
}

/* Inner products are the kernel, up to what is cut off, and uniform play has a diagonal moment with these eigenvalues. */
TEST(features_are_those_of_the_kernel)
{
    static const char *const kernels[] = {"se(0.3)", "matern-1.5(0.4)", "linear", "poly-2(1)"};
    for (size_t k = 0; k < N_OF(kernels); k++) {
        SCOPED(tacit__kernel_features) *f = make_features(kernels[k], 100);
        assert_true(f->p > 0 && f->p <= PAIRS && f->prior > 0);
        for (size_t v = 0; v < PAIRS; v++)
            for (size_t w = 0; w < PAIRS; w++)
                assert_within(product(f, v, w) -
                                  tacit__kernel_value(&f->pairs.kernel, points[v], points[w]),
                              -0.02, 0.02);
        for (size_t i = 0; i < f->p; i++)
            for (size_t j = 0; j < f->p; j++) {
                double sum = 0;
                for (size_t w = 0; w < PAIRS; w++)
                    sum += law[w / ACTIONS] / ACTIONS * f->phi[w * f->p + i] * f->phi[w * f->p + j];
                assert_within(sum - (i == j ? f->lambda[i] : 0), -1e-12, 1e-12);
                assert_true(i == 0 || f->lambda[i] <= f->lambda[i - 1]);
            }
    }
}

TEST(a_small_rank_keeps_what_is_largest)
{
    SCOPED(tacit__kernel_features) *f = make_features("se(0.3)", 4);
    assert_int_equal(f->p, 4);
}

/* --- Weights --------------------------------------------------------------------------------------- */

/* What a sum leaves of the variance: coordinates of variance s_j, mean square of the weighted vector 1. */
static double left_of(size_t p, const double *spectrum, const double *weight, double users,
                      double variance)
{
    double sum = 0;
    for (size_t j = 0; j < p; j++)
        sum += spectrum[j] /
               (1 + users * users * weight[j] * weight[j] * spectrum[j] * spectrum[j] / variance);
    return sum;
}

TEST(water_filling_is_the_best_of_all_weights)
{
    enum { P = 6 };
    static const double spectrum[P] = {0.5, 0.3, 0.1, 0.03, 0.002, 0};
    uint64_t seed = 3;
    for (double variance = 0.01; variance < 1e8; variance *= 10) {
        double weight[P], other[P], square = 0;
        const size_t m = tacit__kernel_fill(P, spectrum, 100, variance, weight);
        assert_true(m >= 1 && m < P);
        for (size_t j = 0; j < P; j++) {
            assert_true((weight[j] > 0) == (j < m));
            square += weight[j] * weight[j] * spectrum[j];
        }
        assert_within(square, 1 - 1e-9, 1 + 1e-9);
        const double least = left_of(P, spectrum, weight, 100, variance);
        for (size_t trial = 0; trial < 200; trial++) {
            double sum = 0;
            for (size_t j = 0; j < P - 1; j++) {
                other[j] =
                    fmax(0, weight[j] * weight[j] * spectrum[j] + 0.2 * (random_unit(&seed) - 0.5));
                sum += other[j];
            }
            other[P - 1] = 0;
            for (size_t j = 0; j < P - 1; j++)
                other[j] = sum > 0 ? sqrt(other[j] / sum / spectrum[j]) : 0;
            assert_true(left_of(P, spectrum, other, 100, variance) >= least * (1 - 1e-9));
        }
    }
}

/* More noise: fewer directions, more users. */
TEST(rank_and_users_follow_the_noise)
{
    SCOPED(tacit__kernel_features) *f = make_features("se(0.3)", 100);
    uint64_t users = 0;
    for (double scale = 0.1; scale < 1000; scale *= 3) {
        const tacit__kernel_noise joint = {.scale = scale}, local = {.scale = scale, .local = true};
        const uint64_t n = tacit__kernel_features_users(f, &joint, 1e15);
        assert_true(n >= users);
        assert_true(tacit__kernel_features_users(f, &local, 1e15) >= n);
        assert_true(tacit__kernel_features_left(f, &joint, (double)n) <= 0.5);
        assert_true(n < 3 || tacit__kernel_features_left(f, &joint, 0.98 * (double)n - 1) > 0.5);
        users = n;
    }
    assert_int_equal(tacit__kernel_features_users(f, &(tacit__kernel_noise){.scale = 1e6}, 77), 77);
}

/* No other number of a fine grid loses less by the rule's own measure. */
TEST(the_rule_for_exploring_is_the_least_of_its_measure)
{
    SCOPED(tacit__kernel_features) *f = make_features("se(0.3)", 100);
    for (double scale = 1; scale < 200; scale *= 5) {
        const tacit__kernel_noise noise = {.scale = scale};
        const double K = 5000, n = (double)tacit__kernel_features_explore(f, &noise, K);
        const double l = tacit__kernel_features_left(f, &noise, n),
                     loss = n + (K - n) * (1 - sqrt(1 - l));
        assert_true(n >= 1 && n <= K / 2);
        for (double m = 1; m <= K / 2; m++) {
            const double other = tacit__kernel_features_left(f, &noise, m);
            assert_true(m + (K - m) * (1 - sqrt(1 - other)) >= 0.97 * loss);
        }
    }
}

/* --- The posterior --------------------------------------------------------------------------------- */

/* A Gaussian process on pairs, and x = H f + noise of covariance R, H = n play(w) v(w). R is the noise and spread^2 C. */
enum { SUMS = BATCHES * DIRECTIONS };
typedef struct process {
    double cover[PAIRS][PAIRS];
    double h[SUMS][PAIRS];
    double r[SUMS][SUMS], c[SUMS][SUMS];
    double spread;
    double x[SUMS];
} process;

/* Parameters have these variances. */
static void set_cover(process *g, const tacit__kernel_features *f, const double *prior)
{
    for (size_t v = 0; v < PAIRS; v++)
        for (size_t w = 0; w < PAIRS; w++) {
            g->cover[v][w] = 0;
            for (size_t j = 0; j < f->p; j++)
                g->cover[v][w] += prior[j] * f->phi[v * f->p + j] * f->phi[w * f->p + j];
        }
}

/* H cover(., w) */
static void observe(const process *g, size_t w, double *out)
{
    for (size_t i = 0; i < SUMS; i++) {
        out[i] = 0;
        for (size_t u = 0; u < PAIRS; u++)
            out[i] += g->h[i][u] * g->cover[u][w];
    }
}

/* H cover H^T + R, and H cover. */
static void expect(const process *g, double middle[SUMS][SUMS], double columns[PAIRS][SUMS])
{
    for (size_t w = 0; w < PAIRS; w++)
        observe(g, w, columns[w]);
    for (size_t i = 0; i < SUMS; i++)
        for (size_t j = 0; j < SUMS; j++) {
            middle[i][j] = g->r[i][j] + g->spread * g->spread * g->c[i][j];
            for (size_t u = 0; u < PAIRS; u++)
                middle[i][j] += g->h[j][u] * columns[u][i];
        }
}

static void check_posterior(const tacit__kernel_belief *q, const process *g)
{
    double middle[SUMS][SUMS], column[SUMS], columns[PAIRS][SUMS];
    expect(g, middle, columns);
    for (size_t w = 0; w < PAIRS; w++) {
        double mean = 0, variance = g->cover[w][w];
        (void)solve_plainly(SUMS, &middle[0][0], columns[w], column);
        for (size_t i = 0; i < SUMS; i++) {
            mean += column[i] * g->x[i];
            variance -= column[i] * columns[w][i];
        }
        assert_within(q->mean[w] - mean, -1e-8, 1e-8);
        assert_within(q->sd[w] - sqrt(variance), -1e-7, 1e-7);
    }
}

/* Logarithm of the density of x, but for its factor of pi, and of the prior's own probability: half for the first. */
static double density(const process *g, size_t prior, size_t n_priors)
{
    double middle[SUMS][SUMS], columns[PAIRS][SUMS], solved[SUMS], square = 0;
    expect(g, middle, columns);
    const double log_det = solve_plainly(SUMS, &middle[0][0], g->x, solved);
    for (size_t i = 0; i < SUMS; i++)
        square += g->x[i] * solved[i];
    return -(square + log_det) / 2 + log(prior == 0 ? 0.5 : 0.5 / (double)(n_priors - 1));
}

/* Random play and vectors, and sums of this size. */
static void add_batches(tacit__kernel_belief *q, process *g, double size, uint64_t *seed)
{
    memset(g, 0, sizeof *g);
    for (size_t k = 0; k < BATCHES; k++) {
        double play[PAIRS], v[PAIRS][DIRECTIONS], sum[DIRECTIONS], total = 0;
        const double users = k == 0 ? 50 : 300, variance = k == 0 ? 20 : 3;
        for (size_t w = 0; w < PAIRS; w++) {
            total += play[w] = random_unit(seed);
            for (size_t j = 0; j < DIRECTIONS; j++)
                v[w][j] = (random_unit(seed) - 0.5) / 2;
        }
        for (size_t w = 0; w < PAIRS; w++)
            play[w] /= total;
        for (size_t j = 0; j < DIRECTIONS; j++) {
            const size_t row = k * DIRECTIONS + j;
            g->x[row] = sum[j] = size * (random_unit(seed) - 0.5);
            g->r[row][row] += variance;
            for (size_t w = 0; w < PAIRS; w++) {
                g->h[row][w] = users * play[w] * v[w][j];
                for (size_t i = 0; i < DIRECTIONS; i++)
                    g->c[row][k * DIRECTIONS + i] += users * play[w] * v[w][j] * v[w][i];
            }
        }
        const tacit__kernel_batch batch = {users, variance, DIRECTIONS, &v[0][0], play, sum};
        tacit__kernel_belief_add(q, &batch);
    }
    tacit__kernel_belief_solve(q);
}

TEST(the_posterior_is_that_of_a_gaussian_process)
{
    SCOPED(tacit__kernel_features) *f = make_features("matern-1.5(0.4)", 100);
    SCOPED(tacit__kernel_belief) *q = NULL;
    assert_ok(tacit__kernel_belief_create(f, false, &q));
    static process g;
    uint64_t seed = 4;
    assert_true(q->n_priors == 1 && q->n_spreads == 1);
    for (size_t w = 0; w < PAIRS; w++) /* before there are data */
        assert_within(q->sd[w] - sqrt(f->prior * product(f, w, w)), -1e-12, 1e-12);
    add_batches(q, &g, 10, &seed);
    g.spread = TACIT__KERNEL_SPREAD;
    set_cover(&g, f, q->priors);
    check_posterior(q, &g);
}

static const double spreads[] = {TACIT__KERNEL_SPREAD, TACIT__KERNEL_BOUND};

/* The choice is the most likely one of all, as dense matrices say, and evidence differs by as much as they say. */
static void check_choice(tacit__kernel_belief *q, process *g)
{
    const tacit__kernel_features *f = q->features;
    const size_t prior = q->prior, spread = q->spread;
    const double own = tacit__kernel_belief_evidence(q, prior, spread);
    g->spread = spreads[spread];
    set_cover(g, f, q->priors + prior * f->p);
    const double most = density(g, prior, q->n_priors), tol = 1e-8 * (1 + fabs(most));
    check_posterior(q, g);
    for (size_t i = 0; i < q->n_priors; i++)
        for (size_t k = 0; k < q->n_spreads; k++) {
            g->spread = spreads[k];
            set_cover(g, f, q->priors + i * f->p);
            const double less = most - density(g, i, q->n_priors);
            assert_true(less >= 0);
            assert_within(own - tacit__kernel_belief_evidence(q, i, k) - less, -tol, tol);
        }
}

/* Small sums and large ones choose differently. */
TEST(sums_choose_the_prior_and_the_spread_that_are_likely_by_them)
{
    SCOPED(tacit__kernel_features) *f = make_features("matern-1.5(0.4)", 100);
    SCOPED(tacit__kernel_belief) *q = NULL;
    assert_ok(tacit__kernel_belief_create(f, true, &q));
    static process g;
    uint64_t seed = 4;
    bool seen[16] = {false}, spread_seen[N_OF(spreads)] = {false};
    size_t choices = 0;
    assert_true(q->n_priors > 1 && q->n_priors <= N_OF(seen) && q->n_spreads == N_OF(spreads));
    assert_true(q->prior == 0 && q->spread == 0);
    for (double size = 1; size < 1000; size *= 3) {
        tacit__kernel_belief_clear(q);
        add_batches(q, &g, size, &seed);
        choices += !seen[q->prior];
        seen[q->prior] = spread_seen[q->spread] = true;
        check_choice(q, &g);
    }
    assert_true(choices > 1 && spread_seen[0] && spread_seen[1]);
    tacit__kernel_belief_clear(q);
    tacit__kernel_belief_solve(q);
    assert_true(q->prior == 0 && q->spread == 0);
}

/* Variances fall as is asked, and with the share 0.3 of equal ones the prior is the one that sizes batches. */
TEST(priors_are_scaled_by_the_variance_of_the_mean_reward)
{
    SCOPED(tacit__kernel_features) *f = make_features("se(0.3)", 100);
    double v[PAIRS];
    for (double power = -0.5; power < 1.1; power += 0.5) {
        double total = 0;
        tacit__kernel_features_prior(f, power, 0.3, v);
        for (size_t j = 0; j < f->p; j++) {
            total += f->lambda[j] * v[j];
            assert_close(v[j] / v[0], pow(f->lambda[j] / f->lambda[0], power), 1e-9);
            assert_true(power != 0 || fabs(v[j] / f->prior - 1) < 1e-9);
        }
        assert_close(total, 0.3 * f->variance, 1e-9);
    }
}

/* --- The vectors ----------------------------------------------------------------------------------- */

static double left_by(tacit__kernel_belief *q, const double *play, const double *v, size_t m,
                      double users, double variance)
{
    const double zero[PAIRS] = {0};
    const tacit__kernel_batch batch = {users, variance, m, v, play, zero};
    double sum = 0;
    tacit__kernel_belief_clear(q);
    tacit__kernel_belief_add(q, &batch);
    tacit__kernel_belief_solve(q);
    for (size_t w = 0; w < PAIRS; w++)
        sum += play[w] * q->sd[w] * q->sd[w];
    return sum;
}

/* They are no longer than is allowed, and tell more where people play than the features themselves and than random ones do. */
TEST(vectors_tell_most_where_people_play)
{
    SCOPED(tacit__kernel_features) *f = make_features("se(0.3)", 100);
    SCOPED(tacit__kernel_belief) *q = NULL;
    assert_ok(tacit__kernel_belief_create(f, false, &q));
    uint64_t seed = 9;
    for (size_t trial = 0; trial < 8; trial++) {
        static double v[PAIRS * PAIRS], plain[PAIRS * PAIRS];
        double play[PAIRS], total = 0;
        const double users = 400, variance = trial % 2 == 0 ? 400 : 4;
        for (size_t w = 0; w < PAIRS; w++)
            total += play[w] = pow(random_unit(&seed), 4);
        for (size_t w = 0; w < PAIRS; w++)
            play[w] /= total;
        tacit__kernel_belief_clear(q);
        tacit__kernel_belief_solve(q);
        const size_t m = tacit__kernel_belief_design(q, play, users, variance, 0.9, f->p, v);
        assert_true(m > 0 && m <= f->p);
        for (size_t w = 0; w < PAIRS; w++) {
            double square = 0;
            for (size_t j = 0; j < m; j++)
                square += v[w * m + j] * v[w * m + j];
            assert_true(square <= 0.81 * (1 + 1e-12));
            for (size_t j = 0; j < f->p; j++)
                plain[w * f->p + j] = 0.9 * f->phi[w * f->p + j];
        }
        const double by_design = left_by(q, play, v, m, users, variance);
        assert_true(by_design < left_by(q, play, plain, f->p, users, variance));
        for (size_t w = 0; w < PAIRS * m; w++)
            plain[w] = 0.9 * (2 * random_unit(&seed) - 1) / sqrt((double)m);
        assert_true(by_design < left_by(q, play, plain, m, users, variance));
    }
}

TEST(no_more_directions_than_there_is_room_for)
{
    SCOPED(tacit__kernel_features) *f = make_features("se(0.3)", 100);
    SCOPED(tacit__kernel_belief) *q = NULL;
    double play[PAIRS], v[PAIRS * 2];
    assert_ok(tacit__kernel_belief_create(f, false, &q));
    for (size_t w = 0; w < PAIRS; w++)
        play[w] = 1.0 / PAIRS;
    assert_int_equal(tacit__kernel_belief_design(q, play, 1000, 0, 1, 2, v), 2);
}
