/** Changes of a cluster of the Magnum API on the real controllers: its status is never ahead of its nodes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { Machine } from "@causeway/api";
import {
  createClient,
  createInformers,
  loadKubeconfig,
  Node,
  Secret,
  secretText,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { silentLog, systemClock } from "@causeway/foundation";
import { connectCloud, issueToken, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { startSystem, type System } from "../programs/magnum-migration/system.ts";
import { eventually } from "../support/processes.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const MINUTE = 60_000;

type Json = Readonly<Record<string, unknown>>;

let dir: string;
let simulator: Simulator;
let system: System;
let cloud: Cloud;
let token = "";
let uuid = "";
const template = { name: "t", coe: "kubernetes", flavor_id: "m1.small", external_network_id: "public" };

async function api(method: string, path: string, body?: unknown): Promise<Json> {
  const response = await fetch(`${system.magnumUrl}/v1${path}`, {
    method,
    headers: {
      "x-auth-token": token,
      "openstack-api-version": "container-infra latest",
      "content-type": "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Json);
}

const show = (): Promise<Json> => api("GET", `/clusters/${uuid}`);

const becomes = (status: string): Promise<Json> =>
  eventually(2 * MINUTE, async () => {
    const found = await show();
    if (found["status"] === status) return found;
    throw new Error(`${String(found["status"])}, not ${status}: ${String(found["status_reason"])}`);
  });

/** What is read after each status until the first one that is no longer "in progress", and the reasons until then. */
async function untilComplete<T>(read: () => Promise<T>): Promise<{ seen: T; reasons: ReadonlySet<string> }> {
  const reasons = new Set<string>();
  const deadline = Date.now() + 4 * MINUTE;
  while (Date.now() < deadline) {
    const { status, status_reason: reason } = await show();
    if (status === "UPDATE_COMPLETE") return { seen: await read(), reasons };
    expect(status).toBe("UPDATE_IN_PROGRESS");
    reasons.add(String(reason));
    // A project has 50 requests a second.
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`still in progress: ${[...reasons].at(-1)}`);
}

/** A client of the cluster, with the management cluster's kubeconfig of it. */
async function workload(): Promise<{ client: KubernetesClient; close: () => Promise<void> }> {
  const { items } = await system.client.list(Secret);
  const secret = items.find(({ metadata }) => /^c1-.*-kubeconfig$/.test(metadata.name));
  const client = createClient(loadKubeconfig({ text: (secret && secretText(secret, "value")) ?? "" }));
  return { client, close: () => client.close() };
}

/** The path of the group default-worker. */
async function workers(): Promise<string> {
  const groups = (await api("GET", `/clusters/${uuid}/nodegroups`))["nodegroups"] as readonly Json[];
  const group = groups.find(({ name }) => name === "default-worker")?.["uuid"];
  return `/clusters/${uuid}/nodegroups/${String(group)}`;
}

const servers = async (): Promise<readonly string[]> =>
  (await cloud.compute.servers.all({})).map(({ image }) => (typeof image === "object" ? (image?.id ?? "") : ""));

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "magnum-changes-"));
  simulator = await startSimulator();
  system = await startSystem(join(dir, "state"), simulator);
  const config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
  cloud = connectCloud(config);
  ({ token } = await issueToken(config));
  // The API responds 503 until it has read the management cluster.
  await eventually(MINUTE, () => api("GET", "/clustertemplates"));
  const { uuid: first } = await api("POST", "/clustertemplates", { ...template, image_id: "cirros" });
  // Add-ons need more nodes than this has, and are no part of a change.
  const labels = { causeway_addons: "none" };
  const made = await api("POST", "/clusters", { name: "c1", cluster_template_id: first, labels, node_count: 2 });
  uuid = String(made["uuid"]);
  await becomes("CREATE_COMPLETE");
});

afterAll(async () => {
  await cloud?.close();
  await system?.stop();
  await simulator?.close();
  rmSync(dir, { recursive: true, force: true });
});

it("an upgrade to another image is complete when all nodes have it, and says how many have until then", async () => {
  const images = await cloud.image.images.all({});
  const [old] = await servers();
  const image = images.find(({ id, status }) => id !== old && status === "active")?.id ?? "";
  expect(image).not.toBe("");
  const { uuid: newer } = await api("POST", "/clustertemplates", { ...template, image_id: image });
  await api("POST", `/clusters/${uuid}/actions/upgrade`, { cluster_template: newer });
  const { seen, reasons } = await untilComplete(servers);
  expect(seen).toEqual([image, image]);
  expect([...reasons].filter((reason) => /, [01] of 2 are updated/.test(reason))).not.toEqual([]);
});

it("another label of a group reaches its nodes, and none of them is replaced", async () => {
  const ids = async () => (await cloud.compute.servers.all({})).map(({ id }) => id).toSorted();
  const before = await ids();
  const path = await workers();
  const { client, close } = await workload();
  const labels = async () =>
    (await client.list(Node)).items.map(({ metadata }) => [metadata.labels?.["p"], metadata.labels?.["team.io/q"]]);
  try {
    await api("PATCH", path, [{ op: "add", path: "/node_labels/p", value: "1" }]);
    await untilComplete(ids);
    // Complete says that the nodes have them.
    expect(await labels()).toEqual([
      ["1", undefined],
      ["1", undefined],
    ]);
    await api("PATCH", path, [{ op: "replace", path: "/node_labels", value: { "team.io/q": "2" } }]);
    const { seen } = await untilComplete(ids);
    expect(await labels()).toEqual([
      [undefined, "2"],
      [undefined, "2"],
    ]);
    expect(seen).toEqual(before);
    expect(await ids()).toEqual(before);
  } finally {
    await close();
  }
});

it("changes that replace nodes, and are undone half-way, end with nodes of new names that have room", async () => {
  const path = await workers();
  const { client, close } = await workload();
  const gone = new Set<string>();
  const stop = new AbortController();
  const informers = createInformers(system.client, { clock: systemClock, log: silentLog });
  const reused: string[] = [];
  informers.for(Machine).onChange(({ type, object: { metadata } }) => {
    if (type === "deleted") gone.add(metadata.name);
    else if (gone.has(metadata.name)) reused.push(metadata.name);
  });
  const running = informers.run(stop.signal);
  try {
    // Labels that Nodes have of their own are those with which they join.
    const label = (value: Json) => api("PATCH", path, [{ op: "replace", path: "/node_labels", value }]);
    await informers.whenSynced();
    for (let times = 0; times < 2; times += 1) {
      const before = gone.size;
      await label({ "node.kubernetes.io/size": "a" });
      await vi.waitFor(() => expect(gone.size).toBeGreaterThan(before), MINUTE);
      await label({});
    }
    await untilComplete(servers);
    const { items } = await client.list(Node);
    expect(items.map(({ metadata }) => metadata.labels?.["node.kubernetes.io/size"])).toEqual([undefined, undefined]);
    expect(items.filter(({ status }) => Number(status?.capacity?.["pods"] ?? 0) > 0)).toHaveLength(2);
    expect(reused).toEqual([]);
  } finally {
    stop.abort();
    await running;
    await close();
  }
});
