/* LSVI-UCB [JYWJ20], batched [LGLP21, Alg. 2] and with rare switches [NVW22, Alg. 1; WZG21]. See lsvi.h.
 *
 *     M_h = Gram_h + ridge I,    w_h = M_h^-1 u_h,    Q_h = cut(phi . w_h + beta |phi|_{M_h^-1}),    V_h = max_a Q_h
 *
 * Departures. Values are cut to [0, cap_h] at both ends, which [NVW22, line 14] forgets and on
 * which the sensitivity of the responses rests. Ties go to the lowest action. Before the first
 * switch there is no data, and the plan is uniform; the papers leave Q undefined there. Unless
 * `from_last` asks for what is printed, the determinant is compared with the largest at any earlier
 * switch, not with the last: noisy Gram matrices are not monotone, and with the maximum each of the
 * H determinants can trigger only log(det_max / det_0) / log(factor) times. A matrix that noise has
 * left without a root does not trigger; when it is needed, its eigenvalues are raised to `floor`.
 *
 * RAYLEIGH asks for a switch when the largest generalized eigenvalue of M_h against the matrix N_h of the
 * last switch reaches the factor C, which is when C N_h - M_h has no root. So while the policy stays,
 * |phi|_{N_h^-1} < sqrt(C) |phi|_{M_h^-1} in every direction, whatever the noise [docs/why/lsvi.md].
 *
 * Targets are told in units (low_h, range_h) and may be centered: with phi . e = 1 for a known e,
 * regression of y - center on phi has the weights w - center e, so
 * Q = low_h + range_h (center + phi . w + beta |phi|)
 * [docs/why/lsvi.md].
 *
 * Cost of a switch: H (d^3 / 3 + S A d^2), or H S A for one-hot features; of a test, H d^3 / 3, and as
 * much again to multiply N_h out of its root. */
#include "plan/papers/lsvi.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/symmetric.h"

typedef struct counters {
    uint64_t version, switches;
} counters;

struct tacit__lsvi {
    tacit__lsvi_options o;
    size_t order; /* doubles in a factor: d^2, or d for one-hot features */
    counters n;
    double *cap;           /* [H] */
    double *low, *range;   /* [H]: the units of responses */
    double *factors;       /* [G][order]: L, or the diagonal of M; G Gram matrices, H or 1 */
    double *weights;       /* [H][d] */
    double *slopes;        /* [H][d]: L^T w; one-hot: not used */
    double *inverses;      /* [G][order]: L^-1; one-hot: not used */
    double *reference;     /* [G]: log-determinant, the largest at a switch or that of the last */
    double *trial;         /* [G][order]: the factors of a test; during a switch, the last ones */
    double *kept;          /* [d + 2][H]: during a switch the last weights and units */
    double *trial_log_det; /* [G] */
    size_t tested;         /* 0 .. tested-1 of trial belong to the last test */
    tacit__optimism *q;    /* [H] */
    double *values;        /* [H][S] */
    double *columns, *row; /* scratch: a block of features, their Q */
    double *situation;     /* scratch: [A][d] */
    double *scratch;       /* for eigenvalues */
    double *uniform;       /* [H][S][A] */
    uint32_t *policy;      /* [H][S] */
    uint32_t *before;      /* [H][S]: the last one */
};

enum { BLOCK = 512 }; /* feature columns that are evaluated together: 128 KB at d = 32 */

static bool is_one_hot(const tacit__lsvi *p)
{
    return p->o.space.form == TACIT__ONE_HOT;
}

/* Returns where the factor of step h begins. */
static size_t at_step(const tacit__lsvi *p, size_t h)
{
    return p->o.space.pooled ? 0 : h * p->order;
}

