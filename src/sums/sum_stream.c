/* See sums/sum_stream.h.
 *
 * Fading. If sums fade, a person of n numbers is in the i-th release after their batch too, with the share
 * fade^i, and there are B releases. Shares are rounded to the lattice of step u, which moves each number of
 * two neighbors apart by less than a step more: with D how far one person moves a batch, the i-th release
 * moves by m_i <= fade m_(i-1) + sqrt(n) u, m_0 = D, and all together by
 *
 *     sqrt(sum m_i^2) <= D sqrt(sum fade^(2 i)) + sqrt(n B) u / (1 - fade):
 *
 * the root of the sum is the column of the line, and the rest is added to D where the line is declared. */
#include "sums/sum_stream.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "noise/sampler.h"
#include "sums/saved.h"
#include "sums/sum_inside.h"
#include "sums/sum_steps.h"

struct tacit__stream {
    tacit__stream_spec o;
    size_t active; /* numbers of a report */
    double scale;
    tacit_sum *sum;              /* running */
    tacit__fresh_releases *once; /* fresh */
    int64_t *exact;              /* what waits for a release: raw data */
    double *total;               /* counted: the sums; fresh and local: the batch's reports */
    double *noisy;               /* fresh: scratch, what passes the door */
    double *faded;               /* what passed last, where sums fade */
    double *shown;               /* NULL: the sum has its releases at hand, or `total` is shown */
    double *copy;                /* running: `shown`, which only some sums need */
    const double *visible;       /* what is shown */
    int64_t *report;             /* running, local: scratch */
};

static double fade_of(const tacit__stream_spec *o)
{
    return (double)o->fade / TACIT__FADE_WHOLE;
}

static tacit__fresh_spec once_of(const tacit__stream_spec *o, const tacit__batches *releases)
{
    tacit__fresh_spec once = o->once;
    const double n = (double)o->dimension, batches = (double)once.releases;
    once.dimension = o->dimension;
    once.bits = o->bits;
    once.fade = fade_of(o);
    once.disjoint = true;
    once.ends = o->local || releases->n == 0 ? NULL : releases->ends;
    if (o->fade > 0) /* what rounding of shares adds: see the head */
        once.l2 += sqrt(n * batches) * ldexp(1 / (1 - once.fade), -o->bits);
    return once;
}

/* Local sums have as many releases as people. */
static tacit__batches releases_of(const tacit__stream_spec *o, const tacit__batches *releases)
{
    if (o->local)
        return (tacit__batches){.n = o->sum.users};
    return *releases;
}

tacit_status tacit__stream_declare(const tacit__stream_spec *o, const tacit__batches *releases,
                                   tacit_release *line, tacit_error *err)
{
    TACIT__REQUIRE(o->kind == TACIT__STREAM_RUNNING || o->kind == TACIT__STREAM_FRESH);
    if (o->kind == TACIT__STREAM_FRESH) {
        const tacit__fresh_spec once = once_of(o, releases);
        return tacit__fresh_declare(&once, o->name, line, err);
    }
    const tacit__batches batches = releases_of(o, releases);
    return tacit__sum_declare_released(&o->sum, &batches, o->name, line, err);
}

static tacit_status open_door(tacit__stream *s, const tacit__batches *releases,
                              tacit_ledger *ledger, tacit_error *err)
{
    const tacit_plan *plan = tacit_ledger_plan(ledger);
    s->scale = tacit_plan_scale(plan, tacit_plan_index(plan, s->o.name));
    if (s->o.kind == TACIT__STREAM_FRESH) {
        const tacit__fresh_spec once = once_of(&s->o, releases);
        return tacit__fresh_create(&once, ledger, s->o.name, &s->once, err);
    }
    const tacit__batches batches = releases_of(&s->o, releases);
    TRY(tacit__sum_create_released(&s->o.sum, &batches, ledger, s->o.name, &s->sum, err));
    s->visible = tacit__sum_get_released(s->sum);
    return TACIT_OK;
}

