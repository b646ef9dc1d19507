"""StableHLO's operations as calls of `jax.lax`: one rule for each, with StableHLO's own meaning of it.

Where the two differ, the rule says what StableHLO says: a gather's starting places are clamped, a scatter's places
outside are left out, and `case` takes the last branch for every number outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from uat_jax.errors import UnsupportedError
from uat_jax.inputs.custom_calls import custom_call, top_k
from uat_jax.inputs.mlir_expressions import owner, splat
from uat_jax.inputs.mlir_values import attribute, constant_of, dtype_of, integers, shape_of
from uat_jax.inputs.regions import largest, neutral, order, reducer
from uat_jax.typing import Array

FUNCTIONS = {
    name: getattr(lax, name)
    for name in (
        "acos acosh asin asinh atan atanh bessel_i0e bessel_i1e conj cosh digamma "
        "erf erf_inv erfc lgamma sinh square tan"
    ).split()
}
"""Functions of one number that the dialect CHLO, a composite or a written-out expression stands for."""

CHLO = {**FUNCTIONS, "next_after": lax.nextafter, "polygamma": lax.polygamma, "zeta": lax.zeta}

ELEMENTWISE: dict[str, Callable] = {
    "abs": lax.abs,
    "add": lambda x, y: (lax.bitwise_or if x.dtype == bool else lax.add)(x, y),
    "and": lax.bitwise_and,
    "cbrt": lax.cbrt,
    "ceil": lax.ceil,
    "clamp": lax.clamp,
    "complex": lax.complex,
    "cosine": lax.cos,
    "count_leading_zeros": lax.clz,
    "divide": lax.div,
    "exponential": lax.exp,
    "exponential_minus_one": lax.expm1,
    "floor": lax.floor,
    "imag": lax.imag,
    "is_finite": lax.is_finite,
    "log": lax.log,
    "log_plus_one": lax.log1p,
    "logistic": lax.logistic,
    "maximum": lax.max,
    "minimum": lax.min,
    "multiply": lambda x, y: (lax.bitwise_and if x.dtype == bool else lax.mul)(x, y),
    "negate": lax.neg,
    "not": lax.bitwise_not,
    "or": lax.bitwise_or,
    "popcnt": lax.population_count,
    "power": lax.pow,
    "real": lax.real,
    "remainder": lax.rem,
    "round_nearest_afz": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "round_nearest_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "rsqrt": lax.rsqrt,
    "select": lax.select,
    "shift_left": lax.shift_left,
    "shift_right_arithmetic": lax.shift_right_arithmetic,
    "shift_right_logical": lax.shift_right_logical,
    "sign": lax.sign,
    "sine": lax.sin,
    "sqrt": lax.sqrt,
    "subtract": lax.sub,
    "tan": lax.tan,
    "tanh": lax.tanh,
    "xor": lax.bitwise_xor,
}
"""Operations of the values alone."""

COMPARISONS = {"EQ": lax.eq, "NE": lax.ne, "LT": lax.lt, "LE": lax.le, "GT": lax.gt, "GE": lax.ge}


Results = Array | Sequence[Array]
"""Of an operation: one array, or several."""


@dataclass(frozen=True)
class Call:
    """One operation with its operands' values.

    `region(i)` is its i-th region as a function of the region's arguments that returns a list, `function(name)` one of
    the module's functions, and `value(of)` what was computed before.
    """

    operation: ir.Operation
    operands: Sequence[Any]
    region: Callable[[int], Callable[..., list[Array]]]
    function: Callable[[str], Callable[..., list[Array]]]
    value: Callable[[ir.Value], Any]

    def attribute(self, key: str) -> Any:  # Any: the bindings of MLIR have no types
        """An attribute, or None if the operation has none of that name."""
        return attribute(self.operation, key)

    def text(self, key: str) -> str:
        """An attribute that is a word."""
        return str(self.attribute(key)).strip('"').removeprefix("@").strip('"')

    def number(self, key: str, default: int | None = None) -> int:
        """An attribute that is one whole number.

        Raises:
            UnsupportedError: the operation has none of that name, and nothing stands for it.
        """
        found = self.attribute(key)
        if found is not None:
            return int(found.value)
        if default is None:
            raise self.refused(f"without {key}")
        return default

    def flag(self, key: str) -> bool:
        """An attribute that is true or false; false if the operation has none of that name."""
        found = self.attribute(key)
        return found is not None and bool(found.value)

    def numbers(self, key: str, default: Sequence[int] = ()) -> tuple[int, ...]:
        """An attribute that is an array of whole numbers."""
        found = self.attribute(key)
        return tuple(default) if found is None else integers(found)

    def pads(self, key: str, count: int) -> list[tuple[int, int]]:
        """An attribute that is a pair of numbers for each dimension."""
        found = self.attribute(key)
        pairs = np.zeros((count, 2), int) if found is None else np.array(found).reshape(-1, 2)
        return [(int(low), int(high)) for low, high in pairs]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the operation's first result."""
        return dtype_of(self.operation.results[0].type)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the operation's first result."""
        return shape_of(self.operation.results[0].type)

    def refused(self, what: str) -> UnsupportedError:
        """The error that says that the operation is not read; `what` tells what of it, such as "with a window"."""
        return UnsupportedError(f"{self.operation.name} {what}, which is not read")


