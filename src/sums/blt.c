/* Buffered linear Toeplitz sums [DMPST24]: encode in fixed point, decode in doubles.
 *
 * (C x)_t = x_t + sum_j omega_j s_j(t),  s_j(t+1) = a_j (s_j(t) + x_t).  C is *defined* by quantised
 * coefficients: 1 - a_j = A_j / 2^32, A_j < 2^31, and omega_j = W_j 2^(G - 32 - F), W_j < 2^29. Buffer j
 * holds s_j in units of 2^-G lattice steps, as a 64-bit integer, and one step does
 *     y  = x + floor((2^(F-1) + floor(sum_j S_j W_j / 2^32)) / 2^F)     (output)
 *     S += x << G;   S -= floor(S A / 2^32)                             (decay)
 * Two streams that differ in one user have, n steps later, buffers that differ by a_j^n times the change
 * plus at most sum_{m<n} a_j^m <= min(n, 1/(1-a_j)) units, since each floor moves a difference by less
 * than 1. In lattice steps and for each coordinate that differs, y is therefore off the ideal c_n by less
 * than
 *     e_n = 1 + 2^-F + sum_j omega_j 2^-G min(n, 1/(1-a_j))    (n >= 1; e_0 = 0)
 * and the column norm that is charged is
 *     sqrt(sum_{n<K} (c_n + e_n sqrt(m) / D)^2),   m coordinates, D the L2 sensitivity in steps,
 * summed term by term in extended precision with every rounding upward. The lattice is chosen so fine
 * (lattice.c) that e_n adds about 1e-4.
 *
 * Decoding inverts the same recursion on y: xhat = y - sum omega_j shat_j, shat_j <- a_j (shat_j + xhat),
 * and adds up xhat. It reads y only, so doubles are harmless.
 *
 * Cost for each coordinate and step with n buffers: 2n short multiplications and 2n multiply-adds; state
 * 8 (2n + 2) bytes. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "sums/blt_kernel.h"
#include "sums/blt_tune.h"
#include "sums/strategy.h"

enum { GUARD_BITS = 20, MAX_USERS_LOG2 = 31 };

#define NEGLIGIBLE 1e-30L /* stands for smaller powers, which would be slow denormals */

typedef struct blt {
    tacit__blt_coefficients c;
    size_t dimension;
    uint64_t steps;
    size_t padded;   /* dimension, up to whole cache lines */
    int64_t *buffer; /* [buffers] rows of S_j, interleaved: secret */
    int64_t *output; /* what they add to the next y: secret */
    double *decoded; /* [buffers + 1] rows of shat_j and the noisy prefix, interleaved: public */
} blt;

/* Integers for the tuned C. Buffers and outputs stay below 2^61; G takes all the room there is, F what
 * keeps W_j below 2^29. */
