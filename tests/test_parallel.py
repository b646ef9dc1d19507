"""Many claims in several processes: the same certificates as one after the other, and errors that arrive."""

import dataclasses
import os
import subprocess
import sys

import pytest

from uat_jax.decide.settings import Settings
from uat_jax.errors import InputError
from uat_jax.ledger import parallel
from uat_jax.ledger.ledger import claims, find, named
from uat_jax.ledger.parallel import CLAIMS_PER_PROCESS, decide_all

SYMBOLIC = Settings(dtypes=(), depth=2)
SOME = named("diamond")
"""Enough claims for two processes."""


@pytest.fixture(scope="module")
def alone():
    return decide_all(SOME, SYMBOLIC, jobs=1)


def test_two_processes_find_what_one_finds(alone, monkeypatch):
    """One of them is this process, which takes claims from the last one on."""
    assert len(SOME) > CLAIMS_PER_PROCESS
    seen, mine = [], []
    monkeypatch.setattr(parallel, "find", lambda name: mine.append(name) or find(name))
    together = decide_all(SOME, SYMBOLIC, jobs=2, progress=lambda done, now: seen.append((done, tuple(now))))
    assert list(together) == list(alone) == [claim.id for claim in SOME]
    assert {name: c.to_json() for name, c in together.items()} == {name: c.to_json() for name, c in alone.items()}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {name for _, now in seen for name in now} <= {claim.id for claim in SOME}
    backwards = [claim.id for claim in reversed(SOME)]
    assert mine[:1] == backwards[:1] and mine == [name for name in backwards if name in mine]


@pytest.mark.parametrize("jobs", [1, 2])
def test_certificates_without_statements_say_the_same_otherwise(alone, jobs):
    """Also where they had been written before: nothing that is remembered holds them, or lacks them."""
    bare = decide_all(SOME, SYMBOLIC, jobs=jobs, statements=False)
    without = lambda c: dataclasses.replace(
        c, evidence=tuple(dataclasses.replace(e, statements=()) for e in c.evidence)
    )
    assert not any(evidence.statements for c in bare.values() for evidence in c.evidence)
    assert {name: c.to_json() for name, c in bare.items()} == {name: without(c).to_json() for name, c in alone.items()}
    assert any(evidence.statements for c in alone.values() for evidence in c.evidence)
    again = decide_all(SOME, SYMBOLIC, jobs=1)
    assert {name: c.to_json() for name, c in again.items()} == {name: c.to_json() for name, c in alone.items()}


@pytest.mark.parametrize("own", [None, "7"])
def test_a_command_of_many_processes_has_one_thread_for_products_unless_the_user_chose(own):
    """Asked in a fresh process, since NumPy looks it up once."""
    asked = "import os, sys, uat_jax.__main__ as m; sys.argv = ['uat-jax', 'prove', 'none-such']; m.command(); "
    asked += "print(os.environ['OPENBLAS_NUM_THREADS'], len(os.listdir('/proc/self/task')))"
    chosen = {} if own is None else {"OPENBLAS_NUM_THREADS": own}
    usual = {
        name: value for name, value in os.environ.items() if name not in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    }
    run = subprocess.run(
        [sys.executable, "-c", asked], env={**usual, **chosen}, capture_output=True, text=True, check=True
    )
    threads, running = run.stdout.split()
    assert threads == (own or "1")
    assert own or running == "1"  # and can be forked


@pytest.mark.parametrize(("threads", "way"), [(1, "fork"), (2, "spawn"), (None, "spawn")])
def test_only_a_process_of_one_thread_is_forked(threads, way, monkeypatch):
    """`threads` is None where the system does not tell."""

    made: list[tuple[int, str]] = []
    given: list[object] = []

    class Pool:
        def __init__(self, count, context, initializer):
            made.append((count, context.get_start_method()))

        def shutdown(self, wait, cancel_futures):
            assert not wait and cancel_futures

        def submit(self, task):
            given.append(task)

    monkeypatch.setattr(parallel, "_threads", lambda: threads)
    monkeypatch.setattr(parallel, "ProcessPoolExecutor", Pool)
    with parallel._processes(3):
        assert made == [(3, way)]
        assert len(given) == (way == "fork")


def test_few_claims_start_no_process(monkeypatch):
    monkeypatch.setattr(parallel, "ProcessPoolExecutor", None)
    assert list(decide_all(SOME[:2], SYMBOLIC, jobs=8)) == [claim.id for claim in SOME[:2]]


@dataclasses.dataclass
class Device:
    """The one that JAX takes."""

    platform: str


@pytest.mark.parametrize("jobs", [None, 2])
@pytest.mark.parametrize(
    ("asked", "own", "alone"),
    [
        (None, "cpu", False),
        (None, "gpu", True),
        (None, "tpu", True),
        (None, "METAL", True),
        ("cpu", "gpu", False),
        ("gpu", "cpu", True),
        ("tpu", "cpu", True),
    ],
)
def test_an_accelerator_belongs_to_one_process(asked, own, alone, jobs, monkeypatch):
    """Whether it is asked for or JAX's own choice, and however many processes are."""
    monkeypatch.setattr(parallel, "default_device", lambda: Device(own))
    monkeypatch.setattr(parallel.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(parallel, "_here", lambda names, settings, progress: {"here": 1})
    monkeypatch.setattr(parallel, "_spread", lambda names, settings, pool, jobs, progress: {"processes": jobs})
    found = decide_all(SOME, dataclasses.replace(SYMBOLIC, device=asked), jobs=jobs)
    assert found == ({"here": 1} if alone else {"processes": 2})


@pytest.mark.parametrize(("wanted", "jobs"), [(SOME, 1), (SOME[:2], 8)])
def test_jax_is_not_asked_for_a_device_where_one_process_is_enough(wanted, jobs, monkeypatch):
    monkeypatch.setattr(parallel, "default_device", None)
    monkeypatch.setattr(parallel, "_here", lambda names, settings, progress: names)
    assert decide_all(wanted, SYMBOLIC, jobs=jobs) == [claim.id for claim in wanted]


def test_errors_of_a_process_arrive():
    """Only a worker looks for the file: its error is raised here, as it was there."""
    missing = dataclasses.replace(SYMBOLIC, dtypes=("float32",), weights="no-such-file.npz")
    with pytest.raises(InputError, match="no-such-file.npz"):
        decide_all((claims()[0], *SOME), missing, jobs=2)


@pytest.mark.parametrize("jobs", [0, -1])
def test_no_job_is_bad_input(jobs):
    with pytest.raises(InputError, match=f"{jobs} jobs"):
        decide_all(SOME, SYMBOLIC, jobs=jobs)


def test_the_first_words_of_ids_name_claims():
    assert {claim.id for claim in named("updates")} == {c.id for c in claims() if c.id.startswith("updates.")}
    assert [claim.id for claim in named("lemma-1")][0] == "lemma-1"
    with pytest.raises(InputError, match="unknown claim 'diamont'; did you mean"):
        named("diamont")


def test_long_claims_are_begun_first():
    """They are claims of the ledger, and stand at the ends of the list, from which both processes begin."""
    names = [claim.id for claim in claims()]
    ordered = parallel._long_ones_outside(names)
    assert (*ordered[:2], ordered[-1]) == parallel.LONG and sorted(ordered) == sorted(names)
    assert parallel._long_ones_outside(names[:3]) == names[:3]
