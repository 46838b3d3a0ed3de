#!/usr/bin/env python3
"""Values for the accounting tests, computed independently of the library in high precision.

    python3 tests/oracle/account_oracle.py > tests/oracle/account_oracle.inc

Needs python3-mpmath. Nothing here shares a formula with the library beyond the definitions:
  gdp      difference of two normal distribution functions at 120 digits and more; roots by bisection
  zcdp     direct minimisation over the Renyi order
  kov      the binomial sum term by term
  laplace  n equal Laplace releases: their losses are atoms plus densities proportional to e^(l/2), so
           an n-fold sum is a mixture of shifted Irwin-Hall densities times e^(l/2)
  pair     Laplace with another loss: delta(eps) = E delta_other(eps - L)
"""
from mpmath import mp, mpf, exp, log, ncdf, erf, sqrt, quad, binomial, factorial, nstr, floor

mp.dps = 50


def text(x):
    return nstr(x, 20, min_fixed=1, max_fixed=0)


def table(name, fields, rows):
    print("static const struct {\n    double %s;\n} oracle_%s[] __attribute__((unused)) = {" % (", ".join(fields), name))
    for row in rows:
        print("    {%s}," % ", ".join(text(x) for x in row))
    print("};\n")


def double(x):
    return mpf(float(x))


def bisect(f, low, high, steps=400):
    """f(low) < 0 < f(high), on a logarithmic scale."""
    for _ in range(steps):
        middle = sqrt(low * high)
        if f(middle) < 0:
            low = middle
        else:
            high = middle
        if high / low - 1 < mpf(10) ** -30:
            break
    return sqrt(low * high)


def gdp(mu, eps):
    t = eps / mu
    with mp.workdps(60 + int(max(0, -log(mu, 10))) + int(min((t + mu) ** 2, 3000) / 4)):
        return ncdf(mu / 2 - t) - exp(eps) * ncdf(-mu / 2 - t)


def zcdp_log_delta(rho, eps, a):
    return (a - 1) * (a * rho - eps) + (a - 1) * log(1 - 1 / a) - log(a)


def golden(f, low, high, steps=160):
    """The minimum of a function with one valley, over log(x)."""
    g = (sqrt(mpf(5)) - 1) / 2
    low, high = log(low), log(high)
    c, d = high - g * (high - low), low + g * (high - low)
    fc, fd = f(exp(c)), f(exp(d))
    for _ in range(steps):
        if fc < fd:
            high, d, fd = d, c, fc
            c = high - g * (high - low)
            fc = f(exp(c))
        else:
            low, c, fc = c, d, fd
            d = low + g * (high - low)
            fd = f(exp(d))
    return min(fc, fd)


def zcdp_delta(rho, eps):
    return exp(golden(lambda x: zcdp_log_delta(rho, eps, 1 + x), mpf("1e-12"), mpf("1e40")))


def zcdp_epsilon(rho, delta):
    def at(x):
        a = 1 + x
        return a * rho + log(1 - 1 / a) - (log(a) + log(delta)) / x
    return golden(at, mpf("1e-12"), mpf("1e40"))


def kov(e0, d0, k, eps):
    p = 1 / (1 + exp(-e0))
    total, term = mpf(0), (1 - p) ** k
    for j in range(k + 1):
        loss = e0 * (2 * j - k)
        if loss > eps:
            total += term * (1 - exp(eps - loss))
        term = term * (k - j) / (j + 1) * exp(e0)
    return 1 - (1 - d0) ** k * (1 - total)


def laplace_one(e, t):
    """delta of one Laplace loss at any real t."""
    if t >= e:
        return mpf(0)
    return 1 - exp((t - e) / 2) if t >= -e else 1 - exp(t)


def laplace_mean(e, f, kinks=()):
    """E f(L) for a Laplace loss."""
    points = sorted({-e, e} | {k for k in kinks if -e < k < e})
    middle = quad(lambda l: exp((l - e) / 2) / 4 * f(l), points)
    return f(e) / 2 + exp(-e) / 2 * f(-e) + middle


def laplace_pair(e1, e2, eps):
    return laplace_mean(e1, lambda l: laplace_one(e2, eps - l), (eps - e2, eps + e2))


def laplace_gauss(e, mu, eps):
    def gauss(t):
        return ncdf(mu / 2 - t / mu) - exp(t) * ncdf(-mu / 2 - t / mu)
    return laplace_mean(e, lambda l: gauss(eps - l), (eps,))


def response_laplace(e1, d1, k, e2, eps):
    p = 1 / (1 + exp(-e1))
    pure = sum(binomial(k, j) * p ** j * (1 - p) ** (k - j) * laplace_one(e2, eps - e1 * (2 * j - k))
               for j in range(k + 1))
    return 1 - (1 - d1) ** k * (1 - pure)


def box(k, e, l):
    """k-fold convolution of the indicator of [-e, e]."""
    s = mpf(0)
    for i in range(k + 1):
        u = l + k * e - 2 * i * e
        if u > 0:
            s += (-1) ** i * binomial(k, i) * u ** (k - 1)
    return s / factorial(k - 1)


