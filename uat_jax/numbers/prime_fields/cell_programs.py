"""What both results of a pair of formulas are in a cell, as two programs without decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.recognition import meaning
from uat_jax.numbers.prime_fields.cell import Cell, Surface
from uat_jax.numbers.prime_fields.formula import Formula
from uat_jax.numbers.prime_fields.formula_in_cell import is_real
from uat_jax.numbers.prime_fields.inequalities import Polynomial
from uat_jax.numbers.prime_fields.terms import Term
from uat_jax.typing import Function, PyTree


def programs(
    pair: Formula, cell: Cell, ways: Sequence[int], zeros: set[int], surface: Surface | None, meant: bool
) -> tuple[ClosedJaxpr, ClosedJaxpr] | None:
    """Both results in a cell, or on a surface in it, as programs of the variables.

    ways: for each variable less than 0 if it is given as -x.  zeros: the variables that are 0.
    """
    variables = pair.variables
    specs = [jax.ShapeDtypeStruct((), pair.nodes[v].dtype) for v in variables]

    def program(result: Term) -> Function:
        def of(*arguments: PyTree) -> Any:
            given = {v: lax.neg(x) if s < 0 else x for v, x, s in zip(variables, arguments, ways, strict=True)}
            given |= {v: jnp.zeros((), pair.nodes[v].dtype) for v in zeros}
            if surface is None:
                return _Trace(pair, given).value(result)
            replaced = Polynomial.atom(surface.atom).key, _of_polynomial(pair, cell, surface.value, given, meant)
            return _Trace(pair, given, replaced).value(result)

        return of

    try:
        with jax.enable_x64(True):
            left, right = (jax.make_jaxpr(program(result))(*specs) for result in cell.read)
    except (TypeError, UnsupportedError):  # parameters that only fit arrays, numbers that a dtype does not hold
        return None
    return left, right


@dataclass
class _Trace:
    """Traced values of terms, those of variables being given; replaced: the key of an atom, and its value."""

    pair: Formula
    given: Mapping[int, Any]
    replaced: tuple[Any, Any] = (None, None)
    done: dict[int, Any] = field(default_factory=dict)

    def value(self, term: Term) -> jax.Array:
        """The value of a term."""
        if id(term) not in self.done:
            here = term.polynomial.key == self.replaced[0]
            self.done[id(term)] = self.replaced[1] if here else self._value(term)
        return self.done[id(term)]

    def _value(self, term: Term) -> jax.Array:
        operands = list(map(self.value, term.operands))
        if term.node is None:
            dtype = self.pair.nodes[self.pair.results[0]].dtype
            return lax.neg(operands[0]) if operands else jnp.asarray(float(term.polynomial.value or 0), dtype)
        if term.node in self.given:
            return self.given[term.node]
        node = self.pair.nodes[term.node]
        if node.equation is None:
            return jnp.asarray(node.literal, node.dtype)
        wanted = [self.pair.nodes[o].dtype for o in node.operands]
        same = [lax.convert_element_type(x, d) for x, d in zip(operands, wanted, strict=True)]
        return node.equation.primitive.bind(*same, **node.equation.params)


def _of_polynomial(
    pair: Formula, cell: Cell, polynomial: Polynomial, given: Mapping[int, jax.Array], meant: bool
) -> jax.Array | None:
    """The value of a polynomial in variables, where it is a float: integers have no fractions."""
    dtype = pair.nodes[pair.results[0]].dtype
    if not is_real(dtype):
        raise UnsupportedError("a polynomial of integers")
    total = jnp.zeros((), dtype)
    for monomial, c in polynomial.terms.items():
        product = lax.div(*(_whole_number(n, dtype, meant) for n in c.as_integer_ratio()))
        for atom, exponent in monomial:
            value = lax.convert_element_type(given[cell.atoms.variables[atom]], dtype)
            product = lax.mul(product, lax.integer_pow(value, exponent))
        total = lax.add(total, product)
    return total


def _whole_number(number: int, dtype: Any, meant: bool) -> jax.Array:
    """A whole number as a constant that is read as it is."""
    if abs(number) > int(jnp.finfo(dtype).max):
        raise UnsupportedError("a number that the dtype does not hold")
    held = np.asarray(number, dtype)
    if int(held) != number or meant and not meaning(float(held), held.dtype).as_written:
        raise UnsupportedError("a number that the dtype does not hold, or that would be read as another one")
    return jnp.asarray(held)
