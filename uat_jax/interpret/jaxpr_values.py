"""What may stand in a stored program: its primitives, and as JSON their parameters, dtypes, shapes and arrays.

Only what is named here is written or read. Nothing in a file chooses an attribute, a class or a function: names from
a file are looked up in the tables below and nowhere else.
"""

import base64
import binascii
import enum
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Jaxpr, Primitive

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.interpret import fewer_bits, outside_function, stored_control, symbolic_sizes

ENTRIES = 2**26
"""The largest number of entries of an array that is stored or computed."""

RANK = 32
"""The largest number of axes."""

NESTING = 8
"""How deep tuples may lie in each other in a parameter."""

LONGEST = 200
"""Letters of a text."""

PLACEMENT = frozenset("accuracy computation out_sharding sharding".split())
"""Parameters that say where or how a value is computed, not what it is, and callables that repeat a jaxpr."""

COPIES = frozenset("copy copy_p device_put name optimization_barrier reshard sharding_constraint stop_gradient".split())
"""Primitives whose results are their operands: they are left out."""

PRIMITIVES = frozenset(
    """
    cond one_minus_square reduce while
    abs acos acosh add add_any and argmax argmin asin asinh atan atan2 atanh bessel_i0e bessel_i1e bitcast_convert_type
    broadcast_in_dim cbrt ceil cholesky clamp clz concatenate conv_general_dilated convert_element_type cos cosh
    cumlogsumexp cummax cummin cumprod cumsum digamma div dot_general dynamic_slice dynamic_update_slice eigh eq eq_to
    erf erf_inv erfc exp exp2 expm1 floor gather ge gt householder_product igamma igammac integer_pow iota is_finite le
    le_to lgamma log log1p logistic lt lt_to lu lu_pivots_to_permutation max min mul mulhi ne neg nextafter not or ormqr
    pad polygamma population_count pow qr random_bits random_clone random_fold_in random_seed random_split random_unwrap
    random_wrap reduce_and reduce_max reduce_min reduce_or reduce_precision reduce_prod reduce_sum reduce_window
    reduce_window_max reduce_window_min reduce_window_sum reduce_xor regularized_incomplete_beta rem reshape rev
    rng_bit_generator round rsqrt scatter scatter-add scatter-max scatter-min scatter-mul scatter-sub
    select_and_gather_add select_and_scatter select_and_scatter_add select_n shift_left shift_right_arithmetic
    shift_right_logical sign sin sinh slice sort split sqrt square squeeze stack sub svd tan tanh threefry2x32 tile
    top_k transpose triangular_solve tridiagonal_solve unstack xor zeta
    """.split()
)
"""The primitives of a stored program: pure functions of their operands."""

DTYPES: dict[str, np.dtype] = {
    np.dtype(scalar).name: np.dtype(scalar)
    for scalar in (
        *(jnp.bool_, jnp.int8, jnp.int16, jnp.int32, jnp.int64, jnp.uint8, jnp.uint16, jnp.uint32, jnp.uint64),
        *(jnp.bfloat16, jnp.float16, jnp.float32, jnp.float64, jnp.float8_e4m3fn, jnp.float8_e5m2),
    )
}
"""The dtypes of a stored program, by name."""

_ENUMERATIONS: dict[str, Mapping[str, enum.Enum]] = {
    kind.__name__: kind.__members__
    for kind in (
        lax.DotAlgorithmPreset,
        lax.FftType,
        lax.GatherScatterMode,
        lax.Precision,
        lax.RandomAlgorithm,
        lax.RoundingMethod,
    )
}

_RECORDS: dict[str, Any] = {
    kind.__name__: kind for kind in (lax.ConvDimensionNumbers, lax.GatherDimensionNumbers, lax.ScatterDimensionNumbers)
}


def damaged(what: str) -> InputError:
    """The one error of reading."""
    return InputError(f"the program in the certificate is damaged: {what}; take the file as uat_jax wrote it")


def shown(value: object) -> str:
    """The start of a value from a file, for an error of one line."""
    if isinstance(value, list | dict):
        return f"a {'list' if isinstance(value, list) else 'mapping'} of {len(value)}"
    text = repr(value) if not isinstance(value, int) or abs(value) < 2**64 else "an integer above 64 bits"
    return text if len(text) <= 60 else f"{text[:57]}..."


