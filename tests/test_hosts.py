"""Two processes share the trials of one comparison; one that is unlike the other, or lost, is an error of one line."""

import dataclasses
import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from uat_jax.bench.interpreters import free_address
from uat_jax.cli import main
from uat_jax.decide.floats import compare
from uat_jax.decide.hosts import Hosts, check_alike, gather, process_count, process_index
from uat_jax.errors import InputError

SEED = 11
TRIALS = 9


def once(x):
    return x * x * x + x


def factored(x):
    return x * (x * x + jnp.ones_like(x))


def draw(key):
    return jax.random.normal(key, (4,), jnp.float32)


def compared(keep=None, seed=SEED, trials=TRIALS):
    found = compare(once, factored, draw, dtype="float32", trials=trials, seed=seed, samples=32, keep=keep)
    return json.dumps(dataclasses.asdict(found), sort_keys=True)


HEAD = """
import os, signal, sys
from test_hosts import *
from uat_jax.decide.hosts import Hosts, supervised
from uat_jax.decide.kept_trials import KeptTrials
from uat_jax.errors import UatJaxError
hosts = Hosts(sys.argv[1], 2, int(sys.argv[2]), wait=60)
"""

SHARED = (
    HEAD
    + """
hosts.join()
print(compared())
print(gather(f"text of {hosts.process} ü"))
for unlike in (
    lambda: compared(seed=SEED + hosts.process),
    lambda: compared(trials=TRIALS + hosts.process),
    lambda: check_alike({"jax": f"0.{hosts.process}", "python": "3"}),
    lambda: check_alike({"dtypes": ["float32"][hosts.process :]}),
    lambda: compare(once, factored, lambda key: draw(key) / (hosts.process - 1), dtype="float32", trials=2, seed=0),
):
    try:
        print("no error:", unlike())
    except UatJaxError as error:
        print(f"{type(error).__name__}: {error}")
jax.distributed.shutdown()
"""
)

KILLED = (
    HEAD
    + """
def work(keep):
    if hosts.process == 1:
        add = KeptTrials.add
        def and_die(kept, trial, *rest):
            add(kept, trial, *rest)
            if trial == 5:
                os.kill(os.getpid(), signal.SIGKILL)
        KeptTrials.add = and_die
    print(compared(keep))
    return 0

if __name__ == "__main__":
    try:
        sys.exit(supervised(work, hosts, sys.argv[3]))
    except UatJaxError as error:
        print(f"uat-jax: {error}", file=sys.stderr)
        sys.exit(2)
"""
)


