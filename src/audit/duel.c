/* See audit/duel.h.
 *
 * With u and v the draws under the two hypotheses (released minus exact) and s the scale, the log likelihood ratio of a
 * coordinate is (v^2 - u^2) / (2 s^2) for Gaussian noise, (|v| - |u|) / s for Laplace. It is a score like any other: the
 * bounds that are proved with it hold whatever the noise really is; it is the best one if the noise is as declared.
 * If it is not (a draw missing, repeated, shared), matches say more: under the truth the same draw comes again,
 * under the other hypothesis it does not. */
#include "audit/duel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

const char *tacit__score_name(tacit__score score)
{
    return score == TACIT__SCORE_LIKELIHOOD ? "likelihood ratio of the releases"
                                            : "draws that are zero or used again";
}

/* Where the numbers of one of the second instance's releases begin among those of all; *index is its place in the
 * plan, which both instances have. */
static size_t place(const tacit__duel *d, const tacit_release *release, size_t *index)
{
    const tacit_plan *plan = tacit_ledger_plan(d->subject->ledger(d->second));
    size_t at = 0;
    for (*index = 0; tacit_plan_release(plan, *index) != release; ++*index)
        at += tacit_plan_release(plan, *index)->dimension;
    return at;
}

static void note(tacit__duel *d, const char *release, uint64_t step, const char *what)
{
    if (d->fault[0] == '\0')
        (void)snprintf(d->fault, sizeof d->fault, "release '%.60s', step %llu: %s", release,
                       (unsigned long long)step + 1, what);
}

const tacit_plan *tacit__duel_plan(const tacit__duel *d)
{
    return d->subject->declares_itself ? tacit_ledger_plan(d->subject->ledger(d->first))
                                       : d->subject->declared;
}

