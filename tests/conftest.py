"""Strict JAX for every test, and the random seed in every test's report."""

import gc
import os

# One thread per process: there is a process per core, and threads of both would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Thousands of programs are compiled and nearly all run once: XLA's cheapest code generator, which also is one more
# compiler that the claims hold under, and each program in one part.  `XLA_FLAGS= pytest` compiles as users do.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_backend_extra_options=xla_cpu_disable_new_fusion_emitters "
    "--xla_cpu_parallel_codegen_split_count=1",
)

gc.disable()  # while modules are imported and tests collected, which leaves no garbage

from collections import Counter

import excerpt
import flint
import jax
import pytest

from uat_jax import compilation_cache

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


def pytest_configure(config):
    """Campaigns that are not run are not collected, and compiled programs are kept in `.pytest_cache`.

    They are shared by the workers of a run, and with the next run.  What JAX finds there is what it would compile: the
    name is a hash of program, flags and versions.
    """
    excerpt.CAMPAIGNS = config.option.markexpr != "not campaign"
    if hasattr(config, "cache"):  # not with -p no:cacheprovider
        os.environ["UAT_JAX_CACHE"] = str(config.cache.mkdir("compiled"))
        compilation_cache.enable()


def pytest_collection_finish():
    """What was imported and collected stays: the garbage collector leaves it alone, and seldom looks at the rest."""
    gc.freeze()
    gc.set_threshold(50_000, 10, 40)
    gc.enable()


def pytest_sessionfinish():
    """Garbage is looked for once more, and not five times among all that is there, as pytest does at the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def what_earlier_files_made_stays():
    """Whoever looks for garbage, as benchmarks and runs of pytest within a test do, looks at what this file made."""
    gc.freeze()


@pytest.fixture(autouse=True)
def configuration_is_left_alone():
    """No test (and nothing it calls) may switch x64 or a promotion rule on for others, or the precision of balls."""
    before, precision = dict(jax.config.values), flint.ctx.prec
    yield
    assert flint.ctx.prec == precision, f"the precision of balls was left at {flint.ctx.prec} bits"
    after = dict(jax.config.values)
    changed = {name for name in before if before[name] != after[name]}
    assert not changed, f"global JAX configuration was changed: {sorted(changed)}"


@pytest.fixture
def standard_promotion():
    """Programs that mix integers and floats as users write them, under JAX's own rules of promotion."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def pytest_terminal_summary(terminalreporter):
    """The table of negative twins: for each kind of change how many there were, and how many were refuted."""
    refuted, made, claims = Counter(), Counter(), 0
    for report in terminalreporter.stats.get("passed", []):
        for name, table in getattr(report, "user_properties", []):
            if name == "twins":
                claims += 1
                for kind, (some, number) in table.items():
                    refuted[kind] += some
                    made[kind] += number
    if claims:
        terminalreporter.section(f"negative twins of {claims} proved claims", sep="-")
        for kind in sorted(made, key=lambda k: -made[k]):
            terminalreporter.write_line(f"{kind:32} {refuted[kind]:6} of {made[kind]:6} refuted")
