"""Certificates for all sizes are decided again from the file alone, and forged ones are refused."""

import copy
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax.scipy.special import erf, erfc
from loops import running_softmax, running_softmax_again
from pairs.all_sizes import TRUE

import uat_jax as uj
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import InputError, UatJaxError
from uat_jax.interpret.jaxpr_file import digest, encode
from uat_jax.interpret.symbolic_sizes import at_sizes, in_scope, read, readable


def halves(x):
    """x, by a divisor that cancels and a window that is all of a short row."""
    window = jnp.sum(x[:2]) + jnp.sum(x[2:])
    return x * x / x + window


def whole(x):
    return x + jnp.sum(x)


@pytest.fixture(scope="module")
def body():
    scope = jax.export.SymbolicScope(["n >= 2", "mod(n, 2) == 0"])
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n", scope=scope), jnp.float32)
    certificate = uj.certify(halves, whole, spec)
    assert certificate.verdict is Verdict.PROVED and "all_sizes" in certificate.claim
    return json.loads(certificate.to_json())


def rechecked(body, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(body))
    return uj.recheck(uj.load(path))


def test_a_proof_is_found_again_from_the_file_alone(body, tmp_path):
    found = rechecked(body, tmp_path)
    assert found.verdict is Verdict.PROVED and found.passes
    assert json.loads(found.to_json())["evidence"] == body["evidence"]
    assert found.evidence[0].figures["divisors"]
    assert rechecked(json.loads(found.to_json()), tmp_path).passes


@pytest.mark.campaign
@pytest.mark.parametrize("row", one_in(1, TRUE), ids=lambda row: row.name)
def test_true_pairs_are_decided_again(row, tmp_path):
    certificate = uj.certify(row.left, row.right, *row.specs)
    if certificate.verdict is Verdict.PROVED:
        again = rechecked(json.loads(certificate.to_json()), tmp_path)
        assert again.evidence == certificate.evidence and set(again.assumptions) == set(certificate.assumptions)


WRITTEN_OTHERWISE = ("causal attention: masked_from_the_other_side", "feed-forward row by row", "size as a product")
"""Rows of which a file holds fewer steps (no copies), other integers as parameters, or fewer sizes than JAX wrote."""


@pytest.mark.parametrize("name", WRITTEN_OTHERWISE)
def test_what_a_file_writes_otherwise_changes_no_proof(name, tmp_path):
    (row,) = (row for row in TRUE if row.name == name)
    certificate = uj.certify(row.left, row.right, *row.specs)
    assert certificate.verdict is Verdict.PROVED
    assert rechecked(json.loads(certificate.to_json()), tmp_path).evidence == certificate.evidence


def sized(body):
    return body["claim"]["all_sizes"]


def equations(program, name):
    found = [e for jaxpr in program["jaxprs"] for e in jaxpr["equations"] if e[0] == name]
    assert found, name
    return found


def renewed(part):
    for side in ("left", "right"):
        part[f"{side}_digest"] = digest(part[side])


def other_operation(parts, side="right", old="add", new="sub"):
    """Another operation in some programs, with digests that fit."""

    def change(body):
        for part in parts(body):
            equations(part[side], old)[-1][0] = new
            renewed(part)

    return change


def with_all(**changes):
    return lambda body: sized(body).update(changes)


def shape_of_input(text):
    def change(body):
        for side in ("left", "right"):
            sized(body)[side]["jaxprs"][-1]["inputs"][0][1] = [text]
        renewed(sized(body))

    return change


def evidence(**changes):
    return lambda body: body["evidence"][0].update(changes)


def figures(**changes):
    return lambda body: body["evidence"][0]["figures"].update(changes)


def everywhere(body):
    return [sized(body), *body["claim"]["programs"]]


def other_programs(body):
    """Both programs at all sizes are that of the right side, those at some sizes are as they were."""
    sized(body)["left"] = copy.deepcopy(sized(body)["right"])
    renewed(sized(body))


def other_constraints(*constraints):
    def change(body):
        sized(body)["constraints"] = list(constraints)

    return change


