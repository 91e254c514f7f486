/** A package as it is published: compiled JavaScript with declarations, in a folder of its own. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { publishedManifest, type Manifest } from "./manifest.ts";

/** Files that a program starts by their path, so that no import leads to them. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  apiserver: ["isolation/worker-main.js", "isolation/watchdog-thread.js"],
  causeway: ["start.js", "main.js", "workloads/worker-main.js"],
};
/** Files that are no modules. */
const ASSETS: Readonly<Record<string, readonly string[]>> = { causeway: ["launch.sh"] };
/** What a module imports, requires, or loads later. */
const IMPORT = /(?:\bfrom|\bimport|\brequire\()\s*\(?\s*"(\.{1,2}\/[^"]+)"/g;

export interface Staged {
  readonly manifest: Manifest;
  /** The folder that is packed. */
  readonly dir: string;
}

/** Copies what a package publishes from the compiler's output `.build/NAME` to `.build/packages/NAME`. */
export function stage(root: string, name: string, commit: string): Staged {
  const source = join(root, "packages", name);
  const built = join(root, ".build", name);
  const dir = join(root, ".build/packages", name);
  rmSync(dir, { recursive: true, force: true });
  const manifest = publishedManifest(root, readManifest(join(source, "package.json")), { name, commit });
  const entries = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [entry.default.replace("./dist/", "")],
  );
  for (const file of reachable(built, [...entries, ...(PROGRAMS[name] ?? [])])) {
    put(join(dir, "dist", file), readFileSync(join(built, file), "utf8"));
    const types = file.replace(/\.js$/, ".d.ts");
    if (existsSync(join(built, types))) put(join(dir, "dist", types), typesOf(join(built, types)));
  }
  for (const file of ASSETS[name] ?? []) {
    put(join(dir, "dist", file), readFileSync(join(source, "src", file), "utf8"));
    chmodSync(join(dir, "dist", file), 0o755);
  }
  for (const file of ["LICENSE", "NOTICE"]) copyFileSync(join(root, file), join(dir, file));
  copyFileSync(join(source, "README.md"), join(dir, "README.md"));
  put(join(dir, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return { manifest, dir };
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, "utf8")) as Manifest;
}

/** Declarations are in the package as JavaScript is: the compiler leaves the extension of imports in them. */
function typesOf(path: string): string {
  return readFileSync(path, "utf8").replace(/((?:\bfrom|\bimport\()\s*"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"');
}

/** The modules that can be loaded from the entries, and those that declarations refer to. */
function reachable(built: string, entries: readonly string[]): string[] {
  const found = new Set<string>();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    const types = join(built, file.replace(/\.js$/, ".d.ts"));
    const text = readFileSync(join(built, file), "utf8") + (existsSync(types) ? typesOf(types) : "");
    for (const [, specifier = ""] of text.matchAll(IMPORT)) {
      const next = relative(built, resolve(built, dirname(file), specifier)).replace(/\.ts$/, ".js");
      open.push(next);
    }
  }
  return [...found].sort();
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
