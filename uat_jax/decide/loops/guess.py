"""Guesses at relations of two loops, from what both carry in their first steps at random points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uat_jax.decide.effort import Effort
from uat_jax.decide.loops.both import Front
from uat_jax.decide.loops.fingerprints import Samples, floats, guesses, points_for, residues, sizes
from uat_jax.decide.loops.known_step import Steps
from uat_jax.decide.loops.loop_pair import Derived, LoopPair
from uat_jax.decide.loops.passed import NOTHING, Passed
from uat_jax.decide.loops.relation import Relation
from uat_jax.decide.loops.walk import Value, traced
from uat_jax.errors import UnsupportedError

STEPS = 4
"""So many steps of both loops are looked at."""

GUESSING = 0x2B992DDF
"""What tells the random numbers of guesses from those of proofs."""

ReadRows = Derived | Relation
"""How the rows that both loops read in a class of steps are related."""


@dataclass(frozen=True)
class Attempt:
    """A relation to try: of carries and rows given, and of the rows read in every class of steps."""

    passed: Passed
    read: Sequence[ReadRows]
    classes: Sequence[Steps]

    @property
    def size(self) -> int:
        """How many entries its letters have."""
        return sizes(self.passed.letters_of_a_step)


def attempts(pair: LoopPair, effort: Effort) -> Iterator[list[Attempt]]:
    """Relations to try, those with the fewest letters first.

    Relations that residues suggest come first, then those that floats suggest and residues do not.

    Raises:
        UnsupportedError: a value is infinite, or cannot be computed.
    """
    classes = pair.classes()
    read = [read_rows(pair, steps, effort) for steps in classes]
    count = len(pair.views[0].loop.float_rows) * pair.views[0].factor
    tried: list[Passed] = []
    for samples, given in _samples(pair, effort):
        rows = guesses(given, pair.given_types, count)[0] if pair.given_types else NOTHING
        relations = guesses(samples, pair.carry_types, pair.first)
        new = [p for p in (Passed(pair.views, relation, rows) for relation in relations) if p not in tried]
        tried += new
        yield sorted((Attempt(passed, read, classes) for passed in new), key=lambda attempt: attempt.size)


def read_rows(pair: LoopPair, steps: Steps, effort: Effort) -> ReadRows:
    """How the rows that both loops read in a class of steps are related: as rows of inputs, or as it seems.

    Raises:
        UnsupportedError: that cannot be seen, because the number of steps is symbolic.
    """
    derived = pair.derived(steps)
    if derived is not None:
        return derived
    types = [[t for group in of for t in group] for of in pair.read_types(steps)]
    if not any(types):
        return NOTHING
    if steps is None:
        raise UnsupportedError("the loops read what is not made of single rows of the inputs")
    some = np.unique(np.concatenate([steps[:2], steps[-2:]]))
    program = traced(lambda *a: pair.rows(some, a), pair.both.types)
    every = [t for of in types for t in of]
    prime, found = residues(program, points_for(every), effort.seed ^ GUESSING, effort.deadline, pair.both.domains)
    states = [[x[:, i] for x in found] for i in range(len(some))]
    return guesses(_pooled(prime, states, (), ()), every, len(types[0]))[0]


def _samples(pair: LoopPair, effort: Effort) -> Iterator[tuple[Samples, Samples]]:
    """What both loops carry before the first steps and after each of them, and the rows that they give."""
    count = STEPS if pair.length is None else min(STEPS, pair.length)
    known: list[int] = []

    def run(*arguments: Value) -> list[Value]:
        front: Front = pair.both.front(arguments)
        world = front.world(pair.views, np.float32(0))
        states, given = [front.starts(pair.views)], []
        for step in range(count):
            made = pair.known_step(front, step, states[-1])
            states.append(made.carries)
            given.append(made.rows)
        known[:] = [len(world.scalars), len(world.arrays)]
        return [*world.scalars, *world.arrays, *(x for arrays in (*states, *given) for x in arrays)]

    program, points = traced(run, pair.both.types), points_for(pair.carry_types)
    chance = (points, effort.seed ^ GUESSING, effort.deadline, pair.both.domains)
    yield _split(*residues(program, *chance), count, len(pair.carry_types), known)
    yield _split(0, floats(program, *chance), count, len(pair.carry_types), known)


def _split(
    prime: int, found: Sequence[np.ndarray], count: int, carries: int, known: Sequence[int]
) -> tuple[Samples, Samples]:
    """Known scalars, known arrays, carries before and after each of some steps, and the rows given by each."""
    scalars, arrays, rest = found[: known[0]], found[known[0] : sum(known)], found[sum(known) :]
    states = [rest[i * carries : (i + 1) * carries] for i in range(count + 1)]
    rest = rest[(count + 1) * carries :]
    each = len(rest) // max(count, 1)
    rows = [rest[i * each : (i + 1) * each] for i in range(count)]
    return _pooled(prime, states, scalars, arrays), _pooled(prime, rows, (), ())


def _pooled(
    prime: int, states: Sequence[Sequence[np.ndarray]], scalars: Sequence[np.ndarray], arrays: Sequence[np.ndarray]
) -> Samples:
    """The samples of all steps together."""
    count = len(states)
    if not count:
        return Samples(prime, (), np.zeros(0, np.int64), (), ())
    pooled = tuple(np.concatenate(column) for column in zip(*states, strict=True))
    points = len(states[0][0]) if states[0] else 0
    again: Any = lambda x: np.concatenate([x] * count)
    time = np.repeat(np.arange(count), points)
    return Samples(prime, pooled, time, tuple(map(again, scalars)), tuple(map(again, arrays)))
