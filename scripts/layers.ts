/**
 * The layers of the packages as data, and the few pairs of one layer that may import each other. `checkLayers` holds
 * every import in packages/ against it. docs/decisions records the reason for each pair.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { importsIn, parsedFile } from "./parsed.ts";

export const layers: Readonly<Record<string, number>> = {
  foundation: 0,
  kubernetes: 1,
  openstack: 1,
  api: 1,
  csi: 1,
  kms: 1,
  "octavia-tree": 1,
  apiserver: 2,
  simulator: 2,
  "machine-agent": 2,
  "csi-openstack": 2,
  "cinder-csi": 3,
  "manila-csi": 3,
  "csi-sidecars": 3,
  "cloud-controller-manager": 3,
  "cluster-api": 3,
  "cluster-api-openstack": 3,
  "hosted-control-plane": 3,
  "workload-controllers": 3,
  "openstack-operator": 3,
  "keystone-auth": 3,
  "barbican-kms": 3,
  "octavia-ingress": 3,
  "reverse-tunnel": 3,
  "magnum-api": 3,
  addons: 3,
  "api-gateway": 3,
  "magnum-migration": 3,
  causeway: 4,
};

/** Imports within one layer that a decision record allows: from → to. */
const sidewaysPairs: Readonly<Record<string, readonly string[]>> = {
  api: ["kubernetes"],
  "octavia-tree": ["openstack"],
  "magnum-migration": ["magnum-api"],
};

/** Imports that the layers would allow, and that are forbidden. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  simulator: ["openstack"],
  csi: ["openstack", "kubernetes"],
  kms: ["openstack", "kubernetes"],
  "octavia-tree": ["kubernetes"],
  "csi-openstack": ["openstack"],
  "csi-sidecars": ["openstack"],
  "hosted-control-plane": ["openstack"],
  "cluster-api": ["openstack"],
  "workload-controllers": ["openstack"],
  "reverse-tunnel": ["openstack", "apiserver"],
  addons: ["openstack"],
  "api-gateway": ["openstack", "api"],
};

interface Import {
  readonly file: string;
  readonly specifier: string;
  /** Counted only for a finding: there are tens of thousands of imports. */
  readonly line: () => number;
}

/** Every violation, as "file:line what is wrong". Empty when all imports go down. */
export function checkLayers(root: string): string[] {
  const problems: string[] = [];
  for (const name of readdirSync(join(root, "packages"))) {
    if (layers[name] === undefined) problems.push(`packages/${name}: has no layer; add it to scripts/layers.ts`);
    const dir = join(root, "packages", name);
    const declared = declaredDependencies(dir);
    for (const found of importsBelow(join(dir, "src"))) problems.push(...judge({ root, name, dir, declared }, found));
  }
  return problems;
}

/** The table of ARCHITECTURE.md has every package, in its layer. */
export function checkPackageTable(root: string): string[] {
  const rows = readFileSync(join(root, "ARCHITECTURE.md"), "utf8").matchAll(/^\| *(?:(\d) \w+)? *\| `([\w-]+)`/gm);
  const written = new Map<string, number>();
  let layer = Number.NaN;
  for (const [, number, name = ""] of rows) {
    if (number !== undefined) layer = Number(number);
    written.set(name, layer);
  }
  return Object.entries(layers)
    .filter(([name, number]) => written.get(name) !== number)
    .map(([name, number]) => `ARCHITECTURE.md: its table of packages must have ${name}, in layer ${number}`);
}

/** Files are named by what they do, not as a place for what has no other. */
export function checkFileNames(root: string): string[] {
  return execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => /(?:^|\/)(?:utils?|helpers?|common)(?:\.\w+)*(?:$|\/)/.test(file))
    .map((file) => `${file}: is named utils, helpers or common; name it by what it does`);
}

interface Package {
  readonly root: string;
  readonly name: string;
  readonly dir: string;
  readonly declared: ReadonlySet<string>;
}

function judge(from: Package, found: Import): string[] {
  const place = () => `${relative(from.root, found.file)}:${found.line()}`;
  const { specifier } = found;
  if (specifier.startsWith(".")) {
    const target = resolve(found.file, "..", specifier);
    return target.startsWith(from.dir + sep) ? [] : [`${place()} reaches out of its package: ${specifier}`];
  }
  const match = /^@causeway\/([^/]+)(\/.*)?$/.exec(specifier);
  if (!match) return externalProblems(from, found, place);
  const to = match[1] ?? "";
  if (to === from.name) return [];
  const problems: string[] = [];
  const entry = match[2];
  if (entry !== undefined && entry !== "/testing" && !isExported(from.root, to, entry))
    problems.push(`${place()} imports what ${to} does not export: ${specifier}`);
  if (!from.declared.has(specifier.replace(/(@causeway\/[^/]+).*/, "$1")) && !isTest(found.file))
    problems.push(`${place()} uses @causeway/${to}, which package.json does not name`);
  const down = (layers[from.name] ?? -1) > (layers[to] ?? 99) || (sidewaysPairs[from.name] ?? []).includes(to);
  if (!down && !isTest(found.file))
    problems.push(`${place()} ${from.name} (layer ${layers[from.name]}) may not import ${to} (layer ${layers[to]})`);
  if ((forbidden[from.name] ?? []).includes(to)) problems.push(`${place()} ${from.name} must not know ${to}`);
  return problems;
}

function externalProblems(from: Package, found: Import, place: () => string): string[] {
  if (found.specifier.startsWith("node:") || isTest(found.file)) return [];
  const name = found.specifier
    .split("/")
    .slice(0, found.specifier.startsWith("@") ? 2 : 1)
    .join("/");
  return from.declared.has(name) ? [] : [`${place()} uses ${name}, which package.json does not name`];
}

function isTest(file: string): boolean {
  return file.endsWith(".test.ts") || file.includes("/scenarios/") || file.includes("/testing/");
}

/** A package has an entry of its own for what must not be loaded with the rest. */
function isExported(root: string, name: string, entry: string): boolean {
  const file = join(root, "packages", name, "package.json");
  const { exports = {} } = JSON.parse(readFileSync(file, "utf8")) as { exports?: Record<string, string> };
  return Object.hasOwn(exports, `.${entry}`);
}

function declaredDependencies(dir: string): Set<string> {
  const manifest = JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  return new Set(Object.keys(manifest.dependencies ?? {}));
}

function* importsBelow(dir: string): Generator<Import> {
  for (const entry of readdirSync(dir, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts")) continue;
    const file = join(entry.parentPath, entry.name);
    yield* importsOf(file);
  }
}

function* importsOf(file: string): Generator<Import> {
  const { text } = parsedFile(file);
  for (const { specifier, offset } of importsIn(file)) {
    // What is computed at run time has no name here.
    if (specifier !== "") yield { file, specifier, line: () => text.slice(0, offset).split("\n").length };
  }
}
