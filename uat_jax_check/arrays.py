"""Arrays as lists of entries, and rearrangements: from where each entry of a result comes.

An entry is an `int` (integers; booleans are 0 and 1), a `Fraction` (a real number that is known), one of the floats
inf, -inf and nan, or a number of the number system in which a program is evaluated.
"""

import base64
import binascii
import itertools
import math
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from uat_jax_check.document import NotDecided, Refused, usable

INTEGERS = {"bool": (1, False)} | {f"{s}int{b}": (b, not s) for s in ("", "u") for b in (8, 16, 32, 64)}
"""Name of a dtype -> its width in bits, and whether it is signed."""
FLOATS = {"float16": ("e", 5, 10), "bfloat16": ("f", 8, 7), "float32": ("f", 8, 23), "float64": ("d", 11, 52)}
"""Name of a dtype -> its letter in `struct`, the bits of its exponent and of its fraction."""
ENTRIES = 2**20
AXES = 16

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Array:
    """Entries in the order of C."""

    dtype: str
    shape: Shape
    entries: list[Any]

    def grid(self) -> Iterable[Shape]:
        """All places of an entry, in order."""
        return places(self.shape)


def places(shape: Sequence[int]) -> Iterable[Shape]:
    """All places in a shape, in the order of C."""
    return itertools.product(*map(range, shape))


