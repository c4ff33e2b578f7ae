"""Words of the language, and what colours them: Pygments lexers, the keyword lists of the editors."""
