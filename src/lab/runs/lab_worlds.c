/* Worlds are created once and shared by all jobs; agents are created for each job, and once before the
 * first. */
#include "lab/runs/lab_worlds.h"

#include <stdio.h>
#include <string.h>

#include "account/plan_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "lab/baseline.h"
#include "lab/experiment.h"

/* The results outlive the world, so they have a copy of its facts. */
static void copy_facts(tacit_results *results, size_t number, const tacit_world_facts *space)
{
    TACIT__REQUIRE(number < results->experiment->facts.n_worlds);
    tacit_world_facts *facts = &results->worlds[number];
    char *remark = results->remarks[number];
    (void)snprintf(remark, sizeof *results->remarks, "%s",
                   space->remark != NULL ? space->remark : "");
    *facts = *space;
    facts->remark = remark;
    facts->rewards = NULL;
    facts->mixture = NULL;
    facts->linear = NULL;
    facts->bandit = NULL;
}

/* Where something can be planned without data, results show what that is worth, or say that they do not. */
static void remark_no_data(const tacit__lab_world *w, tacit_results *results)
{
    const tacit_experiment *e = w->experiment;
    bool learners = false, played = false;
    for (size_t i = 0; i < e->facts.n_agents; i++)
        if (tacit_experiment_plays(e, w->number, i)) {
            learners = learners || !e->agents[i].baseline;
            played = played || strcmp(e->agents[i].kind, "no-data") == 0;
        }
    if (!learners || played || !tacit__no_data_fits(w->world))
        return;
    char *remark = results->remarks[w->number];
    const size_t used = strlen(remark);
    (void)snprintf(remark + used, sizeof *results->remarks - used,
                   "%skernels and rewards are known; '- {kind: no-data}' among the agents shows "
                   "what that is worth without learning",
                   used > 0 ? "; " : "");
}

/* A world made from people in a file has no more of them; without visitors, each comes once. */
static tacit_status check_people(const tacit__lab_world *lab_world, const tacit_world_facts *space,
                                 tacit_error *err)
{
    const tacit_experiment *e = lab_world->experiment;
    const tacit_world_entry *world = &e->worlds[lab_world->number];
    const bool come_back = world->visitors.people > 0;
    const uint64_t people = come_back ? world->visitors.people : e->facts.episodes;
    if (space->people == 0 || people <= space->people)
        return TACIT_OK;
    return tacit__yaml_fail(e->yaml, world->line, err, TACIT_SYNTAX,
                            "%llu %s, but '%.80s' has %llu people%s; ask for at most that many",
                            (unsigned long long)people, come_back ? "visitors" : "episodes",
                            world->label, (unsigned long long)space->people,
                            come_back ? "" : ", each of whom comes once");
}

static tacit_status set_world(tacit__lab_world *lab_world, tacit_results *results, tacit_error *err)
{
    TRY(tacit_experiment_world(lab_world->experiment, lab_world->number, &lab_world->world, err));
    const tacit_world_facts *space = tacit_world_describe(lab_world->world);
    lab_world->unit = space->reward_high - space->reward_low;
    lab_world->at = results->at;
    tacit_status status = check_people(lab_world, space, err);
    if (status == TACIT_OK)
        copy_facts(results, lab_world->number, space);
    if (status == TACIT_OK)
        remark_no_data(lab_world, results);
    return status;
}

tacit_status tacit__lab_worlds_solve(tacit__lab_world *lab_worlds, tacit_results *results,
                                     tacit_error *err)
{
    TACIT__REQUIRE(lab_worlds != NULL && results != NULL);
    for (size_t i = 0; i < results->experiment->facts.n_worlds; i++) {
        tacit__lab_world *w = &lab_worlds[i];
        TRY(tacit__baseline_value("optimal", w->world, &w->optimal, err));
        results->optimal[i] = tacit_world_original_value(w->world, w->optimal);
    }
    return TACIT_OK;
}

