/* See release/curator.h.
 *
 * Privacy. What one person adds follows from their trajectory and from public numbers; which release they are
 * first in follows from their place in line and the schedule, which is public too. So replacing a person
 * moves the streams by what the statistic proves of one contribution, once, and everything later is made of
 * releases. Streams declare that move in one plan, and nothing leaves but through the ledger's door.
 *
 * Whether a person counts never depends on data: everyone who is accepted takes a place. The last person's
 * data are never used, nor those of people who come after the last release, because no plan follows them.
 *
 * A charge can be refused halfway through a person, by a journal that cannot be written. Then some streams
 * have the person and others do not, and nothing more is released: the curator is broken. */
#include "release/curator.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "contribute/user_check.h"
#include "release/curator_kind.h"

struct tacit__curator {
    tacit__curator_spec o;
    tacit_ledger *ledger;
    tacit__stream *streams[TACIT__MAX_STREAMS];
    uint64_t *ends;
    uint8_t *report; /* with a responder: scratch, the person's answers */
    uint64_t users;
    uint64_t turn; /* people whose noise was drawn here: reports too, which add nothing here */
    uint64_t next; /* with `ends`: releases so far */
    bool fresh;    /* without `ends`: what is shown is of all people so far */
    bool broken;
};

static bool is_private(const tacit__curator *c)
{
    return c->o.guarantee.model != TACIT_MODEL_NONE;
}

/* --- Creation ------------------------------------------------------------------------------------- */

static tacit__batches releases_of(const tacit__curator *c)
{
    if (c->o.ends != NULL)
        return (tacit__batches){c->o.n_ends, c->ends};
    return (tacit__batches){.n = c->o.episodes > 1 ? c->o.episodes - 1 : 1};
}

tacit_status tacit__curator_predict(const tacit__stream_spec *stream, const uint64_t *ends,
                                    size_t n_ends, tacit_release *out, tacit_error *err)
{
    const tacit__batches releases = {n_ends, ends};
    return tacit__stream_declare(stream, &releases, out, err);
}

static tacit_status declare(const tacit__curator *c, tacit_plan *plan, tacit_error *err)
{
    const tacit__batches releases = releases_of(c);
    for (size_t i = 0; i < c->o.n_streams; i++) {
        tacit_release line;
        TRY(tacit__stream_declare(&c->o.streams[i], &releases, &line, err));
        if (c->o.statistic->weigh != NULL)
            line.weight = c->o.statistic->weigh(c->o.form, i, &line);
        TRY(tacit_plan_declare(plan, &line, err));
    }
    return TACIT_OK;
}

static tacit_law law_of(const tacit__stream_spec *o)
{
    return o->kind == TACIT__STREAM_FRESH ? o->once.law : o->sum.law;
}

/* The least noise that keeps the guarantee; or what a paper prints, whatever that keeps. */
static tacit_status calibrate(const tacit__curator *c, tacit_plan *plan, tacit_error *err)
{
    if (!(c->o.streams[0].printed > 0))
        return tacit_plan_calibrate(plan, c->o.guarantee, err);
    for (size_t i = 0; i < c->o.n_streams; i++) {
        const tacit__stream_spec *o = &c->o.streams[i];
        TRY(tacit_plan_set_scale(plan, o->name, law_of(o), o->printed, err));
    }
    return TACIT_OK;
}

static tacit_status open_streams(tacit__curator *c, const tacit_plan *plan, tacit_noise *noise,
                                 tacit_error *err)
{
    const tacit__batches releases = releases_of(c);
    for (size_t i = 0; i < c->o.n_streams; i++)
        TRY(tacit__stream_create(&c->o.streams[i], &releases, c->ledger, &c->streams[i], err));
    if (c->o.responder != NULL)
        TRY(c->o.responder->open(c->o.responding, noise, c->streams[0], err));
    return c->o.statistic->open != NULL ? c->o.statistic->open(c->o.form, plan, c->streams, err)
                                        : TACIT_OK;
}

static tacit_status open_door(tacit__curator *c, tacit_noise *noise, tacit_error *err)
{
    tacit_plan *plan = NULL;
    tacit_status status = tacit_plan_create(&plan);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = declare(c, plan, err);
    if (status == TACIT_OK)
        status = calibrate(c, plan, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &c->ledger, err);
    if (status == TACIT_OK)
        status = open_streams(c, plan, noise, err);
    tacit_plan_destroy(plan);
    return status;
}

static void destroy_parts(const tacit__curator_spec *o)
{
    o->statistic->destroy(o->form);
    if (o->responder != NULL)
        o->responder->destroy(o->responding);
}

