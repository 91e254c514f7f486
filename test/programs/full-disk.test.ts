/**
 * A control plane as processes whose disk is full below Kubernetes' own programs: what was acknowledged remains, the
 * control plane says why it does not serve, and serves again once there is space.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { HostedControlPlane } from "@causeway/api";
import { ConfigMap, getCondition, type Condition, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { fillDisk, keepWriting } from "./fill-disk.ts";
import { available, create, key, missingFor, startWorld, until, type World } from "./runtime-world.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

const why = process.getuid?.() === 0 ? missingFor("Process") : "needs root, to mount a disk";
/** Two files of etcd's log have 64 MB each before they are used. */
const DISK = "256m";
const BYTES = 500_000;
const configMap = (name: string, bytes = 1) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: key(name),
  data: { text: "x".repeat(bytes) },
});

describe.skipIf(why !== undefined)(`a control plane as processes${why === undefined ? "" : ` (${why})`}`, () => {
  let world: World;
  let tenant: KubernetesClient;
  let disk = "";
  beforeAll(async () => {
    world = await startWorld("Process");
    disk = join(world.dir, "state");
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK},mode=0700`, "tmpfs", disk]);
    await create(world, "one");
    await available(world, "one");
    tenant = await world.tenant("one");
  });
  afterAll(async () => {
    await world?.runtime.remove("default.one", new AbortController().signal).catch(() => {});
    if (disk !== "") execFileSync("umount", ["--lazy", disk]);
    await world?.close();
  });

  const conditionOf = async (type: string) => {
    const { status } = await world.client.get(HostedControlPlane, key("one"));
    return getCondition((status?.conditions ?? []) as Condition[], type);
  };
  const names = async (): Promise<string[]> =>
    (await tenant.list(ConfigMap, { namespace: "default" })).items.map(({ metadata }) => metadata.name);

  test(
    "whose disk is full says so, loses no acknowledged write, and serves again by itself",
    { retry: 0 },
    async () => {
      const acknowledged: string[] = [];
      const write = async (name: string): Promise<void> => {
        await tenant.create(ConfigMap, configMap(name, BYTES));
        acknowledged.push(name);
      };
      for (let i = 0; i < 5; i++) await until("a write", async () => (await write(`before-${i}`), true));
      const ballast = join(disk, "ballast");
      fillDisk(ballast);
      let refused: unknown;
      for (let i = 0; refused === undefined && i < 300; i++)
        await write(`full-${i}`).catch((error: unknown) => (refused = error));
      expect(refused).toBeDefined();
      const writes = keepWriting(write);
      const message = await until("the reason", async () => {
        const found = await conditionOf("Available");
        return /no space left on device/.test(found?.message ?? "") ? found?.message : undefined;
      }).finally(writes.end);
      console.log({ acknowledged: acknowledged.length, message });
      expect(message).toContain("PROCESS_CRASHING");
      expect(message).not.toContain("stacktrace");

      rmSync(ballast);
      await writes.ended;
      await available(world, "one");
      const stored = await until("a list", names);
      expect(acknowledged.filter((name) => !stored.includes(name))).toEqual([]);
      await until("a write", async () => (await write("afterwards"), true));
    },
  );
});
