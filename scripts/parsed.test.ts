import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { importsIn } from "./parsed.ts";

const root = mkdtempSync(join(tmpdir(), "parsed-"));
afterAll(() => rmSync(root, { recursive: true }));

test.each<[source: string, specifier: string, values: readonly string[]]>([
  ['import { a, type B } from "./x.ts";', "./x.ts", ["a"]],
  ['import { a as b } from "./x.ts";', "./x.ts", ["a"]],
  ['import a from "./x.ts";', "./x.ts", ["default"]],
  ['import * as a from "./x.ts";', "./x.ts", ["*"]],
  ['import "./x.ts";', "./x.ts", ["*"]],
  ['import type { A } from "./x.ts";', "./x.ts", []],
  ['import { type A } from "./x.ts";', "./x.ts", []],
  ['export { a as b } from "./x.ts";', "./x.ts", ["a"]],
  ['export type { A } from "./x.ts";', "./x.ts", []],
  ['export * from "./x.ts";', "./x.ts", ["*"]],
  ['const x = await import("./x.ts");', "./x.ts", ["*"]],
  ["const x = () => import(`./x.ts`);", "./x.ts", ["*"]],
  ["const x = (name) => import(name);", "", ["*"]],
  ["const x = (name) => import(`./${name}.ts`);", "", ["*"]],
])("the parser of the checks reads the import of: %s", (source, specifier, values) => {
  const file = join(
    root,
    `${values.length}${Math.abs(source.length)}${Buffer.from(source).toString("hex")}.ts`.slice(-200),
  );
  writeFileSync(file, source);
  const dynamic = source.includes("import(") ? { isDynamic: true } : {};
  expect(importsIn(file)).toEqual([{ specifier, offset: expect.any(Number) as number, values, ...dynamic }]);
});
