/* A running sum as bytes: the strategy's regions in an envelope (noise/envelope.h).
 *
 * The state of its gate is part of it, so a loaded sum goes on with the next step's noise: that of the
 * key and of the inputs before and to come. (Steps passed and users differ in local sums only: a device
 * draws noise for reports that it does not add, a collector adds reports whose noise it did not draw.) The
 * fingerprint covers the plan's line, the scale, the law, the mechanism, the lattice and the structural
 * zeros: a state is only ever continued under the promise it was made for. */
#include <string.h>

#include "base/error.h"
#include "noise/envelope.h"
#include "sums/regions.h"
#include "sums/saved.h"
#include "sums/sum_inside.h"

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
    const uint64_t visits[] = {line->visits, line->apart};
    const tacit__bytes parts[] = {
        {line->name, strlen(line->name) + 1},
        {sum->strategy->name, strlen(sum->strategy->name) + 1},
        {numbers, sizeof numbers},
        {sizes, sizeof sizes},
        {sum->active, sum->active != NULL ? sum->dimension * sizeof *sum->active : 0},
        {&sum->releases, sum->batch != NULL ? sizeof sum->releases : 0},
        {visits, line->visits > 1 ? sizeof visits : 0},
    };
    tacit__digest(parts, sizeof parts / sizeof *parts, out);
}

static const tacit__envelope envelope = {
    .magic = 0x746163697473756dU, /* "tacitsum" */
    .version = 5,
    .header = sizeof(header),
    .print_at = offsetof(header, fingerprint),
    .what = "sum",
    .foreign = "the saved sum was made with another plan, scale, mechanism or shape"};

size_t tacit__sum_saved_size(const tacit_sum *sum)
{
    tacit__region regions[TACIT__MAX_REGIONS];
    size_t n = tacit__sum_regions(sum, regions), size = sizeof(header) + TACIT__KEY_BYTES;
    for (size_t i = 0; i < n; i++)
        size += regions[i].size;
    return size;
}

/* Returns whether the strategy can have the position at `bytes`, its first region, after this many
 * steps. That is small: it is set, and set back. */
static bool is_position(const tacit_sum *sum, const void *bytes, uint64_t steps)
{
    tacit__region regions[TACIT__MAX_REGIONS];
    (void)sum->strategy->regions(sum->state, regions);
    uint8_t before[256];
    TACIT__REQUIRE(regions[0].size <= sizeof before);
    memcpy(before, regions[0].data, regions[0].size);
    memcpy(regions[0].data, bytes, regions[0].size);
    bool fits = sum->strategy->resume(sum->state, steps);
    memcpy(regions[0].data, before, regions[0].size);
    if (fits) /* what follows from the region is set back as well */
        TACIT__REQUIRE(sum->strategy->resume(sum->state, 0));
    return fits;
}

static void check(const tacit_sum *sum, const header *h, tacit__saved *s)
{
    const bool local = sum->strategy == &tacit__strategy_local, noisy = sum->strategy->needs_noise;
    tacit__saved_check(s, h->step <= sum->releases && h->released <= 1 &&
                              tacit__gate_check(sum->gate, &h->gate) &&
                              (local || h->gate.passed == (noisy ? h->step : 0)) &&
                              tacit__sum_check_regions(sum, s->in + s->at) &&
                              is_position(sum, s->in + s->at, h->step));
}

/* The sum as it is saved, and what is loaded of it beside the regions. */
static void fields(const tacit_sum *sum, header *h, tacit__saved *s)
{
    const char *outside = s->wrong;
    s->wrong = "the saved sum contradicts itself";
    if (s->pass == TACIT__CHECK && (sum->people != 0 || tacit__gate_steps_passed(sum->gate) != 0) &&
        s->status == TACIT_OK)
        s->status =
            tacit__fail(s->err, TACIT_BAD_ARGUMENT,
                        "a saved sum is loaded into a fresh one; this one has had %llu users",
                        (unsigned long long)sum->people);
    *h = (header){.released = sum->released, .step = sum->step};
    if (!tacit__saved_is_loading(s))
        tacit__gate_save(sum->gate, &h->gate);
    const size_t start =
        tacit__envelope_open(&envelope, sum->fingerprint, tacit__sum_saved_size(sum), h, s);
    if (s->pass == TACIT__CHECK && s->status == TACIT_OK)
        check(sum, h, s);
    tacit__region regions[TACIT__MAX_REGIONS];
    const size_t n = tacit__sum_regions(sum, regions);
    for (size_t i = 0; i < n; i++)
        tacit__saved_array(s, regions[i].data, regions[i].size, 1);
    tacit__envelope_close(&envelope, start, s);
    s->wrong = outside;
}

uint64_t tacit__sum_fields(tacit_sum *sum, tacit__saved *s)
{
    header h;
    fields(sum, &h, s);
    const uint64_t step = h.step;
    if (s->pass == TACIT__APPLY) {
        TACIT__REQUIRE(sum->strategy->resume(sum->state, step));
        tacit__gate_restore(sum->gate, &h.gate);
        sum->step = step;
        sum->people = sum->batch == NULL ? step : sum->people;
        sum->released = h.released != 0;
    }
    tacit__wipe(&h, sizeof h);
    return step;
}

uint64_t tacit__sum_sized_fields(tacit_sum *sum, tacit__saved *s)
{
    uint64_t size = tacit__sum_saved_size(sum);
    tacit__saved_value(s, &size, sizeof size);
    const size_t end = tacit__saved_enter(s, (size_t)size);
    const uint64_t step = tacit__sum_fields(sum, s);
    tacit__saved_leave(s, end);
    return step;
}

tacit_status tacit_sum_save(const tacit_sum *sum, void *bytes, size_t *size, tacit_error *err)
{
    header h;
    if (sum == NULL || size == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit__saved s = tacit__saved_save(bytes, size, err);
    while (tacit__saved_next(&s))
        fields(sum, &h, &s);
    tacit__wipe(&h, sizeof h);
    return s.status;
}

tacit_status tacit_sum_load(tacit_sum *sum, const void *bytes, size_t size, tacit_error *err)
{
    if (sum == NULL || bytes == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit__saved s = tacit__saved_load(bytes, size, err);
    while (tacit__saved_next(&s))
        (void)tacit__sum_fields(sum, &s);
    return s.status;
}
