"""Which parameters of the closed form depend on the input: the whole table (G18; F2 for networks without a skip).

For L = 3 layers, each parameter p of Eq. 11/33 is derived; "static" is the equation p(x) = p(x̃), "dynamic" two inputs
at which p takes two values.  What is static stays so at every depth, by induction over the derived rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from uat_jax.decide import dependence
from uat_jax.decide.opposite import opposite
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Claim, Decide, Kind
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import duat, v2
from uat_jax.lowering import Lowered
from uat_jax.symbolic import language as m
from uat_jax.symbolic.derivation import derive
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import Attention, Layers
from uat_jax.symbolic.program import Program, letters_of
from uat_jax.symbolic.recurrence import ClosedForm, recurrence

DEPTH = 3
INPUTS = ((0, 1), (1, 0))
"""Two inputs of two tokens with one feature each, one the other with its tokens exchanged."""

NUMBERS = ((0,), (1,))
"""Two inputs of a network without tokens, of width one."""

SHARED, BY_POSITION = "token-shared", "position-dependent"
NETWORKS = ("transformer", "residual-attention", "residual", "perceptron")
WORDS = {
    "transformer": "the papers' Transformer",
    "residual-attention": "a Transformer with residual attention",
    "residual": "a residual network with fixed weights",
    "perceptron": "a multi-layer perceptron (A_j = 0)",
}

FIXED = ("residual", "perceptron")
"""Networks whose own parameters do not depend on the input."""

STATIC, DYNAMIC = "static", "dynamic"
TABLE: dict[str, dict[str, tuple[str, str, str]]] = {
    "transformer": {
        "W1": (DYNAMIC, DYNAMIC, DYNAMIC),
        "W2": (DYNAMIC, DYNAMIC, DYNAMIC),
        "W3": (DYNAMIC, DYNAMIC, STATIC),
        "b3": (STATIC, STATIC, STATIC),
        "b3-by-position": (STATIC, DYNAMIC, DYNAMIC),
        "b2": (STATIC, DYNAMIC, DYNAMIC),
    },
    "residual": {
        "W1": (STATIC, STATIC, STATIC),
        "W2": (STATIC, STATIC, STATIC),
        "W3": (STATIC, STATIC, STATIC),
        "b3": (STATIC, STATIC, STATIC),
        "b2": (STATIC, DYNAMIC, DYNAMIC),
    },
}
TABLE |= {"residual-attention": TABLE["transformer"], "perceptron": {"b2": TABLE["residual"]["b2"]}}
"""Network → parameter → what it is for j = 1, 2, 3 in a network of L = 3 layers."""


# --- the derived parameters of three layers --------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameters:
    """The derived lines of one network of three layers, and the letters of its closed form.

    traced: parameters that have been evaluated, as functions that JAX has traced: several rows rest on the same.
    """

    lines: Mapping[m.Letter, m.Expression]
    closed: ClosedForm
    names: Mapping[sympy.Expr, sympy.Expr]
    tokens: int
    traced: dict[m.Letter, Callable[[jax.Array], jax.Array]] = field(default_factory=dict)

    @property
    def input(self) -> m.Letter:
        """x_0."""
        return self.closed.layers.x(0).renamed(self.names)

    def letter(self, parameter: str, j: int) -> m.Letter:
        """Ŵ_{j,1}, Ŵ_{j,2}, Ŵ_{j,3}, b̂_{j,2} or b̂_{j,3} of the whole network."""
        of = self.closed
        letters = {"W1": of.W1, "W2": of.W2, "W3": lambda k: of.W3(k, DEPTH), "b3": of.b3, "b2": of.b2}
        found = letters[parameter.split("-")[0]](j)
        assert isinstance(found, m.Letter)
        return found.renamed(self.names)

    def function(self, letter: m.Letter, argument: m.Letter | None = None) -> Callable[[jax.Array], jax.Array]:
        """The parameter as a JAX function of x_0, or of another letter that is then no longer computed.

        N is the number of tokens, all other sizes are 1, σ = relu, weights 1, 2, …
        """
        argument = argument or self.input
        program = _needed({l: line for l, line in self.lines.items() if l != argument}, letter)
        lowered = Lowered(program, argument, jax.nn.relu, dimensions={m.dimension("N"): self.tokens})
        weights = {str(l): _whole_numbers(l, self.tokens) for l in program.inputs if l != argument}
        return lambda x: lowered({name: jnp.asarray(w, x.dtype) for name, w in weights.items()}, x)

    def moves(self, letter: m.Letter, *, subject: str) -> Evidence:
        """Two inputs at which the parameter takes two values."""
        inputs, sizes = (INPUTS, "N = 2, all others 1") if self.tokens > 1 else (NUMBERS, "all 1")
        weights = "all 1 (1, 2 down a column of length 2)" if self.tokens > 1 else "all 1"
        at = {"sizes": sizes, "weights": weights, "σ": "relu"}
        if letter not in self.traced:
            self.traced[letter] = self.function(letter)
        return dependence.dynamic(self.traced[letter], inputs, what=str(letter), at=at, subject=subject)


def _whole_numbers(letter: m.Letter, tokens: int) -> np.ndarray:
    """1, 2, … row by row: a column of length NM is then no token-shared bias."""
    rows, columns = (_size(dimension, tokens) for dimension in letter.shape)
    return np.arange(1, 1 + rows * columns).reshape(rows, columns)


def _size(dimension: Any, tokens: int) -> int:
    """As many tokens, one of everything else."""
    dimension = sympy.sympify(dimension)
    sizes = {s: tokens if s == m.dimension("N") else 1 for s in dimension.atoms(sympy.Symbol, sympy.Indexed)}
    return int(dimension.xreplace(sizes))


def _needed(lines: Mapping[m.Letter, m.Expression], result: m.Letter) -> Program:
    """The lines that the result is computed from."""
    used, todo = set(), [result]
    while todo:
        letter = todo.pop()
        if letter in lines and letter not in used:
            used.add(letter)
            todo += letters_of(lines[letter])
    return Program({letter: line for letter, line in lines.items() if letter in used}, result)


@cache
def parameters(network: str, biases: str = SHARED) -> Parameters:
    """The derivation at L = 3, one head.

    With a residual around attention A_j = I + W_HVO(x_{j−1}); with position-dependent biases b_{j,3} is any column of
    length NM instead of 1_N ⊗ v_{j,2}.
    """
    if network in FIXED:
        derived = derive("residual", depth=DEPTH)
        lines = derived.parameters.lines
        if network == "perceptron":
            lines = {A: m.Zero(*A.shape) for A in derived.parameters.inputs if A.name == "A"} | lines
        return Parameters(lines, derived.closed, {}, 1)
    derived = derive("transformer", depth=DEPTH, heads=1)
    lines, names = derived.parameters.lines, {}
    if network == "residual-attention":
        attention = Attention(1)
        features = m.dimension("M")
        names = {attention.features(j): features for j in range(DEPTH + 1)}
        lines = {letter.renamed(names): line.renamed(names) for letter, line in lines.items()}
        beside = lambda letter, line: m.Identity(line.shape[0]) + line if letter.name == "A" else line
        lines = {letter: beside(letter, line) for letter, line in lines.items()}
    if biases == BY_POSITION:
        lines = {letter: line for letter, line in lines.items() if letter.name != "c"}
    return Parameters(lines, derived.closed, names, 2)


# --- one cell of the table -------------------------------------------------------------------------------------------


def cell(network: str, parameter: str, j: int) -> Iterator[Evidence]:
    """What shows that the parameter is what the table says."""
    if TABLE[network][parameter][j - 1] == DYNAMIC:
        yield moves(network, parameter, j)
    elif network not in FIXED and parameter == "b3" and j > 1:
        yield from _shared_bias(network, j)
    else:
        yield from stays(network, parameter, j)


def moves(network: str, parameter: str, j: int) -> Evidence:
    """Two inputs at which the parameter takes two values."""
    of = _of(network, parameter)
    return of.moves(of.letter(parameter, j), subject=f"j = {j}")


def stays(network: str, parameter: str, j: int) -> Iterator[Evidence]:
    """The parameter takes one value at any two inputs, for all shapes."""
    of = _of(network, parameter)
    letter = of.letter(parameter, j)
    what = f"{letter} at L = {DEPTH} is the same at any two inputs"
    return dependence.static(letter, of.input, what=what, where=of.lines, subject=f"j = {j}")


def _of(network: str, parameter: str) -> Parameters:
    return parameters(network, BY_POSITION if parameter == "b3-by-position" else SHARED)


def shared_bias(heads: sympy.Expr | int, *, residual: bool) -> m.Expression:
    """A(X)(1 ⊗ v) + 1 ⊗ w, what a layer makes of a token-shared bias; with ``residual`` A(X) = I + W_HVO(X).

    It is 1 ⊗ (Σ_i (E_i W_Vi W_Oi)ᵀ v + w), because the rows of H_i sum to one: H_i 1 = 1.
    """
    of, X, one = Attention(heads), tokens(heads), m.Ones(m.dimension("N"), 1)
    names = {of.features(1): of.features(0)} if residual else {}
    v, w = m.Letter("v", of.features(0), 1), m.Letter("w", of.features(1), 1).renamed(names)
    matrix = of.matrix(1, X).renamed(names)
    A = m.Identity(matrix.shape[0]) + matrix if residual else matrix
    return A @ m.Kronecker(one, v) + m.Kronecker(one, w)


def one_token(heads: sympy.Expr | int) -> m.Expression:
    """W_HVO(X) of one token, written Σ_i H_i 1 ⊗ (E_i W_Vi W_Oi)ᵀ: for N = 1 the column 1 is the number one."""
    of, X, i = Attention(heads), tokens(heads), sympy.Symbol("i", integer=True, nonnegative=True)
    row = of.pattern(1, i, X) @ m.Ones(m.dimension("N"), 1)
    sum_ = m.RangeSum(m.Kronecker(row, of.value_output(1, i).T), i, 1, heads)
    return sum_.renamed({m.dimension("N"): sympy.Integer(1)})


def tokens(heads: sympy.Expr | int) -> m.Letter:
    """X, N × M_0."""
    return m.Letter("X", m.dimension("N"), Attention(heads).features(0))


def _shared_bias(network: str, j: int) -> tuple[Evidence, ...]:
    """b̂_{j,3} = 1 ⊗ w_j by induction from b̂_{1,3} = 1 ⊗ v_{1,2}: the step, for any number of heads (and one, for j = 2)."""
    residual = network == "residual-attention"
    what = "b̂_{i+1,3} = A_{i+1} (1 ⊗ v) + 1 ⊗ w is the same at any two inputs"
    heads = 1 if j == 2 else m.dimension("h")
    words = "one head" if j == 2 else "any number of heads"
    parameter = shared_bias(heads, residual=residual)
    return tuple(dependence.static(parameter, tokens(heads), what=f"{what}, {words}", subject=f"j = {j}"))


# --- every depth -----------------------------------------------------------------------------------------------------


def at_every_depth(parameter: str) -> Iterator[Evidence]:
    """In a residual network (A_j = 0 or not): the rule that gives the parameter of i+1 layers contains no x_0, no x_i and no σ-term."""
    of = Layers("residual")
    closed = ClosedForm(of)
    rule, k = recurrence(closed, INDEX + 1), sympy.Symbol("k", integer=True, positive=True)
    assert rule.carry is not None
    new = {
        "W1": (rule.W1,),
        "W2": (rule.W2,),
        "W3": (rule.W3, rule.carry @ closed.W3(k, INDEX)),
        "b3": (rule.b3,),
    }[parameter]
    moving = of.x(0), of.x(INDEX), closed.u(INDEX), closed.s(k)
    for expression in new:
        what = f"{expression} is the same at any two inputs if the parameters of i layers are"
        yield from dependence.static(expression, moving, what=what, subject="every depth")


# --- the rows --------------------------------------------------------------------------------------------------------


def _row(network: str, parameter: str) -> Decide:
    """One row of the table: j = 1, …, L, and every depth where the argument does not need L."""

    def decide(settings: Settings) -> Iterator[Evidence]:
        for j in range(1, DEPTH + 1):
            yield from cell(network, parameter, j)
        if network in FIXED and parameter != "b2":
            yield from at_every_depth(parameter)

    return decide


def hatted(parameter: str, j: Any) -> str:
    """The parameter of layer j as the papers' readers know it: Ŵ_{1,2} for "W2", b̂_{1,3} for "b3-by-position"."""
    letter, number = parameter[:2]
    hat = "Ŵ" if letter == "W" else "b̂"
    return f"{hat}_{{{j},{number}}}"


