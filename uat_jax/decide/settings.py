"""What the evidence is taken with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from uat_jax.devices import DEVICES
from uat_jax.errors import InputError

if TYPE_CHECKING:
    from uat_jax.decide.demands import Tolerance

DTYPES = ("float64", "float32", "bfloat16", "float16")


Hazards = Literal["warn", "forbid", "ignore"]
"""What is done about inputs at which one of two equal functions fails in floats."""


class CertifySettings(TypedDict, total=False):
    """The settings of `uat_jax.certify` by name; its docstring says what they mean, its signature the defaults.

    A function that passes settings on says `**settings: Unpack[uat_jax.CertifySettings]`, and a type checker finds a
    mistyped one.
    """

    error: float
    seed: int
    budget: float | None
    wrt: Literal["grad"] | None
    almost_everywhere: bool
    sizes: Sequence[Mapping[str, int]] | None
    memory: float | str
    generalize: bool
    weights: Mapping[str, Any] | None
    progress: Callable[[str], None] | None


class EquivalenceSettings(CertifySettings, total=False):
    """The settings of a test of equivalence: those of `uat_jax.certify`, and what floats must do.

    `uat_jax.assert_equivalent` says what the last two mean.
    """

    rounding: float | Tolerance | None
    hazards: Hazards


class LedgerSettings(TypedDict, total=False):
    """The settings of `uat_jax.prove` by name; `Settings` says what they mean, and what they are otherwise."""

    depth: int
    dtypes: tuple[str, ...]
    trials: int
    seed: int
    device: str | None
    precision: str
    weights: str | None
    inputs: str | None
    keep: str | None


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    ``depth``: number of layers of the networks that are evaluated and of the closed form that is compared with them
    (claims for all depths are proved for all depths regardless).  ``dtypes``: of the float evidence (none: no such
    evidence).  ``trials``: random networks and inputs, trial t drawn from ``seed`` and t alone.  ``device``: "cpu",
    "gpu", "tpu" or None for JAX's default.  ``precision``: of every matrix product.  ``weights``/``inputs``: paths of
    the user's own network and inputs.  ``keep``: a folder for finished trials of the float evidence, which a later run
    takes from there (`uat_jax.decide.kept_trials`).  Raises `InputError` for anything out of range.
    """

    depth: int = 3
    dtypes: tuple[str, ...] = DTYPES
    trials: int = 16
    seed: int = 0
    device: str | None = None
    precision: str = "highest"
    weights: str | None = None
    inputs: str | None = None
    keep: str | None = None

    def stated(self) -> dict[str, Any]:
        """What a certificate says: everything but where trials are kept."""
        return {name: value for name, value in asdict(self).items() if name != "keep"}

    def __post_init__(self) -> None:
        if isinstance(self.depth, bool) or not isinstance(self.depth, int) or self.depth < 1:
            raise InputError(f"depth {self.depth!r} is not possible; wanted a whole number of layers, at least 1")
        if type(self.trials) is not int or self.trials < 1:
            raise InputError(f"{self.trials!r} trials are not possible; wanted a whole number, at least 1")
        if type(self.seed) is not int or not 0 <= self.seed < 2**31:
            raise InputError(f"seed {self.seed!r} is not possible; wanted a whole number from 0 to 2^31 - 1")
        if not isinstance(self.dtypes, tuple):
            raise InputError(f"dtypes {self.dtypes!r} is not possible; wanted a tuple of names, such as ('float32',)")
        for dtype in self.dtypes:
            if dtype not in DTYPES:
                raise InputError(f"unknown dtype {dtype!r}; wanted one of {', '.join(DTYPES)}")
        if self.device is not None and self.device not in DEVICES:
            raise InputError(f"unknown device {self.device!r}; wanted one of {', '.join(DEVICES)}")
        if self.precision not in ("default", "high", "highest"):
            raise InputError(f"unknown matmul precision {self.precision!r}; wanted default, high or highest")
        if self.keep == "":
            raise InputError("got no name for the folder of finished trials; wanted one, such as trials")
        if self.inputs and not self.weights:
            raise InputError("inputs were given without weights; wanted both, or weights alone")
