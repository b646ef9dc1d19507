"""All functions of a pair as one compiled program in floats, and how far rounding can move its outputs."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import prod
from typing import Any

import jax
import numpy as np

from .pair import Pair

EXACT = frozenset("add sub mul div neg max min abs sign sqrt select_n gt lt ge le eq ne reduce_sum reduce_max".split())
"""Primitives whose result is the exact one, rounded once (or, of sums, once for each term)."""

UNITS = 16
"""So many units in the last place may XLA's other functions be off; what only moves numbers is counted like them."""


@dataclass(frozen=True)
class Evaluated:
    """Left, right and every wrong variant of a pair, compiled together.

    `dtype` is float64 where the pair can take it. `tolerance` bounds what rounding does to an output, relative to its
    largest entry: every scalar operation rounds once, by at most u of its result v (`UNITS` times u where it is no
    exact operation), which moves the output by u·|v ∂output/∂v|. At inputs of moderate size that product is on average
    no more than the largest output, so that R operations move it by u·R; R counts all the functions of the pair. u is
    that of float32 where any of them computes in it. `constants` is the same for the numbers in the text of the
    functions, which float32 specs round to float32 and float64 inputs do not: 2⁻²⁴ for each that changes.
    """

    program: Callable
    dtype: np.dtype
    tolerance: float
    constants: float

    def __call__(self, arguments: Any) -> list[list[np.ndarray]]:
        """The outputs of left, right and the wrong variants in the order of the table: lists of float64 arrays."""
        with precision(self.dtype):
            outputs = self.program(*jax.tree.map(lambda x: np.asarray(x).astype(self.dtype), arguments))
        return [[np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(output)] for output in outputs]


def precision(dtype: np.dtype) -> AbstractContextManager:
    """The context in which JAX has this dtype."""
    return jax.enable_x64(dtype == np.float64)


def dtype_of(pair: Pair) -> np.dtype:
    """Float64, unless a pair takes no other inputs than float32."""
    return np.dtype(np.float32 if pair.single else np.float64)


def evaluated(pair: Pair) -> Evaluated:
    """The functions compiled without optimisation, for they run but a few times."""
    functions, dtype = (pair.left, pair.right, *pair.wrong.values()), dtype_of(pair)
    specs = jax.tree.map(lambda spec: jax.ShapeDtypeStruct(spec.shape, dtype), pair.specs)
    with precision(dtype):
        traced = jax.jit(lambda *arguments: [function(*arguments) for function in functions]).trace(*specs)
        options = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
        program = traced.lower().compile(compiler_options=options)
    changed = rounded_constants(traced.jaxpr) if dtype == np.float64 else 0
    unit = 2.0**-53 if dtype == np.float64 and not in_single(traced.jaxpr.jaxpr) else 2.0**-24
    return Evaluated(program, dtype, unit * operations(traced.jaxpr.jaxpr), 2.0**-24 * changed)


def operations(jaxpr: Any) -> int:
    """The scalar operations of a jaxpr: one per entry written or read, products times the length of their sums."""
    return sum(_operations(equation) for equation in jaxpr.eqns)


def _operations(equation: Any) -> int:
    inner = [getattr(program, "jaxpr", program) for program in _programs(equation.params)]
    if inner:
        return equation.params.get("length", 1) * sum(map(operations, inner))
    sizes = [prod(getattr(atom.aval, "shape", ())) for atom in (*equation.invars, *equation.outvars)]
    if equation.primitive.name in ("dot_general", "conv_general_dilated"):
        # An entry of the result sums at most as many products as the smaller operand has entries.
        return sizes[-1] * min(sizes[:2])
    return max(sizes) * (1 if equation.primitive.name in EXACT else UNITS)


def in_single(jaxpr: Any) -> bool:
    """Whether a program computes anything in float32: some libraries do, whatever their inputs are."""
    single = lambda equation: any(getattr(v.aval, "dtype", None) == np.float32 for v in equation.outvars)
    return any(
        single(e) or any(map(in_single, (getattr(p, "jaxpr", p) for p in _programs(e.params)))) for e in jaxpr.eqns
    )


def rounded_constants(program: Any) -> int:
    """How many numbers in the text of a program are no float32: literals, and entries of captured arrays."""
    jaxpr = getattr(program, "jaxpr", program)
    count = sum(_rounded(array) for array in getattr(program, "consts", ()))
    for equation in jaxpr.eqns:
        count += sum(_rounded(atom.val) for atom in equation.invars if hasattr(atom, "val"))
        count += sum(map(rounded_constants, _programs(equation.params)))
    return count


def _rounded(array: Any) -> int:
    values = np.asarray(array)
    if values.dtype != np.float64:
        return 0
    with np.errstate(over="ignore"):  # the lowest float64, as a mask
        return int(np.sum(values.astype(np.float32) != values))


def _programs(parameters: dict[str, Any]) -> Iterator[Any]:
    """The jaxprs, closed or not, among the parameters of an equation."""
    for value in jax.tree.leaves(list(parameters.values()), is_leaf=lambda x: hasattr(x, "eqns")):
        if hasattr(value, "eqns"):
            yield value
