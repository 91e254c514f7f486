import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkTimeOfDay } from "./time-of-day.ts";

let root = "";
beforeEach(() => (root = mkdtempSync(join(tmpdir(), "time-"))));
afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, "packages", file)), { recursive: true });
  writeFileSync(join(root, "packages", file), text);
}

test("a source that reads the time of day is named, and tests may read it", () => {
  write("a/src/now.ts", "const clock = 1;\nconst at = Date.now();\n");
  write("a/src/now.test.ts", "const at = new Date();\n");
  write("a/src/scenarios/world.ts", "const at = new Date();\n");
  expect(checkTimeOfDay(root, {})).toEqual(["packages/a/src/now.ts:2: reads the time of day; take it from a Clock"]);
});

test("an exception that reads no time of day is refused", () => {
  write("a/src/now.ts", "const at = clock.now();\n");
  expect(checkTimeOfDay(root, { "a/src/now.ts": "it is the clock" })).toEqual([
    "scripts/time-of-day.ts: a/src/now.ts reads no time of day; remove the exception",
  ]);
});
