/* The inside of the tabular curator, shared by the files that hold its parts. */
#ifndef TACIT_CURATE_TABULAR_CURATOR_INSIDE_H
#define TACIT_CURATE_TABULAR_CURATOR_INSIDE_H

#include "curate/tabular_contribution.h"
#include "curate/tabular_curator.h"
#include "noise/stream.h"

typedef enum stream_name {
    VISITS = TACIT__VISITS,
    MOVES = TACIT__MOVES,
    REWARDS = TACIT__REWARD_SUMS,
    STREAMS = TACIT__TABULAR_STREAMS
} stream_name;

typedef struct count_stream {
    size_t size;            /* cells */
    double *counts;         /* the exact counts, or room for a release; NULL: the sum has its own */
    const double *shown;    /* what the planner sees: `counts`, or the sum's */
    size_t report;          /* numbers in a user's contribution: all cells, or those of one table */
    double *total, *before; /* one_step: sum of all reports, now and one user ago */
    tacit_sum *sum;         /* NULL without privacy, and for visits that are sums of moves */
    double scale;           /* of the noise, 0 without */
    double level;           /* joint: error level of every release */
    double stddev;          /* joint: of the noise in the noisiest one */
} count_stream;

struct tacit__tabular {
    tacit__tabular_options o;
    tacit_ledger *ledger;
    count_stream streams[STREAMS];
    uint64_t users;
    uint64_t releases; /* of the private sums, in all */
    uint64_t shown;    /* users in the last release; with `growth`, else it is that of `users` */
    uint64_t due;      /* `growth`: users at the next one */
    /* users whose noise was drawn here: under local privacy reports count, not what was added */
    uint64_t drawn;
    bool fresh;  /* `counts` is the release of `users` users */
    bool broken; /* a charge was refused halfway through a user: nothing more is released */
    double eta;  /* failure probability of one cell at one episode */
    uint64_t level_users; /* local: most users for which the levels below hold */
    double local_level[STREAMS];
    tacit__site chance;        /* public: the step that a user reports */
    uint64_t *reports;         /* one_step: users that reported each step */
    tacit__tabular_form form;  /* private: what makes a contribution, */
    tacit__tabular_user *user; /* and scratch for that of a user */
    int64_t *scratch;          /* local: the numbers of a report */
    size_t n_rows;
    tacit__sparse_row *rows; /* exact moves of large spaces, instead of a table; else NULL */
};

static inline bool tacit__tabular_is_private(const tacit__tabular *c)
{
    return c->o.guarantee.model != TACIT_MODEL_NONE;
}

/* Users of a batch wait until it is released. */
static inline bool tacit__tabular_has_batches(const tacit__tabular *c)
{
    return tacit__tabular_is_private(c) && c->o.growth > 1;
}

/* The last user's data are never used. */
static inline bool tacit__tabular_is_needed(const tacit__tabular *c)
{
    return c->users + 1 < c->o.episodes;
}

/* Tables that the moves have. */
static inline size_t tacit__tabular_move_tables(const tacit__tabular_options *o)
{
    return o->space.tables - o->drop_last;
}

/* Cells of all streams together. */
static inline double tacit__tabular_cells(const tacit__tabular_options *o)
{
    const double s = (double)o->space.n_states;
    return s * (double)o->space.n_actions *
           (2 * (double)o->space.tables + s * (double)tacit__tabular_move_tables(o));
}

/* Dense private counts must fit into half of the machine's memory: the sums, and releases where the
 * sums have none at hand. */
TACIT_MUST_USE tacit_status tacit__tabular_check_memory(const tacit__tabular *c, tacit_error *err);

/* Plan, ledger and sums of the private curator. */
TACIT_MUST_USE tacit_status tacit__tabular_open_sums(tacit__tabular *c, tacit_noise *noise,
                                                     tacit_error *err);

/* Error levels of all streams when this many users have reported; 0 without any. */
void tacit__tabular_local_levels(const tacit__tabular *c, uint64_t users, double levels[STREAMS]);
/* Error level of the release of a private stream for the users so far. */
double tacit__tabular_level(tacit__tabular *c, stream_name which);

/* The standard deviation of its noise, in the cell that has the most. */
double tacit__tabular_stddev(const tacit__tabular *c, stream_name which);

/* The curator takes users still. */
TACIT_MUST_USE tacit_status tacit__tabular_check_open(const tacit__tabular *c, tacit_error *err);

/* The steps first .. last-1 that the next user shows: all, or one drawn by public chance. */
void tacit__tabular_steps(const tacit__tabular *c, size_t *first, size_t *last);

/* One step: what the sums have got since the last user, multiplied by H, into the table of step h. */
TACIT_MUST_USE tacit_status tacit__tabular_collect(tacit__tabular *c, size_t h, tacit_error *err);

#endif
