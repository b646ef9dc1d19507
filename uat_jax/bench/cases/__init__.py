"""The cases, one file per question."""
