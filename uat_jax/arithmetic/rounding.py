"""Floats with rounding noise: how far rounding may carry a computation from its exact value.

Every rounding of the traced program is replaced by an independent error ±a, a the amplitude of
`local_error`, each sign with probability one half: of all zero-mean errors bounded by a these have the
largest variance. To first order the output's error is Σ_k J_k ε_k, so its variance under any such errors is
at most σ² = Σ_k (J_k a_k)², and σ is estimated by sampling, without derivatives and without assuming first
order. This is the probabilistic rounding analysis of Higham & Mary ("A new approach to probabilistic
rounding error analysis", SISC 2019, Model 1.1: roundings are independent, mean zero), carried out for one
program at one input instead of in general.

Values are float64. A program that itself runs in float64 is sampled with larger noise and its σ divided by
the same factor, so that the sampler's own rounding stays small beside the noise.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic.doubles import Doubles
from uat_jax.arithmetic.interpreter import Value, interpret
from uat_jax.arithmetic.local_error import DotPrecision, amplitude, rounds
from uat_jax.arithmetic.matmul_precision import unit_roundoff
from uat_jax.errors import InputError

SMALLEST_NOISE = 2.0**-33
"""Unit roundoff that the noise is scaled up to where a dtype's own is smaller."""


def standard_deviation(
    closed_jaxpr: ClosedJaxpr,
    arguments: Sequence[Any],
    key: jax.Array,
    *,
    samples: int,
    dot_precision: DotPrecision,
) -> jax.Array:
    """Root mean square over `samples` of (noisy output - exact output), in float64, of the output's shape.

    `closed_jaxpr` has one output; `arguments` are its inputs, exact floats of any dtype. Jit and vmap freely,
    inside `jax.enable_x64(True)`.
    """
    inputs = [_exact(argument) for argument in arguments]
    scale = max(1.0, SMALLEST_NOISE / unit_roundoff(closed_jaxpr.out_avals[0].dtype))
    recorder = _Recorder(dot_precision)
    (exact,) = interpret(closed_jaxpr, recorder, inputs)
    amplitudes = [scale * a for a in recorder.amplitudes]

    def squared_error(sample_key: jax.Array) -> jax.Array:
        noise = _signed(amplitudes, sample_key)
        (noisy,) = interpret(closed_jaxpr, _Perturber(noise), inputs)
        return ((noisy - exact) / scale) ** 2

    return jnp.sqrt(jnp.mean(jax.vmap(squared_error)(jax.random.split(key, samples)), axis=0))


def _exact(argument: Any) -> jax.Array:
    argument = jnp.asarray(argument)
    return argument.astype(jnp.float64) if jnp.issubdtype(argument.dtype, jnp.floating) else argument


def _signed(amplitudes: Sequence[jax.Array], key: jax.Array) -> Iterator[jax.Array]:
    """Each amplitude with independent random signs, 32 signs from each random word."""
    words = [-(-a.size // 32) for a in amplitudes]
    random = jax.random.bits(key, (sum(words),), jnp.uint32)
    starts = np.cumsum([0, *words])
    for a, start, count in zip(amplitudes, starts[:-1], words, strict=True):
        bits = (
            random[start : start + count, None] >> jnp.arange(32, dtype=jnp.uint32)[None, :]
        ) & jnp.uint32(1)
        yield jnp.where(bits.reshape(-1)[: a.size].reshape(a.shape) == 1, a, -a)


def _is_short(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Whether constants need at most half the mantissa of their dtype, as 0, 1, 0.5 and 3 do.

    Such a constant is taken for the number meant; a longer one is the rounding of a number meant, like
    √(2/π).
    """
    mantissa, _ = np.frexp(np.where(np.isfinite(array), array, 0.0))
    scaled = mantissa * 2.0 ** ((jnp.finfo(dtype).nmant + 1) // 2)
    return scaled == np.round(scaled)


class _Recorder(Doubles):
    """Float64 evaluation that writes down the amplitude of every rounding it passes."""

    def __init__(self, dot_precision: DotPrecision):
        self.dot_precision = dot_precision
        self.amplitudes: list[jax.Array] = []

    def constant(self, array: Value, dtype: np.dtype) -> jax.Array:
        """A constant and its amplitude: 2u|c| if it is a rounded one: programs may round it differently."""
        value = np.asarray(array).astype(np.float64)
        rounded = np.isfinite(value) & ~_is_short(value, dtype)
        if rounded.any():
            self.amplitudes.append(jnp.where(rounded, 2 * unit_roundoff(dtype) * np.abs(value), 0.0))
        return self.number(value)

    def evaluate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        results = super().evaluate(equation, operands)
        error = amplitude(equation, operands, results[0], self.dot_precision) if rounds(equation) else None
        if error is not None:
            self.amplitudes.append(error)
        return results


class _Perturber(Doubles):
    """Float64 evaluation that adds the next error of a stream at every rounding."""

    def __init__(self, noise: Iterator[jax.Array]):
        self.noise = noise

    def constant(self, array: Value, dtype: np.dtype) -> jax.Array:
        value = np.asarray(array).astype(np.float64)
        if (np.isfinite(value) & ~_is_short(value, dtype)).any():
            return self.number(value) + next(self.noise)
        return self.number(value)

    def evaluate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        results = super().evaluate(equation, operands)
        return [results[0] + next(self.noise)] if rounds(equation) else results


def tolerance_factor(samples: int, statements: int, failure_probability: float) -> float:
    """t with P(some |error| > t σ̂) ≤ failure_probability over `statements` errors, σ̂ from `samples`
    samples.

    Each statement fails in one of two ways, each with probability p = failure_probability / (2 statements):

    - |error| > σ √(2 ln(2/p)): Hoeffding's inequality for a sum of independent zero-mean bounded errors;
    - σ̂² < σ² q/n, with n σ̂²/σ² taken as χ²_n and q its quantile at p, by Wilson & Hilferty's approximation
      q = n (1 - 2/(9n) + z √(2/(9n)))³ (1931), z the normal quantile; it is below the true quantile here.

    Raises:
        InputError: too few samples for so small a probability.
    """
    p = failure_probability / (2 * statements)
    z = NormalDist().inv_cdf(p)
    root = 1 - 2 / (9 * samples) + z * math.sqrt(2 / (9 * samples))
    if root < 0.3:
        needed = math.ceil(2 / 9 * (z / 0.65) ** 2)
        raise InputError(
            f"{samples} samples say too little at failure probability {failure_probability:g}; use {needed}"
        )
    return math.sqrt(2 * math.log(2 / p)) * root**-1.5
