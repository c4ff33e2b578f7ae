"""What a call costs: tables by name, and the costs of whole graphs."""
