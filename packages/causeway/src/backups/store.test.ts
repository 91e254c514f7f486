import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, systemClock } from "@causeway/foundation";
import type { ObjectStore } from "@causeway/hosted-control-plane";
import { loadCloudsYaml } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";
import { expect, test } from "vitest";
import { heldStore, openBackups } from "./store.ts";

const { signal } = new AbortController();

test("a store of backups keeps every object while deletions are held, and takes new ones", async () => {
  const objects = new Map<string, Uint8Array>();
  const store: ObjectStore = {
    description: "a map",
    put: async (name, data) => void objects.set(name, data),
    get: async (name) => objects.get(name),
    list: async (prefix) => [...objects.keys()].filter((name) => name.startsWith(prefix)),
    delete: async (name) => void objects.delete(name),
  };
  let isHeld = true;
  const held = heldStore(store, { holdDeletions: () => isHeld });
  await held.put("a/1", new Uint8Array(1), signal);
  await expect(held.delete("a/1", signal)).rejects.toMatchObject({ code: "CLOUD_DELETIONS_HELD" });
  expect([await held.list("a/", signal), await held.get("a/1", signal)]).toEqual([["a/1"], new Uint8Array(1)]);
  isHeld = false;
  await held.delete("a/1", signal);
  expect(await heldStore(store, {}).list("a/", signal)).toEqual([]);
});

test("backups in a Swift keep their points while deletions are held", async () => {
  const dir = mkdtempSync(join(tmpdir(), "backups-"));
  const simulator = await startSimulator({ profile: "instant" });
  try {
    const backupKeyFile = join(dir, "key");
    writeFileSync(backupKeyFile, Buffer.alloc(32, 1).toString("base64"));
    const clouds = { simulator: loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" }) };
    const flags = { backupCloud: "simulator", backupContainer: "kept", backupS3Region: "", backupKeyFile };
    const using = { clouds, holdDeletions: () => true, clock: systemClock, log: silentLog };
    const opened = await openBackups(flags, using, signal);
    const point = { id: "0", time: 0, full: "0" };
    await expect(opened?.backups.delete("folder", point, signal)).rejects.toMatchObject({
      code: "CLOUD_DELETIONS_HELD",
    });
    await opened?.close();
  } finally {
    await simulator.close();
    rmSync(dir, { recursive: true });
  }
});
