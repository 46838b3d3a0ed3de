#!/usr/bin/env python3
"""Noise, shifts and radii of the learners for linear mixtures, in the papers' own (raw) units.

    python3 tests/oracle/linear_oracle.py > tests/oracle/linear_oracle.inc

Needs python3-mpmath. The library works in units in which features and targets are at most 1; here everything is as the papers
print it ([LGLP21], [Z22]), with features of norm up to H, sqrt(d) (weighted steps), H^2 (squares) or sqrt(d) H ([Z22]). The
test converts. `proven` has the radii that the library proves for itself, written out once more, and the budget split of the
noise found by brute force over both scales.
"""
from mpmath import mp, mpf, ceil, exp, log, ncdf, nstr, sqrt

mp.dps = 40


def text(x):
    return nstr(mpf(x), 20, min_fixed=1, max_fixed=0)


def table(name, fields, rows):
    print("static const struct {\n    double %s;\n} oracle_%s[] __attribute__((unused)) = {" % (", ".join(fields), name))
    for row in rows:
        print("    {%s}," % ", ".join(text(x) for x in row))
    print("};\n")


P = mpf(float(0.05))
DELTA = mpf(float(1e-5))
CASES = [(mpf(h), mpf(d), mpf(k), mpf(float(eps)), mpf(float(w))) for h in (5, 20) for d in (5, 20)
         for k in (1000, 100000) for eps, w in ((1, 1), (0.5, 2.5))]


def luyo_node_count(k):
    return ceil(log(k, 2) + 1)


def ucrl_vtr(local):
    rows = []
    for h, d, k, eps, w in CASES:
        k0 = luyo_node_count(k)
        if local:
            sigma = 4 * h**3 / eps * sqrt(2 * log(4 * h / DELTA))
            nodes = k
        else:
            sigma = 32 * h**2 / eps * sqrt(2 * h * k0 * log(8 * h / DELTA) * log(4 / DELTA) * log(16 * h * k0 / DELTA))
            nodes = k0
        upsilon = sigma * sqrt(nodes) * (4 * sqrt(d) + 2 * log(6 * k * h / P))
        c = sigma * sqrt(nodes) * (sqrt(d) + 2 * sqrt(log(6 * k * h / P)))
        beta = 3 * (w + 1) * sqrt(h**2 + upsilon) + sqrt(2 * h**2 * (log(3 * h / P) + d / 2 * log(1 + k * h)))
        rows.append((h, d, k, eps, w, sigma, upsilon, c, beta))
    return rows


def ucrl_vtr_plus(local):
    rows = []
    for h, d, k, eps, w in CASES:
        k0 = luyo_node_count(k)
        if local:
            c = sqrt(2 * log(8 * h / DELTA))
            sigma1, sigma2, nodes = 8 * d * h / eps * c, 8 * h**5 / eps * c, k
        else:
            c = sqrt(2 * h * k0 * log(16 * h / DELTA) * log(8 / DELTA) * log(32 * h * k0 / DELTA))
            sigma1, sigma2, nodes = 64 * d / eps * c, 64 * h**4 / eps * c, k0
        size = 4 * sqrt(d) + 2 * log(24 * k * h / P)
        up1, up2 = sigma1 * sqrt(nodes) * size, sigma2 * sqrt(nodes) * size
        now = floor_half(k)  # the episode at which the radii are asked for
        l = log(24 * now**2 * h / P)
        shared = 3 * (w + 1) * sqrt(1 + up1)
        check = shared + 8 * d * sqrt(log(1 + k) * l) + 4 * sqrt(d) * l
        hat = shared + 8 * sqrt(d * log(1 + k) * l) + 4 * sqrt(d) * l
        tilde = 3 * (w + 1) * sqrt(1 + up2) + 8 * sqrt(d * h**4 * log(1 + k * h**4 / d) * l) + 4 * h**2 * l
        rows.append((h, d, k, eps, w, now, sigma1, sigma2, up1, up2, hat, check, tilde))
    return rows


