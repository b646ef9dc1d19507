"""A counterexample that is known beforehand: two functions, or two numbers, that should be equal and are not.

The values in float64 are shown; the verdict rests on their enclosures in ball arithmetic, or on exact numbers.
A constant in a function is any number that is rounded to the float written there (`recognition.Reading.NARROWED`):
differences that rounded constants can make refute nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import jax
import numpy as np
import sympy
from flint import arb, fmpq

from uat_jax.decide.counterexample import Counterexample, named
from uat_jax.decide.statements import of_unequal
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import InputError, ShapeError
from uat_jax.interpret.closed_form import precision
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.recognition import Reading
from uat_jax.interpret.tracing import single_output, trace
from uat_jax.numbers.balls.balls import DECIDING, Balls, enclose_readings
from uat_jax.numbers.balls.decisions import UndecidedError
from uat_jax.numbers.floats.doubles import Doubles

Names = tuple[str, str]


def exhibit(
    left: Callable[..., Any],
    right: Callable[..., Any],
    inputs: Mapping[str, Any],
    *,
    what: str,
    names: Names = ("true", "printed"),
) -> Evidence:
    """REFUTED if the enclosures of ``left(**inputs)`` and ``right(**inputs)`` are apart in some entry, else UNKNOWN.

    Apart are finite values that differ whichever numbers the constants of the functions were rounded from.

    Both are JAX functions of keyword arrays with one floating result of the same shape; the inputs are numbers or
    nested lists of numbers (int, float, Fraction) that float64 holds exactly.

    Raises:
        InputError: an input that float64 does not hold, or none at all.
        ShapeError: results of different shapes.
    """
    if not inputs:
        raise InputError(f"got no inputs for {what}; compare constants with exhibit_numbers")
    arrays = {name: held(name, value) for name, value in inputs.items()}
    with jax.enable_x64(True):
        traces = [trace(lambda a, f=f: f(**a), arrays) for f in (left, right)]
    shapes = [tuple(single_output(t).shape) for t in traces]
    if shapes[0] != shapes[1]:
        raise ShapeError(f"{names[0]} has shape {shapes[0]}, {names[1]} {shapes[1]}; wanted one shape")
    leaves = jax.tree.leaves(arrays)
    floats = [np.asarray(interpret(t, Doubles(), [x[None] for x in leaves])[0])[0] for t in traces]
    try:
        enclosed = lambda t: enclose_readings(t, [Balls().number(x) for x in leaves], reading=Reading.NARROWED)[0]
        balls: list[Any] = [enclosed(t) for t in traces]
    except UndecidedError as error:  # a decision that rounded constants could change
        return Evidence(Method.COUNTEREXAMPLE, f"{what}: {error}", Verdict.UNKNOWN)
    places = (i for i in np.ndindex(balls[0].shape) if are_apart(balls[0][i], balls[1][i]))
    place = next(places, None)
    texts = [", ".join(_decimal(ball) for ball in b.ravel()) for b in balls]
    found = _evidence(place is not None, what, names, inputs, [_plain(v) for v in floats], (texts[0], texts[1]))
    return found if place is None else replace(found, statements=of_unequal(traces, leaves, place))


def exhibit_numbers(
    left: Any, right: Any, *, at: Mapping[str, Any], what: str, names: Names = ("true", "printed")
) -> Evidence:
    """REFUTED if two exact numbers (int, Fraction, SymPy number) are different, else UNKNOWN.

    ``at`` says for which inputs they were computed.  Raises `InputError` for a float, a symbol or an infinity.
    """
    apart = same_number(exact_number(left), exact_number(right)) is False
    values = [_plain(left), _plain(right)]
    return _evidence(apart, what, names, at, values, (str(left), str(right)))


def exact_number(value: Any) -> Any:
    """A whole number, a fraction or a finite SymPy number without floats; `InputError` for anything else."""
    number = sympy.sympify(value)
    if not (getattr(number, "is_number", False) and number.is_finite) or number.has(sympy.Float):
        raise InputError(f"got {value}; wanted an exact finite number, such as Rational(1, 10) or sqrt(2)")
    return number


def same_number(left: Any, right: Any) -> bool | None:
    """Whether two exact numbers are equal, None if neither exact arithmetic nor balls can tell."""
    if left.is_Rational and right.is_Rational:
        return bool(left == right)
    try:
        with precision(DECIDING):
            ball = _enclosed_number(left - right)
    except (TypeError, ValueError):
        return None
    return False if are_apart(ball, arb(0)) else (left - right).equals(0) or None


_FUNCTIONS: dict[Any, Callable[[arb], arb]] = {
    sympy.exp: arb.exp, sympy.log: arb.log, sympy.Abs: abs, sympy.tanh: arb.tanh,
    sympy.sin: arb.sin, sympy.cos: arb.cos, sympy.tan: arb.tan, sympy.atan: arb.atan,
}  # fmt: skip


def _enclosed_number(number: Any) -> arb:
    """An exact number as a ball.  Raises TypeError for what has no rule here."""
    match number:
        case sympy.Rational():
            return arb(fmpq(int(number.p), int(number.q)))
        case sympy.core.numbers.Pi():
            return arb.pi()
        case sympy.core.numbers.Exp1():
            return arb(1).exp()
        case sympy.Add():
            return sum(map(_enclosed_number, number.args), start=arb(0))
        case sympy.Mul():
            return math.prod(map(_enclosed_number, number.args), start=arb(1))
        case sympy.Pow():
            return _enclosed_number(number.base) ** _enclosed_number(number.exp)
    if number.func not in _FUNCTIONS:
        raise TypeError(f"no ball for {number}")
    return _FUNCTIONS[number.func](_enclosed_number(number.args[0]))


def _said(name: str, value: Any) -> str:
    """A value with its name: "true 1", "MHA(2x) is 1"."""
    return f"{name} {value}" if name.isalpha() else f"{name} is {value}"


def _evidence(
    apart: bool, what: str, names: Names, inputs: Mapping[str, Any], values: list[Any], exact: tuple[str, str]
) -> Evidence:
    shown = ", ".join(f"{name} = {_plain(value)}" for name, value in inputs.items())
    where = f"at {shown}: " if shown else ""
    finding = f"{what}: {where}{_said(names[0], values[0])}, {_said(names[1], values[1])}"
    if not apart:
        return Evidence(Method.COUNTEREXAMPLE, f"{finding}: not seen to differ", Verdict.UNKNOWN)
    plain = named({name: _plain(value) for name, value in inputs.items()})
    example = Counterexample(plain, values[0], values[1], exact, names)
    return Evidence(Method.COUNTEREXAMPLE, finding, Verdict.REFUTED, example=example)


def are_apart(left: arb, right: arb) -> bool:
    """Whether two balls are finite and have no number in common."""
    return left.is_finite() and right.is_finite() and not left.overlaps(right)


def held(name: str, value: Any) -> np.ndarray:
    """Numbers as float64, which has to hold them exactly.  Raises `InputError` for anything else."""
    try:
        numbers = np.asarray(value, dtype=object)
        floats = numbers.astype(np.float64)
        exact = all(Fraction(float(f)) == Fraction(n) for f, n in zip(floats.ravel(), numbers.ravel(), strict=True))
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        raise InputError(f"got {value} for {name}, which float64 does not hold exactly; divide inside the function")
    return floats


def _plain(value: Any) -> Any:
    """Numbers as they are read best: whole ones without a point, fractions as text, nested lists for arrays."""
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(v) for v in value] if np.ndim(value) else _plain(np.asarray(value).item())
    if isinstance(value, float | np.floating):
        return int(value) if float(value).is_integer() else float(value)
    if isinstance(value, Fraction | sympy.Basic):
        number = sympy.sympify(value)
        return int(number) if isinstance(number, sympy.Integer) else str(number)
    return value


def _decimal(ball: arb) -> str:
    return ball.str(20, radius=False) if isinstance(ball, arb) else str(ball)
