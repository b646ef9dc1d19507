"""Counts of statements found by doing it: sums written out, matrices of ones multiplied, layers computed one by one.

It knows no formula and shares no code with the checker or the prover.  What holds at many sizes is no proof; what fails
at one is false.
"""

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

DRAWS, MOST = 5, 5000
DEEPEST = 5


class NotThere(Exception):
    """At these sizes something is not defined."""


class At:
    """A statement at sizes: ``sizes`` holds those of symbols, members of families are drawn when they are met."""

    def __init__(self, sizes: Mapping[str, int], seed: int) -> None:
        self.sizes, self.seed = dict(sizes), seed

    def number(self, s: Any, env: Mapping[str, Any]) -> Fraction:
        """A number, with what is counted in it."""
        if isinstance(s, int):
            return Fraction(s)
        if isinstance(s, str):
            return Fraction(env[s] if s in env else self.sizes[s])
        head, *parts = s
        if head == "/":
            return Fraction(parts[0], parts[1])
        if head == "at":
            key = (self.seed, parts[0], *(self.number(p, env) for p in parts[1:]))
            return Fraction(random.Random(repr(key)).randint(1, 3))
        if head == "sum":
            low, high = self.whole(parts[2], env), self.whole(parts[3], env)
            return sum((self.number(parts[0], {**env, parts[1]: k}) for k in range(low, high + 1)), Fraction(0))
        if head in ("+", "*", "^"):
            values = [self.number(p, env) for p in parts]
            total = values[0]
            for value in values[1:]:
                if head == "^":
                    if value.denominator != 1 or abs(value) > 40 or (total == 0 and value < 0):
                        raise NotThere
                    total = total ** int(value)
                else:
                    total = total + value if head == "+" else total * value
            return total
        counted, patterns = parts
        return self.tally(head, counted, patterns, env)

    def whole(self, s: Any, env: Mapping[str, Any]) -> int:
        """A size or a bound."""
        value = self.number(s, env)
        if value.denominator != 1 or abs(value) > MOST:
            raise NotThere
        return int(value)

    def tally(self, head: str, t: Any, patterns: Mapping[str, str], env: Mapping[str, Any]) -> Fraction:
        """What is counted."""
        match head:
            case "nonzeros":
                return Fraction(int(np.count_nonzero(self.matrix(t, env, patterns))))
            case "entries" | "rows" | "columns":
                rows, columns = self.matrix(t, env, {}).shape
                return Fraction({"entries": rows * columns, "rows": rows, "columns": columns}[head])
            case "stored":
                return Fraction(sum(size for _, size in {x for x in self.letters(t, env)}))
            case "terms":
                return Fraction(self.terms(t, env))
        return Fraction(self.cost(head, t, env, {}))

    def letters(self, t: Any, env: Mapping[str, Any]) -> Any:
        """Name and indices of each letter, and how many entries it has."""
        if t[0] == "L":
            key = (t[1], *(tuple(self.number(i, env) for i in part) for part in t[4:6]))
            yield key, self.whole(t[2], env) * self.whole(t[3], env)
            return
        if t[0] == "sum":
            for k in range(self.whole(t[3], env), self.whole(t[4], env) + 1):
                yield from self.letters(t[1], {**env, t[2]: k})
            return
        for part in t[1:]:
            if isinstance(part, list) and part and part[0] in HEADS:
                yield from self.letters(part, env)

    def terms(self, t: Any, env: Mapping[str, Any]) -> int:
        """How many terms a sum of sums has."""
        if t[0] == "+":
            return sum(self.terms(part, env) for part in t[1:])
        if t[0] == "sum":
            span = range(self.whole(t[3], env), self.whole(t[4], env) + 1)
            return sum(self.terms(t[1], {**env, t[2]: k}) for k in span)
        return self.terms(t[2], env) if t[0] == "." else 1

    def matrix(self, t: Any, env: Mapping[str, Any], patterns: Mapping[str, str]) -> np.ndarray:
        """The matrix with a 1 in the place of everything in a letter that is not zero."""
        of = lambda x: self.matrix(x, env, patterns)
        head, *parts = t
        match head:
            case "L":
                shape = self.whole(parts[1], env), self.whole(parts[2], env)
                ones = np.ones(_sure(shape), dtype=object)
                if patterns.get(parts[0]) == "triangular":
                    return np.tril(ones)
                if patterns.get(parts[0]) == "diagonal":
                    return np.eye(*shape, k=self.whole(parts[3][0], env), dtype=object)
                return ones
            case "I":
                return np.eye(_sure((self.whole(parts[0], env),))[0], dtype=object)
            case "0" | "1":
                return np.full(_sure(tuple(self.whole(p, env) for p in parts)), int(head), dtype=object)
            case "E":
                i, rows, columns = (self.whole(p, env) for p in parts)
                if not (1 <= i and i * columns <= rows):
                    raise NotThere
                return np.eye(*_sure((rows, columns)), k=-(i - 1) * columns, dtype=object)
            case "+":
                return sum(map(of, parts))  # type: ignore[return-value]
            case ".":
                return of(parts[1]) * self.number(parts[0], env)
            case "@":
                total, *others = map(of, parts)
                for other in others:
                    total = total.dot(other)
                return total
            case "T":
                return of(parts[0]).T
            case "kron":
                return np.kron(of(parts[0]), of(parts[1]))
            case "softmax" | "sigma":
                return np.ones(of(parts[0]).shape, dtype=object)
            case "vec":
                return of(parts[0]).reshape(-1, 1)
            case "diag":
                return np.diag(of(parts[0])[:, 0])
            case "had":
                return of(parts[0]) * of(parts[1])
            case "sum":
                span = range(self.whole(parts[2], env), self.whole(parts[3], env) + 1)
                if not span:
                    raise NotThere
                return sum(self.matrix(parts[0], {**env, parts[1]: k}, patterns) for k in span)  # type: ignore[return-value]
        raise NotThere

    def cost(self, head: str, t: Any, env: Mapping[str, Any], again: Mapping[Any, int]) -> int:
        """What a term costs, with what letters cost that are computed again."""
        if t[0] == "L":
            return again.get((t[1], *(tuple(self.number(i, env) for i in part) for part in t[4:6])), 0)
        if t[0] == "sum":
            span = range(self.whole(t[3], env), self.whole(t[4], env) + 1)
            of = [self.cost(head, t[1], {**env, t[2]: k}, again) for k in span]
            return max(of, default=0) if head == "nesting" else sum(of)
        parts = [p for p in t[1:] if isinstance(p, list) and p and p[0] in HEADS]
        if t[0] == "@" and any(p[0] == "0" for p in parts):
            return 0
        inside = [self.cost(head, p, env, again) for p in parts]
        if head == "nesting":
            return max(inside, default=0) + (t[0] == "sigma")
        own = int(t[0] == "sigma" and head == "sigmas")
        if t[0] == "@" and head != "sigmas":
            shapes = [self.matrix(p, env, {}).shape for p in parts]
            columns = shapes[-1][1]
            own = len(parts) - 1
            if head == "multiplications":
                own = sum(rows * inner * columns for rows, inner in shapes[:-1])
            if head == "vector products" and columns != 1:
                own = 0
        return sum(inside) + own


