"""What is measured of a decomposition: sizes of the terms, rounding by depth, and which parameters follow the input."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.decomposition.closed_forms import closed_forms
from uat_jax.decomposition.decomposition import Decomposition
from uat_jax.decomposition.parameters import operators
from uat_jax.decomposition.streams import InTwo, Separate, Streams, states_of
from uat_jax.networks.model import Model

FORMS: Mapping[str, Callable[..., Sequence[Streams]]] = {
    "direct": lambda model, tokens, **options: [[x] for x in model.states(tokens, **options)],
    "merged": closed_forms,
    "two streams": lambda model, tokens, **options: states_of(model, tokens, InTwo(), **options),
    "all terms": lambda model, tokens, **options: states_of(model, tokens, Separate(), **options),
}
"""Four ways to compute x_j, as summands: the plain forward pass, the closed form with merged parameters, p_j + u_j, and
all terms."""
PARAMETERS = ("A", "B", "C", "b", "c")
"""The parameters of a layer x_j = A x_{j−1} + c + C σ(B x_{j−1} + b)."""


def lengths(terms: jax.Array, mask: jax.Array | None = None) -> np.ndarray:
    """The root of the mean over the tokens of |term_n|², (…, N, M) → (…); with a mask (N,) over those of the text."""
    squares = np.sum(np.square(np.asarray(terms, np.float64)), axis=-1)
    return np.sqrt(np.mean(squares if mask is None else squares[..., np.asarray(mask)], axis=-1))


def shares(decomposition: Decomposition) -> np.ndarray:
    """⟨term, x_L⟩ / ⟨x_L, x_L⟩ of each term, which add up to 1: (L + 2,)."""
    terms, hidden = (np.asarray(x, np.float64) for x in (decomposition.terms, decomposition.hidden))
    return np.sum(terms * hidden, axis=(-2, -1)) / np.sum(hidden * hidden)


@dataclass(frozen=True)
class Depths:
    """What is measured of x_1, …, x_L."""

    lengths: tuple[np.ndarray, ...]
    """For each j the lengths of the j + 2 terms of x_j."""
    errors: Mapping[str, Sequence[float]] | None
    """Form → its largest error in ULP for each j; None for a model in float64, beside which nothing is exact."""


def by_depth(model: Model, tokens: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> Depths:
    """The terms of every x_j, and how far each of the `FORMS` is from x_j in float64 with the same weights."""
    run = functools.partial(_states, precision=precision)
    forms = {form: run(model, tokens, form=form) for form in FORMS}
    sizes = tuple(lengths(jnp.stack(streams)) for streams in forms["all terms"])
    if model.embedding.tokens.dtype == jnp.float64:
        return Depths(sizes, None)
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda a: jnp.asarray(a, jnp.float64), model)
        exact = [np.asarray(x) for (x,) in run(wide, tokens, form="direct")]
    epsilon = float(jnp.finfo(model.embedding.tokens.dtype).eps)
    return Depths(sizes, {form: _errors(states, exact, epsilon) for form, states in forms.items()})


def _errors(states: Sequence[Streams], exact: Sequence[np.ndarray], epsilon: float) -> list[float]:
    """max |Σ streams − exact| in ULP of max |exact|, for each depth; the sum is taken in the dtype of the streams."""
    sums = [np.asarray(functools.reduce(jnp.add, streams), np.float64) for streams in states]
    ulp = [np.exp2(np.floor(np.log2(np.max(np.abs(x))))) * epsilon for x in exact]
    return [float(np.max(np.abs(s - x)) / u) for s, x, u in zip(sums, exact, ulp, strict=True)]


@functools.partial(jax.jit, static_argnames=("form", "precision"))
def _states(model: Model, tokens: jax.Array, *, form: str, precision: jax.lax.PrecisionLike) -> list[Streams]:
    """x_1, …, x_L, each as the summands of a form."""
    return list(FORMS[form](model, tokens, precision=precision)[1:])


def changes(
    model: Model, tokens: jax.Array, others: jax.Array, *, precision: jax.lax.PrecisionLike = "highest"
) -> np.ndarray:
    """‖F − F'‖ / ‖F‖ for each of the `PARAMETERS` F of each layer, at tokens and others of one length N: (L, 5).

    A matrix is measured by its image of one fixed random vector.  0, or a rounding error where a sum is taken in
    another order, is a static parameter: one that is the same for every input.
    """
    one, other = (_images(model, text, precision=precision) for text in (tokens, others))
    change = lambda F, G: float(np.linalg.norm(F - G) / (np.linalg.norm(F) or 1.0))
    wide = lambda F: np.asarray(F, np.float64)
    pairs = [zip(F, G, strict=True) for F, G in zip(one, other, strict=True)]
    return np.array([[change(wide(F), wide(G)) for F, G in layer] for layer in pairs])


@functools.partial(jax.jit, static_argnames="precision")
def _images(model: Model, tokens: jax.Array, *, precision: jax.lax.PrecisionLike) -> list[list[jax.Array]]:
    """A v, B v, C w, b, c of each layer."""
    dtype, keys = model.embedding.tokens.dtype, jax.random.split(jax.random.key(0))
    v = jax.random.normal(keys[0], (len(tokens), model.width), dtype)
    images = []
    for layer in operators(model, tokens, precision=precision):
        into = layer.B(v)
        images.append([layer.A(v), into, layer.C(jax.random.normal(keys[1], into.shape, dtype)), layer.b, layer.c])
    return images
