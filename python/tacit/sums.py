"""Private running sums."""

from __future__ import annotations

import os
from typing import Any

from . import _tacit
from .files import read_whole, write_whole
from .privacy import Privacy


class Sum(_tacit.Sum):
    """A stream of vectors, one from each user; after any of them the noisy sum so far can be shown.

    users      how many will come; one more is refused
    dimension  of each vector
    l2, l1     the largest norm that a vector can have, at least one of them; a longer one is refused, or scaled
               down with clip=True
    privacy    joint(…), local(…) or none()
    seed       None: noise from the operating system. A number: simulated, reproducible, and NOT PRIVATE
    more       nonnegative, nonzeros, mechanism ("tree", "smooth", "blt", …), as in tacit/sum.h

    >>> import tacit
    >>> count = tacit.Sum(users=1000, dimension=3, l2=1, privacy=tacit.joint(1, 1e-6), seed=1)
    >>> count.add([1, 0, 0])
    >>> count.add([[0, 1, 0], [0, 0, 1]])
    >>> len(count.release()), count.step
    (3, 3)
    >>> count
    Sum(users=1000, dimension=3, joint epsilon 1 delta 1e-06, step 3, SIMULATED by seed=1: not private)
    """

    def __new__(
        cls,
        users: int,
        dimension: int,
        *,
        l2: float = 0.0,
        l1: float = 0.0,
        privacy: Privacy,
        nonnegative: bool = False,
        nonzeros: int = 0,
        clip: bool = False,
        mechanism: str | None = None,
        seed: int | None = None,
    ) -> Sum:
        if mechanism is None:
            mechanism = privacy.sums
        self = super().__new__(
            cls, users, dimension, l1, l2, privacy.model, privacy.epsilon,
            privacy.delta_for(users) if privacy.model != "none" else 0.0, nonnegative=nonnegative,
            nonzeros=nonzeros, clip=clip, visits=privacy.visits, apart=privacy.apart, mechanism=mechanism, seed=seed,
        )
        self._about = (users, dimension, privacy, seed)
        return self

    _about: tuple[int, int, Privacy, int | None]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass  # all is done when the object is made

    def __repr__(self) -> str:
        users, dimension, privacy, seed = self._about
        promise = "no privacy"
        if privacy.model != "none":
            promise = f"{privacy.model} epsilon {privacy.epsilon:g} delta {privacy.delta_for(users):g}"
        return f"Sum(users={users}, dimension={dimension}, {promise}, step {self.step}{simulated(seed)})"

    def stddev(self, step: int | None = None) -> float:
        """The standard deviation of each released coordinate at a step (1 to users), or at the noisiest one."""
        return self._stddev(step)

    def save(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The complete state, raw data and noise key included: keep it as safe as the data itself.

        With a path it is also written there, whole or not at all.
        """
        state = self._save()
        if path is not None:
            write_whole(path, state)
        return state

    def load(self, state: bytes | str | os.PathLike[str]) -> None:
        """Continues where a saved sum of the same request stopped. This one must be fresh."""
        self._load(state if isinstance(state, bytes) else read_whole(state))


def simulated(seed: int | None) -> str:
    """What repr says of noise that comes from a seed."""
    return "" if seed is None else f", SIMULATED by seed={seed}: not private"
