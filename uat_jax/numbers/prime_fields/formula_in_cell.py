"""A formula read in one cell of the inputs: what each of its nodes is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import jax.numpy as jnp
import numpy as np

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.integer_ranges import limits
from uat_jax.interpret.recognition import LOWEST, meaning
from uat_jax.numbers.prime_fields import whole_numbers
from uat_jax.numbers.prime_fields.atoms import power
from uat_jax.numbers.prime_fields.cell import Border, Cell, EitherWay, Undecided
from uat_jax.numbers.prime_fields.formula import DECIDED, Formula, Node, name_of, within
from uat_jax.numbers.prime_fields.inequalities import Inequality, Polynomial
from uat_jax.numbers.prime_fields.terms import (
    CHOSEN,
    NOT_A_NUMBER,
    OF_ZERO,
    UNDEFINED,
    Term,
    constant,
    is_chosen,
    is_undefined,
    negated,
    of_chosen,
    opposite,
)
from uat_jax.numbers.prime_fields.whole_numbers import OF_INTEGERS, ROUNDING, small

CONTINUOUS = frozenset(
    "add add_any asinh atan bessel_i0e bessel_i1e convert_element_type cos cosh erf erfc exp exp2 expm1 logistic mul "
    "neg sin sinh square sub tanh".split()
)
"""Functions that are continuous for all real numbers."""

RELATIONS = frozenset(DECIDED) - {"sign"}
"""Comparisons of two numbers."""

LOGICAL = frozenset("and not or xor".split())
"""Operations on booleans."""

OF_CHOSEN = RELATIONS | frozenset("abs max min".split())
"""Operations that make a number or a decision of an infinity or NaN that is written on purpose, as devices do."""

DEFINED = CONTINUOUS | RELATIONS | frozenset("abs cbrt ceil clamp floor max min round sign".split())
"""Functions that are defined for all real numbers."""

DEFINED_AT: Mapping[str, frozenset[int]] = {
    "div": frozenset([-1, 1]),
    "log": frozenset([1]),
    "log1p": frozenset([1]),
    "rsqrt": frozenset([1]),
    "sqrt": frozenset([0, 1]),
}
"""The signs of its last operand, plus 1 for log1p, for which a function is defined; elsewhere it is infinite or NaN."""

OF_POSITIVE = frozenset("log rsqrt sqrt".split())
"""Functions that are NaN below 0."""

OF_POSITIVE_AT_LEAST = frozenset(["digamma", "lgamma"])
"""Functions that are defined for positive numbers, and for some negative ones as well."""

KEEPING_NAN = CONTINUOUS | OF_POSITIVE | frozenset("abs cbrt ceil div floor round".split())
"""Operations whose result, if it is a float, is NaN where an operand is, whatever the other one is."""

PASSING = frozenset("abs add add_any ceil convert_element_type floor mul neg round sqrt square sub".split())
"""Operations whose result, if it is a float, is infinite or NaN where an operand is, whatever the other one is."""


class InCell:
    """The nodes of a formula in a cell: a term, or True or False."""

    def __init__(self, pair: Formula, cell: Cell, meant: bool):
        self.pair, self.cell, self.meant = pair, cell, meant
        self.found: dict[int, Term | bool] = {}
        self.asked: set[int] = set()
        self.is_generic = False

    def results(self) -> tuple[Term, Term]:
        """Both results.  Raises `Undecided`, and `UnsupportedError`."""
        self.is_generic = self._compares_nothing_more()
        left, right = map(self._result, self.pair.results)
        return left, right

    def _result(self, node: int) -> Term:
        """A number, an infinity or NaN of choice, or what is 1 or 0."""
        found = self.at(node)
        return constant(int(found)) if isinstance(found, bool) else found

    def difference(self) -> Polynomial:
        """What the result compares: x − y of two operands, x of one.  Raises `Undecided`, and `UnsupportedError`."""
        (result,) = self.pair.results
        x, *rest = (self.number(operand).polynomial for operand in self.pair.nodes[result].operands)
        return x - rest[0] if rest else x

    def _compares_nothing_more(self) -> bool:
        """Whether the cell is open, all comparisons have one answer in it, and all else is continuous for all inputs.

        Raises:
            Undecided: a comparison has two answers.
        """
        self.is_generic = False
        if not all(_is_continuous(self.pair, node) for node in self.pair.nodes):
            return False
        for index, node in enumerate(self.pair.nodes):
            if node.key[0] == "apply" and name_of(node) in DECIDED:
                try:
                    self.at(index)
                except Undecided as undecided:
                    if undecided.border is Border.OWN:
                        raise
                    return False
                except UnsupportedError:
                    return False
        atoms = self.cell.atoms
        return all(i.strict and atoms.are_variables(i.polynomial) for i in self.cell.inequalities)

    def number(self, node: int) -> Term:
        """A node that is a real number."""
        found = self.at(node)
        if isinstance(found, bool) or is_chosen(found):
            raise UnsupportedError("a decision, infinity or NaN that is no number")
        return found

    def decision(self, node: int) -> bool:
        """A node that is true or false."""
        found = self.at(node)
        if not isinstance(found, bool):
            raise UnsupportedError("a number that decides")
        return found

    def at(self, node: int) -> Term | bool:
        """What a node is."""
        if node not in self.found:
            self.found[node] = self._at(node, self.pair.nodes[node])
        return self.found[node]

    def _at(self, index: int, node: Node) -> Term | bool:
        if node.key[0] == "variable":
            return self._variable(index)
        if node.key[0] == "literal" and jnp.issubdtype(node.dtype, jnp.integer):
            return constant(small(int(node.literal), node.dtype))
        if node.key[0] == "literal":
            return bool(node.literal) if node.dtype == np.bool_ else self._literal(index, node)
        name = name_of(node)
        given = [self.pair.nodes[n].dtype for n in node.operands]
        of_integers = given[:1] if name == "pow" else given
        if name != "convert_element_type" and any(jnp.issubdtype(dtype, jnp.integer) for dtype in of_integers):
            return self._of_integers(name, node)
        if name in ("convert_element_type", "neg") and is_real(node.dtype) and is_real(given[0]):
            operand = self.at(node.operands[0])
            if is_chosen(operand) or operand in OF_ZERO:
                return operand if name != "neg" else opposite(operand)
        if name in OF_CHOSEN and is_real(given[0]):
            operands = [self.at(o) for o in node.operands]
            if CHOSEN[0] in operands and within(node):
                raise UnsupportedError(f"what '{within(node)}' makes of NaN")
            if any(map(is_chosen, operands)) and not any(map(is_undefined, operands)):
                return of_chosen(DECIDED.get(name), name, operands)
        if name == "is_finite":
            operand = self.at(node.operands[0])
            return not (is_chosen(operand) or is_undefined(operand))
        if self.cell.partial:
            found = self._where_undefined(index, name, node)
            if found is not None:
                return found
        rule = RULES.get(name)
        if rule is not None:
            return rule(self, node.operands)
        if name == "convert_element_type" and self.pair.nodes[node.operands[0]].dtype == np.bool_:
            return constant(int(self.decision(node.operands[0])))
        if not all(is_real(dtype) or jnp.issubdtype(dtype, jnp.integer) for dtype in (node.dtype, *given)):
            raise UnsupportedError(f"'{name}' of what is no real number")
        operands = tuple(map(self.number, node.operands))
        return Term(self._polynomial(name, node, [o.polynomial for o in operands]), index, operands)

    def _variable(self, index: int) -> Term:
        """A free variable; one that may be undefined is so or has the value of a number that is equal to it."""
        if index in self.pair.twins:
            if index not in self.cell.outcomes:
                raise EitherWay(index)
            if not self.cell.outcomes[index]:
                return UNDEFINED
            for twin in self.pair.twins[index]:
                found = self._twin(index, twin)
                if found is not None:
                    return found
        return Term(self.cell.atoms.of_variable(index), index)

    def _twin(self, index: int, twin: int) -> Term | None:
        """The number at another node, where it can be followed and is defined; None where it depends on this one."""
        if index in self.asked:
            return None
        self.asked.add(index)
        try:
            found = self.at(twin)
        except UnsupportedError:
            return None
        finally:
            self.asked.discard(index)
        if isinstance(found, bool) or is_undefined(found) or is_chosen(found):
            return None
        return found

    def _of_integers(self, name: str, node: Node) -> Term | bool:
        """What an operation makes of integers, all of which are small numbers in the cell.

        Raises:
            UnsupportedError: they are not, or the operation is not followed.
        """
        if name == "select_n":
            return _select(self, node.operands)
        operands = [self.integer(o) for o in node.operands]
        if name in DECIDED and name != "sign":
            return bool(DECIDED[name](operands[0] - operands[1]))
        if name not in OF_INTEGERS:
            raise UnsupportedError(f"'{name}' of integers")
        return constant(small(OF_INTEGERS[name](*operands), node.dtype))

    def integer(self, node: int) -> int:
        """A node that is one small integer in the whole cell."""
        value = self.number(node).polynomial.value
        if value is None or value.denominator != 1:
            raise UnsupportedError("an integer that a cell does not decide")
        return small(int(value), self.pair.nodes[node].dtype)

    def _where_undefined(self, index: int, name: str, node: Node) -> Term | bool | None:
        """What an operation makes of what is undefined in the cell, or if it is undefined itself; None elsewhere.

        Raises:
            Undecided: it is defined in a part of the cell.
            EitherWay: it decides about what is undefined.
            UnsupportedError: it may make a number of what is undefined, or it is not known where it is defined.
        """
        given = [self.pair.nodes[n].dtype for n in node.operands]
        if name in LOGICAL or name == "select_n" or given[0] == np.bool_:
            return None
        operands = list(map(self.number, node.operands))
        missing = [is_undefined(x) for x in operands]
        if not any(missing):
            if name in DEFINED or self._is_defined(name, node, operands):
                return None
            signs = self.cell.signs(operands[0].polynomial)
            if name in OF_POSITIVE and signs == {-1}:
                return NOT_A_NUMBER
            return next(iter(OF_ZERO)) if name == "log" and signs == {0} else UNDEFINED
        if NOT_A_NUMBER in operands and name in KEEPING_NAN and is_real(node.dtype):
            return NOT_A_NUMBER
        passing = name in PASSING and is_real(node.dtype)  # a cast to integers makes a number of NaN
        if passing or name in ("max", "min") and all(missing) or name == "div" and not missing[1]:
            return UNDEFINED
        if name not in ("max", "min", *RELATIONS):
            raise UnsupportedError(f"'{name}' of what is undefined")
        if index not in self.cell.outcomes:
            raise EitherWay(index)
        outcome = self.cell.outcomes[index]
        return outcome if name in RELATIONS else operands[missing.index(False)] if outcome else UNDEFINED

    def _is_defined(self, name: str, node: Node, operands: Sequence[Term]) -> bool:
        """Whether an operation of numbers is defined in the whole cell; what is known of its atoms then is kept."""
        if name in ("integer_pow", "pow"):
            y = node.equation.params["y"] if name == "integer_pow" else operands[1].polynomial.value  # type: ignore[union-attr]
            if y is None:
                raise UnsupportedError("a power with an exponent that depends on the input")
            if y >= 0 and int(y) == y:
                return True
            name, operands = "div" if int(y) == y else "sqrt" if y > 0 else "rsqrt", operands[:1]
        if name == "rem" and operands[1].polynomial.value:
            return True
        if name in OF_POSITIVE_AT_LEAST and self.cell.signs(operands[0].polynomial) == {1}:
            return True
        if name not in DEFINED_AT:
            raise UnsupportedError(f"where '{name}' is defined is not known")
        p = operands[-1].polynomial
        if name == "log1p":
            p = p + Polynomial.constant(1)
        signs, wanted = self.cell.signs(p), DEFINED_AT[name]
        if not signs <= wanted and signs & wanted:
            raise Undecided(p, Border.OWN)
        if signs <= wanted and not p.is_long:
            self._keep(name, p, signs)
        return signs <= wanted

    def _keep(self, name: str, p: Polynomial, signs: frozenset[int]) -> None:
        """Keep that r² = p and r ≥ 0 for the root r of p ≥ 0, and p/p = 1, in this cell, where they are defined."""
        facts: list[Inequality] = []
        if name in ("sqrt", "rsqrt"):
            root = self._atom("sqrt", "sqrt", [p])
            facts += _equality(root * root - p)
            if 0 not in signs:
                facts.append(Inequality(root, True))
            p = root
        if name in ("div", "rsqrt") and p.value is None:
            inverse = self._inverse(p)
            facts += _equality(p * inverse - Polynomial.constant(1))
            if len(signs) == 1:
                facts.append(Inequality(inverse if signs == {1} else -inverse, True))
        exactly = (Inequality(self.cell.atoms.exactly(fact.polynomial), fact.strict) for fact in facts)
        self.cell.facts.extend(fact for fact in exactly if fact not in self.cell.facts)

    def _literal(self, index: int, node: Node) -> Term:
        """A constant; of one that may stand for another number than is written only the sign is known."""
        value = float(node.literal)
        if self.cell.partial and not np.isfinite(value) and is_real(node.dtype):
            return CHOSEN[0 if np.isnan(value) else int(np.sign(value))]
        if not np.isfinite(value) or not is_real(node.dtype) or self.meant and value <= LOWEST:
            raise UnsupportedError("a constant that is no real number")
        meant = meaning(value, node.dtype)
        if not self.meant or meant.as_written:
            return Term(Polynomial.constant(Fraction(value)), index)
        number = None if meant.form is None else meant.form.rational
        magnitude = self.cell.atoms.of_constant(node.key, None if number is None else abs(number))
        return Term(magnitude if value > 0 else -magnitude, index)

    def _polynomial(self, name: str, node: Node, operands: list[Polynomial]) -> Polynomial:
        """What an operation makes of polynomials: a polynomial, or if that is long an atom of its own."""
        found = self._expanded(name, node, operands)
        return self._atom(name, node.key, operands) if found is None or found.is_long else found

    def _expanded(self, name: str, node: Node, operands: list[Polynomial]) -> Polynomial | None:
        """The result of an operation on polynomials, if it is a polynomial in their atoms and inverses."""
        match name, operands:
            case "add" | "add_any", [x, y]:
                return x + y
            case "sub", [x, y]:
                return x - y
            case "mul", [x, y]:
                return x * y
            case "neg", [x]:
                return -x
            case "square", [x]:
                return x * x
            case "convert_element_type", [x]:
                return x if is_real(node.dtype) else self._cast(x, node.dtype)
            case "floor", [x]:
                return whole_numbers.floor(x, self.cell.atoms, self._is_zero)
            case "ceil", [x]:
                return whole_numbers.ceil(x, self.cell.atoms, self._is_zero)
            case "round", [x]:
                return whole_numbers.rounded(x, self.cell.atoms, node.equation.params["rounding_method"])  # type: ignore[union-attr]
            case "rem", [x, y] if y.value:
                return x - y * self._truncated(x * Polynomial.constant(1 / y.value))
            case "integer_pow", [x] if 0 < node.equation.params["y"] <= 4:  # type: ignore[union-attr]
                return power(x, node.equation.params["y"])  # type: ignore[union-attr]
            case "integer_pow", [x] if -4 <= node.equation.params["y"] < 0:  # type: ignore[union-attr]
                return power(self._inverse(x), -node.equation.params["y"])  # type: ignore[union-attr]
            case "pow", [x, y] if y.value in (1, 2, 3, 4):
                return power(x, int(y.value))
            case "sqrt", [x] if self.cell.partial:
                return self._atom("sqrt", "sqrt", [x])
            case "rsqrt", [x] if self.cell.partial:
                return self._inverse(self._atom("sqrt", "sqrt", [x]))
            case "div", [x, y]:
                return x * self._inverse(y)
        return None

    def _inverse(self, p: Polynomial) -> Polynomial:
        """1/p, where a program divides by p: of one monomial that with the opposite exponents, else an atom."""
        return p.inverse or self._atom("inverse", "inverse", [p])

    def _cast(self, x: Polynomial, dtype: Any) -> Polynomial:
        """What a cast to an integer dtype makes of a number that fits it in the whole cell."""
        low, high = (Polynomial.constant(int(bound)) for bound in limits(np.dtype(dtype)))
        inside = (x - low + Polynomial.constant(1), high + Polynomial.constant(1) - x)
        if any(self.cell.signs(p) != {1} for p in inside):
            raise UnsupportedError(f"a cast to {dtype} of a number that may not fit")
        return self._truncated(x)

    def _truncated(self, x: Polynomial) -> Polynomial:
        nonnegative = lambda p: self.larger(Term(p), constant(0))
        return whole_numbers.truncated(x, self.cell.atoms, self._is_zero, nonnegative)

    def _is_zero(self, x: Polynomial) -> bool:
        return bool(self.compared("eq", Term(x), constant(0)))

    def _atom(self, name: str, key: Any, operands: Sequence[Polynomial]) -> Polynomial:
        return self.cell.atoms.of_function(name, key, operands)

    def larger(self, x: Term, y: Term) -> bool:
        """Whether x ≥ y may be said; where both are equal either answer is right."""
        difference = self.cell.atoms.compared(x.polynomial - y.polynomial, self.cell.signs)
        signs = self.cell.signs(difference)
        if {-1, 1} <= signs:
            thin = self.is_generic and self.cell.atoms.are_variables(difference)
            raise Undecided(difference, Border.NONE if thin else Border.BOTH)
        return -1 not in signs

    def compared(self, name: str, x: Term, y: Term) -> Any:
        """What a decision makes of the sign of x − y."""
        difference = self.cell.atoms.compared(x.polynomial - y.polynomial, self.cell.signs)
        answers = {DECIDED[name](sign) for sign in self.cell.signs(difference)}
        if len(answers) != 1:
            raise Undecided(difference, Border.OWN)
        return answers.pop()


def _equality(p: Polynomial) -> list[Inequality]:
    """p = 0."""
    return [Inequality(p, False), Inequality(-p, False)]


def _is_continuous(pair: Formula, node: Node) -> bool:
    """Whether a node is a continuous function of its operands for all of them, or decides by signs."""
    if jnp.issubdtype(node.dtype, jnp.integer):
        return False
    if node.key[0] != "apply" or name_of(node) in CONTINUOUS or name_of(node) in RULES:
        return True
    if name_of(node) == "integer_pow":
        return node.key[2][0][1] >= 0
    last = pair.nodes[node.operands[-1]]
    if name_of(node) == "pow":
        return last.key[0] == "literal" and float(last.literal).is_integer() and last.literal >= 0
    return name_of(node) == "div" and last.key[0] == "literal" and last.literal != 0


def is_real(dtype: Any) -> bool:
    """Whether a dtype is one of floats."""
    return jnp.issubdtype(dtype, jnp.floating)


def _max(cell: InCell, operands: Sequence[int]) -> Term:
    x, y = map(cell.number, operands)
    return x if cell.larger(x, y) else y


def _min(cell: InCell, operands: Sequence[int]) -> Term:
    x, y = map(cell.number, operands)
    return y if cell.larger(x, y) else x


def _clamp(cell: InCell, operands: Sequence[int]) -> Term:
    """min(max(x, low), high)."""
    low, x, high = map(cell.number, operands)
    inner = x if cell.larger(x, low) else low
    return high if cell.larger(inner, high) else inner


def _abs(cell: InCell, operands: Sequence[int]) -> Term:
    (x,) = map(cell.number, operands)
    return x if cell.larger(x, constant(0)) else negated(x)


def _sign(cell: InCell, operands: Sequence[int]) -> Term:
    (x,) = map(cell.number, operands)
    return constant(cell.compared("sign", x, constant(0)))


def _select(cell: InCell, operands: Sequence[int]) -> Term | bool:
    predicate, *choices = operands
    which = int(cell.decision(predicate)) if cell.pair.nodes[predicate].dtype == np.bool_ else cell.integer(predicate)
    if not 0 <= which < len(choices):
        raise UnsupportedError("a selection of a case that does not exist")
    return cell.at(choices[which])


def _comparison(name: str) -> Rule:
    def rule(cell: InCell, operands: Sequence[int]) -> bool:
        if cell.pair.nodes[operands[0]].dtype == np.bool_:
            first, second = map(cell.decision, operands)
            return bool(DECIDED[name](int(first) - int(second)))
        x, y = map(cell.number, operands)
        return bool(cell.compared(name, x, y))

    return rule


Rule = Callable[[InCell, Sequence[int]], Term | bool]

RULES: Mapping[str, Rule] = {
    **{name: _comparison(name) for name in DECIDED if name != "sign"},
    "abs": _abs,
    "and": lambda cell, operands: all([cell.decision(o) for o in operands]),
    "clamp": _clamp,
    "max": _max,
    "min": _min,
    "not": lambda cell, operands: not cell.decision(operands[0]),
    "or": lambda cell, operands: any([cell.decision(o) for o in operands]),
    "select_n": _select,
    "sign": _sign,
    "xor": lambda cell, operands: cell.decision(operands[0]) != cell.decision(operands[1]),
}
"""What decides, and what is decided by the sign of a real number."""


DECIDES = frozenset(RULES) | ROUNDING
"""Primitives that cases have a rule for: they decide by a sign, or by the whole numbers next to a number."""


def decides(found: Formula) -> bool:
    """Whether a formula decides anything by signs, or makes whole numbers."""
    return any(node.key[0] == "apply" and name_of(node) in DECIDES for node in found.nodes)


def is_defined(found: Formula) -> bool:
    """Whether everything in a formula is a real number, or a decision, wherever its variables are."""
    of_all = DEFINED | LOGICAL | {"select_n"}
    return all(
        np.all(np.isfinite(np.asarray(node.literal, np.float64)))
        if node.key[0] == "literal"
        else node.key[0] == "variable" or name_of(node) in of_all
        for node in found.nodes
    )
