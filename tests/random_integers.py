"""Random programs of wrapping integers, and their values in whole numbers of Python.

A program is a tree of `Node`. Its value is computed twice: by JAX, and with Python's integers from the meaning of each
head alone, reduced modulo 2ʷ to the range of the dtype after every operation.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

DTYPES = ("int8", "uint8", "int16", "int32", "uint32")
REAL = "float32"
"""A dtype beside them whose numbers do not wrap."""
EXACT = 2**24
"""Whole numbers up to this are float32."""


def span(dtype: str) -> tuple[int, int]:
    """The least and the largest value of a dtype."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def wrapped(value: int, dtype: str) -> int:
    """The value of a dtype that is congruent modulo 2ʷ; a real number is what it is."""
    if dtype == REAL:
        return value
    low, high = span(dtype)
    return (value - low) % (high - low + 1) + low


def saturated(x: Fraction, dtype: str) -> int:
    """A float as an integer: toward zero, and the nearest end of the range beyond it."""
    low, high = span(dtype)
    return min(max(int(x), low), high)


@dataclass(frozen=True)
class Head:
    """An operation on integers of one dtype: in JAX, and on whole numbers before they wrap."""

    name: str
    arity: int
    jax: Callable[..., jax.Array]
    exact: Callable[..., int]


