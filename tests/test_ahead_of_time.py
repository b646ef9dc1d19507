"""Kernels compiled for accelerators that are not there: names, refusals, what is read off the compiler's answer."""

import dataclasses
import io
import sys
from importlib.metadata import PackageNotFoundError

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

from uat_jax.bench import ahead_of_time, compiled, topologies
from uat_jax.bench.ahead_of_time import compile_for
from uat_jax.bench.case import UnavailableError, WrongAnswerError
from uat_jax.bench.compiled import AheadOfTime, check_device, collectives, compile_kernel, first_line
from uat_jax.bench.kernel import Call, Kernel, Sizes
from uat_jax.bench.kernels import chosen
from uat_jax.bench.topologies import GPUS, TPUS, Topology, fits, target_config, topology
from uat_jax.errors import InputError
from uat_jax.report.ahead_of_time import COLUMNS, cells, show_ahead_of_time

# --- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "platform", "chips"),
    [
        ("v5e:1x1", "tpu", 1),
        ("v5e:2x2", "tpu", 4),
        ("v5p:2x2x1", "tpu", 4),
        ("v6e:16x16", "tpu", 256),
        ("h100", "cuda", 1),
        ("h100:1", "cuda", 1),
        ("h200:8", "cuda", 8),
        ("h200:2x8", "cuda", 16),
        ("h200:1x1x4", "cuda", 4),
    ],
)
def test_a_topology_has_a_name(name, platform, chips):
    found = topology(name)
    assert (found.platform, found.chips) == (platform, chips)


@pytest.mark.parametrize(
    "name", ["", "v5e", "v5e:3x3", "v5e:2x2x1", "v5p:2x2", "v7:2x2", "h100:", "h100:9", "h100:0", "h100:0x8", "a100:1"]
    + ["h100:x", "h100:2x", "h100:1x1x1x1", "V5e:2x2", "v5e:2x2 ", "h200:-1"],
)  # fmt: skip
def test_a_topology_that_does_not_exist_lists_those_that_do(name):
    with pytest.raises(
        InputError, match=r"no topology .*v5e: with 1x1, 2x2, .*v5p: with 2x2x1, .*h100 or h200"
    ) as found:
        topology(name)
    assert "\n" not in str(found.value)


def test_gpus_are_described_as_text():
    for kind, gpu in GPUS.items():
        text = target_config(gpu)
        assert f"device_memory_size: {gpu.memory}" in text and f"memory_bandwidth: {gpu.bandwidth}" in text
        assert gpu.description in text and text.count("{") == text.count("}") and kind.upper() in text
    assert len({target_config(gpu) for gpu in GPUS.values()}) == len(GPUS)


# --- compilers that are not there ------------------------------------------------------------------------------------


def _installed(monkeypatch, **versions: str) -> None:
    def version(package: str) -> str:
        if package.replace("-", "_") not in versions:
            raise PackageNotFoundError(package)
        return versions[package.replace("-", "_")]

    wanted = {
        "jax": ['libtpu==0.0.42.*; extra == "tpu"', 'jax-cuda12-plugin<=0.10.2,>=0.10.1; extra == "cuda12-local"'],
        "jax-cuda12-plugin": ["jax-cuda12-pjrt==0.10.2"],
    }
    monkeypatch.setattr(topologies, "version", version)
    monkeypatch.setattr(topologies, "requires", wanted.get)


CUDA = {"jax_cuda12_plugin": "0.10.2", "jax_cuda12_pjrt": "0.10.2"}


@pytest.mark.parametrize(
    ("name", "versions", "line"),
    [
        ("v5e:2x2", {}, "libtpu is not installed; pip install 'uat_jax[tpu-aot]'"),
        ("h100", {}, "jax-cuda12-plugin is not installed; pip install 'uat_jax[cuda-aot]'"),
        ("h100", {"jax_cuda12_plugin": "0.10.2"}, "jax-cuda12-pjrt is not installed; pip install 'uat_jax[cuda-aot]'"),
        ("v6e:2x2", {"libtpu": "0.0.41.9"}, "got libtpu 0.0.41.9, but jax 0.10.2 wants libtpu==0.0.42.*; pip install"),
        ("h200", CUDA | {"jax_cuda12_pjrt": "0.12.0.1"}, "got jax-cuda12-pjrt 0.12.0.1, but jax-cuda12-plugin 0.10.2"),
        ("h200", CUDA | {"jax_cuda12_plugin": "0.10.0"}, "got jax-cuda12-plugin 0.10.0, but jax 0.10.2 wants"),
    ],
)
def test_a_compiler_that_is_missing_or_does_not_fit_is_one_line(name, versions, line, monkeypatch):
    _installed(monkeypatch, jax="0.10.2", **versions)
    with pytest.raises(UnavailableError) as found:
        compile_for(name, ["residual"])
    assert line in str(found.value) and "\n" not in str(found.value)


