"""What a float constant stands for: 0.1 for 1/10, 0.70710677 for 1/√2, 0.6931472 for log 2.

A constant is read as the simplest number, in a fixed order, that rounds to it in its own dtype:

    itself, if a few bits write it  →  a short decimal  →  n/d  →  √(n/d), multiples and powers of π, e, logarithms,
    powers of the bases of rotary embeddings, cosines of fractions of π, each times any power of 2  →  1 - d, if it is 1
    minus the float of a short decimal d  →  a multiple of a cosine, in an array that is a table of such  →  a longer
    decimal  →  itself

The order is the same for every program, so two programs never disagree about one float.
"""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
from flint import arb, ctx

from uat_jax.interpret.closed_form import (
    PI,
    ClosedForm,
    E,
    LogSum,
    Product,
    cosine,
    logarithm,
    multiplied,
    power,
    precision,
    rational,
)

MOST_READ = 256
"""An array with more different entries than this is data: its entries are the numbers that are written."""

LOWEST = -1e30
"""Constants at or below this are masks: they stand for -∞."""


NARROW = (np.dtype(jnp.bfloat16), np.dtype(np.float16), np.dtype(np.float32))
"""The types to which a number may have been rounded before it was written in a wider one."""

SHORT = 8
"""Numbers of at most so many significant bits, such as 0.5 and 10.125, are meant as they are written."""


class Reading(enum.Enum):
    """How constants are read: as the floats that are written, as what they stand for, or as all numbers that near.

    float32(0.1) written in float64 is one number within its own rounding, and a wide ball if it is narrowed first.
    """

    WRITTEN = "as written"
    MEANT = "as meant"
    ROUNDED = "within their rounding"
    NARROWED = "within the rounding of the narrowest type that holds them"


@dataclass(frozen=True, order=True)
class ConstantReading:
    """That a float of a dtype is read as the number `meaning`; -inf is a mask."""

    dtype: str
    value: float
    meaning: str

    @property
    def text(self) -> str:
        """The assumption as a line."""
        if self.meaning == "-∞":
            return f"the mask {self.value:.9g} ({self.dtype}) is -infinity"
        return f"the constant {_shortest(self.value, self.dtype)} ({self.dtype}) is {self.meaning}"


@dataclass(frozen=True)
class Meaning:
    """What one float stands for.

    form: its closed form; None for infinities and NaN, and for a mask, which stands for -∞.  as_written: whether it
    stands for itself.  radius: how far away the number that was rounded to it may be; 0 if few bits or digits write it.
    """

    value: float
    dtype: str
    form: ClosedForm | None
    as_written: bool
    radius: float

    @property
    def reading(self) -> ConstantReading | None:
        """The assumption that it makes, or None if it is the number that is written."""
        if self.as_written:
            return None
        return ConstantReading(self.dtype, self.value, "-∞" if self.form is None else str(self.form))

    @property
    def reach(self) -> float:
        """How far from the float the number that it stands for may be; of a mask, which may be -∞, any distance."""
        return self.radius if self.form is not None or self.as_written else math.inf

    @functools.cached_property
    def written(self) -> ClosedForm | None:
        """The float itself, if it is finite."""
        return rational(Fraction(self.value)) if math.isfinite(self.value) else None

    @property
    def inexact(self) -> ConstantReading:
        """The constant as a message names it, whether it is read as another number or not."""
        return self.reading or ConstantReading(self.dtype, self.value, "a rounded number")

    def ball(self, reading: Reading) -> arb:
        """An enclosure at the present precision."""
        return _ball_of(self, reading, ctx.prec)

    def made_ball(self, reading: Reading) -> arb:
        """The enclosure, made anew."""
        if reading is Reading.WRITTEN or not math.isfinite(self.value):
            return written_ball(self.value)
        if self.form is None:
            return arb.neg_inf()
        if reading is Reading.ROUNDED:
            return arb(self.value, self.radius)
        if reading is Reading.NARROWED:
            return arb(self.value, _narrowed_radius(self.value, np.dtype(self.dtype)))
        return arb(self.value) if self.as_written else self.form.ball()


