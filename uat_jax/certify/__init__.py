"""Methods, verdicts, certificates and counterexamples; nothing about any particular claim.

verdict.py          the verdicts, evidence, and how evidence is combined
settings.py         what the evidence is taken with
normal_forms.py     equations decided in normal form
programs.py         a network and a printed form: equal, or refuted
counterexample.py   a small input on which two programs differ
floats.py           two programs against the exact value, within a derived tolerance
trials.py           their arguments, on every device
side_error.py       the error of one side
floats_evidence.py  a float comparison as evidence
decision.py         one claim decided
certificate.py      the outcome as a file
"""
