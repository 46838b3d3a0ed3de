/* UCBVI [AOM17] and DP-UCBVI [QW23, Algorithm 1]: one planner, since the second is the first on noisy
 * counts.
 *
 * Estimates. Each row of counts is made valid (project.c), shifted so that visits are not underestimated when
 * the errors are as declared, and normalized:
 *     Nt(s,a,s') = x_s' + 2 e_N / S,   Nt = sum Nt(.,s'),   Pt = Nt(.,s') / Nt,   rt = clip(c + R / Nt, 0, 1).
 * Without noise x = M; the shift is then floored at 1e-9 / S, so that no pair is special. Nothing
 * follows the last step: where its moves are not counted (drop_last), Nt = max(N, 0) + 2 e_N there,
 * which is within [N, N + 4 e_N] as well.
 *
 * Bonus. With n = Nt, H' = H - h the range of V_{h+1}, c the bonus scale and e the error levels:
 *     noise       [H'(S e_P + 3 e_N) + e_R + 2 e_N] / n
 *     practical   c (2 sqrt(Var i / n) + sqrt(2 i / n)) + e sqrt(s_P^2 sum_s' (V(s') - Pt V)^2 + s_R^2) / (n + s_N)
 *     bernstein   c (2 sqrt(Var i / n) + sqrt(2 i / n)) + noise
 *     hoeffding   c (1 + H') sqrt(L / (2n)) + noise                                        (proven at c = 1)
 *     certificate c (sqrt(L/(2n)) + 2 sqrt L [sqrt(Var/n) + sqrt(sum Pt (V-V_)^2 / n)] + 14 H' L/(3n))
 *                 + 2 sqrt L H' sqrt(2 S e_P) / n + noise                                  (proven at c = 1)
 *     printed     c (2 sqrt(Var i / n) + sqrt(2 i / n) + 4 sqrt(i sum Pt min(G, H^2) / n)) + 20 H S E i / n
 *     azar 1      c 7 H L / sqrt n
 *     azar 2      c (sqrt(8 L Var/n) + 14 H L/(3n) + sqrt(8/n sum Pt min(100^2 H^3 S^2 A L^2/n', H^2)) + sqrt(2L/n))
 * where s are the standard deviations of the noise and e is the error scale: the last term of
 * `practical` is by how much noise moves the estimate, to first order. It has none of the union bounds, of
 * the sums over all states and of the largest values that levels have, so that a factor of 10 in e hardly
 * matters (docs/why/tabular.md#what-the-noise-is-worth), where one in the levels does. It needs neither
 * slack nor shift, and noisy moves below `threshold` sqrt(2 ln S) s_P are taken for 0, if any move of the
 * row is left: most states never follow a pair, and would each bring noise along. Noise is below that
 * threshold everywhere in a row in most rows [DJ94].
 *
 * Without noise the term sqrt(2 i / n) of `practical`, times c < 1, would leave an action for good after a
 * few bad rewards, if many others are nearly as good. It is never below what Bernstein's inequality asks for
 * at one step, f sqrt(2 (r (1 - r) + 1 / (4n)) ln(k) / n) after k users, whose logarithm never stops to
 * grow; f = 1 at one step, and max(1/2, 1 / sqrt(H)) at H steps, whose errors are not all on the same side.
 * Noisy counts change with every release, and leave nothing for good.
 *
 * So every Q is  fixed + H' slope + E V + spread sqrt(Var)  [+ a term in a second moment]. The
 * logarithms are those of the papers; E = max(4 e_N, 4 e_P, e_R) in `printed`, at least 2 (its
 * lemmas need that).
 *
 * Cost: H S A (2 S + 8) flops for the induction, S A (S log S + 6 S) for each table whose counts
 * changed. */
#include "plan/papers/ucbvi.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "plan/induct.h"
#include "plan/noisy_rows.h"
#include "plan/project.h"

#define LEAST_SHIFT 1e-9

