"""What does it cost to decide the whole ledger, cold and with compiled kernels kept, and where does the time go?

    python benchmarks/ledger.py [--quick] [--json]

Every row is a fresh interpreter that runs `uat-jax prove`.  *cold* finds an empty folder of compiled kernels, *warm*
the one that cold has filled.  A run in which some claim has another verdict than its row expects has no time.  The peak
is the resident memory of all processes together, looked at twenty times a second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

try:
    from benchmarks.machine import machine
except ImportError:  # started as a script
    from machine import machine

QUICK = ("lemma-1", "diamond", "eq-22")
SLOWEST = 8


class Run(NamedTuple):
    """Wall seconds, and the peak of resident memory in MiB."""

    seconds: float
    peak: float


class WrongAnswerError(Exception):
    """A run whose verdicts are wrong has no time."""


def prove(claims: Sequence[str], jobs: int, cache: str) -> Run:
    """One fresh interpreter.  Raises `WrongAnswerError` if it does not exit with 0."""
    command = [sys.executable, "-m", "uat_jax", "prove", "--jobs", str(jobs), *claims]
    environment = {**os.environ, "UAT_JAX_CACHE": cache, "JAX_PLATFORMS": "cpu"}
    start, peak = time.perf_counter(), 0.0
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        while process.poll() is None:
            peak = max(peak, resident(process.pid))
            time.sleep(0.05)
        seconds = time.perf_counter() - start
        if process.returncode:
            output.seek(0)
            raise WrongAnswerError(output.read()[-500:])
    return Run(seconds, peak)


def resident(pid: int) -> float:
    """Resident memory of a process and those it started, in MiB; 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    own = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)
    return own / 1024 + sum(resident(int(child)) for child in children)


def slowest(claims: Sequence[str]) -> list[tuple[str, float]]:
    """The claims that take longest, decided one after the other here, kernels compiled as needed."""
    from uat_jax.certify.decision import decide
    from uat_jax.certify.settings import Settings
    from uat_jax.claims.ledger import claims as ledger
    from uat_jax.claims.ledger import named

    wanted = [c for name in claims for c in named(name)] or ledger()
    taken = []
    for claim in wanted:
        start = time.perf_counter()
        decide(claim, Settings())
        taken.append((claim.id, time.perf_counter() - start))
    return sorted(taken, key=lambda row: -row[1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few claims, one job: does it work?")
    parser.add_argument("--json", action="store_true", help="print one line of JSON as well")
    options = parser.parse_args(arguments)
    claims, jobs = (QUICK, 1) if options.quick else ((), os.cpu_count() or 1)
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    print(f"\n{'':16}{'seconds':>10}{'peak MiB':>10}")
    rows = {}
    with tempfile.TemporaryDirectory() as cache:
        for state in ("cold", "warm"):
            rows[f"{jobs} jobs, {state}"] = run = prove(claims, jobs, cache)
            print(f"{f'{jobs} jobs, {state}':16}{run.seconds:10.1f}{run.peak:10.0f}", flush=True)
    taken = slowest(claims)
    total = sum(seconds for _, seconds in taken)
    print(f"\n{len(taken)} claims one after the other, {total:.1f} s in all, of which")
    for name, seconds in taken[:SLOWEST]:
        print(f"{seconds:8.2f} s  {name}")
    print(f"{sum(seconds for _, seconds in taken[SLOWEST:]):8.2f} s  the rest")
    if options.json:
        body = {"benchmark": "ledger", **machine(), "runs": {k: r._asdict() for k, r in rows.items()}}
        print(json.dumps({**body, "slowest": taken[:SLOWEST]}, ensure_ascii=False))


if __name__ == "__main__":
    main()
