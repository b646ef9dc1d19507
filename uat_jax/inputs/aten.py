"""The core operations of PyTorch (ATen) as expressions of JAX: one rule for each overload that is read.

Every rule is called with the arguments that the graph has, tensors as arrays of JAX, and returns an array or a tuple of
them.  What it returns is compared with the shape and dtype that PyTorch says, so that a rule that is wrong about either
refuses.  Options that a rule does not know are refused as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.typing import ArrayLike, DTypeLike

from uat_jax.errors import UnsupportedError
from uat_jax.typing import Function, PyTree

Operand = Any  # Any: an array, or a number of Python: what has no dtype
Axes = int | Sequence[int] | None

RULES: dict[str, Function] = {}
"""Overload, such as "add.Tensor" → its rule."""


def _rule(*overloads: str) -> Callable[[Callable], Callable]:
    def kept(function: Callable) -> Callable:
        RULES.update(dict.fromkeys(overloads, function))
        return function

    return kept


def dtype_of(kind: DTypeLike | None) -> np.dtype:
    """The dtype that PyTorch calls `torch.float32` and the like."""
    return jnp.dtype(str(kind).removeprefix("torch."))


# --- types and shapes of two operands -------------------------------------------------------------------------------


def _kind(x: jax.Array) -> int:
    """0 for booleans, 1 for whole numbers, 2 for real ones."""
    if not hasattr(x, "dtype"):
        return 0 if isinstance(x, bool) else 1 if isinstance(x, int) else 2
    return 0 if x.dtype == bool else 1 if jnp.issubdtype(x.dtype, jnp.integer) else 2


def _common(*values: Operand) -> np.dtype:
    """The dtype of a result: that of arrays with axes, unless scalars are of a higher kind; numbers come last."""
    groups = (
        [v for v in values if hasattr(v, "dtype") and v.ndim],
        [v for v in values if hasattr(v, "dtype") and not v.ndim],
        [v for v in values if not hasattr(v, "dtype")],
    )
    found: tuple[int, np.dtype] | None = None
    for group in filter(None, groups):
        highest = max(map(_kind, group))
        if found is not None and highest <= found[0]:
            continue
        known = [v.dtype for v in group if hasattr(v, "dtype") and _kind(v) == highest]
        dtype = (jnp.dtype(bool), jnp.dtype("int64"), jnp.dtype("float32"))[highest]
        for one, other in enumerate(known):
            dtype = other if one == 0 else jnp.promote_types(dtype, other)
        found = (highest, dtype)
    assert found is not None  # there are operands
    return found[1]


def _cast(x: Operand, dtype: Any) -> jax.Array:
    return jnp.asarray(x, dtype) if not hasattr(x, "dtype") else x.astype(dtype)


def _together(*values: Operand, dtype: Any = None) -> list[jax.Array]:
    """Operands of one dtype and one shape."""
    dtype = _common(*values) if dtype is None else dtype
    cast = [_cast(v, dtype) for v in values]
    shape = jnp.broadcast_shapes(*(v.shape for v in cast))
    return [jnp.broadcast_to(v, shape) for v in cast]


def _binary(function: Callable) -> Callable:
    return lambda x, y: function(*_together(x, y))


def _real(*values: jax.Array) -> np.dtype:
    """The dtype of a result that is real, whatever the operands are."""
    dtype = _common(*values)
    return dtype if jnp.issubdtype(dtype, jnp.floating) else jnp.dtype("float32")


for name, function in {
    "mul": jnp.multiply,
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "eq": jnp.equal,
    "ne": jnp.not_equal,
    "lt": jnp.less,
    "le": jnp.less_equal,
    "gt": jnp.greater,
    "ge": jnp.greater_equal,
    "bitwise_and": jnp.bitwise_and,
    "bitwise_or": jnp.bitwise_or,
    "bitwise_xor": jnp.bitwise_xor,
    "logical_and": jnp.logical_and,
    "logical_or": jnp.logical_or,
    "logical_xor": jnp.logical_xor,
    "fmod": lax.rem,
    "remainder": jnp.remainder,
    "atan2": jnp.arctan2,
}.items():
    for overload in ("Tensor", "Scalar", "default"):
        RULES[f"{name}.{overload}"] = _binary(function)


@_rule("add.Tensor", "add.Scalar")
def _add(x: jax.Array, y: jax.Array, alpha: ArrayLike = 1) -> jax.Array:
    return _plus(jnp.add, x, y, alpha)


@_rule("sub.Tensor", "sub.Scalar")
def _sub(x: jax.Array, y: jax.Array, alpha: ArrayLike = 1) -> jax.Array:
    return _plus(jnp.subtract, x, y, alpha)


@_rule("rsub.Scalar", "rsub.Tensor")
def _rsub(x: jax.Array, y: jax.Array, alpha: ArrayLike = 1) -> jax.Array:
    return _plus(jnp.subtract, y, x, alpha)


def _plus(function: Callable, x: jax.Array, y: jax.Array, alpha: ArrayLike) -> jax.Array:
    x, y = _together(x, y)
    return function(x, y if alpha == 1 else y * _cast(alpha, y.dtype))


@_rule("div.Tensor", "div.Scalar")
def _div(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.divide(*_together(x, y, dtype=_real(x, y)))


@_rule("div.Tensor_mode", "div.Scalar_mode")
def _div_mode(x: jax.Array, y: jax.Array, rounding_mode: str | None = None) -> jax.Array:
    x, y = _together(x, y, dtype=None if rounding_mode else _real(x, y))
    if rounding_mode is None:
        return x / y
    if rounding_mode == "floor":
        return jnp.floor_divide(x, y)
    return lax.div(x, y) if _kind(x) == 1 else jnp.trunc(x / y)


RULES["floor_divide.default"] = lambda x, y: _div_mode(x, y, "floor")


@_rule("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar")
def _pow(x: jax.Array, y: jax.Array) -> jax.Array:
    whole = not hasattr(y, "dtype") and float(y).is_integer()
    if whole and hasattr(x, "dtype"):
        return lax.integer_pow(x, int(y))
    if _kind(x) < 2 and _kind(y) < 2:
        raise UnsupportedError("a whole exponent that may be negative, of a whole number")
    return jnp.power(*_together(x, y))


# --- one operand ----------------------------------------------------------------------------------------------------

for name, function in {
    "abs": jnp.abs,
    "acos": jnp.arccos,
    "acosh": jnp.arccosh,
    "asin": jnp.arcsin,
    "asinh": jnp.arcsinh,
    "atan": jnp.arctan,
    "atanh": jnp.arctanh,
    "bitwise_not": jnp.bitwise_not,
    "ceil": jnp.ceil,
    "cos": jnp.cos,
    "cosh": jnp.cosh,
    "erf": lax.erf,
    "exp": jnp.exp,
    "expm1": jnp.expm1,
    "floor": jnp.floor,
    "isinf": jnp.isinf,
    "isnan": jnp.isnan,
    "log": jnp.log,
    "log10": lambda x: jnp.log(x) / jnp.log(_cast(10, x.dtype)),
    "log1p": jnp.log1p,
    "log2": lambda x: jnp.log(x) / jnp.log(_cast(2, x.dtype)),
    "logical_not": jnp.logical_not,
    "neg": jnp.negative,
    "reciprocal": lambda x: _cast(1, x.dtype) / x,
    "relu": lambda x: jnp.maximum(x, _cast(0, x.dtype)),
    "round": jnp.round,
    "rsqrt": lax.rsqrt,
    "sigmoid": jax.nn.sigmoid,
    "sign": jnp.sign,
    "silu": jax.nn.silu,
    "sin": jnp.sin,
    "sinh": jnp.sinh,
    "sqrt": jnp.sqrt,
    "tan": jnp.tan,
    "tanh": jnp.tanh,
    "trunc": jnp.trunc,
}.items():
    RULES[f"{name}.default"] = function


@_rule("gelu.default")
def _gelu(x: jax.Array, approximate: str = "none") -> jax.Array:
    return jax.nn.gelu(x, approximate=approximate == "tanh")


@_rule("leaky_relu.default")
def _leaky_relu(x: jax.Array, slope: float = 0.01) -> jax.Array:
    return jnp.where(x > _cast(0, x.dtype), x, x * _cast(slope, x.dtype))


@_rule("elu.default")
def _elu(x: jax.Array, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> jax.Array:
    a, s, i = (_cast(v, x.dtype) for v in (alpha, scale, input_scale))
    return jnp.where(x > _cast(0, x.dtype), x * s, a * s * jnp.expm1(x * i))


@_rule("softplus.default")
def _softplus(x: jax.Array, beta: float = 1.0, threshold: float = 20.0) -> jax.Array:
    """PyTorch returns x itself beyond a threshold, where the two differ by less than a rounding; the graph says so."""
    if threshold < 20 or math.exp(-threshold) > threshold * jnp.finfo(x.dtype).eps / 2:
        raise UnsupportedError(f"a threshold of {threshold:g}, where softplus and its argument are apart")
    b = _cast(beta, x.dtype)
    return jax.nn.softplus(x * b) / b


@_rule("clamp.default", "clamp.Tensor", "hardtanh.default")
def _clamp(x: jax.Array, low: Operand = None, high: Operand = None) -> jax.Array:
    x = x if low is None else jnp.maximum(*_together(x, low))
    return x if high is None else jnp.minimum(*_together(x, high))


RULES["clamp_min.default"] = lambda x, low: _clamp(x, low)
RULES["clamp_max.default"] = lambda x, high: _clamp(x, None, high)
RULES["hardtanh.default"] = lambda x, low=-1.0, high=1.0: _clamp(x, low, high)


@_rule("clone.default", "alias.default", "contiguous.default", "lift_fresh_copy.default")
def _same(x: jax.Array) -> jax.Array:
    return x


RULES["detach.default"] = lax.stop_gradient


@_rule("dropout.default", "native_dropout.default")
def _dropout(x: jax.Array, p: float, train: bool) -> jax.Array:
    if train and p:
        raise UnsupportedError("dropout, which is random in training mode; call .eval() first")
    return x


# --- shapes ---------------------------------------------------------------------------------------------------------


@_rule("view.default", "reshape.default", "_unsafe_view.default", "view_copy.default")
def _view(x: jax.Array, shape: Sequence[int]) -> jax.Array:
    return jnp.reshape(x, tuple(shape))


@_rule("permute.default", "permute_copy.default")
def _permute(x: jax.Array, axes: Sequence[int]) -> jax.Array:
    return jnp.transpose(x, [axis % x.ndim for axis in axes])


@_rule("transpose.int", "transpose_copy.int")
def _transpose(x: jax.Array, a: int, b: int) -> jax.Array:
    return jnp.swapaxes(x, a, b)


RULES["t.default"] = RULES["numpy_T.default"] = jnp.transpose


@_rule("expand.default", "expand_copy.default")
def _expand(x: jax.Array, sizes: Sequence[int], implicit: bool = False) -> jax.Array:
    new = len(sizes) - x.ndim
    return jnp.broadcast_to(x, [x.shape[i - new] if size == -1 else size for i, size in enumerate(sizes)])


@_rule("unsqueeze.default", "unsqueeze_copy.default")
def _unsqueeze(x: jax.Array, axis: int) -> jax.Array:
    return jnp.expand_dims(x, axis)


@_rule("squeeze.dims", "squeeze.dim", "squeeze_copy.dims")
def _squeeze(x: Any, axes: Any) -> Any:
    listed = [axes] if isinstance(axes, int) else axes
    return jnp.squeeze(x, tuple(axis for axis in listed if x.shape[axis] == 1))


@_rule("cat.default")
def _cat(arrays: Sequence[jax.Array], axis: int = 0) -> jax.Array:
    dtype = _common(*arrays)
    return jnp.concatenate([_cast(x, dtype) for x in arrays if x.shape != (0,)], axis)


@_rule("stack.default")
def _stack(arrays: Sequence[jax.Array], axis: int = 0) -> jax.Array:
    return jnp.stack(arrays, axis)


@_rule("select.int", "select_copy.int")
def _select(x: jax.Array, axis: int, place: int) -> jax.Array:
    return lax.index_in_dim(x, place % x.shape[axis], axis % x.ndim, keepdims=False)


@_rule("slice.Tensor", "slice_copy.Tensor")
def _slice(x: jax.Array, axis: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> jax.Array:
    at = slice(start, None if end is None else min(end, x.shape[axis]), step).indices(x.shape[axis])
    return lax.slice_in_dim(x, at[0], max(at[0], at[1]), step, axis % x.ndim)


@_rule("split_with_sizes.default", "split_with_sizes_copy.default")
def _split_with_sizes(x: jax.Array, sizes: Sequence[int], axis: int = 0) -> list[jax.Array]:
    return jnp.split(x, np.cumsum(sizes)[:-1].tolist(), axis)


@_rule("split.Tensor")
def _split(x: jax.Array, size: int, axis: int = 0) -> list[jax.Array]:
    return jnp.split(x, list(range(size, x.shape[axis], size)), axis)


@_rule("chunk.default")
def _chunk(x: jax.Array, count: int, axis: int = 0) -> jax.Array:
    return _split(x, -(-x.shape[axis] // count), axis)


@_rule("unbind.int")
def _unbind(x: jax.Array, axis: int = 0) -> list[jax.Array]:
    return [lax.index_in_dim(x, i, axis % x.ndim, keepdims=False) for i in range(x.shape[axis])]


@_rule("flip.default")
def _flip(x: jax.Array, axes: Sequence[int]) -> jax.Array:
    return jnp.flip(x, tuple(axes))


@_rule("repeat.default")
def _repeat(x: jax.Array, counts: Sequence[int]) -> jax.Array:
    return jnp.tile(jnp.reshape(x, (1,) * (len(counts) - x.ndim) + x.shape), tuple(counts))


@_rule("constant_pad_nd.default")
def _pad(x: jax.Array, pads: Sequence[int], value: Any = 0) -> jax.Array:
    pairs = list(zip(pads[::2], pads[1::2], strict=True))[::-1]
    every = [(0, 0)] * (x.ndim - len(pairs)) + pairs
    return lax.pad(x, _cast(value, x.dtype), [(low, high, 0) for low, high in every])


@_rule("tril.default")
def _tril(x: jax.Array, diagonal: int = 0) -> jax.Array:
    return jnp.tril(x, diagonal)


@_rule("triu.default")
def _triu(x: jax.Array, diagonal: int = 0) -> jax.Array:
    return jnp.triu(x, diagonal)


# --- products -------------------------------------------------------------------------------------------------------


@_rule("mm.default", "bmm.default", "matmul.default", "mv.default", "dot.default")
def _matmul(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.matmul(x, y, precision="highest")


@_rule("addmm.default")
def _addmm(c: jax.Array, x: jax.Array, y: jax.Array, beta: ArrayLike = 1, alpha: ArrayLike = 1) -> jax.Array:
    product = _matmul(x, y)
    return _plus(jnp.add, _scaled(c, beta), product, alpha)


@_rule("baddbmm.default")
def _baddbmm(c: jax.Array, x: jax.Array, y: jax.Array, beta: ArrayLike = 1, alpha: ArrayLike = 1) -> jax.Array:
    return _addmm(c, x, y, beta, alpha)


def _scaled(x: jax.Array, by: Operand) -> jax.Array:
    return x if by == 1 else x * _cast(by, x.dtype)


@_rule("linear.default")
def _linear(x: jax.Array, weight: Any, bias: jax.Array | None = None) -> jax.Array:
    product = _matmul(x, jnp.transpose(weight))
    return product if bias is None else jnp.add(*_together(product, bias))


@_rule("convolution.default")
def _convolution(
    x: jax.Array,
    kernel: jax.Array,
    bias: jax.Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> jax.Array:
    if transposed:
        raise UnsupportedError("a transposed convolution")
    result = lax.conv_general_dilated(
        x,
        kernel,
        tuple(stride),
        [(p, p) for p in padding],
        rhs_dilation=tuple(dilation),
        feature_group_count=groups,
        precision=lax.Precision.HIGHEST,
    )
    return result if bias is None else jnp.add(*_together(result, _along(bias, 1, result.ndim)))


def _along(x: Any, axis: int, ndim: int) -> Any:
    """A vector as an array of `ndim` axes that varies along one of them."""
    return None if x is None else jnp.reshape(x, [-1 if i == axis else 1 for i in range(ndim)])


@_rule("scaled_dot_product_attention.default")
def _attention(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    mask: PyTree = None,
    dropout: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> jax.Array:
    """As PyTorch defines it; what it decomposes to scales q and k by the rounded fourth root of their size."""
    if dropout:
        raise UnsupportedError("dropout, which is random in training mode; call .eval() first")
    if enable_gqa:
        k, v = (jnp.repeat(x, q.shape[-3] // x.shape[-3], -3) for x in (k, v))
    scores = _matmul(q, jnp.swapaxes(k, -1, -2))
    root = jnp.sqrt(_cast(q.shape[-1], q.dtype))
    scores = scores / root if scale is None else scores * _cast(scale, q.dtype)
    if is_causal:
        before = jnp.broadcast_to(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores.shape)
        scores = jnp.where(before, scores, _cast(-jnp.inf, q.dtype))
    if mask is not None and mask.dtype == bool:
        scores = jnp.where(jnp.broadcast_to(mask, scores.shape), scores, _cast(-jnp.inf, q.dtype))
    elif mask is not None:
        scores = jnp.add(*_together(scores, mask))
    weights = jax.nn.softmax(scores, -1)
    if mask is not None:
        weights = _without_masked_rows(weights, mask if mask.dtype == bool else mask > _cast(-jnp.inf, mask.dtype))
    return _matmul(weights, v)


def _without_masked_rows(weights: PyTree, mask: PyTree) -> jax.Array:
    """Attention's weights, 0 in rows that are masked whole, where a softmax has none."""
    seen = jnp.any(mask, -1, keepdims=True)
    if not isinstance(seen, Tracer) and bool(seen.all()):
        return weights
    return jnp.where(jnp.broadcast_to(seen, weights.shape), weights, _cast(0, weights.dtype))


