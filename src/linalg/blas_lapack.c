/* See blas.h: by OpenBLAS and LAPACK, on the calling thread. */
#include "linalg/blas.h"

#include <cblas.h>
#include <lapacke.h>
#include <pthread.h>

#include "base/error.h"

/* Jobs are parallel, so BLAS must not be: one thread each, and the same bits whatever their number. */
static void one_thread(void)
{
    openblas_set_num_threads(1);
}

static void start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, one_thread);
}

static CBLAS_TRANSPOSE operation(bool transpose)
{
    return transpose ? CblasTrans : CblasNoTrans;
}

void tacit__blas_gemm(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
                      double alpha, const double *a, size_t lda, const double *b, size_t ldb,
                      double beta, double *c, size_t ldc)
{
    start();
    cblas_dgemm(CblasColMajor, operation(transpose_a), operation(transpose_b), (int)m, (int)n,
                (int)k, alpha, a, (int)lda, b, (int)ldb, beta, c, (int)ldc);
}

void tacit__blas_gemv(bool transpose, size_t m, size_t n, double alpha, const double *a, size_t lda,
                      const double *x, double beta, double *y)
{
    start();
    cblas_dgemv(CblasColMajor, operation(transpose), (int)m, (int)n, alpha, a, (int)lda, x, 1, beta,
                y, 1);
}

void tacit__blas_ger(size_t m, size_t n, double alpha, const double *x, const double *y, double *a,
                     size_t lda)
{
    start();
    cblas_dger(CblasColMajor, (int)m, (int)n, alpha, x, 1, y, 1, a, (int)lda);
}

void tacit__blas_syrk(size_t d, size_t n, const double *a, size_t lda, double *c, size_t ldc)
{
    start();
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)d, (int)n, 1, a, (int)lda, 1, c,
                (int)ldc);
}

void tacit__blas_trsm_left(bool transpose, size_t d, size_t n, const double *factor, size_t lda,
                           double *b, size_t ldb)
{
    start();
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, operation(transpose), CblasNonUnit, (int)d,
                (int)n, 1, factor, (int)lda, b, (int)ldb);
}

void tacit__blas_trsm_right(size_t n, size_t d, const double *factor, size_t lda, double *b,
                            size_t ldb)
{
    start();
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)n, (int)d, 1,
                factor, (int)lda, b, (int)ldb);
}

bool tacit__blas_potrf(size_t d, double *a, size_t lda)
{
    start();
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)d, a, (lapack_int)lda) == 0;
}

void tacit__blas_trtri(size_t d, double *a, size_t lda)
{
    start();
    lapack_int info =
        LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', (lapack_int)d, a, (lapack_int)lda);
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
    start();
    lapack_int *integers = (lapack_int *)(scratch + n_work(d));
    lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)d, a, (lapack_int)lda, values,
                            scratch, (lapack_int)n_work(d), integers, (lapack_int)(3 + 5 * d));
    TACIT__REQUIRE(info == 0); /* finite input: the QR iteration converges */
}
