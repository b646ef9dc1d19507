"""Integers that are only compared, and choose one place of an axis, as truth values: i is known by those of k <= i.

    arange(T) < n                           t[1:]                       of t[k] = (k <= n)
    dynamic_update_slice(c, x, (i, 0))      where(e[:, None], x, c)     of e[k] = t[k] and not t[k + 1]

What is equal for all truth values t is equal for those of an integer (docs/soundness.md §20, *Unary*).  So a mask of a
length, and a cache that is written at a place, cost no more than any mask of this shape, whatever the range is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal
from jax.lax import GatherScatterMode

from uat_jax.decide.certificate import one_line
from uat_jax.decide.domain import REALS, Domains
from uat_jax.decide.integers import WHOLE, Integers
from uat_jax.decide.lookups.differences import Differences, between
from uat_jax.decide.lookups.integer_part import CONTROL, LONGEST, MOVING
from uat_jax.decide.lookups.letters import (
    Letters,
    added,
    changes,
    combined,
    known_letters,
    negated,
    new_letters,
    of_fields,
    selected,
)
from uat_jax.decide.lookups.one_integer import Derived, derived_of
from uat_jax.decide.lookups.steps import step_by_step
from uat_jax.decide.reached import needed_of
from uat_jax.decide.whole_programs import check_primitive
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.inlining import inlined
from uat_jax.interpret.retracing import bound
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.typing import Array, Atom

MOST_VALUES, MOST_TRUTHS = 2**14, 2**18
"""Integers of a longer range are not followed, nor more truth values."""

LARGEST_WINDOW = 16
"""Slices of so many places along the axis that an integer chooses are written out, one place after the other."""

MOST_READ = 2**22
"""A place that is read is a sum over all places; not of more entries than these."""

Threshold = tuple[np.ndarray, np.ndarray]
"""The numbers of letters x, and whole numbers k, of the truth values k <= x; of the number 0 they are k <= 0."""


@dataclass
class Thresholds:
    """The truth values k <= x of letters x, as functions of new real inputs.

    ends: the ranges of the letters.  apart: whether every array of such truth values is one of any truth values, so
    that its shape alone counts; else there is one truth value for each letter and number.
    """

    ends: Sequence[tuple[int, int]]
    apart: bool
    shapes: dict[Any, tuple[int, ...]] = field(default_factory=dict)
    given: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = [high - low for low, high in self.ends]
        self._first = np.cumsum([0, *lengths]) + 2
        if not self.apart:
            self.shapes["all"] = (sum(lengths),)

    def decided(self, at: Threshold) -> tuple[np.ndarray, np.ndarray]:
        """Which of them have one value whatever the letters are, and the value there."""
        letter, k = at
        low, high = (np.array([0, *(end[s] for end in self.ends)], np.int64)[letter] for s in (0, 1))
        return (k <= low) | (k > high), k <= low

    def truths(self, at: Threshold) -> Any:
        """Such truth values."""
        letter, k = at
        shape = letter.shape
        kept = [d for d in range(len(shape)) if changes(letter, d) or changes(k, d)]
        first = tuple(slice(None) if d in kept else slice(0, 1) for d in range(len(shape)))
        small = tuple(shape[d] for d in kept)
        letter, k = letter[first].reshape(small), k[first].reshape(small)
        found = self._apart(letter, k) if self.apart else self._tied(letter, k)
        return lax.broadcast_in_dim(found, shape, tuple(kept))

    def _apart(self, letter: np.ndarray, k: np.ndarray) -> Any:
        name = (letter.shape, letter.tobytes(), k.tobytes())
        self.shapes.setdefault(name, letter.shape)
        return self.given.get(name, jnp.zeros(letter.shape)) > 0

    def _tied(self, letter: np.ndarray, k: np.ndarray) -> Any:
        """Places in the list of false, true, and the truth values of all letters and numbers."""
        low = np.array([0, *(end[0] for end in self.ends)], np.int64)[letter]
        place = np.where(letter == 0, np.where(k <= 0, 1, 0), self._first[letter - 1] + k - low - 1)
        truths = self.given.get("all", jnp.zeros(self.shapes["all"])) > 0
        every = jnp.concatenate([np.array([False, True]), truths])
        if place.ndim == 1 and len(place) and (np.diff(place) == 1).all():
            return lax.slice(every, (int(place[0]),), (int(place[-1]) + 1,))
        return jnp.take(every, place, mode="clip")

    def at(self, letters: Sequence[int]) -> list[np.ndarray]:
        """The new real inputs where the letters are these numbers."""
        x = np.array([0, *letters], np.int64)
        sign = lambda truths: np.where(truths, 1.0, -1.0).astype(np.float32)
        found = []
        for name in self.shapes:
            if name == "numbers":
                found.append(x[1:].astype(np.float32))
            elif name == "all":
                after = [np.arange(low + 1, high + 1) <= n for (low, high), n in zip(self.ends, letters, strict=True)]
                found.append(sign(np.concatenate(after)))
            else:
                letter, k = (np.frombuffer(part, np.int64).reshape(name[0]) for part in name[1:])
                found.append(sign(k <= x[letter]))
        return found

    def numbers(self) -> Any:
        """0 and the letters as real numbers."""
        if self.apart:
            self.shapes["numbers"] = (len(self.ends),)
            letters = self.given.get("numbers", jnp.zeros(len(self.ends)))
            return jnp.concatenate([jnp.zeros(1, jnp.float64), jnp.asarray(letters, jnp.float64)])
        truths = jnp.asarray(self.given.get("all", jnp.zeros(self.shapes["all"])) > 0, jnp.float64)
        parts = [
            low + jnp.sum(truths[start : start + high - low])
            for start, (low, high) in zip(self._first[:-1] - 2, self.ends, strict=True)
        ]
        return jnp.stack([jnp.zeros((), jnp.float64), *(jnp.asarray(x, jnp.float64) for x in parts)])


@dataclass
class Unary:
    """A program in which some integers are replaced by truth values.

    known: the bounds of the letters.  derived: variables that are functions of one integer, as letters of their own.
    values: of the variables, as JAX traces them, and whole: those that are known whole numbers or letters.
    """

    known: Differences
    thresholds: Thresholds
    derived: Mapping[Any, Letters] = field(default_factory=dict)
    values: dict[Any, Any] = field(default_factory=dict)
    whole: dict[Any, Any] = field(default_factory=dict)

    def results(self, program: ClosedJaxpr, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of the program; the inputs that are replaced are `Letters`."""
        jaxpr = program.jaxpr
        for v, x in zip(jaxpr.invars, inputs, strict=True):
            (self.whole if isinstance(x, Letters) else self.values)[v] = x
        for v, x in zip(jaxpr.constvars, program.consts, strict=True):
            self.values[v] = x
            if str(dtype_of(v)) in WHOLE:
                self.whole[v] = np.asarray(x)
        for equation in jaxpr.eqns:
            self._follow(equation)
        return [self._read(v) for v in jaxpr.outvars]

    def _read(self, atom: Atom) -> Any:
        if isinstance(atom, Literal):
            return np.asarray(atom.val, dtype_of(atom))
        if atom not in self.values:
            raise UnsupportedError("an integer is needed itself")
        return self.values[atom]

    def _whole(self, atom: Atom) -> Any:
        """The letters or the known whole numbers that an operand is; None of what is none."""
        if isinstance(atom, Literal):
            return np.asarray(atom.val, dtype_of(atom)) if str(dtype_of(atom)) in WHOLE else None
        return self.whole.get(atom)

    def _follow(self, equation: JaxprEqn) -> None:
        operands = [self._whole(v) for v in equation.invars]
        if any(isinstance(x, Letters) for x in operands):
            found = self.derived.get(equation.outvars[0])
            if found is None or found.dtype == np.bool_:
                found = self._of_letters(equation, operands)
            if isinstance(found, Letters):
                self.whole[equation.outvars[0]] = found.simplified(self.known)
            elif isinstance(found, np.ndarray | np.generic):
                self.whole[equation.outvars[0]] = np.asarray(found)
                self.values[equation.outvars[0]] = jnp.asarray(found, dtype_of(equation.outvars[0]))
            else:
                self.values[equation.outvars[0]] = found
            return
        found = bound(equation, [self._read(v) for v in equation.invars], equation.params)
        self.values.update(zip(equation.outvars, found, strict=True))
        if self._is_known(equation, operands):
            self.whole.update(zip(equation.outvars, self._run(equation, operands), strict=True))

    def _is_known(self, equation: JaxprEqn, operands: Sequence[Array]) -> bool:
        whole = all(str(dtype_of(v)) in WHOLE and math.prod(shape_of(v)) <= LONGEST for v in equation.outvars)
        if not whole or equation.primitive.name in CONTROL or any(x is None for x in operands):
            return False
        try:
            check_primitive(equation)
        except UnsupportedError:
            return False
        return True

    def _run(self, equation: JaxprEqn, operands: Sequence[Any]) -> list[np.ndarray]:
        with jax.ensure_compile_time_eval():
            return [np.asarray(x) for x in bound(equation, [jnp.asarray(x) for x in operands], equation.params)]

    # What is done with letters

    def _of_letters(self, equation: JaxprEqn, operands: list[Any]) -> Any:
        name = equation.primitive.name
        rule = CHOOSING.get(name)
        if rule is not None:
            return rule(self, equation, operands)
        if any(x is None for x in operands):
            raise self._refused(equation)
        letters = [x if isinstance(x, Letters) else known_letters(x) for x in operands]
        if name in MOVING:
            arrays = [self._run(equation, list(xs))[0] for xs in zip(*(x.fields for x in letters), strict=True)]
            return of_fields(arrays, letters[0].dtype)
        if (found := combined(name, operands)) is not None:
            return found
        if name == "convert_element_type":
            return self._cast(equation, letters[0])
        if name in COMPARING:
            return self._compared(equation, name, *letters)
        raise self._refused(equation)

    def _refused(self, equation: JaxprEqn) -> UnsupportedError:
        return UnsupportedError(f"'{equation.primitive.name}'{source_line(equation)} does more than compare an integer")

    def _cast(self, equation: JaxprEqn, letters: Letters) -> Any:
        new = equation.params["new_dtype"]
        if str(np.dtype(new)) in WHOLE and np.dtype(new) != np.bool_:
            return of_fields(letters.fields, np.dtype(new))
        if not np.issubdtype(new, np.floating) or not letters.defined.all():
            raise self._refused(equation)
        numbers = self.thresholds.numbers()
        found = jnp.take(numbers, letters.plus) - jnp.take(numbers, letters.minus) + letters.offset.astype(np.float64)
        return jnp.asarray(found, new)

    def _compared(self, equation: JaxprEqn, name: str, a: Letters, b: Letters) -> Any:
        if a.dtype == np.bool_:
            raise self._refused(equation)
        if name in ("eq", "ne"):
            found = self._zero(equation, added(a, negated(b)))
            return ~found if name == "ne" else found
        first, second, positive = COMPARING[name]
        sides = (a, b)
        found = self._at_least_0(equation, added(sides[first], negated(sides[second])))
        return found if positive else ~found

    def _zero(self, equation: JaxprEqn, difference: Letters) -> Any:
        at_least, at_most = (self._at_least_0(equation, x) for x in (difference, negated(difference)))
        return _and(at_least, at_most)

    def _at_least_0(self, equation: JaxprEqn, x: Letters) -> Any:
        """Whether whole numbers are 0 or more, as known truth values where the ranges of the letters decide it."""
        if not x.defined.all() or ((x.plus != 0) & (x.minus != 0)).any():
            raise self._refused(equation)
        turned = x.minus != 0
        letter, k = x.plus + x.minus, np.where(turned, x.offset + 1, -x.offset)
        sure, value = self.thresholds.decided((letter, k))
        value = np.asarray(value ^ turned)
        if sure.all():
            return value
        flip = turned & ~sure if turned[~sure].any() and not turned[~sure].all() else np.full(x.shape, turned[~sure][0])
        found = self.thresholds.truths((np.where(sure, 0, letter), np.where(sure, ~(value ^ flip), k)))
        return ~found if flip.all() else found ^ flip if flip.any() else found

    # What letters choose

    def _is_at(self, equation: JaxprEqn, start: Letters, places: int, mode: Any) -> Any:
        """Whether a start is each of the places, along a new last axis; where it is clipped, outside is the end."""
        low, high = _ends(start, self.known)
        beside = bool((low < 0).any() or (high >= places).any())
        if not start.defined.all() or beside and mode not in (GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP):
            raise self._refused(equation)
        own = start.moved(lambda x: np.broadcast_to(x[..., None], (*start.shape, places)))
        k = np.broadcast_to(np.arange(places, dtype=np.int64), own.shape)
        after = added(own, negated(known_letters(k)))
        before = negated(after)
        if mode != GatherScatterMode.CLIP:
            return _and(self._at_least_0(equation, after), self._at_least_0(equation, before))
        ends = known_letters(np.zeros(own.shape, np.int64))
        after = selected(k == 0, [after, ends])
        before = selected(k == places - 1, [before, ends])
        return _and(self._at_least_0(equation, after), self._at_least_0(equation, before))

    def _starts(self, equation: JaxprEqn, starts: Sequence[Any], sizes: Sequence[int]) -> tuple[int, list[Any]]:
        """The axis along which a start is a letter, and the other starts, moved as XLA moves those of such slices."""
        chosen = [d for d, x in enumerate(starts) if isinstance(x, Letters) and x.loose.any()]
        fixed = [x.numbers() if isinstance(x, Letters) else x for x in starts]
        known = all(x is not None for d, x in enumerate(fixed) if d not in chosen)
        if len(chosen) != 1 or not known:
            raise self._refused(equation)
        shape = shape_of(equation.invars[0])
        inside = lambda d: min(max(int(fixed[d]), 0), shape[d] - sizes[d])  # type: ignore[arg-type]
        return chosen[0], [np.int32(0 if d in chosen else inside(d)) for d in range(len(shape))]

    def dynamic_update_slice(self, equation: JaxprEqn, operands: list[Any]) -> Any:
        """What is written at a place that a letter chooses."""
        array, written = (self._read(v) for v in equation.invars[:2])
        axis, starts = self._starts(equation, operands[2:], shape_of(equation.invars[1]))
        shape, window = shape_of(equation.invars[0]), shape_of(equation.invars[1])[axis]
        if window > LARGEST_WINDOW:
            raise self._refused(equation)
        there = self._is_at(equation, operands[2 + axis], shape[axis] - window + 1, GatherScatterMode.CLIP)
        found = array
        for j in range(window):
            row = lax.slice_in_dim(written, j, j + 1, axis=axis)
            whole = [n if d == axis else m for d, (n, m) in enumerate(zip(shape, row.shape, strict=True))]
            everywhere = jnp.broadcast_to(row, whole)
            if tuple(whole) != shape:
                everywhere = lax.dynamic_update_slice(found, everywhere, starts)
            here = _along(_shifted(there, j, shape[axis]), axis, shape)
            found = jnp.where(here, everywhere, found)
        return found

    def dynamic_slice(self, equation: JaxprEqn, operands: list[Any]) -> Any:
        """What is read at a place that a letter chooses: the sum over all places of what is there at that one."""
        array, sizes = self._read(equation.invars[0]), equation.params["slice_sizes"]
        axis, starts = self._starts(equation, operands[1:], sizes)
        shape, window = shape_of(equation.invars[0]), sizes[axis]
        if window > LARGEST_WINDOW or math.prod(shape) > MOST_READ:
            raise self._refused(equation)
        there = self._is_at(equation, operands[1 + axis], shape[axis] - window + 1, GatherScatterMode.CLIP)
        other = [shape[d] if d == axis else n for d, n in enumerate(sizes)]
        column = lax.dynamic_slice(array, starts, other)
        read = []
        for j in range(window):
            here = _along(_shifted(there, j, shape[axis]), axis, column.shape)
            read.append(_total(here, column, axis, keepdims=True))
        return jnp.concatenate(read, axis=axis)

    def gather(self, equation: JaxprEqn, operands: list[Any]) -> Any:
        """Rows that letters choose."""
        numbers, sizes = equation.params["dimension_numbers"], equation.params["slice_sizes"]
        shape, out = shape_of(equation.invars[0]), shape_of(equation.outvars[0])
        plain = len(numbers.start_index_map) == 1 and numbers.collapsed_slice_dims == numbers.start_index_map
        axis = numbers.start_index_map[0]
        full = all(n == m or d == axis for d, (n, m) in enumerate(zip(shape, sizes, strict=True)))
        if not (plain and full) or numbers.operand_batching_dims or isinstance(operands[0], Letters):
            raise self._refused(equation)
        places = operands[1].moved(lambda x: x[..., 0])
        mode = GatherScatterMode.from_any(equation.params["mode"])
        if mode == GatherScatterMode.PROMISE_IN_BOUNDS:
            mode = GatherScatterMode.CLIP  # what devices do; where it counts, it is a hazard
        low, high = _ends(places, self.known)
        if mode == GatherScatterMode.FILL_OR_DROP and ((low < 0).any() or (high >= shape[axis]).any()):
            raise self._refused(equation)
        if math.prod(out) * shape[axis] > MOST_READ:
            raise self._refused(equation)
        there = self._is_at(equation, places, shape[axis], mode)
        rows = jnp.moveaxis(self._read(equation.invars[0]), axis, 0)
        here = jnp.reshape(there, (*there.shape, *(1,) * (rows.ndim - 1)))
        found = _total(here, rows, len(places.shape))
        batch = [d for d in range(len(out)) if d not in numbers.offset_dims]
        return jnp.transpose(found, np.argsort([*batch, *numbers.offset_dims]).tolist())

    def scatter(self, equation: JaxprEqn, operands: list[Array]) -> Any:
        """What is written, or added, at one place that a letter chooses in each array of a batch."""
        numbers, shape = equation.params["dimension_numbers"], shape_of(equation.invars[0])
        indices = operands[1]
        if not isinstance(indices, Letters) or isinstance(operands[0], Letters) or isinstance(operands[2], Letters):
            raise self._refused(equation)
        batch = range(len(indices.shape) - 1)
        if sorted(numbers.scatter_indices_batching_dims) != list(batch):
            raise self._refused(equation)
        columns = [indices.moved(lambda x, k=k: x[..., k]) for k in range(indices.shape[-1])]
        loose = [k for k, column in enumerate(columns) if column.loose.any()]
        fixed = [column.numbers() for k, column in enumerate(columns) if k not in loose]
        if len(loose) != 1 or any(x is None or x.any() for x in fixed):
            raise self._refused(equation)
        axis = numbers.scatter_dims_to_operand_dims[loose[0]]
        written = self._as_operand(equation, axis)
        there = self._is_at(equation, columns[loose[0]], shape[axis],
                            GatherScatterMode.from_any(equation.params["mode"]))  # fmt: skip
        seat = dict(zip(numbers.scatter_indices_batching_dims, numbers.operand_batching_dims, strict=True))
        order = [*(seat[d] for d in batch), axis]
        here = jnp.transpose(there, np.argsort(order).tolist())
        here = jnp.reshape(here, [n if d in order else 1 for d, n in enumerate(shape)])
        array = self._read(equation.invars[0])
        if equation.primitive.name == "scatter-add":
            return array + jnp.where(here, written, jnp.zeros((), array.dtype))
        return jnp.where(here, jnp.broadcast_to(written, shape), array)

    def _as_operand(self, equation: JaxprEqn, axis: int) -> Any:
        """The updates of a scatter with the axes of its array, one place along `axis` and all along the others."""
        numbers, shape = equation.params["dimension_numbers"], shape_of(equation.invars[0])
        updates = self._read(equation.invars[2])
        outside = [d for d in range(updates.ndim) if d not in numbers.update_window_dims]
        of_indices = dict(zip(range(len(outside)), outside, strict=True))
        batching = zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True)
        hidden = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        windows = [d for d in range(len(shape)) if d not in hidden]
        source = {d: of_indices[q] for d, q in batching} | dict(zip(windows, numbers.update_window_dims, strict=True))
        found = jnp.transpose(updates, [source[d] for d in sorted(source)])
        found = jnp.expand_dims(found, [d for d in range(len(shape)) if d not in source])
        wanted = tuple(1 if d == axis else n for d, n in enumerate(shape))
        if found.shape != wanted:
            raise self._refused(equation)
        return found


