import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkFolderOrder } from "./folder-order.ts";
import { checkLayers, checkPackageTable } from "./layers.ts";

let root = "";
beforeEach(() => (root = mkdtempSync(join(tmpdir(), "order-"))));
afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, "packages", file)), { recursive: true });
  writeFileSync(join(root, "packages", file), text);
}

test.each([
  ["a static import", 'import { high } from "../high/a.ts";'],
  ["a type", 'import type { High } from "../high/a.ts";'],
  ["an export", 'export { high } from "../high/a.ts";'],
  ["an import at run time", 'export const load = () => import("../high/a.ts");'],
])("the order of folders refuses %s of a folder that comes later", (_title, source) => {
  write("kit/src/low/a.ts", source);
  write("kit/src/high/a.ts", "export const high = 1;");
  expect(checkFolderOrder(root, { kit: ["low", "high"] })).toEqual([
    "packages/kit/src/low/a.ts: may not import high/a.ts: high does not come before low",
  ]);
  expect(checkFolderOrder(root, { kit: ["high", "low"] })).toEqual([]);
});

test.each([
  [5_001, ["packages/kit: has more than 5000 lines; add its folders to scripts/folder-order.ts"]],
  [4_000, []],
])("a package of %d lines without an order is a finding where it is large", (lines, problems) => {
  write("kit/src/low/a.ts", "// one line\n".repeat(lines));
  write("kit/src/low/a.test.ts", "// one line\n".repeat(5_000));
  expect(checkFolderOrder(root, {})).toEqual(problems);
});

test.each([
  ["a static import", 'import { up } from "@causeway/causeway";'],
  ["an import at run time", 'export const load = () => import("@causeway/causeway");'],
])("the layers refuse %s of a higher package", (_title, source) => {
  write("foundation/package.json", '{ "dependencies": { "@causeway/causeway": "1" } }');
  write("foundation/src/a.ts", source);
  expect(checkLayers(root)).toEqual([
    expect.stringContaining("foundation (layer 0) may not import causeway (layer 4)"),
  ]);
});

test("the table of ARCHITECTURE.md must have every package in its layer", () => {
  const file = join(root, "ARCHITECTURE.md");
  const whole = readFileSync(resolve(import.meta.dirname, "../ARCHITECTURE.md"), "utf8");
  writeFileSync(file, whole);
  expect(checkPackageTable(root)).toEqual([]);
  writeFileSync(file, whole.replace(/^.*`addons`.*\n/m, "").replace("| 0 base", "| 1 base"));
  expect(checkPackageTable(root)).toEqual([
    "ARCHITECTURE.md: its table of packages must have foundation, in layer 0",
    "ARCHITECTURE.md: its table of packages must have addons, in layer 3",
  ]);
});
