"""The checker of claims of the papers: it decides what the ledger proves, and accepts no statement that is false."""

import copy
import json
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from excerpt import one_in
from json_schema import fits
from random_expressions import Generator, false_rewrites, rewritten, true_rewrites
from statement_reader import Reader

from uat_jax import strict_json
from uat_jax.decide import certificate
from uat_jax.decide.certificate import SCHEMA, VERSION
from uat_jax.decide.equivalence import certify
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import of_steps
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import BudgetError, InputError, MismatchError, UatJaxError
from uat_jax.ledger import ledger
from uat_jax.symbolic import language as m
from uat_jax.symbolic.normal_form import Normaliser
from uat_jax.symbolic.step import Step
from uat_jax_check import claims, document
from uat_jax_check.__main__ import decided
from uat_jax_check.document import NotDecided, Refused, Unusable

DOCS = Path(__file__).parent.parent / "docs"
FILES = sorted((DOCS / "certificates").glob("*.json"))
DECIDED = {path.stem: json.loads(path.read_text()) for path in FILES}
PROVED = {name: body for name, body in DECIDED.items() if body["verdict"] == "PROVED"}
STATEMENTS = [(name, s) for name, body in DECIDED.items() for e in body["evidence"] for s in e["statements"]]


def word(data: Any, path: Path) -> tuple[int, str]:
    """The exit code and the first line of the checker for a certificate; one line is all that it says if it refuses."""
    path.write_text(json.dumps(data))
    code, lines = decided(str(path))
    assert all("\n" not in line for line in lines) and (code == 0 or len(lines) == 1)
    return code, lines[0]


def word_and_lines(data: Any, path: Path) -> tuple[int, list[str]]:
    """The exit code and all lines of the checker."""
    path.write_text(json.dumps(data))
    return decided(str(path))


def outcome(statement: Any) -> str:
    """What the checker makes of one statement."""
    try:
        claims.statement(statement)
    except Refused:
        return "refused"
    except NotDecided:
        return "not decided"
    except (Unusable, *MALFORMED):
        return "unusable"
    return "checked"


MALFORMED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError, ZeroDivisionError)


# --- the ledger ------------------------------------------------------------------------------------------------------

KNOWN = {"an induction of which single equations are in the file", "a refutation with softmax in it"}
"""What the checker says beside that evidence holds no statement."""


@pytest.mark.parametrize("name", one_in(6, DECIDED))
def test_no_row_is_decided_the_other_way(name, tmp_path):
    """What the papers' rows prove or refute is checked, or the checker says that some evidence holds no statement."""
    body = DECIDED[name]
    code, line = word(body, tmp_path / "certificate.json")
    bare = [e["method"] for e in body["evidence"] if e["verdict"] == body["verdict"] and not e["statements"]]
    if code:
        assert line.startswith("not decided") and (bare or KNOWN & set(line.split(": ")[1:])), line
    else:
        assert not bare


def table(rows: Iterator[tuple[str, int, str, float]]) -> Counter:
    """Prints the rows that are not decided with the reason; how many there are of each."""
    found, seconds = Counter(), 0.0
    for name, _, line, took in rows:
        found[f"{name.split()[1]} {line[:100]}"] += 1
        seconds += took
        if "checked" not in line:
            print(f"{name:45} {line[:120]}")
    print(f"\n{seconds:.1f} s of processor time")
    for line, count in found.most_common():
        print(f"{count:5} {line}")
    return found


def ledger_rows(folder: Path) -> Iterator[tuple[str, int, str, float]]:
    """Every row of the ledger that is proved or refuted, decided anew and checked from its file."""
    for claim in ledger.claims():
        if claim.expects in (Verdict.PROVED, Verdict.REFUTED):
            path = ledger.decide(claim, Settings(dtypes=(), trials=1)).save(folder / f"{claim.id}.json")
            start = time.process_time()
            code, lines = decided(str(path))
            yield f"{claim.id} {claim.expects}", code, lines[0], time.process_time() - start


