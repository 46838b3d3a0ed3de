/* The audit of agents, and of subjects that cheat in ways that only a replay sees. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include <tacit/audit.h>

#include "audit/audit_inside.h"
#include "audit/charges.h"
#include "audit/counter.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-5},
                             local_pure = {TACIT_MODEL_LOCAL, 1, 0};

static tacit_agent_request request_of(tacit_guarantee guarantee, tacit_calibration calibration)
{
    return (tacit_agent_request){SPACE_OF(2, 1, 1), .kind = "dp-ucbvi", .guarantee = guarantee,
                                 .calibration = calibration, .episodes = 4};
}

static tacit_audit *audit(const tacit_agent_request *q, uint64_t trials, unsigned threads)
{
    tacit_audit *a = NULL;
    tacit_error err = {0};
    const tacit_audit_options o = {.trials = trials, .seed = 11, .n_threads = threads};
    if (tacit_audit_agent(q, &o, &a, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return a;
}

/* It passes: the search finds at least this share of what is declared, the attack this much of the declared mu (0: the noise is not
 * Gaussian) and of epsilon, and noise is as large as it should be. */
static void assert_passed(const tacit_audit *a, double share, double mu, double epsilon)
{
    assert_int_equal(a->verdict, TACIT_AUDIT_PASSED);
    assert_within(a->share, share, 1 + 1e-9);
    if (mu > 0)
        assert_within(a->gaussian.mu / a->declared, mu, 1);
    assert_true(a->epsilon > epsilon && a->epsilon <= 1);
    assert_true(a->same_calls && a->same_view && a->same_taken && a->declared_only);
    assert_within(a->noise_size, 0.98, 1.02);
}

TEST(a_sound_learner_passes)
{
    tacit_agent_request q = request_of(joint, TACIT_CALIBRATION_TIGHT);
    SCOPED(tacit_audit) *a = audit(&q, 16000, 0);
    assert_passed(a, 0.9, 0.4, 0.3);
    assert_close(a->share, a->moved / a->declared, 1e-12);
    assert_true(a->refused >= 1); /* those who are out of bounds */
    assert_non_null(strstr(a->words, "evidence, not proof"));
}

/* Batches, weights from earlier releases, and a budget: the search comes near to what is declared, and no attack beyond it. */
TEST(learners_with_rare_releases_pass)
{
    static const char *const kinds[] = {"posterior-tabular", "explore-commit-tabular"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tacit_agent_request q = request_of(joint, TACIT_CALIBRATION_TIGHT);
        q.kind = kinds[i];
        q.n_actions = q.horizon = 2;
        q.stationary = true;
        q.episodes = 12;
        SCOPED(tacit_audit) *a = audit(&q, 5000, 0);
        assert_passed(a, 0.85, 0.15, 0);
    }
}

/* With delta 0 all visits count, and two users who share no row attain what is declared. */
TEST(learners_with_rare_releases_pass_with_delta_0)
{
    tacit_agent_request q =
        request_of((tacit_guarantee){TACIT_MODEL_JOINT, 1, 0}, TACIT_CALIBRATION_TIGHT);
    q.kind = "posterior-tabular";
    q.n_actions = q.horizon = 2;
    q.stationary = true;
    q.episodes = 12;
    tacit_audit *a = audit(&q, 5000, 0);
    assert_int_equal(a->verdict, TACIT_AUDIT_PASSED);
    assert_within(a->share, 0.97, 1 + 1e-9);
    assert_true(a->epsilon > 0 && a->epsilon <= 1);
    assert_true(a->same_calls && a->same_view && a->same_taken && a->declared_only);
    tacit_audit_destroy(a);
}

