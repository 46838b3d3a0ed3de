/* Buffered linear Toeplitz sums [DMPST24], in the form of correlated noise, in integers.
 *
 * Each step passes the increment of the release through the door: r_t = y_t + z_t with fresh noise z_t, and
 *     y_t = x_t + sum_j omega_j s_j(t),    s_j(t+1) = a_j (s_j(t) + x_t - r_t);    release: r_1 + .. + r_t.
 * Since x - r = -(sum omega_j s_j + z) the buffers hold noise only: r = x + C^-1 z, and what is shown is the
 * exact sum plus A C^-1 z, C x = x_t + sum_j omega_j sum_{n>=1} a_j^n x_{t-n}. For privacy look at one
 * release r and two streams that differ in one user by d: given r, the buffers of one and of the other differ
 * by a_j^n d, so that y differs by c_n d in the n-th step after, whatever r is: fresh Gaussian mechanisms,
 * chosen adaptively, with sensitivities c_n d known beforehand. They cost together what the column of C
 * costs.
 *
 * In integers. C is *defined* by quantized coefficients: 1 - a_j = A_j / 2^32, A_j < 2^31, and omega_j = W_j
 * 2^(G - 32 - F), W_j <= 2^29. Buffer j holds s_j in units of 2^-G lattice steps, and one step does
 *     y  = x + floor((2^(F-1) + floor(sum_j S_j W_j / 2^32)) / 2^F)               (before the door)
 *     S += (x - r) << G;   S -= floor(S A / 2^32);   S clamped to +-2^60           (after it)
 * Each floor moves the difference of two streams' buffers by less than 1, and the clamp, which is monotone
 * and shortens differences, only moves it toward 0: after n steps it is between 0 and a_j^n d, up to at most
 * sum_{m<n} a_j^m <= min(n, 1/(1-a_j)) units on either side. In lattice steps and for each coordinate that
 * differs, y is therefore off c_n d by less than
 *     e_n = 1 + 2^-F + sum_j omega_j 2^-G min(n, 1/(1-a_j))    (n >= 1; e_0 = 0)
 * (or closer to 0) and the column norm that is charged is
 *     sqrt(sum_{n<K} (c_n + e_n sqrt(m) / D)^2),   m coordinates, D the L2 sensitivity in steps,
 * with every rounding upward (blt_norm.c). With several visits of one person the differences of their buffers
 * add up, and the error of a floor does not: it stays below e_(K-1) however many visits came before, in the
 * coordinates in which any visit differs. The lattice is chosen so fine
 * (lattice.c) that e_n adds about 1e-4.
 *
 * Room. A scale above 2^(53-G) steps is refused, so a draw, which is at most 400 scales, adds less than 3.2 *
 * 2^60 units to a buffer and y another 2^60 (sum omega_j < 1): no overflow before the clamp. The buffers'
 * standard deviation is below 3 scales, so the clamp is some 40 of those away and acts in no real run; the
 * proof does not need that.
 *
 * Cost for each coordinate and step with n buffers: 4n short multiplications; state 8 (n + 1) bytes. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "sums/blt_gain.h"
#include "sums/blt_kernel.h"
#include "sums/blt_norm.h"
#include "sums/blt_tune.h"
#include "sums/strategy.h"

enum {
    LEAST_GUARD = 10, /* leaves the output 7 bits below a lattice step */
    MOST_FRACTION = 20,
    MAX_USERS_LOG2 = 31
};

typedef struct blt {
    tacit__blt_coefficients c;
    tacit__blt factors;
    size_t dimension;
    uint64_t steps;
    uint64_t releases; /* of the whole run */
    double unit;
    size_t padded;   /* dimension, up to whole cache lines */
    int64_t *buffer; /* [buffers] rows of S_j, interleaved: secret */
    double *shown;   /* the sum of what was released: public */
    int64_t *gain;   /* [releases] if there are few (blt_gain.c), else NULL */
    double *row;     /* [releases] likewise: squared norms of rows */
} blt;

/* Guard bits that make the buffers' rounding cost no more than the output's: sum_j omega_j / (1 - a_j) is
 * near sum_n c_n = 2 sqrt(K / pi). */
int tacit__blt_guard_bits(uint64_t users)
{
    TACIT__REQUIRE(users > 0);
    int guard = (int)ceil(log2((double)users) / 2) + 1;
    return guard > LEAST_GUARD ? guard : LEAST_GUARD;
}

/* Poles become multiples of 2^-32, one after the other. A zero that was as near to a pole as that stays
 * between its poles, so that no omega is negative. */
