"""The command line: tables, files, exit codes; bad input is one line, exit code 2, and nothing half-written."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from rich.cells import cell_len
from rich.console import Console

import uat_jax as uj
from uat_jax.cli import COMMANDS, EXAMPLE, NOBODY_READS, main
from uat_jax.cli.completion import SHELLS
from uat_jax.decide.certificate import VERSION
from uat_jax.decide.decision import decide
from uat_jax.decide.settings import Settings
from uat_jax.interrupts import INTERRUPTED, Interrupts
from uat_jax.ledger.ledger import find
from uat_jax.networks import digits, save_network
from uat_jax.report.statement import latex
from uat_jax.terminal import PLAIN

FAST = ["--dtype", "float32", "--trials", "2"]


def test_prove_prints_a_table_and_writes_certificates(tmp_path, capsys):
    out, file = tmp_path / "out", tmp_path / "all.json"
    code = main(["prove", "lemma-1", "updates.boxes", "--out", str(out), "--json", str(file)])
    text = capsys.readouterr().out
    assert code == 0
    for word in ("lemma-1", "PROVED", "updates.boxes", "REFUTED", "right for L ≤ 2", "A_3 A_2 C_1", "2 of 2 claims"):
        assert word in text
    assert [uj.load(out / f"{name}.json").verdict for name in ("lemma-1", "updates.boxes")] == ["PROVED", "REFUTED"]
    assert [c["claim"]["id"] for c in json.loads(file.read_text())] == ["lemma-1", "updates.boxes"]
    assert sorted(p.name for p in out.iterdir()) == ["lemma-1.json", "updates.boxes.json"]


def test_a_claim_with_another_verdict_than_expected_exits_with_1(monkeypatch, capsys):
    import dataclasses

    from uat_jax.ledger import parallel

    wrong = dataclasses.replace(parallel.find("lemma-1"), expects=uj.Verdict.REFUTED)
    monkeypatch.setattr(parallel, "find", lambda name: wrong)
    assert main(["prove", "lemma-1"]) == 1
    text = capsys.readouterr().out
    assert "expected" in text and "REFUTED" in text and "0 of 1 claims" in text


def test_claims_lists_the_ledger(capsys):
    assert main(["claims"]) == 0
    text = capsys.readouterr().out
    assert all(claim.id in text for claim in uj.claims())


def test_show_says_what_mends_a_refuted_claim(capsys):
    assert main(["show", "lora.bias-index"]) == 0
    assert "mended by  c_1 for the printed b_{1,1}" in capsys.readouterr().out
    assert main(["show", "lemma-1"]) == 0
    assert "mended by" not in capsys.readouterr().out


def test_show_prints_every_step_checked(capsys):
    assert main(["show", "residual.closed-form", "--depth", "2"]) == 0
    text = capsys.readouterr().out
    for words in (
        "Eq. 26",
        "Lemma 1",
        "step: from i to i+1 layers",
        "b̂_{2,2} = B_2 b̂_{1,3} + b_2 + B_2 Ŵ_{1,3}^(1) s_1",
    ):
        assert words in text
    assert text.count("✓") >= 10


@pytest.mark.parametrize("name", one_in(30, [claim.id for claim in uj.claims()]))
def test_a_claim_as_latex(name):
    certificate = decide(find(name), Settings(dtypes=()))
    text = latex(certificate)
    written = any(e.figures.get("steps") or e.figures.get("program_latex") for e in certificate.evidence)
    assert r"\begin{equation*}" in text and (r"\begin{align*}" in text) == written
    assert text.count("{") == text.count("}")
    assert all(line.isascii() for line in text.splitlines() if not line.startswith("%"))


def test_show_as_latex(capsys):
    assert main(["show", "lemma-1", "--latex"]) == 0
    assert capsys.readouterr().out == latex(decide(find("lemma-1"), Settings(dtypes=())))


def test_derive_writes_a_file(tmp_path, capsys):
    text, latex_file = tmp_path / "d.txt", tmp_path / "d.tex"
    assert main(["derive", "transformer", "--depth", "20", "--out", str(text)]) == 0
    assert f"lines in {text}" in capsys.readouterr().out and "Ŵ_{20,1} = A_{20} Ŵ_{19,1}" in text.read_text("utf-8")
    assert main(["derive", "residual", "--latex", "--out", str(latex_file)]) == 0
    assert latex_file.read_text().startswith(r"\documentclass")


def test_derive_prints_a_legend_alone(capsys):
    assert main(["derive", "residual", "--legend", "C_2"]) == 0
    assert "behind σ" in (text := capsys.readouterr().out) and "layer 1" not in text
    assert main(["derive", "residual", "--legend"]) == 0
    assert "Kronecker" in capsys.readouterr().out


def test_recheck(tmp_path, capsys):
    path = str(uj.prove("lemma-1").save(tmp_path / "c.json"))
    assert main(["recheck", path]) == 0
    assert "PROVED, as the certificate says" in capsys.readouterr().out
    other = tmp_path / "d.json"
    other.write_text((tmp_path / "c.json").read_text().replace('"PROVED"', '"REFUTED"'))
    assert main(["recheck", path, str(other)]) == 1
    assert "the certificate says REFUTED; decided again it is PROVED" in capsys.readouterr().out


ABOUT = {
    "a claim": lambda: uj.prove("lemma-1", dtypes=()),
    "two functions": lambda: uj.certify(lambda x: x + x, lambda x: 2 * x, jax.ShapeDtypeStruct((2,), jnp.float32)),
}


@pytest.mark.parametrize("about", ABOUT)
def test_recheck_on_a_device(about, tmp_path, capsys):
    path = str(ABOUT[about]().save(tmp_path / "c.json"))
    assert main(["recheck", path, "--device", "cpu"]) == 0
    assert "as the certificate says" in capsys.readouterr().out
    assert "device 'abacus'" in _one_line(capsys, ["recheck", path, "--device", "abacus"])
    line = "got device 'tpu', which JAX does not find here; choose another"
    assert line in _one_line(capsys, ["recheck", path, "--device", "tpu"])


@pytest.mark.parametrize("command", ["prove", "report"])
def test_help_says_that_an_accelerator_belongs_to_one_process(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert "processes (default: one per core); on accelerators one" in " ".join(capsys.readouterr().out.split())


def _network(tmp_path, change):
    network = digits.trained("residual")
    path = tmp_path / "network.npz"
    save_network(path, network)
    with np.load(path) as arrays:
        changed = dict(arrays)
    change(changed)
    np.savez(path, **changed)
    return str(path)


def _nan(arrays):
    arrays["layers.1.A"][0, 0] = np.nan


def _misfit(arrays):
    arrays["layers.2.B"] = arrays["layers.2.B"][:, 1:]


BAD = {
    "unknown claim": (["prove", "residual.close-form"], "did you mean 'residual.closed-form'"),
    "unknown claim to show": (["show", "lemma-3"], "did you mean 'lemma-"),
    "depth 0": (["prove", "lemma-1", "--depth", "0"], "depth 0 is not possible"),
    "negative depth": (["prove", "--depth", "-2"], "depth -2 is not possible"),
    "depth is no number": (["prove", "--depth", "three"], "invalid int value: 'three'"),
    "unknown dtype": (["prove", "--dtype", "float8"], "unknown dtype 'float8'"),
    "unknown device": (["prove", "--device", "abacus"], "unknown device 'abacus'"),
    "no such device": (["prove", "lemma-1", "--device", "tpu"], "got device 'tpu', which JAX does not find here"),
    "no such device to show on": (["show", "lemma-1", "--device", "tpu"], "which JAX does not find here"),
    "no such device to report on": (["report", ".", "--jobs", "1", "--device", "tpu"], "which JAX does not find here"),
    "unknown device to report on": (["report", ".", "--device", "abacus"], "unknown device 'abacus'"),
    "no trials": (["prove", "--trials", "0"], "0 trials are not possible"),
    "no such weights": (["prove", "residual.closed-form", "--weights", "nowhere.npz"], "nowhere.npz"),
    "inputs without weights": (["prove", "--inputs", "x.npz"], "inputs were given without weights"),
    "too deep to show": (["show", "residual.closed-form", "--depth", "1000"], "1000 layers are too many"),
    "too deep for a screen": (["derive", "residual", "--depth", "96"], "--depth 96 --out FILE"),
    "unknown kind": (["derive", "lstm"], "unknown kind of network 'lstm'"),
    "unknown symbol": (["derive", "residual", "--legend", "Q_j"], "unknown symbol 'Q_j' in --legend"),
    "no layers": (["derive", "residual", "--depth", "0"], "depth 0 is not possible"),
    "unknown command": (["disprove"], "there is no command 'disprove'; did you mean prove?"),
    "no command like it": (["xyzzy"], "there is no command 'xyzzy'; `uat-jax --help`"),
    "no command before an option": (["--seed", "1"], "there is no command '1'"),
    "unknown option": (["prove", "--fast"], "unrecognized arguments: --fast; `uat-jax prove --help`"),
    "mistyped option": (["prove", "--triels=3"], "unrecognized arguments: --triels=3; did you mean --trials?"),
    "unknown shell": (["completion", "dash"], "got shell 'dash'; wanted one of bash"),
    "missing certificate": (["recheck", "nowhere.json"], "cannot read nowhere.json"),
}


def _one_line(capsys, arguments):
    try:
        code = main(arguments)
    except SystemExit as stop:  # argparse
        code = stop.code
    printed = capsys.readouterr()
    assert code == 2 and printed.out == ""
    assert printed.err.count("\n") == 1 and printed.err.startswith("uat-jax: ") and "Traceback" not in printed.err
    return printed.err


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, message = BAD[case]
    assert message in _one_line(capsys, arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [(_nan, "layers.1.A"), (_misfit, "layers.2.B"), (lambda a: a.pop("layers.3.c"), "layers.3.c")],
)
def test_unusable_weights(change, message, capsys, tmp_path):
    weights = _network(tmp_path, change)
    assert message in _one_line(capsys, ["prove", "residual.closed-form", "--weights", weights, *FAST])


def test_weights_of_the_other_kind(capsys, tmp_path):
    weights = _network(tmp_path, lambda arrays: None)
    line = _one_line(capsys, ["prove", "transformer.closed-form", "--weights", weights, *FAST])
    assert "is a residual network; ask for residual.closed-form" in line


def test_an_output_folder_that_cannot_be_written(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    assert "it is a folder" in _one_line(capsys, ["prove", "lemma-1", "--json", str(tmp_path)])
    for option in ("--out", "--json", "--keep"):
        assert "cannot write" in _one_line(capsys, ["prove", "lemma-1", option, str(tmp_path / "file" / "x")])
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(("version", "what"), [(99, "upgrade uat_jax"), (VERSION - 1, "decide its claim again")])
def test_a_certificate_of_another_schema(version, what, capsys, tmp_path):
    path = uj.prove("lemma-1").save(tmp_path / "c.json")
    path.write_text(path.read_text().replace(f'"version": {VERSION}', f'"version": {version}'))
    wanted = f"schema version {version}; this uat_jax reads version {VERSION}: {what}"
    assert wanted in _one_line(capsys, ["recheck", str(path)])


# --- the first screen -----------------------------------------------------------------------------------------------


def test_the_first_screen_names_the_commands_and_its_example_runs(capsys):
    assert main([]) == 0
    printed = capsys.readouterr()
    assert all(name in printed.out for name in COMMANDS) and EXAMPLE in printed.out and not printed.err
    program, *arguments = shlex.split(EXAMPLE)
    assert program == "uat-jax" and main(arguments) == 0
    assert capsys.readouterr().out.startswith("PROVED") and "PROVED for all sizes" in printed.out


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_first_screen_fits_the_terminal(width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    assert main([]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if EXAMPLE not in line]
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("command", [[], ["--help"], ["--version"], ["prov"]])
def test_what_needs_no_jax_does_not_import_it(command):
    code = f"import sys; from uat_jax.cli import main\ntry: main({command})\nexcept SystemExit: pass\n"
    shown = "print(*({'jax', 'numpy', 'rich', 'sympy'} & set(sys.modules)), file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code + shown], capture_output=True, text=True, check=True)
    assert run.stderr.splitlines()[-1] == ""


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.startswith(f"uat-jax {uj.__version__} (jax {jax.__version__}, jaxlib ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert capsys.readouterr().out.startswith(f"usage: uat-jax {command}")


# --- where the output goes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 99, 100, 200])
@pytest.mark.parametrize("arguments", [["claims", "--paper", "abstract"], ["prove", "updates.boxes"]])
def test_tables_fit_the_terminal(arguments, width, capsys, monkeypatch):
    monkeypatch.setattr("uat_jax.cli.ledger.console", lambda: Console(width=width))
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert max(map(cell_len, text.splitlines())) <= width
    words = [word for line in text.splitlines() for word in line.split()]
    assert "…" not in "".join(words)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8"])
def test_any_encoding_shows_every_letter(encoding, monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding, errors="strict"))
    assert main(["show", "lemma-1"]) == 0
    text = written.getvalue().decode(encoding)
    assert ("G(x) = β Σ_" if encoding == "utf-8" else "G(x) = beta Sum_") in text and "?" not in text


def test_letters_are_words_where_they_cannot_be_encoded():
    """A number that is raised stays a power: 2⁻¹²⁸ is not 2-128."""
    plain = lambda text, encoding="ascii": text.encode(encoding, PLAIN).decode(encoding)
    assert plain("2⁻¹²⁸ ≤ ε · Σσ, b̂₁ → ∞ … “x”") == '2^-^1^2^8 <= epsilon * Sumsigma, b^1 -> inf ... "x"'
    assert plain("naïve", "cp1252") == "naïve" and plain("naïve") == "naive"
    assert plain("語") == "?"
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("ascii", PLAIN)


def test_a_broken_pipe_is_silent_and_no_success(capsys, monkeypatch):
    """The code is that of a process that the signal of a broken pipe ends: a verdict that nobody read is no "equal"."""
    for arguments in ([], ["claims"], ["recheck", "--help"]):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as stream:
            monkeypatch.setattr(sys, "stdout", stream)
            assert main(arguments) == NOBODY_READS
        assert capsys.readouterr().err == ""


def test_a_full_disk_is_one_line(capsys, monkeypatch):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["claims"]) == 2
    assert capsys.readouterr().err == "uat-jax: cannot write the output: No space left on device\n"


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "files", "said"),
    [
        ([], (), "nothing was written"),
        (["--keep", "kept"], (), "nothing was written"),
        (
            ["--keep", "kept"],
            ("a/1.jsonl", "a/2.jsonl"),
            "written before that: 2 files in kept; the same command goes on",
        ),
        (["--out", "out"], ("x.json",), "written before that: 1 file in out"),
        (["--json", "all.json"], (), "nothing was written"),
        (["--out", "out"], (".x.json.123",), "nothing was written"),
    ],
)
def test_an_interrupt_says_what_was_kept(option, files, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def interrupted(*_, **__):
        for file in files:
            path = tmp_path / option[1] / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        raise KeyboardInterrupt

    if option:  # what was there before is not what was kept
        old = tmp_path / option[1] / "old" if not option[1].endswith(".json") else tmp_path / option[1]
        old.parent.mkdir(exist_ok=True)
        old.write_text("")
        os.utime(old, (0, 0))
    monkeypatch.setattr("uat_jax.cli.ledger.decide_all", interrupted)
    assert main(["prove", "lemma-1", *option]) == INTERRUPTED
    assert capsys.readouterr().err.startswith(f"uat-jax: interrupted; {said}")


def test_an_interrupt_that_python_forgets_comes_again(monkeypatch):
    """One that is raised while garbage is collected is printed and forgotten, and the command would go on."""
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupts = Interrupts()
    try:
        interrupts.watch()
        interrupts.work_begins()
        with pytest.raises(KeyboardInterrupt):
            interrupts.lost(SimpleNamespace(exc_type=KeyboardInterrupt))
            for _ in range(1000):
                time.sleep(0.01)
    finally:
        signal.signal(signal.SIGINT, usual)


def test_an_interrupt_while_modules_are_loaded_ends_the_process():
    """A library of C would make an ImportError of it, and print a traceback of its own."""
    code = (
        "import signal; signal.signal(2, signal.default_int_handler); "  # a shell may have the interrupt ignored
        "from uat_jax.interrupts import Interrupts; Interrupts().watch(); signal.raise_signal(2)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (INTERRUPTED, "uat-jax: interrupted; nothing was written\n")


# --- completion ------------------------------------------------------------------------------------------------------


def test_completion_needs_shtab(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert "pip install 'uat_jax[completion]'" in _one_line(capsys, ["completion", "bash"])


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_knows_commands_options_and_claims(shell, capsys):
    pytest.importorskip("shtab", reason="shtab (extra [completion]) is not installed")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in (*COMMANDS, "hazards", "bfloat16", "residual.closed-form"))


# --- as a user starts it ---------------------------------------------------------------------------------------------


def test_importing_changes_no_configuration():
    """x64 and the promotion rules are the user's."""
    code = "import jax; b = dict(jax.config.values); import uat_jax; print(b == dict(jax.config.values))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"


def test_python_minus_m():
    done = subprocess.run([sys.executable, "-m", "uat_jax", "prove", "eq-30"], capture_output=True, text=True)
    assert done.returncode == 0 and "eq-30" in done.stdout
