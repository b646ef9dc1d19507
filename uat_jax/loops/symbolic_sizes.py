"""Functions traced with symbolic sizes: whether they ask in Python which number a size is.

JAX answers `n == 77` with False for a symbolic n, so that the branch of a function which is taken at 77 is in no trace.
Such a question, asked outside of JAX, is noticed here; what a function does at a symbolic size is then not what it does
at every number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax

from uat_jax.arithmetic.tracing import LIBRARY
from uat_jax.errors import UnsupportedError


@contextmanager
def no_questions(name: str) -> Iterator[None]:
    """A context in which a function is traced with symbolic sizes.

    Raises:
        UnsupportedError: at its end, if code outside of JAX compared a symbolic size with a number that it may be.
    """
    kind: Any = type(jax.export.symbolic_shape("n")[0])
    kept, asked = (kind.__eq__, kind.__ne__), list[str]()

    def watched(answer: Callable, way: str) -> Callable:
        def compare(self: Any, other: Any) -> Any:
            found = answer(self, other)
            caller = sys._getframe(1)
            outside = not caller.f_code.co_filename.startswith(LIBRARY)
            if found is (way == "!=") and outside and _may_be(self, other):
                asked.append(f"{self} {way} {other} at line {caller.f_lineno}")
            return found

        return compare

    kind.__eq__, kind.__ne__ = watched(kept[0], "=="), watched(kept[1], "!=")
    try:
        yield
    finally:
        kind.__eq__, kind.__ne__ = kept
    if asked:
        raise UnsupportedError(
            f"{name} asks whether {asked[0]}, which is not the same for all sizes; list sizes, or do without the branch"
        )


def _may_be(size: Any, other: Any) -> bool:
    """Whether a symbolic size may be another one, or a number, though it is not so written."""
    if not (isinstance(other, int) or jax.export.is_symbolic_dim(other)):
        return False
    for one, two in ((size, other), (other, size)):
        try:
            if one > two:
                return False
        except Exception:  # JAX does not know
            continue
    return True
