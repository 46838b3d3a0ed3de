/* Tables of transitions, and after a line "---" of initial states: read or refused with a sentence; what is
 * read has rows that sum to one and a value between 0 and the horizon. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "support/scoped.h"
#include "worlds/kinds/table.h"

SCOPED_TYPE(tacit__mdp, tacit__mdp_destroy)

static void check(const tacit__mdp *mdp)
{
    for (size_t row = 0; row < mdp->n_rows; row++) {
        double sum = 0;
        for (size_t i = mdp->start[row]; i < mdp->start[row + 1]; i++) {
            require(mdp->next[i] < mdp->n_states && mdp->prob[i] > 0);
            sum += mdp->prob[i];
        }
        require(fabs(sum - 1) < 1e-12);
    }
    SCOPED_FREE double *scratch = calloc(2 * mdp->n_states, sizeof *scratch);
    require(scratch != NULL);
    double value = tacit__mdp_solve(mdp, NULL, NULL, scratch);
    require(value >= 0 && value <= (double)mdp->horizon * (1 + 1e-12));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *cut = size > 0 ? memmem(text, size, "---\n", 4) : NULL;
    size_t first = cut != NULL ? (size_t)(cut - text) : size;
    tacit__table_source source = {.transitions = {text, first},
                                  .transitions_name = "t.csv",
                                  .initial_name = "i.csv",
                                  .horizon = 5,
                                  .reward_low = -1,
                                  .reward_high = 1};
    if (cut != NULL)
        source.initial = (tacit__span){cut + 4, size - first - 4};
    SCOPED(tacit__mdp) *mdp = NULL;
    tacit_error err = {.message = ""};
    if (tacit__table_create(&source, &mdp, &err) == TACIT_OK)
        check(mdp);
    else
        require(mdp == NULL && err.message[0] != '\0');
    return 0;
}