tacit_status tacit__curator_create(const tacit__curator_spec *spec, tacit_noise *noise,
                                   tacit__curator **out, tacit_error *err)
{
    TACIT__REQUIRE(noise != NULL || spec->guarantee.model == TACIT_MODEL_NONE);
    TACIT__REQUIRE(spec->episodes > 0 && spec->n_streams <= TACIT__MAX_STREAMS);
    TACIT__REQUIRE(spec->responder == NULL || spec->n_streams == 1);
    tacit__curator w = {.o = *spec};
    const size_t report = spec->responder != NULL ? spec->responder->bytes(spec->responding) : 0;
    tacit__curator *c =
        TACIT__WORKSPACE(w, TACIT__PIECE_IF(spec->ends != NULL, w.ends, spec->n_ends),
                         TACIT__PIECE_IF(report > 0, w.report, report));
    if (c == NULL) {
        destroy_parts(spec);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    for (size_t i = 0; i < spec->n_ends && spec->ends != NULL; i++) {
        TACIT__REQUIRE(i == 0 || spec->ends[i] > spec->ends[i - 1]);
        c->ends[i] = spec->ends[i];
    }
    const tacit_status status =
        is_private(c) ? open_door(c, noise, err) : open_streams(c, NULL, NULL, err);
    if (status != TACIT_OK) {
        tacit__curator_destroy(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

void tacit__curator_destroy(void *curator)
{
    tacit__curator *c = curator;
    if (c == NULL)
        return;
    destroy_parts(&c->o);
    for (size_t i = 0; i < c->o.n_streams; i++)
        tacit__stream_destroy(c->streams[i]);
    tacit_ledger_destroy(c->ledger);
    tacit__workspace_destroy(c);
}

/* --- What is known -------------------------------------------------------------------------------- */

tacit_ledger *tacit__curator_ledger(const void *curator)
{
    return ((const tacit__curator *)curator)->ledger;
}

uint64_t tacit__curator_users(const tacit__curator *c)
{
    return c->users;
}

uint64_t tacit__curator_shown(const tacit__curator *c)
{
    if (c->ends != NULL)
        return c->next > 0 ? c->ends[c->next - 1] : 0;
    return c->users;
}

uint64_t tacit__curator_released(const tacit__curator *c)
{
    return c->ends != NULL ? c->next : c->users;
}

uint64_t tacit__curator_batch_end(const tacit__curator *c)
{
    TACIT__REQUIRE(c->ends != NULL);
    return c->next < c->o.n_ends && c->ends[c->next] < c->o.episodes ? c->ends[c->next]
                                                                     : c->o.episodes;
}

size_t tacit__curator_n_ends(const tacit__curator *c)
{
    return c->o.n_ends;
}

const uint64_t *tacit__curator_ends(const tacit__curator *c)
{
    return c->ends;
}

tacit__stream *tacit__curator_stream(const tacit__curator *c, size_t i)
{
    TACIT__REQUIRE(i < c->o.n_streams);
    return c->streams[i];
}

const double *tacit__curator_sums(const tacit__curator *c, size_t stream)
{
    return tacit__stream_shown(tacit__curator_stream(c, stream));
}

void *tacit__curator_form(const tacit__curator *c)
{
    return c->o.form;
}

void *tacit__curator_responder(const tacit__curator *c)
{
    return c->o.responding;
}

/* --- Releases ------------------------------------------------------------------------------------- */

static tacit_status show(tacit__curator *c, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < c->o.n_streams && c->o.responder == NULL && status == TACIT_OK; i++)
        status = tacit__stream_release(c->streams[i], err);
    c->broken = status != TACIT_OK;
    return status;
}

tacit_status tacit__curator_refresh(tacit__curator *c, tacit_error *err)
{
    TACIT__REQUIRE(c->ends == NULL);
    TRY(tacit__check_room(c->broken, 0, 1, err));
    if (c->users > 0 && !c->fresh && !c->o.statistic->shows)
        TRY(show(c, err));
    c->fresh = true;
    return TACIT_OK;
}

/* --- People --------------------------------------------------------------------------------------- */

static bool is_needed(const tacit__curator *c)
{
    return c->users + 1 < c->o.episodes && (c->ends == NULL || c->next < c->o.n_ends);
}

/* One more person has passed, or need not; a batch may be over by that. */
static tacit_status count(tacit__curator *c, bool needed, tacit_error *err)
{
    if (needed && c->ends != NULL && c->users + 1 == c->ends[c->next]) {
        TRY(show(c, err));
        if (c->o.responder != NULL)
            c->o.responder->release(c->o.responding, c->users + 1);
        c->next++;
    }
    c->users++;
    c->fresh = !needed;
    return TACIT_OK;
}

static tacit_status add_exactly(tacit__curator *c, const tacit__user_view *user, tacit_error *err)
{
    double *sums[TACIT__MAX_STREAMS] = {NULL};
    for (size_t i = 0; i < c->o.n_streams; i++)
        if (c->o.streams[i].kind == TACIT__STREAM_COUNTED)
            sums[i] = tacit__stream_counts(c->streams[i]);
    return c->o.statistic->count(c->o.form, user, sums, err);
}

static void wipe(const tacit__curator *c)
{
    if (c->o.statistic->wipe != NULL)
        c->o.statistic->wipe(c->o.form);
}

/* Everything of a person has passed but what follows from it. */
static tacit_status pass_on(tacit__curator *c, tacit_error *err)
{
    return c->o.statistic->passed != NULL ? c->o.statistic->passed(c->o.form, c->streams, err)
                                          : TACIT_OK;
}

static tacit_status add_numbers(tacit__curator *c, const tacit__user_view *user, tacit_error *err)
{
    tacit__input x[TACIT__MAX_STREAMS] = {{0}};
    tacit_status status = c->o.statistic->contribute(c->o.form, user, c->turn, x, err);
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++) {
        status = tacit__stream_add(c->streams[i], &x[i], err);
        c->broken = status != TACIT_OK && i > 0;
    }
    wipe(c);
    TRY(status);
    status = pass_on(c, err);
    c->broken = status != TACIT_OK;
    return status;
}

static tacit_status add_needed(tacit__curator *c, const tacit__user_view *user, tacit_error *err)
{
    if (c->o.responder != NULL) {
        TRY(c->o.responder->give(c->o.responding, user, c->report, err));
        c->o.responder->absorb(c->o.responding, c->report);
        return TACIT_OK;
    }
    if (!is_private(c) && c->o.statistic->count != NULL)
        return add_exactly(c, user, err);
    return add_numbers(c, user, err);
}

static tacit_status check_open(const tacit__curator *c, tacit_error *err)
{
    return tacit__check_room(c->broken, c->users, c->o.episodes, err);
}

tacit_status tacit__curator_add(void *curator, const tacit__user_view *user, tacit_error *err)
{
    tacit__curator *c = curator;
    TRY(c->o.statistic->check(c->o.form, user, err));
    TRY(check_open(c, err));
    const bool needed = is_needed(c);
    if (needed)
        TRY(add_needed(c, user, err));
    TRY(count(c, needed, err));
    c->turn++;
    return TACIT_OK;
}

/* --- Reports: the public part, then each stream's numbers; or answers -------------------------------- */

static size_t report_bytes(const tacit__curator *c)
{
    if (c->o.responder != NULL)
        return c->o.responder->bytes(c->o.responding);
    size_t n = c->o.statistic->public_bytes;
    for (size_t i = 0; i < c->o.n_streams; i++)
        n += tacit__stream_report_bytes(c->streams[i]);
    return n;
}

/* If it fails halfway, noise was drawn that is never shown: nothing is lost by it. */
static tacit_status write_report(tacit__curator *c, const tacit__user_view *user, uint8_t *bytes,
                                 tacit_error *err)
{
    tacit__input x[TACIT__MAX_STREAMS] = {{0}};
    if (c->o.responder != NULL)
        return c->o.responder->give(c->o.responding, user, bytes, err);
    tacit_status status = c->o.statistic->contribute(c->o.form, user, c->turn, x, err);
    if (status == TACIT_OK && c->o.statistic->public_bytes > 0)
        c->o.statistic->write_public(c->o.form, bytes);
    bytes += c->o.statistic->public_bytes;
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++) {
        status = tacit__stream_report(c->streams[i], &x[i], bytes, err);
        bytes += tacit__stream_report_bytes(c->streams[i]);
    }
    wipe(c);
    return status;
}

tacit_status tacit__curator_report(void *curator, const tacit__user_view *user, void *bytes,
                                   size_t *size, tacit_error *err)
{
    tacit__curator *c = curator;
    TACIT__REQUIRE(c->o.guarantee.model == TACIT_MODEL_LOCAL);
    const size_t needed = report_bytes(c);
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a report takes %zu bytes, the buffer has %zu",
                           needed, *size);
    TRY(c->o.statistic->check(c->o.form, user, err));
    TRY(check_open(c, err));
    TRY(write_report(c, user, bytes, err));
    c->turn++;
    *size = needed;
    return TACIT_OK;
}

