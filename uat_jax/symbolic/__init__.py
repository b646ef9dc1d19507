"""The symbolic pillar: SymPy only."""
