/* Gram matrices and responses: the curator's life, its users and what it shows. See curate/gram.h; what a
 * user adds is in gram_contribution.c, what is declared of it in gram_plan.c. */
#include "curate/gram.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "contribute/user_check.h"
#include "curate/curator.h"
#include "curate/gram_inside.h"
#include "curate/levels.h"
#include "release/schedule.h"
#include "sums/sum_inside.h"
#include "sums/sum_steps.h"

tacit_status tacit__gram_create(const tacit__gram_options *options, tacit_noise *noise,
                                tacit__gram **out, tacit_error *err)
{
    TACIT__REQUIRE(options->n_streams >= 1 && options->n_streams <= TACIT__MAX_GRAM_STREAMS);
    if (options->growth > 1 && options->guarantee.model == TACIT_MODEL_LOCAL)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "rare releases lower the noise of joint privacy; a local report has "
                           "its noise already");
    tacit__gram w = {.o = *options, .at = {.due = 1}};
    w.releases = w.o.episodes > 1 ? w.o.episodes - 1 : 1;
    if (tacit__gram_has_batches(&w))
        w.releases = tacit__schedule_count(w.releases, w.o.growth, NULL);
    tacit__piece pieces[5 * TACIT__MAX_GRAM_STREAMS];
    size_t n = 0, largest = 0;
    for (size_t i = 0; i < w.o.n_streams; i++) {
        gram_stream *s = &w.streams[i];
        s->form = (tacit__gram_form){
            .n_states = w.o.n_states, .n_actions = w.o.n_actions, .o = w.o.streams[i]};
        TACIT__REQUIRE(!(s->form.o.centered && s->form.o.nonnegative));
        TACIT__REQUIRE(s->form.o.table == NULL || s->form.o.frame.blocks == 1);
        if (!tacit__gram_is_private(&w) ||
            tacit__gram_is_laplace(&w)) /* L1 movements are those of the unit ball */
            s->form.o.table = NULL;
        s->size = tacit__frame_size(&s->form.o.frame);
        largest = s->size > largest ? s->size : largest;
        const bool local = w.o.guarantee.model == TACIT_MODEL_LOCAL;
        pieces[n++] = TACIT__PIECE(s->x, s->size);
        pieces[n++] = TACIT__PIECE(s->placed, s->size);
        pieces[n++] = TACIT__PIECE(s->sums, s->size);
        pieces[n++] = TACIT__PIECE(s->step, s->form.o.frame.width);
        pieces[n++] = TACIT__PIECE_IF(local, s->report, s->size);
    }
    tacit__gram *c = tacit__workspace_create(&w, sizeof w, pieces, n);
    if (c == NULL)
        return tacit__fail(err, TACIT_NO_MEMORY,
                           "Gram matrices of %zu numbers do not fit into memory", largest);
    tacit_status status = tacit__gram_open_sums(c, noise, err);
    if (status != TACIT_OK) {
        tacit__gram_destroy(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

void tacit__gram_destroy(void *curator)
{
    tacit__gram *c = curator;
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->o.n_streams; i++)
        tacit_sum_destroy(c->streams[i].sum);
    tacit_ledger_destroy(c->ledger);
    tacit__workspace_destroy(c);
}

uint64_t tacit__gram_shown(const tacit__gram *c)
{
    return tacit__gram_has_batches(c) ? c->at.shown : c->users;
}

tacit_ledger *tacit__gram_ledger(const void *curator)
{
    const tacit__gram *c = curator;
    return tacit__gram_is_private(c) ? c->ledger : NULL;
}

/* --- What is released ------------------------------------------------------------------------------ */

/* The noise of the noisiest of this many releases, 2^j - 1 or all: where the noise of trees is largest. */
static double noise_until(const tacit__gram *c, const gram_stream *s, uint64_t until)
{
    double stddev = 0;
    if (c->o.mechanism != TACIT_SUM_TREE || until == c->releases)
        return tacit__sum_noisiest(s->sum, until);
    TACIT__REQUIRE(tacit_sum_stddev(s->sum, until, &stddev) == TACIT_OK);
    return stddev;
}

/* Levels that hold for this many releases. */
static void levels_until(const tacit__gram *c, const gram_stream *s, uint64_t until, double *gram,
                         double *response)
{
    const bool laplace = tacit__gram_is_laplace(c);
    const double stddev = noise_until(c, s, until), eta = tacit__gram_failure(c, s);
    const double ratio = stddev / (s->scale * (laplace ? M_SQRT2 : 1));
    const double draws = laplace ? ceil(ratio * ratio * (1 - 1e-9)) : ratio * ratio;
    const size_t width = s->form.o.frame.width;
    *gram = s->scale * tacit__level_matrix(draws, width, eta, laplace);
    *response = s->scale / s->form.ratio * tacit__level_vector(draws, width, eta, laplace);
}

tacit__gram_sums tacit__gram_last(const tacit__gram *c, size_t stream)
{
    TACIT__REQUIRE(stream < c->o.n_streams);
    tacit__gram_sums last = {.users = c->o.episodes};
    if (tacit__gram_is_private(c))
        levels_until(c, &c->streams[stream], c->releases, &last.gram_level, &last.response_level);
    return last;
}

/* Levels grow with the number of releases. They are computed for all numbers up to 2^j - 1 at once. */
static void find_levels(const tacit__gram *c, gram_stream *s)
{
    const uint64_t now = tacit__gram_has_batches(c) ? c->at.released : c->users;
    if (!tacit__gram_is_private(c) || now <= s->level_until)
        return;
    uint64_t until = 1, most = c->releases;
    while (until < now)
        until = 2 * until + 1;
    until = until < most ? until : most;
    levels_until(c, s, until, &s->gram_level, &s->response_level);
    s->level_until = until < most ? until : UINT64_MAX;
}

static tacit_status read_sum(gram_stream *s, tacit_error *err)
{
    tacit_status status = tacit_sum_release(s->sum, s->sums, err);
    size_t cell = tacit__frame_cell(&s->form.o.frame), width = s->form.o.frame.width;
    double inverse = 1 / s->form.ratio;
    for (size_t at = cell; at <= s->size && status == TACIT_OK; at += cell)
        for (size_t j = at - width; j < at; j++)
            s->sums[j] *= inverse;
    return status;
}

tacit_status tacit__gram_release(tacit__gram *c, tacit__gram_sums out[TACIT__MAX_GRAM_STREAMS],
                                 tacit_error *err)
{
    TACIT__REQUIRE(c->o.n_streams <= TACIT__MAX_GRAM_STREAMS);
    for (size_t i = 0; i < c->o.n_streams; i++) {
        gram_stream *s = &c->streams[i];
        tacit_status status = TACIT_OK;
        find_levels(c, s);
        if (c->users > 0 && !c->fresh && !tacit__gram_has_batches(c))
            status = read_sum(s, err);
        if (status != TACIT_OK)
            return status;
        out[i] = (tacit__gram_sums){.users = tacit__gram_shown(c),
                                    .sums = s->sums,
                                    .gram_level = s->gram_level,
                                    .response_level = s->response_level};
    }
    c->fresh = true;
    return TACIT_OK;
}

/* --- What users bring ------------------------------------------------------------------------------ */

tacit_status tacit__gram_check(const tacit__gram *c, const tacit_trajectory *u, tacit_error *err)
{
    return tacit__check_trajectory(u, c->o.n_states, c->o.n_actions, c->o.horizon, err);
}

tacit_status tacit__gram_open(const tacit__gram *c, tacit_error *err)
{
    return tacit__check_room(c->broken, c->users, c->o.episodes, err);
}

/* The last user's data are never used. */
static bool is_needed(const tacit__gram *c)
{
    return c->users + 1 < c->o.episodes;
}

tacit_status tacit__gram_place(gram_stream *s, const tacit_trajectory *u, const tacit__lens *lens,
                               tacit_error *err)
{
    return tacit__gram_contribute(&s->form, u, lens, s->x, s->step, s->placed, err);
}

/* The contribution to stream i through the door. */
static tacit_status pass(tacit__gram *c, size_t i, const int64_t *placed, tacit_error *err)
{
    const tacit__input input = {.n = c->streams[i].size, .value = placed};
    tacit_status status = tacit__sum_add_placed(c->streams[i].sum, &input, err);
    c->broken = status != TACIT_OK && i > 0; /* only a journal can refuse here */
    return status;
}

static gram_moments move_on(const tacit__gram *c, gram_moments at)
{
    return (gram_moments){.released = at.released + 1,
                          .shown = at.due,
                          .due = tacit__schedule_next(at.due, c->o.growth)};
}

gram_moments tacit__gram_find_moments(const tacit__gram *c, uint64_t users)
{
    TACIT__REQUIRE(users < c->o.episodes && c->o.growth > 1);
    gram_moments at = {.due = 1};
    while (at.due <= users)
        at = move_on(c, at);
    return at;
}

/* The users up to the one who has just been added become a release. */
static tacit_status release_batch(tacit__gram *c, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++)
        status = read_sum(&c->streams[i], err);
    c->broken = status != TACIT_OK; /* only a journal can refuse here */
    if (status != TACIT_OK)
        return status;
    c->at = move_on(c, c->at);
    return TACIT_OK;
}