tacit_status tacit__lab_worlds_create(tacit_results *results, atomic_bool *stop,
                                      tacit__lab_world **out, tacit_error *err)
{
    TACIT__REQUIRE(results != NULL && stop != NULL && out != NULL);
    size_t n = results->experiment->facts.n_worlds;
    tacit__lab_world *lab_worlds = tacit__alloc(n, sizeof *lab_worlds);
    if (lab_worlds == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < n && status == TACIT_OK; i++) {
        lab_worlds[i] =
            (tacit__lab_world){.experiment = results->experiment, .number = i, .stop = stop};
        status = set_world(&lab_worlds[i], results, err);
    }
    if (status == TACIT_OK)
        *out = lab_worlds;
    else
        tacit__lab_worlds_destroy(lab_worlds, n);
    return status;
}

void tacit__lab_worlds_destroy(tacit__lab_world *lab_worlds, size_t n)
{
    for (size_t i = 0; lab_worlds != NULL && i < n; i++)
        tacit_world_destroy(lab_worlds[i].world);
    tacit__free(lab_worlds);
}

/* An agent that fits into one world of several may not fit into another. */
static tacit_status fail_in(const tacit_experiment *e, size_t world, tacit_status status,
                            tacit_error *err)
{
    TACIT__REQUIRE(world < e->facts.n_worlds);
    if (e->facts.n_worlds > 1 && err != NULL && status != TACIT_NO_MEMORY) {
        size_t used = strlen(err->message);
        (void)snprintf(err->message + used, sizeof err->message - used,
                       " (in world '%.80s'; `worlds: [...]` says where an agent plays)",
                       e->worlds[world].label);
    }
    return status;
}

/* Creates an agent as it will play, and keeps what is known about it. */
static tacit_status check_agent(const tacit__lab_world *lab_worlds, tacit_results *results,
                                size_t pair, tacit_error *err)
{
    const tacit_experiment *e = results->experiment;
    tacit_agent *agent = NULL;
    tacit__part *part = &results->parts[pair];
    const uint32_t world = e->pairs[pair].world;
    const tacit_entry *entry = &e->agents[e->pairs[pair].agent];
    (void)snprintf(part->kind, sizeof part->kind, "%s", entry->kind);
    if (strcmp(entry->kind, "no-data") == 0 && !tacit__no_data_fits(lab_worlds[world].world))
        return tacit__yaml_fail(e->yaml, entry->line, err, TACIT_UNSUPPORTED,
                                "no-data plans with known kernels and known rewards, and '%.80s' "
                                "has no such; uniform is what can be done there without data",
                                e->worlds[world].label);
    if (entry->baseline)
        return TACIT_OK;
    TRY(tacit_experiment_agent(e, world, lab_worlds[world].world, e->pairs[pair].agent, 0, &agent,
                               err));
    (void)snprintf(part->kind, sizeof part->kind, "%s", tacit_agent_kind_of(agent)->name);
    (void)snprintf(part->remark, sizeof part->remark, "%s", tacit_agent_remark(agent));
    const tacit_plan *plan = tacit_agent_release_plan(agent);
    tacit_status status = TACIT_OK;
    if (plan != NULL && entry->guarantee.model != TACIT_MODEL_NONE)
        status = tacit__plan_copy(plan, &part->plan);
    tacit_agent_destroy(agent);
    return status == TACIT_OK ? TACIT_OK : tacit__fail_plain(err, status);
}

/* Private agents come first: they need the most memory, and refuse large worlds at once, where those without
 * privacy may take a minute to be built. */
tacit_status tacit__check_agents(const tacit__lab_world *lab_worlds, tacit_results *results,
                                 tacit_error *err)
{
    TACIT__REQUIRE(lab_worlds != NULL && results != NULL);
    const tacit_experiment *e = results->experiment;
    for (int pass = 0; pass < 2; pass++)
        for (size_t pair = 0; pair < e->n_pairs; pair++) {
            const tacit_entry *entry = &e->agents[e->pairs[pair].agent];
            if ((entry->guarantee.model == TACIT_MODEL_NONE) != (pass == 1))
                continue;
            const tacit_status status = check_agent(lab_worlds, results, pair, err);
            if (status != TACIT_OK)
                return fail_in(e, e->pairs[pair].world, status, err);
        }
    return TACIT_OK;
}
