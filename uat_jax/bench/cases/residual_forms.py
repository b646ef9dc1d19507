"""A residual network and the orders of evaluating its closed form (L1, L2): merged, nested, merged for every input."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import jax

from uat_jax.bench import residual
from uat_jax.bench.case import Case, Experiment, Program, Size
from uat_jax.bench.residual import SIGMA, network, network_of_columns
from uat_jax.lowering import Lowered, LoweredRecursion, split
from uat_jax.symbolic import language as m
from uat_jax.symbolic.derivation import Derivation, derive
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.program import Program as Lines
from uat_jax.symbolic.recursion import closed_form_recursion
from uat_jax.typing import PyTree

MERGED_LIMIT = 1.5
"""For F = 4 D, where counting says 13/9."""
NESTED_SLACK = 1.3
"""The nested form's time over what its products predict."""
DEEPEST_TREE = 7


def build(depth: int, width: int, hidden: int, batch: int, dtype: str) -> Experiment:
    """The network (the baseline), the closed form merged once, and the nested form: every s_k once, or as a tree."""
    of, operations = residual.draw(depth, width, hidden, batch, dtype), residual.count(width, hidden, batch)
    L, derivation = depth, derive("residual", depth=depth)
    wide = hidden / width - 2 if depth > 1 else 0  # B_2 Ŵ_{1,3} is merged into one F × F matrix
    memoised = Lowered(derivation.parameters, derivation.layers.x(0), SIGMA)
    merged = LoweredRecursion(closed_form_recursion("residual"), SIGMA)
    programs = {
        "network": Program(network_of_columns, (of.weights, of.inputs), operations=operations(L, 2 * L)),
        "merged": Program(merged.evaluate, (merged.merge(of.weights), of.inputs), operations=operations(L + 1, 3 * L)),
        "nested": Program(
            columns(memoised.evaluate),
            (memoised.merge(separate(of.weights, derivation.layers)), of.inputs),
            operations=operations(1, L * (L + 5) / 2 - 1 + wide),
        ),
    }
    if depth <= DEEPEST_TREE:
        programs["tree"] = tree_program(derivation, of, operations(1, 5 * 2 ** (L - 1) - 3 + wide * 2 ** (L - 2)))
    limits = {"nested": NESTED_SLACK * operations(1, L * (L + 5) / 2 - 1) / operations(L, 2 * L)}
    limits |= {"merged": MERGED_LIMIT} if hidden == 4 * width else {}
    return residual.experiment(dict.fromkeys(programs, of), programs, limits=limits)


def columns(function: Callable[[PyTree, jax.Array], jax.Array]) -> Callable[[Any, jax.Array], jax.Array]:
    """The function of one input for each column of a matrix."""
    return jax.vmap(function, in_axes=(None, 1), out_axes=1)


def separate(weights: residual.Arrays, layers: Layers) -> dict[str, jax.Array]:
    """``{"A_j": …}`` as ``{"A_1": …, "A_2": …}``."""
    depth = len(weights["A_j"])
    return {str(p): weights[f"{p.name}_j"][j] for j in range(depth) for p in layers.parameters(j + 1)}


# --- the tree ------------------------------------------------------------------------------------------------------


def tree_program(derivation: Derivation, of: residual.Residual, operations: float) -> Program:
    """x_L with every s_k written out wherever it stands, and an x_0 of its own for every mention of x_0.

    A compiler computes equal expressions once (XLA does, behind `jax.lax.optimization_barrier` too), but cannot know
    that these arguments are equal.
    """
    lines, mentions = written_out(derivation.parameters, derivation.layers.x(0))
    lowered = Lowered(lines, derivation.layers.x(0), SIGMA)

    def tree(hatted: PyTree, x: jax.Array) -> jax.Array:
        """x: the copies of one input, (mentions, D)."""
        functions = {str(name): lambda _, own=own: own[:, None] for name, own in zip(mentions, x, strict=True)}
        return Lowered(lines, lowered.argument, SIGMA, functions=functions).evaluate(hatted, x[0])

    copies = jax.numpy.stack([of.inputs] * len(mentions))
    over_columns = jax.vmap(tree, in_axes=(None, 2), out_axes=1)
    return Program(
        over_columns, (lowered.merge(separate(of.weights, derivation.layers)), copies), operations=operations
    )


def written_out(program: Lines, argument: m.Letter) -> tuple[Lines, list[m.Letter]]:
    """The program with one line for what depends on the argument; its mentions are opaque functions with a number."""
    _, dynamic = split(program, argument)
    numbers, mentions = count(1), []

    def unfold(letter: m.Letter, _: PyTree) -> m.Expression | None:
        if letter == argument:
            mentions.append(m.Letter(letter.name, *letter.shape, letter.subscripts, (next(numbers),)))
            return m.Dependent(mentions[-1], argument)
        return m.replace_letters(program[letter], unfold) if letter in dynamic else None

    static = {letter: line for letter, line in program.items() if letter not in dynamic}
    result = m.replace_letters(program[program.result], unfold)
    return Lines(static | {program.result: result}, program.result), mentions


# --- parameters that depend on the input -----------------------------------------------------------------------------


def build_dynamic(depth: int, width: int, hidden: int, batch: int, dtype: str) -> Experiment:
    """The network with parameters for every input (the baseline); the same, merged for every input."""
    of, operations = residual.draw(depth, width, hidden, batch, dtype, each=True), residual.count(width, hidden, batch)
    L, recursion = depth, closed_form_recursion("residual")
    composing, rest = operations(width + 1, 0), operations(L + 1, 3 * L) + operations(0, L * (width + 1))
    ways = {
        "network": (network, operations(L, 2 * L)),
        "merged": (LoweredRecursion(recursion, SIGMA), rest + L * composing),
        "merged in rounds": (
            LoweredRecursion(recursion, SIGMA, parallel=True),
            rest + residual.compositions(L) * composing,
        ),
    }
    programs = {
        name: Program(jax.vmap(way, in_axes=1, out_axes=1), (of.weights, of.inputs), operations=number)
        for name, (way, number) in ways.items()
    }
    return residual.experiment(dict.fromkeys(programs, of), programs)


def _size(depth: int, width: int, batch: int = 256, dtype: str = "float32") -> Size:
    """F = 4 D."""
    return {"depth": depth, "width": width, "hidden": 4 * width, "batch": batch, "dtype": dtype}


CASES = (
    Case(
        name="residual-forms",
        question="What do the closed forms of a residual network cost, evaluated for many inputs?",
        build=build,
        quick=(_size(3, 8, 4),),
        standard=(_size(4, 64), _size(6, 128), _size(6, 256), _size(12, 128)),
        full=(
            *(_size(L, 128) for L in (2, 3, 4, 6, 12, 24)),
            *(_size(6, D) for D in (32, 64, 256, 512)),
            *(_size(6, 128, n) for n in (1, 16, 64, 1024)),
            *(_size(6, 128, dtype=dtype) for dtype in ("float64", "bfloat16")),
        ),
        axes=("depth", "width", "batch"),
    ),
    Case(
        name="residual-dynamic",
        question="What does the closed form cost if every input has parameters of its own and they are merged for it?",
        build=build_dynamic,
        quick=(_size(3, 8, 2),),
        standard=(_size(6, 32, 16), _size(6, 64, 16)),
        full=(
            *(_size(6, D, 16) for D in (16, 32, 64, 128)),
            *(_size(L, 64, 16) for L in (3, 12, 24)),
            *(_size(6, 64, n) for n in (1, 4, 64)),
            _size(6, 64, 16, "float64"),
        ),
        axes=("depth", "width", "batch"),
    ),
)