def read(call: Call) -> list[Array]:
    """The values of an operation's results.

    Raises:
        UnsupportedError: it has no rule, or its rule does not know what it says.
    """
    found = rule(call.operation.name)
    if found is None:
        raise UnsupportedError(f"the operation {call.operation.name}, which is not read")
    try:
        result = found(call)
    except (TypeError, ValueError, NotImplementedError) as error:  # JAX's own operation is narrower, say by its dtypes
        told = str(error).strip().split("\n")[0].rstrip(".")
        raise call.refused(f"in a way that JAX does not have ({told})") from error
    return list(result) if isinstance(result, list | tuple) else [result]  # type: ignore[list-item]


def rule(name: str) -> Callable[[Call], Results] | None:
    """What an operation's name stands for, or None."""
    dialect, _, short = name.partition(".")
    if dialect == "stablehlo" and short in ELEMENTWISE:
        return lambda call: ELEMENTWISE[short](*call.operands)
    if dialect == "chlo" and short in CHLO:
        return lambda call: CHLO[short](*call.operands)
    return RULES.get(name)


# --- numbers that are repeated --------------------------------------------------------------------------------------

WITH_SCALARS = frozenset(
    f"stablehlo.{name}"
    for name in (
        "add and atan2 clamp compare divide maximum minimum multiply or power remainder "
        "shift_left shift_right_arithmetic shift_right_logical subtract xor"
    ).split()
)
"""Operations of which `lax` takes a number where StableHLO needs an array of it."""


def repeated_written(name: str, operands: Sequence[Any]) -> list[Array]:
    """The operands of an operation with constants as a person writes them: x * 2, and not x times an array of 2."""
    if name in WITH_SCALARS and not all(map(is_repeated, operands)):
        return [x[(0,) * x.ndim] if is_repeated(x) else x for x in operands]
    return list(operands) if name == "stablehlo.broadcast_in_dim" else [spread(x) for x in operands]


def is_repeated(x: Array) -> bool:
    """Whether an array is a constant that repeats one number."""
    return isinstance(x, np.ndarray) and x.size > 1 and not any(x.strides)


def spread(x: Array) -> Array:
    """An array of JAX in place of a constant that repeats one number, so that no copies of it are kept."""
    return lax.full(x.shape, x[(0,) * x.ndim]) if is_repeated(x) else x


# --- values and shapes ----------------------------------------------------------------------------------------------


def _constant(call: Call) -> Array:
    return constant_of(call.operation)


def _atan2(call: Call) -> Array:
    """JAX writes the arc tangent as atan2(x, 1)."""
    x, y = call.operands
    one = owner(call.operation.operands[1])
    if one is not None and splat(one) == np.ones((), call.dtype).tobytes().hex():
        return lax.atan(x)
    return lax.atan2(x, y)


def _compare(call: Call) -> Array:
    """One kind of comparison.

    In the total order of floats, which JAX has for searches, -0 comes before 0, and NaN behind all or before.
    """
    direction = stablehlo.ComparisonDirectionAttr(call.attribute("comparison_direction")).value
    kind = call.attribute("compare_type")
    if (
        kind is not None
        and stablehlo.ComparisonTypeAttr(kind).value == "TOTALORDER"
        and call.operands[0].dtype.kind != "i"
    ):
        return _in_total_order(direction, *call.operands)
    return COMPARISONS[direction](*call.operands)


