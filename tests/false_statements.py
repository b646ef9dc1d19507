# pyright: reportArgumentType=false, reportOperatorIssue=false
# What is wrong on purpose has no right type, and c * X of a matrix X is a scalar in the types of SymPy.
"""Statements that are no plain equations, each beside a true one: inductions, counts, ranks, dependences, denials.

A statement is a function that decides it: it returns evidence, or a truth value, or refuses with an error of its own.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import jax.numpy as jnp
import numpy as np
import sympy
from flint import arb

from uat_jax.decide import dependence, ranks
from uat_jax.decide.counts import counted
from uat_jax.decide.exhibits import exhibit, exhibit_numbers
from uat_jax.decide.inequalities import enclosed, proved_inequality
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.opposite import opposite
from uat_jax.decide.programs import by_depth, difference
from uat_jax.decide.shapes import refute_shape
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as lists
from uat_jax.symbolic.blocks.attention import MultiHead
from uat_jax.symbolic.blocks.block import Block, Parts, residual_block
from uat_jax.symbolic.blocks.feed_forward import FeedForward
from uat_jax.symbolic.derivation import derive
from uat_jax.symbolic.induction import INDEX, closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.norms import lipschitz, norm, same_norm, submultiplicative, triangle
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.support import density, lower_triangular, nonzeros, shift
from uat_jax.symbolic.updates import Assignment, update_induction

Decide = Callable[[], Evidence | Iterable[Evidence] | bool]


@dataclass(frozen=True)
class Statement:
    """``true`` is proved; what ``wrong`` says, of the same kind, is false and never is."""

    true: Decide
    wrong: tuple[Decide, ...]


def _(true: Decide, *wrong: Decide) -> Statement:
    return Statement(true, wrong)


n, p, q, N, M, h, r, L = map(m.dimension, ("n", "p", "q", "N", "M", "h", "r", "L"))
i, j, k = (sympy.Symbol(name, integer=True, positive=True) for name in "ijk")
whole = sympy.Symbol("t", integer=True)
I, O, Sum, K = m.Identity, m.Zero, m.RangeSum, m.Kronecker
A, B, C = (m.Letter(name, n, n) for name in "ABC")
x, y, z = (m.Letter(name, n, 1) for name in "xyz")
Ak = m.Family("A", lambda *_: (n, n))
oo, nan = sympy.oo, sympy.nan


def equation(left: m.Expression, right: m.Expression, where: Any = None) -> Evidence:
    return prove([Step("an equation", left, right, where or {})], method=Method.NORMAL_FORM, what="an equation")


# --- exact finite numbers --------------------------------------------------------------------------------------------


def _scaled(c: Any, right: Callable[[m.Expression], m.Expression]) -> Decide:
    return lambda: equation(c * x, right(c * x))


def _zeros(size: Any, other: Any) -> Decide:
    return lambda: equation(m.Zero(size, 1), m.Zero(other, 1))


NUMBERS = {
    "∞ x = ∞ x + x": _(
        lambda: equation(2 * x, x + x),
        *(_scaled(c, lambda cx: cx + x) for c in (oo, -oo, sympy.zoo, nan, float("inf"), float("nan"))),
        lambda: equation(sympy.Symbol("c", infinite=True) * x - sympy.Symbol("c", infinite=True) * x, O(n, 1)),
        lambda: equation(sympy.O(n) * x, sympy.O(n) * x + x),
        lambda: equation(sympy.AccumBounds(0, 1) * x, sympy.AccumBounds(0, 1) * x + x),
    ),
    "a float is no exact number": _(
        lambda: equation(sympy.Rational(1, 10) * x, sympy.Rational(2, 20) * x),
        lambda: equation(0.1 * x + 0.2 * x, 0.30000000000000004 * x),
        lambda: equation(1e-300 * (1e-300 * x), O(n, 1)),
        lambda: equation((1.0 + 1e-20) * x - x, O(n, 1)),
        lambda: equation((sympy.Float(1) / 3) * x * 3, x),
    ),
    "sizes": _(
        _zeros(n + n, 2 * n),
        _zeros(sympy.Float(1e20), 10**20 + 1),
        _zeros(1e20, 10**20 + 1),
        _zeros(sympy.Float(1e20) * n, (10**20 + 1) * n),
        _zeros(oo, oo),
        _zeros(oo, oo - n),
        _zeros(nan, nan),
        _zeros(-1, -1),
        _zeros(sympy.Rational(1, 2), sympy.Rational(1, 2)),
        _zeros(sympy.sqrt(2), sympy.sqrt(2)),
        _zeros(n + sympy.Float(1e-30), n),
    ),
    "bounds": _(
        lambda: equation(Sum(Ak[k], k, 1, j + 1) - Ak[j + 1], Sum(Ak[k], k, 1, j)),
        lambda: equation(Sum(A, k, 1, oo), Sum(A, k, 1, oo) + A),
        lambda: equation(Sum(A, k, 1, sympy.Float(3)), 4 * A),
        lambda: equation(Sum(A, k, 1, sympy.Rational(5, 2)), 3 * A),
        lambda: equation(Sum(A, k, 1.0, 2), A),
        lambda: equation(Sum(A, 3, 1, 2), A),
    ),
}

# --- one meaning of a sum --------------------------------------------------------------------------------------------

SUMS = {
    "a symbol that may be small": _(
        lambda: equation(Sum(A, k, 1, j - 1) + A, j * A),
        lambda: equation(Sum(A, k, 1, j - 2), (j - 2) * A),  # −A at j = 1, where it is 0
        lambda: equation(Sum(A, k, 1, j - 3) + 3 * A, j * A),
        lambda: equation(Sum(A, k, 3, j) + 2 * A, j * A),
        lambda: equation(Sum(A, k, 4, j + 1) + 2 * A, j * A),
        lambda: equation(Sum(Ak[k], k, 3, j) + Ak[1] + Ak[2], Sum(Ak[k], k, 1, j)),
        lambda: equation(Sum(A, k, 1, -j), -j * A),
        lambda: equation(Sum(A, k, 1, whole), whole * A),
        lambda: equation(Sum(A, k, 1, 5 - j), (5 - j) * A),
        lambda: equation(Sum(A, k, 1, j - n), (j - n) * A),
        lambda: equation(Sum(A, k, 0, j - 3), (j - 2) * A),
    ),
    "inside another": _(
        lambda: equation(Sum(Sum(Ak[k], k, 1, i), i, 1, j), Sum(Sum(Ak[i], i, 1, k), k, 1, j)),
        lambda: equation(Sum(m.Activation(Sum(A, k, 3, i)), i, 1, j), Sum(m.Activation(i * A - 2 * A), i, 1, j)),
        lambda: equation(m.Activation(Sum(A, k, 1, j - 2)), m.Activation(j * A - 2 * A)),
        lambda: equation(m.Vectorised(Sum(A, k, 2, j - 1)), m.Vectorised((j - 2) * A)),
    ),
}

# --- definitions -----------------------------------------------------------------------------------------------------


def _itself(letter: m.Letter, ranges: Any) -> m.Expression | None:
    return letter + x if letter == y else None


def _without_end(letter: m.Letter, ranges: Any) -> m.Expression | None:
    return m.Letter("y", n, 1, (letter.subscripts[0] + 1,)) if letter.name == "y" and letter.subscripts else None


def _program(lines: dict[m.Letter, m.Expression]) -> Program:
    return Program(lines, z)


NETWORK = _program({y: A @ x, z: B @ y})


def _same_programs(network: Program, printed: Program, also: Any = None) -> Decide:
    return lambda: difference(network, printed, also) is None


DEFINITIONS = {
    "definitions that go round": _(
        lambda: equation(z, A @ (A @ x), {z: A @ y, y: A @ x}),
        lambda: equation(y, y + x, {y: y + x}),
        lambda: equation(y, y + x, {y: z + x, z: y}),
        lambda: equation(y, z, {y: z, z: x, x: y}),
        lambda: equation(y, y + x, _itself),
        lambda: equation(m.Letter("y", n, 1, (1,)), x, _without_end),
    ),
    "definitions of another size": _(
        lambda: equation(y, A @ x, {y: A @ x}),
        lambda: equation(y, O(n, 1), {y: O(p, 1)}),
        lambda: equation(A, I(n), {A: I(p)}),
    ),
    "programs": _(
        _same_programs(NETWORK, _program({z: B @ A @ x})),
        _same_programs(NETWORK, _program({z: A @ B @ x})),
        _same_programs(NETWORK, _program({z: B @ x}), {y: x}),
        _same_programs(NETWORK, _program({z: A @ x}), {z: x}),
        _same_programs(NETWORK, _program({z: O(n, 1)}), {y: O(n, 1)}),
        _same_programs(Program({z: O(n, 1)}, z), Program({C: I(n)}, C)),
        _same_programs(Program({A: I(n)}, A), Program({C: I(p)}, C)),
        lambda: by_depth(lambda depth: (NETWORK, NETWORK), (), what="at no depth"),
        lambda: prove([], method=Method.NORMAL_FORM, what="nothing"),
    ),
}

# --- derivations -----------------------------------------------------------------------------------------------------


def _derived(kind: str, depth: int, heads: int | None = None) -> Statement:
    """Each line of the program doubled, left out or put in; the network of another depth or kind."""
    right = derive(kind, depth=depth, heads=heads)
    lines, result = right.parameters.lines, right.parameters.result
    programs = [Program({**lines, letter: 2 * value}, result) for letter, value in lines.items()]
    programs.append(
        Program({m.Letter("A", *right.layers.A(1).shape, (9,)): O(*right.layers.A(1).shape), **lines}, result)
    )
    other = {"residual": "transformer", "transformer": "residual"}[kind]
    networks = [derive(kind, depth=depth + 1, heads=heads).network, derive(other, depth=depth).network]
    networks.append(Program({result: O(*result.shape)}, result))
    networks.append(Program({right.layers.x(0): O(*right.layers.x(0).shape), **right.network.lines}, result))
    wrong = [replace(right, parameters=program) for program in programs]
    wrong += [replace(right, network=network) for network in networks]
    wrong += [replace(right, depth=depth + 1), replace(right, kind=other)]
    return _(lambda: right.holds(), *((lambda w=w: w.holds()) for w in wrong))


DERIVATIONS = {
    "residual": _derived("residual", 2),
    "transformer": _derived("transformer", 2),
    "attention of two heads": _derived("transformer", 2, heads=2),
}

# --- blocks ----------------------------------------------------------------------------------------------------------

PARTS = Parts(MultiHead((1,)), FeedForward((1,)))
BLOCK = residual_block(PARTS)
X, TOKENS = PARTS.X, PARTS.tokens


def _block(lines: dict[m.Letter, m.Expression], output: m.Expression, **parameters: m.Expression) -> Decide:
    """The block with these lines is the layer with these parameters, zero where none is given."""
    zero = {name: O(*letter.shape) for name, letter in zip("ABCbc", BLOCK.layers.parameters(1), strict=True)}
    return lambda: equation_of(Block(PARTS, lines, output, **{**zero, **parameters}))


def equation_of(block: Block) -> Evidence:
    return prove([block.step("a block")], method=Method.NORMAL_FORM, what="a block")


_zero = O(*X.shape)
BLOCKS = {
    "what a block is given": _(
        lambda: equation_of(BLOCK),
        _block({X: _zero}, X),  # the identity is the zero layer
        _block({BLOCK.layers.x(0): O(*BLOCK.layers.x(0).shape)}, X, A=I(BLOCK.layers.widths(0))),
        _block({BLOCK.layers.A(1): O(*BLOCK.layers.A(1).shape)}, X),
        _block({PARTS.feed_forward.weights[0]: O(*PARTS.feed_forward.weights[0].shape)}, X),
        _block({TOKENS("X", 1): _zero, X: TOKENS("X", 1)}, X),
        _block({TOKENS("Y", 2): _zero, X: TOKENS("Y", 2)}, X),
        _block({TOKENS("Y", 1): TOKENS("Z", 1), TOKENS("Z", 1): TOKENS("Y", 1)}, TOKENS("Y", 1)),
        _block({TOKENS("Y", 1): TOKENS("Y", 1)}, TOKENS("Y", 1)),
    ),
    "its parameters": _(
        lambda: equation_of(replace(BLOCK, lines=dict(BLOCK.lines))),
        *((lambda name=name: equation_of(replace(BLOCK, **{name: 2 * getattr(BLOCK, name)}))) for name in "ABCbc"),
        _block({}, X),
        _block({}, 2 * X, A=I(BLOCK.layers.widths(0))),
        lambda: equation_of(replace(BLOCK, A=BLOCK.layers.A(1))),
        lambda: equation_of(replace(BLOCK, A=2 * BLOCK.layers.A(1) - BLOCK.layers.A(1))),
    ),
}

# --- inductions over the layers --------------------------------------------------------------------------------------


def _induction(kind: str, **rules: Callable[[Any, ClosedForm], m.Expression]) -> Decide:
    """Theorem 1 with some of the collected rules replaced."""
    closed = ClosedForm(Layers(kind))
    collected = recurrence(closed, INDEX + 1)
    changed = {name: rule(getattr(collected, name), closed) for name, rule in rules.items()}
    return lambda: _proved(closed_form_induction(Layers(kind), replace(collected, **changed)))


def _proved(steps: Iterable[Step]) -> Evidence:
    return prove(steps, method=Method.INDUCTION, what="for every depth")


def _inductions(kind: str) -> Statement:
    names = ("W1", "b3", "W2", "b2_constant", "b2_u", "carry", "W3")
    doubled = [_induction(kind, **{name: lambda rule, closed: 2 * rule}) for name in names]
    hidden = [
        _induction(kind, b3=lambda rule, closed, of=of: of(closed))
        for of in (
            lambda closed: closed.layers.C(INDEX + 1) @ closed.s(INDEX + 1),
            lambda closed: closed.b3(INDEX + 1),
            lambda closed: closed.layers.A(INDEX + 1) @ closed.x(INDEX),
            lambda closed: closed.layers.A(INDEX + 1) @ closed.u(INDEX),
        )
    ]
    return _(_induction(kind), *doubled, *hidden)


W1, W2, W3, b2, b3 = lists.W1, lists.W2, lists.W3, lists.b2, lists.b3
PRINTED = lists.in_place_rules(INDEX)


def zero(letter: m.Letter) -> Assignment:
    return Assignment(letter, O(*letter.shape))


INSERTED = {
    **{f"{of(k)} for every k": zero(of(k)) for of in (W1, b3, W2, b2, W3)},
    **{f"{of(k + 1)} for every k": zero(of(k + 1)) for of in (W3, W2, b2, b3, W1)},
    **{f"{of(INDEX)}": zero(of(INDEX)) for of in (W1, W2, W3, b2, b3)},
    **{f"{of(INDEX + 1)}": zero(of(INDEX + 1)) for of in (W1, W2, W3, b2, b3)},
    **{f"{of(INDEX + 2)}": zero(of(INDEX + 2)) for of in (W1, W2, W3, b2, b3)},
}
"""Assignments that do not belong into Theorem 2's list, before all others."""


