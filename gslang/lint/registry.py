"""All lints: code → what finds it.

A lint gets one file and yields findings; it never raises for what is in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gslang.lint.coarse_constant import coarse_constant
from gslang.lint.constant_condition import constant_condition
from gslang.lint.dropped_attribute import dropped_attribute
from gslang.lint.duplicate import duplicate
from gslang.lint.exact_float import exact_float
from gslang.lint.growing import growing
from gslang.lint.hidden_name import hidden_name
from gslang.lint.implied_by_others import implied_by_others
from gslang.lint.late_condition import late_condition, late_input_condition
from gslang.lint.linted_file import Finding, LintedFile
from gslang.lint.missing_doc import missing_doc
from gslang.lint.missing_test import missing_test
from gslang.lint.name_style import name_style
from gslang.lint.needless_interior import needless_interior
from gslang.lint.no_change import no_change
from gslang.lint.non_terminating import non_terminating
from gslang.lint.order_dependence import order_dependent
from gslang.lint.overlap import overlap
from gslang.lint.pointless_keep import pointless_keep
from gslang.lint.pointless_ordered import pointless_ordered
from gslang.lint.repeated_computation import repeated_computation
from gslang.lint.unreachable import unreachable
from gslang.lint.unread_constant import unread_constant
from gslang.lint.unused_binding import unused_binding
from gslang.lint.unused_function import unused_function
from gslang.lint.unused_import import unused_import

Lint = Callable[[LintedFile], Iterator[Finding]]

REGISTRY: dict[str, Lint] = {
    "L0101": unused_binding,
    "L0102": unused_function,
    "L0103": unused_import,
    "L0104": constant_condition,
    "L0105": exact_float,
    "L0106": hidden_name,
    "L0107": name_style,
    "L0108": missing_doc,
    "L0109": missing_test,
    "L0110": repeated_computation,
    "L0111": late_condition,
    "L0112": dropped_attribute,
    "L0113": pointless_keep,
    "L0114": coarse_constant,
    "L0116": no_change,
    "L0117": unread_constant,
    "L0118": needless_interior,
    "L0119": late_input_condition,
    "L0120": pointless_ordered,
    "L0201": overlap,
    "L0202": unreachable,
    "L0203": non_terminating,
    "L0204": growing,
    "L0205": order_dependent,
    "L0206": duplicate,
    "L0207": implied_by_others,
}
"""Without L0115, which looks at what the others found (`suppression`)."""
