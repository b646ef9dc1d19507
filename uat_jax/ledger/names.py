"""Names that are used and not defined: bookkeeping on the printed formulas themselves (G5, G8, G13, G14, G16).

The names are read off the LaTeX.  A formula may use those only that the formulas it rests on have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from uat_jax.decide.counterexample import Counterexample, named
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Decide, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.layers.nested_bias import PRINTED as EQUATION_34
from uat_jax.ledger.layers.update_lists import PRINTED_LATEX as UPDATES
from uat_jax.ledger.source import Source, duat, v1, v2

# --- what a formula uses, and what it assigns -------------------------------------------------------------------------

_NAME = re.compile(r"\\mathbf\{([Wb])\}'?_\{([^{}]*),(\d)\}")


def names(latex: str) -> tuple[str, ...]:
    """The parameters of a formula, each once, without primes: "W_{i+1,1}", "b_{i,3}"."""
    return tuple(dict.fromkeys(f"{letter}_{{{layer},{kind}}}" for letter, layer, kind in _NAME.findall(latex)))


def families(latex: str) -> tuple[str, ...]:
    """The parameters of a formula, the layer left open: "W_{·,1}", "b_{·,3}"."""
    return tuple(dict.fromkeys(re.sub(r"\{.*,", "{·,", name) for name in names(latex)))


def assigned(latex: str) -> str:
    """The left sides of a list of equations, again as one formula."""
    return " ".join(match.group(0) for match in _NAME.finditer(latex) if latex[match.end()] == "=")


def all_known(used: Iterable[str], known: Iterable[str]) -> Evidence:
    """PROVED if every name that is used is known, REFUTED naming one that is not; nothing used is UNKNOWN."""
    used, known = tuple(used), tuple(known)
    missing = [name for name in used if name not in known]
    if not used or not missing:
        verdict = Verdict.PROVED if used else Verdict.UNKNOWN
        return Evidence(Method.NAMES, f"every name is known: {', '.join(used)}", verdict)
    finding = f"{', '.join(missing)} is used, known are {', '.join(known)}"
    sides = "none", "a name known before"
    example = Counterexample(named({"name": missing[0]}), *sides, exact=sides, names=("found", "wanted"))
    return Evidence(Method.NAMES, finding, Verdict.REFUTED, example=example)


# --- the printed formulas ---------------------------------------------------------------------------------------------

_SUM = r"\sum_{j=1}^{i+1}\mathbf{W}'_{j,3}\sigma(\mathbf{W}'_{j,2}\mathbf{x}'_0+\mathbf{b}'_{j,2})"
EQUATION_33 = rf"\mathbf{{x}}_{{i+1}}=(\mathbf{{W}}'_{{i+1,1}}\mathbf{{x}}_0+\mathbf{{b}}_{{i+1,3}})+{_SUM}"
EQUATION_11 = EQUATION_33.replace("{i+1,3}", "{i+1,1}")
DEFINED = families(assigned(UPDATES))
"""The families of parameters that the lists after Eq. 11 and Eq. 33 define."""

FORM = r"\mathbf{x}'_i=(\mathbf{W}_{i,1}\mathbf{x}_0+\mathbf{b}_{i,3})+UAT_i^R"
LAYER = (
    r"(\mathbf{W}'_{i+1,1}\mathbf{x}'_i+\mathbf{b}'_{i+1,3})"
    r"+\mathbf{W}'_{i+1,3}\sigma(\mathbf{W}'_{i+1,2}\mathbf{x}'_i+\mathbf{b}'_{i+1,2})"
)
"""What is put in, and the layer it is put into."""

SUBSTITUTED = r"\mathbf{b}'_{i+1,3}=(\mathbf{W}'_{i+1,1}\mathbf{b}_{i,1}+\mathbf{b}'_{i+1,3})"
SUBSTITUTED_INSIDE = (
    r"\mathbf{b}'_{i+1,2}=(\mathbf{W}'_{i+1,2}\mathbf{b}_{i,1}+\mathbf{b}'_{i+1,2})+\mathbf{W}'_{i+1,2}UAT_i^R"
)

EQUATION_24 = r"\mathbf{x}'_1=(\mathbf{W}'_{1,1}\mathbf{x}'_0+\mathbf{b}'_{1,3})+UAT_1^R"
ASSUMED = r"\mathbf{x}'_i=(\mathbf{W}'_{i,1}\mathbf{x}'_0+\mathbf{b}'_{i,1})+UAT_i^R"
"""The base of DUAT's induction, and the form it assumes for i layers."""

