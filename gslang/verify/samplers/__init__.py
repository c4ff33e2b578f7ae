"""Shapes and attributes of single operators, drawn so that a call of them means something."""
