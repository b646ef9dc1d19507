"""Loops that are not unrolled: two programs compared step by step at a symbolic time, and closed forms of a scan."""
