/**
 * The demo started again: its figures, and no write on a demo that has not changed. Its first start:
 * test/scenarios/start-up.test.ts.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { causeway } from "../../support/processes.ts";
import { demoInventory } from "../../support/reference.ts";
import { isWrite, openStage, settled } from "../../support/stage.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

const seconds = 1000;

describe("up --demo", () => {
  const dir = mkdtempSync(join(tmpdir(), "causeway-start-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test("continues from its folder, in less than 250 MB, and Ctrl-C stops it within 2 s", async () => {
    const fresh = mkdtempSync(join(dir, "fresh-"));
    const system = causeway(["up", "--demo", "--state", fresh]);
    await system.until(/demo ready: .*\n/);
    const megabytes = residentMegabytes(system.child.pid);
    console.log(`resident when ready: ${megabytes} MB`);
    expect(megabytes).toBeLessThan(250);
    const asked = performance.now();
    expect(await system.stop("SIGINT")).toBe(130);
    const took = performance.now() - asked;
    console.log(`stopped in ${Math.round(took)} ms`);
    expect(took).toBeLessThan(2 * seconds);
    const again = causeway(["up", "--demo", "--exit-when-ready", "--state", fresh]);
    expect(await again.ended, again.output()).toBe(0);
  });
});

describe("started again on a demo that has not changed", () => {
  test("the command makes no write call", async () => {
    const stage = await openStage();
    try {
      const first = stage.up("--demo");
      await first.until(/demo ready: .*\n/);
      expect(await settled(stage, demoInventory)).toEqual(demoInventory);
      await first.stop();
      const from = stage.simulator.calls.length;
      const second = stage.up("--demo");
      await second.until(/demo ready: .*\n/);
      await new Promise((done) => setTimeout(done, 3 * seconds));
      const calls = stage.simulator.calls.slice(from);
      console.log(`${calls.length} calls after a restart`);
      expect(calls.filter(isWrite).map((call) => `${call.method} ${call.path}`)).toEqual([]);
      expect(stage.inventory()).toEqual(demoInventory);
    } finally {
      await stage.close();
    }
  });
});

function residentMegabytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? "0") / 1024);
}
