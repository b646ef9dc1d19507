"""Two programs with symbolic dimensions that have one normal form: equal at all sizes, for all inputs."""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from jax.extend.core import ClosedJaxpr

from uat_jax.errors import BudgetError, UnsupportedError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.recognition import ConstantReading
from uat_jax.numbers.indexed.array import Array, entry_of_input, kind_of
from uat_jax.numbers.indexed.bounds import is_whole, nonnegative, without_mask
from uat_jax.numbers.indexed.dimension import dimension
from uat_jax.numbers.indexed.division import cancelled, quotient
from uat_jax.numbers.indexed.functions import maximum
from uat_jax.numbers.indexed.long_products import product
from uat_jax.numbers.indexed.maxima import greatest
from uat_jax.numbers.indexed.orders import at_their_places
from uat_jax.numbers.indexed.pieces import SECONDS, outputs_at_once, outputs_in_pieces
from uat_jax.numbers.indexed.polynomial import (
    BINDING,
    ONE,
    ONE_MONOMIAL,
    ZERO,
    Kind,
    Letter,
    Polynomial,
    alone,
    constant,
    fresh,
    index,
    of,
    replaced,
    summed,
)
from uat_jax.numbers.indexed.predicates import RemainderCase, SizeCase, at_least_zero, equal_to_zero, split_by_size
from uat_jax.numbers.indexed.products import with_letter
from uat_jax.numbers.indexed.scans import scanned as scanned  # its rule counts from here on
from uat_jax.numbers.indexed.steps import flattened
from uat_jax.numbers.indexed.sums import SHORTEST, cut_of, others, renamed, split_of, total
from uat_jax.numbers.indexed.workspace import Workspace, sooner, working

MOST_CASES = 12
"""Sizes below this are looked at one by one where a program treats them in another way."""
MOST_DIVIDED = 3
"""So many times a size is written as d·n' + r."""
ROUNDS = 6
"""So often denominators are multiplied out, and indices are split."""
DEEPEST = 12_000
"""Expressions are nested so deeply; Python's own limit is for programs that recurse by mistake."""


@dataclass(frozen=True)
class Proof:
    """That two programs have one normal form.

    divisors: those that were cancelled and may vanish, on a set of measure zero at most.  constants: the readings of
    constants that it rests on.  bounded: whether sizes above 2^18 are left out, because integers may wrap there.
    cases: the cases of sizes that were looked at one by one.  defined: whether all outputs of both are proved to be
    defined for all inputs.
    """

    divisors: tuple[str, ...] = ()
    constants: tuple[ConstantReading, ...] = ()
    bounded: bool = False
    cases: tuple[str, ...] = ()
    defined: bool = False


@dataclass(frozen=True)
class Inputs:
    """What is known of the inputs of both programs.

    signs: for each of them, 2 if it is positive, 1 if it is ≥ 0.  lower: the smallest value of each size.  derived:
    what sizes are, by constraints.  lengths: numbers that stand for a size where they are lengths, and its name.
    """

    signs: tuple[int, ...]
    lower: Mapping[str, int] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    lengths: Mapping[int, str] = field(default_factory=dict)


@dataclass
class Open(Exception):
    """No proof: the first thing that stood in the way; late: whether that was the time."""

    reason: str
    late: bool = False

    def __str__(self) -> str:
        return self.reason


def proved(left: ClosedJaxpr, right: ClosedJaxpr, inputs: Inputs, deadline: Deadline | None = None) -> Proof:
    """The proof that two programs return equal arrays at all sizes, for all inputs at which both are defined.

    Constants are first the numbers that are written, then those that they stand for; maxima and magnitudes are first
    functions of which only some laws are known, then written by the sign of their operands.

    Raises:
        Open: no proof is found, be it for lack of time.
    """
    first: Open | None = None
    with deep_recursion():
        for in_pieces in (True, False):
            end = deadline if in_pieces else sooner(deadline, SECONDS)
            for meant in (False, True):
                for signed in (False, True):
                    attempt = _Attempt(left, right, inputs, end, in_pieces, meant, signed)
                    try:
                        return attempt.proof()
                    except Open as reason:
                        if reason.late:
                            raise
                        first = first or reason
                    if not attempt.uses_signs:
                        break
    assert first is not None
    raise first


