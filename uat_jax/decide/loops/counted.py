"""Loops that count, written as scans over rows: what they read at the counter is a row of its own.

A loop to a symbolic size, by `fori_loop`, `while_loop` or a scan over places, carries a counter i, from a to N:

    while i < N: c, i = step(c, i, x[i], x[n − 1 − i], float(i)), i + 1

is the scan of c over the rows x[a:N], x[n − N : n − a] reversed, and the floats a … N − 1.  Both are one function at
all sizes at which 0 ≤ N − a and all places that are read exist; where JAX cannot tell that, the loop stays as it is.
A counter has a sign and 32 bits or more.  It is compared only where it is seen not to wrap: where it lies between −b
and b, and b is a number of 31 bits or the length of an axis, which has fewer than 2³¹ entries.  A loop that uses the
counter of a loop around it stays as it is, since the steps of both would be confused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from jax.typing import DTypeLike

from uat_jax.decide.loops.walk import LOOPS, Value, Walk, is_concrete, staged
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import inner_programs, scan_counts
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of

WIDEST = 1 << 31
"""Whole numbers of 32 bits with a sign are below this, and so are the lengths of axes."""


@dataclass(frozen=True)
class Place:
    """The whole number slope·t + offset at the step t of a loop, as an array of one entry.

    The offset is a number or a symbolic size.  The program's number may differ by a multiple of 2 to the number of its
    bits, since that wraps and this does not.
    """

    slope: int
    offset: Any
    dtype: DTypeLike
    shape: tuple[int, ...] = ()

    def plus(self, other: Place, sign: int = 1) -> Place:
        """The sum, or the difference."""
        return Place(self.slope + sign * other.slope, self.offset + sign * other.offset, self.dtype)

    @property
    def value(self) -> Value:
        """The number as an array, if it does not depend on the step."""
        if self.slope:
            raise UnsupportedError("a counter is used for something else than places, floats and comparisons")
        if not jax.export.is_symbolic_dim(self.offset) and abs(self.offset) >= WIDEST:
            raise UnsupportedError("a whole number may wrap")
        return jnp.full(self.shape, lax.convert_element_type(jnp.asarray(self.offset), self.dtype))


@dataclass(frozen=True)
class Read:
    """What a loop reads at its counter: a row of an array along an axis, or the place itself as a float."""

    array: Value | None
    axis: int
    place: Place
    dtype: DTypeLike

    def rows(self, steps: Any) -> Value:
        """What is read at all steps, along a leading axis.

        Raises:
            UnsupportedError: some of the places may not exist.
        """
        slope, first = self.place.slope, self.place.offset
        if self.array is None:
            numbers = jnp.arange(steps, dtype=self.place.dtype) * slope + Place(0, first, self.place.dtype).value
            return lax.convert_element_type(numbers, self.dtype)
        rows = jnp.moveaxis(self.array, self.axis, 0) if self.axis else self.array
        begin, end = (first, first + steps) if slope == 1 else (first - steps + 1, first + 1)
        if not (_sure(begin, 0) and _sure(rows.shape[0], end)):
            raise UnsupportedError("a place that a loop reads may lie outside of the array")
        if not (_sure(0, begin) and _sure(end, rows.shape[0])):
            rows = lax.slice_in_dim(rows, begin, end)
        return rows if slope == 1 else lax.rev(rows, (0,))


def _sure(more: Any, less: Any) -> bool:
    """Whether more ≥ less at all sizes, as far as JAX can tell."""
    try:
        return bool(more - less >= 0)
    except Exception:  # JAX raises where it cannot tell, with an error class that it does not export
        return False


def with_scans(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with its counting loops written as scans over rows, where that is possible.

    A loop that cannot be written so is left as it is; a program in which no loop counts is returned itself.
    """
    if not _counts(program.jaxpr):
        return program
    with jax.enable_x64(True):
        types = [jax.ShapeDtypeStruct(shape_of(v), dtype_of(v)) for v in program.jaxpr.invars]
        lengths = {length for array in types for length in array.shape}
        evaluated = lambda *arguments: list(map(_plain, CountedWalk(lengths).closed(program, arguments)))
        return jax.make_jaxpr(evaluated)(*types)


