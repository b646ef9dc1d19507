"""The inputs of two functions: which of their entries are variables, and at which sizes they are looked at.

A float leaf is a variable: only its shape and dtype count. A complex leaf is two, its real and its imaginary part. A
spec of integers or booleans is a variable as well, over all values of its dtype or a range; an array of them is fixed:
its values count too.
Dimensions may be symbolic (`jax.export.symbolic_shape`): the functions are looked at in several sizes.
"""

import dataclasses
import functools
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jax.tree_util import keystr, tree_flatten_with_path

from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.domain import REALS, Domains, Restricted, domain_of, parse_domain, parse_integers
from uat_jax.decide.expansion import expanded
from uat_jax.decide.integers import SHORT_WHOLE, WHOLE, Integers
from uat_jax.decide.outside_names import is_call
from uat_jax.decide.static_arguments import with_static
from uat_jax.errors import (
    ConcreteValueError,
    InputError,
    OutputsError,
    StaticArgumentError,
    UatJaxError,
    UnsupportedError,
)
from uat_jax.inputs.snapshot import snapshot
from uat_jax.interpret.interpreter import programs_within
from uat_jax.interpret.tracing import dtype_of, is_complex, source_line
from uat_jax.numbers.complex.real_parts import in_real_parts
from uat_jax.numbers.indexed.constraints import constraints_of, derived, fitting
from uat_jax.numbers.indexed.dimension import smallest
from uat_jax.typing import PyTree

FLOATS = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
"""The dtypes of real variables, by their short name."""

COMPLEX = {"complex64": "float32", "complex128": "float64"}
"""The dtypes of complex variables, and those of their parts."""

SHORT = {**FLOATS, "c64": "complex64", "c128": "complex128"}
"""The dtypes of real and complex variables, by the short name that `parse` reads."""

WIDE = ("float64", "complex128", "int64", "uint64")
"""The dtypes of inputs for which JAX's 64-bit types are on."""

_FOR_EFFECT = "which is called for its effect; remove it"

CALLBACKS = {
    "pure_callback": "which only raises an error or never ends; remove it",
    "io_callback": "which may do anything; use jax.pure_callback if it is a function of its operands",
    "debug_callback": _FOR_EFFECT,
    "debug_print": _FOR_EFFECT,
}
"""Primitives that leave JAX for the host and are not followed, and why; other calls are written out before."""

KEY = "key"
"""The text for an input that is any random key."""

ABOVE = 4
"""What is compared with a number is seen at sizes so much larger: i <= k, or a place behind it."""

SMALLER = 256
"""So many smaller sizes are looked at for one at which two functions differ as well."""

Sizes = Mapping[str, int]
"""The size of every symbolic dimension, by name."""


