/* Walks through a finite process. See include/tacit/world.h for the contract. */
#ifndef TACIT_WORLDS_WALK_H
#define TACIT_WORLDS_WALK_H

#include <tacit/world.h>

#include "noise/stream.h"
#include "worlds/mdp.h"

/* Words of a group of episodes, horizon + 1 for each. */
typedef struct tacit__chance {
    tacit__site site;
    uint64_t *words;
    uint64_t drawn; /* the group that `words` holds, plus one; 0: none */
} tacit__chance;

/* Inside, so that the lab can inline a step into its own loop. */
struct tacit_walk {
    const tacit__mdp *mdp;
    tacit__chance world, choice; /* what happens, and what a mixed policy does */
    size_t group, n_words;       /* episodes, and words, drawn together */
    const uint64_t *word;        /* the next one of this episode */
    size_t step;                 /* steps taken in this episode; horizon: none is left */
    tacit__site people;          /* where people begin who come back */
    uint64_t person;             /* who comes next, plus one; 0: somebody new */
    uint32_t state;
};

TACIT_MUST_USE tacit_status tacit__walk_create(const tacit__mdp *mdp, tacit_noise *root,
                                               tacit_walk **out, tacit_error *err);

/* The following episodes are visits of this person, below 2^62: all begin in the same state, which is drawn
 * from the root and the person's number alone. */
void tacit__walk_set_person(tacit_walk *walk, uint64_t person);

/* Episode < 2^62. Returns its first state. */
uint32_t tacit__walk_begin(tacit_walk *walk, uint64_t episode);

/* The next state and the reward of a row, from one word. */
TACIT__INLINE uint32_t tacit__mdp_draw(const tacit__mdp *mdp, size_t row, uint64_t word,
                                       double *reward)
{
    uint32_t start = mdp->start[row], n = mdp->start[row + 1] - start, which;
    const tacit__bucket *buckets = mdp->bucket + start;
    uint32_t i = tacit__alias_bucket(buckets, n, word, &which);
    if (mdp->outcome_reward == NULL)
        *reward = mdp->reward[row];
    else
        *reward = mdp->outcome_reward[start + (which == 0 ? i : mdp->other[start + i])];
    return buckets[i].value[which];
}

/* One step, unchecked: action in range, fewer than `horizon` steps so far. Returns the next state. */
TACIT__INLINE uint32_t tacit__walk_step(tacit_walk *walk, uint32_t action, double *reward)
{
    const tacit__mdp *mdp = walk->mdp;
    size_t layer = mdp->n_layers == 1 ? 0 : walk->step;
    size_t row = (layer * mdp->n_states + walk->state) * mdp->n_actions + action;
    walk->state = tacit__mdp_draw(mdp, row, *walk->word++, reward);
    walk->step++;
    return walk->state;
}

#endif