def run_two(tmp_path, program, *arguments):
    """What both processes print: (exit code, stdout, stderr) of each."""
    coordinator = free_address()
    file = tmp_path / "program.py"
    file.write_text(program)
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    environment = dict(os.environ, JAX_PLATFORMS="cpu", PYTHONPATH=path)
    start = lambda process: subprocess.Popen(
        [sys.executable, str(file), coordinator, process, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    running = [start("0"), start("1")]
    texts = [process.communicate(timeout=300) for process in running]
    return [(process.returncode, *text) for process, text in zip(running, texts, strict=True)]


def test_two_processes_find_what_one_finds_and_say_what_differs(tmp_path):
    alone = compared()
    for code, stdout, stderr in run_two(tmp_path, SHARED):
        assert code == 0, stderr
        lines = stdout.splitlines()  # nothing of Gloo's among them
        assert lines[0] == alone and json.loads(alone)["agrees"]
        assert lines[1] == "['text of 0 ü', 'text of 1 ü']"
        assert lines[2:] == [
            f"HostsError: process 0 has seed {SEED}, process 1 has {SEED + 1}; start all alike",
            f"HostsError: process 0 has trials {TRIALS}, process 1 has {TRIALS + 1}; start all alike",
            "HostsError: process 0 has jax 0.0, process 1 has 0.1; start all alike",
            "HostsError: process 0 has dtypes ['float32'], process 1 has []; start all alike",
            "InputError: process 1: got NaN or infinity among the arguments; pass finite numbers",
        ]


def test_a_killed_process_loses_no_finished_trial(tmp_path):
    """Process 1 has the trials 1, 3, 5, 7 and is killed when 5 is finished; process 0 has the others."""
    kept = tmp_path / "kept"
    for process, (code, stdout, stderr) in enumerate(run_two(tmp_path, KILLED, str(kept))):
        assert (code, stdout) == (2, "") and stderr.count("\n") == 1, stderr
        assert ("signal 9" if process else "another process was lost") in stderr and "start all" in stderr
    trials = [line.split()[1] for file in kept.glob("*/trials-*.jsonl") for line in file.read_text().splitlines()]
    assert sorted(trials) == [f"[{trial}," for trial in (0, 1, 2, 3, 4, 5, 6, 8)]
    assert compared(kept) == compared()
    (file,) = kept.glob("*/trials-0.jsonl")
    assert len(file.read_text().splitlines()) == 6  # trial 7 alone was computed


@pytest.mark.campaign
def test_the_command_line_on_two_processes(tmp_path):
    """The same certificates as of one process; other seeds are said by both; a missing process is waited for."""
    command = [sys.executable, "-m", "uat_jax", "prove", "residual.closed-form", "--dtype", "float32", "--trials", "40"]
    alone, two = tmp_path / "alone.json", tmp_path / "two.json"
    subprocess.run([*command, "--json", str(alone)], check=True, capture_output=True)
    together = lambda port, process, *more: subprocess.Popen(
        [*command, "--coordinator", f"127.0.0.1:{port}", "--processes", "2", "--process", process, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    pair = [together(12711, "0", "--json", str(two)), together(12711, "1")]
    texts = [process.communicate(timeout=500) for process in pair]
    assert [process.returncode for process in pair] == [0, 0], texts
    assert "PROVED" in texts[0][0] and "Gloo" not in texts[0][0] and texts[1][0] == ""
    assert two.read_text() == alone.read_text()
    pair = [together(12712, "0"), together(12712, "1", "--seed", "3")]
    for process in pair:
        _, stderr = process.communicate(timeout=500)
        assert (process.returncode, stderr.count("process 0 has seed 0, process 1 has 3")) == (2, 1)
    lonely = together(12713, "0", "--wait", "3")
    _, stderr = lonely.communicate(timeout=500)
    assert lonely.returncode == 2 and "did not start within 3 seconds" in stderr and "Traceback" not in stderr


def test_one_process_needs_no_others():
    assert (process_index(), process_count(), gather("alone")) == (0, 1, ["alone"])
    check_alike({"seed": 1})


@pytest.mark.parametrize(
    "options, message",
    [
        (("here", 2, 0), "coordinator 'here'"),
        (("h:1", 0, 0), "got 0 processes"),
        (("h:1", 2, 2), "got process 2; wanted one from 0 to 1"),
        (("h:1", 2, -1), "got process -1"),
        (("h:1", 2, 0, 0), "0 seconds"),
        (("h:1", 2, 0, 2**31), "2147483648 seconds to wait; wanted 1 to 2147483647"),
        ((":1", 2, 0), "coordinator ':1'"),
        (("h:²", 2, 0), "coordinator 'h:²'"),
        (("h:0", 2, 0), "coordinator 'h:0'"),
        (("h:65536", 2, 0), "coordinator 'h:65536'"),
    ],
)
def test_bad_hosts(options, message):
    with pytest.raises(InputError, match=message):
        Hosts(*options)


@pytest.mark.parametrize(
    "options, message",
    [
        (["--process", "0"], "no --coordinator and no --processes"),
        (["--coordinator", "h:1", "--processes", "2"], "no --process;"),
        (["--coordinator", "h", "--processes", "2", "--process", "0"], "wanted HOST:PORT"),
    ],
)
def test_bad_options(capsys, options, message):
    assert main(["prove", "lemma-1", *options]) == 2
    assert message in capsys.readouterr().err
