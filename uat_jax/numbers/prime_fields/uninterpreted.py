"""A primitive without a rule as an uninterpreted function in prime fields: equal operands, equal results.

Each of its results is a random function of all entries of all operands, of the parameters, and of the place.  What
holds for every such function holds for the primitive, provided that it is a function of real numbers; so primitives
that look at bits, or draw random numbers, are refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.extend.core import JaxprEqn, Var

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.canonical_form import parameters_digest
from uat_jax.interpret.concrete import is_keys
from uat_jax.interpret.interpreter import inner_programs
from uat_jax.interpret.outside_function import OUTSIDE, named
from uat_jax.interpret.primitives import TABLE, UNINTERPRETED, refuse
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.numbers.prime_fields.facts import Defined, Facts, Nature
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.residues import Draw, Residues
from uat_jax.typing import Array

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields


def apply_uninterpreted(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> list[Number]:
    """The results of an equation whose primitive has no rule.

    Raises:
        UnsupportedError: it is no function of real numbers as far as is known; the message says why.
    """
    check_function(equation)
    numbers = [operand for operand in operands if isinstance(operand, Number)]
    if any(number.special is not None for number in numbers):
        raise UnsupportedError(f"{named(equation)} has no rule and takes an infinity or NaN; mask after it")
    if any(number.infinite is not None or number.facts is None or number.facts.hollow for number in numbers):
        raise UnsupportedError(f"{named(equation)} has no rule and takes a number that may be infinite; add one to it")
    if equation.primitive is OUTSIDE and not fields.certain(*numbers):
        raise UnsupportedError(f"{named(equation)} takes a number that may be NaN, of which it may make anything")
    fixed = [_text(operand) for operand in operands if not isinstance(operand, Number)]
    where = [isinstance(operand, Number) for operand in operands]
    name = hashlib.sha256(repr((parameters_digest(equation), where, fixed)).encode()).hexdigest()
    totals = [_of_all_entries(fields.draw, f"{name} operand {k}", n.residues) for k, n in enumerate(numbers)]
    found = [
        _at_all_places(fields.draw, f"{name} result {k}", totals, shape_of(variable))
        for k, variable in enumerate(equation.outvars)
    ]
    if equation.primitive is not OUTSIDE:
        return found
    return [x if is_number(v) else _whole(fields, x, v) for x, v in zip(found, equation.outvars, strict=True)]


def _whole(fields: Fields, x: Number, variable: Var) -> Number:
    """An integer or boolean result, which is one for all inputs: no NaN is among these."""
    nothing = np.zeros(x.shape, bool)
    x = fields.functions.choice(x.residues) if dtype_of(variable) == np.bool_ else x
    return x.but(facts=Facts(Nature.PIECEWISE, Defined.ALWAYS, False, nothing, nothing, nothing))


def refuse_infinite(equation: JaxprEqn, x: Number) -> None:
    """Return if a number is finite wherever it is defined.  Raises `UnsupportedError`."""
    if x.special is not None or x.infinite is not None or x.facts is None or x.facts.hollow:
        raise UnsupportedError(f"{named(equation)} takes a number that may be infinite; add one to it")


def of_matrix(fields: Fields, name: str, x: Number, shape: tuple[int, ...]) -> Number:
    """A function of all entries of an array of which nothing else is known; it may be undefined."""
    name, nothing = f"{name} of shape {x.shape}", np.zeros(shape, bool)
    total = _of_all_entries(fields.draw, f"{name}, entry", x.residues)
    guarded = x.facts is not None and x.facts.guarded
    return _at_all_places(fields.draw, name, [total], shape).but(
        facts=Facts(Nature.PIECEWISE, Defined.PARTLY, False, nothing, nothing, nothing, guarded)
    )


def _of_all_entries(draw: Draw, name: str, x: Residues) -> Residues:
    """One number for a whole array: the sum of a random function of each entry and its place."""
    size = int(np.prod(x.shape))
    return draw.sum(draw.opaque(name, x.reshaped((size,)), draw.floats(np.arange(size, dtype=float))), (0,))


def _at_all_places(draw: Draw, name: str, totals: Sequence[Residues], shape: Sequence[int]) -> Number:
    """A random function of these numbers and the place."""
    size = int(np.prod(shape))
    places = draw.floats(np.arange(size, dtype=float))
    spread = [
        Residues(tuple(np.broadcast_to(level[:, None], (len(level), size)) for level in total.levels), total.degree)
        for total in totals
    ]
    return Number(draw.opaque(name, *spread, places).reshaped(tuple(shape)))


def check_function(equation: JaxprEqn) -> None:
    """Raises `UnsupportedError` unless the primitive can be taken for a function of real numbers."""
    for inner in _within(equation):
        refuse(inner)
        name = inner.primitive.name
        if name not in UNINTERPRETED and (name not in TABLE or TABLE[name].fields == "none"):
            raise UnsupportedError(
                f"prime-field arithmetic has no rule for {named(equation)}, and it is not known to be a function of "
                f"real numbers: '{name}' stands in no table, or looks at bits or makes random ones"
            )


def _within(equation: JaxprEqn) -> Iterator[JaxprEqn]:
    """The equation and all those in the functions that it is given."""
    yield equation
    for program in inner_programs(equation):
        for inner in getattr(program, "jaxpr", program).eqns:
            yield from _within(inner)


def _text(array: Array) -> tuple[Any, ...]:
    """A concrete operand: its dtype, shape and bits."""
    if is_keys(array):
        return str(array.dtype), array.shape, np.asarray(jax.random.key_data(array)).tobytes()
    array = np.asarray(array)
    return str(array.dtype), array.shape, array.tobytes()
