"""One head as a matrix, all heads stacked, and the order of the matrices: E6, E7, E9.

The primed matrices of the papers are transposes of the operators: H'_i = (H_i ⊗ I)ᵀ, W'_Vi = (I ⊗ W_Viᵀ)ᵀ, and
W'ᵀ x' is what acts on x'.  The diamond product is W ⋄ x = Wᵀ x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from uat_jax.decide.confirmation import confirm_steps, proved
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.programs import settle_equation
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Decide, Kind
from uat_jax.ledger.edit import OneEdit, apply, equation, letter, shape
from uat_jax.ledger.matrix_vector.diamond import Association, chain, diamond
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.heads import COUNT, HEAD, TOKENS, WIDTH, Heads
from uat_jax.symbolic.step import Step

vec = m.Vectorised

FROZEN = ("H_i is the pattern at the input at hand", "row-major vec")
TRANSPOSED = (*FROZEN, "primed matrices are transposed operators: W'ᵀ acts on x'")

# --- one head ------------------------------------------------------------------------------------------------------

x = m.Letter("x", TOKENS, WIDTH, (HEAD,))
H, V = Heads().pattern(HEAD), Heads().weight("V", HEAD)
"""x_i as a letter of its own, H_i and W_Vi."""

H_PRIMED = m.Kronecker(H, m.Identity(WIDTH)).T
V_PRIMED = m.Kronecker(m.Identity(TOKENS), V.T).T
"""H'_i and W'_Vi."""
_CHAIN = (V_PRIMED.T, H_PRIMED, vec(x))
"""(W'_Vi)ᵀ ⋄ H'_i ⋄ x'_i, as it is printed: without brackets."""


def _head(printed: m.Expression, what: str) -> Decide:
    """vec(H_i x_i W_Vi) against what is printed for it."""
    return lambda settings: settle_equation(Step(what, vec(m.Product(H, x, V)), printed))


def _head_edit(printed: m.Expression, corrected: m.Expression, what: str) -> OneEdit:
    """vec(H_i x_i W_Vi) against what is printed for it, and what should be."""
    return equation(Step(what, vec(m.Product(H, x, V)), printed), corrected)


Chain = tuple[Association, tuple[m.Expression, ...]]


def _bracketed(of: Chain, settings: Settings) -> Iterator[Evidence]:
    """vec(H_i x_i W_Vi) against a chain of diamonds under an association."""
    association, operands = of
    step = Step(f"the chain from the {association}", vec(m.Product(H, x, V)), chain(association, *operands))
    yield from settle_equation(step)


def _transpose_rule() -> OneEdit:
    """[A B]ᵀ x = Aᵀ Bᵀ x for any two square matrices."""
    A, B, y = m.Letter("A", WIDTH, WIDTH), m.Letter("B", WIDTH, WIDTH), m.Letter("y", WIDTH, 1)
    step = Step("[A B]ᵀ = Aᵀ Bᵀ", (A @ B).T @ y, m.Product(A.T, B.T, y))
    return equation(step, m.Product(B.T, A.T, y))


def _row_or_column() -> OneEdit:
    """(W'_HV)ᵀ x' is a column, (Ĥ')ᵀ a row."""
    size = TOKENS * m.dimension("M")
    column = apply("product", apply("transpose", letter("W", size, size)), letter("x", size, 1))
    stacked = letter("Ĥ", size, 1)
    formulas = (apply("difference", column, right) for right in (apply("transpose", stacked), stacked))
    return shape(formulas, ("N", "M"), what="(W'_HV)ᵀ x' = (Ĥ')ᵀ")


# --- all heads -----------------------------------------------------------------------------------------------------


def _all_heads(equation: Callable[[Heads], Step]) -> Decide:
    """An equation proved for every number of heads; for two heads it is confirmed in prime fields."""
    steps = [equation(Heads()), equation(Heads(2))]
    return lambda settings: proved(steps, method=Method.NORMAL_FORM, what="for every N, d and h")


def _stacked(of: Heads) -> Step:
    return Step("Fig. 1.e", vec(of.concatenated()), of.values_matrix() @ vec(of.x))


def _block(i: m.ScalarLike, heads: int) -> m.Expression:
    """F_i, hNd × Nd: block i of the column of all vec(x_i)."""
    return m.Selection(i, heads * TOKENS * WIDTH, TOKENS * WIDTH)


def _blocks(settings: Settings) -> Iterator[Evidence]:
    """blockdiag(H_i ⊗ W_Viᵀ) z = stack(vec(Ĥ_i)), where F_iᵀ z = vec(x_i) says that z is stacked head by head."""
    of, operator = Heads(), m.Kronecker(Heads().pattern(HEAD), Heads().weight("V", HEAD).T)
    rows, columns = operator.shape
    block, piece = m.Selection(HEAD, COUNT * rows, rows), m.Letter("z", columns, 1, (HEAD,))
    cut = lambda letter, ranges: vec(of.x @ of.select(letter.subscripts[0])) if letter.name == "z" else None
    left, right = of.total(lambda i: block @ operator @ piece), of.total(lambda i: block @ vec(of.head(i)))
    yield prove([Step("Fig. 5", left, right, cut)], method=Method.NORMAL_FORM, what="for every N, d and h")
    two = Heads(2)
    stack = lambda column: two.total(lambda i: _block(i, 2) @ column(i))
    diagonal = two.total(
        lambda i: m.Product(_block(i, 2), m.Kronecker(two.pattern(i), two.weight("V", i).T), _block(i, 2).T)
    )
    step = Step("two heads", diagonal @ stack(lambda i: vec(two.slice(i))), stack(lambda i: vec(two.head(i))))
    confirmed = confirm_steps([step], what="stacked by real selections")
    assert confirmed is not None  # two heads can be written out and lowered
    yield confirmed


def _one_head_whole(printed: Callable[[Heads], Step], corrected: Callable[[Heads], m.Expression]) -> OneEdit:
    """An equation with a single head, the smallest case, and its corrected right side."""
    return equation(printed(Heads(1)), corrected(Heads(1)))


def _primed(of: Heads) -> tuple[m.Expression, m.Expression]:
    """W'_HV and W'_O, the transposes of the operators."""
    return of.values_matrix().T, of.output_matrix().T


def _order(product: Callable[[m.Expression, m.Expression], m.Expression]) -> Callable[[Heads], Step]:
    """vec(H̊) = (W'_HVO)ᵀ x' with W'_HVO = product(W'_HV, W'_O)."""
    return lambda of: Step("W'_HVO", vec(of.attended()), product(*_primed(of)).T @ vec(of.x))


def _untransposed(of: Heads) -> Step:
    return Step("W_HVO = W_O W_HV", vec(of.attended()), of.output_matrix() @ of.values_matrix() @ vec(of.x))


CLAIMS = (
    Claim(
        id="head.matrix",
        title="one head before W_O is the matrix H_i ⊗ W_Viᵀ acting on vec(x_i)",
        ledger="E6",
        kind=Kind.IDENTITY,
        sources=(duat("A"), v2("B")),
        printed=r"\text{the conversion of }\mathbf{H}_i[\mathbf{x}_i\mathbf{W}_{Vi}]\text{ into }(\mathbf{W}'_{HVi})^T\mathbf{x}'_i",
        reading="(W'_HVi)ᵀ is H_i ⊗ W_Viᵀ",
        hypotheses=FROZEN,
        expects=Verdict.PROVED,
        decide=_head(m.Kronecker(H, V.T) @ vec(x), "(H_i ⊗ W_Viᵀ) x'_i"),
    ),
    Claim(
        id="head.duat-1-d-3",
        title="Fig. 1.d.3: [H'_i W'_Vi]ᵀ x'_i",
        ledger="E6",
        kind=Kind.IDENTITY,
        sources=(duat("A"),),
        printed=r"[\mathbf{H}'_i\mathbf{W}'_{Vi}]^T\mathbf{x}'_i=\hat{\mathbf{H}}'_i",
        hypotheses=TRANSPOSED,
        expects=Verdict.PROVED,
        decide=_head((H_PRIMED @ V_PRIMED).T @ vec(x), "[H'_i W'_Vi]ᵀ x'_i"),
    ),
    Claim(
        id="head.duat-1-d-4",
        title="Fig. 1.d.4: (H'_i)ᵀ (W'_Vi)ᵀ x'_i",
        ledger="E6",
        kind=Kind.IDENTITY,
        sources=(duat("A"),),
        printed=r"(\mathbf{H}'_i)^T[\mathbf{W}'_{Vi}]^T\mathbf{x}'_i=\hat{\mathbf{H}}'_i",
        reading="the value is right because H_i ⊗ I and I ⊗ W_Viᵀ commute, not by a rule for transposes",
        hypotheses=TRANSPOSED,
        expects=Verdict.PROVED,
        decide=_head(H_PRIMED.T @ V_PRIMED.T @ vec(x), "(H'_i)ᵀ (W'_Vi)ᵀ x'_i"),
    ),
    Claim(
        id="head.transpose-rule",
        ours=True,
        title="the step from Fig. 1.d.3 to 1.d.4 as a rule for transposes",
        ledger="E6",
        kind=Kind.IDENTITY,
        sources=(duat("A"),),
        printed=r"[\mathbf{H}'_i\mathbf{W}'_{Vi}]^T\mathbf{x}'_i=(\mathbf{H}'_i)^T[\mathbf{W}'_{Vi}]^T\mathbf{x}'_i",
        reading="not claimed as a rule, for which it could be taken: [A B]ᵀ = Aᵀ Bᵀ for any two square matrices",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="head.duat-1-d-4",
        decide=_transpose_rule(),
    ),
    Claim(
        id="head.v2-1-d-3",
        title="Fig. 1.d.3 of v2: H'_i ⋄ [x'_i ⋄ W'_Vi]",
        ledger="E6",
        kind=Kind.IDENTITY,
        sources=(v2("B"), v1("B.2")),
        printed=r"\mathbf{H}'_i\diamond[\mathbf{x}'_i\diamond\mathbf{W}'_{Vi}]",
        reading="x ⋄ W = W ⋄ x = Wᵀ x, as defined; H_i for v1's Ĥ_i",
        hypotheses=TRANSPOSED,
        expects=Verdict.PROVED,
        decide=_head(diamond(H_PRIMED, diamond(V_PRIMED, vec(x))), "H'_i ⋄ [x'_i ⋄ W'_Vi]"),
    ),
    Claim(
        id="head.v2-1-d-4.left",
        title="Fig. 1.d.4 of v2, brackets to the left: ((W'_Vi)ᵀ ⋄ H'_i) ⋄ x'_i",
        ledger="E6",
        kind=Kind.IDENTITY,
        sources=(v2("B"),),
        printed=r"(\mathbf{W}'_{Vi})^T\diamond\mathbf{H}'_i\diamond\mathbf{x}'_i",
        reading="left association, A ⋄ B = Aᵀ B",
        hypotheses=TRANSPOSED,
        expects=Verdict.PROVED,
        decide=lambda settings: _bracketed((Association.LEFT, _CHAIN), settings),
    ),
    Claim(
        id="head.v2-1-d-4.right",
        title="Fig. 1.d.4 of v2, brackets to the right: (W'_Vi)ᵀ ⋄ (H'_i ⋄ x'_i)",
        ledger="E6",
        kind=Kind.IDENTITY,
        sources=(v2("B"),),
        printed=r"(\mathbf{W}'_{Vi})^T\diamond\mathbf{H}'_i\diamond\mathbf{x}'_i",
        reading="right association: it is (H_i ⊗ W_Vi) x'_i",
        hypotheses=TRANSPOSED,
        expects=Verdict.REFUTED,
        correction="head.v2-1-d-4.left",
        decide=OneEdit((Association.RIGHT, _CHAIN), (Association.LEFT, _CHAIN), _bracketed),
    ),
    Claim(
        id="head.v1-juxtaposed",
        title="v1's [(W'_Vi)ᵀ H'_i] x'_i, written without ⋄",
        ledger="E6",
        kind=Kind.IDENTITY,
        sources=(v1("B.2"),),
        printed=r"[\mathbf{W}_{Vi}^{\prime T}\hat{\mathbf{H}}'_i]\mathbf{x}'_i",
        reading="products of matrices, H_i for Ĥ_i: it is (H_iᵀ ⊗ W_Viᵀ) x'_i",
        hypotheses=TRANSPOSED,
        expects=Verdict.REFUTED,
        correction="head.v2-1-d-4.left",
        decide=_head_edit(
            m.Product(V_PRIMED.T, H_PRIMED, vec(x)), m.Product(V_PRIMED.T, H_PRIMED.T, vec(x)), "[(W'_Vi)ᵀ H'_i] x'_i"
        ),
    ),
    Claim(
        id="head.v1-result",
        title="v1's W'_WHi x'_i, written without ⋄",
        ledger="E6",
        kind=Kind.IDENTITY,
        sources=(v1("B.2"), v2("B")),
        printed=r"\hat{\mathbf{H}}_i[\mathbf{x}_i\mathbf{W}_{Vi}]\mapsto\mathbf{W}'_{WHi}\mathbf{x}'_i",
        reading="H_i for Ĥ_i; a product of a matrix and a column, W'_WHi = H'_i W'_Vi as in the other figures; v2 prints "
        "W'_HVi x'_i once and then W'_HVi ⋄ x'_i",
        hypotheses=TRANSPOSED,
        expects=Verdict.REFUTED,
        correction="head.duat-1-d-3",
        decide=_head_edit((H_PRIMED @ V_PRIMED) @ vec(x), (H_PRIMED @ V_PRIMED).T @ vec(x), "W'_WHi x'_i"),
    ),
    Claim(
        id="head.row-or-column",
        title="Fig. 5.c and 1.d.5: a column is equal to a row",
        ledger="E6",
        kind=Kind.SHAPE,
        sources=(duat("3.2"), duat("A")),
        printed=r"(\mathbf{W}'_{HV})^T\mathbf{x}'=(\hat{\mathbf{H}}')^T",
        reading="Ĥ' is the column that the caption of Fig. 5 has; Fig. 1.d.5 says the same of one head, and Fig. 1.e "
        "of (Ĥ)ᵀ without a prime",
        hypotheses=TRANSPOSED,
        expects=Verdict.REFUTED,
        correction="heads.stacked",
        decide=_row_or_column(),
    ),
    Claim(
        id="heads.stacked",
        title="Concat(Ĥ_1, …, Ĥ_h) is a matrix acting on vec(x)",
        ledger="E7",
        kind=Kind.IDENTITY,
        sources=(duat("3.2"), duat("A"), v2("3.4"), v2("B"), v1("3.4")),
        printed=r"(\mathbf{W}'_{HV})^T\mathbf{x}'=\hat{\mathbf{H}}'",
        reading="(W'_HV)ᵀ = W_HV = Σ_i H_i ⊗ (E_i W_Vi E_iᵀ)ᵀ",
        hypotheses=TRANSPOSED,
        expects=Verdict.PROVED,
        decide=_all_heads(_stacked),
    ),
    Claim(
        id="heads.stacked.blocks",
        title="with x' stacked head by head, the matrix is block diagonal",
        ledger="E7",
        kind=Kind.IDENTITY,
        sources=(duat("A"), v2("B"), v1("B.2")),
        printed=r"\mathbf{W}_{HV}=\mathrm{blockdiag}(\mathbf{H}_1\otimes\mathbf{W}_{V1}^T,\dots,\mathbf{H}_h\otimes\mathbf{W}_{Vh}^T)",
        reading="x' is the column of vec(x_1), …, vec(x_h), a fixed permutation of the row-major vec(x)",
        hypotheses=(*FROZEN, "block i of the stacked column is vec(x_i)"),
        expects=Verdict.PROVED,
        decide=_blocks,
    ),
    Claim(
        id="heads.caption.without-diamond",
        otherwise=("DUAT",),
        title="captions write W'_WH x' where the text has W'_WH ⋄ x'",
        ledger="E7",
        kind=Kind.IDENTITY,
        sources=(v1("Fig. 4"), v1("B.2"), v2("B"), duat("B")),
        printed=r"\mathbf{W}'_{WH}\mathbf{x}'=\hat{\mathbf{H}}'",
        reading="W'_WH (v2, DUAT: W'_HV) is the matrix of the text, for which W'_WH ⋄ x' = Ĥ', in DUAT (W'_HV)ᵀ x' = Ĥ'; "
        "in both appendices it is the caption of Fig. 1",
        hypotheses=TRANSPOSED,
        expects=Verdict.REFUTED,
        correction="heads.stacked",
        decide=_one_head_whole(
            lambda of: Step("W'_WH x'", vec(of.concatenated()), _primed(of)[0] @ vec(of.x)),
            lambda of: _primed(of)[0].T @ vec(of.x),
        ),
    ),
    Claim(
        id="heads.order.diamond",
        title="W'_HVO = W'_HVᵀ ⋄ W'_O, as v1 and v2 print it",
        ledger="E9",
        kind=Kind.IDENTITY,
        sources=(v2("3.4"), v1("3.4")),
        printed=r"\mathbf{W}'_{HVO}=\mathbf{W}_{HV}^{\prime T}\diamond\mathbf{W}'_O",
        reading="A ⋄ B = Aᵀ B, so that it is W'_HV W'_O; v1 leaves out the prime and says WH for HV, and WHO for HVO "
        "in the caption of its Fig. 5",
        hypotheses=TRANSPOSED,
        expects=Verdict.PROVED,
        decide=_all_heads(_order(lambda HV, O: diamond(HV.T, O))),
    ),
    Claim(
        id="heads.order.transposed",
        title="W'_HVO = W'_O W'_HV with DUAT's transposed matrices",
        ledger="E9",
        kind=Kind.IDENTITY,
        sources=(duat("3.2", 9),),
        printed=r"\mathbf{W}'_{HVO}=\mathbf{W}'_O\mathbf{W}'_{HV}",
        reading="primed matrices as in (W'_HV)ᵀ x' = Ĥ', (W'_O)ᵀ Ĥ' = H̊', (W'_HVO)ᵀ x' = H̊' of the same page",
        hypotheses=TRANSPOSED,
        expects=Verdict.REFUTED,
        correction="heads.order.corrected",
        decide=_one_head_whole(
            _order(lambda HV, O: O @ HV), lambda of: _order(lambda HV, O: HV @ O)(of).right
        ),
    ),
    Claim(
        id="heads.order.corrected",
        title="W'_HVO = W'_HV W'_O with DUAT's transposed matrices",
        ledger="E9",
        kind=Kind.IDENTITY,
        sources=(duat("3.2", 9),),
        printed=r"\mathbf{W}'_{HVO}=\mathbf{W}'_{HV}\mathbf{W}'_O",
        reading="the corrected order",
        hypotheses=TRANSPOSED,
        expects=Verdict.PROVED,
        decide=_all_heads(_order(lambda HV, O: HV @ O)),
    ),
    Claim(
        id="heads.order.untransposed",
        title="W_HVO = W_O W_HV with the operators themselves, as in Eq. 10",
        ledger="E9",
        kind=Kind.IDENTITY,
        sources=(duat("3.2", 10),),
        printed=r"\mathbf{W}'_{HVO}=\mathbf{W}'_O\mathbf{W}'_{HV}",
        reading="each letter is the operator that acts on the column",
        hypotheses=FROZEN,
        expects=Verdict.PROVED,
        decide=_all_heads(_untransposed),
    ),
    Claim(
        id="heads.caption.output",
        title="the text on Fig. 6 with Ĥ' for the output: (W'_O)ᵀ Ĥ' = Ĥ'",
        ledger="E9",
        kind=Kind.IDENTITY,
        sources=(duat("3.2"),),
        printed=r"(\mathbf{W}'_O)^T\hat{\mathbf{H}}'=\hat{\mathbf{H}}'",
        reading="as the source has it, where Fig. 6.a is also called Ĥ; a ring may have been read as a hat",
        hypotheses=TRANSPOSED,
        expects=Verdict.REFUTED,
        correction="heads.caption.corrected",
        decide=_one_head_whole(
            lambda of: Step("Fig. 6.b", _primed(of)[1].T @ vec(of.concatenated()), vec(of.concatenated())),
            lambda of: vec(of.attended()),
        ),
    ),
    Claim(
        id="heads.caption.whole",
        title="the text on Fig. 6 with Ĥ' for the output: (W'_HVO)ᵀ x' = Ĥ'",
        ledger="E9",
        kind=Kind.IDENTITY,
        sources=(duat("3.2"),),
        printed=r"(\mathbf{W}'_{HVO})^T\mathbf{x}'=\hat{\mathbf{H}}'",
        reading="as the source has it, where Fig. 6.a is also called Ĥ; a ring may have been read as a hat",
        hypotheses=TRANSPOSED,
        expects=Verdict.REFUTED,
        correction="heads.order.corrected",
        decide=_one_head_whole(
            lambda of: Step("Fig. 6", of.matrix() @ vec(of.x), vec(of.concatenated())), lambda of: vec(of.attended())
        ),
    ),
    Claim(
        id="heads.caption.corrected",
        title="the text on Fig. 6 with H̊' for the output: (W'_O)ᵀ Ĥ' = H̊'",
        ledger="E9",
        kind=Kind.IDENTITY,
        sources=(duat("3.2"), v2("3.4"), v1("3.4")),
        printed=r"(\mathbf{W}'_O)^T\hat{\mathbf{H}}'=\mathring{\mathbf{H}}'",
        reading="the corrected right-hand side, which v1 and v2 have: H' ⋄ W'_O = H̊', with H' for Ĥ'",
        hypotheses=TRANSPOSED,
        expects=Verdict.PROVED,
        decide=_all_heads(lambda of: Step("Fig. 6.b", _primed(of)[1].T @ vec(of.concatenated()), vec(of.attended()))),
    ),
)  # fmt: skip
