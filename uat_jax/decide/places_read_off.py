"""The range of an input of integers that only chooses from arrays: the places of these, if the user gave none."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Literal

from uat_jax.arithmetic.inlining import inlined
from uat_jax.arithmetic.tracing import shape_of
from uat_jax.decide.domain import Restricted
from uat_jax.decide.integers import Integers, ends
from uat_jax.decide.specification import Specification, is_variable, is_whole, parts_of

PASSED_ON = frozenset(
    """add broadcast_in_dim clamp concatenate convert_element_type expand_dims ge lt max min reshape select_n slice
    squeeze transpose""".split()
)
"""What JAX makes of an index before it chooses by it: a negative one is counted from the end, one beyond is moved."""


def with_places(specification: Specification, programs: Sequence[ClosedJaxpr]) -> Specification:
    """The same inputs, in which those of integers without a range that only choose from arrays have one.

    If two arrays differ in length, the longer one counts, so that a place which only one of them has is looked at.
    """
    leaves, tree = jax.tree.flatten(specification.arguments)
    if not any(is_whole(leaf) and not isinstance(leaf, Restricted) for leaf in leaves):
        return specification
    without_calls = [inlined(program) for program in programs]
    found, place = [], 0
    for leaf in leaves:
        if is_whole(leaf) and not isinstance(leaf, Restricted):
            lengths = [length for program in without_calls for length in chosen_from(program, place)]
            places = [length for length in lengths if length is not None]
            if places and len(places) == len(lengths) and max(places) - 1 <= ends(leaf.dtype)[1]:
                leaf = Restricted(tuple(leaf.shape), leaf.dtype, Integers(0, max(places) - 1, read_off=True))
        place += len(parts_of(leaf)) if is_variable(leaf) else 0
        found.append(leaf)
    return dataclasses.replace(specification, arguments=jax.tree.unflatten(tree, found))


def chosen_from(program: Any, place: int) -> list[int | None]:
    """The lengths of the axes that an input chooses from; None among them if it is used for something else."""
    jaxpr = getattr(program, "jaxpr", program)
    known: set[Any] = {jaxpr.invars[place]}
    lengths: list[int | None] = []
    for equation in jaxpr.eqns:
        uses = [k for k, v in enumerate(equation.invars) if not isinstance(v, Literal) and v in known]
        if not uses:
            continue
        name, shape = equation.primitive.name, shape_of(equation.invars[0])
        if name == "gather" and uses == [1]:
            lengths += [shape[axis] for axis in equation.params["dimension_numbers"].start_index_map]
        elif name == "dynamic_slice" and 0 not in uses:
            lengths += [shape[k - 1] for k in uses]
        elif name == "eq":  # with all places: a row with a single 1, as long as the array beside it
            continue
        elif name in PASSED_ON:
            known.update(equation.outvars)
        else:
            lengths.append(None)
    used_elsewhere = [None] if any(v in known for v in jaxpr.outvars if not isinstance(v, Literal)) else []
    return [*lengths, *used_elsewhere]