tacit_status tacit__stream_create(const tacit__stream_spec *o, const tacit__batches *releases,
                                  tacit_ledger *ledger, tacit__stream **out, tacit_error *err)
{
    TACIT__REQUIRE(o->dimension > 0 && (o->fade == 0 || !o->local));
    TACIT__REQUIRE((ledger == NULL) ==
                   (o->kind == TACIT__STREAM_EXACT || o->kind == TACIT__STREAM_COUNTED));
    const size_t n = o->dimension;
    const bool fresh = o->kind == TACIT__STREAM_FRESH, running = o->kind == TACIT__STREAM_RUNNING,
               counted = o->kind == TACIT__STREAM_COUNTED,
               waits = o->kind == TACIT__STREAM_EXACT || (fresh && !o->local) || o->whole_batches;
    tacit__stream w = {.o = *o, .active = n};
    tacit__stream *s = TACIT__WORKSPACE(
        w, TACIT__PIECE_IF(waits, w.exact, n),
        TACIT__PIECE_IF(counted || (fresh && o->local), w.total, n),
        TACIT__PIECE_IF(fresh, w.noisy, n), TACIT__PIECE_IF(o->fade > 0, w.faded, n),
        TACIT__PIECE_IF(!running && (!counted || o->restarts), w.shown, n),
        TACIT__PIECE_IF(running && o->local, w.report, n));
    if (s == NULL)
        return tacit__fail(err, TACIT_NO_MEMORY, "sums of %zu numbers do not fit into memory", n);
    tacit_status status = ledger != NULL ? open_door(s, releases, ledger, err) : TACIT_OK;
    if (status == TACIT_OK && running && s->visible == NULL &&
        (s->copy = s->shown = tacit__alloc(n, sizeof *s->shown)) == NULL)
        status = tacit__fail(err, TACIT_NO_MEMORY, "sums of %zu numbers do not fit into memory", n);
    if (status != TACIT_OK) {
        tacit__stream_destroy(s);
        return status;
    }
    if (s->visible == NULL)
        s->visible = s->shown != NULL ? s->shown : s->total;
    *out = s;
    return TACIT_OK;
}

void tacit__stream_destroy(tacit__stream *s)
{
    if (s == NULL)
        return;
    tacit_sum_destroy(s->sum);
    tacit__fresh_destroy(s->once);
    tacit__free_secret(s->copy, s->o.dimension * sizeof *s->copy);
    tacit__workspace_destroy(s);
}

const tacit__lattice *tacit__stream_lattice(const tacit__stream *s)
{
    return s->sum != NULL ? tacit__sum_lattice(s->sum) : NULL;
}

double tacit__stream_scale(const tacit__stream *s)
{
    return s->scale;
}

double tacit__stream_stddev(const tacit__stream *s, uint64_t k)
{
    double stddev = 0;
    if (s->sum != NULL)
        TACIT__REQUIRE(tacit_sum_stddev(s->sum, k, &stddev) == TACIT_OK);
    return s->once != NULL ? tacit__fresh_stddev(s->once) : stddev;
}

tacit_sum *tacit__stream_sum(const tacit__stream *s)
{
    return s->sum;
}

tacit__fresh_releases *tacit__stream_fresh(const tacit__stream *s)
{
    return s->once;
}

/* --- People --------------------------------------------------------------------------------------- */

static void add_exactly(int64_t *sums, const tacit__input *x)
{
    for (size_t i = 0; i < x->n; i++)
        sums[x->index != NULL ? x->index[i] : i] += x->value[i];
}

static tacit_status pass_user(tacit__stream *s, const tacit__input *x, tacit_error *err)
{
    TACIT__REQUIRE(x->index == NULL && x->n == s->o.dimension);
    return tacit__fresh_release(s->once, x->value, s->noisy, err);
}

