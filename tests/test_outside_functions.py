"""Functions outside of JAX: equal operands give equal results, and nothing else is known of them."""

import functools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback

import uat_jax as uj
from uat_jax import Verdict
from uat_jax.decide.assumption import AssumptionKind
from uat_jax.decide.outside_names import made_of, name_of_function
from uat_jax.errors import MismatchError, UnsupportedError

V = jax.ShapeDtypeStruct((3,), jnp.float32)
W = jax.ShapeDtypeStruct((3,), jnp.int32)
B = jax.ShapeDtypeStruct((3,), jnp.bool_)
Z = jax.ShapeDtypeStruct((3,), jnp.complex64)
EQUAL = (Verdict.PROVED, Verdict.CERTIFIED)


def table(x):
    """A host function of one array."""
    return np.interp(x, [0, 1], [2, 3]).astype(np.float32)


def places(x):
    """A host function with whole numbers for its results."""
    return np.argsort(x).astype(np.int32)


def above(x):
    """A host function with booleans for its results."""
    return x > 1


def called(function=table, result=V, **options):
    return lambda *x: jax.pure_callback(function, result, *x, **options)


host, in_rows = called(), called(vmap_method="sequential")
whole, mask = called(places, W), called(above, B)
order = lambda x: whole(x).astype(jnp.float32)
turned = lambda x: called(table, Z)(lax.complex(x, x))
nothing = called(lambda: np.ones(3, np.float32))
of_both = called(lambda x, y: x + y)
pair = lambda x: jax.pure_callback(lambda x: (x, places(x)), (V, W), x)


def foreign(target="my_library.smooth", **attributes):
    """A function of a library that is not here."""
    return lambda x: jax.ffi.ffi_call(target, V, vmap_method=attributes.pop("vmap_method", None))(x, **attributes)


def powered(power):
    """Another host function at every call, which does the same for the same power."""
    return called(lambda x: x**power)


class Number(float):
    """A number of Python that holds more than its value."""

    def __init__(self, value, more):
        self.more = more

    def __new__(cls, value, more):
        return float.__new__(cls, value)


class Product(np.ndarray):
    """An array of which * is the product of matrices."""

    def __mul__(self, other):
        return np.asarray(self) @ other


def summed(factor):
    """A host function that multiplies with what it captures; so a product of matrices is another one."""
    return called(lambda x: np.float32(np.sum(np.ma.filled(np.ma.asarray(factor * x), 0)) * np.ones(3)))


