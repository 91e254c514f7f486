import { afterEach, describe, expect, it } from "vitest";
import { closeAll, failure, inTurn, start } from "./testing/connected.ts";
import { PASSWORD, type Script } from "./testing/scripted-cloud.ts";

afterEach(closeAll);

/** The identity service gives this answer in place of a token. */
const identity =
  (reply: ReturnType<Script>): Script =>
  ({ path }) =>
    path.endsWith("/auth/tokens") ? reply : undefined;
const nested = (depth: number) => `{"networks":${"[".repeat(depth)}${"]".repeat(depth)}}`;

describe("an answer of a cloud", () => {
  it.each([
    ["spaces", " "],
    ["a list that nothing closes", "["],
    ["a text", "x"],
  ])("that never ends with %s ends authentication with a code, in bounded memory", async (_, endless) => {
    const { cloud } = await start(identity({ status: 201, headers: { "x-subject-token": "t" }, endless }));
    const before = process.memoryUsage().rss;
    const error = await failure(cloud.network.networks.all());
    expect(error).toMatchObject({
      code: "OPENSTACK_ANSWER_TOO_LARGE",
      details: { service: "identity", limit: 2 ** 20 },
    });
    expect(error.message).toContain("/identity/v3/auth/tokens");
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
  });

  it("that never ends ends a list at 64 MiB, and is not requested again", async () => {
    const { server, cloud } = await start(inTurn({ endless: " " }));
    const error = await failure(cloud.network.networks.all());
    expect(error).toMatchObject({ code: "OPENSTACK_ANSWER_TOO_LARGE", details: { limit: 64 * 2 ** 20 } });
    expect(server.count("GET", "/networks")).toBe(1);
  });

  it("that never ends ends the search for a service's versions at 1 MiB", async () => {
    const { cloud } = await start(({ path }) => (path.startsWith("/identity") ? undefined : { endless: " " }));
    expect(await failure(cloud.compute.servers.all())).toMatchObject({
      code: "OPENSTACK_ANSWER_TOO_LARGE",
      details: { limit: 2 ** 20 },
    });
    expect(await failure(cloud.describe("compute"))).toMatchObject({ code: "OPENSTACK_ANSWER_TOO_LARGE" });
  });

  it("of 401 that never ends is read to a limit only", async () => {
    const { cloud } = await start(identity({ status: 401, endless: "no! " }));
    const error = await failure(cloud.network.networks.all());
    expect(error.code).toBe("OPENSTACK_UNAUTHORIZED");
    expect(String(error.details["serviceMessage"]).length).toBeLessThanOrEqual(1000);
  });

  it.each([[1001], [100_000]])("that is nested %d deep is refused", async (depth) => {
    const { cloud } = await start(inTurn({ text: nested(depth) }));
    expect(await failure(cloud.network.networks.all())).toMatchObject({
      code: "OPENSTACK_ANSWER_TOO_LARGE",
      message: expect.stringContaining("nested more than 1000 deep"),
    });
  });

  it.each([
    ["Nova", { badRequest: { message: "m".repeat(100_000) } }],
    ["Octavia", { faultcode: "f".repeat(100_000), faultstring: "m".repeat(100_000) }],
    ["Placement", { errors: Array.from({ length: 10_000 }, () => ({ detail: "m" })) }],
    ["another service", { ["k".repeat(100_000)]: { message: "m" } }],
  ])("with a long error as %s words it gives a short message", async (_, body) => {
    const { cloud } = await start(inTurn({ status: 400, body }));
    const error = await failure(cloud.network.networks.all());
    expect(error.message.length).toBeLessThan(1200);
    expect(JSON.stringify(error.details).length).toBeLessThan(2000);
  });
});

describe("a list of a cloud", () => {
  const page = (next: string) => ({
    body: { networks: [{ id: "n" }], networks_links: [{ rel: "next", href: `http://c/v2.0/networks?${next}` }] },
  });

  it("whose pages lead back to an earlier one ends with a code", async () => {
    const { server, cloud } = await start(
      inTurn(page("marker=a"), page("marker=b"), page("marker=a"), page("marker=b")),
    );
    expect(await failure(cloud.network.networks.all())).toMatchObject({ code: "OPENSTACK_LIST_ENDLESS" });
    expect(server.count("GET", "/networks")).toBe(3);
  });

  it("whose pages never end has a limit", async () => {
    let count = 0;
    const { cloud } = await start(
      ({ path }) => (path.startsWith("/identity") ? undefined : page(`marker=${(count += 1)}`)),
      { budget: { rate: 1e6, burst: 1e6 } },
    );
    expect(await failure(cloud.network.networks.all())).toMatchObject({
      code: "OPENSTACK_LIST_ENDLESS",
      message: expect.stringContaining("more than 2000 pages"),
    });
    expect(count).toBe(2001);
  });
});

