"""A limit of time for work that asks no deadline: the claims of the ledger, where a file says how deep they go."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from uat_jax.errors import BudgetError

AGAIN_SECONDS = 0.5


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """The body ends after so many seconds with a `BudgetError`, as soon as it runs Python code again.

    An exception that is raised in a function that C calls back is lost, so the timer goes on until the body has ended.
    Where the system has no timer, or outside the main thread, in which Python runs what a timer calls, none is set.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: Any) -> None:
        raise BudgetError(f"the time is up: {seconds:g} seconds; allow more seconds")

    before = signal.signal(signal.SIGALRM, over)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left, interval)
        signal.signal(signal.SIGALRM, before)
