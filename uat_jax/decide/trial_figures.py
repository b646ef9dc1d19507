"""What one trial finds: the distance of both outputs from the exact value, and how far rounding may carry them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.kept_trials import KeptTrials, TrialFigures
from uat_jax.decide.side_error import distances, ulps
from uat_jax.decide.trials import Program, Trials, block_size, check_rows
from uat_jax.errors import FloatRangeError, InputError, ShapeError, UnsupportedError
from uat_jax.interpret.closed_form import precision
from uat_jax.interpret.tracing import single_output
from uat_jax.interpret.work import largest_array
from uat_jax.numbers.balls.balls import Balls, enclose
from uat_jax.numbers.floats.matmul_precision import DotPrecisions, unit_roundoff
from uat_jax.numbers.floats.rounding import standard_deviation, standard_deviations

NOISE = 2**31 - 1
"""Next to seed and trial, the entropy of the trial's rounding noise."""

WALK_ENTRIES = 1 << 20
"""So many entries of 8 bytes has the largest array of one walk at most, where it holds several trials."""


@dataclass(frozen=True)
class TwoPrograms:
    """Two programs f and g for one function, the function `reference` whose exact value is the truth, and the trials.

    `seed` and `samples` are those of the rounding noise, `precision` the matmul precision where a program states none.
    """

    f: Program
    g: Program
    reference: Program
    trials: Trials
    precision: str
    seed: int
    samples: int

    @cached_property
    def jaxprs(self) -> tuple[ClosedJaxpr, ClosedJaxpr, ClosedJaxpr]:
        """The jaxprs of f, g and the reference at one trial."""
        trace = lambda program: jax.make_jaxpr(program)(self.trials.structure)
        f, g = trace(self.f), trace(self.g)
        return f, g, f if self.reference is self.f else trace(self.reference)

    @cached_property
    def output(self) -> Any:
        """The abstract output that f, g and the reference share.  Raises `ShapeError`, `InputError` if they do not."""
        first, *others = [single_output(program) for program in self.jaxprs]
        for other in others:
            got = f"f returns {first.str_short()} and the other side {other.str_short()}"
            if other.shape != first.shape:
                raise ShapeError(f"{got}; want one shape")
            if other.dtype != first.dtype:
                raise InputError(f"{got}; want one dtype")
        return first

    @cached_property
    def block(self) -> int:
        """Trials in a block."""
        return block_size(self.trials.structure, self.trials.batched, self.output)

    @cached_property
    def dots(self) -> DotPrecisions:
        """The measured precision of the dot products of both programs: of all of them after the first trial."""
        return DotPrecisions(self.trials.devices[0], self.precision)

    @property
    def precisions(self) -> dict[str, dict[str, float]]:
        """The precisions that both programs have, by dtype and matmul precision."""
        if not self.dots.met:  # no trial was left for this process
            for program in self.jaxprs[:2]:
                standard_deviation(program, self.first, np.random.default_rng(), samples=0, dot_precision=self.dots)
        return self.dots.met

    @cached_property
    def first(self) -> list[np.ndarray]:
        """The leaves of trial 0."""
        return self.trials.trial_leaves(0, self.block)

    def measure(self, kept: KeptTrials, process: int, processes: int) -> None:
        """Add the figures of every trial t ≡ process (mod processes), but for those already kept.

        Every process runs all blocks: kernels cost little beside the exact values and the noise of one trial.
        """
        kernels: list[Callable] = []
        for rows in self.trials.blocks(self.block, range(-(-self.trials.count // self.block))):
            batched = self.trials.rows(rows)
            check_rows(batched)
            places = [(int(t), int(i)) for t, i in zip(*np.unique(rows, return_index=True), strict=True)]
            mine = [(t, i, self.trials.digest(batched, i)) for t, i in places if t % processes == process]
            missing = [(trial, place, digest) for trial, place, digest in mine if not kept.take(trial, digest)]
            if not missing:
                continue
            kernels = kernels or [self.trials.kernel(program, self.block) for program in self.jaxprs[:2]]
            outputs = [kernel(batched) for kernel in kernels]
            for start in range(0, len(missing), self._together):
                some = missing[start : start + self._together]
                trials, places = [trial for trial, _, _ in some], [place for _, place, _ in some]
                deviations = self._deviations(trials, [leaf[places] for leaf in batched])
                for (trial, place, digest), deviation in zip(some, deviations, strict=True):
                    leaves = self.trials.leaves([leaf[place] for leaf in batched], self.trials.shared)
                    kept.add(trial, digest, self._figures(trial, leaves, [y[place] for y in outputs], deviation))

    def _figures(
        self, trial: int, leaves: list[np.ndarray], outputs: Sequence[np.ndarray], deviations: np.ndarray
    ) -> TrialFigures:
        truth = self._truth(leaves)
        with precision(self._bits):
            errors = np.stack([distances(_finite(y, trial), truth) for y in outputs])
        ulp = float(ulps(truth[None], self.output.dtype)[0, 0])
        return TrialFigures(errors=errors, deviations=deviations, ulp=ulp)

    @cached_property
    def _together(self) -> int:
        """How many trials have their noise in one walk: arrays fit a cache; integers differ from trial to trial alone.

        (Copies that choose other rows are evaluated one after the other.)
        """
        leaves = jax.tree.leaves(self.trials.structure)
        if not all(jnp.issubdtype(leaves[i].dtype, jnp.floating) for i in self.trials.batched):
            return 1
        copies = (1 + self.samples) * max(largest_array(program.jaxpr) for program in self.jaxprs[:2])
        return max(1, WALK_ENTRIES // max(1, copies))

    def _truth(self, leaves: list[np.ndarray]) -> np.ndarray:
        """The exact output of one trial as balls, (entries,)."""
        shared = iter(self._shared_balls)
        exact = lambda i, x: next(shared) if i not in self.trials.batched else _exact(x)
        values = [exact(i, x) for i, x in enumerate(leaves)]
        return enclose(self.jaxprs[2], values, bits=self._bits)[0].ravel()

    @cached_property
    def _bits(self) -> int:
        """The precision of exact outputs: a radius is 2^-64 of a rounding."""
        return 64 + int(-np.log2(unit_roundoff(self.output.dtype)))

    @cached_property
    def _shared_balls(self) -> list[Any]:
        return [_exact(leaf) for leaf in self.trials.shared]

    def _deviations(self, trials: Sequence[int], batched: Sequence[np.ndarray]) -> np.ndarray:
        """σ̂ of every entry of both programs in some trials: float64 (trials, 2, entries)."""
        leaves = self.trials.leaves(batched, self.trials.shared)
        try:
            found = [self._of_program(program, trials, leaves) for program in self.jaxprs[:2]]
        except UnsupportedError:  # such as trials that take different branches
            if len(trials) == 1:
                raise
            parts = [self._deviations([t], [leaf[i : i + 1] for leaf in batched]) for i, t in enumerate(trials)]
            return np.concatenate(parts)
        if not np.isfinite(found).all():
            raise FloatRangeError(
                "the rounding noise is not finite: the arguments are too near a singularity; move them"
            )
        return np.stack(found, axis=1)

    def _of_program(self, program: ClosedJaxpr, trials: Sequence[int], leaves: list[np.ndarray]) -> np.ndarray:
        """σ̂ of every entry of one program: (trials, entries)."""
        batched = self.trials.batched
        if len(trials) == 1:  # its own integers are plain arrays
            leaves, batched = [x[0] if i in batched else x for i, x in enumerate(leaves)], frozenset[int]()
        randoms = [np.random.default_rng([self.seed, trial, NOISE]) for trial in trials]
        found = standard_deviations(program, leaves, batched, randoms, samples=self.samples, dot_precision=self.dots)
        return found.reshape(len(trials), -1)


def _exact(leaf: np.ndarray) -> Any:
    """A leaf as exact balls; integers and booleans stay as they are."""
    return Balls().number(leaf) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf


def _finite(output: np.ndarray, trial: int) -> np.ndarray:
    """A device's output as float64 (entries,).  Raises `FloatRangeError` for NaN and infinity."""
    found = output.astype(np.float64).ravel()
    bad = ~np.isfinite(found)
    if bad.any():
        raise FloatRangeError(
            f"trial {trial} gives {found[bad][0]} in {output.dtype} from finite arguments; "
            "scale the arguments or take a wider dtype"
        )
    return found
