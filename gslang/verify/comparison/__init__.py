"""Both sides of one instance: over a prime field, in floating point, and where they are defined."""
