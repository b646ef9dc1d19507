"""A model's decomposition is certified for its own architecture, at small sizes and at every depth; nothing else is."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest
from excerpt import one_in
from random_adapters import with_adapters
from random_models import FAMILIES
from random_parameters import generator

import uat_jax as uj
from uat_jax.certification import ROWS, Certification, proof_of_all_depths, prove_block, rows_of, symbolic_block
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import InputError, ShapeError
from uat_jax.ledger.claim import Kind
from uat_jax.networks.adapted import Adapted
from uat_jax.networks.norms import RMSNorm
from uat_jax.networks.small import MOST, WIDEST, sizes_of, small_model
from uat_jax.symbolic import language as m

LEDGER = {claim.id: claim for claim in uj.claims()}


@pytest.fixture
def random(request):
    return generator(request.node.name)


# --- certified --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", one_in(3, ["BERT", "Mistral", "experts"]))
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
        certificate = uj.Certificate({}, Verdict.CERTIFIED, Verdict.CERTIFIED, passes, (), (), {}, {})
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


def test_a_claim_about_layer_norms_is_about_both(random):
    model = FAMILIES["GPT-2"].draw(random)
    mixed = tuple(block._replace(norm_2=RMSNorm(jnp.ones(2))) for block in model.blocks)
    assert set(rows_of(dataclasses.replace(model, blocks=mixed))) == ROWS_OF["GPT-2"] - {"real.pre-norm"}


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


def test_adapters_of_any_layer_are_in_the_small_model(random):
    """Of the second layer's attention, and of the third's feed-forward network; of two ranks the larger."""
    model = FAMILIES["GPT-2"].draw(random, depth=4)
    ranks = lambda part: {W.left.shape[-1] for W in part if isinstance(W, Adapted)}
    narrow, wide = (with_adapters(random, model, rank=rank).blocks[0] for rank in (1, 2))
    changes = {}, {"attention": narrow.attention}, {"feed_forward": wide.feed_forward}
    changes = *changes, {"feed_forward": narrow.feed_forward}
    blocks = tuple(block._replace(**new) for block, new in zip(model.blocks, changes, strict=True))
    for block in small_model(dataclasses.replace(model, blocks=blocks)).blocks:
        assert jax.tree.structure(block) == jax.tree.structure(narrow)
        assert ranks(block.attention) == {1} and ranks(block.feed_forward) == {2}


OTHER = {
    "norm": ({"norm": "rms"}, InputError, "got a layer 2 of other parts than layer 1, wanted equal ones"),
    "gate": ({"feed_forward": "gated"}, InputError, "got a layer 2 of other parts"),
    "biases": ({"biases": "none"}, InputError, "got a layer 2 of other parts"),
    "heads": ({"heads": 2}, ShapeError, "got a layer 2 of other shapes"),
}


@pytest.mark.parametrize("other", OTHER)
def test_layers_that_differ_are_refused(random, other):
    """What is certified of the one would not be of the other."""
    changes, error, message = OTHER[other]
    family = FAMILIES["GPT-2"]
    blocks = [of.draw(random, depth=1).blocks[0] for of in (family, dataclasses.replace(family, **changes))]
    for pair in (blocks, blocks[::-1]):
        with pytest.raises(error, match=message):
            uj.certify_decomposition(dataclasses.replace(family.draw(random), blocks=tuple(pair)))


def test_a_model_without_layers_is_refused(random):
    model = dataclasses.replace(FAMILIES["GPT-2"].draw(random), blocks=())
    with pytest.raises(InputError, match="got no layers, wanted at least one"):
        uj.certify_decomposition(model)
    with pytest.raises(ShapeError, match="got a network of 0 layers, wanted at least 1"):
        uj.decompose(model, jnp.array([1, 0]))
