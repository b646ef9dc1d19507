"""Functions by name, as the command line takes them: "module:function"."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from uat_jax.errors import InputError
from uat_jax.typing import Function

PUBLIC = (
    "jax.numpy",
    "jax.nn",
    "jax.lax",
    "jax.scipy.special",
    "jax.numpy.linalg",
    "jax.numpy.fft",
    "jax.random",
    "jax",
)
"""Where JAX's own functions are looked for, which lie in modules that are not for users."""


def place_of(function: Function) -> tuple[str, str]:
    """The module and the name in it by which a function can be imported; what it does not say is "".

    A function of JAX is named by where users find it: jax.nn and relu.
    """
    module, path = (getattr(function, name, None) or "" for name in ("__module__", "__qualname__"))
    if module.startswith("jax."):
        named = (name for name in PUBLIC if getattr(sys.modules.get(name), path, None) is function)
        module = next(named, module)
    return module, path


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
        missing = isinstance(error, ModuleNotFoundError) and error.name and f"{module}.".startswith(f"{error.name}.")
        of_file = module.removesuffix(".py").replace("/", ".") if module.endswith(".py") else ""
        check = f"write {of_file}:{path}" if of_file else "check the name"
        wanted = check if missing else f"import {module} in Python shows where"
        raise InputError(f"cannot import {module!r}: {type(error).__name__}: {reason}; {wanted}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, _callables(found), n=1)
            meant = f"did you mean {near[0]!r}?" if near else "check the name"
            raise InputError(f"{module!r} has no {path!r}; {meant}")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{name!r} is a {type(found).__name__}; name a function")
    return found


def _callables(found: Any) -> list[str]:
    return [name for name in dir(found) if not name.startswith("_") and callable(getattr(found, name, None))]


def named_specs(name: str) -> tuple[Any, ...]:
    """The arguments that the function "module:name" returns when it is called without any: a tuple or list of them,
    or one pytree, which is the only argument.

    Raises:
        InputError: what `named_function` raises; or the function raises an error, or needs an argument.
    """
    function = named_function(name)
    try:
        found = function()
    except (Exception, SystemExit) as error:  # whatever the function raises is the user's to read
        reason = " ".join(str(error).split())
        wanted = f"wanted a function of no arguments that returns the inputs; call {name}() in Python to see where"
        raise InputError(f"{name}() raised {type(error).__name__}: {reason}; {wanted}") from error
    return tuple(found) if type(found) in (tuple, list) else (found,)
