"""The closed form of a network of L layers, derived layer by layer, as a straight-line program with checked steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from uat_jax.errors import InputError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.layers import KINDS, Attention, Layers
from uat_jax.symbolic.normal_form import Normaliser
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.words import NormalForm


@dataclass(frozen=True)
class Derivation:
    """The closed form of ``depth`` layers of one kind.

    ``parameters`` is the program of the hatted parameters, ending in x_L;
    ``network`` is the plain network, one line x_j = layer(x_{j-1}) each, ending in the same x_L.
    """

    kind: str
    depth: int
    layers: Layers
    attention: Attention | None
    parameters: Program
    network: Program

    @property
    def closed(self) -> ClosedForm:
        """The letters of the closed form."""
        return ClosedForm(self.layers)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The argument, equation by equation, each of which can be checked alone."""
        return tuple(_steps(self))

    def holds(self, *, dynamic: bool = False) -> bool:
        """Whether the closed form has the normal form of the plain network: equal for every shape and every σ.

        ``dynamic`` lets every A_j, B_j, C_j, b_j, c_j be an arbitrary function of x_{j-1}; with attention written
        out that is what is decided, together with the step that makes each block such a layer.  It is this
        derivation's own network and program that have to be equal: those of another kind or depth do not hold.
        """
        if not self._is_of_its_kind():
            return False
        network, closed, _ = self.normal_forms(dynamic=dynamic or self.attention is not None)
        return network == closed and (self.attention is None or self._blocks_hold(self.attention))

    def _is_of_its_kind(self) -> bool:
        """Whether the network is that of its kind and depth, and the program defines the hatted letters alone.

        With attention the program also defines the parameters of each layer: those of Theorem 3, and no others.
        """
        network = _network_lines(self.layers, self.attention, self.depth)
        own, given = self.parameters.lines, _given_lines(self.closed, self.attention, self.depth)
        return (
            self.kind == self.layers.kind
            and (self.network.lines, self.network.result) == (network.lines, network.result)
            and self.parameters.result == network.result
            and own.keys() == given.keys() | {*_hatted(self.closed, self.depth), network.result}
            and all(own[letter] == line for letter, line in given.items())
        )

    def _blocks_hold(self, attention: Attention) -> bool:
        return all(_block_step(self.layers, attention, j).holds() for j in range(1, self.depth + 1))

    def normal_forms(self, *, dynamic: bool = False) -> tuple[NormalForm, NormalForm, Normaliser]:
        """x_L of the plain network, x_L of the closed form, and a normaliser of their letters."""
        plain, lines = self.lines(dynamic=dynamic)
        left = Normaliser(plain)
        right = Normaliser(lines, left.letters)
        return self._form(left, plain), self._form(right, lines), left

    def lines(self, *, dynamic: bool = False) -> tuple[dict[m.Letter, m.Expression], dict[m.Letter, m.Expression]]:
        """What the letters stand for in the plain network, and in the closed form; both end in x_L."""
        layers, closed, inner = replace(self.layers, dynamic=dynamic), self.closed, range(1, self.depth)
        plain = {layers.x(j): layers.apply(j, layers.x(j - 1)) for j in (*inner, self.depth)}
        lines = dict(self.parameters.lines)
        if dynamic:
            own = [(p, j) for j in (*inner, self.depth) for p in layers.parameters(j)]
            lines |= {p: m.Dependent(p, layers.x(j - 1)) for p, j in own}
            lines |= {layers.x(j): closed.x(j) for j in inner}
        return plain, lines

    def _form(self, normalise: Normaliser, lines: dict[m.Letter, m.Expression]) -> NormalForm:
        for letter in lines:  # in order, so that unfolding never goes deep
            normalise(letter)
        return normalise(self.layers.x(self.depth))

    def latex(self) -> str:
        """The program as an ``align*`` environment."""
        return self.parameters.latex()

    def __str__(self) -> str:
        return str(self.parameters)


def derive(kind: str, *, depth: int, heads: int | None = None) -> Derivation:
    """Derive the closed form of x_L (DUAT Eq. 11/33 and 12/34, corrected: Theorem 1).

    kind: "residual" (Eq. 20) or "transformer" (Eq. 30).  depth: L ≥ 1.  heads: for a Transformer, write out
    attention with that many heads, so that A_j, B_j, C_j, b_j, c_j are themselves lines over W_Q, W_K, W_V, W_O
    and the feed-forward weights (Theorem 3); without it they are letters.  Raises `InputError` on anything else.

    Returns:
        The derivation: its parameters, layer by layer, and why they hold.

    Example:
        >>> uj.derive("residual", depth=2).holds()
        True
    """
    if kind not in KINDS:
        raise InputError(f"unknown kind of network {kind!r}; wanted one of {', '.join(KINDS)}")
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise InputError(f"depth {depth!r} is not possible; wanted a whole number of layers, at least 1")
    counted = isinstance(heads, int) and not isinstance(heads, bool) and heads >= 1
    if heads is not None and (kind != "transformer" or not counted):
        raise InputError(f"heads={heads!r} does not fit; wanted a positive number and kind 'transformer'")
    attention = Attention(heads) if heads else None
    layers = attention.layers if attention else Layers(kind)
    parameters, network = _closed_lines(layers, attention, depth), _network_lines(layers, attention, depth)
    return Derivation(kind, depth, layers, attention, parameters, network)


