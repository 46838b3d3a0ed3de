/* Computes the quantile tables of quantile_tables.h, with a proven tolerance for every slot, and prints them
 * as a C initializer. Runs at build time; MPFR at 192 bits throughout.
 *
 * Interpolation at the Chebyshev nodes of a segment of half-width r in w errs by at most
 *     max |Q^(n+1)| r^(n+1) / (2^n (n+1)!),   n = DEGREE,
 * and both derivatives have closed forms that are monotone, so the maximum is at the left end:
 *     Laplace   Q(w) = -ln w:              |Q^(m)| = (m-1)! / w^m
 *     Gaussian  Q(w) = z with erfc(z/sqrt 2) = w, i.e. dz/dw = g(z) = -1/(2 phi(z)), dg/dz = z g:
 *               Q^(m) = g^m P_{m-1}(z),  P_0 = 1,  P_m = P_{m-1}' + m z P_{m-1}
 *               (differentiate g^m P_{m-1}: g^{m+1} (P_{m-1}' + m z P_{m-1})); all coefficients of
 *               P_m are positive and 1/phi grows with z >= 0.
 * docs/why/noise.md carries the whole argument. */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>

#include "noise/quantile_tables.h"

enum { PRECISION = 192, N = TACIT__DEGREE + 1 };

/* Of the rest of a slot's tolerance, what rounding its coefficients may add. A stated choice: draws that
 * need refinement become 6 % more frequent, and half of the table's bits become zeros, which a page that
 * downloads the table need not. */
#define SHARE (1.0 / 16)

/* z with erfc(z / sqrt 2) = w: Newton in doubles for a start, then in MPFR, where each step doubles the
 * number of right bits (50, 100, 200). */
static void gaussian_quantile(mpfr_t z, const mpfr_t w)
{
    double start = 0, target = mpfr_get_d(w, MPFR_RNDN);
    for (int i = 0; i < 60; i++) /* from the left, monotone: erfc is convex for z > 0 */
        start += (erfc(start / M_SQRT2) - target) * sqrt(M_PI / 2) * exp(start * start / 2);
    mpfr_t f, slope, root2, root_half_pi;
    mpfr_inits2(PRECISION, f, slope, root2, root_half_pi, (mpfr_ptr)0);
    mpfr_sqrt_ui(root2, 2, MPFR_RNDN);
    mpfr_const_pi(root_half_pi, MPFR_RNDN);
    mpfr_div_2ui(root_half_pi, root_half_pi, 1, MPFR_RNDN);
    mpfr_sqrt(root_half_pi, root_half_pi, MPFR_RNDN);
    mpfr_set_d(z, start, MPFR_RNDN);
    for (int i = 0; i < 3; i++) {
        mpfr_div(f, z, root2, MPFR_RNDN);
        mpfr_erfc(f, f, MPFR_RNDN);
        mpfr_sub(f, f, w, MPFR_RNDN);
        mpfr_sqr(slope, z, MPFR_RNDN);
        mpfr_div_2ui(slope, slope, 1, MPFR_RNDN);
        mpfr_exp(slope, slope, MPFR_RNDN);
        mpfr_mul(slope, slope, root_half_pi, MPFR_RNDN); /* 1 / (2 phi(z)) */
        mpfr_mul(f, f, slope, MPFR_RNDN);
        mpfr_add(z, z, f, MPFR_RNDN);
    }
    mpfr_clears(f, slope, root2, root_half_pi, (mpfr_ptr)0);
}

static void quantile(tacit__noise_law law, mpfr_t z, const mpfr_t w)
{
    if (law == TACIT__GAUSSIAN) {
        gaussian_quantile(z, w);
    } else {
        mpfr_log(z, w, MPFR_RNDN);
        mpfr_neg(z, z, MPFR_RNDN);
    }
}

/* An upper bound of |Q^(m)| on [w, 1], given z = Q(w). */
static double derivative_bound(tacit__noise_law law, int m, double w, double z)
{
    if (law == TACIT__LAPLACE)
        return tgamma(m) / pow(w, m) * (1 + 0x1p-40);
    double p[N + 1] = {1}; /* coefficients of P_j, then of P_{j+1} */
    for (int j = 1; j < m; j++) {
        double next[N + 1] = {0};
        for (int i = 0; i < j; i++) {
            next[i + 1] += j * p[i];
            if (i > 0)
                next[i - 1] += i * p[i];
        }
        for (int i = 0; i <= N; i++)
            p[i] = next[i];
    }
    double value = 0;
    for (int i = N; i >= 0; i--)
        value = value * z + p[i];
    double two_phi = 2 * exp(-z * z / 2) / sqrt(2 * M_PI);
    return value / pow(two_phi, m) * (1 + 0x1p-40);
}

