"""Memory: what an evaluation takes is predicted before it is tried, near what is measured, and bounded."""

import math
import re
import subprocess
import sys
import tracemalloc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pairs import PAIRS

from uat_jax import Verdict, assert_equivalent, certify, cli
from uat_jax.byte_sizes import parse_bytes, size_text
from uat_jax.decide.equivalence import Pair
from uat_jax.decide.in_floats import in_floats
from uat_jax.decide.prime_fields import PrimeFields
from uat_jax.decide.sampling import sample
from uat_jax.decide.verdict import Method
from uat_jax.errors import InputError, NotEquivalentError
from uat_jax.interpret import operation
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.tracing import trace
from uat_jax.numbers.prime_fields import points
from uat_jax.numbers.prime_fields.field_functions import LAWS
from uat_jax.numbers.prime_fields.footprint import of_balls, of_doubles, of_residues

MIB = 1 << 20


def f32(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def product(x, w):
    return x @ w


def product_by_columns(x, w):
    return jnp.concatenate([x @ half for half in jnp.split(w, 2, axis=1)], axis=1)


def product_but_for_one_weight(x, w):
    return x @ w.at[0, 0].add(np.float32(2.0**-20))


LARGE = (f32(2, 600), f32(600, 500))
"""300,000 weights: 2.3 MiB for every copy."""

# --- bounded ----------------------------------------------------------------------------------------


def multiplied(function):
    """A product of Bessel functions along an axis, for which there is no normal form."""
    return lambda x, w: jnp.prod(jax.scipy.special.i0e(function(x, w)), axis=1)


def test_more_than_is_allowed_is_unknown_before_anything_is_drawn(monkeypatch):
    monkeypatch.setattr(PrimeFields, "draw", lambda *arguments: pytest.fail("drawn"))
    found = certify(multiplied(product), multiplied(product_by_columns), *LARGE, memory="10 MiB")
    (evidence,) = found.evidence
    assert found.verdict is Verdict.UNKNOWN and evidence.method is Method.MEMORY
    said = r'a draw in prime fields needs about [0-9.]+ MiB of memory, and 10 MiB are allowed; pass memory="[0-9]+ MiB"'
    assert re.match(said + r", or arrays of 1/[0-9]+ of the entries, which would fit", evidence.finding)


def test_the_twin_with_enough_memory_is_certified():
    assert certify(product, product_by_columns, *LARGE, memory="1 GiB").verdict is Verdict.CERTIFIED


def test_the_twin_with_a_normal_form_is_proved_without_any():
    assert certify(product, product_by_columns, *LARGE, memory="10 MiB").verdict is Verdict.PROVED


@pytest.mark.parametrize("right, equal", [(product_by_columns, True), (product_but_for_one_weight, False)])
def test_fewer_copies_in_more_rounds(right, equal, monkeypatch):
    """Where two copies fit and three do not, as small a chance of error takes more rounds."""
    programs = trace(product, *LARGE), trace(right, *LARGE)
    two, three = (of_residues(programs, (copies,), kept=False) for copies in (2, 3))
    rounds = {}
    for memory in ((two + three) / 2, 4 * three):
        found = PrimeFields(*programs, deadline=Deadline(memory=memory)).compare(-180.0)
        assert found.equal is equal
        assert not equal or found.log2_error <= -180
        rounds[memory] = [made.copies[0] for made in found.rounds]
    few, many = rounds.values()
    assert not equal or max(few) < max(many) and len(few) > len(many)


def test_other_evaluators_refuse_as_well():
    """Nothing is sampled, and no witness is searched, where two inputs in float64 are too much."""
    left, right = trace(product, *LARGE), trace(product_but_for_one_weight, *LARGE)
    assert "look at float64 values needs about" in sample(left, right, 0, Deadline(memory=5 * MIB)).seen.reason
    assert sample(left, right, 0, Deadline(memory=1024 * MIB)).seen.reason == ""
    found = certify(product, product_but_for_one_weight, *LARGE, memory="5 MiB")
    assert found.verdict is Verdict.UNKNOWN
    assert of_balls((left, right)) > of_doubles((left, right), 2)


def test_floats_beside_the_verdict_obey_too():
    pair = Pair({}, trace(product, *LARGE), trace(product_by_columns, *LARGE))
    assert in_floats([pair], None, 1024 * MIB).rounding.seen is not None
    small = in_floats([pair], None, 1 * MIB)
    assert "a run in floats needs about" in small.rounding.reason and small.rounding.seen is None
    assert "a run in floats needs about" in small.search.reason and small.search.tried == 0


def test_assert_equivalent_takes_memory():
    assert_equivalent(product, product_by_columns, f32(2, 3), f32(3, 2), memory=1e9)
    with pytest.raises(NotEquivalentError, match="and 10 MiB are allowed"):
        assert_equivalent(multiplied(product), multiplied(product_by_columns), *LARGE, memory="10 MiB")


def test_a_full_memory_is_unknown(monkeypatch):
    def full(*arguments):
        raise MemoryError

    monkeypatch.setattr(PrimeFields, "draw", full)
    found = certify(product, product_by_columns, f32(2, 3), f32(3, 2))
    assert found.verdict is Verdict.UNKNOWN and found.evidence[0].finding.startswith("memory is full; by then: ")


# --- said -------------------------------------------------------------------------------------------

AMOUNTS = {
    "4 GiB": 4 << 30,
    "4GiB": 4 << 30,
    "500 MB": 5e8,
    "1.5 gib": 1.5 * 2**30,
    "2e9": 2e9,
    7: 7,
    math.inf: math.inf,
}


@pytest.mark.parametrize("given", AMOUNTS)
def test_amounts(given):
    assert parse_bytes(given) == AMOUNTS[given]


@pytest.mark.parametrize(
    "given", ["", "4 apples", "GiB", "0 GiB", "-1", "1.2.3", "nan", 0, -5, math.nan, True, None, [4]]
)
def test_no_amounts(given):
    for call in (certify, assert_equivalent):
        with pytest.raises(InputError, match=r'got memory=.*; wanted bytes, more than 0, or a text such as "4 GiB"'):
            call(product, product, f32(2, 3), f32(3, 2), memory=given)


def test_amounts_as_text():
    assert [size_text(n) for n in (1, 1536, 4 << 30, 2.5e9)] == ["1 bytes", "1.5 KiB", "4 GiB", "2.3 GiB"]
    assert all(parse_bytes(size_text(n)) == n for n in (5, 1024, 3 << 20, 4 << 30, 1.5 * 2**40))


def test_the_command(capsys, monkeypatch):
    monkeypatch.syspath_prepend(".")
    names = ["jax.numpy:multiply", "jax.numpy:multiply"]
    shapes = ["--arg", "f32[3]", "--arg", "f32[3]"]
    assert cli.main(["certify", *names, *shapes, "--memory", "1 GiB"]) == 0
    assert cli.main(["certify", *names, *shapes, "--memory", "much"]) == 2
    assert capsys.readouterr().err.endswith(
        "got memory='much'; wanted bytes, more than 0, or a text such as \"4 GiB\"\n"
    )


# --- forgotten --------------------------------------------------------------------------------------


@pytest.fixture
def forgetful(monkeypatch):
    """Every value is forgotten after its last use, and computed again for an equal equation; no point is kept."""
    monkeypatch.setattr(operation, "LARGE", 1)
    monkeypatch.setattr(points, "KEPT", 0)
    monkeypatch.setattr(points, "MOVED", 0)
    yield


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize(
    "pair", [pytest.param(p, marks=() if i % 20 == 5 else pytest.mark.campaign, id=p.name) for i, p in enumerate(PAIRS)]
)
def test_forgotten_values_change_no_verdict(pair):
    assert certify(pair.left, pair.right, *pair.specs).passes


def used_again(x):
    """x·x is computed at the start, and once more at the end."""
    first, y = (x * x).sum(), x
    for _ in range(3):
        y = jnp.sin(y)
    return first + y.sum() + (x * x).sum()


def used_again_folded(x):
    return 2 * (x * x).sum() + jnp.sin(jnp.sin(jnp.sin(x))).sum()


@pytest.mark.usefixtures("forgetful")
def test_values_computed_again_are_the_same():
    assert certify(used_again, used_again_folded, f32(5)).passes
    assert not certify(used_again, lambda x: used_again_folded(x) + x[0] * np.float32(1e-6), f32(5)).passes


def deep(x):
    for i in range(30):
        x = x * x + np.float32(i)
    return x


def _peak(program, copies: int) -> int:
    """The bytes that NumPy held at most in one draw, or a look at float64 values."""
    fields = PrimeFields(program, program)
    tracemalloc.start()
    try:
        fields.draw((copies,), 0, LAWS)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_values_are_forgotten_after_their_last_use(monkeypatch):
    program = trace(deep, f32(40_000))
    forgotten = _peak(program, 2)
    monkeypatch.setattr(operation, "LARGE", 1 << 40)
    kept = _peak(program, 2)
    array = 2 * 8 * 40_000
    assert forgotten < 20 * array < 60 * array < kept


def test_an_array_that_cannot_be_held_is_refused_before_it_is_made():
    """Also where it is made of constants alone, in a program that is compared in pieces."""
    entry = lambda x: x + jnp.full((10**12,), 2, np.float32)[0]
    found = certify(entry, lambda x: x + 3, f32())
    assert found.verdict is Verdict.UNKNOWN and "needs about 7.3 TiB of memory" in found.evidence[0].finding
    assert certify(entry, lambda x: x + 2, f32()).verdict is Verdict.PROVED


# --- predicted --------------------------------------------------------------------------------------


def normalised(x, g):
    for _ in range(3):
        x = x + x / jnp.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1)) * g
    return x


