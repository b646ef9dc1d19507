"""Scalar rules, applied to arrays entry by entry: the kinds of XLA's algebraic simplifier and of mlir-tv's tests."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from uat_jax import interval, nonnegative, positive

from ..pair import f32
from ..row import row

X = (f32(4),)
XY = (f32(4), f32(4))
XYZ = (f32(4), f32(4), f32(4))
P = (positive(f32(4)),)
PQ = (positive(f32(4)), positive(f32(4)))
XP = (f32(4), positive(f32(4)))
MASK = np.array([True, False, True, True])

RING = (
    row("x + 0", lambda x: x + jnp.zeros(4), lambda x: x, X, {"1": lambda x: x + 1, "0": lambda x: 0 * x}),
    row("x · 1", lambda x: x * jnp.ones(4), lambda x: x, X, {"2": lambda x: 2 * x, "1": lambda x: 0 * x + 1}),
    row("x · 0", lambda x: x * jnp.zeros(4), lambda x: jnp.zeros(4), X, {"x": lambda x: x, "1": lambda x: jnp.ones(4)}),
    row("x · (−1)", lambda x: x * -1.0, lambda x: -x, X, {"x": lambda x: x, "|x|": jnp.abs}),
    row("x − x", lambda x: x - x, lambda x: jnp.zeros_like(x), X, {"x": lambda x: x, "2x": lambda x: x + x}),
    row("x + x", lambda x: x + x, lambda x: 2.0 * x, X, {"x²": lambda x: x * x, "3x": lambda x: 3 * x}),
    row("0 − x", lambda x: 0.0 - x, lambda x: -x, X, {"x": lambda x: x, "1 − x": lambda x: 1 - x}),
    row("−(−x)", lambda x: lax.neg(lax.neg(x)), lambda x: x, X, {"−x": lambda x: -x, "|x|": jnp.abs}),
    row(
        "x − (−y)",
        lambda x, y: x - (-y),
        lambda x, y: x + y,
        XY,
        {"x − y": lambda x, y: x - y, "y − x": lambda x, y: y - x},
    ),
    row(
        "(−x)(−y)",
        lambda x, y: (-x) * (-y),
        lambda x, y: x * y,
        XY,
        {"−xy": lambda x, y: -x * y, "|xy|": lambda x, y: jnp.abs(x * y)},
    ),
    row("(x + 2) + 3", lambda x: (x + 2.0) + 3.0, lambda x: x + 5.0, X, {"6": lambda x: x + 6, "1": lambda x: x - 1}),
    row(
        "(x · 2) · 3", lambda x: (x * 2.0) * 3.0, lambda x: x * 6.0, X, {"5": lambda x: x * 5, "x³": lambda x: 6 * x**3}
    ),
    row(
        "(x − 2) + y",
        lambda x, y: (x - 2.0) + y,
        lambda x, y: (x + y) - 2.0,
        XY,
        {"sign": lambda x, y: (x + y) + 2, "of y": lambda x, y: x - (y - 2)},
    ),
    row(
        "x y + x z",
        lambda x, y, z: x * y + x * z,
        lambda x, y, z: x * (y + z),
        XYZ,
        {"product": lambda x, y, z: x * y * z, "x²": lambda x, y, z: x * x * (y + z)},
    ),
    row(
        "x − (x + y)",
        lambda x, y: x - (x + y),
        lambda x, y: -y,
        XY,
        {"y": lambda x, y: y, "2x": lambda x, y: 2 * x - y},
    ),
    row(
        "(x + y) − y", lambda x, y: (x + y) - y, lambda x, y: x, XY, {"y": lambda x, y: y, "x + y": lambda x, y: x + y}
    ),
    row(
        "(x + y)²",
        lambda x, y: (x + y) ** 2,
        lambda x, y: x * x + 2.0 * x * y + y * y,
        XY,
        {"no middle": lambda x, y: x * x + y * y, "once": lambda x, y: x * x + x * y + y * y},
    ),
    row(
        "x² − y²",
        lambda x, y: x * x - y * y,
        lambda x, y: (x + y) * (x - y),
        XY,
        {"sum": lambda x, y: (x + y) * (x + y), "(x−y)²": lambda x, y: (x - y) * (x - y)},
    ),
    row(
        "x⁸ by squaring",
        lambda x: x**8,
        lambda x: ((x * x) * (x * x)) * ((x * x) * (x * x)),
        X,
        {"x⁶": lambda x: (x * x) * (x * x) * (x * x), "x⁷": lambda x: x**7},
    ),
    row(
        "Horner",
        lambda x: 1.0 + 2.0 * x + 3.0 * x**2 + 4.0 * x**3,
        lambda x: 1.0 + x * (2.0 + x * (3.0 + x * 4.0)),
        X,
        {"order": lambda x: 4 + x * (3 + x * (2 + x)), "3": lambda x: 1 + x * (2 + x * (3 + x * 3))},
    ),
)

QUOTIENTS = (
    row("x / 1", lambda x: x / jnp.ones(4), lambda x: x, X, {"1/x": lambda x: 1 / x, "x/2": lambda x: x / 2}),
    row("x / c", lambda x: x / 4.0, lambda x: x * 0.25, X, {"c x": lambda x: x * 4, "half": lambda x: x * 0.5}),
    row(
        "x / 3",
        lambda x: x / 3.0,
        lambda x: x * (1.0 / 3.0),
        X,
        {"half": lambda x: x * 0.5, "0.33": lambda x: x * 0.33},
    ),
    row(
        "(x / y) / z",
        lambda x, y, z: (x / y) / z,
        lambda x, y, z: x / (y * z),
        XYZ,
        {"x z / y": lambda x, y, z: x * z / y, "x/(y+z)": lambda x, y, z: x / (y + z)},
    ),
    row(
        "x / (y / z)",
        lambda x, y, z: x / (y / z),
        lambda x, y, z: x * z / y,
        XYZ,
        {"x/(yz)": lambda x, y, z: x / (y * z), "xy/z": lambda x, y, z: x * y / z},
    ),
    row(
        "(x / y) · z",
        lambda x, y, z: (x / y) * z,
        lambda x, y, z: (x * z) / y,
        XYZ,
        {"x/(yz)": lambda x, y, z: x / (y * z), "z/y": lambda x, y, z: z / y},
    ),
    row("x / y · y", lambda x, y: x / y * y, lambda x, y: x, XP, {"y": lambda x, y: y, "x y": lambda x, y: x * y}),
    row("x / x", lambda x: x / x, lambda x: jnp.ones_like(x), P, {"0": lambda x: 0 * x, "x": lambda x: x}),
    row(
        "x/z + y/z",
        lambda x, y, z: x / z + y / z,
        lambda x, y, z: (x + y) / z,
        (f32(4), f32(4), positive(f32(4))),
        {"z²": lambda x, y, z: (x + y) / (z * z), "2z": lambda x, y, z: (x + y) / (z + z)},
    ),
    row("1 / (1 / x)", lambda x: 1.0 / (1.0 / x), lambda x: x, P, {"1/x": lambda x: 1 / x, "x²": lambda x: x * x}),
    row(
        "(x y) / (x z)",
        lambda x, y, z: (x * y) / (x * z),
        lambda x, y, z: y / z,
        (positive(f32(4)), f32(4), positive(f32(4))),
        {"z/y": lambda x, y, z: z / (y * y + 1), "x": lambda x, y, z: x * y / z},
    ),
    row(
        "rem by a constant: x − 3 trunc(x/3)",
        lambda x: lax.rem(4.0 * x, jnp.full(4, 3.0)),
        lambda x: 4.0 * x - 3.0 * jnp.trunc(4.0 * x / 3.0),
        X,
        {"floor": lambda x: 4 * x - 3 * jnp.floor(4 * x / 3), "quotient": lambda x: jnp.trunc(4 * x / 3)},
    ),
)

POWERS = (
    row("pow(x, 2)", lambda x: jnp.power(x, 2.0), lambda x: x * x, X, {"2x": lambda x: x + x, "x³": lambda x: x**3}),
    row("pow(x, 1/2)", lambda x: jnp.power(x, 0.5), jnp.sqrt, P, {"rsqrt": lax.rsqrt, "x/2": lambda x: x / 2}),
    row("pow(x, −1)", lambda x: jnp.power(x, -1.0), lambda x: 1.0 / x, P, {"−x": lambda x: -x, "rsqrt": lax.rsqrt}),
    row("pow(x, −1/2)", lambda x: jnp.power(x, -0.5), lax.rsqrt, P, {"sqrt": jnp.sqrt, "1/x": lambda x: 1 / x}),
    row(
        "pow(x, 3)", lambda x: jnp.power(x, 3.0), lambda x: x * x * x, X, {"x²": lambda x: x * x, "x⁴": lambda x: x**4}
    ),
    row(
        "pow(pow(x, a), b)",
        lambda x, a, b: (x**a) ** b,
        lambda x, a, b: x ** (a * b),
        (positive(f32(4)), f32(4), f32(4)),
        {"sum": lambda x, a, b: x ** (a + b), "a": lambda x, a, b: x**a + 0 * b},
    ),
    row(
        "pow(x, a) pow(x, b)",
        lambda x, a, b: x**a * x**b,
        lambda x, a, b: x ** (a + b),
        (positive(f32(4)), f32(4), f32(4)),
        {"product": lambda x, a, b: x ** (a * b), "2": lambda x, a, b: 2 * x ** (a + b)},
    ),
    row(
        "pow(x, a) pow(y, a)",
        lambda x, y, a: x**a * y**a,
        lambda x, y, a: (x * y) ** a,
        (*PQ, f32(4)),
        {"sum": lambda x, y, a: (x + y) ** a, "2a": lambda x, y, a: (x * y) ** (2 * a)},
    ),
    row(
        "pow(exp x, a)",
        lambda x, a: jnp.exp(x) ** a,
        lambda x, a: jnp.exp(x * a),
        XY,
        {"sum": lambda x, a: jnp.exp(x + a), "x^a": lambda x, a: jnp.exp(jnp.abs(x) ** a)},
    ),
    row(
        "sqrt x · sqrt x",
        lambda x: jnp.sqrt(x) * jnp.sqrt(x),
        lambda x: x,
        (nonnegative(f32(4)),),
        {"sqrt": jnp.sqrt, "x²": lambda x: x * x},
    ),
    row("sqrt(x²)", lambda x: jnp.sqrt(x * x), jnp.abs, X, {"x": lambda x: x, "relu": lambda x: jnp.maximum(x, 0)}),
    row(
        "sqrt x · sqrt y",
        lambda x, y: jnp.sqrt(x) * jnp.sqrt(y),
        lambda x, y: jnp.sqrt(x * y),
        PQ,
        {"sum": lambda x, y: jnp.sqrt(x + y), "xy": lambda x, y: x * y},
    ),
    row(
        "rsqrt x · rsqrt x",
        lambda x: lax.rsqrt(x) * lax.rsqrt(x),
        lambda x: 1.0 / x,
        P,
        {"rsqrt": lax.rsqrt, "1/x²": lambda x: 1 / (x * x)},
    ),
    row("rsqrt(x) x", lambda x: lax.rsqrt(x) * x, jnp.sqrt, P, {"rsqrt": lax.rsqrt, "x": lambda x: x}),
    row(
        "x / sqrt y",
        lambda x, y: x / jnp.sqrt(y),
        lambda x, y: x * lax.rsqrt(y),
        XP,
        {"sqrt": lambda x, y: x * jnp.sqrt(y), "1/y": lambda x, y: x / y},
    ),
    row(
        "rsqrt of a quotient",
        lambda x, y: lax.rsqrt(x / y),
        lambda x, y: jnp.sqrt(y / x),
        PQ,
        {"inverted": lambda x, y: jnp.sqrt(x / y), "product": lambda x, y: lax.rsqrt(x * y)},
    ),
    row("cbrt x ³", lambda x: jnp.cbrt(x) ** 3, lambda x: x, X, {"x²": lambda x: jnp.cbrt(x) ** 2, "|x|": jnp.abs}),
)

EXPONENTIALS = (
    row(
        "exp x · exp y",
        lambda x, y: jnp.exp(x) * jnp.exp(y),
        lambda x, y: jnp.exp(x + y),
        XY,
        {"product": lambda x, y: jnp.exp(x * y), "sum": lambda x, y: jnp.exp(x) + jnp.exp(y)},
    ),
    row(
        "exp x / exp y",
        lambda x, y: jnp.exp(x) / jnp.exp(y),
        lambda x, y: jnp.exp(x - y),
        XY,
        {"sum": lambda x, y: jnp.exp(x + y), "reversed": lambda x, y: jnp.exp(y - x)},
    ),
    row(
        "x / exp y",
        lambda x, y: x / jnp.exp(y),
        lambda x, y: x * jnp.exp(-y),
        XY,
        {"sign": lambda x, y: x * jnp.exp(y), "y": lambda x, y: x * -jnp.exp(y)},
    ),
    row("log(exp x)", lambda x: jnp.log(jnp.exp(x)), lambda x: x, X, {"|x|": jnp.abs, "exp": jnp.exp}),
    row("exp(log x)", lambda x: jnp.exp(jnp.log(x)), lambda x: x, P, {"1/x": lambda x: 1 / x, "log": jnp.log}),
    row(
        "log(x y)",
        lambda x, y: jnp.log(x * y),
        lambda x, y: jnp.log(x) + jnp.log(y),
        PQ,
        {"product": lambda x, y: jnp.log(x) * jnp.log(y), "sum": lambda x, y: jnp.log(x + y)},
    ),
    row(
        "log(x / y)",
        lambda x, y: jnp.log(x / y),
        lambda x, y: jnp.log(x) - jnp.log(y),
        PQ,
        {"quotient": lambda x, y: jnp.log(x) / (jnp.log(y) ** 2 + 1), "reversed": lambda x, y: jnp.log(y) - jnp.log(x)},
    ),
    row(
        "log(pow(x, a))",
        lambda x, a: jnp.log(x**a),
        lambda x, a: a * jnp.log(x),
        (positive(f32(4)), f32(4)),
        {"power of the log": lambda x, a: jnp.log(x) + a, "log a": lambda x, a: jnp.log(x) * a * a},
    ),
    row(
        "log(sqrt x)",
        lambda x: jnp.log(jnp.sqrt(x)),
        lambda x: 0.5 * jnp.log(x),
        P,
        {"2": lambda x: 2 * jnp.log(x), "sqrt": lambda x: jnp.sqrt(jnp.abs(jnp.log(x)))},
    ),
    row("exp(x) − 1", lambda x: jnp.exp(x) - 1.0, jnp.expm1, X, {"exp": jnp.exp, "x": lambda x: x}),
    row("log(1 + x)", lambda x: jnp.log(1.0 + x), jnp.log1p, P, {"log": jnp.log, "x": lambda x: x}),
    row(
        "logistic(x)",
        lax.logistic,
        lambda x: 1.0 / (1.0 + jnp.exp(-x)),
        X,
        {"sign": lambda x: 1 / (1 + jnp.exp(x)), "tanh": jnp.tanh},
    ),
    row(
        "1 − logistic(x)",
        lambda x: 1.0 - lax.logistic(x),
        lambda x: lax.logistic(-x),
        X,
        {"x": lax.logistic, "−": lambda x: -lax.logistic(x)},
    ),
    row(
        "tanh(−x)",
        lambda x: jnp.tanh(-x),
        lambda x: -jnp.tanh(x),
        X,
        {"even": jnp.tanh, "abs": lambda x: -jnp.abs(jnp.tanh(x))},
    ),
    row("cos(−x)", lambda x: jnp.cos(-x), jnp.cos, X, {"odd": lambda x: -jnp.cos(x), "sin": jnp.sin}),
    row("sin(−x)", lambda x: jnp.sin(-x), lambda x: -jnp.sin(x), X, {"even": jnp.sin, "cos": jnp.cos}),
    row(
        "sin² + cos²",
        lambda x: jnp.sin(x) ** 2 + jnp.cos(x) ** 2,
        lambda x: jnp.ones_like(x),
        X,
        {"2": lambda x: 2 + 0 * x, "difference": lambda x: jnp.cos(x) ** 2 - jnp.sin(x) ** 2},
    ),
    row(
        "tan x",
        jnp.tan,
        lambda x: jnp.sin(x) / jnp.cos(x),
        (interval(f32(4), -1.5, 1.5),),
        {"inverted": lambda x: jnp.sin(x) * jnp.cos(x), "sin": jnp.sin},
    ),
    row(
        "cosh² − sinh²",
        lambda x: jnp.cosh(x) ** 2 - jnp.sinh(x) ** 2,
        lambda x: jnp.ones_like(x),
        X,
        {"sum": lambda x: jnp.cosh(x) ** 2 + jnp.sinh(x) ** 2, "0": lambda x: 0 * x},
    ),
    row("exp2", jnp.exp2, lambda x: jnp.exp(x * jnp.log(2.0)), X, {"e": jnp.exp, "4": lambda x: jnp.exp2(2 * x)}),
    row(
        "atan2 with a positive x",
        lambda y, x: jnp.arctan2(y, x),
        lambda y, x: jnp.arctan(y / x),
        XP,
        {"inverted": lambda y, x: jnp.arctan(x / (y * y + 1)), "product": lambda y, x: jnp.arctan(y * x)},
    ),
)

ORDER = (
    row("max(x, x)", lambda x: jnp.maximum(x, x), lambda x: x, X, {"|x|": jnp.abs, "2x": lambda x: 2 * x}),
    row(
        "max(x, y) is symmetric",
        jnp.maximum,
        lambda x, y: jnp.maximum(y, x),
        XY,
        {"min": jnp.minimum, "x": lambda x, y: x + 0 * y},
    ),
    row(
        "max(max(x, y), y)",
        lambda x, y: jnp.maximum(jnp.maximum(x, y), y),
        jnp.maximum,
        XY,
        {"y": lambda x, y: y, "min": jnp.minimum},
    ),
    row(
        "max(min(x, y), x)",
        lambda x, y: jnp.maximum(jnp.minimum(x, y), x),
        lambda x, y: x,
        XY,
        {"y": lambda x, y: y, "max": jnp.maximum},
    ),
    row(
        "max(x, y) + min(x, y)",
        lambda x, y: jnp.maximum(x, y) + jnp.minimum(x, y),
        lambda x, y: x + y,
        XY,
        {"2 max": lambda x, y: 2 * jnp.maximum(x, y), "difference": lambda x, y: x - y},
    ),
    row(
        "max(x, y) min(x, y)",
        lambda x, y: jnp.maximum(x, y) * jnp.minimum(x, y),
        lambda x, y: x * y,
        XY,
        {"x²": lambda x, y: x * x, "|xy|": lambda x, y: jnp.abs(x * y)},
    ),
    row(
        "max(x, y) − min(x, y)",
        lambda x, y: jnp.maximum(x, y) - jnp.minimum(x, y),
        lambda x, y: jnp.abs(x - y),
        XY,
        {"x − y": lambda x, y: x - y, "sum": lambda x, y: jnp.abs(x + y)},
    ),
    row(
        "max(x, −x)", lambda x: jnp.maximum(x, -x), jnp.abs, X, {"x": lambda x: x, "min": lambda x: jnp.minimum(x, -x)}
    ),
    row(
        "−max(−x, −y)",
        lambda x, y: -jnp.maximum(-x, -y),
        jnp.minimum,
        XY,
        {"max": jnp.maximum, "sign": lambda x, y: jnp.maximum(-x, -y)},
    ),
    row(
        "min(max(x, y), z) with y ≤ z",
        lambda x: jnp.minimum(jnp.maximum(x, -1.0), 2.0),
        lambda x: jnp.maximum(jnp.minimum(x, 2.0), -1.0),
        X,
        {"one end": lambda x: jnp.maximum(x, -1.0), "exchanged": lambda x: jnp.clip(x, -2.0, 1.0)},
    ),
    row(
        "clamp of a clamp",
        lambda x: jnp.clip(jnp.clip(x, -1.0, 2.0), 0.0, 3.0),
        lambda x: jnp.clip(x, 0.0, 2.0),
        X,
        {"outer": lambda x: jnp.clip(x, 0.0, 3.0), "inner": lambda x: jnp.clip(x, -1.0, 2.0)},
    ),
    row(
        "max(x + z, y + z)",
        lambda x, y, z: jnp.maximum(x + z, y + z),
        lambda x, y, z: jnp.maximum(x, y) + z,
        XYZ,
        {"2z": lambda x, y, z: jnp.maximum(x, y) + 2 * z, "of z": lambda x, y, z: jnp.maximum(jnp.maximum(x, y), z)},
    ),
    row(
        "max(2x, 2y)",
        lambda x, y: jnp.maximum(2.0 * x, 2.0 * y),
        lambda x, y: 2.0 * jnp.maximum(x, y),
        XY,
        {"4": lambda x, y: 4 * jnp.maximum(x, y), "min": lambda x, y: 2 * jnp.minimum(x, y)},
    ),
    row(
        "max(−2x, −2y)",
        lambda x, y: jnp.maximum(-2.0 * x, -2.0 * y),
        lambda x, y: -2.0 * jnp.minimum(x, y),
        XY,
        {"max": lambda x, y: -2 * jnp.maximum(x, y), "sign": lambda x, y: 2 * jnp.minimum(x, y)},
    ),
    row(
        "max(exp x, exp y)",
        lambda x, y: jnp.maximum(jnp.exp(x), jnp.exp(y)),
        lambda x, y: jnp.exp(jnp.maximum(x, y)),
        XY,
        {"min": lambda x, y: jnp.exp(jnp.minimum(x, y)), "sum": lambda x, y: jnp.exp(x + y)},
    ),
    row(
        "max(exp x, 0)",
        lambda x: jnp.maximum(jnp.exp(x), 0.0),
        jnp.exp,
        X,
        {"1": lambda x: jnp.maximum(jnp.exp(x), 1.0), "0": lambda x: 0 * x},
    ),
    row(
        "max distributes over min",
        lambda x, y, z: jnp.maximum(x, jnp.minimum(y, z)),
        lambda x, y, z: jnp.minimum(jnp.maximum(x, y), jnp.maximum(x, z)),
        XYZ,
        {
            "exchanged": lambda x, y, z: jnp.maximum(jnp.minimum(x, y), jnp.minimum(x, z)),
            "y": lambda x, y, z: jnp.maximum(x, y) + 0 * z,
        },
    ),
    row(
        "|x y|",
        lambda x, y: jnp.abs(x * y),
        lambda x, y: jnp.abs(x) * jnp.abs(y),
        XY,
        {"x|y|": lambda x, y: x * jnp.abs(y), "sum": lambda x, y: jnp.abs(x) + jnp.abs(y)},
    ),
    row("|−x|", lambda x: jnp.abs(-x), jnp.abs, X, {"x": lambda x: x, "−|x|": lambda x: -jnp.abs(x)}),
    row("|x|²", lambda x: jnp.abs(x) ** 2, lambda x: x * x, X, {"|x|": jnp.abs, "x|x|": lambda x: x * jnp.abs(x)}),
    row("| |x| |", lambda x: jnp.abs(jnp.abs(x)), jnp.abs, X, {"x": lambda x: x, "x²": lambda x: x * x}),
    row(
        "|x² + 1|",
        lambda x: jnp.abs(x * x + 1.0),
        lambda x: x * x + 1.0,
        X,
        {"x + 1": lambda x: jnp.abs(x + 1), "−": lambda x: jnp.abs(x * x - 1)},
    ),
    row("sign(x) |x|", lambda x: jnp.sign(x) * jnp.abs(x), lambda x: x, X, {"|x|": jnp.abs, "sign": jnp.sign}),
    row("sign(x) x", lambda x: jnp.sign(x) * x, jnp.abs, X, {"x": lambda x: x, "−x": lambda x: -x}),
    row(
        "sign(sign x)",
        lambda x: jnp.sign(jnp.sign(x)),
        jnp.sign,
        X,
        {"x": lambda x: x, "|sign|": lambda x: jnp.abs(jnp.sign(x))},
    ),
    row(
        "sign(2x)",
        lambda x: jnp.sign(2.0 * x),
        jnp.sign,
        X,
        {"−2": lambda x: jnp.sign(-2 * x), "2 sign": lambda x: 2 * jnp.sign(x)},
    ),
    row(
        "sign(−x)",
        lambda x: jnp.sign(-x),
        lambda x: -jnp.sign(x),
        X,
        {"even": jnp.sign, "not odd": lambda x: -jnp.abs(jnp.sign(x))},
    ),
)

CHOICES = (
    row(
        "select of equal values",
        lambda x, y: jnp.where(x > 0, y, y),
        lambda x, y: y + 0.0 * x,
        XY,
        {"x": lambda x, y: x, "−y": lambda x, y: jnp.where(x > 0, y, -y)},
    ),
    row(
        "select by a constant mask",
        lambda x, y: jnp.where(MASK, x, y),
        lambda x, y: jnp.stack([x[0], y[1], x[2], x[3]]),
        XY,
        {"exchanged": lambda x, y: jnp.where(MASK, y, x), "x": lambda x, y: x + 0 * y},
    ),
    row(
        "select by a negated mask",
        lambda x, y: jnp.where(~(x > 0), x, y),
        lambda x, y: jnp.where(x > 0, y, x),
        XY,
        {"not exchanged": lambda x, y: jnp.where(x > 0, x, y), "≥": lambda x, y: jnp.where(x > 1, y, x)},
    ),
    row(
        "x > y ? x : y",
        lambda x, y: jnp.where(x > y, x, y),
        jnp.maximum,
        XY,
        {"min": jnp.minimum, "x": lambda x, y: x + 0 * y},
    ),
    row(
        "x ≥ y and ¬(x < y)",
        lambda x, y: jnp.where(x >= y, 1.0, 2.0),
        lambda x, y: jnp.where(x < y, 2.0, 1.0),
        XY,
        {
            "exchanged": lambda x, y: jnp.where(x < y, 1.0, 2.0),
            "at equality": lambda x, y: jnp.where(x > y + 1, 1.0, 2.0),
        },
    ),
    row(
        "x > x",
        lambda x: jnp.where(x > x, 1.0, x),
        lambda x: x,
        X,
        {"1": lambda x: 0 * x + 1, "≥": lambda x: jnp.where(x >= x, 1.0, x)},
    ),
    row(
        "select of a select, one mask",
        lambda x, y, z: jnp.where(x > 0, jnp.where(x > 0, y, z), z),
        lambda x, y, z: jnp.where(x > 0, y, z),
        XYZ,
        {"exchanged": lambda x, y, z: jnp.where(x > 0, z, y), "y": lambda x, y, z: y + 0 * x},
    ),
    row(
        "select of a select, two masks",
        lambda x, y, z: jnp.where(x > 0, jnp.where(y > 0, z, x), x),
        lambda x, y, z: jnp.where((x > 0) & (y > 0), z, x),
        XYZ,
        {"or": lambda x, y, z: jnp.where((x > 0) | (y > 0), z, x), "one": lambda x, y, z: jnp.where(x > 0, z, x)},
    ),
    row(
        "an operation on both cases",
        lambda x, y: jnp.where(x > 0, y + 1.0, y - 1.0),
        lambda x, y: y + jnp.where(x > 0, 1.0, -1.0),
        XY,
        {"sign": lambda x, y: y - jnp.where(x > 0, 1.0, -1.0), "1": lambda x, y: y + 1},
    ),
    row(
        "a mask as a factor",
        lambda x, y: jnp.where(x > 0, y, 0.0),
        lambda x, y: y * (x > 0).astype(jnp.float32),
        XY,
        {"x": lambda x, y: x * (y > 0).astype(jnp.float32), "≤": lambda x, y: y * (x <= 0).astype(jnp.float32)},
    ),
    row(
        "de Morgan",
        lambda x, y: jnp.where(~((x > 0) & (y > 0)), x, y),
        lambda x, y: jnp.where((x <= 0) | (y <= 0), x, y),
        XY,
        {
            "and": lambda x, y: jnp.where((x <= 0) & (y <= 0), x, y),
            "exchanged": lambda x, y: jnp.where((x <= 0) | (y <= 0), y, x),
        },
    ),
    row(
        "x · (x > 0) is relu",
        lambda x: x * (x > 0),
        lambda x: jnp.maximum(x, 0.0),
        X,
        {"|x|": jnp.abs, "<": lambda x: x * (x < 0)},
    ),
    row(
        "comparison of a difference",
        lambda x, y: jnp.where(x - y > 0, x, 2.0 * y),
        lambda x, y: jnp.where(x > y, x, 2.0 * y),
        XY,
        {"<": lambda x, y: jnp.where(x < y, x, 2 * y), "sum": lambda x, y: jnp.where(x + y > 0, x, 2 * y)},
    ),
    row(
        "clip by comparisons",
        lambda x: jnp.clip(x, 0.0, 1.0),
        lambda x: jnp.where(x < 0, 0.0, jnp.where(x > 1, 1.0, x)),
        X,
        {
            "upper end": lambda x: jnp.where(x < 0, 0.0, x),
            "exchanged": lambda x: jnp.where(x < 0, 1.0, jnp.where(x > 1, 0.0, x)),
        },
    ),
)

ROUNDING = (
    row(
        "floor(x + 2)",
        lambda x: jnp.floor(x + 2.0),
        lambda x: jnp.floor(x) + 2.0,
        X,
        {"1/2": lambda x: jnp.floor(x + 0.5) + 2, "3": lambda x: jnp.floor(x) + 3},
    ),
    row(
        "ceil(x)",
        jnp.ceil,
        lambda x: -jnp.floor(-x),
        X,
        {"floor": jnp.floor, "floor + 1/2": lambda x: jnp.floor(x + 0.5)},
    ),
    row("floor(floor x)", lambda x: jnp.floor(jnp.floor(x)), jnp.floor, X, {"ceil": jnp.ceil, "x": lambda x: x}),
    row("round(round x)", lambda x: jnp.round(jnp.round(x)), jnp.round, X, {"floor": jnp.floor, "x": lambda x: x}),
    row("floor(ceil x)", lambda x: jnp.floor(jnp.ceil(x)), jnp.ceil, X, {"floor": jnp.floor, "round": jnp.round}),
    row(
        "trunc(x) by cases",
        jnp.trunc,
        lambda x: jnp.where(x >= 0, jnp.floor(x), jnp.ceil(x)),
        X,
        {"floor": jnp.floor, "exchanged": lambda x: jnp.where(x >= 0, jnp.ceil(x), jnp.floor(x))},
    ),
    row(
        "x − floor x lies in [0, 1)",
        lambda x: jnp.maximum(x - jnp.floor(x), 0.0),
        lambda x: x - jnp.floor(x),
        X,
        {"ceil": lambda x: jnp.ceil(x) - x, "0": lambda x: 0 * x},
    ),
    row(
        "mod of a sum with a multiple",
        lambda x: jnp.mod(x + 6.0, 3.0),
        lambda x: jnp.mod(x, 3.0),
        X,
        {"5": lambda x: jnp.mod(x + 5, 3.0), "by 6": lambda x: jnp.mod(x, 6.0)},
    ),
    row(
        "cast to int and back",
        lambda x: x.astype(jnp.int32).astype(jnp.float32),
        jnp.trunc,
        (interval(f32(4), -100.0, 100.0),),
        {"floor": jnp.floor, "round": jnp.round},
    ),
)

ROWS = (*RING, *QUOTIENTS, *POWERS, *EXPONENTIALS, *ORDER, *CHOICES, *ROUNDING)
