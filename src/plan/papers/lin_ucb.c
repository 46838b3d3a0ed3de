/* LinUCB. See lin_ucb.h.
 *
 * Exact sums [APS11, Thm. 2]: H = lambda I + V, theta = H^-1 u, play the largest x . theta + omega
 * beta |x|_{H^-1} with
 *     beta = R sqrt(2 ln(2 / p) + ln det H - d ln lambda) + S sqrt(lambda),     R = 1 for rewards in [-1, 1].
 *
 * Noisy sums [SS18] (docs/why/kernel.md#widths-of-linear-bandits): st is the standard deviation of
 * the noise in every packed coordinate, and
 *     Y = st (sqrt(2 d) + sqrt(2 ln(4 T / p)))
 * bounds its operator norm; H = V + N + (lambda + shift Y) I. With shift 2 the noise and what was
 * added have a spectrum in [lambda + Y, lambda + 3 Y] = [low, high], and
 *     beta = R sqrt(2 ln(2 / p) + (ln det H - d ln low)^+) + S sqrt(high) + gamma,
 *     gamma = sr (sqrt(d) + sqrt(2 ln(4 T / p))) / sqrt(low),      sr: of the response's noise.
 * A smaller shift is a choice of practice: H is then repaired by raising eigenvalues to lambda +
 * shift Y where it is not positive definite, which like everything here is computed from releases.
 *
 * The factor L of H is kept, never its inverse: theta = L^-T L^-1 u, and |x|_{H^-1} = |L^-1 x|. Exact sums
 * are followed by rank-one updates, d^2 for a user; noisy ones are factorized anew. `act` reads the factor as
 * panels (linalg/forms.h), which are made at every look. They are in single precision: a mean x . theta is
 * computed in doubles, and a width need not be known better. */
#include "plan/papers/lin_ucb.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/forms.h"
#include "linalg/symmetric.h"

typedef struct block {
    double *factor, *pivots; /* NULL in a copy that acts */
    float *panels;           /* the same as linalg/forms.h wants it */
    double *theta;
    double log_det, beta;
} block;

struct tacit__lin_ucb {
    tacit__lin_ucb_options o;
    block *blocks;
    uint64_t version;
    bool started;
    double *x, *floor;
};

/* `learns`: it is updated, and does not only act. */
static tacit_status create(const tacit__lin_ucb_options *options, bool learns, tacit__lin_ucb **out)
{
    const size_t d = options->dimension, n = options->blocks;
    TACIT__REQUIRE(d > 0 && n > 0 && options->regularizer > 0);
    tacit__lin_ucb w = {.o = *options};
    /* Blocks lie one after the other, each at the beginning of a cache line. */
    const size_t square = (d * d + 7) / 8 * 8, line = (d + 7) / 8 * 8, real = sizeof(double),
                 panel = tacit__panels_size(d), kept = learns ? real : 0;
    double *factors, *pivots, *thetas;
    float *panels;
    tacit__lin_ucb *p = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.blocks, n), TACIT__PIECE(w.x, d),
        {&w.floor, tacit__floor_scratch(d), kept}, {&factors, n, square * kept},
        {&pivots, n, line * kept}, {&panels, n, panel * sizeof *panels}, {&thetas, n, line * real});
    if (p == NULL)
        return TACIT_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        p->blocks[i].factor = learns ? factors + i * square : NULL;
        p->blocks[i].pivots = learns ? pivots + i * line : NULL;
        p->blocks[i].panels = panels + i * panel;
        p->blocks[i].theta = thetas + i * line;
    }
    *out = p;
    return TACIT_OK;
}

tacit_status tacit__lin_ucb_create(const tacit__lin_ucb_options *options, tacit__lin_ucb **out)
{
    return create(options, true, out);
}

void tacit__lin_ucb_destroy(tacit__lin_ucb *p)
{
    tacit__workspace_destroy(p);
}

/* The effect of the noise on the confidence set. */
typedef struct spread {
    double added;     /* to the diagonal */
    double low, high; /* spectrum of noise and what was added */
    double gamma;
} spread;

