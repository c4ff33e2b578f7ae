// Written by: python -m gslang.highlight.generate
module.exports = {
  reserved: ["and", "dialect", "each", "else", "false", "fn", "for", "if", "in", "is", "keep", "match", "none", "not", "op", "or", "ordered", "pass", "rule", "test", "true", "use", "where"],
};
