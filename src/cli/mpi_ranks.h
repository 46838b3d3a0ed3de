/* Whether this process is one of several that were started together. */
#ifndef TACIT_CLI_MPI_RANKS_H
#define TACIT_CLI_MPI_RANKS_H

#include <stdbool.h>

#include <tacit/lab.h>

typedef struct cli_ranks {
    bool several;
    tacit_transport transport; /* if several */
    const tacit_transport_module *module;
} cli_ranks;

/* Joins the others if there are any, as the launcher's variables tell; MPI is not touched otherwise. */
int cli_ranks_open(cli_ranks *ranks);
/* `failed`: others may be dead, so nobody is waited for. */
void cli_ranks_close(cli_ranks *ranks, bool failed);

#endif