HEADS = {
    head.name: head
    for head in (
        Head("add", 2, lambda a, b: a + b, lambda a, b: a + b),
        Head("sub", 2, lambda a, b: a - b, lambda a, b: a - b),
        Head("mul", 2, lambda a, b: a * b, lambda a, b: a * b),
        Head("neg", 1, lambda a: -a, lambda a: -a),
        Head("abs", 1, jnp.abs, lambda a: abs(a)),
        Head("not", 1, lambda a: ~a, lambda a: -1 - a),
        Head("max", 2, jnp.maximum, max),
        Head("min", 2, jnp.minimum, min),
        Head("and", 2, lambda a, b: a & b, lambda a, b: a & b),
        Head("or", 2, lambda a, b: a | b, lambda a, b: a | b),
        Head("xor", 2, lambda a, b: a ^ b, lambda a, b: a ^ b),
        Head("where >", 2, lambda a, b: jnp.where(a > b, a, b), lambda a, b: a if a > b else b),
        Head("where >=", 4, lambda a, b, c, d: jnp.where(a >= b, c, d), lambda a, b, c, d: c if a >= b else d),
        Head("1 if <", 2, lambda a, b: (a < b).astype(a.dtype), lambda a, b: int(a < b)),
        Head("1 if ==", 2, lambda a, b: (a == b).astype(a.dtype), lambda a, b: int(a == b)),
        Head("square", 1, lax.square, lambda a: a * a),
        Head("cube", 1, lambda a: lax.integer_pow(a, 3), lambda a: a**3),
        Head("floor quotient by 3", 1, lambda a: a // 3, lambda a: a // 3),
        Head("remainder by 5", 1, lambda a: a % 5, lambda a: a % 5),
        Head("shift by 2", 1, lambda a: a << 2, lambda a: a << 2),
        Head("clip", 1, lambda a: jnp.clip(a, 3, 100), lambda a: min(max(a, 3), 100)),
    )
}


@dataclass(frozen=True)
class Node:
    """An operation, "input" (a float cast), "constant" or "cast" (of another integer), with a dtype."""

    head: str
    dtype: str
    parts: tuple["Node", ...] = ()
    number: int = 0

    def __str__(self) -> str:
        if self.head == "constant":
            return f"{self.number}:{self.dtype}"
        inner = ", ".join(map(str, self.parts)) if self.parts else "xy"[self.number]
        head = self.dtype if self.head in ("input", "cast") else self.head
        return f"{'real ' * (self.dtype == REAL)}{head}({inner})"

    def in_jax(self, inputs: tuple[jax.Array, ...]) -> jax.Array:
        """The value in JAX."""
        if self.head == "constant":
            return jnp.asarray(self.number, self.dtype)
        if self.head == "input":
            return inputs[self.number].astype(self.dtype)
        parts = [part.in_jax(inputs) for part in self.parts]
        return parts[0].astype(self.dtype) if self.head == "cast" else HEADS[self.head].jax(*parts)

    def exact(self, inputs: tuple[Fraction, ...]) -> int:
        """The value in whole numbers."""
        if self.head == "constant":
            return self.number
        if self.head == "input":
            return saturated(inputs[self.number], self.dtype)
        parts = [part.exact(inputs) for part in self.parts]
        return wrapped(parts[0] if self.head == "cast" else HEADS[self.head].exact(*parts), self.dtype)

    def walk(self) -> Iterator["Node"]:
        """This node and all below it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def exact_in_floats(self, inputs: tuple[Fraction, ...]) -> bool:
        """Whether float32 rounds nothing on the way."""
        return all(n.dtype != REAL or abs(n.exact(inputs)) <= EXACT for n in self.walk())

    def replaced(self, old: "Node", new: "Node") -> "Node":
        """The tree with one node for another."""
        if self is old:
            return new
        return replace(self, parts=tuple(part.replaced(old, new) for part in self.parts))


# ---------------------------------------------------------------- laws modulo 2ʷ, and mistakes

ON_REALS = frozenset(["add", "sub", "mul", "neg", "abs", "max", "min", "where >", "where >=", "square", "cube"])

Law = Callable[[Node, Random], Node | None]
"""A node with the same value for all inputs, or None where the law says nothing."""


def of(head: str, dtype: str, *parts: Node) -> Node:
    return Node(head, dtype, parts)


def constant(number: int, dtype: str) -> Node:
    return Node("constant", dtype, (), wrapped(number, dtype))


def _commuted(n: Node, _: Random) -> Node | None:
    """a ∘ b = b ∘ a."""
    if n.head not in ("add", "mul", "max", "min", "and", "or", "xor", "1 if =="):
        return None
    return replace(n, parts=n.parts[::-1])


def _subtracted(n: Node, _: Random) -> Node | None:
    """a − b = a + (−b) and a + b = a − (−b)."""
    if n.head not in ("sub", "add"):
        return None
    return of("add" if n.head == "sub" else "sub", n.dtype, n.parts[0], of("neg", n.dtype, n.parts[1]))


def _distributed(n: Node, _: Random) -> Node | None:
    """a (b + c) = a b + a c, and with − for +."""
    if n.head != "mul" or n.parts[1].head not in ("add", "sub"):
        return None
    a, (b, c) = n.parts[0], n.parts[1].parts
    return of(n.parts[1].head, n.dtype, of("mul", n.dtype, a, b), of("mul", n.dtype, a, c))


def _associated(n: Node, _: Random) -> Node | None:
    """(a ∘ b) ∘ c = a ∘ (b ∘ c)."""
    if n.head not in ("add", "mul", "max", "min", "and", "or", "xor") or n.parts[0].head != n.head:
        return None
    (a, b), c = n.parts[0].parts, n.parts[1]
    return of(n.head, n.dtype, a, of(n.head, n.dtype, b, c))


def _moved(n: Node, random: Random) -> Node:
    """a = (a + k) − k."""
    k = constant(random.choice([1, 7, 100]), n.dtype)
    return of("sub", n.dtype, of("add", n.dtype, n, k), k)


def _negated(n: Node, _: Random) -> Node:
    """a = −(−a)."""
    return of("neg", n.dtype, of("neg", n.dtype, n))


def _complemented(n: Node, _: Random) -> Node | None:
    """~a = −a − 1."""
    return of("sub", n.dtype, of("neg", n.dtype, n.parts[0]), constant(1, n.dtype)) if n.head == "not" else None


def _multiplied(n: Node, _: Random) -> Node | None:
    """a² = a a, a³ = a (a a), a << 2 = 4 a."""
    a = n.parts[0] if n.parts else n
    square = of("mul", n.dtype, a, a)
    by_head = {
        "square": square,
        "cube": of("mul", n.dtype, a, square),
        "shift by 2": of("mul", n.dtype, constant(4, n.dtype), a),
    }
    return by_head.get(n.head)


def _chosen(n: Node, _: Random) -> Node | None:
    """The larger of two by a comparison."""
    return of("max", n.dtype, *n.parts) if n.head == "where >" else None


def _doubled(n: Node, _: Random) -> Node | None:
    """a + a = 2 a where both parts are one."""
    if n.head != "add" or n.parts[0] != n.parts[1]:
        return None
    return of("mul", n.dtype, constant(2, n.dtype), n.parts[0])


LAWS: tuple[Law, ...] = (
    _commuted,
    _subtracted,
    _distributed,
    _associated,
    _moved,
    _negated,
    _complemented,
    _multiplied,
    _chosen,
    _doubled,
)

SWAPS = {
    "add": "sub",
    "sub": "add",
    "mul": "add",
    "max": "min",
    "min": "max",
    "and": "or",
    "or": "add",
    "xor": "or",
    "where >": "min",
    "1 if <": "1 if ==",
    "1 if ==": "1 if <",
    "square": "abs",
    "cube": "square",
    "abs": "neg",
    "not": "neg",
    "neg": "not",
}
"""Another operation of as many operands, by mistake."""


def _widened(n: Node, dtype: str) -> Node:
    """The tree computed in another dtype: the inputs are cast to their own one first."""
    if n.head in ("input", "cast"):
        return of("cast", dtype, n)
    if n.head == "constant":
        return constant(n.number, dtype)
    return replace(n, dtype=dtype, parts=tuple(_widened(part, dtype) for part in n.parts))


def _unwrapped(n: Node) -> Node | None:
    """The same operations on real numbers, if they have a meaning there."""
    real = _widened(n, REAL)
    operations = (m for m in real.walk() if m.dtype == REAL and m.head not in ("cast", "constant"))
    return real if all(m.head in ON_REALS for m in operations) else None


def _mistaken(n: Node, random: Random) -> Node | None:
    """A node that is most often another function: another operation, constant, dtype, or one that does not wrap."""
    if n.head == "constant":
        return constant(n.number + random.choice([1, -1, 256]), n.dtype)
    if n.head == "input":
        other = random.choice([d for d in DTYPES if d != n.dtype])
        return of("cast", n.dtype, Node("input", other, (), n.number))
    if n.head == "cast":
        other = random.choice([d for d in DTYPES if d != n.dtype])
        return of("cast", n.dtype, of("cast", other, n.parts[0]))
    kind = random.random()
    if kind < 0.3 and n.dtype != "int32":
        return of("cast", n.dtype, _widened(n, "int32"))
    if n.head == "where >=":
        a, b, c, d = n.parts
        return replace(n, parts=(b, a, c, d))
    return replace(n, head=SWAPS[n.head]) if n.head in SWAPS else None


# ---------------------------------------------------------------- pairs


@dataclass(frozen=True)
class IntegerPair:
    """Two programs of `inputs` floats with one integer each as a result; `lawful` if equal by laws modulo 2ʷ."""

    left: Node
    right: Node
    inputs: int
    lawful: bool

    def __str__(self) -> str:
        return f"{self.left}  |  {self.right}"

    @property
    def specs(self) -> tuple[jax.ShapeDtypeStruct, ...]:
        return (jax.ShapeDtypeStruct((), jnp.float32),) * self.inputs

    def functions(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Both as functions of floats with a float as a result."""
        return tuple(lambda *x, n=node: n.in_jax(x).astype(jnp.float32) for node in (self.left, self.right))  # type: ignore[return-value]

    @property
    def dtypes(self) -> set[str]:
        """Of all inputs, as they are cast."""
        return {n.dtype for side in (self.left, self.right) for n in side.walk() if n.head == "input"}

    @property
    def complete(self) -> bool:
        """Whether the special inputs are all there are, up to the unit cell: one input, of eight bits."""
        return self.inputs == 1 and self.dtypes <= {"int8", "uint8"}

    def special(self) -> list[tuple[Fraction, ...]]:
        """Inputs around zero, one and the ends of every dtype; all of them for one input of eight bits."""
        if self.complete:
            return [(Fraction(value),) for value in (*range(-300, 600), Fraction(-1, 2), Fraction(1, 2))]
        ends = {e + d for dtype in sorted(self.dtypes) for e in span(dtype) for d in (-1, 0, 1)}
        roots = {11, 12, 16, 181, 182, 256, 46340, 46341, 65535, 65536, 1 << 20}
        values = {Fraction(v) for v in ends | roots | {-r for r in roots} | set(range(-4, 8))}
        values |= {Fraction(k, 2) for k in (-7, -3, -1, 1, 3, 201, -257)}
        # Only what is a float32, so that JAX is given the same numbers.
        values = sorted({Fraction(float(np.float32(float(v)))) for v in values})
        return (
            [(v,) for v in values]
            if self.inputs == 1
            else list(product(values[:: 2 if len(values) > 40 else 1], repeat=2))
        )

    def difference(self) -> tuple[Fraction, ...] | None:
        """A special input at which the two are different."""
        return next((x for x in self.special() if self.left.exact(x) != self.right.exact(x)), None)


def _program(random: Random, dtype: str, depth: int, inputs: int) -> Node:
    """A random tree of this dtype."""
    if depth == 0:
        if random.random() < 0.3:
            return constant(random.choice([0, 1, 2, 3, 5, 7, 100, 127, 128, 200, 255, 65536, -1, -100]), dtype)
        return Node("input", dtype, (), random.randrange(inputs))
    if random.random() < 0.15:
        return of("cast", dtype, _program(random, random.choice(DTYPES), depth - 1, inputs))
    heads = [h for h in HEADS.values() if not (dtype.startswith("u") and h.name == "abs")]
    head = random.choice([*heads, HEADS["add"], HEADS["mul"], HEADS["sub"]])
    return of(head.name, dtype, *(_program(random, dtype, depth - 1, inputs) for _ in range(head.arity)))


def _rewritten(random: Random, program: Node, lawful: bool) -> Node | None:
    """The program with one or two nodes rewritten by laws, or with one mistake."""
    node = random.choice(list(program.walk()))
    new = random.choice(LAWS)(node, random) if lawful else _mistaken(node, random)
    return None if new is None else program.replaced(node, new)


def integer_pairs(seed: int) -> Iterator[IntegerPair]:
    """Pairs without end: a program with an input, and the same rewritten by a law or by mistake."""
    random = Random(seed)
    while True:
        inputs, lawful = random.choice([1, 1, 2]), random.random() < 0.4
        left = _program(random, random.choice(DTYPES), random.choice([1, 2, 2]), inputs)
        right = _unwrapped(left) if not lawful and random.random() < 0.4 else _rewritten(random, left, lawful)
        if right is not None and len({n.number for n in left.walk() if n.head == "input"}) == inputs:
            yield IntegerPair(left, right, inputs, lawful)
