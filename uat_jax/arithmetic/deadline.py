"""How long work may go on: one object that every walk over a program and every search asks."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from uat_jax.errors import BudgetError


@dataclass
class Deadline:
    """A moment of `time.monotonic`, and a number of equations that may still be evaluated.

    ``chosen``: whether the user asked for it, so that what makes an answer better may use the time up.
    """

    moment: float = math.inf
    equations: float = math.inf
    chosen: bool = False

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
