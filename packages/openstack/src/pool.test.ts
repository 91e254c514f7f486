import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@causeway/foundation";
import { afterEach, describe, expect, it } from "vitest";
import type { CloudConfig } from "./config/config.ts";
import { cloudIdentity } from "./identity.ts";
import { createCloudPool } from "./pool.ts";
import { scriptedCloud } from "./testing/scripted-cloud.ts";

const config: CloudConfig = {
  name: "one",
  authUrl: "http://127.0.0.1:1/v3",
  auth: { type: "password", username: "u", password: "p" },
  region: "R1",
};

describe("a pool of clients", () => {
  const pool = createCloudPool();
  afterEach(() => pool.close());

  it("gives the same client for the same content, whatever its order", () => {
    const { name, authUrl, auth, region } = config;
    const same = { ...(region !== undefined && { region }), auth: { ...auth }, authUrl, name };
    expect(pool.get(same)).toBe(pool.get(config));
  });
  it.each<[string, Partial<CloudConfig>]>([
    ["region", { region: "R2" }],
    ["password", { auth: { type: "password", username: "u", password: "q" } }],
    ["authority", { tls: { verify: false } }],
  ])("gives another for another %s", (_name, change) => {
    expect(pool.get({ ...config, ...change })).not.toBe(pool.get(config));
  });
  it("gives another when the content of the CA file has changed", async () => {
    const authority = async () => (await createAuthority({ commonName: "cloud", lifetime: 3600_000 })).certificate;
    const folder = mkdtempSync(join(tmpdir(), "pool-"));
    const caFile = join(folder, "ca.pem");
    writeFileSync(caFile, await authority());
    const before = pool.get({ ...config, tls: { caFile } });
    writeFileSync(caFile, await authority());
    expect(pool.get({ ...config, tls: { caFile } })).not.toBe(before);
    rmSync(folder, { recursive: true });
  });
  it("ends a client that is released, and makes another for the same content", async () => {
    const other = pool.get({ ...config, region: "R2" });
    const { cloud, watch } = pool.get(config);
    await pool.release(cloud);
    await pool.release(cloud);
    await expect(watch.ports.start()).rejects.toMatchObject({ code: "CLOUD_CLOSED" });
    expect(pool.get(config).cloud).not.toBe(cloud);
    expect(pool.get({ ...config, region: "R2" })).toBe(other);
    expect(pool.stats().total).toBe(0);
  });
  it("closes what it gave", async () => {
    const { cloud, watch } = pool.get(config);
    await pool.close();
    await expect(cloud.network.ports.all()).rejects.toMatchObject({ code: "CLOUD_CLOSED" });
    await expect(watch.ports.start()).rejects.toMatchObject({ code: "CLOUD_CLOSED" });
  });
});

it("the identity of a cloud is its region and project", async () => {
  const server = await scriptedCloud(() => undefined);
  const pool = createCloudPool();
  expect(await cloudIdentity(pool.get(server.config).cloud)).toBe("R1/p-1");
  await pool.close();
  await server.close();
});
