import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { missingPaths } from "./paths.ts";

const root = mkdtempSync(join(tmpdir(), "paths-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
execFileSync("git", ["init", "-q"], { cwd: root });
const write = (file: string, ...lines: readonly string[]): void => {
  mkdirSync(join(root, file, ".."), { recursive: true });
  writeFileSync(join(root, file), lines.join("\n"));
};
write("packages/a/src/rules/limit.ts", "export function limitOf() {}");

test("the check of paths in the recipes accepts files and folders by their endings, placeholders and what is no path", () => {
  write(
    "docs/howto/find.md",
    "| the limit | [a, rules/limit.ts](../../packages/a/src/rules/limit.ts), `limitOf` |",
    "`limit.ts`, `rules/limit.ts`, `packages/a/src/`, `a/src/rules/`, `KIND.ts`, `npm run check`, `spec.version`",
  );
  expect(missingPaths(root)).toEqual([]);
});

test("the check of paths in the recipes refuses a file, a folder and a name that do not exist, and a link to another file than it says", () => {
  write(
    "docs/howto/find.md",
    "`limits.ts` and `packages/b/`",
    "| the limit | [a, limit.ts](../../packages/a/src/rules/limit.ts), `limitFor` |",
    "| the limit | [a, old/limit.ts](../../packages/a/src/rules/limit.ts) |",
  );
  expect(missingPaths(root)).toEqual([
    "docs/howto/find.md:1 names limits.ts: no such file or folder",
    "docs/howto/find.md:1 names packages/b/: no such file or folder",
    "docs/howto/find.md:2 names limitFor, which packages/a/src/rules/limit.ts does not have",
    "docs/howto/find.md:3 names old/limit.ts, and links to packages/a/src/rules/limit.ts",
  ]);
});
