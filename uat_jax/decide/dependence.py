"""Which parameters depend on the input: "static" is an equation, "dynamic" is a pair of inputs.

A parameter p is static if p(x) = p(x̃) for any two inputs x and x̃, and dynamic if there are two at which it takes two
values.  So "static" is proved as the equation p(x) = p(x̃), whose two sides are one expression with the input doubled,
and "dynamic" by two inputs at which ball arithmetic separates the two exact values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy
from flint import arb

from uat_jax.decide.confirmation import check_definitions, proved
from uat_jax.decide.counterexample import Counterexample, named
from uat_jax.decide.exhibits import are_apart, held
from uat_jax.decide.statements import of_program, of_static
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import InputError
from uat_jax.numbers.balls.balls import enclosure
from uat_jax.numbers.balls.decisions import UndecidedError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step
from uat_jax.typing import Function

Arguments = m.Letter | Sequence[m.Letter]


def at_another(expression: m.Expression, argument: Arguments) -> m.Expression:
    """p(x̃): the expression with the input x, or each of several inputs, replaced by another letter of its shape.

    Raises `InputError` if another letter can be the input for some value of an index: it would stay behind; and if the
    input names a function, as x in x(y) does.
    """
    moved = {letter: _another(letter) for letter in _letters(argument)}

    _refuse_functions(expression, moved)

    def another(letter: m.Letter, ranges: Mapping[Any, Any]) -> m.Letter | None:
        _refuse_hidden(letter, moved, ranges, "the input")
        return moved.get(letter)

    return m.replace_letters(expression, another)


def _refuse_hidden(letter: m.Letter, known: Mapping[m.Letter, Any], ranges: Mapping[Any, Any], role: str) -> None:
    hidden = next((x for x in known if letter not in known and _can_be(letter, x, ranges)), None)
    if hidden is not None:
        raise InputError(f"{letter} may be {role} {hidden}; write the sum out or name {letter} as an input")


def _refuse_functions(expression: m.Expression, known: Mapping[m.Letter, Any]) -> None:
    """Raise `InputError` if a known letter, or one that may be it, names a function: it would not be replaced."""
    for name in (e.letter for e in expression.atoms(m.Dependent)):
        if any(name == x or _can_be(name, x, _all_indices(name)) for x in known):
            raise InputError(f"got the function {name}, whose letter is an input or defined; give it another name")


def _all_indices(letter: m.Letter) -> dict[Any, Any]:
    return dict.fromkeys(letter.free_symbols)


def _can_be(letter: m.Letter, argument: m.Letter, ranges: Mapping[Any, Any]) -> bool:
    """Whether some values of the indices make the letter the argument."""
    places = [(*of.subscripts, None, *of.superscripts) for of in (letter, argument)]
    if letter.name != argument.name or len(places[0]) != len(places[1]):
        return False
    return all(_can_agree(mine, given, ranges) for mine, given in zip(*places, strict=True))


def _can_agree(mine: Any, given: Any, ranges: Mapping[Any, Any]) -> bool:
    """Whether two places can be equal: indices are whole numbers, and any in a sum; other symbols are labels."""
    if mine == given:
        return True
    symbols = set().union(*(getattr(place, "free_symbols", ()) for place in (mine, given)))
    indices = {s: sympy.Dummy(s.name, integer=True) for s in symbols if s in ranges}
    if not indices and not any(s.is_integer for s in symbols):
        return False
    return (mine - given).xreplace(indices).is_zero is not False


def twice(parameter: m.Expression, argument: Arguments, where: Mapping[m.Letter, m.Expression] | None = None) -> Step:
    """The equation p(x) = p(x̃).

    ``where`` defines letters of p by expressions of earlier letters; they are unfolded first, since they may hide x.
    """
    defined = next((letter for letter in _letters(argument) if letter in (where or {})), None)
    if defined is not None:
        raise InputError(f"got a definition of the input {defined}; wanted an input that takes every value")
    whole = unfolded(parameter, where or {})
    return Step("one value at any two inputs", whole, at_another(whole, argument))


def unfolded(expression: m.Expression, where: Mapping[m.Letter, m.Expression]) -> m.Expression:
    """The expression with every defined letter replaced by what it stands for, down to letters without definition.

    Raises `InputError` if another letter can be a defined one for some value of an index, or where definitions go round
    in a circle, `ShapeError` where a letter and what it stands for have two shapes.
    """
    check_definitions(where)
    for part in (expression, *where.values()):
        _refuse_functions(part, where)
    known: dict[m.Letter, m.Expression] = {}

    def inside(letter: m.Letter, ranges: Mapping[Any, Any]) -> m.Expression | None:
        _refuse_hidden(letter, where, ranges, "the defined letter")
        if letter in where and letter not in known:
            known[letter] = m.replace_letters(where[letter], inside)
        return known.get(letter)

    return m.replace_letters(expression, inside)


def static(
    parameter: m.Expression,
    argument: Arguments,
    *,
    what: str,
    where: Mapping[m.Letter, m.Expression] | None = None,
    subject: str = "",
) -> Iterator[Evidence]:
    """PROVED if p(x) = p(x̃) in normal form, and confirmed in prime fields; UNKNOWN if the normal forms differ.

    ``parameter`` is p, ``argument`` the input, or all letters that depend on it; ``where`` defines letters of p.
    """
    for found in proved([twice(parameter, argument, where)], method=Method.DEPENDENCE, what=what):
        if found.verdict is Verdict.PROVED:
            found = replace(found, statements=of_static(parameter, _letters(argument), where or {}))
        yield replace(found, subject=subject)


def dynamic(
    function: Function,
    inputs: tuple[Any, Any],
    *,
    what: str,
    at: Mapping[str, Any] | None = None,
    subject: str = "",
) -> Evidence:
    """PROVED by two inputs at which balls separate the values of the parameter, UNKNOWN if they do not.

    ``function`` is a JAX function of one array that returns one array; ``inputs`` are two arrays of one shape, of
    numbers that float64 holds exactly (`InputError` otherwise); ``at`` names what else was chosen, such as the weights.
    Values that are not finite separate nothing, nor do values that rounded constants can make equal.
    """
    points = [held("x", x) for x in inputs]
    if len(points) != 2 or points[0].shape != points[1].shape:
        raise InputError(f"got inputs of shapes {[p.shape for p in points]}; wanted two of one shape")
    try:
        balls: list[Any] = [enclosure(function, x) for x in points]
    except UndecidedError as error:
        return Evidence(Method.DEPENDENCE, f"{what}: {error}", Verdict.UNKNOWN, subject=subject)
    apart = [i for i in np.ndindex(balls[0].shape) if are_apart(balls[0][i], balls[1][i])]
    if not apart:
        return Evidence(
            Method.DEPENDENCE, f"{what}: the two inputs do not separate its values", Verdict.UNKNOWN, subject=subject
        )
    entry = max(apart, key=lambda i: abs(float(balls[0][i].mid()) - float(balls[1][i].mid())))
    values = [_decimal(ball[entry]) for ball in balls]
    left, right = (f"{float(value):.6g}" for value in values)
    place = f"entry ({', '.join(str(i + 1) for i in entry)})" if entry else "its value"
    finding = f"{what}: {place} is {left} at {_shown(points[0])} and {right} at {_shown(points[1])}"
    shown = named({"x": points[0].tolist(), "x̃": points[1].tolist(), **(at or {})})
    witness = Counterexample(shown, left, right, (values[0], values[1]), names=("at x", "at x̃"))
    said = of_program(function, points, entry)
    return Evidence(Method.DEPENDENCE, finding, Verdict.PROVED, subject=subject, example=witness, statements=said)


def _letters(argument: Arguments) -> tuple[m.Letter, ...]:
    letters = (argument,) if isinstance(argument, m.Expression) else tuple(argument)
    if not letters or not all(isinstance(letter, m.Letter) for letter in letters):
        raise InputError(f"got {argument} as the input; wanted a letter, or several")
    return letters


def _another(letter: m.Letter) -> m.Letter:
    return m.Letter(f"{letter.name}\N{COMBINING TILDE}", *letter.shape, letter.subscripts, letter.superscripts)


def _shown(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{v:g}" for v in values.ravel()) + ")"


def _decimal(ball: arb) -> str:
    return ball.str(20, radius=False)