tacit_status tacit__curator_check_report(const void *curator, const void *bytes, size_t size,
                                         tacit_error *err)
{
    const tacit__curator *c = curator;
    const uint8_t *at = bytes;
    TACIT__REQUIRE(c->o.guarantee.model == TACIT_MODEL_LOCAL);
    if (size != report_bytes(c))
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "a report has %zu bytes here, this one has %zu",
                           report_bytes(c), size);
    TRY(check_open(c, err));
    if (c->o.responder != NULL)
        return c->o.responder->check(c->o.responding, bytes, err);
    if (c->o.statistic->public_bytes > 0)
        TRY(c->o.statistic->read_public(c->o.form, at, err));
    at += c->o.statistic->public_bytes;
    for (size_t i = 0; i < c->o.n_streams; i++) {
        TRY(tacit__stream_check_report(c->streams[i], at, err));
        at += tacit__stream_report_bytes(c->streams[i]);
    }
    return TACIT_OK;
}

static tacit_status absorb_numbers(tacit__curator *c, const uint8_t *bytes, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    bytes += c->o.statistic->public_bytes;
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++) {
        status = tacit__stream_absorb(c->streams[i], bytes, err);
        c->broken = status != TACIT_OK && i > 0;
        bytes += tacit__stream_report_bytes(c->streams[i]);
    }
    TRY(status);
    status = pass_on(c, err);
    c->broken = status != TACIT_OK;
    return status;
}