def _updated(rules: tuple[Assignment, ...], kind: str = "residual", in_place: bool = True) -> Decide:
    return lambda: _proved(update_induction(kind, rules, in_place=in_place))


def _hatted(kind: str = "residual") -> tuple[Assignment, ...]:
    """What is to be shown, assigned."""
    closed = ClosedForm(lists.square_layers(kind))
    j = INDEX + 1
    named = ((b2(j), closed.b2(j)), (W2(j), closed.W2(j)), (b3(j), closed.b3(j)), (W1(j), closed.W1(j)))
    return (*(Assignment(target, value) for target, value in named), Assignment(W3(k), closed.W3(k, j)))


def _itself_assigned(target: m.Letter) -> tuple[Assignment, ...]:
    return (*PRINTED, Assignment(target, target + target))


INDUCTIONS = {
    "residual": _inductions("residual"),
    "transformer": _inductions("transformer"),
    "Theorem 2": _(
        _updated(PRINTED),
        *(_updated((rule, *PRINTED)) for rule in INSERTED.values()),
        *(_updated(PRINTED[:at] + PRINTED[at + 1 :]) for at in range(5)),
        *(_updated(_itself_assigned(of(INDEX + 1))) for of in (W1, W2, W3, b2, b3)),
        _updated(tuple(reversed(PRINTED))),
        _updated(_hatted()),
    ),
    "Theorem 2, transformer": _(
        _updated(PRINTED, "transformer"),
        _updated((zero(W1(k)), *PRINTED), "transformer"),
        _updated((zero(W3(k + 1)), *PRINTED), "transformer"),
        _updated(_hatted("transformer"), "transformer"),
    ),
}

