/* See linear_belief.h and docs/why/posterior-linear.md#the-posterior.
 *
 * In a linear MDP P_h(s' | s, a) = phi . mu_h(s') and E y = phi . theta_h. Chances sum to 1, so some vector v
 * has phi . v = 1 for every pair; mu_h(s') = v / S + z_h(s') and theta_h = (v + r_h) / 2 say what is to be
 * learned, and v itself is not needed. The sums X(s') of the features before s' and Y of phi (2 y - 1), of a
 * batch at step h, have with J = sum_{s,a} visits(s, a) phi phi'
 *
 *     E (X(s') - mean of X over states) = J z(s'),      cov <= noise^2 I + J / S      on average over s',
 *     E Y = J r,                                        cov <= noise^2 I + J / 3,
 *
 * and who was where is computed, not released. The second moments are those of even chances and of
 * rewards that are spread evenly. Centering is post-processing: what is released is simpler and no
 * longer without it. The prior is z ~ N(0, I / (2 S)), r ~ N(0, I / 3), so with R either covariance
 *
 *     precision = prior + sum_k J R^-1 J,    target = sum_k J R^-1 X_k,    mean = precision^-1 target,
 *
 * one precision for all next states. Batches may share noise: batch k has e_k - fade e_{k-1}. Then R, J
 * and X of a batch are those given the batches before it, with T = fade noise^2 R_{k-1}^-1
 *
 *     R_k = noise^2 (1 + fade^2) I + J / S - fade noise^2 T,    J + T J_{k-1},    X + T X_{k-1}.
 *
 * Chances are 1/S + phi . z, projected onto the simplex for each pair. Means and visits depend on each other:
 * ROUNDS passes, each over all batches. Where all steps are alike, the steps' sums are added like batches.
 *
 * Cost of a fit: for each batch and round S A H S (visits), H (S A d^2 + d^3 + S d^2). */
#include "plan/posterior/linear_belief.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/symmetric.h"

enum { ROUNDS = 3 };
#define REWARD_PRECISION                                                                           \
    3.0 /* of r: 2 y - 1 has the variance 1/3 for rewards that are even in [0, 1] */

static size_t table_of(const tacit__linear_belief *p, size_t step)
{
    return p->tables == 1 ? 0 : step;
}

static void clear(tacit__linear_belief *p)
{
    const size_t d = p->model->dimension, S = p->model->n_states;
    memset(p->factor, 0, p->tables * d * d * sizeof *p->factor);
    memset(p->reward_factor, 0, p->tables * d * d * sizeof *p->reward_factor);
    memset(p->targets, 0, p->tables * S * d * sizeof *p->targets);
    memset(p->reward_targets, 0, p->tables * d * sizeof *p->reward_targets);
    for (size_t i = 0; i < p->tables * d; i++) {
        const size_t at = i / d * d * d + i % d * (d + 1);
        p->factor[at] = tacit__linear_model_prior(p->model);
        p->reward_factor[at] = REWARD_PRECISION;
    }
}

/* --- What the means say ---------------------------------------------------------------------------- */

void tacit__linear_belief_predict(tacit__linear_belief *p)
{
    const tacit__linear_model *m = p->model;
    const size_t d = m->dimension, S = m->n_states;
    for (size_t i = 0; i < p->tables * m->pairs; i++) {
        const size_t t = i / m->pairs;
        const double *phi = m->features + i % m->pairs * d;
        double *chances = p->chances + i * S, reward = 1;
        tacit__inner_many(d, S, p->measures + t * S * d, phi, chances);
        for (size_t next = 0; next < S; next++)
            chances[next] += 1 / (double)S;
        tacit__simplex_project(S, chances, p->sorted);
        for (size_t j = 0; j < d; j++)
            reward += phi[j] * p->rewards[t * d + j];
        p->expected[i] = fmin(1, fmax(0, reward / 2));
    }
}

/* out[pair] = unit |phi|_{precision^-1}; the precision becomes its factor. */
static void measure_spread(tacit__linear_belief *p, double *precision, double unit, double *out)
{
    const tacit__linear_model *m = p->model;
    const size_t d = m->dimension;
    TACIT__REQUIRE(tacit__cholesky(d, precision));
    memcpy(p->work, m->features, m->pairs * d * sizeof *p->work);
    tacit__solve_lower_many(d, m->pairs, precision, p->work);
    tacit__squares_many(d, m->pairs, p->work, out);
    for (size_t pair = 0; pair < m->pairs; pair++)
        out[pair] = unit * sqrt(out[pair]);
}

