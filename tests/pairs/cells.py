"""Pairs of recurrent and residual cells: fused gates, scans, state space models, closed forms, mixtures, kernels."""

import jax
import jax.numpy as jnp
from jax import lax

from .pair import Pair, einsum, f32, matmul, nudged

sigmoid = jax.nn.sigmoid

# ---------------------------------------------------------------- gated cells


def _scanned(cell, start, *sequences):
    """All states h_t = cell(h_{t−1}, …_t)."""

    def step(h, inputs):
        h = cell(h, *inputs)
        return h, h

    return lax.scan(step, start, sequences)[1]


def _rnn(x, h, W, U, b):
    """h ← tanh(W x_t + U h + b) by a scan."""
    return _scanned(lambda h, x_t: jnp.tanh(matmul(W, x_t) + matmul(U, h) + b), h, x)


def _rnn_fused(x, h, W, U, b):
    """One matrix [W U] on [x_t; h], unrolled."""
    states, weight = [], jnp.concatenate([W, U], 1)
    for x_t in x:
        h = jnp.tanh(matmul(weight, jnp.concatenate([x_t, h])) + b)
        states.append(h)
    return jnp.stack(states)


def _lstm(x, h, c, W, U, b, order=(0, 1, 2, 3)):
    """One step, the four gates in one product: input, forget, cell, output."""
    gates = jnp.split(matmul(W, x) + matmul(U, h) + b, 4)
    i, f, g, o = (gates[k] for k in order)
    c = sigmoid(f) * c + sigmoid(i) * jnp.tanh(g)
    return sigmoid(o) * jnp.tanh(c), c


def _lstm_by_gate(x, h, c, W, U, b):
    i, f, g, o = (
        matmul(W[3 * k : 3 * k + 3], x) + matmul(U[3 * k : 3 * k + 3], h) + b[3 * k : 3 * k + 3] for k in range(4)
    )
    c = c / (1.0 + jnp.exp(-f)) + jnp.tanh(g) / (1.0 + jnp.exp(-i))
    return jnp.tanh(c) / (1.0 + jnp.exp(-o)), c


def _gru(x, h, W, U, b, c):
    """One step, the three gates in one product: reset, update, new (c inside the reset gate)."""
    r, z, n = jnp.split(matmul(W, x) + b, 3)
    s, y, m = jnp.split(matmul(U, h) + c, 3)
    new = jnp.tanh(n + sigmoid(r + s) * m)
    return (1.0 - sigmoid(z + y)) * new + sigmoid(z + y) * h


def _gru_by_gate(x, h, W, U, b, c):
    """h + (1 − z)(new − h), and 1 − σ(z) as σ(−z)."""
    part = lambda M, y, a, k: matmul(M[3 * k : 3 * k + 3], y) + a[3 * k : 3 * k + 3]
    reset = sigmoid(part(W, x, b, 0) + part(U, h, c, 0))
    keep = sigmoid(-(part(W, x, b, 1) + part(U, h, c, 1)))
    return h + keep * (jnp.tanh(part(W, x, b, 2) + reset * part(U, h, c, 2)) - h)


def _gru_reset_before(x, h, W, U, b, c):
    """The reset gate on the state, before the matrix."""
    r, z, n = jnp.split(matmul(W, x) + b, 3)
    s, y, _ = jnp.split(matmul(U, h) + c, 3)
    new = jnp.tanh(n + matmul(U[6:], sigmoid(r + s) * h) + c[6:])
    return (1.0 - sigmoid(z + y)) * new + sigmoid(z + y) * h


_LSTM = (f32(2), f32(3), f32(3), f32(12, 2), f32(12, 3), f32(12))
_GRU = (f32(2), f32(3), f32(9, 2), f32(9, 3), f32(9), f32(9))

