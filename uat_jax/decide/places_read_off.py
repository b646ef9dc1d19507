"""The range of an input of integers that only chooses from arrays: the places of these, if the user gave none."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal

from uat_jax.decide.domain import Restricted
from uat_jax.decide.integers import Integers, ends
from uat_jax.decide.specification import Specification, is_variable, is_whole, parts_of
from uat_jax.interpret.inlining import inlined
from uat_jax.interpret.tracing import dtype_of, shape_of

PASSED_ON = frozenset(
    """add broadcast_in_dim concatenate convert_element_type expand_dims lt reshape select_n slice squeeze
    transpose""".split()
)
"""What JAX makes of an index before it chooses by it: a negative one is counted from the end.

Who moves an index into the array himself, by `clip` or `maximum`, has others than its places in mind.
"""

UNCHANGED = frozenset("broadcast_in_dim convert_element_type expand_dims reshape slice squeeze transpose".split())
"""Those that leave the numbers what they are, if a cast is to a dtype that holds them all."""


def with_places(specification: Specification, programs: Sequence[ClosedJaxpr]) -> Specification:
    """A specification in which every integer input that only chooses from arrays, and had no range, has their places.

    If two arrays differ in length, the longer one counts, so that a place which only one of them has is looked at.
    """
    leaves, tree = jax.tree.flatten(specification.arguments)
    if not any(is_whole(leaf) and not isinstance(leaf, Restricted) for leaf in leaves):
        return specification
    without_calls = [inlined(program) for program in programs]
    found, place = [], 0
    for leaf in leaves:
        if is_whole(leaf) and not isinstance(leaf, Restricted):
            uses = [chosen_from(program, place) for program in without_calls]
            chosen, compared = (list(itertools.chain(*lengths)) for lengths in zip(*uses, strict=True))
            places = [length for length in (*chosen, *compared) if length is not None]
            only = len(places) == len(chosen) + len(compared)
            if chosen and only and max(places) - 1 <= ends(leaf.dtype)[1]:
                leaf = Restricted(tuple(leaf.shape), leaf.dtype, Integers(0, max(places) - 1, read_off=True))
        place += len(parts_of(leaf)) if is_variable(leaf) else 0
        found.append(leaf)
    return dataclasses.replace(specification, arguments=jax.tree.unflatten(tree, found))


Lengths = list[int | None]
"""The lengths of axes, and None for what is none."""


def chosen_from(program: ClosedJaxpr, place: int) -> tuple[Lengths, Lengths]:
    """The lengths of the axes that an input chooses from, and of those that it is compared with the places of.

    None is among the former if it is used for something else.

    A number that it is compared with is a place too: that of a one in a row of a matrix, or of an entry that is left
    out.  A negative one, such as -100 for "no entry", is none.
    """
    jaxpr = program.jaxpr
    itself = {jaxpr.invars[place]}
    known: set[Any] = set(itself)
    lengths: Lengths = []
    compared: Lengths = []
    numbers = {v: _after_largest(array) for v, array in zip(jaxpr.constvars, program.consts, strict=True)}
    for equation in jaxpr.eqns:
        uses = [k for k, v in enumerate(equation.invars) if not isinstance(v, Literal) and v in known]
        unchanged = _is_unchanged(equation)
        if not uses:
            if equation.primitive.name == "iota":
                numbers[equation.outvars[0]] = equation.params["shape"][equation.params["dimension"]]
            elif unchanged and not isinstance(equation.invars[0], Literal):
                numbers[equation.outvars[0]] = numbers.get(equation.invars[0])
            continue
        if unchanged and equation.invars[0] in itself:
            itself.update(equation.outvars)
        name, shape = equation.primitive.name, shape_of(equation.invars[0])
        if name == "gather" and uses == [1]:
            lengths += [shape[axis] for axis in equation.params["dimension_numbers"].start_index_map]
        elif name == "dynamic_slice" and 0 not in uses:
            lengths += [shape[k - 1] for k in uses]
        elif name == "eq" and len(uses) == 1 and equation.invars[uses[0]] in itself:
            other = equation.invars[1 - uses[0]]
            compared.append(_after_largest(other.val) if isinstance(other, Literal) else numbers.get(other))
        elif name in PASSED_ON:
            known.update(equation.outvars)
        else:
            lengths.append(None)
    used_elsewhere = [None] if any(v in known for v in jaxpr.outvars if not isinstance(v, Literal)) else []
    return [*lengths, *used_elsewhere], compared


def _is_unchanged(equation: JaxprEqn) -> bool:
    """Whether the result of an equation has the numbers of its operand."""
    casts = equation.primitive.name == "convert_element_type"
    held = not casts or np.can_cast(dtype_of(equation.invars[0]), equation.params["new_dtype"])
    return equation.primitive.name in UNCHANGED and held


def _after_largest(array: Any) -> int | None:
    """The length of an axis whose places are all of these numbers and what is before them; None if one is negative."""
    array = np.asarray(array)
    if array.dtype.kind not in "biu" or not array.size or array.min() < 0:
        return None
    return int(array.max()) + 1