/* What passes must be what the declared plan says: this often, this large, with this noise. */
static void hold_against_plan(tacit__duel *d, const tacit__passage *p)
{
    const tacit_plan *plan = tacit__duel_plan(d);
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

static void before_writing(void *context, const tacit__passage *p)
{
    tacit__duel *d = context;
    if (d->subject->tamper != NULL)
        d->subject->tamper(d->subject, d->memory, p);
    hold_against_plan(d, p);
}

/* The draws of the first instance, for the tests on noise. */
static void examine(tacit__duel *d, const tacit__entry *e, const int64_t *before,
                    const int64_t *other)
{
    tacit__reference *kept = d->write;
    if (d->check != NULL)
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

static void after_replay(void *context, const tacit__entry *e, const tacit__passage *p)
{
    tacit__duel *d = context;
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
            ratio += e->law == TACIT_LAW_GAUSSIAN ? (b - a) * (b + a) / 2 : fabs(b) - fabs(a);
            matches += (u == 0) - (v == 0);
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

static tacit_status make_room(tacit__duel *d, const tacit_plan *plan)
{
    for (size_t i = 0; i < tacit_plan_size(plan); i++)
        d->n_last += tacit_plan_release(plan, i)->dimension;
    d->last[0] = tacit__alloc(d->n_last, sizeof *d->last[0]);
    d->last[1] = tacit__alloc(d->n_last, sizeof *d->last[1]);
    d->now = tacit__alloc(d->n_last, sizeof *d->now);
    d->last_step = tacit__alloc(tacit_plan_size(plan), sizeof *d->last_step);
    d->memory = tacit__alloc(1, d->subject->tamper_bytes + 1);
    bool there = d->last[0] != NULL && d->last[1] != NULL && d->now != NULL &&
                 d->last_step != NULL && d->memory != NULL;
    return there ? tacit__tape_create(&d->tape) : TACIT_NO_MEMORY;
}

tacit_status tacit__duel_open(tacit__duel *d, const tacit__subject *subject, uint64_t seed,
                              tacit_error *err)
{
    *d = (tacit__duel){.subject = subject, .same_view = true};
    tacit_status status = subject->open(subject, seed, &d->first, err);
    if (status == TACIT_OK)
        status = subject->open(subject, seed, &d->second, err);
    if (status == TACIT_OK &&
        make_room(d, tacit_ledger_plan(subject->ledger(d->first))) != TACIT_OK)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status != TACIT_OK) {
        tacit__duel_close(d);
        return status;
    }
    tacit__tape_on_record(d->tape, before_writing, d);
    tacit__tape_on_replay(d->tape, after_replay, d);
    tacit__tape_record(d->tape, subject->ledger(d->first));
    tacit__tape_replay(d->tape, subject->ledger(d->second));
    return TACIT_OK;
}

void tacit__duel_close(tacit__duel *d)
{
    if (d->subject != NULL) {
        d->subject->close(d->first);
        d->subject->close(d->second);
    }
    tacit__tape_destroy(d->tape);
    tacit__free_secret(d->last[0], d->n_last * sizeof *d->last[0]);
    tacit__free_secret(d->last[1], d->n_last * sizeof *d->last[1]);
    tacit__free_secret(d->now, d->n_last * sizeof *d->now);
    tacit__free(d->last_step);
    tacit__free(d->memory);
    *d = (tacit__duel){0};
}

/* --- What is shown ------------------------------------------------------------------------------- */

static bool same_table(const tacit__duel *d, const tacit_billboard *a, const tacit_billboard *b)
{
    size_t cells = d->subject->form.horizon * d->subject->form.n_states;
    if (a->version != b->version || (a->policy == NULL) != (b->policy == NULL) ||
        (a->mixed == NULL) != (b->mixed == NULL))
        return false;
    if (a->policy != NULL)
        return memcmp(a->policy, b->policy, cells * sizeof *a->policy) == 0;
    return a->mixed == NULL ||
           memcmp(a->mixed, b->mixed, cells * d->subject->form.n_actions * sizeof *a->mixed) == 0;
}

/* Where there is no table: what both do in the situations that a user meets. */
static tacit_status same_acts(tacit__duel *d, const tacit__user *user, bool *same, tacit_error *err)
{
    const tacit__form *form = &d->subject->form;
    for (size_t h = 0; h < form->horizon && *same; h++) {
        tacit_situation at = {.step = h, .state = user->states[h]};
        if (user->features != NULL)
            at.features = user->features + h * form->vectors * form->features;
        uint32_t action[2];
        double probability[2];
        tacit_status status = d->subject->act(d->first, &at, 0.5, &action[0], &probability[0], err);
        if (status == TACIT_OK)
            status = d->subject->act(d->second, &at, 0.5, &action[1], &probability[1], err);
        if (status != TACIT_OK)
            return status;
        *same = action[0] == action[1] &&
                memcmp(&probability[0], &probability[1], sizeof probability[0]) == 0;
    }
    return TACIT_OK;
}

static tacit_status look(tacit__duel *d, const tacit__user *user, tacit_error *err)
{
    tacit_billboard boards[2];
    tacit_status status = d->subject->plan(d->first, &boards[0], err);
    if (status == TACIT_OK)
        status = d->subject->plan(d->second, &boards[1], err);
    tacit__tape_clear(d->tape);
    if (status != TACIT_OK || !d->compare_views)
        return status;
    bool same = same_table(d, &boards[0], &boards[1]);
    if (same && boards[0].policy == NULL && boards[0].mixed == NULL && d->subject->act != NULL)
        status = same_acts(d, user, &same, err);
    if (!same && d->fault[0] == '\0')
        (void)snprintf(d->fault, sizeof d->fault,
                       "what is shown differs although all releases are the same: it depends on "
                       "exact data");
    d->same_view = d->same_view && same;
    return status;
}

/* --- A step -------------------------------------------------------------------------------------- */

/* A refusal is the curator's right; what the system lacks is not. */
static bool is_refusal(tacit_status status)
{
    return status != TACIT_OK && status != TACIT_NO_MEMORY && status != TACIT_SYSTEM;
}

tacit_status tacit__duel_step(tacit__duel *d, bool plan, const tacit__user *first,
                              const tacit__user *second, bool *refused, tacit_error *err)
{
    tacit_trajectory a = tacit__user_trajectory(first), b = tacit__user_trajectory(second);
    *refused = false;
    if (plan && d->subject->plan != NULL) {
        tacit_status status = look(d, first, err);
        if (status != TACIT_OK)
            return status;
    }
    tacit_status status = d->subject->learn(d->first, &a, err);
    if (status == TACIT_OK)
        status = d->subject->learn(d->second, &b, err);
    *refused = is_refusal(status);
    if (*refused || status != TACIT_OK)
        return *refused ? TACIT_OK : status;
    tacit__tape_clear(d->tape);
    if (tacit__tape_verdict(d->tape).no_memory)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    return TACIT_OK;
}

tacit__verdict tacit__duel_verdict(const tacit__duel *d)
{
    tacit__verdict v = tacit__tape_verdict(d->tape);
    if (d->fault[0] != '\0' && v.fault[0] == '\0')
        v.fault = d->fault;
    return v;
}
