"""Questions that cannot be asked: one clear line each, with a class of its own, also on the command line."""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.cli import main
from uat_jax.decide.demands import parse_tolerance
from uat_jax.errors import ConcreteValueError, InputError, OutputsError, StaticArgumentError, ToleranceError

V = jax.ShapeDtypeStruct((3,), jnp.float32)
S = jax.ShapeDtypeStruct((), jnp.float32)
COUNT = np.int32(2)


@functools.partial(jax.jit, static_argnums=1)
def repeated(x, times):
    return jnp.tile(x, times)


def by_sign(x):
    return x if x[0] > 0 else -x


def masked(x):
    return x[x > 0]


def cast(x):
    return x * float(x[0])


def counted(x):
    return x * jnp.arange(int(x[0]))[0]


def on_host(x):
    return jnp.asarray(np.sin(x))


@functools.partial(jax.jit, static_argnames="mode")
def moded(x, mode):
    return x * len(mode)


# name: (left, right, inputs, class, what the line says)
CASES = {
    "branch": (by_sign, by_sign, (V,), ConcreteValueError, "it needs the value of a variable: use jnp.where"),
    "mask": (masked, masked, (V,), ConcreteValueError, "it needs the value of a variable: use jnp.where"),
    "float": (cast, cast, (V,), ConcreteValueError, "it needs the value of a variable: use jnp.where"),
    "length": (counted, counted, (V,), ConcreteValueError, "pass an integer array, whose values are fixed"),
    "NumPy": (on_host, on_host, (V,), ConcreteValueError, "it needs the value of a variable: use jnp.where"),
    "static integers": (repeated, repeated, (V, COUNT), StaticArgumentError, "bind static arguments with functools"),
    "static floats": (repeated, repeated, (V, V), StaticArgumentError, "repeated is given an array for a static arg"),
    "static in one": (lambda x, n: x, repeated, (V, COUNT), StaticArgumentError, "repeated is given an array for a st"),
    "list": (lambda x: moded(x, mode=["a"]),) * 2
    + ((V,), StaticArgumentError, "a list, which cannot be hashed, for a st"),
    "dictionary": (lambda x: moded(x, mode={}),) * 2 + ((V,), StaticArgumentError, "a dict, which cannot be hashed"),
    "static array": (lambda x: repeated(x, np.ones(2)),) * 2
    + ((V,), StaticArgumentError, "is given an array for a st"),
    "range": (lambda x: sum(x for _ in range(x)),) * 2 + ((S,), ConcreteValueError, "it needs the value of a variable"),
    "list entry": (lambda x: [x, -x][x],) * 2 + ((S,), ConcreteValueError, "it needs the value of a variable: use jnp"),
    "shape": (lambda x: jnp.zeros(x) + x,) * 2
    + ((S,), ConcreteValueError, "it needs the value of a variable: use jnp"),
    "float shape": (lambda x: x.reshape(len(x) / 1),) * 2
    + ((V,), ConcreteValueError, "a shape needs whole numbers: use"),
    "while": (lambda x: x if bool(x > 0) else -x,) * 2 + ((S,), ConcreteValueError, "it needs the value of a variable"),
    "trees": (lambda x: x, lambda x: (x, x), (V,), OutputsError, "the functions return different trees"),
    "names": (lambda x: {"a": x}, lambda x: {"b": x}, (V,), OutputsError, "only one has output ['a']"),
    "shapes": (lambda x: x, lambda x: x[:2], (V,), OutputsError, "return the same shape and dtype from both"),
    "dtypes": (lambda x: x, lambda x: x.astype(jnp.bfloat16), (V,), OutputsError, "the second bfloat16[3]"),
    "object": (
        jnp.add,
        jnp.add,
        (V, object()),
        InputError,
        "input [1] is a object; pass an array or a jax.ShapeDtypeStr",
    ),
    "set": (lambda x, mode: x, jnp.add, (V, {"relu"}), InputError, "or bind it with functools.partial"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_question_that_cannot_be_asked_gets_one_line(name):
    left, right, specs, kind, message = CASES[name]
    for ask in (uj.certify, uj.assert_equivalent):
        with pytest.raises(InputError) as error:
            ask(left, right, *specs)
        assert type(error.value) is kind and message in str(error.value) and "\n" not in str(error.value)


# name: (options, class, what the line says)
OPTIONS: dict[str, tuple[dict[str, Any], type, str]] = {
    "tolerance 0": ({"rounding": 0}, ToleranceError, "got rounding=0; wanted a finite number above 0"),
    "tolerance NaN": ({"rounding": math.nan}, ToleranceError, "got rounding=nan; wanted a finite number above 0"),
    "negative tolerance": ({"rounding": -1.0}, ToleranceError, "got rounding=-1.0; wanted a finite number"),
    "infinite tolerance": ({"rounding": math.inf}, ToleranceError, "got rounding=inf; wanted a finite number"),
    "truth": ({"rounding": True}, ToleranceError, "got rounding=True; wanted a finite number"),
    "text": ({"rounding": "16"}, ToleranceError, "got rounding='16'; wanted a finite number"),
    "other hazards": ({"hazards": "fail"}, InputError, "got hazards='fail'; wanted one of warn, forbid, ignore"),
    "no budget": ({"budget": 0}, InputError, "got budget=0; wanted seconds, more than 0"),
    "another derivative": ({"wrt": "hessian"}, InputError, "got wrt='hessian'; wanted None"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_out_of_range_gets_one_line(name):
    options, kind, message = OPTIONS[name]
    with pytest.raises(InputError) as error:
        uj.assert_equivalent(jnp.sin, jnp.sin, V, **options)
    assert type(error.value) is kind and message in str(error.value) and "\n" not in str(error.value)


TOLERANCES = {
    "nothing": ({}, "got 0 tolerances; wanted one of"),
    "two": ({"ulps": 3, "relative": 1e-6}, "got 2 tolerances"),
    "0": ({"relative": 0.0}, "got relative=0.0; wanted a finite number above 0"),
    "NaN": ({"absolute": math.nan}, "got absolute=nan; wanted a finite number above 0"),
}


@pytest.mark.parametrize("name", TOLERANCES)
def test_an_unusable_tolerance_gets_one_line(name):
    options, message = TOLERANCES[name]
    with pytest.raises(ToleranceError, match=message):
        uj.Tolerance(**options)


def test_tolerances_are_read():
    assert parse_tolerance("16") == uj.Tolerance(ulps=16.0)
    assert parse_tolerance(" relative = 1e-4 ") == uj.Tolerance(relative=1e-4)
    assert parse_tolerance("absolute=2") == uj.Tolerance(absolute=2.0)
    for text in ("", "nan", "0", "-3", "1e-4", "small", "ulps=3", "relative=", "relative=0", "absolute=nan", "1e400"):
        with pytest.raises(ToleranceError):
            parse_tolerance(text)


def test_what_is_bound_or_fixed_can_be_asked():
    bound = functools.partial(repeated, times=2)
    uj.assert_equivalent(bound, lambda x: jnp.concatenate([x, x]), V)
    uj.assert_equivalent(lambda x, n: x[: int(n)], lambda x, n: x[:2], V, COUNT)
    uj.assert_equivalent(lambda x: jnp.where(x[0] > 0, x, -x), lambda x: jnp.where(x[0] > 0, x, -x), V)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ("by_sign", "by_sign", "it needs the value of a variable"),
        ("repeated", "repeated", "missing 1 required positional argument"),
        ("masked", "cast", "JAX cannot trace masked: NonConcreteBooleanIndexError"),
    ],
)
def test_the_command_line_shows_no_traceback(left, right, message, capsys):
    assert main(["certify", f"{__name__}:{left}", f"{__name__}:{right}", "--arg", "f32[3]"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    assert printed.err.startswith("uat-jax: ") and message in printed.err and "Traceback" not in printed.err
