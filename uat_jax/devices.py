"""The devices that work is done on: of the platform "cpu", "gpu" or "tpu", or JAX's own choice."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError

DEVICES = ("cpu", "gpu", "tpu")


def local_devices(platform: str | None) -> list[Any]:
    """The devices of a platform that belong to this process, JAX's default platform if None.

    Raises `InputError` if there is no such platform, or it has no device here.
    """
    if platform is not None and platform not in DEVICES:
        raise InputError(f"got device {platform!r}; choose one of {', '.join(DEVICES)}")
    try:
        return jax.local_devices(backend=platform)
    except RuntimeError as error:
        raise InputError(f"got device {platform!r}, which JAX does not find here; choose another") from error


@contextlib.contextmanager
def on_device(platform: str | None) -> Iterator[None]:
    """Arrays and kernels on the first device of a platform; nothing is changed if None."""
    if platform is None:
        yield
        return
    with jax.default_device(local_devices(platform)[0]):
        yield


def numerics(precision: str = "highest") -> dict[str, str]:
    """In what numbers a program computes now: platform and kind of the device, and the matmul precision asked for.

    The highest is what the package asks for wherever nobody chose.  The limbs of prime fields stand in their evidence
    (`uat_jax.decide.prime_fields.FieldComparison.figures`).
    """
    device = default_device()
    return {"device_platform": device.platform, "device_kind": device.device_kind, "matmul_precision": precision}


def default_device() -> Any:
    """Where JAX puts what nobody has placed; the first of a mesh, where one is set."""
    if jax.sharding.get_abstract_mesh().empty:
        return _without_a_mesh(jax.default_device.value)
    return _placed()


@functools.lru_cache(maxsize=16)
def _without_a_mesh(chosen: Any) -> Any:
    """Found out once for each device that the user chose, or for none: to place an array takes JAX a while."""
    return _placed()


def _placed() -> Any:
    return min(jnp.zeros(()).devices(), key=lambda device: device.id)
