import { addonKinds, allKinds, Cluster, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { systemClock, VirtualClock } from "@causeway/foundation";
import {
  createClient,
  loadKubeconfig,
  Namespace,
  Secret,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { graphOf, type Member } from "./graph.ts";
import { moveClusters, type MoveOptions } from "./move.ts";
import { movedTypes, readMembers } from "./read.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

const signal = new AbortController().signal;
interface Side {
  readonly server: ApiServer;
  readonly client: KubernetesClient;
}
let one: Side;
let two: Side;

async function side(): Promise<Side> {
  const kinds = [...allKinds, ...addonKinds];
  const crds = [...new Map(kinds.map((kind) => [kind.kind, kind])).values()].map(toCustomResourceDefinition);
  const server = await startApiServer({ crds });
  return { server, client: createClient(loadKubeconfig({ text: await server.management.kubeconfig() })) };
}
beforeAll(async () => {
  [one, two] = await Promise.all([side(), side()]);
});
afterAll(async () => {
  for (const each of [one, two]) {
    await each.client.close();
    await each.server.close();
  }
});

const kind = (name: string): ResourceType<KubeObject> => {
  const found = [...allKinds, ...addonKinds].find((each) => each.kind === name);
  if (!found) throw new Error(`no kind ${name}`);
  return found;
};

/** A cluster with owners two deep, a status, credentials that nothing owns, and a Secret that is not its own. */
async function seed(client: KubernetesClient, namespace: string): Promise<void> {
  await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const make = async (
    type: ResourceType<KubeObject>,
    name: string,
    rest: object,
    owner?: KubeObject,
    more: object = {},
  ) => {
    const owners = owner && [
      {
        apiVersion: owner.apiVersion,
        kind: owner.kind,
        name: owner.metadata.name,
        uid: owner.metadata.uid,
        controller: true,
      },
    ];
    const { group, version } = type;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const metadata = { namespace, name, ...(owners ? { ownerReferences: owners } : {}), ...more };
    return client.create(type, { apiVersion, kind: type.kind, metadata, ...rest } as KubeObject);
  };
  const secret = Secret as ResourceType<KubeObject>;
  const data = { value: "c2VjcmV0" };
  const cluster = await make(
    kind("Cluster"),
    "web",
    { spec: { controlPlaneEndpoint: { host: "192.0.2.1", port: 6443 } } },
    undefined,
    {
      labels: { team: "a" },
      annotations: { note: "kept" },
      finalizers: ["cluster.cluster.x-k8s.io"],
    },
  );
  const status = { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } };
  await client.patch(
    kind("Cluster"),
    { namespace, name: "web" },
    { type: "merge", body: { status } },
    { subresource: "status" },
  );
  const identityRef = { type: "Secret", name: "web-cloud", cloudName: "prod" };
  await make(kind("OpenStackCluster"), "web", { spec: { identityRef } }, cluster, {
    finalizers: ["openstackcluster.infrastructure.cluster.x-k8s.io"],
  });
  const spec = {
    clusterName: "web",
    bootstrap: { dataSecretName: "web-machine" },
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name: "web-machine" },
  };
  const machine = await make(kind("Machine"), "web-machine", { spec }, cluster, {
    labels: { "cluster.x-k8s.io/cluster-name": "web" },
  });
  await make(secret, "web-machine", { data }, machine);
  await make(secret, "web-ca", { data, type: "cluster.x-k8s.io/secret" }, undefined, {
    labels: { "cluster.x-k8s.io/cluster-name": "web" },
  });
  await make(secret, "web-cloud", { data });
  await make(secret, "others", { data });
}

const graph = async ({ client }: Side, namespace: string): Promise<Member[]> =>
  graphOf(await readMembers(client, await movedTypes(client, signal), namespace, signal));

/** The graph without what differs from server to server: names of owners in place of their uids. */
async function shape(at: Side, namespace: string): Promise<unknown[]> {
  const members = await graph(at, namespace);
  return members
    .map(({ object }) => {
      const { name, labels, annotations, finalizers, ownerReferences } = object.metadata;
      const owners = ownerReferences?.map((owner) => {
        const found = members.find((each) => each.object.metadata.uid === owner.uid);
        return `${owner.kind} ${owner.name} ${found?.object.metadata.name === owner.name}`;
      });
      return { ...object, metadata: { name, labels, annotations: { ...annotations }, finalizers, owners } };
    })
    .toSorted((a, b) => (`${a.kind} ${a.metadata.name}` < `${b.kind} ${b.metadata.name}` ? -1 : 1));
}

const options = (from: Side, to: Side, namespace: string): MoveOptions => ({
  from: from.client,
  to: to.client,
  namespace,
  clock: systemClock,
  report: () => {},
});

const isPaused = async ({ client }: Side, namespace: string): Promise<boolean | undefined> => {
  const cluster = await client.find(Cluster, { namespace, name: "web" });
  return cluster && cluster.spec.paused === true;
};

/** The client that ends its process at the Nth change: before it takes place, or before its response arrives. */
function dying(client: KubernetesClient, life: { left: number; readonly after: boolean }): KubernetesClient {
  const change = async <T>(perform: () => Promise<T>): Promise<T> => {
    if (life.left <= 0) throw new Error("killed");
    life.left -= 1;
    if (life.left > 0) return perform();
    if (life.after) await perform();
    throw new Error("killed");
  };
  return {
    server: client.server,
    get: (type, key, more) => client.get(type, key, more),
    find: (type, key, more) => client.find(type, key, more),
    list: (type, more) => client.list(type, more),
    watch: (type, more) => client.watch(type, more),
    request: (method, path, more) => client.request(method, path, more),
    close: () => client.close(),
    create: (type, object, more) => change(() => client.create(type, object, more)),
    update: (type, object, more) => change(() => client.update(type, object, more)),
    patch: (type, key, patch, more) => change(() => client.patch(type, key, patch, more)),
    apply: (type, object, more) => change(() => client.apply(type, object, more)),
    delete: (type, key, more) => change(() => client.delete(type, key, more)),
  };
}

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
