"""The one table of primitives: which of them are followed, with which parameters and dtypes, and by whom.

What stands in no row is refused before any number system looks at it: an unknown primitive, a parameter that the row
does not name, a value of a parameter that changes the meaning, a dtype without a theory. A test holds the tables of
rules of all number systems against this one, so that nothing is followed without a row, and no row is empty.
"""

import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn, Primitive

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.fewer_bits import FEWER_BITS
from uat_jax.interpret.monoids import is_reduced
from uat_jax.interpret.operation import once_per_operation
from uat_jax.interpret.scattering import combines
from uat_jax.interpret.tracing import dtype_of, is_complex, source_line
from uat_jax.typing import Atom


class Row(NamedTuple):
    """How a primitive is followed.

    kinds: the dtypes of its operands, of "f" for floats, "i" for integers, "b" for booleans and "k" for random keys;
    "*" for any, where it only calls programs.  Indices are integers whatever stands here.
    fields, doubles, balls: how each number system follows it.  "rule": by a row of its own table.  "parts": by its
    definition.  "moved", "same", "walked": the entries are moved, left as they are, or computed by the programs that
    the equation holds.  "jax": its operands are integers or booleans, which JAX evaluates there.  "none": refused.
    rounding: what a device adds to the exact result.  "rounds": an error that `local_error` bounds.  "exact": none.
    "parts", "walked": the errors of its definition or program.  "none": unknown, and therefore refused.
    parameters: the names of its parameters; "*" stands for any, where they do not change the meaning.
    """

    kinds: str
    fields: str
    doubles: str
    balls: str
    rounding: str
    parameters: frozenset[str]


_GROUPS = {
    "@convolution": "window_strides padding lhs_dilation rhs_dilation dimension_numbers feature_group_count "
    "batch_group_count precision preferred_element_type",
    "@gather": "dimension_numbers slice_sizes unique_indices indices_are_sorted mode fill_value",
    "@scan": "jaxpr length reverse unroll num_consts num_carry linear _split_transpose ft_in ft_out",
    "@scatter": "update_jaxpr update_consts dimension_numbers indices_are_sorted unique_indices mode",
    "@window": "window_dimensions window_strides padding base_dilation window_dilation",
}
"""Parameters that several primitives, or long ones, have together."""

_PLACEMENT = frozenset(["accuracy", "out_sharding", "sharding"])
"""Parameters that any primitive may have: they say where and how well a value is computed."""

