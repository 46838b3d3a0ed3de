/* lsvi-ucb as a whole: against a plain reference, counts against archive, caps, batch boundaries, determinants, the limit
 * of no privacy, the printed constants, saved states, refusals, failing allocations. */

#include "agents/agent_inside.h"
#include "plan/papers/lsvi.h"
#include "release/archive/archive.h"
#include "release/archive/visits.h"
#include "support/lsvi.h"
#include "support/solve.h"

SCOPED_TYPE(tacit__lsvi, tacit__lsvi_destroy)
SCOPED_TYPE(tacit__visits, tacit__visits_destroy)

static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 1e-6};

/* --- A plain reference: lists of what was seen, Gaussian elimination, no shortcuts ------------------- */

enum { REF_D = LSVI_S * LSVI_A };

typedef struct reference {
    lsvi_form form;
    size_t d;
    double bonus; /* in units of the range */
    double center;
    bool pooled; /* a user's steps are all in every regression */
    lsvi_user users[200];
    size_t n;
    double q[LSVI_H][LSVI_S][LSVI_A], values[LSVI_H + 1][LSVI_S];
} reference;

static void phi_of(const reference *r, uint32_t s, uint32_t a, double *out)
{
    if (r->form == LSVI_ONE_HOT)
        for (size_t j = 0; j < r->d; j++)
            out[j] = j == s * LSVI_A + a;
    else if (r->form == LSVI_SIGNED)
        lsvi_signed_row(NULL, s, a, out);
    else
        lsvi_simplex_row(NULL, s, a, out);
}

static void refer(reference *r)
{
    for (size_t s = 0; s < LSVI_S; s++)
        r->values[LSVI_H][s] = 0;
    for (size_t h = LSVI_H; h-- > 0;) {
        double gram[REF_D * REF_D] = {0}, u[REF_D] = {0}, w[REF_D], v[REF_D], phi[REF_D],
                            range = (double)(LSVI_H - h);
        for (size_t j = 0; j < r->d; j++)
            gram[j * r->d + j] = 1;
        for (size_t k = 0; k < r->n * LSVI_H; k++) {
            const lsvi_user *x = &r->users[k / LSVI_H];
            const size_t t = k % LSVI_H;
            if (t != h && !r->pooled)
                continue;
            double y = (x->rewards[t] + r->values[h + 1][x->states[t + 1]]) / range - r->center;
            phi_of(r, x->states[t], x->actions[t], phi);
            for (size_t i = 0; i < r->d; i++) {
                u[i] += phi[i] * y;
                for (size_t j = 0; j < r->d; j++)
                    gram[i * r->d + j] += phi[i] * phi[j];
            }
        }
        (void)solve_plainly(r->d, gram, u, w);
        for (uint32_t s = 0; s < LSVI_S; s++) {
            r->values[h][s] = 0;
            for (uint32_t a = 0; a < LSVI_A; a++) {
                double inner = 0, square = 0;
                phi_of(r, s, a, phi);
                (void)solve_plainly(r->d, gram, phi, v);
                for (size_t j = 0; j < r->d; j++) {
                    inner += phi[j] * w[j];
                    square += phi[j] * v[j];
                }
                double q = range * (r->center + inner + r->bonus * sqrt(square));
                r->q[h][s][a] = fmin(fmax(q, 0), range);
                r->values[h][s] = fmax(r->values[h][s], r->q[h][s][a]);
            }
        }
    }
}

