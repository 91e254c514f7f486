import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiServer } from "../interface.ts";
import { startApiServer } from "../start.ts";
import { rawClient, type Raw } from "../testing/client.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const OBJECTS = 600;
const LISTS = 40;
const GETS = 5;
let server: ApiServer;
const clients: Raw[] = [];

async function client(name: string, user: string): Promise<Raw> {
  const cluster = name === "" ? server.management : await server.ensureCluster(name);
  const identity = user === "" ? {} : { commonName: user, organizations: [] };
  const made = await rawClient(cluster, identity);
  clients.push(made);
  return made;
}

beforeAll(async () => {
  server = await startApiServer();
  const admin = await client("", "");
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" };
  const subjects = ["noisy", "quiet"].map((name) => ({ apiGroup: roleRef.apiGroup, kind: "User", name }));
  const type = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" };
  const binding = { ...type, metadata: { name: "both" }, roleRef, subjects };
  await admin.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding);
  const create = async (i: number): Promise<void> => {
    const type = { apiVersion: "v1", kind: "ConfigMap" };
    const made = await admin.call("POST", MAPS, { ...type, metadata: { name: `m${i}` }, data: { a: "x".repeat(200) } });
    expect(made.code).toBe(201);
  };
  for (let i = 0; i < OBJECTS; i += 100) await Promise.all(Array.from({ length: 100 }, (_, j) => create(i + j)));
});
afterAll(async () => {
  clients.forEach((c) => c.close());
  await server.close();
});

/** How many of the noisy lists were over when each of some requests, one after the other, was. */
async function among(noisy: Raw, ask: () => Promise<{ code: number }>): Promise<number[]> {
  let over = 0;
  const lists = Array.from({ length: LISTS }, () => noisy.call("GET", MAPS).then(() => (over += 1)));
  const seen: number[] = [];
  for (let i = 0; i < GETS; i += 1) {
    expect((await ask()).code).toBe(200);
    seen.push(over);
  }
  await Promise.all(lists);
  return seen;
}

test("a client's gets are served while another's lists continue", async () => {
  const [noisy, quiet] = [await client("", "noisy"), await client("", "quiet")];
  await quiet.call("GET", `${MAPS}/m1`);
  const seen = await among(noisy, () => quiet.call("GET", `${MAPS}/m1`));

  expect(seen.at(-1)).toBeLessThan(LISTS / 2);
});

test("an administrator's lists do not keep another logical cluster waiting", async () => {
  const [noisy, quiet] = [await client("", ""), await client("tenant", "")];
  await quiet.call("GET", "/api/v1/namespaces/default");
  const seen = await among(noisy, () => quiet.call("GET", "/api/v1/namespaces/default"));
  expect(seen.at(-1)).toBeLessThan(LISTS / 2);
});
