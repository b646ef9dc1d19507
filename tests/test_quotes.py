"""What a row quotes is printed, word by word, in the papers it names: read from the papers where they are at hand."""

import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest

import uat_jax as uj
from uat_jax.ledger.claim import Claim
from uat_jax.ledger.quotes import OWN_WORDS, is_quoted

PAPERS = Path(__file__).parents[2] / "shared" / "papers"
FILES = {
    "v1": ("uat_v1.txt",),
    "v2": ("uat_v2.txt", "uat_v2_text_without_formulas.txt"),
    "DUAT": ("duat.txt",),
    "abstract": ("duat_abstract_page.txt",),
}
"""The second copy of v2 has its text where the first one has what was read from pictures."""
FEWEST = 3
"""Words that make a quotation; shorter pieces are joints between formulas."""
at_hand = pytest.mark.skipif(not PAPERS.is_dir(), reason="the papers are not beside this repository")

QUOTED = [claim for claim in uj.claims() if is_quoted(claim)]


def words_of(text: str) -> str:
    """The words and numbers of a text, in small letters: no hyphens at the ends of lines, no marks, no commands."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"-\s*\n\s*", "", text)
    text = re.sub(r"\\(text|mathbf|mathrm|textbf|emph)\b", "", text)
    return " ".join(re.sub(r"[^A-Za-z0-9]+", " ", text).lower().split())


PRIME = re.compile(r"((?:\\\w+\{)*[A-Za-z]\}*)\s*(_\{[^{}]*\}|_\w)\s*'")
RAISED = re.compile(r"(_\{[^{}]*\}|_\w)(\^\{?[A-Z]\}?)")
PLAIN = re.compile(
    r"\\(mathbf|mathrm|mathbb|operatorname|left|right|quad|qquad|begin|end|geqslant|geq|ge|leqslant|leq|le|,|;|!|\s)"
    r"|[\s{}$&\\]"
)


def formula_of(latex: str) -> str:
    """A formula without what changes its look alone; primes stand before indices, raised letters too."""
    latex = latex.replace("^{'}", "'").replace(r"^\prime", "'").replace(r"^{\prime}", "'").replace(r"\prime", "'")
    latex = latex.replace(r"\mapsto", "→").replace(r"\rightarrow", "→").replace(r"\to", "→").replace(r"\limits", "")
    return PLAIN.sub("", RAISED.sub(r"\2\1", PRIME.sub(r"\1'\2", latex)))


@cache
def text(paper: str) -> str:
    """What the paper says."""
    return "\n".join((PAPERS / name).read_text(encoding="utf-8") for name in FILES[paper])


@cache
def words(paper: str) -> str:
    return words_of(text(paper))


@cache
def formulas(paper: str) -> str:
    return formula_of(text(paper))


def stands_in(piece: str, whole: str) -> bool:
    """Whether a formula is in a text, and no prime follows it there, and no accent is before it ("that" is none)."""
    return re.search(rf"(?<!dot)(?<!mathring)(?<![^tw]hat){re.escape(piece)}(?!')", whole) is not None


TEXT = re.compile(r"\\text\{((?:[^{}]|\{[^{}]*\})*)\}")
LEFT_OUT = re.compile(r"\\ldots|\\dots|\\cdots|…")


def quoted_words(claim: Claim) -> list[str]:
    """The pieces of text in what a row quotes."""
    pieces = (words_of(piece) for part in TEXT.findall(claim.printed) for piece in LEFT_OUT.split(part))
    return [piece for piece in pieces if len(piece.split()) >= FEWEST]


def quoted_formulas(claim: Claim) -> list[str]:
    """The formulas in what a row quotes, one by one."""
    outside = TEXT.sub("§", claim.printed)
    parts = re.split(r"§|,\\ |\\quad|\\ldots|\\dots|\\cdots|…", outside)
    found = (formula_of(part).strip(",.=+") for part in parts)
    return [part for part in found if len(part) > 5]


def word_for_word(claim: Claim) -> set[str]:
    """The papers that a quotation is in, as it stands there."""
    return {source.paper for source in claim.sources} - set(claim.otherwise)


@at_hand
@pytest.mark.parametrize("claim", QUOTED, ids=lambda claim: claim.id)
def test_the_words_are_in_every_paper_that_is_named(claim):
    for paper in word_for_word(claim):
        missing = [piece for piece in quoted_words(claim) if piece not in words(paper)]
        assert not missing, f"{paper} does not say {missing}"


HEADING = re.compile(r"^ ?([0-9](?:\.[0-9])?|[A-E](?:\.[0-9])?) +[A-Z][\w:-]*(?: [\w-]+)*", re.MULTILINE)


@cache
def texts_of_sections(paper: str) -> dict[str, str]:
    """Number of a section → what it says, in the paper's first copy."""
    whole = (PAPERS / FILES[paper][0]).read_text(encoding="utf-8")
    heads = [match for match in HEADING.finditer(whole) if len(match.group().split()) > 2 or match.group(1).isdigit()]
    ends = [*(match.start() for match in heads[1:]), len(whole)]
    return {match.group(1): whole[match.start() : end] for match, end in zip(heads, ends, strict=True)}


