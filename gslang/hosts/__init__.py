"""Rules of other tools: read, judged and repaired; and rules written for them, where they can say them."""
