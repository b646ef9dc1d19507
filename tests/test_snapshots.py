"""Snapshots: functions are compared with what they computed when these were taken; other files are refused."""

import collections
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_pytest_plugin import run, run_apart

import uat_jax as uj
from uat_jax import cli
from uat_jax.decide.specification import snapshot_of
from uat_jax.errors import InputError
from uat_jax.inputs.snapshot import read_snapshot

X, W = jax.ShapeDtypeStruct((3, 4), jnp.float32), jax.ShapeDtypeStruct((4, 5), jnp.float32)
IDS = jax.ShapeDtypeStruct((3,), jnp.int32)

KEPT = Path(__file__).parent / "snapshots" / "model.snapshot.json"
"""What `model` computed when JAX was 0.10, written by `snapshot_of`."""


def model(weights, x):
    """A layer with a choice, a loop and a derivative in it, and outputs in several containers."""
    hidden = jnp.tanh(jnp.matmul(x, weights["w"], precision="highest"))
    total, steps = jax.lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(5), hidden)
    slope = jax.grad(lambda z: jax.nn.silu(z).sum())(hidden)
    return {"hidden": hidden, "more": [jnp.where(total > 0, total, 0.0), (steps, slope)]}


def rewritten(weights, x):
    hidden = jnp.tanh(jnp.einsum("ij,jk->ik", x, weights["w"], precision="highest"))
    before = jnp.cumsum(hidden, 0) - hidden
    s = 1 / (1 + jnp.exp(-hidden))
    slope = s + hidden * s * (1 - s)
    return {"hidden": hidden, "more": [jax.nn.relu(hidden.sum(0)), (before * hidden, slope)]}


def changed(weights, x):
    return rewritten(weights, x * np.float32(1 + 2.0**-20))


SPECS = ({"w": W}, X)


def test_a_refactoring_passes_and_a_change_is_refuted_also_against_a_file_of_another_version_of_jax():
    program = read_snapshot(KEPT)
    assert program.specs == SPECS
    for function in (model, rewritten):
        assert uj.certify(program, function, *SPECS).passes
    assert uj.certify(program, rewritten).passes  # the file says what the inputs are
    assert uj.certify(program, changed, *SPECS).verdict is uj.Verdict.REFUTED


def test_the_text_of_a_snapshot_depends_on_the_program_alone():
    text = snapshot_of(model, SPECS)
    assert text == snapshot_of(lambda weights, x: model(weights, x), SPECS) != snapshot_of(rewritten, SPECS)
    assert jax.__version__ not in text and ".py" not in text
    read = read_snapshot
    values = {"w": jnp.ones((4, 5)) / 8}, jnp.arange(12.0).reshape(3, 4)
    kept, now = read(KEPT)(*values), model(*values)
    assert jax.tree.structure(kept) == jax.tree.structure(now)
    for a, b in zip(jax.tree.leaves(kept), jax.tree.leaves(now), strict=True):
        np.testing.assert_allclose(a, b, rtol=2.0**-20)  # a few roundings of float32, compiled otherwise


def test_integers_with_values_and_other_containers(tmp_path):
    path, rows = tmp_path / "f.snapshot.json", np.array([2, 0], np.int32)
    take = lambda x, i: x[i] * 2
    path.write_text(snapshot_of(take, (X, rows)))
    assert uj.certify(read_snapshot(path), lambda x, i: x[i] + x[i], X, rows).passes
    with pytest.raises(InputError, match="was taken with"):
        uj.certify(read_snapshot(path), take, X, np.array([2, 1], np.int32))
    with pytest.raises(InputError, match="was taken with"):
        uj.certify(read_snapshot(path), take, X, jax.ShapeDtypeStruct((2,), jnp.int32))
    path.write_text(snapshot_of(lambda i: i + 1, (IDS,)))
    assert uj.certify(read_snapshot(path), lambda i: i - (-1), IDS).passes
    assert not uj.certify(read_snapshot(path), lambda i: i, IDS).passes


