/* See audit/lockstep.h.
 *
 * With u and v the draws under the two hypotheses (released minus exact) and s the scale, the log
 * likelihood ratio of a coordinate is (v^2 - u^2) / (2 s^2) for Gaussian noise, (|v| - |u|) / s for
 * Laplace, and ((v != 0) - (u != 0)) / s for randomized response. It is a score like any other: the bounds
 * that are proved with it hold whatever the noise really is; it is the best one if the noise is as
 * declared. If it is not (a draw missing, repeated, shared), matches say more: under the truth the same draw
 * comes again, under the other hypothesis it does not. */
#include "audit/lockstep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"

/* Magnified noise stays below this many lattice steps, so that sums of 2^17 releases fit into 62 bits. */
#define MOST_MAGNIFIED 0x1p45

/* On lattices so fine a draw of 0 is a draw that was left out: by chance it comes once in 4e7 numbers. */
#define FINE 0x1p24

const char *tacit__score_name(tacit__score score)
{
    static const char *const names[TACIT__SCORES] = {
        [TACIT__SCORE_LIKELIHOOD] = "likelihood ratio of the releases",
        [TACIT__SCORE_MATCHES] = "draws that are zero or used again",
        [TACIT__SCORE_SIGNS] = "bytes or silence that only one of the two would send"};
    return names[score];
}

/* Returns where the numbers of one of the second instance's releases begin among those of all; *index
 * is its place in the plan, which both instances have. */
static size_t place(const tacit__lockstep *d, const tacit_release *release, size_t *index)
{
    const tacit_plan *plan = tacit_ledger_plan(d->subject->ledger(d->second));
    size_t at = 0;
    for (*index = 0; tacit_plan_release(plan, *index) != release; ++*index)
        at += tacit_plan_release(plan, *index)->dimension;
    return at;
}

void tacit__lockstep_fault(tacit__lockstep *d, const char *what)
{
    TACIT__REQUIRE(what != NULL);
    if (d->fault[0] == '\0')
        (void)snprintf(d->fault, sizeof d->fault, "%s", what);
}

static void note(tacit__lockstep *d, const char *release, uint64_t step, const char *what)
{
    if (d->fault[0] == '\0')
        (void)snprintf(d->fault, sizeof d->fault, "release '%.60s', step %llu: %s", release,
                       (unsigned long long)step + 1, what);
}

const tacit_plan *tacit__lockstep_plan(const tacit__lockstep *d)
{
    return d->subject->declares_itself ? tacit_ledger_plan(d->subject->ledger(d->first))
                                       : d->subject->declared;
}

/* What passes must be what the declared plan says: this often, this large, with this noise. */
static void hold_against_plan(tacit__lockstep *d, const tacit__passage *p)
{
    const tacit_plan *plan = tacit__lockstep_plan(d);
    size_t i = tacit_plan_index(plan, p->release->name);
    bool listed = i < tacit_plan_size(plan);
    const tacit_release *r = listed ? tacit_plan_release(plan, i) : NULL;
    if (listed && p->step < r->steps && p->release->dimension == r->dimension &&
        p->law == tacit_plan_law(plan) &&
        fabs(p->scale * p->lattice - tacit_plan_scale(plan, i)) <=
            1e-12 * tacit_plan_scale(plan, i))
        return;
    d->undeclared = true;
    note(d, p->release->name, p->step,
         !listed               ? "was not declared"
         : p->step >= r->steps ? "comes more often than was declared"
                               : "has another size or noise than was declared");
}

static void magnify(const tacit__passage *p, double factor)
{
    for (size_t i = 0; i < p->n; i++) {
        double noise = factor * (double)(p->released[i] - p->exact[i]);
        noise = fmax(-MOST_MAGNIFIED, fmin(MOST_MAGNIFIED, noise));
        p->released[i] = p->exact[i] + (int64_t)noise;
    }
}

static void before_writing(void *context, const tacit__passage *p)
{
    tacit__lockstep *d = context;
    tacit__charges_add(&d->charges, p);
    if (d->magnified > 1 && p->law != TACIT_LAW_RESPONSE)
        magnify(p, d->magnified * pow(d->growth, (double)p->step));
    if (d->subject->tamper != NULL)
        d->subject->tamper(d->subject, d->memory, p);
    hold_against_plan(d, p);
}

/* The draws of the first instance, for the tests on noise. */
static void examine(tacit__lockstep *d, const tacit__entry *e, const int64_t *before,
                    const int64_t *other)
{
    tacit__reference *kept = d->write;
    if (d->check != NULL && e->law == TACIT_LAW_RESPONSE)
        tacit__residuals_add_answers(d->check, e->scale, e->answers, e->n, d->now);
    else if (d->check != NULL)
        tacit__residuals_add(d->check, e->law, e->scale, e->n, d->now, before, other);
    if (kept == NULL)
        return;
    if (kept->capacity - kept->n <
        e->n) { /* full: what came later would stand in the wrong place */
        kept->capacity = kept->n;
        return;
    }
    memcpy(kept->draws + kept->n, d->now, e->n * sizeof *d->now);
    kept->n += e->n;
}

/* The likelihood of a draw a scales large over that of one b scales large. A true answer, a draw of 0, is
 * e^(1/s) times as likely as any other. */
