"""Functions by name, as the command line takes them: "module:function"."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

from uat_jax.errors import InputError


def named_function(name: str) -> Callable:
    """The function that "package.module:name" or "module:Class.method" stands for, looked for here and on the path.

    Raises:
        InputError: no such module or name, the module fails to import, or what it names cannot be called.
    """
    module, _, path = name.partition(":")
    if not module or not path:
        raise InputError(f"got {name!r} for a function; write module:function, such as my_model:attention")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # whatever the module raises is the user's to read
        reason = " ".join(str(error).split())
        raise InputError(f"cannot import {module!r}: {type(error).__name__}: {reason}; check the name") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"{module!r} has no {path!r}; check the name")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{name!r} is a {type(found).__name__}; name a function")
    return found
