"""A LaTeX document made into a PDF by the TeX engine that is installed, if one is."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

ENGINES = {
    "pdflatex": ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"),
    "lualatex": ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"),
    "xelatex": ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"),
    "tectonic": (),
}
"""The engines that are tried, in this order, with what keeps them from asking questions."""

RUNS = 2
"""Tables that run over pages find their widths in the second run."""

SECONDS = 120
"""What one run may take: the note takes a few seconds."""


def engine() -> str | None:
    """The first engine that is installed."""
    return next((name for name in ENGINES if shutil.which(name)), None)


def compiled(source: Path) -> str:
    """Write the PDF beside its source.  Returns what is missing in one line, or "" if nothing is."""
    target, found = source.with_suffix(".pdf"), engine()
    if found is None:
        return f"{target} is missing: no TeX engine ({', '.join(ENGINES)}) is installed; the HTML says the same"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(source, folder)
        for _ in range(1 if found == "tectonic" else RUNS):
            wrong = _run([found, *ENGINES[found], source.name], folder)
            if wrong:
                return f"{target} is missing: {found} says {wrong}; the HTML says the same"
        shutil.copy(Path(folder) / target.name, target)
    return ""


def _run(command: list[str], folder: str) -> str:
    """Run the engine; returns its complaint, "" if it has none."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}"
    if done.returncode == 0:
        return ""
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return next((line for line in lines if line.startswith("!")), f"exit code {done.returncode}")
