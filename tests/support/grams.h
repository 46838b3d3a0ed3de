/* Curators of Gram matrices as tests make them. */
#ifndef TACIT_TESTS_GRAMS_H
#define TACIT_TESTS_GRAMS_H

#include <tacit/noise.h>

#include "base/memory.h"
#include "contribute/gram.h"
#include "release/curator.h"
#include "release/schedule.h"
#include "support/check.h"

/* growth > 1: releases are rare. */
static inline tacit__curator *grams_create(tacit__gram_options o, double growth, tacit_noise *noise)
{
    tacit__curator_spec spec;
    tacit__curator *c = NULL;
    tacit_error err = {.message = ""};
    uint64_t *ends = NULL;
    if (growth > 1) {
        o.n_ends = (size_t)tacit__schedule_count(o.episodes - 1, growth, NULL);
        o.ends = ends = tacit__schedule_ends(o.episodes - 1, growth, o.n_ends);
    }
    if (tacit__gram_describe(&o, &spec, &err) != TACIT_OK ||
        tacit__curator_create(&spec, noise, &c, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    tacit__free(ends);
    return c;
}

static inline void grams_add(tacit__curator *c, const tacit_trajectory *user,
                             const tacit__lens *lenses)
{
    assert_ok(
        tacit__curator_add(c, &(tacit__user_view){.trajectory = user, .lenses = lenses}, NULL));
}

/* The last release of a stream. */
static inline tacit__gram_sums grams_view(tacit__curator *c, size_t stream)
{
    if (tacit__curator_ends(c) == NULL)
        assert_ok(tacit__curator_refresh(c, NULL));
    return tacit__gram_view(tacit__curator_form(c), stream, tacit__curator_stream(c, stream),
                            tacit__curator_released(c), tacit__curator_shown(c));
}

#endif