static void round_poles(tacit__blt *tuned, int64_t decay[TACIT__MAX_BUFFERS])
{
    for (unsigned j = 0; j < tuned->buffers; j++) {
        const int64_t nearest = llrint(ldexp(tuned->one_minus_a[j], 32)),
                      least = j > 0 ? decay[j - 1] + 1 : 1;
        decay[j] = nearest > least ? nearest : least;
        tuned->one_minus_a[j] = ldexp((double)decay[j], -32);
    }
    for (unsigned j = 0; j < tuned->buffers; j++) {
        const double next = j + 1 < tuned->buffers ? tuned->one_minus_a[j + 1] : 1;
        tuned->one_minus_b[j] = fmin(fmax(tuned->one_minus_b[j], tuned->one_minus_a[j]), next);
    }
}

/* Integers for the tuned C; F is what keeps W_j within 2^29. */
static tacit_status quantize(const tacit__shape *shape, tacit__blt_coefficients *out,
                             tacit_error *err)
{
    /* visits in batches are close to each other, in steps: as one visit that moves farther */
    static const tacit__returning once = {1, 1};
    tacit__blt tuned = tacit__blt_tune(shape->steps, shape->ends == NULL ? &shape->visits : &once);
    tacit__blt_coefficients c = {
        .buffers = tuned.buffers, .fraction = 1, .guard = tacit__blt_guard_bits(shape->steps)};
    double omega[TACIT__MAX_BUFFERS], heaviest = 0;
    round_poles(&tuned, c.decay);
    for (unsigned j = 0; j < c.buffers; j++)
        c.a[j] = 1 - tuned.one_minus_a[j];
    tacit__blt_residues(&tuned, omega); /* of the C with the quantized poles */
    for (unsigned j = 0; j < c.buffers; j++)
        heaviest = fmax(heaviest, omega[j]);
    if (heaviest > 0) {
        c.fraction = c.guard - 4 - (int)floor(log2(heaviest)); /* omega 2^(32+F-G) <= 2^29 */
        c.fraction = c.fraction < MOST_FRACTION ? c.fraction : MOST_FRACTION;
        TACIT__REQUIRE(c.fraction >= 1);
    }
    c.buffers = 0; /* those that add something */
    for (unsigned j = 0; j < tuned.buffers; j++) {
        const int64_t output = llrint(ldexp(omega[j], 32 + c.fraction - c.guard));
        TACIT__REQUIRE(output >= 0 && output <= (int64_t)1 << 29);
        if (output == 0)
            continue;
        c.decay[c.buffers] = c.decay[j];
        c.a[c.buffers] = c.a[j];
        c.output[c.buffers] = output;
        c.omega[c.buffers++] = ldexp((double)output, c.guard - 32 - c.fraction);
    }
    double first =
        0; /* c_1 <= c_0 = 1, and c_n falls from there: what patterns of visits rest on */
    for (unsigned j = 0; j < c.buffers; j++)
        first += c.omega[j] * c.a[j];
    TACIT__REQUIRE(first <= 1);
    if (shape->scale > ldexp(1, 53 - c.guard))
        return tacit__fail(err, TACIT_BAD_SCALE,
                           "noise of scale %g, in lattice steps, is more than the buffers of a blt "
                           "sum hold; the wanted epsilon is too small",
                           shape->scale);
    *out = c;
    return TACIT_OK;
}

/* Certification walks through up to a million users. The last answers of this thread are kept: an agent
 * asks twice for each of its streams, and a service makes the same agents again and again. */
enum { KEPT = 8 };
typedef struct answer {
    tacit__shape shape;
    double norm;
} answer;
static _Thread_local answer kept[KEPT];
static _Thread_local unsigned next_kept;

static bool is_same(const tacit__shape *a, const tacit__shape *b)
{
    return a->law == b->law && a->dimension == b->dimension && a->steps == b->steps &&
           a->largest == b->largest && a->sensitivity == b->sensitivity &&
           a->differing == b->differing && a->visits.most == b->visits.most &&
           a->visits.apart == b->visits.apart;
}

static double certified(const tacit__blt_coefficients *c, const tacit__shape *shape)
{
    if (shape->visits.most > 1 && shape->ends != NULL)
        return tacit__blt_column_norm(c, shape);
    for (int i = 0; i < KEPT; i++)
        if (kept[i].norm > 0 && is_same(&kept[i].shape, shape))
            return kept[i].norm;
    kept[next_kept] =
        (answer){*shape, tacit__blt_has_gains(shape) ? tacit__blt_gained_norm(c, shape)
                                                     : tacit__blt_column_norm(c, shape)};
    double norm = kept[next_kept].norm;
    next_kept = (next_kept + 1) % KEPT;
    return norm;
}

