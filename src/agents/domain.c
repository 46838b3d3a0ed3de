/* See domain.h.
 *
 * That what comes out is accepted by every curator. States and actions are below their numbers,
 * rewards are in [0, 1]: checked with the same comparisons everywhere. Vectors: curators allow a
 * relative excess of 1e-9 of a square or a sum for rounding, each with an order of summation of its
 * own; here a vector is clipped from a quarter of that on, and a clipped one is on the bound up to some
 * 1e-15, so that nothing that leaves this file is near enough to their limit for rounding to
 * decide. */
#include "agents/domain.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/stream.h"

#define SLACK 2.5e-10

tacit__domain tacit__domain_of(const tacit_agent_request *q)
{
    TACIT__REQUIRE(q->n_actions > 0);
    const bool ranged = q->reward_low != 0 || q->reward_high != 0;
    tacit__domain d = {.n_states = q->n_states,
                       .n_actions = q->n_actions,
                       .horizon = q->horizon,
                       .reward_low = ranged ? q->reward_low : 0,
                       .reward_high = ranged ? q->reward_high : 1};
    if (q->bandit != NULL) {
        d.dimension = q->bandit->dimension;
        d.bound = q->bandit->bound;
        d.situations = 1;
        d.per_situation = d.dimension * (q->bandit->disjoint ? 1 : q->n_actions);
    } else if (q->linear != NULL && q->linear->row == NULL) {
        d.dimension = q->linear->dimension;
        d.bound = q->linear->bound;
        d.simplex = q->linear->simplex;
        d.situations = q->horizon + 1;
        d.per_situation = d.dimension * q->n_actions;
    }
    return d;
}

size_t tacit__domain_brought(const tacit_agent_request *q)
{
    const bool numbered = q->bandit != NULL && q->bandit->points != NULL;
    return numbered ? 0 : tacit__domain_of(q).per_situation;
}

/* --- Numbers and vectors --------------------------------------------------------------------------- */

bool tacit__domain_clip_index(uint32_t *index, size_t n)
{
    TACIT__REQUIRE(n > 0);
    if (*index < n)
        return false;
    *index = (uint32_t)(n - 1);
    return true;
}

bool tacit__domain_clip_reward(const tacit__domain *d, double *reward)
{
    const double low = d->reward_low, high = d->reward_high;
    TACIT__REQUIRE(low <= high);
    if (*reward >= low && *reward <= high)
        return false;
    *reward = *reward < low ? low : *reward > high ? high : low / 2 + high / 2;
    return true;
}

double tacit__domain_unit_reward(const tacit__domain *d, double reward)
{
    return (reward - d->reward_low) / (d->reward_high - d->reward_low);
}

double tacit__domain_mean_reward(const tacit__domain *d, const tacit_trajectory *user)
{
    TACIT__REQUIRE(d->horizon > 0);
    const size_t length = user->length > 0 && user->length < d->horizon ? user->length : d->horizon;
    double sum = 0;
    for (size_t h = 0; h < d->horizon; h++) {
        double reward = h < length ? user->rewards[h] : 0;
        (void)tacit__domain_clip_reward(d, &reward);
        sum += tacit__domain_unit_reward(d, reward);
    }
    return sum / (double)d->horizon;
}

static double largest_of(const double *x, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    return largest;
}

/* The length of x / unit: nothing overflows if no number is larger than `unit`. */
static double length_in(const double *x, size_t n, double unit)
{
    double square = 0;
    for (size_t i = 0; i < n; i++)
        square += x[i] / unit * (x[i] / unit);
    return sqrt(square);
}

/* Onto the ball. */
static bool shorten(double *x, size_t n, double bound)
{
    TACIT__REQUIRE(bound > 0);
    double largest = largest_of(x, n), length = largest > 0 ? length_in(x, n, largest) : 0;
    if (!(largest * length > bound * (1 + SLACK)))
        return false;
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] / largest * (bound / length);
    return true;
}

static bool is_distribution(const double *x, size_t n)
{
    double sum = 0;
    bool positive = true;
    for (size_t i = 0; i < n; i++) {
        positive = positive && x[i] >= 0;
        sum += x[i];
    }
    return positive && fabs(sum - 1) <= SLACK;
}

/* Negative numbers become 0, and the rest is divided by its sum; where nothing is left, all are alike. */
static bool make_distribution(double *x, size_t n)
{
    double largest = 0, sum = 0;
    if (is_distribution(x, n))
        return false;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, x[i]);
    for (size_t i = 0; i < n; i++) {
        x[i] = largest > 0 ? fmax(x[i], 0) / largest : 1;
        sum += x[i];
    }
    for (size_t i = 0; i < n; i++)
        x[i] /= sum;
    return true;
}

/* A distribution that is longer than the bound goes straight toward the uniform one, which is the
 * shortest: what it has beyond that is orthogonal to it, so |x|^2 = 1/n + |x - u|^2. */
static bool flatten(double *x, size_t n, double bound)
{
    const double uniform = 1 / (double)n;
    double square = 0;
    if (!(length_in(x, n, 1) > bound * (1 + SLACK)))
        return false;
    for (size_t i = 0; i < n; i++)
        square += (x[i] - uniform) * (x[i] - uniform);
    double keep = sqrt(fmax(0, bound * bound - uniform) / square);
    for (size_t i = 0; i < n; i++)
        x[i] = uniform + keep * (x[i] - uniform);
    return true;
}

