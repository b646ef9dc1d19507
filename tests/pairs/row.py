"""A line of the tables of libraries and of rules: a pair, and whether its gradients count."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .pair import Pair


@dataclass(frozen=True)
class Row(Pair):
    """A pair whose left side is what is found in a library or a compiler, and whose right side is written plainly.

    Attributes:
        gradient: whether the gradients with respect to all inputs are compared as well, in a question of their own.
        almost_everywhere: the gradients differ at ties, where each side has a convention of its own.
    """

    gradient: bool = False
    almost_everywhere: bool = False


def row(
    name: str,
    left: Callable[..., Any],
    right: Callable[..., Any],
    specs: tuple[Any, ...],
    wrong: Mapping[str, Callable[..., Any]],
    gradient: bool = False,
    almost_everywhere: bool = False,
    single: bool = False,
) -> Row:
    """A line of a table; see `Row`."""
    return Row(name, left, right, specs, wrong, gradient=gradient, almost_everywhere=almost_everywhere, single=single)
