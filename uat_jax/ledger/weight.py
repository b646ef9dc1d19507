"""How much a false statement matters: what the errata are ordered by."""

from __future__ import annotations

from enum import StrEnum

from uat_jax.ledger.claim import Claim, Kind


class Weight(StrEnum):
    """What is wrong, the weightiest first."""

    THEOREM = "False theorems and update rules"
    PARAMETER = "Wrong parameters and identities"
    SHAPE = "Shapes that do not fit"
    MISPRINT = "Misprints and names"
    CITATION = "Citations and references"


_BY_KIND = {Kind.IDENTITY: Weight.PARAMETER, Kind.SHAPE: Weight.SHAPE, Kind.BOOKKEEPING: Weight.CITATION}
"""What a claim weighs by the kind of its statement; of any other kind it is a theorem."""

_BY_ID = {
    Weight.THEOREM: ("eq-23.sequential", "eq-32.sequential", "attention.linear.map", "feed-forward.linear"),
    Weight.MISPRINT: (
        "names", "attention.eq-8", "attention.v1-hat", "attention.v1-last-head", "diamond.first-row", "eq-23.v2-index",
        "eq-28-29.printed", "eq-31.printed", "eq-32.printed", "fig-2.box-2.misprint", "head.v1-result",
        "head.v1-juxtaposed", "heads.caption", "linear.renamed-again", "lora.bias-index", "lora.delta-index",
        "lora.stray-plus", "nested-bias.from-one", "remainder.definition", "pruning.prefix-sums", "pruning.premise.v1",
    ),
}  # fmt: skip
"""Claims, by the first words of their ids, that weigh more or less than their kind says."""

FIRST = (
    "updates", "nested-bias", "lemma-2", "eq-23", "eq-32", "remainder", "serial", "dependence", "known-after-training",
    "residual-makes", "perceptron", "lora", "pruning", "duat", "uat", "attention", "heads", "head", "density", "context",
)  # fmt: skip
"""The order of what weighs the same: the closed form first, then what is built on it.  Others follow."""


def weight_of(claim: Claim) -> Weight:
    """What a refuted claim weighs."""
    for weight, names in _BY_ID.items():
        if any(claim.id == name or claim.id.startswith(f"{name}.") for name in names):
            return weight
    return _BY_KIND.get(claim.kind, Weight.THEOREM)


def rank(claim: Claim) -> tuple[int, int]:
    """What the errata are sorted by, the weightiest first."""
    first = next((n for n, words in enumerate(FIRST) if claim.id.startswith(words)), len(FIRST))
    return list(Weight).index(weight_of(claim)), first
