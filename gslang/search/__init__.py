"""The best graph under a cost: costs, equality saturation, extraction, backtracking."""
