"""The closed form's recursion → two jitted loops over stacked parameters: compile time does not grow with depth.

merge(weights)          → the hatted parameters of every layer, stacked, and Ŵ_{L,1}, b̂_{L,3}
evaluate(hatted, x_0)   → x_L, for one input or for the columns of a matrix, which share every product
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count, takewhile
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.errors import InputError, ShapeError
from uat_jax.lowering.arrays import Array, Arrays, dimensions, given
from uat_jax.lowering.evaluation import Evaluation
from uat_jax.lowering.hoisting import Lines, inputs, split
from uat_jax.symbolic import language as m
from uat_jax.symbolic.recursion import J, Recursion

Letters = tuple[m.Letter, ...]
Values = dict[m.Letter, Array]
DEPTH = sympy.Symbol("L", integer=True, positive=True)


@dataclass(frozen=True)
class LoweredRecursion:
    """A recursion over L layers as JAX functions of stacked arrays.

    ``weights`` are named like the letters of layer j, ``{"A_j": (L, D, D), "B_j": (L, F, D), …}``; biases are
    (L, F) or (L, F, 1).  All arrays have one dtype, which every result has too; ``activation`` is the elementwise σ,
    ``precision`` that of every matrix product.  With ``parallel`` the affine parts Ŵ_{j,1}, b̂_{j,3} are composed in
    rounds of neighbours (`jax.lax.associative_scan`: about 2 log₂ L rounds and 2L products), not one by one.

    Parameters that differ from input to input are merged for each: ``jax.vmap(lowered)(weights, x_0)``.
    """

    recursion: Recursion
    activation: Callable[[Array], Array]
    precision: str = "highest"
    parallel: bool = False

    @property
    def functions(self) -> Mapping[str, Callable[[Array], Array]]:
        """None: the parameters of a recursion are arrays."""
        return {}

    @cached_property
    def merge(self) -> Callable[[Arrays], dict[str, Array]]:
        """weights → hatted parameters.  Raises `InputError` or `ShapeError` for arrays that do not fit.

        Weights that are not needed any more can be given away: ``jax.jit(recursion.merge, donate_argnums=0)`` keeps no
        second copy of them.
        """
        return jax.jit(self._merge)

    @cached_property
    def prefixes(self) -> Callable[[Arrays], dict[str, Array]]:
        """weights → Ŵ_{j,1} (L, D, D) and b̂_{j,3} (L, D, 1), the affine part of the first j layers, for every j."""
        return jax.jit(lambda weights: _named(self._prefixes(_stacks(self._own, weights))))

    @cached_property
    def evaluate(self) -> Callable[[Arrays, Array], Array]:
        """(hatted parameters, x_0) → x_L, of shape (D,) for x_0 of shape (D,).

        The columns of a matrix x_0 of shape (D, n) are n inputs, and those of the result their x_L.
        """
        return jax.jit(self._evaluate)

    def __call__(self, weights: Arrays, x_0: Array) -> Array:
        """evaluate(merge(weights), x_0)."""
        return self.evaluate(self.merge(weights), x_0)

    def stacked(self, weights: Arrays) -> dict[str, Array]:
        """``{"A_1": …, "A_2": …}``, the layers' arrays as `Lowered` takes them, as ``{"A_j": …}``.

        Raises `InputError` for a missing array, one of no layer, or two dtypes of one parameter, `ShapeError` if the
        arrays of two layers differ in shape.
        """
        layer = lambda j: tuple(l.renamed({J: j}) for l in self._own)
        others = takewhile(lambda letters: any(str(l) in weights for l in letters), map(layer, count(2)))
        layers = [given(letters, weights) for letters in (layer(1), *others)]
        other = min(weights.keys() - {str(letter) for of in layers for letter in of}, default=None)
        if other is not None:
            following = ", ".join(map(str, layer(len(layers) + 1)))
            raise InputError(f"got {other} behind layer {len(layers)}, wanted {following} next, or nothing")
        pairs = zip(self._own, zip(*(of.items() for of in layers), strict=True), strict=True)
        return {str(l): _stack(dict(arrays)) for l, arrays in pairs}

    # --- merging -----------------------------------------------------------------------------------------------------

    def _merge(self, weights: Arrays) -> dict[str, Array]:
        own = _stacks(self._own, weights)
        after = self._prefixes(own)
        known = own | self._before(own, after) | after
        merged = tuple(l for l in self._per_layer if l not in own)
        layer = self._function({l: e for l, e in self._static.items() if l not in after}, tuple(known), merged)
        found = dict(zip(merged, jax.vmap(layer)(*known.values()), strict=True))
        kept = {l: own[l] for l in self._per_layer if l in own}
        return _named(kept | found | {_last(l): stack[-1] for l, stack in after.items()})

    def _prefixes(self, own: Values) -> Values:
        """What every layer hands on of the affine part: the layers' own affine maps, composed."""
        alone = self.recursion.alone
        lines = {after: self._static[after] for after in alone}
        compose = self._function(lines, (*self._affine, *alone.values()), tuple(alone))
        maps = [own[l] for l in alone.values()]
        if self.parallel:
            found = jax.lax.associative_scan(jax.vmap(lambda first, then: compose(*first, *then)), maps)
        else:
            layer = lambda before, own: (after := compose(*before, *own), after)
            _, found = jax.lax.scan(layer, self._start(self._affine, own), maps)
        return dict(zip(alone, found, strict=True))

    def _before(self, own: Values, after: Values) -> Values:
        """What every layer is handed of the affine part: the start, then what all layers but the last hand on."""
        start = zip(self._start(self._affine, own), after.values(), strict=True)
        shifted = [jnp.concatenate([first[None], stack[:-1]]) for first, stack in start]
        return dict(zip(self._affine, shifted, strict=True))

    # --- evaluating --------------------------------------------------------------------------------------------------

    def _evaluate(self, hatted: Arrays, x_0: Array) -> Array:
        stacks, x = _stacks(self._per_layer, hatted), _columns(self.recursion.argument, jnp.asarray(x_0))
        layer = self._function(self._dynamic, (*stacks, *self._sums, self.recursion.argument), self._sums_after)
        # As many columns as x has, on the devices that x is on: no device waits for another.
        start = [u + jnp.zeros_like(x[:1]) for u in self._start(self._sums, stacks)]
        u, _ = jax.lax.scan(lambda u, own: (layer(*own, *u, x), None), start, list(stacks.values()))
        known = given([_last(l) for l in self.recursion.alone], hatted)
        known |= dict(zip(map(_last, self._sums_after), u, strict=True)) | {self.recursion.argument: x}
        x_L = self.recursion.layers.x(DEPTH)
        (result,) = self._function({x_L: _last(self.recursion.result)}, tuple(known), (x_L,))(*known.values())
        return result if jnp.ndim(x_0) == 2 else result[:, 0]

    # --- one layer ---------------------------------------------------------------------------------------------------

    @cached_property
    def _own(self) -> Letters:
        """The parameters of layer j."""
        others = {self.recursion.argument, *self.recursion.handed}
        return tuple(l for l in self.recursion.step.inputs if l not in others)

    @cached_property
    def _affine(self) -> Letters:
        """What layer j is handed of the affine part: Ŵ_{j-1,1}, b̂_{j-1,3}."""
        return tuple(before for before, after in self.recursion.handed.items() if after in self.recursion.alone)

    @cached_property
    def _sums(self) -> Letters:
        """What layer j is handed that depends on x_0: u_{j-1}."""
        return tuple(before for before in self.recursion.handed if before not in self._affine)

    @cached_property
    def _sums_after(self) -> Letters:
        """What layer j hands on that depends on x_0: u_j."""
        return tuple(self.recursion.handed[before] for before in self._sums)

    @cached_property
    def _lines(self) -> tuple[Lines, Lines]:
        return split(self.recursion.step, self.recursion.argument, *self._sums)

    @property
    def _static(self) -> Lines:
        return self._lines[0]

    @property
    def _dynamic(self) -> Lines:
        return self._lines[1]

    @cached_property
    def _per_layer(self) -> Letters:
        """What `evaluate` needs of every layer."""
        known = {self.recursion.argument, *self._sums}
        return tuple(l for l in inputs(self._dynamic) if l not in known)

    def _start(self, letters: Letters, stacks: Values) -> list[Array]:
        """What layer 1 is handed, in the dtype and for the dimensions of the stacks."""
        return self._function(dict(self.recursion.start), tuple(stacks), letters)(*(a[0] for a in stacks.values()))

    def _function(self, lines: Lines, known: Letters, wanted: Letters) -> Callable[..., list[Array]]:
        """The lines as a function of the arrays of some letters that gives those of others.

        The array of a column may have several columns, each a case of its own.
        """

        def function(*arrays: Array) -> list[Array]:
            values = dict(zip(known, arrays, strict=True))
            shapes = {l: (len(a), 1 if l.shape[1] == 1 else a.shape[1]) for l, a in values.items()}
            run = Evaluation(self, dict(values), dimensions(shapes, {}))
            run.run(lines)
            return [run(letter) for letter in wanted]

        return function


