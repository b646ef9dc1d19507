"""Two deep programs compared piece by piece, so that the work grows in proportion to their depth.

A result through which alone all that is deep reaches what follows is a bottleneck.  Where bottlenecks of both programs
have one normal form, both are replaced by one new input, and the comparison goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from uat_jax.errors import UnsupportedError
from uat_jax.indexed.array import Array, entry_of_input
from uat_jax.indexed.maxima import is_finite
from uat_jax.indexed.polynomial import Polynomial
from uat_jax.indexed.steps import Evaluation, Steps
from uat_jax.indexed.workspace import workspace

Equal = Callable[[Array, Array], bool]

FARTHEST = 40
"""So many bottlenecks behind the last cut are compared with those of the other program."""

LARGEST = 300
"""Nothing behind an array of more terms is looked at before a cut."""


@dataclass
class _Side:
    """One program on its way: the bottlenecks ahead, and those since the last cut with their arrays.

    known: the inputs, and the results that were made inputs.
    """

    evaluation: Evaluation
    known: set[int]
    ahead: list[tuple[int, int]]
    seen: list[tuple[int, int, Array]] = field(default_factory=list)

    def advance(self) -> Array | None:
        """The array of the next bottleneck that has a normal form; None if there is none near."""
        while self.ahead and len(self.seen) < FARTHEST and not self.is_large:
            place, result = self.ahead.pop(0)
            self.evaluation.until(place + 1)
            found = self.evaluation.values[result]
            self.seen.append((place, result, found))
            if found.kind == "f" and isinstance(found.body, Polynomial) and is_finite(found.body):
                return found
        return None

    @property
    def is_large(self) -> bool:
        """Whether the last array has so many terms that the next one would be expensive."""
        return any(isinstance(x.body, Polynomial) and len(x.body.terms) > LARGEST for _, _, x in self.seen[-1:])

    def cut(self, found: Array, new: Array) -> None:
        """Goes back to a bottleneck, with a new input in its place."""
        place, result = next((place, result) for place, result, array in self.seen if array is found)
        self.known.add(result)
        self.seen.clear()
        self.ahead = _ahead(self.evaluation.program, self.known, place + 1)
        self.evaluation.place = place + 1
        self.evaluation.values[result] = new

    def candidates(self) -> list[Array]:
        """The arrays since the last cut."""
        return [array for _, _, array in self.seen if isinstance(array.body, Polynomial)]


def outputs_in_pieces(
    left: Steps, right: Steps, arguments: Sequence[Array], equal: Equal
) -> Iterator[tuple[Array, Array]]:
    """The outputs of both programs, as functions of the inputs and of what was cut."""
    sides = [_side(program, arguments) for program in (left, right)]
    while True:
        pair = _meeting(sides[0], sides[1], equal)
        if pair is None:
            break
        new = _input_for(*pair)
        for side, found in zip(sides, pair, strict=True):
            side.cut(found, new)
    yield from zip(*(side.evaluation.outputs() for side in sides), strict=True)


def outputs_at_once(left: Steps, right: Steps, arguments: Sequence[Array]) -> Iterator[tuple[Array, Array]]:
    """The outputs of both programs as functions of the inputs."""
    yield from zip(*(_begun(program, arguments).outputs() for program in (left, right)), strict=True)


def _side(program: Steps, arguments: Sequence[Array]) -> _Side:
    known = set(program.inputs)
    return _Side(_begun(program, arguments), known, _ahead(program, known, 0))


def _ahead(program: Steps, known: set[int], start: int) -> list[tuple[int, int]]:
    """The bottlenecks from a place on, for what is made of the inputs and for what is made of the last cuts."""
    return sorted({*program.bottlenecks(known, start), *program.bottlenecks(set(program.inputs), start)})


def _begun(program: Steps, arguments: Sequence[Array]) -> Evaluation:
    return Evaluation(program, dict(zip(program.inputs, arguments, strict=True)))


def _meeting(left: _Side, right: _Side, equal: Equal) -> tuple[Array, Array] | None:
    """The next two bottlenecks with one normal form; None if there are none."""
    while True:
        one = left.advance()
        if one is not None:
            for other in right.candidates():
                if _same(one, other, equal):
                    return one, other
        other = right.advance()
        if other is not None:
            for one in left.candidates():
                if _same(one, other, equal):
                    return one, other
        if one is None and other is None:
            return None


def _same(one: Array, other: Array, equal: Equal) -> bool:
    try:
        return one.lengths == other.lengths and equal(one, other)
    except UnsupportedError:
        return False


def _input_for(one: Array, other: Array) -> Array:
    """A new input in place of two equal arrays."""
    new = entry_of_input(f"cut {next(workspace().numbers)}", one.lengths, "f", min(one.known_sign(), other.known_sign()))
    new.defined = one.defined and other.defined
    return new