@contextlib.contextmanager
def deep_recursion() -> Iterator[None]:
    """Python may recurse as deeply as expressions are nested."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@dataclass
class _Attempt:
    """One way of reading constants and of writing maxima, in all cases of sizes that it needs."""

    left: ClosedJaxpr
    right: ClosedJaxpr
    inputs: Inputs
    deadline: Deadline | None
    in_pieces: bool
    meant: bool
    signed: bool
    uses_signs: bool = False
    divisors: dict[str, None] = field(default_factory=dict)
    constants: set[ConstantReading] = field(default_factory=set)
    bounded: bool = False
    cases: list[str] = field(default_factory=list)
    defined: bool = True

    def proof(self) -> Proof:
        """Raises `Open`."""
        self._prove(dict(self.inputs.lower), {}, dict(self.inputs.derived))
        return Proof(tuple(self.divisors), tuple(sorted(self.constants)), self.bounded, tuple(self.cases), self.defined)

    def _prove(self, lower: dict[str, int], fixed: dict[str, int], derived: dict[str, str]) -> None:
        """All sizes from `lower` on, with some fixed: at once, or case by case if something depends on a size.

        derived: what sizes are, by constraints and in the case that is looked at.
        """
        tables = Workspace(self.deadline, self.signed, self.meant, lower, fixed, derived, self.inputs.lengths)
        try:
            with working(tables):
                self._compare()
                self.divisors.update({str(divisor): None for divisor in tables.divisors.values()})
        except RemainderCase as case:
            self._prove_by_remainders(case, lower, fixed, derived)
        except SizeCase as case:
            if case.threshold > MOST_CASES or len(fixed) > 2:
                raise Open(f"whether {case} is not decided, and there are too many cases") from case
            self.cases += [str(case)]
            self._prove({**lower, case.name: case.threshold}, fixed, derived)
            for number in range(lower.get(case.name, 1), case.threshold):
                self._prove(lower, {**fixed, case.name: number}, derived)
        except (UnsupportedError, BudgetError) as error:
            raise Open(str(error), isinstance(error, BudgetError)) from error
        except RecursionError as error:
            raise Open("an expression is nested too deeply") from error
        finally:
            self.uses_signs |= tables.uses_signs
            self.constants |= tables.constants
            self.bounded |= tables.bounded_sizes

    def _prove_by_remainders(
        self, case: RemainderCase, lower: dict[str, int], fixed: dict[str, int], derived: dict[str, str]
    ) -> None:
        """A size n as d·n' + r for r = 0, …, d − 1, with n' at least what n's smallest value says."""
        rounds = f"{case.name}_by_{case.divisor}"
        if len(derived) - len(self.inputs.derived) >= MOST_DIVIDED or rounds in lower:
            raise Open(f"too many sizes are divided, the last one '{case.name}' by {case.divisor}") from case
        self.cases += [str(case)]
        for rest in range(case.divisor):
            least = max(0, -(-(lower.get(case.name, 1) - rest) // case.divisor))
            self._prove({**lower, rounds: least}, fixed, {**derived, case.name: f"{case.divisor}*{rounds} + {rest}"})

    def _compare(self) -> None:
        arguments = arguments_of(self.left, self.inputs.signs)
        programs = flattened(self.left), flattened(self.right)
        if self.in_pieces:
            outputs = outputs_in_pieces(*programs, arguments, lambda one, other: not _difference(one, other))
        else:
            outputs = outputs_at_once(*programs, arguments)
        for number, (one, other) in enumerate(outputs):
            self.defined &= one.defined and other.defined
            difference = _difference(one, other)
            if difference:
                raise Open(f"output {number}: {_unlike(difference)}")


def arguments_of(program: ClosedJaxpr, signs: Sequence[int]) -> list[Array]:
    """The inputs of a program as arrays."""
    arguments = []
    for number, (aval, sign) in enumerate(zip(program.in_avals, signs, strict=True)):
        lengths = tuple(map(dimension, aval.shape))
        arguments.append(entry_of_input(f"x{number}", lengths, kind_of(aval.dtype), sign))
    return arguments


def _unlike(difference: Polynomial) -> str:
    """What is left of two normal forms, in words that say which operations were not brought to one form."""
    said = {WORDS[a.kind] for a in difference.within if a.kind in WORDS}
    said |= {f"'{a.name}'" for a in difference.within if a.kind is Kind.FUNCTION and a.name != "relu"}
    said |= {"the carry of a scan" for a in difference.within if a.kind is Kind.ENTRY and a.name.startswith("scan ")}
    said |= {
        "an array that both compute (cut)" for a in difference.within if a.kind is Kind.ENTRY and a.name[:4] == "cut "
    }
    where = f", in which {' and '.join(sorted(said))} {'stands' if len(said) == 1 else 'stand'}" if said else ""
    return f"no rule makes one normal form of both; they differ by {_shortened(str(difference))}{where}"


WORDS = {
    Kind.SUM: "a sum along an axis",
    Kind.PRODUCT: "a product along an axis",
    Kind.MAXIMUM: "a maximum along an axis",
    Kind.RANKED: "a sorted row",
    Kind.PLACE: "a place in an order",
    Kind.WHOLE_NUMBER: "a cast to whole numbers",
    Kind.INVERSE: "a division by what may be 0",
    Kind.LOG: "a logarithm",
    Kind.POSITIVE: "a comparison of numbers",
    Kind.ZERO: "a test for 0",
    Kind.QUOTIENT: "a whole part of a quotient of places",
}
"""Kind of a letter → what stands for it in a program."""


def _shortened(text: str, most: int = 300) -> str:
    return text if len(text) <= most else text[:most] + " …"


def difference_of(one: Array, other: Array) -> Polynomial:
    """The difference of two entries at the same place.

    Raises:
        Open: the shapes differ, or one of the entries may be −∞; equal entries of which nothing is −∞ have none.
    """
    if one.lengths != other.lengths:
        raise Open(f"the shapes {list(one.lengths)} and {list(other.lengths)} are not known to be equal")
    place = [ZERO if n == ONE else of(index(f"o{axis}", n)) for axis, n in enumerate(one.lengths)]
    left, right = one.at(place), other.at(place)
    if left == right and without_mask(left):
        return ZERO
    if not (without_mask(left) and without_mask(right)):
        raise Open("an output that may be -inf is not followed at all sizes")
    return left - right


def _difference(one: Array, other: Array) -> Polynomial:
    """What is left of the difference of two entries at the same place: 0 if they have one normal form."""
    difference = difference_of(one, other)
    return _remaining(difference) if difference else ZERO


def _split(difference: Polynomial) -> Polynomial:
    """The indices of the output written as b·p + q where ⌊i / b⌋ stands."""
    for _ in range(ROUNDS):
        variables = tuple(sorted(difference.free, key=lambda variable: variable.name))
        found = split_of(difference.within, variables)
        if found is None:
            break
        variable, divisor, rounds = found
        p, q = index(f"{variable.name}p", rounds), index(f"{variable.name}q", divisor)
        difference = replaced(difference, {variable: divisor * of(p) + of(q)})
    return difference


def _in_strides(difference: Polynomial) -> Polynomial:
    """Σ_i u(i) as Σ_p u(k·p) + … + Σ_p u(k·p + k − 1), where places k·p stand; so maxima and products as well."""
    for stride in sorted(_strides(difference)):
        for letter in sorted((a for a in difference.letters if a.kind in BINDING), key=lambda a: a.key):
            found = _letter_in_strides(letter, stride)
            difference = difference if found is None else with_letter(difference, letter, found)
        for letter in sorted((a for a in difference.letters if a.kind in BINDING), key=lambda a: a.key):
            found = _with_last_places(letter, stride)
            difference = difference if found is None else with_letter(difference, letter, found)
    return difference


def _place_by_place(difference: Polynomial) -> Polynomial:
    """[e ≥ 0] as [e = 0] + … + [e = k] where e ≤ k is proved for a small k, or else 1 − [−e − 1 ≥ 0] so written."""
    for letter in sorted((a for a in difference.letters if a.kind is Kind.AT_LEAST), key=lambda a: a.key):
        for value, sign in ((letter.arguments[0], 1), (-letter.arguments[0] - 1, -1)):
            most = next((most for most in range(MOST_CASES) if nonnegative(most - value)), None)
            if most is not None:
                places = summed(equal_to_zero(value - place) for place in range(most + 1))
                difference = with_letter(difference, letter, places if sign > 0 else ONE - places)
                break
    return difference


def _at_one_threshold(difference: Polynomial) -> Polynomial:
    """[e + k ≥ 0] as [e ≥ 0] + [e + 1 = 0] + … + [e + k = 0], for the least threshold that stands in it."""
    least: dict[str, Polynomial] = {}
    comparisons = [letter for letter in difference.letters if letter.kind is Kind.AT_LEAST]
    comparisons.sort(key=lambda letter: (_shift(letter.arguments[0]), letter.key))
    for letter in comparisons:
        value = letter.arguments[0]
        base = least.setdefault((value - _shift(value)).key, value)
        steps = int(_shift(value) - _shift(base))
        if 0 < steps <= MOST_CASES:
            equal = summed(equal_to_zero(base + step) for step in range(1, steps + 1))
            difference = with_letter(difference, letter, at_least_zero(base) + equal)
    return difference


def _at_turns(difference: Polynomial) -> Polynomial:
    """∏_{j ≤ i} u(j) as u(i)·∏_{j < i} u(j), where a product over j < i stands too."""
    products = sorted((a for a in difference.letters if a.kind is Kind.PRODUCT), key=lambda a: a.key)
    turns = {a for letter in products for a in letter.arguments[1].letters if a.kind is Kind.EQUAL}
    for letter in products:
        body = letter.arguments[1]
        for comparison in sorted((a for a in body.letters if a.kind is Kind.AT_LEAST), key=lambda a: a.key):
            turn = equal_to_zero(comparison.arguments[0])
            if turn.letters and turn.letters <= turns - body.letters:
                renaming, new = renamed(letter.bound)
                parts = (turn * body + (ONE - turn), (ONE - turn) * body + turn)
                here, elsewhere = (product(replaced(part, renaming), new) for part in parts)
                difference = with_letter(difference, letter, here * elsewhere)
                break
    return difference


def _shift(value: Polynomial) -> Fraction:
    """The constant term of a polynomial."""
    return value.terms.get(ONE_MONOMIAL, Fraction(0))


def _strides(value: Polynomial) -> set[int]:
    """The small factors of bound indices in places of entries."""
    places = (place for a in value.within if a.kind is Kind.ENTRY for place in a.arguments[3])
    terms = ((m, abs(number)) for place in places for m, number in place.terms.items())
    of_bound = (number for m, number in terms if len(m) == 1 and m[0][0].kind is Kind.INDEX and m[0][0].name[0] == "b")
    return {int(number) for number in of_bound if number.denominator == 1 and 2 <= number <= SHORTEST}


def _letter_in_strides(letter: Letter, stride: int) -> Polynomial | None:
    """What binds an axis of length k·m + r in k parts, one for each remainder; None for other lengths."""
    renaming, new = renamed(letter.bound)
    body = letter.arguments[1]
    body = replaced(alone(body) if letter.kind is Kind.SUM else body, renaming)
    for variable in new:
        rest = _shift(variable.length) % stride
        rounds = quotient(variable.length - rest, constant(stride))
        if rounds is None or not rounds.letters or not is_whole(rounds):
            continue
        if letter.kind is Kind.MAXIMUM and not nonnegative(rounds - 1):
            split_by_size(rounds - 1)
            continue
        parts = []
        for remainder in range(stride):
            step = fresh(rounds + (1 if remainder < rest else 0))
            place = of(step) * stride + remainder
            parts.append(OVER[letter.kind](replaced(body, {variable: place}), (*others(new, variable), step)))
        return functools.reduce(COMBINED[letter.kind], parts)
    return None


def _with_last_places(letter: Letter, stride: int) -> Polynomial | None:
    """What binds an axis of length m + k, read in strides, with the last k places apart; None for other lengths."""
    renaming, new = renamed(letter.bound)
    body = letter.arguments[1]
    body = replaced(alone(body) if letter.kind is Kind.SUM else body, renaming)
    for variable in new:
        count = _shift(variable.length)
        if stride not in _strides(of(letter)) or not 0 < count <= SHORTEST or variable.length.number() is not None:
            continue
        rest = variable.length - count
        least = 1 if letter.kind is Kind.MAXIMUM else 0
        if not nonnegative(rest - least):
            split_by_size(rest - least)
            continue
        step, last = fresh(rest), fresh(constant(count))
        parts = ((step, of(step)), (last, rest + of(last)))
        over = OVER[letter.kind]
        kept = others(new, variable)
        return COMBINED[letter.kind](*(over(replaced(body, {variable: at}), (*kept, index)) for index, at in parts))
    return None


OVER = {Kind.SUM: total, Kind.MAXIMUM: greatest, Kind.PRODUCT: product}
"""Kind of a letter that binds indices → what makes it of a body and indices."""
COMBINED = {Kind.SUM: operator.add, Kind.MAXIMUM: maximum, Kind.PRODUCT: operator.mul}
"""Kind of a letter that binds indices → what makes the whole of two parts of the range."""


def _remaining(difference: Polynomial) -> Polynomial:
    """What is left of a difference when its denominators are multiplied out, at each place along short axes."""
    parts = _in_two(difference)
    if not parts:
        difference = _at_one_threshold(_place_by_place(_at_turns(_in_strides(_split(at_their_places(difference))))))
        short = [v for v in difference.free if (v.length.number() or MOST_CASES + 1) <= MOST_CASES]
        if not short or not difference:
            return _multiplied_out(difference)
        variable = min(short, key=lambda v: v.name)
        places = range(int(variable.length.number() or 0))
        parts = [replaced(difference, {variable: constant(place)}) for place in places]
    return next((part for part in map(_remaining, parts) if part), ZERO)


def _in_two(difference: Polynomial) -> list[Polynomial]:
    """A difference at the places i < b·m of the output, and at the few behind, where ⌊i / b⌋ stands; else nothing."""
    found = cut_of(difference.within, tuple(sorted(difference.free, key=lambda variable: variable.name)), 0)
    if found is None:
        return []
    variable, cut = found
    before, behind = index(f"{variable.name}c", cut), index(f"{variable.name}r", variable.length - cut)
    return [replaced(difference, {variable: of(before)}), replaced(difference, {variable: cut + of(behind)})]


def _multiplied_out(difference: Polynomial) -> Polynomial:
    """A difference times its denominators, which are 0 on a set of measure zero at most."""
    for _ in range(ROUNDS):
        difference = cancelled(difference)
        denominators = {a for m in difference.terms for a, e in m if a.kind is Kind.POWER and e < 0}
        if not difference or not denominators:
            break
        for letter in sorted(denominators, key=lambda letter: letter.key):
            lowest = min(dict(monomial).get(letter, 0) for monomial in difference.terms)
            difference = difference * of(letter, -(lowest // 1)) if lowest < 0 else difference
    return difference
