import { Cluster } from "@causeway/api";
import { systemClock } from "@causeway/foundation";
import { Secret, type KubeObject } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { marks } from "../graph.ts";
import { moveClusters, type MoveOptions } from "../move.ts";
import { namespacesToMove } from "../namespaces.ts";
import { graph, isPaused, kind, seed, side, type Side } from "../testing/sides.ts";

vi.setConfig({ testTimeout: 100_000, hookTimeout: 60_000 });

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

type ControlPlanes = NonNullable<MoveOptions["controlPlanes"]>;

function options(namespace: string, more: Partial<MoveOptions> = {}): MoveOptions {
  return { from: one.client, to: two.client, namespace, clock: systemClock, report: () => {}, ...more };
}

async function make(type: string, namespace: string, name: string, metadata: object = {}): Promise<KubeObject> {
  const { group, version, kind: kindName } = kind(type);
  const endpoint = { controlPlaneEndpoint: { host: "192.0.2.9", port: 6443 } };
  const spec = type === "Cluster" ? endpoint : { version: "v1.34.0", runtime: "Pods" };
  const object = {
    apiVersion: `${group}/${version}`,
    kind: kindName,
    metadata: { namespace, name, ...metadata },
    spec,
  };
  return one.client.create(kind(type), object as KubeObject);
}

const ownedBy = (...clusters: KubeObject[]) => ({
  ownerReferences: clusters.map(({ apiVersion, metadata: { name, uid } }) => ({
    apiVersion,
    kind: "Cluster",
    name,
    uid: uid ?? "",
  })),
});

/** The clusters alpha and web, each with its control plane. */
async function planes(namespace: string, metadata: object = {}): Promise<void> {
  await seed(one.client, namespace);
  const all = [await make("Cluster", namespace, "alpha"), await one.client.get(Cluster, { namespace, name: "web" })];
  for (const each of all)
    await make("HostedControlPlane", namespace, each.metadata.name, { ...ownedBy(each as KubeObject), ...metadata });
}

