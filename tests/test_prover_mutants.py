"""The suite notices every wrong law: mutants of the prover's own source are killed by it."""

import os
import queue
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from excerpt import one_in
from prover_mutants import EQUIVALENT, KILLABLE, KINDS, MUTANTS, PACKAGE, Mutant

TESTS = Path(__file__).parent
PATIENCE = 120
"""Seconds after which a mutant counts as killed: it does not end."""


def source(file: str) -> str:
    """What stands in a file of the package."""
    return (PACKAGE / file).read_text()


def noticed(package: Path, *tests: str) -> bool:
    """Whether one of the tests fails with the package of this folder, or does not end."""
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--tb=line"]
    command = [sys.executable, "-m", "pytest", *options, *(str(TESTS / name) for name in tests)]
    try:
        run = subprocess.run(
            command,
            env=environment,
            cwd=package,
            capture_output=True,
            text=True,
            timeout=PATIENCE * len(tests),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    # Anything else is no result of tests: a name that no test has, or a package that cannot be imported.
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return run.returncode == 1


def copied(folder: Path) -> Path:
    """A copy of the package in a folder of its own, which stands first on the path."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name)
    return folder


def killed(mutant: Mutant, folder: Path) -> bool:
    """Whether its test notices a mutant; `folder` holds a copy of the package, left as it was."""
    path = folder / PACKAGE.name / mutant.file
    original = path.read_text()
    path.write_text(mutant.applied(original))
    try:
        return noticed(folder, mutant.killer)
    finally:
        path.write_text(original)


# ---------------------------------------------------------------- the table tells the truth


def test_every_row_applies_to_the_source_exactly_once():
    wrong = []
    for mutant in MUTANTS:
        try:
            compile(mutant.applied(source(mutant.file)), mutant.file, "exec")
        except (ValueError, SyntaxError) as error:
            wrong.append(str(error))
    assert not wrong, "\n".join(wrong)


def test_the_table_is_as_large_as_promised():
    assert len(KILLABLE) >= 200
    assert {mutant.kind for mutant in KILLABLE} == set(KINDS)
    changes = Counter((mutant.file, mutant.fragment, mutant.replacement) for mutant in MUTANTS)
    assert not [change for change, count in changes.items() if count > 1]


def test_every_mutant_has_a_test_that_kills_it_or_a_reason_why_none_can():
    for mutant in KILLABLE:
        file, _, name = mutant.killer.partition("[")[0].partition("::")
        assert f"def {name}(" in (TESTS / file).read_text(), f"{mutant}: there is no test {mutant.killer}"
    assert all(mutant.equivalent and not mutant.killer for mutant in EQUIVALENT)


def test_a_row_that_does_not_apply_names_itself():
    mutant = Mutant("numbers/prime_fields/facts.py", "no such fragment", "", KINDS[0], "nothing is wrong")
    with pytest.raises(ValueError, match="facts.py: nothing is wrong: its fragment .* stands 0 times"):
        mutant.applied(source(mutant.file))


# ---------------------------------------------------------------- the mutants are killed


SAMPLE = [row for row in one_in(-(-len(KILLABLE) // 4), KILLABLE) if not row.marks]
"""Four for the ordinary suite; the campaign takes all of them at once."""


@pytest.mark.parametrize("mutant", SAMPLE, ids=str)
def test_a_mutant_is_killed(mutant, tmp_path):
    assert killed(mutant, copied(tmp_path))


def test_the_original_is_not_killed(tmp_path):
    """Else every mutant would be."""
    unchanged = replace(KILLABLE[0], replacement=KILLABLE[0].fragment)
    assert not killed(unchanged, copied(tmp_path))


def campaign(table: Sequence[Mutant], folder: Path, workers: int) -> Mapping[Mutant, bool]:
    """Which mutants are killed, each by its own test in a process of its own."""
    copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for i in range(workers):
        copies.put(copied(folder / str(i)))

    def one(mutant: Mutant) -> bool:
        copy = copies.get()
        try:
            is_killed = killed(mutant, copy)
        finally:
            copies.put(copy)
        print(f"{'killed' if is_killed else 'SURVIVES'}: {mutant}", flush=True)
        return is_killed

    with ThreadPoolExecutor(workers) as pool:
        return dict(zip(table, pool.map(one, table), strict=True))


def kill_table(found: Mapping[Mutant, bool]) -> str:
    """Killed of made, a line for each file and a column for each kind."""
    cells: Counter[tuple[str, str, bool]] = Counter()
    for mutant, is_killed in found.items():
        for file in (mutant.file, "all"):
            for kind in (mutant.kind, "all"):
                cells[file, kind, is_killed] += 1
    columns = (*KINDS, "all")
    lines = [f"{'':36}" + "".join(f"{kind.split()[0]:>12}" for kind in columns)]
    for file in (*sorted({mutant.file for mutant in found}), "all"):
        made = {kind: cells[file, kind, True] + cells[file, kind, False] for kind in columns}
        texts = (f"{cells[file, kind, True]}/{made[kind]}" if made[kind] else "" for kind in columns)
        lines.append(f"{file:36}" + "".join(f"{text:>12}" for text in texts))
    return "\n".join(lines)


def test_the_kill_table_counts():
    one, two = KILLABLE[:2]
    assert kill_table({one: True, two: False}).splitlines()[-1].endswith("1/2")


@pytest.mark.campaign
def test_every_mutant_is_killed(tmp_path, capsys):
    """Prints the kill table, every survivor, and every mutant that none can kill with the reason why."""
    assert not noticed(copied(tmp_path / "original"), *dict.fromkeys(mutant.killer for mutant in KILLABLE))
    with capsys.disabled():
        found = campaign(KILLABLE, tmp_path, os.cpu_count() or 1)
        survivors = [f"{mutant}, by {mutant.killer}" for mutant, is_killed in found.items() if not is_killed]
        print(f"\n{kill_table(found)}")
        print(*(f"survives: {survivor}" for survivor in survivors), sep="\n")
        print(*(f"the same function: {mutant} ({mutant.equivalent})" for mutant in EQUIVALENT), sep="\n")
    assert not survivors
