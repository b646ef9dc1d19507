"""Modules of the package imported when they are used, and those that have another name now."""

from __future__ import annotations

import gc
import importlib
import sys
from types import ModuleType

MOVED = {
    "arithmetic": "interpret and uat_jax.numbers",
    "certify": "decide",
    "claims": "ledger",
    "indexed": "numbers.indexed",
    "loops": "decide.loops",
    **{
        f"cli_{name}": f"cli.{name}"
        for name in ("bench", "certify", "completion", "decompose", "hosts", "ledger", "options", "recheck")
    },
}
"""Packages and modules of before, two of which are functions now, and where what was in them is."""


class _Moved:
    """The last to be asked for a module: says where one of before is."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Nothing.  Raises `ModuleNotFoundError` for a module of a package that was moved."""
        package, _, module = name.partition(".")
        if package == "uat_jax" and module in MOVED:
            text = f"there is no module {name} any more; what was in it is in uat_jax.{MOVED[module]}"
            raise ModuleNotFoundError(text, name=name)


sys.meta_path.append(_Moved)


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
