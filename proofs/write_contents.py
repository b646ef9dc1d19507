"""Writes README.md, the table of contents, and those scripts of counterexamples/ that a certificate holds.

    uat-jax report docs --overwrite && python proofs/write_contents.py

A counterexample to a formula is found by search, and its certificate holds a program that shows it; that program is
written here.  The other scripts of counterexamples/ are written by hand.
"""

from __future__ import annotations

import shutil
import subprocess
import textwrap
from pathlib import Path

import uat_jax as uj
from uat_jax.ledger.claim import Claim
from uat_jax.ledger.ledger import CHAPTERS, claims, script_of
from uat_jax.ledger.source import written
from uat_jax.report.contents import contents

HERE = Path(__file__).parent
CERTIFICATES = HERE.parent / "docs" / "certificates"

PREAMBLE = """\
# Proofs

Each script is an argument to read and to run, `python proofs/NAME.py`: every equation it prints is decided first, and
it stops at one that does not hold.  A claim that is false has a script of its own in `counterexamples/`, which shows
the smallest example in plain NumPy or exact numbers.  [`argument.py`](argument.py) numbers the equations;
[`demonstrations/`](demonstrations) holds experiments, which prove nothing;
[`closed_forms_of_scans.py`](closed_forms_of_scans.py) is about loops, not about the papers.

This table is written by `python proofs/write_contents.py` from the ledger: claim, source, verdict, script.
"""


def readme() -> str:
    """The text of README.md."""
    return PREAMBLE + "\n" + contents(CHAPTERS, {claim.id: script_of(claim) for claim in claims()})


def generated() -> dict[str, str]:
    """File name → text of the scripts that certificates hold."""
    refuted = [claim for claim in claims() if claim.expects is uj.Verdict.REFUTED]
    programs = {claim: _program(claim) for claim in refuted}
    return {Path(script_of(claim)).name: _script(claim, program) for claim, program in programs.items() if program}


def _program(claim: Claim) -> str:
    counterexample = uj.load(CERTIFICATES / f"{claim.id}.json").counterexample
    return counterexample.program if counterexample else ""


def _script(claim: Claim, program: str) -> str:
    wrap = lambda text: textwrap.fill(text, 116, break_long_words=False, break_on_hyphens=False)
    reading = [wrap(f"Read as: {claim.reading.rstrip('.')}."), ""] if claim.reading else []
    paragraphs = [
        wrap(f"Refuted: {claim.title} ({claim.id})."),
        "",
        wrap(f"Printed in {written(claim.sources)}:"),
        "",
        wrap(claim.printed),
        "",
        *reading,
        wrap(f"Right is {claim.correction}. The smallest numbers that show it; σ is relu."),
    ]
    text = "\n".join(paragraphs)
    return f'r"""{text}\n"""\n\n{program}'


def main() -> None:
    """Write the files, and format them if ruff is there."""
    (HERE / "README.md").write_text(readme(), encoding="utf-8")
    scripts = generated()
    for name, text in scripts.items():
        (HERE / "counterexamples" / name).write_text(text, encoding="utf-8")
    if shutil.which("ruff"):
        subprocess.run(["ruff", "format", "-q", HERE / "counterexamples"], check=True)
    print(f"README.md and {len(scripts)} counterexamples written")


if __name__ == "__main__":
    main()
