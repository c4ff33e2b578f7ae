// Blocks of rules in Markdown have the colours of rules.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadGrammar, tokenize } from "./tokenize.mjs";

const host = { scopeName: "text.html.markdown", patterns: [], repository: {} };
const injected = JSON.parse(readFileSync(new URL("../syntaxes/markdown.tmLanguage.json", import.meta.url), "utf8"));
const grammar = await loadGrammar("text.html.markdown", { "text.html.markdown": host, "markdown.gslang.codeblock": injected });

for (const fence of ["```gslang", "```gsl", "~~~gslang"]) {
  test(`a block that begins with ${fence}`, () => {
    const lines = tokenize(grammar, `rule here is text\n\n${fence}\nrule r(x): x => x;\n${fence.slice(0, 3)}\nrule here, too`);
    const scopes = (line) => lines[line].flatMap((token) => token.scopes);
    assert.ok(scopes(3).includes("keyword.declaration.gslang") && scopes(3).includes("meta.embedded.block.gslang"));
    assert.ok(![0, 5].some((line) => scopes(line).some((scope) => scope.endsWith(".gslang"))));
  });
}
