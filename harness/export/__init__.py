"""The exports: records in, files for other programs out; every text of a framework's passes through clean.py first."""
