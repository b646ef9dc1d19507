"""Random programs of integers of 4 and 8 bits beside changed ones: what is decided is what the device says."""

import collections
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax

import uat_jax as uj
from uat_jax.decide.effort import deadline
from uat_jax.decide.integers import all_of, held
from uat_jax.decide.solver import solved
from uat_jax.decide.verdict import Verdict
from uat_jax.decide.whole_programs import WholePair

BLOCKS, BLOCK = 100, 20
"""2,000 programs, so many at a time."""

DEPTH = 3
UNARY = "neg abs sign bitwise_not population_count clz square".split()
BINARY = """add sub mul div rem bitwise_and bitwise_or bitwise_xor shift_left shift_right_arithmetic
shift_right_logical max min eq ne lt le gt ge""".split()
SMALL, VARIABLES = ("int4", "uint4", "int8", "uint8"), ("int8", "uint8")
"""The dtypes of 4 and 8 bits; those of the latter are variables of `certify`."""

SAME = {
    "neg": lambda a: lax.add(lax.bitwise_not(a), lax.full_like(a, 1)),
    "bitwise_not": lambda a: lax.sub(lax.bitwise_not(lax.full_like(a, 0)), a),
    "square": lambda a: lax.mul(a, a),
    "add": lambda a, b: lax.add(lax.bitwise_or(a, b), lax.bitwise_and(a, b)),
    "sub": lambda a, b: lax.add(a, lax.neg(b)),
    "bitwise_xor": lambda a, b: lax.sub(lax.bitwise_or(a, b), lax.bitwise_and(a, b)),
    "max": lambda a, b: lax.select(lax.lt(a, b), b, a),
    "min": lambda a, b: lax.select(lax.lt(a, b), a, b),
    "le": lambda a, b: lax.bitwise_not(lax.gt(a, b)),
    "ge": lambda a, b: lax.bitwise_not(lax.lt(a, b)),
    "ne": lambda a, b: lax.bitwise_not(lax.eq(a, b)),
}
"""Other writings of some primitives."""


def magnitude(a):
    """The absolute value, also of integers of 4 bits and of those without sign, which `lax.abs` refuses."""
    return lax.select(lax.lt(a, lax.full_like(a, 0)), lax.neg(a), a)


class Tree(collections.namedtuple("Tree", "name parts number")):
    """A primitive of trees, a variable or a constant."""

    def value(self, inputs, rewritten=False):
        """Its value in JAX; with other writings of the primitives if it is `rewritten`."""
        if self.name == "variable":
            return inputs[self.number % len(inputs)]
        if self.name == "constant":
            return lax.full_like(inputs[0], self.number)
        parts = [part.value(inputs, rewritten) for part in self.parts]
        if self.name == "select":
            return lax.select(lax.lt(parts[0], parts[1]), parts[1], parts[2])
        plain = magnitude if self.name == "abs" else getattr(lax, self.name)
        found = (SAME.get(self.name) if rewritten else None) or plain
        return lax.convert_element_type(found(*parts), inputs[0].dtype)


def tree(random, depth):
    """A random tree."""
    kind = random.random()
    if depth == 0 or kind < 0.1:
        return Tree("variable", (), int(random.integers(2))) if random.random() < 0.7 else constant(random)
    if kind < 0.35:
        return Tree(UNARY[random.integers(len(UNARY))], (tree(random, depth - 1),), 0)
    if kind < 0.9:
        return Tree(BINARY[random.integers(len(BINARY))], (tree(random, depth - 1), tree(random, depth - 1)), 0)
    return Tree("select", tuple(tree(random, depth - 1) for _ in range(3)), 0)


def constant(random):
    """A small constant."""
    return Tree("constant", (), int(random.integers(0, 8)))


def changed(random, of):
    """A tree with another primitive, variable or constant at one place."""
    if of.parts and random.random() < 0.7:
        k = int(random.integers(len(of.parts)))
        return of._replace(parts=(*of.parts[:k], changed(random, of.parts[k]), *of.parts[k + 1 :]))
    names = {0: None, 1: UNARY, 2: BINARY}.get(len(of.parts))
    if names is None:
        return constant(random) if not of.parts else of._replace(parts=of.parts[::-1])
    return of._replace(name=names[random.integers(len(names))])


def everywhere(dtype, count):
    """All inputs, an array for each variable."""
    ends = all_of(dtype)
    points = np.array(list(itertools.product(range(ends.low, ends.high + 1), repeat=count)), object)
    return [held(points[:, k], dtype) for k in range(count)]


@pytest.mark.parametrize("block", one_in(100, range(BLOCKS)))
def test_what_is_decided_is_what_the_device_says_at_all_inputs(block):
    said = collections.Counter()
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        random = np.random.default_rng(seed)
        dtype, count = SMALL[random.integers(4)], int(random.integers(1, 3))
        left = tree(random, DEPTH)
        other, rewritten = (changed(random, left), False) if random.random() < 0.6 else (left, True)
        f = lambda *inputs, of=left: of.value(inputs)
        g = lambda *inputs, of=other, rewritten=rewritten: of.value(inputs, rewritten)
        specs = [jax.ShapeDtypeStruct((), jnp.dtype(dtype))] * count
        inputs = everywhere(dtype, count)
        equal = bool((np.asarray(f(*inputs)) == np.asarray(g(*inputs))).all())  # XLA cannot compile 1 / 0
        programs = [jax.make_jaxpr(function)(*specs) for function in (f, g)]
        pair = WholePair(programs[0], programs[1], (all_of(dtype),) * count, deadline(60.0))
        found = solved(pair, 2.0)
        said["undecided" if found.reason else "equal" if equal else "different"] += 1
        assert found.reason or (found.unlike is None) == equal, f"seed {seed}: {dtype} {left} {other}"
        if dtype in VARIABLES:
            verdict = uj.certify(f, g, *specs).verdict
            wanted = (Verdict.PROVED,) if equal else (Verdict.REFUTED,)
            assert verdict in wanted, f"seed {seed}: {dtype} {left} {other}: {verdict}"
    if block:  # thousands of compiled programs in one process end it, and the tests behind want theirs
        jax.clear_caches()
    print(f"block {block}: {dict(said)}")
