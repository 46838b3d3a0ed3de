/* See contribute/gram.h; how far apart two users' vectors can be is derived in gram_reach.c.
 *
 * |x| and |y| are clipped to the radius of the step, and weights to [0, 1], whatever the lens says, so that
 * the declared bound holds on every path. With a public table x must be what the table makes of values
 * within their range, so the values are clipped and multiplied with the table here.
 *
 * All streams are released together, and their responses with the factor c, which is divided out of what is
 * shown. */
#include "contribute/gram.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "contribute/gram_reach.h"
#include "contribute/levels.h"
#include "contribute/user_check.h"
#include "linalg/symmetric.h"
#include "sums/sum_inside.h"

/* --- A user --------------------------------------------------------------------------------------- */

static double clip(double value, double low, double high)
{
    return value >= low ? (value <= high ? value : high) : low; /* NaN: low */
}

/* What the table makes of the values of a step, into step. */
static void multiply(const tacit__gram_form *s, const tacit__lens *lens, size_t h, size_t pair,
                     double *step)
{
    const tacit__frame *f = &s->o.frame;
    const double r = tacit__gram_radius(&s->o, h), *v = lens->targets + h * s->n_states;
    TACIT__REQUIRE(lens->targets != NULL);
    for (size_t j = 0; j < f->width; j++)
        step[j] = 0;
    for (size_t next = 0; next < s->n_states; next++) {
        const double *part = s->o.table + next * f->width * f->pairs + pair;
        double value = clip(v[next], s->o.centered ? -r : 0, r);
        for (size_t j = 0; j < f->width; j++)
            step[j] += part[j * f->pairs] * value;
    }
}

/* The features of a pair at a step into step, within the radius and with the declared signs. */
static void find_features(const tacit__gram_form *s, const tacit__lens *lens, size_t h, size_t pair,
                          double *step)
{
    const tacit__frame *f = &s->o.frame;
    const size_t stride = f->blocks == 1 ? f->pairs : 1, first = f->blocks == 1 ? pair : 0;
    if (s->o.table != NULL)
        multiply(s, lens, h, pair, step);
    else
        for (size_t j = 0; j < f->width; j++)
            step[j] = lens->features[h * lens->stride + first + j * stride];
    double square = 0, r = tacit__gram_radius(&s->o, h);
    for (size_t j = 0; j < f->width; j++) {
        double x = step[j];
        x = s->o.nonnegative && !(x > 0) ? 0 : x;
        step[j] = x;
        square += x * x;
    }
    double shrink = square <= r * r ? 1 : isfinite(square) ? r / sqrt(square) : 0;
    for (size_t j = 0; j < f->width && shrink < 1; j++)
        step[j] = shrink > 0 ? shrink * step[j] : 0;
}

/* Where the numbers of a user's step h are. */
static size_t cell_at(const tacit__gram_form *s, const tacit_trajectory *u, size_t h, size_t *pair)
{
    const tacit__frame *f = &s->o.frame;
    *pair = u->states[h] * s->n_actions + u->actions[h];
    return (h * f->blocks + (f->blocks > 1 ? *pair : 0)) * tacit__frame_cell(f);
}

tacit_status tacit__gram_contribute(const tacit__gram_form *s, const tacit_trajectory *u,
                                    const tacit__lens *lens, double *x, double *step, int64_t *out,
                                    tacit_error *err)
{
    TACIT__REQUIRE(s->n_actions > 0 && s->n_states > 0);
    const tacit__frame *f = &s->o.frame;
    size_t cell = tacit__frame_cell(f), packed = cell - f->width, pair;
    for (size_t h = 0; h < f->steps; h++) {
        double *at = x + cell_at(s, u, h, &pair), r = tacit__gram_radius(&s->o, h);
        double y = lens->targets != NULL ? lens->targets[h * s->n_states + u->states[h + 1]]
                   : s->o.centered       ? 2 * u->rewards[h] - 1
                                         : u->rewards[h];
        y = clip(y, s->o.centered ? -r : 0, r);
        double w = lens->weights != NULL ? clip(lens->weights[h * f->pairs + pair], 0, 1) : 1;
        find_features(s, lens, h, pair, step);
        tacit__packed_outer(f->width, w, step, at);
        for (size_t j = 0; j < f->width; j++)
            at[packed + j] = s->ratio * w * y * step[j];
    }
    tacit_status status = tacit__lattice_quantize(&s->lattice, x, tacit__frame_size(f), out, err);
    for (size_t h = 0; h < f->steps; h++)
        memset(x + cell_at(s, u, h, &pair), 0, cell * sizeof *x);
    return status;
}

