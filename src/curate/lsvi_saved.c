/* The LSVI curator as bytes: position, the leaf and the total of Gram matrices, their sum or its
 * fresh releases, the responses' releases, then users' data. A closed curator has no users' data,
 * and zeros for the rest of what it knew.
 *
 * The last release and scratch are not kept. A state is looked through before anything is changed;
 * sums that then fail to load close the statistics. Integrity is the business of the agent's
 * checksum. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "curate/lsvi_curator_inside.h"
#include "sums/saved.h"

typedef struct header {
    uint64_t users, leaves;
    uint64_t ready, closed;
    uint64_t sum_size, memory_size;
} header;

/* Bytes of the pieces whose size follows from the options. */
typedef struct sizes {
    size_t grams; /* the leaf, or the total */
    size_t sums, once;
} sizes;

static tacit_status measure(const tacit__lsvi_data *c, sizes *out, tacit_error *err)
{
    *out = (sizes){.grams = c->size * sizeof *c->leaf,
                   .sums = c->fresh != NULL ? tacit__once_saved_size() : 0,
                   .once = c->responses != NULL ? tacit__once_saved_size() : 0};
    return c->sum != NULL ? tacit_sum_save(c->sum, NULL, &out->sums, err) : TACIT_OK;
}

tacit_status tacit__lsvi_data_save(const tacit__lsvi_data *c, void *bytes, size_t *size,
                                   tacit_error *err)
{
    sizes n;
    tacit_status status = tacit__lsvi_data_check_whole(c, err);
    if (status == TACIT_OK)
        status = measure(c, &n, err);
    if (status != TACIT_OK)
        return status;
    size_t memory = c->visits != NULL    ? tacit__visits_saved_size(c->visits)
                    : c->archive != NULL ? tacit__archive_saved_size(c->archive)
                                         : 0;
    size_t needed = sizeof(header) + 2 * n.grams + n.sums + n.once + memory;
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the state takes %zu bytes, the buffer has %zu",
                           needed, *size);
    const header h = {c->users, c->leaves, c->ready, c->closed, n.sums, memory};
    uint8_t *at = bytes;
    memcpy(at, &h, sizeof h);
    at += sizeof h;
    memcpy(at, c->leaf, n.grams);
    memcpy(at + n.grams, c->total, n.grams);
    at += 2 * n.grams;
    if (c->sum != NULL)
        status = tacit_sum_save(c->sum, at, &n.sums, err);
    else if (c->fresh != NULL)
        tacit__once_save(c->fresh, at);
    if (status != TACIT_OK)
        return status;
    at += n.sums;
    if (c->responses != NULL)
        tacit__once_save(c->responses, at);
    at += n.once;
    if (c->visits != NULL)
        tacit__visits_save(c->visits, at);
    else if (c->archive != NULL)
        tacit__archive_save(c->archive, at);
    *size = needed;
    return TACIT_OK;
}

/* Users of whom something is kept. */
static uint64_t kept_users(const tacit__lsvi_data *c, const header *h)
{
    return h->leaves < c->o.scheme.leaves ? h->users : h->leaves * c->o.scheme.leaf;
}

/* Gram entries of so many users: each of them adds at most 1, and half a step of rounding. */
static bool are_sums(const tacit__lsvi_data *c, const uint8_t *bytes, uint64_t users)
{
    const double most = (double)users * (ldexp(1, c->gram_bits) + 1);
    for (size_t i = 0; i < c->size; i++) {
        int64_t x;
        memcpy(&x, bytes + i * sizeof x, sizeof x);
        if (!(fabs((double)x) <= most))
            return false;
    }
    return true;
}

