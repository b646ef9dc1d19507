"""v1 and v2, §2 (row uat.citation-year): "Cybenko (2007)".

DUAT's bibliography has the paper in volume 2, pages 303–314, of a journal that began in 1988, with one volume a year.
"""

first_year, volume, printed = 1988, 2, 2007

year = first_year + volume - 1
print(f"printed {printed}, volume {volume} is of {year}")
if year == printed:
    raise SystemExit("no counterexample: the year is right")
