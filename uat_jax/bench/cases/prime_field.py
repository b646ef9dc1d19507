"""One network in two writings at a random point of prime fields, against their float32 forward passes.

A residual network is written as a loop over its layers and, layer by layer, with its products as sums; the weights are
inputs.  A *draw* evaluates both in four copies of a prime field and compares every output; *certify* is as many draws
and copies as a chance of error of 2⁻¹²⁸ asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.bench.case import Case, Experiment, Program, WrongAnswerError
from uat_jax.bench.residual import SIGMA, draw, network, tolerance
from uat_jax.certify.prime_fields import PROBE, PrimeFields

LOG2_ERROR = -128.0


def build(depth: int, width: int, hidden: int, batch: int, dtype: str) -> Experiment:
    """Both writings in floats (the baseline), one draw, and a certificate."""
    of = draw(depth, width, hidden, batch, dtype)
    allowed = tolerance(max(width, hidden), of.inputs.dtype)
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), (of.weights, of.inputs))
    traced = tuple(jax.make_jaxpr(writing)(*shapes) for writing in (_loop, _layer_by_layer))
    both = lambda weights, inputs: (_loop(weights, inputs), _layer_by_layer(weights, inputs))
    programs = {
        "float32" if dtype == "float32" else dtype: Program(both, (of.weights, of.inputs)),
        "draw": Program(_draw, traced, compiled=False),
        "certify": Program(_certify, traced, compiled=False),
    }

    def check(name: str, answer: Any) -> None:
        if isinstance(answer, bool):
            if not answer:
                raise WrongAnswerError(f"{name}: the writings were not found to be equal")
            return
        left, right = (np.asarray(x) for x in answer)
        if left.dtype == np.int64:
            off, most = np.any(left != right), 0
        else:
            off, most = max(np.abs(np.asarray(x, np.float64) - of.exact).max() for x in (left, right)), allowed
        if not off <= most:
            raise WrongAnswerError(f"{name}: the writings are {off:.3g} off, wanted at most {most:.3g}")

    def wrong(answer: Any) -> Any:
        """Without the last bias; a residue off by one; not certified."""
        if isinstance(answer, bool):
            return not answer
        left, right = (np.asarray(x) for x in answer)
        return left, right - (1 if right.dtype == np.int64 else of.last_bias)

    return Experiment(programs, check, wrong)


def _loop(weights: Mapping[str, jax.Array], inputs: jax.Array) -> jax.Array:
    return jax.vmap(network, in_axes=(None, 1), out_axes=1)(weights, inputs)


def _layer_by_layer(weights: Mapping[str, jax.Array], inputs: jax.Array) -> jax.Array:
    x = inputs
    for j in range(len(weights["A_j"])):
        A, B, C, b, c = (weights[f"{name}_j"][j] for name in "ABCbc")
        hidden = SIGMA(b[:, None] + _product(B, x))
        x = _product(jnp.concatenate([C, A], axis=1), jnp.concatenate([hidden, x])) + c[:, None]
    return x


def _product(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.einsum("ik,kn->in", a, b, precision="highest")


def _draw(left: ClosedJaxpr, right: ClosedJaxpr) -> tuple[np.ndarray, np.ndarray]:
    """The residues of both outputs at one random point, (copies, D, n)."""
    fields = PrimeFields(left, right)
    drawn = fields.draw((PROBE,) * (fields.depth.plain + 1), 0, fields.laws - {"exponential form"})
    (x,), (y,) = drawn.left, drawn.right
    return x.residues.levels[0], y.residues.levels[0]


def _certify(left: ClosedJaxpr, right: ClosedJaxpr) -> bool:
    found = PrimeFields(left, right).compare(LOG2_ERROR)
    return found.equal and found.log2_error <= LOG2_ERROR


def _size(depth: int, width: int, batch: int = 8, dtype: str = "float32") -> Mapping[str, Any]:
    return {"depth": depth, "width": width, "hidden": 4 * width, "batch": batch, "dtype": dtype}


CASES = (
    Case(
        name="prime-field",
        question="What does evaluating a network in prime fields cost over its float forward pass?",
        build=build,
        quick=(_size(2, 4, 2),),
        standard=(_size(6, 64), _size(6, 256)),
        full=(*(_size(depth, 64) for depth in (1, 3, 6, 12, 24)), *(_size(6, width) for width in (16, 128, 256, 512))),
        axes=("depth", "width"),
        rounds=5,
    ),
)
