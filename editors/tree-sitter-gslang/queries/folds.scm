[
  (rule_item)
  (test_item)
  (pass_item)
  (function_item)
  (operator_item)
  (each_statement)
  (repeat_block)
  (match)
  (arguments)
  (inputs)
  (list)
  (tuple)
] @fold
