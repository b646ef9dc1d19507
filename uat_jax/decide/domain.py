"""Domains: the numbers that the inputs of two functions range over, as hypotheses of the claim.

    positive(spec): x > 0        nonnegative(spec): x >= 0        interval(spec, a, b): a <= x <= b
    integers(spec, low, high): the integers from low to high (`decide/integers.py`)

Functions are compared at every input in the domain and at no other.  An input that refutes lies inside it.
docs/soundness.md §10.8 proves what may be concluded; a domain of another form is one more class with these methods.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import DTypeLike

from uat_jax.decide.integers import WHOLE, Integers, all_of
from uat_jax.errors import DomainError
from uat_jax.interpret.integer_ranges import Range
from uat_jax.numbers.prime_fields.facts import Facts, of_inputs
from uat_jax.typing import PyTree


def _check_end(end: float) -> None:
    """Raises `DomainError` unless it is a number that float64 holds, or an infinity."""
    number = isinstance(end, int | float | np.integer | np.floating) and not isinstance(end, bool)
    if not number or end != end:
        raise DomainError(f"got {end!r} for an end of an interval; wanted a number, or math.inf")
    try:
        exact = float(end) == end
    except OverflowError:
        exact = False
    if not exact:
        raise DomainError(f"got {end!r} for an end of an interval, which float64 does not hold; give one that it does")


def _number(x: float) -> str:
    """A float in the fewest digits that tell it from its neighbours."""
    return repr(x).removesuffix(".0")


def _held(end: float, dtype: np.dtype) -> float:
    """The number of a dtype next to a finite end, the largest one for an infinite end."""
    largest = float(jnp.finfo(dtype).max)
    return math.copysign(largest, end) if math.isinf(end) else float(np.asarray(end).astype(dtype).astype(np.float64))


def _next(x: float, towards: float, dtype: np.dtype) -> float:
    """The neighbour of a number of a dtype."""
    return float(np.nextafter(np.asarray(x).astype(dtype), np.asarray(towards).astype(dtype)).astype(np.float64))


@dataclass(frozen=True)
class Interval:
    """All real numbers from `low` to `high`, both included; without `low` itself if the interval is `open` there.

    Raises:
        DomainError: an end that is no number, no number in the interval, or only one.
    """

    low: float = -math.inf
    high: float = math.inf
    open: bool = False

    def __post_init__(self) -> None:
        for end in (self.low, self.high):
            _check_end(end)
        object.__setattr__(self, "low", float(self.low) + 0.0)  # no -0.0
        object.__setattr__(self, "high", float(self.high) + 0.0)
        object.__setattr__(self, "open", self.open and self.low != -math.inf)  # one form of each interval
        if self.low > self.high or self.low == self.high and (self.open or math.isinf(self.low)):
            raise DomainError(f"no input satisfies {self.written()}; give an interval whose lower end is smaller")
        if self.low == self.high:
            raise DomainError(f"x = {_number(self.low)} alone satisfies {self.written()}; close over that constant")

    def written(self, name: str = "x") -> str:
        """The hypothesis about an input of this name, such as "x > 0" or "0 <= x <= 1"."""
        low, high, below = _number(self.low), _number(self.high), "<" if self.open else "<="
        if self.low == -math.inf:
            return f"{name} <= {high}"
        if self.high == math.inf:
            return f"{name} {below.replace('<', '>')} {low}"
        return f"{low} {below} {name} <= {high}"

    @property
    def text(self) -> str:
        """As it stands behind a type, and as `parse_domain` reads it; nothing for all real numbers."""
        if self == REALS:
            return ""
        if math.isfinite(self.low) and math.isfinite(self.high):
            return f" in {'(' if self.open else '['}{_number(self.low)}, {_number(self.high)}]"
        return self.written("")

    def __and__(self, other: Interval) -> Interval:
        """The numbers in both.  Raises `DomainError` if the two contradict each other."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        without = any(part.open and part.low == low for part in (self, other))
        if low > high or low == high and without:
            raise DomainError(f"no input satisfies {self.written()} and {other.written()}; drop one of the two")
        return Interval(low, high, without)

    @property
    def nonnegative(self) -> bool:
        """Whether no number in it is below 0."""
        return self.low >= 0

    @property
    def positive(self) -> bool:
        """Whether every number in it is above 0."""
        return self.low > 0 or self.low == 0 and self.open

    def facts(self, shape: tuple[int, ...]) -> Facts:
        """What is known of an input of this shape."""
        return of_inputs(shape, positive=self.positive, negative=self.high < 0)

    @property
    def range(self) -> Range:
        """Its two ends."""
        return Range(self.low, self.high)

    def contains(self, points: np.ndarray) -> np.ndarray:
        """Which of the points (copies, *shape) have all their entries in the interval."""
        above = points > self.low if self.open else points >= self.low
        return np.asarray((above & (points <= self.high)).all(axis=tuple(range(1, points.ndim))))

    def ends(self, dtype: np.dtype) -> tuple[float, float]:
        """The smallest and the largest number of a dtype in the interval.

        Raises:
            DomainError: an end lies beyond the dtype's largest number, or there are no two numbers of it between them.
        """
        largest = float(jnp.finfo(dtype).max)
        for end in (self.low, self.high):
            if math.isfinite(end) and abs(end) > largest:
                wanted = f"{dtype} holds numbers up to {largest:.6g}: choose an end within, or math.inf for none"
                raise DomainError(f"got {self.written()} for an input of {dtype}; {wanted}")
        low, high = _held(self.low, dtype), _held(self.high, dtype)
        if low < self.low or self.open and low == self.low:
            low = _next(low, math.inf, dtype)
        if high > self.high:
            high = _next(high, -math.inf, dtype)
        if not low < high:
            raise DomainError(f"no two numbers of {dtype} satisfy {self.written()}; widen the interval")
        return low, high

    def folded(self, points: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """Points of the interval that the dtype holds: those inside stay, others are mirrored at its ends."""
        largest = float(jnp.finfo(dtype).max)
        rounded = np.clip(points, -largest, largest).astype(dtype).astype(np.float64)
        if self == REALS:
            return rounded
        start, way = (self.high, -1.0) if math.isinf(self.low) else (self.low, 1.0)
        width = self.high - self.low
        with np.errstate(all="ignore"):
            distance = np.abs(points - start)
            if math.isfinite(width):
                distance = np.minimum(distance % (2 * width), -distance % (2 * width))
            if self.open:  # an end that does not belong to it
                distance = np.where(distance == 0, min(1.0, width / 2), distance)
            mirrored = (start + way * distance).astype(dtype).astype(np.float64)
        low, high = self.ends(dtype)
        return np.clip(np.where((points >= low) & (points <= high), rounded, np.nan_to_num(mirrored)), low, high)

    def clipped(self, points: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The points of the interval next to the given ones, as the dtype holds them."""
        rounded = points.astype(dtype).astype(np.float64)
        return rounded if self == REALS else np.clip(rounded, *self.ends(dtype))

    def corners(self, random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Points (copies, *shape) whose entries are ends: the first has all at the lower one, the second at the upper.

        An end that is infinite is replaced by the other one, and small whole numbers by the domain of all numbers.
        """
        held = self.ends(dtype)
        finite = [x for x, end in zip(held, (self.low, self.high), strict=True) if math.isfinite(end)]
        if not finite:
            return random.integers(-2, 3, shape).astype(np.float64)
        points = random.choice(finite, shape)
        points[0], points[1] = finite[0], finite[-1]
        return points


REALS = Interval()
"""All real numbers."""


@dataclass(frozen=True)
class Domains:
    """What each input of two programs ranges over, in their order; inputs beyond those listed are any real numbers.

    Inputs of integers are decided apart (`whole_inputs.py`): what looks at real numbers never meets one.
    """

    of: tuple[Any, ...] = ()

    def __getitem__(self, index: int) -> Any:  # Any: an `Interval`, or `Integers` where the input has whole numbers
        return self.of[index] if index < len(self.of) else REALS

    @property
    def whole(self) -> bool:
        """Whether an input is one of integers or booleans."""
        return any(isinstance(domain, Integers) for domain in self.of)

    def contain(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Which points lie inside, given as one array (copies, *shape) for each input."""
        inside = [self[i].contains(array) for i, array in enumerate(arrays) if self[i] != REALS]
        return np.logical_and.reduce(inside) if inside else np.ones(len(arrays[0]), bool)

    def folded(self, arrays: Sequence[np.ndarray], dtypes: Sequence[np.dtype]) -> list[np.ndarray]:
        """Points inside that the dtypes hold (`Interval.folded`)."""
        return [self[i].folded(x, dtype) for i, (x, dtype) in enumerate(zip(arrays, dtypes, strict=True))]

    def clipped(self, arrays: Sequence[np.ndarray], dtypes: Sequence[np.dtype]) -> list[np.ndarray]:
        """The points inside next to the given ones (`Interval.clipped`)."""
        return [self[i].clipped(x, dtype) for i, (x, dtype) in enumerate(zip(arrays, dtypes, strict=True))]


EVERYWHERE = Domains()
"""All inputs may be any real numbers."""


@dataclass(frozen=True)
class Restricted:
    """The spec of an input whose entries range over a domain: a leaf where a `jax.ShapeDtypeStruct` may stand."""

    shape: tuple[Any, ...]
    dtype: Any
    domain: Interval | Integers

    def __post_init__(self) -> None:
        if isinstance(self.domain, Integers):
            _check_whole(self.dtype, self.domain)
            return self.domain.check(self.dtype)
        _check_floating(self.dtype, self.domain)
        self.domain.ends(np.dtype(self.dtype))


def _check_floating(dtype: Any, domain: Interval) -> None:
    """Raises `DomainError` unless a dtype is one of floats."""
    if not jnp.issubdtype(dtype, jnp.floating):
        integral = jnp.issubdtype(dtype, jnp.integer)
        wanted = "write uj.integers(spec, low, high)" if integral else "only floats have a domain"
        raise DomainError(f"got {domain.written()} for an input of {dtype}; {wanted}")


def _check_whole(dtype: Any, domain: Integers) -> None:
    """Raises `DomainError` unless a dtype is one of integers or booleans."""
    if not jnp.issubdtype(dtype, jax.dtypes.prng_key) and str(jnp.dtype(dtype)) in WHOLE:
        return
    wanted = "write uj.interval(spec, low, high) for real numbers"
    raise DomainError(f"got the integers {domain.written()} for an input of {dtype}; {wanted}")


def positive(spec: PyTree) -> Restricted:
    """The input of a function with every entry above 0: `spec` is a `jax.ShapeDtypeStruct` or an array of floats.

    Returns:
        The spec, for `certify` and whatever else takes specs.

    Raises:
        DomainError: see `interval`.

    Example:
        >>> x = uj.positive(jax.ShapeDtypeStruct((2,), jnp.float32))
        >>> bool(uj.certify(lambda x: jnp.log(x[0] * x[1]), lambda x: jnp.log(x).sum(), x))
        True
    """
    return _restricted(spec, Interval(0.0, math.inf, open=True))


def nonnegative(spec: PyTree) -> Restricted:
    """The input of a function with every entry at least 0: `spec` is a `jax.ShapeDtypeStruct` or an array of floats.

    Returns:
        The spec, for `certify` and whatever else takes specs.

    Raises:
        DomainError: see `interval`.

    Example:
        >>> x = uj.nonnegative(jax.ShapeDtypeStruct((3,), jnp.float32))
        >>> bool(uj.certify(jax.nn.relu, lambda x: 1 * x, x))
        True
    """
    return _restricted(spec, Interval(0.0, math.inf))


def interval(spec: PyTree, low: float, high: float) -> Restricted:
    """The input of a function with every entry from `low` to `high`, both included; either end may be infinite.

    `spec` is a `jax.ShapeDtypeStruct`, an array of floats inside, of which only shape and dtype count, or an input with
    a domain, of which the intersection is taken.

    Returns:
        The spec, for `certify` and whatever else takes specs.

    Raises:
        DomainError: no number lies in the domain, or only one; an end lies beyond the dtype; an array lies
            outside; the input is not one of floats.

    Example:
        >>> x = uj.interval(jax.ShapeDtypeStruct((3,), jnp.float32), -1, 1)
        >>> bool(uj.certify(lambda x: jnp.clip(x, -1, 1), lambda x: 1 * x, x))
        True
    """
    return _restricted(spec, Interval(low, high))


def integers(spec: PyTree, low: int, high: int) -> Restricted:
    """The input of a function with every entry an integer from `low` to `high`, both included.

    `spec` is a `jax.ShapeDtypeStruct` of integers or booleans, an array of them, of which only shape and dtype count,
    or an input with such a domain, of which the intersection is taken.

    Returns:
        The spec, for `certify` and whatever else takes specs.

    Raises:
        DomainError: no integer lies in the range; an end lies beyond the dtype; the input is not one of integers.

    Example:
        >>> import jax, jax.numpy as jnp, uat_jax as uj
        >>> i = uj.integers(jax.ShapeDtypeStruct((), jnp.int32), 0, 100)
        >>> bool(uj.certify(lambda i: i * (i + 1) // 2, lambda i: i * (i + 1) >> 1, i).passes)
        True
    """
    return _restricted(spec, Integers(low, high))


def _restricted(spec: PyTree, domain: Interval | Integers) -> Restricted:
    if not (hasattr(spec, "shape") and hasattr(spec, "dtype")):
        got = type(spec).__name__
        raise DomainError(f"got a {got} for an input with a domain; pass a jax.ShapeDtypeStruct, one for each leaf")
    given = spec.domain if isinstance(spec, Restricted) else None
    if given is not None and type(given) is not type(domain):
        raise DomainError(f"got {domain.written()} for an input with {given.written()}; give it one kind of domain")
    both: Any = domain if given in (None, REALS) else domain & given  # type: ignore[operator] - of one kind
    if is_concrete(spec):
        _check_inside(np.asarray(spec, np.float64) if isinstance(both, Interval) else np.asarray(spec), both)
    return Restricted(tuple(spec.shape), spec.dtype, both)


def is_concrete(spec: PyTree) -> bool:
    """Whether a spec is an array with values."""
    return isinstance(spec, np.ndarray | jax.Array) and not isinstance(spec, Tracer)


def _check_inside(array: np.ndarray, domain: Interval | Integers) -> None:
    """Only its shape and dtype count, but an array outside of the domain is a mistake."""
    outside = [place for place in np.ndindex(array.shape) if not domain.contains(array[place].reshape(1)).all()]
    if outside:
        where = f" at {list(outside[0])}" if outside[0] else ""
        raise DomainError(
            f"the array given for an input that is {domain.written()} holds {array[outside[0]]:.6g}{where}; "
            "give an array inside, or a jax.ShapeDtypeStruct, since only its shape and dtype count"
        )


def parse_integers(text: str, dtype: DTypeLike) -> Integers:
    """The range that a text such as "in [0, 10]" says; "" is all values of the dtype.

    Raises:
        DomainError: a text of another form, or one that no integer satisfies.
    """
    if not text.strip():
        return all_of(dtype)
    match = re.fullmatch(r"in\s*\[\s*([-+]?\d{1,20})\s*,\s*([-+]?\d{1,20})\s*\]", text.strip())
    if match is None:
        raise DomainError(f"got {text.strip()!r} for a range of integers; write in [0, 10]")
    found = Integers(int(match[1]), int(match[2]))
    found.check(dtype)
    return found


def with_shape(leaf: PyTree, shape: tuple[Any, ...]) -> Any:
    """A spec of another shape, with the same domain; an array of whole numbers stays what it is."""
    domain = domain_of(leaf)
    if isinstance(leaf, Restricted):
        return Restricted(shape, leaf.dtype, domain)
    spec = isinstance(domain, Integers) or jnp.issubdtype(leaf.dtype, jnp.floating)
    return jax.ShapeDtypeStruct(shape, leaf.dtype) if spec else leaf


def domain_of(leaf: PyTree) -> Any:
    """What the entries of an input range over: an `Interval`, or `Integers` of an input that is a variable of them."""
    if isinstance(leaf, Restricted):
        return leaf.domain
    whole = isinstance(leaf, jax.ShapeDtypeStruct) and str(leaf.dtype) in WHOLE
    return all_of(leaf.dtype) if whole else REALS


NUMBER = r"\s*([-+]?[\w.+-]+)\s*"
FORMS = {
    rf">{NUMBER}": lambda low: Interval(low, math.inf, open=True),
    rf">={NUMBER}": lambda low: Interval(low, math.inf),
    rf"<={NUMBER}": lambda high: Interval(-math.inf, high),
    rf"in\s*\[{NUMBER},{NUMBER}\]": Interval,
    rf"in\s*\({NUMBER},{NUMBER}\]": lambda low, high: Interval(low, high, open=True),
}
"""How a domain is written behind a type."""


def parse_domain(text: str) -> Interval:
    """The domain that a text such as "> 0", ">= 0", "<= 3", "in [0, 1]" or "in (0, 1]" says; "" is all real numbers.

    Raises:
        DomainError: a text of another form, or one that no number satisfies.
    """
    if not text.strip():
        return REALS
    for form, made in FORMS.items():
        match = re.fullmatch(form, text.strip())
        if match is not None:
            return made(*(_parsed(end, text) for end in match.groups()))
    raise DomainError(f"got {text.strip()!r} for a domain; write > 0, >= 0, <= 1, in [0, 1] or in (0, 1]")


def _parsed(end: str, text: str) -> float:
    try:
        return float(end)
    except ValueError:
        raise DomainError(f"got {text.strip()!r} for a domain, and {end} is no number; write one such as 0.5") from None
