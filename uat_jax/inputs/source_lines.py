"""Operations that are read say where they were written: in the model's own file, not in the reader's.

JAX remembers, with every equation, the Python calls in which it arose.  The call of a rule is made from code that bears
the file and the line of the operation, so that messages name these.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable
from types import CodeType
from typing import Any


def called_at(place: tuple[str, int] | None, function: Callable[[], Any]) -> Any:
    """What a function returns, called from a file and a line; as usual if there is no place."""
    if place is None:
        return function()
    return eval(_code(*place), {"function": function})


@functools.lru_cache(maxsize=1 << 13)
def _code(file: str, line: int) -> CodeType:
    """The code `function()`, as it would be if it stood there."""
    tree = ast.increment_lineno(ast.parse("function()", mode="eval"), line - 1)
    return compile(tree, file, "eval")


def of_location(location: str, name: str) -> tuple[str, int] | None:
    """File and line that an MLIR location names, such as loc("model.py":12:4); "-" is the text that was read."""
    found = re.search(r'"([^"]+)":(\d+):\d+', location)
    return None if found is None else (name if found[1] == "-" else found[1], int(found[2]))


def of_stack(trace: str | None) -> tuple[str, int] | None:
    """File and line of the last call in a stack trace as PyTorch keeps it."""
    found = re.findall(r'File "([^"]+)", line (\d+)', trace or "")
    return (found[-1][0], int(found[-1][1])) if found else None