FORGED = {
    "no programs": (lambda body: body["claim"].pop("all_sizes"), "holds no programs with symbolic dimensions"),
    "programs that are missing": (lambda body: body["claim"].update(all_sizes={"missing": "too long"}), "too long"),
    "another field": (with_all(more=1), "have not the fields"),
    "no digest": (lambda body: sized(body).pop("left_digest"), "have not the fields"),
    "another digest": (with_all(left_digest="0" * 64), "not the one whose digest"),
    "another operation, the old digest": (
        lambda body: equations(sized(body)["right"], "add")[-1].__setitem__(0, "sub"),
        "not the one whose digest",
    ),
    "another operation at all sizes": (other_operation(lambda body: [sized(body)]), "not the one with symbolic"),
    "another operation at some sizes": (
        other_operation(lambda body: body["claim"]["programs"]),
        "not the one with symbolic",
    ),
    "another operation everywhere": (other_operation(everywhere), "decided again that is not found"),
    "one program twice": (other_programs, "not what is found again"),
    "divisors left out": (figures(divisors=[]), "the figures of the proof"),
    "cases left out": (figures(cases=["n >= 3"]), "the figures of the proof"),
    "another finding": (evidence(finding="equal at all sizes"), "the finding of the proof"),
    "no constraints": (other_constraints(), "the certificate"),
    "one constraint": (other_constraints("n >= 2"), "the certificate"),
    "more constraints": (other_constraints("n >= 2", "mod(n, 2) == 0", "n >= 100"), "do not fit n >= 100"),
    "a size that no input has, below 1": (
        other_constraints("n >= 2", "mod(n, 2) == 0", "D == n - 100"),
        "do not fit",
    ),
    "constraints that are none": (other_constraints("print(1) == 0"), "damaged"),
    "constraints of another kind": (other_constraints(3), "damaged"),
    "another length": (shape_of_input("2*n"), "the certificate"),
    "a length that is another size": (shape_of_input("m"), "the certificate"),
    "a length that is code": (shape_of_input("__import__('os')"), "damaged"),
    "a length without end": (shape_of_input("9^9^9^9^9"), "damaged"),
    "an input that is positive": (
        lambda body: body["claim"].update(inputs=["float32[n] > 0"]),
        "the certificate",
    ),
    "CERTIFIED": (lambda body: body.update(verdict="CERTIFIED"), "which is not what its evidence says"),
    "an axis more": (lambda body: sized(body)["right"]["jaxprs"][-1]["inputs"][0][1].append("n"), "JAX rejects it"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_files_are_refused_in_one_line(name, body, tmp_path):
    forge, said = FORGED[name]
    changed = copy.deepcopy(body)
    forge(changed)
    with pytest.raises(UatJaxError) as error:
        rechecked(changed, tmp_path)
    assert said in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["9^9", "n^99", "n^2^2", "(n)^9", "n" * 300, "n.x", "n[0]", "1.5", "12345678901", "n;m", "n==m", "é"]
)
def test_texts_that_are_no_dimensions(text):
    assert not readable(text)
    with in_scope(()), pytest.raises(InputError, match="damaged"):
        read(text)


def test_a_dimension_is_what_it_is_at_sizes():
    texts = {"2*n^2 + m": 21, "floordiv(n, 2) - 1": 0, "mod(n, 2)": 1, "max(n, m)": 3, "min(-n, m)": -3}
    assert all(map(readable, texts))
    with at_sizes({"n": 3, "m": 3}):
        assert {text: read(text) for text in texts} == texts
        with pytest.raises(InputError):
            read("k")


def test_programs_without_symbolic_dimensions_have_none(body, tmp_path):
    certificate = uj.certify(lambda x: x + x, lambda x: x * np.float32(2), jax.ShapeDtypeStruct((3,), jnp.float32))
    changed = json.loads(certificate.to_json())
    changed["claim"]["programs"][0]["left"]["jaxprs"][-1]["inputs"][0][1] = ["n"]
    with pytest.raises(UatJaxError, match="damaged"):
        rechecked(changed, tmp_path)


# Equality at a few sizes that shows equality at all


def complements(x):
    return jnp.sum(erfc(x))


def counted(x):
    return jnp.asarray(x.shape[0]).astype(jnp.float32) - jnp.sum(erf(x))


@pytest.fixture(scope="module")
def by_few():
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    certificate = uj.certify(complements, counted, spec)
    assert [e.method for e in certificate.evidence][-1] == "cut-off" and certificate.passes
    return json.loads(certificate.to_json())


def test_what_a_few_sizes_show_is_found_again_from_the_file_alone(by_few, tmp_path):
    found = rechecked(by_few, tmp_path)
    assert found.verdict is Verdict.CERTIFIED and found.passes
    assert json.loads(found.to_json())["evidence"][-1] == by_few["evidence"][-1]
    assert rechecked(json.loads(found.to_json()), tmp_path).passes


def last(**changes):
    return lambda body: body["evidence"][-1].update(changes)


def last_figures(**changes):
    return lambda body: body["evidence"][-1]["figures"].update(changes)


def without_size(n):
    """The programs and the evidence at one size left out."""

    def change(body):
        body["claim"]["programs"] = [p for p in body["claim"]["programs"] if p["sizes"] != {"n": n}]
        body["evidence"] = [e for e in body["evidence"] if e["subject"] != f"n = {n}"]

    return change


def left_at_all_sizes(body):
    """One program twice, with symbolic dimensions: an order that is too small, for a pair that it is not."""
    sized(body)["right"] = copy.deepcopy(sized(body)["left"])
    renewed(sized(body))


def at_all_sizes(function, *constraints, more=()):
    """Another program with symbolic dimensions on the right side, with a digest that fits."""

    def change(body):
        (n,) = jax.export.symbolic_shape("n", constraints=constraints)
        program = jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct((n, *shape), jnp.float32) for shape in ((), *more)))
        sized(body)["right"] = json.loads(json.dumps(encode(program)))
        renewed(sized(body))

    return change


