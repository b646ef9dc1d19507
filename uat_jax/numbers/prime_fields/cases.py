"""Two formulas that decide by signs, compared case by case: in every cell of the inputs both decide nothing any more.

A cell is what is assumed of the signs of the numbers that the formulas compare.  Cells that no real numbers satisfy are
left out (`inequalities`); in all others both formulas are expressions without decisions, and must be the same function.
docs/soundness.md §8.2 has the theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from jax.extend.core import ClosedJaxpr

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.deadline import Deadline
from uat_jax.numbers.prime_fields.cell import NONNEGATIVE, Cell, EitherWay, Range, Surface, Undecided, whole
from uat_jax.numbers.prime_fields.cell_programs import programs
from uat_jax.numbers.prime_fields.formula import Formula
from uat_jax.numbers.prime_fields.formula_in_cell import InCell
from uat_jax.numbers.prime_fields.guards import ALL_SIGNS
from uat_jax.numbers.prime_fields.separate_terms import Separated, separated
from uat_jax.numbers.prime_fields.terms import OF_ZERO, is_chosen, is_undefined

MOST_CELLS = 192
"""Formulas with more cells than this are not compared."""

MOST_PARTIAL = 128
"""Formulas of more operations are not compared where they may be undefined: each cell takes long."""

MOST_PAIRS = 64
"""So many pairs of formulas are compared at most."""

Equal = Callable[[ClosedJaxpr, ClosedJaxpr, bool, Sequence[int]], bool]
"""Whether two programs of scalars are shown to be the same function, constants being what is written or is meant; of
each input a sign is given: 1 if only inputs ≥ 0 count, 2 if only those > 0, else 0."""


WAYS = {frozenset([1]): 2, frozenset([0, 1]): 1, frozenset([-1]): -2, frozenset([-1, 0]): -1}
"""2 for what is positive, 1 for what is not negative, -2 and -1 likewise."""


class Cases:
    """Decides for pairs of formulas whether they are the same function, case by case; answers are kept."""

    def __init__(self, equal: Equal, deadline: Deadline | None = None):
        self.equal = equal
        self.deadline = deadline or Deadline()
        self.answers: dict[Hashable, bool] = {}
        self.found: dict[Hashable, frozenset[int]] = {}
        self.differences: dict[Hashable, Fraction | None] = {}

    def same(
        self,
        pair: Formula,
        ranges: Mapping[int, Range],
        *,
        meant: bool,
        partial: bool = False,
        both: bool = False,
        almost: bool = False,
    ) -> bool:
        """Whether both results of a formula are equal wherever both are defined, as far as that is shown.

        ranges: what is known of variables.  partial: whether anything in them may be undefined somewhere, so that cells
        are parted by that as well; else all of it is defined for all inputs.  both: whether a result may not be
        undefined where the other one is a number.  almost: whether inputs of measure zero do not count; variables are
        entries of inputs then, each another one.
        """
        signature = pair.signature
        if signature is None or len(pair.results) != 2:
            return False
        key = signature, tuple(ranges.items()), meant, partial, both, almost
        if key not in self.answers:
            if len(self.answers) >= MOST_PAIRS:
                return False
            try:
                self.answers[key] = self._agree_everywhere(pair, ranges, meant, partial, both, almost)
            except UnsupportedError:
                self.answers[key] = False
        return self.answers[key]

    def signs(self, compared: Formula, ranges: Mapping[int, Range], *, meant: bool) -> frozenset[int]:
        """The signs that the difference of what a formula compares can have, or a number of which it takes the sign.

        The result of the formula is a decision, a maximum, a minimum or a magnitude of numbers that are defined for all
        inputs; ranges: what is known of variables.
        """
        key = compared.signature, tuple(ranges.items()), meant
        if compared.signature is None or key not in self.found and len(self.found) >= MOST_PAIRS:
            return ALL_SIGNS
        if key not in self.found:
            self.found[key] = self._signs(compared, ranges, meant)
        return self.found[key]

    def _signs(self, compared: Formula, ranges: Mapping[int, Range], meant: bool) -> frozenset[int]:
        found: frozenset[int] = frozenset()
        try:
            for cell in cells(compared, ranges, self.deadline, meant=meant, read=InCell.difference):
                found |= cell.signs(cell.atoms.compared(cell.read, cell.signs))
                if found == ALL_SIGNS:
                    break
        except UnsupportedError:
            return ALL_SIGNS
        return found

    def _agree_everywhere(
        self, pair: Formula, ranges: Mapping[int, Range], meant: bool, partial: bool, both: bool, almost: bool
    ) -> bool:
        """Whether both results agree in all cells, or as sums part by part."""
        options = {"meant": meant, "partial": partial, "almost": almost}
        if not both and (sums := separated(pair)) is not None and self._agree_in_parts(sums, pair, ranges, **options):
            return True
        if partial and len(pair.nodes) > MOST_PARTIAL:
            return False
        found = cells(pair, ranges, self.deadline, meant=meant, partial=partial, almost=almost)
        return all(self._agree(pair, cell, meant, both) for cell in found)

    def _agree_in_parts(self, sums: Separated, pair: Formula, ranges: Mapping[int, Range], **options: bool) -> bool:
        """Whether the parts of two sums have constant differences, which cancel; equal parts are looked at once."""
        by_place = {pair.places[v]: known for v, known in ranges.items() if v in pair.places}
        total = sums.constant
        for part in sums.parts:
            known = {v: by_place[place] for v, place in part.places.items() if place in by_place}
            known |= dict.fromkeys(part.squares, NONNEGATIVE)
            key = part.signature, tuple(known.items()), *options.values()
            if part.signature is None or options["partial"] and len(part.nodes) > MOST_PARTIAL:
                return False
            if key not in self.differences:
                self.differences[key] = self._difference(part, known, **options)
            difference = self.differences[key]
            if difference is None:
                return False
            total += difference
        return total == 0

    def _difference(
        self, part: Formula, ranges: Mapping[int, Range], meant: bool, partial: bool, almost: bool
    ) -> Fraction | None:
        """What the left result is above the right one wherever both are defined, if that is one number."""
        found: set[Fraction] = set()
        try:
            for cell in cells(part, ranges, self.deadline, meant=meant, partial=partial, almost=almost):
                left, right = cell.read
                if is_chosen(left) or is_chosen(right):
                    return None
                if is_undefined(left) or is_undefined(right):
                    continue
                value = cell.atoms.exactly(left.polynomial - right.polynomial).value
                if value is None and not self._agree(part, cell, meant, both=False):
                    return None
                found.add(value or Fraction(0))
                if len(found) > 1:
                    return None
        except UnsupportedError:
            return None
        return found.pop() if found else Fraction(0)

    def _agree(self, pair: Formula, cell: Cell, meant: bool, both: bool) -> bool:
        """Whether both results are the same expression in a cell, or the same function on it."""
        left, right = cell.read
        if is_chosen(left) or is_chosen(right):
            return OF_ZERO.get(left, left) is OF_ZERO.get(right, right)
        if is_undefined(left) or is_undefined(right):
            return not both or is_undefined(left) and is_undefined(right)
        if cell.atoms.is_zero(left.polynomial - right.polynomial, cell.signs):
            return True
        signs = cell.signs_of_variables(pair)
        return any(self._tested(pair, cell, signs, meant, surface) for surface in (None, *cell.surfaces()))

    def _tested(
        self, pair: Formula, cell: Cell, signs: Sequence[frozenset[int]], meant: bool, surface: Surface | None
    ) -> bool:
        ways = [WAYS.get(frozenset(found), 0) for found in signs]
        zeros = {node for node, found in zip(pair.variables, signs, strict=True) if cell.zeros and found == {0}}
        found = programs(pair, cell, ways, zeros, surface, meant)
        return found is not None and self.equal(*found, meant, list(map(abs, ways)))


def cells(
    pair: Formula,
    ranges: Mapping[int, Range],
    deadline: Deadline,
    *,
    meant: bool,
    partial: bool = False,
    almost: bool = False,
    read: Callable[[InCell], Any] | None = None,
) -> Iterator[Cell]:
    """All cells in which what is read off a formula is decided: its two results, if nothing else is said.

    Raises:
        UnsupportedError: there are too many, or something is not followed.
        BudgetError: the time is up.
    """
    waiting, number = [whole(pair, ranges, deadline, partial, almost)], 0
    while waiting:
        cell = waiting.pop()
        number += 1
        if number > MOST_CELLS:
            raise UnsupportedError(f"there are more than {MOST_CELLS} cases")
        try:
            found = (read or InCell.results)(InCell(pair, cell, meant))
        except Undecided as undecided:
            waiting += cell.parts(undecided)
            continue
        except EitherWay as decision:
            waiting += cell.either_way(decision.node)
            continue
        yield replace(cell, read=found)
