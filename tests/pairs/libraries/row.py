"""One function of an installed library, the same function written plainly, and realistic mistakes beside it."""

import importlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..pair import Pair

EXTRA = "pip install 'uat_jax[libraries]'"
"""What brings every library of the tables."""


@dataclass(frozen=True)
class Row(Pair):
    """A pair whose left side is a library's function and whose right side is written from the mathematics.

    Attributes:
        gradient: whether the gradients with respect to all inputs are compared as well, in a question of their own.
        almost_everywhere: the gradients differ at ties, where each side has a convention of its own.
        single: the library computes in float32 whatever its inputs are.
    """

    gradient: bool = False
    almost_everywhere: bool = False
    single: bool = False


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
    conventions = {"gradient": gradient, "almost_everywhere": almost_everywhere, "single": single}
    return Row(name, left, right, specs, wrong, **conventions)


def library(module: str) -> Any:
    """A module of an installed library; what libraries warn of while they are imported is not ours to mend.

    Raises:
        ModuleNotFoundError: it is not installed; the message says what to install.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"got no module {error.name}, which this table needs: {EXTRA}") from None
