"""Calls of functions outside StableHLO that JAX writes into artifacts, by the names of their targets."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from jax import lax

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.inputs.mlir_values import shape_of

if TYPE_CHECKING:
    from uat_jax.inputs.rules import Call

PLACEMENT = frozenset(
    "Sharding SPMDFullToShardShape SPMDShardToFullShape annotate_device_placement xla.sdy.FuncResultSharding".split()
)
"""Calls that say where a value is, and change nothing of it."""


UNWRITTEN_MEMORY = "uat_jax.unwritten_memory"
"""A call that marks memory of a kernel that nobody has written, and changes nothing of it."""


def known(target: str) -> bool:
    """Whether a target is read."""
    return target in PLACEMENT or target in TARGETS or _lapack(target) is not None


def custom_call(target: str, call: Call) -> Any:
    """The results of a custom call.

    Raises:
        UnsupportedError: its target is none of those that are read.
    """
    if target in PLACEMENT:
        return list(call.operands)
    found = TARGETS.get(target) or _lapack(target)
    if found is None:
        raise UnsupportedError(f"the custom call {target!r}, which is not known")
    return found(call)


def _shape_assertion(call: Call) -> list[Any]:
    """A check of sizes, which are numbers by the time it is read."""
    holds, *sizes = call.operands
    if not isinstance(holds, np.ndarray):
        raise call.refused("of a value")
    if not holds.all():
        message = call.text("error_message").format(*(int(size) for size in sizes))
        raise InputError(f"the sizes do not fit the artifact: {' '.join(message.split('. ')[1:2]) or message}")
    return []


def top_k(call: Call, options: Any) -> Any:
    """The largest numbers and their places.

    Raises:
        UnsupportedError: an option says that it is something else.
    """
    places = shape_of(call.operation.results[0].type)
    known = {"k": str(places[-1]), "largest": "true", "is_stable": "true"}  # of equal numbers JAX takes the first
    for option in options or ():
        if known.get(option.name) != str(option.attr).partition(" ")[0]:
            raise call.refused(f"with {option.name} = {option.attr}")
    return lax.top_k(call.operands[0], int(known["k"]))


TARGETS: dict[str, Callable[[Any], Any]] = {
    "mhlo.erf": lambda call: lax.erf(call.operands[0]),
    "mhlo.topk": lambda call: top_k(call, call.attribute("mhlo.attributes")),
    "shape_assertion": _shape_assertion,
    UNWRITTEN_MEMORY: lambda call: lax.optimization_barrier(call.operands[0]),
}

# --- LAPACK: what JAX's linear algebra is on a CPU -------------------------------------------------------------------


def _lapack(target: str) -> Callable[[Any], Any] | None:
    found = re.fullmatch(r"lapack_[sd](\w+)_ffi", target)
    return LAPACK.get(found[1]) if found else None


def _fine(call: Call, place: int) -> Any:
    """The result that says that all went well."""
    return np.zeros(shape_of(call.operation.results[place].type), np.int32)


def _backend(call: Call, key: str) -> int:
    return int(call.attribute("mhlo.backend_config")[key].value)


def _getrf(call: Call) -> list[Any]:
    """LU decomposition; LAPACK counts the rows of its pivots from one."""
    lu, pivots, _ = lax.linalg.lu(call.operands[0])
    return [lu, lax.add(pivots, lax.full_like(pivots, 1)), _fine(call, 2)]


def _potrf(call: Call) -> list[Any]:
    """Cholesky factor in the lower triangle; the other one LAPACK leaves as it was."""
    if chr(_backend(call, "uplo")) != "L":
        raise call.refused("of an upper triangle")
    (x,) = call.operands
    row, column = (lax.broadcasted_iota(np.dtype(np.int32), x.shape, x.ndim - of) for of in (2, 1))
    factor = lax.linalg.cholesky(x, symmetrize_input=False)
    return [lax.select(lax.ge(row, column), factor, x), _fine(call, 1)]


def _trsm(call: Call) -> Any:
    """The solution of triangular systems."""
    side, uplo, transposed, diagonal = (chr(_backend(call, key)) for key in ("side", "uplo", "trans_x", "diag"))
    return lax.linalg.triangular_solve(
        *call.operands,
        left_side=side == "L",
        lower=uplo == "L",
        transpose_a=transposed != "N",
        conjugate_a=transposed == "C",
        unit_diagonal=diagonal == "U",
    )


def _syevd(call: Call) -> list[Any]:
    """Eigenvectors and eigenvalues of a symmetric matrix, of which LAPACK reads the lower triangle."""
    if chr(_backend(call, "mode")) != "V" or chr(_backend(call, "uplo")) != "L":
        raise call.refused("without eigenvectors, or of an upper triangle")
    vectors, values = lax.linalg.eigh(call.operands[0], lower=True, symmetrize_input=False)
    return [vectors, values, _fine(call, 2)]


LAPACK: dict[str, Callable[[Any], Any]] = {"getrf": _getrf, "potrf": _potrf, "syevd": _syevd, "trsm": _trsm}
"""The routine without its letter for the dtype → its results."""
