/* `exact` and `local`: C is the identity, B adds up. Exact keeps the raw total and shows it; local adds up
 * what each user has already made private, so that its variance grows with the number of users. */
#include <math.h>

#include "base/error.h"
#include "base/workspace.h"
#include "sums/strategy.h"

typedef struct total {
    uint64_t steps;
    size_t dimension;
    double unit;
    int64_t *sum;
} total;

static tacit_status columns(const tacit__shape *shape, tacit__columns *out, tacit_error *err)
{
    const double visits = fmax(1, (double)shape->visits.most); /* each is a step of its own */
    (void)err;
    *out = (tacit__columns){visits, visits > 1 ? nextafter(sqrt(visits), HUGE_VAL) : 1};
    return TACIT_OK;
}

static tacit_status create(const tacit__shape *shape, void **state, tacit_error *err)
{
    total w = {.dimension = shape->dimension, .unit = shape->unit};
    *state = TACIT__WORKSPACE(w, TACIT__PIECE(w.sum, w.dimension));
    return *state != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

static void encode(const void *state, size_t offset, size_t n, const int64_t *x, int64_t *y)
{
    (void)state, (void)offset;
    for (size_t i = 0; i < n; i++)
        y[i] = x[i];
}

static void absorb(void *state, size_t offset, size_t n, const int64_t *x, const int64_t *y)
{
    (void)x;
    int64_t *sum = ((total *)state)->sum + offset;
    for (size_t i = 0; i < n; i++)
        sum[i] += y[i];
}

bool tacit__total_has_room(const void *state, size_t i, int64_t limit)
{
    TACIT__REQUIRE(limit >= 0);
    const int64_t most = (int64_t)1 << 62, sum = ((const total *)state)->sum[i];
    return sum <= most - limit && sum >= limit - most;
}

static void advance(void *state)
{
    ((total *)state)->steps++;
}

static void read(const void *state, double *out)
{
    const total *s = state;
    for (size_t i = 0; i < s->dimension; i++)
        out[i] = (double)s->sum[i] * s->unit;
}

static double no_variance(const void *state, uint64_t k)
{
    (void)state, (void)k;
    return 0;
}

static double local_variance(const void *state, uint64_t k)
{
    (void)state;
    return (double)k;
}

static size_t regions(void *state, tacit__region out[TACIT__MAX_REGIONS])
{
    total *s = state;
    out[0] = (tacit__region){&s->steps, sizeof s->steps};
    out[1] = (tacit__region){s->sum, s->dimension * sizeof *s->sum};
    return 2;
}

static bool resume(void *state, uint64_t steps)
{
    return ((total *)state)->steps == steps;
}

#define OPERATIONS(how_much)                                                                       \
    .columns = columns, .create = create, .destroy = tacit__workspace_destroy, .encode = encode,   \
    .absorb = absorb, .advance = advance, .read = read, .variance = (how_much),                    \
    .most = (how_much), .regions = regions, .resume = resume

const tacit__strategy tacit__strategy_exact = {
    .name = "exact", .needs_noise = false, OPERATIONS(no_variance)};

const tacit__strategy tacit__strategy_local = {
    .name = "local", .needs_noise = true, OPERATIONS(local_variance)};
