// The sample with its scopes, line by line, for people to read: `npm run snapshots` writes it, a test compares.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadGrammar, tokenize } from "./tokenize.mjs";

export function sample() {
  return readFileSync(new URL("sample.gsl", import.meta.url), "utf8").trimEnd();
}

/** Each line behind a `>`, below it each of its tokens that is no space. */
export function render(grammar, text) {
  const lines = text.split("\n");
  const blocks = tokenize(grammar, text).map((tokens, k) => {
    const shown = tokens.filter((token) => token.text.trim());
    return [`>${lines[k]}`, ...shown.map((token) => `  ${token.text.trim().padEnd(20)} ${token.scopes.join(" ").replaceAll(".gslang", "")}`)];
  });
  return `${blocks.flat().join("\n")}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("sample.snap", import.meta.url), render(await loadGrammar(), sample()));
}
