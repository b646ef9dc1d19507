"""What is known of all eigenvalues together, and of matrices that have the same eigenvectors.

    ∏ λ = det A        Σ λᵏ = tr Aᵏ        Σ log λ = log det A        V Λᵏ Vᵀ B = Aᵏ B        ∏ s = |det A|

These are asked of numbers that are formally what `eigh` or `svd` gave, or powers or logarithms of it.
docs/soundness.md §8.4 has the proofs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.interpret.tracing import shape_of
from uat_jax.numbers.prime_fields import factored
from uat_jax.numbers.prime_fields.determinants import MOST_ROWS, determinant
from uat_jax.numbers.prime_fields.facts import Facts, Nature
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.residues import Residues, same

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields

LAW = "functions of eigenvalues"

EXPONENTS = (1, 2, 3, 4, -1, -2)
"""Powers of eigenvalues that are looked for."""

MOST_SPECTRA, MOST_PRODUCTS = 8, 16
"""So many matrices are kept, and for each of them so many products with its eigenvectors."""


@dataclass(eq=False)
class Spectrum:
    """The eigenvalues of a symmetric matrix A, or the singular values of a square one, and its eigenvectors V.

    products: pairs Vᵀ B and B.
    """

    values: Number
    matrix: Number
    dtype: np.dtype
    vectors: Residues | None = None
    products: list[tuple[Residues, Residues]] = field(default_factory=list)

    @property
    def singular(self) -> bool:
        """Whether the values are singular values, which have no vectors here."""
        return self.vectors is None


def keep(fields: Fields, values: Number, matrix: Number, dtype: np.dtype, vectors: Residues | None) -> None:
    """Keep what `eigh` gave, or, without vectors, `svd`, of a square matrix, not known under a condition only."""
    spectra, shape = fields.functions.spectra, matrix.shape
    if LAW not in fields.functions.laws or len(shape) != 2 or shape[0] != shape[1] or len(spectra) >= MOST_SPECTRA:
        return
    if not 1 < shape[0] <= MOST_ROWS or matrix.facts is None or matrix.facts.guarded or matrix.facts.hollow:
        return
    met = Spectrum(values, matrix, dtype, vectors)
    if vectors is not None:
        met.products.append((_transposed(vectors), fields.draw.floats(np.eye(shape[0]))))
    spectra.append(met)


# --- all eigenvalues together -----------------------------------------------------------------------------------------


def reduced(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> Number | None:
    """The product or sum of all eigenvalues, of their powers, or of their logarithms, by the matrix."""
    if not is_reduced(fields, equation, operands):
        return None
    (x,) = operands
    found = _of_a_spectrum(fields, equation.primitive.name == "reduce_prod", x)
    if found is None:
        return None
    assert x.facts is not None
    nothing = np.zeros((), bool)
    facts = Facts(Nature.PIECEWISE, x.facts.defined, x.facts.hollow, nothing, nothing, nothing, x.facts.guarded)
    if found.facts is not None and facts.defined is found.facts.defined and not facts.hollow:
        facts = found.facts
    place = fields.expressions.applied(equation, [fields.place(x)], 0, shape_of(equation.outvars[0]))
    return found.but(expression=place, facts=facts, nonnegative=found.nonnegative and facts is found.facts)


def is_reduced(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> bool:
    """Whether an equation adds or multiplies a row of as many numbers as a spectrum that was met has."""
    if equation.primitive.name not in ("reduce_prod", "reduce_sum") or not fields.functions.spectra:
        return False
    (x,) = operands
    if not isinstance(x, Number) or x.special is not None or x.infinite is not None or x.facts is None:
        return False
    return x.almost is None and any(x.shape == met.values.shape for met in fields.functions.spectra)


def is_of_eigenvalues(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> bool:
    """Whether an equation multiplies all eigenvalues of a matrix, which is known by the matrix."""
    if equation.primitive.name != "reduce_prod" or not is_reduced(fields, equation, operands):
        return False
    return _of_a_spectrum(fields, True, operands[0]) is not None


def _of_a_spectrum(fields: Fields, product: bool, x: Number) -> Number | None:
    for met in fields.functions.spectra:
        if x.shape != met.values.shape:
            continue
        if not product and _are_logarithms(fields, met, x):
            return _one(fields, _program("log of |det|" if met.singular else "log of det", met))
        for k in (1,) if met.singular else EXPONENTS:
            if not same_in_some_order(fields, x.residues, _power(fields, met, k)):
                continue
            if product:
                return _one(fields, _program("|det|" if met.singular else "det", met)) if k == 1 else None
            return None if met.singular else _trace(fields, met, k)
    return None


def same_in_some_order(fields: Fields, x: Residues, values: Residues) -> bool:
    """Whether two rows are the same, or one is the other reversed."""
    fields.draw.compared(2 * math.prod(x.shape))
    return same(x, values) or same(x, values.moved(lambda a: a[:, ::-1]))


def _are_logarithms(fields: Fields, met: Spectrum, x: Number) -> bool:
    """Whether numbers are the logarithms of all eigenvalues, by what computed them."""
    if x.expression is None:
        return False
    made = fields.expressions[x.expression]
    if made.equation is None or made.equation.primitive.name != "log":
        return False
    of = fields.functions.small.get(made.operands[0])
    return of is not None and of.shape == x.shape and same_in_some_order(fields, of.residues, met.values.residues)


def _power(fields: Fields, met: Spectrum, k: int) -> Residues:
    """λᵏ."""
    return fields.functions.power(met.values, k).residues


def _one(fields: Fields, program_and_operands: tuple[ClosedJaxpr, list[Number]]) -> Number:
    return fields.lift(*fields.inner(*program_and_operands))


def _trace(fields: Fields, met: Spectrum, k: int) -> Number | None:
    """tr Aᵏ."""
    power = _power_of_matrix(fields, met, k)
    return None if power is None else _one(fields, (_of("trace", power.shape, met.dtype), [power]))


def _power_of_matrix(fields: Fields, met: Spectrum, k: int) -> Number | None:
    """Aᵏ; of a negative k if elimination has divisors that are zero on null sets only."""
    base = met.matrix
    if k < 0:
        found = factored.solution(fields, factored.Factorised(base, met.dtype), _unit(fields, base), transposed=False)
        if found is None:
            return None
        base = found
    return base if abs(k) == 1 else _one(fields, (_of(f"power {abs(k)}", base.shape, met.dtype), [base]))


def _unit(fields: Fields, matrix: Number) -> Number:
    return fields.number(np.eye(matrix.shape[-1]))


def _program(name: str, met: Spectrum) -> tuple[ClosedJaxpr, list[Number]]:
    return _of(name, met.matrix.shape, met.dtype), [met.matrix]


_FUNCTIONS = {
    "det": determinant,
    "|det|": lambda a: jnp.abs(determinant(a)),
    "log of det": lambda a: jnp.log(determinant(a)),
    "log of |det|": lambda a: jnp.log(jnp.abs(determinant(a))),
    "trace": jnp.trace,
    **{f"power {k}": functools.partial(lambda k, a: jnp.linalg.matrix_power(a, k), k) for k in (2, 3, 4)},
}


@functools.lru_cache(maxsize=256)
def _of(name: str, shape: tuple[int, ...], dtype: np.dtype) -> ClosedJaxpr:
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        return jax.make_jaxpr(_FUNCTIONS[name])(jax.ShapeDtypeStruct(shape, dtype))


# --- matrices with the same eigenvectors ------------------------------------------------------------------------------


def product_of(fields: Fields, left: Residues, right: Residues) -> Residues | None:
    """V Λᵏ times Vᵀ B, or its transpose, if it is known by the matrix; a product Vᵀ B is kept."""
    for met in fields.functions.spectra:
        if met.vectors is None:
            continue
        found = _product(fields, met, left, right)
        if found is not None:
            return found
        found = _product(fields, met, _transposed(right), _transposed(left))
        if found is not None:
            return _transposed(found)
    return None


def _product(fields: Fields, met: Spectrum, left: Residues, right: Residues) -> Residues | None:
    vectors, draw = met.vectors, fields.draw
    assert vectors is not None
    if left.shape != vectors.shape:
        return None
    draw.compared(2 * math.prod(left.shape))
    if same(left, _transposed(vectors)) and len(met.products) < MOST_PRODUCTS:
        met.products.append((draw.matmul(*_as_batch(left, right)).reshaped((left.shape[0], right.shape[1])), right))
        return None
    for k, scaled in _with_columns_scaled(fields, met):
        draw.compared(math.prod(left.shape))
        if not same(left, scaled):
            continue
        for half, b in met.products:
            if half.shape != right.shape:
                continue
            for j in (0, *EXPONENTS) if k == 0 else (0,):
                rows = (
                    half if j == 0 else draw.multiply(_spread_over_columns(_power(fields, met, j), right.shape), half)
                )
                draw.compared(math.prod(right.shape))
                if same(right, rows):
                    return _applied(fields, met, j + k, b)
        return None
    return None


def _with_columns_scaled(fields: Fields, met: Spectrum) -> Iterator[tuple[int, Residues]]:
    """V Λᵏ for several k, 0 first."""
    assert met.vectors is not None
    yield 0, met.vectors
    for k in EXPONENTS:
        row = _power(fields, met, k)
        spread = row.moved(lambda a: np.broadcast_to(a[:, None, :], (len(a), *met.matrix.shape)))
        yield k, fields.draw.multiply(met.vectors, spread)


def _spread_over_columns(values: Residues, shape: Sequence[int]) -> Residues:
    return values.moved(lambda a: np.broadcast_to(a[:, :, None], (len(a), *shape)))


def _applied(fields: Fields, met: Spectrum, k: int, b: Residues) -> Residues | None:
    """Aᵏ B."""
    if k == 0:
        return b
    power = _power_of_matrix(fields, met, k)
    if power is None:
        return None
    return fields.draw.matmul(*_as_batch(power.residues, b)).reshaped((power.shape[0], b.shape[1]))


def _as_batch(left: Residues, right: Residues) -> tuple[Residues, Residues]:
    return left.reshaped((1, *left.shape)), right.reshaped((1, *right.shape))


def _transposed(a: Residues) -> Residues:
    return a.moved(lambda level: level.swapaxes(-1, -2))
