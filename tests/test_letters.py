"""Whole numbers as letters: what is concluded in a case holds at every point of the case, and every point has one."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax
from jax.extend.core import Literal

import uat_jax as uj
from uat_jax.decide import whole_inputs
from uat_jax.decide.domain import Domains
from uat_jax.decide.effort import deadline
from uat_jax.decide.integers import Integers
from uat_jax.decide.lookups.differences import between
from uat_jax.decide.lookups.letters import Letters
from uat_jax.decide.lookups.texts import Texts
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.inlining import inlined
from uat_jax.interpret.retracing import bound

LOW, HIGH, COUNT = -1, 2, 3
SEEDS = range(60)


def hypotheses(random):
    """Random hypotheses (kind, i, j, c) on three numbers and 0."""
    for _ in range(random.integers(1, 7)):
        i, j = random.choice(COUNT + 1, 2, replace=False)
        yield ("most", "equal", "unequal")[random.integers(3)], int(i), int(j), int(random.integers(-3, 4))


def fits(hypothesis, point):
    """Whether a point satisfies a hypothesis."""
    (kind, i, j, c), x = hypothesis, (0, *point)
    return {"most": x[i] - x[j] <= c, "equal": x[i] - x[j] == c, "unequal": x[i] - x[j] != c}[kind]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_follows_from_hypotheses_holds_where_they_do(seed):
    random = np.random.default_rng(seed)
    known, held = between([(LOW, HIGH)] * COUNT), []
    points = list(itertools.product(range(LOW, HIGH + 1), repeat=COUNT))
    for hypothesis in hypotheses(random):
        kind, i, j, c = hypothesis
        held.append(hypothesis)
        found = getattr(known, f"with_{kind}")(i, j, c)
        there = [p for p in points if all(fits(h, p) for h in held)]
        if found is None:
            assert not there, f"seed {seed}"
            return
        known = found
        for p in there:
            x = np.array([0, *p])
            assert (x[:, None] - x[None, :] <= known.most).all(), f"seed {seed}"
            first, shift = known.known
            assert (x == x[first] + shift).all(), f"seed {seed}"
            for a, b, d in itertools.product(range(COUNT + 1), range(COUNT + 1), range(-4, 5)):
                assert a == b or x[a] - x[b] != d or not known.excluded(a, b, d), f"seed {seed}"
        if there:
            for order in (None, np.random.default_rng(seed)):
                numbers = known.numbers(order)
                assert numbers is None or tuple(numbers) in there, f"seed {seed}"


def program(seed):
    """A random program of three small integers that adds, moves, compares and chooses."""
    random = np.random.default_rng(seed)
    pick = lambda values: values[random.integers(len(values))]
    steps = []
    one = {
        "negate": lambda a: -a,
        "turn": lambda a: a[::-1],
        "roll": lambda a: jnp.roll(a, 1),
        "shift": lambda a: a + jnp.int8(1),
        "sign": lambda a: a * jnp.array([1, 0, -1], jnp.int8),
        "clip": lambda a: jnp.clip(a, -1, 1).astype(jnp.int8),
        "wide": lambda a: a.astype(jnp.int32).astype(jnp.int8),
        "first": lambda a: jnp.broadcast_to(lax.dynamic_slice(a, (0,), (1,)), (3,)),
        "far": lambda a: a + jnp.int8(126),
    }
    two = {
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "larger": jnp.maximum,
        "smaller": jnp.minimum,
        "ordered": lambda a, b: jnp.where(a < b, a, b + 1),
        "equal": lambda a, b: jnp.where(a == b, a, -b),
        "unequal": lambda a, b: jnp.where(a != b[::-1], b, a - 1),
        "at least": lambda a, b: (a >= b).astype(jnp.int8),
        "table": lambda a, b: jnp.where((a[:, None] <= b[None, :]).any(1), a, b),
    }
    for _ in range(5):
        name = pick([*one, *two])
        steps.append((name, random.integers(0, 100, 2)))

    def run(x):
        values = [x]
        for name, (i, j) in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            values.append(one[name](a) if name in one else two[name](a, b))
        return values[-1] >= 0

    return run, [name for name, _ in steps]


def all_values(closed, x):
    """Every value that a program computes."""
    values = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True)) | {closed.jaxpr.invars[0]: x}
    read = lambda v: v.val if isinstance(v, Literal) else values[v]
    for equation in closed.jaxpr.eqns:
        values.update(
            zip(equation.outvars, bound(equation, list(map(read, equation.invars)), equation.params), strict=True)
        )
    return values


@pytest.mark.parametrize("seed", one_in(24, range(300)))
def test_integers_of_a_case_are_those_of_each_of_its_points(seed):
    run, names = program(seed)
    closed = inlined(jax.make_jaxpr(run)(jax.ShapeDtypeStruct((COUNT,), jnp.int8)))
    domains = Domains((Integers(LOW, HIGH),))
    try:
        cases = Texts(closed, closed, domains, (0,), deadline(60.0), with_places=False).cases(200)
    except UnsupportedError:
        return  # refused: nothing is concluded
    for point in itertools.product(range(LOW, HIGH + 1), repeat=COUNT):
        x = np.array([0, *point])
        fitting = [
            case
            for case in cases
            if (x[:, None] - x[None, :] <= case.known.most).all()
            and all(x[i] - x[j] != c for i, j, c in case.known.unequal)
        ]
        assert len(fitting) == 1, f"seed {seed}: {names}: {point}"
        there = all_values(closed, jnp.array(point, jnp.int8))
        for v, found in fitting[0].sides[0].values.items():
            if isinstance(found, Letters):
                now = x[found.plus] - x[found.minus] + found.offset
                assert (now == np.asarray(there[v]))[found.defined].all(), f"seed {seed}: {names}: {point}"
            else:
                assert (found == np.asarray(there[v])).all(), f"seed {seed}: {names}: {point}"


# ---------------------------------------------------------------- cases in batches

TABLE = jax.ShapeDtypeStruct((3, 2), jnp.float32)
TOKEN = uj.integers(jax.ShapeDtypeStruct((), jnp.int32), 0, 2)
AT_EQUAL = {
    "rows in order": (lambda a, b: a > b, lambda a, b: a >= b),
    "equal rows": (lambda a, b: a == b, lambda a, b: a < a),
    "signs of differences": (lambda a, b: jnp.sign(a - b), lambda a, b: jnp.where(a > b, 1.0, -1.0)),
    "places of the larger one": (lambda a, b: jnp.argmax(a - b), lambda a, b: 1 - jnp.argmax((a - b)[::-1])),
    "steps of the first entry": (
        lambda a, b: jnp.heaviside(a[0] - b[0], 0.0),
        lambda a, b: jnp.heaviside(a[0] - b[0], 1.0),
    ),
}
"""Functions of two rows that are equal for almost all rows, and different where both are one row."""


def of_tokens(function):
    """A function of the rows of two tokens, which is left out where both are 0: that case has no letters."""

    def of(i, j, table):
        value = jnp.where(i == 0, jnp.where(j == 0, 0.0, 1.0), 2.0)
        return value * jnp.asarray(function(table[i], table[j]), jnp.float32)

    return of


@pytest.mark.parametrize("name", one_in(2, AT_EQUAL))
def test_letters_of_a_later_batch_are_not_equal_almost_everywhere(name, monkeypatch):
    monkeypatch.setattr(whole_inputs, "MOST_ENTRIES", 40)  # so that each batch has one case
    left, right = map(of_tokens, AT_EQUAL[name])
    assert not uj.certify(left, right, TOKEN, TOKEN, TABLE, almost_everywhere=True).passes


def test_cases_in_batches_are_equal_where_their_functions_are(monkeypatch):
    monkeypatch.setattr(whole_inputs, "MOST_ENTRIES", 40)
    left, right = of_tokens(lambda a, b: a > b), of_tokens(lambda a, b: b < a)
    assert uj.certify(left, right, TOKEN, TOKEN, TABLE).passes
