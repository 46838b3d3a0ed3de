/* mpirun and srun tell a process how many processes there are. Only if there are several, the MPI module is
 * loaded, from beside the command or from where it was installed. */
#include "cli/mpi_ranks.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"

/* From the directory of the command to the installed module; the build says. */
#ifndef TACIT_MPI_MODULE
#define TACIT_MPI_MODULE "../lib/tacit/tacit-mpi.so"
#endif

static unsigned long number_of(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtoul(text, NULL, 10) : 0;
}

/* Returns how many processes were started together: by mpirun, by a launcher with PMI, or by Slurm with
 * PMIx. */
static unsigned long count(void)
{
    unsigned long n = number_of("OMPI_COMM_WORLD_SIZE");
    if (n == 0)
        n = number_of("PMI_SIZE");
    if (n == 0 && getenv("PMIX_RANK") != NULL) {
        n = number_of("SLURM_STEP_NUM_TASKS");
        if (n == 0)
            n = number_of("SLURM_NTASKS");
    }
    return n;
}

static void *load(void)
{
    static const char *const places[] = {"tacit-mpi.so", TACIT_MPI_MODULE};
    char self[PATH_MAX], path[PATH_MAX + sizeof TACIT_MPI_MODULE + 16];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return NULL;
    self[length] = '\0';
    const char *directory = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", directory, places[i]);
        /* Global, because MPI loads parts of its own that look for its symbols. */
        void *handle = access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
        if (handle != NULL)
            return handle;
    }
    return NULL;
}

int cli_ranks_open(cli_ranks *ranks)
{
    TACIT__REQUIRE(ranks != NULL);
    *ranks = (cli_ranks){.several = false};
    unsigned long n = count();
    if (n < 2)
        return CLI_DONE;
    void *handle = load();
    if (handle != NULL)
        ranks->module = dlsym(handle, "tacit_mpi");
    if (ranks->module == NULL)
        return cli_wrong("started as one of %lu processes, but this build has no MPI "
                         "(libopenmpi-dev); start it alone, with -j",
                         n);
    tacit_error err = {0};
    tacit_status status = ranks->module->open(&ranks->transport, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    ranks->several = true;
    return CLI_DONE;
}

void cli_ranks_close(cli_ranks *ranks, bool failed)
{
    if (ranks->several)
        ranks->module->close(&ranks->transport, failed);
    ranks->several = false;
}
