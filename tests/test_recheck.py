"""Certificates of two functions decided again from the file alone; what was tampered with is refused in one line."""

import copy
import dataclasses
import functools
import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in

import uat_jax as uj
from uat_jax.decide import recheck
from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.counterexample import Counterexample
from uat_jax.errors import InputError, MismatchError
from uat_jax.interpret.jaxpr_file import digest

V = jax.ShapeDtypeStruct((3,), jnp.float32)
ROWS = jax.export.symbolic_shape("b, d")
M = jax.ShapeDtypeStruct(ROWS, jnp.float32)
ROOT = np.float32(math.sqrt(2))


def square(x):
    return (x + 1) ** 2


def expanded(x):
    return x * x + 2 * x + 1


def wrong(x):
    return x * x + 2 * x + 2


def softmax(x):
    weights = jnp.exp(x)
    return weights / jnp.sum(weights, axis=-1, keepdims=True)


def row_by_row(function):
    """Its values written into an array row by row, which the proofs for all sizes do not follow."""
    return lambda x: jnp.zeros_like(x).at[jnp.arange(x.shape[0])].set(function(x))


def mean(x):
    return jnp.mean(x, axis=0)


def mean_over_features(x):
    return jnp.sum(x, axis=0) / x.shape[1]


def mean_by_weights(x):
    return jnp.full(x.shape[:1], 1 / x.shape[0]) @ x


CASES = {
    "certified": (square, expanded, V, {}, "CERTIFIED"),
    "with exponentials": (softmax, jax.nn.softmax, V, {}, "CERTIFIED"),
    "refuted": (square, wrong, V, {}, "REFUTED"),
    "agrees": (lambda x: jnp.arcsinh(-x), lambda x: -jnp.log(x + jnp.sqrt(1 + x * x)), V, {}, "AGREES"),
    "unknown": (lambda x: jnp.ones(3), lambda x: jnp.ones(3), V, {}, "UNKNOWN"),
    "any sizes": (row_by_row(softmax), row_by_row(jax.nn.softmax), M, {}, "AGREES"),
    "listed sizes": (softmax, jax.nn.softmax, M, {"sizes": [{"b": 1, "d": 2}, {"b": 3, "d": 2}]}, "CERTIFIED"),
    "refuted at some sizes": (mean, mean_over_features, M, {}, "REFUTED"),
    "derivatives": (square, expanded, V, {"wrt": "grad"}, "CERTIFIED"),
    "refuted derivatives": (square, lambda x: x * x + x + 1, V, {"wrt": "grad"}, "REFUTED"),
    "two inputs": (lambda x, y: (2 * x, y), lambda x, y: (x + x, y * 1), (V, V), {}, "CERTIFIED"),
    "crossed": (lambda x, y: (2 * (x + y), x), lambda x, y: (x + y + x + y, x * 1), (V, V), {}, "CERTIFIED"),
    "a root": (lambda x: ROOT * (ROOT * x), lambda x: 2 * x, V, {}, "CERTIFIED"),
    "an integer input": (lambda x, i: x[i], lambda x, i: x[i] * 1, (V, np.array([2, 0], np.int32)), {}, "CERTIFIED"),
    "another error and seed": (softmax, jax.nn.softmax, V, {"error": 1e-9, "seed": 7}, "CERTIFIED"),
}


@pytest.fixture(scope="module")
def certificates():
    as_tuple = lambda specs: specs if isinstance(specs, tuple) else (specs,)
    return {name: uj.certify(f, g, *as_tuple(specs), **settings) for name, (f, g, specs, settings, _) in CASES.items()}


@pytest.fixture(scope="module")
def bodies(certificates):
    """The files as JSON."""
    return {name: json.loads(certificate.to_json()) for name, certificate in certificates.items()}


def _primes(certificate):
    return [r["primes"] for e in certificate.evidence for r in e.figures.get("rounds", ())]


@pytest.mark.parametrize("name", one_in(2, CASES))
def test_decided_again_with_other_random_numbers(name, certificates, tmp_path):
    given = certificates[name]
    assert given.verdict == CASES[name][-1]
    path = given.save(tmp_path / "c.json")
    found, other = uj.recheck(path), uj.recheck(path, seed=12345)
    assert found.verdict is other.verdict is given.verdict and found.passes is given.passes
    assert found.claim == json.loads(given.to_json())["claim"]
    assert (found.settings["seed"], other.settings["seed"]) == (given.settings["seed"] + 1, 12345)
    assert not given.passes or _primes(given)
    for drawn in zip(_primes(given), _primes(found), _primes(other), strict=False):
        assert len(set(map(tuple, drawn))) == 3
    assert uj.recheck(path, seed=given.settings["seed"]).verdict is given.verdict


def test_a_recheck_says_what_it_affirms(certificates):
    """Programs of the form of derivatives may be others: that is not affirmed."""
    texts = {name: recheck.rechecked(uj.recheck(certificates[name])) for name in ("certified", "derivatives")}
    assert "not that they are the functions of that name" in texts["certified"]
    assert "not that they are values and derivatives of that name" in texts["derivatives"]


