"""§2 of all versions (row uat.sigmoidal): the theorem asks for σ(t) → 1 as t → ∞; Transformers use relu, gelu, silu.

All three are t times a number from 1/2 to 1 for t ≥ 0, so that σ(t) ≥ t/2 grows without bound.
"""

import sympy

t = sympy.Symbol("t", positive=True)
factors = {
    "relu": sympy.Integer(1),
    "gelu": sympy.erfc(-t / sympy.sqrt(2)) / 2,
    "silu": 1 / (1 + sympy.exp(-t)),
}

for name, factor in factors.items():
    value, limit = (t * factor).subs(t, 4), sympy.limit(t * factor, t, sympy.oo)
    print(f"{name}(4) = {float(value):.6f}, limit {limit}; a sigmoidal function has limit 1")
    if limit == 1:
        raise SystemExit(f"no counterexample: {name} is sigmoidal")
