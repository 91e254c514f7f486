import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkErrorCatalogue } from "./error-catalogue.ts";

const root = mkdtempSync(join(tmpdir(), "error-catalogue-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const write = (file: string, text: string): void => {
  mkdirSync(join(root, file, ".."), { recursive: true });
  writeFileSync(join(root, file), text);
};
write("docs/reference/errors/a.md", "| A_THROWN | x | y |\n| `A_SHOWN` | x | y |\n");
write("packages/a/src/index.ts", 'throw new InputError("A_THROWN", "x");\nreturn `broken (A_SHOWN)`;\n');
write("docs/reference/errors/kubernetes.md", "| KUBERNETES_NOT_FOUND | x | y |\n");
write("packages/kubernetes/src/errors.ts", 'const REASONS = { 404: "NotFound" };\nhasCode(error, "A_SHOWN");\n');

test("the check of the error table accepts codes that are thrown, shown or composed, each with its row", () => {
  expect(checkErrorCatalogue(root)).toEqual([]);
});

test("the check of the error table refuses a code without a row, thrown, shown or compared", () => {
  write(
    "packages/a/src/more.ts",
    'throw new CausewayError(\n  "A_NEW",\n);\nreturn { code: "A_STATE", message };\nif (hasCode(error, "A_TYPO")) return;\n',
  );
  expect(checkErrorCatalogue(root)).toEqual([
    "packages/a/src/more.ts: A_NEW is not in docs/reference/errors/a.md",
    "packages/a/src/more.ts: A_STATE is on no page of docs/reference/errors",
    "packages/a/src/more.ts: A_TYPO is on no page of docs/reference/errors",
  ]);
  rmSync(join(root, "packages/a/src/more.ts"));
});

test("the check of the error table refuses a row that no source has, outside comments, and a code with two rows", () => {
  write("packages/a/src/old.ts", "// throws A_OLD\n/** A_OLD */\n");
  write(
    "docs/reference/errors/a.md",
    "| A_THROWN | x | y |\n| A_SHOWN | x | y |\n| A_SHOWN | z | y |\n| A_OLD | x | y |\n",
  );
  expect(checkErrorCatalogue(root)).toEqual([
    "docs/reference/errors/a.md: A_SHOWN has two rows; errors that differ have codes that differ",
    "docs/reference/errors/a.md: no source has A_OLD; remove its row",
  ]);
});
