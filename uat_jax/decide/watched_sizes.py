"""Symbolic dimensions that are watched while a function is traced with them.

JAX answers "no" to n == 3 where it cannot tell.  A function that asks behaves at n = 3 in a way that its program with
symbolic dimensions does not show, so that the program stands for the function at other sizes only.  The same is true
if it asks whether a size is a number, how it is written or what its hash is, and if it catches an error of JAX.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import jax

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.constraints import constraints_of

JAX = frozenset(["jax", "jaxlib", "uat_jax"])
"""Packages that compare sizes, and compute the same whatever the answer is."""

HELPERS = sys.stdlib_module_names - {"__main__"} | {"numpy", "opt_einsum", "ml_dtypes"}
"""Packages that compare sizes for whoever calls them."""

COMPARING = frozenset("__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __bool__ __str__ __repr__ __format__".split())
"""Methods of JAX that compare sizes, or look at one, for whoever calls them."""

WRITING = ("__str__", "__repr__", "__format__")
"""Methods that write a size, or an array with its shape."""

LOOKS = ("__hash__", "__bool__", *WRITING)
"""Methods that tell a size from a number, or one size from another."""

ORDERS = ("__lt__", "__le__", "__gt__", "__ge__")
"""Comparisons that raise where JAX cannot tell."""

TELLING = frozenset(
    "type is_symbolic_dim is_constant_dim is_constant_shape definitely_equal definitely_equal_shape typeof aval "
    "get_aval symbolic_shape".split()
)
"""Names in a function that may look at sizes in a way that cannot be watched."""

HARMLESS = (AttributeError, KeyError, StopIteration, GeneratorExit)
"""Errors that say nothing of a size: attributes and hashes of sizes are watched themselves."""

_LOCK = threading.RLock()


def in_new_scope(shapes: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """The shapes with dimensions of a scope that nothing was traced with, under the same constraints.

    What was traced before is remembered by JAX and not traced again, so that no comparison would be seen.
    """
    symbolic = [d for shape in shapes for d in shape if jax.export.is_symbolic_dim(d)]
    scope = jax.export.SymbolicScope(constraints_of(symbolic[0].scope) if symbolic else ())
    renewed = lambda d: jax.export.symbolic_shape(str(d), scope=scope)[0] if jax.export.is_symbolic_dim(d) else d
    return [tuple(map(renewed, shape)) for shape in shapes]


@contextlib.contextmanager
def watched(dimension: Any) -> Iterator[None]:
    """Functions are traced inside; it is an error if one of them may do something else at some size.

    Raises:
        UnsupportedError: one of them made a comparison of sizes that JAX cannot tell, looked at a size as `LOOKS` or
            `TELLING` say, asked for an attribute of a size, or caught an error.  That a size *is* a number, as `is`
            says, cannot be watched.
    """
    watch = _Watch(dimension)
    with _LOCK, watch.installed():
        yield
    if watch.seen:
        raise UnsupportedError(f"a function {watch.seen[0]}, so that it may be another one at some size")


class _Watch:
    """What functions ask of sizes like `dimension`, in this thread, while the watch is installed."""

    def __init__(self, dimension: Any) -> None:
        self.kind: Any = type(dimension)
        self.seen: list[str] = []
        self.thread = threading.get_ident()

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """The methods of sizes report what they are asked, and functions the errors that they catch."""
        methods: dict[str, Callable] = {"__eq__": self._compare(), "__getattribute__": self._attribute()}
        methods |= {name: self._look(name) for name in LOOKS} | {name: self._order(name) for name in ORDERS}
        before = {name: vars(self.kind)[name] for name in methods if name in vars(self.kind)}
        tracer = sys.gettrace()
        for name, method in methods.items():
            setattr(self.kind, name, method)
        sys.settrace(self._entered)
        try:
            yield
        finally:
            sys.settrace(tracer)
            for name in methods:
                setattr(self.kind, name, before[name]) if name in before else delattr(self.kind, name)

    def _asked(self, through: frozenset[str] = COMPARING) -> bool:
        """Whether the method that calls this was called on behalf of code outside of the libraries."""
        return threading.get_ident() == self.thread and _for_user(sys._getframe(2), through)

    def _compare(self) -> Callable:
        original = self.kind.__eq__

        def compare(size: Any, other: object) -> bool:
            answer = original(size, other)
            if not answer and self._asked() and not _differ(size, other):
                self.seen.append("compares sizes")
            return answer

        return compare

    def _order(self, name: str) -> Callable:
        original = getattr(self.kind, name)

        def order(size: Any, other: object) -> bool | None:
            try:
                return original(size, other)
            except Exception:
                if self._asked():
                    self.seen.append("compares sizes")
                raise

        return order

    def _look(self, name: str) -> Callable:
        original = getattr(self.kind, name, lambda size: True)

        def look(size: Any, *more: Any) -> int | str:
            if self._asked():
                self.seen.append("looks at how a size is written, looks it up or takes it for a truth")
            return original(size, *more)

        return look

    def _attribute(self) -> Callable:
        original = self.kind.__getattribute__

        def attribute(size: Any, name: str) -> Any:
            if self._asked(through=frozenset()):
                self.seen.append(f"asks a size for {name}")
            return original(size, name)

        return attribute

    def _entered(self, frame: FrameType, event: str, argument: Any) -> Callable | None:
        """Called by Python for every function that is entered: those of the user are watched for errors."""
        if _package(frame) in JAX or _package(frame) in HELPERS:
            if frame.f_code.co_name in WRITING and _for_user(frame):
                self.seen.append("writes a size or an array as a text")
            return None
        told = TELLING.intersection(frame.f_code.co_names)
        if told:
            self.seen.append(f"uses '{min(told)}'")
        frame.f_trace_lines = False
        return self._left

    def _left(self, frame: FrameType, event: str, argument: Any) -> Callable:
        """Called by Python for errors in a function of the user; if it is not raised to the end, it was caught."""
        if event == "exception" and not issubclass(argument[0], HARMLESS):
            self.seen.append(f"catches {argument[0].__name__}")
        return self._left


def _package(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "").partition(".")[0]


def _for_user(frame: FrameType | None, through: frozenset[str] = COMPARING) -> bool:
    """Whether a frame runs on behalf of code outside of the libraries, be it through these methods of JAX."""
    while frame is not None:
        package = _package(frame)
        if package in JAX:
            if frame.f_code.co_name not in through:
                return False
        elif package not in HELPERS:
            return True
        frame = frame.f_back
    return False


def _differ(size: Any, other: Any) -> bool:
    """Whether JAX can tell that a size differs from another one, or from a number."""
    try:
        return not isinstance(other, int) and not jax.export.is_symbolic_dim(other) or size > other or size < other
    except Exception as error:  # JAX raises where it cannot tell, with an error class that it does not export
        return not re.search("inconclusive", str(error), re.IGNORECASE)
