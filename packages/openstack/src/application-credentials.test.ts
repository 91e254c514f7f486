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
  /** What happens before each list. */
  before: () => void;
}

/** A Keystone that makes what each POST names, and responds to each POST as `answers` says: by itself, if undefined. */
async function keystone(...answers: readonly (Reply | "refused" | undefined)[]): Promise<Keystone> {
  const kept = new Map([["c0", "of another program"]]);
  const next = [...answers];
  let there: Keystone;
  const server = await scriptedCloud(({ method, path, body }) => {
    if (!path.startsWith(PATH)) return undefined;
    if (method === "GET") {
      there.before();
      return { body: { application_credentials: [...kept].map(([id, name]) => ({ id, name })), links: {} } };
    }
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
  there = { client, server, kept, before: () => {} };
  return there;
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

  it.each<[string, Reply, string]>([
    ["its connection is cut", "cut", "OPENSTACK_UNREACHABLE"],
    ["Keystone is broken", { status: 503 }, "OPENSTACK_UNAVAILABLE"],
    ["its answer cannot be read", { text: "<html>" }, "OPENSTACK_"],
  ])("is deleted when %s", async (_name, answer, code) => {
    const there = await keystone(answer);
    expect((await failure(create(there))).code).toContain(code);
    expect([...there.kept.values()]).toEqual(["of another program"]);
    expect(there.server.count("POST", "application_credentials")).toBe(1);
  });

  it("is found by a later search, where Keystone was still at work on it", async () => {
    const there = await keystone("cut");
    let searches = 0;
    there.before = () => {
      searches += 1;
      if (searches === 1) there.kept.delete("c1");
      if (searches === 2) there.kept.set("c1", "n1");
    };
    await failure(create(there));
    expect([...there.kept.values()]).toEqual(["of another program"]);
    expect(searches).toBe(2);
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
