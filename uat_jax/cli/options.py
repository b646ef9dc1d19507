"""What several commands share: options that mean the same in all of them, and the console that they print on."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any, NoReturn

from rich.console import Console
from rich.status import Status

from uat_jax.decide.effort import MEMORY
from uat_jax.devices import DEVICES


def add_jobs(parser: ArgumentParser) -> None:
    """--jobs: the number of processes."""
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: one per core); on accelerators one")


def add_memory(parser: Any) -> None:
    """--memory: what comparisons may hold."""
    parser.add_argument(
        "--memory", default=MEMORY, metavar="SIZE", help='what comparisons may hold, such as "4 GiB" (the default)'
    )


def add_device(parser: Any, otherwise: str = "JAX's own choice") -> None:
    """--device: where the work is done; otherwise: what that is if the option is not given."""
    parser.add_argument("--device", help=f"one of {', '.join(DEVICES)} (default: {otherwise})")


class _Console(Console):
    """A console that leaves it to the command line what happens when nobody reads what it prints."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def working(on: str) -> Status:
    """A line on a terminal that says what is being done, with a sign that turns, in letters that can be encoded."""
    terminal = Console(stderr=True)
    return terminal.status(on, spinner="line" if terminal.options.ascii_only else "dots")


def console() -> Console:
    """The terminal's width, or 160 columns where the output is not a terminal."""
    return _Console() if sys.stdout.isatty() else _Console(width=160)