/* --- The statistic -------------------------------------------------------------------------------- */

typedef struct gram_part {
    tacit__gram_form form;
    double *x;            /* [size] scratch: a user's numbers; zero between users */
    double *step;         /* [width] scratch */
    int64_t *placed;      /* [size]: a user's contribution */
    double *sums;         /* [size]: what is shown, c divided out */
    uint64_t level_until; /* the levels below hold for this many releases */
    double gram_level, response_level;
} gram_part;

typedef struct gram {
    tacit__gram_options o; /* without `ends` */
    uint64_t releases;     /* of the whole run */
    gram_part parts[TACIT__MAX_GRAM_STREAMS];
} gram;

static size_t size_of(const gram_part *p)
{
    return tacit__frame_size(&p->form.o.frame);
}

static tacit_status check(const void *form, const tacit__user_view *user, tacit_error *err)
{
    const tacit__gram_options *o = &((const gram *)form)->o;
    return tacit__check_trajectory(user->trajectory, o->n_states, o->n_actions, o->horizon, err);
}

static tacit_status contribute(void *form, const tacit__user_view *user, uint64_t turn,
                               tacit__input *out, tacit_error *err)
{
    gram *g = form;
    TACIT__REQUIRE(user->lenses != NULL);
    (void)turn;
    for (size_t i = 0; i < g->o.n_streams; i++) {
        gram_part *p = &g->parts[i];
        TRY(tacit__gram_contribute(&p->form, user->trajectory, &user->lenses[i], p->x, p->step,
                                   p->placed, err));
        out[i] = (tacit__input){.n = size_of(p), .value = p->placed};
    }
    return TACIT_OK;
}

static void wipe(void *form)
{
    gram *g = form;
    for (size_t i = 0; i < g->o.n_streams; i++) {
        gram_part *p = &g->parts[i];
        tacit__wipe(p->step, p->form.o.frame.width * sizeof *p->step);
        tacit__wipe(p->placed, size_of(p) * sizeof *p->placed);
    }
}

/* The weight that makes the calibrator give this stream its share of mu^2, or of epsilon; see
 * account/plan.c. */
static double weigh(const void *form, size_t stream, const tacit_release *line)
{
    const gram *g = form;
    const double share = g->parts[stream].form.o.share;
    return tacit__gram_is_laplace(&g->o) ? share * share / (line->l1 * line->column_l1)
                                         : pow(share, 1.5) / (line->l2 * line->column_l2);
}

static const tacit__statistic statistic = {.destroy = tacit__workspace_destroy,
                                           .check = check,
                                           .contribute = contribute,
                                           .wipe = wipe,
                                           .weigh = weigh};

/* --- What is declared ------------------------------------------------------------------------------ */

static gram *create(const tacit__gram_options *o)
{
    gram w = {.o = *o, .releases = tacit__gram_releases(o)};
    tacit__piece pieces[4 * TACIT__MAX_GRAM_STREAMS];
    size_t n = 0;
    w.o.ends = NULL;
    for (size_t i = 0; i < o->n_streams; i++) {
        gram_part *p = &w.parts[i];
        p->form = (tacit__gram_form){
            .n_states = o->n_states, .n_actions = o->n_actions, .o = o->streams[i]};
        TACIT__REQUIRE(!(p->form.o.centered && p->form.o.nonnegative));
        TACIT__REQUIRE(p->form.o.table == NULL || p->form.o.frame.blocks == 1);
        if (!tacit__gram_is_private(o) ||
            tacit__gram_is_laplace(o)) /* L1 movements are those of the unit ball */
            p->form.o.table = NULL;
        pieces[n++] = TACIT__PIECE(p->x, size_of(p));
        pieces[n++] = TACIT__PIECE(p->placed, size_of(p));
        pieces[n++] = TACIT__PIECE(p->sums, size_of(p));
        pieces[n++] = TACIT__PIECE(p->step, p->form.o.frame.width);
    }
    return tacit__workspace_create(&w, sizeof w, pieces, n);
}

