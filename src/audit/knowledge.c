/* See audit/knowledge.h. Sizes, bounds and signs are those of the request, so that learners accept it.
 *
 * Rewards are 0 or 1 by turns of states. Features of a pair have the declared length: half of the pairs
 * have a unit vector e_j, a quarter (+-1, .., +-1), which is the longest in L1, and a quarter a direction
 * of their own. A mixture's part j leads to one next state, so that for values v the features are (w_j
 * v(s_j))_j with |w| = bound: no longer than the bound for any v in [-1, 1], and as long at its corners. */
#include "audit/knowledge.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Tables larger than this are left as they are. */
#define MOST_NUMBERS 0x1p22

/* Chance by place: splitmix64 [SLF14]. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static uint64_t word_at(size_t pair, size_t j)
{
    return mix(mix(pair) + j);
}

/* w[d] of this length for a pair. */
static void fill_row(size_t pair, size_t d, double length, bool nonnegative, bool simplex,
                     double *w)
{
    TACIT__REQUIRE(d > 0);
    double square = 0, sum = 0;
    memset(w, 0, d * sizeof *w);
    if (pair % 2 == 0) {
        w[pair / 2 % d] = length;
        return;
    }
    for (size_t j = 0; j < d; j++) {
        double u = (double)(word_at(pair, j) >> 11) * 0x1p-53;
        w[j] = nonnegative ? u : 2 * u - 1;
        w[j] = pair % 4 == 3 ? (w[j] < 0 ? -1 : 1) : w[j];
        square += w[j] * w[j];
        sum += w[j];
    }
    /* a little inside, so that rounding does not lead out */
    double factor = simplex ? 1 / sum : length * (1 - 1e-12) / sqrt(square);
    for (size_t j = 0; j < d; j++)
        w[j] *= factor;
}

static void mixture_row(void *context, uint32_t state, uint32_t action, double *out)
{
    const tacit__knowledge *k = context;
    const size_t d = k->mixture.dimension, n = k->request.n_states,
                 pair = state * k->request.n_actions + action;
    memset(out, 0, d * n * sizeof *out);
    fill_row(pair, d, k->mixture.bound, k->mixture.nonnegative, false, k->scratch);
    for (size_t j = 0; j < d; j++)
        out[j * n + word_at(pair, d + j) % n] = k->scratch[j];
}

static void linear_row(void *context, uint32_t state, uint32_t action, double *out)
{
    const tacit__knowledge *k = context;
    fill_row(state * k->request.n_actions + action, k->linear.dimension,
             k->linear.simplex ? 1 : k->linear.bound, k->linear.simplex, k->linear.simplex, out);
}

static tacit_status make_rewards(tacit__knowledge *k)
{
    const tacit_agent_request *q = &k->request;
    size_t steps = q->stationary ? 1 : q->horizon, pairs = q->n_states * q->n_actions;
    k->rewards = tacit__alloc(steps * pairs, sizeof *k->rewards);
    if (k->rewards == NULL)
        return TACIT_NO_MEMORY;
    for (size_t i = 0; i < steps * pairs; i++)
        k->rewards[i] = (double)(i / q->n_actions % q->n_states % 2);
    k->request.rewards = k->rewards;
    return TACIT_OK;
}

static tacit_status make_points(tacit__knowledge *k)
{
    tacit_bandit *b = &k->bandit;
    size_t rows = k->request.n_states * (b->disjoint ? 1 : k->request.n_actions);
    k->points = tacit__alloc(rows * b->dimension, sizeof *k->points);
    if (k->points == NULL)
        return TACIT_NO_MEMORY;
    for (size_t i = 0; i < rows; i++)
        fill_row(i, b->dimension, b->bound, false, false, k->points + i * b->dimension);
    b->points = k->points;
    k->request.bandit = b;
    return TACIT_OK;
}

tacit_status tacit__knowledge_open(tacit__knowledge *k, const tacit_agent_request *q, bool *known)
{
    double pairs = (double)q->n_states * (double)q->n_actions;
    bool points = q->bandit != NULL && q->bandit->points != NULL;
    tacit_status status = TACIT_OK;
    *k = (tacit__knowledge){.request = *q};
    *known = false;
    if (pairs * (double)q->horizon > MOST_NUMBERS ||
        (points && pairs * (double)q->bandit->dimension > MOST_NUMBERS))
        return TACIT_OK;
    if (q->rewards != NULL)
        status = make_rewards(k);
    if (status == TACIT_OK && q->mixture != NULL) {
        k->mixture = *q->mixture;
        k->mixture.row = mixture_row;
        k->mixture.context = k;
        k->request.mixture = &k->mixture;
        k->scratch = tacit__alloc(k->mixture.dimension, sizeof *k->scratch);
        status = k->scratch != NULL ? TACIT_OK : TACIT_NO_MEMORY;
    }
    if (status == TACIT_OK && q->linear != NULL && q->linear->row != NULL) {
        k->linear = *q->linear;
        k->linear.row = linear_row;
        k->linear.context = k;
        k->request.linear = &k->linear;
    }
    if (status == TACIT_OK && points) {
        k->bandit = *q->bandit;
        status = make_points(k);
    }
    *known = q->rewards != NULL || q->mixture != NULL || k->linear.row != NULL || points;
    return status;
}

void tacit__knowledge_close(tacit__knowledge *k)
{
    tacit__free(k->rewards);
    tacit__free(k->points);
    tacit__free(k->scratch);
    *k = (tacit__knowledge){0};
}