GATED = (
    Pair(
        "rnn-scan-fused",
        _rnn,
        _rnn_fused,
        (f32(4, 2), f32(3), f32(3, 2), f32(3, 3), f32(3)),
        {
            "recurrent weight transposed": lambda x, h, W, U, b: _rnn(x, h, W, U.T, b),
            "start forgotten": lambda x, h, W, U, b: _rnn(x, jnp.zeros_like(h), W, U, b),
            "bias twice": lambda x, h, W, U, b: _rnn(x, h, W, U, 2.0 * b),
            "input one step late": lambda x, h, W, U, b: _rnn(jnp.roll(x, 1, 0), h, W, U, b),
        },
    ),
    Pair(
        "lstm-fused-split",
        _lstm,
        _lstm_by_gate,
        _LSTM,
        {
            "input and forget gates swapped": lambda *a: _lstm(*a, order=(1, 0, 2, 3)),
            "order of another library": lambda *a: _lstm(*a, order=(0, 1, 3, 2)),
            "forget bias plus one": lambda x, h, c, W, U, b: _lstm(x, h, c, W, U, b.at[3:6].add(1.0)),
            "recurrent weight nudged": lambda x, h, c, W, U, b: _lstm(x, h, c, W, nudged(U), b),
        },
    ),
    Pair(
        "gru-fused-split",
        _gru,
        _gru_by_gate,
        _GRU,
        {
            "update gate complemented": lambda x, h, W, U, b, c: _gru(
                x, h, *(array.at[3:6].multiply(-1.0) for array in (W, U, b, c))
            ),
            "reset before the matrix": _gru_reset_before,
            "hidden bias dropped": lambda x, h, W, U, b, c: _gru(x, h, W, U, b, jnp.zeros_like(c)),
            "biases merged": lambda x, h, W, U, b, c: _gru(x, h, W, U, b + c, jnp.zeros_like(c)),
        },
    ),
)

# ---------------------------------------------------------------- linear state space models


def _ssm(x, a, b, c, d):
    """h ← a h + b x_t, y_t = c · h + d x_t: one input channel, diagonal state."""
    states = _scanned(lambda h, x_t: a * h + b * x_t, jnp.zeros_like(a), x)
    return matmul(states, c) + d * x


def _ssm_convolution(x, a, b, c, d, shift=0):
    """y = K * x with the kernel K_k = Σ c aᵏ b, as a lower triangular Toeplitz matrix."""
    kernel = [jnp.sum(c * a ** (k + shift) * b) for k in range(5)]
    zero = jnp.zeros_like(x[0])
    toeplitz = jnp.stack([jnp.stack([kernel[t - s] if s <= t else zero for s in range(5)]) for t in range(5)])
    return matmul(toeplitz, x) + d * x


def _ssm_parallel(x, a, b, c, d):
    """The states by associative_scan over the maps h ↦ a h + b x_t."""
    then = lambda first, second: (first[0] * second[0], second[0] * first[1] + second[1])
    gates = jnp.broadcast_to(a[None, :], (5, 3))
    return matmul(lax.associative_scan(then, (gates, x[:, None] * b[None, :]))[1], c) + d * x


_SSM_MISTAKES = {
    "kernel one step late": lambda x, a, b, c, d: _ssm_convolution(x, a, b, c, d, shift=1),
    "skip dropped": lambda x, a, b, c, d: _ssm(x, a, b, c, 0.0 * d),
    "anticausal": lambda x, a, b, c, d: _ssm(x[::-1], a, b, c, d)[::-1],
    "transition nudged": lambda x, a, b, c, d: _ssm(x, nudged(a), b, c, d),
}
_SSM = (f32(5), f32(3), f32(3), f32(3), f32())


def _selective(x, W, V, A, C):
    """Gates that depend on the input: h ← σ(W x_t) h + (V x_t), y_t = C tanh(h) (A scales the gate's argument)."""
    gates = sigmoid(A[None, :] * matmul(x, W.T))
    states = _scanned(lambda h, g, u: g * h + u, jnp.zeros_like(A), gates, matmul(x, V.T))
    return matmul(jnp.tanh(states), C.T)


def _selective_summed(x, W, V, A, C, start=1):
    """h_t = Σ_{s≤t} (Π_{s<r≤t} g_r) u_s, written out."""
    gates, inputs = 1.0 / (1.0 + jnp.exp(-A[None, :] * matmul(x, W.T))), matmul(x, V.T)
    rows = []
    for t in range(4):
        rows.append(sum(jnp.prod(gates[s + start : t + 1], axis=0) * inputs[s] for s in range(t + 1)))
    return matmul(jnp.tanh(jnp.stack(rows)), C.T)