/* [QW23, section 5.2] prints noise of scale 3H/epsilon for a sensitivity of 2H in each of three streams. */
TEST(the_printed_local_noise_is_convicted)
{
    tacit_agent_request q = request_of(local_pure, TACIT_CALIBRATION_NOISE);
    q.episodes = 2000;
    SCOPED(tacit_audit) *a = audit(&q, 20000, 0);
    assert_int_equal(a->verdict, TACIT_AUDIT_VIOLATED);
    assert_within(a->epsilon, 1.2, 2);
    assert_close(a->replay_epsilon, 2, 1e-6);
    assert_true(a->noise_fault[0] == '\0'); /* it is what was printed */
}

TEST(threads_leave_no_trace)
{
    tacit_agent_request q = request_of(joint, TACIT_CALIBRATION_TIGHT);
    SCOPED(tacit_audit) *one = audit(&q, 500, 1), *many = audit(&q, 500, 7);
    assert_string_equal(one->words, many->words);
    assert_memory_equal(&one->gaussian.threshold, &many->gaussian.threshold, sizeof(double));
    assert_int_equal(one->gaussian.hits, many->gaussian.hits);
    assert_int_equal(one->pure.alarms, many->pure.alarms);
    assert_memory_equal(&one->noise_size, &many->noise_size, sizeof(double));
}

TEST(what_cannot_be_audited_is_refused)
{
    tacit_audit *a = NULL;
    tacit_error err = {0};
    tacit_agent_request q = request_of((tacit_guarantee){TACIT_MODEL_NONE, 0, 0}, 0);
    assert_status(tacit_audit_agent(&q, NULL, &a, &err), TACIT_UNSUPPORTED);
    assert_non_null(strstr(err.message, "promises nothing"));
    q = request_of(joint, TACIT_CALIBRATION_TIGHT);
    tacit_audit_options o = {.trials = TACIT_MIN_TRIALS - 1};
    assert_status(tacit_audit_agent(&q, &o, &a, &err), TACIT_BAD_COUNT);
    o = (tacit_audit_options){.trials = TACIT_MAX_TRIALS + 1};
    assert_status(tacit_audit_agent(&q, &o, &a, &err), TACIT_BAD_COUNT);
    o = (tacit_audit_options){.confidence = 1};
    assert_status(tacit_audit_agent(&q, &o, &a, &err), TACIT_BAD_ARGUMENT);
    o = (tacit_audit_options){.confidence = (double)NAN};
    assert_status(tacit_audit_agent(&q, &o, &a, &err), TACIT_BAD_ARGUMENT);
    assert_status(tacit_audit_agent(NULL, NULL, &a, &err), TACIT_BAD_ARGUMENT);
    assert_null(a);
}

TEST(too_few_trials_are_said_to_be_so)
{
    tacit_agent_request q = request_of((tacit_guarantee){TACIT_MODEL_JOINT, 8, 1e-5}, 0);
    SCOPED(tacit_audit) *a = audit(&q, TACIT_MIN_TRIALS, 1);
    assert_int_equal(a->verdict, TACIT_AUDIT_TOO_FEW);
    assert_true(a->ceiling < 8 && isinf(a->detectable));
}

static bool stop(void *context, const tacit_audit_progress *progress)
{
    (void)progress;
    ++*(int *)context;
    return false;
}

static bool stop_trials(void *context, const tacit_audit_progress *progress)
{
    *(int *)context += progress->n_trials > 0;
    return progress->n_trials == 0;
}

TEST(progress_can_stop_it)
{
    int calls = 0;
    tacit_agent_request q = request_of(joint, TACIT_CALIBRATION_TIGHT);
    tacit_audit_options o = {.trials = 1000000, .progress = stop, .context = &calls};
    SCOPED(tacit_audit) *a = NULL;
    assert_ok(tacit_audit_agent(&q, &o, &a, NULL));
    assert_int_equal(a->verdict, TACIT_AUDIT_STOPPED);
    assert_int_equal(calls, 1); /* in the search, which may be long */
    tacit_audit_destroy(a);
    o.progress = stop_trials;
    assert_ok(tacit_audit_agent(&q, &o, &a, NULL));
    assert_int_equal(a->verdict, TACIT_AUDIT_STOPPED);
    assert_true(calls >= 2);
    assert_true(a->share > 0.9);
}

