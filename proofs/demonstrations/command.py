"""The command line that the demonstrations share: every mistake is answered in one line."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

FORMATS = (".pdf", ".png", ".svg")
"""What a figure can be drawn as."""


class Parser(argparse.ArgumentParser):
    """One line per mistake, without the usage text."""

    def error(self, message: str) -> Any:
        """Say it and leave with exit code 2."""
        self.exit(2, f"{message}; --help lists what is possible\n")


def whole_number(least: int) -> Callable[[str], int]:
    """The reader of a whole number that is at least this."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"got {text}, wanted a whole number, {least} or more")
        return int(text)

    return read


def figure_file(text: str) -> Path:
    """A file in a folder that exists, of a format that can be drawn."""
    file = Path(text)
    if file.suffix not in FORMATS:
        raise argparse.ArgumentTypeError(f"got {text}, wanted a name that ends in {', '.join(FORMATS)}")
    if not file.parent.is_dir():
        raise argparse.ArgumentTypeError(f"got {text}, wanted a folder that exists; make {file.parent} first")
    return file
