"""How the time of a program grows along one axis of its sizes: seconds ~ axis^exponent."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from uat_jax.bench.measure import Row

POINTS = 3
"""The exponent is the slope of log(seconds) over log(axis) through the last so many points, by least squares."""


@dataclass(frozen=True)
class Growth:
    """One program along one axis; `fixed` holds the other entries of the sizes."""

    case: str
    program: str
    axis: str
    fixed: dict[str, Any]
    at: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """The slope through the last points."""
        x, y = (list(map(math.log, values[-POINTS:])) for values in (self.at, self.seconds))
        return statistics.linear_regression(x, y).slope


def growths(rows: Sequence[Row], axes: Sequence[str]) -> Iterator[Growth]:
    """One for each program of a case and each axis along which at least three sizes differ in nothing else."""
    for axis in axes:
        families: dict[Any, dict[float, float]] = defaultdict(dict)
        for row in rows:
            if axis in row.size:
                fixed = tuple((name, value) for name, value in row.size.items() if name != axis)
                families[row.case, row.program, fixed][row.size[axis]] = row.seconds
        for (case, program, fixed), points in families.items():
            if len(points) >= POINTS:
                at = tuple(sorted(points))
                yield Growth(case, program, axis, dict(fixed), at, tuple(points[x] for x in at))