@dataclass(frozen=True)
class Specification:
    """The arguments of a function: a tuple of pytrees of `jax.ShapeDtypeStruct`, arrays, or inputs with a domain.

    ``listed``: the sizes of the symbolic dimensions at which two functions are compared, if the user lists them.  Then
    they are the claim.

    Raises:
        InputError: a leaf that is neither, or empty; symbolic dimensions of several scopes; listed sizes that are not
            one positive number for each symbolic dimension.
    """

    arguments: tuple[Any, ...]
    listed: tuple[Sizes, ...] | None = None

    def __post_init__(self) -> None:
        leaves, _ = tree_flatten_with_path(self.arguments)
        for path, leaf in leaves:
            _check_leaf(keystr(path), leaf)
        if not any(is_variable(leaf) for _, leaf in leaves):
            raise InputError(
                "got no input that is a variable; pass at least one array of floats, or one jax.ShapeDtypeStruct: "
                "numbers and texts of Python are fixed"
            )
        if len({id(d.scope) for d in self._symbolic}) > 1:
            raise InputError(
                "got symbolic dimensions of several scopes; make them all with one scope=jax.export.SymbolicScope()"
            )
        if self.listed is not None:
            _check_listed(self.listed, self.symbols)

    @property
    def whole(self) -> bool:
        """Whether an input is a variable of integers or booleans."""
        return any(map(is_whole, jax.tree.leaves(self.arguments)))

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What is taken as given: the values of the integer inputs."""
        fixed = [(i, keystr(path)) for i, (path, leaf) in enumerate(self.inputs) if not is_variable(leaf)]
        return tuple(Assumption(AssumptionKind.FIXED_INPUT, {"position": i, "name": name}) for i, name in fixed)

    @cached_property
    def inputs(self) -> list[tuple[Any, Any]]:
        """Every leaf with its path; a complex one twice, as its real and its imaginary part."""
        leaves, _ = tree_flatten_with_path(self.arguments)
        return [(path, part) for path, leaf in leaves for part in (parts_of(leaf) if is_variable(leaf) else [leaf])]

    @cached_property
    def domains(self) -> Domains:
        """What the variables range over, in the order of `parts_of`; () if all are any real numbers."""
        of = tuple(domain_of(part) for part in parts_of(self.arguments))
        return Domains(of if any(domain != REALS for domain in of) else ())

    def hypotheses(self, names: Sequence[str]) -> tuple[Assumption, ...]:
        """The domains of the inputs; `names` are those of the variables."""
        variables = [(i, part) for i, (_, part) in enumerate(self.inputs) if is_variable(part)]
        named = [(i, name, domain_of(part)) for (i, part), name in zip(variables, names, strict=True)]
        return tuple(hypothesis(i, name, domain) for i, name, domain in named if domain.text)

    @property
    def _symbolic(self) -> list[Any]:
        dimensions = (d for leaf in jax.tree.leaves(self.arguments) for d in leaf.shape)
        return [d for d in dimensions if jax.export.is_symbolic_dim(d)]

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbolic dimensions, sorted."""
        return tuple(sorted({name for dimension in self._symbolic for name in dimension.get_vars()}))

    @cached_property
    def constraints(self) -> list[str]:
        """The constraints of the symbolic dimensions, as JAX prints them."""
        return constraints_of(self._symbolic[0].scope) if self._symbolic else []

    def sizes_to_try(self) -> tuple[Sizes, ...]:
        """The sizes at which two functions are compared; one empty assignment if nothing is symbolic.

        Those that the user listed, or else, counted from the smallest that fit: every dimension 1; then 2, 3, 4, … in
        the order of their names, pairwise different; then 3, 4, 5, … in the reverse order, so that no two dimensions
        keep their order; then 5, 6, 7, … and, reversed, 8, 9, 10, …, because a slice or a window of a few entries is
        all of a short array.
        """
        if self.listed is not None:
            return tuple({name: sizes[name] for name in self.symbols} for sizes in self.listed)
        count = len(self.symbols)
        up, down = (lambda first: range(first, first + count)), (lambda first: range(first + count - 1, first - 1, -1))
        rows = ([1] * count, up(2), down(3), up(5), down(8)) if count else ([],)
        found, least = derived(self.constraints), self._smallest
        sizes = [{n: least[n] - 1 + size for n, size in zip(self.symbols, row, strict=True)} for row in rows]
        return tuple({tuple(s.items()): s for s in (fitting(row, found) for row in sizes)}.values())

    def sizes_beyond(self, numbers: Sequence[int]) -> tuple[Sizes, ...]:
        """Sizes a little above each of some numbers: all dimensions, and one alone while the others are small."""
        found, least = derived(self.constraints), self._smallest
        count = range(len(self.symbols))
        rows = [[n + ABOVE + i for i in count] for n in numbers]
        rows += [[n + ABOVE if i == one else 2 + i for i in count] for n in numbers for one in count if len(count) > 1]
        sizes = [{n: max(least[n], size) for n, size in zip(self.symbols, row, strict=True)} for row in rows]
        return tuple({tuple(s.items()): s for s in (fitting(row, found) for row in sizes)}.values())

    @cached_property
    def _smallest(self) -> dict[str, int]:
        """The smallest value of each size by the constraints, as far as JAX can tell."""
        if not self.symbols:
            return {}
        symbols = jax.export.symbolic_shape(", ".join(self.symbols), scope=self._symbolic[0].scope)
        return {name: smallest(symbol) for name, symbol in zip(self.symbols, symbols, strict=True)}

    def smaller_sizes(self, sizes: Sizes) -> Iterator[Sizes]:
        """The first `SMALLER` assignments up to `sizes` in every dimension, in the order of their sum."""
        ranges = [range(1, sizes[name] + 1) for name in self.symbols]
        for row in sorted(product(*ranges), key=lambda row: (sum(row), row))[:SMALLER]:
            yield dict(zip(self.symbols, row, strict=True))

    def at(self, sizes: Sizes) -> tuple[Any, ...]:
        """The arguments with every symbolic dimension evaluated: pytrees of concrete shapes and fixed arrays.

        Raises:
            InputError: the sizes break a constraint of the dimensions, or make one of them 0.
        """
        if not self.symbols:
            return self.arguments
        try:
            shapes = jax.eval_shape(self._shapes.call, *(_float32(sizes[name]) for name in self.symbols))
        except ValueError as error:
            raise InputError(f"{_first_line(error).split('. ')[0]}; choose sizes that fit") from error
        evaluated = iter(row.shape[0] for row in shapes)
        return Specification(
            jax.tree.map(lambda leaf: _with_shape(leaf, evaluated) if is_variable(leaf) else leaf, self.arguments)
        ).arguments

    @cached_property
    def _shapes(self) -> jax.export.Exported:
        """Rows of the symbols' sizes → rows of the symbolic dimensions' sizes: JAX checks the constraints."""
        symbols = jax.export.symbolic_shape(", ".join(self.symbols), scope=self._symbolic[0].scope)
        rows = lambda *_: [jnp.zeros((dimension,), jnp.float32) for dimension in self._symbolic]
        return jax.export.export(jax.jit(rows))(*map(_float32, symbols))


