/* See played_batch.h. */
#include "plan/posterior/played_batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Subtract what makes the positive parts sum to 1. */
void tacit__simplex_project(size_t n, double *x, double *sorted)
{
    TACIT__REQUIRE(n > 0);
    double sum = 0, shift = 0;
    memcpy(sorted, x, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, descending);
    for (size_t i = 0; i < n; i++) {
        sum += sorted[i];
        const double wanted = (sum - 1) / (double)(i + 1);
        if (sorted[i] > wanted)
            shift = wanted;
    }
    for (size_t i = 0; i < n; i++)
        x[i] = fmax(0, x[i] - shift);
}

/* `share` of the users, who are in state s, take this action. */
static void step(const tacit__walk *w, size_t h, size_t s, size_t action, double share,
                 double players, double *visits)
{
    const size_t S = w->n_states, pair = s * w->n_actions + action, pairs = S * w->n_actions;
    visits[h * pairs + pair] += players * share;
    if (h + 1 == w->steps) /* nobody is followed further */
        return;
    const double *chances = w->chances + ((w->tables == 1 ? 0 : h) * pairs + pair) * S;
    for (size_t next = 0; next < S && share > 0; next++)
        w->after[next] += share * chances[next];
}

/* plan NULL: every action alike. */
static void walk_plan(const tacit__walk *w, const uint32_t *plan, double players, double *visits)
{
    const size_t S = w->n_states, A = w->n_actions;
    memcpy(w->here, w->start, S * sizeof *w->here);
    for (size_t h = 0; h < w->steps; h++) {
        memset(w->after, 0, S * sizeof *w->after);
        for (size_t s = 0; s < S; s++)
            if (plan != NULL)
                step(w, h, s, plan[h * S + s], w->here[s], players, visits);
            else
                for (size_t a = 0; a < A; a++)
                    step(w, h, s, a, w->here[s] / (double)A, players, visits);
        memcpy(w->here, w->after, S * sizeof *w->here);
    }
}

void tacit__walk_visits(const tacit__walk *w, const tacit__played_batch *b, double *visits)
{
    const size_t plan = w->horizon * w->n_states;
    memset(visits, 0, w->steps * w->n_states * w->n_actions * sizeof *visits);
    for (size_t j = 0; j < b->n_plans; j++)
        if (b->players[j] > 0)
            walk_plan(w, b->plans != NULL ? b->plans + j * plan : NULL, (double)b->players[j],
                      visits);
}

void tacit__played_start(const tacit__played_batch *batches, size_t n, size_t n_states,
                         double *start, double *sorted)
{
    TACIT__REQUIRE(n_states > 0);
    for (size_t s = 0; s < n_states; s++) {
        double precision = (double)n_states, target = 1; /* of the prior, which is even */
        double before = 1, seen = 0, count = 0; /* of the last batch: variance, users and count */
        for (size_t k = 0; k < n; k++) {
            const tacit__played_batch *b = &batches[k];
            const double users = tacit__played_asked(b, 0), unit = b->start,
                         noise = tacit__played_noise(b, 0, 1 / (double)n_states) / (unit * unit),
                         common = k > 0 ? b->fade * noise : 0;
            if (!(users > 0))
                continue;
            const double tells = common / before; /* the last batch of this one's noise */
            /* of a count; p (1 - p) <= 1/4 */
            const double variance =
                noise + b->fade * common + users / (4 * b->truth) - common * tells;
            seen = users + tells * seen;
            count = b->shown.starts[s] / unit + tells * count;
            precision += seen * seen / variance;
            target += seen * count / variance;
            before = variance;
        }
        start[s] = target / precision;
    }
    tacit__simplex_project(n_states, start, sorted);
}
