"""Letters and polynomials in them: what an entry of an array is, as a function of its indices, at every size.

A polynomial maps monomials to rational numbers; a monomial is a sorted tuple of (letter, rational exponent).  Letters
with equal digests are one object, so that comparing them is comparing identity.  How letters behave in a product (a
predicate is its own square, i² = −1, …) and how a letter is made again when indices are replaced stands in the tables
`REDUCE` and `REBUILD`, which the modules of the rules fill.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.workspace import workspace
from uat_jax.typing import PyTree

LARGEST = 12_000
"""A product of more terms than this is refused."""


class Kind(StrEnum):
    """What a letter stands for; behind it are its arguments."""

    SIZE = "n"
    """A symbolic dimension: (name)."""
    INDEX = "i"
    """An index variable: (name, length of its axis)."""
    ENTRY = "x"
    """An entry of an input, or of an array that is taken for one: (name, lengths of its axes, sign, indices)."""
    EXP = "E"
    """exp of a monomial with coefficient 1."""
    LOG = "log"
    """log of a polynomial."""
    FUNCTION = "f"
    """A function of which nothing is known but its name: (name, polynomials)."""
    POWER = "P"
    """A polynomial with an exponent below 1: (polynomial)."""
    INVERSE = "V"
    """1/u of a u that may vanish on a set of positive measure; it never cancels: (polynomial)."""
    PRIME = "q"
    """A prime number with an exponent between 0 and 1."""
    CONSTANT = "c"
    """A positive number such as π: (name)."""
    IMAGINARY = "I"
    """i, with i² = −1, of which sine and cosine are made."""
    MASK = "-inf"
    """−∞, which only exp, maxima and selections may see."""
    AT_LEAST = "ge"
    """1 where an index polynomial is at least 0, else 0."""
    EQUAL = "eq"
    """1 where an index polynomial is 0, else 0."""
    POSITIVE = "gt"
    """1 where a real polynomial is above 0, else 0."""
    ZERO = "zero"
    """1 where a real polynomial is 0, else 0."""
    SUM = "S"
    """A sum over bound indices of one connected monomial: (indices, monomial)."""
    MAXIMUM = "M"
    """A maximum over bound indices of a polynomial: (indices, polynomial)."""
    PRODUCT = "Π"
    """A product over bound indices of a polynomial: (indices, polynomial)."""
    QUOTIENT = "div"
    """The whole part of a quotient of index polynomials: (dividend, divisor)."""
    RANKED = "rk"
    """The k-th greatest value of a polynomial over bound indices: (indices, polynomial, k)."""
    PLACE = "pl"
    """Where the k-th greatest stands, the first of equals first: (index, polynomial, k)."""
    RANK = "no"
    """How many values come before the one at a place, so that `PLACE` is the place: (indices, polynomial, places)."""
    WHOLE_NUMBER = "int"
    """A whole number of some bits of which nothing else is known: (what made it, bits, polynomial)."""


OF_INDICES = frozenset([Kind.AT_LEAST, Kind.EQUAL])
"""Predicates on indices."""
PREDICATES = OF_INDICES | {Kind.POSITIVE, Kind.ZERO}
"""Letters that are 0 or 1."""
REDUCED = PREDICATES | {Kind.IMAGINARY, Kind.PRIME, Kind.POWER, Kind.PRODUCT}
"""Letters whose products are more than a sum of exponents."""
OF_RANGES = frozenset([Kind.MAXIMUM, Kind.PRODUCT])
"""Letters that bind indices of a polynomial, all of whose values in the range they combine in any order."""
BINDING = OF_RANGES | {Kind.SUM}
"""Letters that bind indices of all that they are made of."""
OF_ORDER = frozenset([Kind.RANKED, Kind.PLACE, Kind.RANK])
"""Letters that bind indices of a polynomial, and tell of the order of its values."""


WRITTEN = {
    Kind.SIZE: "{0}",
    Kind.INDEX: "{0}",
    Kind.EXP: "exp({0})",
    Kind.LOG: "log({0})",
    Kind.POWER: "({0})",
    Kind.INVERSE: "(1/({0}))",
    Kind.PRIME: "{0}",
    Kind.CONSTANT: "{0}",
    Kind.IMAGINARY: "i",
    Kind.MASK: "-inf",
    Kind.AT_LEAST: "[{0} >= 0]",
    Kind.EQUAL: "[{0} = 0]",
    Kind.POSITIVE: "[{0} > 0]",
    Kind.ZERO: "[{0} = 0]",
    Kind.SUM: "Σ_{0}({1})",
    Kind.PRODUCT: "Π_{0}({1})",
    Kind.MAXIMUM: "max_{0}({1})",
    Kind.QUOTIENT: "(({0}) div ({1}))",
    Kind.RANKED: "sorted_{0}({1})[{2}]",
    Kind.PLACE: "argsort_{0}({1})[{2}]",
    Kind.RANK: "rank_{0}({1})[{2}]",
    Kind.WHOLE_NUMBER: "{0}{1}({2})",
}
"""Kind of a letter → how it is written in messages."""


def digest(*parts: Any) -> str:
    """A name for data, different for different data."""
    return hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=12).hexdigest()


def _key(part: Any) -> str:
    if isinstance(part, Polynomial | Letter):
        return part.key
    if isinstance(part, tuple):
        return "(" + ",".join(map(_key, part)) + ")"
    return f"{type(part).__name__[0]}{part}"


@dataclass(frozen=True, eq=False)
class Letter:
    """One letter.  `made` makes it; equal arguments give the same object.

    free: the index variables it depends on.  height: how many sums and maxima are nested in it.  masked: whether −∞
    stands in it, at any depth.
    """

    kind: Kind
    arguments: tuple
    key: str
    free: frozenset[Letter] = field(default=frozenset())
    height: int = 0
    masked: bool = False

    def __repr__(self) -> str:
        if self.kind is Kind.ENTRY:
            return f"{self.name}{list(self.arguments[3])}"
        if self.kind is Kind.FUNCTION:
            return f"{self.name}({', '.join(map(str, self.arguments[1:]))})"
        if self.bound:
            body, *place = self.arguments[1:]
            text = _term_text(body, Fraction(1)) if self.kind is Kind.SUM else str(body)
            return WRITTEN[self.kind].format(",".join(map(str, self.bound)), text, *place)
        return WRITTEN[self.kind].format(*self.arguments)

    @property
    def length(self) -> Polynomial:
        """The length of the axis that an index variable runs over."""
        return self.arguments[1]

    @property
    def name(self) -> str:
        """The name of a size, an index variable, an entry or a function."""
        return self.arguments[0]

    @property
    def bound(self) -> tuple[Letter, ...]:
        """The indices that a sum, a maximum or an order binds."""
        return self.arguments[0] if self.kind in BINDING | OF_ORDER else ()

    @cached_property
    def within(self) -> frozenset[Letter]:
        """All letters in its arguments, at any depth, and itself."""
        found = {self}
        for part in _parts(self.arguments):
            found |= part.within
        return frozenset(found)


def _parts(argument: Any) -> Iterator[Polynomial | Letter]:
    if isinstance(argument, Polynomial | Letter):
        yield argument
    elif isinstance(argument, tuple):
        for part in argument:
            yield from _parts(part)


def made(kind: Kind, *arguments: PyTree) -> Letter:
    """The letter of a kind with these arguments."""
    key = digest(kind, *map(_key, arguments))
    letters = workspace().letters
    if key not in letters:
        parts = list(_parts(arguments))
        free = frozenset().union(*(part.free for part in parts))
        height = max((part.height for part in parts), default=0)
        masked = kind is Kind.MASK or any(part.masked for part in parts)
        letter = Letter(kind, arguments, key, free, height, masked)
        if kind is Kind.INDEX:
            letter = Letter(kind, arguments, key, frozenset(), 0)
            object.__setattr__(letter, "free", frozenset([letter]))
        if kind in BINDING | OF_ORDER:
            body, *place = (frozenset().union(*(p.free for p in _parts(argument))) for argument in arguments[1:])
            free = (body - set(arguments[0])).union(*place)
            letter = Letter(kind, arguments, key, free, height + 1, masked)
        letters[key] = letter
    return letters[key]


Monomial = tuple[tuple[Letter, Fraction], ...]
"""Letters with exponents, sorted by the letters' digests."""

