"""The checker that shares nothing with the prover: both decide alike, and it accepts no file that is false."""

import ast
import copy
import hashlib
import json
import random
import sys
import tokenize
from collections import Counter
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from excerpt import one_in
from forged_pairs import FORGED
from pairs import PAIRS
from pairs.never_certified import DIFFERENT
from pairs.pair import Pair, f32
from random_cases import Programs, values

import uat_jax_check
from uat_jax.decide.domain import positive
from uat_jax.decide.equivalence import certify
from uat_jax_check import document, pairs
from uat_jax_check.__main__ import decided, main
from uat_jax_check.document import NotDecided, Refused

FOLDER = Path(uat_jax_check.__file__).parent
CLAIMS = {
    *("claims", "counts", "equations", "evaluation", "exhibits", "letters", "orders"),
    *("quotients", "ranks", "shapes", "supports", "terms", "words"),
}
"""The files that decide claims of the papers; the others decide two functions, and read files."""
LINES = {"claims": 2480, "functions": 2347}
"""Each part may have so many lines of code, comments and docstrings left out."""


def saved(left, right, specs, path: Path, **options: Any) -> dict[str, Any]:
    """The certificate of a question, read from its file."""
    certify(left, right, *specs, **options).save(path)
    return json.loads(path.read_text())


def word(data: Any, path: Path) -> tuple[int, str]:
    """The exit code and the word of the checker for a file."""
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    code, lines = decided(str(path))
    assert all("\n" not in line for line in lines)
    return code, lines[0].split(":")[0]


def redigested(certificate: dict[str, Any]) -> dict[str, Any]:
    """The certificate with digests that fit its programs again, as a forger would write it."""
    for entry in certificate["claim"]["programs"]:
        for side in ("left", "right"):
            text = json.dumps(entry[side]["jaxprs"], sort_keys=True, separators=(",", ":"))
            entry[f"{side}_digest"] = hashlib.sha256(text.encode()).hexdigest()
    return certificate


# --- what it is made of ----------------------------------------------------------------------------------------------


def test_it_imports_the_standard_library_and_flint_only():
    """No JAX, SymPy, NumPy, and nothing of uat_jax, in any of its files."""
    allowed = {*sys.stdlib_module_names, "flint", "uat_jax_check"}
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= allowed, file


