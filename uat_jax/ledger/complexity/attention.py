"""What attention costs as one matrix, and as its factors: entries and multiply-adds (L4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.decide.counts import Said, as_counted, counted
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Statements, Tally, of_cost
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.complexity.evaluators import multiply_adds
from uat_jax.ledger.source import duat, v2
from uat_jax.symbolic import language as m

N, M, h, L = map(m.dimension, "NMhL")
Shape = Mapping[sympy.Symbol, int]
SHAPES = [{N: 1, M: 2, h: 1}, {N: 2, M: 2, h: 2}, {N: 3, M: 4, h: 2}, {N: 2, M: 6, h: 3}, {N: 5, M: 8, h: 4}]

# --- the cost of one layer -------------------------------------------------------------------------------------------


def _array(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def _times(left: jax.Array, right: jax.Array) -> jax.Array:
    return jnp.matmul(left, right, precision="highest")


def _factored(patterns: jax.Array, value: jax.Array, output: jax.Array, x: jax.Array) -> jax.Array:
    """Σ_i (H_i (x_i W_Vi)) W_Oi, x_i the whole of x or its i-th slice, (h, N, …)."""
    return jnp.sum(_times(_times(patterns, _times(x, value)), output), axis=0)


def _factors(shape: Shape, *, slices: bool) -> tuple[jax.ShapeDtypeStruct, ...]:
    """H, W_V, W_O and x_i of h heads of width d = M/h that see slices of the features, or all of them."""
    n, features, heads = shape[N], shape[M], shape[h]
    d = features // heads
    seen = d if slices else features
    return _array(heads, n, n), _array(heads, seen, d), _array(heads, d, features), _array(heads, n, seen)


def factored_cost(slices: bool) -> Callable[[Shape], int]:
    """Multiply-adds of the factors, counted in a trace; the heads see slices of the features, or all of them."""
    return lambda shape: multiply_adds(jax.make_jaxpr(_factored)(*_factors(shape, slices=slices)))


def _factored_storage(slices: bool) -> Callable[[Shape], int]:
    return lambda shape: sum(factor.size for factor in _factors(shape, slices=slices)[:3])


def _whole(shape: Shape) -> tuple[jax.ShapeDtypeStruct, jax.ShapeDtypeStruct]:
    size = shape[N] * shape[M]
    return _array(size, size), _array(size)


def head_cost(seen: sympy.Expr, d: sympy.Expr) -> sympy.Expr:
    """The multiply-adds of one head: N·seen·d for x_i W_Vi, N·N·d for H_i (…) and N·d·M for (…) W_Oi."""
    return N * seen * d + N * N * d + N * d * M


def head_storage(seen: sympy.Expr, d: sympy.Expr) -> sympy.Expr:
    """How many numbers one head stores: H_i, W_Vi and W_Oi."""
    return N * N + seen * d + d * M


def _letters(slices: bool) -> list[Callable[[Any], m.Letter]]:
    """H_i, W_Vi, W_Oi and x_i, a slice of the features or all of them; and x_i W_Vi and H_i (x_i W_Vi)."""
    d = m.dimension("d")
    seen = d if slices else h * d
    sizes = {"H": (N, N), "V": (seen, d), "O": (d, h * d), "x": (N, seen), "y": (N, d), "z": (N, d)}
    return [lambda i, of=(name, *size): m.Letter(*of, (i,)) for name, size in sizes.items()]  # type: ignore[call-arg]


def _over_heads(term: Callable[[Any], m.Expression]) -> m.Expression:
    i = sympy.Symbol("i", integer=True, positive=True)
    return m.RangeSum(term(i), i, 1, h)


def multiplied(slices: bool) -> list[m.Expression]:
    """The products of all heads, one after the other: y_i = x_i W_Vi, z_i = H_i y_i, and Σ_i z_i W_Oi."""
    H, V, O, x, y, z = _letters(slices)
    return [_over_heads(term) for term in (lambda i: x(i) @ V(i), lambda i: H(i) @ y(i), lambda i: z(i) @ O(i))]


def _multiplications(slices: bool, sizes: Mapping[sympy.Expr, sympy.Expr] | None = None) -> sympy.Expr:
    products: list[Any] = multiplied(slices)
    return sympy.Add(*(Tally("multiplications", product.xreplace(dict(sizes or {}))) for product in products))


def _stored(slices: bool) -> Tally:
    """The entries of all H_i, W_Vi and W_Oi."""
    H, V, O, *_ = _letters(slices)
    return Tally("stored", _over_heads(lambda i: m.Kronecker(H(i), (V(i) @ O(i)).T)))


WIDE = (sympy.Eq(M, h * m.dimension("d")),)
"""M = h d."""
WHOLE: Any
COLUMN: Any
WHOLE, COLUMN = m.Letter("W", N * M, N * M), m.Letter("x", N * M, 1)


def _cost(
    claimed: sympy.Expr, found: sympy.Expr, measured: Callable[[Shape], int], said: Said, shapes: Any = SHAPES
) -> Any:
    what = "for all shapes"
    return lambda settings: counted(claimed, found, what=what, measured=measured, shapes=shapes, said=said)


def _all_layers(claimed: sympy.Expr, at: Any) -> Statements:
    """P_1 = W_1 and P_{i+1} = W_{i+1} P_i take no multiplication, and one product."""
    i, size = m.dimension("i"), N * M
    P, W = (lambda j, name=name: m.Letter(name, size, size, (j,)) for name in "PW")
    later = {P(i + 1): W(i + 1) @ P(i)}
    numbers = {"partial": sympy.sympify(claimed).xreplace({L: i}), "closed": claimed}
    return of_cost("multiplications", i, L, {P(1): W(1)}, later, P(L), shared=True, **numbers)


def _matrix_products(shape: Shape) -> int:
    """A_L (A_{L−1} (…A_1)), NM × NM each."""
    matrices = [_whole(shape)[0]] * shape[L]

    def product(matrices: list[jax.Array]) -> jax.Array:
        result = matrices[0]
        for matrix in matrices[1:]:
            result = _times(matrix, result)
        return result

    return multiply_adds(jax.make_jaxpr(product)(matrices))


GPT3 = {N: 2048, M: 12288}
ENTRIES = (N * M) ** 2
FULL_WIDTH = 2 * N * M**2 + N**2 * M


def _gpt3(settings: Settings) -> Iterator[Evidence]:
    """N = 2048, M = 12288: entries, bytes in float32, factored multiply-adds, and how many times less they are."""
    at = lambda expression: sympy.sympify(expression).xreplace(GPT3)
    matrix, _ = _whole(GPT3)
    factored = factored_cost(slices=False)({**GPT3, h: 96})
    sizes = {size: sympy.Integer(value) for size, value in GPT3.items()}
    entries, own = Tally("entries", WHOLE.xreplace(sizes)), {m.dimension("d"): sympy.Integer(128), h: sympy.Integer(96)}
    multiplications = _multiplications(False, {**sizes, **own})
    tallies = {
        "entries": entries,
        "bytes": 4 * entries,
        "factored": multiplications,
        "ratio": entries / multiplications,
    }
    numbers = {
        "entries": (633_318_697_598_976, at(ENTRIES), matrix.size),
        "bytes": (2_533_274_790_395_904, at(4 * ENTRIES), matrix.size * matrix.dtype.itemsize),
        "factored": (670_014_898_176, at(FULL_WIDTH), factored),
        "ratio": (sympy.Rational(12288, 13), at(ENTRIES / FULL_WIDTH), Fraction(matrix.size, factored)),
    }
    for what, (claimed, found, measured) in numbers.items():
        said, number_of = as_counted(tallies[what]), lambda _, number=measured: number
        evidence = counted(claimed, found, what=what, measured=number_of, shapes=[{}], said=said)
        yield from (replace(e, subject=what) for e in evidence)


# --- the rows --------------------------------------------------------------------------------------------------------

_SOURCES = (duat("3.2", 9, 10), v2("3.4", 9, 10))
_DERIVED = "not printed: a count for Theorem 3's matrix, with the attention patterns H_i given"
_SLICES, _FULL = "head i sees slice i of the features, as in the papers", "every head sees all features, as usual"


def _row(name: str, title: str, printed: str, decide: Any, **others: Any) -> Claim:
    defaults = {"kind": Kind.COUNT, "sources": _SOURCES, "reading": _DERIVED, "expects": Verdict.PROVED}
    named = {"id": f"complexity.{name}", "ledger": "L4", "title": title, "printed": printed, "decide": decide}
    return Claim(**{**defaults, **others, **named})


CLAIMS = (
    _row(
        "matrix.entries",
        "attention's matrix has N²M² entries",
        "N^2M^2",
        _cost(N**2 * M**2, ENTRIES, lambda shape: _whole(shape)[0].size, as_counted(Tally("entries", WHOLE))),
        hypotheses=(_SLICES,),
    ),
    _row(
        "matrix.products",
        "applying attention's matrix takes N²M² multiply-adds",
        "N^2M^2",
        _cost(
            N**2 * M**2,
            (N * M) * (N * M),
            lambda shape: multiply_adds(jax.make_jaxpr(_times)(*_whole(shape))),
            as_counted(Tally("multiplications", WHOLE @ COLUMN)),
        ),
        hypotheses=(_SLICES,),
    ),
    _row(
        "matrix.all-layers",
        "multiplying the matrices of L layers takes (L−1)N³M³ multiply-adds",
        "(L-1)N^3M^3",
        _cost(
            (L - 1) * N**3 * M**3,
            (L - 1) * (N * M) ** 3,
            _matrix_products,
            _all_layers,
            [{L: 1, N: 2, M: 2}, {L: 2, N: 1, M: 2}, {L: 3, N: 2, M: 3}],
        ),
        hypotheses=(_SLICES,),
    ),
    _row(
        "factored.slices",
        "applying the factors takes NM²/h + N²M + NM² multiply-adds",
        r"NM^2/h+N^2M+NM^2",
        _cost(
            N * M**2 / h + N**2 * M + N * M**2,
            h * head_cost(M / h, M / h),
            factored_cost(slices=True),
            as_counted(_multiplications(True), WIDE),
        ),
        hypotheses=(_SLICES,),
    ),
    _row(
        "factored.full-width",
        "the factors of heads that see all features take 2NM² + N²M multiply-adds",
        "2NM^2+N^2M",
        _cost(
            FULL_WIDTH,
            h * head_cost(M, M / h),
            factored_cost(slices=False),
            as_counted(_multiplications(False), WIDE),
        ),
        hypotheses=(_FULL,),
    ),
    _row(
        "factored.storage-slices",
        "the factors have hN² + M²/h + M² entries",
        "hN^2+M^2/h+M^2",
        _cost(
            h * N**2 + M**2 / h + M**2,
            h * head_storage(M / h, M / h),
            _factored_storage(slices=True),
            as_counted(_stored(True), WIDE),
        ),
        hypotheses=(_SLICES,),
    ),
    _row(
        "factored.storage-full-width",
        "the factors of heads that see all features have hN² + 2M² entries",
        "hN^2+2M^2",
        _cost(
            h * N**2 + 2 * M**2,
            h * head_storage(M, M / h),
            _factored_storage(slices=False),
            as_counted(_stored(False), WIDE),
        ),
        hypotheses=(_FULL,),
    ),
    _row(
        "matrix.gpt-3",
        "GPT-3's matrix: 2.53 PB in float32, and 945 times the work of its factors",
        r"(2048\cdot 12288)^2=633318697598976\approx\tfrac{12288}{13}\cdot 670014898176",
        _gpt3,
        hypotheses=("N = 2048, M = 12288", _FULL),
    ),
)
