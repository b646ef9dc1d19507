"""Float64 arithmetic for many copies at once, and how far rounding may carry a program.

doubles.py           the jaxpr of any dtype evaluated in float64, for many copies at once, its casts left out
emulated.py          a program as its own dtypes compute it, in NumPy
first_order.py       how far rounding may carry a program from its exact value
local_error.py       the error one floating-point operation may add to its result
matmul_precision.py  how precise a device's matrix product really is, measured on the device
pivoting.py          elimination with partial pivoting, where numbers can be compared
rounding.py          floats with rounding noise
sensitivity.py       how large an error in one coefficient must be before it shows
"""