ONE_MONOMIAL: Monomial = ()


class Polynomial:
    """A sum of monomials with rational coefficients."""

    __slots__ = ("_derived", "terms")

    def __init__(self, terms: Mapping[Monomial, Fraction] | None = None):
        self.terms: dict[Monomial, Fraction] = dict(terms or {})
        self._derived: dict[str, Any] = {}

    @property
    def letters(self) -> frozenset[Letter]:
        """The letters of all monomials."""
        if "letters" not in self._derived:
            self._derived["letters"] = frozenset(letter for monomial in self.terms for letter, _ in monomial)
        return self._derived["letters"]

    @property
    def free(self) -> frozenset[Letter]:
        """The index variables it depends on."""
        if "free" not in self._derived:
            self._derived["free"] = frozenset().union(*(letter.free for letter in self.letters))
        return self._derived["free"]

    @property
    def masked(self) -> bool:
        """Whether −∞ stands in it, at any depth."""
        return any(letter.masked for letter in self.letters)

    @property
    def within(self) -> frozenset[Letter]:
        """All letters at any depth."""
        return frozenset().union(*(letter.within for letter in self.letters))

    @property
    def height(self) -> int:
        """How many sums and maxima are nested in it."""
        return max((letter.height for letter in self.letters), default=0)

    @property
    def key(self) -> str:
        """Its digest."""
        if "key" not in self._derived:
            of_terms = (f"{_monomial_key(monomial)}*{number}" for monomial, number in self.terms.items())
            self._derived["key"] = digest(*sorted(of_terms))
        return self._derived["key"]

    def number(self) -> Fraction | None:
        """Its value, if no letter is in it."""
        if not self.terms:
            return Fraction(0)
        return self.terms.get(ONE_MONOMIAL) if len(self.terms) == 1 else None

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __add__(self, other: Polynomial | int | Fraction) -> Polynomial:
        other = as_polynomial(other)
        large, small = (self, other) if len(self.terms) >= len(other.terms) else (other, self)
        terms = dict(large.terms)
        for monomial, number in small.terms.items():
            _add_to(terms, monomial, number)
        return Polynomial(terms)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -number for monomial, number in self.terms.items()})

    def __sub__(self, other: Polynomial | int | Fraction) -> Polynomial:
        return self + -as_polynomial(other)

    def __rsub__(self, other: int | Fraction) -> Polynomial:
        return as_polynomial(other) + -self

    def __mul__(self, other: Polynomial | int | Fraction) -> Polynomial:
        if not isinstance(other, Polynomial):
            return Polynomial({monomial: number * other for monomial, number in self.terms.items()} if other else {})
        if len(self.terms) * len(other.terms) > 50 * LARGEST:
            raise UnsupportedError("an expression has too many terms for the normal form of all sizes")
        terms: dict[Monomial, Fraction] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                for monomial, number in multiplied(left, right).terms.items():
                    _add_to(terms, monomial, number * a * b)
            workspace().check_deadline()
        if len(terms) > LARGEST:
            raise UnsupportedError("an expression has too many terms for the normal form of all sizes")
        return Polynomial(terms)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return " + ".join(_term_text(monomial, number) for monomial, number in self.terms.items()) or "0"


