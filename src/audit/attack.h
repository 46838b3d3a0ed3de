/* An attack: many runs in two neighboring worlds, an event chosen on some of them, what the others prove
 * about it. */
#ifndef TACIT_AUDIT_ATTACK_H
#define TACIT_AUDIT_ATTACK_H

#include "audit/search.h"

/* The proof that an event has given. */
typedef struct tacit__proof {
    tacit__score score;
    int world;        /* the world in which the event is more likely */
    double threshold; /* threshold of the score */
    bool above;       /* the event is that the score is above the threshold; otherwise below */
    uint64_t hits, alarms,
        /* how often the event was seen in that world and in the other, in n runs of each */
        n;
    double value; /* the bound: epsilon or mu; -inf: nothing */
} tacit__proof;

typedef struct tacit__attack_options {
    uint64_t trials; /* runs in each world; a quarter of them chooses the events */
    uint64_t seed;
    unsigned n_threads;
    double delta;
    /* error probabilities of the two proofs; error_mu 0: there is no second one */
    double error_epsilon, error_mu;
    bool (*progress)(const void *context, uint64_t done, uint64_t all, double seconds);
    const void *context;
} tacit__attack_options;

typedef struct tacit__attack {
    tacit__proof epsilon, mu;
    uint64_t selection; /* runs in each world that chose the events */
    tacit__residuals residuals;
    bool one_sided; /* in some run only one of the two users was taken */
    bool same_view; /* what a device sent was made of releases alone */
    bool stopped;   /* `progress` stopped it, and nothing else here counts */
} tacit__attack;

TACIT_MUST_USE tacit_status tacit__attack_run(const tacit__subject *subject,
                                              const tacit__pair *pair,
                                              const tacit__attack_options *options,
                                              tacit__attack *out, tacit_error *err);

/* Returns how many of n runs choose the event. */
uint64_t tacit__attack_selection(uint64_t trials);

#endif
