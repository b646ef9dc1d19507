"""Random steps against thresholds, and whether two of them are equal, by exact evaluation.

A step of one number is a composition of at most three pieces, each with its breaks and values at multiples of 1/4 and
with slopes 0, ±1/2, ±1, ±2, so that the whole breaks at multiples of 1/32 only: two comparisons with thresholds at
multiples of 1/4 are equal everywhere if they are equal at all multiples of 1/64, and almost everywhere if they are at
the odd ones. A step of an array depends on the order of its entries and their places between halves, and all of these
are looked at. All inputs and values are dyadic fractions of few bits, so that float64 computes them exactly.
"""

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import product
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Exact = Callable[[np.ndarray], Any]
"""A function of float64 arrays: of numbers entry by entry, of arrays of three row by row."""


@dataclass(frozen=True)
class Piece:
    """A function in JAX, and the same in NumPy on many inputs at once; ``jumps`` unless it is affine."""

    name: str
    jax: Callable[[jax.Array], jax.Array]
    exact: Exact
    jumps: bool = True


def _away(x: np.ndarray) -> np.ndarray:
    """The nearest whole number, halves away from zero."""
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def _cast(dtype: str) -> Piece:
    """To an integer and back: toward zero, saturating."""
    low, high = (float(bound) for bound in (np.iinfo(dtype).min, np.iinfo(dtype).max))
    to_and_fro = lambda x: x.astype(dtype).astype(jnp.float32)
    return Piece(f"cast to {dtype}", to_and_fro, lambda x: np.clip(np.trunc(x), low, high))


def _modulo(size: int) -> Piece:
    return Piece(f"mod {size} of floor", lambda x: jnp.mod(jnp.floor(x), size), lambda x: np.mod(np.floor(x), size))


SCALAR = (
    Piece("floor", jnp.floor, np.floor),
    Piece("ceil", jnp.ceil, np.ceil),
    Piece("round", jnp.round, np.rint),
    Piece("round away", lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), _away),
    Piece("trunc", jnp.trunc, np.trunc),
    *map(_cast, ("int32", "int16", "int8", "uint8")),
    Piece("sign", jnp.sign, np.sign),
    Piece("quotient by 2", lambda x: x // 2, lambda x: np.floor(x / 2)),
    *map(_modulo, (2, 3)),
    Piece("heaviside", lambda x: jnp.heaviside(x, 0.5), lambda x: np.heaviside(x, 0.5)),
    Piece("x > 1", lambda x: jnp.where(x > 1, 1.0, 0.0), lambda x: np.where(x > 1, 1.0, 0.0)),
    Piece("x >= -2", lambda x: jnp.where(x >= -2, 1.0, 0.0), lambda x: np.where(x >= -2, 1.0, 0.0)),
    Piece("relu", jax.nn.relu, lambda x: np.maximum(x, 0)),
    Piece("abs", jnp.abs, np.abs),
    Piece("clip", lambda x: jnp.clip(x, -3, 3), lambda x: np.clip(x, -3, 3)),
    Piece("2x", lambda x: 2 * x, lambda x: 2 * x, jumps=False),
    Piece("x/2", lambda x: x / 2, lambda x: x / 2, jumps=False),
    Piece("x + 5", lambda x: x + 5, lambda x: x + 5, jumps=False),
    Piece("x - 1/4", lambda x: x - 0.25, lambda x: x - 0.25, jumps=False),
    Piece("-x", lambda x: -x, lambda x: -x, jumps=False),
)


def _float(x: jax.Array) -> jax.Array:
    return x.astype(jnp.float32)


def _count(threshold: float) -> Piece:
    counted = lambda x: _float((x > threshold).sum(dtype=jnp.int32))
    return Piece(f"count above {threshold}", counted, lambda x: (x > threshold).sum(-1).astype(float))


def _smaller(x: jax.Array) -> jax.Array:
    """How many entries are smaller than the first."""
    return _float((x < x[0]).sum(dtype=jnp.int32))


def _no_larger(x: jax.Array) -> jax.Array:
    """How many entries are not smaller than the last."""
    return _float((x >= x[2]).sum(dtype=jnp.int32))


def _masked(x: jax.Array) -> jax.Array:
    """The largest entry but for the second."""
    return jnp.max(jnp.where(np.array([True, False, True]), x, -jnp.inf))