/* Precisions and targets become means, and what they say. */
static void solve(tacit__linear_belief *p)
{
    const tacit__linear_model *m = p->model;
    const size_t d = m->dimension, S = m->n_states;
    for (size_t t = 0; t < p->tables; t++) {
        double *factor = p->factor + t * d * d, *reward_factor = p->reward_factor + t * d * d;
        measure_spread(p, factor, 1, p->spread + t * m->pairs);
        measure_spread(p, reward_factor, 0.5, p->reward_spread + t * m->pairs);
        memcpy(p->measures + t * S * d, p->targets + t * S * d, S * d * sizeof *p->measures);
        memcpy(p->rewards + t * d, p->reward_targets + t * d, d * sizeof *p->rewards);
        for (size_t next = 0; next < S; next++)
            tacit__solve(d, factor, p->measures + (t * S + next) * d);
        tacit__solve(d, reward_factor, p->rewards + t * d);
    }
    tacit__linear_belief_predict(p);
}

static void place_passed(tacit__linear_belief *p)
{
    const size_t d = p->model->dimension;
    double *room = p->passed_numbers;
    for (size_t i = 0; i < 2 * p->model->horizon; i++) {
        tacit__passed_noise *to = i % 2 == 0 ? &p->passed[i / 2] : &p->reward_passed[i / 2];
        *to = (tacit__passed_noise){room, room + d * d, room + 2 * d * d};
        room += 2 * d * d + (i % 2 == 0 ? p->model->n_states : 1) * d;
    }
}

tacit_status tacit__linear_belief_create(const tacit__linear_model *m, bool same,
                                         tacit__linear_belief **out)
{
    const size_t d = m->dimension, S = m->n_states, H = m->horizon, T = same ? 1 : H;
    tacit__linear_belief x = {.model = m, .tables = T};
    tacit__linear_belief *p = TACIT__WORKSPACE(
        x, TACIT__PIECE(x.measures, T * S * d), TACIT__PIECE(x.rewards, T * d),
        TACIT__PIECE(x.start, S), TACIT__PIECE(x.chances, T * m->pairs * S),
        TACIT__PIECE(x.expected, T * m->pairs), TACIT__PIECE(x.spread, T * m->pairs),
        TACIT__PIECE(x.reward_spread, T * m->pairs), TACIT__PIECE(x.factor, T * d * d),
        TACIT__PIECE(x.reward_factor, T * d * d), TACIT__PIECE(x.targets, T * S * d),
        TACIT__PIECE(x.reward_targets, T * d), TACIT__PIECE(x.visits, H * m->pairs),
        TACIT__PIECE(x.here, S), TACIT__PIECE(x.after, S), TACIT__PIECE(x.sorted, S),
        TACIT__PIECE(x.gram, d * d), TACIT__PIECE(x.cover, d * d), TACIT__PIECE(x.gain, d * d),
        TACIT__PIECE(x.columns, S * d), TACIT__PIECE(x.work, m->pairs * d),
        TACIT__PIECE(x.passed, H), TACIT__PIECE(x.reward_passed, H),
        TACIT__PIECE(x.passed_numbers, H * (4 * d * d + (S + 1) * d)));
    if (p == NULL)
        return TACIT_NO_MEMORY;
    for (size_t s = 0; s < S; s++)
        p->start[s] = 1 / (double)S;
    place_passed(p);
    clear(p);
    solve(p);
    *out = p;
    return TACIT_OK;
}

void tacit__linear_belief_destroy(tacit__linear_belief *p)
{
    tacit__workspace_destroy(p);
}

/* --- What sums say --------------------------------------------------------------------------------- */

/* J of a step, both triangles. */
static void add_features(tacit__linear_belief *p, const double *visits)
{
    const tacit__linear_model *m = p->model;
    const size_t d = m->dimension;
    memset(p->gram, 0, d * d * sizeof *p->gram);
    tacit__rank_update(d, m->pairs, visits, m->features, p->work, p->gram);
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < j; i++)
            p->gram[j * d + i] = p->gram[i * d + j];
}

/* What sums tell of: measures, with a column for each next state, or rewards, with one. */
typedef struct sought {
    size_t columns;
    double moment;              /* of what is counted */
    double *precision;          /* [d][d], lower triangle */
    double *targets;            /* [columns][d] */
    tacit__passed_noise passed; /* from batch to batch */
} sought;

/* J, R and the columns of a batch become those given the batches before it. */
static void take_over(tacit__linear_belief *p, const sought *w, double common)
{
    const size_t d = p->model->dimension;
    for (size_t i = 0; i < d * d; i++) {
        p->cover[i] -= common * w->passed.share[i];
        p->gain[i] += w->passed.gram[i];
    }
    for (size_t i = 0; i < w->columns * d; i++)
        p->columns[i] += w->passed.columns[i];
}

/* out = common R^-1 columns, n of them; `cover` is the factor of R. */
static void pass_columns(const tacit__linear_belief *p, double common, size_t n,
                         const double *columns, double *out)
{
    const size_t d = p->model->dimension;
    for (size_t i = 0; i < n * d; i++)
        out[i] = common * columns[i];
    for (size_t c = 0; c < n; c++)
        tacit__solve(d, p->cover, out + c * d);
}