# name                kinds fields float64 balls rounding parameters
_ROWS = """
abs                    fi-  rule   rule   rule   exact
acos                   f--  rule   rule   rule   rounds
acosh                  f--  rule   rule   rule   rounds
add                    fi-  rule   rule   rule   rounds
add_any                fi-  rule   rule   rule   rounds
and                    -ib  rule   rule   jax    exact
argmax                 fib  rule   rule   rule   exact   axes index_dtype
argmin                 fib  rule   rule   parts  exact   axes index_dtype
asin                   f--  rule   rule   rule   rounds
asinh                  f--  rule   rule   rule   rounds
atan                   f--  rule   rule   rule   rounds
atan2                  f--  rule   rule   rule   rounds
atanh                  f--  rule   rule   rule   rounds
bessel_i0e             f--  rule   rule   rule   none
bessel_i1e             f--  rule   rule   rule   none
bitcast_convert_type   i    rule   jax    jax    exact   new_dtype
broadcast_in_dim       fibk moved  moved  moved  exact   shape broadcast_dimensions
call_hi_primitive      *    walked walked walked walked  *
cbrt                   f--  rule   rule   rule   rounds
ceil                   f--  rule   rule   rule   exact
checkpoint             *    walked walked walked walked  *
cholesky               f--  parts  parts  parts  none    symmetrize_input
clamp                  fib  parts  rule   rule   exact
closed_call            *    walked walked walked walked  *
clz                    -i-  rule   jax    jax    exact
concatenate            fibk moved  moved  moved  exact   dimension
composite              *    walked walked walked walked  *
cond                   *    walked walked walked walked  *
conv_general_dilated   fib  parts  parts  parts  parts   @convolution
convert_element_type   fib  rule   rule   rule   rounds  new_dtype weak_type
copy                   fibk same   same   same   exact
copy_p                 fibk same   same   same   exact
core_call              *    walked walked walked walked  *
cos                    f--  rule   rule   rule   rounds
cosh                   f--  rule   rule   rule   rounds
cumlogsumexp           f--  parts  parts  parts  parts   axis reverse
cummax                 f--  parts  parts  parts  parts   axis reverse
cummin                 f--  parts  parts  parts  parts   axis reverse
cumprod                fi-  parts  parts  parts  parts   axis reverse
cumsum                 fi-  parts  parts  parts  parts   axis reverse
custom_jvp_call        *    walked walked walked walked  *
custom_linear_solve    *    walked walked walked walked  *
custom_vmap_call       *    walked walked walked walked  *
custom_vjp_call        *    walked walked walked walked  *
custom_vjp_call_jaxpr  *    walked walked walked walked  *
device_put             fibk same   same   same   exact   *
digamma                f--  rule   rule   rule   none
div                    fi-  rule   rule   rule   rounds
dot_general            fib  rule   rule   rule   rounds  dimension_numbers precision preferred_element_type
dynamic_slice          fibk moved  moved  moved  exact   slice_sizes
dynamic_update_slice   fibk moved  moved  moved  exact
eigh                   f--  rule   rule   rule   none    lower sort_eigenvalues subset_by_index algorithm
eq                     fib  rule   rule   rule   exact
eq_to                  fib  parts  parts  parts  parts
erf                    f--  rule   rule   rule   rounds
erf_inv                f--  rule   rule   rule   rounds
erfc                   f--  rule   rule   rule   rounds
exp                    f--  rule   rule   rule   rounds
exp2                   f--  parts  rule   rule   rounds
expand_dims            fibk moved  moved  moved  exact   dimensions
expm1                  f--  rule   rule   rule   rounds
fewer_bits             f--  rule   none   none   none    exponent_bits mantissa_bits
floor                  f--  rule   rule   rule   exact
gather                 fibk moved  moved  moved  exact   @gather
ge                     fib  rule   rule   rule   exact
geqrf                  f--  rule   parts  parts  none
gt                     fib  rule   rule   rule   exact
householder_product    f--  rule   parts  parts  none    use_magma
igamma                 f--  rule   rule   rule   none
igammac                f--  rule   rule   rule   none
integer_pow            fi-  rule   rule   rule   rounds  y
is_finite              f--  rule   rule   rule   exact
jit                    *    walked walked walked walked  *
le                     fib  rule   rule   rule   exact
le_to                  fib  parts  parts  parts  parts
lgamma                 f--  rule   rule   rule   rounds
linear_call            *    walked walked walked walked  *
log                    f--  rule   rule   rule   rounds
log1p                  f--  rule   rule   rule   rounds
log2                   f--  parts  parts  parts  parts
logistic               f--  rule   rule   rule   rounds
lt                     fib  rule   rule   rule   exact
lt_to                  fib  parts  parts  parts  parts
lu                     f--  rule   rule   rule   none
lu_pivots_to_permutation i    rule   jax    jax    exact   permutation_size
max                    fib  rule   rule   rule   exact
min                    fib  rule   rule   rule   exact
mul                    fi-  rule   rule   rule   rounds  out_dtype
name                   fibk same   same   same   exact   name
ne                     fib  rule   rule   rule   exact
neg                    fi-  rule   rule   rule   exact
nextafter              f--  none   none   none   none
not                    -ib  rule   rule   jax    exact
one_minus_square       f--  parts  parts  parts  parts
optimization_barrier   fibk same   same   same   exact
or                     -ib  rule   rule   jax    exact
ormqr                  f--  rule   parts  parts  none    left transpose
pad                    fibk moved  moved  moved  exact   padding_config
pjit                   *    walked walked walked walked  *
polygamma              f--  rule   rule   rule   none
population_count       -i-  rule   jax    jax    exact
pow                    fi-  rule   rule   rule   rounds
qr                     f--  rule   parts  parts  none    pivoting full_matrices use_magma
random_bits            k    rule   jax    jax    exact   bit_width shape
random_clone           k    rule   jax    jax    exact
random_fold_in         ki   rule   jax    jax    exact
random_seed            i    rule   jax    jax    exact   impl
random_split           k    rule   jax    jax    exact   shape
random_unwrap          k    rule   jax    jax    exact
random_wrap            i    rule   jax    jax    exact   impl
reduce                 f-b  parts  parts  parts  parts   computation jaxpr dimensions
reduce_and             --b  rule   jax    jax    exact   axes
reduce_max             fib  rule   rule   rule   exact   axes
reduce_min             fib  rule   rule   rule   exact   axes
reduce_or              --b  rule   jax    jax    exact   axes
reduce_precision       f--  rule   rule   rule   rounds  exponent_bits mantissa_bits
reduce_prod            fi-  parts  parts  parts  parts   axes
reduce_sum             fi-  rule   rule   rule   rounds  axes
reduce_window          f-b  parts  parts  parts  parts   jaxpr consts @window
reduce_window_max      f--  parts  parts  parts  parts   @window
reduce_window_min      f--  parts  parts  parts  parts   @window
reduce_window_sum      fi-  parts  parts  parts  parts   @window
regularized_incomplete_beta f--  rule   rule   rule   none
rng_bit_generator      -i-  rule   jax    jax    exact   shape dtype algorithm
rem                    fi-  rule   rule   rule   exact
remat                  *    walked walked walked walked  *
remat2                 *    walked walked walked walked  *
reshape                fibk moved  moved  moved  exact   new_sizes dimensions
rev                    fibk moved  moved  moved  exact   dimensions
round                  f--  rule   rule   rule   exact   rounding_method
rsqrt                  f--  rule   rule   rule   rounds
scan                   *    walked walked walked walked  @scan
scatter                fib  parts  parts  parts  parts   @scatter
scatter-add            fi-  parts  parts  parts  parts   @scatter
scatter-max            f--  parts  parts  parts  parts   @scatter
scatter-min            f--  parts  parts  parts  parts   @scatter
scatter-mul            fi-  parts  parts  parts  parts   @scatter
scatter-sub            fi-  parts  parts  parts  parts   @scatter
select_and_scatter_add f--  parts  parts  parts  parts   select_prim window_dimensions window_strides padding
select_n               fibk moved  rule   moved  exact
sharding_constraint    fib  none   none   none   none    *
shift_left             -i-  rule   jax    jax    exact
shift_right_arithmetic -i-  rule   jax    jax    exact
shift_right_logical    -i-  rule   jax    jax    exact
sign                   fi-  rule   rule   rule   exact
sin                    f--  rule   rule   rule   rounds
sinh                   f--  rule   rule   rule   rounds
slice                  fibk moved  moved  moved  exact   start_indices limit_indices strides
sort                   fib  rule   rule   rule   exact   dimension is_stable num_keys
split                  fibk moved  moved  moved  exact   sizes axis
sqrt                   f--  rule   rule   rule   rounds
square                 fi-  rule   rule   rule   rounds
squeeze                fibk moved  moved  moved  exact   dimensions
stack                  fibk moved  moved  moved  exact   axis
stop_gradient          fib  same   same   same   exact
sub                    fi-  rule   rule   rule   rounds
svd                    f--  rule   rule   rule   none    full_matrices compute_uv subset_by_index algorithm
tan                    f--  rule   rule   rule   rounds
tanh                   f--  rule   rule   rule   rounds
threefry2x32           i    rule   jax    jax    exact
tile                   fibk moved  moved  moved  exact   reps
top_k                  fi-  rule   rule   parts  exact   k axis is_stable
transpose              fibk moved  moved  moved  exact   permutation
triangular_solve       f--  parts  parts  parts  none    left_side lower transpose_a conjugate_a unit_diagonal
tridiagonal_solve      f--  parts  parts  parts  none    perturb_singular
unstack                fibk moved  moved  moved  exact   axis
xla_metadata_value     fib  same   same   same   exact   *
while                  *    walked walked walked walked  *
xor                    -ib  rule   rule   jax    exact
zeta                   f--  rule   rule   rule   none
"""


