"""Which entries of a program's results depend on memory that nobody has written, whatever lies there.

An entry is a number that is known, one that the inputs decide, or one that may change with what lies in such memory.
What is not known of a primitive is taken for the worst: all of its results depend on all of its operands.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from jax.lax import GatherScatterMode

from uat_jax.interpret.concrete import bind
from uat_jax.interpret.interpreter import IDENTITY, called, scan_counts, steps
from uat_jax.interpret.primitives import TABLE
from uat_jax.interpret.retracing import followed
from uat_jax.interpret.scattering import landings
from uat_jax.interpret.structure import gather, moved, moves
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.typing import Array, Atom

ORIGIN = np.int16
KNOWN, GIVEN, UNWRITTEN = map(ORIGIN, range(3))
"""Where an entry comes from: a whole number or a boolean that is known; the inputs; memory that nobody has written.

A larger number k says that it is computed from such memory, which was read first at `Follower.places[k]`.
"""

MOST_ROUNDS = 4096
"""Of a loop that runs for longer it is found what holds after any number of rounds."""


@dataclass(frozen=True, eq=False)
class Entries:
    """Where the entries of an array come from.

    values: of whole numbers and booleans; right where an entry is `KNOWN`, and anything elsewhere.
    """

    origins: np.ndarray
    values: np.ndarray | None = None

    @functools.cached_property
    def worst(self) -> int:
        """The largest origin of an entry."""
        return int(self.origins.max(initial=KNOWN))

    @property
    def known(self) -> bool:
        """Whether all entries are known."""
        return self.values is not None and self.worst == KNOWN


def written(array: Array) -> Entries:
    """The entries of a constant."""
    if getattr(array.dtype, "kind", "") in "iub":
        return Entries(np.broadcast_to(KNOWN, array.shape), np.asarray(array))
    return given(tuple(array.shape))


@functools.lru_cache(maxsize=1024)
def given(shape: tuple[int, ...]) -> Entries:
    """Entries that the inputs decide."""
    return Entries(np.broadcast_to(GIVEN, shape))


class Follower:
    """A walk over a program.

    Args:
        unwritten: what an equation says of its results if they are memory that nobody has written; None if it says
            nothing of the kind.
        clamps: whether a slice that reaches beyond its array is moved back into it.  If not, it reads and writes memory
            of which nothing is known.
    """

    def __init__(self, unwritten: Callable[[JaxprEqn], str | None], *, clamps: bool):
        self.unwritten, self.clamps = unwritten, clamps
        self.places = ["", "", ""]
        self._numbers: dict[str, np.int16] = {"": UNWRITTEN}

    def __call__(self, program: ClosedJaxpr, inputs: Sequence[Entries]) -> list[Entries]:
        """The entries of a program's results."""
        with jax.enable_x64(True):  # the types are the equations' own
            return self.program(program, inputs)

    def program(self, program: ClosedJaxpr | Jaxpr, operands: Sequence[Entries]) -> list[Entries]:
        """The entries of a program's results."""
        constant = lambda atom, array: (
            written(np.asarray(array, dtype_of(atom))) if _is_plain(atom) else given(shape_of(atom))
        )
        return followed(program, operands, constant, self.equation)

    def equation(self, equation: JaxprEqn, operands: list[Entries]) -> list[Entries]:
        """The entries of an equation's results."""
        said = self.unwritten(equation)
        if said is not None:
            return [Entries(np.broadcast_to(self.number(said), shape_of(v))) for v in equation.outvars]
        name, function = equation.primitive.name, called(equation)
        if function is not None:
            return self.program(function, operands)
        if name in LOOPS:
            return LOOPS[name](self, equation, operands)
        if name in IDENTITY:
            return operands
        whole, within = all(map(_is_whole, equation.outvars)), self.clamps or name not in AT_PLACES
        if whole and within and (name in TABLE or name == "iota") and all(x.known for x in operands):
            return [written(np.asarray(x)) for x in bind(equation, [x.values for x in operands])]
        if not whole and within and all(x.worst <= GIVEN for x in operands):
            return [given(shape_of(v)) for v in equation.outvars]
        return (RULES.get(name) or everything)(self, equation, operands)

    def number(self, place: str) -> np.int16:
        """The origin of what was read at a place."""
        if place not in self._numbers:
            self._numbers[place] = ORIGIN(len(self.places))
            self.places.append(place)
        return self._numbers[place]

    def computed(self, equation: JaxprEqn, *origins: Any) -> Any:
        """The origin of what an equation computes of entries of some origins."""
        most = functools.reduce(np.maximum, origins, GIVEN)
        if not np.any(most == UNWRITTEN):
            return most
        return np.where(most == UNWRITTEN, self.number(source_line(equation) or " in a library"), most)

    def reaches_beyond(self, shape: Sequence[int], sizes: Sequence[int], starts: Sequence[Entries]) -> bool:
        """Whether a block is known to lie partly outside of an array, and stays there."""
        last = [n - size for n, size in zip(shape, sizes, strict=True)]
        inside = lambda start, most: not start.known or 0 <= int(start.values) <= most
        return not self.clamps and not all(map(inside, starts, last))

    def either(self, condition: Any, cases: Sequence[Entries]) -> Entries:
        """One of several arrays, where all that is known of the choice is its origin."""
        first = cases[0]
        worst = functools.reduce(np.maximum, (x.origins for x in cases), np.maximum(condition, GIVEN))
        if any(x.values is None for x in cases):
            return Entries(worst)
        known = (x.origins == KNOWN for x in cases)
        same = functools.reduce(np.logical_and, (x.values == first.values for x in cases))
        return Entries(np.where(functools.reduce(np.logical_and, known, same), KNOWN, worst), first.values)


