"""Lists of update rules such as "W_{j+1,1} = W_{j+1,1} W_{j,1}" executed in a stated order.

The papers print the parameters of the closed form as assignments that overwrite W_{j,1}, W_{j,2}, W_{j,3}, b_{j,2}
and b_{j,3}; what they mean depends on which right-hand sides are old and which are new.  Here the rules are data,
an order is a list of `Block`, and executing them gives a straight-line program in which every assignment makes a
new letter: nothing is overwritten, so the outcome can be compared, lowered and run like any other program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count

import sympy

from uat_jax.errors import InputError, ShapeError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX, step_definitions
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.normal_form import Definitions
from uat_jax.symbolic.program import Program, letters_of
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step

D, F = m.dimension("D"), m.dimension("F")


def W1(j: m.ScalarLike) -> m.Letter:
    """The variable W_{j,1}, D × D."""
    return m.Letter("W", D, D, (j, 1))


def W2(j: m.ScalarLike) -> m.Letter:
    """The variable W_{j,2}, F × D."""
    return m.Letter("W", F, D, (j, 2))


def W3(j: m.ScalarLike) -> m.Letter:
    """The variable W_{j,3}, D × F."""
    return m.Letter("W", D, F, (j, 3))


def b2(j: m.ScalarLike) -> m.Letter:
    """The variable b_{j,2}, a column of length F."""
    return m.Letter("b", F, 1, (j, 2))


def b3(j: m.ScalarLike) -> m.Letter:
    """The variable b_{j,3}, a column of length D."""
    return m.Letter("b", D, 1, (j, 3))


X0 = m.Letter("x", D, 1, (0,))


def square_layers(kind: str) -> Layers:
    """The layers under the papers' hypothesis that all D_j are one D and all F_j one F."""
    return Layers(kind, widths=lambda j: D, hidden_widths=lambda j: F)


@dataclass(frozen=True)
class Assignment:
    """``target = value`` as printed; both may contain index symbols."""

    target: m.Letter
    value: m.Expression

    def at(self, index: sympy.Symbol, number: m.ScalarLike) -> Assignment:
        """The assignment for one value of an index."""
        names: m.Names = {index: sympy.sympify(number)}
        return Assignment(self.target.renamed(names), self.value.renamed(names))

    def __str__(self) -> str:
        return f"{self.target} = {self.value}"


@dataclass(frozen=True)
class Block:
    """Assignments carried out together: a letter with ``fresh(letter)`` is read as it is now, others as on entering.

    ``fresh`` constantly false is a simultaneous assignment, constantly true a sequential one.
    """

    assignments: tuple[Assignment, ...]
    fresh: Callable[[m.Letter], bool]


def simultaneous(assignments: Iterable[Assignment]) -> Block:
    """All right-hand sides take their values on entering the block."""
    return Block(tuple(assignments), lambda letter: False)


def sequential(assignments: Iterable[Assignment]) -> Block:
    """Each assignment sees the ones before it."""
    return Block(tuple(assignments), lambda letter: True)


ORDERS = {"at once": simultaneous, "one after the other": sequential}


def originals(kind: str, depth: int, *, raw: bool = False) -> dict[m.Letter, m.Expression]:
    """What the variables hold before any assignment: W_{j,1} → A_j, W_{j,2} → B_j, and so on.

    For a Transformer W_{j,2} starts as B_j A_j, the factor that Eq. 30 puts in for every j; ``raw`` leaves it out.
    """
    layers = square_layers(kind)
    store: dict[m.Letter, m.Expression] = {}
    for j in range(1, depth + 1):
        A, B, C, b, c = layers.parameters(j)
        inner = B if raw or kind == "residual" else B @ A
        store |= {W1(j): A, W2(j): inner, W3(j): C, b2(j): b, b3(j): c}
    return store


def execute(kind: str, depth: int, blocks: Iterable[Block]) -> Program:
    """Carry out the blocks on a network of ``depth`` layers and put the outcome into Eq. 11/33.

    Raises `ShapeError` when a rule multiplies or adds what does not fit.
    """
    return run(originals(kind, depth), blocks, square_layers(kind).x(depth), closed_form_33(depth))


def run(
    store: Mapping[m.Letter, m.Expression], blocks: Iterable[Block], result: m.Letter, value: m.Expression
) -> Program:
    """Carry out the blocks on variables that hold ``store``, then compute ``result`` = ``value`` from them."""
    store, lines = dict(store), {}
    for block in blocks:
        entering = dict(store)
        for assignment in block.assignments:
            read = lambda v, _, old=entering, fresh=block.fresh: (store if fresh(v) else old).get(v)
            held = m.replace_letters(assignment.value, read)
            name = _version(assignment.target, held, lines)
            lines[name] = held
            store[assignment.target] = name
    return Program(lines | {result: m.replace_letters(value, lambda v, _: store.get(v))}, result)