/* --- Users ----------------------------------------------------------------------------------------- */

/* Whoever the search makes up is within the domain, however often they are changed, and those who offend are not. */
TEST(users_are_within_the_domain_until_they_leave_it)
{
    static const tacit__form forms[] = {
        {SPACE_OF(3, 2, 5), .vectors = 2},
        {.n_actions = 3, .horizon = 2, .features = 4, .vectors = 3, .bound = 2.5},
        {.n_actions = 2, .horizon = 1, .features = 3, .vectors = 1, .bound = 1, .simplex = true}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const tacit__form *form = &forms[i];
        tacit__user *users = tacit__users_create(form, 2);
        tacit__generator generator;
        assert_non_null(users);
        assert_ok(tacit__generator_open(&generator, i, "test"));
        tacit__user_random(form, &generator, &users[0]);
        tacit__user_random(form, &generator, &users[1]);
        for (int k = 0; k < 2000; k++) {
            tacit__user_mutate(form, &generator, &users[k % 2], &users[1 - k % 2]);
            assert_true(tacit__user_fits(form, &users[k % 2]));
        }
        for (tacit__violation violation = 0; violation < TACIT__VIOLATIONS; violation++) {
            tacit__user_extreme(form, violation % 2 == 0, 0.5, &users[0]);
            assert_true(tacit__user_fits(form, &users[0]));
            bool offends = tacit__user_violate(form, violation, &users[0]);
            assert_int_equal(tacit__user_fits(form, &users[0]), !offends);
            assert_true(offends || form->features == 0);
        }
        tacit__workspace_destroy(users);
    }
}

/* --- The search ------------------------------------------------------------------------------------ */

/* A mixture of two kernels over three states; everything is known but theta, and expected rewards lie in the middle, so that values do
 * too and nobody comes near what is declared for all worlds of this size. */
static void two_kernels(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    for (uint32_t next = 0; next < 3; next++) {
        out[next] = next == (state + action) % 3;
        out[3 + next] = 1.0 / 3;
    }
}

static const tacit_mixture kernels = {.dimension = 2,
                                      .bound = M_SQRT2,
                                      .parameter_norm = 1,
                                      .kernels = true,
                                      .nonnegative = true,
                                      .row = two_kernels};
static const double middling[6] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};

static tacit_agent_request mixture_request(const char *kind, tacit_guarantee guarantee)
{
    return (tacit_agent_request){SPACE_OF(3, 2, 3),  .kind = kind,  .guarantee = guarantee,
                                 .stationary = true, .episodes = 8, .mixture = &kernels,
                                 .rewards = middling};
}

/* With the given knowledge a third of what is declared can be reached; with other knowledge nearly all of it. */
TEST(other_knowledge_brings_users_nearer_to_what_is_declared)
{
    static const tacit_guarantee local = {TACIT_MODEL_LOCAL, 1, 1e-5};
    const tacit_guarantee *models[] = {&joint, &local};
    for (size_t i = 0; i < 2; i++) {
        tacit_agent_request q = mixture_request("ucrl-vtr", *models[i]);
        SCOPED(tacit_audit) *a = audit(&q, 100, 0);
        assert_true(a->share < 0.8);
        assert_within(a->share_elsewhere, 0.8, 1 + 1e-9);
        assert_int_not_equal(a->verdict, TACIT_AUDIT_INCONCLUSIVE);
        assert_int_not_equal(a->verdict, TACIT_AUDIT_VIOLATED);
    }
}

/* Scores do not depend on what is known of rewards: the search reaches all that is declared with the knowledge that is given, and
 * the attack much of it. */
