/* The inside of a learner, shared by learner.c (its thread), learner_state.c (its state) and learner_disk.c
 * (when the state is written to disk). */
#ifndef TACIT_SERVE_LEARNER_LEARNER_INSIDE_H
#define TACIT_SERVE_LEARNER_LEARNER_INSIDE_H

#include "base/wait.h"
#include "release/monitor.h"
#include "serve/learner/learner.h"

/* A batch ends before it has more points than this. */
enum { TACIT__LEARNER_POINTS = 256 };

struct tacit__learner {
    const tacit__learner_config *config;
    tacit_log_fn *log; /* or NULL */
    void *log_context;
    tacit__committer *committer;
    tacit__vault *reader; /* of inputs; the thread's */
    /* Requests read the plans and the remark at any time: they are those of the first agent and monitor,
     * which stay when others take their place. */
    tacit_agent *first_agent;
    tacit__monitor *first_monitor;
    tacit_agent *agent;
    tacit__monitor *monitor;  /* or NULL */
    tacit__vault_learner row; /* the thread's: users and taken are ahead of the disk */
    int64_t id;               /* of the row, for all threads: it stays */
    bool leads;               /* this process learns; else it follows another that does */
    bool shared;              /* the store is others', too */
    bool ahead;               /* the agent has users that were never shown */
    bool has_gap;             /* the next input that is there is not the next one */
    bool news;                /* something was taken that is not shown */
    uint64_t kept;            /* users in the state on disk */
    int64_t kept_input;       /* the last input in it, if this process wrote it in parts; else 0 */
    bool has_leftover;        /* inputs may be on disk that the state there has */
    size_t input_size;        /* bytes of the last one */
    double unkept_since;      /* ms: when the first one was taken who is not in that state */
    double kept_at;           /* ms: when it was written, and how long that took */
    double keep_cost;
    uint64_t next_point; /* users at the next point of the history */
    size_t n_points;     /* taken, not on disk */
    tacit__vault_point points[TACIT__LEARNER_POINTS];
    uint8_t *state; /* scratch for saving */
    size_t state_size, state_capacity;
    pthread_t thread;
    bool started;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t news_came;
    bool stop, more;
    bool may_lead;   /* it has the lease, */
    int64_t session; /* which is this session's */
    tacit__board *board;
    tacit__learner_figures figures;
    pthread_mutex_t agent_lock; /* of the agent's sums, against the check of reports */
};

/* Makes the agent and the monitor, and gives them the state that the vault has of this name, or begins a
 * new one there. */
TACIT_MUST_USE tacit_status tacit__learner_restore(tacit__learner *l, tacit__vault *vault,
                                                   tacit_error *err);

/* The row as the store has it now, and the agent as it was when that was shown: the users since then are
 * taken again, from the state on disk if there is a later one. What the agent had learned beyond that is
 * forgotten. *changed: something else is shown than before. */
TACIT_MUST_USE tacit_status tacit__learner_refresh(tacit__learner *l, bool *changed,
                                                   tacit_error *err);
/* The next input, if there is one (learner.c). */
TACIT_MUST_USE tacit_status tacit__learner_next(tacit__learner *l, bool *found, tacit_error *err);

/* The state as bytes, into l->state; and how many there are. */
TACIT_MUST_USE tacit_status tacit__learner_save(tacit__learner *l, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__learner_state_size(const tacit__learner *l, size_t *size,
                                                      tacit_error *err);

/* The board of the last plan. */
TACIT_MUST_USE tacit_status tacit__learner_make_board(tacit__learner *l, tacit__board **out,
                                                      tacit_error *err);

/* Puts the board up, which is the learner's from now on, with the figures that belong to it. */
void tacit__learner_publish(tacit__learner *l, tacit__board *board);

/* After a user was taken, and planned for: a point of the history if it is time for one. Which users are
 * points depends on nothing but their number, so curves look alike whether users came one by one or in a
 * burst. */
TACIT_MUST_USE tacit_status tacit__learner_record_history(tacit__learner *l, tacit_error *err);

/* Users at the first point after this many. */
uint64_t tacit__learner_point_after(uint64_t users);

/* Ledger and points on disk, and the state if it is small; then, and only then, the board. */
TACIT_MUST_USE tacit_status tacit__learner_save_and_publish(tacit__learner *l, tacit_error *err);

/* When the next checkpoint is due, by tacit__now_ms; HUGE_VAL: never. */
double tacit__learner_checkpoint_due(const tacit__learner *l);
/* The state on disk; all that was taken must have been shown. The inputs in it are then to be dropped. */
TACIT_MUST_USE tacit_status tacit__learner_checkpoint(tacit__learner *l, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__learner_drop_inputs(tacit__learner *l, tacit_error *err);

/* Several threads tell how many users were accepted, each of a moment of its own: it never becomes fewer,
 * and never fewer than were learned from. Under the lock. */
static inline void tacit__learner_raise_accepted(tacit__learner *l, uint64_t accepted)
{
    if (l->figures.accepted < accepted)
        l->figures.accepted = accepted;
}

#endif
