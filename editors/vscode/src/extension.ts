// Starts `gslc lsp` for rule files, and offers two commands. All else (diagnostics, hover, formatting …) is the server's.
import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions, Trace } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("gslang.restart", restart),
    vscode.commands.registerCommand("gslang.testFile", testFile),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("gslang.server")) await restart();
      else if (event.affectsConfiguration("gslang.trace")) await client?.setTrace(traceLevel());
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(start),
  );
  if (vscode.workspace.isTrusted) await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}

async function start(): Promise<void> {
  if (client) return;
  const settings = vscode.workspace.getConfiguration("gslang");
  const server: ServerOptions = {
    command: gslc(),
    args: settings.get<string[]>("server.arguments", ["lsp"]),
    options: { cwd: workspaceFolder() },
  };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "gslang" },
      { scheme: "untitled", language: "gslang" },
    ],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/{*.gsl,gslang.toml,pyproject.toml}") },
  };
  client = new LanguageClient("gslang", "gslang", server, options);
  try {
    await client.start();
    await client.setTrace(traceLevel());
  } catch (error) {
    client = undefined;
    await explainFailure(error);
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart(): Promise<void> {
  await stop();
  if (vscode.workspace.isTrusted) await start();
}

/** Without a server there still are colours and snippets; say how to get one. */
async function explainFailure(error: unknown): Promise<void> {
  const message = `gslang: \`${gslc()}\` could not be started (${error instanceof Error ? error.message : String(error)}). `;
  const help = "Install it with `pip install \"gslang[lsp]\"`, or set gslang.server.path.";
  const choice = await vscode.window.showErrorMessage(message + help, "Open settings");
  if (choice) await vscode.commands.executeCommand("workbench.action.openSettings", "gslang.server");
}

async function testFile(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== "gslang" || document.uri.scheme !== "file") {
    await vscode.window.showInformationMessage("gslang: open a .gsl file first.");
    return;
  }
  await document.save();
  const run = new vscode.ProcessExecution(gslc(), ["test", document.uri.fsPath], { cwd: workspaceFolder() });
  const scope = vscode.workspace.getWorkspaceFolder(document.uri) ?? vscode.TaskScope.Workspace;
  const task = new vscode.Task({ type: "gslang" }, scope, `test ${path.basename(document.uri.fsPath)}`, "gslang", run, []);
  task.group = vscode.TaskGroup.Test;
  task.presentationOptions = { clear: true, reveal: vscode.TaskRevealKind.Always };
  await vscode.tasks.executeTask(task);
}

/** The configured command. A path with a separator is relative to the workspace; a plain name is found on PATH. */
function gslc(): string {
  const given = vscode.workspace.getConfiguration("gslang").get<string>("server.path", "gslc");
  const folder = workspaceFolder();
  if (path.isAbsolute(given) || !folder || !/[\\/]/.test(given)) return given;
  const inside = path.join(folder, given);
  return fs.existsSync(inside) ? inside : given;
}

function workspaceFolder(): string | undefined {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
}

function traceLevel(): Trace {
  return Trace.fromString(vscode.workspace.getConfiguration("gslang").get<string>("trace.server", "off"));
}
