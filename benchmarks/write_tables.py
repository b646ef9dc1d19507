"""Write tables.md: the latest figures of every device, from the lines of JSON in results/.

uat-jax bench --full --out benchmarks/results/cpu   # measures, and draws growth plots and the roofline
python benchmarks/write_tables.py                   # writes the tables again
"""

from __future__ import annotations

import io
from itertools import groupby
from pathlib import Path

from rich.console import Console

from uat_jax.bench.growth import growths
from uat_jax.bench.record import read
from uat_jax.bench.registry import every_case
from uat_jax.report.benchmark import described, show_case

FOLDER = Path(__file__).parent
TABLES = FOLDER / "tables.md"
WIDTH = 180


def tables(folder: Path) -> str:
    """One chapter for each device: its versions, then every case."""
    runs = sorted(folder.glob("*/benchmarks.jsonl"))
    chapters = "\n".join(_chapter(run) for run in runs)
    return f"# Figures\n\nPrinted by `python benchmarks/write_tables.py` from `benchmarks/results`.\n\n{chapters}"


def _chapter(run: Path) -> str:
    rows, environment = read(run)
    text = io.StringIO()
    console = Console(file=text, width=WIDTH)
    for name, block in groupby(rows, key=lambda row: row.case):
        own = list(block)
        case = every_case()[name]
        show_case(console, case, own, list(growths(own, case.axes)))
    printed = "\n".join(f"    {line}".rstrip() for line in text.getvalue().splitlines())
    return f"## {run.parent.name}\n\n{described(environment)}\n\n{printed}\n"


def main() -> None:
    """Write the file."""
    TABLES.write_text(tables(FOLDER / "results"), encoding="utf-8")


if __name__ == "__main__":
    main()
