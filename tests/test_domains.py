"""Domains of inputs: what holds inside is certified, what differs is refuted inside, and nothing outside counts."""

import dataclasses
import json
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.decide.assumption import AssumptionKind
from uat_jax.decide.description import describe
from uat_jax.decide.domain import REALS, Domains, Interval, Restricted, parse_domain
from uat_jax.decide.specification import Specification, parse
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import DomainError, InputError, MismatchError, NotEquivalentError

S = jax.ShapeDtypeStruct((), jnp.float32)
V = jax.ShapeDtypeStruct((3,), jnp.float32)
ANYTHING: Any = lambda x: x
ONE, ZERO, HALF = np.float32(1), np.float32(0), np.float32(0.5)
indicator = lambda condition: jnp.where(condition, ONE, ZERO)
one = lambda x: jnp.ones_like(x)
same = lambda x: x
logs = lambda x, y: jnp.log(x) + jnp.log(y)
into_bytes = lambda x: x.astype(jnp.int8).astype(jnp.float32)

# name: (left, right, inputs)
TRUE: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "square of a root": (lambda x: jnp.sqrt(x) ** 2, same, (uj.nonnegative(V),)),
    "root of a square": (lambda x: jnp.sqrt(x * x), same, (uj.nonnegative(V),)),
    "magnitude": (jnp.abs, same, (uj.nonnegative(V),)),
    "magnitude of a negative": (jnp.abs, lambda x: -x, (uj.interval(V, -3, 0),)),
    "relu": (jax.nn.relu, same, (uj.nonnegative(V),)),
    "step": (lambda x: jnp.where(x > 0, x, ZERO), same, (uj.positive(V),)),
    "step that is always taken": (lambda x: indicator(x > 0), one, (uj.positive(V),)),
    "step with an end": (lambda x: indicator(x >= 0), one, (uj.nonnegative(V),)),
    "never equal": (lambda x: x + indicator(x == 0), same, (uj.positive(V),)),
    "always different": (lambda x: indicator(x != 0), one, (uj.positive(V),)),
    "sign": (lambda x: x * jnp.sign(x), same, (uj.positive(V),)),
    "logarithm of a product": (lambda x, y: jnp.log(x * y), logs, (uj.positive(V), uj.positive(V))),
    "logarithm of a quotient": (
        lambda x, y: jnp.log(x / y),
        lambda x, y: jnp.log(x) - jnp.log(y),
        (uj.positive(S), uj.interval(S, 0.5, 8)),
    ),
    "logarithm of a power": (lambda x: jnp.log(x**3), lambda x: 3 * jnp.log(x), (uj.positive(V),)),
    "exponential of a logarithm": (lambda x: jnp.exp(jnp.log(x)), same, (uj.positive(V),)),
    "entropy": (lambda p: -p * jnp.log(p), lambda p: p * jnp.log(1 / p), (uj.interval(V, 0.125, 1),)),
    "clip": (lambda x: jnp.clip(x, 0, 1), same, (uj.interval(V, 0, 1),)),
    "hard tanh": (jax.nn.hard_tanh, same, (uj.interval(V, -1, 1),)),
    "relu6 above": (jax.nn.relu6, lambda x: 0 * x + 6, (uj.interval(V, 6, 9),)),
    "magnitude of what is left": (lambda x: jnp.abs(1 - x), lambda x: 1 - x, (uj.interval(V, 0, 1),)),
    "maximum": (lambda x, y: jnp.maximum(x, y), lambda x, y: x, (uj.interval(V, 2, 3), uj.interval(V, 1, 2))),
    "minimum": (lambda x, y: jnp.minimum(x, y), lambda x, y: y, (uj.interval(V, 2, 3), uj.interval(V, 1, 2))),
    "outside": (lambda x: jnp.where(x > 5, x + 1, x), same, (uj.interval(V, -1, 2),)),
    "outside, below": (lambda x: jnp.where(x < -5, x + 1, x), same, (uj.interval(V, -5, math.inf),)),
    "odd cast": (into_bytes, lambda x: -into_bytes(-x), (uj.interval(V, -100, 100),)),
    "half precision": (jnp.abs, same, (uj.nonnegative(jax.ShapeDtypeStruct((2,), jnp.bfloat16)),)),
    "in a tree": (
        lambda p: jnp.sqrt(p["a"]) ** 2 + p["b"][0],
        lambda p: p["a"] + p["b"][0],
        ({"a": uj.nonnegative(V), "b": [V]},),
    ),
    "beside integers": (lambda i, x: jnp.abs(x)[i], lambda i, x: x[i], (np.arange(2), uj.nonnegative(V))),
    "any real number after all": (lambda x: 2 * x, lambda x: x + x, (uj.interval(V, -math.inf, math.inf),)),
}
"""Equal in the domain."""