def specified(specs: tuple[PyTree, ...], sizes: Sequence[Sizes] | None, almost_everywhere: bool) -> Specification:
    """The inputs that were given as specs, at the listed sizes if there are any.

    Raises:
        InputError: see `Specification`; or almost everywhere is asked for where no input is a real number.
    """
    leaves = [leaf for leaf in jax.tree.leaves(specs) if hasattr(leaf, "dtype")]
    if almost_everywhere and leaves and not any(map(is_real, leaves)):
        raise InputError(
            "got almost_everywhere=True and no floating-point input; it has no effect on integers: leave it out"
        )
    if sizes is not None and not isinstance(sizes, list | tuple):
        raise InputError(f"got {type(sizes).__name__} for sizes; {SIZES_WANTED}")
    return Specification(specs, None if sizes is None else tuple(sizes))


def hypothesis(position: int, name: str, domain: Any) -> Assumption:
    """That an input ranges over a domain."""
    where = {"position": position, "name": name}
    if isinstance(domain, Integers):
        ends = {"low": domain.low, "high": domain.high, "read_off": domain.read_off}
        return Assumption(AssumptionKind.INTEGERS, {**where, **ends})
    return Assumption(AssumptionKind.DOMAIN, {**where, "domain": domain.text})


SIZES_WANTED = 'write a list such as sizes=[{"n": 4, "m": 3}, {"n": 8, "m": 2}]'


def _check_listed(listed: Sequence[Any], symbols: tuple[str, ...]) -> None:
    """Raises `InputError` unless every entry gives every symbolic dimension a positive number, no two the same ones."""
    if not listed or not all(isinstance(sizes, Mapping) for sizes in listed):
        raise InputError(f"got sizes={list(listed)!r}; {SIZES_WANTED}")
    if not symbols:
        raise InputError("got sizes, and no input has a symbolic dimension; leave them out")
    for place, sizes in enumerate(listed):
        if sorted(map(str, sizes)) != sorted(symbols):
            wanted = f"wanted one size for each of {', '.join(symbols)}"
            raise InputError(f"got sizes of {', '.join(map(str, sizes)) or 'nothing'}; {wanted}")
        for name, size in sizes.items():
            if type(size) is not int or size < 1:
                raise InputError(f"got {name} = {size!r}; wanted a whole number, at least 1")
        if sizes in listed[:place]:
            raise InputError(f"got the sizes {sizes_text(sizes)} twice; list them once")


