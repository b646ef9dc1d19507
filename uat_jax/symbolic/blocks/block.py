"""How norms, attention and feed-forward are put together, and the layer of Theorem 1 that the whole is on vec(X).

Every block is A x + c + C σ(B x + b) with x = vec(X) and parameters that depend on x: a layer of a residual network
with dynamic parameters, of which `induction.closed_form_induction` proves the closed form for every depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from uat_jax.errors import InputError
from uat_jax.symbolic import derivation
from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks.attention import MultiHead
from uat_jax.symbolic.blocks.feed_forward import FeedForward
from uat_jax.symbolic.blocks.norms import NoNorm
from uat_jax.symbolic.blocks.sizes import FEATURES, TOKENS, plus, times
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm
from uat_jax.symbolic.step import Step

EYE = m.Identity(TOKENS * FEATURES)


@dataclass(frozen=True)
class Parts:
    """What block j is made of; the norms, where there are two, are that of attention and that of the feed-forward.

    ``after_1`` and ``after_2`` stand behind attention and feed-forward, within the residual connection.
    """

    attention: MultiHead
    feed_forward: FeedForward
    norm_1: NoNorm = field(default_factory=NoNorm)
    norm_2: NoNorm = field(default_factory=NoNorm)
    after_1: NoNorm = field(default_factory=NoNorm)
    after_2: NoNorm = field(default_factory=NoNorm)
    number: int = 1

    @property
    def X(self) -> m.Letter:
        """X_{j-1}, N × M."""
        return self.tokens("X", self.number - 1)

    def tokens(self, name: str, number: m.ScalarLike) -> m.Letter:
        """A token matrix, N × M."""
        return m.Letter(name, TOKENS, FEATURES, (number,))


@dataclass(frozen=True)
class Block:
    """A block on token matrices, and its parameters as a layer on vec(X).

    ``lines`` define the token matrices on the way from X_{j-1} to ``output``, in order.  Raises `InputError` for a
    line that defines anything else, such as X_{j-1} or a weight: a block says nothing of what it is given.
    """

    parts: Parts
    lines: dict[m.Letter, m.Expression]
    output: m.Expression
    A: m.Expression
    B: m.Expression
    C: m.Expression
    b: m.Expression
    c: m.Expression

    def __post_init__(self) -> None:
        given = next((letter for letter in self.lines if not self._is_on_the_way(letter)), None)
        if given is not None:
            raise InputError(f"block {self.parts.number} defines {given}; wanted token matrices of its own, not X")
        Program(self.lines, self.parts.X)  # refuses a line over a later one

    def _is_on_the_way(self, letter: m.Letter) -> bool:
        return letter.name != self.parts.X.name and letter == self.parts.tokens(letter.name, self.parts.number)

    @property
    def layers(self) -> Layers:
        """Layers on vec(X): D = NM, F activations for each token."""
        hidden = TOKENS * self.parts.feed_forward.hidden
        return Layers("residual", lambda j: TOKENS * FEATURES, lambda j: hidden)

    @property
    def parameters(self) -> dict[m.Letter, m.Expression]:
        """The layer's letters A_j, B_j, C_j, b_j, c_j, and what they are."""
        letters = self.layers.parameters(self.parts.number)
        return dict(zip(letters, (self.A, self.B, self.C, self.b, self.c), strict=True))

    def step(self, name: str) -> Step:
        """vec(block(X)) = A x + c + C σ(B x + b) with x = vec(X); what is 0 or I is left out."""
        x = self.layers.x(self.parts.number - 1)
        where = {x: m.Vectorised(self.parts.X)} | self.lines | self.parameters
        A, B, C, b, c = self.parameters
        first = x if self.A == EYE else A @ x
        inside = B @ x if isinstance(self.b, m.Zero) else B @ x + b
        second = C @ m.Activation(inside)
        whole = first + second if isinstance(self.c, m.Zero) else m.Addition(first, c, second)
        return Step(name, m.Vectorised(self.output), whole, where)


def residual_block(p: Parts) -> Block:
    """Y = X + after_1(T) with T = MHA(norm_1(X)), then Y + after_2(R) with R = FFN(norm_2(Y)): pre-norm, or no norms.

    A = I + N'_1(T) M N_1,  a = N'_1(T) (M (1 ⊗ β_1) + a_MHA) + 1 ⊗ β'_1,  B = B_F N_2(Y) A,
    b = B_F (N_2(Y) a + 1 ⊗ β_2) + b_F,  C = N'_2(R) C_F,  c = a + N'_2(R) c_F + 1 ⊗ β'_2, where M is taken at
    norm_1(X), and B_F, b_F, C_F, c_F are those of the feed-forward part.  Primes are of the norms behind, which are
    often I.
    """
    X, Z, T, Y, normed, R = p.X, *(p.tokens(name, p.number) for name in ("Z", "T", "Y", "Ȳ", "R"))
    N2, F = p.norm_2.matrix(Y), p.feed_forward
    M, after_1, after_2 = p.attention.matrix(Z), p.after_1.matrix(T), p.after_2.matrix(R)
    A = EYE + times(after_1, M, p.norm_1.matrix(X))
    a = plus(times(after_1, plus(times(M, p.norm_1.shift), p.attention.shift)), p.after_1.shift)
    attended, fed = p.attention.apply(Z), F.apply(normed)
    lines, behind = {Z: p.norm_1.apply(X), Y: X + attended, normed: p.norm_2.apply(Y)}, Y + fed
    if type(p.after_1) is not NoNorm:
        lines = {Z: lines[Z], T: attended, Y: X + p.after_1.apply(T), normed: lines[normed]}
    if type(p.after_2) is not NoNorm:
        lines, behind = lines | {R: fed}, Y + p.after_2.apply(R)
    return Block(
        p,
        lines,
        behind,
        A=A,
        B=times(F.inner, N2, A),
        C=times(after_2, F.outer(normed)),
        b=plus(times(F.inner, plus(times(N2, a), p.norm_2.shift)), F.inner_bias),
        c=plus(a, times(after_2, F.outer_bias(normed)), p.after_2.shift),
    )


