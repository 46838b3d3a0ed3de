/* The inside of a learner, shared by learner.c (its thread), learner_state.c (its state) and learner_disk.c
 * (when the state is written to disk). */
#ifndef TACIT_SERVE_LEARNER_LEARNER_INSIDE_H
#define TACIT_SERVE_LEARNER_LEARNER_INSIDE_H

#include "base/wait.h"
#include "release/monitor.h"
#include "serve/learner/learner.h"

/* The most points of the history in one batch. */
enum { TACIT__LEARNER_POINTS = 256 };

struct tacit__learner {
    const tacit__learner_config *config;
    tacit_log_fn *log; /* or NULL */
    void *log_context;
    tacit__committer *committer;
    tacit__vault *reader; /* reads inputs; used by the thread */
    /* Requests read the plans and the remark at any time: they are those of the first agent and monitor,
     * which stay when others take their place. */
    tacit_agent *first_agent;
    tacit__monitor *first_monitor;
    tacit_agent *agent;
    tacit__monitor *monitor;  /* or NULL */
    tacit__vault_learner row; /* used by the thread; users and taken are ahead of the disk */
    int64_t id;               /* the id of the row, which never changes, for all threads */
    bool leads;               /* this process learns; otherwise it follows another that does */
    bool shared;              /* other processes use the store as well */
    bool ahead;               /* the agent has learned from users that were never published */
    bool has_gap;             /* the next available input does not follow the last one */
    bool news;                /* something was learned that is not published */
    uint64_t kept;            /* users in the state on disk */
    /* number of the last input in that state, if this process wrote it in parts; otherwise 0 */
    int64_t kept_input;
    bool has_leftover; /* inputs that are in the state may still be on disk */
    size_t input_size; /* bytes of the last input */
    /* ms: when the first user that is not in that state was learned from */
    double unkept_since;
    double kept_at; /* ms: when the state was written, and how long that took */
    double keep_cost;
    uint64_t next_point; /* users at the next point of the history */
    size_t n_points;     /* points that are not on disk */
    tacit__vault_point points[TACIT__LEARNER_POINTS];
    uint8_t *state; /* buffer for saving */
    size_t state_size, state_capacity;
    pthread_t thread;
    bool started;

    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t news_came;
    bool stop, more;
    bool may_lead;   /* this process has the lease, */
    int64_t session; /* which belongs to this session */
    tacit__board *board;
    tacit__learner_figures figures;
    pthread_mutex_t agent_lock; /* protects the sums of the agent while reports are checked */
};

/* Makes the agent and the monitor, and restores the state that the vault has of this name, or begins a new
 * one there. */
TACIT_MUST_USE tacit_status tacit__learner_restore(tacit__learner *l, tacit__vault *vault,
                                                   tacit_error *err);

/* Reads the row again, and brings the agent to the state that was published: it learns again from the users
 * since the state on disk, if there is a later one. What the agent had learned beyond that is forgotten.
 * *changed: something else is published than before. */
TACIT_MUST_USE tacit_status tacit__learner_refresh(tacit__learner *l, bool *changed,
                                                   tacit_error *err);
/* Learns from the next input, if there is one (learner.c). */
TACIT_MUST_USE tacit_status tacit__learner_next(tacit__learner *l, bool *found, tacit_error *err);

/* Writes the state into l->state, and computes its size. */
TACIT_MUST_USE tacit_status tacit__learner_save(tacit__learner *l, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__learner_state_size(const tacit__learner *l, size_t *size,
                                                      tacit_error *err);

/* Makes the board of the last plan. */
TACIT_MUST_USE tacit_status tacit__learner_make_board(tacit__learner *l, tacit__board **out,
                                                      tacit_error *err);

/* Publishes a board, which the learner owns from now on, with the figures that belong to it. */
void tacit__learner_publish(tacit__learner *l, tacit__board *board);

/* Called after a user was learned from and the agent has planned: adds a point of the history if one is due.
 * Which users are points depends only on their number, so curves look the same whether users came one by one
 * or in a burst. */
TACIT_MUST_USE tacit_status tacit__learner_record_history(tacit__learner *l, tacit_error *err);

/* The number of users at the next point after this many. */
uint64_t tacit__learner_point_after(uint64_t users);

/* Writes the ledger and the points to disk, and the state if it is small. Only then publishes the board. */
TACIT_MUST_USE tacit_status tacit__learner_save_and_publish(tacit__learner *l, tacit_error *err);

/* When the next checkpoint is due, by tacit__now_ms; HUGE_VAL: never. */
double tacit__learner_checkpoint_due(const tacit__learner *l);
/* Writes the state to disk. Everything that was learned must have been published. Afterwards the inputs in it
 * can be deleted. */
TACIT_MUST_USE tacit_status tacit__learner_checkpoint(tacit__learner *l, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__learner_drop_inputs(tacit__learner *l, tacit_error *err);

/* Several threads report the number of accepted users, each as of its own moment. The number never decreases,
 * and is never below the number of users learned from. The caller holds the lock. */
static inline void tacit__learner_raise_accepted(tacit__learner *l, uint64_t accepted)
{
    if (l->figures.accepted < accepted)
        l->figures.accepted = accepted;
}

#endif
