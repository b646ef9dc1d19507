"""A real network's output as the papers' sum: input path, bias path, and one term for each layer's activation.

decomposition.py   the terms, the two streams, and what they add up to
sources.py         what contributes: input, biases, and in each layer its activation, heads or neurons
streams.py         a state as a sum of streams, all sent through the same frozen layers
papers.py          the papers' Transformer in two streams
frozen.py          attention, norms and feed-forward networks with their dynamic coefficients frozen
operators.py       linear maps of tokens and features, kept in factors
parameters.py      A, B̄, C, b, c of each layer as such maps
closed_forms.py    the terms by Theorem 1, every parameter composed of those
attribution.py     what every source contributes, token by token, to a logit, a feature, a similarity
weighted.py        the stream in which each of those has a weight, whose derivatives are the contributions
removal.py         what is left without a layer, and a bound
interventions.py   what changes when a term, head or token is ablated or patched, and a bound
cache.py           every intermediate value of a forward pass
lens.py            the words of every depth
targets.py         what is attributed, as people write it
adaptation.py      what an adapter changes, term by term
measurements.py    lengths, shares, errors by depth, what changes with the input
sourced.py         the same from the jaxpr of any JAX function (sourced_rules.py, sourced_value.py)
"""

from uat_jax.decomposition.adaptation import adaptation as adaptation
from uat_jax.decomposition.attribution import Attribution as Attribution
from uat_jax.decomposition.attribution import Coordinate as Coordinate
from uat_jax.decomposition.attribution import Difference as Difference
from uat_jax.decomposition.attribution import Direction as Direction
from uat_jax.decomposition.attribution import Logit as Logit
from uat_jax.decomposition.attribution import Similarity as Similarity
from uat_jax.decomposition.attribution import attribute as attribute
from uat_jax.decomposition.attribution import attribute_by_depth as attribute_by_depth
from uat_jax.decomposition.attribution import contributions as contributions
from uat_jax.decomposition.attribution import contributions_by_depth as contributions_by_depth
from uat_jax.decomposition.attribution import features_by_token as features_by_token
from uat_jax.decomposition.attribution import similarity as similarity
from uat_jax.decomposition.attribution import similarity_by_token as similarity_by_token
from uat_jax.decomposition.cache import Activations as Activations
from uat_jax.decomposition.cache import activations as activations
from uat_jax.decomposition.closed_forms import closed_form as closed_form
from uat_jax.decomposition.decomposition import Decomposition as Decomposition
from uat_jax.decomposition.decomposition import decompose as decompose
from uat_jax.decomposition.decomposition import terms as terms
from uat_jax.decomposition.decomposition import two_streams as two_streams
from uat_jax.decomposition.interventions import Intervention as Intervention
from uat_jax.decomposition.interventions import intervene as intervene
from uat_jax.decomposition.lens import Lens as Lens
from uat_jax.decomposition.lens import logit_lens as logit_lens
from uat_jax.decomposition.parameters import Layer as Layer
from uat_jax.decomposition.parameters import operators as operators
from uat_jax.decomposition.removal import Removal as Removal
from uat_jax.decomposition.removal import removal as removal
from uat_jax.decomposition.removal import removal_bounds as removal_bounds
from uat_jax.decomposition.removal import without_activation as without_activation
from uat_jax.decomposition.removal import without_layer as without_layer
from uat_jax.decomposition.sourced import SourcedDecomposition as SourcedDecomposition
from uat_jax.decomposition.sourced import decompose_function as decompose_function
from uat_jax.decomposition.sources import Source as Source
