"""Two formulas that decide by signs, compared case by case: in every cell of the inputs both decide nothing any more.

A cell is what is assumed of the signs of the numbers that the formulas compare.  Cells that no real numbers satisfy are
left out (`inequalities`); in all others both formulas are expressions without decisions, and must be the same function.
docs/soundness.md §8.2 has the theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr

from uat_jax.arithmetic import whole_numbers
from uat_jax.arithmetic.atoms import Atoms, power
from uat_jax.arithmetic.deadline import Deadline
from uat_jax.arithmetic.formula import DECIDED, Formula, Node, name_of
from uat_jax.arithmetic.guards import ALL_SIGNS
from uat_jax.arithmetic.inequalities import Inequality, Polynomial, possible
from uat_jax.arithmetic.integer_ranges import limits
from uat_jax.arithmetic.recognition import LOWEST, meaning
from uat_jax.arithmetic.whole_numbers import OF_INTEGERS, ROUNDING, small
from uat_jax.errors import UnsupportedError

MOST_CELLS = 96
"""Formulas with more cells than this are not compared."""

MOST_PARTIAL = 48
"""Formulas of more operations are not compared where they may be undefined: each cell takes long."""

MOST_PAIRS = 64
"""So many pairs of formulas are compared at most."""

Equal = Callable[[ClosedJaxpr, ClosedJaxpr, bool, Sequence[int]], bool]
"""Whether two programs of scalars are shown to be the same function, constants being what is written or is meant; of
each input a sign is given: 1 if only inputs ≥ 0 count, 2 if only those > 0, else 0."""

CONTINUOUS = frozenset(
    "add add_any asinh atan convert_element_type cos cosh erf erfc exp exp2 expm1 logistic mul neg sin sinh square sub "
    "tanh".split()
)
"""Functions that are continuous for all real numbers."""

RELATIONS = frozenset(DECIDED) - {"sign"}
"""Comparisons of two numbers."""

LOGICAL = frozenset("and not or xor".split())
"""Operations on booleans."""

DEFINED = CONTINUOUS | RELATIONS | frozenset("abs cbrt ceil clamp floor max min round sign".split())
"""Functions that are defined for all real numbers."""

DEFINED_AT: Mapping[str, frozenset[int]] = {
    "div": frozenset([-1, 1]),
    "log": frozenset([1]),
    "rsqrt": frozenset([1]),
    "sqrt": frozenset([0, 1]),
}
"""The signs of its last operand for which a function is defined; elsewhere it is infinite or NaN."""

PASSING = frozenset("abs add add_any convert_element_type mul neg sqrt square sub".split())
"""Operations whose result, if it is a float, is infinite or NaN where an operand is, whatever the other one is."""


class Cases:
    """Decides for pairs of formulas whether they are the same function, case by case; answers are kept."""

    def __init__(self, equal: Equal, deadline: Deadline | None = None):
        self.equal = equal
        self.deadline = deadline or Deadline()
        self.answers: dict[Any, bool] = {}
        self.found: dict[Any, frozenset[int]] = {}

    def same(self, pair: Formula, ranges: Mapping[int, Range], *, meant: bool, partial: bool = False) -> bool:
        """Whether both results of a formula are equal wherever both are defined, as far as that is shown.

        ranges: what is known of variables.  partial: whether anything in them may be undefined somewhere, so that cells
        are parted by that as well; else all of it is defined for all inputs.
        """
        signature = pair.signature
        if signature is None or len(pair.results) != 2 or partial and len(pair.nodes) > MOST_PARTIAL:
            return False
        key = signature, tuple(ranges.items()), meant, partial
        if key not in self.answers:
            if len(self.answers) >= MOST_PAIRS:
                return False
            try:
                self.answers[key] = self._agree_everywhere(pair, ranges, meant, partial)
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
            for cell in cells(compared, ranges, self.deadline, meant=meant, read=_InCell.difference):
                found |= cell.signs(cell.atoms.compared(cell.read, cell.signs))
                if found == ALL_SIGNS:
                    break
        except UnsupportedError:
            return ALL_SIGNS
        return found

    def _agree_everywhere(self, pair: Formula, ranges: Mapping[int, Range], meant: bool, partial: bool) -> bool:
        """Whether both results agree in all cells."""
        found = cells(pair, ranges, self.deadline, meant=meant, partial=partial)
        return all(self._agree(pair, cell, meant) for cell in found)

    def _agree(self, pair: Formula, cell: Cell, meant: bool) -> bool:
        """Whether both results are the same expression in a cell, or the same function on it."""
        left, right = cell.read
        if _is_chosen(left) or _is_chosen(right):
            return OF_ZERO.get(left, left) is OF_ZERO.get(right, right)
        if _is_undefined(left) or _is_undefined(right):
            return True
        if cell.signs(left.polynomial - right.polynomial) == {0}:
            return True
        signs = cell.signs_of_variables(pair)
        return any(self._tested(pair, cell, signs, meant, surface) for surface in (None, *cell.surfaces()))

    def _tested(
        self, pair: Formula, cell: Cell, signs: Sequence[set[int]], meant: bool, surface: Surface | None
    ) -> bool:
        ways = [_WAYS.get(frozenset(found), 0) for found in signs]
        zeros = {node for node, found in zip(pair.variables, signs, strict=True) if cell.zeros and found == {0}}
        programs = _programs(pair, cell, ways, zeros, surface, meant)
        return programs is not None and self.equal(*programs, meant, list(map(abs, ways)))


@dataclass(frozen=True, eq=False)
class Term:
    """An expression without decisions.

    node: which node it is, with these operands in place of the node's own; None for -operand, or a number.
    """

    polynomial: Polynomial
    node: int | None = None
    operands: tuple[Term, ...] = ()


UNDEFINED = Term(Polynomial.constant(0))
"""What is not a finite number at any point of a cell: infinite or NaN."""


CHOSEN = {code: Term(Polynomial.constant(0)) for code in (-1, 0, 1)}
"""What a program writes on purpose where a formula may be undefined: −∞, NaN and ∞; values like others."""


OF_ZERO = {Term(Polynomial.constant(0)): CHOSEN[-1], Term(Polynomial.constant(0)): CHOSEN[1]}
"""What is undefined because it is log 0 or −log 0, and the infinity that it is on a device."""


def _is_undefined(term: Term | bool) -> bool:
    return term is UNDEFINED or term in OF_ZERO


def _is_chosen(term: Term | bool) -> bool:
    """Whether a value is an infinity or NaN that is written on purpose."""
    return any(term is value for value in CHOSEN.values())


class Border(Enum):
    """What is done about the inputs at which a number, of which the sign is asked, is 0."""

    OWN = "a cell of its own"
    BOTH = "in both cells, because either answer is right there"
    NONE = "left out, because they are limits of others and either answer is right there"


class _Undecided(Exception):
    """A sign on which the formulas depend."""

    def __init__(self, polynomial: Polynomial, border: Border):
        super().__init__()
        self.polynomial, self.border = polynomial, border


class _EitherWay(Exception):
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
    that are defined in the whole cell.
    """

    atoms: Atoms
    deadline: Deadline = field(compare=False)
    inequalities: tuple[Inequality, ...] = ()
    zeros: tuple[Polynomial, ...] = ()
    partial: bool = False
    outcomes: Mapping[int, bool] = field(default_factory=dict, compare=False)
    facts: list[Inequality] = field(default_factory=list, compare=False)
    known: dict[Any, set[int]] = field(default_factory=dict, compare=False)
    read: Any = field(default=None, compare=False)

    def possible(self, *more: Inequality) -> bool:
        """Whether real numbers may satisfy what is assumed, and more."""
        self.deadline.check()
        stated = (*self.atoms.known, *self.facts, *self.inequalities, *more)
        known = [whole_numbers.tightened(i, self.atoms) for i in stated]
        return possible(known, self.atoms.positive, self.atoms.nonnegative)

    def signs(self, p: Polynomial) -> set[int]:
        """The signs that a polynomial can have in the cell."""
        p = self.atoms.exactly(p)
        if p.value is not None:
            return {(p.value > 0) - (p.value < 0)}
        if p.key not in self.known:
            found = self._signs(p)
            if len(found) > 1:
                return found
            self.known[p.key] = found
        return self.known[p.key]

    def _signs(self, p: Polynomial) -> set[int]:
        found = {sign for sign, way in ((1, p), (-1, -p)) if self.possible(Inequality(way, True))}
        return found | {0} if self.possible(Inequality(p, False), Inequality(-p, False)) else found

    def parts(self, undecided: _Undecided) -> Iterator[Cell]:
        """The cell in parts in each of which a polynomial has one sign, but for its border."""
        p, border = undecided.polynomial, undecided.border
        own = lambda: {"known": dict(self.known), "facts": list(self.facts)}
        for way in (p, -p):
            more = Inequality(way, border is not Border.BOTH)
            part = replace(self, inequalities=(*self.inequalities, more), **own())
            if part.possible():
                yield part
        if border is Border.OWN:
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

    def signs_of_variables(self, pair: Formula) -> list[set[int]]:
        """The signs that each variable can have in the cell; of x where 0 ≤ x ≤ 0 follows from what is assumed, {0}."""
        return [self.signs(self.atoms.of_variable(node)) for node in pair.variables]


