/* See contribute/regression.h.
 *
 * A user's contribution is the vector (x x^T packed, s x y), |x| <= 1, |y| <= 1, in the block of
 * the action taken. How far a replaced user moves it
 * (docs/why/kernel.md#sensitivity-of-linear-moments has the proof): in one block, with |x| = |x'| =
 * 1, rho = |x . x'| and rewards of opposite sign,
 *
 *     2 - 2 rho^2 + 2 s^2 (1 + rho) <= 2 + 2 s^2 + s^4 / 2     (rho = s^2 / 2 <= 1),   4 s^2 if s^2 >= 2;
 *
 * in two blocks 2 + 2 s^2, which is less. No shorter x moves it farther. To this comes what
 * rounding to the lattice can add.
 *
 * Joint privacy. A batch is one step of a running sum. One user is in one batch, so the batch moves as far as
 * the user does, and a sum over 25 batches needs half the noise of one over 30000 users.
 *
 * Local privacy. Every user's vector passes the door by itself, noise in all blocks: which one was
 * theirs is private too. The releases then only say how often the sums are looked at.
 *
 * Without privacy x x^T and x y are added as doubles, first all Gram matrices, then all responses; and the
 * last user's x is kept, so that a factorization can follow it. */
#include "contribute/regression.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/workspace.h"
#include "linalg/symmetric.h"
#include "sums/saved.h"

static const char name[] = "moments";

double tacit__regression_sensitivity(double s)
{
    TACIT__REQUIRE(s >= 0);
    double s2 = s * s;
    return s2 <= 2 ? sqrt(2 + 2 * s2 + s2 * s2 / 2) : 2 * s;
}

/* --- A user --------------------------------------------------------------------------------------- */

static double square_of(const tacit__regression_form *f, const double *x)
{
    double square = 0;
    for (size_t i = 0; i < f->dimension; i++)
        square += x[i] * x[i];
    return square;
}

static tacit_status check_vector(const tacit__regression_form *f, const double *x, size_t block,
                                 double y, tacit_error *err)
{
    const double square = square_of(f, x);
    if (!(square <= 1 + 1e-9) || block >= f->blocks || !(y >= -1 && y <= 1))
        return tacit__fail(err, TACIT_OUT_OF_BOUND,
                           "features are longer than their bound, or no numbers, or the action or "
                           "the reward is out of range");
    return TACIT_OK;
}

/* x, shortened where rounding made it longer than 1. */
static void shorten(const tacit__regression_form *f, const double *x, double *unit)
{
    const double square = square_of(f, x), factor = square > 1 ? (1 - 1e-15) / sqrt(square) : 1;
    for (size_t i = 0; i < f->dimension; i++)
        unit[i] = factor * x[i];
}

/* out[i] = weight x[i], on the lattice: to the nearest integer, ties to even, by adding 1.5 * 2^52, since a
 * norm has at most 2^48 steps (sums/lattice.c). */
TACIT__INLINE void place_row(double per_step, size_t n, double weight, const double *restrict x,
                             int64_t *restrict out)
{
    const double magic = 0x1.8p52;
    for (size_t i = 0; i < n; i++) {
        double shifted = weight * x[i] * per_step + magic;
        int64_t bits, magic_bits;
        memcpy(&bits, &shifted, sizeof bits);
        memcpy(&magic_bits, &magic, sizeof magic_bits);
        out[i] = bits - magic_bits;
    }
}

