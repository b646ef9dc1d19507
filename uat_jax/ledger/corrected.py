r"""The right statement in letters that leave one reading, where the printed letters leave several.

A statement such as Eq. 12 is false under one reading and true under another; its correction is then the reading, not
another formula.  Here it is written out with a hat on what has been updated, \hat{W}_{k,3}^{(j)} for the factor of
term k in the network of j layers, and brackets where the papers have none.
"""

from __future__ import annotations

import re

from uat_jax.ledger.claim import Claim

_W = lambda j, n: rf"\mathbf{{W}}_{{{j},{n}}}"
_b = lambda j, n: rf"\mathbf{{b}}_{{{j},{n}}}"
_hat = lambda letter: rf"\hat{{\mathbf{{{letter[8]}}}}}{letter[10:]}"
_NESTED = (
    rf"{_hat(_b('j', 2))}={_W('j', 2)}{_hat(_b('j-1', 3))}+{_b('j', 2)}+{_W('j', 2)}\sum_{{k=1}}^{{j-1}}"
    rf"{_hat(_W('k', 3))}^{{(j-1)}}\sigma({_hat(_W('k', 2))}\mathbf{{x}}_0+{_hat(_b('k', 2))})"
)
_REMAINDER = rf"UAT^R_{{i+1}}={_W('i+1', 1)}UAT^R_i+{_W('i+1', 3)}\sigma({_hat(_W('i+1', 2))}\mathbf{{x}}_0+{_hat(_b('i+1', 2))})"


def _collected(new: str, old: str, remainder: str) -> str:
    """The five assignments of a layer, every right-hand side old: what i layers have wears a hat from the second on."""
    return (
        rf"{_hat(_W(new, 1))}={_W(new, 1)}{_before(_W(old, 1), old)},\quad "
        rf"{_hat(_b(new, 3))}={_W(new, 1)}{_before(_b(old, 3), old)}+{_b(new, 3)},\quad "
        rf"{_hat(_W(new, 2))}={_W(new, 2)}{_before(_W(old, 1), old)},\quad "
        rf"{_hat(_b(new, 2))}={_W(new, 2)}{_before(_b(old, 3), old)}+{_b(new, 2)}+{_W(new, 2)}{remainder}"
    )


def _before(letter: str, layer: str) -> str:
    """A parameter of the layers before: layer 1's are its own."""
    return letter if layer == "1" else _hat(letter)


WRITTEN = {
    "uat.affine-term.density": (
        r"\{\mathbf{W}\mathbf{x}+\mathbf{b}+G(\mathbf{x})\}\supset\{G(\mathbf{x})\}\text{, which is dense in }C(\mathbf{I}_n)"
    ),
    "linear.renamed": r"\mathbf{x}'_{i+1}=\mathbf{W}'_i\mathbf{x}'_i\quad\text{with}\quad\mathbf{W}'_i=\mathbf{W}_i\otimes\mathbf{I}_M",
    "feed-forward.matrix": (
        r"\mathbf{W}'=\mathbf{I}_N\otimes\mathbf{W}^T,\quad\mathbf{b}'=\mathbf{1}_N\otimes\mathbf{b}"
        r"\quad\text{where }\sigma\text{ acts on every entry}"
    ),
    "diamond.property-1.left": r"\mathbf{W}_1\diamond[\mathbf{x}\diamond\mathbf{W}_2]=(\mathbf{W}_2^T\diamond\mathbf{W}_1)\diamond\mathbf{x}",
    "diamond.property-2.left": r"[\mathbf{W}_1\diamond\mathbf{x}]\diamond\mathbf{W}_2=(\mathbf{W}_1^T\diamond\mathbf{W}_2)\diamond\mathbf{x}",
    "attention.linear.frozen": (
        r"\operatorname{vec}\operatorname{MHA}(\mathbf{x})=\mathbf{W}_{HVO}(\mathbf{x})\,\mathbf{x}'"
        r"\quad\text{is linear for fixed }\mathbf{H}_i"
    ),
    "attention.scale-class": (
        r"\operatorname{softmax}\left(\frac{\sqrt{h}\,\mathbf{Q}_i\mathbf{K}_i^T}{\sqrt{M}}\right)"
        r"=\operatorname{softmax}\left(\frac{\mathbf{Q}_i\mathbf{K}_i^T}{\sqrt{d}}\right)\quad\text{with}\quad d=M/h"
    ),
    "head.v2-1-d-4.left": r"((\mathbf{W}'_{Vi})^T\diamond\mathbf{H}'_i)\diamond\mathbf{x}'_i",
    "density.linear": (
        r"\text{the share of the entries of }\mathbf{W}\otimes\mathbf{I}_M\text{ that are not zero is }1/M"
    ),
    "eq-23.simultaneous": (
        _collected("2", "1", rf"{_W('1', 3)}\sigma({_W('1', 2)}\mathbf{{x}}_0+{_b('1', 2)})")
        + rf",\quad {_hat(_W('1', 3))}^{{(2)}}={_W('2', 1)}{_W('1', 3)}"
    ),
    "eq-32": (
        rf"\mathbf{{x}}_{{i+1}}=\cdots+{_W('i+1', 3)}\sigma({_W('i+1', 2)}{_hat(_W('i', 1))}\mathbf{{x}}_0"
        rf"+{_W('i+1', 2)}{_hat(_b('i', 3))}+{_b('i+1', 2)}+{_W('i+1', 2)}UAT^R_i)"
    ),
    "eq-32.simultaneous": (
        _collected("i+1", "i", "UAT^R_i") + rf",\quad UAT^R_{{i+1}}={_W('i+1', 1)}UAT^R_i+{_W('i+1', 3)}s_{{i+1}}"
    ),
    "remainder.original": _REMAINDER,
    "remainder.v2-assigned": _REMAINDER,
    "nested-bias.original-updated-previous": _NESTED,
    "nested-bias.from-one-zero": rf"{_hat(_b('1', 2))}={_b('1', 2)},\quad {_NESTED}\quad(j=2,\ldots,i+1)",
}  # fmt: skip
"""id of a correction → what is right, in LaTeX."""


def corrected(correction: Claim) -> str:
    """What is right, in LaTeX: the statement of the correction, or its reading written out."""
    return WRITTEN.get(correction.id, correction.printed)


def same_formula(one: str, other: str) -> bool:
    """Whether two formulas are the same but for spaces."""
    bare = lambda latex: re.sub(r"\s|\\quad|\\,", "", latex)
    return bare(one) == bare(other)
