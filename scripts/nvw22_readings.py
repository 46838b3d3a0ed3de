#!/usr/bin/env python3
"""What Algorithm 1 of [NVW22] guarantees under each reading of its text: a table for scripts/papers.

    scripts/nvw22_readings.py

Independent of the library. All noise is Gaussian, so the cost of one person is mu^2 = sum of (sensitivity / deviation)^2
over all releases that person is in, and epsilon follows from the exact profile of mu-Gaussian privacy.

Gram matrices: H counters, a person in ceil(log2 K) nodes of each, a node moves by sqrt 2 (Frobenius norm).
Responses: N switches of H vectors, each of which moves by 2 (H + 1). Line 11 gives a response the variance
6 H^2 N_max / rho; N_max cancels.
"""
import math

K, DELTA, CLAIM = 1000, 1e-5, 1.0
NODES = math.ceil(math.log2(K))


def epsilon(mu):
    """The epsilon of mu-Gaussian privacy at DELTA, by bisection."""
    def phi(x):
        return 0.5 * math.erfc(-x / math.sqrt(2))
    low, high = 0.0, 100.0
    for _ in range(200):
        e = (low + high) / 2
        if phi(mu / 2 - e / mu) - math.exp(e) * phi(-mu / 2 - e / mu) > DELTA:
            low = e
        else:
            high = e
    return high


def rho():
    """zCDP of the claim, by the paper's own conversion epsilon = rho + 2 sqrt(rho log(1 / delta))."""
    log = math.log(1 / DELTA)
    return (math.sqrt(log + CLAIM) - math.sqrt(log)) ** 2


def gram_by_formulas(log_k, horizon):
    """Equations (6) and (7): the variance of a node is log K / (2 rho), without H."""
    return horizon * NODES * 2 / (log_k / (2 * rho()))


def gram_by_lines(log_k, horizon):
    """Lines 5 and 22 and section 4.2: a node is rho / (2 H log K)-zCDP at the sensitivity 2 of Lemma 14."""
    return horizon * NODES * 2 / (4 * horizon * log_k / rho())


def responses(horizon, per_switch):
    """per_switch: N_max counts switches (Theorem 11, section 4.2); else (switch, step) pairs, as line 15 in the loop."""
    return (horizon if per_switch else 1) * 4 * (horizon + 1) ** 2 / (6 * horizon ** 2 / rho())


READINGS = [
    ("nodes by equations (6), (7), natural logarithm; N_max counts switches", gram_by_formulas, math.log, True),
    ("the same, logarithm to base 2", gram_by_formulas, math.log2, True),
    ("nodes by lines 5, 22 and section 4.2, natural logarithm; N_max counts switches", gram_by_lines, math.log, True),
    ("the same, logarithm to base 2: **the basis of the verdict**", gram_by_lines, math.log2, True),
    ("nodes by lines 5, 22, natural logarithm; line 15 inside the loop over steps", gram_by_lines, math.log, False),
]

print("| reading | H = 5 | H = 20 |\n|---|---|---|")
for words, gram, log, per_switch in READINGS:
    found = [epsilon(math.sqrt(gram(log(K), h) + responses(h, per_switch))) for h in (5, 20)]
    print(f"| {words} | " + " | ".join(f"{e:.3g}" for e in found) + " |")