/* The policy is greedy for the reference's Q, up to what rounding of features and targets explains. */
TEST(every_episode_agrees_with_a_plain_reference)
{
    static reference r;
    static const struct {
        lsvi_form form;
        const char *center;
        bool pooled;
    } cases[] = {{LSVI_ONE_HOT, "no", false}, {LSVI_ONE_HOT, "yes", false},
                 {LSVI_SIMPLEX, "no", false}, {LSVI_SIMPLEX, "yes", false},
                 {LSVI_SIGNED, "no", false},  {LSVI_CARRIED, "yes", false},
                 {LSVI_ONE_HOT, "no", true},  {LSVI_ONE_HOT, "yes", true},
                 {LSVI_SIMPLEX, "yes", true}, {LSVI_SIGNED, "no", true}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const tacit_setting settings[] = {
            {"schedule", "every", 1}, {"bonus_scale", "0.02", 1}, {"center", cases[c].center, 1}};
        const lsvi_setup s = {SETTINGS_OF(settings, 3), .form = cases[c].form, .guarantee = none,
                              .users = 200, .stationary = cases[c].pooled};
        SCOPED(tacit_agent) *agent = lsvi_start(&s);
        r = (reference){.pooled = cases[c].pooled,
                        .form = cases[c].form,
                        .d = cases[c].form == LSVI_ONE_HOT ? REF_D : LSVI_D,
                        .center = cases[c].center[0] == 'y' ? 0.5 : 0};
        double d = (double)r.d;
        r.bonus = 0.02 * d * sqrt(log(2 * d * 200 * LSVI_H / 0.05));
        lsvi_fill(r.users, 200, 11);
        size_t decided = 0;
        for (r.n = 0; r.n < 60;) {
            uint32_t policy[LSVI_H][LSVI_S];
            (void)lsvi_look(agent, s.form, policy);
            if (r.n > 0) {
                refer(&r);
                for (size_t h = 0; h < LSVI_H; h++)
                    for (size_t x = 0; x < LSVI_S; x++) {
                        assert_true(r.values[h][x] - r.q[h][x][policy[h][x]] < 1e-3);
                        decided += fabs(r.q[h][x][0] - r.q[h][x][1]) > 1e-3;
                    }
            }
            assert_ok(lsvi_learn(agent, s.form, &r.users[r.n++], NULL));
        }
        assert_true(decided >
                    59 * LSVI_H * LSVI_S / 3); /* the comparison had something to decide */
    }
}

/* --- The same learner in other clothes ----------------------------------------------------------------- */

enum { LONG = 1500 }; /* more than two chunks of the archive */

/* Plays both; all policies, and (if they use noise) all releases, must be the same. */
static void play_both(const lsvi_setup *a, const lsvi_setup *b)
{
    static lsvi_user users[LONG];
    SCOPED(tacit_agent) *x = lsvi_start(a), *y = lsvi_start(b);
    lsvi_fill(users, LONG, 21);
    for (size_t k = 0; k < LONG; k++) {
        uint32_t p[LSVI_H][LSVI_S], q[LSVI_H][LSVI_S];
        (void)lsvi_look(x, a->form, p);
        (void)lsvi_look(y, b->form, q);
        assert_memory_equal(p, q, sizeof p);
        assert_ok(lsvi_learn(x, a->form, &users[k], NULL));
        assert_ok(lsvi_learn(y, b->form, &users[k], NULL));
    }
}

/* The table's sensitivities are smaller than those for any features, so noise is the same only with none. */
TEST(an_archive_of_features_equals_counts_of_states)
{
    static const tacit_setting doubling[] = {{"schedule", "doubling", 1}},
                               batched[] = {{"schedule", "batched", 1}, {"batches", "40", 1}};
    for (int i = 0; i < 2; i++) {
        lsvi_setup counts = {SETTINGS_OF(i == 0 ? doubling : batched, i == 0 ? 1 : 2),
                             .form = LSVI_SIMPLEX, .guarantee = none, .users = LONG};
        lsvi_setup archive = counts;
        archive.form = LSVI_CARRIED;
        play_both(&counts, &archive);
    }
}

TEST(float32_and_float64_give_the_same_policies)
{
    static const tacit_setting narrow[] = {{"switches", "20", 1}},
                               wide[] = {{"switches", "20", 1}, {"storage", "float64", 1}};
    lsvi_setup a = {SETTINGS_OF(narrow, 1), .form = LSVI_CARRIED,
                    .guarantee = {TACIT_MODEL_JOINT, 5, 1e-6}, .users = LONG, .seed = 4};
    lsvi_setup b = a;
    b.settings = wide;
    b.n_settings = 2;
    play_both(&a, &b);
}

static tacit_status load_visits(tacit__visits *visits, const uint8_t *bytes, size_t size,
                                uint64_t users, const double *most)
{
    tacit__saved s = tacit__saved_load(bytes, size, NULL);
    while (tacit__saved_next(&s))
        tacit__visits_fields(visits, users, most, &s);
    return s.status;
}