def laplace_many(n, e, eps):
    total = mpf(0)
    for k in range(n + 1):              # k losses from the middle, j from the top
        for j in range(n - k + 1):
            b = n - k - j
            shift = (j - b) * e
            weight = factorial(n) / (factorial(k) * factorial(j) * factorial(b))
            weight *= mpf(2) ** -(j + b) * exp(-b * e)
            if k == 0:
                if shift > eps:
                    total += weight * (1 - exp(eps - shift))
                continue
            low = max(eps - shift, -k * e)
            if low >= k * e:
                continue
            knots = [low] + [(2 * i - k) * e for i in range(k + 1) if (2 * i - k) * e > low]
            total += weight * mpf(4) ** -k * quad(
                lambda l: exp((l - k * e) / 2) * box(k, e, l) * (1 - exp(eps - shift - l)), knots)
    return total


def main():
    epsilons = [double(x) for x in
                ("1e-3", "1e-2", "0.1", "0.5", "1", "2", "5", "10", "20", "50", "100")]
    deltas = [double(x) for x in ("1e-30", "1e-20", "1e-12", "1e-8", "1e-5", "1e-2", "0.5")]
    print("/* clang-format off. Made by account_oracle.py; do not edit. */\n")

    rows = []
    for eps in epsilons:
        for delta in deltas:
            mu = bisect(lambda m: gdp(m, eps) - delta, mpf("1e-12"), mpf(100))
            rows.append((eps, delta, mu))
    table("gdp_mu", ("epsilon", "delta", "mu"), rows)

    rows = [(mu, eps, gdp(mu, eps)) for mu in map(double, ("1e-6", "1e-3", "0.02", "0.1", "1", "5"))
            for eps in map(double, (0, "1e-6", "1e-3", "0.1", "0.5", "1", "12", "30"))
            if eps / mu - mu / 2 < 37]
    table("gdp_delta", ("mu", "epsilon", "delta"), rows)

    rows = [(rho, eps, zcdp_delta(rho, eps))
            for rho in map(double, ("1e-10", "1e-4", "0.03125", "0.5", "5"))
            for eps in (0, rho / 2, 2 * rho, rho + 3 * sqrt(rho), rho + 12 * sqrt(rho),
                        rho + 40 * sqrt(rho))
            for eps in [double(eps)]]
    table("zcdp_delta", ("rho", "epsilon", "delta"), rows)
    rows = [(rho, delta, zcdp_epsilon(rho, delta))
            for rho in map(double, ("1e-8", "1e-3", "0.03125", "1", "20"))
            for delta in map(double, ("1e-30", "1e-12", "1e-6", "1e-3"))]
    rows = [r for r in rows if r[2] > 0]
    table("zcdp_epsilon", ("rho", "delta", "epsilon"), rows)

    rows = [(e, d, k, eps, kov(e, d, k, eps))
            for e, d, k in ((1, 0, 1), (1, "0.1", 1), (1, "0.001", 30), ("0.1", 0, 100),
                            ("0.1", "1e-9", 1000), ("0.01", 0, 2000), (3, "1e-6", 7))
            for e, d in [(double(e), double(d))]
            for eps in (0, double("0.3") * e, e, 3 * e * sqrt(mpf(k)), double("0.9") * k * e)
            for eps in [double(eps)]]
    table("kov", ("box_epsilon", "box_delta", "count", "epsilon", "delta"), rows)

    rows = [(n, e, eps, laplace_many(n, e, eps))
            for n, e in ((1, 1), (2, 1), (2, "0.05"), (3, "0.5"), (5, "0.2"), (8, "0.1"))
            for e in [double(e)]
            for eps in (0, double("0.31") * n * e, double("0.77") * n * e, double("0.9999") * n * e)
            for eps in [double(eps)]]
    table("laplace_many", ("count", "size", "epsilon", "delta"), rows)

    rows = [(a, b, eps, laplace_pair(a, b, eps))
            for a, b in ((1, "0.37"), ("0.2", "0.1"), (3, "0.01"), ("0.7", "0.71"))
            for a, b in [(double(a), double(b))]
            for eps in (0, a / 2, a, a + b / 2) for eps in [double(eps)]]
    table("laplace_pair", ("first", "second", "epsilon", "delta"), rows)

    rows = [(e, mu, eps, laplace_gauss(e, mu, eps))
            for e, mu in ((1, "0.5"), ("0.1", 1), ("0.5", "0.05"), (2, 3))
            for e, mu in [(double(e), double(mu))]
            for eps in (0, e / 2, e, e + 2 * mu, e + 6 * mu) for eps in [double(eps)]]
    table("laplace_gaussian", ("size", "mu", "epsilon", "delta"), rows)

    rows = [(e1, d1, k, e2, eps, response_laplace(e1, d1, k, e2, eps))
            for e1, d1, k, e2 in (("0.1", 0, 20, 1), ("0.3", "1e-6", 5, "0.2"), (1, "0.01", 1, "0.5"))
            for e1, d1, e2 in [(double(e1), double(d1), double(e2))]
            for eps in (0, e1, e2, k * e1 / 2, double("0.95") * (k * e1 + e2)) for eps in [double(eps)]]
    table("response_laplace", ("box_epsilon", "box_delta", "count", "size", "epsilon", "delta"), rows)


main()
