"""Numbers of the prime fields: residues, and what is known about the real number they stand for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from uat_jax.interpret.closed_form import ClosedForm
from uat_jax.interpret.operation import LARGE
from uat_jax.numbers.balls.constants import ClosedForms, Enclosure
from uat_jax.numbers.prime_fields.facts import Facts
from uat_jax.numbers.prime_fields.residues import Draw, Residues, same, vanishes

FINITE, MINUS_INFINITY, INFINITY, UNDEFINED = 0, -1, 1, 2
"""Codes of `Number.special`."""

ONE = Fraction(1)
TALLEST = 1 << 64
"""Scales whose numerator or denominator exceeds this are forgotten."""

MOST_MEMBERS = 1 << 22
"""Members of maxima that would be more than these at their new places are forgotten: those of a softmax are as many as
its entries at each of them."""


Move = Callable[[np.ndarray], np.ndarray]
"""Rearranges the entries of arrays of shape (copies, *shape)."""


@dataclass(frozen=True, slots=True, eq=False)
class Letter:
    """A quantity ℓ known only by its square: a root √v = v·h(v), or a sign ε with ε² = 1 (`square` None).

    `inverse` is ℓ/ℓ²: h(v), or ε.  `of`: two roots, if it is their product.
    """

    value: Residues
    inverse: Residues
    square: Residues | None
    nonnegative: bool
    of: tuple[Letter, Letter] | None = None

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> Letter:
        """The letter with its entries rearranged by `move`."""
        square = None if self.square is None else self.square.moved(move)
        of = None if self.of is None else (self.of[0].moved(move), self.of[1].moved(move))
        return Letter(self.value.moved(move), self.inverse.moved(move), square, self.nonnegative, of)

    def common(self, axes: tuple[int, ...]) -> Letter | None:
        """The letter that all entries along some axes are, without these axes; None if they are not one."""
        places = tuple(axis + 1 for axis in axes)
        first = lambda a: a[tuple(0 if i in places else slice(None) for i in range(a.ndim))]
        if any(0 in a.shape for a in self.value.levels):
            return None
        if not all(np.all(a == np.expand_dims(first(a), places)) for a in self.value.levels):
            return None
        return self.moved(first)

    def spread(self, shape: tuple[int, ...]) -> Letter:
        """A letter of shape () at every place of a shape."""
        return self.moved(lambda a: np.broadcast_to(a.reshape(len(a), *(1,) * len(shape)), (len(a), *shape)))

    def is_(self, other: Letter) -> bool:
        """Whether two letters are the same, entry by entry."""
        return (self.square is None) == (other.square is None) and same(self.value, other.value)


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """constant + coefficient·ℓ; the constant None is 0."""

    constant: Residues | None
    coefficient: Residues
    letter: Letter

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> Quadratic:
        """The element with its entries rearranged by `move`."""
        constant = None if self.constant is None else self.constant.moved(move)
        return Quadratic(constant, self.coefficient.moved(move), self.letter.moved(move))


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """For logarithms: the number is a sum of `count` products exp(tᵢ)·cᵢ; `exponents` is the sum of the tᵢ."""

    exponents: Residues
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Powers:
    """e^exponent · ∏ u^q over the pairs (u, q) of `powers`, with u ≥ 0; the exponent None is 0."""

    exponent: Number | None
    powers: tuple[tuple[Number, Fraction], ...]

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> Powers:
        """The product with its entries rearranged by `move`."""
        exponent = None if self.exponent is None else self.exponent.moved(move)
        return Powers(exponent, tuple((u.moved(move), q) for u, q in self.powers))


@dataclass(frozen=True, slots=True, eq=False)
class Logged:
    """rest + Σ q·log u over the pairs (u, q) of `logs`, each u being what a logarithm is of; the rest None is 0."""

    rest: Number | None
    logs: tuple[tuple[Number, Fraction], ...]

    def moved(self, move: Move) -> Logged:
        """The sum with its entries rearranged by `move`."""
        rest = None if self.rest is None else self.rest.moved(move)
        return Logged(rest, tuple((u.moved(move), q) for u, q in self.logs))


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """rest + Σ n·θ over the angles (name, operands, n), θ being what an inverse of sin, cos or tan gives."""

    rest: Number | None
    angles: tuple[tuple[str, tuple[Number, ...], int], ...]

    def moved(self, move: Move) -> Turn:
        """The sum with its entries rearranged by `move`."""
        rest = None if self.rest is None else self.rest.moved(move)
        return Turn(rest, tuple((name, tuple(x.moved(move) for x in of), n) for name, of, n in self.angles))


@dataclass(frozen=True, slots=True, eq=False)
class Cubic:
    """coefficient·ρ^power for a letter ρ of which ρ³ = cube is known, with the power 1 or 2."""

    coefficient: Residues
    letter: Residues
    cube: Residues
    power: int

    def moved(self, move: Move) -> Cubic:
        """The element with its entries rearranged by `move`."""
        return Cubic(self.coefficient.moved(move), self.letter.moved(move), self.cube.moved(move), self.power)

    def scaled(self, draw: Draw, factor: Residues) -> Cubic:
        """A multiple."""
        return Cubic(draw.multiply(self.coefficient, factor), self.letter, self.cube, self.power)


@dataclass(frozen=True, slots=True, eq=False)
class Exponentials:
    """Σ c·e^t over the terms (c, t), no two of one exponent, divided by ∏ u^n over the pairs (u, n) of `below`.

    Every u is positive. If it is known as a sum of exponentials itself, that one is not divided by anything.
    """

    terms: tuple[tuple[Fraction, Residues], ...]
    below: tuple[tuple[Number, int], ...] = ()

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> Exponentials:
        """The quotient with its entries rearranged by `move`."""
        terms = tuple((c, t.moved(move)) for c, t in self.terms)
        return Exponentials(terms, tuple((u.moved(move), n) for u, n in self.below))


@dataclass(frozen=True, slots=True, eq=False)
class Infinite:
    """Where a number is infinite or NaN on purpose, depending on the inputs: `where` is 1 there, 0 elsewhere."""

    where: Number
    code: int


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """For each entry of an array of shape s a row of numbers, of shape (n, *s), and a rank from 0 to n - 1: the array
    holds the places in the rows at which the numbers of these ranks stand, 0 being the rank of the smallest."""

    rows: Residues
    ranks: np.ndarray

    def moved(self, move: Move) -> Place:
        """The places with their entries rearranged by `move`."""
        each = lambda a: np.stack([move(a[:, k]) for k in range(a.shape[1])], axis=1)
        rows = Residues(tuple(map(each, self.rows.levels)), self.rows.degree.mixed())
        return Place(rows, _flat(self.ranks, move))


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Entries `source` of several numbers, flattened and laid end to end."""

    numbers: tuple[Number, ...]
    source: np.ndarray

    def moved(self, move: Move) -> Parts:
        """The entries rearranged by `move`."""
        return Parts(self.numbers, _flat(self.source, move))