void tacit__lsvi_destroy(tacit__lsvi *p)
{
    tacit__workspace_destroy(p);
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The planner with its arrays; NULL: no memory. */
static tacit__lsvi *allocate(tacit__lsvi w)
{
    const tacit__linear_space *sp = &w.o.space;
    const size_t H = sp->horizon, d = sp->dimension, S = sp->n_states, A = sp->n_actions,
                 G = tacit__gram_count(sp);
    const bool dense = !is_one_hot(&w);
    const size_t block = dense ? max_size(A, BLOCK / A * A) * d : 1;
    return TACIT__WORKSPACE(
        w, TACIT__PIECE(w.low, H), TACIT__PIECE(w.range, H), TACIT__PIECE(w.cap, H),
        TACIT__PIECE(w.factors, G * w.order), TACIT__PIECE(w.weights, H * d),
        TACIT__PIECE(w.slopes, dense ? H * d : 1),
        TACIT__PIECE(w.inverses, dense ? G * w.order : 1), TACIT__PIECE(w.reference, G),
        TACIT__PIECE(w.trial, G * w.order), TACIT__PIECE(w.kept, H * (d + 2)),
        TACIT__PIECE(w.trial_log_det, G), TACIT__PIECE(w.q, H), TACIT__PIECE(w.values, H * S),
        TACIT__PIECE(w.columns, block),
        TACIT__PIECE(w.situation, sp->form == TACIT__CARRIED ? A * d : 1),
        TACIT__PIECE(w.row, max_size(A, BLOCK)),
        TACIT__PIECE(w.scratch, dense ? tacit__floor_scratch(d) : 1),
        {&w.uniform, H * S, A * sizeof *w.uniform}, TACIT__PIECE(w.policy, H * S),
        TACIT__PIECE(w.before, H * S));
}

/* The Q function of step h from factor and weights. */
static void set_q(tacit__lsvi *p, size_t h)
{
    size_t d = p->o.space.dimension;
    p->q[h] = (tacit__optimism){.dimension = d,
                                .inverse = p->inverses + (is_one_hot(p) ? 0 : at_step(p, h)),
                                .slope = p->slopes + (is_one_hot(p) ? 0 : h * d),
                                .unit = ldexp(1, -p->o.space.feature_bits),
                                .offset = p->low[h] + p->o.center * p->range[h],
                                .scale = p->range[h],
                                .bonus = p->o.bonus,
                                .low = 0,
                                .high = p->cap[h]};
}

tacit_status tacit__lsvi_create(const tacit__lsvi_options *options, tacit__lsvi **out)
{
    const tacit__linear_space *sp = &options->space;
    const size_t d = sp->dimension, H = sp->horizon, S = sp->n_states, A = sp->n_actions;
    TACIT__REQUIRE(d > 0 && H > 0 && A > 0 && options->ridge > 0);
    tacit__lsvi *p =
        allocate((tacit__lsvi){.o = *options, .order = sp->form == TACIT__ONE_HOT ? d : d * d});
    if (p == NULL)
        return TACIT_NO_MEMORY;
    p->n.version = 1;
    for (size_t g = 0; g < tacit__gram_count(sp); g++) {
        p->reference[g] = (double)d * log(p->o.ridge); /* of no data, as the factor */
        for (size_t j = 0; j < d; j++)
            p->factors[g * p->order + (is_one_hot(p) ? j : j * d + j)] =
                is_one_hot(p) ? p->o.ridge : sqrt(p->o.ridge);
    }
    for (size_t h = 0; h < H; h++) {
        p->range[h] = p->cap[h] = options->cap[h];
        set_q(p, h);
    }
    p->o.cap = p->cap;
    for (size_t i = 0; i < H * S * A; i++)
        p->uniform[i] = 1 / (double)A;
    *out = p;
    return TACIT_OK;
}

/* --- Gram matrices ------------------------------------------------------------------------------ */

/* The factor of Gram + shift, or its diagonal; false if it has none. */
static bool factorize(const tacit__lsvi *p, const double *gram, double shift, double *out)
{
    size_t d = p->o.space.dimension;
    if (!is_one_hot(p)) {
        tacit__packed_expand(d, gram, shift, out);
        return tacit__cholesky(d, out);
    }
    bool positive = true;
    for (size_t j = 0; j < d; j++) {
        out[j] = gram[j] + shift;
        positive = positive && out[j] > 0;
    }
    return positive;
}

static double log_det_of(const tacit__lsvi *p, const double *factor)
{
    size_t d = p->o.space.dimension;
    if (!is_one_hot(p))
        return tacit__log_determinant(d, factor);
    /* products of a few, then logarithms: counts are below 2^53, so 16 factors stay below 2^1023 */
    double sum = 0, product = 1;
    for (size_t j = 0; j < d; j++) {
        product *= factor[j];
        if (j % 16 == 15 || j + 1 == d) {
            sum += log(product);
            product = 1;
        }
    }
    return sum;
}

/* Tests Gram matrix g: its factor into trial and its log-determinant. */
static void try_gram(tacit__lsvi *p, const double *gram, size_t g)
{
    const double *one = gram + g * tacit__gram_size(&p->o.space);
    double *factor = p->trial + g * p->order;
    p->trial_log_det[g] = factorize(p, one, p->o.ridge, factor) ? log_det_of(p, factor) : -HUGE_VAL;
}

double tacit__lsvi_log_det(tacit__lsvi *p, const double *gram, size_t g)
{
    TACIT__REQUIRE(g < tacit__gram_count(&p->o.space));
    p->tested = 0;
    try_gram(p, gram, g);
    return p->trial_log_det[g];
}

/* out = factor N - (gram + ridge), a lower triangle or a diagonal, where N is the matrix of the last
 * switch, whose factor is given. */
static void set_room(const tacit__lsvi *p, const double *gram, const double *last, double *out)
{
    const size_t d = p->o.space.dimension;
    if (is_one_hot(p)) {
        for (size_t j = 0; j < d; j++)
            out[j] = p->o.switch_factor * last[j] - (gram[j] + p->o.ridge);
        return;
    }
    tacit__packed_expand(d, gram, p->o.ridge, out);
    for (size_t j = 0; j < d; j++) {
        for (size_t i = j; i < d; i++)
            out[j * d + i] = -out[j * d + i];
        for (size_t k = 0; k <= j; k++) {
            const double *column = last + k * d;
            const double times = p->o.switch_factor * column[j];
            for (size_t i = j; i < d; i++)
                out[j * d + i] += times * column[i];
        }
    }
}

/* RAYLEIGH: whether Gram matrix g has reached the factor in some direction. */
static bool has_grown_somewhere(tacit__lsvi *p, const double *gram, size_t g)
{
    const size_t d = p->o.space.dimension;
    double *room = p->trial + g * p->order;
    set_room(p, gram + g * tacit__gram_size(&p->o.space), p->factors + g * p->order, room);
    if (!is_one_hot(p))
        return !tacit__cholesky(d, room);
    bool grown = false;
    for (size_t j = 0; j < d; j++)
        grown = grown || room[j] <= 0;
    return grown;
}

/* DOUBLING: whether its determinant has. */
static bool has_grown_in_volume(tacit__lsvi *p, const double *gram, size_t g)
{
    p->tested = g + 1;
    try_gram(p, gram, g);
    return p->trial_log_det[g] >= p->reference[g] + log(p->o.switch_factor);
}

bool tacit__lsvi_is_due(tacit__lsvi *p, const double *gram)
{
    TACIT__REQUIRE(gram != NULL);
    p->tested = 0;
    if (p->n.switches == p->o.switches)
        return false;
    bool due = !tacit__lsvi_watches(p->o.schedule);
    for (size_t g = 0; g < tacit__gram_count(&p->o.space) && !due; g++)
        due = p->o.schedule == TACIT__RAYLEIGH ? has_grown_somewhere(p, gram, g)
                                               : has_grown_in_volume(p, gram, g);
    return due;
}

/* Raises the eigenvalues of Gram matrix `at` to the floor where they are below. */
static void raise_eigenvalues(tacit__lsvi *p, const double *gram, size_t at)
{
    size_t d = p->o.space.dimension;
    const double *g = gram + at * tacit__gram_size(&p->o.space);
    double *factor = p->trial + at * p->order;
    if (is_one_hot(p)) {
        for (size_t j = 0; j < d; j++)
            factor[j] = fmax(g[j] + p->o.ridge, p->o.floor);
        return;
    }
    if (p->o.floor > 0 && !factorize(p, g, p->o.ridge - p->o.floor, factor)) {
        tacit__packed_expand(d, g, p->o.ridge, factor);
        (void)tacit__eigen_floor(d, factor, p->o.floor, p->scratch);
        if (tacit__cholesky(d, factor))
            return;
        /* rounding has eaten a floor that is tiny against the largest eigenvalue: fall back on the
         * ridge alone */
        memset(factor, 0, d * d * sizeof *factor);
        for (size_t j = 0; j < d; j++)
            factor[j * d + j] = sqrt(p->o.ridge);
        return;
    }
    (void)factorize(p, g, p->o.ridge, factor); /* more than the floor, which had a root */
}

static void swap_factors(tacit__lsvi *p)
{
    double *swap = p->factors;
    p->factors = p->trial;
    p->trial = swap;
    p->tested = 0;
}

/* The factor of Gram matrix g for a new policy, into trial, and what later ones are compared with. */
static void prepare(tacit__lsvi *p, const double *gram, size_t g)
{
    double *factor = p->trial + g * p->order;
    const bool doubling = p->o.schedule == TACIT__DOUBLING;
    if (doubling && g >= p->tested)
        try_gram(p, gram, g);
    if (doubling)
        p->reference[g] = fmax(p->reference[g], p->trial_log_det[g]);
    if (p->o.floor > 0)
        raise_eigenvalues(p, gram, g);
    else if (!doubling) /* exact sums and a ridge: always has a root */
        (void)factorize(p, gram + g * tacit__gram_size(&p->o.space), p->o.ridge, factor);
    if (doubling && p->o.from_last)
        p->reference[g] = log_det_of(p, factor);
}

void tacit__lsvi_begin(tacit__lsvi *p, const double *gram)
{
    TACIT__REQUIRE(gram != NULL);
    size_t H = p->o.space.horizon, d = p->o.space.dimension;
    for (size_t g = 0; g < tacit__gram_count(&p->o.space); g++)
        prepare(p, gram, g);
    memcpy(p->kept, p->weights, H * d * sizeof *p->kept);
    memcpy(p->kept + H * d, p->low, H * sizeof *p->kept);
    memcpy(p->kept + H * (d + 1), p->range, H * sizeof *p->kept);
    swap_factors(p);
}

/* --- Values -------------------------------------------------------------------------------------- */

tacit__lsvi_values tacit__lsvi_next(const tacit__lsvi *p, size_t h)
{
    TACIT__REQUIRE(h < p->o.space.horizon);
    tacit__lsvi_values v = {NULL, NULL};
    if (h + 1 == p->o.space.horizon)
        return v;
    if (p->o.space.form == TACIT__CARRIED)
        v.function = &p->q[h + 1];
    else
        v.table = p->values + (h + 1) * p->o.space.n_states;
    return v;
}

/* Q of `n` pairs from pair `first` on, into p->row. */
static void evaluate(tacit__lsvi *p, size_t h, size_t first, size_t n)
{
    size_t d = p->o.space.dimension;
    if (!is_one_hot(p)) {
        tacit__optimism_evaluate(&p->q[h], n, p->o.space.table + first * d, p->columns, p->row);
        return;
    }
    const double *w = p->weights + h * d, *diagonal = p->factors + at_step(p, h);
    for (size_t i = 0; i < n; i++)
        p->row[i] = tacit__optimism_cut(&p->q[h], w[first + i], 1 / sqrt(diagonal[first + i]));
}

/* V_h and the greedy policy on all numbered states, a block of whole states at a time. */
static void tabulate(tacit__lsvi *p, size_t h)
{
    size_t S = p->o.space.n_states, A = p->o.space.n_actions, most = max_size(1, BLOCK / A);
    double *values = p->values + h * S;
    uint32_t *policy = p->policy + h * S;
    for (size_t s = 0; s < S; s += most) {
        size_t n = S - s < most ? S - s : most;
        evaluate(p, h, s * A, n * A);
        for (size_t i = 0; i < n; i++) {
            const double *q = p->row + i * A;
            uint32_t best = 0;
            for (uint32_t a = 1; a < A; a++)
                best = q[a] > q[best] ? a : best;
            values[s + i] = q[best];
            policy[s + i] = best;
        }
    }
}

/* Computes what follows from factors and weights at step h. */
static void complete(tacit__lsvi *p, size_t h)
{
    size_t d = p->o.space.dimension;
    set_q(p, h);
    if (!is_one_hot(p)) {
        const double *factor = p->factors + at_step(p, h);
        if (!p->o.space.pooled || h + 1 == p->o.space.horizon)
            tacit__invert_lower(d, factor, p->inverses + at_step(p, h));
        tacit__optimism_slope(d, factor, p->weights + h * d, p->slopes + h * d);
    }
    if (p->o.space.form != TACIT__CARRIED)
        tabulate(p, h);
}

void tacit__lsvi_fit(tacit__lsvi *p, size_t h, const double *response, tacit__target_unit unit)
{
    TACIT__REQUIRE(h < p->o.space.horizon && response != NULL);
    size_t d = p->o.space.dimension;
    double *w = p->weights + h * d;
    const double *factor = p->factors + at_step(p, h);
    memcpy(w, response, d * sizeof *w);
    if (is_one_hot(p))
        for (size_t j = 0; j < d; j++)
            w[j] /= factor[j];
    else
        tacit__solve(d, factor, w);
    p->low[h] = unit.low;
    p->range[h] = unit.range;
    complete(p, h);
}

void tacit__lsvi_end(tacit__lsvi *p)
{
    size_t bytes = p->o.space.horizon * p->o.space.n_states * sizeof *p->policy;
    p->n.switches++;
    if (p->n.switches > 1 && bytes > 0 && memcmp(p->policy, p->before, bytes) == 0)
        return;
    p->n.version++;
    memcpy(p->before, p->policy, bytes);
}

void tacit__lsvi_cancel(tacit__lsvi *p)
{
    const size_t H = p->o.space.horizon, d = p->o.space.dimension;
    memcpy(p->weights, p->kept, H * d * sizeof *p->kept);
    memcpy(p->low, p->kept + H * d, H * sizeof *p->kept);
    memcpy(p->range, p->kept + H * (d + 1), H * sizeof *p->kept);
    swap_factors(p);
    for (size_t h = H; h-- > 0 && p->n.switches > 0;)
        complete(p, h);
}

tacit_billboard tacit__lsvi_board(const tacit__lsvi *p)
{
    tacit_billboard board = {.version = p->n.version};
    if (p->o.space.form == TACIT__CARRIED)
        return board;
    if (p->n.switches > 0)
        board.policy = p->policy;
    else
        board.mixed = p->uniform;
    return board;
}

void tacit__lsvi_act(tacit__lsvi *p, size_t h, const double *features, double chance,
                     uint32_t *action, double *probability)
{
    TACIT__REQUIRE(h < p->o.space.horizon && chance >= 0 && chance < 1);
    size_t d = p->o.space.dimension, A = p->o.space.n_actions;
    if (p->n.switches == 0) {
        size_t a = (size_t)(chance * (double)A);
        *action = (uint32_t)(a < A ? a : A - 1);
        *probability = 1 / (double)A;
        return;
    }
    double steps = ldexp(1 / p->o.space.bound, p->o.space.feature_bits);
    for (size_t i = 0; i < A * d; i++)
        p->situation[i] = trunc(features[i] * steps);
    tacit__optimism_evaluate(&p->q[h], A, p->situation, p->columns, p->row);
    *action = 0;
    *probability = 1;
    for (uint32_t a = 1; a < A; a++)
        *action = p->row[a] > p->row[*action] ? a : *action;
}

bool tacit__lsvi_is_done(const tacit__lsvi *p)
{
    return p->n.switches == p->o.switches;
}

void tacit__lsvi_fields(tacit__lsvi *p, tacit__saved *s)
{
    const size_t H = p->o.space.horizon, d = p->o.space.dimension;
    counters n = p->n;
    tacit__saved_value(s, &n, sizeof n);
    tacit__saved_check(s, n.switches <= p->o.switches && n.version <= n.switches + 1 &&
                              n.version >= 1 + (n.switches > 0));
    const size_t G = tacit__gram_count(&p->o.space);
    tacit__saved_reals(s, p->factors, G * p->order, DBL_MAX);
    tacit__saved_reals(s, p->weights, H * d, DBL_MAX);
    tacit__saved_reals(s, p->low, H, DBL_MAX);
    tacit__saved_reals(s, p->range, H, DBL_MAX);
    tacit__saved_reals(s, p->reference, G, DBL_MAX);
    tacit__saved_indices(s, p->before, H * p->o.space.n_states, p->o.space.n_actions);
    if (s->pass != TACIT__APPLY)
        return;
    p->n = n;
    for (size_t h = H; h-- > 0 && n.switches > 0;)
        complete(p, h);
}