Place = tuple[str, str, int]
"""(network, parameter, j): a cell of the table."""


def said(word: str, *places: Place) -> Decide:
    """Whether each of these parameters is ``word``, "static" or "dynamic", each a statement of its own.

    What shows the one word refutes the other: PROVED where the table has that word, REFUTED where it has the other.
    """

    def decide(settings: Settings) -> Iterator[Evidence]:
        for network, parameter, j in places:
            found = cell(network, parameter, j)
            so = found if TABLE[network][parameter][j - 1] == word else opposite(found)
            subject = f"{network}: {hatted(parameter, j)}, {word}"
            yield from (replace(evidence, subject=subject) for evidence in so)

    return decide


IN_DUAT = (duat("3.3", 11), duat("B.3", 34))
IN_V2 = (v2("3.5", 11), v2("C.2", 10))
GENERIC = "dynamic: for some weights and two inputs of two tokens, at L = 3"

_LATEX = {
    "W1": r"\mathbf{W}'_{j,1}",
    "W2": r"\mathbf{W}'_{j,2}",
    "W3": r"\mathbf{W}'_{j,3}",
    "b3": r"\mathbf{b}'_{j,3}",
    "b3-by-position": r"\mathbf{b}'_{j,3}",
    "b2": r"\mathbf{b}'_{j,2}",
}
_NAMES = {
    "W1": "W_{j,1}",
    "W2": "W_{j,2}",
    "W3": "W_{j,3}",
    "b3": "b_{j,3}",
    "b3-by-position": "b_{j,3}",
    "b2": "b_{j,2}",
}
_KINDS = {"b3": "token-shared ", "b3-by-position": "unshared "}
_BIASES = {
    "b3": "token-shared biases b_{j,3} = 1 ⊗ v, as in Transformers",
    "b3-by-position": "biases b_{j,3} of any kind, as the papers' b_2 in Eq. 6 of shape (N, M)",
}