static bool clip_vector(const tacit__domain *d, double *x)
{
    TACIT__REQUIRE(d->bound > 0);
    bool clipped = false;
    for (size_t i = 0; i < d->dimension; i++)
        clipped = clipped || !isfinite(x[i]);
    for (size_t i = 0; i < d->dimension && clipped; i++)
        x[i] = 0;
    if (!d->simplex)
        return shorten(x, d->dimension, d->bound) || clipped;
    clipped = make_distribution(x, d->dimension) || clipped;
    return flatten(x, d->dimension, d->bound) || clipped;
}

bool tacit__domain_clip_features(const tacit__domain *d, double *features)
{
    TACIT__REQUIRE(features != NULL);
    bool clipped = false;
    for (size_t at = 0; at < d->per_situation; at += d->dimension)
        clipped = clip_vector(d, features + at) || clipped;
    return clipped;
}

/* --- Users ----------------------------------------------------------------------------------------- */

struct tacit__clipper {
    tacit__domain domain;
    size_t states; /* of a trajectory that learners look at */
    size_t size;   /* bytes of the copy */
    double *rewards, *features;
    uint32_t *copied, *actions; /* states and actions */
};

tacit_status tacit__clipper_create(const tacit_agent_request *request, bool ahead,
                                   tacit__clipper **out)
{
    TACIT__REQUIRE(request->horizon > 0 && request->n_actions > 0);
    tacit__clipper *c = tacit__alloc(1, sizeof *c);
    if (c == NULL)
        return TACIT_NO_MEMORY;
    c->domain = tacit__domain_of(request);
    const size_t H = c->domain.horizon, numbers = c->domain.situations * c->domain.per_situation;
    c->states = H + (request->bandit == NULL || ahead);
    c->size = (H + numbers) * sizeof *c->rewards + (2 * H + 1) * sizeof *c->actions;
    c->rewards = tacit__alloc(c->size, 1);
    if (c->rewards == NULL) {
        tacit__free(c);
        return TACIT_NO_MEMORY;
    }
    c->features = c->rewards + H;
    c->copied = (uint32_t *)(void *)(c->features + numbers);
    c->actions = c->copied + H + 1;
    *out = c;
    return TACIT_OK;
}

void tacit__clipper_destroy(tacit__clipper *c)
{
    if (c != NULL)
        tacit__free_secret(c->rewards, c->size);
    tacit__free(c);
}

void tacit__clipper_wipe(tacit__clipper *c)
{
    tacit__wipe(c->rewards, c->size);
}

const tacit__domain *tacit__clipper_domain(const tacit__clipper *c)
{
    return &c->domain;
}

uint32_t *tacit__clipper_actions(tacit__clipper *c)
{
    return c->actions;
}

/* The user's own arrays up to the end, and the end from there on. */
tacit_trajectory tacit__clipper_copy(tacit__clipper *c, const tacit_trajectory *user, size_t length)
{
    const tacit__domain *d = &c->domain;
    const size_t row = d->per_situation;
    TACIT__REQUIRE(length > 0 && length <= d->horizon);
    tacit_trajectory out = *user;
    out.length = 0;
    out.actions = c->actions;
    out.rewards = c->rewards;
    memcpy(c->actions, user->actions, length * sizeof *c->actions);
    for (size_t h = 0; h < d->horizon; h++) {
        c->actions[h] = h < length ? c->actions[h] : 0;
        c->rewards[h] = tacit__domain_unit_reward(d, h < length ? user->rewards[h] : 0);
    }
    if (user->states != NULL && d->n_states > 0) {
        out.states = c->copied;
        for (size_t i = 0; i < c->states; i++)
            c->copied[i] = user->states[i < length ? i : length];
    }
    if (user->features != NULL && d->dimension > 0) {
        out.features = c->features;
        for (size_t i = 0; i < d->situations; i++)
            memcpy(c->features + i * row, user->features + (i < length ? i : length) * row,
                   row * sizeof *c->features);
    }
    return out;
}

tacit_trajectory tacit__clipper_user(tacit__clipper *c, const tacit_trajectory *user, size_t length,
                                     bool *clipped)
{
    const tacit__domain *d = &c->domain;
    TACIT__REQUIRE(length <= d->horizon);
    const tacit_trajectory out = tacit__clipper_copy(c, user, length);
    *clipped = false;
    for (size_t h = 0; h < d->horizon; h++) {
        double reward = h < length ? user->rewards[h] : 0;
        *clipped = tacit__domain_clip_index(&c->actions[h], d->n_actions) || *clipped;
        *clipped = tacit__domain_clip_reward(d, &reward) || *clipped;
        c->rewards[h] = tacit__domain_unit_reward(d, reward);
    }
    for (size_t i = 0; out.states == c->copied && i < c->states; i++)
        *clipped = tacit__domain_clip_index(&c->copied[i], d->n_states) || *clipped;
    for (size_t i = 0; out.features == c->features && i < d->situations; i++)
        *clipped = tacit__domain_clip_features(d, c->features + i * d->per_situation) || *clipped;
    return out;
}

tacit_situation tacit__clipper_situation(tacit__clipper *c, const tacit_situation *situation,
                                         bool *clipped)
{
    TACIT__REQUIRE(situation != NULL && clipped != NULL);
    const tacit__domain *d = &c->domain;
    tacit_situation out = *situation;
    *clipped = d->n_states > 0 && tacit__domain_clip_index(&out.state, d->n_states);
    if (situation->features != NULL && d->dimension > 0) {
        memcpy(c->features, situation->features, d->per_situation * sizeof *c->features);
        out.features = c->features;
        *clipped = tacit__domain_clip_features(d, c->features) || *clipped;
    }
    return out;
}
