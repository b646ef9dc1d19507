"""Which parameters depend on the input: "static" is an equation, "dynamic" is a pair of inputs.

A parameter p is static if p(x) = p(x̃) for any two inputs x and x̃, and dynamic if there are two at which it takes two
values.  So "static" is proved as the equation p(x) = p(x̃), whose two sides are one expression with the input doubled,
and "dynamic" by two inputs at which ball arithmetic separates the two exact values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flint import arb

from uat_jax.arithmetic.balls import exact
from uat_jax.certify.confirmation import proved
from uat_jax.certify.verdict import WITNESS, Evidence, Verdict
from uat_jax.errors import InputError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

METHOD = "dependence"
Arguments = m.Letter | Sequence[m.Letter]


def at_another(expression: m.Expression, argument: Arguments) -> m.Expression:
    """p(x̃): the expression with the input x, or each of several inputs, replaced by another letter of its shape.

    Raises `InputError` if a letter below Σ can be the input for some value of the sum's index: it would stay behind.
    """
    moved = {letter: _another(letter) for letter in _letters(argument)}

    def another(letter: m.Letter, ranges: Mapping[Any, Any]) -> m.Letter | None:
        hidden = next((x for x in moved if letter not in moved and _can_be(letter, x, ranges)), None)
        if hidden is not None:
            raise InputError(
                f"{letter} below Σ may be the input {hidden}; write the sum out or name {letter} as an input"
            )
        return moved.get(letter)

    return m.replace_letters(expression, another)


def _can_be(letter: m.Letter, argument: m.Letter, ranges: Mapping[Any, Any]) -> bool:
    """Whether some values of the indices of the sums in scope make the letter the argument."""
    places = [(*of.subscripts, None, *of.superscripts) for of in (letter, argument)]
    if letter.name != argument.name or len(places[0]) != len(places[1]):
        return False
    free = lambda place: getattr(place, "free_symbols", set()) & set(ranges)
    return all(mine == given or free(mine) for mine, given in zip(*places, strict=True))


def twice(parameter: m.Expression, argument: Arguments, where: Mapping[m.Letter, m.Expression] | None = None) -> Step:
    """The equation p(x) = p(x̃).

    ``where`` defines letters of p by expressions of earlier letters; they are unfolded first, since they may hide x.
    """
    whole = unfolded(parameter, where or {})
    return Step("one value at any two inputs", whole, at_another(whole, argument))


def unfolded(expression: m.Expression, where: Mapping[m.Letter, m.Expression]) -> m.Expression:
    """The expression with every defined letter replaced by what it stands for, down to letters without definition."""
    known: dict[m.Letter, m.Expression] = {}

    def inside(letter: m.Letter, _: Any) -> m.Expression | None:
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
    for found in proved([twice(parameter, argument, where)], method=METHOD, what=what):
        yield replace(found, subject=subject)


def dynamic(
    function: Callable[..., Any],
    inputs: tuple[Any, Any],
    *,
    what: str,
    at: Mapping[str, Any] | None = None,
    subject: str = "",
) -> Evidence:
    """PROVED by two inputs at which balls separate the values of the parameter, UNKNOWN if they do not.

    ``function`` is a JAX function of one array that returns one array; ``inputs`` are two arrays of one shape, of
    numbers that float64 holds exactly; ``at`` names what else was chosen, such as the weights.
    """
    points = [np.asarray(x, np.float64) for x in inputs]
    with jax.enable_x64(True):
        balls: list[Any] = [exact(function, (jnp.asarray(x),)) for x in points]
    apart = [i for i in np.ndindex(balls[0].shape) if not balls[0][i].overlaps(balls[1][i])]
    if not apart:
        return Evidence(METHOD, f"{what}: the two inputs do not separate its values", Verdict.UNKNOWN, subject=subject)
    entry = max(apart, key=lambda i: abs(float(balls[0][i].mid()) - float(balls[1][i].mid())))
    values = [_decimal(ball[entry]) for ball in balls]
    left, right = (f"{float(value):.6g}" for value in values)
    place = f"entry {tuple(i + 1 for i in entry)}" if entry else "its value"
    finding = f"{what}: {place} is {left} at {_shown(points[0])} and {right} at {_shown(points[1])}"
    witness = {
        "dimensions": {},
        "inputs": {"x": points[0].tolist(), "x̃": points[1].tolist(), **(at or {})},
        "names": ["at x", "at x̃"],
        "left": left,
        "right": right,
        "exact": values,
    }
    return Evidence(METHOD, finding, Verdict.PROVED, {WITNESS: witness}, subject=subject)


def _letters(argument: Arguments) -> tuple[m.Letter, ...]:
    return (argument,) if isinstance(argument, m.Letter) else tuple(argument)


def _another(letter: m.Letter) -> m.Letter:
    return m.Letter(f"{letter.name}\N{COMBINING TILDE}", *letter.shape, letter.subscripts, letter.superscripts)


def _shown(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{v:g}" for v in values.ravel()) + ")"


def _decimal(ball: arb) -> str:
    return ball.str(20, radius=False)