def _float32(length: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((length,), jnp.float32)


def _with_shape(leaf: PyTree, evaluated: Iterator[int]) -> jax.ShapeDtypeStruct | Restricted:
    shape = tuple(next(evaluated) if jax.export.is_symbolic_dim(d) else d for d in leaf.shape)
    domain = domain_of(leaf)
    return jax.ShapeDtypeStruct(shape, leaf.dtype) if domain == REALS else Restricted(shape, leaf.dtype, domain)


def is_variable(leaf: PyTree) -> bool:
    """Whether the entries of a leaf are variables."""
    return is_real(leaf) or is_whole(leaf)


def is_whole(leaf: PyTree) -> bool:
    """Whether a leaf is of integers or booleans without values, so that its entries are variables."""
    return isinstance(leaf, jax.ShapeDtypeStruct | Restricted) and str(leaf.dtype) in WHOLE


def is_real(leaf: PyTree) -> bool:
    """Whether a leaf is floating-point or complex, so that its entries are variables, or a key without a value."""
    return jnp.issubdtype(leaf.dtype, jnp.inexact) or is_key(leaf.dtype) and not isinstance(leaf, jax.Array)


def is_key(dtype: Any) -> bool:
    """Whether a dtype is one of random keys; None, of what has no dtype, is not."""
    return dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key)


def parts_of(arguments: Any) -> list[Any]:
    """The real variables of some arguments, in the order of `jax.tree.leaves`: both parts of a complex leaf."""
    variables = [leaf for leaf in jax.tree.leaves(arguments) if is_variable(leaf)]
    part = lambda leaf: jax.ShapeDtypeStruct(leaf.shape, jnp.dtype(COMPLEX[str(leaf.dtype)]))
    return [real for leaf in variables for real in ([part(leaf)] * 2 if is_complex(leaf.dtype) else [leaf])]


def _check_leaf(path: str, leaf: PyTree) -> None:
    if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
        wanted = "pass an array or a jax.ShapeDtypeStruct, or bind it with functools.partial"
        if dataclasses.is_dataclass(leaf):
            wanted = "JAX knows its fields once jax.tree_util.register_dataclass is called with the class"
        raise InputError(f"input {path} is a {type(leaf).__name__}; {wanted}")
    if any(not jax.export.is_symbolic_dim(d) and d < 1 for d in leaf.shape):
        raise InputError(f"input {path} has shape {leaf.shape}; every dimension must be at least 1")
    if is_variable(leaf):
        if not is_key(leaf.dtype) and str(leaf.dtype) not in {*SHORT.values(), *WHOLE}:
            raise InputError(f"input {path} has dtype {leaf.dtype}; use {', '.join(SHORT.values())}")
    elif isinstance(leaf, jax.ShapeDtypeStruct):
        wanted = f"use {', '.join(SHORT_WHOLE.values())}, or close over an array"
        if jnp.issubdtype(leaf.dtype, jnp.integer):  # of fewer than 8 bits
            low, high, wider = jnp.iinfo(leaf.dtype).min, jnp.iinfo(leaf.dtype).max, str(leaf.dtype).rstrip("24") + "8"
            wanted = f"use uj.integers of a spec of {wider} from {low} to {high}, and cast it to {leaf.dtype} in it"
        raise InputError(f"input {path} has dtype {leaf.dtype} and no values; {wanted}")


def parse(*texts: str) -> tuple[jax.ShapeDtypeStruct | Restricted, ...]:
    """The inputs that texts such as "f32[4,8]", "float32[4,8] > 0", "bf16[b,2*h] in [0, 1]" or "c64[]" describe.

    Names of dimensions are shared between them.

    Raises:
        InputError: a text that is not of this form.
    """
    scope = jax.export.SymbolicScope()
    return tuple(_parsed(text, scope) for text in texts)


def parse_sizes(*texts: str) -> tuple[Sizes, ...] | None:
    """The sizes that texts such as "n=4,m=3" list; None if there are none.

    Raises:
        InputError: a text that is not of this form.
    """
    return tuple(map(_parsed_sizes, texts)) or None


def _parsed_sizes(text: str) -> Sizes:
    pairs = [re.fullmatch(r"\s*(\w+)\s*=\s*(\d{1,9})\s*", part) for part in text.split(",")]
    names = [pair[1] for pair in pairs if pair is not None]
    if None in pairs or len(set(names)) < len(pairs):
        raise InputError(f"got {text!r} for sizes; write one for each symbolic dimension, such as n=4,m=3")
    return {pair[1]: int(pair[2]) for pair in pairs if pair is not None}