/* A user whose contributions were passed. */
static tacit_status count_user(tacit__gram *c, tacit_error *err)
{
    const bool needed = is_needed(c);
    if (needed && tacit__gram_has_batches(c) && c->users + 1 == c->at.due)
        TRY(release_batch(c, err));
    c->fresh = !needed;
    c->users++;
    return TACIT_OK;
}

tacit_status tacit__gram_add(tacit__gram *c, const tacit_trajectory *u, const tacit__lens *lenses,
                             tacit_error *err)
{
    TACIT__REQUIRE(lenses != NULL);
    tacit_status status = tacit__gram_check(c, u, err);
    if (status == TACIT_OK)
        status = tacit__gram_open(c, err);
    for (size_t i = 0; i < c->o.n_streams && is_needed(c) && status == TACIT_OK; i++) {
        status = tacit__gram_place(&c->streams[i], u, &lenses[i], err);
        if (status == TACIT_OK)
            status = pass(c, i, c->streams[i].placed, err);
    }
    return status == TACIT_OK ? count_user(c, err) : status;
}

tacit_status tacit__gram_add_contribution(tacit__gram *c, const int64_t *const *streams,
                                          tacit_error *err)
{
    TACIT__REQUIRE(streams != NULL);
    tacit_status status = tacit__gram_open(c, err);
    for (size_t i = 0; i < c->o.n_streams && is_needed(c) && status == TACIT_OK; i++) {
        const tacit__input input = {.n = c->streams[i].size, .value = streams[i]};
        status = tacit__sum_check_foreign(c->streams[i].sum, &input, err);
    }
    for (size_t i = 0; i < c->o.n_streams && is_needed(c) && status == TACIT_OK; i++)
        status = pass(c, i, streams[i], err);
    return status == TACIT_OK ? count_user(c, err) : status;
}

const tacit__gram_form *tacit__gram_form_of(const tacit__gram *c, size_t stream)
{
    TACIT__REQUIRE(stream < c->o.n_streams);
    TACIT__REQUIRE(stream < c->o.n_streams);
    return &c->streams[stream].form;
}

/* --- The table ------------------------------------------------------------------------------------- */

static tacit_status add_user(void *curator, const tacit__user_view *user, tacit_error *err)
{
    return tacit__gram_add(curator, user->trajectory, user->lenses, err);
}

static tacit_status report_user(void *curator, const tacit__user_view *user, void *bytes,
                                size_t *size, tacit_error *err)
{
    return tacit__gram_report(curator, user->trajectory, user->lenses, bytes, size, err);
}

const tacit__curator_kind tacit__gram_curator = {.destroy = tacit__gram_destroy,
                                                 .add = add_user,
                                                 .report = report_user,
                                                 .check_report = tacit__gram_check_report,
                                                 .absorb = tacit__gram_absorb,
                                                 .ledger = tacit__gram_ledger,
                                                 .returning = true};