def _in_total_order(direction: str, x: Array, y: Array) -> Array:
    if direction in ("GT", "GE"):
        return _in_total_order({"GT": "LT", "GE": "LE"}[direction], y, x)
    if direction == "NE":
        return lax.bitwise_not(lax.eq_to_p.bind(x, y))
    return {"LT": lax.lt_to_p, "LE": lax.le_to_p, "EQ": lax.eq_to_p}[direction].bind(x, y)


def _whole(x: Array) -> bool:
    return x.dtype.kind in "iub"


def _broadcast(call: Call) -> Array:
    x = call.operands[0]
    if isinstance(x, np.ndarray) and (x.size == 1 or is_repeated(x)):
        return np.broadcast_to(x[(0,) * x.ndim], call.shape)
    return lax.broadcast_in_dim(x, call.shape, call.numbers("broadcast_dimensions"))


def _iota(call: Call) -> Array:
    return lax.broadcasted_iota(call.dtype, call.shape, call.number("iota_dimension"))


def _pad(call: Call) -> Array:
    x, value = call.operands
    sides = ("edge_padding_low", "edge_padding_high", "interior_padding")
    return lax.pad(x, value, list(zip(*map(call.numbers, sides), strict=True)))


def _slice(call: Call) -> Array:
    starts, limits, strides = (call.numbers(of) for of in ("start_indices", "limit_indices", "strides"))
    return lax.slice(call.operands[0], starts, limits, None if set(strides) <= {1} else strides)


def _reshape(call: Call) -> Array:
    """Where axes of one entry go away, that is what is written."""
    (x,), shape = call.operands, call.shape
    single = [axis for axis, size in enumerate(x.shape) if size == 1]
    if len(shape) < x.ndim and tuple(size for size in x.shape if size != 1) == shape:
        return lax.squeeze(x, single)
    return lax.reshape(x, shape)


def _dynamic_slice(call: Call) -> Array:
    x, *starts = call.operands
    sizes = call.numbers("slice_sizes")
    return lax.dynamic_slice(x, starts, slice_sizes=sizes, allow_negative_indices=False)


def _dynamic_update_slice(call: Call) -> Array:
    x, update, *starts = call.operands
    return lax.dynamic_update_slice(x, update, starts, allow_negative_indices=False)


def _reduce_precision(call: Call) -> Array:
    return lax.reduce_precision(call.operands[0], call.number("exponent_bits"), call.number("mantissa_bits"))


# --- sizes that are operands ----------------------------------------------------------------------------------------


def _sizes(call: Call, place: int) -> tuple[int, ...]:
    """An operand that is a list of sizes: numbers that are known while the program is traced."""
    found = call.operands[place]
    if not isinstance(found, np.ndarray):
        raise call.refused("with a size that depends on a value")
    return tuple(int(size) for size in found)


def _dynamic_broadcast(call: Call) -> Array:
    return lax.broadcast_in_dim(call.operands[0], _sizes(call, 1), call.numbers("broadcast_dimensions"))


def _dynamic_iota(call: Call) -> Array:
    return lax.broadcasted_iota(call.dtype, _sizes(call, 0), call.number("iota_dimension"))


def _dynamic_pad(call: Call) -> Array:
    low, high, interior = _sizes(call, 2), _sizes(call, 3), _sizes(call, 4)
    return lax.pad(call.operands[0], call.operands[1], list(zip(low, high, interior, strict=True)))


def _real_dynamic_slice(call: Call) -> Array:
    return lax.slice(call.operands[0], _sizes(call, 1), _sizes(call, 2), _sizes(call, 3))


# --- products -------------------------------------------------------------------------------------------------------


def _precision(call: Call) -> Any:
    found = call.attribute("precision_config")
    return None if found is None else tuple(lax.Precision[stablehlo.PrecisionAttr(p).value] for p in found)


def _dot_general(call: Call) -> Array:
    d = stablehlo.DotDimensionNumbers(call.attribute("dot_dimension_numbers"))
    contracted = integers(d.lhs_contracting_dimensions), integers(d.rhs_contracting_dimensions)
    batched = integers(d.lhs_batching_dimensions), integers(d.rhs_batching_dimensions)
    x, y = call.operands
    return lax.dot_general(x, y, (contracted, batched), precision=_precision(call), preferred_element_type=call.dtype)


