"""Ctrl-C that is never lost, and never a traceback.

While modules are loaded nothing has been done yet, and libraries of C print what goes wrong in them: the process ends
at once.  Later an interrupt is Python's KeyboardInterrupt.  One that is raised while garbage is collected, or in a
function that C calls back, is printed and forgotten by Python: it comes again.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

INTERRUPTED = 130
"""The exit code: 128 and the number of the signal SIGINT, as a shell reports a process that it ends."""

AGAIN_SECONDS = 0.05
"""After so long a lost interrupt comes again, outside of what lost it."""


class Interrupts:
    """Takes the place of Python's own handler of SIGINT.

    loading: whether the modules of the command are still being loaded.
    """

    def __init__(self) -> None:
        self.loading = True
        self.before = sys.unraisablehook

    def watch(self) -> None:
        """Begin, where Python would raise a KeyboardInterrupt: a process that ignores them goes on ignoring them."""
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self.handle)
            sys.unraisablehook = self.lost

    def work_begins(self) -> None:
        """From here on an interrupt is an exception."""
        self.loading = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """The handler of the signal."""
        if self.loading:
            os.write(2, b"uat-jax: interrupted; nothing was written\n")
            os._exit(INTERRUPTED)
        raise KeyboardInterrupt

    def lost(self, unraisable: Any) -> None:
        """What Python calls with an exception that it cannot raise."""
        if unraisable.exc_type is not KeyboardInterrupt:
            self.before(unraisable)
            return
        timer = threading.Timer(AGAIN_SECONDS, _thread.interrupt_main)
        timer.daemon = True
        timer.start()
