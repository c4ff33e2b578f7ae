"""Whether the two sides of a rule compute the same: instances, exact and floating comparison, verdicts."""
