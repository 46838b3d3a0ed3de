/* Gram matrices and responses. See curate/gram.h; what is declared of them is in gram_plan.c.
 *
 * Here |x| and |y| are clipped to the radius of the step, and weights to [0, 1], whatever the lens
 * says, so that the declared bound holds on every path. With a public table x must be what the table
 * makes of values within their range, so the curator clips the values and multiplies them with the
 * table itself. */
#include "curate/gram.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "curate/gram_inside.h"
#include "curate/levels.h"
#include "linalg/symmetric.h"

tacit_status tacit__gram_create(const tacit__gram_options *options, tacit_noise *noise,
                                tacit__gram **out, tacit_error *err)
{
    TACIT__REQUIRE(options->n_streams >= 1 && options->n_streams <= TACIT__MAX_GRAM_STREAMS);
    tacit__gram w = {.o = *options};
    tacit__piece pieces[4 * TACIT__MAX_GRAM_STREAMS];
    size_t n = 0, largest = 0;
    for (size_t i = 0; i < w.o.n_streams; i++) {
        gram_stream *s = &w.streams[i];
        s->o = w.o.streams[i];
        TACIT__REQUIRE(!(s->o.centred && s->o.nonnegative));
        TACIT__REQUIRE(s->o.table == NULL || s->o.frame.blocks == 1);
        if (!tacit__gram_is_private(&w) ||
            tacit__gram_is_laplace(&w)) /* L1 movements are those of the unit ball */
            s->o.table = NULL;
        s->size = tacit__frame_size(&s->o.frame);
        largest = s->size > largest ? s->size : largest;
        const bool local = w.o.guarantee.model == TACIT_MODEL_LOCAL;
        pieces[n++] = TACIT__PIECE(s->x, s->size);
        pieces[n++] = TACIT__PIECE(s->sums, s->size);
        pieces[n++] = TACIT__PIECE(s->step, s->o.frame.width);
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

void tacit__gram_destroy(tacit__gram *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->o.n_streams; i++)
        tacit_sum_destroy(c->streams[i].sum);
    tacit_ledger_destroy(c->ledger);
    tacit__workspace_destroy(c);
}

uint64_t tacit__gram_users(const tacit__gram *c)
{
    return c->users;
}

tacit_ledger *tacit__gram_ledger(const tacit__gram *c)
{
    return tacit__gram_is_private(c) ? c->ledger : NULL;
}

/* --- What is released ------------------------------------------------------------------------------ */

/* Levels grow with the number of users. They are computed for all numbers up to 2^j - 1 at once,
 * where the noise of trees is largest among them and that of the others has grown. */
static tacit_status find_levels(const tacit__gram *c, gram_stream *s)
{
    if (!tacit__gram_is_private(c) || c->users <= s->level_until)
        return TACIT_OK;
    uint64_t until = 1, most = c->o.episodes > 1 ? c->o.episodes - 1 : 1;
    while (until < c->users)
        until = 2 * until + 1;
    until = until < most ? until : most;
    double stddev;
    if (c->o.mechanism == TACIT_SUM_SMOOTH || until == most)
        stddev = tacit_sum_worst_stddev(s->sum);
    else if (tacit_sum_stddev(s->sum, until, &stddev) != TACIT_OK)
        return TACIT_BAD_ARGUMENT;
    bool laplace = tacit__gram_is_laplace(c);
    double ratio = stddev / (s->scale * (laplace ? M_SQRT2 : 1)), draws = ratio * ratio;
    if (laplace)
        draws = ceil(draws * (1 - 1e-9));
    double eta = tacit__gram_failure(c, s);
    size_t width = s->o.frame.width;
    s->gram_level = s->scale * tacit__level_matrix(draws, width, eta, laplace);
    s->response_level = s->scale / s->ratio * tacit__level_vector(draws, width, eta, laplace);
    s->level_until = until < most ? until : UINT64_MAX;
    return TACIT_OK;
}

static tacit_status read_sum(gram_stream *s, tacit_error *err)
{
    tacit_status status = tacit_sum_release(s->sum, s->sums, err);
    size_t cell = tacit__frame_cell(&s->o.frame), width = s->o.frame.width;
    double inverse = 1 / s->ratio;
    for (size_t at = cell; at <= s->size && status == TACIT_OK; at += cell)
        for (size_t j = at - width; j < at; j++)
            s->sums[j] *= inverse;
    return status;
}

tacit_status tacit__gram_release(tacit__gram *c, tacit__gram_sums out[TACIT__MAX_GRAM_STREAMS],
                                 tacit_error *err)
{
    for (size_t i = 0; i < c->o.n_streams; i++) {
        gram_stream *s = &c->streams[i];
        tacit_status status = find_levels(c, s);
        if (status != TACIT_OK)
            return tacit__fail_plain(err, status);
        if (c->users > 0 && !c->fresh)
            status = read_sum(s, err);
        if (status != TACIT_OK)
            return status;
        out[i] = (tacit__gram_sums){.users = c->users,
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
    const tacit__gram_options *o = &c->o;
    for (size_t h = 0; h <= o->horizon; h++)
        if (u->states[h] >= o->n_states)
            return tacit__fail(err, TACIT_OUT_OF_BOUND, "step %zu: the state is not below %zu", h,
                               o->n_states);
    for (size_t h = 0; h < o->horizon; h++)
        if (u->actions[h] >= o->n_actions || !(u->rewards[h] >= 0 && u->rewards[h] <= 1))
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "step %zu: the action is not below %zu, or the reward not in [0, 1]",
                               h, o->n_actions);
    return TACIT_OK;
}

static double clip(double value, double low, double high)
{
    return value >= low ? (value <= high ? value : high) : low; /* NaN: low */
}

/* What the table makes of the values of a step, into s->step. */
static void multiply(const tacit__gram *c, const gram_stream *s, const tacit__lens *lens, size_t h,
                     size_t pair)
{
    const tacit__frame *f = &s->o.frame;
    const double r = tacit__gram_radius(&s->o, h), *v = lens->targets + h * c->o.n_states;
    for (size_t j = 0; j < f->width; j++)
        s->step[j] = 0;
    for (size_t next = 0; next < c->o.n_states; next++) {
        const double *part = s->o.table + next * f->width * f->pairs + pair;
        double value = clip(v[next], s->o.centred ? -r : 0, r);
        for (size_t j = 0; j < f->width; j++)
            s->step[j] += part[j * f->pairs] * value;
    }
}

/* The features of a pair at a step into s->step, within the radius and with the declared signs. */
static void look(const tacit__gram *c, const gram_stream *s, const tacit__lens *lens, size_t h,
                 size_t pair)
{
    const tacit__frame *f = &s->o.frame;
    const size_t stride = f->blocks == 1 ? f->pairs : 1, first = f->blocks == 1 ? pair : 0;
    if (s->o.table != NULL)
        multiply(c, s, lens, h, pair);
    else
        for (size_t j = 0; j < f->width; j++)
            s->step[j] = lens->features[h * lens->stride + first + j * stride];
    double square = 0, r = tacit__gram_radius(&s->o, h);
    for (size_t j = 0; j < f->width; j++) {
        double x = s->step[j];
        x = s->o.nonnegative && !(x > 0) ? 0 : x;
        s->step[j] = x;
        square += x * x;
    }
    double shrink = square <= r * r ? 1 : isfinite(square) ? r / sqrt(square) : 0;
    for (size_t j = 0; j < f->width && shrink < 1; j++)
        s->step[j] = shrink > 0 ? shrink * s->step[j] : 0;
}

void tacit__gram_contribute(const tacit__gram *c, gram_stream *s, const tacit_trajectory *u,
                            const tacit__lens *lens, bool clear)
{
    const tacit__frame *f = &s->o.frame;
    size_t cell = tacit__frame_cell(f), packed = cell - f->width;
    for (size_t h = 0; h < f->steps; h++) {
        size_t pair = u->states[h] * c->o.n_actions + u->actions[h];
        double *at = s->x + (h * f->blocks + (f->blocks > 1 ? pair : 0)) * cell;
        if (clear) {
            memset(at, 0, cell * sizeof *at);
            continue;
        }
        double r = tacit__gram_radius(&s->o, h);
        double y = lens->targets != NULL ? lens->targets[h * c->o.n_states + u->states[h + 1]]
                   : s->o.centred        ? 2 * u->rewards[h] - 1
                                         : u->rewards[h];
        y = clip(y, s->o.centred ? -r : 0, r);
        double w = lens->weights != NULL ? clip(lens->weights[h * f->pairs + pair], 0, 1) : 1;
        look(c, s, lens, h, pair);
        tacit__packed_outer(f->width, w, s->step, at);
        for (size_t j = 0; j < f->width; j++)
            at[packed + j] = s->ratio * w * y * s->step[j];
    }
}

tacit_status tacit__gram_open(const tacit__gram *c, tacit_error *err)
{
    if (c->broken)
        return tacit__fail(err, TACIT_SYSTEM,
                           "an earlier charge was refused halfway; the sums are closed");
    if (c->users == c->o.episodes)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu episodes",
                           (unsigned long long)c->o.episodes);
    return TACIT_OK;
}

tacit_status tacit__gram_add(tacit__gram *c, const tacit_trajectory *u, const tacit__lens *lenses,
                             tacit_error *err)
{
    tacit_status status = tacit__gram_check(c, u, err);
    if (status != TACIT_OK)
        return status;
    status = tacit__gram_open(c, err);
    if (status != TACIT_OK)
        return status;
    bool needed = c->users + 1 < c->o.episodes;
    for (size_t i = 0; i < c->o.n_streams && needed && status == TACIT_OK; i++) {
        gram_stream *s = &c->streams[i];
        tacit__gram_contribute(c, s, u, &lenses[i], false);
        status = tacit_sum_add(s->sum, s->x, err);
        tacit__gram_contribute(c, s, u, &lenses[i], true);
        c->broken = status != TACIT_OK && i > 0; /* only a journal can refuse here */
    }
    if (status != TACIT_OK)
        return status;
    c->users++;
    c->fresh = !needed;
    return TACIT_OK;
}