def _version(target: m.Letter, value: m.Expression, lines: Mapping[m.Letter, m.Expression]) -> m.Letter:
    """A new letter for what the target holds now, numbered by how often it was assigned."""
    if not m.same_shape(value, target):
        raise ShapeError(f"cannot assign {value} ({m.shape_text(value)}) to {target} ({m.shape_text(target)})")
    held = lambda version: m.Letter(target.name, *target.shape, target.subscripts, (version,))
    return next(letter for letter in map(held, count(1)) if letter not in lines)


def closed_form_33(depth: int) -> m.Expression:
    """Eq. 11/33: W_{L,1} x_0 + b_{L,3} + Σ_{j=1}^{L} W_{j,3} σ(W_{j,2} x_0 + b_{j,2})."""
    terms = (W3(j) @ m.Activation(W2(j) @ X0 + b2(j)) for j in range(1, depth + 1))
    return m.Addition(W1(depth) @ X0, b3(depth), *terms)


def final_values(kind: str, depth: int, assignments: Iterable[Assignment]) -> Program:
    """The reading in which every symbol on the right is the final value, except the assigned one, which is old.

    Lines are put in the order in which they need each other.
    """
    rules = {a.target: a.value for a in assignments}
    start = originals(kind, depth)
    lines: dict[m.Letter, m.Expression] = {}

    def final(variable: m.Letter) -> m.Expression | None:
        if variable not in rules:
            return start.get(variable)
        name = m.Letter(variable.name, *variable.shape, variable.subscripts, ("final",))
        if name not in lines:
            own = lambda v, _: start[v] if v == variable else final(v)
            lines[name] = m.replace_letters(rules[variable], own)
        return name

    x = square_layers(kind).x(depth)
    result = m.replace_letters(closed_form_33(depth), lambda v, _: final(v))
    return Program(lines | {x: result}, x)


# --- Theorem 2 -----------------------------------------------------------------------------------------------------

k = sympy.Symbol("k", integer=True, positive=True)


def in_place_rules(j: m.ScalarLike) -> tuple[Assignment, ...]:
    """Theorem 2's five assignments for layer j+1, in order; the third is meant for every k = 1..j."""
    return (
        Assignment(b2(j + 1), W2(j + 1) @ (b3(j) + nested_sum(1, j)) + b2(j + 1)),
        Assignment(W2(j + 1), W2(j + 1) @ W1(j)),
        Assignment(W3(k), W1(j + 1) @ W3(k)),
        Assignment(b3(j + 1), W1(j + 1) @ b3(j) + b3(j + 1)),
        Assignment(W1(j + 1), W1(j + 1) @ W1(j)),
    )


def nested_sum(lower: m.ScalarLike, upper: m.ScalarLike) -> m.RangeSum:
    """Σ_{k=lower}^{upper} W_{k,3} σ(W_{k,2} x_0 + b_{k,2})."""
    return m.RangeSum(W3(k) @ m.Activation(W2(k) @ X0 + b2(k)), k, lower, upper)


def for_every_k(rules: Iterable[Assignment], j: int) -> tuple[Assignment, ...]:
    """Rules whose target carries k, written out for k = 1..j."""
    spread = lambda a: [a.at(k, n) for n in range(1, j + 1)] if k in a.target.free_symbols else [a]
    return tuple(b for a in rules for b in spread(a))


def update_induction(kind: str, rules: tuple[Assignment, ...], *, in_place: bool) -> tuple[Step, ...]:
    """One pass over layer i+1 takes the closed form of i layers to that of i+1 layers, for every i at once.

    Invariant after i layers: W_{i,1}, b_{i,3} and, for every k ≤ i, W_{k,2}, b_{k,2}, W_{k,3} hold the hatted
    parameters of the network of i layers; layer i+1 is still its own (times A_{i+1} as in Eq. 30 for a Transformer).
    ``rules`` are the assignments of the pass, those with k in the target meant for every k ≤ i;
    ``in_place`` lets each see the ones before it (Theorem 2), otherwise all see the values on entering.

    Raises `InputError` for a rule that assigns, for every k, anything but W_{k,2}, b_{k,2} and W_{k,3}, or that reads
    anything but variables and x_0: letters of the closed form are what it is to be compared with.
    """
    rules = tuple(rules)
    for rule in rules:
        _check_rule(rule)
    layers, i = square_layers(kind), INDEX
    closed = ClosedForm(layers)
    A, B, C, b, c = layers.parameters(i + 1)
    inner = B if kind == "residual" else B @ A
    state: dict[m.Letter, m.Expression] = {
        W1(i): closed.W1(i), b3(i): closed.b3(i),
        W1(i + 1): A, W2(i + 1): inner, W3(i + 1): C, b2(i + 1): b, b3(i + 1): c,
    }  # fmt: skip
    every: dict[m.Letter, m.Expression] = {W3(k): closed.W3(k, i), W2(k): closed.W2(k), b2(k): closed.b2(k)}
    entering = dict(state), dict(every)

    def read(letter: m.Letter, ranges: m.Ranges) -> m.Expression | None:
        now, for_k = (state, every) if in_place else entering
        return for_k[letter] if letter in for_k and ranges.get(k) == i else now.get(letter)

    for rule in rules:
        holder = every if k in rule.target.free_symbols else state
        holder[rule.target] = m.replace_letters(rule.value, read, {k: i} if holder is every else {})
    return (*_first_layer(kind, closed), *_invariant(closed, state, every))


