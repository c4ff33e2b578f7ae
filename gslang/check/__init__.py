"""Programs as checked rules (`checked` is the contract): imports, names, patterns, values, targets, the order
of matching.
"""