HEADS = {
    "L", "I", "0", "1", "E", "+", "@", ".", "T", "kron", "vec", "unvec", "had", "diag", "sigma", "softmax", "f", "sum",
}  # fmt: skip


def _sure(shape: tuple[int, ...]) -> tuple[int, ...]:
    if any(n < 1 for n in shape) or np.prod(shape) > MOST:
        raise NotThere
    return shape


def holds(s: Mapping[str, Any], seed: int = 0) -> bool | None:
    """Whether a statement holds at all sizes that are drawn; None if it is defined at none of them."""
    rng, found = random.Random(seed), 0
    if s["kind"] == "other count":
        at = At({**dict.fromkeys(s["symbols"], 1), **s["at"]}, seed)
        try:
            return at.number(s["count"], {}) != at.number(s["is"], {})
        except (NotThere, ZeroDivisionError):
            return None
    for _ in range(60 * DRAWS):
        largest = rng.choice([2, 3, 5])
        sizes = {n: rng.randint(kind != "count", largest) for n, kind in s["symbols"].items()}
        sizes |= {n: 1000 + place for place, (n, kind) in enumerate(s["symbols"].items()) if kind == "number"}  # labels
        try:
            if not _ONE[s["kind"]](s, At(sizes, rng.random()), sizes):  # type: ignore[arg-type]
                return False
        except (NotThere, ZeroDivisionError):
            continue
        found += 1
        if found == DRAWS:
            break
    return True if found else None


def _count(s: Mapping[str, Any], at: At, _: Any) -> bool:
    return at.number(s["count"], {}) == at.number(s["is"], {})


def _recurrence(s: Mapping[str, Any], at: At, sizes: dict[str, int]) -> bool:
    f = at.number(s["value"], {})
    for n in range(s["first"], s["first"] + DEEPEST):
        at.sizes[s["index"]] = n
        if f != at.number(s["closed"], {}):
            return False
        if f.denominator != 1 or f > 60:
            break
        at.sizes[s["before"]] = int(f)
        f = at.number(s["next"], {})
    return True


def _cost(s: Mapping[str, Any], at: At, sizes: dict[str, int]) -> bool:
    """Layer after layer: what each letter costs, and all of them together."""
    head, total, again = s["counted"], 0, {}
    for depth in range(1, DEEPEST + 1):
        at.sizes[s["index"]], at.sizes[s["depth"]] = depth - 1, depth
        for d in s["first"] if depth == 1 else s["next"]:
            index, upper = d.get("for", (None, 1))
            for k in range(1, at.whole(upper, {}) + 1):
                env = {} if index is None else {index: k}
                cost = at.cost(head, d["is"], env, {} if s["shared"] else again)
                key = (d["letter"][1], *(tuple(at.number(i, env) for i in part) for part in d["letter"][4:6]))
                again[key] = cost
                total += cost
        rest = at.cost(head, s["output"], {}, {} if s["shared"] else again)
        if at.number(s["closed"], {}) != rest + (total if s["shared"] else 0):
            return False
    return True


_ONE = {"count": _count, "recurrence": _recurrence, "cost": _cost}
