"""Methods, verdicts, certificates and counterexamples."""
