"""Graphs that the source of a rule matches, drawn at random or for what is wished for."""