@pytest.mark.parametrize("name", CASES)
def test_what_was_decided_again_can_be_decided_again(name, certificates, tmp_path):
    found = uj.recheck(certificates[name])
    assert uj.recheck(found.save(tmp_path / "again.json")).verdict is found.verdict


def test_the_last_seed_has_a_successor():
    certificate = uj.certify(square, expanded, V, seed=2**31 - 1)
    assert uj.recheck(certificate).settings["seed"] == 0


def test_constants_read_as_roots_stay_an_assumption(certificates):
    for certificate in (certificates["a root"], uj.recheck(certificates["a root"])):
        assert any(a.kind is AssumptionKind.CONSTANT for a in certificate.assumptions)


@pytest.mark.parametrize("name", ["certified", "refuted"])
@pytest.mark.parametrize("device", [None, ("gpu", "NVIDIA H100 80GB HBM3"), ("tpu", "TPU v6 lite")])
def test_decided_on_another_device(name, device, certificates, bodies, tmp_path):
    """Also of a file that says no device (None), or says it in its settings, as older ones do."""
    body = copy.deepcopy(bodies[name])
    for key in ("device_platform", "device_kind", "matmul_precision"):
        del body["environment"][key]
    if device is not None:
        body["settings"]["device"] = device[0]
        body["environment"] |= {"device_platform": device[0], "device_kind": device[1], "matmul_precision": "default"}
    (tmp_path / "c.json").write_text(json.dumps(body))
    found = uj.recheck(tmp_path / "c.json")
    assert found.verdict is certificates[name].verdict and found.environment == certificates[name].environment
    body["verdict"] = "AGREES"
    (tmp_path / "c.json").write_text(json.dumps(body))
    assert "AGREES, which is not what its evidence says" in _refused(tmp_path / "c.json")


def test_in_a_process_without_the_functions(certificates, tmp_path):
    paths = [str(c.save(tmp_path / f"{i}.json")) for i, c in enumerate(certificates.values())]
    code = f"""
import importlib.util, json, sys
assert importlib.util.find_spec({__name__!r}) is None
import uat_jax as uj
print(json.dumps([uj.recheck(path).verdict for path in sys.argv[1:]]))
"""
    package = str(Path(uj.__file__ or "").parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code, *paths],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": package},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [case[-1] for case in CASES.values()]


# --- tampered files -------------------------------------------------------------------------------------------------


def _pair(body, index=0):
    return body["claim"]["programs"][index]


def _equations(body, side="left"):
    return _pair(body)[side]["jaxprs"][-1]["equations"]


def _round(body):
    return body["evidence"][0]["figures"]["rounds"][0]


def _figures(body):
    return body["evidence"][0]["figures"]


def _says(verdict, everywhere=False):
    def change(body):
        body.update(verdict=verdict, passes=verdict in ("PROVED", "CERTIFIED"))
        for evidence in body["evidence"] if everywhere else ():
            evidence["verdict"] = verdict

    return change


def _other_byte(body):
    """1 + … becomes another number: AACAPw== is 1.0 in float32."""
    literal = next(atom for _, _, atoms, _ in _equations(body) for atom in atoms if isinstance(atom, list))
    literal[2] = "AACAQA=="


def _with_digest(change):
    def changed(body):
        change(body)
        for pair in body["claim"]["programs"]:
            for side in ("left", "right"):
                pair[f"{side}_digest"] = digest(pair[side])

    return changed


def _other_program(body):
    _pair(body)["left"] = copy.deepcopy(OTHER)


OTHER = json.loads(uj.certify(wrong, wrong, V).to_json())["claim"]["programs"][0]["left"]


def _primitive(name):
    def change(body):
        _equations(body)[0][0] = name

    return change


def _lower_error(body):
    _figures(body)["log2_error"] -= 100


def _lower_bound(body):
    _round(body)["bound"]["log2"] -= 100


def _lower_both(body):
    _lower_error(body)
    _lower_bound(body)


def _infinite(body):
    _round(body)["bound"]["log2"] = _figures(body)["log2_error"] = -1e300


def _higher_both(body):
    for r in _figures(body)["rounds"]:
        r["bound"]["log2"] = -1.0
    _figures(body)["log2_error"] = -1.0 * len(_figures(body)["rounds"])


def _prime(change):
    return lambda body: _round(body).update(primes=change(_round(body)["primes"]))


def _example(**changes):
    """The counterexample is changed."""

    def change(body):
        body["evidence"][0]["example"].update(changes)

    return change


def _refuting():
    return Counterexample((), 0, 1, ("0", "1"))


def _input(values, dtype="float32"):
    return _example(inputs=[{"name": "input 0", "dtype": dtype, "values": values}])


def _claim(**changes):
    return lambda body: body["claim"].update(changes)