def _term_text(monomial: Monomial, number: Fraction) -> str:
    factors = [str(letter) if exponent == 1 else f"{letter}^{exponent}" for letter, exponent in monomial]
    return "*".join(([str(number)] if number != 1 or not factors else []) + factors)


def _add_to(terms: dict[Monomial, Fraction], monomial: Monomial, number: Fraction) -> None:
    total = terms.get(monomial, 0) + number
    if total:
        terms[monomial] = Fraction(total)
    else:
        terms.pop(monomial, None)


def _monomial_key(monomial: Monomial) -> str:
    remembered = workspace().remembered
    if monomial not in remembered:
        remembered[monomial] = digest(*(f"{letter.key}^{exponent}" for letter, exponent in monomial))
    return remembered[monomial]


def constant(number: int | Fraction) -> Polynomial:
    """A number."""
    return Polynomial({ONE_MONOMIAL: Fraction(number)} if number else {})


ZERO, ONE = constant(0), constant(1)


def as_polynomial(value: Polynomial | int | Fraction) -> Polynomial:
    """A polynomial, or a number as one."""
    return value if isinstance(value, Polynomial) else constant(value)


def of(letter: Letter, exponent: int | Fraction = 1) -> Polynomial:
    """A power of a letter."""
    return Polynomial({((letter, Fraction(exponent)),): Fraction(1)})


