/* See noisy_rows.h and docs/why/tabular.md#what-the-noise-is-worth. Costs S log S a row and S A a step. */
#include "plan/noisy_rows.h"

#include <math.h>

#include "plan/project.h"

double tacit__noise_threshold(size_t n)
{
    return sqrt(2 * log((double)n));
}

const double *tacit__leave_large(const double *y, size_t n, double least, double *out)
{
    const double dropped = -0x1p900; /* no projection raises it above 0 */
    bool some = false;
    for (size_t i = 0; i < n; i++) {
        const bool large = y[i] >= least;
        out[i] = large ? y[i] : dropped;
        some |= large;
    }
    return some ? out : y;
}

void tacit__estimate_chances(const double *moves, size_t n, double visits, double *scratch,
                             double *chances)
{
    double *sorted = scratch, *line = scratch + n, sum = 0;
    tacit__project_counts(moves, n, visits, 0, sorted, line);
    for (size_t next = 0; next < n; next++)
        sum += line[next];
    for (size_t next = 0; next < n; next++)
        chances[next * TACIT__BLOCK] = line[next] / fmax(1, sum);
}

double tacit__least_known(const tacit__counts *c)
{
    return fmax(1, c->visits_stddev);
}

void tacit__add_noise_width(const tacit__induction *in, const tacit__counts *c, double scale,
                            size_t h, const double *visits, const double *mean, double *q)
{
    const size_t n_states = in->space.n_states;
    const double *next = in->values + (h + 1) * n_states;
    const double move = c->moves_stddev * c->moves_stddev,
                 reward = c->rewards_stddev * c->rewards_stddev;
    double sum = 0, square = 0;
    for (size_t s = 0; s < n_states; s++) {
        sum += next[s];
        square += next[s] * next[s];
    }
    for (size_t i = 0; i < in->pairs; i++) {
        const double apart = square + mean[i] * ((double)n_states * mean[i] - 2 * sum);
        q[i] += scale * sqrt(move * (apart > 0 ? apart : 0) + reward) /
                (fmax(visits[i], 0) + c->visits_stddev);
    }
}
