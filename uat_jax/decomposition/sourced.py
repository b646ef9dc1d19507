"""The terms of any JAX function that carries its input through linear maps, read off its program (its jaxpr)."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import jax
import jax.numpy as jnp
from jax import lax

from uat_jax.decomposition.decomposition import BIAS, INPUT, names
from uat_jax.decomposition.sourced_rules import Freezing, SourcedArithmetic
from uat_jax.decomposition.sourced_value import Role, Sourced, contributions
from uat_jax.errors import InputError, ShapeError
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.tracing import single_output, trace
from uat_jax.numbers.complex.real_parts import in_real_parts
from uat_jax.typing import Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class SourcedDecomposition:
    """output = Σ terms over the sources: "input" and other parts of x_0, "bias", "layer 1", …, one per activation.

    ``terms``: one array of the output's shape per source, stacked.  ``output``: f(x_0).  ``names``: of the sources.
    ``rank``: the number of axes of f(x_0); `jax.vmap` puts others in front.
    """

    terms: jax.Array
    output: jax.Array
    names: tuple[str, ...] = field(metadata={"static": True})
    rank: int = field(metadata={"static": True})

    def __getitem__(self, name: str) -> jax.Array:
        """The term of a source.  Raises `InputError` for a name that is not one of `names`."""
        if name not in self.names:
            raise InputError(f"got the source {name!r}, wanted one of {', '.join(self.names)}")
        return lax.index_in_dim(self.terms, self.names.index(name), axis=-self.rank - 1, keepdims=False)

    @property
    def total(self) -> jax.Array:
        """The sum of the terms: the output, over the real numbers."""
        return functools.reduce(lax.add, map(self.__getitem__, self.names))

    @property
    def residual(self) -> jax.Array:
        """output − total: rounding."""
        return lax.sub(self.output, self.total)

    @property
    def says_nothing(self) -> str | None:
        """Why the terms tell nothing, if one of them is the whole output and all others are zero; else None.

        Of arrays with values, not inside of `jax.jit`.
        """
        present = [name for name in self.names if bool(jnp.any(self[name] != 0))]
        if len(present) != 1:
            return None
        (name,) = present
        if name == INPUT:
            return "everything is in the term 'input': at x_0 the function is a linear map, of one part; pass sources"
        if name == BIAS:
            return "everything is in the term 'bias': at x_0 nothing of the input reaches the output"
        return (
            f"everything is in the term {name!r}: nothing but that activation leads to the output, and no residual "
            "connection past it; decompose what is in front of the activation, or a function with residual connections"
        )

    def __str__(self) -> str:
        """Each term with its largest entry, and whether they tell anything."""
        largest = [f"{name} {float(jnp.max(jnp.abs(self[name]))):.3g}" for name in self.names]
        note = self.says_nothing
        return f"largest entries: {', '.join(largest)}" + ("" if note is None else f"; {note}")


def decompose_function(
    f: Callable[[jax.Array], jax.Array],
    x_0: jax.Array,
    *,
    sources: Mapping[str, jax.Array] | None = None,
    rule: Freezing = "activation",
) -> SourcedDecomposition:
    """The terms of f(x_0), all multiplicative coefficients frozen at x_0.

    f may be any JAX function, or a module of flax.nnx; parameters are what it closes over.  The result can be compiled,
    differentiated and mapped like f itself.  Complex numbers are followed by their real and imaginary parts: a Fourier
    transform is a linear map.

    Linear primitives carry every term along; constants that are added are the term "bias".  The result of a nonlinear
    function is a frozen coefficient of what it multiplies by a matrix product (patterns of attention), or entry by
    entry where it is repeated along some axis (scales of norms, gates of experts).  Where it enters a sum or a product
    with a constant matrix it is an activation: a source, numbered in order of appearance, one number for all that one
    sum brings into the residual stream.

    A branch (`lax.cond`, `lax.switch`) and the number of rounds of a loop that depend on the input are frozen as they
    are at x_0; inside of `jax.jit`, where x_0 has no values, they are refused.

    Of tokens, the term "input" is what the rows of tables that they choose contribute, by their numbers or as one-hot
    rows in a product; rows that do not depend on them, such as those of positions, are biases.

    Args:
        f: from the features that enter the first block, (N, M) or any shape, or from tokens, to one array of floats.
        x_0: those features, or tokens: whole numbers of any shape.
        sources: named parts of x_0, each of its shape, such as token and position embeddings; what they leave of x_0
            is the term "input".  Not for tokens.
        rule: what a nonlinear function does that multiplies a value entry by entry and is repeated along no axis, as
            in x Φ(x) and u ⊙ s(g): "activation" makes the product an activation, "linear" freezes the function, and
            the product goes on as a linear map of x and u.

    Raises:
        InputError: an unusable x_0, rule or name of a source, or not one floating-point output.
        ShapeError: a part that has not the shape of x_0.
        UnsupportedError: a primitive that is in no table, or a branch that depends on an input without values.
    """
    if rule not in get_args(Freezing):
        raise InputError(f"got rule={rule!r}; wanted one of {', '.join(map(repr, get_args(Freezing)))}")
    named = dict(sources or {})
    _check(x_0, named)
    arithmetic, of_tokens = SourcedArithmetic(rule), jnp.issubdtype(x_0.dtype, jnp.integer)
    x_0 = jnp.asarray(x_0) if of_tokens else x_0
    # Features say whether 64 bits are meant; tokens do not, so that the setting of JAX counts.
    like, function = jax.ShapeDtypeStruct(x_0.shape, x_0.dtype), _without_state(f)
    program = jax.make_jaxpr(function)(like) if of_tokens else trace(function, like)
    single_output(program)
    source = arithmetic.tokens(x_0) if of_tokens else arithmetic.recorded(Sourced(x_0, Role.STREAM))
    (output,) = interpret(in_real_parts(program), arithmetic, [source])
    if not isinstance(output, Sourced):
        raise InputError("got a function whose output does not depend on x_0; pass one that computes with it")
    with jax.enable_x64(True):  # the types are the equations' own
        rest = functools.reduce(lax.sub, named.values(), x_0)
        parts = None if of_tokens else jnp.stack([rest, *named.values()])
        terms = contributions(arithmetic.tape, parts, output)
    _, *others = names(len(terms) - len(named) - 2)
    return SourcedDecomposition(terms, output.total, (INPUT, *named, *others), output.total.ndim)


def _check(x_0: Array, sources: Mapping[str, Any]) -> None:
    """Raise unless x_0 is an array of features, and the sources parts of it, or of tokens."""
    kinds = (jnp.floating, jnp.integer)
    if not hasattr(x_0, "dtype") or not any(jnp.issubdtype(x_0.dtype, kind) for kind in kinds):
        raise InputError(f"got {_kind(x_0)} for x_0; wanted an array of floating-point features, or of tokens")
    if sources and jnp.issubdtype(x_0.dtype, jnp.integer):
        raise InputError("got sources beside tokens, wanted none; give the embedding of tokens for x_0")
    for name, part in sources.items():
        if name in (INPUT, BIAS) or name.startswith("layer "):
            raise InputError(f"got a source named {name!r}, which is a name of other terms; choose another")
        if (part.shape, part.dtype) != (x_0.shape, x_0.dtype):
            raise ShapeError(
                f"got the part {name!r} of shape {part.shape} and {part.dtype}, wanted {x_0.shape} and {x_0.dtype}, "
                "those of x_0; a part is added to others to make it"
            )


def _kind(value: Any) -> str:
    return f"an array of {value.dtype}" if hasattr(value, "dtype") else f"a {type(value).__name__}"


def _without_state(f: Callable[[jax.Array], jax.Array]) -> Callable[[jax.Array], jax.Array]:
    """A module of flax.nnx as a function that copies it first: a call may count random numbers up in its state."""
    nnx = sys.modules.get("flax.nnx")  # who has such a module has imported it
    if nnx is None or not isinstance(f, nnx.Module):
        return f
    return lambda x: nnx.clone(f)(x)
