/* libsodium asks this of its surroundings, in WebAssembly: randomness, and an end.
 *
 * Of libsodium's own sources only those of the primitives are linked (cmake/Sodium.cmake), in their portable
 * form, so there are no implementations to choose from and sodium_init has nothing to do. Its randomness is
 * one imported function, which the package binds to crypto.getRandomValues; there is no other source. */
#include <sodium.h>

#include "base/host.h"

/* Fills the bytes; does not return if it cannot. */
__attribute__((import_module("tacit"), import_name("random"))) void tacit_host_random(void *out,
                                                                                      size_t n);

int sodium_init(void)
{
    return 0;
}

void randombytes_buf(void *const out, const size_t n)
{
    tacit_host_random(out, n);
}

void sodium_misuse(void)
{
    tacit__stop("libsodium was misused");
}

/* libsodium's assertions end here. The C library's own would write to a stderr that is not there. */
_Noreturn void __assert_fail(const char *what, const char *file, int line, const char *function)
{
    (void)file, (void)line, (void)function;
    tacit__stop(what);
}

/* wasi-libc's printf can complain on stderr about a long double. There are no files: the module imports
 * none of their functions, and these say so. */
enum { NOT_SUPPORTED = 52 }; /* ENOSYS of WASI */
int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t fd, int32_t pieces, int32_t n,
                                                   int32_t written)
{
    (void)fd, (void)pieces, (void)n, (void)written;
    return NOT_SUPPORTED;
}

int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t fd, int64_t offset, int32_t whence,
                                                  int32_t place)
{
    (void)fd, (void)offset, (void)whence, (void)place;
    return NOT_SUPPORTED;
}

int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t fd)
{
    (void)fd;
    return NOT_SUPPORTED;
}
