"""Computation graphs as flat columns, with users and an order kept up to date; comparison, types of nodes."""