LETS_V2 = (
    r"\mathbf{W}'_{2,1}=\mathbf{W}'_{2,1}\mathbf{W}'_{1,1},\ "
    r"\mathbf{b}'_{2,3}=\mathbf{W}'_{2,1}\mathbf{b}'_{1,3}+\mathbf{b}'_{2,3},\ "
    r"\mathbf{W}'_{1,3}=\mathbf{W}'_{2,1}\mathbf{W}'_{1,3},\ "
    r"\mathbf{W}'_{2,3}=\mathbf{W}'_{2,2}\mathbf{W}'_{1,1},\ "
    r"\mathbf{b}'_{2,2}=(\mathbf{W}'_{2,2}\mathbf{b}'_{1,3}+\mathbf{b}'_{2,2})"
    r"+\mathbf{W}'_{2,2}\mathbf{W}'_{1,3}\sigma(\mathbf{W}'_{1,2}\mathbf{x}'_0+\mathbf{b}'_{1,2})"
)
EQUATION_6_V2 = (
    r"\mathbf{x}'_2=(\mathbf{W}'_{2,1}\mathbf{x}'_0+\mathbf{b}'_{2,1})"
    r"+\mathbf{W}'_{1,3}\sigma(\mathbf{W}'_{1,2}\mathbf{x}'_0+\mathbf{b}'_{1,2})"
    r"+\mathbf{W}'_{2,3}\sigma(\mathbf{W}'_{2,2}\mathbf{x}'_0+\mathbf{b}'_{2,2})"
)
INTRODUCED_V2 = names(LAYER.replace("i+1", "1") + LAYER.replace("i+1", "2") + LETS_V2)
"""The parameters of both layers, and what the assignments make of them."""


def marked(latex: str, letter: str) -> tuple[str, ...]:
    """How a letter is written at each place of a formula: "x", "x'", "H̊'" with the mark over it."""
    found = re.finditer(rf"(?:\\({'|'.join(_OVER)})\{{)?\\mathbf\{{{letter}\}}\}}?('?)", latex)
    return tuple(f"{letter}{_OVER.get(match[1], '')}{match[2]}" for match in found)


_OVER = {"mathring": "\u030a", "dot": "\u0307", "hat": "\u0302"}
"""What stands over a letter, as the sign that Unicode puts there."""


HEADING_34 = r"\text{for }j=1,2,\ldots,i+1\text{, the bias terms }\mathbf{b}'_{i,2}\text{ are updated}"


# --- the rows --------------------------------------------------------------------------------------------------------


def _at_one(latex: str) -> str:
    return latex.replace("_{i,", "_{1,")


Used = tuple[str, ...]


def _known(used: Used, known: Used, corrected: Used = ()) -> Callable[[Settings], Iterable[Evidence]]:
    """Whether the names that are used are known; with the corrected ones they are."""
    decide = lambda used, settings: [all_known(used, known)]
    return OneEdit(used, corrected, decide) if corrected else lambda settings: decide(used, settings)


_SUBSTITUTES = names(FORM + LAYER)
"""A substitution makes no new name: it has those of the form put in and of the layer it is put into."""


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


