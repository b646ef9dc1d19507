"""Which keys a query may see, as boolean arrays (queries, keys), True where it sees; combine them with ``&``.

Every row must see some key: the softmax of a row without any is undefined.
"""

import jax
import jax.numpy as jnp

from uat_jax.networks.drawing import checked_sizes


def causal_mask(tokens: int) -> jax.Array:
    """Query n sees the keys m ≤ n: (N, N)."""
    (tokens,) = checked_sizes("tokens", [tokens])
    return jnp.tril(jnp.ones((tokens, tokens), bool))


def sliding_window_mask(tokens: int, window: int) -> jax.Array:
    """Query n sees itself and the window − 1 keys before it, n − window < m ≤ n: (N, N)."""
    tokens, window = checked_sizes("tokens, window", [tokens, window], least=2)
    seen = jnp.ones((tokens, tokens), bool)
    return jnp.tril(seen) & jnp.triu(seen, 1 - window)


def padding_mask(queries: int, keys: int, length: int | jax.Array) -> jax.Array:
    """Every query sees the first `length` keys, the rest being padding: (queries, keys). `length` may be traced."""
    queries, keys = checked_sizes("queries, keys", [queries, keys], least=2)
    return jnp.broadcast_to(jnp.arange(keys)[None, :] < length, (queries, keys))
