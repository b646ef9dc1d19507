"""A library of a table, imported when it is asked for; without it, what to install."""

import importlib
import warnings
from typing import Any

EXTRA = "pip install 'uat_jax[libraries]'"
"""What brings every library of the tables."""


def library(module: str) -> Any:
    """A module of an installed library; what libraries warn of while they are imported is not ours to mend.

    Raises:
        ModuleNotFoundError: it is not installed, or not for this JAX; the message says what to install.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except (ImportError, AttributeError) as error:
        raise ModuleNotFoundError(f"got no {module}, which this table needs ({error}); {EXTRA}") from None
