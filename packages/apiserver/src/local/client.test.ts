import { getEventListeners } from "node:events";
import {
  ConfigMap,
  createInformers,
  CustomResourceDefinition,
  Namespace,
  Node,
  Pod,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
  type WatchEvent,
} from "@causeway/kubernetes";
import { afterEach, describe, expect, test } from "vitest";
import type { ApiServer, ControlledCluster } from "../interface.ts";
import { startApiServer } from "../start.ts";
import { rawClient } from "../testing/client.ts";

const user = { name: "system:kube-controller-manager", groups: [] };
const servers: ApiServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A server whose management cluster has a controller that only hands out its cluster. */
async function controlled(): Promise<{ cluster: ControlledCluster; server: ApiServer; stopped: () => boolean }> {
  let cluster: ControlledCluster | undefined;
  let stopped = false;
  const server = await startApiServer({
    management: { controllers: true },
    controllers: (given) => {
      cluster = given;
      return {
        stop: async () => {
          stopped = true;
        },
      };
    },
  });
  servers.push(server);
  if (!cluster) throw new Error("the controllers did not start");
  return { cluster, server, stopped: () => stopped };
}

const map = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default", labels },
  data,
});
const pod = (name: string): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default" },
  spec: { containers: [{ name: "main", image: "registry.example/app" }] },
});

async function client(): Promise<KubernetesClient> {
  return (await controlled()).cluster.client(user);
}

describe("the client in the server's process", () => {
  test("creates, reads, updates, patches, applies and deletes as over HTTP", async () => {
    const { cluster, server } = await controlled();
    const local = cluster.client(user);
    const made = await local.create(ConfigMap, map("a", { x: "1" }));
    expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    await local.update(ConfigMap, { ...made, data: { x: "2" } });
    await local.patch(ConfigMap, { namespace: "default", name: "a" }, { type: "merge", body: { data: { y: "3" } } });
    const applied = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace: "default" },
      data: { z: "4" },
    };
    await local.apply(ConfigMap, applied, { fieldManager: "tester" });
    const raw = await rawClient(server.management);
    const { body } = await raw.call("GET", "/api/v1/namespaces/default/configmaps/a");
    raw.close();
    expect(body["data"]).toEqual({ x: "2", y: "3", z: "4" });
    const managers = (body["metadata"] as { managedFields: { manager: string }[] }).managedFields.map((m) => m.manager);
    expect(new Set(managers)).toEqual(new Set(["kube-controller-manager", "tester"]));
    await local.delete(ConfigMap, { namespace: "default", name: "a" });
    expect(await local.find(ConfigMap, { namespace: "default", name: "a" })).toBeUndefined();
  });

  test("refuses what the API refuses, with the same codes", async () => {
    const local = await client();
    await local.create(ConfigMap, map("a"));
    await expect(local.create(ConfigMap, map("a"))).rejects.toMatchObject({ code: "KUBERNETES_ALREADY_EXISTS" });
    await expect(local.get(ConfigMap, { namespace: "default", name: "b" })).rejects.toMatchObject({
      code: "KUBERNETES_NOT_FOUND",
    });
    await expect(local.create(Pod, { ...pod("p"), spec: { containers: [] } })).rejects.toMatchObject({
      code: "KUBERNETES_INVALID",
    });
    const stale = { ...map("a"), metadata: { ...map("a").metadata, resourceVersion: "1" } };
    await expect(local.update(ConfigMap, stale)).rejects.toMatchObject({ code: "KUBERNETES_CONFLICT" });
  });

  test("hands out objects whose metadata may be changed without changing what is stored", async () => {
    const local = await client();
    await local.create(ConfigMap, map("a", { x: "1" }));
    const { items } = await local.list(ConfigMap, { namespace: "default" });
    for (const item of items) delete item.metadata.managedFields;
    const again = await local.get(ConfigMap, { namespace: "default", name: "a" });
    expect(again.metadata.managedFields?.length).toBe(1);
  });

  test("binds a pod to a node and evicts it", async () => {
    const local = await client();
    await local.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec: {} });
    await local.create(Pod, pod("p"));
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "p", namespace: "default" },
      target: { kind: "Node", name: "n" },
    };
    await local.create(Pod, binding as unknown as Pod, { subresource: "binding" });
    const key = { namespace: "default", name: "p" };
    expect((await local.get(Pod, key)).spec.nodeName).toBe("n");
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p", namespace: "default" } };
    await local.request("POST", "/api/v1/namespaces/default/pods/p/eviction", { body: eviction });
    expect((await local.get(Pod, key)).metadata.deletionTimestamp).toBeDefined();
  });

  test("watches with selectors: what leaves the selection is deleted", async () => {
    const local = await client();
    const { resourceVersion } = await local.list(ConfigMap);
    const stop = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      const options = { labelSelector: "app=x", resourceVersion, signal: stop.signal };
      for await (const event of local.watch(ConfigMap, options)) {
        seen.push(`${event.type} ${"object" in event ? event.object.metadata.name : ""}`);
        if (seen.length === 2) break;
      }
    })();
    await local.create(ConfigMap, map("other"));
    const made = await local.create(ConfigMap, map("a", {}, { app: "x" }));
    await local.update(ConfigMap, { ...made, metadata: { ...made.metadata, labels: {} } });
    await watching;
    expect(seen).toEqual(["ADDED a", "DELETED a"]);
  });

  test("keeps informers current, and they leave the stored objects whole", async () => {
    const { cluster } = await controlled();
    const local = cluster.client(user);
    await local.create(ConfigMap, map("before"));
    const informers = createInformers(cluster.client(user));
    const maps = informers.for(ConfigMap, { namespace: "default", labelSelector: "!hidden" });
    const stop = new AbortController();
    const running = informers.run(stop.signal);
    await maps.whenSynced();
    await local.create(ConfigMap, map("after", { x: "1" }));
    await local.create(ConfigMap, map("hidden", {}, { hidden: "yes" }));
    const names = (): string[] => maps.list().map(({ metadata }) => metadata.name);
    await expect.poll(names).toEqual(expect.arrayContaining(["before", "after"]));
    expect(names()).not.toContain("hidden");
    await local.delete(ConfigMap, { namespace: "default", name: "before" });
    await expect.poll(names).not.toContain("before");
    expect((await local.get(ConfigMap, { namespace: "default", name: "after" })).metadata.managedFields).toBeDefined();
    stop.abort();
    await running;
  });
});

