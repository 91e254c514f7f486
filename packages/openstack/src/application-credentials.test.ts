import { afterEach, describe, expect, it } from "vitest";
import { createApplicationCredentialClient, type ApplicationCredentialClient } from "./application-credentials.ts";
import { closeAll, failure, open } from "./testing/connected.ts";
import { HastyClock, scriptedCloud, type Reply, type ScriptedCloud } from "./testing/scripted-cloud.ts";

const PATH = "/identity/v3/users/u1/application_credentials";

interface Keystone {
  readonly client: ApplicationCredentialClient;
  readonly server: ScriptedCloud;
  /** Names of what Keystone has, by id. */
  readonly kept: Map<string, string>;
}

/** A Keystone that makes what each POST names, and responds to each POST as `answers` says: by itself, if undefined. */
async function keystone(...answers: readonly (Reply | "refused" | undefined)[]): Promise<Keystone> {
  const kept = new Map([["c0", "of another program"]]);
  const next = [...answers];
  const server = await scriptedCloud(({ method, path, body }) => {
    if (!path.startsWith(PATH)) return undefined;
    if (method === "GET")
      return { body: { application_credentials: [...kept].map(([id, name]) => ({ id, name })), links: {} } };
    if (method === "DELETE") return { status: kept.delete(path.slice(PATH.length + 1)) ? 204 : 404 };
    const answer = next.shift();
    if (answer === "refused") return { status: 403, body: { error: { code: 403, message: "not permitted" } } };
    const { name } = (body as { application_credential: { name: string } }).application_credential;
    const id = `c${server.count("POST", "application_credentials")}`;
    kept.set(id, name);
    return answer ?? { status: 201, body: { application_credential: { id, name, secret: `secret of ${id}` } } };
  });
  const client = createApplicationCredentialClient(server.config, { clock: new HastyClock() });
  open.push({ close: async () => client.close() }, server);
  return { client, server, kept };
}

const create = ({ client }: Keystone, signal?: AbortSignal) =>
  client.create("token", "u1", { name: "n1" }, signal ? { signal } : {});

describe("a new application credential", () => {
  afterEach(closeAll);

  it("takes one call", async () => {
    const there = await keystone();
    expect(await create(there)).toMatchObject({ id: "c1", secret: "secret of c1" });
    expect(there.server.seen.map(({ method }) => method)).toEqual(["POST"]);
  });

  it.each<[string, Reply]>([
    ["connection is cut", "cut"],
    ["Keystone is broken", { status: 503 }],
  ])("is made again when its %s, and the first one is deleted", async (_name, answer) => {
    const there = await keystone(answer);
    expect(await create(there)).toMatchObject({ id: "c2", secret: "secret of c2" });
    expect([...there.kept]).toEqual([
      ["c0", "of another program"],
      ["c2", "n1"],
    ]);
  });

  it("leaves nothing when no answer ever arrives", async () => {
    const there = await keystone("cut", "cut", "cut", "cut", "cut");
    expect(await failure(create(there))).toMatchObject({ code: "OPENSTACK_UNREACHABLE" });
    expect([...there.kept.values()]).toEqual(["of another program"]);
  });

  it("leaves nothing when its request is given up on the way", async () => {
    const there = await keystone("hang");
    const stop = new AbortController();
    const ended = create(there, stop.signal).then(
      () => "made",
      () => "given up",
    );
    while (there.kept.size < 2) await new Promise(setImmediate);
    stop.abort();
    expect(await ended).toBe("given up");
    expect([...there.kept.values()]).toEqual(["of another program"]);
  });

  it("takes one call, too, when it is refused", async () => {
    const there = await keystone("refused");
    expect(await failure(create(there))).toMatchObject({ code: "OPENSTACK_FORBIDDEN" });
    expect(there.server.seen).toHaveLength(1);
  });
});
