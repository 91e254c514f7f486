import { CausewayError, systemClock, VirtualClock, type Clock } from "@causeway/foundation";
import type { Secret } from "@causeway/kubernetes";
import type { CloudConfig, CloudPool } from "@causeway/openstack";
import { describe, expect, it } from "vitest";
import { refusedList, Sessions, type Startable } from "./sessions.ts";

function secretOf(password: string): Secret {
  const text = `clouds:
  one:
    auth: { auth_url: "https://cloud.test/v3", username: u, password: ${password}, project_name: p, user_domain_name: d, project_domain_name: d }
  two:
    auth: { auth_url: "https://two.test/v3", username: u, password: ${password}, project_name: p, user_domain_name: d, project_domain_name: d }
`;
  const metadata = { name: "cloud", namespace: "default" };
  return { apiVersion: "v1", kind: "Secret", metadata, data: { "clouds.yaml": Buffer.from(text).toString("base64") } };
}

/** Sessions on a Secret that can be replaced, and each config for which a client was requested. */
function world(clock: Clock = systemClock) {
  const state = { secret: secretOf("first") };
  const configs: CloudConfig[] = [];
  const since = new Map<string, number>();
  const clouds = {
    get(config: CloudConfig) {
      configs.push(config);
      throw new Error("no cloud in this test");
    },
  } as unknown as CloudPool;
  const sessions = new Sessions({
    clouds,
    objects: { secret: () => state.secret, clusterIdentity: () => undefined, namespace: () => undefined },
    clock,
    since: (namespace) => since.get(namespace),
    onOpen: () => {},
  });
  const get = (cloudName: string, region?: string) =>
    sessions.get(
      { namespace: "default", reference: { name: "cloud", cloudName, ...(region ? { region } : {}) } },
      () => [],
      new AbortController().signal,
    );
  return { state, configs, get, sessions, since };
}

