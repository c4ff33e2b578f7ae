"""Measurements of gslang beside other graph rewriters.

Run them by `make bench`; docs/performance.md says how to read them.
"""
