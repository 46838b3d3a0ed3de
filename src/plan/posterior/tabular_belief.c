/* See tabular_belief.h; docs/why/posterior-tabular.md has the reasons and what each part is worth.
 *
 * Visits. Two releases speak of them: N, and the sum of S moves. Weighted by their variances,
 *     n = max(0, (N / s_N^2 + sum M / (S s_M^2)) s_n^2),   s_n = (1 / s_N^2 + 1 / (S s_M^2))^(-1/2).
 *
 * Moves. Of S noisy zeros the largest is about s_M sqrt(2 ln S) (the universal threshold [DJ94]):
 * cells below that are dropped, the others projected onto the simplex of size n. Actions of a state
 * often lead to the same states: a cell whose sum over the A actions is above s_M sqrt(2 A ln S) is
 * kept in each of their rows where it is positive. If no cell of a row is kept, the row leads
 * everywhere alike. Without this a row of many states is made of noise: most states never follow each other.
 *
 * Prior. l = 0.3 s_n imaginary visits, which lead everywhere alike and pay 1/2:
 *     P = (p + l / S) / (n + l),   r = 1/2 + R / (n + l), clipped to [0, 1].
 * If rows are many for the users (`scarce`), rewards are also drawn to 1/2 by how far they are from
 * it at all: t^2, at most 1/4, is the mean of (R^2 - s_R^2) / n^2 over rows with n >= 3 s_n, and
 * g = 1/t^2 - 4 the precision beyond that of rewards of 0 and 1. Then
 *     r = 1/2 + R / (n + l + s_R^2 g / (n + l)),
 * and s_R^2 below is 1 / (1 / s_R^2 + g / m^2).
 *
 * Error of r + P V, by the delta method; V is the next value, V' its mean over all states, m = n +
 * s_n:
 *     noise^2 = [ s_M^2 (0.2 sum_all (V - V')^2 + 0.8 sum_kept (V - P V)^2) + s_n^2 (V' - P V)^2
 *                 + s_R^2 + s_n^2 (r - 1/2)^2 ] / m^2.
 * The share 0.2 stands for cells that were dropped and did follow: with less, a row of one kept
 * cell looks certain. The statistical error is sqrt((Var_P V + 1/4) / m); the weighted n is taken
 * for a number of users, which is rough.
 *
 * Law of r + P V, but for noise. Before the first visit rewards are Beta(1, 1) and moves are a Dirichlet
 * law of the same two imaginary visits, which lead everywhere alike. With n visits,
 *     mean = r' + P' V,   variance = (r' (1 - r') + Var_P' V) / (n + 3),
 * r' and P' being what the n + 2 visits paid and where they led. So a row that was unlucky once
 * or twice, or never led to a state that it may lead to, has not been given up.
 *
 * Cost: an estimate sorts the kept cells of each row; a look goes through them once. */
#include "plan/posterior/tabular_belief.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"

#define PRIOR                                                                                      \
    0.3 /* visits of the prior, in standard deviations of n; a choice, 0.1 to 1 are alike */
#define EXACT_PRIOR 1e-9  /* without noise: a row that was never visited leads everywhere alike */
#define VISITED 3.0       /* a row is known to have been visited, in standard deviations of n */
#define DROPPED 0.2       /* share of the dropped cells in the error */
#define LAW_PRIOR 2.0     /* visits of the prior in the law: Beta(1, 1) */
#define LEAST_SPREAD 1e-4 /* of rewards around 1/2, squared */

tacit_status tacit__tabular_belief_create(tacit__space space, tacit__tabular_belief **out)
{
    const size_t rows = space.tables * space.n_states * space.n_actions,
                 entries = rows * space.n_states;
    tacit__tabular_belief w = {.space = space, .rows = rows};
    *out = TACIT__WORKSPACE(w, TACIT__PIECE(w.first, rows + 1), TACIT__PIECE(w.next, entries),
                            TACIT__PIECE(w.chance, entries), TACIT__PIECE(w.rest, rows),
                            TACIT__PIECE(w.visits, rows), TACIT__PIECE(w.sampled, rows),
                            TACIT__PIECE(w.reward, rows), TACIT__PIECE(w.starts, space.n_states),
                            TACIT__PIECE(w.scratch, 2 * space.n_states));
    return *out != NULL ? TACIT_OK : TACIT_NO_MEMORY;
}

