"""Certificates of scans and closed forms are decided again from the file alone, and forged ones are refused."""

import copy
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax.core import ShapedArray
from loops import ONE, ZERO, F, f32
from test_prove_scan import FALSE, TRUE

import uat_jax as uj
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import InputError, UatJaxError
from uat_jax.interpret.jaxpr_file import digest, encode
from uat_jax.interpret.jaxpr_values import encode_array

DISCOUNTED = TRUE["advantages"]
"""An initial carry that stands for any number, and a positive parameter."""
WEIGHTED = TRUE["weighted by the number of the step"]
"""An initial carry of which the values count."""


def written(claim):
    return json.loads(uj.prove_scan(*claim).to_json())


@pytest.fixture(scope="module")
def discounted():
    return written(DISCOUNTED)


@pytest.fixture(scope="module")
def weighted():
    return written(WEIGHTED)


@pytest.fixture(scope="module")
def refuted():
    return written(FALSE["without the initial carry"])


def rechecked(body, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(body))
    return uj.recheck(uj.load(path))


@pytest.mark.parametrize("name", one_in(3, TRUE))
def test_true_closed_forms_are_proved_again(name, tmp_path):
    certificate = uj.prove_scan(*TRUE[name])
    found = rechecked(json.loads(certificate.to_json()), tmp_path)
    assert (found.verdict, set(found.assumptions)) == (certificate.verdict, set(certificate.assumptions))
    assert found.settings["seed"] == certificate.settings["seed"] + 1
    assert rechecked(json.loads(found.to_json()), tmp_path).passes


@pytest.mark.parametrize("name", one_in(3, FALSE))
def test_false_closed_forms_are_refuted_again(name, tmp_path):
    body = written(FALSE[name])
    found = rechecked(body, tmp_path)
    assert found.verdict is Verdict.REFUTED and found.counterexample
    assert rechecked(json.loads(found.to_json()), tmp_path).verdict is Verdict.REFUTED


def test_a_claim_says_what_is_fixed(discounted, weighted):
    about = lambda body: [(a["kind"], a["about"]) for a in body["assumptions"]]
    assert ("domain", {"position": 2, "name": "input 2", "domain": " > 0"}) in about(discounted)
    assert [a for a in about(weighted) if a[0] == "initial carry"] == [
        ("initial carry", {"position": 0}),
        ("initial carry", {"position": 1}),
    ]
    assert discounted["claim"]["inputs"] == ["float32[]", "float32[t]", "float32[] > 0"]


def test_whole_parameters_are_fixed_to_their_values(tmp_path):
    step = lambda c, x, k: (c + x * k.astype(F), None)
    closed = lambda c, x, k: c + k.astype(F) * x.sum()
    certificate = uj.prove_scan(step, closed, f32(), f32(4), np.int32(3))
    assert "fixed input" in [a.kind for a in certificate.assumptions]
    assert rechecked(json.loads(certificate.to_json()), tmp_path).passes


# Forgeries


def programs(body):
    return body["claim"]["programs"]


def equation(body, side, name):
    return next(e for jaxpr in programs(body)[side]["jaxprs"] for e in jaxpr["equations"] if e[0] == name)


def renewed(body):
    for side in ("step", "closed_form"):
        programs(body)[f"{side}_digest"] = digest(programs(body)[side])


def operation(side, old, new, *, fitting=True):
    def change(body):
        equation(body, side, old)[0] = new
        if fitting:
            renewed(body)

    return change


def another(side, function, *shapes):
    """Another program, with a digest that fits."""

    def change(body):
        (t,) = jax.export.symbolic_shape("t")
        specs = [jax.ShapeDtypeStruct(tuple(t if n == "t" else n for n in shape), F) for shape in shapes]
        programs(body)[side] = json.loads(json.dumps(encode(jax.make_jaxpr(function)(*specs))))
        renewed(body)

    return change


def closed(function):
    return another("closed_form", function, (), ("t",), ())


def text(old, new):
    """Another text everywhere in the closed form."""

    def change(body):
        side = json.dumps(programs(body)["closed_form"]).replace(json.dumps(old), json.dumps(new))
        programs(body)["closed_form"] = json.loads(side)
        renewed(body)

    return change


def claim(**changes):
    return lambda body: body["claim"].update(changes)


def evidence(**changes):
    return lambda body: body["evidence"][0].update(changes)


def figures(**changes):
    return lambda body: body["evidence"][0]["figures"].update(changes)


