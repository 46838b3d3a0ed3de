/* Agents: learners that serve users one after the other.
 *
 * An agent is a curator, which sees users' data, and a planner, which sees releases only. For each user:
 *
 *     tacit_agent_plan(agent, &billboard, &err);     the policy; public, the same for every reader
 *     (the user acts by the billboard and their own state)
 *     tacit_agent_learn(agent, &trajectory, &err);   what happened
 *
 * An agent knows the space of its users, not their world: the numbers of states and actions, the horizon,
 * and whether all steps are alike. */
#ifndef TACIT_AGENT_H
#define TACIT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/billboard.h>
#include <tacit/features.h>
#include <tacit/ledger.h>
#include <tacit/setting.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which guarantees a kind can give, as bits. */
typedef enum tacit_agent_models {
    TACIT_AGENT_NONE = 1,
    TACIT_AGENT_JOINT_PURE = 2,
    TACIT_AGENT_JOINT = 4, /* (epsilon, delta) */
    TACIT_AGENT_LOCAL_PURE = 8,
    TACIT_AGENT_LOCAL = 16
} tacit_agent_models;

typedef struct tacit_agent_kind {
    const char *name;
    const char *help;   /* one line */
    const char *source; /* the paper */
    unsigned models;    /* of tacit_agent_models */
    const tacit_parameter *parameters;
    size_t n_parameters;
} tacit_agent_kind;

TACIT_API size_t tacit_agent_kind_count(void);
TACIT_API const tacit_agent_kind *tacit_agent_kind_at(size_t i);
TACIT_API const tacit_agent_kind *tacit_agent_kind_find(const char *name);
/* Whether people may come back to agents of this kind (`visits` of a request). */
TACIT_API bool tacit_agent_kind_returning(const char *name);

/* Aliases: `auto` stands for the learner that fits a request, `explore-commit` for the baseline that fits.
 * A request may name an alias as its kind. The models of an alias are those of all kinds that it can stand
 * for; an alias has no parameters of its own. `at` returns alias i, or NULL beyond the last; `find` returns
 * the alias of this name, or NULL. */
TACIT_API size_t tacit_agent_alias_count(void);
TACIT_API const tacit_agent_kind *tacit_agent_alias_at(size_t i);
TACIT_API const tacit_agent_kind *tacit_agent_alias_find(const char *name);

/* What happens to a user outside the declared domain: a state or an action that does not exist, a reward
 * outside [0, 1] or the declared range, more steps than the horizon, features longer than their bound or off
 * their simplex, NaN. */
typedef enum tacit_outside {
    TACIT_OUTSIDE_REFUSE, /* refused: the user does not count, and whether they count depends on their data */
    TACIT_OUTSIDE_CLIP /* clipped to the domain: every user counts; tacit_agent_was_cut reports it */
} tacit_outside;

typedef struct tacit_agent_request {
    const char *kind;
    const tacit_setting *settings; /* the kind's own parameters */
    size_t n_settings;
    tacit_guarantee guarantee; /* the guarantee to keep */
    tacit_calibration calibration;
    const char *sums; /* "tree", "smooth", "blt", or NULL: the least noisy that the model allows */
    size_t n_states, n_actions, horizon;
    bool stationary;   /* all steps alike: counts may be pooled */
    uint64_t episodes; /* the number of users */
    /* Public knowledge that some kinds need. NULL: not known; learners with features then use one feature for
     * each state and action (and next state). */
    const tacit_mixture *mixture;
    const tacit_linear *linear;
    const tacit_bandit *bandit; /* horizon 1; n_states is 0 where contexts are not numbered */
    const double *rewards; /* expected rewards [horizon, or 1 if stationary][states][actions] */
    /* Every reward, of users and expected, lies in reward_low .. reward_high; learners see it mapped to
     * [0, 1]. Both 0: [0, 1]. Where 0 is outside the range, no episode can end early. */
    double reward_low, reward_high;
    /* People who come back: one person is at most `visits` of the users, and any two of these are at least
     * `apart` users apart (0: 1). Replacing one person then replaces all their visits. */
    uint64_t visits, apart;
    tacit_outside outside; /* saved states and reports do not depend on it */
    const char *file;      /* for messages; NULL: none */
    int line;              /* of the agent; 0: unknown */
} tacit_agent_request;

/* The kind that a request asks for: request->kind or, if that is an alias, the kind that it stands for with
 * this space and guarantee. UNSUPPORTED: no kind fits, or the request is for `auto` and has parameters. Names
 * live as long as the library. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_choose(const tacit_agent_request *request,
                                                         const char **kind, tacit_error *err);

typedef struct tacit_agent tacit_agent;

/* `noise` is used during creation only; NULL is allowed for model none. A model that the kind does not
 * support is UNSUPPORTED, and the message lists those that it supports. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_create(const tacit_agent_request *request,
                                                         tacit_noise *noise, tacit_agent **out,
                                                         tacit_error *err);
TACIT_API void tacit_agent_destroy(tacit_agent *agent);

/* What the agent was created with; lives as long as the agent. */
typedef struct tacit_agent_facts {
    const tacit_agent_kind *kind; /* never an alias */
    tacit_guarantee guarantee;
    tacit_calibration calibration;
    tacit_outside outside;
    size_t n_states, n_actions, horizon;
    bool stationary;
    uint64_t episodes;
    double reward_low, reward_high; /* 0 and 1 if nothing was declared */
    /* How many numbers describe each situation (tacit_situation.features); 0: states are numbered. */
    size_t per_situation;
} tacit_agent_facts;
TACIT_API const tacit_agent_facts *tacit_agent_describe(const tacit_agent *agent);