static void check_visits(bool pooled)
{
    enum { S = 40, A = 3, H = 4 };
    SCOPED(tacit__visits) *dense = NULL, *sparse = NULL, *loaded = NULL;
    uint64_t seed = 1;
    double next[S], x[S * A], y[S * A];
    const double most[H] = {1000, 1000, 1000, 1000},
                 less[H] = {pooled ? 100 : 1000, 1000, 900, 1000};
    assert_ok(tacit__visits_create(S, A, H, pooled, 1e9, &dense));
    assert_ok(tacit__visits_create(S, A, H, pooled, 0, &sparse));
    assert_ok(tacit__visits_create(S, A, H, pooled, 0, &loaded));
    for (int k = 0; k < 500; k++) {
        uint32_t states[H + 1], actions[H];
        double rewards[H];
        for (size_t h = 0; h <= H; h++)
            states[h] = (uint32_t)random_below(&seed, random_below(&seed, 2) ? 3 : S);
        for (size_t h = 0; h < H; h++) {
            actions[h] = (uint32_t)random_below(&seed, A);
            rewards[h] = (double)random_below(&seed, 1000);
        }
        assert_ok(tacit__visits_add(dense, states, actions, rewards));
        assert_ok(tacit__visits_add(sparse, states, actions, rewards));
    }
    for (size_t s = 0; s < S; s++)
        next[s] = (double)random_below(&seed, 100000);
    uint8_t bytes[1 << 16];
    size_t size = sizeof bytes;
    tacit__saved s = tacit__saved_save(bytes, &size, NULL);
    while (tacit__saved_next(&s))
        tacit__visits_fields(sparse, 500, most, &s);
    assert_ok(s.status);
    assert_status(load_visits(loaded, bytes, size - 1, 500, most), TACIT_CORRUPT);
    assert_status(load_visits(loaded, bytes, size, 499, most), TACIT_CORRUPT);
    assert_status(load_visits(loaded, bytes, size, 500, less), TACIT_CORRUPT);
    assert_ok(load_visits(loaded, bytes, size, 500, most));
    for (size_t h = 0; h < (pooled ? 1 : H); h++) {
        tacit__visits_sums(dense, h, next, x);
        tacit__visits_sums(sparse, h, next, y);
        assert_memory_equal(x, y, sizeof x);
        tacit__visits_sums(loaded, h, next, y);
        assert_memory_equal(x, y, sizeof x);
        assert_memory_equal(tacit__visits_counts(dense, h), tacit__visits_counts(sparse, h),
                            S * A * sizeof(double));
    }
}

TEST(lists_of_next_states_equal_a_table_of_them)
{
    check_visits(false);
    check_visits(true);
}

/* With epsilon so large that noise is far below one count, the schedule is that of the learner without privacy. */
TEST(an_infinite_epsilon_is_the_learner_without_privacy)
{
    static const tacit_setting schedules[][6] = {{{"schedule", "batched", 1},
                                                  {"batches", "30", 1},
                                                  {"bonus_scale", "0.02", 1},
                                                  {"targets", "range", 1}},
                                                 {{"schedule", "every", 1},
                                                  {"bonus_scale", "0.02", 1},
                                                  {"targets", "range", 1},
                                                  {"shift", "0", 1}},
                                                 {{"schedule", "doubling", 1},
                                                  {"switches", "60", 1},
                                                  {"switch_factor", "2", 1},
                                                  {"test_every", "1", 1},
                                                  {"bonus_scale", "0.02", 1},
                                                  {"targets", "range", 1}}};
    static const size_t n_settings[] = {4, 4, 6};
    static lsvi_user users[300];
    lsvi_fill(users, 300, 31);
    for (int i = 0; i < 3; i++)
        for (int form = LSVI_ONE_HOT; form <= LSVI_CARRIED; form++) {
            lsvi_setup a = {SETTINGS_OF(schedules[i], n_settings[i]), .form = (lsvi_form)form,
                            .guarantee = none, .users = 300};
            lsvi_setup b = a;
            b.guarantee = (tacit_guarantee){TACIT_MODEL_JOINT, 1e10, 1e-6};
            SCOPED(tacit_agent) *x = lsvi_start(&a), *y = lsvi_start(&b);
            size_t same = 0, total = 0, switches = 0;
            uint64_t last = 0;
            for (size_t k = 0; k < 300; k++) {
                uint32_t p[LSVI_H][LSVI_S], q[LSVI_H][LSVI_S];
                uint64_t version = lsvi_look(x, a.form, p);
                (void)lsvi_look(y, b.form, q);
                switches += k > 0 && version != last;
                last = version;
                for (size_t j = 0; j < LSVI_H * LSVI_S; j++, total++)
                    same += (&p[0][0])[j] == (&q[0][0])[j];
                assert_ok(lsvi_learn(x, a.form, &users[k], NULL));
                assert_ok(lsvi_learn(y, b.form, &users[k], NULL));
            }
            /* exact ties, which early users leave, may fall either way; with few switches one of them stays for long */
            assert_true((double)same >= (i == 2 ? 0.9 : 0.97) * (double)total);
            assert_true(switches >= 3);
        }
}

/* --- Schedules ------------------------------------------------------------------------------------------ */

