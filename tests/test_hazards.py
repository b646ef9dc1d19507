"""What floats do to two equal functions: hazards that are there are named, those that are not are not."""

import dataclasses
import json
import pickle
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.decide.description import describe
from uat_jax.decide.extremes import extremes, values, zeros
from uat_jax.decide.hazards import KINDS, Hazard, search_hazards, shown
from uat_jax.decide.on_device import OnDevice
from uat_jax.decide.rounding_bound import rounding_of
from uat_jax.errors import InputError, NotEquivalentError
from uat_jax.interpret.interpreter import interpret
from uat_jax.numbers.floats.emulated import EDGES, Emulated, arguments

F = jnp.float32
S = jax.ShapeDtypeStruct((), F)
V = jax.ShapeDtypeStruct((3,), F)
ONE, TWO = np.float32(1), np.float32(2)


def naive_softmax(x):
    return jnp.exp(x) / jnp.exp(x).sum()


def textbook_variance(x):
    return (x * x).mean() - x.mean() ** 2


def through(dtype):
    return lambda x: x.astype(dtype).astype(F)


def odd_sigmoid(x):
    return jnp.exp(x) / (ONE + jnp.exp(x))


def sigmoid(x):
    return ONE / (ONE + jnp.exp(-x))


def updated_inverse(a, b):
    """1/(a + b) by the formula of Sherman, Morrison and Woodbury."""
    return ONE / a - (ONE / a) * b * (ONE / a) / (ONE + b / a)


HAZARDOUS = {
    "softmax": (jax.nn.softmax, naive_softmax, [V], {("NaN", "right")}),
    "log softmax": (jax.nn.log_softmax, lambda x: jnp.log(naive_softmax(x)), [V], {("underflow", "right")}),
    "variance": (jnp.var, textbook_variance, [V], {("drift", "right")}),
    "log1p": (jnp.log1p, lambda x: jnp.log(ONE + x), [V], {("drift", "right")}),
    "expm1": (jnp.expm1, lambda x: jnp.exp(x) - ONE, [S], {("drift", "right")}),
    "bfloat16": (through(jnp.bfloat16), lambda x: x, [V], {("drift", "left")}),
    "float16": (through(jnp.float16), lambda x: x, [V], {("drift", "left"), ("overflow", "left")}),
    "quotient": (lambda x: x / x, jnp.ones_like, [V], {("undefined", "left")}),
    "moved quotient": (
        lambda x: (x - np.float32(1.5)) / (x - np.float32(1.5)),
        jnp.ones_like,
        [S],
        {("undefined", "left")},
    ),
    "two inputs": (lambda x, y: (x + y) * x / (x + y), lambda x, y: x, [S, S], {("undefined", "left")}),
    "Woodbury": (lambda a, b: ONE / (a + b), updated_inverse, [S, S], {("undefined", "right")}),
    "root of a square": (lambda x: jnp.sqrt(x * x), jnp.abs, [V], {("overflow", "left")}),
    "norm": (jnp.hypot, lambda x, y: jnp.sqrt(x * x + y * y), [S, S], {("overflow", "right")}),
    "sigmoid": (odd_sigmoid, sigmoid, [V], {("NaN", "left")}),
    "logsumexp": (
        jax.nn.logsumexp,
        lambda x: jnp.log(jnp.exp(x).sum()),
        [V],
        {("overflow", "right"), ("underflow", "right")},
    ),
    "tanh": (jnp.tanh, lambda x: (jnp.exp(TWO * x) - ONE) / (jnp.exp(TWO * x) + ONE), [S], {("NaN", "right")}),
    "exponents": (lambda x, y: jnp.exp(x + y), lambda x, y: jnp.exp(x) * jnp.exp(y), [S, S], {("NaN", "right")}),
    "early square": (lambda x: x / (x * x), lambda x: ONE / x, [S], {("underflow", "left")}),
    "logarithms": (
        lambda x, y: jnp.log(jnp.exp(x) * jnp.exp(y)),
        lambda x, y: x + y,
        [S, S],
        {("overflow", "left")},
    ),
}
"""Pairs that are equal over the real numbers, and hazards that they have at least."""

