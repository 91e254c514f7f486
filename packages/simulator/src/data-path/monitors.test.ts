import { createServer, request as requestOf } from "node:http";
import { createServer as createTcp, type AddressInfo, type Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DataPathListener } from "../interface.ts";
import { at, textAt } from "../kernel/json.ts";
import { startClient, type Client } from "../testing-client.ts";

let cloud: Client;
let subnet = "";
const servers: Server[] = [];
/** What the members respond to their monitor, by name, and the requests that they got. */
const health = { one: 200, two: 200 };
const probes: string[] = [];

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const member = (name: "one" | "two") =>
  createServer((request, response) => {
    if (request.url === "/health") {
      probes.push(`${request.method} ${request.headers.host} HTTP/${request.httpVersion}`);
      response.statusCode = health[name];
    }
    response.end(name);
  });

async function post(path: string, body: unknown): Promise<string> {
  const { body: answer, status } = await cloud.call("POST", path, body);
  if (status >= 300) throw new Error(JSON.stringify(answer));
  const [one] = Object.values(answer as Record<string, unknown>);
  return textAt(one, "id") ?? "";
}

async function until<T>(what: string, find: () => Promise<T | undefined | false>): Promise<T> {
  for (let turn = 0; turn < 1_500; turn += 1) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`${what} did not come about`);
}

/** The pool of a load balancer with one listener, and where that is. */
async function served(pool: {
  readonly protocol: string;
  readonly [field: string]: unknown;
}): Promise<{ pool: string; at: string }> {
  const listeners = [{ protocol: pool.protocol, protocol_port: 80, default_pool: pool }];
  const id = await post("/load-balancer/v2/lbaas/loadbalancers", {
    loadbalancer: { vip_subnet_id: subnet, provider: "amphora", listeners },
  });
  const row = await until("the listener", async () => {
    const { body } = await cloud.call("GET", "/_control/data-path");
    return (at(body, "listeners") as DataPathListener[]).find((each) => each.loadBalancer === id && each.at !== null);
  });
  const { body } = await cloud.call("GET", `/load-balancer/v2/lbaas/pools?loadbalancer_id=${id}`);
  const [found] = at(body, "pools") as { id: string }[];
  return { pool: found?.id ?? "", at: row.at ?? "" };
}

async function statuses(pool: string): Promise<string> {
  const { body } = await cloud.call("GET", `/load-balancer/v2/lbaas/pools/${pool}/members`);
  const rows = at(body, "members") as { name: string; operating_status: string }[];
  return rows
    .map(({ name, operating_status: status }) => `${name} ${status}`)
    .sort()
    .join();
}

async function answers(place: string): Promise<string[]> {
  const [host = "", port = ""] = place.split(":");
  const one = () =>
    new Promise<string>((done, failed) => {
      const asked = requestOf({ host, port, agent: false }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => done(response.statusCode === 200 ? text : String(response.statusCode)));
      });
      asked.on("error", failed).end();
    });
  const all = [await one(), await one(), await one(), await one()];
  return [...new Set(all)].sort();
}

beforeAll(async () => {
  cloud = await startClient({ dataPath: true });
  const network = await post("/network/v2.0/networks", { network: { name: "n" } });
  const body = { network_id: network, ip_version: 4, cidr: "10.201.78.0/24" };
  subnet = await post("/network/v2.0/subnets", { subnet: body });
  cloud.simulator.dataPath?.setMembers({
    "10.201.78.11:80": await listening(member("one")),
    "10.201.78.12:80": await listening(member("two")),
    "10.201.78.13:80": await listening(createTcp((socket) => void socket.on("error", () => {}).resume())),
  });
});
afterAll(async () => {
  await cloud.simulator.close();
  for (const server of servers) server.close();
});

const members = [
  { name: "one", address: "10.201.78.11", protocol_port: 80 },
  { name: "two", address: "10.201.78.12", protocol_port: 80 },
];
const often = { delay: 1, timeout: 1, max_retries: 1, max_retries_down: 1 };

test("a member whose response is not expected gets no requests until it is", async () => {
  const healthmonitor = {
    ...often,
    type: "HTTP",
    url_path: "/health",
    expected_codes: "200,204",
    http_method: "GET",
    http_version: 1.1,
    domain_name: "a.example",
  };
  const { pool, at: place } = await served({
    name: "p",
    protocol: "HTTP",
    lb_algorithm: "ROUND_ROBIN",
    members,
    healthmonitor,
  });
  await until("a probe", async () => probes.length > 0);
  expect(probes[0]).toBe("GET a.example HTTP/1.1");
  expect(await statuses(pool)).toBe("one ONLINE,two ONLINE");
  expect(await answers(place)).toEqual(["one", "two"]);
  health.two = 500;
  await until("two down", async () => (await statuses(pool)) === "one ONLINE,two ERROR");
  expect(await answers(place)).toEqual(["one"]);
  health.one = 302;
  await until("both down", async () => (await statuses(pool)) === "one ERROR,two ERROR");
  expect(await answers(place)).toEqual(["503"]);
  Object.assign(health, { one: 204, two: 200 });
  await until("both up", async () => (await statuses(pool)) === "one ONLINE,two ONLINE");
  expect(await answers(place)).toEqual(["one", "two"]);
});

test("a member that accepts and says nothing is up for TCP, and down for TLS-HELLO", async () => {
  const silent = [{ name: "silent", address: "10.201.78.13", protocol_port: 80 }];
  const of = (type: string) =>
    served({
      name: type,
      protocol: "TCP",
      lb_algorithm: "ROUND_ROBIN",
      members: silent,
      healthmonitor: { ...often, type },
    });
  const [tcp, tls] = [await of("TCP"), await of("TLS-HELLO")];
  await until("down", async () => (await statuses(tls.pool)) === "silent ERROR");
  expect(await statuses(tcp.pool)).toBe("silent ONLINE");
});

test("a member that this machine does not have is as its outcome says", async () => {
  const far = [{ name: "far", address: "10.201.78.99", protocol_port: 80 }];
  const { pool } = await served({
    name: "far",
    protocol: "HTTP",
    lb_algorithm: "ROUND_ROBIN",
    members: far,
    healthmonitor: { ...often, type: "TCP" },
  });
  expect(await statuses(pool)).toBe("far ONLINE");
  cloud.simulator.setOutcomes([{ operation: "member.health", name: "far", outcome: "error" }]);
  expect(await statuses(pool)).toBe("far ERROR");
});
