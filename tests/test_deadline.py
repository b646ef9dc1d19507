"""A budget holds in every walk and every search, and the answer says what had been reached."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb

import uat_jax as uj
from uat_jax.decide import equivalence, recheck
from uat_jax.decide.agreement import agreement
from uat_jax.decide.allowance import Allowance
from uat_jax.decide.effort import BUDGET, Effort, deadline
from uat_jax.decide.equivalence import Pair, Question, decide
from uat_jax.decide.in_floats import in_floats
from uat_jax.decide.loops_evidence import Loops
from uat_jax.decide.prime_fields import PrimeFields
from uat_jax.decide.sampling import sample
from uat_jax.decide.specification import Specification
from uat_jax.decide.witness import find
from uat_jax.errors import BudgetError, NotEquivalentError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import interpret
from uat_jax.numbers.balls.balls import PIECE, Balls, enclose
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.exponential_depth import profile

S = jax.ShapeDtypeStruct((), jnp.float32)
V = jax.ShapeDtypeStruct((3,), jnp.float32)


def endless(x):
    """Ends for no input but NaN."""
    return jax.lax.while_loop(lambda c: c * c >= 0, lambda c: c + 1, x)


def empty(x):
    """A loop without equations."""
    return jax.lax.while_loop(lambda c: True, lambda c: c, x)


def counted(x):
    """Ends by a counter, after as many rounds as a loop may have."""
    return jax.lax.fori_loop(0, 900_000, lambda i, c: c + 1, x)


LOOPS = {"endless": endless, "empty": empty, "counted": counted}


def program(function, *specs):
    return jax.make_jaxpr(function)(*specs)


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_that_does_not_end_is_cut_short(name):
    """By a number of equations, which no machine is too slow for; the other side has no loop to compare it with."""
    question = Question(LOOPS[name], lambda x: x * 2, Specification((S,)))
    certificate = decide(question, Effort(deadline=Deadline(equations=3000)))
    (evidence,) = certificate.evidence
    assert certificate.verdict is uj.Verdict.UNKNOWN and evidence.method == "budget"
    assert "too many equations were evaluated" in evidence.finding and "by then: " in evidence.finding
    assert "test_deadline.py" in evidence.finding


def test_one_equation_that_takes_long_is_cut_short():
    """Prime fields sort with as many functions as there are entries, each of all entries."""
    sort = program(jnp.sort, jax.ShapeDtypeStruct((300,), jnp.float32))
    checks = []

    class Watched(Deadline):
        def check(self, where=str):
            checks.append(None)
            if len(checks) > 400:
                raise BudgetError("the time is up")

    with pytest.raises(BudgetError):
        PrimeFields(sort, sort, deadline=Watched()).compare()


def test_a_loop_that_does_not_end_is_cut_short_in_time():
    for loop in LOOPS.values():
        certificate = uj.certify(loop, lambda x: x * 2, S, budget=0.2)
        assert certificate.verdict is uj.Verdict.UNKNOWN and "the time is up" in certificate.evidence[0].finding


LATE = Deadline(time.monotonic() - 1)
TRACE = program(jax.nn.softmax, V)
POINT = np.ones((1, 3))
WALKS = {
    "balls": lambda end: enclose(TRACE, [Balls().number(POINT[0])], deadline=end),
    "profile": lambda end: profile(TRACE, end),
    "prime fields": lambda end: PrimeFields(TRACE, TRACE, deadline=end).compare(),
    "float64": lambda end: sample(TRACE, TRACE, 0, end),
    "agreement": lambda end: agreement(TRACE, TRACE, deadline=end),
}


@pytest.mark.parametrize("name", WALKS)
def test_every_walk_asks(name):
    WALKS[name](Deadline())
    WALKS[name](Deadline(equations=10**7))
    for end in (LATE, Deadline(equations=3)):
        with pytest.raises(BudgetError, match="the time is up|too many equations"):
            WALKS[name](end)


@pytest.mark.parametrize("number", range(1, 60, 7))
def test_a_search_that_is_cut_short_anywhere_gives_what_it_had(number):
    """No witness or a confirmed one, whichever equation was the last."""
    left, right = program(jnp.sin, V), program(lambda x: jnp.sin(x) * 2, V)
    found = find(left, right, deadline=Deadline(equations=number))
    assert found is None or found.exact[0] != found.exact[1]
    assert find(left, right, deadline=Deadline(equations=10**6)) is not None


def test_large_arrays_are_computed_in_pieces():
    """The time is asked for within one equation, and the pieces put together are the whole."""
    x, y = (np.random.default_rng(0).standard_normal(shape) for shape in ((10 * PIECE, 2), (2, 2)))
    cases = {jnp.exp: np.exp(x), (lambda x: x[:, :1] * x[:, 1:]): x[:, :1] * x[:, 1:]}
    for function, expected in cases.items():
        with jax.enable_x64(True):
            trace = program(function, jax.ShapeDtypeStruct(x.shape, jnp.float64))
        (found,) = enclose(trace, [Balls().number(x)])
        assert np.allclose(found.astype(float), expected, rtol=1e-15, atol=0)
    with jax.enable_x64(True):
        product = program(jnp.matmul, *(jax.ShapeDtypeStruct(a.shape, jnp.float64) for a in (x, y)))
    (found,) = enclose(product, [Balls().number(x), Balls().number(np.ones_like(y))])
    assert all(a.overlaps(b) for a, b in found) and (found[-1, 0].overlaps(sum(map(arb, x[-1]), arb(0))))
    exp = program(jnp.exp, jax.ShapeDtypeStruct((4 * PIECE,), jnp.float32))

    class Clock(Deadline):
        checks = 0

        def check(self, where=str):
            self.checks += 1

    clock = Clock()
    interpret(exp, Balls(deadline=clock), [Balls().number(np.zeros(4 * PIECE))])
    assert clock.checks >= 4


def test_the_answer_says_what_had_been_reached(monkeypatch):
    """The time is up in each stage in turn."""
    left, right, same = (lambda x: jnp.sin(x)), (lambda x: jnp.sin(x) * 2), (lambda x: jnp.sin(x) * 3 - jnp.sin(x) * 2)
    up = lambda *_, **__: (_ for _ in ()).throw(BudgetError("the time is up; allow more seconds"))
    reached = {
        "sample": "nothing was decided",
        "field_evidence": "float64 values at 32 inputs agree",
        "refutation": "different as formal expressions",
    }
    for stage, text in reached.items():
        with monkeypatch.context() as patch:
            patch.setattr(equivalence, stage, up)
            (evidence,) = uj.certify(left, same if stage == "field_evidence" else right, V).evidence
        assert (
            evidence.method == "budget" and f"the time is up; allow more seconds; by then: {text}" in evidence.finding
        )


def test_a_test_of_equivalence_has_a_budget_by_default(monkeypatch):
    ends = []
    monkeypatch.setattr(equivalence, "decide", lambda question, effort: ends.append(effort.deadline) or True)
    uj.certify(jnp.sin, jnp.sin, V)
    with pytest.raises(AttributeError):  # True is no certificate
        uj.assert_equivalent(jnp.sin, jnp.sin, V)
    assert ends[0].remaining == float("inf") and BUDGET - 60 < ends[1].remaining <= BUDGET and not ends[1].chosen
    assert deadline(5.0).chosen


def test_a_recheck_has_a_budget(tmp_path, monkeypatch):
    """Also of a certificate that a short file makes run for hours."""
    long = lambda x: jax.lax.fori_loop(0, 20, lambda i, c: c + 1, x)
    path = uj.certify(long, lambda x: x + 20, S).save(tmp_path / "c.json")
    assert uj.recheck(path).passes
    with pytest.raises(BudgetError, match="the time is up"):
        uj.recheck(path, budget=1e-9)
    monkeypatch.setattr(recheck, "EQUATIONS", 40)
    with pytest.raises(BudgetError, match="too many equations were evaluated"):
        uj.recheck(path)


def test_nothing_is_passed_when_the_time_is_up():
    with pytest.raises(NotEquivalentError, match="UNKNOWN"):
        uj.assert_equivalent(jnp.sin, lambda x: jnp.sin(x) * 1.0, V, budget=1e-9)


# --- values that are exactly zero -------------------------------------------------------------------------------------

X = jax.ShapeDtypeStruct((4, 2), jnp.float32)
Y = jax.ShapeDtypeStruct((4,), jnp.float32)


def residuals(X, y):
    """Xᵀ(y − X(XᵀX)⁻¹Xᵀy)."""
    with jax.default_matmul_precision("highest"):
        gram = X.T @ X
        (a, b), (c, d) = gram
        inverse = jnp.stack([jnp.stack([d, -b]), jnp.stack([-c, a])]) / (a * d - b * c)
        return X.T @ (y - X @ (inverse @ (X.T @ y)))


TINY = np.float32(2.0**-100)

# name: (a function that is zero, one that is not, inputs)
ZEROS = {
    "quotient": (lambda a, b: (a / b) * b - a, lambda a, b: (a / b) * b - a + TINY * a, (S, S)),
    "centred sum": (lambda x: jnp.sum(x - jnp.mean(x)), lambda x: jnp.sum(x - jnp.mean(x) + TINY * x), (V,)),
    "least squares": (residuals, lambda X, y: residuals(X, y) + TINY * y[0], (X, Y)),
    "softmax": (lambda x: jnp.sum(jax.nn.softmax(x)) - 1, lambda x: jnp.sum(jax.nn.softmax(x)) - 1 + TINY * x[0], (V,)),
    "roots": (
        lambda x: jnp.sqrt(x * x + 1) ** 2 - x * x - 1,
        lambda x: jnp.sqrt(x * x + 1) ** 2 - x * x - 1 + TINY * x,
        (V,),
    ),
}


@pytest.mark.parametrize("name", ZEROS)
def test_what_is_exactly_zero_is_decided(name):
    zero, almost, specs = ZEROS[name]
    nothing = lambda *inputs: 0 * zero(*inputs)
    assert uj.certify(zero, nothing, *specs).verdict is uj.Verdict.CERTIFIED
    assert uj.certify(almost, nothing, *specs).verdict is uj.Verdict.REFUTED
    found = agreement(program(zero, *specs), program(nothing, *specs))
    assert found.agrees, found.reason
    assert not agreement(program(almost, *specs), program(nothing, *specs)).agrees


def test_a_large_number_on_the_way_hides_nothing():
    """x is lost beside 2¹⁰⁰ at 2⁻¹⁰⁰ of the largest number, but not at 2⁻⁵¹²."""
    hidden = program(lambda x: (x + np.float32(2.0**100)) - np.float32(2.0**100), S)
    (value,) = enclose(hidden, [Balls().number(np.float32(3))])
    assert value.item() == arb(3)
    nothing = program(lambda x: 0 * x, S)
    assert find(hidden, nothing) is not None and not agreement(hidden, nothing).agrees


def test_doubles_take_a_deadline():
    arithmetic = Doubles()
    arithmetic.deadline = LATE
    with pytest.raises(BudgetError):
        interpret(TRACE, arithmetic, [POINT])


# --- the whole call ---------------------------------------------------------------------------------------------------


def test_rounding_and_hazards_take_what_is_left():
    """Nothing is run where nothing is left; the twin with time is answered."""
    pair = Pair({}, program(jax.nn.softmax, V), program(lambda x: jnp.exp(x) / jnp.exp(x).sum(), V))
    without, enough = in_floats([pair], seconds=0.0), in_floats([pair], seconds=600.0)
    assert "the time is up" in without.rounding.reason and without.rounding.seen is None
    assert "the time is up" in without.search.reason and without.search.tried == 0
    assert enough.rounding.seen is not None and enough.search.found


def test_prime_fields_that_take_long_are_left_for_an_input_where_float64_values_differ(monkeypatch):
    """They are asked for less time than there is, and the search for all of it."""
    asked = []

    def slow(left, right, seen, effort, domains):
        asked.append(effort.deadline.remaining)
        raise BudgetError("the time is up; allow more seconds")

    monkeypatch.setattr(equivalence, "field_evidence", slow)
    found = uj.certify(jnp.sin, lambda x: jnp.sin(x) * 2, V, budget=100.0)
    assert found.verdict is uj.Verdict.REFUTED and len(asked) == 1 and asked[0] <= equivalence.SOON
    found = uj.certify(jnp.sin, lambda x: jnp.sin(x) * 3 - jnp.sin(x) * 2, V, budget=100.0)
    assert found.verdict is uj.Verdict.UNKNOWN and asked[1] > equivalence.SOON


def test_what_was_spent_is_not_left():
    allowance = Allowance(5.0)
    with allowance.spent():
        assert allowance.deadline(3.0).remaining <= 3.0 and allowance.deadline(30.0).remaining <= 5.0
    assert 0 < allowance.left < 5.0 and not allowance.over
    spent = Allowance(-1.0)
    assert spent.over and not Allowance().over and spent.left == 0


def test_a_certificate_gives_them_what_the_call_has_left(monkeypatch):
    given = []
    monkeypatch.setattr(equivalence, "in_floats", lambda *arguments: given.append(arguments[-1]))
    uj.certify(jnp.sin, jnp.sin, V, budget=50.0)
    uj.certify(jnp.sin, jnp.sin, V)
    assert 0 < given[0] <= 50.0 and given[1] == float("inf")


def test_the_answer_keeps_why_loops_are_not_related(monkeypatch):
    """Also when the time is up after the loops were compared."""
    reason = "no relation is found between carry 0 of the left one and carry 0 of the right one"
    up = lambda *_, **__: (_ for _ in ()).throw(BudgetError("the time is up; allow more seconds"))
    monkeypatch.setattr(equivalence, "of_loops", lambda *_: Loops(reason=reason))
    monkeypatch.setattr(equivalence, "field_evidence", up)
    (evidence,) = uj.certify(jnp.sin, lambda x: jnp.sin(x) * 3 - jnp.sin(x) * 2, V).evidence
    assert "the time is up" in evidence.finding and f"by then: {reason}; float64 values" in evidence.finding
