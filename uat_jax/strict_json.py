"""JSON of a file that is not trusted: what two readers could read in two ways is refused."""

from __future__ import annotations

import json
import math
from typing import Any

DIGITS = 100
"""More digits than a whole number has in a file that this package writes."""


def parsed(content: bytes) -> Any:
    """The value in a file.

    Example:
        >>> parsed(b'{"a": [1, 2.5]}')
        {'a': [1, 2.5]}

    Raises:
        ValueError: it is no JSON or no UTF-8, a key stands twice in one object, a number is not finite or has more than
            `DIGITS` digits.
        RecursionError: it is nested deeper than Python follows.
    """
    return json.loads(
        content.decode("utf-8"),
        object_pairs_hook=_object,
        parse_int=_integer,
        parse_float=_finite,
        parse_constant=_constant,
    )


def is_deeper(value: Any, depth: int) -> bool:
    """Whether lists and objects lie more than so deep in each other; without recursion, whatever the file holds."""
    level = [value]
    for _ in range(depth + 1):
        parents = [v for v in level if isinstance(v, dict | list)]
        level = [child for v in parents for child in (v.values() if isinstance(v, dict) else v)]
    return bool(level)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no key stands twice: one reader would take the first, another the last."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("damaged: a key stands twice in one object")
    return dict(pairs)


def _integer(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError(f"damaged: a whole number has more than {DIGITS} digits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"damaged: {text[:20]} is no finite number")
    return number


def _constant(text: str) -> float:
    raise ValueError(f"damaged: {text} is no number of JSON")
