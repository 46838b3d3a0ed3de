/* A learner of the service: an agent with a thread of its own, which learns from the users of the vault one
 * after the other in the order in which they were acknowledged, and a billboard that requests read.
 *
 * A billboard is published when the ledger on disk has what was released for it, and the disk has what gives
 * the same numbers again: an earlier state, and the inputs since. After a crash the learner learns from these
 * inputs again, in the same order, with the same keyed noise. docs/why/service.md has the argument. */
#ifndef TACIT_SERVE_LEARNER_LEARNER_H
#define TACIT_SERVE_LEARNER_LEARNER_H

#include <tacit/agent.h>

#include "serve/committer.h"
#include "serve/config.h"
#include "serve/learner/board.h"

typedef struct tacit__learner tacit__learner;

typedef struct tacit__learner_setting {
    const tacit__learner_config *config;
    const char *store;                /* the store, for a read connection of its own */
    const uint8_t *key;               /* key of the vault, used only during creation */
    tacit__store_status store_status; /* it may learn only if this is FINE */
    bool shared;                      /* other processes serve from the store as well */
    tacit_log_fn *log;                /* or NULL; called from its thread when it cannot continue */
    void *log_context;
} tacit__learner_setting;

/* Restores the learner of this name from the vault, or begins a new one there with noise keyed by the system.
 * Uses the vault only during the call. WRONG_PLAN: the learner was begun with other settings. */
TACIT_MUST_USE tacit_status tacit__learner_create(const tacit__learner_setting *setting,
                                                  tacit__vault *vault, tacit__learner **out,
                                                  tacit_error *err);
/* Learns again from the users that had been published before the last end and are not in the state; then
 * continues to learn. The committer, which must outlive the learner, writes what it has learned. CORRUPT:
 * users that had been published are missing. */
TACIT_MUST_USE tacit_status tacit__learner_start(tacit__learner *learner,
                                                 tacit__committer *committer, tacit_error *err);
/* Finishes the users that it has begun. Accepts NULL. */
void tacit__learner_destroy(tacit__learner *learner);

/* Tells the learner whether this process has its lease, and by which session. Without the lease it shows what
 * another process has learned. */
void tacit__learner_set_lease(tacit__learner *learner, bool held, int64_t session);
/* Sets the number of users that all processes have accepted, and the status of the store. */
void tacit__learner_set_accepted(tacit__learner *learner, uint64_t accepted);
void tacit__learner_set_store_status(tacit__learner *learner, tacit__store_status store_status);
/* Tells the learner that the vault has new inputs. */
void tacit__learner_wake(tacit__learner *learner);
/* Counts one more acknowledged user. `first`: a person who had not come before, where people may come
 * back. */
void tacit__learner_count_accepted(tacit__learner *learner, uint64_t ordinal, bool first);
/* Counts a person who came back too soon or too often. */
void tacit__learner_count_rejected(tacit__learner *learner, bool too_soon);

/* The current board, which the caller releases. */
tacit__board *tacit__learner_acquire_board(tacit__learner *learner);

int64_t tacit__learner_id(const tacit__learner *learner);
const tacit__learner_config *tacit__learner_config_of(const tacit__learner *learner);
/* Checks whether a report belongs to this learner, as far as that is possible without adding it. */
TACIT_MUST_USE tacit_status tacit__learner_check_report(tacit__learner *learner, const void *bytes,
                                                        size_t size, tacit_error *err);

/* Public figures, as they are on disk. */
typedef struct tacit__learner_figures {
    uint64_t limit, accepted, users, version;
    tacit__store_status store_status; /* as in the setting */
    bool failed;                      /* it has stopped learning because of an error */
    bool leads;                       /* this process learns */
    double reward;                    /* released mean so far; NaN: none */
    double reward_error;              /* its standard deviation */
    /* where people may come back: how many have come, and since the start how many */
    uint64_t people;
    uint64_t too_soon, visits_used; /* of them came too soon, or had had all visits */
} tacit__learner_figures;
tacit__learner_figures tacit__learner_figures_of(tacit__learner *learner);

/* The release plans of the agent (NULL with model none) and of the monitor (NULL if there is none). */
const tacit_plan *tacit__learner_plan(const tacit__learner *learner);
const tacit_plan *tacit__learner_monitor_plan(const tacit__learner *learner);
/* The ledger of the agent, for audits, before the learner is started; NULL with model none. */
tacit_ledger *tacit__learner_ledger(const tacit__learner *learner);
const char *tacit__learner_remark(const tacit__learner *learner);

#endif
