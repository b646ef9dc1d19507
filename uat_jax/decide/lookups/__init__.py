"""Integers that only choose and are compared: places of tables as letters, decisions as cases.

differences.py    what is known of whole numbers: bounds of their differences
letters.py        arrays of unknown whole numbers
one_integer.py    functions of one integer as letters of their own
integer_part.py   what a program computes of its integers in one case
sparse.py         arrays with one entry that may be other than zero along an axis, and sums of such
steps.py          loops over texts step by step
rows.py           the rest of a program, in which the rows that integers choose are inputs
texts.py          the cases of two programs
real_pair.py      both in some cases, as programs of real numbers
"""
