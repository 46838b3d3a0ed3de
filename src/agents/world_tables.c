/* See world_tables.h. The parts of a mixture are probability kernels P_j and the unknown weights sum to 1;
 * features P_j / sqrt(d) and parameters sqrt(d) w keep the declared bounds: |sum_s' phi v| <= 1 for
 * |v| <= 1, and |w| <= 1. */
#include "agents/world_tables.h"

#include <math.h>

#include "agents/domain.h"
#include "base/error.h"
#include "base/memory.h"

const char *const tacit__table_names[TACIT__N_TABLES] = {"rewards", "mixture", "features",
                                                         "weights"};

void tacit__world_tables_destroy(tacit__world_tables *k)
{
    for (size_t i = 0; i < TACIT__N_TABLES; i++) {
        tacit__free(k->table[i]);
        k->table[i] = NULL;
    }
}

size_t tacit__world_tables_size(const tacit__world_tables *k, const tacit_agent_request *q,
                                tacit__table_name table)
{
    TACIT__REQUIRE(table < TACIT__N_TABLES);
    const size_t most = (size_t)1 << 27;
    const size_t sides[TACIT__N_TABLES][4] = {
        [TACIT__TABLE_REWARDS] = {q->stationary ? 1 : q->horizon, q->n_states, q->n_actions, 1},
        [TACIT__TABLE_MIXTURE] = {q->n_states, q->n_actions, k->parts, q->n_states},
        [TACIT__TABLE_FEATURES] = {q->n_states, k->disjoint ? 1 : q->n_actions, k->features, 1},
        [TACIT__TABLE_WEIGHTS] = {q->n_states, 1, 1, 1}};
    size_t n = 1;
    for (size_t i = 0; i < 4; i++)
        if (__builtin_mul_overflow(n, sides[table][i], &n) || n > most)
            return 0;
    return n;
}

static double length_of(const double *x, size_t n)
{
    double square = 0;
    for (size_t i = 0; i < n; i++)
        square += x[i] * x[i];
    return sqrt(square);
}

/* No number is negative, and they sum to 1. */
static bool is_simplex(const double *x, size_t n)
{
    double sum = 0;
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        good = good && x[i] >= 0;
        sum += x[i];
    }
    return good && fabs(sum - 1) <= TACIT__TABLES_TOL;
}

bool tacit__world_tables_is_valid(const tacit__world_tables *k, const tacit_agent_request *q)
{
    const double *rewards = k->table[TACIT__TABLE_REWARDS],
                 *mixture = k->table[TACIT__TABLE_MIXTURE],
                 *features = k->table[TACIT__TABLE_FEATURES],
                 *weights = k->table[TACIT__TABLE_WEIGHTS];
    const tacit__domain domain = tacit__domain_of(q);
    bool good = weights == NULL || is_simplex(weights, q->n_states);
    size_t n = rewards != NULL ? tacit__world_tables_size(k, q, TACIT__TABLE_REWARDS) : 0;
    for (size_t i = 0; i < n; i++)
        good = good && rewards[i] >= domain.reward_low && rewards[i] <= domain.reward_high;
    n = mixture != NULL ? tacit__world_tables_size(k, q, TACIT__TABLE_MIXTURE) : 0;
    for (size_t i = 0; i < n && good; i += q->n_states)
        good = is_simplex(mixture + i, q->n_states);
    n = features != NULL ? tacit__world_tables_size(k, q, TACIT__TABLE_FEATURES) : 0;
    for (size_t i = 0; i < n && good; i += k->features) {
        double length = length_of(features + i, k->features);
        good = isfinite(length) && (k->bound <= 0 || length <= k->bound * (1 + TACIT__TABLES_TOL));
    }
    return good;
}

bool tacit__world_tables_accepts(const tacit__world_tables *k, const tacit_agent_request *q,
                                 const double *x)
{
    TACIT__REQUIRE(x != NULL);
    const size_t d = k->features, n = tacit__world_tables_per_user(k, q);
    bool good = true;
    for (size_t i = 0; i < n && good; i += d) {
        double length = length_of(x + i, d); /* its square, as curators look at it */
        good = length * length <= k->bound * k->bound * (1 + TACIT__TABLES_TOL) &&
               (!k->simplex || is_simplex(x + i, d));
    }
    return good;
}

static void mixture_row(void *context, uint32_t state, uint32_t action, double *out)
{
    const tacit__world_tables *k = context;
    const size_t n = k->parts * k->n_states;
    const double *row =
        k->table[TACIT__TABLE_MIXTURE] + ((size_t)state * k->n_actions + action) * n;
    const double scale = 1 / sqrt((double)k->parts);
    for (size_t i = 0; i < n; i++)
        out[i] = scale * row[i];
}

static void features_row(void *context, uint32_t state, uint32_t action, double *out)
{
    const tacit__world_tables *k = context;
    const double *row =
        k->table[TACIT__TABLE_FEATURES] + ((size_t)state * k->n_actions + action) * k->features;
    for (size_t i = 0; i < k->features; i++)
        out[i] = row[i];
}

/* Derives what follows from the table of features: the bound, if it was not declared; whether they are
 * mixtures. */
static bool measure(tacit__world_tables *k, const tacit_agent_request *q)
{
    const double *x = k->table[TACIT__TABLE_FEATURES];
    const size_t n = tacit__world_tables_size(k, q, TACIT__TABLE_FEATURES);
    double longest = 0;
    bool simplex = true;
    for (size_t i = 0; i < n; i += k->features) {
        longest = fmax(longest, length_of(x + i, k->features));
        simplex = simplex && is_simplex(x + i, k->features);
    }
    if (k->bound <= 0)
        k->bound = longest > 0 ? longest : 1;
    return simplex;
}

void tacit__world_tables_set_request(tacit__world_tables *k, tacit_agent_request *q)
{
    TACIT__REQUIRE(k != NULL && q != NULL);
    const bool table = k->table[TACIT__TABLE_FEATURES] != NULL;
    const bool simplex = table ? measure(k, q) : k->simplex;
    k->n_states = q->n_states;
    k->n_actions = q->n_actions;
    k->mixture = (tacit_mixture){.dimension = k->parts,
                                 .bound = 1,
                                 .parameter_norm = sqrt((double)k->parts),
                                 .kernels = true,
                                 .nonnegative = true,
                                 .row = mixture_row,
                                 .context = k};
    k->linear = (tacit_linear){.dimension = k->features,
                               .bound = k->bound,
                               .simplex = simplex,
                               .row = table ? features_row : NULL,
                               .context = k};
    k->bandit = (tacit_bandit){.dimension = k->features,
                               .context_dimension = k->context,
                               .bound = k->bound,
                               .disjoint = k->disjoint,
                               .complementary = k->complementary,
                               .parameter_norm = k->parameter_norm,
                               .points = k->table[TACIT__TABLE_FEATURES],
                               .weights = k->table[TACIT__TABLE_WEIGHTS],
                               .kernel = k->kernel};
    q->rewards = k->table[TACIT__TABLE_REWARDS];
    q->mixture = k->table[TACIT__TABLE_MIXTURE] != NULL ? &k->mixture : NULL;
    q->linear = k->features > 0 && q->horizon > 1 ? &k->linear : NULL;
    q->bandit = k->features > 0 && q->horizon == 1 ? &k->bandit : NULL;
}

size_t tacit__world_tables_per_user(const tacit__world_tables *k, const tacit_agent_request *q)
{
    if (q->n_states > 0)
        return 0;
    return k->features * (k->disjoint ? 1 : q->n_actions);
}
