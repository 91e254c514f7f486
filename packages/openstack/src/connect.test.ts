import { CausewayError, createLog, createMetrics, VirtualClock } from "@causeway/foundation";
import { afterEach, describe, expect, it } from "vitest";
import { connectCloud } from "./connect.ts";
import * as predicates from "./errors/predicates.ts";
import { closeAll, failure, inTurn, open, start } from "./testing/connected.ts";
import { PASSWORD, type Script } from "./testing/scripted-cloud.ts";

afterEach(closeAll);
const networks = { body: { networks: [] } };

describe("reads of the SDK", () => {
  it.each([
    ["a lost connection", "cut" as const],
    ["500", { status: 500 }],
    ["503", { status: 503 }],
    ["429", { status: 429 }],
  ])("are repeated after %s", async (_name, reply) => {
    const { server, cloud } = await start(inTurn(reply, reply, networks));
    expect(await cloud.network.networks.all()).toEqual([]);
    expect(server.count("GET", "/networks")).toBe(3);
    expect(cloud.stats().byRoute["GET network /networks"]).toBe(3);
  });
  it.each([400, 403, 404, 409, 501])("are not repeated after %d", async (status) => {
    const { server, cloud } = await start(inTurn({ status }));
    await failure(cloud.network.networks.all());
    expect(server.count("GET", "/networks")).toBe(1);
  });
  it("are sent while deletions are held, and so are changes of parts; deletions are refused until they are not", async () => {
    let isHeld = true;
    const done = { status: 204 };
    const { server, cloud } = await start(inTurn(networks, done, done, done), { holdDeletions: () => isHeld });
    const { network } = cloud;
    expect(await network.networks.all()).toEqual([]);
    await network.securityGroupRules.delete("rule");
    expect(server.count("DELETE", "/security-group-rules/rule")).toBe(1);
    const interfaceOf = { subnet_id: "subnet" };
    for (const held of [
      network.networks.delete("one"),
      network.removeRouterInterface("router", interfaceOf, { deletes: true }),
    ]) {
      const error = await failure(held);
      expect(predicates.isDeletionsHeld(error)).toBe(true);
      expect(error.message).not.toMatch(/http|one/);
    }
    expect(server.count("DELETE", "/networks/one")).toBe(0);
    expect(server.count("PUT", "/routers/router/remove_router_interface")).toBe(0);
    await network.removeRouterInterface("router", interfaceOf);
    isHeld = false;
    await network.networks.delete("one");
    expect(server.count("DELETE", "/networks/one")).toBe(1);
  });
  it("wait as long as Retry-After says", async () => {
    const { cloud, clock } = await start(inTurn({ status: 429, headers: { "retry-after": "7" } }, networks));
    const before = clock.now();
    await cloud.network.networks.all();
    expect(clock.now() - before).toBeGreaterThanOrEqual(7_000);
  });
  it("give up in the end", async () => {
    const { server, cloud } = await start(inTurn({ status: 503, body: { message: "down" } }));
    const error = await failure(cloud.network.networks.all());
    expect(error.code).toBe("OPENSTACK_UNAVAILABLE");
    expect(predicates.isRetryableOpenStackError(error)).toBe(true);
    expect(server.count("GET", "/networks")).toBe(5);
  });
  it("end at their deadline", async () => {
    const clock = new VirtualClock();
    const { cloud } = await start(inTurn("hang"), { clock });
    const result = failure(cloud.network.networks.all());
    for (let i = 0; i < 40; i++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      await clock.advance(10_000);
    }
    expect((await result).details["reason"]).toBe("DEADLINE");
  });
  it("end at once when they are aborted", async () => {
    const { cloud } = await start(inTurn("hang"));
    const controller = new AbortController();
    const result = cloud.network.networks.all({}, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 20);
    await expect(result).rejects.toThrow("enough");
  });
  it("say what address cannot be reached", async () => {
    const { cloud } = await start(inTurn(networks), { config: { authUrl: "http://127.0.0.1:1/v3" } });
    const error = await failure(cloud.network.networks.all());
    expect(error).toMatchObject({ code: "OPENSTACK_UNREACHABLE", details: { reason: "ECONNREFUSED", sent: false } });
    expect(error.message).toContain("127.0.0.1:1");
  });
  it("answer undefined for what is not there, with find", async () => {
    const { cloud } = await start(inTurn({ status: 404 }));
    expect(await cloud.network.ports.find("x")).toBeUndefined();
    expect(predicates.isOpenStackNotFound(await failure(cloud.network.ports.get("x")))).toBe(true);
  });
  it("fail in words when something else answers", async () => {
    const { cloud } = await start(inTurn({ body: { hello: "world" } }));
    expect((await failure(cloud.network.ports.get("x"))).code).toBe("OPENSTACK_UNEXPECTED_ANSWER");
  });
});

