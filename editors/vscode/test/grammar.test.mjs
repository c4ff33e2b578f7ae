// The grammar against the compiler's own lexer, on the one corpus of all highlighters.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadGrammar, tokenize } from "./tokenize.mjs";
import { render, sample } from "./write-snapshots.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const grammar = await loadGrammar();

/** What the innermost scope of a token may begin with, by what the compiler takes it for. */
const allowed = {
  comment: ["comment."],
  string: ["string.quoted", "punctuation.definition.string", "constant.character.escape"],
  number: ["constant.numeric", "variable.other.property"],
  constant: ["constant.language"],
  keyword: ["keyword.", "storage.type"],
  field: ["variable.other.property", "entity.name", "keyword.operator.spread"],
  name: ["variable.", "entity.", "support.", "storage.type"],
  sign: ["keyword.operator", "punctuation.", "support.type", "entity.name.namespace"],
};

function corpus() {
  const own = `${root}/.venv/bin/python`;
  const python = process.env.PYTHON ?? (existsSync(own) ? own : "python3");
  const done = spawnSync(python, ["-m", "tests.editors.corpus"], { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(done.status, 0, done.stderr);
  return Object.entries(JSON.parse(done.stdout));
}

test("every token of the corpus has the scope of what it is", () => {
  const files = corpus();
  assert.ok(files.length > 30);
  let checked = 0;
  for (const [name, { text, tokens }] of files) {
    const lines = text.split("\n");
    const found = tokenize(grammar, text);
    for (const [line, column, length, kind, value] of tokens) {
      const units = [...lines[line - 1]];
      const begin = units.slice(0, column).join("").length;
      const end = begin + units.slice(column, column + length).join("").length;
      for (const piece of found[line - 1].filter((token) => token.begin < end && token.end > begin)) {
        const scope = piece.scopes.at(-1) ?? "";
        const place = `${name}:${line}:${column + 1}: ${kind} \`${value}\` is \`${scope}\``;
        assert.ok(allowed[kind].some((start) => scope.startsWith(start)), place);
        checked += 1;
      }
    }
    for (const token of found.flat()) assert.ok(!token.scopes.some((scope) => scope.startsWith("invalid.")), `${name}: ${token.text}`);
  }
  assert.ok(checked > 10000, `only ${checked} tokens`);
});

test("what the language does not know is invalid", () => {
  for (const text of ["rule r(x): §x => x;", "a & b", "'text'", "x = $1;"]) {
    const scopes = tokenize(grammar, text).flat().flatMap((token) => token.scopes);
    assert.ok(scopes.includes("invalid.illegal.gslang"), text);
  }
});

test("an open bracket ends with its statement", () => {
  const [, second] = tokenize(grammar, "a = nn.relu((x, [1;\nb = c;");
  assert.deepEqual(second[0].scopes, ["variable.other.definition.gslang"]);
});

test("an open string ends with its line", () => {
  const [, second] = tokenize(grammar, 'use "std\nrule r(x): x => x;');
  assert.deepEqual(second[0].scopes, ["keyword.declaration.gslang"]);
});

test("the sample has the scopes of the snapshot", () => {
  assert.equal(render(grammar, sample()), readFileSync(new URL("sample.snap", import.meta.url), "utf8"), "`npm run snapshots` writes it anew");
});
