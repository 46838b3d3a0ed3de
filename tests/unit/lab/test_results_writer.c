/* Results on disk, through the laboratory: stopped anywhere and resumed, the same bits; refused where they would mix. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tacit/lab.h>

#include "base/memory.h"

static char box[64];

static int make_box(void **state)
{
    (void)state;
    (void)snprintf(box, sizeof box, "/tmp/tacit-keep-XXXXXX");
    return mkdtemp(box) != NULL ? 0 : -1;
}

static int clear_box(void **state)
{
    (void)state;
    (void)unlink(fmt("%s/results.db", box));
    return rmdir(box); /* fails, as it should, if anything else was left there */
}

#define TEXT                                                                                       \
    "worlds:\n  - {kind: riverswim, horizon: 6, states: [3, 4]}\nepisodes: 700\nruns: 2\n"         \
    "agents:\n  - {label: u, kind: ucbvi}\n  - {kind: optimal}\n"                                  \
    "  - {label: j, kind: dp-ucbvi, privacy: {model: joint, epsilon: [1, 2]}}\n"

static tacit_experiment *parse(const char *text, uint64_t episodes)
{
    tacit_experiment *e = NULL;
    tacit_error err = {.message = ""};
    const tacit_experiment_changes changes = {.episodes = episodes};
    assert_ok(tacit_experiment_parse(text, strlen(text), "f.yaml", &changes, &e, &err));
    return e;
}

static bool stop_at_once(void *context, const tacit_lab_progress *p)
{
    (void)context;
    (void)p;
    return false;
}

/* Stops when so many jobs are finished. */
static bool stop_after(void *context, const tacit_lab_progress *p)
{
    return p->jobs < *(const uint64_t *)context;
}

static tacit_status run(const char *text, uint64_t episodes, const tacit_lab_options *options,
                        tacit_results **out, tacit_error *err)
{
    SCOPED(tacit_experiment) *e = parse(text, episodes);
    tacit_status status = tacit_lab_run(e, options, out, err);
    return status;
}

static void assert_same(const tacit_results *a, const tacit_results *b)
{
    const tacit_experiment_facts *f = tacit_results_describe(a);
    for (size_t w = 0; w < f->n_worlds; w++) {
        assert_true(tacit_results_optimal_value(a, w) == tacit_results_optimal_value(b, w));
        for (size_t i = 0; i < f->n_agents; i++)
            for (uint64_t r = 0; r < f->runs; r++) {
                const tacit_job *x = tacit_results_job(a, w, i, r),
                                *y = tacit_results_job(b, w, i, r);
                assert_true(x->done && y->done);
                assert_memory_equal(&x->regret, &y->regret, sizeof x->regret);
                assert_memory_equal(&x->late_regret, &y->late_regret, sizeof x->regret);
                assert_int_equal(x->switches, y->switches);
                assert_int_equal(x->n_points, y->n_points);
                assert_memory_equal(x->curve, y->curve, x->n_points * sizeof *x->curve);
            }
    }
}

TEST_WITH(a_run_stopped_anywhere_and_resumed_gives_the_same_bits, make_box, clear_box)
{
    tacit_results *whole = NULL, *part = NULL, *again = NULL;
    tacit_error err;
    assert_ok(run(TEXT, 0, NULL, &whole, &err));
    for (uint64_t n = 0; n <= 14; n += 7) {
        uint64_t after = n;
        tacit_lab_options options = {.n_threads = 2,
                                     .directory = box,
                                     .mode = TACIT_LAB_REPLACE,
                                     .progress = stop_after,
                                     .context = &after};
        assert_ok(run(TEXT, 0, &options, &part, &err));
        tacit_results_destroy(part);
        options = (tacit_lab_options){.n_threads = 3, .directory = box, .mode = TACIT_LAB_RESUME};
        assert_ok(run(TEXT, 0, &options, &again, &err));
        assert_same(whole, again);
        tacit_results_destroy(again);
        assert_ok(tacit_results_open(box, &again, &err));
        assert_same(whole, again);
        assert_true(tacit_results_complete(again));
        assert_string_equal(tacit_results_version(again), tacit_version());
        tacit_results_destroy(again);
    }
    tacit_results_destroy(whole);
}

