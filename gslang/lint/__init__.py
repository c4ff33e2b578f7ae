"""Findings about rules that are right but suspicious: one lint per file, `registry` lists them, `run_lints`
runs them.
"""