_WAYS = {frozenset([1]): 2, frozenset([0, 1]): 1, frozenset([-1]): -2, frozenset([-1, 0]): -1}
"""2 for what is positive, 1 for what is not negative, -2 and -1 likewise."""


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


def _whole(pair: Formula, ranges: Mapping[int, Range], deadline: Deadline, partial: bool) -> Cell:
    """The cell of all inputs in their ranges."""
    atoms = Atoms()
    for node, known in ranges.items():
        if known.is_positive:
            atoms.positive.update(atom for m in atoms.of_variable(node).terms for atom, _ in m)
    inequalities = [i for node in pair.variables if node in ranges for i in ranges[node].of(atoms.of_variable(node))]
    return Cell(atoms, deadline, tuple(inequalities), partial=partial)


def cells(
    pair: Formula,
    ranges: Mapping[int, Range],
    deadline: Deadline,
    *,
    meant: bool,
    partial: bool = False,
    read: Callable[[_InCell], Any] | None = None,
) -> Iterator[Cell]:
    """All cells in which what is read off a formula is decided: its two results, if nothing else is said.

    Raises:
        UnsupportedError: there are too many, or something is not followed.
        BudgetError: the time is up.
    """
    waiting, number = [_whole(pair, ranges, deadline, partial)], 0
    while waiting:
        cell = waiting.pop()
        number += 1
        if number > MOST_CELLS:
            raise UnsupportedError(f"there are more than {MOST_CELLS} cases")
        try:
            found = (read or _InCell.results)(_InCell(pair, cell, meant))
        except _Undecided as undecided:
            waiting += cell.parts(undecided)
            continue
        except _EitherWay as decision:
            waiting += cell.either_way(decision.node)
            continue
        yield replace(cell, read=found)


