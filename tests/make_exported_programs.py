"""Write the artifacts of `exported_programs/`, one file for each function, by the JAX that runs this.

    python tests/make_exported_programs.py

They are read by the tests with other versions of JAX, and compared with each other.
"""

from pathlib import Path

import jax
from exported_functions import scaled

FOLDER = Path(__file__).parent / "exported_programs"
NAMES = (
    "GPT-2 block", "exact gelu", "log gamma", "conv net", "LSTM", "sort with a passenger", "value at the argmax",
    "cumulative logsumexp", "scatter add", "triangular solve", "fft", "cond on data", "top k", "solve",
    "dropout with a fixed key", "gradient of a GPT-2 block", "gradient of a conv net", "gradient of a scan",
    "fori loop", "associative scan", "argsorted values", "segment sum", "rfft and back", "bfloat16",
    "tree of outputs",
)  # fmt: skip


def main() -> None:
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # no folder of the machine that wrote them
    for name in NAMES:
        function, specs = scaled(name, 1.5)
        artifact = jax.export.export(jax.jit(function))(*specs)
        version = ".".join(jax.__version__.split(".")[:2])
        (FOLDER / f"{name.replace(' ', '_')}.{version}.jax").write_bytes(artifact.serialize())


if __name__ == "__main__":
    main()
