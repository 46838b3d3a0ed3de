/* Runs: the same bits for any number of threads and any company, exact baselines, clean stops. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/lab.h>

#include "base/memory.h"
#include "lab/results.h"
#include "lab/runs/seed.h"

#define HEAD "world: {kind: riverswim, horizon: 8}\nepisodes: 1500\nruns: 3\nagents:\n"
#define UCBVI "  - {label: u, kind: ucbvi}\n"
#define JOINT "  - {label: j, kind: dp-ucbvi, privacy: {model: joint, epsilon: 2}}\n"
#define PURE "  - {label: p, kind: dp-ucbvi, privacy: {model: joint, epsilon: 2, delta: 0}}\n"
#define MIXED "  - {label: m, kind: private-ucb-po, privacy: {model: joint, epsilon: 2}}\n"
#define STICKS "  - {kind: uniform}\n  - {kind: constant}\n  - {kind: optimal}\n"

static tacit_experiment *parse(const char *text)
{
    tacit_experiment *e = NULL;
    tacit_error err = {.message = ""};
    tacit_status status = tacit_experiment_parse(text, strlen(text), "f", NULL, &e, &err);
    assert_string_equal(err.message, "");
    assert_ok(status);
    return e;
}

static tacit_results *run(const char *text, unsigned n_threads)
{
    SCOPED(tacit_experiment) *e = parse(text);
    tacit_results *results = NULL;
    tacit_error err = {.message = ""};
    const tacit_lab_options options = {.n_threads = n_threads};
    tacit_status status = tacit_lab_run(e, &options, &results, &err);
    assert_string_equal(err.message, "");
    assert_ok(status);
    assert_true(tacit_results_complete(results));
    return results;
}

static void assert_same_job(const tacit_results *a, size_t i, const tacit_results *b, size_t j)
{
    for (uint64_t r = 0; r < tacit_results_describe(a)->runs; r++) {
        const tacit_job *x = tacit_results_job(a, 0, i, r), *y = tacit_results_job(b, 0, j, r);
        assert_memory_equal(&x->regret, &y->regret, sizeof x->regret);
        assert_memory_equal(&x->late_regret, &y->late_regret, sizeof x->late_regret);
        assert_int_equal(x->switches, y->switches);
        assert_memory_equal(x->curve, y->curve, a->n_points * sizeof *x->curve);
    }
}

TEST(results_do_not_depend_on_the_number_of_threads)
{
    static const char text[] = HEAD UCBVI JOINT PURE MIXED STICKS;
    SCOPED(tacit_results) *one = run(text, 1);
    for (unsigned n = 2; n <= 5; n += 3) {
        SCOPED(tacit_results) *more = run(text, n);
        for (size_t agent = 0; agent < tacit_results_describe(one)->n_agents; agent++)
            assert_same_job(one, agent, more, agent);
    }
}

TEST(agents_do_not_notice_each_other)
{
    SCOPED(tacit_results) *all = run(HEAD STICKS MIXED UCBVI JOINT, 2);
    static const char *const alone[] = {HEAD MIXED, HEAD UCBVI, HEAD JOINT};
    for (size_t i = 0; i < 3; i++) {
        SCOPED(tacit_results) *one = run(alone[i], 2);
        assert_same_job(all, 3 + i, one, 0);
    }
}

#define AGENTS "episodes: 800\nruns: 2\nagents:\n"

static void assert_same_in(const tacit_results *a, size_t i, const tacit_results *b, size_t j,
                           bool same)
{
    for (size_t agent = 0; agent < 2; agent++)
        for (uint64_t r = 0; r < 2; r++)
            assert_int_equal(tacit_results_job(a, i, agent, r)->regret ==
                                 tacit_results_job(b, j, agent, r)->regret,
                             same);
}

/* Worlds are known by their labels; one that stands alone under `world` keeps the chance that it always had. */
TEST(worlds_do_not_notice_each_other)
{
    SCOPED(tacit_results) *all =
        run("worlds:\n  - {kind: deep-sea}\n"
            "  - {label: r, kind: riverswim, states: [5, 4], horizon: 8}\n" AGENTS UCBVI JOINT,
            2);
    SCOPED(tacit_results) *one = run(
        "worlds: [{label: r, kind: riverswim, states: [4], horizon: 8}]\n" AGENTS UCBVI JOINT, 2);
    SCOPED(tacit_results) *named = run(
        "world: {label: r states 4, kind: riverswim, states: 4, horizon: 8}\n" AGENTS UCBVI JOINT,
        2);
    SCOPED(tacit_results) *alone =
        run("world: {kind: riverswim, states: 4, horizon: 8}\n" AGENTS UCBVI JOINT, 2);
    assert_same_in(all, 2, one, 0, true);
    assert_same_in(all, 2, named, 0, true);
    assert_same_in(all, 2, alone, 0, false);
    assert_int_equal(tacit_results_world(all, 2)->n_states, 4);
    assert_int_equal(tacit_results_world(all, 1)->n_states, 5);
    assert_null(tacit_results_world(all, 3));
    assert_true(tacit_results_optimal_value(all, 2) == tacit_results_optimal_value(one, 0));
}