def _mamba(x, A, delta, B, C):
    """h ← exp(Δ_t A) h + Δ_t B_t x_t, y_t = C_t · h, with Δ = exp(delta) > 0, one channel."""
    step = jnp.exp(delta)
    decay, drive = jnp.exp(step[:, None] * A[None, :]), (step * x)[:, None] * B
    return jnp.sum(C * _scanned(lambda h, g, u: g * h + u, jnp.zeros_like(A), decay, drive), 1)


def _mamba_summed(x, A, delta, B, C, own_step=1):
    """y_t = Σ_{s≤t} C_t · exp(A Σ_{s<r≤t} Δ_r) Δ_s B_s x_s: attention with decays for weights."""
    step = jnp.exp(delta)
    total = jnp.cumsum(step)
    total = jnp.concatenate([jnp.zeros_like(total[:1]), total])
    rows = [
        sum(
            jnp.sum(C[t] * jnp.exp(A * (total[t + 1] - total[s + own_step])) * B[s]) * step[s] * x[s]
            for s in range(t + 1)
        )
        for t in range(4)
    ]
    return jnp.stack(rows)


_MAMBA = (f32(4), f32(3), f32(4), f32(4, 3), f32(4, 3))


def _linear_attention(q, k, v):
    """S ← S + k_t v_tᵀ, y_t = Sᵀ q_t."""
    states = _scanned(lambda S, k_t, v_t: S + jnp.outer(k_t, v_t), jnp.zeros((3, 2), q.dtype), k, v)
    return einsum("tkv,tk->tv", states, q)


def _linear_attention_parallel(q, k, v, offset=0):
    return matmul(jnp.tril(matmul(q, k.T), offset), v)


def _normalised_linear_attention(q, k, v):
    """Features exp, a running numerator and denominator."""
    q, k = jnp.exp(q), jnp.exp(k)
    numerators = _linear_attention(q, k, v)
    return numerators / jnp.sum(q * jnp.cumsum(k, axis=0), 1, keepdims=True)


def _normalised_linear_attention_parallel(q, k, v, mask=jnp.tril):
    weights = mask(matmul(jnp.exp(q), jnp.exp(k).T))
    return matmul(weights, v) / jnp.sum(weights, 1, keepdims=True)


def _delta_rule(q, k, v):
    """S ← S − k (kᵀ S − v)ᵀ: the fast weights of DeltaNet."""
    cell = lambda S, k_t, v_t: S - jnp.outer(k_t, matmul(k_t, S) - v_t)
    states = _scanned(cell, jnp.zeros((3, 2), q.dtype), k, v)
    return einsum("tkv,tk->tv", states, q)


def _delta_rule_projections(q, k, v, sign=1.0):
    """S ← (I − k kᵀ) S + k vᵀ, unrolled."""
    S, rows = jnp.zeros((3, 2), q.dtype), []
    for t in range(4):
        S = matmul(jnp.eye(3, dtype=q.dtype) - sign * jnp.outer(k[t], k[t]), S) + jnp.outer(k[t], v[t])
        rows.append(matmul(q[t], S))
    return jnp.stack(rows)


_QKV = (f32(4, 3), f32(4, 3), f32(4, 2))

