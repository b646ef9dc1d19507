"""RoPE for longer texts than a model was trained on: its frequencies stretched in one of five ways.

θ_k = base^(−2k/r) for the r features of a head that are turned.  `linear`: θ_k / s.  `dynamic`: a base that grows with
the length of the text (NTK).  `llama3`: θ_k / s where the wavelength is long, θ_k where it is short, and in between a
mean of both.  `yarn` (Peng et al. 2023): the same by number of rotations, and all turned features times an amplitude.
`longrope` (Ding et al. 2024): θ_k / s_k by a list, another one for long texts than for short ones; an amplitude too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.networks.drawing import checked_dtype
from uat_jax.typing import Array

Frequencies = Array
"""θ_k, (r/2,): NumPy, or of JAX where the length of the text is traced."""


@dataclass(frozen=True)
class Linear:
    """θ_k / s."""

    factor: float
    amplitude: float = 1.0

    def __call__(self, base: float, width: int, length: jax.Array | int) -> Frequencies:
        """The frequencies divided by the factor."""
        return plain_frequencies(base, width) / self.factor


@dataclass(frozen=True)
class Dynamic:
    """θ_k of the base b (s n / N₀ − s + 1)^(r/(r−2)) for a text of n > N₀ tokens; up to N₀ the plain ones."""

    factor: float
    positions: int
    """N₀."""
    amplitude: float = 1.0

    def __call__(self, base: float, width: int, length: jax.Array | int) -> Frequencies:
        """The frequencies for a text of `length` tokens, which may be traced."""
        powers = -np.arange(0, width, 2) / width
        if isinstance(length, int):
            return self._base(base, width, max(length, self.positions)) ** powers
        stretched = self._base(base, width, jnp.maximum(length, self.positions).astype(float))
        return stretched ** jnp.asarray(powers, stretched.dtype)

    def _base(self, base: float, width: int, length: jax.Array | int) -> Any:
        return base * (self.factor * length / self.positions - (self.factor - 1)) ** (width / (width - 2))


@dataclass(frozen=True)
class Llama3:
    """θ_k / s for wavelengths over N₀ / low, θ_k for those under N₀ / high, in between their mean."""

    factor: float
    low: float
    high: float
    positions: int
    """N₀."""
    amplitude: float = 1.0

    def __call__(self, base: float, width: int, length: jax.Array | int) -> Frequencies:
        """(1 − w) θ_k / s + w θ_k with w = (N₀ θ_k / 2π − low) / (high − low), cut off at 0 and 1."""
        frequencies = plain_frequencies(base, width)
        weight = (self.positions * frequencies / (2 * np.pi) - self.low) / (self.high - self.low)
        weight = np.clip(weight, 0, 1)
        return (1 - weight) * frequencies / self.factor + weight * frequencies


@dataclass(frozen=True)
class Yarn:
    """θ_k for features that turn often within N₀ tokens, θ_k / s for those that turn seldom, a ramp in between."""

    factor: float
    fast: float
    slow: float
    positions: int
    """N₀."""
    amplitude: float
    whole: bool = True
    """Whether the ends of the ramp are whole numbers."""

    def __call__(self, base: float, width: int, length: jax.Array | int) -> Frequencies:
        """(1 − w_k) θ_k / s + w_k θ_k, w_k = 1 before the ramp and 0 behind it."""
        frequencies = plain_frequencies(base, width)
        place = lambda turns: width * math.log(self.positions / (turns * 2 * math.pi)) / (2 * math.log(base))
        first, last = place(self.fast), place(self.slow)
        if self.whole:
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, width - 1)
        span = last - first if first != last else 0.001
        weight = 1 - np.clip((np.arange(width // 2) - first) / span, 0, 1)
        return (1 - weight) * frequencies / self.factor + weight * frequencies


@dataclass(frozen=True)
class LongRope:
    """θ_k / s_k, with one list of s_k for texts of up to N₀ tokens and another for longer ones."""

    short: tuple[float, ...]
    """s_k of texts of up to N₀ tokens, r/2 of them."""
    long: tuple[float, ...]
    """Those of longer texts."""
    positions: int
    """N₀."""
    amplitude: float

    def __call__(self, base: float, width: int, length: jax.Array | int) -> Frequencies:
        """The frequencies for a text of `length` tokens, which may be traced."""
        short, long = (plain_frequencies(base, width) / np.array(each) for each in (self.short, self.long))
        if isinstance(length, int):
            return long if length > self.positions else short
        dtype = jnp.result_type(float)
        return jnp.where(length > self.positions, jnp.asarray(long, dtype), jnp.asarray(short, dtype))


Scaling = Linear | Dynamic | Llama3 | Yarn | LongRope


@dataclass(frozen=True)
class Rope:
    """How queries and keys are turned."""

    base: float
    turned: int | None = None
    """r, how many features of a head are turned, the first ones; None is all."""
    scaling: Scaling | None = None

    @property
    def amplitude(self) -> float:
        """What the turned features are multiplied by."""
        return 1.0 if self.scaling is None else self.scaling.amplitude

    def angles(self, tokens: int, width: int, dtype: jax.typing.DTypeLike, length: Any = None) -> jax.Array:
        """n θ_k, (N, d/2) for heads of width d; 0 for features that are not turned.

        `length` is the number of tokens that are no padding, N if left out; it may be traced.
        """
        turned = width if self.turned is None else self.turned
        if self.scaling is None:
            frequencies = plain_frequencies(self.base, turned)
        else:
            frequencies = self.scaling(self.base, turned, tokens if length is None else length)
        still = np.zeros(width // 2 - turned // 2)
        if isinstance(frequencies, np.ndarray):
            frequencies = np.concatenate([frequencies, still])
            return jnp.asarray(np.outer(np.arange(tokens), frequencies), checked_dtype(dtype))
        frequencies = jnp.concatenate([frequencies, jnp.asarray(still, frequencies.dtype)])
        return (jnp.arange(tokens).astype(frequencies.dtype)[:, None] * frequencies[None]).astype(dtype)


def plain_frequencies(base: float, width: int) -> np.ndarray:
    """base^(−2k/r), (r/2,)."""
    return base ** (-np.arange(0, width, 2) / width)
