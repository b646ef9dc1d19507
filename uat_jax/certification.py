"""Is the decomposition of a model right?  Decided at a small model of its form, and by induction for every depth.

Weights and inputs do not matter to the question: the formulas are the same for all.  So a small model of the same form
is taken, with every number in it a variable, and `certify` decides in prime fields that its terms are those of
Theorem 1 and add up to its forward pass.  That each block is a layer of Theorem 1 for all shapes, and L of them the
closed form for every L, is proved in normal form.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.certificate import Certificate
from uat_jax.decide.effort import ERROR
from uat_jax.decide.equivalence import Question, certify
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.specification import Specification
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.decomposition.attribution import Coordinate, Logit, Output, contributions
from uat_jax.decomposition.closed_forms import closed_form
from uat_jax.decomposition.decomposition import terms, two_streams
from uat_jax.decomposition.frozen import frozen_norm, norm_shift
from uat_jax.networks.block import attention_of
from uat_jax.networks.feed_forward_part import FeedForward, GatedFeedForward, MixtureOfExperts, MixtureOfGated
from uat_jax.networks.model import Model
from uat_jax.networks.norms import LayerNorm, RMSNorm
from uat_jax.networks.small import sizes_of, small_model
from uat_jax.networks.stack import Stack
from uat_jax.networks.state_space import StateSpace
from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks import attention, block, feed_forward, norms
from uat_jax.symbolic.induction import closed_form_induction
from uat_jax.symbolic.layers import Layers

Side = Callable[[Model, jax.Array], dict[str, jax.Array]]
"""One side of the question, by what is compared."""


@dataclass(frozen=True)
class Certification:
    """What is known of the decomposition of a model's architecture."""

    sizes: Mapping[str, int]
    """Of the small model: layers L, tokens N, features M, heads h of width d in g groups, hidden features F."""
    certificate: Certificate
    """At these sizes; `uat_jax.recheck` decides it again from its file."""
    all_depths: Evidence
    """That each block is a layer of Theorem 1 for all shapes, and that L of them have its closed form for every L."""
    rows: tuple[str, ...]
    """The claims of the ledger that prove the same of such blocks and of their parts."""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What both findings presuppose."""
        return tuple(dict.fromkeys((*self.certificate.assumptions, *self.all_depths.assumptions)))

    @property
    def passes(self) -> bool:
        """Whether the decomposition is certified."""
        return self.certificate.passes and self.all_depths.verdict is Verdict.PROVED


def certify_decomposition(
    model: Model,
    *,
    error: float = ERROR,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Certification:
    """Decide whether `decompose` is right for models of this architecture.

    Compared are, at all weights of the model that `small_model` makes of it,

        its terms                                        and    the terms of Theorem 1 (`closed_form`),
        their sum                                        and    x_L by the forward pass,
        two streams                                      and    input and biases, all activations, of those terms,
        contributions of terms to a logit, or feature    and    the same of those terms behind the frozen final norm,
        their sum                                        and    that output.

    Args:
        model: of any size; only its form counts.  Its layers are apart, or one above the other, in the small model too.
        error: CERTIFIED only if the chance of a wrong answer is at most this.
        seed: of all random numbers.
        progress: called with a line of text before each stage.

    Returns:
        A `Certification`: the verdict of each of these comparisons.

    Raises:
        InputError: error or seed out of range, no layers, layers of different parts.
        ShapeError: layers of different shapes.

    Example:
        >>> uj.certify_decomposition(load_model("gpt2")).passes
        True
    """
    asked = question(model)
    small, _ = arguments = asked.specification.arguments
    certificate = certify(asked.left, asked.right, *arguments, error=error, seed=seed, progress=progress)
    return Certification(sizes_of(small), certificate, proof_of_all_depths(small), rows_of(model))


def question(model: Model) -> Question:
    """Whether `decomposed` is `computed`, at a small model of the same form and distinct tokens, or any pixels."""
    small = small_model(model)
    tokens: Any = jnp.arange(small.architecture.positions)[::-1]
    if small.architecture.image is not None:
        tokens = jax.ShapeDtypeStruct((small.architecture.positions, small.embedding.tokens.shape[0]), jnp.float32)
    sides = decomposed, computed
    left, right = map(_of_stack, sides) if isinstance(model.blocks, Stack) else sides
    return Question(left, right, Specification((small, tokens)))


def _of_stack(side: Side) -> Side:
    """The side as a function of a model that is stacked first, its layers one above the other."""
    return functools.wraps(side)(lambda model, tokens: side(model.stacked(), tokens))


def decomposed(model: Model, tokens: jax.Array) -> dict[str, jax.Array]:
    """The values that the decomposition of a model gives, by name."""
    parts, shares = terms(model, tokens), contributions(model, tokens, _output(model))
    return {
        "terms": parts,
        "sum": jnp.sum(parts, axis=0),
        "two streams": two_streams(model, tokens),
        "contributions": jnp.sum(shares, axis=1),
        "output": jnp.sum(shares),
    }


def computed(model: Model, tokens: jax.Array) -> dict[str, jax.Array]:
    """The values that the decomposition must reproduce, from the model's own layers and its closed form."""
    x, form = model.hidden(tokens), closed_form(model, tokens)
    return {
        "terms": form,
        "sum": x,
        "two streams": jnp.stack([form[0] + form[1], jnp.sum(form[2:], axis=0)]),
        "contributions": jnp.stack([_output(model)(model, part) for part in _behind_final_norm(model, x, form)]),
        "output": model.scores(x)[-1, -1],
    }


