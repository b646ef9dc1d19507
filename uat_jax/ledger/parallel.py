"""Many claims decided by several processes, this one among them, one claim at a time in each."""

from __future__ import annotations

import atexit
import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from functools import partial
from math import ceil
from multiprocessing import get_context

from uat_jax.decide.certificate import Certificate
from uat_jax.decide.decision import decide
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import left_out
from uat_jax.devices import default_device
from uat_jax.errors import BudgetError, InputError
from uat_jax.ledger.claim import Claim
from uat_jax.ledger.ledger import find

CLAIMS_PER_PROCESS = 8
"""A process pays only if it decides so many claims: starting it takes seconds."""

MOST_PROCESSES = 8

COLLECTIONS = 5_000_000, 20, 100
"""When garbage is looked for while claims are decided: not before there is much more than the ledger makes.

Nearly all of the hundreds of thousands of small objects that claims make stay, or go by their counts alone.  To look
through each of them once takes a twentieth of the time; not to look takes a tenth more memory.
"""

LONG = ("residual.closed-form", "transformer.closed-form", "attention.matrix")
"""Claims that have programs compiled for every dtype, which takes seconds: none of them is left for the end."""

Progress = Callable[[int, Sequence[str]], None]
"""(claims decided, ids of those being decided) → None."""


def decide_all(
    wanted: Sequence[Claim],
    settings: Settings,
    *,
    jobs: int | None = None,
    progress: Progress = lambda done, now: None,
    statements: bool = True,
) -> dict[str, Certificate]:
    """id → certificate, in the order asked for.

    ``jobs``: the number of processes, by default that of the cores (at most 8).  Few claims are decided here, and on an
    accelerator, which belongs to one process, all are.  ``statements``: whether certificates hold what is proved as
    data, which takes a twentieth of the time.  Raises `InputError` if ``jobs`` is below 1 and what deciding a
    claim raises.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"{jobs} jobs are not possible; wanted at least 1")
    jobs = min(jobs or os.cpu_count() or 1, MOST_PROCESSES, ceil(len(wanted) / CLAIMS_PER_PROCESS))
    names = [claim.id for claim in wanted]
    with _collecting_rarely():
        decided = partial(_decide, settings=settings, statements=statements)
        if jobs <= 1:
            return _here(names, decided, progress)
        with _processes(jobs - 1) as pool:
            if _accelerated(settings):  # asked once processes are forked: JAX has to be started for it
                return _here(names, decided, progress)
            return _spread(names, decided, pool, jobs, progress)


@contextmanager
def _collecting_rarely() -> Iterator[None]:
    usual = gc.get_threshold()
    gc.set_threshold(*COLLECTIONS)
    try:
        yield
    finally:
        _all_are_old()
        gc.set_threshold(*usual)


def _all_are_old() -> None:
    """All objects count as old: of millions of new ones Python would look through each at once."""
    frozen = gc.get_freeze_count()
    gc.freeze()
    if not frozen:  # else they stay with those that the caller has frozen
        gc.unfreeze()


def _accelerated(settings: Settings) -> bool:
    """Whether the device of the settings, or JAX's own choice, is anything but the CPU."""
    return (settings.device or default_device().platform) != "cpu"


Decided = Callable[[str], Certificate]
"""An id → the certificate of that claim."""


def _decide(name: str, *, settings: Settings, statements: bool) -> Certificate:
    with nullcontext() if statements else left_out():
        return decide(find(name), settings)


def _here(names: Sequence[str], decided: Decided, progress: Progress) -> dict[str, Certificate]:
    found = {}
    for done, name in enumerate(names):
        progress(done, [name])
        found[name] = decided(name)
    return found


@contextmanager
def _processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """So many processes.

    A process of a single thread is forked here and now, so that nothing is imported again, which takes seconds.  One
    of several threads, such as one in which JAX has been started, spawns others once there is something to do: in a
    copy of it a lock that another thread holds would never be opened.
    """
    forks = _threads() == 1
    pool = ProcessPoolExecutor(count, get_context("fork" if forks else "spawn"), initializer=_started)
    try:
        if forks:
            pool.submit(_nothing)
        yield pool
    except BrokenProcessPool:
        raise BudgetError("a process was killed, probably for want of memory; try --jobs 1") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # processes end while what they found is shown


def _threads() -> int | None:
    """How many threads this process has, those of libraries included; None where the system does not tell."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return None


def _nothing() -> None:
    """The first task, for which processes are started."""


def _spread(
    names: Sequence[str], decided: Decided, pool: ProcessPoolExecutor, jobs: int, progress: Progress
) -> dict[str, Certificate]:
    """This process decides claims from the last one on, while the others decide from the first one on."""
    theirs = {name: pool.submit(decided, name) for name in _long_ones_outside(names)}
    found = _taken_back(theirs, decided, jobs, progress)
    waiting: set[Future[Certificate]] = {theirs[name] for name in names if name not in found}
    while waiting:
        progress(len(names) - len(waiting), _begun(theirs)[: jobs - 1])
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        _raise_errors(done)
    return {name: found[name] if name in found else theirs[name].result() for name in names}


def _long_ones_outside(names: Sequence[str]) -> list[str]:
    """All names, those of long claims at both ends, where claims are begun."""
    *first, last = LONG
    place = {**dict.fromkeys(first, 0), last: 2}
    return sorted(names, key=lambda name: place.get(name, 1))


def _started() -> None:
    """Prepare a process that decides claims for another one: an interrupt ends it without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(*COLLECTIONS)
    atexit.register(gc.freeze)  # to look for garbage once more at the end would take a second


def _taken_back(
    theirs: dict[str, Future[Certificate]], decided: Decided, jobs: int, progress: Progress
) -> dict[str, Certificate]:
    """The certificates of those claims that no other process has begun when this one comes to them."""
    found: dict[str, Certificate] = {}
    for name, future in reversed(theirs.items()):
        if future.cancel():
            done = [f for f in theirs.values() if f.done() and not f.cancelled()]
            _raise_errors(done)
            progress(len(found) + len(done), [name, *_begun(theirs)][:jobs])
            found[name] = decided(name)
    return found


def _begun(theirs: Mapping[str, Future[Certificate]]) -> list[str]:
    return [name for name, future in theirs.items() if future.running()]


def _raise_errors(done: Iterable[Future[Certificate]]) -> None:
    for future in done:
        future.result()
