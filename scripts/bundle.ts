/**
 * `npm ci` runs it: makes one file of the command and what it imports, from which programs start twice as fast as from
 * some six hundred sources, and a snapshot of `causeway apiserver`, which starts three times as fast again. After a
 * change of a source the program starts from sources, until the next install or `npm run prepare`. Without it all runs,
 * so that a failure is only a warning.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown, type InputOptions, type OutputOptions } from "rolldown";
import type * as ApiServer from "@causeway/apiserver";
import { BUNDLE, CHECKOUT, MADE_OF, stampOf, type SnapshotFacts } from "@causeway/causeway/bundled";
import { bundleOptions, moduleOptions } from "./bundle-options.ts";

/** What npm installed last: represents every file below node_modules. */
const INSTALLED = "node_modules/.package-lock.json";
/** Modules of Node that a snapshot cannot hold: they are loaded when they are first used. */
const NATIVE = ["http", "http2", "https", "sqlite", "tls"];
/** What starts from the snapshot: it says the flags. */
const LAUNCH = resolve(CHECKOUT, "packages/causeway/src/launch.sh");
/** A module of Node that is loaded when the first of its names is read. */
const LATER = `const laterModule = (name) => {
  let loaded;
  return new Proxy({}, { get: (_, key) => (loaded ??= process.getBuiltinModule(name))[key] });
};
`;

/**
 * What node --build-snapshot runs, with the files of the facts and of the program: compiles every function of the
 * program, since a snapshot holds the code of those that are compiled, and a start that compiles them as it comes to
 * them takes longer than one that reads them all. Flags must be as they were when the snapshot is written, and no
 * Script may be left: it cannot be in one. To query objects is to collect garbage.
 */
const COMPILED = `const { readFileSync } = require("node:fs");
const { dirname } = require("node:path");
const { queryObjects, setFlagsFromString } = require("node:v8");
const { Script } = require("node:vm");
const run = (filename) => {
  const source = readFileSync(filename, "latin1");
  setFlagsFromString("--no-lazy");
  const script = new Script("(function (require, exports, __dirname, __filename) {" + source + "\\n})", { filename });
  setFlagsFromString("--lazy");
  script.runInThisContext()(require, {}, dirname(filename), filename);
};
run(process.argv[3]);
queryObjects(class {});
`;

/** Writes what rolldown makes; answers the stamps of what it was made of. */
async function build(options: InputOptions, output: OutputOptions): Promise<SnapshotFacts["stamps"]> {
  const made = await rolldown(options);
  await made.write({ keepNames: true, ...output });
  const sources = (await made.watchFiles)
    .map((file) => relative(CHECKOUT, file))
    .filter((file) => !file.startsWith("node_modules/") && !file.startsWith(".."))
    .sort();
  await made.close();
  return [INSTALLED, ...sources].map(stampOf);
}

async function modules(dir: string): Promise<void> {
  const input = {
    main: "packages/causeway/src/main.ts",
    apiserver: "packages/apiserver/src/index.ts",
    worker: "packages/causeway/src/workloads/worker-main.ts",
    watchdog: "packages/apiserver/src/isolation/watchdog-thread.js",
  };
  const stamps = await build(moduleOptions(input), { dir, format: "esm", chunkFileNames: "[name]-[hash].js" });
  writeFileSync(resolve(dir, MADE_OF), JSON.stringify(stamps));
  writeFileSync(resolve(dir, "package.json"), JSON.stringify({ type: "module" }));
}

async function snapshot(dir: string): Promise<void> {
  const file = resolve(dir, "apiserver.cjs");
  const minify = { compress: false, mangle: false, codegen: { removeWhitespace: true } };
  const stamps = await build(bundleOptions("packages/causeway/src/snapshot.ts"), {
    file,
    format: "cjs",
    minify,
    codeSplitting: false,
  });
  const built = pathToFileURL(resolve(dir, "apiserver.js")).href;
  const { firstObjects } = (await import(built)) as typeof ApiServer;
  const facts: SnapshotFacts = { stamps, firstObjects: await firstObjects() };
  const factsFile = resolve(dir, "facts.json");
  writeFileSync(factsFile, JSON.stringify(facts));
  writeFileSync(file, LATER + withoutNative(readFileSync(file, "utf8")));
  const compiled = resolve(dir, "compiled.cjs");
  writeFileSync(compiled, COMPILED);
  const blob = resolve(dir, "apiserver.blob");
  const args = [...flags(), "--snapshot-blob", blob, "--build-snapshot", compiled, factsFile, file];
  const ran = spawnSync(process.execPath, args, { cwd: CHECKOUT, encoding: "utf8", timeout: 60_000 });
  if (ran.status !== 0) throw new Error(`no snapshot of the API server: ${ran.stderr.slice(-2000)}`);
  symlinkSync(process.execPath, resolve(dir, "node"));
}

/** The flags that the snapshot will be read with: its code is of use to a Node of the same flags only. */
function flags(): string[] {
  const [, found] = /exec "\$bundle\/node" (.*) --snapshot-blob/.exec(readFileSync(LAUNCH, "utf8")) ?? [];
  if (found === undefined) throw new Error(`${LAUNCH} does not say which flags a snapshot is read with`);
  return found.split(" ");
}

/** In plain ASCII, too: text of one byte a letter takes half the memory, and half the time to load. */
function withoutNative(source: string): string {
  const native = new RegExp(`require\\(["\`](?:node:)?(${NATIVE.join("|")})["\`]\\)`, "g");
  return source
    .replace(native, 'laterModule("node:$1")')
    .replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

async function bundle(): Promise<void> {
  mkdirSync(dirname(BUNDLE), { recursive: true });
  const dir = mkdtempSync(`${BUNDLE}-`);
  try {
    await modules(dir);
    await snapshot(dir);
  } finally {
    rmSync(BUNDLE, { recursive: true, force: true });
    renameSync(dir, BUNDLE);
  }
}

try {
  await bundle();
} catch (error) {
  console.error(`starts take longer than they could: ${String(error)}`);
  // An install continues without the bundle; a user who requested it by name gets the failure as a status.
  if (process.env["npm_lifecycle_event"] !== "prepare") process.exitCode = 1;
}
