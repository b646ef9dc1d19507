"""Real numbers in closed form: c·∏ bᵢ^qᵢ and r + Σ qᵢ·log bᵢ, with exact rational c, r and q.

    √(2/π) = 2^(1/2)·π^(-1/2)        ½·log(2πe) = ½ + ½·log 2 + ½·log π        10000^(-1/4) = 1/10        cos(π/5)

Both kinds are kept in lowest terms, so that equal forms are equal values: a prime has an exponent from [0, 1), and a
logarithm is taken of primes and of π alone.  (That different forms are different values is not used anywhere.)
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import arb, ctx

PI, E = "π", "e"
"""The bases that are no primes."""

TALLEST_BITS = 256
"""A coefficient with a larger numerator or denominator is not kept."""

LARGEST_EXPONENT = 1024
"""A power with a larger exponent is not multiplied out."""

LARGEST_TURN = 1 << 11
"""Cosines are followed of fractions of π with denominators up to this."""

LARGEST_FACTOR = 1 << 12
"""Roots and logarithms are followed of numbers whose prime factors are below this, but for one below its square."""


_PRECISION = threading.RLock()
"""`flint.ctx` is one for all threads: only one of them may compute with balls at a time."""


@contextlib.contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls of so many bits inside; `flint.ctx` is left as it was."""
    with _PRECISION, ctx.workprec(bits):
        yield


@dataclass(frozen=True)
class Cosine:
    """cos(turn·π) for 0 < turn < 1/2: a positive number, and no rational one."""

    turn: Fraction

    def __str__(self) -> str:
        return f"cos({self.turn}·π)"


@dataclass(frozen=True)
class Product:
    """coefficient · ∏ base^exponent over `powers`, sorted by base: a prime, π, e, a `Cosine` or a `LogSum`."""

    coefficient: Fraction
    powers: tuple[tuple[Base, Fraction], ...] = ()

    @property
    def rational(self) -> Fraction | None:
        """The number, if it is rational."""
        return None if self.powers else self.coefficient

    def ball(self) -> arb:
        """An enclosure at the present precision."""
        value = _fraction_ball(self.coefficient)
        for base, exponent in self.powers:
            value *= _base_ball(base) ** _fraction_ball(exponent)
        return value

    @cached_property
    def approximation(self) -> float:
        """The number in float64, to a few roundings."""
        return float(self.coefficient) * math.prod(_base_float(b) ** float(q) for b, q in self.powers)

    @property
    def positive(self) -> bool:
        """Whether the number is above 0 for certain."""
        return self.coefficient > 0 and all(base.positive for base, _ in self.powers if isinstance(base, LogSum))

    def __str__(self) -> str:
        return _product_text(self)


@dataclass(frozen=True)
class LogSum:
    """constant + Σ factor·log base over `logs`, sorted by base and not empty; a base is a prime, π or a `Cosine`."""

    constant: Fraction
    logs: tuple[tuple[int | str | Cosine, Fraction], ...]

    rational = None

    def ball(self) -> arb:
        """An enclosure at the present precision."""
        return sum((_fraction_ball(q) * _base_ball(b).log() for b, q in self.logs), _fraction_ball(self.constant))

    @cached_property
    def _terms(self) -> tuple[float, ...]:
        return (float(self.constant), *(float(q) * math.log(_base_float(b)) for b, q in self.logs))

    @property
    def approximation(self) -> float:
        """The number in float64, to a few roundings of the largest term."""
        return math.fsum(self._terms)

    @property
    def positive(self) -> bool:
        """Whether the number is above 0 by far more than float64 rounds it."""
        return self.approximation > 1e-9 * max(map(abs, self._terms))

    def __str__(self) -> str:
        texts = [str(self.constant)] if self.constant else []
        return " + ".join([*texts, *(f"{_factor_text(q)}log {b}" for b, q in self.logs)]).replace("+ -", "- ")


ClosedForm = Product | LogSum
Base = int | str | Cosine | LogSum


def rational(value: Fraction | int) -> Product:
    """A rational number."""
    return Product(Fraction(value))


def multiplied(x: ClosedForm, y: ClosedForm) -> ClosedForm | None:
    """x·y, or None if it is too tall."""
    for a, b in ((x, y), (y, x)):
        if isinstance(a, LogSum) and b.rational is not None:
            return _log_sum(a.constant * b.rational, {base: q * b.rational for base, q in a.logs})
    x, y = _as_product(x), _as_product(y)
    exponents = dict(x.powers)
    for base, q in y.powers:
        exponents[base] = exponents.get(base, Fraction(0)) + q
    return _product(x.coefficient * y.coefficient, exponents)


