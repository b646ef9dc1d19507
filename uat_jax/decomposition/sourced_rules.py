"""Which operands of a primitive pass their contributions on, and which are frozen coefficients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import jax
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.extend.core import JaxprEqn
from jax.typing import ArrayLike

from uat_jax.decomposition.sourced_value import LinearImage, Role, Sourced, total
from uat_jax.interpret import concrete
from uat_jax.interpret.interpreter import IDENTITY, Arithmetic
from uat_jax.interpret.scattering import replaces
from uat_jax.interpret.structure import STRUCTURAL, moves
from uat_jax.interpret.tracing import is_number, shape_of
from uat_jax.typing import Array

Value = Sourced | Array
"""A sourced value, or an array that does not depend on the input."""

Freezing = Literal["activation", "linear"]
"""What a pattern that varies along the features does to the value it multiplies: makes it an activation, or a gate."""

Moving = tuple[bool, ...]
"""For each operand whether it passes its contributions on; nowhere True: the result is a pattern."""


class SourcedArithmetic(Arithmetic[Value]):
    """Numbers are `Sourced` values, or arrays where they do not depend on the input: JAX computes all totals.

    `tape` collects the sourced values in the order in which they are computed.
    """

    name = "the decomposition by sources"
    rules: Mapping[str, Any] = {}
    integers_may_wrap = True

    def __init__(self, freezing: Freezing):
        self.freezing: Freezing = freezing
        self.tape: list[Sourced] = []
        self.of_tokens: set[Sourced] = set()
        """Tokens, and what is made of them alone; rows of tables that they choose are the input itself."""

    def number(self, array: ArrayLike) -> Any:
        """A constant is the array that it is."""
        return array

    def branch_taken(self, predicate: Value) -> Value:
        """The branch that is taken at x_0, whose terms hold while it is taken; none inside of `jax.jit`."""
        array = total(predicate)
        return predicate if isinstance(array, Tracer) else np.asarray(array)

    def involves(self, equation: JaxprEqn, operands: Sequence[Value]) -> bool:
        """Whether an operand depends on the input, be it an integer."""
        return any(isinstance(x, Sourced) for x in operands)

    def supports(self, equation: JaxprEqn, operands: Sequence[Value]) -> bool:
        """Whether the primitive has a row in a table, or acts on constants."""
        return equation.primitive.name in {*MOVING, *IDENTITY} or not self.involves(equation, operands)

    def plain(self, equation: JaxprEqn, operands: Sequence[Any]) -> list[Value]:  # Any: arrays, here
        """JAX's results on constants: floats as in the program, the integers of loops and masks at once if they can."""
        later = any(map(is_number, equation.outvars)) or any(isinstance(x, Tracer) for x in operands)
        bind = _bind if later else concrete.bind
        return [*bind(equation, operands)]

    def evaluate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The totals, and where the primitive is linear, how the results come from the operands."""
        if not self.involves(equation, operands):
            return self.plain(equation, operands)
        if equation.primitive.name not in MOVING:
            return list(operands)
        moving = MOVING[equation.primitive.name](self, equation, operands)
        totals = _bind(equation, [total(x) for x in operands])
        results = (self._result(equation, tuple(operands), moving, i, array) for i, array in enumerate(totals))
        return [*results]

    def _result(self, equation: JaxprEqn, operands: tuple[Value, ...], moving: Moving, i: int, array: Array) -> Sourced:
        """The i-th result: a linear image, or a pattern where nothing that has sources is moved."""
        shared = shared_axes(equation, operands)
        made_of_tokens = {x for x in operands if isinstance(x, Sourced)} <= self.of_tokens
        if made_of_tokens and equation.primitive.name in LOOKUPS and is_number(equation.outvars[i]):
            return self.recorded(Sourced(array, Role.STREAM))
        image = LinearImage(lambda *arrays: _bind(equation, arrays)[i], operands, moving)
        if is_number(equation.outvars[i]) and any(isinstance(x, Sourced) for x in image.moved):
            found = self.recorded(Sourced(array, _role(equation, image), shared, image))
        else:
            found = self.recorded(Sourced(array, Role.PATTERN, shared))
        if made_of_tokens:
            self.of_tokens.add(found)
        return found

    def tokens(self, array: Array) -> Sourced:
        """Whole numbers as the input: a coefficient, but for the rows of tables that it chooses."""
        found = self.recorded(Sourced(array, Role.PATTERN))
        self.of_tokens.add(found)
        return found

    def recorded(self, value: Sourced) -> Sourced:
        """The value, put on the tape."""
        self.tape.append(value)
        return value

    def rearrange(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """Structural primitives are linear like others."""
        return self.evaluate(equation, operands)

    def entry(self, value: Value, index: int) -> Value:
        """value[index] along the leading axis."""
        take = lambda array: lax.index_in_dim(array, index, keepdims=False)
        if not isinstance(value, Sourced):
            return take(value)
        shared = frozenset(axis - 1 for axis in value.shared if axis)
        return self.recorded(Sourced(take(value.total), value.role, shared, LinearImage(take, (value,), (True,))))

    def stack(self, values: Sequence[Value]) -> Value:
        """The values along a new leading axis."""
        pile = lambda *arrays: lax.concatenate([lax.expand_dims(array, (0,)) for array in arrays], 0)
        stacked = pile(*map(total, values))
        sourced = [x for x in values if isinstance(x, Sourced)]
        if not sourced:
            return stacked
        shared = frozenset(axis + 1 for axis in frozenset.intersection(*(x.shared for x in sourced)))
        image = LinearImage(pile, tuple(values), (True,) * len(values))
        return self.recorded(Sourced(stacked, max(x.role for x in sourced), shared, image))


def _bind(equation: JaxprEqn, operands: Sequence[Array]) -> list[jax.Array]:
    """JAX's results of an equation."""
    outputs = equation.primitive.bind(*operands, **equation.params)
    return list(outputs) if equation.primitive.multiple_results else [outputs]


