"""The language server: what editors ask about `.gsl` text, answered over the Language Server Protocol."""