# --- reductions -----------------------------------------------------------------------------------------------------


def _axes(axes: Axes) -> int | tuple[int, ...] | None:
    return axes if axes is None or isinstance(axes, int) else tuple(axes) or None


def _typed(x: jax.Array, dtype: Any) -> jax.Array:
    return x if dtype is None else x.astype(dtype_of(dtype))


def _summed(x: jax.Array, dtype: Any) -> jax.Array:
    """Sums of whole numbers and booleans have 64 bits."""
    return x.astype("int64") if dtype is None and _kind(x) < 2 else _typed(x, dtype)


@_rule("sum.dim_IntList", "sum.default")
def _sum(x: jax.Array, axes: Axes = None, keepdim: bool = False, *, dtype: Any = None) -> jax.Array:
    return jnp.sum(_summed(x, dtype), _axes(axes), keepdims=keepdim)


@_rule("mean.dim", "mean.default")
def _mean(x: jax.Array, axes: Axes = None, keepdim: bool = False, *, dtype: Any = None) -> jax.Array:
    return jnp.mean(_typed(x, dtype), _axes(axes), keepdims=keepdim)


@_rule("prod.default", "prod.dim_int")
def _prod(x: jax.Array, axes: Axes = None, keepdim: bool = False, *, dtype: Any = None) -> jax.Array:
    return jnp.prod(_summed(x, dtype), _axes(axes), keepdims=keepdim)


