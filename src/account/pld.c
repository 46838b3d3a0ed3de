/* Privacy loss distributions: enclosing the guarantee of mixed releases.
 *
 * [KJH20, GLW21, DGKKM22, ZDW22]: the losses of a composition add up; delta(eps) is the expectation
 * of (1 - e^(eps - L))_+ under P. Dominating pairs compose, also when later data depend on earlier
 * releases, as long as the list of mechanisms is fixed. All mechanisms here are symmetric (loss.c),
 * so that the pair (P, Q) is as bad as (Q, P).
 *
 * What is ours: both ends of the interval are rigorous. Upper and lower lattice distributions come
 * from lattice_pair.c; the error of truncation, wrapping and rounding is bounded and added to one end and
 * subtracted from the other; every sum is taken under a tilt that puts the wanted epsilon in the
 * middle, so the interval stays narrow down to delta = 1e-300. The lattice is refined until the
 * interval is GOAL wide, relatively, or the limits of tilted_pmf.h are met; then it is as wide as it is.
 *
 * The Chernoff bound of the tilt, delta <= e^(K(lambda) - lambda eps) max f, is the best
 * conversion from Renyi DP [CKS20, Prop. 12]; it chooses lambda, and it is the answer where no
 * lattice is large enough. Cost: usually below 0.3 s; 1e5 Laplace releases about 1 s. */
#include "account/pld.h"

#include <float.h>
#include <math.h>

#include "account/profile.h"
#include "base/error.h"
#include "base/memory.h"

enum { ROUNDS = 5, HALVINGS = 200 };

#define GOAL 2e-4            /* wanted relative width */
#define START (0.5 * GOAL)   /* first tolerance */
#define CLOSED_FORM 1e-9     /* relative rounding of K, generously */
#define LOG_NOTHING (-745.2) /* log of the smallest positive double */

static double log_f_top(double lambda)
{
    return lambda > 0 ? -log1p(lambda) - lambda * log1p(1 / lambda) : 0;
}

/* No tilt beyond this is useful: nearly all mass sits on the largest loss already. (The lower atoms
 * weigh e^(-(2 lambda+1)e), the middle of a Laplace loss 1/(2 lambda+1), of the top.) */
static double lambda_limit(const tacit__pld *pld)
{
    double limit = 1;
    for (size_t i = 0; i < pld->n_losses; i++) {
        const tacit__loss *loss = &pld->losses[i];
        if (loss->kind == TACIT__LOSS_GAUSSIAN)
            return 1e150;
        double n = (double)loss->count;
        limit = fmax(limit, log(10 * n) / loss->size);
        if (loss->kind == TACIT__LOSS_LAPLACE)
            limit = fmax(limit, 10 * n);
    }
    return limit;
}

