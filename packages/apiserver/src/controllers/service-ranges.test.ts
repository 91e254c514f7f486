import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ApiServer } from "../interface.ts";
import { at, records, type Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { openStore, type Store } from "../store/index.ts";
import { eventually, rawClient, type Raw } from "../testing/client.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses";
let dir: string;
const opened: { close(): unknown }[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "ranges-"));
});
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
  rmSync(dir, { recursive: true, force: true });
});

async function start(clock?: VirtualClock): Promise<{ server: ApiServer; api: Raw }> {
  const server = await startApiServer({ dir, ...(clock ? { clock } : {}) });
  opened.push(server);
  const api = await rawClient(server.management);
  opened.push(api);
  return { server, api };
}

const body = (name: string): Json => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { type: "NodePort", ports: [{ port: 80 }] },
});

/** Does to the stored state what no server would. */
async function tamper(work: (store: Store) => Promise<unknown>): Promise<void> {
  const store = openStore({ dir });
  await work(store);
  await store.close();
}

const key = (resource: string, name: string, namespace = "") => ({ cluster: "", resource, namespace, name });

async function warnings(api: Raw, count: number): Promise<string[]> {
  return eventually(async () => {
    const { body: list } = await api.call("GET", "/api/v1/namespaces/default/events");
    const events = records(list["items"]).map((e) => `${String(e["reason"])}: ${String(e["message"])}`);
    return events.length >= count ? events.toSorted() : undefined;
  });
}

test("an address that was lost or given twice while the server was down is repaired, or reported in an Event", async () => {
  const first = await start();
  const made = [];
  for (const name of ["a", "b", "c"]) made.push((await first.api.call("POST", SERVICES, body(name))).body);
  const [a, b, c] = made;
  const ip = String(at(a, "spec", "clusterIP"));
  await first.server.close();
  await tamper(async (store) => {
    const lost = store.get(key("networking.k8s.io/ipaddresses", ip));
    if (lost) await store.remove(lost.key, lost.revision);
    const twin = store.get(key("/services", "b", "default"));
    if (twin) await store.update(twin.key, { ...twin.object, spec: a?.["spec"] } as KubeObject, twin.revision);
    const drifted = store.get(key("/services", "c", "default"));
    const spec = { ...(c?.["spec"] as Json), clusterIP: "192.0.2.9", clusterIPs: ["192.0.2.9"] };
    if (drifted) await store.update(drifted.key, { ...drifted.object, spec } as KubeObject, drifted.revision);
  });
  const { api } = await start();
  const port = String((at(a, "spec", "ports") as Json[])[0]?.["nodePort"]);
  const others = [b, c].map((s) => String(at(s, "spec", "clusterIP")));
  expect(await warnings(api, 6)).toEqual([
    `ClusterIPAlreadyAllocated: Cluster IP [IPv4]:${ip} was assigned to multiple services; please recreate service`,
    `ClusterIPNotAllocated: Cluster IP [IPv4]: ${ip} is not allocated; repairing`,
    "ClusterIPOutOfRange: Cluster IP [IPv4]: 192.0.2.9 is not within any configured Service CIDR; please recreate service",
    `IPAddressWrongReference: IPAddress: ${others[0]} for Service default/b has a wrong reference; cleaning up`,
    `IPAddressWrongReference: IPAddress: ${others[1]} for Service default/c has a wrong reference; cleaning up`,
    `PortAlreadyAllocated: Port ${port} was assigned to multiple services; please recreate service`,
  ]);
  expect((await api.call("GET", `${ADDRESSES}/${ip}`)).body["spec"]).toMatchObject({ parentRef: { name: "a" } });
  // The address of b belongs to no Service any more, though its IPAddress still existed.
  const gone = await eventually(async () => {
    const { code } = await api.call("GET", `${ADDRESSES}/${String(at(b, "spec", "clusterIP"))}`);
    return code === 404 ? code : undefined;
  });
  expect(gone).toBe(404);
});

test("an object that represents no Service goes after a minute, one that is another's at once", async () => {
  const clock = new VirtualClock();
  const { api } = await start(clock);
  const address = (name: string, parentRef: Json): Json => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: { name, labels: { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" } },
    spec: { parentRef },
  });
  const leaked = address("10.96.1.1", { resource: "services", namespace: "default", name: "absent" });
  await api.call("POST", ADDRESSES, leaked);
  await api.call("POST", ADDRESSES, address("10.96.1.2", { resource: "things", name: "x" }));
  const foreign = { ...leaked, metadata: { name: "10.96.1.3" } };
  await api.call("POST", ADDRESSES, foreign);
  const codes = async (): Promise<number[]> => {
    const answers = ["10.96.1.1", "10.96.1.2", "10.96.1.3"].map((ip) => api.call("GET", `${ADDRESSES}/${ip}`));
    return (await Promise.all(answers)).map((x) => x.code);
  };
  const becomes = (expected: string) =>
    eventually(async () => ((await codes()).join() === expected ? true : undefined));
  await becomes("200,404,200");
  await clock.advance(61_000);
  await becomes("404,404,200");
});
