"""Modules of the package imported when they are used."""

from __future__ import annotations

import gc
import importlib
from types import ModuleType


def imported(module: str) -> ModuleType:
    """A module, imported without a look for garbage.

    What modules define stays: to look for garbage among it takes a quarter of the time.
    """
    sought = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(module)
    finally:
        if sought:
            gc.enable()
