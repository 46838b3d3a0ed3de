/* See unknown_rows.h.
 *
 * A row is unknown if no move of it was kept, or n < 2 s_n. The others are taken for what the
 * release says, without the prior: P = kept moves only, so that no plan hopes to be carried somewhere by
 * imaginary visits. Then, as R-max does [BT02],
 *     Q = H - h in an unknown row (0 without hope),   Q = r + P V, at most H - h, in all others.
 * Planning like this for everybody would cost a third (docs/why/posterior-tabular.md); it is for few users.
 *
 * Cost: a plan goes once through the kept moves for each step. */
#include "plan/posterior/unknown_rows.h"

#include <math.h>

#include "plan/public_chance.h"

#define UNKNOWN                                                                                    \
    2.0 /* standard deviations of n; chosen on the worlds of docs/why/posterior-tabular.md */

static bool has_moves(const tacit__tabular_belief *m, size_t row)
{
    return m->first[row] < m->first[row + 1];
}

bool tacit__row_is_unknown(const tacit__tabular_belief *m, size_t row)
{
    return !has_moves(m, row) || m->visits[row] < UNKNOWN * m->visits_stddev;
}

/* The mean of the values where the kept moves of a row lead. */
static double mean_after(const tacit__tabular_belief *m, size_t row, const double *values)
{
    double sum = 0, total = 0;
    for (size_t i = m->first[row]; i < m->first[row + 1]; i++) {
        sum += m->chance[i] * values[m->next[i]];
        total += m->chance[i];
    }
    return total > 0 ? sum / total : 0;
}

static double q_of(const tacit__tabular_belief *m, bool hopes, size_t row, double cap,
                   const double *after)
{
    if (tacit__row_is_unknown(m, row))
        return hopes ? cap : 0;
    return fmin(cap, m->reward[row] + mean_after(m, row, after));
}

double tacit__unknown_rows_plan(const tacit__tabular_belief *m, bool hopes, double *q,
                                double *values, uint64_t *chance, uint32_t *policy)
{
    const size_t S = m->space.n_states, A = m->space.n_actions, H = m->space.horizon;
    double *after = values, *here = values + S, worth = 0;
    for (size_t s = 0; s < S; s++)
        after[s] = 0; /* nothing follows the last step */
    for (size_t h = H; h-- > 0;) {
        const size_t first = m->space.tables == 1 ? 0 : h * S * A;
        for (size_t i = 0; i < S * A; i++)
            q[i] = q_of(m, hopes, first + i, (double)(H - h), after);
        for (size_t s = 0; s < S; s++) {
            policy[h * S + s] = tacit__chance_best(q + s * A, A, chance);
            here[s] = q[s * A + policy[h * S + s]];
        }
        double *swapped = after;
        after = here;
        here = swapped;
    }
    for (size_t s = 0; s < S; s++)
        worth += m->starts[s] * after[s];
    return worth;
}
