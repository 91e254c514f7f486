import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkControllerShape } from "./controller-shape.ts";

const PLAN = "export function plan(observed: Observed, now: number): Plan<Step, Status> {}\n";
const FOLDER = "packages/example/src/widget";
let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "shape-"));
  mkdirSync(join(root, FOLDER), { recursive: true });
  for (const file of ["steps", "controller"]) write(file, "export {};\n");
  write("perform", "export async function perform(step: Step, signal: AbortSignal): Promise<void> {}\n");
  write("gather", "export async function gather(key: ObjectKey): Promise<Observed> {}\n");
  write("plan", PLAN);
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (file: string, text: string) => writeFileSync(join(root, FOLDER, `${file}.ts`), text);

test("the check of controllers accepts a controller of five files", () => {
  expect(checkControllerShape(root)).toEqual([]);
});

test("the check of controllers names the files that a controller lacks", () => {
  rmSync(join(root, FOLDER, "steps.ts"));
  expect(checkControllerShape(root)).toEqual([expect.stringContaining(`${FOLDER}: a controller has`)]);
});

test.each([
  ['| { readonly do: "delete" }', "the tag of a step is `type`, not `do`"],
  ['| { readonly type: "deleteNode"; readonly name: string }', "kebab-case: deleteNode"],
])("steps are tagged by type, in kebab-case: %s", (source, problem) => {
  write("steps", `export type Step = never\n  ${source};\n`);
  expect(checkControllerShape(root)).toEqual([expect.stringContaining(`${FOLDER}/steps.ts:2: `)]);
  expect(checkControllerShape(root)[0]).toContain(problem);
});

test("the check of controllers accepts steps with other fields that are texts", () => {
  write("steps", 'export type Step = { readonly type: "patch-node"; readonly kind: "Secret" };\n');
  expect(checkControllerShape(root)).toEqual([]);
});

test.each([
  ["plan", "export function planWidget(facts: Facts) {}", "plan(observed: Observed, …)"],
  ["plan", "export function plan(facts: Facts) {}", "plan(observed: Observed, …)"],
  ["gather", "export function gatherWidget() {}", "gather"],
  ["perform", "export function performWidgetStep() {}", "perform"],
])("%s.ts exports the function that all controllers have, not: %s", (file, source, name) => {
  write(file, `${source}\n`);
  expect(checkControllerShape(root)).toEqual([`${FOLDER}/${file}.ts: exports a function ${name}`]);
});

test.each([
  [
    "runs the pipeline",
    'import { runPipeline } from "@causeway/kubernetes";\nexport const run = runPipeline(pipeline);',
  ],
  [
    "runs a reconcile that it has itself",
    'import { runController } from "@causeway/kubernetes";\nconst reconcile = async (key) => {};\nrunController({ reconcile });',
  ],
  [
    "returns a controller with a reconcile that it has itself",
    "export function widgets(): ControllerOptions {\n  return { async reconcile(key) {} };\n}",
  ],
  ["works off a queue of its own", "const queue = new WorkQueue({ clock });"],
])("the check of controllers finds one in a file of another name: it %s", (_, source) => {
  write("loop", `${source}\n`);
  expect(checkControllerShape(root)).toEqual([expect.stringContaining(`${FOLDER}/loop.ts: runs a reconcile`)]);
});

test("the check of controllers finds one whose folder has no other file of a controller", () => {
  mkdirSync(join(root, "packages/example/src/lone"));
  writeFileSync(join(root, "packages/example/src/lone/controller.ts"), "export const run = runPipeline(pipeline);\n");
  expect(checkControllerShape(root)).toEqual([expect.stringContaining("lone/controller.ts: runs a reconcile")]);
});

test("the check of controllers accepts a file that only starts those of others, and tests", () => {
  write(
    "start",
    "// Each has a reconcile: of its own.\nexport const run = (all) => all.map((one) => runController(one));",
  );
  write("widget.test", "const reconcile = runPipeline(pipeline);");
  expect(checkControllerShape(root)).toEqual([]);
});

test("the check of controllers finds the parts of a controller that none runs", () => {
  rmSync(join(root, FOLDER, "controller.ts"));
  expect(checkControllerShape(root)).toEqual([
    expect.stringContaining(`${FOLDER}: has gather.ts, steps.ts and perform.ts`),
  ]);
});
