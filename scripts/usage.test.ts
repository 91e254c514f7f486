import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { usageOf } from "./usage.ts";

const bench = resolve(import.meta.dirname, "../test/bench");
const runners = readdirSync(import.meta.dirname).filter(
  (file) =>
    /^test-.*\.ts$/.test(file) && readFileSync(join(import.meta.dirname, file), "utf8").includes("process.exitCode"),
);

test.for(runners)("scripts/%s prints its usage before anything is built or started", (file) => {
  const path = join(import.meta.dirname, file);
  expect(usageOf(path)).toMatch(/^`npm run test:[a-z0-9:]+/);
  expect(readFileSync(path, "utf8")).toContain("process.exitCode = usageShown(import.meta.filename) ? 0 : await ");
});

test("a program prints the comment that it begins with for --help, and ends with 0", () => {
  const file = join(import.meta.dirname, "test-nodes.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, "verbs", "--help"], { encoding: "utf8" });
  expect([status, stdout, stderr]).toEqual([0, `${usageOf(file)}\n`, ""]);
  expect(stdout).toMatch(/^`npm run test:nodes`: real containers[^*]+test runner\.$/m);
});

test("every benchmark begins with a comment that says what it measures", () => {
  const files = readdirSync(bench).filter((file) => file.endsWith(".ts"));
  expect(files.filter((file) => usageOf(join(bench, file)).length < 40)).toEqual([]);
});
