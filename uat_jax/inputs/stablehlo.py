"""StableHLO and `jax.export` artifacts as JAX functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import jax
import numpy as np
from jax.extend.mlir import ir

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.inputs import custom_calls
from uat_jax.inputs.mlir_parsing import BYTECODE, parsed, parsed_carefully
from uat_jax.inputs.mlir_values import attribute, dtype_of, is_static, spec_of
from uat_jax.inputs.newer_bytecode import NEWER, OLDER, NotReadError, downgraded
from uat_jax.inputs.program import Program
from uat_jax.inputs.rules import CHLO, FUNCTIONS, Call, read, repeated_written, rule, spread
from uat_jax.inputs.source_lines import called_at, of_location
from uat_jax.inputs.written_out import recognized, stands_for
from uat_jax.typing import Array, PyTree


def read_stablehlo(source: str | bytes | Path | jax.export.Exported) -> Program:
    """A program in StableHLO as a JAX function with its specs attached.

    Args:
        source: a path, or text or bytes: MLIR text, portable bytecode, or an artifact that `jax.export` serialized,
            with this version of JAX or another; or a `jax.export.Exported`.

    Returns:
        A function of the inputs, in the artifact's trees; of plain MLIR, of as many arrays as `main` has.

    Example:
        >>> exported = jax.export.export(jax.jit(jnp.tanh))(jax.ShapeDtypeStruct((3,), jnp.float32))
        >>> uj.certify(jnp.tanh, uj.read_stablehlo(exported.serialize())).verdict
        PROVED

    Raises:
        InputError: there is no such file, or it is no program; says what MLIR or JAX says of it.
        UnsupportedError: an operation, a custom call or a type that is not read, side effects or tokens; names it.
    """
    if isinstance(source, jax.export.Exported):
        return _of_exported(source, source.fun_name or "artifact", parsed)
    if isinstance(source, str | bytes | bytearray) and not source.strip():
        raise InputError("got an empty program; give the text of StableHLO, an artifact of jax.export or a file's name")
    if isinstance(source, Path) or isinstance(source, str) and "\n" not in source and "(" not in source:
        return _of_bytes(_content(Path(source)), str(source), f"uj.read_stablehlo({str(source)!r})")
    if not isinstance(source, str | bytes | bytearray):
        raise InputError(
            f"got a {type(source).__name__} for StableHLO; pass a path, text, bytes or a jax.export.Exported"
        )
    content = source.encode() if isinstance(source, str) else bytes(source)
    return _of_bytes(content, "the program", "")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror}; name a file of StableHLO or a jax.export artifact"
        ) from error


def _of_bytes(content: bytes, name: str, expression: str) -> Program:
    if content.startswith(BYTECODE) or _is_text(content):
        return of_module(_module(content, name, parsed_carefully), name, expression)
    return _of_exported(_deserialized(content, name), name, parsed_carefully, expression)


def _is_text(content: bytes) -> bool:
    """Whether it looks like text: an artifact begins with the place of a table, which has a zero byte."""
    return b"\0" not in content[:64]


def _deserialized(content: bytes, name: str) -> jax.export.Exported:
    try:
        return jax.export.deserialize(bytearray(content))
    except ImportError as error:
        raise InputError(f"{name} is an artifact of jax.export: pip install 'uat_jax[export]' to read it") from error
    except Exception as error:  # whatever stumbles over bytes that are no artifact
        wanted = "it is no StableHLO and no artifact of jax.export, or is cut off; export it again"
        raise InputError(f"{name} cannot be read: {wanted}") from error


def _module(content: bytes, name: str, parse: Callable[[bytes], ir.Module]) -> ir.Module:
    try:
        return _parsed_as_older(content, parse) if NEWER in content else parse(content)
    except ValueError as error:
        raise InputError(f"{name} cannot be read as StableHLO: {error}") from error


def _parsed_as_older(content: bytes, parse: Callable[[bytes], ir.Module]) -> ir.Module:
    """The module of bytecode that a newer JAX may have written."""
    try:
        return parse(content)
    except ValueError as error:
        try:
            module = parse(downgraded(content))
        except NotReadError as refused:
            raise ValueError(f"{error}: {refused}") from refused
        if OLDER.decode() in str(module):  # a string of the program had the operation's name, and was changed with it
            raise
        return module


def _of_exported(
    exported: jax.export.Exported, name: str, parse: Callable[[bytes], ir.Module], expression: str = ""
) -> Program:
    """The function that was exported, of arguments in its trees."""
    if exported.ordered_effects or exported.unordered_effects:
        raise UnsupportedError(
            f"{name} has side effects, which a function has not; export it without prints and callbacks"
        )
    inner = of_module(_module(exported.mlir_module_serialized, name, parse), name, expression)
    avals = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in exported.in_avals]
    specs, keywords = jax.tree.unflatten(exported.in_tree, avals)

    def function(*arguments: PyTree) -> PyTree:
        given = (
            (arguments, {})
            if not keywords
            else (arguments[: len(specs)], dict(zip(keywords, arguments[len(specs) :], strict=True)))
        )
        leaves, tree = jax.tree.flatten(given)
        if tree != exported.in_tree:
            raise InputError(f"{name} takes {exported.in_tree}; got {tree}")
        kept = [leaves[i] for i in exported.module_kept_var_idx]
        results = inner.function(*kept)
        return jax.tree.unflatten(exported.out_tree, results if isinstance(results, tuple) else (results,))

    return Program(function, (*specs, *keywords.values()), name=name, source=expression, readings=inner.readings)


def of_module(module: ir.Module, name: str, expression: str = "") -> Program:
    """The function `main` of a module, of arrays."""
    reader = _Reader(module, name)

    def function(*arguments: PyTree) -> PyTree:
        results = tuple(reader(arguments))
        return results[0] if len(results) == 1 else results

    return Program(function, reader.specs, name=name, source=expression, readings=reader.readings)


Value = Array
"""An array of JAX; an array of NumPy if it is known while the program is traced, as constants and sizes are."""

MOST_OPERATIONS = 100_000
"""A program that applies more operations, each function counted as often as it is called, is refused."""

ANY_VALUES = frozenset("func.call stablehlo.case stablehlo.custom_call stablehlo.while".split())
"""Operations that are applied to numbers that are known like to others."""

CONSTANT, PLATFORM = "jax.global_constant", "_platform_index"
"""The attribute of an input of `main` that JAX gives, and its value for the platform, which counts from 0."""

NO_EFFECT_NEEDED = frozenset(["shape_assertion", *custom_calls.PLACEMENT])
"""Custom calls that say that they have an effect, and have none on values."""


class _Reader:
    """A module, whose functions are evaluated on arrays of JAX.

    ``open``: whether some sizes, or the platform, are known only when it is called.  Whole numbers that are made of
    them are computed while it is traced.
    """

    def __init__(self, module: ir.Module, name: str):
        self.module, self.name = module, name
        self.functions = dict(self._functions())
        self.main = self._main()
        self.readings: dict[str, str] = {}
        self._plans: dict[ir.Block, list[_Step]] = {}
        self._called: list[str] = []
        self._count = 0
        for function in self.functions.values():
            self._check(function)
        stood = ((name, stands_for(function, self.functions)) for name, function in self.functions.items())
        self.written = {name: found for name, found in stood if found is not None and name != "main"}
        (self._body,) = self.main.regions[0].blocks
        self.open = len(self._arguments) < len(self._body.arguments) or not all(
            is_static(a.type) for a in self._arguments
        )
        self._look_ahead()

    def _functions(self) -> Iterator[tuple[str, ir.Operation]]:
        for view in self.module.body.operations:
            operation = view.operation
            if operation.name == "func.func":
                yield str(operation.attributes["sym_name"]).strip('"'), operation
            elif operation.name != "sdy.mesh":
                raise UnsupportedError(f"{self.name} holds a {operation.name}, which is not read; only functions are")

    def _main(self) -> ir.Operation:
        found = self.functions.get("main") or (list(self.functions.values())[0] if len(self.functions) == 1 else None)
        if found is None or len(found.regions[0].blocks) != 1:
            among = ", ".join(self.functions) or "none"
            raise InputError(f"{self.name} has no function main with a body of one block; got {among}")
        return found

    def _check(self, function: ir.Operation) -> None:
        """Raises `UnsupportedError` if an operation anywhere in a function is not read."""
        with _named(self.name):
            for value in (a for block in _blocks(function) for a in block.arguments):
                dtype_of(value.type)
        for operation in _within(function):
            name = operation.name
            if name in ("func.return", "stablehlo.return"):
                continue
            if rule(name) is None:
                raise UnsupportedError(f"{self.name} uses {name}, which is not read")
            if name == "stablehlo.custom_call":
                self._check_call(operation)
            for value in (*operation.operands, *operation.results):
                with _named(self.name):
                    dtype_of(value.type)

    def _check_call(self, operation: ir.Operation) -> None:
        target = str(operation.attributes["call_target_name"]).strip('"')
        effect = attribute(operation, "has_side_effect")
        if effect is not None and effect.value and target not in NO_EFFECT_NEEDED:
            raise UnsupportedError(f"{self.name} calls {target!r}, which has a side effect; export it without")
        if not custom_calls.known(target):
            raise UnsupportedError(f"{self.name} calls back to Python with {target!r}; an artifact cannot say to what")

    @property
    def _arguments(self) -> list[ir.Value]:
        """The arguments of `main` that are inputs: some are constants of the artifact, such as its platform."""
        attributes = attribute(self.main, "arg_attrs") or ()
        constants = {i: str(of[CONSTANT]).strip('"') for i, of in enumerate(attributes) if CONSTANT in of}
        if sizes := [name for name in constants.values() if name != PLATFORM]:
            raise UnsupportedError(f"{self.name} is told its size {sizes[0]} by JAX; write it with jax.export instead")
        return [a for i, a in enumerate(self._body.arguments) if i not in constants]

    @property
    def specs(self) -> tuple[jax.ShapeDtypeStruct, ...]:
        """What `main` takes; () if a size is left open."""
        kinds = [a.type for a in self._arguments]
        return tuple(map(spec_of, kinds)) if all(map(is_static, kinds)) else ()

    def __call__(self, arguments: Sequence[PyTree]) -> list[Value]:
        """The results of `main`.

        Raises:
            InputError: another number of arguments, another shape or dtype, or a program that is too long.
            UnsupportedError: something that is not read.
        """
        inputs = self._arguments
        if len(arguments) != len(inputs):
            raise InputError(f"{self.name} takes {len(inputs)} inputs; got {len(arguments)}")
        self._count = 0
        with jax.enable_x64(True), _named(self.name):  # modules count in 64 bits, whatever the caller does
            given = iter(jax.numpy.asarray(a) for a in arguments)
            values = [next(given) if a in inputs else np.asarray(0, np.int32) for a in self._body.arguments]
            for value, argument in zip(values, self._body.arguments, strict=True):
                _check_fits(value, argument.type)
            return [jax.numpy.asarray(spread(value)) for value in self._block(self._body, {}, values)]

    def _look_ahead(self) -> None:
        """Find everything that is read as a function, so that it is known before the program is called."""
        waiting, seen = [self.main], set()
        while waiting:
            for block in _blocks(waiting.pop()):
                for operation, found in self._plan(block):
                    name = None if found else _callee(operation)
                    if name in self.functions and name not in seen:
                        seen.add(name)
                        waiting.append(self.functions[name])

    def _plan(self, block: ir.Block) -> list[_Step]:
        """The operations that a block's results need, in their order, and what each of them is read as."""
        if block not in self._plans:
            needed: set[ir.Value] = set()
            steps: list[_Step] = []
            for view in reversed(list(block.operations)):
                operation = view.operation
                last = operation.name in ("func.return", "stablehlo.return")
                asserted = operation.name == "stablehlo.custom_call" and not len(operation.results)
                if not (last or asserted or any(result in needed for result in operation.results)):
                    continue
                found = recognized(operation, self.written)
                if found is not None:
                    self.readings[f"what JAX writes out for {found[0]}"] = found[0]
                named = _named_function(operation)
                if named is not None:
                    self.readings[f"the composite {named}"] = named.removeprefix("chlo.")
                needed |= set(_uses(operation)) if found is None else {found[1]}
                steps.append((operation, found))
            self._plans[block] = steps[::-1]
        return self._plans[block]

    def _block(self, block: ir.Block, outer: Mapping[ir.Value, Value], arguments: Sequence[Value]) -> list[Value]:
        values = {**outer, **dict(zip(block.arguments, arguments, strict=True))}
        for operation, found in self._plan(block):
            self._count += 1
            if self._count > MOST_OPERATIONS:
                raise InputError(f"more than {MOST_OPERATIONS} operations are applied; split the program")
            if operation.name in ("func.return", "stablehlo.return"):
                return [values[operand] for operand in operation.operands]
            step = partial(self._applied, operation, values)
            if found is not None:
                step = partial(_function_of, FUNCTIONS[found[0]], values[found[1]])
            results = called_at(of_location(str(operation.location), self.name), step)
            for result, value in zip(operation.results, results, strict=True):
                _check_fits(value, result.type)
                values[result] = value
        raise InputError("a block returns nothing")

    def _applied(self, operation: ir.Operation, values: Mapping[ir.Value, Value]) -> list[Value]:
        """The results of an operation.

        While sizes are open, results of whole numbers that are known are computed at once, so that they are known too.
        """
        operands = [values[operand] for operand in operation.operands]
        if not self.open:
            operands = repeated_written(operation.name, operands)
        call = Call(
            operation,
            operands,
            lambda i: lambda *arguments: self._block(operation.regions[i].blocks[0], values, arguments),
            lambda name: partial(self._function, name),
            values.__getitem__,
        )
        known = operands and all(isinstance(x, np.ndarray) and x.dtype.kind in "iub" for x in operands)
        if not (known and self.open) or operation.name in ANY_VALUES:
            return read(call)
        with jax.ensure_compile_time_eval():
            return [np.asarray(x) for x in read(call)]

    def _function(self, name: str, *arguments: Value) -> list[Value]:
        if name in self._called:
            raise UnsupportedError(f"a function {name} that calls itself, which is not read")
        if name not in self.functions:
            raise InputError(f"there is no function {name}")
        self._called.append(name)
        try:
            return self._block(self.functions[name].regions[0].blocks[0], {}, arguments)
        finally:
            self._called.pop()