NOT_NEEDED = {"entropy", "any real number after all"}
"""Rows of `TRUE` that are certified without their domain too: both sides are defined for the same real numbers."""

REFUTED: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "square of a root": (lambda x: jnp.sqrt(x) ** 2, lambda x: x + HALF, (uj.nonnegative(V),)),
    "magnitude": (jnp.abs, lambda x: -x, (uj.nonnegative(V),)),
    "magnitude where some are negative": (jnp.abs, same, (uj.interval(V, -0.125, 2),)),
    "relu": (jax.nn.relu, same, (uj.interval(V, -0.125, 2),)),
    "step": (lambda x: jnp.where(x > 0, x, ZERO), lambda x: x + 1, (uj.positive(V),)),
    "step at the end": (lambda x: indicator(x > 0), one, (uj.nonnegative(V),)),
    "equal at the end": (lambda x: indicator(x == 0), lambda x: 0 * x, (uj.nonnegative(V),)),
    "sign at the end": (jnp.sign, one, (uj.nonnegative(V),)),
    "logarithm of a product": (lambda x, y: jnp.log(x + y), logs, (uj.positive(V), uj.positive(V))),
    "logarithm of a power": (lambda x: jnp.log(x**3), lambda x: 2 * jnp.log(x), (uj.positive(V),)),
    "clip": (lambda x: jnp.clip(x, 0, 1), same, (uj.interval(V, 0, 1.5),)),
    "maximum": (lambda x, y: jnp.maximum(x, y), lambda x, y: x, (uj.interval(V, 2, 3), uj.interval(V, 1, 2.5))),
    "upper end": (lambda x: jnp.where(x >= 2, x + 1, x), same, (uj.interval(V, -1, 2),)),
    "lower end": (lambda x: jnp.where(x <= -1, x + 1, x), same, (uj.interval(V, -1, 2),)),
    "end that is no whole number": (lambda x: jnp.where(x >= 0.75, x + 1, x), same, (uj.interval(V, 0.25, 0.75),)),
    "both ends at once": (
        lambda x: jnp.where((x[0] <= 0.25) & (x[1] >= 0.75), x[0] + 1, x[0]),
        lambda x: x[0],
        (uj.interval(V, 0.25, 0.75),),
    ),
    "one end, and inside in the other": (
        lambda x: jnp.where(x[0] >= 1, x[1] * (1 - x[1]), ZERO),
        lambda x: 0 * x[0],
        (uj.interval(V, 0, 1),),
    ),
    "an end and a tie": (
        lambda x: jnp.where((x[0] >= 1) & (x[1] == 0.3125), x[1], ZERO),
        lambda x: 0 * x[0],
        (uj.interval(V, 0.25, 1),),
    ),
    "floor at the end": (lambda x: jnp.floor(x) + x, lambda x: x * 1, (uj.interval(V, 0, 1),)),
    "cast that saturates": (into_bytes, lambda x: -into_bytes(-x), (uj.interval(V, -200, 200),)),
    "far away": (lambda x: x * indicator(x > 100.5), same, (uj.interval(V, 100, 101),)),
    "a short interval": (lambda x: x * indicator(x > 0.375), same, (uj.interval(V, 0.25, 0.5),)),
    "below": (lambda x: jnp.where(x < -7, x, x + 1), lambda x: x + 1, (uj.interval(V, -math.inf, -5),)),
}
"""Different at an input of the domain, in some rows at an end only."""

