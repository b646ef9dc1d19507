"""The processor time of imports and commands, beside that of importing JAX: ``python benchmarks/start.py``.

Each is started a few times in a process of its own, with compiled bytecode, and the least time counts.
"""

import os
import resource
import subprocess
import sys
import tempfile

ROUNDS = 5
JAX = "import jax"
STARTS = {
    JAX: ["-c", JAX],
    "import uat_jax": ["-c", "import uat_jax"],
    "import jax, uat_jax": ["-c", "import jax, uat_jax"],
    "uat_jax.certify": ["-c", "import uat_jax; uat_jax.certify"],
    "one array of JAX": ["-c", "import jax.numpy as jnp; jnp.zeros(3) + 1"],
    "uat-jax": ["-m", "uat_jax"],
    "uat-jax --help": ["-m", "uat_jax", "--help"],
    "uat-jax certify --help": ["-m", "uat_jax", "certify", "--help"],
    "uat-jax certify jax.nn:relu6 jax.nn:relu6": [
        *("-m", "uat_jax", "certify", "jax.nn:relu6", "jax.nn:relu6", "--arg", "f32[3]"),
        *("--hazards", "ignore"),
    ],
}


def seconds(arguments: list[str], environment: dict[str, str]) -> float:
    """The processor time of one process, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the seconds of each start, and their ratio to importing JAX."""
    with tempfile.TemporaryDirectory() as bytecode:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = {**kept, "PYTHONPYCACHEPREFIX": bytecode, "UAT_JAX_CACHE": "off"}
        rounds = [{name: seconds(of, environment) for name, of in STARTS.items()} for _ in range(ROUNDS + 1)]
    least = {name: min(found[name] for found in rounds[1:]) for name in STARTS}
    for name, found in least.items():
        print(f"{name:42} {found:5.2f} s  {found / least[JAX]:5.2f} × importing JAX")


if __name__ == "__main__":
    main()
