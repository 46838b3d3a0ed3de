/* A device's list of families: those that have a local model, and no others. */
#include "agents/family.h"

#include "support/check.h"

/* The other list, under names of its own. */
#define tacit__families local_families
#define tacit__n_families n_local_families
#include "agents/families_local.c" // NOLINT(bugprone-suspicious-include): both lists in one program
#undef tacit__families
#undef tacit__n_families

static bool has_local(const tacit__family *family)
{
    for (size_t i = 0; i < family->rows->n; i++)
        if (family->rows->at[i].kind.models & (TACIT_AGENT_LOCAL | TACIT_AGENT_LOCAL_PURE))
            return true;
    return false;
}

TEST(a_device_has_the_families_with_a_local_model_and_no_others)
{
    size_t n = 0;
    for (size_t f = 0; f < tacit__n_families; f++) {
        if (!has_local(tacit__families[f]))
            continue;
        assert_true(n < n_local_families);
        assert_ptr_equal(tacit__families[f], local_families[n++]);
    }
    assert_int_equal(n, n_local_families);
}