def added(x: ClosedForm, y: ClosedForm) -> ClosedForm | None:
    """x + y, or None if it has no closed form of these kinds."""
    if isinstance(x, Product) and isinstance(y, Product) and x.powers == y.powers:
        return _product(x.coefficient + y.coefficient, dict(x.powers))
    for a, b in ((x, y), (y, x)):
        if b == Product(Fraction(0)):
            return a
    parts = [(z.constant, dict(z.logs)) if isinstance(z, LogSum) else (z.rational, {}) for z in (x, y)]
    if parts[0][0] is None or parts[1][0] is None:
        return None
    logs = dict(parts[0][1])
    for base, q in parts[1][1].items():
        logs[base] = logs.get(base, Fraction(0)) + q
    return _log_sum(parts[0][0] + parts[1][0], logs)


def negated(x: ClosedForm) -> ClosedForm | None:
    """-x."""
    return multiplied(x, rational(-1))


def divided(x: ClosedForm, y: ClosedForm) -> ClosedForm | None:
    """x/y, or None where y is 0 or the quotient is too tall."""
    inverse = power(y, Fraction(-1))
    return None if inverse is None else multiplied(x, inverse)


def power(x: ClosedForm, exponent: Fraction) -> ClosedForm | None:
    """x^exponent of a positive x, or for a whole exponent; None if it is not followed."""
    whole = exponent.denominator == 1
    if abs(exponent) > LARGEST_EXPONENT or not (x.positive or whole):
        return None
    x = _as_product(x)
    if x.coefficient == 0:
        return None if exponent < 0 else rational(0 if exponent else 1)
    exponents = {base: q * exponent for base, q in x.powers}
    if whole:
        size = max(abs(x.coefficient.numerator), x.coefficient.denominator).bit_length() * abs(exponent)
        return _product(x.coefficient ** int(exponent), exponents) if size <= 4 * TALLEST_BITS else None
    factors = _factors(x.coefficient)
    if factors is None:
        return None
    for prime, count in factors.items():
        exponents[prime] = exponents.get(prime, Fraction(0)) + count * exponent
    return _product(Fraction(1), exponents)


def logarithm(x: ClosedForm) -> ClosedForm | None:
    """log x of a positive x, or None if it is not followed."""
    factors = _factors(x.coefficient) if isinstance(x, Product) and x.positive else None
    if factors is None or not isinstance(x, Product) or any(isinstance(base, LogSum) for base, _ in x.powers):
        return None
    logs: dict[Any, Fraction] = {base: Fraction(count) for base, count in factors.items()}
    for base, q in x.powers:
        logs[base] = logs.get(base, Fraction(0)) + q
    return _log_sum(logs.pop(E, Fraction(0)), logs)


def exponential(x: ClosedForm) -> ClosedForm | None:
    """exp(x), or None if it is not followed."""
    if isinstance(x, LogSum):
        return _product(Fraction(1), {E: x.constant, **dict(x.logs)})
    return None if x.rational is None else _product(Fraction(1), {E: x.rational})


HALF, THIRD, QUARTER, SIXTH = (Fraction(1, n) for n in (2, 3, 4, 6))


def cosine(x: ClosedForm) -> ClosedForm | None:
    """cos x for a rational multiple x of π, or None."""
    turn = _turn(x)
    if turn is None:
        return None
    turn = turn % 2
    turn = min(turn, 2 - turn)  # in [0, 1], as cos is even
    if turn > HALF:
        opposite = cosine(_pi_times(1 - turn))
        return None if opposite is None else negated(opposite)
    known = {Fraction(0): rational(1), THIRD: rational(HALF), HALF: rational(0)}
    if turn in known:
        return known[turn]
    if turn in (QUARTER, SIXTH):
        return power(rational(HALF if turn == QUARTER else Fraction(3, 4)), HALF)
    return Product(Fraction(1), ((Cosine(turn), Fraction(1)),))


def sine(x: ClosedForm) -> ClosedForm | None:
    """sin x = cos(π/2 - x) for a rational multiple x of π, or None."""
    turn = _turn(x)
    return None if turn is None else cosine(_pi_times(HALF - turn))


def arc_cosine(x: ClosedForm) -> ClosedForm | None:
    """The angle in [0, π] with the cosine -1, -1/2, 0, 1/2 or 1, or None."""
    turns = {Fraction(-1): Fraction(1), -HALF: 1 - THIRD, Fraction(0): HALF, HALF: THIRD, Fraction(1): Fraction(0)}
    return None if x.rational is None or x.rational not in turns else _pi_times(turns[x.rational])


def arc_tangent(x: ClosedForm) -> ClosedForm | None:
    """The angle between -π/2 and π/2 with the tangent -1, 0 or 1, or None."""
    return None if x.rational not in (-1, 0, 1) else _pi_times(QUARTER * x.rational)


