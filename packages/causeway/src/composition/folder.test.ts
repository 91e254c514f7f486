import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeFolder, makeStateFolder } from "./folder.ts";

const dir = mkdtempSync(join(tmpdir(), "causeway-folder-"));
afterAll(() => rmSync(dir, { recursive: true }));

test("a state folder is made with those above it, for its owner only", () => {
  makeStateFolder(join(dir, "a/b/c"));
  expect(statSync(join(dir, "a/b/c")).mode & 0o777).toBe(0o700);
});

test.each(["/proc/causeway", "/proc/causeway/a/b"])("a state folder at %s is refused at once", (path) => {
  expect(() => makeStateFolder(path)).toThrow(expect.objectContaining({ code: "STATE_NOT_WRITABLE" }) as Error);
  expect(() => makeFolder(path)).toThrow("ENOENT");
});

test("a state folder in place of a file is refused", () => {
  writeFileSync(join(dir, "file"), "");
  expect(() => makeStateFolder(join(dir, "file/a"))).toThrow("a file is in its place");
});
