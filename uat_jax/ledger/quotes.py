"""Which rows quote a paper.  Others state in our words what follows from it, what it leaves out, or what corrects it."""

from __future__ import annotations

from uat_jax.ledger.claim import Claim

OUR_CHAPTERS = ("K", "L", "Beyond")
"""Real Transformers, what the forms cost, and what goes beyond the papers: they print no statement of any."""
NOT_A_QUOTATION = ("not printed", "not claimed", "corrected", "the corrected")
"""How the reading of a row begins that states something in our words."""
OWN_WORDS = frozenset(
    """
    uat.borel-uniform.in-measure uat.sigmoidal.differences uat.one-function.selected uat.similar-inputs.corrected
    uat.any-function.one-unit.corrected duat.eq-4.corrected linear.right linear.both-axes attention.eq-35.rank
    attention.slices-embed head.transpose-rule heads.stacked.blocks density.stacked density.decoder density.numbers
    density.criterion eq-28-29.corrected updates.in-place updates.corrected-boxes fig-2.box-2 perceptron.closed-form
    dependence.b3-with-norms lora.original lora.query-key.pattern-rank lora.query-key.low-matrix-rank
    pruning.remove-layer.identity pruning.remove-layer.bound pruning.remove-layer.frozen-attention
    pruning.remove-layer.lipschitz pruning.small-outside pruning.summand.everywhere names.substitution-corrected
    names.induction-corrected names.eq-6-v2-corrected names.eq-34-corrected references.appendices-corrected
    references.figure-4 references.equations-6-and-10
    """.split()
)
"""Further rows in our words: symbols for what a paper says in a sentence, or several sentences in one."""


def is_quoted(claim: Claim) -> bool:
    """Whether ``claim.printed`` is what the papers among its sources print."""
    ours = claim.ledger.startswith(OUR_CHAPTERS) or claim.reading.startswith(NOT_A_QUOTATION)
    return not ours and claim.id not in OWN_WORDS


def is_printed(claim: Claim) -> bool:
    """Whether the words are a paper's, if only in a sense that it does not claim."""
    return is_quoted(claim) or (claim.reading.startswith("not claimed") and claim.id not in OWN_WORDS)
