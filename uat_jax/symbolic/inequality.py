"""Inequalities that follow from others, with the multipliers that show it, or an exact point where they fail.

Real symbols, polynomials with rational coefficients, and |u|, max(u, v, …), min(u, v, …) of them.  The claim is
denied, and the denial refuted case by case:

- |u| = max(u, −u) becomes a new symbol t with t ≥ u and t ≥ −u.  Where that does not suffice, the cases t ≤ u and
  t ≤ −u are treated one after the other; one of them holds at every point.
- In a case there is a sum Σ λ_i p_i that vanishes identically, although every p_i ≥ 0, every λ_i ≥ 0, and some p_i > 0
  has λ_i > 0: a contradiction.  The λ_i come from linear programming (`linear_alternative`); anyone can multiply
  them out again (`Case.contradicts`).
- A known inequality times a product of symbols that are not negative is known as well; those are tried whose
  monomials occur.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

import sympy
from sympy.polys.polyerrors import CoercionFailed, GeneratorsError
from sympy.polys.rings import PolyElement, PolyRing

from uat_jax.errors import UnsupportedError
from uat_jax.symbolic.linear_alternative import alternative
from uat_jax.symbolic.relations import Point, Relation, checked, gaps, holds, text_of

PRODUCTS, CASES = 200, 256
"""At most so many products are tried, and so many cases treated."""


@dataclass(frozen=True)
class Fact:
    """``value`` ≥ 0, or > 0 if ``strict``; ``name`` says where it comes from."""

    name: str
    value: PolyElement
    strict: bool


@dataclass(frozen=True)
class Case:
    """A contradiction Σ λ p = 0 in the case that ``signs`` describe; ``terms`` are the pairs (λ, p).

    ``choices``: the signs as pairs (|u|, max or min, what it is); ``denial``: the number of the gap that is denied.
    """

    signs: tuple[str, ...]
    terms: tuple[tuple[Fraction, Fact], ...]
    choices: tuple[tuple[sympy.Expr, sympy.Expr], ...] = ()
    denial: int = 0

    def contradicts(self) -> bool:
        """Multiply out: the sum vanishes, no λ is negative, and one that belongs to a strict inequality is positive."""
        ring = self.terms[0][1].value.ring
        vanishes = not sum((factor * fact.value for factor, fact in self.terms), start=ring.zero)
        positive = any(factor > 0 and fact.strict for factor, fact in self.terms)
        return vanishes and positive and all(factor >= 0 for factor, _ in self.terms)


@dataclass(frozen=True)
class Deduction:
    """``cases``, every one a contradiction: the claim holds; ``point``: one where it fails; neither: undecided.

    ``meaning``: what the symbols stand for that cases use in the place of |u|, max and min.
    """

    cases: tuple[Case, ...] = ()
    point: Point | None = None
    meaning: Point = field(default_factory=dict, compare=False)


def deduce(claim: Relation, hypotheses: Iterable[Relation]) -> Deduction:
    """Whether the claim follows from the hypotheses, whatever real values the symbols have.

    What SymPy knows of a symbol (positive, nonnegative) is a hypothesis too.  Raises `InputError` for what is no
    relation between real expressions or has a float, `UnsupportedError` for functions other than Abs, Max and Min.
    """
    found = _deduced(claim, hypotheses := tuple(hypotheses))
    if found.point is None or not isinstance(claim, (sympy.StrictLessThan, sympy.StrictGreaterThan)):
        return found
    weaker = sympy.Le if isinstance(claim, sympy.StrictLessThan) else sympy.Ge
    further = _deduced(weaker(*claim.args), hypotheses)  # a point where even ≤ fails shows more
    return found if further.point is None else further


def satisfied(claim: Relation, hypotheses: Sequence[Relation]) -> Deduction:
    """A point at which all hypotheses hold, cases that show that there is none, or neither.

    Points whose coordinates are all alike and simple are tried first, then those that linear programming gives.
    """
    symbols = _symbols(sympy.sympify(h) for h in hypotheses)
    points = (dict.fromkeys(symbols, number) for number in _SIMPLE)
    fits = lambda point: all(_fits(*entry) for entry in point.items()) and all(holds(h, point) for h in hypotheses)
    simple = next(filter(fits, points), None)
    return deduce(sympy.false, hypotheses) if simple is None else Deduction(point=simple)


def _symbols(relations: Iterable[sympy.Basic]) -> list[sympy.Symbol]:
    """The symbols of relations, by name."""
    return sorted(set().union(*(relation.free_symbols for relation in relations)), key=str)  # type: ignore[return-value]


@lru_cache(maxsize=1 << 10, typed=True)  # a bound is asked for at several errors
def _deduced(claim: Relation, hypotheses: tuple[Relation, ...]) -> Deduction:
    claim, given = checked(claim), tuple(map(checked, hypotheses))
    corners, cases = _Corners(), []
    known = [(text_of(h), corners(gap), strict) for h in given for gap, strict in gaps(h)]
    denials = [("the claim denied", corners(-gap), not strict) for gap, strict in gaps(claim)]
    symbols = _symbols((claim, *given))
    to_facts = _Facts(symbols, corners.found)
    for number, denial in enumerate(denials):
        found = _Search(claim, given, to_facts, corners.found).run([*to_facts.always, *map(to_facts, (*known, denial))])
        if not found.cases:
            return found
        cases += [replace(case, denial=number) for case in found.cases]
    return Deduction(tuple(cases), meaning={corner.symbol: corner.expression for corner in corners.found})


# --- |u|, max, min ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Corner:
    """``symbol`` stands for the largest of the ``options``, which is the ``expression``."""

    symbol: sympy.Dummy
    options: tuple[sympy.Expr, ...]
    expression: sympy.Expr

    @property
    def is_size(self) -> bool:
        """Whether it is |u|, which is never negative."""
        return len(self.options) == 2 and self.options[0] == -self.options[1]


class _Corners:
    """Replaces |u|, max and min by symbols, innermost first, and remembers what these stand for."""

    def __init__(self) -> None:
        self.found: list[_Corner] = []

    def __call__(self, expression: sympy.Expr) -> sympy.Expr:
        if not expression.args:
            return expression
        inner: tuple[sympy.Expr, ...] = tuple(map(self, expression.args))  # type: ignore[arg-type]
        match expression:
            case sympy.Abs():
                return self._largest((inner[0], -inner[0]), text_of(expression), expression)
            case sympy.Max():
                return self._largest(inner, text_of(expression), expression)
            case sympy.Min():
                return -self._largest(tuple(-u for u in inner), f"-{text_of(expression)}", -expression)
            case _:
                return expression.func(*inner)

    def _largest(self, options: tuple[sympy.Expr, ...], name: str, expression: sympy.Expr) -> sympy.Expr:
        known = next((c for c in self.found if c.options == options), None)
        if known is None:
            known = _Corner(sympy.Dummy(name, real=True), options, expression)
            self.found.append(known)
        return known.symbol


class _Facts:
    """Inequalities as polynomials over the symbols and the corners; ``always`` are those that hold in any case."""

    def __init__(self, symbols: Sequence[sympy.Symbol], corners: Sequence[_Corner]) -> None:
        self.ring = PolyRing([*symbols, *(c.symbol for c in corners)] or ["x"], sympy.QQ)
        signs = [
            (f"{s} {'>' if s.is_positive else '≥'} 0", s, bool(s.is_positive)) for s in symbols if s.is_nonnegative
        ]
        bounds = [(f"{c.symbol.name} ≥ {text_of(u)}", c.symbol - u, False) for c in corners for u in c.options]
        sizes = [(f"{c.symbol.name} ≥ 0", c.symbol, False) for c in corners if c.is_size]
        self.always = list(map(self, [("1 > 0", sympy.Integer(1), True), *signs, *bounds, *sizes]))

    def __call__(self, entry: tuple[str, sympy.Expr, bool]) -> Fact:
        name, expression, strict = entry
        try:
            return Fact(name, self.ring.from_expr(expression), strict)
        except (ValueError, CoercionFailed, GeneratorsError):
            wanted = "wanted polynomials with rational coefficients, and |u|, max, min of them"
            raise UnsupportedError(f"cannot decide {expression}; {wanted}") from None


# --- the search ------------------------------------------------------------------------------------------------------


@dataclass
class _Search:
    claim: Relation
    hypotheses: tuple[Relation, ...]
    to_fact: _Facts
    corners: Sequence[_Corner]
    treated: int = 0

    def run(
        self, facts: list[Fact], signs: tuple[str, ...] = (), choices: tuple[tuple[sympy.Expr, sympy.Expr], ...] = ()
    ) -> Deduction:
        """Every case a contradiction, or a point, or neither."""
        self.treated += 1
        known = [*facts, *products(facts)]
        monomials = list(dict.fromkeys(m for fact in known for m in fact.value))
        rows = [[fact.value.get(m, sympy.QQ(0)) for fact in known] for m in monomials]
        multipliers, values = alternative(rows, [fact.strict for fact in known])
        if multipliers is not None:
            terms = tuple((factor, fact) for factor, fact in zip(multipliers, known, strict=True) if factor)
            return Deduction((Case(signs, terms, choices),))
        point = self._point(dict(zip(monomials, values, strict=True)))
        if self._fails_at(point):
            return Deduction(point=self._simplest(point))
        return self._split(facts, signs, choices, point)

    def _point(self, values: Mapping[tuple[int, ...], Fraction]) -> Point:
        """The values of the symbols, from the values of the monomials."""
        ring = self.to_fact.ring
        scale = values[next(iter(ring.one))]
        of = lambda generator: values.get(next(iter(generator)), ring.domain.zero) / scale
        return {s: sympy.QQ.to_sympy(of(g)) for s, g in zip(ring.symbols, ring.gens, strict=True)}  # type: ignore[misc]

    def _fails_at(self, point: Point) -> bool:
        allowed = all(_fits(symbol, value) for symbol, value in point.items())
        return allowed and all(holds(h, point) for h in self.hypotheses) and not holds(self.claim, point)

    def _simplest(self, point: Point) -> Point:
        """A point with small numbers, wherever the claim still fails with them."""
        corners = {corner.symbol for corner in self.corners}
        own = {s: v for s, v in point.items() if s not in corners}
        positive = {s: abs(v) for s, v in own.items()}
        own = positive if self._fails_at(positive) else own
        for symbol in own:
            changed = ({**own, symbol: simple} for simple in _SIMPLE)
            own = next(filter(self._fails_at, changed), own)
        return own

    def _split(self, facts: list[Fact], signs: tuple[str, ...], choices: tuple, point: Point) -> Deduction:
        """The corner that is furthest from its value at the point, one case for each of its options."""
        gap = lambda c: point[c.symbol] - max(u.xreplace(point) for u in c.options)
        worst = max(self.corners, key=gap, default=None)
        if worst is None or gap(worst) == 0 or self.treated > CASES:
            return Deduction()
        cases: list[Case] = []
        for option in worst.options:
            sign = f"{worst.symbol.name} = {text_of(option)}"
            fact = self.to_fact((sign, option - worst.symbol, False))
            found = self.run([*facts, fact], (*signs, sign), (*choices, (worst.symbol, option)))
            if not found.cases:
                return found
            cases += found.cases
        return Deduction(tuple(cases))


_SIMPLE = (*map(sympy.Integer, (0, 1, -1, 2, -2)), sympy.Rational(1, 2))


def _fits(symbol: sympy.Symbol, value: sympy.Expr) -> bool:
    """Whether the symbol may have this value: what SymPy knows of the symbol is true of it."""
    return all(getattr(value, f"is_{name}") == known for name, known in symbol.assumptions0.items())


def products(facts: Sequence[Fact]) -> list[Fact]:
    """Products m·p of a fact p and a monomial m of symbols that are not negative, as far as their monomials occur.

    m is tried if m times a monomial of p occurs in a fact or in a product found before.
    """
    ring, positive, signed = facts[0].value.ring, set(), set()
    for fact in facts:
        if len(fact.value) == 1 and sum(fact.value.LM) == 1 and fact.value.LC > 0:
            (signed, positive)[fact.strict].add(fact.value.LM.index(1))
    found: dict[tuple[int, tuple[int, ...]], Fact] = {}
    todo = list(dict.fromkeys(m for fact in facts for m in fact.value if sum(m) > 1))
    seen = set(todo)
    for target in todo:  # grows on the way
        for number, fact in enumerate(facts):
            for monomial in fact.value:
                factor = ring.monomial_ldiv(target, monomial) if _divides(monomial, target) else None
                if factor is None or not any(factor) or (number, factor) in found or len(found) >= PRODUCTS:
                    continue
                used = {i for i, power in enumerate(factor) if power}
                if not used <= signed | positive:
                    continue
                value = fact.value.mul_monom(factor)
                name = f"({fact.name}) · {text_of(ring.term_new(factor, ring.domain.one).as_expr())}"
                found[number, factor] = Fact(name, value, fact.strict and used <= positive)
                todo += [m for m in value if sum(m) > 1 and m not in seen]
                seen.update(value)
    return list(found.values())


def _divides(monomial: tuple[int, ...], target: tuple[int, ...]) -> bool:
    return all(a <= b for a, b in zip(monomial, target, strict=True))
