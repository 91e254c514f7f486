import type { KubeObject, ResourceType, WatchEvent } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { startApiServer } from "../start.ts";

const ClusterRole: ResourceType<KubeObject> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
};

const readerOf = (name: string, labels: Record<string, string>): KubeObject =>
  ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name, labels },
    rules: [{ apiGroups: ["example.org"], resources: [name], verbs: ["get"] }],
  }) as unknown as KubeObject;

test("a role that is aggregated to roles and to roles of roles has each of them written once", async () => {
  const server = await startApiServer();
  const client = server.localClient({ name: "admin", groups: ["system:masters"] });
  const rulesOf = async (name: string) => JSON.stringify(await client.get(ClusterRole, { namespace: "", name }));
  // The roles that every cluster has are aggregated first, in the order of their names.
  await expect.poll(() => rulesOf("view")).toMatch(/configmaps/);
  const stop = new AbortController();
  const seen: string[] = [];
  const onEvent = (event: WatchEvent<KubeObject>): void => {
    if ("object" in event) seen.push(`${event.type} ${event.object.metadata.name}`);
  };
  const following = client.follow(ClusterRole, {}, { replace: () => {}, onEvent }, stop.signal);
  const names = ["admin", "edit", "view"];
  const labels = Object.fromEntries(names.map((name) => [`rbac.authorization.k8s.io/aggregate-to-${name}`, "true"]));
  await client.create(ClusterRole, readerOf("things", labels));
  await expect.poll(() => rulesOf("view")).toMatch(/things/);
  for (const name of ["x", "y", "z"]) await client.create(ClusterRole, readerOf(name, {}));
  expect(seen.filter((event) => event.startsWith("MODIFIED"))).toEqual(names.map((name) => `MODIFIED ${name}`));
  stop.abort();
  await following;
  await server.close();
});
