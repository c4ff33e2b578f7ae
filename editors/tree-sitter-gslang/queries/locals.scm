; Names are known in the item that has them.

[(rule_item) (function_item) (test_item) (generator) (comprehension) (each_statement) (chain_statement)] @local.scope

(input name: (identifier) @local.definition.parameter)
(function_parameter name: (identifier) @local.definition.parameter)
(binding name: (identifier) @local.definition.var)
(each_statement name: (identifier) @local.definition.var)
(chain_statement name: (identifier) @local.definition.var)
(test_input name: (identifier) @local.definition.var)
(named name: (identifier) @local.definition.var)
(for_clause (identifier) @local.definition.var)
(rule_item name: (identifier) @local.definition.function)
(function_item name: (identifier) @local.definition.function)

(identifier) @local.reference
