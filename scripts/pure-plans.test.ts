import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkPurePlans } from "./pure-plans.ts";

const PLAN = "packages/example/src/widget/plan.ts";
let root = "";
beforeEach(() => (root = mkdtempSync(join(tmpdir(), "pure-"))));
afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, ...lines: readonly string[]): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), `${lines.join("\n")}\n`);
}

test("the check of pure plans accepts a plan that computes", () => {
  write(PLAN, "// async, in a comment", 'import { isIP } from "node:net";', 'export const text = "await Date.now()";');
  expect(checkPurePlans(root)).toEqual([]);
});

test.each([
  ["export const now = () => Date.now();", "reads a clock"],
  ["export async function plan() {}", "waits"],
  ["export const at = Math.random();", "draws a random value"],
  ["export const later = (work) => setTimeout(work, 1);", "sets a timer"],
  ["export const name = `${process.env.NAME}`;", "reaches out of its arguments"],
  ['import { readFileSync } from "node:fs";\nexport const read = readFileSync;', "imports node:fs"],
  ['import { request } from "undici";\nexport const ask = request;', "imports undici"],
  ['export const load = () => import("node:fs");', "imports node:fs"],
  ["export const load = (name) => import(name);", "imports what is computed at run time"],
])("the check of pure plans refuses in a plan: %s", (source, what) => {
  write(PLAN, source);
  expect(checkPurePlans(root)).toEqual([expect.stringContaining(`${PLAN}: a plan ${what}`)]);
});

test("the check of pure plans follows the values that a plan imports, and says by which files", () => {
  write(PLAN, 'import { near } from "./near.ts";', "export const plan = near;");
  write("packages/example/src/widget/near.ts", 'export { far as near } from "../far.ts";');
  write("packages/example/src/far.ts", "export const far = () => Date.now();");
  expect(checkPurePlans(root)).toEqual([
    `${PLAN}: a plan reads a clock: export const far = () => Date.now(); by widget/near.ts, far.ts`,
  ]);
});

test("the check of pure plans leaves types alone, and what waits next to a function that is called", () => {
  write(PLAN, 'import type { Client } from "./client.ts";', 'import { type Other, pure } from "./near.ts";');
  write("packages/example/src/widget/client.ts", 'import { request } from "undici";', "export class Client {}");
  write("packages/example/src/widget/near.ts", "export const pure = 1;", "export async function other() {}");
  expect(checkPurePlans(root)).toEqual([]);
});

test.each([
  ["now", [expect.stringContaining("reads a clock")]],
  ["add", []],
])(
  "the check of pure plans follows a name through the index of another package, and only that name: %s",
  (name, problems) => {
    write(PLAN, `import { ${name} } from "@causeway/kit";`);
    write("packages/kit/src/index.ts", 'export { clock as now } from "./clock.ts";', 'export { add } from "./add.ts";');
    write("packages/kit/src/clock.ts", "export const clock = () => Date.now();");
    write("packages/kit/src/add.ts", "export const add = (a, b) => a + b;");
    expect(checkPurePlans(root)).toEqual(problems);
  },
);

test("the check of pure plans follows a name through `export *`", () => {
  write(PLAN, 'import { now } from "@causeway/star";');
  write("packages/star/src/index.ts", 'export * from "./add.ts";', 'export * from "./clock.ts";');
  write("packages/star/src/add.ts", "export const add = Math.random();");
  write("packages/star/src/clock.ts", "export const now = 1;");
  expect(checkPurePlans(root)).toEqual([]);
});