OUTSIDE: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "a half-line": (lambda x: jnp.where(x < 0, x * x, x), same, (uj.nonnegative(V),)),
    "the end alone, which is left out": (lambda x: jnp.where(x == 0, ONE, x), same, (uj.positive(V),)),
    "a jump": (lambda x: jnp.where(x > 3, jnp.exp(x), x), same, (uj.interval(V, 0, 3),)),
    "a tie": (lambda x: indicator(x > 2), lambda x: indicator(x >= 2), (uj.interval(V, -1, 1.5),)),
    "a floor": (jnp.floor, lambda x: 0 * x, (uj.interval(V, 0.25, 0.75),)),
    "a root": (lambda x: jnp.sqrt(jnp.abs(x)), jnp.sqrt, (uj.nonnegative(V),)),
    "a power": (lambda x, a: x**a, lambda x, a: jnp.exp(a * jnp.log(x)), (uj.positive(V), V)),
}
"""Different outside the domain only."""

AT_ONE_POINT = {"the end alone, which is left out", "a tie"}
"""Rows of `OUTSIDE` that differ at one number only, and so are equal almost everywhere without a domain."""


def domains_of(specs: tuple[Any, ...]) -> Domains:
    return Specification(specs).domains


def inside(specs: tuple[Any, ...], arrays: Any) -> bool:
    """Whether the floats of an input lie in their domains."""
    return bool(domains_of(specs).contain([np.asarray(x, np.float64)[None] for x in arrays]).all())


@pytest.mark.parametrize("name", TRUE)
def test_what_holds_in_the_domain_is_certified(name):
    left, right, specs = TRUE[name]
    certificate = uj.certify(left, right, *specs)
    assert certificate.verdict in (Verdict.CERTIFIED, Verdict.PROVED), describe(certificate)
    assert uj.recheck(certificate).verdict is certificate.verdict


@pytest.mark.parametrize("name", REFUTED)
def test_what_differs_in_the_domain_is_refuted_inside(name):
    left, right, specs = REFUTED[name]
    certificate = uj.certify(left, right, *specs)
    assert certificate.verdict is Verdict.REFUTED, describe(certificate)
    found = certificate.counterexample
    assert found and inside(specs, found.arrays)
    arguments = jax.tree.unflatten(jax.tree.structure(specs), map(jnp.asarray, found.arrays))
    values = [np.asarray(f(*arguments), np.float64)[found.entry] for f in (left, right)]
    # Up to a dozen operations of float32 on numbers below 1024, each of relative error 2^-24.
    assert np.allclose(values, [found.left, found.right], rtol=2.0**-18, atol=2.0**-18)
    assert abs(values[0] - values[1]) > 2.0**-8
    assert uj.recheck(certificate).verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_differs_outside_only_is_not_refuted(name):
    left, right, specs = OUTSIDE[name]
    assert uj.certify(left, right, *specs).verdict in (Verdict.CERTIFIED, Verdict.AGREES)
    plain = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in specs]
    assert not uj.certify(left, right, *plain).passes
    assert uj.certify(left, right, *plain, almost_everywhere=True).passes == (name in AT_ONE_POINT)


@pytest.mark.parametrize("name", TRUE)
def test_the_domain_is_needed(name):
    left, right, specs = TRUE[name]
    plain = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype) if isinstance(x, Restricted) else x, specs)
    assert uj.certify(left, right, *plain).passes == (name in NOT_NEEDED)


def test_the_end_counts_everywhere_and_not_almost_everywhere():
    left, right = (lambda x: indicator(x > 0)), one
    assert uj.certify(left, right, uj.nonnegative(V)).verdict is Verdict.REFUTED
    assert uj.certify(left, right, uj.nonnegative(V), almost_everywhere=True).verdict is Verdict.CERTIFIED
    assert uj.certify(left, right, uj.interval(V, -1, 2), almost_everywhere=True).verdict is Verdict.REFUTED


def test_derivatives_in_the_domain():
    left, right = (lambda x: jnp.log(x * x)), (lambda x: 2 * jnp.log(x))
    assert uj.certify(left, right, uj.positive(S), wrt="grad").verdict is Verdict.CERTIFIED
    wrong = uj.certify(left, lambda x: jnp.log(x), uj.positive(S), wrt="grad")
    assert wrong.verdict is Verdict.REFUTED and wrong.counterexample and wrong.counterexample.arrays[0] > 0


def test_symbolic_dimensions_keep_the_domain():
    (spec,) = parse("f32[n] >= 0")
    listed = [{"n": 1}, {"n": 4}]
    assert uj.certify(jnp.abs, same, spec, sizes=listed).verdict is Verdict.CERTIFIED
    assert uj.certify(jnp.abs, same, spec).verdict is Verdict.PROVED
    wrong = uj.certify(lambda x: jnp.cumsum(x), same, spec)
    assert (
        wrong.counterexample and wrong.counterexample.sizes == {"n": 2} and (wrong.counterexample.arrays[0] >= 0).all()
    )


