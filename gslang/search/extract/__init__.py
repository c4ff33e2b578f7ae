"""Choosing one e-node per e-class, so that what the roots need costs least and contains no cycle."""