describe("Sessions", () => {
  it("reads a list again that began before another process gave the namespace up, once", async () => {
    const { sessions, since } = world();
    const informer = {
      listedAt: 0,
      failure: undefined,
      calls: [] as string[],
      start: () => Promise.resolve(void informer.calls.push("start")),
      refresh() {
        informer.calls.push("refresh");
        informer.listedAt = 1_001;
        return Promise.resolve();
      },
    };
    const listed = async (namespace: string) => {
      await sessions.listed(informer, { namespace }, new AbortController().signal);
      return informer.calls.splice(0);
    };
    expect(await listed("default")).toEqual(["start"]);
    since.set("default", 1_000);
    informer.listedAt = 1_000;
    expect(await listed("other")).toEqual(["start"]);
    expect(await listed("default")).toEqual(["start", "refresh"]);
    expect(await listed("default")).toEqual(["start"]);
  });

  it("waits ten seconds for a list that does not come, and says why it did not", async () => {
    const clock = new VirtualClock();
    const { sessions } = world(clock);
    const listed = async (failure: unknown) => {
      const start = (signal?: AbortSignal) =>
        new Promise<void>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      const informer = { listedAt: 0, failure, start, refresh: () => Promise.resolve() };
      const outcome = sessions.listed(informer, { namespace: "default" }, new AbortController().signal).catch(String);
      await clock.advance(10_001);
      return outcome;
    };
    expect(await listed(new Error("HTTP 500 of Octavia"))).toBe("Error: HTTP 500 of Octavia");
    expect(await listed(undefined)).toContain("has not responded for 10 s");
  });

  it("knows of a list that the cloud refused for the credentials, and of no other failure", () => {
    const list = (code?: string) => ({
      listedAt: 1,
      failure: code === undefined ? undefined : new CausewayError(code, "GET network /ports responded 401"),
      start: () => Promise.resolve(),
      refresh: () => Promise.resolve(),
    });
    expect(refusedList([list(), list("OPENSTACK_UNAUTHORIZED")])).toEqual({
      ok: false,
      reason: "AuthenticationFailed",
      message: "GET network /ports responded 401",
    });
    expect(refusedList([list(), list("OPENSTACK_UNREACHABLE")])).toBeUndefined();
  });

  it("parses a clouds.yaml once for each entry and region, not in each reconcile", async () => {
    const { configs, get } = world();
    for (let i = 0; i < 5; i++) await get("one");
    expect(new Set(configs).size).toBe(1);
    await get("two");
    await get("one", "north");
    await get("one");
    expect(new Set(configs).size).toBe(3);
    expect(configs.map(({ region }) => region).at(-2)).toBe("north");
  });

  it("uses the new credentials as soon as the Secret has them", async () => {
    const { state, configs, get } = world();
    await get("one");
    state.secret = secretOf("second");
    await get("one");
    expect(JSON.stringify(configs[1]?.auth)).toContain("second");
  });

  const pausedCloud = (isUnavailable: boolean, watch: object = {}, needed: () => readonly Startable[] = () => []) => {
    const asked: string[][] = [];
    const pause = (...services: string[]) => {
      asked.push(services);
      return { until: 1_000, since: 500, isUnavailable };
    };
    const cloud = { pause, projectId: () => Promise.reject(new Error("called")) };
    const sessions = new Sessions({
      clouds: { get: () => ({ cloud, watch }) } as unknown as CloudPool,
      objects: { secret: () => secretOf("p"), clusterIdentity: () => undefined, namespace: () => undefined },
      clock: new VirtualClock(),
      onOpen: () => {},
    });
    const place = { namespace: "red", reference: { name: "cloud", cloudName: "one" } };
    return { asked, result: sessions.get(place, needed, new AbortController().signal) };
  };

  it("leaves a cloud alone that limits the rate of requests, without a call, and without calling it a failure", async () => {
    const { asked, result } = pausedCloud(false);
    expect(await result).toMatchObject({ ok: false, reason: "RateLimited", until: 1_000, since: 500 });
    expect(asked).toEqual([["identity", "network", "compute"]]);
  });

  it("says of a cloud with 503 and Retry-After that it does not respond, and until when", async () => {
    const message = "The cloud does not respond (status 503), and asks to wait until 1970-01-01T00:00:01.000Z";
    expect(await pausedCloud(true).result).toMatchObject({ reason: "CloudUnavailable", message, until: 1_000 });
  });

  it("reports credentials that a list was refused for although another service is paused", async () => {
    const failure = new CausewayError("OPENSTACK_UNAUTHORIZED", "401");
    const { result } = pausedCloud(false, {}, () => [{ failure } as unknown as Startable]);
    expect(await result).toMatchObject({ ok: false, reason: "AuthenticationFailed" });
  });

  it("releases a cloud a minute after its last namespace went to another process, unless it came back", async () => {
    const released: string[] = [];
    const clock = new VirtualClock();
    const clients = new Map<string, { readonly cloud: unknown; readonly watch: unknown }>();
    const clouds = {
      get({ name }: CloudConfig) {
        const projectId = () => Promise.reject(new Error("no cloud in this test"));
        const cloud = { name, projectId, pause: () => undefined };
        const client = clients.get(name) ?? { cloud, watch: {} };
        clients.set(name, client);
        return client;
      },
      release: ({ name }: { name: string }) => Promise.resolve(void released.push(name)),
    } as unknown as CloudPool;
    const owned = new Set(["red", "blue"]);
    const sessions = new Sessions({
      clouds,
      objects: { secret: () => secretOf("p"), clusterIdentity: () => undefined, namespace: () => undefined },
      clock,
      owns: (namespace) => owned.has(namespace),
      onOpen: () => {},
    });
    const get = (namespace: string, cloudName: string) =>
      sessions.get({ namespace, reference: { name: "cloud", cloudName } }, () => [], new AbortController().signal);
    await get("red", "one");
    await get("blue", "one");
    await get("blue", "two");
    owned.delete("blue");
    sessions.releaseOthers();
    await clock.advance(59_000);
    expect(released).toEqual([]);
    await clock.advance(2_000);
    expect(released).toEqual(["two"]);
    owned.delete("red");
    sessions.releaseOthers();
    owned.add("red");
    await get("red", "one");
    await clock.advance(61_000);
    expect(released).toEqual(["two"]);
  });
});
