/* See lsvi_printed.h. Two things the print leaves open are filled in as docs/why/lsvi.md says:
 * c_K = d Upsilon in [LGLP21], which its eq. (20) needs and its regret order shows, and rho from
 * the conversion of [NVW22, Lemma 6], with the factor 2 that its section 4.2 forgets; N_max is
 * rounded up to a whole number. */
#include "plan/papers/lsvi_printed.h"

#include <math.h>

#include "base/error.h"

tacit__lsvi_printed tacit__lsvi_print_batched(const tacit__lsvi_case *c, double B)
{
    TACIT__REQUIRE(c->epsilon > 0 && c->delta > 0);
    double K = c->K, d = c->d, H = c->H, log_k = log(6 * K * H / c->failure);
    if (B == 0)
        B = fmin(K, ceil(pow(K * c->epsilon, 0.4) / (pow(d, 0.6) * pow(H, 0.2))));
    double levels = ceil(log2(B) + 1), l = log(32 * H * levels * B / c->delta);
    double gram = 128 / c->epsilon * sqrt(B * H * levels) * l * l,
           response = 128 * H / c->epsilon * sqrt(H * B) * l * l;
    double upsilon = gram * levels * (4 * sqrt(d) + 2 * log_k), c_k = d * upsilon, lambda = d;
    double noise = response * (sqrt(d) + 2 * sqrt(log_k));
    double u = fmax(1, 2 * H * sqrt(d * K / (lambda + c_k)) + noise / (lambda + c_k));
    double chi = 24 * 24 * 18 * K * K * d * u * H / c->failure;
    return (tacit__lsvi_printed){.releases = B,
                                 .gram = gram,
                                 .response = response,
                                 .ridge = lambda + c_k + upsilon,
                                 .beta = 24 * H * sqrt(d * (lambda + c_k)) * log(chi)};
}

tacit__lsvi_printed tacit__lsvi_print_doubling(const tacit__lsvi_case *c)
{
    TACIT__REQUIRE(c->epsilon > 0 && c->delta > 0);
    double K = c->K, d = c->d, H = c->H, log_k = log(3 * K * H / c->failure);
    double log_delta = log(1 / c->delta), root = sqrt(log_delta + c->epsilon) - sqrt(log_delta),
           rho = root * root;
    double lambda = log(K) * (6 * sqrt(d + 1) + 2 * log_k) / sqrt(2 * rho);
    double most = fmin(K, fmax(1, ceil(d * H / M_LN2 * log(1 + K / (lambda * d)))));
    double noise = H * most * sqrt(log_k / rho);
    double u = fmax(1, 2 * H * sqrt(d * K / lambda) + noise / lambda);
    double log_chi = log(25.0 * 25 * 25 * 25 * 162 * d * u * H / c->failure) + 4 * log(K);
    return (tacit__lsvi_printed){.releases = most,
                                 .gram = sqrt(log(K) / (2 * rho)),
                                 .response = H * sqrt(6 * most / rho),
                                 .ridge = 2 * lambda,
                                 .beta = 5 * H * H * sqrt(d * lambda * log_chi) +
                                         6 * d * H * sqrt(log_chi)};
}
