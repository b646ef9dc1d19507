"""What depends on memory that nobody has written, compared with what changes when something else lies there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from uat_jax.interpret import unwritten
from uat_jax.interpret.unwritten import GIVEN, KNOWN, UNWRITTEN, Entries, Follower, written

X = np.array([[1.5, -2.0, 0.5], [3.0, 0.25, -1.0]], np.float32)
"""Numbers that the inputs decide."""

HOLES = np.array([[False, True, False], [False, False, True]])
"""Where nobody has written."""

N = np.array([[0, 2, 1], [1, 0, 2]], np.int32)
"""Whole numbers that are known, but for the holes."""

LEFT = (0.0, np.nan, np.inf, -7.0)
"""What may lie there."""


def scatter(x, memory, n):
    return memory.at[jnp.array([1, 0]), jnp.array([2, 1])].set(x[0, :2])


def added(x, memory, n):
    return x.at[jnp.array([1, 0]), jnp.array([2, 2])].add(memory[0, :2])


def loop(x, memory, n):
    """The rounds are known, and the second of them overwrites the row with the hole."""
    step = lambda i, sum: jnp.where(i == 1, x[0], sum + memory[0])
    return lax.fori_loop(0, 3, lambda i, row: lax.cond(i == 2, lambda r: r * 2, lambda r: step(i, r), row), x[1])


def ends_by_data(x, memory, n):
    return lax.while_loop(lambda c: c[0].sum() < 20, lambda c: (c[0] + 1, c[1] * 2), (x, memory))[1]


def ends_by_memory(x, memory, n):
    return lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] + 1, c[1] + 1), (x, n[0, 1]))[0]


PROGRAMS = {
    "sum": lambda x, memory, n: x + memory,
    "times zero": lambda x, memory, n: 0 * memory,
    "self-comparison": lambda x, memory, n: jnp.where(memory == memory, memory, x),
    "NaN replaced": lambda x, memory, n: jnp.nan_to_num(memory),
    "largest": lambda x, memory, n: jnp.maximum(x, memory),
    "clipped": lambda x, memory, n: jnp.clip(memory, -1, 1),
    "masked": lambda x, memory, n: jnp.where(HOLES, x, memory),
    "masked by data and place": lambda x, memory, n: jnp.where(~HOLES & (x > 0), memory, 0),
    "masked by data": lambda x, memory, n: jnp.where(x > 0, memory, 0),
    "masked by places": lambda x, memory, n: jnp.where(n > 0, memory, x),
    "sums": lambda x, memory, n: memory.sum(0),
    "least": lambda x, memory, n: jnp.argmin(memory, 1),
    "any": lambda x, memory, n: (memory > 0).any(0),
    "product": lambda x, memory, n: jnp.dot(memory, x.T),
    "batched product": lambda x, memory, n: jnp.einsum("bi,bj->bij", memory, x),
    "prefixes": lambda x, memory, n: jnp.cumsum(memory, 1),
    "prefixes from behind": lambda x, memory, n: lax.cummax(memory, 1, reverse=True),
    "in order": lambda x, memory, n: jnp.sort(memory, 0),
    "moved": lambda x, memory, n: jnp.pad(memory.T[::-1], 1)[1:, 1:].reshape(2, 6),
    "side by side": lambda x, memory, n: jnp.concatenate([x, memory], 1),
    "row of data": lambda x, memory, n: lax.dynamic_slice(memory, ((x[0, 0] > 0).astype(int), 0), (1, 3)),
    "row of memory": lambda x, memory, n: lax.dynamic_slice(x, (n[0, 1], 0), (1, 3)),
    "overwritten": lambda x, memory, n: lax.dynamic_update_slice(memory, x[:, :2], (0, 1)),
    "overwritten somewhere": lambda x, memory, n: lax.dynamic_update_slice(
        memory, x[:, :2], (0, (x[0, 0] > 0).astype(int))
    ),
    "taken": lambda x, memory, n: memory[jnp.array([1, 0, 1]), jnp.array([2, 2, 0])],
    "taken at its places": lambda x, memory, n: jnp.take(x[0], n, mode="clip"),
    "put": scatter,
    "added": added,
    "known places": lambda x, memory, n: n * 2 + 1 > 3,
    "sorted by memory": lambda x, memory, n: lax.sort((memory, x), num_keys=1)[1],
    "transformed": lambda x, memory, n: jnp.fft.fft(memory).real,
    "loop": loop,
    "ends by data": ends_by_data,
    "ends by memory": ends_by_memory,
    "rows": lambda x, memory, n: lax.scan(lambda c, r: (c + r[0], c), jnp.float32(0), memory)[1],
    "branch of data": lambda x, memory, n: lax.cond(x[0, 0] > 0, lambda: memory, lambda: x),
    "branch of memory": lambda x, memory, n: lax.cond(n[0, 1] > 1, lambda: x, lambda: 2 * x),
}
"""Name → a program of numbers, of memory and of whole numbers, both with holes."""


def of_memory(memory, n):
    """The entries of the inputs, with holes."""
    given = Entries(np.full(X.shape, GIVEN))
    holes = lambda origin: np.where(HOLES, UNWRITTEN, origin)
    return [given, Entries(holes(GIVEN)), Entries(holes(KNOWN), n)]


LOOPS = ("loop", "ends by data", "ends by memory", "rows")
"""Programs that are also followed through any number of rounds."""


@pytest.mark.parametrize(
    ("name", "rounds"), [*((name, unwritten.MOST_ROUNDS) for name in PROGRAMS), *((name, 1) for name in LOOPS)]
)
def test_what_does_not_depend_on_memory_stays_as_it_is(name, rounds, monkeypatch):
    monkeypatch.setattr(unwritten, "MOST_ROUNDS", rounds)
    program = jax.make_jaxpr(PROGRAMS[name])(X, X, N)
    (found,) = Follower(lambda equation: None, clamps=True)(program, of_memory(X, N))
    run = jax.jit(PROGRAMS[name])
    others = [run(X, np.where(HOLES, np.float32(y), X), np.where(HOLES, n, N)) for y, n in zip(LEFT, range(4))]  # noqa: B905
    for other in others[1:]:
        same = np.isclose(other, others[0], equal_nan=True)
        assert (same | (found.origins > GIVEN)).all()
    if found.values is not None:
        assert (np.asarray(others[0]) == found.values)[found.origins == KNOWN].all()


@pytest.mark.parametrize(
    ("name", "depends"),
    {
        "masked": 0,
        "masked by data and place": 0,
        "sum": 2,
        "sums": 2,
        "moved": 2,
        "overwritten": 0,
        "put": 0,
        "loop": 0,
    }.items(),
)
def test_no_more_depends_than_must(name, depends):
    program = jax.make_jaxpr(PROGRAMS[name])(X, X, N)
    (found,) = Follower(lambda equation: None, clamps=True)(program, of_memory(X, N))
    assert (found.origins > GIVEN).sum() == depends


def test_a_block_beyond_its_array_is_memory_that_nobody_has_written():
    program = jax.make_jaxpr(lambda x: lax.dynamic_slice(x, (3,), (2,)))(jnp.ones(4))
    for clamps, origin in ((True, GIVEN), (False, UNWRITTEN)):
        (found,) = Follower(lambda equation: None, clamps=clamps)(program, [written(np.ones(4, np.float32))])
        assert (found.origins == origin).all()