def _behind_final_norm(model: Model, x: jax.Array, form: jax.Array) -> jax.Array:
    """The terms behind the final norm, if there is one: its scale is that of x_L, its shift is of the biases."""
    if model.final_norm is None:
        return form
    return frozen_norm(model.final_norm, x, model.epsilon)(form).at[1].add(norm_shift(model.final_norm))


def _output(model: Model) -> Output:
    """The last logit, or feature, of the last token."""
    return Coordinate(-1, -1) if model.unembedding is None else Logit(-1, -1)


# --- every depth ------------------------------------------------------------------------------------------------------

BLOCKS: Mapping[str, Callable[[block.Parts], block.Block]] = {
    "pre-norm": block.residual_block,
    "post-norm": block.post_norm_block,
    "parallel": block.parallel_block,
    "lone": block.lone_block,
}
NORMS = {LayerNorm: norms.LayerNorm, RMSNorm: norms.RMSNorm, type(None): lambda place: norms.NoNorm()}
FEED_FORWARDS = {
    FeedForward: feed_forward.FeedForward,
    GatedFeedForward: feed_forward.Gated,
    MixtureOfExperts: feed_forward.Mixture,
    MixtureOfGated: feed_forward.MixtureOfGated,
    StateSpace: feed_forward.StateSpace,
}
OF_A_BLOCK = tuple(
    map(Assumption, (AssumptionKind.ELEMENTWISE, AssumptionKind.SOFTMAX_ROWS, AssumptionKind.ABSENT_BIAS))
)
"""What a symbolic block presupposes of the model's."""


def proof_of_all_depths(model: Model) -> Evidence:
    """PROVED if a block of this form is a layer of Theorem 1 for all shapes: then L of them have its closed form."""
    return prove_block(symbolic_block(model))


def prove_block(of: block.Block) -> Evidence:
    """PROVED if a symbolic block is a layer of Theorem 1 for all shapes, so that L of them have its closed form."""
    steps = [of.step("the block is A x + c + C σ(B x + b)"), *closed_form_induction(Layers("residual", dynamic=True))]
    proof = prove(
        steps, method=Method.INDUCTION, what="each block is a layer of Theorem 1: for all shapes and every depth"
    )
    return dataclasses.replace(proof, assumptions=OF_A_BLOCK)


def symbolic_block(model: Model) -> block.Block:
    """A block of this form, of any sizes: any number of groups of heads, any scores, all biases."""
    of = model.blocks[0]
    heads = attention.MultiHead((1,), groups=m.dimension("g"), per_group=m.dimension("r"))
    places = enumerate((of.norm_1, of.norm_2, of.after_1, of.after_2), 1)
    every = (NORMS[type(norm)]((k, 1)) for k, norm in places)
    parts = block.Parts(heads, FEED_FORWARDS[type(of.feed_forward)]((1,)), *every)
    return BLOCKS[model.architecture.kind](parts)


# --- the ledger -------------------------------------------------------------------------------------------------------


def _is(kind: str, norm: type, part: type) -> Callable[[Model], bool]:
    return lambda model: (
        model.architecture.kind == kind
        and all(isinstance(of, norm) for of in (model.blocks[0].norm_1, model.blocks[0].norm_2))
        and model.blocks[0].after_1 is model.blocks[0].after_2 is None
        and isinstance(model.blocks[0].feed_forward, part)
    )


def _no_biases(model: Model) -> bool:
    of = attention_of(model.blocks[0])
    return all(bias is None for bias in (of.query_bias, of.key_bias, of.value_bias, of.output_bias))


def _has_rope(model: Model) -> bool:
    return model.architecture.rope is not None


def _has_plain_scores(model: Model) -> bool:
    """q kᵀ / √d with all features turned by the plain angles."""
    of, attention = model.architecture, attention_of(model.blocks[0])
    plain = all(isinstance(rope, float) for rope in (of.rope if isinstance(of.rope, tuple) else (of.rope,)))
    return plain and of.scale is None is of.cap and attention.query_norm is None is attention.key_norm


_LLAMA = _is("pre-norm", RMSNorm, GatedFeedForward)

ROWS: Mapping[str, Callable[[Model], bool]] = {
    "real.pre-norm": _is("pre-norm", LayerNorm, FeedForward),
    "real.post-norm": _is("post-norm", LayerNorm, FeedForward),
    "real.llama": lambda model: (
        _LLAMA(model) and _no_biases(model) and _has_plain_scores(model) and model.architecture.causal
    ),
    "real.masks": lambda model: model.architecture.causal and model.blocks[0].heads > 0,
    "real.rope": _has_rope,
    "real.grouped-queries": lambda model: (
        model.blocks[0].heads > 0 and attention_of(model.blocks[0]).key.shape[0] < model.blocks[0].heads
    ),
    "real.gated": lambda model: isinstance(model.blocks[0].feed_forward, GatedFeedForward),
    "real.parallel": lambda model: model.architecture.kind == "parallel" and model.blocks[0].norm_2 is None,
    "real.mixture": lambda model: isinstance(model.blocks[0].feed_forward, MixtureOfExperts),
    "real.embedding": lambda model: model.embedding_norm is None and model.affine is None,
    "real.logits": lambda model: isinstance(model.final_norm, LayerNorm) and model.unembedding is not None,
}
"""Claim of the ledger → whether it is about a model's blocks, what is in them, or its ends.

A bias is part of what a claim is about: real.llama has none, so that for Qwen2 only the claims about its parts remain.
"""


def rows_of(model: Model) -> tuple[str, ...]:
    """The claims of the ledger, proved for every depth, that are about a model of this form."""
    return tuple(row for row, applies in ROWS.items() if applies(model))