describe("creates of the SDK", () => {
  const made = { id: "n-1", name: "one" };
  const create = { name: "one" };

  it("whose answer is lost are searched for, and not made twice", async () => {
    const { server, cloud } = await start(inTurn("cut"));
    const recover = async () => made as never;
    expect(await cloud.network.networks.create(create, { recover })).toEqual(made);
    expect(server.count("POST", "/networks")).toBe(1);
  });
  it("are tried again when nothing is found", async () => {
    const { server, cloud } = await start(inTurn("cut", { status: 500 }, { status: 201, body: { network: made } }));
    let reads = 0;
    const recover = async () => {
      reads++;
      return undefined;
    };
    expect(await cloud.network.networks.create(create, { recover })).toEqual(made);
    expect(server.count("POST", "/networks")).toBe(3);
    expect(reads).toBe(4);
  });
  it.each([
    ["a lost answer", "cut" as const],
    ["500", { status: 500 }],
    ["504", { status: 504 }],
  ])("without a way to search end with an unknown outcome after %s", async (_name, reply) => {
    const { server, cloud } = await start(inTurn(reply, { status: 201, body: { network: made } }));
    const error = await failure(cloud.network.networks.create(create));
    expect(predicates.isOutcomeUnknown(error)).toBe(true);
    expect(server.count("POST", "/networks")).toBe(1);
  });
  it("are repeated without a search after 429, which executes nothing", async () => {
    const { server, cloud } = await start(inTurn({ status: 429 }, { status: 201, body: { network: made } }));
    expect(await cloud.network.networks.create(create)).toEqual(made);
    expect(server.count("POST", "/networks")).toBe(2);
  });
  it("are not repeated when they are refused", async () => {
    const { server, cloud } = await start(
      inTurn({ status: 409, body: { NeutronError: { type: "X", message: "dup" } } }),
    );
    const error = await failure(cloud.network.networks.create(create, { recover: async () => made as never }));
    expect(predicates.isOpenStackConflict(error)).toBe(true);
    expect(server.count("POST", "/networks")).toBe(1);
  });
  it("of servers send hints next to the server and drop the administrator's password", async () => {
    const { server, cloud } = await start(
      inTurn({ status: 202, body: { server: { id: "s-1", adminPass: "hunter2" } } }),
    );
    const created = await cloud.compute.servers.create({
      name: "a",
      flavorRef: "f",
      networks: "none",
      tags: ["t"],
      schedulerHints: { group: "g" },
    });
    expect(created).toMatchObject({ id: "s-1", status: "BUILD", tags: ["t"], addresses: {} });
    expect(JSON.stringify(created)).not.toContain("hunter2");
    expect(server.seen.at(-1)?.body).toEqual({
      server: { name: "a", flavorRef: "f", networks: "none", tags: ["t"] },
      "os:scheduler_hints": { group: "g" },
    });
  });
  it.each([
    ["takes them", "tag-ports-during-bulk-creation", ["POST"]],
    ["does not", "standard-attr-tag", ["POST", "PUT"]],
  ])("of ports with tags are tagged where Neutron %s in a create", async (_name, alias, methods) => {
    const { server, cloud } = await start(({ method, path, body }) => {
      if (path.startsWith("/identity")) return undefined;
      if (path.endsWith("/extensions")) return { body: { extensions: [{ alias }] } };
      if (method === "PUT") return { body: { tags: ["t"] } };
      const { tags = [] } = (body as { port: { tags?: string[] } }).port;
      return { status: 201, body: { port: { id: "p", tags } } };
    });
    expect((await cloud.network.ports.create({ name: "p", network_id: "n", tags: ["t"] })).tags).toEqual(["t"]);
    expect(server.seen.slice(2).map((s) => s.method)).toEqual(methods);
  });
  it("in bulk make no call for nothing", async () => {
    const { cloud } = await start(inTurn({ status: 500 }));
    expect(await cloud.network.createPorts([])).toEqual([]);
    expect(cloud.stats().total).toBe(0);
  });
});

