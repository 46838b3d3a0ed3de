/* The baseline `no-data`: what is planned before the first person comes.
 *
 * Where rewards and the kernels of a mixture are known, only the weights are not. Without data they are all
 * alike, and the plan follows from the even mixture by backward induction:
 *
 *     Q_h(s, a) = r(s, a) + 1/d sum_j sum_s' P_j(s' | s, a) V_{h+1}(s').
 *
 * Actions that tie are equally likely. A learner that ends no better than this has learned nothing from
 * people. Where rewards are hidden, or no kernels are known, nothing is planned without data. */
#include <math.h>

#include "base/error.h"
#include "base/workspace.h"
#include "lab/baseline.h"

#define TIE 1e-9 /* of values in [0, horizon]: far above rounding */

/* The even mixture's rows [state][action][next]; parts are kernels up to a common factor. */
static void mix_evenly(const tacit_world_facts *f, double *row, double *even)
{
    const size_t S = f->n_states, A = f->n_actions, d = f->mixture->dimension;
    for (size_t pair = 0; pair < S * A; pair++) {
        double *to = even + pair * S;
        f->mixture->row(f->mixture->context, (uint32_t)(pair / A), (uint32_t)(pair % A), row);
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t next = 0; next < S; next++)
                sum += row[j * S + next];
            for (size_t next = 0; next < S && sum > 0; next++)
                to[next] += row[j * S + next] / (sum * (double)d);
        }
    }
}

/* The best of q[n], and all that tie with it with equal probability; returns the best value. */
static double choose(const double *q, size_t n, double *chances)
{
    double best = q[0];
    size_t ties = 0;
    for (size_t a = 1; a < n; a++)
        best = fmax(best, q[a]);
    for (size_t a = 0; a < n; a++)
        ties += q[a] >= best - TIE;
    for (size_t a = 0; a < n; a++)
        chances[a] = q[a] >= best - TIE ? 1 / (double)ties : 0;
    return best;
}

bool tacit__no_data_fits(const tacit_world *world)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    return f->family == TACIT_WORLD_TABULAR && f->rewards != NULL && f->mixture != NULL &&
           f->mixture->kernels;
}

tacit_status tacit__no_data_value(const tacit_world *world, double *scratch, double *value,
                                  tacit_error *err)
{
    TACIT__REQUIRE(tacit__no_data_fits(world));
    const tacit_world_facts *f = tacit_world_describe(world);
    const size_t S = f->n_states, A = f->n_actions, H = f->horizon;
    double *mixed, *row, *even, *values, *q;
    if (TACIT__PIECES(TACIT__PIECE(mixed, H * S * A), TACIT__PIECE(row, f->mixture->dimension * S),
                      TACIT__PIECE(even, S * A * S), TACIT__PIECE(values, 2 * S),
                      TACIT__PIECE(q, A)) == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    mix_evenly(f, row, even);
    double *after = values, *here = values + S;
    for (size_t h = H; h-- > 0;) {
        for (size_t s = 0; s < S; s++) {
            for (size_t a = 0; a < A; a++) {
                const double *next = even + (s * A + a) * S;
                q[a] = f->rewards[((f->stationary ? 0 : h) * S + s) * A + a];
                for (size_t t = 0; t < S; t++)
                    q[a] += next[t] * after[t];
            }
            here[s] = choose(q, A, mixed + (h * S + s) * A);
        }
        double *swapped = after;
        after = here;
        here = swapped;
    }
    tacit_status status = tacit_world_evaluate_mixed(world, mixed, scratch, value);
    tacit__workspace_destroy(mixed);
    return status == TACIT_OK ? TACIT_OK : tacit__fail_plain(err, status);
}