ARRAY = (
    *map(_count, (-1, 0, 0.5)),
    Piece("count of x >= 0", lambda x: jnp.where(x >= 0, 1.0, 0.0).sum(), lambda x: (x >= 0).sum(-1) * 1.0),
    Piece("rank of the first", _smaller, lambda x: (x < x[:, :1]).sum(-1) * 1.0),
    Piece("ties of the last", _no_larger, lambda x: (x >= x[:, 2:]).sum(-1) * 1.0),
    Piece("argmax", lambda x: _float(jnp.argmax(x)), lambda x: x.argmax(-1) * 1.0),
    Piece("argmin", lambda x: _float(jnp.argmin(x)), lambda x: x.argmin(-1) * 1.0),
    Piece("argsort", lambda x: _float(jnp.argsort(x)[0]), lambda x: x.argsort(-1, kind="stable")[:, 0] * 1.0),
    Piece("max", jnp.max, lambda x: x.max(-1)),
    Piece("min", jnp.min, lambda x: x.min(-1)),
    Piece("median", jnp.median, lambda x: np.median(x, -1)),
    Piece("second of the top", lambda x: lax.top_k(x, 2)[0][1], lambda x: np.sort(x)[:, 1]),
    Piece("max less the first", lambda x: x.max() - x[0], lambda x: x.max(-1) - x[:, 0]),
    Piece("median less the second", lambda x: jnp.sort(x)[1] - x[1], lambda x: np.sort(x)[:, 1] - x[:, 1]),
    Piece("sum of floors", lambda x: jnp.floor(x).sum(), lambda x: np.floor(x).sum(-1)),
    Piece("product of signs", lambda x: jnp.prod(jnp.sign(x)), lambda x: np.sign(x).prod(-1)),
    Piece("sum of relus", lambda x: jax.nn.relu(x - 1).sum(), lambda x: np.maximum(x - 1, 0).sum(-1)),
    Piece("masked max", _masked, lambda x: x[:, ::2].max(-1)),
    Piece("all", lambda x: _float(jnp.all(x > 0)), lambda x: (x > 0).all(-1) * 1.0),
    Piece("any", lambda x: _float(jnp.any(x >= 1)), lambda x: (x >= 1).any(-1) * 1.0),
)

COMPARISONS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "==", "!=": "!="}
OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "==": "!=", "!=": "=="}
BESIDE = {">": ">=", ">=": ">", "<": "<=", "<=": "<", "==": "<=", "!=": ">"}
"""Another comparison that differs at the threshold, or on one side of it."""
FORMS = ("f > t", "t < f", "1 - not", "where")


@dataclass(frozen=True)
class Decided:
    """A step of x + shift against a threshold: 1 where the comparison holds, 0 elsewhere, in one of four forms."""

    pieces: tuple[Piece, ...]
    comparison: str
    threshold: float
    form: str
    shift: float

    def __str__(self) -> str:
        step = " of ".join(piece.name for piece in reversed(self.pieces))
        return f"{step} of x + {self.shift} {self.comparison} {self.threshold} as {self.form}"

    def __call__(self, x: jax.Array) -> jax.Array:
        """The program in JAX."""
        value = reduce(lambda v, piece: piece.jax(v), self.pieces, x + self.shift)
        if self.form == "t < f":
            return jnp.where(COMPARISONS[MIRRORED[self.comparison]](self.threshold, value), 1.0, 0.0)
        if self.form == "1 - not":
            return 1 - jnp.where(COMPARISONS[OPPOSITE[self.comparison]](value, self.threshold), 1.0, 0.0)
        return jnp.where(COMPARISONS[self.comparison](value, self.threshold), 1.0, 0.0)

    def exact(self, x: np.ndarray) -> np.ndarray:
        """Whether the comparison holds, of many inputs."""
        value = reduce(lambda v, piece: piece.exact(v), self.pieces, x + self.shift)
        return COMPARISONS[self.comparison](value, self.threshold)


SHIFTS = (0.0, 0.25, -9.0, 8.5, 30.0, -40.0)
"""Samples of standard normal numbers do not see what happens behind most of these."""

