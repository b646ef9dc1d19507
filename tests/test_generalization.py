"""Proofs for all sizes that are asked for at some sizes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.decide.generalization import generalizations

f32 = lambda *shape: jax.ShapeDtypeStruct(shape, np.float32)
product = lambda a, b: jnp.matmul(a, b, precision="highest")
heads = lambda x: x.reshape(x.shape[0], 2, 3)


def attended(q, k, v):
    e = jnp.exp(product(q, k.T))
    return product(e, v) / e.sum(1, keepdims=True)


ALL_SIZES = {
    "attention": (
        lambda q, k, v: product(jax.nn.softmax(product(q, k.T), -1), v),
        attended,
        (f32(4, 3), f32(5, 3), f32(5, 2)),
    ),
    "one of two sizes is fixed by a reshape": (
        lambda x: heads(x) + heads(x),
        lambda x: heads(np.float32(2) * x),
        (f32(4, 6),),
    ),
    "a domain": (jnp.abs, lambda x: x, (uj.nonnegative(f32(7)),)),
}


@pytest.mark.parametrize("name", ALL_SIZES)
def test_a_proof_for_all_sizes_is_found(name):
    left, right, specs = ALL_SIZES[name]
    found = uj.certify(left, right, *specs, generalize=True)
    assert found.verdict is uj.Verdict.PROVED and found.evidence[0].subject == "all sizes"
    assert found.claim["symbols"]


AT_THESE = {
    "a window of as many entries": (lambda x: x[:4].sum(), jnp.sum, f32(4)),
    "a size that is compared": (lambda x: x * np.float32(x.shape[0] == 4), lambda x: x, f32(4)),
    "a mean over four": (lambda x: x.sum() / np.float32(4), jnp.mean, f32(4)),
}


@pytest.mark.parametrize("name", AT_THESE)
def test_what_holds_at_these_sizes_alone_is_no_more(name):
    left, right, spec = AT_THESE[name]
    found = uj.certify(left, right, spec, generalize=True)
    assert found.passes and not found.claim["symbols"] and all(e.subject != "all sizes" for e in found.evidence)


def test_what_differs_is_refuted_at_the_sizes_that_were_asked():
    found = uj.certify(lambda x: x.sum(), lambda x: x.mean(), f32(4), generalize=True)
    assert found.verdict is uj.Verdict.REFUTED and not found.claim["symbols"]


def test_the_most_general_comes_first():
    shapes = [tuple(map(str, general[0].shape)) for general in generalizations((f32(4, 6, 4, 1),))]
    assert shapes == [("n4", "n6", "n4", "1"), ("4", "n6", "4", "1"), ("n4", "6", "n4", "1")]
