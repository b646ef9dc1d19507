"""Certificates: a claim, its evidence and its verdict as a JSON file that can be decided again.

The schema is documented in docs/certificate.md; `VERSION` counts its incompatible changes.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import math
import os
import platform
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from uat_jax.decide.assumption import Assumption
from uat_jax.decide.assumption import from_data as assumption_from_data
from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.counterexample import from_data as example_from_data
from uat_jax.decide.figures import from_data as figures_from_data
from uat_jax.decide.hazards import Hazard
from uat_jax.decide.in_floats import InFloats, from_data
from uat_jax.decide.rounding_bound import Rounding
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import InputError
from uat_jax.strict_json import is_deeper, parsed

SCHEMA = "uat_jax/certificate"
VERSION = 5
"""Raised when files of before cannot be read: in 5 proved evidence holds what it proves as data, `statements`."""

IN_FLOATS = frozenset(["rounding", "hazards"])
"""The fields that only certificates of two equal functions have."""

FILE_BYTES = 2**25
"""How long a file may be."""
DEPTH = 64
"""How deep lists and objects may lie in each other in a file; twice what certificates need."""


@dataclass(frozen=True)
class Certificate:
    """The outcome for one claim.

    ``claim``: id, ledger row, source, printed statement, reading, hypotheses, correction; or, with the id
    "equivalence", the names of two functions, their inputs, and both programs as data.
    ``expected`` is the verdict the ledger expects, ``passes`` whether it was reached in every detail.
    ``settings`` are those `uat_jax.prove` was called with, ``environment`` the versions, the platform, and in what
    numbers the device computed (`uat_jax.devices.numerics`; older files do not say).
    ``floats``: of two functions that are equal, or agree, what rounding does to them; computed when it is first read.

    A certificate is true in a condition if it passes.
    """

    claim: Mapping[str, Any]
    expected: Verdict
    verdict: Verdict
    passes: bool
    evidence: tuple[Evidence, ...]
    assumptions: tuple[Assumption, ...]
    settings: Mapping[str, Any]
    environment: Mapping[str, str]
    floats: InFloats | None = field(default=None, compare=False, repr=False)

    @property
    def counterexample(self) -> Counterexample | None:
        """The first example that refutes a statement of the claim, or None."""
        return next((e.example for e in self.evidence if e.verdict is Verdict.REFUTED and e.example), None)

    @property
    def rounding(self) -> Rounding | None:
        """How far each of two functions may be from the exact value, and how far they were seen apart, or None."""
        return None if self.floats is None else self.floats.rounding

    @property
    def hazards(self) -> tuple[Hazard, ...]:
        """Inputs at which one of two functions fails in floats and the other does not, as far as a search found."""
        return () if self.floats is None else self.floats.search.found

    def __bool__(self) -> bool:
        """Whether it passes: `if certify(…)` goes on for PROVED and CERTIFIED only."""
        return self.passes

    def __repr__(self) -> str:
        """The verdict, the claim and the first finding, in one line."""
        sides = [str(self.claim[side]) for side in ("left", "right") if side in self.claim]
        subject = " and ".join(sides) if len(sides) == 2 else str(self.claim.get("id", "no claim"))
        finding = f": {self.evidence[0].finding}" if self.evidence else ""
        return one_line(f"<Certificate {self.verdict} of {subject}{finding}") + ">"

    def to_json(self) -> str:
        """Canonical JSON: sorted keys, finite numbers only."""
        own = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "floats"}
        own |= {name: [part.as_data() for part in own[name]] for name in ("evidence", "assumptions")}
        body = {"schema": SCHEMA, "version": VERSION, **own, **(self.floats.as_data() if self.floats else {})}
        lines: dict[str, str] = {}  # a statement stands on one line: its terms would fill pages
        for evidence in body["evidence"]:
            written = [json.dumps(s, sort_keys=True, ensure_ascii=False) for s in evidence["statements"]]
            evidence["statements"] = [uuid.uuid4().hex for _ in written]
            lines |= dict(zip(evidence["statements"], written, strict=True))
        text = json.dumps(_plain(body), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
        return re.sub('"([0-9a-f]{32})"', lambda found: lines.get(found[1], found[0]), text) if lines else text

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the file in one step, so that no half of it is ever seen.  Raises `InputError` if it cannot be."""
        return write_atomically(Path(path), self.to_json())

    def html(self) -> str:
        """A web page about it, which needs nothing else: what the verdict means and rests on, and of two functions what
        floats do and both programs side by side.  It runs the programs, which may take some seconds.

        Returns:
            The text of an HTML file.

        Example:
            Path("certificate.html").write_text(certificate.html(), encoding="utf-8")
        """
        return _page().certificate_page(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the page without what takes time."""
        return _page().certificate_summary(self)


def _page() -> Any:
    """The module that writes pages, which lies above this one: it is looked up when a page is asked for."""
    return importlib.import_module("uat_jax.report.certificate_page")


def _plain(value: Any) -> Any:
    """Tuples to lists, numpy numbers to Python's, infinities to text."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value


def write_atomically(path: Path, text: str) -> Path:
    """Write a text file by renaming a finished one beside it.  Raises `InputError` if it cannot be."""
    finished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")  # hosts may share a folder, and their numbers
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            finished.write_text(text, encoding="utf-8")
            os.replace(finished, path)
        finally:
            finished.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; choose a folder that can be written") from None
    return path


def check_writable(path: Path) -> None:
    """Find out before the work, not after it, whether a file can be written there.  Raises `InputError` if not."""
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; choose a file name")
    probe = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        write_atomically(probe, "")
    except InputError as error:  # of the file that was asked for
        raise InputError(str(error).replace(str(probe), str(path))) from None
    probe.unlink()


def environment() -> dict[str, str]:
    """Versions of what the verdict was reached with, and the platform."""
    packages = ("uat_jax", "jax", "jaxlib", "numpy", "sympy", "python-flint")
    return {
        **{p: _version(p) for p in packages},
        "python": platform.python_version(),
        "platform": platform.machine(),
    }


_version = functools.cache(version)
"""Versions do not change while a process runs, and looking one up takes a search of all packages."""


def load(path: str | os.PathLike[str]) -> Certificate:
    """Read a certificate.  Raises `InputError` for anything that is not a certificate of a known version.

    Returns:
        The certificate that `Certificate.save` wrote.

    Example:
        >>> uj.load("certificate.json").verdict
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(FILE_BYTES + 1)
        if len(content) > FILE_BYTES:
            raise InputError(f"{path} is longer than {FILE_BYTES} bytes; wanted a certificate written by uat_jax")
        body = parsed(content)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except RecursionError:
        raise InputError(f"{path} is nested too deeply; wanted a certificate written by uat_jax") from None
    except ValueError as error:  # not JSON, not UTF-8, or a whole number of thousands of digits
        raise InputError(f"{path} is not JSON ({one_line(error)}); wanted a certificate written by uat_jax") from None
    if is_deeper(body, DEPTH):
        raise InputError(f"{path} is nested too deeply; wanted a certificate written by uat_jax")
    return _checked(body, path)


def one_line(text: Any) -> str:
    """The start of a text from a file, without line breaks and control characters, for an error of one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())[:200]


