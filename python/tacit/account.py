"""The accountant: what noise costs, and how much is enough.

Every epsilon and delta is rounded so that the promise holds.

>>> import tacit
>>> round(tacit.account.scale(epsilon=1, delta=1e-6, l2=1), 4)
4.2247
>>> g = tacit.account.guarantee([tacit.account.gaussian(sensitivity=1, scale=4.2248)], delta=1e-6)
>>> round(g.epsilon, 4)
1.0
"""

from __future__ import annotations

import dataclasses
from typing import Sequence

from . import _tacit

__all__ = [
    "Cost", "Guarantee", "black_box", "gaussian", "gdp_delta", "gdp_epsilon", "gdp_mu", "guarantee", "laplace",
    "scale", "zcdp", "zcdp_delta", "zcdp_epsilon",
]


def scale(
    epsilon: float, delta: float = 0.0, *, l2: float | None = None, l1: float | None = None, count: int = 1
) -> float:
    """The smallest noise for `count` releases that are (epsilon, delta)-private together.

    With l2, the standard deviation of Gaussian noise (delta > 0); with l1, Laplace's b. The sensitivity is how
    far replacing one user moves a release.

    >>> round(scale(epsilon=1, l1=1), 6)
    1.0
    """
    if (l1 is None) == (l2 is None):
        raise TypeError("give one sensitivity: l2 for Gaussian noise, or l1 for Laplace noise")
    if l2 is not None:
        return _tacit.gaussian_scale(epsilon, delta, l2, count)
    assert l1 is not None
    return _tacit.laplace_scale(epsilon, delta, l1, count)


@dataclasses.dataclass(frozen=True)
class Cost:
    """`count` releases of one kind, all touched by the same user. Make one with gaussian(), laplace(), …"""

    kind: str
    sensitivity: float = 0.0
    scale: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
    rho: float = 0.0
    count: int = 1


def gaussian(sensitivity: float, scale: float, count: int = 1) -> Cost:
    """Gaussian noise of this standard deviation on a release of this L2 sensitivity."""
    return Cost("gaussian", sensitivity=sensitivity, scale=scale, count=count)


def laplace(sensitivity: float, scale: float, count: int = 1) -> Cost:
    """Laplace noise of this scale on a release of this L1 sensitivity."""
    return Cost("laplace", sensitivity=sensitivity, scale=scale, count=count)


def black_box(epsilon: float, delta: float = 0.0, count: int = 1) -> Cost:
    """Any mechanism that is (epsilon, delta)-private."""
    return Cost("black_box", epsilon=epsilon, delta=delta, count=count)


def zcdp(rho: float, count: int = 1) -> Cost:
    """Any mechanism that is rho-zCDP."""
    return Cost("zcdp", rho=rho, count=count)


@dataclasses.dataclass(frozen=True)
class Guarantee:
    """What costs come to. epsilon and delta are promises; the intervals contain the exact values."""

    epsilon: float
    delta: float
    epsilon_interval: tuple[float, float]
    delta_interval: tuple[float, float]
    mu: float
    rho: float
    method: str

    @classmethod
    def of(cls, d: _tacit.Composition) -> Guarantee:
        return cls(d["epsilon"][1], d["delta"][1], d["epsilon"], d["delta"], d["mu"], d["rho"], d["method"])


def guarantee(
    costs: Cost | Sequence[Cost], *, delta: float | None = None, epsilon: float | None = None
) -> Guarantee:
    """What all costs together come to: at a delta, the epsilon; or at an epsilon, the delta.

    >>> guarantee(black_box(0.5, count=2), delta=0).epsilon
    1.0
    """
    if (delta is None) == (epsilon is None):
        raise TypeError("give one of delta and epsilon; the other is the answer")
    if isinstance(costs, Cost):
        costs = [costs]
    rows = [(c.kind, c.sensitivity, c.scale, c.epsilon, c.delta, c.rho, c.count) for c in costs]
    at = epsilon if delta is None else delta
    assert at is not None
    return Guarantee.of(_tacit.compose(rows, at, delta is not None))


def gdp_delta(mu: float, epsilon: float) -> float:
    """The delta of mu-Gaussian DP at this epsilon, rounded up."""
    return _tacit.gdp_delta(mu, epsilon)


def gdp_epsilon(mu: float, delta: float) -> float:
    """The epsilon of mu-Gaussian DP at this delta, rounded up."""
    return _tacit.gdp_epsilon(mu, delta)


def gdp_mu(epsilon: float, delta: float) -> float:
    """The largest mu whose Gaussian DP implies (epsilon, delta), rounded down."""
    return _tacit.gdp_mu(epsilon, delta)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """The delta of rho-zCDP at this epsilon, by the optimal conversion, rounded up."""
    return _tacit.zcdp_delta(rho, epsilon)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The epsilon of rho-zCDP at this delta, by the optimal conversion, rounded up."""
    return _tacit.zcdp_epsilon(rho, delta)
