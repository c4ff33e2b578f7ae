// What `tree-sitter generate` makes of grammar.js, as JSON: for the test that src/grammar.json is not stale.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

const rule = (value) =>
  typeof value === "string" ? { type: "STRING", value } : value instanceof RegExp ? { type: "PATTERN", value: value.source } : value;
const symbol = (name) => ({ type: "SYMBOL", name });
const members = (type) => (...given) => ({ type, members: given.map(rule) });
const content = (type) => (given) => ({ type, content: rule(given) });
const level = (type) => (...given) =>
  given.length === 1 ? { type, value: 0, content: rule(given[0]) } : { type, value: given[0], content: rule(given[1]) };

Object.assign(globalThis, {
  seq: members("SEQ"),
  choice: members("CHOICE"),
  repeat: content("REPEAT"),
  repeat1: content("REPEAT1"),
  optional: (given) => ({ type: "CHOICE", members: [rule(given), { type: "BLANK" }] }),
  field: (name, given) => ({ type: "FIELD", name, content: rule(given) }),
  alias: (given, to) => ({ type: "ALIAS", content: rule(given), named: typeof to !== "string", value: typeof to === "string" ? to : to.name }),
  prec: Object.assign(level("PREC"), { left: level("PREC_LEFT"), right: level("PREC_RIGHT"), dynamic: level("PREC_DYNAMIC") }),
  token: Object.assign(content("TOKEN"), { immediate: content("IMMEDIATE_TOKEN") }),
  grammar: (given) => {
    const symbols = new Proxy({}, { get: (_, name) => symbol(name) });
    const names = (list) => (list ? list(symbols).map(({ name }) => name) : []);
    return {
      name: given.name,
      word: given.word(symbols).name,
      rules: Object.fromEntries(Object.entries(given.rules).map(([name, make]) => [name, rule(make(symbols))])),
      extras: given.extras(symbols).map(rule),
      inline: names(given.inline),
      supertypes: names(given.supertypes),
    };
  },
});

process.stdout.write(JSON.stringify(require(process.argv[2])));
