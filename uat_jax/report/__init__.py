"""What people read: tables and statements.  Computes nothing new.

table.py      the verdicts of a run, the ledger as a list
statement.py  one claim: what is printed, how it is read, what was found and by which steps
"""
