"""Programs as data: a jaxpr written as JSON, and read back without running anything.

A program is a list of jaxprs, the last one being the program itself; an equation calls only jaxprs that stand before
its own. In each jaxpr the variables are numbered as they are defined: constants, inputs, then the results of the
equations. So every number below the current count is a defined variable, and there is nothing else to refer to.

    jaxpr      {"constants": [array, ...], "inputs": [type, ...], "equations": [equation, ...], "outputs": [atom, ...]}
    equation   [primitive, {parameter: value, ...}, [atom, ...], [type of a result, ...]]
    atom       number of a variable, or a literal array
    array      [dtype, shape, base64 of the little-endian entries]; if all entries are equal, one is enough
    type       [dtype, shape]; a symbolic dimension is a text such as "2*n + 1", as a parameter {"size": text}

What does not change the value is left out: equations that nothing uses, copies, names, shardings, and what kind of
call a call is (jit, remat, custom derivative rules): all are "closed_call". The lines of the source stand beside the
jaxprs and are no part of the digest.
"""

import functools
import hashlib
import json
from collections.abc import Hashable, Sequence
from typing import Any

import jax
import jax.extend.core
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Primitive, Var

from uat_jax.errors import UnsupportedError
from uat_jax.interpret import jaxpr_values as values
from uat_jax.interpret.interpreter import called
from uat_jax.interpret.jaxpr_extents import LIMITS, Extents
from uat_jax.interpret.jaxpr_values import COPIES, damaged, primitives, shown
from uat_jax.interpret.primitives import has_name_of_own, is_own
from uat_jax.interpret.stored_control import CALL, SCAN, SIZE, scan_parameters
from uat_jax.interpret.symbolic_sizes import is_symbolic
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.typing import Parameters


def encode(closed_jaxpr: ClosedJaxpr) -> dict[str, Any]:
    """A program as JSON: {"jaxprs": [jaxpr, ...], "lines": [[line of each equation, ...], ...]}.

    Raises:
        UnsupportedError: a primitive, parameter or dtype that is not in the tables, or an evaluation too long.
    """
    writer = _Writer()
    writer.place(closed_jaxpr)
    if not writer.extents.known[-1].allowed:
        raise UnsupportedError(f"the program takes {LIMITS}, which no certificate holds; use fewer steps")
    return {"jaxprs": writer.jaxprs, "lines": writer.lines}