/* The kind of the agent; never an alias. */
TACIT_API const tacit_agent_kind *tacit_agent_kind_of(const tacit_agent *agent);

TACIT_API TACIT_MUST_USE tacit_status tacit_agent_plan(tacit_agent *agent, tacit_billboard *out,
                                                       tacit_error *err);

/* The billboard of the last plan, without planning again; NOTHING_TO_RELEASE before the first plan. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_billboard(const tacit_agent *agent,
                                                            tacit_billboard *out, tacit_error *err);

/* The action of the current billboard (the last tacit_agent_plan) for a user in this situation, and its
 * probability. `chance` in [0, 1) decides where the policy is random. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_act(tacit_agent *agent,
                                                      const tacit_situation *situation,
                                                      double chance, uint32_t *action,
                                                      double *probability, tacit_error *err);

TACIT_API TACIT_MUST_USE tacit_status tacit_agent_learn(tacit_agent *agent,
                                                        const tacit_trajectory *user,
                                                        tacit_error *err);

/* Many users, one after the other in each array, with H = horizon:
 *     states[n][H + 1], actions[n][H], rewards[n][H], and where states are not numbered
 *     features[n][H + 1][per_situation] (in bandit worlds [n][per_situation]) instead of states.
 * In bandit worlds with numbered contexts the array is states[n][2] as well; the second state is ignored.
 * lengths[n], or NULL, are those of tacit_trajectory; whatever follows the end of an episode is ignored. */
typedef struct tacit_trajectories {
    const uint32_t *states, *actions;
    const double *rewards;
    const double *features;
    const uint32_t *lengths;
} tacit_trajectories;

/* tacit_agent_learn for n users, one after the other, without a plan between them. It stops at the first
 * user that fails and returns that failure; *learned is the number of users before that one. Afterwards
 * tacit_agent_was_cut tells whether the data of any user were clipped. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_learn_many(tacit_agent *agent, size_t n,
                                                             const tacit_trajectories *users,
                                                             size_t *learned, tacit_error *err);

/* tacit_agent_act for n users at the same step, by the current billboard: in states[n] or, where states are
 * not numbered, with features[n][per_situation]. chances[n] is needed where the policy is random; NULL means
 * 0 for every user. Writes actions[n] and, unless NULL, probabilities[n]. On failure *acted is the number of
 * users whose action was written; the entries of the others are unchanged. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_act_many(tacit_agent *agent, size_t n,
                                                           size_t step, const uint32_t *states,
                                                           const double *features,
                                                           const double *chances, uint32_t *actions,
                                                           double *probabilities, size_t *acted,
                                                           tacit_error *err);

/* Whether the user's data in the last act, learn or report were outside the declared domain and were clipped
 * to it (TACIT_OUTSIDE_CLIP). It is a fact about that user: report it to the sender only. */
TACIT_API bool tacit_agent_was_cut(const tacit_agent *agent);

/* Local privacy only: `learn` in two halves. On the user's side, `report` makes a trajectory into a private
 * report, with the noise of that side's own agent object, which learns nothing from it. On the server's side,
 * `absorb` adds a report to the statistics. A report is bytes in a format that does not depend on the
 * machine; `report` with bytes = NULL gives the largest size. Reports that do not fit the agent are refused
 * and change nothing. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_report(tacit_agent *agent,
                                                         const tacit_trajectory *user, void *bytes,
                                                         size_t *size, tacit_error *err);
/* Whether `absorb` would accept a report, as far as that can be decided beforehand; nothing changes. LATE:
 * the report was made with a model that is no longer in use, so nothing can be learned from it. You may
 * refuse such a report, or absorb it: `absorb` counts it and adds none of its numbers. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_check_report(const tacit_agent *agent,
                                                               const void *bytes, size_t size,
                                                               tacit_error *err);
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_absorb(tacit_agent *agent, const void *bytes,
                                                         size_t size, tacit_error *err);

/* The model behind the last plan (estimates and their confidence), which a server sends to users who plan
 * for themselves, as bytes in a format that does not depend on the machine. It is computed from releases and
 * may be published. `publish` with bytes = NULL gives the size. `follow` lets another agent of the same
 * request, which has no data of users, show the plan of that model and make reports with it. Kinds whose
 * billboard contains everything have no model: UNSUPPORTED. Bytes that do not fit are refused and change
 * nothing. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_publish(const tacit_agent *agent, void *bytes,
                                                          size_t *size, tacit_error *err);
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_follow(tacit_agent *agent, const void *bytes,
                                                         size_t size, tacit_error *err);

/* The complete state as bytes, with raw data and noise keys: protect it as you protect the data. `save`
 * with bytes = NULL gives the size. `load` lets a new agent of the same request continue where the saved one
 * stopped, with the billboard of its last plan: the same users give the same plans. Two continuations of one
 * state have independent noise from the first different user on; a person in both pays twice. Bytes that are
 * corrupt, or belong to another request, are refused, and the agent stays new. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_save(const tacit_agent *agent, void *bytes,
                                                       size_t *size, tacit_error *err);
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_load(tacit_agent *agent, const void *bytes,
                                                       size_t size, tacit_error *err);

/* The calibrated release plan, for explanation and accounting; NULL with model none. */
TACIT_API const tacit_plan *tacit_agent_release_plan(const tacit_agent *agent);

