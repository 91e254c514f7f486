/**
 * `npm run bench -- NAME [--json FILE]`: one benchmark of test/bench; prints a table, and writes its rows as JSON.
 * `npm run bench -- NAME --help` says what it measures, and its further arguments.
 * Programs are measured as they are installed: with the bundle, which is made again where a source has changed.
 */
import { spawn, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { bundled } from "@causeway/causeway/bundled";
import { usageShown } from "./usage.ts";

const folder = resolve(import.meta.dirname, "../test/bench");
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length));
const [name = "", ...args] = process.argv.slice(2);

const isKnown = names.includes(name);

if (usageShown(isKnown ? resolve(folder, `${name}.ts`) : import.meta.filename)) {
  if (!isKnown) console.log(`\nNAME is one of: ${names.join(", ")}`);
} else if (!isKnown) {
  console.error(`usage: npm run bench -- NAME [--json FILE]; NAME is one of: ${names.join(", ")}`);
  process.exitCode = 2;
} else {
  if (bundled("main") === undefined)
    spawnSync(process.execPath, [resolve(import.meta.dirname, "bundle.ts")], { stdio: "inherit" });
  const child = spawn(process.execPath, [resolve(folder, `${name}.ts`), ...args], { stdio: "inherit" });
  process.exitCode = await new Promise<number>((done) => child.on("close", (code) => done(code ?? 1)));
}
