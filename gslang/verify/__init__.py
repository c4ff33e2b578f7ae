"""Verification of rules: instances, comparison over a prime field and in floating point, proofs, verdicts."""
