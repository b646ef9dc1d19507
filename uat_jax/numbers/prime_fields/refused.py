"""Values that are refused, until it is seen whether they matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from uat_jax.errors import UnsupportedError
from uat_jax.typing import PyTree


class HollowError(UnsupportedError):
    """A quotient by what may be zero for inputs of positive measure was used where an infinity could be lost."""


@dataclass(frozen=True)
class Refused:
    """The result of an operation that cannot be followed for all inputs.

    A selection may show that it is used only where it can be followed.  Everything else raises `error`.

    expression: the place of what computes it.  shape: of the array.
    """

    error: HollowError
    expression: int
    shape: tuple[int, ...]

    def __array__(self, *arguments: PyTree, **options: Any) -> NoReturn:
        raise self.error
