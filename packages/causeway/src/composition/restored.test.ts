import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { confirmRestored, markRestored, restoredHold } from "./restored.ts";

let dir = "";
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), "restored-"))));
afterEach(() => rmSync(dir, { recursive: true }));

describe("deletions in the cloud", () => {
  test("are held from a restore until it is confirmed, with what was restored and when", () => {
    expect(restoredHold(dir)).toBeUndefined();
    markRestored(dir, { from: "/backups/monday", now: Date.UTC(2026, 0, 1) });
    expect(restoredHold(dir)).toContain("restored from /backups/monday at 2026-01-01T00:00:00.000Z");
    confirmRestored(dir);
    confirmRestored(dir);
    expect(restoredHold(dir)).toBeUndefined();
  });

  test("are held by a mark that a full disk has cut off", () => {
    writeFileSync(join(dir, "restored.json"), "{");
    expect(restoredHold(dir)).toContain("may be older than what is in the cloud");
  });
});
