"""Graphs over a prime field: residues beside real numbers, operators of Relay and ONNX, random points."""
