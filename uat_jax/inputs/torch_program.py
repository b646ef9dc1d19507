"""Modules and exported programs of PyTorch as JAX functions of their weights and inputs."""

from __future__ import annotations

import importlib
import logging
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.errors import InputError, UatJaxError, UnsupportedError
from uat_jax.inputs.aten import NO_VALUE, RULES, dtype_of
from uat_jax.inputs.program import Program
from uat_jax.inputs.source_lines import called_at, of_stack
from uat_jax.typing import PyTree

KEPT = ("scaled_dot_product_attention",)
"""Operations that are not decomposed: the decomposition scales q and k by d^(-1/4), rounded to float32."""

STOPPING = "detach"
"""The operation through which no derivative goes; the decomposition makes an alias of it, through which it would."""

IGNORED = frozenset(["device", "layout", "pin_memory", "memory_format", "non_blocking"])
"""Options that say where and how an array is stored."""

READINGS = {"softplus.default": ("PyTorch's softplus, which is cut off beyond a threshold of 20 or more,", "softplus")}
"""Operations that are read as what they approximate within a rounding, with what a certificate says of that."""


def read_torch(source: PyTree, *inputs: PyTree, keep: Sequence[str] = KEPT) -> Program:
    """A PyTorch module as a JAX function `f(weights, *inputs)`; of one without parameters, `f(*inputs)`.

    Args:
        source: a `torch.nn.Module`, a `torch.export.ExportedProgram`, or the path of one that `torch.export.save`
            wrote.  Loading such a file trusts it: PyTorch says to open none from strangers.
        *inputs: of a module, its inputs: `jax.ShapeDtypeStruct`s of floats, integer arrays as they are.
        keep: operations that are not decomposed.

    Returns:
        A program whose `weights` are the module's parameters and float buffers by their names, as NumPy arrays, and
        whose first spec is a dictionary of theirs.  Other buffers are constants.  Several outputs are a tuple.

    Example:
        >>> program = uj.read_torch(torch.nn.Linear(3, 2), jax.ShapeDtypeStruct((4, 3), jnp.float32))
        >>> uj.certify(program, lambda weights, x: x @ weights["weight"].T + weights["bias"]).verdict
        CERTIFIED

    Raises:
        InputError: PyTorch is not installed, cannot export the module (control flow that depends on data, …), or the
            file is none of its own; the inputs are missing.
        UnsupportedError: the graph has an operation that is not read, changes a buffer, or has sizes left open.
    """
    torch = _torch()
    name, expression = type(source).__name__, ""
    if isinstance(source, str | Path):
        name, expression = str(source), f"uj.read_torch({str(source)!r})"
        source = _loaded(torch, Path(source))
    elif isinstance(source, torch.nn.Module):
        source = _exported(torch, source, inputs)
    elif not isinstance(source, torch.export.ExportedProgram):
        raise InputError(f"got a {name} for a program of PyTorch; pass a torch.nn.Module, an ExportedProgram or a path")
    return _Graph(torch, _core(torch, source, name, keep), name).program(expression)


def _torch() -> ModuleType:
    try:
        importlib.import_module("torch.export")
        return importlib.import_module("torch")
    except ImportError as error:
        raise InputError("PyTorch is not installed, which reads its modules: pip install 'uat_jax[torch]'") from error


def _loaded(torch: ModuleType, path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"cannot read {path}: there is no such file; name one that torch.export.save wrote")
    with _quiet():
        try:
            return torch.export.load(path)
        except Exception as error:  # whatever PyTorch's reader stumbles over
            raise InputError(f"{path} is no program of torch.export that can be read: {_line(error)}") from error


def _exported(torch: ModuleType, module: PyTree, inputs: Sequence[Any]) -> Any:
    name = type(module).__name__
    if not inputs:
        raise InputError(f"got {name} and no inputs; pass a spec for each, or export it with torch.export first")
    with _quiet():
        try:
            return torch.export.export(module, tuple(_tensor(torch, x) for x in inputs))
        except UatJaxError:
            raise
        except Exception as error:  # what the module raises, and what PyTorch cannot export, is the user's to read
            wanted = "control flow must not depend on values of tensors, and the inputs must fit"
            raise InputError(f"PyTorch cannot export {name}: {_line(error)}; {wanted}") from error


def _tensor(torch: ModuleType, spec: PyTree) -> Any:
    """An example of an input: zeros for floats, whose values do not count."""
    if not (hasattr(spec, "shape") and hasattr(spec, "dtype")):
        raise InputError(f"got a {type(spec).__name__} for an input of a module; pass jax.ShapeDtypeStruct or an array")
    if jnp.issubdtype(spec.dtype, jnp.floating) or isinstance(spec, jax.ShapeDtypeStruct):
        return torch.zeros(tuple(spec.shape), dtype=getattr(torch, str(spec.dtype)))
    return torch.from_numpy(np.array(spec))


