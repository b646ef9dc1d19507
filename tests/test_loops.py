"""Long loops compared step by step: what is one function is certified, what is none never is."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax
from loops import (
    DIFFERENT,
    EQUAL,
    HALF,
    ONE,
    ZERO,
    F,
    f32,
    last,
    layers,
    rows,
    running_softmax,
    running_softmax_again,
)
from random_loops import drawn, exact_values, program

import uat_jax as uj
from uat_jax.decide import loops_evidence
from uat_jax.decide.domain import EVERYWHERE
from uat_jax.decide.effort import Effort
from uat_jax.decide.loops.bisimulation import loops_compared
from uat_jax.decide.loops.rows import RowWise, row_of
from uat_jax.decide.specification import traced
from uat_jax.errors import InputError, MismatchError, UatJaxError

LOG2_ERROR = -128


def compared(left, right, specs):
    """The pieces of a proof without unrolling; raises where there is none."""
    return loops_compared(traced(left, specs)[0], traced(right, specs)[0], Effort(), EVERYWHERE).pieces


@pytest.mark.parametrize("name", one_in(8, EQUAL))
def test_equal(name):
    assert compared(*EQUAL[name][:2], EQUAL[name][2]).log2_error <= LOG2_ERROR


def test_a_loop_that_ends_by_floats_makes_an_unknown_number_of_steps():
    with pytest.raises(UatJaxError, match="after the loops: not equal"):
        compared(*DIFFERENT["while that counts twice"])


@pytest.mark.parametrize("step", [10, 23, 24])
def test_what_is_defined_nowhere_is_not_equal_to_anything(step):
    """A formula in which one step divides 0 by 0; with 24, none of the steps from 0 to 23 does."""
    one = lambda i: (i - step).astype(F) / (i - step).astype(F)
    left = lambda x: lax.fori_loop(0, 24, lambda i, c: c + x[i] * one(i), ZERO)
    right = lambda x: last(jnp.add, ZERO, x)
    if step == 24:
        assert compared(left, right, (f32(24),)).found
        return
    with pytest.raises(UatJaxError, match="no input is found at which both functions are defined"):
        compared(left, right, (f32(24),))


OUTSIDE = {
    "after the loop": lambda x, nothing: last(lambda c, r: jnp.tanh(c) + r, ZERO, x) + nothing(x.sum()),
    "on another output": lambda x, nothing: (last(lambda c, r: jnp.tanh(c) + r, ZERO, x), nothing(x[0])),
    "before the loop": lambda x, nothing: last(lambda c, r: jnp.tanh(c) + r, ZERO, x + nothing(x)),
    "in a carry": lambda x, nothing: last(lambda c, r: jnp.tanh(c) + r + nothing(c), ZERO, x),
    "in a row": lambda x, nothing: last(lambda c, r: jnp.tanh(c) + r + nothing(r), ZERO, x),
}
"""Where something is added to a loop that is 0 where it is defined."""


@pytest.mark.parametrize("where", one_in(2, OUTSIDE))
def test_what_is_undefined_everywhere_is_not_equal_to_anything(where):
    function = OUTSIDE[where]
    zero = lambda x: function(x, lambda s: 0 * s)
    with pytest.raises(UatJaxError):
        compared(zero, lambda x: function(x, lambda s: 0 * jnp.log(-1 - s * s)), (f32(24),))
    assert compared(zero, lambda x: function(x, lambda s: 0 * jnp.log(1 + s * s)), (f32(24),)).found


@pytest.mark.parametrize("name", one_in(13, DIFFERENT))
def test_different(name):
    with pytest.raises(UatJaxError):
        compared(*DIFFERENT[name][:2], DIFFERENT[name][2])


@pytest.mark.campaign
def test_the_table(capsys):
    """Every pair by `certify`, and how it was decided: pytest -m campaign -k the_table."""
    counts, wrong = {True: [0, 0], False: [0, 0]}, []
    for same, table in ((True, EQUAL), (False, DIFFERENT)):
        for name, (left, right, specs) in table.items():
            found = uj.certify(left, right, *specs, budget=60)
            counts[same][found.passes] += 1
            wrong += [name] * (found.passes is not same)
            with capsys.disabled():
                method = found.evidence[0].method
                print(f"{'=' if same else '≠'} {name:45s} {found.verdict:10s} {method}")
    with capsys.disabled():
        print(f"equal: {counts[True][1]} of {sum(counts[True])}; different and passed: {counts[False][1]} of "
              f"{sum(counts[False])}")  # fmt: skip
    assert not wrong


def test_the_tables_are_large_enough():
    assert len(EQUAL) >= 25 and len(DIFFERENT) >= 25


def _random(seeds):
    """How many random pairs that are equal are found to be so; none that is different may be."""
    found = []
    for seed in seeds:
        left, right = drawn(seed)
        same = exact_values(left, seed) == exact_values(right, seed)
        try:
            compared(program(left), program(right), (f32(40), f32()))
        except UatJaxError:
            found += [False] if same else []
            continue
        assert same, f"seed {seed}: different loops are taken for equal"
        found.append(True)
    return found


def test_random_loops():
    assert sum(_random([0, 1])) >= 1


@pytest.mark.campaign
def test_many_random_loops():
    found = _random(range(10_000, 10_500))
    assert sum(found) >= 0.8 * len(found) >= 100


# Certificates


def _changed(*keys):
    """Sets the figures at a place to something else."""
    *path, last, value = keys

    def change(body, figures):
        for key in path:
            figures = figures[key]
        figures[last] = value

    return change


def test_a_certificate_lists_its_pieces_and_is_decided_again(one_certificate):
    found = one_certificate
    figures = found.evidence[0].figures
    assert found.verdict is uj.Verdict.CERTIFIED and len(figures.pieces) == 3 and figures.theorem
    assert "before the first step" in figures.pieces[0].what and "a step" in figures.pieces[1].what
    assert uj.recheck(found).verdict is found.verdict


@pytest.mark.parametrize(
    "change",
    [
        _changed("pieces", 1, "log2_error", -300.0),
        _changed("log2_error", -300.0),
        _changed("tests", 0),
        _changed("tests", 1),
        _changed("relations", 0),
        _changed("pieces", []),
        _changed("theorem", False),
        _changed("condition", "never"),
        _changed("pieces", 1, "readings", 0),
        lambda body, figures: body["evidence"][0].update(method="prime fields"),
        lambda body, figures: body["evidence"][0].update(verdict="PROVED") or body.update(verdict="PROVED"),
        lambda body, figures: body["claim"]["programs"][0].update(right=body["claim"]["programs"][0]["left"]),
    ],
)
def test_a_forged_certificate_is_refused(change, tmp_path, one_certificate):
    body = json.loads(one_certificate.to_json())
    change(body, body["evidence"][0]["figures"])
    path = tmp_path / "c.json"
    path.write_text(json.dumps(body))
    with pytest.raises((MismatchError, InputError)) as error:
        uj.recheck(path)
    assert "\n" not in str(error.value)


@pytest.fixture(scope="module")
def one_certificate():
    """The certificate of a pair of loops."""
    left, right, _ = EQUAL["scale of an input"]
    return uj.certify(left, right, f32(20), f32())


def test_what_holds_for_all_sizes_is_no_finding_about_one(tmp_path):
    left, right, specs = SYMBOLIC["running softmax"]
    path = uj.certify(left, right, *specs).save(tmp_path / "c.json")
    body = json.loads(path.read_text())
    body["evidence"][0]["subject"] = "n=1"
    path.write_text(json.dumps(body))
    with pytest.raises(MismatchError):
        uj.recheck(path)


def test_loops_whose_rest_may_be_undefined_are_decided_again_from_a_file(tmp_path):
    """Whether they are defined somewhere is seen in float64, since nothing executes a loop from a file."""
    found = uj.certify(running_softmax, running_softmax_again, f32(20), f32(20, 3))
    assert found.evidence[0].method == "induction"
    assert uj.recheck(found.save(tmp_path / "c.json")).verdict is found.verdict


def test_the_same_program_with_other_constants_outside_is_no_matter_of_chance():
    """Every piece is the same program on both sides; the whole is not, because a loop that is read twice is not."""
    step = lambda c, a: (c * HALF + a, None)
    left = lambda x: lax.scan(step, ZERO, x)[0] + lax.scan(step, ONE, x)[0]
    right = lambda x: lax.scan(step, ZERO, x)[0] + lax.scan(step, ONE, x)[0] + 0 * x[0]
    assert uj.certify(left, left, f32(100)).verdict is uj.Verdict.PROVED
    assert uj.certify(left, right, f32(100)).verdict is uj.Verdict.CERTIFIED


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (*DIFFERENT["unrelated carries"][:2], "no relation is found between carry 0 (float32[]) of the left one"),
        (
            lambda x: last(lambda c, a: (c[0] + a, c[1] * jnp.tanh(c[0])), (ONE, ONE), x)[1],
            lambda x: last(lambda c, a: (c[0] + a, c[1] * jnp.sin(c[0])), (ONE, ONE), x)[1],
            "no relation is found between carry 1 (float32[]) of the left one and 1 (float32[]) of the right one",
        ),
        (
            lambda x: rows(jnp.add, ZERO, x).sum(),
            lambda x: last(lambda c, a: (c[0] + a, c[1] + a * a), (ZERO, ZERO), x[:17])[1],
            "24 and 17 steps, which do not fit",
        ),
        (lambda x: last(jnp.add, ZERO, x), lambda x: last(jnp.add, last(jnp.add, ZERO, x), x), "only the right"),
    ],
)
def test_why_loops_are_not_related(left, right, message):
    with pytest.raises(UatJaxError) as error:
        compared(left, right, (f32(24),))
    assert message in str(error.value) and "\n" not in str(error.value)


def test_what_is_too_long_to_unroll_says_why(monkeypatch):
    monkeypatch.setattr(loops_evidence, "UNROLLED", 4_000)
    left = lambda x: lax.fori_loop(0, 2_000, lambda i, c: jnp.tanh(c + x), ONE)
    right = lambda x: lax.fori_loop(0, 2_000, lambda i, c: jnp.sin(c + x), ONE)
    found = uj.certify(left, right, f32())
    assert found.verdict is uj.Verdict.UNKNOWN
    assert "no relation" in found.evidence[0].finding and "too long to be unrolled" in found.evidence[0].finding
    again = lambda x: lax.fori_loop(0, 2_000, lambda i, c: jnp.tanh(x + c), ONE)
    assert uj.certify(left, again, f32()).passes


def unrolled(W, x):
    """The layers of `layers` one after the other, without a loop."""
    for w in W:
        x = x + jnp.tanh(w @ x)
    return x


def test_a_list_of_layers_is_a_scan_over_stacked_weights():
    few, one = f32(4, 2, 2), f32(2, 2)
    assert uj.certify(unrolled, layers, few, f32(2)).passes
    assert uj.certify(lambda W, x: unrolled(W, x), lambda W, x: layers(jnp.stack(W), x), [one] * 4, f32(2)).passes
    assert not uj.certify(unrolled, lambda W, x: layers(W[::-1], x), few, f32(2)).passes


@pytest.mark.campaign
@pytest.mark.parametrize("listed", [False, True])
def test_a_list_of_twelve_decoder_layers_is_a_scan_over_stacked_weights(listed):
    """Of width 64, with eight tokens: the scan is unrolled, and both are compared in pieces."""
    length, width = 12, 64
    scale = F(1) / np.sqrt(F(width // 4))
    shapes = {"q": (width, width), "k": (width, width), "v": (width, width), "up": (width, 256), "down": (256, width)}

    def layer(x, p):
        heads = lambda name: (x @ p[name]).reshape(8, 4, width // 4).swapaxes(0, 1)
        scores = jnp.where(np.tril(np.ones((8, 8), bool)), heads("q") @ heads("k").swapaxes(1, 2) * scale, -jnp.inf)
        x = x + (jax.nn.softmax(scores, axis=-1) @ heads("v")).swapaxes(0, 1).reshape(8, width)
        return x + jax.nn.gelu(x @ p["up"]) @ p["down"]

    def one_by_one(layers, x, wrong=0):
        for i in range(length):
            p = layers[i] if listed else jax.tree.map(lambda a, i=i: a[i], layers)
            x = layer(x, {**p, "v": p["v"] * F(1 + 2**-20)} if i + 1 == wrong else p)
        return x

    def scanned(layers, x):
        stacked = jax.tree.map(lambda *a: jnp.stack(a), *layers) if listed else layers
        return lax.scan(lambda x, p: (layer(x, p), None), x, stacked)[0]

    one = {name: f32(*shape) for name, shape in shapes.items()}
    specs = ([one] * length if listed else {name: f32(length, *shape) for name, shape in shapes.items()}, f32(8, width))
    assert uj.certify(one_by_one, scanned, *specs).passes
    assert not uj.certify(lambda layers, x: one_by_one(layers, x, 7), scanned, *specs, budget=20).passes


def test_derivatives_of_a_long_scan():
    left = lambda w, x: last(lambda c, a: c * w + a, ZERO, x)
    right = lambda w, x: last(lambda c, a: a + w * c, ZERO, x)
    wrong = lambda w, x: last(lambda c, a: a + lax.stop_gradient(w) * c, ZERO, x)
    assert uj.certify(left, right, f32(), f32(64), wrt="grad").passes
    assert not uj.certify(left, wrong, f32(), f32(20), wrt="grad").passes


# Symbolic lengths

(N,) = jax.export.symbolic_shape("n")

SYMBOLIC = {
    "sum": (lambda x: rows(jnp.add, ZERO, x), lambda x: rows(lambda c, a: a + c, ZERO, x), (f32(N),)),
    "scaled": (lambda x: last(jnp.add, ZERO, x * 2), lambda x: 2 * last(jnp.add, ZERO, x), (f32(N),)),
    "projected": (
        lambda W, x: last(lambda h, a: jnp.tanh(a @ W + h), jnp.zeros(3, F), x),
        lambda W, x: last(lambda h, a: jnp.tanh(h + a), jnp.zeros(3, F), x @ W),
        (f32(2, 3), f32(N, 2)),
    ),
    "running softmax": (running_softmax, running_softmax_again, (f32(N), f32(N, 3))),
    "first row outside": (
        lambda x: last(lambda c, a: c * HALF + a, x[0], x[1:]),
        lambda x: last(lambda c, a: a + c / 2, x[0], x[1:]),
        (f32(N),),
    ),
}


@pytest.mark.parametrize("name", one_in(3, SYMBOLIC))
def test_symbolic_lengths_are_certified_for_all_sizes(name):
    left, right, specs = SYMBOLIC[name]
    found = uj.certify(left, right, *specs)
    assert found.passes and [e.subject for e in found.evidence] == ["all sizes"]
    assert not any(a.kind == "only at sizes" for a in found.assumptions)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: last(jnp.add, ZERO, x[:60]),
        lambda x: last(jnp.add, x[0], x[2:]),
        lambda x: last(jnp.add, 2 * x[0], x[1:]),
        lambda x: last(jnp.add, ZERO, x[1:]),
        lambda x: last(jnp.add, ZERO, x) + (ONE if x.shape[0] == 77 else ZERO),
        lambda x: last(lambda c, a: c + a * (ZERO if x.shape[0] > 400 else ONE), ZERO, x),
        lambda x: last(jnp.add, ZERO, jnp.where(jnp.arange(x.shape[0]) < 1000, x, ZERO)),
    ],
)
def test_what_differs_at_some_length_is_not(wrong):
    assert not uj.certify(lambda x: last(jnp.add, ZERO, x), wrong, f32(N)).passes


# Rows

OF_ROWS = {
    "product": lambda x, W: jnp.tanh(x @ W),
    "einsum": lambda x, W: jnp.einsum("ti,ij->tj", x, W) + W[:1],
    "transposed": lambda x, W: (W.T @ x.T).T,
    "reshaped": lambda x, W: x.reshape(12, 3, 3).sum(2) * 2,
    "softmax": lambda x, W: jax.nn.softmax(x, axis=-1),
    "turned": lambda x, W: jnp.flip(x, 0) - x,
    "sliced": lambda x, W: x[2:, 1:] * 3,
    "strided": lambda x, W: x[1::2] @ W,
    "joined": lambda x, W: jnp.concatenate([x, x * x], axis=1),
    "two axes alike": lambda x, W: x @ x[:9] + x,
    "repeated": lambda x, W: jnp.broadcast_to(W[:, 0].sum(), (12, 2)) * x[:, :2],
}


@pytest.mark.parametrize("name", one_in(20, OF_ROWS))
def test_rows_are_computed_from_rows(name):
    """What a row is said to be made of gives that row, at every place."""
    random = np.random.default_rng(3)
    x, W = random.integers(-3, 4, (12, 9)).astype(F), random.integers(-3, 4, (9, 9)).astype(F)
    program = jax.make_jaxpr(OF_ROWS[name])(x, W)
    whole = OF_ROWS[name](x, W)

    def row(x, W, t):
        walk = RowWise()
        walk.know_inputs([x, W], 8)
        (value,) = walk.closed(program, [x, W])
        found = walk.rows(value)
        assert found is not None
        letters = {}
        for number, array in enumerate((x, W)):
            for axis in range(2):
                for a in range(-12, 24):
                    for b in (-2, -1, 1, 2):
                        place = a + b * t
                        if 0 <= place < array.shape[axis]:
                            letters[number, axis, (a, b)] = jnp.take(array, place, axis)
        return row_of(found, (0, 1), letters)

    for t in range(len(whole)):
        np.testing.assert_allclose(jax.jit(lambda x, W: row(x, W, t))(x, W), whole[t], rtol=1e-6)  # noqa: B023
