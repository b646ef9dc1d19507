"""Kernels lowered for platforms that need not be there: a file that JAX runs where there is such a device."""

from __future__ import annotations

from collections.abc import Sequence

import jax
from jax.sharding import AbstractMesh, Mesh

from uat_jax.bench.case import Size
from uat_jax.bench.kernel import Kernel
from uat_jax.bench.products import check_products

PLATFORMS = ("cpu", "cuda", "tpu")
"""What kernels are lowered for, as JAX calls it."""


def export(
    kernel: Kernel, size: Size, mesh: Mesh | AbstractMesh, platforms: Sequence[str] = PLATFORMS
) -> jax.export.Exported:
    """A kernel of one size as one program for several platforms, a function of the leaves of its arguments.

    To lower is not to compile: JAX lowers what a device's compiler refuses or computes otherwise.

    Raises:
        UnavailableError: a platform multiplies the kernel's matrices otherwise than the kernel needs.
    """
    call = kernel.call(size, mesh)
    leaves, tree = jax.tree.flatten(call.placed(mesh) if kernel.sharded else call.arguments)
    flat = lambda *leaves: jax.tree.leaves(call.function(*jax.tree.unflatten(tree, leaves)))
    with jax.enable_x64(kernel.wide):
        for platform in platforms:
            check_products(jax.make_jaxpr(flat)(*leaves), platform)
        return jax.export.export(jax.jit(flat), platforms=platforms)(*leaves)