@cache
def sections(paper: str) -> dict[str, str]:
    """Number of a section → its words."""
    return {number: words_of(said) for number, said in texts_of_sections(paper).items()}


def named_sections(claim: Claim, paper: str) -> list[str]:
    """The sections of a paper that a row names; if it names a figure, all of them, as captions stand anywhere."""
    named = [source.section for source in claim.sources if source.paper == paper]
    return list(sections(paper)) if any("Fig" in place for place in named) else named


def is_in(place: str, named: list[str]) -> bool:
    """Whether a section is one of those, or within one."""
    return any(f"{place}.".startswith(f"{of}.") for of in named)


@at_hand
@pytest.mark.parametrize("claim", QUOTED, ids=lambda claim: claim.id)
def test_the_words_are_in_the_sections_that_are_named(claim):
    """Words that the first copy has wrongly read are in no section."""
    for paper in word_for_word(claim) - {"abstract"}:
        named = named_sections(claim, paper)
        for piece in quoted_words(claim):
            where = [place for place, words in sections(paper).items() if piece in words]
            assert not where or any(is_in(place, named) for place in where), (piece, where)


MISREAD = {"whose internal elements are highly correlated"}
"""Quoted words that the first copy of their paper has read wrongly."""


@at_hand
def test_quoted_words_are_in_some_section():
    """Without this, words whose section is not found would be looked for nowhere."""
    quoted = ((p, piece) for c in QUOTED for p in word_for_word(c) - {"abstract"} for piece in quoted_words(c))
    nowhere = {piece for paper, piece in quoted if not any(piece in words for words in sections(paper).values())}
    assert nowhere == MISREAD


@at_hand
def test_the_sections_of_the_papers_are_told_apart():
    assert len(sections("DUAT")) >= 22 and len(sections("v1")) >= 15 and len(sections("v2")) >= 20
    phrase = words_of("it can only fit one function within a closed interval")
    assert [place for place, words in sections("DUAT").items() if phrase in words] == ["2.3"]


@at_hand
@pytest.mark.parametrize("claim", QUOTED, ids=lambda claim: claim.id)
def test_the_formulas_are_in_duat_where_it_is_named(claim):
    """The formulas of DUAT are at hand as they were written; those of the other papers were read from pictures."""
    if "DUAT" in word_for_word(claim):
        missing = [piece for piece in quoted_formulas(claim) if not stands_in(piece, formulas("DUAT"))]
        assert not missing


@cache
def formulas_of_sections(paper: str) -> dict[str, str]:
    """Number of a section → its formulas."""
    return {number: formula_of(said) for number, said in texts_of_sections(paper).items()}


@at_hand
@pytest.mark.parametrize("claim", QUOTED, ids=lambda claim: claim.id)
def test_the_formulas_are_in_the_sections_of_duat_that_are_named(claim):
    if "DUAT" in word_for_word(claim):
        named = named_sections(claim, "DUAT")
        for piece in quoted_formulas(claim):
            where = [place for place, said in formulas_of_sections("DUAT").items() if stands_in(piece, said)]
            assert any(is_in(place, named) for place in where), (piece, where)


