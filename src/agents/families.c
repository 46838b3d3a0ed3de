/* All families of learners: the list of libtacit. */
#include "agents/family.h"

const tacit__family *const tacit__families[] = {
    &tacit__family_tabular,          &tacit__family_posterior,
    &tacit__family_mixture,          &tacit__family_posterior_mixture,
    &tacit__family_posterior_linear, &tacit__family_lsvi,
    &tacit__family_lin_ucb,          &tacit__family_capri,
    &tacit__family_posterior_kernel, &tacit__family_gp,
    &tacit__family_posterior_bandit, &tacit__family_custom};
const size_t tacit__n_families = sizeof tacit__families / sizeof tacit__families[0];
