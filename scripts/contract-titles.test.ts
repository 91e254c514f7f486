import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkContractTitles } from "./contract-titles.ts";

const root = mkdtempSync(join(tmpdir(), "contract-titles-"));
afterAll(() => rmSync(root, { recursive: true }));
const write = (file: string, exported: unknown): void =>
  writeFileSync(join(root, file), `export const cases = ${JSON.stringify(exported)};`);

test("the check of contract names refuses a name that does not stand alone, with its group", async () => {
  const cases = ["a port is rejected here", "is gone", "a network", "a port is rejected here"];
  write("grouped.mjs", [{ name: "ports", cases: cases.map((says) => ({ says })) }]);
  const modules = [{ file: "grouped.mjs", exported: "cases", name: "says" }] as const;
  expect(await checkContractTitles(root, modules)).toEqual([
    expect.stringMatching(/^grouped\.mjs: ports: "is gone" begins with its verb/),
    expect.stringMatching(/^grouped\.mjs: ports: "a network" has fewer than 4 words/),
    'grouped.mjs: ports: "a port is rejected here" is the name of another case of this group',
  ]);
});

test("the check of contract names reads cases without groups, and refuses a module without cases", async () => {
  write("alone.mjs", [{ name: "what is wrong is rejected" }]);
  write("empty.mjs", []);
  const modules = ["alone.mjs", "empty.mjs"].map((file) => ({ file, exported: "cases", name: "name" }) as const);
  expect(await checkContractTitles(root, modules)).toEqual([
    expect.stringMatching(/^alone\.mjs: "what is wrong is rejected" begins with a word that refers to something else/),
    "empty.mjs: cases has no cases",
  ]);
});
