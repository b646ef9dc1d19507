"""What the real arrays of a program are of its complex numbers: moduli, arguments, and parts.

|z|·(z/|z|) is z also where z = 0, as derivatives and polar forms have it; and z is the number of its two parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.interpret.complex_numbers import Complex, conjugate, times
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.typing import Array

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Value

DEEPEST = 8
"""So many products, one of the other, are looked through for a modulus."""


class Moduli:
    """What is known of the real arrays of a program.

    moduli: |z| by its identity.  angles: the argument of z.  zeros: where |z| = 0.  products: what is multiplied.
    parts: the z of an imaginary part.  opposites: what is the negative of another array.  constants: the number that
    all entries are.  Each comes with the array, so that no other one takes its identity.
    """

    def __init__(self) -> None:
        self.moduli: dict[int, tuple[Any, Complex]] = {}
        self.angles: dict[int, tuple[Any, Complex]] = {}
        self.zeros: dict[int, tuple[Any, Any]] = {}
        self.products: dict[int, tuple[Any, Any, Callable[[Any], Any]]] = {}
        self.parts: dict[int, tuple[Any, Complex]] = {}
        self.opposites: dict[int, tuple[Any, Any]] = {}
        self.constants: dict[int, tuple[Any, Any]] = {}

    def note(self, equation: JaxprEqn, operands: Sequence[Any], result: Complex | jax.Array) -> None:
        """Remember what an equation computes, if it is of use."""
        name, key = equation.primitive.name, id(result)
        if name == "abs" and isinstance(operands[0], Complex):
            self.moduli[key] = result, operands[0]
        elif name == "atan2" and all(np.shape(x) == np.shape(result) for x in operands):
            self.angles[key] = result, Complex(operands[1], operands[0], np.shape(result), result.dtype)
        elif name == "eq" and _is_number(operands[1], 0):
            self.zeros[key] = result, _real(operands[0])
        elif name == "imag":
            self.parts[key] = result, operands[0]
        elif name == "neg" and not isinstance(result, Complex):
            self.opposites[key] = result, operands[0]
        elif name == "broadcast_in_dim" and isinstance(operands[0], np.ndarray | np.generic | float):
            self.constants[key] = result, operands[0]
        elif name in ("mul", "div", "integer_pow", "square") and not isinstance(result, Complex):
            self._note_product(equation, operands, result)

    def _note_product(self, equation: JaxprEqn, operands: Sequence[Any], result: jax.Array) -> None:
        """A product with the factor that may be a modulus, and what makes of that factor's cofactor the product's."""
        name, (first, *others) = equation.primitive.name, operands
        if name == "mul" and not self._cofactor_known(first):
            first, *others = (*others, first)
        if not self._cofactor_known(first):
            return
        whole = lambda s: times(s, others[0]) if name == "mul" else lax.div(s, others[0])
        if name not in ("mul", "div"):
            n = 2 if name == "square" else equation.params["y"]
            whole = (lambda s: times(s, lax.integer_pow(first, n - 1))) if n >= 2 else None
        if whole is not None:
            self.products[id(result)] = result, first, whole

    def _cofactor_known(self, array: Array) -> bool:
        return id(array) in self.moduli or id(array) in self.products

    def _cofactor(self, array: Array, z: Complex, depth: int = 0) -> Value | None:
        """The s of an array |z|·s, or None."""
        if id(array) in self.moduli and _same_modulus(self.moduli[id(array)][1], z):
            return np.ones((), z.dtype)
        if id(array) not in self.products or depth > DEEPEST:
            return None
        _, factor, whole = self.products[id(array)]
        found = self._cofactor(factor, z, depth + 1)
        return None if found is None else whole(found)

    def simplified(self, equation: JaxprEqn, operands: Sequence[Any]) -> Complex | None:
        """The result of an equation by what is known of moduli, or None."""
        name = equation.primitive.name
        if name == "mul":
            z, w = operands
            return self._with_direction(z, w) or self._with_direction(w, z)
        if name == "exp":
            return self._turn(operands[0])
        if name == "complex":
            return self._of_parts(equation, *operands)
        return self._divisor(operands) if name == "select_n" and len(operands) == 3 else None

    def _of_parts(self, equation: JaxprEqn, real: Any, imag: Any) -> Complex | None:
        """The number that has these parts, its conjugate, or a real one."""
        if id(imag) in self.constants and not np.any(self.constants[id(imag)][1]):
            return Complex(real, None, shape_of(equation.outvars[0]), dtype_of(equation.invars[0]))
        opposite = id(imag) in self.opposites
        source = self.parts.get(id(self.opposites[id(imag)][1] if opposite else imag))
        if source is None or source[1].real is not real:
            return None
        return conjugate(source[1]) if opposite else source[1]

    def _with_direction(self, factor: Complex, z: Complex) -> Complex | None:
        """|w|·s times what has the direction of w: s·w."""
        if z.direction is None or factor.imag is not None or factor.shape != z.shape:
            return None
        s = self._cofactor(factor.real, z.direction)
        return None if s is None else z.of(times(s, z.direction.real), times(s, z.direction.imag))

    def _turn(self, z: Complex) -> Complex | None:
        """e^(iθ) for the argument θ of w: what has the direction of w."""
        if z.real is not None or id(z.imag) not in self.angles:
            return None
        return z.of(lax.cos(z.imag), lax.sin(z.imag), direction=self.angles[id(z.imag)][1])

    def _divisor(self, operands: Sequence[Any]) -> Complex | None:
        """|w|, or 1 where it is 0."""
        where, usual, otherwise = operands
        r = _real(usual)
        if id(where) not in self.zeros or self.zeros[id(where)][1] is not r or id(r) not in self.moduli:
            return None
        if not _is_number(otherwise, 1):
            return None
        chosen = lax.select_n(where, r, lax.full(usual.shape, 1, usual.dtype))
        return usual.of(chosen, None, divides=self.moduli[id(r)][1])


def _real(x: Any) -> Any:
    """The real array that a number without an imaginary part is."""
    return x.real if isinstance(x, Complex) and x.imag is None else x


def _is_number(x: Any, number: int) -> bool:
    """Whether a value is this constant everywhere."""
    if isinstance(x, Complex):
        parts = (x.real, x.imag)
        return parts == (None, None) if number == 0 else x.imag is None and _is_number(x.real, number)
    return isinstance(x, np.ndarray | np.generic | float) and bool(np.all(np.asarray(x) == number))


def _same_modulus(z: Complex, w: Complex) -> bool:
    """Whether two numbers are one, or conjugate, as far as can be seen."""
    of = lambda x: x.conjugate or x
    return of(z).real is of(w).real and of(z).imag is of(w).imag
