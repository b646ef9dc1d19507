"""Eigenvalues and singular values in prime fields: a formula for two of them, and of more their sum.

Vectors are unknown functions of the matrix, with the signs that the device gives them.  Of them it is known that they
are orthonormal, and that A = V Λ Vᵀ or A = U S Vᵀ: products of just these matrices are replaced where they are taken.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.interpret.canonical_form import parameters_digest
from uat_jax.interpret.linear_algebra import mean_and_rest, one_triangle, smaller_gram, two_eigenvalues
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.numbers.prime_fields import spectral_functions
from uat_jax.numbers.prime_fields.facts import Facts, Nature
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.residues import Residues, same
from uat_jax.numbers.prime_fields.uninterpreted import of_matrix, refuse_infinite

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields


MOST_MET = 8
"""So many matrices are remembered, of which multiples may be met."""


def eigh(fields: Fields, equation: JaxprEqn, x: Number) -> list[Number]:
    """The rule of `eigh`: eigenvectors and ascending eigenvalues of the symmetric matrix that one triangle makes."""
    refuse_infinite(equation, x)
    lower, dtype = equation.params["lower"], dtype_of(equation.invars[0])
    (symmetric,) = fields.inner_numbers(_program(functools.partial(one_triangle, lower), x.shape, dtype), [x])
    vectors = of_matrix(fields, _named(equation, "eigenvectors"), symmetric, x.shape)
    values = _eigenvalues(fields, symmetric, dtype, x.scale)
    if len(x.shape) == 2 and x.shape[1] > 0:
        v, a = vectors.residues, symmetric.residues
        scaled = _columns_times(fields, v, values)
        _keep_orthogonal(fields, _transposed(v))
        _keep_orthogonal(fields, v)
        _keep(fields, scaled, _transposed(v), a)
        _keep(fields, v, _transposed(scaled), a)
        _keep(fields, a, v, scaled)
        spectral_functions.keep(fields, values, symmetric, dtype, v)
    return [vectors, values]


def svd(fields: Fields, equation: JaxprEqn, x: Number) -> list[Number]:
    """The rule of `svd`: the descending singular values are the roots of the eigenvalues of AᵀA, or of AAᵀ."""
    refuse_infinite(equation, x)
    dtype = dtype_of(equation.invars[0])
    (gram,) = fields.inner_numbers(_program(smaller_gram, x.shape, dtype), [x])
    squares = _eigenvalues(fields, gram, dtype, x.scale**2).moved(lambda a: a[..., ::-1]).but(nonnegative=True)
    values = fields.functions.root(squares)
    names = ("left singular vectors", "right singular vectors")
    vectors = [
        of_matrix(fields, _named(equation, name), x, shape_of(v))
        for name, v in zip(names, equation.outvars[1:], strict=False)
    ]
    if len(x.shape) == 2 and vectors and vectors[0].shape[1] == vectors[1].shape[0] == min(x.shape) > 0:
        u, v, a = (number.residues for number in (*vectors, x))
        rows = _transposed(_columns_times(fields, _transposed(v), values))
        _keep_orthogonal(fields, _transposed(u))
        _keep_orthogonal(fields, v)
        _keep_orthogonal(fields, _transposed(v) if x.shape[0] >= x.shape[1] else u)
        _keep(fields, _columns_times(fields, u, values), v, a)
        _keep(fields, u, rows, a)
        _keep(fields, a, _transposed(v), _columns_times(fields, u, values))
        _keep(fields, _transposed(u), a, rows)
    spectral_functions.keep(fields, values, x, dtype, None)
    return [values.but(facts=_always(x, values.shape)), *vectors]


def _eigenvalues(fields: Fields, x: Number, dtype: np.dtype, scale: Fraction) -> Number:
    """Ascending eigenvalues: tr A/n and those of A₀ = A - tr A/n, unknown functions μ of it.

    The μ have the sum 0, are multiplied by s > 0 with A₀, and become their opposites in the opposite order with -A₀:
    μᵢ = s (hᵢ(A₀/s) - hₙ₊₁₋ᵢ(-A₀/s)) less the mean of these.  `scale`: some s, chosen by the program.
    """
    n = x.shape[-1]
    if n <= 2:
        (values,) = fields.inner_numbers(_program(two_eigenvalues, x.shape, dtype), [x])
        return values
    f, axis = fields.functions, len(x.shape) - 2
    mean, rest = fields.inner_numbers(_program(mean_and_rest, x.shape, dtype), [x])
    scale = _scale(fields, rest.residues, scale) if "homogeneity" in f.laws else Fraction(1)
    each = [
        of_matrix(
            fields, "eigenvalues", Number(fields.draw.scale(rest.residues, sign / scale), facts=x.facts), mean.shape
        )
        for sign in (1, -1)
    ]
    turned = f.subtract(each[0], each[1].moved(lambda a: a[..., ::-1]))
    centre = f.multiply(f.sum(turned, (axis,)), f.constant(Fraction(1, n), x.shape[:-2]))
    own = f.subtract(turned, centre.moved(lambda a: np.broadcast_to(a[..., None], (*a.shape, n))))
    return f.add(mean, f.multiply(own, f.constant(scale, own.shape))).but(facts=_always(x, mean.shape), scale=scale)


def _scale(fields: Fields, rest: Residues, suggested: Fraction) -> Fraction:
    """What A₀ is divided by: s·q if it is ± q times a matrix that was divided by s; else as the program suggests."""
    met, draw = fields.functions.matrices_met, fields.draw
    for other, s, scale in met:
        if other.shape != rest.shape:
            continue
        for q in dict.fromkeys((Fraction(1), suggested / scale, suggested, 1 / scale)):
            multiple = draw.scale(other, q)
            draw.compared(2 * int(np.prod(rest.shape)))
            if same(rest, multiple) or same(rest, draw.negate(multiple)):
                return s * q
    if len(met) < MOST_MET:
        met.append((rest, suggested, suggested))
    return suggested


def product_of(fields: Fields, left: Residues, right: Residues) -> Residues | None:
    """The product of two matrices, if it is known from a decomposition."""
    for a, b, product in fields.functions.factors_of_matrices:
        if a.shape == left.shape and b.shape == right.shape:
            fields.draw.compared(2 * int(np.prod(a.shape) + np.prod(b.shape)))
            if same(a, left) and same(b, right):
                return product
    return spectral_functions.product_of(fields, left, right)


def _keep(fields: Fields, left: Residues, right: Residues, product: Residues) -> None:
    """Keep the product of two matrices, and that of their transposes."""
    flipped = _transposed(right), _transposed(left), _transposed(product)
    fields.functions.factors_of_matrices += [(left, right, product), flipped]


def _keep_orthogonal(fields: Fields, rows: Residues) -> None:
    """Keep that the rows of a matrix are orthonormal."""
    _keep(fields, rows, _transposed(rows), fields.draw.floats(np.eye(rows.shape[0])))


def _columns_times(fields: Fields, a: Residues, values: Number) -> Residues:
    """A matrix whose columns are multiplied by numbers."""
    spread = values.residues.moved(lambda level: np.broadcast_to(level[:, None, :], (len(level), *a.shape)))
    return fields.draw.multiply(a, spread)


def _transposed(a: Residues) -> Residues:
    return a.moved(lambda level: level.swapaxes(-1, -2))


def _named(equation: JaxprEqn, vectors: str) -> str:
    """A name for vectors whose signs depend on how a device computes them."""
    return f"{vectors} of {dtype_of(equation.invars[0])} by {parameters_digest(equation)}"


def _always(x: Number, shape: tuple[int, ...]) -> Facts:
    """Of a function that is defined wherever a matrix is."""
    assert x.facts is not None
    nothing = np.zeros(shape, bool)
    return Facts(Nature.PIECEWISE, x.facts.defined, False, nothing, nothing, nothing, x.facts.guarded)


@functools.lru_cache(maxsize=256)
def _program(function: functools.partial, shape: tuple[int, ...], dtype: np.dtype) -> ClosedJaxpr:
    with jax.enable_x64(True):
        return jax.make_jaxpr(function)(jax.ShapeDtypeStruct(shape, dtype))
