"""A small input on which two programs of the ledger differ: small shapes, small whole numbers, many zeros.

Both are traced to jaxprs of their letters, and `decide/witness.py` searches.  σ is relu, which is exact on whole
numbers, so that both values are whole numbers as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import jax
import numpy as np
import sympy
from jax.extend.core import ClosedJaxpr

from uat_jax.decide import witness
from uat_jax.decide.confirmation import equal_at, programs_at, slices_exist, written_apart
from uat_jax.decide.counterexample import Counterexample, named
from uat_jax.decide.figures import Searched, SmallerShapes
from uat_jax.decide.numpy_program import numpy_program
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.interpret.interpreter import interpret
from uat_jax.numbers.balls.balls import enclose, exact_balls
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program

NAMES = "network", "printed"


def find(left: Program, right: Program, *, seed: int = 0) -> Counterexample | None:
    """A shrunk counterexample to left = right, or None if none is found at sizes up to 2.

    Sizes are tried in order of their sum.  None is looked for where two letters are written alike: arrays are found by
    what is written.
    """
    return _found(left, right, _sizes(left, right), seed)


def _found(left: Program, right: Program, tried: Sequence[Mapping[Any, int]], seed: int = 0) -> Counterexample | None:
    """The counterexample at the first of the sizes that has one."""
    letters = _letters(left, right)
    if not written_apart(letters):
        return None
    for sizes in map(dict, tried):
        sides = programs_at(left, right, letters, sizes, jax.nn.relu)
        found = witness.find(*sides, seed=seed, candidates=witness.WHOLE)
        if found is not None:
            return _of_letters(found, letters, sides, {str(symbol): size for symbol, size in sizes.items()})
    return None


def _of_letters(
    found: Counterexample, letters: Sequence[m.Letter], sides: Sequence[ClosedJaxpr], sizes: Mapping[str, int]
) -> Counterexample:
    """The counterexample with named whole numbers as inputs, and all entries of both results."""
    points = [np.asarray(of.values, np.float64) for of in found.inputs]
    left, right = (_whole(interpret(side, Doubles(), [x[None] for x in points])[0][0]) for side in sides)
    balls = [enclose(side, list(map(exact_balls, points)))[0] for side in sides]
    exact = [", ".join(map(str, entries.ravel())) for entries in balls]
    shown = named({str(letter): _whole(x) for letter, x in zip(letters, points, strict=True)})
    return Counterexample(
        shown, left, right, (exact[0], exact[1]), NAMES, sizes, minimal=found.minimal, seed=found.seed
    )


def _letters(left: Program, right: Program) -> tuple[m.Letter, ...]:
    return tuple(dict.fromkeys((*left.inputs, *right.inputs)))


def _sizes(left: Program, right: Program) -> list[dict[Any, int]]:
    """The sizes that are tried, smallest first: at them every letter has whole dimensions and every slice exists."""
    dimensions = {size for l in _letters(left, right) for size in l.shape}
    symbols = sorted(set().union(*(size.free_symbols for size in dimensions)), key=str)
    choices = sorted(product((1, 2), repeat=len(symbols)), key=sum)
    tried: list[dict[Any, int]] = [dict(zip(symbols, sizes, strict=True)) for sizes in choices]
    whole = lambda number: number.is_Integer and number.is_positive
    possible = [at for at in tried if all(whole(size.xreplace(_exactly(at))) for size in dimensions)]
    return [at for at in possible if slices_exist((left, right), at)]


def _exactly(sizes: Mapping[sympy.Symbol, int]) -> dict[sympy.Symbol, sympy.Expr]:
    return {symbol: sympy.Integer(size) for symbol, size in sizes.items()}


def refute(network: Program, printed: Program) -> Evidence:
    """The counterexample as evidence: REFUTED, or UNKNOWN if none is found.

    ``smaller_shapes`` in its figures: how many smaller ones there are, and at how many of them prime fields find both
    sides equal.  Where these are all, no smaller shape shows the difference.
    """
    tried = _sizes(network, printed)
    found = _found(network, printed, tried)
    if found is None:
        return Evidence(Method.COUNTEREXAMPLE, "none found with sizes and numbers up to 2", Verdict.UNKNOWN)
    by_name = [{str(s): n for s, n in at.items()} for at in tried]
    place = by_name.index(dict(found.sizes))
    smaller = tried[:place]
    figures = Searched(SmallerShapes(len(smaller), sum(equal_at(network, printed, at) for at in smaller)))
    example = replace(found, program=numpy_program(network, printed, found.values, tried[place], found.names))
    return Evidence(Method.COUNTEREXAMPLE, _finding(found), Verdict.REFUTED, figures, example=example)


def _finding(found: Counterexample) -> str:
    shown = ", ".join(f"{name} = {value}" for name, value in found.values.items() if np.any(np.asarray(value)))
    sides = f"{found.names[0]} {found.left}, {found.names[1]} {found.right}"
    return f"{shown or 'all 0'}: {sides} (σ = relu, other inputs 0)"


def _whole(array: Any) -> Any:
    """Nested lists of whole numbers; a plain number where there is only one."""
    values = np.asarray(array)
    numbers = [int(v) if v == int(v) else float(v) for v in values.ravel()]
    return numbers[0] if len(numbers) == 1 else np.array(numbers, dtype=object).reshape(values.shape).tolist()
