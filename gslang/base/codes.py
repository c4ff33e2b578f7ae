"""The table of diagnostic codes. A code never changes its meaning; `gslc explain CODE` shows its page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """A code of the table: its title, and how severe it is."""

    code: str
    title: str


_TABLE = """
E0101 the file is not text that can be read
E0102 something else is expected here
E0103 a `;` is missing
E0104 a string is malformed or does not end
E0105 a bracket is not closed
E0106 a form of another language
E0107 nested too deeply
E0108 reserved for a later version
E0201 an unknown name
E0202 a name is bound twice
E0203 a name that cannot be bound
E0204 a module that cannot be found
E0205 files import each other in a circle
E0206 an unknown dialect
E0207 an unknown rule, pass or function
E0208 two items have the same name
E0209 an unused input
E0210 a table of a rule family that does not fit
E0211 a parameter of a file whose value does not fit
E0301 an unknown operator
E0302 a wrong number of operands
E0303 an unknown attribute
E0304 not something that can be called
E0305 a wrong number of arguments of a function
E0306 a function calls itself
E0307 an operand of the wrong kind
E0308 an operator declaration that does not hold together
E0309 several results must be projected
E0310 an operator variable of the wrong kind
E0311 an argument that is given twice
E0312 a projection that does not exist
E0313 a value that an attribute never has
E0401 a node is read before it is matched
E0402 a name of an alternative outside its arm
E0403 `match` needs an alternation
E0404 `each` or `chain` in the wrong place
E0405 `index`, `first` or `prev` in the wrong place
E0501 a value of the wrong type
E0502 an unknown attribute of a value
E0503 a wrong number of arguments of a built-in
E0504 a value where a pattern is wanted
E0505 a pattern where a value is wanted
E0506 a constraint form outside a source pattern
E0601 numbers of outputs differ
E0602 an output that shares nothing with those before it
E0603 an input cannot be an output
E0604 a required attribute is missing
E0605 the target uses what the source does not bind
E0606 a sequence without a length
E0607 a sequence in the wrong place
E0608 an output that is replaced by nothing
E0609 an output that would change its type
E0701 an unknown annotation
E0702 wrong arguments of an annotation
E0703 a pass that runs itself
E0704 a test that does not hold together
E0705 an operator set of `@opset` cannot say the target
E0706 a function in Python that does not hold together
"""

CODES: dict[str, CodeInfo] = {
    line[:5]: CodeInfo(line[:5], line[6:]) for line in _TABLE.strip().splitlines()
}