tacit_status tacit__stream_add(tacit__stream *s, const tacit__input *x, tacit_error *err)
{
    TACIT__REQUIRE(s->o.kind != TACIT__STREAM_COUNTED);
    if (s->exact != NULL) {
        add_exactly(s->exact, x);
        return TACIT_OK;
    }
    if (s->sum != NULL)
        return tacit__sum_add_placed(s->sum, x, err);
    TRY(pass_user(s, x, err));
    for (size_t i = 0; i < s->active; i++)
        s->total[i] += s->noisy[i];
    return TACIT_OK;
}

double *tacit__stream_counts(tacit__stream *s)
{
    TACIT__REQUIRE(s->o.kind == TACIT__STREAM_COUNTED);
    return s->total;
}

/* --- Reports -------------------------------------------------------------------------------------- */

void tacit__stream_set_active(tacit__stream *s, size_t active)
{
    TACIT__REQUIRE(active <= s->o.dimension);
    s->active = active;
}

size_t tacit__stream_report_bytes(const tacit__stream *s)
{
    return 8 * s->active;
}

/* 64 bits for each number, low byte first: integers of running sums, doubles of fresh ones. */
tacit_status tacit__stream_report(tacit__stream *s, const tacit__input *x, void *bytes,
                                  tacit_error *err)
{
    TACIT__REQUIRE(s->o.local);
    tacit__writer w = {.at = bytes};
    TRY(s->sum != NULL ? tacit__sum_report_placed(s->sum, x, s->report, err)
                       : pass_user(s, x, err));
    for (size_t i = 0; i < s->active; i++)
        if (s->sum != NULL)
            tacit__write_le64(&w, (uint64_t)s->report[i]);
        else
            tacit__write_double(&w, s->noisy[i]);
    return TACIT_OK;
}

/* What a user adds to a number at most, noise included. */
static double largest_report(const tacit__stream *s)
{
    return ldexp(s->o.largest, -s->o.bits) + TACIT__MAX_DRAW * s->scale;
}

static void read_integers(const tacit__stream *s, const void *bytes)
{
    tacit__reader r = {.at = bytes, .left = tacit__stream_report_bytes(s)};
    for (size_t i = 0; i < s->active; i++)
        s->report[i] = (int64_t)tacit__read_le64(&r);
}

/* A number of an honest report is on the lattice, and no larger than the largest number and the largest draw
 * together. A running sum knows that by itself; one that is full takes no more reports, whatever they are. */
tacit_status tacit__stream_check_report(const tacit__stream *s, const void *bytes, tacit_error *err)
{
    TACIT__REQUIRE(s->o.local);
    tacit__reader r = {.at = bytes, .left = tacit__stream_report_bytes(s)};
    if (s->sum != NULL && tacit_sum_step(s->sum) == s->o.sum.users)
        return TACIT_OK;
    if (s->sum != NULL) {
        read_integers(s, bytes);
        return tacit_sum_check_report(s->sum, s->report, err);
    }
    const double limit = largest_report(s);
    for (size_t i = 0; i < s->active; i++) {
        const double x = tacit__read_double(&r), steps = ldexp(x, s->o.bits);
        if (!(fabs(x) <= limit) || rint(steps) != steps)
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "no device can make number %zu of the report", i);
    }
    return TACIT_OK;
}

tacit_status tacit__stream_absorb(tacit__stream *s, const void *bytes, tacit_error *err)
{
    TACIT__REQUIRE(s->o.local);
    tacit__reader r = {.at = bytes, .left = tacit__stream_report_bytes(s)};
    if (s->sum != NULL) {
        read_integers(s, bytes);
        return tacit_sum_absorb(s->sum, s->report, err);
    }
    for (size_t i = 0; i < s->active; i++)
        s->total[i] += tacit__read_double(&r);
    return TACIT_OK;
}

/* --- Releases ------------------------------------------------------------------------------------- */