def _parsed(text: str, scope: Any) -> jax.ShapeDtypeStruct | Restricted:
    if text.strip() == KEY:
        return jax.eval_shape(lambda: jax.random.key(0))
    match = re.fullmatch(r"\s*(\w+)\s*\[([^\]]*)\](.*)", text)
    if match is None or match[1] not in {*SHORT, *SHORT.values(), *SHORT_WHOLE, *WHOLE}:
        known = ", ".join([*SHORT, *SHORT_WHOLE])
        raise InputError(f"got {text!r} for an input; write {known} and a shape, such as f32[4,8] or i32[5]")
    try:
        shape = jax.export.symbolic_shape(match[2], scope=scope)
    except Exception as error:  # JAX's own parser says what is wrong with the dimensions
        raise InputError(f"got {text!r} for an input: {_first_line(error)}; write sizes, names, 2*h or n+1") from error
    dtype = jnp.dtype({**SHORT, **SHORT_WHOLE}.get(match[1], match[1]))
    if str(dtype) in WHOLE:
        return Restricted(tuple(shape), dtype, parse_integers(match[3], dtype))
    domain = parse_domain(match[3])
    return jax.ShapeDtypeStruct(shape, dtype) if domain == REALS else Restricted(tuple(shape), dtype, domain)


def states_variable(text: str) -> bool:
    """Whether a text such as "float32[4,8]" or "int32[5] in [0, 10]" in a claim describes an input that is a variable.

    The range of an integer input is always written; without one it is an array whose values are fixed.
    """
    dtype, _, behind = text.partition("[")
    return dtype in FLOATS.values() or dtype in WHOLE and behind.partition("]")[2] != ""


def traced(function: Callable, arguments: tuple[Any, ...]) -> tuple[ClosedJaxpr, Any]:
    """The program of a function of its real variables, and the pytree of `jax.ShapeDtypeStruct` that it returns.

    It is `as_written` with both parts of every complex number; its inputs are those of `parts_of`.

    Raises:
        InputError, UnsupportedError: see `as_written`.
        UnsupportedError: a primitive of complex numbers has no definition in parts.
    """
    program, outputs = as_written(function, arguments)
    return in_real_parts(program), outputs


def as_written(
    function: Callable, arguments: tuple[Any, ...], *, to_differentiate: bool = False
) -> tuple[ClosedJaxpr, Any]:
    """The jaxpr of a function of its variables, and the pytree of `jax.ShapeDtypeStruct` that it returns.

    `arguments` are concrete (`Specification.at`). The jaxpr's inputs are the float and complex leaves in the order of
    `jax.tree.leaves`; its 64-bit types are on where the caller has switched them on, and when one of them has 64 bits.
    It is written out (`expanded`), unless it is to be differentiated: rules of derivatives that a function brings are
    used before.
    Integers and booleans that a function of real numbers alone returns are numbers: they are cast to floats.

    Raises:
        ConcreteValueError: it needs the value of a variable.
        StaticArgumentError: an array is given for a static argument.
        InputError: JAX cannot trace it; it captures an array with NaN; an output is empty or not floating-point.
        UnsupportedError: it calls back to the host.
    """
    leaves, tree = jax.tree.flatten(arguments)
    variables = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves if is_variable(leaf)]
    with jax.enable_x64(in_64_bits(variables)):
        # Arrays of JAX: a function may index them with tracers, which NumPy's cannot take.
        fixed = [leaf if is_variable(leaf) else jnp.asarray(leaf) for leaf in leaves]

        tangents: list[bool] = []

        def of_variables(*values: Any) -> Any:
            remaining = iter(values)
            merged = [next(remaining) if is_variable(leaf) else leaf for leaf in fixed]
            found = function(*jax.tree.unflatten(tree, merged))
            tangents.extend(is_tangent(leaf) for leaf in jax.tree.leaves(found))
            return jax.tree.map(lambda x: jnp.zeros(x.shape, bool) if is_tangent(x) else x, found)

        try:
            program, outputs = jax.make_jaxpr(of_variables, return_shape=True)(*variables)
        except UatJaxError:
            raise
        except Exception as error:  # whatever the function raises is the user's to read
            raise _untraceable(name_of(function), error) from error
        if not (to_differentiate or any(map(is_whole, leaves))):
            program = with_numbers(program)
    if not to_differentiate:
        program = expanded(program)
        _check_program(name_of(function), program)
    outputs = _with_tangents(outputs, tangents)
    _check_outputs(name_of(function), outputs)
    return program, outputs


