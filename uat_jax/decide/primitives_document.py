"""The document `docs/primitives.md`: what is known of every primitive of JAX, read off the tables that decide it.

`python -m uat_jax.decide.primitives_document > docs/primitives.md` writes it.
"""

from __future__ import annotations

from uat_jax.decide.collectives import COLLECTIVES
from uat_jax.decide.expansion import SPECIAL
from uat_jax.decide.exported_calls import EXPORTED
from uat_jax.decide.kernels import KERNEL
from uat_jax.decide.one_device import OF_DEVICES, PLACEMENT
from uat_jax.decide.outside_names import CALLS
from uat_jax.decide.specification import CALLBACKS
from uat_jax.interpret import fewer_bits, outside_function
from uat_jax.interpret.interpreter import BODY, LOOPS
from uat_jax.interpret.primitives import REFUSED, TABLE, UNINTERPRETED
from uat_jax.numbers.complex.complex_rules import RULES as COMPLEX
from uat_jax.numbers.prime_fields.field_rules import RULES, Unknown
from uat_jax.numbers.prime_fields.power_rules import RULES as POWERS

WITHOUT_OPERANDS = frozenset(["empty2", "iota"])
"""Primitives of no operands: JAX says what their results are.  Its own derivatives of loops begin with `empty2`."""

DRAWS = "random_bits random_fold_in random_seed random_split rng_bit_generator threefry2x32".split()
"""Primitives that draw bits, or make keys."""

NOTES = {
    "reduce_precision": "the identity, or with fewer bits than the dtype an unknown odd function",
    "regularized_incomplete_beta": "I_x(a, b) + I_{1−x}(b, a) = 1",
    "bitcast_convert_type": "of integers; the bits of floats are refused",
    **dict.fromkeys(DRAWS, "equal keys and shapes give equal results; of constants JAX computes it"),
    **dict.fromkeys(["random_unwrap", "random_wrap"], "each undoes the other; of constants JAX computes it"),
}
"""What stands beside primitives of which equal operands and parameters give equal results."""

HEAD = """# Primitives

What is known of every primitive of JAX when two functions are compared.
`python -m uat_jax.decide.primitives_document > docs/primitives.md` writes this table from the tables of the code; a
test compares it with them, and fails if the installed JAX has a primitive that is not in it.

* *exact rule*: the result is the value of the primitive, or entries of its operands, or its program is followed.
* *definition*: it is written in simpler primitives.
* *uninterpreted*: equal operands and parameters give equal results, and nothing is known but what stands beside it.
* *refused*: a comparison that needs it ends as UNKNOWN or AGREES, with a line that says so.

| primitive | in a comparison | beside it |
|---|---|---|
"""


def known() -> frozenset[str]:
    """The names of all primitives of which a table says something."""
    tables = (
        TABLE,
        COMPLEX,
        OF_DEVICES,
        UNINTERPRETED,
        REFUSED,
        WITHOUT_OPERANDS,
        SPECIAL,
        CALLBACKS,
        CALLS,
        [EXPORTED, KERNEL],
    )
    return frozenset(name for table in tables for name in table) - {fewer_bits.NAME, outside_function.NAME}


def said(name: str) -> tuple[str, str]:
    """What is known of a primitive, in the words of `HEAD`, and what stands beside it.

    Example:
        >>> said("mul"), said("erf")
        (('exact rule', ''), ('uninterpreted', 'an odd function'))
    """
    if name == EXPORTED:
        return "exact rule", "its program is read as StableHLO"
    if name == KERNEL:
        return "exact rule", "what JAX's interpreter of kernels computes, block after block"
    if name in CALLS:
        return "uninterpreted", "equal operands, defined for all inputs, give equal results"
    if name in CALLBACKS or name in REFUSED:
        return "refused", REFUSED[name]
    if name in OF_DEVICES:
        return _of_devices(name)
    if name in TABLE:
        return _of_row(name)
    if name in COMPLEX:
        return "definition", "in real and imaginary parts"
    if name in UNINTERPRETED:
        return "uninterpreted", ""
    if name in WITHOUT_OPERANDS:
        return "exact rule", "JAX computes it"
    if name == "platform_index":
        return "exact rule", "the platform of this process"
    return "refused", "not known to be a function of real numbers; of constants, JAX computes it"


def _of_devices(name: str) -> tuple[str, str]:
    if name in PLACEMENT:
        return "exact rule", "leaves its operand as it is"
    return "definition", "on one array that holds what all devices hold" if name in COLLECTIVES else "on one device"


def _of_row(name: str) -> tuple[str, str]:
    row, rule = TABLE[name], RULES.get(name)
    if name in NOTES:
        return "uninterpreted", NOTES[name]
    if row.fields == "none":
        constants = "of constants JAX computes it" if row.doubles == "jax" else "looks at the bits of floats"
        return "refused", f"{constants}; refused where an operand depends on the input"
    if name in BODY or name in LOOPS or row.fields == "walked":
        return "exact rule", "its programs are followed"
    if isinstance(rule, Unknown):
        notes = [f"an {rule.symmetry} function"] if rule.symmetry else []
        return "uninterpreted", "; ".join([*notes, *(["with laws of powers"] if name in POWERS else [])])
    return ("definition" if row.fields == "parts" else "exact rule"), ""


def document() -> str:
    """The document as it is in the repository."""
    return HEAD + "".join(f"| `{name}` | {' | '.join(said(name))} |\n" for name in sorted(known()))


if __name__ == "__main__":
    print(document(), end="")
