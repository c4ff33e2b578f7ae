; A rule, a test or a function is what editors call a function; its side, the inside of it.
(rule_item) @function.outer
(test_item) @test.outer
(function_item) @function.outer
(function_item body: (_) @function.inner)
(rule_item source: (side) @function.inner)
(rule_item target: (side) @function.inner)
(pass_item) @class.outer
(inputs (input) @parameter.inner)
(arguments (_) @parameter.inner)
[(comment) (doc_comment)] @comment.outer
