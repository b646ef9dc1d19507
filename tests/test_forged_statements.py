"""No forged statement of a claim is checked: what is false, ill-formed, or true of small sizes only."""

import copy
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import counting_oracle
import forged_counts
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
    assert all(len(table) >= 15 for table in forged_counts.FORGED.values())


OF_COUNTS = [(kind, name) for kind, table in forged_counts.FORGED.items() for name in table]


@pytest.mark.parametrize(("kind", "name"), OF_COUNTS)
def test_no_forged_count_rank_number_or_program_is_checked(kind, name, tmp_path):
    code, lines = said(forged_counts.FORGED[kind][name], tmp_path / "certificate.json")
    assert code in (1, 2) and len(lines) == 1 and "\n" not in lines[0], lines
    assert lines[0].split(":")[0] in ("refused", "not decided", "unusable")


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, table in forged_counts.TRUE.items() for name in table]
)
def test_true_counts_ranks_numbers_and_programs_are_checked(kind, name, tmp_path):
    statement = forged_counts.TRUE[kind][name]
    code, lines = said(statement, tmp_path / "certificate.json")
    assert code == 0, lines
    assert kind not in COUNTED or counting_oracle.holds(statement)


# --- mutants ---------------------------------------------------------------------------------------------------------

COUNTED = ("count", "other count", "recurrence", "cost")
SHIPPED = [
    s
    for path in sorted((Path(__file__).parent.parent / "docs" / "certificates").glob("*.json"))
    for e in json.loads(path.read_text())["evidence"]
    for s in e["statements"]
    if s["kind"] in COUNTED and len(json.dumps(s)) < 10_000
]
KNOWN = [s for kind in COUNTED for s in forged_counts.TRUE[kind].values()] + SHIPPED


def places(data: Any, path: tuple = ()) -> Any:
    """The paths to all that is in a statement, but what kind it is."""
    if path and path != ("kind",):
        yield path
    if isinstance(data, list | dict):
        for key, part in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(part, (*path, key))


def mutant(rng: random.Random, statement: dict) -> tuple[str, dict]:
    """The statement with one number, name, part or field changed, dropped, exchanged or put in."""
    paths = list(places(statement))
    path, other = rng.choice(paths), rng.choice(paths)
    of, new = (forged_counts.at(statement, p) for p in (path, other))
    if isinstance(of, bool):
        return "truth", forged_counts.changed(statement, {path: not of})
    if isinstance(of, int):
        return "number", forged_counts.changed(statement, {path: of + rng.choice([-2, -1, 1, 2])})
    if isinstance(of, list) and len(of) > 2 and rng.random() < 0.6:
        first, second = rng.sample(range(1, len(of)), 2)
        if rng.random() < 0.5:
            return "part dropped", forged_counts.changed(statement, {path: of[:first] + of[first + 1 :]})
        turned = list(of)
        turned[first], turned[second] = turned[second], turned[first]
        return "parts exchanged", forged_counts.changed(statement, {path: turned})
    if isinstance(of, dict) and rng.random() < 0.2:
        return "field dropped", forged_counts.changed(statement, {path: forged_counts.GONE})
    return "another part", forged_counts.changed(statement, {path: copy.deepcopy(new)})


def mutations(count: int, seed: int, path: Path) -> Counter:
    """So many mutants of true counts: what is accepted holds wherever it is counted by hand."""
    print(f"seed {seed}")
    rng, found = random.Random(seed), Counter()
    for number in range(count):
        statement = rng.choice(KNOWN)
        change, new = mutant(rng, statement)
        if new == statement:
            continue
        code, lines = said(new, path)
        assert len(lines) == 1 or code == 0, lines
        found[change, lines[0].split(":")[0]] += 1
        if code == 0:
            assert counting_oracle.holds(new, seed=number) is not False, (
                f"accepted, and false: {json.dumps(new, ensure_ascii=False)}"
            )
    return found


def test_mutants_of_counts_that_are_accepted_hold(tmp_path):
    assert mutations(120, 1, tmp_path / "certificate.json")


def changed_bytes(count: int, seed: int, path: Path) -> Counter:
    """So many files with one byte changed: what is accepted says what was said, or holds where it is counted."""
    print(f"seed {seed}")
    rng, found = random.Random(seed), Counter()
    files = {json.dumps(s, ensure_ascii=False).encode(): s for s in KNOWN}
    for number in range(count):
        text = rng.choice(list(files))
        place = rng.randrange(len(text))
        new = text[:place] + bytes([rng.randrange(32, 127)]) + text[place + 1 :]
        head = (
            b'{"schema": "%b", "version": %d, "claim": {"printed": ""}, "verdict": "PROVED", "evidence": [{"verdict": '
        )
        body = head % (SCHEMA.encode(), VERSION) + b'"PROVED", "method": "counting", "statements": [%b]}]}' % new
        path.write_bytes(body)
        code, lines = decided(str(path))
        assert len(lines) == 1 or code == 0, lines
        found[files[text]["kind"], lines[0].split(":")[0]] += 1
        if code == 0 and json.loads(new) != files[text]:
            assert counting_oracle.holds(json.loads(new), seed=number) is not False, (
                f"accepted, and false: {new.decode()}"
            )
    return found


def test_files_of_counts_with_a_changed_byte(tmp_path):
    assert changed_bytes(150, 2, tmp_path / "certificate.json")


@pytest.mark.campaign
@pytest.mark.parametrize("made_by", [mutations, changed_bytes], ids=["parts", "bytes"])
def test_five_thousand_mutants_of_counts(made_by, tmp_path):
    """Prints how many of each kind are accepted, refused, not decided, unusable."""
    found = made_by(5000, random.randrange(2**31), tmp_path / "certificate.json")
    words = ("refused", "unusable", "not decided", "checked")
    print(f"{'':20}", *(f"{word:>12}" for word in words))
    for kind in sorted({kind for kind, _ in found}):
        print(f"{kind:20}", *(f"{found[kind, word]:12}" for word in words))


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