@dataclass(frozen=True, eq=False)
class Number:
    """An array of numbers, and what is known about it.

    residues: the element.  special: int8 codes where an entry is not a finite number, or None.  known: the float64
    values of an array that depends on constants only; closed, enclosure: the same exactly, as far as that is known, and
    as balls.  factor: an irrational c > 0 if the number is known as c·y.  summand: (y, c) if it is known as y + c with
    a constant c.  nonnegative: every entry is ≥ 0.  scale: some positive rational s, chosen by the program (x = s·y).
    quadratic: the number as a + b·ℓ.  square_of: y if the number is y².  sum_of_squares: (y, axes) if it is a multiple
    of Σ y².  largest_of: (numbers, present) along a new leading axis if it is their maximum.  opposite: y if
    the number is -y and y is a maximum.  terms, factors: its shape
    as a sum of exponentials, and as (numerator, denominator).  infinite: where it is ±∞ or NaN on purpose for
    some inputs; the residues are 0 there.  product: its factors.  exponentials: the number as a sum of exponentials
    over others.  logarithms: a product whose logarithm it is.
    magnitude: (y, q) if it is known as q·|y|.  reordered: (y, axis) if its rows along the axis are those of y in
    another order.  place: of what rows, and of which rank in them, its entries are the places.  signless: y if every
    entry is that of y or of -y.  direction: y if its signs are those of y.  logged, turn: its shape as a sum of
    logarithms, and of angles.  cube_of: y if the number is y³.  cubic: its shape as a multiple of a root of degree 3.
    parts: the numbers that its entries are taken from.  summands: multiples of different roots whose sum it is.
    shape: of the array.

    facts: where it is defined, positive and zero, None where nothing is known.  expression: the place of what computed
    it in the draw's `Expressions`.  almost: the same number when decisions between equal numbers are left out, or None
    where there are none.  lawful: of such a number, whether it is right almost everywhere.
    """

    residues: Residues
    special: np.ndarray | None = None
    known: np.ndarray | None = None
    nonnegative: bool = False
    scale: Fraction = ONE
    quadratic: Quadratic | None = None
    square_of: Number | None = None
    sum_of_squares: tuple[Number, tuple[int, ...]] | None = None
    largest_of: tuple[Residues, np.ndarray | None] | None = None
    opposite: Number | None = None
    terms: Terms | None = None
    factors: tuple[Number, Number] | None = None
    infinite: Infinite | None = None
    facts: Facts | None = None
    expression: int | None = None
    almost: Number | None = None
    lawful: bool = True
    closed: ClosedForms | None = None
    enclosure: Enclosure | None = None
    factor: ClosedForm | None = None
    summand: tuple[Number, ClosedForm] | None = None
    product: Powers | None = None
    exponentials: Exponentials | None = None
    logarithms: Powers | None = None
    magnitude: tuple[Number, Fraction] | None = None
    reordered: tuple[Number, int] | None = None
    place: Place | None = None
    signless: Number | None = None
    direction: Number | None = None
    logged: Logged | None = None
    turn: Turn | None = None
    cube_of: Number | None = None
    cubic: Cubic | None = None
    parts: Parts | None = None
    summands: tuple[Number, ...] | None = None
    shape: tuple[int, ...] = field(init=False)

    def __init__(self, residues: Residues, special: np.ndarray | None = None, **known: object) -> None:
        """The fields that are named; all others are found in the class, as there are many numbers with few of them."""
        assert known.keys() <= FIELDS
        self.__dict__.update(known, residues=residues, special=special, shape=residues.shape)

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> Number:
        """The entries rearranged: `move` acts on arrays of shape (copies, *shape)."""
        residues = self.residues.moved(move)
        found = Number(residues, nonnegative=self.nonnegative, scale=self.scale, sum_of_squares=self.sum_of_squares)
        kept = self if _few_members(self.largest_of, found.shape) else self.but(largest_of=None)
        held = ((name, known) for name, known in vars(kept).items() if known is not None and name in MOVED)
        moved = {name: MOVED[name](known, move) for name, known in held}
        return found.but(factor=self.factor, **moved)

    def alone(self) -> Number:
        """This number; a large one without the numbers that it was made of, or a long program would keep them all."""
        if math.prod(self.shape) < LARGE:
            return self
        return self.but(
            square_of=None,
            sum_of_squares=None,
            factors=None,
            summand=None,
            product=None,
            exponentials=None,
            logarithms=None,
            magnitude=None,
            opposite=None,
            reordered=None,
            signless=None,
            direction=None,
            logged=None,
            turn=None,
            cube_of=None,
            parts=None,
            summands=None,
        )

    def but(self, **changes: object) -> Number:
        """This number, with other values of the fields that are named."""
        assert changes.keys() <= FIELDS
        found = object.__new__(Number)  # thrice as fast as dataclasses.replace, for as many as there are operations
        found.__dict__.update(self.__dict__)
        found.__dict__.update(changes)
        if "residues" in changes:
            found.__dict__["shape"] = found.residues.shape
        return found


