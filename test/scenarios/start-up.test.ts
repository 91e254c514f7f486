/**
 * The demo as a person starts it: one process, from its start to its closing line. What it does when it is started
 * again: long/start-up.test.ts.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { TIMEOUT, causeway } from "../support/processes.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

const closing = /^demo ready: 1 control plane, 3 nodes, load balancer [\d.]+, (\d+) OpenStack calls, ([\d.]+) s$/;

describe("up --demo", () => {
  const dir = mkdtempSync(join(tmpdir(), "causeway-start-"));
  const state = join(dir, "state");
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test("--exit-when-ready ends with status 0, and the closing line is the last it prints", async () => {
    const system = causeway(["up", "--demo", "--exit-when-ready", "--state", state]);
    expect(await system.ended, system.output()).toBe(0);
    const last = system.output().trimEnd().split("\n").at(-1) ?? "";
    console.log(last);
    expect(last).toMatch(closing);
  });

  test("keeps its folder and the files with secrets for the person alone", () => {
    const mode = (name: string) => statSync(join(state, name)).mode & 0o777;
    expect(mode(".")).toBe(0o700);
    for (const file of ["management.kubeconfig", "demo.kubeconfig", "clouds.yaml", "state.json"])
      expect(mode(file), file).toBe(0o600);
    expect(mode("apiserver")).toBe(0o700);
    expect(mode("simulator")).toBe(0o700);
  });
});
