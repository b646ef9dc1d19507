"""Many claims decided by several processes, one claim at a time in each."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from math import ceil
from multiprocessing import get_context

from uat_jax.decide.certificate import Certificate
from uat_jax.decide.decision import decide
from uat_jax.decide.settings import Settings
from uat_jax.devices import default_device
from uat_jax.errors import BudgetError, InputError
from uat_jax.ledger.claim import Claim
from uat_jax.ledger.ledger import find

CLAIMS_PER_PROCESS = 8
"""A process pays only if it decides so many claims: starting it takes seconds."""

MOST_PROCESSES = 8

Progress = Callable[[int, Sequence[str]], None]
"""(claims decided, ids of those being decided) → None."""


def decide_all(
    wanted: Sequence[Claim], settings: Settings, *, jobs: int | None = None, progress: Progress = lambda done, now: None
) -> dict[str, Certificate]:
    """id → certificate, in the order asked for.

    ``jobs``: the number of processes, by default that of the cores (at most 8).  Few claims are decided here, and on an
    accelerator, which belongs to one process, all are.  Raises `InputError` if ``jobs`` is below 1 and what deciding a
    claim raises.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"{jobs} jobs are not possible; wanted at least 1")
    jobs = min(jobs or os.cpu_count() or 1, MOST_PROCESSES, ceil(len(wanted) / CLAIMS_PER_PROCESS))
    names = [claim.id for claim in wanted]
    if jobs <= 1 or _accelerated(settings):  # asked last: JAX has to be started for it
        return _here(names, settings, progress)
    return _spread(names, settings, jobs, progress)


def _accelerated(settings: Settings) -> bool:
    """Whether the device of the settings, or JAX's own choice, is anything but the CPU."""
    return (settings.device or default_device().platform) != "cpu"


def _decide(name: str, settings: Settings) -> Certificate:
    return decide(find(name), settings)


def _here(names: Sequence[str], settings: Settings, progress: Progress) -> dict[str, Certificate]:
    found = {}
    for done, name in enumerate(names):
        progress(done, [name])
        found[name] = _decide(name, settings)
    return found


def _spread(names: Sequence[str], settings: Settings, jobs: int, progress: Progress) -> dict[str, Certificate]:
    # Processes are spawned, not forked: JAX has threads.  An interrupt ends them without a word.
    start = (signal.SIGINT, signal.SIG_DFL)
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=signal.signal, initargs=start) as pool:
        running: dict[Future[Certificate], str] = {pool.submit(_decide, name, settings): name for name in names}
        try:
            waiting = set(running)
            while waiting:
                progress(len(names) - len(waiting), [running[f] for f in running if f.running()][:jobs])
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
        except BrokenProcessPool:
            raise BudgetError("a process was killed, probably for want of memory; try --jobs 1") from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return {name: future.result() for future, name in running.items()}