COMPARING = {
    "ge": (0, 1, True),
    "lt": (0, 1, False),
    "le": (1, 0, True),
    "gt": (1, 0, False),
    "eq": (0, 0, True),
    "ne": (0, 0, True),
}
"""Of which operands the difference is 0 or more, and whether that is the answer or its denial."""

CHOOSING = {
    "dynamic_update_slice": Unary.dynamic_update_slice,
    "dynamic_slice": Unary.dynamic_slice,
    "gather": Unary.gather,
    "scatter": Unary.scatter,
    "scatter-add": Unary.scatter,
}
"""The primitives of which a letter may be a place."""


def _ends(x: Letters, known: Differences) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest value of each entry."""
    return x.offset - known.most[x.minus, x.plus], x.offset + known.most[x.plus, x.minus]


def _and(a: Any, b: Any) -> Any:
    """Both; where one is known to be true everywhere, the other."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, np.ndarray | np.generic) and one.all():
            return other
    return a & b


def _along(truths: Any, axis: int, shape: Sequence[int]) -> Any:
    """Truth values of the places of an axis, for an array of some shape."""
    return lax.broadcast_in_dim(jnp.asarray(truths), shape, (axis,))


def _shifted(truths: Any, by: int, length: int) -> Any:
    """Truth values of places, for the places so many further, of which there are `length`."""
    if by == 0 and truths.shape[0] == length:
        return truths
    return jnp.pad(jnp.asarray(truths), (by, length - by - truths.shape[0]))