typedef struct ucbvi {
    tacit__induction in;
    tacit__ucbvi_bonus bonus;
    size_t rows;                  /* tables * pairs */
    double *visits, *reward;      /* [row]: Nt, rt */
    double *spread;               /* [row]: what multiplies sqrt(Var) */
    double *seen;                 /* [row]: exact visits when the row was last computed, or NaN */
    double *line, *sorted;        /* [S] scratch */
    double *left;                 /* threshold > 0: [rows of a few blocks][S] scratch */
    double threshold;             /* of noisy moves, in s_P; 0: none */
    double *lower;                /* [H + 1][S], certificate: the lower values */
    double *extra, *extra_mean;   /* [S], [block][8]: second moment that some bonuses add */
    const tacit__counts *release; /* during a plan */
    double log_term;              /* i, L, L' or L_B */
    double visits_error, moves_error, rewards_error; /* of the last release, scaled */
} ucbvi;

const char *const tacit__ucbvi_bonuses[] = {
    "bernstein",      "hoeffding",      "certificate", "printed",
    "azar-hoeffding", "azar-bernstein", "practical",   NULL};

static double log_of(const tacit__planner_options *o, tacit__ucbvi_bonus bonus, tacit__space sp)
{
    double h = (double)sp.horizon, s = (double)sp.n_states, a = (double)sp.n_actions;
    double k = (double)o->episodes, samples = sp.tables == 1 ? k * h : k;
    switch (bonus) {
    case TACIT__BONUS_HOEFFDING:
        return log(6 * h * s * a * samples / o->failure);
    case TACIT__BONUS_CERTIFICATE:
        return log(9 * h * s * a * samples / o->failure);
    case TACIT__BONUS_AZAR_HOEFFDING:
    case TACIT__BONUS_AZAR_BERNSTEIN:
        return log(5 * (sp.tables == 1 ? 1 : h) * s * a * k * h / o->failure);
    default: /* [QW23], line 2; the union bound of its Lemma B.4 needs max(H, S) */
        return log(30 * h * s * a * k * (o->whole ? h : fmax(h, s)) / o->failure);
    }
}

/* The bonus that was asked for, or else the one that learns soonest; at the theorem's scale a
 * proven one, or the paper's. -1 with an error. */
static int read_bonus(const tacit__planner_options *o, const tacit__values *own, tacit_error *err)
{
    if (tacit__value_of(own, "bonus")->given)
        return tacit__value_choose(own, "bonus", tacit__ucbvi_bonuses, err);
    if (o->whole)
        return TACIT__BONUS_PRINTED;
    if (o->bonus_scale < 1)
        return o->reproduces ? TACIT__BONUS_BERNSTEIN : TACIT__BONUS_PRACTICAL;
    return o->published ? TACIT__BONUS_PRINTED : TACIT__BONUS_HOEFFDING;
}

static tacit_status create(tacit__space space, const tacit__planner_options *o,
                           const tacit__values *own, void **out, tacit_error *err)
{
    TACIT__REQUIRE(o->episodes > 0);
    const int bonus = read_bonus(o, own, err);
    if (bonus < 0)
        return TACIT_BAD_ARGUMENT;
    const int monotone = tacit__value_choose(own, "monotone", tacit__auto_yes_no, err);
    if (monotone < 0)
        return TACIT_BAD_ARGUMENT;
    const tacit__value *given = tacit__value_find(own, "threshold");
    const double threshold = given != NULL && given->given     ? given->real
                             : bonus == TACIT__BONUS_PRACTICAL ? 1
                                                               : 0;
    const size_t kept = o->sparse ? 0 : o->fresh ? 1 : space.tables, n_states = space.n_states;
    ucbvi w = {.in = tacit__induction_begin(
                   space, o, kept,
                   monotone == TACIT__YES ||
                       (monotone == TACIT__AUTO && (o->whole || o->bonus_scale >= 1))),
               .bonus = (tacit__ucbvi_bonus)bonus,
               .rows = space.tables * n_states * space.n_actions,
               .threshold = threshold * tacit__noise_threshold(n_states),
               .log_term = log_of(o, (tacit__ucbvi_bonus)bonus, space)};
    const tacit__piece arrays[] = {TACIT__PIECE(w.visits, w.rows),
                                   TACIT__PIECE(w.reward, w.rows),
                                   TACIT__PIECE(w.spread, w.rows),
                                   TACIT__PIECE(w.seen, w.rows),
                                   TACIT__PIECE(w.line, n_states),
                                   TACIT__PIECE(w.sorted, n_states),
                                   TACIT__PIECE_IF(o->fresh && w.threshold > 0, w.left,
                                                   TACIT__BLOCK * TACIT__PROJECT_BLOCKS * n_states),
                                   TACIT__PIECE(w.lower, (space.horizon + 1) * n_states),
                                   TACIT__PIECE(w.extra, n_states),
                                   TACIT__PIECE(w.extra_mean, w.in.blocks * TACIT__BLOCK)};
    void *placed;
    TRY(tacit__induction_allocate(&w, sizeof w, arrays, sizeof arrays / sizeof *arrays, &placed));
    ucbvi *p = placed;
    for (size_t i = 0; i < p->rows; i++)
        p->seen[i] = (double)NAN;
    *out = p;
    return TACIT_OK;
}

