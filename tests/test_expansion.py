"""Programs written out: primitives of other libraries, errors that a program raises, reductions, sign bits."""

import dataclasses

import equinox as eqx
import equinox.internal as eqxi
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import mlir

import uat_jax as uj
from uat_jax import Verdict
from uat_jax.decide.assumption import AssumptionKind
from uat_jax.decide.expansion import expanded
from uat_jax.decide.outside_names import never_returns
from uat_jax.decide.specification import snapshot_of
from uat_jax.errors import MismatchError, UnsupportedError

V = jax.ShapeDtypeStruct((3,), jnp.float32)
S = jax.ShapeDtypeStruct((), jnp.float32)
EQUAL = (Verdict.PROVED, Verdict.CERTIFIED)
DIFFERENT = (Verdict.REFUTED, Verdict.UNKNOWN)
ZERO = np.float32(0)


# --- errors -----------------------------------------------------------------------------------------------------------


def unless(x, failing):
    """x; an error where any of the booleans is true."""
    return eqx.error_if(x, failing, "not allowed")


def stop(x):
    raise ValueError(x)


def doubled(x):
    return 2 * x


def sometimes(x):
    if x > 0:
        raise ValueError(x)


def generator(x):
    yield x


def in_a_branch(host):
    """A host function that is called for positive numbers only."""
    return lambda x: lax.cond(x > 0, lambda x: jax.pure_callback(host, S, x), lambda x: x, x)


@pytest.mark.parametrize("host, never", [(stop, True), (doubled, False), (sometimes, False), (generator, False),
                                         (lambda x: stop(x), False), (print, False)])  # fmt: skip
def test_a_function_without_a_return_never_returns(host, never):
    """That another function never returns is not looked at."""
    assert never_returns(host) is never


ERRORS = [
    ("an identity", lambda x: unless(x, x < 0), lambda x: x, EQUAL),
    ("twice", lambda x: unless(x, x < 0), lambda x: 2 * x, (Verdict.REFUTED,)),
    ("another threshold", lambda x: unless(x, x < 0), lambda x: jnp.where(x > 1, 1, x), (Verdict.REFUTED,)),
    ("two checks", lambda x: 2 * unless(x, x < 0), lambda x: unless(2 * x, x < 0), EQUAL),
    ("caught", lambda x: jnp.where(jnp.isnan(unless(x, x < 0)), ZERO, x), lambda x: x, EQUAL),
    ("of integers", lambda x: unless(jnp.arange(3), x < 0).astype(np.float32) * x,
     lambda x: jnp.arange(3, dtype=np.float32) * x, EQUAL),
    ("decided by constants", lambda x: unless(x, jnp.zeros(3) > 0), lambda x: x, EQUAL),
    ("in a scan", lambda x: lax.scan(lambda c, a: (unless(c + a, c < -1), a), ZERO, x)[0], jnp.sum, EQUAL),
    ("in a scan, wrong", lambda x: lax.scan(lambda c, a: (unless(c + a, c < -1), a), ZERO, x)[0], jnp.max,
     (Verdict.REFUTED,)),
    # The functions differ for negative numbers only, where the first raises an error: nothing may be refuted there.
    ("differs beyond", lambda x: unless(x, x < 0), lambda x: jnp.where(x < 0, 5, x), (Verdict.UNKNOWN, *EQUAL)),
    ("is not certified beyond", lambda x: unless(x, x < 0), lambda x: jnp.abs(x) + jnp.where(x < -1, x, 0),
     (Verdict.UNKNOWN,)),
]  # fmt: skip


