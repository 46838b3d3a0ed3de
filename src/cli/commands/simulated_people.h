/* People of a world, for a learner behind a network. A person is in a situation, which is a number or
 * features, as the learner's space requires; acts; and gets an outcome. Sequential worlds and bandits work
 * alike. */
#ifndef TACIT_CLI_SIMULATED_PEOPLE_H
#define TACIT_CLI_SIMULATED_PEOPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/agent.h>
#include <tacit/world.h>

#include "text/json.h"

/* The space that a billboard describes. */
typedef struct cli_space {
    size_t n_states, n_actions, horizon;
    size_t n_features; /* of each action; 0: states are numbered */
    bool shared;       /* no: the features are the user's alone */
    double bound;      /* no vector of features is longer */
    /* Declared, as in tacit/features.h; for a learner with numbered states as well. */
    bool simplex, complementary;
    double parameter_norm;          /* 0: not declared, or not known */
    double reward_low, reward_high; /* 0 and 1 if nothing is declared */
    /* As JSON writes them between quotes, each with a NUL, in the order of their numbers; NULL: they have
     * none. */
    char *action_names;
    size_t n_names;
    bool user_required;
} cli_space;

/* From the "space" of a billboard. False: this is no space. In both cases to be closed. */
bool cli_space_read(const tacit__json_node *board, cli_space *out);
void cli_space_close(cli_space *space);
/* The number of an action, as a decision tells it: by its name, or its number. False: there is no such
 * action. */
bool cli_space_action(const cli_space *space, const tacit__json_node *told, uint32_t *action);
/* Numbers in a situation; 0: states are numbered. */
size_t cli_space_width(const cli_space *space);
/* Returns whether the world's people can come to a learner with this space; if not, a message that says
 * what both are. */
int cli_space_fits(const cli_space *space, const tacit_world_facts *world);

typedef struct cli_people cli_people;

/* The world must outlive them. A seed always gives the same users. */
TACIT_MUST_USE tacit_status cli_people_open(const tacit_world *world, const cli_space *space,
                                            uint64_t seed, cli_people **out, tacit_error *err);
void cli_people_close(cli_people *people); /* accepts NULL */

/* User number `user` comes; *here lives until the next call. EXHAUSTED: there are no more. */
TACIT_MUST_USE tacit_status cli_people_come(cli_people *people, uint64_t user,
                                            tacit_situation *here);

typedef struct cli_outcome {
    bool known;    /* a log tells what came of one action only: no means that it was another one */
    double reward; /* as the learner takes it: in its range */
    tacit_situation next;
} cli_outcome;
TACIT_MUST_USE tacit_status cli_people_act(cli_people *people, uint32_t action, cli_outcome *out);

/* The user's episode; lives until the next user comes. */
tacit_trajectory cli_people_trajectory(const cli_people *people);

/* The result of all users so far, in rewards of [0, 1] per step. */
typedef struct cli_score {
    uint64_t users, known; /* known: those with an outcome */
    double earned;         /* by users of whom it is known */
    /* How much more the best policy would have earned: in a bandit, expected and exact; of a log, an
     * unbiased estimate of what is missing to 1; in a walk, by the best policy's value. NaN: the world
     * cannot tell. */
    double regret;
} cli_score;
cli_score cli_people_score(const cli_people *people);
void cli_score_add(cli_score *sum, const cli_score *more);

#endif
