"""Scans against closed forms: base and step are proved, mistakes refuted, and unusable questions answered in a line."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax
from loops import HALF, ONE, ZERO, F, f32, softmax_step

import uat_jax as uj
from uat_jax.decide.effort import Effort
from uat_jax.decide.loops.few_steps import Sides
from uat_jax.decide.loops.induction import Induction, programs_of
from uat_jax.errors import InputError, UatJaxError

START = (F(-np.inf), ZERO, np.zeros(3, F))


def induction(step, closed, initial, xs, parameters):
    sides = Sides(step, closed, initial, xs, parameters)
    return Induction(programs_of(sides), sides)


def _added(c, x):
    return c + x, None


def _welford(carry, x):
    count, mean, squares = carry
    far = x - mean
    new = mean + far / (count + 1)
    return (count + 1, new, squares + far * (x - new)), None


def _softmax(initial, xs):
    score, value = xs
    weight = jnp.exp(score - score.max())
    return score.max(), weight.sum(), weight @ value


def _moments(initial, x):
    return jnp.float32(x.shape[0]), x.mean(0), ((x - x.mean(0)) ** 2).sum(0)


def _discounted(initial, x, gamma):
    t = x.shape[0]
    return initial * gamma ** jnp.float32(t) + gamma ** (t - 1 - jnp.arange(t)).astype(F) @ x


TRUE = {
    "sum": (_added, lambda c, x: c + x.sum(0), f32(), f32(4)),
    "sum of columns": (_added, lambda c, x: jnp.ones(x.shape[0], F) @ x, np.zeros(2, F), f32(4, 2)),
    "product": (lambda c, x: (c * x, None), lambda c, x: c * x.prod(), f32(), f32(4)),
    "maximum": (lambda c, x: (jnp.maximum(c, x), None), lambda c, x: jnp.maximum(c, x.max()), f32(), f32(4)),
    "running softmax": (lambda c, x: (softmax_step(c, x), None), _softmax, START, (f32(4), f32(4, 3))),
    "Welford": (_welford, _moments, (ZERO, ZERO, ZERO), f32(4)),
    "variance": (
        _welford,
        lambda c, x: (jnp.float32(x.shape[0]), x.mean(), x.var() * x.shape[0]),
        (ZERO, ZERO, ZERO),
        f32(4),
    ),
    "advantages": (lambda c, x, g: (g * c + x, None), _discounted, f32(), f32(4), uj.positive(f32())),
    "linear attention": (
        lambda c, x: (c + jnp.outer(*x), None),
        lambda c, x: c + x[0].T @ x[1],
        np.zeros((2, 3), F),
        (f32(4, 2), f32(4, 3)),
    ),
    "attention of a query": (
        lambda c, x, q: (softmax_step(c, (x[0] @ q, x[1])), None),
        lambda c, x, q: _softmax(c, (x[0] @ q, x[1])),
        START,
        (f32(4, 2), f32(4, 3)),
        f32(2),
    ),
    "linear recurrence": (
        lambda h, x, A: (A @ h + x, None),
        lambda h, x, A: lax.scan(lambda h, x: (x + A @ h, None), h, x)[0],
        f32(2),
        f32(4, 2),
        f32(2, 2),
    ),
    "weighted by the number of the step": (
        lambda c, x: ((c[0] + c[1] * x, c[1] + 1), None),
        lambda c, x: (jnp.arange(x.shape[0]).astype(F) @ x, jnp.float32(x.shape[0])),
        (ZERO, ZERO),
        f32(4),
    ),
}

FALSE = {
    "without the initial carry": (_added, lambda c, x: x.sum(0), f32(), f32(4)),
    "another initial carry": (_added, lambda c, x: x.sum(0), ONE, f32(4)),
    "one step more": (_added, lambda c, x: x.sum(0) + x.mean(0), ZERO, f32(4)),
    "the first step alone": (_added, lambda c, x: x[0], ZERO, f32(4)),
    "first steps": (_added, lambda c, x: x[:2].sum(), ZERO, f32(4)),
    "not divided": (_welford, lambda c, x: (*_moments(c, x)[:2], x.var()), (ZERO, ZERO, ZERO), f32(4)),
    "softmax without the maximum": (
        lambda c, x: (softmax_step(c, x), None),
        lambda c, x: (x[0].max(), jnp.exp(x[0]).sum(), jnp.exp(x[0]) @ x[1]),
        START,
        (f32(4), f32(4, 3)),
    ),
    "discounted the other way": (
        lambda c, x, g: (g * c + x, None),
        lambda c, x, g: c * g ** jnp.float32(x.shape[0]) + g ** jnp.arange(x.shape[0]).astype(F) @ x,
        f32(),
        f32(4),
        uj.positive(f32()),
    ),
    "the step of the other number": (
        lambda c, x: ((c[0] + c[1] * x, c[1] + 1), None),
        lambda c, x: ((1 + jnp.arange(x.shape[0])).astype(F) @ x, jnp.float32(x.shape[0])),
        (ZERO, ZERO),
        f32(4),
    ),
    "equal at one step only": (lambda c, x: (c * HALF + x, None), lambda c, x: c * HALF + x.sum(), f32(), f32(4)),
    "a maximum for a sum": (_added, lambda c, x: x.max(), ZERO, f32(4)),
}


def _steps(x):
    """The numbers of the steps."""
    return jnp.arange(x.shape[0])


def _number(x):
    return jnp.asarray(x.shape[0])


def _walked(way):
    """A step that adds what depends on the number of the step, with that number as a carry."""
    return lambda c, x: ((way(c[0], c[1]), c[1] + 1), None)


def _with_number(value):
    return lambda c, x: (value(x), jnp.float32(x.shape[0]))


TWO = (ZERO, ZERO)
_counted = lambda c, x: (c + 1, None)

ATTACKS = {
    "number as a truth value": (
        (_counted, lambda c, x: _number(x).astype(bool).astype(F), ZERO, f32(4)),
        (_counted, lambda c, x: _number(x).astype(jnp.int32).astype(F), ZERO, f32(4)),
    ),
    "number of 8 bits": (
        (_counted, lambda c, x: _number(x).astype(jnp.int8).astype(F), ZERO, f32(4)),
        (_counted, lambda c, x: _number(x).astype(jnp.bfloat16).astype(F), ZERO, f32(4)),
    ),
    "numbers as truth values": (
        (_walked(jnp.add), _with_number(lambda x: _steps(x).astype(bool).astype(F).sum()), TWO, f32(4)),
        (_walked(jnp.add), _with_number(lambda x: _steps(x).astype(F).sum()), TWO, f32(4)),
    ),
    "numbers of 8 bits": (
        (_walked(jnp.add), _with_number(lambda x: jnp.arange(x.shape[0], dtype=jnp.int8).astype(F).sum()), TWO, f32(4)),
        (_walked(jnp.add), _with_number(lambda x: jnp.arange(x.shape[0], dtype=F).sum()), TWO, f32(4)),
    ),
    "numbers without sign": (
        (
            _walked(lambda a, k: a + k - 1),
            _with_number(lambda x: (jnp.arange(x.shape[0], dtype=jnp.uint32) - jnp.uint32(1)).astype(F).sum()),
            TWO,
            f32(4),
        ),
        (_walked(lambda a, k: a + k - 1), _with_number(lambda x: (_steps(x) - 1).astype(F).sum()), TWO, f32(4)),
    ),
    "multiples that wrap": (
        (
            _walked(lambda a, k: a + F(1e6) * k),
            _with_number(lambda x: (_steps(x) * 1_000_000).astype(F).sum()),
            TWO,
            f32(4),
        ),
        (_walked(lambda a, k: a + 10 * k), _with_number(lambda x: (_steps(x) * 10).astype(F).sum()), TWO, f32(4)),
    ),
    "positive in the first step": (
        (
            _walked(lambda a, k: jnp.abs(a + 2 - k)),
            _with_number(lambda x: jnp.abs((2 - _steps(x)).astype(F).sum())),
            TWO,
            f32(4),
        ),
        (_walked(lambda a, k: jnp.abs(a + k)), _with_number(lambda x: jnp.abs(_steps(x).astype(F).sum())), TWO, f32(4)),
    ),
    "not negative in the first step": (
        (
            _walked(lambda a, k: jnp.abs(a - k)),
            _with_number(lambda x: jnp.abs((-_steps(x)).astype(F).sum())),
            TWO,
            f32(4),
        ),
        (_walked(lambda a, k: a - k), _with_number(lambda x: (-_steps(x)).astype(F).sum()), TWO, f32(4)),
    ),
    "an axis more": (
        (
            lambda c, x: ((c[0] + 0 * x, c[1] + 1), None),
            _with_number(lambda x: (_steps(x)[:, None].astype(F) * x).sum(0)),
            (np.zeros(2, F), ZERO),
            f32(4, 2),
        ),
        (
            lambda c, x: ((c[0] + c[1] * x, c[1] + 1), None),
            _with_number(lambda x: (_steps(x)[:, None].astype(F) * x).sum(0)),
            (np.zeros(2, F), ZERO),
            f32(4, 2),
        ),
    ),
    "division of whole numbers": (
        (
            lambda c, x: (c + (x.astype(jnp.int32) // 2).astype(F), None),
            lambda c, x: c + ((x.astype(jnp.int32) + x.shape[0]) // 2).astype(F).sum(),
            ZERO,
            f32(4),
        ),
        (
            lambda c, x: (c + (x.astype(jnp.int32) // 2).astype(F), None),
            lambda c, x: c + (x.astype(jnp.int32) // 2).astype(F).sum(),
            ZERO,
            f32(4),
        ),
    ),
    "wrong after 50 steps": (
        (_counted, lambda c, x: jnp.minimum(jnp.float32(x.shape[0]), F(50)), ZERO, f32(4)),
        (_counted, lambda c, x: jnp.maximum(jnp.float32(x.shape[0]), ONE), ZERO, f32(4)),
    ),
    "wrong before the second step": (
        (lambda c, x: (x, None), lambda c, x: x.sum() - x.sum() + c * 0, ZERO, f32(4)),
        (lambda c, x: (c * 0, None), lambda c, x: x.sum() - x.sum() + c * 0, ZERO, f32(4)),
    ),
    "as often as there are steps": (
        (_counted, lambda c, x: lax.cond(x.sum() > 0, lambda: jnp.ones(x.shape[0]).sum(), lambda: ONE), ZERO, f32(4)),
        (_counted, lambda c, x: jnp.ones(x.shape[0]).sum(), ZERO, f32(4)),
    ),
    "a row that is undefined": (
        (
            lambda c, x: (jnp.where(x == 0, ONE, c), None),
            lambda c, x: jnp.where((x / x).sum() >= 0, c, ONE),
            ZERO,
            f32(4),
        ),
        (lambda c, x: (c + x / x, None), lambda c, x: c + (x / x).sum(), ZERO, f32(4)),
    ),
}
"""Closed forms that would be proved by a rule that is too weak, and true ones beside them."""


def _twice(step):
    return lambda x: lax.scan(lambda c, _: (step(c), None), x, None, length=2)[0]


LOOPS = {
    "a scan": _twice,
    "a counted loop": lambda step: lambda x: lax.fori_loop(0, 2, lambda i, c: step(c), x),
    "a map": lambda step: lambda x: lax.map(step, x[None])[0],
    "a scan in a scan": lambda step: _twice(_twice(step)),
    "a checkpoint": lambda step: _twice(jax.checkpoint(step)),
}
"""Loops of a function whose constants JAX does not write where it writes the program."""


def _loops_of_constants(loop, first, second):
    """Σ x and the difference of two loops with constants: as a closed form of 0, and as one of the difference."""
    one, other = (loop(jax.jit(lambda c, k=k: jnp.tanh(c) * k)) for k in (np.array(first, F), np.array(second, F)))
    step = lambda c, x: ((c[0] + x, 0 * x), None)
    return step, lambda c, x: (x.sum(0), one(x.sum(0)) - other(x.sum(0))), (np.zeros(2, F), np.zeros(2, F)), f32(4, 2)


ATTACKS |= {
    f"constants of {name}": (_loops_of_constants(loop, (1, 2), (1, 3)), _loops_of_constants(loop, (1, 2), (1, 2)))
    for name, loop in LOOPS.items()
}


# Arrays of one column beside arrays of one row.  name: (what a row adds, a function of both, another one)
TABLES = {
    "sums": (lambda s: 2 * s + 3, lambda x, a: (x + a).sum(), lambda x, a: x.sum() + a.sum()),
    "products": (lambda s: 3 * s, lambda x, a: (x * a).sum(), lambda x, a: (x + 0 * a).sum()),
    "quotients": (lambda s: F(1.5) * s, lambda x, a: (x / a).sum(), lambda x, a: (a / x).sum()),
    "powers": (
        lambda s: 1 + jnp.exp(s * jnp.log(F(2))),
        lambda x, a: (a**x).sum(),
        lambda x, a: (a ** (x + 0 * a)).sum() + (x * a).sum(),
    ),
    "matrices": (
        lambda s: 3 * s,
        lambda x, a: (jnp.ones_like(x).T @ (x * a)).sum(),
        lambda x, a: (x.T @ (x * a)).sum(),
    ),
    "a loop": (
        lambda s: 3 * s,
        lambda x, a: lax.scan(lambda c, r: (c + r.sum(), None), ZERO, x * a)[0],
        lambda x, a: lax.scan(lambda c, r: (c + r[0], None), ZERO, x * a)[0],
    ),
    "other axes": (lambda s: 3 * s, lambda x, a: (x * a).T[:, :, None].sum(), lambda x, a: (x * a).T[1].sum()),
}


def _table(name, place):
    added, *functions = TABLES[name]
    step = lambda c, x: (c + added(x.sum()), None)
    return step, lambda c, x: c + functions[place](x.sum(1)[:, None], jnp.array([[1, 2]], F)), ZERO, f32(4, 3)


ATTACKS |= {f"a table of {name}": (_table(name, 1), _table(name, 0)) for name in TABLES}


@pytest.mark.parametrize("name", one_in(3, TRUE))
def test_true(name):
    found = uj.prove_scan(*TRUE[name])
    assert found.passes, found.evidence[0].finding
    assert any(a.kind == "symbolic sizes" for a in found.assumptions)


@pytest.mark.parametrize("name", one_in(3, FALSE))
def test_false(name):
    found = uj.prove_scan(*FALSE[name])
    assert found.verdict is uj.Verdict.REFUTED and found.counterexample
    assert found.counterexample.sizes["t"] in (1, 2, 3)


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks(name):
    """By induction alone: a search at a few steps is the business of `test_false`."""
    wrong, right = (induction(f, g, start, xs, ()) for f, g, start, xs in ATTACKS[name])
    with pytest.raises(UatJaxError):
        wrong._proved(Effort())
    assert right._proved(Effort()).verdict in (uj.Verdict.PROVED, uj.Verdict.CERTIFIED)


# What is undefined for all inputs, at some number of steps or at all.  name: (nothing but undefined, nothing at all)
NOTHING = {
    "a logarithm": (lambda x, t: 0 * jnp.log(-1 - x.sum() ** 2), lambda x, t: 0 * jnp.log(1 + x.sum() ** 2)),
    "a root": (lambda x, t: 0 * jnp.sqrt(-jnp.exp(x.sum())), lambda x, t: 0 * jnp.sqrt(jnp.exp(x.sum()))),
    "a logarithm of a row": (lambda x, t: 0 * jnp.log(-jnp.exp(x)).sum(), lambda x, t: 0 * jnp.log(jnp.exp(x)).sum()),
    "from the second step on": (lambda x, t: 0 * jnp.log(F(1.5) - t), lambda x, t: 0 * jnp.log(F(1.5) + t)),
    "from the third step on": (lambda x, t: 0 * jnp.sqrt(2 - t), lambda x, t: 0 * jnp.sqrt(2 + t)),
}


@pytest.mark.parametrize("name", one_in(2, NOTHING))
def test_a_closed_form_that_is_nowhere_defined_is_not_proved(name):
    undefined, zero = (
        induction(_added, lambda c, x, f=f: c + x.sum() + f(x, jnp.float32(x.shape[0])), ZERO, f32(4), ())
        for f in NOTHING[name]
    )
    with pytest.raises(UatJaxError):
        undefined._proved(Effort())
    assert zero._proved(Effort()).verdict is uj.Verdict.CERTIFIED


def test_whole_numbers_that_wrap_at_last_are_an_assumption():
    of = lambda four: [a.about["largest"] for a in uj.prove_scan(*four).assumptions if a.kind == "largest size"]
    assert of(ATTACKS["multiples that wrap"][1]) == [2**18] and not of(TRUE["Welford"])


@pytest.mark.parametrize("at", [7, 100])
def test_a_closed_form_that_is_another_one_at_some_length_is_not_proved(at):
    closed = lambda c, x: c + x.sum() + (ONE if x.shape[0] == at else ZERO)
    with pytest.raises(UatJaxError, match="a function compares sizes"):
        uj.prove_scan(_added, closed, f32(), f32(4))
    assert not uj.prove_scan(_added, lambda c, x: c + x[:at].sum(), f32(), f32(4)).passes


def test_a_power_of_a_number_that_may_be_negative_is_not_followed():
    step, closed, initial, xs, _ = TRUE["advantages"]
    found = uj.prove_scan(step, closed, initial, xs, f32())
    assert found.verdict is uj.Verdict.UNKNOWN and "pass uj.positive(spec)" in found.evidence[0].finding


@pytest.mark.parametrize("name", one_in(20, TRUE))
def test_accumulators_are_what_the_closed_form_says(name):
    """Row by row they give what the closed form gives of all rows so far."""
    step, closed, initial, xs, *parameters = TRUE[name]
    claim = induction(step, closed, initial, xs, tuple(parameters))
    random = np.random.default_rng(1)
    make = lambda tree: jax.tree.map(lambda leaf: random.integers(1, 4, leaf.shape).astype(F) / 2, tree)
    fixed = lambda leaf: leaf if isinstance(leaf, np.ndarray | np.generic) else make(leaf)
    carry, rows, rest = jax.tree.map(fixed, initial), make(xs), make(tuple(parameters))
    free = [x for x, leaf in zip(jax.tree.leaves(carry), jax.tree.leaves(initial), strict=True)
            if not isinstance(leaf, np.ndarray | np.generic)]  # fmt: skip
    letters = claim._accumulators
    run = lambda which: jax.jit(lambda *a: which(a))

    def first(a):
        return [x for acc in claim._closed(a, None, F(0))[1].accumulators for x in acc.first]

    def after(a):
        walk = claim._closed(a[: len(a) - len(letters) - 1], a[len(a) - len(letters) - 1 : -1], a[-1])[1]
        return [x for acc in walk.accumulators for x in acc.after]

    def value(a):
        return claim._closed(a[: len(a) - len(letters) - 1], a[len(a) - len(letters) - 1 : -1], a[-1])[0]

    now = None
    for t in range(1, 5):
        inputs = [*free, *(x[t - 1] for x in jax.tree.leaves(rows)), *jax.tree.leaves(rest)]
        now = run(first)(*inputs) if now is None else run(after)(*inputs, *now, F(t - 1))
        found = run(value)(*inputs, *now, F(t))
        wanted = closed(carry, jax.tree.map(lambda x: x[:t], rows), *rest)  # noqa: B023
        for a, b in zip(found, jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((_added, lambda c, x: (c, c), f32(), f32(4)), "is no closed form of the carry: its result is"),
        ((lambda c, x: c + x, lambda c, x: c, f32(), f32(4)), "is no step: it returns a"),
        ((lambda c, x: ((c, c), None), lambda c, x: c, f32(), f32(4)), "is no step: its carry is"),
        ((3, lambda c, x: c, f32(), f32(4)), "got a int for the step"),
        ((_added, None, f32(), f32(4)), "got a NoneType for the closed form"),
        ((_added, lambda c, x: c, f32(), f32()), "got xs without an axis of steps"),
        ((_added, lambda c, x: c, 1.0, f32(4)), "got an initial carry that is no array"),
        ((_added, lambda c, x: c, f32(), f32(4, *jax.export.symbolic_shape("d"))), "got the symbolic size d"),
        ((_added, lambda c, x: c, np.int32(1), f32(4)), "got an initial carry of whole numbers"),
    ],
)
def test_unusable_questions(arguments, message):
    with pytest.raises(InputError) as error:
        uj.prove_scan(*arguments)
    assert message in str(error.value) and "\n" not in str(error.value)
