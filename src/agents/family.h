/* Learners are rows of tables, and families are the functions that a table's rows share: mostly
 * those of one curator.
 *
 * To add a learner to a family: a row. To add a family: a file with a tacit__family, and its line in
 * agent.c. */
#ifndef TACIT_AGENTS_FAMILY_H
#define TACIT_AGENTS_FAMILY_H

#include <tacit/agent.h>

#include "base/bytes.h"
#include "board/plays.h"
#include "release/curator_kind.h"

/* Where a paper prints the noise of its algorithm: paper, place and formula, in the words of
 * docs/references.md; NULL: there is nothing to point to. `recalled`: the formula was taken from
 * later papers and public code, and was not compared with the paper's own text. */
typedef struct tacit__print {
    const char *joint, *local;
    bool recalled;
    bool pure; /* it is for delta 0 only */
} tacit__print;

typedef struct tacit__agent_row {
    tacit_agent_kind kind;
    tacit__print print;
    const tacit__curator_kind *curator; /* NULL: it has none, and no privacy */
    /* what its family makes it of, its planner first: each has a type for that */
    const void *parts;
} tacit__agent_row;

typedef struct tacit__agent_rows {
    const tacit__agent_row *at;
    size_t n;
} tacit__agent_rows;

struct tacit__reading; /* agents/reading.h: a request whose settings have been read */

typedef struct tacit__family {
    const tacit__agent_rows *rows;
    bool looks_ahead; /* at the state after the last step, in bandit worlds too */
    /* of the features that users bring, those of the chosen action are looked at */
    bool chosen_only;
    bool by_billboard;    /* its estimates take for granted that users acted by the billboard */
    const char *no_local; /* why there is no local model, for messages; NULL: nothing to say */
    const char *no_pure;  /* the same for delta 0 */
    /* Its learners begin as a tacit__agent_base (agents/agent_base.h) and have this size. Before
     * `check` and `build`, what all requests have in common has been checked: the model is one of the
     * kind's, epsilon and delta are in range, counts are not 0, and a private request has noise.
     * `check` says what is wrong with a request before its settings are read (NULL: nothing); `build`
     * makes the rest of a fresh learner; `clear` frees all but the curator, of one that is half-built
     * too; `view_user` says what the curator sees of a user, whose trajectory is in it already (NULL:
     * no more). */
    size_t size;
    tacit_status (*check)(const tacit_agent_request *request, tacit_error *err);
    tacit_status (*build)(void *agent, const struct tacit__reading *r, tacit_noise *noise,
                          tacit_error *err);
    void (*clear)(void *agent);
    tacit_status (*view_user)(void *agent, const tacit_trajectory *user, tacit__user_view *out,
                              tacit_error *err);
    tacit_status (*plan)(void *agent, tacit_billboard *out, tacit_error *err);
    /* After a user: a release may be due to the planner. NULL: planners look when they plan. */
    void (*learned)(void *agent);
    /* Learners that do more than add users to their curator have these; NULL: they do no more. */
    tacit_status (*learn)(void *agent, const tacit_trajectory *user, tacit_error *err);
    /* Billboards that are no table have these; NULL: they are one. */
    tacit_status (*act)(void *agent, const tacit_situation *situation, double chance,
                        uint32_t *action, double *probability, tacit_error *err);
    /* Another one that acts as this one does now, and can do nothing else; any number of threads
     * may ask it at once. NULL: there is no such thing, or no `act`. */
    tacit_status (*snapshot)(const void *agent, void **out, tacit_error *err);
    /* Both halves of `learn` under local privacy: what the user's side makes of a trajectory, and
     * what the server does with it. NULL: the curator's, if that has them. `bytes` NULL asks for the
     * largest size. */
    tacit_status (*report)(void *agent, const tacit_trajectory *user, void *bytes, size_t *size,
                           tacit_error *err);
    tacit_status (*absorb)(void *agent, const void *bytes, size_t size, tacit_error *err);
    /* The model behind the last plan, and how to plan by one that was made elsewhere. NULL: the
     * table is all there is. */
    tacit_status (*publish)(const void *agent, void *bytes, size_t *size, tacit_error *err);
    tacit_status (*follow)(void *agent, const void *bytes, size_t size, tacit_error *err);
    /* Says whether the last plan holds two actions of one step and state for equally good, up to the
     * rounding in which two machines differ; both are places in a table [horizon][states][actions].
     * NULL: no plan is a choice between such actions. */
    bool (*is_tie)(const void *agent, size_t one, size_t other);
    /* Returns what `absorb` would return; changes nothing but scratch. */
    tacit_status (*check_report)(const void *agent, const void *bytes, size_t size,
                                 tacit_error *err);
    /* Everything that the future depends on, as the rest of a saved state (base/bytes.h). NULL: it cannot
     * be saved. */
    void (*fields)(void *agent, tacit__saved *s);
    const char *(*remark)(const void *agent); /* NULL or "": nothing to say */
} tacit__family;

/* The families of this library: families.c, or on a device families_local.c. */
extern const tacit__family *const tacit__families[];
extern const size_t tacit__n_families;

/* The last one has the program's own kinds, which may become more: tacit_agent_register. */
extern const tacit__family tacit__family_tabular, tacit__family_mixture,
    tacit__family_posterior_mixture, tacit__family_posterior_linear, tacit__family_lsvi,
    tacit__family_lin_ucb, tacit__family_capri, tacit__family_posterior_kernel, tacit__family_gp,
    tacit__family_posterior, tacit__family_posterior_bandit, tacit__family_custom;

#endif
