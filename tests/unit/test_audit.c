/* The audit of agents, and of subjects that cheat in ways that only a replay sees. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include <tacit/audit.h>

#include "audit/audit.h"
#include "audit/counter.h"
#include "base/error.h"
#include "base/memory.h"

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-5},
                             local_pure = {TACIT_MODEL_LOCAL, 1, 0};

static tacit_agent_request request_of(tacit_guarantee guarantee, tacit_calibration calibration)
{
    return (tacit_agent_request){.kind = "dp-ucbvi",
                                 .guarantee = guarantee,
                                 .calibration = calibration,
                                 .n_states = 2,
                                 .n_actions = 1,
                                 .horizon = 1,
                                 .episodes = 4};
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

static void a_sound_learner_passes(void **state)
{
    (void)state;
    tacit_agent_request q = request_of(joint, TACIT_CALIBRATION_TIGHT);
    tacit_audit *a = audit(&q, 6000, 0);
    assert_int_equal(a->verdict, TACIT_AUDIT_PASSED);
    assert_within(a->moved / a->declared, 0.9, 1 + 1e-9); /* the search finds nearly the worst */
    assert_within(a->gaussian.mu / a->declared, 0.4, 1);  /* and the attack much of that */
    assert_true(a->epsilon > 0.3 && a->epsilon <= 1);
    assert_true(a->same_calls && a->same_view && a->declared_only);
    assert_within(a->noise_size, 0.98, 1.02);
    assert_true(a->refused >= 1); /* those who are out of bounds */
    assert_non_null(strstr(a->words, "evidence, not proof"));
    tacit_audit_destroy(a);
}

/* [QW23, section 5.2] prints noise of scale 3H/epsilon for a sensitivity of 2H in each of three streams. */
static void the_printed_local_noise_is_convicted(void **state)
{
    (void)state;
    tacit_agent_request q = request_of(local_pure, TACIT_CALIBRATION_PUBLISHED);
    q.episodes = 2000;
    tacit_audit *a = audit(&q, 20000, 0);
    assert_int_equal(a->verdict, TACIT_AUDIT_VIOLATED);
    assert_within(a->epsilon, 1.2, 2);
    assert_close(a->replay_epsilon, 2, 1e-6);
    assert_true(a->noise_fault[0] == '\0'); /* it is what was printed */
    tacit_audit_destroy(a);
}

static void threads_leave_no_trace(void **state)
{
    (void)state;
    tacit_agent_request q = request_of(joint, TACIT_CALIBRATION_TIGHT);
    tacit_audit *one = audit(&q, 500, 1), *many = audit(&q, 500, 7);
    assert_string_equal(one->words, many->words);
    assert_memory_equal(&one->gaussian.threshold, &many->gaussian.threshold, sizeof(double));
    assert_int_equal(one->gaussian.hits, many->gaussian.hits);
    assert_int_equal(one->pure.alarms, many->pure.alarms);
    assert_memory_equal(&one->noise_size, &many->noise_size, sizeof(double));
    tacit_audit_destroy(one);
    tacit_audit_destroy(many);
}

static void what_cannot_be_audited_is_refused(void **state)
{
    (void)state;
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

static void too_few_trials_are_said_to_be_so(void **state)
{
    (void)state;
    tacit_agent_request q = request_of((tacit_guarantee){TACIT_MODEL_JOINT, 8, 1e-5}, 0);
    tacit_audit *a = audit(&q, TACIT_MIN_TRIALS, 1);
    assert_int_equal(a->verdict, TACIT_AUDIT_TOO_FEW);
    assert_true(a->ceiling < 8 && isinf(a->detectable));
    tacit_audit_destroy(a);
}

static bool stop(void *context, const tacit_audit_progress *progress)
{
    (void)progress;
    ++*(int *)context;
    return false;
}

static void progress_can_stop_it(void **state)
{
    (void)state;
    int calls = 0;
    tacit_agent_request q = request_of(joint, TACIT_CALIBRATION_TIGHT);
    tacit_audit_options o = {.trials = 1000000, .progress = stop, .context = &calls};
    tacit_audit *a = NULL;
    assert_ok(tacit_audit_agent(&q, &o, &a, NULL));
    assert_int_equal(a->verdict, TACIT_AUDIT_STOPPED);
    assert_true(calls > 0);
    tacit_audit_destroy(a);
}

/* --- Cheats ---------------------------------------------------------------------------------------- */

enum { SHOWS_EXACT, CALLS_BY_DATA, HIDES_NOTHING };

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

static void a_view_of_exact_data_is_found(void **state)
{
    (void)state;
    tacit_audit *a = audit_cheat(SHOWS_EXACT);
    assert_int_equal(a->verdict, TACIT_AUDIT_VIOLATED);
    assert_true(a->same_calls && !a->same_view);
    assert_non_null(strstr(a->words, "what is shown differs"));
    tacit_audit_destroy(a);
}

static void calls_that_depend_on_data_are_found(void **state)
{
    (void)state;
    tacit_audit *a = audit_cheat(CALLS_BY_DATA);
    assert_int_equal(a->verdict, TACIT_AUDIT_VIOLATED);
    assert_false(a->same_calls);
    assert_true(a->trials == 0); /* there is no likelihood ratio to try */
    tacit_audit_destroy(a);
}

static void one_who_hides_nothing_passes(void **state)
{
    (void)state;
    tacit_audit *a = audit_cheat(HIDES_NOTHING);
    assert_int_equal(a->verdict, TACIT_AUDIT_PASSED);
    tacit_audit_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_learner_passes),
        cmocka_unit_test(the_printed_local_noise_is_convicted),
        cmocka_unit_test(threads_leave_no_trace),
        cmocka_unit_test(what_cannot_be_audited_is_refused),
        cmocka_unit_test(too_few_trials_are_said_to_be_so),
        cmocka_unit_test(progress_can_stop_it),
        cmocka_unit_test(a_view_of_exact_data_is_found),
        cmocka_unit_test(calls_that_depend_on_data_are_found),
        cmocka_unit_test(one_who_hides_nothing_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