GRID = np.unique(
    np.concatenate([np.arange(-24 * 64, 24 * 64 + 1) / 64, np.arange(-1200, 1201), [-1e5, -4e4, 4e4, 1e5]])
)
FREE = np.unique(np.concatenate([np.arange(-24 * 64 + 1, 24 * 64, 2) / 64, np.arange(-1200, 1200) + 1 / 64]))
WHOLE = (-2, -1.25, -1, -0.5, 0, 0.25, 0.5, 1, 1.25, 2, 3.25)
HALVES = (-2.25, -1.25, -0.75, -0.25, 0.25, 0.75, 1.25, 2.25, 3.25)
OFF = np.array([1, 2, 4]) / 64
"""What is added to three entries so that none lies at a quarter, and no two are alike."""


def triples(values: Iterable[float]) -> np.ndarray:
    """All arrays of three of these values."""
    return np.array(list(product(sorted(set(values)), repeat=3)), float)


CORNERS = triples(WHOLE)


@dataclass(frozen=True)
class StepPair:
    """Two decided steps, equally shifted, of one number or of an array of three."""

    left: Decided
    right: Decided
    array: bool

    def __str__(self) -> str:
        return f"{self.left}  |  {self.right}"

    @property
    def spec(self) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((3,) if self.array else (), jnp.float32)

    @property
    def special(self) -> np.ndarray:
        """Inputs at which two such steps differ if they differ anywhere."""
        return (triples([*WHOLE, *self.thresholds]) if self.array else GRID) - self.left.shift

    @property
    def thresholds(self) -> list[float]:
        """Where single entries decide."""
        return [self.left.threshold, self.right.threshold]

    def differ(self, inputs: np.ndarray) -> np.ndarray:
        """At which inputs the two are different."""
        return self.left.exact(inputs) != self.right.exact(inputs)

    @cached_property
    def almost_everywhere(self) -> bool:
        """Whether the two are equal except on a null set."""
        beside = [t - below for t in self.thresholds for below in (0, 0.125)]
        inputs = triples([*HALVES, *beside]) + OFF if self.array else FREE
        return not self.differ(inputs - self.left.shift).any()

    @cached_property
    def everywhere(self) -> bool:
        """Whether the two are equal."""
        return self.almost_everywhere and not self.differ(self.special).any()


def _step(random: Random, array: bool) -> tuple[Piece, ...]:
    """A composition of one to three pieces, most often with a jump or a kink among them."""
    if array:
        return (random.choice(ARRAY),)
    while True:
        pieces = tuple(random.choices(SCALAR, k=random.choice([1, 1, 2, 2, 3])))
        if any(piece.jumps for piece in pieces) or random.random() < 0.3:
            return pieces


def _threshold(random: Random, reached: np.ndarray) -> float:
    """A value that is reached, or one a little beside it."""
    return float(random.choice(reached)) + random.choice([0, 0, 0, 0.25, -0.5, 1])


def _neighbour(random: Random, first: Decided) -> Decided:
    """The same step with a tie decided otherwise; or another comparison, threshold and form; seldom another step."""
    form = random.choice(FORMS)
    if random.random() < 0.4:
        return replace(first, comparison=BESIDE[first.comparison], form=form)
    comparison = random.choice([first.comparison, random.choice(list(COMPARISONS))])
    threshold = first.threshold + random.choice([0, 0, 0, 0.25, -0.25, 0.5, -0.5, 1, -1])
    pieces = first.pieces
    if random.random() < 0.2:
        table = ARRAY if first.pieces[0] in ARRAY else SCALAR
        pieces = (random.choice(table), *first.pieces[1:])
    return Decided(pieces, comparison, threshold, form, first.shift)


def step_pairs(seed: int) -> Iterator[StepPair]:
    """Pairs without end: a decided step, and a neighbour of it."""
    random = Random(seed)
    while True:
        array = random.random() < 0.4
        pieces = _step(random, array)
        values = reduce(lambda v, piece: piece.exact(v), pieces, CORNERS if array else np.arange(-32, 33) / 4)
        reached = np.unique(np.round(values * 4) / 4)
        threshold = _threshold(random, reached[np.abs(reached) <= 12])
        first = Decided(
            pieces, random.choice(list(COMPARISONS)), threshold, random.choice(FORMS), random.choice(SHIFTS)
        )
        yield StepPair(first, _neighbour(random, first), array)
