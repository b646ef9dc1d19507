"""Decides a certificate of two functions from the two programs in it, and says in its own words what was decided."""

import hashlib
import itertools
import json
import math
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb
from flint import ctx as precision

from uat_jax_check import arrays as a
from uat_jax_check.arrays import Array
from uat_jax_check.balls import UNDEFINED, Balls, Undecided
from uat_jax_check.document import NotDecided, Refused, usable
from uat_jax_check.fields import Fields, Level, Number, Redraw, is_prime, rank_and_width
from uat_jax_check.program import PARAMETERS, Irrational, Machine

LOG2_ERROR = -128
ATTEMPTS = 2**10
"""So many draws are made for a question at most; the bound of docs/checker.md §3 holds for each, and is added up."""
LARGEST = 2**12
"""The largest number of bits of a prime."""
SIZES = 16
"""The largest number of assignments of sizes."""
MOST_COPIES = 512
MOST_LEVELS = 6
MOST_ROOTS, MOST_DRAWS = 10, 2**8

Reader = Callable[[Fraction, str], Any]


# --- what a constant stands for --------------------------------------------------------------------------------------


def written(value: Fraction, dtype: str) -> Any:
    """A float is the number that its bits say."""
    return value


class Meant:
    """A float is the simplest number that rounds to it; what was read is remembered, and printed as an assumption."""

    def __init__(self) -> None:
        self.read: dict[tuple[Fraction, str], Fraction | float | Irrational] = {}

    def __call__(self, value: Fraction, dtype: str) -> Any:
        """What a float stands for."""
        if value.denominator <= 1024 and abs(value) < 2**24:
            return value
        if (value, dtype) not in self.read:
            self.read[value, dtype] = next(self.candidates(value, dtype), value)
        return self.read[value, dtype]

    def candidates(self, value: Fraction, dtype: str) -> Iterator[Fraction | float | Irrational]:
        """Infinity for what is close to the largest float, short decimals, small fractions, roots of these."""
        largest = 2 ** (2 ** (a.FLOATS[dtype][1] - 1))
        if abs(value) > Fraction(largest, 2):
            yield math.copysign(math.inf, value)
        for digits in range(1, 13 if dtype == "float64" else 7):
            decimal = Fraction(f"{float(value):.{digits}g}")
            if a.rounded(decimal, dtype) == value:
                yield decimal
                break
        small = value.limit_denominator(100)
        if a.rounded(small, dtype) == value:
            yield small
        for over_pi in (False, True):
            with_pi = value**2 * (Fraction(math.pi) if over_pi else 1)
            number = Irrational(Fraction(1 if value > 0 else -1), with_pi.limit_denominator(64), over_pi)
            if number.radicand and a.rounded(number.near(), dtype) == value:
                yield number

    def text(self) -> list[str]:
        """The readings that differ from what is written."""
        return [f"{float(v)!r} ({t}) is read as {r}" for (v, t), r in self.read.items() if r != v]


# --- prime fields ----------------------------------------------------------------------------------------------------


@dataclass
class Limits:
    """What the counts of a draw may be at most; chosen before the draw, so that one bound holds for all draws."""

    degree: int = 2**32
    count: int = 2**21
    width: int = 2**24

    def bits(self, levels: int) -> int:
        """How many bits the smallest prime needs (docs/checker.md §3)."""
        chance = levels * (self.count**2 + MOST_COPIES**3) * 16 * self.degree * MOST_COPIES * (1 + 2 * self.width)
        return chance.bit_length() - LOG2_ERROR + (4 * SIZES * ATTEMPTS).bit_length()

    def hold(self, fields: Fields, width: int) -> bool:
        """Whether a draw stayed within them."""
        roots = 2 ** len(fields.roots)
        return (
            fields.degree * roots <= self.degree
            and fields.applications + fields.tests <= self.count
            and width <= self.width
        )


def primes(levels: int, bits: int) -> list[int]:
    """Random primes p_0, p_1, …: 840 p_{k+1} divides p_k - 1, so √2, √3, √5, √7, i exist; the last has so many bits."""
    found = [prime(bits)]
    while len(found) < levels:
        found.insert(0, prime_above(found[0], found[0].bit_length() + 44))
    return found


