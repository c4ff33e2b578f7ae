; For editors that indent by tree (Neovim, Helix, Zed).
[
  (rule_item)
  (test_item)
  (pass_body)
  (each_statement)
  (chain_statement)
  (arguments)
  (inputs)
  (operator_parameters)
  (list)
  (tuple)
  (match)
  (parenthesized)
] @indent.begin

["}" ")" "]"] @indent.end @indent.branch
