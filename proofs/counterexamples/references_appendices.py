"""DUAT §3.2, §3.3, §4.1, §4.2, §6 (row references.appendices): references to Appendices B, C, D and E.

Each is one letter too late, and there is no Appendix E.
"""

APPENDICES = {
    "A": "matrix–vector form of MHA",
    "B": "the multi-layer Transformer as DUAT",
    "C": "the learning process of MHA",
    "D": "humans and LLMs compared",
}
CITED = {
    "B": "matrix–vector form of MHA",
    "C": "the multi-layer Transformer as DUAT",
    "D": "the learning process of MHA",
    "E": "humans and LLMs compared",
}
wrong = {letter: topic for letter, topic in CITED.items() if APPENDICES.get(letter) != topic}
for letter, topic in wrong.items():
    print(f"Appendix {letter} is cited for “{topic}”: there is {APPENDICES.get(letter, 'nothing')}")
if not wrong:
    raise SystemExit("no counterexample: every reference is right")
