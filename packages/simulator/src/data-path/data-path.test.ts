import { createServer as createHttp, request as requestOf, type IncomingHttpHeaders } from "node:http";
import { request as secureRequest } from "node:https";
import { connect, createServer as createTcp, type AddressInfo, type Server } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DataPathListener } from "../interface.ts";
import { at, textAt } from "../kernel/json.ts";
import { startClient, type Client } from "../testing-client.ts";

const lifetime = 86_400_000;
let cloud: Client;
let subnet = "";
const servers: Server[] = [];

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A member that answers with its name and what it has received; with the cookie "app" at /login. */
const echo = (name: string) =>
  createHttp((request, response) => {
    let size = 0;
    request.on("data", (chunk: Buffer) => (size += chunk.length));
    request.on("end", () => {
      if (request.url === "/slow") return;
      if (request.url === "/login") response.setHeader("set-cookie", `app=${name}`);
      response.end(JSON.stringify({ name, url: request.url, headers: request.headers, size }));
    });
  }).on("upgrade", (request, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\n\r\n`,
    );
    socket.pipe(socket);
  });

async function post(path: string, body: unknown): Promise<string> {
  const { body: answer, status } = await cloud.call("POST", path, body);
  if (status >= 300) throw new Error(JSON.stringify(answer));
  const [one] = Object.values(answer as Record<string, unknown>);
  return textAt(one, "id") ?? String(one);
}

beforeAll(async () => {
  cloud = await startClient({ dataPath: true });
  const network = await post("/network/v2.0/networks", { network: { name: "n" } });
  subnet = await post("/network/v2.0/subnets", {
    subnet: { network_id: network, ip_version: 4, cidr: "10.201.77.0/24" },
  });
  cloud.simulator.dataPath?.setMembers({
    "10.201.77.11:80": await listening(echo("one")),
    "10.201.77.12:80": await listening(echo("two")),
    "10.201.77.13:25": await listening(createTcp((socket) => void socket.on("error", () => {}).pipe(socket))),
  });
});
afterAll(async () => {
  await cloud.simulator.close();
  for (const server of servers) server.close();
});

const member = (last: number, more: object = {}) => ({ address: `10.201.77.${last}`, protocol_port: 80, ...more });
const pool = (name: string, members: readonly object[], more: object = {}) => {
  return { name, protocol: "HTTP", lb_algorithm: "ROUND_ROBIN", members, ...more };
};
const rule = (type: string, compare_type: string, value: string) => ({ type, compare_type, value });

/** Creates a load balancer with all it has; the rows of its listeners once they are served. */
async function balancer(listeners: readonly object[], pools: readonly object[] = []): Promise<DataPathListener[]> {
  const loadbalancer = { vip_subnet_id: subnet, provider: "amphora", listeners, pools };
  const id = await post("/load-balancer/v2/lbaas/loadbalancers", { loadbalancer });
  return rows(id, listeners.length);
}

async function rows(id: string, count: number): Promise<DataPathListener[]> {
  for (let turn = 0; turn < 500; turn += 1) {
    const { body } = await cloud.call("GET", "/_control/data-path");
    const found = (at(body, "listeners") as DataPathListener[]).filter((row) => row.loadBalancer === id);
    if (found.length === count) return found;
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new Error("the load balancer is not served");
}

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The member that responded. */
  readonly name: string;
}

interface TestRequest {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer;
  readonly tls?: { readonly ca: string; readonly servername: string };
}

function ask(row: DataPathListener | undefined, asking: TestRequest = {}): Promise<Got> {
  const [host = "", port = ""] = (row?.at ?? "").split(":");
  const { path = "/", headers = {}, body, tls } = asking;
  return new Promise((done, failed) => {
    const send = tls ? secureRequest : requestOf;
    const method = body ? "POST" : "GET";
    const asked = send({ host, port, path, headers: { host: "a.example", ...headers }, method, agent: false, ...tls });
    asked.on("error", failed);
    asked.on("response", (response) => {
      const got = (text: string): Got => {
        const name = text.startsWith("{") ? (textAt(JSON.parse(text), "name") ?? "") : "";
        return { status: response.statusCode ?? 0, headers: response.headers, text, name };
      };
      done(textOf(response).then(got));
    });
    asked.end(body);
  });
}

describe("an HTTP listener of the data path", () => {
  test("sends requests where its policies say, whatever their positions", async () => {
    const policies = [
      { action: "REDIRECT_TO_POOL", redirect_pool: { name: "two" }, rules: [rule("PATH", "STARTS_WITH", "/two")] },
      {
        action: "REDIRECT_PREFIX",
        redirect_prefix: "https://b.example",
        rules: [rule("PATH", "EQUAL_TO", "/two/old")],
      },
      { action: "REJECT", rules: [rule("PATH", "REGEX", "secret$")] },
    ];
    const [row] = await balancer(
      [{ name: "l", protocol: "HTTP", protocol_port: 80, default_pool: { name: "one" }, l7policies: policies }],
      [pool("one", [member(11)]), pool("two", [member(12)])],
    );
    expect(row?.address).toMatch(/^10\.201\.77\./);
    expect(await ask(row)).toMatchObject({ status: 200, name: "one" });
    expect(await ask(row, { path: "/two/x?y" })).toMatchObject({ status: 200, name: "two" });
    const moved = await ask(row, { path: "/two/old?q=1" });
    expect(moved).toMatchObject({ status: 302, headers: { location: "https://b.example/two/old?q=1" } });
    expect(await ask(row, { path: "/two/secret" })).toMatchObject({ status: 403 });
  });

  test("streams bodies, inserts headers and passes an upgrade on", async () => {
    const insert_headers = { "X-Forwarded-For": "true", "X-Forwarded-Port": "true" };
    const [row] = await balancer([
      { protocol: "HTTP", protocol_port: 80, insert_headers, default_pool: pool("p", [member(11)]) },
    ]);
    cloud.simulator.dataPath?.setClients({ "127.0.0.1": "203.0.113.9" });
    const got = await ask(row, { body: Buffer.alloc(3_000_000, "x"), headers: { "x-forwarded-port": "1" } });
    cloud.simulator.dataPath?.setClients({});
    const seen: unknown = JSON.parse(got.text);
    expect(at(seen, "size")).toBe(3_000_000);
    expect(at(seen, "headers")).toMatchObject({ host: "a.example", "x-forwarded-port": "80" });
    expect(textAt(seen, "headers", "x-forwarded-for")).toBe("203.0.113.9");
    const [host = "", port] = (row?.at ?? "").split(":");
    const socket = connect(Number(port), host);
    socket.write("GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    let text = "";
    await new Promise<void>((done) => {
      socket.on("data", (chunk: Buffer) => {
        const had = text.includes("101");
        text += chunk.toString();
        if (!had && text.includes("\r\n\r\n")) socket.write("hello");
        if (text.endsWith("hello")) done();
      });
    });
    socket.destroy();
    expect(text).toContain("Upgrade: echo");
  });

  test("answers 503 without a member that accepts, 504 after a member's time, 400 to a header that is too large", async () => {
    const slow = { timeout_member_data: 100, protocol: "HTTP" };
    const down = pool("down", [member(99), member(98)]);
    const listeners = [
      { ...slow, protocol_port: 80, default_pool: pool("up", [member(11), member(99)]) },
      { protocol: "HTTP", protocol_port: 81, default_pool: down },
      { protocol: "HTTP", protocol_port: 82 },
    ];
    const all = await balancer(listeners);
    const of = (port: number) => all.find((row) => row.port === port);
    expect([(await ask(of(80))).status, (await ask(of(80))).status]).toEqual([200, 200]);
    expect(await ask(of(80), { path: "/slow" })).toMatchObject({ status: 504 });
    expect(await ask(of(81))).toMatchObject({ status: 503 });
    expect(await ask(of(82))).toMatchObject({ status: 503 });
    expect(await ask(of(80), { headers: { x: "x".repeat(16_000) } })).toMatchObject({ status: 400 });
  });

  test("keeps sessions by its own cookie, and by that of the members", async () => {
    const members = [member(11), member(12)];
    const listeners = [
      {
        protocol: "HTTP",
        protocol_port: 80,
        default_pool: pool("own", members, { session_persistence: { type: "HTTP_COOKIE" } }),
      },
      {
        protocol: "HTTP",
        protocol_port: 81,
        default_pool: pool("app", members, { session_persistence: { type: "APP_COOKIE", cookie_name: "app" } }),
      },
    ];
    const all = await balancer(listeners);
    const [own, app] = [80, 81].map((port) => all.find((row) => row.port === port));
    const first = await ask(own);
    const cookie = first.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
    expect(cookie).toMatch(/^SRV=/);
    for (let i = 0; i < 3; i += 1) {
      const again = await ask(own, { headers: { cookie } });
      expect([again.name, again.headers["set-cookie"]]).toEqual([first.name, undefined]);
    }
    const { name } = await ask(app, { path: "/login" });
    for (let i = 0; i < 3; i += 1) expect((await ask(app, { headers: { cookie: `app=${name}` } })).name).toBe(name);
  });

  test("closes connections of clients that it does not allow, and takes changes while it serves", async () => {
    const listener = { protocol: "HTTP", protocol_port: 80, default_pool: pool("p", [member(11)]) };
    const [row] = await balancer([{ ...listener, allowed_cidrs: ["192.0.2.0/24"] }]);
    await expect(ask(row)).rejects.toThrow();
    const path = `/load-balancer/v2/lbaas/listeners/${row?.listener}`;
    expect(await cloud.call("PUT", path, { listener: { allowed_cidrs: null } })).toMatchObject({ status: 200 });
    await expect.poll(async () => (await ask(row).catch(() => undefined))?.status).toBe(200);
    await cloud.call("PUT", path, { listener: { admin_state_up: false } });
    await expect.poll(() => ask(row).then(String, () => "refused")).toBe("refused");
  });

  test("serves no more connections at a time than its limit; others wait", async () => {
    const [row] = await balancer([
      { protocol: "HTTP", protocol_port: 80, connection_limit: 1, default_pool: pool("p", [member(11)]) },
    ]);
    const [host = "", port] = (row?.at ?? "").split(":");
    const first = connect(Number(port), host);
    await new Promise<void>((done) => void first.once("connect", done));
    await expect.poll(async () => (await rows(row?.loadBalancer ?? "", 1))[0]?.connections).toBe(1);
    let served = false;
    const second = ask(row).then((got) => ((served = true), got));
    await new Promise((done) => setTimeout(done, 50));
    expect(served).toBe(false);
    first.destroy();
    expect(await second).toMatchObject({ status: 200 });
  });
});

describe("a TCP listener of the data path", () => {
  test("passes bytes on both ways", async () => {
    const members = [{ address: "10.201.77.13", protocol_port: 25 }];
    const [row] = await balancer([
      { protocol: "TCP", protocol_port: 25, default_pool: { ...pool("p", members), protocol: "TCP" } },
    ]);
    const [host = "", port] = (row?.at ?? "").split(":");
    const socket = connect(Number(port), host);
    socket.write("hello");
    const [text] = await new Promise<string[]>((done) => void socket.once("data", (data) => done([data.toString()])));
    socket.destroy();
    expect(text).toBe("hello");
  });
});

describe("a TERMINATED_HTTPS listener of the data path", () => {
  /** A certificate container in the key manager. */
  async function container(authority: Awaited<ReturnType<typeof createAuthority>>, name: string): Promise<string> {
    const usages = ["server" as const];
    const made = await issueCertificate(authority, { commonName: name, dnsNames: [name], usages, lifetime });
    const secret = async (payload: string) => {
      const body = { payload, payload_content_type: "text/plain", secret_type: "opaque" };
      const { body: answer } = await cloud.call("POST", "/key-manager/v1/secrets", body);
      return textAt(answer, "secret_ref") ?? "";
    };
    const secret_refs = [
      { name: "certificate", secret_ref: await secret(made.certificate) },
      { name: "private_key", secret_ref: await secret(made.key) },
    ];
    const { body } = await cloud.call("POST", "/key-manager/v1/containers", { type: "certificate", secret_refs });
    return textAt(body, "container_ref") ?? "";
  }

  test("shows the certificate of the server name, and the default one to all others", async () => {
    const authority = await createAuthority({ commonName: "ca", lifetime });
    const [one, two, wild] = [
      await container(authority, "a.example"),
      await container(authority, "b.example"),
      await container(authority, "*.wild.example"),
    ];
    const [row] = await balancer([
      {
        protocol: "TERMINATED_HTTPS",
        protocol_port: 443,
        default_tls_container_ref: one,
        sni_container_refs: [two, wild],
        default_pool: pool("p", [member(11)]),
        insert_headers: { "X-Forwarded-Proto": "true" },
      },
    ]);
    expect(row?.problem).toBeNull();
    const ca = authority.certificate;
    const got = await ask(row, { tls: { ca, servername: "b.example" } });
    expect(got).toMatchObject({ status: 200, name: "one" });
    expect(textAt(JSON.parse(got.text), "headers", "x-forwarded-proto")).toBe("https");
    const [host = "", port] = (row?.at ?? "").split(":");
    const shown = (servername: string): Promise<string> =>
      new Promise((done, failed) => {
        const socket = connectTls({ host, port: Number(port), ca, rejectUnauthorized: false, servername }, () => {
          done(String(socket.getPeerCertificate().subject.CN));
          socket.destroy();
        });
        socket.on("error", failed);
      });
    const names = ["a.example", "B.example", "x.wild.example", "x.y.wild.example", "none.example"];
    const wanted = ["a.example", "b.example", "*.wild.example", "a.example", "a.example"];
    expect(await Promise.all(names.map(shown))).toEqual(wanted);
  });

  test("is not served without its certificate, and says why", async () => {
    const missing = "http://127.0.0.1/key-manager/v1/containers/7f0e2f1c-3b56-4a61-9d4c-5a0f4b3e2d10";
    const [row] = await balancer([
      { protocol: "TERMINATED_HTTPS", protocol_port: 443, default_tls_container_ref: missing },
    ]);
    expect(row).toMatchObject({ at: null, problem: `the certificate ${missing} cannot be read` });
  });
});

test("the control API of a data path replaces its tables, and refuses addresses outside of loopback", async () => {
  const table = (await cloud.call("GET", "/_control/data-path")).body;
  const members = { ...(at(table, "members") as object), "10.9.9.9:80": "192.0.2.1:80" };
  expect(await cloud.call("POST", "/_control/data-path", { members })).toMatchObject({ status: 400 });
  expect(await cloud.call("POST", "/_control/data-path", {})).toMatchObject({ status: 400 });
  const kept = { ...(at(table, "members") as object), "10.9.9.9": "127.0.0.5" };
  const { body } = await cloud.call("POST", "/_control/data-path", { members: kept });
  expect(textAt(body, "members", "10.9.9.9")).toBe("127.0.0.5");
});
