"""Many claims decided by several processes, this one among them, one claim at a time in each."""

from __future__ import annotations

import atexit
import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
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

THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What NumPy's matrix products look up when they are loaded; whoever has set one is left alone."""

COLLECTIONS = 50_000, 20, 100
"""When garbage is looked for while claims are decided.

They make hundreds of thousands of small objects beside those of JAX and SymPy that stay, and Python's own setting goes
through all of them so often that it takes a tenth of the time; the memory is the same.
"""

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
    with _collecting_rarely():
        if jobs <= 1 or _accelerated(settings):  # asked last: JAX has to be started for it
            return _here(names, settings, progress)
        return _spread(names, settings, jobs, progress)


@contextmanager
def _collecting_rarely() -> Iterator[None]:
    usual = gc.get_threshold()
    gc.set_threshold(*COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


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
    """This process decides claims from the last one on, while the others start and decide from the first one on."""
    # Processes are spawned, not forked: JAX has threads.
    pool = ProcessPoolExecutor(jobs - 1, get_context("spawn"), initializer=_started)
    with _sharing_cores(jobs), pool:
        try:
            theirs = {name: pool.submit(_decide, name, settings) for name in names}
            found = _taken_back(theirs, settings, jobs, progress)
            waiting: set[Future[Certificate]] = {theirs[name] for name in names if name not in found}
            while waiting:
                progress(len(names) - len(waiting), _begun(theirs)[: jobs - 1])
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                _raise_errors(done)
        except BrokenProcessPool:
            raise BudgetError("a process was killed, probably for want of memory; try --jobs 1") from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return {name: found[name] if name in found else theirs[name].result() for name in names}


def _started() -> None:
    """Prepare a process that decides claims for another one: an interrupt ends it without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(*COLLECTIONS)
    atexit.register(gc.freeze)  # to look for garbage once more at the end would take a second


@contextmanager
def _sharing_cores(jobs: int) -> Iterator[None]:
    """Processes that start meanwhile multiply matrices in as many threads as each has cores: more would only wait."""
    unset = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, str(max(1, (os.cpu_count() or 1) // jobs))))
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]


def _taken_back(
    theirs: dict[str, Future[Certificate]], settings: Settings, jobs: int, progress: Progress
) -> dict[str, Certificate]:
    """The certificates of those claims that no other process has begun when this one comes to them."""
    found: dict[str, Certificate] = {}
    for name, future in reversed(theirs.items()):
        if future.cancel():
            done = [f for f in theirs.values() if f.done() and not f.cancelled()]
            _raise_errors(done)
            progress(len(found) + len(done), [name, *_begun(theirs)][:jobs])
            found[name] = _decide(name, settings)
    return found


def _begun(theirs: Mapping[str, Future[Certificate]]) -> list[str]:
    return [name for name, future in theirs.items() if future.running()]


def _raise_errors(done: Iterable[Future[Certificate]]) -> None:
    for future in done:
        future.result()
