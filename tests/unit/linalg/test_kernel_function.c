/* Kernels: values against closed forms and a series of another kind, positive semi-definiteness, text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/kernel_function.h"
#include "linalg/pivoted.h"
#include "support/check.h"
#include "support/random.h"

static tacit__kernel kernel_of(const char *text, size_t dimension, size_t context_dimension)
{
    tacit__kernel k;
    tacit_error err = {0};
    tacit_status status = tacit__kernel_read(text, dimension, context_dimension, &k, &err);
    assert_string_equal(err.message, "");
    assert_ok(status);
    return k;
}

/* Half-integer orders: exp(-z) p! / (2p)! sum_i (p + i)! / (i! (p - i)!) (2 z)^(p - i). */
static double matern_half(unsigned p, double z)
{
    double sum = 0;
    for (unsigned i = 0; i <= p; i++)
        sum += tgamma(p + i + 1.0) / (tgamma(i + 1.0) * tgamma(p - i + 1.0)) * pow(2 * z, p - i);
    return exp(-z) * tgamma(p + 1.0) / tgamma(2.0 * p + 1) * sum;
}

/* K_nu = (pi / 2) (I_-nu - I_nu) / sin(nu pi), I_nu by its power series, in long doubles. */
static long double bessel_i(long double nu, long double z)
{
    long double sum = 0, term = powl(z / 2, nu) / tgammal(nu + 1);
    for (int k = 0; k < 200; k++) {
        sum += term;
        term *= z * z / 4 / ((k + 1) * (nu + k + 1));
    }
    return sum;
}

static double matern_series(long double nu, long double z)
{
    long double pi = acosl(-1);
    long double bessel = pi / 2 * (bessel_i(-nu, z) - bessel_i(nu, z)) / sinl(nu * pi);
    return (double)(powl(2, 1 - nu) / tgammal(nu) * powl(z, nu) * bessel);
}

TEST(matern_quadrature_agrees_with_closed_forms)
{
    static const double z[] = {1e-11, 1e-6, 0.01, 0.3, 1, 3, 7, 20, 40, 200};
    for (unsigned p = 0; p <= 5; p++)
        for (size_t i = 0; i < sizeof z / sizeof *z; i++) {
            assert_close(tacit__matern_quadrature(p + 0.5, z[i]), matern_half(p, z[i]), 1e-10);
            assert_close(tacit__matern(p + 0.5, z[i]), matern_half(p, z[i]), 1e-10);
        }
}

TEST(matern_of_other_orders_agrees_with_the_series_of_bessel_functions)
{
    static const double nu[] = {0.3, 0.75, 1.25, 2.2, 3.7}, z[] = {0.01, 0.2, 1, 2.5, 5};
    for (size_t i = 0; i < sizeof nu / sizeof *nu; i++)
        for (size_t j = 0; j < sizeof z / sizeof *z; j++)
            assert_close(tacit__matern(nu[i], z[j]),
                         matern_series((long double)nu[i], (long double)z[j]), 1e-9);
    assert_true(tacit__matern(0.3, 0) == 1);
    /* large orders tend to exp(-r^2 / 2), z = sqrt(2 nu) r */
    assert_close(tacit__matern(900, sqrt(1800) * 0.7), exp(-0.245), 1e-3);
}

TEST(values_are_those_of_the_formulas)
{
    const double x[] = {0.1, 0.5}, y[] = {0.4, 0.9};
    double r2 = 0.3 * 0.3 + 0.4 * 0.4;
    tacit__kernel k = kernel_of("se(0.5)", 2, 0);
    assert_close(tacit__kernel_value(&k, x, y), exp(-r2 / (2 * 0.25)), 1e-14);
    k = kernel_of("se(0.3 0.8)", 2, 0);
    assert_close(tacit__kernel_value(&k, x, y), exp(-(1 + 0.25) / 2), 1e-14);
    k = kernel_of("matern-1/2(0.25)", 2, 0);
    assert_close(tacit__kernel_value(&k, x, y), exp(-0.5 / 0.25), 1e-14);
    k = kernel_of("matern-2.5", 2, 0);
    double z = sqrt(5) * 0.5 / 0.2;
    assert_close(tacit__kernel_value(&k, x, y), (1 + z + z * z / 3) * exp(-z), 1e-14);
    const double points[] = {0.1, 0.5, 0.4, 0.9, 3, 4};
    k = kernel_of("linear", 2, 0);
    tacit__kernel_fit(&k, 3, points);
    assert_close(tacit__kernel_value(&k, x, y), (0.04 + 0.45) / 25, 1e-14);
    assert_close(tacit__kernel_value(&k, points + 4, points + 4), 1, 1e-14);
    k = kernel_of("poly-3(2)", 2, 0);
    tacit__kernel_fit(&k, 3, points);
    assert_close(tacit__kernel_value(&k, x, y), pow((0.49 + 2) / 27, 3), 1e-13);
    k = kernel_of("se(0.5) * matern-0.5(0.25)", 2, 1);
    assert_close(tacit__kernel_value(&k, x, y), exp(-0.09 / 0.5) * exp(-0.4 / 0.25), 1e-14);
    k = kernel_of("se(0.5) + matern-0.5(0.25)", 2, 1);
    assert_close(tacit__kernel_value(&k, x, y), (exp(-0.09 / 0.5) + exp(-0.4 / 0.25)) / 2, 1e-14);
    k = kernel_of("se(0.3)", 2, 0);
    assert_true(tacit__kernel_value(&k, x, x) == 1); /* exactly: repeated points are repeated */
}