FIELDS = frozenset(known.name for known in dataclasses.fields(Number) if known.init)
"""What is known of a number."""


def _flat(array: np.ndarray, move: Move) -> np.ndarray:
    return move(array[None])[0]


def _part(element: Any, move: Move) -> Any:
    return element.moved(move)


def _few_members(largest_of: tuple[Residues, np.ndarray | None] | None, shape: tuple[int, ...]) -> bool:
    return largest_of is None or largest_of[0].shape[0] * math.prod(shape) <= MOST_MEMBERS


def _moved_members(largest_of: tuple[Residues, np.ndarray | None], move: Callable) -> tuple:
    """Members stand along the leading axis: they are moved as copies are."""
    members, present = largest_of

    def each(array: np.ndarray) -> np.ndarray:
        found = move(array.reshape(-1, *array.shape[2:]))
        return found.reshape(*array.shape[:2], *found.shape[1:])

    moved = Residues(tuple(map(each, members.levels)), members.degree.mixed())
    return moved, None if present is None else move(present)


MOVED: Mapping[str, Callable[[Any, Move], Any]] = {
    "special": _flat,
    "known": _flat,
    "quadratic": _part,
    "square_of": _part,
    "terms": lambda terms, move: Terms(terms.exponents.moved(move), terms.count),
    "factors": lambda factors, move: tuple(factor.moved(move) for factor in factors),
    "largest_of": _moved_members,
    "opposite": _part,
    "infinite": lambda infinite, move: Infinite(infinite.where.moved(move), infinite.code),
    "facts": _part,
    "closed": _part,
    "enclosure": _part,
    "summand": lambda summand, move: (summand[0].moved(move), summand[1]),
    "product": _part,
    "exponentials": _part,
    "logarithms": _part,
    "magnitude": lambda magnitude, move: (magnitude[0].moved(move), magnitude[1]),
    "place": _part,
    "signless": _part,
    "direction": _part,
    "logged": _part,
    "turn": _part,
    "cube_of": _part,
    "cubic": _part,
    "parts": _part,
    "summands": lambda summands, move: tuple(term.moved(move) for term in summands),
}
"""What is known of entries goes with them to their new places; what computed them, and what they are almost everywhere,
does not."""