def _core(torch: ModuleType, exported: Any, name: str, keep: Sequence[str]) -> Any:
    """The exported graph with all operations written in core operations, except those named in `keep`."""
    table = torch.export.default_decompositions()
    for overload in [o for o in table if str(o).split(".")[1] in (*keep, STOPPING)]:
        table.pop(overload)
    with _quiet():
        try:
            return exported.run_decompositions(table)
        except Exception as error:  # whatever PyTorch's own passes stumble over
            raise InputError(f"PyTorch cannot decompose {name}: {_line(error)}") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """PyTorch tells its log what it raises as well, with the graph."""
    before = logging.root.manager.disable
    with warnings.catch_warnings(), redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(before)


def _line(error: Exception) -> str:
    """What kind of error, and the first line of what it says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0].rstrip('.;') if lines else 'no message'}"[:240]


class _Graph:
    """A graph of core operations, its weights and its constants."""

    def __init__(self, torch: ModuleType, exported: Any, name: str):
        self.torch, self.name, self.nodes = torch, name, list(exported.graph.nodes)
        kinds = torch.export.graph_signature.InputKind
        values = {**exported.state_dict, **exported.constants}
        signature = exported.graph_signature
        self.inputs = [s.arg.name for s in signature.input_specs if s.kind == kinds.USER_INPUT]
        self.weights: dict[str, np.ndarray] = {}
        self.constants: dict[str, np.ndarray] = {}
        self.held: dict[str, str] = {}
        for spec in signature.input_specs:
            if spec.kind == kinds.USER_INPUT:
                continue
            array = _array(torch, values[spec.target])
            free = spec.kind in (kinds.PARAMETER, kinds.BUFFER) and spec.persistent is not False
            of = self.weights if free and jnp.issubdtype(array.dtype, jnp.floating) else self.constants
            of[spec.target], self.held[spec.arg.name] = array, spec.target
        outputs = torch.export.graph_signature.OutputKind
        changed = [s.target for s in signature.output_specs if s.kind != outputs.USER_OUTPUT]
        if changed:
            raise UnsupportedError(
                f"{name} changes its buffer {changed[0]!r} when it runs; call .eval() before exporting"
            )
        self._check()

    def _check(self) -> None:
        """Raises `UnsupportedError` if an operation is not read, or a size is left open."""
        called = [node for node in self.nodes if node.op == "call_function" and node.target is not operator.getitem]
        names = dict.fromkeys(_overload(node) for node in called)
        if unknown := [name for name in names if name not in RULES and name not in NO_VALUE]:
            raise UnsupportedError(
                f"{self.name} uses {', '.join(unknown)}, which is not read; in eval() mode it may not"
            )
        for node in self.nodes:
            meaning = node.meta.get("val")
            if isinstance(meaning, self.torch.Tensor) and not all(isinstance(size, int) for size in meaning.shape):
                raise UnsupportedError(f"{self.name} was exported with sizes left open; export it with fixed ones")
        self.readings = dict(READINGS[name] for name in names if name in READINGS)

    def program(self, expression: str) -> Program:
        """The function of weights and inputs."""
        meanings = {node.name: node.meta.get("val") for node in self.nodes if node.op == "placeholder"}
        for name in self.inputs:
            if not isinstance(meanings[name], self.torch.Tensor):
                raise UnsupportedError(f"{self.name} takes {name!r}, which is no tensor; export it with tensors only")
        specs: tuple[PyTree, ...] = tuple(_spec(meanings[name]) for name in self.inputs)
        function: Callable = lambda *inputs: self({}, *inputs)
        if self.weights:
            function = self
            specs = ({name: jax.ShapeDtypeStruct(a.shape, a.dtype) for name, a in self.weights.items()}, *specs)
        parameters = (*(["weights"] if self.weights else []), *self.inputs)
        return Program(
            function,
            specs,
            name=self.name,
            source=expression,
            readings=self.readings,
            weights=self.weights,
            parameters=parameters,
        )

    def __call__(self, weights: Mapping[str, PyTree], *inputs: PyTree) -> Any:
        """The outputs, for weights by name.

        Raises:
            InputError: another number of inputs, or weights that are not those of the module.
            UnsupportedError: an operation with an option that is not read.
        """
        if len(inputs) != len(self.inputs):
            raise InputError(
                f"{self.name} takes {len(self.inputs)} inputs: {', '.join(self.inputs)}; got {len(inputs)}"
            )
        if missing := [name for name in self.weights if name not in weights]:
            raise InputError(f"{self.name} has the weight {missing[0]!r}, which was not given")
        with jax.enable_x64(True):  # places are int64 in PyTorch, whatever the caller does
            given = dict(zip(self.inputs, inputs, strict=True))
            values: dict[str, PyTree] = {}
            for node in self.nodes:
                if node.op == "placeholder":
                    values[node.name] = self._placed(node, given, weights)
                elif node.op == "output":
                    return self._outputs(node, values)
                elif node.op == "call_function":
                    place = of_stack(node.meta.get("stack_trace"))
                    values[node.name] = called_at(place, partial(self._applied, node, values))
        raise InputError(f"{self.name} has no output")

    def _placed(self, node: Any, given: Mapping[str, Any], weights: Mapping[str, PyTree]) -> Any:
        """An input, a weight or a constant."""
        spec, target = _spec(node.meta["val"]), str(self.held.get(node.name, node.name))
        value = given[target] if node.name in given else weights.get(target, self.constants.get(target))
        value = jnp.asarray(value)
        if not jnp.issubdtype(spec.dtype, jnp.floating):
            value = value.astype(spec.dtype)
        if (value.shape, value.dtype) != (spec.shape, spec.dtype):
            got, wanted = (f"{of.dtype}{list(of.shape)}" for of in (value, spec))
            raise InputError(f"{self.name} takes {target} as {wanted}; got {got}")
        return value

    def _outputs(self, node: Any, values: Mapping[str, PyTree]) -> Any:
        listed = [of for of in node.args[0] if of is not None]
        if others := [of for of in listed if not isinstance(of, self.torch.fx.Node)]:
            raise UnsupportedError(f"{self.name} returns {others[0]!r}, which is no tensor; return tensors only")
        found = tuple(self._made(of, values) for of in listed)
        return found[0] if len(found) == 1 else found

    def _made(self, node: Any, values: Mapping[str, PyTree]) -> Any:
        """What a node returned.  Raises `UnsupportedError` if its rule leaves that result out."""
        value = values[node.name]
        if value is None:
            raise UnsupportedError(f"{self.name} needs {node.name}, a result of an operation that is not read")
        return value

    def _applied(self, node: Any, values: Mapping[str, PyTree]) -> Any:
        """What an operation returns, of the shape and dtype that PyTorch says."""
        at = lambda x: jax.tree.map(
            lambda leaf: self._made(leaf, values) if isinstance(leaf, self.torch.fx.Node) else leaf,
            list(x) if isinstance(x, list | tuple) else x,
            is_leaf=lambda leaf: leaf is None or isinstance(leaf, self.torch.fx.Node),
        )
        arguments = [at(x) for x in node.args]
        options = {key: at(x) for key, x in node.kwargs.items() if key not in IGNORED}
        if node.target is operator.getitem:
            return arguments[0][arguments[1]]
        name = _overload(node)
        if name in NO_VALUE:
            return None
        try:
            result = RULES[name](*arguments, **options)
        except UnsupportedError as error:
            raise UnsupportedError(f"{self.name} uses {name} with {error}") from error
        except (TypeError, ValueError, IndexError, OverflowError, NotImplementedError) as error:
            raise UnsupportedError(f"{self.name} uses {name} in a way that is not read: {_line(error)}") from error
        self._check_meaning(name, result, node.meta.get("val"))
        return result

    def _check_meaning(self, name: str, result: Any, meaning: Any) -> None:
        """Raises `UnsupportedError` if a rule returns another shape or dtype than PyTorch."""
        several = isinstance(meaning, list | tuple)
        for one, wanted in zip(result, meaning, strict=False) if several else [(result, meaning)]:
            if not isinstance(wanted, self.torch.Tensor) or one is None:
                continue
            spec = _spec(wanted)
            if (tuple(one.shape), one.dtype) != (spec.shape, spec.dtype):
                got, said = (f"{of.dtype}{list(of.shape)}" for of in (one, spec))
                raise UnsupportedError(f"{self.name} uses {name}, of which PyTorch makes {said} and its rule {got}")


def _overload(node: Any) -> str:
    """Such as add.Tensor."""
    return str(node.target).removeprefix("aten.")


def _spec(tensor: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(tuple(tensor.shape), dtype_of(tensor.dtype))


def _array(torch: ModuleType, tensor: Any) -> np.ndarray:
    """The values of a tensor; NumPy has no bfloat16 of its own."""
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        return np.asarray(tensor.float().numpy()).astype(jnp.bfloat16)
    return tensor.numpy().copy()
