/* Worlds: the list of kinds, and the public face. See include/tacit/world.h. */
#include <tacit/world.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "text/nearest.h"
#include "worlds/custom_worlds.h"
#include "worlds/kind.h"
#include "worlds/walk.h"

struct tacit_world {
    tacit_world_facts facts;
    tacit__model model;
    char remark[160]; /* of a finite process */
};

static const tacit__kind *const kinds[] = {
    &tacit__kind_riverswim,     &tacit__kind_random_tabular, &tacit__kind_grid,
    &tacit__kind_deep_sea,      &tacit__kind_table,          &tacit__kind_random_mixture,
    &tacit__kind_lock,          &tacit__kind_random_linear,  &tacit__kind_kernel_bandit,
    &tacit__kind_linear_bandit, &tacit__kind_logged_bandit,  &tacit__kind_reference,
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* The kinds of the library, then those of the program. */
static const tacit__kind *kind_at(size_t i)
{
    return i < N_KINDS ? kinds[i] : tacit__custom_kind(i - N_KINDS);
}

size_t tacit_world_kind_count(void)
{
    return N_KINDS + tacit__custom_kind_count();
}

const tacit_world_kind *tacit_world_kind_at(size_t i)
{
    const tacit__kind *kind = kind_at(i);
    return kind != NULL ? &kind->face : NULL;
}

static const tacit__kind *find(const char *name)
{
    for (size_t i = 0; i < tacit_world_kind_count(); i++)
        if (strcmp(kind_at(i)->face.name, name) == 0)
            return kind_at(i);
    return NULL;
}

const tacit_world_kind *tacit_world_kind_find(const char *name)
{
    const tacit__kind *kind = name != NULL ? find(name) : NULL;
    return kind != NULL ? &kind->face : NULL;
}

static tacit_status fail_kind(const tacit_world_request *request, tacit_error *err)
{
    const char *names[N_KINDS + TACIT__MAX_CUSTOM_KINDS];
    size_t n = tacit_world_kind_count();
    for (size_t i = 0; i < n; i++)
        names[i] = kind_at(i)->face.name;
    const char *near = tacit__nearest(request->kind, names, n);
    for (size_t i = 0; near == NULL && i < n; i++) {
        const tacit_world_kind *face = &kind_at(i)->face;
        if (tacit__is_about(request->kind, face->name, face->help, face->source))
            near = face->name;
    }
    return tacit__fail_at(err, TACIT_BAD_ARGUMENT, request->file, (size_t)request->line,
                          "no world is called '%.40s'%s%s%s; `tacit worlds` lists them",
                          request->kind, near != NULL ? " (did you mean '" : "",
                          near != NULL ? near : "", near != NULL ? "'?)" : "");
}

static bool is_whole(const tacit_world_request *request)
{
    if (request == NULL || request->kind == NULL || request->line < 0 ||
        (request->settings == NULL && request->n_settings > 0))
        return false;
    for (size_t i = 0; i < request->n_settings; i++)
        if (request->settings[i].key == NULL || request->settings[i].value == NULL ||
            request->settings[i].line < 0)
            return false;
    return true;
}

/* Derives what follows from the process. */
static tacit_status complete_bandit(tacit_world *world, const tacit__kind *kind)
{
    const tacit__bandit *b = world->model.bandit;
    world->facts = (tacit_world_facts){
        .kind = &kind->face,
        .family = kind->family,
        .n_states = b->n_contexts,
        .n_actions = b->n_actions,
        .horizon = 1,
        .stationary = true,
        .reward_low = b->reward_low,
        .reward_high = b->reward_high,
        .optimal_value = b->optimal,
        .bandit = &b->face,
        .people = b->people,
        .labeled = b->labeled,
        .remark = b->remark,
    };
    return TACIT_OK;
}

static const char *remark_of(tacit_world *world)
{
    const tacit__mdp *mdp = world->model.mdp;
    if (mdp->n_unreachable > 0)
        (void)snprintf(world->remark, sizeof world->remark,
                       "states that no policy reaches within the horizon: %zu of %zu, the first is "
                       "%lu; learners count them anyway",
                       mdp->n_unreachable, mdp->n_states, (unsigned long)mdp->unreachable[0]);
    return world->remark;
}

static tacit_status complete(tacit_world *world, const tacit__kind *kind, tacit_error *err)
{
    const tacit__mdp *mdp = world->model.mdp;
    if (world->model.bandit != NULL)
        return complete_bandit(world, kind);
    double *scratch = tacit__alloc(2 * mdp->n_states, sizeof *scratch);
    if (scratch == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    world->facts = (tacit_world_facts){
        .kind = &kind->face,
        .family = kind->family,
        .n_states = mdp->n_states,
        .n_actions = mdp->n_actions,
        .horizon = mdp->horizon,
        .stationary = mdp->n_layers == 1,
        .reward_low = mdp->reward_low,
        .reward_high = mdp->reward_high,
        .optimal_value = tacit__mdp_solve(mdp, NULL, NULL, scratch),
        .rewards = world->model.hides_rewards ? NULL : mdp->reward,
        .mixture = world->model.mixture.dimension > 0 ? &world->model.mixture : NULL,
        .linear = world->model.linear.dimension > 0 ? &world->model.linear : NULL,
        .remark = remark_of(world),
    };
    tacit__free(scratch);
    return TACIT_OK;
}

tacit_status tacit_world_create(const tacit_world_request *request, tacit_world **out,
                                tacit_error *err)
{
    if (!is_whole(request) || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit__kind *kind = find(request->kind);
    if (kind == NULL)
        return fail_kind(request, err);
    const tacit__origin origin = {request->file, request->line, kind->face.name};
    tacit__values values;
    TRY(tacit__values_read(kind->face.parameters, kind->face.n_parameters, request->settings,
                           request->n_settings, &origin, &values, err));
    tacit_world *world = tacit__alloc(1, sizeof *world);
    if (world == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = kind->create != NULL
                              ? kind->create(&values, &world->model, err)
                              : tacit__custom_create(kind, &values, &world->model, err);
    if (status == TACIT_OK)
        status = complete(world, kind, err);
    if (status == TACIT_OK)
        *out = world;
    else
        tacit_world_destroy(world);
    return status;
}

void tacit_world_destroy(tacit_world *world)
{
    if (world == NULL)
        return;
    tacit__mdp_destroy(world->model.mdp);
    tacit__workspace_destroy(world->model.features);
    if (world->model.bandit != NULL)
        world->model.bandit->destroy(world->model.bandit->self);
    tacit__free(world->model.bandit);
    tacit__free(world);
}

const tacit_world_facts *tacit_world_describe(const tacit_world *world)
{
    return &world->facts;
}

bool tacit_world_is_terminal(const tacit_world *world, uint32_t state)
{
    const tacit__mdp *m = world != NULL ? world->model.mdp : NULL;
    if (m == NULL || state >= m->n_states || !(m->reward_low <= 0 && m->reward_high >= 0))
        return false;
    const double zero = -m->reward_low / (m->reward_high - m->reward_low), tol = 1e-12;
    bool terminal = true;
    for (size_t layer = 0; layer < m->n_layers && terminal; layer++)
        for (size_t a = 0; a < m->n_actions && terminal; a++) {
            const size_t row = (layer * m->n_states + state) * m->n_actions + a,
                         first = m->start[row];
            terminal = m->start[row + 1] == first + 1 && m->next[first] == state &&
                       fabs(m->reward[row] - zero) <= tol;
        }
    return terminal;
}

const tacit__mdp *tacit__world_mdp(const tacit_world *world)
{
    return world->model.mdp;
}

const tacit__bandit *tacit__world_bandit(const tacit_world *world)
{
    return world->model.bandit;
}

tacit_status tacit__read_rewards(const tacit__values *values, bool *hidden, tacit_error *err)
{
    static const char *const choices[] = {"known", "hidden", NULL};
    const int chosen = tacit__value_choose(values, "rewards", choices, err);
    *hidden = chosen == 1;
    return chosen < 0 ? TACIT_BAD_ARGUMENT : TACIT_OK;
}

size_t tacit__flip_rewards(tacit_outcome *o, size_t n)
{
    size_t all = n;
    for (size_t i = 0; i < n; i++) {
        const tacit_outcome was = o[i];
        const bool sure = was.reward <= 0 || was.reward >= 1;
        o[i].reward = was.reward > 0 ? 1 : 0;
        if (sure)
            continue;
        o[i].prob = was.prob * was.reward;
        o[all++] = (tacit_outcome){was.next, was.prob * (1 - was.reward), 0};
    }
    return all;
}

size_t tacit_world_unreachable(const tacit_world *world, const uint32_t **states)
{
    if (world->model.mdp == NULL)
        return 0;
    if (states != NULL)
        *states = world->model.mdp->unreachable;
    return world->model.mdp->n_unreachable;
}

double tacit_world_original_value(const tacit_world *world, double value)
{
    const tacit_world_facts *facts = &world->facts;
    return facts->reward_low * (double)facts->horizon +
           (facts->reward_high - facts->reward_low) * value;
}

static tacit_status no_process(tacit_error *err)
{
    return tacit__fail(err, TACIT_UNSUPPORTED,
                       "this is a bandit world: users come in rounds, and each round is judged by "
                       "itself");
}

tacit_status tacit_world_solve(const tacit_world *world, uint32_t *policy, double *values,
                               tacit_error *err)
{
    if (world == NULL || policy == NULL || values == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (world->model.mdp == NULL)
        return no_process(err);
    (void)tacit__mdp_solve(world->model.mdp, policy, values, NULL);
    return TACIT_OK;
}

size_t tacit_world_scratch(const tacit_world *world)
{
    return world->model.mdp != NULL ? 2 * world->model.mdp->n_states : 1;
}

tacit_status tacit_world_evaluate(const tacit_world *world, const uint32_t *policy, double *scratch,
                                  double *value)
{
    if (world == NULL || policy == NULL || scratch == NULL || value == NULL)
        return TACIT_BAD_ARGUMENT;
    if (world->model.mdp == NULL)
        return TACIT_UNSUPPORTED;
    size_t n = world->model.mdp->horizon * world->model.mdp->n_states;
    bool in_range = true;
    for (size_t i = 0; i < n; i++)
        in_range &= policy[i] < world->model.mdp->n_actions;
    if (!in_range)
        return TACIT_BAD_ARGUMENT;
    *value = tacit__mdp_evaluate(world->model.mdp, policy, scratch);
    return TACIT_OK;
}

tacit_status tacit_world_evaluate_mixed(const tacit_world *world, const double *mixed,
                                        double *scratch, double *value)
{
    if (world == NULL || mixed == NULL || scratch == NULL || value == NULL)
        return TACIT_BAD_ARGUMENT;
    if (world->model.mdp == NULL)
        return TACIT_UNSUPPORTED;
    *value = tacit__mdp_evaluate_mixed(world->model.mdp, mixed, scratch);
    return TACIT_OK;
}

tacit_status tacit_walk_create(const tacit_world *world, tacit_noise *root, tacit_walk **out,
                               tacit_error *err)
{
    if (world == NULL || root == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (world->model.mdp == NULL)
        return no_process(err);
    return tacit__walk_create(world->model.mdp, root, out, err);
}
