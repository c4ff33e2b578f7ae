// The grammar of gslang rule files for tree-sitter. `grammar/gsl.lark` says what the language is; this one follows it, names its
// nodes for queries, and takes a little more, because editors show unfinished text. A test parses the same files with both.
// Words that cannot be names come from the compiler's grammar: words.js is written by `python -m gslang.highlight.generate`.

const { reserved } = require("./words");

const list = (rule) => seq(rule, repeat(seq(",", rule)), optional(","));
const maybeList = (rule) => optional(list(rule));

// Loosest first, as in the compiler's grammar.
const LEVEL = { conditional: 1, alternative: 2, or: 3, and: 4, not: 5, compare: 6, sum: 7, term: 8, unary: 9, power: 10, postfix: 11 };

module.exports = grammar({
  name: "gslang",

  extras: ($) => [/\s/, $.doc_comment, $.comment],
  word: ($) => $.identifier,
  supertypes: ($) => [$.expression],
  inline: ($) => [$._item],

  rules: {
    source_file: ($) => repeat($._item),

    _item: ($) =>
      choice($.dialect_item, $.use_item, $.operator_item, $.function_item, $.parameter_item, $.rule_item, $.pass_item, $.test_item),

    dialect_item: ($) => seq("dialect", field("name", $.identifier), ";"),

    use_item: ($) => seq("use", field("module", choice($.dotted_name, $.string)), optional($.imported_names), ";"),
    imported_names: ($) => seq("(", list($.identifier), ")"),
    dotted_name: ($) => seq($.identifier, repeat(seq(".", $._field))),

    annotation: ($) => seq("@", field("name", $.identifier), optional($.annotation_arguments)),
    annotation_arguments: ($) => seq("(", maybeList(choice($.keyword_argument, $._any_expression, $.range)), ")"),

    // ── operators ──

    operator_item: ($) =>
      seq(
        repeat($.annotation),
        "op",
        field("name", alias($._operator_name, $.operator_name)),
        field("parameters", $.operator_parameters),
        "->",
        field("result", $.type),
        optional(field("meaning", $.meaning)),
        optional($.traits),
        ";",
      ),
    _operator_name: ($) => seq($._field, repeat(seq(".", $._field))),
    operator_parameters: ($) => seq("(", maybeList($.operator_parameter), ")"),
    operator_parameter: ($) =>
      seq(optional("*"), field("name", $._field), ":", field("type", $.type), optional(seq("=", field("default", $._any_expression)))),
    type: ($) => prec.right(seq($._one_type, repeat(seq("|", $._one_type)))),
    _one_type: ($) => seq($._base_type, repeat($.type_length), optional("?")),
    _base_type: ($) =>
      choice(
        seq(alias($.identifier, $.type_name), optional(seq("(", $.type, ")"))),
        seq(alias($.identifier, $.type_name), choice(">=", "<=", ">", "<"), $._bound),
        seq(alias($.identifier, $.type_name), "in", $._bound, choice("..", "..<"), $._bound),
        seq(optional("-"), choice($.integer, $.float)),
        $.string,
        $.none,
        $.boolean,
        seq("(", list($.type), ")"),
      ),
    type_length: ($) => seq("[", optional(choice(seq($._bound, repeat(seq("|", $._bound))), $.range)), "]"),
    // A number that operands and attributes settle: `rank(data) - 1`.
    _bound: ($) => choice($._bound_sum, $._bound_term),
    _bound_sum: ($) => prec.left(LEVEL.sum, seq($._bound, choice("+", "-"), $._bound)),
    _bound_term: ($) =>
      choice(
        prec.left(LEVEL.term, seq($._bound_term, choice("*", "/", "//", "%"), $._bound_term)),
        prec.right(LEVEL.unary, seq("-", $._bound_term)),
        $._postfix,
      ),
    meaning: ($) => seq("{", maybeList(seq(field("part", $.identifier), "=", $._any_expression)), "}"),
    traits: ($) => seq("is", alias($.identifier, $.trait), repeat(seq(",", alias($.identifier, $.trait)))),

    // ── functions ──

    function_item: ($) =>
      seq(
        repeat($.annotation),
        "fn",
        field("name", $.identifier),
        field("parameters", $.function_parameters),
        choice(seq("=", field("body", $._any_expression)), seq("->", field("result", alias($.identifier, $.type_name)))),
        ";",
      ),
    function_parameters: ($) => seq("(", maybeList($.function_parameter), ")"),
    function_parameter: ($) => seq(field("name", $.identifier), optional(seq(":", field("type", alias(choice($.identifier, "op"), $.type_name))))),

    parameter_item: ($) =>
      seq(
        repeat($.annotation),
        alias(token(prec(1, /param/)), "param"),
        field("name", $.identifier),
        ":",
        field("type", $.type),
        optional(seq("=", field("value", $._any_expression))),
        ";",
      ),

    // ── rules ──

    rule_item: ($) =>
      seq(
        repeat($.annotation),
        "rule",
        field("name", $.identifier),
        optional(field("inputs", $.inputs)),
        optional(field("table", $.table)),
        choice(
          seq(":", field("source", $.side), choice("=>", "<=>"), field("target", $.side), ";"),
          seq("{", field("source", $.side), optional(";"), choice("=>", "<=>"), field("target", $.side), optional(";"), "}"),
        ),
      ),
    table: ($) => seq("for", $._targets, "in", $.expression, repeat(seq(",", $.expression))),
    row: ($) => seq("[", $.expression, repeat(seq(",", $.expression)), "]"),
    inputs: ($) => seq("(", maybeList($.input), ")"),
    input: ($) => seq(field("name", $.identifier), optional(seq(":", field("kind", $.kind)))),
    kind: ($) => seq(field("name", alias(choice($.identifier, "op"), $.kind_name)), optional($.kind_arguments), optional("?")),
    kind_arguments: ($) => seq("(", maybeList(choice($.keyword_argument, $._any_expression)), ")"),

    side: ($) => seq(repeat(choice($.binding, $.each_statement, $.chain_statement)), $._outputs, optional($.where_clause)),
    // Behind a comma, `where` is the operator of that name, as for the compiler.
    _outputs: ($) => prec.right(list(choice($.starred, $._any_expression))),
    where_clause: ($) => seq("where", list($._any_expression)),
    binding: ($) => seq(field("name", $._name), "=", field("value", $._any_expression), ";"),
    each_statement: ($) =>
      seq(
        "each",
        field("name", $.identifier),
        "in",
        field("values", choice($.range, $._any_expression)),
        "{",
        repeat($.binding),
        optional(seq($.where_clause, optional(";"))),
        "}",
      ),
    _name: ($) => choice($.identifier, alias("chain", $.identifier)),  // where a chain may begin too
    chain_statement: ($) =>
      seq(
        "chain",
        field("name", $.identifier),
        "in",
        field("values", choice($.range, $._any_expression)),
        optional(seq("from", field("start", $._any_expression))),
        "{",
        repeat($.binding),
        optional(seq($.where_clause, optional(";"))),
        "}",
      ),
    range: ($) => seq(optional($.integer), "..", optional($.integer)),

    // ── passes ──

    pass_item: ($) => seq(repeat($.annotation), "pass", field("name", $.identifier), $.pass_body),
    pass_body: ($) => seq("{", repeat(choice($.pass_step, $.repeat_block)), "}"),
    pass_step: ($) => seq(field("rule", $.dotted_name), optional($.row), ";"),
    repeat_block: ($) => seq("repeat", $.pass_body),

    // ── tests ──

    test_item: ($) =>
      seq(
        repeat($.annotation),
        "test",
        field("title", $.string),
        "for",
        field("rule", $.identifier),
        optional($.row),
        "{",
        repeat(choice($.test_input, $.binding)),
        field("before", alias($._test_outputs, $.outputs)),
        "=>",
        choice(seq(repeat($.binding), field("after", alias($._test_outputs, $.outputs))), seq("unchanged", optional(";"))),
        "}",
      ),
    _test_outputs: ($) => seq($._outputs, optional(";")),
    test_input: ($) =>
      seq(field("name", $.identifier), ":", field("kind", alias($.identifier, $.kind_name)), field("type", $.tensor_type), ";"),
    tensor_type: ($) => seq(field("dtype", alias($.identifier, $.type_name)), "[", maybeList(choice($.integer, $.identifier)), "]"),

    // ── expressions ──
    // A conditional is left out where an `if` of a for-clause may follow.

    _any_expression: ($) => choice($.conditional, $.expression),
    conditional: ($) =>
      prec.right(
        LEVEL.conditional,
        seq(field("then", $.expression), "if", field("condition", $.expression), "else", field("otherwise", $._any_expression)),
      ),

    expression: ($) => choice($.binary, $.comparison, $.unary, $._postfix),
    binary: ($) =>
      choice(
        ...[
          [LEVEL.alternative, "|"],
          [LEVEL.or, "or"],
          [LEVEL.and, "and"],
          [LEVEL.sum, choice("+", "-")],
          [LEVEL.term, choice("*", "/", "//", "%")],
        ].map(([level, operator]) =>
          prec.left(level, seq(field("left", $.expression), field("operator", operator), field("right", $.expression))),
        ),
        prec.right(LEVEL.power, seq(field("left", $._postfix), field("operator", "**"), field("right", $.expression))),
      ),
    comparison: ($) =>
      prec.left(
        LEVEL.compare,
        seq($.expression, choice("==", "!=", "<=", ">=", "<", ">", "in", seq("not", "in")), $.expression),
      ),
    unary: ($) =>
      choice(
        prec.right(LEVEL.not, seq("not", $.expression)),
        prec.right(LEVEL.unary, seq(choice("-", "keep"), $.expression)),
        prec.right(LEVEL.postfix, seq("ordered", $._postfix)),
      ),

    _postfix: ($) =>
      choice(
        $._name,
        $.integer,
        $.float,
        $.string,
        $.none,
        $.boolean,
        $.hole,
        $.attribute,
        $.projection,
        $.call,
        $.subscript,
        $.operator_kind,
        $.where_call,
        $.named,
        $.parenthesized,
        $.tuple,
        $.list,
        $.comprehension,
        $.match,
      ),
    attribute: ($) => prec(LEVEL.postfix, seq(field("object", $._postfix), ".", field("attribute", $._field))),
    projection: ($) => prec(LEVEL.postfix, seq(field("object", $._postfix), ".", choice($.integer, $.float))),
    call: ($) => prec(LEVEL.postfix, seq(field("function", $._postfix), optional("?"), field("arguments", $.arguments))),
    subscript: ($) =>
      prec(LEVEL.postfix, seq(field("object", $._postfix), "[", choice($._any_expression, $.slice), "]")),
    slice: ($) => seq(optional($._any_expression), ":", optional($._any_expression), optional(seq(":", optional($._any_expression)))),
    operator_kind: ($) => seq("op", "(", maybeList($._any_expression), ")"),
    where_call: ($) => seq(alias("where", $.identifier), field("arguments", $.arguments)),
    named: ($) => seq("(", field("name", $.identifier), ":=", field("value", $._any_expression), ")"),
    parenthesized: ($) => seq("(", $._any_expression, ")"),
    tuple: ($) =>
      choice(seq("(", ")"), seq("(", $.starred, ")"), seq("(", $._element, ",", maybeList($._element), ")")),
    list: ($) => seq("[", maybeList($._element), "]"),
    comprehension: ($) => seq("[", $._any_expression, $.for_clause, "]"),
    _element: ($) => choice($.starred, $._any_expression),
    starred: ($) => seq("*", $._postfix),
    match: ($) => seq("match", field("value", $._postfix), "{", list($.arm), "}"),
    arm: ($) => seq(field("case", choice($.identifier, $.hole)), "=>", field("value", $._any_expression)),

    arguments: ($) => seq("(", optional(choice(list($._argument), $.generator)), ")"),
    _argument: ($) => choice($.keyword_argument, $.starred, $.spread, $._any_expression),
    keyword_argument: ($) => seq(field("name", $._field), "=", field("value", $._any_expression)),
    spread: ($) => seq(field("object", $._postfix), ".", choice("*", seq("{", list(field("attribute", $._field)), "}"))),
    generator: ($) => seq($._any_expression, $.for_clause),
    for_clause: ($) =>
      seq("for", $._targets, "in", choice($.expression, $.range), optional(seq("if", field("condition", $.expression)))),
    _targets: ($) =>
      choice(seq($.identifier, repeat(seq(",", $.identifier))), seq("(", list($.identifier), ")")),

    // ── words ──

    _field: ($) => alias(choice($.identifier, ...reserved), $.field_name),
    identifier: (_) => /[A-Za-z_][A-Za-z_0-9]*/,
    integer: (_) => /[0-9]+/,
    float: (_) => /[0-9]+(\.[0-9]+([eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)/,
    string: ($) => seq('"', repeat(choice($.escape, token.immediate(prec(1, /[^"\\\n]+/)))), token.immediate('"')),
    escape: (_) => token.immediate(/\\./),
    none: (_) => "none",
    boolean: (_) => choice("true", "false"),
    hole: (_) => "_",
    doc_comment: (_) => token(prec(1, /(##([^#\n][^\n]*)?|#![^\n]*)/)),
    comment: (_) => token(/#[^\n]*/),
  },
});
