/* How far a user moves Gram matrices and responses: see gram_reach.c. */
#ifndef TACIT_CONTRIBUTE_GRAM_REACH_H
#define TACIT_CONTRIBUTE_GRAM_REACH_H

#include "contribute/gram.h"

static inline bool tacit__gram_is_private(const tacit__gram_options *o)
{
    return o->guarantee.model != TACIT_MODEL_NONE;
}

static inline bool tacit__gram_is_laplace(const tacit__gram_options *o)
{
    return o->guarantee.delta == 0;
}

static inline double tacit__gram_radius(const tacit__gram_stream *o, size_t h)
{
    return o->radius != NULL ? o->radius[h] : 1;
}

/* That a level of a block fails. */
static inline double tacit__gram_failure(const tacit__gram_options *o, const tacit__gram_form *f)
{
    return o->failure / (double)f->o.frame.blocks;
}

/* Of the whole run. */
static inline uint64_t tacit__gram_releases(const tacit__gram_options *o)
{
    return o->ends != NULL ? o->n_ends : o->episodes > 1 ? o->episodes - 1 : 1;
}

/* Fills in the ratio, the reach and the lattice of a form, and the sum that they are declared for. */
TACIT_MUST_USE tacit_status tacit__gram_find_reach(const tacit__gram_options *options,
                                                   tacit__gram_form *form, tacit_sum_spec *out,
                                                   tacit_error *err);

#endif
