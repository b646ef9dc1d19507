"""DUAT §4.4, Eq. 18 (row lora.stray-plus): … + Σ_j (W'_{j,3} + ΔW_{j+1,3}) + σ((W'_{j,2} + ΔW_{j+1,2}) x_0 + b'_{j,2}).

W'_{j,3} is D × F and σ(…) a column of length F: they cannot be added.  The smallest sizes at which
this shows are D = 1 and F = 2.  Without the plus the product has the right shape.
"""

D, F = 1, 2
matrix, column = (D, F), (F, 1)
product = (matrix[0], column[1])
print(f"D = {D}, F = {F}: W' + ΔW is {matrix[0]} × {matrix[1]}, σ(…) is {column[0]} × {column[1]}")
print(f"their product is {product[0]} × {product[1]}, the shape of x")
if matrix == column:
    raise SystemExit("not refuted: the shapes are equal")
