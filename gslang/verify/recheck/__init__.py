"""Checks certificates of proofs. Shares the list of laws with the prover, and nothing else."""
