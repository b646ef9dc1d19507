"""A module of PyTorch and its port, equal for all weights and not only for those of a checkpoint."""

import jax
import jax.numpy as jnp
import pytest

import uat_jax as uj

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def module():
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4))


def port(p, x, approximate=False):
    x = jax.nn.gelu(x @ p["up"]["kernel"] + p["up"]["bias"], approximate=approximate)
    return x @ p["down"]["kernel"] + p["down"]["bias"]


def spec(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


PARAMS = {"up": {"kernel": spec(8, 16), "bias": spec(16)}, "down": {"kernel": spec(16, 4), "bias": spec(4)}}
WEIGHTS = {
    "0.weight": "up/kernel.T",
    "0.bias": "up/bias",
    "2.weight": "down/kernel.T",
    "2.bias": "down/bias",
}
"""Where each weight of the module is among the parameters of the port; `uj.match_weights` proposes such a table."""


def test_the_port_is_the_module():
    uj.assert_equivalent(module(), port, PARAMS, spec(3, 8), weights=WEIGHTS)


def test_the_default_gelu_of_jax_is_another_function():
    approximate = lambda p, x: port(p, x, approximate=True)
    certificate = uj.certify(module(), approximate, PARAMS, spec(3, 8), weights=WEIGHTS)
    assert certificate.verdict is uj.Verdict.REFUTED