@pytest.mark.parametrize("name", ["v5e:2x2", "h100"])
def test_compilers_that_fit_are_not_refused(name, monkeypatch):
    _installed(monkeypatch, jax="0.10.2", libtpu="0.0.42.1", **CUDA)
    topology(name).check()


@pytest.mark.parametrize(
    ("found", "requirement", "right"),
    [
        ("0.0.42.1", 'libtpu==0.0.42.*; extra == "tpu"', True),
        ("0.0.42", "libtpu==0.0.42.*", True),
        ("0.0.421", "libtpu==0.0.42.*", False),
        ("0.0.4", "libtpu==0.0.42.*", False),
        ("0.10.2", "jax-cuda12-plugin<=0.10.2,>=0.10.2", True),
        ("0.10.2.1", "jax-cuda12-plugin<=0.10.2,>=0.10.2", True),
        ("0.10.1", "jax-cuda12-plugin<=0.10.2,>=0.10.2", False),
        ("0.11.0", "jax-cuda12-plugin<=0.10.2,>=0.10.2", False),
        ("0.9.9", "jax-cuda12-plugin<=0.10.2,>=0.10.2", False),
        ("1.0", "nothing-said", True),
    ],
)
def test_versions_are_compared_as_numbers(found, requirement, right):
    assert fits(found, requirement) is right