/* The single error level E of [QW23]: four times the counters', and at least what its lemmas need. */
static double printed_error(const ucbvi *p)
{
    return fmax(2, fmax(4 * fmax(p->visits_error, p->moves_error), p->rewards_error));
}

static void set_reward(ucbvi *p, const tacit__counts *c, size_t row, double total)
{
    double reward = c->center + c->rewards[row] / total;
    p->visits[row] = total;
    p->reward[row] = reward < 0 ? 0 : reward > 1 ? 1 : reward;
}

/* The moves of this table are not counted. */
static bool is_without_moves(const ucbvi *p, const tacit__counts *c, size_t table)
{
    return c->drop_last && table + 1 == p->in.space.tables;
}

/* A row of such a table to Nt and rt. */
static void estimate_without_moves(ucbvi *p, const tacit__counts *c, size_t row)
{
    set_reward(p, c, row, fmax(c->visits[row], 0) + fmax(2 * p->visits_error, LEAST_SHIFT));
}

/* One row of counts to Nt, Pt, rt. */
static void estimate(ucbvi *p, const tacit__counts *c, size_t row, double visits)
{
    const size_t n_states = p->in.space.n_states;
    const double *y = c->moves + row * n_states;
    double shift = fmax(2 * p->visits_error, LEAST_SHIFT) / (double)n_states, total = 0;
    tacit__project_counts(y, n_states, visits, p->visits_error, p->sorted, p->line);
    for (size_t next = 0; next < n_states; next++) {
        p->line[next] = p->line[next] + shift;
        total += p->line[next];
    }
    const double inverse = 1 / total;
    double *transitions = tacit__induction_row(&p->in, row);
    for (size_t next = 0; next < n_states; next++)
        transitions[next * TACIT__BLOCK] = p->line[next] * inverse;
    set_reward(p, c, row, total);
}

/* The same for some blocks of pairs. Idle lanes repeat the last pair. */
static void estimate_blocks(ucbvi *p, const tacit__counts *c, size_t table, size_t block,
                            size_t blocks)
{
    static_assert((int)TACIT__BLOCK == (int)TACIT__PROJECT_ROWS, "a block is projected at once");
    const size_t n_states = p->in.space.n_states, pairs = p->in.pairs;
    const double shift = fmax(2 * p->visits_error, LEAST_SHIFT) / (double)n_states;
    const size_t first = table * pairs + block * TACIT__BLOCK, last = (table + 1) * pairs - 1;
    const double *y[TACIT__BLOCK * TACIT__PROJECT_BLOCKS];
    double visits[TACIT__BLOCK * TACIT__PROJECT_BLOCKS];
    double totals[TACIT__BLOCK * TACIT__PROJECT_BLOCKS];
    for (size_t r = 0; r < blocks * TACIT__BLOCK; r++) {
        const size_t row = first + r < last ? first + r : last;
        y[r] = c->moves + row * n_states;
        if (p->left != NULL)
            y[r] = tacit__leave_large(y[r], n_states, p->threshold * c->moves_stddev,
                                      p->left + r * n_states);
        visits[r] = c->visits[row];
    }
    tacit__project_rows(blocks, y, n_states, visits, p->visits_error, shift, p->sorted, totals,
                        tacit__induction_block(&p->in, table, block));
    for (size_t r = 0; r < blocks * TACIT__BLOCK && first + r <= last; r++)
        set_reward(p, c, first + r, totals[r]);
}

