"""Random draws in prime fields: the bits of a draw are an unknown function of the key, the shape and the place.

Equal keys and equal shapes give equal bits, and nothing is known of how they are distributed.  A key is a letter for
the words that it is made of: words are made of it again, and it is made of them again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.integer_ranges import UNBOUNDED, Range, bits_as_floats
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.numbers.prime_fields.facts import Defined, Facts, Nature
from uat_jax.numbers.prime_fields.gathering import gathered
from uat_jax.numbers.prime_fields.met_keys import KEY, WORDS
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.uninterpreted import apply_uninterpreted

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.field_functions import FieldFunctions
    from uat_jax.numbers.prime_fields.fields import Fields, Value

ONE_BY_ONE = "key<fry>"
"""The keys of which many under `jax.vmap` draw what each draws alone; the other generators do not promise it."""


def draws_one_by_one(equation: JaxprEqn) -> bool:
    """Whether `jax.vmap` draws for every row what is drawn for it alone: of threefry keys, and of none."""
    keys = (dtype_of(atom) for atom in (*equation.invars, *equation.outvars))
    others = any(jnp.issubdtype(of, jax.dtypes.prng_key) and str(of) != ONE_BY_ONE for of in keys)
    return not others and equation.primitive.name != "rng_bit_generator"


def _undone(f: FieldFunctions, made: str, generator: str, x: Number, y: Number) -> Number:
    """y = `made`(x); or what x was made of by the function that undoes this one, if that is known of every row."""
    origins = f.keys.origins(made, generator, x)
    if origins is None:
        f.keys.keep(made, generator, x, y)
        return y
    width = 1 if made == KEY else y.shape[-1]
    arrays = list({id(of): of for of, _ in origins}.values())
    starts = dict(zip(map(id, arrays), np.cumsum([0, *(math.prod(of.shape) for of in arrays)]), strict=False))
    source = [starts[id(of)] + row * width + np.arange(width) for of, row in origins]
    return gathered(f, arrays, np.concatenate(source).reshape(y.shape))


def _whole(fields: Fields, equation: JaxprEqn, x: Value) -> Number:
    """Keys or integers as numbers.  Raises `UnsupportedError` where one is taken from outside of an array."""
    number = fields.lift(x)
    if number.special is not None or number.infinite is not None:
        raise UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} takes what lies outside of an array"
        )
    return number


def wrapped(fields: Fields, equation: JaxprEqn, words: Any) -> Number:
    """The keys that are made of words."""
    return key_of(fields, str(dtype_of(equation.outvars[0])), _whole(fields, equation, words))


def key_of(fields: Fields, generator: str, words: Number) -> Number:
    """The keys of a generator that are made of words."""
    f = fields.functions
    each = [words.residues.moved(lambda a, k=k: a[..., k]) for k in range(words.shape[-1])]
    return _undone(f, KEY, generator, words, Number(f.draw.opaque(f"{generator} of words", *each)))


def constant_keys(fields: Fields, keys: Any) -> Number:
    """Concrete keys as letters."""
    return key_of(fields, str(keys.dtype), fields.number(np.asarray(jax.random.key_data(keys))))


def unwrapped(fields: Fields, equation: JaxprEqn, keys: Number) -> Number:
    """The words of keys."""
    f, generator, width = fields.functions, str(dtype_of(equation.invars[0])), shape_of(equation.outvars[0])[-1]
    keys = _whole(fields, equation, keys)
    spread = keys.residues.moved(lambda a: np.broadcast_to(a[..., None], (*a.shape, width)))
    words = f.draw.opaque(f"words of {generator}", spread, f.draw.floats(np.arange(width, dtype=float)))
    return _undone(f, WORDS, generator, keys, Number(words))


def drawn(fields: Fields, equation: JaxprEqn, keys: Any) -> Number:
    """Bits, or new keys: of every key a function of it, the place and the parameters."""
    if not _one_by_one(equation):
        return apply_uninterpreted(fields, equation, [keys])[0]
    keys, draw = _whole(fields, equation, keys), fields.draw
    name, parameters = equation.primitive.name, sorted(equation.params.items())
    shape, more = shape_of(equation.outvars[0]), len(equation.params["shape"])
    spread = keys.residues.moved(lambda a: np.broadcast_to(a.reshape(*a.shape, *[1] * more), (len(a), *shape)))
    count = math.prod(shape[len(shape) - more :])
    places = np.broadcast_to(np.arange(count, dtype=float).reshape(shape[len(shape) - more :]), shape)
    return Number(draw.opaque(f"{name} {parameters}", spread, draw.floats(places)))


def folded(fields: Fields, equation: JaxprEqn, keys: Any, numbers: Any) -> Number:
    """New keys: of every key and number a function of both."""
    shapes = {shape_of(atom) for atom in equation.invars} - {()}
    if not _one_by_one(equation) or len(shapes) > 1:
        return apply_uninterpreted(fields, equation, [keys, numbers])[0]
    kinds = [dtype_of(atom) for atom in equation.invars]
    return Number(
        fields.draw.opaque(f"fold_in {kinds}", *(_whole(fields, equation, x).residues for x in (keys, numbers)))
    )


def seeded(fields: Fields, equation: JaxprEqn, numbers: Any) -> Number:
    """Keys made of whole numbers."""
    if str(dtype_of(equation.outvars[0])) != ONE_BY_ONE:
        return apply_uninterpreted(fields, equation, [numbers])[0]
    name = f"seed {dtype_of(equation.invars[0])}"
    return Number(fields.draw.opaque(name, _whole(fields, equation, numbers).residues))


def _one_by_one(equation: JaxprEqn) -> bool:
    """Whether what is drawn with each key of an array is what it draws alone."""
    return str(dtype_of(equation.invars[0])) == ONE_BY_ONE


def of_bits(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """The float, or the integer, whose bits are those of an integer: an unknown function of it.

    Floats that are not negative are in the order of their bits; so one in a range of finite ones is finite.

    Raises:
        UnsupportedError: both have not the same width.
    """
    given, made = equation.invars[0], equation.outvars[0]
    if shape_of(given) != shape_of(made):
        raise UnsupportedError(f"'bitcast_convert_type'{source_line(equation)} joins or cuts integers; use arithmetic")
    bounds = bits_as_floats(equation, fields.operand_ranges[0]) if is_number(made) else Range(0, 0)
    nothing = np.zeros(shape_of(made), bool)
    defined = Defined.PARTLY if bounds == UNBOUNDED else Defined.ALWAYS
    facts = Facts(Nature.PIECEWISE, defined, False, nothing, nothing, nothing)
    found = Number(fields.draw.opaque(f"{dtype_of(given)} as {dtype_of(made)}", _whole(fields, equation, x).residues))
    positive, nonnegative = is_number(made) and bounds.low > 0, is_number(made) and bounds.low >= 0
    return found.but(facts=facts.positive_too() if positive else facts, nonnegative=nonnegative)


RULES = {
    "bitcast_convert_type": of_bits,
    "random_bits": drawn,
    "random_clone": lambda fields, equation, keys: keys,
    "random_fold_in": folded,
    "random_seed": seeded,
    "random_split": drawn,
    "random_unwrap": unwrapped,
    "random_wrap": wrapped,
    "rng_bit_generator": lambda fields, equation, *operands: apply_uninterpreted(fields, equation, operands),
    "threefry2x32": lambda fields, equation, *operands: apply_uninterpreted(fields, equation, operands),
}
"""From a primitive's name to its rule in prime fields."""
