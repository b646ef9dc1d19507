"""How long the evaluation of a stored program takes: a short file can hold a program that never ends."""

from collections.abc import Sequence
from typing import NamedTuple

from uat_jax.interpret.stored_control import CALL, SCAN
from uat_jax.interpret.symbolic_sizes import is_symbolic

EVALUATIONS = 2**20
"""The largest number of equations that one evaluation of a stored program takes, calls and scans unrolled."""

SIZE = 2**15
"""The largest number of equations of a stored program, calls written out: JAX checks each of them."""

DEPTH = 64
"""How deep calls may lie in each other."""

CONTROL = frozenset([CALL, SCAN, "cond", "while"])
"""The primitives whose jaxprs may call others."""


class Extent(NamedTuple):
    """How many equations a jaxpr evaluates, how many it has with its calls written out, how deep these calls lie."""

    evaluations: int
    size: int
    depth: int

    @property
    def allowed(self) -> bool:
        """Whether a stored program may be so long."""
        return self.evaluations <= EVALUATIONS and self.size <= SIZE and self.depth <= DEPTH


LIMITS = f"more than {EVALUATIONS} evaluations, {SIZE} equations or {DEPTH} nested calls"


class Extents:
    """The extents of a list of jaxprs, each of which calls only jaxprs earlier in the list."""

    def __init__(self) -> None:
        self.known: list[Extent] = []

    def append(self, calls: Sequence[tuple[int, Sequence[int]]]) -> Extent:
        """The extent of the next jaxpr; `calls` says for each equation how often it calls which jaxprs before it.

        A number of times that is no number counts as one: nothing evaluates a program of symbolic dimensions.
        """
        calls = [(1 if is_symbolic(times) else times, called) for times, called in calls]
        inner = [(times, [self.known[index] for index in called]) for times, called in calls]
        evaluations = sum(1 + times * sum(e.evaluations for e in called) for times, called in inner)
        size = sum(1 + sum(e.size for e in called) for _, called in inner)
        depth = 1 + max((e.depth for _, called in inner for e in called), default=0)
        self.known.append(Extent(evaluations, size, depth))
        return self.known[-1]

    def plain(self, name: str, called: Sequence[int]) -> bool:
        """Whether a primitive that is no control flow, such as a reduction, calls only jaxprs that call nothing."""
        return name in CONTROL or all(self.known[index].depth == 1 for index in called)
