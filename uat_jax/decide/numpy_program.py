"""A counterexample as a program that needs NumPy alone: both straight-line programs, and the numbers put in.

Whole numbers stay whole, so what it prints can be checked by hand.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import sympy

from uat_jax.decide.script import assigned, script
from uat_jax.errors import UnsupportedError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program, letters_of

FUNCTIONS = {
    m.Activation: "relu = lambda z: np.maximum(z, 0)",
    m.RowSoftmax: "softmax = lambda z: np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)",
}
"""The functions that a program may need, by head."""

RESERVED = ("np", "relu", "softmax", "left", "right", "print", "SystemExit")
"""Names that the program uses itself."""


def numpy_program(
    network: Program,
    printed: Program,
    inputs: Mapping[str, Any],
    dimensions: Mapping[sympy.Expr, int],
    names: tuple[str, str],
) -> str:
    """Lines that compute and print both results for whole-number ``inputs`` (letter's text → nested lists).

    Raises `UnsupportedError` for a head that has no counterpart.
    """
    write = _Writer(dimensions, (network, printed))
    again = {str(letter): inputs[str(letter)] for letter in printed.inputs if letter in network}  # overwritten by then
    sides = (network, names[0], "left", {}), (printed, names[1], "right", again)
    computed = [
        [f"# {title}", *write.inputs(given), *write.lines(program), f"{result} = {write.name(program.result)}"]
        for program, title, result, given in sides
    ]
    given = list(write.inputs(inputs))
    lists = [f'"{name}", {value}.ravel().tolist()' for name, value in zip(names, ("left", "right"), strict=True)]
    return script("np", (), write.functions(), given, *computed, values=("left", "right"), shown=lists)


class _Writer:
    """Expressions as NumPy source, their sizes put in."""

    def __init__(self, dimensions: Mapping[sympy.Expr, int], programs: tuple[Program, Program]) -> None:
        self.dimensions = dimensions
        expressions = [e for p in programs for e in p.values()]
        self.heads = {type(part) for e in expressions for part in _parts(e)}
        used = (l for p in programs for letter, e in p.items() for l in (*letters_of(e), letter))
        self.letters = list(dict.fromkeys(used))
        self.names: dict[m.Letter, str] = {}
        for letter in self.letters:
            plain = _identifier(letter)
            taken = {*self.names.values(), *RESERVED, *keyword.kwlist}
            self.names[letter] = next(n for n in (plain, *(f"{plain}_{k}" for k in range(1, 99))) if n not in taken)

    def name(self, letter: m.Letter) -> str:
        return self.names[letter]

    def functions(self) -> list[str]:
        """The functions that the programs need."""
        return [line for head, line in FUNCTIONS.items() if head in self.heads]

    def lines(self, program: Program) -> Iterator[str]:
        for letter, expression in program.items():
            yield f"{self.name(letter)} = {self(expression)}"

    def size(self, size: Any) -> int:
        return int(sympy.sympify(sympy.sympify(size).xreplace(dict(self.dimensions))))

    def inputs(self, numbers: Mapping[str, Any]) -> Iterator[str]:
        """The lines that give the letters their numbers."""
        shape = lambda letter: tuple(map(self.size, letter.shape))
        given = [letter for letter in self.letters if str(letter) in numbers]
        return assigned({self.name(l): np.array(numbers[str(l)]).reshape(shape(l)) for l in given})

    def scalar(self, c: sympy.Expr) -> str:
        value = sympy.sympify(sympy.sympify(c).xreplace(dict(self.dimensions)))
        return str(value) if value.is_Integer else f"({sympy.pycode(value)})".replace("math.", "np.")

    def factor(self, e: m.Expression) -> str:
        text = self(e)
        return f"({text})" if isinstance(e, m.Addition | m.Product | m.Scaled | m.RangeSum | m.Hadamard) else text

    def __call__(self, e: m.Expression) -> str:
        if isinstance(e, m.Letter):
            return self.name(e)
        if type(e) not in _HEADS:
            raise UnsupportedError(f"no NumPy counterpart of the head {type(e).__name__} in {e}")
        return _HEADS[type(e)](self, e)


def _range_sum(write: _Writer, e: m.RangeSum) -> str:
    lower, upper = map(write.size, e.bounds)
    return " + ".join(write.factor(e.at(k)) for k in range(lower, upper + 1)) or write(m.Zero(*e.shape))


def _selection(write: _Writer, e: m.Selection) -> str:
    rows, columns = map(write.size, e.shape)
    return f"np.eye({rows}, {columns}, {-columns * (write.size(e.args[0]) - 1)}, dtype=int)"


_HEADS: dict[type, Callable[[_Writer, Any], str]] = {
    m.Identity: lambda write, e: f"np.eye({write.size(e.shape[0])}, dtype=int)",
    m.Zero: lambda write, e: f"np.zeros({tuple(map(write.size, e.shape))}, int)",
    m.Ones: lambda write, e: f"np.ones({tuple(map(write.size, e.shape))}, int)",
    m.Selection: _selection,
    m.Addition: lambda write, e: " + ".join(map(write, e.operands)),
    m.Scaled: lambda write, e: f"{write.scalar(e.coefficient)} * {write.factor(e.arg)}",
    m.Product: lambda write, e: " @ ".join(map(write.factor, e.operands)),
    m.Hadamard: lambda write, e: " * ".join(map(write.factor, e.operands)),
    m.Diagonal: lambda write, e: f"np.diag({write.factor(e.arg)}[:, 0])",
    m.Transposed: lambda write, e: f"{write.factor(e.arg)}.T",
    m.Kronecker: lambda write, e: f"np.kron({', '.join(map(write, e.operands))})",
    m.Vectorised: lambda write, e: f"{write.factor(e.arg)}.reshape(-1, 1)",
    m.Matricised: lambda write, e: f"{write.factor(e.arg)}.reshape{tuple(map(write.size, e.shape))}",
    m.Activation: lambda write, e: f"relu({write(e.arg)})",
    m.RowSoftmax: lambda write, e: f"softmax({write(e.arg)})",
    m.RangeSum: _range_sum,
}
"""Head of the language → NumPy source; `Letter` is its name."""


def _parts(e: m.Expression) -> Iterator[m.Expression]:
    yield e
    for operand in e.operands:
        yield from _parts(operand)


def _identifier(letter: m.Letter) -> str:
    """Ŵ_{1,3}^(2) is W_hat_1_3_at_2."""
    plain = unicodedata.normalize("NFKD", letter.name)
    for accent, word in (("\u0302", "_hat"), ("\u0303", "_tilde"), ("\u0304", "_bar"), ("σ", "sigma"), ("′", "_prime")):
        plain = plain.replace(accent, word)
    parts = [plain, *map(str, letter.subscripts)]
    if letter.superscripts:
        parts += ["at", *map(str, letter.superscripts)]
    name = re.sub(r"\W+", "_", "_".join(parts))
    return name if name.isidentifier() else f"_{name}"
