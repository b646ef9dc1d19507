"""Amounts of memory: "4 GiB" and the number of bytes that it is."""

from __future__ import annotations

import math
import re

from uat_jax.errors import InputError

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
"""Each is 1,024 of the one before."""

_NAMES = {unit.lower(): 1024.0**k for k, unit in enumerate(UNITS)} | {"": 1.0, "b": 1.0, "byte": 1.0}
_NAMES |= {f"{letter}b": 1000.0**k for k, letter in enumerate("kmgtp", 1)}
"""What a unit is called, in lower case, and its bytes: a GB has 10⁹."""


def size_text(count: float) -> str:
    """3.5 GiB; whole numbers without a decimal."""
    power = min(len(UNITS) - 1, int(math.log2(max(1.0, count)) // 10))
    value = count / 1024**power
    digits = 0 if power == 0 or value == round(value) else 1
    return f"{value:.{digits}f} {UNITS[power]}"


def parse_bytes(given: object) -> float:
    """The bytes that a number of them is, or a text such as "4 GiB" or "500 MB"; `math.inf` is no limit.

    Raises:
        InputError: it is neither, or not more than 0.
    """
    count: object = given
    if isinstance(given, str):
        found = re.fullmatch(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*([a-z]*)\s*", given.lower())
        unit = _NAMES.get(found[2]) if found else None
        try:
            count = float(found[1]) * unit if found and unit else None
        except ValueError:
            count = None
    if isinstance(count, bool) or not isinstance(count, int | float) or not count > 0:
        raise InputError(f'got memory={given!r}; wanted bytes, more than 0, or a text such as "4 GiB"')
    return float(count)
