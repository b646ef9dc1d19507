"""Python's garbage collector while a certificate is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def old_objects_left_alone() -> Iterator[None]:
    """Objects that exist already are not looked through for garbage meanwhile; new ones are.

    Importing JAX leaves several hundred thousand objects.  Looking through them again and again takes a fifth of the
    time of a certificate of large programs, which make many objects of their own.  A caller who has frozen objects
    already is not interfered with.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
