"""Python's garbage collector while a certificate is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 100
"""After so many collections of what has lived through one, instead of ten, everything that is new is looked through."""


@contextmanager
def old_objects_left_alone() -> Iterator[None]:
    """Objects that exist already are not looked through for garbage meanwhile; new ones are.

    Importing JAX leaves several hundred thousand objects.  Looking through them again and again takes a fifth of the
    time of a certificate of large programs, which make many objects of their own; those that stay, such as equations,
    are looked through more seldom than Python does, which takes another twelfth.  A caller who has frozen objects
    already is not interfered with.
    """
    if gc.get_freeze_count():
        yield
        return
    young, middle, old = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(young, middle, max(old, SELDOM))
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
        gc.unfreeze()
