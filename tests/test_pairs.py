"""The table of pairs is what it says: left and right agree as floats, and every wrong variant parts from left."""

from collections.abc import Iterator
from functools import cache
from math import prod
from typing import Any

import jax
import numpy as np
import pytest
from pairs import PAIRS, libraries
from pairs.pair import Pair

DRAWS = 8
SEPARATION = 1e-7
"""What a wrong variant differs by at least, relative to the largest output: far above every tolerance in float64."""

everywhere = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)


def in_single_precision(pair: Pair) -> bool:
    """jax.nn.dot_product_attention takes its softmax in float32 whatever its inputs are."""
    return pair.name.startswith("jax.nn.dot_product_attention")


def inputs(pair: Pair, seed: int) -> Any:
    """Standard normal arguments, in float64 where the pair can take them."""
    random = np.random.default_rng(seed)
    dtype = np.float32 if in_single_precision(pair) else np.float64
    return jax.tree.map(lambda spec: random.standard_normal(spec.shape).astype(dtype), pair.specs)


def flat(tree: Any) -> np.ndarray:
    return np.concatenate([np.ravel(leaf).astype(np.float64) for leaf in jax.tree.leaves(tree)])


@cache
def distances(index: int) -> tuple[float, dict[str, float], float]:
    """(right from left, each wrong variant from left, tolerance), the largest over the draws, relative to max |left|.

    The tolerance: every scalar operation rounds once, by at most u = 2⁻⁵³ (2⁻²⁴) of its result v, which moves the
    output by u·|v ∂output/∂v|. With standard normal inputs that product is on average no more than the largest output,
    so that R operations move it by u·R relative to the largest output; R counts all the functions of the pair.
    """
    pair = PAIRS[index]
    apart = np.zeros(1 + len(pair.wrong))
    with jax.enable_x64(not in_single_precision(pair)):
        every, count = compiled(pair)
        for seed in range(DRAWS):
            left, *others = map(flat, every(*inputs(pair, seed)))
            assert np.isfinite(left).all(), f"{pair.name}: left is not finite at seed {seed}"
            apart = np.maximum(apart, [np.abs(other - left).max() / np.abs(left).max() for other in others])
    unit = 2.0**-24 if in_single_precision(pair) else 2.0**-53
    return apart[0], dict(zip(pair.wrong, apart[1:], strict=True)), unit * count


def compiled(pair: Pair) -> tuple[Any, int]:
    """Left, right and all wrong variants as one program, unoptimised as it runs but a few times, and its operations."""
    functions = (pair.left, pair.right, *pair.wrong.values())
    traced = jax.jit(lambda *arguments: [function(*arguments) for function in functions]).trace(*inputs(pair, 0))
    options = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    return traced.lower().compile(compiler_options=options), operations(traced.jaxpr.jaxpr)


def operations(jaxpr: Any) -> int:
    """The scalar operations of a jaxpr: one per entry written or read, products times the length of their sums."""
    return sum(_operations(equation) for equation in jaxpr.eqns)


def _operations(equation: Any) -> int:
    inner = list(_jaxprs(equation.params))
    if inner:
        return equation.params.get("length", 1) * sum(map(operations, inner))
    sizes = [prod(getattr(atom.aval, "shape", ())) for atom in (*equation.invars, *equation.outvars)]
    if equation.primitive.name in ("dot_general", "conv_general_dilated"):
        # An entry of the result sums at most as many products as the smaller operand has entries.
        return sizes[-1] * min(sizes[:2])
    return max(sizes)


def _jaxprs(parameters: dict[str, Any]) -> Iterator[Any]:
    for value in jax.tree.leaves(list(parameters.values()), is_leaf=lambda x: hasattr(x, "eqns")):
        if hasattr(value, "eqns"):
            yield getattr(value, "jaxpr", value)


indices = pytest.mark.parametrize("index", range(len(PAIRS)), ids=[pair.name for pair in PAIRS])


@indices
def test_left_equals_right(index):
    apart, _, tolerance = distances(index)
    assert apart <= tolerance, f"seeds 0 to {DRAWS - 1}"


@indices
def test_every_wrong_variant_differs(index):
    _, wrong, tolerance = distances(index)
    least = max(SEPARATION, tolerance)
    alike = {name: apart for name, apart in wrong.items() if not apart > least}
    assert not alike, f"seeds 0 to {DRAWS - 1}: not told apart from left"


@everywhere
def test_a_pair_is_well_formed(pair):
    """Float32 specs; left, right and every wrong variant trace under strict promotion to the same output."""
    assert {leaf.dtype for leaf in jax.tree.leaves(pair.specs)} == {np.dtype(np.float32)}
    assert len(pair.wrong) >= 2
    shapes = lambda function: jax.eval_shape(function, *pair.specs)
    for function in (pair.right, *pair.wrong.values()):
        assert shapes(function) == shapes(pair.left)


def test_names_are_unique():
    names = [pair.name for pair in PAIRS]
    assert len(set(names)) == len(names)


def test_the_table_is_as_large_as_promised():
    assert len(PAIRS) >= 60
    assert sum(len(pair.wrong) for pair in PAIRS) >= 120


def test_libraries_are_compared_where_they_are_installed():
    assert bool(libraries.PAIRS) == libraries.AVAILABLE