@pytest.mark.campaign
def test_the_whole_ledger(tmp_path):
    """Prints which rows the checker does not decide, and why; it refuses none."""
    found = table(ledger_rows(tmp_path))
    assert not [line for line in found if "refused" in line or "unusable" in line]
    assert found["PROVED checked"] >= 244 and found["REFUTED checked"] >= 103


def test_what_is_printed_is_made_of_the_terms(tmp_path):
    """Another title, finding, name or printed formula changes nothing of what the checker says."""
    body = PROVED["residual.closed-form"]
    (path := tmp_path / "certificate.json").write_text(json.dumps(body))
    wanted = decided(str(path))[1]
    forged = copy.deepcopy(body)
    forged["claim"] |= {"printed": "0=1", "title": "P = NP", "id": "other", "hypotheses": []}
    for evidence in forged["evidence"]:
        evidence |= {"finding": "everything", "figures": {}}
    path.write_text(json.dumps(forged))
    said = decided(str(path))[1]
    first = said.index(claims.BESIDE)
    assert said[:first] == wanted[: wanted.index(claims.BESIDE)]
    assert said[first + 1 :] == ["  | other", "  | 0=1", f"  | {body['claim']['reading']}"][: len(said) - first - 1]
    assert any("for every i ≥ 1:  net(i) = Ŵ_{i,1} x_{0} + b̂_{i,3}" in line for line in wanted)


def test_what_the_file_says_of_its_claim_stands_behind_a_bar_on_lines_of_its_own(tmp_path):
    """No text of a file looks like a line of the checker: signs that are not printed are replaced, lines are short."""
    body = copy.deepcopy(PROVED["diamond.property-1.left"])
    body["claim"] |= {"id": "x\nchecked", "printed": "\u202e\x1b[2K" + "y" * 10_000, "reading": None}
    code, lines = word_and_lines(body, tmp_path / "certificate.json")
    assert code == 0 and lines[-3:] == [claims.BESIDE, "  | x?checked", f"  | ??[2K{'y' * 495}"]


# --- the schema ------------------------------------------------------------------------------------------------------

SCHEMA_FILE = json.loads((DOCS / "statement.schema.json").read_text())


def test_statements_have_the_published_schema():
    """Every statement of the shipped certificates, and of the table of true ones, is valid by the schema."""
    for statement in (*(s for _, s in STATEMENTS[::4]), *TRUE.values()):
        assert fits(statement, SCHEMA_FILE, SCHEMA_FILE)


@pytest.mark.parametrize(
    "change",
    [{"kind": "poem"}, {"symbols": {"n": "colour"}}, {"left": ["sqrt", 2]}, {"more": 1}, {"left": ["T"]}],
    ids=str,
)
def test_other_statements_have_not(change):
    assert not fits({**equation(A, B), **change}, SCHEMA_FILE, SCHEMA_FILE)


# --- forgeries -------------------------------------------------------------------------------------------------------


def letter(name: str, rows: Any, columns: Any, *low: Any, high: tuple = ()) -> list[Any]:
    """A letter of the language."""
    return ["L", name, rows, columns, list(low), list(high)]


A, B, C = letter("A", "n", "k"), letter("B", "n", "k"), letter("C", "k", "m")
KINDS = {"n": "size", "k": "size", "m": "size", "i": "size", "j": "size"}


def equation(left: Any, right: Any, *where: Any, **more: Any) -> dict[str, Any]:
    """An equation with definitions of its letters, each (letter, term) or (letter, term, index, upper)."""
    own = {"left_definitions": [], "right_definitions": []}
    body = {"left": left, "right": right, "definitions": list(map(_definition, where)), "symbols": KINDS}
    return {"kind": "equation", **body, **own, **more}


def _definition(entry: Any) -> dict[str, Any]:
    of, term, *span = entry
    return {"letter": of, "is": term, **({"for": span} if span else {})}


def claim(*statements: Any, method: str = "normal form", **more: Any) -> dict[str, Any]:
    """The certificate of a claim with these statements."""
    evidence = [{"method": method, "verdict": "PROVED", "statements": list(statements)}]
    body = {"claim": {"id": "x", "printed": ""}, "verdict": "PROVED", "evidence": evidence}
    return {"schema": SCHEMA, "version": VERSION, **body, **more}


