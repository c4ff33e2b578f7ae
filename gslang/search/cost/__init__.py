"""Costs of calls: tables by name, and the costs of whole graphs."""
