"""A batch sharded over devices is decomposed where it lies, to the bits of one device, on meshes of both kinds."""

import os
import subprocess
import sys
from pathlib import Path


def test_sharded_batches_give_the_bits_of_one_device():
    script = Path(__file__).with_name("sharded_decompositions.py")
    paths = os.pathsep.join([str(script.parents[1]), os.environ.get("PYTHONPATH", "")])
    # The bits of two programs that are compiled alike are compared: with fewer optimisations this takes half the time.
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "JAX_DISABLE_MOST_OPTIMIZATIONS": "true", "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("seed")]
    assert lines == ["BERT Auto", "BERT Explicit", "Llama Explicit"]