def strides(shape: Sequence[int]) -> list[int]:
    """By how many entries a step along each axis moves."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def flat(place: Sequence[int], steps: Sequence[int]) -> int:
    """The number of an entry."""
    return sum(i * s for i, s in zip(place, steps, strict=True))


def read_type(data: Any) -> tuple[str, Shape]:
    """The dtype and the shape of [dtype, [axis, ...]]."""
    usable(isinstance(data, list) and len(data) == 2 and isinstance(data[0], str), "a type is not [dtype, shape]")
    name, shape = data
    usable(isinstance(shape, list) and len(shape) <= AXES, "a shape is no short list")
    usable(re.fullmatch(r"[A-Za-z0-9_]{1,32}", name), "the name of a dtype is none")
    if name not in INTEGERS and name not in FLOATS or any(isinstance(n, str) for n in shape):
        raise NotDecided(f"arrays {name}{shape}"[:100])
    usable(all(type(n) is int and 0 <= n <= ENTRIES for n in shape), "a shape has an axis that is none")
    usable(math.prod(shape) <= ENTRIES, f"an array has more than {ENTRIES} entries")
    return name, tuple(shape)


def read_array(data: Any, constant: Callable[[Fraction, str], Any]) -> Array:
    """The array of [dtype, shape, base64]; `constant` says what a float stands for."""
    usable(
        isinstance(data, list) and len(data) == 3 and isinstance(data[2], str), "an array is not [dtype, shape, text]"
    )
    name, shape = read_type(data[:2])
    try:
        content = base64.b64decode(data[2], validate=True)
    except (binascii.Error, ValueError):
        usable(False, "the entries of an array are not base64")
        raise
    width = max(INTEGERS[name][0] // 8, 1) if name in INTEGERS else (1 + sum(FLOATS[name][1:])) // 8
    count = math.prod(shape)
    usable(len(content) in (count * width, min(count, 1) * width), "an array has not the bytes of its shape")
    numbers = [_entry(content[i : i + width], name, constant) for i in range(0, len(content), width)]
    return Array(name, shape, numbers if len(numbers) == count else numbers * count)


def _entry(content: bytes, name: str, constant: Callable[[Fraction, str], Any]) -> Any:
    if name in INTEGERS:
        value = int.from_bytes(content, "little", signed=INTEGERS[name][1])
        usable(name != "bool" or value in (0, 1), "a boolean is neither 0 nor 1")
        return value
    padded = b"\0\0" + content if name == "bfloat16" else content
    (value,) = struct.unpack("<" + FLOATS[name][0], padded)
    return constant(Fraction(value), name) if math.isfinite(value) else value


def rounded(value: Fraction, name: str) -> Fraction | None:
    """The float of a dtype that is nearest to a number, None if there is none."""
    letter, _, bits = FLOATS[name]
    try:
        (near,) = struct.unpack("<" + letter, struct.pack("<" + letter, float(value)))
    except OverflowError:
        return None
    if name != "bfloat16" or not near:
        return Fraction(near) if math.isfinite(near) else None
    unit = Fraction(2) ** (math.frexp(near)[1] - 1 - bits)
    return round(value / unit) * unit


def is_integer(array: Array) -> bool:
    """Whether all entries are integers or booleans that are known."""
    return all(type(v) is int for v in array.entries)


# Rearrangements: for every entry of the result the number of an entry of the operands, put one after the other


def moved(arrays: Sequence[Array], shape: Sequence[int], source: Iterable[int]) -> Array:
    """The array whose entries are those of the operands at the numbers given."""
    together = arrays[0].entries if len(arrays) == 1 else [v for a in arrays for v in a.entries]
    return Array(arrays[0].dtype, tuple(shape), [together[i] for i in source])


def transpose(x: Array, order: Sequence[int]) -> Array:
    """The axes in another order."""
    if sorted(order) != list(range(len(x.shape))):
        raise Refused("a transposition by what is no permutation")
    shape, steps = [x.shape[i] for i in order], strides(x.shape)
    own = [steps[i] for i in order]
    return moved([x], shape, (flat(p, own) for p in places(shape)))


def broadcast(x: Array, shape: Sequence[int], axes: Sequence[int]) -> Array:
    """Axis i of the operand becomes the given axis; an axis of length 1 is repeated."""
    if len(axes) != len(x.shape) or any(not 0 <= a < len(shape) for a in axes) or len(set(axes)) != len(axes):
        raise Refused("a broadcast along axes that are none")
    if any(n not in (1, shape[a]) for n, a in zip(x.shape, axes, strict=True)):
        raise Refused("a broadcast to a shape that does not fit")
    own = [0] * len(shape)
    for n, a, step in zip(x.shape, axes, strides(x.shape), strict=True):
        own[a] = step if n != 1 else 0
    return moved([x], shape, (flat(p, own) for p in places(shape)))


def cut(x: Array, start: Sequence[int], stop: Sequence[int], step: Sequence[int]) -> Array:
    """x[start:stop:step], which must lie within x."""
    rank = len(x.shape)
    if not len(start) == len(stop) == len(step) == rank:
        raise Refused("a slice with another number of axes")
    if any(not 0 <= a <= b <= n or s < 1 for a, b, s, n in zip(start, stop, step, x.shape, strict=True)):
        raise Refused("a slice beyond its array")
    shape = [-(-(b - a) // s) for a, b, s in zip(start, stop, step, strict=True)]
    steps = strides(x.shape)
    first = flat(start, steps)
    own = [s * t for s, t in zip(step, steps, strict=True)]
    return moved([x], shape, (first + flat(p, own) for p in places(shape)))


def reverse(x: Array, axes: Sequence[int]) -> Array:
    """The entries backwards along some axes."""
    steps = strides(x.shape)
    turn = lambda p: [n - 1 - i if a in axes else i for a, (i, n) in enumerate(zip(p, x.shape, strict=True))]
    return moved([x], x.shape, (flat(turn(p), steps) for p in x.grid()))


def concatenate(arrays: Sequence[Array], axis: int) -> Array:
    """The arrays one after the other along an axis."""
    rest = lambda a: a.shape[:axis] + a.shape[axis + 1 :]
    if not all(0 <= axis < len(a.shape) and rest(a) == rest(arrays[0]) for a in arrays):
        raise Refused("arrays put together that do not fit")
    shape = list(arrays[0].shape)
    shape[axis] = sum(a.shape[axis] for a in arrays)
    steps, offset, starts = [strides(a.shape) for a in arrays], 0, []
    for number, a in enumerate(arrays):
        starts += [(number, offset, i) for i in range(a.shape[axis])]
        offset += len(a.entries)

    def source(place: Shape) -> int:
        number, first, i = starts[place[axis]]
        return first + flat((*place[:axis], i, *place[axis + 1 :]), steps[number])

    return moved(arrays, shape, map(source, places(shape)))


def pad(x: Array, value: Array, config: Sequence[Sequence[int]]) -> Array:
    """low, high and interior padding along each axis; negative padding cuts."""
    if len(config) != len(x.shape) or any(len(c) != 3 or c[2] < 0 for c in config):
        raise Refused("a padding with another number of axes")
    shape = [lo + hi + n + max(n - 1, 0) * mid for n, (lo, hi, mid) in zip(x.shape, config, strict=True)]
    usable(all(n >= 0 for n in shape) and math.prod(shape) <= ENTRIES, "a padding to a shape that is none")
    steps = strides(x.shape)

    def source(place: Shape) -> int:
        within = [divmod(i - lo, mid + 1) for i, (lo, _, mid) in zip(place, config, strict=True)]
        inside = all(not r and 0 <= q < n for (q, r), n in zip(within, x.shape, strict=True))
        return flat([q for q, _ in within], steps) if inside else len(x.entries)

    return moved([x, value], shape, map(source, places(shape)))


def lines(x: Array, axes: Sequence[int]) -> tuple[Shape, list[list[Any]]]:
    """The entries along some axes, for every place along the others, and the shape of the others."""
    if len(set(axes)) != len(axes) or any(not 0 <= a < len(x.shape) for a in axes):
        raise Refused("axes that are none")
    kept = [a for a in range(len(x.shape)) if a not in axes]
    turned, length = transpose(x, [*kept, *axes]), math.prod(x.shape[a] for a in axes)
    count = math.prod(x.shape[a] for a in kept)
    return tuple(x.shape[a] for a in kept), [turned.entries[i * length : (i + 1) * length] for i in range(count)]


def along(x: Array, axis: int, function: Callable[[list[Any]], list[Any]], each: Callable[[Any], Any] = iter) -> Array:
    """What a function makes of every line along an axis; ``each`` goes through the lines."""
    kept, rows = lines(x, [axis])
    entries = [v for row in each(rows) for v in function(row)]
    order = list(range(len(kept)))
    return transpose(Array(x.dtype, (*kept, x.shape[axis]), entries), [*order[:axis], len(kept), *order[axis:]])


def windows(shape: Sequence[int], sizes: Any, steps: Any, padding: Any, base: Any, dilation: Any) -> list[list[int]]:
    """For every place of a window the numbers of the entries under it, -1 where there is none, and in C's order."""
    per_axis = []
    for n, w, s, (lo, hi), b, d in zip(shape, sizes, steps, padding, base, dilation, strict=True):
        spread = (n - 1) * b + 1 if n else 0
        count = max((spread + lo + hi - (w - 1) * d - 1) // s + 1, 0)
        usable(count * w <= ENTRIES, "windows that are too many")
        seen = [[o * s + k * d - lo for k in range(w)] for o in range(count)]
        per_axis.append([[i // b if 0 <= i < spread and i % b == 0 else -1 for i in window] for window in seen])
    own = strides(shape)
    number = lambda place: -1 if any(i < 0 for i in place) else flat(place, own)
    return [[number(p) for p in itertools.product(*window)] for window in itertools.product(*per_axis)]


def gathered(shape: Shape, index: Array, sizes: Any, mode: str, names: dict[str, Any]) -> tuple[Shape, list[int]]:
    """XLA's gather: the shape of the result, and for each entry its number in the operand, -1 where it lies outside."""
    offset, collapsed = names["offset"], names["collapsed"]
    batching, of_index, places_of = names["batching"], names["index_batching"], names["map"]
    usable(len(sizes) == len(shape) and index.shape and len(places_of) == index.shape[-1], "a gather that does not fit")
    usable(all(0 <= a < len(shape) for a in (*collapsed, *batching, *places_of)), "a gather along axes that are none")
    usable(all(0 <= z <= n for z, n in zip(sizes, shape, strict=True)), "a gather of slices that are too long")
    batch = index.shape[:-1]
    usable(all(0 <= a < len(batch) for a in of_index), "a gather along axes that are none")
    kept = [a for a in range(len(shape)) if a not in collapsed and a not in batching]
    rank, steps = len(batch) + len(kept), strides(shape)
    usable(len(offset) == len(kept) and all(0 <= a < rank for a in offset), "a gather whose result does not fit")
    outer = [a for a in range(rank) if a not in offset]
    result = [0] * rank
    for a, n in zip([*outer, *offset], [*batch, *(sizes[k] for k in kept)], strict=True):
        result[a] = n
    usable(math.prod(result) <= ENTRIES, "a gather of too many entries")
    index_steps = strides(index.shape)

    def source(place: Shape) -> int:
        at = [place[a] for a in outer]
        start = [0] * len(shape)
        for j, axis in enumerate(places_of):
            start[axis] = index.entries[flat([*at, j], index_steps)]
        for axis, b in zip(batching, of_index, strict=True):
            start[axis] = at[b]
        room = [n - z for n, z in zip(shape, sizes, strict=True)]
        if mode == "CLIP":
            start = [min(max(i, 0), n) for i, n in zip(start, room, strict=True)]
        elif any(not 0 <= i <= n for i, n in zip(start, room, strict=True)):
            return -1
        for a, k in zip(offset, kept, strict=True):
            start[k] += place[a]
        return flat(start, steps)

    return tuple(result), [source(p) for p in places(result)]