def _counts(jaxpr: Jaxpr) -> bool:
    """Whether a loop of a program carries or reads a whole number."""
    inner = (p.jaxpr if isinstance(p, ClosedJaxpr) else p for e in jaxpr.eqns for p in inner_programs(e))
    loops = (e for e in jaxpr.eqns if e.primitive.name in LOOPS)
    return any(not all(map(is_number, e.invars)) for e in loops) or any(map(_counts, inner))


@dataclass(frozen=True)
class Steps:
    """The answer of a test that is yes for so many steps, and then no."""

    number: Any


def _plain(value: Value) -> Value:
    """A value of the trace."""
    if isinstance(value, Steps):
        raise UnsupportedError("a loop does not end by one comparison")
    return value.value if isinstance(value, Place) else value


def _shaped(value: Value, shape: tuple[Any, ...]) -> Value:
    """A place, or an array of one entry, in another shape."""
    if isinstance(value, Place):
        return replace(value, shape=shape)
    return value if isinstance(value, Steps) or np.shape(value) == shape else value.reshape(shape)


COMPARISONS: dict[str, Callable[[Place, Place], tuple[Place, Place]]] = {
    "lt": lambda x, y: (y.plus(x, -1), Place(0, 1, x.dtype)),
    "le": lambda x, y: (y.plus(x, -1), Place(0, 0, x.dtype)),
    "gt": lambda x, y: (x.plus(y, -1), Place(0, 1, x.dtype)),
    "ge": lambda x, y: (x.plus(y, -1), Place(0, 0, x.dtype)),
}
"""Comparison -> a difference, and what it is at least where the answer is yes."""


