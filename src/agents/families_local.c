/* The families that have a local model: the list of libtacit_client, instead of families.c. A device makes no
 * other reports, so the library leaves out the other families. unit.families compares the two lists. */
#include "agents/family.h"

const tacit__family *const tacit__families[] = {&tacit__family_tabular,
                                                &tacit__family_posterior,
                                                &tacit__family_mixture,
                                                &tacit__family_posterior_mixture,
                                                &tacit__family_posterior_linear,
                                                &tacit__family_lin_ucb,
                                                &tacit__family_capri,
                                                &tacit__family_posterior_kernel,
                                                &tacit__family_posterior_bandit};
const size_t tacit__n_families = sizeof tacit__families / sizeof tacit__families[0];
