/* What a user adds to Gram matrices and responses, exactly. See curate/gram.h; how far apart two users'
 * vectors can be is derived in gram_plan.c.
 *
 * Here |x| and |y| are clipped to the radius of the step, and weights to [0, 1], whatever the lens says, so
 * that the declared bound holds on every path. With a public table x must be what the table makes of values
 * within their range, so the values are clipped and multiplied with the table here. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "curate/gram_inside.h"
#include "linalg/symmetric.h"

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