static uint64_t responses_passed(const tacit_agent *agent)
{
    const tacit_plan *plan = tacit_agent_release_plan(agent);
    return tacit_ledger_passed(tacit__agent_ledger(agent), tacit_plan_index(plan, "responses"));
}

TEST(batches_switch_exactly_at_their_boundaries)
{
    static const struct {
        uint64_t users;
        const char *batches;
        uint64_t leaf;
    } cases[] = {{10, "3", 4}, {12, "3", 4}, {13, "3", 5}, {20, "20", 1}, {20, "1", 20}};
    static lsvi_user users[20];
    lsvi_fill(users, 20, 5);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const tacit_setting settings[] = {{"schedule", "batched", 1},
                                          {"batches", cases[c].batches, 1}};
        const lsvi_setup s = {SETTINGS_OF(settings, 2), .form = LSVI_SIMPLEX, .guarantee = joint,
                              .users = cases[c].users, .seed = 1};
        SCOPED(tacit_agent) *agent = lsvi_start(&s);
        uint64_t switches = 0;
        for (uint64_t k = 0; k < s.users; k++) {
            uint32_t policy[LSVI_H][LSVI_S];
            (void)lsvi_look(agent, s.form, policy);
            switches += k > 0 && k % cases[c].leaf == 0;
            assert_int_equal(responses_passed(agent), switches * LSVI_H);
            assert_ok(lsvi_learn(agent, s.form, &users[k], NULL));
        }
    }
}

/* Users who come in waves of one corner each, as extreme as features allow, and noise that jumps: whatever happens, the
 * cap holds, and the learner goes on with its last policy. */
TEST(the_cap_on_switches_is_never_exceeded)
{
    static lsvi_user users[400];
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const tacit_setting settings[] = {{"switches", "7", 1},
                                          {"switch_factor", "1.0001", 1},
                                          {"test_every", "1", 1},
                                          {"shift", "0.5", 1}};
        const lsvi_setup s = {SETTINGS_OF(settings, 4), .form = (lsvi_form)(seed % 4),
                              .guarantee = joint, .users = 400, .seed = seed};
        SCOPED(tacit_agent) *agent = lsvi_start(&s);
        lsvi_fill(users, 400, seed);
        for (size_t k = 0; k < 400; k++) {
            uint32_t policy[LSVI_H][LSVI_S], corner = (uint32_t)(k / 50 % LSVI_S);
            (void)lsvi_look(agent, s.form, policy);
            for (size_t h = 0; h <= LSVI_H && seed % 2 == 0; h++)
                users[k].states[h] = corner;
            assert_ok(lsvi_learn(agent, s.form, &users[k], NULL));
            assert_true(responses_passed(agent) <= 7 * LSVI_H);
        }
        assert_int_equal(responses_passed(agent), 7 * LSVI_H);
    }
}

/* The bound for exact matrices: each of the H determinants can trigger log det / log 2 times, whoever comes. */
TEST(without_noise_the_theorems_cap_does_not_bind)
{
    static lsvi_user users[LSVI_MOST];
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const lsvi_setup s = {.form = (lsvi_form)(seed % 4), .guarantee = none, .users = LSVI_MOST};
        SCOPED(tacit_agent) *agent = lsvi_start(&s);
        lsvi_fill(users, LSVI_MOST, seed);
        uint64_t switches = 0, last = 0;
        for (size_t k = 0; k < LSVI_MOST; k++) {
            uint32_t policy[LSVI_H][LSVI_S];
            uint64_t version = lsvi_look(agent, s.form, policy);
            switches += k > 0 && version != last;
            last = version;
            assert_ok(lsvi_learn(agent, s.form, &users[k], NULL));
        }
        double d = s.form == LSVI_ONE_HOT ? REF_D : LSVI_D;
        double cap = ceil(d * LSVI_H / log(2) * log(1 + LSVI_MOST / d));
        assert_true((double)switches < cap && switches >= 3);
        assert_true(switches * 10 < LSVI_MOST);
    }
}