static spread spread_of(const tacit__lin_ucb *p, const tacit__moments *m)
{
    const tacit__lin_ucb_options *o = &p->o;
    double lambda = o->regularizer, d = (double)o->dimension;
    if (m->gram_stddev <= 0)
        return (spread){lambda, lambda, lambda, 0};
    double tail = sqrt(2 * log(4 * (double)o->users / o->failure));
    double norm = m->gram_stddev * (sqrt(2 * d) + tail);
    spread s = {.added = lambda + o->shift * norm,
                .low = fmax(lambda + (o->shift - 1) * norm, (lambda + o->shift * norm) / 2),
                .high = lambda + (o->shift + 1) * norm};
    s.gamma = m->response_stddev * (sqrt(d) + tail) / sqrt(s.low);
    return s;
}

static void set_beta(const tacit__lin_ucb *p, block *b, const spread *s)
{
    double d = (double)p->o.dimension;
    double grown = fmax(0, b->log_det - d * log(s->low));
    b->beta =
        sqrt(2 * log(2 / p->o.failure) + grown) + p->o.parameter_norm * sqrt(s->high) + s->gamma;
}

static void set_pivots(const tacit__lin_ucb *p, block *b)
{
    const size_t d = p->o.dimension;
    for (size_t j = 0; j < d; j++)
        b->pivots[j] = 1 / b->factor[j * d + j];
    b->log_det = tacit__log_determinant(d, b->factor);
}

/* Computes what follows from the factor and the response: theta and the panels. */
static void set_response(const tacit__lin_ucb *p, block *b, const double *response)
{
    const size_t d = p->o.dimension;
    memcpy(b->theta, response, d * sizeof *b->theta);
    tacit__solve_lower_pivots(d, b->factor, b->pivots, b->theta);
    tacit__solve_upper(d, b->factor, b->theta);
    tacit__panels_pack(d, b->factor, b->pivots, b->panels);
}

/* Where eigenvalues are to be raised, returns true if none of them is below the floor; the factor is
 * then that of the matrix as it is. A Cholesky of the matrix minus the floor tells it for a fraction of
 * what eigenvalues cost. */
static bool is_above(tacit__lin_ucb *p, const double *gram, double floor, double *factor)
{
    const size_t d = p->o.dimension;
    tacit__packed_expand(d, gram, -floor, factor);
    if (!tacit__cholesky(d, factor))
        return false;
    tacit__packed_expand(d, gram, 0, factor);
    return tacit__cholesky(d, factor);
}

static void factorize(tacit__lin_ucb *p, const tacit__moments *m, size_t i, const spread *s)
{
    const size_t d = p->o.dimension;
    block *b = &p->blocks[i];
    const double *gram = m->gram + i * tacit__packed_size(d);
    bool raise = m->gram_stddev > 0 && p->o.raise, done;
    if (raise) {
        done = is_above(p, gram, s->added, b->factor);
    } else {
        tacit__packed_expand(d, gram, s->added, b->factor);
        done = tacit__cholesky(d, b->factor);
    }
    if (!done) {
        tacit__packed_expand(d, gram, raise ? 0 : s->added, b->factor);
        (void)tacit__eigen_floor(d, b->factor, s->added, p->floor);
        /* A floor above 0 leaves nothing to fail; should rounding, the diagonal alone will do. */
        if (!tacit__cholesky(d, b->factor)) {
            memset(b->factor, 0, d * d * sizeof *b->factor);
            for (size_t j = 0; j < d; j++)
                b->factor[j * d + j] = sqrt(s->high + (double)m->users);
        }
    }
    set_pivots(p, b);
    set_response(p, b, m->response + i * d);
    set_beta(p, b, s);
}

/* One more user in an exact sum. */
static void update_block(tacit__lin_ucb *p, const tacit__moments *m, const spread *s)
{
    const size_t d = p->o.dimension;
    block *b = &p->blocks[m->last_block];
    double q = 0;
    memcpy(p->x, m->last, d * sizeof *p->x);
    tacit__solve_lower_pivots(d, b->factor, b->pivots, p->x);
    for (size_t i = 0; i < d; i++)
        q += p->x[i] * p->x[i];
    b->log_det += log1p(q);
    memcpy(p->x, m->last, d * sizeof *p->x);
    tacit__cholesky_add(d, b->factor, b->pivots, p->x);
    set_response(p, b, m->response + m->last_block * d);
    set_beta(p, b, s);
}

bool tacit__lin_ucb_update(tacit__lin_ucb *p, const tacit__moments *m)
{
    TACIT__REQUIRE(m->gram != NULL && m->response != NULL);
    if (p->started && m->version == p->version)
        return false;
    spread s = spread_of(p, m);
    if (p->started && m->last != NULL && m->version == p->version + 1) {
        update_block(p, m, &s);
    } else {
        for (size_t i = 0; i < p->o.blocks; i++)
            factorize(p, m, i, &s);
    }
    p->started = true;
    p->version = m->version;
    return true;
}