def _convolution(call: Call) -> Any:
    d, (x, kernel) = stablehlo.ConvDimensionNumbers(call.attribute("dimension_numbers")), call.operands
    count = x.ndim - 2
    reversal = call.attribute("window_reversal")
    if reversal is not None and any(reversal):
        raise call.refused("with a reversed window")
    return lax.conv_general_dilated(
        x,
        kernel,
        window_strides=call.numbers("window_strides", (1,) * count),
        padding=call.pads("padding", count),
        lhs_dilation=call.numbers("lhs_dilation", (1,) * count),
        rhs_dilation=call.numbers("rhs_dilation", (1,) * count),
        dimension_numbers=lax.ConvDimensionNumbers(
            (d.input_batch_dimension, d.input_feature_dimension, *d.input_spatial_dimensions),
            (d.kernel_output_feature_dimension, d.kernel_input_feature_dimension, *d.kernel_spatial_dimensions),
            (d.output_batch_dimension, d.output_feature_dimension, *d.output_spatial_dimensions),
        ),
        feature_group_count=call.number("feature_group_count"),
        batch_group_count=call.number("batch_group_count"),
        precision=_precision(call),
        preferred_element_type=call.dtype,
    )


def _fft(call: Call) -> Array:
    kind = stablehlo.FftTypeAttr(call.attribute("fft_type")).value
    return lax.fft(call.operands[0], lax.FftType[kind], call.numbers("fft_length"))


def _cholesky(call: Call) -> Array:
    if not call.flag("lower"):
        raise call.refused("of an upper triangle")
    return lax.linalg.cholesky(call.operands[0], symmetrize_input=False)


def _triangular_solve(call: Call) -> Array:
    transposed = stablehlo.TransposeAttr(call.attribute("transpose_a")).value
    flags = {key: call.flag(key) for key in ("left_side", "lower", "unit_diagonal")}
    return lax.linalg.triangular_solve(
        *call.operands, transpose_a=transposed != "NO_TRANSPOSE", conjugate_a=transposed == "ADJOINT", **flags
    )


# --- reductions -----------------------------------------------------------------------------------------------------

REDUCTIONS = {
    "add": lax.reduce_sum,
    "multiply": lax.reduce_prod,
    "maximum": lax.reduce_max,
    "minimum": lax.reduce_min,
    "and": lax.reduce_and,
    "or": lax.reduce_or,
    "xor": lax.reduce_xor,
}


def _reduce(call: Call) -> Results:
    count = len(call.operands) // 2
    arrays, initial = call.operands[:count], call.operands[count:]
    axes, region = call.numbers("dimensions"), call.operation.regions[0]
    if count == 1 and (name := reducer(region)) in REDUCTIONS:
        name = {"add": "or", "multiply": "and"}.get(name, name) if arrays[0].dtype == bool else name
        result = REDUCTIONS[name](arrays[0], axes=axes)
        return _begun(name, initial[0], result)
    if count == 2 and (which := largest(region)) is not None and _are_places(call, axes):
        index, reduced = (lax.argmax, lax.reduce_max) if which == "GT" else (lax.argmin, lax.reduce_min)
        return [reduced(arrays[0], axes=axes), index(arrays[0], axes[0], arrays[1].dtype)]
    apply = call.region(0)
    if count == 1:
        return lax.reduce(arrays[0], initial[0], lambda x, y: apply(x, y)[0], axes)
    return lax.reduce(tuple(arrays), tuple(initial), lambda x, y: tuple(apply(*x, *y)), axes)


def _begun(name: str, initial: Array, result: Array) -> Array:
    """A reduction that begins with a number."""
    if isinstance(initial, np.ndarray) and neutral(name, initial):
        return result
    return ELEMENTWISE[name](lax.broadcast_in_dim(initial, result.shape, ()), result)


def _are_places(call: Call, axes: Sequence[int]) -> bool:
    """Whether the second array counts the places along the one axis reduced, from 0, and the first begins with ±∞."""
    places = owner(call.operation.operands[1])
    (start, place), which = call.operands[2:], largest(call.operation.regions[0])
    if places is None or places.name != "stablehlo.iota" or len(axes) != 1 or not isinstance(start, np.ndarray):
        return False
    if not (isinstance(place, np.ndarray) and place == 0):  # it is the result where all entries are ±∞
        return False
    return int(attribute(places, "iota_dimension").value) == axes[0] and neutral(
        "maximum" if which == "GT" else "minimum", start
    )