def _pi_times(turn: Fraction) -> Product:
    """turn·π."""
    return Product(turn, ((PI, Fraction(1)),) if turn else ())


def _turn(x: ClosedForm) -> Fraction | None:
    """The rational t of x = t·π, with a denominator that is not large."""
    if x.rational == 0:
        return Fraction(0)
    if not isinstance(x, Product) or x.powers != ((PI, Fraction(1)),):
        return None
    return x.coefficient if x.coefficient.denominator <= LARGEST_TURN else None


def _product(coefficient: Fraction, exponents: Mapping[Any, Fraction]) -> ClosedForm | None:
    """In lowest terms; None if it is too tall."""
    powers = []
    for base, q in exponents.items() if coefficient else ():
        if isinstance(base, int):
            whole = math.floor(q)
            if abs(whole) * base.bit_length() > 4 * TALLEST_BITS:
                return None
            coefficient, q = coefficient * Fraction(base) ** whole, q - whole
        if abs(q) * abs(math.log2(_base_float(base))) > TALLEST_BITS:
            return None
        if q:
            powers.append((base, q))
    if max(abs(coefficient.numerator), coefficient.denominator).bit_length() > TALLEST_BITS:
        return None
    if len(powers) == 1 and isinstance(powers[0][0], LogSum) and powers[0][1] == 1:
        log_sum = powers[0][0]
        return _log_sum(log_sum.constant * coefficient, {b: q * coefficient for b, q in log_sum.logs})
    return Product(coefficient, tuple(sorted(powers, key=lambda pair: str(pair[0]))))


def _log_sum(constant: Fraction, logs: Mapping[Any, Fraction]) -> ClosedForm | None:
    """In lowest terms; None if it is too tall."""
    kept = tuple(sorted(((b, q) for b, q in logs.items() if q), key=lambda pair: str(pair[0])))
    tallest = max(max(abs(q.numerator), q.denominator) for q in (constant, *(q for _, q in kept)))
    if tallest.bit_length() > TALLEST_BITS:
        return None
    return LogSum(constant, kept) if kept else Product(constant)


def _as_product(x: ClosedForm) -> Product:
    """A sum of logarithms as a multiple of a positive one whose first factor is 1 or -1."""
    if isinstance(x, Product):
        return x
    scale = abs(x.logs[0][1]) * (1 if x.approximation > 0 else -1)
    unit = LogSum(x.constant / scale, tuple((b, q / scale) for b, q in x.logs))
    return Product(scale, ((unit, Fraction(1)),))


def _factors(value: Fraction) -> dict[int, int] | None:
    """The prime factors of a positive rational number and their exponents, or None if one is too large."""
    factors: dict[int, int] = {}
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        for prime in _primes_of(number):
            factors[prime] = factors.get(prime, 0) + sign
            number //= prime
        if number != 1:
            return None
    return factors


def _primes_of(number: int) -> Iterable[int]:
    """The prime factors of a whole number in ascending order; a remaining factor that is too large is left out."""
    twos = (number & -number).bit_length() - 1
    yield from [2] * twos
    number >>= twos
    divisor = 3
    while divisor < LARGEST_FACTOR and divisor * divisor <= number:
        while number % divisor == 0:
            yield divisor
            number //= divisor
        divisor += 2
    if 1 < number < LARGEST_FACTOR**2:
        yield number


def _fraction_ball(value: Fraction) -> arb:
    return arb(value.numerator) / value.denominator


def _base_ball(base: Base) -> arb:
    if isinstance(base, LogSum):
        return base.ball()
    if isinstance(base, Cosine):
        return _fraction_ball(base.turn).cos_pi()
    return arb.pi() if base == PI else arb(1).exp() if base == E else arb(base)


def _base_float(base: Base) -> float:
    if isinstance(base, LogSum):
        return base.approximation
    if isinstance(base, Cosine):
        return math.cos(math.pi * float(base.turn))
    return float(base) if isinstance(base, int) else {PI: math.pi, E: math.e}[base]


def _product_text(x: Product) -> str:
    """Such as 3/2·√2·π^(-1/2)."""
    texts = [_power_text(base, q) for base, q in x.powers]
    return _factor_text(x.coefficient) + "·".join(texts) if texts else str(x.coefficient)


def _power_text(base: Base, exponent: Fraction) -> str:
    name = f"({base})" if isinstance(base, LogSum) else str(base)
    if exponent == Fraction(1, 2):
        return f"√{name}"
    if exponent == 1:
        return name
    return f"{name}^{exponent}" if exponent.denominator == 1 and exponent > 0 else f"{name}^({exponent})"


def _factor_text(q: Fraction) -> str:
    return "" if q == 1 else "-" if q == -1 else f"{q}·"