TEST(agents_play_where_they_are_told_to)
{
    SCOPED(tacit_results) *r =
        run("worlds:\n  - {label: a, kind: riverswim}\n  - {label: b, kind: deep-sea}\n"
            "episodes: 50\nruns: 2\nagents:\n  - {kind: uniform}\n"
            "  - {kind: optimal, worlds: [b]}\n" JOINT,
            2);
    assert_null(tacit_results_job(r, 0, 1, 0));
    assert_int_equal(tacit_results_summary(r, 0, 1).runs, 0);
    assert_true(tacit_results_job(r, 1, 1, 1)->done);
    assert_true(tacit_results_summary(r, 1, 1).regret_mean == 0);
    assert_null(tacit_results_plan(r, 1, 0));
    const tacit_plan *plan = tacit_results_plan(r, 1, 2);
    assert_non_null(plan);
    assert_true(tacit_plan_size(plan) > 0 && tacit_plan_scale(plan, 0) > 0);
}

/* The label, the seed and the run decide over an agent's noise. */
TEST(noise_belongs_to_label_seed_and_run)
{
    SCOPED(tacit_results) *a =
        run(HEAD JOINT "  - {label: j2, kind: dp-ucbvi, privacy: {model: joint, epsilon: 2}}\n", 1);
    SCOPED(tacit_results) *b = run("seed: 2\n" HEAD JOINT, 1);
    assert_true(tacit_results_job(a, 0, 0, 0)->regret != tacit_results_job(a, 0, 1, 0)->regret);
    assert_true(tacit_results_job(a, 0, 0, 0)->regret != tacit_results_job(a, 0, 0, 1)->regret);
    assert_true(tacit_results_job(a, 0, 0, 0)->regret != tacit_results_job(b, 0, 0, 0)->regret);
}

/* A world with room for its policies. */
typedef struct stage {
    tacit_experiment *experiment;
    tacit_world *world;
    const tacit_world_facts *space;
    uint32_t *policy, *states, *actions;
    double *mixed, *values, *scratch, *rewards;
    double best, unit;
} stage;

static stage stage_open(const char *text)
{
    stage s = {.experiment = parse(text)};
    tacit_error err;
    assert_ok(tacit_experiment_world(s.experiment, 0, &s.world, &err));
    s.space = tacit_world_describe(s.world);
    s.unit = s.space->reward_high - s.space->reward_low;
    size_t H = s.space->horizon, S = s.space->n_states;
    s.policy = tacit__alloc(H * S, sizeof *s.policy);
    s.states = tacit__alloc(H + 1, sizeof *s.states);
    s.actions = tacit__alloc(H, sizeof *s.actions);
    s.rewards = tacit__alloc(H, sizeof *s.rewards);
    s.mixed = tacit__alloc(H * S * s.space->n_actions, sizeof *s.mixed);
    s.values = tacit__alloc((H + 1) * S, sizeof *s.values);
    s.scratch = tacit__alloc(tacit_world_scratch(s.world), sizeof *s.scratch);
    assert_ok(tacit_world_solve(s.world, s.policy, s.values, &err));
    assert_ok(tacit_world_evaluate(s.world, s.policy, s.scratch, &s.best));
    return s;
}

static void stage_close(stage *s)
{
    void *const parts[] = {s->policy, s->states, s->actions, s->rewards,
                           s->mixed,  s->values, s->scratch};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        tacit__free(parts[i]);
    tacit_world_destroy(s->world);
    tacit_experiment_destroy(s->experiment);
}

