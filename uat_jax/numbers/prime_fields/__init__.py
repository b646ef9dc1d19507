"""Random points of towers of prime fields: two programs that agree at one are equal, but for a small chance.

affine.py              affine functions of the atoms, u·Σ n_j a_j + c with whole n_j
algebra.py             ring operations on numbers of the prime fields, and what remains known of the results
alike.py               numbers of a draw that are the same function, which the cases of their decisions show
atoms.py               the numbers of which the polynomials of a cell are made
cases.py               two formulas that decide by signs, compared case by case
cell.py                a cell of the inputs
cell_programs.py       what both results of a pair of formulas are in a cell, as two programs without decisions
chosen_infinities.py   numbers that are ±∞ or NaN on purpose for some inputs
common_factors.py      sums of products, of which some factors are the same in all terms
constant_parts.py      constant factors and summands of numbers, which logarithms and exponentials take out
data_scatters.py       scatters at places that depend on the inputs
degree.py              degrees of the rational functions that a program computes, counted while it runs
determinants.py        determinants that JAX computes from the factors of `lu`: det A, its sign, and log |det A|
entries.py             one entry of an array as a formula of entries of other arrays, also through short sums
entries_first.py       entries of what is computed entry by entry, taken from its operands before it is computed
error_bound.py         the chance that a draw takes two different functions for equal
exchanges.py           elimination with exchanges of rows in prime fields
exponential_depth.py   how deeply exponentials are nested in a jaxpr, which primitives it uses
exponential_sums.py    numbers as sums of exponentials over products of positive ones
expressions.py         which computation each number of a draw is the result of
extremes.py            a maximum or minimum of two numbers, compared with one of them
fact_rules.py          the table of facts
factored.py            what does not depend on how `lu` exchanges rows, read off the order p that it makes
facts.py               where a number of the prime fields is analytic, defined, positive and zero
field_constants.py     constants as numbers of the prime fields
field_functions.py     real functions as functions on residues
field_rules.py         the table of primitives in prime fields
fields.py              a jaxpr evaluated at a random point of a tower of prime fields
footprint.py           how much memory an evaluation of a program takes
formula.py             what an entry of an array is computed from, entry by entry, as scalar operations
formula_in_cell.py     a formula read in one cell of the inputs
gathering.py           entries of numbers in new places, with all that is known about them
guards.py              what a case of a selection is under the condition that selects it
increasing.py          increasing functions taken out of maxima, sorts
inequalities.py        whether a few polynomial inequalities can hold at once
inner_products.py      cosines of angles between vectors, which lie between -1 and 1
inner_variables.py     formulas that depend on several variables through one number only, as formulas of that number
inverses.py            what primitives make of inverse functions
known_equations.py     equations of constants alone
laws.py                the laws of real functions that prime fields follow
limbs.py               residues modulo a prime cut into limbs
logged_products.py     products of numbers whose logarithms were taken before
meeting.py             decisions between equal numbers that make no difference, because the cases meet there
met_keys.py            random keys and the words that they are made of, which undo each other
met_logarithms.py      sums of logarithms that a program makes a second time in a way that does not show it
met_products.py        products of vectors that a draw has met
met_signs.py           exponents that have one sign for all inputs
met_squares.py         roots of squares that a program does not write as squares
modular_matmul.py      products of stacks of matrices modulo a prime, exactly
number.py              numbers of the prime fields
orthogonal.py          Q and R in prime fields
piecewise.py           signs, absolute values, maxima and sorted rows of numbers of the prime fields
places.py              entries at places that depend on the inputs
points.py              random points of a draw
power_rules.py         what primitives make of the factors of positive numbers
powers.py              positive numbers as products of powers, and what such products are worth in prime fields
prefixes.py            cumulative sums written out, each sum of its own terms
prime_field.py         arithmetic modulo a prime below 2⁵⁰
random_function.py     random functions on tuples of residues
random_keys.py         random draws in prime fields
refused.py             values that are refused, until it is seen whether they matter
residues.py            elements of a tower of prime fields at one random draw, and what can be computed with them
root_products.py       products of two roots
separate_terms.py      two sums, in parts that have no variable set in common
sorting.py             sorts in prime fields
spectra.py             eigenvalues and singular values in prime fields
spectral_functions.py  what is known of all eigenvalues together, and of matrices that have the same eigenvectors
terms.py               what a node of a formula is in one cell of the inputs
tower.py               towers of primes p₀ > p₁ > … > p_K with p_{k+1} | p_k - 1
uninterpreted.py       a primitive without a rule as an uninterpreted function in prime fields
whole_numbers.py       what floor, ceil, round and casts to integers make of a polynomial in atoms
"""
