/* This function says whether this process is one of several that were started together. */
#ifndef TACIT_CLI_MPI_RANKS_H
#define TACIT_CLI_MPI_RANKS_H

#include <stdbool.h>

#include <tacit/lab.h>

typedef struct cli_ranks {
    bool several;
    tacit_transport transport; /* if several */
    const tacit_transport_module *module;
} cli_ranks;

/* Joins the other processes if the launcher's variables say that there are any; otherwise MPI is not
 * used. */
int cli_ranks_open(cli_ranks *ranks);
/* `failed`: other processes may be dead, so this one does not wait for them. */
void cli_ranks_close(cli_ranks *ranks, bool failed);

#endif