/* The coordinates of a user: the triangle of x x^T, then x y. */
TACIT__INLINE void place_user(const tacit__regression_form *f, const double *x, double y,
                              int64_t *out)
{
    const size_t d = f->dimension;
    const double root = f->triangle ? 1 : M_SQRT2, per_step = ldexp(1, f->bits);
    for (size_t j = 0; j < d; out += ++j) {
        place_row(per_step, j, root * x[j], x, out);
        place_row(per_step, 1, x[j], x + j, out + j);
    }
    place_row(per_step, d, f->response_weight * y, x, out);
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static void place_user_avx2(const tacit__regression_form *f, const double *x, double y,
                                        int64_t *out)
{
    place_user(f, x, y, out);
}
#endif

tacit_status tacit__regression_contribute(const tacit__regression_form *f, const double *x,
                                          size_t block, double y, double *unit, int64_t *out,
                                          tacit_error *err)
{
    TACIT__REQUIRE(f->dimension > 0);
    TRY(check_vector(f, x, block, y, err));
    shorten(f, x, unit);
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        place_user_avx2(f, unit, y, out);
        return TACIT_OK;
    }
#endif
    place_user(f, unit, y, out);
    return TACIT_OK;
}

/* --- The statistic -------------------------------------------------------------------------------- */

typedef struct regression {
    tacit__regression_form form;
    tacit_model model;
    uint64_t most;           /* users whose data are used, at most */
    size_t packed, block;    /* numbers in a Gram matrix, in a block */
    double *unit;            /* [dimension]: the user's x; without privacy the last user's */
    size_t last_block;       /* without privacy: theirs */
    int64_t *placed;         /* [block]: the user's contribution, */
    size_t *index;           /* [block]: and where it is; NULL: there is one block */
    double *outer;           /* [packed] scratch, without privacy */
    double *gram, *response; /* what is shown; without privacy zeros */
    uint64_t version;        /* of these */
} regression;

static bool is_private(const regression *r)
{
    return r->model != TACIT_MODEL_NONE;
}

static tacit_status check(const void *form, const tacit__user_view *user, tacit_error *err)
{
    const regression *r = form;
    return check_vector(&r->form, user->vector, user->block, user->y, err);
}

static tacit_status contribute(void *form, const tacit__user_view *user, uint64_t turn,
                               tacit__input *out, tacit_error *err)
{
    regression *r = form;
    (void)turn;
    TRY(tacit__regression_contribute(&r->form, user->vector, user->block, user->y, r->unit,
                                     r->placed, err));
    for (size_t i = 0; i < r->block && r->index != NULL; i++)
        r->index[i] = user->block * r->block + i;
    *out = (tacit__input){.n = r->block, .index = r->index, .value = r->placed};
    return TACIT_OK;
}

static void wipe(void *form)
{
    regression *r = form;
    tacit__wipe(r->unit, r->form.dimension * sizeof *r->unit);
    tacit__wipe(r->placed, r->block * sizeof *r->placed);
    if (r->index != NULL)
        tacit__wipe(r->index, r->block * sizeof *r->index);
}

static tacit_status count(void *form, const tacit__user_view *user, double *const *sums,
                          tacit_error *err)
{
    regression *r = form;
    const size_t d = r->form.dimension;
    double *gram = sums[0] + user->block * r->packed,
           *response = sums[0] + r->form.blocks * r->packed + user->block * d;
    (void)err;
    shorten(&r->form, user->vector, r->unit);
    r->last_block = user->block;
    tacit__packed_outer(d, 1, r->unit, r->outer);
    for (size_t i = 0; i < r->packed; i++)
        gram[i] += r->outer[i];
    for (size_t i = 0; i < d; i++)
        response[i] += user->y * r->unit[i];
    return TACIT_OK;
}

/* Without privacy: the last user. */
static void fields(void *form, uint64_t users, tacit__saved *s)
{
    regression *r = form;
    uint64_t block = r->last_block;
    (void)users;
    if (is_private(r))
        return;
    tacit__saved_reals(s, r->unit, r->form.dimension, 1 + 1e-9);
    tacit__saved_value(s, &block, sizeof block);
    tacit__saved_check(s, block < r->form.blocks);
    if (s->pass == TACIT__APPLY)
        r->last_block = (size_t)block;
}

static const tacit__statistic statistic = {.destroy = tacit__workspace_destroy,
                                           .check = check,
                                           .contribute = contribute,
                                           .wipe = wipe,
                                           .count = count,
                                           .fields = fields};

