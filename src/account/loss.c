/* The privacy losses that a composition is made of: their cumulant functions in closed form.
 *
 *   Gaussian  L ~ N(mu^2/2, mu^2)                       K = lambda (lambda+1) mu^2 / 2
 *   Laplace   L = e with 1/2, -e with e^-e/2, density e^(-(e-l)/2)/4 between
 *                                                       K of [Mir17, Prop. 6], alpha = lambda + 1
 *   response  L = +-e with p = e^e/(1+e^e) for the plus  K = log cosh((lambda+1/2)e)/cosh(e/2)
 *
 * Under the tilted law (density times e^(lambda l)) the loss of a Gaussian and of a response stay
 * in their families, and the middle part of Laplace is a truncated exponential of rate lambda + 1/2.
 * All three are symmetric: reflecting the output swaps P and Q, so that one direction of the pair
 * is enough. Cost: a few exponentials. */
#include "account/loss.h"

#include <math.h>

#include "base/error.h"

/* coth x - 1/x, the mean of a truncated exponential on [-1, 1] */
static double langevin(double x)
{
    if (x < 1e-2) /* the next term, 2 x^5 / 945, is below 1e-12 of the first */
        return x / 3 - x * x * x / 45;
    return 1 / tanh(x) - 1 / x;
}

static tacit__cumulants laplace(double e, double lambda)
{
    double rate = lambda + 0.5, fall = -expm1(-2 * rate * e);
    /* weights relative to e^(lambda e) of the top atom, the bottom atom and the middle */
    double top = 0.5, bottom = 0.5 * exp(-2 * rate * e), middle = fall / (4 * rate);
    double total = top + bottom + middle, x = rate * e, bend = langevin(x);
    double mean = e * (0.5 * fall + middle * bend) / total;
    double square = e * e * (top + bottom + middle * (1 - 2 * bend / x)) / total;
    tacit__cumulants k;
    k.value = lambda * e + log1p(-lambda * fall / (2 * rate));
    k.mean = mean;
    k.variance = fmax(square - mean * mean, 0);
    if (x > 1) /* all near the top: the distances from there, without cancellation */
        k.variance = (bottom * 4 * e * e +
                      middle * (2 / (rate * rate) - (1 - fall) / fall * 4 * e * (e + 1 / rate))) /
                         total -
                     (e - mean) * (e - mean);
    return k;
}

static tacit__cumulants response(double e, double lambda)
{
    double x = (lambda + 0.5) * e;
    tacit__cumulants k;
    k.value = lambda * e + log1p(exp(-2 * x)) - log1p(exp(-e));
    k.mean = e * tanh(x);
    double q = exp(-2 * x) / (1 + exp(-2 * x));
    k.variance = 4 * e * e * q * (1 - q);
    return k;
}

tacit__cumulants tacit__loss_cumulants(const tacit__loss *loss, double lambda)
{
    TACIT__REQUIRE(!(lambda < 0) && loss->size > 0);
    TACIT__REQUIRE(loss->kind != TACIT__LOSS_GAUSSIAN || loss->count == 1);
    double n = (double)loss->count, s = loss->size;
    tacit__cumulants k;
    switch (loss->kind) {
    case TACIT__LOSS_LAPLACE:
        k = laplace(s, lambda);
        break;
    case TACIT__LOSS_RESPONSE:
        k = response(s, lambda);
        break;
    case TACIT__LOSS_GAUSSIAN:
    default:
        k = (tacit__cumulants){0.5 * lambda * (lambda + 1) * s * s, (lambda + 0.5) * s * s, s * s};
        break;
    }
    return (tacit__cumulants){n * k.value, n * k.mean, n * fmax(k.variance, 0)};
}
