"""``python -m uat_jax`` is ``uat-jax``."""

from uat_jax.cli import main

raise SystemExit(main())
