"""What may stand for a function and for an input: modules of libraries, dataclasses, partials, methods, fixed values.

Each row has a right function and a wrong one.
"""

import dataclasses
import functools
import itertools
from typing import Any

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import uat_jax as uj
from uat_jax.decide.assumption import AssumptionKind
from uat_jax.decide.repeatable import differ

pytestmark = pytest.mark.usefixtures("standard_promotion")

V = jax.ShapeDtypeStruct((3,), jnp.float32)
X = jax.ShapeDtypeStruct((4, 3), jnp.float32)
KEY = jax.random.key(0)


@functools.partial(jax.tree_util.register_dataclass, data_fields=["w", "b"], meta_fields=["act"])
@dataclasses.dataclass
class Layer:
    """A dataclass that JAX knows as a tree."""

    w: Any
    b: Any
    act: str = "tanh"

    def __call__(self, x):
        return getattr(jnp, self.act)(x @ self.w + self.b)


@dataclasses.dataclass
class Unknown:
    """A dataclass that JAX does not know; its method is a function like others."""

    factor: float

    def scaled(self, x, *, shift=0.0):
        return x * self.factor + shift

    __call__ = scaled

    @classmethod
    def of_class(cls, x):
        return x * 2.0

    @staticmethod
    def of_none(x):
        return x * 2.0


def activated(x, *, scale, act="relu"):
    """Static and keyword-only arguments."""
    return getattr(jax.nn, act)(x * scale)


MLP = eqx.nn.MLP(3, 2, 4, 1, key=KEY)
ARRAYS, STATIC = eqx.partition(MLP, eqx.is_array)
DENSE = nn.Dense(2)
PARAMETERS = jax.eval_shape(DENSE.init, KEY, jnp.ones((4, 3)))
BOUND = nn.Dense(2).bind({"params": {"kernel": jnp.full((3, 2), 0.5), "bias": jnp.ones(2)}})
LINEAR = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
BIAS: Any = LINEAR.bias
NORM = nnx.BatchNorm(3, rngs=nnx.Rngs(0))
GRAPH, STATE = nnx.split(LINEAR)
LAYER = Layer(jax.ShapeDtypeStruct((3, 2), jnp.float32), jax.ShapeDtypeStruct((2,), jnp.float32))


def mlp(model, x, act=jax.nn.relu):
    """What `eqx.nn.MLP` of one hidden layer is."""
    first, last = model.layers
    return last.weight @ act(first.weight @ x + first.bias) + last.bias


def normed(x, centre=jnp.mean):
    """What a norm over a batch does, for the module of one."""
    return lambda m: (x - centre(x, 0)) / jnp.sqrt(jnp.var(x, 0) + 1e-5) * m.scale[...] + m.bias[...]


