"""Elements of a tower of prime fields at one random draw, and what can be computed with them.

An element has one array of residues per level, of shape (copies, *shape); constants have a single copy.  Every ring
operation works level by level and copy by copy.  An exponential uses one level:

    exp(a)_{k,c} = g_k ^ ( Σ_t h_{c,t} · a_{k+1,t} )   mod p_k,

with h uniform, and so exp(a + b) = exp(a)·exp(b).  An unknown function is a random function of all copies of its
arguments at a level.  The draw keeps count of what its error bound depends on (docs/soundness.md).
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from uat_jax.errors import UatJaxError
from uat_jax.interpret.deadline import Deadline
from uat_jax.numbers.prime_fields import affine
from uat_jax.numbers.prime_fields.affine import Affine, of_floats, of_fractions
from uat_jax.numbers.prime_fields.degree import ATOM, CONSTANT, Degree, Inversions
from uat_jax.numbers.prime_fields.points import Points, PointStore
from uat_jax.numbers.prime_fields.random_function import key, uniform_values, values
from uat_jax.numbers.prime_fields.tower import Level, root_in_circle
from uat_jax.typing import PyTree


class ZeroDivisorError(UatJaxError):
    """A divisor that is not zero as a function vanished at the random point: draw again."""


@dataclass(frozen=True, slots=True, eq=False)
class Residues:
    """`levels[k]` has shape (copies of level k or 1, *shape), int64; `degree` is that of the formal element.

    The levels of a random point are made at every use: see `uat_jax.numbers.prime_fields.points`.
    """

    levels: tuple[np.ndarray, ...] | Points
    degree: Degree

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the element, without its copies."""
        return self.levels.shape if isinstance(self.levels, Points) else self.levels[0].shape[1:]

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> Residues:
        """The element with its entries rearranged by `move` in every level; the copies stay in front."""
        return Residues(self._moved(move), self.degree.mixed())

    def reshaped(self, shape: Sequence[int]) -> Residues:
        """The element with its entries, in order, in another shape."""
        return Residues(self._moved(lambda a: a.reshape(len(a), *shape)), self.degree)

    def _moved(self, move: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, ...] | Points:
        return self.levels.moved(move) if isinstance(self.levels, Points) else tuple(map(move, self.levels))

    def counted(self) -> Residues:
        """The element as one that is not known to be affine in the atoms."""
        return Residues(self.levels, self.degree.counted())


def vanishes(a: Residues) -> np.ndarray:
    """Where an element is 0 in every copy of the top level: a boolean array of its shape."""
    return np.logical_not(nonzero(a))


def nonzero(a: Residues) -> np.ndarray:
    """Where an element is not 0 in some copy of the top level: a boolean array of its shape."""
    return np.asarray(a.levels[0].any(axis=0))


def same(a: Residues, b: Residues) -> bool:
    """Whether two elements agree in every copy of the top level."""
    return a is b or a.shape == b.shape and bool(np.all(a.levels[0] == b.levels[0]))


