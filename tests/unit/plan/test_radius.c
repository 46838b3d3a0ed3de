/* Noise, shifts and radii of the learners for linear mixtures against values computed in the papers' units by
 * tests/oracle/linear_oracle.py, and the budget of every cell of the table against the accountant. */
#include "plan/radius.h"

#include <math.h>
#include <stdio.h>

#include <tacit/agent.h>

#include "contribute/levels.h"
#include "oracle/linear_oracle.inc"
#include "plan/papers/linopt.h"
#include "plan/papers/linopt_po.h"
#include "plan/papers/ucrl_vtr.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/random.h"

static tacit__printed_case case_of(tacit_model model, double epsilon, double k, double h, double d)
{
    return (tacit__printed_case){.local = model == TACIT_MODEL_LOCAL,
                                 .epsilon = epsilon,
                                 .delta = 1e-5,
                                 .episodes = k,
                                 .horizon = h,
                                 .failure = 0.05,
                                 .dimension = {d, d}};
}

static tacit__radius_options options_of(double k, double h, double d, double w, double blocks)
{
    tacit__frame frame = {.steps = (size_t)h - 1, .blocks = (size_t)blocks, .width = (size_t)d};
    return (tacit__radius_options){.horizon = (size_t)h,
                                   .episodes = (uint64_t)k,
                                   .failure = 0.05,
                                   .bonus_scale = 1,
                                   .shift_scale = 1,
                                   .frame = {frame, frame},
                                   .parameter_norm = {w, w}};
}

static void print_levels(tacit__radius_options *o, const tacit__printed_noise *noise, size_t n)
{
    o->printed = true;
    for (size_t i = 0; i < n; i++)
        o->level[i] = (tacit__printed_level){noise[i].gram_level, noise[i].response_level};
}

/* Raw statistics are H^2 times ours, and so is the ridge; a raw radius is H times ours. */
TEST(printed_ucrl_vtr_is_as_printed)
{
    for (int local = 0; local < 2; local++)
        for (size_t i = 0; i < N_OF(oracle_vtr_joint); i++) {
            double h = local ? oracle_vtr_local[i].h : oracle_vtr_joint[i].h;
            double d = local ? oracle_vtr_local[i].d : oracle_vtr_joint[i].d;
            double k = local ? oracle_vtr_local[i].k : oracle_vtr_joint[i].k;
            double w = local ? oracle_vtr_local[i].w : oracle_vtr_joint[i].w;
            double sigma = local ? oracle_vtr_local[i].sigma : oracle_vtr_joint[i].sigma;
            double up = local ? oracle_vtr_local[i].upsilon : oracle_vtr_joint[i].upsilon;
            double level = local ? oracle_vtr_local[i].c : oracle_vtr_joint[i].c;
            double beta = local ? oracle_vtr_local[i].beta : oracle_vtr_joint[i].beta;
            tacit__printed_case c = case_of(local ? TACIT_MODEL_LOCAL : TACIT_MODEL_JOINT,
                                            oracle_vtr_joint[i].epsilon, k, h, d);
            tacit__printed_noise noise[1];
            tacit__printed_ucrl_vtr(&c, noise);
            assert_close(noise[0].response * h * h, sigma, 1e-12);
            assert_close(noise[0].gram * h * h, (local ? 1 : M_SQRT2) * sigma, 1e-12);
            assert_close(noise[0].gram_level * h * h, up, 1e-12);
            assert_close(noise[0].response_level * h * h, level, 1e-12);
            tacit__radius_options o = options_of(k, h, d, w, 1);
            print_levels(&o, noise, 1);
            tacit__confidence got;
            tacit__ucrl_vtr_confidence(&o, &(tacit__gram_sums){0}, &got);
            assert_close(got.radius * h, beta, 1e-12);
            assert_close(got.add * h * h, h * h + 2 * up, 1e-12);
            assert_close(got.floor, 1, 1e-15);
        }
}

