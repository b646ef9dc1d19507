"""Rows can fail: their source with one thing changed is noticed, by the rows or by what is written down of them.

The campaign makes mutants of every claim module from its syntax tree (`claim_mutants`); a few are made here.
"""

from dataclasses import asdict

import pytest
from claim_mutants import (
    DOCUMENT,
    NOBODY,
    OPEN,
    ROW,
    Baseline,
    campaign,
    files,
    mutants,
    noticed,
    outcome,
    table,
    users,
    without_confirmation,
)
from claim_statements import decided, document
from excerpt import one_in
from unnoticed_mutants import UNNOTICED

import uat_jax as uj
from uat_jax.ledger.ledger import find

EVERY = 4
"""The campaign takes one mutant in so many."""


# --- the document ----------------------------------------------------------------------------------------------------


def test_the_document_has_every_row():
    assert list(document()) == [claim.id for claim in uj.claims()]


@pytest.mark.parametrize("name", one_in(24, [claim.id for claim in uj.claims()]))
def test_a_row_decides_what_is_written(name):
    """After a change that is meant: `python tests/claim_statements.py`, and read what has changed."""
    with without_confirmation():
        assert decided(find(name)) == document()[name]


# --- mutants ---------------------------------------------------------------------------------------------------------

SAMPLE = "layers/lemma_1.py"


@pytest.mark.campaign
def test_there_are_many_mutants():
    assert sum(1 for file in files() for _ in mutants(file)) > 6000


def test_users_come_after_what_they_use():
    assert "pruning/sums.py" in users("pruning/layer_removal.py")
    assert users("layers/lemma_1.py") == ()


def test_what_is_changed_in_a_row_is_noticed():
    of = Baseline(SAMPLE)
    found = {noticed(mutant, tree, of)[0] for mutant, tree in mutants(SAMPLE) if mutant.nth % 12 == 1}
    assert ROW in found and DOCUMENT in found and NOBODY not in found


def test_every_listed_mutant_exists():
    """An entry outlives its mutant when the source changes."""
    for file, entries in UNNOTICED.items():
        records = [asdict(mutant) for mutant, _ in mutants(file)]
        idle = [entry for entry in entries if not any(map(entry.is_about, records))]
        assert not idle, (file, idle)


@pytest.mark.campaign
@pytest.mark.parametrize("file", UNNOTICED)
def test_what_is_listed_is_noticed_by_nobody(file):
    """A row that has become able to fail where it could not takes its entry off the list."""
    of = Baseline(file)
    found = {entry: [pair for pair in mutants(file) if entry.is_about(asdict(pair[0]))] for entry in UNNOTICED[file]}
    assert [e for e, pairs in found.items() if all(noticed(*pair, of)[0] != NOBODY for pair in pairs)] == []


@pytest.mark.campaign
@pytest.mark.parametrize("file", files())
def test_few_mutants_are_noticed_by_nobody(file):
    """None of those taken, besides those that `UNNOTICED` lists with a reason."""
    records = list(campaign(file, EVERY))
    print(*table(records), sep="\n")
    assert not [record for record in records if outcome(record) == OPEN]
