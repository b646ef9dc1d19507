"""How long the evaluation of a stored program takes: a short file can hold a program that never ends."""

from collections.abc import Sequence

from uat_jax.arithmetic.stored_control import CALL, SCAN

EVALUATIONS = 2**20
"""The largest number of equations that one evaluation of a stored program takes, calls and scans unrolled."""

DEPTH = 64
"""How deep calls may lie in each other."""

CONTROL = frozenset([CALL, SCAN, "cond", "while"])
"""The primitives whose jaxprs may call others."""


class Extents:
    """How many equations each jaxpr evaluates, with all that it calls, and how deep its calls lie in each other."""

    def __init__(self) -> None:
        self.known: list[tuple[int, int]] = []

    def append(self, calls: Sequence[tuple[int, Sequence[int]]]) -> tuple[int, int]:
        """The extent of the next jaxpr; `calls` says for each equation how often it calls which jaxprs before it."""
        evaluations = sum(1 + times * sum(self.known[index][0] for index in called) for times, called in calls)
        depth = 1 + max((self.known[index][1] for _, called in calls for index in called), default=0)
        self.known.append((evaluations, depth))
        return evaluations, depth

    def plain(self, name: str, called: Sequence[int]) -> bool:
        """Whether a primitive that is no control flow, such as a reduction, calls only jaxprs that call nothing."""
        return name in CONTROL or all(self.known[index][1] == 1 for index in called)
