"""Questions that cannot be asked: one clear line each, with a class of its own, also on the command line."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.cli import main
from uat_jax.errors import ConcreteValueError, InputError, OutputsError, StaticArgumentError

V = jax.ShapeDtypeStruct((3,), jnp.float32)
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
    "trees": (lambda x: x, lambda x: (x, x), (V,), OutputsError, "the functions return different trees"),
    "names": (lambda x: {"a": x}, lambda x: {"b": x}, (V,), OutputsError, "only one has output ['a']"),
    "shapes": (lambda x: x, lambda x: x[:2], (V,), OutputsError, "return the same shape and dtype from both"),
    "dtypes": (lambda x: x, lambda x: x.astype(jnp.bfloat16), (V,), OutputsError, "the second bfloat16[3]"),
    "Python number": (jnp.add, jnp.add, (V, 2), InputError, "input [1] is a int; pass an array or a jax.ShapeDtypeStr"),
    "text": (lambda x, mode: x, jnp.add, (V, "relu"), InputError, "or bind it with functools.partial"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_question_that_cannot_be_asked_gets_one_line(name):
    left, right, specs, kind, message = CASES[name]
    for ask in (uj.certify, uj.assert_equivalent):
        with pytest.raises(InputError) as error:
            ask(left, right, *specs)
        assert type(error.value) is kind and message in str(error.value) and "\n" not in str(error.value)


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
