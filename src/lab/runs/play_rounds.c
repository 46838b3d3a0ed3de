/* Bandit worlds in the laboratory: a context comes, the billboard says what to do, a reward follows.
 *
 * Regret of a round is max_a E[r(c, a)] - E[r(c, a_k)] at the context c that came: exact for the action
 * that was played. People with a right answer have E[r] = 1 for it, so regret counts wrong answers. Where
 * a log holds the reward of one action only, a round counts if the agent does what the log did (otherwise
 * there is nothing to learn: replay [LCLW11]), and its shortfall 1 - r is divided by the action's
 * propensity: an unbiased estimate of the sum over all rounds of 1 - r(a_k). What the log says about the
 * mean reward is in lab/files/log_value.c. Nothing is allocated in the loop. */
#include "lab/runs/play_rounds.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lab/experiment.h"
#include "lab/files/log_value.h"
#include "lab/runs/seed.h"
#include "lab/runs/visitors.h"
#include "worlds/bandit.h"

typedef struct score {
    double sum, before; /* regret so far; at the beginning of the last tenth */
    size_t point;
} score;

typedef struct table {
    const tacit__lab_world *lab_world;
    tacit_rounds *rounds;
    tacit__people_order *order; /* of people who come back; NULL: none do */
    size_t n_actions;
    uint64_t n_rounds, late;
    double *curve;
    tacit__worker_slot *slot;
    tacit__log_value *log; /* where the world is a log; and its best constant action */
    uint32_t constant;
} table;

static tacit_status begin(const table *t, uint64_t k, tacit_visitor *v)
{
    if (t->order != NULL)
        tacit__rounds_set_person(t->rounds, tacit__people_order_at(t->order, k));
    return tacit_rounds_begin(t->rounds, k, v);
}

/* The regret of playing `action`. */
static double gap_of(const table *t, const tacit_visitor *v, uint32_t action, double reward)
{
    if (v->means == NULL)
        return action == v->logged_action ? (1 - reward) / v->propensity : 0;
    double best = v->means[0];
    for (size_t a = 1; a < t->n_actions; a++)
        best = fmax(best, v->means[a]);
    return best - v->means[action];
}

static void add_round(const table *t, score *s, uint64_t k, double gap)
{
    s->sum += gap;
    if (k + 1 == t->lab_world->at[s->point]) {
        t->curve[s->point++] = t->lab_world->unit * s->sum;
        atomic_store_explicit(&t->slot->points, s->point, memory_order_release);
    }
    if (k + 1 == t->late)
        s->before = s->sum;
    atomic_store_explicit(&t->slot->episodes, k + 1, memory_order_relaxed);
}

static void finish(const table *t, const score *s, tacit_job *job)
{
    double unit = t->lab_world->unit;
    if (t->log != NULL)
        tacit__log_value_finish(t->log, tacit_world_describe(t->lab_world->world)->reward_low, unit,
                                &job->estimate);
    job->regret = unit * s->sum;
    job->late_regret = unit * (s->sum - s->before) / (double)(t->n_rounds - t->late);
    job->n_points = s->point;
    job->done = true;
}

static bool stopped(const table *t)
{
    return atomic_load_explicit(t->lab_world->stop, memory_order_relaxed);
}

/* --- Logs --------------------------------------------------------------------------------------- */

static tacit__log_line line_of(const tacit_visitor *v, double reward)
{
    return (tacit__log_line){v->features, v->logged_action, v->propensity, reward};
}

/* Goes through the log once to find the best constant action. Worlds that are no logs are left alone. */
static tacit_status survey(table *t, tacit_error *err)
{
    const tacit_world_facts *space = tacit_world_describe(t->lab_world->world);
    tacit_visitor v;
    TRY(begin(t, 0, &v));
    if (v.means != NULL)
        return TACIT_OK;
    TRY(tacit__log_value_create(space->bandit->dimension, t->n_actions, &t->log, err));
    for (uint64_t k = 0; k < t->n_rounds && !stopped(t); k++) {
        double reward = 0;
        TRY(begin(t, k, &v));
        TRY(tacit_rounds_reward(t->rounds, v.logged_action, &reward));
        const tacit__log_line line = line_of(&v, reward);
        tacit__log_value_survey(t->log, &line);
    }
    t->constant = tacit__log_value_choose(t->log);
    return TACIT_OK;
}

/* --- Learners ------------------------------------------------------------------------------------ */

/* One round; *gap is what it cost. */
static tacit_status play_one(const table *t, tacit_agent *agent, uint64_t k, double *gap,
                             tacit_error *err)
{
    tacit_visitor v;
    uint32_t action;
    double probability, reward = 0;
    tacit_status status = begin(t, k, &v);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    const tacit_situation situation = {.state = v.state, .features = v.features};
    status = tacit_agent_act(agent, &situation, tacit_rounds_chance(t->rounds), &action,
                             &probability, err);
    if (status != TACIT_OK)
        return status;
    bool seen = v.means != NULL || action == v.logged_action;
    uint32_t rewarded = t->log != NULL ? v.logged_action : action;
    if ((status = tacit_rounds_reward(t->rounds, rewarded, &reward)) != TACIT_OK)
        return tacit__fail_plain(err, status);
    *gap = gap_of(t, &v, action, reward);
    if (t->log != NULL) {
        const tacit__log_line line = line_of(&v, reward);
        tacit__log_value_add(t->log, &line, action);
    }
    const uint32_t states[2] = {v.state, v.state};
    const tacit_trajectory user = {
        .states = states, .actions = &action, .rewards = &reward, .features = v.features};
    return seen ? tacit_agent_learn(agent, &user, err) : TACIT_OK;
}