def test_an_unknown_kernel_is_refused_before_anything_is_compiled(monkeypatch):
    _installed(monkeypatch, jax="0.10.2", libtpu="0.0.42.1")
    monkeypatch.setattr(ahead_of_time.subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    with pytest.raises(InputError, match="no kernel 'gpt3'"):
        compile_for("v5e:2x2", ["residual", "gpt3"])


# --- a process of its own --------------------------------------------------------------------------------------------

WORKER = """
import json, os, sys
for name in sys.argv[2:]:
    if name == LOST and not os.environ.get("JAX_PLATFORMS") == "no":
        print("libtpu: core dumped", file=sys.stderr); os._exit(134)
    print(json.dumps({"kernel": name, "size": {}, "topology": sys.argv[1], "seconds": 1.0}), flush=True)
"""


def _worker(monkeypatch, tmp_path, lost: str) -> None:
    """A module that does as the compiler does, and is lost at one kernel."""
    (tmp_path / "worker.py").write_text(f"LOST = {lost!r}\n{WORKER}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(ahead_of_time, "__name__", "worker")
    monkeypatch.setattr(Topology, "check", lambda self: None)


def test_a_lost_process_costs_one_kernel(monkeypatch, tmp_path):
    _worker(monkeypatch, tmp_path, "transformer")
    told = []
    rows = compile_for("v5e:2x2", ["residual", "transformer", "trials"], progress=told.append)
    assert told == rows and [row.kernel for row in rows] == ["residual", "transformer", "trials"]
    assert [bool(row.seconds) for row in rows] == [True, False, True]
    assert rows[1].reason == "the compiler's process ended with 134: libtpu: core dumped"


def test_a_compiler_that_takes_too_long_is_stopped(monkeypatch, tmp_path):
    _worker(monkeypatch, tmp_path, "")
    (tmp_path / "worker.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(ahead_of_time, "LIMIT", 0.05)
    (row,) = compile_for("v5e:2x2", ["residual"])
    assert row.reason == "the compiler's process ended with -9: it said nothing"


# --- what is read off an executable ----------------------------------------------------------------------------------

HLO = """
HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[256,64]{1,0})->f32[]}
ENTRY %main.10_spmd (param: f32[256,64]) -> f32[] {
  %all-reduce.1 = f32[] all-reduce(%fusion.1), channel_id=1, metadata={op_name="all-reduce(a)" source_file="x.py"}
  %ar-start = f32[8]{0} all-reduce-start(%p), replica_groups={{0,1}}, to_apply=%add
  %ar-done = f32[8]{0} all-reduce-done(%ar-start)
  %all-gather-start.2 = (f32[4]{0}, f32[16]{0}) all-gather-start(%q), dimensions={0}
  %all-gather-done.2 = f32[16]{0} all-gather-done(%all-gather-start.2)
  %cp = f32[4]{0:T(128)} collective-permute(f32[4]{0} %q), source_target_pairs={{0,1}}
  %add.3 = f32[4]{0} add(%cp, %all-gather-done.2), metadata={op_name="jit(f)/ = reduce-scatter(x)"}
  ROOT %rs = f32[2]{0} reduce-scatter(%add.3), dimensions={0}
}
"""


def test_collectives_are_counted_once_each():
    assert collectives(HLO) == {"all-gather": 1, "all-reduce": 2, "collective-permute": 1, "reduce-scatter": 1}
    assert collectives("") == {}
    assert collectives('%f = f32[] fusion(%all-reduce.1), metadata={op_name=" = all-reduce("}') == {}


def test_collectives_of_a_compiled_program_are_counted():
    devices = jax.devices("cpu")[:1]
    mesh = jax.sharding.Mesh(np.array(devices), ("x",))
    total = lambda x: jax.lax.psum(x, "x")
    share = jax.shard_map(total, mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P(), check_vma=False)
    lowered = jax.jit(share).lower(jax.ShapeDtypeStruct((4,), jnp.float32))
    assert collectives(lowered.as_text("hlo")) == {"all-reduce": 1}
    assert collectives(jax.jit(jnp.sum).lower(jax.ShapeDtypeStruct((4,), jnp.float32)).as_text("hlo")) == {}


def test_an_executable_for_the_host_is_not_taken_for_one_of_the_topology():
    """JAX compiles for the host what was lowered for a TPU, without a word."""
    traced = jax.jit(jnp.tanh).trace(jax.ShapeDtypeStruct((2,), jnp.float32))
    executable = traced.lower(lowering_platforms=("tpu",)).compile()

    @dataclasses.dataclass
    class Device:
        platform: str
        device_kind: str

    host = jax.devices("cpu")[0]
    check_device(executable, Device(host.platform, host.device_kind))
    with pytest.raises(WrongAnswerError, match="got an executable for cpu, wanted one for TPU v5 lite"):
        check_device(executable, Device("tpu", "TPU v5 lite"))


class Host(Topology):
    """The devices of this machine in the place of a topology's."""

    def devices(self):
        return jax.devices("cpu")


HOST = Host("h100:1", "h100", (1,))


def test_a_row_says_what_the_compiler_says(monkeypatch):
    (kernel,) = chosen(["kronecker-sum"])
    kernel = dataclasses.replace(kernel, sizes=Sizes({}, kernel.sizes.small))
    monkeypatch.setattr(compiled, "PACKAGES", {"cuda": {}})
    row = compile_kernel(kernel, HOST)
    N, M, h, d = 3, 4, 2, 2
    assert row.reason == "" and row.devices == 1 and row.collectives == {}
    assert row.operations == 2 * h * (N * M * d + N * N * d + N * d * M)
    assert row.arguments == 4 * (h * N * N + h * M * d + h * d * M + N * M) and row.outputs == 4 * N * M
    assert row.seconds and row.counted and row.counted >= row.operations


def test_an_error_of_the_compiler_is_a_reason():
    def build() -> Call:
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory in hbm\nlong report")

    row = compile_kernel(Kernel("twin", __name__, build, Sizes({}, {})), HOST)
    assert row.reason == "the compiler says: RESOURCE_EXHAUSTED: out of memory in hbm" and row.seconds is None
    assert first_line("x" * 500).endswith("x…") and len(first_line("x" * 500)) == 200


def test_an_inexact_product_is_a_reason():
    (kernel,) = chosen(["modular-float64-31"])
    row = compile_kernel(
        dataclasses.replace(kernel, sizes=Sizes({}, kernel.sizes.small)), Host("v5e:1x1", "v5e", (1, 1))
    )
    assert "got a product of float64 matrices for a TPU" in row.reason


# --- the table -----------------------------------------------------------------------------------------------------

ROW = AheadOfTime(
    "trials", {}, "v5e:2x2", "TPU v5 lite", 4, "", 1.5, 2_000_000, None, 1 << 20, None, 4096, 2048, 0, None,
    {"all-reduce": 2}, {"jax": "0.10.2"},
)  # fmt: skip


def test_the_table_has_a_row_for_each_kernel_and_a_line_for_each_failure():
    console = Console(width=200, record=True, file=io.StringIO())
    show_ahead_of_time(console, [ROW, AheadOfTime("gpt2-forward", {}, "v5e:2x2", reason="[out] of memory")])
    text = console.export_text()
    assert "trials × 4" in text and "2 all-reduce" in text and "1.5 s" in text and "nothing was run" in text
    assert "gpt2-forward: not compiled for v5e:2x2: [out] of memory" in text
    assert "counted" not in text and "code" not in text  # columns that would say nothing
    assert len(cells(ROW)) == len(COLUMNS)


# --- with the compilers --------------------------------------------------------------------------------------------


def _need(name: str) -> None:
    try:
        topology(name).check()
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", ["v5e:1x1", "h100"])
def test_a_kernel_is_compiled_for_an_accelerator_that_is_not_there(name):
    _need(name)
    plain, limbs = compile_for(name, ["kronecker-sum", "modular-float64-31"])
    assert plain.reason == "" and plain.devices == 1 and plain.collectives == {}
    assert plain.seconds and plain.arguments and plain.versions
    assert bool(limbs.reason) is (topology(name).platform == "tpu")


def test_every_tpu_topology_exists():
    _need("v5e:2x2")
    code = "; ".join(
        ["import sys", "from uat_jax.bench.topologies import topology"]
        + ["[print(n, len(topology(n).devices()) == topology(n).chips) for n in sys.argv[1:]]"]
    )
    names = [f"{kind}:{layout}" for kind, layouts in TPUS.items() for layout in layouts]
    environment = {**ahead_of_time.os.environ, **ahead_of_time.ENVIRONMENT}
    found = ahead_of_time.subprocess.run(
        [sys.executable, "-c", code, *names], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.split("\n")[:-1] == [f"{name} True" for name in names]