@_rule("amax.default")
def _amax(x: jax.Array, axes: Axes = (), keepdim: bool = False) -> jax.Array:
    return jnp.max(x, _axes(axes), keepdims=keepdim)


@_rule("amin.default")
def _amin(x: jax.Array, axes: Axes = (), keepdim: bool = False) -> jax.Array:
    return jnp.min(x, _axes(axes), keepdims=keepdim)


@_rule("max.dim")
def _max_dim(x: jax.Array, axis: int, keepdim: bool = False) -> tuple[jax.Array, ...]:
    return jnp.max(x, axis, keepdims=keepdim), jnp.argmax(x, axis, keepdims=keepdim).astype("int64")


@_rule("argmax.default")
def _argmax(x: jax.Array, axis: int | None = None, keepdim: bool = False) -> jax.Array:
    return jnp.argmax(x, axis, keepdims=keepdim).astype("int64")


@_rule("any.dim", "any.dims", "any.default")
def _any(x: jax.Array, axes: Axes = None, keepdim: bool = False) -> jax.Array:
    return jnp.any(x, _axes(axes), keepdims=keepdim)


@_rule("all.dim", "all.dims", "all.default")
def _all(x: jax.Array, axes: Axes = None, keepdim: bool = False) -> jax.Array:
    return jnp.all(x, _axes(axes), keepdims=keepdim)


