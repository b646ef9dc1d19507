"""Selective state spaces: the recurrence written out, its operators as matrices, and what each part contributes."""

import dataclasses
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from derived_tolerance import tolerance

import uat_jax.decomposition as dc
from uat_jax.decomposition import frozen
from uat_jax.decomposition.operators import Convolving, Recurring
from uat_jax.decomposition.parameters import operators
from uat_jax.decomposition.removal import bound, size, without_activation
from uat_jax.errors import InputError, ShapeError
from uat_jax.networks.families import load_model
from uat_jax.networks.state_space import state_space

pytest.importorskip("safetensors", reason="reading weights needs safetensors (extra [models])")

TOKENS = jnp.array([3, 5, 7, 9, 2, 11])
LOGIT = dc.Difference(dc.Logit(-1, 4), dc.Logit(2, 5))


@pytest.fixture
def model():
    with jax.enable_x64(True):
        yield load_model(Path(__file__).parent / "model_fixtures" / "mamba", "float64")


def written_out(part, x):
    """y of every token as a sum over all tokens before it, in NumPy, token by token and channel by channel."""
    of = {name: np.asarray(getattr(part, name)) for name in part._fields}
    (N, F), K = (len(x), of["into"].shape[1]), len(of["kernel"])
    inside = x @ of["into"]
    s = np.array(
        [
            sum(of["kernel"][k] * inside[n - K + 1 + k] for k in range(K) if n - K + 1 + k >= 0) + of["kernel_bias"]
            for n in range(N)
        ]
    )
    s = s / (1 + np.exp(-s))
    step = np.log1p(np.exp(s @ of["step_in"] @ of["step"] + of["step_bias"]))
    B, C = s @ of["write"], s @ of["read"]
    y = of["skip"] * s
    for n in range(N):
        for k in range(n + 1):
            for f in range(F):
                between = np.exp(of["decay"][f] * step[k + 1 : n + 1, f].sum())
                y[n, f] += (C[n] * between * B[k]).sum() * step[k, f] * s[k, f]
    z = x @ of["gate"]
    return (y * z / (1 + np.exp(-z))) @ of["out"]


def test_the_recurrence_is_what_its_sum_says(model):
    part, x = model.blocks[0].feed_forward, jnp.asarray(np.random.default_rng(0).standard_normal((6, 12)))
    run = lambda part, x: state_space(part, x, jax.nn.silu)
    found, may = np.asarray(run(part, x)), 2 * tolerance(run, part, x)  # both round
    assert np.all(np.abs(found - written_out(part, np.asarray(x))) <= may) and may.max() < 1e-10
    other = part._replace(kernel=part.kernel[::-1])
    assert np.abs(found - written_out(other, np.asarray(x))).max() > 1e-3
    with pytest.raises(ShapeError, match="StateSpace.skip"):
        run(part._replace(skip=part.skip[:-1]), x)


def test_operators_are_their_matrices_and_bounded(model):
    layer = operators(model, TOKENS)[1]
    x = jnp.asarray(np.random.default_rng(1).standard_normal((6, 12)))
    for operator in (layer.A, layer.B, layer.C):
        y = x if operator is not layer.C else jnp.asarray(np.random.default_rng(2).standard_normal((6, 24)))
        image = operator(y)
        written = jnp.matmul(operator.materialise(), y.reshape(-1), precision="highest").reshape(image.shape)
        off = 200 * np.finfo(float).eps * float(jnp.abs(operator.materialise()).sum(axis=1).max() * jnp.abs(y).max())
        assert np.abs(written - image).max() <= off  # a product of at most 144 summands after as many
        assert size(image) <= bound(operator) * size(y)
    kinds = {type(factor) for operator in (layer.B, layer.C) for factor in _factors(operator)}
    assert {Convolving, Recurring} <= kinds


def _factors(operator):
    inner = getattr(operator, "factors", None)
    return [operator] if inner is None else [part for factor in inner for part in _factors(factor)]


@pytest.mark.parametrize("by", ["layer", "head", "neuron", "token"])
def test_contributions_add_up_and_none_is_of_an_attention(model, by):
    found = dc.attribute(model, TOKENS, LOGIT, by=by)
    assert found.residual_ulp <= 64 and len(found.sources) == {"layer": 4, "head": 4, "neuron": 50, "token": 2}[by]
    assert not any("attention" in name or "head" in name for name in found.names)
    stacked = dc.attribute(model.stacked(), TOKENS, LOGIT, by=by)
    assert np.allclose(stacked.contributions, found.contributions, rtol=0, atol=1e-11)


def test_a_neuron_is_its_gated_channel(model):
    """Term of layer 2, the last: ⟨y_nf SiLU(x Z)_nf W_out[f], frozen final norm, unembedding⟩."""
    found = dc.attribute(model, TOKENS, dc.Logit(-1, 4), by="neuron")
    cache, x_L = dc.activations(model, TOKENS), model.hidden(TOKENS)
    scale = frozen.frozen_norm(model.final_norm, x_L, model.epsilon)
    for f in (0, 7, 23):
        added = cache.layers[1].neurons[:, f, None] * model.blocks[1].feed_forward.out[f][None]
        wanted = jnp.vdot(scale(added)[-1], model.unembedding[:, 4], precision="highest")
        assert abs(found[f"layer 2 neuron {f + 1}"].sum() - wanted) < 1e-12
    assert cache.layers[0].patterns is cache.layers[0].heads is cache.layers[0].attention is None


def test_tokens_are_the_frozen_linear_path(model):
    """Streams of single tokens add up to the features, and earlier tokens reach the last one by the recurrence."""
    found = dc.attribute(model, TOKENS, dc.Logit(-1, 4), by="token")
    streams = dc.features_by_token(model, TOKENS)
    assert np.all(np.abs(streams.sum(axis=0) - model.features(model.hidden(TOKENS))) < 1e-11)
    assert np.abs(found["input"][:-1]).max() > 1e-3


def test_slopes_of_other_tokens_are_refuted(model, monkeypatch):
    """What steers the recurrence at other tokens: neither terms nor tokens add up any more."""
    right = frozen.selected
    monkeypatch.setattr(frozen, "selected", lambda layer, s, **options: right(layer, s[::-1], **options))
    plain = LOGIT(model, model.features(model.hidden(TOKENS)))
    for by in ("layer", "neuron", "token"):
        assert abs(dc.contributions(model, TOKENS, LOGIT, by=by).sum() - plain) > 1e-3


def test_interventions(model):
    silent = dc.intervene(model, TOKENS, "layer 1", lipschitz=1.1)
    wanted = without_activation(model, 1).hidden(TOKENS)
    assert np.all(np.abs(silent.rerun - wanted) < 1e-12)
    assert silent.bound is not None and size(silent.before - silent.frozen) <= silent.bound
    with pytest.raises(InputError, match=r"got 'layer 1 head 1', wanted a layer: there are no heads"):
        dc.intervene(model, TOKENS, "layer 1 head 1")


def test_a_block_without_attention_has_another_kind(model):
    wrong = dataclasses.replace(model, architecture=dataclasses.replace(model.architecture, kind="pre-norm"))
    with pytest.raises(InputError, match="got a block without attention, wanted one with heads"):
        wrong(TOKENS)
