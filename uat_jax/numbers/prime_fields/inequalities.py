"""Whether a few polynomial inequalities can hold at once: exact elimination of one monomial after the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Monomial = tuple[tuple[int, int], ...]
"""Atoms, which are numbered, with their exponents, in their order; () is 1. An atom with an exponent below 0 is one by
which a program divides: it is not 0 where the program is defined."""

MOST = 400
"""With more inequalities than this, elimination ends and they are taken for possible."""

MOST_WRITTEN = 500
"""Elimination ends where all inequalities together have more terms: the signs are taken to be possible."""

MOST_MULTIPLIED = 12
"""So many inequalities are also multiplied by each other."""

MOST_TERMS = 64
"""Polynomials of more terms are long; inequalities are multiplied if no more products of terms have to be made."""

MOST_BITS = 2048
"""Whole numbers of more bits are long; those of float64 are not."""


@dataclass(frozen=True)
class Polynomial:
    """A sum of monomials with rational coefficients that are not 0."""

    terms: Mapping[Monomial, Fraction]

    @staticmethod
    def constant(value: Fraction | int) -> Polynomial:
        """A number."""
        return Polynomial({(): Fraction(value)} if value else {})

    @staticmethod
    def atom(number: int) -> Polynomial:
        """One atom."""
        return Polynomial({((number, 1),): Fraction(1)})

    @property
    def key(self) -> frozenset[tuple[Monomial, Fraction]]:
        """Equal for equal polynomials."""
        return frozenset(self.terms.items())

    @property
    def is_long(self) -> bool:
        """Whether it has many terms, or a coefficient of many digits."""
        if len(self.terms) > MOST_TERMS:
            return True
        return any(n.bit_length() > MOST_BITS for c in self.terms.values() for n in c.as_integer_ratio())

    @property
    def value(self) -> Fraction | None:
        """The number that it is, if it is one."""
        return self.terms.get((), Fraction(0)) if not any(self.terms) else None

    def by_powers_of(self, atom: int) -> dict[int, Polynomial]:
        """What the powers of an atom are multiplied by, by their exponents."""
        parts: dict[int, dict[Monomial, Fraction]] = {}
        for monomial, c in self.terms.items():
            exponent = dict(monomial).get(atom, 0)
            parts.setdefault(exponent, {})[tuple(f for f in monomial if f[0] != atom)] = c
        return {exponent: Polynomial(terms) for exponent, terms in parts.items()}

    def evaluated(self, values: Mapping[int, Fraction]) -> Polynomial:
        """The polynomial where some atoms have these values."""
        total: dict[Monomial, Fraction] = {}
        for monomial, c in self.terms.items():
            kept = tuple(f for f in monomial if f[0] not in values)
            value = math.prod(values[atom] ** exponent for atom, exponent in monomial if atom in values)
            total[kept] = total.get(kept, Fraction(0)) + c * value
        return Polynomial({m: c for m, c in total.items() if c})

    def __add__(self, other: Polynomial) -> Polynomial:
        """p + q."""
        total = dict(self.terms)
        for monomial, c in other.terms.items():
            total[monomial] = total.get(monomial, Fraction(0)) + c
        return Polynomial({m: c for m, c in total.items() if c})

    def __neg__(self) -> Polynomial:
        """-p."""
        return Polynomial({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Polynomial) -> Polynomial:
        """p - q."""
        return self + -other

    @property
    def inverse(self) -> Polynomial | None:
        """1/p of a single monomial."""
        if len(self.terms) != 1:
            return None
        ((monomial, c),) = self.terms.items()
        return Polynomial({tuple((atom, -exponent) for atom, exponent in monomial): 1 / c})

    def __mul__(self, other: Polynomial) -> Polynomial:
        """p·q."""
        total: dict[Monomial, Fraction] = {}
        for (m, c), (n, d) in itertools.product(self.terms.items(), other.terms.items()):
            product = _product(m, n)
            total[product] = total.get(product, Fraction(0)) + c * d
        return Polynomial({m: c for m, c in total.items() if c})


def _product(left: Monomial, right: Monomial) -> Monomial:
    exponents = dict(left)
    for atom, exponent in right:
        exponents[atom] = exponents.get(atom, 0) + exponent
    return tuple(sorted((atom, exponent) for atom, exponent in exponents.items() if exponent))


@dataclass(frozen=True)
class Inequality:
    """p > 0 if it is strict, else p ≥ 0."""

    polynomial: Polynomial
    strict: bool


def possible(inequalities: Sequence[Inequality], positive: Collection[int], nonnegative: Collection[int]) -> bool:
    """False only if no real numbers satisfy all inequalities; some atoms are known to be > 0, others ≥ 0.

    Monomials are taken for independent numbers, of which is known that products of positive atoms, and squares, are not
    negative, and that products of two inequalities hold (docs/soundness.md §8.2).  Inequalities without a common atom
    are looked at apart.
    """
    return all(_together_possible(part, positive, nonnegative) for part in _connected(inequalities))


def _connected(inequalities: Sequence[Inequality]) -> Iterator[list[Inequality]]:
    """The inequalities in parts that have no atom in common."""
    parts: list[tuple[set[int], list[Inequality]]] = []
    for row in inequalities:
        atoms, rows = {atom for m in row.polynomial.terms for atom, _ in m}, [row]
        apart = [part for part in parts if atoms.isdisjoint(part[0])]
        for others, more in (part for part in parts if not atoms.isdisjoint(part[0])):
            atoms |= others
            rows = [*more, *rows]
        parts = [*apart, (atoms, rows)]
    return (rows for _, rows in parts)


def _together_possible(
    inequalities: Sequence[Inequality], positive: Collection[int], nonnegative: Collection[int]
) -> bool:
    atoms = {atom for row in inequalities for m in row.polynomial.terms for atom, _ in m}
    rows = [_row(Polynomial.atom(atom).terms, True) for atom in sorted(atoms & set(positive))]
    rows += [_row(i.polynomial.terms, i.strict) for i in inequalities]
    if any(len(m) > 1 or m and m[0][1] > 1 for terms, _ in rows for m, _ in terms):
        pairs = list(itertools.combinations_with_replacement(rows[-MOST_MULTIPLIED:], 2))
        rows += [_row(square.terms, False) for i in inequalities for square in _squares(i.polynomial)]
        rows += [_multiplied(a, b) for a, b in pairs if len(a[0]) * len(b[0]) <= MOST_TERMS]
    monomials = {m for terms, _ in rows for m, _ in terms if m}
    for monomial in monomials:
        above = all(atom in positive for atom, _ in monomial)
        if above or all(exponent % 2 == 0 or atom in positive or atom in nonnegative for atom, exponent in monomial):
            rows.append((frozenset([(monomial, 1)]), above))
    return _possible(set(rows))


def _squares(p: Polynomial) -> Iterator[Polynomial]:
    """(x + b/2a)² for each a·x² + b·x in a polynomial."""
    for monomial, a in p.terms.items():
        if len(monomial) == 1 and monomial[0][1] == 2:
            atom = monomial[0][0]
            side = Polynomial.atom(atom) + Polynomial.constant(p.terms.get(((atom, 1),), Fraction(0)) / (2 * a))
            yield side * side


Row = tuple[frozenset[tuple[Monomial, int]], bool]
"""The terms of p, and whether p > 0 is wanted rather than p ≥ 0; multiples are the same: all coefficients are whole
numbers without a common divisor."""


def _row(terms: Mapping[Monomial, Fraction] | Mapping[Monomial, int], strict: bool) -> Row:
    """An inequality, times a positive number."""
    scale = math.lcm(*(c.denominator for c in terms.values()))
    whole = {m: c.numerator * (scale // c.denominator) for m, c in terms.items()}
    divisor = math.gcd(*whole.values()) or 1
    return frozenset((m, c // divisor) for m, c in whole.items()), strict


def _multiplied(left: Row, right: Row) -> Row:
    """The product of two inequalities."""
    total: dict[Monomial, int] = {}
    for (m, c), (n, d) in itertools.product(left[0], right[0]):
        product = _product(m, n)
        total[product] = total.get(product, 0) + c * d
    return _row({m: c for m, c in total.items() if c}, left[1] and right[1])


def _possible(rows: set[Row]) -> bool:
    while True:
        if any(_contradicts(row) for row in rows):
            return False
        monomial = _cheapest(rows)
        if monomial is None or len(rows) > MOST or sum(len(terms) for terms, _ in rows) > MOST_WRITTEN:
            return True
        rows = _without(monomial, rows)


def _contradicts(row: Row) -> bool:
    """Whether the inequality says that a number is positive which is not."""
    terms, strict = row
    if len(terms) > 1:
        return False
    monomial, value = next(iter(terms), ((), 0))
    return not monomial and (value <= 0 if strict else value < 0)


def _cheapest(rows: Iterable[Row]) -> Monomial | None:
    """The monomial of which elimination leaves the fewest inequalities; None if there is none left."""
    counts: dict[Monomial, list[int]] = {}
    for monomial, c in itertools.chain.from_iterable(terms for terms, _ in rows):
        if monomial:
            counts.setdefault(monomial, [0, 0])[c < 0] += 1
    return min(counts, key=lambda m: (math.prod(counts[m]), m), default=None)


def _without(monomial: Monomial, rows: Iterable[Row]) -> set[Row]:
    """What follows from inequalities for the other monomials: sums in which this one cancels."""
    above: list[tuple[Row, int]] = []
    below: list[tuple[Row, int]] = []
    kept: set[Row] = set()
    for row in rows:
        c = next((c for m, c in row[0] if m == monomial), 0)
        if c:
            (above if c > 0 else below).append((row, abs(c)))
        else:
            kept.add(row)
    written = sum(len(terms) for terms, _ in kept)
    for (a, c), (b, d) in itertools.product(above, below):
        total = {m: x * d for m, x in a[0]}
        for m, x in b[0]:
            total[m] = total.get(m, 0) + x * c
        kept.add(_row({m: x for m, x in total.items() if x}, a[1] or b[1]))
        written += len(a[0]) + len(b[0])
        if len(kept) > MOST or written > MOST_WRITTEN:
            break
    return kept
