/* See blas.h: by OpenBLAS and LAPACK, on the calling thread, whatever number of threads the host has set. */
#include "linalg/blas.h"

#include <cblas.h>
#include <lapacke.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"

/* Jobs are parallel, so BLAS must not be: one thread each, and the same bits whatever their number. But
 * OpenBLAS has one number of threads for the whole process, and it belongs to the host. So the number is 1
 * from the moment a first call of ours enters OpenBLAS until the last one leaves it; then it is what it was.
 * A host that has set it to 1 itself, as the command does, saves the lock: `turns` counts our changes and is
 * odd while the 1 is ours, so a 1 that was read between two equal even counts is the host's. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint turns;
static size_t n_calls; /* in OpenBLAS now, without those that found the host's 1; under the mutex */
static int host_threads;

static bool enter(void)
{
    unsigned before = atomic_load(&turns);
    if (before % 2 == 0 && openblas_get_num_threads() == 1 && atomic_load(&turns) == before)
        return false;
    (void)pthread_mutex_lock(&mutex);
    if (n_calls++ == 0) {
        atomic_fetch_add(&turns, 1);
        host_threads = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
    (void)pthread_mutex_unlock(&mutex);
    return true;
}

static void leave(bool entered)
{
    if (!entered)
        return;
    (void)pthread_mutex_lock(&mutex);
    if (--n_calls == 0) {
        if (openblas_get_num_threads() == 1) /* else the host has changed it meanwhile */
            openblas_set_num_threads(host_threads);
        atomic_fetch_add(&turns, 1);
    }
    (void)pthread_mutex_unlock(&mutex);
}

/* Sizes as these libraries count them. */
static int length(size_t n)
{
    TACIT__REQUIRE(n <= INT_MAX);
    return (int)n;
}

static CBLAS_TRANSPOSE operation(bool transpose)
{
    return transpose ? CblasTrans : CblasNoTrans;
}

void tacit__blas_gemm(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
                      double alpha, const double *a, size_t lda, const double *b, size_t ldb,
                      double beta, double *c, size_t ldc)
{
    bool entered = enter();
    cblas_dgemm(CblasColMajor, operation(transpose_a), operation(transpose_b), length(m), length(n),
                length(k), alpha, a, length(lda), b, length(ldb), beta, c, length(ldc));
    leave(entered);
}

void tacit__blas_gemv(bool transpose, size_t m, size_t n, double alpha, const double *a, size_t lda,
                      const double *x, double beta, double *y)
{
    bool entered = enter();
    cblas_dgemv(CblasColMajor, operation(transpose), length(m), length(n), alpha, a, length(lda), x,
                1, beta, y, 1);
    leave(entered);
}

void tacit__blas_syrk(size_t d, size_t n, const double *a, size_t lda, double *c, size_t ldc)
{
    bool entered = enter();
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, length(d), length(n), 1, a, length(lda), 1,
                c, length(ldc));
    leave(entered);
}

void tacit__blas_trsm_left(bool transpose, size_t d, size_t n, const double *factor, size_t lda,
                           double *b, size_t ldb)
{
    bool entered = enter();
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, operation(transpose), CblasNonUnit, length(d),
                length(n), 1, factor, length(lda), b, length(ldb));
    leave(entered);
}

void tacit__blas_trsm_right(size_t n, size_t d, const double *factor, size_t lda, double *b,
                            size_t ldb)
{
    bool entered = enter();
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, length(n),
                length(d), 1, factor, length(lda), b, length(ldb));
    leave(entered);
}

bool tacit__blas_potrf(size_t d, double *a, size_t lda)
{
    bool entered = enter();
    lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', length(d), a, length(lda));
    leave(entered);
    return info == 0;
}

void tacit__blas_trtri(size_t d, double *a, size_t lda)
{
    bool entered = enter();
    lapack_int info = LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', length(d), a, length(lda));
    leave(entered);
    TACIT__REQUIRE(info == 0); /* a factor has no zero on its diagonal */
}

/* dsyevd with vectors: 1 + 6 d + 2 d^2 of work and 3 + 5 d integers. */
static size_t n_work(size_t d)
{
    return 1 + 6 * d + 2 * d * d;
}

size_t tacit__blas_syevd_scratch(size_t d)
{
    return n_work(d) + 3 + 5 * d;
}

void tacit__blas_syevd(size_t d, double *a, size_t lda, double *values, double *scratch)
{
    bool entered = enter();
    lapack_int *integers = (lapack_int *)(scratch + n_work(d));
    lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', length(d), a, length(lda), values, scratch,
                            length(n_work(d)), integers, length(3 + 5 * d));
    leave(entered);
    TACIT__REQUIRE(info == 0); /* finite input: the QR iteration converges */
}