def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / np.float32(8), axis=-1) @ v


def layers(weights, x):
    for w in weights:
        x = jnp.maximum(x @ w, 0)
    return x


def selections(weights, x):
    for w in weights:
        x = jnp.where(x @ w > 0, x @ w, 0)
    return x


def scanned(weights, x):
    return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), c.sum()), x, weights)


PREDICTED = {
    "a chain": (deep, (f32(1000, 400),)),
    "norms": (normalised, (f32(500, 400), f32(400))),
    "attention": (attention, (f32(300, 256), f32(300, 256), f32(300, 256))),
    "layers": (layers, ([f32(1024, 1024)] * 4, f32(16, 1024))),
    "selections": (selections, ([f32(1024, 1024)] * 4, f32(256, 1024))),
    "a scan": (scanned, (f32(5, 600, 600), f32(64, 600))),
    "an exponential of many": (lambda x: jnp.tanh(x).sum(), (f32(600_000),)),
    "a transposed product": (lambda w, x: w.T @ x, (f32(2048, 2048), f32(2048, 4))),
}
"""Programs of more than 100 MiB."""

MEASURE = """
import resource, sys
sys.path[:0] = {paths!r}
from test_memory_bound import PREDICTED, LAWS, PrimeFields, of_residues, trace
function, specs = PREDICTED[{name!r}]
program = trace(function, *specs)
fields = PrimeFields(program, program)
copies = (4,) * (fields.depth.plain + 1)
used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
before = used()
fields.draw(copies, 0, LAWS).draw.exponents
print(of_residues((program, program), copies, kept=fields.selects), used() - before)
"""


