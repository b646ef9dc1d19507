"""A part of a table for the ordinary suite, spread evenly; what is left out is a campaign (`pytest -m campaign`)."""

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(number: int, table: Iterable[Any]) -> list[Any]:
    """The rows as parameters of a test: the first of every so many as they are, the others as a campaign.

    A tuple fills several parameters.
    """
    values = lambda row: row if isinstance(row, tuple) else (row,)
    mark = lambda i: pytest.mark.campaign if i % number else ()
    return [pytest.param(*values(row), marks=mark(i)) for i, row in enumerate(table)]