/* Newton's divided differences on `t`, then expansion into powers of t. */
static void interpolate(mpfr_t c[N], mpfr_t t[N], mpfr_t f[N])
{
    mpfr_t d, q;
    mpfr_inits2(PRECISION, d, q, (mpfr_ptr)0);
    for (int k = 1; k < N; k++)
        for (int i = N - 1; i >= k; i--) {
            mpfr_sub(d, f[i], f[i - 1], MPFR_RNDN);
            mpfr_sub(q, t[i], t[i - k], MPFR_RNDN);
            mpfr_div(f[i], d, q, MPFR_RNDN);
        }
    for (int i = 0; i < N; i++)
        mpfr_set_zero(c[i], 1);
    for (int k = N - 1; k >= 0; k--) { /* c <- c * (x - t_k) + f_k */
        for (int i = N - 1; i >= 0; i--) {
            mpfr_mul(d, c[i], t[k], MPFR_RNDN);
            mpfr_neg(c[i], d, MPFR_RNDN);
            if (i > 0)
                mpfr_add(c[i], c[i], c[i - 1], MPFR_RNDN);
        }
        mpfr_add(c[0], c[0], f[k], MPFR_RNDN);
    }
    mpfr_clears(d, q, (mpfr_ptr)0);
}

/* Worst rounding error of Horner's rule with |t| <= 1/2, one rounding for each product and sum; a
 * fused multiply-add has fewer. `size` and `error` bound the value and its error at each stage. */
static double horner_error(const double c[N])
{
    const double u = 0x1p-53;
    double size = fabs(c[N - 1]), error = 0;
    for (int i = N - 2; i >= 0; i--) {
        double product = size / 2;
        error = error / 2 + u * product * (1 + u);
        size = product + error + fabs(c[i]);
        error += u * size;
    }
    return error;
}

/* The nearest number of as few bits as err by at most `most`, or of 53. */
static double round_to(const mpfr_t x, double most)
{
    mpfr_t units;
    int unit = ilogb(most) + 1; /* half of 2^unit is at most `most` */
    mpfr_init2(units, PRECISION);
    mpfr_mul_2si(units, x, -unit, MPFR_RNDN);
    mpfr_rint(units, units, MPFR_RNDN);
    double few = ldexp(mpfr_get_d(units, MPFR_RNDN), unit), all = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(units);
    return fabs(all) < ldexp(1, unit + 53) ? few : all;
}

/* Not below x > 0, with 8 bits. */
static double round_up(double x)
{
    int exponent = ilogb(x) - 7;
    return ldexp(ceil(ldexp(x, -exponent)), exponent);
}

static void print_slot(tacit__noise_law law, double left, double width)
{
    mpfr_t t[N], f[N], c[N], w;
    mpfr_init2(w, PRECISION);
    for (int i = 0; i < N; i++) {
        mpfr_inits2(PRECISION, t[i], f[i], c[i], (mpfr_ptr)0);
        mpfr_set_d(t[i], cos((2 * i + 1) * M_PI / (2 * N)) / 2, MPFR_RNDN);
        mpfr_set_d(w, width, MPFR_RNDN);
        mpfr_mul(w, w, t[i], MPFR_RNDN);
        mpfr_add_d(w, w, left + width / 2, MPFR_RNDN);
        quantile(law, f[i], w);
    }
    interpolate(c, t, f);

    mpfr_set_d(w, left, MPFR_RNDN);
    quantile(law, f[0], w);
    double z = mpfr_get_d(f[0], MPFR_RNDU);
    /* cos() above places the nodes to 1e-16 only: the node polynomial may exceed the Chebyshev value by
     * a relative 1e-13, covered by the factor 1 + 2^-20. */
    double interpolation = derivative_bound(law, N, left, z) * pow(width / 2, N) /
                           (pow(2, N - 1) * tgamma(N + 1)) * (1 + 0x1p-20);
    double unseen = 0x1p-53 * derivative_bound(law, 1, left, z); /* |U - w| <= 2^-53 */
    double product = 0x1p-53 * z;
    double others = interpolation + unseen + product;

    double coefficient[N], rounding = 0;
    printf("        {{");
    for (int i = 0; i < N; i++) {
        coefficient[i] = round_to(c[i], others * SHARE / N * pow(2, i));
        mpfr_sub_d(c[i], c[i], coefficient[i], MPFR_RNDN);
        rounding += fabs(mpfr_get_d(c[i], MPFR_RNDA)) * pow(0.5, i);
        printf("%a%s", coefficient[i], i < N - 1 ? ", " : "}, ");
    }
    /* 2^-10: room for the kernel's own rounding of scale * tolerance and for the sum */
    double tolerance = (others + rounding + horner_error(coefficient)) * (1 + 0x1p-10);
    printf("%a},\n", round_up(tolerance));

    for (int i = 0; i < N; i++)
        mpfr_clears(t[i], f[i], c[i], (mpfr_ptr)0);
    mpfr_clear(w);
}

int main(void)
{
    printf("const tacit__slot tacit__tables[TACIT__LAWS][TACIT__SLOTS] = {\n");
    for (int law = 0; law < TACIT__LAWS; law++) {
        printf("    {\n        {{0, 0, 0, 0, 0, 0, 0}, HUGE_VAL},\n");
        for (int octave = TACIT__OCTAVES - 1; octave >= 0; octave--)
            for (int j = 0; j < 1 << TACIT__SEGMENT_BITS; j++) {
                double width = ldexp(1, -(octave + 1) - TACIT__SEGMENT_BITS);
                print_slot((tacit__noise_law)law, ldexp(1, -(octave + 1)) + j * width, width);
            }
        printf("    },\n");
    }
    printf("};\n");
    mpfr_free_cache();
    return ferror(stdout) || fclose(stdout) != 0;
}
