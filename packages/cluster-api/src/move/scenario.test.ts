import { Cluster } from "@causeway/api";
import { systemClock, VirtualClock } from "@causeway/foundation";
import { Namespace, Secret, type KubeObject, type KubernetesClient, type ResourceType } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { moveClusters, type MoveOptions } from "./move.ts";
import { dying, graph, isPaused, kind, seed, shape, side, type Side } from "./testing/sides.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

const signal = new AbortController().signal;
let one: Side;
let two: Side;
beforeAll(async () => {
  [one, two] = await Promise.all([side(), side()]);
});
afterAll(async () => {
  for (const each of [one, two]) {
    await each.client.close();
    await each.server.close();
  }
});

const options = (from: Side, to: Side, namespace: string): MoveOptions => ({
  from: from.client,
  to: to.client,
  namespace,
  clock: systemClock,
  report: () => {},
});

describe("the command move", () => {
  test("carries the whole graph with statuses and secrets to the target and back, and leaves nothing behind", async () => {
    await seed(one.client, "there-and-back");
    const before = await shape(one, "there-and-back");
    const result = await moveClusters(options(one, two, "there-and-back"), signal);
    expect(result).toEqual({ clusters: ["web"], objects: 6 });
    expect(await shape(two, "there-and-back")).toEqual(before);
    expect(await graph(one, "there-and-back")).toEqual([]);
    expect(await isPaused(two, "there-and-back")).toBe(false);
    expect(await one.client.find(Secret, { namespace: "there-and-back", name: "others" })).toBeDefined();
    await moveClusters(options(two, one, "there-and-back"), signal);
    expect(await shape(one, "there-and-back")).toEqual(before);
    expect(await graph(two, "there-and-back")).toEqual([]);
  });

  test.for([false, true])(
    "is resumed after an end at any change, never with both sides unpaused; response lost: %s",
    async (after) => {
      let ends = 0;
      for (let at = 1; ; at += 1) {
        const namespace = `killed-${after}-${at}`;
        await seed(one.client, namespace);
        const before = await shape(one, namespace);
        const life = { left: at, after };
        const { from, to, ...rest } = options(one, two, namespace);
        const dead = await moveClusters({ ...rest, from: dying(from, life), to: dying(to, life) }, signal).then(
          () => false,
          () => true,
        );
        const [source, target] = [await isPaused(one, namespace), await isPaused(two, namespace)];
        expect([source, target].filter((paused) => paused === false).length).toBeLessThanOrEqual(1);
        if (dead) {
          ends += 1;
          await moveClusters(options(one, two, namespace), signal).catch((error: unknown) => {
            // Only when the end came after the last change is nothing left to be done.
            expect(error).toMatchObject({ code: "MOVE_NOTHING" });
          });
        }
        expect(await shape(two, namespace)).toEqual(before);
        expect(await graph(one, namespace)).toEqual([]);
        expect(await isPaused(two, namespace)).toBe(false);
        if (!dead) break;
      }
      expect(ends).toBeGreaterThan(20);
    },
  );

  test("is not held up by controllers of both sides, which write that what is moved is paused", async () => {
    const namespace = "attended";
    await seed(one.client, namespace);
    const { from, to, ...rest } = options(one, two, namespace);
    const pausedWrites: string[] = [];
    /** A controller writes right after an object was created, or a Cluster was paused. */
    const attended = (client: KubernetesClient): KubernetesClient => {
      const written = async (type: ResourceType<KubeObject>, { metadata }: KubeObject): Promise<void> => {
        if (!["Cluster", "Machine"].includes(type.kind)) return;
        const key = { namespace, name: metadata.name };
        const { status } = (await client.get(type, key)) as { status?: { conditions?: object[] } };
        const condition = {
          type: "Paused",
          status: "True",
          reason: "Paused",
          lastTransitionTime: new Date().toISOString(),
          observedGeneration: metadata.generation,
        };
        const conditions = [...(status?.conditions ?? []), condition];
        await client.patch(type, key, { type: "merge", body: { status: { conditions } } }, { subresource: "status" });
        pausedWrites.push(type.kind);
      };
      return {
        ...dying(client, { left: Infinity, after: false }),
        async create(type, object, more) {
          const created = await client.create(type, object, more);
          await written(type as ResourceType<KubeObject>, created);
          return created;
        },
        async patch(type, key, patch, more) {
          const patched = await client.patch(type, key, patch, more);
          if ("spec" in (patch.body as object) && client === from)
            await written(type as ResourceType<KubeObject>, patched);
          return patched;
        },
      };
    };
    const moved = await moveClusters({ ...rest, from: attended(from), to: attended(to) }, signal);
    expect(moved).toEqual({ clusters: ["web"], objects: 6 });
    expect(pausedWrites).toEqual(["Cluster", "Cluster", "Machine"]);
    const { status } = (await two.client.get(Cluster, { namespace, name: "web" })) as { status?: object };
    expect(status).toMatchObject({
      initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
    });
    expect(await graph(one, namespace)).toEqual([]);
  });

  test("keeps a Cluster paused that was paused before", async () => {
    await seed(one.client, "paused");
    await one.client.patch(
      Cluster,
      { namespace: "paused", name: "web" },
      { type: "merge", body: { spec: { paused: true } } },
    );
    await moveClusters(options(one, two, "paused"), signal);
    expect(await isPaused(two, "paused")).toBe(true);
  });

  test("changes nothing in a dry run", async () => {
    await seed(one.client, "dry");
    const before = await shape(one, "dry");
    expect(await moveClusters({ ...options(one, two, "dry"), dryRun: true }, signal)).toMatchObject({
      clusters: ["web"],
    });
    expect(await shape(one, "dry")).toEqual(before);
    expect(await graph(two, "dry")).toEqual([]);
  });

  const cluster = { namespace: "refused", name: "web" };
  test.for<[string, string, () => Promise<Partial<MoveOptions>>]>([
    ["MOVE_SAME_CLUSTER", "the same cluster", async () => ({ to: one.client })],
    ["MOVE_NOTHING", "a namespace without Clusters", async () => ({ namespace: "none" })],
    [
      "MOVE_TARGET_OCCUPIED",
      "an object of the same name in the target",
      async () => {
        await two.client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "refused" } });
        await two.client.create(Secret, {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { namespace: "refused", name: "web-cloud" },
        });
        return {};
      },
    ],
    [
      "MOVE_NOT_PAUSED",
      "a controller that does not observe the pause",
      async () => {
        const conditions = [
          { type: "Paused", status: "False", reason: "NotPaused", lastTransitionTime: "2026-01-01T00:00:00Z" },
        ];
        await one.client.patch(
          Cluster,
          cluster,
          { type: "merge", body: { status: { conditions } } },
          { subresource: "status" },
        );
        return { clock: new VirtualClock(), pauseTimeout: 0 };
      },
    ],
    [
      "MOVE_UNDER_WAY",
      "a move to another cluster that has not ended",
      async () => {
        const body = { metadata: { annotations: { "move.causeway.dev/target": "another" } } };
        await one.client.patch(Cluster, cluster, { type: "merge", body });
        return {};
      },
    ],
    [
      "MOVE_CONTROL_PLANE_STAYS",
      "a hosted control plane",
      async () => {
        await one.client.patch(Cluster, cluster, {
          type: "merge",
          body: { metadata: { annotations: { "move.causeway.dev/target": null } } },
        });
        const type = kind("HostedControlPlane");
        await one.client.create(type, {
          apiVersion: `${type.group}/${type.version}`,
          kind: type.kind,
          metadata: cluster,
          spec: { version: "v1.34.0" },
        } as KubeObject);
        return {};
      },
    ],
    [
      "MOVE_OBJECT_DELETED",
      "an object that is being deleted",
      async () => {
        await one.client.delete(kind("HostedControlPlane"), cluster);
        await one.client.delete(Cluster, cluster);
        return {};
      },
    ],
  ])("is refused with %s: %s", async ([code, , prepare]) => {
    if ((await one.client.find(Namespace, { namespace: "", name: "refused" })) === undefined)
      await seed(one.client, "refused");
    const more = await prepare();
    await expect(moveClusters({ ...options(one, two, "refused"), ...more }, signal)).rejects.toMatchObject({ code });
    expect(await one.client.find(Cluster, cluster)).toBeDefined();
  });
});