class CountedWalk(Walk):
    """An evaluation in which sizes, and the counter of a loop, are places.

    steps: how many the loop makes.  sizes: what is known to be below 2³¹ at all sizes.
    """

    steps: Any = None

    def __init__(self, sizes: Iterable[Any] = ()) -> None:
        super().__init__(self._loop)
        self.sizes = list(sizes)

    def primitive(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results of a primitive."""
        name, places = equation.primitive.name, any(isinstance(o, Place) for o in operands)
        if name == "dim_as_value":
            size = Place(0, equation.params["dim"], dtype_of(equation.outvars[0]))
            if size.dtype == np.int32:  # JAX raises where the size has more bits
                self.sizes.append(size.offset)
            return [size]
        found = self._of_places(name, equation, operands) if places else None
        if found is None:
            return super().primitive(equation, list(map(_plain, operands)))
        return [_shaped(found, shape_of(equation.outvars[0]))]

    def _of_places(self, name: str, equation: JaxprEqn, operands: Sequence[Value]) -> Value | None:
        """The result of a primitive of places, or None if it is not followed."""
        if name == "convert_element_type":
            new = np.dtype(equation.params["new_dtype"])
            if _counts_far(new):
                same = new == operands[0].dtype or self.fits(operands[0], self.steps)
                return Place(operands[0].slope, operands[0].offset, new) if same else None
            return self.as_float(operands[0], new) if is_number(equation.outvars[0]) else None
        if name == "select_n" and is_concrete(operands[0]):
            return operands[1 + int(operands[0].item())]
        if name == "dynamic_slice" and not isinstance(operands[0], Place):
            return self._slice(equation, operands[0], [_place(o) for o in operands[1:]])
        if name in ("broadcast_in_dim", "reshape") and set(shape_of(equation.outvars[0])) <= {1}:
            return operands[0]
        if name == "gather" and isinstance(operands[1], Place) and not isinstance(operands[0], Place):
            return self._gathered(equation.params, operands[0], operands[1])
        if len(operands) != 2:
            return None
        x, y = map(_place, operands)
        if x is None or y is None:
            return None
        if name in ("add", "sub"):
            found = x.plus(y, 1 if name == "add" else -1)
            return found if found.slope or self.fits(found, self.steps) else None
        return self.compared(*COMPARISONS[name](x, y), [x, y]) if name in COMPARISONS else None

    def fits(self, place: Place, steps: Any) -> bool:
        """Whether a place is seen not to wrap at any of so many steps: at the first and at the last."""
        if place.slope and steps is None:
            return False
        last = [place.offset + place.slope * (steps - 1)] if place.slope else []
        return all(map(self._is_below, [place.offset, *last]))

    def _is_below(self, end: Any) -> bool:
        """Whether a number is seen to lie between −2³¹ and 2³¹."""
        bounds = [WIDEST - 1, *self.sizes]
        return any(_sure(bound, end) for bound in bounds) and any(_sure(end, -bound) for bound in bounds)

    def compared(self, difference: Place, least: Place, operands: Sequence[Place]) -> Value | None:
        """Whether a difference is at least so much, at every step, if that is known."""
        if not all(self.fits(x, self.steps) for x in operands):
            return None
        rest = difference.plus(least, -1)
        if self._is_never_negative(rest):
            return np.bool_(True)
        return np.bool_(False) if self._is_never_negative(Place(0, -1, rest.dtype).plus(rest, -1)) else None

    def _is_never_negative(self, place: Place) -> bool:
        """Whether a place is at least 0 at every step, if there is one: at the first, or at the last if it falls."""
        if place.slope < 0 and self.steps is None:
            return False
        last = self.steps - 1 if place.slope < 0 else 0
        return _sure(place.offset + place.slope * last, 0)

    def as_float(self, place: Place, dtype: DTypeLike) -> Value | None:
        """A place as a float."""
        return None

    def read(self, array: Value, axis: int, place: Place) -> Value | None:
        """The slice of an array at a place that depends on the step, whose axis remains with one entry."""
        return None

    def _slice(self, equation: JaxprEqn, array: Value, starts: Sequence[Place | None]) -> Value | None:
        """A part of an array at a place along one axis, of one entry, and all of it along the others."""
        sizes, shape = equation.params["slice_sizes"], array.shape
        axes = [axis for axis, size in enumerate(sizes) if size != shape[axis]]
        axes = axes or [axis for axis, start in enumerate(starts) if start is not None and start.slope]
        if len(axes) != 1 or sizes[axes[0]] != 1:
            return None
        (axis,), place = axes, starts[axes[0]]
        if place is None:
            return None
        if not place.slope and _sure(place.offset, 0) and _sure(shape[axis], place.offset + 1):
            return lax.slice_in_dim(array, place.offset, place.offset + 1, axis=axis)
        return self.read(array, axis, place) if abs(place.slope) == 1 else None

    def _gathered(self, parameters: Any, array: Value, place: Place) -> Value | None:
        """The slice of an array at a place along one axis, which is left out."""
        numbers, sizes = parameters["dimension_numbers"], parameters["slice_sizes"]
        axes = numbers.start_index_map
        whole = all(
            size == n for axis, (size, n) in enumerate(zip(sizes, array.shape, strict=True)) if axis not in axes
        )
        plain = len(axes) == 1 and tuple(numbers.collapsed_slice_dims) == tuple(axes) and sizes[axes[0]] == 1
        if not (whole and plain and tuple(numbers.offset_dims) == tuple(range(array.ndim - 1))):
            return None
        if not place.slope and _sure(place.offset, 0) and _sure(array.shape[axes[0]], place.offset + 1):
            return lax.index_in_dim(array, place.offset, axes[0], keepdims=False)
        found = self.read(array, axes[0], place) if abs(place.slope) == 1 else None
        return None if found is None else lax.squeeze(found, axes)

    def _loop(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results of a loop: as a scan over rows if it counts and that is possible."""
        try:
            if all(map(is_number, equation.invars)) and equation.primitive.name == "scan":
                raise UnsupportedError("a scan that does not count")
            return _Counted(equation, operands, self.sizes).results()
        except UnsupportedError:
            return staged(equation, list(map(_plain, operands)))


def _place(value: Value) -> Place | None:
    """A place, or a number that is known, as a place."""
    if isinstance(value, Place):
        return value
    if is_concrete(value) and not np.shape(value) and _counts_far(np.asarray(value).dtype):
        return Place(0, int(value), np.asarray(value).dtype)
    return None


def _counts_far(dtype: DTypeLike) -> bool:
    """Whether numbers of a type have a sign and 32 bits or more."""
    return jnp.issubdtype(dtype, jnp.signedinteger) and np.dtype(dtype).itemsize >= 4


class _Test(CountedWalk):
    """The evaluation of the test of a loop: how many steps it makes."""

    def compared(self, difference: Place, least: Place, operands: Sequence[Place]) -> Value | None:
        """i < N is yes for N − i(0) steps, if no operand wraps up to the test that ends the loop."""
        if difference.slope != -1:
            return super().compared(difference, least, operands)
        steps = difference.offset - least.offset + 1
        return Steps(steps) if all(self.fits(x, steps + 1) for x in operands) else None


@dataclass
class _StepWalk(CountedWalk):
    """The evaluation of a step: what it reads at the counter is noted, and is a row if these are given."""

    fixed: Sequence[Value]
    steps: Any
    sizes: Sequence[Any] = ()
    rows: Sequence[Value] | None = None
    reads: list[Read] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.sizes)

    def as_float(self, place: Place, dtype: DTypeLike) -> Value | None:
        """A float of its own."""
        return self._row(Read(None, 0, place, dtype), ()) if place.slope else None

    def read(self, array: Value, axis: int, place: Place) -> Value | None:
        """A row of what no step changes."""
        if not any(array is other for other in self.fixed):
            raise UnsupportedError("a loop reads what it changes")
        shape = (*array.shape[:axis], *array.shape[axis + 1 :])
        return lax.expand_dims(self._row(Read(array, axis, place, array.dtype), shape), (axis,))

    def _row(self, read: Read, shape: tuple[Any, ...]) -> Value:
        self.reads.append(read)
        number = len(self.reads) - 1
        return jnp.zeros(shape, read.dtype) if self.rows is None else self.rows[number]