class _InCell:
    """The nodes of a formula in a cell: a term, or True or False."""

    def __init__(self, pair: Formula, cell: Cell, meant: bool):
        self.pair, self.cell, self.meant = pair, cell, meant
        self.found: dict[int, Term | bool] = {}
        self.asked: set[int] = set()
        self.is_generic = False

    def results(self) -> tuple[Term, Term]:
        """Both results.  Raises `_Undecided`, and `UnsupportedError`."""
        self.is_generic = self._compares_nothing_more()
        left, right = (found if _is_chosen(found := self.at(node)) else self.number(node) for node in self.pair.results)
        return left, right  # type: ignore[return-value]

    def difference(self) -> Polynomial:
        """What the result compares: x − y of two operands, x of one.  Raises `_Undecided`, and `UnsupportedError`."""
        (result,) = self.pair.results
        x, *rest = (self.number(operand).polynomial for operand in self.pair.nodes[result].operands)
        return x - rest[0] if rest else x

    def _compares_nothing_more(self) -> bool:
        """Whether the cell is open, all comparisons have one answer in it, and all else is continuous for all inputs.

        Raises:
            _Undecided: a comparison has two answers.
        """
        self.is_generic = False
        if not all(_is_continuous(self.pair, node) for node in self.pair.nodes):
            return False
        for index, node in enumerate(self.pair.nodes):
            if node.key[0] == "apply" and name_of(node) in DECIDED:
                try:
                    self.at(index)
                except _Undecided as undecided:
                    if undecided.border is Border.OWN:
                        raise
                    return False
                except UnsupportedError:
                    return False
        atoms = self.cell.atoms
        return all(i.strict and atoms.are_variables(i.polynomial) for i in self.cell.inequalities)

    def number(self, node: int) -> Term:
        """A node that is a real number."""
        found = self.at(node)
        if isinstance(found, bool) or _is_chosen(found):
            raise UnsupportedError("a decision, infinity or NaN that is no number")
        return found

    def decision(self, node: int) -> bool:
        """A node that is true or false."""
        found = self.at(node)
        if not isinstance(found, bool):
            raise UnsupportedError("a number that decides")
        return found

    def at(self, node: int) -> Term | bool:
        """What a node is."""
        if node not in self.found:
            self.found[node] = self._at(node, self.pair.nodes[node])
        return self.found[node]

    def _at(self, index: int, node: Node) -> Term | bool:
        if node.key[0] == "variable":
            return self._variable(index)
        if node.key[0] == "literal" and jnp.issubdtype(node.dtype, jnp.integer):
            return _number(small(int(node.literal), node.dtype))
        if node.key[0] == "literal":
            return bool(node.literal) if node.dtype == np.bool_ else self._literal(index, node)
        name = name_of(node)
        given = [self.pair.nodes[n].dtype for n in node.operands]
        if name != "convert_element_type" and any(jnp.issubdtype(dtype, jnp.integer) for dtype in given):
            return self._of_integers(name, node)
        if name in ("convert_element_type", "neg") and _is_real(node.dtype) and _is_real(given[0]):
            operand = self.at(node.operands[0])
            if _is_chosen(operand) or operand in OF_ZERO:
                return operand if name != "neg" else _opposite(operand)
        if self.cell.partial:
            found = self._where_undefined(index, name, node)
            if found is not None:
                return found
        rule = RULES.get(name)
        if rule is not None:
            return rule(self, node.operands)
        if name == "convert_element_type" and self.pair.nodes[node.operands[0]].dtype == np.bool_:
            return _number(int(self.decision(node.operands[0])))
        if not all(_is_real(dtype) or jnp.issubdtype(dtype, jnp.integer) for dtype in (node.dtype, *given)):
            raise UnsupportedError(f"'{name}' of what is no real number")
        operands = tuple(map(self.number, node.operands))
        return Term(self._polynomial(name, node, [o.polynomial for o in operands]), index, operands)

    def _variable(self, index: int) -> Term:
        """A free variable; one that may be undefined is so or has the value of a number that is equal to it."""
        if index in self.pair.twins:
            if index not in self.cell.outcomes:
                raise _EitherWay(index)
            if not self.cell.outcomes[index]:
                return UNDEFINED
            for twin in self.pair.twins[index]:
                found = self._twin(index, twin)
                if found is not None:
                    return found
        return Term(self.cell.atoms.of_variable(index), index)

    def _twin(self, index: int, twin: int) -> Term | None:
        """The number at another node, where it can be followed and is defined; None where it depends on this one."""
        if index in self.asked:
            return None
        self.asked.add(index)
        try:
            found = self.at(twin)
        except UnsupportedError:
            return None
        finally:
            self.asked.discard(index)
        if isinstance(found, bool) or _is_undefined(found) or _is_chosen(found):
            return None
        return found

    def _of_integers(self, name: str, node: Node) -> Term | bool:
        """What an operation makes of integers, all of which are small numbers in the cell.

        Raises:
            UnsupportedError: they are not, or the operation is not followed.
        """
        if name == "select_n":
            return _select(self, node.operands)
        operands = [self.integer(o) for o in node.operands]
        if name in DECIDED and name != "sign":
            return bool(DECIDED[name](operands[0] - operands[1]))
        if name not in OF_INTEGERS:
            raise UnsupportedError(f"'{name}' of integers")
        return _number(small(OF_INTEGERS[name](*operands), node.dtype))

    def integer(self, node: int) -> int:
        """A node that is one small integer in the whole cell."""
        value = self.number(node).polynomial.value
        if value is None or value.denominator != 1:
            raise UnsupportedError("an integer that a cell does not decide")
        return small(int(value), self.pair.nodes[node].dtype)

    def _where_undefined(self, index: int, name: str, node: Node) -> Term | bool | None:
        """What an operation makes of what is undefined in the cell, or if it is undefined itself; None elsewhere.

        Raises:
            _Undecided: it is defined in a part of the cell.
            _EitherWay: it decides about what is undefined.
            UnsupportedError: it may make a number of what is undefined, or it is not known where it is defined.
        """
        given = [self.pair.nodes[n].dtype for n in node.operands]
        if name in LOGICAL or name == "select_n" or given[0] == np.bool_:
            return None
        operands = list(map(self.number, node.operands))
        missing = [_is_undefined(x) for x in operands]
        if not any(missing):
            if name in DEFINED or self._is_defined(name, node, operands):
                return None
            at_zero = name == "log" and self.cell.signs(operands[0].polynomial) == {0}
            return next(iter(OF_ZERO)) if at_zero else UNDEFINED
        passing = name in PASSING and _is_real(node.dtype)  # a cast to integers makes a number of NaN
        if passing or name in ("max", "min") and all(missing) or name == "div" and not missing[1]:
            return UNDEFINED
        if name not in ("max", "min", *RELATIONS):
            raise UnsupportedError(f"'{name}' of what is undefined")
        if index not in self.cell.outcomes:
            raise _EitherWay(index)
        outcome = self.cell.outcomes[index]
        return outcome if name in RELATIONS else operands[missing.index(False)] if outcome else UNDEFINED

    def _is_defined(self, name: str, node: Node, operands: Sequence[Term]) -> bool:
        """Whether an operation of numbers is defined in the whole cell; what is known of its atoms then is kept."""
        if name == "integer_pow":
            if node.equation.params["y"] >= 0:  # type: ignore[union-attr]
                return True
            name = "div"
        if name not in DEFINED_AT:
            raise UnsupportedError(f"where '{name}' is defined is not known")
        p = operands[-1].polynomial
        signs, wanted = self.cell.signs(p), DEFINED_AT[name]
        if not signs <= wanted and signs & wanted:
            raise _Undecided(p, Border.OWN)
        if signs <= wanted and not p.is_long:
            self._keep(name, p, signs)
        return signs <= wanted

    def _keep(self, name: str, p: Polynomial, signs: set[int]) -> None:
        """Keep that r² = p and r ≥ 0 for the root r of p ≥ 0, and p/p = 1, in this cell, where they are defined."""
        facts: list[Inequality] = []
        if name in ("sqrt", "rsqrt"):
            root = self._atom("sqrt", "sqrt", [p])
            facts += _equality(root * root - p)
            if 0 not in signs:
                facts.append(Inequality(root, True))
            p = root
        if name in ("div", "rsqrt") and p.value is None:
            inverse = self._inverse(p)
            facts += _equality(p * inverse - Polynomial.constant(1))
            if len(signs) == 1:
                facts.append(Inequality(inverse if signs == {1} else -inverse, True))
        exactly = (Inequality(self.cell.atoms.exactly(fact.polynomial), fact.strict) for fact in facts)
        self.cell.facts.extend(fact for fact in exactly if fact not in self.cell.facts)

    def _literal(self, index: int, node: Node) -> Term:
        """A constant; of one that may stand for another number than is written only the sign is known."""
        value = float(node.literal)
        if self.cell.partial and not np.isfinite(value) and _is_real(node.dtype):
            return CHOSEN[0 if np.isnan(value) else int(np.sign(value))]
        if not np.isfinite(value) or not _is_real(node.dtype) or self.meant and value <= LOWEST:
            raise UnsupportedError("a constant that is no real number")
        meant = meaning(value, node.dtype)
        if not self.meant or meant.as_written:
            return Term(Polynomial.constant(Fraction(value)), index)
        number = None if meant.form is None else meant.form.rational
        magnitude = self.cell.atoms.of_constant(node.key, None if number is None else abs(number))
        return Term(magnitude if value > 0 else -magnitude, index)

    def _polynomial(self, name: str, node: Node, operands: list[Polynomial]) -> Polynomial:
        """What an operation makes of polynomials: a polynomial, or if that is long an atom of its own."""
        found = self._expanded(name, node, operands)
        return self._atom(name, node.key, operands) if found is None or found.is_long else found

    def _expanded(self, name: str, node: Node, operands: list[Polynomial]) -> Polynomial | None:
        """The result of an operation on polynomials, if it is a polynomial in their atoms and inverses."""
        match name, operands:
            case "add" | "add_any", [x, y]:
                return x + y
            case "sub", [x, y]:
                return x - y
            case "mul", [x, y]:
                return x * y
            case "neg", [x]:
                return -x
            case "square", [x]:
                return x * x
            case "convert_element_type", [x]:
                return x if _is_real(node.dtype) else self._cast(x, node.dtype)
            case "floor", [x]:
                return whole_numbers.floor(x, self.cell.atoms, self._is_zero)
            case "ceil", [x]:
                return whole_numbers.ceil(x, self.cell.atoms, self._is_zero)
            case "round", [x]:
                return whole_numbers.rounded(x, self.cell.atoms, node.equation.params["rounding_method"])  # type: ignore[union-attr]
            case "rem", [x, y] if y.value:
                return x - y * self._truncated(x * Polynomial.constant(1 / y.value))
            case "integer_pow", [x] if 0 < node.equation.params["y"] <= 4:  # type: ignore[union-attr]
                return power(x, node.equation.params["y"])  # type: ignore[union-attr]
            case "integer_pow", [x] if -4 <= node.equation.params["y"] < 0:  # type: ignore[union-attr]
                return power(self._inverse(x), -node.equation.params["y"])  # type: ignore[union-attr]
            case "pow", [x, y] if y.value in (1, 2, 3, 4):
                return power(x, int(y.value))
            case "sqrt", [x] if self.cell.partial:
                return self._atom("sqrt", "sqrt", [x])
            case "rsqrt", [x] if self.cell.partial:
                return self._inverse(self._atom("sqrt", "sqrt", [x]))
            case "div", [x, y]:
                return x * self._inverse(y)
        return None

    def _inverse(self, p: Polynomial) -> Polynomial:
        """1/p, where a program divides by p: of one monomial that with the opposite exponents, else an atom."""
        return p.inverse or self._atom("inverse", "inverse", [p])

    def _cast(self, x: Polynomial, dtype: Any) -> Polynomial:
        """What a cast to an integer dtype makes of a number that fits it in the whole cell."""
        low, high = (Polynomial.constant(int(bound)) for bound in limits(np.dtype(dtype)))
        inside = (x - low + Polynomial.constant(1), high + Polynomial.constant(1) - x)
        if any(self.cell.signs(p) != {1} for p in inside):
            raise UnsupportedError(f"a cast to {dtype} of a number that may not fit")
        return self._truncated(x)

    def _truncated(self, x: Polynomial) -> Polynomial:
        nonnegative = lambda p: self.larger(Term(p), _number(0))
        return whole_numbers.truncated(x, self.cell.atoms, self._is_zero, nonnegative)

    def _is_zero(self, x: Polynomial) -> bool:
        return bool(self.compared("eq", Term(x), _number(0)))

    def _atom(self, name: str, key: Any, operands: Sequence[Polynomial]) -> Polynomial:
        return self.cell.atoms.of_function(name, key, operands)

    def larger(self, x: Term, y: Term) -> bool:
        """Whether x ≥ y may be said; where both are equal either answer is right."""
        difference = self.cell.atoms.compared(x.polynomial - y.polynomial, self.cell.signs)
        signs = self.cell.signs(difference)
        if {-1, 1} <= signs:
            thin = self.is_generic and self.cell.atoms.are_variables(difference)
            raise _Undecided(difference, Border.NONE if thin else Border.BOTH)
        return -1 not in signs

    def compared(self, name: str, x: Term, y: Term) -> Any:
        """What a decision makes of the sign of x − y."""
        difference = self.cell.atoms.compared(x.polynomial - y.polynomial, self.cell.signs)
        answers = {DECIDED[name](sign) for sign in self.cell.signs(difference)}
        if len(answers) != 1:
            raise _Undecided(difference, Border.OWN)
        return answers.pop()


