/* A learner of the service: an agent with a thread of its own, which takes the users of the vault one
 * after the other in the order in which they were acknowledged, and a billboard that requests read.
 *
 * A billboard is put up when the ledger on disk has what passed for it, and the disk has what gives the
 * same numbers again: a state of before, and the inputs since. After a crash these inputs are taken again,
 * in the same order, with the same keyed noise. docs/why/service.md has the argument. */
#ifndef TACIT_SERVE_LEARNER_LEARNER_H
#define TACIT_SERVE_LEARNER_LEARNER_H

#include <tacit/agent.h>

#include "serve/committer.h"
#include "serve/config.h"
#include "serve/learner/board.h"

typedef struct tacit__learner tacit__learner;

typedef struct tacit__learner_setting {
    const tacit__learner_config *config;
    const char *store;                /* for a reading connection of its own */
    const uint8_t *key;               /* of the vault; used during creation only */
    tacit__store_status store_status; /* of the store: only with FINE it may learn */
    bool shared;                      /* other processes serve from it, too */
    tacit_log_fn *log;                /* or NULL; hears, from its thread, that it cannot go on */
    void *log_context;
} tacit__learner_setting;

/* Restores the learner of this name from the vault, or begins a new one there with noise keyed by the
 * system. The vault is used during the call only. A learner that was begun with other settings is
 * WRONG_PLAN. */
TACIT_MUST_USE tacit_status tacit__learner_create(const tacit__learner_setting *setting,
                                                  tacit__vault *vault, tacit__learner **out,
                                                  tacit_error *err);
/* Takes again what had been shown before the last end and is not in the state; from then on it learns.
 * What it has learned is written by the committer, which must outlive it. CORRUPT: users that had been shown
 * are missing. */
TACIT_MUST_USE tacit_status tacit__learner_start(tacit__learner *learner,
                                                 tacit__committer *committer, tacit_error *err);
/* Finishes the users that it has begun with. Accepts NULL. */
void tacit__learner_destroy(tacit__learner *learner);

/* This process has the lease of the learner, by this session, or no longer. Without it the learner shows
 * what another process has learned. */
void tacit__learner_set_lease(tacit__learner *learner, bool held, int64_t session);
/* How many users all processes have accepted, and the state of the store. */
void tacit__learner_set_accepted(tacit__learner *learner, uint64_t accepted);
void tacit__learner_set_store_status(tacit__learner *learner, tacit__store_status store_status);
/* There are new inputs in the vault. */
void tacit__learner_wake(tacit__learner *learner);
/* One more user was acknowledged; `first`: a person who had not come before, where people may come back. */
void tacit__learner_count_accepted(tacit__learner *learner, uint64_t ordinal, bool first);
/* A person came back too soon, or too often. */
void tacit__learner_count_rejected(tacit__learner *learner, bool too_soon);

/* To be given back. */
tacit__board *tacit__learner_acquire_board(tacit__learner *learner);

int64_t tacit__learner_id(const tacit__learner *learner);
const tacit__learner_config *tacit__learner_config_of(const tacit__learner *learner);
/* Whether a report is one of this learner, as far as that can be told without adding it. */
TACIT_MUST_USE tacit_status tacit__learner_check_report(tacit__learner *learner, const void *bytes,
                                                        size_t size, tacit_error *err);

/* Public figures, as they are on disk. */
typedef struct tacit__learner_figures {
    uint64_t limit, accepted, users, version;
    tacit__store_status store_status; /* of the store when it was made: only with FINE it learns */
    bool failed;                      /* it does not learn any more: something went wrong */
    bool leads;                       /* it is this process that learns */
    double reward;                    /* released mean so far; NaN: none */
    double reward_error;              /* its standard deviation */
    /* where people may come back: how many have come, and how often since the start one */
    uint64_t people;
    uint64_t too_soon, visits_used; /* of them came too soon, or had had all visits */
} tacit__learner_figures;
tacit__learner_figures tacit__learner_figures_of(tacit__learner *learner);

/* The release plans: of the agent (NULL with model none) and of the monitor (NULL if there is none). */
const tacit_plan *tacit__learner_plan(const tacit__learner *learner);
const tacit_plan *tacit__learner_monitor_plan(const tacit__learner *learner);
/* The agent's door, for audits, before the learner is started; NULL with model none. */
tacit_ledger *tacit__learner_ledger(const tacit__learner *learner);
const char *tacit__learner_remark(const tacit__learner *learner);

#endif