/* fixed, slope and spread are linear in 1/sqrt(n) and 1/n; these are the coefficients, for one release. */
typedef struct widths {
    double fixed_root, fixed_inverse, slope_root, slope_inverse, spread_root;
} widths;

static widths widths_of(const ucbvi *p)
{
    const double h = (double)p->in.space.horizon, s = (double)p->in.space.n_states;
    const double c = p->in.options.bonus_scale, l = p->log_term;
    const double noise = p->rewards_error + 2 * p->visits_error;
    double noise_slope = s * p->moves_error + 3 * p->visits_error;
    const double root = c * sqrt(l), half = c * sqrt(l / 2), twice = c * sqrt(2 * l);
    widths w = {0};
    switch (p->bonus) {
    case TACIT__BONUS_BERNSTEIN:
    case TACIT__BONUS_PRACTICAL: /* the levels are 0 */
        w = (widths){.fixed_root = twice,
                     .fixed_inverse = noise,
                     .slope_inverse = noise_slope,
                     .spread_root = 2 * root};
        break;
    case TACIT__BONUS_HOEFFDING:
        w = (widths){.fixed_root = half,
                     .fixed_inverse = noise,
                     .slope_root = half,
                     .slope_inverse = noise_slope};
        break;
    case TACIT__BONUS_CERTIFICATE:
        noise_slope += c * 14 * l / 3 + 2 * sqrt(2 * s * p->moves_error * l);
        w = (widths){.fixed_root = half,
                     .fixed_inverse = noise,
                     .slope_inverse = noise_slope,
                     .spread_root = 2 * root};
        break;
    case TACIT__BONUS_PRINTED:
        w = (widths){.fixed_root = twice,
                     .fixed_inverse = 20 * h * s * printed_error(p) * l,
                     .spread_root = 2 * root};
        break;
    case TACIT__BONUS_AZAR_HOEFFDING:
        w = (widths){.fixed_root = c * 7 * h * l};
        break;
    case TACIT__BONUS_AZAR_BERNSTEIN:
        w = (widths){
            .fixed_root = twice, .fixed_inverse = c * 14 * h * l / 3, .spread_root = 2 * twice};
        break;
    }
    return w;
}

/* Raises the widths of rewards to the least that they may be; see the head. */
static void raise_rewards(const ucbvi *p, double users)
{
    const double h = (double)p->in.space.horizon, factor = fmax(0.5, 1 / sqrt(h)),
                 least = factor * sqrt(2 * log(users + 2)),
                 width = p->in.options.bonus_scale * sqrt(2 * p->log_term);
    for (size_t i = 0; i < p->rows; i++) {
        const double inverse = 1 / p->visits[i], r = p->reward[i];
        const double more = least * sqrt(r * (1 - r) + 0.25 * inverse) - width;
        if (more > 0)
            p->in.fixed[i] += more * sqrt(inverse);
    }
}

/* The parts of the bonus that do not depend on the values, for the rows first .. last-1. */
static void fill_bonus(ucbvi *p, size_t first, size_t last)
{
    const widths w = widths_of(p);
    const double *restrict visits = p->visits, *restrict reward = p->reward;
    double *restrict fixed = p->in.fixed, *restrict slope = p->in.slope,
                     *restrict spread = p->spread;
    for (size_t i = first; i < last; i++) {
        double inverse = 1 / visits[i], root = sqrt(inverse);
        fixed[i] = reward[i] + w.fixed_root * root + w.fixed_inverse * inverse;
        slope[i] = w.slope_root * root + w.slope_inverse * inverse;
        spread[i] = w.spread_root * root;
    }
}

/* sum over next states of Pt g(s'), and of Pt g(s')^2 if wanted, for all pairs of a table of lists.
 * A next state that never followed has its share of the least shift, as in a dense table. */