def code_lines(file: Path) -> int:
    """Lines that hold code."""
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
    held, before = set(), tokenize.NEWLINE
    with file.open("rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            starts = before in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.NL}
            if token.type not in skipped and not (token.type == tokenize.STRING and starts):
                held.update(range(token.start[0], token.end[0] + 1))
            before = token.type
    return len(held)


def test_it_is_short():
    parts = {"claims": [], "functions": []}
    for file in FOLDER.glob("*.py"):
        parts["claims" if file.stem in CLAIMS else "functions"].append(code_lines(file))
    assert all(sum(lines) <= LINES[part] for part, lines in parts.items())


# --- agreement with the prover ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", one_in(32, PAIRS), ids=lambda pair: pair.name)
def test_both_decide_alike(pair: Pair, tmp_path: Path):
    """A true pair is checked or not known, never refused; its first mistake is checked as refuted, and a forger's
    CERTIFIED in its place is not accepted.
    """
    true = saved(pair.left, pair.right, pair.specs, tmp_path / "true.json")
    assert word(true, tmp_path / "true.json")[1] in ("checked", "not decided")
    ((_, mistaken), *_) = pair.wrong.items()
    wrong = saved(pair.left, mistaken, pair.specs, tmp_path / "wrong.json")
    assert word(wrong, tmp_path / "wrong.json")[1] in ("checked", "not decided")
    assert word(wrong | {"verdict": "CERTIFIED"}, tmp_path / "wrong.json")[0] == 1


@pytest.mark.campaign
def test_the_table_of_agreement(tmp_path: Path):
    """Prints how the checker decides the certificates of all pairs and of their mistakes."""
    table: Counter[tuple[str, str]] = Counter()
    for pair in PAIRS:
        for name, function in [("", pair.right), *pair.wrong.items()]:
            certificate = saved(pair.left, function, pair.specs, tmp_path / "certificate.json")
            _, found = word(certificate, tmp_path / "certificate.json")
            table[certificate["verdict"], found] += 1
            assert found != "refused", (pair.name, name)
    for (verdict, found), count in sorted(table.items()):
        print(verdict, found, count)
    certified = sum(count for (verdict, _), count in table.items() if verdict in ("CERTIFIED", "PROVED"))
    assert table["CERTIFIED", "checked"] + table["PROVED", "checked"] >= 0.97 * certified


@pytest.mark.campaign
@pytest.mark.parametrize("row", DIFFERENT.values(), ids=lambda r: r.name)
def test_what_differs_is_not_accepted(row, tmp_path: Path):
    """No attack on the prover is accepted by the checker when a forger writes CERTIFIED over it."""
    certificate = saved(row.left, row.right, row.specs, tmp_path / "c.json", wrt=row.wrt, budget=2)
    assert word(certificate | {"verdict": "CERTIFIED"}, tmp_path / "c.json")[0] != 0


ATTACKS: dict[str, tuple[Any, Any, Any]] = {
    "√(y²) is not y": (lambda x: jnp.sqrt(x * x), lambda x: x, f32()),
    "√v·√v with v = y² is not y√v": (lambda x: jnp.sqrt(x * x) * x, lambda x: x * x, f32()),
    "√(y²z²) is not yz": (lambda x: jnp.sqrt(x[0] ** 2 * x[1] ** 2), lambda x: x[0] * x[1], f32(2)),
    "√(4y²) is not 2y": (lambda x: jnp.sqrt(4 * x * x), lambda x: 2 * x, f32()),
    "√(y⁴) is not y·|y|": (lambda x: jnp.sqrt(x**4), lambda x: x * jnp.abs(x), f32()),
    "> is not >=": (lambda x: jnp.where(x > 0, 1.0, 0.0), lambda x: jnp.where(x >= 0, 1.0, 0.0), f32()),
    "a step of a multiple at a tie": (
        lambda x: jnp.where(x > 0, x + 1, 1.0),
        lambda x: jnp.where(x >= 0, x + 1, 0.0),
        f32(),
    ),
    "sign at a tie": (jnp.sign, lambda x: jnp.where(x > 0, 1.0, -1.0), f32()),
    "the square of a sign": (lambda x: jnp.sign(x) ** 2, lambda x: x * 0 + 1, f32()),
    "half of a step": (
        lambda x: jnp.where(x > 0, 1.0, 0.0),
        lambda x: (1 + jnp.sign(x)) / 2,
        f32(),
    ),
    "a divisor that is 0 on a half-line": (
        lambda x: jnp.where(x + 9 > 0, 1 / jnp.maximum(x + 9, 0), 0.0),
        lambda x: 1 / (x + 9),
        f32(),
    ),
    "a step divided by itself": (
        lambda x: jnp.where(x > 0, 1 / jnp.where(x > 0, 1.0, 0.0), 0.0),
        lambda x: x * 0 + 1,
        f32(),
    ),
    "NaN that is caught": (lambda x: jnp.where(jnp.sqrt(x) > -1, 1.0, 0.0), lambda x: x * 0 + 1, f32()),
    "infinity that is caught": (lambda x: jnp.where(jnp.isinf(1 / x), 0.0, x), lambda x: x, f32()),
    "the maximum of opposites": (lambda x: jnp.max(x), lambda x: -jnp.max(-x), f32(3)),
    "a sum of exponentials": (lambda x: jnp.exp(x).sum(), lambda x: jnp.exp(x.sum()), f32(3)),
    "log of a square": (lambda x: jnp.log(x * x), lambda x: 2 * jnp.log(x) + 1e-3, f32()),
    "logsumexp with another mean": (
        lambda x: jnp.log(jnp.exp(x).sum()),
        lambda x: jnp.log(jnp.exp(x - x.mean()).sum()),
        f32(3),
    ),
    "a small coefficient": (lambda x: x + jnp.exp(x), lambda x: x * (1 + 2**-20) + jnp.exp(x), f32()),
    "0/0 in one case of equal cases": (
        lambda x: jnp.where(jnp.where(x[1] > 0, x[0], x[0] * x[0] / x[0]) >= 0, 1.0, 2.0),
        lambda x: jnp.where(x[0] >= 0, 1.0, 2.0),
        f32(2),
    ),
    "0/0 in a maximum of equal numbers": (
        lambda x: jnp.where(jnp.maximum(x * x / x, x) >= 0, 1.0, 2.0),
        lambda x: jnp.where(x >= 0, 1.0, 2.0),
        f32(),
    ),
    "0/0 in a maximum of three": (
        lambda x: jnp.where(jnp.max(jnp.stack([x[0] * x[0] / x[0], x[0], x[1]])) >= 0, 1.0, 2.0),
        lambda x: jnp.where(jnp.maximum(x[0], x[1]) >= 0, 1.0, 2.0),
        f32(2),
    ),
    "whether a maximum with 0/0 is finite": (
        lambda x: jnp.where(jnp.isfinite(jnp.maximum(x * x / x, x)), 1.0, 2.0),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "the sign of 0/0 - 0": (
        lambda x: jnp.where(jnp.sign(x * x / x - x) >= 0, 1.0, 2.0),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "exp(0/0 - 0)": (
        lambda x: jnp.where(jnp.exp(x * x / x - x) > 0.5, 1.0, 2.0),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "0/0 beside an infinity": (
        lambda x: jnp.where(jnp.exp(x * x / x - jnp.inf) >= 0, 1.0, 2.0),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "whether an infinity and 0/0 is infinite": (
        lambda x: jnp.where(jnp.isinf(jnp.inf + x * x / x), 1.0, 2.0),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "0/0 beside an infinity in a running sum": (
        lambda x: jnp.where(jnp.exp(-jnp.cumsum(jnp.stack([x * x / x, x * 0 + jnp.inf]))[1]) >= 0, 1.0, 2.0),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "0/0 beside an infinity in a product of vectors": (
        lambda x: jnp.where(
            jnp.exp(-jnp.dot(jnp.array([1.0, jnp.inf]), jnp.stack([x * x / x, x * 0 + 1]))) >= 0, 1.0, 2.0
        ),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "an infinity times a root that is none": (
        lambda x: jnp.where(1 / (jnp.inf * jax.lax.rsqrt(x)) >= 0, 1.0, 2.0),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "an infinity divided by a root that is none": (
        lambda x: jnp.where(1 / (jnp.inf / jax.lax.rsqrt(x)) >= 0, 1.0, 2.0),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "an infinity times exp(0/0)": (
        lambda x: jnp.where(jnp.inf * jnp.exp(x * x / x) > 0, 1.0, 2.0),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "the logarithm of a quotient, or of one with 0/0": (
        lambda x: jnp.where(
            jnp.log(
                jnp.where(
                    x[1] > 0,
                    jnp.exp(x[0]) / (1 + jnp.exp(x[0])),
                    jnp.exp(x[0]) * x[2] / x[2] / (1 + jnp.exp(x[0])),
                )
            )
            >= 0,
            1.0,
            2.0,
        ),
        lambda x: jnp.where(jnp.log(jnp.exp(x[0]) / (1 + jnp.exp(x[0]))) >= 0, 1.0, 2.0),
        f32(3),
    ),
    "a number times a step that may be 0/0": (
        lambda x: jnp.where(
            x[0] * jnp.maximum((x[0] > 0).astype(x.dtype) * x[1] / x[1], (x[0] > 0).astype(x.dtype)) >= 0, 1.0, 2.0
        ),
        lambda x: jnp.where(x[0] * (x[0] > 0).astype(x.dtype) >= 0, 1.0, 2.0),
        f32(2),
    ),
    "0/0 compared with what it would be": (
        lambda x: jnp.where(x * x / x == x, 1.0, 2.0),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "a minimum of 0/0 and an infinity": (
        lambda x: jnp.where(jnp.minimum(x * x / x, jnp.inf) >= x - 1, 1.0, 2.0),
        lambda x: 1 + 0 * x,
        f32(),
    ),
    "an order with 0/0": (
        lambda x: jnp.where(jnp.sort(jnp.stack([x[0] * x[1] / x[1], x[0]]))[0] >= x[0] - 1, 1.0, 2.0),
        lambda x: 1 + 0 * x[0],
        f32(2),
    ),
    "0/0 made a number": (lambda x: jnp.nan_to_num(x * x / x), lambda x: x, f32()),
    "clipped far away": (lambda x: jnp.maximum(x * 1e15, -1e30), lambda x: x * 1e15, f32()),
}


@pytest.mark.parametrize(("left", "right", "spec"), ATTACKS.values(), ids=ATTACKS)
def test_an_attack_is_not_accepted(left, right, spec, tmp_path: Path):
    certificate = saved(left, right, (spec,), tmp_path / "c.json", budget=1)
    assert word(certificate | {"verdict": "CERTIFIED"}, tmp_path / "c.json")[0] == 1


@pytest.mark.parametrize("name", one_in(6, FORGED))
def test_no_rule_accepts_what_differs(name, tmp_path: Path, monkeypatch):
    """The rules alone: the checker is kept from looking at random inputs first, at which many of these differ."""
    monkeypatch.setattr(pairs, "differ_somewhere", lambda *_: None)
    left, right, shapes = FORGED[name]
    certificate = saved(left, right, tuple(f32(*shape) for shape in shapes), tmp_path / "c.json", budget=0.5)
    assert word(certificate | {"verdict": "CERTIFIED"}, tmp_path / "c.json")[0] != 0


def cases_decided(seeds: range) -> Counter[tuple[bool, bool | None]]:
    """Whether random programs and changed ones have the same values at a grid, and are equal by the rules."""
    table: Counter[tuple[bool, bool | None]] = Counter()
    for seed in seeds:
        programs = Programs(seed)
        left = programs.program(programs.random.choice([3, 4, 5, 6]))
        right = (programs.rarely if seed % 2 else programs.changed)(left)
        same = values(left) == values(right)
        try:
            equal = pairs.Comparison(left, right, pairs.written).equal(roots=False)
        except NotDecided:
            equal = None
        assert same or not equal, seed
        table[same, equal] += 1
    return table


def test_random_programs_of_cases():
    assert cases_decided(range(40))[True, True]


@pytest.mark.campaign
def test_two_thousand_random_programs_of_cases():
    """Prints how many random programs are equal at a grid with many ties, and by the rules."""
    print(cases_decided(range(2000)))


# --- hostile files ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A certificate of two writings of a softmax layer."""
    left = lambda x, w: jnp.exp(x @ w - 1) / jnp.exp(x @ w - 1).sum()
    right = lambda x, w: jnp.exp(x @ w + 2) / jnp.exp(x @ w + 2).sum()
    return saved(left, right, (f32(3), f32(3, 2)), tmp_path_factory.mktemp("c") / "good.json")


@pytest.fixture(scope="module")
def refuted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A certificate that refutes."""
    return saved(lambda x: x**2, lambda x: x**3, (f32(2),), tmp_path_factory.mktemp("c") / "refuted.json")


def test_the_certificates_are_accepted(good, refuted, tmp_path: Path):
    assert word(good, tmp_path / "c.json") == (0, "checked")
    assert word(refuted, tmp_path / "c.json") == (0, "checked")


UNUSABLE = {
    "empty": "",
    "no object": "[]",
    "truncated": '{"schema": "uat_jax/certificate", "ver',
    "a key twice": '{"schema": "uat_jax/certificate", "schema": "uat_jax/certificate"}',
    "NaN": '{"schema": NaN}',
    "Infinity": '{"schema": -Infinity}',
    "a float that is infinite": '{"schema": 1e999}',
    "an integer of 5,000 digits": '{"version": ' + "9" * 5000 + "}",
    "deep nesting": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"a":' * 500 + "1" + "}" * 500,
    "a lone surrogate": '{"schema": "\\ud800"}',
    "another schema": '{"schema": "other", "version": 5}',
    "a newer version": '{"schema": "uat_jax/certificate", "version": 99}',
    "no claim": '{"schema": "uat_jax/certificate", "version": 5, "verdict": "CERTIFIED"}',
}


@pytest.mark.parametrize("content", UNUSABLE.values(), ids=UNUSABLE)
def test_what_is_no_certificate_is_unusable_in_one_line(content, tmp_path: Path):
    assert word(content, tmp_path / "c.json") == (2, "unusable")


def test_binary_missing_and_long_files_are_unusable(tmp_path: Path, monkeypatch):
    (tmp_path / "b.json").write_bytes(bytes(range(256)))
    monkeypatch.setattr(document, "FILE_BYTES", 100)
    (tmp_path / "long.json").write_text('{"a": "' + "x" * 200 + '"}')
    assert main([str(tmp_path / name) for name in ("b.json", "long.json", "missing.json")]) == 2
    assert all(decided(str(tmp_path / name))[0] == 2 for name in ("b.json", "long.json", "missing.json"))


def changed(certificate: dict[str, Any], change) -> dict[str, Any]:
    """The certificate after a change of its claim and its first pair of programs, digests made to fit."""
    forged = copy.deepcopy(certificate)
    change(forged, forged["claim"], forged["claim"]["programs"][0])
    return redigested(forged)


def _last(entry: dict[str, Any], side: str = "right") -> dict[str, Any]:
    return entry[side]["jaxprs"][-1]


def _loop(entry: dict[str, Any]) -> None:
    """A loop of 2³¹ rounds before the program."""
    flag, count = ["int32", [], "AAAAAA=="], ["int32", [], "////fw=="]
    body = {"constants": [], "inputs": [["int32", []]], "outputs": [1]}
    compare = body | {"equations": [["lt", {}, [0, count], [["bool", []]]]]}
    step = body | {"equations": [["add", {}, [0, ["int32", [], "AQAAAA=="]], [["int32", []]]]]}
    program = entry["right"]
    start = len(program["jaxprs"]) - 1
    program["jaxprs"][start:start] = [compare, step]
    parameters = {
        "cond_jaxpr": {"closed_jaxpr": start},
        "body_jaxpr": {"closed_jaxpr": start + 1},
        "cond_nconsts": 0,
        "body_nconsts": 0,
    }
    last = program["jaxprs"][-1]
    number = len(last["constants"]) + len(last["inputs"]) + sum(len(e[3]) for e in last["equations"])
    last["equations"].append(["while", parameters, [flag], [["int32", []]]])
    last["outputs"].append(number)
    other = entry["left"]["jaxprs"][-1]
    other["outputs"].append(count)


FORGERIES: dict[str, Any] = {
    "derivatives are claimed": lambda c, claim, p: claim.update(derivatives=True),
    "another input type": lambda c, claim, p: claim["inputs"].__setitem__(0, "float32[4]"),
    "another dtype": lambda c, claim, p: claim["inputs"].__setitem__(0, "float64[3]"),
    "an input left out": lambda c, claim, p: claim["inputs"].pop(),
    "a symbol": lambda c, claim, p: claim.update(symbols=["n"]),
    "sizes that no symbol has": lambda c, claim, p: p.update(sizes={"n": 3}),
    "one pair three times": lambda c, claim, p: claim.update(programs=[p, p, p]),
    "one pair as n = 1, 2, 3": lambda c, claim, p: claim.update(
        programs=[p | {"sizes": {"n": n}} for n in (1, 2, 3)], symbols=["n"], inputs=["float32[n]", "float32[n,2]"]
    ),
    "no programs": lambda c, claim, p: claim.update(programs=[]),
    "programs that are missing": lambda c, claim, p: p.update(missing="too long"),
    "only prose": lambda c, claim, p: c.update(verdict="CERTIFIED!"),
    "an unknown primitive": lambda c, claim, p: _last(p)["equations"][0].__setitem__(0, "magic"),
    "an unknown parameter": lambda c, claim, p: _last(p)["equations"][0][1].update(twist=1),
    "a variable that is not defined": lambda c, claim, p: _last(p)["equations"][0][2].__setitem__(0, 10**6),
    "a negative variable": lambda c, claim, p: _last(p)["outputs"].__setitem__(0, -1),
    "a result of another shape": lambda c, claim, p: _last(p)["equations"][0][3][0].__setitem__(1, [7]),
    "a negative axis": lambda c, claim, p: _last(p)["equations"][0][3][0].__setitem__(1, [-1]),
    "an axis that is huge": lambda c, claim, p: _last(p)["equations"][0][3][0].__setitem__(1, [2**40]),
    "an output left out": lambda c, claim, p: _last(p)["outputs"].clear(),
    "an output twice": lambda c, claim, p: _last(p)["outputs"].append(0),
    "an equation of three": lambda c, claim, p: _last(p)["equations"][0].pop(),
    "a call of itself": lambda c, claim, p: _last(p)["equations"].insert(
        0, ["closed_call", {"call_jaxpr": {"closed_jaxpr": len(p["right"]["jaxprs"]) - 1}}, [0, 1], [["float32", [2]]]]
    ),
    "a field too many": lambda c, claim, p: _last(p).update(note="trust me"),
    "a loop of 2³¹ rounds": lambda c, claim, p: _loop(p),
    "a constant that is no base64": lambda c, claim, p: _last(p)["constants"].append(["float32", [], "!!"]),
    "a constant with too few bytes": lambda c, claim, p: _last(p)["constants"].append(["float32", [3], "AAAAAAAA"]),
    "a truth value that is 2": lambda c, claim, p: _last(p)["constants"].append(["bool", [], "Ag=="]),
    "left and right exchanged with sides of other types": lambda c, claim, p: p.update(
        left={
            "jaxprs": [{"constants": [], "inputs": [["float32", [3]]], "equations": [], "outputs": [0]}],
            "lines": [[]],
        }
    ),
    "the other program is the input": lambda c, claim, p: _last(p).update(equations=[], outputs=[0]),
    "flags that are no truth values": lambda c, claim, p: claim.update(almost_everywhere="no"),
    "REFUTED without an input": lambda c, claim, p: c.update(verdict="REFUTED"),
    "AGREES": lambda c, claim, p: c.update(verdict="AGREES"),
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_a_forgery_is_refused(change, good, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("uat_jax_check.program.EQUATIONS", 5000)
    assert word(changed(good, change), tmp_path / "c.json")[0] in (1, 2)


def test_two_equal_texts_are_not_one_function_if_a_primitive_is_unknown(good, tmp_path: Path):
    """Two draws of random numbers, or of memory that nothing was written to, are written alike."""

    def drawn(certificate, claim, programs):
        for equation in _last(programs)["equations"][:1]:
            equation[0] = "rng_uniform"
        programs["left"] = copy.deepcopy(programs["right"])

    assert word(changed(good, drawn), tmp_path / "c.json") == (1, "not decided")
    same = changed(good, lambda c, claim, p: p.update(left=copy.deepcopy(p["right"])))
    assert word(same, tmp_path / "c.json") == (0, "checked")


def test_a_program_that_is_changed_without_its_digest_is_refused(good, tmp_path: Path):
    forged = copy.deepcopy(good)
    forged["claim"]["programs"][0]["right"]["jaxprs"] = forged["claim"]["programs"][0]["left"]["jaxprs"]
    assert word(forged, tmp_path / "c.json") == (1, "refused")


REFUTATIONS: dict[str, Any] = {
    "an input at which both agree": lambda e: e["inputs"][0].update(values=[0.0, 0.0]),
    "an input that is no float32": lambda e: e["inputs"][0].update(values=[0.1, 0.1]),
    "an input of another shape": lambda e: e["inputs"][0].update(values=[2.0]),
    "an entry that is none": lambda e: e.update(entry=[7]),
    "an output that is none": lambda e: e.update(output=3),
    "another exact value": lambda e: e.update(exact=["17", "19"]),
    "sizes that are none": lambda e: e.update(sizes={"n": 2}),
}


@pytest.mark.parametrize("change", REFUTATIONS.values(), ids=REFUTATIONS)
def test_a_refutation_is_evaluated(change, refuted, tmp_path: Path):
    forged = copy.deepcopy(refuted)
    change(next(e["example"] for e in forged["evidence"] if e["example"]))
    assert word(forged, tmp_path / "c.json")[0] in (1, 2)


def test_a_counterexample_of_a_smaller_question_is_not_one(refuted, tmp_path: Path):
    """Where a null set, or what lies outside a domain, is left out, one input proves nothing here."""
    for change in ({"almost_everywhere": True}, {"inputs": ["float32[2] > 0"]}):
        forged = copy.deepcopy(refuted)
        forged["claim"].update(change)
        assert word(forged, tmp_path / "c.json") == (1, "not decided")


# --- mutations -------------------------------------------------------------------------------------------------------


def _leaves(data: Any, path: tuple[Any, ...] = ()):
    """The paths of all numbers, texts and truth values."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from _leaves(value, (*path, key))
    if not isinstance(data, dict | list):
        yield path


def mutated(certificate: dict[str, Any], generator: random.Random) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """The certificate with one leaf of its claim or verdict changed, and where."""
    forged = copy.deepcopy(certificate)
    examples = [e["example"] for e in forged["evidence"] if e.get("example")]
    part = {"claim": forged["claim"], "verdict": forged["verdict"]} | (
        {"evidence": forged["evidence"]} if examples else {}
    )
    path = generator.choice(
        [
            p
            for p in _leaves(part)
            if "lines" not in p and not str(p[-1]).endswith("_digest") and (p[0] != "evidence" or "example" in p)
        ]
    )
    holder: Any = forged
    for key in path[:-1]:
        holder = holder[key]
    old = holder[path[-1]]
    if isinstance(old, bool) or old is None:
        holder[path[-1]] = not old
    elif isinstance(old, int | float):
        holder[path[-1]] = old + generator.choice([-1, 1, 2])
    else:
        place = generator.randrange(max(len(old), 1))
        holder[path[-1]] = old[:place] + generator.choice("A1x") + old[place + 1 :]
    return redigested(forged), path


def mutations(certificate: dict[str, Any], count: int, seed: int, path: Path) -> Counter[str]:
    """What the checker says of mutants: of one that it accepts it states that the programs in it are equal."""
    print("seed", seed)
    generator, table = random.Random(seed), Counter()
    for _ in range(count):
        forged, where = mutated(certificate, generator)
        code, found = word(forged, path)
        table[found] += 1
        if code == 0 and where[0] == "claim" and where[1] == "programs":
            again, _ = word(forged, path)
            assert again == 0, where
    return table


def test_mutants_end_in_a_word(good, tmp_path: Path):
    table = mutations(good, 30, 0, tmp_path / "c.json")
    assert table["refused"] + table["unusable"] + table["not decided"] > table["checked"]


KINDS_OF_PAIRS: dict[str, Any] = {
    "sums of exponentials": (lambda x: jax.nn.logsumexp(x + 1), lambda x: 1 + jnp.log(jnp.exp(x).sum()), (f32(3),)),
    "cases": (lambda x: jnp.maximum(x, 0) ** 2, lambda x: x * jnp.maximum(x, 0), (f32(2),)),
    "a clip": (lambda x: jnp.clip(x, 0, 1), lambda x: jnp.where(x < 0, 0.0, jnp.where(x > 1, 1.0, x)), (f32(2),)),
    "a selection of a product": (
        lambda x, y: jnp.where(x > 0, x, 0.0) @ y,
        lambda x, y: jnp.maximum(x, 0) @ y,
        (f32(2), f32(2, 2)),
    ),
    "roots": (lambda x: x / jnp.sqrt(5 * x @ x), lambda x: x / (jnp.sqrt(5.0) * jnp.sqrt(x @ x)), (f32(2),)),
    "hollow quotients": (lambda x: 1 / (jnp.abs(x) + jnp.abs(x)), lambda x: 0.5 / jnp.abs(x), (f32(2),)),
    "a domain": (lambda x: jnp.log(x**2 + 1), lambda x: jnp.log(1 + x * x), (positive(f32(2)),)),
    "a loop": (
        lambda x: jax.lax.fori_loop(0, 3, lambda i, c: c * x + i, x),
        lambda x: ((x * x) * x + 1) * x + 2,
        (f32(),),
    ),
    "a refuted tie": (lambda x: jnp.where(x > 0, 1.0, 0.0), lambda x: jnp.where(x >= 0, 1.0, 0.0), (f32(),)),
    "a refuted root": (lambda x: jnp.sqrt(x * x), lambda x: x, (f32(2),)),
}


def kind_of_change(path: tuple[Any, ...], old: Any) -> str:
    """What was changed: by where it stands in the file."""
    if "programs" not in path:
        return (
            "hypotheses and flags"
            if path[0] == "claim"
            else "the verdict"
            if path[0] == "verdict"
            else "the counterexample"
        )
    if isinstance(old, str):
        return "bytes of constants" if len(old) % 4 == 0 and old.endswith("=") else "names"
    return "shapes, bounds, parameters, operands"


def same_at_points(forged: dict[str, Any]) -> bool:
    """Whether the programs of a file have one value at random inputs, in balls, which know none of the rules."""
    for entry in forged["claim"]["programs"]:
        left, right = (entry[side]["jaxprs"] for side in ("left", "right"))
        signs = [bounds for _, *bounds in pairs.domains(forged["claim"])]
        try:
            for _ in range(8):
                pairs.differ_somewhere(left, right, "", signs)
        except Refused:
            return False
    return True


def mutants_of_all_kinds(count: int, seed: int, folder: Path) -> Counter[tuple[str, str]]:
    """What the checker says of single changes of certificates of all kinds; what it accepts holds at random inputs."""
    print("seed", seed)
    generator, table = random.Random(seed), Counter()
    for left, right, specs in KINDS_OF_PAIRS.values():
        certificate = saved(left, right, specs, folder / "c.json")
        assert word(certificate, folder / "c.json") == (0, "checked")
        for _ in range(count):
            forged, path = mutated(certificate, generator)
            old = certificate
            for key in path:
                old = old[key]
            code, found = word(forged, folder / "c.json")
            table[kind_of_change(path, old), found] += 1
            assert code or forged["verdict"] == "REFUTED" or same_at_points(forged), path
    return table


@pytest.mark.campaign
def test_five_thousand_mutants(tmp_path: Path):
    """Prints what becomes of 500 single changes of each of ten certificates."""
    for (kind, found), number in sorted(mutants_of_all_kinds(500, 1, tmp_path).items()):
        print(f"{kind:32}{found:14}{number}")


# --- what it prints --------------------------------------------------------------------------------------------------


def test_it_states_in_its_own_words(good, tmp_path: Path, capsys):
    forged = copy.deepcopy(good)
    forged["evidence"][0]["finding"] = forged["claim"]["left"] = "everything is true"
    (tmp_path / "c.json").write_text(json.dumps(forged))
    assert main([str(tmp_path / "c.json")]) == 0
    printed = capsys.readouterr().out
    assert "x0: float32[3], x1: float32[3,2]" in printed and f"2^{pairs.LOG2_ERROR}" in printed
    assert "everything is true" not in printed


def test_the_command_without_files_explains_itself(capsys):
    assert main([]) == 2 and main(["--help"]) == 0
    assert "usage" in capsys.readouterr().out
