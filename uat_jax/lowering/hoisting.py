"""What of a program does not depend on its argument: whole lines, and the largest parts of the others.

Parts are hoisted out of a line as compilers hoist what does not change out of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program, distinct_letters

Lines = dict[m.Letter, m.Expression]


def inputs(lines: Lines) -> tuple[m.Letter, ...]:
    """The letters that no line defines, in order of first use."""
    used = (l for e in lines.values() for l in distinct_letters(e) if l not in lines)
    return tuple(dict.fromkeys(used))


def split(program: Program, *arguments: m.Letter) -> tuple[Lines, Lines]:
    """The lines that do not depend on the arguments, and those that do.

    The largest parts of a dependent line that do not depend on them become lines of the first kind,
    named by their own text.
    """
    dependent = set(arguments)
    static: Lines = {}
    dynamic: Lines = {}
    for letter, expression in program.items():
        if not dependent.isdisjoint(distinct_letters(expression)):
            dependent.add(letter)
            dynamic[letter] = _hoist(expression, dependent, static)
        else:
            static[letter] = expression
    return static, dynamic


def _hoist(e: m.Expression, dependent: set[m.Letter], static: Lines) -> m.Expression:
    if isinstance(e, m.Letter):
        return e
    if dependent.isdisjoint(distinct_letters(e)):
        return _named(e, static)
    if isinstance(e, m.RangeSum):
        return e  # below the sum sign a part may depend on the sum's index
    free = lambda p: dependent.isdisjoint(distinct_letters(p))
    hoist = lambda part: _hoist(part, dependent, static)
    match e:
        case m.Product():
            return m.Product(*map(hoist, _gathered(e.operands, free)))
        case m.Addition():
            return m.Addition(*map(hoist, _sorted_sum(e.operands, free)))
    return e.rebuilt(hoist)


def _named(e: m.Expression, static: Lines) -> m.Expression:
    """A letter for a part that does not depend on the argument (constants and letters stay as they are)."""
    if isinstance(e, m.Letter) or not distinct_letters(e):
        return e
    texts = {str(letter): expression for letter, expression in static.items()}
    names = (m.Letter(str(e), *e.shape, (), (n,) if n else ()) for n in count())
    name = next(name for name in names if texts.get(str(name), e) == e)  # unvec(x) may be two different things
    static[name] = e
    return name


def _gathered(factors: Sequence[m.Expression], free: Callable[[m.Expression], bool]) -> list[m.Expression]:
    """Neighbours that do not depend on the argument as one factor: X E W → X (E W)."""
    runs: list[list[m.Expression]] = []
    for factor in factors:
        if runs and free(factor) and free(runs[-1][-1]):
            runs[-1].append(factor)
        else:
            runs.append([factor])
    return [m.Product(*run) for run in runs]


def _sorted_sum(terms: Sequence[m.Expression], free: Callable[[m.Expression], bool]) -> list[m.Expression]:
    """Terms that do not depend on the argument as one term, first."""
    static, rest = [t for t in terms if free(t)], [t for t in terms if not free(t)]
    return [m.Addition(*static), *rest] if static else rest
