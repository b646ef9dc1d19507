"""v1 Eq. 5 (row names.layer-as-power): x_{i+1} = W_i x^i, the layer as an index and as a power."""

LEFT, RIGHT = "x_{i+1}", "x^i"
print(f"left {LEFT}, right {RIGHT}")
if RIGHT == "x_i":
    raise SystemExit("no counterexample: the layer is an index on both sides")
