"""DUAT §3.3 (row references.equations-shown): Eq. 6 and 28 are what Sections 3.1 and 3.2 have shown.

Section 3.1 has Eq. 5 and 6, Section 3.2 has Eq. 7 to 10; Eq. 28 stands in App. B.3.
"""

SECTIONS = {"3.1": range(5, 7), "3.2": range(7, 11), "B.3": range(28, 35)}
CITED = {6: "3.1", 28: "3.2"}
wrong = [number for number, section in CITED.items() if number not in SECTIONS[section]]
for number in wrong:
    (found,) = (section for section, numbers in SECTIONS.items() if number in numbers)
    print(f"Eq. {number} is cited for §{CITED[number]}: it stands in §{found}")
if not wrong:
    raise SystemExit("no counterexample: both equations stand there")
