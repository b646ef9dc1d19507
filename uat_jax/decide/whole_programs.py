"""Programs that compute with integers and booleans alone: a device gives their exact values, so they are run.

Whatever JAX computes of integers is the same on every device: sums and products wrap, shifts and quotients are what XLA
defines, a place outside of an array is moved into it or dropped.  So an input at which two programs give different
values refutes their equality, and equal values at all inputs prove it.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, jaxpr_as_fun

from uat_jax.decide.integers import WHOLE, Integers, held, numbers
from uat_jax.decide.runnable import ROUNDS, runnable
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import programs_within
from uat_jax.interpret.primitives import TABLE
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line

MOST_ENTRIES = 2**24
"""So many entries, of all values and all inputs that are evaluated together, are held at once."""

DRAWN, STEPS = 4096, 400
"""So many inputs are drawn in the search for a difference, and so many times an input is made simpler."""

AS_WRITTEN = {"xla_backend_optimization_level": 0}
"""What a second evaluation is compiled with: nothing is made faster, so that no optimisation can make both wrong."""

MOST_CORNERS = 1024
"""So many inputs that a person can follow are tried in place of one that was found."""

ALSO = frozenset("iota reduce_xor mulhi".split())
"""Primitives of integers beside those of the table that are the same function everywhere."""

NOT_THE_SAME = frozenset("rng_bit_generator outside_function".split())
"""Primitives of the table that a device, or the host, may compute in its own way."""

Input = tuple[np.ndarray, ...]
"""An array for each input of the programs."""


def is_whole_program(program: ClosedJaxpr) -> bool:
    """Whether every value in a program is an integer or a boolean."""
    within = list(programs_within(program))
    atoms = [v for p in within for e in p.eqns for v in (*e.invars, *e.outvars)]
    inputs = [v for p in within for v in (getattr(p, "jaxpr", p).invars + getattr(p, "jaxpr", p).constvars)]
    return all(str(dtype_of(v)) in WHOLE for v in [*atoms, *inputs, *getattr(program, "jaxpr", program).outvars])


def check_exact(program: ClosedJaxpr) -> None:
    """Return if every primitive of a program of integers is one function, whatever device computes it.

    Raises:
        UnsupportedError: one is not, or nobody has looked.
    """
    for within in programs_within(program):
        for equation in within.eqns:
            check_primitive(equation)


def check_primitive(equation: JaxprEqn) -> None:
    """Return if the primitive of an equation of integers is one function.  Raises `UnsupportedError` if not."""
    name = equation.primitive.name
    where = f"'{name}'{source_line(equation)}"
    if equation.effects or name not in TABLE.keys() | ALSO or name in NOT_THE_SAME:
        raise UnsupportedError(f"{where} is not known to be one function of integers on all devices")
    if name == "sort" and not (equation.params["is_stable"] or equation.params["num_keys"] == len(equation.invars)):
        raise UnsupportedError(f"{where} leaves the order of equal keys open; sort with is_stable=True")
    if name == "scatter" and not equation.params["unique_indices"] and _rows(equation) > 1:
        raise UnsupportedError(f"{where} may write one entry twice, in an order that is open; use unique_indices=True")


def _rows(equation: JaxprEqn) -> int:
    """How many slices a scatter writes."""
    return math.prod(shape_of(equation.invars[1])[:-1])


@dataclass(frozen=True)
class WholePair:
    """Two programs of integers, and what their inputs range over."""

    left: ClosedJaxpr
    right: ClosedJaxpr
    ranges: tuple[Integers, ...]
    deadline: Deadline

    @property
    def count(self) -> int:
        """How many inputs there are."""
        sizes = (math.prod(aval.shape) for aval in self.left.in_avals)
        return math.prod(of.count**size for of, size in zip(self.ranges, sizes, strict=True))

    @functools.cached_property
    def _run(self) -> Any:
        sides = [jaxpr_as_fun(runnable(p)) for p in (self.left, self.right)]
        count = len(self.left.out_avals)

        def unlike(*inputs: Any) -> Any:
            """For each output where the sides differ; and whether a side does not end."""
            outputs = [side(*inputs) for side in sides]
            ended = [side[-1] for side in outputs]
            apart = [a != b for a, b in zip(*(side[:count] for side in outputs), strict=True)]
            return apart, ~functools.reduce(jax.numpy.logical_and, ended, np.asarray(True))

        return jax.jit(jax.vmap(unlike))

    @functools.cached_property
    def _alone(self) -> list[Any]:
        return [jax.jit(jaxpr_as_fun(p), compiler_options=AS_WRITTEN) for p in (self.left, self.right)]

    @property
    def together(self) -> int:
        """So many inputs are evaluated at once: a power of 2."""
        values = [v for p in (self.left, self.right) for q in programs_within(p) for e in q.eqns for v in e.outvars]
        entries = sum(math.prod(shape_of(v)) for v in values) + 1
        return 2 ** max(0, min(16, (MOST_ENTRIES // entries).bit_length() - 1))

    def looked_at(self, inputs: Input) -> tuple[np.ndarray, np.ndarray]:
        """At which of the inputs (copies, *shape) an output differs, and at which a loop does not end in time."""
        self.deadline.check()
        copies = len(inputs[0])
        padded = 2 ** max(0, (copies - 1).bit_length())  # few shapes, so that little is compiled
        padded = max(padded, min(self.together, DRAWN))
        filled = tuple(np.concatenate([x, np.repeat(x[:1], padded - copies, axis=0)]) for x in inputs)
        with jax.enable_x64(True):  # the types are the equations' own
            unlike, endless = self._run(*filled)
        apart = np.logical_or.reduce([np.asarray(x).reshape(padded, -1).any(axis=1) for x in unlike])[:copies]
        endless = np.asarray(endless)[:copies]
        return apart & ~endless, endless

    def differs(self, inputs: Input) -> np.ndarray:
        """At which of the inputs (copies, *shape) an output differs, where both programs end in time."""
        return self.looked_at(inputs)[0]

    def all_inputs(self) -> Iterator[Input]:
        """Every input once, in blocks of `together`, simple ones first."""
        shapes = [aval.shape for aval in self.left.in_avals]
        entries = [of for of, shape in zip(self.ranges, shapes, strict=True) for _ in range(math.prod(shape))]
        rows = itertools.product(*(_in_order(of) for of in entries))
        while block := list(itertools.islice(rows, self.together)):
            yield self._arrays(np.asarray(block, object).reshape(len(block), len(entries)))

    def _arrays(self, rows: np.ndarray) -> Input:
        """Rows of all entries as an array (copies, *shape) for each input."""
        arrays, place = [], 0
        for aval in self.left.in_avals:
            size = math.prod(aval.shape)
            arrays.append(held(rows[:, place : place + size].reshape(len(rows), *aval.shape), aval.dtype))
            place += size
        return tuple(arrays)

    def _entries(self, point: Input) -> list[int]:
        return [x for array in point for x in np.ravel(np.asarray(numbers(array), object)).tolist()]

    def first_of_all(self) -> Input | None:
        """An input at which the programs differ, after all have been evaluated; None if there is none.

        Raises:
            UnsupportedError: a loop does not end in time at some input, and the programs are equal at the others.
        """
        open_at: Input | None = None
        for block in self.all_inputs():
            apart, endless = self.looked_at(block)
            if apart.any():
                return self.simplified(tuple(x[int(np.argmax(apart))] for x in block))
            if endless.any() and open_at is None:
                open_at = tuple(x[int(np.argmax(endless))] for x in block)
        if open_at is not None:
            at = ", ".join(str(numbers(x)) for x in open_at)
            raise UnsupportedError(
                f"a loop takes more than {ROUNDS:,} rounds at the integers {at}; give them a smaller range"
            )
        return None

    def drawn(self, seed: int) -> Input | None:
        """An input at which the programs differ among some that are drawn; None if there is none."""
        random = np.random.default_rng(seed)
        count, found = min(self.together, DRAWN), []
        avals = self.left.in_avals
        for _ in range(max(1, DRAWN // count) if count < DRAWN else 1):
            block = tuple(of.draw(random, count, a.shape, a.dtype) for of, a in zip(self.ranges, avals, strict=True))
            apart = self.differs(block)
            found += [tuple(x[i] for x in block) for i in np.flatnonzero(apart)[:64]]
            if found:
                break
        simplest = min(found, key=lambda point: _weight(self._entries(point)), default=None)
        return None if simplest is None else self.simplified(simplest)

    def simplified(self, point: Input) -> Input:
        """An input at which the programs differ, no entry of which can be replaced by a simpler number alone."""
        ranges = [of for of, array in zip(self.ranges, point, strict=True) for _ in range(array.size)]
        entries, steps = self._corner(self._entries(point), ranges), 0
        together = _together(entries, ranges)
        moved = True
        while moved and steps < STEPS:
            moved = False
            for i, of in [(None, None), *enumerate(ranges)]:
                tried = (
                    together if i is None else [[*entries[:i], x, *entries[i + 1 :]] for x in of.simpler(entries[i])]
                )
                if not tried:
                    continue
                apart = self.differs(self._arrays(np.asarray(tried, object)))
                if apart.any():
                    entries, moved, together = tried[int(np.argmax(apart))], True, []
            steps += 1
        return tuple(x[0] for x in self._arrays(np.asarray([entries], object)))

    def _corner(self, entries: list[int], ranges: Sequence[Integers]) -> list[int]:
        """An input of 0, 1, -1, powers of 2 and ends of ranges, if it has few entries and the programs differ there."""
        marks = [[x for x in dict.fromkeys(_marks(of)) if of.low <= x <= of.high] for of in ranges]
        if math.prod(map(len, marks)) > MOST_CORNERS:
            return entries
        corners = sorted(map(list, itertools.product(*marks)), key=_weight)
        apart = self.differs(self._arrays(np.asarray(corners, object)))
        return corners[int(np.argmax(apart))] if apart.any() else entries

    def values(self, point: Input) -> list[tuple[np.ndarray, np.ndarray]]:
        """Both values of every output at one input, each side computed alone, and compiled as it is written."""
        with jax.enable_x64(True):
            sides = [side(*map(jax.numpy.asarray, point)) for side in self._alone]
            return [(np.asarray(a), np.asarray(b)) for a, b in zip(*sides, strict=True)]


def _in_order(of: Integers) -> list[int]:
    """All integers of a range, those next to 0 first."""
    near = of.simplest()
    return sorted(range(of.low, of.high + 1), key=lambda x: (abs(x - near), x < 0))


def _marks(of: Integers) -> list[int]:
    """Numbers at which programs of integers often differ."""
    half = 1 << max(0, of.high.bit_length() - 1)
    return [of.simplest(), 0, 1, -1, 2, half, -half, of.high, of.low]


def _together(entries: list[int], ranges: Sequence[Integers]) -> list[list[int]]:
    """Inputs in which many entries are the simplest ones at once."""
    near = [of.simplest() for of in ranges]
    return [[*near[:i], *entries[i:]] for i in range(len(entries), 0, -1)]


def _weight(entries: list[int]) -> tuple:
    """What is simpler has a smaller one."""
    return sum(x != 0 for x in entries), sum(map(abs, entries))


def first_difference(pair: WholePair, point: Input) -> tuple[int, tuple[int, ...], int, int] | None:
    """The output, the entry and both values where two programs differ at an input; None if they do not."""
    for output, (a, b) in enumerate(pair.values(point)):
        places = np.argwhere(a != b)
        if len(places):
            entry = tuple(map(int, places[0]))
            return output, entry, int(numbers(a[entry])), int(numbers(b[entry]))
    return None
