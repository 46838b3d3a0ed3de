/* What noise costs: closed forms and composition.
 *
 * Every epsilon or delta that these functions return is sound: it is rounded in the direction in which
 * the guarantee holds. Where the exact value cannot be computed, they return an interval that contains
 * it: `high` is the guarantee, and `low` shows how much a better analysis could gain at most. */
#ifndef TACIT_ACCOUNT_H
#define TACIT_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gaussian DP: a release of L2 sensitivity D with noise of standard deviation s is (D/s)-GDP.
 * Exact relation  delta(eps) = Phi(mu/2 - eps/mu) - exp(eps) Phi(-mu/2 - eps/mu).
 * Accurate to 1e-12 relative for eps in [0, 1e3] and delta in [1e-300, 1); delta and epsilon are
 * rounded up, mu is rounded down, and gdp_delta(gdp_mu(eps, delta), eps) <= delta.
 * Ends: mu = 0 or eps = inf gives delta 0, mu = inf gives delta 1; delta = 0 gives eps = inf (for
 * mu > 0) and mu = 0; eps is 0 where delta(mu, 0) is small enough already. A delta below the
 * smallest double is reported as the smallest double, never as 0. */
TACIT_API TACIT_MUST_USE tacit_status tacit_gdp_delta(double mu, double epsilon, double *delta);
TACIT_API TACIT_MUST_USE tacit_status tacit_gdp_epsilon(double mu, double delta, double *epsilon);
TACIT_API TACIT_MUST_USE tacit_status tacit_gdp_mu(double epsilon, double delta, double *mu);

/* Zero-concentrated DP with the optimal conversion (Canonne, Kamath, Steinke 2020), rounded up. */
TACIT_API TACIT_MUST_USE tacit_status tacit_zcdp_delta(double rho, double epsilon, double *delta);
TACIT_API TACIT_MUST_USE tacit_status tacit_zcdp_epsilon(double rho, double delta, double *epsilon);

typedef enum tacit_cost_kind {
    TACIT_COST_GAUSSIAN,  /* sensitivity: L2, scale: standard deviation   */
    TACIT_COST_LAPLACE,   /* sensitivity: L1, scale: the Laplace b        */
    TACIT_COST_BLACK_BOX, /* any (epsilon, delta)-DP mechanism            */
    TACIT_COST_ZCDP       /* any rho-zCDP mechanism                       */
} tacit_cost_kind;

/* `count` releases of one kind, all touched by the same user. Fields of other kinds are ignored. */
typedef struct tacit_cost {
    tacit_cost_kind kind;
    double sensitivity, scale;
    double epsilon, delta;
    double rho;
    uint64_t count;
} tacit_cost;

typedef struct tacit_interval {
    double low, high;
} tacit_interval;

typedef struct tacit_composition {
    tacit_interval epsilon; /* at the given delta, or the given epsilon twice */
    tacit_interval delta;   /* at the given epsilon, or the given delta twice */
    double mu;              /* Gaussian DP parameter; NaN unless all noise is Gaussian */
    double rho;             /* zCDP parameter; NaN if there is none */
    const char *method;     /* "gaussian", "pure", "optimal", "zcdp" or "pld" */
} tacit_composition;

/* The guarantee of all `costs` together, composed adaptively over data with this fixed list of
 * mechanisms. `epsilon` of the result is +inf if no finite epsilon holds at that delta. */
TACIT_API TACIT_MUST_USE tacit_status tacit_compose_at_delta(const tacit_cost *costs,
                                                             size_t n_costs, double delta,
                                                             tacit_composition *out,
                                                             tacit_error *err);
TACIT_API TACIT_MUST_USE tacit_status tacit_compose_at_epsilon(const tacit_cost *costs,
                                                               size_t n_costs, double epsilon,
                                                               tacit_composition *out,
                                                               tacit_error *err);

/* Smallest noise scale such that `count` releases of this sensitivity are (epsilon, delta)-DP
 * together. Gaussian needs delta > 0; Laplace takes any delta >= 0. */
TACIT_API TACIT_MUST_USE tacit_status tacit_gaussian_scale(double epsilon, double delta, double l2,
                                                           uint64_t count, double *sigma,
                                                           tacit_error *err);
TACIT_API TACIT_MUST_USE tacit_status tacit_laplace_scale(double epsilon, double delta, double l1,
                                                          uint64_t count, double *scale,
                                                          tacit_error *err);

#ifdef __cplusplus
}
#endif

#endif
