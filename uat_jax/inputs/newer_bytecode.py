"""Portable bytecode of a newer StableHLO, for a reader that does not know all of its operations.

StableHLO 1.18 gave the operation `custom_call` one more attribute, `result_tilings`, and with it a new name,
`custom_call_v2`; JAX 0.10 reads up to `custom_call_v1`.  StableHLO's own downgrade from the one to the other changes
the name and drops the attribute, and is refused unless the attribute is empty.  `downgraded` does this in the bytes.
An operation's attributes lie in the order of their names, so that the new one is the last of nine, and a reader of
eight does not see it.

The format is that of https://mlir.llvm.org/docs/BytecodeFormat: sections, of which the strings, the attributes with
their sizes and the properties of operations are read here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

NEWER, OLDER = b"custom_call_v2", b"custom_call_v1"

PROPERTIES = 9
"""So many attributes an operation `custom_call_v2` has; the last one is `result_tilings`."""

EMPTY_ARRAY = (1, 0)
"""An array of StableHLO's versioned dialect without entries: its code, and how many there are."""

HEADER = 4
"""So many bytes say that it is MLIR's bytecode."""

STRINGS, ATTRIBUTES, SIZES, OF_OPERATIONS = 0, 2, 3, 8
"""Numbers of sections: strings, attributes, the sizes of attributes, the properties of operations."""


class NotReadError(ValueError):
    """Bytes that are no bytecode of a newer version, or that say more than an older version can."""


def downgraded(source: bytes) -> bytes:
    """The bytecode with every `custom_call_v2` as `custom_call_v1`.

    Raises:
        NotReadError: it has no such operation, or one whose results are tiled, or it is cut off.
    """
    try:
        sections = dict(_sections(source))
        start, strings = sections[STRINGS]
        place = _place(strings, NEWER)
        if OLDER in _texts(strings):
            raise NotReadError(f"it has the string {OLDER.decode()!r}")
        if any(_tiled(sections)):
            raise NotReadError("it has a custom_call with result_tilings")
    except (IndexError, KeyError) as error:
        raise NotReadError("it is cut off") from error
    return source[: start + place] + OLDER + source[start + place + len(NEWER) :]


def _number(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at a place, and where it ends: the zeros of its first byte count the bytes that follow."""
    first = data[at]
    if first == 0:
        return int.from_bytes(data[at + 1 : at + 9], "little"), at + 9
    more = (first & -first).bit_length()
    return int.from_bytes(data[at : at + more], "little") >> more, at + more


def _numbers(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        number, at = _number(data, at)
        found.append(number)
    return found


def _sections(source: bytes) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """The number of each section, where it begins, and its bytes."""
    at = source.index(b"\0", _number(source, HEADER)[1]) + 1  # behind the version and the producer's name
    while at < len(source):
        name = source[at]
        size, at = _number(source, at + 1)
        if name & 0x80:  # it is aligned
            alignment, at = _number(source, at)
            at += -at % max(alignment, 1)
        yield name & 0x7F, (at, source[at : at + size])
        at += size


def _lengths(strings: bytes) -> tuple[list[int], int]:
    """The lengths of the strings, with the zeros that end them, and where the first begins."""
    count, at = _number(strings, 0)
    found = []
    for _ in range(min(count, len(strings))):
        length, at = _number(strings, at)
        found.append(length)
    return found[::-1], at  # they are written backwards


def _texts(strings: bytes) -> list[bytes]:
    lengths, at = _lengths(strings)
    found = []
    for length in lengths:
        found.append(strings[at : at + length - 1])
        at += length
    return found


def _place(strings: bytes, text: bytes) -> int:
    """Where a string begins."""
    lengths, at = _lengths(strings)
    texts = _texts(strings)
    if text not in texts:
        raise NotReadError(f"it has no operation {text.decode()}")
    return at + sum(lengths[: texts.index(text)])


def _tiled(sections: dict[int, tuple[int, bytes]]) -> Iterator[bool]:
    """For each operation that has as many attributes, whether the last one is other than an empty array."""
    attributes = _attributes(sections[SIZES][1], sections[ATTRIBUTES][1])
    for properties in _properties(sections[OF_OPERATIONS][1]):
        places = _numbers(properties)
        if len(places) == PROPERTIES:
            yield tuple(_numbers(attributes[places[-1]])) != EMPTY_ARRAY


def _attributes(sizes: bytes, data: bytes) -> Sequence[bytes]:
    """The bytes of each attribute: dialects follow each other, each with how many it has, and the size of each."""
    count, at = _number(sizes, 0)
    _, at = _number(sizes, at)  # how many types there are
    found, start = [], 0
    while len(found) < count:
        _, at = _number(sizes, at)  # the dialect
        of_dialect, at = _number(sizes, at)
        for _ in range(of_dialect):
            size, at = _number(sizes, at)
            found.append(data[start : start + (size >> 1)])  # the last bit says how it is encoded
            start += size >> 1
    return found


def _properties(data: bytes) -> Iterator[bytes]:
    """The properties of each operation; equal ones are written once."""
    count, at = _number(data, 0)
    for _ in range(min(count, len(data))):
        size, at = _number(data, at)
        yield data[at : at + size]
        at += size