describe("deletes of the SDK", () => {
  it("of what is not there have succeeded", async () => {
    const { server, cloud } = await start(inTurn({ status: 404 }));
    await cloud.network.ports.delete("x");
    await cloud.loadBalancing.deleteLoadBalancer("x", { cascade: true });
    await cloud.network.removeRouterInterface("r", { subnet_id: "s" });
    expect(server.seen.find((s) => s.path.includes("loadbalancers"))?.query.get("cascade")).toBe("true");
  });
});

describe("router interfaces of the SDK", () => {
  const repeated: (port: unknown) => Script = (port) => (asked) => {
    if (asked.path.startsWith("/identity")) return undefined;
    return asked.method === "PUT" ? { status: 400, body: {} } : { body: { ports: [port] } };
  };
  it("succeed if the subnet is already connected to the router", async () => {
    const { cloud } = await start(repeated({ id: "p", device_id: "r", fixed_ips: [{ subnet_id: "s" }] }));
    await cloud.network.addRouterInterface("r", { subnet_id: "s" });
  });
  it("fail with the error of the request if the subnet is not connected to the router", async () => {
    const { cloud } = await start(repeated({ id: "p", device_id: "r", fixed_ips: [{ subnet_id: "other" }] }));
    expect(predicates.isBadRequest(await failure(cloud.network.addRouterInterface("r", { subnet_id: "s" })))).toBe(
      true,
    );
  });
});

describe("lists of the SDK", () => {
  it("follow pages on their own address, whatever host the links name", async () => {
    const { server, cloud } = await start(({ path, query }) => {
      if (path.startsWith("/identity")) return undefined;
      const page = Number(query.get("marker") ?? 0);
      const links = [{ rel: "next", href: `http://evil.example/v2.0/networks?marker=${page + 1}&name=a` }];
      return { body: { networks: [{ id: String(page) }], ...(page < 2 && { networks_links: links }) } };
    });
    const found = await cloud.network.networks.all({ name: "a" });
    expect(found.map((n) => n.id)).toEqual(["0", "1", "2"]);
    expect(server.seen.slice(1).every((s) => s.path === "/network/v2.0/networks" && s.query.get("name") === "a")).toBe(
      true,
    );
  });
  it("follow the path in Glance's next", async () => {
    const { server, cloud } = await start(({ path, query }) => {
      if (path.startsWith("/identity")) return undefined;
      const more = query.get("marker") === null ? { next: "/v2/images?marker=i-1&limit=1000" } : {};
      return { body: { images: [{ id: query.get("marker") ?? "i-0" }], ...more } };
    });
    expect((await cloud.image.images.all()).map((i) => i.id)).toEqual(["i-0", "i-1"]);
    expect(server.seen[1]?.query.get("limit")).toBe("1000");
  });
  it("of many ids are requested in parts", async () => {
    const { server, cloud } = await start(({ path, query }) =>
      path.startsWith("/identity") ? undefined : { body: { ports: query.getAll("id").map((id) => ({ id })) } },
    );
    const id = Array.from({ length: 500 }, (_, i) => `00000000-0000-0000-0000-${String(i).padStart(12, "0")}`);
    expect((await cloud.network.ports.all({ id })).map((p) => p.id)).toEqual(id);
    expect(server.count("GET", "/ports")).toBeLessThanOrEqual(4);
    expect(await cloud.network.ports.all({ id: [] })).toEqual([]);
  });
  it("join tags with commas", async () => {
    const { server, cloud } = await start(inTurn(networks));
    await cloud.network.networks.all({ tags: ["a", "b"], name: ["x", "y"], shared: false });
    expect([...(server.seen.at(-1)?.query ?? [])]).toEqual([
      ["tags", "a,b"],
      ["name", "x"],
      ["name", "y"],
      ["shared", "false"],
    ]);
  });
});

