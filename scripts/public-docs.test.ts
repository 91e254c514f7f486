import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkPublicDocs } from "./public-docs.ts";

const root = mkdtempSync(join(tmpdir(), "public-docs-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, "packages/a/src"), { recursive: true });
const write = (file: string, ...lines: readonly string[]): void =>
  writeFileSync(join(root, "packages/a", file), lines.join("\n"));
write("package.json", JSON.stringify({ exports: { ".": "./src/index.ts", "./testing": "./src/testing.ts" } }));
write("src/testing.ts", "export const unseen = 1;");
write(
  "src/index.ts",
  'export { documented, bare as renamed, type Bare } from "./a.ts";',
  'export * from "./b.ts";',
  'import { imported } from "./b.ts";',
  "export { imported as again };",
  'export { other } from "@causeway/other";',
);
write(
  "src/a.ts",
  "/** It has one. */",
  "export const documented = 1;",
  "export function bare() {}",
  "// A comment is none.",
  "export interface Bare {}",
  "export const internal = 1;",
);
write("src/b.ts", "export class InB {}", "/** It has one. */", "export const imported = 1;");
write(
  "src/c.ts",
  "/** What the file is for. */",
  "",
  "export const first = 1;",
  "/** One. */",
  "export const second = 2;",
);
write("src/c.test.ts", "export const ofATest = 1;");

test("the check of doc comments refuses public names without a doc comment, wherever they are declared", () => {
  const problems = checkPublicDocs(root).filter((problem) => problem.includes("from the package"));
  expect(problems.toSorted()).toEqual([
    "packages/a/src/a.ts:3 exports renamed from the package without a doc comment",
    "packages/a/src/a.ts:5 exports Bare from the package without a doc comment",
    "packages/a/src/b.ts:1 exports InB from the package without a doc comment",
  ]);
});

test("the check of doc comments refuses names without a doc comment that files share inside a package", () => {
  const problems = checkPublicDocs(root).filter((problem) => !problem.includes("from the package"));
  expect(problems).toEqual([
    "packages/a/src/a.ts:6 exports internal without a doc comment",
    "packages/a/src/c.ts:3 exports first without a doc comment",
  ]);
});
