"""Decides that something depends on its input: a program that has two values at two inputs."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from uat_jax_check import arrays, pairs
from uat_jax_check.balls import Balls
from uat_jax_check.document import Refused, usable
from uat_jax_check.terms import Symbols


def at_inputs(data: Any, inputs: Any) -> tuple[list[Any], list[arrays.Array], str]:
    """A program, one array for each of its inputs, and how these are read."""
    program = pairs.program(data)
    types = [arrays.read_type(t) for t in program[-1]["inputs"]]
    usable(isinstance(inputs, list) and len(inputs) == len(types), "there are not as many inputs as the program takes")
    points = [pairs.values({"dtype": t[0], "values": x}, t) for x, t in zip(inputs, types, strict=True)]
    return program, points, ", ".join(f"{t[0]}{list(t[1])} {x}" for x, t in zip(inputs, types, strict=True))


def made_of(program: list[Any]) -> list[str]:
    """How many of each primitive a program has, in a line."""
    made = Counter(str(e[0])[:30] for jaxpr in program for e in jaxpr["equations"])
    return [f"  it is made of {', '.join(f'{n} {name}' for name, n in sorted(made.items())) or 'nothing'}"]


def unequal(data: Mapping[str, Any], symbols: Symbols, greater: bool = False) -> list[str]:
    """Two programs take two values at one input: in balls, constants as written and as meant.

    Raises:
        Refused: of the first the value is not ``greater`` than of the second, where that is claimed.
    """
    usable(not symbols.kinds, "a program has no symbols")
    (first, points, shown), (second, others, _) = (at_inputs(data[side], data["inputs"]) for side in ("left", "right"))
    usable([(x.dtype, x.shape) for x in points] == [(x.dtype, x.shape) for x in others], "the inputs are of two types")
    runs, place = ((first, points), (second, others)), {"output": 0, "entry": data["entry"]}
    left, right = pairs.apart(*runs, place, pairs.written)
    meant = pairs.apart(*runs, place, pairs.Meant())
    values = f"{pairs.show(left)} and {pairs.show(right)}"
    if greater and not (larger(left, right) and larger(*meant)):
        raise Refused(f"the first program is not greater than the second: they are {values}")
    how = "one program is greater than another" if greater else "two programs differ"
    said = f"{how}: they are {values} at {shown} (entry {data['entry']})"
    return [said, *made_of(first), *made_of(second)]


def lifted(x: Any) -> Any:
    """A number as a ball."""
    return Balls().lift(Fraction(x) if type(x) is int else x)


def larger(x: Any, y: Any) -> bool:
    """Whether the first of two values that are not the same is surely larger; NaN is not, and nothing than it."""
    if float in (type(x), type(y)):  # an infinity, or NaN
        return x == x and y == y and (type(x) is float and x > 0 or type(y) is float and y < 0)
    return bool(lifted(x) > lifted(y))


def greater(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """The value of one program is greater than that of another at one input."""
    return unequal(data, symbols, greater=True)


def dynamic(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """A program of one input takes two values at two inputs: in balls, constants as written and as meant."""
    usable(not symbols.kinds, "a program has no symbols")
    usable(isinstance(data["inputs"], list) and len(data["inputs"]) == 2, "wanted one input, and two values of it")
    (program, first, at), (_, second, there) = (at_inputs(data["program"], [x]) for x in data["inputs"])
    runs, place = ((program, first), (program, second)), {"output": 0, "entry": data["entry"]}
    left, right = pairs.apart(*runs, place, pairs.written)
    pairs.apart(*runs, place, pairs.Meant())
    return [
        f"a program is {pairs.show(left)} at {at} and {pairs.show(right)} at {there} (entry {data['entry']}): "
        "it depends on its input",
        *made_of(program),
    ]