static tacit_status check_header(const tacit__lsvi_data *c, const header *h, const sizes *n,
                                 const uint8_t *grams, size_t size, tacit_error *err)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    bool fits = h->sum_size == n->sums && h->memory_size <= size &&
                size == sizeof *h + 2 * n->grams + n->sums + n->once + h->memory_size &&
                h->users <= c->o.episodes && h->leaves <= s->leaves &&
                h->leaves <= h->users / s->leaf && h->ready <= (h->leaves > 0) && h->closed <= 1;
    if (fits && h->closed)
        fits = !h->ready && h->memory_size == 0 && are_sums(c, grams, 0) &&
               are_sums(c, grams + n->grams, 0);
    else if (fits)
        fits = (h->leaves == h->users / s->leaf || h->leaves == s->leaves) &&
               are_sums(c, grams, kept_users(c, h) - h->leaves * s->leaf) &&
               are_sums(c, grams + n->grams, c->sum != NULL ? 0 : h->leaves * s->leaf);
    return fits ? TACIT_OK
                : tacit__fail(err, TACIT_CORRUPT, "the saved statistics contradict themselves");
}

static tacit_status check_sum(const tacit__lsvi_data *c, const header *h, const uint8_t *bytes,
                              size_t size, tacit_error *err)
{
    tacit_status status = tacit__sum_check_saved(c->sum, bytes, size, err);
    if (status == TACIT_OK && tacit__sum_saved_step(bytes) != h->leaves)
        status = tacit__fail(err, TACIT_CORRUPT, "the saved statistics contradict themselves");
    return status;
}

static tacit_status load_memory(tacit__lsvi_data *c, const header *h, const uint8_t *bytes)
{
    const size_t size = (size_t)h->memory_size;
    const double most = ldexp(1, c->target_bits), longest = ldexp(1, c->o.space.feature_bits);
    return c->visits != NULL
               ? tacit__visits_load(c->visits, bytes, size, kept_users(c, h), most)
               : tacit__archive_load(c->archive, bytes, size, kept_users(c, h), longest, most);
}

tacit_status tacit__lsvi_data_load(tacit__lsvi_data *c, const void *bytes, size_t size,
                                   tacit_error *err)
{
    sizes n;
    header h;
    if (c->users > 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "saved statistics are loaded into fresh ones");
    if (size < sizeof h)
        return tacit__fail(err, TACIT_CORRUPT, "%zu bytes are too few", size);
    memcpy(&h, bytes, sizeof h);
    tacit_status status = measure(c, &n, err);
    const uint8_t *leaf = (const uint8_t *)bytes + sizeof h;
    if (status == TACIT_OK)
        status = check_header(c, &h, &n, leaf, size, err);
    if (status != TACIT_OK)
        return status;
    const uint8_t *sums = leaf + 2 * n.grams, *responses = sums + n.sums,
                  *memory = responses + n.once;
    if (c->sum != NULL)
        status = check_sum(c, &h, sums, n.sums, err);
    else if (c->fresh != NULL)
        status = tacit__once_check(c->fresh, sums, err);
    if (status == TACIT_OK && c->responses != NULL)
        status = tacit__once_check(c->responses, responses, err);
    if (status != TACIT_OK)
        return status;
    if (!h.closed && (status = load_memory(c, &h, memory)) != TACIT_OK)
        return tacit__fail_plain(err, status);
    if (c->sum != NULL)
        status = tacit_sum_load(c->sum, sums, n.sums, err);
    else if (c->fresh != NULL)
        status = tacit__once_load(c->fresh, sums, err);
    if (status == TACIT_OK && c->responses != NULL)
        status = tacit__once_load(c->responses, responses, err);
    c->broken = status != TACIT_OK; /* what was loaded before it is raw data without its noise */
    if (status != TACIT_OK)
        return status;
    memcpy(c->leaf, leaf, n.grams);
    memcpy(c->total, leaf + n.grams, n.grams);
    c->users = h.users;
    c->leaves = h.leaves;
    c->ready = h.ready != 0;
    if (h.closed)
        tacit__lsvi_data_close(c);
    return TACIT_OK;
}
