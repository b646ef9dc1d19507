"""Numbers modulo primes: one level of a tower, in which unknown functions are random functions (docs/checker.md §3).

A number that is known stays a `Fraction`; only what depends on an input becomes a `Number`.
"""

import functools
import hashlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import fmpz, fmpz_mod_ctx, fmpz_mod_mat

from uat_jax_check.document import NotDecided

SMALL = 2**16
"""The largest numerator and denominator of a factor that is read off two residues."""


class Redraw(Exception):
    """This point is none: a divisor is 0 at it, or a number of which the root is taken is no square."""


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number of a program at random points.

    Attributes:
        at: its residue in each copy; None if exponentials lie in each other too often for this level.
        top, bottom: it is N/D, where N and D have at most these degrees.
        total: it is defined at all inputs.
        smooth: no comparison, magnitude or maximum has to do with it.
        sign: 2 if it is above 0 wherever it is defined, 1 if it is not below 0, else 0.
        depth: how many exponentials lie in each other.
        tie: of a comparison of two numbers, their difference and what it is where that is not 0.
        terms: of a sum of exponentials, the coefficient and the exponent of each.
        ratio: of a quotient of numbers above 0, these.
        formal: sums, products and quotients make it of exponentials and numbers above 0: never 0 as a formal value.
        hollow: it has a divisor that may be 0 on an open set; it reaches an output by sums and products only.
        root: of √v, v and 1/√v.
        square: of y·y, the number y.
        direction: of a product with a number above 0, the other factor; all are defined everywhere.
        logs: (r, ((n, u), ...)) for r + Σ n log u, each of these logarithms being one that the program takes.
        cases: the outcomes of comparisons that it depends on, where these are drawn.
    """

    at: Any
    top: int = 1
    bottom: int = 0
    total: bool = True
    smooth: bool = True
    sign: int = 0
    depth: int = 0
    tie: Any = None
    terms: tuple[tuple[Fraction, Any], ...] = ()
    ratio: Any = None
    formal: bool = False
    hollow: bool = False
    root: Any = None
    square: Any = None
    direction: Any = None
    logs: Any = None
    cases: frozenset[Any] = frozenset()


@dataclass
class Level:
    """What is drawn for a level: a prime, copies, and the exponents of the level below."""

    prime: int
    copies: int
    key: bytes
    height: int = 0
    below: Any = None
    generator: int = 0
    mixing: Any = ()
    allowed: int = 0
    towers: bool = False
    signs: Sequence[int] | None = None
    outcomes: Any = None


class Fields:
    """Arithmetic at one level.  Counts what the bound needs: applications, tests and the largest degree tested."""

    exact = False

    def __init__(self, level: Level) -> None:
        self.level, self.p = level, level.prime
        self.applications = self.tests = 0
        self.degree, self.depth = 1, 0
        self.place: tuple[int, ...] = ()
        self.exponents: dict[tuple[Any, ...], Number] = {}
        self.members: dict[tuple[int, ...], list[Number]] = {}
        self.compared: list[tuple[Any, Number]] = []
        self.roots: dict[int, int] = {}
        self.rooted: list[tuple[Number, Number]] = []
        self.letters: dict[int, Number] = {}
        self.positive: set[tuple[int, ...]] = set()
        self.logarithms: dict[Any, Number] = {}
        self.asked: dict[Any, int] = {}
        self.common: frozenset[Any] = frozenset()
        self.nonnegative: dict[tuple[int, ...], frozenset[Any]] = {}
        self.notes: set[str] = set()

    # Sums and products

    def pi(self) -> Number:
        """π, of which no more is used than that it is above 0."""
        return replace(self.random("pi", self.lift(Fraction(1))), sign=2)

    def lift(self, value: Any) -> Number:
        """A known real number as a residue."""
        if isinstance(value, Number):
            return value
        number = Number((value.numerator * pow(value.denominator, -1, self.p) % self.p,) * self.level.copies, 0)
        if value <= 0:
            return replace(number, sign=int(value == 0))
        zero = Number((0,) * self.level.copies, 0, sign=1)
        return replace(number, sign=2, formal=True, terms=((Fraction(value), zero),))

    def made(self, at: Any, *operands: Number, **facts: Any) -> Number:
        """A number that is defined and smooth if its operands are."""
        facts.setdefault("depth", max(x.depth for x in operands))
        return Number(
            at if all(x.at is not None for x in operands) else None,
            total=all(x.total for x in operands),
            smooth=all(x.smooth for x in operands),
            hollow=any(x.hollow for x in operands),
            cases=frozenset().union(*(x.cases for x in operands)),
            **facts,
        )

    def sum(self, values: Sequence[Any]) -> Number:
        """The sum of numbers, at least one of which is not known."""
        xs, p = [self.lift(v) for v in values], self.p
        bottom = sum(x.bottom for x in xs)
        known = all(x.at is not None for x in xs)
        at = tuple(sum(column) % p for column in zip(*(x.at for x in xs), strict=True)) if known else None
        safe = all(x.total and x.sign for x in xs)
        formal = all(x.formal for x in xs)
        sign = (2 if formal or any(x.sign == 2 for x in xs) else 1) if safe or formal else 0
        top = max(x.top + bottom - x.bottom for x in xs)
        y = self.made(at, *xs, top=top, bottom=bottom, sign=sign, formal=formal)
        if safe and at is not None:
            self.nonnegative.setdefault(at, y.cases)
        terms = tuple(t for x in xs for t in x.terms) if all(x.terms for x in xs) else ()
        logs = tuple(part for x in xs if x.logs for part in x.logs[1])
        if 0 < len(logs) <= 8:
            rest = [x.logs[0] if x.logs else x for x in xs if not x.logs or x.logs[0] is not None]
            y = replace(y, logs=(self.sum(rest) if rest else None, logs))
        return replace(y, terms=terms) if 0 < len(terms) <= 256 else y

    def product(self, x: Any, y: Any) -> Number:
        """x·y; where one of them is a comparison whose tie does not matter, as §5 of the document says."""
        x, y = self.lift(x), self.lift(y)
        for one, other in ((x, y), (y, x)):
            if one.tie and one.tie[1] and self.ratio(other, one.tie[0]) is not None:
                return self.as_defined_as(one, self.product(other, one.tie[1]))
        if x.root and y.root and x.root[0].at == y.root[0].at:  # √v √v = v
            return self.as_defined_as(x, self.as_defined_as(y, x.root[0]))
        p = self.p
        at = tuple(a * b % p for a, b in zip(x.at, y.at, strict=True)) if x.at and y.at else None
        sign = min(x.sign, y.sign) or int(x is y)
        formal = x.formal and y.formal
        z = self.made(at, x, y, top=x.top + y.top, bottom=x.bottom + y.bottom, sign=sign, formal=formal)
        if at and sign and x.total and y.total:
            self.nonnegative.setdefault(at, z.cases)
        few = 0 < len(x.terms) * len(y.terms) <= 4
        pairs = tuple((c * d, self.sum([t, u])) for c, t in x.terms for d, u in y.terms) if few else ()
        return replace(z, terms=pairs, square=x if at and x.at == y.at else None, direction=self.directed(x, y))

    def directed(self, x: Number, y: Number) -> Any:
        """What a product has the sign of, where one factor is above 0 and all are defined everywhere."""
        for one, other in ((x, y), (y, x)):
            if one.sign == 2 and one.total and other.total and not other.sign == 2:
                return other.direction or other
        return None

    def scaled(self, x: Number, factor: Fraction) -> Number:
        """A known multiple, which keeps what is known of a sign and of exponentials."""
        y, root = self.product(x, factor), exact_root(factor) if factor > 0 and x.square else None
        y = replace(y, square=self.scaled(x.square, root) if root else None)
        if x.logs and factor:
            rest = None if x.logs[0] is None else self.scaled(x.logs[0], factor)
            y = replace(y, logs=(rest, tuple((n * factor, u) for n, u in x.logs[1])))
        return replace(y, terms=tuple((c * factor, t) for c, t in x.terms)) if factor > 0 and x.terms else y

    def inverse(self, x: Number) -> Number:
        """1/x: x is smooth, or above 0 (docs/checker.md §4)."""
        self.solid(x)
        if x.root:
            return x.root[1]
        at = None
        if x.at is not None:
            self.tested(x)
            if 0 in x.at:
                raise Redraw("a divisor is 0")
            at = tuple(pow(a, -1, self.p) for a in x.at)
        sign = 2 if x.sign else 0
        y = self.made(at, x, top=x.bottom, bottom=x.top, sign=sign, formal=x.formal)
        return y if x.sign == 2 else replace(y, total=False, hollow=not x.smooth)

    def solid(self, *xs: Number) -> None:
        """Refuse what a divisor that may be 0 on an open set has made: infinite, it might become a number again."""
        if any(x.hollow for x in xs):
            raise NotDecided("a divisor that may be 0 on an open set, and a function of it")

    # Tests at the random points

    def tested(self, x: Number) -> None:
        """Count a number that is compared with 0."""
        self.tests += 1
        self.degree = max(self.degree, 2 * (x.top + x.bottom))

    def is_zero(self, x: Number) -> bool:
        """Whether a number is 0 as a formal value."""
        self.tested(x)
        return x.at is not None and not any(x.at)

    def ratio(self, x: Number, y: Number) -> Fraction | None:
        """c if x = c·y for a small rational number c, None if there is none."""
        if x.at is None or y.at is None:
            return None
        self.tested(x)
        self.tested(y)
        if not any(x.at):
            return Fraction(0)
        if 0 in x.at or 0 in y.at:
            return None
        c = fraction(x.at[0] * pow(y.at[0], -1, self.p) % self.p, self.p, SMALL)
        if c is None:
            return None
        same = all((a * c.denominator - b * c.numerator) % self.p == 0 for a, b in zip(x.at, y.at, strict=True))
        return c if same else None

    # Unknown functions

    def random(self, name: str, *xs: Number, **facts: Any) -> Number:
        """A random function of all copies of its arguments."""
        self.solid(*xs)
        self.applications += 1
        self.degree = max([self.degree, *(2 * (x.top + x.bottom) for x in xs)])
        at = None
        if all(x.at is not None for x in xs):
            width = (self.p.bit_length() + 7) // 8
            residues = b"".join(a.to_bytes(width, "little") for x in xs for a in x.at)
            head = f"{self.level.height}|{name}|{len(xs)}|".encode()
            stream = hashlib.shake_256(self.level.key + head + residues).digest((width + 16) * self.level.copies)
            pieces = (stream[i : i + width + 16] for i in range(0, len(stream), width + 16))
            at = tuple(int.from_bytes(piece, "little") % self.p for piece in pieces)
        return self.made(at, *xs, **facts)

    def made_partial(self, x: Number) -> Number:
        """The same number, which may be undefined for some inputs."""
        return replace(x, total=False)

    def as_defined_as(self, x: Number, y: Number) -> Number:
        """y, which stands for what is undefined where x is, too."""
        return replace(y, total=y.total and x.total, hollow=y.hollow or x.hollow, cases=y.cases | x.cases)

    def odd(self, name: str, x: Number) -> Number:
        """A random odd function."""
        return self.sum([self.random(name, x), self.negative(self.random(name, self.negative(x)))])

    def even(self, name: str, x: Number) -> Number:
        """A random even function."""
        return self.sum([self.random(name, x), self.random(name, self.negative(x))])

    def negative(self, x: Any) -> Any:
        """-x."""
        return -x if isinstance(x, Fraction) else replace(self.scaled(x, Fraction(-1)), sign=0, tie=None)

    # Exponentials

    def exponential(self, x: Number, kind: int, what: str = "") -> Number:
        """exp(x) for kind 0, exp(ix) for kind 1; `what` tells exponentials of one operation apart."""
        self.solid(x)
        self.depth = max(self.depth, x.depth + 1)
        facts = dict(sign=2 - 2 * kind, depth=x.depth + 1, formal=not kind)
        if x.at is not None and self.is_zero(x):
            return self.as_defined_as(x, self.lift(Fraction(1)))
        if not self.level.towers:
            y = replace(self.random(f"exp {kind}", x), **facts)
            if x.total and not kind and y.at is not None:
                self.positive.add(y.at)
            return y
        key, level = (*self.place, kind, what), self.level
        self.exponents[key] = x
        if level.below is None or x.depth + 1 > level.allowed:
            return self.made(None, x, **facts)
        below = level.below.exponents.get(key)
        if below is None or below.at is None:
            raise NotDecided("exponentials that stand in other places at another level")
        q = level.below.p
        exponents = [sum(h * a for h, a in zip(row, below.at, strict=True)) % q for row in level.mixing[kind]]
        at = tuple(pow(level.generator, e, self.p) for e in exponents)
        if x.total and not kind:
            self.positive.add(at)
            self.logarithms[at] = x
        return self.made(at, x, **facts)

    def exp(self, x: Number) -> Number:
        """The exponential; exp(r + Σ n log u) = exp(r) Π uⁿ for whole n, where the logarithms are defined."""
        if x.logs and all(n.denominator == 1 and abs(n) <= 8 for n, _ in x.logs[1]):
            factors = [u if n > 0 else self.inverse(u) for n, u in x.logs[1] for _ in range(abs(int(n)))]
            y = self.lift(Fraction(1)) if x.logs[0] is None else self.exp(x.logs[0])
            for factor in factors:
                y = self.product(y, factor)
            return self.as_defined_as(x, replace(y, sign=y.sign if x.total else 0, tie=None))
        return replace(self.exponential(x, 0), terms=((Fraction(1), x),))

    def logistic(self, x: Number) -> Number:
        """1/(1 + exp(-x))."""
        return self.inverse(replace(self.sum([Fraction(1), self.exp(self.negative(x))]), sign=2))

    def tanh(self, x: Number) -> Number:
        """2/(1 + exp(-2x)) - 1."""
        return self.sum([self.scaled(self.logistic(self.scaled(x, Fraction(2))), Fraction(2)), Fraction(-1)])

    def hyperbolic(self, x: Number, sign: int) -> Number:
        """(exp x + sign·exp(-x))/2."""
        e = self.exp(x)
        return self.scaled(self.sum([e, self.scaled(self.inverse(e), Fraction(sign))]), Fraction(1, 2))

    def circular(self, x: Number, sine: bool) -> Number:
        """cos x or sin x, by exp(ix)."""
        self.depth = max(self.depth, x.depth + 1)
        if not self.level.towers:
            return self.odd("sin", x) if sine else self.even("cos", x)
        e = self.exponential(x, 1)
        if e.at is None:
            return e
        back = self.made(tuple(pow(a, -1, self.p) for a in e.at), e, top=e.bottom, bottom=e.top)
        half = Fraction(1, 2)
        if not sine:
            return self.scaled(self.sum([e, back]), half)
        i = self.imaginary()
        difference = self.sum([e, self.negative(back)])
        at = tuple(a * pow(2 * i, -1, self.p) % self.p for a in difference.at or ())
        return self.made(at, difference, top=difference.top, bottom=difference.bottom)

    def imaginary(self) -> int:
        """A number of square -1: the primes are 1 more than a multiple of 4."""
        base = next(b for b in range(2, 999) if pow(b, (self.p - 1) // 2, self.p) == self.p - 1)
        return pow(base, (self.p - 1) // 4, self.p)

    def inverse_hyperbolic(self, name: str, x: Number) -> Number:
        """asinh x = log(x + √(x² + 1)), atanh x = (log(1 + x) - log(1 - x))/2."""
        one = Fraction(1)
        if name == "asinh":
            root = self.sqrt(replace(self.sum([self.product(x, x), one]), sign=2))
            return self.log(replace(self.sum([x, root]), sign=2))
        sides = self.log(self.sum([one, x])), self.negative(self.log(self.sum([one, self.negative(x)]), "log-"))
        return self.scaled(self.sum(sides), Fraction(1, 2))

    # Roots and logarithms

    def rsqrt(self, x: Any) -> Number:
        """1/√x: an unknown function, or the inverse of a number of square x; 1/√(cx) = 1/(√c √x), √(y²) = |y|."""
        if isinstance(x, Fraction):
            return self.constant_root(1 / x)
        self.solid(x)
        if x.square and self.level.signs is None:
            return self.as_defined_as(x, self.inverse(self.magnitude(x.square)))
        for number, inverse in self.rooted[-64:] if x.at is not None else ():
            c = self.ratio(x, number)
            if c and c > 0:
                y = self.product(inverse, self.constant_root(1 / c))
                return self.as_defined_as(x, replace(y, total=x.sign == 2))
        y = self._rsqrt(x)
        self.rooted.append((x, y))
        return y

    def constant_root(self, c: Fraction) -> Number:
        """√c for c > 0, by letters for the roots of primes, which are independent: √(n/d) = √(nd)/d."""
        found, rest = self.lift(Fraction(1, c.denominator)), c.numerator * c.denominator
        for p in range(2, 2**10):
            while rest % p == 0:
                rest //= p
                found = self.product(found, self.root_of_prime(p))
        if rest == 1:
            return found
        if self.level.signs is not None and (rest >= 2**64 or not is_prime(rest)):
            raise NotDecided("the root of a number with large divisors")
        return self.product(found, self.root_of_prime(rest))

    def root_of_prime(self, n: int) -> Number:
        """√n, one number for each n; either of the two roots will do, as no sum of products of others is one."""
        if n not in self.letters:
            v = self.lift(Fraction(n))
            if self.level.signs is None:
                inverse = self._rsqrt(v)
            elif pow(n, (self.p - 1) // 2, self.p) != 1:
                raise Redraw("a number that is no square")
            else:
                root = int(fmpz_mod_ctx(self.p)(n).sqrt())
                self.roots[n] = root
                inverse = replace(v, at=(pow(root, -1, self.p),) * self.level.copies, terms=(), formal=False)
            self.letters[n] = replace(self.product(v, inverse), root=(v, inverse))
        return self.letters[n]

    def _rsqrt(self, x: Number) -> Number:
        if self.level.signs is None:
            return replace(self.random("1/root", x), sign=2, total=x.total and x.sign == 2)
        if not x.smooth and x.sign < 2:
            raise NotDecided("a root of what may be 0 on an open set")
        if x.at is None:
            raise NotDecided("a root above an exponential")
        (v,) = x.at
        self.tested(x)
        if v not in self.roots:
            number = len(self.roots) - len(self.letters)
            if not v or pow(v, (self.p - 1) // 2, self.p) != 1:
                raise Redraw(number)
            chosen = self.level.signs[number] if number < len(self.level.signs) else 0
            root = int(fmpz_mod_ctx(self.p)(v).sqrt())
            self.roots[v] = max(root, self.p - root) if chosen else min(root, self.p - root)
        y = self.made((pow(self.roots[v], -1, self.p),), x, top=x.top + x.bottom + 1, bottom=x.top + x.bottom, sign=2)
        return replace(y, total=x.total and x.sign == 2)

    def sqrt(self, x: Any) -> Number:
        """x·(1/√x), and |y| for y²."""
        if isinstance(x, Fraction):
            return self.constant_root(x)
        self.solid(x)
        if x.square and self.level.signs is None:
            return self.as_defined_as(x, self.magnitude(x.square))
        inverse = self.rsqrt(x)
        y = self.product(x, inverse)
        return replace(y, sign=x.sign, total=x.total and x.sign > 0, root=(x, inverse))

    def quotient(self, x: Any, y: Any) -> Number:
        """x/y, of which is kept that it is one where both are above 0."""
        x, y = self.lift(x), self.lift(y)
        z = self.product(x, self.inverse(y))
        return replace(z, ratio=(x, y)) if x.sign == y.sign == 2 else z

    def log(self, x: Number, what: str = "log") -> Number:
        """log exp t = t, log(a/b) = log a - log b for a, b > 0, log Σ c exp(t) = m + log(exp(-m) Σ c exp(t)).

        m is the mean of the t, so that multiplying the sum by an exponential adds to its logarithm. Otherwise it is a
        random function that turns its sign with the inverse of its argument.
        """
        self.solid(x)
        if x.ratio:
            y = self.sum([self.log(x.ratio[0], what + "/"), self.negative(self.log(x.ratio[1], what + "\\"))])
            return self.as_defined_as(x, replace(y, logs=(None, ((Fraction(1), x),))))
        if x.at in self.logarithms:
            return self.as_defined_as(x, self.logarithms[x.at])
        if len(x.terms) == 1 and x.terms[0][0] == 1:
            return self.as_defined_as(x, x.terms[0][1])
        if x.terms and self.level.towers:
            different = {t.at or n: t for n, (_, t) in enumerate(x.terms)}.values()
            mean = self.scaled(self.sum(list(different)), Fraction(1, len(different)))
            shift = self.exponential(self.negative(mean), 0, what)
            y = replace(self.sum([mean, self._log(self.product(shift, x))]), total=x.total and x.sign == 2)
            return replace(y, logs=(None, ((Fraction(1), x),)))
        return self._log(x)

    def _log(self, x: Number) -> Number:
        y = self.sum([self.random("log", x), self.negative(self.random("log", self.inverse(x)))])
        return replace(y, total=x.total and x.sign == 2, sign=0, logs=(None, ((Fraction(1), x),)))

    # Magnitudes, comparisons, extremes

    def sign(self, x: Number) -> Number:
        """An odd function that is the same for positive multiples of x; an outcome, where such are drawn."""
        place, factor, cases = self.decider(x)
        if self.level.outcomes is None:
            y = self.lift(Fraction(0)) if place is None else self.scaled(self.odd("sign", place[1]), Fraction(factor))
            return replace(y, smooth=place is None, total=x.total, sign=0)
        if x.at is None:
            return self.random("absent", x)
        outcome, used = self.outcome(place, factor)
        return self.as_defined_as(x, replace(self.lift(Fraction(outcome)), cases=cases | used))

    def decider(self, x: Number) -> tuple[Any, int, frozenset[Any]]:
        """Place and number of what decides the sign of x, None if it is 0, and whether the sign is the opposite one."""
        self.solid(x)
        self.asked[self.place] = self.asked.get(self.place, 0) + 1
        key, x = (*self.place, self.asked[self.place]), x.direction or x
        if x.at is not None and self.is_zero(x):
            return None, 0, x.cases
        for place, known in self.compared[-64:] if x.at is not None else ():
            c = self.ratio(x, known)
            if c or c is None and self.positive_multiple(x, known):
                return (place, known), 1 if not c or c > 0 else -1, x.cases | known.cases
        self.compared.append((key, x))
        return self.compared[-1], 1, frozenset()

    def positive_multiple(self, x: Number, y: Number) -> bool:
        """Whether x = w·y, or y = w·x, for a number w met before that is above 0; all are defined everywhere."""
        if not (y.at and x.total and y.total and all(x.at) and all(y.at)):
            return False
        p = self.p
        return any(
            tuple(a * pow(b, -1, p) % p for a, b in zip(u.at, v.at, strict=True)) in self.positive
            for u, v in ((x, y), (y, x))
        )

    def outcome(self, decider: Any, factor: int, ties: bool = True) -> tuple[int, frozenset[Any]]:
        """The sign that is drawn, and the letters that say it; without ties it is 1 or -1, which either may be at 0."""
        if decider is None:
            return 0, frozenset()
        used = [(("tie", decider[0]), self.level.outcomes["tie", decider[0]])] if ties else []
        if used and used[0][1]:
            return 0, frozenset(used)
        used.append((("sign", decider[0]), self.level.outcomes["sign", decider[0]]))
        return factor * (1 if used[-1][1] else -1), frozenset(used)

    def magnitude(self, x: Number) -> Number:
        """x·sign(x), which is x if that is not below 0."""
        if x.sign:
            return x
        if x.at in self.nonnegative and x.total:
            return replace(x, sign=1, cases=x.cases | self.nonnegative[x.at])
        if self.level.outcomes is None or x.at is None:
            return replace(self.product(x, self.sign(x)), sign=max(1, x.sign), smooth=False)
        decider, factor, cases = self.decider(x)
        outcome, used = self.outcome(decider, factor, ties=False)
        return replace(self.scaled(x, Fraction(outcome)), sign=1, cases=x.cases | cases | used)

    def compare(self, kind: str, x: Any, y: Any) -> Any:
        """[x > y] and its kin, exactly: by the odd sign and the even [x = y] of the difference."""
        x, y = self.lift(x), self.lift(y)
        if not (x.total and y.total):
            raise NotDecided("a comparison of what may be undefined")
        if kind in ("lt", "le"):
            return self.compare({"lt": "gt", "le": "ge"}[kind], y, x)
        u, one, half = self.difference(x, y), Fraction(1), Fraction(1, 2)
        known = u.sign or -self.difference(y, x).sign
        if abs(known) == 2 or known and kind == "ge" and known > 0 or known and kind == "gt" and known < 0:
            return self.as_defined_as(u, self.lift(Fraction({"gt": known > 0, "ge": known > 0, "ne": 1}.get(kind, 0))))
        if u.at is not None and self.is_zero(u):
            return self.as_defined_as(u, self.lift(Fraction(kind in ("ge", "eq"))))
        if self.level.outcomes is not None and u.at is not None:
            decider, factor, cases = self.decider(u)
            outcome, used = self.outcome(decider, factor)
            found = {"gt": outcome > 0, "ge": outcome >= 0, "eq": not outcome, "ne": bool(outcome)}[kind]
            return replace(self.lift(Fraction(found)), cases=u.cases | cases | used)
        equal = replace(self.even("equal", u), smooth=False)
        if kind in ("eq", "ne"):
            return equal if kind == "eq" else self.sum([one, self.negative(equal)])
        apart = self.scaled(self.sum([one, self.sign(u)]), half)
        rest = self.scaled(equal, half if kind == "ge" else -half)
        return replace(self.sum([apart, rest]), tie=(u, apart), sign=1)

    def difference(self, x: Number, y: Number) -> Number:
        """x - y, which is x if y is the number 0."""
        nothing = y.at is not None and not any(y.at) and not y.top and not y.cases
        return x if nothing else self.sum([x, self.negative(y)])

    def negation(self, x: Any) -> Number:
        """1 - x for a truth value."""
        y = self.sum([Fraction(1), replace(self.negative(x))])
        tie = x.tie and (self.negative(x.tie[0]), self.sum([Fraction(1), self.negative(x.tie[1])]))
        return replace(y, tie=tie, sign=1)

    def settled(self, x: Any, y: Any) -> bool:
        """Whether two entries are equal where the outcomes that they depend on are so, or no input has these outcomes.

        A number that is compared is 0 at a tie; and facts p ≥ 0, with or without 0, contradict each other if up to
        three of them add up to a known number below 0, or to 0 if one of them is not 0.
        """
        cases = self.common.union(*(getattr(z, "cases", ()) for z in (x, y)))
        number, drawn = dict(self.compared), dict(cases)
        facts, ties = [], []
        for (kind, place), value in cases:
            u = number[place]
            if not u.total or u.at is None:
                continue
            if kind == "tie" and value:
                ties.append(u)
                facts += [(u, False), (self.negative(u), False)]
            elif kind == "sign":
                facts.append((u if value else self.negative(u), drawn.get(("tie", place)) is False))
        if isinstance(x, Number | Fraction) and isinstance(y, Number | Fraction):
            difference = self.sum([x, self.negative(y)])
            if any(self.ratio(difference, u) is not None for u in ties):
                return True
        for count in (1, 2, 3):
            for chosen in itertools.combinations(facts, count):
                total = self.sum([u for u, _ in chosen])
                known = Fraction(0) if self.is_zero(total) else self.ratio(total, self.lift(Fraction(1)))
                if known is not None and (known < 0 or known == 0 and any(strict for _, strict in chosen)):
                    return True
        return False

    def decided(self, which: Any) -> int | None:
        """The value of a truth value that is known by drawn outcomes, on which from now on every entry depends."""
        if not (isinstance(which, Number) and which.total and self.level.outcomes is not None):
            return None
        if which.at is None or len(set(which.at)) != 1 or which.at[0] not in (0, 1):
            return None
        self.common |= which.cases
        return which.at[0]

    def chosen(self, which: Number, no: Any, yes: Any) -> Any:
        """no where `which` is 0, yes where it is 1."""
        yes, no = self.lift(yes), self.lift(no)
        if which.total and which.at is not None and len(set(which.at)) == 1 and which.at[0] in (0, 1):
            return replace(case := yes if which.at[0] else no, cases=case.cases | which.cases)
        self.solid(yes, no)
        difference = self.sum([yes, self.negative(no)])
        if self.is_zero(difference):
            cases = yes.cases | no.cases | which.cases
            return replace(yes, total=yes.total and no.total, sign=min(yes.sign, no.sign), tie=None, cases=cases)
        y = self.sum([no, self.product(difference, which)])
        return replace(y, total=yes.total and no.total, smooth=False, sign=min(yes.sign, no.sign), tie=None)

    def largest(self, values: Sequence[Any]) -> Number:
        """The maximum of numbers: maxima among them are replaced by what they are maxima of.

        Where a member is undefined the maximum is taken for undefined, which is noted.
        """
        given = [self.lift(v) for v in values]
        self.solid(*given)
        total = all(x.total for x in given)
        if not total:
            self.notes.add("a maximum is undefined where one of its members is")
        if any(x.at is None for x in given):
            return replace(self.random("absent", *given), smooth=False)
        sign = max(x.sign for x in given) if total else 0
        if self.level.outcomes is not None and len(given) <= 4:
            return replace(functools.reduce(self.larger, given), sign=sign, total=total, tie=None)
        found: dict[tuple[int, ...], Number] = {}
        for x in given:
            self.tested(x)
            found |= {m.at: m for m in self.members.get(x.at, [x])}
        xs = [found[at] for at in sorted(found)]
        cases = frozenset().union(*(x.cases for x in given))
        if len(xs) == 1:
            return replace(xs[0], total=total, cases=cases)
        if len(xs) == 2:
            zero = (0,) * self.level.copies
            if (
                self.level.outcomes is None
                and zero in found
                and all(x.at == zero or x.at in self.nonnegative for x in xs)
            ):
                return replace(next(x for x in xs if x.at != zero), total=total)
            y = self.larger(*xs)
        else:
            mean, apart = self.centred(xs)
            y = self.sum([mean, self.random("largest", self.sum([self.random("member", x) for x in apart]))])
        self.members[y.at] = xs
        return replace(y, smooth=False, sign=sign, total=total, cases=y.cases | cases)

    def larger(self, x: Number, y: Number) -> Number:
        """(x + y + |x - y|)/2."""
        u = self.difference(x, y) if x.top else self.difference(y, x)
        return self.scaled(self.sum([x, y, self.magnitude(u)]), Fraction(1, 2))

    def centred(self, xs: Sequence[Number]) -> tuple[Number, list[Number]]:
        """The mean, and by how much each member is above it."""
        mean = self.scaled(self.sum(xs), Fraction(1, len(xs)))
        return mean, [self.sum([x, self.negative(mean)]) for x in xs]

    def ordered(self, values: Sequence[Any]) -> list[Any]:
        """The numbers in ascending order: functions of the multiset that move along with it, and turn with it."""
        xs = [self.lift(v) for v in values]
        if not all(x.total for x in xs):
            raise NotDecided("an order of what may be undefined")
        if len(xs) == 1:
            return list(values)
        if len(xs) == 2:
            return [self.negative(self.largest([self.negative(x) for x in xs])), self.largest(xs)]
        (mean, apart), n = self.centred(xs), len(xs)
        up, down = (
            self.sum([self.random("entry", x) for x in side]) for side in (apart, [self.negative(x) for x in apart])
        )
        place = lambda i, of: self.random(f"place {i} of {n}", of)
        found = [self.sum([mean, place(i, up), self.negative(place(n - 1 - i, down))]) for i in range(n)]
        return [replace(x, smooth=False) for x in found]


def fraction(residue: int, p: int, bound: int) -> Fraction | None:
    """The fraction of numerator and denominator up to a bound that has a residue, None if there is none."""
    a, b, s, t = p, residue, 0, 1
    while b > bound:
        a, b, s, t = b, a % b, t, s - a // b * t
    return Fraction(b, t) if t and abs(t) <= bound else None


def exact_root(x: Fraction) -> Fraction | None:
    """The root of a square of a fraction."""
    n, d = math.isqrt(x.numerator), math.isqrt(x.denominator)
    return Fraction(n, d) if (n * n, d * d) == (x.numerator, x.denominator) else None


def is_prime(number: int) -> bool:
    """Whether a number is prime, proved by flint."""
    return fmpz(number).is_prime()


def rank_and_width(columns: Sequence[tuple[int, ...]], p: int, copies: int) -> tuple[int, int]:
    """The rank of the exponents, and the largest sum of whole numbers by which one is a combination of a basis."""
    if not columns:
        return 0, 1
    matrix = fmpz_mod_mat(copies, len(columns), [c[i] for i in range(copies) for c in columns], fmpz_mod_ctx(p))
    reduced, rank = matrix.rref()
    if rank >= copies:
        return rank, 1
    root, coordinates = math.isqrt(p // 2), []
    for j in range(len(columns)):
        residues = [int(reduced[i, j]) for i in range(rank)]
        coordinates.append([fraction(r, p, root) for r in residues if r])
    if any(c is None for row in coordinates for c in row):
        return rank, p
    common = math.lcm(*(c.denominator for row in coordinates for c in row))
    return rank, max(int(sum(map(abs, row)) * common) for row in coordinates)
