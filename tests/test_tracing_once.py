"""Each function is traced once at each assignment of sizes, whatever is found and computed beside it.

At the first sizes it is traced once more, to see that it is the same program again.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.decide.derivative import pulled_back
from uat_jax.decide.specification import Specification
from uat_jax.errors import NotEquivalentError

V = jax.ShapeDtypeStruct((3,), jnp.float32)
X = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n, m"), jnp.float32)
EVEN = jax.ShapeDtypeStruct(jax.export.symbolic_shape("2*n"), jnp.float32)
INTEGERS = np.array([2, 0, 1])


class Counted:
    """A function that counts how often it is called with inputs of the same shapes."""

    def __init__(self, function: Callable):
        self.function, self.calls, self.__name__ = function, Counter(), "counted"

    def __call__(self, *arguments: Any) -> Any:
        self.calls[str([np.shape(leaf) for leaf in jax.tree.leaves(arguments)])] += 1
        return self.function(*arguments)


@jax.custom_vjp
def doubled(x):
    return x + x


doubled.defvjp(lambda x: (doubled(x), None), lambda _, c: (2 * c,))


def folded(x):
    """The sum of both halves, which there are of an even number of entries only."""
    return x.reshape(2, -1).sum(axis=0)


def raising(x):
    """Where there is one column only, it cannot be traced."""
    if x.shape[1] == 1:
        raise ValueError("one column")
    return x - x.mean(axis=1, keepdims=True)


PATHS = {
    "certified": (lambda x: jnp.tanh(x) * 2, lambda x: jnp.tanh(x) + jnp.tanh(x), (V,), {}, "CERTIFIED"),
    "proved": (jnp.sin, lambda y: jnp.sin(y), (V,), {}, "PROVED"),
    "refuted": (jnp.sin, lambda x: jnp.sin(x) + x, (V,), {}, "REFUTED"),
    "refuted at a tie": (jnp.sign, lambda x: jnp.where(x >= 0, 1.0, -1.0).astype(x.dtype), (V,), {}, "REFUTED"),
    "almost everywhere": (
        jnp.sign,
        lambda x: jnp.where(x >= 0, 1.0, -1.0).astype(x.dtype),
        (V,),
        {"almost_everywhere": True},
        "CERTIFIED",
    ),
    "vacuous": (jnp.zeros_like, lambda x: jnp.ones_like(x) - 1, (V,), {}, "UNKNOWN"),
    "agreeing": (jax.lax.lgamma, lambda x: jax.lax.lgamma(x + 1) - jnp.log(x), (V,), {}, None),
    "integers": (lambda x, i: x[i] * 2, lambda x, i: x[i] + x[i], (V, INTEGERS), {}, "CERTIFIED"),
    "derivatives": (doubled, lambda x: 2 * x, (V,), {"wrt": "grad"}, "CERTIFIED"),
    "derivatives refuted": (doubled, lambda x: 3 * x, (V,), {"wrt": "grad"}, "REFUTED"),
    "symbolic": (lambda x: x * 2, lambda x: x + x, (X,), {}, "AGREES"),
    "symbolic refuted": (lambda x: x - x.mean(axis=1, keepdims=True), lambda x: x - x.mean(), (X,), {}, "REFUTED"),
    "symbolic refuted from the start": (lambda x: x, lambda x: 2 * x, (X,), {}, "REFUTED"),
    "sizes that do not fit": (raising, lambda x: 2 * raising(x), (X,), {}, "REFUTED"),
    "derived sizes": (folded, lambda x: 2 * folded(x), (EVEN,), {}, "REFUTED"),
    "listed": (lambda x: x * 2, lambda x: x + x, (X,), {"sizes": [{"n": 2, "m": 3}, {"n": 3, "m": 2}]}, "CERTIFIED"),
    "listed refuted": (lambda x: x, lambda x: 2 * x, (X,), {"sizes": [{"n": 2, "m": 3}]}, "REFUTED"),
}


@pytest.mark.parametrize("name", PATHS)
def test_certify_traces_once(name, tmp_path):
    left, right, specs, settings, verdict = PATHS[name]
    sides = Counted(left), Counted(right)
    certificate = uj.certify(*sides, *specs, **settings)
    assert verdict is None or certificate.verdict == verdict, certificate
    certificate.save(tmp_path / "certificate.json")  # with rounding and hazards
    for side in sides:
        assert _once_and_again(side.calls), side.calls


def _once_and_again(calls):
    """Once at each size, and at one of them once more."""
    return sorted(calls.values()) == [1] * (len(calls) - 1) + [2]


@pytest.mark.parametrize("name", PATHS)
def test_assert_equivalent_traces_once(name):
    left, right, specs, settings, verdict = PATHS[name]
    sides = Counted(left), Counted(right)
    try:
        uj.assert_equivalent(*sides, *specs, **settings, rounding=1e9, hazards="ignore")
    except NotEquivalentError:
        assert verdict not in ("PROVED", "CERTIFIED")
    for side in sides:
        assert _once_and_again(side.calls), side.calls


# --- derivatives of what was traced already --------------------------------------------------------------------------


@jax.custom_vjp
def wrongly_pulled(x):
    return x + x


wrongly_pulled.defvjp(lambda x: (wrongly_pulled(x), None), lambda _, c: (3 * c,))


@jax.custom_jvp
def wrongly_pushed(x):
    return x + x


@wrongly_pushed.defjvp
def _(primals, tangents):
    return wrongly_pushed(*primals), 3 * tangents[0]


def scanned(function):
    """The function applied three times in a loop."""
    return lambda x: jax.lax.scan(lambda carried, _: (function(carried), None), x, None, length=3)[0]


def chosen(x):
    return jax.lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)


OWN_DERIVATIVES = {
    "custom_vjp": wrongly_pulled,
    "custom_jvp": wrongly_pushed,
    "custom_vjp in jit": jax.jit(wrongly_pulled),
    "custom_jvp in a loop": scanned(wrongly_pushed),
    "custom_vjp in a loop": scanned(wrongly_pulled),
    "custom_jvp for every row": jax.vmap(wrongly_pushed),
    "custom_vjp in a checkpoint": jax.checkpoint(lambda x: jnp.sin(wrongly_pulled(x))),
}


@pytest.mark.parametrize("name", OWN_DERIVATIVES)
def test_a_derivative_of_its_own_is_compared(name):
    """The values are equal, and the derivatives are not; those of the function and of itself are."""
    plain = {"custom_jvp in a loop": lambda x: 8 * x, "custom_vjp in a loop": lambda x: 8 * x}
    plain["custom_vjp in a checkpoint"] = lambda x: jnp.sin(2 * x)
    function, other = OWN_DERIVATIVES[name], plain.get(name, lambda x: 2 * x)
    assert uj.certify(function, other, V).passes
    assert uj.certify(function, other, V, wrt="grad").verdict is uj.Verdict.REFUTED
    assert uj.certify(function, lambda x: function(x * 1), V, wrt="grad").passes


ANY = {**OWN_DERIVATIVES, "tanh": jnp.tanh, "a loop": scanned(jnp.sin), "a choice": chosen, "two": lambda x: (x, x * x)}


@pytest.mark.parametrize("name", ANY)
def test_derivatives_are_those_of_the_function(name):
    """The program of `pulled_back` and jax.vjp of the function itself are the same operations on the same numbers."""
    function = ANY[name]
    derivative, _, specification = pulled_back(function, function, Specification((V,)))
    x = np.array([0.5, -1.25, 2.0], np.float32)
    outputs, pull = jax.vjp(function, x)
    cotangents = jax.tree.map(lambda y: y + 1, outputs)
    found, wanted = derivative(x, cotangents), (outputs, pull(cotangents))
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        # XLA may fuse the operations otherwise: a few roundings of numbers below 2^6
        np.testing.assert_allclose(a, b, rtol=0, atol=2.0**-24 * 2**9)
    inputs = [leaf.shape for leaf in jax.tree.leaves(specification.arguments)]
    assert inputs == [(3,), *(y.shape for y in jax.tree.leaves(outputs))]
