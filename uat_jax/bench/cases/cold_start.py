"""What a first proof costs, from starting Python to the verdict: every program is a fresh interpreter.

The baseline imports JAX and SymPy, which nobody can avoid. Compiled kernels are not kept.
"""

from __future__ import annotations

from uat_jax.bench.case import Case, Experiment, Program, WrongAnswerError
from uat_jax.bench.interpreters import run

BASELINE = "import jax, sympy"
PROGRAMS = {
    BASELINE: ("import jax, sympy; print('imported')", "imported"),
    "Python alone": ("print('started')", "started"),
    "import uat_jax": ("import uat_jax as uj; print(len(uj.claims()) > 0)", "True"),
    "first proof: lemma-1": ("import uat_jax as uj; print(uj.prove('lemma-1').verdict)", "PROVED"),
    "derivation, L = 3": ("import uat_jax as uj; print(uj.derive('residual', depth=3).holds())", "True"),
    "derivation, L = 96": ("import uat_jax as uj; print(uj.derive('residual', depth=96).holds())", "True"),
}
"""Name → a program and what it must print."""


def build() -> Experiment:
    """All programs."""
    programs = {name: Program(printed, (program,), compiled=False) for name, (program, _) in PROGRAMS.items()}
    return Experiment(programs, check, wrong=lambda text: text + "?")


def printed(program: str) -> str:
    """What a fresh interpreter prints; the last line of its complaint if it fails."""
    ended = run("-c", program)
    return ended.printed if ended.code == 0 else ended.last_words


def check(name: str, text: str) -> None:
    """The program printed what it must."""
    program, answer = PROGRAMS[name]
    if text != answer:
        raise WrongAnswerError(f"wanted {answer!r} from `{program}`, got {text!r}")


CASES = (
    Case(
        name="cold-start",
        question="What does a first proof cost, from starting Python to the verdict?",
        build=build,
        compiled=False,
        quick=({},),
        standard=({},),
        full=({},),
        rounds=7,
    ),
)
