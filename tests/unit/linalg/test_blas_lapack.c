/* The number of threads of OpenBLAS belongs to the host: the library computes on one, and leaves the number
 * as it was, whatever calls meet. */
#include "linalg/blas.h"

#include <string.h>

#include <cblas.h>

#include "base/parallel.h"
#include "support/check.h"
#include "support/random.h"

/* OpenBLAS divides products of this order among threads; with three, other bits come out. */
enum { D = 150, SIZE = D * D, N_JOBS = 24 };

typedef struct {
    double factor[SIZE], product[SIZE], vectors[SIZE], values[D], y[D];
} results;

/* Every function of blas.h once, on the matrix 2 I + A A^T. */
static void call_all(const double *a, results *r)
{
    static _Thread_local double scratch[2 * SIZE + 20 * D];
    assert_true(tacit__blas_syevd_scratch(D) <= sizeof scratch / sizeof *scratch);
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < D; i++)
        r->factor[i * D + i] = 2;
    tacit__blas_syrk(D, D, a, D, r->factor, D);
    memcpy(r->vectors, r->factor, sizeof r->vectors);
    tacit__blas_syevd(D, r->vectors, D, r->values, scratch);
    assert_true(tacit__blas_potrf(D, r->factor, D));
    tacit__blas_gemm(false, true, D, D, D, 1, a, D, a, D, 0, r->product, D);
    tacit__blas_trsm_left(false, D, D, r->factor, D, r->product, D);
    tacit__blas_trsm_right(D, D, r->factor, D, r->product, D);
    tacit__blas_gemv(true, D, D, 1, a, D, a, 0, r->y);
    tacit__blas_trtri(D, r->factor, D);
}

typedef struct {
    const double *a;
    results *results; /* one for each job */
} work;

static tacit_status call_as_job(void *context, size_t job, tacit_error *err)
{
    const work *w = context;
    (void)err;
    call_all(w->a, &w->results[job]);
    return TACIT_OK;
}

TEST(the_hosts_number_stays_and_the_bits_are_those_of_one_thread)
{
    static double a[SIZE];
    static results alone, together[N_JOBS];
    uint64_t r = 5;
    for (size_t i = 0; i < SIZE; i++)
        a[i] = random_between(&r, -1, 1);
    openblas_set_num_threads(1);
    call_all(a, &alone);
    assert_int_equal(openblas_get_num_threads(), 1);
    for (int threads = 1; threads <= 3; threads++) {
        openblas_set_num_threads(threads);
        bool stopped;
        assert_ok(
            tacit__parallel(N_JOBS, 4, call_as_job, NULL, &(work){a, together}, &stopped, NULL));
        assert_int_equal(openblas_get_num_threads(), threads);
        for (size_t i = 0; i < N_JOBS; i++)
            assert_memory_equal(&together[i], &alone, sizeof alone);
    }
}
