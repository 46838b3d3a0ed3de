/* Planners take sums from wherever they come: plain data, made by hand here, that no curator has seen. A planner keeps
 * nothing of them but numbers: memory that is spoiled and freed after a plan changes neither that plan nor the next. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/mixture/mixture_agents.h"
#include "agents/tabular/tabular_agents.h"
#include "plan/papers/capri.h"
#include "plan/papers/gp_ucb.h"
#include "plan/papers/lin_ucb.h"
#include "plan/papers/lsvi.h"
#include "support/random.h"

SCOPED_TYPE(tacit__capri, tacit__capri_destroy)
SCOPED_TYPE(tacit__lin_ucb, tacit__lin_ucb_destroy)
SCOPED_TYPE(tacit__lsvi, tacit__lsvi_destroy)
SCOPED_TYPE(tacit__optimist, tacit__optimist_destroy)

enum { S = 3, A = 2, H = 3, PAIRS = S * A, ROWS = H * PAIRS, USERS = 500, PLANS = 3 };

static double *copy_of(const double *x, size_t n)
{
    double *copy = malloc(n * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, x, n * sizeof *copy);
    return copy;
}

static void spoil(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (double)NAN;
    free(x);
}

/* A billboard as numbers: the policy, or the chances. */
static void keep_board(const tacit_billboard *board, double out[ROWS])
{
    for (size_t row = 0; row < H * S; row++)
        for (size_t a = 0; a < A; a++)
            out[row * A + a] =
                board->mixed != NULL ? board->mixed[row * A + a] : board->policy[row] == a;
}

/* --- Counts ---------------------------------------------------------------------------------------- */

/* Counts of PLANS * users people who went anywhere, with a little noise. */
typedef struct counted {
    double visits[ROWS], moves[ROWS * S], rewards[ROWS];
} counted;

static void draw_counts(uint64_t *seed, double users, counted *c)
{
    for (size_t row = 0; row < ROWS; row++) {
        c->visits[row] = 0;
        for (size_t next = 0; next < S; next++) {
            c->moves[row * S + next] = users * random_between(seed, 0.1, 1);
            c->visits[row] += c->moves[row * S + next];
        }
        c->rewards[row] = c->visits[row] * random_between(seed, -0.5, 0.5);
    }
}

static tacit__counts counts_of(const double *visits, const double *moves, const double *rewards,
                               uint64_t users)
{
    return (tacit__counts){.users = users,
                           .visits = visits,
                           .moves = moves,
                           .rewards = rewards,
                           .center = 0.5,
                           .visits_error = 1,
                           .moves_error = 1,
                           .rewards_error = 1};
}

static void *make_planner(const tacit__agent_row *row)
{
    const tacit__planner_options o = {.bonus_scale = 0.01,
                                      .error_scale = 0.01,
                                      .failure = 0.1,
                                      .joint = true,
                                      .fresh = true,
                                      .episodes = USERS};
    const tabular_parts *parts = row->parts;
    tacit__values values;
    tacit_error err = {.message = ""};
    void *out;
    assert_ok(tacit__values_read(row->kind.parameters, row->kind.n_parameters, NULL, 0,
                                 &(tacit__origin){.kind = row->kind.name}, &values, &err));
    assert_ok(parts->planner->create((tacit__space){S, A, H, parts->pooled ? 1 : H}, &o, &values,
                                     &out, &err));
    return out;
}

TEST(every_planner_on_counts_plans_from_counts_made_by_hand)
{
    assert_true(tacit__tabular_rows.n >= 6);
    for (size_t i = 0; i < tacit__tabular_rows.n; i++) {
        const tacit__agent_row *row = &tacit__tabular_rows.at[i];
        const tacit__planner *planner = ((const tabular_parts *)row->parts)->planner;
        void *one = make_planner(row), *other = make_planner(row);
        uint64_t seed = 5;
        double first[ROWS] = {0};
        for (uint64_t k = 1; k <= PLANS; k++) {
            static counted stays;
            double wanted[ROWS], got[ROWS];
            draw_counts(&seed, 20 * (double)k, &stays);
            double *visits = copy_of(stays.visits, ROWS), *moves = copy_of(stays.moves, ROWS * S),
                   *rewards = copy_of(stays.rewards, ROWS);
            const tacit__counts here = counts_of(stays.visits, stays.moves, stays.rewards, k),
                                there = counts_of(visits, moves, rewards, k);
            tacit_billboard board = planner->plan(one, &here);
            keep_board(&board, wanted);
            board = planner->plan(other, &there);
            spoil(visits, ROWS);
            spoil(moves, ROWS * S);
            spoil(rewards, ROWS);
            keep_board(&board, got);
            assert_memory_equal(got, wanted, sizeof got);
            if (k == 1)
                memcpy(first, got, sizeof first);
        }
        /* and the counts matter */
        static counted again;
        draw_counts(&seed, 100, &again);
        const tacit__counts last = counts_of(again.visits, again.moves, again.rewards, PLANS + 1);
        tacit_billboard board = planner->plan(one, &last);
        double changed[ROWS];
        keep_board(&board, changed);
        board = planner->plan(one, &last);
        keep_board(&board, changed);
        assert_memory_not_equal(changed, first, sizeof first);
        planner->destroy(one);
        planner->destroy(other);
    }
}