describe("a refusal of credentials by a cloud", () => {
  const echo = (text: string): Script =>
    identity({ status: 401, body: { error: { message: `bad password: ${text}!` } } });

  it.each([
    ["as it is", PASSWORD],
    ["in base64", Buffer.from(PASSWORD).toString("base64")],
    ["encoded for a URL", encodeURIComponent(PASSWORD)],
  ])("is shown without the password that it repeats %s", async (_, repeated) => {
    const { cloud } = await start(echo(repeated));
    const error = await failure(cloud.network.networks.all());
    const shown = JSON.stringify([error.message, error.details, String(error.cause)]);
    expect(shown).not.toContain(repeated);
    expect(error.details["serviceMessage"]).toBe("bad password: [redacted]!");
  });

  it.each([
    ["application credential", { type: "application_credential", id: "i", secret: 'a"b<c>& d' }, 'a"b<c>& d'],
    ["token", { type: "token", token: "gAAAAtoken" }, "gAAAAtoken"],
  ] as const)("is shown without the %s", async (_, auth, secret) => {
    const { cloud } = await start(echo(secret), { config: { auth } });
    expect((await failure(cloud.network.networks.all())).details["serviceMessage"]).toBe("bad password: [redacted]!");
  });

  it.each(["a", "admin", "on"])("keeps its words although the password is the short %s", async (password) => {
    const config = { auth: { type: "password" as const, username: "u", userDomain: { name: "Default" }, password } };
    const body = { error: { message: "cannot change an admin's connection", type: "Conflict", given: { password } } };
    const { cloud } = await start(identity({ status: 401, body }), { config });
    expect((await failure(cloud.network.networks.all())).details).toMatchObject({
      serviceMessage: "cannot change an admin's connection",
    });
  });

  it("is shown without a short password in a field of JSON, in a body or in a text", async () => {
    const config = {
      auth: { type: "password" as const, username: "u", userDomain: { name: "Default" }, password: "admin" },
    };
    const refuses = async (body: unknown) => {
      const { cloud } = await start(identity({ status: 401, body }), { config });
      return (await failure(cloud.network.networks.all())).details["serviceMessage"];
    };
    expect(await refuses({ error: { message: "admin" } })).toBe("[redacted]");
    expect(await refuses({ error: { message: 'admin: {"password": "admin"}' } })).toBe(
      'admin: {"password": "[redacted]"}',
    );
    expect(await refuses({ error: { message: { password: "admin" } } })).toBe('{"password":"[redacted]"}');
  });

  it("is shown without the token that a service repeats", async () => {
    const { cloud } = await start(({ path, headers }) =>
      path.startsWith("/identity")
        ? undefined
        : { status: 403, body: { message: `no: ${String(headers["x-auth-token"])}` } },
    );
    expect((await failure(cloud.network.networks.all())).details["serviceMessage"]).toBe("no: [redacted]");
  });
});

describe("an Octavia older than version 2.5 of its API", () => {
  it("returns objects without tags, which have none then", async () => {
    const lb = { id: "1", name: "lb" };
    const { cloud } = await start(({ path, method }) => {
      if (!path.includes("/loadbalancers")) return undefined;
      const single = method !== "GET" || path.endsWith("/1");
      return { status: 200, body: single ? { loadbalancer: lb } : { loadbalancers: [lb] } };
    });
    const { loadBalancers } = cloud.loadBalancing;
    expect((await loadBalancers.all()).map(({ tags }) => tags)).toEqual([[]]);
    expect((await loadBalancers.get("1")).tags).toEqual([]);
    expect((await loadBalancers.create({ name: "lb" })).tags).toEqual([]);
    expect((await loadBalancers.update("1", { name: "lb" })).tags).toEqual([]);
  });
});

describe("the ID of an object", () => {
  it.each([".", ".."])("that is %s does not lead to another object", async (id) => {
    const { server, cloud } = await start(inTurn({ body: {} }));
    expect(await cloud.blockStorage.volumes.find(id)).toBeUndefined();
    await cloud.blockStorage.volumes.delete(id);
    expect((await failure(cloud.compute.volumeAttachments(id).all())).code).toBe("OPENSTACK_NOT_FOUND");
    expect(server.seen.filter(({ method }) => method === "DELETE")).toEqual([]);
  });

  it("does not exist when the service says so, and not when a proxy responds with a page", async () => {
    const page = { status: 404, text: "<!DOCTYPE html><html><body>nothing here</body></html>" };
    const { cloud } = await start(inTurn(page));
    const codes: string[] = [];
    for (const call of [
      () => cloud.blockStorage.volumes.find("v"),
      () => cloud.blockStorage.volumes.delete("v"),
      () => cloud.compute.servers.find("s"),
      () => cloud.compute.volumeAttachments("s").all(),
    ])
      codes.push((await failure(call())).code);
    expect(codes).toEqual(codes.map(() => "OPENSTACK_UNEXPECTED_ANSWER"));
    const own = await start(inTurn({ status: 404, body: { itemNotFound: { code: 404, message: "no volume" } } }));
    expect(await own.cloud.blockStorage.volumes.find("v")).toBeUndefined();
  });
});