/** Once, before the first object is created in the target. */
function beforeCopying(work: () => Promise<unknown>): Partial<MoveOptions> {
  let isDone = false;
  const create: Side["client"]["create"] = async (type, object, more) => {
    if (!isDone && type.kind !== "Namespace") {
      isDone = true;
      await work();
    }
    return two.client.create(type, object, more);
  };
  const to = new Proxy(two.client, {
    get: (target, name) => {
      if (name === "create") return create;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
  return { to };
}

const handsOver = (handOver: ControlPlanes["handOver"] = async () => {}): Pick<MoveOptions, "controlPlanes"> => ({
  controlPlanes: { check: async () => {}, handOver },
});
const clustersOf = (at: Side, namespace: string) =>
  graph(at, namespace).then((all) =>
    all.filter(({ object }) => object.kind === "Cluster").map(({ object }) => object.metadata.name),
  );

describe("a move, while the source changes", () => {
  test("without hosted control planes is one wave, whatever the size is", async () => {
    await seed(one.client, "plain");
    await make("Cluster", "plain", "alpha");
    const lines: string[] = [];
    const report = (line: string): void => void lines.push(line);
    await moveClusters(options("plain", { wave: 1, report, ...handsOver() }), signal);
    expect(lines.filter((line) => line.startsWith("pausing"))).toHaveLength(1);
    expect(await graph(one, "plain")).toEqual([]);
  });

  test("deletes no Cluster that is created while others are copied, and takes it when it is repeated", async () => {
    const namespace = "created";
    await seed(one.client, namespace);
    const more = beforeCopying(() => make("Cluster", namespace, "late"));
    await expect(moveClusters(options(namespace, more), signal)).rejects.toMatchObject({ code: "MOVE_NOT_EQUAL" });
    expect(await clustersOf(one, namespace)).toEqual(expect.arrayContaining(["web", "late"]));
    await moveClusters(options(namespace), signal);
    expect(await clustersOf(two, namespace)).toEqual(expect.arrayContaining(["web", "late"]));
    expect(await graph(one, namespace)).toEqual([]);
  });

  test("deletes none in waves either", async () => {
    const namespace = "created-in-waves";
    await planes(namespace);
    const more = { wave: 2, ...handsOver(), ...beforeCopying(() => make("Cluster", namespace, "late")) };
    await moveClusters(options(namespace, more), signal);
    expect((await clustersOf(two, namespace)).toSorted()).toEqual(["alpha", "late", "web"]);
    expect(await graph(one, namespace)).toEqual([]);
  });

  test("is refused for a Cluster that its user deletes while others are copied, and moves it no further", async () => {
    const namespace = "deleted";
    await planes(namespace);
    const key = { namespace, name: "web" };
    const more = { wave: 1, ...handsOver(), ...beforeCopying(() => one.client.delete(Cluster, key)) };
    await expect(moveClusters(options(namespace, more), signal)).rejects.toMatchObject({ code: "MOVE_OBJECT_DELETED" });
    expect(await two.client.find(Cluster, key)).toBeUndefined();
    const { metadata } = await one.client.get(Cluster, key);
    expect(metadata.deletionTimestamp).toBeDefined();
    // Its controllers can delete it.
    expect(await isPaused(one, namespace)).toBe(false);
    expect(metadata.annotations).not.toHaveProperty([marks.target]);
  });

  test("is refused for what its user deletes after it was copied, before anything is deleted", async () => {
    const namespace = "deleted-late";
    await seed(one.client, namespace);
    const key = { namespace, name: "web" };
    const more = beforeCopying(() => one.client.delete(Cluster, key));
    const moving = moveClusters(options(namespace, more), signal);
    await expect(moving).rejects.toMatchObject({
      code: "MOVE_OBJECT_DELETED",
      hint: expect.stringContaining("spec.paused") as string,
    });
    expect(await one.client.find(Secret, { namespace, name: "web-cloud" })).toBeDefined();
  });
});

describe("an object that several clusters use", () => {
  const type = kind("KubeadmConfigTemplate");
  const used = (namespace: string) => ({ namespace, name: "workers" });
  async function seedShared(namespace: string): Promise<void> {
    await planes(namespace);
    const { group, version } = type;
    const clusters = await Promise.all(
      ["alpha", "web"].map((name) => one.client.get(kind("Cluster"), { namespace, name })),
    );
    const object = { metadata: { ...used(namespace), ...ownedBy(...clusters) }, spec: { template: { spec: {} } } };
    await one.client.create(type, { apiVersion: `${group}/${version}`, kind: type.kind, ...object } as KubeObject);
  }
  /** Changes it when the first wave has moved. */
  function changing(namespace: string, at: Side): Partial<MoveOptions> {
    const body = { metadata: { labels: { "cluster.x-k8s.io/cluster-name": "alpha" } } };
    let handed = 0;
    const handOver = async (): Promise<void> => {
      handed += 1;
      if (handed === 1) await at.client.patch(type, used(namespace), { type: "merge", body });
    };
    return { wave: 1, ...handsOver(handOver) };
  }

  test("may be changed by the target's controllers before the last of them moves", async () => {
    const namespace = "adopted";
    await seedShared(namespace);
    await moveClusters(options(namespace, changing(namespace, two)), signal);
    expect(await graph(one, namespace)).toEqual([]);
    const { metadata } = await two.client.get(type, used(namespace));
    expect(metadata.labels).toEqual({ "cluster.x-k8s.io/cluster-name": "alpha" });
    expect(metadata.annotations ?? {}).not.toHaveProperty([marks.copied]);
  });

  test("may not be changed in the source meanwhile, and the move continues once that is undone", async () => {
    const namespace = "edited";
    await seedShared(namespace);
    const moving = moveClusters(options(namespace, changing(namespace, one)), signal);
    await expect(moving).rejects.toMatchObject({
      code: "MOVE_NOT_EQUAL",
      message: expect.stringContaining("was changed in the source") as string,
    });
    await one.client.patch(type, used(namespace), { type: "merge", body: { metadata: { labels: null } } });
    await moveClusters(options(namespace, { wave: 1, ...handsOver() }), signal);
    expect(await graph(one, namespace)).toEqual([]);
  });
});

describe("a hosted control plane", () => {
  test.for<[string, object]>([
    ["with the label of another cluster", { labels: { "cluster.x-k8s.io/cluster-name": "alpha" } }],
    ["that nothing owns", { ownerReferences: [] }],
  ])("is handed over before it is deleted: %s", async ([, metadata], { task }) => {
    const namespace = `labels-${task.name.length}`;
    await planes(namespace, metadata);
    const handed: string[] = [];
    const handOver: ControlPlanes["handOver"] = async ({ metadata: { name } }) => {
      expect(await one.client.find(kind("HostedControlPlane"), { namespace, name })).toBeDefined();
      handed.push(name);
    };
    // Both are in the last wave: what one of them has a label of is what both use.
    await moveClusters(options(namespace, { wave: 2, ...handsOver(handOver) }), signal);
    expect(handed.toSorted()).toEqual(["alpha", "web"]);
    expect(await graph(one, namespace)).toEqual([]);
  });

  test("is not deleted where it was not handed over", async () => {
    const namespace = "kept";
    await planes(namespace);
    const failing = handsOver(() => Promise.reject(new Error("no response")));
    await expect(moveClusters(options(namespace, { wave: 1, ...failing }), signal)).rejects.toThrow("no response");
    for (const name of ["alpha", "web"])
      expect(await one.client.find(kind("HostedControlPlane"), { namespace, name })).toBeDefined();
  });
});

describe("a cluster that another management cluster moves to the same target", () => {
  test("is neither listed nor unpaused", async () => {
    const namespace = "of-another";
    await seed(one.client, namespace);
    await seed(two.client, namespace);
    const key = { namespace, name: "web" };
    const annotations = { [marks.from]: "uid-there", [marks.source]: "another", [marks.paused]: "false" };
    await two.client.patch(Cluster, key, {
      type: "merge",
      body: { metadata: { annotations }, spec: { paused: true } },
    });
    await one.client.delete(kind("OpenStackCluster"), key);
    const from = await side();
    try {
      expect(await namespacesToMove({ from: one.client, to: two.client }, signal)).toContain(namespace);
      await expect(namespacesToMove({ from: from.client, to: two.client }, signal)).rejects.toMatchObject({
        code: "MOVE_NOTHING",
      });
      await expect(moveClusters(options(namespace, { from: from.client }), signal)).rejects.toMatchObject({
        code: "MOVE_NOTHING",
      });
    } finally {
      await from.client.close();
      await from.server.close();
    }
    expect(await isPaused(two, namespace)).toBe(true);
  });
});
