"""Numbers and references: the labels that the DUAT paper has, and what it refers to (G22, M); `names` has the names.

The labels are typed in from the paper.  A reference is right if the label exists and stands at what is referred to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from uat_jax.decide.counterexample import Counterexample, named
from uat_jax.decide.figures import Count
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger import names
from uat_jax.ledger.claim import Claim, Decide, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import Source, duat, v1, v2

# --- what the paper has ----------------------------------------------------------------------------------------------

SECTIONS = {
    "1": "introduction",
    "2": "UAT and matrix–vector method",
    "2.1": "UAT",
    "2.2": "matrix–vector method",
    "2.3": "introduction of DUAT",
    "3": "DUAT for Transformer",
    "3.1": "matrix–vector method for Linear",
    "3.2": "matrix–vector method for MHA",
    "3.3": "DUAT format of the multi-layer Transformer",
    "4": "discussion",
    "4.1": "why Transformers are powerful",
    "4.2": "in-context learning",
    "4.3": "pruning",
    "4.4": "LoRA",
    "5": "conclusion",
    "6": "rethinking LLMs",
}
APPENDICES = {
    "A": "matrix–vector form of MHA",
    "B": "the multi-layer Transformer as DUAT",
    "B.1": "properties of UAT",
    "B.2": "from UAT to DUAT",
    "B.3": "Transformer to DUAT",
    "C": "the learning process of MHA",
    "D": "humans and LLMs compared",
}
FIGURES = {
    1: "the matrix–vector method",
    2: "UAT and DUAT",
    3: "Linear as a matrix",
    4: "the Transformer process",
    5: "Concat as a matrix",
    6: "MHA as a matrix",
    7: "human and LLMs",
}
APPENDIX_FIGURES = {
    1: "Concat as a matrix",
    2: "examples of the DUAT format",
    3: "H_i",
    4: "the learning process of MHA",
    5: "the learning process of 1D convolution",
    6: "background on a word",
    7: "answers to the first question",
    8: "answers to the second question",
}
EQUATIONS = {number: section for section, numbers in {
    "2.1": range(1, 3), "2.2": range(3, 4), "2.3": range(4, 5), "3.1": range(5, 7), "3.2": range(7, 11),
    "3.3": range(11, 13), "4.3": range(13, 17), "4.4": range(17, 19), "B.1": range(19, 20), "B.2": range(20, 28),
    "B.3": range(28, 35), "C": range(35, 36),
}.items() for number in numbers}  # fmt: skip
"""Number of an equation → where it stands."""

LABELS: dict[str, str] = {
    **{f"Section {label}": topic for label, topic in SECTIONS.items()},
    **{f"Appendix {label}": topic for label, topic in APPENDICES.items()},
    **{f"Figure {number} of the main text": topic for number, topic in FIGURES.items()},
    **{f"Figure {number} of the appendix": topic for number, topic in APPENDIX_FIGURES.items()},
    "Equation 6": "FFN as matrices",
    "Equation 10": "MHA as a matrix",
    "Equation 28": "MHA as a matrix",
}


@dataclass(frozen=True)
class Reference:
    """``label`` is referred to in ``cited_in`` for ``topic``."""

    cited_in: str
    label: str
    topic: str


TO_APPENDICES = (
    Reference("3.2", "Appendix A", "matrix–vector form of MHA"),
    Reference("3.3", "Appendix B", "the multi-layer Transformer as DUAT"),
    Reference("4.1", "Appendix C", "the learning process of MHA"),
    Reference("4.2", "Appendix C", "the learning process of MHA"),
    Reference("6", "Appendix D", "humans and LLMs compared"),
)


def letters_later(number: int, settings: Settings) -> Iterator[Evidence]:
    """The references to appendices, each so many letters behind the right one."""
    later = lambda label: label[:-1] + chr(ord(label[-1]) + number)
    return resolve(replace(of, label=later(of.label)) for of in TO_APPENDICES)


FIGURE_9 = Reference("B.3", "Figure 9 of the main text", "the Transformer process")
FIGURE_4 = Reference("B.3", "Figure 4 of the main text", "the Transformer process")
EQUATIONS_SHOWN = (Reference("3.3", "Equation 6", "3.1"), Reference("3.3", "Equation 28", "3.2"))
EQUATIONS_6_AND_10 = (Reference("3.3", "Equation 6", "3.1"), Reference("3.3", "Equation 10", "3.2"))
EQUATIONS_6_AND_28 = (
    Reference("3.3", "Equation 6", "FFN as matrices"),
    Reference("3.3", "Equation 28", "MHA as a matrix"),
)


def resolve(references: Iterable[Reference], labels: Mapping[str, str] = LABELS) -> Iterator[Evidence]:
    """PROVED for each reference whose label stands at its topic, REFUTED for one that does not."""
    for of in references:
        found = labels.get(of.label, "nothing")
        finding = f"§{of.cited_in} refers to {of.label} for “{of.topic}”: there is {found}"
        verdict, example = _compared(of, found)
        yield Evidence(Method.LABELS, finding, verdict, subject=of.cited_in, example=example)


def _compared(of: Reference, found: str) -> tuple[Verdict, Counterexample | None]:
    """PROVED if what is found is the topic of a reference, else REFUTED with both."""
    if found == of.topic:
        return Verdict.PROVED, None
    sides = found, of.topic
    example = Counterexample(named({"reference": of.label}), *sides, exact=sides, names=("found", "wanted"))
    return Verdict.REFUTED, example


def placed(references: Iterable[Reference], places: Mapping[int, str] = EQUATIONS) -> Iterator[Evidence]:
    """PROVED for each equation that stands in the section it is looked for in, REFUTED for one that does not."""
    for of in references:
        found = places.get(int(of.label.removeprefix("Equation ")), "nothing")
        finding = f"§{of.cited_in} looks for {of.label} in §{of.topic}: it stands in §{found}"
        verdict, example = _compared(of, found)
        yield Evidence(Method.LABELS, finding, verdict, subject=of.label, example=example)


def numbered(claimed: Mapping[str, int]) -> Iterator[Evidence]:
    """PROVED for each kind of label of which there are as many as claimed."""
    labels = {
        "sections": [*SECTIONS, *APPENDICES],
        "equations": [f"{number} in {place}" for number, place in EQUATIONS.items()],
        "figures": [*map(str, FIGURES), *(f"{number} of the appendix" for number in APPENDIX_FIGURES)],
    }
    for name, number in claimed.items():
        found = len(labels[name])
        verdict = Verdict.PROVED if found == number else Verdict.REFUTED
        finding = f"{found} {name}, {number} claimed: {', '.join(labels[name])}"
        yield Evidence(Method.LABELS, finding, verdict, Count(found), subject=name)


# --- the rows --------------------------------------------------------------------------------------------------------


def _references(*references: Reference) -> Callable[[Settings], Iterator[Evidence]]:
    return lambda settings: resolve(references)


def _claim(
    name: str,
    title: str,
    ledger: str,
    sources: tuple[Source, ...],
    printed: str,
    decide: Decide,
    *,
    read="",
    correction="",
) -> Claim:
    return Claim(
        id=name,
        title=title,
        ledger=ledger,
        kind=Kind.BOOKKEEPING,
        sources=sources,
        printed=printed,
        reading=read,
        hypotheses=(),
        expects=Verdict.REFUTED if correction else Verdict.PROVED,
        correction=correction,
        decide=decide,
    )


_ABSTRACT_PAGE = Source("abstract", "Paper Structure")
CLAIMS = (
    _claim(
        "references.appendices", "the appendices referred to have what they are cited for", "G22",
        (duat("3.2"), duat("3.3"), duat("4.1"), duat("4.2"), duat("6")),
        r"\text{in Appendix B \ldots\ see Appendix C \ldots\ refer to Appendix D \ldots\ in Appendix E}", OneEdit(1, 0, letters_later),
        correction="references.appendices-corrected",
    ),
    _claim(
        "references.appendices-corrected", "one letter earlier, the appendices have what they are cited for", "G22",
        (duat("3.2"), duat("3.3"), duat("4.1"), duat("4.2"), duat("6")),
        r"\text{in Appendix A \ldots\ see Appendix B \ldots\ refer to Appendix C \ldots\ in Appendix D}", lambda settings: letters_later(0, settings),
        read="corrected",
    ),
    _claim(
        "references.figure-9", "the figure of the Transformer is Figure 9", "G22", (duat("B.3"),),
        r"\text{based on Figure 9 in the main text}", OneEdit(FIGURE_9, FIGURE_4, lambda of, settings: resolve([of])), correction="references.figure-4",
    ),
    _claim(
        "references.figure-4", "the figure of the Transformer is Figure 4", "G22", (duat("B.3"),),
        r"\text{based on Figure 4 in the main text}", _references(FIGURE_4), read="corrected",
    ),
    _claim(
        "references.equations", "Equations 6 and 28 are the feed-forward part and attention", "G22", (duat("3.3"),),
        r"\text{Based on Eq 6 and 28}", _references(*EQUATIONS_6_AND_28),
        read="what they say: Eq. 28, in App. B.3, says what Eq. 10 says; for its index see eq-28-29.printed",
    ),
    _claim(
        "references.equations-shown", "Equations 6 and 28 stand in Sections 3.1 and 3.2", "G22", (duat("3.3"),),
        r"\text{In Sections 3.1 and 3.2, we have showcased \ldots\ Based on Eq 6 and 28}",
        OneEdit(EQUATIONS_SHOWN, EQUATIONS_6_AND_10, lambda of, settings: placed(of)), read="where they are: the two results just showcased",
        correction="references.equations-6-and-10",
    ),
    _claim(
        "references.equations-6-and-10", "Equations 6 and 10 stand in Sections 3.1 and 3.2", "G22", (duat("3.3"), v2("3.5")),
        r"\text{In Sections 3.1 and 3.2, we have showcased \ldots\ Based on Eq 6 and 10}",
        lambda settings: placed(EQUATIONS_6_AND_10), read="corrected; v2 has these numbers",
    ),
    _claim(
        "abstract.structure", "the paper has 23 sections, 35 equations and 15 figures", "M", (_ABSTRACT_PAGE,),
        r"\text{This paper contains 23 sections, 35 equations, 15 figures}",
        lambda settings: numbered({"sections": 23, "equations": 35, "figures": 15}),
        read="headings with those of the appendix; the figures of the appendix are numbered from 1 again",
    ),
    *names.CLAIMS,
)  # fmt: skip

RECORDS = (
    Record(
        "vit-and-cnn", "G22", Status.NO_CONTENT, (duat("B.1"), duat("B.3")),
        "App. B speaks of ViTs and CNNs in a paper about language models.",
        "Nothing depends on it: the layers of Eq. 20 and Eq. 30 are meant.",
    ),
    Record(
        "abstract.text", "M", Status.NO_CONTENT, (Source("abstract", "Abstract"), v1("Abstract")),
        "The abstract on the abstract page is not that of the DUAT paper.",
        "It is that of the first UAT paper, almost word for word: it explains by UAT and does not mention DUAT.",
    ),
    Record(
        "abstract.matrix-vector", "M", Status.NO_CONTENT, (Source("abstract", "TL;DR"),),
        "“both Linear and Multi-Head Attention components admit matrix-vector representations”",
        "Decided by the rows on Linear (D1) and on attention (E2).",
    ),
)  # fmt: skip
