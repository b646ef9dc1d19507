"""With symbolic dimensions PROVED means for all sizes: true pairs are proved, and no pair that differs somewhere is."""

import functools
import statistics
import time
from itertools import combinations
from random import Random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import random_sized
from excerpt import one_in
from pairs.all_sizes import FALSE, TRUE, extremes, orders
from pairs.all_sizes.row import Row
from rich.console import Console
from rich.table import Table

import uat_jax as uj
from uat_jax.decide.all_sizes import proved_for_all_sizes, symbolic_programs
from uat_jax.decide.assumption import AssumptionKind
from uat_jax.decide.effort import Effort
from uat_jax.decide.specification import specified
from uat_jax.decide.verdict import Method, Verdict

OPEN = frozenset(["grad ln"])
"""True pairs of which no proof is found yet."""

SHARE = 0.92
"""At least so many of the true pairs are proved."""


def proof(row):
    """The proof for all sizes, or None."""
    specification = specified(row.specs, None, False)
    traced = functools.partial(symbolic_programs, row.left, row.right, specification)
    found = proved_for_all_sizes(traced, specification, (), Effort())
    return None if isinstance(found, str) else found[0]


@pytest.mark.parametrize("row", one_in(9, [row for row in TRUE if row.name not in OPEN]), ids=lambda row: row.name)
def test_true_pairs_are_proved(row):
    assert proof(row) is not None


@pytest.mark.campaign
def test_the_table_of_proofs_for_all_sizes():
    """Prints how many pairs are proved, in what time, and which true ones are not and which others are."""
    table = Table("pairs", "number", "proved", "median ms", "maximum ms", "exceptions")
    shares = []
    for title, rows, expected in (("equal at all sizes", TRUE, True), ("different at some", FALSE, False)):
        seconds, exceptions = [], []
        for row in rows:
            start = time.perf_counter()
            if (proof(row) is not None) is not expected:
                exceptions.append(row.name)
            seconds.append(1000 * (time.perf_counter() - start))
        proved = len(rows) - len(exceptions) if expected else len(exceptions)
        times = f"{statistics.median(seconds):.0f}", f"{max(seconds):.0f}"
        table.add_row(title, str(len(rows)), str(proved), *times, "; ".join(exceptions) or "none")
        shares.append(proved / len(rows))
    Console(width=120).print(table)
    assert shares[0] >= SHARE and shares[1] == 0


@pytest.mark.parametrize("row", one_in(9, FALSE), ids=lambda row: row.name)
def test_pairs_that_differ_are_not_proved(row):
    assert proof(row) is None


@pytest.mark.parametrize("row", one_in(3, extremes.FALSE), ids=lambda row: row.name)
def test_rows_of_extremes_differ_at_their_witnesses(row):
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        inputs = list(map(jnp.asarray, extremes.WITNESSES[row.name]))
        left, right = (np.asarray(f(*inputs)) for f in (row.left, row.right))
    assert (left != right).any()


EDGES = np.array([-1, 1, 0, -0.5, 2.5, 2.0**31, -(2.0**31), 100], np.float32)
"""Numbers at which casts to whole numbers and places that they give change."""


def apart(row, seed, draws=60):
    """Whether the functions of a row differ at small whole numbers, many of them equal, or at `EDGES`."""
    random = np.random.default_rng(seed)
    names = sorted({letter for shape in row.shapes for letter in shape if letter.isalpha()})
    for draw in range(draws):
        sizes = {name: int(random.integers(1, 4)) for name in names}
        shapes = [[eval(d, {}, sizes) for d in shape.split(",") if d] for shape in row.shapes]
        some = EDGES if draw % 2 else np.array([-1, 0, 1, 2], np.float32)
        inputs = [jnp.asarray(random.choice(some, shape)) for shape in shapes]
        if not np.allclose(row.left(*inputs), row.right(*inputs), rtol=1e-4, atol=1e-4, equal_nan=True):
            return True
    return False


@pytest.mark.parametrize("row", one_in(15, orders.FALSE), ids=lambda row: row.name)
def test_rows_of_orders_differ_somewhere(row):
    assert apart(row, seed=20261124), "seed 20261124"