def _window(call: Call) -> dict[str, Any]:
    count = call.operands[0].ndim
    return {
        "window_dimensions": call.numbers("window_dimensions"),
        "window_strides": call.numbers("window_strides", (1,) * count),
        "padding": call.pads("padding", count),
        "base_dilation": call.numbers("base_dilations", (1,) * count),
        "window_dilation": call.numbers("window_dilations", (1,) * count),
    }


def _initial(call: Call, place: int) -> np.ndarray | None:
    """The one number that an operand is, if it is a constant; broadcasts of a scalar are looked through."""
    operation = owner(call.operation.operands[place])
    while operation is not None and operation.name == "stablehlo.broadcast_in_dim":
        operation = owner(operation.operands[0])
    constant = operation is not None and operation.name == "stablehlo.constant" and constant_of(operation).ndim == 0
    return constant_of(operation) if operation is not None and constant else None


CUMULATIVE = {
    "add": lax.cumsum,
    "multiply": lax.cumprod,
    "maximum": lax.cummax,
    "minimum": lax.cummin,
    "logaddexp": lax.cumlogsumexp,
}
"""What a window that ends at each place, and begins at the first, computes."""

WINDOWED = {"add": lax.add, "multiply": lax.mul, "maximum": lax.max, "minimum": lax.min}


def _reduce_window(call: Call) -> Any:
    if len(call.operands) != 2:
        raise call.refused("of several arrays")
    name, start, window = reducer(call.operation.regions[0]), _initial(call, 1), _window(call)
    if name not in CUMULATIVE or start is None or not neutral("maximum" if name == "logaddexp" else name, start):
        raise call.refused("with a body or a beginning of its own")
    x = call.operands[0]
    if (axis := _cumulative(x.shape, window)) is not None:
        return CUMULATIVE[name](x, axis=axis[0], reverse=axis[1])
    if name not in WINDOWED:
        raise call.refused("of logarithms")
    return lax.reduce_window(x, start[()], WINDOWED[name], **window)


def _cumulative(shape: tuple[int, ...], window: dict[str, Any]) -> tuple[int, bool] | None:
    """The axis of a window over everything up to a place, and whether it is everything from there; None of others."""
    long = [axis for axis, size in enumerate(window["window_dimensions"]) if size > 1]
    plain = all(set(window[key]) == {1} for key in ("window_strides", "base_dilation", "window_dilation"))
    if len(long) != 1 or not plain:
        return None
    size = shape[long[0]]
    ends = {(size - 1, 0): False, (0, size - 1): True}
    padding = window["padding"][long[0]]
    rest = all(pad == (0, 0) for axis, pad in enumerate(window["padding"]) if axis != long[0])
    if window["window_dimensions"][long[0]] != size or padding not in ends or not rest:
        return None
    return long[0], ends[padding]


def _select_and_scatter(call: Call) -> Any:
    """The derivative of a maximum over windows."""
    x, cotangents, _ = call.operands
    start, window = _initial(call, 2), _window(call)
    select, scatter = call.operation.regions
    known = reducer(select) == "greater or equal" and reducer(scatter) == "add"
    if not known or start is None or not neutral("add", start) or any(pad != (0, 0) for pad in window["padding"]):
        raise call.refused("with a body, a beginning or a padding of its own")
    lowest = x.dtype.type(-np.inf)
    return jax.vjp(lambda x: lax.reduce_window(x, lowest, lax.max, **window), x)[1](cotangents)[0]


def _sort(call: Call) -> Results:
    found = order(call.operation.regions[0])
    if found is None:
        raise call.refused("by a comparison of its own")
    axis, stable = call.number("dimension", -1), call.flag("is_stable")
    places = [*found.keys, *(i for i in range(len(call.operands)) if i not in found.keys)]
    keyed = [call.operands[i] for i in places]
    count = len(found.keys)
    turned = lambda values: [_reversed_order(v) if i < count and found.descending else v for i, v in enumerate(values)]
    values = turned(lax.sort(turned(keyed), dimension=axis, is_stable=stable, num_keys=count))  # type: ignore[arg-type]
    return [values[places.index(i)] for i in range(len(places))]