TEST(baselines_are_exact)
{
    static const char *const worlds[] = {"{kind: riverswim}", "{kind: grid}",
                                         "{kind: random-tabular, stationary: no}",
                                         "{kind: deep-sea}"};
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++) {
        const char *text = fmt("world: %s\nepisodes: 12345\nagents:\n" STICKS, worlds[w]);
        SCOPED(tacit_results) *results = run(text, 2);
        stage s = stage_open(text);
        const tacit_world_facts *f = s.space;
        size_t n = f->horizon * f->n_states;
        double value, constant = 0;
        assert_true(tacit_results_optimal_value(results, 0) ==
                    tacit_world_original_value(s.world, s.best));
        for (size_t i = 0; i < n * f->n_actions; i++)
            s.mixed[i] = 1 / (double)f->n_actions;
        assert_ok(tacit_world_evaluate_mixed(s.world, s.mixed, s.scratch, &value));
        const tacit_job *uniform = tacit_results_job(results, 0, 0, 0);
        assert_true(uniform->regret == s.unit * (12345 * (s.best - value)));
        assert_true(uniform->late_regret == s.unit * (s.best - value));
        assert_int_equal(uniform->switches, 0);
        for (uint32_t a = 0; a < f->n_actions; a++) {
            for (size_t i = 0; i < n; i++)
                s.policy[i] = a;
            assert_ok(tacit_world_evaluate(s.world, s.policy, s.scratch, &value));
            constant = fmax(constant, value);
        }
        assert_true(tacit_results_job(results, 0, 1, 0)->regret ==
                    s.unit * (12345 * (s.best - constant)));
        assert_true(tacit_results_job(results, 0, 2, 0)->regret == 0);
        stage_close(&s);
    }
}

/* The loop written out plainly: every episode evaluated and added up. */
TEST(regret_is_the_sum_over_episodes_of_best_minus_played)
{
    static const char *const texts[] = {HEAD UCBVI, HEAD JOINT, HEAD MIXED};
    for (size_t t = 0; t < 3; t++) {
        SCOPED(tacit_results) *results = run(texts[t], 1);
        stage s = stage_open(texts[t]);
        tacit_error err;
        SCOPED(tacit_agent) *agent = NULL;
        SCOPED(tacit_walk) *walk = NULL;
        SCOPED(tacit_noise) *noise = NULL;
        double sum = 0, late = 0, value;
        uint64_t switches = 0, version = 0;
        assert_ok(tacit_experiment_agent(s.experiment, 0, s.world, 0, 2, &agent, &err));
        assert_ok(tacit__seed_world(1, 2, "", &noise));
        assert_ok(tacit_walk_create(s.world, noise, &walk, &err));
        for (uint64_t k = 0; k < 1500; k++) {
            const tacit_trajectory user = {STEPS_OF(s.states, s.actions, s.rewards)};
            tacit_billboard b;
            assert_ok(tacit_agent_plan(agent, &b, &err));
            switches += k > 0 && b.version != version;
            version = b.version;
            if (b.policy != NULL) {
                assert_ok(tacit_world_evaluate(s.world, b.policy, s.scratch, &value));
                assert_ok(tacit_walk_play(walk, k, b.policy, s.states, s.actions, s.rewards));
            } else {
                assert_ok(tacit_world_evaluate_mixed(s.world, b.mixed, s.scratch, &value));
                assert_ok(tacit_walk_play_mixed(walk, k, b.mixed, s.states, s.actions, s.rewards));
            }
            sum += s.best - value;
            late += k >= 1350 ? s.best - value : 0;
            assert_ok(tacit_agent_learn(agent, &user, &err));
        }
        const tacit_job *job = tacit_results_job(results, 0, 0, 2);
        assert_close(job->regret, sum, 1e-11);
        assert_close(job->late_regret, late / 150, 1e-8);
        assert_int_equal(job->switches, switches);
        assert_true(job->curve[results->n_points - 1] == job->regret);
        for (size_t i = 1; i < results->n_points; i++)
            assert_true(job->curve[i] >= job->curve[i - 1]);
        stage_close(&s);
    }
}

TEST(curves_have_at_most_a_thousand_points_and_end_at_the_end)
{
    static const uint64_t sizes[] = {1, 2, 999, 1000, 1001, 1999, 12345, TACIT_MAX_EPISODES};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        SCOPED(tacit_results) *r = NULL;
        tacit_error err;
        const tacit_experiment_changes changes = {.episodes = sizes[i]};
        tacit_experiment *e = NULL;
        static const char text[] = "world: {kind: riverswim}\nagents: [{kind: uniform}]\n";
        assert_ok(tacit_experiment_parse(text, strlen(text), "f", &changes, &e, &err));
        assert_ok(tacit__results_create(e, &r, &err));
        tacit_experiment_destroy(e);
        size_t n = tacit_results_points(r);
        assert_int_equal(n, sizes[i] < 1000 ? sizes[i] : 1000);
        assert_true(tacit_results_episode(r, 0) >= 1);
        for (size_t p = 1; p < n; p++)
            assert_true(tacit_results_episode(r, p) > tacit_results_episode(r, p - 1));
        assert_true(tacit_results_episode(r, n - 1) == sizes[i]);
        assert_int_equal(tacit_results_episode(r, n), 0);
    }
}