/* --- What is declared ------------------------------------------------------------------------------ */

/* The largest batch. */
static double most_in_batch(const tacit__regression_options *o)
{
    uint64_t most = 1;
    for (size_t i = 0; o->ends != NULL && i < o->n_ends; i++) {
        uint64_t n = o->ends[i] - (i > 0 ? o->ends[i - 1] : 0);
        most = n > most ? n : most;
    }
    return (double)most;
}

/* What a batch of users can measure, each rounded to a lattice of this step: half a step in every
 * coordinate of a block, for all of them perhaps in the same direction. Nothing that users may
 * bring is refused or scaled back. */
static double bound_of(const regression *r, double most, double step)
{
    const double s = r->form.response_weight;
    return most * (sqrt(1 + s * s) * (1 + 1e-6) + 0.5625 * sqrt((double)r->block) * step);
}

/* The sum, and the step of its lattice, which its bound and its sensitivity depend on in turn. */
static tacit_status find_sum(const tacit__regression_options *o, regression *r, tacit_sum_spec *out,
                             tacit_error *err)
{
    const bool local = o->guarantee.model == TACIT_MODEL_LOCAL;
    const size_t size = r->form.blocks * r->block;
    const double differing = sqrt((double)(o->blocks > 1 ? 2 * r->block : r->block)),
                 delta = tacit__regression_sensitivity(o->response_weight),
                 most = local ? 1 : most_in_batch(o);
    /* devices report whether they are used or not, all but the last */
    const uint64_t everybody = o->users > 1 ? o->users - 1 : 1;
    tacit_sum_spec spec = {
        .mechanism = o->mechanism,
        .law = TACIT_LAW_GAUSSIAN,
        .dimension = size,
        .users = local || o->ends == NULL ? everybody : o->n_ends,
        .visits = o->visits,
        .apart = o->apart,
        .bound = {.l2 = bound_of(r, most, 0)},
        .sensitivity_l2 = delta,
        .sensitivity_on_lattice = true, /* rounding is added below, user by user */
        .reason = "2 - 2 r^2 + 2 s^2 (1 + r) at r = |x.x'|, largest at r = s^2 / 2; plus rounding"};
    for (int i = 0; i < 8; i++) { /* each round asks for more room than the last one needed */
        tacit__lattice lattice;
        TRY(tacit__lattice_choose(&spec, size, &lattice, err));
        const double step = ldexp(1, -lattice.bits);
        double needed = delta + 1.125 * differing * step; /* half a step each, both users */
        if (needed <= spec.sensitivity_l2 && bound_of(r, most, step) <= spec.bound.l2) {
            r->form.bits = lattice.bits;
            *out = spec;
            return TACIT_OK;
        }
        spec.sensitivity_l2 = needed * (1 + 1e-3 * i);
        spec.bound.l2 = bound_of(r, most, step * (1 + i));
    }
    return tacit__fail(err, TACIT_NO_ROOM, "no lattice is fine enough for %zu features",
                       o->dimension);
}

static regression *create(const tacit__regression_options *o)
{
    regression w = {.form = {.dimension = o->dimension,
                             .blocks = o->blocks,
                             .response_weight = o->response_weight,
                             .triangle = o->triangle},
                    .model = o->guarantee.model,
                    .most = o->users - 1,
                    .packed = tacit__packed_size(o->dimension)};
    size_t size;
    w.block = w.packed + o->dimension;
    if (__builtin_mul_overflow(o->blocks, w.block, &size))
        return NULL;
    return TACIT__WORKSPACE(w, TACIT__PIECE(w.unit, o->dimension),
                            TACIT__PIECE_IF(is_private(&w), w.placed, w.block),
                            TACIT__PIECE_IF(is_private(&w) && o->blocks > 1, w.index, w.block),
                            TACIT__PIECE_IF(!is_private(&w), w.outer, w.packed),
                            TACIT__PIECE(w.gram, o->blocks * w.packed),
                            TACIT__PIECE(w.response, o->blocks * o->dimension));
}

