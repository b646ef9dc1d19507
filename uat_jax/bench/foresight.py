"""Will a size fit into memory?  Predicted from smaller ones before it is built.

The lengths asked for are climbed together by doubling, from where they are short. What the programs need is a
polynomial of degree two at most in each length (weights in their width, attention in its tokens), hence one of
degree 2k in the place on the line on which the sizes of k lengths lie, and the one through the last 2k + 1 predicts the
others (2k = 4 at most). That degree is exact, and far ahead it blows up the few kilobytes by which a compiler misses a
polynomial: a size far away is refused only if the lower degrees, too, refuse it; the next one, twice as long, if the
highest does.

Compiled programs and their arguments are foreseen, programs of the host are not, nor are they run.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import jax

from uat_jax.bench.case import Case, Size, UnavailableError
from uat_jax.bench.gpt2 import HEADS
from uat_jax.certify.memory import check_bytes, free_bytes, needed_bytes
from uat_jax.devices import default_device
from uat_jax.errors import InputError, MemoryLimitError, ShapeError

START = 8
"""The climb begins between this and twice this."""
SMALL = 4 * START
"""An entry this small is built without asking."""
LEAST_DEGREE, LARGEST_DEGREE = 2, 4
"""Arrays have four lengths at most that are worth setting; degree six would already make gigabytes of kilobytes."""
OF_THE_HOST = frozenset({"cold-start", "derivation", "ledger", "ledger-chapters"})
"""The cases without a compiled program; what they build is already the work."""


@dataclass(frozen=True)
class Rung:
    """A size to be climbed to.

    Attributes:
        lengths: by name, those that are climbed.
        place: on the line of all rungs with the same lengths moving; the lengths that move are proportional to it.
        moving: how many lengths are longer than on the rung below; the others have not left their start.
    """

    lengths: Mapping[str, int]
    place: Fraction
    moving: int


Points = Sequence[tuple[Fraction, float]]
"""(place, bytes) of the rungs that were built, on one line."""


def check_memory(case: Case, size: Size, names: Collection[str]) -> None:
    """Raise `MemoryLimitError` if a size is predicted not to fit on JAX's default device.

    The entries of these names are climbed, where they are whole numbers and longer than `SMALL`; the error names what
    of them would fit.
    """
    lengths = {name: size[name] for name in names if isinstance(size[name], int) and size[name] > SMALL}
    if not lengths or case.name in OF_THE_HOST:
        return
    device = default_device()
    found = climb(lambda own: _needed(case, {**size, **own}), ladder(lengths, size), free_bytes(device))
    if found is not None:
        fits, predicted = found
        advice = f"{_said(fits)} would fit" if fits else "not even the smallest tried would fit"
        check_bytes(predicted, device, f"{case.name} at {_said(lengths)}", advice)


@contextlib.contextmanager
def out_of_memory(what: str) -> Iterator[None]:
    """What the device or this process says when it has no memory left, as a `MemoryLimitError` in one line."""
    try:
        yield
    except (MemoryError, jax.errors.JaxRuntimeError) as error:
        if isinstance(error, MemoryError) or str(error).startswith("RESOURCE_EXHAUSTED"):
            said = (str(error).splitlines() or ["no memory is left"])[0]
            raise MemoryLimitError(f"{what} needs more memory than there is ({said}); take less") from error
        raise


# --- the rungs -------------------------------------------------------------------------------------------------------


def ladder(lengths: Mapping[str, int], size: Size) -> list[Rung]:
    """From lengths near `START`, doubled together, to those given; the shorter ones leave their start later."""
    steps = {name: _step(name, size) for name in lengths}
    heights = {name: max(0, (n // max(START, steps[name])).bit_length() - 1) for name, n in lengths.items()}
    starts = {name: max(1, (n >> heights[name]) // steps[name]) * steps[name] for name, n in lengths.items()}
    height = max(heights.values())
    late = {name: height - own for name, own in heights.items()}
    moving = lambda j: [name for name in lengths if j > late[name]] or [name for name in lengths if not late[name]]
    at = lambda j: {name: starts[name] << max(0, j - late[name]) for name in lengths}
    below = [Rung(at(j), Fraction(1 << j), len(moving(j))) for j in range(height)]
    ratios = [Fraction(lengths[name], starts[name] << heights[name]) for name in moving(height)]
    return [*below, Rung(dict(lengths), Fraction(sum(ratios), len(ratios)) * (1 << height), len(ratios))]


def _step(name: str, size: Size) -> int:
    """The features are a multiple of the heads on every rung."""
    return size.get("heads", HEADS) if name == "features" else 1


# --- the climb -------------------------------------------------------------------------------------------------------


def climb(
    needed: Callable[[Mapping[str, int]], float | None], rungs: Sequence[Rung], free: float
) -> tuple[Mapping[str, int], float] | None:
    """What would fit (nothing: empty) and what the last rung needs at least, if more than is free; otherwise None.

    ``needed`` gives the bytes of a rung, None where its lengths are refused: such a rung is left out.
    """
    points: list[tuple[Fraction, float]] = []
    fitting: list[Rung] = []
    for below, rung in zip([None, *rungs[:-1]], rungs, strict=True):
        if below and below.moving != rung.moving:  # another line begins, where this one ends
            points = [point for point in points if point[0] == below.place]
        predicted = _foreseen(points, rung, rungs[-1])
        if predicted > free:
            fitting += [other for other in rungs[:-1] if other.moving == rung.moving and _surely(points, other) <= free]
            return max(fitting, key=lambda rung: rung.place).lengths if fitting else {}, predicted
        if rung is not rungs[-1] and (found := needed(rung.lengths)) is not None:
            points.append((rung.place, found))
            fitting += [rung] if found <= free else []
    return None


def _foreseen(points: Points, rung: Rung, last: Rung) -> float:
    """Bytes that the last rung needs at least, where this one is the next."""
    next_one = _predictions(points, rung)
    enough = len(next_one) == _degree(rung) - LEAST_DEGREE + 1
    so_far = max((needed for _, needed in points), default=0.0)
    return max([so_far, *next_one[-1:], *([min(_predictions(points, last))] if enough else [])])


def _surely(points: Points, rung: Rung) -> float:
    """Bytes that it needs at most."""
    return max(_predictions(points, rung), default=math.inf)


def _degree(rung: Rung) -> int:
    return min(2 * rung.moving, LARGEST_DEGREE)


def _predictions(points: Points, rung: Rung) -> list[float]:
    """By the polynomials of each degree, from the least on, for which there are points enough."""
    degrees = range(LEAST_DEGREE, min(_degree(rung), len(points) - 1) + 1)
    return [_extrapolated(points[-degree - 1 :], rung.place) for degree in degrees]


def _extrapolated(points: Points, place: Fraction) -> float:
    """There, the polynomial through the points (Lagrange, in fractions)."""
    weight = lambda x: math.prod((place - other) / (x - other) for other, _ in points if other != x)
    return float(sum(weight(x) * Fraction(y) for x, y in points))


def _needed(case: Case, size: Size) -> float | None:
    """Bytes of the compiled program that needs most, with its arguments; None if the case refuses the size."""
    try:
        with jax.enable_x64(size.get("dtype") == "float64"), out_of_memory(f"{case.name} at {_said(size)}"):
            programs = [program for program in case.build(**size).programs.values() if program.compiled]
            compiled = [jax.jit(program.function).lower(*program.arguments).compile() for program in programs]
    except (InputError, ShapeError, UnavailableError):  # the size asked for will say so itself, if it is one of them
        return None
    return max(map(needed_bytes, compiled), default=0)


def _said(entries: Size) -> str:
    return ", ".join(f"{name} {value}" for name, value in entries.items())
