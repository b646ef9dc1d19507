"""Mutants of the prover: one fragment of its source replaced by another that makes a law, a fact or a table wrong.

A row of a table is (fragment, replacement, kind, why it is wrong, the test that notices).  The fragment stands exactly
once in its file; the test is one of the ordinary suite.  A row of the last table says instead why a mutant computes the
same as the original, for all inputs: no test can notice it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uat_jax

PACKAGE = Path(uat_jax.__file__).parent
"""The source that is mutated."""

CONDITION = "side condition dropped"
WEAKER = "comparison weakened"
SIGN = "sign changed"
CONSTANT = "wrong constant"
IGNORED = "parameter ignored"
FACT = "fact too optimistic"
SHARED = "letter shared"
SPECIAL = "special code ignored"
RANGE = "range too narrow"
ROW = "table row changed"

KINDS = (CONDITION, WEAKER, SIGN, CONSTANT, IGNORED, FACT, SHARED, SPECIAL, RANGE, ROW)


@dataclass(frozen=True)
class Mutant:
    """One change: `file` within the package, `killer` the test that notices, or `equivalent` why none can."""

    file: str
    fragment: str
    replacement: str
    kind: str
    why: str
    killer: str = ""
    equivalent: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.why}"

    def applied(self, source: str) -> str:
        """The mutated source."""
        count = source.count(self.fragment)
        if count != 1:
            raise ValueError(f"{self}: its fragment {self.fragment!r} stands {count} times in the file, wanted once")
        return source.replace(self.fragment, self.replacement)


# Tests that notice many mutants, each with the row of its own table.
DIFFERS = "test_prover_alone.py::test_what_differs_is_never_equal_in_prime_fields"
TWINS = "test_prover_alone.py::test_twins_are_never_different_in_prime_fields"
UNSOUND = "test_field_soundness.py::test_different_functions_are_never_certified"
SOUND = "test_field_soundness.py::test_equal_functions_are_certified"
LAW = "test_laws.py::test_the_law_makes_them_equal"
BEYOND = "test_laws.py::test_just_beyond_the_side_condition_they_are_called_different"
OUTSIDE = "test_laws.py::test_outside_the_domain_they_are_called_different"
MATRICES = "test_linear_algebra.py::test_pairs_just_outside_are_not_certified"
LAW_TWIN = "test_laws.py::test_no_law_makes_the_twin_equal"
INSIDE = "test_domains.py::test_what_differs_in_the_domain_is_refuted_inside"
WRAPS = "test_integers.py::test_what_may_wrap_is_refused"
DEFINITION = "test_definitions.py::test_definition_agrees_with_jax"

# fmt: off
TABLE: dict[str, Sequence[tuple[str, str, str, str, str]]] = {
    "numbers/prime_fields/facts.py": [
        ("(self.positive, other.positive), (self", "(other.positive, other.positive), (self", CONDITION, "what is sure of positive letters is sure of all", "test_facts.py::test_facts_that_say_more_imply_those_that_say_less_and_are_not_implied_by_them[positive]"),
        ("finite & (values > 0)", "finite & (values >= 0)", WEAKER, "the constant 0 is positive", DIFFERS + "[divisors: isinf]"),
        ("positive, negative = finite & (values > 0), finite & (values < 0)", "positive, negative = finite & (values > 0), finite & (values <= 0)", FACT, "the constant 0 is negative", "test_signs.py::test_the_rules_of_signs_say_what_numbers_have[1-abs]"),
        ("for known in (positive, negative))", "for known in (True, negative))", FACT, "an input is positive", DIFFERS + "[undefined: in a scan]"),
        ("for known in (self.positive, self.negative))", "for known in (self.thin, self.negative))", FACT, "a thin entry of some known sign is positive once it is moved", "test_signs.py::test_the_rules_of_signs_say_what_numbers_have[1-asinh]"),
        ("positive = negative = nowhere(thin.shape)", "positive, negative = thin, nowhere(thin.shape)", FACT, "a thin entry of no known sign is positive once it is moved", DIFFERS + "[undefined: in a scan]"),
        ("self.positive | (signs <= {1})", "self.positive | (signs <= {0, 1})", WEAKER, "what is not negative under a condition is positive", DIFFERS + "[guards: not negative is not positive]"),
    ],
    "numbers/prime_fields/fact_rules.py": [
        ('ENTIRE = frozenset("asinh', 'ENTIRE = frozenset("floor asinh', ROW, "floor is entire", DIFFERS + "[divisors: a floor divided by itself]"),
        ('"asinh atan cbrt erf expm1', '"asinh atan cbrt erf expm1 floor', ROW, "floor is zero at 0 only", DIFFERS + "[facts: 1 by a floor]"),
        ('"digamma lgamma log rsqrt sqrt"', '"atanh digamma lgamma log rsqrt sqrt"', ROW, "atanh is defined for all positive numbers", DIFFERS + "[facts: atanh of an exponential decided, not <=]"),
        ('frozenset("abs argmax argmin cbrt', 'frozenset("abs argmax argmin sqrt cbrt', ROW, "sqrt is defined everywhere", DIFFERS + "[undefined: isnan of sqrt]"),
        ('frozenset("abs argmax argmin cbrt', 'frozenset("abs argmax argmin div cbrt', ROW, "div is defined everywhere", DIFFERS + "[undefined: NaN > y and y >= NaN]"),
        ("gt is_finite le lt ne not", "gt is_finite le lt max ne not", ROW, "a maximum is a decision and forgets NaN", DIFFERS + "[facts: a maximum with a logarithm decided, not <=]"),
        ("return facts[0].thin & facts[1].thin", "return facts[0].thin | facts[1].thin", FACT, "a maximum is thin where one of its members is", DIFFERS + "[facts: 1 by a maximum]"),
        ('"round sinh sqrt".split()', '"max min round sinh sqrt".split()', ROW, "a minimum passes an infinity on", DIFFERS + "[laws: a clip by the sign of a zero]"),
        ("return worst if is_number(equation.invars[0]) and is_number(equation.outvars[0]) else Nature.PIECEWISE", "return worst", CONDITION, "a cast to an integer is as smooth as its operand", DIFFERS + "[steps: cast to int16: == against never]"),
        ('if name == "integer_pow" and equation.params["y"] >= 0:', 'if name == "integer_pow":', CONDITION, "1/x is entire", DIFFERS + "[facts: arctangents by a power: > and >=]"),
        ("worst if worst is Nature.ENTIRE and has_signs else", "worst if worst is Nature.ENTIRE else", CONDITION, "a quotient by what may be 0 is entire", DIFFERS + "[facts: arctangents: > and >=]"),
        ("if name in OF_POSITIVE and facts[0].positive.all():", "if name in OF_POSITIVE:", CONDITION, "log is defined wherever its operand is", DIFFERS + "[undefined: isnan of log]"),
        ("return Defined.ALMOST if facts.thin.all() else Defined.PARTLY", "return Defined.ALWAYS if facts.thin.all() else Defined.PARTLY", FACT, "a thin divisor is never 0", DIFFERS + "[undefined: NaN > y and y >= NaN]"),
        ("if any([f.hollow for f in facts]) and equation.primitive.name not in DECISIONS:\n        return True", "", FACT, "what is made of a hollow number is solid", DIFFERS + "[laws: twice an inverse by the sign of a zero]"),
        ("np.any(counts & ~_known(divisor).thin)", "False", FACT, "nothing is hollow", DIFFERS + "[divisors: relu by a sign, times its argument]"),
        ("if not all([_nonnegative(x) for x in operands]) or any(", "if any(", CONDITION, "a positive number plus any other is positive", DIFFERS + "[undefined: log < 1 and not >= 1]"),
        ("getattr(facts[0], which) & getattr(facts[1], which)", "getattr(facts[0], which) | getattr(facts[1], which)", FACT, "a product is positive where one factor is", DIFFERS + "[facts: 1 by y times a relu]"),
        ("all(getattr(f, which).all() and not", "all(getattr(f, which).any() and not", FACT, "one positive entry makes a product of matrices positive", DIFFERS + "[facts: 1 by an entry of a sum of products]"),
        ("np.logical_and.reduce([getattr(f, which) for f in facts[1:]])", "np.logical_or.reduce([getattr(f, which) for f in facts[1:]])", FACT, "a choice is positive where one case is", DIFFERS + "[facts: 1 by y where x < 30]"),
        ('"logistic": _wherever_finite,', '"logistic": _wherever_finite,\n    "cos": _wherever_finite,', ROW, "cos is positive", DIFFERS + "[facts: log of a cosine, not >=]"),
        ('"log1p": _same("positive"),', '"log1p": _same("positive"),\n    "sub": _product("positive"),', ROW, "a difference of positive numbers is positive", DIFFERS + "[facts: log of a difference of exponentials, not >=]"),
        ('"neg": _same("negative"),', '"neg": _same("positive"),', ROW, "-x is positive where x is", "test_signs.py::test_the_rules_of_signs_say_what_numbers_have[1-neg]"),
        ("smaller.negative & (larger.positive", "smaller.positive & (larger.positive", ROW, "x - y is positive where both are", "test_signs.py::test_the_rules_of_signs_say_what_numbers_have[2-sub]"),
        ("getattr(facts[0], which).all(axis=", "getattr(facts[0], which).any(axis=", ROW, "a minimum of a row is positive where one entry is", DIFFERS + "[facts: log of the smallest of two, not >=]"),
        ('"add": _sum("thin"),', '"add": _same("thin"),', ROW, "a sum is thin where its first term is", DIFFERS + "[divisors: 1 chosen by a sign]"),
        ('"neg": _same("thin"),', '"neg": _same("thin"),\n    "max": _same("thin"),', ROW, "a maximum is thin where its first member is", DIFFERS + "[facts: 1 by a maximum]"),
        ('"neg": _same("thin"),', '"neg": _same("thin"),\n    "sub": _product("thin"),', ROW, "a difference of thin numbers is thin", DIFFERS + "[facts: 1 by x - |x|]"),
        ("False if nature is Nature.PIECEWISE else nonzero(result.residues)", "nonzero(result.residues)", CONDITION, "what is piecewise and not zero is thin", DIFFERS + "[divisors: relu by a sign, times its argument]"),
        ("nature, defined = _nature(equation, operands, known), _defined(equation, operands, known)", "nature, defined = _nature(equation, operands, known), Defined.ALWAYS", FACT, "everything is defined everywhere", DIFFERS + "[undefined: NaN > y and y >= NaN]"),
        ("for x in operands]) or any([f.guarded for f in facts]):", "for x in operands]):", CONDITION, "a sum is not 0 where its term is not, under a condition too", "test_facts.py::test_a_term_says_nothing_of_a_sum_under_a_condition[thin]"),
    ],
    "numbers/prime_fields/cases.py": [
        ("return total == 0", "return True", CONDITION, "constants of the terms of sums need not cancel", DIFFERS + "[stretched: a constant too much in a sum of signs]"),
    ],
    "numbers/prime_fields/exchanges.py": [
        (" or not same(first.residues, case.residues)", "", CONDITION, "rows are exchanged as in the first way", MATRICES + "[which rows are exchanged]"),
        (" or not fields.certain(of.matrices)", "", CONDITION, "the sign of a determinant of NaN is NaN", MATRICES + "[isnan of a sign and of that of a determinant]"),
        (" and _is_never_taken(fields, equation, x, order)", "", CONDITION, "no device takes a pivot that is 0", DIFFERS + "[pivots: the first row of U of a column of zeros]"),
        (" and (factors.facts is None or not factors.facts.hollow)", "", CONDITION, "a pivot that is 0 is divided by", DIFFERS + "[pivots: the last pivot by the order, on a half-line]"),
    ],
    "numbers/prime_fields/factored.py": [
        ("(b.letter != of.order_of).any() or ", "", CONDITION, "rows are in the order that is asked for", MATRICES + "[rows in the opposite order]"),
        ("(x.letter.ravel()[values] != letter // n * n + v).any()", "False", CONDITION, "rows are where they were before they are put back", MATRICES + "[a transposed solution that is reversed and put back]"),
    ],
    "numbers/prime_fields/spectra.py": [
        ("each[1].moved(lambda a: a[..., ::-1])", "each[1]", SIGN, "eigenvalues of the opposite matrix keep their order", MATRICES + "[eigenvalues of the opposite matrix in its order]"),
    ],
    "numbers/prime_fields/spectral_functions.py": [
        ("return same(x, values) or same(x, values.moved(lambda a: a[:, ::-1]))", "return True", CONDITION, "any row of three numbers is that of the eigenvalues", MATRICES + "[magnitudes of eigenvalues]"),
    ],
    "interpret/linear_algebra.py": [
        ("undefined = 0 * sum(roots[1:], roots[0])", "undefined = 0 * roots[0]", FACT, "Cholesky is defined where its first pivot is positive", "test_linear_algebra.py::test_cholesky_is_undefined_in_every_entry"),
    ],
    "numbers/prime_fields/orthogonal.py": [
        ('inverse = of_matrix(fields, "diagonal of R", x, squares.shape).residues', "inverse = fields.functions.inverse(fields.functions.root(squares)).residues", SIGN, "the diagonal of R is positive", MATRICES + "[the sign of a column]"),
    ],
    "numbers/prime_fields/fields.py": [
        ("result.but(almost=other.but(lawful=lawful and other.lawful))", "result.but(almost=other.but(lawful=True))", FACT, "what is made of unlawful decisions is lawful", DIFFERS + "[zeros: |x| - x: sign squared and 1]"),
        ('if not self.meet(self.expressions, result.expression, meant="constants as meant" in self.functions.laws):\n            return result', "", CONDITION, "cases meet without being looked at", DIFFERS + "[steps: a function float64 cannot follow, floor]"),
        ('name in PASSES_HOLLOW and not (name == "select_n" and isinstance(operands[0], Number))', "name in PASSES_HOLLOW", CONDITION, "a choice passes an infinity on, chosen or not", DIFFERS + "[divisors: 1 chosen by a sign]"),
        ("f is not None and f.defined is Defined.ALWAYS and not f.hollow for f in known", "f is not None and not f.hollow for f in known", CONDITION, "every number is defined for all inputs", DIFFERS + "[undefined: NaN > y and y >= NaN]"),
        ("f is not None and f.defined is Defined.ALWAYS and not f.hollow for f in known", "f is not None and f.defined is not Defined.PARTLY and not f.hollow for f in known", WEAKER, "almost everywhere is everywhere", DIFFERS + "[undefined: NaN > y and y >= NaN]"),
        ("if any(f is None or f.defined is Defined.PARTLY or f.hollow for f in known):\n            return found", "", CONDITION, "what may be undefined is decided almost everywhere", DIFFERS + "[undefined: isfinite of log]"),
        ("if difference is not None and vanishes(difference.residues).any():\n            return found", "", CONDITION, "what is zero as a function has a sign almost everywhere", TWINS + "[ties: a number and itself in a maximum]"),
        ("lawful = all(f is not None and f.nature is not Nature.PIECEWISE for f in known) or difference is None", "lawful = True", CONDITION, "piecewise numbers are equal on null sets only", DIFFERS + "[zeros: far a difference of logs: sign squared and 1]"),
        ("and not s for o, s in zip(operands, supplied, strict=True)):", "and False for o, s in zip(operands, supplied, strict=True)):", CONDITION, "an index that depends on the input is ignored", DIFFERS + "[undefined: NaN as an index]"),
        ("agree & (codes[0] == codes[1]) & (codes[0] != UNDEFINED)", "agree & (codes[0] != UNDEFINED)", SPECIAL, "a number and an infinity agree", DIFFERS + "[laws: infinity and its negative]"),
        ("(codes[0] == codes[1]) & (codes[0] != UNDEFINED)", "(codes[0] == codes[1])", SPECIAL, "two undefined entries agree", DIFFERS + "[laws: twice an infinity and its negative]"),
        ("return x.code == y.code and np.all", "return np.all", SPECIAL, "∞ agrees with -∞", DIFFERS + "[undefined: two infinities]"),
        ("x.code == y.code and np.all(x.where.residues.levels[0] == y.where.residues.levels[0], axis=0)", "x.code == y.code", SPECIAL, "it does not matter for which inputs numbers are infinite", DIFFERS + "[laws: infinite below 1 and below 2]"),
        ("        if not certain:\n            self.expressions.doubtful", "        if False:\n            self.expressions.doubtful", CONDITION, "no decision is about NaN", DIFFERS + "[guards: NaN of a piecewise number]"),
        ("nonnegative=x.nonnegative or -1 not in signs", "nonnegative=x.nonnegative or 1 in signs", FACT, "what may be positive under a condition is not negative", DIFFERS + "[guards: unequal is not above]"),
        ("zip((False, True), cases, strict=True))]", "zip((True, False), cases, strict=True))]", SIGN, "each case of a selection is under the condition of the other", DIFFERS + "[guards: the other case]"),
    ],
    "numbers/prime_fields/piecewise.py": [
        ("return self.draw.subtract(h(x), h(self.draw.negate(x)))", "return self.draw.add(h(x), h(self.draw.negate(x)))", SIGN, "odd functions are even", TWINS + "[ties: halves away, odd]"),
        ('"""h(x) - h(-x)."""\n        h = functools.partial(self.draw.opaque, name)', 'h = functools.partial(self.draw.opaque, "odd")', SHARED, "all odd functions are one", DIFFERS + "[ties: round to even and away]"),
        ('self.draw.opaque("step", self.direction(x, everywhere=True))', 'self.draw.opaque("step", self.direction(x))', CONDITION, "a step of √v·x is one of x where v is 0", UNSOUND + "[sign times a root]"),
        ('self.draw.opaque("step", self.direction(x, everywhere=True))', 'self.even("step", self.direction(x, everywhere=True))', SIGN, "[x > 0] is [x < 0]", UNSOUND + "[sign times a root]"),
        ('value = self.odd("sign", self.direction(x))', 'value = self.odd("sign", self.draw.fraction(1, x.shape))', SHARED, "all signs are one", TWINS + "[zeros: max + min]"),
        ('value = self.odd("sign", self.direction(x))', 'value = self.even("sign", self.direction(x))', SIGN, "a sign is even", TWINS + "[zeros: max + min]"),
        ("one = turned(self.draw.fraction(1, x.shape))", "one = self.draw.fraction(1, x.shape)", SIGN, "a letter and its negative are confused", TWINS + "[zeros: max + min]"),
        ("if x.nonnegative:\n            return x\n        value", "if True:\n            return x\n        value", CONDITION, "|x| is x", TWINS + "[zeros: max + min]"),
        ("special=_magnitudes(x.special), largest_of", "special=x.special, largest_of", SPECIAL, "|-∞| is -∞", SOUND + "[magnitude of infinity]"),
        ("if a.special is not None and np.all(a.special == MINUS_INFINITY):\n                return b", "if a.special is not None and np.any(a.special == MINUS_INFINITY):\n                return b", CONDITION, "one masked entry masks a row", SOUND + "[relu of a mask]"),
        ("if b.nonnegative and a.special is None and vanishes(a.residues).all():", "if a.special is None and vanishes(a.residues).all():", CONDITION, "max(0, x) is x", DIFFERS + "[guards: the other case]"),
        ("if b.nonnegative and a.special is None and vanishes(a.residues).all():", "if b.nonnegative and a.special is None:", CONDITION, "max(x, y) is y where y is not negative", TWINS + "[zeros: relu of a square]"),
        ("if b.nonnegative and a.special is None and vanishes(a.residues).all():", "if b.nonnegative and vanishes(a.residues).all():", SPECIAL, "an infinity of residue 0 is 0", DIFFERS + "[laws: a maximum of infinity and a relu]"),
        ("if united[0].shape[0] == 2 and united[1] is None:", "if united[0].shape[0] == 2:", SPECIAL, "a masked entry counts in a maximum", SOUND + "[relu of a mask]"),
        ("there = None if x.special is None else (x.special != MINUS_INFINITY)[None]", "there = None", SPECIAL, "an entry of -∞ counts in a maximum of maxima", SOUND + "[relu of a mask]"),
        ("return union, None if present is None else each(present[None])[0]", "return union, None", SPECIAL, "an entry of -∞ counts in a maximum", DIFFERS + "[undefined: a smallest over a mask]"),
        ("self.add(self.add(a, b), self.absolute(self.subtract(a, b)))", "self.subtract(self.add(a, b), self.absolute(self.subtract(a, b)))", SIGN, "a maximum is a minimum", TWINS + "[ties: relu and half of x + |x|]"),
        ("nonnegative=a.nonnegative or b.nonnegative)", "nonnegative=True)", FACT, "every maximum is not negative", DIFFERS + "[laws: magnitude of a maximum]"),
        ('chosen(draw.opaque("member", draw.scale(deviation, 1 / scale)))', "chosen(draw.fraction(1, deviation.shape))", SHARED, "a maximum depends on the mean only", DIFFERS + "[laws: largest of two rows of one mean]"),
        ("smallest = self.negate(self.largest(self.negate(rows), (0,)))", "smallest = self.largest(rows, (0,))", SIGN, "the smallest is the largest", DIFFERS + "[laws: smallest and largest]"),
        ("total(draw.negate(deviation)))\n        return draw.add(mean, draw.subtract(up, down))", "total(deviation))\n        return draw.add(mean, draw.subtract(up, down))", SIGN, "order statistics are not turned with the sign", DIFFERS + "[laws: middle and mean]"),
        ("if codes is None or not np.any(codes > FINITE):", "if True:", SPECIAL, "a maximum with ∞ or NaN is finite", DIFFERS + "[laws: a largest entry with an infinity]"),
    ],
    "numbers/prime_fields/algebra.py": [
        ("nonnegative=value >= 0)", "nonnegative=True)", FACT, "every constant is not negative", DIFFERS + "[laws: magnitude of a relu by -2]"),
        ("special=combined_special((x.special, y.special), x.shape, _sum_codes),", "", SPECIAL, "a sum with an infinity is finite", SOUND + "[masks of two sizes]"),
        ("nonnegative=x.nonnegative and y.nonnegative,\n            scale=self.common_scale", "nonnegative=x.nonnegative or y.nonnegative,\n            scale=self.common_scale", FACT, "a sum is not negative where one term is not", "test_laws.py::test_without_the_law_they_are_called_different[squares are nonnegative: fast variance]"),
        ("if a is not None and b is not None and a.letter.is_(b.letter):\n            constant", "if a is not None and b is not None:\n            constant", SHARED, "sums of different roots have one letter", UNSOUND + "[sign times a root]"),
        ("constant = None if q.constant is None else draw.negate(q.constant)", "constant = q.constant", SIGN, "-(a + bℓ) = a - bℓ", TWINS + "[zeros: max + min]"),
        ("if not difference.nonnegative and self._is_variance(difference, x, y):", "if True:", CONDITION, "every difference is not negative", "test_laws.py::test_without_the_law_they_are_called_different[squares are nonnegative: fast variance]"),
        ("return same(variance.reshaped(difference.shape), difference.residues)", "return True", CONDITION, "every sum of squares less a square is a variance", DIFFERS + "[laws: relu of moments]"),
        ("identical = x is y", "identical = True", CONDITION, "every product is a square", UNSOUND + "[sign times a root]"),
        ("nonnegative=x.nonnegative and y.nonnegative or square", "nonnegative=x.nonnegative or y.nonnegative or square", FACT, "a product is not negative where one factor is not", UNSOUND + "[sign of a sum of far relus]"),
        ("special=combined_special((x.special, y.special), x.shape, _any_undefined),", "", SPECIAL, "a product with an infinity is finite", UNSOUND + "[comparison of an undefined product]"),
        ("abs(c) for z, c in zip((x, y), scales", "c for z, c in zip((x, y), scales", SIGN, "a negative factor is a positive scale", LAW_TWIN + "[homogeneity: absolute value]"),
        ("z.scale if c is None or c == 0 else", "z.scale if c is None else", CONDITION, "0 is a scale", DIFFERS + "[steps: a jump scaled by x]"),
        ("b = self._where_alike(a.letter, b, y)\n            if b", "pass\n            if b", SHARED, "√v·√w = v", DIFFERS + "[booleans: dot and a count]"),
        ("squares if a.letter.square is None else multiply(squares, a.letter.square)", "squares", IGNORED, "√v·√v = 1", LAW + "[square of a root: product]"),
        ("special = np.where(zero, UNDEFINED, FINITE).astype(np.int8) if zero.any() else None", "special = None", SPECIAL, "1/0 = 1", DIFFERS + "[laws: an inverse of 0 and of 1]"),
        ("return number.but(special=special, nonnegative=x.nonnegative", "return number.but(special=special, nonnegative=True", FACT, "1/x is not negative", DIFFERS + "[laws: magnitude of an inverse]"),
        ("np.where(clash, UNDEFINED, np.where(a == FINITE, b, a))", "np.where(a == FINITE, b, a)", SPECIAL, "∞ - ∞ = ∞", DIFFERS + "[laws: infinity less infinity]"),
    ],
    "numbers/prime_fields/field_constants.py": [
        ("special = np.where(np.isneginf(values), MINUS_INFINITY, special)", "special = np.where(np.isneginf(values), INFINITY, special)", SPECIAL, "-∞ is ∞", SOUND + "[relu of a mask]"),
        ("bool(np.all(finite >= 0) and not special.any())", "True", FACT, "constants are not negative", DIFFERS + "[laws: magnitude of a relu times constants]"),
        ("enclosure = Enclosure(lambda: _rounded(values, dtype), constants", "enclosure = Enclosure(lambda: exact_balls(values), constants", FACT, "a constant is decided by as it is written", DIFFERS + "[constants: a ceil of a third times 3]"),
    ],
    "numbers/prime_fields/gathering.py": [
        ("if len(codes) > 1 or any(n.special is not None for n in numbers):", "if False:", CONDITION, "infinities of two kinds are joined", DIFFERS + "[laws: a row of the chosen and the written]"),
    ],
    "numbers/prime_fields/field_rules.py": [
        ("return Number(fields.draw.opaque(name, *(n.residues for n in numbers)), ", "return Number(fields.draw.opaque(name, numbers[0].residues), ", IGNORED, "an unknown function ignores its second operand", DIFFERS + "[facts: a second operand]"),
        ("(_of_integers if _integers(equation) else rule)(", "rule(", CONDITION, "bits of integers are logic", DIFFERS + "[laws: and of bits]"),
        ("f.add(one, f.exponential(f.negate(x)))", "f.add(one, f.exponential(x))", SIGN, "logistic(x) = 1/(1 + exp x)", LAW_TWIN + "[exponential form: logistic]"),
        ("fields.functions.circular(x)[which]", "fields.functions.circular(x)[0]", IGNORED, "sin is cos", TWINS + "[zeros: sin\\xb2 + cos\\xb2]"),
        ("if dtype_of(equation.outvars[0]) == np.bool_:\n        return _some_pair", "if False:\n        return _some_pair", CONDITION, "products of booleans are counts", DIFFERS + "[booleans: a dot counted in int32]"),
        ("known &= {0, way}", "known &= {way}", WEAKER, "a number that is not negative is positive", UNSOUND + "[far one-hot > 0]"),
        ("fields.decision(equation, (x,), x, lambda: f.sign(x), almost, strict=True)", "almost()", CONDITION, "the square of a sign is 1, at 0 too", DIFFERS + "[zeros: |x| - x: sign squared and 1]"),
        ("    _refuse_undefined(equation, x, y)\n    signs", "    signs", SPECIAL, "NaN equals NaN", DIFFERS + "[laws: infinity less infinity]"),
        ("return f.subtract(f.constant(1, x.shape), x).but(nonnegative=True)", "return f.subtract(f.constant(0, x.shape), x).but(nonnegative=True)", CONSTANT, "not p = -p", TWINS + "[steps: floor >= 5 and not <]"),
        ("if is_number(equation.outvars[0]) or old == np.bool_ or old == new:", "if is_number(equation.outvars[0]) or np.issubdtype(new, np.integer):", CONDITION, "a cast to an integer keeps the number", DIFFERS + "[integers: int8 of a negative number]"),
        ("if fits:\n        return _odd", "if True:\n        return _odd", CONDITION, "a cast that wraps or saturates is odd", UNSOUND + "[saturation is not odd]"),
        ("_opaque(f\"{'number' if real else old} to {new}\")", '_opaque("cast")', IGNORED, "casts to all dtypes are alike", UNSOUND + "[short integers]"),
        ('"acos": _acos,', '"acos": _odd("acos"),', ROW, "acos is odd", DIFFERS + "[laws: acos of the opposite]"),
        ('"floor": _opaque("floor"),', '"floor": _odd("floor"),', ROW, "floor is odd", TWINS + "[ties: ceil and floor]"),
        ('"lgamma": _opaque("lgamma"),', '"lgamma": _opaque("digamma"),', SHARED, "lgamma is digamma", DIFFERS + "[laws: lgamma and digamma]"),
        ("_odd(f\"round {equation.params['rounding_method']}\")", '_odd("round")', IGNORED, "halves are rounded in all ways alike", DIFFERS + "[ties: round to even and away]"),
        ("    if not fields.certain(x, y):\n        return ALL_SIGNS\n", "", CONDITION, "NaN ≥ 0", DIFFERS + "[undefined: sqrt >= 0 and 1]"),
        ("(-1, f.subtract(y, x))", "(-1, f.subtract(x, y))", SIGN, "x > y is false where x ≥ y", "test_domains.py::test_the_end_counts_everywhere_and_not_almost_everywhere"),
        ("signs_between(*(*fields.operand_ranges, NOTHING)[:2])", "signs_between(*fields.operand_ranges[::-1])", SIGN, "x < y where x > y by its range", "test_reached.py::test_ranges_decide_in_the_prime_fields_too[below]"),
        ("if first.low >= second.high:\n        return x if way > 0 else y", "if first.high >= second.high:\n        return x if way > 0 else y", RANGE, "one maximum is by the upper ends", INSIDE + "[maximum]"),
        ("return x if way > 0 else y", "return x", IGNORED, "a minimum by ranges is a maximum", "test_domains.py::test_what_holds_in_the_domain_is_certified[minimum]"),
        ("if range_of.low >= 0:", "if range_of.high >= 0:", RANGE, "a magnitude is the number where its upper end is positive", INSIDE + "[magnitude where some are negative]"),
        ("for difference, value in ((f.subtract(x, y), 1), (f.subtract(y, x), 0)):", "for difference, value in ((f.subtract(x, y), 0), (f.subtract(y, x), 1)):", SIGN, "a number that is not negative is almost never positive", "test_domains.py::test_the_end_counts_everywhere_and_not_almost_everywhere"),
        ("if is_number(equation.outvars[0]) or old == np.bool_ or old == new:", "if True:", CONDITION, "every cast keeps the number", UNSOUND + "[short integers]"),
    ],
    "numbers/prime_fields/inverses.py": [
        ('if name == "atan2" and not _is_off_origin(functions, operands):', "if False:", CONDITION, "the origin has an angle", DIFFERS + "[inverses: two ways round from the origin]"),
        ('functions.laws or not result.nonnegative or not 0 < size', "functions.laws or not 0 < size", CONDITION, "any multiple of a root is one", DIFFERS + "[inverses: a multiple of a root]"),
    ],
    "numbers/prime_fields/powers.py": [
        ("x.facts is None or x.facts.guarded or not x.nonnegative", "x.facts is None or x.facts.guarded", CONDITION, "a number of any sign is a factor", BEYOND + "[powers of a product]"),
        ("(factors[place][0], factors[place][1] + q)", "(factors[place][0], factors[place][1])", IGNORED, "u^p·u^q = u^p", LAW + "[powers of a product: a third and two thirds]"),
        ("tuple((u, p * q) for u, p in x.powers)", "x.powers", IGNORED, "√(u²) = u²", LAW + "[logarithm of a product: a root]"),
        ("if x.exponentials is not None and x.exponentials.below:", "if False:", IGNORED, "√(n/d)² = n", DIFFERS + "[powers: square of the root of a quotient of sums]"),
        ("multiply(one.square, other.square)", "one.square", IGNORED, "(√u·√v)² = u", TWINS + "[powers: square of one more than two roots]"),
    ],
    "numbers/prime_fields/exponential_sums.py": [
        ("and all(c > 0 for c, _ in x.terms)", "and any(c > 0 for c, _ in x.terms)", CONDITION, "e^x − 1 is positive", DIFFERS + "[powers: root of a square of expm1]"),
        ("tuple((-c, t) for c, t in x.terms)", "x.terms", SIGN, "1 - s is 1 + s", LAW + "[signs of sums of exponentials: what sigmoid leaves of 1]"),
    ],
    "numbers/prime_fields/power_rules.py": [
        ("    if not all_positive(known):\n        return result\n    value = result", "    value = result", CONDITION, "log(uv) = log u + log v for u ≥ 0", OUTSIDE + "[logarithm of a positive input: product]"),
        ('not in functions.laws or not is_positive(x):\n        return result\n    if x.known', 'not in functions.laws:\n        return result\n    if x.known', CONDITION, "x^y is e^(y log x) for x = 0", BEYOND + "[power as an exponential]"),
        ("== rational_form(-1):", ".rational is not None:", CONDITION, "log1p(y + c) = log y", DIFFERS + "[powers: log1p of one more]"),
        ("functions.subtract(x, along), HALF", "functions.add(x, along), HALF", SIGN, "the softplus of a magnitude with the wrong half", DIFFERS + "[powers: softplus with the wrong half]"),
        ("or facts.guarded or not y.nonnegative:", "or facts.guarded:", CONDITION, "the recurrence of log Γ for any sign", BEYOND + "[recurrence of the gamma function]"),
        ("[y] if is_positive(y) else []", "[y]", CONDITION, "a step of ψ from 0", OUTSIDE + "[recurrence of the gamma function: digamma]"),
        ("Fraction(-steepness)", "Fraction(steepness)", SIGN, "tanh log u by u²", LAW + "[exponential of a logarithm: tanh of softplus]"),
    ],
    "numbers/prime_fields/field_functions.py": [
        ('if x.square_of is not None and "root of a square" in self.laws:\n            return self.absolute(x.square_of)', 'if x.square_of is not None and "root of a square" in self.laws:\n            return x.square_of', SIGN, "√x² = x", LAW + "[root of a square: of anything]"),
        ("letter = self._root_letter(self.draw.scale(x.residues, 1 / scale))", "letter = self._root_letter(x.residues)", IGNORED, "√(4x) = 2√(4x)", LAW + "[homogeneity: root]"),
        ('inverse = self.draw.opaque("rsqrt", square)', 'inverse = self.draw.opaque("rsqrt", self.draw.fraction(1, square.shape))', SHARED, "all roots have one letter", DIFFERS + "[constants: an epsilon in a norm]"),
        ("value = self.multiply(self.spread(self.closed(power), x.shape), self.exponential(x.summand[0]))", "value = self.exponential(x.summand[0])", IGNORED, "exp(y + log 2) = exp y", "test_constants.py::test_equal_as_meant_is_certified_and_says_how_constants_are_read[2 exp x]"),
        ("residues = self.draw.where(x.special == MINUS_INFINITY, self.draw.fraction(0), residues)", "residues = self.draw.where(x.special == MINUS_INFINITY, self.draw.fraction(1), residues)", SPECIAL, "exp(-∞) = 1", DIFFERS + "[undefined: the smallest of no numbers is not 0]"),
        ('draw.exponential(e, "circular")', "draw.exponential(e)", SHARED, "exp(ix) = exp(x)", DIFFERS + "[laws: cos and cosh]"),
        ("zero = np.where(vanishes(x.residues), MINUS_INFINITY, FINITE)", "zero = np.where(vanishes(x.residues), FINITE, FINITE)", SPECIAL, "log 0 is a number", SOUND + "[sum of no exponentials]"),
        ("inverse = closed_form.exponential(negated(log) or log)", "inverse = closed_form.exponential(log)", SIGN, "log(c·y) = log c + log(c²y)", "test_constants.py::test_equal_as_meant_is_certified_and_says_how_constants_are_read[log 3x]"),
    ],
    "numbers/prime_fields/number.py": [
        ("return (self.square is None) == (other.square is None) and same(self.value, other.value)", "return True", SHARED, "all letters are one", UNSOUND + "[sign times a root]"),
        ("return (self.square is None) == (other.square is None) and same(self.value, other.value)", "return (self.square is None) == (other.square is None)", SHARED, "all roots are one, and all signs", UNSOUND + "[sign times a root]"),
        ("    \"special\": _flat,\n", "    \"special\": lambda special, move: None,\n", SPECIAL, "infinities are lost where entries are moved", DIFFERS + "[laws: infinities in two places]"),
    ],
    "numbers/prime_fields/chosen_infinities.py": [
        ("where = f.add(where, f.multiply(factor, f.spread(infinite.where, finite.shape)))", "where = f.add(where, f.spread(infinite.where, finite.shape))", IGNORED, "the choice of an infinity does not matter", DIFFERS + "[laws: infinite above and below]"),
        ("for infinite in (p, q):\n        total = finite_part(fields, total, infinite)", "", IGNORED, "a sum keeps its finite part where a term is infinite", TWINS + "[laws: a number plus an infinity, chosen]"),
        ("value = finite_part(fields, fields.functions.exponential(finite), infinite)", "value = fields.functions.exponential(finite)", SPECIAL, "exp(-∞) = 1 where the input decides", DIFFERS + "[laws: exp of an infinity, chosen]"),
        ("if not fields.certain(finite):", "if False:", CONDITION, "is_finite of what may be NaN is known", DIFFERS + "[laws: a logarithm or an infinity is finite]"),
    ],
    "numbers/prime_fields/expressions.py": [
        ('key: Any = ("constant", dtype, str(values.dtype), values.shape, _bits(values))', 'key: Any = ("constant", dtype, str(values.dtype), values.shape)', SHARED, "all constants are one", UNSOUND + "[sign and comparison]"),
        ("(operation, tuple(order), result)", "(operation, result)", SHARED, "operands of an expression do not matter", DIFFERS + "[steps: cast to int32 around zero: > against >=]"),
    ],
    "numbers/prime_fields/uninterpreted.py": [
        ("if any(number.special is not None for number in numbers):", "if False:", SPECIAL, "an unknown function takes an infinity for its residue", "test_uninterpreted.py::test_what_is_no_function_of_real_numbers_is_unknown_with_the_reason[infinity]"),
        ("name = hashlib.sha256(repr((parameters_digest(equation), where, fixed))", "name = hashlib.sha256(repr((equation.primitive.name, where, fixed))", IGNORED, "parameters of an unknown function do not matter", "test_uninterpreted.py::test_equal_operands_give_equal_results[parameters]"),
    ],
    "interpret/closed_form.py": [
        ("return self.coefficient > 0 and all(", "return self.coefficient != 0 and all(", WEAKER, "-√2 is positive", "test_constants.py::test_closed_forms_are_the_values_of_balls[plus]"),
        ("_log_sum(a.constant * b.rational, {base: q * b.rational for base, q in a.logs})", "_log_sum(a.constant, {base: q * b.rational for base, q in a.logs})", IGNORED, "2(1 + log 3) = 1 + 2 log 3", "test_constants.py::test_equal_as_meant_is_certified_and_says_how_constants_are_read[entropy]"),
        ("and x.powers == y.powers:", "and len(x.powers) == len(y.powers):", CONDITION, "√2 + √3 = 2√2", "test_constants.py::test_closed_forms_are_the_values_of_balls[plus]"),
        ("return None if exponent < 0 else rational(0 if exponent else 1)", "return rational(0 if exponent else 1)", CONDITION, "1/0 = 0", "test_constants.py::test_closed_forms_say_none_where_nothing_is_defined"),
        ("exponents = {base: q * exponent for base, q in x.powers}", "exponents = {base: q for base, q in x.powers}", IGNORED, "(√π)² = √π", "test_constants.py::test_closed_forms_are_the_values_of_balls[root]"),
        ("factors = _factors(x.coefficient) if isinstance(x, Product) and x.positive else None", "factors = _factors(abs(x.coefficient)) if isinstance(x, Product) and x.coefficient else None", CONDITION, "log(-2) = log 2", "test_constants.py::test_closed_forms_say_none_where_nothing_is_defined"),
        ("_product(Fraction(1), {E: x.rational})", "_product(Fraction(1), {E: abs(x.rational)})", SIGN, "exp(-1) = exp 1", "test_constants.py::test_closed_forms_are_the_values_of_balls[exp]"),
        ("((value.numerator, 1), (value.denominator, -1))", "((value.numerator, 1), (value.denominator, 1))", SIGN, "log(1/2) = log 2", "test_constants.py::test_closed_forms_are_the_values_of_balls[root]"),
    ],
    "numbers/balls/constants.py": [
        ("return self.distinct[0] if len(self.distinct) == 1 else None", "return self.distinct[0]", CONDITION, "an array is its smallest entry", "test_constants.py::test_constants_that_differ_by_more_than_rounding_are_refuted[one entry]"),
        ("codes.append(renumbered[part.codes].ravel())", "codes.append(part.codes.ravel())", IGNORED, "joined constants keep the numbers of their own table", DIFFERS + "[constants: roots of two constants put together]"),
    ],
    "interpret/recognition.py": [
        ("LOWEST = -1e30", "LOWEST = -1e3", CONSTANT, "-1000 is a mask", "test_constants.py::test_masks_and_what_is_not_finite"),
        ("if value <= LOWEST:", "if abs(value) >= -LOWEST:", SIGN, "1e30 is a mask", "test_constants.py::test_masks_and_what_is_not_finite"),
        ("\n            exact = form.rational == Fraction(value)", "\n            exact = True", CONDITION, "what a constant stands for is what is written", LAW + "[constants as meant: fractions]"),
        ("form, exact, 0.0 if exact else radius + away)", "form, exact, 0.0)", CONSTANT, "a rounded constant has no radius", DIFFERS + "[constants: a ceil of a third times 3]"),
        ("if m.reading is not None)", "if m.reading is not None and m.form is not None)", SPECIAL, "masks are no assumption", SOUND + "[masks of two sizes]"),
        ("_within(Fraction(Decimal(text)), value, unit / 2)", "_within(Fraction(Decimal(text)), value, unit)", WEAKER, "decimals that round to another float are accepted", "test_constants.py::test_every_meaning_rounds_back[bfloat16]"),
        ("return abs(candidate - Fraction(value)) <= Fraction(slack)", "return abs(candidate - Fraction(value)) <= 1000 * Fraction(slack)", WEAKER, "numbers far from a constant are what it stands for", "test_constants.py::test_every_meaning_rounds_back[bfloat16]"),
    ],
    "interpret/integer_ranges.py": [
        ("0: x.low <= y.high and y.low <= x.high", "0: x.low < y.high and y.low < x.high", WEAKER, "a number is not at the end of its range", "test_reached.py::test_ranges_say_which_signs_a_difference_has"),
        ("1: x.high > y.low", "1: x.low > y.low", RANGE, "a difference has the sign of the lower ends", "test_reached.py::test_ranges_say_which_signs_a_difference_has"),
        ("self.low <= other.low and other.high <= self.high", "self.low <= other.low", CONDITION, "only the lower bound counts", DIFFERS + "[integers: counted in int8]"),
        ("self.low <= other.low and other.high <= self.high", "self.low <= other.low and other.high <= self.high + 1", WEAKER, "a range holds one number more", DIFFERS + "[integers: minus of the least int8]"),
        ("if found not in allowed:", "if False:", CONDITION, "nothing wraps", DIFFERS + "[integers: minus of the least int8]"),
        ("return Range(_plus(x.low, y.low), _plus(x.high, y.high))", "return Range(_plus(x.low, y.low), max(x.high, y.high))", RANGE, "a sum is as large as its largest term", DIFFERS + "[integers: int8 plus 100]"),
        ("_exact(largest) ** count if count", "_exact(largest) if count", IGNORED, "a power is as large as its base", WRAPS + "[a prefix product]"),
        ("if y.low <= 0 <= y.high or not all", "if not all", CONDITION, "a divisor is not 0", "test_integers.py::test_ranges_hold_on_the_device[18]"),
        ("math.prod(shape_of(equation.invars[0])[axis] for axis in contracted), _product(x, y))", "1, _product(x, y))", IGNORED, "a product of matrices has one term", "test_integers.py::test_ranges_hold_on_the_device[18]"),
        ("return x if x in allowed else allowed\n", "return x\n", CONDITION, "a cast between integers never wraps", "test_primitives.py::test_integers_of_every_copy_are_those_of_jax[uint32]"),
    ],
    "interpret/primitives.py": [
        ('return "i" if jnp.iinfo(dtype).bits >= 8 else ""', 'return "i"', CONDITION, "integers of four bits have a theory", "test_primitives.py::test_a_dtype_without_a_theory_is_refused"),
        ("value >= getattr(jnp.finfo(dtype_of(equation.invars[0])), bits)", "True", CONDITION, "reduce_precision keeps every float", "test_primitives.py::test_values_that_change_the_meaning_are_refused[reduce_precision mantissa_bits=7]"),
        ('"axes": lambda equation, value: len(value) == 1 or not equation.primitive.name.startswith("arg"),', "", ROW, "argmax over several axes is followed", "test_primitives.py::test_values_that_change_the_meaning_are_refused[argmax axes=tuple]"),
        ('"is_stable": lambda equation, value: value or equation.params.get("num_keys") == len(equation.invars),', "", ROW, "unstable sorts are stable", "test_primitives.py::test_values_that_change_the_meaning_are_refused[sort is_stable=False]"),
        ("value is None or value == dtype_of(equation.invars[0])", "True", CONDITION, "a product of another dtype is followed", "test_primitives.py::test_values_that_change_the_meaning_are_refused[mul out_dtype=Float16DType]"),
        ('equation.primitive.name == "scatter" or combines(equation)', "True", CONDITION, "a scatter computes what its name says", "test_primitives.py::test_scatters_whose_update_is_not_theirs_are_refused"),
        ("parameter not in row.parameters | _PLACEMENT:", "False:", CONDITION, "every parameter is known", "test_primitives.py::test_every_parameter_is_known_and_no_other[sort]"),
    ],
    "interpret/scattering.py": [
        ("given and operation.primitive.name == name and", "given and", CONDITION, "every update of one operation is that of the name", "test_primitives.py::test_scatters_whose_update_is_not_theirs_are_refused"),
        ("if reduce is None and len(table) > 1:", "if False:", CONDITION, "several updates on one entry: the first counts", "test_definitions.py::test_updates_that_land_twice"),
        ('_update(parameters) if name == "scatter" else None', "None", IGNORED, "x.at[i].apply(f) writes the update", DIFFERS + "[scatters: apply under jit]"),
    ],
    "interpret/structure.py": [
        ('if parameters["mode"] != GatherScatterMode.FILL_OR_DROP:', "if True:", IGNORED, "a gather that fills clips", DIFFERS + "[scatters: get outside, clipped and filled]"),
        ('"transpose": lambda parameters, x: x.transpose(parameters["permutation"]),', '"transpose": lambda parameters, x: x.transpose(np.argsort(parameters["permutation"])),', ROW, "a transposition is its inverse", "test_definitions.py::test_definitions_in_balls[conv strided]"),
    ],
    "numbers/balls/balls.py": [
        ("return x if x.is_zero() else decisions.sign(x) * abs(x).root(3)", "return x if x.is_zero() else abs(x).root(3)", SIGN, "cube roots are not negative", "test_primitives.py::test_balls_hold_jax_at_special_values[cbrt]"),
        ("min(max(_integer(v), limits.min), limits.max)", "_integer(v)", CONDITION, "casts do not saturate", "test_primitives.py::test_balls_hold_jax_at_special_values[cast to uint32]"),
        ("return interpret(closed_jaxpr, Balls(reading, deadline), arguments)", "return interpret(closed_jaxpr, Balls(Reading.WRITTEN, deadline), arguments)", CONSTANT, "no constant is rounded", "test_constants.py::test_positions_of_quantiles"),
        ('CARRY_NAN = STRUCTURAL | {"conv', 'CARRY_NAN = STRUCTURAL | {"mul", "conv', ROW, "NaN times 0 is one that is written", "test_witnesses.py::test_a_nan_that_is_written_is_a_value[NaN times 0]"),
        ("if equation.primitive.name not in CARRY_NAN and any(map(_has_nan, results)):", "if False:", CONDITION, "every NaN is one that is written", "test_witnesses.py::test_a_nan_that_is_written_is_a_value[NaN times 0]"),
        ("interpret(closed_jaxpr, WrittenNan(", "interpret(closed_jaxpr, DefinedBalls(", CONDITION, "a NaN that is computed may be chosen", "test_witnesses.py::test_a_nan_that_is_written_is_a_value[NaN times 0]"),
    ],
    "numbers/balls/decisions.py": [
        ("if opposite(x, y):\n            return False\n        raise", "return False\n        raise", CONDITION, "what is not certain is false", "test_arithmetic.py::test_undecided_comparison"),
        ("if x > 0 or x < 0 or x.is_zero():\n        return x.sgn()", "return x.mid().sgn()", CONDITION, "the sign of a ball is that of its midpoint", "test_constants.py::test_what_a_reading_could_flip_is_decided_neither_way[sign]"),
        ("if not result.is_exact():", "if False:", CONDITION, "a ball around a whole number has one floor", "test_definitions.py::test_undecided_orders[floor]"),
        ("return 2 * floor(nearest / 2) if tie else nearest", "return nearest", CONDITION, "halves are rounded up", "test_primitives.py::test_balls_hold_jax_at_special_values[round to even]"),
        ("for row in rows[:count]])", "for row in rows[:1]])", IGNORED, "only the first key of a sort counts", "test_definitions.py::test_orders_and_integers[lexicographic]"),
    ],
    "numbers/floats/doubles.py": [
        ("above = whole >= bounds.max", "above = whole > bounds.max", WEAKER, "the largest integer of 64 bits wraps", "test_primitives.py::test_float64_is_jax_at_special_values[cast to int64]"),
        ("operands[:count][::-1], axis=axis)", "operands[:1][::-1], axis=axis)", IGNORED, "only the first key of a sort counts", "test_definitions.py::test_orders_and_integers_of_every_copy[lexicographic]"),
    ],
    "interpret/definitions.py": [
        ('return 1 / result if parameters["y"] < 0 else result', "return result", SIGN, "x^-n = x^n", DEFINITION + "[integer_pow-bfloat16]"),
        ('"lt_to": lambda parameters, x, y: x < y', '"lt_to": lambda parameters, x, y: x <= y', ROW, "< is ≤", DEFINITION + "[total order, strict-bfloat16]"),
    ],
    "numbers/prime_fields/residues.py": [
        ("self.compared(math.isqrt(len(among)) + 1)", "self.compared(0)", IGNORED, "an element that is looked for is no test", "test_error_bound.py::test_every_pair_of_exponents_that_is_compared_counts"),
        ('return self.each("multiply", a.degree * b.degree, a, b)', 'return self.each("multiply", a.degree | b.degree, a, b)', CONSTANT, "a product has the degree of a sum", "test_degree.py::test_degrees_are_upper_bounds[8]"),
        ("(key(name, k, *self.seed), every)", '(key("one", k, *self.seed), every)', SHARED, "all unknown functions are one", DIFFERS + "[undefined: NaN sorted by one key and by two]"),
    ],
    "numbers/prime_fields/error_bound.py": [
        ("SPARE = 3", "SPARE = 0", CONSTANT, "no copy is spare", "test_error_bound.py::test_too_few_copies_are_conditional[2]"),
        ("chance = degree * (1 / draw.levels[k].field.prime + 2.0**-52)", "chance = degree / draw.levels[k].field.prime", IGNORED, "draws are exactly uniform", "test_error_bound.py::test_the_bound_is_computed_again[a, b, ab--]"),
        ("yield tests + copies[k] * epsilon(2 * draw.largest_degree(k), k)", "yield copies[k] * epsilon(2 * draw.largest_degree(k), k)", IGNORED, "one pair of arguments is compared", "test_error_bound.py::test_the_bound_is_computed_again[a, b, ab--]"),
        ("copies[k] * epsilon(2 * draw.largest_degree(k), k)", "copies[k] * epsilon(1, k)", IGNORED, "arguments have degree 1", "test_error_bound.py::test_the_bound_is_computed_again[a, b, ab--]"),
        ("copies - found.rank < SPARE):", "False):", CONDITION, "any number of copies is a theorem", "test_error_bound.py::test_too_few_copies_are_conditional[4]"),
        ("if found.count and found.width is None:", "if False:", CONDITION, "exponents that are no combinations are a theorem", "test_error_bound.py::test_rank_and_width_of_planted_relations[a, 123456789a/987654321--]"),
        ("if rank == count:\n        return Exponents(count, rank, 1)", "if True:\n        return Exponents(count, rank, 1)", CONDITION, "exponents are independent", "test_error_bound.py::test_rank_and_width_of_planted_relations[a, 123456789a/987654321--]"),
    ],
    "numbers/prime_fields/formula.py": [
        ("(part_of,) if part_of else ()", "()", SHARED, "argmax decides about NaN as > does", DIFFERS + "[entries: argmax of NaN, and NaN above a number]"),
        ("(*kept, (shape, expression.shape))", "kept", CONDITION, "a row has its entries where a column has them", DIFFERS + "[stretched: pairs of equal numbers]"),
        ('"ge": lambda sign: sign >= 0', '"ge": lambda sign: sign > 0', WEAKER, "≥ is >", DIFFERS + "[steps: cast to int32 around zero: > against >=]"),
    ],
    "numbers/prime_fields/meeting.py": [
        ("itertools.product((0, -1, 1), repeat", "itertools.product((-1, 1), repeat", RANGE, "the value at the tie is not looked at", DIFFERS + "[ties: another value at a point]"),
    ],
    "decide/verdict.py": [
        ("order = (Verdict.UNKNOWN, Verdict.REFUTED, Verdict.AGREES, Verdict.CERTIFIED", "order = (Verdict.REFUTED, Verdict.AGREES, Verdict.CERTIFIED, Verdict.UNKNOWN", ROW, "an unknown statement leaves a claim certified", "test_verdicts.py::test_the_verdict_is_the_weakest_of_the_statements[[[<Verdict.REFUTED: 'REFUTED'>], [<Verdict.UNKNOWN: 'UNKNOWN'>]]-UNKNOWN]"),
        ("if Verdict.REFUTED in found and found &", "if False and found &", CONDITION, "two methods may contradict each other", "test_verdicts.py::test_two_methods_may_not_contradict_each_other[CERTIFIED]"),
        ("found & {Verdict.PROVED, Verdict.CERTIFIED}:", "found & {Verdict.PROVED}:", CONDITION, "what is certified may be refuted", "test_verdicts.py::test_two_methods_may_not_contradict_each_other[CERTIFIED]"),
        ("order = (Verdict.REFUTED, Verdict.UNKNOWN, Verdict.PROVED,", "order = (Verdict.REFUTED, Verdict.PROVED, Verdict.UNKNOWN,", ROW, "one proof outweighs a method that does not know", "test_ranks.py::test_only_the_bound_that_shows_is_proved[claimed3-UNKNOWN]"),
        ("by_subject.setdefault(found.subject, [])", 'by_subject.setdefault("", [])', IGNORED, "evidence of all statements is evidence of one", "test_verdicts.py::test_the_verdict_is_the_weakest_of_the_statements[[[<Verdict.REFUTED: 'REFUTED'>], [<Verdict.UNKNOWN: 'UNKNOWN'>]]-UNKNOWN]"),
    ],
    "decide/identity.py": [
        ("if not (fields.varies or vacuous):", "if False:", CONDITION, "functions of nothing are compared", "test_field_comparison.py::test_functions_of_nothing_are_not_compared"),
        ("almost_everywhere=effort.almost_everywhere)\n    return", "almost_everywhere=True)\n    return", IGNORED, "a null set never counts", UNSOUND + "[sign and comparison]"),
    ],
    "decide/prime_fields.py": [
        ("return self.equal and self.log2_error <= math.log2(error)", "return self.equal", CONDITION, "the chance of error does not matter", "test_field_comparison.py::test_only_what_is_equal_with_a_small_chance_of_error_is_within_it[True--127.5-False]"),
        ("share = math.log2(2 * len(readings))", "share = 0.0", IGNORED, "further readings cost nothing", "test_field_comparison.py::test_every_reading_counts[polynomial]"),
        ("added(found[-1].log2_error + share, MEETING_ERROR, self.tests)", "found[-1].log2_error + share", IGNORED, "comparisons of cases cost nothing", "test_field_comparison.py::test_every_comparison_of_cases_counts"),
        ('allowed = almost_everywhere and "almost everywhere" in laws', 'allowed = "almost everywhere" in laws', IGNORED, "almost everywhere need not be asked for", "test_laws.py::test_almost_everywhere_has_to_be_asked_for[almost everywhere: derivative of relu]"),
        ("if not all(x.lawful for x in pair)), None)", "if False), None)", CONDITION, "what is made of unlawful decisions counts almost everywhere", DIFFERS + "[zeros: |x| - x: sign squared and 1]"),
        ("        if not agree.all():\n            return i", "        if not agree.any():\n            return i", WEAKER, "one entry that agrees is enough", DIFFERS + "[laws: a maximum with an infinity]"),
    ],
    "decide/strict_decisions.py": [
        ("not arb(x).contains(0) for x", "True for x", CONDITION, "numbers that may be equal are different", "test_strict_decisions.py::test_nothing_shows_what_may_be_equal[plain equal numbers]"),
        ("arb(x).is_finite() and not", "not", CONDITION, "a number that is not finite is not 0", "test_strict_decisions.py::test_nothing_shows_what_may_be_equal[infinity]"),
        ("return balls.strict - balls.doubtful if", "return balls.strict if", CONDITION, "one call in which numbers differ is enough", "test_strict_decisions.py::test_nothing_shows_what_may_be_equal[one of two calls]"),
        ("if complete else set()", "if True else set()", CONDITION, "a program that is evaluated in part is evaluated", "test_strict_decisions.py::test_nothing_shows_what_may_be_equal[unknown beyond]"),
        ("operands[0] if len(operands) == 1 else operands[0] - operands[1]", "operands[0]", IGNORED, "a number is compared with 0 only", "test_strict_decisions.py::test_nothing_shows_what_may_be_equal[plain equal numbers]"),
        ("apart = all(", "apart = any(", WEAKER, "one entry that differs is enough", "test_strict_decisions.py::test_nothing_shows_what_may_be_equal[one of two entries]"),
        ("super().__init__(Reading.ROUNDED, deadline)", "super().__init__(Reading.WRITTEN, deadline)", CONSTANT, "constants are exactly what is written", "test_strict_decisions.py::test_nothing_shows_what_may_be_equal[rounding]"),
    ],
    "decide/tie_points.py": [
        ('frozenset("eq ge gt le lt ne sign".split())', 'frozenset("eq ge gt le lt ne".split())', ROW, "a sign has no tie", "test_tie_points.py::test_a_tie_is_found[<lambda>-tie0]"),
        ('frozenset("ceil floor round".split())', 'frozenset("ceil round".split())', ROW, "floor has no jump", "test_tie_points.py::test_a_tie_is_found[<lambda>-tie6]"),
        ("self._keep(x - np.round(x[:1]))", "pass", RANGE, "whole numbers are no jumps", "test_tie_points.py::test_a_tie_is_found[<lambda>-tie6]"),
        ('or name == "convert_element_type" and not is_number(equation.outvars[0])', "", ROW, "a cast to an integer has no jump", "test_tie_points.py::test_a_tie_is_found[<lambda>-tie9]"),
        ("np.subtract(*_aligned(operands))", "operands[0]", IGNORED, "ties lie where the first number is 0", "test_tie_points.py::test_a_tie_is_found[<lambda>-tie4]"),
    ],
    "decide/reached.py": [
        ("    if not (x.defined and y.defined):\n", "    if False:\n", CONDITION, "a comparison with NaN is decided by ranges", "test_reached.py::test_a_branch_is_left_out_where_no_input_takes_it"),
        ("return bool(array.flat[0]) if np.all(array == array.flat[0]) else None", "return bool(array.flat[0])", IGNORED, "a mask is its first entry", "test_reached.py::test_a_branch_is_left_out_where_no_input_takes_it[a mask]"),
        ("return frozenset([way if other.constant < 0 else -way])", "return frozenset([-way if other.constant < 0 else way])", SIGN, "a number is above infinity", "test_reached.py::test_a_branch_is_left_out_where_no_input_takes_it[below infinity]"),
        ("            return x.not_zero\n        case \"integer_pow\"", "            return True\n        case \"integer_pow\"", FACT, "a quotient is defined", "test_reached.py::test_a_branch_is_left_out_where_no_input_takes_it[finite, of a quotient]"),
    ],
    "decide/witness.py": [
        ("apart(*(side[s.output][s.entry] for side in rounded))]\n", "True]\n", CONDITION, "a difference that rounding of constants explains counts", "test_witnesses.py::test_what_is_no_difference_of_values_has_no_witness[rounding of constants]"),
        ("        return not left.overlaps(right)\n    infinite", "        return left.mid() != right.mid()\n    infinite", WEAKER, "enclosures that overlap are apart", "test_witnesses.py::test_a_value_that_is_not_finite_is_no_witness"),
        ("not x.is_finite() and not x.is_nan() for x in", "not x.is_finite() for x in", SPECIAL, "NaN is a value that differs", "test_witnesses.py::test_what_is_no_difference_of_values_has_no_witness[a logarithm of 0]"),
        ("both and not (all(infinite) and left == right)", "both", SPECIAL, "an infinity differs from itself", "test_witnesses.py::test_values_are_apart_if_no_number_is_both[infinity and itself]"),
        ("if found and self.almost_everywhere:", "if False:", IGNORED, "a difference on a null set counts almost everywhere", "test_witnesses.py::test_a_difference_at_a_tie_counts_unless_almost_everywhere[at 0]"),
        ("    return [s for s in found if apart(*(side[s.output][s.entry] for side in defined))]", "    return found", SPECIAL, "the logarithm of 0 is a value", "test_witnesses.py::test_what_is_no_difference_of_values_has_no_witness[a logarithm of 0]"),
        (" or self.tie_points() or ", " or ", RANGE, "no ties are looked at", "test_witnesses.py::test_a_difference_at_a_tie_counts_unless_almost_everywhere[at any jump]"),
        ("beside = BESIDE if self.almost_everywhere else (0.0,)", "beside = BESIDE", IGNORED, "inputs at ties are never looked at", "test_except_where.py::test_the_sentence_says_where[at one half]"),
    ],
    "decide/agreement.py": [
        ("for output, entry, x, y in _entries(sides) if not x.overlaps(y))", "for output, entry, x, y in _entries(sides) if False)", CONDITION, "all values agree", "test_witnesses.py::test_disagreement_is_seen_below_float64[90]"),
        ("    if any(flips):\n", "    if False:\n", CONDITION, "a decision may hang on a rounded constant", "test_constants.py::test_positions_of_quantiles"),
        ("reading=reading, deadline=deadline) for side in (left, right)]\n        flips", "deadline=deadline) for side in (left, right)]\n        flips", IGNORED, "constants are compared as written only", "test_constants.py::test_equal_as_meant_is_certified_and_says_how_constants_are_read[bfloat16]"),
    ],
    "decide/refutation.py": [
        ("Reading.MEANT if meant else Reading.WRITTEN", "Reading.WRITTEN", IGNORED, "what is certified as meant is doubted as written", "test_constants.py::test_equal_as_meant_is_certified_and_says_how_constants_are_read[bfloat16]"),
    ],
    "decide/specification.py": [
        ("rows = ([1] * count, up(2), down(3), up(5), down(8))", "rows = ([1] * count,)", RANGE, "functions that agree on one entry agree", "test_certify.py::test_each_function_is_traced_once_for_each_size"),
        ("if not is_variable(leaf)]\n        return tuple", "if False]\n        return tuple", IGNORED, "integer inputs are not named", "test_certify.py::test_integer_arrays_are_fixed_to_their_values"),
        ("if sorted(map(str, sizes)) != sorted(symbols):", "if False:", CONDITION, "listed sizes may leave a dimension out", "test_certify.py::test_bad_input_gets_one_line[another name-assert_equivalent]"),
        ("        if sizes in listed[:place]:", "        if False:", CONDITION, "the same sizes count twice", "test_certify.py::test_bad_input_gets_one_line[sizes twice-assert_equivalent]"),
    ],
    "decide/demands.py": [
        ("not getattr(found, name) <= limit", "getattr(found, name) > 2 * limit", WEAKER, "twice the tolerance is within it", "test_demands.py::test_what_is_not_as_demanded_is_refused[demands5-floats5-6e-06 in absolute value]"),
        ("if found.reason:\n            return", "if False:\n            return", CONDITION, "a bound that is not derived is kept", "test_demands.py::test_what_is_not_as_demanded_is_refused[demands6-floats6-rounding not derived: too large]"),
        ('"both were seen apart by": found.seen,', "", IGNORED, "what was seen apart does not count", "test_demands.py::test_what_is_not_as_demanded_is_refused[demands5-floats5-6e-06 in absolute value]"),
        ('"the right side may be off by": found.right,', "", IGNORED, "the right side's rounding does not count", "test_demands.py::test_what_is_not_as_demanded_is_refused[demands1-floats1-the right side may be off by 6 ULP]"),
        ('self._of_hazards(floats) if self.hazards == "forbid" else ()', "()", IGNORED, "no hazard is forbidden", "test_demands.py::test_what_is_not_as_demanded_is_refused[demands7-floats7-hazard: left is inf at x = 0 \\\\(overflow\\\\)]"),
        ("if found.reason and not found.tried else []", "if False else []", CONDITION, "hazards that nobody looked for are none", "test_demands.py::test_what_is_not_as_demanded_is_refused[demands8-floats8-no search for hazards: no device]"),
    ],
    "decide/hazards.py": [
        ("odd = np.flatnonzero(finite[0] != finite[1])", "odd = np.flatnonzero(finite[0] & ~finite[1])", SIGN, "only the right side can fail", "test_hazards.py::test_programs_that_numpy_cannot_follow_are_looked_at_on_the_device"),
        ("0 if finite[1][odd[0]] else 1)", "1 if finite[1][odd[0]] else 0)", SIGN, "the side that fails is the other one", "test_hazards.py::test_programs_that_numpy_cannot_follow_are_looked_at_on_the_device"),
        ("if off[side] > allowed + _smallest(output.dtype):", "if True:", CONDITION, "every difference is a drift", "test_hazards.py::test_no_hazard_is_made_up[order of a sum]"),
        ("yield self.inside(self.zeros())", "yield np.zeros((0, 0))", RANGE, "zeros of divisors are not looked for", "test_hazards.py::test_hazards_are_named_with_an_input[moved quotient]"),
    ],
    "numbers/prime_fields/sorting.py": [
        ('axis, *(from_first(fields, key, axis) for key in keys))', 'axis, from_first(fields, keys[0], axis))', IGNORED, "the second key of a sort is ignored", DIFFERS + "[laws: a second key]"),
        ('total = draw.sum(draw.opaque(f"{name} entry", *arguments, places), (0,))', 'total = draw.sum(draw.opaque(f"{name} entry", *arguments), (0,))', IGNORED, "the place of an entry does not matter to an argmax", DIFFERS + "[laws: the largest place from both ends]"),
    ],
    "decide/instance.py": [
        ("if self.domains[i] != self.domains[j] or", "return True\n        if self.domains[i] != self.domains[j] or", CONDITION, "any inputs are those of the same layer", "test_pieces.py::test_another_row_of_stacked_weights_is_seen[scan-two late ones exchanged]"),
    ],
    "interpret/flat_program.py": [
        ("min(max(0, start), n - size)", "min(max(0, start), 0)", IGNORED, "every slice at a written place is the first one", "test_pieces.py::test_a_row_that_would_be_outside_is_the_last_one"),
    ],
    "decide/recheck.py": [
        ('        if digest(data[side]) != data[f"{side}_digest"]:', "        if False:", CONDITION, "a program need not fit its digest", "test_recheck.py::test_a_tampered_file_is_refused_in_one_line[one byte of a program]"),
        ("if (given.verdict, given.passes, given.expected) != (found, passes, Verdict.CERTIFIED):", "if False:", CONDITION, "a verdict need not fit its evidence", "test_recheck.py::test_without_its_check_a_tampered_file_is_accepted[_check_verdict-passes flipped]"),
        ("for assumption in wanted - set(given.assumptions):", "for assumption in set():", CONDITION, "an assumption may be left out", "test_recheck.py::test_a_tampered_file_is_refused_in_one_line[assumptions dropped]"),
        ("if found.verdict is not given.verdict:", "if False:", CONDITION, "another verdict is accepted", "test_recheck.py::test_random_programs_are_never_another_error[derivatives]"),
        ("\n        or figures.log2_error > log2_error\n    ):", "\n    ):", CONDITION, "a chance of error larger than asked for is accepted", "test_recheck.py::test_a_tampered_file_is_refused_in_one_line[error asked for lowered]"),
        ("for p, q in pairwise(r.primes))", "for p, q in ())", CONDITION, "any primes are a tower", "test_recheck.py::test_a_tampered_file_is_refused_in_one_line[no tower]"),
        ("if not tower or not all(fmpz(p).is_prime() for p in r.primes):", "if not tower:", CONDITION, "any numbers are primes", "test_recheck.py::test_without_its_check_a_tampered_file_is_accepted[_check_round-no prime]"),
        ("    if not apart(a, b):\n", "    if False:\n", CONDITION, "a counterexample need not be one", "test_recheck.py::test_a_moved_counterexample_is_refused_where_both_agree"),
        ("if _alike(*texts) or not all(", "if not all(", CONDITION, "the values of a counterexample may be equal", "test_recheck.py::test_a_tampered_file_is_refused_in_one_line[values that are all numbers]"),
    ],
    "decide/sampling.py": [
        ("apart, most = gaps > APART", "apart, most = gaps > 1e6 * APART", CONSTANT, "values a whole apart agree", "test_certify.py::test_a_field_comparison_that_always_says_equal_is_caught"),
    ],
    "decide/normal_forms.py": [
        ("    if not done:\n", "    if False:\n", CONDITION, "no equation is a proof", "test_never_proved.py::test_a_false_statement_is_not_proved[definitions: programs, 7]"),
        ("assumed += step.hypotheses()", "pass", IGNORED, "slices exist without being assumed", "test_hypotheses.py::test_definitions_are_part_of_the_evidence"),
    ],
    "decide/counts.py": [
        ("sympy.Matrix(rows).rank() == len(terms)", "sympy.Matrix(rows).rank() > 0", WEAKER, "one shape determines a count", "test_never_proved.py::test_a_false_statement_is_not_proved[counts: a formula that the arrays do not determine, 2]"),
        ("if same_number(_at(found, shape), number) is not True:", "if False:", CONDITION, "what is derived need not be what is counted", "test_counts.py::test_a_derivation_that_arrays_contradict_stops_the_run"),
    ],
    "decide/ranks.py": [
        ("if not nonnegative(upper - lower + 1, scope):", "if False:", CONDITION, "a sum never has a negative number of terms", "test_never_proved.py::test_a_false_statement_is_not_proved[ranks: sums, 0]"),
        ("_combined(sympy.Add, map(inside", "_combined(sympy.Max, map(inside", ROW, "the rank of a sum is the larger one", "test_ranks.py::test_no_matrix_has_a_rank_above_a_bound[sum]"),
        ("verdict = Verdict.PROVED if are_apart(value, arb(0)) else", "verdict = Verdict.PROVED if True else", CONDITION, "a minor that may be 0 shows a rank", "test_never_proved.py::test_a_false_statement_is_not_proved[ranks: of real numbers, 2]"),
        ("if found <= claimed:", "if found < claimed:", WEAKER, "a rank that is attained is exceeded", "test_ranks.py::test_refuted_only_above_the_claim"),
    ],
    "decide/inequalities.py": [
        ("if possible.point is None:", "if False:", CONDITION, "anything follows from a contradiction", "test_inequalities.py::test_nothing_follows_from_a_contradiction"),
        ("return value.is_finite() and (low is None or", "return (low is None or", SPECIAL, "a value that is not finite lies within bounds", "test_inequalities.py::test_what_is_not_finite_is_not_enclosed[<lambda>0]"),
        ("todo += _halves(sides)", "todo += _halves(sides)[:1]", RANGE, "half of every box is looked at", "test_inequalities.py::test_enclosed[<lambda>-box11-bounds11-REFUTED]"),
    ],
    "decide/dependence.py": [
        ("apart = [i for i in np.ndindex(balls[0].shape) if are_apart(balls[0][i], balls[1][i])]", "apart = list(np.ndindex(balls[0].shape))", CONDITION, "two inputs always separate a parameter", "test_dependence.py::test_dynamic_needs_two_inputs_that_separate"),
        ('        _refuse_hidden(letter, moved, ranges, "the input")\n', "", CONDITION, "an input may hide behind an index", "test_dependence.py::test_an_input_cannot_hide_behind_the_index_of_a_sum"),
    ],
    "symbolic/normal_form.py": [
        ("return term, coefficient * upper  # Σ", "return term, coefficient  # Σ", IGNORED, "a sum of one term", "test_normal_form.py::test_rule[transpose of a sum]"),
        ('if index in getattr(coefficient, "free_symbols", ()):', "if False:", CONDITION, "a coefficient may depend on the index", "test_normal_form.py::test_what_has_no_rule_is_refused[expression2-may not depend on the sum index]"),
    ],
    "symbolic/words.py": [
        ('"".join(map(self._flip, reversed(word)))', '"".join(map(self._flip, word))', SIGN, "(XY)ᵀ = XᵀYᵀ", "test_normal_form.py::test_false_twin_of_a_sum[the transpose of a product of sums-left19-wrong19]"),
        ("if selection == b:  # E", "if True:  # E", CONDITION, "E_iᵀ E_j = I", "test_normal_form.py::test_random_expressions_called_equal_have_one_value[4-False-0]"),
        ("bool(word) and self._is_ones(word[-1])", "bool(word) and self._is_ones(word[0])", CONDITION, "a softmax forgets shifts of columns", "test_normal_form.py::test_random_true_rewrites_are_found_equal[3-False-0]"),
        ("self.concatenate(self.concatenate(x, z), self.transpose(y))", "self.concatenate(self.concatenate(x, z), y)", SIGN, "(X⊗Y) vec Z = vec(XZY)", "test_normal_form.py::test_rule[vec of a product]"),
        ("coefficient = coefficient * ranges[i - 1]", "pass", IGNORED, "a sum without its index is one term", "test_normal_form.py::test_sum[softmax rows sum to one and lose their index]"),
    ],
    "symbolic/inequality.py": [
        ("return vanishes and positive and all(factor >= 0", "return positive and all(factor >= 0", CONDITION, "multipliers need not multiply out", "test_inequalities.py::test_wrong_multipliers_are_noticed[True-[]2]"),
        ("(inner[0], -inner[0])", "(inner[0], inner[0])", SIGN, "|u| = u", "test_inequalities.py::test_wrong_multipliers_are_noticed[Eq(Max(-x, x), Abs(x))-[]]"),
        ("if not used <= signed | positive:", "if False:", CONDITION, "an inequality may be multiplied by any symbol", "test_inequalities.py::test_table[x*z <= y*z-[x <= y]-UNKNOWN]"),
    ],
    "symbolic/slices.py": [
        ("least = lower if slope.is_nonnegative else upper", "least = upper if slope.is_nonnegative else lower", SIGN, "an affine function is least at its largest index", "test_hypotheses.py::test_a_sum_over_slices_that_are_not_there_is_refused[expression0]"),
        ("if not nonnegative(rows - index * columns, scope):", "if False:", CONDITION, "every slice ends inside", "test_hypotheses.py::test_the_slices_that_have_to_exist[inside a function]"),
    ],
    "decide/domain.py": [
        ("return self.low > 0 or self.low == 0 and self.open", "return self.low >= 0", FACT, "an input that may be 0 is positive", INSIDE + "[step at the end]"),
        ("return self.low >= 0\n", "return self.high > 0\n", FACT, "an input that may be positive is never negative", INSIDE + "[magnitude where some are negative]"),
        ("(points <= self.high)", "(points < self.high)", WEAKER, "the upper end lies outside", "test_domains.py::test_which_ends_belong[unit]"),
        ("points > self.low if self.open", "points >= self.low if self.open", WEAKER, "the end that is left out lies inside", "test_domains.py::test_which_ends_belong[positive]"),
        ("low, high = max(self.low, other.low), min(self.high, other.high)", "low, high = min(self.low, other.low), max(self.high, other.high)", SIGN, "an input in two domains is in one of them", "test_domains.py::test_an_input_in_two_domains_is_in_both"),
        ("return Range(self.low, self.high)", "return Range(0.0, self.high)", RANGE, "no input is negative", INSIDE + "[magnitude where some are negative]"),
        ("return of_inputs(shape, positive=self.positive,", "return of_inputs(shape, positive=True,", FACT, "every input is positive", INSIDE + "[step at the end]"),
    ],
    "numbers/prime_fields/guards.py": [
        ('elif name == ("and" if outcome else "or"):', 'elif name in ("and", "or"):', CONDITION, "one of two conditions is both", DIFFERS + "[guards: or instead of and]"),
        ("(outcome or place not in expressions.doubtful)", "True", CONDITION, "what is not above NaN is at most NaN", DIFFERS + "[guards: NaN is not at most]"),
        ("RELATIONS[name] if outcome else ALL_SIGNS - RELATIONS[name]", "RELATIONS[name] if outcome else ALL_SIGNS - RELATIONS[name] - {0}", WEAKER, "what is not above is below", DIFFERS + "[guards: a tie of the other case]"),
        ("chain, sides), sides), frozenset(way * sign", "chain, sides), sides), frozenset(sign", SIGN, "x > y is y > x where the sides are exchanged", TWINS + "[guards: above another number]"),
        ('"max": lambda sign: 0 if sign >= 0', '"max": lambda sign: 0 if sign <= 0', SIGN, "a maximum under a condition is the smaller number", DIFFERS + "[guards: a maximum of the wrong side]"),
        ("if pair.chain == chain and side == place", "if side == place", CONDITION, "a condition on one entry is one on all", DIFFERS + "[guards: a condition on the rows]"),
        ('tuple(equation.params["broadcast_dimensions"])', "()", IGNORED, "rows are columns", DIFFERS + "[guards: rows and columns]"),
        ("return operation_of(equation).of_any_type, shape", "return equation.primitive, shape", IGNORED, "all rearrangements of a shape are one", DIFFERS + "[guards: another axis]"),
        ("return sign == beside or beside * bound < 0", "return sign == beside", CONDITION, "what is above a negative bound is positive", DIFFERS + "[guards: a bound below]"),
        ("return sign == bound", "return sign == 0", IGNORED, "what is equal to a bound is 0", DIFFERS + "[guards: equal to a bound]"),
        ("self.signs(expression.operands[0], chain) <= {0, 1}:", "1 in self.signs(expression.operands[0], chain):", WEAKER, "a magnitude is the number where it may be positive", DIFFERS + "[guards: a magnitude below zero]"),
        ("operands[1 + int(truths[0])]", "operands[2 - int(truths[0])]", SIGN, "a decided selection is the other case", DIFFERS + "[guards: equal to a bound]"),
        ("both = joined(self.given, condition(self.expressions, predicate, outcome, inner))", "both = joined(self.given, condition(self.expressions, predicate, True, inner))", IGNORED, "both cases of a selection are under its condition", DIFFERS + "[guards: the sign of the other case]"),
        ("if len(truths) == 1:", "if len(truths):", CONDITION, "one decided entry decides them all", DIFFERS + "[guards: a mask inside a case]"),
    ],
    "decide/landmarks.py": [
        ("found.update(value.ravel().tolist() if value.size <= MOST else ())", "pass", IGNORED, "a program has no constants", "test_witnesses.py::test_candidates_lie_near_the_constants_of_the_programs[a mask that is a number]"),
        ("< 0.5, chosen, 0)", "< 0.5, 0, 0)", IGNORED, "candidates are small whole numbers", "test_witnesses.py::test_candidates_lie_near_the_constants_of_the_programs[a mask that is a number]"),
    ],
}

SAME: dict[str, Sequence[tuple[str, str, str, str, str]]] = {
    "numbers/prime_fields/fact_rules.py": [
        ("return Defined.ALMOST if facts.thin.all() else Defined.PARTLY", "return Defined.ALMOST", CONDITION, "any divisor is thin", "what is divided by a number that may be 0 on a set of positive measure is hollow as well, and no hollow number is decided by"),
    ],
    "numbers/prime_fields/fields.py": [
        ("other = other if other.almost is None else other.almost", "pass", CONDITION, "almost everywhere what is decided there again is kept", "a decision without its ties is the same almost everywhere"),
    ],
    "numbers/prime_fields/piecewise.py": [
        ('draw.add(mean, draw.scale(draw.opaque("largest"', 'draw.subtract(mean, draw.scale(draw.opaque("largest"', SIGN, "a maximum is a minimum with its sign", "an unknown function and its negative are both unknown"),
        ("return self.draw.scale(base, 1 / self.canonical_scale(base, x.scale))", "return self.draw.scale(base, -1 / self.canonical_scale(base, x.scale))", SIGN, "a direction is turned, for all alike", "an odd letter of -x is one of x, and a step is an unknown function"),
    ],
    "numbers/prime_fields/gathering.py": [
        ("scale = numbers[0].scale if all(n.scale == numbers[0].scale for n in numbers) else Fraction(1)", "scale = numbers[0].scale", CONDITION, "all parts have the scale of the first", "any positive scale is right"),
    ],
    "numbers/prime_fields/algebra.py": [
        ("sum_of_squares=None if negative else", "sum_of_squares=", SIGN, "a negative multiple of a sum of squares is one", "the variance is compared with the difference itself"),
    ],
    "numbers/prime_fields/field_functions.py": [
        ("mean = draw.scale(x.terms.exponents, Fraction(1, x.terms.count))", "mean = draw.scale(x.terms.exponents, Fraction(2, x.terms.count))", CONSTANT, "twice the mean exponent is taken out", "any exponent that is put back may be taken out"),
    ],
    "numbers/prime_fields/uninterpreted.py": [
        ('_of_all_entries(fields.draw, f"{name} operand {k}", n.residues)', "_of_all_entries(fields.draw, name, n.residues)", SHARED, "all operands of an unknown function are treated alike", "the name of the result tells the places of the totals apart"),
    ],
    "interpret/closed_form.py": [
        ("abs(x.logs[0][1]) * (1 if x.approximation > 0 else -1)", "abs(x.logs[0][1])", SIGN, "a negative logarithm is followed as a positive one", "its parts are then of another sign, and it is followed no further"),
    ],
    "interpret/integer_ranges.py": [
        ("smallest = 0 if x.low <= 0 <= x.high else", "smallest =", CONDITION, "a magnitude is not 0", "a lower bound that is too high is only used where it is right"),
        ("Range(min(low, 0), max(high, 0))", "Range(low, high)", RANGE, "a cast of NaN is a number of the range", "NaN is followed in no case: casts of what may be undefined are unknown"),
    ],
    "interpret/scattering.py": [
        ("if len(update.eqns) != 1 or", "if False and", CONDITION, "longer updates are looked at in part", "the unpacking of one operation then fails, which refuses it"),
    ],
    "interpret/structure.py": [
        ("int(np.clip(start, 0, n - size))", "int(np.clip(start, 0, n))", RANGE, "a slice is not moved back inside", "a slice beyond the end has another shape, which is refused"),
    ],
    "numbers/prime_fields/residues.py": [
        ("a.levels[0].any(axis=0)", "a.levels[0][0] != 0", WEAKER, "what vanishes in the first copy is zero", "one copy is wrong with a chance of 2^-60, which no test meets"),
    ],
    "decide/prime_fields.py": [
        ("if allowed and probe.where_almost() is None:", "if allowed:", CONDITION, "what differs on a null set differs nowhere else", "every further round, and there is one at least, compares in the same way; what is left is its chance of error, which no test meets"),
        ('if "cases that meet" not in laws or drawn.where_apart() is not None:', 'if "cases that meet" not in laws:', CONDITION, "what agrees at ties agrees elsewhere", "every further round, and there is one at least, compares where no tie is; what is left is its chance of error, which no test meets"),
    ],
}
# fmt: on
"""A list of rows for each file: those that a test notices, and those that none can."""


KILLABLE = [Mutant(file, *row) for file, rows in TABLE.items() for row in rows]
EQUIVALENT = [Mutant(file, *row[:4], equivalent=row[4]) for file, rows in SAME.items() for row in rows]
MUTANTS = [*KILLABLE, *EQUIVALENT]


def killing(test: str, table: Iterable[Any]) -> list[Any]:
    """The rows of a table with which a test kills a mutant: they stay in the ordinary suite."""
    killers = {mutant.killer for mutant in KILLABLE}
    return [row for row in table if f"{test}[{str(row).encode('unicode_escape').decode()}]" in killers]