TEST_WITH(what_is_opened_is_what_was_run, make_box, clear_box)
{
    SCOPED(tacit_results) *ran = NULL, *opened = NULL;
    tacit_error err;
    const tacit_lab_options options = {.directory = box};
    assert_ok(run(TEXT, 300, &options, &ran, &err));
    assert_ok(tacit_results_open(box, &opened, &err));
    assert_same(ran, opened);
    const tacit_experiment_facts *f = tacit_results_describe(opened);
    assert_int_equal(f->episodes, 300);
    assert_string_equal(f->agents[2].label, "j epsilon 1");
    assert_string_equal(f->worlds[1].label, "riverswim states 4");
    assert_int_equal(tacit_results_world(opened, 1)->n_states, 4);
    assert_null(tacit_results_plan(opened, 0, 0));
    const tacit_plan *a = tacit_results_plan(ran, 1, 3), *b = tacit_results_plan(opened, 1, 3);
    assert_int_equal(tacit_plan_size(a), tacit_plan_size(b));
    assert_true(tacit_plan_scale(a, 0) == tacit_plan_scale(b, 0));
    assert_string_equal(tacit_results_summary(ran, 0, 2).remark,
                        tacit_results_summary(opened, 0, 2).remark);
    assert_true(tacit_results_summary(ran, 0, 2).seconds ==
                tacit_results_summary(opened, 0, 2).seconds);
}

TEST_WITH(curves_of_unfinished_jobs_can_be_seen, make_box, clear_box)
{
    SCOPED(tacit_results) *part = NULL;
    tacit_error err;
    uint64_t after = 1;
    const tacit_lab_options options = {
        .n_threads = 1, .directory = box, .progress = stop_after, .context = &after};
    static const char text[] = "world: {kind: riverswim}\nepisodes: 1000000000\n"
                               "agents: [{kind: optimal}, {kind: ucbvi}]\n";
    assert_ok(run(text, 0, &options, &part, &err));
    const tacit_job *ran = tacit_results_job(part, 0, 1, 0);
    size_t n = ran->n_points;
    assert_false(ran->done);
    tacit_results_destroy(part);
    assert_ok(tacit_results_open(box, &part, &err));
    assert_false(tacit_results_complete(part));
    assert_true(tacit_results_job(part, 0, 0, 0)->done);
    assert_int_equal(tacit_results_job(part, 0, 1, 0)->n_points, n);
}

TEST_WITH(results_are_not_overwritten_and_not_mixed, make_box, clear_box)
{
    SCOPED(tacit_results) *r = NULL;
    tacit_error err;
    tacit_lab_options options = {.directory = box, .progress = stop_at_once};
    assert_ok(run(TEXT, 0, &options, &r, &err));
    tacit_results_destroy(r);
    r = NULL;
    assert_status(run(TEXT, 0, &options, &r, &err), TACIT_EXISTS);
    assert_non_null(strstr(err.message, "of 16 jobs finished"));
    for (int mode = TACIT_LAB_NEW; mode <= TACIT_LAB_RESUME; mode++) {
        options.mode = (tacit_lab_mode)mode;
        assert_status(run(TEXT, 701, &options, &r, &err), TACIT_WRONG_PLAN);
        assert_status(run("seed: 2\n" TEXT, 0, &options, &r, &err), TACIT_WRONG_PLAN);
    }
    assert_null(r);
    options = (tacit_lab_options){.directory = box, .mode = TACIT_LAB_RESUME};
    /* Neither the title nor the order of keys is part of what is played. */
    assert_ok(run("title: another\n" TEXT, 0, &options, &r, &err));
}

