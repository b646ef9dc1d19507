"""Ŵ_{j,1} and b̂_{j,3} for every j: affine maps composed one after the other, or in rounds (DUAT, App. B.3; L6).

The papers call the computation serial because W_{3,1} needs W_{2,1}; products are associative.
"""

from __future__ import annotations

from math import log2

import numpy as np

from uat_jax.bench import residual
from uat_jax.bench.case import Case, Experiment, Program, Size
from uat_jax.bench.residual import SIGMA, compare, compositions, roundings
from uat_jax.lowering import LoweredRecursion
from uat_jax.symbolic.recursion import closed_form_recursion
from uat_jax.typing import PyTree

MATRICES, BIASES = "Ŵ_{j,1}", "b̂_{j,3}"


def build(depth: int, width: int, dtype: str) -> Experiment:
    """One after the other (the baseline): L products. In rounds of neighbours: up to 2 L, in 2 log₂ L rounds."""
    of = residual.draw(depth, width, 1, 1, dtype)
    recursion = closed_form_recursion("residual")
    serial, parallel = (LoweredRecursion(recursion, SIGMA, parallel=p).prefixes for p in (False, True))
    operations = 2.0 * width**2 * (width + 1)
    programs = {
        "one after the other": Program(serial, (of.weights,), operations=depth * operations),
        "in rounds": Program(parallel, (of.weights,), operations=compositions(depth) * operations),
    }
    P, q = _exact(of.weights)
    of_P, of_q = _tolerances(depth, width, dtype)

    def check(name: str, answer: PyTree) -> None:
        compare(name, answer[MATRICES], P, of_P)
        compare(name, np.asarray(answer[BIASES])[:, :, 0], q, of_q)

    return Experiment(programs, check, wrong=_one_layer_late)


def _exact(weights: residual.Arrays) -> tuple[np.ndarray, np.ndarray]:
    A, c = (np.asarray(weights[name], np.float64) for name in ("A_j", "c_j"))
    P, q = [A[0]], [c[0]]
    for A_j, c_j in zip(A[1:], c[1:], strict=True):
        P, q = [*P, A_j @ P[-1]], [*q, A_j @ q[-1] + c_j]
    return np.stack(P), np.stack(q)


def _tolerances(depth: int, width: int, dtype: str) -> tuple[float, float]:
    """Of P_j and q_j, in any order of composition; for ‖A_j‖ = 1/2 and |c_j| ≤ 1/2.

    A product of m matrices is at most 2⁻ᵐ and off by (m − 1) 2⁻ᵐ ε ≤ ε/4.  An upper half of m maps on a lower one adds
    (m + 1) 2⁻ᵐ ε + u to e(q_upper) + 2⁻ᵐ e(q_lower): at most 4 ε + 2 u for each time that lengths double.
    """
    found = [roundings(width, d) for d in (dtype, np.float64)]
    return sum(ε for ε, _ in found), sum(4 * ε + 2 * (1 + log2(depth)) * u for ε, u in found)


def _one_layer_late(answer: PyTree) -> PyTree:
    """What every layer is handed, not what it hands on."""
    return {name: np.roll(np.asarray(stack, np.float64), 1, axis=0) for name, stack in answer.items()}


def _size(depth: int, width: int, dtype: str = "float32") -> Size:
    return {"depth": depth, "width": width, "dtype": dtype}


CASES = (
    Case(
        name="depth-scan",
        question="Is composing the affine parts of all layers in rounds faster than one after the other?",
        build=build,
        quick=(_size(5, 8),),
        standard=(_size(24, 128), _size(96, 64)),
        full=(
            *(_size(L, 128) for L in (6, 12, 24, 48, 96)),
            *(_size(24, D) for D in (32, 64, 256, 512)),
            *(_size(24, 128, dtype) for dtype in ("float64", "bfloat16")),
        ),
        axes=("depth", "width"),
    ),
)
