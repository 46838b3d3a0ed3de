/* The inner loop of the laboratory: look at the billboard, act, tell.
 *
 * Regret of an episode is V* - V of the policy on the billboard, both from exact evaluation; it is computed anew only
 * when the billboard's version changes, and episodes of equal regret are counted, not added: K equal episodes
 * have regret K * gap with one rounding. Nothing is allocated in the loop. */
#include "lab/play.h"

#include <math.h>
#include <time.h>

#include "base/error.h"
#include "base/workspace.h"
#include "lab/experiment.h"
#include "lab/play_rounds.h"
#include "lab/seed.h"
#include "lab/yardstick.h"

/* --- A player: everything that one job needs ----------------------------------------------------- */

typedef struct player {
    const tacit__stage *stage;
    tacit_agent *agent;
    tacit_walk *walk;
    uint32_t *states, *actions;
    double *rewards, *scratch;
} player;

static void player_close(player *p)
{
    tacit_agent_destroy(p->agent);
    tacit_walk_destroy(p->walk);
    tacit__workspace_destroy(p->states);
}

static tacit_status player_open(player *p, const tacit__stage *stage, size_t agent, uint64_t run,
                                tacit_error *err)
{
    const tacit_world *world = stage->world;
    p->stage = stage;
    tacit_noise *root = NULL;
    tacit_status status = tacit__seed_world(stage->experiment->facts.seed, run,
                                            stage->experiment->names[stage->number].key, &root);
    if (status == TACIT_OK)
        status = tacit_walk_create(world, root, &p->walk, err);
    tacit_noise_destroy(root);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    size_t H = tacit_world_describe(world)->horizon;
    if (TACIT__PIECES(TACIT__PIECE(p->states, H + 1), TACIT__PIECE(p->actions, H),
                      TACIT__PIECE(p->rewards, H),
                      TACIT__PIECE(p->scratch, tacit_world_scratch(world))) == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    return tacit_experiment_agent(stage->experiment, stage->number, world, agent, run, &p->agent,
                                  err);
}

static tacit_status evaluate(const player *p, const tacit_billboard *board, double *gap)
{
    double value = 0;
    tacit_status status =
        board->policy != NULL
            ? tacit_world_evaluate(p->stage->world, board->policy, p->scratch, &value)
            : tacit_world_evaluate_mixed(p->stage->world, board->mixed, p->scratch, &value);
    /* Below 0 by rounding only. */
    *gap = fmax(p->stage->optimal - value, 0);
    return status;
}

static tacit_status act(player *p, const tacit_billboard *board, uint64_t episode)
{
    if (board->policy != NULL)
        return tacit_walk_play(p->walk, episode, board->policy, p->states, p->actions, p->rewards);
    return tacit_walk_play_mixed(p->walk, episode, board->mixed, p->states, p->actions, p->rewards);
}

/* --- Regret so far ------------------------------------------------------------------------------ */

/* sum + run * gap: `run` episodes of the same gap are not yet in the sum. */
typedef struct tally {
    double sum, gap;
    uint64_t run;
} tally;

static double tally_total(const tally *t)
{
    return t->sum + (double)t->run * t->gap;
}

static void tally_change(tally *t, double gap)
{
    if (gap == t->gap)
        return;
    *t = (tally){.sum = tally_total(t), .gap = gap};
}

/* Where the last tenth begins: after this many episodes. */
static uint64_t late_start(uint64_t episodes)
{
    uint64_t tenth = episodes / 10;
    return episodes - (tenth > 0 ? tenth : 1);
}

/* --- Jobs ---------------------------------------------------------------------------------------- */

static tacit_status learn_all(player *p, tacit__seat *seat, double *curve, tacit_job *job,
                              tacit_error *err)
{
    const tacit__stage *stage = p->stage;
    const uint64_t K = stage->experiment->facts.episodes;
    const uint64_t late = late_start(K);
    const tacit_trajectory user = {
        .states = p->states, .actions = p->actions, .rewards = p->rewards};
    tacit_billboard board = {0};
    tally t = {0};
    double before = 0;
    uint64_t version = 0;
    size_t point = 0;
    for (uint64_t k = 0; k < K; k++) {
        if (atomic_load_explicit(stage->stop, memory_order_relaxed))
            return TACIT_OK;
        tacit_status status = tacit_agent_plan(p->agent, &board, err);
        if (status != TACIT_OK)
            return status;
        if (k == 0 || board.version != version) {
            double gap;
            status = evaluate(p, &board, &gap);
            if (status != TACIT_OK)
                return tacit__fail_plain(err, status);
            tally_change(&t, gap);
            job->switches += k > 0;
            version = board.version;
        }
        status = act(p, &board, k);
        if (status != TACIT_OK)
            return tacit__fail_plain(err, status);
        status = tacit_agent_learn(p->agent, &user, err);
        if (status != TACIT_OK)
            return status;
        t.run++;
        if (k + 1 == stage->at[point]) {
            curve[point++] = stage->unit * tally_total(&t);
            atomic_store_explicit(&seat->points, point, memory_order_release);
        }
        if (k + 1 == late)
            before = tally_total(&t);
        atomic_store_explicit(&seat->episodes, k + 1, memory_order_relaxed);
    }
    job->regret = stage->unit * tally_total(&t);
    job->late_regret = stage->unit * (tally_total(&t) - before) / (double)(K - late);
    job->n_points = point;
    job->done = true;
    return TACIT_OK;
}

/* Nobody learns, so nobody needs to play. */
static tacit_status measure(const tacit__stage *stage, const tacit_entry *entry, double *curve,
                            tacit_job *job, tacit_error *err)
{
    const uint64_t K = stage->experiment->facts.episodes;
    double value = 0;
    tacit_status status = tacit__yardstick_value(entry->kind, stage->world, &value, err);
    if (status != TACIT_OK)
        return status;
    double gap = fmax(stage->optimal - value, 0);
    size_t point = 0;
    for (; point == 0 || stage->at[point - 1] < K; point++)
        curve[point] = stage->unit * ((double)stage->at[point] * gap);
    job->n_points = point;
    job->regret = stage->unit * ((double)K * gap);
    job->late_regret = stage->unit * gap;
    job->done = true;
    return TACIT_OK;
}

static double thread_seconds(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tacit_status tacit__play(const tacit__stage *stage, size_t agent, uint64_t run, tacit__seat *seat,
                         double *curve, tacit_job *job, tacit_error *err)
{
    const tacit_entry *entry = &stage->experiment->facts.agents[agent];
    double start = thread_seconds();
    *job = (tacit_job){.curve = curve};
    tacit_status status;
    if (tacit_world_describe(stage->world)->family == TACIT_WORLD_BANDIT) {
        status = tacit__rounds_play(stage, agent, run, seat, curve, job, err);
    } else if (entry->yardstick) {
        status = measure(stage, entry, curve, job, err);
    } else {
        player p = {0};
        status = player_open(&p, stage, agent, run, err);
        if (status == TACIT_OK)
            status = learn_all(&p, seat, curve, job, err);
        player_close(&p);
    }
    job->seconds = thread_seconds() - start;
    return status;
}
