"""An argument on the terminal: numbered equations, each decided before it is printed."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

from uat_jax.decide.figures import Deduced, Equations, Figures, Proof
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.symbolic.difference import Difference
from uat_jax.symbolic.difference import difference as difference_of_forms
from uat_jax.symbolic.normal_form import Normaliser
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step

WIDTH = 104


class BrokenStepError(AssertionError):
    """A step of the argument that does not hold; unlike `assert`, it also stops an optimised run."""


def difference(left: Program, right: Program) -> Difference | None:
    """The first word in which the normal forms of two programs' results part; None if they are equal."""
    read = Normaliser(left.lines)
    other = Normaliser(right.lines, read.letters)
    return difference_of_forms(read, read(left.result), other(right.result))


def run(argument: Callable[[], None]) -> None:
    """Run a script that takes no arguments: exit code 2 and one line if it got some, 1 at a step that does not hold."""
    name, *given = sys.argv
    if given:
        print(f"got {' '.join(given)}; run it without arguments: python proofs/{Path(name).name}", file=sys.stderr)
        raise SystemExit(2)
    try:
        argument()
    except BrokenStepError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None


class Argument:
    """Prints as it goes; every method that claims something raises `BrokenStepError` if it is not so."""

    def __init__(self, title: str) -> None:
        self.number = 0
        print(f"{title}\n{'═' * len(title)}")

    def section(self, title: str) -> None:
        """A heading."""
        print(f"\n{title}\n{'─' * len(title)}")

    def say(self, text: str) -> None:
        """A sentence or two."""
        print(textwrap.fill(" ".join(text.split()), WIDTH))

    def show(self, formula: object) -> None:
        """A formula or a table that claims nothing by itself."""
        for line in str(formula).splitlines():
            print(_wrapped(line, "        ", "          "))

    def check(self, fact: str, holds: bool) -> None:
        """A fact, numbered: (n) ✓ fact."""
        if not holds:
            raise BrokenStepError(f"not so: {fact}")
        self.number += 1
        print(_wrapped(f"{f'({self.number})':>6} ✓ {fact}", "", "         "))

    def prove(self, step: Step) -> None:
        """An equation, numbered: both sides have one normal form."""
        if not step.holds():
            raise BrokenStepError(f"{step.name} fails; {_parting(step)}")
        self.check(step.name, True)
        self.show(step)

    def decide(self, *found: Evidence) -> None:
        """Findings of the ledger, numbered, with what they are about: proved, certified, or numbers that agree."""
        for evidence in found:
            fact, _, _ = evidence.finding.partition(": follows, by exact multipliers")
            self.check(fact, evidence.verdict in (Verdict.PROVED, Verdict.CERTIFIED, Verdict.AGREES))
            for line in _about(evidence.figures):
                self.show(line)

    def reject(self, fact: str, evidence: Evidence) -> None:
        """A claim that must not be proved, numbered, with what was found instead."""
        self.check(f"not so — {fact}", evidence.verdict in (Verdict.REFUTED, Verdict.UNKNOWN))
        self.show(evidence.finding)

    def refute(self, step: Step) -> None:
        """An equation that must fail, with the word that is wrong in it."""
        self.check(f"refuted — {step.name}", not step.holds())
        self.show(f"{step.left} ≠ {step.right}")
        self.show(_parting(step))


def _about(figures: Figures) -> Iterator[str]:
    """The inequality with its hypotheses, or the equations, that a finding is about."""
    if isinstance(figures, Deduced):
        yield figures.claim + (f"   where {', '.join(figures.hypotheses)}" if figures.hypotheses else "")
    if isinstance(figures, Equations):
        yield from figures.equations.values()
    if isinstance(figures, Proof):
        yield from (step.equation for step in figures.steps)


def _parting(step: Step) -> str:
    normalise = Normaliser(step.where)
    word = difference_of_forms(normalise, normalise(step.left), normalise(step.right))
    assert word is not None  # asked for steps that do not hold
    return parting(word)


def parting(word: Difference) -> str:
    """Where two sides part, in words."""
    place = f", in {word.where}" if word.where else ""
    return f"left has {word.left}, right has {word.right}{place}"


def _wrapped(line: str, first: str, rest: str) -> str:
    """The line broken between terms, never inside an index such as {i + 1}."""
    bound = re.sub(r"\{[^{}]*\}", lambda index: index.group().replace(" ", "\N{NO-BREAK SPACE}"), line)
    folded = textwrap.fill(bound, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False)
    return folded.replace("\N{NO-BREAK SPACE}", " ")