def prime(bits: int) -> int:
    """A random prime of about so many bits, one more than a multiple of 840."""
    return candidate(840, bits, is_prime) if bits <= 96 else prime_above(prime(bits // 2 + 16), bits)


def prime_above(q: int, bits: int) -> int:
    """A random prime p that is one more than a multiple of 840 q, for a prime q above √p.

    Pocklington: if 2^(p-1) = 1 modulo p, and 2^((p-1)/q) - 1 has no divisor in common with p, then every prime divisor
    of p is 1 modulo q, hence above √p, so p is prime.
    """
    proved = lambda p: q * q > p and pow(2, p - 1, p) == 1 and math.gcd(pow(2, (p - 1) // q, p) - 1, p) == 1
    return candidate(840 * q, bits, proved)


SIEVE = math.prod(range(11, 2000, 2))


def candidate(base: int, bits: int, proved: Callable[[int], bool]) -> int:
    """A random number of about so many bits that is one more than a multiple of a number, and is proved to be prime."""
    free = bits - base.bit_length()
    while True:
        p = base * (secrets.randbits(free) | 2 ** (free - 1)) + 1
        if math.gcd(p, SIEVE) == 1 and proved(p):
            return p


class Outcomes(dict[Any, bool]):
    """Outcomes of comparisons: letters that are true or false, drawn where they are asked for."""

    def __missing__(self, letter: Any) -> bool:
        self[letter] = not secrets.randbelow(2)
        return self[letter]


def next_case(leaves: list[set[frozenset[Any]]]) -> Outcomes | None:
    """Outcomes that some entry was not compared at yet, None if there are none; ``leaves``: what each has seen."""
    wanted = Outcomes()
    for seen in leaves:
        gap = uncovered(seen)
        if gap is not None and all(wanted.get(letter, value) == value for letter, value in gap.items()):
            wanted.update(gap)
    return wanted if wanted else None


def uncovered(leaves: set[frozenset[Any]]) -> dict[Any, bool] | None:
    """Values of letters that none of some sets of values agrees with; None if every choice agrees with one."""
    if not leaves or frozenset() in leaves:
        return None if leaves else {}
    letter = next(iter(min(leaves, key=len)))[0]
    for value in (True, False):
        rest = {leaf - {(letter, value)} for leaf in leaves if (letter, not value) not in leaf}
        gap = uncovered(rest)
        if gap is not None:
            return {letter: value, **gap}
    return None


class Different(Exception):
    """The two programs have different values at a point: as formal values they differ."""


class Comparison:
    """Two programs at random points, by one reading of constants.

    Raises:
        NotDecided: the programs cannot be followed.
    """

    def __init__(self, left: Any, right: Any, constant: Reader, given: Sequence[int] = ()) -> None:
        self.programs, self.constant, self.given = (left, right), constant, given
        self.attempts, self.depth, self.turned = 0, 0, False
        self.decisions: dict[tuple[int, ...], list[Any]] = {}
        self.notes: list[str] = []
        self.noted: set[str] = set()
        self.cases = self.signs = False
        self.outcomes: Any = None
        self.leaves: list[set[frozenset[Any]]] = []
        self.seen: list[frozenset[Any]] = []
        self.stopped: NotDecided | None = None

    def equal(self, roots: bool) -> bool:
        """Whether both are equal in one of the readings of exponentials and comparisons."""
        for cases, turned, towers in itertools.product((False, True), repeat=3):
            if towers and not self.depth or cases and not self.signs:
                continue
            self.turned, self.cases = turned, cases
            try:
                self.reading(towers, roots)
            except Different:
                continue
            except NotDecided as reason:
                self.stopped, self.signs = self.stopped or reason, True
                if self.attempts > ATTEMPTS:
                    break
                continue
            self.notes = [
                "exponentials turn sums into products"
                if towers
                else "exp, sin and cos are any functions (exp(0) = 1, even, odd)",
                *(["the square of a root is the number"] if roots else []),
                *(["every outcome of the comparisons that an entry depends on is a case of its own"] if cases else []),
                *sorted(self.noted),
            ]
            return True
        return False

    def reading(self, towers: bool, roots: bool) -> None:
        """Draw until the counts of a draw lie within limits that were chosen before it."""
        limits, copies, self.leaves = Limits(), [1] + [8] * (self.depth if towers else 0), []
        self.outcomes = Outcomes() if self.cases else None
        if len(copies) > MOST_LEVELS + 1:
            raise NotDecided(f"{self.depth} exponentials in each other")
        while True:
            bits = limits.bits(len(copies))
            if bits > LARGEST:
                raise NotDecided("degrees that are too high")
            drawn, ranks, width = self.draw(bits, copies, towers, roots)
            if any(r >= c for r, c in zip(ranks, copies[1:], strict=True)):
                copies[1:] = [
                    max(c, min(2 * c, MOST_COPIES)) if r >= c else c for r, c in zip(ranks, copies[1:], strict=True)
                ]
                if any(r >= MOST_COPIES for r in ranks):
                    raise NotDecided(f"more than {MOST_COPIES} independent exponents")
                continue
            if all(limits.hold(f, width) for f in drawn):
                self.leaves = [a | {b} for a, b in zip(self.leaves or [set()] * len(self.seen), self.seen, strict=True)]
                self.outcomes = next_case(self.leaves) if self.cases else None
                if self.outcomes is None:
                    return
                continue
            worst = max(f.degree * 2 ** len(f.roots) for f in drawn)
            usable(max(f.applications + f.tests for f in drawn) <= limits.count, "more numbers than the limits allow")
            limits = Limits(
                max(limits.degree, 2 ** worst.bit_length()), limits.count, max(limits.width, 2 ** width.bit_length())
            )

    def draw(self, bits: int, copies: list[int], towers: bool, roots: bool) -> tuple[list[Fields], list[int], int]:
        """Both programs at every level, the last one first; the counts, the ranks and the width of exponents."""
        for _ in range(4):
            below, done, ranks, width, self.seen = None, [], [], 1, []
            chain = primes(len(copies), bits)
            try:
                for height in range(len(copies) - 1, 0, -1):
                    level = self.level(chain, copies, height, towers, below)
                    below = self.evaluated(level)[0]
                    columns = {x.at for x in below.exponents.values() if x.at is not None}
                    rank, own = rank_and_width(sorted(columns), below.p, copies[height])
                    done, ranks, width = [below, *done], [rank, *ranks], max(width, own)
                    if rank >= copies[height]:
                        return done, [0] * (len(copies) - 1 - len(ranks)) + ranks, width
                top = (
                    self.rooted(chain, copies, towers, below)
                    if roots
                    else [self.top(chain, copies, towers, below, None)]
                )
                return [*top, *done], ranks, width
            except Redraw:
                continue
        raise NotDecided("a divisor that is 0 at all points")

    def level(self, chain: list[int], copies: list[int], height: int, towers: bool, below: Fields | None) -> Level:
        """A level with its own random function, and random exponents of the level below."""
        self.attempts += 1
        if self.attempts > ATTEMPTS:
            raise NotDecided("too many draws")
        level = Level(chain[height], copies[height], secrets.token_bytes(32), height, below, towers=towers)
        level.allowed, level.outcomes = len(copies) - 1 - height, self.outcomes
        if below is not None:
            q = below.p
            powers = (pow(b, (level.prime - 1) // q, level.prime) for b in range(2, 999))
            level.generator = next(g for g in powers if g != 1)
            row = lambda: tuple(secrets.randbelow(q) for _ in range(below.level.copies))
            level.mixing = [[row() for _ in range(level.copies)] for _ in range(2)]
        return level

    def top(self, chain: list[int], copies: list[int], towers: bool, below: Fields | None, signs: Any) -> Fields:
        """The level at which outputs are compared."""
        level = self.level(chain, copies, 0, towers, below)
        level.signs = signs
        return self.compared(level)

    def compared(self, level: Level, inputs: Any = None) -> Fields:
        """Compare the outputs at a level.  Raises `Different`."""
        fields, outputs = self.evaluated(level, inputs)
        self.depth, self.signs = max(self.depth, fields.depth), self.signs or bool(fields.compared)
        pairs = [(x, y) for u, v in zip(*outputs, strict=True) for x, y in zip(u.entries, v.entries, strict=True)]
        if not all(same(fields, x, y) or fields.settled(x, y) for x, y in pairs):
            raise Different
        found = [fields.common.union(*(getattr(z, "cases", ()) for z in pair)) for pair in pairs]
        self.seen = [a | b for a, b in zip(self.seen or [frozenset()] * len(found), found, strict=True)]
        return fields

    def rooted(self, chain: list[int], copies: list[int], towers: bool, below: Fields | None) -> list[Fields]:
        """Points at which all numbers of which a root is taken are squares, and there all signs of the roots.

        The i-th number is surely no square of a formal value if it was no square at some point at which those before
        it were squares. From the first number on of which this was not seen, all signs are tried (docs/checker.md §4).
        """
        seen: set[int] = set()
        for draw in range(1, MOST_DRAWS):
            if not draw % 8:  # a known number of which a root is taken is a square modulo half of the primes
                bits = chain[0].bit_length()
                chain = [prime_above(below.p, bits) if below else prime(bits), *chain[1:]]
            level = self.level(chain, copies, 0, towers, below)
            level.signs, inputs = (), self.inputs(level)
            try:
                first = self.compared(level, inputs)
            except Redraw as redraw:
                if redraw.args and type(redraw.args[0]) is int:
                    seen.add(redraw.args[0])
                    continue
                raise
            count = len(first.roots) - len(first.letters)
            sure = next((i for i in range(count) if i not in seen), count)
            if count - sure > MOST_ROOTS:
                raise NotDecided(f"{count} roots")
            done = [first]
            for pattern in range(1, 2 ** (count - sure)):
                level.signs = [0] * sure + [pattern >> i & 1 for i in range(count - sure)]
                done.append(self.compared(level, inputs))
            return done
        raise NotDecided("too many roots")

    def inputs(self, level: Level) -> list[Array]:
        """Random numbers for all inputs."""
        arguments = []
        types = Machine(None, self.programs[0], self.constant).inputs()
        for (dtype, shape), sign in zip(types, self.given or [0] * len(types), strict=True):
            if dtype not in a.FLOATS:
                raise NotDecided(f"an input {dtype}")
            at = [tuple(secrets.randbelow(level.prime) for _ in range(level.copies)) for _ in range(math.prod(shape))]
            arguments.append(Array(dtype, shape, [Number(x, sign=sign) for x in at]))
        return arguments

    def evaluated(self, level: Level, inputs: Any = None) -> tuple[Fields, list[list[Array]]]:
        """Both programs at a level, with the same inputs and the same unknown functions."""
        fields, outputs, decisions = Fields(level), [], {}
        inputs = self.inputs(level) if inputs is None else inputs
        for side, program in sorted(enumerate(self.programs), reverse=self.turned):
            # Exponentials of both sides have places of their own.
            machine = Machine(fields, program, self.constant, first=side * 2**20)
            outputs.insert(0 if self.turned else side, machine.run(inputs))
            decisions |= machine.decisions
        self.decisions = decisions
        self.noted |= fields.notes
        shapes = [
            [(x.dtype in a.FLOATS, x.dtype if x.dtype not in a.FLOATS else "", x.shape) for x in side]
            for side in outputs
        ]
        if shapes[0] != shapes[1]:
            raise Refused("the outputs of the two programs have different types")
        return fields, outputs


def same(fields: Fields, x: Any, y: Any) -> bool:
    """Whether two entries are equal: infinities, integers, or numbers as formal values."""
    if isinstance(x, Number) or isinstance(y, Number):
        if type(x) is float or type(y) is float:
            return False
        x, y = (Fraction(v) if type(v) is int else v for v in (x, y))
        return fields.is_zero(fields.sum([x, fields.negative(y)]))
    return x == y or x != x and y != y


# --- the claim -------------------------------------------------------------------------------------------------------

_INPUT = re.compile(r"(\w+)\[([^\[\]]*)\](.*)", re.DOTALL)


def stated_inputs(claim: dict[str, Any], sizes: dict[str, int]) -> list[tuple[str, a.Shape]]:
    """The types of the inputs that the claim states, at some sizes."""
    found = []
    for text in claim["inputs"]:
        usable(isinstance(text, str) and len(text) < 1000, "an input is no text")
        match = _INPUT.fullmatch(text)
        if not match:
            raise NotDecided(f"an input {text[:60]!r}")
        dims = [d.strip() for d in match[2].split(",") if d.strip()]
        found.append((match[1], tuple(dimension(d, sizes) for d in dims)))
    return found


_BOUND = r"\s*(-?[0-9]{1,18}(?:\.[0-9]{1,18})?)\s*"
_DOMAINS = re.compile(rf"(?: > (?P<above>0)| >= (?P<least>0)| in \[(?P<low>{_BOUND}),(?P<high>{_BOUND})\])?")


def domains(claim: dict[str, Any]) -> list[tuple[int, Fraction | None, Fraction | None]]:
    """Of every input the sign that it has (2 if it is above 0, 1 if not below, else 0), and its bounds."""
    found = []
    for text in claim["inputs"]:
        said = _DOMAINS.fullmatch(text.split("]", 1)[1])
        if not said:
            raise NotDecided(f"the domain of an input {text[:60]!r}")
        low = said["above"] or said["least"] or said["low"]
        low, high = (None if t is None else Fraction(t.strip()) for t in (low, said["high"]))
        usable(low is None or high is None or low < high, "a domain is empty")
        sign = 0 if low is None or low < 0 else 1 + (low > 0 or said["above"] is not None)
        found.append((sign, low, high))
    return found


def somewhere(low: Fraction | None, high: Fraction | None) -> Fraction:
    """A random number of a domain."""
    k = secrets.randbelow(255) + 1
    if high is not None:
        return (low or 0) + Fraction(k, 256) * (high - (low or 0))
    return Fraction(k, 64) if low is not None else Fraction(k - 128, 64)


def dimension(text: str, sizes: dict[str, int]) -> int:
    """The value of a sum of products of numbers and names of sizes, such as 2*n + 1."""
    if not re.fullmatch(r"[\w +*-]{1,100}", text):
        raise NotDecided(f"the dimension {text[:60]!r}")
    total = 0
    for sign, term in re.findall(r"([+-]?)\s*([\w* ]+)", text):
        factors = [f.strip() for f in term.split("*")]
        usable(
            all(re.fullmatch(r"[0-9]{1,9}", f) or f in sizes for f in factors), f"the dimension {text[:60]!r} is none"
        )
        total += (-1 if sign == "-" else 1) * math.prod(int(f) if f not in sizes else sizes[f] for f in factors)
    return total


@dataclass
class Checked:
    """What was decided, in lines for a person."""

    lines: list[str]


def check(certificate: dict[str, Any]) -> Checked:
    """Decide a certificate of two functions.

    Raises:
        Unusable: it is no such certificate.
        Refused: what it claims is not so.
        NotDecided: this checker does not know.
    """
    claim: Any = certificate.get("claim")
    usable(isinstance(claim, dict), "it has no claim")
    if claim.get("id") != "equivalence":
        raise NotDecided(f"claims other than the equality of two functions, such as {str(claim.get('id'))[:60]!r}")
    verdict: Any = certificate.get("verdict")
    programs: Any = claim.get("programs")
    usable(isinstance(programs, list) and 0 < len(programs) <= SIZES, "it holds no programs, or too many")
    usable(isinstance(claim.get("inputs"), list) and len(claim["inputs"]) <= 10**4, "its claim has no inputs")
    for flag in ("derivatives", "almost_everywhere", "sizes_listed"):
        usable(type(claim.get(flag)) is bool, f"its claim does not say whether {flag}")
    by_sizes = {}
    for entry in programs:
        usable(isinstance(entry, dict) and isinstance(entry.get("sizes"), dict), "a pair of programs has no sizes")
        if "missing" in entry:
            raise NotDecided("programs that the file does not hold")
        sizes = entry["sizes"]
        usable(all(type(n) is int and 0 <= n < 2**20 for n in sizes.values()), "a size is no number")
        if set(sizes) != set(claim.get("symbols") or ()):
            raise Refused(f"the sizes {sorted(sizes)} are not those of the symbols {claim.get('symbols')}")
        key = json.dumps(sizes, sort_keys=True)
        if key in by_sizes:
            raise Refused(f"the sizes {key} stand twice")
        by_sizes[key] = tuple(jaxprs(entry, side) for side in ("left", "right"))
        for left, right in [by_sizes[key]]:
            types = [[a.read_type(t) for t in p[-1]["inputs"]] for p in (left, right)]
            if types[0] != types[1] or types[0] != stated_inputs(claim, sizes):
                raise Refused(f"the inputs of the programs at {key} are not those that the claim states")
    if claim["derivatives"]:
        raise NotDecided("whether outputs of a program are derivatives of others")
    if verdict == "REFUTED":
        if claim["almost_everywhere"] or any(not x.endswith("]") for x in claim["inputs"]):
            raise NotDecided("a refutation almost everywhere, or within a domain")
        return refuted(certificate, by_sizes)
    if verdict not in ("CERTIFIED", "PROVED"):
        raise NotDecided(f"a certificate that says {str(verdict)[:20]}")
    if claim.get("symbols") and not claim["sizes_listed"]:
        raise NotDecided("sizes other than those of which programs are in the file")
    return certified(claim, by_sizes)


def jaxprs(entry: dict[str, Any], side: str) -> list[Any]:
    """The jaxprs of a side, whose digest must be the one stated."""
    found = program(entry.get(side))
    text = json.dumps(found, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != entry.get(f"{side}_digest"):
        raise Refused(f"the digest of the {side} program is another one")
    return found


def program(program: Any) -> list[Any]:
    """The jaxprs of a program, the last one being the program itself."""
    usable(
        isinstance(program, dict) and isinstance(program.get("jaxprs"), list) and program["jaxprs"],
        "a program is missing",
    )
    fields = {"constants", "inputs", "equations", "outputs"}
    for jaxpr in program["jaxprs"]:
        usable(
            isinstance(jaxpr, dict) and set(jaxpr) == fields, f"a jaxpr has not the fields {', '.join(sorted(fields))}"
        )
        usable(all(isinstance(jaxpr[f], list) for f in fields), "a field of a jaxpr is no list")
    return program["jaxprs"]


def statement(claim: dict[str, Any], sizes: str) -> list[str]:
    """What is claimed, from the programs alone."""
    inputs = ", ".join(f"x{i}: {text}" for i, text in enumerate(claim["inputs"]))
    where = f" at the sizes {sizes}" if sizes != "{}" else ""
    return [f"for all real inputs {inputs}{where} at which both programs are defined, their outputs are equal"]


def certified(claim: dict[str, Any], by_sizes: dict[str, Any]) -> Checked:
    """Equal at all sizes in the file, as the constants are written or as they are meant."""
    lines, notes, readings = [], set(), []
    known = domains(claim)
    signs = [sign for sign, *_ in known]
    for sizes, (left, right) in by_sizes.items():
        lines += statement(claim, sizes)
        if left == right:
            strange = {str(e[0])[:60] for jaxpr in left for e in jaxpr["equations"]} - set(PARAMETERS)
            if strange:  # it may draw random numbers, or read memory
                raise NotDecided(f"primitive {min(strange)!r}, even where both programs are the same text")
            notes.add("both programs are the same text, and primitives are functions of their operands")
            continue
        where = "" if sizes == "{}" else f" at the sizes {sizes}"
        differ_somewhere(left, right, where, [bounds for _, *bounds in known])
        meant = Meant()
        plain, again = (Comparison(left, right, reader, signs) for reader in (written, meant))
        both = [plain, again] if meant_differs(left, right, meant) else [plain]
        equal = next((c for roots in (False, True) for c in both if c.equal(roots)), None)
        if equal is None:
            raise next((c.stopped for c in both if c.stopped), None) or NotDecided(
                f"no law here makes the programs equal{where}, first at {first_difference(left, right)}"
            )
        notes |= set(equal.notes)
        if equal is again:
            if any(again.decisions.get(place, made) != made for place, made in plain.decisions.items()):
                raise NotDecided("a decision that depends on how a constant is read")
            readings += [t for t in meant.text() if t not in readings]
    assumptions = [
        "sums, products and casts are those of real numbers",
        "numbers that differ over the rationals differ modulo random primes, and SHAKE-256 is a random function",
        *readings,
    ]
    return Checked(
        [
            *lines,
            *(f"laws used: {n}" for n in sorted(notes)),
            *(f"assumed: {t}" for t in assumptions),
            f"chance of error: at most 2^{LOG2_ERROR}",
        ]
    )


def meant_differs(left: Any, right: Any, meant: Meant) -> bool:
    """Whether any constant is read as something else than it is written."""

    def arrays(data: Any) -> None:
        if isinstance(data, list):
            if len(data) == 3 and isinstance(data[0], str) and data[0] in a.FLOATS and isinstance(data[2], str):
                a.read_array(data, meant)
            for item in data:
                arrays(item)
        elif isinstance(data, dict):
            for item in data.values():
                arrays(item)

    arrays([left, right])
    return bool(meant.text())


def first_difference(left: Any, right: Any) -> str:
    """Which output differs first, at a point at which exponentials are any functions."""
    comparison = Comparison(left, right, written)
    try:
        fields, (x, y) = comparison.evaluated(comparison.level(primes(1, 256), [1], 0, False, None))
        for number, (u, v) in enumerate(zip(x, y, strict=True)):
            for place, e, f in zip(u.grid(), u.entries, v.entries, strict=True):
                if not same(fields, e, f):
                    return f"output {number}, entry {list(place)}"
    except (Redraw, NotDecided):
        pass
    return "an output"


def differ_somewhere(left: Any, right: Any, where: str, bounds: list[Any]) -> None:
    """Look at two inputs for exact values that surely differ.  Raises `Refused`."""
    for _ in range(2):
        types = zip(Machine(None, left, written).inputs(), bounds, strict=True)
        arguments = [Array(t, s, [somewhere(*ends) for _ in range(math.prod(s))]) for (t, s), ends in types]
        for number, place in first_places(left, right, arguments):
            try:
                runs, at = ((left, arguments), (right, arguments)), {"output": number, "entry": place}
                x, y = apart(*runs, at, written)
                again = apart(*runs, at, Meant())
            except (Refused, NotDecided):
                continue
            if again and clearly(x, y):
                raise Refused(
                    f"output {number}, entry {place}{where}: left {show(x)}, right {show(y)} at a random input"
                )


def clearly(x: Any, y: Any) -> bool:
    """Whether two values differ by more than the rounding of constants explains."""
    u, v = (float(z) if isinstance(z, arb | Fraction) else math.inf for z in (x, y))
    return math.isfinite(u) and math.isfinite(v) and abs(u - v) > 2**-8 * max(abs(u), abs(v), 2**-8)


def first_places(left: Any, right: Any, arguments: list[Array]) -> list[tuple[int, list[int]]]:
    """The first entry at which two outputs are not one number in balls."""
    try:
        with precision.workprec(96):
            sides = [Machine(Balls(), p, written).run(arguments) for p in (left, right)]
    except (NotDecided, Undecided):
        return []
    for number, (u, v) in enumerate(zip(*sides, strict=True)):
        for place, e, f in zip(u.grid(), u.entries, v.entries, strict=True):
            if (
                isinstance(e, arb)
                and isinstance(f, arb)
                and not e.overlaps(f)
                or type(e) is type(f) is Fraction
                and e != f
            ):
                return [(number, list(place))]
    return []


# --- counterexamples -------------------------------------------------------------------------------------------------


def refuted(certificate: dict[str, Any], by_sizes: dict[str, Any]) -> Checked:
    """The counterexample evaluated exactly: the values differ, as constants are written and as they are meant."""
    evidence: Any = certificate.get("evidence")
    usable(isinstance(evidence, list), "it has no evidence")
    found = [
        e["example"]
        for e in evidence
        if isinstance(e, dict) and isinstance(e.get("example"), dict) and e.get("verdict") == "REFUTED"
    ]
    if not found:
        raise NotDecided("a refutation without an input")
    example = found[0]
    key = json.dumps(example.get("sizes", {}), sort_keys=True)
    if key not in by_sizes:
        raise Refused(f"no programs are in the file at the sizes {key[:80]} of the counterexample")
    left, right = by_sizes[key]
    arguments = [
        values(x, t) for x, t in zip(example["inputs"], [a.read_type(t) for t in left[-1]["inputs"]], strict=True)
    ]
    shown = []
    for reader in (written, Meant()):
        shown.append(apart((left, arguments), (right, arguments), example, reader))
        usable(
            isinstance(example.get("exact"), list) and len(example["exact"]) == 2,
            "the counterexample has no exact values",
        )
    for text, value in zip(example["exact"], shown[0], strict=True):
        if not stated(text, value):
            raise Refused(f"the exact value {str(text)[:40]} is stated, and it is {show(value)}")
    where = "" if key == "{}" else f" at the sizes {key}"
    return Checked(
        [
            f"at the input of the counterexample{where}, output {example['output']}, entry {example['entry']}: "
            f"left {show(shown[0][0])}, right {show(shown[0][1])}",
            "both programs are defined there; the exact values differ, as constants are written and as they are meant",
            "assumed: sums, products and casts are those of real numbers",
        ]
    )


def values(data: Any, kind: tuple[str, a.Shape]) -> Array:
    """The array of an input of a counterexample, which must be one of its dtype."""
    dtype, shape = kind
    usable(isinstance(data, dict) and data.get("dtype") == dtype, "an input of the counterexample has another dtype")
    flat = data["values"]
    entries = flat if shape else [flat]
    for depth, n in enumerate(shape):
        usable(
            all(isinstance(x, list) and len(x) == n for x in ([entries] if not depth else entries)),
            "an input of the counterexample has another shape",
        )
        entries = entries if not depth else [v for x in entries for v in x]
    if dtype not in a.FLOATS:
        entries = [int(v) if type(v) is bool else v for v in entries]
        bits, signed = a.INTEGERS[dtype]
        low = -(2 ** (bits - 1)) if signed else 0
        usable(
            all(type(v) is int and low <= v < low + 2**bits for v in entries),
            "an input of the counterexample is no integer",
        )
        return Array(dtype, shape, entries)
    usable(all(type(v) in (int, float) for v in entries), "an input of the counterexample is no number")
    numbers = [Fraction(v) for v in entries]
    if any(a.rounded(v, dtype) != v for v in numbers):
        raise Refused(f"an input of the counterexample is no {dtype}")
    return Array(dtype, shape, numbers)


Run = tuple[Any, list[Array]]
"""A program and its arguments."""


def apart(left: Run, right: Run, example: Mapping[str, Any], reader: Reader) -> tuple[Any, Any]:
    """Both values at the entry of the counterexample, which surely differ.  Raises `Refused`, `NotDecided`."""
    for bits in (96, 256, 1024):
        with precision.workprec(bits):
            found = told_apart(left, right, example, reader)
        if found:
            return found
    raise NotDecided("whether the two values differ")


def told_apart(left: Run, right: Run, example: Mapping[str, Any], reader: Reader) -> tuple[Any, Any] | None:
    """Both values if they differ at the present precision, None if that is not decided at it.  Raises `Refused`."""
    try:
        x, y = (entry(Machine(Balls(), p, reader).run(at), example) for p, at in (left, right))
    except Undecided:
        return None
    if any(v is UNDEFINED for v in (x, y)):
        raise Refused("one of the programs is undefined at the counterexample")
    if isinstance(x, arb) or isinstance(y, arb):
        if type(x) is float or type(y) is float:
            return x, y
        u, v = (Balls().lift(Fraction(z) if type(z) is int else z) for z in (x, y))
        return None if u.overlaps(v) else (x, y)
    if x == y or x != x and y != y:
        raise Refused(f"both programs have the value {show(x)} at the counterexample")
    return x, y


def entry(outputs: list[Array], example: Mapping[str, Any]) -> Any:
    """The entry of an output that the counterexample names."""
    number, place = example["output"], example["entry"]
    usable(
        type(number) is int and 0 <= number < len(outputs) and isinstance(place, list),
        "the counterexample names no output",
    )
    shape = outputs[number].shape
    usable(
        len(place) == len(shape) and all(type(i) is int and 0 <= i < n for i, n in zip(place, shape, strict=True)),
        "it names no entry",
    )
    return outputs[number].entries[a.flat(place, a.strides(shape))]


def stated(text: Any, value: Any) -> bool:
    """Whether a text may be the value."""
    usable(isinstance(text, str) and len(text) < 200, "an exact value is no text")
    if type(value) is float:
        return text in (str(value), "∞" if value > 0 else "-∞", "−∞")
    rational = re.fullmatch(r"-?\d+(/\d+)?", text)
    with precision.workprec(256):
        try:
            ball = arb(Fraction(text).numerator) / Fraction(text).denominator if rational else arb(text)
        except (ValueError, ZeroDivisionError):
            return False
        return bool(ball.overlaps(Balls().lift(Fraction(value) if type(value) is int else value)))


def show(value: Any) -> str:
    """A value for a person."""
    return value.str(15) if isinstance(value, arb) else str(value)
