"""A small input on which two programs differ: shapes of one, small whole numbers, as many zeros as can be had.

σ is relu, which is exact on whole numbers, so that both values are whole numbers as well.  A difference found in
float64 counts only after ball arithmetic has separated the two exact values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from jax.extend.core import ClosedJaxpr

from uat_jax.arithmetic.balls import Balls
from uat_jax.arithmetic.decisions import UndecidedError
from uat_jax.arithmetic.doubles import Doubles
from uat_jax.arithmetic.interpreter import interpret
from uat_jax.arithmetic.rounded_constants import enclosed
from uat_jax.arithmetic.tracing import trace
from uat_jax.decide.confirmation import equal_at, slices_exist, written_apart
from uat_jax.decide.counterexample import Counterexample, named
from uat_jax.decide.exhibits import are_apart
from uat_jax.decide.numpy_program import numpy_program
from uat_jax.decide.simplification import Trials, simplify
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.lowering import Lowered
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program

CANDIDATES, STARTS, EVALUATIONS = 256, 8, 400
"""How many inputs are drawn, how many of those that differ are made simpler, and in how many evaluations each."""

LARGEST = 2
"""Candidates are drawn from −2 … 2; whole numbers this small are exact in every dtype."""

NAMES = "network", "printed"


def find(left: Program, right: Program, argument: m.Letter, *, seed: int = 0) -> Counterexample | None:
    """A shrunk counterexample to left = right, or None if none is found at sizes up to 2.

    Both programs must use the same inputs or fewer; sizes are tried in order of their sum.  None is looked for where
    two letters are written alike: arrays are found by what is written.
    """
    if not written_apart(_letters(left, right)):
        return None
    for dimensions in _sizes(left, right):
        found = _Search(left, right, argument, _letters(left, right), dimensions).run(seed)
        if found is not None:
            return found
    return None


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


def _exactly(sizes: Mapping[Any, int]) -> dict[Any, Any]:
    return {symbol: sympy.Integer(size) for symbol, size in sizes.items()}


def refute(network: Program, printed: Program, argument: m.Letter) -> Evidence:
    """The counterexample as evidence: REFUTED, or UNKNOWN if none is found.

    ``smaller_shapes`` in its figures: how many smaller ones there are, and at how many of them prime fields find both
    sides equal.  Where these are all, no smaller shape shows the difference.
    """
    found = find(network, printed, argument)
    if found is None:
        return Evidence(Method.COUNTEREXAMPLE, "none found with sizes and numbers up to 2", Verdict.UNKNOWN)
    sizes = [{str(s): n for s, n in at.items()} for at in _sizes(network, printed)]
    smaller = _sizes(network, printed)[: sizes.index(dict(found.sizes))]
    figures = {"tried": len(smaller), "equal": sum(equal_at(network, printed, at) for at in smaller)}
    example = replace(found, program=_program(network, printed, found))
    return Evidence(
        Method.COUNTEREXAMPLE, _finding(found), Verdict.REFUTED, {"smaller_shapes": figures}, example=example
    )


def _finding(found: Counterexample) -> str:
    shown = ", ".join(f"{name} = {value}" for name, value in found.values.items() if np.any(np.asarray(value)))
    sides = f"{found.names[0]} {found.left}, {found.names[1]} {found.right}"
    return f"{shown or 'all 0'}: {sides} (σ = relu, other inputs 0)"


def _program(network: Program, printed: Program, found: Counterexample) -> str:
    by_name = {str(s): s for at in _sizes(network, printed) for s in at}
    sizes = {by_name[name]: size for name, size in found.sizes.items()}
    return numpy_program(network, printed, found.values, sizes, found.names)


@dataclass
class _Search:
    left: Program
    right: Program
    argument: m.Letter
    letters: tuple[m.Letter, ...]
    dimensions: Mapping[Any, int]

    def run(self, seed: int) -> Counterexample | None:
        random = np.random.default_rng(seed)
        count = sum(int(np.prod(s)) for s in self.shapes.values())
        candidates = random.integers(-LARGEST, LARGEST + 1, (CANDIDATES, count))
        differing = candidates[self.differ(candidates)]
        if not len(differing):
            return None
        starts = sorted(differing, key=_weight)[:STARTS]
        return self.confirmed(*min(map(self.shrunk, starts), key=lambda found: _weight(found[0])))

    @property
    def shapes(self) -> dict[m.Letter, tuple[int, ...]]:
        size = lambda s: int(s.xreplace(self.dimensions))
        return {l: (size(l.shape[0]), size(l.shape[1])) for l in self.letters}

    def arrays(self, numbers: Any) -> dict[str, Any]:
        """One flat vector cut into the letters' matrices."""
        sizes = [int(np.prod(s)) for s in self.shapes.values()]
        pieces = np.split(numbers, np.cumsum(sizes)[:-1]) if isinstance(numbers, np.ndarray) else None
        pieces = pieces or jnp.split(numbers, np.cumsum(sizes)[:-1].tolist())
        return {str(l): p.reshape(s) for (l, s), p in zip(self.shapes.items(), pieces, strict=True)}

    @cached_property
    def traces(self) -> tuple[ClosedJaxpr, ClosedJaxpr]:
        """Both programs as functions of one flat vector."""
        count = sum(int(np.prod(s)) for s in self.shapes.values())
        of = lambda program: trace(lambda numbers: self.value(program, numbers), np.zeros(count))
        return of(self.left), of(self.right)

    def value(self, program: Program, numbers: Any) -> Any:
        lowered = Lowered(program, self.argument, jax.nn.relu, dimensions=self.dimensions)
        arrays = self.arrays(numbers)
        x = arrays.pop(str(self.argument))
        return lowered._evaluate(lowered._merge(arrays), x)

    def values(self, candidates: np.ndarray) -> list[np.ndarray]:
        """Both results for many candidates at once, in float64; nothing is compiled."""
        points = np.asarray(candidates, np.float64)
        results = [np.asarray(interpret(traced, Doubles(), [points])[0]) for traced in self.traces]
        return [np.broadcast_to(r, (len(points), *r.shape[1:])) for r in results]

    def differ(self, candidates: np.ndarray) -> np.ndarray:
        """Which candidates make the two sides differ in float64 (exactly: all numbers are whole and small)."""
        left, right = self.values(candidates)
        return np.any((left != right).reshape(len(candidates), -1), axis=1)

    def shrunk(self, numbers: np.ndarray) -> tuple[np.ndarray, bool]:
        """Simpler numbers, mostly 0, for which the sides still differ, and whether no single one can be simpler."""
        trials = Trials(self.differ, CANDIDATES, EVALUATIONS, late=lambda: False)
        history, minimal = simplify(numbers.astype(np.float64), trials)
        return history[-1], minimal

    def confirmed(self, numbers: np.ndarray, minimal: bool) -> Counterexample | None:
        point = Balls().number(numbers)
        try:
            balls = [enclosed(traced, [point])[0] for traced in self.traces]
        except UndecidedError:  # a decision that rounded coefficients could change
            return None
        if not any(are_apart(a, b) for a, b in zip(*(b.ravel() for b in balls), strict=True)):
            return None
        shown = {name: _whole(value) for name, value in self.arrays(numbers.astype(float)).items()}
        left, right = (_whole(value[0]) for value in self.values(numbers[None]))
        texts = [", ".join(str(a) for a in b.ravel()) for b in balls]
        sizes = {str(s): n for s, n in self.dimensions.items()}
        exact = texts[0], texts[1]
        return Counterexample(named(shown), left, right, exact, NAMES, sizes, minimal=minimal)


def _weight(numbers: np.ndarray) -> tuple:
    """Fewer non-zeros first, then smaller magnitudes, then fewer minus signs."""
    return (
        int(np.count_nonzero(numbers)),
        int(np.abs(numbers).sum()),
        int((numbers < 0).sum()),
        tuple(-numbers),
    )


def _whole(array: Any) -> Any:
    """Nested lists of whole numbers; a plain number where there is only one."""
    values = np.asarray(array)
    numbers = [int(v) if v == int(v) else float(v) for v in values.ravel()]
    return numbers[0] if len(numbers) == 1 else np.array(numbers, dtype=object).reshape(values.shape).tolist()