def _settings(**changes):
    return lambda body: body["settings"].update(changes)


def _sizes(**sizes):
    return lambda body: _pair(body)["sizes"].update(sizes)


def _integer_input(body):
    for side in ("left", "right"):
        _pair(body)[side] = {
            "jaxprs": [{"constants": [], "inputs": [["int32", [3]]], "equations": [], "outputs": [0]}],
            "lines": [[]],
        }


def _no_output(body):
    for side in ("left", "right"):
        _pair(body)[side] = {
            "jaxprs": [{"constants": [], "inputs": [["float32", [3]]], "equations": [], "outputs": []}],
            "lines": [[]],
        }


def _nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


def _without_sizes(body):
    body["assumptions"] = [a for a in body["assumptions"] if a["kind"] != AssumptionKind.ONLY_AT_SIZES]


def _drop_last_evidence(body):
    body["evidence"].pop()
    _says("CERTIFIED")(body)


def _also_assumed(kind, about):
    return lambda body: body["assumptions"].append(Assumption(kind, about).as_data())


def _first_assumption(**changes):
    """The first assumption of the certificate, and of its evidence, with other fields."""

    def change(body):
        for holder in (body, body["evidence"][0]):
            holder["assumptions"][0].update(changes)

    return change


def _without_constants(body):
    for holder in (body, *body["evidence"]):
        holder["assumptions"] = [a for a in holder["assumptions"] if a["kind"] != AssumptionKind.CONSTANT]


def _repeated(inputs):
    """The same concrete programs, said to be those of n = 1, 2, 3."""

    def change(body):
        body["claim"].update(inputs=inputs, symbols=["n"], sizes_listed=True)
        body["claim"]["programs"] = [{**_pair(body), "sizes": {"n": n}} for n in (1, 2, 3)]
        body["evidence"] = [{**body["evidence"][0], "subject": f"n = {n}"} for n in (1, 2, 3)]
        shown = {"symbols": ["n"], "sizes": ["n = 1", "n = 2", "n = 3"]}
        _also_assumed(AssumptionKind.ONLY_AT_SIZES, shown)(body)

    return change


def _ledger_claim(name):
    """Settings that a claim of the ledger can have, so that only the name is wrong."""

    def change(body):
        body["claim"]["id"] = name
        body["settings"] = json.loads(uj.prove("lemma-1", dtypes=()).to_json())["settings"]

    return change


def _drop(key, get=lambda body: body):
    return lambda body: get(body).pop(key)


