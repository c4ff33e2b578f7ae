"""The formatter of rule files."""