static tacit_status quantise(const tacit__shape *shape, tacit__blt_coefficients *out,
                             tacit_error *err)
{
    tacit__blt tuned = tacit__blt_tune(shape->users);
    tacit__blt_coefficients c = {.buffers = tuned.buffers, .fraction = 1};
    double omega[TACIT__MAX_BUFFERS], most = 0, heaviest = 0, total = shape->largest;
    for (unsigned j = 0; j < c.buffers; j++) {
        c.decay[j] = llrint(ldexp(tuned.one_minus_a[j], 32));
        c.decay[j] = c.decay[j] > 0 ? c.decay[j] : 1;
        tuned.one_minus_a[j] = ldexp((double)c.decay[j], -32);
        c.a[j] = 1 - tuned.one_minus_a[j];
    }
    tacit__blt_residues(&tuned, omega); /* of the C with the quantised poles */
    for (unsigned j = 0; j < c.buffers; j++) {
        /* |s_j| <= largest * min(K, 1/(1-a_j)), before and after the decay */
        double buffer = shape->largest * fmin((double)shape->users, 1 / tuned.one_minus_a[j]);
        most = fmax(most, buffer);
        heaviest = fmax(heaviest, omega[j]);
        total += omega[j] * buffer;
    }
    if (c.buffers > 0) {
        int room = 60 - (int)ceil(log2(most)), fraction = 60 - (int)ceil(log2(total));
        int widest = room - 4 - (int)ceil(log2(heaviest)); /* omega 2^(32+F-G) < 2^29 */
        c.guard = room;
        c.fraction = fraction < widest ? fraction : widest;
        c.fraction = c.fraction < GUARD_BITS ? c.fraction : GUARD_BITS;
        /* more guard bits than leave the heaviest W 28 bits would coarsen omega without gain */
        int useful = 32 + c.fraction + (int)floor(log2(heaviest)) - 27;
        c.guard = c.guard < useful ? c.guard : useful;
        if (c.fraction < 1 || c.guard < 0)
            return tacit__fail(
                err, TACIT_NO_ROOM,
                "%llu users with coordinates up to %g lattice steps do not fit into 64 bits",
                (unsigned long long)shape->users, shape->largest);
    }
    for (unsigned j = 0; j < c.buffers; j++) {
        c.output[j] = llrint(ldexp(omega[j], 32 + c.fraction - c.guard));
        TACIT__REQUIRE(c.output[j] >= 0 && c.output[j] < (int64_t)1 << 29);
        c.omega[j] = ldexp((double)c.output[j], c.guard - 32 - c.fraction);
    }
    *out = c;
    return TACIT_OK;
}

/* The certified column norm: see the head. Products and sums of positive numbers in extended precision,
 * each power nudged up by 2^-62 a step and the total by 1e-9 for the roundings of the rest. */
static double certify(const tacit__blt_coefficients *c, const tacit__shape *shape)
{
    const long double up = 1 + 0x1p-62L;
    long double power[TACIT__MAX_BUFFERS], factor[TACIT__MAX_BUFFERS], sum = 1;
    double spread = sqrt(shape->differing) / shape->sensitivity;
    double unit[TACIT__MAX_BUFFERS], memory[TACIT__MAX_BUFFERS];
    for (unsigned j = 0; j < c->buffers; j++) {
        power[j] = (long double)c->omega[j];
        factor[j] = (long double)c->a[j] * up;
        unit[j] = ldexp(c->omega[j], -c->guard);
        memory[j] = 1 / (1 - c->a[j]);
    }
    double least_error = 1 + ldexp(1, -c->fraction);
    for (uint64_t n = 1; n < shape->users; n++) {
        long double c_n = 0;
        double e_n = least_error, steps = (double)n;
        for (unsigned j = 0; j < c->buffers; j++) {
            power[j] = power[j] > NEGLIGIBLE ? power[j] * factor[j] : NEGLIGIBLE;
            c_n += power[j];
            e_n += unit[j] * (steps < memory[j] ? steps : memory[j]);
        }
        long double term = c_n + (long double)(e_n * spread * (1 + 0x1p-50));
        sum += term * term;
    }
    return (double)sqrtl(sum) * (1 + 1e-9);
}

static tacit_status columns(const tacit__shape *shape, tacit__columns *out, tacit_error *err)
{
    if (shape->law == TACIT_LAW_LAPLACE)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "blt sums are for Gaussian noise; for pure DP use smooth or tree");
    if (shape->users >> MAX_USERS_LOG2 != 0)
        return tacit__fail(err, TACIT_NO_ROOM, "blt sums take fewer than 2^%d users, not %llu",
                           MAX_USERS_LOG2, (unsigned long long)shape->users);
    if (!(shape->sensitivity > 0))
        return tacit__fail(err, TACIT_BAD_SENSITIVITY, "blt sums need an L2 bound");
    tacit__blt_coefficients c;
    tacit_status status = quantise(shape, &c, err);
    if (status == TACIT_OK) /* Laplace noise is refused above, so the L1 norm is never charged */
        *out = (tacit__columns){.l1 = HUGE_VAL, .l2 = certify(&c, shape)};
    return status;
}

