/* These functions say how many trials an audit needs, and what a given number of trials can find. */
#ifndef TACIT_AUDIT_POWER_H
#define TACIT_AUDIT_POWER_H

#include "audit/pair.h"

/* A pair of neighbors, what is claimed, and the error probability of a proof. */
typedef struct tacit__prospect {
    tacit_law law;
    tacit_guarantee claim;
    double claim_mu;         /* mu of the claim, for Gaussian noise */
    double moved;            /* mu or epsilon of the pair, as declared */
    const tacit_cost *costs; /* the moves of the pair */
    size_t n_costs;
    double error_epsilon, error_mu;
    bool no_memory; /* set if memory ran out; then the answer does not count */
} tacit__prospect;

/* The smallest factor, of a list, such that this many trials in each world convict with 90 % probability a
 * mechanism whose noise is that much smaller than declared; HUGE_VAL: none of the list. */
double tacit__power_factor(tacit__prospect *prospect, uint64_t trials);

/* The largest epsilon that n runs in each world can prove, when the event always happens in one world and
 * never in the other. */
double tacit__power_ceiling(uint64_t n, double delta, double error);

/* Trials for an audit whose caller gave no number: enough to convict a mechanism that loses WANTED times
 * what is claimed, unless that is more work than `effort` numbers drawn. */
#define TACIT__POWER_WANTED 1.5
uint64_t tacit__power_choose(tacit__prospect *prospect, double numbers_per_trial, double effort);

#endif