HARMLESS = {
    "relu": (jax.nn.relu, lambda x: jnp.where(x > 0, x, np.float32(0)), [V]),
    "silu": (jax.nn.silu, lambda x: x * jax.nn.sigmoid(x), [V]),
    "order of a sum": (lambda x: (x[0] + x[1]) + x[2], lambda x: x[0] + (x[1] + x[2]), [V]),
    "twice": (lambda x: x + x, lambda x: TWO * x, [V]),
    "max": (lambda x: jnp.maximum(x, np.float32(0)), jax.nn.relu, [V]),
    "stable softmax": (jax.nn.softmax, lambda x: jnp.exp(x - x.max()) / jnp.exp(x - x.max()).sum(), [V]),
    "stable logsumexp": (
        jax.nn.logsumexp,
        lambda x: jnp.log(jnp.exp(x - x.max()).sum()) + x.max(),
        [V],
    ),
    "same quotient": (lambda x: x / x + x, lambda x: x + x / x, [V]),
    "negation": (lambda x: -(ONE / x), lambda x: ONE / -x, [V]),
    "variance": (jnp.var, lambda x: ((x - x.mean()) ** 2).mean(), [V]),
}
"""Pairs without hazards: their sides fail together, or stray no further than their inputs' rounding explains."""


@pytest.mark.parametrize("name", HAZARDOUS)
def test_hazards_are_named_with_an_input(name):
    """At the input of each hazard the functions themselves do on the device what it says."""
    left, right, specs, wanted = HAZARDOUS[name]
    certificate = uj.certify(left, right, *specs)
    assert str(certificate.verdict) in ("CERTIFIED", "PROVED", "AGREES")
    assert wanted <= {(h.kind, h.side) for h in certificate.hazards}
    for hazard in certificate.hazards:
        run = jax.jit if hazard.jitted else lambda f: f
        outputs = [np.ravel(run(f)(*map(jnp.asarray, hazard.inputs))).astype(np.float64) for f in (left, right)]
        stated = np.array([hazard.left, hazard.right])
        assert any(np.array_equal(column, stated, equal_nan=True) for column in np.stack(outputs, axis=1))
        bad, good = stated if hazard.side == "left" else stated[::-1]
        assert np.isfinite(good) and (hazard.kind == "drift") == bool(np.isfinite(bad))
        assert hazard.text.startswith(f"{hazard.side} is ") and "\n" not in hazard.text


@pytest.mark.parametrize("name", HARMLESS)
def test_no_hazard_is_made_up(name):
    left, right, specs = HARMLESS[name]
    certificate = uj.certify(left, right, *specs)
    assert certificate.floats is not None
    assert certificate.passes and certificate.hazards == () and not certificate.floats.search.reason
    assert certificate.floats.search.tried > 200


@pytest.mark.parametrize("name", HAZARDOUS)
def test_sides_are_told_apart(name):
    """With the two functions exchanged every hazard changes its side."""
    left, right, specs, wanted = HAZARDOUS[name]
    found = {(h.kind, h.side) for h in uj.certify(right, left, *specs).hazards}
    assert {(kind, {"left": "right", "right": "left"}[side]) for kind, side in wanted} <= found


@pytest.mark.parametrize("name", HAZARDOUS)
def test_identical_programs_have_no_hazards(name):
    left, _, specs, _ = HAZARDOUS[name]
    assert uj.certify(left, left, *specs).hazards == ()


def test_the_sentence_of_a_hazard():
    (hazard,) = uj.certify(jax.nn.softmax, naive_softmax, V).hazards
    assert hazard.text == "right is NaN in entry [0] at x = [100, 0, 0]; left is 1"
    assert (
        hazard.exact is not None and hazard.exact.startswith("1.000000") and np.isnan(hazard.right) and hazard.left == 1
    )


def test_trees_and_symbolic_sizes():
    """Inputs are named by their parameter and the path inside it; the sizes of a hazard are stated."""
    b, n = jax.export.symbolic_shape("b, n")
    spec = {"logits": jax.ShapeDtypeStruct((b, n), F)}
    left = lambda batch: jax.nn.softmax(batch["logits"], axis=-1)
    right = lambda batch: jnp.exp(batch["logits"]) / jnp.exp(batch["logits"]).sum(-1, keepdims=True)
    certificate = uj.certify(left, right, spec)
    assert certificate.hazards[0].sizes == {"b": 1, "n": 1}
    assert "batch['logits'] = [[100]]" in certificate.hazards[0].text
    assert "at b = 1, n = 1" in describe(certificate)


