"""Chapter K: what real Transformers have and the papers omit.

transformers.py  whole blocks as layers of Theorem 1
parts.py         norms, biases, gates, positions
attention.py     variants of attention
dependence.py    what is static and what dynamic
ends.py          embeddings, logits, cross-attention, the output softmax
blocks.py        blocks in letters
networks.py      the same blocks as JAX networks
"""