def x(j: Any) -> list[Any]:
    """Column j."""
    return letter("x", "n", 1, j)


def induction(**changes: Any) -> dict[str, Any]:
    """x_j = M_j x_{j−1} + c_j is P_j x_0 + q_j, with P and q by recursion; and changes of it."""
    M, c = (lambda j: letter("M", "n", "n", j)), (lambda j: letter("c", "n", 1, j))
    P, q, y, after = (
        (lambda j: letter("P", "n", "n", j)),
        (lambda j: letter("q", "n", 1, j)),
        letter("y", "n", 1),
        ["+", "i", 1],
    )
    step = [(P(after), ["@", M(after), P("i")]), (q(after), ["+", ["@", M(after), q("i")], c(after)])]
    body = {
        "kind": "induction", "index": "i", "layer_index": "j", "input": y, "start": x(0),
        "layer": ["+", ["@", M("j"), y], c("j")], "closed": ["+", ["@", P("i"), x(0)], q("i")],
        "first": list(map(_definition, [(P(1), M(1)), (q(1), c(1))])), "next": list(map(_definition, step)),
        "symbols": KINDS,
    }  # fmt: skip
    return {**body, **changes}


def weights(upper: Any, last: Any) -> dict[str, Any]:
    """Σ_k M W_k = Σ_k V_k with a rule V_k := M W_k for k up to ``upper``, and one for V at ``last``."""
    W, V, M = (lambda k: letter("W", "n", "n", k)), (lambda k: letter("V", "n", "n", k)), letter("M", "n", "n")
    left, right = ["sum", ["@", M, W("l")], "l", 1, ["+", "i", 1]], ["sum", V("l"), "l", 1, ["+", "i", 1]]
    return equation(left, right, (V("k°"), ["@", M, W("k°")], "k°", upper), (V(last), ["@", M, W(last)]))


def inequality(**changes: Any) -> dict[str, Any]:
    """|a + b| ≤ c from |a| + |b| ≤ c, by two cases; and changes of it."""
    both, a, b, u = ["abs", ["+", "a", "b"]], ["abs", "a"], ["abs", "b"], ["+", "a", "b"]
    minus = lambda s: ["*", -1, s]
    terms = lambda sign: [
        [1, ["+", both, minus("c")]],
        [1, ["+", "c", minus(a), minus(b)]],
        [1, ["+", sign(u), minus(both)]],
        [1, ["+", a, minus(sign("a"))]],
        [1, ["+", b, minus(sign("b"))]],
    ]
    cases = [
        {"denial": 0, "signs": [[both, u]], "terms": terms(lambda s: s)},
        {"denial": 0, "signs": [[both, minus(u)]], "terms": terms(minus)},
    ]
    body = {"claim": ["<=", both, "c"], "hypotheses": [["<=", ["+", a, b], "c"]], "cases": cases}
    point = {"hold_at": {"a": 0, "b": 0, "c": 0}, "symbols": dict.fromkeys("abc", "number")}
    return {"kind": "inequality", **body, **point, **changes}


def static(parameter: Any, *inputs: Any, where: tuple = ()) -> dict[str, Any]:
    """A parameter has one value at all inputs."""
    body = {"parameter": parameter, "inputs": list(inputs), "definitions": list(map(_definition, where))}
    return {"kind": "static", **body, "symbols": KINDS}


M, N = letter("M", "n", "n"), letter("N", "n", "n")
W_i = lambda k: letter("W", "n", "n", k)
ONE_BY_ONE = {"jaxprs": [{"constants": [], "inputs": [["float32", []]], "equations": [], "outputs": [0]}]}
DEPENDS = {"kind": "dynamic", "program": ONE_BY_ONE, "inputs": [0.0, 1.0], "entry": [], "symbols": {}}