STATE_SPACE = (
    Pair("ssm-recurrence-as-convolution", _ssm, _ssm_convolution, _SSM, _SSM_MISTAKES),
    Pair("ssm-recurrence-as-associative-scan", _ssm, _ssm_parallel, _SSM, _SSM_MISTAKES),
    Pair(
        "gated-linear-recurrence-summed",
        _selective,
        _selective_summed,
        (f32(4, 2), f32(3, 2), f32(3, 2), f32(3), f32(5, 3)),
        {
            "own gate applied to own input": lambda *a: _selective_summed(*a, start=0),
            "gate scale dropped": lambda x, W, V, A, C: _selective(x, W, V, jnp.ones_like(A), C),
            "gate and input weights swapped": lambda x, W, V, A, C: _selective(x, V, W, A, C),
            "a weight nudged": lambda x, W, V, A, C: _selective(x, W, nudged(V), A, C),
        },
    ),
    Pair(
        "mamba-recurrence-as-decayed-attention",
        _mamba,
        _mamba_summed,
        _MAMBA,
        {
            "own step counted twice": lambda *a: _mamba_summed(*a, own_step=0),
            "step missing in the drive": lambda x, A, d, B, C: _mamba(x / jnp.exp(d), A, d, B, C),
            "B and C swapped": lambda x, A, d, B, C: _mamba(x, A, d, C, B),
            "sign of the decay": lambda x, A, d, B, C: _mamba(x, -A, d, B, C),
        },
    ),
    Pair(
        "linear-attention-recurrent-parallel",
        _linear_attention,
        _linear_attention_parallel,
        _QKV,
        {
            "own token masked": lambda q, k, v: _linear_attention_parallel(q, k, v, offset=-1),
            "next token seen": lambda q, k, v: _linear_attention_parallel(q, k, v, offset=1),
            "queries and keys swapped": lambda q, k, v: _linear_attention_parallel(k, q, v),
        },
    ),
    Pair(
        "normalised-linear-attention",
        _normalised_linear_attention,
        _normalised_linear_attention_parallel,
        _QKV,
        {
            "mask missing": lambda q, k, v: _normalised_linear_attention_parallel(q, k, v, mask=lambda w: w),
            "upper triangle": lambda q, k, v: _normalised_linear_attention_parallel(q, k, v, mask=jnp.triu),
            "not normalised": lambda q, k, v: _linear_attention(jnp.exp(q), jnp.exp(k), v),
        },
    ),
    Pair(
        "delta-rule-as-projections",
        _delta_rule,
        _delta_rule_projections,
        _QKV,
        {
            "reflection for projection": lambda q, k, v: _delta_rule_projections(q, k, v, sign=2.0),
            "nothing forgotten": _linear_attention,
            "keys one late": lambda q, k, v: _delta_rule(q, jnp.roll(k, 1, 0), v),
        },
    ),
)

# ---------------------------------------------------------------- residual networks and their closed forms


def _residual(x, *layers):
    """x_j = (A_j x_{j−1} + c_j) + C_j tanh(B_j x_{j−1} + b_j) (Wang & Li, DUAT, Eq. 20)."""
    for A, B, C, b, c in layers:
        x = (matmul(A, x) + c) + matmul(C, jnp.tanh(matmul(B, x) + b))
    return x


def _closed_two(x, one, two):
    """x_2 = P x_0 + q + A_2 C_1 s_1 + C_2 s_2, the bias of s_2 nested (DUAT, Eq. 22)."""
    (A1, B1, C1, b1, c1), (A2, B2, C2, b2, c2) = one, two
    s1 = jnp.tanh(matmul(B1, x) + b1)
    nested = (matmul(B2, c1) + b2) + matmul(matmul(B2, C1), s1)
    s2 = jnp.tanh(matmul(matmul(B2, A1), x) + nested)
    P, q = matmul(A2, A1), matmul(A2, c1) + c2
    return matmul(P, x) + q + matmul(matmul(A2, C1), s1) + matmul(C2, s2)


def _closed_three(x, one, two, three, first=lambda A3, A2: matmul(A3, A2)):
    """x_3 = P x_0 + q + A_3 A_2 C_1 s_1 + A_3 C_2 s_2 + C_3 s_3 with nested biases.

    `first` gives the factor before C_1 s_1; its printed update rule leaves A_3 out.
    """
    (A1, B1, C1, b1, c1), (A2, B2, C2, b2, c2), (A3, B3, C3, b3, c3) = one, two, three
    s1 = jnp.tanh(matmul(B1, x) + b1)
    s2 = jnp.tanh(matmul(matmul(B2, A1), x) + matmul(B2, c1) + b2 + matmul(matmul(B2, C1), s1))
    P2, q2 = matmul(A2, A1), matmul(A2, c1) + c2
    inner = matmul(matmul(A2, C1), s1) + matmul(C2, s2)
    s3 = jnp.tanh(matmul(matmul(B3, P2), x) + matmul(B3, q2) + b3 + matmul(B3, inner))
    P3, q3 = matmul(A3, P2), matmul(A3, q2) + c3
    outer = matmul(matmul(first(A3, A2), C1), s1) + matmul(matmul(A3, C2), s2) + matmul(C3, s3)
    return matmul(P3, x) + q3 + outer


_LAYER = (f32(3, 3), f32(4, 3), f32(3, 4), f32(4), f32(3))