@functools.lru_cache(maxsize=1 << 12)
def _ball_of(meant: Meaning, reading: Reading, bits: int) -> arb:
    """The one ball of a constant: it is read alike wherever it stands, so that it is equal to itself (`decisions`)."""
    return meant.made_ball(reading)


def meaning(value: float, dtype: np.dtype, circle: Circle | None = None) -> Meaning:
    """What a float of a floating dtype stands for; `circle`: the table of cosines in which it stands."""
    return _meaning(float(value), np.dtype(dtype), circle)


@functools.lru_cache(maxsize=1 << 16)
def _meaning(value: float, dtype: np.dtype, circle: Circle | None) -> Meaning:
    name = str(dtype)
    if not math.isfinite(value):
        return Meaning(value, name, None, True, 0.0)
    if value <= LOWEST:
        return Meaning(value, name, None, False, 0.0)
    bits, unit, radius = _bits(dtype), _unit(value, dtype), _radius(value, dtype)
    if not radius:
        return Meaning(value, name, rational(Fraction(value)), True, 0.0)
    for find in (_short_decimal, _small_fraction, _of_family, _complement):
        form = find(value, bits, unit)
        if form is not None:
            away = abs(float(form.rational - Fraction(value))) if find is _complement and form.rational else 0.0
            exact = form.rational == Fraction(value)
            return Meaning(value, name, form, exact, 0.0 if exact else radius + away)
    form = None if circle is None else _of_circle(value, circle, dtype)
    if form is not None and circle is not None:
        return Meaning(value, name, form, False, radius + 2 * circle.slack * circle.scale)
    form = _decimal(value, bits, unit)
    if form is not None:
        exact = form.rational == Fraction(value)
        return Meaning(value, name, form, exact, 0.0 if exact else radius)
    return Meaning(value, name, rational(Fraction(value)), True, radius)


@dataclass(frozen=True)
class Meanings:
    """The entries of an array: `codes` has its shape, and entry i stands for distinct[codes[i]]."""

    codes: np.ndarray
    distinct: tuple[Meaning, ...]

    @property
    def written(self) -> tuple[ClosedForm | None, ...]:
        """The numbers that the different entries are as written; None where they are not finite."""
        return tuple(m.written for m in self.distinct)

    @property
    def inexact(self) -> frozenset[ConstantReading]:
        """The constants that are rounded, as a message names them."""
        return frozenset(m.inexact for m in self.distinct if m.radius)

    @property
    def readings(self) -> frozenset[ConstantReading]:
        """The assumptions that they make."""
        return frozenset(m.reading for m in self.distinct if m.reading is not None)


def meanings(array: np.ndarray, dtype: np.dtype) -> Meanings | None:
    """Entry by entry, or None for an array of data: without entries, or with more than `MOST_READ` different ones."""
    values = np.asarray(array).astype(np.float64)
    many = values.size > 2 * MOST_READ
    if many and len(np.unique(values.ravel()[: 2 * MOST_READ])) > MOST_READ:  # soon seen of a large array
        return None
    distinct, codes = distinct_entries(values)
    if not 0 < len(distinct) <= MOST_READ:
        return None
    circle = _circle_of(tuple(distinct.tolist()), np.dtype(dtype))
    return Meanings(codes, tuple(meaning(v, dtype, circle) for v in distinct.tolist()))


