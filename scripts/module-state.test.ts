import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkModuleState } from "./module-state.ts";

const root = mkdtempSync(join(tmpdir(), "module-state-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, "packages/a/src"), { recursive: true });
writeFileSync(
  join(root, "packages/a/src/state.ts"),
  "let count = 0;\nexport const known = new Map<string, number>();\n",
);
writeFileSync(
  join(root, "packages/a/src/pure.ts"),
  'const NAMES = new Set(["a"]);\nconst NONE: ReadonlySet<string> = new Set();\nconst of = new WeakMap<object, number>();\n  let inner = 0;\n',
);

test("the check of modules' state refuses variables and growing collections of modules, not constants and what is known of objects", () => {
  expect(checkModuleState(root, {})).toEqual(
    [1, 2].map(
      (line) => `packages/a/src/state.ts:${line} is state of a module; keep it in an object that its user makes`,
    ),
  );
});

test("the check of modules' state accepts exceptions, and refuses those without state", () => {
  expect(checkModuleState(root, { "a/src/state.ts": "x", "a/src/pure.ts": "x" })).toEqual([
    "scripts/module-state.ts: remove a/src/pure.ts from the exceptions: it has no such state",
  ]);
});
