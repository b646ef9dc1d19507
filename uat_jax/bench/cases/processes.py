"""One claim decided by one process, and by several that share its trials: what users wait for, start included.

The processes are joined by `jax.distributed` on this machine; the certificate must be that of one process, to the byte.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from uat_jax.bench.case import Case, Experiment, Program, WrongAnswerError
from uat_jax.bench.cases.devices import counts
from uat_jax.bench.interpreters import folder_of_kernels, free_address, run_together

CLAIM = "residual.closed-form"


def build(processes: int, trials: int, dtype: str) -> Experiment:
    """`uat-jax prove` of Theorem 1 with so many trials: by one process (the baseline), 2, 4 … and all of them."""
    alone = decide(1, trials, dtype)
    programs = {
        f"{count} process{'es' if count > 1 else ''}": Program(
            decide, (count, trials, dtype), compiled=False, trials=trials
        )
        for count in counts(processes)
    }

    def check(name: str, certificate: str) -> None:
        if certificate != alone:
            raise WrongAnswerError(f"{name}: another certificate than that of one process")

    return Experiment(programs, check, wrong=lambda certificate: certificate.replace('"trials"', '"trial"', 1))


def decide(count: int, trials: int, dtype: str) -> str:
    """The certificate as text.  Raises `WrongAnswerError` if a process fails."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "certificate.json"
        command = ["-m", "uat_jax", "prove", CLAIM, "--dtype", dtype, "--trials", str(trials)]
        joined = ["--coordinator", free_address(), "--processes", str(count)] if count > 1 else []
        more = [[*joined, "--process", str(k)] if joined else [] for k in range(count)]
        more[0] += ["--json", str(file)]
        for ended in run_together([[*command, *words] for words in more], kernels=folder_of_kernels()):
            if ended.code != 0:
                raise WrongAnswerError(f"`uat-jax prove` by {count}: {ended.last_words}")
        return file.read_text(encoding="utf-8")


CASES = (
    Case(
        name="processes",
        question="What do several processes gain for the trials of a comparison?",
        build=build,
        quick=({"processes": 2, "trials": 4, "dtype": "float32"},),
        standard=({"processes": 2, "trials": 400, "dtype": "float32"},),
        full=tuple({"processes": 2, "trials": trials, "dtype": "float32"} for trials in (100, 400, 1600)),
        axes=("trials",),
        rounds=1,
        compiled=False,
    ),
)
