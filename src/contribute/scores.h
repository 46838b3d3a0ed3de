/* Scores: vectors that a public function makes of a trajectory, for learners who sum them over batches of
 * people. Each sum is of one batch, and is shown once, when the batch is over; it may fade, and then has a
 * share of the one before it. */
#ifndef TACIT_CONTRIBUTE_SCORES_H
#define TACIT_CONTRIBUTE_SCORES_H

#include "base/int128.h"
#include "board/score_sums.h"
#include "contribute/statistic.h"

/* What users add: for their steps `numbers` integers on the lattice of step 2^-bits, which a public function
 * makes of a trajectory alone; and `start` in the cell of the first state. */
typedef struct tacit__score_form {
    size_t n_states, n_actions, horizon; /* of trajectories */
    size_t numbers;
    int bits;
    double largest; /* magnitude of one number, in lattice steps */
    int64_t start;  /* in lattice steps */
    /* how far two users' vectors are apart at most, in units of the data; 0: not known */
    double l1, l2;
    const char *reason; /* why, for the release plan; and where sums fade */
    const char *fading_reason;
    /* The numbers of a user whose trajectory lies in the space. */
    void (*write)(const void *context, const tacit_trajectory *user, int64_t *out);
    const void *context;
    /* NULL, or the table of which users add rows: then they can also answer which row it was */
    const tacit__score_table *table;
} tacit__score_form;

/* delta 0: noise is Laplace, and L1 counts. */
static inline bool tacit__scores_are_pure(tacit_guarantee g)
{
    return g.model != TACIT_MODEL_NONE && g.delta == 0;
}

/* Rows of a public table, which must outlive the form; `is_l1`: users are apart in L1, for delta 0, else in
 * L2. */
TACIT_MUST_USE tacit_status tacit__score_form_of_table(const tacit__score_table *table, bool is_l1,
                                                       tacit__score_form *out);

/* Sets `start` and `l2` of a form, of which `bits` is set: its numbers move by sqrt(moved) lattice steps at
 * most if a user is replaced. */
void tacit__score_form_reach(tacit__score_form *form, tacit__u128 moved);

typedef struct tacit__scores_options {
    tacit__score_form form; /* its context must outlive the curator */
    uint64_t episodes;      /* K */
    uint64_t visits, apart; /* of one person (0: 1) */
    const uint64_t *ends;   /* [batches]: users when each of the batches that are shown is over */
    size_t batches;
    /* joint with delta > 0, people who come once: a sum has this share of the one before */
    uint32_t fade;
    tacit_guarantee guarantee; /* with delta 0 the form has l1, else l2 */
    /* local, and the form has a table: users give as many answers instead of numbers with noise
     * (contribute/score_answers.h); 0: they do not */
    size_t each;
} tacit__scores_options;

/* What passes the door. */
tacit__stream_spec tacit__scores_stream(const tacit__scores_options *options);

/* What a curator is made of. */
TACIT_MUST_USE tacit_status tacit__scores_describe(const tacit__scores_options *options,
                                                   tacit__curator_spec *out, tacit_error *err);

/* What is known of the sums beforehand, but for the variance of their noise unless users answer. */
TACIT_MUST_USE tacit_status tacit__scores_noise(const tacit__scores_options *options,
                                                tacit__score_noise *out, tacit_error *err);

/* What a user adds, exactly: integers on the form's lattice, made of the trajectory and of public knowledge
 * alone: out is [numbers], then [states]. The trajectory lies in the space. */
void tacit__scores_contribute(const tacit__score_form *form, const tacit_trajectory *user,
                              int64_t *out);

#endif
