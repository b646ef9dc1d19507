"""A part of a table for the ordinary suite, spread evenly; what is left out is a campaign (`pytest -m campaign`)."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def one_in(number: int, table: Iterable[Any], kept: Collection[Any] = ()) -> list[Any]:
    """The rows as parameters of a test: the first of every so many as they are, the others as a campaign.

    A tuple fills several parameters.  kept: rows that are never left out.
    """
    values = lambda row: row if isinstance(row, tuple) else (row,)
    mark = lambda i, row: pytest.mark.campaign if i % number and row not in kept else ()
    return [pytest.param(*values(row), marks=mark(i, row)) for i, row in enumerate(table)]
