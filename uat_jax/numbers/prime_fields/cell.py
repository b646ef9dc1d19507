"""A cell of the inputs: what is assumed of the signs of the numbers that formulas compare, and what follows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from uat_jax.interpret.deadline import Deadline
from uat_jax.numbers.prime_fields import whole_numbers
from uat_jax.numbers.prime_fields.atoms import Atoms
from uat_jax.numbers.prime_fields.formula import Formula
from uat_jax.numbers.prime_fields.inequalities import Inequality, Polynomial, possible


class Border(Enum):
    """What is done about the inputs at which a number, of which the sign is asked, is 0."""

    OWN = "a cell of its own"
    BOTH = "in both cells, because either answer is right there"
    NONE = "left out, because they are limits of others and either answer is right there"


class Undecided(Exception):
    """A sign on which the formulas depend."""

    def __init__(self, polynomial: Polynomial, border: Border):
        super().__init__()
        self.polynomial, self.border = polynomial, border


class EitherWay(Exception):
    """A decision about what is undefined: a device may say either; or a variable that may be undefined."""

    def __init__(self, node: int):
        super().__init__()
        self.node = node


@dataclass(frozen=True)
class Surface:
    """A part of the inputs on which an atom is a polynomial in variables."""

    atom: int
    value: Polynomial


@dataclass(frozen=True)
class Cell:
    """Assumptions on signs: inequalities, and polynomials that are 0; behind them what was read in it, decided.

    known: the signs of polynomials that have one sign in the cell, and so in all its parts.  partial: whether anything
    may be undefined somewhere.  outcomes: of decisions about what is undefined in the cell.  facts: what holds of atoms
    that are defined in the whole cell.  almost: whether inputs of measure zero do not count.
    """

    atoms: Atoms
    deadline: Deadline = field(compare=False)
    inequalities: tuple[Inequality, ...] = ()
    zeros: tuple[Polynomial, ...] = ()
    partial: bool = False
    almost: bool = False
    outcomes: Mapping[int, bool] = field(default_factory=dict, compare=False)
    facts: list[Inequality] = field(default_factory=list, compare=False)
    known: dict[Any, frozenset[int]] = field(default_factory=dict, compare=False)
    read: Any = field(default=None, compare=False)

    def possible(self, *more: Inequality) -> bool:
        """Whether real numbers may satisfy what is assumed, and more."""
        self.deadline.check()
        stated = (*self.atoms.known, *self.facts, *self.inequalities, *more)
        known = [whole_numbers.tightened(i, self.atoms) for i in stated]
        return possible(known, self.atoms.positive, self.atoms.nonnegative)

    def signs(self, p: Polynomial) -> frozenset[int]:
        """The signs that a polynomial can have in the cell."""
        p = self.atoms.exactly(p)
        if p.value is not None:
            return frozenset([(p.value > 0) - (p.value < 0)])
        if p.key not in self.known:
            found = self._signs(p)
            if len(found) > 1:
                return found
            self.known[p.key] = found
        return self.known[p.key]

    def _signs(self, p: Polynomial) -> frozenset[int]:
        found = frozenset(sign for sign, way in ((1, p), (-1, -p)) if self.possible(Inequality(way, True)))
        return found | {0} if self.possible(Inequality(p, False), Inequality(-p, False)) else found

    def parts(self, undecided: Undecided) -> Iterator[Cell]:
        """The cell in parts in each of which a polynomial has one sign, but for its border.

        The zeros of a polynomial in variables are of measure zero.
        """
        p, border = undecided.polynomial, undecided.border
        own = lambda: {"known": dict(self.known), "facts": list(self.facts)}
        for way in (p, -p):
            more = Inequality(way, border is not Border.BOTH)
            part = replace(self, inequalities=(*self.inequalities, more), **own())
            if part.possible():
                yield part
        if border is Border.OWN and not (self.almost and self.atoms.are_variables(p)):
            both = (Inequality(p, False), Inequality(-p, False))
            part = replace(self, inequalities=(*self.inequalities, *both), zeros=(*self.zeros, p), **own())
            if part.possible():
                yield part

    def either_way(self, node: int) -> Iterator[Cell]:
        """The cell with both outcomes of a decision about what is undefined, or of whether a variable is defined."""
        for outcome in (False, True):
            yield replace(
                self, outcomes={**self.outcomes, node: outcome}, known=dict(self.known), facts=list(self.facts)
            )

    def surfaces(self) -> Iterator[Surface]:
        """For each polynomial that is 0, and each atom in which it has degree one: what the atom is.

        That an atom is a function of variables is forgotten, which makes what is shown more general.
        """
        found = (Polynomial(dict(key)) for key, signs in self.known.items() if signs == {0})
        for zero in (*self.zeros, *found):
            for monomial, slope in zero.terms.items():
                rest = Polynomial({m: c for m, c in zero.terms.items() if m != monomial})
                if len(monomial) != 1 or monomial[0][1] != 1 or not self.atoms.are_variables(rest):
                    continue
                if all(monomial[0][0] != atom for m in rest.terms for atom, _ in m):
                    yield Surface(monomial[0][0], rest * Polynomial.constant(-1 / slope))

    def signs_of_variables(self, pair: Formula) -> list[frozenset[int]]:
        """The signs that each variable can have in the cell; of x where 0 ≤ x ≤ 0 follows from what is assumed, {0}."""
        return [self.signs(self.atoms.of_variable(node)) for node in pair.variables]


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`, without `low` itself if it is `open` there."""

    low: float
    high: float
    open: bool

    @property
    def is_positive(self) -> bool:
        """Whether all numbers in it are above 0."""
        return self.low > 0 or self.low == 0 and self.open

    def folded(self, x: np.ndarray) -> np.ndarray:
        """Any numbers brought into it."""
        if np.isfinite(self.low) and np.isfinite(self.high):
            return self.low + (self.high - self.low) * (np.abs(x) % 1)
        return self.low + np.abs(x) if np.isfinite(self.low) else self.high - np.abs(x)

    def of(self, x: Polynomial) -> Iterator[Inequality]:
        """The inequalities that a number x of this range satisfies: one for each of its ends that is finite."""
        if np.isfinite(self.low):
            yield Inequality(x - Polynomial.constant(Fraction(self.low)), self.open)
        if np.isfinite(self.high):
            yield Inequality(Polynomial.constant(Fraction(self.high)) - x, False)


POSITIVE = Range(0.0, math.inf, True)
"""All positive numbers."""

NONNEGATIVE = Range(0.0, math.inf, False)
"""All numbers that are not negative."""


def whole(pair: Formula, ranges: Mapping[int, Range], deadline: Deadline, partial: bool, almost: bool = False) -> Cell:
    """The cell of all inputs in their ranges."""
    atoms = Atoms()
    for node, known in ranges.items():
        if known.is_positive:
            atoms.positive.update(atom for m in atoms.of_variable(node).terms for atom, _ in m)
    inequalities = [i for node in pair.variables if node in ranges for i in ranges[node].of(atoms.of_variable(node))]
    return Cell(atoms, deadline, tuple(inequalities), partial=partial, almost=almost)
