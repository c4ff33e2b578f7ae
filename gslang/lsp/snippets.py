"""Whole items to begin with, for completion."""

from __future__ import annotations

import re

_PLACE = re.compile(r"\$\{(\d+):([^}]*)\}")  # `${1:name}`

ITEMS = {
    "rule": ("A rule in one line", "rule ${1:name}(${2:x}): ${3:source} => ${4:target};"),
    "rule block": (
        "A rule with statements",
        (
            "rule ${1:name}(${2:x}, ${3:w}: var) {\n    ${4:y} = ${5:nn.conv2d}($2, $3);\n    $4\n  =>\n"
            "    ${6:$4}\n}"
        ),
    ),
    "param": ("A value that can be set for a run", "param ${1:name}: ${2:int} = ${3:1};"),
    "fn": ("A function", "fn ${1:name}(${2:x}) = ${3:$2};"),
    "op": ("A custom operator", "op ${1:my.name}(${2:x}: tensor) -> tensor;"),
    "pass": ("Rules in order", "pass ${1:name} {\n    ${2:rule_name};\n}"),
    "test": (
        "A test of a rule",
        (
            'test "${1:title}" for ${2:rule_name} {\n    ${3:x}: input float32[${4:2, 3}];\n    ${5:source}\n'
            '  => ${6:expected}\n}'
        ),
    ),
    "test unchanged": (
        "A test that a rule does not match",
        (
            'test "${1:title}" for ${2:rule_name} {\n    ${3:x}: input float32[${4:2, 3}];\n    ${5:source}\n'
            '  => unchanged\n}'
        ),
    ),
    "use": ("Use a shipped module", "use std.${1:relay.common};"),
    "use file": ("Use another file", 'use "./${1:rules.gsl}";'),
    "dialect": ("The dialect of the file", "dialect ${1|relay,onnx|};"),
}

STATEMENTS = {
    "each": (
        "A template, matched any number of times", "each ${1:branch} in ${2:2..} {\n    ${3:conv} = $0;\n}",
    ),
    "chain": (
        "A run of operators of any length",
        "chain ${1:c} in ${2:2..} from ${3:x} {\n    ${4:y} = ${5:nn.relu}(prev.$4);$0\n}",
    ),
    "match": ("A choice by the alternative that matched", "match ${1:p} { ${2:a} => $3, _ => $0 }"),
}


def plain(text: str) -> str:
    """A snippet as a text to insert: places hold what they suggest."""
    text = re.sub(r"\$\{(\d+)\|([^,|}]*)[^}]*\}", r"${\1:\2}", text)  # the first of several choices
    suggested = {number: inside for number, inside in _PLACE.findall(text) if "$" not in inside}
    text = re.sub(r"\$(\d+)", lambda found: suggested.get(str(found.group(1)), ""), text)
    return _PLACE.sub(lambda found: str(found.group(2)), text)
