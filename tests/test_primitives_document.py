"""docs/primitives.md is what the tables of the code say, and no primitive of the installed JAX is missing in it."""

import inspect
import runpy
from pathlib import Path

import jax
import jax.extend.core.primitives as public
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.custom_derivatives import linear_call
from jax.extend.core import Primitive

import uat_jax as uj
from uat_jax.decide import primitives_document
from uat_jax.decide.primitives_document import document, known, said
from uat_jax.interpret.interpreter import programs_within

V = jax.ShapeDtypeStruct((3,), jnp.float32)
A = jax.ShapeDtypeStruct((3, 3), jnp.float32)
I = jax.ShapeDtypeStruct((3,), jnp.int32)
C = jax.ShapeDtypeStruct((3,), jnp.complex64)


DOCUMENT = Path(__file__).parents[1] / "docs" / "primitives.md"


def test_the_document_is_current():
    assert DOCUMENT.read_text() == document(), "run python -m uat_jax.decide.primitives_document > docs/primitives.md"


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
def test_it_is_printed_from_any_directory(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(primitives_document.__file__, run_name="__main__")
    assert capsys.readouterr().out == document() and not list(tmp_path.iterdir())


def test_every_public_primitive_is_in_it():
    found = {x.name for module in (lax, lax.linalg, public) for x in vars(module).values() if isinstance(x, Primitive)}
    assert len(found) > 150 and found <= known(), found - known()


def met(module, key):
    """The names of the primitives that the functions of a module lower to, tried with inputs of several kinds."""
    inputs = [(V,), (A,), (V, V), (A, A), (V, V, V), (I,), (I, I), (C,), (key,), (key, V), ([V, V],), (A, V)]
    for name, function in vars(module).items():
        if name.startswith("_") or inspect.isclass(function) or not callable(function) or name == "create_token":
            continue
        for specs in inputs:
            try:
                program = jax.make_jaxpr(function)(*specs)
            except Exception:  # these inputs are not for this function
                continue
            yield from (e.primitive.name for inner in programs_within(program) for e in inner.eqns)


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore")
def test_every_primitive_that_is_met_is_in_it():
    key = jax.eval_shape(lambda: jax.random.key(0))
    modules = (jnp, jnp.linalg, jnp.fft, lax, lax.linalg, jax.nn, jax.random, jax.scipy.special, jax.scipy.linalg)
    found = {name for module in modules for name in met(module, key)}
    assert len(found) > 130 and found <= known(), found - known()


EXAMPLES = {
    "mul": "exact rule",
    "scan": "exact rule",
    "cumsum": "definition",
    "psum": "definition",
    "fft": "definition",
    "erf": "uninterpreted",
    "igamma_grad_a": "uninterpreted",
    "rng_uniform": "refused",
    "pallas_call": "exact rule",
    "random_bits": "uninterpreted",
    "pure_callback": "uninterpreted",
    "io_callback": "refused",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_said_of_some(name):
    assert said(name)[0] == EXAMPLES[name]


novel = Primitive("novel")
novel.def_abstract_eval(lambda x: x)


def test_a_primitive_that_is_in_no_table_is_refused():
    certificate = uj.certify(lambda x: novel.bind(x * 2), lambda x: novel.bind(x + x), V)
    assert certificate.verdict is uj.Verdict.UNKNOWN
    assert "'novel' stands in no table" in certificate.evidence[0].finding


draw = lambda: lax.rng_uniform(np.int32(0), np.int32(10), (3,)).astype(jnp.float32)
empty = lambda: lax.empty((3,), jnp.float32)
whole = lambda: lax.empty((3,), jnp.int32).astype(jnp.float32)

NO_FUNCTIONS = {
    "two draws": (lambda x: x + (draw() - draw()), lambda x: 1 * x),
    "one draw": (lambda x: x + draw(), lambda x: draw() + x),
    "nothing written": (lambda x: x + empty(), lambda x: 1 * x),
    "nothing written twice": (lambda x: x + (empty() - empty()), lambda x: 1 * x),
    "no whole numbers written": (lambda x: x + whole(), lambda x: 1 * x),
    "the same program": (lambda x: x + empty(), lambda x: x + empty()),
}


@pytest.mark.parametrize("name", NO_FUNCTIONS)
def test_what_no_operand_decides_is_never_certified(name):
    assert uj.certify(*NO_FUNCTIONS[name], V).verdict is uj.Verdict.UNKNOWN


@pytest.mark.parametrize("name", [n for n in NO_FUNCTIONS if n != "the same program"])
def test_written_entries_are(name, monkeypatch):
    """The true twins: zeros for what nobody has written."""
    monkeypatch.setitem(globals(), "empty", lambda: jnp.zeros((3,), jnp.float32))
    monkeypatch.setitem(globals(), "whole", empty)
    monkeypatch.setitem(globals(), "draw", empty)
    assert uj.certify(*NO_FUNCTIONS[name], V).passes


double = lambda x: lax.composite(lambda x: x * 2, "my.double")(x)

linear = lambda x: linear_call(lambda r, y: r * y[0] + y[1], lambda r, t: (r * t, t), x * x, (x, 2 * x))
exported = jax.export.export(jax.jit(lambda x, *, y: (jnp.sin(x) * y, {"a": x * x})))(V, y=V)
scalar = jax.export.symbolic_shape("n")
summed = jax.export.export(jax.jit(lambda x: x + jnp.sum(x)))(jax.ShapeDtypeStruct(scalar, jnp.float32))

CALLED = {
    "linear_call": (linear, lambda x: x**3 + 2 * x, lambda x: x**3 + 3 * x),
    "an exported program": (
        lambda x: exported.call(x, y=2 * x)[0],
        lambda x: 2 * x * jnp.sin(x),
        lambda x: 2 * x * jnp.cos(x),
    ),
    "in a scan": (
        lambda x: lax.scan(lambda c, _: (exported.call(c, y=c)[1]["a"], None), x, None, length=2)[0],
        lambda x: x**4,
        lambda x: x**3,
    ),
    "an exported program of any size": (summed.call, lambda x: jnp.sum(x) + x, lambda x: jnp.mean(x) + x),
    "composite": (lambda x: double(x) + x, lambda x: 3 * x, lambda x: 4 * x),
    "composite of 0.12 or 0.10, twice": (lambda x: double(double(x)), lambda x: 4 * x, lambda x: 3 * x),
    "base 2": (lambda x: jnp.log2(jnp.exp(x)) * jnp.log(np.float32(2)), lambda x: x * 1, lambda x: x * 2),
    "device_put": (lambda x: jax.device_put(2 * x) - x, lambda x: x * 1, lambda x: 2 * x),
}


@pytest.mark.parametrize("name", CALLED)
def test_what_is_followed_now(name):
    left, right, wrong = CALLED[name]
    assert uj.certify(left, right, V).passes
    assert uj.certify(left, wrong, V).verdict is uj.Verdict.REFUTED


to_half = lambda x: lax.reduce_precision(x, 5, 10)

ROUNDED = {
    "two writings": (lambda x: 2 * to_half(x), lambda x: to_half(x) + to_half(1 * x)),
    "an odd function": (lambda x: to_half(-x), lambda x: -to_half(x)),
    "all bits": (lambda x: lax.reduce_precision(x, 8, 23), lambda x: x + 0),
    "one by one": (lambda x: to_half(x)[0], lambda x: to_half(x[0])),
}

NOT_ROUNDED = {
    "the identity": (to_half, lambda x: x),
    "other bits": (to_half, lambda x: lax.reduce_precision(x, 8, 10)),
    "twice the number": (lambda x: to_half(2 * x), lambda x: 2 * to_half(x)),
    "a sum": (lambda x: to_half(x + 1), lambda x: to_half(x) + 1),
    "a square is not negative": (lambda x: jnp.abs(to_half(x * x)), lambda x: to_half(x * x)),
    "too large": (lambda x: jnp.where(jnp.isinf(to_half(x)), 0, x), lambda x: x),
    "another dtype": (to_half, lambda x: to_half(x.astype(jnp.bfloat16)).astype(jnp.float32)),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_a_rounding_that_is_meant_is_one_function(name, tmp_path):
    found = uj.certify(*ROUNDED[name], V)
    assert found.passes and uj.recheck(found.save(tmp_path / "certificate.json")).passes


@pytest.mark.parametrize("name", NOT_ROUNDED)
def test_nothing_else_is_known_of_a_rounding(name):
    assert not uj.certify(*NOT_ROUNDED[name], V, budget=2).passes
