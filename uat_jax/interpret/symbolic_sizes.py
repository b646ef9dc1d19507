"""Symbolic dimensions in stored programs: texts such as "2*n + 1", read in one scope, or at sizes that are numbers.

A text is made of numbers, names, +, -, *, powers of names, and floordiv, mod, max and min; nothing in it is executed.
"""

from __future__ import annotations

import ast
import contextlib
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import jax

from uat_jax.errors import InputError, UatJaxError, UnsupportedError

LONGEST = 200
"""The longest text of a dimension."""

TOKEN = re.compile(r"(?P<number>\d{1,10})(?!\d)|(?P<name>[A-Za-z_]\w*)|(?P<sign>[-+*^(),]|\s)")

CALLED: Mapping[str, Callable[[int, int], int]] = {
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "max": max,
    "min": min,
}
"""What may be called in a text."""

BINARY: Mapping[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}

Reading = Callable[[str], Any]
_READING: ContextVar[Reading | None] = ContextVar("how texts of dimensions are read", default=None)


def is_symbolic(value: Any) -> bool:
    """Whether a value is a dimension that is no number."""
    return jax.export.is_symbolic_dim(value)


def written(dimension: Any) -> int | str:
    """A number as it is, or the text of a symbolic dimension.

    Raises:
        UnsupportedError: the text is not of the form that is read.
    """
    if not is_symbolic(dimension):
        return dimension
    text = str(dimension)
    if not readable(text):
        raise UnsupportedError(f"the dimension {text[:60]} cannot be written into a certificate")
    return text


def readable(text: str) -> bool:
    """Whether a text is of the form that is read: short, and with small powers of names alone."""
    tokens = list(TOKEN.finditer(text))
    if len(text) > LONGEST or "".join(token[0] for token in tokens) != text:
        return False
    tokens = [token for token in tokens if token[0].strip()]
    powers = [place for place, token in enumerate(tokens) if token[0] == "^"]
    return all(
        0 < place < len(tokens) - 1
        and tokens[place - 1]["name"]
        and tokens[place + 1]["number"]
        and int(tokens[place + 1][0]) < 10
        and (place + 2 == len(tokens) or tokens[place + 2][0] != "^")
        for place in powers
    )


def read(text: str) -> Any:
    """The dimension of a text, as `in_scope` or `at_sizes` say.

    Raises:
        InputError: it is none, or no symbolic dimensions are expected.
    """
    reading = _READING.get()
    if reading is None or not readable(text):
        raise InputError(
            f"the dimension {text[:60]!r} in the certificate is damaged; take the file as uat_jax wrote it"
        )
    try:
        return reading(text)
    except UatJaxError:
        raise
    except Exception as error:  # JAX's own parser raises anything
        raise InputError(
            f"the dimension {text[:60]!r} in the certificate is damaged; take the file as uat_jax wrote it"
        ) from error


@contextlib.contextmanager
def in_scope(constraints: Sequence[str]) -> Iterator[Any]:
    """Texts are symbolic dimensions of one new scope with these constraints, which is given.

    Raises:
        InputError: the constraints are none.
    """
    sides = [re.split("==|>=|<=", text) if isinstance(text, str) else [] for text in constraints]
    if not all(len(pair) == 2 and all(map(readable, pair)) for pair in sides):
        raise _damaged("one of the constraints of sizes")
    try:
        scope = jax.export.SymbolicScope(constraints)
    except Exception as error:
        raise _damaged("one of the constraints of sizes") from error
    token = _READING.set(lambda text: jax.export.symbolic_shape(text, scope=scope)[0])
    try:
        yield scope
    finally:
        _READING.reset(token)


@contextlib.contextmanager
def at_sizes(sizes: Mapping[str, int]) -> Iterator[None]:
    """Texts are the numbers that they are at these sizes."""
    token = _READING.set(lambda text: _value(ast.parse(text.replace("^", "**").strip(), mode="eval").body, sizes))
    try:
        yield
    finally:
        _READING.reset(token)


def _value(node: ast.expr, sizes: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name) if name in sizes:
            return sizes[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, sizes)
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in BINARY:
            return BINARY[type(operation)](_value(left, sizes), _value(right, sizes))
        case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]) if name in CALLED:
            return CALLED[name](_value(left, sizes), _value(right, sizes))
    raise _damaged("a dimension")


def _damaged(what: str) -> InputError:
    return InputError(f"{what} in the certificate is damaged; take the file as uat_jax wrote it")