def _check_rule(rule: Assignment) -> None:
    for_every_k = k in rule.target.free_symbols
    if for_every_k and rule.target not in (W2(k), b2(k), W3(k)):
        raise InputError(f"the assignment {rule} for every k is not followed; wanted W_{{k,2}}, b_{{k,2}} or W_{{k,3}}")
    if for_every_k and rule.value.has(m.RangeSum):
        raise InputError(f"the assignment {rule} for every k may not contain a sum: it would read what it overwrites")
    other = next((l for l in (rule.target, *letters_of(rule.value)) if not (_is_variable(l) or l == X0)), None)
    if other is not None or rule.target == X0:
        raise InputError(f"the assignment {rule} has the letter {other or X0}; wanted the variables of layers, and x_0")


def _is_variable(letter: m.Letter) -> bool:
    """Whether it is one of W_{j,1}, W_{j,2}, W_{j,3}, b_{j,2} and b_{j,3}."""
    return bool(letter.subscripts) and letter in (of(letter.subscripts[0]) for of in (W1, W2, W3, b2, b3))


def _first_layer(kind: str, closed: ClosedForm) -> list[Step]:
    """The invariant before any pass: layer 1's own parameters are the closed form of one layer."""
    A, B, C, b, c = closed.layers.parameters(1)
    first = recurrence(closed, 1)
    held: dict[str, tuple[m.Expression, m.Expression]] = {
        "W_{1,1}": (A, first.W1),
        "b_{1,3}": (c, first.b3),
        "W_{1,3}": (C, first.W3),
        "b_{1,2}": (b, first.b2_constant),
    }
    held["W_{1,2}"] = (B if kind == "residual" else B @ A, first.W2)
    return [Step(f"one layer: {v} is its own", own, hat, {}) for v, (own, hat) in held.items()]


def _invariant(closed: ClosedForm, state: dict, every: dict) -> list[Step]:
    i = INDEX
    wanted: dict[m.Letter, m.Letter] = {
        b2(i + 1): closed.b2(i + 1), W2(i + 1): closed.W2(i + 1), W3(i + 1): closed.W3(i + 1, i + 1),
        b3(i + 1): closed.b3(i + 1), W1(i + 1): closed.W1(i + 1),
    }  # fmt: skip  # type: ignore[dict-item]
    unfold = _sigma_letters(closed, step_definitions(closed, closed.layers, recurrence(closed, i + 1)))
    found = [Step(f"{v} is {hat}", state[v], hat, unfold) for v, hat in wanted.items()]
    over_k = lambda e: m.RangeSum(e @ closed.s(k), k, 1, i)
    found.append(
        Step(
            f"{W3(k)} is {closed.W3(k, i + 1)} for every k ≤ i",
            over_k(every[W3(k)]),
            over_k(closed.W3(k, i + 1)),
            unfold,
        )
    )
    sigma = m.RangeSum(m.Activation(every[W2(k)] @ X0 + every[b2(k)]), k, 1, i)
    found.append(
        Step("σ(W_{k,2} x_0 + b_{k,2}) is s_k for every k ≤ i", sigma, m.RangeSum(closed.s(k), k, 1, i), unfold)
    )
    return found + _left_alone(closed, state, wanted, every)


def _left_alone(closed: ClosedForm, state: dict, wanted: dict, every: dict) -> list[Step]:
    """Whatever else was assigned must hold what it held: W_{i,·} its closed form, a later layer its own."""
    i = INDEX
    keep = {
        W3(i): closed.W3(i, i + 1),
        W2(i): closed.W2(i),
        b2(i): closed.b2(i),
        W1(i): closed.W1(i),
        b3(i): closed.b3(i),
    }
    more = [(v, value) for v, value in {**state, **every}.items() if v not in wanted and k not in v.free_symbols]
    return [
        Step(f"nothing else is assigned: {v}", value, keep.get(v, v), {}) for v, value in more if value != keep.get(v)
    ]


def _sigma_letters(closed: ClosedForm, definitions: Definitions) -> Definitions:
    """Also unfold sk = σ(Ŵ_{k,2} x_0 + b̂_{k,2}) below the sum sign, since the assignments write σ out."""

    def unfold(letter: m.Letter, ranges: m.Ranges) -> m.Expression | None:
        k = letter.subscripts[0] if letter.subscripts else None
        if k is not None and k in ranges and letter == closed.s(k):
            return closed.activation(k)
        return definitions(letter, ranges)

    return unfold
