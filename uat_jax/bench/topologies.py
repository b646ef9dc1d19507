"""Accelerators that need not be there: their names, and what XLA must know to compile for them.

TPUs are described by libtpu itself.  GPUs are described by XLA's text format `GpuTargetConfigProto`: the limits of
compute capability 9.0 are those of NVIDIA's CUDA programming guide, the rest is printed in the data sheets of the
H100 SXM and the H200 and in XLA's own descriptions (openxla/xla, xla/backends/gpu/target_config/specs).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

from uat_jax.bench.case import UnavailableError
from uat_jax.errors import InputError

FLAT = ("1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
SOLID = ("2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "8x8x8")
TPUS: Mapping[str, Sequence[str]] = {"v5e": FLAT, "v5p": SOLID, "v6e": FLAT}
"""Generation → how its chips may be laid out."""

GPUS_OF_A_HOST = 8


@dataclass(frozen=True)
class Gpu:
    """What tells one GPU of compute capability 9.0 from another: bytes and bytes per second."""

    description: str
    memory: int
    bandwidth: int


GPUS: Mapping[str, Gpu] = {
    "h100": Gpu("NVIDIA H100 80GB HBM3", 84_942_979_072, 3_352_320_000_000),
    "h200": Gpu("NVIDIA H200 141GB HBM3e", 151_397_597_184, 4_800_000_000_000),
}

HOPPER: Mapping[str, int | float] = {
    "threads_per_block_limit": 1024,
    "threads_per_warp": 32,
    "threads_per_core_limit": 2048,
    "shared_memory_per_block": 48 * 1024,
    "shared_memory_per_block_optin": 227 * 1024,
    "shared_memory_per_core": 228 * 1024,
    "registers_per_core_limit": 64 * 1024,
    "registers_per_block_limit": 64 * 1024,
    "block_dim_limit_x": 2**31 - 1,
    "block_dim_limit_y": 2**16 - 1,
    "block_dim_limit_z": 2**16 - 1,
    "core_count": 132,
    "fpus_per_core": 128,
    "l2_cache_size": 50 * 2**20,
    "clock_rate_ghz": 1.98,
}
"""The limits of compute capability 9.0, and 132 multiprocessors at 1.98 GHz, as both GPUs have them."""


@dataclass(frozen=True)
class Topology:
    """A named arrangement of chips, ``v5e:2x2`` or ``h100:1``."""

    name: str
    kind: str
    extents: tuple[int, ...]

    @property
    def platform(self) -> str:
        """What kernels are lowered for: "tpu" or "cuda"."""
        return "tpu" if self.kind in TPUS else "cuda"

    @property
    def chips(self) -> int:
        """How many there are."""
        return math.prod(self.extents)

    def check(self) -> None:
        """Raise `UnavailableError` unless the compiler for these chips is installed, in a version that fits JAX."""
        for package, required_by in PACKAGES[self.platform].items():
            _check_installed(package, required_by, EXTRAS[self.platform])

    def devices(self) -> Sequence[Any]:
        """Its devices, which nothing can run on."""
        from jax.experimental import topologies

        if self.platform == "tpu":
            bounds = {"chips_per_host_bounds": (1, 1, 1)} if self.chips == 1 else {}
            return topologies.get_topology_desc(self.name, "tpu", **bounds).devices
        extents = "x".join(map(str, (*(1,) * (3 - len(self.extents)), *self.extents)))
        described = {"target_config": target_config(GPUS[self.kind]), "topology": extents}
        return topologies.get_topology_desc(self.kind, "cuda", **described).devices


def topology(name: str) -> Topology:
    """The topology of this name.

    Raises:
        InputError: there is none; the message lists those there are.
    """
    kind, colon, layout = name.partition(":")
    layout = layout if colon else "1"
    if layout in TPUS.get(kind, ()) or (kind in GPUS and re.fullmatch(r"([1-9]\d*x){0,2}[1-8]", layout)):
        return Topology(name, kind, tuple(map(int, layout.split("x"))))
    raise InputError(f"there is no topology {name!r}; choose {possible()}")


def possible() -> str:
    """The names there are, in words."""
    tpus = "; ".join(f"{kind}: with {', '.join(layouts)}" for kind, layouts in TPUS.items())
    return f"{tpus}; {' or '.join(GPUS)} with :N for N ≤ {GPUS_OF_A_HOST} GPUs of a host, :HxN for H hosts"


def target_config(gpu: Gpu) -> str:
    """The text of XLA's description of a GPU."""
    fields = {**HOPPER, "memory_bandwidth": gpu.bandwidth, "device_memory_size": gpu.memory}
    body = " ".join(f"{name}: {value}" for name, value in fields.items())
    return (
        f"gpu_device_info {{ {body} cuda_compute_capability {{ major: 9 }} }}\n"
        'platform_name: "CUDA"\n'
        "dnn_version_info { major: 9 minor: 10 }\n"
        "runtime_version { major: 12 minor: 9 patch: 0 }\n"
        f'device_description_str: "{gpu.description}"\n'
    )


# --- the compilers, which come as packages -------------------------------------------------------------------------

EXTRAS = {"tpu": "tpu-aot", "cuda": "cuda-aot"}
PACKAGES: Mapping[str, Mapping[str, str]] = {
    "tpu": {"libtpu": "jax"},
    "cuda": {"jax-cuda12-plugin": "jax", "jax-cuda12-pjrt": "jax-cuda12-plugin"},
}
"""Platform → the packages it takes, each with the package that says which version it must have."""


def _check_installed(package: str, required_by: str, extra: str) -> None:
    install = f"pip install 'uat_jax[{extra}]'"
    try:
        found = version(package)
    except PackageNotFoundError:
        raise UnavailableError(f"{package} is not installed; {install}") from None
    wanted = next((line for line in requires(required_by) or () if _names(line, package)), "")
    if not fits(found, wanted):
        by = f"{required_by} {version(required_by)}"
        raise UnavailableError(f"got {package} {found}, but {by} wants {wanted.partition(';')[0].strip()}; {install}")


def _names(requirement: str, package: str) -> bool:
    """Whether a requirement is about a package, without extras of its own."""
    return re.match(r"[\w.-]+", requirement)[0] == package  # type: ignore[index]


def fits(found: str, requirement: str) -> bool:
    """Whether a version satisfies the ``==``, ``>=`` and ``<=`` of a requirement, as JAX pins its compilers."""
    numbers = lambda text: tuple(map(int, re.findall(r"\d+", text)))
    have = numbers(found)
    satisfied = {
        "==": lambda bound: have[: len(bound)] == bound,
        ">=": lambda bound: have >= bound,
        "<=": lambda bound: have[: len(bound)] <= bound,
    }
    return all(satisfied[how](numbers(bound)) for how, bound in re.findall(r"(==|>=|<=)\s*([\d.]+)", requirement))
