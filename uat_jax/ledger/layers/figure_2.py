"""The table of DUAT's second appendix figure: the closed form of one, two and three Transformer layers (G19).

A box lists the parameters that a new layer changes.  How its right-hand sides are to be read is decided by the rows
updates.one-shot, updates.boxes and updates.corrected-boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from uat_jax.decide.programs import settle
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.ledger.claim import SQUARE, Claim, Decide, Kind
from uat_jax.ledger.edit import OneEdit, apply, letter, shape
from uat_jax.ledger.layers.update_lists import BIAS, PRINTED, corrected_boxes, j, written
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import duat, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import plain_network
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.updates import W1, W2, W3, Assignment, Block, b2, b3, simultaneous

FIRST_BOX = (Assignment(W2(1), W2(1) @ W1(1)),)
SECOND_BOX = (*(rule.at(j, 1) for rule in PRINTED), BIAS.at(j, 2))
"""W_{2,1}, b_{2,3}, W_{2,2}, W_{1,3} and b_{2,2}, with W_{2,1} W_{1,3} for the misprinted line."""


def written_out(depth: int) -> m.Expression:
    """x_L = (W_{L,1} x_0 + b_{L,3}) + UAT_L^R, with UAT_L^R as in the figure's last column."""
    remainder = m.Addition(*(W3(n) @ m.Activation(W2(n) @ u.X0 + b2(n)) for n in range(1, depth + 1)))
    return (W1(depth) @ u.X0 + b3(depth)) + remainder


def row(depth: int, blocks: list[Block], *, raw: bool = False) -> Program:
    """The boxes carried out, and the figure's x_L from what they leave."""
    store, x = u.originals("transformer", depth, raw=raw), u.square_layers("transformer").x(depth)
    return u.run(store, blocks, x, written_out(depth))


def _decide(depth: int, blocks: list[Block], *, raw: bool = False) -> Callable[[Settings], Iterator[Evidence]]:
    pair = plain_network(u.square_layers("transformer"), depth), row(depth, blocks, raw=raw)
    return lambda settings: settle(*pair, what=f"x_{depth} as in the figure")


def _misprint() -> OneEdit:
    """W_{2,1} b_{1,3} + b_{2,3}, which should be the D × F matrix W_{1,3}: the line above, for W_{2,1} W_{1,3}."""
    first, third, bias = letter("W_{2,1}", u.D, u.D), letter("W_{1,3}", u.D, u.F), letter("b_{1,3}", u.D, 1)
    line_above = apply("sum", apply("product", first, bias), letter("b_{2,3}", u.D, 1))
    right = line_above, apply("product", first, third)
    formulas = (apply("difference", third, side) for side in right)
    return shape(formulas, ("D", "F"), what="W_{1,3} = W_{2,1}b_{1,3} + b_{2,3}")


_FIGURE = (duat("App. Fig. 2"),)
_EQ_30 = "Eq. 30's W_{k,2} ← W_{k,2}W_{k,1} has been applied for every k"
_WRONG_LINE = r"\mathbf{W}'_{1,3}=\mathbf{W}'_{2,1}\mathbf{b}'_{1,3}+\mathbf{b}'_{2,3}"
_THIRD = (
    r"\mathbf{x}'_3=(\mathbf{W}'_{3,1}\mathbf{x}'_0+\mathbf{b}'_{3,3})+UAT_3^R,\ "
    r"UAT_3^R=\mathbf{W}'_{1,3}\sigma(\mathbf{W}'_{1,2}\mathbf{x}'_0+\mathbf{b}'_{1,2})+\cdots"
)


def _claim(
    name: str, title: str, printed: str, read: str, decide: Decide, *, kind=Kind.IDENTITY, correction=""
) -> Claim:
    return Claim(
        id=f"fig-2.{name}",
        title=title,
        ledger="G19",
        kind=kind,
        sources=_FIGURE,
        printed=printed,
        reading=read,
        hypotheses=SQUARE,
        expects=Verdict.REFUTED if correction else Verdict.PROVED,
        correction=correction,
        decide=decide,
    )


CLAIMS = (
    _claim(
        "box-1", "the first row of the figure, one layer", r"\mathbf{W}_{1,2}=\mathbf{W}'_{1,2}\mathbf{W}'_{1,1}",
        "the line of the box, which is printed twice, is carried out once", _decide(1, [simultaneous(FIRST_BOX)], raw=True),
    ),
    _claim(
        "box-2.misprint", "W_{1,3} in the second box", _WRONG_LINE, "as printed: a column for a matrix",
        _misprint(),
        kind=Kind.SHAPE, correction="fig-2.box-2",
    ),
    _claim(
        "box-2", "the second row of the figure, two layers", written(SECOND_BOX),
        f"W_{{1,3}} = W_{{2,1}}W_{{1,3}}; all right-hand sides as on entering the box; {_EQ_30}",
        _decide(2, [simultaneous(SECOND_BOX)]),
    ),
    _claim(
        "row-3", "the third row of the figure, three layers", _THIRD,
        f"with every W_{{k,3}}, k ≤ j, multiplied in box j + 1 (the text of its box is lost); {_EQ_30}",
        _decide(3, corrected_boxes(3)),
    ),
)  # fmt: skip

RECORDS = (
    Record(
        "fig-2.box-3", "G19", Status.NO_CONTENT, (*_FIGURE, v2("App. Fig. 3")),
        "The third box of the figure.",
        "Its text is lost in the copy at hand, and so are all boxes of v2's Fig. 3.  To be right it must contain W_{1,3} = W_{3,1}W_{1,3} besides "
        "W_{2,3} = W_{3,1}W_{2,3}.",
    ),
)  # fmt: skip
