"""How the time of a program grows along one axis of its sizes: seconds ~ axis^exponent."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from uat_jax.bench.case import Size
from uat_jax.bench.measure import Row
from uat_jax.typing import JsonObject

POINTS = 3
"""The exponent is the slope of log(seconds) over log(axis) through the last so many points, by least squares."""


@dataclass(frozen=True)
class Growth:
    """One program along one axis; `fixed` holds the other entries of the sizes, such as ``"4 width"`` for hidden."""

    case: str
    program: str
    axis: str
    fixed: JsonObject
    at: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """The slope through the last points."""
        x, y = (list(map(math.log, values[-POINTS:])) for values in (self.at, self.seconds))
        return statistics.linear_regression(x, y).slope


def growths(rows: Sequence[Row], axes: Sequence[str]) -> Iterator[Growth]:
    """One for each program of a case and each axis along which at least three sizes differ in nothing else.

    Entries that are the same multiple of the axis in all rows grow with it.
    """
    for axis in axes:
        families: dict[Any, dict[float, float]] = defaultdict(dict)
        along = [row for row in rows if axis in row.size]
        multiples = _multiples([row.size for row in along], axis)
        for row in along:
            fixed = tuple((name, value) for name, value in (row.size | multiples).items() if name != axis)
            families[row.case, row.program, fixed][row.size[axis]] = row.seconds
        for (case, program, fixed), points in families.items():
            if len(points) >= POINTS:
                at = tuple(sorted(points))
                yield Growth(case, program, axis, dict(fixed), at, tuple(points[x] for x in at))


def _multiples(sizes: Sequence[Size], axis: str) -> dict[str, str]:
    """The entries that are the same multiple of the axis in every size, in words."""
    ratios: dict[str, set[float]] = defaultdict(set)
    for size in sizes:
        for name, value in size.items():
            if name != axis and isinstance(value, int | float):
                ratios[name].add(value / size[axis])
    return {name: f"{min(found):g} {axis}" for name, found in ratios.items() if len(found) == 1}