# ---------------------------------------------------------------- the hypothesis is part of the claim


def test_the_certificate_states_the_domain(tmp_path):
    certificate = uj.certify(lambda x, y: jnp.abs(x) * y, lambda x, y: x * y, uj.positive(V), uj.interval(S, -1, 2.5))
    assert certificate.claim["inputs"] == ["float32[3] > 0", "float32[] in [-1, 2.5]"]
    domains = [a for a in certificate.assumptions if a.kind is AssumptionKind.DOMAIN]
    assert [a.text for a in domains] == ["x > 0", "-1 <= y <= 2.5"]
    assert [a.about["domain"] for a in domains] == [" > 0", " in [-1, 2.5]"]
    assert describe(certificate).splitlines()[0].endswith(", for x > 0 and -1 <= y <= 2.5")
    loaded = uj.load(certificate.save(tmp_path / "c.json"))
    assert loaded.assumptions == certificate.assumptions
    assert uj.recheck(tmp_path / "c.json").claim["inputs"] == certificate.claim["inputs"]
    with pytest.raises(NotEquivalentError, match=r"for x >= 0"):
        uj.assert_equivalent(jnp.abs, lambda x: -x, uj.nonnegative(V))


def _tampered(certificate, tmp_path, inputs, domains):
    """A file whose claim and assumptions state other domains."""
    body = json.loads(certificate.to_json())
    body["claim"]["inputs"] = inputs
    kept = [a for a in body["assumptions"] if a["kind"] != "domain"]
    about = [{"position": i, "name": "x", "domain": text} for i, text in enumerate(domains) if text]
    made = [dict(kind="domain", about=a, at=[], text=parse_domain(a["domain"]).written("x")) for a in about]
    body["assumptions"] = [*kept, *made]
    (tmp_path / "t.json").write_text(json.dumps(body))
    return tmp_path / "t.json"