/* Weighted steps: raw is d times ours, radii sqrt(d) times. Squares: H^4 and H^2. */
TEST(printed_ucrl_vtr_plus_is_as_printed)
{
    for (int local = 0; local < 2; local++)
        for (size_t i = 0; i < N_OF(oracle_plus_joint); i++) {
#define FIELD(name) (local ? oracle_plus_local[i].name : oracle_plus_joint[i].name)
            double h = FIELD(h), d = FIELD(d), k = FIELD(k), h4 = h * h * h * h;
            tacit__printed_case c =
                case_of(local ? TACIT_MODEL_LOCAL : TACIT_MODEL_JOINT, FIELD(epsilon), k, h, d);
            tacit__printed_noise noise[2];
            tacit__printed_ucrl_vtr_plus(&c, noise);
            assert_close(noise[0].response * d, FIELD(sigma1), 1e-12);
            assert_close(noise[1].response * h4, FIELD(sigma2), 1e-12);
            assert_close(noise[0].gram / noise[0].response, local ? 1 : M_SQRT2, 1e-12);
            assert_close(noise[0].gram_level * d, FIELD(upsilon1), 1e-12);
            assert_close(noise[1].gram_level * h4, FIELD(upsilon2), 1e-12);
            tacit__radius_options o = options_of(k, h, d, FIELD(w), 1);
            print_levels(&o, noise, 2);
            tacit__confidence got[2];
            tacit__gram_sums moments[2] = {{.users = (uint64_t)FIELD(now)}};
            tacit__ucrl_vtr_plus_confidence(&o, moments, got);
            assert_close(got[0].radius * sqrt(d), FIELD(hat), 1e-12);
            assert_close(got[0].crude * sqrt(d), FIELD(check), 1e-12);
            assert_close(got[1].radius * h * h, FIELD(tilde), 1e-12);
            assert_close(got[0].add * d, 1 + 2 * FIELD(upsilon1), 1e-12);
            assert_close(got[1].add * h4, 1 + 2 * FIELD(upsilon2), 1e-12);
#undef FIELD
        }
}

/* Transitions: raw Gram matrices are d H^2 times ours, responses sqrt(d) H^2, radii H. */
TEST(printed_linopt_is_as_printed)
{
    for (int local = 0; local < 2; local++)
        for (size_t i = 0; i < N_OF(oracle_linopt_joint); i++) {
#define FIELD(name) (local ? oracle_linopt_local[i].name : oracle_linopt_joint[i].name)
            double h = FIELD(h), d = FIELD(d), k = FIELD(k);
            tacit__printed_case c =
                case_of(local ? TACIT_MODEL_LOCAL : TACIT_MODEL_JOINT, FIELD(epsilon), k, h, d);
            tacit__printed_noise noise[2];
            tacit__printed_linopt(&c, noise);
            assert_close(noise[0].gram * d * h * h, M_SQRT2 * FIELD(p1), 1e-12);
            assert_close(noise[0].response * sqrt(d) * h * h, FIELD(p2), 1e-12);
            assert_close(noise[1].gram, M_SQRT2 * FIELD(r1), 1e-12);
            assert_close(noise[1].response, FIELD(r2), 1e-12);
            assert_close(noise[0].gram_level * d * h * h, FIELD(sigma_p), 1e-12);
            assert_close(noise[1].gram_level, FIELD(sigma_r), 1e-12);
            tacit__radius_options o = options_of(k, h, d, 1, 1);
            print_levels(&o, noise, 2);
            tacit__confidence got[2];
            tacit__linopt_confidence(&o, (tacit__gram_sums[2]){{0}}, got);
            assert_close(got[0].radius * h, FIELD(beta_p), 1e-12);
            assert_close(got[1].radius, FIELD(beta_r), 1e-12);
            assert_close(got[0].add * d * h * h, 2 * FIELD(sigma_p), 1e-12);
            assert_close(got[1].add, 2 * FIELD(sigma_r), 1e-12);
#undef FIELD
        }
    assert_close(tacit__linopt_po.step_size(4, 5, 1000), sqrt(2 * log(4) / (5 * 5 * 1000)), 1e-14);
}

