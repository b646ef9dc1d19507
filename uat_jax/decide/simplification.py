"""Simpler numbers in place of a point's entries, as long as the point still has a property.

First blocks of entries are set to 0, then single entries become 0, else ±1, ±2, a smaller whole number or their leading
bits.  A replacement is exact in every floating dtype in which the entry is.  Several points are made simpler side by
side, because a property of many points is tested as fast as of one.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

Move = tuple[np.ndarray, np.ndarray]
"""Which entries of a point are replaced, and by what."""

SIMPLER: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    np.zeros_like,
    np.ones_like,
    lambda x: -np.ones_like(x),
    lambda x: 2 * np.ones_like(x),
    lambda x: -2 * np.ones_like(x),
    lambda x: np.trunc(x / 2) + 0.0,  # −0.0 becomes 0.0
    lambda x: np.trunc(x) + 0.0,
    lambda x: np.where(np.abs(x) <= 16, x - np.sign(x), x),
    lambda x: _leading_bits(x, 2),
    lambda x: _leading_bits(x, 5),
)
"""What an entry may be replaced by, where that is simpler."""

LARGEST_WHOLE = 1024
"""Whole numbers beyond this are no simpler than other numbers."""


@dataclass
class Trials:
    """How to test points: ``holds``: (points, entries) → a boolean per point, at most ``copies`` points at once.

    ``remaining`` counts the calls that are left; ``late()`` says that time is up.
    """

    holds: Callable[[np.ndarray], np.ndarray]
    copies: int
    remaining: int
    late: Callable[[], bool]

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """A boolean per point."""
        return np.concatenate([self.holds(points[i : i + self.copies]) for i in range(0, len(points), self.copies)])

    @property
    def exhausted(self) -> bool:
        """Whether no further test may be made."""
        return self.remaining <= 0 or self.late()


History = tuple[list[np.ndarray], bool]
"""The points on the way, each simpler than the one before, and whether the last is minimal."""

Questions = Generator[np.ndarray, np.ndarray, Any]
"""It asks for the property of points, one per row, and is sent a boolean per row."""


def simplify(point: np.ndarray, trials: Trials) -> History:
    """The points on the way, each simpler than the one before, and whether the last is minimal.

    Minimal: no single entry can be replaced by a simpler number of `SIMPLER`.  `point` is a float64 vector with the
    property; it is the first of the list.
    """
    (found,) = simplify_together([point], trials)
    return found


def simplify_together(points: Sequence[np.ndarray], trials: Trials) -> list[History]:
    """`simplify` for each point, with as many trials for each; what they ask at a time is tested at once."""
    searches = {place: _simplifying(point, replace(trials)) for place, point in enumerate(points)}
    found: dict[int, History] = {}
    answers: dict[int, Any] = dict.fromkeys(searches)  # to what was asked last; a generator is started with None
    while len(found) < len(points):
        asked: dict[int, np.ndarray] = {}
        for place, answer in answers.items():
            try:
                asked[place] = searches[place].send(answer)
            except StopIteration as end:
                found[place] = end.value
        if asked:
            held, ends = trials(np.concatenate([*asked.values()])), np.cumsum([len(rows) for rows in asked.values()])
            answers = dict(zip(asked, np.split(held, ends[:-1]), strict=True))
    return [found[place] for place in searches]


def _simplifying(point: np.ndarray, trials: Trials) -> Questions:
    history, block = [point], len(point)
    while block > 1:
        history.append((yield from _moved(history[-1], _zeros(history[-1], block), trials)))
        block = -(-block // 4)
    while not trials.exhausted:
        simpler = yield from _moved(history[-1], _single_moves(history[-1]), trials)
        if np.array_equal(simpler, history[-1]):
            return history, not trials.exhausted
        history.append(simpler)
    return history, False


def _moved(point: np.ndarray, moves: Iterable[Move], trials: Trials) -> Questions:
    """The point after as many of the moves as go together."""
    moves = iter(moves)
    while not trials.exhausted and (batch := list(islice(moves, trials.copies))):
        batch = _simpler(batch, point)
        good = [batch[i] for i in (yield from _holding(_alone(point, batch), trials))]
        together = _together(point, good)
        for last in (yield from _holding(together, trials))[-1:]:
            point = together[last]
    return point


def _holding(points: np.ndarray, trials: Trials) -> Questions:
    """The rows that have the property."""
    if not len(points):
        return np.array([], int)
    trials.remaining -= 1
    return np.flatnonzero((yield points))


def _applied(point: np.ndarray, move: Move) -> np.ndarray:
    entries, numbers = move
    result = point.copy()
    result[entries] = numbers
    return result


def _alone(point: np.ndarray, moves: Sequence[Move]) -> np.ndarray:
    """The point after each move alone, one per row."""
    return np.array([_applied(point, move) for move in moves])


def _together(point: np.ndarray, moves: Sequence[Move]) -> np.ndarray:
    """The point after the first move, the first two, and so on; of several moves of one entry only the first."""
    rows, taken = [], set()
    for entries, numbers in moves:
        if taken.isdisjoint(entries.tolist()):
            taken.update(entries.tolist())
            rows.append(_applied(rows[-1] if rows else point, (entries, numbers)))
    return np.array(rows)


def _zeros(point: np.ndarray, block: int) -> Iterator[Move]:
    """Blocks of the entries that are not zero, set to zero."""
    entries = np.flatnonzero(point)
    for start in range(0, len(entries), block):
        chosen = entries[start : start + block]
        yield chosen, np.zeros(len(chosen))


def _single_moves(point: np.ndarray) -> Iterator[Move]:
    """Every replacement of one entry by a simpler number, zeros first."""
    rank = _rank(point)
    for simpler in (function(point) for function in SIMPLER):
        for entry in np.flatnonzero(_rank(simpler) < rank):
            yield np.array([entry]), simpler[entry : entry + 1]


def _simpler(moves: Sequence[Move], point: np.ndarray) -> list[Move]:
    """The moves whose every number is simpler than the entry that it replaces."""
    entries, numbers = (np.concatenate(parts) for parts in zip(*moves, strict=True))
    ends = np.cumsum([len(places) for places, _ in moves])
    simpler = np.split(_rank(numbers) < _rank(point[entries]), ends[:-1])
    return [move for move, each in zip(moves, simpler, strict=True) if each.all()]


def _leading_bits(x: np.ndarray, bits: int) -> np.ndarray:
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.trunc(mantissa * 2**bits), exponent - bits)


def _rank(x: np.ndarray) -> np.ndarray:
    """How simple numbers are, less being simpler: whole ones by size, plus before minus; then others by their bits."""
    size = np.abs(x)
    whole, by_size = (x == np.trunc(x)) & (size <= LARGEST_WHOLE), size + 0.5 * (x < 0)
    if whole.all():
        return by_size
    mantissa = (np.abs(np.frexp(x)[0]) * 2.0**53).astype(np.int64)
    trailing_zeros = np.log2(np.maximum(mantissa & -mantissa, 1))
    return np.where(whole, by_size, LARGEST_WHOLE + 54 - trailing_zeros)
