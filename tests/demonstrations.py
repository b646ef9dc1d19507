"""The scripts of proofs/demonstrations as modules, and what they do with mistakes of the user."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "proofs/demonstrations"


def load(name: str) -> Any:
    """A script as a module; like a script that is run, it finds the files beside it."""
    sys.path.insert(0, str(FOLDER))
    try:
        specification: Any = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def fails(demonstration: Any, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Asserts that a call exits with 2 and one line on stderr, which contains the message; returns what it printed."""
    with pytest.raises(SystemExit) as caught:
        demonstration.main(arguments)
    printed = capsys.readouterr()
    assert caught.value.code == 2
    assert message in printed.err and printed.err.count("\n") == 1
    return printed.out
