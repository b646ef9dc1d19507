"""What the whole ledger costs: fresh interpreters that run ``uat-jax prove``, and where the time goes.

Cold finds an empty folder of compiled kernels, warm the one that the last cold run has filled. The memory is that of
all processes together.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

import jax
from sympy.core.cache import clear_cache

from uat_jax.bench import additions
from uat_jax.bench.case import Case, Experiment, Program, WrongAnswerError
from uat_jax.bench.interpreters import folder_of_kernels, run
from uat_jax.decide.decision import decide
from uat_jax.decide.settings import Settings
from uat_jax.ledger.ledger import CHAPTERS, named

EVERYTHING, PASSES = "everything", "passes"
FEW = "lemma-1 diamond eq-22"
REMEMBERING = "uat_jax.decide", "uat_jax.ledger"
"""The packages whose functions remember what they have decided."""


def build_runs(claims: str, jobs: int) -> Experiment:
    """A loop of additions (the baseline), and `uat-jax prove` cold and warm.

    `claims` is "everything" or first words, `jobs` the number of processes.
    """
    wanted = () if claims == EVERYTHING else claims.split()
    ways = {"cold": _cold, "warm": _prove}
    loop = {additions.NAME: Program(_loop, (), compiled=False)}
    programs = {name: Program(way, (wanted, jobs, folder_of_kernels()), compiled=False) for name, way in ways.items()}
    return Experiment({**loop, **programs}, _check, wrong=lambda found: f"not {found}")


def _loop() -> str:
    return PASSES if additions.additions() else "another sum"


def _cold(claims: Sequence[str], jobs: int, kernels: str) -> str:
    shutil.rmtree(kernels, ignore_errors=True)
    return _prove(claims, jobs, kernels)


def _prove(claims: Sequence[str], jobs: int, kernels: str) -> str:
    """ "passes" if a fresh interpreter finds that every claim has the verdict its row expects, else its last words."""
    ended = run("-m", "uat_jax", "prove", "--jobs", str(jobs), *claims, kernels=kernels)
    return PASSES if ended.code == 0 else ended.last_words


def _check(name: str, found: str) -> None:
    if found != PASSES:
        raise WrongAnswerError(f"{name}: wanted {PASSES!r}, got: {found}")


def build_chapters(claims: str) -> Experiment:
    """Every chapter decided in this process, claim after claim; the baseline is all of them. No kernels are kept."""
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
    _forget()
    return all(decide(claim, Settings()).passes for id in ids for claim in named(id))


def _forget() -> None:
    """Nothing comes from another chapter: neither from JAX and SymPy nor from what was found for another claim."""
    jax.clear_caches()
    clear_cache()
    modules = [module for name, module in sys.modules.items() if name.startswith(REMEMBERING)]
    for function in (value for module in modules for value in vars(module).values()):
        if hasattr(function, "cache_clear"):
            function.cache_clear()


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
        compiled=False,
    ),
    Case(
        name="ledger-chapters",
        question="Which chapters of the ledger take the time?",
        build=build_chapters,
        quick=({"claims": "lemma-1"},),
        standard=({"claims": FEW},),
        full=({"claims": EVERYTHING},),
        rounds=1,
        compiled=False,
    ),
)
