"""Benchmarks: cases with a question each, and the harness that checks their answers and times them."""