_PRIMES = r"\mathbf{x}_0+\mathbf{b}_{i+1,3})+\sum_{j=1}^{i+1}\mathbf{W}'_{j,3}\sigma(\mathbf{W}'_{j,2}\mathbf{x}'_0"
_RING = r"\dot{\mathbf{H}}=(\mathbf{W}'_{HVO})^T\mathbf{x}'"
_BOTH = rf"{SUBSTITUTED},\ {SUBSTITUTED_INSIDE}"
_GIVEN = "the names of the substitution of x_i = (W_{i,1}x_0 + b_{i,3}) + UAT_i^R in layer i+1"

CLAIMS = (
    _claim(
        "names.eq-11", "Eq. 11 uses only parameters that are defined", "G14", (duat("3.3", 11), v2("3.5", 11), v2("C.2", 10)),
        EQUATION_11, _known(families(EQUATION_11), DEFINED, families(EQUATION_33)), correction="names.eq-33",
        read="the names as printed, b_{i+1,1}, against the left sides of the list of updates",
    ),
    _claim(
        "names.eq-33", "Eq. 33 uses only parameters that are defined", "G14", (duat("B.3", 33),),
        EQUATION_33, _known(families(EQUATION_33), DEFINED),
        read="the names as printed, b_{i+1,3}, against the left sides of the list of updates",
    ),
    _claim(
        "names.primes", "Eq. 33 has one x_0", "G14", (duat("B.3", 33),), EQUATION_33,
        _known(marked(_PRIMES, "x"), ("x'",), marked(_PRIMES.replace("x}_0", "x}'_0"), "x")),
        read="x_0 has a prime inside σ and none outside; Eq. 11 is printed alike", correction="names.primes-corrected",
    ),
    _claim(
        "names.primes-corrected", "Eq. 33 with x'_0 at both places", "G14", (duat("B.3", 33),), EQUATION_33.replace("x}_0", "x}'_0"),
        _known(marked(_PRIMES.replace("x}_0", "x}'_0"), "x"), ("x'",)), read="corrected",
    ),
    _claim(
        "names.ring", "§4.2 has the output of attention by its name", "G14", (duat("4.2"),), _RING,
        _known(marked(_RING, "H"), ("H̊'",), ("H̊'",)),
        read="a dot for the ring, and no prime on a column (App. C has H' for it)", correction="names.ring-corrected",
    ),
    _claim(
        "names.ring-corrected", "§4.2 with H̊' for the output of attention", "G14", (duat("4.2"), duat("3.2", 9)),
        r"\mathring{\mathbf{H}}'=(\mathbf{W}'_{HVO})^T\mathbf{x}'",
        _known(marked(r"\mathring{\mathbf{H}}'", "H"), ("H̊'",)), read="corrected",
    ),
    _claim(
        "names.w-j-t", "the two sums of Eq. 14 (v1: Eq. 10) have one W_j", "I1", (v1("4.3", 10), duat("4.3", 14)), r"\mathbf{W} j^{\mathrm{T}} \mathbf{x}",
        _known(("W j^T", "W_j^T"), ("W_j^T",), ("W_j^T", "W_j^T")),
        read="“W j^T” in the first sum and W_j^T in the second", correction="names.w-j-t-corrected",
    ),
    _claim(
        "names.w-j-t-corrected", "Eq. 14 (v1: Eq. 10) with W_j^T in both sums", "I1", (v1("4.3", 10), duat("4.3", 14)), r"\mathbf{W}_j^{\mathrm{T}}\mathbf{x}",
        _known(("W_j^T", "W_j^T"), ("W_j^T",)), read="corrected",
    ),
    _claim(
        "names.layer-as-power", "Eq. 5 writes the layer as an index", "D1", (v1("3.3", 5),), r"\mathbf{x}_{i+1}=\mathbf{W}_i\mathbf{x}^i",
        _known(("x_{i+1}", "x^i"), ("x_{i+1}", "x_i"), ("x_{i+1}", "x_i")),
        read="x^i on the right for x_i (v2 and DUAT have x_i), where the rows on Eq. 5 have x_i", correction="names.layer-as-power-corrected",
    ),
    _claim(
        "names.layer-as-power-corrected", "Eq. 5 with x_i on both sides", "D1", (v1("3.3", 5),), r"\mathbf{x}_{i+1}=\mathbf{W}_i\mathbf{x}_i",
        _known(("x_{i+1}", "x_i"), ("x_{i+1}", "x_i")), read="corrected",
    ),
    _claim(
        "names.substitution", "the substitution uses the names that it was given", "G8, G13",
        (v2("C.1", 7, 8), v2("C.2", 11), duat("B.3", 32)), _BOTH, _known(names(_BOTH), _SUBSTITUTES, names(_BOTH.replace("{i,1}", "{i,3}"))),
        read=f"{_GIVEN}, as printed: b_{{i,1}}", correction="names.substitution-corrected",
    ),
    _claim(
        "names.substitution-corrected", "the substitution with b_{i,3} for b_{i,1}", "G8, G13",
        (v2("C.1", 7, 8), v2("C.2", 11), duat("B.3", 32)), _BOTH.replace("{i,1}", "{i,3}"),
        _known(names(_BOTH.replace("{i,1}", "{i,3}")), _SUBSTITUTES), read=f"{_GIVEN}, corrected",
    ),
    _claim(
        "names.induction", "the form assumed for i layers is Eq. 24 for i = 1", "G8", (duat("B.2", 24, 25, 26, 27),),
        ASSUMED, _known(names(_at_one(ASSUMED)), names(EQUATION_24), names(_at_one(ASSUMED.replace("b}'_{i,1}", "b}'_{i,3}")))), correction="names.induction-corrected",
        read="the names at i = 1, with b_{1,1} as printed (Eq. 23 and 25 have b_{2,1})",
    ),
    _claim(
        "names.induction-corrected", "the form with b_{i,3} is Eq. 24 for i = 1", "G8", (duat("B.2", 24, 25, 26, 27),),
        ASSUMED.replace("b}'_{i,1}", "b}'_{i,3}"), _known(names(_at_one(ASSUMED.replace("b}'_{i,1}", "b}'_{i,3}"))), names(EQUATION_24)),
        read="the names at i = 1, corrected",
    ),
    _claim(
        "names.eq-6-v2", "v2's two-layer form uses the names it has introduced", "G5", (v2("C.1", 6),),
        EQUATION_6_V2,
        _known(names(EQUATION_6_V2), INTRODUCED_V2, names(EQUATION_6_V2.replace("b}'_{2,1}", "b}'_{2,3}"))), correction="names.eq-6-v2-corrected",
        read="as printed, b_{2,1}; known are both layers and the five assignments, which have b_{2,3}",
    ),
    _claim(
        "names.eq-6-v2-corrected", "v2's two-layer form with b_{2,3}", "G5", (v2("C.1", 6),),
        EQUATION_6_V2.replace("b}'_{2,1}", "b}'_{2,3}"), _known(names(EQUATION_6_V2.replace("b}'_{2,1}", "b}'_{2,3}")), INTRODUCED_V2),
        read="corrected",
    ),
    _claim(
        "names.eq-34", "the sentence before Eq. 34 names the bias that Eq. 34 updates", "G16", (duat("B.3", 34),),
        HEADING_34, _known(names(HEADING_34), names(assigned(EQUATION_34)), names(HEADING_34.replace("{i,2}", "{j,2}"))), read="as printed, b_{i,2}; Eq. 34 updates b_{j,2}",
        correction="names.eq-34-corrected",
    ),
    _claim(
        "names.eq-34-corrected", "the sentence before Eq. 34 with b_{j,2}", "G16", (duat("B.3", 34), duat("3.3", 12)),
        HEADING_34.replace("{i,2}", "{j,2}"), _known(names(HEADING_34.replace("{i,2}", "{j,2}")), names(assigned(EQUATION_34))),
        read="corrected, as before Eq. 12",
    ),
)  # fmt: skip