def _equality(p: Polynomial) -> list[Inequality]:
    """p = 0."""
    return [Inequality(p, False), Inequality(-p, False)]


def _is_continuous(pair: Formula, node: Node) -> bool:
    """Whether a node is a continuous function of its operands for all of them, or decides by signs."""
    if jnp.issubdtype(node.dtype, jnp.integer):
        return False
    if node.key[0] != "apply" or name_of(node) in CONTINUOUS or name_of(node) in RULES:
        return True
    if name_of(node) == "integer_pow":
        return node.key[2][0][1] >= 0
    last = pair.nodes[node.operands[-1]]
    if name_of(node) == "pow":
        return last.key[0] == "literal" and float(last.literal).is_integer() and last.literal >= 0
    return name_of(node) == "div" and last.key[0] == "literal" and last.literal != 0


def _is_real(dtype: Any) -> bool:
    return jnp.issubdtype(dtype, jnp.floating)


def _opposite(chosen: Term | bool) -> Term:
    """−∞ for ∞, ∞ for −∞, and NaN for itself; likewise of log 0."""
    if chosen in OF_ZERO:
        return next(term for term in OF_ZERO if term is not chosen)
    return next(CHOSEN[-code] for code, value in CHOSEN.items() if value is chosen)


def _number(value: int) -> Term:
    return Term(Polynomial.constant(value))


