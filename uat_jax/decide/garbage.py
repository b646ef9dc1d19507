"""Python's garbage collector while a certificate is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 100
"""After so many collections of what has lived through one, instead of ten, everything that is new is looked through."""


_frozen = False
"""Whether objects are known to be frozen: while a certificate is made, or once the caller was seen to freeze some.

Python finds out by counting them, which takes longer than a small certificate where they are a million.
"""


@contextmanager
def old_objects_left_alone() -> Iterator[None]:
    """Objects that exist already are not looked through for garbage meanwhile; new ones are.

    Importing JAX leaves several hundred thousand objects.  Looking through them again and again takes a fifth of the
    time of a certificate of large programs, which make many objects of their own; those that stay, such as equations,
    are looked through more seldom than Python does, which takes another twelfth.  A caller who has frozen objects
    already is not interfered with.
    """
    global _frozen
    if _frozen or gc.get_freeze_count():
        _frozen = True
        yield
        return
    young, middle, old = gc.get_threshold()
    gc.freeze()
    _frozen = True
    gc.set_threshold(young, middle, max(old, SELDOM))
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
        gc.unfreeze()
        _frozen = False
