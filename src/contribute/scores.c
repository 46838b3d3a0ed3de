/* See contribute/scores.h.
 *
 * A user adds the vector of tacit__scores_contribute: what a public function makes of the trajectory (rows of
 * a public table, contribute/score_reach.c, or features, contribute/feature_reach.c), and a fixed number in
 * the cell of the first state; integers on a lattice. Replacing the user moves the sum of one batch by at
 * most the form's `l2`, or with delta 0, where noise is Laplace, by its `l1`. Which batch a user is in
 * follows from the place in line, and the batches' ends are public; so a user is in one shown sum only, and
 * everything later is made from sums that were shown: batches compose in parallel, and the plan pays once
 * whatever their number (docs/why/kernel.md#epochs-compose-in-parallel). What fading adds is derived in
 * sums/sum_stream.c.
 *
 * The function is public and never changes, so a user who acted by an older plan adds what everybody adds,
 * and counts in the batch of their place. */
#include "contribute/scores.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "contribute/score_answers.h"
#include "contribute/user_check.h"

static const char name[] = "scores";

typedef struct scores {
    tacit__score_form form;
    int64_t *x; /* [numbers + states]: the user's */
} scores;

static size_t dimension_of(const tacit__score_form *f)
{
    return f->numbers + f->n_states;
}

void tacit__scores_contribute(const tacit__score_form *f, const tacit_trajectory *u, int64_t *out)
{
    TACIT__REQUIRE(f->write != NULL);
    int64_t *starts = out + f->numbers;
    f->write(f->context, u, out);
    memset(starts, 0, f->n_states * sizeof *starts);
    starts[u->states[0]] = f->start;
}

/* --- The statistic -------------------------------------------------------------------------------- */

static tacit_status check(const void *form, const tacit__user_view *user, tacit_error *err)
{
    const tacit__score_form *f = &((const scores *)form)->form;
    return tacit__check_trajectory(user->trajectory, f->n_states, f->n_actions, f->horizon, err);
}

static tacit_status contribute(void *form, const tacit__user_view *user, uint64_t turn,
                               tacit__input *out, tacit_error *err)
{
    (void)turn, (void)err;
    scores *f = form;
    tacit__scores_contribute(&f->form, user->trajectory, f->x);
    *out = (tacit__input){.n = dimension_of(&f->form), .value = f->x};
    return TACIT_OK;
}

static void wipe(void *form)
{
    scores *f = form;
    tacit__wipe(f->x, dimension_of(&f->form) * sizeof *f->x);
}

static const tacit__statistic statistic = {
    .destroy = tacit__workspace_destroy, .check = check, .contribute = contribute, .wipe = wipe};

/* --- What is declared ----------------------------------------------------------------------------- */

/* Of one person, at most. */
static double visits_of(const tacit__scores_options *o)
{
    return tacit__visits_within(o->visits, o->apart, o->episodes);
}

tacit__stream_spec tacit__scores_stream(const tacit__scores_options *o)
{
    const tacit__score_form *f = &o->form;
    const bool local = o->guarantee.model == TACIT_MODEL_LOCAL;
    tacit__stream_spec spec = {.name = name,
                               .kind = o->guarantee.model == TACIT_MODEL_NONE ? TACIT__STREAM_EXACT
                                                                              : TACIT__STREAM_FRESH,
                               .dimension = dimension_of(f),
                               .bits = f->bits,
                               .largest = f->largest,
                               .restarts = true,
                               .local = local,
                               .fade = o->fade};
    if (o->each > 0) {
        spec.once =
            tacit__score_answers_spec(f->table, o->guarantee.epsilon, visits_of(o), o->each);
        spec.dimension = o->each;
        spec.bits = 0;
    } else {
        spec.once = (tacit__fresh_spec){
            .law = tacit__scores_are_pure(o->guarantee) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN,
            .largest = local ? f->largest : 0,
            .l1 = f->l1,
            .l2 = f->l2,
            .reason = o->fade > 0 ? f->fading_reason : f->reason};
    }
    spec.once.releases = local ? o->episodes : o->batches > 0 ? o->batches : 1;
    spec.once.visits = o->visits;
    spec.once.apart = o->apart;
    return spec;
}

tacit_status tacit__scores_noise(const tacit__scores_options *o, tacit__score_noise *out,
                                 tacit_error *err)
{
    *out = (tacit__score_noise){.start = ldexp((double)o->form.start, -o->form.bits),
                                .fade = (double)o->fade / TACIT__FADE_WHOLE};
    if (o->each > 0 &&
        !tacit__score_answers_find(o->form.table, o->guarantee.epsilon, visits_of(o), o->each, out))
        return tacit__fail(err, TACIT_TOO_LARGE, "%zu answers tell nothing with epsilon %g",
                           o->each, o->guarantee.epsilon);
    return TACIT_OK;
}

static tacit_status check_options(const tacit__scores_options *o, tacit_error *err)
{
    TACIT__REQUIRE(o->form.write != NULL && o->form.numbers > 0);
    TACIT__REQUIRE(o->fade < TACIT__FADE_WHOLE);
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

tacit_status tacit__scores_describe(const tacit__scores_options *o, tacit__curator_spec *out,
                                    tacit_error *err)
{
    TRY(check_options(o, err));
    tacit__score_noise noise;
    TRY(tacit__scores_noise(o, &noise, err));
    scores w = {.form = o->form};
    scores *form = TACIT__WORKSPACE(w, TACIT__PIECE(w.x, dimension_of(&o->form)));
    tacit__score_answers *answers = NULL;
    tacit_status status = form != NULL ? TACIT_OK : TACIT_NO_MEMORY;
    if (status == TACIT_OK && o->each > 0)
        status = tacit__score_answers_create(o->form.table, o->guarantee.epsilon, visits_of(o),
                                             o->each, &answers);
    if (status != TACIT_OK) {
        tacit__workspace_destroy(form);
        return tacit__fail_plain(err, status);
    }
    *out = (tacit__curator_spec){.guarantee = o->guarantee,
                                 .episodes = o->episodes,
                                 .ends = o->ends,
                                 .n_ends = o->batches,
                                 .statistic = &statistic,
                                 .form = form,
                                 .responder = answers != NULL ? &tacit__score_responder : NULL,
                                 .responding = answers,
                                 .n_streams = 1,
                                 .streams = {tacit__scores_stream(o)}};
    return TACIT_OK;
}