def chosen_by_size(x):
    """What differs from the left side at sizes beyond those in the file alone."""
    rest = jnp.sum(jnp.where(jnp.arange(x.shape[0]) < 100, 0, x))
    return counted(x) + rest


FORGED_BY_FEW = {
    "no programs": (lambda body: body["claim"].pop("all_sizes"), "holds no programs with symbolic dimensions"),
    "another digest": (with_all(right_digest="0" * 64), "not the one whose digest"),
    "another operation at all sizes": (
        other_operation(lambda body: [sized(body)], old="sub", new="add"),
        "not the one",
    ),
    "another operation at some sizes": (
        other_operation(lambda body: body["claim"]["programs"], old="sub", new="add"),
        "not the one",
    ),
    "another operation everywhere": (other_operation(everywhere, old="sub", new="add"), "not found"),
    "a program that differs at long rows": (at_all_sizes(chosen_by_size), "not found"),
    "a program that floats do not tell": (
        at_all_sizes(lambda x: counted(x) + jnp.float32(1e-30) * jnp.sum(x)),
        "not found",
    ),
    "one program twice": (left_at_all_sizes, "is not what is found again"),
    "a constraint": (other_constraints("n >= 1"), "without constraints"),
    "a constraint that leaves sizes out": (other_constraints("n <= 2"), "do not fit"),
    "a size that is needed left out": (without_size(2), "is needed"),
    "a smaller order": (last_figures(order=0), "the figures of the proof"),
    "fewer sizes": (last_figures(sizes=["n = 1"]), "the figures of the proof"),
    "another finding": (last(finding="equal"), "the finding of the proof"),
    "PROVED": (last(verdict="PROVED"), "the certificate"),
    "another length": (shape_of_input("2*n"), "the certificate"),
    "sizes that are listed": (lambda body: body["claim"].update(sizes_listed=True), "the certificate"),
    "alone": (lambda body: body.update(evidence=body["evidence"][-1:]), "is not about its programs"),
    "first": (lambda body: body["evidence"].insert(0, body["evidence"].pop()), "does not state the sizes"),
    "about one size": (
        lambda body: body["evidence"].__setitem__(0, {**body["evidence"][-1], "subject": "n = 1"}),
        "the certificate",
    ),
    "almost everywhere": (lambda body: body["claim"].update(almost_everywhere=True), "equality everywhere"),
}


