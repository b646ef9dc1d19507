"""The command line: one parser for all commands, each of which brings its options when it is used.

Exit codes: 0 every claim asked for has the verdict its ledger row expects (of `certify`: the functions are equal),
1 some do not, 2 unusable input, 130 interrupted, 141 nobody reads the output any more.

This file imports nothing heavy: the first screen, ``--help`` and ``--version`` are there before JAX could be.
"""

from __future__ import annotations

import argparse
import difflib
import errno
import functools
import re
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from uat_jax.errors import UatJaxError
from uat_jax.imports import imported
from uat_jax.interrupts import INTERRUPTED
from uat_jax.terminal import bold, columns, silence, wrapped, writes_anything

NOBODY_READS = 141
"""128 and the number of the signal SIGPIPE, as a shell reports a process that it ends."""


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Why a stream may take nothing more."""


class Command(NamedTuple):
    """A command: the module of the package that has its options, and what it is for."""

    module: str
    what: str


FIRST = {
    "certify": Command("cli.certify", "decide whether two functions are the same function"),
    "prove": Command("cli.ledger", "decide every claim of the papers, or those named"),
    "claims": Command("cli.ledger", "list what the papers claim, by paper, section, equation, kind or verdict"),
    "show": Command("cli.ledger", "print one claim step by step, each step checked"),
    "decompose": Command("cli.decompose", "write a real network's output as the papers' sum, term by term"),
    "recheck": Command("cli.recheck", "decide certificates again, with fresh random numbers"),
}
"""The commands that people need first."""

COMMANDS = {
    **FIRST,
    "derive": Command("cli.ledger", "print the closed form of a network, layer by layer, and why it holds"),
    "report": Command("cli.ledger", "write a note on the papers (HTML, LaTeX, PDF), with a certificate for each line"),
    "bench": Command("cli.bench", "what each form and each proof costs, and how it grows"),
    "completion": Command("cli.completion", "print the script by which a shell completes commands and options"),
}

PURPOSE = "Are two ways of writing a network the same function? Decided, and said how it is known."

EXAMPLE = 'uat-jax certify jax.numpy:matmul jax.numpy:dot --arg "f32[n,m]" --arg "f32[m,k]"'

EXIT_CODES = (
    "exit codes: 0 the functions are equal, every claim has the verdict expected; 1 not so, or not known; "
    "2 unusable input, said in one line; 130 interrupted"
)


def main(arguments: Sequence[str] | None = None, *, begins: Callable[[], None] = lambda: None) -> int:
    """Run one command; returns the exit code.

    Args:
        arguments: of the command line; None stands for those of this process.
        begins: called when everything is loaded and the work begins.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    began, options = time.time_ns(), None
    for stream in (sys.stdout, sys.stderr):
        writes_anything(stream)
    try:
        try:
            if not given:
                return _first_screen()
            options = parser_of(_command(given)).parse_args(given)
            begins()
            return options.run(options)
        finally:
            sys.stdout.flush()  # what cannot be written is found out here, and not when Python ends
    except UatJaxError as error:
        print(f"uat-jax: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        silence(sys.stdout)
        return NOBODY_READS
    except OSError as error:
        if error.errno not in FULL:
            raise
        silence(sys.stdout)
        print(f"uat-jax: cannot write the output: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"uat-jax: interrupted; {_kept(options, began)}", file=sys.stderr)
        return INTERRUPTED


def _command(given: Sequence[str]) -> str | None:
    """The command among the arguments: the first that is no option, for the options before it take no values."""
    return next((word for word in given if not word.startswith("-")), None)


# --- what is shown ---------------------------------------------------------------------------------------------------


def _first_screen() -> int:
    """What the program does, the commands that people need, and one example."""
    width = columns()
    print(bold(f"uat-jax {_version()}"))
    print(wrapped(PURPOSE, width), end="\n\n")
    for name, command in FIRST.items():
        text = wrapped(command.what, width, indent=13)
        print(f"  {bold(f'{name:<11}')}{text[13:]}")
    others = ", ".join(name for name in COMMANDS if name not in FIRST)
    print("\n" + wrapped(f"There are also {others}: uat-jax --help, uat-jax certify --help.", width), end="\n\n")
    print(f"{bold('Try')}\n  {EXAMPLE}\n")
    print(wrapped("which is PROVED for all sizes. A pair that differs is REFUTED, with an input.", width))
    return 0


def _version() -> str:
    try:
        return version("uat_jax")
    except PackageNotFoundError:  # a copy of the source that was never installed
        return "of a source tree"


class _ShowVersions(argparse.Action):
    """``--version``: what a report of a defect needs, without importing any of it."""

    def __call__(self, parser: ArgumentParser, namespace: Any, values: Any, option_string: Any = None) -> None:
        python = ".".join(map(str, sys.version_info[:3]))
        print(f"uat-jax {_version()} (jax {version('jax')}, jaxlib {version('jaxlib')}, Python {python})")
        parser.exit()


# --- what is asked ---------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """One line per mistake, without the usage text, and with the nearest word that there is."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"uat-jax: {message}{self._nearest(message)}; `{self.prog} --help` lists what is possible\n")

    def _nearest(self, message: str) -> str:
        """'; did you mean --seed?' for an option that there is not."""
        typed = re.match(r"unrecognized arguments: (--[^\s=]+)", message)
        return "" if typed is None else suggestion(typed[1], set(re.findall(r"--[a-z][-a-z]*", self.format_help())))


class _Main(_Parser):
    """The parser of all commands; what a command does not know is a mistake of that command."""

    used: _Parser | None = None
    commands: dict[str, _Parser]

    def error(self, message: str) -> NoReturn:
        if self.used is not None and message.startswith("unrecognized arguments"):
            self.used.error(message)
        unknown = re.match(r"argument .*: invalid choice: '([^']*)'", message)
        if unknown:
            message = f"there is no command {unknown[1]!r}{suggestion(unknown[1], COMMANDS)}"
        super().error(message)


def suggestion(word: str, known: Any) -> str:
    """'; did you mean X?' with the nearest word that is known, or '' if none is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""


def parser_of(*names: str | None) -> _Main:
    """The parser of the command line, with the options of these commands.

    The others have none yet: their options come with modules that take longer to import than anything else here.
    """
    narrow = functools.partial(argparse.HelpFormatter, max_help_position=16)
    parser = _Main(prog="uat-jax", description=PURPOSE, epilog=EXIT_CODES, formatter_class=narrow)
    parser.add_argument("--version", action=_ShowVersions, nargs=0, help="show the versions and exit")
    group = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    parser.commands = {}
    for name, command in COMMANDS.items():
        purpose = f"{command.what[0].upper()}{command.what[1:]}."
        own = parser.commands[name] = group.add_parser(name, help=command.what, description=purpose)
        if name in names:
            getattr(imported(f"uat_jax.{command.module}"), f"add_{name}")(own)
            parser.used = own
    return parser


# --- what is left of an interrupted command --------------------------------------------------------------------------

CLOCK_NS = 20_000_000
"""So many nanoseconds the time that a file system gives a file may lie behind the clock."""


def _kept(options: argparse.Namespace | None, began: int) -> str:
    """Which files were written in the places that the options name, since the command began."""
    places = [
        Path(getattr(options, name)) for name in ("json", "out", "keep", "folder") if getattr(options, name, None)
    ]
    kept = {place: sum(_is_new(file, began) for file in _files(place)) for place in dict.fromkeys(places)}
    texts = [
        f"{count} file{'s' * (count > 1)} in {place}" if place.is_dir() else str(place)
        for place, count in kept.items()
        if count
    ]
    if not texts:
        return "nothing was written"
    again = "; the same command goes on from there" if getattr(options, "keep", None) else ""
    return f"written before that: {', '.join(texts)}{again}"


def _files(place: Path) -> list[Path]:
    """A file, or those in a folder; files that begin with a dot are not finished."""
    found = place.rglob("*") if place.is_dir() else [place]
    return [file for file in found if file.is_file() and not file.name.startswith(".")]


def _is_new(file: Path, began: int) -> bool:
    return file.stat().st_mtime_ns >= began - CLOCK_NS
