"""One kernel compiled for a topology, and what the compiler says of it; nothing is run."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh

from uat_jax.bench.case import Size, WrongAnswerError
from uat_jax.bench.kernel import Kernel
from uat_jax.bench.products import check_products, products
from uat_jax.bench.topologies import PACKAGES, Topology
from uat_jax.errors import UatJaxError
from uat_jax.typing import PyTree

COLLECTIVES = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "ragged-all-to-all",
    "reduce-scatter",
)
"""What XLA calls the instructions by which devices talk to each other."""


@dataclass(frozen=True)
class AheadOfTime:
    """What the compiler says of a kernel; memory, `counted` and `bytes` are those of one device.

    Attributes:
        kernel, size, topology: what was compiled, and for what.
        device, devices: the kind of chip, and how many of them the kernel runs on.
        reason: why there is no executable; empty where there is one.
        seconds: how long compiling took, lowering not included.
        operations: of all matrix products of the program, on all devices together, loops written out.
        counted, bytes: floating-point operations and bytes moved, as XLA counts them: the body of a loop once. None
            where it does not count, on GPUs.
        optimal_seconds: the compiler's own estimate; None where it has none (it then says a negative number).
        arguments, outputs, temporaries, code: memory in bytes.
        collectives: instruction → how often it stands in the program.
        versions: of JAX and of the compiler.
        refused: the reason is a check of ours: the kernel would not compute exactly there.
    """

    kernel: str
    size: Size
    topology: str
    device: str = ""
    devices: int = 0
    reason: str = ""
    seconds: float | None = None
    operations: int | None = None
    counted: float | None = None
    bytes: float | None = None
    optimal_seconds: float | None = None
    arguments: int | None = None
    outputs: int | None = None
    temporaries: int | None = None
    code: int | None = None
    collectives: dict[str, int] | None = None
    versions: dict[str, str] | None = None
    refused: bool = False


def compile_kernel(kernel: Kernel, topology: Topology) -> AheadOfTime:
    """Compile the large size of a kernel in this process, whose environment `ahead_of_time` has prepared."""
    size = kernel.sizes.large
    try:
        return _compiled(kernel, size, topology)
    except UatJaxError as error:
        return AheadOfTime(kernel.name, size, topology.name, reason=str(error), refused=True)
    except jax.errors.JaxRuntimeError as error:
        return AheadOfTime(kernel.name, size, topology.name, reason=f"the compiler says: {first_line(str(error))}")


def _compiled(kernel: Kernel, size: Size, topology: Topology) -> AheadOfTime:
    devices = topology.devices()
    mesh = Mesh(np.array(devices if kernel.sharded else devices[:1]), ("trials",), axis_types=(AxisType.Auto,))
    call = kernel.call(size, mesh)
    with jax.enable_x64(kernel.wide):
        traced = jax.jit(call.function).trace(*call.placed(mesh))
        check_products(traced.jaxpr, topology.platform)
        lowered = traced.lower()
        start = time.perf_counter()
        executable = lowered.compile()
        seconds = time.perf_counter() - start
    check_device(executable, devices[0])
    costs, memory = executable.cost_analysis() or {}, executable.memory_analysis()
    assert memory is not None
    optimal = costs.get("optimal_seconds", 0.0)
    return AheadOfTime(
        kernel.name,
        size,
        topology.name,
        device=devices[0].device_kind,
        devices=mesh.size,
        seconds=seconds,
        operations=sum(product.operations for product in products(traced.jaxpr)),
        counted=costs.get("flops"),
        bytes=costs.get("bytes accessed"),
        optimal_seconds=optimal if optimal > 0 else None,
        arguments=memory.argument_size_in_bytes,
        outputs=memory.output_size_in_bytes,
        temporaries=memory.temp_size_in_bytes,
        code=memory.generated_code_size_in_bytes or None,
        collectives=collectives(executable.as_text() or ""),
        versions={package: version(package) for package in ("jax", "jaxlib", *PACKAGES[topology.platform])},
    )


def check_device(executable: PyTree, device: Any) -> None:
    """Raise `WrongAnswerError` for an executable of other devices than the one asked for.

    JAX can lower for one platform and then compile for the host's, without a word.
    """
    shardings = jax.tree.leaves((executable.input_shardings, executable.output_shardings))
    kinds = {(d.platform, d.device_kind) for sharding in shardings for d in sharding.device_set}
    if kinds != {(device.platform, device.device_kind)}:
        found = ", ".join(sorted(kind for _, kind in kinds)) or "no device"
        raise WrongAnswerError(f"got an executable for {found}, wanted one for {device.device_kind}")


def collectives(program: str) -> dict[str, int]:
    """How often each of the `COLLECTIVES` stands in the text of a compiled program.

    One that is started and finished by two instructions, ``all-reduce-start`` and ``all-reduce-done``, counts once.
    """
    names = "|".join(COLLECTIVES)
    return dict(sorted(Counter(re.findall(rf"^[^\"=]*=[^\"]*? ({names})(?:-start)?\(", program, re.MULTILINE)).items()))


def first_line(text: str, most: int = 200) -> str:
    """The first line of a compiler's message, cut where it is long."""
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= most else f"{line[: most - 1]}…"
