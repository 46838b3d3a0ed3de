/* Off-policy estimates [DLL11]. In round k a policy takes a_k where the log took A_k with propensity p_k and
 * got r_k. With w_k = 1{a_k = A_k} / p_k, or the policy's probability of A_k over p_k:
 *
 *     inverse propensities   mean of w_k r_k                            unbiased
 *     self-normalized        sum of w_k r_k / sum of w_k                less variance, a bias of order 1/n
 *     doubly robust          mean of q_k(a_k) + w_k (r_k - q_k(A_k))    unbiased, less variance
 *
 * q_k is a linear model of rewards for each action, ridge 1, made of the log's rounds before k: so it does
 * not know r_k, and the terms minus what is expected of them are martingale differences also for a policy
 * that learns as it goes. Standard errors are those of the terms; for the self-normalized one by the delta
 * method. The effective sample size is (sum w)^2 / sum w^2 [K92]. Differences to the log's own policy, and to
 * the best constant action, are taken round by round. The best constant action is the one whose doubly robust
 * estimate is largest, chosen on the same log, so it looks a little too good.
 *
 * A model of more than MOST numbers has a mean for each action instead. Cost: d^2 a round. */
#include "lab/files/log_value.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"

enum { MOST = 4000000 }; /* doubles, 32 MB: stated choice */

/* Mean and variance as they go [W62]. */
typedef struct running {
    double n, mean, squares;
} running;

static void include(running *r, double x)
{
    const double off = x - r->mean;
    r->n++;
    r->mean += off / r->n;
    r->squares += off * (x - r->mean);
}

static double error_of(const running *r)
{
    return r->n > 1 ? sqrt(r->squares / (r->n - 1) / r->n) : (double)NAN;
}

struct tacit__log_value {
    size_t d, n_actions;
    bool means_only;
    double *inverse;  /* [n_actions][d][d], (I + sum x x^T)^-1 */
    double *weights;  /* [n_actions][d] */
    double *gain;     /* [d] */
    double *surveyed; /* [n_actions] */
    uint32_t constant;
    running ips, robust, log, fixed, over_log, over_fixed;
    double w, w2, wr, w2r, w2r2;
    uint64_t matched;
};

static void forget(tacit__log_value *v)
{
    const size_t d = v->d;
    memset(v->inverse, 0, v->n_actions * d * d * sizeof *v->inverse);
    memset(v->weights, 0, v->n_actions * d * sizeof *v->weights);
    for (size_t a = 0; a < v->n_actions; a++)
        for (size_t i = 0; i < d; i++)
            v->inverse[a * d * d + i * d + i] = 1;
}

tacit_status tacit__log_value_create(size_t dimension, size_t n_actions, tacit__log_value **out,
                                     tacit_error *err)
{
    TACIT__REQUIRE(dimension > 0 && n_actions > 0);
    tacit__log_value w = {.d = dimension, .n_actions = n_actions};
    if (dimension > MOST || n_actions > MOST / dimension / dimension) {
        w.means_only = true;
        w.d = 1;
    }
    tacit__log_value *v = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.inverse, n_actions * w.d * w.d), TACIT__PIECE(w.weights, n_actions * w.d),
        TACIT__PIECE(w.gain, w.d), TACIT__PIECE(w.surveyed, n_actions));
    if (v == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    forget(v);
    *out = v;
    return TACIT_OK;
}

void tacit__log_value_destroy(tacit__log_value *value)
{
    tacit__workspace_destroy(value);
}

/* --- The model of rewards ------------------------------------------------------------------------ */

static const double *features_of(const tacit__log_value *v, const tacit__log_line *line)
{
    static const double one = 1;
    return v->means_only ? &one : line->features;
}

static double predict(const tacit__log_value *v, const tacit__log_line *line, uint32_t action)
{
    const double *x = features_of(v, line), *weights = v->weights + action * v->d;
    double sum = 0;
    for (size_t i = 0; i < v->d; i++)
        sum += weights[i] * x[i];
    return sum < 0 ? 0 : sum > 1 ? 1 : sum;
}

