"""Whether the two sides of a rule compute the same: instances, comparison over a prime field and in floating point, proofs, verdicts."""