@pytest.mark.parametrize(
    ("scaled", "bounded"),
    [
        (lambda x: jnp.int32(3000) * x.shape[0], True),
        (lambda x: jnp.sum(jnp.full(x.shape, 3000, jnp.int32)), True),
        (lambda x: 2 * jnp.int32(x.shape[0]) - 5, True),
        (lambda x: jnp.int32(x.shape[0]) - 1, False),
        (lambda x: jnp.sum(jnp.ones(x.shape, jnp.int32)), False),
    ],
)
def test_integers_that_count_places_are_bounded_and_others_assumed_to_be(scaled, bounded):
    """3000·n wraps around at 715,828."""
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    left = lambda x: x * scaled(x).astype(jnp.float32)
    certificate = uj.certify(left, lambda x: scaled(x).astype(jnp.float32) * x * 1.0, spec)
    assert certificate.verdict is Verdict.PROVED
    assert [a.kind for a in certificate.assumptions] == [AssumptionKind.LARGEST_SIZE] * bounded


def test_whole_numbers_in_the_step_of_a_scan_are_assumed_not_to_wrap():
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)

    def scanned(compare):
        def function(x):
            def step(carry, r):
                large = compare(jnp.int32(3000) * x.shape[0])
                return jnp.where(large, jnp.sin(carry) + r, carry), None

            return jax.lax.scan(step, x[0], x)[0]

        return function

    certificate = uj.certify(scanned(lambda n: n >= 0), scanned(lambda n: n > -1), spec)
    assert certificate.verdict is Verdict.PROVED
    assert [a.kind for a in certificate.assumptions] == [AssumptionKind.LARGEST_SIZE]


def test_tables_are_long_enough_and_names_unique():
    names = [row.name for row in (*TRUE, *FALSE)]
    assert len(FALSE) >= 100 and len(TRUE) >= 100
    assert len(set(names)) == len(names)


@pytest.mark.campaign
@pytest.mark.parametrize("row", FALSE, ids=lambda row: row.name)
def test_no_verdict_passes_on_pairs_that_differ(row):
    assert not uj.certify(row.left, row.right, *row.specs).passes


def test_certificate_of_a_proof():
    row = next(row for row in TRUE if row.name == "attention: stable")
    certificate = uj.certify(row.left, row.right, *row.specs)
    (evidence,) = certificate.evidence
    assert certificate.passes and certificate.verdict is Verdict.PROVED
    assert evidence.method is Method.INDEXED_NORMAL_FORM and evidence.subject == "all sizes"
    assert certificate.assumptions == ()


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        (
            lambda x: x[jnp.argsort(jnp.log(x))] * np.float32(2),
            lambda x: np.float32(2) * x[jnp.argsort(jnp.log(x))],
            "an order of numbers that may be undefined (a divisor that may be 0) is not followed",
        ),
        (
            lambda x: jax.lax.cummax(jax.lax.cummax(x)) * np.float32(2),
            lambda x: np.float32(2) * jax.lax.cummax(x),
            "in which a maximum along an axis and an array that both compute (cut) stand",
        ),
    ],
)
def test_what_a_proof_for_all_sizes_lacks_is_said(left, right, said):
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    certificate = uj.certify(left, right, spec)
    assert certificate.verdict is Verdict.AGREES and said in certificate.evidence[-1].finding


def test_a_file_keeps_a_proof(tmp_path):
    row = next(row for row in TRUE if row.name == "sum of a reshape that fits")
    certificate = uj.certify(row.left, row.right, *row.specs)
    assert "all sizes with h*d == n" in certificate.evidence[0].finding
    again = uj.load(certificate.save(tmp_path / "c.json"))
    assert again.passes and again.to_json() == certificate.to_json()
    assert uj.recheck(again).evidence == certificate.evidence


def nowhere(x):
    """NaN for all inputs."""
    return jnp.log(-jnp.exp(x))