@pytest.mark.parametrize("left, right, verdicts", [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_inputs_for_which_a_program_raises_an_error_are_left_out(left, right, verdicts):
    found = uj.certify(left, right, V)
    assert found.verdict in verdicts, found.evidence
    said = [a.text for a in found.assumptions if a.kind is AssumptionKind.NO_ERROR]
    assert said and all("raises an error at" in text for text in said)


def test_an_error_that_an_input_within_the_domain_does_not_raise_is_a_hypothesis_too():
    found = uj.certify(lambda x: unless(x, x < 0), lambda x: x, uj.positive(V))
    assert found.verdict in EQUAL and any(a.kind is AssumptionKind.NO_ERROR for a in found.assumptions)


def test_a_program_that_always_raises_an_error_is_no_function():
    found = uj.certify(lambda x: unless(x, x * x >= 0), lambda x: x, V)
    assert found.verdict is Verdict.UNKNOWN and "raises an error" in found.evidence[-1].finding


def test_rules_of_derivatives_are_used_before():
    """The derivative of a branch that raises is none of an identity's."""
    found = uj.certify(lambda x: unless(x, x < 0) ** 2, lambda x: x * x, V, wrt="grad")
    assert found.verdict in EQUAL
    found = uj.certify(lambda x: unless(x, x < 0) ** 2, lambda x: 2 * x, V, wrt="grad")
    assert found.verdict is Verdict.REFUTED


def test_only_a_host_function_that_never_returns_is_an_error():
    assert uj.certify(in_a_branch(stop), lambda x: x, S).verdict in EQUAL
    for host in (doubled, sometimes):
        assert uj.certify(in_a_branch(host), lambda x: x, S).verdict is Verdict.UNKNOWN
    unused = lambda x: lax.cond(x > 0, lambda x: (jax.pure_callback(stop, S, x), 2 * x)[1], lambda x: x, x)
    with pytest.raises(UnsupportedError, match="calls back to the host"):
        uj.certify(unused, lambda x: x, S)
    with pytest.raises(UnsupportedError, match="calls back to the host"):
        uj.certify(lambda x: jax.pure_callback(stop, S, x), lambda x: x, S)


def test_a_certificate_says_which_program_raises(tmp_path):
    found = uj.certify(lambda x: 2 * unless(x, x < 0), lambda x: x + x, V)
    path = tmp_path / "certificate.json"
    found.save(path)
    assert uj.recheck(path).verdict is found.verdict
    said = path.read_text().replace('"side": "left"', '"side": "right"')
    path.write_text(said.replace("the left function", "the right function"))
    with pytest.raises(MismatchError, match="which of its programs raise"):
        uj.recheck(path)


# --- primitives of other libraries ------------------------------------------------------------------------------------


def primitive(name, implementation):
    """A primitive as other libraries make them."""
    found = Primitive(name)
    found.def_impl(implementation)
    found.def_abstract_eval(lambda x, **parameters: x)
    mlir.register_lowering(found, mlir.lower_fun(implementation, multiple_results=False))
    return found


scaled = primitive("uat_test_scaled", lambda x, *, by: x * by)
on_host = primitive("uat_test_on_host", lambda x: np.asarray(x) * 2)
nested = primitive("uat_test_nested", lambda x: scaled.bind(jnp.sin(x), by=2.0))
itself = primitive("uat_test_itself", lambda x: itself.bind(x))


FOREIGN = [
    ("its implementation", lambda x: scaled.bind(x, by=2.0), lambda x: x + x, EQUAL),
    ("another parameter", lambda x: scaled.bind(x, by=3.0), lambda x: x + x, (Verdict.REFUTED,)),
    ("one in another", nested.bind, lambda x: jnp.sin(x) + jnp.sin(x), EQUAL),
    ("in a scan", lambda x: lax.scan(lambda c, a: (c + scaled.bind(a, by=2.0), a), ZERO, x)[0],
     lambda x: 2 * x.sum(), EQUAL),
    ("any", lambda x: jnp.where(eqxi.unvmap_any(x > 0), x, 0), lambda x: jnp.where((x > 0).any(), x, 0), EQUAL),
    ("any, not all", lambda x: jnp.where(eqxi.unvmap_any(x > 0), x, 0), lambda x: jnp.where((x > 0).all(), x, 0),
     (Verdict.REFUTED,)),
    ("an implementation in NumPy", on_host.bind, lambda x: 2 * x, (Verdict.UNKNOWN,)),
    ("no implementation", itself.bind, lambda x: x, (Verdict.UNKNOWN,)),
]  # fmt: skip


@pytest.mark.parametrize("left, right, verdicts", [row[1:] for row in FOREIGN], ids=[row[0] for row in FOREIGN])
def test_primitives_of_other_libraries_are_their_implementations(left, right, verdicts):
    assert uj.certify(left, right, V).verdict in verdicts


def test_a_program_without_such_primitives_stays_as_it_is():
    program = jax.make_jaxpr(lambda x: lax.scan(lambda c, a: (c + a, a), ZERO, x))(V)
    assert expanded(program) is program


# --- primitives of JAX ------------------------------------------------------------------------------------------------


def reduction(operation, initial):
    return lambda x: lax.reduce(x, np.float32(initial), operation, (0,))


def platform(x):
    return lax.platform_dependent(x, cpu=lambda x: x + 1, cuda=lambda x: x + 1, default=lambda x: x + 2)


def after(x, y):
    """The float next to x in the direction of y."""
    return lax.nextafter(jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32))


WRITTEN_OUT = [
    ("a sum", reduction(lambda a, b: a + b, 0), jnp.sum, EQUAL),
    ("a sum from 1, which XLA may add more than once", reduction(lambda a, b: a + b, 1), jnp.sum, (Verdict.UNKNOWN,)),
    ("a sum from 0", reduction(lambda a, b: a + b, 0), jnp.sum, EQUAL),
    ("a sum from 0, wrong", reduction(lambda a, b: a + b, 0), lambda x: 1 + jnp.sum(x), (Verdict.REFUTED,)),
    ("a product, exchanged", reduction(lambda a, b: b * a, 1), jnp.prod, EQUAL),
    ("a maximum from 0", reduction(jnp.maximum, 0), lambda x: jnp.maximum(jnp.max(x), 0), EQUAL),
    ("a maximum from 0, wrong", reduction(jnp.maximum, 0), jnp.max, (Verdict.REFUTED,)),
    ("squares are no product", reduction(lambda a, b: a * a, 1), jnp.prod, (Verdict.UNKNOWN,)),
    ("differences are no sum", reduction(lambda a, b: a - b, 0), lambda x: -jnp.sum(x), (Verdict.UNKNOWN,)),
    ("the first that holds", lambda x: jnp.select([x > 1, x > 0], [x, 2 * x], -x),
     lambda x: jnp.where(x > 1, x, jnp.where(x > 0, 2 * x, -x)), EQUAL),
    ("the first, not the second", lambda x: jnp.select([x > 0, x > 1], [x, 2 * x], -x),
     lambda x: jnp.where(x > 1, 2 * x, jnp.where(x > 0, x, -x)), (Verdict.REFUTED,)),
    ("none that holds", lambda x: jnp.select([x > 1, x < -1], [x, -x]),
     lambda x: jnp.where(jnp.abs(x) > 1, jnp.abs(x), 0), EQUAL),
    ("the gamma function", lambda x: jax.scipy.special.gamma(jnp.exp(x)),
     lambda x: jnp.exp(lax.lgamma(jnp.exp(x))), EQUAL),
    ("the gamma function, anywhere", jax.scipy.special.gamma, lambda x: jnp.exp(lax.lgamma(x)), (Verdict.UNKNOWN,)),
    ("a sign bit, wrong", lambda x: jnp.where(jnp.signbit(x), -x, 2 * x), jnp.abs, (Verdict.REFUTED,)),
    ("other bits", lambda x: lax.bitcast_convert_type(lax.bitcast_convert_type(x, np.int32) + 1, np.float32),
     lambda x: x, (Verdict.UNKNOWN,)),
    ("the next float", lambda x: x + lax.nextafter(np.float32(1), np.float32(2)),
     lambda x: x + np.float32(1.0000001), EQUAL),
    ("the next float, wrong", lambda x: x + 2**20 * lax.nextafter(np.float32(1), np.float32(2)),
     lambda x: x + 2**20, (Verdict.REFUTED, Verdict.UNKNOWN)),
    ("a next float beside a large number", lambda x: x * (after(1, 2) + 1e8 - 1e8), lambda x: 0 * x, DIFFERENT),
    ("a next float times a large number", lambda x: x * (after(0, 1) * 1e38), lambda x: 0 * x, DIFFERENT),
    ("a next float beside 1", lambda x: jnp.where(after(0, 1) + 1 > 1, x, -x), lambda x: -x, DIFFERENT),
    ("a next float beside 2", lambda x: jnp.where(after(1, 0) + 2 >= 3, x, -x), lambda x: x, DIFFERENT),
    ("a product of next floats", lambda x: x * (1 - after(1, 0) * after(1, 2)), lambda x: 0 * x, DIFFERENT),
    ("a function of a next float", lambda x: x * (jnp.tanh(after(20, 21)) - 1), lambda x: 0 * x, DIFFERENT),
    ("a next float and back", lambda x: x * after(after(1, 2), 0), lambda x: 1 * x, EQUAL),
    ("a next float of a magnitude", lambda x: x * after(jnp.abs(-after(1, 2)), 0), lambda x: 1 * x, EQUAL),
    ("a next float of a rounded number", lambda x: x * after(jnp.exp(np.float32(1)), 3),
     lambda x: x * np.nextafter(np.float32(np.e), np.float32(3)), (Verdict.UNKNOWN,)),
    ("the next of an input", lambda x: lax.nextafter(x, jnp.ones(3)), lambda x: x, (Verdict.UNKNOWN,)),
    ("this platform", platform, lambda x: 1 + x, EQUAL),
    ("another platform", platform, lambda x: 2 + x, (Verdict.REFUTED,)),
]  # fmt: skip


@pytest.mark.parametrize("left, right, verdicts", [row[1:] for row in WRITTEN_OUT], ids=[row[0] for row in WRITTEN_OUT])
def test_what_stands_for_simpler_primitives_is_written_out(left, right, verdicts):
    assert uj.certify(left, right, V).verdict in verdicts


# --- primitives that are called as others -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Factor:
    """A parameter of a primitive."""

    of: int = 2


def another_factor(name="Factor"):
    """Another class of the same name, and a parameter with more than its fields."""
    made = dataclasses.make_dataclass(name, [("of", int, 2)], frozen=True)()
    return made


def beside_its_fields(more):
    """A parameter that holds something beside its fields."""
    made = Factor()
    object.__setattr__(made, "more", more)
    return made


def called_as(name, function=None):
    """A primitive of another library, which JAX compiles as the function; without one nothing is known of it."""
    primitive = Primitive(name)
    primitive.def_abstract_eval(lambda x, **parameters: ShapedArray(x.shape, x.dtype))
    if function is not None:
        primitive.def_impl(function)
    return primitive


UNKNOWN = called_as("unknown")
CALLED_AS_OTHERS = {
    "a sine that is none": (called_as("sin", lambda x: lax.cos(x)).bind, jnp.sin),
    "a copy that is none": (called_as("copy", lambda x: 2 * x).bind, lambda x: x + 0),
    "a call that is none": (called_as("jit", lambda x, jaxpr: 2 * x).bind, None),
    "two of one name": (called_as("unknown").bind, UNKNOWN.bind),
    "two of one name, one of which is known": (called_as("unknown", lambda x: 2 * x).bind, UNKNOWN.bind),
    "parameters of two classes of one name": (
        lambda x: UNKNOWN.bind(x, factor=Factor()),
        lambda x: UNKNOWN.bind(x, factor=another_factor()),
    ),
    "parameters with more than their fields": (
        lambda x: UNKNOWN.bind(x, factor=beside_its_fields(1)),
        lambda x: UNKNOWN.bind(x, factor=beside_its_fields(2)),
    ),
}


@pytest.mark.parametrize("name", CALLED_AS_OTHERS)
def test_a_primitive_is_not_known_by_its_name(name):
    left, right = CALLED_AS_OTHERS[name]
    if right is None:
        of = jax.make_jaxpr(lambda x: x + 0)(1.0)
        left, right = lambda x: CALLED_AS_OTHERS[name][0](x, jaxpr=of), lambda x: x + 0
    assert not uj.certify(left, right, S).passes


def test_a_primitive_that_is_called_as_one_of_jax_and_is_not_known_is_refused():
    with pytest.raises(UnsupportedError, match="'sin'.* is a primitive of another library with the name of one of JAX"):
        uj.certify(called_as("sin").bind, jnp.sin, S)


def test_a_primitive_is_what_it_is_implemented_as_whatever_it_is_called():
    sine = called_as("cos", lambda x: lax.sin(x))
    assert uj.certify(lambda x: sine.bind(x) * 2, lambda x: jnp.sin(x) + sine.bind(x), S).passes
    assert uj.certify(lambda x: UNKNOWN.bind(x), lambda x: UNKNOWN.bind(x), S).passes


@pytest.mark.parametrize("name", ["copy", "jit", "sin"])
def test_a_primitive_that_is_called_as_one_of_jax_is_not_written_as_that_one(name):
    of = jax.make_jaxpr(lambda x: x + 0)(1.0)
    function = lambda x: called_as(name, lambda x, **parameters: 2 * x).bind(
        x, **({"jaxpr": of} if name == "jit" else {})
    )
    with pytest.raises(UnsupportedError, match=f"'{name}'"):
        snapshot_of(function, (S,))
