"""The one operation of a program whose change makes two programs agree: where a mistake probably stands.

One program is evaluated again at random inputs in float64, each time with one operation exchanged for another one of
the same operands, or with its value scaled or shifted; the change after which both programs agree is named.  That is a
guess for people to look at: no verdict rests on it.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, Primitive, Var

from uat_jax.byte_sizes import parse_bytes
from uat_jax.decide.alignment import stored
from uat_jax.decide.certificate import Certificate
from uat_jax.decide.effort import MEMORY
from uat_jax.decide.recheck import hostile, stated_inputs
from uat_jax.decide.sampling import APART, distances, random_inputs, together
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import UatJaxError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.flat_program import FlatProgram, aval_of, flattened_together, variables
from uat_jax.interpret.jaxpr_file import decode
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.footprint import of_doubles
from uat_jax.typing import Array, Atom

SECONDS = 20.0
"""Beyond this nothing is looked for."""

COPIES = 3
"""At so many random inputs both programs have to agree."""

EFFORT = 60_000
"""So many equations may be evaluated again for each program; one of many entries counts as several."""

ENTRIES = 5_000
"""So many entries of a result count as one equation more."""

STEPS = 12
"""So often a number is improved by the secant through the last two."""

ALIKE = (
    (lax.add_p, lax.sub_p, lax.mul_p, lax.div_p, lax.max_p, lax.min_p, lax.pow_p, lax.atan2_p, lax.rem_p),
    (lax.lt_p, lax.gt_p, lax.le_p, lax.ge_p, lax.eq_p, lax.ne_p),
    (lax.and_p, lax.or_p, lax.xor_p),
    (lax.reduce_max_p, lax.reduce_min_p, lax.reduce_sum_p),
    (
        *(lax.exp_p, lax.expm1_p, lax.log_p, lax.log1p_p, lax.sqrt_p, lax.rsqrt_p, lax.square_p, lax.abs_p),
        *(lax.sin_p, lax.cos_p, lax.tan_p, lax.sinh_p, lax.cosh_p, lax.tanh_p, lax.asinh_p, lax.atan_p),
        *(lax.logistic_p, lax.erf_p, lax.erfc_p, lax.sign_p),
    ),
)
"""Primitives that take the same operands; one is written for another by mistake."""

OTHERS: Mapping[Primitive, tuple[Primitive, ...]] = {p: group for group in ALIKE for p in group}
"""The group of a primitive."""


def one_change(certificate: Certificate) -> str:
    """After which change of one operation two functions that are refuted agree at random inputs; '' if none is found.

    Args:
        certificate: of two functions; it may come from a file that is not trusted.

    Returns:
        Such as "they agree if right 'add' at model.py:34 is 'sub'"; a change of each program, if there is one.

    Example:
        one_change(uj.certify(f, g, spec))
    """
    if certificate.verdict is not Verdict.REFUTED:
        return ""
    try:
        with hostile(), jax.enable_x64(True):
            data = stored(certificate)
            found = () if "missing" in data else _changes(certificate, decode(data["left"]), decode(data["right"]))
    except (UatJaxError, MemoryError, RecursionError):  # such as that float64 cannot follow it, or the time is up
        return ""
    texts = [f"{name} {change}" for name, change in zip(("right", "left"), found, strict=False) if change]
    return f"they agree if {', or if '.join(texts)}" if texts else ""


def _changes(certificate: Certificate, left: ClosedJaxpr, right: ClosedJaxpr) -> list[str]:
    """A change of the right program and one of the left one, each '' if none is found."""
    end = Deadline(time.monotonic() + SECONDS, memory=parse_bytes(MEMORY))
    end.hold(of_doubles((left, right), COPIES, end.memory), "the values of both programs")
    domains, random = stated_inputs(certificate.claim).domains, np.random.default_rng(certificate.settings["seed"])
    doubles = Doubles()
    doubles.deadline = end
    given = random_inputs(left, COPIES, random, domains)
    sides = [_Side(program, doubles, given) for program in flattened_together([left, right], end)]
    wanted = [side.outputs() for side in sides]
    return [sides[k].change(wanted[1 - k], sides[1 - k].values) for k in (1, 0)]


Change = Callable[[JaxprEqn, Mapping[Var, Any]], Any]
"""Another value for the first result of an equation, where some variables have other values."""

Ways = Callable[[Sequence[JaxprEqn], np.ndarray], Iterator[tuple[str, Change]]]
"""Changes of some equations of one primitive and line, and what each is called, given the outputs that are wanted."""


class _Side:
    """One program at random inputs.  values: of its variables.  left: how many equations may still be evaluated."""

    def __init__(self, program: FlatProgram, doubles: Doubles, given: Sequence[np.ndarray]):
        self.program, self.doubles, self.left = program, doubles, float(EFFORT)
        self.values: dict[Var, Any] = dict(zip(program.inputs, given, strict=True))
        self.values |= {v: self.plain(v, array) for v, array in program.constants.items()}
        for equation in program.equations:
            self.values.update(self.results(equation, {}))

    def plain(self, atom: Atom, array: Any) -> np.ndarray:
        """A constant, as the arithmetic holds it."""
        return self.doubles.constant(array, dtype_of(atom)) if is_number(atom) else np.asarray(array)

    def read(self, atom: Atom, changed: Mapping[Var, Any]) -> np.ndarray:
        """The value of an atom, where some variables have other values."""
        if isinstance(atom, Literal):
            return self.plain(atom, atom.val)
        return changed[atom] if atom in changed else self.values[atom]

    def results(self, equation: JaxprEqn, changed: Mapping[Var, Any]) -> Iterator[tuple[Var, Any]]:
        """The results of an equation, where some variables have other values."""
        operands = [self.read(atom, changed) for atom in equation.invars]
        return zip(equation.outvars, self.doubles.evaluate(equation, operands), strict=True)

    def first(self, equation: JaxprEqn, changed: Mapping[Var, np.ndarray]) -> np.ndarray:
        """The first result of an equation, where some variables have other values."""
        return next(self.results(equation, changed))[1]

    def outputs(self, equations: Sequence[JaxprEqn] = (), change: Change | None = None) -> np.ndarray:
        """The outputs end to end, where some equations are changed."""
        if self.doubles.deadline is not None:
            self.doubles.deadline.check()
        changed: dict[Var, Array] = {}
        meant = {self.program.producer[equation.outvars[0]] for equation in equations}
        for place in range(min(meant, default=len(self.program.equations)), len(self.program.equations)):
            equation = self.program.equations[place]
            if place not in meant and changed.keys().isdisjoint(variables(equation.invars)):
                continue
            self.left -= 1 + sum(math.prod(shape_of(v)) for v in equation.outvars) / ENTRIES
            if place in meant and change is not None:
                changed[equation.outvars[0]] = change(equation, changed)
            else:
                changed.update(self.results(equation, changed))
        return together([self.read(atom, changed) for atom in self.program.outputs], COPIES)

    # Changes

    def change(self, wanted: np.ndarray, others: Mapping[Var, np.ndarray]) -> str:
        """The first change after which the outputs are those of the other program, whose values are given, or ''."""
        suspects = self.suspects(wanted, others)
        for ways in (self.exchanged, self.rearranged, self.with_another_number, self.shifted):
            found = self.agreeing(suspects, ways, wanted)
            # Of several numbers the one of the fewest digits: that is how people write them.
            change = min(found, key=len, default="") if ways == self.with_another_number else next(found, "")
            if change:
                return change
        return ""

    def agreeing(self, suspects: Sequence[Sequence[JaxprEqn]], ways: Ways, wanted: np.ndarray) -> Iterator[str]:
        """The changes of one kind after which the outputs are wanted ones."""
        for equations in suspects:
            for text, change in ways(equations, wanted):
                if _agree(self.outputs(equations, change), wanted):
                    yield f"'{equations[0].primitive.name}'{_line(equations[0])} {text}"
                if self.left < 0:
                    return

    def suspects(self, wanted: np.ndarray, others: Mapping[Var, np.ndarray]) -> list[list[JaxprEqn]]:
        """The equations that lead to outputs that differ, those first whose value the other program never has.

        Each alone, and behind the first one of a line all those of its primitive there: a line may run several times.
        """
        sizes = np.cumsum([math.prod(shape_of(atom)) for atom in self.program.outputs])[:-1]
        parts = zip(np.split(self.outputs(), sizes, 1), np.split(wanted, sizes, 1), strict=True)
        apart = [atom for atom, (a, b) in zip(self.program.outputs, parts, strict=True) if not _agree(a, b)]
        there = {_rounded(value) for value in others.values()}
        equations = [self.program.equations[place] for place in self.program.cone(variables(apart), others)]
        equations = sorted(equations, key=lambda e: _rounded(self.values[e.outvars[0]]) in there)
        of_line: dict[tuple[Primitive, str], list[JaxprEqn]] = {}
        for equation in equations:
            of_line.setdefault((equation.primitive, _line(equation)), []).append(equation)
        together = {id(group[0]): group for group in of_line.values() if len(group) > 1}
        return [group for e in equations for group in ([e], together.get(id(e))) if group]

    def exchanged(self, equations: Sequence[JaxprEqn], wanted: np.ndarray) -> Iterator[tuple[str, Change]]:
        """One of the operands in the place of the result, or another primitive: min(x, 4) may be x at all inputs."""
        for place in range(len(equations[0].invars)):
            if all(aval_of(e.invars[place]) == aval_of(e.outvars[0]) and is_number(e.outvars[0]) for e in equations):
                yield "is left out", lambda e, c, place=place: self.read(e.invars[place], c)
        for other in OTHERS.get(equations[0].primitive, ()):
            if other is not equations[0].primitive:
                yield f"is '{other.name}'", lambda e, c, p=other: self.first(e.replace(primitive=p), c)

    def rearranged(self, equations: Sequence[JaxprEqn], wanted: np.ndarray) -> Iterator[tuple[str, Change]]:
        """The operands in another order, the other sign, a mean for a sum."""
        last = equations[0].invars[-2:]
        if len(last) == 2 and aval_of(last[0]) == aval_of(last[1]):
            turned = lambda e: e.replace(invars=[*e.invars[:-2], *reversed(e.invars[-2:])])
            yield "has its operands exchanged", lambda e, c: self.first(turned(e), c)
        if not all(is_number(e.outvars[0]) for e in equations):
            return
        yield "has the other sign", lambda e, c: -self.first(e, c)
        if equations[0].primitive is lax.reduce_sum_p:
            terms = math.prod(shape_of(equations[0].invars[0])) / max(1, math.prod(shape_of(equations[0].outvars[0])))
            yield f"is divided by its {terms:.0f} terms", lambda e, c: self.first(e, c) / terms

    def with_another_number(self, equations: Sequence[JaxprEqn], wanted: np.ndarray) -> Iterator[tuple[str, Change]]:
        """Another number that is written there."""
        for place in range(len(equations[0].invars)):
            written = [atom for e in equations if isinstance(atom := e.invars[place], Literal) and is_number(atom)]
            if len(written) == len(equations):
                start = float(np.asarray(written[0].val))
                other = functools.partial(self.with_number, place)
                yield from self.solved(f"has %s for {start:.6g}", other, start, equations, wanted)

    def shifted(self, equations: Sequence[JaxprEqn], wanted: np.ndarray) -> Iterator[tuple[str, Change]]:
        """A number added to the result, or multiplied by it."""
        if all(is_number(e.outvars[0]) for e in equations):
            shifted = lambda number: lambda e, c: self.first(e, c) + number
            scaled = lambda number: lambda e, c: self.first(e, c) * number
            yield from self.solved("has %s added", shifted, 0.0, equations, wanted)
            yield from self.solved("is multiplied by %s", scaled, 1.0, equations, wanted)

    def with_number(self, place: int, number: float) -> Change:
        """Another number in the place of an operand."""

        def change(equation: JaxprEqn, changed: Mapping[Var, Any]) -> np.ndarray:
            operands = list(equation.invars)
            operands[place] = Literal(np.asarray(number), operands[place].aval)
            return self.first(equation.replace(invars=operands), changed)

        return change

    def solved(
        self,
        text: str,
        change: Callable[[float], Change],
        start: float,
        equations: Sequence[JaxprEqn],
        wanted: np.ndarray,
    ) -> Iterator[tuple[str, Change]]:
        """The change by the number after which the entry that differs most agrees, by the secant."""
        differ = lambda number: self.outputs(equations, change(number)) - wanted
        gaps, before, now = differ(start), start, start + 0.25
        if not np.isfinite(gaps).any():
            return
        entry = np.unravel_index(np.nanargmax(np.abs(np.where(np.isfinite(gaps), gaps, np.nan))), gaps.shape)
        gap = gaps[entry]
        for _ in range(STEPS):
            new = differ(now)[entry]
            if not np.isfinite(new) or new == gap or self.left < 0:
                return
            before, now, gap = now, now - new * (now - before) / (new - gap), new
            if abs(now - before) <= APART * abs(now):
                yield text % f"{now:.6g}", change(now)
                return


def _line(equation: JaxprEqn) -> str:
    """' at file:line' of an equation of a stored program, or ''."""
    line = str(equation.source_info.name_stack)
    return f" at {line}" if line else ""


def _agree(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether outputs are equal but for rounding, and defined at the same inputs, and somewhere."""
    finite = [np.isfinite(side) for side in (left, right)]
    same = bool((finite[0] == finite[1]).all() and finite[0].any())
    return same and not (distances([left, right], finite) > APART).any()


def _rounded(value: Any) -> Any:
    """Equal for arrays of the same shape whose entries differ by rounding alone, but for bad luck."""
    array = np.asarray(value, np.float64)
    scale = np.abs(array[np.isfinite(array)]).max(initial=0.0) or 1.0
    return array.shape, (np.round(array / scale, 8) + 0.0).tobytes()
