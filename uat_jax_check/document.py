"""Reading a file that nobody vouches for: bounded in size, depth, time and memory, and JSON in the narrowest sense."""

import json
import re
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FILE_BYTES = 2**25
NESTING = 64
DIGITS = 100
SECONDS = 60
MEMORY_BYTES = 2**32


class Unusable(Exception):
    """The file is no certificate, or takes more than the limits allow: exit code 2."""


class Refused(Exception):
    """The file claims something that is not so: exit code 1."""


class NotDecided(Exception):
    """This checker does not know whether it is so: exit code 1 as well, with another word."""


def usable(condition: Any, otherwise: str) -> None:
    """Raise `Unusable` unless a condition holds."""
    if not condition:
        raise Unusable(otherwise)


def read(path: str) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        Unusable: it is too long, too deep, no UTF-8, no JSON; a key stands twice; a number is NaN, infinite or long.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(FILE_BYTES + 1)
    except OSError as error:
        raise Unusable(f"it cannot be read ({error.strerror})") from None
    usable(len(content) <= FILE_BYTES, f"it is longer than {FILE_BYTES} bytes")
    try:
        text = content.decode("utf-8")
        usable(_depth(text) <= NESTING, f"it is nested more than {NESTING} deep")
        data = json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
        )
    except (ValueError, RecursionError) as error:
        raise Unusable(f"it is no JSON ({' '.join(str(error).split())[:100]})") from None
    usable(isinstance(data, dict), "it is no JSON object, wanted a certificate as uat_jax saves it")
    return data


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def _depth(text: str) -> int:
    """How deep brackets lie in each other, outside strings."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", _STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    usable(len(data) == len(pairs), "a key stands twice in one object")
    return data


def _integer(text: str) -> int:
    usable(len(text) <= DIGITS, f"an integer has more than {DIGITS} digits")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    usable(len(text) <= DIGITS and abs(value) != float("inf"), f"{text[:20]} is no finite number")
    return value


def _constant(text: str) -> float:
    raise Unusable(f"{text} is no number of JSON")


def _held() -> int:
    """The bytes of address space that this process has already, where the system says so, as Linux does."""
    try:
        with open("/proc/self/statm", encoding="ascii") as numbers:
            return int(numbers.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


@contextmanager
def limits() -> Iterator[None]:
    """Time and memory for one file; what takes more ends in `Unusable`."""

    def over(*_: Any) -> None:
        raise Unusable(f"it takes more than {SECONDS} seconds of processor time")

    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _held() + MEMORY_BYTES
    bounded = most if hard == resource.RLIM_INFINITY else min(hard, most)
    resource.setrlimit(resource.RLIMIT_AS, (bounded, hard))
    previous = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    except MemoryError:
        raise Unusable(f"it takes more than {MEMORY_BYTES} bytes of memory") from None
    except RecursionError:
        raise Unusable("it is nested too deep to be followed") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))
