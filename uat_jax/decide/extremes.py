"""Inputs at which floats are likely to fail: extremes of the dtype, ties, offsets, mixtures, and zeros of divisors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import jax.numpy as jnp
import numpy as np

MOST = 256
"""Points that are tried, not counting the zeros of divisors."""

LARGEST_LEAVES, LARGEST_ENTRIES = 8, 4
"""So many inputs, and entries, get an extreme value while the others keep a plain one."""

MODERATE = (1e-10, 1e4)
"""Mixtures are made of numbers of this size: products of larger ones leave the range in almost any program."""

OFFSETS = (1e2, 1e4, 1e6)
"""Added to normal numbers: what is small beside a common offset is lost."""

STEPS = np.linspace(-8.0, 8.0, 33)
"""Where the divisors are looked at along a line; their zeros between two of these are found."""

HALVINGS, MOST_ZEROS = 26, 16
"""Bisections of an interval in which a divisor changes its sign, and the most intervals that are bisected."""

Edges = Callable[[np.ndarray], list[np.ndarray]]
"""(points, entries) → the functions whose zeros are wanted, each (points, any number)."""


def values(dtype: np.dtype) -> list[float]:
    """Extreme numbers of a dtype, the plainest first: 100 before the largest, whose exponential overflows as well."""
    limits = jnp.finfo(dtype)
    largest, smallest = float(limits.max), float(limits.smallest_normal)
    huge = 10.0 ** round(0.78 * np.log10(largest))  # 1e30 in float32: its square overflows
    plain = [0.0, 1.0, 100.0, 1e-10, 1e4, huge, 1 / huge, smallest, float(limits.smallest_subnormal), largest]
    kept = dict.fromkeys(min(x, largest) for x in plain)
    return [sign * x for x in kept for sign in (1.0, -1.0)]


def extremes(inputs: Sequence[Any], copies: int, seed: int) -> Iterator[np.ndarray]:
    """Points of the inputs (their shapes and dtypes), entries end to end, the plainest first, in blocks of `copies`."""
    narrowest = min((x.dtype for x in inputs), key=lambda dtype: float(jnp.finfo(dtype).max))
    rows = islice(_arranged(inputs, values(narrowest), np.random.default_rng((seed, 91))), MOST)
    for _ in range(0, MOST, copies):
        with np.errstate(over="ignore"):  # what is not finite is left out
            block = list(islice(rows, copies))
        if block:
            yield _held(np.array(block), inputs)


def _arranged(inputs: Sequence[Any], extreme: Sequence[float], random: np.random.Generator) -> Iterator[np.ndarray]:
    """Rows: one entry, one input or all entries extreme; normal numbers with an offset or a scale; mixtures."""
    size = sum(x.size for x in inputs)
    ends = np.cumsum([0, *(x.size for x in inputs)])
    normal = random.standard_normal(size)
    for value in extreme:
        for place in range(min(size, LARGEST_ENTRIES) if size > 1 else 0):
            yield _with(np.zeros(size), place, value)
        yield np.full(size, value)
        if len(inputs) > 1:
            for start, end in list(zip(ends, ends[1:], strict=False))[:LARGEST_LEAVES]:
                yield _with(np.ones(size), slice(start, end), value)
    for offset in OFFSETS:
        yield normal + offset
    signs = np.where(np.arange(size) % 2, -1.0, 1.0)
    for value in extreme[::2]:
        yield normal * value
        yield signs * value
    for start, end in list(zip(ends, ends[1:], strict=False))[:LARGEST_LEAVES]:
        yield _with(normal, slice(start, end), 0.0)
    for _ in range(16):
        yield random.integers(-2, 3, size).astype(np.float64)
    moderate = [x for x in extreme if x == 0 or MODERATE[0] <= abs(x) <= MODERATE[1]]
    while True:
        yield random.choice(moderate, size)


def _with(row: np.ndarray, place: Any, value: float) -> np.ndarray:
    changed = row.copy()
    changed[place] = value
    return changed


def _held(points: np.ndarray, inputs: Sequence[Any]) -> np.ndarray:
    """The finite points that the inputs' dtypes hold."""
    starts = np.cumsum([x.size for x in inputs])[:-1]
    pieces = zip(np.split(points, starts, axis=1), inputs, strict=True)
    with np.errstate(over="ignore"):
        held = np.concatenate([piece.astype(x.dtype).astype(np.float64) for piece, x in pieces], axis=1)
    return held[np.isfinite(held).all(axis=1)]


def zeros(inputs: Sequence[Any], edges: Edges, copies: int, seed: int) -> np.ndarray:
    """Points at which one of the functions `edges` is zero, or as near to it as the dtypes allow.

    Every function is looked at along lines: from 0, from 1, from small integers and from normal numbers, in the
    direction of each of the first entries and of all of them together; along as many as make `copies` points.
    """
    size = sum(x.size for x in inputs)
    if copies < len(STEPS):
        return np.zeros((0, size))
    random = np.random.default_rng((seed, 92))
    bases = [np.zeros(size), np.ones(size), random.integers(-2, 3, size), random.standard_normal(size)]
    single = range(min(size, 2 * LARGEST_ENTRIES) if size > 1 else 0)
    along = [np.ones(size), *(_with(np.zeros(size), place, 1.0) for place in single)]
    lines = [(np.asarray(base, np.float64), way) for way in along for base in bases][: copies // len(STEPS)]
    start, step = (np.array(column) for column in zip(*lines, strict=True))
    grid = start[:, None] + STEPS[:, None] * step[:, None]
    found = [x.reshape(len(lines), len(STEPS), -1) for x in edges(grid.reshape(-1, size))]
    at_zero = [grid[np.nonzero((x == 0).any(axis=2) & ~(x == 0).all(axis=(1, 2))[:, None])] for x in found]
    brackets = [(function, *place) for function, x in enumerate(found) for place in np.argwhere(_changes_sign(x))]
    rows = [*np.concatenate([np.zeros((0, size)), *at_zero])[:MOST_ZEROS]]
    chosen = brackets[:: max(1, len(brackets) // MOST_ZEROS)][:MOST_ZEROS]
    if chosen:
        rows += _bisected(start, step, np.array(chosen), edges)
    return _held(np.array(rows).reshape(-1, size), inputs)


def _changes_sign(x: np.ndarray) -> np.ndarray:
    """Along the axis of steps: (lines, steps - 1, entries)."""
    before, after = x[:, :-1], x[:, 1:]
    return (before < 0) & (after > 0) | (before > 0) & (after < 0)


def _bisected(start: np.ndarray, step: np.ndarray, brackets: np.ndarray, edges: Edges) -> list[np.ndarray]:
    """The zeros in brackets (function, line, step, entry), and the short fractions next to them."""
    function, line, place, entry = brackets.T
    low, high = STEPS[place], STEPS[place + 1]
    points = lambda t: start[line] + t[:, None] * step[line]

    def at(t: np.ndarray) -> np.ndarray:
        """The function of each bracket at its own place t."""
        found = edges(points(t))
        return np.array([found[f][i, e] for i, (f, e) in enumerate(zip(function, entry, strict=True))])

    sign = np.sign(at(low))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        same = np.sign(at(middle)) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    near = [np.round(high * 8) / 8, np.round(high * 1000) / 1000, high]
    return [row for t in near for row in points(t)]
