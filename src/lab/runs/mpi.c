/* The transport over MPI: a module of its own, tacit-mpi.so, so that neither the library nor the command
 * needs MPI to start. Messages are sent plainly and received when a probe finds them; one thread does
 * both. */
#include <mpi.h>

#include <limits.h>

#include <tacit/lab.h>

/* The module's one symbol. */
TACIT_API extern const tacit_transport_module tacit_mpi;

enum { TAG = 1 };

static tacit_status check(int code)
{
    return code == MPI_SUCCESS ? TACIT_OK : TACIT_SYSTEM;
}

static tacit_status send_bytes(void *context, unsigned to, const void *bytes, size_t size)
{
    (void)context;
    if (size > INT_MAX)
        return TACIT_TOO_LARGE;
    return check(MPI_Send(bytes, (int)size, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD));
}

static tacit_status receive_bytes(void *context, unsigned *from, void *bytes, size_t room,
                                  size_t *size)
{
    int found = 0, count = 0;
    MPI_Status status;
    (void)context;
    *size = 0;
    int code = MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &found, &status);
    if (code != MPI_SUCCESS || !found)
        return check(code);
    code = MPI_Get_count(&status, MPI_BYTE, &count);
    if (code != MPI_SUCCESS || count < 0 || (size_t)count > room)
        return TACIT_SYSTEM;
    code = MPI_Recv(bytes, count, MPI_BYTE, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, &status);
    *from = (unsigned)status.MPI_SOURCE;
    *size = (size_t)count;
    return check(code);
}

static tacit_status open_transport(tacit_transport *out, tacit_error *err)
{
    int provided, rank = 0, size = 1;
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    if (code == MPI_SUCCESS) /* ranks.c handles a lost process; MPI must not abort */
        code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (code != MPI_SUCCESS) {
        static const char why[] = "MPI cannot be started";
        if (err != NULL) {
            err->status = TACIT_SYSTEM;
            for (size_t i = 0; i < sizeof why; i++)
                err->message[i] = why[i];
        }
        return TACIT_SYSTEM;
    }
    *out = (tacit_transport){.rank = (unsigned)rank,
                             .size = (unsigned)size,
                             .send = send_bytes,
                             .receive = receive_bytes};
    return TACIT_OK;
}

static void close_transport(tacit_transport *transport, bool failed)
{
    (void)transport;
    if (failed) /* finalizing would wait for processes that are gone */
        (void)MPI_Abort(MPI_COMM_WORLD, 3);
    (void)MPI_Finalize();
}

const tacit_transport_module tacit_mpi = {open_transport, close_transport};
