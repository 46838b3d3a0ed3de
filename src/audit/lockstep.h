/* A lockstep: two instances of a subject, one user different, everything that is released the same.
 *
 * The first instance is the real one: its noise decides. The second follows in lockstep with the same
 * releases, and so shows, passage by passage, what would have come to the door if the other user had come.
 * Exact and released values give the likelihood ratio of what is public: the best score that any attacker
 * could compute. With the releases the same, all else that others see must be the same too: billboards,
 * the bytes of reports, and whether a user is taken at all. */
#ifndef TACIT_AUDIT_LOCKSTEP_H
#define TACIT_AUDIT_LOCKSTEP_H

#include "audit/charges.h"
#include "audit/residuals.h"
#include "audit/subject.h"
#include "audit/tape.h"

/* Scores of one world against the other; 0 says nothing. */
typedef enum tacit__score {
    TACIT__SCORE_LIKELIHOOD, /* ln of the likelihood ratio, for the declared noise */
    /* Draws that would be 0, or used twice, if the first user came, minus the same for the second. */
    TACIT__SCORE_MATCHES,
    TACIT__SCORE_SIGNS, /* bytes, and silence, that only one of the two would send */
    TACIT__SCORES
} tacit__score;

const char *tacit__score_name(tacit__score score);

/* A stretch of draws of another run to compare with. */
typedef struct tacit__reference {
    int64_t *draws;
    size_t n, capacity;
} tacit__reference;

/* The outcome for one user. */
typedef enum tacit__lockstep_outcome {
    TACIT__TAKEN,
    TACIT__REFUSED,   /* whichever of the two came */
    TACIT__OUTSIDE,   /* one of the two, which is outside the domain: the curator may refuse it */
    TACIT__ONE_SIDED, /* one of the two, without such a reason: a refusal reveals which user it was */
} tacit__lockstep_outcome;

/* The bytes of a report. */
typedef struct tacit__message {
    uint8_t *bytes;
    size_t size;
} tacit__message;

typedef struct tacit__lockstep {
    const tacit__subject *subject;
    void *first, *second;
    tacit__tape *tape;
    tacit__charges charges; /* of the first */
    void *memory;           /* the tamper's */
    /* Releases have `magnified` times the noise, and `growth` times more at every step: unlikely ones,
     * which must be as safe as others. */
    double magnified, growth;
    double scores[TACIT__SCORES];
    /* The draws of the step before, all releases one after the other, under both hypotheses. */
    int64_t *last[2];
    int64_t *now;  /* scratch: a passage's draws */
    size_t n_last; /* numbers in each */
    uint64_t *last_step;
    size_t cursor;          /* numbers passed */
    tacit__message sent[2]; /* the last reports; none where `learn` is all there is */
    size_t report_room;
    tacit__residuals *check;           /* NULL: draws are not examined */
    tacit__reference *write;           /* NULL: draws are not kept */
    const tacit__reference *is;        /* NULL: there is no other run */
    const tacit__message *expected[2]; /* what the two sent in another run; NULL: not known */
    bool compare_views;
    bool same_view;
    bool bare;        /* a number that moved had no noise */
    bool other_bytes; /* a report differed although all releases were the same */
    bool one_sided;   /* some user's outcome was ONE_SIDED */
    bool undeclared;  /* a passage that the declared plan does not have */
    char fault[240];  /* in words, if the two differ or break the plan; else "" */
} tacit__lockstep;

/* Both instances fresh, with this seed. */
TACIT_MUST_USE tacit_status tacit__lockstep_create(tacit__lockstep *lockstep,
                                                   const tacit__subject *subject, uint64_t seed,
                                                   tacit_error *err);
/* Accepts a lockstep that is all zero. */
void tacit__lockstep_destroy(tacit__lockstep *d);

/* Plans in both instances and compares the billboards. `user`: where there is no table, the actions in this
 * user's situations are compared. */
TACIT_MUST_USE tacit_status tacit__lockstep_plan_both(tacit__lockstep *lockstep,
                                                      const tacit__user *user, tacit_error *err);

/* Both are devices that go by this model from now on. *followed: they took it. */
TACIT_MUST_USE tacit_status tacit__lockstep_follow(tacit__lockstep *lockstep,
                                                   const tacit__message *model, bool *followed,
                                                   tacit_error *err);

/* One user comes. After ONE_SIDED or OUTSIDE the lockstep is over: the two have nothing in common any
 * more. */
TACIT_MUST_USE tacit_status tacit__lockstep_add(tacit__lockstep *lockstep, const tacit__user *first,
                                                const tacit__user *second,
                                                tacit__lockstep_outcome *outcome, tacit_error *err);

/* Returns the plan to which the first instance is held. */
const tacit_plan *tacit__lockstep_plan(const tacit__lockstep *d);

/* Returns what the run has found so far. */
tacit__verdict tacit__lockstep_verdict(tacit__lockstep *d);

/* Records a fault; only the first is kept. */
void tacit__lockstep_fault(tacit__lockstep *d, const char *what);

#endif