@functools.cache
def primitives() -> dict[str, Primitive]:
    """JAX's own objects for those of `PRIMITIVES` that this version of JAX has, by name; calls and scans of our own."""
    modules = (jax.extend.core.primitives, lax, lax.linalg)
    found = [item for module in modules for item in vars(module).values() if isinstance(item, Primitive)]
    # These have no public name of their own.
    keys = [
        jax.random.wrap_key_data,
        lambda words: jax.random.key_data(jax.random.clone(jax.random.wrap_key_data(words))),
    ]
    words = np.zeros(2, np.uint32)
    found += [equation.primitive for function in keys for equation in jax.make_jaxpr(function)(words).eqns]
    own = {primitive.name: primitive for primitive in (outside_function.OUTSIDE, fewer_bits.FEWER_BITS)}
    own |= stored_control.PRIMITIVES
    return {p.name: p for p in found if p.name in PRIMITIVES} | own


@functools.cache
def generators() -> dict[str, tuple[Any, Any]]:
    """JAX's random number generators: name -> (the parameter `impl` of its equations, the dtype of its keys)."""

    def generator(name: str) -> tuple[Any, Any]:
        seeding = jax.make_jaxpr(lambda seed: jax.random.key(seed, impl=name))(np.int32(0))
        return seeding.eqns[0].params["impl"], seeding.out_avals[0].dtype

    return {name: generator(name) for name in ("threefry2x32", "rbg", "unsafe_rbg")}


def generator_of(dtype: Any) -> str | None:
    """The name of the generator that keys of a dtype are for, None if they are no keys of JAX's own ones."""
    return next((name for name, (_, keys) in generators().items() if keys == dtype), None)


# Types: [dtype, [axis, ...]]


def _is_shape(shape: list[Any]) -> bool:
    known = [axis for axis in shape if not symbolic_sizes.is_symbolic(axis)]
    sizes = len(shape) <= RANK and all(type(axis) is int and 0 <= axis <= ENTRIES for axis in known)
    return sizes and math.prod(known) <= ENTRIES


def encode_type(aval: Any) -> list[Any]:
    """[dtype name, shape] of an abstract value; keys of a random number generator have its name for a dtype.

    Raises:
        UnsupportedError: a dtype that is not in the table, or more than `ENTRIES` entries.
    """
    keys = generator_of(aval.dtype) if jnp.issubdtype(aval.dtype, jax.dtypes.prng_key) else None
    name = keys or str(aval.dtype)
    shape = list(aval.shape)
    if keys is None and name not in DTYPES or not _is_shape(shape):
        raise UnsupportedError(
            f"an array {name}{shape} cannot be written into a certificate; "
            f"use real numbers, integers or booleans, at most {ENTRIES} entries"
        )
    return [name, [symbolic_sizes.written(axis) for axis in shape]]


def decode_type(data: Any) -> ShapedArray:
    """The abstract value of [dtype name, shape].  Raises `InputError`."""
    if not isinstance(data, list) or len(data) != 2 or not isinstance(data[0], str) or not isinstance(data[1], list):
        raise damaged(f"got {shown(data)} for a type, wanted [dtype, shape]")
    name, shape = data
    if name not in DTYPES and name not in generators():
        raise damaged(f"unknown dtype {shown(name)}")
    shape = [symbolic_sizes.read(axis) if isinstance(axis, str) else axis for axis in shape]
    if not _is_shape(shape):
        raise damaged(f"an array {name} with {shown(shape)} for its shape, wanted at most {ENTRIES} entries")
    return ShapedArray(tuple(shape), DTYPES[name] if name in DTYPES else generators()[name][1])


# Arrays: [dtype, shape, base64 of the little-endian entries]; of equal entries only one is written