def both(*forgeries):
    return lambda body: [forge(body) for forge in forgeries]


def verdict(word):
    return both(lambda body: body.update(verdict=word), evidence(verdict=word))


def without_assumption(kind, *, in_evidence=True):
    def change(body):
        for part in [body, *body["evidence"]] if in_evidence else [body]:
            part["assumptions"] = [a for a in part["assumptions"] if a["kind"] != kind]

    return change


def fewer_pieces(body):
    body["evidence"][0]["figures"]["pieces"].pop()


def without_output(body):
    for side in ("step", "closed_form"):
        programs(body)[side]["jaxprs"][-1]["outputs"].pop()
    renewed(body)


def initial(*arrays):
    of = lambda x: None if x is None else encode_array(x, ShapedArray((), np.dtype(F)))
    return lambda body: programs(body).update(initial=[of(x) for x in arrays])


exactly = lambda c, x, g: DISCOUNTED[1](c, x, g)

FORGED = {
    "no programs": (lambda body: body["claim"].pop("programs"), "holds no programs"),
    "programs that are missing": (claim(programs={"missing": "too long"}), "too long"),
    "programs of another kind": (claim(programs=[]), "damaged"),
    "another field": (lambda body: programs(body).update(constraints=["t >= 5"]), "have not the fields"),
    "another field of the claim": (claim(sizes_listed=True), "has not the fields"),
    "no digest": (lambda body: programs(body).pop("step_digest"), "have not the fields"),
    "another step, the old digest": (operation("step", "add", "sub", fitting=False), "'step' is not the one"),
    "another closed form, the old digest": (operation("closed_form", "dot_general", "add", fitting=False), "damaged"),
    "another digest": (lambda body: programs(body).update(closed_form_digest="0" * 64), "is not the one whose digest"),
    "another step": (operation("step", "add", "sub"), "decided again it is REFUTED"),
    "another closed form": (operation("closed_form", "sub", "add"), "decided again it is REFUTED"),
    "programs exchanged": (
        lambda body: programs(body).update(step=programs(body)["closed_form"], closed_form=programs(body)["step"]),
        "damaged",
    ),
    "a closed form of one step more": (closed(lambda c, x, g: exactly(c, x, g) * g), "decided again it is REFUTED"),
    "a closed form for another t": (text("t", "t + 1"), "the certificate"),
    "another t inside": (text("t - 1", "t - 2"), "decided again it is"),
    "a t of another name": (text("t", "s"), "are not those of its programs"),
    "a closed form that floats do not tell": (
        closed(lambda c, x, g: exactly(c, x, g) + F(1e-30) * jnp.max(x)),
        "decided again it is",
    ),
    "a closed form that differs after a hundred steps": (
        closed(lambda c, x, g: exactly(c, x, g) + jnp.maximum(jnp.sum(0 * x + 1) - 100, 0)),
        "decided again it is UNKNOWN",
    ),
    "a base that is one number": (initial(ONE), "the assumptions of the certificate"),
    "a base without its array": (initial(), "between the initial carry"),
    "a base of two arrays": (initial(None, None), "an axis of steps"),
    "a parameter of any sign": (
        both(claim(inputs=["float32[]", "float32[t]", "float32[]"]), without_assumption("domain")),
        "decided again it is",
    ),
    "a domain that no assumption states": (without_assumption("domain"), "the assumptions of the certificate"),
    "a domain more": (claim(inputs=["float32[] > 0", "float32[t]", "float32[] > 0"]), "the assumptions of"),
    "rows of a known number": (claim(inputs=["float32[]", "float32[4]", "float32[] > 0"]), "between the initial carry"),
    "rows behind the parameters": (claim(inputs=["float32[]", "float32[] > 0", "float32[t]"]), "between the initial"),
    "rows of whole numbers": (claim(inputs=["float32[]", "int32[t] in [0, 3]", "float32[] > 0"]), "the certificate"),
    "another symbol": (claim(symbols=["n"]), "another symbol"),
    "names that are no text": (claim(left="\x1b[2J"), "no readable text"),
    "PROVED": (verdict("PROVED"), "decided again it is CERTIFIED"),
    "UNKNOWN": (both(verdict("UNKNOWN"), lambda body: body.update(passes=False)), "decided again it is CERTIFIED"),
    "REFUTED": (both(verdict("REFUTED"), lambda body: body.update(passes=False)), "the certificate"),
    "the word alone": (lambda body: body.update(verdict="PROVED"), "not what its evidence says: CERTIFIED"),
    "a smaller chance of error": (figures(log2_error=-900.0), "the chance of error"),
    "a smaller error asked for": (lambda body: body["settings"].update(error=1e-200), "the chance of error"),
    "without the step": (fewer_pieces, "the certificate"),
    "an assumption left out": (without_assumption("symbolic sizes"), "assumes what the certificate does not"),
    "an assumption left out of the list": (
        without_assumption("symbolic sizes", in_evidence=False),
        "the assumptions of the certificate",
    ),
    "another method": (evidence(method="prime fields"), "is no induction"),
    "about one size": (evidence(subject="t = 3"), "is no induction about every number"),
    "evidence twice": (lambda body: body["evidence"].append(body["evidence"][0]), "is not one finding"),
    "no evidence": (lambda body: body.update(evidence=[]), "the certificate"),
    "a certificate of two functions": (claim(id="equivalence"), "the certificate"),
}


