"""The numbers of which the polynomials of a cell are made, and polynomials of one sign without some of them.

Of what is compared only the sign counts: an increasing function, a root, or the inverse of a number of one sign can be
taken away from both sides (docs/soundness.md §8.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from uat_jax.numbers.prime_fields.inequalities import Inequality, Monomial, Polynomial

_AT_ZERO = {Fraction(0): Fraction(0)}

INCREASING: Mapping[str, Mapping[Fraction, Fraction]] = {
    **dict.fromkeys("asinh atan cbrt erf expm1 log1p sinh tanh".split(), _AT_ZERO),
    "exp": {Fraction(1): Fraction(0)},
    "log": {Fraction(0): Fraction(1)},
    "logistic": {Fraction(1, 2): Fraction(0)},
}
"""Strictly increasing functions, with numbers and where they have them as values."""

POSITIVE = frozenset("exp exp2 logistic cosh erfc rsqrt".split())
"""Functions that are positive wherever they are defined."""

Signs = Callable[[Polynomial], frozenset[int]]
"""The signs that a polynomial can have in a cell."""

ZERO, ONE = Polynomial.constant(0), Polynomial.constant(1)


@dataclass
class Atoms:
    """The numbers of which polynomials are made: variables, and functions that are no polynomials of their operands.

    numbers: of every atom.  positive, nonnegative: what is known of atoms.  variables: the nodes of those that are free
    variables.  functions: the increasing functions, and of what they are; roots, inverses: likewise.  exact: what
    constants stand for.  whole: those that are whole numbers.  known: what holds of atoms for all inputs.
    """

    numbers: dict[Any, int] = field(default_factory=dict)
    positive: set[int] = field(default_factory=set)
    nonnegative: set[int] = field(default_factory=set)
    variables: dict[int, int] = field(default_factory=dict)
    functions: dict[int, tuple[str, Polynomial]] = field(default_factory=dict)
    roots: dict[int, Polynomial] = field(default_factory=dict)
    inverses: dict[int, Polynomial] = field(default_factory=dict)
    exact: dict[int, Fraction] = field(default_factory=dict)
    whole: set[int] = field(default_factory=set)
    known: list[Inequality] = field(default_factory=list)

    def polynomial(self, key: Any) -> Polynomial:
        """The atom of a key."""
        return Polynomial.atom(self.numbers.setdefault(key, len(self.numbers)))

    def of_variable(self, node: int) -> Polynomial:
        """The atom of a free variable."""
        found = self.polynomial(("variable", node))
        self.variables[self.numbers["variable", node]] = node
        return found

    def of_constant(self, key: Any, value: Fraction | None) -> Polynomial:
        """The atom of a positive constant that may stand for another number than is written; for this one, if known."""
        found = self.polynomial(key)
        self.positive.add(self.numbers[key])
        if value is not None:
            self.exact[self.numbers[key]] = value
        return found

    def of_function(self, name: str, key: Any, operands: Sequence[Polynomial]) -> Polynomial:
        """The atom of a function of some polynomials."""
        found = self.polynomial((key, tuple(p.key for p in operands)))
        number = self.numbers[key, tuple(p.key for p in operands)]
        if name in POSITIVE or name == "inverse" and self.is_positive(operands[0]):
            self.positive.add(number)
        if name == "sqrt":
            self.nonnegative.add(number)
            self.roots[number] = operands[0]
        if name == "inverse":
            self.inverses[number] = operands[0]
        if name in INCREASING:
            self.functions[number] = name, operands[0]
        return found

    def are_variables(self, p: Polynomial) -> bool:
        """Whether a polynomial is made of variables only, none of which it is divided by."""
        return all(atom in self.variables and exponent > 0 for m in p.terms for atom, exponent in m)

    def is_positive(self, p: Polynomial) -> bool:
        """Whether a polynomial is a sum of monomials that cannot be negative, one of which is positive."""
        above = lambda m: all(atom in self.positive for atom, _ in m)
        least = lambda m: all(e % 2 == 0 or a in self.positive or a in self.nonnegative for a, e in m)
        return all(c > 0 and least(m) for m, c in p.terms.items()) and any(map(above, p.terms))

    # --- of the same sign --------------------------------------------------------------------------------------------

    def exactly(self, p: Polynomial) -> Polynomial:
        """A polynomial with constants as what they stand for, if it is not made of constants alone.

        What constants alone decide is left to each cell, because it could be another thing as written.
        """
        if not self.exact or all(atom in self.exact for m in p.terms for atom, _ in m):
            return p
        return p.evaluated(self.exact)

    def compared(self, difference: Polynomial, signs: Signs) -> Polynomial:
        """A polynomial of the same sign in a cell, without what can be taken away from both sides."""
        difference = self._without_factors(self.exactly(difference))
        for simpler in self._simpler(difference, signs):
            if not simpler.is_long:
                return self.compared(simpler, signs)
        return difference

    def _without_factors(self, p: Polynomial) -> Polynomial:
        """A polynomial divided by the powers of positive atoms that divide all its monomials, or stand below them."""
        for atom in sorted({atom for m in p.terms for atom, _ in m} & self.positive):
            least = min(dict(m).get(atom, 0) for m in p.terms)
            p = p if not least else p * Polynomial({((atom, -least),): Fraction(1)})
        return p

    def _simpler(self, difference: Polynomial, signs: Signs) -> Iterator[Polynomial]:
        """Polynomials of the same sign, without an increasing function, a factor, an inverse or a root."""
        inside = self._inside(difference)
        if inside is not None:
            yield inside
        atoms = sorted({atom for m in difference.terms for atom, _ in m})
        yield from self._without_known_factors(difference, atoms, signs)
        for atom in atoms:
            if atom in self.inverses and len(found := signs(self.inverses[atom])) == 1 and 0 not in found:
                yield self._without_inverse(difference, atom, *found)
        for atom in atoms:
            if atom in self.roots and (found := self._without_root(difference, atom, signs)) is not None:
                yield found

    def _without_known_factors(self, p: Polynomial, atoms: Sequence[int], signs: Signs) -> Iterator[Polynomial]:
        """A polynomial without the powers of an atom of one sign that divide all its monomials, or stand below them.

        Of what stands above, increasing functions are looked at.
        """
        for atom in atoms:
            least = min(dict(m).get(atom, 0) for m in p.terms)
            alone = p.terms.keys() <= {((atom, 1),)}
            if not least or alone or least > 0 and atom not in self.functions:
                continue
            found = signs(self.compared(Polynomial.atom(atom), signs))
            if found in ({1}, {-1}):
                way = Fraction(1 if found == {1} or least % 2 == 0 else -1)
                yield p * Polynomial({((atom, -least),): way})

    def is_zero(self, p: Polynomial, signs: Signs) -> bool:
        """Whether a polynomial is shown to be 0 in a cell: itself, or what is left of it without common factors."""
        for simpler in (p, self.compared(p, signs)):
            if signs(simpler) == {0}:
                return True
        shared = [
            (atom, least)
            for atom in sorted({atom for m in simpler.terms for atom, _ in m})
            if (least := min(dict(m).get(atom, 0) for m in simpler.terms)) > 0
        ]
        if not shared or len(simpler.terms) < 2:
            return False
        rest = simpler * Polynomial({tuple((atom, -least) for atom, least in shared): Fraction(1)})
        return signs(self.compared(rest, signs)) == {0}

    def _inside(self, difference: Polynomial) -> Polynomial | None:
        """c·(p − t) for c·(h(p) − h(t)), h increasing; None for anything else."""
        value = difference.terms.get((), Fraction(0))
        parts = [(m, c) for m, c in difference.terms.items() if m]
        match parts, [self._function_of(m) for m, _ in parts]:
            case [(_, c)], [(name, inside)] if -value / c in INCREASING[name]:
                other = Polynomial.constant(INCREASING[name][-value / c])
            case [(_, c), (_, d)], [(name, inside), (same, other)] if name == same and c == -d and not value:
                pass
            case _:
                return None
        return (inside - other) * Polynomial.constant(c)

    def _function_of(self, monomial: Monomial) -> tuple[str, Polynomial] | None:
        """The increasing function, and of what, that a monomial is."""
        return self.functions.get(monomial[0][0]) if len(monomial) == 1 and monomial[0][1] == 1 else None

    def _without_inverse(self, difference: Polynomial, atom: int, sign: int) -> Polynomial:
        """The difference times |p|ⁿ for p of this sign, of which 1/p is an atom of degree n in it."""
        p, parts = self.inverses[atom], difference.by_powers_of(atom)
        degree = max(parts)
        positive = p if sign > 0 or degree % 2 == 0 else -p
        total = ZERO
        for exponent, part in parts.items():
            total += part * power(p, degree - exponent)
        return total if positive is p else -total

    def _without_root(self, difference: Polynomial, atom: int, signs: Signs) -> Polynomial | None:
        """b²p − a² for a + b√p with a number b > 0 and a ≤ 0, 1 for a > 0; the negative of that for −a − b√p."""
        parts = difference.by_powers_of(atom)
        slope = parts.get(1, ZERO).value
        if set(parts) - {0, 1} or not slope:
            return None
        way = Polynomial.constant(1 if slope > 0 else -1)
        rest, p = parts.get(0, ZERO) * way, self.roots[atom]
        found = signs(rest)
        if found == {1}:
            return way
        return (p * Polynomial.constant(slope**2) - self._squared(rest)) * way if 1 not in found else None

    def _squared(self, p: Polynomial) -> Polynomial:
        """p², in which squares of roots are what they are roots of."""
        square = p * p
        for root in sorted({atom for m in square.terms for atom, exponent in m if exponent > 1 and atom in self.roots}):
            parts = square.by_powers_of(root).items()
            square = ZERO
            for exponent, part in parts:
                squares, left = divmod(exponent, 2) if exponent > 1 else (0, exponent)
                square += part * power(self.roots[root], squares) * _power_of_atom(root, left)
        return square


def _power_of_atom(atom: int, exponent: int) -> Polynomial:
    return Polynomial({((atom, exponent),): Fraction(1)}) if exponent else ONE


def power(p: Polynomial, exponent: int) -> Polynomial:
    """p^exponent, or a lower power that is long already."""
    found = ONE
    for _ in range(exponent):
        found = found if found.is_long else found * p
    return found
