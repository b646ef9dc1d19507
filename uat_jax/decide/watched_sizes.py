"""Symbolic dimensions whose comparisons are watched while a function is traced.

JAX answers "no" to n == 3 where it cannot tell.  A function that asks behaves at n = 3 in a way that its program with
symbolic dimensions does not show, so that the program stands for the function at other sizes only.  Inequalities that
cannot be told are errors of JAX already.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import jax

from uat_jax.errors import UnsupportedError

LIBRARIES = frozenset("jax jaxlib numpy opt_einsum functools".split())
"""Packages that compare sizes, and compute the same whatever the answer is."""

ORDERS = ("__lt__", "__le__", "__gt__", "__ge__")
"""Comparisons that raise where JAX cannot tell, which a function may catch."""

LOOKS = ("__hash__", "__str__", "__repr__", "__format__")
"""What tells a size from a number: a function may look at it and do something else at numbers."""

_LOCK = threading.RLock()


def in_new_scope(shapes: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """The shapes with dimensions of a scope that nothing was traced with, under the same constraints.

    What was traced before is remembered by JAX and not traced again, so that no comparison would be seen.
    """
    symbolic = [d for shape in shapes for d in shape if jax.export.is_symbolic_dim(d)]
    scope = jax.export.SymbolicScope(_constraints(symbolic[0].scope) if symbolic else ())
    renewed = lambda d: jax.export.symbolic_shape(str(d), scope=scope)[0] if jax.export.is_symbolic_dim(d) else d
    return [tuple(map(renewed, shape)) for shape in shapes]


def _constraints(scope: Any) -> list[str]:
    """The constraints of a scope, as it prints them."""
    _, found, listed = str(scope).partition("with constraints:\n")
    return [line.strip() for line in listed.splitlines()] if found else []


@contextlib.contextmanager
def watched(dimension: Any) -> Iterator[None]:
    """A comparison of sizes like this one that JAX cannot tell is an error at the end, whatever the function did then.

    Raises:
        UnsupportedError: the traced function made one, looked a size up in a dict or set, wrote it as a text, or asked
            by isinstance whether it is a number.  (What `type` says of it cannot be watched.)
    """
    kind: Any = type(dimension)
    asked, thread = [], threading.get_ident()
    equal, attribute = kind.__eq__, kind.__getattribute__

    def by_user() -> bool:
        return threading.get_ident() == thread and _by_user(sys._getframe(2))

    def compare(self: Any, other: Any) -> Any:
        answer = equal(self, other)
        if not answer and by_user() and not _differ(self, other):
            asked.append(f"compares the size {self} with {other}")
        return answer

    def look(name: str) -> Any:
        original = getattr(kind, name)

        def looked(self: Any, *arguments: Any) -> Any:
            if by_user():
                asked.append("looks at how a size is written or looks it up")
            return original(self, *arguments)

        return looked

    def look_for(self: Any, name: str) -> Any:
        if name == "__class__" and by_user():
            asked.append("asks whether a size is a number")
        return attribute(self, name)

    def ordered(name: str) -> Any:
        """An order of sizes, which raises where JAX cannot tell: a function may catch that."""
        original = getattr(kind, name)

        def order(self: Any, other: Any) -> Any:
            try:
                return original(self, other)
            except Exception:
                if by_user():
                    asked.append(f"compares the size {self} with {other}")
                raise

        return order

    watching = {"__eq__": compare, "__getattribute__": look_for}
    watching |= {name: ordered(name) for name in ORDERS} | {name: look(name) for name in LOOKS}
    before = {name: getattr(kind, name) for name in watching}
    with _LOCK:
        for name, method in watching.items():
            setattr(kind, name, method)
        try:
            yield
        finally:
            for name, method in before.items():
                setattr(kind, name, method)
    if asked:
        raise UnsupportedError(f"a function {asked[0]}, so that it may be another one at some size")


def _by_user(frame: Any) -> bool:
    """Whether code outside of the libraries, and of this package, runs in a frame."""
    return frame.f_globals.get("__name__", "").partition(".")[0] not in LIBRARIES | {"uat_jax"}


def _differ(size: Any, other: Any) -> bool:
    """Whether JAX can tell that a size differs from another one, or from a number."""
    try:
        return not isinstance(other, int) and not jax.export.is_symbolic_dim(other) or size > other or size < other
    except Exception as error:  # JAX raises where it cannot tell, with an error class that it does not export
        return not re.search("inconclusive", str(error), re.IGNORECASE)
