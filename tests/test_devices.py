"""One device and eight give the same bits, and finished trials are never computed again."""

import dataclasses
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from uat_jax import devices
from uat_jax.decide import memory, trial_figures
from uat_jax.decide.floats import compare, compare_on
from uat_jax.decide.kept_trials import from_line
from uat_jax.decide.memory import check_bytes, check_fits, free_bytes, largest_that_fits, needed_bytes
from uat_jax.decide.trials import block_size, given_trials
from uat_jax.errors import InputError, MemoryLimitError

SEED = 5


@dataclasses.dataclass
class Device:
    """One that is not here."""

    platform: str
    device_kind: str


@pytest.mark.parametrize("found", [Device("gpu", "NVIDIA H100 80GB HBM3"), Device("tpu", "TPU v6 lite"), None])
def test_what_is_computed_is_said_of_the_device_in_use(found, monkeypatch):
    if found is not None:
        monkeypatch.setattr(devices, "default_device", lambda: found)
    device = found or jax.devices()[0]
    stated = {"device_platform": device.platform, "device_kind": device.device_kind}
    assert devices.numerics() == {**stated, "matmul_precision": "highest"}
    assert devices.numerics("default") == {**stated, "matmul_precision": "default"}


def once(x):
    return x * x * x + x


def factored(x):
    return x * (x * x + jnp.ones_like(x))


def wrong(x):
    return x * (x * x - jnp.ones_like(x))


def numbers(*shape):
    return np.random.default_rng(SEED).normal(size=shape).astype(np.float32)


def compared(trials, g=factored, seed=SEED, keep=None):
    """At the first of 16 inputs."""
    print("seed", seed)
    return compare_on(once, g, numbers(16, 4)[:trials], dtype="float32", seed=seed, samples=32, keep=keep)


# --- eight devices -----------------------------------------------------------------------------------


def product(a):
    return jnp.tanh(a["w"] @ a["x"])


def outputs(devices):
    """product at 100 inputs and one shared matrix, on these devices, in blocks of 16."""
    arguments = {"w": numbers(96, 96), "x": numbers(100, 96)}
    batch = dataclasses.replace(given_trials(arguments, {"w": None, "x": 0}, "cpu"), devices=devices)
    kernel, found = batch.kernel(product, 16), {}
    for rows in batch.blocks(16, range(7)):
        found |= dict(zip(rows.tolist(), kernel(batch.rows(rows)), strict=True))
    return np.stack([found[trial] for trial in range(100)])


def drawn():
    draw = lambda key: jax.random.normal(key, (4,), jnp.float32)
    found = compare(once, factored, draw, dtype="float32", trials=20, seed=SEED, samples=32)
    return json.loads(json.dumps(dataclasses.asdict(found)))


PROGRAM = """
import json
import uat_jax
from test_devices import *
alone = outputs(jax.devices()[:1])
same = [np.array_equal(alone, outputs(jax.devices()[:count])) for count in (3, 8)]
with jax.set_mesh(jax.make_mesh((8,), ("trials",))):
    certified = uat_jax.certify(once, factored, jax.ShapeDtypeStruct((4,), jnp.float32)).verdict
print(json.dumps([float(np.abs(alone).max()), same, certified, drawn()]))
"""