def encode_array(array: Any, aval: Any) -> list[Any]:
    """[dtype name, shape, base64 of the entries], the exact bits; of equal entries only one is written.

    Raises:
        UnsupportedError: see `encode_type`.
    """
    name, shape = encode_type(aval)
    entries = np.asarray(jax.random.key_data(array)) if name in generators() else np.asarray(array, aval.dtype)
    content, count = entries.tobytes(), math.prod(shape)
    first = content[: len(content) // max(count, 1)]
    return [name, shape, base64.b64encode(first if content == first * count else content).decode("ascii")]


def decode_array(data: Any) -> tuple[Any, ShapedArray]:
    """The array that `encode_array` wrote, and its type.  Raises `InputError`."""
    if not isinstance(data, list) or len(data) != 3 or not isinstance(data[2], str):
        raise damaged(f"got {shown(data)} for an array, wanted [dtype, shape, base64]")
    aval = decode_type(data[:2])
    if data[0] in generators():
        words = _entries(data, np.dtype(np.uint32), *generators()[data[0]][0].key_shape)
        return jax.random.wrap_key_data(jnp.asarray(words), impl=data[0]), aval
    return _entries(data, DTYPES[data[0]]), aval


def _entries(data: list[Any], dtype: np.dtype, *inner: int) -> np.ndarray:
    name, shape, text = data
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise damaged(f"the entries of an array {name} are not base64") from None
    count, size = math.prod(shape), math.prod(inner) * dtype.itemsize
    if len(content) not in (count * size, min(count, 1) * size):
        raise damaged(f"an array {name}{shape} has {len(content)} bytes, wanted {count * size}")
    if dtype == np.bool_ and not set(content) <= {0, 1}:
        raise damaged("an array of booleans has an entry that is neither 0 nor 1")
    return np.broadcast_to(np.frombuffer(content, dtype).reshape(-1, *inner), (count, *inner)).reshape((*shape, *inner))


# Parameters


def encode_parameter(value: Any, where: str, jaxpr: Callable[[Any], dict[str, int]]) -> Any:
    """A parameter of an equation as JSON: None, booleans, integers and tuples as they are, the rest as {kind: content}.

    `where` names the parameter in the error; `jaxpr` writes a nested jaxpr and says where it stands.

    Raises:
        UnsupportedError: a value of a kind that is not in the tables.
    """
    kind = type(value).__name__
    if symbolic_sizes.is_symbolic(value):
        return {"size": symbolic_sizes.written(value)}
    if value is None or isinstance(value, Jaxpr | ClosedJaxpr):
        return value if value is None else jaxpr(value)
    if type(value) in (tuple, list):
        return [encode_parameter(item, where, jaxpr) for item in value]
    if type(value) is _RECORDS.get(kind):
        return {kind: {name: encode_parameter(item, where, jaxpr) for name, item in value._asdict().items()}}
    if kind in _ENUMERATIONS:
        return {kind: value.name}
    if type(value) is str and _is_name(value):
        return {"name": value}
    if isinstance(value, np.bool_ | np.integer | int):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.dtype) or isinstance(value, type) and issubclass(value, np.generic):
        return {"dtype": encode_type(ShapedArray((), np.dtype(value)))[0]}
    if isinstance(value, float | np.floating):
        return {"scalar": encode_array(value, np.asarray(value))}
    for name, (implementation, _) in generators().items():
        if type(value) is type(implementation) and value == implementation:
            return {"generator": name}
    raise UnsupportedError(f"{where} is a {kind}, which cannot be written into a certificate; do without it")


def _is_name(text: str) -> bool:
    """Whether a text can be shown to a person."""
    return len(text) <= LONGEST and text.isprintable()


def decode_parameter(data: Any, jaxpr: Callable[[str, Any], Any], depth: int = 0) -> Any:
    """The parameter that `encode_parameter` wrote; `jaxpr(kind, content)` finds a nested jaxpr.

    Raises:
        InputError: it wrote no such thing.
    """
    if depth > NESTING:
        raise damaged(f"a parameter is nested more than {NESTING} deep")
    if data is None or isinstance(data, bool):
        return data
    if isinstance(data, int):
        if abs(data) >= 2**64:
            raise damaged("a parameter is an integer above 64 bits")
        return data
    if isinstance(data, list):
        return tuple(decode_parameter(item, jaxpr, depth + 1) for item in data)
    if not isinstance(data, dict) or len(data) != 1:
        raise damaged(f"got {shown(data)} for a parameter")
    ((kind, content),) = data.items()
    if kind in _RECORDS:
        return _record(kind, content, jaxpr, depth)
    return _named(kind, content, jaxpr)


def _record(kind: str, content: object, jaxpr: Callable[[str, Any], Any], depth: int) -> Any:
    fields = _RECORDS[kind]._fields
    if not isinstance(content, dict) or set(content) != set(fields):
        raise damaged(f"{kind} has not the fields {', '.join(fields)}")
    return _RECORDS[kind](**{name: decode_parameter(content[name], jaxpr, depth + 1) for name in fields})


def _named(kind: str, content: object, jaxpr: Callable[[str, Any], Any]) -> Any:
    """A value that is looked up under its name, a scalar, or a nested jaxpr."""
    if kind == "scalar":
        array, aval = decode_array(content)
        if aval.shape:
            raise damaged(f"a scalar of shape {list(aval.shape)}")
        return array[()]
    if kind in ("jaxpr", "closed_jaxpr"):
        return jaxpr(kind, content)
    if not isinstance(content, str):
        raise damaged(f"got {shown(content)} for a {shown(kind)}, wanted its name")
    if kind == "name" and _is_name(content):
        return content
    if kind == "size":
        return symbolic_sizes.read(content)
    if kind == "dtype" and content in DTYPES:
        return DTYPES[content]
    if kind == "generator" and content in generators():
        return generators()[content][0]
    if kind in _ENUMERATIONS and content in _ENUMERATIONS[kind]:
        return _ENUMERATIONS[kind][content]
    raise damaged(f"unknown {shown(kind)} {shown(content)}")
