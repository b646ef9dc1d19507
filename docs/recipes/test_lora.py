"""A LoRA adapter beside the weights, and merged into them: equal for every adapter of every size."""

import jax
import jax.numpy as jnp

import uat_jax as uj

tokens, width, out, rank = jax.export.symbolic_shape("tokens, width, out, rank")
X, W, A, B = (
    jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((tokens, width), (width, out), (width, rank), (rank, out))
)
SCALE = 0.5


def beside(x, w, a, b):
    return x @ w + SCALE * (x @ a) @ b


def merged(x, w, a, b):
    return x @ (w + SCALE * a @ b)


def twice(x, w, a, b):
    """The adapter is merged, and still applied."""
    return merged(x, w, a, b) + SCALE * (x @ a) @ b


def test_merging_changes_nothing():
    assert uj.certify(beside, merged, X, W, A, B).verdict is uj.Verdict.PROVED


def test_merged_twice():
    assert uj.certify(beside, twice, X, W, A, B).verdict is uj.Verdict.REFUTED
