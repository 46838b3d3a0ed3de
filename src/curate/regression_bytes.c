/* The curator of linear bandits as bytes: reports of single users, and the whole state. See
 * curate/regression.h.
 *
 * A report is the numbers of all blocks on the lattice, noise included: 64 bits each, low byte
 * first. A state is a header (the position, and a fingerprint of the options), the batch, what is
 * shown, the last user, the sum's own state, and a checksum of it all. The schedule follows from the
 * options. */
#include <string.h>

#include "base/error.h"
#include "contribute/user_check.h"
#include "curate/regression_inside.h"
#include "noise/envelope.h"
#include "sums/saved.h"

/* --- Reports ------------------------------------------------------------------------------------- */

tacit_status tacit__regression_report(tacit__regression *c, const double *x, size_t block, double y,
                                      void *bytes, size_t *size, tacit_error *err)
{
    TACIT__REQUIRE(c->o.guarantee.model == TACIT_MODEL_LOCAL && block < c->o.blocks);
    const size_t needed = 8 * c->size;
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a report takes %zu bytes, the buffer has %zu",
                           needed, *size);
    TRY(tacit__regression_place(c, x, block, y, err));
    tacit__regression_add_placed(c, block, c->placed);
    tacit_status status = tacit_sum_report(c->sum, c->x, c->report, err);
    memset(c->x, 0, c->size * sizeof *c->x);
    tacit__regression_wipe_user(c);
    if (status != TACIT_OK)
        return status;
    tacit__writer w = {.at = bytes};
    for (size_t i = 0; i < c->size; i++)
        tacit__write_le64(&w, (uint64_t)c->report[i]);
    *size = needed;
    return TACIT_OK;
}

/* Reads a report into scratch and finds out whether it fits. */
tacit_status tacit__regression_check_report(const void *curator, const void *bytes, size_t size,
                                            tacit_error *err)
{
    const tacit__regression *c = curator;
    TACIT__REQUIRE(c->o.guarantee.model == TACIT_MODEL_LOCAL);
    if (size != 8 * c->size)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "a report has %zu bytes here, this one has %zu",
                           8 * c->size, size);
    TRY(tacit__regression_open(c, err));
    tacit__reader r = {.at = bytes, .left = size};
    for (size_t i = 0; i < c->size; i++)
        c->report[i] = (int64_t)tacit__read_le64(&r);
    /* the last user's is never used */
    return c->users < c->o.users ? tacit_sum_check_report(c->sum, c->report, err) : TACIT_OK;
}

tacit_status tacit__regression_absorb(void *curator, const void *bytes, size_t size,
                                      tacit_error *err)
{
    tacit__regression *c = curator;
    tacit_status status = tacit__regression_check_report(c, bytes, size, err);
    if (status == TACIT_OK && c->users < c->o.users) {
        bool due = tacit__regression_is_due(c);
        status = tacit_sum_absorb(c->sum, c->report, err);
        if (status == TACIT_OK && due)
            status = tacit__regression_refresh(c, err);
    }
    if (status == TACIT_OK)
        c->users++;
    return status;
}

/* --- States -------------------------------------------------------------------------------------- */

typedef struct header {
    uint64_t magic, size, users, version, next, last_block;
    double gram_stddev, response_stddev;
    uint8_t fingerprint[TACIT__KEY_BYTES];
} header;

static const tacit__envelope envelope = {.magic = 0x7461636974726567U, /* "tacitreg" */
                                         .header = sizeof(header),
                                         .print_at = offsetof(header, fingerprint),
                                         .what = "regression",
                                         .foreign = "the saved sums belong to another learner"};

static void fingerprint(const tacit__regression *c, uint8_t out[TACIT__KEY_BYTES])
{
    const tacit__regression_options *o = &c->o;
    const double numbers[] = {o->guarantee.epsilon, o->guarantee.delta, o->growth,
                              o->response_weight, o->published_scale};
    const uint64_t sizes[] = {
        o->dimension,           o->blocks,   o->users,    (uint64_t)o->guarantee.model,
        (uint64_t)o->mechanism, o->triangle, c->episodes, o->explore};
    const tacit__bytes parts[] = {{numbers, sizeof numbers}, {sizes, sizeof sizes}};
    tacit__digest(parts, 2, out);
}

/* The last user's data are never used. */
static uint64_t used_users(const tacit__regression *c, const header *h)
{
    return h->users < c->o.users ? h->users : c->o.users;
}

/* Releases there have been after this many users. */
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
    return h->users <= c->episodes && h->next == next && h->last_block < c->o.blocks &&
           h->version == (c->sum != NULL ? next : used) && h->gram_stddev >= 0 &&
           h->gram_stddev <= TACIT__MOST_SUM && h->response_stddev >= 0 &&
           h->response_stddev <= TACIT__MOST_SUM;
}

static size_t saved_size(const tacit__regression *c)
{
    const size_t numbers = c->size + c->o.blocks * (c->packed + c->o.dimension) + c->o.dimension;
    return sizeof(header) + numbers * sizeof(double) +
           (c->sum != NULL ? tacit__sum_saved_size(c->sum) : 0) + TACIT__KEY_BYTES;
}

/* A batch adds up single users, whose numbers are at most sqrt(2) and the response's weight, and a
 * step of rounding; what is shown is any sum; features are within 1. */
static void arrays(tacit__regression *c, const header *h, tacit__saved *s)
{
    const double each = 1.5 + c->o.response_weight;
    tacit__saved_reals(s, c->x, c->size, each * (double)(h->users + 1));
    tacit__saved_reals(s, c->gram, c->o.blocks * c->packed, TACIT__MOST_SUM);
    tacit__saved_reals(s, c->response, c->o.blocks * c->o.dimension, TACIT__MOST_SUM);
    tacit__saved_reals(s, c->last, c->o.dimension, 1 + 1e-9);
}

void tacit__regression_fields(tacit__regression *c, tacit__saved *s)
{
    TACIT__REQUIRE(c->users <= c->episodes && c->last_block < c->o.blocks);
    uint8_t print[TACIT__KEY_BYTES];
    header h = {.users = c->users,
                .version = c->version,
                .next = c->next,
                .last_block = c->last_block,
                .gram_stddev = c->gram_stddev,
                .response_stddev = c->response_stddev};
    tacit__saved_check_curator(s, c->broken, c->users == 0);
    const char *outside = s->wrong;
    s->wrong = "the saved sums contradict themselves";
    fingerprint(c, print);
    const size_t start = tacit__envelope_open(&envelope, print, saved_size(c), &h, s);
    tacit__saved_check(s, is_position(c, &h));
    arrays(c, &h, s);
    if (c->sum != NULL)
        tacit__saved_check(
            s, tacit__sum_fields(c->sum, s) ==
                   (c->o.guarantee.model == TACIT_MODEL_LOCAL ? used_users(c, &h) : h.next));
    tacit__envelope_close(&envelope, start, s);
    s->wrong = outside;
    if (s->pass != TACIT__APPLY)
        return;
    c->users = h.users;
    c->version = h.version;
    c->next = (size_t)h.next;
    c->last_block = (size_t)h.last_block;
    c->gram_stddev = h.gram_stddev;
    c->response_stddev = h.response_stddev;
}
