"""Decides certificates of uat_jax again.  It shares no line with uat_jax, and needs Python and python-flint only.

What it trusts, and why each of its rules is an identity, stands in `docs/checker.md`.
"""
