"""Worlds: simulators that play the users."""

from __future__ import annotations

from typing import Any

from . import _tacit
from .text import to_yaml


class World(_tacit.World):
    """A world of a kind that `tacit.worlds()` lists, or that you have registered.

    Keywords are the kind's parameters. What happens to user k follows from `chance` and k alone: None takes chance
    from the operating system, a number makes it reproducible.

    >>> import tacit
    >>> world = tacit.World("riverswim", states=6, horizon=20, chance=1)
    >>> policy, values = world.solve()
    >>> policy.shape, round(world.evaluate(policy), 3) == round(world.optimal_value, 3)
    ((20, 6), True)
    >>> states, actions, rewards = world.play(policy)
    >>> len(states), len(actions), len(rewards)
    (21, 20, 20)
    """

    def __new__(cls, kind: str, *, chance: int | None = None, **parameters: Any) -> World:
        self = super().__new__(cls, to_yaml({"kind": kind, **parameters}), chance=chance)
        self._about = (kind, parameters, chance)
        return self

    _about: tuple[str, dict[str, Any], int | None]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass  # all is done when the object is made

    def __repr__(self) -> str:
        kind, parameters, chance = self._about
        words = [repr(kind)] + [f"{k}={v!r}" for k, v in parameters.items()]
        if chance is not None:
            words.append(f"chance={chance}")
        return f"World({', '.join(words)})"

    def reseed(self, chance: int | None) -> None:
        """Another root of chance; users begin anew, at number 0."""
        self._reseed(chance)
        self._about = (*self._about[:2], chance)

    @property
    def family(self) -> str:
        """`tabular`, or `bandit` where an episode is one step."""
        return self.facts["family"]

    @property
    def states(self) -> int:
        """How many; 0 where contexts are not numbered."""
        return self.facts["states"]

    @property
    def actions(self) -> int:
        return self.facts["actions"]

    @property
    def horizon(self) -> int:
        return self.facts["horizon"]

    @property
    def optimal_value(self) -> float:
        """Of the best policy, with rewards in [0, 1]; NaN where it is not known."""
        return self.facts["optimal_value"]


def worlds() -> list[dict[str, Any]]:
    """All kinds of worlds: name, help, source, parameters.

    >>> "riverswim" in [kind["name"] for kind in worlds()]
    True
    """
    return _tacit.world_kinds()
