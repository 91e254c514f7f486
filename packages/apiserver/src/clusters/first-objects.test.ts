import { expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import { text } from "../json/json.ts";
import { firstObjects, startApiServer } from "../start.ts";
import { rawClient } from "../testing/client.ts";
import type { LogicalCluster } from "../interface.ts";

const LISTS = [
  "/api/v1/namespaces",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  "/apis/rbac.authorization.k8s.io/v1/roles",
  "/apis/rbac.authorization.k8s.io/v1/rolebindings",
  "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
  "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
  "/apis/scheduling.k8s.io/v1/priorityclasses",
  "/apis/networking.k8s.io/v1/servicecidrs",
  "/api/v1/services",
];
const OWN = new Set(["uid", "resourceVersion"]);
const INSTANTS = new Set(["creationTimestamp", "lastTransitionTime", "time"]);

interface Seen {
  readonly objects: readonly unknown[];
  readonly uids: readonly string[];
  readonly instants: readonly string[];
}

/** The lists of a cluster, and apart from them what must be its own. */
async function seen(cluster: LogicalCluster): Promise<Seen> {
  const client = await rawClient(cluster);
  const uids: string[] = [];
  const instants: string[] = [];
  const objects: unknown[] = [];
  for (const list of LISTS) {
    // What aggregates is filled in after the start.
    await expect.poll(async () => JSON.stringify((await client.call("GET", list)).body)).not.toContain('"rules":null');
    const { items } = (await client.call("GET", list)).body as { items: KubeObject[] };
    const plain = JSON.stringify(items, (name, value: unknown) => {
      if (name === "uid") uids.push(text(value));
      if (INSTANTS.has(name)) instants.push(text(value));
      return OWN.has(name) || INSTANTS.has(name) ? undefined : value;
    });
    objects.push(JSON.parse(plain));
  }
  client.close();
  return { objects, uids, instants };
}

test("a cluster whose first objects are known has the same ones as a cluster that makes them, with uids and instants of its own", async () => {
  const known = await firstObjects();
  await new Promise((resolve) => setTimeout(resolve, 1000 - (Date.now() % 1000)));
  const [making, knowing] = [await startApiServer(), await startApiServer({ firstObjects: known })];
  const made = await seen(making.management);
  const written = await seen(knowing.management);
  const second = await seen(await making.ensureCluster("second"));
  expect(written.objects).toEqual(made.objects);
  expect(second.objects).toEqual(made.objects);
  expect(new Set([...made.uids, ...written.uids, ...second.uids]).size).toBe(3 * made.uids.length);
  const before = text(known[0]?.metadata.managedFields?.[0]?.time);
  expect(before).not.toBe("");
  expect(written.instants).not.toContain(before);
  await Promise.all([making.close(), knowing.close()]);
});

test("known first objects have the rules that aggregated roles gather, and what is on a cluster's network is the cluster's", async () => {
  const server = await startApiServer({ firstObjects: await firstObjects() });
  const client = await rawClient(await server.ensureCluster("other", { serviceCidr: "10.97.0.0/16" }));
  const read = async (path: string): Promise<unknown> => (await client.call("GET", path)).body;
  expect(await read("/apis/rbac.authorization.k8s.io/v1/clusterroles/admin")).toMatchObject({
    rules: expect.arrayContaining([expect.objectContaining({ resources: expect.arrayContaining(["pods"]) })]),
  });
  expect(await read("/api/v1/namespaces/default/services/kubernetes")).toMatchObject({
    spec: { clusterIP: "10.97.0.1" },
  });
  expect(await read("/apis/networking.k8s.io/v1/servicecidrs/kubernetes")).toMatchObject({
    spec: { cidrs: ["10.97.0.0/16"] },
  });
  const address = "/apis/networking.k8s.io/v1/ipaddresses/10.97.0.1";
  await expect.poll(async () => (await client.call("GET", address)).code).toBe(200);
  const account = "/api/v1/namespaces/default/serviceaccounts/default";
  await expect.poll(async () => (await client.call("GET", account)).code).toBe(200);
  // What a start does in its order is nothing to warn of.
  expect(await read("/api/v1/events")).toMatchObject({ items: [] });
  client.close();
  await server.close();
});
