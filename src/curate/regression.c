/* Sums for linear bandits. See curate/regression.h.
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
 * Joint privacy. The sums are released at moments fixed beforehand, when there are `growth` times
 * as many users as at the last one (1: after every user). Each user is put on the lattice and added
 * to the batch, exactly, in doubles that are multiples of the lattice step; a batch is one step of
 * a running sum. One user is in one batch, so the batch moves as far as the user does, and a sum
 * over 25 batches needs half the noise of one over 30000 users.
 *
 * Local privacy. Every user's vector passes the door by itself, noise in all blocks: which one was
 * theirs is private too. `growth` then only says how often the sums are looked at.
 *
 * `explore`: one release, after this many users; the others are counted, and nothing of them is used. Who is
 * used follows from the place in line, so it moves the sum as before. */
#include "curate/regression.h"

#include <math.h>
#include <string.h>

#include "account/single.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/workspace.h"
#include "contribute/user_check.h"
#include "curate/curators.h"
#include "curate/regression_inside.h"
#include "linalg/symmetric.h"
#include "noise/stream.h"
#include "sums/lattice.h"
#include "sums/sum_steps.h"

static const char name[] = "moments";

double tacit__regression_sensitivity(double s)
{
    TACIT__REQUIRE(s >= 0);
    double s2 = s * s;
    return s2 <= 2 ? sqrt(2 + 2 * s2 + s2 * s2 / 2) : 2 * s;
}

size_t tacit__regression_schedule(uint64_t users, double growth, uint64_t *at)
{
    TACIT__REQUIRE(growth >= 1);
    size_t n = 0;
    if (growth <= 1) { /* after every user; no list is needed */
        return (size_t)users;
    }
    /* From about sqrt(users) on: what comes before is too little to learn from. */
    for (double t = ceil(sqrt((double)users)); t < (double)users + 0.5;
         t = ceil(fmax(t + 1, growth * t))) {
        if (at != NULL)
            at[n] = (uint64_t)t;
        n++;
    }
    return n;
}

static bool is_private(const tacit__regression *c)
{
    return c->o.guarantee.model != TACIT_MODEL_NONE;
}

static bool is_local(const tacit__regression *c)
{
    return c->o.guarantee.model == TACIT_MODEL_LOCAL;
}

/* The largest batch. */
static double most_in_batch(const tacit__regression *c)
{
    uint64_t most = 1;
    for (size_t i = 0; c->update_at != NULL && i < c->n_updates; i++) {
        uint64_t n = c->update_at[i] - (i > 0 ? c->update_at[i - 1] : 0);
        most = n > most ? n : most;
    }
    return (double)most;
}

/* What a batch of users can measure, each rounded to a lattice of this step: half a step in every
 * coordinate of a block, for all of them perhaps in the same direction. Nothing that users may
 * bring is refused or scaled back. */
static double bound_of(const tacit__regression *c, double most, double step)
{
    const double s = c->o.response_weight;
    return most * (sqrt(1 + s * s) * (1 + 1e-6) + 0.5625 * sqrt((double)c->block) * step);
}