/* The lambda in [0, limit] where `rising` crosses the target. */
static double find_lambda(const tacit__pld *pld, double (*rising)(const tacit__pld *, double),
                          double target)
{
    double top = lambda_limit(pld);
    if (rising(pld, 0) >= target)
        return 0;
    if (rising(pld, top) <= target)
        return top;
    double low = 0, high = top;
    for (int i = 0; i < HALVINGS && high - low > 1e-9 * high; i++) {
        double middle = low > 0 ? sqrt(low * high) : high / 16;
        if (rising(pld, middle) < target)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double mean_at(const tacit__pld *pld, double lambda)
{
    return tacit__pld_cumulants(pld, lambda).mean;
}

/* minus the logarithm of the Chernoff bound at its own best epsilon, K'(lambda) */
static double exponent_at(const tacit__pld *pld, double lambda)
{
    tacit__cumulants k = tacit__pld_cumulants(pld, lambda);
    return lambda * k.mean - k.value - log_f_top(lambda);
}

static tacit_interval narrower(tacit_interval a, tacit_interval b)
{
    return (tacit_interval){fmax(a.low, b.low), fmin(a.high, b.high)};
}

static double width_of(tacit_interval i)
{
    return i.high > 0 ? (i.high - i.low) / i.high : 0;
}

/* Does one attempt with this tolerance; `answer` reads the profile. */
typedef tacit_interval (*reader)(const tacit__profile *profile, double target);

static tacit_status refine(const tacit__pld *pld, double lambda, double tol, reader answer,
                           double target, tacit_interval *best)
{
    tacit__steps steps = {0};
    steps.own_step = tacit__alloc(pld->n_losses, sizeof(double));
    tacit_status status = steps.own_step == NULL ? TACIT_NO_MEMORY : TACIT_OK;
    for (int round = 0; status == TACIT_OK && round < ROUNDS; round++) {
        tacit__profile profile;
        tacit__steps_choose(pld, lambda, tol, &steps);
        status = tacit__profile_create(&profile, pld, lambda, &steps);
        if (status != TACIT_OK)
            break;
        *best = narrower(*best, answer(&profile, target));
        tacit__profile_destroy(&profile);
        if (steps.at_limit || width_of(*best) <= GOAL)
            break;
        /* The width falls like step^2 ~ tol; with atoms off the lattice like step. */
        double gain = 0.4 * GOAL / width_of(*best);
        tol *= fmax(1.0 / 256, pld->n_losses > 1 ? gain * gain : gain);
    }
    tacit__free(steps.own_step);
    /* Too large is no failure: the best interval so far remains. */
    return status == TACIT_TOO_LARGE ? TACIT_OK : status;
}

/* The largest possible loss, rounded outward; infinite with a Gaussian. */
static tacit_interval largest_loss(const tacit__pld *pld)
{
    double sum = 0, terms = 0;
    for (size_t i = 0; i < pld->n_losses; i++, terms++) {
        sum += pld->losses[i].size * (double)pld->losses[i].count;
        if (pld->losses[i].kind == TACIT__LOSS_GAUSSIAN)
            sum = HUGE_VAL;
    }
    double slack = terms * DBL_EPSILON;
    return (tacit_interval){sum * (1 - slack), sum * (1 + slack)};
}

/* Beyond these sizes squares under- or overflow, or a lattice is too coarse; no real plan needs them. */
static int is_tractable(const tacit__pld *pld)
{
    double variance = tacit__pld_cumulants(pld, 0).variance;
    for (size_t i = 0; i < pld->n_losses; i++)
        if (!(pld->losses[i].size < 1e5))
            return 0;
    return variance > 1e-100 && variance < 1e100;
}

/* This is known without any lattice: a composition is no better than its worst part, and its delta
 * at 0, the total variation, is no worse than the sum of the parts', each below size/2. */
static tacit_interval plain_delta(const tacit__pld *pld, double epsilon)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < pld->n_losses; i++) {
        const tacit__loss *loss = &pld->losses[i];
        high += 0.5 * loss->size * (double)loss->count;
        if (loss->kind == TACIT__LOSS_LAPLACE && loss->size > epsilon)
            low = fmax(low, -expm1(0.5 * (epsilon - loss->size)) * (1 - 1e-12));
    }
    return (tacit_interval){low, fmin(1, high * (1 + 1e-12) + DBL_TRUE_MIN)};
}

/* One Laplace release has a closed form: delta = 1 - e^((eps - e)/2) below e. */
static int is_one_laplace(const tacit__pld *pld)
{
    return pld->n_losses == 1 && pld->losses[0].kind == TACIT__LOSS_LAPLACE &&
           pld->losses[0].count == 1;
}

/* delta with the failures: fail + (1 - fail) pure, rounded outward */
static tacit_interval with_failure(const tacit__pld *pld, tacit_interval pure)
{
    double low = pld->fail.low + (1 - pld->fail.low) * pure.low;
    double high = pld->fail.high + (1 - pld->fail.high) * pure.high;
    return (tacit_interval){low * (1 - 4 * DBL_EPSILON), fmin(1, high * (1 + 4 * DBL_EPSILON))};
}

