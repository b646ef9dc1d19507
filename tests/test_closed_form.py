"""Theorem 1 in JAX: both forms agree with the exact value on random, trained and given networks; wrong forms do not."""

import dataclasses

import jax
import numpy as np
import pytest
from excerpt import one_in

import uat_jax as uj
from uat_jax.decide.decision import decide
from uat_jax.decide.floats import compare_on
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import FloatRangeError, InputError, ShapeError
from uat_jax.ledger.layers.closed_form import CLAIMS
from uat_jax.ledger.layers.kernels import Kernels, cast, letters, random_kernels, random_trials
from uat_jax.ledger.layers.update_lists import boxes
from uat_jax.ledger.ledger import find
from uat_jax.lowering import Lowered
from uat_jax.networks import ACTIVATIONS, Network, ResidualLayer, activation, digits, save_network
from uat_jax.symbolic import updates as u

SEED = 11


def _compare(kernels: Kernels, closed, depth: int, dtype: str, trials: int = 4):
    print("seed", SEED)
    arguments = cast(random_trials(kernels.kind, depth, trials, SEED), dtype)
    return compare_on(kernels.plain, closed, arguments, dtype=dtype, seed=SEED)


@pytest.mark.campaign
@pytest.mark.parametrize(("kind", "depth"), [*(("residual", d) for d in (1, 2, 3, 7, 13)), ("transformer", 2)])
def test_both_forms_agree_at_every_depth(kind, depth):
    """All widths differ, σ = gelu, float64, within the derived tolerance."""
    kernels = random_kernels(kind, depth, "highest")
    assert _compare(kernels, kernels.closed, depth, "float64").agrees


@pytest.mark.parametrize("sigma", one_in(6, ACTIVATIONS))
def test_both_forms_agree_for_every_activation(sigma):
    kernels = dataclasses.replace(random_kernels("residual", 3, "highest"), activation=sigma)
    assert _compare(kernels, kernels.closed, 3, "float32").agrees


def _printed(depth: int):
    """Reading (c), the boxes of Fig. 2, as a JAX function of the same weights."""
    kernels = random_kernels("residual", depth, "highest")
    lowered = Lowered(u.execute("residual", depth, boxes(depth)), u.X0, activation("gelu"))

    def printed(arguments):
        layers, x = arguments
        letters = {f"{name}_{j}": a for j, layer in enumerate(layers, 1) for name, a in layer._asdict().items()}
        return lowered({name: letters[name] for name in map(str, lowered.program.inputs) if name != "x_0"}, x)

    return kernels, printed


def _square_trials(depth: int):
    """The printed lists presuppose equal widths."""
    draw = np.random.default_rng(SEED)
    D, F = 5, 7
    shapes = {"A": (D, D), "B": (F, D), "C": (D, F), "b": (F,), "c": (D,)}
    one = lambda: ResidualLayer(**{name: draw.normal(size=(4, *s)) / 2 for name, s in shapes.items()})  # type: ignore
    return tuple(one() for _ in range(depth)), draw.normal(size=(4, D))


@pytest.mark.parametrize(("depth", "agrees"), one_in(2, [(2, True), (1, True), (3, False)]))
def test_the_printed_boxes_agree_up_to_two_layers_only(depth, agrees):
    kernels, printed = _printed(depth)
    found = compare_on(kernels.plain, printed, _square_trials(depth), dtype="float64", seed=SEED)
    assert found.agrees is agrees


def test_merge_does_not_see_the_input():
    kernels = random_kernels("residual", 2, "highest")
    layers, x = cast(random_trials("residual", 2, 1, SEED), "float32")
    one = jax.tree.map(lambda a: a[0], layers)
    hatted = kernels.lowered.merge(letters("residual", one))
    plain = kernels.plain((one, x[0]))
    np.testing.assert_allclose(kernels.lowered.evaluate(hatted, x[0]), plain, rtol=1e-4)
    assert not any("x_0" in name or "s_" in name for name in hatted)


# --- the claims with their floats ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", one_in(2, ["residual", "transformer"]))
def test_the_claim_on_random_and_trained_networks(kind):
    certificate = uj.prove(f"{kind}.closed-form", dtypes=("float32",), trials=3, depth=2, seed=SEED)
    assert certificate.verdict == Verdict.PROVED and certificate.passes
    (predictions,) = [e.figures for e in certificate.evidence if e.method == "predictions"]
    assert predictions["same"] == predictions["images"] == len(digits.held_out()[1])
    floats = [e.figures for e in certificate.evidence if e.method == "floats"]
    assert len(floats) == 2
    for figures in floats:
        assert 0 < figures["smallest_visible"] < 1e-3
        assert figures["derivation"] and figures["effective_precision"]


def test_a_float_disagreement_spoils_the_proof(monkeypatch):
    """The symbolic proof alone would say PROVED: kernels that stray turn it into UNKNOWN."""
    monkeypatch.setattr(Kernels, "closed", lambda self, arguments: self.plain(arguments) * (1 + 2.0**-8))
    certificate = decide(find("residual.closed-form"), Settings(dtypes=("float32",), trials=2))
    assert certificate.verdict == Verdict.UNKNOWN and not certificate.passes


# --- the user's own network ----------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path):
    """A network file and an input file of each kind."""

    def make(kind, change=lambda layers: layers):
        network = digits.trained(kind)
        path = tmp_path / f"{kind}.npz"
        save_network(path, Network(kind, network.activation, change(network.layers)))
        images, _ = digits.held_out()
        np.savez(tmp_path / "inputs.npz", x_0=np.asarray(digits.inputs(kind, images[:2])))
        return str(path), str(tmp_path / "inputs.npz")

    return make


@pytest.mark.parametrize("with_inputs", one_in(2, [True, False]))
def test_evidence_on_the_users_own_network(own, with_inputs):
    weights, inputs = own("residual")
    given = {"inputs": inputs} if with_inputs else {}
    certificate = uj.prove("residual.closed-form", weights=weights, dtypes=("float32",), trials=2, **given)
    assert certificate.verdict == Verdict.PROVED
    assert any(weights in e.finding for e in certificate.evidence if e.method == "floats")


def test_overflow_in_float16_is_one_clear_line(own):
    weights, inputs = own("residual", lambda layers: tuple(layer._replace(A=layer.A * 3000) for layer in layers))
    with pytest.raises(FloatRangeError, match="float16 .*take a wider dtype"):
        uj.prove("residual.closed-form", weights=weights, inputs=inputs, dtypes=("float16",), trials=2)


def test_inputs_of_another_shape(own, tmp_path):
    weights, _ = own("residual")
    np.savez(tmp_path / "wrong.npz", x_0=np.zeros((2, 63), np.float32))
    with pytest.raises((InputError, ShapeError), match="63"):
        uj.prove("residual.closed-form", weights=weights, inputs=str(tmp_path / "wrong.npz"), dtypes=("float32",))


def test_a_device_that_is_not_there():
    missing = next(d for d in ("tpu", "gpu") if d not in {x.platform for x in jax.devices()})
    with pytest.raises(InputError, match=f"'{missing}', which JAX does not find here"):
        uj.prove("attention.matrix", device=missing, dtypes=("float32",), trials=1)


def test_every_depth_asked_for_is_derived():
    claim = next(c for c in CLAIMS if c.id == "residual.closed-form")
    certificate = decide(claim, Settings(dtypes=(), depth=5))
    (derivation,) = [e for e in certificate.evidence if e.method == "derivation"]
    assert "Ŵ_{1,3}^(5)" in derivation.figures["program"]