def _negated(x: Term) -> Term:
    return Term(-x.polynomial, None, (x,))


def _max(cell: _InCell, operands: Sequence[int]) -> Term:
    x, y = map(cell.number, operands)
    return x if cell.larger(x, y) else y


def _min(cell: _InCell, operands: Sequence[int]) -> Term:
    x, y = map(cell.number, operands)
    return y if cell.larger(x, y) else x


def _clamp(cell: _InCell, operands: Sequence[int]) -> Term:
    """min(max(x, low), high)."""
    low, x, high = map(cell.number, operands)
    inner = x if cell.larger(x, low) else low
    return high if cell.larger(inner, high) else inner


def _abs(cell: _InCell, operands: Sequence[int]) -> Term:
    (x,) = map(cell.number, operands)
    return x if cell.larger(x, _number(0)) else _negated(x)


def _sign(cell: _InCell, operands: Sequence[int]) -> Term:
    (x,) = map(cell.number, operands)
    return _number(cell.compared("sign", x, _number(0)))


def _select(cell: _InCell, operands: Sequence[int]) -> Term | bool:
    predicate, *choices = operands
    which = int(cell.decision(predicate)) if cell.pair.nodes[predicate].dtype == np.bool_ else cell.integer(predicate)
    if not 0 <= which < len(choices):
        raise UnsupportedError("a selection of a case that does not exist")
    return cell.at(choices[which])


