"""Number systems in which a jaxpr can be evaluated, and the interpreter that does it in any of them.

interpreter.py       one walk over the equations, the number system plugged in
primitives.py        the one table of primitives: what stands in no row is refused
integer_ranges.py    how large the integers of a program can become, so that none wraps
deadline.py          how long work may go on
definitions.py       primitives written with simpler ones
linear_algebra.py    factorisations of matrices, written with simpler primitives
concrete.py          integers, booleans and random keys: the same in every number system
structure.py         primitives that only move entries, in NumPy
contraction.py       matrix products of any shape, in NumPy
windows.py           convolutions and pooling
scattering.py        where the updates of a scatter land
tracing.py           what a jaxpr says of its variables
canonical_form.py    two jaxprs compared as programs, whatever their primitives
jaxpr_file.py        a jaxpr as data, and back (jaxpr_values.py, jaxpr_extents.py, stored_control.py)
balls.py             exact values with a rigorous radius (python-flint)
decisions.py         comparisons and sorting that balls decide
ball_matrices.py     eigenvalues and singular values in balls
pivoting.py          elimination with exchanges, where numbers can be compared
doubles.py           float64, many copies at once
prime_field.py       arithmetic modulo a prime below 2^50
tower.py             primes in a tower, for exponentials
random_function.py   random functions of residues
residues.py          elements of a tower at one random draw
degree.py            their degrees, counted while a program runs
error_bound.py       the chance of a wrong answer
number.py            elements, and what is known about them
laws.py              the laws of real functions that are followed
algebra.py           sums, products and inverses of numbers
piecewise.py         signs, absolute values, maxima, sorting
field_functions.py   roots, exponentials and logarithms: all functions together
field_rules.py       the table of primitives in prime fields
fields.py            prime fields as a number system
exchanges.py         elimination in prime fields, for every way to exchange rows
factored.py          solutions, which are the same for all ways to exchange rows (determinants.py: determinants)
orthogonal.py        Q and R in prime fields
spectra.py           eigenvalues and singular values in prime fields (spectral_functions.py: functions of all of them)
unwritten.py         which entries depend on memory that nobody has written
uninterpreted.py     primitives without a rule as unknown functions
chosen_infinities.py infinities and NaN that the input chooses
facts.py             where a number is analytic, defined, positive and zero (fact_rules.py: primitive by primitive)
expressions.py       which computation a number is the result of
meeting.py           decisions between equal numbers that make no difference
cases.py             two formulas compared in every case of their decisions
separate_terms.py    sums, of which the cases are looked at term by term
inequalities.py      whether polynomial inequalities can hold at once
entries_first.py     entries of what is computed entry by entry, taken before it is computed
alike.py             numbers of a draw that are one function by cases
recognition.py       what float constants stand for, and how far they may be rounded
closed_form.py       numbers such as √(2/π) and log 2, exactly
constants.py         closed forms and enclosures of arrays that depend on constants only
constant_parts.py    constant factors and summands, which logarithms and exponentials take out
logged_products.py   products of numbers whose logarithms were taken before
powers.py            positive numbers as products of powers (power_rules.py: their roots, logarithms and exponentials)
exponential_depth.py how deeply exponentials are nested, and what primitives without a rule decide
rounding.py          float64 with rounding noise: the spread of a program's error
local_error.py       the error one operation may add
matmul_precision.py  how precise a device's matrix products really are
sensitivity.py       how large an error in one coefficient must be to show
"""