def is_tangent(leaf: PyTree) -> bool:
    """Whether an output is the derivative by an integer, an array of JAX's float0, whose entries have one value."""
    return getattr(leaf, "dtype", None) == jax.dtypes.float0


def _with_tangents(outputs: Any, tangents: Sequence[bool]) -> Any:
    """The outputs with their own dtypes, where programs return false for derivatives by integers."""
    leaves, tree = jax.tree.flatten(outputs)
    own = lambda leaf, tangent: jax.ShapeDtypeStruct(leaf.shape, jax.dtypes.float0) if tangent else leaf
    return jax.tree.unflatten(tree, map(own, leaves, tangents))


def in_64_bits(variables: Iterable[Any]) -> bool:
    """Whether a function of these variables is traced with 64-bit types.

    They are needed if a variable has 64 bits.  If the caller has switched them on, the function computes with them:
    without them its int64 would wrap around at 32 bits, and it would be another function.
    """
    return bool(jax.config.read("jax_enable_x64")) or any(str(leaf.dtype) in WIDE for leaf in variables)


def computes_in_64_bits(program: ClosedJaxpr) -> bool:
    """Whether a value in a program has 64 bits."""
    made = (v for within in programs_within(program) for equation in within.eqns for v in equation.outvars)
    return any(str(dtype_of(v)) in WIDE for v in made)


def with_numbers(program: ClosedJaxpr) -> ClosedJaxpr:
    """A program with floats for the integers and booleans that it returns: exact over the real numbers."""
    whole = [str(aval.dtype) in WHOLE for aval in program.out_avals]
    if not any(whole):
        return program
    number = lambda x, cast: lax.convert_element_type(x, np.float32) if cast else x
    values = lambda *inputs: list(map(number, jaxpr_as_fun(program)(*inputs), whole))
    return jax.make_jaxpr(values)(*program.in_avals)


def _untraceable(name: str, error: Exception) -> InputError:
    """What a user can do about the error that a function raised under the tracer."""
    if isinstance(error, ValueError) and str(error).startswith("Non-hashable static arguments"):
        given = next((kind for kind in UNHASHABLE if f"unhashable type: '{kind}'" in str(error)), "")
        what = f"a {given}, which cannot be hashed," if given else "an array"
        wanted = "pass a tuple" if given else "bind static arguments with functools.partial"
        return StaticArgumentError(f"{name} is given {what} for a static argument{_line(error)}; {wanted}")
    got = f"JAX cannot trace {name}: {type(error).__name__}: {_first_line(error)}{_line(error)}"
    if isinstance(error, TypeError) and str(error).startswith(WHOLE_SHAPES) and "Tracer" not in str(error):
        return ConcreteValueError(f"{got}; a shape needs whole numbers: use // in place of /, or int")
    if (
        isinstance(error, CONCRETE)
        or isinstance(error, TypeError)
        and str(error).startswith((WHOLE_SHAPES, WHOLE_INDEX))
    ):
        wanted = "use jnp.where or jax.lax.cond, or pass an integer array, whose values are fixed"
        return ConcreteValueError(f"{got}; it needs the value of a variable: {wanted}")
    advice = next((wanted for what, wanted in ADVICE.items() if what in f"{type(error).__name__}: {error}"), "")
    return InputError(f"{got}; {advice}" if advice else got)


WANTED_INTEGERS = "give an input of integers an integer dtype, as in jax.ShapeDtypeStruct((3,), jnp.int32)"

ADVICE = {
    "Indexer must have integer": WANTED_INTEGERS,
    "does not accept dtype float": WANTED_INTEGERS,
    "requires arguments to have the same dtypes": "cast one of them, so that it is said which numbers are compared",
    "required keyword-only argument": "bind it with functools.partial, or certify a function that passes it on",
    "TraceContextError: Cannot mutate": (
        "the module changes its state while it is called: certify functions of the module itself, such as "
        "lambda module, x: module(x), and pass the module as the first input, or split it with nnx.split"
    ),
    "CallCompactUnboundModuleError": (
        "pass module.apply, whose first input are the parameters, or module.bind(parameters)"
    ),
}
"""What a text of JAX, of Python or of flax has in it, and what to do then."""

CONCRETE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    jax.errors.TracerArrayConversionError,
)
"""What JAX raises where a function looks at the value of a variable."""