TEST(kernels_are_positive_semidefinite_and_at_most_one)
{
    static const char *const texts[] = {"linear",          "poly-4(0.5)",     "se(0.3)",
                                        "se(0.1 0.9 0.4)", "matern-0.5",      "matern-1.5(0.4)",
                                        "matern-5/2(0.6)", "matern-0.8",      "matern-3.3(0.5)",
                                        "se * matern-1.5", "linear + se(0.2)"};
    enum { N = 40, D = 3 };
    static double points[N * D], gram[N * N], values[N];
    SCOPED_FREE double *scratch = calloc(tacit__eigen_scratch(N), sizeof *scratch);
    uint64_t seed = 5;
    for (size_t i = 0; i < N * D; i++)
        points[i] = random_between(&seed, -1, 1);
    memcpy(points, points + 5 * D, D * sizeof *points); /* a repeated point */
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        tacit__kernel k = kernel_of(texts[t], D, 1);
        tacit__kernel_fit(&k, N, points);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                gram[i * N + j] = tacit__kernel_value(&k, points + i * D, points + j * D);
                assert_within(gram[i * N + j], -1, 1 + 1e-15);
                assert_true(gram[i * N + j] ==
                            tacit__kernel_value(&k, points + j * D, points + i * D));
            }
        tacit__eigen(N, gram, values, scratch);
        assert_within(values[0], -1e-11, 40);
    }
}

TEST(pivoted_features_reproduce_the_kernel)
{
    enum { N = 60, D = 2 };
    static double points[N * D], psi[N * N], residual[N], scratch[N];
    uint64_t seed = 8;
    for (size_t i = 0; i < N * D; i++)
        points[i] = random_unit(&seed);
    memcpy(points, points + 7 * D, D * sizeof *points);
    tacit__kernel k = kernel_of("matern-1.5(0.3)", D, 0);
    size_t p = tacit__pivoted_features(&k, N, points, NULL, NULL, 1e-12, N, psi, residual, scratch);
    assert_int_equal(p, N - 1); /* all but the repeated one */
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double inner = 0;
            for (size_t a = 0; a < p; a++)
                inner += psi[i * p + a] * psi[j * p + a];
            assert_within(inner - tacit__kernel_value(&k, points + i * D, points + j * D), -1e-9,
                          1e-9);
        }
    /* a cap, and candidates: the residual is what is left of k(w, w) */
    bool candidate[N] = {false};
    for (size_t i = 0; i < N; i += 4)
        candidate[i] = true;
    p = tacit__pivoted_features(&k, N, points, NULL, candidate, 1e-12, 10, psi, residual, scratch);
    assert_int_equal(p, 10);
    for (size_t i = 0; i < N; i++) {
        double square = 0;
        for (size_t a = 0; a < p; a++)
            square += psi[i * p + a] * psi[i * p + a];
        assert_within(square + residual[i], 1 - 1e-12, 1 + 1e-12);
    }
    /* a linear kernel has the rank of its space */
    k = kernel_of("linear", D, 0);
    tacit__kernel_fit(&k, N, points);
    assert_int_equal(
        tacit__pivoted_features(&k, N, points, NULL, NULL, 1e-12, N, psi, residual, scratch), D);
}

TEST(text_that_is_no_kernel_is_refused)
{
    static const char *const texts[] = {"",          "rbf",        "se(",        "se(0.2",
                                        "se(0)",     "se(a)",      "matern-",    "matern-0",
                                        "poly-0",    "poly-1.5",   "linear(2)",  "se(1 2 3)",
                                        "se * se *", "se(0.2) se", "matern-1/0", "poly-2(1 2)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tacit__kernel k;
        tacit_error err = {0};
        assert_status(tacit__kernel_read(texts[i], 2, 1, &k, &err), TACIT_BAD_ARGUMENT);
        assert_non_null(strstr(err.message, "expected for example"));
    }
    tacit__kernel k;
    assert_status(tacit__kernel_read("se * se", 2, 0, &k, NULL), TACIT_BAD_ARGUMENT);
}
