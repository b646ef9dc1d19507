"""How hard to try: the error allowed, the time, the random numbers, and who is told what is being done."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from uat_jax.byte_sizes import parse_bytes
from uat_jax.errors import InputError
from uat_jax.interpret.deadline import Deadline
from uat_jax.numbers.prime_fields.field_functions import LAWS

BUDGET = 120.0
"""The seconds that a test of equivalence may take where nothing else is said."""

MEMORY = "4 GiB"
"""What a test of equivalence may hold in memory where nothing else is said."""

ERROR = 2.0**-128
"""The chance of a wrong CERTIFIED that is allowed where nothing else is said."""


@dataclass(frozen=True)
class Effort:
    """What one decision may cost.

    error: the largest chance of a wrong CERTIFIED.  seed: of all random numbers.  deadline: when all work ends.
    laws: those of `uat_jax.numbers.prime_fields.field_functions.LAWS` in force.  progress: told each stage in a line.
    almost_everywhere: whether the functions may differ on a set of inputs of measure zero.  strict: whether two methods
    that contradict each other raise a `DisagreementError`; else the answer is UNKNOWN and asks for a report.

    Raises:
        InputError: a value out of range.
    """

    error: float = ERROR
    seed: int = 0
    deadline: Deadline = field(default_factory=Deadline)
    laws: frozenset[str] = LAWS
    progress: Callable[[str], None] = lambda message: None
    almost_everywhere: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.error, float) or not 0 < self.error < 1:
            raise InputError(f"got error={self.error!r}; wanted a probability between 0 and 1, such as 2.0**-128")
        if type(self.seed) is not int or not 0 <= self.seed < 2**31:
            raise InputError(f"got seed={self.seed!r}; wanted a whole number from 0 to 2^31 - 1")
        if type(self.almost_everywhere) is not bool:
            raise InputError(f"got almost_everywhere={self.almost_everywhere!r}; wanted True or False")

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return self.deadline.late


def deadline(
    budget: float | None,
    otherwise: float = math.inf,
    equations: float = math.inf,
    memory: float | str = MEMORY,
) -> Deadline:
    """The end of so many seconds from now, or of those in ``otherwise`` if the user chose none, and the memory allowed.

    Raises:
        InputError: the seconds, or the bytes, are not more than 0.
    """
    held = parse_bytes(memory)
    if budget is None:
        return Deadline(time.monotonic() + otherwise, equations, memory=held)
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not budget > 0:
        raise InputError(f"got budget={budget!r}; wanted seconds, more than 0")
    return Deadline(time.monotonic() + budget, equations, chosen=True, memory=held)
