#!/usr/bin/env python3
"""What the papers print and what is played, once more: both columns of `plays` in `tacit explain`.

    python3 tests/oracle/papers_oracle.py > tests/oracle/papers_oracle.inc

Needs python3-mpmath. Everything is computed from the formulas in the papers' own units ([LGLP21], [NVW22], [Z22], [QW23],
[PSZ25]) and converted at the end. `printed` is what calibration: published must play; `played` is what noise: published plays
by default, the same formula times the defaults of bonus_scale, shift_scale and step_scale, where that is how it departs.
"""
from mpmath import ceil, log, mp, mpf, nstr, sqrt

mp.dps = 40

SCALES = {"ucrl-vtr": (mpf("0.05"), 1, 1), "ucrl-vtr-plus": (mpf("0.003"), 1, 1),
          "linopt-vi": (mpf("0.1"), mpf("0.2"), 1), "linopt-po": (mpf("0.05"), mpf("0.05"), 20)}


def text(x):
    return nstr(mpf(x), 20, min_fixed=1, max_fixed=0)


def log2(x):
    return log(x) / log(2)


# --- Learners for mixtures: name, printed, and which scale makes the played one of it ---------------------------------


def vtr(local, K, H, d, eps, delta, p, W):
    """[LGLP21, Cor. 5, 6]: statistics of norm H^2, lambda = H^2, shift 2 Upsilon."""
    if local:
        nodes = K
        sigma = 4 * H**3 / eps * sqrt(2 * log(4 * H / delta))
    else:
        nodes = ceil(log2(K) + 1)
        sigma = 32 * H**2 / eps * sqrt(2 * H * nodes * log(8 * H / delta) * log(4 / delta) * log(16 * H * nodes / delta))
    upsilon = sigma * sqrt(nodes) * (4 * sqrt(d) + 2 * log(6 * K * H / p))
    beta = 3 * (W + 1) * sqrt(H**2 + upsilon) + H * sqrt(2 * (log(3 * H / p) + d / 2 * log(1 + K * H)))
    symmetric = 1 if local else sqrt(2)
    return [("noise of Gram sums, transitions", symmetric * sigma / H**2, None),
            ("noise of responses, transitions", sigma / H**2, None),
            ("ridge and shift, transitions", (H**2 + 2 * upsilon) / H**2, "shift"),
            ("radius, transitions", beta / H, "bonus")]


def vtr_plus(local, K, H, d, eps, delta, p, W):
    """[LGLP21, Cor. 10, 11; (6), (7)] at k = K, lambda = 1; weighted statistics of norm d, squares of norm H^4."""
    if local:
        nodes = K
        unit = 8 * H / eps * sqrt(2 * log(8 * H / delta))
    else:
        nodes = ceil(log2(K) + 1)
        unit = 64 / eps * sqrt(2 * H * nodes * log(16 * H / delta) * log(8 / delta) * log(32 * H * nodes / delta))
    spread = sqrt(nodes) * (4 * sqrt(d) + 2 * log(24 * K * H / p))
    first, second = d * unit * spread, H**4 * unit * spread
    l = log(24 * K * K * H / p)
    bernstein = 8 * sqrt(d * log(1 + K) * l) + 4 * sqrt(d) * l
    crude = 8 * d * sqrt(log(1 + K) * l) + 4 * sqrt(d) * l
    squares = H**2 * (8 * sqrt(d * log(1 + K * H**4 / d) * l) + 4 * l)
    symmetric = 1 if local else sqrt(2)
    noise = [("noise of Gram sums, %s", symmetric * unit, None), ("noise of responses, %s", unit, None)]
    return ([(n % "transitions", x, s) for n, x, s in noise] +
            [("ridge and shift, transitions", (1 + 2 * first) / d, "shift"),
             ("radius, transitions", (3 * (W + 1) * sqrt(1 + first) + bernstein) / sqrt(d), "bonus"),
             ("radius for variances, transitions", (3 * (W + 1) * sqrt(1 + first) + crude) / sqrt(d), "bonus")] +
            [(n % "squares", x, s) for n, x, s in noise] +
            [("ridge and shift, squares", (1 + 2 * second) / H**4, "shift"),
             ("radius, squares", (3 * (W + 1) * sqrt(1 + second) + squares) / H**2, "bonus")])