TAMPERED = {
    "the claim alone": (["float32[3]"], [" > 0"], "the domains that the certificate assumes are not those"),
    "the assumption alone": (["float32[3] > 0"], [""], "the domains that the certificate assumes are not those"),
    "a wider domain": (["float32[3] >= -1"], [" >= -1"], "says CERTIFIED; decided again it is REFUTED"),
    "all numbers": (["float32[3]"], [""], "says CERTIFIED; decided again it is REFUTED"),
    "no number": (["float32[3] in [2, 1]"], [" > 0"], "no input satisfies 2 <= x <= 1"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_recheck_sees_another_domain(name, tmp_path):
    inputs, domains, message = TAMPERED[name]
    certificate = uj.certify(lambda x: indicator(x > 0), one, uj.positive(V))
    assert uj.recheck(_tampered(certificate, tmp_path, ["float32[3] > 0"], [" > 0"])).passes
    with pytest.raises((MismatchError, InputError), match=message):
        uj.recheck(_tampered(certificate, tmp_path, inputs, domains))


def test_a_recheck_sees_a_counterexample_outside(tmp_path):
    certificate = uj.certify(jnp.abs, lambda x: -x, uj.interval(S, -1, 2))
    assert certificate.verdict is Verdict.REFUTED
    with pytest.raises(MismatchError, match="outside the domain of its inputs"):
        uj.recheck(_tampered(certificate, tmp_path, ["float32[] <= -1"], [" <= -1"]))


def test_rounding_and_hazards_are_looked_at_inside():
    low, high = 100.0, 101.0
    softmax = lambda x: jnp.exp(x) / jnp.exp(x).sum()
    certificate = uj.certify(jax.nn.softmax, softmax, uj.interval(V, low, high))
    assert certificate.hazards and certificate.rounding
    for arrays in (*(h.inputs for h in certificate.hazards), certificate.rounding.inputs):
        assert all(((low <= x) & (x <= high)).all() for x in arrays)
    assert not uj.certify(jax.nn.softmax, softmax, uj.interval(V, -2, 2)).hazards
    inverse = uj.certify(lambda x: x * x / x, same, uj.interval(V, 0.5, 2))
    assert inverse.passes and not inverse.hazards and uj.certify(lambda x: x * x / x, same, uj.nonnegative(V)).hazards


# ---------------------------------------------------------------- domains by themselves

INTERVALS = {
    "all": REALS,
    "positive": Interval(0, math.inf, open=True),
    "nonnegative": Interval(0, math.inf),
    "at most": Interval(-math.inf, -5),
    "unit": Interval(0, 1),
    "unit without 0": Interval(0, 1, open=True),
    "ends that no float holds": Interval(0.1, 0.7),
    "far away": Interval(100, 101),
    "wide": Interval(-6e4, 6e4),
    "above": Interval(2.5, math.inf, open=True),
}
DTYPES = [np.dtype(x) for x in (jnp.float16, jnp.bfloat16, jnp.float32, np.float64)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", INTERVALS)
def test_candidates_are_brought_inside(name, dtype):
    domain, random = INTERVALS[name], np.random.default_rng(0)
    shape = (64, 3)
    drawn = [random.integers(-3, 4, shape), random.standard_normal(shape), 50 * random.standard_normal(shape)]
    ends = [x for x in (domain.low, domain.high) if math.isfinite(x)]
    drawn += [np.full(shape, end) for end in ends]
    for points in map(np.asarray, drawn):
        folded, clipped = (move(points.astype(np.float64), dtype) for move in (domain.folded, domain.clipped))
        for moved in (folded, clipped):
            assert domain.contains(moved).all() and (moved.astype(dtype).astype(np.float64) == moved).all()
        held = points.astype(np.float64).astype(dtype).astype(np.float64)
        low, high = domain.ends(dtype)
        stay = (points >= low) & (points <= high)
        assert (folded[stay] == held[stay]).all() and (clipped[stay] == held[stay]).all()
    corners = domain.corners(random, shape, dtype)
    assert domain.contains(corners).all()
    if len(ends) == 2:
        assert set(np.unique(corners)) == set(domain.ends(dtype)) and len(np.unique(corners[0])) == 1
    varied = domain.folded(50 * random.standard_normal((200, 1)), dtype)
    assert len(np.unique(varied)) > 2


@pytest.mark.parametrize("name", INTERVALS)
def test_a_domain_is_read_as_it_is_written(name):
    domain = INTERVALS[name]
    assert parse_domain(domain.text) == domain
    (spec,) = parse(f"f32[2,3]{domain.text}")
    assert getattr(spec, "domain", REALS) == domain and spec.shape == (2, 3)


@pytest.mark.parametrize("name", INTERVALS)
def test_which_ends_belong(name):
    domain = INTERVALS[name]
    belongs = lambda x: bool(domain.contains(np.full((1, 2), x))[0])
    if math.isfinite(domain.low):
        assert belongs(domain.low) is not domain.open and not belongs(np.nextafter(domain.low, -math.inf))
        assert belongs(np.nextafter(domain.low, math.inf))
    if math.isfinite(domain.high):
        assert belongs(domain.high) and not belongs(np.nextafter(domain.high, math.inf))
    assert not belongs(math.nan) and not domain.contains(np.array([[domain.ends(np.dtype(float))[0], math.nan]]))[0]


def test_an_interval_has_one_form():
    assert Interval(-math.inf, math.inf, open=True) == REALS == parse_domain("in (-inf, inf]")
    assert Interval(-math.inf, 3, open=True) == Interval(-math.inf, 3) == parse_domain("<= 3")
    assert parse_domain(">= -0.0").text == " >= 0" and isinstance(parse("f32[2] <= inf")[0], jax.ShapeDtypeStruct)


def test_facts_of_a_domain():
    signs = {name: (domain.positive, domain.nonnegative) for name, domain in INTERVALS.items()}
    assert signs == {
        "all": (False, False),
        "positive": (True, True),
        "nonnegative": (False, True),
        "at most": (False, False),
        "unit": (False, True),
        "unit without 0": (True, True),
        "ends that no float holds": (True, True),
        "far away": (True, True),
        "wide": (False, False),
        "above": (True, True),
    }
    assert all(domain.facts((2,)).positive.all() == domain.positive for domain in INTERVALS.values())


def test_an_input_in_two_domains_is_in_both():
    assert uj.positive(uj.interval(V, -2, 1)).domain == Interval(0, 1, open=True)
    assert uj.interval(uj.positive(V), 0, 1).domain == Interval(0, 1, open=True)
    assert uj.nonnegative(uj.positive(V)).domain == Interval(0, math.inf, open=True)
    assert uj.interval(uj.nonnegative(V), 1, 2).domain == Interval(1, 2)
    assert uj.interval(V, 1, 3).domain == uj.interval(np.ones(3, np.float32), ANYTHING(np.float32(1)), 3).domain


F16 = jax.ShapeDtypeStruct((2,), jnp.float16)
BAD = {
    "contradiction": (lambda: uj.positive(uj.interval(V, -2, -1)), "no input satisfies x > 0 and -2 <= x <= -1; drop"),
    "open contradiction": (lambda: uj.positive(uj.interval(V, -1, 0)), "no input satisfies x > 0 and -1 <= x <= 0"),
    "exchanged ends": (lambda: uj.interval(V, 2, 1), "no input satisfies 2 <= x <= 1; give an interval"),
    "one number": (lambda: uj.interval(V, 2, 2), "x = 2 alone satisfies 2 <= x <= 2; close over that constant"),
    "one number of two": (lambda: uj.nonnegative(uj.interval(V, -1, 0)), "x = 0 alone satisfies"),
    "infinite": (lambda: uj.interval(V, math.inf, math.inf), "no input satisfies x >= inf"),
    "NaN": (lambda: uj.interval(V, 0, math.nan), "got nan for an end of an interval; wanted a number"),
    "text": (lambda: uj.interval(V, ANYTHING("0"), 1), "got '0' for an end of an interval"),
    "truth": (lambda: uj.interval(V, False, True), "got False for an end of an interval"),
    "huge": (lambda: uj.interval(V, 0, 10**400), "which float64 does not hold"),
    "not exact": (lambda: uj.interval(V, 0, 2**53 + 1), "which float64 does not hold"),
    "outside the dtype": (lambda: uj.interval(F16, 0, 1e5), "float16 holds numbers up to 65504: choose an end within"),
    "wholly outside": (lambda: uj.interval(V, 1e39, 1e40), "float32 holds numbers up to 3.40282e[+]38"),
    "between two floats": (lambda: uj.interval(F16, 1.0001, 1.0002), "no two numbers of float16 satisfy"),
    "integers": (lambda: uj.positive(jax.ShapeDtypeStruct((2,), jnp.int32)), "write uj.integers"),
    "fixed integers": (lambda: uj.interval(np.arange(3), 0, 9), "write uj.integers"),
    "an array outside": (lambda: uj.positive(np.asarray([1, -2], np.float32)), r"holds -2 at \[1\]"),
    "an array beyond an end": (lambda: uj.interval(jnp.ones(()), -1, 0.5), r"holds 1;"),
    "an array with NaN": (lambda: uj.nonnegative(np.asarray([np.nan], np.float32)), r"holds nan at \[0\]"),
    "booleans": (lambda: uj.positive(np.array([True])), "only floats have a domain"),
    "a tree": (lambda: uj.positive({"a": V}), "got a dict for an input with a domain; pass a jax.ShapeDtypeStruct"),
    "a number": (lambda: uj.positive(3.0), "got a float for an input with a domain"),
    "strict below": (lambda: parse("f32[2] < 3"), "got '< 3' for a domain; write > 0"),
    "no number behind": (lambda: parse("f32[2] > zero"), "got '> zero' for a domain, and zero is no number"),
    "half an interval": (lambda: parse("f32[2] in [0, 1"), r"got 'in \[0, 1' for a domain"),
    "words": (lambda: parse("f32[2] positive"), "got 'positive' for a domain"),
    "empty on the command line": (lambda: parse("f32[2] in [1, 0]"), "no input satisfies 1 <= x <= 0"),
    "NaN on the command line": (lambda: parse("f32[2] > nan"), "got nan for an end"),
}


@pytest.mark.parametrize("name", BAD)
def test_unusable_domains_get_one_line(name):
    make, message = BAD[name]
    with pytest.raises(DomainError, match=message) as error:
        make()
    assert "\n" not in str(error.value) and isinstance(error.value, InputError)


def test_a_domain_is_data():
    assert dataclasses.asdict(uj.positive(V).domain) == {"low": 0.0, "high": math.inf, "open": True}
    with pytest.raises(dataclasses.FrozenInstanceError):
        uj.positive(V).domain.low = 1.0  # type: ignore[misc]