tacit_status tacit__gram_describe(const tacit__gram_options *o, tacit__curator_spec *out,
                                  tacit_error *err)
{
    TACIT__REQUIRE(o->n_streams >= 1 && o->n_streams <= TACIT__MAX_GRAM_STREAMS);
    TACIT__REQUIRE(o->ends == NULL || o->guarantee.model == TACIT_MODEL_JOINT);
    gram *g = create(o);
    if (g == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    *out = (tacit__curator_spec){.guarantee = o->guarantee,
                                 .episodes = o->episodes,
                                 .ends = o->ends,
                                 .n_ends = o->n_ends,
                                 .statistic = &statistic,
                                 .form = g,
                                 .n_streams = o->n_streams};
    for (size_t i = 0; i < o->n_streams; i++) {
        tacit__stream_spec *s = &out->streams[i];
        tacit__gram_form *f = &g->parts[i].form;
        const tacit_status status = tacit__gram_find_reach(o, f, &s->sum, err);
        if (status != TACIT_OK) {
            tacit__workspace_destroy(g);
            return status;
        }
        s->name = f->o.name;
        s->kind = tacit__gram_is_private(o) ? TACIT__STREAM_RUNNING : TACIT__STREAM_EXACT;
        s->dimension = s->sum.dimension;
        s->bits = f->lattice.bits;
        s->largest = f->lattice.largest;
        s->local = o->guarantee.model == TACIT_MODEL_LOCAL;
        s->printed = f->o.printed_gram;
    }
    return TACIT_OK;
}

const tacit__gram_form *tacit__gram_form_of(const void *form, size_t stream)
{
    const gram *g = form;
    TACIT__REQUIRE(stream < g->o.n_streams);
    return &g->parts[stream].form;
}

/* --- What is shown --------------------------------------------------------------------------------- */

/* The noise of the noisiest of this many releases, 2^j - 1 or all: where the noise of trees is largest. */
static double noise_until(const gram *g, const tacit__stream *stream, uint64_t until)
{
    if (g->o.mechanism != TACIT_SUM_TREE || until == g->releases)
        return tacit__sum_noisiest(tacit__stream_sum(stream), until);
    return tacit__stream_stddev(stream, until);
}

/* Levels that hold for this many releases. */
static void levels_until(const gram *g, const tacit__gram_form *f, const tacit__stream *stream,
                         uint64_t until, double *in_gram, double *in_response)
{
    const bool laplace = tacit__gram_is_laplace(&g->o);
    const double stddev = noise_until(g, stream, until), eta = tacit__gram_failure(&g->o, f),
                 scale = tacit__stream_scale(stream);
    const double ratio = stddev / (scale * (laplace ? M_SQRT2 : 1));
    const double draws = laplace ? ceil(ratio * ratio * (1 - 1e-9)) : ratio * ratio;
    const size_t width = f->o.frame.width;
    *in_gram = scale * tacit__level_matrix(draws, width, eta, laplace);
    *in_response = scale / f->ratio * tacit__level_vector(draws, width, eta, laplace);
}

tacit__gram_sums tacit__gram_last(const void *form, size_t i, const tacit__stream *stream)
{
    const gram *g = form;
    tacit__gram_sums last = {.users = g->o.episodes};
    if (tacit__gram_is_private(&g->o))
        levels_until(g, tacit__gram_form_of(g, i), stream, g->releases, &last.gram_level,
                     &last.response_level);
    return last;
}

/* Levels grow with the number of releases. They are computed for all numbers up to 2^j - 1 at once. */
static void find_levels(const gram *g, gram_part *p, const tacit__stream *stream, uint64_t released)
{
    if (!tacit__gram_is_private(&g->o) || released <= p->level_until)
        return;
    uint64_t until = 1, most = g->releases;
    while (until < released)
        until = 2 * until + 1;
    until = until < most ? until : most;
    levels_until(g, &p->form, stream, until, &p->gram_level, &p->response_level);
    p->level_until = until < most ? until : UINT64_MAX;
}

tacit__gram_sums tacit__gram_view(void *form, size_t i, const tacit__stream *stream,
                                  uint64_t released, uint64_t users)
{
    gram *g = form;
    TACIT__REQUIRE(i < g->o.n_streams);
    gram_part *p = &g->parts[i];
    const size_t cell = tacit__frame_cell(&p->form.o.frame), width = p->form.o.frame.width;
    const double inverse = 1 / p->form.ratio;
    memcpy(p->sums, tacit__stream_shown(stream), size_of(p) * sizeof *p->sums);
    for (size_t at = cell; at <= size_of(p); at += cell)
        for (size_t j = at - width; j < at; j++)
            p->sums[j] *= inverse;
    find_levels(g, p, stream, released);
    return (tacit__gram_sums){.users = users,
                              .sums = p->sums,
                              .gram_level = p->gram_level,
                              .response_level = p->response_level};
}
