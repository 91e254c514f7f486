import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkTypeNames } from "./type-names.ts";

const root = mkdtempSync(join(tmpdir(), "type-names-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, "packages"), { recursive: true });

test("the check of types' names refuses types that are named by gerunds and pronouns, and accepts nouns that end alike", () => {
  writeFileSync(
    join(root, "packages/a.ts"),
    [
      "export interface Waiting {}",
      "  type How = string;",
      "class Building extends Base {}",
      "export type Whose<T> = T;",
      "interface RoleBinding {}",
      "type IntOrString = number;",
      "interface WaitGoal {}",
      'export type { Reading } from "./b.ts";',
      "const Running = 1;",
    ].join("\n"),
  );
  const refused = (name: string) =>
    `packages/a.ts: type ${name} is named by a gerund or pronoun; use a noun (docs/style.md)`;
  expect(checkTypeNames(root, ["packages"])).toEqual(["Waiting", "How", "Building", "Whose"].map(refused));
});

test("the check of names refuses names that were replaced, in code and of files, and permits them in comments", () => {
  const old = ["emp", "tied"].join("");
  mkdirSync(join(root, "test"));
  writeFileSync(join(root, "test/a.ts"), `// A map that is ${old}.\nexport const why = "${old}";\n`);
  writeFileSync(join(root, "test/b.ts"), `export const ${old} = 1;\n`);
  writeFileSync(join(root, `test/${old}.ts`), "");
  expect(checkTypeNames(root, ["test"])).toEqual([
    `test/b.ts: ${old} was replaced by a term of the field, as emptyMaps`,
    `test/${old}.ts: name the file by a term of the field`,
  ]);
});