def _where(found: tuple[str, ...]) -> str:
    """In words: for which j of 1, …, L the parameter is dynamic."""
    words = {"sss": "is static", "ddd": "is dynamic", "dds": "is dynamic for j < L", "sdd": "is dynamic for j ≥ 2"}
    return words["".join(word[0] for word in found)]


def _table_claim(network: str, parameter: str) -> Claim:
    found = TABLE[network][parameter]
    written = ", ".join(f"{word} at j = {j}" for j, word in enumerate(found, 1))
    conditions = ("no norms", *((_BIASES[parameter],) if parameter in _BIASES else ()))
    kind = _KINDS.get(parameter, "") if network not in FIXED else ""
    return Claim(
        id=f"dependence.{network}.{parameter.lower()}",
        title=f"{kind}{_NAMES[parameter]} {_where(found)} in {WORDS[network]}",
        ledger="F2" if network == "perceptron" else "G18",
        kind=Kind.DEPENDENCE,
        sources=(*IN_DUAT, *IN_V2),
        printed=rf"{_LATEX[parameter]}\text{{ for }}j=1,2,3\text{{: {', '.join(found)}}}",
        reading=f"not printed: the parameter of Eq. 11/33 in {WORDS[network]} of three layers: {written}; {GENERIC}",
        hypotheses=(ELEMENTWISE, *(conditions if network not in FIXED else ())),
        expects=Verdict.PROVED,
        decide=_row(network, parameter),
    )


CLAIMS = tuple(_table_claim(network, parameter) for network in NETWORKS for parameter in TABLE[network])

RECORDS = (
    Record(
        "dependence.degenerate",
        "G18",
        Status.NO_CONTENT,
        IN_DUAT,
        "“the parameters change dynamically with the input”",
        "A statement about some inputs, not about all: with a saturated softmax two inputs can have H_i that differ by "
        "less than a rounding error, and without a residual around attention equal tokens stay equal, H_i = 1 1ᵀ/N.",
    ),
)