def _comparison(name: str) -> Rule:
    def rule(cell: _InCell, operands: Sequence[int]) -> bool:
        if cell.pair.nodes[operands[0]].dtype == np.bool_:
            first, second = map(cell.decision, operands)
            return bool(DECIDED[name](int(first) - int(second)))
        x, y = map(cell.number, operands)
        return bool(cell.compared(name, x, y))

    return rule


Rule = Callable[[_InCell, Sequence[int]], Term | bool]

RULES: Mapping[str, Rule] = {
    **{name: _comparison(name) for name in DECIDED if name != "sign"},
    "abs": _abs,
    "and": lambda cell, operands: all([cell.decision(o) for o in operands]),
    "clamp": _clamp,
    "max": _max,
    "min": _min,
    "not": lambda cell, operands: not cell.decision(operands[0]),
    "or": lambda cell, operands: any([cell.decision(o) for o in operands]),
    "select_n": _select,
    "sign": _sign,
    "xor": lambda cell, operands: cell.decision(operands[0]) != cell.decision(operands[1]),
}
"""What decides, and what is decided by the sign of a real number."""


DECIDES = frozenset(RULES) | ROUNDING
"""Primitives that cases have a rule for: they decide by a sign, or by the whole numbers next to a number."""


def decides(found: Formula) -> bool:
    """Whether a formula decides anything by signs, or makes whole numbers."""
    return any(node.key[0] == "apply" and name_of(node) in DECIDES for node in found.nodes)


