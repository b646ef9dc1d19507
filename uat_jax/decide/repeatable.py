"""Whether a function is one at all: traced twice, it has to be the same program.

A function that draws a random number, counts its calls or reads a clock while it is traced is another program each
time, and a certificate would be about one of them.  So each function is traced once more, at the first sizes, and a
difference between both programs that can be seen is an error.  What cannot be compared, such as a function among the
parameters of an operation, is taken for the same: this is a look for mistakes and no part of any proof.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from uat_jax.decide.loops.walk import without_dead
from uat_jax.interpret.tracing import source_line
from uat_jax.typing import Array, Atom

NUMBERS = (bool, int, float, complex, enum.Enum, np.dtype, np.ndarray, np.generic, jax.Array)
"""The types of parameters that are compared; texts are not: they may be names that are made up anew."""


def first_change(once: ClosedJaxpr, again: ClosedJaxpr) -> str | None:
    """What a second trace of a function made otherwise, at the first operation that differs; None if nothing is."""
    return next(_of_programs(once, again), None)


def _of_programs(once: ClosedJaxpr, again: ClosedJaxpr) -> Iterator[str]:
    """The differences between what two programs compute: random weights that are written over at once do not count."""
    once, again = without_dead(once), without_dead(again)
    yield from _changes(once.jaxpr, once.consts, again.jaxpr, again.consts)


def _changes(once: Jaxpr, constants: Any, again: Jaxpr, others: Any) -> Iterator[str]:
    """The differences between two programs, in the order of their operations."""
    names: tuple[dict[Any, Any], dict[Any, Any]] = {}, {}
    for side, jaxpr in enumerate((once, again)):
        names[side].update({v: place for place, v in enumerate((*jaxpr.invars, *jaxpr.constvars))})
    changed = {
        len(once.invars) + place: (x, y)
        for place, (x, y) in enumerate(zip(constants, others, strict=False))
        if differ(x, y)
    }
    for place, (a, b) in enumerate(zip_longest(once.eqns, again.eqns)):
        if a is None or b is None:
            time, more = ("second", b) if a is None else ("first", a)
            yield f"the {time} time there is one more operation, {_named(more)}"
            return
        if a.primitive.name != b.primitive.name:
            yield f"{_named(a)} the first time is {_named(b)} the second time"
            return
        yield from _of_operands(a, b, names, changed)
        yield from _of_parameters(a, b)
        for side, equation in enumerate((a, b)):
            names[side].update({v: (place, i) for i, v in enumerate(equation.outvars)})
    for x, y in zip(once.outvars, again.outvars, strict=False):
        yield from _of_atoms("what is returned", x, y, names, changed)
    if len(once.outvars) != len(again.outvars):
        yield f"{len(once.outvars)} arrays are returned the first time, {len(again.outvars)} the second time"


def _of_operands(a: JaxprEqn, b: JaxprEqn, names: Any, changed: Mapping[int, Any]) -> Iterator[str]:
    for x, y in zip(a.invars, b.invars, strict=False):
        yield from _of_atoms(_named(a), x, y, names, changed)
    if len(a.invars) != len(b.invars) or [v.aval.str_short() for v in a.outvars] != [
        v.aval.str_short() for v in b.outvars
    ]:
        yield f"{_named(a)} has other operands or results the second time"


def _of_atoms(where: str, x: Atom, y: Atom, names: Any, changed: Mapping[int, Any]) -> Iterator[str]:
    """The difference between two operands."""
    if isinstance(x, Literal) and isinstance(y, Literal):
        if differ(x.val, y.val):
            yield f"{where} takes {_shown(x.val)} the first time and {_shown(y.val)} the second time"
    elif isinstance(x, Literal) or isinstance(y, Literal) or names[0].get(x) != names[1].get(y):
        yield f"{where} takes other operands the second time"
    elif names[0].get(x) in changed:
        first, second = changed[names[0][x]]
        yield f"{where} takes {_shown(first)} the first time and {_shown(second)} the second time"


def _of_parameters(a: JaxprEqn, b: JaxprEqn) -> Iterator[str]:
    for name in a.params.keys() & b.params.keys():
        yield from _of_values(f"{_named(a)}, parameter {name!r}", a.params[name], b.params[name])


def _of_values(where: str, x: Array, y: Array) -> Iterator[str]:
    """The differences between two parameters, as far as they are numbers, programs, and containers of them."""
    if isinstance(x, ClosedJaxpr) and isinstance(y, ClosedJaxpr):
        yield from _of_programs(x, y)
    elif isinstance(x, Jaxpr) and isinstance(y, Jaxpr):
        yield from _changes(x, (), y, ())
    elif isinstance(x, tuple | list) and isinstance(y, tuple | list):
        if len(x) != len(y):
            yield f"{where} is longer one of both times"
        for one, other in zip(x, y, strict=False):
            yield from _of_values(where, one, other)
    elif isinstance(x, NUMBERS) and isinstance(y, NUMBERS) and differ(x, y):
        yield f"{where} is {_shown(x)} the first time and {_shown(y)} the second time"


def differ(x: Any, y: Array | float) -> bool:
    """Whether two numbers or arrays are not the same, bit for bit."""
    if x is y or isinstance(x, enum.Enum | np.dtype):
        return x is not y and x != y
    x, y = (np.asarray(jax.random.key_data(v) if _is_key(v) else v) for v in (x, y))
    return x.dtype != y.dtype or x.shape != y.shape or x.tobytes() != y.tobytes()


def _is_key(value: Any) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def _named(equation: Any) -> str:
    return f"'{equation.primitive.name}'{source_line(equation)}"


def _shown(value: Any) -> str:
    """A number, or the type of an array."""
    if np.ndim(value) == 0 and not _is_key(value):
        return str(value)
    return f"an array {value.dtype}{list(np.shape(value))} of other entries"