# --- counts ----------------------------------------------------------------------------------------------------------


def _count(claimed: Any, found: Any, measured: Callable[[Any], Any], shapes: list, given: tuple = ()) -> Decide:
    return lambda: counted(claimed, found, what="a number", measured=measured, shapes=shapes, given=given)


def _entries(expression: Callable[[], m.Expression], claimed: Any, patterns: Any = None, given: tuple = ()) -> Decide:
    """The formula for the entries that are not zero is the claimed one, for every size."""
    return lambda: sympy.expand(nonzeros(expression(), patterns, given) - claimed) == 0


SIX = [{L: depth} for depth in range(1, 7)]
_bump = sympy.Mul(*(L - depth for depth in range(1, 7)))
P, Q = m.Letter("P", n, n - 1), m.Letter("Q", n - 1, n)
S = lambda index: m.Letter("S", N, N, (index,))
E = lambda index, rows=h * p: m.Selection(index, rows, p)
COUNTS = {
    "products through a size": _(
        _entries(lambda: m.Letter("P", n, p) @ m.Letter("Q", p, n), n**2),
        _entries(lambda: P @ Q, n**2),  # 0 at n = 1
        _entries(lambda: A @ P @ Q, n**2),
        _entries(lambda: m.Letter("P", n, n - 2) @ m.Letter("Q", n - 2, n), n**2),
        _entries(lambda: K(P @ Q, A), n**4),
        _entries(lambda: m.Letter("P", n, 0) @ m.Letter("Q", 0, n), n**2),
    ),
    "diagonals": _(
        _entries(lambda: S(0) + S(1), 2 * N - 1, {"S": shift}),
        _entries(lambda: S(3), N - 3, {"S": shift}),  # −2 at N = 1
        _entries(lambda: S(r), N - r, {"S": shift}),
        _entries(lambda: Sum(S(k), k, 1, r), r * N - r * (r + 1) / 2, {"S": shift}),
        _entries(lambda: Sum(S(k), k, 1, r), r * N - r * (r + 1) / 2, {"S": shift}, (r <= N + 1,)),
        _entries(lambda: Sum(S(k), k, 1, 2 * N), 2 * N**2 - N * (2 * N + 1), {"S": shift}),
        _entries(lambda: K(S(2), A), (N - 2) * n**2, {"S": shift}),
    ),
    "diagonals that are there": _(
        _entries(lambda: Sum(S(k), k, 1, r), r * N - r * (r + 1) / 2, {"S": shift}, (r <= N,)),
        _entries(lambda: Sum(S(k), k, 1, r), r * N, {"S": shift}, (r <= N,)),
        _entries(lambda: Sum(S(k), k, 1, r - 2), (r - 2) * N - (r - 2) * (r - 1) / 2, {"S": shift}, (r <= N,)),
        _entries(lambda: Sum(S(k), k, 5, r), (r - 4) * N - r * (r + 1) / 2 + 10, {"S": shift}, (r <= N,)),
    ),
    "slices": _(
        _entries(lambda: Sum(E(i) @ m.Letter("V", p, p) @ E(i).T, i, 1, h), h * p**2),
        _entries(lambda: E(3) @ m.Letter("V", p, n), p * n),  # where h is 1 there is no E_3
        _entries(lambda: E(1, M) @ m.Letter("V", p, n), p * n),
        _entries(lambda: Sum(E(i) @ m.Letter("V", p, n), i, 1, h + 1), (h + 1) * p * n),
        _entries(lambda: Sum(E(i) @ m.Letter("V", p, n), i, 0, h), (h + 1) * p * n),
        _entries(lambda: m.Letter("P", n, h * p) @ E(2), n * p),
        _entries(lambda: E(h + 1), p),
    ),
    "divisors that vanish": _(
        _count(L + 1, L + 1, lambda shape: shape[L] + 1, SIX),
        _count((L**2 - 1) / (L - 1), L + 1, lambda shape: shape[L] + 1, SIX[1:]),
        _count(1 + (L**2 - 9) / (L - 3) - 3, L + 1, lambda shape: shape[L] + 1, SIX[:2]),
        _count((L**3 - 8) / ((L - 2) * (L**2 + 2 * L + 4)) * (L + 1), L + 1, lambda shape: shape[L] + 1, SIX[3:]),
        _count(L + (L - 7) ** 0 * (L - 7) / (L - 7), L + 1, lambda shape: shape[L] + 2, SIX),
    ),
    "a formula that the arrays do not determine": _(
        _count(2 * L + 1, 2 * L + 1, lambda shape: 2 * shape[L] + 1, SIX),
        _count(2 * L + 1 + _bump, 2 * L + 1 + _bump, lambda shape: 2 * shape[L] + 1, SIX),
        _count(L + (L - 1) ** 2, L + (L - 1) ** 2, lambda shape: shape[L], SIX[:1]),
        _count(2**L + L - 2, 2**L + L - 2, lambda shape: 1, SIX[:1]),
        _count(L**2, L**2, lambda shape: shape[L], SIX[:1] + [{L: 2}]),
        _count(N * M, N * M, lambda shape: shape[N], [{N: 2, M: 1}, {N: 3, M: 1}, {N: 5, M: 2}]),
        _count(N + M - 1, N + M - 1, lambda shape: shape[N], [{N: 2, M: 1}, {N: 3, M: 1}]),
    ),
    "another number": _(
        _count(sympy.Rational(1, 3), sympy.Rational(1, 3), lambda shape: Fraction(1, 3), [{}]),
        _count(sympy.Rational(333, 1000), sympy.Rational(1, 3), lambda shape: Fraction(1, 3), [{}]),
        _count(sympy.Float(1) / 3, sympy.Rational(1, 3), lambda shape: Fraction(1, 3), [{}]),
        _count(oo, oo, lambda shape: 1, [{}]),
        _count(2**64, 2**64, lambda shape: 2.0**64 + 1, [{}]),
        _count(10**30 + 1, 10**30, lambda shape: 10**30, [{}]),
    ),
    "shares": _(
        lambda: density(m.Letter("T", n, n), {"T": lower_triangular}) == (n + 1) / (2 * n),
        lambda: density(P @ Q) == 1,
        lambda: density(m.Letter("S", 3, 3, (5,)), {"S": shift}) == sympy.Rational(-2, 9),
    ),
}

