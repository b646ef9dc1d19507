"""Sums over index variables, for every length of their axes.

    Σ_i (u + v) = Σ_i u + Σ_i v     Σ_i u·v = u·Σ_i v  if u is free of i     Σ_{i<n} 1 = n
    Σ_{i<n} [i = e]·u(i) = [0 ≤ e < n]·u(e)
    Σ_{i<n} u(i) = Σ_{p<n/b} Σ_{q<b} u(b·p + q)     Σ_{i<n} u(i) = Σ_{i<m} u(i) + Σ_{i<n−m} u(m + i)     0 ≤ m ≤ n
    Σ_{i<n} i = n(n − 1)/2, and so on

What is left of a monomial falls into components, whose indices are connected by common factors; each is one letter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.bounds import is_whole, nonnegative, split_affine, unit_indices
from uat_jax.numbers.indexed.canonical import named
from uat_jax.numbers.indexed.colours import coloured
from uat_jax.numbers.indexed.division import cancelled, quotient
from uat_jax.numbers.indexed.functions import whole_part
from uat_jax.numbers.indexed.polynomial import (
    ONE,
    ONE_MONOMIAL,
    REBUILD,
    ZERO,
    Kind,
    Letter,
    Monomial,
    Polynomial,
    Replacement,
    alone,
    constant,
    fresh,
    made,
    multiplied,
    of,
    replaced,
    summed,
    without,
)
from uat_jax.numbers.indexed.predicates import at_least_zero, equal_to_zero, split_by_remainder, split_by_size
from uat_jax.numbers.indexed.products import raised, reduced
from uat_jax.numbers.indexed.reordered import unsorted
from uat_jax.numbers.indexed.workspace import workspace

Variables = Sequence[Letter]

SHORTEST = 4
"""A sum of at most so many terms is written out."""

MOST_BEYOND = 8
"""A shift of so many entries beyond the end of an axis is followed entry by entry."""


def total(value: Polynomial, over: Variables) -> Polynomial:
    """Σ over index variables."""
    if not over:
        return value
    return _total(cancelled(value), over)


def _total(value: Polynomial, over: Variables) -> Polynomial:
    return summed(_of_monomial(monomial, tuple(over)) * number for monomial, number in value.terms.items())


def _of_monomial(monomial: Monomial, over: Variables) -> Polynomial:
    """Σ of one monomial: the first rule that applies."""
    workspace().check_deadline()
    if any(letter.kind is Kind.MASK for letter, _ in monomial):
        raise UnsupportedError("a sum of masked numbers (-inf) is not followed")
    for rule in RULES:
        found = rule(monomial, over)
        if found is not None:
            return found
    return _components(monomial, over)


def others(over: Variables, *gone: Letter) -> Variables:
    """The index variables without some."""
    return tuple(variable for variable in over if variable not in gone)


# The rules


def _written_out(monomial: Monomial, over: Variables) -> Polynomial | None:
    """Σ_{i<c} u(i) = u(0) + … + u(c − 1) for a small number c."""
    for variable in over:
        length = variable.length.number()
        if length is not None and length <= SHORTEST:
            places = map(constant, range(int(length)))
            return summed(_total(replaced(alone(monomial), {variable: i}), others(over, variable)) for i in places)
    return None


def _opened(monomial: Monomial, over: Variables) -> Polynomial | None:
    """Σ_i y_i·(Σ_j x_ij) = Σ_ij x_ij·y_i."""
    inner = [
        (letter, exponent)
        for letter, exponent in monomial
        if letter.kind is Kind.SUM and letter.free & set(over) and exponent > 0 and exponent.denominator == 1
    ]
    if not inner:
        return None
    product, variables = alone(without(monomial, *(letter for letter, _ in inner))), list(over)
    for letter, exponent in inner:
        for _ in range(int(exponent)):
            renaming, new = renamed(letter.bound)
            product = product * replaced(alone(letter.arguments[1]), renaming)
            variables += new
    return _total(product, variables)


def renamed(bound: Sequence[Letter]) -> tuple[Replacement, list[Letter]]:
    """Fresh variables for bound ones."""
    new = [fresh(variable.length) for variable in bound]
    return {old: of(variable) for old, variable in zip(bound, new, strict=True)}, new


def _contracted(monomial: Monomial, over: Variables) -> Polynomial | None:
    """Σ_{i<n} [i = e]·u(i) = [0 ≤ e < n]·u(e), and Σ_{i<n} [k·i = e]·u(i) = [k·q = e]·[q < n]·u(q) for q = ⌊e / k⌋."""
    for letter, _ in monomial:
        slopes = unit_indices(letter.arguments[0]) if letter.kind is Kind.EQUAL else {}
        bound = sorted((v for v in slopes if v in over), key=lambda v: v.name)
        if bound:
            variable = bound[0]
            value = (of(variable) * slopes[variable] - letter.arguments[0]) * slopes[variable]
            rest = replaced(alone(without(monomial, letter)), {variable: value})
            return _total(rest * in_range(value, variable.length), others(over, variable))
    for letter, _ in monomial:
        for variable in sorted(letter.free & set(over), key=lambda v: v.name) if letter.kind is Kind.EQUAL else ():
            slope, rest = split_affine(letter.arguments[0], variable)
            step = None if slope is None else slope.number()
            if step is None or not nonnegative(-rest if step > 0 else rest):
                continue
            value = -rest if step > 0 else rest
            place = whole_part(value, constant(abs(step)))
            here = equal_to_zero(value - place * abs(step)) * in_range(place, variable.length)
            body = replaced(alone(without(monomial, letter)), {variable: place})
            return _total(body * here, others(over, variable))
    return None


def in_range(value: Polynomial, length: Polynomial) -> Polynomial:
    """[0 ≤ value < length]."""
    return at_least_zero(value) * at_least_zero(length - 1 - value)


def _split_where_divided(monomial: Monomial, over: Variables) -> Polynomial | None:
    """i = b·p + q where ⌊i / b⌋ stands and b divides the length."""
    found = split_of(frozenset().union(*(letter.within for letter, _ in monomial)), over)
    if found is None:
        return None
    variable, divisor, rounds = found
    p, q = fresh(rounds), fresh(divisor)
    body = replaced(alone(monomial), {variable: divisor * of(p) + of(q)})
    return _total(body, (*others(over, variable), p, q))


def _cut_where_divided(monomial: Monomial, over: Variables) -> Polynomial | None:
    """Σ_{i<b·m+r} u(i) = Σ_{i<b·m} u(i) + Σ_{i<r} u(b·m + i) where ⌊i / b⌋ stands for a number b > r."""
    found = cut_of(frozenset().union(*(letter.within for letter, _ in monomial)), over, 0)
    return None if found is None else _split(alone(monomial), others(over, found[0]), *found)


def cut_of(letters: frozenset[Letter], over: Variables, least: int) -> tuple[Letter, Polynomial] | None:
    """(i, b·m) for an index i < b·m + r of which ⌊i / b⌋ is taken, m proved to be at least a number."""
    for letter in sorted((a for a in letters if a.kind is Kind.QUOTIENT), key=lambda a: a.key):
        for variable, divisor in _divided_indices(letter):
            number = divisor.number()
            if number is None or variable not in over:
                continue
            split_by_remainder(variable.length, divisor)
            rest = variable.length.terms.get(ONE_MONOMIAL, Fraction(0)) % number
            rounds = (variable.length - rest) * (1 / number)
            if not rest or not rounds or not is_whole(rounds):
                continue
            split_by_size(rounds - least)
            if nonnegative(rounds - least):
                return variable, variable.length - rest
    return None


def split_of(letters: frozenset[Letter], over: Variables) -> tuple[Letter, Polynomial, Polynomial] | None:
    """(i, b, n/b) for an index i < n of which ⌊i / b⌋ is taken, b ≥ 1 a divisor of n."""
    for letter in sorted((a for a in letters if a.kind is Kind.QUOTIENT), key=lambda a: a.key):
        for variable, divisor in _divided_indices(letter):
            rounds = quotient(variable.length, divisor) if variable in over and nonnegative(divisor - 1) else None
            whole = rounds is not None and all(x.denominator == 1 for x in rounds.terms.values())
            if rounds is not None and whole and rounds != ONE and divisor != ONE and nonnegative(rounds):
                return variable, divisor, rounds
    return None


def _divided_indices(letter: Letter) -> list[tuple[Letter, Polynomial]]:
    """(i, b) for the indices i in a dividend, where c·i is divided by c·b."""
    dividend, divisor = letter.arguments
    found = []
    for monomial in dividend.terms:
        variables = [a for a, e in monomial if a.kind is Kind.INDEX and e == 1]
        if len(variables) == 1:
            slope = Polynomial({without(monomial, variables[0]): dividend.terms[monomial]})
            step = quotient(divisor, slope)
            if step is not None and all(x.denominator == 1 for x in step.terms.values()):
                found.append((variables[0], step))
    return sorted(found, key=lambda pair: pair[0].key)


POWER_SUMS: Sequence[Callable[[Polynomial], Polynomial]] = (
    lambda n: n,
    lambda n: n * (n - 1) * Fraction(1, 2),
    lambda n: n * (n - 1) * (n * 2 - 1) * Fraction(1, 6),
    lambda n: n * n * (n - 1) * (n - 1) * Fraction(1, 4),
)
"""Σ_{i<n} i^k for k = 0, 1, 2, 3."""


def _of_index_alone(monomial: Monomial, over: Variables) -> Polynomial | None:
    """Σ_{i<n} i^k, and Σ_{i<n} [i ≥ e]·i^k and Σ_{i<n} [e > i]·i^k where 0 ≤ e ≤ n is proved."""
    for variable in over:
        depending = [factor for factor in monomial if variable in factor[0].free]
        rest = alone(without(monomial, *(letter for letter, _ in depending)))
        comparisons = [a for a, _ in depending if a.kind is Kind.AT_LEAST]
        powers = [e for a, e in depending if a is variable]
        if (
            len(comparisons) + len(powers) < len(depending)
            or len(comparisons) > 1
            or not all(e in (1, 2, 3) for e in powers)
        ):
            continue
        of_length = POWER_SUMS[int(powers[0]) if powers else 0]
        value = of_length(variable.length) if not comparisons else _of_part(comparisons[0], variable, of_length)
        if value is not None:
            return _total(rest * value, others(over, variable))
    return None


def _of_part(comparison: Letter, variable: Letter, of_length: Callable) -> Polynomial | None:
    """Σ over the part of an axis in which one comparison holds, if the part is proved to end within the axis."""
    slope = unit_indices(comparison.arguments[0]).get(variable)
    if slope is None:
        return None
    rest = comparison.arguments[0] - of(variable) * slope
    end = rest + 1 if slope < 0 else -rest
    if not (nonnegative(end) and nonnegative(variable.length - end)):
        return None
    return of_length(end) if slope < 0 else of_length(variable.length) - of_length(end)


def _merged(monomial: Monomial, over: Variables) -> Polynomial | None:
    """Σ_{p<a} Σ_{q<b} u(b·p + q) = Σ_{i<ab} u(i)."""
    for p, q in permutations(over, 2):
        if {a for a, _ in monomial if p in a.free} == {a for a, _ in monomial if q in a.free}:
            both = fresh(p.length * q.length)
            body = replaced(alone(monomial), {q: of(both) - q.length * of(p)})
            if p not in body.free:
                return _total(body, (*others(over, p, q), both))
    return None


def _unsorted(monomial: Monomial, over: Variables) -> Polynomial | None:
    """Σ_k u(σ(k)) = Σ_i u(i) for the order σ of some numbers."""
    found = unsorted(alone(monomial), over)
    return None if found is None else _total(*found)


# Ranges: the index of an axis of an input runs over that axis


def _aligned(monomial: Monomial, over: Variables) -> Polynomial | None:
    """Σ_{i<m} u(x[i + s]) as a sum over the axis of x, with what lies beyond its ends written out.

    First the range is cut at the end of an axis that it passes.  It begins where a guard says, if all of an axis is
    read from there on, or nothing of any.  It stays as it is where it is all of an axis.
    """
    guards = [letter.arguments[0] for letter, _ in monomial if letter.kind is Kind.AT_LEAST]
    for variable in over:
        every = _accesses(monomial, variable)
        accesses = [access for access in every if not access.is_beyond(guards)]
        start = _start(variable, guards) if every else None
        if start is not None and (not accesses or any(access.is_exact_from(start) for access in accesses)):
            later = fresh(variable.length - start)
            return _total(replaced(alone(monomial), {variable: start + of(later)}), (*others(over, variable), later))
        for access in accesses:
            if access.is_passed(guards):
                return _split(alone(monomial), others(over, variable), variable, access.length - access.shift)
        if any(access.is_exact for access in accesses):
            earlier = next((access for access in accesses if access.is_earlier), None)
            found = None if earlier is None else _moved_to_axis(monomial, over, earlier, guards)
            if found is not None:
                return found
            continue
        for access in accesses:
            found = _moved_to_axis(monomial, over, access, guards)
            if found is not None:
                return found
    return None


def _start(variable: Letter, guards: Sequence[Polynomial]) -> Polynomial | None:
    """c, of a guard [i ≥ c] with 0 ≤ c ≤ n that is free of indices."""
    for guard in guards:
        start = of(variable) - guard
        if not start.free and nonnegative(start) and nonnegative(variable.length - start):
            return start
    return None


@dataclass(frozen=True)
class _Access:
    """x[…, sign·i + shift, …] along an axis of a length, for a bound index i and a shift that is free of indices."""

    variable: Letter
    sign: int
    shift: Polynomial
    length: Polynomial

    @property
    def place(self) -> Polynomial:
        return of(self.variable) * self.sign + self.shift

    @property
    def low(self) -> Polynomial:
        """The first place that is read."""
        return self.shift if self.sign > 0 else self.shift - self.variable.length + 1

    @property
    def high(self) -> Polynomial:
        """The last place that is read."""
        return self.shift + self.variable.length - 1 if self.sign > 0 else self.shift

    @property
    def is_exact(self) -> bool:
        """Whether all of the axis is read, from the first to the last entry."""
        return self.sign > 0 and not self.shift and self.length == self.variable.length

    @property
    def is_earlier(self) -> bool:
        """Whether all of the axis is read but for a few entries at its end, and as many before it."""
        shift = self.shift.number()
        same = self.sign > 0 and self.length == self.variable.length
        return same and shift is not None and -MOST_BEYOND <= shift < 0

    def is_exact_from(self, start: Polynomial) -> bool:
        """Whether all of the axis is read when the bound index begins at a place."""
        return self.sign > 0 and self.shift == -start and self.length == self.variable.length - start

    def is_beyond(self, guards: Sequence[Polynomial]) -> bool:
        """Whether nothing of the axis is read: nowhere, or only where a guard is 0."""
        if nonnegative(self.low - self.length) or nonnegative(-self.high - 1):
            return True
        return any(nonnegative(self.place - guard - self.length) for guard in guards)

    def is_passed(self, guards: Sequence[Polynomial]) -> bool:
        """Whether more than a few entries behind the end are read, which is proved to lie within the range."""
        end, range_of = self.length - self.shift, self.variable.length
        if self.sign < 0 or not (nonnegative(end) and nonnegative(range_of - end - 1)):
            return False
        count = (range_of - end).number()
        guarded = any(nonnegative(self.length - 1 - self.place - guard) for guard in guards)
        return not guarded and (count is None or count > MOST_BEYOND)


def _accesses(monomial: Monomial, variable: Letter) -> list[_Access]:
    """The accesses along a bound index, the simplest first."""
    found: dict[tuple, _Access] = {}
    for letter in frozenset().union(*(a.within for a, _ in monomial)):
        if letter.kind is not Kind.ENTRY or variable not in letter.free:
            continue
        for place, length in zip(letter.arguments[3], letter.arguments[1], strict=True):
            slope = unit_indices(place).get(variable)
            shift = place - of(variable) * (slope or 0)
            if slope is not None and not shift.free:
                number = shift.terms.get(ONE_MONOMIAL, Fraction(0))
                found[-slope, length.key, number, shift.key] = _Access(variable, int(slope), shift, length)
    return [found[key] for key in sorted(found)]


def _moved_to_axis(
    monomial: Monomial, over: Variables, access: _Access, guards: Sequence[Polynomial]
) -> Polynomial | None:
    """The sum with i replaced by the place in the axis; None if that is not proved to be right.

    Of the places beyond the ends of the axis at most `MOST_BEYOND` are written out one by one; guards [e ≥ 0] that
    exclude them make that needless.
    """
    variable, length, place = access.variable, access.length, access.place
    body, rest, range_of = alone(monomial), others(over, variable), variable.length
    before = _beyond(-access.low, place, guards, lambda step: constant(-1 - step))
    behind = _beyond(access.high + 1 - length, length - 1 - place, guards, lambda step: length + step)
    if before is None or behind is None:
        return None
    inner = fresh(length)
    result, places = ZERO, [(of(inner), (*rest, inner)), *((at, rest) for at in (*before, *behind))]
    for at, variables in places:
        value = (at - access.shift) * access.sign
        result = result + _total(replaced(body, {variable: value}) * in_range(value, range_of), variables)
    return result


def _beyond(
    count: Polynomial, inside: Polynomial, guards: Sequence[Polynomial], at: Callable[[int], Polynomial]
) -> list[Polynomial] | None:
    """The places beyond one end of an axis that have to be written out; None if they are too many.

    count: how many are read.  inside: how far a place is within the end.
    """
    if nonnegative(-count) or any(nonnegative(inside - guard) for guard in guards):
        return []
    number = count.number()
    return None if number is None or number > MOST_BEYOND else [at(step) for step in range(int(number))]


def _split(body: Polynomial, rest: Variables, variable: Letter, at: Polynomial) -> Polynomial:
    """Σ_{i<n} u(i) = Σ_{i<m} u(i) + Σ_{i<n−m} u(m + i)."""
    first, second = fresh(at), fresh(variable.length - at)
    before = _total(replaced(body, {variable: of(first)}), (*rest, first))
    return before + _total(replaced(body, {variable: at + of(second)}), (*rest, second))


RULES: Sequence[Callable[[Monomial, Variables], Polynomial | None]] = (
    lambda monomial, over: None if over else alone(monomial),
    _opened,
    _contracted,
    _split_where_divided,
    _cut_where_divided,
    _merged,
    _unsorted,
    _written_out,
    _aligned,
    _of_index_alone,
)
"""Tried in this order: each gives a sum of simpler sums, or None."""


# Connected components


def _components(monomial: Monomial, over: Variables) -> Polynomial:
    """∏ of the sums over indices that are connected by common factors."""
    bound = set(over)
    product = reduced({letter: exponent for letter, exponent in monomial if not letter.free & bound})
    left = list(over)
    while left:
        component = {left[0]}
        while True:
            touching = [letter.free & bound for letter, _ in monomial if letter.free & component]
            grown = component.union(*touching)
            if grown == component:
                break
            component = grown
        part = tuple(factor for factor in monomial if factor[0].free & component)
        product = product * _component(part, tuple(v for v in left if v in component))
        left = [variable for variable in left if variable not in component]
    return product


def _component(part: Monomial, over: Variables) -> Polynomial:
    """One connected sum: with a denominator that is a part of it cancelled, and its comparisons in one direction."""
    found = _with_denominator(part, over)
    if found is None:
        found = _turned(part, over)
    return of(named(Kind.SUM, alone(part), over)) if found is None else found


def _with_denominator(part: Monomial, over: Variables) -> Polynomial | None:
    """Σ_ij e_ij·y_i / (Σ_k e_ik) = Σ_i y_i."""
    for letter, exponent in part:
        if letter.kind is not Kind.SUM or exponent >= 0 or len(over) <= len(letter.bound):
            continue
        for inner in combinations(over, len(letter.bound)):
            factors = tuple(factor for factor in part if factor[0].free & set(inner))
            if set(inner) & letter.free or len(factors) == len(part):
                continue
            value = _total(alone(factors), inner)
            if len(value.terms) == 1 and letter in value.letters:
                rest = tuple(factor for factor in part if factor not in factors)
                return _total(value * alone(rest), others(over, *inner))
    return None


def _turned(part: Monomial, over: Variables) -> Polynomial | None:
    """[i ≥ j] as 1 + [i = j] − [j ≥ i] where the other direction is the one that is kept."""
    for letter, _ in part:
        if letter.kind is not Kind.AT_LEAST:
            continue
        slopes = {
            m[0][0]: number
            for m, number in letter.arguments[0].terms.items()
            if len(m) == 1 and m[0][0].kind is Kind.INDEX
        }
        if any(variable.name.startswith("o") for variable in slopes) or sum(slopes.values()) != 0:
            continue
        rest, opposite = alone(without(part, letter)), -letter.arguments[0]
        inside = [slope for variable, slope in slopes.items() if variable in over]
        if len(inside) < len(slopes):
            turn = all(slope > 0 for slope in inside)
        else:
            turned = multiplied(without(part, letter), ((made(Kind.AT_LEAST, opposite), Fraction(1)),))
            if len(turned.terms) != 1:
                continue
            one, other = named(Kind.SUM, alone(part), over), named(Kind.SUM, turned, over)
            if one is other:
                return (_total(rest, over) + _total(rest * equal_to_zero(opposite), over)) * Fraction(1, 2)
            turn = (coloured(other, {}), other.key) < (coloured(one, {}), one.key)
        if turn:
            both = _total(rest, over) + _total(rest * equal_to_zero(opposite), over)
            return both - _total(rest * of(made(Kind.AT_LEAST, opposite)), over)
    return None


def _sum_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    renaming, new = renamed(letter.bound)
    return raised(total(replaced(alone(letter.arguments[1]), {**by, **renaming}), new), exponent)


REBUILD[Kind.SUM] = _sum_rebuilt