static void pass_on(tacit__linear_belief *p, const sought *w, double common)
{
    const size_t d = p->model->dimension;
    memset(w->passed.share, 0, d * d * sizeof *w->passed.share);
    for (size_t i = 0; i < d; i++)
        w->passed.share[i * (d + 1)] = 1;
    pass_columns(p, common, d, w->passed.share, w->passed.share);
    pass_columns(p, common, d, p->gain, w->passed.gram);
    pass_columns(p, common, w->columns, p->columns, w->passed.columns);
}

/* The columns of sums of a batch, with the mean J z and the covariance R: adds J R^-1 J to the precision and
 * J R^-1 x to the targets. With R = L L' that is G'G and G'(L^-1 x), G = L^-1 J. A millionth of a user keeps
 * matrices definite where there is no noise. */
static void add_columns(tacit__linear_belief *p, const tacit__played_batch *b, bool first,
                        const sought *w)
{
    const size_t d = p->model->dimension;
    const double common = b->fade * b->variance,
                 own = b->variance + (first ? 0 : b->fade * common) + 1e-6 * (double)b->shown.users;
    for (size_t i = 0; i < d * d; i++)
        p->cover[i] = w->moment * p->gram[i] + (i % (d + 1) == 0 ? own : 0);
    memcpy(p->gain, p->gram, d * d * sizeof *p->gain);
    if (common > 0 && !first)
        take_over(p, w, common);
    TACIT__REQUIRE(tacit__cholesky(d, p->cover));
    if (common > 0)
        pass_on(p, w, common);
    tacit__solve_lower_many(d, d, p->cover, p->gain);
    tacit__solve_lower_many(d, w->columns, p->cover, p->columns);
    for (size_t j = 0; j < d; j++)
        for (size_t i = j; i < d; i++)
            for (size_t k = 0; k < d; k++)
                w->precision[j * d + i] += p->gain[i * d + k] * p->gain[j * d + k];
    for (size_t c = 0; c < w->columns; c++)
        for (size_t j = 0; j < d; j++)
            for (size_t k = 0; k < d; k++)
                w->targets[c * d + j] += p->gain[j * d + k] * p->columns[c * d + k];
}

/* What step h of a batch tells. */
static void add_step(tacit__linear_belief *p, const tacit__played_batch *b, bool first, size_t h)
{
    const tacit__linear_model *m = p->model;
    const size_t d = m->dimension, S = m->n_states, t = table_of(p, h);
    const double *rewards = b->shown.sums + tacit__feature_scores_rewards(&m->scores, h);
    const sought of_rewards = {1, 1 / REWARD_PRECISION, p->reward_factor + t * d * d,
                               p->reward_targets + t * d, p->reward_passed[h]},
                 of_measures = {S, 1 / (double)S, p->factor + t * d * d, p->targets + t * S * d,
                                p->passed[h]};
    add_features(p, p->visits + h * m->pairs);
    memcpy(p->columns, rewards, d * sizeof *p->columns);
    add_columns(p, b, first, &of_rewards);
    if (h + 1 == m->horizon)
        return;
    memcpy(p->columns, b->shown.sums + h * S * d, S * d * sizeof *p->columns);
    for (size_t j = 0; j < d; j++) {
        double mean = 0;
        for (size_t next = 0; next < S; next++)
            mean += p->columns[next * d + j] / (double)S;
        for (size_t next = 0; next < S; next++)
            p->columns[next * d + j] -= mean;
    }
    add_columns(p, b, first, &of_measures);
}

static void pass(tacit__linear_belief *p, const tacit__played_batch *batches, size_t n)
{
    const tacit__linear_model *m = p->model;
    const tacit__walk walk = {.n_states = m->n_states,
                              .n_actions = m->n_actions,
                              .horizon = m->horizon,
                              .steps = m->horizon,
                              .tables = p->tables,
                              .chances = p->chances,
                              .start = p->start,
                              .here = p->here,
                              .after = p->after};
    clear(p);
    for (size_t k = 0; k < n; k++) {
        tacit__walk_visits(&walk, &batches[k], p->visits);
        for (size_t h = 0; h < m->horizon; h++)
            add_step(p, &batches[k], k == 0, h);
    }
    solve(p);
}

void tacit__linear_belief_fit(tacit__linear_belief *p, const tacit__played_batch *batches, size_t n)
{
    TACIT__REQUIRE(batches != NULL || n == 0);
    tacit__played_start(batches, n, p->model->n_states, p->start, p->sorted);
    for (int round = 0; round < ROUNDS; round++)
        pass(p, batches, n);
}
