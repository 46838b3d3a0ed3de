/* A duel: two instances of a subject, one user different, everything that is released the same.
 *
 * The first instance is the real one: its noise decides. The second follows in lockstep with the same releases, and so
 * tells, passage by passage, what the door would have been given had the other user come. From exact and released
 * values follows the likelihood ratio of what everybody sees: the best score that any attacker could compute. */
#ifndef TACIT_AUDIT_DUEL_H
#define TACIT_AUDIT_DUEL_H

#include "audit/residuals.h"
#include "audit/subject.h"
#include "audit/tape.h"

/* Scores of one world against the other; 0 says nothing. */
typedef enum tacit__score {
    TACIT__SCORE_LIKELIHOOD, /* ln of the likelihood ratio, for the declared noise */
    TACIT__SCORE_MATCHES, /* draws that would be 0, or used twice, if the first user came, minus the same for the second */
    TACIT__SCORES
} tacit__score;

const char *tacit__score_name(tacit__score score);

/* A stretch of draws of another run to compare with. */
typedef struct tacit__reference {
    int64_t *draws;
    size_t n, capacity;
} tacit__reference;

typedef struct tacit__duel {
    const tacit__subject *subject;
    void *first, *second;
    tacit__tape *tape;
    void *memory; /* the tamper's */
    double scores[TACIT__SCORES];
    /* The draws of the step before, all releases one after the other, under both hypotheses. */
    int64_t *last[2];
    int64_t *now;  /* scratch: a passage's draws */
    size_t n_last; /* numbers in each */
    uint64_t *last_step;
    size_t cursor;              /* numbers passed */
    tacit__residuals *check;    /* NULL: draws are not examined */
    tacit__reference *write;    /* NULL: draws are not kept */
    const tacit__reference *is; /* NULL: there is no other run */
    bool compare_views;
    bool same_view;
    bool undeclared; /* a passage that the declared plan does not have */
    char fault[240]; /* in words, if the two differ or break the plan; else "" */
} tacit__duel;

/* Both instances fresh, with this seed. */
TACIT_MUST_USE tacit_status tacit__duel_open(tacit__duel *duel, const tacit__subject *subject,
                                             uint64_t seed, tacit_error *err);
/* Accepts a duel that is all zero. */
void tacit__duel_close(tacit__duel *duel);

/* One user comes, `plan`: after a look at what is shown. *refused: one of the instances did not take their user, and the
 * duel is over; the status is OK then. */
TACIT_MUST_USE tacit_status tacit__duel_step(tacit__duel *duel, bool plan, const tacit__user *first,
                                             const tacit__user *second, bool *refused,
                                             tacit_error *err);

/* What the first instance is held to. */
const tacit_plan *tacit__duel_plan(const tacit__duel *duel);

/* What they came to. */
tacit__verdict tacit__duel_verdict(const tacit__duel *duel);

#endif
