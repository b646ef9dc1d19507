"""Programs of complex numbers as programs of their real and imaginary parts.

complex_rules.py  what each primitive of complex operands or results does to their parts
moduli.py         what the real arrays of a program are of its complex numbers
real_parts.py     from a program of complex numbers to the program of their real and imaginary parts
"""
