"""Decides that something depends on its input: a program that has two values at two inputs."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from uat_jax_check import arrays, pairs
from uat_jax_check.document import usable
from uat_jax_check.terms import Symbols


def unequal(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """Two programs take two values at one input: in balls, constants as written and as meant."""
    usable(not symbols.kinds, "a program has no symbols")
    programs, inputs = [pairs.program(data[side]) for side in ("left", "right")], data["inputs"]
    types, others = ([arrays.read_type(t) for t in p[-1]["inputs"]] for p in programs)
    usable(types == others and isinstance(inputs, list) and len(inputs) == len(types), "the inputs are of other types")
    points = [pairs.values({"dtype": t[0], "values": x}, t) for x, t in zip(inputs, types, strict=True)]
    place = {"output": 0, "entry": data["entry"]}
    runs = [(p, points) for p in programs]
    left, right = pairs.apart(*runs, place, pairs.written)
    pairs.apart(*runs, place, pairs.Meant())
    made = [Counter(str(e[0])[:30] for jaxpr in p for e in jaxpr["equations"]) for p in programs]
    shown = ", ".join(f"{dtype}{list(shape)} {x}" for (dtype, shape), x in zip(types, inputs, strict=True))
    return [
        f"two programs are {pairs.show(left)} and {pairs.show(right)} at {shown} (entry {data['entry']}): they differ",
        *(f"  one is made of {', '.join(f'{n} {name}' for name, n in sorted(of.items()))}" for of in made),
    ]


def dynamic(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """A program of one input takes two values at two inputs: in balls, constants as written and as meant."""
    usable(not symbols.kinds, "a program has no symbols")
    program, inputs = pairs.program(data["program"]), data["inputs"]
    types = [arrays.read_type(t) for t in program[-1]["inputs"]]
    usable(len(types) == 1 and isinstance(inputs, list) and len(inputs) == 2, "wanted one input, and two values of it")
    dtype, shape = types[0]
    points = [pairs.values({"dtype": dtype, "values": x}, types[0]) for x in inputs]
    place = {"output": 0, "entry": data["entry"]}
    first, second = ((program, [x]) for x in points)
    left, right = pairs.apart(first, second, place, pairs.written)
    pairs.apart(first, second, place, pairs.Meant())
    made = Counter(str(e[0])[:30] for jaxpr in program for e in jaxpr["equations"])
    return [
        f"a program of one input {dtype}{list(shape)} is {pairs.show(left)} at {inputs[0]} and {pairs.show(right)} at "
        f"{inputs[1]} (entry {data['entry']}): it depends on its input",
        f"  it is made of {', '.join(f'{n} {name}' for name, n in sorted(made.items()))}",
    ]