def _total(here: Any, array: Any, axis: int, *, keepdims: bool = False) -> Any:
    """The sum along an axis of the entries at places; of truth values, whether one is true."""
    if array.dtype == jnp.bool_:
        return jnp.any(here & array, axis=axis, keepdims=keepdims)
    chosen = jnp.where(here, array, jnp.zeros((), array.dtype))
    return jnp.sum(chosen, axis=axis, keepdims=keepdims, dtype=array.dtype)


@dataclass(frozen=True)
class UnaryPair:
    """Two programs in which some of their integer inputs are truth values k <= i, as signs of new real inputs."""

    left: ClosedJaxpr
    right: ClosedJaxpr
    domains: Domains
    letters: tuple[int, ...]
    apart: bool
    with_functions: bool = False

    @cached_property
    def arrays(self) -> dict[int, Letters]:
        """The letters of each input."""
        found, first = {}, 1
        for i in self.letters:
            aval = self.left.in_avals[i]
            found[i] = new_letters(first, aval.shape, np.dtype(aval.dtype))
            first += found[i].plus.size
        return found

    @cached_property
    def functions(self) -> tuple[Derived, list[dict[Any, Letters]]]:
        """The letters that are functions of one of these, and by program the variables that are arrays of them."""
        if not self.with_functions:
            return Derived({}), [{}, {}]
        ends: Any = {i: (self.domains[i].low, self.domains[i].high) for i in self.letters}  # type: ignore[union-attr]
        return derived_of((self.left, self.right), self.arrays, ends)

    def numbers(self, letters: Sequence[int]) -> list[int]:
        """These numbers of the inputs, and the functions of them that are letters."""
        derived = self.functions[0]
        of = lambda base, table: int(table[letters[base - 1] - derived.low[base]])
        return [*letters, *(of(*derived.of[number]) for number in sorted(derived.of))]

    @cached_property
    def programs(self) -> tuple[ClosedJaxpr, ClosedJaxpr, Domains, Thresholds]:
        """Both programs of the other inputs and the new ones, what these range over, and what the new ones are.

        Raises:
            UnsupportedError: more is done with an integer than to compare it and to choose a place by it.
        """
        avals, letters, ends = self.left.in_avals, self.arrays, []
        for i, array in letters.items():
            of: Any = self.domains[i]
            ends += [(of.low, of.high)] * array.plus.size
        ends += self.functions[0].ends
        if sum(high - low for low, high in ends) > MOST_TRUTHS:
            raise UnsupportedError("too many truth values")
        known, thresholds = between(ends), Thresholds(ends, self.apart)
        others = [i for i in range(len(avals)) if i not in self.letters]
        specs = [jax.ShapeDtypeStruct(avals[i].shape, avals[i].dtype) for i in others]

        def traced(side: int) -> ClosedJaxpr:
            program, derived = (self.left, self.right)[side], self.functions[1][side]
            names = list(thresholds.shapes)

            def function(*given: Any) -> list[Any]:
                thresholds.given = dict(zip(names, given[len(others) :], strict=True))
                inputs = {**letters, **dict(zip(others, given, strict=False))}
                found = Unary(known, thresholds, derived).results(program, [inputs[i] for i in range(len(avals))])
                thresholds.given = {}
                return found

            new = [jax.ShapeDtypeStruct(thresholds.shapes[name], np.float32) for name in names]
            try:
                with jax.enable_x64(True):  # the types are the equations' own
                    found = jax.make_jaxpr(function)(*specs, *new)
            except (TypeError, ValueError, NotImplementedError) as error:
                raise UnsupportedError(f"JAX does not trace it with truth values: {one_line(error)}") from error
            needed, _ = needed_of(found.jaxpr)
            return inlined(ClosedJaxpr(found.jaxpr.replace(eqns=needed), found.consts))

        for side in (0, 1):  # which truth values are asked for
            traced(side)
        left, right = traced(0), traced(1)
        new = (REALS,) * len(thresholds.shapes)
        return left, right, Domains((*(self.domains[i] for i in others), *new)), thresholds


