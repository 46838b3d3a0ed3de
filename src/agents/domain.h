/* The declared domain of users, and how what lies outside is clipped into it: `outside: clip`.
 *
 * A user outside the domain is either refused, and takes no place in line, or clipped, and counts like
 * everybody else. Clipping is the same function of the user's own data for every learner, it comes
 * before the learner sees anything, and what it gives lies in the domain. Replacing a user who was
 * clipped is therefore replacing one user of the domain by another: no sensitivity changes, and neither
 * do release plans, noise, or saved states. It changes whether a user counts: always.
 * docs/why/counting.md has the table.
 *
 * Rewards of a declared range are mapped to [0, 1] here, and episodes that end early go on in their end
 * (agents/agent_users.c), with the same argument: both are functions of the user's own data, and of the
 * billboard, into the users with rewards in [0, 1] and a full horizon, for whom all sensitivities are
 * proved. */
#ifndef TACIT_AGENTS_DOMAIN_H
#define TACIT_AGENTS_DOMAIN_H

#include <tacit/agent.h>

/* The domain of users that a request declares. */
typedef struct tacit__domain {
    size_t n_states, n_actions, horizon;
    size_t dimension;     /* of a vector of features; 0: users bring none */
    size_t per_situation; /* numbers: vectors of all actions, or of the context alone */
    size_t situations;    /* whose features a trajectory has */
    double bound;         /* on the length of a vector */
    bool simplex;         /* vectors have no negative number and sum to 1 */
    double reward_low, reward_high;
} tacit__domain;

tacit__domain tacit__domain_of(const tacit_agent_request *q);

/* Returns how many numbers users bring with each situation; 0: states are numbered. */
size_t tacit__domain_brought(const tacit_agent_request *q);

/* Each clips in place, and says whether it had to. An index is below n, which is not 0: one beyond
 * becomes the last. A reward that is no number becomes the middle, which says nothing. A vector that is
 * too long is shortened; one with a number that is not finite becomes 0, or uniform on the
 * simplex. */
bool tacit__domain_clip_index(uint32_t *index, size_t n);
bool tacit__domain_clip_reward(const tacit__domain *domain, double *reward);
bool tacit__domain_clip_features(const tacit__domain *domain,
                                 double *features /* of a situation */);

/* A reward of the range as a number in [0, 1]; monotone, and exactly 0 and 1 at the ends. */
double tacit__domain_unit_reward(const tacit__domain *domain, double reward);
/* The mean reward of a user in [0, 1], over the whole horizon: rewards outside the range are clipped, and
 * after an early end they are 0. */
double tacit__domain_mean_reward(const tacit__domain *domain, const tacit_trajectory *user);

/* Room for a copy of one user, who stays as they are. */
typedef struct tacit__clipper tacit__clipper;

/* `ahead`: the learner looks at the state after the last step in bandit worlds, too. */
TACIT_MUST_USE tacit_status tacit__clipper_create(const tacit_agent_request *request, bool ahead,
                                                  tacit__clipper **out);
void tacit__clipper_destroy(tacit__clipper *clipper); /* accepts NULL */

const tacit__domain *tacit__clipper_domain(const tacit__clipper *clipper);

/* The user or the situation as it is to be used, valid until the next call; *clipped: it is another one.
 * Rewards are in [0, 1]; from step `length` on the user stays where they were then, without a reward and
 * with action 0. */
tacit_trajectory tacit__clipper_user(tacit__clipper *clipper, const tacit_trajectory *user,
                                     size_t length, bool *clipped);
/* The same without clipping: what lies outside stays so. */
tacit_trajectory tacit__clipper_copy(tacit__clipper *clipper, const tacit_trajectory *user,
                                     size_t length);
/* The actions of that copy. */
uint32_t *tacit__clipper_actions(tacit__clipper *clipper);
tacit_situation tacit__clipper_situation(tacit__clipper *clipper, const tacit_situation *situation,
                                         bool *clipped);
/* Forgets the copy: it is a person's. */
void tacit__clipper_wipe(tacit__clipper *clipper);

#endif
