"""Complexity: the verdicts of its rows, programs that compute what is counted, and wrong counts that must not pass."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

from uat_jax.decide.counts import counted
from uat_jax.decide.decision import decide
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.ranks import rank
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Method, Verdict, combine
from uat_jax.ledger.complexity import attention as complexity_attention
from uat_jax.ledger.complexity import evaluation as complexity
from uat_jax.ledger.complexity import evaluators
from uat_jax.ledger.complexity import paths as complexity_paths
from uat_jax.networks import initialise_residual, residual_network
from uat_jax.symbolic import language as m
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.step import Step

SYMBOLIC = Settings(dtypes=())
CLAIMS = {c.id: c for rows in (complexity, complexity_attention, complexity_paths) for c in rows.CLAIMS}

# Typed in from the ledger of claims (section L), independently of the package: row → its ledger row; all are proved.
LEDGER = {
    "complexity.tree.activations": "L1", "complexity.tree.products": "L1",
    "complexity.memoised.activations": "L2", "complexity.memoised.products": "L2",
    "complexity.memoised.parameters": "L2",
    "complexity.two-streams.identity": "L3", "complexity.two-streams.activations": "L3",
    "complexity.two-streams.products": "L3", "complexity.network.products": "L3",
    "complexity.levels.products": "L6", "complexity.levels.chains": "L6",
    "complexity.matrix.entries": "L4", "complexity.matrix.products": "L4", "complexity.matrix.all-layers": "L4",
    "complexity.factored.slices": "L4", "complexity.factored.full-width": "L4",
    "complexity.factored.storage-slices": "L4", "complexity.factored.storage-full-width": "L4",
    "complexity.matrix.gpt-3": "L4",
    "complexity.paths.identity": "L5", "complexity.paths.rank": "L5", "complexity.paths.rank-reached": "L5",
}  # fmt: skip


def test_the_chapter_has_exactly_these_rows():
    assert {name: claim.ledger for name, claim in CLAIMS.items()} == LEDGER


@pytest.mark.parametrize("name", LEDGER)
def test_verdict(name):
    certificate = decide(CLAIMS[name], SYMBOLIC)
    assert certificate.verdict == Verdict.PROVED and certificate.passes


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_rows_are_readable(claim):
    assert len(claim.title) < 80 and claim.sources
    assert claim.printed.count("{") == claim.printed.count("}")


# --- counts ----------------------------------------------------------------------------------------------------------

L = complexity.L
COUNTS = {
    "memoised activations": (L, complexity.memoised_activations, complexity.activations("memoised")),
    "two streams' activations": (L, complexity.two_stream_activations, complexity.activations("two_streams")),
    "network": (3 * L, complexity.network_products, complexity.with_vectors("network")),
    "tree activations": (2**L - 1, complexity.tree_activations, complexity.activations("tree")),
    "tree products": (5 * 2 ** (L - 1) - 2, complexity.tree_products, complexity.with_vectors("tree")),
    "memoised products": (L * (L + 5) / 2, complexity.memoised_products, complexity.with_vectors("memoised")),
    "parameters": ((L - 1) * (L + 4) / 2, complexity.hatted_products, complexity.of_matrices("hatted")),
    "two streams": (4 * L - 1, complexity.two_stream_products, complexity.with_vectors("two_streams")),
}


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("wrong", [lambda n: n + 1, lambda n: n - 1, lambda n: 2 * n, lambda n: n.subs(L, L + 1)])
def test_a_wrong_count_is_refuted_at_its_smallest_depth(name, wrong):
    claimed, found, measured = COUNTS[name]
    shapes = complexity.UP_TO_SIX
    evidence = list(counted(wrong(claimed), found(), what=name, measured=measured, shapes=shapes))
    assert combine(evidence) == Verdict.REFUTED
    first = next(d for d in range(1, 7) if (wrong(claimed) - claimed).subs(L, d) != 0)
    assert evidence[-1].example is not None
    assert evidence[-1].example.sizes == {"L": first}


def test_two_streams_multiply_no_matrices_and_the_closed_form_does():
    assert [complexity.of_matrices("two_streams")({L: depth}) for depth in (1, 2, 5)] == [0, 0, 0]
    assert complexity.of_matrices("hatted")({L: 2}) > 0
    subjects = {e.subject for e in CLAIMS["complexity.two-streams.products"].decide(SYMBOLIC)}
    assert subjects == {"with a vector", "in all"}


def test_levels_are_derived():
    """The smallest d with 2^d ≥ L, at every L up to 70; other rounding is wrong."""
    derived = complexity.levels()
    at = lambda length: int(derived.subs(L, length))  # type: ignore[arg-type]
    assert all(2 ** at(n) >= n > 2 ** (at(n) - 1) for n in range(2, 71)) and at(1) == 0


def _whole_numbers(depth):
    layers = initialise_residual(jax.random.key(depth), [2] * (depth + 1), [3] * depth)
    return jax.tree.map(lambda array: jnp.round(2 * array), layers), jnp.asarray([1.0, -2.0])


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_all_orders_of_evaluation_compute_the_network(depth):
    layers, x = _whole_numbers(depth)
    network = residual_network(layers, x, jax.nn.relu)
    hatted = evaluators.hatted(layers)
    assert jnp.max(jnp.abs(network)) < 2**20  # whole numbers: nothing rounds
    for found in (
        evaluators.tree(hatted, x, jax.nn.relu),
        evaluators.memoised(hatted, x, jax.nn.relu),
        evaluators.two_streams(layers, x, jax.nn.relu),
    ):
        assert np.array_equal(found, network)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 8])
def test_the_scan_computes_all_products(length):
    random = np.random.default_rng(length)
    matrices = [random.integers(-2, 3, (2, 2)).astype(np.float32) for _ in range(length)]
    wanted = [matrices[0]]
    for matrix in matrices[1:]:
        wanted.append(matrix @ wanted[-1])
    assert np.array_equal(evaluators.prefix_products(list(map(jnp.asarray, matrices))), wanted)


def test_chains_and_counts_of_a_small_trace():
    one = lambda x: jnp.tanh(jnp.tanh(x)) + jnp.tanh(x)
    trace = jax.make_jaxpr(lambda x: jax.jit(one)(x) + jnp.tanh(x))(1.0)
    assert evaluators.applications(trace, "tanh") == 4
    flat = jax.make_jaxpr(one)(1.0)
    assert evaluators.longest_chain(flat, "tanh") == 2
    assert evaluators.longest_chain(flat, "exp") == 0


def test_multiply_adds_count_batches():
    trace = jax.make_jaxpr(lambda x, y: jnp.matmul(x, y, precision="highest"))(jnp.ones((7, 2, 3)), jnp.ones((7, 3, 5)))
    assert evaluators.multiply_adds(trace) == 7 * 2 * 3 * 5


# --- two streams -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["residual", "transformer"])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("wrong", ["p alone", "u alone", "difference", "twice u"])
def test_other_combinations_of_the_streams_are_not_the_layer(kind, dynamic, wrong):
    layers = Layers(kind, dynamic=dynamic)
    right = complexity.two_stream_steps(layers)[1]
    i = complexity.INDEX
    p, u = m.Letter("p", layers.widths(i), 1, (i,)), m.Letter("u", layers.widths(i), 1, (i,))
    streams = {"p alone": p, "u alone": u, "difference": p - u, "twice u": p + 2 * u}
    step = Step(wrong, right.left, layers.apply(i + 1, streams[wrong]))
    assert prove([right], method=Method.NORMAL_FORM, what="right").verdict is Verdict.PROVED
    assert prove([step], method=Method.NORMAL_FORM, what=wrong).verdict is Verdict.UNKNOWN


# --- paths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", complexity_paths.path_steps()[1:], ids=lambda step: step.name)
def test_paths_in_the_wrong_order_are_not_the_product(step):
    depth = int(step.name[-1])

    def other_end(letter, _):
        """The letter with its layer counted from the other end."""
        j, i = letter.subscripts
        rows, columns = letter.shape
        return m.Letter(letter.name, rows, columns, (depth + 1 - j, i))

    turned = m.replace_letters(step.right, other_end)
    assert step.holds() and not Step("turned", step.left, turned).holds()


def test_without_equal_row_sums_the_rank_is_larger(monkeypatch):
    free = lambda random, causal: random.integers(1, 16, (4, 4))
    monkeypatch.setattr(complexity_paths, "_rows", free)
    matrix, *_ = complexity_paths.kronecker_matrix(np.random.default_rng(0), 4, causal=False)
    assert rank(matrix) == 16 > complexity_paths.least_bound("any pattern", 4)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_matrices_of_row_sum_one_span_that_many_dimensions(size, causal):
    """An affine space of dimension d spans d + 1: N² − N + 1, and N(N−1)/2 + 1 if causal."""
    places = [(n, k) for n in range(size) for k in range(size) if (k < n if causal else k != n)]
    span = [np.eye(size, dtype=int)]
    for n, k in places:  # the identity with a 1 moved from the diagonal
        moved = np.eye(size, dtype=int)
        moved[n, n], moved[n, k] = 0, 1
        span.append(moved)
    rank = sympy.Matrix([matrix.ravel().tolist() for matrix in span]).rank()
    assert rank == (size * (size - 1) // 2 if causal else size * size - size) + 1
