"""The suite notices every wrong law: mutants of the prover's own source are killed by it."""

import os
import queue
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from excerpt import one_in
from prover_mutants import KINDS, KNOWN, MUTANTS, PACKAGE, Mutant, killers

TESTS = Path(__file__).parent
PATIENCE = 300
"""Seconds after which a mutant counts as killed: it does not end."""


def source(file: str) -> str:
    """What stands in a file of the package."""
    return (PACKAGE / file).read_text()


def failed(
    package: Path, selected: Sequence[str], passed_over: Sequence[str] = (), *, all_of_them: bool = False
) -> list[str]:
    """The tests among those selected that fail with the package of this folder: the first one, or all of them."""
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-rfE", "--tb=no", *([] if all_of_them else ["-x"])]
    options += [f"--deselect={name}" for name in passed_over]
    command = [sys.executable, "-m", "pytest", *options, *(str(TESTS / name) for name in selected)]
    try:
        run = subprocess.run(
            command, env=environment, cwd=package, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return ["no end"]
    if run.returncode == 0:
        return []
    assert run.returncode in (1, 2, 4), run.stdout + run.stderr  # anything else is no result of tests
    names = re.findall(rf"^(?:FAILED|ERROR) .*?({TESTS.name}/test_\w+\.py.*?)(?: - .*)?$", run.stdout, re.MULTILINE)
    return names or ["no test could be collected"]


def copied(folder: Path) -> Path:
    """A copy of the package in a folder of its own, which stands first on the path."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name)
    return folder


def killer(mutant: Mutant, folder: Path, selected: Sequence[str], passed_over: Sequence[str] = ()) -> str:
    """The first test that kills a mutant, '' if it survives; `folder` holds a copy of the package, left as it was."""
    path = folder / PACKAGE.name / mutant.file
    original = path.read_text()
    path.write_text(mutant.applied(original))
    try:
        return next(iter(failed(folder, selected, passed_over)), "")
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
    assert len(MUTANTS) >= 200
    assert {mutant.kind for mutant in MUTANTS} == set(KINDS)
    changes = Counter((mutant.file, mutant.fragment, mutant.replacement) for mutant in MUTANTS)
    assert not [change for change, count in changes.items() if count > 1]


def test_a_row_that_does_not_apply_names_itself():
    mutant = Mutant("arithmetic/facts.py", "no such fragment", "", KINDS[0], "nothing is wrong")
    with pytest.raises(ValueError, match="arithmetic/facts.py: nothing is wrong: its fragment .* stands 0 times"):
        mutant.applied(source(mutant.file))


# ---------------------------------------------------------------- the mutants are killed


KILLABLE = [mutant for mutant in MUTANTS if str(mutant) in KNOWN]
SAMPLE = [row for row in one_in(-(-len(KILLABLE) // 4), KILLABLE) if not row.marks]
"""Four for the ordinary suite; the campaign takes all of them at once."""


@pytest.mark.parametrize("mutant", SAMPLE, ids=str)
def test_a_mutant_is_killed(mutant, tmp_path):
    assert killer(mutant, copied(tmp_path), [KNOWN[str(mutant)]])


def test_the_original_is_not_killed(tmp_path):
    """Else every mutant would be."""
    mutant = KILLABLE[0]
    unchanged = replace(mutant, replacement=mutant.fragment)
    assert not killer(unchanged, copied(tmp_path), [KNOWN[str(mutant)]])


def test_what_is_known_to_be_killed_is_in_the_table():
    assert set(KNOWN) <= {str(mutant) for mutant in MUTANTS if not mutant.equivalent}


def campaign(table: Sequence[Mutant], folder: Path, workers: int) -> Mapping[Mutant, str]:
    """What kills each mutant; tests that fail without one are passed over."""
    files = sorted({name.partition("::")[0] for mutant in table for name in killers(mutant)})
    copies = [copied(folder / str(i)) for i in range(workers)]
    passed_over = failed(copies[0], files, all_of_them=True)
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in table:
        waiting.put(mutant)
    found: dict[Mutant, str] = {}

    def work(copy: Path) -> None:
        while True:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            found[mutant] = killer(mutant, copy, killers(mutant), passed_over)
            print(f"{found[mutant] or 'SURVIVES'} | {mutant}", flush=True)

    threads = [threading.Thread(target=work, args=(copy,)) for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def kill_table(found: Mapping[Mutant, str]) -> str:
    """Killed of made, a line for each file and a column for each kind; equivalent ones are not counted."""
    cells: Counter[tuple[str, str, bool]] = Counter()
    for mutant, test in found.items():
        if not mutant.equivalent:
            for file in (mutant.file, "all"):
                for kind in (mutant.kind, "all"):
                    cells[file, kind, bool(test)] += 1
    columns = (*KINDS, "all")
    lines = [f"{'':36}" + "".join(f"{kind.split()[0]:>12}" for kind in columns)]
    for file in (*sorted({mutant.file for mutant in found}), "all"):
        made = {kind: cells[file, kind, True] + cells[file, kind, False] for kind in columns}
        texts = (f"{cells[file, kind, True]}/{made[kind]}" if made[kind] else "" for kind in columns)
        lines.append(f"{file:36}" + "".join(f"{text:>12}" for text in texts))
    return "\n".join(lines)


def test_the_kill_table_counts():
    one, two = MUTANTS[:2]
    assert kill_table({one: "a test", two: ""}).splitlines()[-1].endswith("1/2")


@pytest.mark.campaign
def test_every_mutant_is_killed(tmp_path, capsys):
    """Prints the kill table, and every survivor with the reason why it is equivalent."""
    with capsys.disabled():
        found = campaign(MUTANTS, tmp_path, os.cpu_count() or 1)
        print(f"\n{kill_table(found)}")
        survivors = [mutant for mutant, test in found.items() if not test]
        print(*(f"survives: {mutant} ({mutant.equivalent or 'NOT EQUIVALENT'})" for mutant in survivors), sep="\n")
    assert not [str(mutant) for mutant in survivors if not mutant.equivalent]
    assert not [str(mutant) for mutant, test in found.items() if test and mutant.equivalent]
