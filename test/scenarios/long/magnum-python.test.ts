/**
 * Every method of python-magnumclient's v1 client (of the machine, unchanged) on the Magnum API of `causeway up`, by
 * tools/magnumclient/drive.py, which asserts what each returns and fails when it left one out.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { OpenedCloud } from "../../support/suite-cloud.ts";
import { openSystemCloud } from "../../support/system-cloud.ts";

vi.setConfig({ testTimeout: 1_200_000, hookTimeout: 600_000 });

/** The interpreter for which Debian installs python3-magnumclient. */
const PYTHON = "/usr/bin/python3";
const DRIVE = resolve(import.meta.dirname, "../../../tools/magnumclient/drive.py");
const hasClient = spawnSync(PYTHON, ["-c", "import magnumclient.v1.client, openstack"]).status === 0;

let opened: OpenedCloud;
const folder = mkdtempSync(join(tmpdir(), "magnum-python-"));

beforeAll(async () => {
  if (!hasClient) return;
  opened = await openSystemCloud();
  writeFileSync(join(folder, "clouds.yaml"), opened.cloud.text, { mode: 0o600 });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  if (hasClient) await opened.close();
});

describe.runIf(hasClient)("python-magnumclient", () => {
  it("gets what it expects of each method of its v1 client", async () => {
    const env = { ...process.env, OS_CLIENT_CONFIG_FILE: join(folder, "clouds.yaml") };
    const child = spawn(PYTHON, [DRIVE, "simulator", "simulator-admin"], { env, stdio: ["ignore", "pipe", "pipe"] });
    let [output, problem] = ["", ""];
    child.stdout.on("data", (part: Buffer) => (output += part.toString()));
    child.stderr.on("data", (part: Buffer) => (problem += part.toString()));
    const code = await new Promise((done) => child.once("close", done));
    expect([code, code === 0 ? "" : problem]).toEqual([0, ""]);
    expect(output.trim().split("\n").length).toBeGreaterThanOrEqual(27);
  });
});