def _role(equation: JaxprEqn, image: LinearImage) -> Role:
    """The highest role of what is moved; a constant matrix mixes it, a factor that varies makes it a gate."""
    role = max(x.role for x in image.moved if isinstance(x, Sourced))
    coefficients = [x for x, moves in zip(image.operands, image.moving, strict=True) if not moves]
    if equation.primitive.name in MIXING and not any(isinstance(x, Sourced) for x in coefficients):
        return role.mixed()
    if equation.primitive.name in ENTRYWISE and any(varies(x, equation) for x in coefficients):
        return role.gated()
    return role


def varies(coefficient: Value, equation: JaxprEqn) -> bool:
    """Whether a factor depends on the input and differs along every axis of the result, constants apart."""
    if not isinstance(coefficient, Sourced):
        return False
    shape, result = np.shape(coefficient.total), shape_of(equation.outvars[0])
    repeated = len(shape) < len(result) or any(m == 1 < n for m, n in zip(shape, result, strict=True))
    return not repeated and not any(result[axis] > 1 for axis in coefficient.shared)


def _all(arithmetic: SourcedArithmetic, equation: JaxprEqn, operands: Sequence[Value]) -> Moving:
    """Linear in all operands together: sums, and entries in new places."""
    return (True,) * len(operands)


def _none(arithmetic: SourcedArithmetic, equation: JaxprEqn, operands: Sequence[Value]) -> Moving:
    """Linear in none."""
    return (False,) * len(operands)


def _entries(arithmetic: SourcedArithmetic, equation: JaxprEqn, operands: Sequence[Value]) -> Moving:
    """Linear in the operands that supply the entries; indices are coefficients."""
    return moves(equation)


def _scattered(arithmetic: SourcedArithmetic, equation: JaxprEqn, operands: Sequence[Value]) -> Moving:
    """Linear in the array and the updates, not in the indices between them; a function of old entries is a pattern."""
    linear = equation.primitive.name == "scatter-add" or replaces(equation)
    return linear, False, linear


def _chosen(arithmetic: SourcedArithmetic, equation: JaxprEqn, operands: Sequence[Value]) -> Moving:
    """Linear in the cases; a predicate that varies along the features is a factor like any other."""
    return _frozen(arithmetic, equation, operands, moves(equation), operands[0])


def _product(arithmetic: SourcedArithmetic, equation: JaxprEqn, operands: Sequence[Value]) -> Moving:
    """Linear in the factor of the higher role; two values of one role are no coefficients for each other."""
    roles = [x.role if isinstance(x, Sourced) else -1 for x in operands]
    if roles[0] == roles[1]:
        return False, False
    moving = roles[0] > roles[1], roles[0] < roles[1]
    return _frozen(arithmetic, equation, operands, moving, operands[moving.index(False)])


def _quotient(arithmetic: SourcedArithmetic, equation: JaxprEqn, operands: Sequence[Value]) -> Moving:
    """Linear in the numerator where that is the one of the higher role."""
    moving = _product(arithmetic, equation, operands)
    return (True, False) if moving == (True, False) else (False, False)


def _frozen(
    arithmetic: SourcedArithmetic,
    equation: JaxprEqn,
    operands: Sequence[Value],
    moving: Moving,
    coefficient: Value,
) -> Moving:
    """The operands that move; none where the coefficient makes an activation of what it multiplies entry by entry."""
    entrywise = equation.primitive.name in ENTRYWISE
    activates = arithmetic.freezing == "activation" and entrywise and varies(coefficient, equation)
    return _none(arithmetic, equation, operands) if activates else moving


ENTRYWISE = frozenset("mul div select_n".split())
"""Products entry by entry."""

LOOKUPS = frozenset("gather dynamic_slice dot_general".split())
"""How tokens choose rows of a table: by their numbers, or as one-hot rows in a product."""

MIXING = frozenset("dot_general conv_general_dilated".split())
"""Products that sum over an axis."""

LINEAR = (
    "add add_any convert_element_type cumsum neg reduce_precision reduce_sum reduce_window_sum sharding_constraint "
    "stop_gradient sub"
).split()

