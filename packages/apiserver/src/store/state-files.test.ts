import fs, { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { stateFiles } from "./state-files.ts";

const dir = mkdtempSync(join(tmpdir(), "state-files-"));
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(dir, { recursive: true });
});

test("a file or folder that another process removes as it is read was not there", () => {
  const files = stateFiles(dir);
  files.write("lock", "");
  // It was still there a moment before.
  vi.spyOn(fs, "existsSync").mockReturnValue(true);
  syncBuiltinESMExports();
  expect(files.read("clusters/web/port")).toBeUndefined();
  expect(files.names("clusters")).toEqual([]);
  expect(files.names("lock/clusters")).toEqual([]);
});
