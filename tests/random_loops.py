"""Random pairs of loops, and whether they are equal as far as exact evaluation at several inputs shows.

A loop has up to three carries, each with an initial value and an expression of all carries, the row, the counter and a
scalar input; an output of the carries; and, if it is a scan, an output of every step.  The other one of a pair is the
same loop written otherwise: rewritten expressions, carries in another order and scaled, another kind of loop; and often
with a mistake.  Exact evaluation in fractions is the truth: pairs that differ nowhere are called equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

F = np.float32
ROWS = 40
"""Rows of the input."""

Tree = Any
"""The name of a value, a number, or (operation, operands …)."""

EXACT: Mapping[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "max": max,
    "min": min,
    "half": lambda a: a / 2,
    "relu": lambda a: max(a, Fraction(0)),
    "abs": abs,
    "ge": lambda a, b, c, d: c if a >= b else d,
    "lt": lambda a, b, c, d: c if a < b else d,
    "at": lambda i, step, a, b: a if i == step else b,
}
IN_JAX: Mapping[str, Callable[..., Any]] = {
    **{name: EXACT[name] for name in ("add", "sub", "mul")},
    "max": jnp.maximum,
    "min": jnp.minimum,
    "half": lambda a: a * F(0.5),
    "relu": lambda a: jnp.maximum(a, F(0)),
    "abs": jnp.abs,
    "ge": lambda a, b, c, d: jnp.where(a >= b, c, d),
    "lt": lambda a, b, c, d: jnp.where(a < b, c, d),
    "at": lambda i, step, a, b: jnp.where(i == step, a, b),
}
ARITY = {"add": 2, "sub": 2, "mul": 2, "max": 2, "min": 2, "half": 1, "relu": 1, "abs": 1, "ge": 4, "lt": 4, "at": 2}


@dataclass(frozen=True)
class Looped:
    """`steps` of a loop of a kind: "fori", "while", "scan", or "reverse" for a reverse scan of turned rows."""

    kind: str
    steps: int
    start: tuple[Tree, ...]
    update: tuple[Tree, ...]
    output: Tree
    each: Tree

    @property
    def gives_rows(self) -> bool:
        """Whether every step has an output."""
        return self.kind in ("scan", "reverse")


def value(tree: Tree, known: Mapping[str, Any], operations: Mapping[str, Callable], number: Callable) -> Any:
    """What an expression is."""
    if isinstance(tree, str):
        return known[tree]
    if not isinstance(tree, tuple):
        return number(tree)
    name, *parts = tree
    if name == "at":
        step, *parts = parts
        return operations["at"](known["step"], step, *(value(p, known, operations, number) for p in parts))
    return operations[name](*(value(p, known, operations, number) for p in parts))


def program(loop: Looped) -> Callable:
    """The loop as a function of rows and a scalar."""
    of = lambda tree, known: jnp.asarray(value(tree, known, IN_JAX, F), jnp.float32)
    named = lambda carry: {f"c{k}": c for k, c in enumerate(carry)}

    def run(x: Any, s: Any) -> Any:
        start = tuple(of(tree, {"s": s, "x0": x[0]}) for tree in loop.start)

        def step(carry: Any, i: Any, row: Any) -> Any:
            known = {"s": s, "x": row, "i": jnp.float32(i), "step": i, **named(carry)}
            return tuple(of(tree, known) for tree in loop.update), of(loop.each, known)

        if loop.kind == "fori":
            carry = lax.fori_loop(0, loop.steps, lambda i, c: step(c, i, x[i])[0], start)
        elif loop.kind == "while":
            advance = lambda both: (both[0] + 1, step(both[1], both[0], x[both[0]])[0])
            carry = lax.while_loop(lambda both: both[0] < loop.steps, advance, (0, start))[1]
        else:
            turned = loop.kind == "reverse"
            order = lambda array: array[::-1] if turned else array
            visited = order(jnp.arange(loop.steps)), order(x[: loop.steps])
            carry, given = lax.scan(lambda c, a: step(c, *a), start, visited, reverse=turned)
        found = of(loop.output, {"s": s, **named(carry)})
        return (found, order(given)) if loop.gives_rows else (found,)

    return run


def exact_values(loop: Looped, seed: int) -> list[Any]:
    """What the loop gives at a dozen inputs of small fractions."""
    return [_exact(loop, *_input(Random(100 * seed + trial), trial)) for trial in range(12)]


def _input(random: Random, trial: int) -> tuple[list[Fraction], Fraction]:
    low, under = [(2, 1), (8, 4), (400, 1)][trial % 3]
    one = lambda: Fraction(random.randint(-low, low), under)
    return [one() for _ in range(ROWS)], one()


def _exact(loop: Looped, x: Sequence[Fraction], s: Fraction) -> Any:
    of = lambda tree, known: value(tree, known, EXACT, Fraction)
    named = lambda carry: {f"c{k}": c for k, c in enumerate(carry)}
    carry, given = [of(tree, {"s": s, "x0": x[0]}) for tree in loop.start], []
    for i in range(loop.steps):
        known = {"s": s, "x": x[i], "i": Fraction(i), "step": i, **named(carry)}
        given.append(of(loop.each, known))
        carry = [of(tree, known) for tree in loop.update]
    found = of(loop.output, {"s": s, **named(carry)})
    return (found, given) if loop.gives_rows else found


def drawn(seed: int) -> tuple[Looped, Looped]:
    """A random loop, and the same written otherwise, perhaps with a mistake."""
    random = Random(seed)
    count, steps = random.choice([1, 1, 2, 2, 3]), random.choice([8, 9, 16, 33])
    carries = [f"c{k}" for k in range(count)]
    leaves = ["x", "s", 1, 2, 0, *carries, *carries, *(["i"] if random.random() < 0.3 else [])]
    loop = Looped(
        random.choice(["fori", "while", "scan", "reverse"]),
        steps,
        tuple(random.choice([0, 1, "s", "x0"]) for _ in range(count)),
        tuple(_tree(random, random.choice([1, 2, 2]), leaves) for _ in range(count)),
        _tree(random, 1, ["s", 1, *carries * 3]),
        _tree(random, 1, ["x", *carries]),
    )
    other = _otherwise(random, loop)
    return loop, _mistaken(random, other) if random.random() < 0.6 else other


def _tree(random: Random, depth: int, leaves: Sequence[Any]) -> Tree:
    if depth == 0 or random.random() < 0.25:
        return random.choice(leaves)
    name = random.choice([name for name in ARITY if name != "at" or "x" in leaves])
    if name == "mul":  # by what is no carry, so that degrees grow slowly
        return name, _tree(random, depth - 1, leaves), random.choice(["s", 2, -1, *(["x"] if "x" in leaves else [])])
    parts = [_tree(random, depth - 1, leaves) for _ in range(ARITY[name])]
    return (name, random.choice([0, 1, 2]), *parts) if name == "at" else (name, *parts)


def _mapped(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The tree with its leaves changed; the step of "at" is none."""
    if not isinstance(tree, tuple):
        return change(tree)
    kept = 2 if tree[0] == "at" else 1
    return (*tree[:kept], *(_mapped(part, change) for part in tree[kept:]))


