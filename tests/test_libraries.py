"""Functions of installed libraries against their formulas, and rewriting rules: the tables, and what certify says."""

from dataclasses import replace

import pytest
from excerpt import one_in
from messages import lacking
from pairs import libraries, rules
from pairs.agreement import agree_as_floats
from pairs.libraries.library import EXTRA, library
from pairs.questions import PASSING, answer, questions, table_of
from rich.console import Console

from uat_jax import Verdict

BUDGET = 12
"""Seconds for each question of the campaigns."""

INSTALLED = ("jax_nn", "optax_losses", "equinox_nn")
"""Tables of which the ordinary suite takes a few rows: their libraries come with the extra [test]."""

SAMPLE = [row for table in INSTALLED for row in libraries.rows(table)[::24]]


@pytest.mark.parametrize("row", SAMPLE, ids=lambda row: row.name)
def test_the_formula_is_the_library_s_function_and_no_mistake_is(row):
    with libraries.as_libraries_are():
        agree_as_floats(row)


@pytest.mark.parametrize("row", one_in(24, rules.ROWS), ids=lambda row: row.name)
def test_both_sides_of_a_rule_agree_and_its_broken_form_does_not(row):
    with libraries.as_libraries_are():
        agree_as_floats(row)


def test_some_formulas_are_certified_and_their_mistakes_are_not():
    for table in INSTALLED:
        true, mistake, *_ = questions(libraries.rows(table)[:1])
        assert answer(true, BUDGET).verdict in PASSING, true.name
        assert answer(mistake, BUDGET).verdict is Verdict.REFUTED, mistake.name


def test_a_formula_that_is_wrong_is_noticed():
    """By its floats, and as a question that is decided as it is not."""
    row = libraries.rows("jax_nn")[0]
    mistaken = replace(row, right=next(iter(row.wrong.values())))
    with pytest.raises(AssertionError, match="apart"):
        agree_as_floats(mistaken)
    true, mistake, *_ = questions([mistaken])
    assert answer(true, BUDGET).wrong
    assert not answer(mistake, BUDGET).wrong


def test_a_library_that_is_absent_is_named_with_what_to_install():
    with pytest.raises(ModuleNotFoundError, match=r"no no_such_library, which.*pip install 'uat_jax\[libraries\]'"):
        library("no_such_library")


def test_rules_are_as_many_as_promised_and_names_are_unique():
    names = [row.name for row in rules.ROWS]
    assert len(names) >= 100
    assert len(set(names)) == len(names)


def decided(tables):
    """The answers to all questions of some tables, and every message of what is not decided, printed."""
    answers = {}
    with libraries.as_libraries_are():
        for title, rows in tables.items():
            answers[title] = [answer(question, BUDGET) for question in questions(rows)]
            for a in answers[title]:
                if not a.right:
                    said = f"{a.verdict or 'raised'} after {a.seconds:.1f} s: {a.message[:300]}"
                    print(f"{title}: {a.question.name}: {said}")
    Console(width=140).print(table_of(answers))
    return [a for some in answers.values() for a in some]


def unclear(answers):
    """What is not decided, and what its message lacks: a primitive, a line, or what to do."""
    return {a.question.name: what for a in answers if not a.right and (what := lacking(a.message))}


@pytest.mark.campaign
@pytest.mark.parametrize("table", libraries.LIBRARIES)
def test_the_whole_table_agrees_as_floats(table):
    with libraries.as_libraries_are():
        for row in libraries.rows(table):
            agree_as_floats(row)


@pytest.mark.campaign
def test_the_rules_agree_as_floats():
    with libraries.as_libraries_are():
        for row in rules.ROWS:
            agree_as_floats(row)


@pytest.mark.campaign
def test_the_tables_are_as_large_as_promised():
    """Two hundred and fifty functions of twelve libraries, a mistake for each at least, and fifty gradients."""
    assert not libraries.missing(), f"{libraries.missing()} are not installed: {EXTRA}"
    with libraries.as_libraries_are():
        every = [row for table in libraries.LIBRARIES for row in libraries.rows(table)]
    assert len(set(libraries.LIBRARIES.values())) >= 12
    assert len(every) >= 250 and all(row.wrong for row in every)
    assert sum(row.gradient for row in every) >= 50


@pytest.mark.campaign
def test_the_libraries_are_certified():
    """Prints the table; nothing is decided as it is not, most is decided, and what is not says why."""
    assert not libraries.missing(), f"{libraries.missing()} are not installed: {EXTRA}"
    with libraries.as_libraries_are():
        answers = decided({table: libraries.rows(table) for table in libraries.LIBRARIES})
    assert not [a.question.name for a in answers if a.wrong or a.verdict is None]
    assert sum(a.right for a in answers) > len(answers) / 2
    assert not unclear(answers)


@pytest.mark.campaign
def test_the_rules_are_decided():
    """Prints the table; nothing is decided as it is not, and most is decided."""
    answers = decided(rules.TABLES)
    assert not [a.question.name for a in answers if a.wrong or a.verdict is None]
    assert sum(a.right for a in answers) > len(answers) / 2
    assert not unclear(answers)