def _row(line: str) -> tuple[str, Row]:
    name, kinds, fields, doubles, balls, rounding, *parameters = line.split()
    names = " ".join(_GROUPS.get(word, word) for word in parameters).split()
    return name, Row(kinds, fields, doubles, balls, rounding, frozenset(names))


TABLE: Mapping[str, Row] = dict(map(_row, _ROWS.strip().splitlines()))
"""From a primitive's name to its row."""


UNINTERPRETED = frozenset(
    """
    approx_top_k cholesky_update complex conj eig fft hessenberg igamma_grad_a imag mulhi outside_function polynomial
    random_gamma real reduce_xor scaled_dot schur select_and_gather_add select_and_scatter symmetric_product tridiagonal
    """.split()
)
"""Primitives without a row that are functions of their operands: equal operands give equal results, no more is known.

A primitive that stands neither here nor in another table is refused: nobody has looked whether it is a function.
"""

_EFFECT = "calls the host or a device for its effect; use pure functions of arrays"
_REFERENCE = "works on a reference, which is followed inside of Pallas kernels only; use arrays"

REFERENCES = frozenset("addupdate freeze get new_ref ref swap".split())
"""Primitives that work on references."""

REFUSED: Mapping[str, str] = {
    **dict.fromkeys("debug_callback debug_print infeed io_callback outfeed".split(), _EFFECT),
    **dict.fromkeys("after_all create_token dce_sink".split(), "orders effects, and is no function of arrays"),
    **dict.fromkeys(REFERENCES, _REFERENCE),
    "empty": "makes an array of which no entry is written; write them, as jnp.zeros does",
    **dict.fromkeys(
        "prng_random_bits prng_seed rng_uniform".split(),
        "draws numbers from a state that is no operand; use jax.random",
    ),
    **dict.fromkeys(["call", "eval_jaxpr"], "calls a program in a way that is not followed; use jax.jit"),
    "custom_lin": "stands for a derivative that JAX has not made yet",
    "ragged_all_to_all": "sends parts whose sizes are data; use all_to_all",
    "stage": "evaluates a program while another one is traced",
}
"""Primitives that are no functions of their operands, or of which that is not known, and what to say of it."""