def digest(program: dict[str, Any]) -> str:
    """SHA-256, in hex, of the canonical JSON of an encoded program's jaxprs: equal for equal programs, whoever traced
    them.
    """
    text = json.dumps(program["jaxprs"], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def decode(data: Any) -> ClosedJaxpr:
    """The program that `encode` wrote; `data` is what a JSON parser returned, and is not trusted.

    Raises:
        InputError: anything that `encode` does not write, or that JAX's own rules of shapes and dtypes reject.
    """
    if not isinstance(data, dict) or set(data) != {"jaxprs", "lines"}:
        raise damaged(f"got {shown(data)}, wanted jaxprs and lines")
    jaxprs, lines = data["jaxprs"], data["lines"]
    if not isinstance(jaxprs, list) or not jaxprs or not isinstance(lines, list) or len(lines) != len(jaxprs):
        raise damaged(
            f"got {shown(jaxprs)} for the jaxprs and {shown(lines)} for their lines, wanted two equally long lists"
        )
    reader = _Reader()
    for jaxpr, own_lines in zip(jaxprs, lines, strict=True):
        reader.jaxpr(jaxpr, own_lines)
    return reader.jaxprs[-1]


class _Writer:
    """The jaxprs written so far; equal ones are written once."""

    def __init__(self) -> None:
        self.jaxprs: list[dict[str, Any]] = []
        self.lines: list[list[str]] = []
        self.extents = Extents()
        self.places: dict[Hashable, int] = {}

    def place(self, jaxpr: Jaxpr | ClosedJaxpr) -> int:
        """Where a jaxpr stands in the list, written there if it is new."""
        if id(jaxpr) not in self.places:
            closed = jaxpr if isinstance(jaxpr, ClosedJaxpr) else ClosedJaxpr(jaxpr, ())
            data, lines, calls = self.jaxpr(closed.jaxpr, closed.consts)
            text = json.dumps(data, sort_keys=True)
            if text not in self.places:
                self.places[text] = len(self.jaxprs)
                self.jaxprs.append(data)
                self.lines.append(lines)
                self.extents.append(calls)
            self.places[id(jaxpr)] = self.places[text]
        return self.places[id(jaxpr)]

    def jaxpr(self, jaxpr: Jaxpr, constants: Sequence[Any]) -> tuple[dict[str, Any], list[str], list[Any]]:
        """One jaxpr as data, the lines of its equations, and their calls."""
        live, needed = _live(jaxpr)
        held = [(v, array) for v, array in zip(jaxpr.constvars, constants, strict=True) if v in needed]
        atoms: dict[Var, Any] = {v: number for number, v in enumerate([*(v for v, _ in held), *jaxpr.invars])}
        count = len(atoms)
        read = lambda atom: values.encode_array(atom.val, atom.aval) if isinstance(atom, Literal) else atoms[atom]
        equations, lines, calls = [], [], []
        for equation in live:
            operands = [read(atom) for atom in equation.invars]
            if equation.primitive.name in COPIES and is_own(equation.primitive):
                atoms.update(zip(equation.outvars, operands, strict=True))
                continue
            name, parameters, called = self.primitive(equation)
            equations.append([name, parameters, operands, [values.encode_type(v.aval) for v in equation.outvars]])
            line = source_line(equation).removeprefix(" at ")
            lines.append(line if _is_line(line) else "")
            calls.append((equation.params["length"] if name == SCAN else 1, called))
            atoms.update(zip(equation.outvars, range(count, count + len(equation.outvars)), strict=True))
            count += len(equation.outvars)
        data = {
            "constants": [values.encode_array(array, v.aval) for v, array in held],
            "inputs": [values.encode_type(v.aval) for v in jaxpr.invars],
            "equations": equations,
            "outputs": [read(atom) for atom in jaxpr.outvars],
        }
        return data, lines, calls

    def primitive(self, equation: JaxprEqn) -> tuple[str, dict[str, Any], list[int]]:
        """The name and the parameters of an equation, and the jaxprs they hold."""
        name, calls, function = equation.primitive.name, [], called(equation)

        def nested(jaxpr: Jaxpr | ClosedJaxpr, kind: str = "") -> dict[str, int]:
            calls.append(self.place(jaxpr))
            return {kind or ("closed_jaxpr" if isinstance(jaxpr, ClosedJaxpr) else "jaxpr"): calls[-1]}

        taken_for_another = has_name_of_own(equation.primitive)
        if function is not None and not taken_for_another:
            return CALL, {"call_jaxpr": nested(function, "closed_jaxpr")}, calls
        if name not in primitives() or equation.effects or taken_for_another:
            raise UnsupportedError(
                f"the primitive '{name}'{source_line(equation)} cannot be written into a certificate; "
                "rewrite that line with pure functions of arrays"
            )
        parameters = {}
        given = scan_parameters(equation) if name == SCAN else equation.params
        if name == SIZE:  # JAX's own result has the dtype that the session prefers
            given = {"dim": given["dim"], "dtype": np.dtype(dtype_of(equation.outvars[0]))}
        for parameter, value in sorted(given.items()):
            where = f"the parameter '{parameter}' of the primitive '{name}'{source_line(equation)}"
            kept = None if parameter in values.PLACEMENT else value
            parameters[parameter] = values.encode_parameter(kept, where, nested)
        if not self.extents.plain(name, calls):
            raise UnsupportedError(
                f"the function given to '{name}'{source_line(equation)} calls functions, which cannot be written into "
                "a certificate; write it in one piece"
            )
        return name, parameters, calls


def _live(jaxpr: Jaxpr) -> tuple[list[JaxprEqn], set[Var]]:
    """The equations that the outputs depend on, or that have effects, and the variables these read."""
    variables = lambda atoms: (atom for atom in atoms if not isinstance(atom, Literal))
    needed, live = set(variables(jaxpr.outvars)), []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or not needed.isdisjoint(equation.outvars):
            needed.update(variables(equation.invars))
            live.append(equation)
    return live[::-1], needed


class _Reader:
    """The jaxprs read so far."""

    def __init__(self) -> None:
        self.jaxprs: list[ClosedJaxpr] = []
        self.extents = Extents()

    def jaxpr(self, data: Any, lines: Any) -> None:
        """Read the next jaxpr, and check it by JAX's own rules of shapes and dtypes."""
        fields = ("constants", "inputs", "equations", "outputs")
        if not isinstance(data, dict) or set(data) != set(fields):
            raise damaged(f"got {shown(data)} for a jaxpr, wanted {', '.join(fields)}")
        for field in fields:
            _a_list(data[field], field)
        if len(_a_list(lines, "lines")) != len(data["equations"]):
            raise damaged(f"got {len(lines)} lines for {len(data['equations'])} equations")
        arrays = [values.decode_array(item) for item in data["constants"]]
        constants = [Var(aval) for _, aval in arrays]
        inputs = [Var(values.decode_type(item)) for item in data["inputs"]]
        variables, calls = [*constants, *inputs], []
        equations = [self.equation(*item, variables, calls) for item in zip(data["equations"], lines, strict=True)]
        outputs = [_atom(item, variables) for item in data["outputs"]]
        jaxpr = _empty().replace(constvars=constants, invars=inputs, outvars=outputs, eqns=equations)
        self.append(ClosedJaxpr(jaxpr, [array for array, _ in arrays]), calls)

    def append(self, jaxpr: ClosedJaxpr, calls: list[Any]) -> None:
        if not self.extents.append(calls).allowed:
            raise damaged(f"it takes {LIMITS}")
        reason = _rejection(jaxpr.jaxpr)
        if reason:
            raise damaged(f"JAX rejects it ({reason})")
        self.jaxprs.append(jaxpr)

    def equation(self, data: Any, line: str, variables: list[Var], calls: list[Any]) -> JaxprEqn:
        """Read one equation, and append its results to the variables."""
        if len(_a_list(data, "an equation")) != 4 or not isinstance(data[0], str) or not isinstance(data[1], dict):
            raise damaged("an equation is not [primitive, parameters, operands, results]")
        if not _is_line(line):
            raise damaged(f"got {shown(line)} for a line")
        name, called = data[0], []
        if name not in primitives():
            raise damaged(f"unknown primitive {shown(name)}")

        def nested(kind: str, index: int | str) -> Jaxpr | ClosedJaxpr:
            if type(index) is not int or not 0 <= index < len(self.jaxprs):
                raise damaged(f"a call of jaxpr {shown(index)}, which does not stand before")
            called.append(index)
            if kind == "jaxpr" and self.jaxprs[index].consts:
                raise damaged(f"jaxpr {index} has constants where none can be")
            return self.jaxprs[index] if kind == "closed_jaxpr" else self.jaxprs[index].jaxpr

        parameters = {key: values.decode_parameter(value, nested) for key, value in data[1].items()}
        operands = [_atom(item, variables) for item in _a_list(data[2], "the operands")]
        results = [Var(values.decode_type(item)) for item in _a_list(data[3], "the results")]
        if not self.extents.plain(name, called):
            raise damaged(f"the function given to {name} calls functions")
        # JAX's rule would make a type for each entry before it looks at the results.
        if name == "unstack" and not any(len(results) in shape_of(atom) for atom in operands):
            raise damaged(f"unstack into {len(results)} results")
        variables.extend(results)
        times = parameters.get("length") if name == SCAN else 1
        if not is_symbolic(times) and (type(times) is not int or times < 0):
            raise damaged(f"a scan of length {shown(times)}")
        calls.append((times, called))
        if name == SIZE and not is_symbolic(parameters.get("dim")):  # a program that is read at some sizes
            return _equation(_number_and_zero(parameters), results, primitives()["add"], {}, line)
        return _equation(operands, results, primitives()[name], parameters, line)


@functools.cache
def _empty() -> Jaxpr:
    """A jaxpr to fill: it knows what JAX wants to know of where it comes from."""
    return jax.make_jaxpr(lambda: ())().jaxpr


def _is_line(line: str) -> bool:
    """Whether a line of the source can be shown to a person."""
    return isinstance(line, str) and len(line) <= 200 and line.isprintable()


def _rejection(jaxpr: Jaxpr) -> str:
    """What JAX's own rules of shapes and dtypes have against a jaxpr, in one line, or ''."""
    try:
        with jax.enable_x64(True):  # the types are the equations' own
            jax.extend.core.check_jaxpr(jaxpr)
    # The rules are written for parameters that JAX made; on others they raise anything.
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ""


def _a_list(data: Any, what: str) -> list[Any]:
    if not isinstance(data, list):
        raise damaged(f"got {shown(data)} for {what}, wanted a list")
    return data


def _number_and_zero(parameters: Parameters) -> list[Literal]:
    """The operands of a sum that is a size."""
    size, dtype = parameters.get("dim"), parameters.get("dtype")
    if type(size) is not int or not isinstance(dtype, np.dtype) or not np.issubdtype(dtype, np.signedinteger):
        raise damaged(f"got {shown(size)} for a size")
    return [Literal(np.asarray(n, dtype), ShapedArray((), dtype)) for n in (size, 0)]


def _atom(data: Any, variables: Sequence[Var]) -> Var | Literal:
    """A variable that is defined already, or a literal."""
    if type(data) is not int:
        return Literal(*values.decode_array(data))
    if not 0 <= data < len(variables):
        raise damaged(f"variable {shown(data)} is used where {len(variables)} are defined")
    return variables[data]


def _equation(
    operands: Sequence[Var | Literal], results: list[Var], primitive: Primitive, parameters: Parameters, line: str
) -> JaxprEqn:
    """An equation whose place in the source is the line named, not the line of whoever reads the file."""
    equation = jax.extend.core.new_jaxpr_eqn(operands, results, primitive, parameters, frozenset())
    names = type(equation.source_info.name_stack)()
    source = type(equation.source_info)(None, names.extend(line) if line else names)
    return equation.replace(source_info=source)
