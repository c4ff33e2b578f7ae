// The bundled client in a stand-in for the editor: it loads, registers its commands, and starts no server where nobody trusts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const folder = fileURLToPath(new URL("..", import.meta.url));
const commands = new Map();
const messages = [];
let extension;

/** Whatever the library asks of the editor when it is loaded: classes to extend, enumerations, functions. */
const anything = () =>
  new Proxy(class {}, { get: (target, name) => (name in target || typeof name === "symbol" ? target[name] : (target[name] = anything())) });

function editor(trusted) {
  const disposable = { dispose() {} };
  const vscode = anything();
  vscode.commands = { registerCommand: (name, run) => (commands.set(name, run), disposable) };
  vscode.window = { activeTextEditor: undefined, showInformationMessage: async (text) => void messages.push(text) };
  vscode.workspace = { isTrusted: trusted, onDidChangeConfiguration: () => disposable, onDidGrantWorkspaceTrust: () => disposable };
  return vscode;
}

before(() => {
  execFileSync(process.execPath, ["build.mjs"], { cwd: folder, stdio: "pipe" });
  const Module = require("node:module");
  const load = Module._load;
  const vscode = editor(false);
  Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
  extension = require("../dist/extension.js");
  Module._load = load;
});

test("it registers the commands of the manifest", async () => {
  const subscriptions = [];
  await extension.activate({ subscriptions });
  const declared = require("../package.json").contributes.commands.map(({ command }) => command);
  assert.deepEqual([...commands.keys()].sort(), declared.sort());
  assert.equal(subscriptions.length, 4);
});

test("the test command asks for a rule file", async () => {
  await commands.get("gslang.testFile")();
  assert.match(messages.at(-1), /open a \.gsl file/);
});

test("it ends where no server runs", async () => {
  await commands.get("gslang.restart")();
  await extension.deactivate();
});