SAME = {
    "two writings around it": (lambda x: 2 * host(x), lambda x: host(x) + host(x)),
    "two writings of the operand": (lambda x: host((x + 1) ** 2), lambda x: host(x * x + 2 * x + 1)),
    "made twice": (lambda x: powered(2)(x) * x, lambda x: x * powered(2)(x)),
    "partial": (lambda x: x * called(functools.partial(np.power, 2.0))(x),
                lambda x: called(functools.partial(np.power, 2.0))(x) * x),
    "another way under vmap": (lambda x: x - host(x), lambda x: -(in_rows(x) - x)),
    "rows": (lambda x: jax.vmap(in_rows)(jnp.stack([x, 2 * x])).sum(0), lambda x: host(x) + host(x + x)),
    "of two operands": (lambda x: of_both(x, 1 + x) * 2, lambda x: 2 * of_both(x, x + 1)),
    "two results": (lambda x: pair(2 * x)[0] * x, lambda x: x * pair(x + x)[0]),
    "whole numbers": (lambda x: order(x) * x, lambda x: x * order(x * 1)),
    "whole numbers from 1": (lambda x: x * (jnp.clip(whole(x), 0, 9) + 1).astype(jnp.float32),
                             lambda x: x + jnp.clip(order(x), 0, 9) * x),
    "booleans choose": (lambda x: jnp.where(mask(x), x, 2 * x), lambda x: x * (2 - mask(x).astype(jnp.float32))),
    "complex numbers": (lambda x: (2 * turned(x)).real, lambda x: (turned(x) + turned(1 * x)).real),
    "of constants": (lambda x: x + host(jnp.ones(3)) - host(jnp.ones(3)), lambda x: x * 1),
    "an integer of Python and of NumPy": (lambda x: foreign(n=1)(x) * 2, lambda x: 2 * foreign(n=np.int64(1))(x)),
    "no operands": (lambda x: x * nothing(), lambda x: nothing() * x),
    "in a loop": (lambda x: lax.scan(lambda c, a: (c + host(a * x), None), x, jnp.arange(3.0))[0],
                  lambda x: x + host(0 * x) + host(x) + host(2 * x)),
    "foreign": (lambda x: 2 * foreign(eps=np.float32(0.1))(x), lambda x: foreign(eps=np.float32(0.1))(x) * 2),
    "foreign, another way under vmap": (lambda x: 2 * foreign(vmap_method="sequential")(x), lambda x: foreign()(x) * 2),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_equal_operands_give_equal_results(name):
    left, right = SAME[name]
    found = uj.certify(left, right, V)
    assert found.verdict in EQUAL, found.evidence
    said = [a.text for a in found.assumptions if a.kind is AssumptionKind.OUTSIDE_FUNCTION]
    assert said and all("is a function of its operands" in text for text in said)


class Scaled:
    """An object that is a host function; what it does can change."""

    def __call__(self, x):
        return x


DIFFERENT = {
    "another multiple": (lambda x: 2 * host(x), lambda x: 3 * host(x)),
    "another operand": (lambda x: host(x), lambda x: host(x + 1)),
    "another function": (lambda x: host(x), lambda x: called(np.sin)(x)),
    "another captured number": (lambda x: powered(2)(x), lambda x: powered(3)(x)),
    "another object": (lambda x: called(Scaled())(x), lambda x: called(Scaled())(x)),
    "the identity": (lambda x: called(lambda x: x)(x), lambda x: x),
    "operands exchanged": (lambda x: of_both(x, 2 * x), lambda x: of_both(2 * x, x)),
    "rows in one call": (lambda x: jax.vmap(called(vmap_method="expand_dims"))(jnp.stack([x, x]))[0], host),
    "a linear function": (lambda x: host(2 * x), lambda x: 2 * host(x)),
    "an even function": (lambda x: host(-x), lambda x: host(x)),
    "other types": (lambda x: host(x), lambda x: host(x.astype(jnp.float16))),
    "booleans exchanged": (lambda x: jnp.where(mask(x), x, 2 * x), lambda x: jnp.where(mask(x), 2 * x, x)),
    "another target": (lambda x: foreign("a")(x), lambda x: foreign("b")(x)),
    "another attribute": (lambda x: foreign(eps=np.float32(0.1))(x), lambda x: foreign(eps=np.float32(0.2))(x)),
    "another type of an attribute": (lambda x: foreign(n=np.int32(1))(x), lambda x: foreign(n=np.int64(1))(x)),
    "a truth value for an integer": (lambda x: foreign(n=True)(x), lambda x: foreign(n=1)(x)),
    "a float for an integer": (lambda x: foreign(n=1.0)(x), lambda x: foreign(n=1)(x)),
    "another integer": (lambda x: foreign(n=1)(x), lambda x: foreign(n=np.int64(2))(x)),
    # Five ways in which a function that makes something of NaN, or NaN of something, could be taken for another one.
    "of NaN at one point": (lambda x: host(x / x), lambda x: host(1 + 0 * x)),
    "of NaN on a half-line": (lambda x: host(jnp.sqrt(x) - jnp.sqrt(x)), lambda x: host(0 * x)),
    "of what may be NaN": (lambda x: host(host(x) - host(x)), lambda x: host(0 * x)),
    "NaN that is caught": (lambda x: jnp.where(jnp.isnan(host(x)), 0, x), lambda x: x * 1),
    "a choice by what may be NaN": (lambda x: jnp.where(host(x) > 0, x, 2 * x),
                                    lambda x: jnp.where(host(x) <= 0, 2 * x, x)),
    "another mask": tuple(summed(np.ma.array([1.0, 2, 3], mask=[False, n == 1, n == 0])) for n in (0, 1)),
    "a matrix for an array": (summed(np.ones((3, 3)).view(Product)), summed(np.ones((3, 3)))),
    "squares are not positive": (lambda x: jnp.abs(order(x) * x), lambda x: order(x) * jnp.abs(x)),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_nothing_else_is_known_of_them(name):
    left, right = DIFFERENT[name]
    assert uj.certify(left, right, V).verdict not in EQUAL


EFFECTS = {
    "io_callback": lambda x: io_callback(table, V, x),
    "ordered io_callback": lambda x: io_callback(table, V, x, ordered=True),
    "debug_print": lambda x: (jax.debug.print("{}", x), x)[1],
    "ordered debug_print": lambda x: (jax.debug.print("{}", x, ordered=True), x)[1],
    "debug_callback": lambda x: (jax.debug.callback(print, x), x)[1],
    "side effect": lambda x: jax.ffi.ffi_call("f", V, has_side_effect=True)(x),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_effects_are_refused(name):
    with pytest.raises(UnsupportedError, match="for its effect|may do anything|side effect"):
        uj.certify(EFFECTS[name], lambda x: x, V)


def recursive(n):
    """A function that captures itself."""
    return lambda x: x if n == 0 else itself(x)


def itself(x):
    return recursive(0)(x)


MASKED = [np.ma.array([1.0, 2.0], mask=[False, last == 1]) for last in (0, 1)]
NAN = [np.uint64(0x7FF8000000000000 + n).view(np.float64) for n in (1, 2)]
HELD_BESIDE = [
    MASKED,
    (MASKED[0], MASKED[0].data),
    (np.eye(2).view(Product), np.eye(2)),
    (np.ones(2, np.float32), jnp.ones(2)),
    (np.ones((2, 2)), np.ones((2, 2), order="F")),
    (jnp.asarray(1.0), jnp.asarray(1.0, jnp.float32)),
    (np.float32(1), np.ones((), np.float32)),
    (Number(1, 2), Number(1, 3)),
    NAN,
    [x.item() for x in NAN],
    [np.dtype("f4", metadata={"n": n}) for n in (1, 2)],
    [np.zeros(1, [(name, "f4")]) for name in "ab"],
    [functools.partial(dict, **dict.fromkeys(names)) for names in ("ab", "ba")],
]
"""Captured values that have the same numbers and are different ones for a function."""


def test_functions_are_known_by_what_they_are_made_of():
    of = lambda number: lambda x: x + number
    with_default = lambda n: lambda x, n=n: x + n
    alike = [(of(1), of(1)), (with_default(2), with_default(2)), (of(np.arange(3)), of(np.arange(3))), (np.sin, np.sin),
             (of(of(1)), of(of(1))), (of((1, "a")), of((1, "a"))), (recursive(1), recursive(1))]  # fmt: skip
    apart = [(of(1), of(1.0)), (of(0.0), of(-0.0)), (with_default(2), with_default(3)), (of([1]), of([1])),
             (of(np.arange(3)), of(np.arange(3.0))), (of(1), with_default(1)), (of(of(1)), of(of(2))), (np.sin, np.cos),
             (Scaled().__call__, Scaled().__call__), (of(True), of(1)), (of(()), of(None)),
             *((of(a), of(b)) for a, b in HELD_BESIDE)]  # fmt: skip
    assert all(made_of(a) == made_of(b) and hash(made_of(a)) == hash(made_of(b)) for a, b in alike)
    assert not any(made_of(a) == made_of(b) for a, b in apart)
    changed = of(1)
    changed.power = 2
    assert made_of(changed) != made_of(of(1))


def test_no_label_looks_like_the_name_of_another_function():
    """Two functions of one label are told apart by a number, which another label could end with."""
    functions = [lambda x: x + 1, lambda x: x + 2, lambda x: x + 3]
    for function, label in zip(functions, ("f", "f", "f (2)"), strict=True):
        function.__qualname__ = label
    calls = (jax.make_jaxpr(called(function))(jnp.zeros(3)).eqns[0] for function in functions)
    assert len(set(map(name_of_function, calls))) == 3
    long = "f" * 200
    assert uj.certify(foreign(long + "a"), foreign(long + "b"), V).verdict not in EQUAL


def test_a_certificate_is_decided_again_from_its_file(tmp_path):
    path = tmp_path / "certificate.json"
    uj.certify(*SAME["two writings around it"], V).save(path)
    assert uj.recheck(path).verdict is Verdict.CERTIFIED
    data = json.loads(path.read_text())
    data["assumptions"] = [a for a in data["assumptions"] if a["kind"] != "outside function"]
    path.write_text(json.dumps(data))
    with pytest.raises(MismatchError, match="which functions outside of JAX"):
        uj.recheck(path)


def test_another_function_in_the_file_is_another_function(tmp_path):
    path = tmp_path / "certificate.json"
    found = uj.certify(lambda x: 2 * host(x), lambda x: 2 * called(np.sin)(x), V)
    found.save(path)
    assert found.verdict is Verdict.UNKNOWN and uj.recheck(path).verdict is Verdict.UNKNOWN


def test_on_several_devices_every_one_calls_the_function():
    mesh = jax.sharding.AbstractMesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    part = lambda x: jax.pure_callback(table, jax.ShapeDtypeStruct((2,), jnp.float32), x)
    sharded = jax.shard_map(part, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P("i"), check_vma=False)
    four = jax.ShapeDtypeStruct((4,), jnp.float32)
    assert uj.certify(sharded, lambda x: jnp.concatenate([part(x[:2]), part(x[2:])]), four).verdict in EQUAL
    assert uj.certify(sharded, lambda x: jnp.concatenate([part(x[2:]), part(x[:2])]), four).verdict not in EQUAL


def lowered(function):
    """A function as StableHLO, read again."""
    return uj.read_stablehlo(jax.jit(function).trace(V).lower(lowering_platforms=("cpu",)).as_text())


def test_foreign_functions_of_stablehlo_are_those_of_jax():
    """By their target and attributes, in both directions."""
    given = {"eps": np.float32(0.1), "n": np.int32(3), "name": "a", "flag": True}
    doubled = lambda **attributes: lambda x: 2 * foreign(**attributes)(x)
    assert uj.certify(doubled(**given), lowered(doubled(**given)), V).verdict in EQUAL
    assert uj.certify(lowered(doubled(**given)), lowered(lambda x: foreign(**given)(x) * 2), V).verdict in EQUAL
    for changed in (
        {"eps": np.float32(0.2)},
        {"n": np.int32(4)},
        {"name": "b"},
        {"flag": False},
        {"eps": np.float64(0.1)},
    ):
        assert uj.certify(doubled(**given), lowered(doubled(**{**given, **changed})), V).verdict not in EQUAL


def test_rounding_and_hazards_say_that_the_function_is_not_called():
    found = uj.certify(*SAME["two writings around it"], V)
    assert found.floats is not None and any("outside of JAX" in line for _, line in found.floats.lines())
