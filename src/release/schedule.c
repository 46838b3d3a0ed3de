/* See release/schedule.h. A growth of 1.2 makes about 55 releases of 50,000 users. */
#include "release/schedule.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"

#define MOST_USERS 0x1p62
#define LEAST_REST 0.3 /* of a batch: a shorter last one is joined to it */

uint64_t tacit__schedule_next(uint64_t users, double growth)
{
    const double grown = growth * (double)users;
    return grown > (double)users + 1 ? (uint64_t)fmin(grown, MOST_USERS) : users + 1;
}

uint64_t tacit__schedule_grow(uint64_t first, double growth, uint64_t users, uint64_t *ends)
{
    TACIT__REQUIRE(first > 0 && growth >= 1);
    uint64_t n = 0;
    for (uint64_t k = first; n == 0 || k <= users; k = tacit__schedule_next(k, growth)) {
        if (ends != NULL)
            ends[n] = k;
        n++;
    }
    return n;
}

uint64_t tacit__schedule_count(uint64_t users, double growth, uint64_t *ends)
{
    TACIT__REQUIRE(users > 0);
    return growth <= 1 && ends == NULL ? users : tacit__schedule_grow(1, growth, users, ends);
}

uint64_t *tacit__schedule_ends(uint64_t users, double growth, uint64_t n)
{
    uint64_t *ends = tacit__alloc((size_t)n, sizeof *ends);
    if (ends != NULL)
        TACIT__REQUIRE(tacit__schedule_count(users, growth, ends) == n);
    return ends;
}

size_t tacit__schedule_from_root(uint64_t users, double growth, uint64_t *ends)
{
    TACIT__REQUIRE(growth > 1);
    const double all = fmax(1, (double)users);
    size_t n = 0;
    for (double t = ceil(sqrt(all)); t < all + 0.5; t = ceil(fmax(t + 1, growth * t))) {
        if (ends != NULL)
            ends[n] = (uint64_t)t;
        n++;
    }
    return n;
}

size_t tacit__schedule_batches(uint64_t users, uint64_t first, double growth, uint64_t last,
                               uint64_t *ends)
{
    TACIT__REQUIRE(users > 0 && first > 0 && growth > 1);
    const double K = (double)users;
    size_t n = 0;
    for (double over = 0; over < K; n++) {
        double size = over > 0 ? ceil((growth - 1) * over) : (double)first;
        const bool late = last > 0 && over > 0 && over + size > (double)last;
        if (late || K - over < (1 + LEAST_REST) * size)
            size = K - over;
        over += size;
        if (ends != NULL)
            ends[n] = (uint64_t)over;
    }
    return n;
}

double tacit__schedule_loss(double users, double last, double a)
{
    TACIT__REQUIRE(a > 0 && last <= users);
    return a * atan(last / a) + (users - last) / (1 + last / a * (last / a));
}

uint64_t tacit__schedule_last(uint64_t users, int i)
{
    TACIT__REQUIRE(i >= 0 && i < TACIT__SCHEDULE_LASTS);
    return (uint64_t)((double)users * exp2(-i / 3.0));
}
