"""The version of the rule language that docs/language.md specifies.

A new minor version adds constructs: older files keep their meaning. A new major version changes the meaning
of some file.
"""

LANGUAGE_VERSION = "1.0"
