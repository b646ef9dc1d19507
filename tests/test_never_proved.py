"""What is false is never PROVED, what is true beside it still is: a table, and random expressions of prime sizes."""

import numpy as np
import pytest
from false_equations import EQUATIONS, d, h, i, j, k, l, n, p, q
from false_statements import INSERTED, KINDS, PRINTED
from prime_sizes import sound
from random_expressions import Evaluator, agree

from uat_jax.decide.normal_forms import prove
from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.errors import UatJaxError
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic import words
from uat_jax.symbolic.derivation import plain_network
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.words import Arranged, Column, Letters, Opaque, Pair

SIZES = {n: 3, p: 5, q: 2, h: 2, d: 3, i: 2, j: 3, k: 2, l: 1}


def proved(decide) -> bool:
    """Whether a statement is PROVED; what is refused is not."""
    try:
        found = decide()
        if isinstance(found, bool):
            return found
        return combine([found] if isinstance(found, Evidence) else found) == Verdict.PROVED
    except UatJaxError:
        return False


# --- equations -----------------------------------------------------------------------------------------------------

WRONG = [(name, e.left, wrong) for name, e in EQUATIONS.items() for wrong in e.wrong]


def equal(left: m.Expression, right: m.Expression) -> bool:
    return proved(lambda: prove([Step("", left, right)], method=Method.NORMAL_FORM, what=""))


def values_agree(left: m.Expression, right: m.Expression) -> bool:
    at = Evaluator(SIZES)
    return agree(at(left), at(right))


@pytest.mark.parametrize("equation", EQUATIONS.values(), ids=EQUATIONS)
def test_a_true_equation_is_proved(equation):
    assert values_agree(equation.left, equation.right)
    assert equal(equation.left, equation.right) and equal(equation.right, equation.left)


@pytest.mark.parametrize(("_", "left", "wrong"), WRONG)
def test_a_false_equation_is_not_proved(_, left, wrong):
    assert not values_agree(left, wrong), "true after all"
    assert not equal(left, wrong) and not equal(wrong, left)


# --- other statements ----------------------------------------------------------------------------------------------

STATEMENTS = {f"{kind}: {name}": s for kind, table in KINDS.items() for name, s in table.items()}
FALSE = [(name, number, wrong) for name, s in STATEMENTS.items() for number, wrong in enumerate(s.wrong)]


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_a_true_statement_is_proved(statement):
    assert proved(statement.true)


@pytest.mark.parametrize(("_", "number", "wrong"), FALSE, ids=[f"{name}, {number}" for name, number, _ in FALSE])
def test_a_false_statement_is_not_proved(_, number, wrong):
    assert not proved(wrong)


def test_there_are_many():
    assert len(WRONG) >= 150 and len(FALSE) >= 150


# --- the false lists of assignments are other networks ---------------------------------------------------------------

DEPTH = 4


def _carried_out(rules) -> Program:
    passes = (u.sequential(u.for_every_k([r.at(INDEX, n) for r in rules], n)) for n in range(1, DEPTH))
    return u.execute("residual", DEPTH, passes)


@pytest.mark.parametrize("name", INSERTED)
def test_an_inserted_assignment_makes_another_network(name):
    network = Evaluator({u.D: 3, u.F: 2}).program(plain_network(u.square_layers("residual"), DEPTH))
    value = lambda rules: Evaluator({u.D: 3, u.F: 2}).program(_carried_out(rules))
    assert agree(network, value(PRINTED))
    assert not agree(network, value((INSERTED[name], *PRINTED)))


# --- random expressions of prime sizes -----------------------------------------------------------------------------

SEEDS = range(150)


def failures() -> int:
    """At how many seeds a value changes, something false is equal, or the normal form is no expression any more."""
    return sum(not _holds(seed) for seed in SEEDS)


def _holds(seed: int) -> bool:
    try:
        return sound(np.random.default_rng(seed))
    except Exception:  # a planted fault may also end in words that do not fit
        return False


def test_normal_forms_keep_values_at_prime_sizes():
    assert failures() == 0


def _unvec_of_any_shape(letters: Letters, word, shape):
    if shape[1] == 1:
        return word
    match letters.records(word):
        case (Column(matrix, _),):
            return matrix
    return letters.intern(Arranged(word, shape))


_free_symbols, _reindexed, _intern = Letters.free_symbols, Letters._reindex_letter, Letters.intern


def _is_softmax(letters: Letters, letter: str) -> bool:
    record = letters.table[letter]
    return isinstance(record, Opaque) and record.head is m.RowSoftmax


def _free_outside_softmax(letters: Letters, letter: str):
    return frozenset() if _is_softmax(letters, letter) else _free_symbols(letters, letter)


def _reindexed_outside_softmax(letters: Letters, letter: str, names):
    return letter if _is_softmax(letters, letter) else _reindexed(letters, letter, names)


PLANTED = {
    "the shapes of Kronecker factors are ignored": (words, "_fit", lambda a, b: True),
    "the shape of unvec is ignored": (Letters, "unvec", _unvec_of_any_shape),
    "an index is dropped from softmax": (Letters, "free_symbols", _free_outside_softmax),
    "an index of softmax is not renamed": (Letters, "_reindex_letter", _reindexed_outside_softmax),
}


@pytest.mark.parametrize(("owner", "name", "fault"), PLANTED.values(), ids=PLANTED)
def test_a_planted_fault_is_seen(owner, name, fault, monkeypatch):
    monkeypatch.setattr(owner, name, fault)
    assert failures() > 0


def _alike(kind, same):
    """Letters of one kind are taken for one where they have the same words, whatever their shapes."""

    def intern(letters: Letters, record):
        known = (
            r
            for r in letters.table.values()
            if isinstance(r, kind) and isinstance(record, kind) and same(r) == same(record)
        )
        return _intern(letters, next(known, record))

    return intern


FORGOTTEN = {
    "I ⊗ X ⊗ I": _alike(Pair, lambda record: (record.left, record.right)),
    "vec of identities": _alike(Column, lambda record: record.word),
    "unvec inside": _alike((Arranged, Column), lambda record: (type(record), record.word)),
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_a_forgotten_shape_is_seen_in_the_table(name, monkeypatch):
    monkeypatch.setattr(Letters, "intern", FORGOTTEN[name])
    equation = EQUATIONS[name]
    assert any(equal(equation.left, wrong) for wrong in equation.wrong)
