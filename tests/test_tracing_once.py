"""Each function is traced once at each assignment of sizes, whatever is found and computed beside it."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
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
        self.calls[tuple(np.shape(leaf) for leaf in jax.tree.leaves(arguments))] += 1
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
        assert side.calls and set(side.calls.values()) == {1}, side.calls


@pytest.mark.parametrize("name", PATHS)
def test_assert_equivalent_traces_once(name):
    left, right, specs, settings, verdict = PATHS[name]
    sides = Counted(left), Counted(right)
    try:
        uj.assert_equivalent(*sides, *specs, **settings, rounding=1e9, hazards="ignore")
    except NotEquivalentError:
        assert verdict not in ("PROVED", "CERTIFIED")
    for side in sides:
        assert side.calls and set(side.calls.values()) == {1}, side.calls
