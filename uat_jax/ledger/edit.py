"""The one edit of a false statement: the true statement beside it, and the single place in which they differ.

A statement is a tree: an expression, an inequality, a formula, or a tuple of such parts and of numbers and words.  That a
statement fails says little about a slip in it: with the slip mended and two other signs turned it fails as well.  So a
refuted row gives both statements and how a statement of their kind is decided; the place is found by comparing the trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import sympy

from uat_jax.decide.opposite import opposite
from uat_jax.decide.programs import settle_equation
from uat_jax.decide.settings import Settings
from uat_jax.decide.shapes import settle_shape
from uat_jax.decide.verdict import Evidence
from uat_jax.errors import InputError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Edit:
    """``path`` leads from the root of the statement to the place; ``printed`` stands there, ``corrected`` should."""

    path: Path
    printed: object
    corrected: object

    def __str__(self) -> str:
        return f"{self.corrected} for the printed {self.printed}"


@dataclass(frozen=True, eq=False)  # statements may be unhashable, and claims are put in sets
class OneEdit:
    """A printed statement, its correction, and how statements of this kind are decided; called, it decides the printed one.

    Attributes:
        printed: the statement as printed or read, a tree.
        corrected: the same with one place repaired.
        by: (statement, settings) → evidence on it.

    Example:
        ``OneEdit(1 / M, 1 - 1 / M, lambda share, settings: counted(share, …))``
    """

    printed: object
    corrected: object
    by: Callable[[Any, Settings], Iterable[Evidence]]

    def __call__(self, settings: Settings) -> Iterable[Evidence]:
        """Evidence on the printed statement."""
        return self.by(self.printed, settings)

    def repaired(self, settings: Settings) -> Iterable[Evidence]:
        """Evidence on the corrected statement."""
        return self.by(self.corrected, settings)

    @property
    def edit(self) -> Edit:
        """The one place.  Raises `InputError` if there is none, or more than one."""
        return one_edit(self.printed, self.corrected)


def one_edit(printed: object, corrected: object) -> Edit:
    """The one place in which two statements differ.  Raises `InputError` if they are equal or differ in several places.

    A different head, another number of parts, and a part for the whole are a change of the whole node; two parts in the
    opposite order are one change of their node.
    """
    found = list(_edits(printed, corrected, ()))
    if len(found) != 1:
        places = "; ".join(map(str, found[:3])) or "nowhere"
        raise InputError(f"got statements that differ in {len(found)} places ({places}); wanted one")
    return found[0]


def _edits(printed: object, corrected: object, path: Path) -> Iterator[Edit]:
    if printed == corrected:
        return
    ours, theirs = parts(printed), parts(corrected)
    alike = _head(printed) == _head(corrected) and ours and list(ours) == list(theirs)
    inside = printed in theirs.values() or corrected in ours.values()
    if not alike or inside or _turned_round(ours, theirs):
        yield Edit(path, printed, corrected)
        return
    for name, part in ours.items():
        yield from _edits(part, theirs[name], (*path, name))


def _head(statement: object) -> Any:
    """What joins the parts of a statement."""
    return statement.of if isinstance(statement, Formula) else type(statement)


def _turned_round(ours: Mapping[str | int, Any], theirs: Mapping[str | int, Any]) -> bool:
    """Whether exactly two parts have changed places."""
    changed = [name for name in ours if ours[name] != theirs[name]]
    if len(changed) != 2:
        return False
    first, second = changed
    return ours[first] == theirs[second] and ours[second] == theirs[first]


def parts(statement: object) -> dict[str | int, Any]:
    """What a statement consists of, by name or number; nothing for a number, a word, a symbol and a letter."""
    match statement:
        case m.Letter() | sympy.Symbol() | sympy.Number() | Formula(of="letter"):
            return {}
        case sympy.Basic():
            return dict(enumerate(statement.args))
        case Formula():
            return dict(enumerate(statement.operands))
        case tuple() | list():
            return dict(enumerate(statement))
        case Mapping():
            return dict(statement)
        case Step():
            return {"left": statement.left, "right": statement.right}
        case _ if is_dataclass(statement) and not isinstance(statement, type):
            return {f.name: getattr(statement, f.name) for f in fields(statement)}
    return {}


def with_part(statement: Any, path: Path, part: Any) -> Any:
    """The statement with something else at that place."""
    if not path:
        return part
    name, *rest = path
    inner = with_part(parts(statement)[name], tuple(rest), part)
    match statement:
        case sympy.Basic():
            return statement.func(*(inner if n == name else arg for n, arg in enumerate(statement.args)))
        case Formula():
            return Formula(statement.of, with_part(statement.operands, (name,), inner))
        case tuple() | list():
            return type(statement)(inner if n == name else item for n, item in enumerate(statement))
        case Mapping():
            return {**statement, name: inner}
    return replace(statement, **{str(name): inner})


# --- kinds of statements ---------------------------------------------------------------------------------------------


def one_word(found: Callable[[], Iterable[Evidence]], printed: str, corrected: str) -> OneEdit:
    """A statement and its denial, such as "static" and "dynamic"; ``found()`` is evidence on the corrected one."""
    decide = lambda word, settings: found() if word == corrected else opposite(found())
    return OneEdit(printed, corrected, decide)


def one_case(cases: Mapping[Any, Callable[[Settings], Iterable[Evidence]]]) -> OneEdit:
    """A statement that differs from its correction in what one thing in it is: the first of two cases, or the second."""
    printed, corrected = cases
    return OneEdit(printed, corrected, lambda case, settings: cases[case](settings))


def equation(step: Step, corrected: m.Expression, *, what: str = "", subject: str = "") -> OneEdit:
    """``step.left`` is true, ``step.right`` printed; the corrected right side is equal to the left one."""
    decide = lambda right, settings: settle_equation(replace(step, right=right), what=what, subject=subject)
    return OneEdit(step.right, corrected, decide)


@dataclass(frozen=True)
class Formula:
    """A formula that need not make sense: an operation and its operands, built only when it is decided.

    Attributes:
        of: "letter" (name, rows, columns), or one of `OPERATIONS`.
        operands: formulas; of a letter its name and its sizes as SymPy expressions.
    """

    of: str
    operands: tuple[Any, ...]

    def __str__(self) -> str:
        if self.of == "letter":
            return str(self.operands[0])
        if self.of == "transpose":
            return f"{_bracketed(self.operands[0], (*BETWEEN, 'transpose'))}ᵀ"
        if self.of not in BETWEEN:
            return f"{self.of}({', '.join(map(str, self.operands))})"
        loose = () if self.of == "sum" else ("sum", "difference")
        return BETWEEN[self.of].join(_bracketed(operand, loose) for operand in self.operands)

    def at(self, sizes: Mapping[Any, Any]) -> m.Expression:
        """The expression for some sizes.  Raises `ShapeError` where the shapes do not fit."""
        if self.of == "letter":
            name, *shape = self.operands
            return m.Letter(name, *(sympy.sympify(size).xreplace(dict(sizes)) for size in shape))
        return OPERATIONS[self.of](*(operand.at(sizes) for operand in self.operands))


BETWEEN = {"product": " ", "sum": " + ", "difference": " − "}
"""What is written between the operands of an operation; the others are written in front of theirs."""


def _bracketed(operand: Formula, loose: Iterable[str]) -> str:
    return f"({operand})" if operand.of in loose else str(operand)


OPERATIONS: dict[str, Callable[..., m.Expression]] = {
    "product": m.Product,
    "sum": m.Addition,
    "difference": lambda left, right: left - right,
    "transpose": lambda matrix: matrix.T,
    "vec": m.Vectorised,
    "σ": m.Activation,
}


def letter(name: str, rows: Any, columns: sympy.Expr | int) -> Formula:
    """A letter of a formula, with its printed shape."""
    return Formula("letter", (name, sympy.sympify(rows), sympy.sympify(columns)))


def apply(of: str, *operands: Formula) -> Formula:
    """An operation of a formula."""
    return Formula(of, operands)


def shape(formulas: Iterable[Formula], symbols: tuple[str, ...], *, what: str, subject: str = "") -> OneEdit:
    """A formula whose shapes do not fit for all sizes, then one whose shapes do; ``symbols`` are their dimensions."""
    printed, corrected = formulas

    def decide(formula: Formula, settings: Settings) -> Iterator[Evidence]:
        build = lambda *sizes: formula.at(dict(zip(map(m.dimension, symbols), sizes, strict=True)))
        yield replace(settle_shape(build, symbols, what=what), subject=subject)

    return OneEdit(printed, corrected, decide)