def test_derivatives_have_hazards_too():
    quotient = uj.certify(lambda x: x * x / x, lambda x: x, S, wrt="grad")
    assert any(h.kind == "undefined" and "cotangents" in h.text for h in quotient.hazards)


def test_only_equal_functions_are_examined():
    refuted = uj.certify(lambda x: x, lambda x: TWO * x, V)
    assert refuted.floats is None and refuted.rounding is None and refuted.hazards == ()
    assert "rounding" not in refuted.to_json()


def test_a_loop_that_may_not_end_is_not_run():
    """Newton's iteration ends in float64 and need not end in float32; the device is never asked."""
    root = lambda x: jax.lax.while_loop(lambda y: jnp.abs(y * y - x) > 1e-12 * x, lambda y: (y + x / y) / 2, x)
    count = lambda x: jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, x))[1]
    traced = [jax.make_jaxpr(f)(S) for f in (root, count)]
    assert [OnDevice(p, p).ends for p in traced] == [False, True]
    with pytest.raises(uj.UatJaxError, match="might never end"):
        OnDevice(traced[0], traced[0]).run([np.array(2, np.float32)])


def test_programs_that_numpy_cannot_follow_are_looked_at_on_the_device():
    """The Fourier transform is in no table; its overflow is seen by running it."""
    late = lambda x: jnp.fft.fft(x).real / TWO
    early = lambda x: jnp.fft.fft(x / TWO).real
    left, right = (jax.make_jaxpr(f)(V) for f in (late, early))
    device = OnDevice(left, right)
    search = search_hazards(device, ["x"], {})
    assert search.tried > 200 and not search.reason
    assert {h.side for h in search.found} == {"left"}
    rounding = rounding_of(device)
    assert rounding.left is None and rounding.reason.startswith("not derived: ") and rounding.seen is not None


# --- in a certificate ----------------------------------------------------------------------------------------------


def test_a_file_keeps_hazards_and_rounding(tmp_path):
    certificate = uj.certify(jax.nn.logsumexp, lambda a: jnp.log(jnp.exp(a).sum()), V)
    again = uj.load(certificate.save(tmp_path / "c.json"))
    assert again.to_json() == certificate.to_json()
    assert [h.text for h in again.hazards] == [h.text for h in certificate.hazards] != []
    assert again.rounding is not None and certificate.rounding is not None
    assert again.hazards[0].inputs[0].dtype == np.float32 and again.rounding.text == certificate.rounding.text
    assert pickle.loads(pickle.dumps(certificate)).to_json() == certificate.to_json()
    assert [h.text for h in uj.recheck(again).hazards][0].split(" at ")[0] == again.hazards[0].text.split(" at ")[0]


