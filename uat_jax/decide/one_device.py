"""Programs of several devices as programs of one.

`jax.shard_map` cuts arrays into parts, one for every device of a mesh, and runs a program on each.  Here one device
holds the parts of all: a local array gets leading axes that count the devices, every operation is applied along them,
and a collective operation becomes an operation of these axes (`collectives`).  No device is needed: a mesh may be
`jax.sharding.AbstractMesh`.  docs/soundness.md §11.4 proves that the function stays the same.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from uat_jax.decide.collectives import COLLECTIVES, in_groups, is_partition
from uat_jax.decide.outside_names import call_outside, is_call
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import called, inner_programs, programs_within, scan_counts
from uat_jax.interpret.retracing import bound, followed, retraced
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.typing import Array, Atom, PyTree

PLACEMENT = frozenset(["pvary", "reduced_vary_cast", "reshard", "sharding_constraint"])
"""Primitives that say where a value lies, and leave it as it is."""

OF_DEVICES = frozenset([*COLLECTIVES, *PLACEMENT, "axis_index", "shard_map"])
"""Primitives that mean something on several devices."""

GENERATORS = frozenset(["rng_bit_generator", "rng_uniform"])
"""Primitives of which `jax.vmap` over many keys may draw other numbers than each key alone."""

WHERE = frozenset(["out_sharding", "sharding"])
"""Parameters that say where a result lies."""

AXES = frozenset(collective.axes for collective in COLLECTIVES.values())
"""Parameters that name axes of a mesh; of operations on one device they are numbers."""

FOLLOWED = "write it with psum, all_gather, all_to_all or ppermute"
"""What to do about a collective operation that is not followed."""


def on_one_device(left: ClosedJaxpr, right: ClosedJaxpr) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """Two programs of the same inputs and outputs for one device, which compute what all devices of their meshes do.

    Where devices return different arrays for one (a sum over the devices may be missing), that of the first is taken,
    as JAX does, and both programs return one more array: how far those of the other devices are from it.

    Example:
        >>> import jax
        >>> mesh = jax.sharding.AbstractMesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        >>> total = lambda x: jax.lax.psum(x, "i")
        >>> total = jax.shard_map(total, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P())
        >>> program = jax.make_jaxpr(total)(jax.numpy.ones(4))
        >>> [equation.primitive.name for equation in on_one_device(program, program)[0].jaxpr.eqns]
        ['reshape', 'reduce_sum']

    Raises:
        UnsupportedError: devices take different branches or rounds in which they communicate; a collective operation
            that is not followed.
    """
    if not (_for_devices(left) or _for_devices(right)):
        return left, right
    programs = _rewritten(left, list), _rewritten(right, list)
    apart = [program.out_avals[len(left.out_avals) :] for program in programs]
    if not any(apart):
        return programs
    zeros = [[jnp.zeros(a.shape, a.dtype) for a in found] for found in apart]
    first = _rewritten(left, lambda found: [*found, *zeros[1]])
    return first, _rewritten(right, lambda found: [*zeros[0], *found])


def _rewritten(program: ClosedJaxpr, more: Callable[[list[Any]], list[Any]]) -> ClosedJaxpr:
    """The program on one device; more: from how far the devices are apart to what it returns besides its outputs."""

    def function(*arguments: Any) -> list[Any]:
        results = _Devices().results(program, [Held(x) for x in arguments])
        copies = [(_copies(held), len(held.axes)) for held in results]
        far = [copy[1:] - copy[:1] for copy, axes in copies if axes]
        return [*(copy[0] for copy, _ in copies), *more(far)]

    try:
        return retraced(program, function)
    except UnsupportedError as error:  # without what JAX says of it
        raise UnsupportedError(str(error)) from None


def _copies(held: Held) -> Any:
    """A value with one leading axis, which counts all copies of it."""
    shape, axes = jnp.shape(held.array), len(held.axes)
    return lax.reshape(held.array, (math.prod(shape[:axes]), *shape[axes:]))


def _for_devices(program: ClosedJaxpr | Jaxpr) -> bool:
    return any(e.primitive.name in OF_DEVICES for inner in programs_within(program) for e in inner.eqns)


class Held(NamedTuple):
    """A value on all devices: its leading axes count the devices along the axes of the mesh on which it depends."""

    array: Any
    axes: tuple[str, ...] = ()


class _Devices:
    """All devices of the meshes of a program.

    sizes: of the axes of these meshes.  differing: the axes along which devices went on with different arrays behind a
    mesh.  inside: whether the program runs on a mesh.
    """

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.differing: set[str] = set()
        self.inside = False

    def ordered(self, axes: Iterable[str]) -> tuple[str, ...]:
        """Axes of the mesh in their one order."""
        return tuple(sorted(set(axes), key=list(self.sizes).index))

    def results(self, program: ClosedJaxpr | Jaxpr, operands: Sequence[Held]) -> list[Held]:
        """What a program returns on all devices."""
        return followed(program, operands, lambda atom, array: Held(array), self.checked)

    def checked(self, equation: JaxprEqn, operands: list[Held]) -> list[Held]:
        """The results of one equation, which have its shapes and point at its line."""
        with source_info_util.user_context(equation.source_info.traceback):
            results = self.applied(equation, operands)
        for held, v in zip(results, equation.outvars, strict=True):
            assert jnp.shape(held.array)[len(held.axes) :] == shape_of(v), equation
        return results

    def applied(self, equation: JaxprEqn, operands: list[Held]) -> list[Held]:
        """The results of one equation on all devices."""
        name, function = equation.primitive.name, called(equation)
        if name in PLACEMENT:
            return operands
        if function is not None:
            return self.results(function, operands)
        if name in COLLECTIVES:
            return [self.communicated(equation, operand) for operand in operands]
        if name in ("axis_index", "shard_map"):
            return self.index(equation) if name == "axis_index" else self.sharded(equation, operands)
        if is_call(equation):
            return self.everywhere(lambda *arrays: call_outside(equation, arrays), operands)
        self.refuse_axes(equation)
        if self.inside or any(o.axes for o in operands) or any(map(_for_devices, inner_programs(equation))):
            loop = {"cond": self.cond, "scan": self.scan, "while": self.while_loop}.get(name)
            if loop is not None:
                return loop(equation, operands)
            if any(map(_for_devices, inner_programs(equation))):
                raise UnsupportedError(f"'{name}'{source_line(equation)} calls a function on a mesh; call it outside")
        differing = [v for o, v in zip(operands, equation.invars, strict=True) if o.axes]
        if differing and name in GENERATORS or not all(map(_is_alike_in_rows, differing)):
            what = f"'{name}'{source_line(equation)}"
            raise UnsupportedError(f"{what} has a key of its own on every device; use threefry keys")
        parameters = {n: None if n in WHERE else value for n, value in equation.params.items()}
        return self.everywhere(lambda *arrays: bound(equation, arrays, parameters), operands)

    def refuse_axes(self, equation: JaxprEqn) -> None:
        """Refuse an operation along an axis of a mesh that has no row in the table of collective operations.

        Raises:
            UnsupportedError: the equation names an axis of a mesh.
        """
        named = {axis for parameter in AXES for axis in _names(equation.params.get(parameter, ()))}
        if named & self.sizes.keys():
            name = f"'{equation.primitive.name}'{source_line(equation)}"
            raise UnsupportedError(f"{name} is an operation of several devices that is not followed; {FOLLOWED}")

    def everywhere(self, function: Callable[..., Sequence[Any]], operands: Sequence[Held]) -> list[Held]:
        """A function of arrays applied on every device, as `jax.vmap` applies it."""
        axes = self.ordered(axis for operand in operands for axis in operand.axes)
        for axis in reversed(axes):
            function = jax.vmap(function, in_axes=tuple(0 if axis in o.axes else None for o in operands))
        return [Held(x, axes) for x in function(*(o.array for o in operands))]

    def spread(self, held: Held, axes: Sequence[str]) -> Held:
        """The value repeated along `axes`, beside the axes that it depends on already."""
        wanted = self.ordered([*axes, *held.axes])
        rank = jnp.ndim(held.array) - len(held.axes)
        kept = [place for place, axis in enumerate(wanted) if axis in held.axes]
        local = range(len(wanted), len(wanted) + rank)
        shape = [*(self.sizes[axis] for axis in wanted), *jnp.shape(held.array)[len(held.axes) :]]
        return Held(lax.broadcast_in_dim(held.array, shape, (*kept, *local)), wanted)

    # --- what devices exchange --------------------------------------------------------------------------------------

    def communicated(self, equation: JaxprEqn, operand: Held) -> Held:
        """The result of a collective operation."""
        name, parameters = equation.primitive.name, equation.params
        collective = COLLECTIVES[name]
        groups = parameters.get("axis_index_groups")
        named = [axis for axis in _names(parameters[collective.axes]) if isinstance(axis, str)]
        if groups is not None and not is_partition(groups, math.prod(self.sizes[axis] for axis in named)):
            what = f"'{name}'{source_line(equation)} has axis_index_groups={groups}"
            raise UnsupportedError(f"{what}; wanted every device of the axis in one group")
        stacked, others = self.stacked(operand, named)
        define = collective.definition if groups is None else partial(in_groups, collective)
        (result,) = self.everywhere(lambda x: [define(parameters, x)], [Held(stacked, others)])
        return result if collective.together and groups is None else self.unstacked(result, named)

    def stacked(self, operand: Held, axes: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
        """The array with one axis for all devices along some axes in their order, behind the other axes, and these."""
        held = self.spread(operand, axes)
        others = tuple(axis for axis in held.axes if axis not in axes)
        order = [held.axes.index(axis) for axis in (*others, *axes)]
        moved = jnp.transpose(held.array, (*order, *range(len(order), jnp.ndim(held.array))))
        shape = jnp.shape(moved)
        rows = math.prod(self.sizes[axis] for axis in axes)
        return lax.reshape(moved, (*shape[: len(others)], rows, *shape[len(order) :])), others

    def unstacked(self, result: Held, axes: Sequence[str]) -> Held:
        """The value with the one axis that `stacked` has made of several taken apart into these."""
        others, shape = result.axes, jnp.shape(result.array)
        place = len(others)
        apart = lax.reshape(result.array, (*shape[:place], *(self.sizes[axis] for axis in axes), *shape[place + 1 :]))
        return self.in_order(apart, (*others, *axes))

    def in_order(self, array: Any, axes: Sequence[str]) -> Held:
        """The value whose array has these leading axes, with the axes in the order that all values have."""
        wanted = self.ordered(axes)
        order = [axes.index(axis) for axis in wanted]
        return Held(jnp.transpose(array, (*order, *range(len(axes), jnp.ndim(array)))), wanted)

    def index(self, equation: JaxprEqn) -> list[Held]:
        """The number of each device along some axes, of which the last counts fastest."""
        axes = _names(equation.params["axis_name"])
        count = math.prod(self.sizes[axis] for axis in axes)
        numbers = lax.iota(dtype_of(equation.outvars[0]), count)
        return [self.unstacked(Held(numbers), axes)]

    # --- programs in programs ---------------------------------------------------------------------------------------

    def sharded(self, equation: JaxprEqn, operands: list[Held]) -> list[Held]:
        """A program that runs on every device of a mesh, on its parts of the operands."""
        parameters, outside = equation.params, self.inside
        for axis in parameters["mesh"].axis_names:
            if axis in parameters["newly_manual_axes"]:
                self.enter(axis, parameters["mesh"].shape[axis], equation)
        parts = [self.split(o, spec, equation) for o, spec in zip(operands, parameters["in_specs"], strict=True)]
        self.inside = True
        results = self.results(parameters["jaxpr"], parts)
        self.inside = outside
        joined = zip(results, parameters["out_specs"], equation.outvars, strict=True)
        found = [self.join(r, _by_dimension(spec, len(shape_of(v)), equation)) for r, spec, v in joined]
        self.differing |= {axis for held in found for axis in held.axes}
        return found

    def enter(self, axis: str, size: int, equation: JaxprEqn) -> None:
        """Note that a mesh with an axis of this size begins.

        Raises:
            UnsupportedError: an array differs along an axis of this name that has another size.
        """
        if axis in self.differing and self.sizes[axis] != size:
            raise UnsupportedError(
                f"'shard_map'{source_line(equation)} has {size} devices along '{axis}', and {self.sizes[axis]} devices "
                "came with different arrays for one; sum or gather them before"
            )
        self.sizes[axis] = size

    def split(self, operand: Held, spec: PyTree, equation: JaxprEqn) -> Held:
        """The parts of an array on the devices, as its specification says."""
        lead, shape = operand.axes, jnp.shape(operand.array)[len(operand.axes) :]
        dimensions = _by_dimension(spec, len(shape), equation)
        twice = [axis for names in dimensions for axis in names if axis in lead]
        if twice:
            raise UnsupportedError(
                f"'shard_map'{source_line(equation)} cuts an array along '{twice[0]}', for which devices along that "
                "axis came with different ones; sum or gather them before"
            )
        parts, found, places, local = [], list(lead), list(range(len(lead))), []
        for size, names in zip(shape, dimensions, strict=True):
            sizes = [self.sizes[axis] for axis in names]
            for axis in names:
                found.append(axis)
                places.append(len(lead) + len(parts) + names.index(axis))
            parts += [*sizes, size // math.prod(sizes)]
            local.append(len(lead) + len(parts) - 1)
        apart = lax.reshape(operand.array, (*jnp.shape(operand.array)[: len(lead)], *parts))
        return self.in_order(jnp.transpose(apart, (*places, *local)), found)

    def join(self, result: Held, dimensions: Sequence[tuple[str, ...]]) -> Held:
        """The array of which devices hold the parts, or the arrays, where devices that hold the same part differ.

        dimensions: the axes of the mesh along which each dimension of the array is cut.
        """
        named = [axis for names in dimensions for axis in names]
        held = self.spread(result, named)
        outer = [axis for axis in held.axes if axis not in named]
        order, shape = [held.axes.index(axis) for axis in outer], [self.sizes[axis] for axis in outer]
        for place, names in enumerate(dimensions, len(held.axes)):
            order += [*(held.axes.index(axis) for axis in names), place]
            shape.append(jnp.shape(held.array)[place] * math.prod(self.sizes[axis] for axis in names))
        return Held(lax.reshape(jnp.transpose(held.array, order), shape), tuple(outer))

    def scan(self, equation: JaxprEqn, operands: list[Held]) -> list[Held]:
        """A scan on all devices, which run the same number of steps."""
        body, parameters = equation.params["jaxpr"], equation.params
        constants, carries = scan_counts(equation)
        first = constants + carries
        fixed, carry, sequences = operands[:constants], operands[constants:first], operands[first:]
        once = lambda carried, entries: self.results(body, [*fixed, *carried, *entries])
        columns = [Held(jnp.moveaxis(held.array, len(held.axes), 0), held.axes) for held in sequences]
        entries = [jax.ShapeDtypeStruct(jnp.shape(held.array)[1:], held.array.dtype) for held in columns]
        carried, found = self.settled(carry, columns, entries, once)
        axes = [held.axes for held in carried]

        def step(values: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
            given = [Held(x, held.axes) for x, held in zip(row, columns, strict=True)]
            results = once([Held(x, a) for x, a in zip(values, axes, strict=True)], given)
            return self.arrays(results[:carries], axes), [held.array for held in results[carries:]]

        start, rows = [held.array for held in carried], [held.array for held in columns]
        last, made = lax.scan(step, start, rows, length=parameters["length"], reverse=parameters["reverse"])
        kept = [Held(x, a) for x, a in zip(last, axes, strict=True)]
        return [*kept, *(Held(jnp.moveaxis(x, 0, len(a)), a) for x, a in zip(made, found[carries:], strict=True))]

    def while_loop(self, equation: JaxprEqn, operands: list[Held]) -> list[Held]:
        """A loop on all devices that ends on all of them at once."""
        parameters = equation.params
        tests, bodies = parameters["cond_nconsts"], parameters["body_nconsts"]
        test, fixed, carry = operands[:tests], operands[tests : tests + bodies], operands[tests + bodies :]
        once = lambda carried, _: self.results(parameters["body_jaxpr"], [*fixed, *carried])
        proceeds = lambda carried, _: self.results(parameters["cond_jaxpr"], [*test, *carried])
        carried, _ = self.settled(carry, [], [], once)
        axes = [held.axes for held in carried]
        if any(self.axes_of(proceeds, carried, [], [])):
            raise UnsupportedError(f"the loop{source_line(equation)} ends at different rounds on different devices")
        held = lambda values: [Held(x, a) for x, a in zip(values, axes, strict=True)]
        last = lax.while_loop(
            lambda values: proceeds(held(values), [])[0].array,
            lambda values: self.arrays(once(held(values), []), axes),
            [value.array for value in carried],
        )
        return held(last)

    def cond(self, equation: JaxprEqn, operands: list[Held]) -> list[Held]:
        """A branch; where devices take different ones, all are computed and each device selects its own."""
        (index, *rest), branches = operands, equation.params["branches"]
        run = lambda branch, given: self.results(branch, given)
        if not index.axes:
            runs = [lambda given, _, branch=branch: run(branch, given) for branch in branches]
            found = zip(*(self.axes_of(one, rest, [], []) for one in runs), strict=True)
            axes = [self.ordered(itertools.chain(*every)) for every in found]
            taken = [lambda *arrays, one=one: self.arrays(one(_as(arrays, rest), []), axes) for one in runs]
            arrays = lax.switch(index.array, taken, *(held.array for held in rest))
            return [Held(x, a) for x, a in zip(arrays, axes, strict=True)]
        if any(_communicates(branch) for branch in branches):
            raise UnsupportedError(f"a branch{source_line(equation)} communicates, but not all devices take it")
        chosen, *others = (run(branch, rest) for branch in branches)
        for number, results in enumerate(others, 1):
            select = lambda i, x, y, number=number: [lax.select_n(lax.ge(i, lax.full_like(i, number)), x, y)]
            chosen = [self.everywhere(select, [index, *pair])[0] for pair in zip(chosen, results, strict=True)]
        return chosen

    def arrays(self, values: Sequence[Held], axes: Sequence[tuple[str, ...]]) -> list[Any]:
        """Values as arrays with these leading axes."""
        return [self.spread(held, a).array for held, a in zip(values, axes, strict=True)]

    def settled(
        self, carry: Sequence[Held], sequences: Sequence[Held], entries: Sequence[Any], once: Step
    ) -> tuple[list[Held], list[tuple[str, ...]]]:
        """The carried values with all axes that they depend on after any number of steps, and the axes of a step."""
        while True:
            found = self.axes_of(once, carry, sequences, entries)
            grown = [self.spread(held, axes) for held, axes in zip(carry, found[: len(carry)], strict=True)]
            if [held.axes for held in grown] == [held.axes for held in carry]:
                return grown, found
            carry = grown

    def axes_of(
        self, step: Step, carry: Sequence[Held], sequences: Sequence[Held], entries: Sequence[Any]
    ) -> list[tuple[str, ...]]:
        """The axes of what a step returns, which is not computed."""
        axes: list[tuple[str, ...]] = []

        def run(values: Sequence[Any], row: Sequence[Any]) -> list[Any]:
            results = step(_as(values, carry), _as(row, sequences))
            axes[:] = [held.axes for held in results]
            return [held.array for held in results]

        jax.eval_shape(run, [held.array for held in carry], list(entries))
        return axes


Step = Callable[[Sequence[Held], Sequence[Held]], list[Held]]
"""One round of a loop: from what is carried, and the entries of the sequences, to the results."""


def _as(arrays: Sequence[Array], values: Sequence[Held]) -> list[Held]:
    """Arrays that depend on what these values depend on."""
    return [Held(x, held.axes) for x, held in zip(arrays, values, strict=True)]


def _is_alike_in_rows(atom: Atom) -> bool:
    """Whether what is done with each of many keys under `jax.vmap` is what is done with it alone."""
    dtype = dtype_of(atom)
    return not jnp.issubdtype(dtype, jax.dtypes.prng_key) or str(dtype) == "key<fry>"


def _names(axes: Any) -> tuple[Any, ...]:
    """One name, or several, as a tuple."""
    return tuple(axes) if isinstance(axes, tuple | list | frozenset) else (axes,)


def _by_dimension(spec: PyTree, rank: int, equation: JaxprEqn) -> list[tuple[str, ...]]:
    """The axes of the mesh along which each dimension of an array is cut.

    Raises:
        UnsupportedError: the devices hold terms of a sum, which is taken when the array is read; or their copies have a
            derivative that is such a sum.
    """
    for word in ("unreduced", "reduced"):
        if getattr(spec, word, None):
            axes = ", ".join(f"'{axis}'" for axis in sorted(getattr(spec, word)))
            raise UnsupportedError(
                f"'shard_map'{source_line(equation)} has an array that is {word} along {axes}, which is not followed; "
                "sum over these devices with psum inside"
            )
    names = [() if entry is None else _names(entry) for entry in spec]
    return [*names, *[()] * (rank - len(names))]


def _communicates(program: ClosedJaxpr | Jaxpr) -> bool:
    talking = {*COLLECTIVES, "shard_map"}
    return any(e.primitive.name in talking for inner in programs_within(program) for e in inner.eqns)