# --- ranks -----------------------------------------------------------------------------------------------------------


def _bounded(left: m.Expression, right: m.Expression, claimed: Any) -> Decide:
    return lambda: ranks.bounded(Step("a matrix", left, right), claimed=claimed, what="a matrix")


def _attained(rank: int, matrix: Any) -> Decide:
    return lambda: ranks.attained(rank, lambda random: np.array(matrix, dtype=object), what="a matrix")


def _at_least(rank: int, function: Callable, *values: float) -> Decide:
    return lambda: ranks.enclosed(rank, lambda x: function(x), {"x": list(values)}, what="a matrix")


U, V = m.Letter("U", n, r), m.Letter("V", r, n)
PRIME = 2**61 - 1
RANKS = {
    "bounds": _(
        _bounded(U @ V + U @ V, 2 * (U @ V), r),
        _bounded(I(n), I(1), 1),
        _bounded(I(n), I(r), r),
        _bounded(A, I(n) @ A, r),
        _bounded(U @ V + A, A + U @ V, r),
        _bounded(K(U @ V, A), K(U, A) @ K(V, I(n)), r),
        _bounded(U @ V + B @ U @ V, (I(n) + B) @ U @ V, 0),
    ),
    "sums": _(
        _bounded(Sum(Ak[k] @ U @ V, k, 1, j), Sum(Ak[k] @ U @ V, k, 1, j), j * r),
        _bounded(Sum(Ak[k], k, 4, 0), Sum(Ak[k], k, 4, 0), -3 * n),
        _bounded(Sum(Ak[k] @ U @ V, k, 1, j - 2), Sum(Ak[k] @ U @ V, k, 1, j - 2), (j - 2) * r),
        _bounded(Sum(Ak[k] @ U @ V, k, 1, -j), Sum(Ak[k] @ U @ V, k, 1, -j), -j * r),
        _bounded(Sum(Ak[k] @ U @ V, k, 1, j), Sum(Ak[k] @ U @ V, k, 1, j), r),
        _bounded(Sum(Sum(A @ U @ V, k, 1, i), i, -3, 1), Sum(Sum(A @ U @ V, k, 1, i), i, -3, 1), -5 * r),
    ),
    "of numbers": _(
        _attained(2, [[1, 0], [0, PRIME]]),
        _attained(1, [[1, 0], [0, PRIME]]),
        _attained(1, [[1, 0], [0, 2**61 - 1 + 0]]),
        _attained(1, [[2, 1], [1, (PRIME + 1) // 2]]),
        _attained(0, [[PRIME]]),
        _attained(0, [[PRIME * PRIME]]),
        _attained(2, [[1, 2], [2, 4]]),
        _attained(1, [[0.5, 0], [0, 1]]),
    ),
    "of real numbers": _(
        _at_least(2, lambda x: jnp.stack([x, x**2]), 1.0, 2.0),
        _at_least(2, lambda x: jnp.stack([0.1 * x + 0.2 * x, 0.3 * x**2]), 1.0, 1.0),
        _at_least(2, lambda x: jnp.stack([x, x + jnp.sin(np.pi * x)]), 1.0, 2.0),
        _at_least(1, lambda x: (0.1 * x + 0.2 * x - 0.3 * x)[None], 1.0, 1.0),
        _at_least(2, lambda x: jnp.outer(x, x) / 3, 1.0, 2.0),
        _at_least(2, lambda x: jnp.stack([x / 49, x * (1 / 49)]) * jnp.array([[1.0, 2.0]]), 1.0, 3.0),
    ),
}

# --- what depends on the input ---------------------------------------------------------------------------------------


def _static(parameter: m.Expression, argument: Any = x, where: Any = None) -> Decide:
    return lambda: dependence.static(parameter, argument, what="a parameter", where=where)


def _dynamic(function: Callable, first: Any = (1.0,), second: Any = (2.0,)) -> Decide:
    return lambda: dependence.dynamic(function, (list(first), list(second)), what="a parameter")


f = m.Letter("f", n, n)
xk = m.Family("x", lambda *_: (n, 1))
DEPENDENCES = {
    "static": _(
        _static(A @ y, where={y: B @ z}),
        _static(A @ y, where={y: B @ x}),
        _static(m.Dependent(f, x)),
        _static(m.Dependent(f, y), where={y: x}),
        _static(m.Dependent(f, y) @ y, where={f: m.Dependent(A, x)}),  # f stands for something that moves
        _static(m.Dependent(f, y) @ y, f),
        _static(m.Dependent(m.Letter("f", n, n, (k,)), y), m.Letter("f", n, n, (1,))),
        _static(A @ x, where={x: y}),
        _static(x @ x.T),
        _static(m.RowSoftmax(A + x @ m.Ones(1, n)) @ x),
        _static(Sum(Ak[k] @ xk[k], k, 1, j), xk[2]),
        _static(A @ y, where={y: z, z: y}),
    ),
    "static by cancellation": _(
        _static(m.RowSoftmax(A + x @ m.Ones(1, n)) @ y),
        _static(m.RowSoftmax(A + m.Ones(n, 1) @ x.T) @ y),
        _static(A @ x - B @ x),
        _static(m.Activation(x) - x),
    ),
    "dynamic": _(
        _dynamic(lambda x: x**2),
        _dynamic(lambda x: 0.1 * x + 0.2 * x - 0.3 * x),
        _dynamic(lambda x: jnp.sin(np.pi * x)),
        _dynamic(lambda x: x / 3 + x * (2 / 3) - x),
        _dynamic(lambda x: float(np.float32(0.1)) * x - 0.1 * x),
        _dynamic(lambda x: float(np.float16(0.1)) * x - 0.1 * x),
        _dynamic(lambda x: x * np.sqrt(2) * np.sqrt(2) - 2 * x),
        _dynamic(lambda x: jnp.exp(np.log(3.0) * x) - 3.0**x),
        _dynamic(lambda x: 1 / (0 * x)),
        _dynamic(lambda x: 0 * x),
    ),
}

# --- inequalities ----------------------------------------------------------------------------------------------------

s, t, w = sympy.symbols("s t w", real=True)
e = sympy.Symbol("e", positive=True)


def _inequality(claim: Any, *hypotheses: Any) -> Decide:
    return lambda: proved_inequality(claim, hypotheses, what="an inequality")


def _norms(claim: Callable[[], Any], *laws: Callable[[], Any]) -> Decide:
    return lambda: proved_inequality(claim(), [law() for law in laws], what="norms")


def _box(function: Callable[..., arb], box: Any, **given: Any) -> Decide:
    return lambda: enclosed(function, box, what="a function", **given)


Ap = m.Letter("A", n, q)
spaced = m.Letter("A B", n, n)
INEQUALITIES = {
    "of numbers": _(
        _inequality(abs(s + t) <= abs(s) + abs(t)),
        _inequality(abs(s + t) >= abs(s) + abs(t)),
        _inequality(abs(s - t) <= abs(s) - abs(t)),
        _inequality(s**2 >= s),
        _inequality(sympy.Max(s, t) <= abs(s + t)),
        _inequality(s * t >= 0, abs(s) >= 1, t >= 0),
        _inequality(s < s + t, t >= 0),
        _inequality(s < t, s <= t),
        _inequality(sympy.Eq(s, t), s <= t),
        _inequality(s < 0, s < -1, s > 1),
        _inequality(s <= 0.1 + 0.2, s <= sympy.Rational(3, 10)),
        _inequality(s <= 1 - e, s <= 1),
        _inequality(sympy.Symbol("c") ** 2 >= 0),
    ),
    "of norms": _(
        _norms(lambda: norm(A @ x) <= norm(A) * norm(x), lambda: submultiplicative(A, x)),
        _norms(lambda: norm(A) <= norm(Ap), lambda: norm(A) <= norm(A)),
        _norms(lambda: norm(spaced) <= norm(A) * norm(B), lambda: submultiplicative(A, B)),
        _norms(lambda: norm(m.Letter("A_1", n, n)) <= norm(Ak[1]), lambda: norm(A) >= 0),
        _norms(lambda: norm(m.Letter("x", q, 1)) <= norm(x) + norm(y), lambda: triangle(x + y)),
        _norms(lambda: norm(A @ x) >= norm(A) * norm(x), lambda: submultiplicative(A, x)),
        _norms(lambda: norm(x + y) >= norm(x) + norm(y), lambda: triangle(x + y)),
        _norms(lambda: norm(x) <= 2 * norm(x) - norm(y), lambda: same_norm(Step("", x, y))),
        _norms(lambda: norm(A) <= norm(I(p)), lambda: same_norm(Step("", I(n), I(p))), lambda: norm(A) <= norm(I(n))),
        _norms(
            lambda: norm(m.Activation(A) - m.Activation(B)) <= norm(A - B), lambda: lipschitz(sympy.Integer(1), A, B)
        ),
        _norms(lambda: norm(m.Activation(x) - m.Activation(y)) < 0, lambda: lipschitz(sympy.Integer(-1), x, y)),
    ),
    "in balls": _(
        _box(lambda x: x * x, [(1, 2)], above=0),
        _box(lambda x: x * x, [(-1, 1)], above=0),
        _box(lambda x: x * x, [(0, 1)], below=1),
        _box(lambda x: x, [(0, Fraction(1, 10))], below=0.1),
        _box(lambda x: x, [(0.1, 0.2)], above=Fraction(1, 10)),
        _box(lambda x: 1 / x, [(0, 1)], above=0),
        _box(lambda x: x, [(0, float("inf"))], above=-1),
        _box(lambda x: 1.0, [(0, 1)], above=0),  # type: ignore[arg-type, return-value]
    ),
}

# --- denials ---------------------------------------------------------------------------------------------------------


def _differ(left: Callable, right: Callable, value: Any) -> Decide:
    """The two functions of x are not the same: denied by one input."""
    return lambda: opposite([exhibit(left, right, {"x": value}, what="two functions")])


def _numbers_differ(left: Any, right: Any) -> Decide:
    return lambda: opposite([exhibit_numbers(left, right, at={}, what="two numbers")])


def _does_not_fit(build: Callable[..., m.Expression], *symbols: str) -> Decide:
    return lambda: opposite([refute_shape(build, symbols, what="a formula")])


root = sympy.sqrt
DENIALS = {
    "two functions": _(
        _differ(lambda x: x**2, lambda x: x, 2),
        _differ(lambda x: 0.1 * x + 0.2 * x - 0.3 * x, lambda x: 0 * x, 1),
        _differ(lambda x: jnp.sin(np.pi * x), lambda x: 0 * x, 1),
        _differ(lambda x: jnp.cos(np.pi * x / 2), lambda x: 0 * x, 1),
        _differ(lambda x: x / 3, lambda x: (1 / 3) * x, 1),
        _differ(lambda x: 1e30 * (x / 3 - (1 / 3) * x), lambda x: 0 * x, 1),
        _differ(lambda x: float(np.float32(0.1)) * x, lambda x: 0.1 * x, 1),
        _differ(lambda x: float(np.float16(0.1)) * x, lambda x: 0.1 * x, 1),
        _differ(lambda x: jnp.exp2(x / 2), lambda x: jnp.exp(np.log(2.0) * x / 2), 1),
        _differ(lambda x: (0.7 * 10 * x).astype(int).astype(x.dtype), lambda x: 7 * x, 1),
        _differ(lambda x: jnp.where(0.1 + 0.2 > 0.3 * x, 1.0, 0.0) * x, lambda x: 0 * x, 1),
        _differ(lambda x: (x * np.sqrt(3.0)) ** 2, lambda x: 3 * x**2, 1),
        _differ(lambda x: jnp.log(np.e * x), lambda x: 1 + jnp.log(x), 1),
        _differ(lambda x: 1 / (x - x), lambda x: 0 * x, 1),
        _differ(lambda x: x @ jnp.array([0.1, 0.9]), lambda x: x[0], [1, 1]),
        _differ(lambda x: x @ jnp.array([1 / 3, 1 / 3, 1 / 3]), lambda x: jnp.mean(x), [1, 2, 3]),
    ),
    "two numbers": _(
        _numbers_differ(sympy.pi, sympy.Rational(355, 113)),
        _numbers_differ(root(2) + root(3), root(5 + 2 * root(6))),
        _numbers_differ(sympy.log(6), sympy.log(2) + sympy.log(3)),
        _numbers_differ(sympy.cos(sympy.pi / 5) * 4, 1 + root(5)),
        _numbers_differ(sympy.exp(sympy.log(3) / 2), root(3)),
        _numbers_differ(sympy.tan(sympy.pi / 8), root(2) - 1),
        _numbers_differ(sympy.Rational(1, 2), Fraction(2, 4)),
        _numbers_differ(0.1 + 0.2, 0.3),
        _numbers_differ(oo, 1),
    ),
    "what does not fit": _(
        _does_not_fit(lambda a, b: m.Letter("X", a, b) @ m.Letter("Y", a, b), "a", "b"),
        _does_not_fit(lambda a, b: m.Letter("X", a, b) @ m.Letter("Y", b, a), "a", "b"),
        _does_not_fit(lambda a, b: m.Letter("X", a, a - 2) @ m.Letter("Y", a - 2, b), "a", "b"),
        _does_not_fit(
            lambda a, b: m.Letter("X", (a + b) ** 2, 1) + m.Letter("Y", a**2 + 2 * a * b + b**2, 1), "a", "b"
        ),
    ),
}

KINDS: dict[str, dict[str, Statement]] = {
    "numbers": NUMBERS, "sums": SUMS, "definitions": DEFINITIONS, "derivations": DERIVATIONS, "blocks": BLOCKS,
    "inductions": INDUCTIONS, "counts": COUNTS, "ranks": RANKS, "dependences": DEPENDENCES,
    "inequalities": INEQUALITIES, "denials": DENIALS,
}  # fmt: skip
