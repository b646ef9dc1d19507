"""Functions of token ids that differ at a text are not certified; the text is run on the device."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from pairs.hostile_texts import ATTACKS, TABLE, TRUE, V, hot, text

import uat_jax as uj
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import InputError, MismatchError
from uat_jax.interpret.jaxpr_file import digest

pytestmark = pytest.mark.usefixtures("standard_promotion")

PASSING = (Verdict.PROVED, Verdict.CERTIFIED)


@pytest.mark.parametrize("attack", one_in(16, ATTACKS), ids=lambda attack: attack.name)
def test_the_sides_of_an_attack_differ_at_its_text(attack):
    left, right = (np.asarray(f(*attack.inputs()), np.float64) for f in (attack.left, attack.right))
    assert left.shape == right.shape
    assert not np.allclose(left, right, rtol=1e-4, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("attack", one_in(16, ATTACKS), ids=lambda attack: attack.name)
def test_an_attack_is_not_certified(attack):
    found = uj.certify(attack.left, attack.right, *attack.specs, budget=20.0)
    assert found.verdict not in PASSING, found


@pytest.mark.parametrize("name", one_in(3, TRUE))
def test_what_is_equal_for_every_text_is_certified(name):
    left, right, *specs = TRUE[name]
    found = uj.certify(left, right, *specs, budget=120.0)
    assert found.verdict in PASSING, found


def written(left, right, *specs, verdicts, path):
    """The data of a certificate with one of these verdicts."""
    found = uj.certify(left, right, *specs, budget=120.0)
    assert found.verdict in verdicts, found
    return json.loads(found.save(path).read_text())


def again(body, path):
    """What a recheck says of data."""
    path.write_text(json.dumps(body))
    return uj.recheck(uj.load(path))


def last_but_one(t, i):
    """Rows of all words but the last, which is the one before."""
    return t[jnp.minimum(i, V - 2)]


def test_a_wider_range_is_not_taken_from_a_certificate(tmp_path):
    path = tmp_path / "c.json"
    body = written(lambda t, i: t[i], last_but_one, TABLE, text(high=V - 2), verdicts=[Verdict.PROVED], path=path)
    assert again(body, path).passes
    wide = json.dumps(body)
    for before in (f'"high": {V - 2}', f"to {V - 2}", f"0, {V - 2}]"):
        wide = wide.replace(before, before.replace(str(V - 2), str(V - 1)))
        with pytest.raises((InputError, MismatchError)):
            again(json.loads(wide), path)
    with pytest.raises(MismatchError, match="decided again it is REFUTED"):
        again(json.loads(wide), path)


def of_order(t, i):
    """A row chosen by a comparison."""
    return jnp.where(i[0] < i[1], t[i[0]], t[i[1]])


CHANGED = {
    "a case is dropped": (of_order, lambda t, i: t[jnp.minimum(i[0], i[1])], lambda t, i: t[i[0]]),
    "an end is moved": (
        lambda t, i: t[i[0]],
        lambda t, i: t[jnp.minimum(i[0], V - 1)],
        lambda t, i: t[jnp.minimum(i[0], V - 2)],
    ),
    "a mode is changed": (
        lambda t, i: t[i[0]],
        lambda t, i: jnp.take(t, i[0], axis=0, mode="clip"),
        lambda t, i: t[i[0] * (i[0] != 9)],
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_another_program_in_a_certificate_is_decided_again(name, tmp_path):
    left, right, wrong = CHANGED[name]
    path = tmp_path / "c.json"
    body = written(left, right, TABLE, text(), verdicts=PASSING, path=path)
    assert body["passes"]
    other = written(left, wrong, TABLE, text(), verdicts=[Verdict.REFUTED], path=path)
    pair, its = body["claim"]["programs"][0], other["claim"]["programs"][0]
    pair["right"] = its["right"]
    with pytest.raises(MismatchError, match="digest"):
        again(body, path)
    pair["right_digest"] = digest(pair["right"])
    with pytest.raises(MismatchError):
        again(body, path)


def test_a_text_at_which_a_function_is_undefined_refutes_nothing(tmp_path):
    path = tmp_path / "c.json"
    specs = (TABLE, text())
    body = written(
        lambda t, i: hot(i) @ jnp.log(t), lambda t, i: 2 * jnp.log(t)[i], *specs, verdicts=[Verdict.REFUTED], path=path
    )
    assert again(body, path).verdict is Verdict.REFUTED
    (example,) = (e["example"] for e in body["evidence"] if e.get("example"))
    table, words = (np.asarray(x["values"]) for x in example["inputs"])
    table[[v for v in range(V) if v not in words]] = 0.0
    example["inputs"][0]["values"] = table.tolist()
    with pytest.raises(MismatchError):
        again(body, path)
