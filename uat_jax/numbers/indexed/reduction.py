"""Primitives that add up, multiply and add, or take the greatest."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.array import Array, Indices, array
from uat_jax.numbers.indexed.bounds import nonnegative
from uat_jax.numbers.indexed.dimension import dimension
from uat_jax.numbers.indexed.elementwise import plain, times
from uat_jax.numbers.indexed.functions import exponential, logarithm, mask
from uat_jax.numbers.indexed.long_products import product
from uat_jax.numbers.indexed.maxima import greatest, is_finite
from uat_jax.numbers.indexed.polynomial import ONE, ZERO, Letter, Polynomial, fresh, of
from uat_jax.numbers.indexed.predicates import at_least_zero
from uat_jax.numbers.indexed.sums import in_range, total
from uat_jax.numbers.indexed.whole_numbers import check_does_not_wrap
from uat_jax.typing import Parameters

Lengths = tuple[Polynomial, ...]


def _added(kind: str, value: Polynomial, over: list[Letter]) -> Polynomial:
    result = total(value, over)
    return check_does_not_wrap(result) if kind == "i" else result


def _bound(length: Polynomial, over: list[Letter]) -> Polynomial:
    """A new index of an axis over which is reduced; 0 if it has one entry."""
    if length == ONE:
        return ZERO
    over.append(fresh(length))
    return of(over[-1])


def _reduced(x: Array, axes: tuple[int, ...], indices: Indices) -> tuple[Polynomial, list[Letter]]:
    """The entry at indices of which those of the reduced axes are bound."""
    kept, over = iter(indices), []
    place = [_bound(n, over) if axis in axes else next(kept) for axis, n in enumerate(x.lengths)]
    return x.at(place), over


def reduce_sum(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """Σ over some axes."""
    filled = all(nonnegative(x.lengths[axis] - 1) for axis in parameters["axes"])
    rule = lambda indices: _added(kind, *_reduced(x, parameters["axes"], indices))
    return array(lengths, kind, rule, x.sign if filled else min(x.sign, 1), x.defined)


def reduce_max(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """The greatest entry along some axes."""
    return array(lengths, kind, lambda ix: greatest(*_reduced(x, parameters["axes"], ix)), x.sign, x.defined)


def reduce_min(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """−max(−x)."""

    def entry(indices: Indices) -> Polynomial:
        value, over = _reduced(x, parameters["axes"], indices)
        return -greatest(-plain(value), over)

    return array(lengths, kind, entry, x.sign, x.defined)


def reduce_prod(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """∏ over some axes."""
    _check_floats("a product", kind)

    def entry(indices: Indices) -> Polynomial:
        value, over = _reduced(x, parameters["axes"], indices)
        return product(plain(value), over)

    return array(lengths, kind, entry, x.sign, x.defined)


def reduce_and(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """1 − max(1 − x)."""

    def entry(indices: Indices) -> Polynomial:
        value, over = _reduced(x, parameters["axes"], indices)
        return ONE - greatest(ONE - value, over)

    return array(lengths, kind, entry, 0, x.defined)


def _up_to(parameters: Parameters, x: Array, indices: Indices) -> tuple[Polynomial, Polynomial, list[Letter]]:
    """[j ≤ i], the entry at j, and j; or [j ≥ i] from the end."""
    axis, over = parameters["axis"], []
    place = [_bound(n, over) if a == axis else i for a, (i, n) in enumerate(zip(indices, x.lengths, strict=True))]
    behind = indices[axis] - place[axis]
    return at_least_zero(-behind if parameters["reverse"] else behind), x.at(place), over


def cumsum(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """Σ_{j ≤ i}, or Σ_{j ≥ i} from the end."""

    def entry(indices: Indices) -> Polynomial:
        here, value, over = _up_to(parameters, x, indices)
        return _added(kind, here * value, over)

    return array(lengths, kind, entry, x.sign, x.defined)


def cumprod(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """∏_{j ≤ i}, or ∏_{j ≥ i} from the end."""
    _check_floats("a product", kind)

    def entry(indices: Indices) -> Polynomial:
        here, value, over = _up_to(parameters, x, indices)
        return product(here * plain(value) + (ONE - here), over)

    return array(lengths, kind, entry, x.sign, x.defined)


def cumulative_maximum(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """max_{j ≤ i}, or max_{j ≥ i} from the end; −∞ stands where j is not."""
    _check_floats("a maximum", kind)

    def entry(indices: Indices) -> Polynomial:
        here, value, over = _up_to(parameters, x, indices)
        return greatest(here * value + (ONE - here) * mask(), over)

    return array(lengths, kind, entry, x.sign, x.defined)


def cumlogsumexp(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """log Σ_{j ≤ i} exp x_j, or over j ≥ i from the end."""

    def entry(indices: Indices) -> Polynomial:
        here, value, over = _up_to(parameters, x, indices)
        return logarithm(total(here * exponential(plain(value)), over))

    return array(lengths, kind, entry, 0, x.defined)


def _check_floats(noun: str, kind: str) -> None:
    if kind != "f":
        raise UnsupportedError(f"{noun} of integers along an axis is not followed at all sizes")


def negated(rule: Callable) -> Callable:
    """The rule of the minimum: −max(−x)."""

    def of_negative(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
        opposite = array(x.lengths, x.kind, lambda indices: -plain(x.at(indices)), 0, x.defined)
        found = rule(parameters, lengths, kind, opposite)
        defined = found.defined and isinstance(found.body, Polynomial) and is_finite(found.body)  # the opposite of -∞
        return array(lengths, kind, lambda indices: -plain(found.at(indices)), 0, defined)

    return of_negative


def dot_general(parameters: Parameters, lengths: Lengths, kind: str, x: Array, y: Array) -> Array:
    """Σ over the contracted axes."""
    if kind != "f" or x.kind != "f" or y.kind != "f":
        raise UnsupportedError("a matrix product of integers is not followed at all sizes")
    (x_sum, y_sum), (x_batch, y_batch) = parameters["dimension_numbers"]
    x_free = [axis for axis in range(len(x.lengths)) if axis not in (*x_sum, *x_batch)]
    y_free = [axis for axis in range(len(y.lengths)) if axis not in (*y_sum, *y_batch)]

    def entry(indices: Indices) -> Polynomial:
        over: list[Letter] = []
        shared = [_bound(x.lengths[axis], over) for axis in x_sum]
        batch, rest = indices[: len(x_batch)], indices[len(x_batch) :]
        at_x = dict(zip((*x_batch, *x_sum, *x_free), (*batch, *shared, *rest[: len(x_free)]), strict=True))
        at_y = dict(zip((*y_batch, *y_sum, *y_free), (*batch, *shared, *rest[len(x_free) :]), strict=True))
        left, right = (a.at([at[axis] for axis in range(len(a.lengths))]) for a, at in ((x, at_x), (y, at_y)))
        return total(times(left, right), over)

    known = 1 if min(x.sign, y.sign) else 0
    return array(lengths, kind, entry, known, x.defined and y.defined)


def convolution(parameters: Parameters, lengths: Lengths, kind: str, x: Array, filters: Array) -> Array:
    """Σ over channels and taps of x[place·stride + tap·dilation − padding]·filters[tap]."""
    numbers = parameters["dimension_numbers"]
    if parameters["feature_group_count"] != 1 or parameters["batch_group_count"] != 1:
        raise UnsupportedError("a convolution of groups is not followed at all sizes")
    if any(step != 1 for step in parameters["lhs_dilation"]):
        raise UnsupportedError("a convolution with a dilated input is not followed at all sizes")
    strides, steps = parameters["window_strides"], parameters["rhs_dilation"]
    starts = [dimension(low) for low, _ in parameters["padding"]]

    def entry(indices: Indices) -> Polynomial:
        over: list[Letter] = []
        of_x, of_filters, of_result = numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec
        channel = _bound(x.lengths[of_x[1]], over)
        at_x = {of_x[0]: indices[of_result[0]], of_x[1]: channel}
        at_filters = {of_filters[0]: indices[of_result[1]], of_filters[1]: channel}
        here = ONE
        for axis in range(len(strides)):
            tap = _bound(filters.lengths[of_filters[2 + axis]], over)
            place = indices[of_result[2 + axis]] * strides[axis] + tap * steps[axis] - starts[axis]
            length = x.lengths[of_x[2 + axis]]
            here = here * in_range(place, length)
            at_x[of_x[2 + axis]] = ZERO if length == ONE else place
            at_filters[of_filters[2 + axis]] = tap
        left = x.at([at_x[axis] for axis in range(len(x.lengths))])
        right = filters.at([at_filters[axis] for axis in range(len(filters.lengths))])
        return _added(kind, here * times(left, right), over)

    return array(lengths, kind, entry, 0, x.defined and filters.defined)


def _windows(parameters: Parameters, x: Array, indices: Indices, outside: Polynomial) -> tuple[Polynomial, list]:
    """The entry of the window of an index at bound taps, or what stands beyond the ends; and the taps."""
    over: list[Letter] = []
    here, place = ONE, []
    names = "window_dimensions window_strides window_dilation base_dilation padding".split()
    axes = zip(indices, x.lengths, *(parameters[name] for name in names), strict=True)
    for index, length, size, stride, step, dilation, (low, _) in axes:
        if dilation != 1:
            raise UnsupportedError("windows over a dilated operand are not followed at all sizes")
        at = index * dimension(stride) + _bound(dimension(size), over) * dimension(step) - dimension(low)
        here = here * in_range(at, length)
        place.append(ZERO if length == ONE else at)
    return here * x.at(place) + (ONE - here) * outside, over


def reduce_window_sum(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """Σ over a window."""
    return array(lengths, kind, lambda ix: _added(kind, *_windows(parameters, x, ix, ZERO)), min(x.sign, 1), x.defined)


def reduce_window_max(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """The greatest entry of a window; −∞ beyond the ends."""
    if kind != "f":
        raise UnsupportedError("maxima of integers in windows are not followed at all sizes")
    return array(lengths, kind, lambda ix: greatest(*_windows(parameters, x, ix, mask())), 0, x.defined)


REDUCTION: Mapping[str, Callable] = {
    "conv_general_dilated": convolution,
    "cumlogsumexp": cumlogsumexp,
    "cummax": cumulative_maximum,
    "cummin": negated(cumulative_maximum),
    "cumprod": cumprod,
    "cumsum": cumsum,
    "dot_general": dot_general,
    "reduce_and": reduce_and,
    "reduce_max": reduce_max,
    "reduce_min": reduce_min,
    "reduce_or": reduce_max,
    "reduce_prod": reduce_prod,
    "reduce_sum": reduce_sum,
    "reduce_window_max": reduce_window_max,
    "reduce_window_min": negated(reduce_window_max),
    "reduce_window_sum": reduce_window_sum,
}
"""Primitive → rule(parameters, lengths, kind of the result, *operands)."""