def post_norm_block(p: Parts) -> Block:
    """Y = norm_1(T) with T = X + MHA(X), then norm_2(R) with R = Y + FFN(Y).

    A_Y = N_1(T) (I + M(X)),  a_Y = N_1(T) a_MHA + 1 ⊗ β_1;  A = N_2(R) A_Y,  B = B_F A_Y,  b = B_F a_Y + b_F,
    C = N_2(R) C_F,  c = N_2(R) (a_Y + c_F) + 1 ⊗ β_2.
    """
    X, T, Y, R = p.X, *(p.tokens(name, p.number) for name in "TYR")
    N1, N2, F = p.norm_1.matrix(T), p.norm_2.matrix(R), p.feed_forward
    A_Y = times(N1, EYE + p.attention.matrix(X))
    a_Y = plus(times(N1, p.attention.shift), p.norm_1.shift)
    return Block(
        p,
        {T: X + p.attention.apply(X), Y: p.norm_1.apply(T), R: Y + F.apply(Y)},
        p.norm_2.apply(R),
        A=times(N2, A_Y),
        B=F.inner @ A_Y,
        C=times(N2, F.outer(Y)),
        b=plus(times(F.inner, a_Y), F.inner_bias),
        c=plus(times(N2, plus(a_Y, F.outer_bias(Y))), p.norm_2.shift),
    )


def parallel_block(p: Parts) -> Block:
    """X + MHA(Z) + FFN(Z') with Z = norm_1(X), and Z' = norm_2(X), which is Z where the block has but one norm.

    A = I + M(Z) N_1,  a = M(Z) (1 ⊗ β_1) + a_MHA,  B = B_F N_2 (no factor A),  b = B_F (1 ⊗ β_2) + b_F,
    C = C_F,  c = a + c_F.
    """
    X, Z, other = p.X, p.tokens("Z", p.number), p.tokens("Ȳ", p.number)
    norm_2 = p.norm_1 if type(p.norm_2) is NoNorm else p.norm_2
    N1, N2, F, M = p.norm_1.matrix(X), norm_2.matrix(X), p.feed_forward, p.attention.matrix(Z)
    a = plus(times(M, p.norm_1.shift), p.attention.shift)
    return Block(
        p,
        {Z: p.norm_1.apply(X), other: norm_2.apply(X)},
        m.Addition(X, p.attention.apply(Z), F.apply(other)),
        A=EYE + times(M, N1),
        B=times(F.inner, N2),
        C=F.outer(other),
        b=plus(times(F.inner, norm_2.shift), F.inner_bias),
        c=plus(a, F.outer_bias(other)),
    )


def lone_block(p: Parts) -> Block:
    """X + FFN(Z) with Z = norm_2(X), no attention.

    A = I,  B = B_F N_2,  b = B_F (1 ⊗ β_2) + b_F,  C = C_F(Z),  c = c_F.
    """
    X, Z, F = p.X, p.tokens("Z", p.number), p.feed_forward
    return Block(
        p,
        {Z: p.norm_2.apply(X)},
        X + F.apply(Z),
        A=EYE,
        B=times(F.inner, p.norm_2.matrix(X)),
        C=F.outer(Z),
        b=plus(times(F.inner, p.norm_2.shift), F.inner_bias),
        c=F.outer_bias(Z),
    )


def cross_block(p: Parts) -> Block:
    """Y = X + MHA(X, memory), then Y + FFN(Y).

    A = I,  a = M(X) vec(memory) + a_MHA: a dynamic bias;  B = B_F,  b = B_F a + b_F,  C = C_F,  c = a + c_F.
    """
    assert p.attention.memory is not None
    X, Y, F = p.X, p.tokens("Y", p.number), p.feed_forward
    a = plus(p.attention.matrix(X) @ m.Vectorised(p.attention.memory), p.attention.shift)
    return Block(
        p,
        {Y: X + p.attention.apply(X)},
        Y + F.apply(Y),
        A=EYE,
        B=F.inner,
        C=F.outer(Y),
        b=plus(times(F.inner, a), F.inner_bias),
        c=plus(a, F.outer_bias(Y)),
    )


def closed_form(blocks: Sequence[Block]) -> Program:
    """The closed form of blocks 1, …, L after each other: a program of x_0 = vec(X_0), ending in x_L.

    Each block's parameters are lines over its token matrix, which is that of the closed form of the blocks before it.
    """
    layers, depth = blocks[0].layers, len(blocks)
    closed = ClosedForm(layers)
    opening = {closed.W2(j): _block_lines(closed, block) for j, block in enumerate(blocks, 1)}
    lines: dict[m.Letter, m.Expression] = {}
    for letter, expression in derivation.closed_form(layers, depth).items():
        lines |= opening.get(letter, {})
        lines[letter] = expression
    return Program(lines, layers.x(depth))


def _block_lines(closed: ClosedForm, block: Block) -> dict[m.Letter, m.Expression]:
    j, X = block.parts.number, block.parts.X
    x = closed.layers.x(j - 1)
    trajectory = {} if j == 1 else {x: closed.x(j - 1)}
    return trajectory | {X: m.Matricised(x, *X.shape)} | block.lines | block.parameters
