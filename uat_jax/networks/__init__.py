"""The networks of the papers in plain JAX, as anyone would write them; they know nothing of the theory.

activations.py        the elementwise functions σ, by name
residual.py           x_j = (A_j x + c_j) + C_j σ(B_j x + b_j), Eq. 20
transformer.py        y = MHA(x), x_j = y + FFN(y), Eq. 30
stack.py              layers of one shape kept as one, and the loop over them
network.py            a finished network: kind, activation, checked layers
weights_file.py       networks and inputs in .npz files
digits.py             two trained networks that read handwritten digits, and images they have not seen
train_digits.py       the script that trained them, `python -m uat_jax.networks.train_digits`
block.py              the blocks of real Transformers: pre-norm, post-norm, parallel, residual attention
model.py              a language model, token numbers to features or logits
checkpoint.py         a Hugging Face folder: its config and its tensors
families/             models from such a folder, each family by a description of its own, and LoRA adapters of PEFT
tokenizer.py          texts as token numbers, by the folder's own tokenizer
minilm.py             a trained sentence encoder that comes as a package
decoder.py            embedding, blocks, final norm, unembedding
adapted.py            a matrix with a low-rank update beside it, W + s L R, and products with it
multihead.py          attention with full-width heads, groups, biases, masks, positions; cross-attention
norms.py              LayerNorm, RMSNorm
positions.py          RoPE, ALiBi, buckets of distances
rope_scaling.py       RoPE for longer texts: linear, dynamic, llama3, yarn
masks.py              causal, sliding window, padding
patches.py            images as tokens
padding.py            masks of padding, texts of different lengths, the tokens that fill up
feed_forward_part.py  plain, gated, mixtures of plain and of gated experts
heads.py              the papers' slice heads with a mask, and as full-width heads
convolution.py        one-dimensional convolution along either axis
lora.py               low-rank adapters on the papers' layers
pruning.py            networks with terms or layers left out
drawing.py            random layers: sizes and dtypes checked, one draw per layer
shapes.py             the shapes of a network's arrays in letters
fields.py             the shapes of one part (a norm, an attention)
"""

from uat_jax.networks import digits as digits
from uat_jax.networks.activations import ACTIVATIONS as ACTIVATIONS
from uat_jax.networks.activations import Activation as Activation
from uat_jax.networks.activations import activation as activation
from uat_jax.networks.network import Network as Network
from uat_jax.networks.residual import ResidualLayer as ResidualLayer
from uat_jax.networks.residual import initialise_residual as initialise_residual
from uat_jax.networks.residual import residual_layer as residual_layer
from uat_jax.networks.residual import residual_network as residual_network
from uat_jax.networks.transformer import TransformerLayer as TransformerLayer
from uat_jax.networks.transformer import attention as attention
from uat_jax.networks.transformer import attention_weights as attention_weights
from uat_jax.networks.transformer import feed_forward as feed_forward
from uat_jax.networks.transformer import initialise_transformer as initialise_transformer
from uat_jax.networks.transformer import transformer as transformer
from uat_jax.networks.weights_file import load_inputs as load_inputs
from uat_jax.networks.weights_file import load_network as load_network
from uat_jax.networks.weights_file import save_network as save_network
