"""What a family of models is, as data: names of tensors, names of options, parts of a block.

A family is one file with one or more `Family` in it; `build.py` makes a `Model` of a checkpoint by it.  A tensor is
named by its role, without the ``.weight`` or ``.bias`` behind it:

- of a block: ``norm_1``, ``after_1``, ``norm_2``, ``after_2``; ``query``, ``key``, ``value`` or all three as ``qkv``;
  ``query_norm``, ``key_norm``; ``output``; ``hidden`` and ``project``, or ``gate``, ``up`` and ``down``, or ``gate_up``
  and ``down``; ``router``, with ``{e}`` for the number of the expert in the names of ``gate``, ``up`` and ``down``;
  of a state space ``into_gate``, ``convolution``, ``steering``, ``step``, ``decay``, ``skip`` and ``out``;
- of the whole: ``embedding``, ``positions``, ``types``, ``embedding_norm``, ``affine``, ``final_norm``, ``distances``;
  of images ``patches``, and under their full names ``start``, from which the first token starts, and ``places``.

Sizes are letters: V words, P positions, M features, L layers, h heads of width d, g groups, F hidden features, T types
of tokens, E experts, B buckets of distances, e features of the embedding, c channels, H pixels of a side, p of a patch;
S states of a channel, K tokens of a convolution, R numbers that the steps of a state space are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from uat_jax.networks.families.config import Config
from uat_jax.typing import JsonObject

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Head:
    """Names of a head that is not linear: norm(σ(x W + b)) W_U + b_U."""

    dense: str
    out: str
    """Its matrix; the embedding's if this is not in the checkpoint and the config ties them."""
    norm: str | None = None
    activation: str | None = None
    """Name of σ in a config; None is the one that the config names."""
    out_bias: str | None = None
    """Where the bias of the output is, if it is not beside its matrix."""
    inside: bool = False
    """Whether ``dense`` belongs to the model without head, as a pooler does, and carries its prefix."""


@dataclass(frozen=True)
class End:
    """How an architecture ends: in features, logits, or scores of labels."""

    unembedding: str | None = None
    """Name of the matrix behind the final norm."""
    bias: bool = False
    """Whether logits have a bias beside that matrix."""
    tied: bool | None = None
    """Whether the matrix is the embedding's where the config does not say; None: it never is."""
    head: Head | None = None
    reads: Literal["each", "first", "last"] = "each"


FEATURES = End()
LANGUAGE = End("lm_head", tied=False)
TIED = End("lm_head", tied=True)
LABELS = End("score", reads="last")
"""Scores of labels, linear in the features of the last token."""


@dataclass(frozen=True)
class Size:
    """A whole number in the config, or one that follows from the others."""

    name: str
    """What it is called; empty: its `default` is what it is."""
    default: int | Callable[[Mapping[str, int]], int] | None = None
    """What it is where the config does not say; None: it must."""
    also: str | None = None
    """Another name for it."""