static void destroy(void *state)
{
    blt *s = state;
    if (s != NULL) {
        tacit__free_secret(s->buffer, s->c.buffers * s->padded * sizeof *s->buffer);
        tacit__free_secret(s->output, s->padded * sizeof *s->output);
        tacit__free(s->decoded);
    }
    tacit__free(s);
}

static tacit_status create(const tacit__shape *shape, void **state, tacit_error *err)
{
    blt *s = tacit__alloc(1, sizeof *s);
    if (s == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = quantise(shape, &s->c, err);
    if (status == TACIT_OK) {
        s->dimension = shape->dimension;
        s->padded = (s->dimension + TACIT__LINE - 1) / TACIT__LINE * TACIT__LINE;
        s->buffer = tacit__alloc(s->padded, s->c.buffers * sizeof *s->buffer);
        s->output = tacit__alloc(s->padded, sizeof *s->output);
        s->decoded = tacit__alloc(s->padded, (s->c.buffers + 1) * sizeof *s->decoded);
        if (s->buffer == NULL || s->output == NULL || s->decoded == NULL)
            status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    if (status != TACIT_OK) {
        destroy(s);
        return status;
    }
    *state = s;
    return TACIT_OK;
}

static void encode(const void *state, size_t offset, size_t n, const int64_t *x, int64_t *y)
{
    const blt *s = state;
    tacit__blt_encode(&s->c, s->output + offset, n, x, y);
}

static void absorb(void *state, size_t offset, size_t n, const int64_t *x, const int64_t *y)
{
    blt *s = state;
    tacit__blt_decay(&s->c, s->buffer + offset * s->c.buffers, n, x, s->output + offset);
    tacit__blt_decode(&s->c, s->decoded + offset * (s->c.buffers + 1), n, y);
}

static void advance(void *state)
{
    ((blt *)state)->steps++;
}

static void read(const void *state, double unit, double *out)
{
    const blt *s = state;
    const double *line = s->decoded + s->c.buffers * TACIT__LINE; /* of the prefix row */
    size_t start = 0;
    for (; start + TACIT__LINE <= s->dimension; start += TACIT__LINE) {
        for (size_t i = 0; i < TACIT__LINE; i++)
            out[start + i] = line[i] * unit;
        line += (s->c.buffers + 1) * TACIT__LINE;
    }
    for (size_t i = 0; start + i < s->dimension; i++)
        out[start + i] = line[i] * unit;
}

/* Squared norm of row k of B: the prefix sums of the decoder's impulse response. */
static double variance(const void *state, uint64_t k)
{
    const blt *s = state;
    double buffers[TACIT__MAX_BUFFERS] = {0}, total = 0, row = 0;
    for (uint64_t n = 0; n < k; n++) {
        double xhat = n == 0 ? 1 : 0;
        for (unsigned j = 0; j < s->c.buffers; j++)
            xhat -= s->c.omega[j] * buffers[j];
        for (unsigned j = 0; j < s->c.buffers; j++)
            buffers[j] = s->c.a[j] * (buffers[j] + xhat);
        total += xhat;
        row += total * total;
    }
    return row;
}

static size_t regions(void *state, tacit__region out[TACIT__MAX_REGIONS])
{
    blt *s = state;
    out[0] = (tacit__region){&s->steps, sizeof s->steps};
    out[1] = (tacit__region){s->buffer, s->c.buffers * s->padded * sizeof *s->buffer};
    out[2] = (tacit__region){s->output, s->padded * sizeof *s->output};
    out[3] = (tacit__region){s->decoded, (s->c.buffers + 1) * s->padded * sizeof *s->decoded};
    return 4;
}

static bool restored(void *state, uint64_t steps)
{
    return ((blt *)state)->steps == steps;
}

const tacit__strategy tacit__strategy_blt = {.name = "blt",
                                             .needs_noise = true,
                                             .columns = columns,
                                             .create = create,
                                             .destroy = destroy,
                                             .encode = encode,
                                             .absorb = absorb,
                                             .advance = advance,
                                             .read = read,
                                             .variance = variance,
                                             .most = variance, /* rows of B grow */
                                             .regions = regions,
                                             .restored = restored};