def _is_plain(atom: Atom) -> bool:
    """Whether NumPy has the dtype; that of random keys it has not."""
    return isinstance(dtype_of(atom), np.dtype)


def _is_whole(atom: Atom) -> bool:
    """Whether the entries are whole numbers or booleans."""
    return _is_plain(atom) and dtype_of(atom).kind in "iub"


# --- primitives -------------------------------------------------------------------------------------------------------


def everything(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """All results depend on all operands."""
    worst = follower.computed(equation, *(x.worst for x in operands))
    return [Entries(np.broadcast_to(worst, shape_of(v))) for v in equation.outvars]


def _entrywise(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """An entry depends on the entries at its place; `false and x` is false, `true or x` is true, whatever x is."""
    (result,) = equation.outvars
    if any(x.origins.shape not in ((), shape_of(result)) for x in operands):
        return everything(follower, equation, operands)
    origins = np.broadcast_to(follower.computed(equation, *(x.origins for x in operands)), shape_of(result))
    if not all(map(_is_whole, (*equation.invars, result))) or not any(np.any(x.origins == KNOWN) for x in operands):
        return [Entries(origins)]
    stand_ins = [_values(x, atom) for x, atom in zip(operands, equation.invars, strict=True)]
    (values,) = map(np.asarray, bind(equation, stand_ins))
    known = functools.reduce(np.logical_and, (x.origins == KNOWN for x in operands))
    if dtype_of(result) == np.bool_ and equation.primitive.name in DECIDES:
        decides = DECIDES[equation.primitive.name]
        alone = [(x.origins == KNOWN) & (y == decides) for x, y in zip(operands, stand_ins, strict=True)]
        decided = functools.reduce(np.logical_or, alone)
        known, values = known | decided, np.where(decided, decides, values)
    return [Entries(np.where(known, KNOWN, origins), values)]


def _values(x: Entries, atom: Atom) -> np.ndarray:
    """The values where they are known, and anything of the dtype elsewhere."""
    return np.zeros(shape_of(atom), dtype_of(atom)) if x.values is None else x.values


DECIDES = {"and": False, "or": True}
"""A boolean that decides the result alone."""


def _select(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """Where the choice is known, what is chosen; elsewhere any of the cases, or what the choice comes from."""
    which, *cases = operands
    shape = shape_of(equation.outvars[0])
    unknown = follower.either(follower.computed(equation, which.origins), cases)
    if which.values is None:
        return [unknown]
    chosen = np.clip(np.broadcast_to(which.values, shape).astype(int), 0, len(cases) - 1)
    pick = lambda arrays: np.take_along_axis(np.stack(arrays), chosen[None], 0)[0]
    certain = np.broadcast_to(which.origins == KNOWN, shape)
    origins = np.where(certain, pick([x.origins for x in cases]), unknown.origins)
    if not _is_whole(equation.outvars[0]):
        return [Entries(origins)]
    values = [_values(x, atom) for x, atom in zip(cases, equation.invars[1:], strict=True)]
    return [Entries(origins, np.where(certain, pick(values), values[0]))]


def _moved(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """Entries come from where they are taken."""
    kinds = moves(equation)
    if not all(x.known for x, moves_too in zip(operands, kinds, strict=True) if not moves_too):
        return everything(follower, equation, operands)
    take = lambda arrays: moved(
        equation, [a if m else x.values for a, x, m in zip(arrays, operands, kinds, strict=True)]
    )
    origins = take([x.origins for x in operands])
    if origins is None:
        return everything(follower, equation, operands)
    if not all(map(_is_whole, equation.outvars)):
        return list(map(Entries, origins))
    values = take([_values(x, atom) for x, atom in zip(operands, equation.invars, strict=True)]) or []
    return list(map(Entries, origins, values))


def _dynamic_slice(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """Along an axis where the start is not known, any entry may be read."""
    x, *starts = operands
    sizes, shape = equation.params["slice_sizes"], x.origins.shape
    if follower.reaches_beyond(shape, sizes, starts):
        return [Entries(np.full(sizes, UNWRITTEN))]
    unknown = tuple(axis for axis, start in enumerate(starts) if not start.known)
    if not unknown:
        return _moved(follower, equation, operands)
    chosen = follower.computed(equation, *(starts[axis].worst for axis in unknown))
    along = np.maximum(x.origins.max(unknown, keepdims=True, initial=KNOWN), chosen)
    fixed = [written(np.zeros((), np.int32)) if axis in unknown else start for axis, start in enumerate(starts)]
    return _moved(follower, equation, [Entries(np.broadcast_to(along, shape)), *fixed])


def _dynamic_update_slice(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """What is overwritten comes from the update; if it is not known where that goes, every entry may."""
    x, update, *starts = operands
    if follower.reaches_beyond(x.origins.shape, update.origins.shape, starts):
        return [Entries(np.full(x.origins.shape, UNWRITTEN))]
    if all(start.known for start in starts):
        return _moved(follower, equation, operands)
    chosen = follower.computed(equation, *(start.worst for start in starts))
    return [Entries(np.maximum(x.origins, np.maximum(update.worst, chosen)))]


def _gather(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """Entries come from where they are taken, if that is known; from outside of the array nothing is."""
    x, indices = operands
    if not indices.known:
        return everything(follower, equation, operands)
    if follower.clamps and equation.params["mode"] != GatherScatterMode.FILL_OR_DROP:
        return _moved(follower, equation, operands)
    within = {**equation.params, "mode": GatherScatterMode.FILL_OR_DROP}
    origins = gather(within, x.origins, np.asarray(indices.values))
    found = np.where(origins < 0, GIVEN if follower.clamps else UNWRITTEN, origins).astype(ORIGIN)
    if x.values is None:
        return [Entries(found)]
    return [Entries(found, gather(within, x.values, np.asarray(indices.values)).astype(x.values.dtype))]


def _scatter(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """Where updates land is known: there the entry comes from them, and from what was there if they are combined."""
    x, indices, updates = operands
    shape = x.origins.shape
    if not indices.known or len(equation.outvars) != 1:
        return everything(follower, equation, operands)
    places = landings(equation.params, shape, np.asarray(indices.values), updates.origins.shape).ravel()
    if not follower.clamps and np.any(places < 0):
        return [Entries(np.full(shape, UNWRITTEN))]
    landed = places >= 0
    found = np.full(x.origins.size, KNOWN)
    np.maximum.at(found, places[landed], np.maximum(updates.origins, GIVEN).ravel()[landed])
    replaced = equation.primitive.name == "scatter" and equation.params["update_jaxpr"] is None
    before = x.origins.ravel()
    after = found if replaced else follower.computed(equation, before, found)
    origins = np.where(found == KNOWN, before, after).reshape(shape)
    return [Entries(origins, x.values)]


def _reduced(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """An entry depends on all those that go into it."""
    (x,) = operands
    origins = x.origins.max(tuple(equation.params["axes"]), initial=KNOWN)
    return [Entries(follower.computed(equation, origins))]


def _prefix(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """An entry depends on those before it, in reverse on those behind it."""
    (x,), axis = operands, equation.params["axis"]
    turned = (lambda a: np.flip(a, axis)) if equation.params["reverse"] else lambda a: a
    origins = turned(np.maximum.accumulate(turned(x.origins), axis))
    return [Entries(follower.computed(equation, origins))]


def _dot_general(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """An entry depends on a row and a column: batch axes first, then those of one and of the other operand."""
    contracted, batch = equation.params["dimension_numbers"]
    rows, columns = (
        _batch_first(x.origins, along, together) for x, along, together in zip(operands, contracted, batch, strict=True)
    )
    shared, free = len(batch[0]), rows.ndim - len(batch[0])
    rows = rows.reshape(*rows.shape, *[1] * (columns.ndim - shared))
    columns = columns.reshape(*columns.shape[:shared], *[1] * free, *columns.shape[shared:])
    return [Entries(follower.computed(equation, rows, columns))]


def _batch_first(origins: np.ndarray, contracted: Sequence[int], batch: Sequence[int]) -> np.ndarray:
    """The largest origins along the contracted axes; the batch axes first, the others in their order."""
    others = [axis for axis in range(origins.ndim) if axis not in (*contracted, *batch)]
    kept = np.transpose(origins, (*batch, *others, *contracted))
    return kept.max(tuple(range(kept.ndim - len(contracted), kept.ndim)), initial=KNOWN)


def _sorted(follower: Follower, equation: JaxprEqn, operands: Sequence[Entries]) -> list[Entries]:
    """Every entry may come from any along the dimension, and its place depends on all operands."""
    axis = equation.params["dimension"]
    worst = functools.reduce(np.maximum, (x.origins for x in operands)).max(axis, keepdims=True, initial=KNOWN)
    found = follower.computed(equation, np.broadcast_to(worst, operands[0].origins.shape))
    return [Entries(found) for _ in operands]


ENTRYWISE = frozenset(
    "abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e bitcast_convert_type cbrt "
    "ceil clamp clz convert_element_type cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt "
    "integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not or population_count pow "
    "reduce_precision rem round rsqrt shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt "
    "square sub tan tanh xor".split()
)
"""Primitives that work entry by entry."""

Rule = Callable[[Follower, JaxprEqn, Sequence[Entries]], list[Entries]]

AT_PLACES: dict[str, Rule] = {
    **dict.fromkeys("scatter scatter-add scatter-max scatter-min scatter-mul scatter-sub".split(), _scatter),
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
}
"""Primitives that read or write at places which are operands."""

RULES: dict[str, Rule] = {
    **dict.fromkeys(ENTRYWISE, _entrywise),
    **dict.fromkeys(
        "broadcast_in_dim concatenate expand_dims pad reshape rev slice split squeeze stack".split(), _moved
    ),
    **dict.fromkeys("tile transpose unstack".split(), _moved),
    **dict.fromkeys(
        "argmax argmin reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum".split(), _reduced
    ),
    **dict.fromkeys("cumlogsumexp cummax cummin cumprod cumsum".split(), _prefix),
    **AT_PLACES,
    "dot_general": _dot_general,
    "select_n": _select,
    "sort": _sorted,
}
"""Primitives of which it is known which entries go into a result; of all others all do."""


# --- loops and conditionals -------------------------------------------------------------------------------------------


def _cond(follower: Follower, equation: JaxprEqn, operands: list[Entries]) -> list[Entries]:
    """The branch that is taken, or each of them."""
    which, *rest = operands
    branches = equation.params["branches"]
    if which.known and which.values is not None:
        return follower.program(branches[int(np.clip(which.values, 0, len(branches) - 1))], rest)
    condition = follower.computed(equation, which.worst)
    outcomes = zip(*(follower.program(branch, rest) for branch in branches), strict=True)
    return [follower.either(condition, cases) for cases in outcomes]


def _while(follower: Follower, equation: JaxprEqn, operands: list[Entries]) -> list[Entries]:
    """Round after round as long as it is known whether there is another one; then any number of rounds."""
    parameters = equation.params
    tests, bodies = parameters["cond_nconsts"], parameters["body_nconsts"]
    test, body, carry = operands[:tests], operands[tests : tests + bodies], operands[tests + bodies :]
    proceeds = lambda carry: follower.program(parameters["cond_jaxpr"], [*test, *carry])[0]
    after = lambda carry: follower.program(parameters["body_jaxpr"], [*body, *carry])
    for _ in range(MOST_ROUNDS):
        again = proceeds(carry)
        if not again.known:
            break
        if not np.any(again.values):
            return carry
        carry = after(carry)
    return _any_number_of(follower, equation, after, carry, lambda carry: proceeds(carry).worst)


def _any_number_of(
    follower: Follower,
    equation: JaxprEqn,
    after: Callable[[list[Entries]], list[Entries]],
    carry: list[Entries],
    condition: Callable[[list[Entries]], Any] = lambda carry: GIVEN,
) -> list[Entries]:
    """What holds after any number of rounds: it grows with the rounds, up to what no round changes."""
    while True:
        doubt = follower.computed(equation, condition(carry))
        merged = [follower.either(doubt, cases) for cases in zip(carry, after(carry), strict=True)]
        if all(np.array_equal(x.origins, y.origins) for x, y in zip(merged, carry, strict=True)):
            return merged
        carry = merged


def _scan(follower: Follower, equation: JaxprEqn, operands: list[Entries]) -> list[Entries]:
    """Row after row; of a long one, every row as the worst of them."""
    constants, carries = scan_counts(equation)
    fixed, carry, rows = operands[:constants], operands[constants:][:carries], operands[constants + carries :]
    body = lambda carry, rows: follower.program(equation.params["jaxpr"], [*fixed, *carry, *rows])
    if equation.params["length"] > MOST_ROUNDS:
        worst = [Entries(np.maximum(x.origins.max(0), GIVEN)) for x in rows]
        carry = _any_number_of(follower, equation, lambda carry: body(carry, worst)[:carries], carry)
        results, outer = body(carry, worst)[carries:], equation.outvars[carries:]
        return [*carry, *(_repeated(x, shape_of(v)) for x, v in zip(results, outer, strict=True))]
    made: dict[int, list[Entries]] = {}
    for step in steps(equation):
        results = body(carry, [_row(x, step) for x in rows])
        carry, made[step] = results[:carries], results[carries:]
    columns = zip(*(made[step] for step in sorted(made)), strict=True)
    return [*carry, *(map(_stacked, columns) if made else map(given, map(shape_of, equation.outvars[carries:])))]


def _row(x: Entries, step: int) -> Entries:
    return Entries(x.origins[step], None if x.values is None else x.values[step])


def _repeated(x: Entries, shape: tuple[int, ...]) -> Entries:
    return Entries(np.broadcast_to(np.maximum(x.origins, GIVEN), shape))


def _stacked(rows: Sequence[Entries]) -> Entries:
    values = [x.values for x in rows if x.values is not None]
    return Entries(np.stack([x.origins for x in rows]), np.stack(values) if len(values) == len(rows) else None)


LOOPS = {"cond": _cond, "scan": _scan, "while": _while}
"""Primitives that run programs under a condition or several times."""
