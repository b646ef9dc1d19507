"""What a program computes of its integers alone, in one case: known numbers, letters, and the places that these choose.

A comparison that the hypotheses of the case do not decide raises `Undecided`.  What else is done with letters than
adding, moving, comparing and choosing is refused, unless all of them are known in the case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal
from jax.lax import GatherScatterMode
from jax.typing import DTypeLike

from uat_jax.decide.integers import WHOLE, held
from uat_jax.decide.lookups.differences import Differences
from uat_jax.decide.lookups.letters import (
    Letters,
    added,
    changes,
    combined,
    is_negative,
    is_zero,
    known_letters,
    negated,
    of_fields,
    selected,
)
from uat_jax.decide.whole_programs import check_primitive
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.retracing import bound
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.typing import Atom

MOVING = frozenset("broadcast_in_dim concatenate copy expand_dims reshape rev slice squeeze stack transpose".split())
"""Primitives of which an entry of the result is one of an operand, at a place that does not depend on the entries."""

COMPARING: Mapping[str, Callable[[Letters, Letters, Differences], np.ndarray]] = {
    "lt": lambda a, b, known: is_negative(added(a, negated(b)), known),
    "gt": lambda a, b, known: is_negative(added(b, negated(a)), known),
    "le": lambda a, b, known: ~is_negative(added(b, negated(a)), known),
    "ge": lambda a, b, known: ~is_negative(added(a, negated(b)), known),
    "eq": lambda a, b, known: is_zero(added(a, negated(b)), known),
    "ne": lambda a, b, known: ~is_zero(added(a, negated(b)), known),
}
"""Comparisons of letters."""

LONGEST = 2**22
"""Arrays of integers of more entries are not computed."""

CONTROL = frozenset(["while", "scan", "cond"])

FEW_TRUTHS = 6
"""So many truth values that are letters are decided where they are cast to real numbers; more are any numbers."""

LONGEST_SORT = 6
"""Of more letters, the orders are too many cases."""

Whole = np.ndarray | Letters
"""An array of whole numbers, which are known or letters."""


@dataclass(frozen=True)
class Axis:
    """The place along an axis of a result is the place of the operand."""

    number: int


@dataclass(frozen=True)
class Lookup:
    """Entries of an array of which the place along one axis is a letter.

    rank: of the result.  axis: of the operand.  key: the place along it, and coordinates: those along the other axes
    (None along `axis`); both are arrays that can be broadcast to the result.  inside: where the place is one of the
    array; None if it is everywhere.
    """

    shape: tuple[int, ...]
    axis: int
    key: Letters
    coordinates: tuple[Any, ...]
    inside: np.ndarray | None = None
    fill: Any = None

    @property
    def fixed(self) -> tuple[Any, ...]:
        """What has to be the same in all cases."""
        return "lookup", self.shape, self.axis, tuple(map(type, self.coordinates)), repr(self.fill)


@dataclass(frozen=True)
class Comparison:
    """A comparison of letters with all places along an axis: true where the place is the key, and the key is inside."""

    axis: int
    length: int
    key: Letters
    inside: np.ndarray | None
    equal: bool

    @property
    def fixed(self) -> tuple[Any, ...]:
        """What has to be the same in all cases."""
        return "comparison", self.axis, self.length, self.equal


@dataclass(frozen=True)
class Landing:
    """Entries that are added to an array at places that are letters along one axis.

    axis: of the array.  key: these places, of the shape of the indices without their last axis.  indices: all of them,
    known but along `axis`, where they are 0.  column: which of the last axis that is.  inside: as of a `Lookup`.
    most: if all is known that is added, and what it is added to, a bound of the sum of the absolute values.
    """

    axis: int
    key: Letters
    indices: np.ndarray
    column: int
    inside: np.ndarray | None
    most: int | None = None

    @property
    def fixed(self) -> tuple[Any, ...]:
        """What has to be the same in all cases."""
        return "landing", self.axis, self.column, self.key.shape, self.most


@dataclass
class IntegerPart:
    """The integers of one program in one case.

    derived: variables that are functions of one input each, as letters of their own.  values: of the variables that are
    computed of integers alone.  roles: by the number of an equation that is not, the lookup, the comparison with all
    places or the number (`Letters`) that it stands for.
    """

    program: ClosedJaxpr
    known: Differences
    values: dict[Any, Whole]
    with_places: bool = True
    derived: Mapping[Any, Letters] = field(default_factory=dict)
    roles: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        jaxpr = self.program.jaxpr
        for v, array in zip(jaxpr.constvars, self.program.consts, strict=True):
            if str(dtype_of(v)) in WHOLE:
                self.values[v] = np.asarray(array)
        for number, equation in enumerate(jaxpr.eqns):
            self._follow(number, equation)
        if any(isinstance(self.read(v), Letters) for v in jaxpr.outvars):
            raise UnsupportedError("a function returns an integer that it is given")

    def read(self, atom: Atom) -> Whole | None:
        """The value of an integer; None of what is none, or is computed of more than integers."""
        if isinstance(atom, Literal):
            return np.asarray(atom.val, dtype_of(atom)) if str(dtype_of(atom)) in WHOLE else None
        return self.values.get(atom)

    def _follow(self, number: int, equation: JaxprEqn) -> None:
        operands = [self.read(v) for v in equation.invars]
        made = [str(dtype_of(v)) in WHOLE for v in equation.outvars]
        name = equation.primitive.name
        if all(made) and all(x is not None for x in operands):
            if name == "eq" or name == "ne":
                found = self._comparison(equation, operands) if self.with_places else None
                if found is not None:
                    self.roles[number] = found
                    return
            if len(equation.outvars) == 1 and equation.outvars[0] in self.derived:
                letters = self.derived[equation.outvars[0]].simplified(self.known)
                self.values[equation.outvars[0]] = letters
                return
            operands = [self._decided(x) for x in operands]
            if name == "scatter-add" and [isinstance(x, Letters) for x in operands] == [False, True, False]:
                most = int(np.abs(operands[0].astype(object)).max(initial=0))  # type: ignore[union-attr]
                most += int(np.abs(operands[2].astype(object)).sum())  # type: ignore[union-attr]
                landing = self._scatter(equation, operands[1])  # type: ignore[arg-type]
                self.roles[number] = replace(landing, most=most)
                return
            results = self._whole(equation, operands)  # type: ignore[arg-type]
            self.values.update(zip(equation.outvars, results, strict=True))
            return
        if not any(isinstance(x, Letters) for x in operands):
            return
        for v, x in zip(equation.invars, operands, strict=True):
            if self._is_open(x) and not (name == "convert_element_type" and self._many(v)):
                self.values[v] = self._decided(x)  # type: ignore[assignment]
        operands = [self.read(v) for v in equation.invars]
        if any(isinstance(x, Letters) for x in operands):
            self._chosen(number, equation, operands)

    def _many(self, v: Any) -> bool:
        """Whether an array of truth values has many that are different letters, in whatever case."""
        return v in self.derived and len(np.unique(self.derived[v].plus)) > FEW_TRUTHS

    def _is_open(self, x: Whole | None) -> bool:
        """Whether an array holds truth values that are letters."""
        return isinstance(x, Letters) and x.dtype == np.bool_

    def _decided(self, x: Whole | None) -> Whole | None:
        """An array of truth values, known in the case.  Raises `Undecided` if it is not."""
        return ~is_zero(x, self.known) if self._is_open(x) else x  # type: ignore[arg-type]

    def _chosen(self, number: int, equation: JaxprEqn, operands: Sequence[Whole | None]) -> None:
        """What an equation that is not of integers alone does with letters."""
        name = equation.primitive.name
        if name == "convert_element_type":
            self.roles[number] = self._defined(operands[0], equation)  # type: ignore[arg-type]
        elif name == "gather" and isinstance(operands[1], Letters) and operands[0] is None:
            self.roles[number] = self._gather(equation, operands[1])
        elif name == "scatter-add" and isinstance(operands[1], Letters) and operands[0] is operands[2] is None:
            self.roles[number] = self._scatter(equation, operands[1])
        elif name == "dynamic_slice" and operands[0] is None:
            self.roles[number] = self._dynamic_slice(equation, operands[1:])  # type: ignore[arg-type]
        else:
            raise self._refused(equation)

    # Integers of integers

    def _whole(self, equation: JaxprEqn, operands: list[Whole]) -> list[Whole]:
        name = equation.primitive.name
        if max((int(np.prod(shape_of(v))) for v in equation.outvars), default=0) > LONGEST:
            raise UnsupportedError(f"'{name}'{source_line(equation)} makes too many integers")
        if not any(isinstance(x, Letters) for x in operands):
            return self._run(equation, operands)
        if name == "sort":
            return self._sorted(equation, operands)
        found = self._of_letters(name, equation, operands)
        if found is not None:
            return [found.simplified(self.known) if isinstance(found, Letters) else found]
        numbers = [x.numbers() if isinstance(x, Letters) else x for x in operands]
        if any(x is None for x in numbers):
            raise self._refused(equation)
        return self._run(equation, numbers)

    def _run(self, equation: JaxprEqn, operands: Sequence[Any]) -> list[Whole]:
        check_primitive(equation)
        if equation.primitive.name in CONTROL:
            raise self._refused(equation)
        with jax.enable_x64(True):
            found = bound(equation, [jax.numpy.asarray(x) for x in operands], equation.params)
        return [np.asarray(x) for x in found]

    def _of_letters(self, name: str, equation: JaxprEqn, operands: list[Whole]) -> Whole | None:
        """The result of a primitive that can be followed with letters; None of others."""
        letters = [x if isinstance(x, Letters) else known_letters(x) for x in operands]
        if name in MOVING:
            fields = zip(*(x.fields for x in letters), strict=True)
            moved = [self._move(equation, arrays) for arrays in fields]
            return of_fields(moved, letters[0].dtype)
        if name in ("dynamic_slice", "gather") and not any(isinstance(x, Letters) for x in operands[1:]):
            return self._taken(equation, letters[0], operands[1:])
        if (found := combined(name, operands)) is not None:
            return found
        if name in COMPARING and letters[0].dtype != np.bool_:
            return COMPARING[name](letters[0], letters[1], self.known)
        if name in ("max", "min"):
            return self._extreme(letters[0], letters[1], largest=name == "max")
        if name == "clamp":
            above = self._extreme(letters[0], letters[1], largest=True)
            return self._extreme(above, letters[2], largest=False)
        if name in ("reduce_max", "reduce_min") and letters[0].dtype != np.bool_:
            return self._reduced(letters[0], equation.params["axes"], largest=name == "reduce_max")
        if name in ("argmax", "argmin") and letters[0].dtype != np.bool_:
            (axis,) = equation.params["axes"]
            return self._place(letters[0], axis, equation.params["index_dtype"], largest=name == "argmax")
        if name == "convert_element_type":
            new = np.dtype(equation.params["new_dtype"])
            if new == np.bool_:
                return ~is_zero(letters[0], self.known)
            return of_fields(letters[0].fields, new)
        return None

    def _move(self, equation: JaxprEqn, arrays: Sequence[np.ndarray]) -> np.ndarray:
        with jax.enable_x64(True):
            return np.asarray(bound(equation, [jax.device_put(x) for x in arrays], equation.params)[0])

    def _taken(self, equation: JaxprEqn, letters: Letters, starts: Sequence[Any]) -> Letters:
        """Letters at known places; what is filled beside is not followed."""
        places = np.arange(letters.plus.size, dtype=np.int64).reshape(letters.shape)
        fill = {"fill_value": -1} if equation.primitive.name == "gather" else {}
        with jax.enable_x64(True):
            at = [jax.numpy.asarray(x) for x in (places, *starts)]
            taken = np.asarray(bound(equation, at, {**equation.params, **fill})[0])
        if (taken < 0).any():
            raise self._refused(equation)
        return letters.moved(lambda x: x.ravel()[taken])

    def _extreme(self, a: Letters, b: Letters, *, largest: bool) -> Letters:
        second = is_negative(added(a, negated(b)) if largest else added(b, negated(a)), self.known)
        return selected(second, [a, b])

    def _reduced(self, letters: Letters, axes: Sequence[int], *, largest: bool) -> Letters | None:
        """The largest, or least, number along some axes; None if there is none."""
        for axis in sorted(axes, reverse=True):
            rows = _along(letters, axis)
            if not rows:
                return None
            letters = rows[0]
            for row in rows[1:]:
                letters = self._extreme(letters, row, largest=largest)
        return letters

    def _place(self, letters: Letters, axis: int, dtype: DTypeLike, *, largest: bool) -> np.ndarray | None:
        """The first place of the largest, or least, number along an axis."""
        rows = _along(letters, axis)
        if not rows:
            return None
        best, place = rows[0], np.zeros(rows[0].shape, np.int64)
        for k, row in enumerate(rows[1:], 1):
            beyond = added(best, negated(row)) if largest else added(row, negated(best))
            beyond = is_negative(beyond, self.known)
            best, place = selected(beyond, [best, row]), np.where(beyond, k, place)
        return held(place, dtype)

    def _sorted(self, equation: JaxprEqn, operands: Sequence[Whole]) -> list[Whole]:
        """The operands of a sort in the order of the first ones: neighbours are exchanged if the second is less."""
        check_primitive(equation)
        axis, keys = equation.params["dimension"], equation.params["num_keys"]
        arrays = [_along(x if isinstance(x, Letters) else known_letters(x), axis) for x in operands]
        if len(arrays[0]) > LONGEST_SORT or any(x.dtype == np.bool_ for x in operands[:keys]):
            raise self._refused(equation)
        for end in range(len(arrays[0]) - 1, 0, -1):
            for k in range(end):
                second = self._is_less([x[k + 1] for x in arrays[:keys]], [x[k] for x in arrays[:keys]])
                for x in arrays:
                    x[k], x[k + 1] = selected(second, [x[k], x[k + 1]]), selected(second, [x[k + 1], x[k]])
        found = [_stacked(rows, axis, x.dtype) for rows, x in zip(arrays, operands, strict=True)]
        known = [x.simplified(self.known) for x in found]
        return [x if (numbers := x.numbers()) is None else numbers for x in known]

    def _is_less(self, these: Sequence[Letters], those: Sequence[Letters]) -> np.ndarray:
        """Which entries are less than others, by the first of several keys that differs."""
        difference = added(these[0], negated(those[0]))
        less = is_negative(difference, self.known)
        if len(these) == 1 or less.all():
            return less
        return less | is_zero(difference, self.known) & self._is_less(these[1:], those[1:])

    # What integers choose

    def _comparison(self, equation: JaxprEqn, operands: Sequence[Any]) -> Comparison | None:
        """A comparison of letters with first, first + 1, … along an axis along which these do not change."""
        kinds = [isinstance(x, Letters) for x in operands]
        if kinds not in ([True, False], [False, True]):
            return None
        letters, numbers = operands if kinds[0] else operands[::-1]
        shape = shape_of(equation.outvars[0])
        if letters.shape and len(letters.shape) != len(shape) or len(numbers.shape) != len(shape):
            return None
        along = [d for d, n in enumerate(shape) if n > 1 and numbers.shape[d] == n and changes(numbers, d)]
        if len(along) != 1 or letters.dtype == np.bool_:
            return None
        axis = along[0]
        row = (
            numbers.reshape(-1)[:0]
            if not numbers.size
            else np.moveaxis(numbers, axis, 0).reshape(shape[axis], -1)[:, 0]
        )
        first, length = int(row[0]), shape[axis]
        if (np.diff(row.astype(np.int64)) != 1).any():
            return None
        if letters.shape:
            if letters.shape[axis] > 1:
                if any(changes(x, axis) for x in letters.fields):
                    return None
                letters = letters.moved(lambda x: np.take(x, [0], axis=axis))
        else:
            letters = letters.moved(lambda x: x.reshape((1,) * len(shape)))
        if not letters.loose.any():
            return None
        key = added(letters, known_letters(np.int64(-first)))
        inside = self._inside(key, length)
        return Comparison(axis, length, self._defined(key, equation, inside), inside, equation.primitive.name == "eq")

    def _inside(self, key: Letters, length: int) -> np.ndarray | None:
        """Which places are those of an axis of some length; None if all are."""
        below = is_negative(key, self.known)
        beyond = ~is_negative(added(key, known_letters(np.int64(-length))), self.known)
        outside = below | beyond
        return ~outside if outside.any() else None

    def _defined(self, letters: Letters, equation: JaxprEqn, where: np.ndarray | None = None) -> Letters:
        """Letters, known to be followed where they are needed; what is not needed is 0."""
        if where is not None:
            letters = selected(where, [known_letters(np.zeros(letters.shape, np.int64)), letters])
        if not letters.defined.all():
            raise UnsupportedError(f"'{equation.primitive.name}'{source_line(equation)} takes integers that may wrap")
        return of_fields(letters.fields, np.dtype(np.int64)).simplified(self.known)

    def _gather(self, equation: JaxprEqn, indices: Letters) -> Lookup:
        numbers, sizes = equation.params["dimension_numbers"], equation.params["slice_sizes"]
        shape, table = shape_of(equation.outvars[0]), shape_of(equation.invars[0])
        batch = [d for d in range(len(shape)) if d not in numbers.offset_dims]
        hidden = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
        windows = dict(zip([d for d in range(len(table)) if d not in hidden], numbers.offset_dims, strict=True))

        def column(k: int) -> Letters:
            place = [1] * len(shape)
            for axis, n in zip(batch, indices.shape[:-1], strict=True):
                place[axis] = n
            return indices.moved(lambda x: x[..., k].reshape(place))

        starts = {d: column(k) for k, d in enumerate(numbers.start_index_map)}
        batching = zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)
        aligned = {d: Axis(batch[q]) for d, q in batching}
        mode = GatherScatterMode.from_any(equation.params["mode"])
        if mode == GatherScatterMode.PROMISE_IN_BOUNDS:
            mode = GatherScatterMode.CLIP  # what devices do; where it counts, it is a hazard
        return self._lookup(
            equation, shape, table, starts, aligned, windows, sizes, mode, equation.params["fill_value"]
        )

    def _scatter(self, equation: JaxprEqn, indices: Letters) -> Landing:
        numbers, table = equation.params["dimension_numbers"], shape_of(equation.invars[0])
        columns = [indices.moved(lambda x, k=k: x[..., k]) for k in range(indices.shape[-1])]
        loose = [k for k, column in enumerate(columns) if column.loose.any()]
        if len(loose) != 1 or numbers.scatter_dims_to_operand_dims[loose[0]] not in numbers.inserted_window_dims:
            raise self._refused(equation)
        k = loose[0]
        axis, key = numbers.scatter_dims_to_operand_dims[k], columns[k]
        mode, inside = GatherScatterMode.from_any(equation.params["mode"]), None
        if mode == GatherScatterMode.CLIP:
            key = self._extreme(key, known_letters(np.int64(0)), largest=True)
            key = self._extreme(key, known_letters(np.int64(table[axis] - 1)), largest=False)
        else:
            inside = self._inside(key, table[axis])
            if inside is not None and mode != GatherScatterMode.FILL_OR_DROP:
                raise self._beside(equation, table[axis] - 1)
        if equation.params["unique_indices"] and key.plus.size > 1:
            raise self._refused(equation)  # they are not where two integers are equal
        columns[k] = known_letters(np.zeros(key.shape, np.int64))
        known = [column.numbers() for column in columns]
        if any(x is None for x in known):
            raise self._refused(equation)
        places = np.stack(known, axis=-1)  # type: ignore[arg-type]
        if mode != GatherScatterMode.FILL_OR_DROP and not _all_inside(equation, places, k):
            raise self._refused(equation)
        return Landing(axis, self._defined(key, equation, inside), places, k, inside)

    def _dynamic_slice(self, equation: JaxprEqn, starts: Sequence[Whole]) -> Lookup:
        shape, table = shape_of(equation.outvars[0]), shape_of(equation.invars[0])
        letters = [x if isinstance(x, Letters) else known_letters(x) for x in starts]
        at = {d: x.moved(lambda y: y.reshape((1,) * len(shape))) for d, x in enumerate(letters)}
        windows = {d: d for d in range(len(shape))}
        return self._lookup(equation, shape, table, at, {}, windows, shape, GatherScatterMode.CLIP, None)

    def _lookup(
        self,
        equation: JaxprEqn,
        shape: tuple[int, ...],
        table: tuple[int, ...],
        starts: Mapping[int, Letters],
        aligned: Mapping[int, Axis],
        windows: Mapping[int, int],
        sizes: Sequence[int],
        mode: GatherScatterMode,
        fill: Any,
    ) -> Lookup:
        """The entries that a gather takes: along every axis of the table its start and the place in its window."""
        chosen = [d for d, start in starts.items() if start.loose.any()]
        if len(chosen) != 1:
            raise self._refused(equation)
        axis = chosen[0]
        coordinates: list[Any] = []
        inside: np.ndarray | None = None
        key = None
        for d, size in enumerate(table):
            window = None
            if d in windows:
                rank = [1] * len(shape)
                rank[windows[d]] = sizes[d]
                window = np.arange(sizes[d]).reshape(rank)
            if d not in starts:
                first = 0 if window is None else Axis(windows[d]) if sizes[d] == size else window
                coordinates.append(aligned.get(d, first))
                continue
            start, last = starts[d], size - sizes[d]
            if mode == GatherScatterMode.CLIP:
                start = self._extreme(start, known_letters(np.int64(0)), largest=True)
                start = self._extreme(start, known_letters(np.int64(last)), largest=False)
            else:
                there = self._inside(start, last + 1)
                if there is not None and mode != GatherScatterMode.FILL_OR_DROP:
                    raise self._beside(equation, last)
                inside = there if inside is None else inside if there is None else inside & there
                start = self._defined(start, equation, there)
            if d == axis:
                key = start if window is None else added(start, known_letters(window))
                coordinates.append(None)
                continue
            place = start.numbers()
            if place is None:
                raise self._refused(equation)
            full = window is not None and sizes[d] == size
            coordinates.append(Axis(windows[d]) if full else place if window is None else place + window)
        assert key is not None
        if inside is not None and fill is None:
            kind = dtype_of(equation.outvars[0])
            fill = np.nan if np.issubdtype(kind, np.inexact) else None
            if fill is None:
                raise self._refused(equation)
        return Lookup(shape, axis, self._defined(key, equation), tuple(coordinates), inside, fill)

    def _beside(self, equation: JaxprEqn, last: int) -> UnsupportedError:
        """That a place may lie beside an axis, and JAX leaves open what stands there."""
        return UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} takes places 0 to {last}, and an integer may lie "
            'beside them: give it a smaller range with uj.integers(spec, low, high), or the index a mode such as "clip"'
        )

    def _refused(self, equation: JaxprEqn) -> UnsupportedError:
        return UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} computes with integers that choose"
        )


def _all_inside(equation: JaxprEqn, places: np.ndarray, letter: int) -> bool:
    """Whether the windows of a scatter are inside of its array, along the axes other than the one of a letter."""
    numbers, table = equation.params["dimension_numbers"], shape_of(equation.invars[0])
    hidden = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    windows = [shape_of(equation.invars[2])[d] for d in numbers.update_window_dims]
    sizes = dict(zip([d for d in range(len(table)) if d not in hidden], windows, strict=True))
    inside = [
        (0 <= places[..., k]) & (places[..., k] <= table[d] - sizes.get(d, 1))
        for k, d in enumerate(numbers.scatter_dims_to_operand_dims)
        if k != letter
    ]
    return bool(np.all(inside))


def _along(letters: Letters, axis: int) -> list[Letters]:
    """The slices of an array along an axis."""
    return [letters.moved(lambda x, k=k: np.take(x, k, axis=axis)) for k in range(letters.shape[axis])]


def _stacked(rows: Sequence[Letters], axis: int, dtype: DTypeLike) -> Letters:
    """Slices along an axis as one array."""
    return of_fields([np.stack(xs, axis=axis) for xs in zip(*(row.fields for row in rows), strict=True)], dtype)
