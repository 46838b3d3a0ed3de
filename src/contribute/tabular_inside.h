/* The inside of the form of tabular counts, shared by the files that hold its parts. */
#ifndef TACIT_CONTRIBUTE_TABULAR_INSIDE_H
#define TACIT_CONTRIBUTE_TABULAR_INSIDE_H

#include "contribute/tabular.h"
#include "noise/stream.h"

typedef enum stream_name {
    VISITS = TACIT__VISITS,
    MOVES = TACIT__MOVES,
    REWARDS = TACIT__REWARD_SUMS,
    STREAMS = TACIT__TABULAR_STREAMS
} stream_name;

typedef struct count_stream {
    size_t place;  /* among the curator's streams */
    size_t size;   /* cells; 0: lists are kept instead */
    size_t report; /* numbers of a contribution: all cells, or those of one table; 0: none */
    tacit__stream *stream; /* NULL: visits are sums of moves, or lists are kept */
    double *counts;        /* one_step, and visits that are sums of moves: what is shown */
    double *before;        /* one_step: the sum of all reports, one user ago */
    double level;          /* joint: error level of every release */
    double stddev;         /* joint: of the noise in the noisiest one */
} count_stream;

struct tacit__tabular {
    tacit__tabular_rule rule;
    count_stream streams[STREAMS];
    double eta;           /* failure probability of one cell at one episode */
    uint64_t level_users; /* local: most users for which the levels below hold */
    double local_level[STREAMS];
    uint64_t summed;           /* users of the moves that visits are sums of, + 1; 0: none yet */
    tacit__site chance;        /* public: the step that a user reports */
    uint64_t step;             /* the one that the last user reported */
    uint64_t *reports;         /* one_step: users that reported each step */
    tacit__tabular_user *user; /* private: scratch for a contribution */
    size_t n_rows;
    tacit__sparse_row *rows; /* exact moves of large spaces, instead of a table; else NULL */
};

static inline bool tacit__tabular_is_private(const tacit__tabular_options *o)
{
    return o->guarantee.model != TACIT_MODEL_NONE;
}

static inline bool tacit__tabular_is_local(const tacit__tabular_options *o)
{
    return o->guarantee.model == TACIT_MODEL_LOCAL;
}

/* Whether a stream passes the door. */
static inline bool tacit__tabular_is_released(const tacit__tabular_options *o, int which)
{
    return which != VISITS || !o->visits_from_moves;
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
TACIT_MUST_USE tacit_status tacit__tabular_check_memory(const tacit__tabular *f, tacit_error *err);

/* What passes the door, or is counted without one. */
tacit__stream_spec tacit__tabular_stream(const tacit__tabular *f, stream_name which);
double tacit__tabular_weight(const tacit__tabular_options *o, stream_name which);

/* The streams are open: lattices, the rule of what counts, and error levels. */
TACIT_MUST_USE tacit_status tacit__tabular_open(tacit__tabular *f, const tacit_plan *plan,
                                                tacit_error *err);

/* Error levels of all streams when this many users have reported; 0 without any. */
void tacit__tabular_local_levels(const tacit__tabular *f, uint64_t users, double levels[STREAMS]);
/* Error level of the release of a private stream that shows so many users. */
double tacit__tabular_level(tacit__tabular *f, stream_name which, uint64_t users);

/* The standard deviation of its noise, in the cell that has the most. */
double tacit__tabular_stddev(const tacit__tabular *f, stream_name which, uint64_t users);

#endif