/* The ledger that every release of this agent is charged to, to read what has passed so far:
 * tacit_ledger_passed, tacit_ledger_spent, tacit_ledger_is_simulated. It belongs to the agent. NULL with
 * model none. */
TACIT_API const tacit_ledger *tacit_agent_ledger(const tacit_agent *agent);

/* One line on what the settings mean for the theory: for example, that a bonus scale below 1 voids the regret
 * proof (not the privacy). Empty if there is nothing to say. */
TACIT_API const char *tacit_agent_remark(const tacit_agent *agent);

/* A constant of the algorithm, such as a radius, a ridge or a schedule: as its paper prints it and as the
 * agent plays it, in the same units. The note says why they differ, or what a symbol of the paper was taken
 * to be. */
typedef struct tacit_play {
    const char *name;
    double printed, played;                   /* NaN: not a number, or not printed */
    const char *printed_words, *played_words; /* the same as text; "": not printed */
    const char *note;                         /* "": nothing to say */
} tacit_play;
/* Constant i into *out; false beyond the last. Strings live as long as the agent. Nothing in them depends on
 * users' data. */
TACIT_API bool tacit_agent_play_at(const tacit_agent *agent, size_t i, tacit_play *out);

/* --- Observations that are plain vectors ----------------------------------------------------------- */

/* Features from vectors x[n][size] whose coordinates are declared to lie in low[i] .. high[i]. Each
 * coordinate becomes a number in [-1, 1], a 1 is appended, and all are divided by sqrt(size + 1): a context
 * of size + 1 numbers, never longer than 1. With n_actions = 0 the output is out[n][size + 1], as bandits
 * with disjoint actions need it. Otherwise every action has a block of its own for the context and zeros
 * elsewhere, out[n][n_actions][n_actions * (size + 1)], as tacit_bandit (not disjoint) and tacit_linear
 * without `row` need it, with bound 1.
 *
 * The bounds are public and must not be fitted on the people to be protected. A coordinate outside its bounds
 * becomes the nearer bound, and NaN becomes the middle; *cut, unless NULL, tells whether there was any.
 * BAD_ARGUMENT: bounds that are not finite, or not ascending. tacit_features_size is the number of features
 * of one vector; 0: too many for any memory. */
TACIT_API size_t tacit_features_size(size_t size, size_t n_actions);
TACIT_API TACIT_MUST_USE tacit_status tacit_features_make(size_t n, size_t size, const double *low,
                                                          const double *high, const double *x,
                                                          size_t n_actions, double *out, bool *cut,
                                                          tacit_error *err);

/* --- Agents of your own -------------------------------------------------------------------------- */

/* The methods of an agent. The library has already checked what all requests have in common: the kind
 * supports the model, numbers are in range, a private request comes with noise. `values` are those of the
 * kind's parameters. Failures need a message. The methods of one agent are called by one thread at a time. */
typedef struct tacit_agent_methods {
    tacit_status (*create)(const tacit_agent_request *request, const tacit_value *values,
                           tacit_noise *noise, void **out, tacit_error *err);
    void (*destroy)(void *self); /* must accept NULL */
    /* The billboard may depend on releases only. */
    tacit_status (*plan)(void *self, tacit_billboard *out, tacit_error *err);
    /* Every user in the declared domain counts, whatever their data: a useless trajectory adds nothing and
     * still counts as one user. With TACIT_OUTSIDE_CLIP all users are in the domain. */
    tacit_status (*learn)(void *self, const tacit_trajectory *user, tacit_error *err);
    /* The ledger that every release is charged to: `tacit explain` shows its plan, and nothing outside the
     * plan can be released. If the method or its result is NULL, the model is none. */
    tacit_ledger *(*ledger)(const void *self);
    const char *(*remark)(const void *self); /* NULL: nothing to say */
} tacit_agent_methods;

/* Registers a kind under its name, for tacit_agent_create and experiment files. `kind`, `methods` and what
 * they point to must stay valid, and no other thread may use the library during the call. A kind with a
 * private model needs a ledger. EXISTS: the name is taken. TOO_LARGE: there are 64 such kinds already, or
 * this one has more than 32 parameters. */
TACIT_API TACIT_MUST_USE tacit_status tacit_agent_register(const tacit_agent_kind *kind,
                                                           const tacit_agent_methods *methods,
                                                           tacit_error *err);

#ifdef __cplusplus
}
#endif

#endif
