"""Two jaxprs compared as programs, whatever their primitives: equal after renaming and inlining, or not.

Every value gets a number: inputs by their position, constants by their type and bits, results by (primitive,
parameters, numbers of the operands).  Equal numbers mean the same computation, so that the order of independent
equations, names, copies, calls and what nothing uses do not matter.  No law is used and no primitive is looked into.

This takes primitives for functions of their operands and parameters.  Effects and generators of random numbers with a
hidden state are refused; of Python functions among the parameters nothing can be said, and they are refused as well.
"""

import dataclasses
import enum
import hashlib
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import AbstractValue
from jax.export import Exported
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import called
from uat_jax.interpret.jaxpr_values import COPIES, PLACEMENT, generators
from uat_jax.interpret.operation import Operation, operation_of
from uat_jax.interpret.primitives import is_own
from uat_jax.interpret.stored_control import SCAN, scan_parameters
from uat_jax.interpret.tracing import source_line

STATEFUL = frozenset("empty infeed outfeed prng_random_bits prng_seed rng_uniform".split())
"""Primitives whose results are not decided by their operands, though JAX knows of no effect of theirs."""

OF_FUNCTIONS = frozenset(["ReadEffect", "WriteEffect", "AccumEffect", "NamedAxisEffect"])
"""The effects that a function among the parameters may have: on references that it is given, and that it speaks to the
other members of an axis. They are part of what it computes, and are kept in their order."""

ATOMS = (bool, int, float, complex, str, bytes, type(None))


def same_program(left: ClosedJaxpr, right: ClosedJaxpr) -> bool:
    """Whether two jaxprs compute the same numbers by the same operations, and these depend on an input.

    False where that is not known, such as of a primitive with an effect.
    """
    forms = CanonicalForms()
    try:
        outputs = forms.outputs(left)
        return outputs == forms.outputs(right) and not forms.varying.isdisjoint(outputs)
    except UnsupportedError:
        return False


def depending(program: ClosedJaxpr, places: Collection[int]) -> list[bool]:
    """Which outputs of a jaxpr are computed from the inputs at some places.

    Raises:
        UnsupportedError: it has an effect, or a parameter that cannot be compared.
    """
    forms = CanonicalForms(places)
    return [output in forms.varying for output in forms.outputs(program)]


def parameters_digest(equation: JaxprEqn) -> str:
    """SHA-256, in hex, of an equation's primitive, parameters and types: equal in every process.

    Raises:
        UnsupportedError: it has an effect, or a parameter that cannot be compared.
    """
    types = [_type(atom.aval) for atom in (*equation.invars, *equation.outvars)]
    return _digest((equation.primitive.name, _Digests().parameters(equation), types))


def value_digest(value: object, equation: JaxprEqn) -> str:
    """SHA-256, in hex, of a part of an equation's parameters: equal in every process.

    Raises:
        UnsupportedError: it cannot be compared.
    """
    return _digest(_Digests().value(value, _Place(equation)))