def refuse(equation: JaxprEqn, line: Callable[[JaxprEqn], str] = source_line) -> None:
    """Return unless a primitive is one of `REFUSED`, also of constants alone; `line` says where it is written.

    Raises:
        UnsupportedError: it is.
    """
    if equation.primitive.name in REFUSED:
        raise UnsupportedError(f"'{equation.primitive.name}'{line(equation)} {REFUSED[equation.primitive.name]}")


def kind(dtype: Any) -> str:
    """The letter of a dtype: float, integer, boolean or key; "" for one without a theory, such as complex numbers."""
    if dtype == np.bool_:
        return "b"
    if jnp.issubdtype(dtype, jax.dtypes.prng_key):
        return "k"
    if jnp.issubdtype(dtype, jnp.integer):
        return "i" if jnp.iinfo(dtype).bits >= 8 else ""
    return "f" if jnp.issubdtype(dtype, jnp.floating) else ""


def _accumulated(equation: JaxprEqn, dtype: Any) -> bool:
    """Products of floats are floats; of booleans and integers whatever is asked for."""
    return dtype is None or kind(dtype) == "f" or "f" not in map(kind, map(dtype_of, equation.invars))


def _as_wide(bits: str) -> Callable[[JaxprEqn, Any], bool]:
    """As many bits as the dtype has, so that nothing is rounded, unless the primitive is a rounding."""
    enough = lambda equation, value: value >= getattr(jnp.finfo(dtype_of(equation.invars[0])), bits)
    return lambda equation, value: equation.primitive is FEWER_BITS or enough(equation, value)


