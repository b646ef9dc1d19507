"""`certify` and `assert_equivalent` as a user meets them: verdicts, settings, bad input, and checks that can fail."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax.experimental import io_callback

import uat_jax as uj
from uat_jax.decide import equivalence, prime_fields
from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.effort import Effort
from uat_jax.decide.specification import programs_within
from uat_jax.decide.thresholds import FARTHEST
from uat_jax.errors import DisagreementError, InputError, NotEquivalentError, UnsupportedError

V = jax.ShapeDtypeStruct((3,), jnp.float32)
NAN = np.array([1, np.nan, 2], np.float32)
TESTS = Path(__file__).parent

mm = functools.partial(jnp.matmul, precision="highest")


def identity(x):
    return x


def total(x):
    return jnp.sum(x * x)


def total_in_turn(x):
    return x[0] ** 2 + x[1] ** 2 + x[2] ** 2


def total_doubled(x):
    return 2 * jnp.sum(x * x)


def nudged(x):
    """The sum of squares with one weight wrong by less than a float32 shows."""
    return jnp.sum(x * x) + 2.0**-30 * x[0]


def softmax(x):
    return jnp.exp(x) / jnp.sum(jnp.exp(x), -1, keepdims=True)


def multiplied(function):
    """A product of a function of the rows, and of a Bessel function of it, which has no normal form for all sizes."""
    return lambda x: jnp.prod(jax.scipy.special.i0e(jax.vmap(function)(x)), axis=0)


def symbolic(text):
    return jax.ShapeDtypeStruct(jax.export.symbolic_shape(text), jnp.float32)


# --- verdicts -------------------------------------------------------------------------------------------------------


def test_equal_functions_are_certified():
    certificate = uj.certify(total, total_in_turn, V)
    assert certificate.verdict is uj.Verdict.CERTIFIED and certificate.passes
    assert certificate.evidence[0].figures["log2_error"] <= -128
    assert certificate.counterexample is None
    assert uj.assert_equivalent(total, total_in_turn, V) is None


@pytest.mark.parametrize("wrong", [total_doubled, nudged])
def test_different_functions_are_refuted_by_an_input(wrong):
    certificate = uj.certify(total, wrong, V)
    assert certificate.verdict is uj.Verdict.REFUTED and not certificate.passes
    found = certificate.counterexample
    assert found
    x = np.array(found.inputs[0].values)
    assert found.left == np.sum(x * x)
    assert found.right == {total_doubled: 2 * np.sum(x * x), nudged: np.sum(x * x) + 2.0**-30 * x[0]}[wrong]
    assert found.left != found.right


class Scale:
    """A method and a callable object."""

    def method(self, x):
        return 2 * x

    def __call__(self, x):
        return x + x


def _linear():
    """A layer with given arrays, so that none is drawn."""
    of = eqx.filter_eval_shape(lambda: eqx.nn.Linear(3, 3, key=jax.random.key(0)))
    draw = np.random.default_rng(0).standard_normal
    return eqx.tree_at(lambda l: (l.weight, l.bias), of, tuple(draw(n).astype(np.float32) for n in ((3, 3), 3)))


LINEAR = _linear()

CALLABLES = {
    "method": (Scale().method, Scale()),
    "partial": (functools.partial(jnp.multiply, np.float32(2)), lambda x: x + x),
    "jitted": (jax.jit(lambda x: x + x), lambda x: 2 * x),
    "rematerialised": (jax.checkpoint(softmax), softmax),
    "vmapped": (jax.vmap(jnp.sin), jnp.sin),
    "equinox": (LINEAR, lambda x: mm(LINEAR.weight, x) + jnp.asarray(LINEAR.bias)),
    "filter_jit": (eqx.filter_jit(LINEAR), LINEAR),
}


@pytest.mark.parametrize("name", CALLABLES)
def test_whatever_can_be_called_is_a_function(name):
    left, right = CALLABLES[name]
    uj.assert_equivalent(left, right, V)
    assert uj.certify(left, lambda x: right(x) + x[0], V).verdict is uj.Verdict.REFUTED


def test_modules_as_inputs():
    weights = eqx.filter(LINEAR, eqx.is_array)
    uj.assert_equivalent(lambda m, x: m(x), lambda m, x: mm(m.weight, x) + m.bias, weights, V)
    assert uj.certify(lambda m, x: m(x), lambda m, x: mm(m.weight, x), weights, V).verdict is uj.Verdict.REFUTED


def test_integer_arrays_are_fixed_to_their_values():
    gather, first = (lambda x, i: x[i]), (lambda x, i: jnp.stack([x[2], x[0]]))
    certificate = uj.certify(gather, first, V, np.array([2, 0], np.int32))
    assert certificate.passes
    assert "integer input [1] is fixed to the given values" in map(str, certificate.assumptions)
    assert uj.certify(gather, first, V, np.array([0, 2], np.int32)).verdict is uj.Verdict.REFUTED


def test_random_numbers_of_a_fixed_key_are_constants():
    noise = lambda key: lambda x: x + jax.random.normal(jax.random.key(key), (3,))
    uj.assert_equivalent(noise(0), lambda x: jax.random.normal(jax.random.key(0), (3,)) + x, V)
    assert uj.certify(noise(0), noise(1), V).verdict is uj.Verdict.REFUTED


STEPS = 340


def loop(step):
    """x ← step(i, x) written out: three primitives each."""

    def function(x, w):
        for i in range(STEPS):
            x = step(i, x, w)
        return x

    return function


def scanned(x, w):
    return jax.lax.scan(lambda x, _: (x * w + 1.0 - w, None), x, length=STEPS)[0]


def test_a_thousand_primitives():
    right = loop(lambda i, x, w: x * w + (1.0 - w))
    program = jax.make_jaxpr(right)(V, V)
    assert sum(len(inner.eqns) for inner in programs_within(program)) >= 1000
    uj.assert_equivalent(scanned, right, V, V)
    wrong = loop(lambda i, x, w: x * w + (1.0 - w) if i != STEPS // 2 else x * w + 1.0)
    assert uj.certify(scanned, wrong, V, V).verdict is uj.Verdict.REFUTED


# --- what says nothing ----------------------------------------------------------------------------------------------

VACUOUS = {
    "constant": (lambda x: jnp.ones(3), lambda x: jnp.ones(3), "neither function depends on its inputs"),
    "logarithm": (lambda x: jnp.log(-1 - x * x), lambda x: jnp.log(-1 - x**2), "both functions are NaN or infinite"),
    "quotient": (lambda x: x / 0, lambda x: 2 * x / 0, "both functions are NaN or infinite"),
}


@pytest.mark.parametrize("name", VACUOUS)
def test_vacuous_equality_is_unknown_and_says_so(name):
    left, right, reason = VACUOUS[name]
    certificate = uj.certify(left, right, V)
    assert certificate.verdict is uj.Verdict.UNKNOWN and not certificate.passes
    assert certificate.evidence[0].finding.startswith(f"vacuous: {reason}")
    with pytest.raises(NotEquivalentError, match="vacuous"):
        uj.assert_equivalent(left, right, V)


def test_different_constants_are_refuted():
    assert uj.certify(lambda x: jnp.ones(3), lambda x: jnp.zeros(3), V).verdict is uj.Verdict.REFUTED


@pytest.mark.parametrize(
    ("left", "right"),
    [(lambda x: x - x, lambda x: 0 * x), (lambda x: jnp.sin(x) ** 2 + jnp.cos(x) ** 2, jnp.ones_like)],
)
def test_functions_that_are_constant_carry_the_assumption(left, right):
    certificate = uj.certify(left, right, V)
    assert certificate.passes
    of_constants = Assumption(AssumptionKind.CONSTANT_FUNCTIONS)
    assert of_constants in certificate.assumptions
    assert of_constants not in uj.certify(total, total_in_turn, V).assumptions


# --- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [3, 128, 300])
def test_the_error_asked_for_is_reached(bits):
    certificate = uj.certify(softmax, jax.nn.softmax, V, error=2.0**-bits)
    assert certificate.passes
    assert certificate.evidence[0].figures["log2_error"] <= -bits
    assert certificate.settings["error"] == 2.0**-bits


@pytest.mark.parametrize("right", [total_in_turn, total_doubled, nudged])
def test_a_seed_gives_the_same_certificate_whether_64_bit_types_are_on_or_not(right):
    first = uj.certify(total, right, V, seed=5).to_json()
    assert uj.certify(total, right, V, seed=5).to_json() == first
    with jax.enable_x64(True):
        assert uj.certify(total, right, V, seed=5).to_json() == first
    other = uj.certify(total, right, V, seed=6)
    assert other.to_json() != first
    assert other.verdict is uj.certify(total, right, V, seed=5).verdict


def test_a_budget_that_is_used_up_is_unknown():
    for right in (softmax, lambda x: 2 * softmax(x)):
        certificate = uj.certify(jax.nn.softmax, right, V, budget=1e-9)
        assert certificate.verdict is uj.Verdict.UNKNOWN and not certificate.passes
        assert "the time is up" in certificate.evidence[0].finding
    with pytest.raises(NotEquivalentError, match="the time is up"):
        uj.assert_equivalent(jax.nn.softmax, softmax, V, budget=1e-9)
    assert uj.certify(jax.nn.softmax, softmax, V, budget=1e9).passes


def test_progress_tells_every_stage():
    stages = ["evaluating both functions in float64", "comparing at random points of prime fields"]
    told: list[str] = []
    uj.certify(total, total_in_turn, V, progress=told.append)
    assert told == stages
    told.clear()
    uj.certify(total, total_doubled, V, progress=told.append)
    assert told == [*stages, "searching an input on which they differ"]


# --- derivatives ----------------------------------------------------------------------------------------------------


def with_cotangent(cotangent):
    """The sum of squares with a hand-written backward pass."""
    function = jax.custom_vjp(total)
    function.defvjp(lambda x: (total(x), x), lambda x, g: (cotangent(x, g),))
    return function


def test_derivatives_are_compared_on_request():
    right, wrong = with_cotangent(lambda x, g: 2 * g * x), with_cotangent(lambda x, g: g * x)
    uj.assert_equivalent(total, right, V, wrt="grad", hazards="ignore")  # 2 g overflows where g is the largest float
    uj.assert_equivalent(total, wrong, V)
    certificate = uj.certify(total, wrong, V, wrt="grad")
    assert certificate.verdict is uj.Verdict.REFUTED
    assert certificate.claim["derivatives"] and not uj.certify(total, wrong, V).claim["derivatives"]
    uj.assert_equivalent(jax.grad(total), jax.grad(right), V)
    assert uj.certify(jax.grad(total), jax.grad(wrong), V).verdict is uj.Verdict.REFUTED


def test_different_values_are_refuted_with_derivatives_as_well():
    assert uj.certify(total, lambda x: total(x) + 1, V, wrt="grad").verdict is uj.Verdict.REFUTED


def test_integer_inputs_have_no_derivative():
    indices = np.array([2, 0], np.int32)
    left, right = (lambda x, i: jnp.sin(x)[i]), (lambda x, i: jnp.sin(x[i]))
    uj.assert_equivalent(left, right, V, indices, wrt="grad")
    assert uj.certify(left, lambda x, i: jnp.sin(x[i[::-1]]), V, indices, wrt="grad").verdict is uj.Verdict.REFUTED


# --- symbolic dimensions --------------------------------------------------------------------------------------------


def test_symbolic_dimensions_agree_at_the_sizes_that_were_tried():
    left, right = multiplied(jax.nn.softmax), multiplied(softmax)
    certificate = uj.certify(left, right, symbolic("b, d"))
    assert certificate.verdict is uj.Verdict.AGREES and not certificate.passes
    assert certificate.claim["symbols"] == ["b", "d"]
    *tried, said = certificate.evidence
    sizes = ["b = 1, d = 1", "b = 2, d = 3", "b = 4, d = 3", "b = 5, d = 6", "b = 9, d = 8"]
    assert [e.subject for e in tried] == sizes and all(e.verdict is uj.Verdict.CERTIFIED for e in tried)
    assert said.finding.startswith(f"equal at {'; '.join(sizes)}; not shown for all sizes: pass sizes=[")
    with pytest.raises(NotEquivalentError, match="not shown for all sizes"):
        uj.assert_equivalent(left, right, symbolic("b, d"))


def test_listed_sizes_are_the_claim():
    listed = [{"b": 2, "d": 3}, {"d": 7, "b": 1}]
    certificate = uj.certify(jax.nn.softmax, softmax, symbolic("b, d"), sizes=listed)
    assert certificate.verdict is uj.Verdict.CERTIFIED
    shown = "shown at these sizes of the symbolic dimensions b, d, and at no others: b = 2, d = 3; b = 1, d = 7"
    assert shown in map(str, certificate.assumptions)
    uj.assert_equivalent(jax.nn.softmax, softmax, symbolic("b, d"), sizes=listed, hazards="ignore")


SIZE_SLIPS = {
    "a slice": (lambda x: x[:4].sum(), lambda x: x.sum(), 5),
    "a slice from the end": (lambda x: x[-3:].sum(), lambda x: x.sum(), 4),
    "a window": (
        lambda x: jnp.where(jnp.abs(jnp.subtract.outer(jnp.arange(len(x)), jnp.arange(len(x)))) < 6, x, 0.0).sum(-1),
        lambda x: jnp.broadcast_to(x, (len(x), len(x))).sum(-1),
        7,
    ),
    "positions": (
        lambda x: jnp.minimum(jnp.arange(len(x)), 3).astype(x.dtype) * x,
        lambda x: jnp.arange(len(x)).astype(x.dtype) * x,
        5,
    ),
    "a remainder": (lambda x: x * (len(x) % 5), lambda x: x * len(x), 5),
    "a branch on the size": (lambda x: x if len(x) < 5 else 2 * x, lambda x: x, 5),
}


@pytest.mark.parametrize("name", SIZE_SLIPS)
def test_what_differs_from_some_size_on_is_refuted_there(name):
    """And what differs only beyond the sizes tried is not certified; at sizes that are listed it is."""
    left, right, first = SIZE_SLIPS[name]
    vectors = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    certificate = uj.certify(left, right, vectors)
    assert certificate.verdict is uj.Verdict.REFUTED
    assert certificate.counterexample and certificate.counterexample.sizes == {"n": first}
    below = [{"n": n} for n in range(2, first)]
    assert uj.certify(left, right, vectors, sizes=below).passes
    assert uj.certify(left, right, vectors, sizes=[*below, {"n": first}]).verdict is uj.Verdict.REFUTED
    assert uj.certify(left, left, vectors).verdict is (uj.Verdict.PROVED if "slice" in name else uj.Verdict.AGREES)


@pytest.mark.parametrize("bound", one_in(2, [9, 20, 1000, 30_000]))
def test_what_differs_at_large_sizes_only_is_not_certified(bound):
    vectors = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    found = uj.certify(lambda x: x[:bound].sum(), lambda x: x.sum(), vectors)
    if bound > FARTHEST:
        assert found.verdict is uj.Verdict.AGREES
    else:
        assert found.verdict is uj.Verdict.REFUTED and found.counterexample
        assert found.counterexample.sizes["n"] > bound


def test_sizes_that_cost_too_much_are_left_out_unless_they_are_listed():
    """n⁶ entries: 8⁶ are too many, 5⁶ are not."""
    cube = lambda x: multiplied(jnp.sum)(jnp.broadcast_to(x, (x.shape[0],) * 6))
    vectors = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    *tried, said = uj.certify(cube, lambda x: 1.0 * cube(x), vectors).evidence
    assert [e.subject for e in tried] == ["n = 1", "n = 2", "n = 3", "n = 5"]
    (reason,) = said.figures["skipped"]
    assert reason.startswith("n = 8: more than 200000 entries are computed")


def test_each_function_is_traced_once_for_each_size():
    seen = []

    def watched(x):
        seen.append(x.shape)
        return x + x

    uj.certify(watched, lambda x: 2 * x, symbolic("n"))
    once = ["(1,)", "(2,)", "(3,)", "(5,)", "(8,)"]
    assert [str(shape) for shape in seen] == [*once, "(1,)", "(n,)"]  # (1,) again: is it the same program?
    seen.clear()
    uj.certify(watched, lambda x: 2 * x, V)
    assert seen == [(3,), (3,)]


def test_symbolic_dimensions_are_refuted_at_the_smallest_sizes():
    """Σx and x_first + x_last differ from three columns on."""
    left, right = (lambda x: x * jnp.sum(x, -1, keepdims=True)), (lambda x: x * (x[:, :1] + x[:, -1:]))
    certificate = uj.certify(left, lambda x: right(x) if x.shape[1] > 1 else left(x), symbolic("b, d"))
    assert certificate.verdict is uj.Verdict.REFUTED
    assert certificate.counterexample and certificate.counterexample.sizes == {"b": 1, "d": 3}


def test_sizes_that_do_not_fit_are_named():
    halves = lambda x: jnp.sum(x.reshape(-1, 2), -1)
    certificate = uj.certify(halves, lambda x: x[::2] + x[1::2], symbolic("d"))
    assert [e.subject for e in certificate.evidence] == ["d = 2", "d = 8", "all sizes"]
    skipped = certificate.evidence[-1].figures["skipped"]
    assert [text.partition(":")[0] for text in skipped] == ["d = 1", "d = 3", "d = 5"]
    with pytest.raises(InputError, match="JAX cannot trace <lambda>"):
        uj.certify(halves, halves, symbolic("d"), sizes=[{"d": 2}, {"d": 3}])


# --- failures in tests ----------------------------------------------------------------------------------------------


def test_a_failure_shows_verdict_witness_and_reproducer():
    with pytest.raises(NotEquivalentError) as failure:
        uj.assert_equivalent(total, total_doubled, V)
    text, found = str(failure.value), uj.certify(total, total_doubled, V).counterexample
    assert isinstance(failure.value, AssertionError) and found
    assert text.startswith(f"REFUTED: {__name__}:total and {__name__}:total_doubled\n")
    assert f"{found.left} against {found.right} at output 0[]" in text
    assert f"exactly: {found.exact[0]}" in text and f"against: {found.exact[1]}" in text
    assert found.program.rstrip() in text


def run(*arguments, folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def test_the_reproducer_runs(tmp_path):
    found = uj.certify(total, total_doubled, V).counterexample
    assert found
    ran = run("-c", found.program, folder=tmp_path)
    assert not ran.returncode, ran.stderr
    left, right = found.left, found.right
    assert [float(word) for word in ran.stdout.split()] == [left, right, left - right]


def test_pytest_shows_the_failure_and_nothing_of_ours(tmp_path):
    (tmp_path / "test_user.py").write_text(
        "import uat_jax as uj\n"
        "from test_certify import V, total, total_doubled, total_in_turn\n"
        "def test_right():\n    uj.assert_equivalent(total, total_in_turn, V)\n"
        "def test_wrong():\n    uj.assert_equivalent(total, total_doubled, V)\n"
    )
    ran = run("-m", "pytest", "-p", "no:cacheprovider", "test_user.py", folder=tmp_path)
    assert ran.returncode == 1 and "1 failed, 1 passed" in ran.stdout, ran.stdout + ran.stderr
    assert "NotEquivalentError: REFUTED: test_certify:total and test_certify:total_doubled" in ran.stdout
    assert "from test_certify import total_doubled as right" in ran.stdout
    assert "certificate = certify(" not in ran.stdout  # the frame of assert_equivalent is hidden


# --- bad input ------------------------------------------------------------------------------------------------------


def called_back(x):
    return io_callback(lambda y: y, V, x)


BAD: dict[str, tuple] = {
    "left no function": (3, identity, (V,), {}, InputError, "got a int for a function; pass two functions"),
    "right no function": (identity, None, (V,), {}, InputError, "got a NoneType for a function; pass two functions"),
    "no spec": (identity, identity, (), {}, InputError, "got no input that is a variable; pass at least one array"),
    "too many": (identity, identity, (V, V), {}, InputError, "cannot trace identity: TypeError: .*but 2 were given"),
    "too few": (jnp.add, jnp.add, (V,), {}, InputError, "cannot trace add: TypeError: .* missing 1 required"),
    "container": (
        lambda x: (x, x),
        lambda x: [x, x],
        (V,),
        {},
        InputError,
        r"different trees: PyTreeDef\(\(.*\[.*; return the same tree",
    ),
    "name": (
        lambda x: {"a": x},
        lambda x: {"b": x},
        (V,),
        {},
        InputError,
        r"only one has output \['a'\]; return the same tree",
    ),
    "shape": (
        lambda x: {"y": x},
        lambda x: {"y": x[:2]},
        (V,),
        {},
        InputError,
        r"returns float32\[3\] at output \['y'\], the second float32\[2\]; return the same shape",
    ),
    "dtype": (
        lambda x: (x, x),
        lambda x: (x, x.astype(jnp.bfloat16)),
        (V,),
        {},
        InputError,
        r"returns float32\[3\] at output \[1\], the second bfloat16\[3\]; return the same shape and dtype",
    ),
    "integer input": (
        lambda x, i: x[i],
        lambda x, i: x[i],
        (V, jax.ShapeDtypeStruct((3,), jnp.int32)),
        {"wrt": "grad"},
        InputError,
        "needs real inputs; certify jax.grad of both by the real ones",
    ),
    "key": (
        identity,
        identity,
        (V, jax.eval_shape(lambda: jax.random.key(0, impl="rbg"))),
        {},
        InputError,
        "got an input key<rbg> without a value; wanted key<fry>",
    ),
    "Python number": (identity, identity, (1.0,), {}, InputError, r"no input that is a variable; .* Python are fixed"),
    "unknown object": (identity, identity, (object(),), {}, InputError, r"input \[0\] is a object; pass an array"),
    "empty input": (
        identity,
        identity,
        (jax.ShapeDtypeStruct((0, 3), jnp.float32),),
        {},
        InputError,
        r"shape \(0, 3\); every dimension must be at least 1",
    ),
    "empty output": (lambda x: x[:0], identity, (V,), {}, InputError, r"empty float32\[0\]; return arrays with"),
    "integer output": (jnp.argmax, jnp.argmax, (V,), {"wrt": "grad"}, InputError, "needs real outputs"),
    "branch": (
        identity,
        lambda x: x if x[0] > 0 else -x,
        (V,),
        {},
        InputError,
        r"cannot trace <lambda>: TracerBool.* at test_certify\.py:\d+",
    ),
    "NumPy": (
        identity,
        lambda x: np.asarray(x),
        (V,),
        {},
        InputError,
        r"cannot trace <lambda>: TracerArray.* at test_certify\.py:\d+",
    ),
    "NaN": (lambda x: x + NAN, identity, (V,), {}, InputError, r"captures an array with NaN, float32\[3\]; give it"),
    "callback": (
        called_back,
        identity,
        (V,),
        {},
        UnsupportedError,
        r"calls back to the host with 'io_callback' at test_certify.*; use jax.pure_callback if",
    ),
    "error 0": (identity, identity, (V,), {"error": 0.0}, InputError, r"got error=0\.0; wanted a probability between"),
    "error 1": (identity, identity, (V,), {"error": 1.0}, InputError, r"got error=1\.0; wanted a probability between"),
    "error NaN": (identity, identity, (V,), {"error": float("nan")}, InputError, "got error=nan; wanted a probabi"),
    "error text": (identity, identity, (V,), {"error": "small"}, InputError, "got error='small'; wanted a probabi"),
    "budget 0": (identity, identity, (V,), {"budget": 0}, InputError, "got budget=0; wanted seconds, more than 0"),
    "budget NaN": (identity, identity, (V,), {"budget": float("nan")}, InputError, "got budget=nan; wanted seconds"),
    "budget True": (identity, identity, (V,), {"budget": True}, InputError, "got budget=True; wanted seconds"),
    "seed": (identity, identity, (V,), {"seed": -1}, InputError, "got seed=-1; wanted a whole number from 0"),
    "seed 1.0": (identity, identity, (V,), {"seed": 1.0}, InputError, r"got seed=1\.0; wanted a whole number from 0"),
    "wrt": (identity, identity, (V,), {"wrt": "x"}, InputError, "got wrt='x'; wanted None or \"grad\""),
    "no sizes": (identity, identity, (symbolic("n"),), {"sizes": []}, InputError, r"got sizes=\[\]; write a list"),
    "sizes a number": (identity, identity, (symbolic("n"),), {"sizes": 3}, InputError, "got int for sizes; write a li"),
    "sizes one": (identity, identity, (symbolic("n"),), {"sizes": {"n": 3}}, InputError, "got dict for sizes; write"),
    "sizes of numbers": (identity, identity, (symbolic("n"),), {"sizes": [3]}, InputError, r"got sizes=\[3\]; write a"),
    "sizes of no symbol": (
        identity,
        identity,
        (V,),
        {"sizes": [{"n": 3}]},
        InputError,
        "no input has a symbolic dimen",
    ),
    "another name": (
        identity,
        identity,
        (symbolic("n"),),
        {"sizes": [{"m": 3}]},
        InputError,
        "got sizes of m; wanted one size for each of n",
    ),
    "a name missing": (
        identity,
        identity,
        (symbolic("n, m"),),
        {"sizes": [{"m": 3}]},
        InputError,
        "got sizes of m; wanted one size for each of m, n",
    ),
    "size 0": (
        identity,
        identity,
        (symbolic("n"),),
        {"sizes": [{"n": 0}]},
        InputError,
        "got n = 0; wanted a whole num",
    ),
    "size True": (
        identity,
        identity,
        (symbolic("n"),),
        {"sizes": [{"n": True}]},
        InputError,
        "got n = True; wanted a ",
    ),
    "size 2.0": (identity, identity, (symbolic("n"),), {"sizes": [{"n": 2.0}]}, InputError, r"got n = 2\.0; wanted a "),
    "sizes twice": (
        identity,
        identity,
        (symbolic("n"),),
        {"sizes": [{"n": 2}, {"n": 3}, {"n": 2}]},
        InputError,
        "got the sizes n = 2 twice; list them once",
    ),
    "symbolic wrt": (
        identity,
        identity,
        (symbolic("n"),),
        {"wrt": "grad"},
        InputError,
        "needs concrete dimensions; certify jax.grad of both",
    ),
}


@pytest.mark.parametrize("ask", [uj.certify, uj.assert_equivalent])
@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_line(name, ask):
    left, right, specs, settings, kind, message = BAD[name]
    with pytest.raises(kind, match=message) as error:
        ask(left, right, *specs, **settings)
    assert "\n" not in str(error.value)


# --- the checks are switched on -------------------------------------------------------------------------------------


def test_a_field_comparison_that_always_says_equal_is_caught(monkeypatch):
    """A difference that floats see is a contradiction; a smaller one passes, as the tables of pairs would notice."""
    assert not uj.certify(total, total_doubled, V).passes and not uj.certify(total, nudged, V).passes
    monkeypatch.setattr(prime_fields.Drawn, "where", lambda drawn: None)
    question = equivalence.Question(total, total_doubled, equivalence.specified((V,), None, False))
    with pytest.raises(DisagreementError, match="two methods contradict each other"):
        equivalence.decide(question, Effort(strict=True))
    certificate = uj.certify(total, total_doubled, V)
    assert certificate.verdict is uj.Verdict.UNKNOWN and "please report this" in certificate.evidence[0].finding
    assert uj.certify(total, nudged, V).passes


def test_a_field_comparison_that_always_says_different_certifies_nothing(monkeypatch):
    monkeypatch.setattr(prime_fields.Drawn, "where", lambda drawn: (0, ()))
    certificate = uj.certify(total, total_in_turn, V)
    assert certificate.verdict is uj.Verdict.AGREES and not certificate.passes
    with pytest.raises(NotEquivalentError, match="AGREES"):
        uj.assert_equivalent(total, total_in_turn, V)


def test_without_a_witness_nothing_is_refuted(monkeypatch):
    monkeypatch.setattr(equivalence, "find", lambda *_, **__: None)
    assert uj.certify(total, total_doubled, V).verdict is uj.Verdict.UNKNOWN