@at_hand
def test_a_formula_of_another_section_is_noticed():
    bias = formula_of(r"\mathbf{x}_{i+1}=(\mathbf{W}'_{i+1,1}\mathbf{x}_0+\mathbf{b}_{i+1,1})")
    where = [place for place, said in formulas_of_sections("DUAT").items() if stands_in(bias, said)]
    assert where and not any(is_in(place, ["2", "4.1", "B.1"]) for place in where)


SPLIT = re.compile(LEFT_OUT.pattern + r"|,\\ |\\quad")


def run_on(latex: str) -> str:
    """Words and formulas as one row of signs: a letter among words keeps its primes and accents."""
    latex = TEXT.sub(r"\1", re.sub(r"-\s*\n\s*", "", latex))
    return formula_of(re.sub(r"\\(text|textbf|emph)\b", "", latex)).lower()


def letters_among_words(claim: Claim) -> list[str]:
    """The pieces of what a row quotes that have words and formulas."""
    pieces = [
        piece for piece in SPLIT.split(claim.printed) if TEXT.search(piece) and TEXT.sub("", piece).strip(" ,.;=+")
    ]
    return [run_on(piece).strip(",.;=+") for piece in pieces]


@at_hand
@pytest.mark.parametrize("claim", [c for c in QUOTED if letters_among_words(c)], ids=lambda claim: claim.id)
def test_the_letters_stand_among_the_words_of_duat(claim):
    if "DUAT" in word_for_word(claim):
        missing = [piece for piece in letters_among_words(claim) if not stands_in(piece, run_on(text("DUAT")))]
        assert not missing


@at_hand
@pytest.mark.parametrize(
    ("latex", "printed"),
    [
        (r"\text{we use }\mathbf{W}'_i\text{ to represent}", True),
        (r"\text{we use }\mathbf{W}_i\text{ to represent}", False),
        (r"\text{each element in }\dot{\mathbf{H}}\text{ encapsulates}", True),
        (r"\text{each element in }\mathring{\mathbf{H}}\text{ encapsulates}", False),
        (r"\text{each element in }\mathbf{H}\text{ encapsulates}", False),
    ],
)
def test_a_mark_on_a_letter_among_words_is_noticed(latex, printed):
    assert stands_in(run_on(latex), run_on(text("DUAT"))) is printed


@at_hand
@pytest.mark.parametrize(
    ("said", "printed"), [("it can only fit two functions", False), ("it can only fit one function", True)]
)
def test_other_words_are_noticed(said, printed):
    assert (words_of(said) in words("DUAT")) is printed


@at_hand
@pytest.mark.parametrize(
    ("latex", "printed"),
    [
        (r"\mathbf{x}_{i+1}=(\mathbf{W}'_{i+1,1}\mathbf{x}_0+\mathbf{b}_{i+1,1})", True),
        (r"\mathbf{x}_{i+1}=(\mathbf{W}'_{i+1,1}\mathbf{x}'_0+\mathbf{b}_{i+1,1})", False),
        (r"\mathbf{x}_{i+1}=(\mathbf{W}_{i+1,1}\mathbf{x}_0+\mathbf{b}_{i+1,1})", False),
        (r"\mathbf{x}_{i+1}=(\mathbf{W}'_{i+1,2}\mathbf{x}_0+\mathbf{b}_{i+1,1})", False),
        (r"\dot{\mathbf{H}}=(\mathbf{W}'_{HVO})^T\mathbf{x}'", True),
        (r"\mathbf{H}=(\mathbf{W}'_{HVO})^T\mathbf{x}'", False),
        (r"\dot{\mathbf{H}}=(\mathbf{W}'_{HVO})^T\mathbf{x}", False),
    ],
)
def test_a_prime_more_or_less_is_noticed(latex, printed):
    assert stands_in(formula_of(latex), formulas("DUAT")) is printed


