"""What decomposing a real network costs against its plain forward pass: the cases of `uat-jax bench` about it.

python benchmarks/decompose.py [--quick | --full] [--json FILE] [--out DIR]
"""

import sys

from uat_jax.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", "two-streams", "decomposition", "kronecker", *sys.argv[1:]]))
