"""From a program of complex numbers to the program of their real and imaginary parts.

Every complex variable becomes two real ones, and every equation with a complex operand or result the equations of its
definition in parts (`complex_rules`).  What comes after, in any number system, sees real numbers only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import ShapedArray
from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Primitive

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.canonical_form import STATEFUL
from uat_jax.interpret.complex_numbers import Complex, of_parts
from uat_jax.interpret.interpreter import IDENTITY, called, inner_programs, scan_counts
from uat_jax.interpret.operation import operation_of
from uat_jax.interpret.retracing import followed
from uat_jax.interpret.tracing import dtype_of, is_complex, shape_of, source_line
from uat_jax.numbers.complex.complex_rules import RULES, real_dtype
from uat_jax.numbers.complex.moduli import Moduli
from uat_jax.numbers.prime_fields.uninterpreted import check_function
from uat_jax.typing import Array, Atom

Value = Any
"""A `Complex`, or an array of anything else."""


def in_real_parts(program: ClosedJaxpr) -> ClosedJaxpr:
    """A program in which no number is complex; the same object if none was.

    A complex input is two inputs, its real part and its imaginary one, and so is a complex output.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> program = jax.make_jaxpr(lambda z: z * jnp.conj(z))(jnp.complex64(1j))
        >>> [v.aval.str_short() for v in in_real_parts(program).jaxpr.outvars]
        ['float32[]', 'float32[]']

    A primitive of complex numbers without a rule becomes one of parts of which nothing is known.

    Raises:
        UnsupportedError: dimensions are symbolic; or a primitive without a rule is no function of numbers.
    """
    if not has_complex(program):
        return program
    inputs = program.jaxpr.invars
    if any(jax.export.is_symbolic_dim(d) for v in inputs for d in shape_of(v)):
        raise UnsupportedError("complex numbers are not followed with symbolic dimensions; list sizes=[…]")
    with jax.enable_x64(True):  # the types are the equations' own
        rewriting = Rewriting(drops_zeros=not _has_infinities(program))

        def rewritten(*parts: Any) -> list[jax.Array]:
            return split(rewriting.program(program, joined(parts, inputs)))

        return jax.make_jaxpr(rewritten)(*(jax.ShapeDtypeStruct(*kind) for v in inputs for kind in _kinds(v)))


def has_complex(program: ClosedJaxpr | Jaxpr) -> bool:
    """Whether any number of a program, or of a program within it, is complex."""
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    atoms = (*jaxpr.invars, *jaxpr.constvars, *jaxpr.outvars)
    if any(map(_is_complex, atoms)):
        return True
    return any(
        any(map(_is_complex, (*equation.invars, *equation.outvars))) or any(map(has_complex, inner_programs(equation)))
        for equation in jaxpr.eqns
    )


def _is_complex(atom: Atom) -> bool:
    return is_complex(getattr(atom.aval, "dtype", None))


def _has_infinities(program: ClosedJaxpr | Jaxpr) -> bool:
    """Whether a constant is infinite or NaN: then 0 times a number may be another number than 0."""
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    literals = [atom.val for equation in jaxpr.eqns for atom in equation.invars if isinstance(atom, Literal)]
    arrays = [np.asarray(x) for x in (*literals, *getattr(program, "consts", ())) if _is_inexact(x)]
    if not all(np.isfinite(array).all() for array in arrays):
        return True
    return any(_has_infinities(inner) for equation in jaxpr.eqns for inner in inner_programs(equation))


def _is_inexact(array: Array) -> bool:
    dtype = getattr(array, "dtype", None)
    return isinstance(array, float | complex) or dtype is not None and jnp.issubdtype(dtype, jnp.inexact)


def _kinds(atom: Atom) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Shape and dtype of the real variables that stand for a variable."""
    dtype = dtype_of(atom)
    yield from [(shape_of(atom), real_dtype(dtype))] * 2 if is_complex(dtype) else [(shape_of(atom), dtype)]


def joined(parts: Sequence[jax.Array], atoms: Sequence[Atom]) -> list[Value]:
    """The values of variables, whose parts are given one after the other."""
    remaining = iter(parts)
    whole = lambda atom: Complex(next(remaining), next(remaining), shape_of(atom), real_dtype(dtype_of(atom)))
    return [whole(atom) if _is_complex(atom) else next(remaining) for atom in atoms]


def split(values: Sequence[Value]) -> list[jax.Array]:
    """The parts of some values, one after the other."""
    return [part for value in values for part in (value.parts if isinstance(value, Complex) else (value,))]


