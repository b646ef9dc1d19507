"""Programs that are not JAX functions yet, read as JAX functions: StableHLO, exported artifacts, PyTorch modules."""