tacit_status tacit__pld_delta(const tacit__pld *pld, double epsilon, tacit_interval *delta)
{
    TACIT__REQUIRE(epsilon >= 0 && pld->fail.low <= pld->fail.high);
    if (epsilon >= largest_loss(pld).high) { /* also when there are no losses at all */
        *delta = pld->fail;
        return TACIT_OK;
    }
    if (is_one_laplace(pld)) {
        double gap = pld->losses[0].size - epsilon, pure = -expm1(-0.5 * fmax(0, gap));
        double slack = 4 * DBL_EPSILON * pld->losses[0].size; /* size is a rounded quotient */
        *delta = with_failure(pld, (tacit_interval){fmax(0, pure - slack), fmin(1, pure + slack)});
        return TACIT_OK;
    }
    double lambda = find_lambda(pld, mean_at, epsilon);
    tacit__cumulants k = tacit__pld_cumulants(pld, lambda);
    double bound = k.value - lambda * epsilon + log_f_top(lambda);
    bound += CLOSED_FORM * (1 + fabs(k.value) + lambda * epsilon);
    tacit_interval plain = plain_delta(pld, epsilon);
    if (bound < 0)
        plain.high = fmin(plain.high, exp(bound) + DBL_TRUE_MIN);
    *delta = with_failure(pld, plain);
    if (bound < LOG_NOTHING || plain.high < 1e-20 * pld->fail.low || !is_tractable(pld))
        return TACIT_OK;
    return refine(pld, lambda, START, tacit__profile_delta, epsilon, delta);
}

/* The epsilons where the two ends of delta cross the target. */
static tacit_interval solve(const tacit__profile *profile, double delta)
{
    double end = ((double)profile->sum.first + (double)profile->sum.n) * profile->sum.step;
    tacit_interval out = {0, HUGE_VAL};
    double low = -1, high = fmax(end, 0);
    if (tacit__profile_delta(profile, high).high <= delta) {
        for (int i = 0; i < HALVINGS; i++) {
            double middle = low < 0 ? 0 : 0.5 * (low + high);
            if (middle <= low || middle >= high)
                break;
            if (tacit__profile_delta(profile, middle).high <= delta)
                high = middle;
            else
                low = middle;
        }
        out.high = high;
    }
    /* Far below the middle of the tilted law the lower end is lost in rounding, so look for the
     * crossing from the upper end downwards. */
    high = fmin(out.high, fmax(end, 0));
    low = high;
    for (double back = 1e-9; low > 0 && !(tacit__profile_delta(profile, low).low > delta);
         back *= 1.25)
        low = high * (1 - back) > 0 ? high * (1 - back) : 0;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high)
            break;
        if (tacit__profile_delta(profile, middle).low > delta)
            low = middle;
        else
            high = middle;
    }
    out.low = low;
    return out;
}

tacit_status tacit__pld_epsilon(const tacit__pld *pld, double delta, tacit_interval *epsilon)
{
    TACIT__REQUIRE(delta > 0 && delta < 1 && pld->fail.low <= pld->fail.high);
    tacit_interval top = largest_loss(pld);
    if (delta < pld->fail.low) {
        *epsilon = (tacit_interval){HUGE_VAL, HUGE_VAL};
        return TACIT_OK;
    }
    tacit_interval best = {0, delta < pld->fail.high ? HUGE_VAL : top.high};
    for (size_t i = 0; i < pld->n_losses; i++) /* no better than its worst part */
        if (pld->losses[i].kind == TACIT__LOSS_LAPLACE)
            best.low =
                fmax(best.low, (pld->losses[i].size + 2 * log1p(-delta)) * (1 - 1e-12) - 1e-300);
    double left = fmax(0, (delta - pld->fail.high) / (1 - pld->fail.high));
    double room = fmax(left, (delta - pld->fail.low) / (1 - pld->fail.low));
    if (room == 0) {
        best.low = top.low;
    } else if (is_one_laplace(pld)) {
        best.low = fmax(0, (top.low + 2 * log1p(-room)) - 4 * DBL_EPSILON * (top.low + room));
        if (left > 0)
            best.high =
                fmax(0, (top.high + 2 * log1p(-left)) + 4 * DBL_EPSILON * (top.high + left));
    } else if (pld->n_losses > 0 && is_tractable(pld)) {
        double lambda = find_lambda(pld, exponent_at, -log(room));
        tacit__cumulants k = tacit__pld_cumulants(pld, lambda);
        if (left > 0 && lambda > 0) {
            double bound = (k.value + log_f_top(lambda) - log(left)) / lambda;
            bound += CLOSED_FORM * (1 + fabs(k.value) - log(left)) / lambda;
            best.high = fmin(best.high, fmax(0, bound));
        }
        double slope = lambda + 1 / sqrt(tacit__pld_cumulants(pld, 0).variance);
        double tol = START * fmin(1e3, fmax(1, slope * k.mean));
        TRY(refine(pld, lambda, tol, solve, delta, &best));
    }
    *epsilon = (tacit_interval){fmin(best.low, best.high), best.high};
    return TACIT_OK;
}