@_rule("var.correction")
def _var(x: jax.Array, axes: Axes = None, *, correction: Operand = 1, keepdim: bool = False) -> jax.Array:
    return jnp.var(x, _axes(axes), ddof=1 if correction is None else correction, keepdims=keepdim)


@_rule("cumsum.default")
def _cumsum(x: jax.Array, axis: int, *, dtype: Any = None) -> jax.Array:
    return jnp.cumsum(_summed(x, dtype), axis)


@_rule("_softmax.default", "softmax.int")
def _softmax(x: jax.Array, axis: int, half: object = None) -> jax.Array:
    return jax.nn.softmax(x, axis)


@_rule("_log_softmax.default", "log_softmax.int")
def _log_softmax(x: jax.Array, axis: int, half: object = None) -> jax.Array:
    return jax.nn.log_softmax(x, axis)


@_rule("logsumexp.default")
def _logsumexp(x: jax.Array, axes: Axes, keepdim: bool = False) -> jax.Array:
    return jax.nn.logsumexp(x, _axes(axes), keepdims=keepdim)


@_rule("sort.default")
def _sort(x: jax.Array, axis: int = -1, descending: bool = False) -> tuple[jax.Array, ...]:
    places = jnp.argsort(x, axis, stable=True, descending=descending)
    return jnp.take_along_axis(x, places, axis), places.astype("int64")