/* A user's numbers are at most sqrt(2) and the response's weight, and a step of rounding. */
tacit_status tacit__regression_describe(const tacit__regression_options *o,
                                        tacit__curator_spec *out, tacit_error *err)
{
    TACIT__REQUIRE(o->dimension > 0 && o->blocks > 0 && o->users > 0);
    regression *r = create(o);
    if (r == NULL)
        return tacit__fail(err, TACIT_NO_MEMORY,
                           "sums for %zu features and %zu blocks do not fit into memory",
                           o->dimension, o->blocks);
    const bool local = o->guarantee.model == TACIT_MODEL_LOCAL;
    tacit__stream_spec stream = {.name = name,
                                 .kind =
                                     is_private(r) ? TACIT__STREAM_RUNNING : TACIT__STREAM_COUNTED,
                                 .dimension = o->blocks * r->block,
                                 .local = local,
                                 .whole_batches = is_private(r) && !local && o->ends != NULL,
                                 .printed = o->published_scale};
    const tacit_status status = is_private(r) ? find_sum(o, r, &stream.sum, err) : TACIT_OK;
    if (status != TACIT_OK) {
        tacit__workspace_destroy(r);
        return status;
    }
    stream.bits = r->form.bits;
    stream.largest = ldexp(1.5 + o->response_weight, stream.bits);
    *out = (tacit__curator_spec){.guarantee = o->guarantee,
                                 .episodes = o->users,
                                 .ends = o->ends,
                                 .n_ends = o->n_ends,
                                 .statistic = &statistic,
                                 .form = r,
                                 .n_streams = 1,
                                 .streams = {stream}};
    return TACIT_OK;
}

tacit__regression_form tacit__regression_form_of(const void *form)
{
    return ((const regression *)form)->form;
}

/* --- What is shown --------------------------------------------------------------------------------- */

static void read_shown(regression *r, const double *shown)
{
    const size_t d = r->form.dimension;
    TACIT__REQUIRE(r->form.response_weight > 0);
    for (size_t b = 0; b < r->form.blocks; b++) {
        const double *from = shown + b * r->block;
        double *gram = r->gram + b * r->packed, *response = r->response + b * d;
        for (size_t j = 0, n = 0; j < d; j++)
            for (size_t i = 0; i <= j; i++, n++)
                gram[n] = r->form.triangle && i < j ? M_SQRT2 * from[n] : from[n];
        for (size_t i = 0; i < d; i++)
            response[i] = from[r->packed + i] / r->form.response_weight;
    }
}

tacit__moments tacit__regression_view(void *form, const tacit__stream *stream, uint64_t users,
                                      uint64_t shown, uint64_t released)
{
    regression *r = form;
    const uint64_t used = shown < r->most ? shown : r->most,
                   version = released < r->most ? released : r->most;
    if (!is_private(r) && used == 0)
        return (tacit__moments){.gram = r->gram, .response = r->response};
    if (!is_private(r)) {
        const double *sums = tacit__stream_shown(stream);
        return (tacit__moments){.users = users,
                                .version = used,
                                .gram = sums,
                                .response = sums + r->form.blocks * r->packed,
                                .last = r->unit,
                                .last_block = r->last_block};
    }
    if (version != r->version)
        read_shown(r, tacit__stream_shown(stream));
    r->version = version;
    const double stddev =
        version == 0 ? 0
                     : tacit__stream_stddev(stream, r->model == TACIT_MODEL_LOCAL ? used : version);
    return (tacit__moments){.users = users,
                            .version = version,
                            .gram = r->gram,
                            .response = r->response,
                            .gram_stddev = r->form.triangle ? M_SQRT2 * stddev : stddev,
                            .response_stddev = stddev / r->form.response_weight};
}
