/* See curate/score_curator.h.
 *
 * A user adds the vector of tacit__scores_contribute: what a public function makes of the trajectory
 * (rows of a public table, curate/score_reach.c), and a fixed number in the cell of the first state;
 * integers on a lattice. Replacing the user moves the sum of one batch by at most the form's `l2`, or with
 * delta 0, where noise is Laplace, by its `l1`. Which batch a user is in follows from the place in line, and
 * the batches' ends from public numbers alone (K, first, growth); so a user is in one shown sum only, and
 * everything later is made from sums that were shown: batches compose in parallel, and the plan pays once
 * whatever their number (docs/why/kernel.md#epochs-compose-in-parallel).
 *
 * If sums fade, a user of n numbers is in the i-th sum after the batch too, with the share fade^i, and there
 * are B sums. Shares are rounded to the lattice of step u, which moves each number of two neighbors apart by
 * less than a step more: with D the form's `l2` the i-th sum moves by m_i <= fade m_(i-1) + sqrt(n) u, m_0 =
 * D, and all together by
 *
 *     sqrt(sum m_i^2) <= D sqrt(sum fade^(2 i)) + sqrt(n B) u / (1 - fade):
 *
 * the root of the sum is the column, and the rest is added to D.
 *
 * The function is public and never changes, so a user who acted by an older plan adds what everybody adds,
 * and counts in the batch of their place.
 *
 * Joint: the sum passes the door when its batch is over. Local: every user's vector passes it, with noise in
 * all numbers, or the user's answers do (curate/score_answers.c), and sums are of what passed. The users of
 * the last batch are counted, and nothing of them is used: no plan would follow. */
#include "curate/score_curator.h"

#include <math.h>
#include <string.h>

#include "account/single.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "curate/curator.h"
#include "curate/schedule.h"
#include "curate/score_answers.h"
#include "contribute/user_check.h"
#include "noise/sampler.h"
#include "noise/stream.h"
#include "sums/once.h"

static const char name[] = "scores";

#define LEAST_REST 0.3 /* of a batch: a shorter last one is joined to it */

struct tacit__scores {
    tacit__scores_options o;
    size_t dimension; /* numbers + states; and steps, if users answer about them */
    size_t batches;   /* that are shown */
    uint64_t *ends;   /* [batches + 1] */
    tacit_ledger *ledger;
    tacit__once *once;             /* NULL without privacy */
    double scale;                  /* of the noise */
    tacit__score_noise noise;      /* what planners know of it */
    tacit__score_answers *answers; /* NULL: users add numbers */
    uint8_t *report;               /* local: scratch, the user's */
    int64_t *x;                    /* [dimension] scratch: the user's */
    double *noisy;  /* [dimension] scratch: the user's report, or what passes the door */
    int64_t *exact; /* none and joint: the batch's raw sum */
    double *total;  /* local: the batch's sum of reports */
    double *faded;  /* where sums fade: what passed the door last */
    double *shown;  /* the last sum that was shown, of one batch */
    uint64_t users;
    size_t next; /* batches that are over */
    bool broken;
};

static bool is_private(const tacit__scores *c)
{
    return c->o.guarantee.model != TACIT_MODEL_NONE;
}

static bool is_local(const tacit__scores *c)
{
    return c->o.guarantee.model == TACIT_MODEL_LOCAL;
}

/* --- Creation ------------------------------------------------------------------------------------ */

/* The batches' ends into `ends` (NULL: they are counted only); returns how many batches there are. */
static size_t schedule(const tacit__scores_options *o, uint64_t *ends)
{
    const double K = (double)o->episodes;
    size_t n = 0;
    for (double users = 0; users < K; n++) {
        double size = users > 0 ? ceil((o->growth - 1) * users) : (double)o->first;
        const bool late = o->last > 0 && users > 0 && users + size > (double)o->last;
        if (late || K - users < (1 + LEAST_REST) * size)
            size = K - users;
        users += size;
        if (ends != NULL)
            ends[n] = (uint64_t)users;
    }
    return n;
}

static double fade_of(const tacit__scores_options *o)
{
    return (double)o->fade / TACIT__SCORES_WHOLE;
}

/* What rounding of shares adds to l2; see the head. */
static double rounding_of(const tacit__scores_options *o, size_t batches)
{
    const double n = (double)(o->form.numbers + o->form.n_states);
    return o->fade > 0 ? sqrt(n * (double)batches) * ldexp(1 / (1 - fade_of(o)), -o->form.bits) : 0;
}