# --- norms and pooling ----------------------------------------------------------------------------------------------


def _affine(x: jax.Array, weight: jax.Array | None, bias: jax.Array | None) -> jax.Array:
    x = x if weight is None else jnp.multiply(*_together(x, weight))
    return x if bias is None else jnp.add(*_together(x, bias))


def _normalized(x: jax.Array, axes: tuple[int, ...], eps: float) -> tuple[jax.Array, ...]:
    mean = jnp.mean(x, axes, keepdims=True)
    centred = jnp.subtract(*_together(x, mean))
    root = lax.rsqrt(jnp.mean(jnp.square(centred), axes, keepdims=True) + _cast(eps, x.dtype))
    return jnp.multiply(*_together(centred, root)), mean, root


@_rule("native_layer_norm.default")
def _layer_norm(
    x: jax.Array, shape: Sequence[int], weight: jax.Array | None, bias: jax.Array | None, eps: float
) -> tuple[jax.Array, ...]:
    normal, mean, root = _normalized(x, tuple(range(-len(shape), 0)), eps)
    return _affine(normal, weight, bias), mean, root


@_rule("layer_norm.default")
def _whole_layer_norm(
    x: jax.Array,
    shape: Sequence[int],
    weight: jax.Array | None = None,
    bias: jax.Array | None = None,
    eps: float = 1e-5,
    cudnn: bool = True,
) -> jax.Array:
    return _layer_norm(x, shape, weight, bias, eps)[0]


