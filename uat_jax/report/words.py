"""Tokens as people read them."""

from __future__ import annotations


def as_read(token: str) -> str:
    """A token with a blank for Ġ and ▁, and a mark for the end of a line; one that would be empty is a blank.

    Example:
        ``as_read("Ġknown")`` is ``" known"``.
    """
    return token.replace("Ġ", " ").replace("▁", " ").replace("Ċ", "⏎") or " "
