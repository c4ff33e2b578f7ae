"""The meaning of each word of the language in a sentence, for hovers and completion.

Tests hold the tables to the grammar.
"""

from __future__ import annotations

KEYWORDS = {
    "and": "Both conditions hold. If one is unknown, the result is unknown unless the other is false.",
    "chain": "`chain c in 2.. from x { y = nn.relu(prev.y); }` — a run of any length: each instance "
    "continues from the previous one, the first from `x`. Outside, `c[-1].y` is the end of the run, and "
    "`len(c)` its length.",
    "dialect": "`dialect relay;` — the dialect whose operators the file uses. It comes first in a file.",
    "each": "`each branch in 2.. { … }` — a template matched any number of times. Inside, `first.NAME` is "
    "the first instance's and `index` the number of this one; outside, `branch.conv` stands for all "
    "instances.",
    "else": "The alternative of `then if condition else otherwise`.",
    "false": "The value *false*.",
    "fn": (
        "`fn front(axis, ndim) = axis if axis >= 0 else axis + ndim;` — a function, expanded at each use. "
        "Parameters take values or nodes."
    ),
    "for": (
        "`[e for v in s if c]` — a tuple of one item for each item of `s`. Behind the inputs of a rule: a "
        "table, with a rule for each row. In a test: the rule that it tests."
    ),
    "from": "The pattern from which a `chain` starts.",
    "if": (
        "`then if condition else otherwise` — in a target or a value: a choice. In a comprehension: a "
        "filter of items."
    ),
    "in": "Membership, the range of an `each` or `chain`, or the source of a comprehension.",
    "is": "`op …(…) -> tensor is elementwise, unary;` — the traits of a declared operator.",
    "keep": (
        "`keep p` — `p` may have users outside of the match; it then stays in the graph. Without `keep`, "
        "such a user prevents the match."
    ),
    "match": "`match p { a => e, b => e, _ => e }` — the arm of the alternative that matched.",
    "none": "Nothing: the value of an attribute that is not set, an operand that is absent.",
    "not": "Negation of a condition; among traits: all operators without it.",
    "op": (
        "`op my.scale(x: tensor, by: float) -> tensor is elementwise;` declares an operator. As a kind: an "
        "operator variable, `f: op(elementwise)`."
    ),
    "or": "At least one of the two conditions holds.",
    "ordered": "`ordered a + b` — a commutative operator with its operands in this order only.",
    "pass": (
        "`pass NAME { rule; repeat { a; b; } fold; cse; }` — rules and passes in order, each to a fixed "
        "point."
    ),
    "repeat": "Rules of a pass that run together to a fixed point.",
    "rule": (
        "`rule NAME(inputs) { source where conditions => target }` — what matches the source is replaced by "
        "the target."
    ),
    "test": (
        '`test "title" for RULE { inputs; graph => graph }` — the rule applied to the left graph gives the '
        "right one. `=> unchanged`: it must not match."
    ),
    "true": "The value *true*.",
    "unchanged": "The rule changes nothing here.",
    "use": (
        '`use std.relay.common;` or `use "./mine.gsl" (a, b);` — makes rules, passes, functions and '
        "operators of another file usable here."
    ),
    "where": "Conditions that are tested once the whole source is matched.",
}

KINDS = {
    "any": "Anything: an input of the rule without constraints.",
    "var": "An input or a parameter of the graph.",
    "input": "An input of the graph, not a parameter.",
    "param": "A parameter of the graph: its value is known to the workload.",
    "const": "A constant, known when the graph is compiled.",
    "fixed": "A parameter or a constant: a value that does not change from run to run.",
    "op": (
        "An operator variable: `op(elementwise)`, `op(nn.conv1d | nn.conv2d)`, `op(elementwise, not "
        "broadcast)`."
    ),
}

FACTS = {
    "shape": "The shape of the result: a tuple of dimensions, some of which may be unknown or symbolic.",
    "dtype": "The data type of the result, such as `float32`.",
    "ndim": "The number of axes of the result.",
    "value": "The value of a constant.",
    "index": "The index of a projection.",
    "op": "The name of the operator, `none` for what is not a call.",
    "kind": 'What the node is: `"const"`, `"call"`, …',
    "name": "The name of the node in the graph, `none` for a nameless one, such as most that rules make.",
}