TEST(proven_radii_agree_with_the_oracle)
{
    for (size_t i = 0; i < N_OF(oracle_proven); i++) {
        double h = oracle_proven[i].h, d = oracle_proven[i].d, k = oracle_proven[i].k;
        double u = oracle_proven[i].u, c = oracle_proven[i].c;
        tacit__radius_options o = options_of(k, h, d, oracle_proven[i].w, oracle_proven[i].blocks);
        tacit__gram_sums moment = {
            .users = (uint64_t)oracle_proven[i].now, .gram_level = u, .response_level = c};
        tacit__gram_sums moments[2] = {moment, moment};
        tacit__confidence got[2];
        tacit__ucrl_vtr_confidence(&o, moments, got);
        assert_close(got[0].radius, oracle_proven[i].vtr, 1e-12);
        assert_close(got[0].add, 1 + 2 * u, 1e-14);
        assert_close(got[0].floor, 1, 1e-15);
        tacit__linopt_confidence(&o, moments, got);
        assert_close(got[0].radius, oracle_proven[i].linopt, 1e-12);
        assert_close(got[1].radius, oracle_proven[i].linopt, 1e-12);
        tacit__ucrl_vtr_plus_confidence(&o, moments, got);
        assert_close(got[0].radius, oracle_proven[i].hat, 1e-12);
        assert_close(got[0].crude, oracle_proven[i].check, 1e-12);
        assert_close(got[1].radius, oracle_proven[i].tilde, 1e-12);
        assert_close(got[0].add, 1 / d + 2 * u, 1e-14);
        /* scales act on what they are named after, and on nothing else */
        o.bonus_scale = 0.25;
        o.shift_scale = 0.5;
        tacit__ucrl_vtr_confidence(&o, moments, got);
        assert_close(got[0].radius, 0.25 * oracle_proven[i].vtr, 1e-12);
        assert_close(got[0].add, 1 + u, 1e-14);
    }
}

/* --- The noise that agents really get -------------------------------------------------------------- */

/* d features of some states and one action: each is the same kernel over sqrt(d). Pairs lead to more states than the curator searches through, so
 * that movements are those of the unit ball. */
enum { STATES = 11 };

static void features(void *context, uint32_t state, uint32_t action, double *out)
{
    size_t d = *(const size_t *)context;
    (void)action;
    for (size_t j = 0; j < d; j++)
        for (uint32_t next = 0; next < STATES; next++)
            out[j * STATES + next] = (next == state ? 0.5 : 0.05) / sqrt((double)d);
}

/* Trees are released after every user; other sums when it is usual. */
static tacit_agent *hire(const char *kind, tacit_guarantee g, tacit_calibration calibration,
                         size_t d, double w, size_t horizon, uint64_t episodes, const char *sums,
                         const char *center, const char *nonneg)
{
    static const double rewards[STATES] = {0, 1};
    static size_t dimension;
    dimension = d;
    tacit_mixture mixture = {.dimension = d,
                             .bound = 1,
                             .parameter_norm = w,
                             .kernels = true,
                             .nonnegative = true,
                             .row = features,
                             .context = &dimension};
    tacit_setting settings[] = {SET("center", center), SET("nonneg", nonneg),
                                SET("schedule", "every")};
    tacit_agent_request request = {SPACE_OF(STATES, 1, horizon),
                                   SETTINGS_OF(settings, sums != NULL ? 3 : 2),
                                   .kind = kind,
                                   .guarantee = g,
                                   .calibration = calibration,
                                   .sums = sums,
                                   .stationary = true,
                                   .episodes = episodes,
                                   .mixture = &mixture,
                                   .rewards = rewards};
    return agent_of(&request, 1);
}