def _function_of(function: Callable, value: Value) -> list[Value]:
    return [function(spread(value))]


_Step = tuple[ir.Operation, tuple[str, ir.Value] | None]
"""An operation, and the function of a value that it is read as, if it is the last step of one that is written out."""


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Refusals say what was read."""
    try:
        yield
    except UnsupportedError as error:
        raise error if str(error).startswith(name) else UnsupportedError(f"{name} holds {error}") from error
    except RecursionError as error:
        raise InputError(f"{name} is nested too deeply to be read") from error


def _check_fits(value: Value, kind: ir.Type) -> None:
    """Raises `InputError` unless an array has the type that the program says, as far as it says it."""
    tensor = ir.RankedTensorType(kind)
    fits = len(value.shape) == tensor.rank and value.dtype == dtype_of(kind)
    sizes = [n for n in range(tensor.rank) if not tensor.is_dynamic_dim(n)] if fits else []
    if not fits or any(value.shape[n] != tensor.get_dim_size(n) for n in sizes):
        raise InputError(f"got {value.dtype}{list(value.shape)} where the program says {kind}")


def _blocks(operation: ir.Operation) -> Iterator[ir.Block]:
    for region in operation.regions:
        for block in region.blocks:
            yield block
            for inner in block.operations:
                yield from _blocks(inner.operation)


def _within(operation: ir.Operation) -> Iterator[ir.Operation]:
    for block in _blocks(operation):
        for view in block.operations:
            yield view.operation


def _uses(operation: ir.Operation) -> Iterator[ir.Value]:
    """The values that an operation needs, also from within."""
    yield from operation.operands
    for inner in _within(operation):
        yield from inner.operands


def _callee(operation: ir.Operation) -> str | None:
    """The function that an operation calls, if it does not stand for one of JAX."""
    key = {"func.call": "callee", "stablehlo.composite": "decomposition"}.get(operation.name)
    if key is None or _named_function(operation) is not None:
        return None
    return str(operation.attributes[key]).removeprefix("@").strip('"')


def _named_function(operation: ir.Operation) -> str | None:
    """The name of a composite that is read as a function of JAX, whatever it is composed of."""
    if operation.name != "stablehlo.composite":
        return None
    name = str(operation.attributes["name"]).strip('"')
    return name if name.startswith("chlo.") and name.removeprefix("chlo.") in (*CHLO, "top_k") else None
