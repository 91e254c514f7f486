import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkExamples } from "./examples.ts";

const root = mkdtempSync(join(tmpdir(), "examples-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function addPackage(name: string, text: string): void {
  mkdirSync(join(root, "packages", name, "src"), { recursive: true });
  const manifest = JSON.stringify({ exports: { ".": "./src/index.ts" } });
  writeFileSync(join(root, "packages", name, "package.json"), manifest);
  writeFileSync(join(root, "packages", name, "src/index.ts"), 'export { open } from "./open.ts";\n');
  writeFileSync(join(root, "packages", name, "src/open.ts"), text);
}

test("the check of examples refuses a package without one, and examples that are no code or of something else", () => {
  const declaration = "export async function open(): Promise<void> {}\n";
  const example = (...lines: readonly string[]) =>
    `/**\n * Opens it.\n * @example\n${lines.map((line) => ` * ${line}\n`).join("")} */\n${declaration}`;
  addPackage("good", example("const made = await open(); // a comment", "made;", "@throws NEVER is no code"));
  addPackage(
    "none",
    `/** Opens it. */\n${declaration}\n/**\n * Inside.\n * @example\n * inside();\n */\nfunction inside() {}`,
  );
  addPackage("other", example("close();"));
  addPackage("broken", example("await open(;"));
  expect(checkExamples(root)).toEqual([
    "packages/none: no exported name has an @example in its doc comment",
    expect.stringMatching(/^packages\/broken\/src\/open\.ts:6: the example of open is no TypeScript: /),
    "packages/other/src/open.ts:6: the example of open does not use it",
  ]);
});
