"""Graphs and runs of rules as one HTML file that opens without a network (docs/view.md)."""
