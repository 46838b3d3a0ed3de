/* Gate 1 for the monitor of the decision service: record and replay on its door, in both models and with both laws. A replaced
 * user, from any mean reward to any other, moves what passes by what the plan declares, and the worst pair that a search finds
 * by all of it. */
#include <math.h>

#include "release/monitor.h"
#include "support/check.h"
#include "support/climb.h"
#include "support/random.h"
#include "support/replay.h"

enum { USERS = 120 };

typedef struct run {
    tacit__monitor *monitor,
        *server;        /* server: where a device's reports go; NULL under joint privacy */
    double mu, epsilon; /* declared */
} run;

static run start(tacit_guarantee g)
{
    run r = {0};
    tacit_noise *noise;
    assert_ok(tacit_noise_create_simulated(7, &noise));
    assert_ok(
        tacit__monitor_create(g, &(tacit__monitored){.users = USERS}, noise, &r.monitor, NULL));
    if (g.model == TACIT_MODEL_LOCAL)
        assert_ok(
            tacit__monitor_create(g, &(tacit__monitored){.users = USERS}, noise, &r.server, NULL));
    tacit_noise_destroy(noise);
    const tacit_plan *plan = tacit_ledger_plan(tacit__monitor_ledger(r.monitor));
    assert_int_equal(tacit_plan_size(plan), 1);
    const tacit_release *line = tacit_plan_release(plan, 0);
    assert_non_null(line->reason);
    assert_true((g.delta > 0 ? line->l2 : line->l1) == 1);
    r.mu = line->l2 * line->column_l2 / tacit_plan_scale(plan, 0);
    r.epsilon = line->l1 * line->column_l1 / tacit_plan_scale(plan, 0);
    if (g.delta == 0) /* the whole guarantee is spent, and no more */
        assert_within(r.epsilon, g.epsilon * (1 - 1e-6), g.epsilon);
    return r;
}

static void finish(run *r)
{
    tacit__monitor_destroy(r->monitor);
    tacit__monitor_destroy(r->server);
}

/* All users; what the public sees after each. */
static void play(run *r, const double *means, double shown[USERS])
{
    for (size_t k = 0; k < USERS; k++) {
        double error;
        if (r->server != NULL) {
            uint8_t report[TACIT__MONITOR_REPORT];
            assert_ok(tacit__monitor_report(r->monitor, means[k], report, NULL));
            assert_ok(tacit__monitor_absorb(r->server, report, NULL));
        } else {
            assert_ok(tacit__monitor_add(r->monitor, means[k], NULL));
        }
        tacit__monitor_read(r->server != NULL ? r->server : r->monitor, &shown[k], &error);
    }
}

/* The loss when user `who` has another mean, as a share of what is declared. */
static double share(tacit_guarantee g, double *means, size_t who, double other)
{
    static double first[USERS], second[USERS];
    tape *t = tape_create();
    run a = start(g);
    tape_record(t, tacit__monitor_ledger(a.monitor));
    play(&a, means, first);
    double kept = means[who];
    means[who] = other;
    run b = start(g);
    tape_replay(t, tacit__monitor_ledger(b.monitor));
    play(&b, means, second);
    means[who] = kept;
    tape_verdict v = tape_compare(t);
    assert_true(v.same_calls);
    assert_int_equal(tape_length(t), USERS);
    /* with the passages frozen, everything shown is the same: it depends on nothing else */
    assert_memory_equal(first, second, sizeof first);
    double result = g.delta > 0 ? sqrt(v.mu_square) / a.mu : v.epsilon / a.epsilon;
    finish(&a);
    finish(&b);
    tape_destroy(t);
    return result;
}

/* --- The search for the worst pair of means -------------------------------------------------------- */

typedef struct couple {
    double here, there;
} couple;

typedef struct search {
    tacit_guarantee guarantee;
    double means[USERS];
    size_t who;
} search;

static void begin(void *context, size_t restart, uint64_t *seed, void *point)
{
    (void)context, (void)restart;
    *(couple *)point = (couple){random_unit(seed), random_unit(seed)};
}

/* A few steps along, or to an end of the range. */
static void move(void *context, uint64_t *seed, void *point)
{
    couple *p = point;
    double *mean = random_below(seed, 2) == 0 ? &p->here : &p->there;
    (void)context;
    *mean = random_below(seed, 4) == 0 ? (double)random_below(seed, 2)
                                       : fmin(1, fmax(0, *mean + random_between(seed, -0.2, 0.2)));
}

static double value(void *context, const void *point)
{
    search *s = context;
    const couple *p = point;
    s->means[s->who] = p->here;
    return share(s->guarantee, s->means, s->who, p->there);
}

static void check(tacit_guarantee g)
{
    static const size_t who[] = {0, 1, USERS / 2, USERS - 1};
    search s = {.guarantee = g};
    couple best;
    double worst = 0;
    const climb_problem problem = {
        .context = &s, .size = sizeof best, .begin = begin, .move = move, .value = value};
    const climb_effort effort = {.restarts = 2, .moves = 40, .enough = 1 + 1e-12, .seed = 5};
    for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
        for (size_t k = 0; k < USERS; k++)
            s.means[k] = (double)(k * 37 % 101) / 100;
        s.who = who[i];
        worst = fmax(worst, climb(&problem, &effort, &best));
    }
    assert_true(worst <= 1 + 1e-12);
    assert_true(worst >= 0.999 || climb_patience() < 1); /* all of it, not just an upper bound */
}

TEST(a_joint_monitor_moves_by_what_it_declares)
{
    check((tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-6});
    check((tacit_guarantee){TACIT_MODEL_JOINT, 0.5, 0});
}

TEST(a_local_monitor_moves_by_what_it_declares)
{
    check((tacit_guarantee){TACIT_MODEL_LOCAL, 1, 1e-6});
    check((tacit_guarantee){TACIT_MODEL_LOCAL, 0.5, 0});
}