TRANSFORMER_SIZES: Mapping[str, Size] = {
    "V": Size("vocab_size"),
    "M": Size("hidden_size"),
    "L": Size("num_hidden_layers"),
    "h": Size("num_attention_heads"),
    "F": Size("intermediate_size"),
    "P": Size("max_position_embeddings"),
}
GROUPED_SIZES: Mapping[str, Size] = {**TRANSFORMER_SIZES, "g": Size("num_key_value_heads", lambda of: of["h"])}
WIDE_SIZES: Mapping[str, Size] = {**GROUPED_SIZES, "d": Size("head_dim", lambda of: max(of["M"] // of["h"], 1))}

WITHOUT_EFFECT = frozenset(
    """
    _attn_implementation _attn_implementation_autoset _commit_hash _name_or_path _num_labels
    activation_dropout add_bos_token add_eos_token architectures attention_dropout
    attention_probs_dropout_prob attention_softmax_in_fp32 attn_implementation attn_pdrop auto_map bad_words_ids
    begin_suppress_tokens bos_token_id cache_implementation chunk_size_feed_forward classifier_dropout
    classifier_dropout_prob decoder_start_token_id directionality diversity_penalty do_sample dropout dropout_rate
    dtype early_stopping embd_pdrop embedding_dropout encoder_no_repeat_ngram_size eos_token_id
    exponential_decay_length_penalty finetuning_task forced_bos_token_id forced_eos_token_id gradient_checkpointing
    hidden_dropout hidden_dropout_prob id2label init_std initializer_factor initializer_range is_encoder_decoder
    label2id layerdrop length_penalty max_length min_length model_type n_ctx n_special no_repeat_ngram_size
    num_beam_groups num_beams num_labels num_return_sequences output_attentions output_hidden_states output_past
    output_router_logits output_scores pad_token_id pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers
    pooler_size_per_head pooler_type predict_special_tokens prefix pretraining_tp problem_type qa_dropout
    remove_invalid_values reorder_and_upcast_attn repetition_penalty resid_pdrop residual_dropout return_dict
    return_dict_in_generate router_aux_loss_coef router_jitter_noise sep_token_id seq_classif_dropout slow_but_exact
    summary_activation summary_first_dropout summary_last_dropout summary_proj_to_labels summary_type
    summary_use_proj suppress_tokens task_specific_params temperature tf_legacy_loss tie_encoder_decoder
    tie_weights_ tie_word_embeddings tokenizer_class top_k top_p torch_dtype torchscript transformers_version
    typical_p use_bfloat16 use_cache
    """.split()
)
"""Options of `transformers` that do not change what a model computes, or only while it is trained or while it writes.

That a summary is asked for says nothing: no architecture here takes one.  ``tie_word_embeddings`` is asked for where
there is a matrix to tie.
"""


@dataclass(frozen=True)
class Family:
    """How the checkpoints of one architecture become models."""

    model_type: str
    """What their config calls it."""
    architectures: Mapping[str, End]
    """By the name that ``architectures`` has in a config."""
    prefix: str
    """What a model with a head puts before the names of the model without."""
    layer: str
    """What stands before the names of a block; ``{}`` is its number, from 0."""
    block: Mapping[str, str]
    """Role → name, of the tensors of a block."""
    whole: Mapping[str, str]
    """Role → name, of the other tensors."""
    sizes: Mapping[str, Size] = field(default_factory=lambda: TRANSFORMER_SIZES)
    kind: Literal["pre-norm", "post-norm", "parallel", "lone"] = "pre-norm"
    norm: Literal["layer", "rms", "rms+1", "fixed"] = "rms"
    """LayerNorm, RMSNorm, RMSNorm with 1 + w in place of w, LayerNorm without parameters."""
    causal: bool = True
    activation: tuple[str, str] = ("hidden_act", "silu")
    """The option that names σ, and σ where it does not."""
    epsilon: tuple[str, float] | float = ("rms_norm_eps", 1e-6)
    """The option that gives ε, and ε where it does not; or ε itself."""
    biases: Mapping[str, bool | tuple[str, bool]] = field(default_factory=dict)
    """Role → whether there is a bias; or the option that says so, and what holds where it does not."""
    conv1d: bool = False
    """Whether matrices stand as they act, x W, and not transposed."""
    fused: Literal["groups", "thirds"] = "groups"
    """How ``qkv`` is put together: (g, h/g + 2, d) with keys and values of a group last, or all queries first."""
    pairs: bool = False
    """Whether RoPE turns neighbouring features, and not k and k + d/2."""
    together: bool = False
    """Whether norms of queries and keys are each one norm over all heads."""
    offset: int = 0
    """How many rows stand before that of the first position."""
    behind_padding: bool = False
    """Whether positions begin behind the number of the padding token, and P counts what stands before them."""
    groups: Callable[[Config, Sizes], int] | None = None
    """How many groups of keys and values there are, where no option says it alone."""
    options: Callable[[Config, Sizes], JsonObject] = lambda config, sizes: {}
    """Entries of `Architecture` that depend on the config: windows, RoPE, scale, caps, experts, the kind of block."""
    multipliers: Callable[[Config, Sizes], Mapping[str, float]] = lambda config, sizes: {}
    """What ``embedding``, ``residual`` (of either part of a block) and ``logits`` are multiplied by."""
    names: Callable[[Config, Sizes], Mapping[str, str]] = lambda config, sizes: {}
    """Roles of a block, or of the whole, that only some configs have."""
    only: JsonObject = field(default_factory=dict)
    """Option → the one value that is supported; any other is refused by name."""
    ignored: frozenset[str] = frozenset()
    """Options that say nothing here, beside those `WITHOUT_EFFECT`."""
    buffers: str = ""
    """A pattern of names, without prefix, of tensors that nothing here is computed from."""
    head_buffers: str = ""
    """The same of tensors that stand outside of the prefix."""
