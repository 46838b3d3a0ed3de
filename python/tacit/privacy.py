"""What is promised: joint(…), local(…), none()."""

from __future__ import annotations

import dataclasses
import math
from typing import Any


@dataclasses.dataclass(frozen=True)
class Privacy:
    """A guarantee that is asked for. Make one with joint(), local() or none()."""

    model: str
    epsilon: float = 0.0
    delta: float | None = None
    calibration: str = "tight"
    noise: str | None = None
    sums: str | None = None
    visits: int = 1
    apart: int = 1
    delta_above_one_over_users: bool = False

    def __post_init__(self) -> None:
        if self.model != "none":
            check_number("epsilon", self.epsilon, 0, math.inf)
        if self.delta is not None:
            check_number("delta", self.delta, 0, 1)
            if self.delta == 1:
                raise ValueError("delta is 1, which promises nothing; it must be below 1 / users")
        for name in ("visits", "apart"):
            value = getattr(self, name)
            if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
                raise ValueError(f"{name} is {value!r}, expected a whole number from 1 on")

    def to_yaml_value(self) -> dict[str, Any]:
        """The entry `privacy` of an agent in an experiment."""
        if self.model == "none":
            return {"model": "none"}
        entry: dict[str, Any] = {"model": self.model, "epsilon": self.epsilon}
        if self.delta is not None:
            entry["delta"] = self.delta
        if self.calibration != "tight":
            entry["calibration"] = self.calibration
        if self.noise is not None:
            entry["noise"] = self.noise
        if self.sums is not None:
            entry["sums"] = self.sums
        if self.visits != 1:
            entry["visits"] = self.visits
            entry["apart"] = self.apart
        if self.delta_above_one_over_users:
            entry["delta_above_one_over_users"] = True
        return entry

    def delta_for(self, users: int) -> float:
        """The delta, or its default: 1 / (10 users)."""
        return 1 / (10 * users) if self.delta is None else self.delta


def check_number(name: str, value: Any, low: float, high: float) -> None:
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} is {value!r}, expected a number")
    if not low <= float(value) <= high:
        bounds = f"from {low:g} to {high:g}" if math.isfinite(high) else f"of at least {low:g}"
        raise ValueError(f"{name} is {value!r}, expected a number {bounds}")


def joint(epsilon: float, delta: float | None = None, **more: Any) -> Privacy:
    """Joint differential privacy: the curator is trusted; nobody but the user learns about the user.

    delta is 1 / (10 users) unless it is given; 0 means pure. More: calibration, noise, sums, visits, apart.

    >>> joint(1, 2e-6).epsilon
    1
    """
    return Privacy("joint", epsilon, delta, **more)


def local(epsilon: float, delta: float | None = None, **more: Any) -> Privacy:
    """Local differential privacy: what leaves a user's device has its noise already."""
    return Privacy("local", epsilon, delta, **more)


def none() -> Privacy:
    """No noise and no promise, said aloud."""
    return Privacy("none")
