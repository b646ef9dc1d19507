"""Left and right of a pair agree as floats, and every wrong variant parts from left."""

from typing import Any

import jax
import numpy as np

from uat_jax.decide.domain import Interval, domain_of

from .floats import dtype_of, evaluated
from .pair import Pair

DRAWS = 8
SEPARATION = 1e-7
"""What a wrong variant differs by at least, relative to the largest output: far above every tolerance in float64."""


def inputs(pair: Pair, seed: int) -> Any:
    """Arguments in the domains of their specs: standard normal, its exponential from an end on, or uniform."""
    random = np.random.default_rng(seed)
    return jax.tree.map(lambda spec: drawn(random, domain_of(spec), spec.shape).astype(dtype_of(pair)), pair.specs)


def drawn(random: np.random.Generator, domain: Interval, shape: tuple[int, ...]) -> np.ndarray:
    """Random numbers of a domain."""
    if np.isfinite([domain.low, domain.high]).all():
        return random.uniform(domain.low, domain.high, shape)
    normal = random.standard_normal(shape)
    if np.isfinite(domain.low):
        return domain.low + np.exp(normal)
    return domain.high - np.exp(normal) if np.isfinite(domain.high) else normal


def flat(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays])


def distance(left: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of two outputs, relative to the largest finite entry of the first; of ∞ and ∞ it is 0."""
    size = np.abs(left[np.isfinite(left)]).max(initial=0.0) or 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.where(left == other, 0.0, np.abs(left - other)).max() / size)


def distances(pair: Pair) -> tuple[float, dict[str, float], float]:
    """(right from left, each wrong variant from left, tolerance): the largest of all draws, relative to max |left|."""
    every, apart = evaluated(pair), np.zeros(1 + len(pair.wrong))
    for seed in range(DRAWS):
        left, *others = map(flat, every(inputs(pair, seed)))
        assert not np.isnan(left).any(), f"{pair.name}: left is not a number at seed {seed}"
        apart = np.maximum(apart, [distance(left, other) for other in others])
    return apart[0], dict(zip(pair.wrong, apart[1:], strict=True)), every.tolerance


def agree_as_floats(pair: Pair) -> None:
    """Left and right agree up to rounding, and no wrong variant does."""
    apart, wrong, tolerance = distances(pair)
    assert apart <= tolerance, f"seeds 0 to {DRAWS - 1}: {apart} apart, relative to the largest output"
    alike = {name: distance for name, distance in wrong.items() if not distance > max(SEPARATION, tolerance)}
    assert not alike, f"seeds 0 to {DRAWS - 1}: not told apart from left: {sorted(alike)}"