WHOLE_SHAPES = "Shapes must be 1D sequences of concrete values of integer type"
WHOLE_INDEX = "Only integer scalar arrays can be converted to a scalar index"
"""How the texts of JAX begin where a shape, a `range` or an index of a list is a float or the value of a variable."""

UNHASHABLE = ("list", "dict", "set")
"""Static arguments that are no arrays and that JAX cannot hash either."""


def name_of(function: Callable) -> str:
    """A function's own name, that of what a partial calls, or that of its type."""
    if isinstance(function, functools.partial):
        return name_of(function.func)
    return getattr(function, "__name__", type(function).__name__)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".;") if lines else "no message"


def _line(error: Exception) -> str:
    """' at file:line' of the innermost line outside JAX and this package, or ''."""
    libraries = (str(Path(jax.__file__ or "").parent), str(Path(__file__).parent))
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(libraries)]
    return f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


def _check_program(name: str, program: ClosedJaxpr) -> None:
    for inner in programs_within(program):
        for equation in inner.eqns:
            if equation.primitive.name in CALLBACKS and not is_call(equation):
                call = f"'{equation.primitive.name}'{source_line(equation)}"
                why = CALLBACKS[equation.primitive.name]
                raise UnsupportedError(f"{name} calls back to the host with {call}, {why}")
        for constant in getattr(inner, "consts", ()):
            if jnp.issubdtype(constant.dtype, jnp.inexact) and np.isnan(np.asarray(constant)).any():
                raise InputError(f"{name} captures an array with NaN, {_text(constant)}; give it finite values")


def _check_outputs(name: str, outputs: Any) -> None:
    leaves, _ = tree_flatten_with_path(outputs)
    if not leaves:
        raise InputError(f"{name} returns no array; return at least one array")
    for path, leaf in leaves:
        if not (is_variable(leaf) or is_tangent(leaf)):
            raise InputError(f"{name} returns {_text(leaf)}{_place(path)}; return arrays of numbers")
        if 0 in leaf.shape:
            raise InputError(f"{name} returns the empty {_text(leaf)}{_place(path)}; return arrays with entries")


def _place(path: Any) -> str:
    return f" at output {keystr(path)}" if path else ""


def _text(leaf: PyTree) -> str:
    """Such as float32[2,3]."""
    return f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"


def snapshot_of(function: Callable, arguments: tuple[Any, ...]) -> str:
    """The text of a snapshot of a function at arguments whose dimensions are numbers.

    What is no array among the arguments is fixed to its value, which the program then has in it.

    Raises:
        InputError, UnsupportedError: what `as_written` and `snapshot` raise, or an argument cannot be used.
    """
    function, _, arrays = with_static(function, function, arguments)
    leaves, tree = jax.tree.flatten(arrays)
    for path, leaf in tree_flatten_with_path(arrays)[0]:
        _check_leaf(keystr(path), leaf)
    variable = list(map(is_variable, leaves))
    with jax.enable_x64(in_64_bits(leaf for leaf, varies in zip(leaves, variable, strict=True) if varies)):
        kept = [leaf if varies else jnp.asarray(leaf) for leaf, varies in zip(leaves, variable, strict=True)]
    arrays = jax.tree.unflatten(tree, kept)
    program, outputs = as_written(function, arrays, to_differentiate=True)
    return snapshot(program, arrays, outputs, variable)


def same_outputs(left: Any, right: Any) -> None:
    """Nothing, if two pytrees of `jax.ShapeDtypeStruct` have the same tree, shapes and dtypes.

    Raises:
        OutputsError: they do not; says which leaf.
    """
    (left_leaves, left_tree), (right_leaves, right_tree) = map(tree_flatten_with_path, (left, right))
    if left_tree != right_tree:
        only = {keystr(path) for path, _ in left_leaves} ^ {keystr(path) for path, _ in right_leaves}
        where = f"only one has output {min(only) or 'without a container'}" if only else f"{left_tree} and {right_tree}"
        raise OutputsError(f"the functions return different trees: {where}; return the same tree from both")
    for (path, a), (_, b) in zip(left_leaves, right_leaves, strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            got = f"the first function returns {_text(a)}{_place(path)}, the second {_text(b)}"
            raise OutputsError(f"{got}; return the same shape and dtype from both")


def sizes_text(sizes: Sizes) -> str:
    """Such as "b = 1, h = 2"."""
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())
