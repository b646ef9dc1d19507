"""The definition of a DUAT function: how much it says, and how far it fixes its parameters (F1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.dependence import dynamic
from uat_jax.decide.functions import confirm_functions
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Claim, Kind
from uat_jax.ledger.edit import one_word
from uat_jax.ledger.foundations.elementary import equations
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import Source, duat
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.step import Step

# --- every function is one --------------------------------------------------------------------------------------------


def one_logistic_term(bias: Callable[[Any], Any]) -> Evidence:
    """σ(0·x + b(x)) = f(x) with b(x) = log(f(x)/(1 − f(x))), σ logistic and 0 < f < 1.

    f(x) is any number u/(1 + u) with u > 0: nothing is asked of f as a function of x.
    """
    u = sympy.Symbol("u", positive=True)
    f = u / (1 + u)
    value = 1 / (1 + sympy.exp(-bias(f)))
    return equations({"σ(σ⁻¹(f)) = f": (value, f)}, what="logistic σ, one term, W = 0", subject="logistic")


def two_relu_terms(second: int = -1) -> Iterator[Evidence]:
    """relu(0·x + f(x)) − relu(0·x − f(x)) = f(x) for every number f(x)."""
    f = sympy.Symbol("f", real=True)
    claim = sympy.Eq(sympy.Max(f, 0) - sympy.Max(second * f, 0), f)
    yield proved_inequality(claim, [], what="relu, two terms, W = 0, b = ±f(x)", subject="relu")


def _any_bias(settings: Settings) -> Iterator[Evidence]:
    yield one_logistic_term(lambda f: sympy.log(f / (1 - f)))
    yield from two_relu_terms()


def any_matrix() -> Step:
    """A(x) = f(x) xᵀ r with r = 1/‖x‖²: A(x) x = f(x) + f(x)(r xᵀx − 1), and r xᵀx = 1 for x ≠ 0."""
    f, x, r = m.Letter("f", m.dimension("m"), 1), m.Letter("x", m.dimension("n"), 1), m.Letter("r", 1, 1)
    return Step("A(x) x", (f @ r @ x.T) @ x, f + f @ (r @ x.T @ x - m.Identity(1)))


def _any_matrix(settings: Settings) -> Iterator[Evidence]:
    yield from proved([any_matrix()], method=Method.NORMAL_FORM, what="A(x) x = f(x), for every n, m and f")
    matrix = lambda f, x: jnp.outer(f, x) / jnp.sum(x * x)
    product = lambda f, x: jnp.matmul(matrix(f, x), x, precision="highest")
    yield confirm_functions(product, lambda f, x: f, [(2,), (3,)], what="A(x) x = f, m = 2, n = 3")


# --- the same function with other parameters ---------------------------------------------------------------------------


def gauge() -> Step:
    """C σ((B + Z) x + (b − Z x)) = C σ(B x + b) for every matrix Z, which may depend on x."""
    n, F, D = map(m.dimension, "nFD")
    x, B, Z = m.Letter("x", n, 1), m.Letter("B", F, n), m.Letter("Z", F, n)
    C, b = m.Letter("C", D, F), m.Letter("b", F, 1)
    return Step("gauge", C @ m.Activation((B + Z) @ x + (b - Z @ x)), C @ m.Activation(B @ x + b))


def _gauge(settings: Settings) -> Iterator[Evidence]:
    yield from proved([gauge()], method=Method.NORMAL_FORM, what="one function, for every Z, every shape and every σ")


# --- which parameters Eq. 4 allows to depend on the input -----------------------------------------------------------------


def coefficient(x: jax.Array) -> jax.Array:
    """Ŵ_{1,3} = A_2(x_1) C_1, the α_1 of two Transformer layers: N = 2, M = 1, C_1 = I, all other weights 1.

    The hidden units of layer 1 are σ(y_1) with σ = relu and y_1 = A_1(x_0) x_0, so that x_1 = y_1 + relu(y_1).
    """
    pattern = lambda z: jax.nn.softmax(jnp.outer(z, z))
    y = jnp.matmul(pattern(x), x, precision="highest")
    return pattern(y + jax.nn.relu(y))


INPUTS = ([0.0, 0.0], [1.0, 0.0])


def dynamic_coefficient() -> Evidence:
    """Two inputs at which it differs."""
    return dynamic(coefficient, INPUTS, what="α_1 = A_2(x_1) C_1 of a two-layer Transformer")


def _all_dynamic(settings: Settings) -> Iterator[Evidence]:
    steps = closed_form_induction(Layers("transformer", dynamic=True))
    yield from proved(steps, method=Method.INDUCTION, what="the form with α(x), W(x) and b(x), for every L")


# --- the rows -------------------------------------------------------------------------------------------------------

_DEFINITION = (duat("2.3", 4), duat("B.2"))
_EQUATION_4 = r"\mathbf{y}_i=G(\mathbf{x}_i|\mathbf{W}(\mathbf{x}_i),\mathbf{b}(\mathbf{x}_i))"

CLAIMS = (
    Claim(
        id="duat.vacuous.bias",
        title="every function whatever is a DUAT function, by its bias alone",
        ledger="F1",
        kind=Kind.EXISTENCE,
        sources=_DEFINITION,
        printed=_EQUATION_4,
        reading="W(x) and b(x) may be any functions of x: with W = 0 one logistic term is any f with values in (0, 1), two "
        "relu terms are any real f, continuous or not. To be a DUAT function says something only with the W(x), b(x)",
        hypotheses=("nothing is asked of how W and b depend on x",),
        expects=Verdict.PROVED,
        decide=_any_bias,
    ),
    Claim(
        id="duat.vacuous.matrix",
        title="every function whatever is a dynamic matrix acting on its input",
        ledger="F1",
        kind=Kind.EXISTENCE,
        sources=_DEFINITION,
        printed=r"\mathbf{A}(\mathbf{x})=f(\mathbf{x})\mathbf{x}^T/\|\mathbf{x}\|^2,\quad\mathbf{A}(\mathbf{x})\mathbf{x}=f(\mathbf{x})",
        reading="not printed: one layer of Eq. 20 without σ-term, W_{1,1} dynamic",
        hypotheses=("x ≠ 0", "nothing is asked of how W_{1,1} depends on x"),
        expects=Verdict.PROVED,
        decide=_any_matrix,
    ),
    Claim(
        id="duat.gauge",
        title="the split into W(x) and b(x) is arbitrary",
        ledger="F1",
        kind=Kind.IDENTITY,
        sources=_DEFINITION,
        printed=r"\sigma((\mathbf{W}_{j,2}+\mathbf{Z})\mathbf{x}_0+(\mathbf{b}_{j,2}-\mathbf{Z}\mathbf{x}_0))=\sigma(\mathbf{W}_{j,2}\mathbf{x}_0+\mathbf{b}_{j,2})",
        reading="not printed, for every Z: which of the two is called dynamic is a choice",
        hypotheses=(ELEMENTWISE,),
        expects=Verdict.PROVED,
        decide=_gauge,
    ),
    Claim(
        id="duat.eq-4",
        title="in Eq. 4 only W and b depend on the input",
        ledger="F1",
        kind=Kind.DEPENDENCE,
        sources=(duat("2.3", 4), duat("3.3", 11)),
        printed=_EQUATION_4,
        reading="α, which stands at W_{j,3} in Eq. 11, is static; §3.3 lets W_{j,3} be dynamic and B.2 “certain parameters”",
        hypotheses=("the Transformer of Eq. 30, its parameters those of Theorem 1",),
        expects=Verdict.REFUTED,
        correction="duat.eq-4.corrected",
        ours=True,
        decide=one_word(lambda: [dynamic_coefficient()], "static", "dynamic"),
    ),
    Claim(
        id="duat.eq-4.corrected",
        title="with α(x), W(x), b(x) and an affine term Eq. 4 fits every Transformer",
        ledger="F1",
        kind=Kind.ALL_DEPTHS,
        sources=(duat("2.3", 4), duat("B.2")),
        printed=r"\mathbf{y}_i=\mathbf{A}(\mathbf{x}_i)\mathbf{x}_i+\mathbf{c}(\mathbf{x}_i)+G(\mathbf{x}_i|\alpha(\mathbf{x}_i),\mathbf{W}(\mathbf{x}_i),\mathbf{b}(\mathbf{x}_i))",
        reading="the parameters are those of Theorem 1, which makes the statement one about Transformers",
        expects=Verdict.PROVED,
        decide=_all_dynamic,
    ),
)  # fmt: skip

RECORDS = (
    Record(
        id="duat.definition",
        ledger="F1",
        status=Status.DEFINITION,
        sources=(*_DEFINITION, Source("abstract", "TL;DR")),
        says="DUAT has the form of the UAT sum with parameters that are functions of the input.",
        note="As it stands every function has this form (duat.vacuous.bias), and the parameters are not unique "
        "(duat.gauge). What has content is Theorem 1, which says which functions of the input they are.",
    ),
)  # fmt: skip
