import { createServer, type RequestListener } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { silentLog, VirtualClock } from "@causeway/foundation";
import { afterEach, describe, expect, test } from "vitest";
import type { TunnelAccess } from "../runtime.ts";
import { readTunnel, type TunnelReport } from "./read.ts";
import { createTunnelWatchdog } from "./watchdog.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const access: TunnelAccess = { socket: "/nowhere/default.one.sock" };

/** A watchdog of one control plane in virtual time, and what it reported. */
function watch(read: (signal: AbortSignal) => Promise<TunnelReport | undefined>, found: () => TunnelAccess | "later") {
  const clock = new VirtualClock();
  const changes: string[] = [];
  const stopping = new AbortController();
  closers.push(() => stopping.abort(new Error("the test ends")));
  const watchdog = createTunnelWatchdog({
    tunnels: () => [{ id: "default.one", access: async () => found() }],
    changed: () => changes.push(watchdog.facts("default.one")?.type ?? "unknown"),
    read: (_access, signal) => read(signal),
    clock,
    log: silentLog,
  });
  void watchdog.run(stopping.signal);
  return { clock, changes, facts: () => watchdog.facts("default.one") };
}

describe("checks of a tunnel", () => {
  test("report each change once, and remember since when every check found no agent", async () => {
    let agents = 0;
    const { clock, changes, facts } = watch(
      async () => ({ agents, since: 5 }),
      () => access,
    );
    const start = clock.now();
    await clock.advance(60_000);
    expect(facts()).toEqual({ type: "absent", since: 5, seenSince: start, hadAgents: false });
    agents = 2;
    await clock.advance(60_000);
    agents = 0;
    await clock.advance(120_000);
    expect(changes).toEqual(["absent", "connected", "absent"]);
    expect(facts()).toMatchObject({ type: "absent", since: 5, hadAgents: true });
    expect((facts() as { seenSince: number }).seenSince).toBeGreaterThan(start + 60_000);
  });

  test("say that a server does not respond, one that is silent too, and when it does again", async () => {
    let answer: "refused" | "silent" | "fine" = "refused";
    const { clock, changes, facts } = watch(
      async (signal) => {
        if (answer === "refused")
          throw Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:8090"), { code: "ECONNREFUSED" });
        if (answer === "silent")
          await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        return { agents: 1, since: 5 };
      },
      () => access,
    );
    await clock.advance(20_000);
    expect(facts()).toMatchObject({ type: "unreachable", code: "ECONNREFUSED", reached: true });
    answer = "silent";
    await clock.advance(40_000);
    expect(facts()).toMatchObject({ type: "unreachable", code: "ETIMEDOUT" });
    answer = "fine";
    await clock.advance(40_000);
    expect(changes).toEqual(["unreachable", "connected"]);
  });

  test("know whether a server at a URL ever responded to this process, and publish no text of an error", async () => {
    let isDown = true;
    const client = { certificate: "", key: "" };
    const { clock, facts } = watch(
      async () => {
        if (isDown) throw Object.assign(new Error("read /run/a.sock"), { code: "read /run/a.sock" });
        return { agents: 1, since: 5 };
      },
      () => ({ url: "https://tunnel:8090", certificateAuthority: "", client }),
    );
    // The first check ends before its time is up.
    await setImmediate();
    await clock.advance(20_000);
    expect(facts()).toMatchObject({ type: "unreachable", code: "UNKNOWN", reached: false });
    isDown = false;
    await clock.advance(60_000);
    expect(facts()).toEqual({ type: "connected" });
    isDown = true;
    await clock.advance(60_000);
    expect(facts()).toMatchObject({ type: "unreachable", code: "UNKNOWN", reached: true });
  });

  test("report a server whose name is gone, and remember its agents where it reports none for a while", async () => {
    let answer: "gone" | "none" | number = 1;
    const client = { certificate: "", key: "" };
    const { clock, changes, facts } = watch(
      async () => {
        if (answer === "gone") throw Object.assign(new Error("getaddrinfo ENOTFOUND tunnel"), { code: "ENOTFOUND" });
        return answer === "none" ? undefined : { agents: answer, since: 5 };
      },
      () => ({ url: "https://tunnel:8090", certificateAuthority: "", client }),
    );
    for (const next of [1, "gone", "none", 0] as const) {
      answer = next;
      await clock.advance(60_000);
    }
    expect(changes).toEqual(["connected", "unreachable", "none", "absent"]);
    expect(facts()).toMatchObject({ type: "absent", hadAgents: true });
  });

  test("keep what they found while the control plane does not serve", async () => {
    let found: TunnelAccess | "later" = access;
    const { clock, changes, facts } = watch(
      async () => ({ agents: 1, since: 5 }),
      () => found,
    );
    await clock.advance(20_000);
    found = "later";
    await clock.advance(600_000);
    expect([facts(), changes]).toEqual([{ type: "connected" }, ["connected"]]);
  });
});

describe("a request for the agents of a tunnel", () => {
  /** The socket of a server that responds so. */
  const serve = async (handle: RequestListener): Promise<TunnelAccess> => {
    const folder = mkdtempSync(join(tmpdir(), "tunnel-read-"));
    const socket = join(folder, "a.sock");
    const server = createServer(handle);
    await new Promise<void>((done) => server.listen(socket, done));
    closers.push(() => {
      server.close();
      rmSync(folder, { recursive: true });
    });
    return { socket };
  };
  const respond = (status: number, body: string) =>
    serve((_request, response) => {
      response.statusCode = status;
      response.end(body);
    });
  const { signal } = new AbortController();

  test("returns what the server reports, and nothing of a server that forwards connections alone", async () => {
    const own = await respond(200, '{"agents":2,"since":"2026-01-01T00:00:00.000Z"}');
    expect(await readTunnel(own, signal)).toEqual({ agents: 2, since: Date.UTC(2026, 0, 1) });
    expect(await readTunnel(await respond(405, "this proxy only supports CONNECT"), signal)).toBeUndefined();
  });

  test.for<[status: number, body: string, code: string, error: RegExp]>([
    [403, "the certificate is of no tenant", "HTTP_403", /it responded 403: the certificate is of no tenant/],
    [200, '{"agents":"many"}', "BAD_RESPONSE", /no number of agents/],
    [200, "null", "BAD_RESPONSE", /no number of agents/],
    [200, "x".repeat(20_000), "BAD_RESPONSE", /longer than 10000 bytes/],
    [200, "nonsense", "BAD_RESPONSE", /JSON/],
  ])("fails with a code and a reason where the server responds %s", async ([status, body, code, message]) => {
    const expected = expect.objectContaining({ code, message: expect.stringMatching(message) as string }) as Error;
    await expect(readTunnel(await respond(status, body), signal)).rejects.toEqual(expected);
  });

  test("fails with a code where there is no server, and where its name cannot be resolved", async () => {
    const client = { certificate: "", key: "" };
    const inside = { url: "https://tunnel-server.nowhere.invalid:8090", certificateAuthority: "", client };
    await expect(readTunnel(inside, signal)).rejects.toMatchObject({ code: expect.stringMatching(/^E/) as string });
    await expect(readTunnel(access, signal)).rejects.toThrow(/ENOENT/);
  });
});