_ACCEPTED: Mapping[str, Callable[[JaxprEqn, Any], bool]] = {
    # A tolerance may ask for less than the errors that `local_error` states.
    "accuracy": lambda equation, value: value is None or isinstance(value, lax.AccuracyMode),
    "axes": lambda equation, value: len(value) == 1 or not equation.primitive.name.startswith("arg"),
    "exponent_bits": _as_wide("nexp"),
    "is_stable": lambda equation, value: value or equation.params.get("num_keys") == len(equation.invars),
    "jaxpr": lambda equation, value: not equation.primitive.name.startswith("reduce") or is_reduced(equation),
    "mantissa_bits": _as_wide("nmant"),
    "new_dtype": lambda equation, value: kind(value) != "",
    "num_keys": lambda equation, value: 1 <= value <= len(equation.invars),
    "out_dtype": lambda equation, value: value is None or value == dtype_of(equation.invars[0]),
    "preferred_element_type": _accumulated,
    "rounding_method": lambda equation, value: value in lax.RoundingMethod.__members__.values(),
    "perturb_singular": lambda equation, value: not value,
    "pivoting": lambda equation, value: not value,
    "select_prim": lambda equation, value: value is lax.ge_p,
    "sort_eigenvalues": lambda equation, value: value,
    "subset_by_index": lambda equation, value: value is None,
    "update_jaxpr": lambda equation, value: equation.primitive.name == "scatter" or combines(equation),
    "y": lambda equation, value: type(value) is int,
}
"""Values of parameters that keep the meaning that the rules give a primitive; of other parameters, all do."""

_INDICES = {
    **dict.fromkeys((name for name in TABLE if name.startswith("scatter")), slice(1, 2)),
    "dynamic_slice": slice(1, None),
    "dynamic_update_slice": slice(2, None),
    "gather": slice(1, 2),
}
"""Which operands are indices."""


_HELD: dict[int, Primitive] = {}


def is_own(primitive: Primitive) -> bool:
    """Whether a module of JAX, or of this package, holds a primitive: that it is called 'sin' says nothing of it.

    Example:
        >>> from jax import lax
        >>> is_own(lax.sin_p), is_own(Primitive("sin"))
        (True, False)
    """
    if id(primitive) not in _HELD:
        modules = [m for name, m in list(sys.modules.items()) if name.partition(".")[0] in ("jax", "uat_jax")]
        held = (value for module in modules for value in list(vars(module).values()) if isinstance(value, Primitive))
        _HELD.update({id(p): p for p in held})
    return _HELD.get(id(primitive)) is primitive


def has_name_of_own(primitive: Primitive) -> bool:
    """Whether a primitive of another library is called as one of JAX or of this package."""
    return not is_own(primitive) and primitive.name in {p.name for p in _HELD.values()} | TABLE.keys()


@once_per_operation
def admit(equation: JaxprEqn) -> None:
    """`check` for an equation that calls no programs."""
    check(equation)


@functools.lru_cache(maxsize=1 << 14)
def check(equation: JaxprEqn) -> None:
    """Return if the table's row for an equation covers its parameters and dtypes.

    Raises:
        UnsupportedError: a parameter or a dtype that the row does not name.
    """
    name, where = equation.primitive.name, source_line(equation)
    if name not in TABLE:
        raise UnsupportedError(f"'{name}'{where} is no primitive of the table; it has no rule")
    row, indices = TABLE[name], _INDICES.get(name, slice(0))
    for atom in equation.invars:
        allowed = "i" if atom in equation.invars[indices] else row.kinds
        if allowed != "*" and kind(dtype_of(atom)) not in [*allowed]:
            raise UnsupportedError(f"'{name}'{where} has an operand of {dtype_of(atom)}, which is not followed there")
    for parameter, value in equation.params.items():
        if "*" not in row.parameters and parameter not in row.parameters | _PLACEMENT:
            raise UnsupportedError(f"'{name}'{where} has the parameter '{parameter}', which is not followed")
        if parameter in _ACCEPTED and not _ACCEPTED[parameter](equation, value):
            shown = f"{value}".split("\n")[0][:60]
            raise UnsupportedError(f"'{name}'{where} has {parameter}={shown}, which is not followed")


def refuse_complex(atom: Atom, where: Callable[[], str]) -> None:
    """Return unless a variable or constant is complex; `where` says where it is made.

    Raises:
        UnsupportedError: it is.
    """
    if is_complex(dtype_of(atom)):
        raise UnsupportedError(f"{where()} is complex; complex numbers are not followed: compute with real parts")