DAMAGE = {
    "a kind": lambda body: body["hazards"]["found"][0].update(kind="mild"),
    "a side": lambda body: body["hazards"]["found"][0].update(side="both"),
    "a shape": lambda body: body["hazards"]["found"][0]["inputs"][0].update(shape=[7]),
    "a dtype": lambda body: body["rounding"]["inputs"][0].update(dtype="float33"),
    "a number": lambda body: body["rounding"]["left"].update(ulps="many"),
    "a list": lambda body: body.update(hazards=[]),
    "half of it": lambda body: body.pop("rounding"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_seen(what, tmp_path):
    body = json.loads(uj.certify(jax.nn.softmax, naive_softmax, V).to_json())
    DAMAGE[what](body)
    (tmp_path / "c.json").write_text(json.dumps(body))
    with pytest.raises(InputError, match="damaged"):
        uj.load(tmp_path / "c.json")


# --- in a test -----------------------------------------------------------------------------------------------------


def test_hazards_are_warned_of_forbidden_or_ignored():
    with pytest.warns(uj.HazardWarning, match="right is NaN") as caught:
        uj.assert_equivalent(jax.nn.softmax, naive_softmax, V)
    assert caught[0].filename == __file__
    with pytest.raises(NotEquivalentError, match=r"hazard: right is NaN .* \(NaN\)"):
        uj.assert_equivalent(jax.nn.softmax, naive_softmax, V, hazards="forbid")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        uj.assert_equivalent(jax.nn.softmax, naive_softmax, V, hazards="ignore")
        uj.assert_equivalent(*HARMLESS["relu"][:2], V, hazards="forbid")


BAD = {
    "no word": ({"hazards": "allow"}, "wanted one of warn, forbid, ignore"),
    "zero": ({"rounding": 0}, "rounding=0; wanted"),
    "NaN": ({"rounding": float("nan")}, "rounding=nan; wanted"),
    "negative": ({"rounding": -1.0}, "rounding=-1.0; wanted"),
    "infinite": ({"rounding": float("inf")}, "rounding=inf; wanted"),
    "a truth": ({"rounding": True}, "rounding=True; wanted"),
    "text": ({"rounding": "4"}, "rounding='4'; wanted"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_settings_are_one_line(name):
    settings, text = BAD[name]
    with pytest.raises(InputError, match=text) as raised:
        uj.assert_equivalent(jax.nn.relu, jax.nn.relu, V, **settings)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("given", [{}, {"ulps": 1, "relative": 1e-3}, {"absolute": 0.0}, {"relative": float("nan")}])
def test_bad_tolerances_are_refused(given):
    with pytest.raises(InputError, match="wanted"):
        uj.Tolerance(**given)


# --- the parts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_extremes_are_finite_numbers_of_the_dtype(dtype):
    inputs = [jax.ShapeDtypeStruct((2,), dtype), jax.ShapeDtypeStruct((), dtype)]
    points = np.concatenate(list(extremes(inputs, 64, 0)))
    assert 200 < len(points) <= 256 and np.isfinite(points).all()
    assert np.array_equal(points.astype(dtype).astype(np.float64), points)
    assert max(values(jnp.dtype(dtype))) == float(jnp.finfo(dtype).max) == points.max()


@pytest.mark.parametrize("root", [1.5, -3.25, 0.7, np.sqrt(2.0)])
def test_zeros_of_divisors_are_found(root):
    inputs = [jax.ShapeDtypeStruct((2,), np.float64)]
    points = zeros(inputs, lambda x: [(x[:, :1] - root) * (x[:, :1] ** 2 + 1)], 1024, 0)
    assert np.abs(points[:, 0] - root).min() < 1e-8
    assert zeros(inputs, lambda x: [x**2 + 1], 1024, 0).shape == (0, 2)


@pytest.mark.parametrize("name", sorted(EDGES))
def test_edges_of_domains_are_those_of_jax(name):
    """A primitive leaves its domain exactly where JAX gives NaN, or an infinity, for finite operands."""
    special = np.array([-2.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.5], np.float32)
    functions = {"div": lambda x: ONE / x, "rem": lambda x: jax.lax.rem(ONE, x), "integer_pow": lambda x: x**-2}
    functions["pow"] = lambda x: jax.lax.pow(x, np.float32(-1.5))
    function = functions.get(name) or getattr(jax.lax, name)
    program = jax.make_jaxpr(function)(S)
    emulated = Emulated(len(special))
    interpret(program, emulated, arguments(special.astype(np.float64)[:, None], [S]))
    expected = ~np.isfinite(np.array([function(jnp.asarray(x)) for x in special]))
    assert np.array_equal(emulated.left_domain, expected)


def test_arrays_are_shown_in_a_few_words():
    assert shown(np.array(100, np.float32)) == "100" and shown(np.array([1e-10, 0], np.float32)) == "[1e-10, 0]"
    assert shown(np.full(9, 7, np.float32)) == "7 in all 9 entries"
    assert shown(np.eye(1, 9, 4, np.float32)[0]) == "0 but 1 at [4]"
    assert shown(np.arange(9, dtype=np.float32)) == "9 numbers from 0 to 8"


def test_kinds_are_those_of_the_searches():
    assert {kind for *_, wanted in HAZARDOUS.values() for kind, _ in wanted} == set(KINDS) - {
        "clamped"
    }  # which test_written_places.py shows
    assert {f.name for f in dataclasses.fields(Hazard)} >= {"kind", "side", "inputs", "exact", "text"}