/* Of one person, at most. */
static double visits_of(const tacit__scores_options *o)
{
    return tacit__schedule_visits(o->visits, o->apart, o->episodes);
}

/* What passes the door, of these batches that are shown. */
static tacit__once_spec spec_of(const tacit__scores_options *o, size_t batches,
                                const uint64_t *ends)
{
    const bool local = o->guarantee.model == TACIT_MODEL_LOCAL;
    if (o->each > 0) {
        tacit__once_spec spec =
            tacit__score_answers_spec(o->form.table, o->guarantee.epsilon, visits_of(o), o->each);
        spec.releases = o->episodes;
        spec.visits = o->visits;
        spec.apart = o->apart;
        return spec;
    }
    return (tacit__once_spec){.law = tacit__scores_are_pure(o->guarantee) ? TACIT_LAW_LAPLACE
                                                                          : TACIT_LAW_GAUSSIAN,
                              .dimension = o->form.numbers + o->form.n_states,
                              .releases = local         ? o->episodes
                                          : batches > 0 ? batches
                                                        : 1,
                              .bits = o->form.bits,
                              .largest = local ? o->form.largest : 0,
                              .l1 = o->form.l1,
                              .l2 = o->form.l2 + rounding_of(o, batches),
                              .disjoint = true,
                              .fade = fade_of(o),
                              .visits = o->visits,
                              .apart = o->apart,
                              .ends = local || batches == 0 ? NULL : ends,
                              .reason = o->fade > 0 ? o->form.fading_reason : o->form.reason};
}

tacit_status tacit__scores_predict(const tacit__scores_options *o, tacit__scores_prediction *out,
                                   tacit_error *err)
{
    const size_t n = schedule(o, NULL);
    TACIT__REQUIRE(n > 0);
    uint64_t *ends = tacit__alloc(n, sizeof *ends);
    if (ends == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)schedule(o, ends);
    const tacit__once_spec spec = spec_of(o, n - 1, ends);
    tacit_release line = {0};
    tacit_status status = tacit__once_declare(&spec, name, &line, err);
    *out = (tacit__scores_prediction){tacit__scores_are_pure(o->guarantee) ? line.column_l1
                                                                           : line.column_l2,
                                      n > 1 ? ends[n - 2] : 0};
    tacit__free(ends);
    return status;
}

static tacit_status open_door(tacit__scores *c, tacit_noise *noise, tacit_error *err)
{
    const tacit__once_spec spec = spec_of(&c->o, c->batches, c->ends);
    tacit_release line;
    TRY(tacit__once_declare(&spec, name, &line, err));
    TRY(tacit__ledger_open_single(&line, c->o.guarantee, 0, noise, &c->ledger, &c->scale, err));
    TRY(tacit__once_create(&spec, c->ledger, name, &c->once, err));
    if (c->o.each > 0) {
        const tacit_status status =
            tacit__score_answers_create(c->o.form.table, c->o.guarantee.epsilon, visits_of(&c->o),
                                        c->o.each, noise, c->once, &c->answers);
        return status == TACIT_OK ? status : tacit__fail_plain(err, status);
    }
    const double stddev = tacit__once_stddev(c->once);
    *(is_local(c) ? &c->noise.user : &c->noise.sum) = stddev * stddev;
    return TACIT_OK;
}

/* What is known of the sums, but for the variance of their noise. */
static tacit_status find_noise(tacit__scores *c, tacit_error *err)
{
    const tacit__scores_options *o = &c->o;
    c->noise = (tacit__score_noise){.start = ldexp((double)o->form.start, -o->form.bits),
                                    .fade = fade_of(o)};
    if (o->each > 0 && !tacit__score_answers_find(o->form.table, o->guarantee.epsilon, visits_of(o),
                                                  o->each, &c->noise))
        return tacit__fail(err, TACIT_TOO_LARGE, "%zu answers tell nothing with epsilon %g",
                           o->each, o->guarantee.epsilon);
    return TACIT_OK;
}