TAMPERED = {
    # What the certificate says.
    "verdict flipped": ("certified", _says("REFUTED"), "not what its evidence says"),
    "verdict upgraded": ("agrees", _says("CERTIFIED"), "not what its evidence says"),
    "all upgraded to PROVED": ("certified", _says("PROVED", True), "says PROVED; decided again it is CERTIFIED"),
    "all changed to UNKNOWN": ("certified", _says("UNKNOWN", True), "says UNKNOWN; decided again it is CERTIFIED"),
    "all changed to AGREES": ("certified", _says("AGREES", True), "says AGREES; decided again it is CERTIFIED"),
    "all changed to CERTIFIED": ("agrees", _says("CERTIFIED", True), "has not the figures of a comparison"),
    "refuted changed to CERTIFIED": ("refuted", _says("CERTIFIED", True), "counterexample if it says REFUTED"),
    "passes flipped": ("certified", lambda body: body.update(passes=False), "not what its evidence says"),
    "passes where it does not": ("unknown", lambda body: body.update(passes=True), "not what its evidence says"),
    "another verdict expected": ("refuted", lambda body: body.update(expected="REFUTED"), "not what its evidence says"),
    "no evidence": ("certified", lambda body: body.update(evidence=[]), "not about its programs"),
    "evidence dropped": ("any sizes", lambda body: body["evidence"].pop(0), "not about its programs"),
    "evidence twice": ("certified", lambda body: body["evidence"].extend(body["evidence"]), "not about its programs"),
    "other subject": ("any sizes", lambda body: body["evidence"][0].update(subject="b = 9"), "not about its programs"),
    "subject no text": ("certified", lambda body: body["evidence"][0].update(subject=None), "not about its programs"),
    "another method": ("certified", lambda body: body["evidence"][0].update(method="balls"), "not that of its rounds"),
    "an unknown method": (
        "certified",
        lambda body: body["evidence"][0].update(method="oracle"),
        "is not a valid Method",
    ),
    "assumptions dropped": ("certified", lambda body: body.update(assumptions=[]), "does not state an assumption"),
    "sizes not stated": ("listed sizes", _without_sizes, "does not state an assumption of its evidence: shown at"),
    "sizes dropped": (
        "listed sizes",
        lambda body: (body["evidence"].pop(), body["claim"]["programs"].pop()),
        "does not state an assumption of its evidence: shown at",
    ),
    "sizes said to be listed": ("any sizes", _claim(sizes_listed=True), "does not state the sizes"),
    "sizes said not to be listed": ("listed sizes", _claim(sizes_listed=False), "does not state the sizes"),
    "all sizes said to be shown": ("any sizes", _drop_last_evidence, "does not state the sizes"),
    "all sizes said to be certified": (
        "any sizes",
        lambda body: body["evidence"][-1].update(verdict="CERTIFIED"),
        "does not state the sizes",
    ),
    # Assumptions that nothing assumes.
    **{
        f"assumption {kind}": (name, _also_assumed(kind, about), "states what its evidence does not assume")
        for kind, about in (
            (AssumptionKind.ONLY_AT_SIZES, {"symbols": ["n"], "sizes": ["n = 1", "n = 2", "n = 3"]}),
            (AssumptionKind.DEEP_EXPONENTIALS, {"levels": 2}),
            (AssumptionKind.ENTRIES_LEFT_OUT, {}),
            (AssumptionKind.HYPOTHESIS, {"statement": "x > 0"}),
            (AssumptionKind.CONSTANT_FUNCTIONS, {}),
        )
        for name in ("certified", "any sizes")
    },
    "assumption about an integer input": (
        "certified",
        _also_assumed(AssumptionKind.FIXED_INPUT, {"position": 1, "name": "[1]"}),
        "does not say of each of its integer inputs",
    ),
    "assumption about a float input": (
        "certified",
        _also_assumed(AssumptionKind.FIXED_INPUT, {"position": 0, "name": "[0]"}),
        "does not say of each of its integer inputs",
    ),
    "assumption about another integer input": (
        "an integer input",
        lambda body: body["assumptions"].__setitem__(
            0, Assumption(AssumptionKind.FIXED_INPUT, {"position": 0, "name": "[1]"}).as_data()
        ),
        "does not say of each of its integer inputs",
    ),
    # Assumptions that are none of ours.
    "assumption of an unknown kind": ("certified", _first_assumption(kind="hope"), "is not a valid AssumptionKind"),
    "assumption in other words": ("certified", _first_assumption(text="none"), "is not what its kind and fields say"),
    "assumption of another kind": (
        "certified",
        _first_assumption(kind="real numbers"),
        "is not what its kind and fields say",
    ),
    "assumption elsewhere": ("certified", _first_assumption(at=["n = 9"]), "is not what its kind and fields say"),
    "assumption with more fields": ("certified", _first_assumption(about={"x": 1}), "unexpected keyword argument"),
    "assumption without fields": ("a root", _first_assumption(about={}), "missing 3 required positional arguments"),
    "assumption of two lines": (
        "certified",
        _first_assumption(kind="hypothesis", about={"statement": "a\nb"}, text="a\nb"),
        "is not what its kind and fields say",
    ),
    "assumption a sentence": ("certified", lambda body: body.update(assumptions=["x > 0"]), "is damaged"),
    "constant no longer read as a root": ("a root", _without_constants, "assumes what the certificate does not"),
    # Derivatives that are none.
    "said to be derivatives": ("certified", _claim(derivatives=True), "cannot be values and derivatives"),
    "types of derivatives": ("crossed", _claim(derivatives=True), "cannot be values and derivatives"),
    # One concrete pair as several sizes.
    "symbols invented": ("certified", _repeated(["float32[3]"]), "are not those of its inputs"),
    "symbols and inputs invented": ("certified", _repeated(["float32[n]"]), "are not those of its programs"),
    "symbols that cancel": ("certified", _repeated(["float32[n-n+3]"]), "are not those of its inputs"),
    "symbols that nobody can read": ("certified", _repeated(["float32[n//4+3]"]), "syntax error in symbolic shape"),
    "symbols of another input": ("certified", _repeated(["float32[3]", "float32[n]"]), "are not those of its programs"),
    # The programs.
    "one byte of a program": ("certified", _other_byte, "digest"),
    "one byte, digest adapted": ("certified", _with_digest(_other_byte), "CERTIFIED; decided again it is REFUTED"),
    "another program": ("certified", _other_program, "digest"),
    "another program, digest adapted": (
        "certified",
        _with_digest(_other_program),
        "CERTIFIED; decided again it is REFUTED",
    ),
    "refuted with equal programs": ("refuted", _with_digest(_other_program), "both programs have the same value"),
    "digest changed": ("certified", lambda body: _pair(body).update(left_digest="0" * 64), "digest"),
    "digest no text": ("certified", lambda body: _pair(body).update(left_digest=None), "digest"),
    "digest missing": ("certified", _drop("left_digest", _pair), "has not the fields"),
    "program missing": ("certified", _drop("left", _pair), "has not the fields"),
    "program null": ("certified", lambda body: _pair(body).update(left=None), "damaged"),
    "programs missing": ("certified", _drop("programs", lambda body: body["claim"]), "has not the fields"),
    "programs empty": ("certified", _claim(programs=[]), "compares no programs"),
    "programs a number": ("certified", _claim(programs=3), "damaged"),
    "programs a mapping": ("certified", _claim(programs={}), "damaged"),
    "programs of numbers": ("certified", _claim(programs=[3]), "damaged"),
    "programs of texts": ("certified", _claim(programs=["x"]), "damaged"),
    "programs null": ("certified", _claim(programs=[None]), "damaged"),
    "programs that could not be kept": ("certified", _claim(programs=[{"missing": "a\nb", "sizes": {}}]), "a b"),
    "programs twice": (
        "certified",
        lambda body: body["claim"]["programs"].append(_pair(body)),
        "of the same sizes twice",
    ),
    "programs of different inputs": (
        "certified",
        lambda body: body["claim"]["programs"].append({**_pair(body), "sizes": {"b": 1}}),
        "sizes are not whole numbers",
    ),
    "an integer input": ("certified", _with_digest(_integer_input), "do not return floating-point arrays"),
    "no output": ("certified", _with_digest(_no_output), "do not return floating-point arrays"),
    "pure_callback": ("certified", _primitive("pure_callback"), "unknown primitive 'pure_callback'"),
    "io_callback": ("certified", _primitive("io_callback"), "unknown primitive 'io_callback'"),
    "custom_call": ("certified", _with_digest(_primitive("custom_call")), "unknown primitive 'custom_call'"),
    "ffi_call": ("certified", _with_digest(_primitive("ffi_call")), "unknown primitive 'ffi_call'"),
    "os.system": ("certified", _with_digest(_primitive("os.system")), "unknown primitive 'os.system'"),
    "sin": ("certified", _with_digest(_primitive("sin")), "JAX rejects it"),
    # The numbers.
    "error lowered": ("certified", _lower_error, "not that of its rounds"),
    "bound lowered": ("certified", _lower_bound, "less than its primes and copies allow"),
    "bound and error lowered": ("certified", _lower_both, "less than its primes and copies allow"),
    "bound and error infinite": ("certified", _infinite, "less than its primes and copies allow"),
    "bound and error too high": ("certified", _higher_both, "not as small as asked"),
    "error asked for lowered": ("certified", _settings(error=1e-300), "not as small as asked"),
    "error a NaN": ("certified", lambda body: _figures(body).update(log2_error=math.nan), "no number of JSON"),
    "error a text": ("certified", lambda body: _figures(body).update(log2_error="small"), "damaged"),
    "no rounds": ("certified", lambda body: _figures(body).update(rounds=[]), "not that of its rounds"),
    "rounds missing": ("certified", _drop("rounds", _figures), "no figures have the fields"),
    "rounds a number": ("certified", lambda body: _figures(body).update(rounds=2), "damaged"),
    "a condition of one round": (
        "certified",
        lambda body: _round(body)["bound"].update(condition="3 exponents"),
        "the condition of the chance of error",
    ),
    "no theorem": ("certified", lambda body: _figures(body).update(theorem=False), "the condition of the chance"),
    "no prime": ("certified", _prime(lambda primes: [primes[0] - 1]), "no tower of primes"),
    "a small prime": ("certified", _prime(lambda primes: [7]), "less than its primes and copies allow"),
    "no tower": ("with exponentials", _prime(lambda primes: [primes[0], 1000003]), "no tower of primes"),
    "a tower upside down": ("with exponentials", _prime(lambda primes: primes[::-1]), "no tower of primes"),
    "a prime as text": ("certified", _prime(lambda primes: [str(primes[0])]), "not whole numbers"),
    "a prime too large": ("certified", _prime(lambda primes: [2**127 - 1]), "not whole numbers"),
    "a prime of thousands of digits": ("certified", _prime(lambda primes: 10**4000), "damaged"),
    "no primes": ("certified", _prime(lambda primes: []), "not whole numbers"),
    "other copies": ("certified", lambda body: _round(body).update(copies=[1]), "less than its primes and copies"),
    "more levels than primes": ("certified", lambda body: _round(body).update(copies=[4, 4]), "not whole numbers"),
    "no copies": ("certified", lambda body: _round(body).update(copies=[0]), "less than its primes and copies"),
    # The counterexample.
    "where both agree": ("refuted derivatives", _input([0.0, 0.0, 0.0]), "does not fit its programs"),
    "another shape": ("refuted", _input([0.0, 0.0]), "does not fit its programs"),
    "another dtype": ("refuted", _input([0.0, 0.0, 0.0], dtype="float64"), "does not fit its programs"),
    "lists of several lengths": ("refuted", _input([[0.0], [0.0, 1.0]]), "damaged: ValueError"),
    "a NaN": ("refuted", _input([math.nan, 0.0, 0.0]), "no number of JSON"),
    "an infinity": ("refuted", _input([math.inf, 0.0, 0.0]), "no number of JSON"),
    "above the dtype": ("refuted", _input([1e300, 0.0, 0.0]), "not made of finite numbers"),
    "between the dtype's numbers": ("refuted", _input([0.1, 0.0, 0.0]), "not made of finite numbers"),
    "texts": ("refuted", _input(["x", 0.0, 0.0]), "damaged: ValueError"),
    "no inputs": ("refuted", _example(inputs=[]), "does not fit its programs"),
    "an output that is not there": ("refuted", _example(output=7), "damaged: IndexError"),
    "an entry that is not there": ("refuted", _example(entry=[9]), "damaged: IndexError"),
    "no entry": ("refuted", _example(entry=[]), "damaged"),
    "other values": ("refuted", _example(exact=["5.00000000000000", "7.00000000000000"]), "not those in"),
    "values that are all numbers": ("refuted", _example(exact=["[0 +/- 9]", "[0 +/- 9]"]), "not those in"),
    "values that are none": ("refuted", _example(exact=["x", "y"]), "damaged: ValueError"),
    "other sizes": ("refuted", _example(sizes={"b": 2}), "does not fit its programs"),
    "missing": ("refuted", lambda body: body["evidence"][0].update(example=None), "counterexample if it says REFUTED"),
    "empty": ("refuted", _example(inputs=None), "is damaged"),
    "a list": ("refuted", lambda body: body["evidence"][0].update(example=[1]), "is damaged"),
    "more fields": ("refuted", _example(more=1), "unexpected keyword argument 'more'"),
    "three sides": ("refuted", _example(exact=["1", "2", "3"]), "is damaged"),
    "where nothing was refuted": (
        "certified",
        lambda body: body["evidence"][0].update(example=_refuting().as_data()),
        "counterexample if it says REFUTED",
    ),
    # The settings and the claim.
    "error 0": ("certified", _settings(error=0.0), "got error=0.0"),
    "error 2": ("certified", _settings(error=2.0), "got error=2.0"),
    "error a word": ("certified", _settings(error="small"), "got error='small'"),
    "error a truth": ("certified", _settings(error=True), "got error=True"),
    "error null": ("certified", _settings(error=None), "got error=None"),
    "error infinite": ("certified", _settings(error=math.inf), "no number of JSON"),
    "error missing": ("certified", _drop("error", lambda body: body["settings"]), "damaged: KeyError"),
    "seed negative": ("certified", _settings(seed=-1), "got seed=-1"),
    "seed too large": ("certified", _settings(seed=2**31), "got seed="),
    "seed a fraction": ("certified", _settings(seed=0.5), "got seed=0.5"),
    "seed a truth": ("certified", _settings(seed=True), "got seed=True"),
    "seed missing": ("certified", _drop("seed", lambda body: body["settings"]), "damaged: KeyError"),
    "a size that is a fraction": ("any sizes", _sizes(b=1.5), "not whole numbers"),
    "a size that is a text": ("any sizes", _sizes(b="1"), "not whole numbers"),
    "a size that is a truth": ("any sizes", _sizes(b=True), "not whole numbers"),
    "a size 0": ("any sizes", _sizes(b=0), "not whole numbers"),
    "a size of another dimension": ("any sizes", _sizes(z=1), "not whole numbers"),
    "other sizes of a pair": ("any sizes", _sizes(b=5), "are not those of its programs"),
    "sizes a list": ("certified", lambda body: _pair(body).update(sizes=[1]), "damaged"),
    "sizes null": ("certified", lambda body: _pair(body).update(sizes=None), "damaged"),
    "other inputs": ("certified", _claim(inputs=["float64[3]"]), "are not those of its programs"),
    "more inputs": ("certified", _claim(inputs=["float32[3]", "float32[3]"]), "are not those of its programs"),
    "other inputs of any sizes": ("any sizes", _claim(inputs=["float16[b,d]"]), "are not those of its programs"),
    "a name of two lines": ("certified", _claim(left="a\nb"), "no readable text"),
    "a name that rings": ("certified", _claim(left="\x1b[2Ja"), "no readable text"),
    "a name that is none": ("certified", _claim(right=None), "no readable text"),
    "no name": ("certified", _drop("left", lambda body: body["claim"]), "has not the fields"),
    "evidence of almost everywhere": (
        "certified",
        lambda body: _figures(body).update(almost_everywhere=True),
        "its evidence is about almost everywhere",
    ),
    "equal elsewhere": (
        "refuted",
        lambda body: body["evidence"][0].update(
            figures={"fields": "", "almost_everywhere": {"log2_error": -200.0, "theorem": True}}
        ),
        "which is not found again",
    ),
    "more in the claim": ("certified", _claim(extra=1), "has not the fields"),
    "another id": ("certified", _ledger_claim("equivalent"), "unknown claim 'equivalent'"),
    "an id that is no text": ("certified", _ledger_claim([1, 2]), "unknown claim '[1, 2]'"),
    "an id that is null": ("certified", _ledger_claim(None), "unknown claim 'None'"),
    "no id": ("certified", _drop("id", lambda body: body["claim"]), "settings are damaged"),
    "a claim of the ledger": ("refuted", _ledger_claim("lemma-1"), "lemma-1: the certificate says REFUTED"),
    "a claim of the ledger, with these settings": ("certified", _claim(id="lemma-1"), "settings are damaged"),
    # JSON that is legal, and hostile.
    "a deep list": ("certified", _settings(extra=_nested(300)), "nested too deeply"),
    "a deep claim": ("certified", _claim(programs=_nested(80)), "nested too deeply"),
    "a deep parameter": ("certified", lambda body: _equations(body)[0][1].update(y=_nested(30)), "nested more than"),
    "a huge dimension": (
        "certified",
        lambda body: _pair(body)["left"]["jaxprs"][0]["inputs"].append(["float32", [10**300]]),
        "damaged",
    ),
    "a huge array": (
        "certified",
        lambda body: _pair(body)["left"]["jaxprs"][0]["inputs"].append(["float32", [2**26] * 2]),
        "damaged",
    ),
    "a version of two lines": ("certified", lambda body: body.update(version="1\n2"), "has schema version 1 2"),
    "a field of two lines": ("certified", lambda body: body.update({"x\ny": 1}), "superfluous fields x y"),
    "a field of the evidence": (
        "certified",
        lambda body: body["evidence"][0].update({"x\ny": 1}),
        "unexpected keyword argument",
    ),
    "evidence of numbers": ("certified", lambda body: body.update(evidence=[1]), "damaged"),
    "a long claim": ("certified", lambda body: body.update(claim=["\n"] * 9999), "claim is "),
}


