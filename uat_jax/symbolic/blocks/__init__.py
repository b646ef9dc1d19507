"""The blocks of real Transformers on token matrices, and the layers of Theorem 1 that they are on vec(X).

    sizes.py          the symbolic sizes, and matrices that act on features or on tokens alone
    norms.py          LayerNorm, RMSNorm, no norm:   vec(norm(X)) = N(X) vec(X) + 1 ⊗ β
    attention.py      heads of full width:           vec(MHA(X)) = M(X) vec(Z) + a
    feed_forward.py   plain, gated, mixture:         vec(FFN(X)) = C(X) σ(B vec(X) + b) + c(X)
    block.py          how they are put together:     vec(block(X)) = A x + c + C σ(B x + b)

What is no matrix product is an opaque function of its argument: the reciprocal deviations of the norms, the scores of
attention (masks, positions, scales, …), the gates of a mixture.  What is proved with these letters holds for all of
them.  Nothing of it is in the papers: it is chapter K of the ledger.
"""
