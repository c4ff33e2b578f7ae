"""The table of diagnostic codes. A code never changes its meaning; `gslc explain CODE` shows its page."""

from __future__ import annotations

from gslang.base.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """A code of the table: its title, and how severe it is."""

    code: str
    title: str


_TABLE = """
E0101 the file cannot be read as text
E0102 a syntax error
E0103 a `;` is missing
E0104 a malformed or unterminated string
E0105 brackets that do not pair up
E0106 syntax of another language
E0107 nested too deeply
E0108 reserved for a later version
E0201 an unknown name
E0202 a name is bound twice
E0203 a name that cannot be bound
E0204 a module that cannot be loaded
E0205 a cyclic import
E0206 an unknown dialect
E0207 an unknown rule, pass or function
E0208 two items have the same name
E0209 an unused input
E0210 an invalid table of a rule family
E0211 an invalid value of a file parameter
E0301 an unknown operator
E0302 the wrong number of operands
E0303 an unknown attribute
E0304 a call of something that cannot be called
E0305 the wrong number of arguments to a function
E0306 a recursive function
E0307 an operand of the wrong kind
E0308 an invalid operator declaration
E0309 an operator with several results must be projected
E0310 an invalid operator variable
E0311 a duplicate argument
E0312 a projection that does not exist
E0313 a value outside an attribute's domain
E0314 bodies of several calls in a new call
E0401 a node is read before it is matched
E0402 a name of an alternative used outside its arm
E0403 `match` needs an alternation
E0404 `each` or `chain` in the wrong place
E0405 `index`, `first` or `prev` in the wrong place
E0501 a value of the wrong type
E0502 an unknown attribute of a value
E0503 the wrong number of arguments to a built-in
E0504 a value where a pattern is expected
E0505 a pattern where a value is expected
E0506 a constraint outside a source pattern
E0507 a value beyond a limit
E0601 the numbers of outputs differ
E0602 an output that shares no node with those before it
E0603 an input cannot be an output
E0604 a required attribute is missing
E0605 the target uses a name that the source does not bind
E0606 a sequence of unknown length
E0607 a sequence in the wrong place
E0608 an output without a replacement
E0609 an output whose type would change
E0610 an output given twice
E0701 an unknown annotation
E0702 invalid arguments of an annotation
E0703 a recursive pass
E0704 an invalid test
E0705 an opset of `@opset` that cannot express the target
E0706 an invalid function
"""

CODES: dict[str, CodeInfo] = {
    line[:5]: CodeInfo(line[:5], line[6:]) for line in _TABLE.strip().splitlines()
}