/* Gram matrices get the noise `scale`, responses scale / c, and c can be read off the declared movement:
 * sqrt(H - 1) (2 + c^2) / sqrt(2). */
TEST(both_noises_are_in_the_best_proportion)
{
    for (size_t i = 0; i < N_OF(oracle_split); i++) {
        double h = oracle_split[i].h;
        SCOPED(tacit_agent) *agent =
            hire("ucrl-vtr", (tacit_guarantee){TACIT_MODEL_JOINT, oracle_split[i].epsilon, 1e-5},
                 TACIT_CALIBRATION_TIGHT, (size_t)oracle_split[i].d, oracle_split[i].w, (size_t)h,
                 (uint64_t)oracle_split[i].k, "tree", "no", "no");
        const tacit_plan *plan = tacit_agent_release_plan(agent);
        const tacit_release *line = tacit_plan_release(plan, 0);
        double scale = tacit_plan_scale(plan, 0);
        double c = sqrt(M_SQRT2 * line->l2 / sqrt(h - 1) - 2);
        assert_close(scale, oracle_split[i].gram, 1e-4); /* room for rounding on the lattice */
        assert_close(scale / c, oracle_split[i].response, 1e-3);
    }
}

typedef struct cell {
    const char *kind;
    tacit_guarantee guarantee;
} cell;

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-5},
                             local = {TACIT_MODEL_LOCAL, 1, 1e-5},
                             joint_pure = {TACIT_MODEL_JOINT, 1, 0},
                             local_pure = {TACIT_MODEL_LOCAL, 1, 0};

/* What the calibrator gives is what the accountant finds, for every kind and model, with and without center and
 * nonneg, and with every kind of sum. */
TEST(calibration_and_accountant_agree)
{
    static const char *const kinds[] = {"ucrl-vtr", "ucrl-vtr-plus", "linopt-vi", "linopt-po"};
    static const char *const signs[][2] = {
        {"yes", "no"}, {"no", "yes"}, {"no", "no"}, {"auto", "auto"}};
    const tacit_guarantee models[] = {joint, local, joint_pure, local_pure};
    for (size_t kind = 0; kind < 4; kind++)
        for (size_t m = 0; m < (kind < 2 ? 4 : 2); m++)
            for (size_t s = 0; s < 4; s++) {
                SCOPED(tacit_agent) *agent = hire(kinds[kind], models[m], TACIT_CALIBRATION_TIGHT,
                                                  5, 1, 5, 1000, NULL, signs[s][0], signs[s][1]);
                tacit_composition c;
                tacit_error err;
                assert_ok(
                    tacit_plan_account(tacit_agent_release_plan(agent), models[m].delta, &c, &err));
                assert_within(c.epsilon.high, 1 - 1e-6, 1 + 1e-12);
                assert_int_equal(tacit_plan_size(tacit_agent_release_plan(agent)),
                                 kind == 0 ? 1 : 2);
            }
}

/* Printed noise keeps the printed promise: with room of orders of magnitude under joint privacy for [LGLP21]. */
TEST(printed_calibrations_give_what_they_claim)
{
    static const struct {
        const char *kind;
        double joint, local; /* what is at least left of epsilon 1 */
    } most[] = {{"ucrl-vtr", 0.0013, 0.14},
                {"ucrl-vtr-plus", 0.00077, 0.096},
                {"linopt-vi", 0.225, 0.1},
                {"linopt-po", 0.225, 0.1}};
    for (size_t i = 0; i < 4; i++)
        for (int is_local = 0; is_local < 2; is_local++) {
            SCOPED(tacit_agent) *agent =
                hire(most[i].kind, is_local ? local : joint, TACIT_CALIBRATION_PUBLISHED, 5, 1, 5,
                     1000, NULL, "auto", "auto");
            tacit_composition c;
            tacit_error err;
            assert_ok(tacit_plan_account(tacit_agent_release_plan(agent), joint.delta, &c, &err));
            double bound = is_local ? most[i].local : most[i].joint;
            assert_within(c.epsilon.high, 0.1 * bound, bound);
        }
}