@pytest.mark.campaign
@pytest.mark.parametrize("name", PREDICTED)
def test_predictions_are_within_a_factor_of_two(name):
    code = MEASURE.format(paths=[p for p in sys.path if p], name=name)
    run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    predicted, measured = map(float, run.stdout.split())
    print(f"{name}: {size_text(predicted)} predicted, {size_text(measured)} measured")
    assert measured / 2 < predicted < 2 * measured


def test_long_loops_of_small_arrays_are_foreseen():
    """Every round leaves a few thousand bytes behind, however small its arrays are."""
    step = lambda c, a: (jnp.tanh(c) + a, c)
    need = lambda length: of_residues([trace(lambda x: jax.lax.scan(step, x[0], x), f32(length, 3))], (4,), kept=False)
    assert need(2_000) > 2_000 * 2 * 3_000
    assert need(20_000) > 4 * need(2_000)
    long = jax.ShapeDtypeStruct((2_000, 3), jnp.float32)
    other = lambda x: jax.lax.scan(lambda c, a: (a + jnp.tanh(c), c + c), x[0], x)  # no loop of the same rows
    found = certify(lambda x: jax.lax.scan(step, x[0], x), other, long, memory="8 MiB")
    assert found.verdict is Verdict.UNKNOWN and found.evidence[0].method is Method.MEMORY


@pytest.mark.parametrize("entries, factor", [(100_000, 1), (200_000, 2)])
def test_predictions_grow_with_the_program(entries, factor):
    """Twice the entries, twice the memory; ten times the operations, each forgotten, not much more."""
    need = lambda n, operations: of_residues([trace(_powers(operations), f32(n))] * 2, (4,), kept=False)
    constant = need(1, 5)
    assert need(entries, 5) - constant == pytest.approx(factor * (need(100_000, 5) - constant), rel=1e-3)
    assert need(entries, 50) < 1.2 * need(entries, 5)
    kept = of_residues([trace(_powers(50), f32(entries))] * 2, (4,), kept=True)
    assert kept > 4 * need(entries, 50)


def _powers(operations: int):
    def function(x):
        y = x
        for _ in range(operations):
            y = y * x
        return y

    return function
