import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@causeway/foundation";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { at, textAt } from "./kernel/json.ts";
import { startSimulator } from "./start.ts";
import { clientOf, passwordBody, send, startClient, type Client } from "./testing-client.ts";
import type { Simulator, SimulatorOptions } from "./interface.ts";

const running: Simulator[] = [];
const folders: string[] = [];

async function started(options: SimulatorOptions = {}, user = "demo"): Promise<Client> {
  const client = await startClient(options, user);
  running.push(client.simulator);
  return client;
}

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "simulator-"));
  folders.push(dir);
  return dir;
}

afterEach(async () => {
  for (const simulator of running.splice(0)) await simulator.close();
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const newest = "compute 2.79";

async function imageId(client: Client): Promise<string> {
  const { body } = await client.call("GET", "/image/v2/images?name=cirros");
  return textAt((at(body, "images") as readonly unknown[])[0], "id") ?? "";
}

async function createServer(client: Client, more: object = {}): Promise<string> {
  const server = { name: "s", flavorRef: "1", imageRef: await imageId(client), networks: "none", ...more };
  const { body, status } = await client.call("POST", "/compute/v2.1/servers", { server }, newest);
  expect(status).toBe(202);
  return textAt(body, "server", "id") ?? "";
}

async function statusOf(client: Client, id: string): Promise<string> {
  const { body, status } = await client.call("GET", `/compute/v2.1/servers/${id}`, undefined, newest);
  return textAt(body, "server", "status") ?? String(status);
}

async function until(client: Client, id: string, wanted: string): Promise<void> {
  for (let turn = 0; turn < 50; turn++) if ((await statusOf(client, id)) === wanted) return;
  throw new Error(`${id} did not become ${wanted}`);
}

test("clouds.yaml names four clouds, and each seeded user gets a token of its project", async () => {
  const { simulator, origin } = await started();
  expect(simulator.cloudsYaml.match(/^ {2}[\w-]+:$/gm)).toHaveLength(4);
  for (const [user, project] of [
    ["admin", "admin"],
    ["demo", "demo"],
    ["alt", "alt"],
    ["reader", "demo"],
  ] as const) {
    const answer = await send(`${origin}/identity/v3/auth/tokens`, {
      method: "POST",
      body: passwordBody(user, project),
    });
    expect([answer.status, textAt(answer.body, "token", "project", "name")]).toEqual([201, project]);
  }
});

test("an application credential authenticates as its user and project until it is deleted", async () => {
  const client = await started();
  const tokens = `${client.origin}/identity/v3/auth/tokens`;
  const own = await client.call("GET", "/identity/v3/auth/projects");
  expect(own.status).toBe(200);
  const me = await send(tokens, {
    method: "GET",
    headers: { "x-auth-token": client.token, "x-subject-token": client.token },
  });
  const path = `/identity/v3/users/${textAt(me.body, "token", "user", "id")}/application_credentials`;
  const made = await client.call("POST", path, { application_credential: { name: "k" } });
  const credential = {
    id: textAt(made.body, "application_credential", "id"),
    secret: textAt(made.body, "application_credential", "secret"),
  };
  const login = { auth: { identity: { methods: ["application_credential"], application_credential: credential } } };
  const token = await send(tokens, { method: "POST", body: login });
  expect([token.status, textAt(token.body, "token", "project", "id")]).toEqual([201, client.projectId]);
  expect((await client.call("POST", path, { application_credential: { name: "k" } })).status).toBe(409);
  expect((await client.call("DELETE", `${path}/${credential.id}`)).status).toBe(204);
  const secret = token.headers.get("x-subject-token") ?? "";
  const after = await send(`${client.origin}/compute/v2.1/servers`, {
    method: "GET",
    headers: { "x-auth-token": secret },
  });
  expect(after.status).toBe(401);
});

const logins: readonly [string, unknown, number][] = [
  ["a wrong password", passwordBody("demo", "demo", "wrong"), 401],
  ["an unknown user", passwordBody("unknown"), 401],
  ["a project of others", passwordBody("demo", "alt"), 401],
  ["no auth at all", {}, 400],
  [
    "an unknown application credential",
    { auth: { identity: { methods: ["application_credential"], application_credential: { id: "x", secret: "y" } } } },
    404,
  ],
];
test.each(logins)("a login with %s is refused with Keystone's body", async (_, body, status) => {
  const { origin } = await started();
  const answer = await send(`${origin}/identity/v3/auth/tokens`, { method: "POST", body });
  expect([answer.status, at(answer.body, "error", "code")]).toEqual([status, status]);
});

test("a server is built, stopped, started and deleted; the port that Nova created is deleted with it, a given port remains", async () => {
  const clock = new VirtualClock();
  const client = await started({ clock, profile: "real" });
  const network = await client.call("POST", "/network/v2.0/networks", { network: { name: "n" } });
  const network_id = textAt(network.body, "network", "id") ?? "";
  await client.call("POST", "/network/v2.0/subnets", { subnet: { network_id, ip_version: 4, cidr: "10.0.0.0/24" } });
  const given = await client.call("POST", "/network/v2.0/ports", { port: { network_id, name: "mine" } });
  const port = textAt(given.body, "port", "id") ?? "";
  const id = await createServer(client, { networks: [{ port }, { uuid: network_id }] });
  expect(await statusOf(client, id)).toBe("BUILD");
  await clock.advance(10_000);
  const active = await client.call("GET", `/compute/v2.1/servers/${id}`, undefined, newest);
  expect(textAt(active.body, "server", "status")).toBe("ACTIVE");
  expect(at(active.body, "server", "addresses", "n")).toHaveLength(2);
  expect(at((await client.call("GET", `/network/v2.0/ports/${port}`)).body, "port")).toMatchObject({
    device_id: id,
    device_owner: "compute:nova",
    status: "ACTIVE",
  });
  await client.call("POST", `/compute/v2.1/servers/${id}/action`, { "os-stop": null });
  await clock.advance(10_000);
  expect(await statusOf(client, id)).toBe("SHUTOFF");
  await client.call("POST", `/compute/v2.1/servers/${id}/action`, { "os-start": null });
  await clock.advance(10_000);
  expect(await statusOf(client, id)).toBe("ACTIVE");
  expect((await client.call("DELETE", `/compute/v2.1/servers/${id}`)).status).toBe(204);
  expect(await statusOf(client, id)).toBe("ACTIVE");
  await clock.advance(10_000);
  expect(await statusOf(client, id)).toBe("404");
  // Next to it only the port that OVN keeps for metadata in each network.
  const { body } = await client.call("GET", "/network/v2.0/ports?device_owner=");
  expect(at(body, "ports")).toMatchObject([{ id: port, device_id: "", status: "DOWN" }]);
  expect(client.simulator.inventory("demo").filter((line) => line.startsWith("port"))).toHaveLength(2);
  const since = await client.call("GET", "/compute/v2.1/servers/detail?changes-since=2026-01-01T00:00:00Z");
  expect(at(since.body, "servers")).toMatchObject([{ id, status: "DELETED" }]);
});

const refusals: readonly [string, object, string | undefined, number, string][] = [
  ["an unknown flavor", { flavorRef: "77" }, newest, 400, "Flavor 77 could not be found."],
  [
    "an unknown image",
    { imageRef: "00000000-0000-0000-0000-000000000000" },
    newest,
    400,
    "Can not find requested image",
  ],
  ["no image", { imageRef: "" }, newest, 400, "Missing imageRef attribute"],
  ["an unknown zone", { availability_zone: "mars" }, newest, 400, "The requested availability zone is not available"],
  ["an unknown network", { networks: [{ uuid: "n" }] }, newest, 400, "Network n could not be found."],
  ["an unknown port", { networks: [{ port: "p" }] }, newest, 400, "Port id p could not be found."],
  ["an unknown key", { key_name: "k" }, newest, 400, "Invalid key_name provided."],
  [
    "an unknown group",
    { security_groups: [{ name: "g" }] },
    newest,
    400,
    "Unable to find security_group with name or id 'g'",
  ],
  [
    "tags before 2.52",
    { tags: ["a"], networks: [] },
    undefined,
    400,
    "Additional properties are not allowed ('tags' was unexpected)",
  ],
  ["too much user data", { user_data: "A".repeat(65536) }, newest, 400, "is too long"],
  [
    "a microversion of the future",
    {},
    "compute 2.99",
    406,
    "Version 2.99 is not supported by the API. Minimum is 2.1 and maximum is 2.93.",
  ],
  ["a microversion that is none", {}, "compute x", 400, "API Version String x is of invalid format."],
];
test.each(refusals)("a server with %s is refused in Nova's words", async (_, change, version, status, message) => {
  const client = await started();
  const server = { name: "s", flavorRef: "1", imageRef: await imageId(client), networks: "none", ...change };
  const answer = await client.call("POST", "/compute/v2.1/servers", { server }, version);
  const [fault] = Object.values(answer.body as object) as readonly unknown[];
  expect(answer.status).toBe(status);
  expect(textAt(fault, "message")).toContain(message);
  expect(client.simulator.inventory("demo").filter((line) => line.startsWith("server"))).toEqual([]);
});

test("a server over quota is refused with 403 and nothing is created", async () => {
  const client = await started();
  client.simulator.setQuota("demo", "cores", 3);
  const server = { name: "s", flavorRef: "4", imageRef: await imageId(client), networks: "none" };
  const answer = await client.call("POST", "/compute/v2.1/servers", { server }, newest);
  const message = "Quota exceeded for cores: Requested 4, but already used 0 of 3 cores";
  expect([answer.status, answer.body]).toEqual([403, { forbidden: { code: 403, message } }]);
});

test("an ordered failure ends in ERROR with Nova's fault", async () => {
  const client = await started();
  client.simulator.setOutcomes([{ operation: "server.create", name: "m1.large", outcome: "error" }]);
  const id = await createServer(client, { flavorRef: "4" });
  await until(client, id, "ERROR");
  const { body } = await client.call("GET", `/compute/v2.1/servers/${id}`);
  expect(at(body, "server", "fault")).toMatchObject({ code: 500, message: "No valid host was found. " });
});

test("lists filter by name and tags, and go page by page, newest first", async () => {
  const client = await started();
  const ids: string[] = [];
  for (const [name, tags] of [
    ["a-1", ["x"]],
    ["a-2", ["x", "y"]],
    ["b-1", []],
  ] as const)
    ids.unshift(await createServer(client, { name, tags }));
  const names = async (query: string) => {
    const { body } = await client.call("GET", `/compute/v2.1/servers?${query}`, undefined, newest);
    return (at(body, "servers") as readonly unknown[]).map((server) => textAt(server, "name"));
  };
  expect(await names("name=^a-")).toEqual(["a-2", "a-1"]);
  expect(await names("tags=x,y")).toEqual(["a-2"]);
  expect(await names("not-tags-any=y")).toEqual(["b-1", "a-1"]);
  expect(await names(`limit=1&marker=${ids[0]}`)).toEqual(["a-2"]);
  const first = await client.call("GET", "/compute/v2.1/servers?limit=2", undefined, newest);
  const next = textAt((at(first.body, "servers_links") as readonly unknown[])[0], "href");
  expect(next).toBe(`${client.origin}/compute/v2.1/servers?limit=2&marker=${ids[1]}`);
});

test("projects do not see each other's servers; an admin does, with attributes of the host", async () => {
  const client = await started();
  const id = await createServer(client);
  await until(client, id, "ACTIVE");
  const other = await clientOf(client.simulator, "alt");
  expect(await statusOf(other, id)).toBe("404");
  expect((await other.call("GET", "/compute/v2.1/servers?all_tenants=1")).status).toBe(403);
  const admin = await clientOf(client.simulator, "admin");
  const { body } = await admin.call("GET", "/compute/v2.1/servers/detail?all_tenants=1", undefined, newest);
  expect(at(body, "servers")).toMatchObject([{ id, "OS-EXT-SRV-ATTR:host": "compute-1" }]);
});

test("a volume is attached to a server and is not deleted while it is", async () => {
  const client = await started();
  const base = `/volume/v3/${client.projectId}`;
  const made = await client.call("POST", `${base}/volumes`, { volume: { size: 1, name: "v" } });
  const volumeId = textAt(made.body, "volume", "id") ?? "";
  const state = async () => textAt((await client.call("GET", `${base}/volumes/${volumeId}`)).body, "volume", "status");
  expect([made.status, textAt(made.body, "volume", "status")]).toEqual([202, "creating"]);
  const id = await createServer(client);
  await until(client, id, "ACTIVE");
  const path = `/compute/v2.1/servers/${id}/os-volume_attachments`;
  const attached = await client.call("POST", path, { volumeAttachment: { volumeId } });
  expect(at(attached.body, "volumeAttachment")).toMatchObject({ volumeId, serverId: id, device: "/dev/sdb" });
  expect(await state()).toBe("in-use");
  expect((await client.call("DELETE", `${base}/volumes/${volumeId}`)).status).toBe(400);
  expect((await client.call("DELETE", `${path}/${volumeId}`)).status).toBe(202);
  expect(await state()).toBe("available");
  expect((await client.call("DELETE", `${base}/volumes/${volumeId}`)).status).toBe(202);
  expect(client.simulator.inventory("demo").filter((line) => line.startsWith("volume"))).toEqual([]);
});

test("server groups change their shape at 2.64, key pairs are imported once", async () => {
  const client = await started();
  const path = "/compute/v2.1/os-server-groups";
  const group = await client.call("POST", path, { server_group: { name: "g", policy: "anti-affinity" } }, newest);
  const id = textAt(group.body, "server_group", "id") ?? "";
  const old = await client.call("GET", `${path}/${id}`, undefined, "compute 2.60");
  expect(at(old.body, "server_group")).toMatchObject({ policies: ["anti-affinity"], metadata: {} });
  const server = await createServer(client);
  expect(server).not.toBe("");
  const keypair = {
    name: "k",
    public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f x",
  };
  const made = await client.call("POST", "/compute/v2.1/os-keypairs", { keypair }, newest);
  expect(textAt(made.body, "keypair", "fingerprint")).toBe("0f:a2:0a:d7:38:3e:65:45:08:6b:63:84:1c:ff:dc:ba");
  expect((await client.call("POST", "/compute/v2.1/os-keypairs", { keypair }, newest)).status).toBe(409);
});

test("a cloud restarted on its folder has the same port, tokens, resources and unfinished operations", async () => {
  const dir = folder();
  const clock = new VirtualClock();
  const first = await started({ dir, clock, profile: "real" });
  const id = await createServer(first);
  running.pop();
  await first.simulator.close();
  expect(statSync(join(dir, "simulator.db")).mode & 0o777).toBe(0o600);
  await clock.advance(60_000);
  const simulator = await startSimulator({ dir, clock, profile: "real" });
  running.push(simulator);
  expect(simulator.authUrl).toBe(first.simulator.authUrl);
  // The first request may still meet a connection of the cloud that was closed.
  await until(first, id, "BUILD").catch(() => until(first, id, "BUILD"));
  await clock.advance(10_000);
  await until(first, id, "ACTIVE");
});

test("a server exists although the response to its create was lost", async () => {
  const client = await started();
  const imageRef = await imageId(client);
  client.simulator.setFaults((call) => (call.method === "POST" ? { when: "after", cut: true } : undefined));
  const server = { name: "lost", flavorRef: "1", imageRef, networks: "none" };
  await expect(client.call("POST", "/compute/v2.1/servers", { server }, newest)).rejects.toThrow(/fetch failed/);
  client.simulator.setFaults(undefined);
  expect(client.simulator.inventory("demo").some((line) => /^server \S+ lost$/.test(line))).toBe(true);
});

test("a port in use and a host other than loopback are refused with a reason", async () => {
  const client = await started();
  const port = Number(new URL(client.origin).port);
  await expect(startSimulator({ port })).rejects.toMatchObject({ code: "PORT_TAKEN", exitStatus: 2 });
  await expect(startSimulator({ host: "0.0.0.0" })).rejects.toMatchObject({ code: "NOT_LOOPBACK" });
});

test("beyond loopback, where it is permitted, the clouds.yaml and the catalog name the host that was used", async () => {
  const simulator = await startSimulator({ host: "0.0.0.0", insecure: true });
  onTestFinished(() => simulator.close());
  const { port } = new URL(simulator.authUrl);
  expect(simulator.authUrl).toBe(`http://127.0.0.1:${port}/identity/v3`);
  const text = await (await fetch(`http://localhost:${port}/_control/clouds.yaml`)).text();
  expect(text).toContain(`auth_url: http://localhost:${port}/identity/v3`);
  expect(text).toContain("  simulator-admin:\n");
});

test("the control API accepts orders over HTTP, as JSON only", async () => {
  const { origin, call, simulator } = await started();
  const order = (path: string, body: unknown) => send(`${origin}/_control/${path}`, { method: "POST", body });
  const fault = { when: "before", status: 503, headers: { "retry-after": "1" } };
  expect((await order("faults", { faults: [{ service: "compute", times: 1, fault }] })).status).toBe(200);
  const failed = await call("GET", "/compute/v2.1/servers");
  expect([failed.status, failed.headers.get("retry-after")]).toEqual([503, "1"]);
  expect((await call("GET", "/compute/v2.1/servers")).status).toBe(200);
  expect((await order("quotas", { project: "demo", limits: { instances: 0 } })).status).toBe(200);
  expect((await order("delays", { delays: { "server.create": 5 } })).status).toBe(200);
  expect((await order("outcomes", { outcomes: [{ operation: "x", outcome: "maybe" }] })).status).toBe(400);
  const plain = await send(`${origin}/_control/quotas`, {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: {},
  });
  expect(plain.status).toBe(400);
  expect(await (await fetch(origin)).json()).toMatchObject({
    services: expect.arrayContaining([{ type: "compute", path: "/compute" }]),
    control: "/_control",
  });
  const index = await send(`${origin}/_control`, { method: "GET" });
  expect((index.body as { control: string[] }).control).toEqual(expect.arrayContaining(["/calls", "/faults"]));
  const calls = await send(`${origin}/_control/calls`, { method: "GET" });
  expect(at(calls.body, "calls")).toHaveLength(simulator.calls.length);
});

test("the simulator creates and deletes a thousand servers in seconds", { timeout: 300_000 }, async () => {
  const client = await started({ dir: folder() });
  client.simulator.setQuota("demo", "instances", -1);
  const imageRef = await imageId(client);
  const server = { name: "many", flavorRef: "1", imageRef, networks: "none" };
  client.simulator.setQuota("demo", "cores", -1);
  for (let batch = 0; batch < 20; batch++) {
    const answers = Array.from({ length: 50 }, () => client.call("POST", "/compute/v2.1/servers", { server }, newest));
    expect((await Promise.all(answers)).every((answer) => answer.status === 202)).toBe(true);
  }
  const { body } = await client.call("GET", "/compute/v2.1/servers/detail", undefined, newest);
  const servers = at(body, "servers") as readonly unknown[];
  expect(servers).toHaveLength(1000);
  await Promise.all(servers.map((each) => client.call("DELETE", `/compute/v2.1/servers/${textAt(each, "id")}`)));
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(client.simulator.inventory("demo").filter((line) => line.startsWith("server"))).toEqual([]);
});

test.each(["network", "load-balancer", "compute", "image", "volume", "key-manager"])(
  "the version document of %s is at its root, with a slash at the end and without",
  async (service) => {
    const client = await started();
    for (const path of [`/${service}`, `/${service}/`]) {
      const { status, body } = await client.call("GET", path);
      expect([200, 300]).toContain(status);
      expect(at(body, "versions")).toBeTruthy();
    }
  },
);