KINDS = {
    "equinox module": (MLP, lambda x: mlp(MLP, x), lambda x: mlp(MLP, x, jnp.tanh), (V,)),
    "equinox module as input": (lambda m, x: m(x), mlp, lambda m, x: mlp(m, x, jnp.tanh), (MLP, V)),
    "equinox module without values as input": (
        lambda m, x: m(x),
        mlp,
        lambda m, x: mlp(m, x, jnp.tanh),
        (eqx.filter_eval_shape(eqx.nn.MLP, 3, 2, 4, 1, key=KEY), V),
    ),
    "equinox module in two parts": (
        lambda arrays, x: eqx.combine(arrays, STATIC)(x),
        mlp,
        lambda m, x: mlp(m, x, jnp.tanh),
        (ARRAYS, V),
    ),
    "method of flax.linen": (
        DENSE.apply,
        lambda p, x: x @ p["params"]["kernel"] + p["params"]["bias"],
        lambda p, x: x @ p["params"]["kernel"] - p["params"]["bias"],
        (PARAMETERS, X),
    ),
    "bound module of flax.linen": (
        BOUND,
        lambda x: (x.sum(1, keepdims=True) + 2) / 2 + jnp.zeros(2),
        lambda x: (x.sum(1, keepdims=True) + 1) / 2 + jnp.zeros(2),
        (X,),
    ),
    "nnx module": (
        LINEAR,
        lambda x: jnp.matmul(x, LINEAR.kernel[...]) + BIAS[...],
        lambda x: jnp.matmul(x, LINEAR.kernel[...]) + 1,
        (X,),
    ),
    "nnx module as input": (
        lambda m, x: m(x),
        lambda m, x: m.bias[...] + x @ m.kernel[...],
        lambda m, x: x @ m.kernel[...],
        (LINEAR, X),
    ),
    "nnx module in two parts": (
        lambda state, x: nnx.merge(GRAPH, state)(x),
        lambda state, x: state["bias"][...] + x @ state["kernel"][...],
        lambda state, x: x @ state["kernel"][...],
        (STATE, X),
    ),
    "nnx module that changes its state, as input": (
        lambda m, x: m(x),
        lambda m, x: normed(x)(m),
        lambda m, x: normed(x, jnp.median)(m),
        (NORM, X),
    ),
    "dataclass as input": (
        lambda layer, x: layer(x),
        lambda layer, x: jnp.tanh(layer.b + jnp.matmul(x, layer.w)),
        lambda layer, x: layer.b + jnp.matmul(x, layer.w),
        (LAYER, X),
    ),
    "dataclass that can be called": (Unknown(2.0), lambda x: x + x, lambda x: x * x, (V,)),
    "bound method": (Unknown(2.0).scaled, lambda x: x + x, lambda x: x * x, (V,)),
    "class method": (Unknown.of_class, lambda x: x + x, lambda x: x * x, (V,)),
    "static method": (Unknown.of_none, lambda x: x + x, lambda x: x * x, (V,)),
    "partial": (
        functools.partial(activated, scale=2.0, act="tanh"),
        lambda x: jnp.tanh(x + x),
        lambda x: jnp.tanh(x),
        (V,),
    ),
    "partial with an array": (
        functools.partial(jnp.multiply, np.float32(2)),
        lambda x: x + x,
        lambda x: x * x,
        (V,),
    ),
    "static argument of jit bound": (
        functools.partial(jax.jit(activated, static_argnames=["act"]), scale=1.0, act="tanh"),
        jnp.tanh,
        jnp.sin,
        (V,),
    ),
    "static argument of jit": (
        jax.jit(lambda n, x: x * n, static_argnums=0),
        lambda n, x: sum([x] * n),
        lambda n, x: sum([x] * n) + x,
        (3, V),
    ),
    "flag": (lambda x, up: x + 1 if up else x - 1, lambda x, up: 1 + x, lambda x, up: x - 1, (V, True)),
    "text": (
        lambda x, act: getattr(jnp, act)(x),
        lambda x, act: {"tanh": jnp.tanh}[act](x),
        lambda x, act: jnp.sin(x),
        (V, "tanh"),
    ),
    "axis": (lambda x, axis: x.sum(axis), lambda x, axis: x.T.sum(1 - axis), lambda x, axis: 2 * x.sum(axis), (X, 1)),
    "number": (lambda x, c: c * x, lambda x, c: x * 4 / c, lambda x, c: x * c * c, (V, 2.0)),
    "function": (lambda x, act: act(x), lambda x, act: jax.nn.silu(x), lambda x, act: x, (V, jax.nn.swish)),
    "dtype": (lambda x, of: x.astype(of) * 2, lambda x, of: x + x, lambda x, of: x * x, (V, jnp.dtype("float32"))),
    "nothing": (lambda x, mask: x + x, lambda x, mask: 2 * x, lambda x, mask: x, (V, None)),
    "fixed values inside a tree": (
        lambda p, x: p["w"] * x if p["on"] else x,
        lambda p, x: x * p["w"],
        lambda p, x: x,
        ({"w": V, "on": True}, V),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_functions_and_inputs_of_every_kind(kind):
    left, right, wrong, specs = KINDS[kind]
    assert uj.certify(left, right, *specs), kind
    assert uj.certify(left, wrong, *specs).verdict is uj.Verdict.REFUTED, kind


# --- fixed values -----------------------------------------------------------------------------------------------------


def _fixed(certificate):
    return [str(a) for a in certificate.assumptions if a.kind is AssumptionKind.STATIC_INPUT]


def test_the_claim_says_what_is_fixed(tmp_path):
    certificate = uj.certify(lambda x, act, n: act(x) * n, lambda x, act, n: n * jnp.tanh(x), V, jnp.tanh, 3)
    assert certificate.passes and certificate.claim["inputs"] == ["float32[3]"]
    said = ["input [1], which is no array, is fixed to tanh", "input [2], which is no array, is fixed to 3"]
    assert _fixed(certificate) == said
    again = uj.recheck(certificate.save(tmp_path / "c.json"))
    assert again.passes and _fixed(again) == said


def test_a_fixed_value_is_no_law():
    """The twin: functions that are equal at one value only are equal at that value, and refuted at another."""
    left, right = lambda x, n: x * n, lambda x, n: x + x
    assert uj.certify(left, right, V, 2) and not uj.certify(left, right, V, 3)
    assert _fixed(uj.certify(left, right, V, True)) == ["input [1], which is no array, is fixed to True"]


def scaled(x, factor, shift):
    """A function with fixed arguments, for a program that shows a difference."""
    return x * factor + shift


def scaled_wrongly(x, factor, shift):
    """The wrong one."""
    return x * factor - shift


def test_a_program_that_shows_a_difference_has_the_fixed_values():
    certificate = uj.certify(scaled, scaled_wrongly, V, 2.5, 1)
    assert certificate.counterexample and ", 2.5, 1)" in certificate.counterexample.program
    infinite = uj.certify(scaled, lambda x, factor, shift: x, V, 2.5, float("inf"))
    assert not infinite
    parametrized = uj.certify(scaled, scaled_wrongly, uj.simplex(V), 2.5, 1)
    assert parametrized.counterexample and ", 2.5, 1)" in parametrized.counterexample.program


def test_names_of_inputs_and_functions_are_those_of_the_user():
    certificate = uj.certify(functools.partial(scaled, shift=1), lambda x, factor: x, uj.positive(V), 2.5)
    assert certificate.claim["left"] == f"partial of {__name__}:scaled"
    assert any(str(a).startswith("x > 0") for a in certificate.assumptions)


def test_functions_of_jax_are_named_by_where_users_find_them():
    certificate = uj.certify(jax.nn.relu, jax.numpy.abs, V)
    assert (certificate.claim["left"], certificate.claim["right"]) == ("jax.nn:relu", "jax.numpy:abs")
    assert certificate.counterexample and "from jax.nn import relu as left" in certificate.counterexample.program
    assert not any("jax._src" in uj.certify(f, f, V).claim["left"] for f in (jax.lax.sin, jax.scipy.special.expit))


def test_fixed_values_beside_symbolic_sizes_and_derivatives():
    n = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    assert uj.certify(lambda x, c: c * x, lambda x, c: x * c, n, 3).verdict is uj.Verdict.PROVED
    assert uj.certify(lambda x, act: act(x) * 2, lambda x, act: act(x) + act(x), V, jnp.tanh, wrt="grad")


BAD = {
    "dataclass": (lambda p, x: x * p.factor, (Unknown(2.0), V), "input [0] is a Unknown; JAX knows its fields once"),
    "object": (lambda p, x: x, (object(), V), "input [0] is a object; pass an array"),
    "keyword-only argument": (activated, (V,), "missing 1 required keyword-only argument: 'scale'; bind it with"),
    "nnx module that changes its state": (NORM, (X,), "such as lambda module, x: module(x), and pass the module"),
    "unbound module of flax.linen": (nn.Dense(2), (PARAMETERS, X), "pass module.apply, whose first input"),
    "equinox module in training": (eqx.nn.Dropout(0.5), (V,), "Dropout requires a key"),
    "list for a static argument": (
        jax.jit(lambda x, axes: x.sum(axes[0]), static_argnums=1),
        (X, [0, 1]),
        "a list, which cannot be hashed",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_must_be_split_or_bound_is_named_in_one_line(case):
    function, specs, message = BAD[case]
    with pytest.raises(uj.InputError) as failure:
        uj.certify(function, function, *specs)
    assert message in str(failure.value) and "\n" not in str(failure.value)


# --- a function that is another one each time -------------------------------------------------------------------------

COUNT = itertools.count(1)
RANDOM = np.random.default_rng(7)


def _shortened(x):
    for _ in range(next(COUNT) % 3 + 1):
        x = jnp.sin(x)
    return x


def _in_a_loop(x):
    step = next(COUNT)
    return jax.lax.fori_loop(0, 4, lambda i, y: y * step, x)


CHANGES = {
    "random number": (lambda x: x * RANDOM.random(), "'mul' at test_kinds_of_functions.py:"),
    "random array": (lambda x: x + RANDOM.random(3).astype(np.float32), "takes an array float32[3] of other entries"),
    "counter": (lambda x: x * float(next(COUNT)), "the first time and"),
    "another operation": (lambda x: [jnp.sin, jnp.cos, jnp.tanh][next(COUNT) % 3](x), "the second time"),
    "more operations": (_shortened, "there is one more operation, 'sin' at test_kinds_of_functions.py:"),
    "another place": (lambda x: jnp.roll(x, next(COUNT) % 3), "the second time"),
    "another order": (
        lambda x: (lambda r: [x - r, r - x, r - r][next(COUNT) % 3])(x[::-1]),
        "takes other operands the second time",
    ),
    "inside a loop": (_in_a_loop, "the first time and"),
    "what is returned": (
        lambda x: (2 * x, 3 * x, 4 * x, 2 * x, 3 * x)[(n := next(COUNT) % 3) : n + 3],
        "the second time",
    ),
}


@pytest.mark.parametrize("settings", [{}, {"wrt": "grad"}], ids=["values", "derivatives"])
@pytest.mark.parametrize("kind", CHANGES)
def test_a_function_that_is_another_one_each_time_is_refused(kind, settings):
    """Certified, it would be one of its programs only, and refuted against itself."""
    function, message = CHANGES[kind]
    for sides in ((function, lambda x: function(x)), (function, function)):
        with pytest.raises(uj.InputError) as failure:
            uj.certify(*sides, V, **settings)
        text = str(failure.value)
        assert "is another program each time it is traced: " in text and "\n" not in text
        assert message in text or settings  # derivatives have operations of their own


REPEATED = {
    "array made anew": lambda x: x + np.array([1.0, np.nan, 2.0], np.float32)[2],
    "random numbers of a key": lambda x: x + jax.random.normal(jax.random.key(3), x.shape),
    "function made anew": lambda x: jax.pure_callback(lambda v: np.sin(v), V, x),
    "loop": lambda x: jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=3)[0],
    "branches": lambda x: jax.lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x),
    "derivative of its own": jax.custom_jvp(jnp.sin),
    "random numbers that nothing uses": lambda x: (jnp.sin(x + RANDOM.random(3).astype(np.float32)), x * 2)[1],
    "random numbers that nothing in a loop uses": lambda x: jax.lax.fori_loop(
        0, 4, lambda i, y: (y * RANDOM.random(), jnp.sin(y))[1], x
    ),
    "counter that does not count": lambda x: (next(COUNT), x * 2)[1],
}
REPEATED["derivative of its own"].defjvp(lambda x, t: (jnp.sin(x[0]), jnp.cos(x[0]) * t[0]))


@pytest.mark.parametrize("kind", REPEATED)
def test_a_function_that_is_the_same_each_time_is_not(kind):
    uj.certify(REPEATED[kind], REPEATED[kind], V)


def test_numbers_differ_bit_for_bit():
    nan = float("nan")
    assert not differ(nan, nan) and differ(0.0, -0.0) and differ(1, 1.0) and differ(np.float32(1), np.float64(1))
    assert not differ(jax.random.key(1), jax.random.key(1)) and differ(jax.random.key(1), jax.random.key(2))
