"""The cases of two programs of integers and real numbers, and cases of given integers.

The integers that a program compares and chooses by are letters.  Comparisons split the letters into cases, in each of
which every decision is the same; the rows that are chosen are inputs (docs/soundness.md §20).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.domain import Domains
from uat_jax.decide.integers import Integers, held
from uat_jax.decide.lookups.differences import LARGEST, ZERO, Differences, between
from uat_jax.decide.lookups.integer_part import IntegerPart
from uat_jax.decide.lookups.letters import Letters, Undecided, new_letters
from uat_jax.decide.lookups.one_integer import Derived, derived_of
from uat_jax.decide.lookups.steps import step_by_step
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.deadline import Deadline

MOST_LETTERS = 256
"""So many integers are letters at most."""


@dataclass(frozen=True)
class Case:
    """Hypotheses on the letters, numbers for the other integers, and what both programs compute of them."""

    known: Differences
    chosen: tuple[np.ndarray, ...]
    sides: tuple[IntegerPart, IntegerPart]


@dataclass(frozen=True)
class Texts:
    """Two programs, and which of their integer inputs are letters; all values of the others are looked at.

    letters: the places of these inputs.  with_places: whether comparisons with all places of an axis are rows with a
    single 1, rather than decided one by one.  with_functions: whether functions of one input are letters of their own.
    """

    left: ClosedJaxpr
    right: ClosedJaxpr
    domains: Domains
    letters: tuple[int, ...]
    deadline: Deadline
    with_places: bool = True
    with_functions: bool = False

    @property
    def avals(self) -> Sequence[Any]:
        """The shapes and dtypes of the inputs."""
        return self.left.in_avals

    @property
    def whole(self) -> list[int]:
        """Which inputs are integers."""
        return [i for i in range(len(self.avals)) if isinstance(self.domains[i], Integers)]

    @property
    def listed(self) -> list[int]:
        """Which inputs are integers of which all values are looked at."""
        return [i for i in self.whole if i not in self.letters]

    @cached_property
    def _arrays(self) -> dict[int, Letters]:
        """The letters of each input."""
        first, arrays = 1, {}
        for i in self.letters:
            arrays[i] = new_letters(first, self.avals[i].shape, np.dtype(self.avals[i].dtype))
            first += arrays[i].plus.size
        return arrays

    def _start(self) -> Differences:
        ends = [(self.domains[i].low, self.domains[i].high) for i in self.letters for _ in range(_size(self.avals[i]))]
        if len(ends) > MOST_LETTERS:
            raise UnsupportedError(f"more than {MOST_LETTERS} integers")
        if any(max(-low, high) > LARGEST for low, high in ends):
            raise UnsupportedError("integers of more than 40 bits: give them a range with uj.integers(spec, low, high)")
        return between([*ends, *self.functions[0].ends])

    @cached_property
    def functions(self) -> tuple[Derived, list[dict[Any, Letters]]]:
        """The letters that are functions of one input, and by program the variables that are arrays of them."""
        if not self.with_functions:
            return Derived({}), [{}, {}]
        ends = {i: (self.domains[i].low, self.domains[i].high) for i in self.letters}
        return derived_of((self.left, self.right), self._arrays, ends)

    @property
    def hull(self) -> tuple[int, int]:
        """The least and the largest integer that a letter may be."""
        ends = [(self.domains[i].low, self.domains[i].high) for i in self.letters] + self.functions[0].ends
        return min(low for low, _ in ends), max(high for _, high in ends)

    def cases(self, most: int) -> list[Case]:
        """All cases.

        Raises:
            UnsupportedError: there are more than `most`, or a program does something else with letters.
            BudgetError: the time is up.
        """
        found: list[Case] = []
        waiting = [(self._start(), chosen) for chosen in self._lists(most)][::-1]
        while waiting:
            self.deadline.check()
            known, chosen = waiting.pop()
            try:
                found.append(self._case(known, chosen))
            except Undecided as question:
                fitting = (self.functions[0].fitting(case) for case in question.cases(known)[::-1])
                waiting += [(case, chosen) for case in fitting if case is not None]
            if len(found) + len(waiting) > most:
                raise UnsupportedError(f"comparisons of the integers have more than {most} outcomes")
        return found

    def _lists(self, most: int) -> Iterator[tuple[np.ndarray, ...]]:
        """Every choice of the integers that are no letters."""
        count = math.prod(self.domains[i].count ** _size(self.avals[i]) for i in self.listed)
        if count > most:
            raise UnsupportedError(f"{count} choices of integers that are no places of arrays")
        shapes = [self.avals[i].shape for i in self.listed]
        rows = _products([self.domains[i] for i in self.listed for _ in range(_size(self.avals[i]))])
        for row in rows:
            arrays, place = [], 0
            for i, shape in zip(self.listed, shapes, strict=True):
                entries = row[place : place + math.prod(shape)]
                arrays.append(held(np.asarray(entries, object).reshape(shape), self.avals[i].dtype))
                place += math.prod(shape)
            yield tuple(arrays)

    def _case(self, known: Differences, chosen: tuple[np.ndarray, ...]) -> Case:
        given = {i: letters.simplified(known) for i, letters in self._arrays.items()}
        given |= dict(zip(self.listed, chosen, strict=True))  # type: ignore[arg-type]

        def side(s: int, program: ClosedJaxpr) -> IntegerPart:
            values = {program.jaxpr.invars[i]: array for i, array in given.items()}
            return IntegerPart(program, known, values, self.with_places, self.functions[1][s])

        return Case(known, chosen, (side(0, self.left), side(1, self.right)))

    def at(self, points: Sequence[tuple[np.ndarray, ...]]) -> list[Case]:
        """The cases of given integers: an array for each integer input, in their order.  Raises `UnsupportedError`."""
        cases = []
        for point in points:
            of = dict(zip(self.whole, point, strict=True))
            known: Differences | None = self._start()
            for i in self.letters:
                for letter, x in zip(self._arrays[i].plus.ravel(), np.asarray(of[i]).ravel(), strict=True):
                    known = None if known is None else known.with_equal(int(letter), ZERO, int(x))
            known = None if known is None else self.functions[0].fitting(known)
            if known is None:
                raise UnsupportedError("integers outside of their range")
            cases.append(self._case(known, tuple(of[i] for i in self.listed)))
        return cases

    def points(self, cases: Sequence[Case], most: int, random: np.random.Generator) -> list[tuple[np.ndarray, ...]]:
        """Integers of so many of the cases: different small ones where they may be, and any."""
        spread = [cases[k] for k in dict.fromkeys(np.linspace(0, len(cases) - 1, min(most, len(cases))).astype(int))]
        found = [self._point(case, None) for case in spread]
        found += [self._point(case, random) for case in spread[: max(2, most - len(spread))]]
        return [point for point in found if point is not None]

    def alike(self, cases: Sequence[Case]) -> list[tuple[np.ndarray, ...]]:
        """Integers of each case, equal ones where they may be."""
        found = [self._point(case, None, alike=True) for case in cases]
        return [point for point in found if point is not None]

    def _point(
        self, case: Case, random: np.random.Generator | None, *, alike: bool = False
    ) -> tuple[np.ndarray, ...] | None:
        entries = case.known.numbers(random, alike=alike)
        if entries is None:
            return None
        of = dict(zip(self.listed, case.chosen, strict=True))
        for i in self.letters:
            plus = self._arrays[i].plus
            there = np.asarray([entries[k - 1] for k in plus.ravel()], object)
            of[i] = held(there.reshape(plus.shape), self.avals[i].dtype)
        return tuple(of[i] for i in self.whole)


def _size(aval: Any) -> int:
    return math.prod(aval.shape)


def _products(ranges: Sequence[Integers]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(of.low, of.high + 1) for of in ranges))


def ways(left: ClosedJaxpr, right: ClosedJaxpr, domains: Domains, deadline: Deadline) -> Iterator[Texts]:
    """The ways of telling letters from integers of which all values are looked at, as many letters as may be first.

    Comparisons with all places of an axis are first rows with a single 1, then, if there are some, ones of numbers.
    At last functions of one input are letters of their own, if there are some.
    """
    left, right = step_by_step(left), step_by_step(right)
    whole = [i for i, of in enumerate(domains.of) if isinstance(of, Integers)]
    outcomes = {i: domains[i].count ** _size(left.in_avals[i]) for i in whole}
    order = sorted(whole, key=lambda i: outcomes[i])
    truths = [i for i in whole if left.in_avals[i].dtype == np.bool_]
    several = any(e.primitive.name == "eq" for program in (left, right) for e in program.eqns)
    for with_functions in (False, True):
        for with_places in (True, False) if several else (True,):
            tried = set()
            for listed in range(len(order)):
                letters = tuple(i for i in whole if i not in truths and i not in order[:listed])
                if letters and letters not in tried:
                    tried.add(letters)
                    texts = Texts(left, right, domains, letters, deadline, with_places, with_functions)
                    if not with_functions or texts.functions[0].of:
                        yield texts