def rational(draw: Draw, x: Number) -> Fraction | None:
    """The rational number that every entry of a constant is, if there is one of small height."""
    if x.closed is not None and x.closed.uniform is not None and x.special is None:
        return x.closed.uniform.rational
    if x.known is None or x.known.size == 0 or x.special is not None:
        return None
    value = float(x.known.flat[0])
    if not np.isfinite(value) or not np.all(x.known == value):
        return None
    for candidate in (Fraction(value), Fraction(value).limit_denominator(1 << 20)):
        if any(candidate.denominator % level.field.prime == 0 for level in draw.levels):
            continue  # the primes of deep towers are small
        if all(np.all(a == b) for a, b in zip(x.residues.levels, draw.fraction(candidate).levels, strict=False)):
            return candidate
    return None


def from_quadratic(
    draw: Draw, constant: Residues | None, coefficient: Residues, letter: Letter, value: Residues | None = None
) -> Number:
    """constant + coefficient·ℓ; a plain number where the coefficient vanishes.

    value: the same element, where it is known from a computation that gives it a smaller degree.
    """
    if constant is not None and vanishes(coefficient).all():
        return Number(constant)
    if value is None:
        value = draw.multiply(coefficient, letter.value)
        value = value if constant is None else draw.add(constant, value)
    return Number(value, quadratic=Quadratic(constant, coefficient, letter))


def combined_special(
    codes: Sequence[np.ndarray | None], shape: tuple[int, ...], combine: Callable
) -> np.ndarray | None:
    """The codes of an entrywise result; None if all entries are finite."""
    if all(code is None for code in codes):
        return None
    full = [np.zeros(shape, np.int8) if code is None else np.broadcast_to(code, shape) for code in codes]
    found = combine(*full).astype(np.int8)
    return found if found.any() else None