def _aligned(operands: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Scalars get the axes of the other operands behind their copies."""
    ranks = [x.ndim for x in operands]
    rank = max(ranks)
    if min(ranks) == rank:
        return [*operands]
    return [x.reshape(len(x), *(1,) * (rank - 1)) if x.ndim == 1 else x for x in operands]


def repeated(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """An array repeated to have a shape, laid out in order."""
    if array.shape == shape:
        return np.ascontiguousarray(array)
    found = np.empty(shape, array.dtype)
    found[...] = array  # for small arrays in a quarter of the time of `np.broadcast_to`
    return found


@dataclass(frozen=True)
class DeepExponentials:
    """Exponentials nested deeper than so many levels are unknown functions."""

    levels: int


@dataclass(frozen=True)
class EntriesLeftOut:
    """Entries that divide by zero are left out."""


Note = DeepExponentials | EntriesLeftOut
"""What a draw assumed on the way."""


class Draw:
    """One random draw: a tower, the point it is evaluated at, and the random functions.

    Attributes:
        applications: for every level, how many values of unknown functions were taken.
        work: for every level, how many entries of one copy were computed.
        affine: bounds of all arguments of exp at the last level, or None if one of them is not known to be affine.
        kinds: of the exponentials taken there.
        magnitudes: how many absolute values were taken for atoms.
        notes: what was assumed on the way.
        order: of the roots of unity that there are modulo all primes.
        orders: of those that were asked for.
        deadline: asked before every operation, since one equation (a long sort) can take many.
    """

    def __init__(self, levels: Sequence[Level], seed: Any, deadline: Deadline | None = None, order: int = 1):
        self.levels = tuple(levels)
        self.order = order
        self.orders: set[int] = set()
        self._circles: dict[int, list[int]] = {}
        self.deadline = deadline
        self.seed = seed
        self.points = PointStore(self.levels, seed)
        self.inversions = Inversions()
        self.applications = [0] * len(self.levels)
        self._worst = [CONSTANT] * len(self.levels)
        self.notes: set[Note] = set()
        self._exponents: list[list[np.ndarray]] = [[] for _ in self.levels]
        self.affine: Affine | None = affine.ZERO
        self.kinds: set[str] = set()
        self.magnitudes = 0
        self.work = [0] * len(self.levels)

    def each(self, method: str, degree: Degree, *operands: Residues, **arguments: PyTree) -> Residues:
        """One method of the prime fields on every level that all operands have."""
        if self.deadline is not None:
            self.deadline.check()
        count = min([len(operand.levels) for operand in operands])
        results = tuple(
            [
                getattr(self.levels[k].field, method)(*_aligned([o.levels[k] for o in operands]), **arguments)
                for k in range(count)
            ]
        )
        for k, result in enumerate(results):
            self.work[k] += result[0].size
        result = Residues(results, degree)
        self.tested(result)  # whatever is computed may be
        return result

    def variable(self, shape: Sequence[int]) -> Residues:
        """A uniformly random point."""
        return Residues(self.points.new(shape), ATOM)

    def floats(self, array: np.ndarray) -> Residues:
        """Finite float64 numbers, exactly."""
        return Residues(
            tuple(level.field.floats(array[None]) for level in self.levels), self._constant(of_floats(array))
        )

    def fraction(self, value: Fraction | int, shape: Sequence[int] = ()) -> Residues:
        """One rational number in every entry.

        Raises:
            ZeroDivisorError: a prime divides its denominator.
        """
        value = Fraction(value)
        residue = lambda level: level.field.fraction(value.numerator, value.denominator)
        try:
            levels = tuple(np.full((1, *shape), residue(level), np.int64) for level in self.levels)
        except ZeroDivisionError:
            raise ZeroDivisorError("a prime divides a denominator; draw another") from None
        return Residues(levels, self._constant(of_fractions([value])))

    def _constant(self, affine: Affine | None) -> Degree:
        """The degree of constants; what they are matters to exponents only."""
        return CONSTANT if len(self.levels) == 1 else Degree(affine=affine)

    def fractions(self, values: Sequence[Fraction]) -> Residues:
        """A row of rational numbers.  Raises what `fraction` raises."""
        row = lambda level: np.array([[level.field.fraction(v.numerator, v.denominator) for v in values]], np.int64)
        try:
            levels = tuple(map(row, self.levels))
        except ZeroDivisionError:
            raise ZeroDivisorError("a prime divides a denominator; draw another") from None
        return Residues(levels, self._constant(of_fractions(values)))

    def imaginary(self, shape: Sequence[int] = ()) -> Residues:
        """A square root of -1 in every entry."""
        levels = self.levels[:-1] or self.levels
        return Residues(tuple(np.full((1, *shape), level.imaginary, np.int64) for level in levels), CONSTANT)

    def has_root(self, number: Fraction | int) -> bool:
        """Whether √number is an element at every level: a product of the tower's `squares`."""
        return Fraction(number).denominator == 1 and all(level.has_root(int(number)) for level in self.levels)

    def root(self, number: int, shape: Sequence[int] = ()) -> Residues:
        """A square root of a squarefree whole number in every entry: √6 = √2·√3.

        The root of each prime has a random sign in every copy, so that it is generic.
        """
        levels = []
        for k, level in enumerate(self.levels):
            root = level.root(number, self._negative(k, number))
            levels.append(np.broadcast_to(root.reshape(-1, *(1,) * len(shape)), (len(root), *shape)).copy())
        return Residues(tuple(levels), CONSTANT)

    def _negative(self, k: int, number: int) -> np.ndarray:
        """In which copies of a level the root of a number is the negative one."""
        copies = self.levels[k].copies
        negative = np.zeros(copies if number > 1 else 1, bool)
        for prime in (q for q in (2, 3, 5, 7) if number % q == 0):
            signs = np.frombuffer(key("root signs", prime, k, *self.seed).tobytes() * copies, np.uint8)[:copies]
            negative ^= (signs & 1).astype(bool)
        return negative

    def cosine(self, turn: Fraction) -> Residues | None:
        """cos(turn·π) = (ζ + 1/ζ)/2, ζ a root of unity; None without one of that order.

        ζ is a random one in every copy, so that it is generic; the roots of 2, 3, 5 and 7 are those that it makes.
        """
        order = 2 * turn.denominator
        self.orders.add(order)
        if self.order % math.lcm(4, order):
            return None
        levels = []
        for k, level in enumerate(self.levels):
            p, exponent = level.field.prime, turn.numerator * (self.order // order)
            powers = [(pow(z, exponent, p), pow(z, -exponent, p)) for z in self._circle(k)]
            levels.append(np.array([(z + inverse) * (p + 1) // 2 % p for z, inverse in powers], np.int64))
        return Residues(tuple(levels), CONSTANT)

    def _circle(self, k: int) -> list[int]:
        """A primitive root of unity in every copy of a level."""
        if k not in self._circles:
            level, choose = self.levels[k], random.Random(key("roots of unity", k, *self.seed).tobytes())
            unity = level.unity(self.order)
            self._circles[k] = [self._root_of_unity(k, unity, copy, choose) for copy in range(level.copies)]
        return self._circles[k]

    def _root_of_unity(self, k: int, unity: int, copy: int, choose: random.Random) -> int:
        """A random power of a root of unity that makes the roots of 2, 3, 5 and 7 that this copy of the level has."""
        level, p = self.levels[k], self.levels[k].field.prime
        while True:
            exponent = choose.randrange(self.order)
            if math.gcd(exponent, self.order) > 1:
                continue
            root = pow(unity, exponent, p)
            made = {q: root_in_circle(root, self.order, q, p) for q in (2, 3, 5, 7)}
            if all(r is None or r == int(level.root(q, self._negative(k, q)[copy])) for q, r in made.items()):
                return root

    def add(self, a: Residues, b: Residues) -> Residues:
        """A + b."""
        return self.each("add", a.degree + b.degree, a, b)

    def subtract(self, a: Residues, b: Residues) -> Residues:
        """A - b."""
        return self.each("subtract", a.degree + b.degree, a, b)

    def negate(self, a: Residues) -> Residues:
        """-a."""
        return self.each("negate", a.degree, a)

    def multiply(self, a: Residues, b: Residues) -> Residues:
        """Ab."""
        return self.each("multiply", a.degree * b.degree, a, b)

    def scale(self, a: Residues, factor: Fraction | int) -> Residues:
        """A rational multiple."""
        return a if factor == 1 else self.multiply(a, self.fraction(factor))

    def power(self, a: Residues, exponent: int) -> Residues:
        """a^exponent for exponent ≥ 0."""
        return self.each("power", a.degree.power(exponent), a, exponent=exponent)

    def inverse(self, a: Residues) -> Residues:
        """1/a.

        Raises:
            ZeroDivisorError: an entry vanished at this point.
        """
        self.tested(a)
        count = _different(a.levels[0])
        self.applications[0] += int(np.prod(a.shape))
        try:
            return self.each("inverse", self.inversions.new(count, a.degree), a)
        except ZeroDivisionError:
            raise ZeroDivisorError("a divisor vanished at the random point; draw another") from None

    def sum(self, a: Residues, axes: Sequence[int]) -> Residues:
        """The sum over axes of the element's shape."""
        behind = tuple(axis + 1 for axis in axes)
        count = int(np.prod([a.shape[axis] for axis in axes], dtype=int))
        return self.each("sum", a.degree.summed(count), a, axes=behind)

    def matmul(self, a: Residues, b: Residues) -> Residues:
        """Σ_k a[n, i, k] b[n, k, j]."""
        check = (self.deadline or Deadline()).check
        return self.each("matmul", (a.degree * b.degree).summed(a.shape[-1]), a, b, check=check)

    def stack(self, elements: Sequence[Residues]) -> Residues:
        """Elements of one shape along a new leading axis (behind the copies)."""
        degree = functools.reduce(Degree.__or__, (e.degree for e in elements)).mixed()
        return Residues(tuple(map(_stacked, zip(*(e.levels for e in elements), strict=False))), degree)

    def concatenate(self, elements: Sequence[Residues]) -> Residues:
        """The entries of all elements, flattened and laid end to end."""
        flat = [e.reshaped((-1,)) for e in elements]
        degree = functools.reduce(Degree.__or__, (e.degree for e in flat)).mixed()
        return Residues(tuple(_joined(levels) for levels in zip(*(e.levels for e in flat), strict=False)), degree)

    def where(self, condition: np.ndarray, a: Residues, b: Residues) -> Residues:
        """A where the condition holds, else b."""
        levels = (np.where(condition, *_aligned(pair)) for pair in zip(a.levels, b.levels, strict=False))
        return Residues(tuple(levels), a.degree | b.degree)

    def opaque(self, name: str, *arguments: Residues) -> Residues:
        """A random function of the arguments, one for every name, level and draw."""
        results = []
        shape = np.broadcast_shapes(*(a.shape for a in arguments))
        for k, (level, residues) in enumerate(
            zip(self.levels, zip(*(a.levels for a in arguments), strict=False), strict=False)
        ):
            every = [repeated(r, (level.copies, *shape)) for r in _aligned(residues)]
            results.append(self._function(k)(key(name, k, *self.seed), every))
            self.applications[k] += int(np.prod(shape))
        self.tested(*arguments)
        return Residues(tuple(results), ATOM)

    def magnitude(self, a: Residues, scale: Fraction) -> Residues:
        """|x| = x·ε as `scale` times an atom: ε makes it uniform where x, affine in other atoms, is not 0."""
        if len(a.levels) == len(self.levels):
            self.magnitudes += int(np.prod(a.shape))
        return Residues(a.levels, replace(a.degree, affine=Affine(1, scale, affine.NONE)))

    def _function(self, k: int) -> Callable[[np.ndarray, Sequence[np.ndarray]], np.ndarray]:
        """The random function of a level; its values are as good as uniform where they become exponents."""
        field, copies = self.levels[k].field, self.levels[k].copies
        if 0 < k == len(self.levels) - 1:
            return lambda words, arguments: uniform_values(words, arguments, copies, field)
        return lambda words, arguments: values(words, arguments, copies, field.prime)

    def exponential(self, a: Residues, kind: str = "exp") -> Residues:
        """exp(a), or exp(ia) for kind "circular": homomorphisms that have nothing to do with each other.

        Below the last level of the tower an exponential is an unknown function.
        """
        self.tested(a)
        if len(a.levels) == 1:
            self.notes.add(DeepExponentials(len(self.levels) - 1))
            return self.opaque(kind, a)
        results = []
        for k, (level, lower) in enumerate(zip(self.levels, self.levels[1 : len(a.levels)], strict=False)):
            exponents = repeated(a.levels[k + 1], (lower.copies, *a.shape))
            exponents = exponents.reshape(lower.copies, -1)
            self._exponents[k + 1].append(exponents)
            self._affine(k + 1, kind, a.degree)
            mixed = lower.field.matmul(self._mixing(k, kind), exponents)
            assert level.generator is not None  # only the bottom level has none
            power = level.field.exponential(level.generator, mixed, lower.field.prime)
            results.append(power.reshape(level.copies, *a.shape))
        return Residues(tuple(results), ATOM)

    def _affine(self, k: int, kind: str, degree: Degree) -> None:
        """Note an argument of exp at a level: only at the last one no atom is itself an exponential."""
        if k < len(self.levels) - 1:
            return
        self.kinds.add(kind)
        found = degree.affine
        self.affine = None if self.affine is None or found is None else self.affine | found

    def _mixing(self, k: int, kind: str) -> np.ndarray:
        """The mixing matrix of a level, another one for every kind of exponential."""
        mixing = self.levels[k].mixing
        assert mixing is not None  # only the bottom level has none
        if kind == "exp":
            return mixing
        generator = np.random.default_rng(key(kind, k, *self.seed)[:4].tolist())
        return generator.integers(0, self.levels[k + 1].field.prime, mixing.shape)

    @property
    def exponents(self) -> list[np.ndarray | None]:
        """For every level the different arguments of exp there, of shape (copies, count), or None."""
        for k, blocks in enumerate(self._exponents):
            if len(blocks) > 1:
                together = np.concatenate(blocks, axis=1)
                self._exponents[k] = [together[:, _first_of_each(together)]]
        return [blocks[0] if blocks else None for blocks in self._exponents]

    def tested(self, *elements: Residues) -> None:
        """These elements, or differences of them, are taken for zero only if they vanish in every copy."""
        for element in elements:
            last = len(element.levels) - 1
            if not self._worst[last].covers(element.degree):
                self._worst[last] = self._worst[last] | element.degree.counted()

    def compared(self, keys: int) -> None:
        """So many entries are looked up among each other: as arguments of one function, each pair is a test."""
        self.applications[0] += keys

    def found(self, a: Residues, among: Sequence[Residues]) -> int | None:
        """Where an element first stands among some, or None.

        It is a test for each of them, and counts as so many arguments of one function that their square is no less.
        """
        self.compared(math.isqrt(len(among)) + 1)
        return next((i for i, b in enumerate(among) if same(a, b)), None)

    def worst(self, k: int = 0) -> Degree:
        """The merged degree of everything at level k that is tested for being zero or equal."""
        return functools.reduce(Degree.__or__, self._worst[k:])

    def largest_degree(self, k: int = 0) -> int:
        """The largest degree of any element tested at level k, after clearing all inverses."""
        return max(1, self.inversions.cleared(self.worst(k)))


def _stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    copies = max(map(len, arrays))
    return np.stack([np.broadcast_to(a, (copies, *a.shape[1:])) for a in arrays], axis=1)


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    copies = max(map(len, arrays))
    return np.concatenate([np.broadcast_to(a, (copies, *a.shape[1:])) for a in arrays], axis=1)


def _first_of_each(columns: np.ndarray) -> np.ndarray:
    """Where each different column occurs first, in order."""
    rows = np.ascontiguousarray(columns.T)
    words = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    return np.sort(np.unique(words, return_index=True)[1])


def _different(residues: np.ndarray) -> int:
    return len(_first_of_each(residues.reshape(len(residues), -1)))
