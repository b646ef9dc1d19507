"""``python -m uat_jax`` and the command ``uat-jax``."""

import atexit
import gc
import sys

from uat_jax.cli import main
from uat_jax.compilation_cache import enable


def command() -> int:
    """The command line with compiled kernels kept between runs."""
    enable()
    atexit.register(gc.freeze)  # a process that ends need not look for garbage: after a ledger that takes a second
    return main()


if __name__ == "__main__":
    sys.exit(command())
