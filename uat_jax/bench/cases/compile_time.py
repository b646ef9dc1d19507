"""The closed form as a loop over its layers, and written out: how compiling and running grow with depth.

The time of a layer has a case of its own: beside programs that give their memory back to the system, a call of a few
milliseconds waits for its own memory to be mapped again, and the deep loop seems faster per layer than the shallow one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from uat_jax.bench import residual
from uat_jax.bench.case import Case, Experiment, Program, Size
from uat_jax.bench.cases.residual_forms import columns, separate
from uat_jax.bench.residual import SIGMA, Residual
from uat_jax.lowering import Lowered, LoweredRecursion
from uat_jax.symbolic.derivation import derive
from uat_jax.symbolic.recursion import closed_form_recursion
from uat_jax.typing import PyTree

COMPILE_LIMIT = 2.0
"""The time to compile the deep loop over that of the shallow one."""
RUN_SLACK = 1.1
"""The time of one layer of the deep loop over that of one of the shallow one."""


def build(shallow: int, deep: int, written: int, width: int, hidden: int, batch: int, dtype: str) -> Experiment:
    """A loop over few layers (the baseline) and over many; the nested form written out, at two depths."""
    whole = residual.draw(max(shallow, deep, written), width, hidden, batch, dtype)
    depths = {"loop": (shallow, deep), "written out": (shallow, written)}
    return _experiment(whole, depths, compile_limits={f"loop, {deep} layers": COMPILE_LIMIT})


def build_loops(shallow: int, deep: int, width: int, hidden: int, batch: int, dtype: str) -> Experiment:
    """A loop over few layers (the baseline) and over many, with nothing beside them that uses the memory they used."""
    whole = residual.draw(max(shallow, deep), width, hidden, batch, dtype)
    return _experiment(whole, {"loop": (shallow, deep)}, limits={f"loop, {deep} layers": RUN_SLACK * deep / shallow})


def _experiment(whole: Residual, depths: Mapping[str, Sequence[int]], **aims: PyTree) -> Experiment:
    """The last layers of the network, so many in each of these ways."""
    ways = [(f"{way}, {depth} layers", way, depth) for way in depths for depth in depths[way]]
    networks = {name: residual.last_layers(whole, depth) for name, _, depth in ways}
    programs = {name: WAYS[way](networks[name], depth) for name, way, depth in ways}
    return residual.experiment(networks, programs, **aims)


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


WAYS = {"loop": _loop, "written out": _written_out}


def _count(of: Residual) -> Callable[[float, float], float]:
    (_, hidden, width), (_, batch) = of.weights["B_j"].shape, of.inputs.shape
    return residual.count(width, hidden, batch)


def _size(width: int, batch: int, dtype: str = "float32", **depths: int) -> Size:
    """F = 4 D."""
    return {**depths, "width": width, "hidden": 4 * width, "batch": batch, "dtype": dtype}


CASES = (
    Case(
        name="compile-time",
        question="Does the closed form of a deep network compile as fast as of a shallow one?",
        build=build,
        quick=(_size(8, 4, shallow=2, deep=6, written=2),),
        standard=(_size(64, 1024, shallow=6, deep=96, written=12),),
        full=(
            *(_size(64, 1024, shallow=6, deep=deep, written=12) for deep in (12, 24, 48, 96)),
            _size(64, 1024, shallow=6, deep=96, written=24),
            _size(128, 1024, shallow=6, deep=96, written=12),
        ),
    ),
    Case(
        name="layer-time",
        question="Does a layer of the closed form take as long in a deep network as in a shallow one?",
        build=build_loops,
        quick=(_size(8, 4, shallow=2, deep=6),),
        standard=(_size(64, 1024, shallow=6, deep=96), _size(64, 8192, shallow=6, deep=96)),
        full=(
            *(_size(64, batch, shallow=6, deep=96) for batch in (1024, 2048, 4096, 8192)),
            *(_size(64, 8192, shallow=6, deep=deep) for deep in (12, 24, 48)),
            _size(128, 8192, shallow=6, deep=96),
        ),
    ),
)