tacit_status tacit__curator_absorb(void *curator, const void *bytes, size_t size, tacit_error *err)
{
    tacit__curator *c = curator;
    TRY(tacit__curator_check_report(c, bytes, size, err));
    const bool needed = is_needed(c);
    if (needed && c->o.responder != NULL)
        c->o.responder->absorb(c->o.responding, bytes);
    else if (needed)
        TRY(absorb_numbers(c, bytes, err));
    return count(c, needed, err);
}

/* --- Saving: the position, then what the form, the responder and each stream keep -------------------- */

typedef struct position {
    uint64_t users, turn, fresh;
} position;

/* People whose data were used. */
static uint64_t used(const tacit__curator *c, uint64_t users)
{
    const uint64_t last =
        c->ends != NULL ? (c->o.n_ends > 0 ? c->ends[c->o.n_ends - 1] : 0) : c->o.episodes - 1;
    const uint64_t most = last < c->o.episodes - 1 ? last : c->o.episodes - 1;
    return users < most ? users : most;
}

static uint64_t released_after(const tacit__curator *c, uint64_t users)
{
    uint64_t n = 0;
    while (c->ends != NULL && n < c->o.n_ends && c->ends[n] <= users)
        n++;
    return n;
}

uint64_t tacit__curator_fields(tacit__curator *c, tacit__saved *s)
{
    position p = {.users = c->users, .turn = c->turn, .fresh = c->fresh};
    const char *outside = s->wrong;
    tacit__saved_check_curator(s, c->broken, c->users == 0 && c->turn == 0);
    s->wrong = "the saved sums contradict themselves";
    tacit__saved_value(s, &p, sizeof p);
    tacit__saved_check(s, p.users <= c->o.episodes && p.turn <= TACIT__MOST_COUNT && p.fresh <= 1);
    const uint64_t people = used(c, p.users), next = released_after(c, people),
                   steps =
                       c->ends == NULL || c->o.guarantee.model == TACIT_MODEL_LOCAL ? people : next;
    if (c->o.statistic->fields != NULL)
        c->o.statistic->fields(c->o.form, people, s);
    if (c->o.responder != NULL)
        c->o.responder->fields(c->o.responding, people, s);
    for (size_t i = 0; i < c->o.n_streams; i++)
        tacit__stream_fields(c->streams[i], people, steps, s);
    if (s->pass == TACIT__APPLY) {
        c->users = p.users;
        c->turn = p.turn;
        c->fresh = p.fresh != 0;
        c->next = next;
    }
    s->wrong = outside;
    return c->ends != NULL ? next : p.users;
}

const tacit__curator_kind tacit__one_curator = {.destroy = tacit__curator_destroy,
                                                .add = tacit__curator_add,
                                                .report = tacit__curator_report,
                                                .check_report = tacit__curator_check_report,
                                                .absorb = tacit__curator_absorb,
                                                .ledger = tacit__curator_ledger,
                                                .returning = true};