/* Three orders of magnitude lie between printed and tight noise of UCRL-VTR under joint privacy: by the plain rule (no
 * joint movement, a tree, values not centered) 1,070 on the Gram matrix and 397 on the response at H = 5, d = 5, K = 1000. */
TEST(printed_noise_is_a_thousand_times_the_tight_one)
{
    tacit__printed_case c = case_of(TACIT_MODEL_JOINT, 1, 1000, 5, 5);
    tacit__printed_noise noise[1];
    tacit__printed_ucrl_vtr(&c, noise);
    SCOPED(tacit_agent) *agent =
        hire("ucrl-vtr", joint, TACIT_CALIBRATION_TIGHT, 5, 1, 5, 1000, "tree", "no", "no");
    double tight = tacit_plan_scale(tacit_agent_release_plan(agent), 0);
    /* at the first step, whose range is 4: printed noise is in units of 25, ours of 16 */
    double ratio = noise[0].gram * 25 / (tight * 16);
    assert_within(ratio, 1067, 1067 * 1.06); /* the joint movement gains 4.5 % */
}

/* --- Levels ---------------------------------------------------------------------------------------- */

/* Largest |eigenvalue| of a random packed matrix, by the power method on its square. */
static double operator_norm(size_t d, const double *packed)
{
    double m[8][8], v[8], w[8], norm = 0;
    for (size_t j = 0, at = 0; j < d; j++)
        for (size_t i = 0; i <= j; i++, at++)
            m[i][j] = m[j][i] = i == j ? packed[at] : packed[at] / M_SQRT2;
    for (size_t i = 0; i < d; i++)
        v[i] = 1 + 0.1 * (double)i;
    for (int round = 0; round < 200; round++) {
        norm = 0;
        for (size_t i = 0; i < d; i++) {
            w[i] = 0;
            for (size_t j = 0; j < d; j++)
                w[i] += m[i][j] * v[j];
            norm += w[i] * w[i];
        }
        norm = sqrt(norm);
        for (size_t i = 0; i < d; i++)
            v[i] = w[i] / norm;
    }
    return norm;
}

/* 2,000 matrices and vectors: those beyond the level of failure 0.05 are at most 0.05, plus five standard errors of the
 * share (a false alarm has a probability below 1e-6), for both laws. */
TEST(noise_is_within_its_levels)
{
    enum { TRIALS = 2000, DRAWS = 3 };
    uint64_t r = 11;
    for (int laplace = 0; laplace < 2; laplace++)
        for (size_t d = 1; d <= 6; d += 5) {
            double matrix = tacit__level_matrix(DRAWS, d, 0.05, laplace);
            double vector = tacit__level_vector(DRAWS, d, 0.05, laplace);
            int beyond_matrix = 0, beyond_vector = 0;
            for (int trial = 0; trial < TRIALS; trial++) {
                double packed[21] = {0}, square = 0;
                for (size_t i = 0; i < d * (d + 1) / 2; i++)
                    for (int k = 0; k < DRAWS; k++)
                        packed[i] +=
                            laplace ? log(random_unit(&r) / random_unit(&r)) : random_normal(&r);
                for (size_t i = 0; i < d; i++)
                    square += packed[i] * packed[i];
                beyond_matrix += operator_norm(d, packed) > matrix;
                beyond_vector += sqrt(square) > vector;
            }
            double most = TRIALS * 0.05 + 5 * sqrt(TRIALS * 0.05 * 0.95);
            assert_within(beyond_matrix, 0, most);
            assert_within(beyond_vector, 0, most);
        }
}