def refused(body, forgery, tmp_path):
    forge, said = forgery
    changed = copy.deepcopy(body)
    forge(changed)
    with pytest.raises(UatJaxError) as error:
        rechecked(changed, tmp_path)
    assert said in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("name", FORGED)
def test_forged_files_are_refused_in_one_line(name, discounted, tmp_path):
    refused(discounted, FORGED[name], tmp_path)


FORGED_BASE = {
    "another base": (initial(ZERO, ONE), "decided again it is REFUTED"),
    "a base that is no number": (initial(ZERO, F(np.nan)), "decided again it is"),
    "a base for any number": (initial(ZERO, None), "the assumptions of the certificate"),
    "a base for any number, as assumed": (
        both(initial(None, None), without_assumption("initial carry")),
        "decided again it is REFUTED",
    ),
    "an output dropped": (without_output, "do not return the carry"),
    "an output twice": (
        both(lambda body: programs(body)["step"]["jaxprs"][-1].update(outputs=[4, 4]), renewed),
        "decided again it is REFUTED",
    ),
    "a base of another type": (
        lambda body: programs(body)["initial"].__setitem__(0, encode_array(np.zeros(2, F), np.zeros(2, F))),
        "is not of the types",
    ),
    "a base with an axis of steps": (claim(inputs=["float32[t]", "float32[]", "float32[t]"]), "axis of steps"),
}


@pytest.mark.parametrize("name", FORGED_BASE)
def test_forged_bases_are_refused_in_one_line(name, weighted, tmp_path):
    refused(weighted, FORGED_BASE[name], tmp_path)


def example(**changes):
    return lambda body: body["evidence"][0]["example"].update(changes)


def value(number):
    return lambda body: body["evidence"][0]["example"]["inputs"][0].update(values=number)


FORGED_EXAMPLES = {
    "no counterexample": (evidence(example=None), "a counterexample if it says REFUTED"),
    "another number of steps": (example(sizes={"t": 4}), "not after 1, 2, 3, 5 steps"),
    "steps that do not fit": (example(sizes={"t": 2}), "does not fit"),
    "another size": (example(sizes={"n": 1}), "not after"),
    "an input at which both are equal": (value(0.0), "the certificate"),
    "other values": (example(exact=["2", "0"]), "the values at the counterexample"),
    "another output": (example(output=1), "the certificate"),
    "an input fewer": (lambda body: body["evidence"][0]["example"]["inputs"].pop(), "the certificate"),
    "CERTIFIED": (both(verdict("CERTIFIED"), lambda body: body.update(passes=True)), "the certificate"),
    "a true closed form": (another("closed_form", lambda c, x: c + x.sum(), (), ("t",)), "the certificate"),
}


@pytest.mark.parametrize("name", FORGED_EXAMPLES)
def test_forged_counterexamples_are_refused_in_one_line(name, refuted, tmp_path):
    refused(refuted, FORGED_EXAMPLES[name], tmp_path)


@pytest.mark.parametrize("kind", ["complex64", "float32[] of keys"])
def test_variables_that_are_no_floats_are_refused_at_once(kind):
    spec = jax.ShapeDtypeStruct((), jnp.complex64) if kind == "complex64" else jax.eval_shape(jax.random.key, 0)
    step = lambda c, x, p: (c + x, None)
    with pytest.raises(InputError, match="among xs and parameters; pass floats"):
        uj.prove_scan(step, lambda c, x, p: c + x.sum(), f32(), f32(4), spec)
