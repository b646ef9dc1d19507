"""An indexed normal form: two functions that have it in common are equal at all sizes, for all inputs."""

from uat_jax.numbers.indexed.proof import Inputs as Inputs
from uat_jax.numbers.indexed.proof import Open as Open
from uat_jax.numbers.indexed.proof import Proof as Proof
from uat_jax.numbers.indexed.proof import proved as proved