TEST(determinants_agree_with_an_independent_computation)
{
    uint64_t seed = 3;
    const double range[2] = {2, 1};
    for (size_t d = 1; d <= REF_D; d++) {
        tacit__lsvi_options o = {.space = {.form = TACIT__CARRIED,
                                           .n_actions = 2,
                                           .horizon = 2,
                                           .dimension = d,
                                           .bound = 1,
                                           .feature_bits = 18},
                                 .schedule = TACIT__DOUBLING,
                                 .switches = 3,
                                 .switch_factor = 2,
                                 .ridge = 0.7,
                                 .cap = range};
        SCOPED(tacit__lsvi) *planner = NULL;
        assert_ok(tacit__lsvi_create(&o, &planner));
        double full[REF_D * REF_D] = {0}, packed[2 * REF_D * REF_D] = {0}, x[REF_D], b[REF_D] = {0};
        for (int k = 0; k < 12; k++) {
            for (size_t j = 0; j < d; j++)
                x[j] = random_normal(&seed);
            for (size_t i = 0; i < d; i++)
                for (size_t j = 0; j < d; j++)
                    full[i * d + j] += x[i] * x[j];
        }
        for (size_t j = 0, at = d * (d + 1) / 2; j < d; j++)
            for (size_t i = 0; i <= j; i++)
                packed[at++] = (i == j ? 1 : sqrt(2)) * full[i * d + j];
        for (size_t j = 0; j < d; j++)
            full[j * d + j] += 0.7;
        assert_close(tacit__lsvi_log_det(planner, packed, 1), solve_plainly(d, full, b, x), 1e-10);
        assert_close(tacit__lsvi_log_det(planner, packed, 0) + 1e-30, (double)d * log(0.7), 1e-12);
        packed[d * (d + 1) / 2] -=
            1e9; /* not positive definite: no root, and no switch by itself */
        assert_true(tacit__lsvi_log_det(planner, packed, 1) == -HUGE_VAL);
    }
}

/* A determinant that falls below an earlier switch's and comes back does not count as growth. */
TEST(references_are_the_largest_determinants_so_far)
{
    const double one = 1, heights[] = {0, 1.5, 0.2, 1.9, 4.1, 3.9, 8.9, 9.3};
    const bool due[] = {false, true, false, false, true, false, false, true};
    tacit__lsvi_options o = {.space = {SPACE_OF(1, 1, 1), .form = TACIT__ONE_HOT, .dimension = 1,
                                       .bound = 1, .feature_bits = 18},
                             .schedule = TACIT__DOUBLING,
                             .switches = 3,
                             .switch_factor = 2,
                             .ridge = 1,
                             .cap = &one};
    SCOPED(tacit__lsvi) *planner = NULL;
    assert_ok(tacit__lsvi_create(&o, &planner));
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        bool now = tacit__lsvi_is_due(planner, &heights[i]);
        assert_int_equal(now, due[i]); /* 1 -> 2.5 -> 5.1 -> 10.3; 9.9 is not twice 5.1 */
        if (!now)
            continue;
        const double response = 0.5;
        tacit__lsvi_begin(planner, &heights[i]);
        tacit__lsvi_fit(planner, 0, &response, (tacit__target_unit){0, 1});
        tacit__lsvi_end(planner);
    }
    assert_true(tacit__lsvi_is_done(planner));
    const double huge = 1e6;
    assert_false(tacit__lsvi_is_due(planner, &huge)); /* the cap */
}

/* --- The printed constants ------------------------------------------------------------------------------- */

static double real_epsilon(const char *schedule, size_t horizon, uint64_t K)
{
    const tacit_setting settings[] = {{"schedule", schedule, 1}};
    const lsvi_setup s = {SETTINGS_OF(settings, 1),
                          .form = LSVI_SIGNED,
                          .guarantee = {TACIT_MODEL_JOINT, 1, 1e-5},
                          .calibration = TACIT_CALIBRATION_PUBLISHED,
                          .users = K,
                          .horizon = horizon};
    SCOPED(tacit_agent) *agent = lsvi_start(&s);
    tacit_composition real;
    assert_ok(tacit_plan_account(tacit_agent_release_plan(agent), 1e-5, &real, NULL));
    bool labeled = strstr(tacit_agent_remark(agent), "UNSOUND") != NULL;
    assert_int_equal(labeled, strcmp(schedule, "doubling") == 0);
    return real.epsilon.high;
}

/* Rare switches as printed: 3.6 at H = 5 and 7.9 to 8.0 at H = 20 for a claim of 1. Batches: sound, with a thousand
 * times the noise. Computed by hand from the printed variances: mu^2 = rho (4 H L / ln K + 4 (H + 1)^2 H / (6 H^2)). */
TEST(the_printed_constants_give_what_the_accountant_says)
{
    assert_within(real_epsilon("doubling", 5, 1000), 3.56, 3.59);
    assert_within(real_epsilon("doubling", 5, 100000), 3.59, 3.62);
    assert_within(real_epsilon("doubling", 20, 1000), 7.88, 7.91);
    assert_within(real_epsilon("doubling", 20, 100000), 7.97, 7.99);
    assert_within(real_epsilon("batched", 5, 1000), 0, 1e-3);
    assert_within(real_epsilon("batched", 20, 1000), 0, 1e-3);
}
