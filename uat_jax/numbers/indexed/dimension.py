"""Symbolic dimensions of JAX as polynomials in the sizes, read from the text that JAX writes and reads."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.bounds import nonnegative
from uat_jax.numbers.indexed.functions import whole_part
from uat_jax.numbers.indexed.polynomial import Kind, Polynomial, constant, made, of
from uat_jax.numbers.indexed.predicates import split_by_remainder, split_by_size
from uat_jax.numbers.indexed.products import raised
from uat_jax.numbers.indexed.workspace import workspace


def dimension(size: Any) -> Polynomial:
    """A dimension such as 3, n, 2*n + 1, floordiv(n, 2), mod(n, 4) or max(n, m).

    Raises:
        UnsupportedError: an operation on sizes that is not followed.
        SizeCase: it depends on whether a size is at least a number.
        RemainderCase: it depends on the remainder of a size divided by a small number.
    """
    if isinstance(size, int | np.integer):
        name = workspace().lengths.get(int(size))
        return constant(int(size)) if name is None else _named(name)
    return _read(ast.parse(str(size).replace("^", "**"), mode="eval").body)


def _read(node: ast.expr) -> Polynomial:
    match node:
        case ast.Constant(value=int(number)):
            return constant(number)
        case ast.Name(id=name):
            return _named(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_read(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(exponent))):
            return raised(_read(left), exponent)
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in BINARY:
            return BINARY[type(operation)](_read(left), _read(right))
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in CALLED:
            return CALLED[name](*map(_read, arguments))
    raise UnsupportedError(f"the size '{ast.unparse(node)}' is not followed")


def _named(name: str) -> Polynomial:
    """A symbolic dimension, its number in the case that is looked at, or what it is by a constraint."""
    tables = workspace()
    if name in tables.fixed:
        return constant(tables.fixed[name])
    return dimension(tables.derived[name]) if name in tables.derived else of(made(Kind.SIZE, name))


BINARY: Mapping[type, Callable[[Polynomial, Polynomial], Polynomial]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
}


def _larger(a: Polynomial, b: Polynomial) -> Polynomial:
    if nonnegative(a - b):
        return a
    if nonnegative(b - a):
        return b
    split_by_size(a - b)
    split_by_size(b - a)
    raise UnsupportedError(f"which of the sizes {a} and {b} is larger is not known")


def _positive_quotient(a: Polynomial, b: Polynomial) -> Polynomial:
    if not nonnegative(b - 1):
        raise UnsupportedError(f"a size is divided by {b}, which may be 0")
    found = whole_part(a, b)
    if any(letter.kind is Kind.QUOTIENT for letter in found.letters):
        split_by_remainder(a, b)
    return found


CALLED: Mapping[str, Callable[[Polynomial, Polynomial], Polynomial]] = {
    "max": _larger,
    "min": lambda a, b: a + b - _larger(a, b),
    "floordiv": _positive_quotient,
    "mod": lambda a, b: a - _positive_quotient(a, b) * b,
}
"""Operations on sizes, as JAX writes them."""


def smallest(symbol: Any) -> int:
    """The least value of a symbolic dimension that JAX can prove from its constraints; at least 1."""
    least, step = 1, MOST
    while step:
        if _is_at_least(symbol, least + step):
            least += step
        step //= 2
    return least


MOST = 1 << 20
"""Half of the largest smallest value that is looked for."""


def _is_at_least(symbol: Any, number: int) -> bool:
    """Whether JAX can tell."""
    try:
        return bool(symbol >= number)
    except Exception:  # JAX raises where it cannot tell, with an error class that it does not export
        return False