def linopt(local, K, H, d, eps, delta, p, W, rewards, actions, soft):
    """[Z22, Lemma 3.1, Thm. 6.4, Thm. 5.1]: features sqrt(d) H and parameters sqrt(d) long; no ridge but the shift 2 Sigma.
    Local privacy is sketched: 4H Gaussian releases at (eps, delta) / 4H each, of sensitivity sqrt(2) and 2."""
    out = []
    m = K if local else max(mpf(1), ceil(log2(K)))
    for name, dim, scale in (("transitions", d, H), ("rewards", rewards, mpf(1))):
        gram = response = H / eps * sqrt(32 * m * log(4 * H / delta))
        if local:
            each = 4 * H / eps * sqrt(2 * log(8 * H / delta))
            gram, response = sqrt(2) * each, 2 * each
        long = sqrt(dim) * H if name == "transitions" else mpf(1)  # features
        sigma_gram, sigma_response = long**2 * gram, long * scale * response
        Sigma = sigma_gram * sqrt(m) * (4 * sqrt(dim) + sqrt(8 * log(8 * K * H / p)))
        nu = sigma_response * sqrt(m) * (sqrt(dim) + sqrt(2 * log(4 * K * H / p))) / sqrt(Sigma)
        inside = K * H**2 / Sigma if name == "transitions" else K / (dim * Sigma)
        beta = scale / 2 * sqrt(2 * log(H / p) + dim * log(1 + inside)) + sqrt(dim * 3 * Sigma) + nu
        out += [("noise of Gram sums, " + name, sqrt(2) * gram, None), ("noise of responses, " + name, response, None),
                ("ridge and shift, " + name, 2 * Sigma / long**2, "shift"), ("radius, " + name, beta / scale, "bonus")]
    if soft:
        out.append(("step of the policy", sqrt(2 * log(actions) / (H * H * K)), "step"))
    return out


def mixtures():
    states, actions = 4, 3
    for K, H, d, eps, delta, W in ((1000, 5, 5, 1, 1e-5, 1), (20000, 8, 3, 0.5, 1e-6, 2.5)):
        K, H, d, eps, delta, W, p = (mpf(x) for x in (K, H, d, eps, float(delta), W, 0.05))
        for kind, (bonus, shift, step) in SCALES.items():
            for local in (0, 1):
                case = (local, K, H, d, eps, delta, p, W)
                if kind == "ucrl-vtr":
                    lines = vtr(*case)
                elif kind == "ucrl-vtr-plus":
                    lines = vtr_plus(*case)
                else:
                    lines = linopt(*case, rewards=mpf(states * actions), actions=mpf(actions), soft=kind == "linopt-po")
                for name, printed, scale in lines:
                    played = printed
                    if scale == "bonus":
                        played = bonus * printed
                    elif scale == "step":
                        played = step * printed
                    elif scale == "shift" and kind.startswith("linopt"):
                        played = shift * printed
                    yield (kind, local, K, H, d, eps, delta, W, name, printed, played)


# --- DP-UCBVI ---------------------------------------------------------------------------------------------------------


def laplace_level(draws, eta):
    """|sum of this many standard Laplace draws| is at most this with probability 1 - eta, by Chernoff's bound."""
    low, high = mpf(0), mpf(10) ** 6
    for _ in range(120):
        y = (low + high) / 2
        u = y / (sqrt(draws * draws + y * y) + draws)
        if -u * y - draws * log(1 - u * u) > log(eta / 2):
            low = y
        else:
            high = y
    return high


def tabular():
    """[QW23, section 5, Algorithm 1]. E has no constant in the paper: it is four times the level of the counters."""
    for local, K, H, S, A, eps in ((0, 5000, 20, 6, 2, 1), (1, 5000, 20, 6, 2, 1), (0, 300, 4, 3, 3, 0.5),
                                   (1, 300, 4, 3, 3, 0.5)):
        K, H, S, A, eps, p = (mpf(x) for x in (K, H, S, A, eps, float(0.1)))
        scale = 3 * H / eps * (1 if local else log2(K))
        users = K - 1
        # a prefix of a binary tree has one node for each 1 of its length in base 2
        draws = users if local else max(mpf(bin(k).count("1")) for k in range(1, int(users) + 1))
        eta = p / (3 * H * S * A * (S + 2) * K)
        E = 4 * scale * laplace_level(draws, eta)
        iota = log(30 * H * S * A * K * H / p)
        for name in ("visits", "moves", "rewards"):
            yield (local, K, H, S, A, eps, "noise of " + name, scale)
        yield (local, K, H, S, A, eps, "bonus, iota", iota)
        yield (local, K, H, S, A, eps, "bonus, factor of sqrt(Var / n)", 2 * sqrt(iota))
        yield (local, K, H, S, A, eps, "bonus, factor of 1 / sqrt(n) at h = 1", sqrt(2 * iota))
        yield (local, K, H, S, A, eps, "E", E)
        yield (local, K, H, S, A, eps, "shift of visits, E / 2", E / 2)
        yield (local, K, H, S, A, eps, "bonus, factor of 1 / n at h = 1", 20 * H * S * E * iota)


