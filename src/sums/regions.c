/* See sums/regions.h. The first region of every strategy is its position, which sums/saved.c reads. The
 * others are integers on the lattice, made of users' data and of noise; the last one of blt holds the
 * doubles that it has released. Any content of theirs can be saved and loaded, as long as it is small
 * enough: |exact| < 2^61 and a draw < 2^55 (account/ledger.c) are added to numbers of at most 2^62, and
 * blt's buffers, of at most 2^60, have room of their own (sums/blt.c). */
#include "sums/regions.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "noise/stream.h"
#include "sums/sum_inside.h"

size_t tacit__sum_regions(const tacit_sum *sum, tacit__region out[TACIT__MAX_REGIONS])
{
    size_t n = sum->strategy->regions(sum->state, out);
    if (sum->batch == NULL)
        return n;
    TACIT__REQUIRE(n + 3 <= TACIT__MAX_REGIONS);
    tacit_sum *s = (tacit_sum *)(uintptr_t)sum; /* a region is written to by `load` alone */
    out[n++] = (tacit__region){&s->people, sizeof s->people};
    out[n++] = (tacit__region){&s->waiting, sizeof s->waiting};
    out[n++] = (tacit__region){sum->batch, sum->dimension * sizeof *sum->batch};
    return n;
}

void tacit__sum_wipe(tacit_sum *sum)
{
    const size_t tile = sum->dimension < TACIT__TILE ? sum->dimension : TACIT__TILE;
    tacit__region regions[TACIT__MAX_REGIONS];
    size_t n = sum->strategy->regions(sum->state, regions);
    for (size_t i = 1; i < n; i++)
        tacit__wipe(regions[i].data, regions[i].size);
    tacit__wipe(sum->x, sum->dimension * sizeof *sum->x);
    if (sum->batch != NULL)
        tacit__wipe(sum->batch, sum->dimension * sizeof *sum->batch);
    tacit__wipe(sum->encoded, tile * sizeof *sum->encoded);
    if (sum->packed != NULL)
        tacit__wipe(sum->packed, sum->dimension * sizeof *sum->packed);
}

static bool are_integers(const uint8_t *bytes, size_t size, int64_t most)
{
    for (size_t at = 0; at + sizeof(int64_t) <= size; at += sizeof(int64_t)) {
        int64_t x;
        memcpy(&x, bytes + at, sizeof x);
        if (x > most || x < -most)
            return false;
    }
    return true;
}

/* The people of a sum that collects them: no more than declared, and as many as the batch can be of. */
static bool are_people(const tacit_sum *sum, const uint8_t *bytes)
{
    uint64_t people, waiting;
    memcpy(&people, bytes, sizeof people);
    memcpy(&waiting, bytes + sizeof people, sizeof waiting);
    return people <= sum->users && waiting <= people &&
           are_integers(bytes + sizeof people + sizeof waiting, sum->dimension * sizeof *sum->batch,
                        (int64_t)waiting * (int64_t)sum->lattice.largest); /* below 2^60 */
}

bool tacit__sum_check_regions(const tacit_sum *sum, const void *bytes)
{
    const bool has_reals = sum->strategy->has_reals;
    const int64_t most = (int64_t)1 << (has_reals ? 60 : 62);
    const uint8_t *at = bytes;
    tacit__region regions[TACIT__MAX_REGIONS];
    size_t n = sum->strategy->regions(sum->state, regions);
    bool sound = true;
    for (size_t i = 0; i < n && sound; at += regions[i].size, i++)
        if (i > 0)
            sound = has_reals && i + 1 == n
                        ? tacit__are_reals(at, regions[i].size / sizeof(double), TACIT__MOST_SUM)
                        : are_integers(at, regions[i].size, most);
    return sound && (sum->batch == NULL || are_people(sum, at));
}