NONLINEAR = (
    "abs acos acosh and argmax argmin asin asinh atan atan2 atanh cbrt ceil clamp cos cosh cumlogsumexp cummax cummin "
    "cumprod digamma eq erf erf_inv erfc exp exp2 expm1 floor ge gt integer_pow is_finite le lgamma log log1p logistic "
    "lt max min ne nextafter not or pow reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_window_max "
    "reduce_window_min rem round rsqrt sign sin sinh sort sqrt square tan tanh top_k xor"
).split()

MOVING: Mapping[str, Callable[[SourcedArithmetic, JaxprEqn, Sequence[Value]], Moving]] = {
    **dict.fromkeys(NONLINEAR, _none),
    **dict.fromkeys(LINEAR, _all),
    **dict.fromkeys(STRUCTURAL, _entries),
    **dict.fromkeys(["scatter", "scatter-add"], _scattered),
    **dict.fromkeys(MIXING, _product),
    "mul": _product,
    "div": _quotient,
    "select_n": _chosen,
}
"""From a primitive's name to the operands that pass their contributions on."""


# --- axes along which all entries depend on the same number -----------------------------------------------------------

Axes = frozenset[int]


def shared_axes(equation: JaxprEqn, operands: Sequence[Value]) -> Axes:
    """The shared axes of the results: those of all operands that depend on the input, where the primitive puts them."""
    carry = AXES.get(equation.primitive.name, _same_axes)
    pairs = [(atom, x) for atom, x in zip(equation.invars, operands, strict=True) if isinstance(x, Sourced)]
    return frozenset.intersection(*(frozenset(carry(equation, shape_of(atom), x.shared)) for atom, x in pairs))


def _same_axes(equation: JaxprEqn, shape: tuple[int, ...], shared: Axes) -> Iterable[int]:
    """Entry by entry; an axis of one entry is repeated where the result has more."""
    result = shape_of(equation.outvars[0])
    if not shape:
        return range(len(result))
    return shared | {axis for axis, (m, n) in enumerate(zip(shape, result, strict=True)) if m == 1 < n}


def _broadcast_axes(equation: JaxprEqn, shape: tuple[int, ...], shared: Axes) -> Iterable[int]:
    """The axes where the operand has none or one entry, and its own."""
    result, places = equation.params["shape"], equation.params["broadcast_dimensions"]
    repeated = {place for axis, place in enumerate(places) if shape[axis] == 1 < result[place] or axis in shared}
    return repeated | set(range(len(result))).difference(places)


def _reshaped_axes(equation: JaxprEqn, shape: tuple[int, ...], shared: Axes) -> Iterable[int]:
    """Axes merge and split in groups of equal size: all of a group are shared if all that went into it are."""
    result = shape_of(equation.outvars[0])
    before, after = (np.cumprod((1, *sizes)).tolist() for sizes in (shape, result))
    ends = sorted({*before} & {*after})
    kept = []
    for low, high in pairwise(ends):
        inside = lambda bounds, axis, low=low, high=high: low <= bounds[axis] < bounds[axis + 1] <= high
        if all(axis in shared for axis in range(len(shape)) if inside(before, axis)):
            kept += [axis for axis in range(len(result)) if inside(after, axis)]
    return kept


def _without(key: str) -> Callable[..., Iterable[int]]:
    """The axes named by a parameter are gone, the later ones move up."""

    def carry(equation: JaxprEqn, shape: tuple[int, ...], shared: Axes) -> Iterable[int]:
        kept = [axis for axis in range(len(shape)) if axis not in equation.params[key]]
        return [place for place, axis in enumerate(kept) if axis in shared]

    return carry


def _expanded_axes(equation: JaxprEqn, shape: tuple[int, ...], shared: Axes) -> Iterable[int]:
    """New axes have one entry."""
    kept = [axis for axis in range(len(shape_of(equation.outvars[0]))) if axis not in equation.params["dimensions"]]
    return [place for axis, place in enumerate(kept) if axis in shared]


def _transposed_axes(equation: JaxprEqn, shape: tuple[int, ...], shared: Axes) -> Iterable[int]:
    return [place for place, axis in enumerate(equation.params["permutation"]) if axis in shared]


def _joined_axes(equation: JaxprEqn, shape: tuple[int, ...], shared: Axes) -> Iterable[int]:
    return shared - {equation.params["dimension"]}


def _no_axes(equation: JaxprEqn, shape: tuple[int, ...], shared: Axes) -> Iterable[int]:
    return ()


AXES: Mapping[str, Callable[[JaxprEqn, tuple[int, ...], Axes], Iterable[int]]] = {
    **dict.fromkeys([*MIXING, *"gather scatter scatter-add tile stack unstack sort top_k".split()], _no_axes),
    **dict.fromkeys([name for name in MOVING if name.startswith(("cum", "reduce_window"))], _no_axes),
    **dict.fromkeys(
        [*"reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum argmax argmin".split()], _without("axes")
    ),
    "broadcast_in_dim": _broadcast_axes,
    "concatenate": _joined_axes,
    "expand_dims": _expanded_axes,
    "reshape": _reshaped_axes,
    "squeeze": _without("dimensions"),
    "transpose": _transposed_axes,
}
"""From a primitive's name to where its operands' shared axes go; by default they stay where they are."""
