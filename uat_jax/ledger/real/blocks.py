"""How a kind of block is decided: a layer of Theorem 1 for all shapes, so the closed form for all depths; a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from uat_jax.decide.confirmation import agreeing
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Decide, Kind
from uat_jax.ledger.real import networks as real
from uat_jax.ledger.source import duat, v2
from uat_jax.networks.block import Block as NetworkBlock
from uat_jax.networks.block import BlockOptions
from uat_jax.networks.masks import causal_mask, padding_mask, sliding_window_mask
from uat_jax.networks.multihead import Scoring
from uat_jax.networks.positions import alibi, alibi_slopes, rope
from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks import attention as heads
from uat_jax.symbolic.blocks.attention import Head, MultiHead, plain_scores
from uat_jax.symbolic.blocks.block import Block, Parts
from uat_jax.symbolic.blocks.sizes import TOKENS
from uat_jax.symbolic.induction import closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.typing import PyTree

SOURCES = (duat("B.3", 30, 31), v2("C.2"))
"""Where the papers say what a layer of a Transformer is."""

SOFTMAX = "H_i is a softmax: in every row some score is finite, so that the row sums to 1"


def row(number: str, name: str, title: str, printed: str, decide: Decide, **more: Any) -> Claim:
    """A row of this chapter: about what the papers omit, so that what is printed here is ours."""
    defaults = {"kind": Kind.IDENTITY, "expects": Verdict.PROVED, "hypotheses": (SOFTMAX,)}
    about = {**defaults, **more}
    return Claim(f"real.{name}", title, number, sources=SOURCES, printed=printed, decide=decide, ours=True, **about)


# --- the scores that networks use --------------------------------------------------------------------------------------


def _masked(scores: heads.Scoring) -> heads.Scoring:
    return lambda of, head, X: m.Dependent(m.Letter("mask", TOKENS, TOKENS), scores(of, head, X))


def _rotated(of: MultiHead, head: Head, X: m.Expression) -> m.Expression:
    turned = lambda part: m.Dependent(m.Letter("rope", TOKENS, heads.WIDTH), part)
    return heads.scaled(turned(of.queries(head, X)) @ turned(of.keys(head, X)).T)


def _shifted(of: MultiHead, head: Head, X: m.Expression) -> m.Expression:
    return plain_scores(of, head, X) + _shift(head)


def _shift(head: Head) -> m.Letter:
    """P_i, what is added to the scores of head i."""
    return m.Letter("P", TOKENS, TOKENS, head)


@dataclass(frozen=True)
class Scores:
    """One way to score: the rule on the symbolic side and what it needs, and the option of the network."""

    name: str
    rule: heads.Scoring = plain_scores
    network: Scoring = Scoring()
    functions: dict[str, real.Function] = field(default_factory=dict)
    arrays: real.Arrays = field(default_factory=dict)


def plain(tokens: int) -> Scores:
    """softmax(q kᵀ/√d)."""
    return Scores("scores q kᵀ/√d")


def _hidden(name: str, mask: jax.Array, seen: Scores) -> Scores:
    """Scores where a mask leaves them, −∞ elsewhere."""
    functions = {"mask": lambda s: jnp.where(mask, s, -jnp.inf)}
    told = f"{name}, {int(mask.sum())} of {mask.size} pairs seen"
    return Scores(told, _masked(seen.rule), seen.network._replace(mask=mask), seen.functions | functions)


def causal(tokens: int) -> Scores:
    """Each token sees itself and those before it."""
    return _hidden("causal mask", causal_mask(tokens), plain(tokens))


def sliding(tokens: int) -> Scores:
    """Each token sees itself and the one before it."""
    return _hidden("sliding window of two", sliding_window_mask(tokens, 2), plain(tokens))


def padding(tokens: int) -> Scores:
    """The last token is padding."""
    return _hidden("padding mask", padding_mask(tokens, tokens, tokens - 1), plain(tokens))


def with_alibi(tokens: int) -> Scores:
    """−slope |n − k| added to the scores."""
    added = alibi(alibi_slopes(1), tokens)
    return Scores("ALiBi", _shifted, Scoring(bias=added), arrays={_shift((1,)): added[0]})


def rotary(tokens: int) -> Scores:
    """Queries and keys turned by their positions: token n by the angle n."""
    angles = jnp.arange(tokens, dtype=jnp.float32)[:, None]
    turn = lambda x: rope(x[None], angles).squeeze(0)
    return Scores("RoPE", _rotated, Scoring(angles=angles), {"rope": turn})


def causal_rotary(tokens: int) -> Scores:
    """RoPE under a causal mask."""
    return _hidden("RoPE and causal mask", causal_mask(tokens), rotary(tokens))


# --- blocks --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A kind of block, with any number of heads and any scores, and the network that confirms it.

    ``build``: parts → block.  ``parts``: (number of the block, **what is special about attention) → parts.
    ``network``: the block in plain JAX.  ``initialise``: key → its arrays.  ``scores``: those of the networks.
    ``general_heads``, ``network_heads``: the groups of heads, symbolic and in the networks; ``depth``, ``tokens``: of
    the networks.
    """

    build: Callable[[Parts], Block]
    parts: Callable[..., Parts]
    network: Callable[[Any, jax.Array, BlockOptions], jax.Array]
    initialise: Callable[[jax.Array], NetworkBlock]
    scores: tuple[Callable[[int], Scores], ...] = (plain,)
    general_heads: dict[str, Any] = field(default_factory=dict)
    network_heads: dict[str, Any] = field(default_factory=lambda: {"groups": 1})
    depth: int = 2
    tokens: int = 2

    @property
    def general(self) -> Block:
        """The block with any scores and any number of heads."""
        return self.build(self.parts(1, **self.general_heads))

    def written(self) -> str:
        """A, B, C, b, c in LaTeX."""
        return r",\ ".join(f"{m.latex(letter)}={m.latex(e)}" for letter, e in self.general.parameters.items())

    def decide(self, settings: Settings) -> Iterator[Evidence]:
        """The block is that layer; layers with dynamic parameters have the closed form; a network confirms it."""
        steps = [
            self.general.step("the block is A x + c + C σ(B x + b) on x = vec(X)"),
            *closed_form_induction(Layers("residual", dynamic=True)),
        ]
        proof = prove(steps, method=Method.INDUCTION, what="closed form of L such blocks, for all shapes and every L")
        yield proof
        for scores in self.scores:
            yield agreeing(proof, self.confirmed(scores(self.tokens)))

    def confirmed(self, scores: Scores) -> Evidence:
        """The closed form of ``depth`` blocks, lowered, against the network."""
        numbers = range(1, self.depth + 1)
        blocks = [self.build(self.parts(j, scoring=scores.rule, **self.network_heads)) for j in numbers]
        layers = tuple(jax.eval_shape(lambda: self.initialise(jax.random.key(0))) for _ in numbers)  # shapes suffice
        options = BlockOptions(jax.lax.lgamma, scoring=scores.network)

        def network(layers: PyTree, x: jax.Array) -> jax.Array:
            for layer in layers:
                x = self.network(layer, x, options)
            return x

        closed = real.closed_form_of(blocks, self.tokens, scores.functions)
        x = jax.ShapeDtypeStruct((self.tokens, real.WIDE), jnp.float32)
        what = f"L = {self.depth}, {self.tokens} tokens, {scores.name}: against plain JAX"
        return real.same(lambda w, x: closed(w, x, scores.arrays), network, (layers, x), what=what)