def unary_pairs(left: ClosedJaxpr, right: ClosedJaxpr, domains: Domains) -> Iterator[UnaryPair]:
    """The pairs in which those integers are truth values of which that can be done, first as masks of any truths.

    At last functions of one integer are letters of their own, if there are some.
    """
    left, right = step_by_step(left), step_by_step(right)
    short = [i for i, of in enumerate(domains.of) if isinstance(of, Integers) and _is_short(of, left.in_avals[i])]
    for with_functions in (False, True):
        alone = [UnaryPair(left, right, domains, (i,), True, with_functions) for i in short]
        able = [pair for pair in alone if _can_be(pair)]
        letters = tuple(i for pair in able for i in pair.letters)
        for apart in (True, False) if able else ():
            pair = UnaryPair(left, right, domains, letters, apart, with_functions)
            if not with_functions or pair.functions[0].of:
                yield able[0] if apart and len(able) == 1 else pair  # it is traced already


def _is_short(of: Integers, aval: Any) -> bool:
    """Whether integers of a range have few values enough."""
    few = 1 < of.count <= MOST_VALUES and (of.count - 1) * math.prod(aval.shape) <= MOST_TRUTHS
    return few and aval.dtype != np.bool_


def _can_be(pair: UnaryPair) -> bool:
    """Whether the integers of a pair are only compared and say places."""
    try:
        _ = pair.programs
    except UnsupportedError:
        return False
    return True