def _refused(path):
    """The error of a file, of one line."""
    with pytest.raises((InputError, MismatchError)) as error:
        uj.recheck(path)
    assert type(error.value) in (InputError, MismatchError)
    assert str(error.value).isprintable() and len(str(error.value)) < 600
    return str(error.value)


@pytest.fixture(scope="module")
def found_again(bodies, tmp_path_factory):
    """The verdict that is found again from a file as it is written, which many of those tampered with begin from."""
    path = tmp_path_factory.mktemp("written") / "c.json"

    @functools.cache
    def verdict(name):
        path.write_text(json.dumps(bodies[name]))
        return uj.recheck(path).verdict

    return verdict


@pytest.mark.parametrize("case", TAMPERED)
def test_a_tampered_file_is_refused_in_one_line(case, bodies, found_again, tmp_path):
    name, change, message = TAMPERED[case]
    body = copy.deepcopy(bodies[name])
    path = tmp_path / "c.json"
    assert found_again(name) == body["verdict"]
    change(body)
    path.write_text(json.dumps(body))
    assert message in _refused(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"version": 1' + "0" * 5000 + "}", "is not JSON"),
        ("\ud800".encode("utf-8", "surrogatepass"), "is not JSON"),
        ("", "is not JSON"),
        ("NaN", "NaN is no number of JSON"),
        ('{"version": 5, "version": 5}', "a key stands twice"),
        ('{"version": 1e999}', "1e999 is no finite number"),
        ('{"version": 1' + "0" * 100 + "}", "more than 100 digits"),
    ],
)
def test_a_file_that_json_does_not_bear(text, message, tmp_path):
    path = tmp_path / "c.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert message in _refused(path)


