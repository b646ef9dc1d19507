"""Random programs of comparisons, selections and extremes, as the checker reads them, and their values at a grid."""

import base64
import copy
import itertools
import random
import struct
from fractions import Fraction
from typing import Any

from uat_jax_check.arrays import Array
from uat_jax_check.balls import Balls
from uat_jax_check.pairs import written
from uat_jax_check.program import Machine

SCALAR, TRUTH = ["float32", []], ["bool", []]
GRID = list(itertools.product((-2, -1, 0, 1, 2), repeat=3))
"""Whole numbers, so that many of them are equal: ties are where wrong programs hide."""


def literal(value: float) -> list[Any]:
    """A constant."""
    return [*SCALAR, base64.b64encode(struct.pack("<f", value)).decode()]


class Programs:
    """Random programs of three scalars."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def program(self, length: int) -> list[dict[str, Any]]:
        """A program of so many equations, most of which it needs."""
        equations: list[Any] = []
        numbers, count = [0, 1, 2], 3
        for _ in range(length):
            for equation in self.step(numbers, count):
                equations.append(equation)
                count += 1
            numbers.append(count - 1)
        return [{"constants": [], "inputs": [SCALAR] * 3, "equations": equations, "outputs": [count - 1]}]

    def step(self, numbers: list[int], count: int) -> list[Any]:
        """Some equations, the last of which is a number."""
        pick = lambda: self.random.choice(numbers[-4:])
        kind = self.random.choice(
            ["add", "sub", "max", "min", "abs", "neg", "mul", "select", "extreme", "extreme", "sort"]
        )
        if kind in ("abs", "neg"):
            return [[kind, {}, [pick()], [SCALAR]]]
        if kind == "select":
            compare = self.random.choice(["gt", "ge", "lt", "le", "eq"])
            other = pick() if self.random.random() < 0.5 else literal(self.random.choice([-1.0, 0.0, 1.0]))
            return [
                [compare, {}, [pick(), other], [TRUTH]],
                ["select_n", {}, [count, pick(), pick()], [SCALAR]],
            ]
        if kind in ("extreme", "sort"):
            n = self.random.choice([2, 3]) if kind == "extreme" else 2
            rows = [["reshape", {"new_sizes": [1], "dimensions": None}, [pick()], [["float32", [1]]]] for _ in range(n)]
            joined = ["concatenate", {"dimension": 0}, list(range(count, count + n)), [["float32", [n]]]]
            if kind == "extreme":
                name = self.random.choice(["reduce_max", "reduce_min"])
                return [*rows, joined, [name, {"axes": [0]}, [count + n], [SCALAR]]]
            ordered = ["sort", {"dimension": 0, "is_stable": True, "num_keys": 1}, [count + n], [["float32", [n]]]]
            cut = {"start_indices": [self.random.randrange(n)], "limit_indices": [0], "strides": None}
            cut["limit_indices"] = [cut["start_indices"][0] + 1]
            one = ["slice", cut, [count + n + 1], [["float32", [1]]]]
            return [
                *rows,
                joined,
                ordered,
                one,
                ["reshape", {"new_sizes": [], "dimensions": None}, [count + n + 2], [SCALAR]],
            ]
        return [[kind, {}, [pick(), pick()], [SCALAR]]]

    def changed(self, program: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The program with one operand, comparison or extreme exchanged."""
        found = copy.deepcopy(program)
        swaps = {"gt": "ge", "ge": "gt", "lt": "le", "le": "lt", "max": "min", "min": "max"}
        swaps |= {"reduce_max": "reduce_min", "reduce_min": "reduce_max", "add": "sub", "sub": "add"}
        equations = found[0]["equations"]
        equation = self.random.choice([e for e in equations if e[0] in swaps or len(e[2]) > 1] or equations)
        if equation[0] in swaps and self.random.random() < 0.6:
            equation[0] = swaps[equation[0]]
        else:
            equation[2] = equation[2][::-1] if equation[0] != "select_n" else [equation[2][0], *equation[2][:0:-1]]
        return found

    def rarely(self, program: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The program with 1 added where up to three comparisons of its numbers hold, which may be nowhere."""
        found = copy.deepcopy(program)
        equations, count = found[0]["equations"], 3 + len(found[0]["equations"])
        numbers = [0, 1, 2, *(3 + i for i, e in enumerate(equations) if e[3] == [SCALAR])]
        compared = self.random.randint(1, 3)
        for _ in range(compared):
            pair = [self.random.choice(numbers), self.random.choice(numbers)]
            equations.append([self.random.choice(["gt", "ge", "lt", "le", "eq"]), {}, pair, [TRUTH]])
        for i in range(compared - 1):
            before = count if not i else count + compared + i - 1
            equations.append(["and", {}, [before, count + i + 1], [TRUTH]])
        mask = count + 2 * compared - 2
        output = found[0]["outputs"][0]
        equations.append(["select_n", {}, [mask, literal(0.0), literal(1.0)], [SCALAR]])
        equations.append(["add", {}, [output, mask + 1], [SCALAR]])
        found[0]["outputs"] = [mask + 2]
        return found


def values(program: list[dict[str, Any]]) -> list[Any]:
    """Exact values at all places of the grid."""
    found = []
    for point in GRID:
        arguments = [Array("float32", (), [Fraction(x)]) for x in point]
        found.append(Machine(Balls(), program, written).run(arguments)[0].entries[0])
    return found