static void expect_sparse(const ucbvi *p, size_t table, const double *g, double *mean,
                          double *square)
{
    const size_t pairs = p->in.pairs, n_states = p->in.space.n_states;
    const double shift = LEAST_SHIFT / (double)n_states;
    double all = 0, all_square = 0;
    for (size_t next = 0; next < n_states; next++) {
        all += shift * g[next];
        all_square += shift * g[next] * g[next];
    }
    for (size_t i = 0; i < pairs; i++) {
        const tacit__sparse_row *row = &p->release->rows[table * pairs + i];
        double sum = all, sum_square = all_square, inverse = 1 / p->visits[table * pairs + i];
        for (uint32_t j = 0; j < row->length; j++) {
            double weighted = row->count[j] * g[row->next[j]];
            sum += weighted;
            sum_square += weighted * g[row->next[j]];
        }
        mean[i] = sum * inverse;
        if (square != NULL)
            square[i] = sum_square * inverse;
    }
}

static void sparse_moments(void *planner, size_t h, const double *values, double *mean,
                           double *variance)
{
    ucbvi *p = planner;
    expect_sparse(p, p->in.space.tables == 1 ? 0 : h, values, mean, variance);
    for (size_t i = 0; i < p->in.pairs; i++)
        variance[i] = fmax(0, variance[i] - mean[i] * mean[i]);
}

/* sum over next states of Pt g(s'), for all pairs of a table. */
static void expect(const ucbvi *p, size_t table, const double *g, double *out)
{
    if (p->in.transitions == NULL)
        expect_sparse(p, table, g, out, NULL);
    else
        tacit__induction_expect(&p->in, table, g, out);
}

/* The second moment of this bonus at step h and its factor under the root; false if it has none there. */
static bool extra_moment(ucbvi *p, size_t h, size_t table, double *factor)
{
    const tacit__space sp = p->in.space;
    const double hh = (double)sp.horizon, s = (double)sp.n_states, a = (double)sp.n_actions;
    const double c = p->in.options.bonus_scale, l = p->log_term;
    if (p->bonus == TACIT__BONUS_CERTIFICATE) {
        const double *upper = p->in.values + (h + 1) * sp.n_states;
        const double *lower = p->lower + (h + 1) * sp.n_states;
        for (size_t i = 0; i < sp.n_states; i++)
            p->extra[i] = (upper[i] - lower[i]) * (upper[i] - lower[i]);
        *factor = 4 * c * c * l;
    } else {
        bool printed = p->bonus == TACIT__BONUS_PRINTED;
        if ((!printed && p->bonus != TACIT__BONUS_AZAR_BERNSTEIN) || h + 1 == sp.horizon)
            return false;
        double e = printed_error(p);
        const double *visits = p->visits + (sp.tables == 1 ? 0 : h + 1) * p->in.pairs;
        for (size_t i = 0; i < sp.n_states; i++) {
            double n = 0;
            for (size_t b = 0; b < sp.n_actions; b++)
                n += visits[i * sp.n_actions + b];
            double g = printed ? 1e6 * (hh * hh * hh * s * a * l * l / n +
                                        (pow(hh, 4) * e * e + pow(hh, 6)) * pow(s, 4) * a * a *
                                            pow(l, 4) / (n * n))
                               : 1e4 * hh * hh * hh * s * s * a * l * l / n;
            p->extra[i] = fmin(g, hh * hh);
        }
        *factor = c * c * (printed ? 16 * l : 8);
    }
    expect(p, table, p->extra, p->extra_mean);
    return true;
}