@pytest.mark.parametrize("name", FORGED_BY_FEW)
def test_forged_files_about_a_few_sizes_are_refused_in_one_line(name, by_few, tmp_path):
    forge, said = FORGED_BY_FEW[name]
    changed = copy.deepcopy(by_few)
    forge(changed)
    with pytest.raises(UatJaxError) as error:
        rechecked(changed, tmp_path)
    assert said in str(error.value) and "\n" not in str(error.value)


# Induction over the steps of loops of symbolic length


@pytest.fixture(scope="module")
def by_steps():
    (n,) = jax.export.symbolic_shape("n", constraints=["n >= 2"])
    specs = (jax.ShapeDtypeStruct((n,), jnp.float32), jax.ShapeDtypeStruct((n, 3), jnp.float32))
    certificate = uj.certify(running_softmax, running_softmax_again, *specs)
    assert [(e.method, e.subject) for e in certificate.evidence] == [("induction", "all sizes")] and certificate.passes
    assert certificate.evidence[0].finding.startswith("at all sizes with n >= 2: ")
    return json.loads(certificate.to_json())


def test_an_induction_is_found_again_from_the_file_alone(by_steps, tmp_path):
    found = rechecked(by_steps, tmp_path)
    assert (found.verdict, found.evidence[0].subject) == (Verdict.CERTIFIED, "all sizes")
    assert found.evidence[0].finding.startswith("at all sizes with n >= 2: ")
    assert rechecked(json.loads(found.to_json()), tmp_path).passes


def of_few_rows(x, v):
    """What differs from the right side at sizes beyond those in the file alone."""
    rows = (jnp.arange(x.shape[0]) < 100).astype(jnp.float32)
    return running_softmax_again(x, v * rows[:, None])


def of_a_little(x, v):
    """What differs by less than float64 values show."""
    return running_softmax_again(x, v) + jnp.float32(1e-30) * jnp.sum(v, axis=0)


FORGED_BY_STEPS = {
    "no programs": (lambda body: body["claim"].pop("all_sizes"), "holds no programs with symbolic dimensions"),
    "another digest": (with_all(left_digest="0" * 64), "not the one whose digest"),
    "another operation at all sizes": (
        other_operation(lambda body: [sized(body)], old="mul", new="add"),
        "not the one with symbolic",
    ),
    "another operation at some sizes": (
        other_operation(lambda body: body["claim"]["programs"], old="mul", new="add"),
        "not the one with symbolic",
    ),
    "another operation everywhere": (other_operation(everywhere, old="mul", new="add"), "not found"),
    "a program that differs at long rows": (at_all_sizes(of_few_rows, "n >= 2", more=[(3,)]), "not found"),
    "a program that floats do not tell": (at_all_sizes(of_a_little, "n >= 2", more=[(3,)]), "not found"),
    "more constraints": (other_constraints("n >= 100"), "do not fit n >= 100"),
    "sizes that the induction has not": (other_constraints("n <= 8"), "do not fit n <= 8"),
    "constraints that are none": (other_constraints("print(1) == 0"), "damaged"),
    "another length": (shape_of_input("2*n"), "the certificate"),
    "sizes that are listed": (lambda body: body["claim"].update(sizes_listed=True), "the certificate"),
    "PROVED": (
        lambda body: [body.update(verdict="PROVED"), body["evidence"][0].update(verdict="PROVED")],
        "decided again it is CERTIFIED",
    ),
    "a smaller chance of error": (figures(log2_error=-900.0), "the chance of error"),
    "an assumption left out": (
        lambda body: [part.update(assumptions=part["assumptions"][1:]) for part in (body, body["evidence"][0])],
        "the certificate",
    ),
    "by normal forms": (evidence(method="indexed normal form"), "the certificate"),
}


@pytest.mark.parametrize("name", one_in(3, FORGED_BY_STEPS))
def test_forged_files_about_loops_are_refused_in_one_line(name, by_steps, tmp_path):
    forge, said = FORGED_BY_STEPS[name]
    changed = copy.deepcopy(by_steps)
    forge(changed)
    with pytest.raises(UatJaxError) as error:
        rechecked(changed, tmp_path)
    assert said in str(error.value) and "\n" not in str(error.value)