# --- both results as programs ----------------------------------------------------------------------------------------


def _programs(
    pair: Formula, cell: Cell, ways: Sequence[int], zeros: set[int], surface: Surface | None, meant: bool
) -> tuple[ClosedJaxpr, ClosedJaxpr] | None:
    """Both results in a cell, or on a surface in it, as programs of the variables.

    ways: for each variable less than 0 if it is given as -x.  zeros: the variables that are 0.
    """
    variables = pair.variables
    specs = [jax.ShapeDtypeStruct((), pair.nodes[v].dtype) for v in variables]

    def program(result: Term) -> Callable[..., Any]:
        def of(*arguments: Any) -> Any:
            given = {v: lax.neg(x) if s < 0 else x for v, x, s in zip(variables, arguments, ways, strict=True)}
            given |= {v: jnp.zeros((), pair.nodes[v].dtype) for v in zeros}
            if surface is None:
                return _Trace(pair, given).value(result)
            replaced = Polynomial.atom(surface.atom).key, _of_polynomial(pair, cell, surface.value, given, meant)
            return _Trace(pair, given, replaced).value(result)

        return of

    try:
        with jax.enable_x64(True):
            left, right = (jax.make_jaxpr(program(result))(*specs) for result in cell.read)
    except (TypeError, UnsupportedError):  # parameters that only fit arrays, numbers that a dtype does not hold
        return None
    return left, right


