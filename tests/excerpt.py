"""A part of a table for the ordinary suite, spread evenly; what is left out is a campaign (`pytest -m campaign`)."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest

CAMPAIGNS = True
"""Whether campaigns are among the tests that are collected; a run without them does not make their parameters."""


def one_in(number: int, table: Iterable[Any], kept: Collection[Any] = ()) -> list[Any]:
    """The rows as parameters of a test: the first of every so many as they are, the others as a campaign.

    A tuple fills several parameters.  kept: rows that are never left out.
    """
    values = lambda row: row if isinstance(row, tuple) else (row,)
    left_out = lambda i, row: bool(i % number) and row not in kept
    mark = lambda i, row: pytest.mark.campaign if left_out(i, row) else ()
    rows = ((i, row) for i, row in enumerate(table) if CAMPAIGNS or not left_out(i, row))
    return [pytest.param(*values(row), marks=mark(i, row)) for i, row in rows]
