"""``python -m uat_jax`` and the command ``uat-jax``."""

import atexit
import gc
import os
import sys

from uat_jax.interrupts import Interrupts

MANY_PROCESSES = ("prove", "report")
"""The commands that start a process for each core."""

SETTINGS = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "JAX_TRACEBACK_FILTERING": "off"}
"""What NumPy and JAX look up when they are loaded; whoever has set one is left alone.

Threads of matrix products, beside a process for each core, would only wait for one another.  JAX need not make the
tracebacks of errors shorter that say which sizes do not fit, and are never shown.
"""


def command() -> int:
    """The command line with compiled kernels kept between runs."""
    if sys.argv[1:2] and sys.argv[1] in MANY_PROCESSES:
        for name, value in SETTINGS.items():
            os.environ.setdefault(name, value)
    interrupts = Interrupts()
    interrupts.watch()
    from uat_jax.cli import main
    from uat_jax.compilation_cache import enable

    enable()
    atexit.register(gc.freeze)  # a process that ends need not look for garbage: after a ledger that takes a second
    return main(begins=interrupts.work_begins)


if __name__ == "__main__":
    sys.exit(command())