def distinct_entries(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different entries of an array, in order, and which of them each of its entries is."""
    if values.size == 1:  # most constants are single numbers, and need not be sorted
        return values.ravel(), np.zeros(values.shape, np.intp)
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct, codes.reshape(values.shape)


def balls(array: np.ndarray, dtype: np.dtype, reading: Reading) -> np.ndarray:
    """The entries of an array of constants as balls at the present precision; infinities and NaN stay."""
    values = np.asarray(array).astype(np.float64)
    if reading is Reading.WRITTEN:
        exact = np.frompyfunc(written_ball, 1, 1)(values)
        return exact if isinstance(exact, np.ndarray) else np.array(exact, object)
    distinct, codes = distinct_entries(values)
    read = len(distinct) <= MOST_READ
    each = np.empty(len(distinct), object)
    circle = _circle_of(tuple(distinct.tolist()), np.dtype(dtype)) if read else None
    each[:] = [_ball(v, dtype, reading, read, circle) for v in distinct.tolist()]
    return each[codes] if values.shape else np.array(each[0], object)


def written_ball(value: float) -> arb:
    """A float as the ball of radius 0 that it is, NaN too."""
    return arb.pos_inf() + arb.neg_inf() if math.isnan(value) else arb(value)


def _ball(value: float, dtype: np.dtype, reading: Reading, read: bool, circle: Circle | None) -> arb:
    if not math.isfinite(value):
        return written_ball(value)
    if read:
        return meaning(value, dtype, circle).ball(reading)
    radius = _narrowed_radius if reading is Reading.NARROWED else _radius
    return arb(value) if reading is Reading.MEANT else arb(value, radius(value, dtype))


def _unit(value: float, dtype: np.dtype) -> float:
    """The unit in the last place: the distance of the floats next to the value, also of subnormal ones."""
    information = jnp.finfo(dtype)
    exponent = max(math.frexp(value)[1] - 1, int(information.minexp))
    return math.ldexp(1.0, exponent - int(information.nmant))


def _narrowed_radius(value: float, dtype: np.dtype) -> float:
    """A unit in the last place of the narrowest type that holds a float; 0 of whole numbers and of a few bits."""
    if value.is_integer() or _odd_part(value) < 1 << SHORT:
        return 0.0
    holds = lambda kind: float(np.asarray(value).astype(kind)) == value
    with np.errstate(over="ignore", under="ignore"):
        narrowest = next((kind for kind in NARROW if holds(kind)), dtype)
    return max(_unit(value, narrowest), _radius(value, dtype))


def _radius(value: float, dtype: np.dtype) -> float:
    """How far from a float the number may be that was rounded to it; 0 where half of its bits write it.

    That is half a unit in the last place, and a whole one of 32 and 64 bits: in these, constants are computed.
    """
    bits, unit = _bits(dtype), _unit(value, dtype)
    if _odd_part(value) < 1 << bits // 2:
        return 0.0
    return unit if bits >= 24 else unit / 2


def _bits(dtype: np.dtype) -> int:
    """How many bits the significand of a floating dtype has."""
    return int(jnp.finfo(dtype).nmant) + 1


def _odd_part(value: float) -> int:
    """The odd m of value = ±m·2^e; 0 for 0."""
    numerator = abs(Fraction(value).numerator)
    return numerator >> ((numerator & -numerator).bit_length() - 1) if numerator else 0


def _shortest(value: float, dtype: str) -> str:
    """The shortest decimal of a float32 or float64; nine digits of others."""
    return str(np.float32(value)) if dtype == "float32" else repr(value) if dtype == "float64" else f"{value:.9g}"


# --- decimals and fractions -------------------------------------------------------------------------------------------

FEWER = {53: 12, 24: 4, 11: 2, 8: 2}
"""Digits of decimals that are simpler than fractions, for each number of bits of a float."""

DENOMINATOR = {53: 64, 24: 64, 11: 10, 8: 10}
"""Fractions n/d are looked for up to this d, and 1/d up to its square; n as 1/d, in 16 bits up to d."""


def _decimals(value: float, digits: range, unit: float) -> ClosedForm | None:
    for count in digits:
        text = f"{value:.{count - 1}e}"
        if abs(float(text) - value) <= unit and _within(Fraction(Decimal(text)), value, unit / 2):
            return rational(Fraction(Decimal(text)))
    return None


def _short_decimal(value: float, bits: int, unit: float) -> ClosedForm | None:
    return _decimals(value, range(1, FEWER.get(bits, 2) + 1), unit)


def _decimal(value: float, bits: int, unit: float) -> ClosedForm | None:
    """Up to as many digits as every decimal keeps in this type."""
    digits = math.floor((bits - 1) * math.log10(2))
    return _decimals(value, range(FEWER.get(bits, 2) + 1, digits + 1), unit)


def _complement(value: float, bits: int, unit: float) -> ClosedForm | None:
    """1 - d where the float is 1 minus the float next to a short decimal d: 0.100000024 is 1 - 0.9 in float32.

    So it is farther away than a number that was rounded to it.  Floats of 16 bits have none.
    """
    other = 1 - Fraction(value)
    if bits < 24 or not 0 < value < 1 or other.numerator.bit_length() > bits or Fraction(float(other)) != other:
        return None
    decimal = _short_decimal(float(other), bits, math.ldexp(1.0, math.frexp(float(other))[1] - bits))
    return None if decimal is None or decimal.rational is None else rational(1 - decimal.rational)


@dataclass(frozen=True)
class Circle:
    """What an array is whose entries round scale·cos(kπ/parts) with whole k; for 0 it has what float64 computes."""

    scale: float
    parts: int

    @property
    def slack(self) -> float:
        """How large a computed cosine of π/2 may be: a few units of the largest angles of such tables."""
        return 4 * math.ulp(4 * math.pi * self.parts)


FEWEST = 3
"""An array with fewer different magnitudes is no table of a transform."""

LARGEST = 2.0**1023
"""Nor is one with a larger entry: no float64 is a power of 2 above it."""


@functools.lru_cache(maxsize=1 << 12)
def _circle_of(values: tuple[float, ...], dtype: np.dtype) -> Circle | None:
    """The table of cosines that the different entries of an array are, such as that of a Fourier transform, or None."""
    magnitudes = np.unique(np.abs(np.array([v for v in values if math.isfinite(v)])))
    if _bits(dtype) < 24 or len(magnitudes) < FEWEST or magnitudes[-1] > LARGEST:
        return None
    largest = float(magnitudes[-1])
    units = np.array([_unit(v, dtype) for v in magnitudes.tolist()])
    for scale in dict.fromkeys((largest, 2.0 ** math.ceil(math.log2(largest)))):

        def near(parts: int | None, scale: float = scale) -> bool:
            zero = Circle(scale, parts or max(PARTS_OF_PI)).slack
            distance, nearest = _from_cosines(magnitudes / scale, parts)
            return bool(np.all(distance <= np.where(_cosines(parts)[nearest] == 0, zero, units / 2 / scale)))

        if near(None):  # which most arrays are not
            found = next(filter(near, PARTS_OF_PI), None)
            if found is not None:
                return Circle(scale, found)
    return None


def _from_cosines(ratios: np.ndarray, parts: int | None) -> tuple[np.ndarray, np.ndarray]:
    """How far each number is from the nearest cosine, and which one that is, from 0 on."""
    cosines = _cosines(parts)
    above = np.clip(np.searchsorted(cosines, ratios), 1, len(cosines) - 1)
    nearest = above - (ratios - cosines[above - 1] < cosines[above] - ratios)
    return np.abs(ratios - cosines[nearest]), nearest


@functools.cache
def _cosines(parts: int | None) -> np.ndarray:
    """cos(kπ/parts) from 0 or what is above it up to 1; for any number of parts if it is None."""
    if parts is None:
        return np.unique(np.concatenate([_cosines(n) for n in PARTS_OF_PI]))
    return np.append([0.0] if parts % 2 == 0 else [], np.cos(np.arange((parts - 1) // 2, -1, -1) * np.pi / parts))


def _of_circle(value: float, circle: Circle, dtype: np.dtype) -> ClosedForm | None:
    """The multiple of a cosine that an entry of a table is; 0 for 6.123234e-17, which NumPy gives for cos(π/2)."""
    scale = meaning(circle.scale, dtype).form
    (place,) = _from_cosines(np.array([abs(value) / circle.scale]), circle.parts)[1].tolist()
    k = circle.parts // 2 - place
    turned = cosine(Product(Fraction(k, circle.parts), ((PI, Fraction(1)),)) if k else rational(0))
    if scale is None or turned is None:
        return None
    found = multiplied(scale, turned)
    return found if found is None or value > 0 else multiplied(found, rational(-1))


def _small_fraction(value: float, bits: int, unit: float) -> ClosedForm | None:
    """The first n/d for d = 1, 2, …, or 1/n."""
    largest = DENOMINATOR.get(bits, 10)
    slack, highest = (unit / 2 if bits < 53 else unit), largest**2 if bits >= 24 else largest
    denominators = np.arange(1, largest + 1)
    near = np.abs(np.rint(value * denominators) - value * denominators) <= 2 * unit * denominators
    candidates = [Fraction(round(value * d), d) for d in denominators[near].tolist()]
    candidates += [Fraction(1, round(1 / value))] if 1 <= abs(value) * largest**2 <= largest**2 else []
    for candidate in candidates:
        if 0 < abs(candidate.numerator) <= highest and _within(candidate, value, slack):
            return rational(candidate)
    return None


def _within(candidate: Fraction, value: float, slack: float) -> bool:
    return abs(candidate - Fraction(value)) <= Fraction(slack)


# --- irrational numbers -----------------------------------------------------------------------------------------------


def _power_of(base: int, numerator: int, denominator: int) -> ClosedForm | None:
    """base^(-n/d)."""
    return power(rational(base), Fraction(-numerator, denominator))


def _form_of_root(numerator: int, denominator: int, degree: int, base: ClosedForm | None = None) -> ClosedForm | None:
    """(n/d)^(1/degree), times a base."""
    root = power(rational(Fraction(numerator, denominator)), Fraction(1, degree))
    return root if base is None or root is None else multiplied(root, base)


def _pi_to(exponent: Fraction) -> Product:
    return Product(Fraction(1), ((PI, exponent),))


def _log(value: Product) -> LogSum:
    found = logarithm(value)
    assert isinstance(found, LogSum)  # the numbers above are positive and not 1
    return found


def _ratios(numerators: range, denominators: range) -> list[tuple[int, int]]:
    """Fractions in lowest terms, of which the family needs one of all multiples by powers of 2."""
    return [(n, d) for n in numerators for d in denominators if math.gcd(n, d) == 1]


ODD = sorted(_ratios(range(1, 16, 2), range(1, 16, 2)), key=sum) + [(1, 45), (45, 1)]
"""Factors of π, the simplest first."""

FACTORS = 12
"""So many of them are factors of logarithms."""

LOGARITHM_OF = ("2", "1", "1/2", "4", "1/4", "8", "1/8")
"""The q of log(qπ), log(q/π) and 1 + log(qπ)."""

ROTARY = (10_000, 500_000, 1_000_000)
"""The bases θ of rotary embeddings: θ^(-i/n)."""

PARTS_OF_PI = (*range(4, 65), 128, 256)
"""Cosines are read of fractions k/n of π with these n."""

STEPS = (128, 96, 80, 72, 56)
"""The n of θ^(-i/n): half the size of a head, or a multiple of that."""


def _logarithms() -> Iterator[ClosedForm]:
    """Logarithms of small fractions and of multiples of π, alone or added to 1; the inverses of log 2 and log 10."""
    for n, d in [*((n, 1) for n in range(2, 129)), *_ratios(range(2, 16), range(2, 16))]:
        yield _log(rational(Fraction(n, d)))
    for q in map(Fraction, LOGARITHM_OF):
        yield from (_log(Product(q, ((PI, Fraction(s)),))) for s in (1, -1))
    for form in (rational(2), *(Product(Fraction(q), ((PI, Fraction(1)),)) for q in LOGARITHM_OF)):
        yield LogSum(Fraction(1), _log(form).logs)
    for base in (2, 10):
        yield Product(Fraction(1), ((_log(rational(base)), Fraction(-1)),))


def _family() -> Iterator[tuple[float, tuple]]:
    """The irrational numbers that are recognised, simplest first: one of all its multiples by powers of 2 each.

    Each comes with a function that makes its closed form, and that function's arguments.
    """
    one, root = Fraction(1), lambda *ratio_degree_base: (_form_of_root, *ratio_degree_base)
    for n, d in _ratios(range(1, 65), range(1, 65)):
        yield math.sqrt(n / d), root(n, d, 2)
    for s in (one, -one, Fraction(2), Fraction(-2)):
        for n, d in ODD:
            yield n / d * math.pi ** float(s), root(n, d, 1, _pi_to(s))
    for s in (one / 2, -one / 2):
        for n, d in _ratios(range(1, 106), range(1, 10)):
            yield math.sqrt(n / d) * math.pi ** float(s), root(n, d, 2, _pi_to(s))
    for s in (one, -one, one / 2, -one / 2, Fraction(2), Fraction(-2)):
        yield math.e ** float(s), (Product, one, ((E, s),))
    for n in (1, 2, 3):  # such as 2πe and √(2πe), of entropies
        yield n * math.pi * math.e, root(n, 1, 1, Product(one, ((E, one), (PI, one))))
        yield math.sqrt(n * math.pi * math.e), root(n, 1, 2, Product(one, ((E, one / 2), (PI, one / 2))))
    for form in _logarithms():
        value = form.approximation
        for n, d in ODD[:FACTORS]:
            yield n / d * value, root(n, d, 1, form)
    for n in range(65, 4097):
        yield math.sqrt(n), root(n, 1, 2)
        yield 1 / math.sqrt(n), root(1, n, 2)
    for n in range(2, 1025):
        yield n**0.25, root(n, 1, 4)
        yield n**-0.25, root(1, n, 4)
    for base in ROTARY:
        for n in STEPS:
            for i in range(1, n):
                yield base ** (-i / n), (_power_of, base, i, n)
    for n in PARTS_OF_PI:
        for k in (k for k in range(1, (n + 1) // 2) if math.gcd(k, n) == 1):
            yield math.cos(k * math.pi / n), (cosine, Product(Fraction(k, n), ((PI, one),)))


@functools.cache
def _table() -> tuple[np.ndarray, np.ndarray, tuple[tuple, ...]]:
    """The numbers of the family, sorted by their mantissas in float64.

    Returns the mantissas in ascending order, the place of each of them in the family, and how each number of the family
    is made, in the family's own order.
    """
    values, forms = zip(*_family(), strict=True)
    mantissas = np.frexp(np.abs(np.array(values)))[0]
    order = np.argsort(mantissas, kind="stable")
    return mantissas[order], order, forms


def _of_family(value: float, bits: int, unit: float) -> ClosedForm | None:
    """The first member of the family, times a power of 2, that rounds to the value; floats of 16 bits have none.

    Almost every number of 16 bits is near some member.  In float64 a unit in the last place is allowed, because such
    constants are computed in float64, with more than one rounding.
    """
    if bits < 24:
        return None
    mantissas, order, forms = _table()
    mantissa = abs(math.frexp(value)[0])
    slack = unit / 2 if bits < 53 else unit
    near = 2.0 * slack / abs(value)
    first, last = np.searchsorted(mantissas, [mantissa * (1 - near), mantissa * (1 + near)])
    for rank in sorted(order[first:last].tolist()):
        make, *arguments = forms[rank]
        form = make(*arguments)
        scaled = None if form is None else _scaled(form, value)
        if scaled is not None and scaled.rational is None and _is_near(scaled, value, slack):
            return scaled
    return None


def _scaled(form: ClosedForm, value: float) -> ClosedForm | None:
    """The multiple of a form by ± a power of 2 that is next to the value."""
    exponent = round(math.log2(abs(value / form.approximation)))
    sign = 1 if (form.approximation > 0) == (value > 0) else -1
    return multiplied(form, rational(sign * Fraction(2) ** exponent))


def _is_near(form: ClosedForm, value: float, slack: float) -> bool:
    """Whether they differ by at most the slack; decided at 256 bits."""
    with precision(256):
        return bool(abs(form.ball() - arb(value)) <= arb(slack))
