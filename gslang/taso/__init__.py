"""Substitutions of TASO's generator as rules: read, given shapes, written as `.gsl`."""