def test_one_device_and_eight_give_the_same_numbers():
    """Neither 7 blocks nor 100 trials are a multiple of 3 or of 8.  A mesh that the user has set is no obstacle."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    environment = dict(os.environ, XLA_FLAGS=flags, JAX_PLATFORMS="cpu")
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    largest, same, certified, eight = json.loads(done.stdout)
    assert largest > 0.5 and same == [True, True] and certified == "CERTIFIED"
    assert len(jax.devices()) == 1 and drawn() == eight


# --- kept trials -------------------------------------------------------------------------------------


def lines(folder):
    return sorted(line for file in folder.glob("*/trials-*.jsonl") for line in file.read_bytes().splitlines())


def test_finished_trials_are_taken_and_new_ones_added(tmp_path, monkeypatch):
    """5 and then 12 trials are 12 at once; what is kept is not computed again, not even by a longer run."""
    at_once = compared(12)
    assert compared(5, keep=tmp_path).trials == 5
    assert len(lines(tmp_path)) == 5
    assert compared(12, keep=tmp_path) == at_once
    assert len(lines(tmp_path)) == 12
    monkeypatch.setattr(trial_figures.TwoPrograms, "_figures", None)  # would be called for a missing trial
    assert compared(12, keep=tmp_path) == at_once
    assert compared(7, keep=tmp_path).trials == 7
    with pytest.raises(TypeError):
        compared(13, keep=tmp_path)


def test_figures_of_another_program_or_seed_are_left_alone(tmp_path):
    assert compared(4, keep=tmp_path).agrees
    assert not compared(4, g=wrong, keep=tmp_path).agrees
    assert compared(4, seed=SEED + 1, keep=tmp_path).seed == SEED + 1
    stated = [json.loads(file.read_text()) for file in tmp_path.glob("*/comparison.json")]
    assert sorted(s["seed"] for s in stated) == [SEED, SEED, SEED + 1]
    assert len({s["g"] for s in stated}) == 2


def test_other_arguments_of_the_same_trial_are_not_taken(tmp_path):
    """The programs, seed and shapes are the same; the weights are not."""
    scaled = lambda a: a["w"] * a["x"]
    run = lambda w: compare_on(
        scaled, scaled, {"w": w, "x": numbers(3, 4)}, {"w": None, "x": 0}, dtype="float32", samples=32, keep=tmp_path
    )
    first, other = numbers(4), numbers(5)[1:]
    found = run(first)
    assert run(other).worst_input != found.worst_input and run(first) == found
    assert len(lines(tmp_path)) == 6


@pytest.mark.parametrize("damage", ["cut", "digit", "noise"])
def test_damaged_lines_are_computed_again(tmp_path, damage):
    whole = compared(6, keep=tmp_path)
    (file,) = tmp_path.glob("*/trials-*.jsonl")
    text = file.read_text()
    end = text.rstrip("\n")
    damaged = {"cut": end[: -len(end) // 12], "digit": text.replace("A", "B", 1), "noise": text + "\x00\xff\n{}\n"}
    file.write_text(damaged[damage], encoding="latin-1")
    assert compared(6, keep=tmp_path) == whole
    assert set(lines(tmp_path)) >= set(text.encode().splitlines())


def test_lines_of_another_comparison_are_not_taken(tmp_path):
    """The arguments of their trials are the same."""
    assert compared(4, keep=tmp_path).agrees
    (right,) = tmp_path.glob("*/trials-*.jsonl")
    found = compared(4, g=wrong, keep=tmp_path)
    (other,) = set(tmp_path.glob("*/trials-*.jsonl")) - {right}
    other.write_text(right.read_text())
    assert compared(4, g=wrong, keep=tmp_path) == found and not found.agrees


@pytest.mark.parametrize("text", ["nonsense", "null", "[]", '[0, "", "AAAA"]', '[0, "", ""]', "[{}, 1, 2]"])
def test_nonsense_with_a_checksum_is_no_line(text):
    assert from_line(f"{zlib.crc32(text.encode()):08x} {text}\n") is None


EXP = {
    "plain": jnp.exp,
    "barrier": lambda x: jnp.exp(jax.lax.optimization_barrier(x)),
    "accurate": lambda x: jax.lax.exp(x, accuracy=jax.lax.AccuracyMode.HIGHEST),
}


def test_programs_that_are_compiled_otherwise_are_others(tmp_path):
    """They have one value, and may have other errors."""
    for f in EXP.values():
        compare_on(f, f, numbers(2, 4), dtype="float32", samples=32, keep=tmp_path)
    assert len(list(tmp_path.iterdir())) == len(EXP)


def test_flags_of_the_compiler_are_part_of_the_comparison(tmp_path, monkeypatch):
    """But for the number of devices; that JAX has read them already does not matter here."""
    for flags in ("", "--xla_force_host_platform_device_count=8", "--xla_cpu_enable_fast_math=true"):
        monkeypatch.setenv("XLA_FLAGS", flags)
        compared(2, keep=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_cannot_be_used(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        compared(2, keep=tmp_path / "file")


# --- memory ------------------------------------------------------------------------------------------

CPU = jax.devices("cpu")[0]


def square(n):
    return jax.jit(lambda x: jnp.tanh(x @ x) @ x).lower(jax.ShapeDtypeStruct((n, n), jnp.float32)).compile()


def test_memory_is_predicted_with_the_size_that_fits():
    """10^6 rows of 10^6 floats are 4 TB; what is said to fit does, and a 32nd of the size more does not."""
    assert needed_bytes(check_fits(square, 64, CPU, "width")) >= 2 * 64 * 64 * 4
    with pytest.raises(
        MemoryLimitError, match=r"width 1000000 needs .* TiB .* cpu has .* free; width (\d+) would fit"
    ) as e:
        check_fits(square, 1_000_000, CPU, "width")
    fits = int(str(e.value).rpartition("width ")[2].split()[0])
    assert needed_bytes(square(fits)) < free_bytes(CPU) * 1.2
    assert needed_bytes(square(fits + 2 * 1_000_000 // 64)) > free_bytes(CPU) * 0.8


@pytest.mark.parametrize("version", [0, 1])
def test_copies_of_files_are_free_memory(version, tmp_path, monkeypatch):
    """1,000 bytes are used of 4,000, and 800 of these hold files."""
    _, limit, used, copies = memory.CONTROL_GROUPS[version]
    for name, text in {limit: "4000\n", used: "1000\n", "memory.stat": f"anon 200\n{copies} 800\n"}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "CONTROL_GROUPS", [(tmp_path, limit, used, copies)])
    assert free_bytes(CPU) == 3800 // len(jax.devices("cpu"))
    (tmp_path / limit).write_text("max\n")
    assert free_bytes(CPU) > 4000


def test_the_largest_size_is_found_within_a_64th():
    needed = lambda n: 100 + n * n
    fits = largest_that_fits(needed, 6400, needed(3000))
    assert 2900 <= fits <= 3000
    assert largest_that_fits(needed, 6400, 10) == 0
    check_bytes(1, CPU, "nothing")
    with pytest.raises(MemoryLimitError, match="a heap needs 1 PiB .* take less"):
        check_bytes(2.0**50, CPU, "a heap")


def test_blocks_depend_on_shapes_alone():
    shapes = {"w": jax.ShapeDtypeStruct((512, 512), jnp.float32), "x": jax.ShapeDtypeStruct((512,), jnp.float32)}
    assert block_size(shapes, frozenset([1]), shapes["x"]) == 256  # 2^20 bytes / (2 · 512 · 4)
    assert block_size(shapes, frozenset([0, 1]), shapes["x"]) == 1  # each trial has weights of its own
    small = {"w": shapes["w"], "x": jax.ShapeDtypeStruct((3,), jnp.float32)}
    assert block_size(small, frozenset([1]), small["x"]) == 256
