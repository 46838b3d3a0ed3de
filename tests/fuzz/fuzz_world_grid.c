/* Maps, in lines or inline, the first byte choosing: read or refused with a sentence; what is read is worth
 * between 0 and 1. */
#include <stdint.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "support/scoped.h"
#include "worlds/kinds/grid_world.h"

SCOPED_TYPE(tacit__mdp, tacit__mdp_destroy)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const tacit__grid_source source = {.map = {(const char *)data + 1, size - 1},
                                       .separator = data[0] == 'i' ? '/' : '\n',
                                       .file = "map",
                                       .line = 1,
                                       .horizon = 7,
                                       .slip = 0.3};
    SCOPED(tacit__mdp) *mdp = NULL;
    tacit_error err = {.message = ""};
    if (tacit__grid_create(&source, &mdp, &err) == TACIT_OK) {
        double *scratch = calloc(2 * mdp->n_states, sizeof *scratch);
        require(scratch != NULL);
        double value = tacit__mdp_solve(mdp, NULL, NULL, scratch);
        require(value >= 0 && value <= 1 + 1e-12);
        free(scratch);
    } else {
        require(mdp == NULL && err.message[0] != '\0');
    }
    return 0;
}