TEST_WITH(an_experiment_that_is_wrong_leaves_nothing_on_disk, make_box, clear_box)
{
    tacit_results *r = NULL;
    tacit_error err;
    const tacit_lab_options options = {.directory = box};
    assert_status(run("world: {kind: riverswim}\nepisodes: 5\n"
                      "agents: [{kind: ucbvi, bonus_scale: -1}]\n",
                      0, &options, &r, &err),
                  TACIT_BAD_ARGUMENT);
    assert_int_not_equal(access(fmt("%s/results.db", box), F_OK), 0);
    assert_status(tacit_results_open(box, &r, &err), TACIT_BAD_ARGUMENT);
    assert_status(tacit_results_open(NULL, &r, &err), TACIT_BAD_ARGUMENT);
}

/* --- Kinds that only the writer knows ------------------------------------------------------------ */

static size_t row(void *context, size_t step, uint32_t state, uint32_t action, tacit_outcome *out)
{
    (void)context;
    (void)step;
    (void)state;
    out[0] = (tacit_outcome){0, 1, action};
    return 1;
}

static tacit_status make(const tacit_value *values, tacit_process *out, tacit_error *err)
{
    (void)values;
    (void)err;
    *out = (tacit_process){SPACE_OF(1, 2, 3), .stationary = true, .reward_high = 1, .row_max = 1,
                           .row = row};
    return TACIT_OK;
}

/* 0: it ran. */
static int run_in_own_world(void)
{
    static const tacit_parameter parameter = {"depth", TACIT_PARAMETER_INTEGER, "1", 0, 9, "none"};
    static const tacit_world_kind kind = {"well", "a hole", "this test", &parameter, 1};
    static const char text[] = "world: {kind: well, depth: [1, 2]}\nepisodes: 20\n"
                               "agents: [{kind: ucbvi}, {kind: optimal}]\n";
    const tacit_lab_options options = {.directory = box};
    SCOPED(tacit_results) *r = NULL;
    SCOPED(tacit_experiment) *e = NULL;
    tacit_error err;
    tacit_status status = tacit_world_register(&kind, make, &err);
    if (status == TACIT_OK)
        status = tacit_experiment_parse(text, strlen(text), "f", NULL, &e, &err);
    if (status == TACIT_OK)
        status = tacit_lab_run(e, &options, &r, &err);
    return status == TACIT_OK ? 0 : 1;
}

TEST_WITH(results_in_worlds_of_another_program_can_be_opened, make_box, clear_box)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(run_in_own_world());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    SCOPED(tacit_results) *r = NULL;
    tacit_error err;
    assert_null(tacit_world_kind_find("well"));
    assert_ok(tacit_results_open(box, &r, &err));
    assert_true(tacit_results_complete(r));
    assert_null(tacit_results_world(r, 1)->kind);
    assert_string_equal(tacit_results_describe(r)->worlds[1].label, "well depth 2");
    assert_true(tacit_results_optimal_value(r, 1) == 3);
    assert_true(tacit_results_summary(r, 1, 1).regret_mean == 0);
}

TEST_WITH(running_out_of_memory_is_told_and_can_be_resumed, make_box, clear_box)
{
    static const char text[] = "world: {kind: riverswim, states: 3, horizon: 2}\nepisodes: 5\n"
                               "agents:\n  - {kind: uniform}\n"
                               "  - {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}\n";
    const tacit_lab_options options = {.n_threads = 1, .directory = box, .mode = TACIT_LAB_RESUME};
    for (uint64_t n = 1;; n++) {
        tacit_results *r = NULL;
        tacit_error err;
        tacit_experiment *e = parse(text, 0);
        tacit__alloc_fail_at(n);
        tacit_status status = tacit_lab_run(e, &options, &r, &err);
        bool failed = tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        tacit_experiment_destroy(e);
        tacit_results_destroy(r);
        if (!failed) {
            assert_ok(status);
            break;
        }
        assert_status(status, TACIT_NO_MEMORY);
    }
    SCOPED(tacit_results) *opened = NULL;
    tacit_error err;
    assert_survives_no_memory(tacit_results_open(box, &opened, &err), assert_null(opened));
}