@pytest.mark.parametrize(
    ("left", "right"),
    [(nowhere, lambda x: 1.0 * nowhere(x)), (lambda x: x * nowhere(x) - x * nowhere(x), lambda x: 0.0 * x)],
)
def test_functions_that_are_nowhere_defined_are_not_proved_equal(left, right):
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    assert not uj.certify(left, right, spec).passes


def test_cancelled_divisors_are_listed():
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    certificate = uj.certify(lambda x: x * x / x, lambda x: x, spec)
    (evidence,) = certificate.evidence
    assert certificate.verdict is Verdict.PROVED and evidence.figures["divisors"]


def test_constants_as_meant_are_assumptions():
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    certificate = uj.certify(lambda x: x * jnp.float32(0.1) * 10, lambda x: x, spec)
    assert certificate.verdict is Verdict.PROVED and len(certificate.assumptions) == 1


def unless(says, dtype=jnp.float32):
    """x, or 0 where something is not so of its length; and that it is x."""
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), dtype)
    return lambda x: x * says(jnp.asarray(x.shape[0])).astype(x.dtype), lambda x: x, spec


# Whole numbers made of a size.  name: (one that wraps at a size that fits into memory, one that never does)
OF_SIZES = {
    "a multiple": (lambda n: n * 1024 >= 0, lambda n: n * 1 >= 0),
    "a sum": (lambda n: n + n >= 0, lambda n: n - 1 + 1 >= 0),
    "a difference": (lambda n: -n - n <= 0, lambda n: n - 1 >= 0),
    "a sum of many": (lambda n: jnp.full(4, n).sum() >= 0, lambda n: jnp.full(1, n).sum() >= 0),
    "a sum of a number and a multiple": (lambda n: 5 - n * 2048 <= 5, lambda n: 1 - n <= 0),
}


@pytest.mark.parametrize("name", OF_SIZES)
def test_whole_numbers_of_sizes_that_may_wrap_are_an_assumption(name):
    wraps, never = (uj.certify(*unless(says)) for says in OF_SIZES[name])
    assert [a.kind for a in wraps.assumptions] == ["largest size"] and not never.assumptions
    assert never.verdict is Verdict.PROVED and never.evidence[0].subject == "all sizes"


@pytest.mark.parametrize("power", [2, 4])
def test_sizes_that_are_cast_to_fewer_bits_are_not_followed(power):
    """n⁴ has more than 31 bits from n = 216 on, and n² from n = 46341 on: of doubles JAX makes it of 64 bits."""
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float64)
    where = lambda says: lambda x: x * says(x.shape[0]).astype(x.dtype)
    narrow = lambda whole: jnp.asarray(whole).astype(jnp.int32)
    assert not uj.certify(where(lambda n: narrow(n**power) >= 0), lambda x: x, spec).passes
    assert uj.certify(where(lambda n: narrow(n) >= 0), lambda x: x, spec).passes
    assert uj.certify(where(lambda n: jnp.asarray(n**power) >= 0), lambda x: x, spec).passes


def test_listed_sizes_are_the_claim():
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    certificate = uj.certify(lambda x: x[:4].sum(), jnp.sum, spec, sizes=[{"n": 3}])
    assert certificate.passes and all(e.method is not Method.INDEXED_NORMAL_FORM for e in certificate.evidence)


@pytest.mark.parametrize(
    ("programs", "along"),
    [(25, False), *(pytest.param(*case, marks=pytest.mark.campaign) for case in ((300, False), (100, True)))],
)
def test_random_functions_that_differ_are_not_proved(programs, along):
    random, pool, proved, seen = Random(20261123), {}, 0, {}
    while len(pool) < programs:
        expression = random_sized.one(random, random.randint(1, 3), along)
        pool[expression.text] = expression
    for left, right in combinations(pool.values(), 2):
        if left.shape == right.shape and proof(random_row(left, right)) is not None:
            values = [seen.setdefault(e.text, random_sized.values(e)) for e in (left, right)]
            assert not random_sized.differ(*values), f"{left.text} against {right.text}"
            proved += 1
    assert proved


def random_row(left, right):
    return Row(f"{left.text} against {right.text}", left.function, right.function, random_sized.SHAPES)