/* The sum, and the step of its lattice, which its bound and its sensitivity depend on in turn. */
static tacit_status describe(tacit__regression *c, tacit_sum_spec *out, tacit_error *err)
{
    double differing = sqrt((double)(c->o.blocks > 1 ? 2 * c->block : c->block));
    double delta = tacit__regression_sensitivity(c->o.response_weight);
    const double most = is_local(c) ? 1 : most_in_batch(c);
    /* devices report whether they are used or not, all but the last */
    const uint64_t everybody = c->episodes > 1 ? c->episodes - 1 : 1;
    tacit_sum_spec spec = {
        .mechanism = c->o.mechanism,
        .law = TACIT_LAW_GAUSSIAN,
        .dimension = c->size,
        .users = is_local(c) ? everybody : (c->n_updates > 0 ? c->n_updates : 1),
        .visits = c->o.visits,
        .apart = c->o.apart,
        .bound = {.l2 = bound_of(c, most, 0)},
        .sensitivity_l2 = delta,
        .sensitivity_on_lattice = true, /* rounding is added below, user by user */
        .reason = "2 - 2 r^2 + 2 s^2 (1 + r) at r = |x.x'|, largest at r = s^2 / 2; plus rounding"};
    for (int i = 0; i < 8; i++) { /* each round asks for more room than the last one needed */
        tacit__lattice lattice;
        TRY(tacit__lattice_choose(&spec, c->size, &lattice, err));
        c->step = ldexp(1, -lattice.bits);
        double needed = delta + 1.125 * differing * c->step; /* half a step each, both users */
        if (needed <= spec.sensitivity_l2 && bound_of(c, most, c->step) <= spec.bound.l2) {
            *out = spec;
            return TACIT_OK;
        }
        spec.sensitivity_l2 = needed * (1 + 1e-3 * i);
        spec.bound.l2 = bound_of(c, most, c->step * (1 + i));
    }
    return tacit__fail(err, TACIT_NO_ROOM, "no lattice is fine enough for %zu features",
                       c->o.dimension);
}

static tacit_status open_sum(tacit__regression *c, tacit_noise *noise, tacit_error *err)
{
    tacit_sum_spec spec;
    tacit_release line;
    TRY(describe(c, &spec, err));
    const tacit__batches steps = {spec.users, is_local(c) ? NULL : c->update_at};
    TRY(tacit__sum_declare_released(&spec, &steps, name, &line, err));
    TRY(tacit__ledger_open_single(&line, c->o.guarantee, c->o.published_scale, noise, &c->ledger,
                                  &c->scale, err));
    return tacit__sum_create_released(&spec, &steps, c->ledger, name, &c->sum, err);
}

