"""Python values as the YAML that experiment files have."""

from __future__ import annotations

import json
import math
import os
from typing import Any


def to_yaml(value: Any) -> str:
    """One line of YAML.

    >>> to_yaml({"kind": "riverswim", "states": [4, 6], "mirror": True, "epsilon": float("inf")})
    '{"kind": "riverswim", "states": [4, 6], "mirror": yes, "epsilon": .inf}'
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_yaml(str(k))}: {to_yaml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(to_yaml(v) for v in value) + "]"
    if hasattr(value, "to_yaml_value"):
        return to_yaml(value.to_yaml_value())
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return to_yaml(value.tolist())
    if hasattr(value, "__index__"):
        return str(value.__index__())
    if hasattr(value, "__float__"):
        return float_text(float(value))
    raise TypeError(f"{value!r} has no place in an experiment: expected numbers, texts, lists and dicts")


def float_text(value: float) -> str:
    if math.isnan(value):
        raise ValueError("an experiment cannot contain a NaN")
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return repr(value)