size_t tacit__lin_ucb_act_scratch(const tacit__lin_ucb *p)
{
    return (tacit__forms_scratch(p->o.dimension) + 1) / 2 + 2 * p->o.n_actions;
}

uint32_t tacit__lin_ucb_act(const tacit__lin_ucb *p, const double *features, double chance,
                            double *probability, double *scores, double *scratch)
{
    TACIT__REQUIRE(chance >= 0 && chance < 1);
    const size_t d = p->o.dimension, n = p->o.n_actions;
    double *inner = scratch, *square = inner + n;
    float *forms = (float *)(void *)(square + n);
    if (p->o.blocks == 1) {
        const block *b = &p->blocks[0];
        tacit__forms(d, n, b->panels, b->theta, features, forms, inner, square);
    }
    double best = -HUGE_VAL;
    uint32_t ties = 0;
    for (size_t a = 0; a < n; a++) {
        const block *b = &p->blocks[p->o.blocks == 1 ? 0 : a];
        if (p->o.blocks > 1)
            tacit__forms(d, 1, b->panels, b->theta, features, forms, &inner[a], &square[a]);
        scores[a] = inner[a] + p->o.bonus_scale * b->beta * sqrt(square[a]);
        if (isnan(scores[a])) /* a model from elsewhere may be so large that it cancels out */
            scores[a] = -HUGE_VAL;
        if (scores[a] > best) {
            best = scores[a];
            ties = 0;
        }
        ties += scores[a] == best;
    }
    uint32_t wanted = (uint32_t)(chance * ties), action = 0;
    for (uint32_t a = 0; a < n; a++)
        if (scores[a] == best && wanted-- == 0)
            action = a;
    *probability = 1 / (double)ties;
    return action;
}

void tacit__lin_ucb_estimate(const tacit__lin_ucb *p, size_t i, double *theta, double *beta)
{
    TACIT__REQUIRE(i < p->o.blocks);
    const block *b = &p->blocks[i];
    memcpy(theta, b->theta, p->o.dimension * sizeof *theta);
    *beta = b->beta;
}

/* --- Saving ---------------------------------------------------------------------------------------- */

#define MOST 1e60 /* of any number: products of four of them are finite */

tacit_status tacit__lin_ucb_copy(const tacit__lin_ucb *p, tacit__lin_ucb **out)
{
    const size_t d = p->o.dimension;
    tacit_status status = create(&p->o, false, out);
    for (size_t i = 0; i < p->o.blocks && status == TACIT_OK; i++) {
        const block *from = &p->blocks[i];
        block *to = &(*out)->blocks[i];
        memcpy(to->panels, from->panels, tacit__panels_size(d) * sizeof *to->panels);
        memcpy(to->theta, from->theta, d * sizeof *to->theta);
        to->beta = from->beta;
    }
    if (status == TACIT_OK) {
        (*out)->version = p->version;
        (*out)->started = p->started;
    }
    return status;
}

/* Numbers that scores can be made of: finite, and once there were matrices, their factors can be divided
 * by. */
void tacit__lin_ucb_fields(tacit__lin_ucb *p, tacit__saved *s)
{
    const size_t d = p->o.dimension;
    uint64_t version = p->version, started = p->started;
    tacit__saved_value(s, &version, sizeof version);
    tacit__saved_value(s, &started, sizeof started);
    tacit__saved_check(s, started <= 1 && version <= TACIT__MOST_COUNT);
    for (size_t i = 0; i < p->o.blocks; i++) {
        block *b = &p->blocks[i];
        const void *factor = tacit__saved_reals(s, b->factor, d * d, MOST);
        for (size_t j = 0; j < d && factor != NULL && started; j++)
            tacit__saved_check(s, tacit__real_at(factor, j * (d + 1)) >= 1 / MOST);
        tacit__saved_reals(s, b->pivots, d, MOST);
        tacit__saved_reals(s, b->theta, d, MOST);
        tacit__saved_reals(s, &b->log_det, 1, MOST);
        tacit__saved_reals(s, &b->beta, 1, MOST);
        if (s->pass == TACIT__APPLY)
            tacit__panels_pack(d, b->factor, b->pivots, b->panels);
    }
    if (s->pass == TACIT__APPLY) {
        p->version = version;
        p->started = started != 0;
    }
}
