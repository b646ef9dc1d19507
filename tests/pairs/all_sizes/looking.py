"""Functions that look at sizes while they are traced, each another one at length 513: none of them may be proved.

Their twins look at nothing that differs between a size and a number.
"""

import contextlib
import functools
import operator
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from .row import Row, row

OTHER = 513
"""The length at which the functions are others."""


def scaled(x, is_other):
    return x * (0.0 if is_other else 1.0)


def tries(number: Callable) -> Callable:
    """A function that asks for a number in a way that raises for a size, and goes on if it does."""

    def function(x):
        try:
            return scaled(x, number(x) == OTHER)
        except Exception:
            return x

    return function


def broadcasts(x):
    try:
        x + jnp.zeros(OTHER, jnp.float32)
    except TypeError:
        return x
    return 0.0 * x


def suppresses(x):
    with contextlib.suppress(Exception):
        return 0.0 * x.reshape(OTHER)
    return x


def matches(x):
    match x.shape:
        case (513,):
            return 0.0 * x
    return x


def matches_a_number(x):
    match x.shape[0]:
        case int():
            return scaled(x, x.shape[0] == OTHER)
    return x


@functools.singledispatch
def factor(size):
    return 1.0


@factor.register
def _(size: int):
    return 0.0 if size == OTHER else 1.0


class Kept:
    """A function that keeps what it computed, by shape."""

    def __init__(self):
        self.kept = {(OTHER,): 0.0}

    def __call__(self, x):
        return x * self.kept.setdefault(x.shape, 1.0)


WAYS: dict[str, Callable] = {
    "a comparison": lambda x: scaled(x, x.shape[0] == OTHER),
    "an inequality": lambda x: scaled(x, not x.shape[0] != OTHER),
    "a comparison of shapes": lambda x: scaled(x, x.shape == (OTHER,)),
    "a shape in a list": lambda x: scaled(x, x.shape in [(OTHER,)]),
    "a size in a set": lambda x: scaled(x, x.shape[0] in {OTHER}),
    "a size in a dict": lambda x: x * {OTHER: 0.0}.get(x.shape[0], 1.0),
    "a kept shape": Kept(),
    "a hash": lambda x: scaled(x, hash(x.shape) == hash((OTHER,))),
    "a remainder": lambda x: scaled(x, x.shape[0] % OTHER == 0),
    "a truth": lambda x: scaled(x, not x.shape[0] - OTHER),
    "a text": lambda x: scaled(x, f"{x.shape[0]}" == str(OTHER)),
    "a text of a shape": lambda x: scaled(x, str(OTHER) in str(x.shape)),
    "a text of an array": lambda x: scaled(x, str(OTHER) in f"{x}"),
    "a text of a type": lambda x: scaled(x, str(OTHER) in str(jax.typeof(x))),
    "a representation": lambda x: scaled(x, str(OTHER) in repr(x)),
    "a type of an array": lambda x: scaled(x, jax.typeof(x) == jax.typeof(jnp.zeros(OTHER, jnp.float32))),
    "a structure": lambda x: scaled(
        x, jax.ShapeDtypeStruct(x.shape, x.dtype) == jax.ShapeDtypeStruct((OTHER,), jnp.float32)
    ),
    "isinstance": lambda x: scaled(x, isinstance(x.shape[0], int) and x.shape[0] == OTHER),
    "type": lambda x: scaled(x, type(x.shape[0]) is int and x.shape[0] == OTHER),
    "__class__": lambda x: scaled(x, x.shape[0].__class__ is int and x.shape[0] == OTHER),
    "hasattr": lambda x: scaled(x, hasattr(x.shape[0], "bit_length") and x.shape[0] == OTHER),
    "is_symbolic_dim": lambda x: scaled(x, not jax.export.is_symbolic_dim(x.shape[0]) and x.shape[0] == OTHER),
    "singledispatch": lambda x: x * factor(x.shape[0]),
    "match": matches,
    "match of a number": matches_a_number,
    "a caught int": tries(lambda x: int(x.shape[0])),
    "a caught index": tries(lambda x: operator.index(x.shape[0])),
    "a caught float": tries(lambda x: float(x.shape[0])),
    "a caught length": tries(len),
    "a caught range": tries(lambda x: len(range(x.shape[0]))),
    "a caught order": tries(lambda x: OTHER if not (x.shape[0] > OTHER or x.shape[0] < OTHER) else 0),
    "a caught sorting": tries(lambda x: sorted([OTHER, x.shape[0]])[0]),
    "a caught array": tries(lambda x: np.zeros(x.shape).size),
    "a caught eval_shape": tries(lambda x: jax.eval_shape(lambda y: y + jnp.zeros(OTHER, jnp.float32), x).size),
    "caught broadcast_shapes": tries(lambda x: jnp.broadcast_shapes(x.shape, (OTHER,))[0]),
    "a caught broadcast": broadcasts,
    "a suppressed error": suppresses,
    "numpy.array_equal": lambda x: scaled(x, np.array_equal(x.shape, (OTHER,))),
    "numpy.isin": lambda x: scaled(x, np.isin(OTHER, [x.shape[0]]).any()),
    "an array of sizes": lambda x: scaled(x, np.all(np.array(x.shape) == OTHER)),
    "a generator": lambda x: scaled(x, any(n == OTHER for n in x.shape)),
    "a derivative": jax.grad(lambda x: scaled(x, x.shape[0] == OTHER).sum()),
    "a vmapped function": lambda x: jax.vmap(lambda y: scaled(y, x.shape[0] == OTHER))(x),
}
"""How a function can look at the length of a vector."""


def checked(x):
    """Sizes that are one size are equal, and an argument that is wrong raises."""
    if x.shape != (x + x).shape:
        raise ValueError("shapes differ")
    assert x.shape[0] >= 1 and x.shape[0] != 0
    return x * (max(x.shape[0], 1) / x.shape[0])


def configured(x):
    """What is no size may be compared, looked up and written."""
    settings = {"scale": 1.0, x.ndim: x.dtype}
    assert settings[1] == jnp.float32, f"a vector of {x.dtype} is wanted"
    return getattr(x, "T", x) * settings.get("scale", 0.0)


def by_default(x):
    try:
        scale = {"scale": 1.0}["factor"]
    except KeyError:
        scale = 1.0
    return x * scale


FALSE: tuple[Row, ...] = tuple(
    row(f"looks at a size: {name}", function, jnp.ones_like if name == "a derivative" else lambda x: x, "n")
    for name, function in WAYS.items()
)
TRUE: tuple[Row, ...] = tuple(
    row(f"looks at no size: {f.__name__}", f, lambda x: x, "n") for f in (checked, configured, by_default)
)
