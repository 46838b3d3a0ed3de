/* Many users in one call. See include/tacit/agent.h. */
#include <tacit/agent.h>

#include "agents/agent_inside.h"
#include "base/error.h"

/* Returns where the arrays of user i begin. */
static tacit_trajectory user_at(const tacit_agent *agent, const tacit_trajectories *users, size_t i)
{
    const size_t H = agent->facts.horizon;
    tacit_trajectory user = {.actions = users->actions + i * H, .rewards = users->rewards + i * H};
    user.length = users->lengths != NULL ? users->lengths[i] : 0;
    if (users->states != NULL)
        user.states = users->states + i * (H + 1);
    if (users->features != NULL)
        user.features = users->features + i * agent->situations * agent->facts.per_situation;
    return user;
}

tacit_status tacit_agent_learn_many(tacit_agent *agent, size_t n, const tacit_trajectories *users,
                                    size_t *learned, tacit_error *err)
{
    if (agent == NULL || users == NULL || learned == NULL ||
        (n > 0 && (users->actions == NULL || users->rewards == NULL ||
                   (users->states == NULL && users->features == NULL))))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "users have actions, rewards, and states or features");
    bool cut = false;
    tacit_status status = TACIT_OK;
    *learned = 0;
    while (*learned < n && status == TACIT_OK) {
        const tacit_trajectory user = user_at(agent, users, *learned);
        status = tacit_agent_learn(agent, &user, err);
        *learned += status == TACIT_OK;
        cut = cut || (status == TACIT_OK && agent->was_cut);
    }
    agent->was_cut = cut;
    return status;
}

tacit_status tacit_agent_act_many(tacit_agent *agent, size_t n, size_t step, const uint32_t *states,
                                  const double *features, const double *chances, uint32_t *actions,
                                  double *probabilities, size_t *acted, tacit_error *err)
{
    if (agent == NULL || acted == NULL ||
        (n > 0 && (actions == NULL || (states == NULL && features == NULL))))
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "users have states or features, and actions");
    bool cut = false;
    tacit_status status = TACIT_OK;
    *acted = 0;
    while (*acted < n && status == TACIT_OK) {
        const size_t i = *acted;
        const tacit_situation situation = {
            .step = step,
            .state = states != NULL ? states[i] : 0,
            .features = features != NULL ? features + i * agent->facts.per_situation : NULL};
        uint32_t action;
        double probability;
        status = tacit_agent_act(agent, &situation, chances != NULL ? chances[i] : 0, &action,
                                 &probability, err);
        if (status != TACIT_OK)
            break;
        actions[i] = action;
        if (probabilities != NULL)
            probabilities[i] = probability;
        cut = cut || agent->was_cut;
        (*acted)++;
    }
    agent->was_cut = cut;
    return status;
}
