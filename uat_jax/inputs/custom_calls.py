"""Calls of functions outside StableHLO, by the names of their targets: those that JAX makes, and unknown functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.scipy.linalg
import numpy as np
from jax import lax
from jax.extend.mlir import ir

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.inputs.mlir_values import DTYPES, dtype_of, shape_of
from uat_jax.typing import Array

if TYPE_CHECKING:
    from uat_jax.inputs.rules import Call, Results

PLACEMENT = frozenset(
    "Sharding SPMDFullToShardShape SPMDShardToFullShape annotate_device_placement xla.sdy.FuncResultSharding".split()
)
"""Calls that say where a value is, and change nothing of it."""


CONFIG = "mhlo.backend_config"
"""The attribute that holds those of a foreign function."""

IGNORED = frozenset(["call_target_name", "has_side_effect", "mhlo.sharding", "sdy.sharding"])
"""Attributes that say nothing of what an unknown function computes, or that are looked at elsewhere."""

USUAL = frozenset(['""', "[]", "{}", "4 : i32"])
"""Attributes that are as if they were not there; the last one is JAX's version of the interface."""

UNWRITTEN_MEMORY = "uat_jax.unwritten_memory"
"""A call that marks memory of a kernel that nobody has written, and changes nothing of it."""


def known(target: str) -> bool:
    """Whether a target is read: any but functions of Python, of which an artifact has a number and no name."""
    return "python" not in target


def custom_call(target: str, call: Call) -> Any:
    """The results of a custom call.

    Raises:
        UnsupportedError: its target is unknown, and it calls functions of its module.
    """
    if target in PLACEMENT:
        return list(call.operands)
    found = TARGETS.get(target) or _lapack(target)
    return _unknown(target, call) if found is None else found(call)


def _unknown(target: str, call: Call) -> list[Array]:
    """The results of a foreign function of which nothing is known but its target and its attributes."""
    attributes: Any = call.operation.attributes
    stated = {getattr(item, "name", item) for item in attributes} - IGNORED  # names, in some versions with values
    stated -= {name for name in ("operand_layouts", "result_layouts") if _are_usual(attributes, name)}
    texts = {name: str(attributes[name]) for name in sorted(stated) if str(attributes[name]) not in USUAL}
    if "called_computations" in texts:
        raise UnsupportedError(f"the custom call {target!r}, which calls functions of its module, is not read")
    given = {entry.name: _value(entry.attr) for entry in attributes[CONFIG]} if CONFIG in stated else {}
    texts.pop(CONFIG, None)
    more = {"stated": repr(texts)} if texts else {}
    results = [jax.ShapeDtypeStruct(shape_of(x.type), dtype_of(x.type)) for x in call.operation.results]
    return list(jax.ffi.ffi_call(target, results)(*call.operands, **given, **more))


def _are_usual(attributes: Any, name: str) -> bool:
    """Whether layouts are what they are where nothing is said: the last axis lies together."""
    return name in attributes and all(list(x) == sorted(x, reverse=True) for x in map(_numbers, attributes[name]))


def _numbers(attribute: Any) -> list[int]:
    return np.array(attribute).reshape(-1).tolist()


def _value(attribute: Any) -> Any:
    """An attribute as JAX has it where it calls the function itself, or as a text."""
    for kind, made in ((ir.StringAttr, str), (ir.BoolAttr, bool)):
        if isinstance(attribute, kind):
            return made(attribute.value)
    if isinstance(attribute, ir.FloatAttr | ir.IntegerAttr) and str(attribute.type) in DTYPES:
        return np.dtype(DTYPES[str(attribute.type)]).type(attribute.value)
    return f"{attribute}"


def _shape_assertion(call: Call) -> list[Array]:
    """A check of sizes, which are numbers by the time it is read."""
    holds, *sizes = call.operands
    if not isinstance(holds, np.ndarray):
        raise call.refused("of a value")
    if not holds.all():
        message = call.text("error_message").format(*(int(size) for size in sizes))
        raise InputError(f"the sizes do not fit the artifact: {' '.join(message.split('. ')[1:2]) or message}")
    return []


def top_k(call: Call, options: Any) -> Results:
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


TARGETS: dict[str, Callable[[Call], Results]] = {
    "mhlo.erf": lambda call: lax.erf(call.operands[0]),
    "mhlo.topk": lambda call: top_k(call, call.attribute("mhlo.attributes")),
    "shape_assertion": _shape_assertion,
    UNWRITTEN_MEMORY: lambda call: lax.optimization_barrier(call.operands[0]),
}

# --- LAPACK: what JAX's linear algebra is on a CPU -------------------------------------------------------------------


def _lapack(target: str) -> Callable[[Call], Results] | None:
    found = re.fullmatch(r"lapack_[sd](\w+)_ffi", target)
    return LAPACK.get(found[1]) if found else None


def _fine(call: Call, place: int) -> Array:
    """The result that says that all went well."""
    return np.zeros(shape_of(call.operation.results[place].type), np.int32)


def _backend(call: Call, key: str) -> int:
    return int(call.attribute("mhlo.backend_config")[key].value)


def _getrf(call: Call) -> list[Array]:
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


def _trsm(call: Call) -> Array:
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


def _syevd(call: Call) -> list[Array]:
    """Eigenvectors and eigenvalues of a symmetric matrix, of which LAPACK reads the lower triangle."""
    if chr(_backend(call, "mode")) != "V" or chr(_backend(call, "uplo")) != "L":
        raise call.refused("without eigenvectors, or of an upper triangle")
    vectors, values = lax.linalg.eigh(call.operands[0], lower=True, symmetrize_input=False)
    return [vectors, values, _fine(call, 2)]


def _geqrf(call: Call) -> list[Array]:
    """The reflections of a QR decomposition, with R in the upper triangle, and their factors.

    `jax.lax.linalg` has no name for the primitive; it is the first one of `jax.scipy.linalg.qr_multiply`.
    """
    (x,) = call.operands
    program = jax.make_jaxpr(jax.scipy.linalg.qr_multiply)(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32))
    (primitive,) = {e.primitive for e in program.jaxpr.eqns if e.primitive.name == "geqrf"}
    return primitive.bind(x)


def _orgqr(call: Call) -> Array:
    """The product of reflections."""
    return lax.linalg.householder_product(*call.operands)


def _gesdd(call: Call) -> list[Array]:
    """Singular values, descending, with the vectors that are asked for; the matrix itself is overwritten."""
    mode = chr(_backend(call, "mode"))
    if mode not in "NSA" or any(True for _ in call.operation.results[0].uses):
        raise call.refused("with vectors in place of the matrix")
    (x,) = call.operands
    if mode == "N":
        if any(True for result in list(call.operation.results)[2:4] for _ in result.uses):
            raise call.refused("of whose vectors nothing is said")
        values = lax.linalg.svd(x, compute_uv=False)
        nothing = [lax.full(shape_of(r.type), np.nan, x.dtype) for r in list(call.operation.results)[2:4]]
        return [x, values, *nothing, _fine(call, 4)]
    left, values, right = lax.linalg.svd(x, full_matrices=mode == "A")
    return [x, values, left, right, _fine(call, 4)]


LAPACK: dict[str, Callable[[Call], Results]] = {
    "geqrf": _geqrf,
    "gesdd": _gesdd,
    "getrf": _getrf,
    "orgqr": _orgqr,
    "potrf": _potrf,
    "syevd": _syevd,
    "trsm": _trsm,
}
"""The routine without its letter for the dtype → its results."""