class Rewriting:
    """One walk over a program, which makes the equations of the parts.

    drops_zeros: whether a part that is known to be zero is left out of products; not where a factor may be infinite.
    """

    def __init__(self, *, drops_zeros: bool):
        self.drops_zeros = drops_zeros
        self.moduli = Moduli()

    def program(self, program: ClosedJaxpr | Jaxpr, arguments: Sequence[Value]) -> list[Value]:
        """What a program returns."""
        known: dict[Any, list[Value]] = {}  # equal equations have one result, as z and z in sqrt(z)·sqrt(z)

        def applied(equation: JaxprEqn, operands: list[Value]) -> list[Value]:
            operation = operation_of(equation)
            atoms = tuple(id(atom) for atom in equation.invars)
            key = (operation, atoms) if operation.comparable and operation.is_complex else object()
            if key not in known:
                with source_info_util.user_context(equation.source_info.traceback):
                    known[key] = self.results(equation, operands)
            return known[key]

        return followed(program, arguments, self.constant, applied)

    def constant(self, atom: Atom, array: Any) -> Value:
        """A captured array or a literal."""
        if not _is_complex(atom):
            return array
        dtype, array = real_dtype(dtype_of(atom)), np.asarray(array, dtype_of(atom))
        parts = [np.array(part, dtype) for part in (array.real, array.imag)]
        real, imag = (None if self.drops_zeros and not part.any() else part for part in parts)
        return Complex(real, imag, shape_of(atom), dtype)

    def results(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of one equation."""
        name, function = equation.primitive.name, called(equation)
        if name in IDENTITY:
            return list(operands)
        if function is not None:
            return self.program(function, operands)
        if name in CONTROL and any(map(has_complex, inner_programs(equation))):
            return CONTROL[name](self, equation, operands)
        if not any(map(_is_complex, (*equation.invars, *equation.outvars))):
            found = equation.primitive.bind(*operands, **equation.params)
            if equation.primitive.multiple_results:
                return list(found)
            self.moduli.note(equation, operands, found)
            return [found]
        simplified = self.moduli.simplified(equation, operands) if self.drops_zeros else None
        if simplified is not None:
            return [simplified]
        try:
            if name not in RULES:
                raise UnsupportedError(f"{name} of complex numbers")
            found = RULES[name](equation, *operands)
        except UnsupportedError as error:
            found = without_rule(str(error), equation, operands)
        results = [self.kept(value) for value in (found if isinstance(found, list) else [found])]
        self.moduli.note(equation, operands, results[0])
        return results

    def kept(self, value: Value) -> Value:
        """A result, with its zeros where they may not be left out."""
        if isinstance(value, Complex) and not self.drops_zeros:
            return of_parts(value.parts, value.shape, value.dtype)
        return value

    def function(self, program: ClosedJaxpr | Jaxpr) -> Callable[..., list[Any]]:
        """A program as a function of parts."""
        inputs = program.jaxpr.invars if isinstance(program, ClosedJaxpr) else program.invars
        return lambda *parts: split(self.program(program, joined(parts, inputs)))

    def scan(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """A scan whose carry, constants and rows are parts."""
        body, (constants, carries) = equation.params["jaxpr"], scan_counts(equation)
        outputs = getattr(body, "jaxpr", body).outvars
        of, first = self.function(body), constants + carries
        fixed, carry, rows = (split(o) for o in (operands[:constants], operands[constants:first], operands[first:]))
        count = sum(len(list(_kinds(v))) for v in outputs[:carries])

        def step(carry: Sequence[Array], row: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            found = of(*fixed, *carry, *row)
            return found[:count], found[count:]

        length, reverse = equation.params["length"], equation.params["reverse"]
        carry, made = lax.scan(step, list(map(jnp.asarray, carry)), rows, length=length, reverse=reverse)
        return joined([*carry, *made], equation.outvars)

    def while_loop(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """A loop whose carry is parts."""
        tests, bodies = equation.params["cond_nconsts"], equation.params["body_nconsts"]
        of_test, of_body, carry = operands[:tests], operands[tests:][:bodies], operands[tests + bodies :]
        test, body = (self.function(equation.params[name]) for name in ("cond_jaxpr", "body_jaxpr"))
        proceed = lambda parts: test(*split(of_test), *parts)[0]
        found = lax.while_loop(proceed, lambda parts: body(*split(of_body), *parts), [*map(jnp.asarray, split(carry))])
        return joined(found, equation.outvars)

    def cond(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """A conditional between programs of parts."""
        index, *parts = split(operands)
        branches = [jax.make_jaxpr(self.function(branch))(*parts) for branch in equation.params["branches"]]
        found = equation.primitive.bind(index, *parts, **{**equation.params, "branches": tuple(branches)})
        return joined(found, equation.outvars)


def without_rule(name: str, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    """The results of a primitive without a rule, as those of another one, of parts, of which nothing is known.

    Of complex numbers it is a function of their parts, so that equal operands have equal results.

    Raises:
        UnsupportedError: it has an effect, or is no function of numbers.
    """
    if equation.effects or equation.primitive.name in STATEFUL:
        raise UnsupportedError(f"'{equation.primitive.name}'{source_line(equation)} has an effect; use pure functions")
    check_function(equation)
    results = tuple(kind for v in equation.outvars for kind in _kinds(v))
    of = tuple(map(_is_complex, equation.invars))
    found = unknown(name).bind(*split(operands), results=results, of=of, **equation.params)
    return joined(found, equation.outvars)


@functools.cache
def unknown(name: str) -> Primitive:
    """The primitive of this name, which stands for one of complex numbers; it has types, and is not evaluated."""
    primitive = Primitive(name)
    primitive.multiple_results = True
    primitive.def_abstract_eval(lambda *parts, results, of, **parameters: [ShapedArray(*kind) for kind in results])
    return primitive


CONTROL = {"scan": Rewriting.scan, "while": Rewriting.while_loop, "cond": Rewriting.cond}
"""Primitives that call functions more than once, or one of several."""
