"""What `certify` takes for each true pair of the tables in tests/pairs, and in ratio to another version of uat_jax.

python benchmarks/certify_pairs.py                               # medians of this checkout
python benchmarks/certify_pairs.py --against ../uat_jax-before   # and of another one, in turn, pair by pair

A pair is timed from the call to the verdict, tracing included, three times, the first of which is left out: it pays
for what the process does once.  The verdict is compared before the time counts, and a pair that either version does not
certify is named and left out of the ratios.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
CALLS = 3
PASSING = ("PROVED", "CERTIFIED")

Times = Mapping[str, tuple[str, float]]
"""Name of a pair → its verdict, and the median of its times in seconds."""


def measured() -> Times:
    """The verdict and time of every pair, in this process."""
    sys.path.insert(0, str(TESTS))
    import uat_jax

    found = {}
    for pair in importlib.import_module("pairs").PAIRS:
        seconds, verdict = [], ""
        for _ in range(CALLS):
            start = time.perf_counter()
            verdict = str(uat_jax.certify(pair.left, pair.right, *pair.specs).verdict)
            seconds.append(time.perf_counter() - start)
        found[pair.name] = (verdict, statistics.median(seconds[1:]))
    return found


def measured_by(checkout: Path) -> Times:
    """The verdict and time of every pair with the package of a checkout, in an interpreter of its own."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [sys.executable, str(Path(__file__)), "--json"]
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {name: (verdict, seconds) for name, (verdict, seconds) in json.loads(run.stdout).items()}


def described(name: str, seconds: Sequence[float]) -> str:
    """A line with the median and the ninetieth percentile of some times."""
    middle, most = (1e3 * x for x in (statistics.median(seconds), statistics.quantiles(seconds, n=10)[-1]))
    return f"{name:10} {len(seconds):4} pairs: median {middle:6.1f} ms, 90th percentile {most:7.1f} ms"


def report(rounds: Sequence[Times], others: Sequence[Times]) -> str:
    """The lines that are printed; `others` are rounds of the other checkout, run in turn with these."""
    names = list(rounds[0])
    passing = [n for n in names if all(r[n][0] in PASSING for r in (*rounds, *others))]
    least = lambda runs, name: min(r[name][1] for r in runs)
    lines = [described("this", [least(rounds, n) for n in passing])]
    if others:
        ratios = [least(rounds, n) / least(others, n) for n in passing]
        lines.append(described("the other", [least(others, n) for n in passing]))
        lines.append(f"ratio, this over the other: median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}")
    lines += [f"not certified by {'both' if others else 'this'}: {n}" for n in names if n not in passing]
    return "\n".join(lines)


def main() -> None:
    """Measures, and prints the table or, for another process, the times."""
    parser = argparse.ArgumentParser(description="What certify takes for each true pair of the tables.")
    parser.add_argument("--against", type=Path, help="another checkout of uat_jax, measured in turn with this one")
    parser.add_argument("--rounds", type=int, default=2, help="so often are the checkouts measured in turn (default 2)")
    parser.add_argument("--json", action="store_true", help="print the times of the importable uat_jax as JSON")
    options = parser.parse_args()
    if options.json:
        print(json.dumps(measured()))
        return
    if options.against is not None and not (options.against / "uat_jax").is_dir():
        parser.error(f"{options.against} holds no uat_jax; give the root of a checkout")
    rounds, others = [], []
    for _ in range(options.rounds):
        rounds.append(measured_by(ROOT))
        if options.against is not None:
            others.append(measured_by(options.against))
    print(report(rounds, others))


if __name__ == "__main__":
    main()
