"""What a benchmark case is: a question, sizes, and for each size programs that must give one answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from uat_jax.errors import UatJaxError
from uat_jax.typing import Function, PyTree


class WrongAnswerError(UatJaxError):
    """A program whose answer is wrong has no time."""


@dataclass(frozen=True)
class Program:
    """One way of computing the answer.

    Attributes:
        function: what is timed. It returns a pytree of arrays where `compiled`, any value otherwise.
        arguments: what it is called with.
        compiled: a JAX function, which the harness traces, compiles and runs itself; otherwise a function of the host.
        operations: floating-point operations of one call, counted from the formula (2mnk for a product of matrices);
            None where a count would mean nothing.
        trials: how many of a comparison one call does; None where it is not about trials.
        compiles: a function of the host that compiles programs when it is first called: for how long is told.
    """

    function: Function
    arguments: tuple[PyTree, ...]
    compiled: bool = True
    operations: float | None = None
    trials: int | None = None
    compiles: bool = False


@dataclass(frozen=True)
class Experiment:
    """The programs of one size, the first of them the baseline that ratios refer to.

    Attributes:
        programs: by the name that stands in the table.
        check: given the answer of one program (of its name), raises `WrongAnswerError` if it is wrong. It compares
            with a plain reference, computed once when the experiment is built, within a derived tolerance.
        wrong: makes a wrong answer of a right one, of the kind that a bug would give; `check` must refuse it for
            every program, or nothing is timed.
        limits: the largest ratio of times to the baseline that is aimed at, by name of the program.
        compile_limits: the same for the ratio of compile times.
        least_shares: the least share of the device's own rate of matrix products that is aimed at, by name.
    """

    programs: Mapping[str, Program]
    check: Callable[[str, PyTree], None]
    wrong: Callable[[PyTree], PyTree]
    limits: Mapping[str, float] = field(default_factory=dict)
    compile_limits: Mapping[str, float] = field(default_factory=dict)
    least_shares: Mapping[str, float] = field(default_factory=dict)


Size = Mapping[str, Any]
"""What varies, by name: ``{"depth": 6, "width": 64, "dtype": "float32"}``."""


@dataclass(frozen=True)
class Case:
    """One question about cost.

    Attributes:
        name: what `uat-jax bench` is asked for, a few words joined by hyphens.
        question: one line that ends with a question mark.
        build: makes the experiment of one size, called with the size's entries by name. It may raise
            `UnavailableError` where the device, an extra package or the memory is missing.
        quick, standard, full: the sizes of ``--quick`` (seconds, most of them for compiling), of a plain run (a minute
            or two) and of ``--full``, the report.
        axes: the numerical entries of the sizes along which growth is fitted, the others held fixed.
        rounds: how often each program is run in a standard run.
        compiled: whether it has a compiled program; where it has none, to build it may be the work already.
        words: what an entry can be that is one of a few words, by its name.
    """

    name: str
    question: str
    build: Callable[..., Experiment]
    quick: Sequence[Size]
    standard: Sequence[Size]
    full: Sequence[Size]
    axes: tuple[str, ...] = ()
    rounds: int = 9
    compiled: bool = True
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)


class UnavailableError(UatJaxError):
    """A case cannot run here; the message says what is missing and what to do."""