TRUE = {
    "a transpose": equation(["T", ["@", A, C]], ["@", ["T", C], ["T", A]]),
    "a definition": equation(A, B, (A, B)),
    "a rule": weights("i", ["+", "i", 1]),
    "an induction": induction(),
    "an inequality": inequality(),
    "no identity": equation(["@", M, N], ["@", N, M], kind="no identity"),
    "a static parameter": static(["@", M, N], x(0)),
    "a dynamic one": DEPENDS,
    "a softmax with columns": equation(["@", ["softmax", A], ["1", "k", 1]], ["1", "n", 1]),
    "a slice": equation(["@", ["T", ["E", 1, ["*", 2, "n"], "n"]], ["E", 1, ["*", 2, "n"], "n"]], ["I", "n"]),
}  # fmt: skip


@pytest.mark.parametrize("name", TRUE)
def test_true_statements_are_checked(name, tmp_path):
    assert word(claim(TRUE[name]), tmp_path / "certificate.json") == (0, "checked")


def changed(statement: dict[str, Any], path: tuple, new: Any) -> dict[str, Any]:
    """The statement with something else at a place."""
    statement = copy.deepcopy(statement)
    *way, last = path
    of = statement
    for key in way:
        of = of[key]
    of[last] = new
    return statement


TWO_ROWS = letter("X", "n", ["+", "n", -1])
LAST, OF_LAYER = letter("P", "n", "n", ["+", "i", 2]), letter("P", "n", "n", "j")
SUM = lambda upper: ["sum", W_i("l"), "l", 1, upper]
BELOW = ["+", "a", ["*", -1, ["abs", "a"]]]
DEFINED = _definition((B, A))
FALSE = {
    "a term dropped": equation(["+", A, B, A], ["+", A, B]),
    "factors turned round": equation(["@", M, N], ["@", N, M]),
    "a transpose forgotten": equation(["T", ["@", M, N]], ["@", ["T", M], ["T", N]]),
    "σ as if it were linear": equation(["sigma", ["+", A, B]], ["+", ["sigma", A], ["sigma", B]]),
    "a number taken out of σ": equation(["sigma", [".", 2, A]], [".", 2, ["sigma", A]]),
    "Kronecker factors turned round": equation(["kron", M, N], ["kron", N, M]),
    "vec by columns": equation(["vec", ["T", M]], ["vec", M]),
    "softmax as if it were of columns": equation(["@", ["1", 1, "n"], ["softmax", M]], ["1", 1, "n"]),
    "another constant": equation(["+", A, A], [".", 3, A]),
    "no identity that is one": equation(["T", ["@", A, C]], ["@", ["T", C], ["T", A]], kind="no identity"),
    "I_n = I_k": equation(["I", "n"], ["I", "k"]),
    "zeros of two shapes": equation(["0", "n", 1], ["0", "k", "n"]),
    "ones of two shapes": equation(["1", "n", "k"], ["1", "k", "n"]),
    "slices of two shapes": equation(["E", 1, ["*", 2, "n"], "n"], ["E", 1, ["*", 2, "k"], "k"]),
    "empty sums of two shapes": equation(["sum", A, "l", 1, 0], ["sum", ["T", A], "l", 1, 0]),
    "0 = 0": equation(["0", "n", "k"], ["0", "n", "k"]),
    "X = X": equation(A, A),
    "a letter of two shapes": equation(A, ["T", letter("A", "k", "n")]),
    "a sum of two shapes": equation(["+", A, ["T", B]], A),
    "a product that does not fit": equation(["@", A, B], A),
    "a definition of another shape": equation(A, B, (A, ["T", B])),
    "a definition by itself": equation(A, B, (A, ["+", A, B])),
    "definitions in a circle": equation(A, B, (A, B), (B, A)),
    "a letter defined twice": equation(A, B, (A, B), (A, ["0", "n", "k"])),
    "letters that may be one": equation(W_i("i"), W_i(1), (W_i("i"), M), (W_i(1), M)),
    "a rule beside one of its letters": weights(["+", "i", 1], ["+", "i", 1]),
    "a rule for fewer": weights(["+", "i", -1], ["+", "i", 1]),
    "a definition that nothing uses": equation(["+", A, B], ["+", B, A], (C, ["0", "k", "m"])),
    "a letter free on one side": equation(A, B, left_definitions=[_definition((A, B))], right_definitions=[DEFINED]),
    "a sum with one term more": equation(SUM(["+", "i", 1]), ["+", SUM("i"), W_i("i")]),
    "a sum to another bound": equation(SUM("i"), SUM("k")),
    "another start": induction(start=["0", "n", 1]),
    "a layer without its constant": induction(layer=["@", letter("M", "n", "n", "j"), letter("y", "n", 1)]),
    "a layer without its input": induction(layer=letter("c", "n", 1, "j")),
    "a wrong first layer": changed(induction(), ("first", 0, "is"), letter("M", "n", "n", 2)),
    "a wrong step": changed(induction(), ("next", 1, "is"), letter("c", "n", 1, ["+", "i", 1])),
    "the input of the layer in the closed form": induction(closed=letter("y", "n", 1)),
    "x_i as its own closed form": induction(closed=x("i"), first=[], next=[]),
    "a letter of two layers later": changed(induction(), ("next", 0, "letter"), LAST),
    "a definition by a later layer": changed(induction(), ("next", 0, "is"), ["@", LAST, letter("P", "n", "n", "i")]),
    "a first layer by the second": changed(induction(), ("first", 0, "is"), ["@", letter("P", "n", "n", 2), M]),
    "a first layer of layer 2": changed(induction(), ("first", 0, "letter"), letter("P", "n", "n", 2)),
    "the number of a layer in the closed form": induction(closed=["+", ["@", OF_LAYER, x(0)], x(0)]),
    "a static parameter that uses the input": static(["@", M, x(0)], x(0)),
    "one that uses it in a definition": static(M, x(0), where=((M, ["@", x(0), ["T", x(0)]]),)),
    "one that uses it in a sum": static(["sum", x("l"), "l", 1, "i"], x(1)),
    "an input that is defined": static(M, x(0), where=((x(0), ["0", "n", 1]),)),
    "a multiplier below 0": changed(inequality(), ("cases", 0, "terms", 0, 0), -1),
    "a case left out": inequality(cases=inequality()["cases"][:1]),
    "no case": inequality(cases=[]),
    "a hypothesis left out": inequality(hypotheses=[]),
    "a number that nothing says is not negative": changed(inequality(), ("cases", 0, "terms", 3, 1), BELOW),
    "a stronger claim": inequality(claim=["<", ["abs", ["+", "a", "b"]], "c"]),
    "another claim": inequality(claim=["<=", ["abs", ["+", "a", "b"]], "a"]),
    "hypotheses that contradict each other": inequality(hypotheses=[["<=", 1, 0]]),
    "a point that is none of the hypotheses": inequality(hold_at={"a": 1, "b": 0, "c": 0}),
    "two equal inputs": {**DEPENDS, "inputs": [1.0, 1.0]},
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_forged_statements_are_refused(name, tmp_path):
    """With one line; "not decided" is no refusal."""
    code, line = word(claim(FALSE[name]), tmp_path / "certificate.json")
    assert code == 1 and line.startswith("refused"), line


def nested(depth: int) -> Any:
    """A transposed again and again."""
    return A if depth == 0 else ["T", nested(depth - 1)]


def many_sums(number: int) -> Any:
    """Sums in each other, all of whose indices are used."""
    names = [f"l{n}" for n in range(number)]
    of: Any = ["@", *(letter("W", "n", "n", name) for name in names)]
    for name in names:
        of = ["sum", of, name, 1, "i"]
    return of


UNUSABLE = {
    "softmax without columns": equation(["@", ["softmax", TWO_ROWS], ["1", ["+", "n", -1], 1]], ["1", "n", 1]),
    "an unknown kind": {**equation(A, B), "kind": "poem"},
    "an unknown head": equation(["inverse", M], M),
    "a field more": {**equation(A, B), "because": "I say so"},
    "a field less": {k: v for k, v in equation(A, B).items() if k != "right"},
    "a symbol that is not declared": equation(["I", "z"], ["I", "n"]),
    "a symbol of no kind": {**equation(A, B), "symbols": {**KINDS, "n": "colour"}},
    "a letter with the name of the identity": equation(letter("I", "n", "n"), ["I", "n"]),
    "a letter that looks like a sum": equation(letter("A + B", "n", "k"), A),
    "no text for a name": equation(letter(7, "n", "k"), A),  # type: ignore[arg-type]
    "a line break in a name": equation(letter("A\nchecked", "n", "k"), A),
    "a truth value for a size": equation(letter("A", True, "k"), A),
    "a float for a size": equation(letter("A", 1.5, "k"), A),
    "a fraction by 0": equation([".", ["/", 1, 0], A], A),
    "a product of one": equation(["@", A], A),
    "an index that is a symbol": equation(["sum", W_i("i"), "i", 1, "n"], M),
    "an exponent without end": equation([".", ["^", "n", 10**9], A], A),
    "powers of numbers": equation([".", ["^", ["^", ["^", ["^", 2, 32], 32], 32], 32], A], A),
    "powers of powers": equation([".", ["^", ["^", ["+", "n", "k", "m", 1], 32], 32], A], A),
    "nested too deep": equation(nested(80), A),
    "no list of statements": None,
    "no proof of dependence": {**DEPENDS, "program": {"jaxprs": []}},
    "a sum of 10^6 terms": equation(["sum", W_i("l"), "l", 1, 10**6], M),
    "many sums in each other": equation(many_sums(9), M),
    "a sum that may have fewer than no terms": equation(["sum", W_i("l"), "l", 1, ["+", "i", -3]], M),
    "a definition of a product": equation(A, B, (["@", A, C], B)),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_is_no_statement_is_refused_in_one_line(name, tmp_path):
    code, line = word(claim(UNUSABLE[name]), tmp_path / "certificate.json")
    assert code in (1, 2) and not line.startswith("checked")


WHOLE = {
    "no statement": (claim(), "not decided"),
    "another verdict": (claim(TRUE["a transpose"], verdict="CERTIFIED"), "not decided"),
    "an induction of single equations": (claim(TRUE["a transpose"], method="induction"), "not decided"),
    "an older version": (claim(TRUE["a transpose"], version=VERSION - 1), "unusable"),
    "a newer version": (claim(TRUE["a transpose"], version=VERSION + 1), "unusable"),
    "no evidence": (claim(evidence=[]), "unusable"),
    "evidence that is no list": (claim(evidence={}), "unusable"),
    "what is refuted beside what is proved": (
        claim(evidence=[*claim(TRUE["a transpose"])["evidence"], {"verdict": "REFUTED"}]),
        "refused",
    ),
    "a subject that is only certified": (
        claim(evidence=[*claim(TRUE["a transpose"])["evidence"], {"verdict": "CERTIFIED", "subject": "other"}]),
        "refused",
    ),
    "what is unknown beside what is proved": (
        claim(evidence=[*claim(TRUE["a transpose"])["evidence"], {"verdict": "UNKNOWN"}]),
        "refused",
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_forged_certificates_are_refused(name, tmp_path):
    body, wanted = WHOLE[name]
    code, line = word(body, tmp_path / "certificate.json")
    assert code and line.startswith(wanted), line


# --- mutations -------------------------------------------------------------------------------------------------------


def places(data: Any, path: tuple = ()) -> Iterator[tuple]:
    """The paths to all that is in a statement."""
    yield path
    if isinstance(data, (list, dict)):
        for key, part in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(part, (*path, key))


def at(data: Any, path: tuple) -> Any:
    """What is at a place."""
    for key in path:
        data = data[key]
    return data


def mutant(rng: random.Random, statement: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """One thing changed: a number, a name, a part dropped, doubled, or replaced by another one of the statement."""
    symbols, all_places = list(statement["symbols"]), [p for p in places(statement) if p]
    while True:
        path = rng.choice(all_places)
        old = at(statement, path)
        letters = [at(statement, p) for p in all_places if isinstance(at(statement, p), list)]
        match old:
            case bool() | None:
                continue
            case int() | float():
                return "number", changed(statement, path, old + rng.choice([-1, 1, 2]))
            case str() if old in symbols and len(symbols) > 1:
                return "index or size", changed(statement, path, rng.choice([s for s in symbols if s != old]))
            case str():
                return "name", changed(statement, path, old + "′")
            case list() if len(old) > 2 and rng.random() < 0.4:
                dropped = rng.randrange(1, len(old))
                return "part dropped", changed(statement, path, [p for n, p in enumerate(old) if n != dropped])
            case list() if len(old) > 2 and rng.random() < 0.5:
                first, second = rng.sample(range(1, len(old)), 2)
                turned = list(old)
                turned[first], turned[second] = turned[second], turned[first]
                return "parts exchanged", changed(statement, path, turned)
            case list():
                return "another part", changed(statement, path, copy.deepcopy(rng.choice(letters)))
            case dict() if len(path) > 1 and isinstance(at(statement, path[:-1]), list):
                rest = [e for n, e in enumerate(at(statement, path[:-1])) if n != path[-1]]
                return "definition, hypothesis or case dropped", changed(statement, path[:-1], rest)


def mutations(count: int, seed: int) -> Counter:
    """So many mutants of the shipped statements; every one that is accepted is true, the prover says as well."""
    print(f"seed {seed}")
    rng, found = random.Random(seed), Counter()
    by_the_prover = {s["kind"]: hasattr(Reader, f"_{s['kind'].replace(' ', '_')}") for _, s in STATEMENTS}
    known = [s for _, s in STATEMENTS if by_the_prover[s["kind"]] and len(json.dumps(s)) < 20_000]
    for _ in range(count):
        statement = rng.choice(known)
        kind, new = mutant(rng, statement)
        if new == statement:
            continue
        said = outcome(new)
        found[kind, said] += 1
        if said == "checked":
            assert Reader(new).holds(), f"accepted, and the prover does not prove it: {json.dumps(new)}"
    return found


def test_mutants_that_are_accepted_are_true():
    assert mutations(150, seed=1)


@pytest.mark.campaign
def test_five_thousand_mutants():
    """Prints how many of each kind are refused; those that are accepted say something else that is true."""
    seed = random.randrange(2**31)
    print(f"seed {seed}")
    found = mutations(6000, seed=seed)
    words = ("refused", "unusable", "not decided", "checked")
    print(f"{'':42}", *(f"{w:>12}" for w in words))
    for kind in sorted({kind for kind, _ in found}):
        print(f"{kind:42}", *(f"{found[kind, w]:12}" for w in words))


@pytest.mark.parametrize("name", ["diamond.property-1.left", "attention.matrix"])
def test_a_changed_byte_is_refused_or_changes_nothing(name, tmp_path):
    """What the checker then says is what it said before, or says what the changed statement says."""
    rng, path = random.Random(7), tmp_path / "certificate.json"
    text = json.dumps(PROVED[name]).encode()
    for _ in range(60):
        place = rng.randrange(len(text))
        path.write_bytes(text[:place] + bytes([rng.randrange(32, 127)]) + text[place + 1 :])
        code, lines = decided(str(path))
        assert code in (0, 1, 2) and all("\n" not in line for line in lines)
        if code == 0:
            body = json.loads(path.read_text())
            statements = [s for e in body["evidence"] if e["verdict"] == "PROVED" for s in e["statements"]]
            assert all(Reader(s).holds() for s in statements)


# --- the prover and the checker on random equations ------------------------------------------------------------------


def told(e: m.Expression, codes: dict[str, str]) -> m.Expression:
    """The expression with names for letters that have one shape each: generated ones share names."""

    def one(of: m.Letter) -> m.Letter:
        free = sorted(set().union(*(getattr(i, "free_symbols", set()) for i in of.subscripts)), key=str)
        marks = {s: sympy.Symbol(f"·{n}", integer=True, positive=True) for n, s in enumerate(free)}
        shape = str([sympy.sympify(s).xreplace(marks) for s in of.shape])
        return m.Letter(of.name + codes.setdefault(shape, f"′{len(codes)}"), *of.shape, of.subscripts, of.superscripts)

    match e:
        case m.Letter():
            return one(e)
        case m.Dependent():
            return m.Dependent(one(e.letter), told(e.arg, codes))
        case m.RangeSum():
            return m.RangeSum(told(e.body, codes), e.index, *e.bounds)
    return e.rebuilt(lambda part: told(part, codes))


def random_equations(count: int, seed: int) -> Counter:
    """(what the prover says, what the checker says) of random equations, half of them true."""
    print(f"seed {seed}")
    found, codes = Counter(), {}
    for number in range(count):
        rng, rules = np.random.default_rng([seed, number]), (true_rewrites, false_rewrites)[number % 2]
        e = Generator(rng, number % 4 < 2).draw(3)
        try:
            other = rewritten(rng, e, rules, 3 if rules is true_rewrites else 1)
            left, right = told(e, codes), told(other, codes)
            equal = Normaliser().equal(left, right)
        except UatJaxError:
            continue
        statements = of_steps([Step("", left, right)])
        if statements:
            said = outcome(statements[0])
            found[equal, said] += 1
            assert equal or said != "checked", f"{left} = {right}: checked, and not proved"
            if equal and said == "refused":
                with pytest.raises(Refused, match="two shapes"):  # of letters whose index is that of a sum
                    claims.statement(statements[0])
    return found


def test_random_equations():
    found = random_equations(60, seed=3)
    assert found[True, "checked"] and found[False, "refused"]


@pytest.mark.campaign
def test_five_thousand_random_equations():
    """Prints what the prover and the checker say of them; the checker accepts none that the prover does not prove."""
    seed = random.randrange(2**31)
    print(f"seed {seed}")
    for (equal, said), count in random_equations(5000, seed=seed).most_common():
        print(f"{count:6} {'equal' if equal else 'unequal':8} {said}")


# --- recheck ---------------------------------------------------------------------------------------------------------


def test_recheck_refuses_other_statements(tmp_path):
    """It finds the statements of a claim again, and those of two functions are none."""
    body = copy.deepcopy(PROVED["diamond.property-1.left"])
    body["evidence"][0]["statements"] = [TRUE["a transpose"]]
    (path := tmp_path / "certificate.json").write_text(json.dumps(body))
    with pytest.raises(MismatchError, match="statements are not those found again"):
        ledger.recheck(path)
    pair = json.loads(certify(lambda x: x + x, lambda x: 2 * x, np.zeros(2, np.float32)).to_json())
    pair["evidence"][0]["statements"] = [TRUE["a transpose"]]
    path.write_text(json.dumps(pair))
    with pytest.raises(MismatchError, match="holds statements of the papers"):
        ledger.recheck(path)


def test_long_files_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(certificate, "FILE_BYTES", 100)
    (path := tmp_path / "certificate.json").write_text(" " * 101)
    with pytest.raises(InputError, match="longer than 100 bytes"):
        certificate.load(path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep": "trials"}, "damaged: 'keep'"),
        ({"depth": 10**6}, "ask for more than 1024 layers"),
        ({"trials": 10**9}, "ask for more than 1024 layers and 65536 trials"),
        ({"trials": -1}, "-1 trials are not possible"),
    ],
    ids=str,
)
def test_a_file_does_not_ask_for_a_folder_or_for_hours(settings, message, tmp_path):
    """What a file of somebody else says is not where to write, nor how long to work."""
    body = copy.deepcopy(PROVED["diamond.property-1.left"])
    body["settings"] |= settings
    (path := tmp_path / "certificate.json").write_text(json.dumps(body))
    with pytest.raises(InputError, match=message):
        ledger.recheck(path)


def test_a_row_of_the_ledger_is_given_so_much_time(tmp_path):
    """However deep a file asks a claim to be decided, the time is up when it is, and no timer is left."""
    body = copy.deepcopy(PROVED["residual.closed-form"])
    body["settings"] |= {"depth": 1024}
    (path := tmp_path / "certificate.json").write_text(json.dumps(body))
    with pytest.raises(BudgetError, match="the time is up: 0.[0-9]+ seconds"):
        ledger.recheck(path, budget=0.5)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_both_readers_have_the_same_limits():
    """What one reads the other reads: bytes, nesting and digits."""
    ours = certificate.FILE_BYTES, certificate.DEPTH, strict_json.DIGITS
    assert ours == (document.FILE_BYTES, document.NESTING, document.DIGITS)
