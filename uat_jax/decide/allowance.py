"""What is left of the time of a call, for what is computed when it is asked for: rounding and hazards."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator

from uat_jax.interpret.deadline import Deadline


class Allowance:
    """Some seconds, which run only while they are spent: between the answers nobody waits."""

    def __init__(self, seconds: float = math.inf):
        self.left = max(0.0, seconds)
        self._end = math.inf

    @contextlib.contextmanager
    def spent(self) -> Iterator[None]:
        """The time inside is taken from what is left."""
        begin = time.monotonic()
        self._end = begin + self.left
        try:
            yield
        finally:
            self.left = max(0.0, self.left - (time.monotonic() - begin))
            self._end = math.inf

    def deadline(self, seconds: float) -> Deadline:
        """The deadline so many seconds from now, or the end of the whole allowance if that is sooner."""
        return Deadline(min(time.monotonic() + seconds, self._end))

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return not self.left or time.monotonic() > self._end
