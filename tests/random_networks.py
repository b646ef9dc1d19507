"""Random networks, each layer of which can be written in several ways: Hypothesis strategies for true and wrong pairs.

The state of a network is a matrix of shape (tokens, features). A layer is drawn with its sizes and knows at least two
ways to compute the same real function of the state and its weights, and one mistake that computes another. A network
is a list of layers with one way chosen for each, so two networks of the same layers are one function.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jax import Array, lax

Way = Callable[..., Array]
"""way(state, *weights) -> state."""

Shape = tuple[int, ...]
Draw = Callable[[st.SearchStrategy], Any]

product = partial(jnp.matmul, precision="highest")
einsum = partial(jnp.einsum, precision="highest")
total = partial(reduce, jnp.add)

SIZES = st.integers(1, 5)
EPS = 1e-5


@dataclass(frozen=True)
class Layer:
    """One layer of a network.

    Attributes:
        name: what it is.
        shape: the shape (tokens, features) of its result.
        weights: the shapes of its weights.
        ways: functions of (state, *weights) that are equal over the reals.
        mistake: a plausible function of the same arguments that is another one, though at size 1 it may be equal.
    """

    name: str
    shape: Shape
    weights: tuple[Shape, ...]
    ways: tuple[Way, ...]
    mistake: Way

    def __repr__(self) -> str:
        return f"{self.name}{list(self.weights)}"


# --- networks ------------------------------------------------------------------------------------------------------

WRAPPERS: tuple[Callable[[Way], Way], ...] = (lambda way: way, jax.jit, jax.checkpoint)
"""What may be put around a layer without changing what it computes."""

MISTAKE = -1
"""The mistake of a layer, where the index of one of its ways is wanted."""


@dataclass(frozen=True)
class Network:
    """Layers with one way chosen for each.

    Attributes:
        shape: the shape (tokens, features) of the first state.
        layers: what is computed.
        chosen: for each layer the index of its way, or `MISTAKE`.
        wrapped: for each layer the index of its wrapper.
        moved: (layer, weight, entry) of one number to which 2^-20 is added, or None.
    """

    shape: Shape
    layers: tuple[Layer, ...]
    chosen: tuple[int, ...]
    wrapped: tuple[int, ...]
    moved: tuple[int, int, int] | None = None

    def __call__(self, weights: Sequence[Sequence[Array]], x: Array) -> Array:
        """The state behind the last layer; one list of weights per layer."""
        for i, (layer, chosen, wrapped) in enumerate(zip(self.layers, self.chosen, self.wrapped, strict=True)):
            way = layer.mistake if chosen == MISTAKE else layer.ways[chosen]
            x = WRAPPERS[wrapped](way)(x, *self._moved(i, weights[i]))
        return x

    def _moved(self, i: int, weights: Sequence[Array]) -> Sequence[Array]:
        if self.moved is None or self.moved[0] != i:
            return weights
        _, j, entry = self.moved
        step = np.zeros(weights[j].shape, weights[j].dtype)
        step.flat[entry] = 2.0**-20
        return [*weights[:j], weights[j] + step, *weights[j + 1 :]]

    @property
    def specs(self) -> tuple[Any, Any]:
        """The weights and the state as float32 `jax.ShapeDtypeStruct`."""
        spec = lambda shape: jax.ShapeDtypeStruct(shape, np.dtype("float32"))
        return [[spec(shape) for shape in layer.weights] for layer in self.layers], spec(self.shape)


# --- activations ---------------------------------------------------------------------------------------------------

SQRT_HALF, SQRT_2_OVER_PI = np.sqrt(0.5), np.sqrt(2 / np.pi)

ACTIVATIONS: dict[str, tuple[Way, ...]] = {
    "relu": (
        jax.nn.relu,
        lambda x: jnp.maximum(x, 0.0),
        lambda x: jnp.where(x > 0, x, 0.0),
        lambda x: (x + jnp.abs(x)) / 2,
    ),
    "leaky relu": (
        lambda x: jax.nn.leaky_relu(x, 0.25),
        lambda x: jnp.maximum(x, x / 4),
        lambda x: 0.625 * x + 0.375 * jnp.abs(x),
    ),
    "tanh": (jnp.tanh, lambda x: -jnp.tanh(-x)),
    "cos": (jnp.cos, lambda x: jnp.cos(-x)),
    "silu": (jax.nn.silu, lambda x: x * jax.nn.sigmoid(x), lambda x: x / (1 + jnp.exp(-x))),
    "softplus": (
        lambda x: jnp.log1p(jnp.exp(x)),
        lambda x: jnp.log(1 + jnp.exp(x)),
        lambda x: x + jnp.log1p(jnp.exp(-x)),
    ),
    "gelu by tanh": (
        jax.nn.gelu,
        lambda x: x / 2 + x / 2 * jnp.tanh(SQRT_2_OVER_PI.astype(x.dtype) * (x * (1 + 0.044715 * x * x))),
    ),
    "gelu by erf": (
        lambda x: jax.nn.gelu(x, approximate=False),
        lambda x: x * (1 + lax.erf(x * SQRT_HALF.astype(x.dtype))) / 2,
        lambda x: x - x * lax.erfc(x * SQRT_HALF.astype(x.dtype)) / 2,
    ),
}
"""Ways of (state): relu and its kin agree everywhere, the others by an identity of the function they use."""

NAMES = st.sampled_from(sorted(ACTIVATIONS))


def activation(draw: Draw, shape: Shape) -> Layer:
    """σ of every entry; mistake: of 3/2 of it."""
    name = draw(NAMES)
    ways = ACTIVATIONS[name]
    return Layer(name, shape, (), ways, lambda x: ways[0](1.5 * x))


# --- linear maps ---------------------------------------------------------------------------------------------------


def linear(draw: Draw, shape: Shape) -> Layer:
    """x W + b; mistake: the bias subtracted."""
    (t, f), n = shape, draw(SIZES)
    ways = (
        lambda x, w, b: product(x, w) + b,
        lambda x, w, b: b + einsum("tf,fn->tn", x, w),
        lambda x, w, b: product(w.T, x.T).T + b,
        lambda x, w, b: total(x[:, i, None] * w[i, None] for i in range(f)) + b,
        lambda x, w, b: jnp.concatenate([product(x, w[:, i, None]) for i in range(n)], axis=1) + b,
        lambda x, w, b: product(jnp.kron(jnp.eye(t, dtype=x.dtype), w.T), x.reshape(-1)).reshape(t, n) + b,
    )
    return Layer("linear", (t, n), ((f, n), (1, n)), ways, lambda x, w, b: product(x, w) - b)


def mixing(draw: Draw, shape: Shape) -> Layer:
    """W x: tokens are mixed; mistake: W twice."""
    (t, f), n = shape, draw(SIZES)
    ways = (
        lambda x, w: product(w, x),
        lambda x, w: product(x.T, w.T).T,
        lambda x, w: einsum("tf,nt->nf", x, w),
        lambda x, w: total(w[:, i, None] * x[i, None] for i in range(t)),
    )
    return Layer("mixing", (n, f), ((n, t),), ways, lambda x, w: 2 * product(w, x))


def lora(draw: Draw, shape: Shape) -> Layer:
    """x (W + A B / 2), merged or not; mistake: the factor forgotten."""
    (t, f), n, rank = shape, draw(SIZES), draw(st.integers(1, 2))
    ways = (
        lambda x, w, a, b: product(x, w + product(a, b) / 2),
        lambda x, w, a, b: product(x, w) + product(product(x, a), b) * 0.5,
        lambda x, w, a, b: product(jnp.concatenate([x, product(x, a / 2)], 1), jnp.concatenate([w, b], 0)),
    )
    weights = (f, n), (f, rank), (rank, n)
    return Layer("lora", (t, n), weights, ways, lambda x, w, a, b: product(x, w + product(a, b)))


def permutation(draw: Draw, shape: Shape) -> Layer:
    """x W with the features, the results or the tokens permuted and back; mistake: only x permuted."""
    (t, f), n = shape, draw(SIZES)
    orders = [np.asarray(draw(st.permutations(range(size)))) for size in (t, f, n)]
    tokens, features, results = orders
    ways = (
        lambda x, w: product(x, w),
        lambda x, w: product(x[:, features], w[features]),
        lambda x, w: product(x, w[:, results])[:, np.argsort(results)],
        lambda x, w: product(x[tokens], w)[np.argsort(tokens)],
        lambda x, w: product(product(x, jnp.eye(f, dtype=x.dtype)[:, features]), w[features]),
    )
    return Layer("permutation", (t, n), ((f, n),), ways, lambda x, w: product(x[:, np.roll(np.arange(f), 1)], w))


def convolution(draw: Draw, shape: Shape) -> Layer:
    """The causal convolution y_t = Σ_i x_{t-k+1+i} W_i; mistake: not causal."""
    (t, f), n, k = shape, draw(SIZES), draw(st.integers(1, 3))
    padded = lambda x: jnp.pad(x, ((k - 1, 0), (0, 0)))

    def convolved(x: Array, w: Array, padding: tuple[int, int]) -> Array:
        names = "NWC", "WIO", "NWC"
        return lax.conv_general_dilated(x[None], w, (1,), [padding], dimension_numbers=names, precision="highest")[0]

    ways = (
        lambda x, w: convolved(x, w, (k - 1, 0)),
        lambda x, w: total(product(padded(x)[i : i + t], w[i]) for i in range(k)),
        lambda x, w: product(jnp.concatenate([padded(x)[i : i + t] for i in range(k)], axis=1), w.reshape(k * f, n)),
    )
    return Layer("convolution", (t, n), ((k, f, n),), ways, lambda x, w: convolved(x, w, (0, k - 1)))


def running_mean(draw: Draw, shape: Shape) -> Layer:
    """The mean of a token and those before it; mistake: of those behind it."""
    t, f = shape
    counts = lambda x: jnp.arange(1, t + 1, dtype=x.dtype)[:, None]
    ways = (
        lambda x: jnp.cumsum(x, axis=0) / counts(x),
        lambda x: product(jnp.tril(jnp.ones((t, t), x.dtype)), x) / counts(x),
        lambda x: jnp.stack([x[: i + 1].sum(axis=0) for i in range(t)]) / counts(x),
    )
    return Layer("running mean", shape, (), ways, lambda x: jnp.cumsum(x[::-1], axis=0) / counts(x))


# --- norms ---------------------------------------------------------------------------------------------------------


def _mean(x: Array) -> Array:
    return jnp.mean(x, axis=1, keepdims=True)


def layer_norm(draw: Draw, shape: Shape) -> Layer:
    """g (x - mean) / √(var + ε) + b; mistake: ε beside the root."""
    f = shape[1]

    def by_moments(x: Array, g: Array, b: Array) -> Array:
        return g * ((x - _mean(x)) / jnp.sqrt(_mean(x * x) - _mean(x) ** 2 + EPS)) + b

    ways = (
        lambda x, g, b: (x - _mean(x)) / jnp.sqrt(_mean((x - _mean(x)) ** 2) + EPS) * g + b,
        lambda x, g, b: (x - _mean(x)) * lax.rsqrt(jnp.var(x, axis=1, keepdims=True) + EPS) * g + b,
        by_moments,
    )
    wrong = lambda x, g, b: (x - _mean(x)) / (jnp.sqrt(_mean((x - _mean(x)) ** 2)) + EPS) * g + b
    return Layer("layer norm", shape, ((1, f), (1, f)), ways, wrong)


def rms_norm(draw: Draw, shape: Shape) -> Layer:
    """g x / √(mean x² + ε); mistake: the sum in place of the mean, and 2 ε."""
    f = shape[1]
    ways = (
        lambda x, g: x * lax.rsqrt(_mean(jnp.square(x)) + EPS) * g,
        lambda x, g: g * (x / jnp.sqrt(jnp.sum(x * x, axis=1, keepdims=True) / f + EPS)),
        lambda x, g: (g * x) / jnp.sqrt((einsum("tf,tf->t", x, x) / f)[:, None] + EPS),
    )
    wrong = lambda x, g: g * x / jnp.sqrt(jnp.sum(x * x, axis=1, keepdims=True) + 2 * EPS)
    return Layer("rms norm", shape, ((1, f),), ways, wrong)


def folded_batch_norm(draw: Draw, shape: Shape) -> Layer:
    """((x W + m) / √(s² + ε)) g, folded into W or not; mistake: m not scaled."""
    (t, f), n = shape, draw(SIZES)
    scale = lambda s, g: g / jnp.sqrt(s * s + EPS)
    ways = (
        lambda x, w, m, s, g: (product(x, w) + m) / jnp.sqrt(s * s + EPS) * g,
        lambda x, w, m, s, g: product(x, w * scale(s, g)) + m * scale(s, g),
        lambda x, w, m, s, g: (product(x, w) + m) * scale(s, g),
    )
    wrong = lambda x, w, m, s, g: product(x, w * scale(s, g)) + m
    return Layer("folded batch norm", (t, n), ((f, n), *[(1, n)] * 3), ways, wrong)


# --- layers of layers ----------------------------------------------------------------------------------------------


def residual(draw: Draw, shape: Shape) -> Layer:
    """x + σ(x A + a) B + b; mistake: the branch subtracted."""
    f, n, name = shape[1], draw(SIZES), draw(NAMES)
    one, *_, other = ACTIVATIONS[name]
    ways = (
        lambda x, A, a, B, b: x + (product(one(product(x, A) + a), B) + b),
        lambda x, A, a, B, b: product(other(a + product(x, A)), B) + (x + b),
        lambda x, A, a, B, b: b + x + total(other(product(x, A) + a)[:, i, None] * B[i, None] for i in range(n)),
    )
    wrong = lambda x, A, a, B, b: x - (product(one(product(x, A) + a), B) + b)
    return Layer(f"residual {name}", shape, ((f, n), (1, n), (n, f), (1, f)), ways, wrong)


def gated(draw: Draw, shape: Shape) -> Layer:
    """(x V) σ(x W), in one product or two; mistake: the halves swapped."""
    (t, f), n, name = shape, draw(SIZES), draw(NAMES)
    one, *_, other = ACTIVATIONS[name]

    def split(x: Array, v: Array, w: Array, sigma: Way) -> Array:
        left, right = jnp.split(product(x, jnp.concatenate([v, w], axis=1)), 2, axis=1)
        return left * sigma(right)

    ways = (
        lambda x, v, w: one(product(x, w)) * product(x, v),
        lambda x, v, w: split(x, v, w, one),
        lambda x, v, w: split(x, v, w, other),
    )
    return Layer(f"gated {name}", (t, n), ((f, n), (f, n)), ways, lambda x, v, w: split(x, w, v, one))


def recurrence(draw: Draw, shape: Shape) -> Layer:
    """h_t = tanh(h_{t-1} U + x_t W), h_0 = 0, scanned or unrolled; mistake: h_0 = 1."""
    (t, f), n = shape, draw(SIZES)

    def scanned(rows: Array, u: Array, of_row: Way) -> Array:
        def step(h: Array, row: Array) -> tuple[Array, Array]:
            h = jnp.tanh(product(h, u) + of_row(row))
            return h, h

        return lax.scan(step, jnp.zeros(n, rows.dtype), rows)[1]

    def unrolled(x: Array, u: Array, w: Array, start: float = 0.0) -> Array:
        states = [jnp.full((1, n), start, x.dtype)]
        for i in range(t):
            states.append(jnp.tanh(product(states[-1], u) + product(x[i, None], w)))
        return jnp.concatenate(states[1:])

    ways = (
        lambda x, u, w: scanned(x, u, lambda row: product(row, w)),
        lambda x, u, w: scanned(product(x, w), u, lambda row: row),
        unrolled,
    )
    return Layer("recurrence", (t, n), ((n, n), (f, n)), ways, partial(unrolled, start=1.0))


def repeated(draw: Draw, shape: Shape) -> Layer:
    """x + tanh(x W_i) for each i in turn, scanned or unrolled; mistake: one time more."""
    f, n = shape[1], draw(st.integers(1, 3))
    step = lambda x, w: x + jnp.tanh(product(x, w))

    def unrolled(x: Array, w: Array) -> Array:
        for i in range(n):
            x = step(x, w[i])
        return x

    ways = (
        lambda x, w: lax.scan(lambda x, w: (step(x, w), None), x, w)[0],
        unrolled,
        lambda x, w: lax.fori_loop(0, n, lambda i, x: step(x, w[i]), x),
    )
    return Layer("repeated", shape, ((n, f, f),), ways, lambda x, w: step(unrolled(x, w), w[n - 1]))


# --- attention -----------------------------------------------------------------------------------------------------


def _exp_softmax(scores: Array) -> Array:
    powers = jnp.exp(scores)
    return powers / jnp.sum(powers, axis=-1, keepdims=True)


def _online(scores: Array, values: Array) -> Array:
    """softmax(scores) values with a running sum; scores (t, s), values (s, d)."""

    def step(carry: tuple[Array, Array], column: tuple[Array, Array]):
        total, result = carry
        score, value = column
        power = jnp.exp(score)
        return (total + power, result + power[:, None] * value[None]), None

    start = jnp.zeros(scores.shape[:1], scores.dtype), jnp.zeros((len(scores), values.shape[1]), scores.dtype)
    (total, result), _ = lax.scan(step, start, (scores.T, values))
    return result / total[:, None]


def attention(draw: Draw, shape: Shape) -> Layer:
    """Σ_h softmax(x Q_h (x K_h)ᵀ / √d) x V_h O_h, causal or not; mistake: keys in place of values."""
    (t, f), n, heads, d = shape, draw(SIZES), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    mask = np.tril(np.ones((t, t), bool)) if draw(st.booleans()) else np.ones((t, t), bool)
    masked = lambda scores: jnp.where(np.broadcast_to(mask, scores.shape), scores, -jnp.inf)

    def fused(x: Array, q: Array, k: Array, v: Array, o: Array) -> Array:
        q, k, v = (einsum("tf,hfd->htd", x, w) for w in (q, k, v))
        weights = jax.nn.softmax(masked(einsum("htd,hsd->hts", q, k) / d**0.5), axis=-1)
        return einsum("hts,hsd,hdn->tn", weights, v, o)

    def scores(x: Array, q: Array, k: Array) -> Array:
        return masked(product(product(x, q), product(x, k).T) / d**0.5)

    def per_head(x: Array, *weights: Array) -> Array:
        heads = zip(*weights, strict=True)
        return total(product(product(_exp_softmax(scores(x, q, k)), product(x, v)), o) for q, k, v, o in heads)

    def merged(x: Array, *weights: Array) -> Array:
        heads = zip(*weights, strict=True)
        attend = lambda q, k: jax.nn.softmax(masked(product(product(x, product(q, k.T)), x.T) / d**0.5))
        return total(product(product(attend(q, k), x), product(v, o)) for q, k, v, o in heads)

    def online(x: Array, *weights: Array) -> Array:
        heads = zip(*weights, strict=True)
        return total(product(_online(scores(x, q, k), product(x, v)), o) for q, k, v, o in heads)

    def truncated(x: Array, *weights: Array) -> Array:
        def row(i: int, q: Array, k: Array, v: Array, o: Array) -> Array:
            seen = x[np.flatnonzero(mask[i])]
            return product(product(_exp_softmax(scores_of(x[i, None], seen, q, k)), product(seen, v)), o)

        scores_of = lambda x, seen, q, k: product(product(x, q), product(seen, k).T) / d**0.5
        heads = tuple(zip(*weights, strict=True))
        return jnp.concatenate([total(row(i, *head) for head in heads) for i in range(t)])

    ways = fused, per_head, merged, online, truncated
    weights = *[(heads, f, d)] * 3, (heads, d, n)
    return Layer("attention", (t, n), weights, ways, lambda x, q, k, v, o: fused(x, q, k, k, o))


# --- strategies ----------------------------------------------------------------------------------------------------

LAYERS: tuple[Callable[[Draw, Shape], Layer], ...] = (
    linear,
    activation,
    layer_norm,
    rms_norm,
    attention,
    residual,
    gated,
    lora,
    recurrence,
    repeated,
    permutation,
    convolution,
    running_mean,
    mixing,
    folded_batch_norm,
)


@st.composite
def networks(draw: Draw) -> Network:
    """A network of 1 to 5 layers, the sizes from 1 to 5, a way and a wrapper chosen for each layer."""
    shape = state = draw(SIZES), draw(SIZES)
    layers = []
    for kind in draw(st.lists(st.sampled_from(LAYERS), min_size=1, max_size=5)):
        layers.append(kind(draw, state))
        state = layers[-1].shape
    chosen = tuple(draw(st.integers(0, len(layer.ways) - 1)) for layer in layers)
    return Network(shape, tuple(layers), chosen, _wrapped(draw, layers))


def _wrapped(draw: Draw, layers: Sequence[Layer]) -> tuple[int, ...]:
    return tuple(draw(st.integers(0, len(WRAPPERS) - 1)) for _ in layers)


def _rewritten(draw: Draw, network: Network) -> Network:
    """The network with every layer written in another of its ways, in a wrapper drawn anew."""
    steps = [draw(st.integers(1, len(layer.ways) - 1)) for layer in network.layers]
    ways = zip(network.chosen, steps, network.layers, strict=True)
    chosen = tuple((way + step) % len(layer.ways) for way, step, layer in ways)
    return replace(network, chosen=chosen, wrapped=_wrapped(draw, network.layers))


@st.composite
def pairs(draw: Draw) -> tuple[Network, Network, tuple[Any, Any]]:
    """(left, right, specs): one network written twice."""
    left = draw(networks())
    return left, _rewritten(draw, left), left.specs


@st.composite
def twins(draw: Draw) -> tuple[Network, Network, tuple[Any, Any]]:
    """(left, wrong, specs): the right side of a pair with one weight moved by 2^-20 or one layer's mistake.

    At small sizes the change may change nothing: whoever asks for a difference checks that there is one.
    """
    left, right, specs = draw(pairs())
    weights = [(i, j, k) for i, l in enumerate(left.layers) for j, w in enumerate(l.weights) for k in range(np.prod(w))]
    if weights and draw(st.booleans()):
        return left, replace(right, moved=draw(st.sampled_from(weights))), specs
    i = draw(st.integers(0, len(left.layers) - 1))
    return left, replace(right, chosen=(*right.chosen[:i], MISTAKE, *right.chosen[i + 1 :])), specs