def alone(monomial: Monomial) -> Polynomial:
    """A monomial as a polynomial."""
    return Polynomial({monomial: Fraction(1)})


def in_order(exponents: Mapping[Letter, Fraction]) -> Monomial:
    """The monomial with these exponents."""
    present = ((letter, Fraction(exponent)) for letter, exponent in exponents.items() if exponent)
    return tuple(sorted(present, key=lambda factor: factor[0].key))


def without(monomial: Monomial, *letters: Letter) -> Monomial:
    """A monomial without some of its letters."""
    return tuple(factor for factor in monomial if factor[0] not in letters)


REDUCE: list[Callable[[dict[Letter, Fraction]], Polynomial]] = []
"""The one function (`products`) that multiplies letters out which have laws of their own."""

REBUILD: dict[Kind, Callable[..., Polynomial]] = {}
"""Kind → function(letter, replaced indices) that makes a letter again with its free indices replaced."""


def multiplied(left: Monomial, right: Monomial) -> Polynomial:
    """The product of two monomials."""
    if not left or not right:
        return alone(left or right)
    exponents = dict(left)
    for letter, exponent in right:
        exponents[letter] = exponents.get(letter, 0) + exponent
    if any(letter.kind in REDUCED for letter in exponents):
        return REDUCE[0](exponents)
    return alone(in_order(exponents))


def index(name: str, length: Polynomial) -> Letter:
    """An index variable of an axis."""
    return made(Kind.INDEX, name, length)


def fresh(length: Polynomial) -> Letter:
    """An index variable that no expression contains yet."""
    return index(f"t{next(workspace().numbers)}", length)


Replacement = Mapping[Letter, Polynomial]
"""Index variable → what stands in its place."""

AT_PLACE: list[Callable[[Letter, Fraction, Replacement], Polynomial | None]] = []
"""The one function (`orders`) that knows a power of a letter at the place where its k-th greatest value stands."""


def replaced(value: Polynomial, by: Replacement) -> Polynomial:
    """A polynomial with index variables replaced, in normal form again."""
    by = {variable: new for variable, new in by.items() if variable in value.free and new != of(variable)}
    if not by:
        return value
    total = ZERO
    for monomial, number in value.terms.items():
        kept = tuple(factor for factor in monomial if not factor[0].free & by.keys())
        product = Polynomial({kept: number})
        for letter, exponent in monomial:
            if letter.free & by.keys():
                product = product * rebuilt(letter, exponent, by)
        total = total + product
    return total


def rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    """A power of a letter with index variables replaced."""
    by = {variable: by[variable] for variable in letter.free if variable in by}
    key = (letter, exponent, tuple(sorted((variable.key, new.key) for variable, new in by.items())))
    remembered = workspace().remembered
    if key not in remembered:
        found = AT_PLACE[0](letter, exponent, by)
        remembered[key] = REBUILD[letter.kind](letter, exponent, by) if found is None else found
    return remembered[key]


def replaced_in(argument: Any, by: Replacement) -> Any:
    """An argument of a letter with index variables replaced."""
    if isinstance(argument, Polynomial):
        return replaced(argument, by)
    return tuple(replaced_in(part, by) for part in argument) if isinstance(argument, tuple) else argument


def summed(values: Iterable[Polynomial]) -> Polynomial:
    """Σ."""
    total = ZERO
    for value in values:
        total = total + value
    return total
