/* A running sum as bytes: header, the strategy's regions, checksum.
 *
 * The state of its gate is part of it, so a restored sum goes on with the next step's noise: that of the
 * key and of the inputs before and to come. (Steps passed and users differ in local sums only: a device
 * draws noise for reports that it does not add, a collector adds reports whose noise it did not draw.) The
 * fingerprint covers the plan's line, the scale, the law, the mechanism, the lattice and the structural
 * zeros: a state is only ever continued under the promise it was made for. The checksum is BLAKE2b over
 * everything before it; it finds damage, not forgery: an attacker who can write the state has the raw data
 * anyway. Numbers are in the machine's byte order, which the magic word betrays. */
#include <string.h>

#include "base/error.h"
#include "sums/regions.h"
#include "sums/saved.h"
#include "sums/sum_inside.h"

#define MAGIC 0x746163697473756dU /* "tacitsum" */
enum { FORMAT_VERSION = 4 };

typedef struct header {
    uint64_t magic;
    uint32_t version;
    uint8_t released, padding[3];
    uint64_t size; /* of the whole, checksum included */
    uint64_t step;
    uint8_t fingerprint[TACIT__KEY_BYTES];
    tacit__gate_state gate;
} header;

void tacit__sum_fingerprint(const tacit_sum *sum, const tacit_release *line, tacit_law law,
                            uint8_t out[TACIT__KEY_BYTES])
{
    const tacit_bound *b = &sum->lattice.bound;
    const double numbers[] = {line->l1, line->l2, line->column_l1, line->column_l2, sum->scale,
                              b->l1,    b->l2};
    const uint64_t sizes[] = {sum->outer_dimension,
                              sum->dimension,
                              sum->users,
                              (uint64_t)law,
                              (uint64_t)(int64_t)sum->lattice.bits,
                              b->nonzeros,
                              b->nonnegative,
                              b->clip};
    const tacit__bytes parts[] = {
        {line->name, strlen(line->name) + 1},
        {sum->strategy->name, strlen(sum->strategy->name) + 1},
        {numbers, sizeof numbers},
        {sizes, sizeof sizes},
        {sum->active, sum->active != NULL ? sum->dimension * sizeof *sum->active : 0},
    };
    tacit__digest(parts, sizeof parts / sizeof *parts, out);
}

static size_t saved_size(const tacit_sum *sum)
{
    tacit__region regions[TACIT__MAX_REGIONS];
    size_t n = sum->strategy->regions(sum->state, regions),
           size = sizeof(header) + TACIT__KEY_BYTES;
    for (size_t i = 0; i < n; i++)
        size += regions[i].size;
    return size;
}

tacit_status tacit_sum_save(const tacit_sum *sum, void *bytes, size_t *size, tacit_error *err)
{
    if (sum == NULL || size == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    size_t needed = saved_size(sum);
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the state takes %zu bytes, the buffer has %zu",
                           needed, *size);
    header h = {.magic = MAGIC,
                .version = FORMAT_VERSION,
                .released = sum->released,
                .size = needed,
                .step = sum->step};
    memcpy(h.fingerprint, sum->fingerprint, sizeof h.fingerprint);
    tacit__gate_save(sum->gate, &h.gate);

    uint8_t *at = bytes;
    memcpy(at, &h, sizeof h);
    at += sizeof h;
    tacit__region regions[TACIT__MAX_REGIONS];
    size_t n = sum->strategy->regions(sum->state, regions);
    for (size_t i = 0; i < n; i++) {
        if (regions[i].size > 0)
            memcpy(at, regions[i].data, regions[i].size);
        at += regions[i].size;
    }
    tacit__digest(&(tacit__bytes){bytes, (size_t)(at - (uint8_t *)bytes)}, 1, at);
    tacit__wipe(&h, sizeof h);
    *size = needed;
    return TACIT_OK;
}