@_rule("rms_norm.default")
def _rms_norm(
    x: jax.Array, shape: Sequence[int], weight: jax.Array | None = None, eps: float | None = None
) -> jax.Array:
    axes = tuple(range(-len(shape), 0))
    small = jnp.finfo(x.dtype).eps if eps is None else eps
    root = lax.rsqrt(jnp.mean(jnp.square(x), axes, keepdims=True) + _cast(small, x.dtype))
    return _affine(jnp.multiply(*_together(x, root)), weight, None)


@_rule("native_group_norm.default")
def _group_norm(
    x: jax.Array, weight: jax.Array | None, bias: jax.Array | None, n: int, c: int, size: int, groups: int, eps: float
) -> tuple[jax.Array, ...]:
    normal, mean, root = _normalized(jnp.reshape(x, (n, groups, -1)), (2,), eps)
    result = _affine(jnp.reshape(normal, x.shape), _along(weight, 1, x.ndim), _along(bias, 1, x.ndim))
    return result, mean[..., 0], root[..., 0]


@_rule("_native_batch_norm_legit_no_training.default")
def _batch_norm(
    x: jax.Array,
    weight: jax.Array | None,
    bias: jax.Array | None,
    mean: jax.Array | None,
    var: jax.Array,
    momentum: float,
    eps: float,
) -> Any:
    mean, root = _along(mean, 1, x.ndim), lax.rsqrt(_along(var, 1, x.ndim) + _cast(eps, x.dtype))
    normal = jnp.multiply(*_together(jnp.subtract(*_together(x, mean)), root))
    return _affine(normal, _along(weight, 1, x.ndim), _along(bias, 1, x.ndim)), None, None


