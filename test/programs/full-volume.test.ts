/**
 * A control plane as pods whose etcd has a full volume, with Kubernetes' own programs: what was acknowledged remains,
 * the control plane says why it does not serve, and serves again once there is space.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HostedControlPlane } from "@causeway/api";
import { ConfigMap, getCondition, type Condition, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { fillDisk, keepWriting } from "./fill-disk.ts";
import { available, create, key, missingFor, startWorld, until, type World } from "./runtime-world.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

const why = missingFor("Pods");
/** Two files of etcd's log have 64 MB each before they are used. */
const VOLUME = "256m";
const BYTES = 500_000;

describe.skipIf(why !== undefined)(`a control plane as pods${why === undefined ? "" : ` (${why})`}`, () => {
  let world: World;
  let tenant: KubernetesClient;
  let volume = "";
  beforeAll(async () => {
    world = await startWorld("Pods");
    // Where the played node has the volumes of claims: that of the only member of the only etcd.
    volume = join(world.dir, "node/claims");
    mkdirSync(volume, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${VOLUME},mode=0755`, "tmpfs", volume]);
    await create(world, "one");
    await available(world, "one");
    tenant = await world.tenant("one");
  });
  afterAll(async () => {
    await world?.close().catch(() => {});
    if (volume !== "") execFileSync("umount", ["--lazy", volume]);
    if (world !== undefined) rmSync(world.dir, { recursive: true, force: true });
  });

  test(
    "whose volume is full says so, loses no acknowledged write, and serves again by itself",
    { retry: 0 },
    async () => {
      const acknowledged: string[] = [];
      const write = async (name: string): Promise<void> => {
        const data = { text: "x".repeat(BYTES) };
        await tenant.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: key(name), data });
        acknowledged.push(name);
      };
      for (let i = 0; i < 5; i++) await until("a write", async () => (await write(`before-${i}`), true));
      const ballast = join(volume, "ballast");
      fillDisk(ballast);
      let refused: unknown;
      for (let i = 0; refused === undefined && i < 300; i++)
        await write(`full-${i}`).catch((error: unknown) => (refused = error));
      expect(refused).toBeDefined();
      const writes = keepWriting(write);
      const message = await until("the reason", async () => {
        const { status } = await world.client.get(HostedControlPlane, key("one"));
        const found = getCondition((status?.conditions ?? []) as Condition[], "Available");
        return /no space left on device/.test(found?.message ?? "") ? found?.message : undefined;
      }).finally(writes.end);
      console.log({ acknowledged: acknowledged.length, message });
      expect(message).toMatch(
        /^Pod hcp-one-\w+\/etcd-0: exit status \d+: .*the operator .* must act \(CONTROL_PLANE_CRASHING\)/,
      );
      expect(message).not.toContain("stacktrace");

      rmSync(ballast);
      await writes.ended;
      await available(world, "one");
      const stored = await until("a list", async () => {
        const { items } = await tenant.list(ConfigMap, { namespace: "default" });
        return items.map(({ metadata }) => metadata.name);
      });
      expect(acknowledged.filter((name) => !stored.includes(name))).toEqual([]);
      await until("a write", async () => (await write("afterwards"), true));
    },
  );
});