static tacit_status check_options(const tacit__scores_options *o, tacit_error *err)
{
    TACIT__REQUIRE(o->growth > 1 && o->first > 0 && o->form.write != NULL);
    TACIT__REQUIRE(o->fade < TACIT__SCORES_WHOLE);
    TACIT__REQUIRE(o->fade == 0 || (o->guarantee.model == TACIT_MODEL_JOINT && o->visits <= 1 &&
                                    !tacit__scores_are_pure(o->guarantee)));
    TACIT__REQUIRE(o->each == 0 ||
                   (o->guarantee.model == TACIT_MODEL_LOCAL && o->form.table != NULL));
    if (o->episodes == 0 || o->episodes > TACIT__MOST_COUNT)
        return tacit__fail(err, TACIT_BAD_COUNT, "users must be at least 1 and at most 2^53");
    if (tacit__scores_are_pure(o->guarantee) && !(o->form.l1 > 0))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "these scores have Gaussian noise, which needs delta > 0");
    return TACIT_OK;
}

tacit_status tacit__scores_create(const tacit__scores_options *o, tacit_noise *noise,
                                  tacit__scores **out, tacit_error *err)
{
    TACIT__REQUIRE(o->form.numbers > 0 && o->form.write != NULL && o->episodes > 0);
    tacit_status status = check_options(o, err);
    if (status != TACIT_OK)
        return status;
    const size_t n = o->form.numbers + o->form.n_states +
                     (o->each > 0 ? tacit__score_table_asked(o->form.table) : 0);
    const bool local = o->guarantee.model == TACIT_MODEL_LOCAL;
    tacit__scores w = {.o = *o, .dimension = n, .batches = schedule(o, NULL) - 1};
    tacit__scores *c = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.ends, w.batches + 1), TACIT__PIECE(w.x, n), TACIT__PIECE(w.noisy, n),
        TACIT__PIECE_IF(!local, w.exact, n), TACIT__PIECE_IF(local, w.total, n),
        TACIT__PIECE_IF(local, w.report, 8 * n), TACIT__PIECE_IF(o->fade > 0, w.faded, n),
        TACIT__PIECE(w.shown, n));
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)schedule(o, c->ends);
    status = find_noise(c, err);
    if (is_private(c) && status == TACIT_OK)
        status = open_door(c, noise, err);
    if (status != TACIT_OK) {
        tacit__scores_destroy(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

void tacit__scores_destroy(void *curator)
{
    tacit__scores *c = curator;
    if (c == NULL)
        return;
    tacit__score_answers_destroy(c->answers);
    tacit__once_destroy(c->once);
    tacit_ledger_destroy(c->ledger);
    tacit__workspace_destroy(c);
}

static tacit_ledger *ledger_of(const void *curator)
{
    return ((const tacit__scores *)curator)->ledger;
}

size_t tacit__scores_batches(const tacit__scores *c)
{
    return c->batches;
}

const uint64_t *tacit__scores_ends(const tacit__scores *c)
{
    return c->ends;
}

tacit__score_noise tacit__scores_noise(const tacit__scores *c)
{
    return c->noise;
}

uint64_t tacit__scores_users(const tacit__scores *c)
{
    return c->users;
}

size_t tacit__scores_shown(const tacit__scores *c)
{
    return c->next;
}

tacit__score_sums tacit__scores_release(const tacit__scores *c)
{
    TACIT__REQUIRE(c->next > 0);
    return (tacit__score_sums){
        .users = c->ends[c->next - 1] - (c->next > 1 ? c->ends[c->next - 2] : 0),
        .sums = c->shown,
        .starts = c->shown + c->o.form.numbers,
        .asked = c->answers != NULL ? c->shown + c->o.form.numbers + c->o.form.n_states : NULL};
}

/* --- Users --------------------------------------------------------------------------------------- */

void tacit__scores_contribute(const tacit__score_form *f, const tacit_trajectory *u, int64_t *out)
{
    TACIT__REQUIRE(f->write != NULL);
    int64_t *starts = out + f->numbers;
    f->write(f->context, u, out);
    memset(starts, 0, f->n_states * sizeof *starts);
    starts[u->states[0]] = f->start;
}

static tacit_status check_user(const tacit__scores *c, const tacit_trajectory *u, tacit_error *err)
{
    const tacit__score_form *f = &c->o.form;
    return tacit__check_trajectory(u, f->n_states, f->n_actions, f->horizon, err);
}

static tacit_status check_room(const tacit__scores *c, tacit_error *err)
{
    return tacit__check_room(c->broken, c->users, c->o.episodes, err);
}

/* Rounded toward 0, of whatever size: x is whole + rest. */
static int64_t share_of(int64_t x, uint32_t share)
{
    return x / TACIT__SCORES_WHOLE * share + x % TACIT__SCORES_WHOLE * share / TACIT__SCORES_WHOLE;
}

/* A share of the sum stays for the next one; nothing does after the last, or if nothing more passes. */
static void fade(tacit__scores *c)
{
    const uint32_t share = c->next + 1 < c->batches && !c->broken ? c->o.fade : 0;
    for (size_t i = 0; i < c->dimension && share > 0; i++)
        c->exact[i] = share_of(c->exact[i], share);
    if (share == 0)
        tacit__wipe(c->exact, c->dimension * sizeof *c->exact);
}

/* What passes has a share of what passed before, which is taken off again. */
static tacit_status show(tacit__scores *c, tacit_error *err)
{
    TRY(tacit__once_release(c->once, c->exact, c->noisy, err));
    for (size_t i = 0; i < c->dimension; i++) {
        c->shown[i] = c->noisy[i];
        if (c->faded == NULL)
            continue;
        c->shown[i] -= fade_of(&c->o) * c->faded[i];
        c->faded[i] = c->noisy[i];
    }
    return TACIT_OK;
}

/* The sum of the batch that is over is shown, and wiped but for what the next one has of it. */
static tacit_status release_batch(tacit__scores *c, tacit_error *err)
{
    const size_t n = c->dimension;
    tacit_status status = TACIT_OK;
    if (is_local(c))
        memcpy(c->shown, c->total, n * sizeof *c->shown);
    else if (is_private(c))
        status = show(c, err);
    else
        for (size_t i = 0; i < n; i++)
            c->shown[i] = ldexp((double)c->exact[i], -c->o.form.bits);
    c->broken = status != TACIT_OK;
    if (is_local(c))
        memset(c->total, 0, n * sizeof *c->total);
    else
        fade(c);
    c->next += status == TACIT_OK;
    return status;
}

/* One more user has been added; the batch may be over by that. */
static tacit_status count(tacit__scores *c, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (c->next < c->batches && c->users + 1 == c->ends[c->next])
        status = release_batch(c, err);
    c->users += status == TACIT_OK;
    return status;
}

/* The noisy numbers, 64 bits each, low byte first; or answers. */
static size_t report_size(const tacit__scores *c)
{
    return c->answers != NULL ? tacit__score_answers_bytes(c->answers) : 8 * c->dimension;
}

static tacit_status make_report(tacit__scores *c, const tacit_trajectory *u, void *bytes,
                                tacit_error *err)
{
    if (c->answers != NULL)
        return tacit__score_answers_give(c->answers, u, bytes, err);
    tacit__scores_contribute(&c->o.form, u, c->x);
    tacit_status status = tacit__once_release(c->once, c->x, c->noisy, err);
    tacit__wipe(c->x, c->dimension * sizeof *c->x);
    tacit__writer w = {.at = bytes};
    for (size_t i = 0; i < c->dimension && status == TACIT_OK; i++)
        tacit__write_double(&w, c->noisy[i]);
    return status;
}

static void add_report(tacit__scores *c, const void *bytes)
{
    double *starts = c->total + c->o.form.numbers;
    tacit__reader r = {.at = bytes, .left = report_size(c)};
    if (c->answers != NULL)
        tacit__score_answers_add(c->answers, bytes, c->total, starts, starts + c->o.form.n_states);
    for (size_t i = 0; i < c->dimension && c->answers == NULL; i++)
        c->total[i] += tacit__read_double(&r);
}

tacit_status tacit__scores_add(tacit__scores *c, const tacit_trajectory *u, tacit_error *err)
{
    TACIT__REQUIRE(c->next <= c->batches);
    tacit_status status = check_room(c, err);
    if (status == TACIT_OK)
        status = check_user(c, u, err);
    if (status != TACIT_OK)
        return status;
    if (c->next < c->batches && is_local(c)) {
        TRY(make_report(c, u, c->report, err));
        add_report(c, c->report);
    } else if (c->next < c->batches) {
        tacit__scores_contribute(&c->o.form, u, c->x);
        for (size_t i = 0; i < c->dimension; i++)
            c->exact[i] += c->x[i];
        tacit__wipe(c->x, c->dimension * sizeof *c->x);
    }
    return status == TACIT_OK ? count(c, err) : status;
}

/* --- Reports ------------------------------------------------------------------------------------- */

tacit_status tacit__scores_report(tacit__scores *c, const tacit_trajectory *u, void *bytes,
                                  size_t *size, tacit_error *err)
{
    TACIT__REQUIRE(is_local(c));
    const size_t needed = report_size(c), room = *size;
    *size = needed;
    if (bytes == NULL)
        return TACIT_OK;
    if (room < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a report takes %zu bytes, the buffer has %zu",
                           needed, room);
    TRY(check_user(c, u, err));
    return make_report(c, u, bytes, err);
}

/* What a user adds to a number at most. */
static double largest_report(const tacit__scores *c)
{
    if (c->answers != NULL)
        return tacit__score_answers_largest(c->answers);
    return ldexp(c->o.form.largest, -c->o.form.bits) + TACIT__MAX_DRAW * c->scale;
}

/* An honest report is on the lattice, and no larger than the largest number and the largest draw together. */
tacit_status tacit__scores_check_report(const void *curator, const void *bytes, size_t size,
                                        tacit_error *err)
{
    const tacit__scores *c = curator;
    TACIT__REQUIRE(is_local(c));
    tacit__reader r = {.at = bytes, .left = size};
    const double limit = largest_report(c);
    if (size != report_size(c))
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "a report has %zu bytes here, this one has %zu",
                           report_size(c), size);
    if (c->answers != NULL)
        TRY(tacit__score_answers_check(c->answers, bytes, err));
    for (size_t i = 0; i < c->dimension && c->answers == NULL; i++) {
        const double x = tacit__read_double(&r), steps = ldexp(x, c->o.form.bits);
        if (!(fabs(x) <= limit) || rint(steps) != steps)
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "no device can make number %zu of the report", i);
    }
    return check_room(c, err);
}

