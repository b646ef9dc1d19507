"""What the whole ledger costs: fresh interpreters that run ``uat-jax prove``, and where the time goes.

Cold finds an empty folder of compiled kernels, warm a full one. The memory is that of all processes together.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from uat_jax.bench.case import Case, Experiment, Program, WrongAnswerError
from uat_jax.certify.decision import decide
from uat_jax.certify.settings import Settings
from uat_jax.claims.ledger import CHAPTERS, named

EVERYTHING, PASSES = "everything", "passes"
FEW = "lemma-1 diamond eq-22"


def build_runs(claims: str, jobs: int) -> Experiment:
    """`uat-jax prove` cold (the baseline) and warm; `claims` is "everything" or first words, `jobs` the processes."""
    wanted = () if claims == EVERYTHING else claims.split()
    folder = _kept_folder()
    programs = {
        "cold": Program(_cold, (wanted, jobs), compiled=False),
        "warm": Program(_prove, (wanted, jobs, folder), compiled=False),
    }
    _check("warm", _prove(wanted, jobs, folder))  # fills the folder
    return Experiment(programs, _check, wrong=lambda found: f"not {found}")


@functools.cache
def _kept_folder() -> str:
    return tempfile.mkdtemp(prefix="uat_jax_bench_")


def _cold(claims: Sequence[str], jobs: int) -> str:
    with tempfile.TemporaryDirectory() as cache:
        return _prove(claims, jobs, cache)


def _prove(claims: Sequence[str], jobs: int, cache: str) -> str:
    """ "passes" if a fresh interpreter finds that every claim has the verdict its row expects, else its last words."""
    command = [sys.executable, "-m", "uat_jax", "prove", "--jobs", str(jobs), *claims]
    environment = {**os.environ, "UAT_JAX_CACHE": cache, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    return PASSES if done.returncode == 0 else done.stdout[-300:].strip()


def _check(name: str, found: str) -> None:
    if found != PASSES:
        raise WrongAnswerError(f"{name}: `uat-jax prove` says: {found}")


def build_chapters(claims: str) -> Experiment:
    """Every chapter decided in this process, claim after claim; the baseline is all of them."""
    wanted = None if claims == EVERYTHING else {c.id for name in claims.split() for c in named(name)}
    chapters = {
        chapter.title: tuple(c.id for c in chapter.claims if wanted is None or c.id in wanted) for chapter in CHAPTERS
    }
    chapters = {title: ids for title, ids in chapters.items() if ids}
    everything = tuple(id for ids in chapters.values() for id in ids)
    programs = {title: Program(_all_pass, (ids,), compiled=False) for title, ids in chapters.items()}
    programs = {"the whole ledger": Program(_all_pass, (everything,), compiled=False), **programs}
    return Experiment(programs, _all_expected, wrong=lambda passed: not passed)


def _all_pass(ids: Sequence[str]) -> bool:
    return all(decide(claim, Settings()).passes for id in ids for claim in named(id))


def _all_expected(name: str, passed: bool) -> None:
    if not passed:
        raise WrongAnswerError(f"{name}: a claim has another verdict than its row expects")


ALL_CORES = os.cpu_count() or 1
CASES = (
    Case(
        name="ledger",
        question="What does it cost to decide the whole ledger, with compiled kernels kept and without?",
        build=build_runs,
        quick=({"claims": "lemma-1", "jobs": 1},),
        standard=({"claims": FEW, "jobs": ALL_CORES},),
        full=({"claims": EVERYTHING, "jobs": ALL_CORES},),
        rounds=1,
    ),
    Case(
        name="ledger-chapters",
        question="Which chapters of the ledger take the time?",
        build=build_chapters,
        quick=({"claims": "lemma-1"},),
        standard=({"claims": FEW},),
        full=({"claims": EVERYTHING},),
        rounds=1,
    ),
)