void tacit__tabular_belief_destroy(tacit__tabular_belief *m)
{
    tacit__workspace_destroy(m);
}

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The point of {p >= 0, sum p = total} nearest to y, in place: max(0, y - t). `sorted` is scratch [n]. */
static void project(double *y, size_t n, double total, double *sorted)
{
    double sum = 0, t = 0;
    memcpy(sorted, y, n * sizeof *y);
    qsort(sorted, n, sizeof *sorted, descending);
    for (size_t i = 0; i < n; i++) {
        const double with = (sum + sorted[i] - total) / (double)(i + 1);
        if (i > 0 && sorted[i] <= with)
            break;
        sum += sorted[i];
        t = with;
    }
    for (size_t i = 0; i < n; i++)
        y[i] = fmax(0, y[i] - t);
}

/* Noise of this size is what the largest of n noisy zeros comes to. */
static double universal_threshold(double stddev, size_t n)
{
    return stddev * sqrt(2 * log((double)n));
}

/* The moves of a state under all its actions, divided so that their noise is that of one row, into
 * the second half of the scratch. `moves` is the first of its rows. */
static void pool_actions(tacit__tabular_belief *m, const double *moves)
{
    const size_t S = m->space.n_states, A = m->space.n_actions;
    double *pooled = m->scratch + S;
    for (size_t s = 0; s < S; s++)
        pooled[s] = 0;
    for (size_t a = 0; a < A; a++)
        for (size_t s = 0; s < S; s++)
            pooled[s] += moves[a * S + s] / sqrt((double)A);
}

/* The cells of a row that are kept, as entries from `at` on; returns how many. */
static size_t store_cells(tacit__tabular_belief *m, const double *y, double threshold, size_t at)
{
    const double *pooled = m->scratch + m->space.n_states;
    size_t n = 0;
    for (size_t s = 0; s < m->space.n_states; s++)
        if (y[s] > 0 && fmax(y[s], pooled[s]) >= threshold) {
            m->next[at + n] = (uint32_t)s;
            m->chance[at + n++] = y[s];
        }
    return n;
}

static double count_visits(const tacit__weighted_counts *c, const double *moves, size_t row,
                           size_t S)
{
    double sum = 0;
    if (c->visits_stddev == 0)
        return c->visits[row];
    for (size_t s = 0; s < S; s++)
        sum += moves[s];
    const double one = 1 / (c->visits_stddev * c->visits_stddev),
                 other = 1 / ((double)S * c->moves_stddev * c->moves_stddev);
    return fmax(0, (c->visits[row] * one + sum * other) / (one + other));
}

static void estimate_starts(tacit__tabular_belief *m, const tacit__weighted_counts *c)
{
    const size_t S = m->space.n_states;
    const double threshold = universal_threshold(c->starts_stddev, S);
    double sum = 0;
    for (size_t s = 0; s < S; s++) {
        m->starts[s] = c->starts[s] > 0 && c->starts[s] >= threshold ? c->starts[s] : 0;
        sum += m->starts[s];
    }
    for (size_t s = 0; s < S; s++)
        m->starts[s] = sum > 0 ? m->starts[s] / sum : 1 / (double)S;
}

/* What is known of rewards beyond that they are between 0 and 1; see the head. */
static double reward_precision(const tacit__tabular_belief *m, const tacit__weighted_counts *c)
{
    const size_t S = m->space.n_states;
    const double noise = c->rewards_stddev * c->rewards_stddev;
    double sum = 0, rows = 0;
    for (size_t row = 0; row < m->rows; row++) {
        const double n = count_visits(c, c->moves + row * S, row, S);
        if (n < VISITED * m->visits_stddev)
            continue;
        sum += (c->rewards[row] * c->rewards[row] - noise) / (n * n);
        rows++;
    }
    return rows > 0 ? 1 / fmin(0.25, fmax(LEAST_SPREAD, sum / rows)) - 4 : 0;
}

