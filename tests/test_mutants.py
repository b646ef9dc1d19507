"""One change in one equation of a network is never certified: mutants of claims and pairs, and their kill table."""

import functools
import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr
from mutants import KINDS, Difference, Mutant, as_function, differs, mutants, specs_of
from pairs import PAIRS

import uat_jax as uj
from uat_jax.interpret.tracing import trace
from uat_jax.ledger.layers.kernels import random_kernels, random_trials

SEED = 20250
EQUAL = (uj.Verdict.PROVED, uj.Verdict.CERTIFIED)


# --- what is mutated -----------------------------------------------------------------------------------------------


def small() -> ClosedJaxpr:
    """Attention, a scan, a conditional, a captured array and one of most primitives, three by three."""
    captured = np.arange(1, 10, dtype=np.float32).reshape(3, 3) / 8
    mask = np.tril(np.ones((3, 3), bool))

    def step(carry, row):
        return jnp.tanh(carry + row) * jnp.sin(row), carry - row / 2

    def network(x, w):
        hidden = jax.nn.gelu(jnp.matmul(x, w, precision="highest") - captured)
        scores = jnp.matmul(x, hidden.T, precision="highest")
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)
        last, rows = lax.scan(step, x[0], jnp.concatenate([x, hidden]))
        chosen = lax.cond(True, lambda a: a * jnp.exp(a), jnp.cos, rows[:3])
        mixed = jnp.matmul(weights, jax.nn.silu(x), precision="highest")
        return (mixed**3 + chosen) / (1 + rows[3:] ** 2) + jnp.maximum(last, hidden.sum(axis=0))[None]

    square = jax.ShapeDtypeStruct((3, 3), np.float32)
    return trace(network, square, square)


def claims(kinds: Iterable[str], depths: Iterable[int]) -> Iterator[tuple[str, ClosedJaxpr]]:
    """The plain networks and the closed forms of the claims."""
    for kind, depth in itertools.product(kinds, depths):
        kernels = random_kernels(kind, depth, "highest")
        arrays = random_trials(kind, depth, 1, SEED)
        specs = jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape[1:], np.float32), arrays)
        yield f"{kind} network of depth {depth}", trace(kernels.plain, specs)
        yield f"{kind} closed form of depth {depth}", trace(kernels.closed, specs)


def sides() -> Iterator[tuple[str, ClosedJaxpr]]:
    """Both functions of every pair."""
    for pair in PAIRS:
        yield f"{pair.name}, left", trace(pair.left, *pair.specs)
        yield f"{pair.name}, right", trace(pair.right, *pair.specs)


def drawn(original: ClosedJaxpr, count: int, seed: int) -> list[Mutant]:
    """`count` of the mutants of a jaxpr, of every kind in turn, or all if there are fewer."""
    shuffled = list(mutants(original))
    random.Random(seed).shuffle(shuffled)
    by_kind = [[mutant for mutant in shuffled if mutant.kind == kind] for kind in KINDS]
    in_turn = itertools.chain(*itertools.zip_longest(*by_kind))
    return [mutant for mutant in in_turn if mutant is not None][:count]


# --- the kill table ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What was decided about one mutant, and what evaluation says about it."""

    kind: str
    name: str
    verdict: uj.Verdict
    difference: Difference
    witnessed: bool

    @property
    def column(self) -> str:
        """The column of the kill table."""
        if self.verdict in EQUAL:
            return "equivalent"
        return "killed" if self.verdict == uj.Verdict.REFUTED else "undecided"

    @property
    def wrong(self) -> bool:
        """A difference that numbers show but the verdict does not, or a refutation without a witness."""
        if self.column == "killed":
            return not self.witnessed
        return self.difference == Difference.DIFFERENT


@dataclass
class KillTable:
    """Counts of outcomes by kind of mutation."""

    outcomes: list[Outcome] = field(default_factory=list)

    def __str__(self) -> str:
        columns = "made", "killed", "equivalent", "undecided"
        rows = [f"{'':18}" + "".join(f"{column:>12}" for column in columns)]
        for kind in (*KINDS, "all"):
            counts = Counter(o.column for o in self.outcomes if kind in (o.kind, "all"))
            counts["made"] = counts.total()
            rows.append(f"{kind:18}" + "".join(f"{counts[column]:12}" for column in columns))
        against = Counter((o.verdict, o.difference) for o in self.outcomes)
        rows += [f"{verdict}, numerically {difference}: {n}" for (verdict, difference), n in sorted(against.items())]
        same = [o for o in self.outcomes if o.column == "undecided" and o.difference == Difference.SAME]
        rows += [f"undecided: {o.name}" for o in same]
        return "\n".join([*rows, *(f"wrong: {o.name}" for o in self.outcomes if o.wrong)])


def outcome(name: str, original: ClosedJaxpr, mutant: Mutant, seed: int) -> Outcome:
    """The verdict on a function and its mutant."""
    functions = as_function(original), as_function(mutant.closed_jaxpr)
    certificate = uj.certify(*functions, *specs_of(original), seed=seed)
    return Outcome(
        mutant.kind,
        f"{name}: {mutant}",
        certificate.verdict,
        differs(original, mutant.closed_jaxpr, seed),
        certificate.counterexample is not None,
    )


