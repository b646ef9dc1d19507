"""Float64 arithmetic: the jaxpr of any dtype evaluated in float64, its casts left out.

Values are float64 JAX arrays, so the evaluation can be jitted, vmapped and differentiated. Use it inside
`jax.enable_x64(True)`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import JaxprEqn

from uat_jax.arithmetic.interpreter import Arithmetic, Value, bind
from uat_jax.arithmetic.tracing import is_number


def _same(doubles: "Doubles", equation: JaxprEqn, *operands: jax.Array) -> Any:
    """The primitive itself, on float64 operands."""
    outputs = bind(equation, operands)
    return outputs if equation.primitive.multiple_results else outputs[0]


def _dot_general(doubles: "Doubles", equation: JaxprEqn, x: jax.Array, y: jax.Array) -> jax.Array:
    return jax.lax.dot_general(
        x, y, equation.params["dimension_numbers"], precision="highest", preferred_element_type=jnp.float64
    )


def _convert(doubles: "Doubles", equation: JaxprEqn, x: jax.Array) -> jax.Array:
    return x if is_number(equation.outvars[0]) else x.astype(equation.params["new_dtype"])


_SAME = (
    "abs add add_any clamp cos div eq erf erfc exp exp2 expm1 ge gt integer_pow le log log1p logistic lt max "
    "min mul ne neg pow reduce_max reduce_min reduce_sum rsqrt sign sin sqrt square sub tanh"
).split()

_RULES: dict[str, Callable[..., Any]] = {
    **{name: _same for name in _SAME},
    "convert_element_type": _convert,
    "dot_general": _dot_general,
    "reduce_precision": lambda doubles, equation, x: x,
}


class Doubles(Arithmetic):
    """Numbers are float64 JAX arrays."""

    name = "float64 arithmetic"
    rules = _RULES

    def number(self, array: Any) -> jax.Array:
        """A float array of any dtype as float64, exactly."""
        return jnp.asarray(array).astype(jnp.float64)

    def rearrange(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The primitive itself."""
        return bind(equation, operands)

    def stack(self, values: Sequence[Value]) -> jax.Array:
        """JAX's stack."""
        return jnp.stack(values)