static void add_spread(void *planner, size_t h, const double *mean, const double *variance,
                       double *q)
{
    ucbvi *p = planner;
    const size_t pairs = p->in.pairs, table = p->in.space.tables == 1 ? 0 : h;
    const double *spread = p->spread + table * pairs, *visits = p->visits + table * pairs;
    for (size_t i = 0; i < pairs; i++)
        q[i] += spread[i] * sqrt(variance[i]);
    if (p->bonus == TACIT__BONUS_PRACTICAL && p->release->moves_stddev > 0)
        tacit__add_noise_width(&p->in, p->release, p->in.options.error_scale, h, visits, mean, q);
    double factor;
    if (!extra_moment(p, h, table, &factor))
        return;
    for (size_t i = 0; i < pairs; i++)
        q[i] += sqrt(factor * p->extra_mean[i] / visits[i]);
    if (p->bonus != TACIT__BONUS_CERTIFICATE)
        return;
    /* lower value of the greedy action: r + P V_ - b = (r + P V_) - (Q - r - P V) */
    expect(p, table, p->lower + (h + 1) * p->in.space.n_states, p->extra_mean);
    const size_t n_actions = p->in.space.n_actions;
    for (size_t s = 0; s < p->in.space.n_states; s++) {
        double best = -HUGE_VAL, low = 0;
        for (size_t b = s * n_actions; b < (s + 1) * n_actions; b++)
            if (q[b] > best) {
                const double reward = p->reward[table * pairs + b];
                best = q[b];
                low = 2 * reward + mean[b] + p->extra_mean[b] - q[b];
            }
        p->lower[h * p->in.space.n_states + s] = low > 0 ? low : 0;
    }
}

/* Noisy counts: all of them change with every release, so a table is computed when its step comes,
 * and is in the cache when the induction reads it. */
static void estimate_table(void *planner, size_t h)
{
    ucbvi *p = planner;
    const size_t last = p->in.space.horizon - 1, table = p->in.space.tables == 1 ? 0 : h;
    if (p->in.space.tables == 1 && h < last)
        return; /* all steps have the same */
    if (is_without_moves(p, p->release, table)) {
        for (size_t i = 0; i < p->in.pairs; i++)
            estimate_without_moves(p, p->release, table * p->in.pairs + i);
    } else {
        for (size_t block = 0, n; block < p->in.blocks; block += n) {
            n = p->in.blocks - block < TACIT__PROJECT_BLOCKS ? 1 : TACIT__PROJECT_BLOCKS;
            estimate_blocks(p, p->release, table, block, n);
        }
    }
    fill_bonus(p, table * p->in.pairs, (table + 1) * p->in.pairs);
}

/* Exact counts: a row changes only when it is visited. */
static void estimate_visited(ucbvi *p, const tacit__counts *c)
{
    for (size_t row = 0; row < p->rows; row++) {
        double visits = c->visits[row];
        if (visits == p->seen[row])
            continue;
        p->seen[row] = visits;
        if (is_without_moves(p, c, row / p->in.pairs))
            estimate_without_moves(p, c, row);
        else if (c->moves != NULL)
            estimate(p, c, row, visits);
        else
            set_reward(p, c, row, visits + LEAST_SHIFT);
    }
    fill_bonus(p, 0, p->rows);
    if (p->bonus == TACIT__BONUS_PRACTICAL)
        raise_rewards(p, (double)c->users);
}

static void set_levels(ucbvi *p, const tacit__counts *c)
{
    const double scale =
        p->bonus == TACIT__BONUS_PRACTICAL ? 0 : p->in.options.error_scale; /* of levels */
    p->visits_error = scale * c->visits_error;
    p->moves_error = scale * c->moves_error;
    p->rewards_error = scale * c->rewards_error;
}

static tacit_billboard plan(void *planner, const tacit__counts *c)
{
    TACIT__REQUIRE((c->moves != NULL || c->rows != NULL) && c->visits_error >= 0);
    ucbvi *p = planner;
    const bool exact = !p->in.options.fresh && c->visits_error == 0 && c->moves_error == 0;
    set_levels(p, c);
    if (c->again)
        return tacit__induction_repeat(&p->in);
    p->release = c;
    if (exact)
        estimate_visited(p, c);
    p->in.model = exact ? NULL : estimate_table;
    p->in.moments = sparse_moments;
    tacit_billboard board = tacit__induction_run(&p->in, add_spread, p);
    p->release = NULL;
    return board;
}

static const char *remark(const void *planner)
{
    const ucbvi *p = planner;
    if (p->bonus == TACIT__BONUS_PRACTICAL)
        return "bonus practical is not a confidence bound; hoeffding and certificate are proven";
    if (p->bonus == TACIT__BONUS_BERNSTEIN)
        return "bonus bernstein leaves out terms that the theorem needs; hoeffding and "
               "certificate are proven";
    bool azar = p->bonus == TACIT__BONUS_AZAR_HOEFFDING || p->bonus == TACIT__BONUS_AZAR_BERNSTEIN;
    return azar && p->in.options.fresh
               ? "the bonuses of Azar et al. do not know of noise: no theorem applies; "
                 "hoeffding and certificate are proven"
               : "";
}

