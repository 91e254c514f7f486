/**
 * Clusters of the Magnum API with machines, on what `causeway up` runs, when the cloud refuses or hangs, and when their
 * creator is gone: true states in time, recovery without help, and nothing left behind.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { OpenStackCluster } from "@causeway/api";
import { createRequest } from "@causeway/foundation";
import { createClient, loadKubeconfig, Node } from "@causeway/kubernetes";
import { connectCloud, issueToken, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { startSystem, type System } from "../../programs/magnum-migration/system.ts";
import { eventually } from "../../support/processes.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

const MINUTE = 60_000;
const PASSWORD = "it will be deleted";

type Json = Readonly<Record<string, unknown>>;

interface Reply {
  readonly status: number;
  readonly body: Json;
}

let dir: string;
let simulator: Simulator;
let system: System;
let admin: Cloud;
let projectId = "";
let template = "";
const tokens = new Map<string, string>();

async function api(who: string, method: string, path: string, body?: unknown): Promise<Reply> {
  const response = await fetch(`${system.magnumUrl}/v1${path}`, {
    method,
    headers: {
      "x-auth-token": tokens.get(who) ?? "",
      "openstack-api-version": "container-infra latest",
      "content-type": "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Json) };
}

/** Orders to the simulated cloud. */
async function order(what: string, body: Json): Promise<void> {
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(`${new URL(simulator.authUrl).origin}/_control/${what}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  expect(status).toBe(200);
}

/** What the project has in the cloud, but for what clusters keep on purpose: nothing. */
async function inventory(): Promise<readonly string[]> {
  const response = await fetch(`${new URL(simulator.authUrl).origin}/_control/inventory?project=${projectId}`);
  return ((await response.json()) as { inventory: readonly string[] }).inventory;
}

/** A cluster without add-ons, whose controller is not a part of the system here. */
async function create(who: string, more: Json): Promise<string> {
  const labels = { causeway_addons: "none" };
  const { status, body } = await api(who, "POST", "/clusters", { cluster_template_id: template, labels, ...more });
  expect([status, body]).toEqual([202, expect.anything()]);
  return String(body["uuid"]);
}

const show = async (uuid: string): Promise<Json> => (await api("demo", "GET", `/clusters/${uuid}`)).body;
const becomes = (uuid: string, status: string, within = 4 * MINUTE): Promise<Json> =>
  eventually(within, async () => {
    const found = await show(uuid);
    if (found["status"] === status) return found;
    throw new Error(`${String(found["status"])}, not ${status}: ${String(found["status_reason"])}`);
  });

async function remove(uuid: string): Promise<void> {
  expect((await api("demo", "DELETE", `/clusters/${uuid}`)).status).toBe(204);
  await eventually(4 * MINUTE, async () => (await api("demo", "GET", `/clusters/${uuid}`)).status === 404);
}

async function userOf(name: string): Promise<string> {
  const user = await admin.identity.users.create({ name, password: PASSWORD });
  const [role] = await admin.identity.roles.all({ name: "member" });
  await admin.identity.grant({ role: role?.id ?? "", user: user.id, project: projectId });
  const config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
  const auth = { type: "password", userId: user.id, password: PASSWORD } as const;
  tokens.set(name, (await issueToken({ ...config, auth, scope: { projectId } })).token);
  return user.id;
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "magnum-failures-"));
  simulator = await startSimulator();
  system = await startSystem(join(dir, "state"), simulator);
  const text = simulator.cloudsYaml;
  const issued = await issueToken(loadCloudsYaml({ cloud: "simulator", text }));
  tokens.set("demo", issued.token);
  projectId = issued.projectId ?? "";
  admin = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text }));
  const body = {
    name: "t",
    coe: "kubernetes",
    image_id: "cirros",
    flavor_id: "m1.small",
    external_network_id: "public",
  };
  // The API responds 503 until it has read the management cluster.
  await eventually(MINUTE, async () => (await api("demo", "GET", "/clustertemplates")).status === 200);
  const made = await api("demo", "POST", "/clustertemplates", body);
  expect([made.status, made.body]).toEqual([201, expect.anything()]);
  template = String(made.body["uuid"]);
});

afterAll(async () => {
  await admin?.close();
  await system?.stop();
  await simulator?.close();
  rmSync(dir, { recursive: true, force: true });
});

it("a quota that is reached fails the cluster within a minute, with code and request, and it completes by itself later", async () => {
  await order("quotas", { project: projectId, limits: { instances: 0 } });
  const begun = Date.now();
  const uuid = await create("demo", { name: "no-quota" });
  try {
    const failed = await becomes(uuid, "CREATE_FAILED", MINUTE);
    expect(Date.now() - begun).toBeLessThan(MINUTE);
    expect(failed["status_reason"]).toMatch(/[Qq]uota.*\(request req-[0-9a-f-]{36}\).*\(QuotaExceeded\)/);
    expect(failed["faults"]).toMatchObject({ "default-worker": expect.stringMatching(/[Qq]uota/) as string });
  } finally {
    await order("quotas", { project: projectId, limits: { instances: 200 } });
  }
  await becomes(uuid, "CREATE_COMPLETE");
  await remove(uuid);
});

it("a Nova that hangs fails the cluster when create_timeout is over, and its deletion leaves nothing", async () => {
  const before = await inventory();
  await order("outcomes", { outcomes: [{ operation: "server.create", outcome: "stuck" }] });
  const begun = Date.now();
  const uuid = await create("demo", { name: "hung", create_timeout: 1 });
  try {
    const failed = await becomes(uuid, "CREATE_FAILED", 3 * MINUTE);
    const minutes = (Date.now() - begun) / MINUTE;
    expect(minutes).toBeGreaterThan(0.95);
    expect(minutes).toBeLessThan(2);
    expect(failed["status_reason"]).not.toBe("");
    await remove(uuid);
  } finally {
    await order("outcomes", { outcomes: [] });
  }
  await eventually(MINUTE, async () => {
    expect(await inventory()).toEqual(before);
    return true;
  });
});

it("a cluster whose creator is deleted is used, resized, upgraded and deleted by another member of the project", async () => {
  const before = await inventory();
  const creator = await userOf("creator");
  const uuid = await create("creator", { name: "orphan" });
  await becomes(uuid, "CREATE_COMPLETE");
  await admin.identity.users.delete(creator);

  // A kubeconfig, as clients make it, by a member who did not create the cluster.
  const { request, key } = await createRequest({ commonName: "admin", organizations: ["system:masters"] });
  const { pem: authority } = (await api("demo", "GET", `/certificates/${uuid}`)).body;
  const { pem } = (await api("demo", "POST", "/certificates", { cluster_uuid: uuid, csr: request })).body;
  const data = (text: unknown): string => Buffer.from(String(text)).toString("base64");
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "c",
        cluster: { server: (await show(uuid))["api_address"], "certificate-authority-data": data(authority) },
      },
    ],
    users: [{ name: "u", user: { "client-certificate-data": data(pem), "client-key-data": data(key) } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  const client = createClient(loadKubeconfig({ text: JSON.stringify(kubeconfig) }));
  expect((await client.list(Node)).items).toHaveLength(1);

  expect((await api("demo", "PATCH", `/credentials/${uuid}`)).status).toBe(202);
  expect((await api("demo", "POST", `/clusters/${uuid}/actions/resize`, { node_count: 2 })).status).toBe(202);
  await becomes(uuid, "UPDATE_COMPLETE");
  expect((await client.list(Node)).items).toHaveLength(2);
  const newer = {
    labels: { kube_tag: "v1.34.1" },
    name: "newer",
    coe: "kubernetes",
    image_id: "cirros",
    flavor_id: "m1.small",
  };
  const made = await api("demo", "POST", "/clustertemplates", { ...newer, external_network_id: "public" });
  const upgrade = { cluster_template: made.body["uuid"] };
  expect((await api("demo", "POST", `/clusters/${uuid}/actions/upgrade`, upgrade)).status).toBe(202);
  expect((await show(uuid))["status"]).toBe("UPDATE_IN_PROGRESS");
  await becomes(uuid, "UPDATE_COMPLETE");
  expect((await client.list(Node)).items.map(({ status }) => status?.nodeInfo?.kubeletVersion)).toEqual([
    "v1.34.1",
    "v1.34.1",
  ]);
  await client.close();
  await remove(uuid);
  await eventually(MINUTE, async () => {
    expect(await inventory()).toEqual(before);
    return true;
  });
});

it("the deletion of a cluster whose creator is gone says that its credential is refused, and continues with another", async () => {
  const before = await inventory();
  const creator = await userOf("leaver");
  const uuid = await create("leaver", { name: "stranded" });
  await becomes(uuid, "CREATE_COMPLETE");
  await admin.identity.users.delete(creator);
  expect((await api("demo", "DELETE", `/clusters/${uuid}`)).status).toBe(204);
  await eventually(2 * MINUTE, async () => {
    const { status, status_reason: reason } = await show(uuid);
    expect([status, reason]).toEqual(["DELETE_IN_PROGRESS", expect.stringContaining("(AuthenticationFailed)")]);
    return true;
  });
  await eventually(2 * MINUTE, async () => {
    const { items } = await system.client.list(OpenStackCluster);
    const conditions = items.flatMap((one) => one.status?.conditions ?? []);
    return (
      conditions.find(({ type }) => type === "OpenStackAuthenticationSucceeded")?.reason === "AuthenticationFailed"
    );
  });

  expect((await api("demo", "PATCH", `/credentials/${uuid}`)).status).toBe(202);
  await eventually(4 * MINUTE, async () => (await api("demo", "GET", `/clusters/${uuid}`)).status === 404);
  await eventually(MINUTE, async () => {
    expect(await inventory()).toEqual(before);
    return true;
  });
});
