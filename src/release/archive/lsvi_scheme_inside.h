/* The inside of the search for a scheme, shared by the files that hold its parts. */
#ifndef TACIT_RELEASE_LSVI_SCHEME_INSIDE_H
#define TACIT_RELEASE_LSVI_SCHEME_INSIDE_H

#include "release/archive/lsvi_scheme.h"

enum { TACIT__LSVI_RATIOS = 49 }; /* of t, from 2^-12 to 2^12 by factors of sqrt(2) */

typedef struct tacit__lsvi_search {
    const tacit__lsvi_scheme_options *w;
    double budget;                    /* mu, or epsilon */
    double reach[TACIT__LSVI_RATIOS]; /* at ratio_at(i) */
    double gram_reach;                /* reach(0) */
    double norm;                      /* expected largest eigenvalue of unit noise */
    double alpha;
} tacit__lsvi_search;

/* A way to release: how often, and how well the Gram mechanism does. */
typedef struct tacit__lsvi_way {
    uint64_t leaf, leaves, switches;
    double factor;
    double unit, rate; /* of leaf ends; rate 0: equal leaves */
    double column, row;
} tacit__lsvi_way;

/* Scales for it. */
typedef struct tacit__lsvi_scales {
    double gram, response; /* of a draw */
    double ratio;          /* t; Laplace: 0 */
    double loss;           /* what was minimized */
} tacit__lsvi_scales;

static inline bool tacit__lsvi_is_laplace(const tacit__lsvi_search *s)
{
    return s->w->guarantee.delta == 0;
}

static inline tacit__lsvi_scheme tacit__lsvi_leaves_of(const tacit__lsvi_way *c)
{
    return (tacit__lsvi_scheme){
        .leaf = c->leaf, .leaves = c->leaves, .unit = c->unit, .rate = c->rate};
}

/* The best split of the budget for a way to release. */
tacit__lsvi_scales tacit__lsvi_split(const tacit__lsvi_search *s, const tacit__lsvi_way *c);

/* For the search: column and row of the better of both mechanisms, roughly. */
void tacit__lsvi_estimate_gain(const tacit__lsvi_search *s, tacit__lsvi_way *c);

/* --- lsvi_schedules.c: when Gram matrices are shown, and how many switches pay */

/* Without noise; `bound`: the bound on switches of a schedule that watches Gram matrices. */
tacit__lsvi_way tacit__lsvi_exact_way(const tacit__lsvi_scheme_options *w, uint64_t *bound);

/* The tests of a schedule that watches, without switches yet; and then the cap on switches and the factor,
 * once column and row are known. */
tacit__lsvi_way tacit__lsvi_tests(const tacit__lsvi_scheme_options *w);
tacit__lsvi_way tacit__lsvi_best_watching(const tacit__lsvi_search *s, tacit__lsvi_way c,
                                          uint64_t *bound);

/* Of the other schedules. */
tacit__lsvi_way tacit__lsvi_best_way(const tacit__lsvi_search *s);

#endif