static double log_ratio(tacit_law law, double a, double b, double s)
{
    if (law == TACIT_LAW_RESPONSE)
        return ((b != 0) - (a != 0)) / s;
    return law == TACIT_LAW_GAUSSIAN ? (b - a) * (b + a) / 2 : fabs(b) - fabs(a);
}

static void after_replay(void *context, const tacit__entry *e, const tacit__passage *p)
{
    tacit__lockstep *d = context;
    size_t index, at = place(d, p->release, &index) + p->offset;
    bool has_last = e->step > 0 && d->last_step[index] == e->step;
    for (size_t i = 0; i < e->n; i++)
        d->now[i] = e->released[i] - e->exact[i];
    bool known = d->is != NULL && d->cursor + e->n <= d->is->n;
    const int64_t *other = known ? d->is->draws + d->cursor : NULL;
    examine(d, e, has_last ? d->last[0] + at : NULL, other);
    double ratio = 0, matches = 0, s = e->scale;
    int64_t beside = 0;
    for (size_t i = 0; i < e->n; i++) {
        int64_t u = d->now[i], v = e->released[i] - p->exact[i];
        if (u != v) {
            double a = (double)u / s, b = (double)v / s;
            ratio += log_ratio(e->law, a, b, s);
            if (e->law == TACIT_LAW_RESPONSE) /* true answers are alike: matches say nothing more */
                continue;
            matches += (u == 0) - (v == 0);
            d->bare = d->bare || (u == 0 && s >= FINE);
            if (has_last)
                matches += (u == d->last[0][at + i]) - (v == d->last[1][at + i]);
            if (other != NULL)
                matches += (u == other[i]) - (v == other[i]);
            if (i > 0)
                matches += (u == d->now[i - 1]) - (v == beside);
        }
        d->last[0][at + i] = u;
        d->last[1][at + i] = v;
        beside = v;
    }
    if (p->offset + e->n == p->release->dimension)
        d->last_step[index] = e->step + 1;
    d->cursor += e->n;
    d->scores[TACIT__SCORE_LIKELIHOOD] += ratio;
    d->scores[TACIT__SCORE_MATCHES] += matches;
}

static tacit_status make_room(tacit__lockstep *d, const tacit_plan *plan)
{
    for (size_t i = 0; i < tacit_plan_size(plan); i++)
        d->n_last += tacit_plan_release(plan, i)->dimension;
    const bool reports = d->report_room > 0;
    if (TACIT__PIECES(TACIT__PIECE(d->last[0], d->n_last), TACIT__PIECE(d->last[1], d->n_last),
                      TACIT__PIECE(d->now, d->n_last),
                      TACIT__PIECE(d->last_step, tacit_plan_size(plan)),
                      TACIT__PIECE_IF(reports, d->sent[0].bytes, d->report_room),
                      TACIT__PIECE_IF(reports, d->sent[1].bytes, d->report_room),
                      {&d->memory, d->subject->tamper_bytes, 1}) == NULL ||
        tacit__charges_open(&d->charges, d->subject->ledger(d->first)) != TACIT_OK)
        return TACIT_NO_MEMORY;
    return tacit__tape_create(&d->tape);
}

tacit_status tacit__lockstep_create(tacit__lockstep *d, const tacit__subject *subject,
                                    uint64_t seed, tacit_error *err)
{
    TACIT__REQUIRE(subject->open != NULL && subject->ledger != NULL);
    *d = (tacit__lockstep){.subject = subject, .same_view = true, .magnified = 1, .growth = 1};
    tacit_status status = subject->open(subject, seed, &d->first, err);
    if (status == TACIT_OK)
        status = subject->open(subject, seed, &d->second, err);
    if (status == TACIT_OK && subject->report != NULL)
        status = subject->report(d->first, &(tacit_trajectory){0}, NULL, &d->report_room, err);
    if (status == TACIT_OK &&
        make_room(d, tacit_ledger_plan(subject->ledger(d->first))) != TACIT_OK)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status != TACIT_OK) {
        tacit__lockstep_destroy(d);
        return status;
    }
    tacit__tape_on_record(d->tape, before_writing, d);
    tacit__tape_on_replay(d->tape, after_replay, d);
    tacit__tape_record(d->tape, subject->ledger(d->first));
    tacit__tape_replay(d->tape, subject->ledger(d->second));
    return TACIT_OK;
}

void tacit__lockstep_destroy(tacit__lockstep *d)
{
    if (d->subject != NULL) {
        d->subject->close(d->first);
        d->subject->close(d->second);
    }
    tacit__tape_destroy(d->tape);
    tacit__charges_close(&d->charges);
    tacit__workspace_destroy(d->last[0]);
    *d = (tacit__lockstep){0};
}

tacit__verdict tacit__lockstep_verdict(tacit__lockstep *d)
{
    tacit__verdict v = tacit__tape_verdict(d->tape);
    tacit__charges_check(&d->charges);
    if (d->charges.fault[0] != '\0') {
        d->undeclared = true;
        tacit__lockstep_fault(d, d->charges.fault);
    }
    if (d->one_sided) /* what passed after that says nothing more */
        v.same_calls = true;
    if (d->fault[0] != '\0' && (v.fault[0] == '\0' || d->one_sided))
        v.fault = d->fault;
    return v;
}