def floor_half(k):
    return mpf(int(k) // 2)


def linopt(local):
    """d for both regressions; features of transitions are sqrt(d) H long at most, of rewards 1."""
    rows = []
    for h, d, k, eps, _ in CASES:
        m = k if local else ceil(log(k, 2))
        if local:
            each = 4 * h / eps * sqrt(2 * log(8 * h / DELTA))
            p1, p2, r1, r2 = sqrt(2) * d * h**2 * each, 2 * sqrt(d) * h**2 * each, sqrt(2) * each, 2 * each
        else:
            each = h / eps * sqrt(32 * m * log(4 * h / DELTA))
            p1, p2, r1, r2 = d * h**2 * each, sqrt(d) * h**2 * each, each, each
        size = 4 * sqrt(d) + sqrt(8 * log(8 * k * h / P))
        sp, sr = p1 * sqrt(m) * size, r1 * sqrt(m) * size
        vector = sqrt(d) + sqrt(2 * log(4 * k * h / P))
        nu_p, nu_r = p2 * sqrt(m / sp) * vector, r2 * sqrt(m / sr) * vector
        beta_p = h / 2 * sqrt(2 * log(h / P) + d * log(1 + k * h**2 / sp)) + sqrt(d * 3 * sp) + nu_p
        beta_r = sqrt(2 * log(h / P) + d * log(1 + k / (d * sr))) / 2 + sqrt(d * 3 * sr) + nu_r
        rows.append((h, d, k, eps, p1, p2, r1, r2, sp, sr, beta_p, beta_r))
    return rows


def proven():
    """A level of noise U, C given: shift 2 U, lambda 1, W."""
    rows = []
    for h, d, k, _, w in CASES:
        for blocks, u, c in ((1, 0, 0), (1, 37.5, 12.25), (12, 3.5, 0.75)):
            u, c = mpf(u), mpf(c)
            noise = sqrt(1 + 3 * u) * w + c / sqrt(1 + u)
            width = sqrt(2 * log(3 * h * blocks / P) + d * log(1 + k / d))
            now = floor_half(k)
            l = log(24 * now**2 * h * blocks / P)
            ridge = 1 / d
            weighted = sqrt(ridge + 3 * u) * w + c / sqrt(ridge + u)
            hat = weighted + 8 * sqrt(log(1 + k) * l) + 4 * l
            check = weighted + 8 * sqrt(d * log(1 + k) * l) + 4 * l
            tilde = noise + 8 * sqrt(d * log(1 + k / d) * l) + 4 * l
            rows.append((h, d, k, w, blocks, u, c, now, noise + width, noise + width / 2, hat, check, tilde))
    return rows


def mu(eps, delta):
    low, high = mpf("1e-6"), mpf(100)
    for _ in range(300):
        middle = sqrt(low * high)
        if ncdf(-eps / middle + middle / 2) - exp(eps) * ncdf(-eps / middle - middle / 2) > delta:
            high = middle
        else:
            low = middle
    return low


def split():
    """Noise on Gram matrix and response of UCRL-VTR by a binary tree: the least 3 W k_B s_B + k_g s_g among all pairs of
    scales that cost (H - 1) L J(1 / s_B^2, 1 / s_g^2) = mu^2. The ratio is sought on a grid that is refined three times."""
    rows = []
    for h, d, k, eps, w in CASES:
        leaf = ceil(log(k, 2))
        alpha = P / (6 * k * h)
        kb, kg = sqrt(2 * d) + sqrt(2 * log(2 / alpha)), sqrt(d) + sqrt(2 * log(1 / alpha))
        budget = mu(eps, DELTA)

        def scales(ratio):
            a, b = mpf(1), ratio**2
            j = 2 * a + 2 * b + b**2 / (2 * a) if b <= 2 * a else 4 * b
            sb = sqrt((h - 1) * leaf * j) / budget
            return sb, sb / ratio

        low, high = mpf("0.01"), mpf(100)
        for _ in range(6):
            grid = [low * (high / low)**(mpf(i) / 400) for i in range(401)]
            costs = [3 * w * kb * scales(r)[0] + kg * scales(r)[1] for r in grid]
            i = costs.index(min(costs))
            low, high = grid[max(i - 1, 0)], grid[min(i + 1, 400)]
        sb, sg = scales(sqrt(low * high))
        rows.append((h, d, k, eps, w, sb, sg))
    return rows


print("/* clang-format off. Made by linear_oracle.py; do not edit. */\n")
VTR = ["h", "d", "k", "epsilon", "w", "sigma", "upsilon", "c", "beta"]
table("vtr_joint", VTR, ucrl_vtr(False))
table("vtr_local", VTR, ucrl_vtr(True))
PLUS = ["h", "d", "k", "epsilon", "w", "now", "sigma1", "sigma2", "upsilon1", "upsilon2", "hat", "check", "tilde"]
table("plus_joint", PLUS, ucrl_vtr_plus(False))
table("plus_local", PLUS, ucrl_vtr_plus(True))
LINOPT = ["h", "d", "k", "epsilon", "p1", "p2", "r1", "r2", "sigma_p", "sigma_r", "beta_p", "beta_r"]
table("linopt_joint", LINOPT, linopt(False))
table("linopt_local", LINOPT, linopt(True))
table("proven", ["h", "d", "k", "w", "blocks", "u", "c", "now", "vtr", "linopt", "hat", "check", "tilde"], proven())
table("split", ["h", "d", "k", "epsilon", "w", "gram", "response"], split())
