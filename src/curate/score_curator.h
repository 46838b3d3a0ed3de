/* The curator of learners with scores: a sum of bounded vectors for each batch of users, shown once,
 * when the batch is over. Each user is in one batch; which one follows from the place in line. Sums may fade:
 * then each has a share of the one before it. */
#ifndef TACIT_CURATE_SCORE_CURATOR_H
#define TACIT_CURATE_SCORE_CURATOR_H

#include <tacit/billboard.h>
#include <tacit/ledger.h>

#include "base/bytes.h"
#include "base/int128.h"
#include "board/score_sums.h"

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

enum { TACIT__SCORES_WHOLE = 1 << 16 }; /* shares of sums are whole numbers below it */

typedef struct tacit__scores_options {
    tacit__score_form form; /* its context must outlive the curator */
    uint64_t episodes;      /* K */
    uint64_t visits, apart; /* of one person (0: 1) */
    uint64_t first;         /* users of the first batch */
    double growth;          /* of the users from batch to batch, above 1; may be infinite */
    /* joint with delta > 0, people who come once: a sum has this share of the one before */
    uint32_t fade;
    uint64_t last;             /* after this many users nothing is shown; 0: there is no limit */
    tacit_guarantee guarantee; /* with delta 0 the form has l1, else l2 */
    /* local, and the form has a table: users give as many answers instead of numbers with noise
     * (curate/score_answers.h); 0: they do not */
    size_t each;
} tacit__scores_options;

typedef struct tacit__scores tacit__scores;

/* How far one person moves all sums together, in units of one visit (1 for people who come once), and
 * how many users are in sums that are shown. */
typedef struct tacit__scores_prediction {
    double column;
    uint64_t shown;
} tacit__scores_prediction;

TACIT_MUST_USE tacit_status tacit__scores_predict(const tacit__scores_options *options,
                                                  tacit__scores_prediction *out, tacit_error *err);

TACIT_MUST_USE tacit_status tacit__scores_create(const tacit__scores_options *options,
                                                 tacit_noise *noise, tacit__scores **out,
                                                 tacit_error *err);
void tacit__scores_destroy(void *curator);

/* Batches that are shown, and [that many + 1] the users when each is over; the last is not shown. */
size_t tacit__scores_batches(const tacit__scores *curator);
const uint64_t *tacit__scores_ends(const tacit__scores *curator);

/* What is known of the sums beforehand. */
tacit__score_noise tacit__scores_noise(const tacit__scores *curator);

/* What a user adds, exactly: integers on the form's lattice, made of the trajectory and of public knowledge
 * alone. A party that holds no sums can make them. out is [numbers], then [states]. The trajectory lies in
 * the space. */
void tacit__scores_contribute(const tacit__score_form *form, const tacit_trajectory *user,
                              int64_t *out);

/* One user. States or actions outside the space: refused, nothing changed. */
TACIT_MUST_USE tacit_status tacit__scores_add(tacit__scores *curator, const tacit_trajectory *user,
                                              tacit_error *err);

/* Local: the two halves of `add`. The user's device makes a report; bytes = NULL gives its size. The server
 * adds what came. What no device can have made is OUT_OF_BOUND, and changes nothing. */
TACIT_MUST_USE tacit_status tacit__scores_report(tacit__scores *curator,
                                                 const tacit_trajectory *user, void *bytes,
                                                 size_t *size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__scores_check_report(const void *curator, const void *bytes,
                                                       size_t size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__scores_absorb(void *curator, const void *bytes, size_t size,
                                                 tacit_error *err);

/* Users so far; batches that have been shown; and the last of these. */
uint64_t tacit__scores_users(const tacit__scores *curator);
size_t tacit__scores_shown(const tacit__scores *curator);
tacit__score_sums tacit__scores_release(const tacit__scores *curator);

/* As part of a saved state (base/bytes.h); loaded into a fresh curator. The size is always the same. Returns
 * how many batches have been shown in what is saved or loaded. */
size_t tacit__scores_fields(tacit__scores *curator, tacit__saved *s);

#endif
