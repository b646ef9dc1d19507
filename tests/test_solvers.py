"""The induction and the main identities once more, by z3: matrices of fixed sizes, unknown entries (solver.py)."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SOLVER = Path(__file__).with_name("solver.py")
SECONDS = 240
"""The hard limit for everything; it takes a tenth of that on an idle core."""

CLAIMS = (
    "residual.closed-form",
    "transformer.closed-form",
    "attention.matrix",
    "feed-forward.matrix",
    "lemma-1",
    "eq-22",
    "eq-23.simultaneous",
    "eq-26",
    "eq-27",
    "eq-30",
    "eq-32",
    "updates.in-place",
    "updates.corrected-boxes",
    "nested-bias.original-updated-previous",
)


pytestmark = pytest.mark.campaign


@pytest.fixture(scope="module")
def found():
    """(claim, what z3 says of left ≠ right, of left ≠ −right, name of the statement), all lines."""
    if importlib.util.find_spec("z3") is None:
        pytest.skip("z3 is not installed; pip install '.[test]'")
    done = subprocess.run(
        [sys.executable, str(SOLVER), *CLAIMS], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_solver_finds_no_numbers_that_make_the_sides_differ(claim, found):
    lines = [line for line in found if line[0] == claim]
    assert lines, "no statement of this claim was decided"
    assert {said for _, said, _, _ in lines} == {"unsat"}


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_solver_finds_some_for_the_other_sign(claim, found):
    """The negated right side differs from the left one: a solver that says "unsat" to everything decides nothing."""
    said = {said for name, _, said, _ in found if name == claim}
    assert "sat" in said and "unsat" not in said


def test_the_induction_step_was_among_them(found):
    steps = {(claim, statement) for claim, _, _, statement in found}
    for kind in ("residual", "transformer"):
        assert (f"{kind}.closed-form", "step: from i to i+1 layers") in steps
