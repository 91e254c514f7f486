import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createAuthority, silentLog, systemClock } from "@causeway/foundation";
import { startSimulator } from "@causeway/simulator";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { openCloud } from "./cloud.ts";
import { openState } from "./state.ts";

const folder = mkdtempSync(join(tmpdir(), "open-cloud-"));
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true }));

const signal = new AbortController().signal;
const using = (state: string) => ({
  state: openState(join(folder, state)),
  clock: systemClock,
  log: silentLog,
  signal,
});

test.each([{ insecure: true }, { cacert: "ca.pem" }])(
  "%j without a cloud is refused, as the simulated cloud needs neither",
  async (tls) => {
    const opening = openCloud({ ...tls, delays: "instant" }, using("none"));
    await expect(opening).rejects.toMatchObject({ code: "FLAG_INVALID", exitStatus: 2 });
  },
);

test("a real cloud has --insecure and --cacert in its configuration and in the clouds.yaml of its clusters", async () => {
  const simulator = await startSimulator({ profile: "instant", clock: systemClock });
  try {
    const file = join(folder, "clouds.yaml");
    writeFileSync(file, simulator.cloudsYaml);
    vi.stubEnv("OS_CLIENT_CONFIG_FILE", file);
    const cacert = join(folder, "ca.pem");
    writeFileSync(cacert, (await createAuthority({ commonName: "cloud", lifetime: 86_400_000 })).certificate);
    const choice = { osCloud: "simulator", insecure: true, cacert: relative(process.cwd(), cacert) };
    const cloud = await openCloud({ ...choice, delays: "instant" }, using("real"));
    expect(cloud.config.tls).toEqual({ verify: false, caFile: cacert });
    expect(cloud.cloudsYaml).toContain(`verify: false\n    cacert: ${cacert}\n`);
  } finally {
    await simulator.close();
  }
});
