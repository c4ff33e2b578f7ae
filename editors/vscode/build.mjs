// Bundles the client and the language client library into one file: the package then needs no node_modules.
import { copyFileSync } from "node:fs";
import { build } from "esbuild";

const release = process.argv.includes("--minify");

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  external: ["vscode"], // given by the editor
  format: "cjs",
  platform: "node",
  target: "node20",
  minify: release,
  sourcemap: !release,
  logLevel: "info",
});
if (release) copyFileSync("../../LICENSE", "LICENSE"); // the package carries the project's licence
