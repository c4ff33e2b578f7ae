"""Proofs that both sides of a rule are equal for tensors of every size: symbolic sizes, index expressions,
normal forms.
"""
