"""The closed form as a loop over its layers, and written out: how compiling and running grow with depth."""

from __future__ import annotations

from uat_jax.bench import residual
from uat_jax.bench.case import Case, Experiment, Program, Size
from uat_jax.bench.cases.residual_forms import columns, separate
from uat_jax.bench.residual import SIGMA, Residual
from uat_jax.lowering import Lowered, LoweredRecursion
from uat_jax.symbolic.derivation import derive
from uat_jax.symbolic.recursion import closed_form_recursion

COMPILE_LIMIT = 2.0
"""The time to compile the deep loop over that of the shallow one."""
RUN_SLACK = 1.1
"""The time of one layer of the deep loop over that of one of the shallow one."""
MANY = 32768
"""Inputs beside which the few milliseconds count little that a call needs before its first layer, caches being cold."""


def build(shallow: int, deep: int, written: int, width: int, hidden: int, batch: int, dtype: str) -> Experiment:
    """A loop over few layers (the baseline) and over many; the nested form written out, at two depths."""
    whole = residual.draw(deep, width, hidden, batch, dtype)
    networks, programs = {}, {}
    for make, kind, depths in ((_loop, "loop", (shallow, deep)), (_written_out, "written out", (shallow, written))):
        for depth in depths:
            name = f"{kind}, {depth} layers"
            networks[name] = residual.last_layers(whole, depth)
            programs[name] = make(networks[name], depth)
    last = f"loop, {deep} layers"
    limits, compile_limits = {last: RUN_SLACK * deep / shallow}, {last: COMPILE_LIMIT}
    return residual.experiment(networks, programs, limits=limits, compile_limits=compile_limits)


def _loop(of: Residual, depth: int) -> Program:
    lowered = LoweredRecursion(closed_form_recursion("residual"), SIGMA)
    return Program(
        lowered.evaluate, (lowered.merge(of.weights), of.inputs), operations=_count(of)(depth + 1, 3 * depth)
    )


def _written_out(of: Residual, depth: int) -> Program:
    derivation = derive("residual", depth=depth)
    lowered = Lowered(derivation.parameters, derivation.layers.x(0), SIGMA)
    hatted = lowered.merge(separate(of.weights, derivation.layers))
    return Program(columns(lowered.evaluate), (hatted, of.inputs))


def _count(of: Residual):
    (_, hidden, width), (_, batch) = of.weights["B_j"].shape, of.inputs.shape
    return residual.count(width, hidden, batch)


def _size(shallow: int, deep: int, written: int, width: int, batch: int = 1024, dtype: str = "float32") -> Size:
    """F = 4 D."""
    depths = {"shallow": shallow, "deep": deep, "written": written}
    return {**depths, "width": width, "hidden": 4 * width, "batch": batch, "dtype": dtype}


CASES = (
    Case(
        name="compile-time",
        question="Does the closed form of a deep network compile, and its layers run, as fast as of a shallow one?",
        build=build,
        quick=(_size(2, 6, 2, 8, 4),),
        standard=(_size(6, 96, 12, 64), _size(6, 96, 12, 64, MANY)),
        full=(_size(6, 96, 24, 64), *(_size(6, deep, 12, 64) for deep in (12, 24, 48)), _size(6, 96, 12, 128)),
        axes=("deep",),
    ),
)