FUNCTIONS = {
    "len": ("len(sequence)", "How many items a tuple, a string or a sequence of instances has."),
    "range": (
        "range(stop) | range(start, stop, step)",
        "The numbers from `start` (0) up to `stop`, without it.",
    ),
    "reversed": ("reversed(sequence)", "The items from last to first."),
    "zip": ("zip(a, b, …)", "Tuples of the k-th items, as many as the shortest has."),
    "sum": ("sum(items)", "The sum of numbers; with a tensor, the operator."),
    "prod": ("prod(items)", "The product of numbers; with a tensor, the operator."),
    "min": (
        "min(items) | min(a, b, …)",
        "The least item, or element of a constant; with a tensor, the operator.",
    ),
    "max": (
        "max(items) | max(a, b, …)",
        "The greatest item, or element of a constant; with a tensor, the operator.",
    ),
    "any": (
        "any(conditions)",
        "True if one holds; with a tensor, the operator; with keywords only, the kind.",
    ),
    "all": ("all(conditions)", "True if all hold; with a tensor, the operator."),
    "concat": ("concat(tuples) | concat(a, b, …)", "Tuples joined to one."),
    "cumsum": ("cumsum(numbers)", "Running sums."),
    "abs": ("abs(number)", "The absolute value; with a tensor, the operator."),
    "numel": ("numel(shape)", "The product of the dimensions."),
    "broadcast": ("broadcast(shape, shape)", "The shape that both broadcast to."),
    "normalize_axis": ("normalize_axis(axis, ndim)", "An axis counted from the front."),
    "layout_remap": (
        "layout_remap(from, to)",
        'The index tuple that carries one layout string into another: `layout_remap("NHWC", "NCHW")`.',
    ),
    "close": ("close(a, b, rtol)", "True if two numbers differ by at most `rtol`, relatively."),
    "users": (
        "users(node) | users(node, operators, attribute = value, …)",
        (
            "How many nodes use this one in the graph before the rewrite; with operators, how many calls of "
            "these, with these attributes."
        ),
    ),
    "is_output": (
        "is_output(node)",
        "True if a node is an output of the graph before the rewrite, alone or in a tuple.",
    ),
    "calls": (
        "calls(node) | calls(node.body, operators, attribute = value, …)",
        "How many calls the bodies of a node have, or one of them; with operators, how many of these, "
        "with these attributes.",
    ),
    "distinct": ("distinct(a, b, …)", "In `where`: these are different expressions."),
    "splat": ("splat(value)", "In a source: a constant of any shape whose elements all equal `value`."),
}

NAMES = {
    "first": "The first instance of this template; on the first instance, that instance itself.",
    "index": "The number of this instance, from 0.",
    "prev": (
        "In a chain, the instance before this one; `prev.y` as an operand is what it hands on, or what the "
        "chain starts from."
    ),
    "inf": "Infinity, unless the rule gives this name to something else.",
    "opset": "In `where`, with ONNX: the operator set version that the model imports.",
}

ANNOTATIONS = {
    "tags": ('@tags("fusion")', "Labels of the rule, shown by editors and `gslc view`."),
    "approximate": ("@approximate(rtol = 1e-3)", "Both sides are equal only up to rounding of this size."),
    "attach": (
        '@attach(backend = "npu")',
        "Kept with the operators that the rule makes: `annotations` in JSON, `metadata_props` in ONNX. "
        "`@attach(y, …)`: with those of statement `y`.",
    ),
    "changes": (
        '@changes("why")',
        "Both sides are not meant to be equal; `gslc verify` never counts the rule as equal.",
    ),
    "once": (
        "@once",
        "A node created by the rule is never the first output of another match of the rule or its family.",
    ),
    "opset": ("@opset(11..)", "The ONNX operator set versions that the rule is meant for."),
    "disconnected": ("@disconnected", "The outputs share nothing; the rule is checked and never swept."),
    "extern": (
        '@extern("module:function")',
        "The Python function of a `fn` without a body. Imported only by `gslc … --allow-extern`, never here.",
    ),
    "allow": ("@allow(L0111)", "Silences a lint in this item."),
}

TRAITS = {
    "elementwise": "Element i of the result depends only on elements i of the operands.",
    "broadcast": "The operands are broadcast against each other, as NumPy does it.",
    "unary": "One operand.",
    "binary": "Two operands.",
    "commutative": "Its operands may be swapped; a pattern matches both orders.",
    "associative": "Nested calls may be regrouped.",
    "idempotent": "Twice is once.",
    "involution": "Twice is nothing.",
    "injective": "Moves elements, computes nothing.",
    "reduction": "Combines elements along axes.",
    "monotonic": "Element-wise and non-decreasing.",
    "wrapping": "Computes modulo 2ⁿ on integers of n bits.",
    "saturating": "Numbers outside the element type become its lowest or highest value.",
    "accumulating": "Adds up in `out_dtype` where that is given.",
    "stateful": "No function of its operands: never merged, never folded.",
    "opaque": "Passed along, never inspected.",
}

TYPES = {
    "tensor": "One tensor.",
    "tuple": "A tuple: of tensors as an operand or a result, of values elsewhere.",
    "int": "A whole number.",
    "float": "A number.",
    "bool": "`true` or `false`.",
    "str": "A string.",
    "dtype": "A data type, written as a string.",
    "array": "An array of numbers.",
    "graph": "A graph.",
    "layout": "`layout(\"NCHW\" | \"NHWC\")`: a text with these axes in any order.",
    "distinct": "`distinct(int in -rank(x) ..< rank(x))[]`: a list whose items differ.",
}

STEPS = {
    "fold": "Built in: computes what depends on constants and parameters only.",
    "cse": "Built in: equal calls (operator, operands, attributes) become one.",
}
