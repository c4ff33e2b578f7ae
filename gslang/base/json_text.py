"""JSON as files and reports have it."""

from __future__ import annotations

import json


def json_text(data: object) -> str:
    """Data as JSON in lines, with a line feed at the end."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
