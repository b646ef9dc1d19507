"""What an adapter changes: the terms of a model with it minus those of the same model without it.

With W + s L R in place of some matrices W every term changes, in two ways: through the updates themselves, and because
patterns, scales and gates are frozen at other states.  The differences add up to the difference of the outputs.
"""

import jax
import jax.numpy as jnp

from uat_jax.decomposition.attribution import Attribution, Output, attribute
from uat_jax.decomposition.decomposition import Decomposition, decompose
from uat_jax.networks.adapted import without_adapter
from uat_jax.networks.model import Model


def adaptation(
    model: Model, tokens: jax.Array, output: Output, *, precision: jax.lax.PrecisionLike = "highest"
) -> tuple[Decomposition, Attribution]:
    """The decomposition and the contributions to `output` at N tokens, each with the adapter minus without it.

    All are zero for a model without `Adapted` matrices.  Raises what `attribute` raises.
    """
    split = jax.jit(
        lambda of: (decompose(of, tokens, precision=precision), attribute(of, tokens, output, precision=precision))
    )
    return jax.tree.map(jnp.subtract, split(model), split(without_adapter(model)))
