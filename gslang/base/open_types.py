"""Types of data whose parts are known only when it is there.

Which values an attribute takes, its operator declares (`dialect/domain`), and calls are checked against that;
what a JSON object holds, the code that reads it asks. So both are open here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Attrs = Mapping[str, Any]
"""Attributes of a call: name → value."""
JsonObject = Mapping[str, Any]
"""An object of a JSON or TOML document."""
JsonDict = dict[str, Any]
"""The same where it is put together or changed."""