describe("the client of the management cluster", () => {
  const crdWith = (fields: Record<string, unknown>) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.org" },
    spec: {
      group: "example.org",
      names: { kind: "Thing", plural: "things" },
      scope: "Namespaced",
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: fields } } } },
        },
      ],
    },
  });
  const Thing: ResourceType<KubeObject> = {
    group: "example.org",
    version: "v1",
    kind: "Thing",
    plural: "things",
    namespaced: true,
  };
  const thing = (name: string): KubeObject =>
    ({ apiVersion: "example.org/v1", kind: "Thing", metadata: { name, namespace: "default" }, spec: {} }) as KubeObject;

  test("writes as a field manager that its owner names", async () => {
    const server = await startApiServer({});
    servers.push(server);
    const local = server.localClient({ name: "kubernetes-admin", groups: ["system:masters"] }, "owner");
    const made = await local.create(ConfigMap, map("a", { x: "1" }));
    expect(made.metadata.managedFields?.map(({ manager }) => manager)).toEqual(["owner"]);
    await local.patch(ConfigMap, { namespace: "default", name: "a" }, { type: "merge", body: { data: { y: "2" } } });
    const again = await local.get(ConfigMap, { namespace: "default", name: "a" });
    expect(again.metadata.managedFields?.map(({ manager }) => manager)).toEqual(["owner"]);
  });

  test("reads all objects again once the CRD of their kind was written", async () => {
    const crd = crdWith({ size: { type: "string" } });
    const server = await startApiServer({ crds: [crd] });
    servers.push(server);
    const local = server.localClient({ name: "kubernetes-admin", groups: ["system:masters"] });
    await local.create(Thing, thing("old"));
    const lists: string[][] = [];
    const events: string[] = [];
    const mirror = {
      replace: ({ items }: { items: readonly KubeObject[] }) =>
        lists.push(items.map(({ metadata, ...rest }) => `${metadata.name} ${JSON.stringify(Object(rest)["spec"])}`)),
      onEvent: (event: WatchEvent<KubeObject>) => {
        if ("object" in event) events.push(event.object.metadata.name);
      },
    };
    const stop = new AbortController();
    const following = local.follow?.(Thing, {}, mirror, stop.signal);
    await local.create(Thing, thing("before"));
    expect(events).toEqual(["before"]);
    const wider = crdWith({ size: { type: "string", default: "small" } });
    const { spec } = wider;
    await local.patch(
      CustomResourceDefinition,
      { namespace: "", name: "things.example.org" },
      { type: "merge", body: { spec } },
    );
    await local.create(Thing, thing("after"));
    await following;
    expect(events).toEqual(["before"]);
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
    const again = local.follow?.(Thing, {}, mirror, stop.signal);
    await expect.poll(() => lists.length).toBe(2);
    expect(lists[1]).toEqual(['after {"size":"small"}', 'before {"size":"small"}', 'old {"size":"small"}']);
    stop.abort();
    await again;
  });
});

describe("a follower in the server's process", () => {
  test("ends with the error of a mirror that an event breaks, so that all is read again", async () => {
    const server = await startApiServer({});
    servers.push(server);
    const local = server.localClient({ name: "kubernetes-admin", groups: ["system:masters"] });
    const broken = new Error("an index failed");
    const listed = Promise.withResolvers<void>();
    const mirror = {
      replace: () => listed.resolve(),
      onEvent: () => {
        throw broken;
      },
    };
    const following = expect(local.follow(ConfigMap, {}, mirror, new AbortController().signal)).rejects.toBe(broken);
    await listed.promise;
    await local.create(ConfigMap, map("a", {}));
    await following;
  });
});

describe("controllers of the server's owner", () => {
  test("wait for the first object of a kind", async () => {
    const { cluster } = await controlled();
    let isThere = false;
    const waiting = cluster.whenStored(["/pods"], new AbortController().signal).then(() => (isThere = true));
    await cluster.client(user).create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "x" } });
    expect(isThere).toBe(false);
    await cluster.client(user).create(Pod, pod("p"));
    await waiting;
    await cluster.whenStored(["/pods"], new AbortController().signal);
  });

  test("end with their cluster, also while they wait", async () => {
    const { cluster, server, stopped } = await controlled();
    const waiting = cluster.whenStored(["/pods"], new AbortController().signal);
    const ended = expect(waiting).rejects.toThrow();
    await server.close();
    await ended;
    expect(stopped()).toBe(true);
  });

  test("do not run for a cluster that did not ask for them", async () => {
    const started: string[] = [];
    const server = await startApiServer({
      controllers: ({ name }) => {
        started.push(name);
        return { stop: async () => {} };
      },
    });
    servers.push(server);
    await server.ensureCluster("plain");
    await server.ensureCluster("asking", { controllers: true });
    expect(started).toEqual(["asking"]);
  });
});
