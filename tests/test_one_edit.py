"""A refuted row differs from a true statement in one place: mended there it is proved, changed elsewhere not."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any
from unittest import mock

import pytest
import sympy
from claim_mutants import without_confirmation
from excerpt import one_in
from test_negative_twins import MUTATIONS, WHOLE, mutants

import uat_jax as uj
from uat_jax.decide import programs
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.errors import InputError, UatJaxError
from uat_jax.ledger.edit import Edit, Formula, OneEdit, apply, letter, one_edit, parts, with_part
from uat_jax.ledger.layers import nested_bias, update_lists
from uat_jax.ledger.ledger import find
from uat_jax.symbolic import language as m
from uat_jax.symbolic.updates import Assignment

SYMBOLIC = Settings(dtypes=(), depth=2)
REFUTED = [claim.id for claim in uj.claims() if claim.expects is Verdict.REFUTED]


def edit_of(name: str) -> OneEdit:
    """The edit that a refuted row declares."""
    found = find(name).decide
    assert isinstance(found, OneEdit), f"{name} declares no edit"
    return found


@pytest.mark.parametrize("name", REFUTED)
def test_a_refuted_row_differs_from_a_true_statement_in_one_place(name):
    of = edit_of(name)
    edit = of.edit
    assert with_part(of.printed, edit.path, edit.corrected) == of.corrected


@pytest.mark.parametrize("name", one_in(16, REFUTED))
def test_mended_in_that_place_the_row_is_proved(name):
    assert combine(edit_of(name).repaired(SYMBOLIC)) == Verdict.PROVED


# --- any other single change ---------------------------------------------------------------------------------------


def other_changes(of: OneEdit) -> Iterator[Any]:
    """The printed statement with something else changed, or with another change in the same place."""
    there = (with_part(of.printed, of.edit.path, part) for part in _instead(of.edit.corrected))
    for changed in (*_changed(of.printed), *there):
        if changed not in (of.printed, of.corrected) and not _same_formula(changed, of.corrected):
            yield changed


def _same_formula(changed: Any, corrected: Any) -> bool:
    """Whether it is the corrected formula, written with two transposes more."""
    if not isinstance(changed, Formula):
        return False
    try:
        return changed.at({}) == corrected.at({})
    except UatJaxError:  # its shapes do not fit
        return False


@cache
def words() -> tuple[str, ...]:
    """The words by which refuted rows choose one of several readings, printed and corrected."""
    edits = [edit_of(name).edit for name in REFUTED]
    return tuple(dict.fromkeys(w for edit in edits for w in (edit.printed, edit.corrected) if isinstance(w, str)))


def _instead(corrected: Any) -> Iterator[Any]:
    """What may stand where the corrected part should: another word, or a number that is near or twice as large."""
    match corrected:
        case str():
            yield from (word for word in words() if word != corrected)
        case tuple():
            yield (*corrected, len(corrected))
        case bool() | m.Zero():
            return
        case m.Expression():
            yield from (corrected + corrected, -1 * corrected)
        case int() | sympy.Expr():
            yield from (corrected - 1, corrected + 1, 2 * corrected)


def _changed(statement: Any) -> Iterator[Any]:
    match statement:
        case m.Expression():
            for kind in MUTATIONS:
                if kind != WHOLE:
                    yield from mutants(statement, kind)
        case str():
            yield f"{statement}'"
        case bool():
            return
        case sympy.Rel():
            yield statement.reversedsign if statement.is_Equality else statement.negated
            yield from _inside(statement)
        case int() | sympy.Integer() | sympy.Rational():
            yield from ()
        case Formula(of="letter"):
            name, rows, columns = statement.operands
            yield Formula("letter", (name, rows + 1, columns))
            yield Formula("letter", (name, rows, columns + 1))
        case Formula():
            yield apply("transpose", statement)
            yield from _inside(statement)
        case _:
            yield from _inside(statement)


def _inside(statement: Any) -> Iterator[Any]:
    for name, part in parts(statement).items():
        for changed in _changed(part):
            try:
                yield with_part(statement, (name,), changed)
            except (UatJaxError, TypeError):  # no such statement
                continue


ANOTHER_WAY = {
    "linear.renamed-again": "(W ⊗ I)ᵀ may be mended inside as well: (Wᵀ ⊗ I)ᵀ is W ⊗ I",
    "diamond.commutes.matrices": "a row and a column: either may be transposed",
    "attention.v1-hat": "Ĥ_i (x_i W_Vi)ᵀ has shapes that fit, and shapes are all that the row is about",
    "head.v2-1-d-4.right": "with W'_Vi for its transpose the chain may be read from the right: it is then Fig. 1.d.3",
    "head.v1-juxtaposed": "(H_i ⊗ I)ᵀ may be mended inside as well: (H_iᵀ ⊗ I)ᵀ is H_i ⊗ I",
    "head.row-or-column": "a row and a column: either may be transposed",
    "uat.similar-inputs": "outputs less than 9/5 apart is a weaker bound on the same number",
    "updates.first-factor-residual": "the wrong rule for a layer that a network of one layer has not",
    "nested-bias.from-one": "the term with b_{0,3} may be dropped instead of b_{0,3} being 0",
    "names.eq-6-v2": "b_{1,3} is a name that v2 has introduced as well",
    "pruning.eq-15.since": "what is larger than ε + |S_1 − f|, by 1 or twice as large, is a weaker bound",
    "pruning.premise.v1": "2|S_2| ≤ δ says more than |S_2| ≤ δ, so that the same follows",
    "pruning.prefix-sums": "2|t_2| is a weaker bound than |t_2|",
}
"""Rows that another change mends as well, and why."""
TWO_OTHER_WAYS = {"uat.similar-inputs": 2, "pruning.eq-15.since": 2}


NOT_SEARCHED = Evidence(Method.COUNTEREXAMPLE, "not looked for", Verdict.UNKNOWN)


def proved(of: OneEdit, statement: Any) -> bool:
    try:
        return _proved(of.by(statement, SYMBOLIC))
    except (UatJaxError, AttributeError, KeyError, TypeError, ValueError):  # no such statement
        return False


@pytest.mark.parametrize("name", one_in(18, REFUTED))
def test_no_other_single_change_proves_the_row(name):
    of = edit_of(name)
    right = [changed for changed in other_changes(of) if proved(of, changed)]
    assert len(right) == TWO_OTHER_WAYS.get(name, name in ANOTHER_WAY), right[:3]


def _proved(evidence: Iterable[Evidence]) -> bool:
    with without_confirmation(), mock.patch.object(programs, "refute", lambda *pair: NOT_SEARCHED):
        return combine(evidence) is Verdict.PROVED


def test_of_all_readings_of_the_nested_bias_one_is_right():
    """Those that are no rows, with two or three mistakes at once, among them."""
    right = [reading for reading in nested_bias.READINGS if _proved(nested_bias.in_reading(reading, SYMBOLIC))]
    assert right == [nested_bias.RIGHT] and len(nested_bias.READINGS) == 12


def test_of_all_orders_one_is_right_with_the_right_index():
    """An order is wrong with either index, and the index is wrong in the right order."""
    titles = update_lists.TITLES
    right = [order for order, title in titles.items() if _proved(update_lists.in_order(title, SYMBOLIC))]
    assert right == [update_lists.IN_FIGURE] and list(titles) == list(update_lists.ORDERS) and len(titles) == 6
    assert [_proved(update_lists.in_boxes(last, SYMBOLIC)) for last in update_lists.MEANT] == [False, True]


def test_many_other_changes_were_tried():
    """A canary: statements that are trees have many places."""
    assert sum(1 for name in REFUTED for _ in other_changes(edit_of(name))) > 5_000


# --- the place -----------------------------------------------------------------------------------------------------

n = m.dimension("n")
A, B, x = m.Letter("A", n, n), m.Letter("B", n, n), m.Letter("x", n, 1)


@pytest.mark.parametrize(
    ("printed", "corrected", "edit"),
    [
        (A @ x, B @ x, Edit((0,), A, B)),
        (A @ B @ x, B @ A @ x, Edit((), A @ B @ x, B @ A @ x)),
        (x + A @ x, x + A.T @ x, Edit((1, 0), A, A.T)),
        ((1, 2), (1, 3), Edit((1,), 2, 3)),
        (("left", A), ("right", A), Edit((0,), "left", "right")),
        (sympy.Symbol("N"), 1 / sympy.Symbol("N"), Edit((), sympy.Symbol("N"), 1 / sympy.Symbol("N"))),
        (Assignment(A, B), Assignment(A, B.T), Edit(("value",), B, B.T)),
        (
            apply("sum", letter("a", 1, 1), letter("b", 1, 1)),
            apply("product", letter("a", 1, 1), letter("b", 1, 1)),
            None,
        ),
    ],
)
def test_the_one_place_is_found(printed, corrected, edit):
    found = one_edit(printed, corrected)
    assert edit is None or found == edit
    assert with_part(printed, found.path, found.corrected) == corrected


@pytest.mark.parametrize(
    ("printed", "corrected"),
    [(A @ x, A @ x), (A @ x + B @ x, A.T @ x + B.T @ x), ((1, 2, 3), (2, 3, 1)), ((1, "left"), (2, "right"))],
)
def test_no_place_and_two_places_are_refused(printed, corrected):
    with pytest.raises(InputError, match="wanted one"):
        one_edit(printed, corrected)


def test_a_row_decides_the_printed_statement():
    of = OneEdit(1, 2, lambda statement, settings: [statement])  # type: ignore[list-item]
    assert list(of(SYMBOLIC)) == [1] and list(of.repaired(SYMBOLIC)) == [2]
