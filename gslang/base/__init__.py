"""The foundation of every layer: sources and spans, diagnostics and how they are shown, resources, the cache,
files written whole.
"""
