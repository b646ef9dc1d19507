"""Methods, verdicts, certificates and counterexamples; nothing about any particular claim.

verdict.py          the verdicts, methods, evidence, and how evidence is combined
assumption.py       what evidence presupposes
figures.py          what a method found, as records
settings.py         what the evidence is taken with
normal_forms.py     equations decided in normal form
programs.py         a network and a printed form: equal, or refuted
program_witness.py  a small input on which they differ
numpy_program.py    such an input as a NumPy program
counterexample.py   what such an input is, of programs and of functions
script.py           the text of a program that shows it
counts.py           numbers of arrays and parameters
dependence.py       what a parameter depends on
inequalities.py     exact inequalities
ranks.py            ranks from below and from above
shapes.py           products and assignments that are not defined
opposite.py         a proof of the opposite
functions.py        plain JAX functions in a claim of the ledger
exhibits.py         counterexamples that are known beforehand
float_comparison.py what floats say of two programs
floats.py           two programs against the exact value, within a derived tolerance
trials.py           their arguments, on every device
trial_figures.py    what one trial finds
kept_trials.py      finished trials in a folder
hosts.py            several processes that share the trials
devices.py          the platform that work is done on
memory.py           memory predicted before it is used
side_error.py       the error of one side
floats_evidence.py  a float comparison as evidence
decision.py         one claim decided
certificate.py      the outcome as a file

Two JAX functions:

equivalence.py      the question, its decision and its certificate
specification.py    their inputs, and how a function is traced
domain.py           what the inputs range over
parametrized.py     inputs that range over a set such as the simplex
members.py          whether a given array lies in such a set
effort.py           how hard to try
all_sizes.py        a proof for all sizes of symbolic dimensions
generalization.py   symbolic dimensions in the place of sizes
watched_sizes.py    functions that look at sizes while they are traced
thresholds.py       numbers beyond which sizes are tried
prime_fields.py     equality at random points of prime fields, with the chance of a wrong answer
identity.py         the one test of identity, for claims and for functions
fields_evidence.py  what it says of two functions as evidence
missing.py          the law that is missing where they do not say so, its line, and what to do
pieces_evidence.py  large programs compared in pieces, as evidence
pieces.py           both programs cut where their values agree, and each piece compared
fingerprints.py     both at one random point, to see where they agree
cut.py              where they are cut
instance.py         a piece that was proved, met again
whole_inputs.py     integers and booleans as variables: all of them, a solver, or letters
lookups             integers that only choose rows and are compared, as letters
unary.py            integers that are compared and say one place, as truth values of k <= i
entry_by_entry.py   functions of integers at every place, for all sizes
functions_of_entries.py  such functions that choose and are compared, as inputs
inner_integers.py   integers that are computed of real numbers and choose, as inputs
ordered_integers.py  integers that are sorted, as real numbers
batches.py          questions that share the chance of error
beside.py           an index that lies beside its array, as a hazard
loops_evidence.py   long loops compared without unrolling, as evidence
sampling.py         both functions in float64: what prime fields cannot see
refutation.py       what is said where prime fields do not certify
masked_evidence.py  functions with infinities behind masks, as evidence
masks               their programs without infinities: a number, and where it is infinite
conditionals.py     conditionals that the input decides, as selections
traces.py           both functions at given sizes, each traced once
witness.py          the search for an input on which two programs differ, of functions and of the ledger
simplification.py   such an input made simple
tie_points.py       inputs at which a decision is between equal numbers
landmarks.py        inputs near the constants of both programs
explained.py        whether rounded constants explain a difference
strict_decisions.py decisions that are between different numbers for almost all inputs
except_where.py     equal except where an input has some value
kernels.py          kernels of Pallas as the program that JAX's interpreter runs
kernel_memory.py    their memory that nobody has written
reproducer.py       such an input as a JAX program
constant_readings.py  the float constants of a program
agreement.py        exact values compared to many digits
derivative.py       the derivatives of two functions as functions
in_floats.py        what floats do to both functions, beside the verdict
rounding_bound.py   how far each may be from the exact value
hazards.py          an input at which one fails and the other does not
extremes.py         where such inputs are looked for
on_device.py        both functions run
demands.py          what a test may ask of the floats
recheck.py          a certificate decided again from its file
confirmation.py     a symbolic proof confirmed in prime fields
named_function.py   functions by name
"""