/* Recursive least squares: g = P x / (1 + x^T P x), P -= g (P x)^T, theta += g (r - theta^T x). */
static void update(tacit__log_value *v, const tacit__log_line *line)
{
    const size_t d = v->d;
    const double *x = features_of(v, line);
    double *p = v->inverse + line->action * d * d, *weights = v->weights + line->action * d;
    double quadratic = 0, residual = line->reward;
    for (size_t i = 0; i < d; i++) {
        double sum = 0;
        for (size_t j = 0; j < d; j++)
            sum += p[i * d + j] * x[j];
        v->gain[i] = sum;
        quadratic += sum * x[i];
        residual -= weights[i] * x[i];
    }
    const double scale = 1 / (1 + quadratic);
    for (size_t i = 0; i < d; i++) {
        const double g = scale * v->gain[i];
        weights[i] += g * residual;
        for (size_t j = 0; j < d; j++)
            p[i * d + j] -= g * v->gain[j];
    }
}

/* --- Estimates ----------------------------------------------------------------------------------- */

/* The doubly robust term of taking `action`. */
static double term_of(const tacit__log_value *v, const tacit__log_line *line, uint32_t action)
{
    const double q = predict(v, line, action);
    return action == line->action ? q + (line->reward - q) / line->propensity : q;
}

void tacit__log_value_survey(tacit__log_value *v, const tacit__log_line *line)
{
    TACIT__REQUIRE(line->action < v->n_actions && line->propensity > 0);
    for (uint32_t a = 0; a < v->n_actions; a++)
        v->surveyed[a] += term_of(v, line, a);
    update(v, line);
}

uint32_t tacit__log_value_choose(tacit__log_value *v)
{
    TACIT__REQUIRE(v->n_actions > 0);
    v->constant = 0;
    for (uint32_t a = 1; a < v->n_actions; a++)
        v->constant = v->surveyed[a] > v->surveyed[v->constant] ? a : v->constant;
    forget(v);
    return v->constant;
}

void tacit__log_value_add(tacit__log_value *v, const tacit__log_line *line, uint32_t action)
{
    TACIT__REQUIRE(line->action < v->n_actions && line->propensity > 0);
    const double r = line->reward;
    double w = 0, robust = 0;
    if (action < v->n_actions) {
        w = action == line->action ? 1 / line->propensity : 0;
        robust = term_of(v, line, action);
    } else {
        w = 1 / (double)v->n_actions / line->propensity;
        for (uint32_t a = 0; a < v->n_actions; a++)
            robust += term_of(v, line, a) / (double)v->n_actions;
    }
    const double fixed = term_of(v, line, v->constant);
    v->matched += w > 0;
    v->w += w;
    v->w2 += w * w;
    v->wr += w * r;
    v->w2r += w * w * r;
    v->w2r2 += w * w * r * r;
    include(&v->ips, w * r);
    include(&v->robust, robust);
    include(&v->log, r);
    include(&v->fixed, fixed);
    include(&v->over_log, robust - r);
    include(&v->over_fixed, robust - fixed);
    update(v, line);
}

void tacit__log_value_finish(const tacit__log_value *v, double low, double unit,
                             tacit_estimate *out)
{
    TACIT__REQUIRE(unit > 0);
    const double self = v->w > 0 ? v->wr / v->w : (double)NAN;
    /* sum of w^2 (r - self)^2, which rounding must not make negative */
    const double spread = fmax(v->w2r2 - 2 * self * v->w2r + self * self * v->w2, 0);
    *out = (tacit_estimate){.ips = low + unit * v->ips.mean,
                            .ips_error = unit * error_of(&v->ips),
                            .self_normalized = low + unit * self,
                            .self_normalized_error =
                                v->w > 0 ? unit * sqrt(spread) / v->w : (double)NAN,
                            .doubly_robust = low + unit * v->robust.mean,
                            .doubly_robust_error = unit * error_of(&v->robust),
                            .effective = v->w2 > 0 ? v->w * v->w / v->w2 : 0,
                            .logging = low + unit * v->log.mean,
                            .logging_error = unit * error_of(&v->log),
                            .constant = low + unit * v->fixed.mean,
                            .constant_error = unit * error_of(&v->fixed),
                            .lift_logging = unit * v->over_log.mean,
                            .lift_logging_error = unit * error_of(&v->over_log),
                            .lift_constant = unit * v->over_fixed.mean,
                            .lift_constant_error = unit * error_of(&v->over_fixed),
                            .matched = v->matched,
                            .known = true};
}
