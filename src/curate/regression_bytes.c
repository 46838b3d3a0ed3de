/* The curator of linear bandits as bytes: reports of single users, and the whole state. See
 * curate/regression.h.
 *
 * A report is the numbers of all blocks on the lattice, noise included: 64 bits each, low byte
 * first. A state is a header (the position, and a fingerprint of the options), the batch, what is
 * shown, the last user, the sum's own state, and a checksum of it all. It is looked through before
 * anything is changed; the schedule follows from the options. */
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "curate/regression_inside.h"
#include "noise/stream.h"
#include "sums/saved.h"

/* --- Reports ------------------------------------------------------------------------------------- */

tacit_status tacit__regression_report(tacit__regression *c, const double *x, size_t block, double y,
                                      void *bytes, size_t *size, tacit_error *err)
{
    const size_t needed = 8 * c->size;
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a report takes %zu bytes, the buffer has %zu",
                           needed, *size);
    tacit_status status = tacit__regression_take(c, x, block, y, err);
    if (status != TACIT_OK)
        return status;
    tacit__regression_contribute(c, y);
    status = tacit_sum_report(c->sum, c->x, c->report, err);
    memset(c->x, 0, c->size * sizeof *c->x);
    tacit__regression_forget_user(c);
    if (status != TACIT_OK)
        return status;
    tacit__writer w = {.at = bytes};
    for (size_t i = 0; i < c->size; i++)
        tacit__put_le64(&w, (uint64_t)c->report[i]);
    *size = needed;
    return TACIT_OK;
}

/* Reads a report into scratch and finds out whether it fits. */
tacit_status tacit__regression_check_report(const tacit__regression *c, const void *bytes,
                                            size_t size, tacit_error *err)
{
    if (size != 8 * c->size)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "a report has %zu bytes here, this one has %zu",
                           8 * c->size, size);
    tacit_status status = tacit__regression_open(c, err);
    if (status != TACIT_OK)
        return status;
    tacit__reader r = {.at = bytes, .left = size};
    for (size_t i = 0; i < c->size; i++)
        c->report[i] = (int64_t)tacit__take_le64(&r);
    /* the last user's is never used */
    return c->users < c->o.users ? tacit_sum_check_report(c->sum, c->report, err) : TACIT_OK;
}

tacit_status tacit__regression_absorb(tacit__regression *c, const void *bytes, size_t size,
                                      tacit_error *err)
{
    tacit_status status = tacit__regression_check_report(c, bytes, size, err);
    if (status == TACIT_OK && c->users < c->o.users) {
        bool due = tacit__regression_is_due(c);
        status = tacit_sum_absorb(c->sum, c->report, err);
        if (status == TACIT_OK && due)
            status = tacit__regression_show(c, err);
    }
    if (status == TACIT_OK)
        c->users++;
    return status;
}

/* --- States -------------------------------------------------------------------------------------- */

#define MAGIC 0x7461636974726567U /* "tacitreg" */

typedef struct header {
    uint64_t magic, size, users, version, next, last_block;
    double gram_stddev, response_stddev;
    uint8_t fingerprint[TACIT__KEY_BYTES];
} header;

static void fingerprint(const tacit__regression *c, uint8_t out[TACIT__KEY_BYTES])
{
    const tacit__regression_options *o = &c->o;
    const double numbers[] = {o->guarantee.epsilon, o->guarantee.delta, o->growth,
                              o->response_weight, o->published_scale};
    const uint64_t sizes[] = {
        o->dimension,           o->blocks,  o->users, (uint64_t)o->guarantee.model,
        (uint64_t)o->mechanism, o->triangle};
    const tacit__bytes parts[] = {{numbers, sizeof numbers}, {sizes, sizeof sizes}};
    tacit__digest(parts, 2, out);
}

/* An array that is saved. */
typedef struct saved_array {
    double *data;
    size_t length;
} saved_array;

enum { N_ARRAYS = 4 };

static void arrays(const tacit__regression *c, saved_array out[N_ARRAYS])
{
    out[0] = (saved_array){c->x, c->size};
    out[1] = (saved_array){c->gram, c->o.blocks * c->packed};
    out[2] = (saved_array){c->response, c->o.blocks * c->o.dimension};
    out[3] = (saved_array){c->last, c->o.dimension};
}