class _Counted:
    """A loop that counts.  kinds: of every carry, what it is before the first step if it stays so or counts."""

    def __init__(self, equation: JaxprEqn, operands: Sequence[Value], sizes: Sequence[Any]):
        parameters = equation.params
        if equation.primitive.name == "while":
            tests, constants = parameters["cond_nconsts"], parameters["body_nconsts"]
            body, carries = parameters["body_jaxpr"], len(parameters["body_jaxpr"].jaxpr.outvars)
        else:
            tests, (constants, carries), body = 0, scan_counts(equation), parameters["jaxpr"]
            if parameters["reverse"]:
                raise UnsupportedError("a scan that counts backwards")
        if any(isinstance(o, Place) and o.slope for o in operands):
            raise UnsupportedError("a loop uses the counter of the loop that it is in")
        self.body = body if isinstance(body, ClosedJaxpr) else ClosedJaxpr(body, ())
        self.constants = list(operands[tests : tests + constants])
        self.start = list(operands[tests + constants : tests + constants + carries])
        self.scanned = list(operands[tests + constants + carries :])
        if not all(map(is_number, self.body.jaxpr.invars[constants + carries :])):
            raise UnsupportedError("a scan over whole numbers")
        self.kinds = [self._kind(number) for number in range(carries)]
        counts = equation.primitive.name == "scan"
        self.sizes = [*sizes, *(array.shape[0] for array in self.scanned)]
        self.steps = parameters["length"] if counts else self._tested(equation, operands[:tests])
        if not _sure(self.steps, 0):
            raise UnsupportedError("how many steps a loop makes is not known")

    def _kind(self, number: int) -> str:
        """What a step makes of a carry: "fixed", "counter" or "free"."""
        jaxpr = self.body.jaxpr
        before, after = jaxpr.invars[len(self.constants) + number], jaxpr.outvars[number]
        if after is before:
            return "fixed"
        if is_number(before):
            return "free"
        made = next((e for e in jaxpr.eqns if after in e.outvars), None)
        given = [] if made is None else [getattr(a, "val", None) for a in made.invars if a is not before]
        counter = made is not None and made.primitive.name == "add" and before in made.invars and len(given) == 1
        if not counter or given[0] is None or np.shape(given[0]) or int(given[0]) != 1:
            raise UnsupportedError("a loop carries a whole number that does not count")
        if _place(self.start[number]) is None:
            raise UnsupportedError("a loop counts from a number that is not known")
        return "counter"

    def _at_step(self, free: Sequence[Value]) -> list[Value]:
        """The carries at a step."""
        values, found = iter(free), []
        for start, kind in zip(self.start, self.kinds, strict=True):
            if kind == "counter":
                place = _place(start)
                assert place is not None
                found.append(replace(place, slope=1))
            else:
                found.append(start if kind == "fixed" else next(values))
        return found

    def _tested(self, equation: JaxprEqn, constants: Sequence[Value]) -> Any:
        """How many steps there are, by the test of a `while`."""
        walk = _Test(self.sizes)
        free = [s for s, kind in zip(self.start, self.kinds, strict=True) if kind == "free"]
        (answer,) = walk.closed(equation.params["cond_jaxpr"], [*constants, *self._at_step(free)])
        if not isinstance(answer, Steps):
            raise UnsupportedError("a loop does not end by a counter")
        self.sizes = walk.sizes
        return answer.number

    def results(self) -> list[Value]:
        """What the loop gives, by a scan over rows."""
        free = [s for s, kind in zip(self.start, self.kinds, strict=True) if kind == "free"]
        free = [jnp.asarray(x) for x in free]
        fixed = [x for x in (*self.constants, *self.start) if hasattr(x, "shape")]
        carries = len(self.start)

        def step(walk: _StepWalk, carry: Sequence[Value], scanned: Sequence[Value]) -> tuple[list[Value], list[Value]]:
            found = walk.closed(self.body, [*self.constants, *self._at_step(carry), *scanned])
            kept = [x for x, kind in zip(found, self.kinds, strict=False) if kind == "free"]
            return kept, list(map(_plain, found[carries:]))

        looking = _StepWalk(fixed, self.steps, self.sizes)
        one = [jax.ShapeDtypeStruct(x.shape[1:], x.dtype) for x in self.scanned]
        of = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in free]
        jax.make_jaxpr(lambda carry, scanned: step(looking, carry, scanned))(of, one)
        rows = [read.rows(self.steps) for read in looking.reads]
        unread = [] if rows or self.scanned else [jnp.zeros(self.steps, np.float32)]  # how many steps there are
        body = lambda carry, given: step(_StepWalk(fixed, self.steps, self.sizes, given[1]), carry, given[0])
        last, ys = lax.scan(body, free, (self.scanned, rows, unread))
        values = iter(last)
        return [*(self._at_end(start, kind, values) for start, kind in zip(self.start, self.kinds, strict=True)), *ys]

    def _at_end(self, start: Value, kind: str, values: Iterator[Value]) -> Value:
        """A carry behind the last step."""
        place = _place(start)
        if kind == "counter" and place is not None:
            after = replace(place, offset=place.offset + self.steps)
            if not CountedWalk(self.sizes).fits(after, self.steps):
                raise UnsupportedError("a counter may wrap")
            return after
        return start if kind == "fixed" else next(values)