def _highway(x, W, b, V, c):
    """t g + (1 − t) x with the gate t = σ(V x + c)."""
    t, g = sigmoid(matmul(V, x) + c), jnp.tanh(matmul(W, x) + b)
    return t * g + (1.0 - t) * x


def _highway_by_complement(x, W, b, V, c):
    """x + σ(·) (g − x), both matrices in one product."""
    h = matmul(jnp.concatenate([W, V]), x) + jnp.concatenate([b, c])
    return x + (1.0 - sigmoid(-h[3:])) * (jnp.tanh(h[:3]) - x)


def _rezero(x, W, alpha):
    """x ← x + α tanh(W x), twice."""
    for _ in range(2):
        x = x + alpha * jnp.tanh(matmul(W, x))
    return x


def _rezero_scanned(x, W, alpha, steps=2):
    return lax.fori_loop(0, steps, lambda _, y: y + jnp.tanh(matmul(-W, y)) * -alpha, x)


def _experts(x, G, W1, W2):
    """Two experts weighted by the softmax of their gates."""
    p = jax.nn.softmax(matmul(G, x))
    return p[0] * jnp.tanh(matmul(W1, x)) + p[1] * jnp.tanh(matmul(W2, x))


def _experts_by_sigmoid(x, G, W1, W2):
    """e_2 + σ(g_1 − g_2)(e_1 − e_2)."""
    p = 1.0 / (1.0 + jnp.exp(matmul(G[1] - G[0], x)))
    first, second = jnp.tanh(matmul(W1, x)), jnp.tanh(matmul(W2, x))
    return second + p * (first - second)


RESIDUAL = (
    Pair(
        "residual-two-layers-closed-form",
        _residual,
        _closed_two,
        (f32(3), _LAYER, _LAYER),
        {
            "first outer bias not nested": lambda x, one, two: _closed_two(
                x, one, (*two[:3], two[3] - matmul(two[1], one[4]), two[4])
            ),
            "layers exchanged": lambda x, one, two: _residual(x, two, one),
            "first shortcut missing": lambda x, one, two: _residual(x, (jnp.eye(3, dtype=x.dtype), *one[1:]), two),
            "A_1 nudged": lambda x, one, two: _closed_two(x, (nudged(one[0]), *one[1:]), two),
        },
    ),
    Pair(
        "residual-three-layers-closed-form",
        _residual,
        _closed_three,
        (f32(3), _LAYER, _LAYER, _LAYER),
        {
            "printed update of W_{1,3}": lambda *a: _closed_three(*a, first=lambda A3, A2: A2),
            "A_3 + A_2 for A_3 A_2": lambda *a: _closed_three(*a, first=lambda A3, A2: A3 + A2),
            "A_2 A_3 for A_3 A_2": lambda *a: _closed_three(*a, first=lambda A3, A2: matmul(A2, A3)),
            "A_3 A_3 for A_3 A_2": lambda *a: _closed_three(*a, first=lambda A3, A2: matmul(A3, A3)),
        },
    ),
    Pair(
        "highway-by-complement",
        _highway,
        _highway_by_complement,
        (f32(3), f32(3, 3), f32(3), f32(3, 3), f32(3)),
        {
            "gate complemented": lambda x, W, b, V, c: _highway(x, W, b, -V, -c),
            "weights swapped": lambda x, W, b, V, c: _highway(x, V, c, W, b),
            "carry not gated": lambda x, W, b, V, c: sigmoid(matmul(V, x) + c) * jnp.tanh(matmul(W, x) + b) + x,
        },
    ),
    Pair(
        "gated-residual-by-oddness",
        _rezero,
        _rezero_scanned,
        (f32(3), f32(3, 3), f32()),
        {
            "one step more": lambda x, W, alpha: _rezero_scanned(x, W, alpha, steps=3),
            "gate inside": lambda x, W, alpha: _rezero(x, alpha * W, jnp.ones_like(alpha)),
            "sign": lambda x, W, alpha: _rezero(x, -W, alpha),
        },
    ),
    Pair(
        "two-experts-by-sigmoid",
        _experts,
        _experts_by_sigmoid,
        (f32(3), f32(2, 3), f32(4, 3), f32(4, 3)),
        {
            "experts exchanged": lambda x, G, W1, W2: _experts(x, G, W2, W1),
            "gates not normalised": lambda x, G, W1, W2: matmul(
                sigmoid(matmul(G, x)), jnp.tanh(matmul(jnp.stack([W1, W2]), x))
            ),
            "mean of the experts": lambda x, G, W1, W2: (jnp.tanh(matmul(W1, x)) + jnp.tanh(matmul(W2, x))) / 2.0,
        },
    ),
)

