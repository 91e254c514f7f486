import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { afterEach, describe, expect, test } from "vitest";
import { openProgramLog } from "./program-log.ts";

describe("the log of a machine's program", () => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-log-"));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("keeps the newest file and the one before it, and no more", async () => {
    const file = join(folder, "kubelet.log");
    for (const lines of [
      ["a\n", "b\n", "c\n"],
      ["d\n", "e\n", "f\n", "g\n"],
    ]) {
      const log = openProgramLog(file, 4);
      for (const line of lines) log.write(line);
      log.end();
      await finished(log);
    }
    expect(readdirSync(folder).sort()).toEqual(["kubelet.log", "kubelet.log.1"]);
    expect(readFileSync(`${file}.1`, "utf8")).toBe("e\nf\n");
    expect(readFileSync(file, "utf8")).toBe("g\n");
  });
});