describe("microversions of the SDK", () => {
  const nova =
    (version: string | undefined): Script =>
    ({ path }) => {
      if (path.startsWith("/identity")) return undefined;
      if (path.endsWith("/v2.1/"))
        return version === undefined ? { status: 404 } : { body: { version: { id: "v2.1", version } } };
      return { body: { servers: [] } };
    };
  it.each([
    ["2.93", "2.93"],
    ["2.104", "2.96"],
    [undefined, undefined],
  ])("of a Nova that speaks up to %s are %s", async (theirs, ours) => {
    const { server, cloud } = await start(nova(theirs));
    await Promise.all([cloud.compute.servers.all(), cloud.compute.servers.all()]);
    const asked = server.seen.at(-1)?.headers;
    expect(asked?.["x-openstack-nova-api-version"]).toBe(ours);
    expect(asked?.["openstack-api-version"]).toBe(ours === undefined ? undefined : `compute ${ours}`);
    expect(server.count("GET", "/v2.1/")).toBe(1);
  });
  it("are not waited for by a call that is aborted, while the version document does not come", async () => {
    const { server, cloud } = await start(({ path }) => (path.endsWith("/v2.1/") ? "hang" : undefined));
    const controller = new AbortController();
    const waiting = cloud.compute.servers.all({}, { signal: controller.signal });
    const isAsked = async (): Promise<void> => {
      while (server.count("GET", "/v2.1/") === 0) await new Promise((done) => setTimeout(done, 1));
    };
    await isAsked();
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });
  it("that are too old for a call make it fail before it is sent", async () => {
    const { server, cloud } = await start(nova("2.60"));
    const error = await failure(cloud.compute.servers.all({}, { microversion: "2.90" }));
    expect(error.code).toBe("OPENSTACK_MICROVERSION");
    expect(server.count("GET", "/servers/detail")).toBe(0);
  });
});

describe("logs, metrics and statistics", () => {
  it("has counts by route, without ids, and token requests are no writes", async () => {
    const { cloud } = await start(inTurn({ status: 404 }));
    await cloud.network.ports.delete("a-b-c");
    expect(cloud.stats()).toEqual({
      total: 2,
      writes: 1,
      byRoute: { "POST identity /auth/tokens": 1, "DELETE network /ports/{id}": 1 },
    });
  });
  it("has no password and no token in logs, errors and metrics", async () => {
    const lines: string[] = [];
    const log = createLog({ level: "debug", destination: { write: (line) => lines.push(line) } });
    const metrics = createMetrics();
    const { cloud } = await start(inTurn({ status: 500 }), { log, metrics });
    const error = await failure(cloud.network.networks.create({ name: "n" }, { recover: async () => undefined }));
    const output = `${lines.join("")} ${error.stack} ${JSON.stringify(error)} ${await metrics.render()}`;
    expect(output).toContain("/networks");
    expect(output).not.toContain(PASSWORD);
    expect(output).not.toContain("token-1");
  });
  it("warns of credentials in the clear, but not on loopback", async () => {
    const lines: string[] = [];
    const log = createLog({ destination: { write: (line) => lines.push(line) } });
    const { server } = await start(inTurn(networks), { log });
    expect(lines).toEqual([]);
    open.push(connectCloud({ ...server.config, authUrl: "http://keystone.example.org/v3" }, { log }));
    expect(lines.join("")).toContain("in the clear");
  });
  it("refuses an auth_url that is none", () => {
    expect(() => connectCloud({ name: "x", authUrl: "keystone", auth: { type: "token", token: "t" } })).toThrow(
      CausewayError,
    );
  });
});

it("the SDK refuses calls after close", async () => {
  const { cloud } = await start(inTurn(networks));
  await cloud.close();
  expect((await failure(cloud.network.networks.all())).code).toBe("CLOUD_CLOSED");
});