def activated(x, name, power):
    return getattr(jnp, name)(x) ** power


FIXED = {
    "texts and numbers": (activated, (X, "tanh", 2), lambda x, name, power: jnp.tanh(x) * jnp.tanh(x), (X, "sinh", 2)),
    "integers of 64 bits": (
        lambda x, i: x[i] * 2,
        (X, np.array([2, 0])),
        lambda x, i: x[i] + x[i],
        (X, np.array([2, 1])),
    ),
    "a key": (
        lambda x, k: x + jax.random.normal(k, (3, 4)),
        (X, jax.random.key(0)),
        lambda x, k: jax.random.normal(k, (3, 4)) + x,
        (X, jax.random.key(1)),
    ),
}
"""A function, its arguments, the same function written otherwise, and arguments of which a fixed one is another."""


@pytest.mark.parametrize("name", FIXED)
def test_arguments_of_other_kinds_are_fixed_to_their_values(name, tmp_path):
    function, arguments, same, others = FIXED[name]
    path = tmp_path / "f.snapshot.json"
    path.write_text(snapshot_of(function, arguments))
    assert uj.certify(read_snapshot(path), same, *arguments).passes
    assert not uj.certify(read_snapshot(path), lambda *given: 2 * function(*given), *arguments).passes
    if name == "texts and numbers":  # they stand in the program alone
        assert uj.certify(read_snapshot(path), function, *others).verdict is uj.Verdict.REFUTED
    else:
        with pytest.raises(InputError, match="was taken with"):
            uj.certify(read_snapshot(path), function, *others)


def test_a_snapshot_of_what_can_be_no_argument_is_refused_in_one_line():
    with pytest.raises(InputError, match="input .* has dtype int4 and no values"):
        snapshot_of(lambda x, i: x, (X, jax.ShapeDtypeStruct((2,), jnp.int4)))


@pytest.mark.parametrize("specs", [(W, X), ({"w": X}, X), ({"v": W}, X), ({"w": W}, X, X)], ids=str)
def test_other_arguments_are_named(specs):
    with pytest.raises(InputError, match=r"model.snapshot.json was taken with float32\[4, 5\], float32\[3, 4\]"):
        uj.certify(read_snapshot(KEPT), lambda *arguments: model({"w": W}, X), *specs)


def edited(change):
    def write(path):
        data = json.loads(KEPT.read_text())
        change(data)
        path.write_text(json.dumps(data))

    return write