static tacit_status learn(const table *t, tacit_agent *agent, tacit_job *job, tacit_error *err)
{
    score s = {0};
    uint64_t version = 0;
    for (uint64_t k = 0; k < t->n_rounds; k++) {
        if (stopped(t))
            return TACIT_OK;
        tacit_billboard board;
        double gap = 0;
        TRY(tacit_agent_plan(agent, &board, err));
        TRY(play_one(t, agent, k, &gap, err));
        job->switches += k > 0 && board.version != version;
        version = board.version;
        add_round(t, &s, k, gap);
    }
    finish(t, &s, job);
    return TACIT_OK;
}

/* --- Baselines ---------------------------------------------------------------------------------- */

/* The regret of playing `action` in a round; n_actions: of playing each with equal probability. */
static tacit_status cost(const table *t, uint64_t k, uint32_t action, double *gap)
{
    tacit_visitor v;
    double reward = 0;
    tacit_status status = begin(t, k, &v);
    if (status == TACIT_OK && v.means == NULL)
        status = tacit_rounds_reward(t->rounds, v.logged_action, &reward);
    if (status != TACIT_OK)
        return status;
    if (t->log != NULL) {
        const tacit__log_line line = line_of(&v, reward);
        tacit__log_value_add(t->log, &line, action);
    }
    *gap = 0;
    if (action < t->n_actions) {
        *gap = gap_of(t, &v, action, reward);
    } else {
        for (uint32_t a = 0; a < t->n_actions; a++)
            *gap += gap_of(t, &v, a, reward) / (double)t->n_actions;
    }
    return TACIT_OK;
}

/* The action with the least regret over all rounds, where all rewards are known. */
static tacit_status best_action(const table *t, uint32_t *out)
{
    double *sums = tacit__alloc(t->n_actions, sizeof *sums);
    tacit_status status = sums != NULL ? TACIT_OK : TACIT_NO_MEMORY;
    for (uint64_t k = 0; k < t->n_rounds && status == TACIT_OK && !stopped(t); k++) {
        tacit_visitor v;
        status = begin(t, k, &v);
        /* the largest reward; what the best in each round would have got is the same for all */
        for (uint32_t a = 0; status == TACIT_OK && a < t->n_actions; a++)
            sums[a] += v.means[a];
    }
    *out = 0;
    for (uint32_t a = 1; status == TACIT_OK && a < t->n_actions; a++)
        *out = sums[a] > sums[*out] ? a : *out;
    tacit__free(sums);
    return status;
}

static tacit_status measure(const table *t, const char *kind, tacit_job *job, tacit_error *err)
{
    score s = {0};
    uint32_t action = (uint32_t)t->n_actions;
    bool optimal = strcmp(kind, "optimal") == 0;
    tacit_status status = TACIT_OK;
    if (strcmp(kind, "constant") == 0 && t->log != NULL)
        action = t->constant;
    else if (strcmp(kind, "constant") == 0)
        status = best_action(t, &action);
    for (uint64_t k = 0; k < t->n_rounds && status == TACIT_OK; k++) {
        double gap = 0;
        if (stopped(t))
            return TACIT_OK;
        if (!optimal)
            status = cost(t, k, action, &gap);
        add_round(t, &s, k, gap);
    }
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    finish(t, &s, job);
    return TACIT_OK;
}

tacit_status tacit__rounds_play(const tacit__lab_world *lab_world, size_t agent, uint64_t run,
                                tacit__worker_slot *slot, double *curve, tacit_job *job,
                                tacit_error *err)
{
    TACIT__REQUIRE(lab_world != NULL && slot != NULL && curve != NULL && job != NULL);
    const tacit_experiment_facts *facts = &lab_world->experiment->facts;
    const tacit_entry *entry = &facts->agents[agent];
    uint64_t tenth = facts->episodes / 10;
    table t = {.lab_world = lab_world,
               .n_actions = tacit_world_describe(lab_world->world)->n_actions,
               .n_rounds = facts->episodes,
               .late = facts->episodes - (tenth > 0 ? tenth : 1),
               .curve = curve,
               .slot = slot};
    tacit_noise *root = NULL;
    tacit_agent *learner = NULL;
    tacit_status status = tacit__seed_world(
        facts->seed, run, lab_world->experiment->names[lab_world->number].key, &root);
    if (status == TACIT_OK)
        status = tacit_rounds_create(lab_world->world, root, &t.rounds, err);
    const tacit_visitors *visitors = &facts->worlds[lab_world->number].visitors;
    if (status == TACIT_OK && visitors->people > 0)
        status = tacit__people_order_create(visitors, root, &t.order, err);
    tacit_noise_destroy(root);
    if (status == TACIT_OK && strcmp(entry->kind, "optimal") != 0)
        status = survey(&t, err);
    if (status != TACIT_OK) {
        status = tacit__fail_plain(err, status);
    } else if (entry->baseline) {
        status = measure(&t, entry->kind, job, err);
    } else {
        status = tacit_experiment_agent(lab_world->experiment, lab_world->number, lab_world->world,
                                        agent, run, &learner, err);
        if (status == TACIT_OK)
            status = learn(&t, learner, job, err);
    }
    tacit_agent_destroy(learner);
    tacit__log_value_destroy(t.log);
    tacit__people_order_destroy(t.order);
    tacit_rounds_destroy(t.rounds);
    return status;
}
