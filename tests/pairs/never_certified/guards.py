"""What a case of a selection is under its condition, and what it is not: other conditions, entries, and inputs."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, f32, f64, ind


def relu(x):
    return jnp.maximum(x, 0)


def under(condition, case):
    """A case where a condition holds, else 0."""
    return jnp.where(condition, case, 0.0)


def total(x):
    """The sum of what is positive, for each row."""
    return relu(x).sum(-1, keepdims=True)


def hidden_guard(x, y):
    """y² where x is positive, else |x|, as a sum that is not looked into."""
    return jnp.where(x > 0, y**2, jnp.abs(x))[None].sum()


def whole(x):
    """The whole number below a magnitude, as an integer of 64 bits."""
    return x.astype(jnp.int64)


def unless_nan(u, bound):
    """0 where a number is above a bound, 1 where it is not, 2 where it is NaN."""
    return jnp.where(u > bound, 0.0, jnp.where(u <= bound, 1.0, 2.0))


def at_most(u, bound):
    """0 where a number is above a bound, else 1."""
    return jnp.where(u > bound, 0.0, 1.0)


M, D = f32(2, 3), f64()
LARGE = 2**53
"""From here on float64 does not hold every whole number."""


def log(x):
    """A logarithm that is undefined for inputs that are hardly ever drawn."""
    return jnp.log(x + 1000)


def root(x):
    """A root that is undefined for inputs that are hardly ever drawn."""
    return jnp.sqrt(x + 1000)


def bump(x):
    """exp(-1/x²), which is 0 at 0."""
    return jnp.exp(-1 / x**2)


def columns(x):
    """A matrix with the same number in every row."""
    return lax.broadcast_in_dim(x, (3, 3), (1,))


def rows(x):
    """A matrix with the same number in every column."""
    return lax.broadcast_in_dim(x, (3, 3), (0,))


DIFFERENT = (
    Different("outside the condition", lambda x: under(x > 0, relu(x)) + 1 / (1 + relu(x)), lambda x: under(x > 0, x) + 1 / (1 + jnp.abs(x)), (S,), (-2,)),
    Different("relu without its condition", lambda x: under(x > 0, relu(x)), lambda x: x, (S,), (-2,)),
    Different("the other case", lambda x: jnp.where(x > 0, 0.0, relu(x) + 1), lambda x: jnp.where(x > 0, 0.0, x + 1), (S,), (-2,)),
    Different("a condition on another number", lambda x, y: under(y > 0, relu(x)), lambda x, y: under(y > 0, x), (S, S), (-2, 1)),
    Different("a condition on another entry", lambda x: under(x[::-1] > 0, relu(x)), lambda x: under(x[::-1] > 0, x), (V,), ((-2, 1, 3),)),
    Different("a condition on the rows", lambda x: under((x > 0)[:, None], relu(x)[None, :]), lambda x: under((x > 0)[:, None], x[None, :]), (V,), ((-2, 1, 3),)),
    Different("a condition on one entry", lambda x: under(x[0] > 0, relu(x) * x), lambda x: under(x[0] > 0, x * x), (V,), ((1, -2, 3),)),
    Different("or instead of and", lambda x, y: under((x > 0) | (y > 0), relu(x)), lambda x, y: under((x > 0) | (y > 0), x), (S, S), (-2, 1)),
    Different("not and", lambda x, y: under(~((x <= 0) & (y <= 0)), relu(x)), lambda x, y: under(~((x <= 0) & (y <= 0)), x), (S, S), (-2, 1)),
    Different("exclusive or", lambda x, y: under((x > 0) ^ (y > 0), relu(x)), lambda x, y: under((x > 0) ^ (y > 0), x), (S, S), (-2, 1)),
    Different("a bound below", lambda x: under(x > -5, relu(x)), lambda x: under(x > -5, x), (S,), (-2,)),
    Different("below a bound", lambda x: under(x < 5, relu(x)), lambda x: under(x < 5, x), (S,), (-2,)),
    Different("unequal to zero", lambda x: under(x != 0, relu(x)), lambda x: under(x != 0, x), (S,), (-2,)),
    Different("a maximum of the wrong side", lambda x, y: under(x < y, jnp.maximum(x, y)), lambda x, y: under(x < y, x), (S, S), (1, 2)),
    Different("a minimum of the wrong side", lambda x, y: under(x < y, jnp.minimum(x, y)), lambda x, y: under(x < y, y), (S, S), (1, 2)),
    Different("a decision of the other way", lambda x, y: under(x < y, ind(x > y)), lambda x, y: under(x < y, ind(y > x)), (S, S), (1, 2)),
    Different("a magnitude below zero", lambda x: under(x < 1, jnp.abs(x)), lambda x: under(x < 1, x), (S,), (-2,)),
    Different("a constant divisor of the condition", lambda x: under(x > 0, 1 / ind(x > 0)), lambda x: 1 + 0 * x, (S,), (-2,)),
    Different("the condition is a factor of the divisor", lambda x, y: under(x > 0, 1 / (x + hidden_guard(x, y))), lambda x, y: 1 / (x + y**2), (S, S), (-2, 3)),
    Different("the condition is a factor of a product", lambda x, y: under(x > 0, 1 / (x * (x > 0).astype(x.dtype)[None].sum())), lambda x, y: 1 / x + 0 * y, (S, S), (-2, 3)),
    Different("two parts of the inputs", lambda x: under(x**2 > 1, 1 / (x + jnp.sqrt(x**2))), lambda x: under(x**2 > 1, 0.5 / x), (S,), (-2,), infinite=True),
    Different("a root under a condition", lambda x: under(x**2 > 0, jnp.sqrt(x**2)), lambda x: under(x**2 > 0, x), (S,), (-2,)),
    Different("an exponential of what is refused", lambda x: under(x > 0, jnp.exp(-1 / relu(x))), lambda x: jnp.exp(-1 / x), (S,), (-2,)),
    Different("another value elsewhere", lambda x: jnp.where(x > 0, jnp.exp(-1 / relu(x)), 1.0), lambda x: jnp.where(x > 0, jnp.exp(-1 / x), 0.0), (S,), (-2,)),
    Different("a mean of nothing", lambda x: under(total(x) > 0, x / total(x)), lambda x: x / jnp.where(total(x) > 0, total(x), 1.0), (V,), ((-1, -2, -3),)),
    Different("a mean of nothing, by rows", lambda x: under(total(x) > 0, x / total(x)), lambda x: x / jnp.where(total(x) > 0, total(x), 1.0), (M,), (((-1, -2, -3), (1, 2, 3)),)),
    Different("a mean of nothing, by the wrong rows", lambda x: under(total(x) > 0, x / jnp.where(total(x) > 0, total(x), 1.0)), lambda x: under(total(x)[::-1] > 0, x / jnp.where(total(x) > 0, total(x), 1.0)), (M,), (((-1, -2, -3), (1, 2, 3)),)),
    Different("a condition inside the other case", lambda x, y: jnp.where(x > 0, 0.0, under(y > 0, relu(x) + relu(y))), lambda x, y: jnp.where(x > 0, 0.0, under(y > 0, x + y)), (S, S), (-2, 1)),
    Different("a branch", lambda x, y: lax.cond(y > 0, relu, lambda v: 0 * v, x), lambda x, y: lax.cond(y > 0, lambda v: v, lambda v: 0 * v, x), (S, S), (-2, 1)),
    Different("a count as a divisor", lambda x: under((x > 0).sum() > 1, x.sum() / (x > 0).sum()), lambda x: x.sum() / jnp.maximum((x > 0).sum(), 1), (V,), ((1, -2, -3),)),
    Different("a tie of the condition", lambda x: jnp.where(x >= 0, ind(x > 0), 0.0), lambda x: ind(x >= 0), (S,), (0,), null_set=True),
    Different("a tie of the other case", lambda x: jnp.where(x > 0, 0.0, ind(x < 0)), lambda x: ind(x <= 0), (S,), (0,), null_set=True),
    Different("equal numbers", lambda x, y: jnp.where(x == y, ind(x >= y), 3.0), lambda x, y: jnp.where(x == y, ind(x > y), 3.0), (S, S), (2, 2), null_set=True),
    Different("a magnitude of another number", lambda x: under(x > 0, jnp.abs(relu(x) - 3)), lambda x: under(x > 0, x - 3), (S,), (1,)),
    Different("a maximum of another number", lambda x: under(x > 0, jnp.maximum(relu(x) - 3, 0)), lambda x: under(x > 0, x - 3), (S,), (1,)),
    Different("a decision about another number", lambda x: under(x > 0, ind(relu(x) > 3)), lambda x: under(x > 0, 1.0), (S,), (1,)),
    Different("log times zero", lambda x: under(x > 0, x * jnp.log(relu(x))), lambda x: under(x > 1, x * jnp.log(relu(x))), (S,), (0.5,)),
    Different("NaN in a logarithm", lambda x: unless_nan(jnp.log(x + 30), 0), lambda x: at_most(jnp.log(x + 30), 0), (S,), (-40,)),
    Different("NaN in a root", lambda x: under(~(jnp.sqrt(x + 30) > 1), ind(jnp.sqrt(x + 30) <= 1)), lambda x: under(~(jnp.sqrt(x + 30) > 1), 1.0), (S,), (-40,)),
    Different("NaN in a hollow quotient", lambda x: unless_nan(relu(x) / relu(x), 3), lambda x: at_most(relu(x) / relu(x), 3), (S,), (-2,)),
    Different("NaN in what is refused", lambda x, y: under(y > 0, unless_nan(jnp.exp(jnp.log(x + 30) / relu(y)), 3)), lambda x, y: under(y > 0, at_most(jnp.exp(jnp.log(x + 30) / relu(y)), 3)), (S, S), (-40, 1)),
    Different("NaN in rows", lambda x: jnp.where((jnp.log(x + 30) > 0)[:, None], 0.0, jnp.where((jnp.log(x + 30) <= 0)[:, None], x[None], 7.0)), lambda x: jnp.where((jnp.log(x + 30) > 0)[:, None], 0.0, x[None]), (V,), ((-40, 1, 2),)),
    Different("NaN in one of two", lambda x: under(~((jnp.log(x + 30) > 0) | (x > 5)), ind(jnp.log(x + 30) <= 0)), lambda x: under(~((jnp.log(x + 30) > 0) | (x > 5)), 1.0), (S,), (-40,)),
    Different("NaN and a maximum", lambda x: jnp.where(jnp.log(x + 30) > 0, 0.0, ind(jnp.maximum(jnp.log(x + 30), 0) <= 0)), lambda x: at_most(jnp.log(x + 30), 0), (S,), (-40,)),
    Different("large integers next to each other", lambda x: under(whole(x) >= LARGE, ind(whole(x) >= LARGE + 1)), lambda x: ind(whole(x) >= LARGE), (D,), (LARGE,)),
    Different("larger integers next to each other", lambda x: under(whole(x) >= 2**60, ind(whole(x) >= 2**60 + 1)), lambda x: ind(whole(x) >= 2**60), (D,), (2**60,)),
    Different("large negative integers", lambda x: under(whole(x) <= -LARGE, ind(whole(x) <= -LARGE - 1)), lambda x: ind(whole(x) <= -LARGE), (D,), (-LARGE,)),
    Different("large integers without a sign", lambda x: under(x.astype(jnp.uint64) >= np.uint64(2**63), ind(x.astype(jnp.uint64) >= np.uint64(2**63 + 1))), lambda x: ind(x.astype(jnp.uint64) >= np.uint64(2**63)), (D,), (2.0**63,)),
    Different("one large integer", lambda x: under(whole(x) == LARGE, ind(whole(x) == LARGE + 1)), lambda x: ind(whole(x) == LARGE), (D,), (LARGE,)),
    Different("NaN is not at most", lambda x: jnp.where(log(x) > 0, 3.0, ind(log(x) <= 0)), lambda x: jnp.where(log(x) > 0, 3.0, 1.0), (S,), (-2000,)),
    Different("NaN is not below", lambda x: jnp.where(root(x) >= 20, 3.0, ind(root(x) < 20)), lambda x: jnp.where(root(x) >= 20, 3.0, 1.0), (S,), (-2000,)),
    Different("NaN is denied", lambda x: under(~(log(x) > 0), ind(log(x) <= 0)), lambda x: jnp.where(log(x) > 0, 0.0, 1.0), (S,), (-2000,)),
    Different("NaN is unequal and not below", lambda x: under((log(x) != 0) & ~(log(x) < 0), ind(log(x) > 0)), lambda x: ind((log(x) != 0) & ~(log(x) < 0)), (S,), (-2000,)),
    Different("NaN of a piecewise number", lambda x: jnp.where(log(-jnp.abs(x)) > 0, 3.0, ind(log(-jnp.abs(x)) <= 0)), lambda x: jnp.where(log(-jnp.abs(x)) > 0, 3.0, 1.0), (S,), (2000,)),
    Different("NaN of two numbers", lambda x, y: jnp.where(log(x) > y, 3.0, ind(log(x) <= y)), lambda x, y: jnp.where(log(x) > y, 3.0, 1.0), (S, S), (-2000, 1)),
    Different("NaN in the branch that is not taken", lambda x: lax.cond(log(x) > 0, lambda v: 0 * v, lambda v: ind(log(v) <= 0), x), lambda x: jnp.where(log(x) > 0, 0.0, 1.0), (S,), (-2000,)),
    Different("equal to a bound", lambda x: under(x == 5, ind(x > 0)), lambda x: 0 * x, (S,), (5,), null_set=True),
    Different("rows and columns", lambda x: under(rows(x > 0), columns(relu(x))), lambda x: under(rows(x > 0), columns(x)), (V,), ((-2, 1, 3),)),
    Different("a condition that is turned around", lambda x: under((x > 0)[::-1], relu(x)), lambda x: under((x > 0)[::-1], x), (V,), ((-2, 1, 3),)),
    Different("another axis", lambda x: under(jnp.flip(x > 0, 0), jnp.flip(relu(x), 1)), lambda x: under(jnp.flip(x > 0, 0), jnp.flip(x, 1)), (f32(2, 2),), (((1, -2), (3, 4)),)),
    Different("the other case inside a case", lambda x, y: under(y > 0, jnp.where(x > 0, 5.0, relu(x))), lambda x, y: under(y > 0, jnp.where(x > 0, 5.0, x)), (S, S), (-2, 1)),
    Different("a mask inside a case", lambda x: under(x > 0, jnp.where(np.arange(3) > 0, relu(x), 5.0)), lambda x: under(x > 0, 5.0), (V,), ((1, 2, 3),)),
    Different("not negative is not positive", lambda x: under(jnp.floor(x) >= 0, ind(2 * jnp.floor(x) > 0) + bump(jnp.floor(x))), lambda x: under(jnp.floor(x) >= 0, 1 + bump(jnp.floor(x))), (S,), (0.5,)),
    Different("unequal is not above", lambda x: under(jnp.floor(x) != 0, jnp.abs(2 * jnp.floor(x)) + bump(jnp.floor(x))), lambda x: under(jnp.floor(x) != 0, 2 * jnp.floor(x) + bump(jnp.floor(x))), (S,), (-2.5,)),
    Different("the sign of the other case", lambda x, y: under(y > 0, jnp.where(jnp.floor(x) > 0, 5.0, ind(2 * jnp.floor(x) > 0) + bump(jnp.floor(x)))), lambda x, y: under(y > 0, jnp.where(jnp.floor(x) > 0, 5.0, 1 + bump(jnp.floor(x)))), (S, S), (-2.5, 1)),
    Different("a sign under an earlier condition", lambda x, y: under(jnp.floor(x) > 0, bump(2 * jnp.floor(x))) + under(jnp.floor(y) > 0, ind(2 * jnp.floor(x) * jnp.floor(y) > 0) + bump(jnp.floor(y))), lambda x, y: under(jnp.floor(x) > 0, bump(2 * jnp.floor(x))) + under(jnp.floor(y) > 0, 1 + bump(jnp.floor(y))), (S, S), (-2.5, 1.5)),
)  # fmt: skip

EQUAL = (
    Equal("relu under its condition", lambda x: under(x > 0, relu(x) * 3), lambda x: under(x > 0, x * 3), (S,)),
    Equal("a divisor that may vanish", lambda x: under(x + 30 > 0, 1 / relu(x + 30)), lambda x: under(x + 30 > 0, 1 / (x + 30)), (S,)),
    Equal("a divisor twice", lambda x: 2 * under(x + 9 > 0, (x + 9) / (jnp.abs(x + 9) + (x + 9))), lambda x: ind(x + 9 > 0), (S,)),
    Equal("not smaller", lambda x: under(~(x <= 0), 1 / relu(x)), lambda x: under(x > 0, 1 / x), (S,)),
    Equal("a larger bound", lambda x: under(x > 1, x / relu(x)), lambda x: ind(x > 1), (S,)),
    Equal("and", lambda x, y: under((x > 0) & (y > 0), relu(x) / relu(y)), lambda x, y: under((x > 0) & (y > 0), x / y), (S, S)),
    Equal("the other case", lambda x: jnp.where(x <= 0, 5.0, 1 / relu(x)), lambda x: jnp.where(x <= 0, 5.0, 1 / x), (S,)),
    Equal("the bump function", lambda x: under(x > 0, jnp.exp(-1 / relu(x))), lambda x: under(x > 0, jnp.exp(-1 / x)), (V,)),
    Equal("a mean of what there is", lambda x: under(total(x) > 0, x / total(x)), lambda x: under(total(x) > 0, x) / jnp.where(total(x) > 0, total(x), 1.0), (M,)),
    Equal("a mean of positive entries", lambda x: under((x > 0).sum() > 0, x.sum() / (x > 0).sum()), lambda x: under((x > 0).sum() > 0, x.sum()) / jnp.where((x > 0).sum() > 0, (x > 0).sum(), 1), (V,)),
    Equal("double where of a logarithm", lambda x: under(x > 0, jnp.log(jnp.where(x > 0, x, 1.0))), lambda x: under(x > 0, jnp.log(x)), (V,)),
    Equal("a maximum of two", lambda x, y: under(x > y, 1 / (jnp.maximum(x, y) - y)), lambda x, y: under(x > y, 1 / (x - y)), (S, S)),
    Equal("conditions in rows", lambda x: under((x > 0)[:, None], relu(x)[:, None] * x[None]), lambda x: under((x > 0)[:, None], x[:, None] * x[None]), (V,)),
    Equal("a condition of one number", lambda x: under(x[0] > 0, relu(x[0]) * x), lambda x: under(x[0] > 0, x[0] * x), (V,)),
    Equal("a magnitude", lambda x: under(x > 0, jnp.abs(x) * 2), lambda x: under(x > 0, x + x), (S,)),
    Equal("a branch", lambda x: lax.cond(x > 0, relu, lambda v: 0 * v, x), lambda x: under(x > 0, x), (S,)),
    Equal("a condition in a condition", lambda x, y: under(x > 0, under(y > 0, relu(x) + relu(y))), lambda x, y: under((x > 0) & (y > 0), x + y), (S, S)),
    Equal("a batch", jax.vmap(lambda x: under(x > 0, 1 / relu(x))), lambda x: under(x > 0, 1 / x), (V,)),
    Equal("a magnitude of another number", lambda x: under(x > 0, jnp.abs(relu(x) - 3)), lambda x: under(x > 0, jnp.abs(x - 3)), (S,)),
    Equal("a tie by its own condition", lambda x: under(x >= 0, relu(x)), lambda x: under(x >= 0, x), (S,)),
    Equal("a logarithm that is defined", lambda x: unless_nan(jnp.log(x * x + 1), 2), lambda x: at_most(jnp.log(x * x + 1), 2), (S,)),
    Equal("a root that is defined", lambda x: under(~(jnp.sqrt(x * x + 1) > 2), ind(jnp.sqrt(x * x + 1) <= 2)), lambda x: under(~(jnp.sqrt(x * x + 1) > 2), 1.0), (S,)),
    Equal("where a comparison is true", lambda x: under(jnp.log(x + 30) > 0, at_most(jnp.log(x + 30), 0) + 2), lambda x: under(jnp.log(x + 30) > 0, 2.0), (S,)),
    Equal("a quotient that is defined", lambda x, y: unless_nan(y / (x * x + 1), 1), lambda x, y: at_most(y / (x * x + 1), 1), (S, S)),
    Equal("a refused quotient under its condition", lambda x, y: under(x > 0, at_most(y / relu(x), 1)), lambda x, y: under(x > 0, at_most(y / x, 1)), (S, S)),
    Equal("rows that are defined", lambda x: jnp.where((jnp.exp(x) > 2)[:, None], 0.0, jnp.where((jnp.exp(x) <= 2)[:, None], x[None], 7.0)), lambda x: jnp.where((jnp.exp(x) > 2)[:, None], 0.0, x[None]), (V,)),
    Equal("large integers in order", lambda x: under(whole(x) >= LARGE + 1, ind(whole(x) > LARGE)), lambda x: ind(whole(x) >= LARGE + 1), (D,)),
    Equal("one large integer is not the next", lambda x: under(whole(x) == LARGE + 1, ind(whole(x) == LARGE) + 3), lambda x: under(whole(x) == LARGE + 1, 3.0), (D,)),
    Equal("large negative integers in order", lambda x: under(whole(x) <= -LARGE - 1, ind(whole(x) <= -LARGE)), lambda x: ind(whole(x) <= -LARGE - 1), (D,)),
    Equal("what is above is above", lambda x: jnp.where(log(x) > 0, ind(log(x) > 0), 3.0), lambda x: jnp.where(log(x) > 0, 1.0, 3.0), (S,)),
    Equal("what is above is not below", lambda x: jnp.where(root(x) > 20, ind(root(x) <= 20), 3.0), lambda x: jnp.where(root(x) > 20, 0.0, 3.0), (S,)),
    Equal("what is not denied", lambda x: under(~~(log(x) > 0), ind(log(x) <= 0) + 2), lambda x: jnp.where(log(x) > 0, 2.0, 0.0), (S,)),
    Equal("a denial of what is defined", lambda x: jnp.where(x > 0, 3.0, ind(x <= 0)), lambda x: jnp.where(x > 0, 3.0, 1.0), (S,)),
    Equal("above another number", lambda x, y: jnp.where(log(x) > y, ind(log(x) <= y), 3.0), lambda x, y: jnp.where(log(x) > y, 0.0, 3.0), (S, S)),
    Equal("the same axis", lambda x: under(jnp.flip(x > 0, 0), jnp.flip(relu(x), 0)), lambda x: under(jnp.flip(x > 0, 0), jnp.flip(x, 0)), (f32(2, 2),)),
    Equal("a mask inside a case", lambda x: under(x > 0, jnp.where(np.arange(3) > 0, relu(x), 5.0)), lambda x: under(x > 0, jnp.where(np.arange(3) > 0, x, 5.0)), (V,)),
    Equal("the other case inside a case", lambda x, y: under(y > 0, jnp.where(x > 0, 5.0, relu(x))), lambda x, y: under((y > 0) & (x > 0), 5.0), (S, S)),
    Equal("positive is not 0", lambda x: under(jnp.floor(x) > 0, ind(2 * jnp.floor(x) > 0) + bump(jnp.floor(x))), lambda x: under(jnp.floor(x) > 0, 1 + bump(jnp.floor(x))), (S,)),
    Equal("rows and rows", lambda x: under(rows(x > 0), rows(relu(x))), lambda x: under(rows(x > 0), rows(x)), (V,)),
)  # fmt: skip