def _digest(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()


Name = int | str
"""What stands for a value: equal names mean the same computation."""


@dataclasses.dataclass(frozen=True)
class _Place:
    """What an error says of an equation; looked up when it is needed."""

    equation: JaxprEqn

    def __str__(self) -> str:
        return f"'{self.equation.primitive.name}'{source_line(self.equation)}"


class CanonicalForms:
    """Numbers of values, shared by all jaxprs that are compared with each other.

    varying: the numbers of values that depend on an input, or on one of those at the places that are watched.
    """

    def __init__(self, watched: Collection[int] | None = None) -> None:
        self.watched = watched
        self.numbers: dict[Hashable, Name] = {}
        self.varying: set[Name] = set()
        self.arrays: dict[int, tuple[Any, Name]] = {}
        self.applied: dict[Operation, Name] = {}

    def number(self, key: Any) -> Name:
        """The number of a value that is computed so."""
        return self.numbers.setdefault(key, len(self.numbers))

    def outputs(self, program: ClosedJaxpr) -> tuple[Name, ...]:
        """The numbers of the outputs of a program.  Raises `UnsupportedError` if it has effects."""
        inputs = [self.input(place, atom.aval) for place, atom in enumerate(program.jaxpr.invars)]
        return tuple(_Walk(self, effects=frozenset()).body(program.jaxpr, program.consts, inputs))

    def function(self, program: ClosedJaxpr | Jaxpr) -> Name:
        """The number of a jaxpr that is a parameter: of its inputs, its outputs, and what it does to references."""
        jaxpr, constants = (program.jaxpr, program.consts) if isinstance(program, ClosedJaxpr) else (program, ())
        if len(constants) != len(jaxpr.constvars):
            raise UnsupportedError("a program among the parameters leaves its constants to the primitive")
        inputs = [self.input(place, atom.aval) for place, atom in enumerate(jaxpr.invars)]
        walk = _Walk(self, effects=OF_FUNCTIONS)
        outputs = walk.body(jaxpr, constants, inputs)
        return self.number(("function", tuple(inputs), tuple(outputs), walk.state))

    def input(self, place: int, aval: Any) -> Name:
        """The number of an input."""
        number = self.number(("input", place, _type(aval)))
        if self.watched is None or place in self.watched:
            self.varying.add(number)
        return number

    def array(self, array: Any, aval: Any) -> Name:
        """The number of a constant; an array that was met is not read again."""
        if id(array) not in self.arrays:
            self.arrays[id(array)] = array, self.number(_array(array, aval))
        return self.arrays[id(array)][1]

    def operation(self, equation: JaxprEqn, effects: frozenset[str]) -> Name:
        """The number of a primitive with its parameters and the types of its results; effects: those it may have.

        Raises:
            UnsupportedError: it has another effect, or a parameter that cannot be compared.
        """
        known = None if equation.effects else self.applied.get(operation_of(equation))
        if known is not None:
            return known
        own = {type(effect).__name__ for effect in equation.effects}
        parameters = self._parameters(equation) if own and own <= effects else self.parameters(equation)
        types = tuple(_type(v.aval) for v in equation.outvars)
        primitive = equation.primitive.name if is_own(equation.primitive) else equation.primitive
        number = self.number(("operation", primitive, parameters, types))
        if not own:
            self.applied[operation_of(equation)] = number
        return number

    def parameters(self, equation: JaxprEqn) -> tuple[Any, ...]:
        """An equation's parameters as a value that can be compared.

        Raises:
            UnsupportedError: it has an effect, or a parameter that cannot be compared.
        """
        name = equation.primitive.name
        if equation.effects or name in STATEFUL:
            raise UnsupportedError(f"'{name}'{source_line(equation)} has an effect; use pure functions of arrays")
        return self._parameters(equation)

    def _parameters(self, equation: JaxprEqn) -> tuple[Any, ...]:
        given = scan_parameters(equation) if equation.primitive.name == SCAN else equation.params
        kept = {name: value for name, value in given.items() if name not in PLACEMENT}
        return self.value(kept, _Place(equation))

    def value(self, value: Any, where: _Place) -> Any:
        """A parameter as tuples of texts and numbers, with its type."""
        kind = type(value).__name__
        inner = lambda item: self.value(item, where)
        if isinstance(value, enum.Enum):
            return kind, value.name
        if isinstance(value, ATOMS):
            return kind, repr(value)
        if kind == "int64":  # a number of NumPy; JAX writes places and lengths as either
            return "int", repr(value.item())
        if jax.export.is_symbolic_dim(value):
            return "size", str(value)
        if isinstance(value, ClosedJaxpr | Jaxpr):
            return kind, self.function(value)
        if isinstance(value, Mapping):
            return kind, tuple(sorted(((repr(inner(k)), inner(v)) for k, v in value.items()), key=lambda kv: kv[0]))
        if isinstance(value, tuple | list) and kind != "PRNGImpl":
            return kind, tuple(map(inner, value))
        if isinstance(value, set | frozenset):
            return kind, tuple(sorted(map(inner, value), key=repr))
        if isinstance(value, np.ndarray | np.generic | jax.Array):
            return kind, _array(value, jnp.asarray(value))
        if isinstance(value, Exported):
            return kind, self.exported(value, where)
        return kind, self.other(value, where)

    def exported(self, value: Exported, where: _Place) -> Any:
        """A program that JAX exported: its code and its types."""
        if value.ordered_effects or value.unordered_effects:
            raise UnsupportedError(f"{where} calls an exported function with effects; use pure functions of arrays")
        fields = ("in_avals", "out_avals", "platforms", "mlir_module_serialized", "module_kept_var_idx", "nr_devices")
        return tuple(self.value(getattr(value, field), where) for field in fields)

    def other(self, value: object, where: _Place) -> Any:
        """A value that is no number and no program, as something that can be compared.

        Dtypes, types of values, trees, meshes, random generators and dataclasses of such values are known.
        """
        if isinstance(value, np.dtype | jax.tree_util.PyTreeDef):
            return str(value)
        if isinstance(value, type) and issubclass(value, np.generic):
            return str(np.dtype(value))
        for name, (implementation, _) in generators().items():
            if type(value) is type(implementation) and value == implementation:
                return name
        if isinstance(value, jax.sharding.Mesh):
            return value.axis_names, value.devices.shape, tuple(device.id for device in value.devices.flat)
        if isinstance(value, jax.sharding.PartitionSpec):
            return repr(value)
        if isinstance(value, AbstractValue):
            return _type(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [f.name for f in dataclasses.fields(value)]
            if set(getattr(value, "__dict__", {})) <= set(names):
                return type(value), *((name, self.value(getattr(value, name), where)) for name in names)
        raise UnsupportedError(f"{where} has a parameter of type {type(value).__name__}, which cannot be compared")


class _Digests(CanonicalForms):
    """Digests in place of numbers, which depend on what was met before."""

    def number(self, key: Any) -> Name:
        """The digest of how a value is computed."""
        return _digest(key)


class _Walk:
    """One jaxpr after the other, calls inlined.

    effects: those that equations may have.  state: what was done to references so far.
    """

    def __init__(self, forms: CanonicalForms, effects: frozenset[str]):
        self.forms = forms
        self.effects = effects
        self.state: Name = 0

    def body(self, jaxpr: Jaxpr, constants: Sequence[Any], arguments: Sequence[Name]) -> list[Name]:
        """The numbers of a jaxpr's outputs, given those of its inputs."""
        forms = self.forms
        numbers = dict(zip(jaxpr.invars, arguments, strict=True))
        for variable, array in zip(jaxpr.constvars, constants, strict=True):
            numbers[variable] = forms.array(array, variable.aval)
        read = lambda atom: forms.number(_array(atom.val, atom.aval)) if isinstance(atom, Literal) else numbers[atom]
        for equation in jaxpr.eqns:
            numbers.update(
                zip(equation.outvars, self.equation(equation, list(map(read, equation.invars))), strict=True)
            )
        return list(map(read, jaxpr.outvars))

    def equation(self, equation: JaxprEqn, operands: list[Name]) -> list[Name]:
        """The numbers of an equation's results."""
        function = called(equation)
        if equation.primitive.name in COPIES:
            return operands
        if function is not None:
            closed = function if isinstance(function, ClosedJaxpr) else ClosedJaxpr(function, ())
            return self.body(closed.jaxpr, closed.consts, operands)
        forms = self.forms
        key = forms.operation(equation, self.effects), *operands
        if equation.effects:
            self.state = forms.number(("state", self.state, key))
            key = *key, "in", self.state
        results = [forms.number(("result", place, *key)) for place in range(len(equation.outvars))]
        if not forms.varying.isdisjoint(operands):
            forms.varying.update(results)
        return results


def _type(aval: Any) -> tuple[str, tuple[Any, ...], str]:
    """The kind of an abstract value, its shape and its dtype; where a reference lies stands in its text."""
    kind = type(aval).__name__
    return kind if kind == "ShapedArray" else f"{kind} {aval}", tuple(getattr(aval, "shape", ())), _dtype(aval)


def _dtype(aval: Any) -> str:
    return str(getattr(aval, "dtype", ""))


def _array(array: Any, aval: Any) -> tuple[Any, ...]:
    """The type and the bits of a constant."""
    if jnp.issubdtype(aval.dtype, jax.dtypes.extended):
        array = jax.random.key_data(array)
        return "keys", _dtype(aval), tuple(array.shape), np.asarray(array).tobytes()
    entries = np.asarray(array, aval.dtype)
    return "array", str(entries.dtype), entries.shape, entries.tobytes()
