"""No forged statement of a claim is checked: what is false, ill-formed, or true of small sizes only."""

import json
from pathlib import Path

import pytest
from forged_statements import FORGED, A, U, defined, equation, letter, product, times

from uat_jax.decide.certificate import SCHEMA, VERSION
from uat_jax.decide.statements import of_steps
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step
from uat_jax_check.__main__ import decided


def said(statement: dict, path: Path) -> tuple[int, list[str]]:
    """The exit code and the lines of the checker for a claim with one statement."""
    evidence = [{"method": "normal form", "verdict": "PROVED", "statements": [statement]}]
    body = {"schema": SCHEMA, "version": VERSION, "claim": {"printed": ""}, "verdict": "PROVED", "evidence": evidence}
    path.write_text(json.dumps(body))
    return decided(str(path))


@pytest.mark.parametrize("name", FORGED)
def test_no_forgery_is_checked(name, tmp_path):
    code, lines = said(FORGED[name], tmp_path / "certificate.json")
    assert code in (1, 2) and len(lines) == 1 and "\n" not in lines[0]
    assert not lines[0].startswith("checked")


def test_the_table_is_long():
    assert len(FORGED) >= 120


TRUE = {
    "an induction": FORGED["x_L as its own closed form"]
    | {
        "first": [defined(U(1), product(letter("M", "n", "n", 1), A))],
        "next": [defined(U(["+", "i", 1]), product(letter("M", "n", "n", ["+", "i", 1]), U("i")))],
    },
    "a rule at a number": equation(
        ["sum", U("l"), "l", 2, ["+", "n", 1]],
        ["+", ["sum", letter("V", "n", "n", "l"), "l", 1, ["+", "n", 1]], [".", -1, letter("V", "n", "n", 1)]],
        defined(U("p"), letter("V", "n", "n", "p"), "p", ["+", "n", 1]),
    ),
}


@pytest.mark.parametrize("name", TRUE)
def test_their_true_twins_are_checked(name, tmp_path):
    code, lines = said(TRUE[name], tmp_path / "certificate.json")
    assert code == 0, lines


def test_what_is_printed_says_what_symbols_are_and_where_powers_end(tmp_path):
    statement = equation([".", ["^", times("a", "b"), 2], A], [".", times("a", "b", "a", "b"), A], **{"a": "positive"})
    code, lines = said(statement, tmp_path / "certificate.json")
    assert code == 0 and "  ((a·b)^(2))·A = (a·b·a·b)·A" in [f"  {line}" for line in lines]
    assert any(
        "a real and > 0" in line and "b real numbers" in line and "n, k, m, i, j whole" in line for line in lines
    )


def test_a_divisor_is_an_assumption(tmp_path):
    code, lines = said(equation([".", times("a", ["^", "a", -1]), A], A), tmp_path / "certificate.json")
    assert code == 0 and "  assumed: a ≠ 0" in lines


def test_letters_of_two_names_are_two_letters_in_a_statement():
    n = m.dimension("n")
    for one, other in (("W'", "W′"), ("a+b", "a·b"), ("x y", "x′y")):
        (statement,) = of_steps([Step("", m.Letter(one, n, n), m.Letter(other, n, n))])
        assert statement["left"][1] != statement["right"][1]