def _reversed_order(x: Array) -> Array:
    """A one-to-one map that turns the order around, without overflow."""
    return lax.bitwise_not(x) if _whole(x) else lax.neg(x)


# --- places ---------------------------------------------------------------------------------------------------------


def _places(indices: Array, dimension: int) -> Array:
    """Indices with their vectors along the last axis, as `lax` has them."""
    if dimension == indices.ndim:
        return lax.expand_dims(indices, (dimension,))
    rest = [axis for axis in range(indices.ndim) if axis != dimension]
    return indices if rest == list(range(dimension)) else lax.transpose(indices, (*rest, dimension))


def _moved(axes: Sequence[int], dimension: int) -> tuple[int, ...]:
    """Axes of the indices where `_places` puts them."""
    return tuple(axis - (axis > dimension) for axis in integers(axes))


def _gather(call: Call, sizes: tuple[int, ...] | None = None) -> Array:
    d, (x, indices) = stablehlo.GatherDimensionNumbers(call.attribute("dimension_numbers")), call.operands[:2]
    numbers = lax.GatherDimensionNumbers(
        offset_dims=integers(d.offset_dims),
        collapsed_slice_dims=integers(d.collapsed_slice_dims),
        start_index_map=integers(d.start_index_map),
        operand_batching_dims=integers(d.operand_batching_dims),
        start_indices_batching_dims=_moved(d.start_indices_batching_dims, d.index_vector_dim),
    )
    places = _places(indices, d.index_vector_dim)
    sizes = call.numbers("slice_sizes") if sizes is None else sizes
    return lax.gather(x, places, numbers, sizes, mode=lax.GatherScatterMode.CLIP)


def _dynamic_gather(call: Call) -> Array:
    return _gather(call, _sizes(call, 2))


SCATTERS = {
    "second": lax.scatter,
    "add": lax.scatter_add,
    "multiply": lax.scatter_mul,
    "maximum": lax.scatter_max,
    "minimum": lax.scatter_min,
}


def _scatter(call: Call) -> Array:
    name = reducer(call.operation.regions[0])
    if len(call.operands) != 3 or name not in SCATTERS:
        raise call.refused("of several arrays, or with a body of its own")
    d, (x, indices, updates) = (
        stablehlo.ScatterDimensionNumbers(call.attribute("scatter_dimension_numbers")),
        call.operands,
    )
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=integers(d.update_window_dims),
        inserted_window_dims=integers(d.inserted_window_dims),
        scatter_dims_to_operand_dims=integers(d.scattered_dims_to_operand_dims),
        operand_batching_dims=integers(d.input_batching_dims),
        scatter_indices_batching_dims=_moved(d.scatter_indices_batching_dims, d.index_vector_dim),
    )
    return SCATTERS[name](
        x,
        _places(indices, d.index_vector_dim),
        updates,
        numbers,
        unique_indices=call.flag("unique_indices"),
        mode=lax.GatherScatterMode.FILL_OR_DROP,
    )


# --- control --------------------------------------------------------------------------------------------------------


def _while(call: Call) -> Results:
    condition, body = call.region(0), call.region(1)
    start = tuple(jnp.asarray(x) for x in call.operands)
    return lax.while_loop(lambda carry: condition(*carry)[0], lambda carry: tuple(body(*carry)), start)


def _case(call: Call) -> Results:
    (which,) = call.operands
    branches = [call.region(i) for i in range(len(call.operation.regions))]
    if isinstance(which, np.ndarray):
        return branches[int(which) if 0 <= which < len(branches) else -1]()
    of_tuples = [lambda branch=branch: tuple(branch()) for branch in branches]
    made = owner(call.operation.operands[0])
    if made is not None and len(branches) == 2 and _is_converted_boolean(made):
        return lax.cond(call.value(made.operands[0]), of_tuples[1], of_tuples[0])
    if made is not None and _is_clamped(made, len(branches)):  # as `lax.switch` does by itself
        return lax.switch(call.value(made.operands[1]), of_tuples)
    last = np.int32(len(branches) - 1)
    within = lax.bitwise_and(lax.ge(which, np.int32(0)), lax.le(which, last))
    return lax.switch(lax.select(within, which, lax.full_like(which, last)), of_tuples)


