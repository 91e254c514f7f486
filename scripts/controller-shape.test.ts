import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkControllerShape } from "./controller-shape.ts";

const FOLDER = "packages/example/src/widget";
let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "shape-"));
  mkdirSync(join(root, FOLDER), { recursive: true });
  for (const file of ["gather", "plan", "steps", "perform", "controller"]) write(file, "export {};\n");
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (file: string, text: string) => writeFileSync(join(root, FOLDER, `${file}.ts`), text);

test("accepts a controller of five files with a pure plan", () => {
  write("plan", '// async, in a comment\nimport { isIP } from "node:net";\nexport const text = "await";\n');
  expect(checkControllerShape(root, {})).toEqual([]);
});

test("names the files that a controller lacks, unless that has a reason", () => {
  rmSync(join(root, FOLDER, "steps.ts"));
  expect(checkControllerShape(root, {})).toEqual([expect.stringContaining(`${FOLDER}: a controller has`)]);
  expect(checkControllerShape(root, { [FOLDER]: "a reason" })).toEqual([]);
});

test("reports an exception that is not needed any more", () => {
  expect(checkControllerShape(root, { [FOLDER]: "a reason" })).toEqual([
    expect.stringContaining("remove its exception"),
  ]);
});

test.each([
  ["export const now = () => Date.now();", "reads a clock"],
  ["export async function plan() {}", "waits"],
  ["export const at = Math.random();", "draws a random value"],
  ['import { readFileSync } from "node:fs";\nexport const read = readFileSync;', "imports node:fs"],
])("a plan is pure: %s", (source, what) => {
  write("plan-widget", `${source}\n`);
  expect(checkControllerShape(root, {})).toEqual([expect.stringContaining(what)]);
});