TEST(scores_are_attacked_and_keep_their_promise)
{
    static const tacit_guarantee models[] = {{TACIT_MODEL_JOINT, 1, 1e-5},
                                             {TACIT_MODEL_LOCAL, 1, 1e-5},
                                             {TACIT_MODEL_JOINT, 1, 0},
                                             {TACIT_MODEL_LOCAL, 1, 0}};
    static const char *const kinds[] = {"posterior-mixture", "explore-commit-mixture"};
    for (size_t i = 0; i < 8; i++) {
        tacit_agent_request q = mixture_request(kinds[i / 4], models[i % 4]);
        SCOPED(tacit_audit) *a = audit(&q, 8000, 0);
        assert_passed(a, 0.95, models[i % 4].delta > 0 ? 0.4 : 0, 0.2);
    }
}

static void corner_row(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    (void)state;
    out[0] = action;
    out[1] = 1 - out[0];
}

TEST(features_are_attacked_and_keep_their_promise)
{
    static const tacit_linear linear = {
        .dimension = 2, .bound = 1, .simplex = true, .row = corner_row};
    static const char *const kinds[] = {"posterior-linear", "explore-commit-linear"};
    for (size_t i = 0; i < 2 * N_OF(kinds); i++) {
        const tacit_agent_request q = {
            SPACE_OF(3, 2, 3), .kind = kinds[i / 2],
            .guarantee = {i % 2 == 0 ? TACIT_MODEL_JOINT : TACIT_MODEL_LOCAL, 1, 1e-5},
            .episodes = 16, .linear = &linear};
        SCOPED(tacit_audit) *a = audit(&q, 8000, 0);
        assert_passed(a, 0.95, 0.4, 0.2);
    }
}

/* Policies switch, and value functions reach their ends, only under releases that are unlikely. */
TEST(unlikely_releases_make_lsvi_switch)
{
    static const tacit_setting doubling = SET("schedule", "doubling");
    tacit_agent_request q = {SPACE_OF(3, 2, 2),  SETTINGS_OF(&doubling, 1), .kind = "lsvi-ucb",
                             .guarantee = joint, .stationary = true,        .episodes = 16};
    SCOPED(tacit_audit) *a = audit(&q, 64, 0);
    assert_within(a->share, 0.8, 1 + 1e-9);
}

/* A bandit of four contexts and three actions with a kernel, and users who come late with actions that are gone. */
static tacit_audit *audit_kernel(const char *kind, tacit_guarantee guarantee, uint64_t users,
                                 uint64_t trials)
{
    double points[4 * 3 * 2];
    for (size_t i = 0; i < 12; i++) {
        points[2 * i] = (double)(i / 3) / 4;
        points[2 * i + 1] = (double)(i % 3) / 3;
    }
    const tacit_bandit bandit = {
        .dimension = 2, .context_dimension = 1, .bound = 2, .points = points, .kernel = "se(0.3)"};
    const tacit_agent_request q = {SPACE_OF(4, 3, 1), .kind = kind, .guarantee = guarantee,
                                   .episodes = users, .bandit = &bandit};
    tacit_audit *a = audit(&q, trials, 0);
    assert_within(a->share, 0.9, 1 + 1e-9);
    assert_true(a->same_taken);
    return a;
}

/* Elimination, with late users, and servers that send devices models of their own: everybody counts, every device reports, and the
 * search reaches what is declared. */
TEST(late_users_and_hostile_models_find_nothing_in_capri)
{
    for (tacit_model model = TACIT_MODEL_JOINT; model <= TACIT_MODEL_LOCAL; model++) {
        SCOPED(tacit_audit) *a =
            audit_kernel("capri", (tacit_guarantee){model, 10, 1e-5}, 200, 200);
        if (a->verdict == TACIT_AUDIT_VIOLATED)
            fail_msg("%s", a->words);
    }
}