tacit_status tacit__scores_absorb(void *curator, const void *bytes, size_t size, tacit_error *err)
{
    tacit__scores *c = curator;
    TACIT__REQUIRE(is_local(c));
    tacit_status status = tacit__scores_check_report(c, bytes, size, err);
    if (status == TACIT_OK && c->next < c->batches)
        add_report(c, bytes);
    return status == TACIT_OK ? count(c, err) : status;
}

/* --- Saving: users, sums, the door's own state ----------------------------------------------------- */

/* Batches that are over after this many users. */
static size_t batches_over(const tacit__scores *c, uint64_t users)
{
    size_t n = 0;
    while (n < c->batches && c->ends[n] <= users)
        n++;
    return n;
}

size_t tacit__scores_fields(tacit__scores *c, tacit__saved *s)
{
    TACIT__REQUIRE(c->users <= c->o.episodes && c->next <= c->batches);
    uint64_t users = c->users;
    const char *outside = s->wrong;
    tacit__saved_check_curator(s, c->broken, c->users == 0);
    s->wrong = "the saved scores contradict themselves";
    tacit__saved_value(s, &users, sizeof users);
    tacit__saved_check(s, users <= c->o.episodes);
    if (is_local(c))
        tacit__saved_reals(s, c->total, c->dimension, (double)users * largest_report(c));
    else
        tacit__saved_integers(s, c->exact, c->dimension, (double)users * c->o.form.largest);
    tacit__saved_reals(s, c->shown, c->dimension, TACIT__MOST_SUM);
    if (c->faded != NULL)
        tacit__saved_reals(s, c->faded, c->dimension, TACIT__MOST_SUM);
    if (c->answers != NULL)
        tacit__score_answers_fields(c->answers, s);
    if (c->once != NULL)
        tacit__once_fields(c->once, s);
    const size_t next = batches_over(c, users);
    if (s->pass == TACIT__APPLY) {
        c->users = users;
        c->next = next;
    }
    s->wrong = outside;
    return next;
}

/* --- The table ------------------------------------------------------------------------------------- */

static tacit_status add_user(void *curator, const tacit__user_view *user, tacit_error *err)
{
    return tacit__scores_add(curator, user->trajectory, err);
}

static tacit_status report_user(void *curator, const tacit__user_view *user, void *bytes,
                                size_t *size, tacit_error *err)
{
    return tacit__scores_report(curator, user->trajectory, bytes, size, err);
}

const tacit__curator_kind tacit__score_curator = {.destroy = tacit__scores_destroy,
                                             .add = add_user,
                                             .report = report_user,
                                             .check_report = tacit__scores_check_report,
                                             .absorb = tacit__scores_absorb,
                                             .ledger = ledger_of,
                                             .returning = true};
