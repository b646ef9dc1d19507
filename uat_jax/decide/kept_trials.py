"""Finished trials kept in a folder, so that a run that was stopped, or a longer one, takes up where the last one ended.

Below the folder each comparison has one of its own, named after the SHA-256 of everything that its numbers depend on:
both programs, the seed, dtype, precision, device and versions, but not the number of trials. In it `comparison.json`
says what that was, and every process has a file `trials-….jsonl` with one line for each trial, written when the trial
is finished. A line carries its own checksum and the name of its comparison: one that was cut off, changed, or put here
from another folder counts for nothing, and its trial is done again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from uat_jax.decide.certificate import write_atomically
from uat_jax.errors import InputError

FORMAT = 1
"""Counts the changes of the lines, and of the rules that their numbers are found by."""


@dataclass(frozen=True)
class TrialFigures:
    """What one trial found: float64 arrays, all that a summary of many trials needs.

    Attributes:
        errors: |side − exact value| of every entry of both sides, (2, entries).
        deviations: σ̂ of every entry of both sides, (2, entries).
        ulp: the spacing of floats at the largest exact entry.
    """

    errors: np.ndarray
    deviations: np.ndarray
    ulp: float

    def to_line(self, trial: int, digest: str) -> str:
        """One line of text: the checksum, and a trial's number, the digest of its arguments and its figures."""
        numbers = np.concatenate([[self.ulp], self.errors.ravel(), self.deviations.ravel()]).astype("<f8")
        text = json.dumps([trial, digest, base64.b64encode(numbers.tobytes()).decode()])
        return f"{zlib.crc32(text.encode()):08x} {text}\n"


def from_line(line: str) -> tuple[int, str, TrialFigures] | None:
    """(trial, digest, figures), or None if the line is damaged."""
    checksum, _, text = line.rstrip("\n").partition(" ")
    if not line.endswith("\n") or checksum != f"{zlib.crc32(text.encode()):08x}":
        return None
    try:
        trial, digest, numbers = json.loads(text)
        figures = np.frombuffer(base64.b64decode(numbers), "<f8")
        errors, deviations = figures[1:].reshape(2, 2, -1)
        return int(trial), str(digest), TrialFigures(errors, deviations, float(figures[0]))
    except (ValueError, TypeError, IndexError):
        return None


class KeptTrials:
    """The finished trials of one comparison, in a folder if one is given.

    Attributes:
        figures: of the trials that were taken from the folder or added, by number.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, comparison: Mapping[str, Any], process: int = 0):
        """Read what is there.  Raises `InputError` if the folder cannot be used."""
        self.figures: dict[int, TrialFigures] = {}
        self._read: dict[tuple[int, str], TrialFigures] = {}
        self._file, self._name = None, ""
        if folder is None:
            return
        text = json.dumps({"format": FORMAT, **comparison}, indent=2, sort_keys=True) + "\n"
        self._name = hashlib.sha256(text.encode()).hexdigest()
        place = Path(folder) / self._name[:16]
        write_atomically(place / "comparison.json", text)
        self._file = place / f"trials-{process}.jsonl"
        for file in sorted(place.glob("trials-*.jsonl")):
            self._read |= _read(file)
        _end_last_line(self._file)

    def take(self, trial: int, digest: str) -> bool:
        """Whether a trial with these arguments is finished; if so, it is among the `figures`."""
        found = self._read.get((trial, self._name + digest))
        if found is not None:
            self.figures[trial] = found
        return found is not None

    def add(self, trial: int, digest: str, figures: TrialFigures) -> None:
        """Keep a finished trial.  Raises `InputError` if it cannot be written."""
        self.figures[trial] = figures
        if self._file is None:
            return
        try:
            with open(self._file, "a", encoding="ascii") as file:
                file.write(figures.to_line(trial, self._name + digest))
        except OSError as error:
            raise _unwritable(self._file, error) from None


def _read(file: Path) -> dict[tuple[int, str], TrialFigures]:
    """The undamaged lines of a file."""
    try:
        lines = file.read_text(encoding="ascii", errors="replace").splitlines(keepends=True)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}; choose another folder") from None
    return {(trial, digest): figures for trial, digest, figures in filter(None, map(from_line, lines))}


def _end_last_line(file: Path) -> None:
    """What a stopped run left of a line must not swallow the next one."""
    try:
        with open(file, "ab+") as lines:
            if lines.tell():
                lines.seek(-1, os.SEEK_END)
                lines.write(b"" if lines.read() == b"\n" else b"\n")
    except OSError as error:
        raise _unwritable(file, error) from None


def _unwritable(file: Path, error: OSError) -> InputError:
    return InputError(f"cannot write {file}: {error.strerror}; choose a folder that can be written")