# --- v1, whose formulas are at hand row by row ------------------------------------------------------------------------

OTHERWISE_IN_V1 = {
    "linear.left": "x^i for x_i, which is the row names.layer-as-power",
    "linear.axis": "x^i for x_i, which is the row names.layer-as-power",
    "linear.eq-15": "a matrix, of which each entry is a formula of its own there",
    "diamond.result-shape.corrected": "(m, 1) for (n, 1), which is what the row corrects",
    "diamond.commutes.transposed": "no transpose, which is what the row adds",
    "diamond.bilinear": "the opposite in words, which is what the row corrects",
    "attention.per-head": "the same three symbols as formulas of their own",
    "attention.eq-35": "the name W_QKi alone: the fraction is DUAT's",
    "head.v2-1-d-3": "a hat on H'_i",
    "heads.stacked": "W'_WH for W'_HV",
    "heads.order.diamond": "W_WH^T for W_HV'^T",
    "density.one-head": "W'_WHi for W'_HVi",
    "lemma-1.diagonal-more-terms": "nothing of the kind: the row follows from v1's diagonals",
    "pruning.prefix-sums": "W j^T for W_j^T, which is the row names.w-j-t",
}
"""Rows of which a side of an equation is printed otherwise in v1, and how."""

SIDES = re.compile(r"=|→|Rightarrow|<|\+|(?<=.)-(?=[a-z|])")
"""A long formula of v1 stands in its copy row by row, broken at such signs."""


@cache
def formulas_of_v1() -> str:
    """The LaTeX in the copy of v1, among what else it says of each formula."""
    return formula_of(re.sub(r"%\s*|\\(big|Big|displaystyle)[lr]?(?![a-z])", "", text("v1")))


def missing_in_v1(formula: str) -> list[str]:
    """The sides of a formula (`formula_of`) that v1 does not print."""
    found = (side.strip("|").removeprefix("Big") for side in SIDES.split(formula.strip(",.=+")))
    return [side for side in found if len(side) > 3 and not stands_in(side, formulas_of_v1())]


@at_hand
@pytest.mark.parametrize("claim", QUOTED, ids=lambda claim: claim.id)
def test_the_formulas_are_in_v1_where_it_is_named(claim):
    if "v1" in word_for_word(claim):
        missing = [side for piece in quoted_formulas(claim) for side in missing_in_v1(piece)]
        assert bool(missing) == (claim.id in OTHERWISE_IN_V1), missing


@at_hand
@pytest.mark.parametrize(
    ("latex", "printed"),
    [
        (r"\mathbf{y}=\mathbf{W}\diamond\mathbf{x}", True),
        (r"\mathbf{y}=\mathbf{W}\otimes\mathbf{x}", False),
        (r"(\mathbf{W}'_{HVO})^T\mathbf{x}'", True),
        (r"(\mathbf{W}_{HVO})\mathbf{x}'", False),
        (r"(\mathbf{W}'_{HVO})^T\mathbf{x}", False),
        (r"\mathbf{W}_2\diamond\mathbf{W}_1\diamond\mathbf{x}", True),
        (r"\mathbf{W}_2^T\diamond\mathbf{W}_2\diamond\mathbf{x}", False),
    ],
)
def test_another_formula_is_not_in_v1(latex, printed):
    assert (not missing_in_v1(formula_of(latex))) is printed


def test_rows_in_our_words_are_rows():
    ids = {claim.id for claim in uj.claims()}
    assert set(OWN_WORDS) <= ids


def test_what_is_refuted_is_quoted_or_marked_as_ours():
    """Nobody is refuted in words that are not his own, unless the row says that the reading is ours."""
    assert [c.id for c in uj.claims() if c.expects is uj.Verdict.REFUTED and not (is_quoted(c) or c.ours)] == []


def test_most_refuted_rows_are_quotations():
    """A canary: what is refuted is mostly what is printed."""
    refuted = [claim for claim in uj.claims() if claim.expects is uj.Verdict.REFUTED]
    assert sum(map(is_quoted, refuted)) > 0.7 * len(refuted)
