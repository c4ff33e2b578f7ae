"""Rules made general and right: literals lifted, the weakest side conditions found, by counterexample-guided
refinement.
"""
