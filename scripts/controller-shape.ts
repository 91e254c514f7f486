/**
 * The shape of controllers: five files with the same names in them, and steps tagged by `type` (ARCHITECTURE.md). What
 * runs the pipeline, or is a reconcile made by hand, is a controller, whatever its file is called. The loops inside the
 * API server are not: they work on its registry and know no client.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { codeOf } from "./prose.ts";

const FILES = ["gather.ts", "plan.ts", "steps.ts", "perform.ts", "controller.ts"];

/** What is wrong with the shape of a controller, one line each. */
export function checkControllerShape(root: string): string[] {
  const files = readdirSync(join(root, "packages"), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.parentPath.includes("node_modules"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
  const read = (file: string) => readFileSync(join(root, file), "utf8");
  return [
    ...shapes(files),
    ...hidden(files, (file) => isLoop(join(root, file), read(file))),
    ...files.filter((file) => basename(file) === "steps.ts").flatMap((file) => tags(file, read(file))),
    ...controllersIn(files).flatMap((folder) => names(folder, files, read)),
  ];
}

function shapes(files: readonly string[]): string[] {
  const known = new Set(files);
  return controllersIn(files).flatMap((folder) => {
    const missing = FILES.filter((file) => !known.has(`${folder}/${file}`));
    return missing.length === 0
      ? []
      : [`${folder}: a controller has ${FILES.join(", ")}; missing: ${missing.join(", ")}`];
  });
}

/** Folders with a `controller.ts` and a plan, or a gather. */
export function controllersIn(files: readonly string[]): string[] {
  const known = new Set(files);
  return files
    .filter((file) => basename(file) === "controller.ts")
    .map(dirname)
    .filter((folder) => known.has(`${folder}/plan.ts`) || known.has(`${folder}/gather.ts`));
}

/** Controllers in files of other names, and folders with the parts of a controller and none. */
function hidden(files: readonly string[], runsReconcile: (file: string) => boolean): string[] {
  const known = new Set(files);
  const controllers = new Set(controllersIn(files));
  const loops = files
    .filter((file) => /^packages\/[^/]+\/src\//.test(file) && !file.startsWith("packages/kubernetes/"))
    .filter((file) => !file.endsWith(".test.ts") && !file.includes("/testing/"))
    .filter((file) => basename(file) !== "controller.ts" || !controllers.has(dirname(file)))
    .filter(runsReconcile)
    .map((file) => `${file}: runs a reconcile, so it is the controller.ts of a folder with ${FILES.join(", ")}`);
  const parts = files
    .filter((file) => basename(file) === "perform.ts" && known.has(`${dirname(file)}/gather.ts`))
    .filter((file) => known.has(`${dirname(file)}/steps.ts`) && !controllers.has(dirname(file)))
    .map((file) => `${dirname(file)}: has gather.ts, steps.ts and perform.ts, and no controller.ts that runs them`);
  return [...loops, ...parts];
}

/** A use of the pipeline, or of the runner of controllers or a queue with a reconcile that is written in the file. */
function isLoop(file: string, source: string): boolean {
  if (!/\b(?:runPipeline|runController|ControllerOptions|WorkQueue)\b/.test(source)) return false;
  const code = codeOf(file, source);
  if (/\brunPipeline\b|\bnew WorkQueue\b/.test(code)) return true;
  return /\b(?:runController|ControllerOptions)\b/.test(code) && /\breconcile\w*\s*[:(=,]|\breconcile\s*\}/.test(code);
}

/** Steps are discriminated by `type`, in kebab-case. */
function tags(file: string, source: string): string[] {
  return source.split("\n").flatMap((line, i) => {
    const [, field, value = ""] = /\breadonly (do|type|kind|step|action): "([^"]*)"/.exec(line) ?? [];
    if (field === undefined) return [];
    if (field !== "type" && !line.includes(" type: "))
      return [`${file}:${i + 1}: the tag of a step is \`type\`, not \`${field}\``];
    return field !== "type" || /^[a-z\d]+(?:-[a-z\d]+)*$/.test(value)
      ? []
      : [`${file}:${i + 1}: the type of a step is in kebab-case: ${value}`];
  });
}

/** Every controller reads with `gather`, decides with `plan(observed: Observed, …)` and writes with `perform`. */
function names(folder: string, files: readonly string[], read: (file: string) => string): string[] {
  const wanted: readonly (readonly [file: string, pattern: RegExp, what: string])[] = [
    ["plan.ts", /^export function plan\(\s*(?:\w+|\{[^}]*\}): Observed\b/m, "plan(observed: Observed, …)"],
    ["gather.ts", /^export (?:async )?function gather[(<]/m, "gather"],
    ["perform.ts", /^export (?:async )?function perform[(<]/m, "perform"],
  ];
  return wanted.flatMap(([name, pattern, what]) => {
    const file = `${folder}/${name}`;
    return !files.includes(file) || pattern.test(read(file)) ? [] : [`${file}: exports a function ${what}`];
  });
}
