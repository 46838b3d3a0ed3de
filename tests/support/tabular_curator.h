/* Curators of tabular counts, as tests use them. */
#ifndef TACIT_TESTS_SUPPORT_TABULAR_CURATOR_H
#define TACIT_TESTS_SUPPORT_TABULAR_CURATOR_H

#include "contribute/tabular.h"
#include "release/curator.h"
#include "support/check.h"

SCOPED_TYPE(tacit__curator, tacit__curator_destroy)
SCOPED_TYPE(tacit__tabular_user, tacit__tabular_user_destroy)

static inline tacit_status tabular_create(const tacit__tabular_options *o, tacit_noise *noise,
                                          tacit__curator **out, tacit_error *err)
{
    tacit__curator_spec spec;
    const tacit_status status = tacit__tabular_describe(o, noise, &spec, err);
    return status == TACIT_OK ? tacit__curator_create(&spec, noise, out, err) : status;
}

static inline tacit_status tabular_add(tacit__curator *c, const tacit_trajectory *user)
{
    return tacit__curator_add(c, &(tacit__user_view){.trajectory = user}, NULL);
}

/* What is shown now. */
static inline tacit__counts tabular_counts(tacit__curator *c)
{
    if (tacit__curator_ends(c) == NULL)
        assert_ok(tacit__curator_refresh(c, NULL));
    return tacit__tabular_view(tacit__curator_form(c), tacit__curator_shown(c));
}

#endif
