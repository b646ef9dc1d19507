"""A model's decomposition is certified for its own architecture, at small sizes and at every depth; nothing else is."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest
from random_adapters import with_adapters
from random_models import FAMILIES
from random_parameters import generator

import uat_jax as uj
from uat_jax.certification import ROWS, Certification, proof_of_all_depths, prove_block, rows_of, symbolic_block
from uat_jax.certify.verdict import Verdict
from uat_jax.claims.claim import Kind
from uat_jax.networks.small import MOST, WIDEST, sizes_of, small_model
from uat_jax.symbolic import language as m

LEDGER = {claim.id: claim for claim in uj.claims()}


@pytest.fixture
def random(request):
    return generator(request.node.name)


# --- certified --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["BERT", "Mistral", "experts"])
def test_decompositions_are_certified(random, name, tmp_path):
    found = uj.certify_decomposition(FAMILIES[name].draw(random, depth=3))
    assert found.passes and found.certificate.verdict is Verdict.CERTIFIED
    (evidence,) = found.certificate.evidence
    assert evidence.figures["theorem"] and evidence.figures["log2_error"] <= -128
    assert found.all_depths.verdict is Verdict.PROVED and found.sizes["L"] == 2
    if name == "experts":
        assert uj.recheck(found.certificate.save(tmp_path / "certificate.json")).verdict is Verdict.CERTIFIED


def test_no_part_alone_is_enough(random):
    """Without the proof for every depth, or without the certificate, it does not pass."""
    model = FAMILIES["GPT-2"].draw(random)
    proof = proof_of_all_depths(model)
    unproved = dataclasses.replace(proof, verdict=Verdict.UNKNOWN)
    for passes in (True, False):
        certificate = uj.Certificate({}, Verdict.CERTIFIED, Verdict.CERTIFIED, passes, (), None, (), {}, {})
        assert Certification({}, certificate, proof, ()).passes is passes
        assert not Certification({}, certificate, unproved, ()).passes


# --- at every depth ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_blocks_are_layers_at_every_depth(random, name):
    """The block of each family is; the same block without its bias, or with A and B exchanged, is not."""
    block = symbolic_block(FAMILIES[name].draw(random))
    assert prove_block(block).verdict is Verdict.PROVED
    for wrong in ({"b": m.Zero(*block.b.shape)}, {"A": m.Identity(block.A.shape[0])}):
        assert prove_block(dataclasses.replace(block, **wrong)).verdict is Verdict.UNKNOWN


def test_rows_are_claims_that_the_ledger_proves_for_every_depth():
    for row in ROWS:
        assert LEDGER[row].expects is Verdict.PROVED and LEDGER[row].kind is Kind.ALL_DEPTHS, row


ROWS_OF = {
    "GPT-2": {"real.pre-norm", "real.masks", "real.embedding", "real.logits"},
    "BERT": {"real.post-norm"},
    "Llama": {"real.llama", "real.masks", "real.rope", "real.grouped-queries", "real.gated", "real.embedding"},
    "Qwen2": {"real.masks", "real.rope", "real.grouped-queries", "real.gated", "real.embedding"},
    "two groups": {"real.post-norm", "real.masks"},
    "gated post-norm": {"real.gated", "real.embedding"},
    "experts": {"real.mixture", "real.embedding"},
}


@pytest.mark.parametrize("name", ROWS_OF)
def test_rows_named_are_about_the_architecture(random, name):
    """Qwen2 is not real.llama, which has no biases; RMSNorm is not the norm of real.logits."""
    assert set(rows_of(FAMILIES[name].draw(random))) == ROWS_OF[name]


# --- the small model --------------------------------------------------------------------------------------------------


def test_a_small_model_keeps_the_form():
    """Depth, heads, groups and widths shrink; which arrays there are, and the options, stay."""
    family = dataclasses.replace(FAMILIES["Mistral"], features=12, heads=6, groups=3, biases="qkv", window=5)
    model = family.draw(generator("small"), depth=5, positions=9, hidden=30)
    small = small_model(model)
    assert sizes_of(small) == {"L": 2, "N": 3, "V": 3, "M": 8, "h": 4, "g": 2, "d": 2, "F": 20}
    assert jax.tree.structure(model.blocks[0]) == jax.tree.structure(small.blocks[0])
    kept = dataclasses.replace(model.architecture, positions=3, window=2)
    assert small.architecture == kept and kept.activation is jax.nn.silu
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(small))
    assert jax.eval_shape(lambda m: m(jnp.arange(3)), small).shape == (3, 3)


@pytest.mark.parametrize("name", FAMILIES)
def test_small_models_are_small_and_run(random, name):
    model = FAMILIES[name].draw(random, depth=4)
    small = small_model(model)
    sizes = sizes_of(small)
    assert sizes["L"] == sizes_of(small_model(small))["L"] == MOST and sizes["F"] <= WIDEST * sizes["M"]
    assert jax.eval_shape(lambda m: m.hidden(jnp.arange(sizes["N"])), small).shape == (sizes["N"], sizes["M"])


@pytest.mark.parametrize(("error", "seed"), [(2.0, 0), (0.5, -1)])
def test_bad_input_is_refused(random, error, seed):
    with pytest.raises(uj.UatJaxError, match=r"^got (error|seed)="):
        uj.certify_decomposition(FAMILIES["GPT-2"].draw(random), error=error, seed=seed)


def test_an_adapter_of_a_later_layer_is_in_the_small_model():
    random = generator("later")
    model = FAMILIES["GPT-2"].draw(random, depth=3)
    last = with_adapters(random, model).blocks[-1]
    small = small_model(dataclasses.replace(model, blocks=(*model.blocks[:-1], last)))
    assert all(jax.tree.structure(block) == jax.tree.structure(last) for block in small.blocks)
