"""The ledger of claims: a package per chapter, a file per subject.

claim.py            what a claim is
edit.py             the one place in which a false statement differs from a true one
quotes.py           which rows quote a paper
record.py           a row with nothing to decide
source.py           where a statement is printed
chapter.py          rows under a title, and the script that argues them
ledger.py           all of them: `claims`, `find`, `select`, `prove`, `recheck`
parallel.py         many claims decided by several processes
foundations/        A, F1: UAT sums, and what a DUAT function is
matrix_vector/      B–D: layers as matrices, the diamond product
attention/          E: attention as a matrix, density, masks and context
layers/             G, F2, F3: networks of many layers
lora/               H: low-rank adapters
pruning/            I: pruning
real/               K: real Transformers
complexity/         L: what the forms cost
interpretations.py  J: what is listed only
bookkeeping.py      G22, M: references and numbers
names.py            G5–G16: names that are used and not defined
beyond/             theorems that no paper states, and DUAT's Fig. 2
"""
