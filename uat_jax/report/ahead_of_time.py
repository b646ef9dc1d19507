"""Kernels compiled for an accelerator that is not there: one table per topology."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from uat_jax.bench.compiled import AheadOfTime
from uat_jax.report.benchmark import NOTHING, duration, size_of

COLUMNS = ("kernel", "compiled in", "products", "counted", "moved", "arguments", "outputs", "temporaries", "code")
COLUMNS += ("estimate", "collectives")


def show_ahead_of_time(console: Console, rows: Sequence[AheadOfTime]) -> None:
    """One row for each kernel of one topology; a column that says nothing is left out, what failed stands below."""
    compiled = [row for row in rows if not row.reason]
    if compiled:
        console.print(_title(compiled), highlight=False)
        console.print(_table(compiled), highlight=False)
    for row in rows:
        if row.reason:
            console.print(f"{row.kernel}: not compiled for {row.topology}: {row.reason}", markup=False, highlight=False)


def _title(rows: Sequence[AheadOfTime]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in (rows[0].versions or {}).items())
    return f"\n[bold]{rows[0].topology}[/bold]  {rows[0].device}, compiled without it by {versions}; nothing was run"


def _table(rows: Sequence[AheadOfTime]) -> Table:
    told = [i for i in range(len(COLUMNS)) if any(cells(row)[i] != NOTHING for row in rows)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i in told:
        table.add_column(COLUMNS[i], justify="left" if i == 0 else "right", no_wrap=i > 0)
    for row in rows:
        table.add_row(*(cells(row)[i] for i in told))
    return table


def cells(row: AheadOfTime) -> tuple[str, ...]:
    """The row's columns; memory and what XLA counts are those of one device."""
    devices = f" × {row.devices}" if row.devices > 1 else ""
    memory = (row.arguments, row.outputs, row.temporaries, row.code)
    return (
        f"{row.kernel}{devices}",
        NOTHING if row.seconds is None else duration(row.seconds),
        NOTHING if not row.operations else f"{row.operations / 1e6:.4g} MFLOP",
        NOTHING if row.counted is None else f"{row.counted / 1e6:.4g} MFLOP",
        NOTHING if row.bytes is None else size_of(row.bytes),
        *(NOTHING if part is None else size_of(part) for part in memory),
        NOTHING if row.optimal_seconds is None else duration(row.optimal_seconds),
        ", ".join(f"{count} {kind}" for kind, count in (row.collectives or {}).items()) or NOTHING,
    )