def kill_table(subjects: Mapping[str, ClosedJaxpr], count: int, seed: int) -> KillTable:
    """The outcomes of `count` mutants, as many of each subject as of any other if it has so many."""
    table = KillTable()
    for i, (name, original) in enumerate(subjects.items()):
        share = -((len(table.outcomes) - count) // (len(subjects) - i))
        table.outcomes += [outcome(name, original, mutant, seed) for mutant in drawn(original, share, seed + i)]
    return table


# --- the mutants are mutants ---------------------------------------------------------------------------------------


def test_every_kind_of_change_is_made_at_every_depth_and_always_the_same():
    original = small()
    names = [str(mutant) for mutant in mutants(original)]
    assert len(set(names)) == len(names) and names == [str(mutant) for mutant in mutants(original)]
    assert {mutant.kind for mutant in mutants(original)} == set(KINDS)
    for nested in ("jit/", "scan/", "cond/branch 1/", "captured array"):
        assert any(nested in name for name in names), nested


def test_a_mutant_keeps_inputs_and_outputs_and_evaluates():
    original = small()
    print("seed", SEED)
    arguments = [np.random.default_rng(SEED).normal(size=s.shape).astype(s.dtype) for s in specs_of(original)]
    for mutant in mutants(original):
        found = jax.eval_shape(as_function(mutant.closed_jaxpr), *specs_of(original))
        assert [(x.shape, x.dtype) for x in found] == [(a.shape, a.dtype) for a in original.out_avals], mutant
    for mutant in drawn(original, 5, SEED):
        (result,) = as_function(mutant.closed_jaxpr)(*arguments)
        assert result.shape == (3, 3), mutant


def changes(one, other) -> int:
    """How many equations, nested ones included, have another primitive, operand or parameter."""
    parts = lambda equation: [equation.primitive, *equation.invars, *jax.tree.leaves(equation.params)]
    equations = zip(getattr(one, "jaxpr", one).eqns, getattr(other, "jaxpr", other).eqns, strict=True)
    return sum(_changed(parts(a), parts(b)) for a, b in equations if a is not b)


def _changed(ours: list, theirs: list) -> int:
    if len(ours) != len(theirs):
        return 1
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a is not b]
    nested = [(a, b) for a, b in pairs if isinstance(a, ClosedJaxpr | Jaxpr)]
    return sum(changes(a, b) for a, b in nested) + (len(nested) < len(pairs))


def test_a_mutant_differs_in_one_equation():
    """Unless it is an equation that is gone, or an array that no equation holds."""
    original = small()
    for mutant in mutants(original):
        if mutant.kind != "dropped equation" and "captured" not in mutant.where:
            assert changes(original, mutant.closed_jaxpr) == 1, mutant
    twice = next(mutants(next(mutants(original)).closed_jaxpr)).closed_jaxpr
    assert changes(original, twice) != 1


KNOWN = {
    "a sum, commuted": (lambda x, y: x + y, lambda x, y: y + x, Difference.SAME),
    "one factor by 2^-20": (lambda x, y: x * y, lambda x, y: y * (x * (1 + 2**-20)), Difference.DIFFERENT),
    "a difference, commuted": (lambda x, y: x - y, lambda x, y: y - x, Difference.DIFFERENT),
    "zero by zero": (lambda x, y: x / y, lambda x, y: 0 * x / (0 * y), Difference.UNDEFINED),
    "no rule": (lambda x, y: x * y, lambda x, y: lax.igamma_grad_a(x, x), Difference.UNSEEN),
}


@pytest.mark.parametrize("name", KNOWN)
def test_evaluation_tells_differences(name):
    left, right, expected = KNOWN[name]
    pair = jax.ShapeDtypeStruct((2,), np.float32)
    assert differs(trace(left, pair, pair), trace(right, pair, pair), SEED) == expected


def test_equal_functions_whose_floats_differ_are_the_same():
    """1 + erf loses in float64 what erfc keeps; the balls around both meet."""
    one = jax.ShapeDtypeStruct((1,), np.float32)
    left, right = (
        trace(function, one) for function in (lambda x: 1 + lax.erf(-5 - x * x), lambda x: lax.erfc(5 + x * x))
    )
    assert differs(left, right, SEED) == Difference.SAME
    wrong = trace(lambda x: lax.erfc(5 + x * x) * 1.001, one)
    assert differs(left, wrong, SEED) == Difference.DIFFERENT


def test_the_table_sees_wrong_verdicts():
    row = functools.partial(Outcome, "axis", "twin")
    assert row(uj.Verdict.CERTIFIED, Difference.DIFFERENT, False).wrong
    assert row(uj.Verdict.UNKNOWN, Difference.DIFFERENT, False).wrong
    assert row(uj.Verdict.REFUTED, Difference.DIFFERENT, False).wrong
    assert not row(uj.Verdict.REFUTED, Difference.SAME, True).wrong
    assert not row(uj.Verdict.CERTIFIED, Difference.SAME, False).wrong
    assert "wrong: twin" in str(KillTable([row(uj.Verdict.CERTIFIED, Difference.DIFFERENT, False)]))


# --- the mutants are killed ----------------------------------------------------------------------------------------


def decided(subjects: Mapping[str, ClosedJaxpr], count: int) -> None:
    """Print the kill table of `count` mutants; none of them is decided wrongly, and most are killed."""
    print("seed", SEED)
    table = kill_table(subjects, count, SEED)
    print(table)
    assert len(table.outcomes) >= count
    assert not [o.name for o in table.outcomes if o.wrong]
    assert sum(o.column == "killed" for o in table.outcomes) > count / 2


def test_a_sample_of_mutants_is_killed():
    decided({"small": small(), **dict(claims(["residual"], [1]))}, 20)


@pytest.mark.campaign
def test_all_that_are_not_equivalent_are_killed():
    decided(dict(itertools.chain(claims(["residual", "transformer"], [1, 2, 3]), sides())), 2000)