static tacit_status columns(const tacit__shape *shape, tacit__columns *out, tacit_error *err)
{
    if (shape->law == TACIT_LAW_LAPLACE)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "blt sums are for Gaussian noise; for pure DP use smooth or tree");
    if (shape->steps >> MAX_USERS_LOG2 != 0)
        return tacit__fail(err, TACIT_NO_ROOM, "blt sums take fewer than 2^%d users, not %llu",
                           MAX_USERS_LOG2, (unsigned long long)shape->steps);
    if (!(shape->sensitivity > 0))
        return tacit__fail(err, TACIT_BAD_SENSITIVITY, "blt sums need an L2 bound");
    tacit__blt_coefficients c;
    tacit_status status = quantize(shape, &c, err);
    if (status == TACIT_OK) /* Laplace noise is refused above, so the L1 norm is never charged */
        *out = (tacit__columns){.l1 = HUGE_VAL, .l2 = certified(&c, shape)};
    return status;
}

static tacit_status create(const tacit__shape *shape, void **state, tacit_error *err)
{
    blt w = {.dimension = shape->dimension, .unit = shape->unit, .releases = shape->steps};
    const bool gains = tacit__blt_has_gains(shape);
    TRY(quantize(shape, &w.c, err));
    w.factors = tacit__blt_factors(&w.c);
    w.padded = (w.dimension + TACIT__LINE - 1) / TACIT__LINE * TACIT__LINE;
    *state = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.buffer, w.padded * w.c.buffers), TACIT__PIECE(w.shown, w.padded),
        TACIT__PIECE_IF(gains, w.gain, shape->steps), TACIT__PIECE_IF(gains, w.row, shape->steps));
    if (*state == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    const blt *made = *state;
    if (gains)
        tacit__blt_gains(&made->c, made->releases, made->gain, made->row);
    return TACIT_OK;
}

/* Returns what enters the sum of a step's x: it, or it times the gain, which `gained` has room for. */
static const int64_t *apply_gain(const blt *s, size_t n, const int64_t *x, int64_t *gained)
{
    if (s->gain == NULL || s->steps == 0)
        return x;
    TACIT__REQUIRE(s->steps < s->releases && n <= TACIT__TILE);
    tacit__blt_multiply(s->gain[s->steps], n, x, gained);
    return gained;
}

/* Returns what a unit of a step's release is worth. */
static double unit_of(const blt *s)
{
    return s->gain == NULL || s->steps == 0
               ? s->unit
               : s->unit * (ldexp(1, TACIT__GAIN_BITS) / (double)s->gain[s->steps]);
}

static void encode(const void *state, size_t offset, size_t n, const int64_t *x, int64_t *y)
{
    const blt *s = state;
    int64_t gained[TACIT__TILE];
    tacit__blt_encode(&s->c, s->buffer + offset * s->c.buffers, n, apply_gain(s, n, x, gained), y);
}

static void absorb(void *state, size_t offset, size_t n, const int64_t *x, const int64_t *y)
{
    blt *s = state;
    int64_t gained[TACIT__TILE];
    tacit__blt_absorb(&s->c, s->buffer + offset * s->c.buffers, n, apply_gain(s, n, x, gained), y,
                      unit_of(s), s->shown + offset);
}

static void advance(void *state)
{
    ((blt *)state)->steps++;
}

static const double *get_released(const void *state)
{
    return ((const blt *)state)->shown;
}

static void read(const void *state, double *out)
{
    const blt *s = state;
    memcpy(out, s->shown, s->dimension * sizeof *out);
}

static double variance(const void *state, uint64_t k)
{
    TACIT__REQUIRE(k > 0);
    const blt *s = state;
    return s->row == NULL ? tacit__blt_row(&s->c, &s->factors, k)
                          : s->row[(k < s->releases ? k : s->releases) - 1];
}

/* Rows of B grow, unless there are gains. */
static double most(const void *state, uint64_t k)
{
    const blt *s = state;
    double largest = 0;
    if (s->row == NULL)
        return variance(state, k);
    for (uint64_t i = 0; i < k && i < s->releases; i++)
        largest = fmax(largest, s->row[i]);
    return largest;
}

static size_t regions(void *state, tacit__region out[TACIT__MAX_REGIONS])
{
    blt *s = state;
    out[0] = (tacit__region){&s->steps, sizeof s->steps};
    out[1] = (tacit__region){s->buffer, s->c.buffers * s->padded * sizeof *s->buffer};
    out[2] = (tacit__region){s->shown, s->padded * sizeof *s->shown};
    return 3;
}

static bool resume(void *state, uint64_t steps)
{
    return ((blt *)state)->steps == steps;
}

const tacit__strategy tacit__strategy_blt = {.name = "blt",
                                             .needs_noise = true,
                                             .has_reals = true,
                                             .columns = columns,
                                             .create = create,
                                             .destroy = tacit__workspace_destroy,
                                             .encode = encode,
                                             .absorb = absorb,
                                             .advance = advance,
                                             .get_released = get_released,
                                             .read = read,
                                             .variance = variance,
                                             .most = most,
                                             .regions = regions,
                                             .resume = resume};
