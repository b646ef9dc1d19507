"""``uat-jax completion``: the script by which a shell completes commands, options, and what options take."""

from __future__ import annotations

import argparse
import importlib
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from uat_jax.cli import COMMANDS, parser_of
from uat_jax.decide.demands import HAZARDS
from uat_jax.decide.settings import DTYPES
from uat_jax.decide.verdict import Verdict
from uat_jax.devices import DEVICES
from uat_jax.errors import InputError
from uat_jax.ledger.claim import Kind
from uat_jax.ledger.layers.exposition import KINDS
from uat_jax.ledger.ledger import claims
from uat_jax.ledger.source import PAPERS

SHELLS = ("bash", "zsh", "fish", "tcsh")

FILES, FOLDERS = ("FILE", "FILE.npz", "MODULE:FUNCTION|FILE"), ("DIR", "MODEL_DIR")
"""What stands in the help of options for the name of a file, and of a folder."""

WORDS: Mapping[tuple[str, str], Callable[[], Iterable[str]]] = {
    ("*", "device"): lambda: DEVICES,
    ("*", "dtype"): lambda: DTYPES,
    ("certify", "hazards"): lambda: HAZARDS,
    ("claims", "kind"): lambda: Kind,
    ("claims", "paper"): lambda: PAPERS,
    ("claims", "verdict"): lambda: Verdict,
    ("derive", "kind"): lambda: KINDS,
    ("prove", "claims"): lambda: (claim.id for claim in claims()),
    ("show", "claim"): lambda: (claim.id for claim in claims()),
}
"""A command, or any, and an option → the words that it takes."""


def add_completion(parser: ArgumentParser) -> None:
    """The options of ``uat-jax completion``."""
    parser.description = (
        "Print the script by which a shell completes commands and options, such as: "
        "uat-jax completion bash > ~/.local/share/bash-completion/completions/uat-jax"
    )
    parser.add_argument("shell", metavar="SHELL", help=f"one of {', '.join(SHELLS)}")
    parser.set_defaults(run=_completion)


def _completion(options: argparse.Namespace) -> int:
    if options.shell not in SHELLS:
        raise InputError(f"got shell {options.shell!r}; wanted one of {', '.join(SHELLS)}")
    try:
        shtab = importlib.import_module("shtab")
    except ImportError:
        raise InputError("completion needs shtab; pip install 'uat_jax[completion]'") from None
    parser = parser_of(*COMMANDS)
    for name, command in parser.commands.items():
        for action in command._actions:
            _say_what_it_takes(name, action, shtab)
    print(shtab.complete(parser, shell=options.shell))
    return 0


def _say_what_it_takes(command: str, action: Any, shtab: Any) -> None:
    """Tell shtab whether an option takes files, folders or certain words."""
    words = next((of for (name, option), of in WORDS.items() if name in (command, "*") and option == action.dest), None)
    if words is not None:
        action.choices = [str(word) for word in words()]
    elif action.metavar in FILES:
        action.complete = shtab.FILE
    elif action.metavar in FOLDERS:
        action.complete = shtab.DIRECTORY
