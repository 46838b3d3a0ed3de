/* Worlds: simulators that play the users.
 *
 * A world is made from its kind and a list of settings, both as text, as in an experiment file:
 *
 *     tacit_setting settings[] = {{.key = "states", .value = "6"}};
 *     tacit_world_request request = {.kind = "riverswim", .settings = settings, .n_settings = 1};
 *     tacit_world_create(&request, &world, &err);
 *     tacit_world_solve(world, policy, values, &err);            what is best
 *     tacit_walk_create(world, noise, &walk, &err);              one user after the other
 *     tacit_walk_play(walk, episode, policy, states, actions, rewards);
 *     tacit_world_evaluate(world, policy, scratch, &value);      what a policy is worth, exactly
 *
 * Tabular worlds are finite: states and actions are numbered from 0, an episode has `horizon` steps, and a
 * policy is an array [horizon][states]. Rewards are in [0, 1]; a world whose rewards were declared in other
 * units keeps the declared bounds, and tacit_world_original_value converts back.
 *
 * In bandit worlds an episode is one step, contexts may be feature vectors instead of numbered states, and
 * users come as rounds (below) instead of walks.
 *
 * A world does not change after its creation and may be shared by threads; a walk belongs to one thread. */
#ifndef TACIT_WORLD_H
#define TACIT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/features.h>
#include <tacit/noise.h>
#include <tacit/setting.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Kinds ------------------------------------------------------------------------------------- */

typedef struct tacit_world_kind {
    const char *name;
    const char *help;   /* one line */
    const char *source; /* the paper or data set it comes from */
    const tacit_parameter *parameters;
    size_t n_parameters;
} tacit_world_kind;

TACIT_API size_t tacit_world_kind_count(void);
/* Kind i, or NULL beyond the last; the kind of this name, or NULL. */
TACIT_API const tacit_world_kind *tacit_world_kind_at(size_t i);
TACIT_API const tacit_world_kind *tacit_world_kind_find(const char *name);

/* --- Worlds ------------------------------------------------------------------------------------ */

typedef struct tacit_world tacit_world;

typedef struct tacit_world_request {
    const char *kind;
    const tacit_setting *settings;
    size_t n_settings;
    /* The file that contains the settings: messages begin with it, and a relative path among the settings
     * is looked for beside it, then in the current directory. NULL: none. */
    const char *file;
    int line; /* of the kind, for messages; 0: unknown */
} tacit_world_request;

typedef enum tacit_world_family {
    TACIT_WORLD_TABULAR, /* finitely many states and actions, with a known model */
    TACIT_WORLD_BANDIT   /* one step: a context, an action, a reward */
} tacit_world_family;

/* What is public about a world. */
typedef struct tacit_world_facts {
    const tacit_world_kind *kind;
    tacit_world_family family;
    size_t n_states, n_actions, horizon; /* n_states is 0 where contexts are not numbered */
    bool stationary; /* the same transitions and rewards at every step: learners may pool */
    double reward_low, reward_high; /* in original units; they are mapped to 0 and 1 */
    double optimal_value;           /* of the best policy, with rewards in [0, 1]; NaN: not known */
    /* Expected, in [0, 1]: [horizon, or 1 if stationary][states][actions]; NULL in bandit worlds, where
     * learners have to learn them. */
    const double *rewards;
    /* Known structure; NULL: none beyond the numbers of states and actions. */
    const tacit_mixture *mixture;
    const tacit_linear *linear;
    const tacit_bandit *bandit;
    uint64_t people;    /* the number of users that the world has; 0: no limit */
    bool labeled;       /* every user has one right action, with reward 1; the others have 0 */
    const char *remark; /* a warning about this world, e.g. what is not private; or "" */
} tacit_world_facts;

/* Unknown keys, wrong types, values out of range and faulty files are BAD_ARGUMENT, SYNTAX, OUT_OF_BOUND or
 * TOO_LARGE; a failing disk is SYSTEM. The message names file, line, value and remedy. */
TACIT_API TACIT_MUST_USE tacit_status tacit_world_create(const tacit_world_request *request,
                                                         tacit_world **out, tacit_error *err);
TACIT_API void tacit_world_destroy(tacit_world *world);

TACIT_API const tacit_world_facts *tacit_world_describe(const tacit_world *world);

/* The states that cannot be reached within the horizon, ascending; returns how many there are. They are no
 * error, but they make learning harder. */
TACIT_API size_t tacit_world_unreachable(const tacit_world *world, const uint32_t **states);

/* Whether this state ends an episode: no action leads out of it, and every reward there is 0 in original
 * units. False in bandit worlds. Walks continue in such a state. If 0 is the smallest reward, a caller may
 * stop instead and give learners the length (tacit_trajectory). */
TACIT_API bool tacit_world_is_terminal(const tacit_world *world, uint32_t state);

/* A value (a sum of `horizon` rewards in [0, 1]) in original units:
 * low * horizon + (high - low) * value. Differences of values, such as regret, scale by high - low. */
TACIT_API double tacit_world_original_value(const tacit_world *world, double value);

/* --- Worlds of your own -------------------------------------------------------------------------- */

/* A possible outcome of an action: the next state, with its probability and reward, in original units. */
typedef struct tacit_outcome {
    uint32_t next;
    double prob, reward;
} tacit_outcome;

/* A finite world, row by row. `row` writes the outcomes of an action in a state at a step (always 0 if
 * stationary), at most row_max, and returns their number; it is called once for each (step, state, action).
 * Probabilities must sum to 1; outcomes may be in any order. */
