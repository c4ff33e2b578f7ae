"""Tensors as functions of positions, and what each operator makes of them."""