# ---------------------------------------------------------------- associative memories and kernels


def _hopfield(state, patterns, beta):
    """The modern Hopfield update ξ ← X softmax(β Xᵀ ξ) (Ramsauer et al., 2021, Eq. 3), one column per pattern."""
    return matmul(patterns, jax.nn.softmax(beta * matmul(patterns.T, state)))


def _hopfield_as_attention(state, patterns, beta):
    """Attention of one query, keys and values the patterns."""
    query, keys = state[None, :], patterns.T
    weights = jnp.exp(matmul(query, beta * keys.T))
    return (matmul(weights, keys) / jnp.sum(weights, 1, keepdims=True))[0]


def _kernel_regression(x, points, values, log_width):
    """Nadaraya–Watson: Σ k(x, x_i) y_i / Σ k(x, x_i), k = exp(−|x − x_i|² w), w = exp(log_width)."""
    distances = jnp.sum((x[:, None, :] - points[None, :, :]) ** 2, -1)
    kernel = jnp.exp(-distances * jnp.exp(log_width))
    return matmul(kernel, values) / jnp.sum(kernel, 1, keepdims=True)


def _kernel_regression_as_attention(x, points, values, log_width, norms=1.0):
    """|x|² is the same for every key and drops out of the softmax."""
    width = jnp.exp(log_width)
    scores = width * (2.0 * matmul(x, points.T) - norms * jnp.sum(points * points, 1)[None, :])
    return matmul(jax.nn.softmax(scores, axis=-1), values)


def _rbf(x, y):
    return jnp.exp(-0.5 * jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, -1))


def _rbf_expanded(x, y, cross=1.0):
    """exp(−|x|²/2) exp(−|y|²/2) exp(x · y)."""
    left, right = jnp.exp(-jnp.sum(x * x, 1) / 2.0), jnp.exp(-jnp.sum(y * y, 1) / 2.0)
    return left[:, None] * right[None, :] * jnp.exp(cross * matmul(x, y.T))


_REGRESSION = (f32(2, 3), f32(5, 3), f32(5, 4), f32())

MEMORIES = (
    Pair(
        "hopfield-as-attention",
        _hopfield,
        _hopfield_as_attention,
        (f32(3), f32(3, 5), f32()),
        {
            "beta forgotten": lambda s, X, beta: _hopfield(s, X, jnp.ones_like(beta)),
            "state kept": lambda s, X, beta: s + _hopfield(s, X, beta),
            "classical update": lambda s, X, beta: matmul(X, beta * matmul(X.T, s)),
            "beta twice": lambda s, X, beta: _hopfield(s, X, beta * beta),
        },
    ),
    Pair(
        "kernel-regression-as-attention",
        _kernel_regression,
        _kernel_regression_as_attention,
        _REGRESSION,
        {
            "norms of the keys dropped": lambda *a: _kernel_regression_as_attention(*a, norms=0.0),
            "norms of the keys doubled": lambda *a: _kernel_regression_as_attention(*a, norms=2.0),
            "values nudged": lambda x, p, v, w: _kernel_regression(x, p, nudged(v), w),
        },
    ),
    Pair(
        "rbf-kernel-factored",
        _rbf,
        _rbf_expanded,
        (f32(2, 3), f32(4, 3)),
        {
            "cross term doubled": lambda x, y: _rbf_expanded(x, y, cross=2.0),
            "sign of the cross term": lambda x, y: _rbf_expanded(x, y, cross=-1.0),
            "distance not squared": lambda x, y: jnp.exp(-0.5 * jnp.sum(jnp.abs(x[:, None, :] - y[None, :, :]), -1)),
        },
    ),
)

PAIRS: tuple[Pair, ...] = (*GATED, *STATE_SPACE, *RESIDUAL, *MEMORIES)
