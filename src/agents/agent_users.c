/* Users as learners see them: clipped if that was asked for, with rewards in [0, 1], and with a full
 * horizon.
 *
 * An episode that ended after l < H steps in state s goes on there: it stays in s with the reward 0 for H - l
 * further steps, and takes the actions that the last plan has for s. That is what a user does in a world in
 * which s is never left, so every learner counts the episode as it counts one of that world, and what its
 * paper says about that world holds (docs/why/endings.md).
 *
 * Why the plan's actions, and not one fixed action: an optimistic plan takes what it knows little about for
 * good. If only one action of s were ever seen, the others would look good for ever, and the learner would
 * send people to s. Random plans need a number in [0, 1); it is a hash of the billboard's version and of the
 * user's own steps. Before the first plan the same hash chooses among all actions.
 *
 * No sensitivity changes: what comes out is a function of the user's own data and of the billboard, and lies
 * in the domain of full episodes, so replacing a user by one of another length replaces one full episode by
 * another. Reports of full episodes all have one size, so theirs do. */
#include <string.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "noise/stream.h"

/* --- Expected rewards ------------------------------------------------------------------------------ */

size_t tacit__agent_expected(const tacit_agent_request *request)
{
    return (request->stationary ? 1 : request->horizon) * request->n_states * request->n_actions;
}

tacit_status tacit__agent_map_rewards(tacit_agent *agent, tacit_agent_request *q, tacit_error *err)
{
    const tacit__domain d = tacit__domain_of(q);
    const bool plain = d.reward_low == 0 && d.reward_high == 1;
    q->reward_low = q->reward_high = 0;
    if (q->rewards == NULL || plain)
        return TACIT_OK;
    const size_t n = tacit__agent_expected(q);
    TACIT__REQUIRE(n > 0 && agent->rewards == NULL);
    agent->rewards = tacit__alloc(n, sizeof *agent->rewards);
    if (agent->rewards == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t i = 0; i < n; i++)
        agent->rewards[i] = tacit__domain_unit_reward(&d, q->rewards[i]);
    q->rewards = agent->rewards;
    return TACIT_OK;
}

/* --- Early ends ------------------------------------------------------------------------------------ */

/* Hashes what the numbers of steps after the end are made of. */
static void hash_user(const tacit_agent *agent, const tacit_trajectory *u, size_t length,
                      uint8_t out[TACIT__KEY_BYTES])
{
    const size_t row = agent->facts.per_situation;
    const tacit__bytes parts[] = {
        {&agent->board.version, sizeof agent->board.version},
        {u->actions, length * sizeof *u->actions},
        {u->rewards, length * sizeof *u->rewards},
        {u->states, u->states != NULL ? (length + 1) * sizeof *u->states : 0},
        {u->features, u->features != NULL ? (length + 1) * row * sizeof *u->features : 0}};
    tacit__digest(parts, sizeof parts / sizeof *parts, out);
}

static double chance_at(const uint8_t digest[TACIT__KEY_BYTES], size_t h)
{
    uint8_t mixed[TACIT__KEY_BYTES];
    uint64_t bits;
    tacit__digest((tacit__bytes[]){{digest, TACIT__KEY_BYTES}, {&h, sizeof h}}, 2, mixed);
    memcpy(&bits, mixed, sizeof bits);
    return (double)(bits >> 11) * 0x1p-53;
}

/* The actions after the end, of a user who is copied already. A user who is outside the domain gets
 * any: the family will refuse them. */
static void act_on(tacit_agent *agent, const tacit_trajectory *u, size_t length)
{
    const size_t n = agent->facts.n_actions;
    uint32_t *actions = tacit__clipper_actions(agent->clipper);
    uint8_t digest[TACIT__KEY_BYTES];
    hash_user(agent, u, length, digest);
    for (size_t h = length; h < agent->facts.horizon; h++) {
        const tacit_situation here = {
            .step = h,
            .state = u->states != NULL ? u->states[h] : 0,
            .features = u->features != NULL ? u->features + h * agent->facts.per_situation : NULL};
        const double chance = chance_at(digest, h);
        double probability;
        if (tacit__agent_act_inside(agent, &here, chance, &actions[h], &probability, NULL) !=
                TACIT_OK ||
            actions[h] >= n)
            actions[h] = (uint32_t)(chance * (double)n);
    }
    tacit__wipe(digest, sizeof digest);
}

/* Refuses what nothing clips and families cannot see any more. */
static tacit_status check_user(const tacit_agent *agent, const tacit_trajectory *user,
                               tacit_error *err)
{
    const tacit__domain *d = tacit__clipper_domain(agent->clipper);
    const size_t length = user->length > 0 ? user->length : d->horizon;
    if (length > d->horizon)
        return tacit__fail(err, TACIT_OUT_OF_BOUND,
                           "the episode has more steps than the horizon, %zu", d->horizon);
    if (length < d->horizon && !(d->reward_low <= 0 && d->reward_high >= 0))
        return tacit__fail(err, TACIT_OUT_OF_BOUND,
                           "the episode ends early, after which rewards are 0; but they were "
                           "declared to lie from %g to %g",
                           d->reward_low, d->reward_high);
    for (size_t h = 0; h < length; h++)
        if (!(user->rewards[h] >= d->reward_low && user->rewards[h] <= d->reward_high))
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "step %zu: the reward does not lie from %g to %g", h, d->reward_low,
                               d->reward_high);
    return TACIT_OK;
}

tacit_status tacit__agent_clip_user(tacit_agent *agent, const tacit_trajectory *user,
                                    tacit_trajectory *out, tacit_error *err)
{
    if (agent == NULL || user == NULL || user->actions == NULL || user->rewards == NULL ||
        (user->states == NULL && user->features == NULL))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a user has actions, rewards, and states or features");
    const tacit__domain *d = tacit__clipper_domain(agent->clipper);
    const size_t H = d->horizon, reported = user->length > 0 ? user->length : H,
                 length = reported < H ? reported : H;
    const bool clip = agent->facts.outside == TACIT_OUTSIDE_CLIP;
    agent->was_cut = false;
    if (!clip && reported == H && d->reward_low == 0 && d->reward_high == 1) {
        *out = *user; /* as it is */
        out->length = 0;
        return TACIT_OK;
    }
    if (!clip)
        TRY(check_user(agent, user, err));
    agent->holds_user = true;
    *out = clip ? tacit__clipper_user(agent->clipper, user, length, &agent->was_cut)
                : tacit__clipper_copy(agent->clipper, user, length);
    agent->was_cut = agent->was_cut || reported > H;
    if (length < H)
        act_on(agent, out, length);
    return TACIT_OK;
}

void tacit__agent_wipe_user(tacit_agent *agent)
{
    if (agent->holds_user)
        tacit__clipper_wipe(agent->clipper);
    agent->holds_user = false;
}