tacit_status tacit__regression_save(const tacit__regression *c, void *bytes, size_t *size,
                                    tacit_error *err)
{
    saved_array array[N_ARRAYS];
    size_t sum = 0, needed = sizeof(header);
    if (c->broken)
        return tacit__fail(err, TACIT_SYSTEM,
                           "an earlier charge was refused halfway; the sums are closed");
    arrays(c, array);
    for (size_t i = 0; i < N_ARRAYS; i++)
        needed += array[i].length * sizeof(double);
    tacit_status status = c->sum != NULL ? tacit_sum_save(c->sum, NULL, &sum, err) : TACIT_OK;
    if (status != TACIT_OK)
        return status;
    needed += sum + TACIT__KEY_BYTES;
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the state takes %zu bytes, the buffer has %zu",
                           needed, *size);
    header h = {.magic = MAGIC,
                .size = needed,
                .users = c->users,
                .version = c->version,
                .next = c->next,
                .last_block = c->last_block,
                .gram_stddev = c->gram_stddev,
                .response_stddev = c->response_stddev};
    fingerprint(c, h.fingerprint);
    uint8_t *at = bytes;
    memcpy(at, &h, sizeof h);
    at += sizeof h;
    for (size_t i = 0; i < N_ARRAYS; i++) {
        memcpy(at, array[i].data, array[i].length * sizeof(double));
        at += array[i].length * sizeof(double);
    }
    if (c->sum != NULL && (status = tacit_sum_save(c->sum, at, &sum, err)) != TACIT_OK)
        return status;
    at += sum;
    tacit__digest(&(tacit__bytes){bytes, needed - TACIT__KEY_BYTES}, 1, at);
    *size = needed;
    return TACIT_OK;
}

/* The last user's data are never used. */
static uint64_t used_users(const tacit__regression *c, const header *h)
{
    return h->users < c->o.users ? h->users : c->o.users;
}

/* Releases there have been after so many users. */
static uint64_t releases_after(const tacit__regression *c, uint64_t users)
{
    uint64_t n = 0;
    if (c->sum == NULL)
        return 0;
    if (c->update_at == NULL)
        return users;
    while (n < c->n_updates && c->update_at[n] <= users)
        n++;
    return n;
}

static bool is_position(const tacit__regression *c, const header *h)
{
    const uint64_t used = used_users(c, h), next = releases_after(c, used);
    return h->users <= c->o.users + 1 && h->next == next && h->last_block < c->o.blocks &&
           h->version == (c->sum != NULL ? next : used) && h->gram_stddev >= 0 &&
           h->gram_stddev <= TACIT__MOST_SUM && h->response_stddev >= 0 &&
           h->response_stddev <= TACIT__MOST_SUM;
}

/* Of the numbers in an array: a batch adds up single users, whose numbers are at most sqrt(2) and
 * the response's weight, and a step of rounding; what is shown is any sum; features are within 1. */
static double largest(const tacit__regression *c, const header *h, size_t array)
{
    const double each = 1.5 + c->o.response_weight;
    return array == 0              ? each * (double)(h->users + 1)
           : array + 1 == N_ARRAYS ? 1 + 1e-9
                                   : TACIT__MOST_SUM;
}

tacit_status tacit__regression_load(tacit__regression *c, const void *bytes, size_t size,
                                    tacit_error *err)
{
    saved_array array[N_ARRAYS];
    size_t needed = 0;
    arrays(c, array);
    tacit_status status = tacit__regression_save(c, NULL, &needed, err);
    if (status != TACIT_OK)
        return status;
    if (c->users > 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a saved state is loaded into a fresh learner");
    header h;
    uint8_t digest[TACIT__KEY_BYTES];
    if (size < sizeof h + sizeof digest)
        return tacit__fail(err, TACIT_CORRUPT, "%zu bytes are too few for saved sums", size);
    memcpy(&h, bytes, sizeof h);
    tacit__digest(&(tacit__bytes){bytes, size - sizeof digest}, 1, digest);
    if (h.magic != MAGIC || h.size != size ||
        memcmp(digest, (const uint8_t *)bytes + size - sizeof digest, sizeof digest) != 0)
        return tacit__fail(err, TACIT_CORRUPT,
                           "these are no saved sums, or damaged ones: the checksum does not match");
    fingerprint(c, digest);
    if (size != needed || memcmp(digest, h.fingerprint, sizeof digest) != 0)
        return tacit__fail(err, TACIT_WRONG_PLAN, "the saved sums belong to another learner");
    const uint8_t *at = (const uint8_t *)bytes + sizeof h, *arrays_at = at;
    bool fits = is_position(c, &h);
    for (size_t i = 0; i < N_ARRAYS; at += array[i].length * sizeof(double), i++)
        fits = fits && tacit__are_reals(at, array[i].length, largest(c, &h, i));
    const size_t left = size - TACIT__KEY_BYTES - (size_t)(at - (const uint8_t *)bytes);
    if (fits && c->sum != NULL) {
        status = tacit__sum_check_saved(c->sum, at, left, err);
        if (status != TACIT_OK)
            return status;
        fits = tacit__sum_saved_step(at) ==
               (c->o.guarantee.model == TACIT_MODEL_LOCAL ? used_users(c, &h) : h.next);
    }
    if (!fits)
        return tacit__fail(err, TACIT_CORRUPT, "the saved sums contradict themselves");
    if (c->sum != NULL)
        TACIT__REQUIRE(tacit_sum_load(c->sum, at, left, err) == TACIT_OK);
    for (size_t i = 0; i < N_ARRAYS; i++) {
        memcpy(array[i].data, arrays_at, array[i].length * sizeof(double));
        arrays_at += array[i].length * sizeof(double);
    }
    c->users = h.users;
    c->version = h.version;
    c->next = (size_t)h.next;
    c->last_block = (size_t)h.last_block;
    c->gram_stddev = h.gram_stddev;
    c->response_stddev = h.response_stddev;
    return TACIT_OK;
}
