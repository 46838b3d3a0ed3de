/* Features of observations that are plain vectors. See tacit_features_make in include/tacit/agent.h.
 *
 * With d = size + 1 numbers in [-1, 1], the last of them 1, divided by sqrt(d): the squares sum to at most
 * 1. A block for each action is what linear learners with shared parameters need to tell actions apart by
 * the same context: phi(x, a) . theta = x . theta_a. The quotient is rounded, and so is each product; the
 * square of a vector exceeds 1 by at most some 2d ulps, far below the 1e-9 that learners allow for rounding.
 */
#include <tacit/agent.h>

#include <math.h>

#include "base/error.h"

/* Numbers in one vector's context, and how many vectors of how many blocks are made of it. */
size_t tacit_features_size(size_t size, size_t n_actions)
{
    const size_t blocks = n_actions > 0 ? n_actions : 1;
    size_t d, all;
    if (__builtin_add_overflow(size, 1, &d) || __builtin_mul_overflow(d, blocks, &all) ||
        __builtin_mul_overflow(all, blocks, &all) || all > SIZE_MAX / sizeof(double))
        return 0;
    return all;
}

/* The coordinate on [-1, 1]. Halves, so that nothing overflows. */
static double place(double x, double low, double high, bool *cut)
{
    const double middle = low / 2 + high / 2, half = high / 2 - low / 2;
    if (x >= low && x <= high)
        return half > 0 ? fmax(-1, fmin(1, (x / 2 - middle / 2) / (half / 2))) : 0;
    *cut = true;
    return x < low ? -1 : x > high ? 1 : 0;
}

tacit_status tacit_features_make(size_t n, size_t size, const double *low, const double *high,
                                 const double *x, size_t n_actions, double *out, bool *cut,
                                 tacit_error *err)
{
    const size_t numbers = tacit_features_size(size, n_actions), d = size + 1;
    const size_t blocks = n_actions > 0 ? n_actions : 1;
    bool outside = false;
    if (size == 0 || numbers == 0 || low == NULL || high == NULL ||
        (n > 0 && (x == NULL || out == NULL)))
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    for (size_t i = 0; i < size; i++)
        if (!(isfinite(low[i]) && isfinite(high[i]) && low[i] <= high[i]))
            return tacit__fail(err, TACIT_BAD_ARGUMENT,
                               "coordinate %zu has bounds %g and %g, expected two finite numbers, "
                               "the smaller first",
                               i, low[i], high[i]);
    const double scale = sqrt((double)d);
    for (size_t v = 0; v < n; v++) {
        double *first = out + v * numbers;
        for (size_t i = 0; i < numbers; i++)
            first[i] = 0;
        for (size_t i = 0; i < size; i++)
            first[i] = place(x[v * size + i], low[i], high[i], &outside) / scale;
        first[size] = 1 / scale;
        for (size_t a = 1; a < blocks; a++) /* block a of action a's vector of blocks * d numbers */
            for (size_t i = 0; i < d; i++)
                first[a * (blocks * d + d) + i] = first[i];
    }
    if (cut != NULL)
        *cut = outside;
    return TACIT_OK;
}
