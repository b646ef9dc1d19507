"""Chapter J: what the papers say around their mathematics.  Nothing of it can be decided; it is listed."""

from __future__ import annotations

from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import Source, duat, v1, v2


def _listed(name: str, sources: tuple[Source, ...], says: str, note: str) -> Record:
    return Record(f"interpretation.{name}", "J", Status.NO_CONTENT, sources, says, note)


RECORDS = (
    _listed(
        "emergence",
        (v1("4.2"), v2("4.2"), duat("4.2")),
        "in-context learning, instruction following and multi-step reasoning arise from W_HVO",
        "what W_HVO depends on, and how dense it is, is decided in the rows density.* and context.*",
    ),
    _listed(
        "generalisation",
        (v1("4.1"), v2("4.1"), duat("4.1")),
        "the generalisation of language models is due to attention and residual connections",
        "no measure of generalisation is given",
    ),
    _listed(
        "figures",
        (duat("Fig. 2"), v1("Fig. 6"), v2("Fig. 6")),
        "drawings of data that a UAT function fits badly and a DUAT function well",
        "proofs/demonstrations trains both on such data; what is claimed in words is decided in the rows uat.*",
    ),
    _listed(
        "assumptions",
        (v2("1"),),
        "the proof is general and needs no assumptions",
        "each row lists what it presupposes: σ elementwise, H_i frozen at the input, no norms",
    ),
    _listed(
        "brain",
        (v1("4.5"), v2("4.5"), v2("E"), duat("6"), duat("D")),
        "the human brain is a combination of (D)UAT functions, which explains memory and hallucination",
        "about no formula",
    ),
    _listed(
        "encodings",
        (v1("4.5"),),
        "with eight heads a word has eight different encodings; the weights could be computed from the data",
        "both are asked, not claimed",
    ),
    _listed(
        "sizes",
        (v1("1"), v2("1"), duat("1")),
        "GPT-3 has 175 billion parameters, PaLM 540 billion",
        "facts of others, from which nothing is derived",
    ),
    _listed(
        "benefits",
        (v1("2"), v2("2")),
        "two benefits of writing operations in matrix–vector form",
        "a programme; what it is used for is decided in the rows matrix-vector.*",
    ),
    _listed(
        "contributions",
        (v1("1"), v2("1"), duat("1")),
        "the lists of contributions",
        "they name the results that are decided here",
    ),
    _listed(
        "long-context",
        (v1("4.2"),),
        "LongLoRA, too, uses contextual interaction",
        "about the method of others",
    ),
)
