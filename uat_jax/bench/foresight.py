"""Will a size fit into memory?  Predicted from smaller ones before it is built.

The lengths asked for are doubled together, rung by rung, from where they are short. What a program needs is a
polynomial in them whose coefficients are not negative, so that from one rung to the next it grows by a factor that
never falls: by the last one, every higher rung needs as much as predicted, at least. The climb stops as soon as the
size asked for is predicted not to fit; the highest rung that is predicted to fit by then is the one to try.

Compiled programs and their arguments are foreseen; programs of the host are not, nor are they run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

import jax

from uat_jax.bench.case import Case, Size, UnavailableError
from uat_jax.byte_sizes import size_text
from uat_jax.decide.memory import free_bytes, needed_bytes
from uat_jax.devices import default_device
from uat_jax.errors import InputError, MemoryLimitError, ShapeError

START = 8
"""The climb begins between this and twice this."""
SMALL = 4 * START
"""An entry this small is built without asking."""

Lengths = Mapping[str, int]


class Refusal(NamedTuple):
    """What the lengths asked for need at least, and the longest that would fit by the same count, if there are any."""

    needed: float
    fits: Lengths | None


def check_memory(case: Case, size: Size, names: Collection[str]) -> None:
    """Raise `MemoryLimitError` if a size is predicted not to fit on JAX's default device.

    The entries of these names are climbed, where they are whole numbers and longer than `SMALL`; the error names what
    of them would fit.
    """
    lengths = {name: size[name] for name in names if isinstance(size[name], int) and size[name] > SMALL}
    if not lengths or not case.compiled:
        return
    device = default_device()
    free = free_bytes(device)
    refusal = climb(lambda rung: _needed(case, {**size, **rung}), lengths, free)
    if refusal is not None:
        needs = f"{case.name} at {_said(lengths)} needs {size_text(refusal.needed)} of memory at least"
        advice = f"by the same count {_said(refusal.fits)} would fit" if refusal.fits else "take less"
        raise MemoryLimitError(f"{needs}, and {device.device_kind} has {size_text(free)} free; {advice}")


def climb(needed: Callable[[Lengths], float | None], lengths: Lengths, free: float) -> Refusal | None:
    """None if the lengths are not predicted to need more than is free.

    ``needed`` gives the bytes of a rung, None where its lengths are refused: such a rung is left out.
    """
    rungs = ladder(lengths)
    top, found = len(rungs) - 1, {}
    for place, rung in enumerate(rungs[:-1]):
        needs = needed(rung)
        if needs is None:
            continue
        found[place] = needs
        if _at_least(found, top) > free:
            fitting = (rung for place, rung in enumerate(rungs) if _at_least(found, place) <= free)
            return Refusal(_at_least(found, top), max(fitting, key=rungs.index, default=None))
    return None


def ladder(lengths: Lengths) -> list[Lengths]:
    """Lengths that double together from rung to rung, from near `START` up to those given.

    The shorter lengths stay at their start on the lower rungs.
    """
    height = max(n // START for n in lengths.values()).bit_length() - 1
    lowest = {name: n >> max(0, (n // START).bit_length() - 1) for name, n in lengths.items()}
    return [{name: max(lowest[name], n >> down) for name, n in lengths.items()} for down in range(height, -1, -1)]


def _at_least(found: Mapping[int, float], place: int) -> float:
    """The bytes to expect at a place on the ladder: the last rung's, grown on by the factor between the last two rungs.

    Of one rung alone its own bytes are returned.
    """
    (last, needs), *before = reversed(list(found.items()))
    if not before:
        return needs
    (earlier, needed), *_ = before
    return needs * (needs / needed) ** ((place - last) / (last - earlier)) if needed else needs


def _needed(case: Case, size: Size) -> float | None:
    """Bytes of the compiled program that needs most, with its arguments; None if the case refuses the size."""
    try:
        with jax.enable_x64(size.get("dtype") == "float64"), out_of_memory(f"{case.name} at {_said(size)}"):
            programs = [program for program in case.build(**size).programs.values() if program.compiled]
            compiled = [jax.jit(program.function).lower(*program.arguments).compile() for program in programs]
    except (InputError, ShapeError, UnavailableError):  # the size asked for will say so itself, if it is one of them
        return None
    return max(map(needed_bytes, compiled), default=0)


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


def _said(entries: Size) -> str:
    return ", ".join(f"{name} {value}" for name, value in entries.items())
