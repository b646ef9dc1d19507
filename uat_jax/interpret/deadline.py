"""How long work may go on, and what it may hold: one object that every walk over a program and every search asks."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from uat_jax.byte_sizes import UNITS, size_text
from uat_jax.errors import BudgetError, MemoryLimitError


@dataclass
class Deadline:
    """A moment of `time.monotonic`, a number of equations that may still be evaluated, and the bytes that may be held.

    ``chosen``: whether the user asked for it, so that what makes an answer better may use the time up.
    """

    moment: float = math.inf
    equations: float = math.inf
    chosen: bool = False
    memory: float = math.inf

    @property
    def remaining(self) -> float:
        """The seconds that are left."""
        return self.moment - time.monotonic()

    @property
    def late(self) -> bool:
        """Whether the time or the equations are used up."""
        return self.equations < 0 or self.remaining < 0

    def check(self, where: Callable[[], str] = str) -> None:
        """Nothing, if there is time left; ``where`` says at which line of the user's program this is asked.

        Raises:
            BudgetError: the time or the equations are used up.
        """
        if self.equations < 0:
            raise BudgetError(f"too many equations were evaluated{where()}; bound the loops")
        if self.remaining < 0:
            raise BudgetError(f"the time is up{where()}; allow more seconds")

    def spend(self, where: Callable[[], str]) -> None:
        """One equation less may be evaluated from now on.

        Raises:
            BudgetError: the time or the equations are used up; ``where`` says at which line of the user's program.
        """
        self.equations -= 1
        self.check(where)

    def hold(self, needed: float, what: str) -> None:
        """Nothing, if ``what`` may hold so many bytes; it is asked before any of them is taken.

        Raises:
            MemoryLimitError: that is more than is allowed; the message says what would fit.
        """
        if needed > self.memory:
            allowed, part = size_text(self.memory), max(2, math.ceil(needed / self.memory))
            raise MemoryLimitError(
                f"{what} needs about {size_text(needed)} of memory, and {allowed} are allowed; "
                f'pass memory="{_enough(needed)}", or arrays of 1/{part} of the entries, which would fit'
            )


def _enough(needed: float) -> str:
    """A little more than is needed, in a whole number of a unit."""
    power = max(k for k in range(len(UNITS)) if k == 0 or 1.25 * needed >= 4 * 1024**k)
    return f"{math.ceil(1.25 * needed / 1024**power)} {UNITS[power]}"
