"""Scatters at places that depend on the inputs, against JAX and as pairs of functions."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax

import uat_jax as uj
from uat_jax import Verdict
from uat_jax.interpret.concrete import bind
from uat_jax.interpret.interpreter import called
from uat_jax.interpret.retracing import followed
from uat_jax.interpret.scattering import SCATTERS, combination
from uat_jax.interpret.tracing import shape_of
from uat_jax.numbers.prime_fields.data_scatters import UNKNOWN, Windows

X = jax.ShapeDtypeStruct((4,), jnp.float32)
A = jax.ShapeDtypeStruct((3, 4), jnp.float32)
EQUAL = (Verdict.PROVED, Verdict.CERTIFIED)

block = lambda r, i, u: lax.dynamic_update_slice(r, u, (i,))

SCATTERED = {
    "set": lambda x, i, u: x[0].at[i[0]].set(u[0, 0]),
    "several": lambda x, i, u: x[0].at[i].add(u[0, :3]),
    "clipped": lambda x, i, u: x[0].at[i].add(u[0, :3], mode="clip"),
    "subtracted": lambda x, i, u: x.at[i].subtract(u),
    "products": lambda x, i, u: x.at[:, i].multiply(u[:, :1]),
    "largest": lambda x, i, u: x.at[i[0], i].max(u[0, 0]),
    "smallest": lambda x, i, u: x.at[i[:2], i[1:]].min(u[0, :2]),
    "rows": lambda x, i, u: x.at[jnp.arange(3), i].set(u[:, 0]),
    "applied": lambda x, i, u: x[0].at[i[0]].apply(jnp.sin),
    "of every row": lambda x, i, u: jax.vmap(lambda r, k, v: r.at[k].set(v[0]))(x, i, u),
    "windows": lambda x, i, u: jax.vmap(block)(x, i, u[:, :2]),
    "windows that are dropped": lambda x, i, u: jax.vmap(
        lambda r, k, v: r.at[k + jnp.arange(2, dtype=k.dtype)].add(v[:2])
    )(x, i, u),
}


def in_windows(equation, operands):
    """The results of an equation, with scatters written out as if nothing were known of their indices."""
    function = called(equation)
    if function is not None:
        return followed(function, operands, lambda atom, x: x, in_windows)
    if equation.primitive.name not in SCATTERS:
        return bind(equation, operands)
    operand, indices, updates = map(shape_of, equation.invars)
    windows = Windows(equation.params, operand, indices, updates)
    with jax.enable_x64(True):
        known = np.full(indices, UNKNOWN)
        return [windows.written(*operands, known=known, combine=combination(equation))]


@pytest.mark.parametrize("name", SCATTERED)
def test_they_are_what_jax_computes(name):
    """At places inside and outside of the operand, for indices of three types."""
    random = np.random.default_rng(0)
    for dtype in (np.int32, np.uint8, np.int8):
        program = jax.make_jaxpr(SCATTERED[name])(A, jax.ShapeDtypeStruct((3,), dtype), A)
        written = jax.jit(lambda *given, program=program: followed(program, given, lambda atom, x: x, in_windows)[0])
        for _ in range(3):
            indices = jnp.asarray(random.permutation([-5, -4, -1, 0, 1, 2, 3, 4, 250])[:3]).astype(dtype)
            given = [
                jnp.asarray(random.normal(size=(3, 4)), np.float32),
                indices,
                jnp.asarray(random.normal(size=(3, 4)), np.float32),
            ]
            np.testing.assert_allclose(written(*given), jax.jit(SCATTERED[name])(*given), rtol=1e-6)


whole = lambda x: jnp.clip(x.astype(jnp.int32), 0, 2)
last = lambda x: jnp.argmax(x)
hot = lambda i, n=4: jax.nn.one_hot(i, n)
here = lambda i, n=4: jnp.arange(n) == i
ONE = np.float32(1)
LARGE = jax.ShapeDtypeStruct((300,), jnp.float32)
byte = lambda x: jnp.clip(x[0], 0, 9).astype(jnp.uint8)

SAME = {
    "set": (lambda x: x.at[last(x)].set(0), lambda x: jnp.where(here(last(x)), 0, x)),
    "set a number of the input": (
        lambda x: x.at[whole(x[0])].set(x[3]),
        lambda x: jnp.where(here(whole(x[0])), x[3], x),
    ),
    "add": (lambda x: x.at[whole(x[0])].add(x[1]), lambda x: x + x[1] * hot(whole(x[0]))),
    "multiply": (lambda x: x.at[last(x)].multiply(2), lambda x: x + x * hot(last(x))),
    "subtract": (lambda x: x.at[last(x)].subtract(1), lambda x: x - hot(last(x))),
    "maximum": (lambda x: x.at[last(x)].max(0), lambda x: jnp.where(here(last(x)), jnp.maximum(x, 0), x)),
    "minimum": (lambda x: x.at[whole(x[0])].min(1), lambda x: jnp.where(here(whole(x[0])), jnp.minimum(1, x), x)),
    "apply": (lambda x: x.at[last(x)].apply(jnp.sin), lambda x: jnp.where(here(last(x)), jnp.sin(x), x)),
    "sums of segments": (lambda x: jax.ops.segment_sum(x, whole(x), 3), lambda x: hot(whole(x), 3).T @ x),
    "in another order": (
        lambda x: jnp.zeros(3).at[whole(x)].add(x),
        lambda x: jnp.zeros(3).at[whole(x[::-1])].add(x[::-1]),
    ),
    "one number everywhere": (
        lambda x: x.at[whole(x[:2])].set(0),
        lambda x: jnp.where(here(whole(x[0])) | here(whole(x[1])), 0, x),
    ),
    "rows": (
        lambda x: jnp.zeros((2, 2)).at[jnp.arange(2), last(x.reshape(2, 2).T)[None] % 2].set(1),
        lambda x: jnp.zeros((2, 2)).at[jnp.arange(2)[::-1], last(x.reshape(2, 2).T)[None] % 2].set(1),
    ),
    "of every row": (jax.vmap(lambda r: r.at[last(r)].set(0)), jax.vmap(lambda r: jnp.where(here(last(r)), 0, r))),
    "minus infinity": (
        lambda x: x.at[last(x)].set(-jnp.inf),
        lambda x: jnp.where(here(last(x)), -jnp.inf, x),
    ),
    "a row of a matrix": (
        lambda x: x.at[whole(x[0, 0])].set(x[1]),
        lambda x: jnp.where(here(whole(x[0, 0]), 3)[:, None], x[1], x),
    ),
    "clipped": (
        lambda x: x.at[x[0].astype(jnp.int32)].set(0, mode="clip", wrap_negative_indices=False),
        lambda x: jnp.where(here(jnp.clip(x[0].astype(jnp.int32), 0, 3)), 0, x),
    ),
}

IN_ROWS = ("of every row", "a row of a matrix")


@pytest.mark.parametrize("name", SAME)
def test_two_writings_are_certified(name):
    found = uj.certify(*SAME[name], A if name in IN_ROWS else X)
    assert found.verdict in EQUAL, found.evidence


DIFFERENT = {
    "another place": (lambda x: x.at[last(x)].set(0), lambda x: jnp.where(here(jnp.argmin(x)), 0, x)),
    "another number": (lambda x: x.at[last(x)].set(1), lambda x: jnp.where(here(last(x)), 2, x)),
    "added twice or once": (lambda x: jnp.zeros(3).at[whole(x)].add(1), lambda x: jnp.zeros(3).at[whole(x)].max(1)),
    "one row less": (lambda x: jax.ops.segment_sum(x, whole(x), 3), lambda x: hot(whole(x[:3]), 3).T @ x[:3]),
    "the first of two ties": (lambda x: x.at[last(x)].set(0), lambda x: jnp.where(x == x.max(), 0, x)),
    # Five attacks on what lies outside, twice, or is no number.
    "clipped or dropped": (
        lambda x: x.at[whole(x[0]) + 2].set(0, mode="clip"),
        lambda x: x.at[whole(x[0]) + 2].set(0, mode="drop"),
    ),
    "256 in eight bits": (
        lambda x: x.at[byte(x)].set(0),
        lambda x: x.at[byte(x)].set(0).at[byte(x).astype(jnp.int32) + 256].set(0),
    ),
    "from the end": (
        lambda x: x.at[whole(x[0]) - 4].set(0),
        lambda x: x.at[whole(x[0]) - 4].set(0, wrap_negative_indices=False),
    ),
}


@pytest.mark.parametrize("name", one_in(2, DIFFERENT))
def test_other_places_are_refuted(name):
    specs = LARGE if "bits" in name else X
    assert uj.certify(*DIFFERENT[name], specs).verdict is Verdict.REFUTED


REFUSED = {
    "two numbers on one entry": (lambda x: x.at[whole(x[:2])].set(x[2:]), "may write several updates to one entry"),
    "twice on one entry": (lambda x: x.at[whole(x[:2])].apply(jnp.sin), "may write several updates to one entry"),
    "a promise": (lambda x: x.at[whole(x[0]) + 2].set(0, mode="promise_in_bounds"), "is promised to lie in 0 to 3"),
    "too many": (lambda x: jnp.zeros(2000).at[whole(jnp.repeat(x, 100))].add(1)[:4], "too often"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_decided_is_refused(name):
    function, message = REFUSED[name]
    found = uj.certify(function, lambda x: function(x) + (x - x), X, budget=10)
    assert found.verdict not in EQUAL and re.search(message, found.evidence[-1].finding), found.evidence


def test_a_place_that_may_be_nan_before_it_is_cast_is_not_known():
    """x/x is 1 but for one input, at which it is NaN, of which a cast makes 0."""
    at = lambda x: x.at[(x[0] / x[0]).astype(jnp.int32)].set(0)
    assert uj.certify(at, lambda x: x.at[1].set(0), X, budget=1).verdict not in EQUAL
