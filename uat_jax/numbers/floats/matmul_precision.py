"""How precise a device's matrix product really is, measured on the device.

`precision="default"` means full float32 on one machine, TF32 (operands rounded to 11 bits) on another and one
bfloat16 pass (8 bits) on a third; a bfloat16 product may be accumulated in float32 or not. Two probes tell:

- **operands**: x · e_k must return an entry of x unchanged; the largest relative change is the roundoff;
- **accumulation**: Σ t_i of terms that cancel in pairs, shuffled, must be 0; what is left is accumulation error, whose
  size is compared with `accumulation_variance`.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.interpret.tracing import dtype_of
from uat_jax.typing import Array

TERMS = 1024
ROWS = 64


@dataclass(frozen=True)
class MatmulPrecision:
    """Relative errors of a dot product of one dtype at one matmul precision on one device.

    Attributes:
        operand: largest relative error with which an operand enters a product; 0 where it enters unchanged.
        accumulate: unit roundoff of the additions.
    """

    operand: float
    accumulate: float


def accumulation_variance(terms: int, total: Any, squares: Any) -> Array:
    """Σ_j E[S_j²] of the partial sums S_1 … S_n of n terms t_i taken in random order: (n + 1)(2 s² + Q)/6.

    `total` is s = Σ t_i and `squares` is Q = Σ t_i². Sampling without replacement gives E[S_j²] = j² s²/n²
    + j(n−j)/(n−1) · (Q/n − s²/n²); the sum over j = 1 … n is the formula. Each addition errs by at most
    u|S_j|, so u² times this is the variance of the accumulated error when the errors are independent; trees
    of additions (blocks, lanes, pairs) have smaller partial sums.
    """
    return (terms + 1) * (2 * total**2 + squares) / 6


@functools.cache
def unit_roundoff(dtype: jnp.dtype) -> float:
    """Half the distance from 1 to the next float: 2^-11, 2^-8 (bfloat16), 2^-24, 2^-53."""
    return float(jnp.finfo(dtype).eps) / 2


@functools.cache
def matmul_precision(dtype: np.dtype, precision: str, device: Any) -> MatmulPrecision:
    """Measure operand and accumulation roundoff of dot products of `dtype` on `device` (cached).

    `precision` is a JAX matmul precision: "default", "high" or "highest".
    """
    wide = np.dtype(dtype) == np.float64
    with jax.ensure_compile_time_eval(), jax.enable_x64(wide), jax.default_device(device):
        dots = jax.jit(functools.partial(_dots, precision=precision))
        narrowest = unit_roundoff(jnp.float64 if wide else jnp.float32)
        return MatmulPrecision(_operand(dots, dtype), _accumulate(dots, dtype, narrowest))


class DotPrecisions:
    """The effective precision of every dot_general equation met, on one device.

    Attributes:
        met: what was found, by dtype and matmul precision.
    """

    def __init__(self, device: Any, default: str):
        self.device, self.default = device, default
        self.met: dict[str, dict[str, float]] = {}
        self._of: dict[JaxprEqn, MatmulPrecision] = {}

    def __call__(self, equation: JaxprEqn) -> MatmulPrecision:
        """Measured for the dtype and precision of the equation; `default` where it states none."""
        if equation not in self._of:
            self._of[equation] = self._measured(equation)
        return self._of[equation]

    def _measured(self, equation: JaxprEqn) -> MatmulPrecision:
        dtype = np.result_type(*(dtype_of(atom) for atom in equation.invars))
        stated = equation.params["precision"]
        precision = str(stated[0] if isinstance(stated, tuple) else stated or self.default).lower()
        found = matmul_precision(np.dtype(dtype), precision, self.device)
        self.met[f"{dtype} {precision}"] = {"operand": found.operand, "accumulate": found.accumulate}
        return found


def _rows(dots, x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """x_i · y_i of all rows, computed in each of three ways, for rows of at most `TERMS` terms.

    Shorter ones are filled with zeros, which change no sum, so that one program serves both probes of a dtype.
    """
    filled = lambda a: np.pad(a, ((0, 0), (0, TERMS - a.shape[1])))
    vectors, matrices, mixed = map(np.asarray, dots(filled(x), filled(y)))
    return [vectors, np.diagonal(matrices), mixed[:, 0]]


def _dots(x: jax.Array, y: jax.Array, precision: str) -> tuple[jax.Array, ...]:
    """x_i · y_i by dot products, all x_i · y_j by a matrix product, and x_i · y_i by matrix-vector products."""
    vectors = jnp.einsum("ik,ik->i", x, y, precision=precision)
    matrices = jnp.einsum("ik,jk->ij", x, y, precision=precision)
    mixed = jnp.einsum("iak,ik->ia", jnp.broadcast_to(x, (2, *x.shape)).swapaxes(0, 1), y, precision=precision)
    return vectors, matrices, mixed


def _mantissas(random: np.random.Generator, shape: tuple[int, ...], exponent: int, dtype: np.dtype) -> np.ndarray:
    """Random floats of `dtype` with full mantissas, both signs and binary exponents in ±exponent."""
    signs = random.choice([-1.0, 1.0], shape)
    return (signs * 2.0 ** random.uniform(-exponent, exponent, shape)).astype(dtype)


def _operand(dots, dtype: np.dtype) -> float:
    random = np.random.default_rng(0)
    values = _mantissas(random, (ROWS, ROWS), 2, dtype)
    worst = 0.0
    for column in range(0, ROWS, 8):
        unit = np.broadcast_to(np.eye(ROWS, dtype=dtype)[column], values.shape)
        expected = values[:, column].astype(np.float64)
        for output in (*_rows(dots, values, unit), *_rows(dots, unit, values)):
            worst = max(worst, float(np.max(np.abs(np.asarray(output, np.float64) / expected - 1))))
    return _power_of_two(worst)


def _accumulate(dots, dtype: np.dtype, narrowest: float) -> float:
    random = np.random.default_rng(1)
    order = random.permutation(TERMS)
    half = _mantissas(random, (ROWS, TERMS // 2), 4, dtype)
    factor = _mantissas(random, (ROWS, TERMS // 2), 2, dtype)
    x = np.concatenate([half, -half], axis=1)[:, order]
    y = np.concatenate([factor, factor], axis=1)[:, order]
    squares = np.sum((x.astype(np.float64) * y.astype(np.float64)) ** 2, axis=1)
    modelled = np.sqrt(accumulation_variance(TERMS, 0.0, squares))
    measured = max(math.sqrt(np.mean((np.asarray(output, np.float64) / modelled) ** 2)) for output in _rows(dots, x, y))
    if measured <= narrowest:
        return narrowest
    return max(unit_roundoff(jnp.dtype(dtype)), _power_of_two(measured))


def _power_of_two(error: float) -> float:
    """The smallest power of two that is at least the error; 0 for 0."""
    return 2.0 ** math.ceil(math.log2(error)) if error else 0.0