/* --- Gram sums ------------------------------------------------------------------------------------- */

static tacit__optimist *make_optimist(const mixture_parts *parts, tacit__radius_options *radius)
{
    static double rewards[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        rewards[i] = (double)(i % 5) / 5;
    const tacit__optimist_options o = {SPACE_OF(S, A, H), .form = parts->form, .rewards = rewards,
                                       .soft = parts->soft, .step_size = 0.5};
    tacit__optimist *planner;
    assert_ok(tacit__optimist_create(&o, &planner, NULL));
    *radius = (tacit__radius_options){
        .horizon = H, .episodes = USERS, .failure = 0.1, .bonus_scale = 0.01, .shift_scale = 1};
    for (size_t i = 0; i < tacit__optimist_streams(planner); i++) {
        radius->frame[i] = tacit__optimist_frame(planner, i);
        radius->parameter_norm[i] = tacit__optimist_parameter_norm(planner, i);
    }
    return planner;
}

/* Sums of n unit features with responses, for every block. */
static double *draw_sums(uint64_t *seed, const tacit__frame *f, double n)
{
    const size_t cell = tacit__frame_cell(f), packed = cell - f->width;
    double *sums = calloc(tacit__frame_size(f), sizeof *sums);
    assert_non_null(sums);
    for (size_t b = 0; b < f->steps * f->blocks; b++)
        for (size_t j = 0, at = 0; j < f->width; j++) {
            at += j + 1;
            sums[b * cell + at - 1] = n; /* the diagonal */
            sums[b * cell + packed + j] = n * random_unit(seed);
        }
    return sums;
}

TEST(every_planner_by_regression_plans_from_sums_made_by_hand)
{
    assert_true(tacit__mixture_rows.n >= 4);
    for (size_t i = 0; i < tacit__mixture_rows.n; i++) {
        const mixture_parts *parts = tacit__mixture_rows.at[i].parts;
        tacit__radius_options radius;
        SCOPED(tacit__optimist) *one = make_optimist(parts, &radius),
                                *other = make_optimist(parts, &radius);
        const size_t n = tacit__optimist_streams(one);
        uint64_t seed = 17;
        for (uint64_t k = 1; k <= PLANS; k++) {
            tacit__gram_sums here[TACIT__REGRESSIONS], there[TACIT__REGRESSIONS];
            tacit__confidence confidence[TACIT__REGRESSIONS];
            double *stays[TACIT__REGRESSIONS], *goes[TACIT__REGRESSIONS], wanted[ROWS], got[ROWS];
            for (size_t j = 0; j < n; j++) {
                stays[j] = draw_sums(&seed, &radius.frame[j], 30 * (double)k);
                goes[j] = copy_of(stays[j], tacit__frame_size(&radius.frame[j]));
                here[j] = (tacit__gram_sums){
                    .users = k, .sums = stays[j], .gram_level = 1, .response_level = 1};
                there[j] = here[j];
                there[j].sums = goes[j];
            }
            parts->confidence(&radius, here, confidence);
            tacit__optimist_fit(one, here, confidence);
            parts->confidence(&radius, there, confidence);
            tacit__optimist_fit(other, there, confidence);
            for (size_t j = 0; j < n; j++)
                spoil(goes[j], tacit__frame_size(&radius.frame[j]));
            tacit_billboard board = tacit__optimist_induct(one);
            keep_board(&board, wanted);
            board = tacit__optimist_induct(other);
            keep_board(&board, got);
            assert_memory_equal(got, wanted, sizeof got);
            assert_memory_equal(tacit__optimist_get(one).q, tacit__optimist_get(other).q,
                                sizeof got);
            for (size_t j = 0; j < n; j++)
                free(stays[j]);
        }
    }
}

/* --- LSVI: Gram matrices, and a response to every value function ------------------------------------- */

TEST(lsvi_plans_from_gram_matrices_and_responses_made_by_hand)
{
    static const double range[H] = {3, 2, 1};
    const tacit__lsvi_options o = {.space = {SPACE_OF(S, A, H), .form = TACIT__ONE_HOT,
                                             .dimension = PAIRS, .bound = 1, .feature_bits = 18},
                                   .schedule = TACIT__EVERY,
                                   .switches = PLANS,
                                   .ridge = 1,
                                   .bonus = 0.1,
                                   .cap = range};
    SCOPED(tacit__lsvi) *one = NULL, *other = NULL;
    uint64_t seed = 3;
    assert_ok(tacit__lsvi_create(&o, &one));
    assert_ok(tacit__lsvi_create(&o, &other));
    for (int k = 1; k <= PLANS; k++) {
        double gram[ROWS], wanted[ROWS], got[ROWS];
        for (size_t i = 0; i < ROWS; i++)
            gram[i] = 10 * k;
        double *goes = copy_of(gram, ROWS);
        assert_true(tacit__lsvi_is_due(one, gram) && tacit__lsvi_is_due(other, goes));
        tacit__lsvi_begin(one, gram);
        tacit__lsvi_begin(other, goes);
        spoil(goes, ROWS);
        for (size_t h = H; h-- > 0;) {
            double response[PAIRS];
            for (size_t i = 0; i < PAIRS; i++)
                response[i] = 10 * k * random_unit(&seed);
            goes = copy_of(response, PAIRS);
            const tacit__target_unit unit = {0.25, range[h]};
            tacit__lsvi_fit(one, h, response, unit);
            tacit__lsvi_fit(other, h, goes, unit);
            spoil(goes, PAIRS);
        }
        tacit__lsvi_end(one);
        tacit__lsvi_end(other);
        const tacit_billboard here = tacit__lsvi_board(one), there = tacit__lsvi_board(other);
        keep_board(&here, wanted);
        keep_board(&there, got);
        assert_memory_equal(got, wanted, sizeof got);
    }
}

/* --- Bandits --------------------------------------------------------------------------------------- */

TEST(lin_ucb_plans_from_moments_made_by_hand)
{
    enum { D = 2, PACKED = 3, BLOCKS = 2 };
    const tacit__lin_ucb_options o = {.dimension = D,
                                      .blocks = BLOCKS,
                                      .n_actions = BLOCKS,
                                      .users = USERS,
                                      .bonus_scale = 0.1,
                                      .regularizer = 1,
                                      .failure = 0.1,
                                      .parameter_norm = 1,
                                      .shift = 1};
    SCOPED(tacit__lin_ucb) *p = NULL;
    assert_ok(tacit__lin_ucb_create(&o, &p));
    for (int k = 0; k < 2; k++) { /* the better action is one, then the other */
        const double gram[BLOCKS * PACKED] = {50, 0, 50, 50, 0, 50},
                                   response[BLOCKS * D] = {k == 0 ? 30 : -30, 0, k == 0 ? -30 : 30,
                                                           0};
        double *goes = copy_of(gram, BLOCKS * PACKED), *too = copy_of(response, BLOCKS * D);
        const tacit__moments m = {.users = 100,
                                  .version = 1 + (uint64_t)k,
                                  .gram = goes,
                                  .response = too,
                                  .gram_stddev = 0.1,
                                  .response_stddev = 0.1};
        assert_true(tacit__lin_ucb_update(p, &m));
        spoil(goes, BLOCKS * PACKED);
        spoil(too, BLOCKS * D);
        const double x[D] = {1, 0};
        double probability, scores[BLOCKS], scratch[64], theta[D], beta;
        assert_true(tacit__lin_ucb_act_scratch(p) <= 64);
        assert_int_equal(tacit__lin_ucb_act(p, x, 0.5, &probability, scores, scratch), k);
        tacit__lin_ucb_estimate(p, 0, theta, &beta);
        assert_within(theta[0] * (k == 0 ? 1 : -1), 0.5, 0.6);
    }
}

static double points[PAIRS * 2];

static tacit__pairs pairs_of(void)
{
    tacit__pairs pairs = {.n_contexts = S, .n_actions = A, .points = points};
    for (size_t w = 0; w < PAIRS; w++) {
        points[2 * w] = (double)(w / A);
        points[2 * w + 1] = (double)(w % A);
    }
    assert_ok(tacit__kernel_read("se(0.8)", 2, 1, &pairs.kernel, NULL));
    return pairs;
}

static void any_words(void *context, uint64_t stream, uint64_t first, size_t n, uint64_t *out)
{
    uint64_t seed = 7919 * stream + first + *(const uint64_t *)context;
    for (size_t i = 0; i < n; i++)
        out[i] = random_word(&seed);
}

TEST(capri_plans_from_sums_made_by_hand)
{
    uint64_t chance = 3, seed = 29;
    const tacit__capri_options o = {.pairs = pairs_of(),
                                    .users = USERS,
                                    .width = TACIT__WIDTH_PAIRWISE,
                                    .bonus_scale = 0.1,
                                    .noise_scale = 1,
                                    .failure = 0.05,
                                    .norm = 0.5,
                                    .copies = 4,
                                    .tol = 1e-6,
                                    .rank = PAIRS,
                                    .balanced = true,
                                    .greedy = true,
                                    .words = any_words,
                                    .context = &chance};
    SCOPED(tacit__capri) *one = NULL, *other = NULL;
    assert_ok(tacit__capri_create(&o, &one));
    assert_ok(tacit__capri_create(&o, &other));
    tacit__capri_start(one, 1);
    tacit__capri_start(other, 1);
    assert_true(tacit__capri_get_epoch(one).n_epochs > 2);
    while (!tacit__capri_get_epoch(one).last) {
        double sum[PAIRS];
        const size_t p = tacit__capri_get_epoch(one).estimator->p;
        for (size_t i = 0; i < p; i++)
            sum[i] = 20 * random_normal(&seed);
        double *goes = copy_of(sum, p);
        tacit__capri_close(one, sum);
        tacit__capri_close(other, goes);
        spoil(goes, p);
        assert_memory_equal(tacit__capri_get_epoch(one).mixed, tacit__capri_get_epoch(other).mixed,
                            PAIRS * sizeof(double));
        assert_memory_equal(tacit__capri_estimates(one), tacit__capri_estimates(other),
                            PAIRS * sizeof(double));
    }
}

/* The posterior from sums alone. The gain of observations in any order is half of log det(I + K_uu diag(n) / tau):
 * the log of the product of the factor's diagonal and of (n / tau)^(1/2). */
static void set_sums(tacit__gaussian_process *q, const double *count, const double *sum)
{
    memcpy(q->count, count, q->n * sizeof *q->count);
    memcpy(q->sum, sum, q->n * sizeof *q->sum);
    tacit__gaussian_process_solve(q);
    q->gain = 0;
    size_t m = 0;
    for (size_t w = 0; w < q->n; w++)
        m += q->count[w] > 0;
    for (size_t j = 0; j < m; j++)
        q->gain += log(q->factor[j * m + j]) + 0.5 * log(q->count[q->seen[j]] / q->tau);
}

/* The same as from observations one by one, whatever their order. */
TEST(gp_ucb_plans_from_sums_made_by_hand)
{
    const tacit__pairs pairs = pairs_of();
    const tacit__gp_ucb_options o = {.bonus_scale = 1, .failure = 0.1, .norm = 0.5};
    tacit__gaussian_process *follows, *told;
    double count[PAIRS] = {0}, sum[PAIRS] = {0};
    uint64_t seed = 41;
    assert_ok(tacit__gaussian_process_create(&pairs, 0.3, &follows));
    assert_ok(tacit__gaussian_process_create(&pairs, 0.3, &told));
    tacit__gaussian_process_add(told, 1, 0.5, false); /* to be forgotten */
    for (int k = 0; k < 3 * TACIT__POSTERIOR_RECENT; k++) {
        const size_t pair = random_below(&seed, PAIRS - 1); /* one is never seen */
        const double y = random_between(&seed, -0.5, 0.5);
        tacit__gaussian_process_add(follows, pair, y, false);
        count[pair] += 1;
        sum[pair] += y;
        double *goes = copy_of(count, PAIRS), *too = copy_of(sum, PAIRS);
        set_sums(told, goes, too);
        spoil(goes, PAIRS);
        spoil(too, PAIRS);
        assert_close(told->gain, follows->gain, 1e-9);
        for (size_t w = 0; w < PAIRS; w++)
            assert_within(told->mean[w] - follows->mean[w], -1e-9, 1e-9);
        for (size_t w = 0; w < PAIRS; w++)
            assert_within(told->variance[w] - follows->variance[w], -1e-9, 1e-9);
        for (size_t s = 0; s < S; s++)
            assert_int_equal(tacit__gp_ucb_act(told, &o, s), tacit__gp_ucb_act(follows, &o, s));
    }
    tacit__gaussian_process_destroy(follows);
    tacit__gaussian_process_destroy(told);
}
