"""A jaxpr as data, and one walk over its equations, whatever the number system it is evaluated in.

canonical_form.py    two jaxprs compared as programs, whatever their primitives
closed_form.py       real numbers in closed form
complex_numbers.py   complex numbers as pairs of arrays of real ones
concrete.py          the integers, booleans and random keys of a jaxpr, which are the same in every number system
contraction.py       matrix products of any shape, as JAX's dot_general means them, for arrays that are not JAX's
deadline.py          how long work may go on, and what it may hold
definitions.py       primitives in terms of simpler ones
fewer_bits.py        rounding to fewer bits than a dtype has, as `jax.lax.reduce_precision` asks for
flat_program.py      programs without calls and loops
fourier.py           the discrete Fourier transforms as linear maps of the parts
inlining.py          a program with every function that it calls written out, so that JAX can batch and run it
integer_ranges.py    how large the numbers of a program can become
interpreter.py       the jaxpr interpreter
jaxpr_extents.py     how long the evaluation of a stored program takes
jaxpr_file.py        programs as data
jaxpr_values.py      what may stand in a stored program
lifetimes.py         how long values are kept in a walk over a jaxpr
linear_algebra.py    matrix factorisations in terms of +, ·, / and √, where formulas exist
monoids.py           `reduce` and `reduce_window` with a program for what they combine by
monotone_ranges.py   the values of increasing functions between two bounds, rounded outwards
operation.py         what an equation does to its operands, whatever they are
outside_function.py  functions outside of JAX, of which nothing is known
primitives.py        the one table of primitives
recognition.py       what a float constant stands for
retracing.py         programs traced again, equation by equation
rows.py              inputs of which two programs read single rows, as one input for each row
scattering.py        scatters with concrete indices
stored_control.py    calls and scans of stored programs
structure.py         primitives that move entries and compute none, in NumPy
symbolic_sizes.py    symbolic dimensions in stored programs
tracing.py           from a JAX function to its jaxpr, and from an equation back to the line it was written on
unwritten.py         which entries of a program's results depend on memory that nobody has written
windows.py           convolution and pooling
work.py              how much work an evaluation of a program is, predicted before anything is computed
"""
