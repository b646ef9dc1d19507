"""Floats with rounding noise: how far rounding may carry a computation from its exact value.

Every rounding of the traced program is replaced by an independent error ±a, a the amplitude of
`local_error`, each sign with probability one half: of all zero-mean errors bounded by a these have the
largest variance. To first order the output's error is Σ_k J_k ε_k, so its variance under any such errors is
at most σ² = Σ_k (J_k a_k)², and σ is estimated by sampling, without derivatives and without assuming first
order. This is the probabilistic rounding analysis of Higham & Mary ("A new approach to probabilistic
rounding error analysis", SISC 2019, Model 1.1: roundings are independent, mean zero), carried out for one
program at one input instead of in general.

A program that itself runs in float64 is sampled with larger noise and its σ divided by the same factor, so that the
sampler's own rounding stays small beside the noise.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic.doubles import Doubles
from uat_jax.arithmetic.interpreter import interpret
from uat_jax.arithmetic.local_error import DotPrecision, amplitude, rounds
from uat_jax.arithmetic.matmul_precision import unit_roundoff
from uat_jax.arithmetic.tracing import dtype_of
from uat_jax.errors import InputError
from uat_jax.typing import PyTree

SMALLEST_NOISE = 2.0**-33
"""Unit roundoff that the noise is scaled up to where a dtype's own is smaller."""


def standard_deviation(
    closed_jaxpr: ClosedJaxpr,
    arguments: Sequence[PyTree],
    random: np.random.Generator,
    *,
    samples: int,
    dot_precision: DotPrecision,
) -> np.ndarray:
    """Root mean square over `samples` of (noisy output - exact output), in float64, of the output's shape.

    `closed_jaxpr` has one output; `arguments` are its inputs, exact floats of any dtype.
    """
    scale = max(1.0, SMALLEST_NOISE / unit_roundoff(closed_jaxpr.out_avals[0].dtype))
    noisy = Noisy(samples, random, scale, dot_precision)
    (outputs,) = interpret(closed_jaxpr, noisy, [noisy.argument(a) for a in arguments])
    exact, perturbed = outputs[:1], outputs[1:]
    return np.sqrt(np.mean(((perturbed - exact) / scale) ** 2, axis=0)) if len(perturbed) else np.zeros_like(exact[0])


class Noisy(Doubles):
    """Float64 evaluation in 1 + `samples` copies: copy 0 without noise, every other with its own at each rounding."""

    def __init__(self, samples: int, random: np.random.Generator, scale: float, dot_precision: DotPrecision):
        self.samples, self.random, self.scale, self.dot_precision = samples, random, scale, dot_precision

    def argument(self, array: np.ndarray) -> np.ndarray:
        """An input of the program: a float of any dtype, or an integer that stays as it is."""
        return self.number(array) if jnp.issubdtype(np.asarray(array).dtype, jnp.floating) else array

    def constant(self, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """A constant, ±2u|c| if it is a rounded one: programs may round it differently."""
        value = np.asarray(array).astype(np.float64)
        rounded = np.isfinite(value) & ~_is_short(value, dtype)
        if not rounded.any():
            return self.number(value)
        return self.noisy(self.number(value), np.where(rounded, 2 * unit_roundoff(dtype) * np.abs(value), 0.0))

    def evaluate(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results of one equation, with the error of its rounding.

        Raises:
            UnsupportedError: no bound is known for it.
        """
        results = super().evaluate(equation, operands)
        if not rounds(equation):
            return results
        if equation.primitive.name == "mul" and _is_exact_product(operands, dtype_of(equation.outvars[0])):
            return results
        exact = [x[0] if isinstance(x, np.ndarray) and x.dtype == np.float64 else x for x in operands]
        return [self.rounded(equation, exact, results[0])]

    def rounded(self, equation: JaxprEqn, exact: Sequence[np.ndarray], result: np.ndarray) -> np.ndarray:
        """The result of a rounding equation with its error; `exact` are the operands of copy 0."""
        error = amplitude(equation, exact, result[0], self.dot_precision)
        assert error is not None
        return self.noisy(result, error)

    def noisy(self, value: np.ndarray, error: np.ndarray) -> np.ndarray:
        """The value plus ± the scaled error, independent signs in every copy but the first."""
        bits = np.frombuffer(self.random.bytes(-(-self.samples * error.size // 8)), np.uint8)
        drawn = np.unpackbits(bits, count=self.samples * error.size).reshape(self.samples, *error.shape)
        signs = 2 * drawn.view(np.int8) - 1  # multiplied: to choose by random bits is six times as slow
        result = np.empty((1 + self.samples, *value.shape[1:]))
        result[0] = 0
        np.multiply(signs, self.scale * error, out=result[1:])
        return np.add(result, value, out=result)


def _is_exact_product(operands: Sequence[np.ndarray], dtype: np.dtype) -> bool:
    """Whether one factor consists of zeros and ±1 in all copies, as I_N does in I_N ⊗ W, and nothing is subnormal."""
    normal = float(jnp.finfo(dtype).smallest_normal)
    trivial = any(len(x) == 1 and np.all((x == 0) | (np.abs(x) == 1)) for x in operands)
    return trivial and all(np.all((x == 0) | (np.abs(x) >= normal)) for x in operands)


def _is_short(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Whether constants need at most half the mantissa of their dtype, as 0, 1, 0.5 and 3 do.

    Such a constant is taken for the number meant; a longer one is the rounding of a number meant, like
    √(2/π).
    """
    mantissa, _ = np.frexp(np.where(np.isfinite(array), array, 0.0))
    scaled = mantissa * 2.0 ** ((jnp.finfo(dtype).nmant + 1) // 2)
    return scaled == np.round(scaled)


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