TEST(means_and_errors_are_those_of_the_runs)
{
    SCOPED(tacit_results) *r = NULL;
    tacit_error err;
    tacit_experiment *e = parse("world: {kind: riverswim}\nepisodes: 5\nruns: 4\n"
                                "agents: [{kind: uniform}, {kind: optimal}]\n");
    assert_ok(tacit__results_create(e, &r, &err));
    tacit_experiment_destroy(e);
    static const double regrets[] = {1, 2, 4};
    for (size_t run_number = 0; run_number < 3; run_number++) {
        r->jobs[2 * run_number] =
            (tacit_job){.done = true, .regret = regrets[run_number], .switches = 3};
        r->jobs[2 * run_number + 1] = (tacit_job){.done = true, .regret = 0.1};
    }
    tacit_summary s = tacit_results_summary(r, 0, 0), equal = tacit_results_summary(r, 0, 1);
    assert_int_equal(s.runs, 3);
    assert_close(s.regret_mean, 7.0 / 3, 1e-15);
    assert_close(s.regret_error, sqrt((16.0 + 1 + 25) / 9 / 2 / 3), 1e-14);
    assert_true(s.switches == 3);
    assert_true(equal.regret_mean == 0.1 && equal.regret_error == 0);
    assert_false(tacit_results_complete(r));
    assert_null(tacit_results_job(r, 0, 2, 0));
    assert_null(tacit_results_job(r, 0, 0, 4));
}

typedef struct watcher {
    unsigned calls;
    uint64_t stop_at; /* so many finished jobs; 0: never */
    tacit_lab_progress last;
} watcher;

static bool watch(void *context, const tacit_lab_progress *p)
{
    watcher *w = context;
    assert_true(p->episodes >= w->last.episodes && p->jobs >= w->last.jobs);
    assert_true(p->episodes <= p->n_episodes && p->jobs <= p->n_jobs);
    w->calls++;
    w->last = *p;
    return w->stop_at == 0 || p->jobs < w->stop_at;
}

TEST(progress_ends_with_everything_done)
{
    SCOPED(tacit_experiment) *e = parse(HEAD UCBVI STICKS);
    SCOPED(tacit_results) *results = NULL;
    tacit_error err;
    watcher w = {0};
    const tacit_lab_options options = {.n_threads = 2, .progress = watch, .context = &w};
    assert_ok(tacit_lab_run(e, &options, &results, &err));
    assert_true(w.calls > 0);
    assert_int_equal(w.last.jobs, 12);
    assert_int_equal(w.last.n_jobs, 12);
    assert_int_equal(w.last.episodes, 4500);
    assert_int_equal(w.last.n_episodes, 4500);
    assert_true(w.last.seconds_left == 0);
}

TEST(a_stopped_run_gives_back_what_was_finished)
{
    SCOPED(tacit_experiment) *e =
        parse("world: {kind: riverswim}\nepisodes: 1000000000\nagents:\n" STICKS UCBVI);
    SCOPED(tacit_results) *results = NULL;
    tacit_error err;
    watcher w = {.stop_at = 3}; /* the sticks; nobody waits for the fourth */
    const tacit_lab_options options = {.n_threads = 2, .progress = watch, .context = &w};
    assert_ok(tacit_lab_run(e, &options, &results, &err));
    assert_false(tacit_results_complete(results));
    for (size_t stick = 0; stick < 3; stick++)
        assert_true(tacit_results_job(results, 0, stick, 0)->done);
    assert_false(tacit_results_job(results, 0, 3, 0)->done);
}

TEST(what_is_wrong_with_the_last_agent_is_said_at_once)
{
    SCOPED(tacit_experiment) *e =
        parse("world: {kind: riverswim}\nepisodes: 1000000000\nagents:\n" UCBVI
              "  - {label: x, kind: ucbvi, bonus_scale: -1}\n");
    tacit_results *results = NULL;
    tacit_error err;
    assert_status(tacit_lab_run(e, NULL, &results, &err), TACIT_BAD_ARGUMENT);
    assert_ptr_equal(strstr(err.message, "f:5: "), err.message);
    assert_null(results);
    assert_status(tacit_lab_run(NULL, NULL, &results, &err), TACIT_BAD_ARGUMENT);
}

TEST(running_out_of_memory_is_told)
{
    SCOPED(tacit_experiment) *e =
        parse("world: {kind: riverswim, states: 3, horizon: 2}\nepisodes: "
              "5\nagents:\n" STICKS UCBVI);
    const tacit_lab_options options = {.n_threads = 1};
    SCOPED(tacit_results) *results = NULL;
    tacit_error err;
    assert_survives_no_memory(tacit_lab_run(e, &options, &results, &err), assert_null(results));
}