typedef struct tacit_process {
    size_t n_states, n_actions, horizon;
    bool stationary;
    double reward_low, reward_high; /* of every single reward */
    size_t row_max;
    size_t (*row)(void *context, size_t step, uint32_t state, uint32_t action, tacit_outcome *out);
    void *context;
    const tacit_outcome *initial; /* next and prob; NULL: every user begins in state 0 */
    size_t n_initial;
    void (*release)(
        void *context); /* when the rows have been read, or could not be; NULL: nothing to do */
} tacit_process;

/* Fills *out for the values of the kind's parameters; a failure needs a message. */
typedef tacit_status tacit_process_fn(const tacit_value *values, tacit_process *out,
                                      tacit_error *err);

/* Registers a kind under its name, for tacit_world_create and experiment files. `kind` and what it points to
 * must stay valid, and no other thread may use the library during the call. EXISTS: the name is taken.
 * TOO_LARGE: there are 64 such kinds already, or this one has more than 24 parameters. */
TACIT_API TACIT_MUST_USE tacit_status tacit_world_register(const tacit_world_kind *kind,
                                                           tacit_process_fn *process,
                                                           tacit_error *err);

/* --- Exact values ------------------------------------------------------------------------------ */

/* Best policy (ties: the smallest action) into policy[horizon][states] and its values into
 * values[horizon + 1][states], the last row 0. */
TACIT_API TACIT_MUST_USE tacit_status tacit_world_solve(const tacit_world *world, uint32_t *policy,
                                                        double *values, tacit_error *err);

/* How many doubles of scratch the next two functions need. */
TACIT_API size_t tacit_world_scratch(const tacit_world *world);

/* The expected sum of rewards of a policy from the initial distribution: policy[horizon][states] holds an
 * action, mixed[horizon][states][actions] probabilities. Nothing is allocated. */
TACIT_API TACIT_MUST_USE tacit_status tacit_world_evaluate(const tacit_world *world,
                                                           const uint32_t *policy, double *scratch,
                                                           double *value);
TACIT_API TACIT_MUST_USE tacit_status tacit_world_evaluate_mixed(const tacit_world *world,
                                                                 const double *mixed,
                                                                 double *scratch, double *value);

/* --- Walks: users through a tabular world ------------------------------------------------------ */

typedef struct tacit_walk tacit_walk;

/* The random draws of an episode depend on the root and the number of the episode only, not on other
 * episodes or other walks. The world must outlive the walk; the root need not. */
TACIT_API TACIT_MUST_USE tacit_status tacit_walk_create(const tacit_world *world, tacit_noise *root,
                                                        tacit_walk **out, tacit_error *err);
TACIT_API void tacit_walk_destroy(tacit_walk *walk);

/* Episode `episode` (below 2^62, in any order) begins in *state; then at most `horizon` steps. */
TACIT_API TACIT_MUST_USE tacit_status tacit_walk_begin(tacit_walk *walk, uint64_t episode,
                                                       uint32_t *state);
TACIT_API TACIT_MUST_USE tacit_status tacit_walk_step(tacit_walk *walk, uint32_t action,
                                                      uint32_t *state, double *reward);

/* A whole episode under policy[horizon][states] or mixed[horizon][states][actions]: states[horizon + 1],
 * actions[horizon], rewards[horizon]. The draws are the same as with begin and step; the choices of a mixed
 * policy have a stream of their own and do not change them. The probabilities of a mixed policy must not be
 * negative, and must sum to one up to rounding. */
TACIT_API TACIT_MUST_USE tacit_status tacit_walk_play(tacit_walk *walk, uint64_t episode,
                                                      const uint32_t *policy, uint32_t *states,
                                                      uint32_t *actions, double *rewards);
TACIT_API TACIT_MUST_USE tacit_status tacit_walk_play_mixed(tacit_walk *walk, uint64_t episode,
                                                            const double *mixed, uint32_t *states,
                                                            uint32_t *actions, double *rewards);

/* --- Rounds: users of a bandit world ------------------------------------------------------------ */

typedef struct tacit_rounds tacit_rounds;

/* The user of a round. A learner may know the number of the context or, where contexts are not numbered,
 * the features. It must not know `means`, the expected reward of every action, in [0, 1], which is for
 * evaluation; NULL where only a logged action's reward is known. All live until the next round begins. */
typedef struct tacit_visitor {
    uint32_t state;
    const double *features;
    const double *means;
    uint32_t logged_action; /* if means is NULL: the action in the log, and its probability */
    double propensity;
} tacit_visitor;

/* Random draws depend on the root and the number of the round only, as with walks. The world must outlive
 * the rounds; the root need not. Worlds of another family are UNSUPPORTED. */
TACIT_API TACIT_MUST_USE tacit_status tacit_rounds_create(const tacit_world *world,
                                                          tacit_noise *root, tacit_rounds **out,
                                                          tacit_error *err);
TACIT_API void tacit_rounds_destroy(tacit_rounds *rounds);

/* Round `round` (below 2^62, in any order); EXHAUSTED after the last of the world's people. */
TACIT_API TACIT_MUST_USE tacit_status tacit_rounds_begin(tacit_rounds *rounds, uint64_t round,
                                                         tacit_visitor *visitor);
/* A number in [0, 1) for the choice of a random policy in this round; a stream of its own. */
TACIT_API double tacit_rounds_chance(tacit_rounds *rounds);
/* What the action earns, in [0, 1]; UNSUPPORTED if the log has another action. */
TACIT_API TACIT_MUST_USE tacit_status tacit_rounds_reward(tacit_rounds *rounds, uint32_t action,
                                                          double *reward);

#ifdef __cplusplus
}
#endif

#endif
