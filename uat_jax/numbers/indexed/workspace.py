"""The tables of one proof: letters that were made, results that are remembered, and how long it may take."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from uat_jax.interpret.deadline import Deadline


@dataclass
class Workspace:
    """What is shared by all expressions of one proof, and forgotten with it.

    letters: by digest, so that equal letters are one object.  remembered: results of functions, by function and
    arguments.  divisors: those that may vanish, but on a set of measure zero only.  lower: the smallest value of a
    size where it is not 1; derived: what sizes are by constraints; fixed: sizes that are numbers in the case that is
    looked at; lengths: numbers that stand for a size where they are lengths of axes, and its name.  signed: whether
    maximum and magnitude are written by the sign of their operand, the second of two ways of writing them.  cuts: the
    numbers of the arrays that both programs compute, which a certificate names.
    """

    deadline: Deadline | None = None
    signed: bool = False
    meant: bool = False
    lower: Mapping[str, int] = field(default_factory=dict)
    fixed: Mapping[str, int] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    lengths: Mapping[int, str] = field(default_factory=dict)
    letters: dict[str, Any] = field(default_factory=dict)
    remembered: dict[Any, Any] = field(default_factory=dict)
    divisors: dict[str, Any] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    cuts: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    constants: set[Any] = field(default_factory=set)
    bounded_sizes: bool = False
    uses_signs: bool = False
    depth: int = 0

    def check_deadline(self) -> None:
        """Raises `BudgetError` if the time is up."""
        if self.deadline is not None:
            self.deadline.check()


def sooner(deadline: Deadline | None, seconds: float) -> Deadline:
    """The deadline, or so many seconds from now if that is sooner."""
    moment = time.monotonic() + seconds
    return Deadline(moment if deadline is None else min(moment, deadline.moment))


_CURRENT: ContextVar[Workspace] = ContextVar("workspace of the indexed normal form")


def workspace() -> Workspace:
    """The tables of the proof that is under way."""
    return _CURRENT.get()


@contextlib.contextmanager
def working(tables: Workspace) -> Iterator[Workspace]:
    """Expressions made inside belong to these tables."""
    token = _CURRENT.set(tables)
    try:
        yield tables
    finally:
        _CURRENT.reset(token)
