/* Policy optimization [Z22, Alg. 2]: pi_{k+1} ~ pi_k exp(eta Q_k), V = <Q, pi>; with a plan for m
 * users at once, exp(m eta Q). The policy is kept as logits. The regressions and how sure they are
 * (linopt.c) are those of LinOpt-VI. */
#include "plan/papers/linopt_po.h"

#include <math.h>

#include "base/error.h"

/* The theorem's eta = sqrt(2 log A / (H K H)) [Z22, Thm. 5.1]. */
static double step_size(size_t n_actions, size_t horizon, uint64_t episodes)
{
    TACIT__REQUIRE(n_actions > 0 && horizon > 0 && episodes > 0);
    double h = (double)horizon;
    return sqrt(2 * log((double)n_actions) / (h * h * (double)episodes));
}

static void update(double eta, const double *q, size_t n, double *logits)
{
    TACIT__REQUIRE(eta >= 0);
    for (size_t i = 0; i < n; i++)
        logits[i] += eta * q[i];
}

/* The largest logit is subtracted, so that nothing overflows. */
static void mix(size_t n_states, size_t n_actions, const double *logits, const double *q,
                double most, double *mixed, double *values)
{
    for (size_t s = 0; s < n_states; s++) {
        double largest = logits[0], sum = 0, value = 0;
        for (size_t a = 1; a < n_actions; a++)
            largest = fmax(largest, logits[a]);
        for (size_t a = 0; a < n_actions; a++) {
            mixed[a] = exp(logits[a] - largest);
            sum += mixed[a];
        }
        for (size_t a = 0; a < n_actions; a++) {
            mixed[a] /= sum;
            value += mixed[a] * q[a];
        }
        values[s] = fmin(value, most); /* rounding */
        logits += n_actions;
        mixed += n_actions;
        q += n_actions;
    }
}

const tacit__soft_policy tacit__linopt_po = {step_size, update, mix};
