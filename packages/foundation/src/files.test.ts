import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readTextFile } from "./files.ts";

const folder = mkdtempSync(join(tmpdir(), "files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a configuration file", () => {
  test.each([
    ["an empty one", ""],
    ["a short one", "é: 1\n"],
    ["one of several pieces", "é".repeat(100_000)],
  ])("is read whole: %s", (_, text) => {
    const path = join(folder, "a");
    writeFileSync(path, text);
    expect(readTextFile(path)).toBe(text);
  });

  test("that is endless is refused", () => {
    expect(() => readTextFile("/dev/zero", 1_000_000)).toThrow("it is larger than 1000000 bytes");
  });

  test("that does not exist throws as the system does", () => {
    expect(() => readTextFile(join(folder, "none"))).toThrow(expect.objectContaining({ code: "ENOENT" }));
  });
});
