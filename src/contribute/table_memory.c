/* See contribute/table_memory.h. Counts have a cell for each next state, so states count twice: only fewer of
 * them, or features in their place, help where the steps have one table already. */
#include "contribute/table_memory.h"

#include "base/error.h"
#include "base/host.h"

tacit_status tacit__table_check_memory(const tacit__space *space, double cells, double bytes,
                                       tacit_error *err)
{
    TACIT__REQUIRE(space != NULL && cells >= 0 && bytes >= 0);
    if (bytes <= tacit__machine_memory() / 2)
        return TACIT_OK;
    return tacit__fail(err, TACIT_TOO_LARGE,
                       "counts of %zu states, %zu actions and their next states%s have %.3g cells "
                       "and would need about %.3g GB; %suse fewer states, or declare features of "
                       "them (lsvi-ucb)",
                       space->n_states, space->n_actions, space->tables > 1 ? " at every step" : "",
                       cells, bytes / 1e9,
                       space->tables > 1 ? "pool the steps if they are alike (pooled: yes), " : "");
}
