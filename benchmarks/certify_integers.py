"""How many pairs of functions of integers are decided, and how long it takes: python benchmarks/certify_integers.py

Each true pair of tests/pairs/{integers,texts,written_places,inner_integers}.py and each mistake beside it is certified
in one process.  Seconds are of the processor and include tracing, at the first time that a shape is met the compiler of
JAX as well.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import jax

import uat_jax as uj

TABLES = ("pairs.inner_integers", "pairs.integers", "pairs.written_places", "pairs.texts")

BUDGET = 120.0
"""Seconds for one pair."""

PASSING = ("PROVED", "CERTIFIED")


def seconds(left: Any, right: Any, specs: Any) -> tuple[str, float]:
    """The verdict, and the seconds of the processor that it took."""
    begin = time.process_time()
    verdict = str(uj.certify(left, right, *specs, budget=BUDGET).verdict)
    return verdict, time.process_time() - begin


Found = list[tuple[str, str, float]]
"""Names, verdicts and seconds."""


def line(name: str, found: Found, wanted: tuple[str, ...], never: tuple[str, ...]) -> str:
    """A row of the table."""
    times = sorted(t for _, _, t in found)
    right = sum(verdict in wanted for _, verdict, _ in found)
    wrong = sum(verdict in never for _, verdict, _ in found)
    tail = times[min(len(times) - 1, int(0.9 * len(times)))]
    decided = f"{right} ({100 * right / len(found):.1f} %)"
    took = f"{statistics.median(times):.2f} | {tail:.2f} | {times[-1]:.1f}"
    return f"| {name} | {len(found)} | {decided} | {wrong} | {took} |"


def print_lines(name: str, true: Found, broken: Found) -> None:
    """The rows of true pairs and of broken ones."""
    print(line(f"{name}, true", true, PASSING, ("REFUTED",)))
    print(line(f"{name}, broken", broken, ("REFUTED",), PASSING), flush=True)


def main() -> None:
    """Print the table, and below it what is not decided."""
    print(f"JAX {jax.__version__}\n\n| pairs | number | decided | wrongly | median s | nine tenths s | longest s |")
    print("|---|---|---|---|---|---|---|", flush=True)
    every: tuple[Found, Found] = [], []
    for table in map(importlib.import_module, TABLES):
        true, broken = [], []
        for pair in table.PAIRS:
            true.append((pair.name, *seconds(pair.left, pair.right, pair.specs)))
            for name, wrong in pair.wrong.items():
                broken.append((f"{pair.name}: {name}", *seconds(pair.left, wrong, pair.specs)))
        print_lines(table.__name__.removeprefix("pairs."), true, broken)
        every[0].extend(true)
        every[1].extend(broken)
    print_lines("all", *every)
    undecided = [(name, v) for found in every for name, v, _ in found if v not in (*PASSING, "REFUTED")]
    print("\n" + "\n".join(f"{verdict}: {name}" for name, verdict in undecided))


if __name__ == "__main__":
    main()
