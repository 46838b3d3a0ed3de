/* Walks: chance from a stream of its own, one word for the first state and one for each step.
 *
 * Episode e has words (e mod g)(horizon + 1) and following of step e / g of the site "walk", and as many
 * of the site "walk: choices" for the actions of a mixed policy. g episodes are drawn with one call,
 * because ChaCha20 in large pieces costs a fifth per word of what it costs in small ones. Which words an
 * episode gets follows from its number alone, so what an agent does never changes another's draws, nor its
 * own in a later episode. */
#include "worlds/walk.h"

#include "base/error.h"
#include "base/workspace.h"

enum {
    GROUP_WORDS = 512, /* measured: from 4 kB on a word costs no less */
    ROUND_WORDS = 64   /* 512 bytes, the widest piece of libsodium's ChaCha20 */
};

tacit_status tacit__walk_create(const tacit__mdp *mdp, tacit_noise *root, tacit_walk **out,
                                tacit_error *err)
{
    TACIT__REQUIRE(root != NULL && mdp->horizon > 0);
    const size_t per_episode = mdp->horizon + 1;
    tacit_walk w = {.mdp = mdp,
                    .group = per_episode < GROUP_WORDS ? GROUP_WORDS / per_episode : 1,
                    .step = mdp->horizon};
    w.n_words = (w.group * per_episode + ROUND_WORDS - 1) / ROUND_WORDS * ROUND_WORDS;
    tacit_walk *walk = TACIT__WORKSPACE(w, TACIT__PIECE(w.world.words, w.n_words),
                                        TACIT__PIECE(w.choice.words, w.n_words));
    if (walk == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__site_open(&walk->world.site, root, "walk");
    tacit__site_open(&walk->choice.site, root, "walk: choices");
    tacit__site_open(&walk->people, root, "walk: people");
    *out = walk;
    return TACIT_OK;
}

void tacit_walk_destroy(tacit_walk *walk)
{
    tacit__workspace_destroy(walk);
}

/* The words of an episode. */
static const uint64_t *words_of(const tacit_walk *walk, tacit__chance *chance, uint64_t episode)
{
    TACIT__REQUIRE(episode >> 62 == 0);
    uint64_t group = episode / walk->group;
    if (chance->drawn != group + 1) {
        tacit__site_words(&chance->site, group, 0, walk->n_words, chance->words);
        chance->drawn = group + 1;
    }
    return chance->words + episode % walk->group * (walk->mdp->horizon + 1);
}

uint32_t tacit__walk_begin(tacit_walk *walk, uint64_t episode)
{
    TACIT__REQUIRE(episode >> 62 == 0);
    const tacit__mdp *mdp = walk->mdp;
    walk->word = words_of(walk, &walk->world, episode);
    walk->step = 0;
    uint64_t first = *walk->word++;
    if (walk->person > 0 && mdp->n_initial > 1)
        tacit__site_words(&walk->people, walk->person - 1, 0, 1, &first);
    walk->state = tacit__alias_draw(mdp->initial_bucket, (uint32_t)mdp->n_initial, first);
    return walk->state;
}

void tacit__walk_set_person(tacit_walk *walk, uint64_t person)
{
    TACIT__REQUIRE(person >> 62 == 0);
    walk->person = person + 1;
}

tacit_status tacit_walk_begin(tacit_walk *walk, uint64_t episode, uint32_t *state)
{
    if (walk == NULL || state == NULL || episode >> 62 != 0)
        return TACIT_BAD_ARGUMENT;
    *state = tacit__walk_begin(walk, episode);
    return TACIT_OK;
}

tacit_status tacit_walk_step(tacit_walk *walk, uint32_t action, uint32_t *state, double *reward)
{
    if (walk == NULL || state == NULL || reward == NULL || action >= walk->mdp->n_actions)
        return TACIT_BAD_ARGUMENT;
    if (walk->step >= walk->mdp->horizon)
        return TACIT_EXHAUSTED;
    *state = tacit__walk_step(walk, action, reward);
    return TACIT_OK;
}

tacit_status tacit_walk_play(tacit_walk *walk, uint64_t episode, const uint32_t *policy,
                             uint32_t *states, uint32_t *actions, double *rewards)
{
    if (walk == NULL || policy == NULL || states == NULL || actions == NULL || rewards == NULL ||
        episode >> 62 != 0)
        return TACIT_BAD_ARGUMENT;
    const tacit__mdp *mdp = walk->mdp;
    size_t S = mdp->n_states, A = mdp->n_actions, H = mdp->horizon;
    size_t first = 0, layer = mdp->n_layers == 1 ? 0 : S * A; /* rows */
    uint32_t state = states[0] = tacit__walk_begin(walk, episode);
    const uint64_t *word =
        walk->word; /* locals: the arrays of the caller could be the walk's own */
    walk->step = H;
    for (size_t h = 0; h < H; h++, first += layer) {
        uint32_t action = policy[h * S + state];
        if (action >= A)
            return TACIT_BAD_ARGUMENT;
        actions[h] = action;
        state = tacit__mdp_draw(mdp, first + state * A + action, word[h], &rewards[h]);
        states[h + 1] = state;
    }
    return TACIT_OK;
}

/* The action whose share of [0, 1) the word falls into; what rounding leaves at the end is the last likely
 * one's. n: no action is likely. */
static uint32_t choose(const double *prob, size_t n, uint64_t word)
{
    double u = (double)(word >> 11) * 0x1p-53, sum = 0;
    uint32_t chosen = (uint32_t)n;
    for (uint32_t a = 0; a < n && !(u < sum); a++) {
        sum += prob[a];
        chosen = prob[a] > 0 ? a : chosen;
    }
    return chosen;
}

tacit_status tacit_walk_play_mixed(tacit_walk *walk, uint64_t episode, const double *mixed,
                                   uint32_t *states, uint32_t *actions, double *rewards)
{
    if (walk == NULL || mixed == NULL || states == NULL || actions == NULL || rewards == NULL ||
        episode >> 62 != 0)
        return TACIT_BAD_ARGUMENT;
    size_t S = walk->mdp->n_states, A = walk->mdp->n_actions, H = walk->mdp->horizon;
    const uint64_t *choice = words_of(walk, &walk->choice, episode);
    states[0] = tacit__walk_begin(walk, episode);
    for (size_t h = 0; h < H; h++, mixed += S * A) {
        actions[h] = choose(mixed + states[h] * A, A, choice[h]);
        if (actions[h] >= A) {
            walk->step = H; /* nothing goes on from here */
            return TACIT_BAD_ARGUMENT;
        }
        states[h + 1] = tacit__walk_step(walk, actions[h], &rewards[h]);
    }
    return TACIT_OK;
}