def _pooling(
    kernel: int | Sequence[int],
    stride: int | Sequence[int],
    padding: int | Sequence[int],
    dilation: int | Sequence[int] = (1, 1),
) -> dict[str, Any]:
    pair = lambda of: tuple(of) * (2 // len(of)) if isinstance(of, list | tuple) else (of, of)
    kernel, stride, padding, dilation = map(pair, (kernel, stride or kernel, padding, dilation))
    return {
        "window_dimensions": (1, 1, *kernel),
        "window_strides": (1, 1, *stride),
        "padding": [(0, 0), (0, 0), *((p, p) for p in padding)],
        "window_dilation": (1, 1, *dilation),
    }


@_rule("max_pool2d_with_indices.default", "max_pool2d.default")
def _max_pool(
    x: Any, kernel: Any, stride: Any = None, padding: Any = (0, 0), dilation: Any = (1, 1), ceil: bool = False
) -> Any:
    if ceil or x.ndim != 4:
        raise UnsupportedError("a pooling with ceil_mode, or of other than four axes")
    lowest = x.dtype.type(-np.inf)
    return lax.reduce_window(x, lowest, lax.max, **_pooling(kernel, stride, padding, dilation)), None


@_rule("avg_pool2d.default")
def _avg_pool(
    x: jax.Array,
    kernel: int | Sequence[int],
    stride: Any = None,
    padding: int | Sequence[int] = (0, 0),
    ceil: bool = False,
    include_pad: bool = True,
    divisor: int | None = None,
) -> jax.Array:
    padded = any(padding) if isinstance(padding, list | tuple) else bool(padding)
    if ceil or x.ndim != 4 or padded and not include_pad:
        raise UnsupportedError("a pooling with ceil_mode, without its padding, or of other than four axes")
    window = _pooling(kernel, stride, padding)
    total = lax.reduce_window(x, x.dtype.type(0), lax.add, **window)
    return total / _cast(divisor or math.prod(window["window_dimensions"]), x.dtype)


@_rule("_adaptive_avg_pool2d.default", "adaptive_avg_pool2d.default")
def _adaptive_avg_pool(x: jax.Array, sizes: Sequence[int]) -> jax.Array:
    if any(have % want for have, want in zip(x.shape[-2:], sizes, strict=True)):
        raise UnsupportedError("an adaptive pooling to sizes that do not divide those of its input")
    (h, w), (rows, columns) = x.shape[-2:], sizes
    split = jnp.reshape(x, (*x.shape[:-2], rows, h // rows, columns, w // columns))
    return jnp.mean(split, (-3, -1))


# --- places and constants -------------------------------------------------------------------------------------------


@_rule("embedding.default")
def _embedding(
    weight: Any, indices: jax.Array, padding: int = -1, scale: bool = False, sparse: bool = False
) -> jax.Array:
    return weight[indices]


@_rule("gather.default")
def _gather(x: jax.Array, axis: int, indices: jax.Array, *, sparse_grad: bool = False) -> jax.Array:
    if any(i > n for a, (i, n) in enumerate(zip(indices.shape, x.shape, strict=True)) if a != axis % x.ndim):
        raise UnsupportedError("a gather with indices that are larger than its array")
    cut = x
    for other, size in enumerate(indices.shape):
        cut = cut if other == axis % x.ndim else lax.slice_in_dim(cut, 0, size, axis=other)
    return jnp.take_along_axis(cut, indices, axis)


@_rule("index_select.default")
def _index_select(x: jax.Array, axis: int, indices: jax.Array) -> jax.Array:
    return jnp.take(x, indices, axis)


@_rule("index.Tensor")
def _index(x: jax.Array, indices: Sequence[Any]) -> jax.Array:
    if any(i is not None and i.dtype == bool for i in indices):
        raise UnsupportedError("a selection by a mask, whose size depends on values")
    return x[tuple(slice(None) if i is None else i for i in indices)]


@_rule("where.self", "where.ScalarOther", "where.ScalarSelf")
def _where(condition: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    x, y = _together(x, y)
    shape = jnp.broadcast_shapes(condition.shape, x.shape)
    return jnp.where(*(jnp.broadcast_to(v, shape) for v in (condition, x, y)))


@_rule("masked_fill.Scalar", "masked_fill.Tensor")
def _masked_fill(x: jax.Array, mask: PyTree, value: Any) -> jax.Array:
    return _where(mask, _cast(value, x.dtype), x)


@_rule("full.default")
def _full(shape: Sequence[int], value: Any, *, dtype: Any = None) -> jax.Array:
    return jnp.full(tuple(shape), value, _common(value) if dtype is None else dtype_of(dtype))


@_rule("full_like.default")
def _full_like(x: jax.Array, value: Any, *, dtype: Any = None) -> jax.Array:
    return jnp.full(x.shape, value, x.dtype if dtype is None else dtype_of(dtype))


RULES["zeros_like.default"] = lambda x, dtype=None: _full_like(x, 0, dtype=dtype)
RULES["ones_like.default"] = lambda x, dtype=None: _full_like(x, 1, dtype=dtype)
RULES["zeros.default"] = lambda shape, dtype=None: _full(shape, 0.0, dtype=dtype)
RULES["ones.default"] = lambda shape, dtype=None: _full(shape, 1.0, dtype=dtype)
RULES["new_zeros.default"] = lambda x, shape, dtype=None: _full(shape, 0, dtype=dtype or x.dtype)


@_rule("scalar_tensor.default")
def _scalar_tensor(value: Any, *, dtype: Any = None) -> jax.Array:
    return jnp.asarray(value, jnp.dtype("float32") if dtype is None else dtype_of(dtype))


@_rule("arange.start_step", "arange.default", "arange.start")
def _arange(start: Operand, end: Operand = None, step: Operand = 1, *, dtype: Any = None) -> jax.Array:
    bounds = (0, start) if end is None else (start, end)
    return jnp.arange(*bounds, step, dtype=_common(*bounds, step) if dtype is None else dtype_of(dtype))


@_rule("_to_copy.default", "to.dtype", "prims.convert_element_type.default")
def _to(x: jax.Array, kind: DTypeLike | None = None, *_: bool, dtype: Any = None) -> jax.Array:
    return _typed(x, dtype if kind is None else kind)


@_rule("copy.default")
def _copy(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.broadcast_to(_cast(y, x.dtype), x.shape)


NO_VALUE = frozenset(
    ["_assert_tensor_metadata.default", "_assert_scalar.default", "sym_constrain_range_for_size.default"]
)
"""Operations that check what is known already."""