void tacit__tabular_belief_estimate(tacit__tabular_belief *m, const tacit__weighted_counts *c)
{
    const size_t S = m->space.n_states;
    const bool exact = c->visits_stddev == 0;
    TACIT__REQUIRE(exact == (c->moves_stddev == 0));
    m->visits_stddev = exact ? 0
                             : 1 / sqrt(1 / (c->visits_stddev * c->visits_stddev) +
                                        1 / ((double)S * c->moves_stddev * c->moves_stddev));
    m->moves_stddev =
        isinf(c->moves_stddev) ? 0 : c->moves_stddev; /* not told: one step, or one state */
    const double threshold = universal_threshold(m->moves_stddev, S);
    m->rewards_stddev = c->rewards_stddev;
    const double prior = exact ? EXACT_PRIOR : PRIOR * m->visits_stddev;
    m->rewards_precision = m->scarce && !exact ? reward_precision(m, c) : 0;
    const double drawn = c->rewards_stddev * c->rewards_stddev * m->rewards_precision;
    size_t at = 0;
    for (size_t row = 0; row < m->rows; row++) {
        const double *y = c->moves + row * S, n = count_visits(c, y, row, S);
        if (row % m->space.n_actions == 0)
            pool_actions(m, y);
        const size_t kept = store_cells(m, y, threshold, at);
        m->first[row] = at;
        if (kept > 0)
            project(m->chance + at, kept, n, m->scratch);
        for (size_t i = at; i < at + kept; i++)
            m->chance[i] /= n + prior;
        m->rest[row] = kept > 0 ? prior / (n + prior) : 1;
        m->visits[row] = n;
        m->sampled[row] = c->sampled != NULL ? fmax(0, c->sampled[row]) : n;
        m->reward[row] =
            fmin(1, fmax(0, 0.5 + c->rewards[row] / (n + prior + drawn / (n + prior))));
        at += kept;
    }
    m->first[m->rows] = at;
    estimate_starts(m, c);
}

tacit__next_values tacit__next_values_of(const double *values, size_t n_states)
{
    TACIT__REQUIRE(n_states > 0);
    tacit__next_values out = {.at = values};
    for (size_t s = 0; s < n_states; s++)
        out.mean += values[s];
    out.mean /= (double)n_states;
    for (size_t s = 0; s < n_states; s++)
        out.spread += (values[s] - out.mean) * (values[s] - out.mean);
    return out;
}

tacit__row_outlook tacit__tabular_belief_outlook(const tacit__tabular_belief *m, size_t row,
                                                 const tacit__next_values *v)
{
    const double rest = m->rest[row], s_m = m->moves_stddev, s_n = m->visits_stddev,
                 s_r = m->rewards_stddev, r = m->reward[row] - 0.5;
    double mean = rest * v->mean, kept = 0, variance;
    for (size_t i = m->first[row]; i < m->first[row + 1]; i++)
        mean += m->chance[i] * v->at[m->next[i]];
    variance = rest * (v->spread / (double)m->space.n_states + (v->mean - mean) * (v->mean - mean));
    for (size_t i = m->first[row]; i < m->first[row + 1]; i++) {
        const double away = v->at[m->next[i]] - mean;
        kept += away * away;
        variance += m->chance[i] * away * away;
    }
    if (m->first[row] == m->first[row + 1]) /* anything may follow */
        kept = v->spread;
    const double visits = fmax(m->visits[row] + s_n, EXACT_PRIOR),
                 sampled = fmax(m->sampled[row] + s_n, EXACT_PRIOR);
    const double square = s_m * s_m * (DROPPED * v->spread + (1 - DROPPED) * kept) +
                          s_n * s_n * ((v->mean - mean) * (v->mean - mean) + r * r) +
                          s_r * s_r / (1 + s_r * s_r * m->rewards_precision / (visits * visits));
    return (tacit__row_outlook){
        .mean = mean, .noise = sqrt(square) / visits, .chance = sqrt((variance + 0.25) / sampled)};
}

tacit__row_law tacit__tabular_belief_law(const tacit__tabular_belief *m, size_t row,
                                         const tacit__next_values *v)
{
    const double n = m->sampled[row], known = n / (n + LAW_PRIOR), prior = 1 - known,
                 r = known * m->reward[row] + prior / 2;
    const double even = v->spread / (double)m->space.n_states + v->mean * v->mean;
    double mean = m->rest[row] * v->mean, square = m->rest[row] * even;
    for (size_t i = m->first[row]; i < m->first[row + 1]; i++) {
        const double value = v->at[m->next[i]];
        mean += m->chance[i] * value;
        square += m->chance[i] * value * value;
    }
    mean = known * mean + prior * v->mean;
    square = known * square + prior * even;
    const double variance = fmax(0, square - mean * mean) + r * (1 - r);
    return (tacit__row_law){.mean = r + mean, .stddev = sqrt(variance / (n + LAW_PRIOR + 1))};
}