def test_a_name_that_cannot_be_a_file():
    with pytest.raises(InputError, match="null byte"):
        uj.recheck("a\0b")


def test_another_seed_that_is_none(certificates):
    seeds: list[Any] = [-1, 2**31, 0.5, "1", True]
    for seed in seeds:
        with pytest.raises(InputError, match="got seed="):
            uj.recheck(certificates["certified"], seed=seed)


def test_a_counterexample_at_a_pole_is_refused():
    certificate = uj.certify(lambda x: 1 / x, lambda x: 2 / x, V)
    assert uj.recheck(certificate).verdict is uj.Verdict.REFUTED
    with pytest.raises(MismatchError, match="no exact values at the counterexample"):
        uj.recheck(_moved(certificate, [0.0, 0.0, 0.0]))


def _moved(certificate, values, **changes):
    """The certificate with its counterexample at another input."""
    (evidence,) = certificate.evidence
    inputs = (dataclasses.replace(evidence.example.inputs[0], values=values),)
    example = dataclasses.replace(evidence.example, inputs=inputs, **changes)
    return dataclasses.replace(certificate, evidence=(dataclasses.replace(evidence, example=example),))


def test_a_moved_counterexample_is_refused_where_both_agree():
    """x² and |x| agree at −1, 0 and 1, and at 2 they do not."""
    certificate = uj.certify(lambda x: x * x, jnp.abs, V)
    assert certificate.verdict is uj.Verdict.REFUTED
    for values, agree in (([1.0, 0.0, -1.0], True), ([2.0, 2.0, 2.0], False)):
        moved = _moved(certificate, values, exact=("4.00000000000000", "2.00000000000000"))
        if agree:
            with pytest.raises(MismatchError, match="both programs have the same value"):
                uj.recheck(moved)
        else:
            assert uj.recheck(moved).verdict is uj.Verdict.REFUTED


