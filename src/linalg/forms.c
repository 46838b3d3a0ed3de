/* See forms.h. Vectors are taken in groups whose coordinates lie side by side, so that a group is solved
 * with wide instructions, its running row in registers. Plain C and AVX2 add in the same order and give
 * the same bits. */
#include "linalg/forms.h"

#include <math.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/error.h"

/* ROWS: the number of rows of a factor that are processed together, as many as there are registers for. A
 * row alone would wait for one subtraction after the other, and for a cache line at every element, since
 * factors are stored by columns. For the same reason groups are no wider: one of 16 leaves registers for
 * two rows, and takes twice the time of two groups of 8. */
enum { LANE = 4, WIDTH = 8, ROWS = 4, LANES = WIDTH / LANE };

/* Four doubles side by side; the compiler makes of it what the processor has. */
typedef double lane __attribute__((vector_size(LANE * sizeof(double))));

size_t tacit__forms_scratch(size_t d)
{
    return WIDTH * d + LANE; /* room to align */
}

/* From each of some neighboring rows, what the first `end` coordinates of z account for. The order in a
 * row is that of the coordinates, however many rows there are: the same bits. `factor` is its first
 * column, from these rows on. */
TACIT__INLINE void subtract(size_t d, size_t rows, size_t end, const double *restrict factor,
                            const lane *restrict z, lane *restrict row)
{
    lane held[ROWS * LANES];
    for (size_t k = 0; k < rows * LANES; k++)
        held[k] = row[k];
    for (size_t j = 0; j < end; j++)
        for (size_t r = 0; r < rows; r++)
            for (size_t k = 0; k < LANES; k++)
                held[r * LANES + k] -= factor[j * d + r] * z[j * LANES + k];
    for (size_t k = 0; k < rows * LANES; k++)
        row[k] = held[k];
}

/* At most WIDTH vectors; z is [d][LANES]. */
TACIT__INLINE void group(size_t d, size_t used, const double *restrict factor,
                         const double *restrict pivots, const double *restrict t,
                         const double *restrict vectors, lane *restrict z, double *restrict inner,
                         double *restrict square)
{
    lane sum[LANES] = {{0}}, squares[LANES] = {{0}};
    for (size_t k = 0; k < WIDTH; k++)
        for (size_t i = 0; i < d; i++)
            z[i * LANES + k / LANE][k % LANE] = k < used ? vectors[k * d + i] : 0;
    for (size_t first = 0; first < d; first += ROWS) {
        const size_t m = d - first < ROWS ? d - first : ROWS;
        lane row[ROWS * LANES] = {{0}};
        for (size_t k = 0; k < m * LANES; k++)
            row[k] = z[first * LANES + k];
        if (m == ROWS)
            subtract(d, ROWS, first, factor + first, z, row);
        else
            for (size_t r = 0; r < m; r++)
                subtract(d, 1, first, factor + first + r, z, row + r * LANES);
        for (size_t r = 0; r < m; r++) {
            const size_t i = first + r;
            for (size_t j = first; j < i; j++)
                for (size_t k = 0; k < LANES; k++)
                    row[r * LANES + k] -= factor[j * d + i] * z[j * LANES + k];
            for (size_t k = 0; k < LANES; k++) {
                row[r * LANES + k] *= pivots[i];
                z[i * LANES + k] = row[r * LANES + k];
                sum[k] += row[r * LANES + k] * t[i];
                squares[k] += row[r * LANES + k] * row[r * LANES + k];
            }
        }
    }
    for (size_t k = 0; k < used; k++) {
        inner[k] = sum[k / LANE][k % LANE];
        square[k] = squares[k / LANE][k % LANE];
    }
}

TACIT__INLINE void forms(size_t d, size_t n, const double *factor, const double *pivots,
                         const double *t, const double *vectors, double *scratch, double *inner,
                         double *square)
{
    uintptr_t misplaced = (uintptr_t)scratch % sizeof(lane);
    lane *z = (lane *)(void *)(scratch + (misplaced > 0 ? (sizeof(lane) - misplaced) / 8 : 0));
    while (n > 0) {
        const size_t used = n < WIDTH ? n : WIDTH;
        group(d, used, factor, pivots, t, vectors, z, inner, square);
        vectors += used * d;
        inner += used;
        square += used;
        n -= used;
    }
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static void forms_avx2(size_t d, size_t n, const double *factor, const double *pivots,
                                   const double *t, const double *vectors, double *scratch,
                                   double *inner, double *square)
{
    forms(d, n, factor, pivots, t, vectors, scratch, inner, square);
}
#endif

void tacit__forms(size_t d, size_t n, const double *factor, const double *pivots, const double *t,
                  const double *vectors, double *scratch, double *inner, double *square)
{
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        forms_avx2(d, n, factor, pivots, t, vectors, scratch, inner, square);
        return;
    }
#endif
    forms(d, n, factor, pivots, t, vectors, scratch, inner, square);
}

/* Givens rotations, column by column [GV13, 6.5.4]. */
void tacit__cholesky_add(size_t d, double *factor, double *pivots, double *x)
{
    TACIT__REQUIRE(x != factor && x != pivots);
    for (size_t j = 0; j < d; j++) {
        double *column = factor + j * d, old = column[j];
        double length = sqrt(old * old + x[j] * x[j]), inverse = 1 / length;
        double c = old * inverse, s = x[j] * inverse;
        column[j] = length;
        pivots[j] = inverse;
        for (size_t i = j + 1; i < d; i++) {
            double l = column[i];
            column[i] = c * l + s * x[i];
            x[i] = c * x[i] - s * l;
        }
    }
}

void tacit__solve_lower_pivots(size_t d, const double *factor, const double *pivots, double *b)
{
    for (size_t j = 0; j < d; j++) {
        const double *column = factor + j * d;
        double x = b[j] *= pivots[j];
        for (size_t i = j + 1; i < d; i++)
            b[i] -= x * column[i];
    }
}