@dataclass
class _Trace:
    """Traced values of terms, those of variables being given; replaced: the key of an atom, and its value."""

    pair: Formula
    given: Mapping[int, Any]
    replaced: tuple[Any, Any] = (None, None)
    done: dict[int, Any] = field(default_factory=dict)

    def value(self, term: Term) -> Any:
        """The value of a term."""
        if id(term) not in self.done:
            here = term.polynomial.key == self.replaced[0]
            self.done[id(term)] = self.replaced[1] if here else self._value(term)
        return self.done[id(term)]

    def _value(self, term: Term) -> Any:
        operands = list(map(self.value, term.operands))
        if term.node is None:
            dtype = self.pair.nodes[self.pair.results[0]].dtype
            return lax.neg(operands[0]) if operands else jnp.asarray(float(term.polynomial.value or 0), dtype)
        if term.node in self.given:
            return self.given[term.node]
        node = self.pair.nodes[term.node]
        if node.equation is None:
            return jnp.asarray(node.literal, node.dtype)
        wanted = [self.pair.nodes[o].dtype for o in node.operands]
        same = [lax.convert_element_type(x, d) for x, d in zip(operands, wanted, strict=True)]
        return node.equation.primitive.bind(*same, **node.equation.params)


def _of_polynomial(pair: Formula, cell: Cell, polynomial: Polynomial, given: Mapping[int, Any], meant: bool) -> Any:
    """The value of a polynomial in variables, where it is a float: integers have no fractions."""
    dtype = pair.nodes[pair.results[0]].dtype
    if not _is_real(dtype):
        raise UnsupportedError("a polynomial of integers")
    total = jnp.zeros((), dtype)
    for monomial, c in polynomial.terms.items():
        product = lax.div(*(_whole_number(n, dtype, meant) for n in c.as_integer_ratio()))
        for atom, exponent in monomial:
            value = lax.convert_element_type(given[cell.atoms.variables[atom]], dtype)
            product = lax.mul(product, lax.integer_pow(value, exponent))
        total = lax.add(total, product)
    return total


def _whole_number(number: int, dtype: Any, meant: bool) -> Any:
    """A whole number as a constant that is read as it is."""
    if abs(number) > int(jnp.finfo(dtype).max):
        raise UnsupportedError("a number that the dtype does not hold")
    held = np.asarray(number, dtype)
    if int(held) != number or meant and not meaning(float(held), held.dtype).as_written:
        raise UnsupportedError("a number that the dtype does not hold, or that would be read as another one")
    return jnp.asarray(held)
