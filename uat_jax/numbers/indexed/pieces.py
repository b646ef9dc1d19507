"""Two deep programs compared piece by piece, so that the work grows in proportion to their depth.

A result through which alone all that is deep reaches what follows is a bottleneck.  Where bottlenecks of both programs
have one normal form, both are replaced by one new input, and the comparison goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.array import Array, entry_of_input
from uat_jax.numbers.indexed.maxima import is_finite
from uat_jax.numbers.indexed.polynomial import Polynomial
from uat_jax.numbers.indexed.steps import Evaluation, Steps
from uat_jax.numbers.indexed.workspace import sooner, workspace

Equal = Callable[[Array, Array], bool]

FARTHEST = 40
"""So many bottlenecks behind the last cut are compared with those of the other program."""

SECONDS = 8.0
"""The time from one cut to the next: without cuts the work doubles with every layer."""

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
        """The array of the next bottleneck; None if it has no normal form."""
        place, result = self.ahead.pop(0)
        self.evaluation.until(place + 1)
        found = self.evaluation.values[result]
        self.seen.append((place, result, found))
        return found if _may_be_cut(found) else None

    @property
    def may_advance(self) -> bool:
        """Whether a bottleneck is near, and the last array has not so many terms that it would be expensive."""
        large = any(isinstance(x.body, Polynomial) and len(x.body.terms) > LARGEST for _, _, x in self.seen[-1:])
        return bool(self.ahead) and len(self.seen) < FARTHEST and not large

    @property
    def progress(self) -> float:
        """The part of the program that lies behind the next bottleneck."""
        return self.ahead[0][0] / len(self.evaluation.program.steps) if self.ahead else 1.0

    def cut(self, found: Array, new: Array) -> None:
        """Go back to a bottleneck, with a new input in its place."""
        place, result = next((place, result) for place, result, array in self.seen if array is found)
        self.known.add(result)
        self.seen.clear()
        self.ahead = _ahead(self.evaluation.program, self.known, place + 1)
        self.evaluation.place = place + 1
        self.evaluation.values[result] = new

    def candidates(self) -> list[Array]:
        """The arrays since the last cut."""
        return [x for _, _, x in self.seen if _may_be_cut(x)]


def _may_be_cut(x: Array) -> bool:
    """Whether an array has a normal form, and is finite but for inputs of measure zero."""
    return x.kind == "f" and isinstance(x.body, Polynomial) and is_finite(x.body) and not x.open


def outputs_in_pieces(
    left: Steps, right: Steps, arguments: Sequence[Array], equal: Equal
) -> Iterator[tuple[Array, Array]]:
    """The outputs of both programs, as functions of the inputs and of what was cut."""
    sides = [_side(program, arguments) for program in (left, right)]
    end = workspace().deadline
    while True:
        workspace().deadline = sooner(end, SECONDS)
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
    """The next two bottlenecks with one normal form; None if there are none.

    The program that is less far on its way goes on, so that neither runs into the next layer without a cut.
    """
    while left.may_advance or right.may_advance:
        behind, before = sorted((left, right), key=lambda side: (not side.may_advance, side.progress))
        found = behind.advance()
        if found is None:
            continue
        for other in before.candidates():
            if _same(found, other, equal):
                return (found, other) if behind is left else (other, found)
    return None


def _same(one: Array, other: Array, equal: Equal) -> bool:
    try:
        return one.lengths == other.lengths and equal(one, other)
    except UnsupportedError:
        return False


def _input_for(one: Array, other: Array) -> Array:
    """A new input in place of two equal arrays."""
    new = entry_of_input(f"cut {next(workspace().cuts)}", one.lengths, "f", min(one.known_sign(), other.known_sign()))
    new.defined = one.defined and other.defined
    return new
