"""Rules found instead of written: what operators have in common (`discover`), and whether rules follow from
others (`implied`).
"""