/* The same of posterior-kernel, where nobody says how likely contexts are, so that users add theirs. */
TEST(posterior_kernel_is_attacked_and_keeps_its_promise)
{
    for (tacit_model model = TACIT_MODEL_JOINT; model <= TACIT_MODEL_LOCAL; model++) {
        SCOPED(tacit_audit) *a =
            audit_kernel("posterior-kernel", (tacit_guarantee){model, 1, 1e-5}, 100, 8000);
        assert_int_equal(a->verdict, TACIT_AUDIT_PASSED);
        assert_true(a->epsilon > 0 && a->epsilon <= 1);
        assert_true(a->same_calls && a->same_view && a->declared_only);
        assert_within(a->noise_size, 0.98, 1.02);
    }
}

/* --- Cheats ---------------------------------------------------------------------------------------- */

enum { SHOWS_EXACT, CALLS_BY_DATA, REFUSES_BY_DATA, HARDLY_MOVES, HIDES_NOTHING };

/* A counter that shows, or does, what depends on its users' exact data. */
typedef struct cheat {
    const tacit__subject *honest;
    int how;
} cheat;

typedef struct cheater {
    const cheat *kind;
    void *counter;
    uint32_t secret; /* the exact data */
    uint32_t policy[4];
} cheater;

static tacit_status open_cheat(const tacit__subject *subject, uint64_t seed, void **out,
                               tacit_error *err)
{
    const cheat *kind = subject->self;
    cheater *c = tacit__alloc(1, sizeof *c);
    assert_non_null(c);
    c->kind = kind;
    *out = c;
    return kind->honest->open(kind->honest, seed, &c->counter, err);
}

static void close_cheat(void *self)
{
    cheater *c = self;
    if (c != NULL)
        c->kind->honest->close(c->counter);
    tacit__free(c);
}

static tacit_ledger *ledger_of_cheat(void *self)
{
    const cheater *c = self;
    return c->kind->honest->ledger(c->counter);
}

static tacit_status plan_of_cheat(void *self, tacit_billboard *out, tacit_error *err)
{
    cheater *c = self;
    (void)err;
    memset(c->policy, 0, sizeof c->policy);
    if (c->kind->how == SHOWS_EXACT)
        c->policy[1] = c->secret;
    *out = (tacit_billboard){.version = 1, .policy = c->policy};
    return TACIT_OK;
}

static tacit_status learn_of_cheat(void *self, const tacit_trajectory *user, tacit_error *err)
{
    cheater *c = self;
    c->secret += user->rewards[0] > 0.5;
    /* who brings nothing is not even counted */
    if (c->kind->how == CALLS_BY_DATA && user->rewards[0] == 0)
        return TACIT_OK;
    if (c->kind->how == REFUSES_BY_DATA && user->rewards[0] == 0)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "who brings nothing is not wanted");
    if (c->kind->how == HARDLY_MOVES) {
        double rewards[2];
        for (int i = 0; i < 2; i++)
            rewards[i] = 0.5 + 0.1 * (fmin(fmax(user->rewards[i], 0), 1) - 0.5);
        const tacit_trajectory less = {.actions = user->actions, .rewards = rewards};
        return c->kind->honest->learn(c->counter, &less, err);
    }
    return c->kind->honest->learn(c->counter, user, err);
}

