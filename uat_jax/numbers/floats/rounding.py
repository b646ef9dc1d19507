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

import functools
import math
from collections.abc import Collection, Sequence
from statistics import NormalDist

import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.errors import InputError
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.tracing import dtype_of
from uat_jax.numbers.floats.doubles import Doubles, in_copies
from uat_jax.numbers.floats.local_error import DotPrecision, amplitude, rounds
from uat_jax.numbers.floats.matmul_precision import unit_roundoff
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
    (found,) = standard_deviations(closed_jaxpr, arguments, (), [random], samples=samples, dot_precision=dot_precision)
    return found


def standard_deviations(
    closed_jaxpr: ClosedJaxpr,
    arguments: Sequence[np.ndarray],
    batched: Collection[int],
    randoms: Sequence[np.random.Generator],
    *,
    samples: int,
    dot_precision: DotPrecision,
) -> np.ndarray:
    """The standard deviations of several runs of a program, found in one walk: float64 (runs, *shape).

    Args:
        closed_jaxpr: a program with one output.
        arguments: its inputs, exact floats of any dtype; those numbered in `batched` have a leading axis of runs.
        batched: which arguments differ from run to run; they are floats.
        randoms: for each run the generator of its noise, so that a run's noise does not depend on the others.
        samples: how often each run is disturbed.
        dot_precision: the precision of a dot product.
    """
    scale = max(1.0, SMALLEST_NOISE / unit_roundoff(closed_jaxpr.out_avals[0].dtype))
    noisy = Noisy(samples, randoms, scale, dot_precision)
    values = [noisy.rows(a) if i in batched else noisy.argument(a) for i, a in enumerate(arguments)]
    (outputs,) = interpret(closed_jaxpr, noisy, values)
    runs = noisy.by_run(outputs)
    if not samples or runs.shape[1] == 1:
        return np.zeros((len(randoms), *outputs.shape[1:]))
    found = np.sqrt(np.mean(((runs[:, 1:] - runs[:, :1]) / scale) ** 2, axis=1))
    return np.broadcast_to(found, (len(randoms), *found.shape[1:]))


class Noisy(Doubles):
    """Float64 evaluation of each run in 1 + `samples` copies: copy 0 is exact, every other has noise at each rounding.

    The copies of a run stand side by side, its exact one first; there is a generator of noise for each run.
    """

    def __init__(self, samples: int, randoms: Sequence[np.random.Generator], scale: float, dot_precision: DotPrecision):
        self.samples, self.randoms, self.scale, self.dot_precision = samples, randoms, scale, dot_precision

    def rows(self, array: np.ndarray) -> np.ndarray:
        """An input that differs from run to run, floats of shape (runs, *shape), in all copies."""
        return np.repeat(np.asarray(array).astype(np.float64), 1 + self.samples, axis=0)

    def by_run(self, value: np.ndarray) -> np.ndarray:
        """A number's copies as (runs, copies, *shape); (1, 1, *shape) where all are alike."""
        runs = 1 if len(value) == 1 else len(self.randoms)
        return value.reshape(runs, len(value) // runs, *value.shape[1:])

    def exact(self, value: np.ndarray) -> np.ndarray:
        """Copy 0 of every run, (runs, *shape); (1, *shape) where all are alike."""
        return value[:: 1 + self.samples] if len(value) > 1 else value

    def argument(self, array: np.ndarray) -> np.ndarray:
        """An input of the program: a float of any dtype, or an integer that stays as it is."""
        return self.number(array) if jnp.issubdtype(np.asarray(array).dtype, jnp.floating) else array

    def constant(self, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """A constant, ±2u|c| if it is a rounded one: programs may round it differently."""
        value = np.asarray(array).astype(np.float64)
        rounded = np.isfinite(value) & ~_is_short(value, dtype)
        if not rounded.any():
            return self.number(value)
        error = np.where(rounded, 2 * unit_roundoff(dtype) * np.abs(value), 0.0)
        return self.noisy(self.number(value), error[None], np.zeros(len(self.randoms), bool))

    def evaluate(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results of one equation, with the error of its rounding.

        Raises:
            UnsupportedError: no bound is known for it.
        """
        results = super().evaluate(equation, operands)
        if not rounds(equation):
            return results
        exact = np.zeros(1, bool)
        if equation.primitive.name == "mul":
            exact = self._exact_products(operands, dtype_of(equation.outvars[0]))
        return results if exact.all() else [self.rounded(equation, operands, results[0], exact)]

    def rounded(
        self, equation: JaxprEqn, operands: Sequence[np.ndarray], result: np.ndarray, without: np.ndarray
    ) -> np.ndarray:
        """The result of a rounding equation with its error, but for the runs in which it is `without` one."""
        exact = [self.exact(x) for x in in_copies(equation, operands)]
        error = amplitude(equation, exact, self.exact(result), self.dot_precision)
        assert error is not None
        return self.noisy(result, error, np.broadcast_to(without, len(self.randoms)))

    def noisy(self, value: np.ndarray, error: np.ndarray, without: np.ndarray) -> np.ndarray:
        """The value plus ± the scaled error, (runs, *shape), independent signs in every copy but the first of a run.

        Runs `without` an error draw no signs, so that what other runs do does not change a run's noise.
        """
        shape = error.shape[1:]
        result = np.empty((len(self.randoms), 1 + self.samples, *shape))
        result[:, 0] = 0
        signs = self._signs(math.prod(shape), without).reshape(len(self.randoms), self.samples, *shape)
        np.multiply(signs, self.scale * error[:, None], out=result[:, 1:])
        return np.add(result, self.by_run(value), out=result).reshape(len(result) * (1 + self.samples), *shape)

    def _signs(self, size: int, without: np.ndarray) -> np.ndarray:
        """±1 in bytes, or 0, (runs, samples · size): multiplied, for to choose by random bits is six times as slow."""
        count = self.samples * size
        number = -(-count // 8)
        none = bytes(number)
        bits = [none if exact else random.bytes(number) for random, exact in zip(self.randoms, without, strict=True)]
        drawn = np.unpackbits(np.frombuffer(b"".join(bits), np.uint8).reshape(len(bits), number), axis=1, count=count)
        return (2 * drawn.view(np.int8) - 1) * ~without[:, None] if without.any() else 2 * drawn.view(np.int8) - 1

    def _exact_products(self, operands: Sequence[np.ndarray], dtype: np.dtype) -> np.ndarray:
        """Whether in a run one factor is zeros and ±1, alike in all copies, and no factor is subnormal: (runs,).

        So it is with I_N in I_N ⊗ W.
        """
        normal = float(jnp.finfo(dtype).smallest_normal)
        runs = [self.by_run(x) for x in operands]
        trivial = functools.reduce(np.logical_or, (_alike(x) & _everywhere((x == 0) | (np.abs(x) == 1)) for x in runs))
        if not trivial.any():
            return trivial
        return functools.reduce(np.logical_and, (_everywhere((x == 0) | (np.abs(x) >= normal)) for x in runs), trivial)


def _everywhere(which: np.ndarray) -> np.ndarray:
    """Whether something holds in all copies of a run: (runs, copies, *shape) → (runs,)."""
    return np.all(which.reshape(len(which), -1), axis=1)


def _alike(x: np.ndarray) -> np.ndarray:
    """Whether all copies of a run are alike: (runs, copies, *shape) → (runs,)."""
    return _everywhere(x == x[:, :1])


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
