/**
 * Plans are pure: they and all that they import compute from their arguments. The check follows the values that a plan
 * imports, through the indexes of other packages, too, to the files that have them.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { importsIn, parsedFile } from "./parsed.ts";

/** What a plan may reach of Node and of npm: functions of their arguments. */
const PURE: ReadonlySet<string> = new Set([
  "node:crypto",
  "node:net",
  "node:path",
  "node:util",
  "node:buffer",
  "node:assert",
  "node:zlib",
  // Parsers, schemas and encoders.
  "yaml",
  "re2js",
  "typebox",
  "@bufbuild/protobuf",
  "@peculiar/x509",
  "reflect-metadata",
]);

/** Each with what it brings into a plan. */
const IMPURE: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/, "reads a clock"],
  [/\bset(?:Timeout|Interval|Immediate)\(|\bqueueMicrotask\(/, "sets a timer"],
  [/\bMath\.random\(|\brandom(?:UUID|Int|Bytes)\(/, "draws a random value"],
  [/\bfetch\(|\bprocess\.(?:env|exit|stdout|stderr|cwd|nextTick)/, "reaches out of its arguments"],
];

/** A plan itself waits for nothing either; what it imports may have such functions next to those that it calls. */
const WAITS = [/\basync\b|\bawait\b/, "waits"] as const;

/** Every effect that a plan has or can reach, by "plan: what it reaches". */
export function checkPurePlans(root: string): string[] {
  const packages = join(root, "packages");
  // Most files are reached from many plans.
  const lookup = { effectOf: memo((file) => ownEffects(file)[0]), targetsOf: memo((file) => targetsOf(root, file)) };
  return readdirSync(packages, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /^plan(?:-[\w-]+)?\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes("node_modules"))
    .sort()
    .flatMap((plan) => effectsOf(root, plan, lookup));
}

interface Lookup {
  readonly effectOf: (file: string) => string | undefined;
  readonly targetsOf: (file: string) => readonly string[];
}

function memo<T>(compute: (file: string) => T): (file: string) => T {
  const known = new Map<string, T>();
  return (file) => {
    if (!known.has(file)) known.set(file, compute(file));
    return known.get(file) as T;
  };
}

function effectsOf(root: string, plan: string, lookup: Lookup): string[] {
  const name = relative(root, plan);
  const waits = linesWith(plan, WAITS[0]).map((line) => `${name}: a plan ${WAITS[1]}: ${line}`);
  // The nearest file with an effect is enough to find the import that brings it.
  const pathTo = new Map<string, readonly string[]>([[plan, []]]);
  for (const [file, path] of pathTo) {
    const through =
      path.length === 0 ? "" : ` by ${path.map((each) => relative(packageOf(root, plan), each)).join(", ")}`;
    const effect = lookup.effectOf(file);
    if (effect !== undefined) return [...waits, `${name}: a plan ${effect}${through}`];
    for (const target of lookup.targetsOf(file)) if (!pathTo.has(target)) pathTo.set(target, [...path, target]);
  }
  return waits;
}

function packageOf(root: string, file: string): string {
  return join(root, "packages", relative(join(root, "packages"), file).split("/")[0] ?? "", "src");
}

/** What a file does apart from computing: forbidden imports, and calls with effects. */
function ownEffects(file: string): string[] {
  const imports = importsIn(file)
    .filter(({ values, specifier }) => values.length > 0 && !/^\.|^@causeway\//.test(specifier))
    .filter(({ specifier }) => !isPure(specifier))
    .map(({ specifier }) => `imports ${specifier === "" ? "what is computed at run time" : specifier}`);
  return [
    ...imports,
    ...IMPURE.flatMap(([pattern, what]) => linesWith(file, pattern).map((line) => `${what}: ${line}`)),
  ];
}

function isPure(specifier: string): boolean {
  return PURE.has(specifier) || [...PURE].some((name) => specifier.startsWith(`${name}/`));
}

/** Lines of the code, without comments and texts. */
function linesWith(file: string, pattern: RegExp): string[] {
  return codeOf(parsedFile(file).text)
    .split("\n")
    .filter((line) => pattern.test(line))
    .map((line) => line.trim());
}

/** Without comments and texts; a template with an expression remains. */
function codeOf(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|\/\/.*$|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.|\$(?!\{))*`/gm,
    (found) => (found.startsWith("/") ? "" : '""'),
  );
}

/** The files that a file imports values from, in its own package and in others. */
function targetsOf(root: string, file: string): string[] {
  return importsIn(file).flatMap(({ specifier, values }) => {
    if (values.length === 0) return [];
    if (specifier.startsWith(".")) return existing(resolve(file, "..", specifier));
    const [, name, entry = "index"] = /^@causeway\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
    if (name === undefined) return [];
    return existing(join(root, "packages", name, "src", `${entry}.ts`)).flatMap((index) =>
      values.flatMap((value) => exporters(index, value)),
    );
  });
}

/** The files that an index passes a name on from. An index with code of its own is one of them. */
function exporters(index: string, name: string): string[] {
  const entries = parsedFile(index).result.module.staticExports.flatMap((one) => one.entries);
  const found = entries.flatMap(({ moduleRequest, exportName, isType }) => {
    if (isType) return [];
    const isAll = exportName.name === null || exportName.name === undefined;
    if (name !== "*" && !isAll && exportName.name !== name) return [];
    if (!moduleRequest) return [index];
    const target = existing(resolve(index, "..", moduleRequest.value));
    return isAll ? target.filter((each) => name === "*" || provides(each, name)) : target;
  });
  return [...new Set(found)];
}

/** Whether a file exports a name, itself or by `export *`. */
function provides(file: string, name: string): boolean {
  return parsedFile(file)
    .result.module.staticExports.flatMap((one) => one.entries)
    .some(({ exportName, moduleRequest }) =>
      exportName.name === null || exportName.name === undefined
        ? moduleRequest !== null &&
          existing(resolve(file, "..", moduleRequest.value)).some((each) => provides(each, name))
        : exportName.name === name,
    );
}

const existing = (file: string): string[] => (basename(file).endsWith(".ts") && existsSync(file) ? [file] : []);
