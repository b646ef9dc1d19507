"""Random residual networks with a bound on the error of every order of evaluation, and how their answers are checked.

The layers have σ = relu, ‖A_j‖_∞ = 1/2, ‖B_j‖_∞ = 1, ‖C_j‖_∞ = 1/4, entries of b_j and c_j between ±1/4 and ±1/2, and
|x_0| ≤ 1 (maximum norms).  By induction |x_j| ≤ 3/4 |x_{j-1}| + 5/8 ≤ 5/2, the arguments of σ are at most 3, and the
affine part and the sum at most 1 and 3/2, for every depth.  One product of a matrix with a vector in dtype, of inner
length K, is off by at most ε ‖W‖ |x| with ε = γ_K + u: u is the unit roundoff of the dtype and γ_K = K v / (1 − K v)
that of the accumulation, in float32 at least (Higham 2002, §3.1).  σ is exact, and a sum of two is off by u times it.
To first order, one layer adds to the error e of what it is given

    network     e ← 3/4 e + 2.7 ε + 6 u                                                 hence  e ≤ 10.8 ε + 24 u
    merged      E(Ŵ_{j,1}) ≤ j 2⁻ʲ ε,  E(Ŵ_{j,2}) ≤ ε,  E(b̂_{j,3}) ≤ ε + 2u,  E(B_j b̂_{j-1,3} + b_j) ≤ 2ε + 4u,
                so that the sum's is e ← 3/4 e + 2.9 ε + 4 u, and x_L's 2.5 ε + 7 u more  hence  e ≤ 14.1 ε + 23 u
    nested      E(W̃_k^{(j)}) ≤ (j−k) 2^{k−j−2} ε: 1.5 ε in the sum, 1.5 ε for its products and 3 u for adding them,
                e ← 1/2 (e + 5.5 ε + 10 u) + 3 ε + 3 u                                  hence  e ≤ 14.1 ε + 23 u

15 ε + 25 u covers all three with what is of second order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from uat_jax.bench.case import Experiment, Program, WrongAnswerError
from uat_jax.networks import ResidualLayer
from uat_jax.networks.residual import residual_layer
from uat_jax.networks.stack import Stack, carry
from uat_jax.typing import PyTree

SIGMA = jax.nn.relu
Arrays = Mapping[str, jax.Array]


class Residual(NamedTuple):
    """Networks, inputs, and the results in float64."""

    weights: dict[str, jax.Array]
    """``{"A_j": (L, D, D), "B_j": (L, F, D), …}``; (L, n, D, D), … if every input has parameters of its own."""
    inputs: jax.Array
    """(D, n), one input per column."""
    exact: np.ndarray
    """(D, n)."""

    @property
    def last_bias(self) -> np.ndarray:
        """c_L, (D, 1), or (D, n) if every input has its own."""
        c = np.asarray(self.weights["c_j"], np.float64)
        return c[-1][:, None] if c.ndim == 2 else c[-1].T


def draw(depth: int, width: int, hidden: int, batch: int, dtype: str, *, each: bool = False) -> Residual:
    """Layers as described above, one set for all inputs or for each; A_j is half the identity and noise."""
    random = np.random.default_rng(0)
    layers = [_weights(random, depth, width, hidden) for _ in range(batch if each else 1)]
    stacked = {name: np.stack([weights[name] for weights in layers], axis=1) for name in layers[0]}
    weights = {name: jnp.asarray(array if each else array[:, 0], dtype) for name, array in stacked.items()}
    inputs = jnp.asarray(random.uniform(-1, 1, (width, batch)), dtype)
    return Residual(weights, inputs, _exact(weights, inputs))


def last_layers(of: Residual, depth: int) -> Residual:
    """The network of the last so many layers."""
    weights = {name: stack[-depth:] for name, stack in of.weights.items()}
    return Residual(weights, of.inputs, _exact(weights, of.inputs))


def _weights(random: np.random.Generator, depth: int, width: int, hidden: int) -> dict[str, np.ndarray]:
    L, D, F = depth, width, hidden
    return {
        "A_j": np.eye(D, dtype=np.float32) / 4 + _rows(random, 1 / 4, L, D, D),
        "B_j": _rows(random, 1, L, F, D),
        "C_j": _rows(random, 1 / 4, L, D, F),
        "b_j": _biases(random, L, F),
        "c_j": _biases(random, L, D),
    }


def _rows(random: np.random.Generator, norm: float, *shape: int) -> np.ndarray:
    """Matrices whose rows have that sum of absolute values."""
    entries = random.standard_normal(shape, np.float32)
    return norm * entries / np.abs(entries).sum(axis=-1, keepdims=True)


def _biases(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.choice([-1, 1], shape) * random.uniform(1 / 4, 1 / 2, shape)


def _exact(weights: Arrays, inputs: jax.Array) -> np.ndarray:
    """The network in NumPy, one layer after the other: for all columns, or for each with its own parameters."""
    layers, x = [np.asarray(weights[f"{name}_j"], np.float64) for name in "ABCbc"], np.asarray(inputs, np.float64)
    if layers[0].ndim == 3:
        return _layers(layers, x)
    own = [[stack[:, n] for stack in layers] for n in range(x.shape[1])]
    return np.concatenate([_layers(own[n], x[:, n : n + 1]) for n in range(x.shape[1])], axis=1)


def _layers(weights: Sequence[np.ndarray], x: np.ndarray) -> np.ndarray:
    for A, B, C, b, c in zip(*weights, strict=True):
        x = A @ x + c[:, None] + C @ np.maximum(B @ x + b[:, None], 0)
    return x


def network(weights: Arrays, x: jax.Array) -> jax.Array:
    """The plain network, a loop over its layers, for one input x_0 (D,)."""
    layers = ResidualLayer(*(weights[f"{name}_j"] for name in ResidualLayer._fields))
    return carry(lambda x, layer, _: residual_layer(layer, x, SIGMA), x, Stack(layers))


def network_of_columns(weights: Arrays, x: jax.Array) -> jax.Array:
    """The plain network for every column of x_0 (D, n), in one product: biases are columns (L, F, 1), (L, D, 1)."""
    return network({**weights, **{name: weights[name][..., None] for name in ("b_j", "c_j")}}, x)


def roundings(inner: int, dtype: DTypeLike) -> tuple[float, float]:
    """ε and u for products of that inner length."""
    u = float(jnp.finfo(dtype).eps) / 2
    v = min(u, float(jnp.finfo(jnp.float32).eps) / 2)
    return inner * v / (1 - inner * v) + u, u


def tolerance(inner: int, dtype: DTypeLike) -> float:
    """The tolerance for an answer in dtype and the reference in float64 together."""
    return sum(15 * ε + 25 * u for ε, u in (roundings(inner, dtype), roundings(inner, np.float64)))


def experiment(networks: Mapping[str, Residual], programs: Mapping[str, Program], **aims: PyTree) -> Experiment:
    """Programs that give x_L of every input of their network; the wrong answer lacks the last layer's c_L.

    The networks share their last layer and the dtype.
    """
    of = next(iter(networks.values()))
    allowed = tolerance(of.weights["B_j"].shape[-2], of.inputs.dtype)
    check = lambda name, answer: compare(name, answer, networks[name].exact, allowed)
    return Experiment(programs, check, lambda answer: np.asarray(answer, np.float64) - of.last_bias, **aims)


def compare(name: str, answer: PyTree, exact: np.ndarray, allowed: float) -> None:
    """Raise `WrongAnswerError` for an answer of another shape, or further off than rounding explains."""
    found = np.asarray(answer, np.float64)
    if found.shape != exact.shape:
        raise WrongAnswerError(f"{name}: the answer has shape {found.shape}, wanted {exact.shape}")
    off = float(np.max(np.abs(found - exact)))
    if not off <= allowed:
        raise WrongAnswerError(f"{name}: {off:.3g} off, where rounding explains {allowed:.3g}")


def count(width: int, hidden: int, batch: int) -> Callable[[float, float], float]:
    """(products with a D × D matrix, with a D × F or F × D one) → operations for all inputs."""
    return lambda square, oblong: 2.0 * batch * (square * width**2 + oblong * width * hidden)


def compositions(depth: int) -> int:
    """How many maps `jax.lax.associative_scan` composes: n//2 pairs, those of half the length, and what is between."""
    if depth < 2:
        return 0
    return depth // 2 + compositions(depth // 2) + (depth - 1) // 2
