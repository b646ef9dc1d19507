"""Reads statements of certificates back into the language of the prover, so that it can be asked about them."""

from collections.abc import Mapping
from typing import Any

import sympy

from uat_jax.symbolic import language as m
from uat_jax.symbolic.inequality import deduce
from uat_jax.symbolic.normal_form import Normaliser
from uat_jax.symbolic.step import Induction

KINDS: dict[str, dict[str, bool]] = {
    "size": {"integer": True, "positive": True},
    "count": {"integer": True, "nonnegative": True},
    "integer": {"integer": True},
    "number": {"real": True},
    "positive": {"positive": True},
    "nonnegative": {"nonnegative": True},
}
HEADS: dict[str, Any] = {
    "+": m.Addition,
    "@": m.Product,
    "T": m.Transposed,
    "kron": m.Kronecker,
    "vec": m.Vectorised,
    "had": m.Hadamard,
    "diag": m.Diagonal,
    "sigma": m.Activation,
    "softmax": m.RowSoftmax,
}
RELATIONS = {"<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge, "=": sympy.Eq}


class Reader:
    """One statement, as expressions of the prover."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.symbols = {name: sympy.Symbol(name, **KINDS[kind]) for name, kind in data["symbols"].items()}

    def scalar(self, s: Any, env: Mapping[str, Any] = {}) -> Any:
        """A number."""
        if isinstance(s, int):
            return sympy.Integer(s)
        if isinstance(s, str):
            return env[s] if s in env else self.symbols[s]
        head, *parts = s
        if head == "at":
            indices = [self.scalar(p, env) for p in parts[1:]]
            return sympy.Indexed(sympy.IndexedBase(parts[0], integer=True, positive=True), *indices)
        values = [self.scalar(p, env) for p in parts]
        operations = {"+": sympy.Add, "*": sympy.Mul, "abs": sympy.Abs, "max": sympy.Max, "min": sympy.Min}
        operations |= {"^": sympy.Pow, "/": lambda p, q: sympy.Rational(int(p), int(q))}
        return operations[head](*values)

    def term(self, t: Any, env: Mapping[str, Any] = {}) -> m.Expression:
        """A matrix."""
        head, *parts = t
        size = lambda s: self.scalar(s, env)
        match head:
            case "L":
                name, rows, columns, low, high = parts
                return m.Letter(name, size(rows), size(columns), tuple(map(size, low)), tuple(map(size, high)))
            case "I" | "0" | "1" | "E":
                return {"I": m.Identity, "0": m.Zero, "1": m.Ones, "E": m.Selection}[head](*map(size, parts))
            case ".":
                return m.Scaled(size(parts[0]), self.term(parts[1], env))
            case "unvec":
                return m.Matricised(self.term(parts[0], env), size(parts[1]), size(parts[2]))
            case "f":
                return m.Dependent(self.term(parts[0], env), self.term(parts[1], env))  # type: ignore[arg-type]
            case "sum":
                index = sympy.Dummy(parts[1], integer=True, positive=True)
                body = self.term(parts[0], {**env, parts[1]: index})
                return m.RangeSum(body, index, size(parts[2]), size(parts[3]))
        return HEADS[head](*(self.term(part, env) for part in parts))

    def definitions(self, *lists: Any) -> Any:
        """What letters stand for, the index of a rule being that of a sum around it."""
        fixed, rules = {}, []
        for entry in (e for found in lists for e in found):
            if "for" in entry:
                rules.append((entry, self.scalar(entry["for"][1])))
            else:
                fixed[self.term(entry["letter"])] = self.term(entry["is"])

        def definition(letter: m.Letter, ranges: Mapping[Any, Any]) -> m.Expression | None:
            for entry, upper in rules:
                for index in (i for i, bound in ranges.items() if bound == upper):
                    env = {entry["for"][0]: index}
                    if self.term(entry["letter"], env) == letter:
                        return self.term(entry["is"], env)
            return fixed.get(letter)

        return definition

    def holds(self) -> bool:
        """Whether the prover finds the statement true."""
        return getattr(self, f"_{self.data['kind'].replace(' ', '_')}")()

    def _equation(self) -> bool:
        d = self.data
        left = Normaliser(self.definitions(d["definitions"], d["left_definitions"]))
        right = Normaliser(self.definitions(d["definitions"], d["right_definitions"]), left.letters)
        first, second = self.term(d["left"]), self.term(d["right"])
        return m.same_shape(first, second) and left(first) == right(second)

    def _no_identity(self) -> bool:
        return not self._equation()

    def _static(self) -> bool:
        d, parameter = self.data, self.term(self.data["parameter"])
        inputs = [self.term(x) for x in d["inputs"]]
        where = self.definitions(d["definitions"])

        def other(letter: m.Letter, ranges: Mapping[Any, Any]) -> m.Expression | None:
            rows, columns = letter.shape
            another = m.Letter(f"{letter.name}~", rows, columns, letter.subscripts)
            return another if letter in inputs else where(letter, ranges)

        left = Normaliser(where)
        return left(parameter) == Normaliser(other, left.letters)(parameter)

    def _induction(self) -> bool:
        d = self.data
        index, layer = (self.symbols[d[k]] for k in ("index", "layer_index"))
        hole, start, of_layer, closed = (self.term(d[k]) for k in ("input", "start", "layer", "closed"))
        assert isinstance(hole, m.Letter)
        first, later = self.definitions(d["first"]), self.definitions(d["next"])
        of = Induction(index, layer, hole, start, of_layer, closed, first, later)
        base, step = of.sides(1), of.sides(index + 1)
        return Normaliser(first).equal(*base) and Normaliser(later).equal(*step)

    def _inequality(self) -> bool:
        relation = lambda r: RELATIONS[r[0]](self.scalar(r[1]), self.scalar(r[2]))
        return bool(deduce(relation(self.data["claim"]), list(map(relation, self.data["hypotheses"]))).cases)