/* Rounded toward 0, of whatever size: x is whole + rest. */
static int64_t share_of(int64_t x, uint32_t share)
{
    return x / TACIT__FADE_WHOLE * share + x % TACIT__FADE_WHOLE * share / TACIT__FADE_WHOLE;
}

/* A share of the batch stays for the next release; nothing does if none follows. */
static void restart(tacit__stream *s, bool follows)
{
    const uint32_t share = follows ? s->o.fade : 0;
    for (size_t i = 0; i < s->o.dimension && share > 0; i++)
        s->exact[i] = share_of(s->exact[i], share);
    if (share == 0)
        tacit__wipe(s->exact, s->o.dimension * sizeof *s->exact);
}

/* What passes has a share of what passed before, which is taken off again. */
static tacit_status release_fresh(tacit__stream *s, tacit_error *err)
{
    const size_t n = s->o.dimension;
    if (s->o.local) {
        memcpy(s->shown, s->total, n * sizeof *s->shown);
        memset(s->total, 0, n * sizeof *s->total);
        return TACIT_OK;
    }
    const tacit_status status = tacit__fresh_release(s->once, s->exact, s->noisy, err);
    for (size_t i = 0; i < n && status == TACIT_OK; i++) {
        s->shown[i] = s->noisy[i];
        if (s->faded == NULL)
            continue;
        s->shown[i] -= fade_of(&s->o) * s->faded[i];
        s->faded[i] = s->noisy[i];
    }
    restart(s, status == TACIT_OK && tacit__fresh_count(s->once) < s->o.once.releases);
    return status;
}

static tacit_status release_running(tacit__stream *s, tacit_error *err)
{
    if (s->exact != NULL) {
        const tacit__input batch = {.n = s->o.dimension, .value = s->exact};
        const tacit_status status = tacit__sum_add_placed(s->sum, &batch, err);
        restart(s, false);
        if (status != TACIT_OK)
            return status;
    }
    return s->shown == NULL ? tacit__sum_release_in_place(s->sum, err)
                            : tacit_sum_release(s->sum, s->shown, err);
}

static void show_exact(tacit__stream *s)
{
    for (size_t i = 0; i < s->o.dimension; i++)
        s->shown[i] = ldexp((double)s->exact[i], -s->o.bits);
    if (s->o.restarts)
        restart(s, false);
}

tacit_status tacit__stream_release(tacit__stream *s, tacit_error *err)
{
    switch (s->o.kind) {
    case TACIT__STREAM_RUNNING:
        return release_running(s, err);
    case TACIT__STREAM_FRESH:
        return release_fresh(s, err);
    case TACIT__STREAM_EXACT:
        show_exact(s);
        return TACIT_OK;
    case TACIT__STREAM_COUNTED:
        break;
    }
    if (s->o.restarts) {
        memcpy(s->shown, s->total, s->o.dimension * sizeof *s->shown);
        memset(s->total, 0, s->o.dimension * sizeof *s->total);
    }
    return TACIT_OK;
}

const double *tacit__stream_shown(const tacit__stream *s)
{
    return s->visible;
}

/* --- Saving: what waits, what is shown, and the sum's or the door's own state ------------------------ */

void tacit__stream_fields(tacit__stream *s, uint64_t users, uint64_t released, tacit__saved *f)
{
    const size_t n = s->o.dimension;
    const double most = (double)users * s->o.largest;
    if (s->exact != NULL)
        tacit__saved_integers(f, s->exact, n, most);
    if (s->total != NULL)
        tacit__saved_reals(f, s->total, n, s->o.local ? (double)users * largest_report(s) : most);
    if (s->shown != NULL)
        tacit__saved_reals(f, s->shown, n, TACIT__MOST_SUM);
    if (s->faded != NULL)
        tacit__saved_reals(f, s->faded, n, TACIT__MOST_SUM);
    if (s->sum != NULL)
        tacit__saved_check(f, tacit__sum_sized_fields(s->sum, f) == released);
    if (s->once != NULL)
        tacit__fresh_fields(s->once, f);
}
