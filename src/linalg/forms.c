/* See forms.h. Rows are taken in panels: the running values of a panel's rows, for several vectors, are
 * held in registers while the columns before it are subtracted. A factor is read once for up to WIDTH
 * vectors, from its first number to its last. Plain C and AVX2 subtract in the same order and give the
 * same bits.
 *
 * Panels are in single precision, which halves what a decision reads and computes. */
#include "linalg/forms.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"

/* Stated choices for 16 registers of eight floats: WIDTH of them are held; a column, a number of z and a
 * product need others. Sixteen rows are no faster with d = 500, and slower with d = 20. */
enum { ROWS = 8, WIDTH = 5 };

/* Eight floats side by side; the compiler makes of it what the processor has. */
typedef float lane __attribute__((vector_size(ROWS * sizeof(float))));

size_t tacit__panels_size(size_t d)
{
    const size_t n = (d + ROWS - 1) / ROWS;
    return ROWS * ROWS * n * (n + 1) / 2;
}

void tacit__panels_pack(size_t d, const double *factor, const double *pivots, float *panels)
{
    memset(panels, 0, tacit__panels_size(d) * sizeof *panels);
    for (size_t first = 0; first < d; first += ROWS) {
        const size_t m = d - first < ROWS ? d - first : ROWS;
        for (size_t j = 0; j < first; j++, panels += ROWS)
            for (size_t i = 0; i < m; i++)
                panels[i] = (float)factor[j * d + first + i];
        for (size_t r = 0; r < ROWS; r++, panels += ROWS)
            for (size_t i = r; i < m; i++)
                panels[i] =
                    (float)(i == r ? pivots[first + r] : factor[(first + r) * d + first + i]);
    }
}

size_t tacit__forms_scratch(size_t d)
{
    return WIDTH * (d + ROWS);
}

/* Subtracts what a number of z accounts for in a panel's rows. */
TACIT__INLINE void subtract(const float *restrict column, float z, lane *restrict row)
{
    lane part;
    memcpy(&part, column, sizeof part);
    *row -= part * z;
}

/* n vectors, a constant; z is [d][n] and a panel more. Rows of the last panel that do not exist are 0. */
TACIT__INLINE void group(size_t d, size_t n, const float *restrict panel,
                         const double *restrict theta, const double *restrict vectors,
                         float *restrict z, double *restrict inner, double *restrict square)
{
    double means[WIDTH] = {0}, squares[WIDTH] = {0};
    for (size_t first = 0; first < d; first += ROWS) {
        const size_t m = d - first < ROWS ? d - first : ROWS;
        lane row[WIDTH] = {{0}};
        for (size_t r = 0; r < m; r++)
            for (size_t k = 0; k < n; k++) {
                const double x = vectors[k * d + first + r];
                row[k][r] = (float)x;
                means[k] += x * theta[first + r];
            }
        for (size_t j = 0; j < first; j++, panel += ROWS)
            for (size_t k = 0; k < n; k++)
                subtract(panel, z[j * n + k], &row[k]);
#pragma GCC unroll 8
        for (size_t r = 0; r < ROWS; r++, panel += ROWS)
            for (size_t k = 0; k < n; k++) {
                const float value = row[k][r] * panel[r];
                z[(first + r) * n + k] = value;
                squares[k] += (double)value * (double)value;
                subtract(panel, value, &row[k]); /* the rows up to this one are done with */
            }
    }
    memcpy(inner, means, n * sizeof *inner);
    memcpy(square, squares, n * sizeof *square);
}

/* At most WIDTH vectors. */
TACIT__INLINE void some(size_t d, size_t n, const float *panels, const double *theta,
                        const double *vectors, float *z, double *inner, double *square)
{
    switch (n) {
    case 1:
        group(d, 1, panels, theta, vectors, z, inner, square);
        break;
    case 2:
        group(d, 2, panels, theta, vectors, z, inner, square);
        break;
    case 3:
        group(d, 3, panels, theta, vectors, z, inner, square);
        break;
    case 4:
        group(d, 4, panels, theta, vectors, z, inner, square);
        break;
    default:
        group(d, WIDTH, panels, theta, vectors, z, inner, square);
        break;
    }
}

/* Groups of nearly equal size. */
TACIT__INLINE void forms(size_t d, size_t n, const float *panels, const double *theta,
                         const double *vectors, float *z, double *inner, double *square)
{
    for (size_t left = (n + WIDTH - 1) / WIDTH; left > 0; left--) {
        const size_t used = (n + left - 1) / left;
        some(d, used, panels, theta, vectors, z, inner, square);
        vectors += used * d;
        inner += used;
        square += used;
        n -= used;
    }
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static void forms_avx2(size_t d, size_t n, const float *panels, const double *theta,
                                   const double *vectors, float *z, double *inner, double *square)
{
    forms(d, n, panels, theta, vectors, z, inner, square);
}
#endif

void tacit__forms(size_t d, size_t n, const float *panels, const double *theta,
                  const double *vectors, float *scratch, double *inner, double *square)
{
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        forms_avx2(d, n, panels, theta, vectors, scratch, inner, square);
        return;
    }
#endif
    forms(d, n, panels, theta, vectors, scratch, inner, square);
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
