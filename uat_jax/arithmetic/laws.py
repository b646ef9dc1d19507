"""The laws of real functions that prime fields follow; each can be switched off."""

LAWS = frozenset(
    [
        "logarithm of exponentials",
        "exponential form",
        "root of a square",
        "root of a square met before",
        "square of a root",
        "roots in matrices",
        "logarithm of a product met before",
        "homogeneity",
        "largest of a set",
        "logarithm of a positive input",
        "squares are nonnegative",
        "constants as meant",
        "almost everywhere",
        "cases",
        "powers of a product",
        "logarithm of a product",
        "exponential of a logarithm",
        "softplus of a magnitude",
        "power as an exponential",
        "recurrence of the gamma function",
        "signs of sums of exponentials",
        "cases that meet",
        "guards",
        "order statistics",
        "entry at its place",
        "inverse functions",
        "angles",
        "even and odd functions",
        "roots of degree 3",
        "roots met before",
        "signs of multiples",
        "member of an extreme",
    ]
)
"""Every law that can be switched off; "exponential form" writes tanh, logistic, cos and sin with exponentials."""
