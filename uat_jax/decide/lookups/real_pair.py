"""Two programs in some cases of their integers as programs of real numbers, of which the rows of tables are inputs."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal, jaxpr_as_fun

from uat_jax.decide.certificate import one_line
from uat_jax.decide.counterexample import Counterexample, Input
from uat_jax.decide.domain import REALS, Domains, Interval
from uat_jax.decide.integers import numbers
from uat_jax.decide.lookups.differences import ZERO
from uat_jax.decide.lookups.integer_part import Comparison, Landing, Lookup
from uat_jax.decide.lookups.letters import Letters
from uat_jax.decide.lookups.rows import Rows
from uat_jax.decide.lookups.sparse import Spread
from uat_jax.decide.lookups.texts import Case, Texts, ways
from uat_jax.decide.reached import needed_of
from uat_jax.decide.specification import with_numbers
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.inlining import inlined
from uat_jax.numbers.prime_fields.random_keys import draws_one_by_one
from uat_jax.typing import Array, Atom, Function, PyTree

Leaf = tuple[str, Any, int]
"""("input" or "constant", its number or digest, the axis that is chosen along)."""


@dataclass
class RealPair:
    """Two programs in some cases of their integers as programs of real numbers, their results along an axis of cases.

    Its inputs are those real inputs of the programs that count, arrays of rows of those that are chosen from, and
    numbers for integers that are cast to real numbers.
    """

    texts: Texts
    cases: Sequence[Case]
    keys: dict[tuple[int, int, int], int] = field(default_factory=dict)
    used: set[tuple[Any, ...]] = field(default_factory=set)
    leaves: dict[Leaf, PyTree] = field(default_factory=dict)
    sums: dict[int, tuple[int, bool]] = field(default_factory=dict)
    others: set[int] = field(default_factory=set)
    with_number: bool = False
    with_elsewhere: bool = False
    rows_elsewhere: bool = False

    def __post_init__(self) -> None:
        roles = [{n: r.fixed for n, r in side.roles.items()} for side in self.cases[0].sides]
        for case in self.cases:
            if [{n: r.fixed for n, r in side.roles.items()} for side in case.sides] != roles:
                raise UnsupportedError("what integers choose differs between cases")
            if any(s.values.keys() != t.values.keys() for s, t in zip(case.sides, self.cases[0].sides, strict=True)):
                raise UnsupportedError("what is an integer differs between cases")
        for case in self.cases:
            for side in case.sides:
                for role in side.roles.values():
                    self._collect(role)
        self._order()
        self._discover()
        if self.with_elsewhere:
            self.keys[self._elsewhere] = len(self.keys)
            self._order()
            self.leaves.clear()
            self._discover()

    # The keys: the letters of a place and what is added to them

    def _collect(self, role: Any) -> None:
        if isinstance(role, Lookup | Comparison | Landing):
            for key in role.key.keys():
                self.keys.setdefault(key, len(self.keys))

    @property
    def _elsewhere(self) -> tuple[int, int, int]:
        """The key that stands for a place that no integer chooses: one more letter."""
        return len(self.cases[0].known.most), ZERO, 0

    def _order(self) -> None:
        """Letters first, then the places that are known."""
        self.keys = {key: n for n, key in enumerate(sorted(self.keys, key=lambda key: (key[:2] == (ZERO, ZERO), key)))}

    @property
    def known_places(self) -> list[int]:
        """The places that are known."""
        return [offset for *letters, offset in self.keys if letters == [ZERO, ZERO]]

    @property
    def letters(self) -> int:
        """How many keys are letters."""
        return len(self.keys) - len(self.known_places)

    def _data(self, case: Case, s: int, name: tuple[Any, ...]) -> np.ndarray | None:
        """An array that a side reads in one case."""
        side = case.sides[s]
        if name[0] == "integer":
            value = side.values[name[1]]
            if isinstance(value, Letters):
                raise UnsupportedError("integers that are letters meet real numbers")
            return value
        role = side.roles[name[1]]
        if name[0] == "key":
            return np.asarray([self.keys[key] for key in role.key.keys()], np.int32).reshape(role.key.shape)
        if name[0] == "indices":
            return role.indices
        if name[0] == "inside":
            return role.inside
        if name[0] == "place":
            return np.asarray(role.coordinates[name[2]])
        return {"plus": role.plus, "minus": role.minus, "offset": role.offset.astype(np.float64)}[name[0]]

    def _all(self, s: int, name: tuple[Any, ...]) -> Any:
        """The arrays of all cases, or one if they are equal; None if there are none."""
        arrays = [self._data(case, s, name) for case in self.cases]
        there = [x for x in arrays if x is not None]
        if not there:
            return None, False
        if len(there) < len(arrays):  # inside everywhere in some cases
            arrays = [np.ones(there[0].shape, bool) if x is None else x for x in arrays]
        shapes = {x.shape for x in arrays}
        if len(shapes) > 1:
            raise UnsupportedError("what integers choose differs between cases")
        same = all(np.array_equal(arrays[0], x) for x in arrays[1:])
        return (arrays[0], False) if same else (np.stack(arrays), True)

    # The programs

    def _discover(self) -> None:
        """What of the cases is read, which arrays are chosen from, and which inputs count besides."""
        dense: set[int] = set()
        for s in (0, 1):
            with jax.enable_x64(True):  # the types are the equations' own
                traced = _traced(lambda *reals, s=s: self._one(s, reals, {}, None), self._specs())
            _, read = needed_of(traced.jaxpr)
            dense |= {i for i, v in zip(self.reals, traced.jaxpr.invars, strict=True) if v in read}
        axes: dict[Any, set[int]] = {}
        for kind, which, axis in self.leaves:
            axes.setdefault((kind, which), set()).add(axis)
        several = {which for (kind, which), along in axes.items() if kind == "input" and len(along) > 1}
        special = {i for i in self.reals if not isinstance(self.texts.domains[i], Interval)}
        chosen = {which for kind, which, _ in self.leaves if kind == "input"}
        self.dense = sorted(dense | (chosen & (several | special)))

    @property
    def reals(self) -> list[int]:
        """Which inputs of the programs are real."""
        return [i for i in range(len(self.texts.avals)) if i not in self.texts.whole]

    def _specs(self) -> list[jax.ShapeDtypeStruct]:
        return [jax.ShapeDtypeStruct(self.texts.avals[i].shape, self.texts.avals[i].dtype) for i in self.reals]

    def _leaf_shape(self, leaf: Leaf) -> tuple[tuple[int, ...], Any]:
        """The shape of an array of rows, the keys first, and its dtype."""
        kind, which, axis = leaf
        array = self.texts.avals[which] if kind == "input" else self.leaves[leaf]
        rows = self.letters if self._has_table(leaf) else len(self.keys)
        return (rows, *(n for d, n in enumerate(array.shape) if d != axis)), array.dtype

    def _has_table(self, leaf: Leaf) -> bool:
        """Whether rows at known places are those of the table itself."""
        return leaf[0] == "constant" or leaf[1] in self.dense

    @property
    def banks(self) -> list[Leaf]:
        """The arrays of rows that are inputs."""
        return [leaf for leaf in self.leaves if self._leaf_shape(leaf)[0][0] > 0]

    @property
    def domain_of_rows(self) -> list[Any]:
        """What the arrays of rows range over: as their table, if its entries are not tied to one another."""
        of = lambda leaf: self.texts.domains[leaf[1]] if leaf[0] == "input" else REALS
        return [of(leaf) if isinstance(of(leaf), Interval) else REALS for leaf in self.banks]

    def _one(
        self, s: int, reals: Sequence[Array], given: dict[Any, Any], banks: Any, numbers_: Any = None
    ) -> list[Any]:
        """What one side returns in a case; without `banks` what it reads is noted."""
        program = (self.texts.left, self.texts.right)[s]
        side = self.cases[0].sides[s]
        inputs: list[Any] = [None] * len(self.texts.avals)
        for i, x in zip(self.reals, reals, strict=True):
            inputs[i] = x
        places = {v: i for i, v in enumerate(program.jaxpr.invars)}
        constants = dict(zip(program.jaxpr.constvars, program.consts, strict=True))

        def row_of(atom: Atom, axis: int) -> Any:
            array = atom if isinstance(atom, np.ndarray) else constants.get(atom)
            if array is None:
                leaf: Leaf = ("input", places[atom], axis)
            else:
                array = np.asarray(array)
                if self.letters and not np.isfinite(array).all():
                    raise UnsupportedError("a row is chosen from a constant with an infinity or NaN")
                digest = hashlib.sha256(array.tobytes() + repr((array.shape, str(array.dtype))).encode()).hexdigest()
                leaf = ("constant", digest, axis)
            if banks is None:
                of = self.texts.avals[places[atom]] if array is None else array
                self.leaves.setdefault(leaf, of)
                return jnp.zeros((len(self.keys), *(n for d, n in enumerate(of.shape) if d != axis)), of.dtype)
            free = banks.get(leaf)
            if not self._has_table(leaf):
                return free
            table = inputs[places[atom]] if array is None else jnp.asarray(array)
            rows = jnp.take(jnp.moveaxis(table, axis, 0), np.asarray(self.known_places, np.int64), axis=0, mode="clip")
            return rows if free is None else jnp.concatenate([free, rows])

        def letters() -> Any:
            if self._fixed:
                return jnp.zeros(self._count)
            self.with_number = True
            return jnp.zeros(self._count) if numbers_ is None else self._related(numbers_)

        def elsewhere(written: bool) -> int | None:
            if not self.letters:
                if written:
                    raise UnsupportedError("an infinity may be multiplied with 0 beside the places that are chosen")
                return None
            self.with_elsewhere = True
            return self.keys.get(self._elsewhere, 0)

        with_values = _Given(self, s, given, note=banks is None)

        def places_() -> Any:
            keys = np.asarray(list(self.keys), np.int64).reshape(-1, 3)
            return jnp.take(letters(), keys[:, 0]) - jnp.take(letters(), keys[:, 1]) + keys[:, 2]

        fixed = lambda v: {np.asarray(case.sides[s].values[v]).tobytes() for case in self.cases}
        count = len(self.keys)
        rows = Rows(program, side.values, side.roles, with_values, row_of, letters, places_, count, elsewhere, fixed)
        found = rows.results(inputs)
        self.rows_elsewhere |= rows.multiplied_elsewhere
        for output, x in enumerate(found):
            if isinstance(x, Spread) and banks is None:
                axis, based = self.sums.get(output, (x.axis, False))
                if axis != x.axis:
                    raise UnsupportedError("a result is a sum along two axes")
                self.sums[output] = axis, based or x.base is not None
            elif banks is None:
                self.others.add(output)
        return [self._result(output, x) for output, x in enumerate(found)]

    def _related(self, numbers_: Any) -> Any:
        """0 and the letters as real numbers; those that are sums of others are such sums."""
        numbers_ = jnp.concatenate([jnp.zeros(1), numbers_])
        relations = self.texts.functions[0].relations
        if not relations:
            return numbers_
        multiples, added = np.eye(self._count), np.zeros(self._count)
        for letter, (number, sum_) in relations.items():
            multiples[letter], added[letter] = 0, number
            multiples[letter, list(sum_)] = list(sum_.values())
        return jnp.asarray(multiples, numbers_.dtype) @ numbers_ + jnp.asarray(added, numbers_.dtype)

    def _result(self, output: int, x: Any) -> Any:
        """An output as an array: a sum along an axis as its entries, or as base and entries one behind the other.

        Where all keys are known, it is the sum itself if there is a base.
        """
        if output not in self.sums:
            return x
        axis, based = self.sums[output]
        based = based or output in self.others
        if not isinstance(x, Spread):
            none = jnp.zeros((*x.shape[:axis], len(self.keys), *x.shape[axis + 1 :]), x.dtype)
            x = Spread(axis, none, x)
        if not based:
            return x.entries
        length = self.texts.left.out_avals[output].shape[axis]
        base = x.base
        if base is None:
            base = jnp.zeros((*x.entries.shape[:axis], length, *x.entries.shape[axis + 1 :]), x.entries.dtype)
        if self.letters:
            return jnp.concatenate([base, x.entries], axis=axis)
        there = np.asarray([0 <= place < length for place in self.known_places])
        places = np.where(there, self.known_places, length)
        first = lambda array: jnp.moveaxis(array, axis, 0)
        return jnp.moveaxis(first(base).at[places].add(first(x.entries), mode="drop"), 0, axis)

    @cached_property
    def _fixed(self) -> bool:
        """Whether every letter is known in all cases."""
        return not any(case.known.known[0].any() for case in self.cases)

    @property
    def _count(self) -> int:
        """How many numbers there are, 0 among them."""
        return len(self.cases[0].known.most) + self.with_elsewhere

    def programs(self) -> tuple[ClosedJaxpr, ClosedJaxpr]:
        """Both programs, of the inputs that `inputs` names."""
        return self._program(0), self._program(1)

    @cached_property
    def alone(self) -> bool:
        """Whether no real input counts, so that the programs are given one more, which is added to their results."""
        return not (self.dense or self.banks or self.with_number)

    def _program(self, s: int) -> ClosedJaxpr:
        specs = self._specs()
        real = [specs[self.reals.index(i)] for i in self.dense]
        rows = [jax.ShapeDtypeStruct(*self._leaf_shape(leaf)) for leaf in self.banks]
        more = [jax.ShapeDtypeStruct((self._count - 1,), np.float32)] if self.with_number else []
        more += [jax.ShapeDtypeStruct((), np.float32)] if self.alone else []
        names = sorted((name for side, *name in self.used if side == s), key=repr)
        data = {tuple(name): self._all(s, tuple(name)) for name in names}
        fixed = {name: x for name, (x, varies) in data.items() if not varies}
        moving = {name: x for name, (x, varies) in data.items() if varies}
        self._check_control(s, moving)

        def of_reals(*given: Any) -> list[Any]:
            dense, banks = given[: len(real)], given[len(real) : len(real) + len(rows)]
            rest = given[len(real) + len(rows) :]
            of = dict(zip(self.dense, dense, strict=True))
            inputs = [of.get(i, np.zeros(x.shape, x.dtype)) for i, x in zip(self.reals, specs, strict=True)]
            free = dict(zip(self.banks, banks, strict=True))
            numbers_ = rest[0] if self.with_number else None

            def one(values: Sequence[Any]) -> list[Any]:
                case = {**fixed, **dict(zip(moving, values, strict=True))}
                return self._one(s, inputs, case, free, numbers_)

            if moving:
                found = jax.vmap(one)([jnp.asarray(x) for x in moving.values()])
            else:
                found = [jnp.broadcast_to(x, (1, *x.shape)) for x in one(())]
            found = [jnp.broadcast_to(x, (len(self.cases), *x.shape[1:])) for x in found]
            return [_as_float(x) + rest[-1] for x in found] if self.alone else found

        with jax.enable_x64(True):  # the types are the equations' own
            traced = with_numbers(_traced(of_reals, [*real, *rows, *more]))
        needed, _ = needed_of(traced.jaxpr)
        return inlined(ClosedJaxpr(traced.jaxpr.replace(eqns=needed), traced.consts))

    def _check_control(self, s: int, moving: dict[tuple[Any, ...], Any]) -> None:
        """Raises `UnsupportedError` where an integer that differs between cases is given to a loop or a conditional.

        Nor may a generator be one that draws otherwise of many keys.
        """
        program = (self.texts.left, self.texts.right)[s]
        for equation in program.jaxpr.eqns:
            if moving and not draws_one_by_one(equation):
                raise UnsupportedError(f"'{equation.primitive.name}' may have another key for every integer")
            if equation.primitive.name in ("cond", "while"):
                if any(("integer", v) in moving for v in equation.invars if not isinstance(v, Literal)):
                    raise UnsupportedError(f"'{equation.primitive.name}' is decided by integers")

    def domains(self) -> Domains:
        """What the inputs of these programs range over."""
        of = self.texts.domains
        low, high = self.texts.hull
        of_number = Interval(low, high) if low < high and not self.with_elsewhere else REALS
        more: list[Any] = [of_number] if self.with_number else []
        more += [REALS] if self.alone else []
        return Domains((*(of[i] for i in self.dense), *self.domain_of_rows, *more))

    # What is found of these programs is about the given ones

    def located(
        self, found: Counterexample, names: Sequence[str], points: Sequence[tuple[np.ndarray, ...]]
    ) -> Counterexample | None:
        """A counterexample to the equality of these programs at `points` as one of the given programs.

        Rows of tables that are not chosen are 0, or like a row that is, where both programs are defined then; None if
        they are for none of these.
        """
        count = len(self.known_places) if self.rows_elsewhere else 0
        for elsewhere in (None, *range(count)):
            example = self._located(found, names, points, elsewhere)
            if not count or all(_is_defined(program, example) for program in (self.texts.left, self.texts.right)):
                return example
        return None

    def _located(
        self,
        found: Counterexample,
        names: Sequence[str],
        points: Sequence[tuple[np.ndarray, ...]],
        elsewhere: int | None,
    ) -> Counterexample:
        case, *entry = found.entry
        entry = self._placed_entry(found.output, entry, lambda place: self.known_places[place])
        added = float(np.asarray(found.inputs[-1].values)) if self.alone else 0.0
        given = dict(zip(self.dense, found.inputs, strict=False))
        rows = dict(zip(self.banks, found.inputs[len(self.dense) :], strict=False))
        integers = dict(zip(self.texts.whole, points[case], strict=True))
        inputs = []
        for i, (name, aval) in enumerate(zip(names, self.texts.avals, strict=True)):
            if i in integers:
                inputs.append(Input(name, numbers(integers[i]), str(aval.dtype)))
            elif i in given:
                inputs.append(dataclasses.replace(given[i], name=name))
            else:
                array = self._inside(i, aval)
                for leaf, x in rows.items():
                    if leaf[:2] == ("input", i):
                        turned, chosen = np.moveaxis(array, leaf[2], 0), np.asarray(x.values, np.float64)
                        if elsewhere is not None:
                            turned[:] = chosen[elsewhere]
                        for n, place in enumerate(self.known_places):
                            if 0 <= place < len(turned):
                                turned[place] = chosen[n]
                inputs.append(Input(name, array.tolist(), str(aval.dtype)))
        values: dict[str, Any] = {} if added == 0 else {"left": found.left - added, "right": found.right - added}
        if added != 0:
            values["exact"] = (repr(values["left"]), repr(values["right"]))
        return dataclasses.replace(found, inputs=tuple(inputs), entry=tuple(entry), **values)

    def _placed_entry(self, output: int, entry: Sequence[int], of: Callable[[int], int]) -> list[int]:
        """An entry with a place instead of the number of its key, or the other way round."""
        entry = list(entry)
        if output in self.sums and not (self.sums[output][1] or output in self.others):
            axis = self.sums[output][0]
            entry[axis] = of(entry[axis])
        return entry

    def placed(self, found: Counterexample) -> Counterexample:
        """A counterexample to the equality of the given programs as one of these, at its integers alone."""
        inputs = [found.inputs[i] for i in self.dense]
        for leaf in self.banks:
            table = np.moveaxis(np.asarray(found.inputs[leaf[1]].values, np.float64), leaf[2], 0)
            rows = [table[min(max(place, 0), len(table) - 1)].tolist() for place in self.known_places]
            inputs.append(Input("", rows, found.inputs[leaf[1]].dtype))
        inputs += [Input("", 0.0, "float32")] if self.alone else []
        entry = self._placed_entry(found.output, found.entry, self.known_places.index)
        return dataclasses.replace(found, inputs=tuple(inputs), entry=(0, *entry))

    def _inside(self, i: int, aval: Any) -> np.ndarray:
        """An array of an input that does not count, in its domain."""
        of = self.texts.domains[i]
        zeros = np.zeros(aval.shape)
        if of == REALS:
            return zeros
        return np.asarray(of.clipped(of.folded(zeros[None], np.dtype(aval.dtype)), np.dtype(aval.dtype)), np.float64)[0]


def _as_float(x: Array) -> Any:
    """Numbers that a new real number can be added to."""
    return x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.float32)


def _is_defined(program: ClosedJaxpr, example: Counterexample) -> bool:
    """Whether the device finds a number where an example says that values differ."""
    with jax.enable_x64(True):  # the types are the equations' own
        results = jaxpr_as_fun(program)(*map(jnp.asarray, example.arrays))
    return bool(np.isfinite(np.asarray(results[example.output])[tuple(example.entry)]))


def _traced(function: Function, specs: Sequence[PyTree]) -> ClosedJaxpr:
    """The program of a function.  Raises `UnsupportedError` where JAX refuses an equation with rows in it."""
    try:
        return jax.make_jaxpr(function)(*specs)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise UnsupportedError(f"JAX does not trace it with rows for tables: {one_line(error)}") from error


@dataclass
class _Given:
    """The arrays of a case by their names; the names that are read are noted."""

    pair: RealPair
    side: int
    values: dict[tuple[Any, ...], Any]
    note: bool

    def __getitem__(self, name: tuple[Any, ...]) -> Any:
        if not self.note:
            return self.values[name]
        found, varies = self.pair._all(self.side, name)
        self.pair.used.add((self.side, *name))
        return found[0] if varies else found

    def get(self, name: tuple[Any, ...], default: Any = None) -> Any:
        """The array of this name, if there is one."""
        if name[0] == "place":
            role = self.pair.cases[0].sides[self.side].roles[name[1]]
            if not isinstance(role.coordinates[name[2]], np.ndarray):
                return default
        elif not self.note:
            return self.values.get(name, default)
        elif self.pair._all(self.side, name)[0] is None:
            return default
        return self[name]


def at_points(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    domains: Domains,
    points: Sequence[tuple[np.ndarray, ...]],
    deadline: Deadline,
) -> tuple[RealPair, tuple[ClosedJaxpr, ClosedJaxpr]] | None:
    """Two programs at given integers, of tables only the rows that these choose; None if that cannot be followed."""
    for texts in ways(left, right, domains, deadline):
        try:
            real = RealPair(texts, texts.at(points))
            return real, real.programs()
        except UnsupportedError:
            continue
    return None