/* A number of the bonus, and bonus_scale where that is why it is another one. */
static void play_factor(const ucbvi *p, tacit__plays *out, const char *name, double printed,
                        double played)
{
    const double c = p->in.options.bonus_scale;
    if (c != 1)
        tacit__plays_number(out, name, printed, played, "bonus_scale %g", c);
    else
        tacit__plays_number(out, name, printed, played, "%s", "");
}

/* Lists what the noise does to counts and bonus; `l` is the printed iota. */
static void play_levels(const ucbvi *p, const widths *w, double l, tacit__plays *out)
{
    const double h = (double)p->in.space.horizon, s = (double)p->in.space.n_states;
    const double e = printed_error(p), scale = p->in.options.error_scale, none = (double)NAN;
    const bool same = p->bonus == TACIT__BONUS_PRINTED;
    if (p->bonus == TACIT__BONUS_PRACTICAL) {
        tacit__plays_words(out, "bonus, noise", "20 H S E iota / n", "standard deviations",
                           "error_scale %g", scale);
        return;
    }
    tacit__plays_number(out, "E", none, e,
                        "the paper has O(...) without a constant: it is 4 times the level of the "
                        "counters at the last user, at least 2; error_scale %g",
                        scale);
    tacit__plays_number(out, "shift of visits, E / 2", none, 2 * p->visits_error, "%s", "");
    tacit__plays_number(out, "bonus, factor of 1 / n at h = 1", same ? 20 * h * s * e * l : none,
                        w->fixed_inverse + (h - 1) * w->slope_inverse, "20 H S E iota is printed");
}

static void plays(const void *planner, const tacit__counts *last, tacit__plays *out)
{
    ucbvi p = *(const ucbvi *)planner; /* with the levels of the last release */
    tacit__planner_options paper = p.in.options;
    const double h = (double)p.in.space.horizon;
    const bool same = p.bonus == TACIT__BONUS_PRINTED;
    paper.whole = true;
    const double l = log_of(&paper, TACIT__BONUS_PRINTED, p.in.space);
    set_levels(&p, last);
    const widths w = widths_of(&p);
    tacit__plays_words(out, "bonus", "printed", tacit__ucbvi_bonuses[p.bonus], "%s", "");
    tacit__plays_number(out, "bonus, iota", l, p.log_term, "%s", "");
    play_factor(&p, out, "bonus, factor of sqrt(Var / n)", 2 * sqrt(l), w.spread_root);
    play_factor(&p, out, "bonus, factor of 1 / sqrt(n) at h = 1", sqrt(2 * l),
                w.fixed_root + (h - 1) * w.slope_root);
    if (last->visits_error > 0)
        play_levels(&p, &w, l, out);
    tacit__plays_words(out, "bonus, its fourth term", "yes", same ? "yes" : "no", "%s", "");
    tacit__plays_words(out, "minimum with the last Q", "yes", p.in.monotone ? "yes" : "no", "%s",
                       "");
    tacit__plays_words(out, "clip of Q", "H", p.in.options.whole ? "H" : "H - h + 1", "%s", "");
}

tacit__ucbvi_view tacit__ucbvi_get(const void *planner)
{
    const ucbvi *p = planner;
    return (tacit__ucbvi_view){.q = p->in.q, .values = p->in.values, .visits = p->visits};
}

double tacit__ucbvi_transition(const void *planner, size_t row, size_t next)
{
    TACIT__REQUIRE(next < ((const ucbvi *)planner)->in.space.n_states);
    return tacit__induction_row(planner, row)[next * TACIT__BLOCK];
}

const tacit__planner tacit__ucbvi = {
    .reads_lists = true,
    .create = create,
    .destroy = tacit__workspace_destroy,
    .plan = plan,
    .fields = tacit__induction_fields,
    .remark = remark,
    .plays = plays,
};