def _network_lines(layers: Layers, attention: Attention | None, depth: int) -> Program:
    lines: dict[m.Letter, m.Expression] = {}
    for j in range(1, depth + 1):
        x = layers.x(j - 1)
        if attention is None:
            lines[layers.x(j)] = layers.apply(j, x)
        else:
            X = m.Matricised(x, attention.tokens, attention.features(j - 1))
            lines[layers.x(j)] = m.Vectorised(attention.apply(j, X))
    return Program(lines, layers.x(depth))


def plain_network(layers: Layers, depth: int) -> Program:
    """x_j = layer(x_{j-1}), one line each."""
    return _network_lines(layers, None, depth)


def closed_form(layers: Layers, depth: int) -> Program:
    """The program of the hatted parameters and of x_L for a network of ``depth`` layers, layer by layer."""
    return _closed_lines(layers, None, depth)


def _closed_lines(layers: Layers, attention: Attention | None, depth: int) -> Program:
    closed = ClosedForm(layers)
    lines: dict[m.Letter, m.Expression] = {}
    for j in range(1, depth + 1):
        if attention is not None:
            lines |= _attention_lines(closed, attention, j)
        lines |= _layer_lines(closed, j)
    return Program(lines | {layers.x(depth): closed.x(depth)}, layers.x(depth))


def _given_lines(closed: ClosedForm, attention: Attention | None, depth: int) -> dict[m.Letter, m.Expression]:
    """What is written out of every layer's own parameters: nothing where they are letters."""
    if attention is None:
        return {}
    return {l: e for j in range(1, depth + 1) for l, e in _attention_lines(closed, attention, j).items()}


def _hatted(closed: ClosedForm, depth: int) -> Iterator[m.Letter]:
    """The letters that `_layer_lines` defines in all layers."""
    for j in range(1, depth + 1):
        yield from (closed.W2(j), closed.b2(j), closed.s(j), closed.W1(j), closed.b3(j))  # type: ignore[misc]
        yield from closed.factors(j)


def _layer_lines(closed: ClosedForm, j: int) -> dict[m.Letter, m.Expression]:
    rule = recurrence(closed, j)
    u = closed.sum(j - 1)
    b2 = rule.b2_constant if rule.b2_u is None else rule.b2_constant + rule.b2_u @ u
    lines = {
        closed.W2(j): rule.W2,
        closed.b2(j): b2,
        closed.s(j): closed.activation(j),
        closed.W1(j): rule.W1,
        closed.b3(j): rule.b3,
    }
    # Lemma 1: what multiplies u multiplies every W_{k,3} of it.
    *carried, new = closed.factors(j)
    lines |= {W3: rule.carry @ before for W3, before in zip(carried, closed.factors(j - 1), strict=True)}  # type: ignore[operator]
    return {**lines, new: rule.W3}  # type: ignore[dict-item]


def _token_matrix(attention: Attention, j: int) -> m.Letter:
    """X_{j-1}, N × M_{j-1}, with x_{j-1} = vec(X_{j-1})."""
    return m.Letter("X", attention.tokens, attention.features(j - 1), (j - 1,))


def _attention_lines(closed: ClosedForm, attention: Attention, j: int) -> dict[m.Letter, m.Expression]:
    x = closed.layers.x(j - 1)
    X = _token_matrix(attention, j)
    trajectory = {} if j == 1 else {x: closed.x(j - 1)}
    token_matrix: dict[m.Letter, m.Expression] = {X: m.Matricised(x, *X.shape)}
    return trajectory | token_matrix | attention.matrix_vector_parameters(j, X)


def _block_step(layers: Layers, attention: Attention, j: int) -> Step:
    """That block j is a matrix times a vector: Theorem 3 and Eq. 6."""
    X = _token_matrix(attention, j)
    return Step(
        f"write block {j} as matrix times vector (Theorem 3, Eq. 6)",
        m.Vectorised(attention.apply(j, X)),
        layers.apply(j, layers.x(j - 1)),
        {layers.x(j - 1): m.Vectorised(X)} | attention.matrix_vector_parameters(j, X),
    )


def _steps(derivation: Derivation) -> Iterator[Step]:
    layers, closed, lines = derivation.layers, derivation.closed, derivation.parameters.lines
    for j in range(1, derivation.depth + 1):
        x = layers.x(j - 1)
        before = {} if j == 1 else {x: closed.x(j - 1)}
        if derivation.attention is not None:
            yield _block_step(layers, derivation.attention, j)
        names = [closed.W2(j), closed.b2(j)]
        _, B, _, b, _ = layers.parameters(j)
        argument = B @ (x if layers.kind == "residual" else layers.A(j) @ x) + b
        collected = closed.W2(j) @ layers.x(0) + closed.b2(j)
        yield Step(
            f"collect the argument of σ in layer {j} (Eq. 27)",
            argument,
            collected,
            before | {n: lines[n] for n in names},
        )
        new = [closed.W1(j), closed.b3(j), *names, closed.s(j), *(closed.W3(k, j) for k in range(1, j + 1))]
        yield Step(
            f"collect x_{j} (Eq. 26 and Lemma 1)",
            layers.apply(j, x),
            closed.x(j),
            before | {n: lines[n] for n in new},  # type: ignore[index]
        )
