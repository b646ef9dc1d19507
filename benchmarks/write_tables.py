"""Write tables.md: the latest figures of every device, from the lines of JSON in results/.

uat-jax bench --full --out benchmarks/results/cpu   # measures, and draws growth plots and the roofline
python benchmarks/write_tables.py                   # writes the tables again
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from rich.console import Console

from uat_jax.bench.compiled import AheadOfTime
from uat_jax.bench.growth import growths
from uat_jax.bench.record import read
from uat_jax.bench.registry import every_case
from uat_jax.report.ahead_of_time import show_ahead_of_time
from uat_jax.report.benchmark import described, show_case

FOLDER = Path(__file__).parent
TABLES = FOLDER / "tables.md"
WIDTH = 180


def tables(folder: Path) -> str:
    """One chapter for each device: its versions, then every case; then what was compiled for devices not there."""
    runs, compilations = sorted(folder.glob("*/benchmarks.jsonl")), sorted(folder.glob("aot-*.jsonl"))
    chapters = "\n".join([*map(_chapter, runs), *map(_compiled, compilations)])
    return f"# Figures\n\nPrinted by `python benchmarks/write_tables.py` from `benchmarks/results`.\n\n{chapters}"


def _chapter(run: Path) -> str:
    rows, environment = read(run)

    def show(console: Console) -> None:
        for name, block in groupby(rows, key=lambda row: row.case):
            own = list(block)
            case = every_case()[name]
            show_case(console, case, own, list(growths(own, case.axes)))

    return f"## {run.parent.name}\n\n{described(environment)}\n\n{_printed(show)}\n"


def _compiled(lines: Path) -> str:
    rows = [AheadOfTime(**json.loads(line)) for line in lines.read_text(encoding="utf-8").splitlines()]
    return f"## {lines.stem}\n\n{_printed(lambda console: show_ahead_of_time(console, rows))}\n"


def _printed(show: Callable[[Console], None]) -> str:
    """As a block of code."""
    text = io.StringIO()
    show(Console(file=text, width=WIDTH))
    return "\n".join(f"    {line}".rstrip() for line in text.getvalue().splitlines())


def main() -> None:
    """Write the file."""
    TABLES.write_text(tables(FOLDER / "results"), encoding="utf-8")


if __name__ == "__main__":
    main()
