"""The normal form for all sizes: sums of words in letters, each word a product, each with the sums around it.

A normal form is a set of pairs ((bounds, word), coefficient).  A word is a tuple of letters, and a letter is one of

    ("L", name, rows, columns, subscripts, superscripts)    ("1", rows, columns)    ("E", i, rows, columns)
    ("fn", σ | softmax | letter, normal form of the argument, shape, λ)             ("T", letter)
    ("kron", word, shape, word, shape)   ("vec" | "unvec", word, shape)   ("had", word, word, shape)   ("diag", word, n)

The index n of the sums of a word at depth λ of functions is the atom ("b", λ, n); of all ways to number them that one
is taken whose text is smallest.  docs/checker.md says why each rule is an identity.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from uat_jax_check import letters
from uat_jax_check.document import NotDecided, Refused, usable
from uat_jax_check.terms import ONE, ZERO, Poly, Symbols, number, scalar_text, symbol, text

Word = tuple
Shape = tuple[Poly, ...]
MOST_SUMS, MOST_STEPS, MOST_SPLIT = 6, 2_000_000, 64


def renamed(v: Any, names: Mapping[Any, Any]) -> Any:
    """A value with atoms replaced, wherever they stand in it."""
    if not names:
        return v
    if isinstance(v, tuple):
        return names[v] if v in names else tuple(renamed(x, names) for x in v)
    return type(v)(renamed(x, names) for x in v) if isinstance(v, frozenset) else v


def uses(v: Any, atom: Any) -> bool:
    """Whether an atom stands in a value."""
    return v == atom or (isinstance(v, (tuple, frozenset)) and any(uses(x, atom) for x in v))


def shown(v: Any) -> str:
    """A text by which values are ordered."""
    if isinstance(v, frozenset):
        return "{" + ",".join(sorted(map(shown, v))) + "}"
    return "(" + ",".join(map(shown, v)) + ")" if isinstance(v, tuple) else repr(v)


def shape_of(l: tuple) -> Shape:
    """Rows and columns of a letter."""
    match l[0]:
        case "L" | "E":
            return l[2], l[3]
        case "1":
            return l[1], l[2]
        case "T":
            return shape_of(l[1])[::-1]
        case "kron":
            return l[2][0] * l[4][0], l[2][1] * l[4][1]
        case "vec":
            return l[2][0] * l[2][1], ONE
        case "diag":
            return l[2], l[2]
        case "fn":
            return l[3]
    return l[-1]


class Normaliser:
    """Normal forms under some definitions of letters: pairs of a letter and a term, or rules with an index.

    ``assumed`` collects the slices that have to exist, ``free`` the letters that stand for nothing, ``shapes`` those
    of letters, also of other terms of the statement; ``steps`` counts the work.
    """

    def __init__(self, symbols: Symbols, definitions: Iterable[Any], shapes: dict[Any, Shape] | None = None) -> None:
        self.symbols, self.definitions = symbols, list(definitions)
        self.shapes = {} if shapes is None else shapes
        self.assumed: set[str] = set()
        self.used: set[int] = set()
        self.free: set[tuple[letters.Place, tuple]] = set()
        self.open: list[Any] = []
        self.memo: dict[Any, Any] = {}
        self.steps = 0

    def tick(self) -> None:
        """Count a step."""
        self.steps += 1
        usable(self.steps < MOST_STEPS, f"it takes more than {MOST_STEPS} steps of the normal form")

    # --- words ---------------------------------------------------------------------------------------------------

    def flip(self, l: tuple) -> tuple:
        """The transpose of a letter."""
        match l[0]:
            case "T":
                return l[1]
            case "1":
                return ("1", l[2], l[1])
            case "diag":
                return l
            case "fn" if l[1] == "sigma":  # σ(X)ᵀ = σ(Xᵀ)
                return ("fn", "sigma", self.each(l[2], self.turn, l[4]), l[3][::-1], l[4])
            case "kron":
                return ("kron", self.turn(l[1]), l[2][::-1], self.turn(l[3]), l[4][::-1])
            case "had":
                return ("had", self.turn(l[1]), self.turn(l[2]), l[3][::-1])
        return ("T", l)

    def turn(self, w: Word) -> Word:
        """The transpose of a word."""
        return tuple(self.flip(l) for l in reversed(w))

    def times(self, u: Word, v: Word) -> Word:
        """The product of two words, with the rules where they meet."""
        while u and v:
            self.tick()
            met = self.seam(u[-1], v[0])
            if met is None:
                turned = self.seam(self.flip(v[0]), self.flip(u[-1]))
                met = None if turned is None else self.turn(turned)
            if met is None:
                break
            u, v = u[:-1], self.times(met, v[1:])
        return u + v

    def seam(self, a: Any, b: Any) -> Word | None:
        """The word that the product of two letters is, if a rule says so."""
        match a[0], b[0]:
            case "kron", "kron" if a[2][1] == b[2][0] and a[4][1] == b[4][0]:  # (X ⊗ Y)(Z ⊗ W) = XZ ⊗ YW
                sizes = (a[2][0], b[2][1]), (a[4][0], b[4][1])
                return self.kron(self.times(a[1], b[1]), sizes[0], self.times(a[3], b[3]), sizes[1])
            case "kron", "vec" if a[2][1] == b[2][0] and a[4][1] == b[2][1]:  # (X ⊗ Y) vec(Z) = vec(X Z Yᵀ)
                return self.vec(self.times(self.times(a[1], b[1]), self.turn(a[3])), (a[2][0], a[4][0]))
            case "fn", "1" if a[1] == "softmax" and self.symbols.nonnegative(a[3][1] - ONE):  # softmax(X) 1 = 1
                return (("1", a[3][0], b[2]),)
            case "diag", "1" if b[2] == ONE:  # diag(x) 1 = x
                return a[1]
            case "diag", "vec" if len(a[1]) == 1 and a[1][0][0] == "vec" and a[1][0][2] == b[2]:
                return self.vec(self.had(a[1][0][1], b[1], b[2]), b[2])  # diag(vec X) vec(Y) = vec(X ⊙ Y)
            case "T", "E" if a[1] == b and self.is_slice(b):  # E_iᵀ E_i = I
                return ()
        return None

    def is_slice(self, e: tuple) -> bool:
        """Whether E_i is one of the slices; it is assumed where it may be, and refused where it cannot be."""
        _, i, rows, columns = e
        for gap, said in ((i - ONE, "1 ≤ i"), (rows - i * columns, "i·d ≤ M")):
            if not self.symbols.nonnegative(gap):
                if self.symbols.nonnegative(ZERO - gap - ONE):
                    return False
                self.assumed.add(f"every slice E_{{i;M×d}} exists: {said}")
        return True

    def kron(self, u: Word, us: Shape, v: Word, vs: Shape) -> Word:
        """u ⊗ v:  I ⊗ I = I,  x ⊗ y = vec(x yᵀ) for columns, and so for rows."""
        if not u and not v:
            return ()
        if us[1] == ONE == vs[1]:
            return self.vec(self.times(u, self.turn(v)), (us[0], vs[0]))
        if us[0] == ONE == vs[0]:
            return self.turn(self.kron(self.turn(u), us[::-1], self.turn(v), vs[::-1]))
        return (("kron", u, us, v, vs),)

    def vec(self, w: Word, shape: Shape) -> Word:
        """vec(x) = x for a column,  vec(unvec(x)) = x."""
        if shape[1] == ONE:
            return w
        return w[0][1] if len(w) == 1 and w[0][0] == "unvec" and w[0][2] == shape else (("vec", w, shape),)

    def unvec(self, w: Word, shape: Shape) -> Word:
        """unvec(x) = x for a column,  unvec(vec(X)) = X."""
        if shape[1] == ONE:
            return w
        return w[0][1] if len(w) == 1 and w[0][0] == "vec" and w[0][2] == shape else (("unvec", w, shape),)

    def diag(self, w: Word, n: Poly) -> Word:
        """diag(1) = I."""
        return () if len(w) == 1 and w[0][0] == "1" else (("diag", w, n),)

    def had(self, u: Word, v: Word, shape: Shape) -> Word:
        """x ⊙ y = diag(x) y for columns, and so for rows."""
        if shape[1] == ONE:
            return self.times(self.diag(u, shape[0]), v)
        if shape[0] == ONE:
            return self.turn(self.had(self.turn(u), self.turn(v), shape[::-1]))
        return (("had", u, v, shape),)

    # --- sums of words -------------------------------------------------------------------------------------------

    def tidy(self, bounds: Any, word: Word, c: Poly, level: int) -> tuple[Any, Poly]:
        """A term whose sums all use their index, and are numbered so that its text is the smallest.

        ``bounds`` are pairs of an index, an atom, and its upper bound.
        """
        live = list(bounds)
        while True:
            atoms = [atom for atom, _ in live]
            idle = next((a for a in atoms if not uses(word, a) and not any(uses(n, a) for _, n in live)), None)
            if any(uses(c, a) for a in atoms):
                raise NotDecided("a coefficient depends on the index of a sum")
            if idle is None:
                break
            c = c * dict(live)[idle]  # Σ_{k=1}^{n} X = n X
            live = [(a, n) for a, n in live if a != idle]
        if len(live) > MOST_SUMS:
            raise NotDecided(f"more than {MOST_SUMS} sums in each other")
        best: Any = None
        for order in itertools.permutations(live):
            self.tick()
            names = {atom: ("b", level, place) for place, (atom, _) in enumerate(order)}
            found = renamed((tuple(n for _, n in order), word), {a: b for a, b in names.items() if a != b})
            if len(live) < 2:
                return (found, c)
            if best is None or shown(found) < best[0]:
                best = shown(found), found
        return best[1], c

    def bound(self, bounds: Any, level: int) -> Any:
        """The bounds of a term with the atoms of their indices."""
        return [(("b", level, place), n) for place, n in enumerate(bounds)]

    def collect(self, terms: Iterable[tuple[Any, Poly]]) -> frozenset:
        """Equal terms added."""
        found: dict[Any, Poly] = {}
        for t, c in terms:
            self.tick()
            found[t] = found.get(t, ZERO) + c
        return frozenset((t, c) for t, c in found.items() if c)

    def each(self, form: Any, rule: Callable[[Word], Word], level: int) -> frozenset:
        """A linear rule, on each word."""
        return self.collect(self.tidy(self.bound(b, level), rule(w), c, level) for (b, w), c in form)

    def join(self, x: Any, y: Any, rule: Callable[[Word, Word], Word], level: int) -> frozenset:
        """A bilinear rule, on each pair of words; the sums of the second get indices of their own."""
        terms = []
        for (b, w), c in x:
            for (d, v), e in y:
                away = {("b", level, n): ("b", level, ("second", n)) for n in range(len(d))}
                d, v = renamed((d, v), away)
                second = list(zip(away.values(), d, strict=True))
                terms.append(self.tidy([*self.bound(b, level), *second], rule(w, v), c * e, level))
        return self.collect(terms)

    # --- terms ---------------------------------------------------------------------------------------------------

    def __call__(self, t: tuple, env: Any = None, scope: Any = None, level: int = 0) -> tuple[Shape, frozenset]:
        """Shape and normal form; ``env``: name of an index → its value, ``scope``: atom of an index → upper bound.

        Raises:
            Refused: shapes do not fit, a definition leads back to its letter, a letter has two shapes.
        """
        self.tick()
        env, scope, head, parts = env or {}, scope or {}, t[0], t[1:]
        size = lambda s: self.symbols.scalar(s, env)
        of = lambda x, at=level: self(x, env, scope, at)
        single = lambda l: (shape_of(l), frozenset([(((), (l,)), ONE)]))
        match head:
            case "L":
                return self.letter(t, env, scope, level)
            case "I":
                return (size(parts[0]), size(parts[0])), frozenset([(((), ()), ONE)])
            case "0":
                return (size(parts[0]), size(parts[1])), frozenset()
            case "1" | "E":
                return single((head, *map(size, parts)))
            case "+":
                shapes, forms = zip(*map(of, parts), strict=True)
                self.fit(all(s == shapes[0] for s in shapes), t)
                return shapes[0], self.collect(term for form in forms for term in form)
            case ".":
                shape, form = of(parts[1])
                c = size(parts[0])
                return shape, self.collect(self.tidy(self.bound(b, level), w, c * d, level) for (b, w), d in form)
            case "@":
                (rows, columns), form = of(parts[-1])
                for part in reversed(parts[:-1]):
                    (r, inner), first = of(part)
                    self.fit(inner == rows, t)
                    rows, form = r, self.join(first, form, self.times, level)
                return (rows, columns), form
            case "T":
                shape, form = of(parts[0])
                return shape[::-1], self.each(form, self.turn, level)
            case "kron":
                (us, u), (vs, v) = map(of, parts)
                return (us[0] * vs[0], us[1] * vs[1]), self.join(u, v, lambda x, y: self.kron(x, us, y, vs), level)
            case "vec":
                shape, form = of(parts[0])
                return (shape[0] * shape[1], ONE), self.each(form, lambda w: self.vec(w, shape), level)
            case "unvec":
                shape, form = of(parts[0])
                to = size(parts[1]), size(parts[2])
                self.fit(shape == (to[0] * to[1], ONE), t)
                return to, self.each(form, lambda w: self.unvec(w, to), level)
            case "had":
                (us, u), (vs, v) = map(of, parts)
                self.fit(us == vs, t)
                return us, self.join(u, v, lambda x, y: self.had(x, y, us), level)
            case "diag":
                shape, form = of(parts[0])
                self.fit(shape[1] == ONE, t)
                return (shape[0], shape[0]), self.each(form, lambda w: self.diag(w, shape[0]), level)
            case "sum":
                return self.total(parts, env, scope, level)
        return self.function(t, env, scope, level)

    def fit(self, condition: bool, t: tuple) -> None:
        """Refuse a term whose shapes do not fit."""
        if not condition:
            raise Refused(f"the shapes in {text(t)[:200]} do not fit")

    def function(self, t: tuple, env: Any, scope: Any, level: int) -> tuple[Shape, frozenset]:
        """σ, softmax and functions that are letters: a letter with the normal form of its argument."""
        head = t[0]
        shape, form = self(t[-1], env, scope, level + 1)
        if head == "f":  # a form does not say the shape of its argument: I_n and I_k have one form
            named = self.sized(t[1], env)
            letter = ("fn", (*named, shape), form, (named[2], named[3]), level + 1)
        elif head == "softmax":  # softmax(X + Y 1) = softmax(X)
            kept = frozenset(((b, w), c) for (b, w), c in form if not (w and w[-1][0] == "1"))
            letter = ("fn", head, kept, shape, level + 1)
        else:
            letter = ("fn", head, form, shape, level + 1)
            shapes: set[Any] = {w[0][2] if len(w) == 1 and w[0][0] == "vec" else None for (_, w), _ in form}
            if len(shapes) == 1 and None not in shapes:  # σ(vec(Z)) = vec(σ(Z))
                (of,) = shapes
                inner = self.each(form, lambda w: self.unvec(w, of), level + 1)
                letter = ("vec", (("fn", head, inner, of, level + 1),), of)
        shape = letter[3] if letter[0] == "fn" else shape
        return shape, frozenset([(((), (letter,)), ONE)])

    def sized(self, t: tuple, env: Any) -> tuple:
        """A letter with its sizes and indices as polynomials; two shapes of values or arguments are two functions."""
        _, name, rows, columns, low, high = t
        size = lambda s: self.symbols.scalar(s, env)
        return ("L", name, size(rows), size(columns), tuple(map(size, low)), tuple(map(size, high)))

    def named(self, t: tuple, env: Any) -> tuple:
        """The same for a matrix: of one name and indices there is one shape."""
        letter = self.sized(t, env)
        if self.shapes.setdefault((letter[1], *letter[4:]), letter[2:4]) != letter[2:4]:
            raise Refused(f"the letter {text(t)} has two shapes")
        return letter

    def letter(self, t: tuple, env: Any, scope: Any, level: int) -> tuple[Shape, frozenset]:
        """A letter, or what it stands for."""
        letter = self.named(t, env)
        found = ((n, self.match(d, letter, scope)) for n, d in enumerate(self.definitions))
        place, inner = next(((n, e) for n, e in found if e is not None), (None, None))
        if place is None:
            where = letters.place(letter[1], letter[4], letter[5], scope)
            self.free.add((where, t))
            if not all(letters.apart(where, d.place(self.symbols), self.symbols) for d in self.definitions):
                raise NotDecided(f"whether {text(t)} is one of the letters that are defined")
            return letter[2:4], frozenset([(((), (letter,)), ONE)])
        self.used.add(place)
        if letter in self.open:
            raise Refused(f"the definition of {text(t)} leads back to it")
        key = letter, level, frozenset(scope.items())
        if key not in self.memo:
            self.open.append(letter)
            self.memo[key] = self(self.definitions[place].term, inner, scope, level)
            self.open.pop()
        shape, form = self.memo[key]
        if shape != letter[2:4]:
            raise Refused(f"{text(t)} has another shape than what it stands for")
        return shape, form

    def match(self, definition: Any, letter: tuple, scope: Any) -> Mapping[str, Poly] | None:
        """The values of the index of a rule for which it surely defines a letter; None if it is not seen to."""
        if definition.letter[1] != letter[1]:
            return None
        if definition.index is None:
            return {} if self.named(definition.letter, {}) == letter else None
        own = (*definition.letter[4], None, *definition.letter[5])
        places = zip(own, (*letter[4], None, *letter[5]), strict=False)
        value = next((v for s, v in places if s == definition.index), None)
        if value is None or not self.symbols.whole(value):
            return None
        low, high = letters.span(value, scope)
        upper = self.symbols.scalar(definition.upper, {})
        if not (self.symbols.nonnegative(low - ONE) and self.symbols.nonnegative(upper - high)):
            return None
        env = {definition.index: value}
        return env if self.sized(definition.letter, env) == letter else None

    # --- finite sums ---------------------------------------------------------------------------------------------

    def total(self, parts: Any, env: Any, scope: Any, level: int) -> tuple[Shape, frozenset]:
        """Σ_{k=a}^{n+c} = Σ_{k=1}^{n} + the c terms behind n − the terms before a: for n ≥ 0 and n + c ≥ a − 1."""
        body, index, lower, upper = parts
        usable(index not in env and index not in self.symbols.kinds, f"the index {index} is a symbol as well")
        first, last = self.symbols.scalar(lower, env).value, self.symbols.scalar(upper, env)
        c = last.constant
        n = last - number(c)
        if first is None or first.denominator != 1 or c.denominator != 1 or max(abs(first), abs(c)) > MOST_SPLIT:
            raise NotDecided(f"a sum from {scalar_text(lower)} to {scalar_text(upper)}")
        at = lambda v: self(body, {**env, index: v}, scope, level)
        if not n:
            forms = [at(number(k)) for k in range(int(first), int(c) + 1)]
            shape = forms[0][0] if forms else at(number(first))[0]
            self.fit(all(s == shape for s, _ in forms), body)
            return shape, self.collect(term for _, form in forms for term in form)
        if not (self.symbols.nonnegative(n) and self.symbols.nonnegative(last - number(first) + ONE)):
            raise NotDecided(f"a sum from {scalar_text(lower)} to {scalar_text(upper)} may have fewer than no terms")
        fresh = ("b", level, ("open", len(scope)))
        shape, form = self(body, {**env, index: symbol(fresh)}, {**scope, fresh: n}, level)
        terms = [self.tidy([*self.bound(b, level), (fresh, n)], w, d, level) for (b, w), d in form]
        for k, sign in [(number(k), -1) for k in range(1, int(first))] + [(number(k), 1) for k in range(int(first), 1)]:
            terms += [(t, number(sign) * d) for t, d in at(k)[1]]
        for k in range(1, int(c) + 1) if c > 0 else range(int(c) + 1, 1):
            terms += [(t, number(1 if c > 0 else -1) * d) for t, d in at(n + number(k))[1]]
        if uses(shape, fresh):
            raise NotDecided("a shape depends on the index of a sum")
        return shape, self.collect(terms)