BAD = {
    "missing": (lambda path: None, "cannot read the snapshot"),
    "truncated": (lambda path: path.write_text(KEPT.read_text()[:900]), "is no snapshot"),
    "binary": (lambda path: path.write_bytes(b"\xff\xfe\x00"), "is no snapshot"),
    "a list": (lambda path: path.write_text("[]"), "its schema is not uat_jax/snapshot"),
    "deep": (lambda path: path.write_text("[" * 100_000), "is no snapshot"),
    "rather deep": (lambda path: path.write_text("[" * 70 + "]" * 70), "it is nested too deeply"),
    "a key twice": (lambda path: path.write_text('{"schema": 1, "schema": 2}'), "a key stands twice"),
    "a number that is none": (lambda path: path.write_text("[NaN]"), "NaN is no number of JSON"),
    "newer": (edited(lambda data: data.update(version=2)), "is of version 2, and this uat_jax reads 1"),
    "a field more": (edited(lambda data: data.update(more=1)), "it has not the fields"),
    "an input less": (edited(lambda data: data["inputs"].pop()), "is no snapshot"),
    "another dtype": (edited(lambda data: data["inputs"][0].__setitem__(0, "text")), "is no snapshot"),
    "an output less": (edited(lambda data: data["outputs"]["dict"].pop("hidden")), "is no snapshot"),
    "an unknown primitive": (
        edited(lambda data: data["jaxprs"][-1]["equations"][0].__setitem__(0, "system")),
        "system",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_snapshot_is_refused_in_one_line(name, tmp_path, capsys):
    write, message = BAD[name]
    path = tmp_path / "f.snapshot.json"
    write(path)
    with pytest.raises(InputError) as error:
        read_snapshot(path)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_the_command_reads_snapshots(capsys):
    assert cli.main(["certify", str(KEPT), "test_snapshots:rewritten"]) == 0
    assert "CERTIFIED" in capsys.readouterr().out
    assert cli.main(["certify", str(KEPT), "test_snapshots:changed"]) == 1
    out = capsys.readouterr().out
    assert "REFUTED" in out and f"left = uj.read_snapshot({str(KEPT)!r})" in out


def test_a_name_in_a_dict_is_no_container(tmp_path):
    """Arguments in a dict that calls one of them "leaves" are kept, and specs of a class of the user's are not."""
    path = tmp_path / "f.snapshot.json"
    path.write_text(snapshot_of(lambda d: d["leaves"], ({"leaves": X},)))
    assert read_snapshot(path).specs == ({"leaves": X},)
    path.write_text(snapshot_of(lambda d: d.a, (collections.namedtuple("Named", "a")(X),)))
    assert read_snapshot(path).specs == ()


USER = """
import jax, jax.numpy as jnp, pytest
X = jax.ShapeDtypeStruct((3,), jnp.float32)
def f(x):
    return jnp.exp(x) / jnp.exp(x).sum()
def test_f(unchanged):
    unchanged(f, X)
def test_two(unchanged):
    unchanged(jnp.sin, X)
    unchanged(jnp.cos, X)
class TestOther:
    def test_f(self, unchanged):
        unchanged(jnp.tan, X)
@pytest.mark.parametrize("k", ["a/b", "a-b"])
def test_named(k, unchanged):
    unchanged(jnp.sinh if k == "a/b" else jnp.cosh, X)
"""


def test_the_fixture_takes_compares_and_never_overwrites_unasked(tmp_path):
    found = run(tmp_path, test=USER)
    assert found.returncode == 1 and "run pytest --uat-update to take it" in found.stdout
    assert not (tmp_path / "snapshots").exists()
    assert run_apart(tmp_path, "--uat-update", "-p", "xdist", "-n", "2", test=USER).returncode == 0
    folder = tmp_path / "snapshots"
    before = {path: path.read_text() for path in folder.iterdir()}
    plain = ["test_user.test_f", "test_user.test_two", "test_user.test_two-2"]
    named = {path.name.removesuffix(".snapshot.json") for path in before}
    assert named.issuperset(plain) and len(named) == 6  # no two tests have one file
    assert run(tmp_path, test=USER).returncode == 0
    same = USER.replace("jnp.exp(x) / jnp.exp(x).sum()", "jax.nn.softmax(x)")
    assert run(tmp_path, test=same).returncode == 0
    other = USER.replace(".sum()", ".max()")
    found = run(tmp_path, test=other)
    assert found.returncode == 1 and "1 failed, 4 passed" in found.stdout
    assert "REFUTED" in found.stdout and "if the change is meant, run pytest --uat-update" in found.stdout
    assert before == {path: path.read_text() for path in folder.iterdir()}
    assert run(tmp_path, "--uat-update", test=other).returncode == 0
    assert [p.name for p, text in before.items() if p.read_text() != text] == ["test_user.test_f.snapshot.json"]
    assert run(tmp_path, test=other).returncode == 0


def test_derivatives_are_refused_in_one_line(tmp_path):
    test = USER.partition("def test_two")[0].replace("unchanged(f, X)", 'unchanged(f, X, wrt="grad")')
    found = run(tmp_path, "--uat-update", test=test)
    assert found.returncode == 1 and "got wrt for a snapshot, which keeps no rules of derivatives" in found.stdout