def _is_converted_boolean(made: ir.Operation) -> bool:
    return made.name == "stablehlo.convert" and dtype_of(made.operands[0].type).kind == "b"


def _is_clamped(made: ir.Operation, count: int) -> bool:
    """Whether the number of a branch is clamped to those that there are."""
    ends = [owner(made.operands[i]) for i in (0, 2)] if made.name == "stablehlo.clamp" else []
    wanted = [np.int32(0).tobytes().hex(), np.int32(count - 1).tobytes().hex()]
    return [None if end is None else splat(end) for end in ends] == wanted


def _if(call: Call) -> Array:
    then, otherwise = call.region(0), call.region(1)
    return lax.cond(call.operands[0], lambda: tuple(then()), lambda: tuple(otherwise()))


def _call(call: Call) -> Results:
    return call.function(call.text("callee"))(*call.operands)


def _composite(call: Call) -> Results:
    """A function that has a name; where it is one of JAX's the name counts, and else what it is composed of."""
    name = call.text("name")
    if name == "chlo.top_k":
        return top_k(call, call.attribute("composite_attributes"))
    short = name.removeprefix("chlo.")
    if name != short and short in CHLO:
        return CHLO[short](*call.operands)
    return call.function(call.text("decomposition"))(*call.operands)


def _rng_bit_generator(call: Call) -> Results:
    result = call.operation.results[1].type
    name = stablehlo.RngAlgorithmAttr(call.attribute("rng_algorithm")).value
    algorithm = lax.RandomAlgorithm["RNG_" + name]
    dtype: Any = dtype_of(result)
    return lax.rng_bit_generator(call.operands[0], shape_of(result), dtype, algorithm=algorithm)


def _get_dimension_size(call: Call) -> Array:
    size = call.operands[0].shape[call.number("dimension")]
    if not isinstance(size, int):
        raise UnsupportedError(f"the size {size} as a number: this program is read at numbers for sizes")
    return np.asarray(size, np.int32)


def _custom_call(call: Call) -> Array:
    return custom_call(call.text("call_target_name"), call)


RULES: dict[str, Callable[[Call], Results]] = {
    "chlo.top_k": lambda call: lax.top_k(call.operands[0], call.number("k")),
    "func.call": _call,
    "sdy.sharding_constraint": lambda call: call.operands[0],
    "stablehlo.atan2": _atan2,
    "stablehlo.bitcast_convert": lambda call: lax.bitcast_convert_type(call.operands[0], call.dtype),
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.case": _case,
    "stablehlo.cholesky": _cholesky,
    "stablehlo.compare": _compare,
    "stablehlo.composite": _composite,
    "stablehlo.concatenate": lambda call: lax.concatenate(call.operands, call.number("dimension")),
    "stablehlo.constant": _constant,
    "stablehlo.convert": lambda call: lax.convert_element_type(call.operands[0], call.dtype),
    "stablehlo.convolution": _convolution,
    "stablehlo.custom_call": _custom_call,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.dynamic_broadcast_in_dim": _dynamic_broadcast,
    "stablehlo.dynamic_gather": _dynamic_gather,
    "stablehlo.dynamic_iota": _dynamic_iota,
    "stablehlo.dynamic_pad": _dynamic_pad,
    "stablehlo.dynamic_reshape": lambda call: lax.reshape(call.operands[0], _sizes(call, 1)),
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.fft": _fft,
    "stablehlo.gather": _gather,
    "stablehlo.get_dimension_size": _get_dimension_size,
    "stablehlo.if": _if,
    "stablehlo.iota": _iota,
    "stablehlo.optimization_barrier": lambda call: list(call.operands),
    "stablehlo.pad": _pad,
    "stablehlo.real_dynamic_slice": _real_dynamic_slice,
    "stablehlo.reduce": _reduce,
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": lambda call: lax.rev(call.operands[0], call.numbers("dimensions")),
    "stablehlo.rng_bit_generator": _rng_bit_generator,
    "stablehlo.scatter": _scatter,
    "stablehlo.select_and_scatter": _select_and_scatter,
    "stablehlo.slice": _slice,
    "stablehlo.sort": _sort,
    "stablehlo.transpose": lambda call: lax.transpose(call.operands[0], call.numbers("permutation")),
    "stablehlo.triangular_solve": _triangular_solve,
    "stablehlo.while": _while,
}
"""The other operations, in the order of their names."""
