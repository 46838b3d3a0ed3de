/* This file records what others see besides releases: billboards, the bytes of reports, and whether a
 * user is taken. See audit/lockstep.h.
 *
 * A refusal is an output. A curator may refuse users outside the declared domain; two users that are both
 * inside, or both outside, must be treated alike. */
#include <stdio.h>
#include <string.h>

#include "audit/lockstep.h"
#include "base/error.h"

/* --- Billboards ---------------------------------------------------------------------------------- */

static bool same_table(const tacit__lockstep *d, const tacit_billboard *a, const tacit_billboard *b)
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

static tacit_status same_acts(tacit__lockstep *d, const tacit__user *user, bool *same,
                              tacit_error *err)
{
    const tacit__form *form = &d->subject->form;
    for (size_t h = 0; h < form->horizon && *same; h++) {
        tacit_situation at = tacit__user_situation(form, user, h);
        uint32_t action[2];
        double probability[2];
        TRY(d->subject->act(d->first, &at, 0.5, &action[0], &probability[0], err));
        TRY(d->subject->act(d->second, &at, 0.5, &action[1], &probability[1], err));
        *same = action[0] == action[1] && /* bit for bit: NOLINTNEXTLINE(*-memory-comparison) */
                memcmp(&probability[0], &probability[1], sizeof probability[0]) == 0;
    }
    return TACIT_OK;
}

tacit_status tacit__lockstep_plan_both(tacit__lockstep *d, const tacit__user *user,
                                       tacit_error *err)
{
    tacit_billboard boards[2];
    if (d->subject->plan == NULL)
        return TACIT_OK;
    tacit_status status = d->subject->plan(d->first, &boards[0], err);
    if (status == TACIT_OK)
        status = d->subject->plan(d->second, &boards[1], err);
    tacit__tape_clear(d->tape);
    if (status != TACIT_OK || !d->compare_views)
        return status;
    bool same = same_table(d, &boards[0], &boards[1]);
    if (same && boards[0].policy == NULL && boards[0].mixed == NULL && d->subject->act != NULL)
        status = same_acts(d, user, &same, err);
    if (!same)
        tacit__lockstep_fault(
            d, "what is shown differs although all releases are the same: it depends "
               "on exact data");
    d->same_view = d->same_view && same;
    return status;
}

/* --- Users and their reports ---------------------------------------------------------------------- */

/* A refusal is the learner's answer; a lack of memory or a system error is not. */
static bool is_refusal(tacit_status status)
{
    return status != TACIT_OK && status != TACIT_NO_MEMORY && status != TACIT_SYSTEM;
}

tacit_status tacit__lockstep_follow(tacit__lockstep *d, const tacit__message *model, bool *followed,
                                    tacit_error *err)
{
    tacit_status status = d->subject->follow(d->first, model->bytes, model->size, err);
    if (status == TACIT_OK)
        status = d->subject->follow(d->second, model->bytes, model->size, err);
    *followed = status == TACIT_OK;
    tacit__tape_clear(d->tape);
    return is_refusal(status) ? TACIT_OK : status;
}

static tacit_status run_user(tacit__lockstep *d, int which, const tacit__user *user,
                             tacit_error *err)
{
    void *instance = which == 0 ? d->first : d->second;
    tacit_trajectory t = tacit__user_trajectory(user);
    if (d->subject->report == NULL)
        return d->subject->learn(instance, &t, err);
    d->sent[which].size = d->report_room;
    return d->subject->report(instance, &t, d->sent[which].bytes, &d->sent[which].size, err);
}

/* If the releases are the same, reports must be the same too. */
static void compare_reports(tacit__lockstep *d)
{
    const tacit__message *a = &d->sent[0], *b = &d->sent[1], *const *e = d->expected;
    size_t i = 0, least = a->size < b->size ? a->size : b->size;
    while (i < least && a->bytes[i] == b->bytes[i])
        i++;
    if (i < a->size || i < b->size) {
        char words[160];
        (void)snprintf(words, sizeof words,
                       "byte %zu of a report of %zu differs although all releases are the same: "
                       "it carries exact data",
                       i + 1, a->size);
        tacit__lockstep_fault(d, words);
        d->same_view = false;
        d->other_bytes = true;
    }
    if (e[0] == NULL || e[0]->size != a->size || e[1]->size != a->size)
        return;
    for (i = 0; i < a->size; i++)
        if (e[0]->bytes[i] != e[1]->bytes[i])
            d->scores[TACIT__SCORE_SIGNS] +=
                (a->bytes[i] == e[0]->bytes[i]) - (a->bytes[i] == e[1]->bytes[i]);
}

tacit_status tacit__lockstep_add(tacit__lockstep *d, const tacit__user *first,
                                 const tacit__user *second, tacit__lockstep_outcome *outcome,
                                 tacit_error *err)
{
    TACIT__REQUIRE(outcome != NULL);
    const tacit__form *form = &d->subject->form;
    tacit_status a = run_user(d, 0, first, err), b = run_user(d, 1, second, err);
    *outcome = TACIT__TAKEN;
    if ((a != TACIT_OK && !is_refusal(a)) || (b != TACIT_OK && !is_refusal(b)))
        return a != TACIT_OK && !is_refusal(a) ? a : b;
    if ((a == TACIT_OK) != (b == TACIT_OK)) {
        bool alike = tacit__user_fits(form, first) == tacit__user_fits(form, second);
        *outcome = alike ? TACIT__ONE_SIDED : TACIT__OUTSIDE;
    } else if (a != TACIT_OK) {
        *outcome = TACIT__REFUSED;
    }
    if (*outcome == TACIT__ONE_SIDED) {
        tacit__lockstep_fault(
            d, d->subject->report != NULL
                   ? "a device sends a report for one user and none for another: this reveals "
                     "which user it was, so epsilon is infinite"
                   : "one user is accepted and another is refused, and both are within the domain: "
                     "this reveals which user it was, so epsilon is infinite");
        d->one_sided = true;
        d->scores[TACIT__SCORE_SIGNS] += 1;
    }
    if (*outcome == TACIT__ONE_SIDED || *outcome == TACIT__OUTSIDE)
        return TACIT_OK;
    if (*outcome == TACIT__TAKEN && d->subject->report != NULL)
        compare_reports(d);
    tacit__tape_clear(d->tape);
    if (tacit__tape_verdict(d->tape).no_memory)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    return TACIT_OK;
}