# --- CAPRI --------------------------------------------------------------------------------------------------------------


def capri():
    """[PSZ25, eq. 5, Lemma 6.6] with tau = 1, in units of sigma_max and sigma_max^2; n pairs, first epoch of sqrt(T) users."""
    for local, T, n, B, eps, delta in ((0, 1000, 12, 0.5, 1, 1e-5), (1, 1000, 12, 0.5, 1, 1e-5), (0, 40000, 30, 2, 0.3, 1e-7),
                                       (1, 40000, 30, 2, 0.3, 1e-7)):
        T, n, B, eps, delta, p = (mpf(float(x)) for x in (T, n, B, eps, delta, 0.05))
        each = p / (n * T * log(T))
        noise = 4 * log(T) / eps * sqrt(log(mpf("1.25") * log(T) / delta))
        beta = (90 * B * sqrt(log(168 * T / each)) + 52 * B * sqrt(log(168 * T / each) * log(12 / each)) +
                3 * B * sqrt(2 * log(6 / each)) + sqrt(mpf(24)))
        users = ceil(sqrt(T))
        beta_1 = 2 * B * noise * log(3 / each) * (sqrt(users) if local else 1)
        for name, x in (("noise", noise), ("beta", beta), ("beta_1, first epoch", beta_1)):
            yield (local, T, n, B, eps, delta, name, x)


# --- LSVI-UCB -----------------------------------------------------------------------------------------------------------


def lsvi():
    """[LGLP21, App. E.1] with c_K = d Upsilon, and [NVW22, (6), (7), line 11] with natural logarithms. Noise of responses in
    units of the range H + 1."""
    for K, d, H, eps, delta in ((1000, 5, 5, 1, 1e-5), (30000, 12, 20, 0.5, 1e-6)):
        K, d, H, eps, delta, p = (mpf(float(x)) for x in (K, d, H, eps, delta, 0.05))
        B = ceil((K * eps) ** (mpf(2) / 5) / (d ** (mpf(3) / 5) * H ** (mpf(1) / 5)))
        B0 = ceil(log2(B) + 1)
        l = log(32 * H * B0 * B / delta)
        gram, response = 128 / eps * sqrt(B * H * B0) * l**2, 128 * H / eps * sqrt(H * B) * l**2
        Upsilon = gram * B0 * (4 * sqrt(d) + 2 * log(6 * K * H / p))
        c_K, lam = d * Upsilon, d
        U = max(mpf(1), 2 * H * sqrt(d * K / (lam + c_K)) +
                response * (sqrt(d) + 2 * sqrt(log(6 * K * H / p))) / (lam + c_K))
        chi = 24**2 * 18 * K**2 * d * U * H / p
        yield (0, K, d, H, eps, delta, B, gram, response / (H + 1), lam + c_K + Upsilon, 24 * H * sqrt(d * (lam + c_K)) * log(chi))
        rho = (sqrt(log(1 / delta) + eps) - sqrt(log(1 / delta))) ** 2
        tilde = log(K) * (6 * sqrt(d + 1) + 2 * log(3 * K * H / p)) / sqrt(2 * rho)
        N = ceil(d * H / log(2) * log(1 + K / (tilde * d)))
        U = max(mpf(1), 2 * H * sqrt(d * K / tilde) + H * N * sqrt(log(3 * K * H / p) / rho) / tilde)
        chi = 25**4 * 162 * d * U * H * K**4 / p
        yield (1, K, d, H, eps, delta, N, sqrt(log(K) / (2 * rho)), H * sqrt(6 * N / rho) / (H + 1), 2 * tilde,
               5 * H**2 * sqrt(d * tilde * log(chi)) + 6 * d * H * sqrt(log(chi)))


def table(name, fields, rows):
    print("static const struct {\n    %s\n} oracle_%s[] = {" % (fields, name))
    for row in rows:
        print("    {%s}," % ", ".join('"%s"' % x if isinstance(x, str) else text(x) for x in row))
    print("};\n")


print("/* Made by tests/oracle/papers_oracle.py. */\n")
table("mixtures", "const char *kind;\n    double local, k, h, d, epsilon, delta, w;\n    const char *name;\n    double printed, played;", mixtures())
table("tabular", "double local, k, h, s, a, epsilon;\n    const char *name;\n    double printed;", tabular())
table("capri", "double local, t, n, b, epsilon, delta;\n    const char *name;\n    double printed;", capri())
table("lsvi", "double doubling, k, d, h, epsilon, delta, releases, gram, response, ridge, beta;", lsvi())
