"""A straight-line program: letter → expression over earlier letters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import sympy

from uat_jax.errors import InputError
from uat_jax.symbolic import language as m


def letters_of(expression: m.Expression) -> Iterator[m.Letter]:
    """The letters of an expression, left to right, with repetitions."""
    pending = [expression]
    while pending:
        match pending.pop():
            case m.Letter() as letter:
                yield letter
            case m.Dependent(arg=argument):
                pending.append(argument)
            case part:
                pending.extend(part.operands[::-1])


@lru_cache(maxsize=1 << 16)
def distinct_letters(expression: m.Expression) -> tuple[m.Letter, ...]:
    """The letters of an expression in order of first use, each once; remembered for every part of it."""
    if isinstance(expression, m.Letter):
        return (expression,)
    parts = (expression.arg,) if isinstance(expression, m.Dependent) else expression.operands
    return tuple(dict.fromkeys(letter for part in parts for letter in distinct_letters(part)))


@dataclass(frozen=True)
class Program(Mapping[m.Letter, m.Expression]):
    """Lines ``letter = expression`` in order; ``result`` is the letter whose value is the program's.

    Raises `InputError` if a line uses a letter that a later line defines.
    """

    lines: dict[m.Letter, m.Expression]
    result: m.Letter

    def __post_init__(self) -> None:
        ahead = set(self.lines)
        for letter, expression in self.lines.items():
            if not ahead.isdisjoint(letters_of(expression)):
                early = next(l for l in letters_of(expression) if l in ahead)
                raise InputError(f"the line of {letter} uses {early}, which is defined later or by itself")
            ahead.remove(letter)

    def __getitem__(self, letter: m.Letter) -> m.Expression:
        return self.lines[letter]

    def __iter__(self) -> Iterator[m.Letter]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def inputs(self) -> tuple[m.Letter, ...]:
        """The letters that no line defines, in order of first use."""
        used = (l for e in self.lines.values() for l in distinct_letters(e) if l not in self.lines)
        return tuple(dict.fromkeys(used))

    def __str__(self) -> str:
        return "\n".join(f"{letter} = {expression}" for letter, expression in self.items())

    def latex(self) -> str:
        """The lines as an ``align*`` environment."""
        rows = (f"{sympy.latex(l)} &= {sympy.latex(e)}" for l, e in self.items())
        return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"
