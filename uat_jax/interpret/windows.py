"""Convolution and pooling: padding, windows gathered into axes of their own, and a product or a reduction."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.scattering import landed
from uat_jax.typing import Array, Parameters


def _padded(x: Any, neutral: int, padding: Sequence[tuple[int, int]], dilation: Sequence[int]) -> jax.Array:
    """x with padding around and dilation - 1 entries between its last axes."""
    configuration = [(low, high, step - 1) for (low, high), step in zip(padding, dilation, strict=True)]
    before = [(0, 0, 0)] * (x.ndim - len(configuration))
    return lax.pad(x, jnp.asarray(neutral, x.dtype), [*before, *configuration])


def _windows(x: jax.Array, sizes: Sequence[int], strides: Sequence[int], dilation: Sequence[int]) -> jax.Array:
    """result[..., o₁, k₁, o₂, k₂, …] = x[..., o₁ stride₁ + k₁ dilation₁, …], over the last axes of x."""
    for back, (size, stride, step) in enumerate(
        zip(reversed(sizes), reversed(strides), reversed(dilation), strict=True)
    ):
        axis = x.ndim - 1 - 2 * back
        starts = np.arange(0, x.shape[axis] - (size - 1) * step, stride)
        x = jnp.take(x, starts[:, None] + step * np.arange(size), axis=axis, mode="clip")
    return x


def _windows_of(parameters: Parameters, x: Array, neutral: Any) -> jax.Array:
    ones = (1,) * x.ndim
    x = _padded(x, neutral, parameters["padding"], parameters.get("base_dilation", ones))
    sizes, strides = parameters["window_dimensions"], parameters["window_strides"]
    return _windows(x, sizes, strides, parameters.get("window_dilation", ones))


def pooling(reduce: Callable[..., jax.Array], neutral: float) -> Callable[..., jax.Array]:
    """A reduction over every window: sums and averages, or the largest entries."""

    def reduced(parameters: Parameters, x: jax.Array) -> jax.Array:
        return reduce(_windows_of(parameters, x, neutral), axis=tuple(range(1, 2 * x.ndim, 2)))

    return reduced


def max_pooling_gradient(parameters: Parameters, source: jax.Array, x: jax.Array) -> jax.Array:
    """The gradient of max pooling: each source goes to the first largest entry of its window."""
    if parameters["select_prim"] != lax.ge_p:
        raise UnsupportedError(f"got a pooling by '{parameters['select_prim'].name}'; use max pooling")
    order = (*range(0, 2 * x.ndim, 2), *range(1, 2 * x.ndim, 2))
    rows = lambda windows: windows.transpose(order).reshape(source.size, -1)
    largest = lax.argmax(rows(_windows_of(parameters, x, -np.inf)), 1, np.int32)
    with jax.ensure_compile_time_eval():
        places = np.asarray(rows(_windows_of(parameters, np.arange(x.size, dtype=np.int32).reshape(x.shape), -1)))
    chosen = lax.eq(lax.broadcasted_iota(np.int32, places.shape, 1), jnp.broadcast_to(largest[:, None], places.shape))
    parts = lax.select(chosen, jnp.broadcast_to(source.reshape(-1, 1), places.shape), jnp.zeros(places.shape, x.dtype))
    return landed(lax.full_like(x, 0), places, parts, "scatter-add")


def convolution(parameters: Parameters, x: jax.Array, kernel: jax.Array) -> jax.Array:
    """result[n, o, p] = Σ_{i, k} window[n, i, p, k] kernel[o, i, k], group by group.

    x is brought to (batch, features, space…), the kernel to (output features, input features, space…). Feature groups
    pair blocks of x's features, batch groups blocks of its batch, with blocks of output features.
    """
    numbers, batches, features = (
        parameters[f"{n}"] for n in ("dimension_numbers", "batch_group_count", "feature_group_count")
    )
    x, kernel = lax.transpose(x, numbers.lhs_spec), lax.transpose(kernel, numbers.rhs_spec)
    (outputs, inputs, *sizes), (batch, *_) = kernel.shape, x.shape
    x = _padded(x, 0, parameters["padding"], parameters["lhs_dilation"])
    windows = _windows(x, sizes, parameters["window_strides"], parameters["rhs_dilation"])
    space = windows.shape[2::2]
    windows = windows.reshape(batches, batch // batches, features, inputs, *windows.shape[2:])
    kernel = kernel.reshape(batches, features, outputs // (batches * features), inputs, *sizes)
    result = lax.dot_general(
        windows,
        kernel,
        (((3, *range(5, windows.ndim, 2)), tuple(range(3, kernel.ndim))), ((0, 2), (0, 1))),
        precision=parameters["precision"],
        preferred_element_type=parameters["preferred_element_type"],
    )
    result = result.transpose(2, 0, 1, result.ndim - 1, *range(3, result.ndim - 1))
    return lax.transpose(result.reshape(batch // batches, outputs, *space), np.argsort(numbers.out_spec))
