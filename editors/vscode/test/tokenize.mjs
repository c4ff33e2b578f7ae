// The grammar, run by the engine of VS Code itself: text → for each line the tokens with their scopes.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const require = createRequire(import.meta.url);
const grammarFile = new URL("../syntaxes/gslang.tmLanguage.json", import.meta.url);

/** A grammar: that of rule files, or one of `others` (scope → grammar), all of which are injected into it. */
export async function loadGrammar(scope = "source.gslang", others = {}) {
  await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
  const own = textmate.parseRawGrammar(readFileSync(grammarFile, "utf8"), grammarFile.pathname);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (name) => (name === "source.gslang" ? own : (others[name] ?? null)),
    getInjections: (name) => Object.keys(others).filter((other) => other !== name),
  });
  return registry.loadGrammar(scope);
}

/** One list per line: { text, begin, end, scopes } with UTF-16 columns; the scope of the whole file is left out. */
export function tokenize(grammar, text) {
  let state = textmate.INITIAL;
  return text.split("\n").map((line) => {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    return result.tokens.map(({ startIndex: begin, endIndex: end, scopes }) => ({
      text: line.slice(begin, end),
      begin,
      end: Math.min(end, line.length),
      scopes: scopes.slice(1),
    }));
  });
}