def _rewritten(random: Random, tree: Tree) -> Tree:
    """An equal expression."""
    if not isinstance(tree, tuple):
        return tree
    kept = 2 if tree[0] == "at" else 1
    head, parts = tree[:kept], [_rewritten(random, part) for part in tree[kept:]]
    if random.random() < 0.5:
        return (*head, *parts)
    a, b = parts[0], parts[1] if len(parts) > 1 else None
    match tree[0]:
        case "add" | "mul" | "max" | "min":
            return tree[0], b, a
        case "sub":
            return "add", a, ("sub", 0, b)
        case "half":
            return "mul", a, 0.5
        case "relu":
            return "max", 0, a
        case "abs":
            return "max", a, ("sub", 0, a)
        case "ge" | "lt":
            return "lt" if tree[0] == "ge" else "ge", a, b, parts[3], parts[2]
    return (*head, *parts)


def _otherwise(random: Random, loop: Looped) -> Looped:
    """The loop with its carries scaled and in another order, and of another kind."""
    count = len(loop.update)
    place, scale = list(range(count)), [random.choice([1, 1, 1, 2, -1, 4]) for _ in range(count)]
    random.shuffle(place)
    names = {f"c{k}": (f"c{place[k]}", scale[k]) for k in range(count)}

    def renamed(leaf: Tree) -> Tree:
        name, factor = names.get(leaf, (leaf, 1)) if isinstance(leaf, str) else (leaf, 1)
        return name if factor == 1 else ("mul", name, 1 / factor)

    start: list[Tree] = [0] * count
    update: list[Tree] = [0] * count
    for k in range(count):
        times = lambda tree, k=k: tree if scale[k] == 1 else ("mul", scale[k], tree)
        start[place[k]] = times(loop.start[k])
        update[place[k]] = times(_mapped(_rewritten(random, loop.update[k]), renamed))
    kind = random.choice(["scan", "reverse"] if loop.gives_rows else ["fori", "while"])
    output, each = (_mapped(_rewritten(random, tree), renamed) for tree in (loop.output, loop.each))
    return Looped(kind, loop.steps, tuple(start), tuple(update), output, each)


def _mistaken(random: Random, loop: Looped) -> Looped:
    """The loop with a mistake, which may make no difference."""
    k = random.randrange(len(loop.update))
    one = lambda trees, tree: (*trees[:k], tree, *trees[k + 1 :])
    update = loop.update[k]
    mistakes = [
        replace(loop, steps=loop.steps if loop.gives_rows else loop.steps - 1, output=loop.output),
        replace(loop, start=one(loop.start, ("add", loop.start[k], random.choice([1, "s"])))),
        replace(loop, update=one(loop.update, ("at", random.choice([0, 1, 5]), ("add", update, "x"), update))),
        replace(loop, update=one(loop.update, _mapped(update, lambda leaf: ("half", leaf) if leaf == "x" else leaf))),
        replace(loop, update=one(loop.update, ("max", update, f"c{k}"))),
        replace(loop, update=one(loop.update, ("lt", update, ("sub", 0, 100), ("add", update, 1), update))),
        replace(loop, update=loop.update[::-1]),
        replace(loop, output=("add", loop.output, random.choice(["s", 1, f"c{k}"]))),
        replace(loop, each=("add", loop.each, ("at", loop.steps - 1, 1, 0))),
    ]
    return random.choice(mistakes)
