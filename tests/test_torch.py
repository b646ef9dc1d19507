"""Modules of PyTorch against their ports to JAX: the faithful ones are certified, the wrong ones refuted."""

import re
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj

torch = pytest.importorskip("torch", reason="PyTorch is an extra: pip install 'uat_jax[torch]'")
pytest.importorskip("transformers", reason="three of the ported modules are blocks of transformers")

from torch_ports import PORTS, spec  # noqa: E402 - needs both

SAMPLE = ("MLP", "MultiheadAttention")


def _specs(program):
    """The program's specs; a variance that is kept is positive."""
    weights, *inputs = program.specs
    return {n: uj.positive(s) if n.endswith("running_var") else s for n, s in weights.items()}, *inputs


def _decided(name):
    """Verdicts on the port, and on each wrong one."""
    ported = PORTS[name]
    program = uj.read_torch(ported.module().eval(), *ported.inputs)
    of = lambda how: uj.certify(program, partial(ported.port, how), *_specs(program)).verdict
    return of(""), {how: of(how) for how in ported.wrong}


@pytest.mark.parametrize("name", SAMPLE)
def test_a_port_is_certified_and_wrong_ones_are_refuted(name):
    port, wrong = _decided(name)
    assert port is uj.Verdict.CERTIFIED
    assert set(wrong.values()) == {uj.Verdict.REFUTED}, wrong


@pytest.mark.campaign
@pytest.mark.parametrize("name", PORTS)
def test_every_port_is_certified_and_wrong_ones_are_refuted(name):
    test_a_port_is_certified_and_wrong_ones_are_refuted(name)


@pytest.mark.campaign
@pytest.mark.parametrize("name", PORTS)
def test_what_is_read_has_the_values_of_the_module(name):
    ported = PORTS[name]
    module = ported.module().eval()
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s.shape).astype(np.float32) for s in ported.inputs]
    with torch.no_grad():
        wanted = jax.tree.leaves(jax.tree.map(np.asarray, module(*map(torch.from_numpy, arrays))))
    program = uj.read_torch(module, *ported.inputs)
    for a, b in zip(wanted, jax.tree.leaves(program(program.weights, *arrays)), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)  # some ten roundings of numbers near 1 in float32


def test_weights_by_their_places():
    """The module as it is, and a function of another tree of weights."""
    tree = {"params": {"kernel": spec(3, 2), "bias": spec(2)}}
    port = lambda p, x: jnp.matmul(x, p["params"]["kernel"], precision="highest") + p["params"]["bias"][None]
    places = {"weight": "params/kernel.T", "bias": "params/bias"}
    assert uj.certify(torch.nn.Linear(3, 2), port, tree, spec(1, 3), weights=places).verdict is uj.Verdict.CERTIFIED
    wrong = lambda p, x: port(p, x) - p["params"]["bias"][None]
    assert uj.certify(torch.nn.Linear(3, 2), wrong, tree, spec(1, 3), weights=places).verdict is uj.Verdict.REFUTED
    assert uj.match_weights(torch.nn.Linear(3, 2), tree).weights == places


def test_the_weights_of_a_checkpoint_are_matched_by_value():
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8)
    state = {name: array.detach().numpy() for name, array in layer.named_parameters()}
    state = {
        name: np.random.default_rng(i).standard_normal(a.shape).astype(np.float32)
        for i, (name, a) in enumerate(state.items())
    }
    layer.load_state_dict({name: torch.from_numpy(array) for name, array in state.items()})
    q, k, v = (part.T.reshape(4, 2, 2) for part in np.split(state["self_attn.in_proj_weight"], 3))
    tree = {
        "attention": {"query": q, "key": k, "value": v, "out": state["self_attn.out_proj.weight"].T},
        "biases": dict(zip(("query", "key", "value"), np.split(state["self_attn.in_proj_bias"], 3), strict=True)),
        "rest": {n: a for n, a in state.items() if "in_proj" not in n and n != "self_attn.out_proj.weight"},
        "more": np.zeros(3, np.float32),
    }
    found = uj.match_weights(layer, tree)
    assert found.confirmed and not found.left_over and not found.guessed and found.unused == ("more",)


def test_a_saved_program_on_the_command_line(tmp_path, capsys, monkeypatch):
    from uat_jax.cli import main

    path = tmp_path / "linear.pt2"
    torch.export.save(torch.export.export(torch.nn.Linear(3, 2), (torch.zeros(1, 3),)), path)
    (tmp_path / "ports_of_a_test.py").write_text(
        "def right(w, x): return x @ w['weight'].T + w['bias']\ndef wrong(w, x): return x @ w['weight'].T - w['bias']\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with jax.numpy_rank_promotion("allow"):
        assert main(["certify", str(path), "ports_of_a_test:right"]) == 0
        assert main(["certify", str(path), "ports_of_a_test:wrong"]) == 1
    assert "REFUTED" in capsys.readouterr().out
    path.write_bytes(b"no zip")
    assert main(["certify", str(path), "ports_of_a_test:right"]) == 2
    assert "is no program of torch.export that can be read" in capsys.readouterr().err


def test_variances_are_positive_on_the_command_line(tmp_path, monkeypatch, capsys):
    """Without the hypothesis 0 is no divisor, but for the square root of what is negative: nothing is defined there."""
    from uat_jax.cli import main

    path = tmp_path / "norm.pt2"
    torch.export.save(torch.export.export(torch.nn.BatchNorm1d(2).eval(), (torch.zeros(1, 2),)), path)
    (tmp_path / "norms_of_a_test.py").write_text(
        "def norm(w, x):\n"
        "    scaled = (x - w['running_mean']) / (w['running_var'] + 1e-5) ** 0.5\n"
        "    return scaled * w['weight'] + w['bias']\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with jax.numpy_rank_promotion("allow"):
        assert main(["certify", str(path), "norms_of_a_test:norm", "--positive", "*running_var"]) == 0
        assert "running_var'] > 0" in capsys.readouterr().out.replace("\n", "")
        assert main(["certify", str(path), "norms_of_a_test:norm", "--positive", "*variance"]) == 2
    assert "no input has a name like '*variance'" in capsys.readouterr().err


class Branches(torch.nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class Mode(torch.nn.Module):
    def forward(self, x):
        return torch.mode(x)[0]


BAD = {
    "control flow that depends on data": (Branches(), (spec(3),), "PyTorch cannot export Branches: .*; control flow"),
    "an unknown operation": (Mode(), (spec(3),), "Mode uses mode.default, which is not read"),
    "training": (torch.nn.BatchNorm1d(3), (spec(2, 3),), "changes its buffer 'running_mean'.*call .eval()"),
    "no inputs": (torch.nn.Linear(3, 2), (), "got Linear and no inputs"),
    "inputs that do not fit": (torch.nn.Linear(3, 2), (spec(2, 4),), "PyTorch cannot export Linear: "),
    "no module": (3, (), "got a int for a program of PyTorch"),
    "no file": ("nothing_of_a_test.pt2", (), "there is no such file"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name, capfd):
    source, inputs, message = BAD[name]
    with pytest.raises(uj.UatJaxError, match=message) as caught:
        uj.read_torch(source, *inputs)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.campaign
def test_the_example_of_the_documentation(capsys):
    text = (Path(__file__).parents[1] / "docs" / "inputs.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    with jax.numpy_rank_promotion("allow"):
        exec(code, {})
    said = re.findall(r"verdict\)  # (\w+)", code)
    assert [line for line in capsys.readouterr().out.splitlines() if line.isupper()] == said == ["CERTIFIED", "REFUTED"]
