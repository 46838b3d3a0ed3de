#include "serve/episode.h"

#include <string.h>

enum {
    DECIDED = 1,
    REWARDED = 2,
    REACHED = 4
}; /* REACHED: the state is known from the step before */

size_t tacit__episode_size(const tacit__learner_config *c)
{
    size_t h = c->request.horizon;
    return h * sizeof(double) + (h + 1) * c->per_user * sizeof(double) +
           (2 * h + 1) * sizeof(uint32_t) + h + 1;
}

tacit__episode tacit__episode_view(const tacit__learner_config *c, void *bytes)
{
    size_t h = c->request.horizon;
    tacit__episode e = {.config = c, .rewards = bytes};
    e.features = e.rewards + h;
    e.states = (uint32_t *)(void *)(e.features + (h + 1) * c->per_user);
    e.actions = e.states + h + 1;
    e.known = (uint8_t *)(e.actions + h);
    return e;
}

static double *features_at(const tacit__episode *e, size_t step)
{
    return e->features + step * e->config->per_user;
}

static bool same_place(const tacit__episode *e, size_t step, uint32_t state, const double *features)
{
    size_t n = e->config->per_user;
    return n > 0 ? memcmp(features_at(e, step), features, n * sizeof *features) == 0
                 : e->states[step] == state;
}

static void set_place(tacit__episode *e, size_t step, uint32_t state, const double *features)
{
    e->states[step] = state;
    if (e->config->per_user > 0)
        memcpy(features_at(e, step), features, e->config->per_user * sizeof *features);
}

static bool contradicts(const tacit__episode *e, const tacit__told *t, const char **field)
{
    uint8_t here = e->known[t->step], next = e->known[t->step + 1];
    *field = "decision";
    if ((here & DECIDED) &&
        (!same_place(e, t->step, t->state, t->features) || e->actions[t->step] != t->action))
        return true; /* another decision of this step was used */
    if ((here & REACHED) && !same_place(e, t->step, t->state, t->features))
        return true;
    *field = "reward";
    if (t->has_reward && (here & REWARDED) && e->rewards[t->step] != t->reward)
        return true;
    *field = "next_state";
    return t->has_next && (next & (DECIDED | REACHED)) &&
           !same_place(e, t->step + 1, t->next_state, t->next_features);
}

bool tacit__episode_tell(tacit__episode *e, const tacit__told *t, const char **field)
{
    if (contradicts(e, t, field))
        return false;
    set_place(e, t->step, t->state, t->features);
    e->actions[t->step] = t->action;
    e->known[t->step] |= DECIDED;
    if (t->has_reward) {
        e->rewards[t->step] = t->reward;
        e->known[t->step] |= REWARDED;
    }
    if (t->has_next) {
        set_place(e, t->step + 1, t->next_state, t->next_features);
        e->known[t->step + 1] |= REACHED;
    }
    return true;
}

void tacit__episode_count(tacit__episode *e, const tacit__told *t)
{
    const size_t h = e->config->request.horizon, all = tacit__episode_size(e->config);
    memset(e->rewards, 0, all - (h + 1)); /* the marks are the last h + 1 bytes */
    e->known[t->step] |= (uint8_t)(DECIDED | (t->has_reward ? REWARDED : 0));
    if (t->has_next)
        e->known[t->step + 1] |= REACHED;
}

size_t tacit__episode_length(const tacit__episode *e)
{
    size_t n = 0;
    while (n < e->config->request.horizon && (e->known[n] & DECIDED))
        n++;
    return n;
}

bool tacit__episode_is_finished(const tacit__episode *e)
{
    size_t h = e->config->request.horizon;
    for (size_t i = 0; i < h; i++)
        if ((e->known[i] & (DECIDED | REWARDED)) != (DECIDED | REWARDED))
            return false;
    return h == 1 || (e->known[h] & REACHED); /* with one step, where it led is nobody's concern */
}

tacit_trajectory tacit__episode_trajectory(const tacit__episode *e)
{
    size_t h = e->config->request.horizon;
    if (h == 1 && !(e->known[1] & REACHED)) {
        e->states[1] = e->states[0];
        if (e->config->per_user > 0)
            memcpy(features_at(e, 1), features_at(e, 0), e->config->per_user * sizeof *e->features);
    }
    return (tacit_trajectory){.states = e->states,
                              .actions = e->actions,
                              .rewards = e->rewards,
                              .features = e->config->per_user > 0 ? e->features : NULL};
}

double tacit__episode_mean(const tacit__episode *e)
{
    double sum = 0;
    for (size_t i = 0; i < e->config->request.horizon; i++)
        sum += e->rewards[i];
    return sum / (double)e->config->request.horizon;
}