tacit_status tacit__regression_create(const tacit__regression_options *options, tacit_noise *noise,
                                      tacit__regression **out, tacit_error *err)
{
    TACIT__REQUIRE(noise != NULL || options->guarantee.model == TACIT_MODEL_NONE);
    TACIT__REQUIRE(options->dimension > 0 && options->blocks > 0 && options->users > 0);
    tacit__regression w = {.o = *options, .packed = tacit__packed_size(options->dimension)};
    w.block = w.packed + w.o.dimension;
    if (__builtin_mul_overflow(w.o.blocks, w.block, &w.size))
        w.size = SIZE_MAX;
    /* The last user's data are never used. */
    w.o.users = w.o.users > 0 ? w.o.users - 1 : 0;
    w.episodes = w.o.users + 1;
    if (w.o.explore > 0 && w.o.explore < w.o.users)
        w.o.users = w.o.explore;
    w.n_updates =
        w.o.explore > 0 ? w.o.users > 0 : tacit__regression_schedule(w.o.users, w.o.growth, NULL);
    const bool listed = is_private(&w) && (w.o.growth > 1 || w.o.explore > 0);
    tacit__regression *c = TACIT__WORKSPACE(
        w, TACIT__PIECE_IF(listed, w.update_at, w.n_updates), TACIT__PIECE(w.x, w.size),
        TACIT__PIECE_IF(is_private(&w) || w.o.explore > 0, w.shown, w.size),
        TACIT__PIECE_IF(is_private(&w), w.placed, w.block),
        TACIT__PIECE_IF(is_local(&w), w.report, w.size),
        TACIT__PIECE(w.gram, w.o.blocks * w.packed),
        TACIT__PIECE(w.response, w.o.blocks * w.o.dimension), TACIT__PIECE(w.last, w.o.dimension));
    if (c == NULL)
        return tacit__fail(err, TACIT_NO_MEMORY,
                           "sums for %zu features and %zu blocks do not fit into memory",
                           w.o.dimension, w.o.blocks);
    if (listed && c->o.explore > 0 && c->n_updates > 0)
        c->update_at[0] = c->o.users;
    else if (listed && c->o.explore == 0)
        (void)tacit__regression_schedule(c->o.users, c->o.growth, c->update_at);
    tacit_status status = is_private(c) ? open_sum(c, noise, err) : TACIT_OK;
    if (status != TACIT_OK) {
        tacit__regression_destroy(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

void tacit__regression_destroy(void *curator)
{
    tacit__regression *c = curator;
    if (c == NULL)
        return;
    tacit_sum_destroy(c->sum);
    tacit_ledger_destroy(c->ledger);
    tacit__workspace_destroy(c);
}

tacit_ledger *tacit__regression_ledger(const void *curator)
{
    const tacit__regression *c = curator;
    return c->ledger;
}

tacit__moments tacit__regression_release(const tacit__regression *c)
{
    if (!is_private(c) && c->o.explore > 0 && c->users < c->o.users) /* zeros: not yet */
        return (tacit__moments){.gram = c->shown, .response = c->shown};
    return (tacit__moments){.users = c->users,
                            .version = c->version,
                            .gram = c->gram,
                            .response = c->response,
                            .gram_stddev = c->gram_stddev,
                            .response_stddev = c->response_stddev,
                            .last = !is_private(c) && c->users > 0 ? c->last : NULL,
                            .last_block = c->last_block};
}

void tacit__regression_wipe_user(tacit__regression *c)
{
    tacit__wipe(c->last, c->o.dimension * sizeof *c->last);
    if (c->placed != NULL)
        tacit__wipe(c->placed, c->block * sizeof *c->placed);
    c->last_block = 0;
}

tacit__regression_form tacit__regression_form_of(const tacit__regression *c)
{
    return (tacit__regression_form){.dimension = c->o.dimension,
                                    .blocks = c->o.blocks,
                                    .response_weight = c->o.response_weight,
                                    .triangle = c->o.triangle,
                                    .bits = is_private(c) ? -ilogb(c->step) : 0};
}

tacit_status tacit__regression_place(tacit__regression *c, const double *x, size_t block, double y,
                                     tacit_error *err)
{
    const tacit__regression_form form = tacit__regression_form_of(c);
    return tacit__regression_contribute(&form, x, block, y, c->last, c->placed, err);
}

/* out[i] += q[i] step. Integers below 2^51 become doubles in the last bits of 1.5 * 2^52, which wide
 * instructions can do. */
TACIT__INLINE void add_steps(size_t n, const int64_t *restrict q, double step, double *restrict out)
{
    const double magic = 0x1.8p52;
    int64_t magic_bits;
    memcpy(&magic_bits, &magic, sizeof magic_bits);
    for (size_t i = 0; i < n; i++) {
        int64_t bits = q[i] + magic_bits;
        double shifted;
        memcpy(&shifted, &bits, sizeof shifted);
        out[i] += (shifted - magic) * step;
    }
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static void add_steps_avx2(size_t n, const int64_t *q, double step, double *out)
{
    add_steps(n, q, step, out);
}
#endif

void tacit__regression_add_placed(tacit__regression *c, size_t block, const int64_t *placed)
{
    TACIT__REQUIRE(block < c->o.blocks);
    double *out = c->x + block * c->block;
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        add_steps_avx2(c->block, placed, c->step, out);
        return;
    }
#endif
    add_steps(c->block, placed, c->step, out);
}

tacit_status tacit__regression_refresh(tacit__regression *c, tacit_error *err)
{
    TACIT__REQUIRE(c->sum != NULL && c->o.response_weight > 0);
    const size_t d = c->o.dimension;
    tacit_status status = tacit_sum_release(c->sum, c->shown, err);
    double stddev = 0;
    if (status == TACIT_OK)
        status = tacit_sum_stddev(c->sum, tacit_sum_step(c->sum), &stddev);
    if (status != TACIT_OK)
        return status;
    for (size_t b = 0; b < c->o.blocks; b++) {
        const double *from = c->shown + b * c->block;
        double *gram = c->gram + b * c->packed, *response = c->response + b * d;
        for (size_t j = 0, n = 0; j < d; j++)
            for (size_t i = 0; i <= j; i++, n++)
                gram[n] = c->o.triangle && i < j ? M_SQRT2 * from[n] : from[n];
        for (size_t i = 0; i < d; i++)
            response[i] = from[c->packed + i] / c->o.response_weight;
    }
    c->gram_stddev = c->o.triangle ? M_SQRT2 * stddev : stddev;
    c->response_stddev = stddev / c->o.response_weight;
    c->version++;
    c->next++;
    return TACIT_OK;
}

bool tacit__regression_is_due(const tacit__regression *c)
{
    return c->update_at == NULL ||
           (c->next < c->n_updates && c->users + 1 == c->update_at[c->next]);
}

static tacit_status pass(tacit__regression *c, size_t block, const int64_t *placed,
                         tacit_error *err)
{
    bool due = tacit__regression_is_due(c);
    tacit__regression_add_placed(c, block, placed);
    if (!is_local(c) && !due)
        return TACIT_OK;
    tacit_status status = tacit_sum_add(c->sum, c->x, err);
    memset(c->x, 0, c->size * sizeof *c->x);
    if (status == TACIT_OK && due)
        status = tacit__regression_refresh(c, err);
    c->broken = status != TACIT_OK;
    return status;
}

static void add_exactly(tacit__regression *c, double y)
{
    const size_t d = c->o.dimension;
    double *gram = c->gram + c->last_block * c->packed, *response = c->response + c->last_block * d;
    tacit__packed_outer(d, 1, c->last, c->x);
    for (size_t i = 0; i < c->packed; i++)
        gram[i] += c->x[i];
    for (size_t i = 0; i < d; i++)
        response[i] += y * c->last[i];
    c->version++;
}

tacit_status tacit__regression_open(const tacit__regression *c, tacit_error *err)
{
    return tacit__check_room(c->broken, c->users, c->episodes, err);
}

/* The last user's data are never used. */
static tacit_status add_private(tacit__regression *c, size_t block, const int64_t *placed,
                                tacit_error *err)
{
    tacit_status status = c->users < c->o.users ? pass(c, block, placed, err) : TACIT_OK;
    c->users += status == TACIT_OK;
    return status;
}

tacit_status tacit__regression_add(tacit__regression *c, const double *x, size_t block, double y,
                                   tacit_error *err)
{
    tacit_status status = tacit__regression_open(c, err);
    if (status == TACIT_OK)
        status = tacit__regression_place(c, x, block, y, err);
    if (status != TACIT_OK)
        return status;
    if (is_private(c)) {
        status = add_private(c, block, c->placed, err);
        tacit__regression_wipe_user(c);
        return status;
    }
    c->last_block = block;
    if (c->users < c->o.users)
        add_exactly(c, y);
    c->users++;
    return TACIT_OK;
}

tacit_status tacit__regression_add_contribution(tacit__regression *c, size_t block,
                                                const int64_t *contribution, tacit_error *err)
{
    TACIT__REQUIRE(is_private(c));
    tacit_status status = tacit__regression_open(c, err);
    double square = 0, most = bound_of(c, 1, c->step) / c->step;
    for (size_t i = 0; i < c->block; i++)
        square += (double)contribution[i] * (double)contribution[i];
    if (status == TACIT_OK && !(block < c->o.blocks && square <= most * most))
        status = tacit__fail(err, TACIT_OUT_OF_BOUND,
                             "a contribution that was made elsewhere exceeds its declared bound");
    return status == TACIT_OK ? add_private(c, block, contribution, err) : status;
}

/* --- The table ------------------------------------------------------------------------------------- */

static tacit_status add_user(void *curator, const tacit__user_view *user, tacit_error *err)
{
    return tacit__regression_add(curator, user->vector, user->block, user->y, err);
}

static tacit_status report_user(void *curator, const tacit__user_view *user, void *bytes,
                                size_t *size, tacit_error *err)
{
    return tacit__regression_report(curator, user->vector, user->block, user->y, bytes, size, err);
}

const tacit__curator_kind tacit__regression_curator = {.destroy = tacit__regression_destroy,
                                                       .add = add_user,
                                                       .report = report_user,
                                                       .check_report =
                                                           tacit__regression_check_report,
                                                       .absorb = tacit__regression_absorb,
                                                       .ledger = tacit__regression_ledger,
                                                       .returning = true};