static tacit_status check(const tacit_sum *sum, const void *bytes, size_t size, header *h,
                          tacit_error *err)
{
    if (size < sizeof *h + TACIT__KEY_BYTES)
        return tacit__fail(err, TACIT_CORRUPT, "%zu bytes are too few for a saved sum", size);
    memcpy(h, bytes, sizeof *h);
    if (h->magic != MAGIC)
        return tacit__fail(err, TACIT_CORRUPT,
                           "this is not a saved sum, or one from a machine of another byte order");
    if (h->version != FORMAT_VERSION)
        return tacit__fail(err, TACIT_WRONG_VERSION,
                           "the saved sum has format version %u, expected %d", (unsigned)h->version,
                           FORMAT_VERSION);
    if (h->size != size)
        return tacit__fail(err, TACIT_CORRUPT,
                           "the saved sum should have %llu bytes, there are %zu",
                           (unsigned long long)h->size, size);
    uint8_t digest[TACIT__KEY_BYTES];
    tacit__digest(&(tacit__bytes){bytes, size - sizeof digest}, 1, digest);
    if (memcmp(digest, (const uint8_t *)bytes + size - sizeof digest, sizeof digest) != 0)
        return tacit__fail(err, TACIT_CORRUPT,
                           "the saved sum is damaged: its checksum does not match");
    if (memcmp(h->fingerprint, sum->fingerprint, sizeof h->fingerprint) != 0 ||
        size != saved_size(sum))
        return tacit__fail(err, TACIT_WRONG_PLAN,
                           "the saved sum was made with another plan, scale, mechanism or shape");
    bool local = sum->strategy == &tacit__strategy_local, noisy = sum->strategy->needs_noise;
    if (h->step > sum->users || h->released > 1 || !tacit__gate_check(sum->gate, &h->gate) ||
        (!local && h->gate.passed != (noisy ? h->step : 0)))
        return tacit__fail(err, TACIT_CORRUPT, "the saved sum contradicts itself");
    return TACIT_OK;
}

/* Swaps the regions' contents with `bytes`' (in: the saved state; the old state is zero and is not kept). */
static void fill(tacit_sum *sum, const uint8_t *at)
{
    tacit__region regions[TACIT__MAX_REGIONS];
    size_t n = sum->strategy->regions(sum->state, regions);
    for (size_t i = 0; i < n; i++) {
        if (regions[i].size > 0)
            memcpy(regions[i].data, at, regions[i].size);
        at += regions[i].size;
    }
}

/* All checks; with `keep` the first region is that of the saved state afterwards. */
static tacit_status admit(tacit_sum *sum, const void *bytes, size_t size, bool keep, header *h,
                          tacit_error *err)
{
    if (sum == NULL || bytes == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (sum->step != 0 || tacit__gate_steps_passed(sum->gate) != 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a saved sum is loaded into a fresh one; this one has had %llu users",
                           (unsigned long long)sum->step);
    tacit_status status = check(sum, bytes, size, h, err);
    if (status == TACIT_OK && !tacit__sum_check_regions(sum, (const uint8_t *)bytes + sizeof *h))
        status = tacit__fail(err, TACIT_CORRUPT, "the saved sum contradicts itself");
    if (status != TACIT_OK)
        return status;
    /* The first region is small: look at it before anything else is overwritten. */
    tacit__region regions[TACIT__MAX_REGIONS];
    (void)sum->strategy->regions(sum->state, regions);
    uint8_t before[256];
    TACIT__REQUIRE(regions[0].size <= sizeof before);
    memcpy(before, regions[0].data, regions[0].size);
    memcpy(regions[0].data, (const uint8_t *)bytes + sizeof *h, regions[0].size);
    bool fits = sum->strategy->restored(sum->state, h->step);
    if (!fits || !keep)
        memcpy(regions[0].data, before, regions[0].size);
    if (fits && !keep) /* what follows from the region is set back as well */
        TACIT__REQUIRE(sum->strategy->restored(sum->state, 0));
    return fits ? TACIT_OK : tacit__fail(err, TACIT_CORRUPT, "the saved sum contradicts itself");
}

tacit_status tacit__sum_check_saved(tacit_sum *sum, const void *bytes, size_t size,
                                    tacit_error *err)
{
    header h = {0};
    tacit_status status = admit(sum, bytes, size, false, &h, err);
    tacit__wipe(&h, sizeof h);
    return status;
}

uint64_t tacit__sum_saved_step(const void *bytes)
{
    header h;
    memcpy(&h, bytes, sizeof h);
    uint64_t step = h.step;
    tacit__wipe(&h, sizeof h);
    return step;
}

tacit_status tacit_sum_load(tacit_sum *sum, const void *bytes, size_t size, tacit_error *err)
{
    header h;
    tacit_status status = admit(sum, bytes, size, true, &h, err);
    if (status != TACIT_OK)
        return status;
    fill(sum, (const uint8_t *)bytes + sizeof h);
    tacit__gate_restore(sum->gate, &h.gate);
    sum->step = h.step;
    sum->released = h.released != 0;
    tacit__wipe(&h, sizeof h);
    return TACIT_OK;
}