static tacit_audit *audit_cheat(int how)
{
    tacit__counter counter = {.mechanism = TACIT_SUM_TREE,
                              .guarantee = {TACIT_MODEL_JOINT, 1, 0},
                              .dimension = 2,
                              .users = 6};
    tacit__subject honest;
    tacit_error err = {0};
    assert_ok(tacit__counter_open(&counter, &honest, &err));
    cheat kind = {&honest, how};
    tacit__subject subject = honest;
    subject.self = &kind;
    subject.open = open_cheat;
    subject.close = close_cheat;
    subject.ledger = ledger_of_cheat;
    subject.plan = plan_of_cheat;
    subject.learn = learn_of_cheat;
    const tacit_audit_options o = {.trials = 200, .seed = 3};
    tacit_audit *a = NULL;
    if (tacit__audit_subject(&subject, &o, &a, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    tacit_plan_destroy(counter.plan);
    return a;
}

TEST(a_view_of_exact_data_is_found)
{
    SCOPED(tacit_audit) *a = audit_cheat(SHOWS_EXACT);
    assert_int_equal(a->verdict, TACIT_AUDIT_VIOLATED);
    assert_true(a->same_calls && !a->same_view);
    assert_non_null(strstr(a->words, "what is shown differs"));
}

TEST(calls_that_depend_on_data_are_found)
{
    SCOPED(tacit_audit) *a = audit_cheat(CALLS_BY_DATA);
    assert_int_equal(a->verdict, TACIT_AUDIT_VIOLATED);
    assert_false(a->same_calls);
    assert_true(a->trials == 0); /* there is no likelihood ratio to try */
}

/* A refusal is an output: the deterministic part says so, and the trials, which see it too, prove as much as they can. */
TEST(refusals_that_depend_on_data_are_found)
{
    SCOPED(tacit_audit) *a = audit_cheat(REFUSES_BY_DATA);
    assert_int_equal(a->verdict, TACIT_AUDIT_VIOLATED);
    assert_false(a->same_taken);
    assert_true(isinf(a->replay_epsilon));
    assert_non_null(strstr(a->words, "epsilon is infinite"));
    assert_true(a->epsilon > 1);
    assert_string_equal(a->pure.score, "bytes or silence that only one of the two would send");
}

/* A tenth of what is declared is all that anybody moves: nothing is wrong, and nothing was shown. */
TEST(a_search_that_reaches_little_is_inconclusive)
{
    SCOPED(tacit_audit) *a = audit_cheat(HARDLY_MOVES);
    assert_int_equal(a->verdict, TACIT_AUDIT_INCONCLUSIVE);
    assert_within(a->share, 0.09, 0.11);
    assert_non_null(strstr(a->words, "of the declared epsilon"));
    assert_string_equal(tacit_audit_verdict_name(a->verdict), "inconclusive");
}

TEST(one_who_hides_nothing_passes)
{
    SCOPED(tacit_audit) *a = audit_cheat(HIDES_NOTHING);
    assert_int_equal(a->verdict, TACIT_AUDIT_PASSED);
}

/* --- Charges --------------------------------------------------------------------------------------- */

static void note_passage(void *context, const tacit__passage *passage)
{
    tacit__charges_add(context, passage);
}

/* What passes is paid for, once for each step; and what is not is named. */
TEST(every_passage_is_charged_once)
{
    tacit__counter counter = {
        .mechanism = TACIT_SUM_TREE, .guarantee = joint, .dimension = 2, .users = 4};
    tacit__subject subject;
    tacit__charges charges;
    void *instance = NULL;
    uint32_t actions[2] = {0};
    double rewards[2] = {0, 1};
    const tacit_trajectory user = {.actions = actions, .rewards = rewards};
    assert_ok(tacit__counter_open(&counter, &subject, NULL));
    assert_ok(subject.open(&subject, 1, &instance, NULL));
    tacit_ledger *ledger = subject.ledger(instance);
    assert_ok(tacit__charges_open(&charges, ledger));
    tacit__ledger_set_recorder(ledger, note_passage, &charges);
    for (int step = 0; step < 3; step++)
        assert_ok(subject.learn(instance, &user, NULL));
    tacit__charges_check(&charges);
    assert_string_equal(charges.fault, "");
    assert_int_equal(charges.passed[0], 3);
    /* a step that comes again, as if the door had not counted it */
    const tacit__passage again = {
        .release = tacit_plan_release(tacit_ledger_plan(ledger), 0), .step = 2, .n = 8};
    tacit__charges_add(&charges, &again);
    assert_non_null(strstr(charges.fault, "step 3: passes the door more than once"));
    charges.fault[0] = '\0';
    tacit__charges_check(&charges);
    assert_non_null(strstr(charges.fault, "the ledger does not know of it"));
    tacit__charges_close(&charges);
    subject.close(instance);
    tacit_plan_destroy(counter.plan);
}