# --- random damage --------------------------------------------------------------------------------------------------

VALUES = [
    *(None, True, -1, 0, 1, 2, 2**70, 0.5, math.nan, -math.inf, "", "x\ny", [], {}, [[]], {"a": 1}, [0], [3]),
    *("float32", "int32", "AACAfw==", "AADAfw==", "mul", "div", "log", "sqrt", "while", ["float32", [3]]),
    ["float32", [], "AADAfw=="],
]
"""Among them infinity and NaN as entries, and primitives that are known."""


def _places(value, path=()):
    """The path of every value in a file."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield from _places(child, (*path, key))


def _put(body, path, value):
    for key in path[:-1]:
        body = body[key]
    body[path[-1]] = value


def _damaged(body, places, random):
    """The file with a random value at one of the places."""
    body, path = copy.deepcopy(body), places[random.integers(len(places))]
    value = VALUES[random.integers(len(VALUES))]
    print(f"{list(path)} is {value!r}")
    _put(body, path, value)
    return body


def _refused_or_accepted(body, path):
    """One error of one line, or the certificate found."""
    path.write_text(json.dumps(body))
    try:
        return uj.recheck(path)
    except (InputError, MismatchError) as error:
        assert str(error).isprintable(), error
        return None


@pytest.mark.parametrize("name", ["certified", "refuted", "any sizes", "unknown"])
def test_random_damage_is_never_another_error(name, bodies, tmp_path, seed=0, count=60):
    """A value anywhere is replaced by another one: a file that is still accepted has kept its verdict."""
    print(f"seed {seed}")
    random = np.random.default_rng((seed, len(name)))
    places = list(_places(bodies[name]))[1:]
    for _ in range(count):
        found = _refused_or_accepted(_damaged(bodies[name], places, random), tmp_path / "c.json")
        assert found is None or found.verdict == bodies[name]["verdict"]


@pytest.mark.parametrize("name", ["with exponentials", "refuted", "derivatives", "agrees"])
def test_random_programs_are_never_another_error(name, bodies, tmp_path, seed=0, count=150):
    """Values in the programs are replaced, and the digests adapted: what is accepted was decided anew."""
    print(f"seed {seed}")
    random = np.random.default_rng((seed, len(name)))
    inside = ("claim", "programs", 0, "left", "jaxprs"), ("claim", "programs", 0, "right", "jaxprs")
    places = [path for path in _places(bodies[name]) if path[:5] in inside and len(path) > 5]
    for _ in range(count):
        body = _damaged(bodies[name], places, random)
        if all(_can_be_digested(_pair(body)[side]) for side in ("left", "right")):
            _with_digest(lambda body: None)(body)
        found = _refused_or_accepted(body, tmp_path / "c.json")
        assert found is None or found.verdict == body["verdict"]


def _can_be_digested(program):
    """NaN has no place in a digest."""
    return all(not isinstance(x, float) or math.isfinite(x) for x in jax.tree.leaves(program["jaxprs"]))


# --- nothing is executed --------------------------------------------------------------------------------------------


def test_nothing_is_imported_or_called_back(bodies, tmp_path, monkeypatch):
    """The names in the file are those of a module that would leave a trace, and its programs call back to Python."""
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    bound = []
    monkeypatch.setattr(jax, "pure_callback", lambda *_, **__: bound.append("pure_callback"))
    before = set(sys.modules)
    for change in (lambda body: None, _primitive("pure_callback"), _primitive("debug_callback")):
        body = copy.deepcopy(bodies["certified"])
        body["claim"].update(left="trap:f", right="trap:g")
        _with_digest(change)(body)
        (tmp_path / "c.json").write_text(json.dumps(body))
        try:
            uj.recheck(tmp_path / "c.json")
        except InputError as error:
            assert "unknown primitive" in str(error)
    imported = {name for name in set(sys.modules) - before if not name.startswith(("jax.", "jaxlib."))}
    assert imported == set() and bound == []
    assert importlib.util.find_spec("trap") is not None


# --- the checks are switched on -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "case"),
    [
        ("_check_verdict", "passes flipped"),
        ("_check_rounds", "error lowered"),
        ("_check_round", "no prime"),
        ("check_counterexample", "between the dtype's numbers"),
        ("_check_claim", "a name of two lines"),
        ("_check_ties", "equal elsewhere"),
        ("_check_types", "other inputs"),
    ],
)
def test_without_its_check_a_tampered_file_is_accepted(check, case, bodies, tmp_path, monkeypatch):
    """So that each of these files is refused for its own reason, and not for another one."""
    name, change, _ = TAMPERED[case]
    body = copy.deepcopy(bodies[name])
    change(body)
    (tmp_path / "c.json").write_text(json.dumps(body))
    _refused(tmp_path / "c.json")
    monkeypatch.setattr(recheck, check, lambda *_: None)
    assert uj.recheck(tmp_path / "c.json").verdict == body["verdict"]
