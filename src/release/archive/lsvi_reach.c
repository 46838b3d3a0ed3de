/* How far two users' features and targets move what an LSVI learner releases, and bounds on its noise. See
 * lsvi_scheme.h; proofs in docs/why/lsvi.md. */
#include <math.h>

#include "base/error.h"
#include "contribute/levels.h"
#include "release/archive/lsvi_scheme.h"

#define ROUNDING (1 + 1e-12)
enum { MOST_PAIRS = 1000 }; /* tables of features up to this many rows are searched pair by pair */

/* --- Sensitivities ------------------------------------------------------------------------------ */

/* For vectors of length at most 1 at any angle; b in units of a, targets in [0, 1]. */
static double reach_of_ball(double b)
{
    return b <= 2 ? 2 + 2 * b + b * b / 2 : 4 * b;
}

/* The same from a table, for n ratios in one pass over all pairs, a row with itself included. */
static void reach_of_table(const tacit__linear_space *sp, bool centered, size_t n_ratios,
                           const double *ratios, double *out)
{
    size_t n = sp->n_states * sp->n_actions, d = sp->dimension;
    double unit = ldexp(1, -2 * sp->feature_bits);
    for (size_t r = 0; r < n_ratios; r++)
        out[r] = 0;
    for (size_t i = 0; i < n; i++) {
        const double *x = sp->table + i * d;
        double p = 0;
        for (size_t k = 0; k < d; k++)
            p += x[k] * x[k];
        p *= unit;
        for (size_t j = i; j < n; j++) {
            const double *y = sp->table + j * d;
            double q = 0, c = 0;
            for (size_t k = 0; k < d; k++) {
                q += y[k] * y[k];
                c += x[k] * y[k];
            }
            q *= unit;
            c *= unit;
            double gram = fmax(p * p + q * q - 2 * c * c, 0);
            double response =
                centered ? (p + q + 2 * fabs(c)) / 4 : fmax(fmax(p, q), p + q - 2 * c);
            for (size_t r = 0; r < n_ratios; r++) {
                double both = (gram + ratios[r] * response) * (1 + 1e-9);
                out[r] = both > out[r] ? both : out[r];
            }
        }
    }
}

bool tacit__lsvi_is_searched(const tacit__linear_space *sp)
{
    return sp->form == TACIT__TABLE && sp->n_states * sp->n_actions <= MOST_PAIRS;
}

/* From what is known of the features beside a table. */
static double reach_of_form(const tacit__linear_space *sp, bool centered, double t)
{
    if (sp->form == TACIT__ONE_HOT) /* different cells, or the same one */
        return centered ? fmax(2 + t / 2, t) : 2 + 2 * t;
    if (sp->simplex && !centered)
        return 2 + 2 * t;
    return reach_of_ball(centered ? t / 4 : t) * ROUNDING;
}

void tacit__lsvi_reaches(const tacit__linear_space *sp, bool centered, size_t n, const double *t,
                         double *out)
{
    TACIT__REQUIRE(t != NULL && out != NULL);
    for (size_t i = 0; i < n; i++)
        out[i] = reach_of_form(sp, centered, t[i]);
    if (tacit__lsvi_is_searched(sp))
        reach_of_table(sp, centered, n, t, out);
}

double tacit__lsvi_reach(const tacit__linear_space *sp, bool centered, double t)
{
    TACIT__REQUIRE(t >= 0);
    double out;
    tacit__lsvi_reaches(sp, centered, 1, &t, &out);
    return out;
}

/* --- Levels ------------------------------------------------------------------------------------- */

double tacit__lsvi_expected_norm(const tacit__linear_space *sp)
{
    TACIT__REQUIRE(sp->dimension > 0);
    double d = (double)sp->dimension;
    return sp->form == TACIT__ONE_HOT ? sqrt(2 * log(2 * d)) : sqrt(2 * d);
}

double tacit__lsvi_matrix_level(const tacit__linear_space *sp, tacit_law law, double draws,
                                double alpha)
{
    TACIT__REQUIRE(sp->dimension > 0 && alpha > 0);
    double d = (double)sp->dimension, packed = (double)tacit__gram_size(sp);
    bool diagonal = sp->form == TACIT__ONE_HOT;
    if (law == TACIT_LAW_GAUSSIAN) /* E max eigenvalue <= sqrt(2 d), and it is 1-Lipschitz */
        return diagonal ? tacit__level_gaussian(1, alpha / d)
                        : sqrt(2 * d) + sqrt(2 * log(2 / alpha));
    /* every coordinate at once; the Frobenius norm bounds the eigenvalues */
    double level = tacit__level_laplace(ceil(draws * (1 - 1e-9)), alpha / packed);
    return level / sqrt(2 * draws) * (diagonal ? 1 : sqrt(packed));
}

double tacit__lsvi_vector_level(size_t d, tacit_law law, double alpha)
{
    TACIT__REQUIRE(d > 0 && alpha > 0);
    double n = (double)d;
    if (law == TACIT_LAW_GAUSSIAN)
        return sqrt(n) + sqrt(2 * log(1 / alpha));
    return sqrt(n / 2) * tacit__level_laplace(1, alpha / n);
}