def _last(e: Any) -> Any:
    """A letter or expression of layer j for j = L."""
    return e.renamed({J: DEPTH})


def _named(arrays: Values) -> dict[str, Array]:
    return {str(letter): array for letter, array in arrays.items()}


def _stack(arrays: Values) -> Array:
    """The arrays of one parameter in all layers as one."""
    (first, array), *others = arrays.items()
    for letter, other in others:
        if other.shape != array.shape:
            raise ShapeError(
                f"{first} has shape {array.shape} and {letter} {other.shape}; a loop over the layers wants one shape: "
                f"use Lowered for widths that vary"
            )
        if other.dtype != array.dtype:
            raise InputError(f"{first} has dtype {array.dtype} and {letter} {other.dtype}; wanted a single one")
    return jnp.stack(list(arrays.values()))


def _stacks(letters: Letters, arrays: Arrays) -> Values:
    """Stacks of matrices, biases as matrices with one column.

    Raises `ShapeError` for arrays that are no stacks, and for stacks of different numbers of layers.
    """
    stacks = {l: _matrices(l, array) for l, array in given(letters, arrays).items()}
    (first, stack), *_ = stacks.items()
    for letter, other in stacks.items():
        if len(other) != len(stack) or not len(other):
            raise ShapeError(f"{first} has {len(stack)} layers and {letter} {len(other)}; wanted as many, at least one")
    return stacks


def _matrices(letter: m.Letter, stack: Array) -> Array:
    column = letter.shape[1] == 1
    matrices = stack[:, :, None] if column and stack.ndim == 2 else stack
    if matrices.ndim != 3 or (column and matrices.shape[2] != 1):
        rows, columns = letter.shape
        raise ShapeError(f"the array {letter} has shape {stack.shape}; wanted (layers, {rows}, {columns})")
    return matrices


def _columns(letter: m.Letter, array: Array) -> Array:
    """One column or several."""
    if array.ndim not in (1, 2) or not len(array):
        rows, _ = letter.shape
        raise ShapeError(f"the array {letter} has shape {array.shape}; wanted ({rows},) or ({rows}, inputs)")
    return array[:, None] if array.ndim == 1 else array
