/* The inner loop of the laboratory: plan, act by the billboard, learn.
 *
 * Regret of an episode is V* - V of the policy on the billboard, both from exact evaluation; it is
 * computed anew only when the billboard's version changes, and episodes of equal regret are counted, not
 * added: K equal episodes have regret K * gap with one rounding. Nothing is allocated in the loop. */
#include "lab/runs/play.h"

#include <math.h>
#include <time.h>

#include "base/error.h"
#include "base/workspace.h"
#include "lab/baseline.h"
#include "lab/experiment.h"
#include "lab/runs/play_rounds.h"
#include "lab/runs/seed.h"
#include "lab/runs/visitors.h"
#include "worlds/walk.h"

/* --- A player: everything that one job needs ----------------------------------------------------- */

typedef struct player {
    const tacit__lab_world *lab_world;
    tacit_agent *agent;
    tacit_walk *walk;
    tacit__people_order *order; /* of people who come back; NULL: none do */
    uint32_t *states, *actions;
    double *rewards, *scratch;
} player;

static void player_destroy(player *p)
{
    tacit_agent_destroy(p->agent);
    tacit_walk_destroy(p->walk);
    tacit__people_order_destroy(p->order);
    tacit__workspace_destroy(p->states);
}

static tacit_status player_create(player *p, const tacit__lab_world *lab_world, size_t agent,
                                  uint64_t run, tacit_error *err)
{
    const tacit_world *world = lab_world->world;
    p->lab_world = lab_world;
    tacit_noise *root = NULL;
    tacit_status status =
        tacit__seed_world(lab_world->experiment->facts.seed, run,
                          lab_world->experiment->names[lab_world->number].key, &root);
    if (status == TACIT_OK)
        status = tacit_walk_create(world, root, &p->walk, err);
    const tacit_visitors *visitors = &lab_world->experiment->worlds[lab_world->number].visitors;
    if (status == TACIT_OK && visitors->people > 0)
        status = tacit__people_order_create(visitors, root, &p->order, err);
    tacit_noise_destroy(root);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    size_t H = tacit_world_describe(world)->horizon;
    if (TACIT__PIECES(TACIT__PIECE(p->states, H + 1), TACIT__PIECE(p->actions, H),
                      TACIT__PIECE(p->rewards, H),
                      TACIT__PIECE(p->scratch, tacit_world_scratch(world))) == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    return tacit_experiment_agent(lab_world->experiment, lab_world->number, world, agent, run,
                                  &p->agent, err);
}

static tacit_status evaluate(const player *p, const tacit_billboard *board, double *gap)
{
    double value = 0;
    tacit_status status =
        board->policy != NULL
            ? tacit_world_evaluate(p->lab_world->world, board->policy, p->scratch, &value)
            : tacit_world_evaluate_mixed(p->lab_world->world, board->mixed, p->scratch, &value);
    /* Below 0 by rounding only. */
    *gap = fmax(p->lab_world->optimal - value, 0);
    return status;
}

static tacit_status act(player *p, const tacit_billboard *board, uint64_t episode)
{
    if (p->order != NULL)
        tacit__walk_set_person(p->walk, tacit__people_order_at(p->order, episode));
    if (board->policy != NULL)
        return tacit_walk_play(p->walk, episode, board->policy, p->states, p->actions, p->rewards);
    return tacit_walk_play_mixed(p->walk, episode, board->mixed, p->states, p->actions, p->rewards);
}

/* --- Regret so far ------------------------------------------------------------------------------ */

/* sum + run * gap: `run` episodes of the same gap are not yet in the sum. */
typedef struct regret_sum {
    double sum, gap;
    uint64_t run;
} regret_sum;

static double regret_total(const regret_sum *t)
{
    return t->sum + (double)t->run * t->gap;
}

static void regret_set_gap(regret_sum *t, double gap)
{
    if (gap == t->gap)
        return;
    *t = (regret_sum){.sum = regret_total(t), .gap = gap};
}

/* Returns after how many episodes the last tenth begins. */
static uint64_t late_start(uint64_t episodes)
{
    uint64_t tenth = episodes / 10;
    return episodes - (tenth > 0 ? tenth : 1);
}

/* --- Jobs ---------------------------------------------------------------------------------------- */

static tacit_status learn_all(player *p, tacit__worker_slot *slot, double *curve, tacit_job *job,
                              tacit_error *err)
{
    const tacit__lab_world *lab_world = p->lab_world;
    const uint64_t K = lab_world->experiment->facts.episodes;
    const uint64_t late = late_start(K);
    const tacit_trajectory user = {
        .states = p->states, .actions = p->actions, .rewards = p->rewards};
    tacit_billboard board = {0};
    regret_sum t = {0};
    double before = 0;
    uint64_t version = 0;
    size_t point = 0;
    for (uint64_t k = 0; k < K; k++) {
        if (atomic_load_explicit(lab_world->stop, memory_order_relaxed))
            return TACIT_OK;
        tacit_status status = tacit_agent_plan(p->agent, &board, err);
        if (status != TACIT_OK)
            return status;
        if (k == 0 || board.version != version) {
            double gap;
            status = evaluate(p, &board, &gap);
            if (status != TACIT_OK)
                return tacit__fail_plain(err, status);
            regret_set_gap(&t, gap);
            job->switches += k > 0;
            version = board.version;
        }
        status = act(p, &board, k);
        if (status != TACIT_OK)
            return tacit__fail_plain(err, status);
        TRY(tacit_agent_learn(p->agent, &user, err));
        t.run++;
        if (k + 1 == lab_world->at[point]) {
            curve[point++] = lab_world->unit * regret_total(&t);
            atomic_store_explicit(&slot->points, point, memory_order_release);
        }
        if (k + 1 == late)
            before = regret_total(&t);
        atomic_store_explicit(&slot->episodes, k + 1, memory_order_relaxed);
    }
    job->regret = lab_world->unit * regret_total(&t);
    job->late_regret = lab_world->unit * (regret_total(&t) - before) / (double)(K - late);
    job->n_points = point;
    job->done = true;
    return TACIT_OK;
}

/* A baseline does not learn, so its value says all; nothing is played. */
static tacit_status measure(const tacit__lab_world *lab_world, const tacit_entry *entry,
                            double *curve, tacit_job *job, tacit_error *err)
{
    const uint64_t K = lab_world->experiment->facts.episodes;
    double value = 0;
    TRY(tacit__baseline_value(entry->kind, lab_world->world, &value, err));
    double gap = fmax(lab_world->optimal - value, 0);
    size_t point = 0;
    for (; point == 0 || lab_world->at[point - 1] < K; point++)
        curve[point] = lab_world->unit * ((double)lab_world->at[point] * gap);
    job->n_points = point;
    job->regret = lab_world->unit * ((double)K * gap);
    job->late_regret = lab_world->unit * gap;
    job->done = true;
    return TACIT_OK;
}

static double thread_seconds(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tacit_status tacit__play(const tacit__lab_world *lab_world, size_t agent, uint64_t run,
                         tacit__worker_slot *slot, double *curve, tacit_job *job, tacit_error *err)
{
    TACIT__REQUIRE(lab_world != NULL && slot != NULL && curve != NULL && job != NULL);
    const tacit_entry *entry = &lab_world->experiment->facts.agents[agent];
    double start = thread_seconds();
    *job = (tacit_job){.curve = curve};
    tacit_status status;
    if (tacit_world_describe(lab_world->world)->family == TACIT_WORLD_BANDIT) {
        status = tacit__rounds_play(lab_world, agent, run, slot, curve, job, err);
    } else if (entry->baseline) {
        status = measure(lab_world, entry, curve, job, err);
    } else {
        player p = {0};
        status = player_create(&p, lab_world, agent, run, err);
        if (status == TACIT_OK)
            status = learn_all(&p, slot, curve, job, err);
        player_destroy(&p);
    }
    job->seconds = thread_seconds() - start;
    return status;
}

double tacit__play_pace(const tacit__lab_world *lab_world, size_t agent, double seconds)
{
    enum { USERS = 64 };
    TACIT__REQUIRE(lab_world != NULL);
    player p = {0};
    double first = 0, before = 0, least = HUGE_VAL;
    uint64_t k = 0;
    if (tacit_world_describe(lab_world->world)->family == TACIT_WORLD_BANDIT ||
        player_create(&p, lab_world, agent, 0, NULL) != TACIT_OK) {
        player_destroy(&p);
        return 0;
    }
    const tacit_trajectory user = {.states = p.states, .actions = p.actions, .rewards = p.rewards};
    tacit_billboard board = {0};
    const uint64_t most = lab_world->experiment->facts.episodes;
    for (; k < USERS && k < most && before - first <= seconds; k++) {
        if (tacit_agent_plan(p.agent, &board, NULL) != TACIT_OK || act(&p, &board, k) != TACIT_OK ||
            tacit_agent_learn(p.agent, &user, NULL) != TACIT_OK)
            break;
        const double now = thread_seconds();
        if (k == 0)
            first = now;
        else
            least = fmin(least, now - before);
        before = now;
    }
    player_destroy(&p);
    return k > 1 ? least : 0;
}
