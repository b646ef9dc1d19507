"""What does a first proof cost, from starting Python to the verdict?

    python benchmarks/cold_start.py [--quick] [--json]

Every figure is the wall time of a fresh interpreter, the median of several; the rows take turns, so that a
slow spell of the machine meets them all.  The baseline imports JAX and SymPy, which nobody can avoid.
A program that does not print the answer it should has no time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

try:
    from benchmarks.machine import machine
except ImportError:  # started as a script
    from machine import machine

BASELINE = "import jax, sympy"
PROGRAMS: Mapping[str, tuple[str, str]] = {
    "Python alone": ("print('started')", "started"),
    BASELINE: ("import jax, sympy; print('imported')", "imported"),
    "import uat_jax": ("import uat_jax as uj; print(len(uj.claims()) > 0)", "True"),
    "first proof: lemma-1": ("import uat_jax as uj; print(uj.prove('lemma-1').verdict)", "PROVED"),
    "first derivation: residual, L = 3": (
        "import uat_jax as uj; print(uj.derive('residual', depth=3).holds())",
        "True",
    ),
    "derivation: residual, L = 96": (
        "import uat_jax as uj; print(uj.derive('residual', depth=96).holds())",
        "True",
    ),
}
"""Name → a program and what it must print."""
RUNS, QUICK_RUNS = 7, 1


class WrongAnswerError(Exception):
    """A program whose answer is wrong has no time."""


def seconds(program: str, answer: str) -> float:
    """Wall time of one fresh interpreter.  Raises `WrongAnswerError` if it prints anything but ``answer``."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=_environment())
    taken = time.perf_counter() - start
    if done.returncode or done.stdout.strip() != answer:
        printed = done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]
        raise WrongAnswerError(f"wanted {answer!r} from `{program}`, got {printed!r}")
    return taken


def _environment() -> dict[str, str]:
    """This process's environment; on the CPU, so that no accelerator's start is measured."""
    return {**os.environ, "JAX_PLATFORMS": "cpu"}


def measure(programs: Mapping[str, tuple[str, str]], runs: int) -> dict[str, list[float]]:
    """Name → seconds of every run."""
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(runs):
        for name, (program, answer) in programs.items():
            taken[name].append(seconds(program, answer))
    return taken


def show(taken: Mapping[str, Sequence[float]]) -> None:
    """One row per program; the ratio is to the baseline."""
    baseline = statistics.median(taken[BASELINE])
    print(f"\n{'seconds of a fresh interpreter':36}{'median':>8}{'least':>8}{'most':>8}{'ratio':>8}")
    for name, values in taken.items():
        median = statistics.median(values)
        print(f"{name:36}{median:8.2f}{min(values):8.2f}{max(values):8.2f}{median / baseline:8.2f}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one run of each: does it work?")
    parser.add_argument("--json", action="store_true", help="print one line of JSON as well")
    options = parser.parse_args(arguments)
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    taken = measure(PROGRAMS, QUICK_RUNS if options.quick else RUNS)
    show(taken)
    if options.json:
        print(json.dumps({"benchmark": "cold_start", **machine(), "seconds": taken}, ensure_ascii=False))


if __name__ == "__main__":
    main()
