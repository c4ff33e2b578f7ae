"""Rules made general and right: literals lifted, the weakest side conditions found, by counterexample-guided
refinement.
"""

from typing import Final

SECONDS: Final = 8.0  # of processor time at most for one rule, unless said otherwise