def _checked(body: Any, path: Any) -> Certificate:
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise InputError(f"{path} is not a certificate of uat_jax (no schema {SCHEMA!r})")
    if type(body.get("version")) is not int or body["version"] != VERSION:
        what = "decide its claim again" if body.get("version") in range(1, VERSION) else "upgrade uat_jax"
        found = one_line(body.get("version"))
        raise InputError(f"{path} has schema version {found}; this uat_jax reads version {VERSION}: {what}")
    names = {f.name for f in dataclasses.fields(Certificate)} - {"floats"} | {"schema", "version"}
    optional = IN_FLOATS if IN_FLOATS <= set(body) else set()
    if set(body) != names | optional:
        odd = ", ".join(sorted(set(body) ^ (names | optional)))
        raise InputError(f"{path} is damaged: missing or superfluous fields {one_line(odd)}")
    kinds = {
        "claim": dict,
        "settings": dict,
        "environment": dict,
        "evidence": list,
        "assumptions": list,
        "passes": bool,
    }
    for name, kind in kinds.items():
        if not isinstance(body[name], kind):
            raise InputError(f"{path} is damaged: {name} is {one_line(repr(body[name]))}")
    try:
        return Certificate(
            **{n: body[n] for n in ("claim", "passes", "settings", "environment")},
            expected=Verdict(body["expected"]),
            verdict=Verdict(body["verdict"]),
            evidence=tuple(map(_evidence, body["evidence"])),
            assumptions=tuple(map(assumption_from_data, body["assumptions"])),
            floats=from_data(body.get("rounding"), body.get("hazards")),
        )
    except (AttributeError, TypeError, KeyError, ValueError) as error:
        raise InputError(f"{path} is damaged: {one_line(error)}") from None


def _statement(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise TypeError("a statement is no object")
    return data


def _evidence(data: Any) -> Evidence:
    """The evidence that `Evidence.as_data` wrote."""
    typed = {
        "method": Method(data["method"]),
        "verdict": Verdict(data["verdict"]),
        "figures": figures_from_data(data["figures"]),
        "assumptions": tuple(map(assumption_from_data, data["assumptions"])),
        "example": None if data["example"] is None else example_from_data(data["example"]),
        "statements": tuple(map(_statement, data["statements"])),
    }
    return Evidence(**{**data, **typed})
