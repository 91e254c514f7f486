import type { ServerResponse } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CausewayError } from "@causeway/foundation";
import { afterEach, describe, expect, test } from "vitest";
import { loadKubeconfig } from "../config/kubeconfig.ts";
import { json, ScriptedServer, type Answer } from "../testing/scripted-server.ts";
import { ConfigMap } from "../types/core.ts";
import { createClient } from "./client.ts";
import type { ClientOptions } from "./transport.ts";
import { runExecPlugin } from "./exec-plugin.ts";

const MIB = 2 ** 20;
const opened: { stop(): Promise<void> }[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const server of opened.splice(0)) await server.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function connected(answer: Answer, options: ClientOptions = {}) {
  const server = await ScriptedServer.start(answer);
  const client = createClient({ server: server.url }, options);
  opened.push({ stop: () => client.close() }, server);
  return { server, client };
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "bounds-"));
  folders.push(made);
  return made;
}

/** Writes the text again and again until the client goes. */
function forever(response: ServerResponse, text: string, code = 200): void {
  const piece = Buffer.alloc(256 * 1024, text);
  response.writeHead(code, { "content-type": "application/json" });
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
}

const key = { namespace: "default", name: "a" };
const failure = (promise: Promise<unknown>): Promise<CausewayError> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: unknown) => error as CausewayError,
  );

describe("an answer of an API server", () => {
  test("that never ends ends with a code, in bounded memory", async () => {
    const { client } = await connected((_, response) => forever(response, " "));
    const before = process.memoryUsage().rss;
    expect(await failure(client.get(ConfigMap, key))).toMatchObject({
      code: "KUBERNETES_ANSWER_TOO_LARGE",
      details: { limit: 64 * MIB },
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * MIB);
  });

  test("that comes without an end, byte by byte, ends with the deadline", async () => {
    const { client } = await connected((_, response) => void response.writeHead(200).write("{"), { readTimeout: 100 });
    const failing = failure(client.get(ConfigMap, key));
    expect(await failing).toMatchObject({
      code: "KUBERNETES_UNREACHABLE",
      message: expect.stringContaining("did not end"),
    });
  });

  test.each([
    [403, "KUBERNETES_FORBIDDEN"],
    [500, "KUBERNETES_INTERNAL_ERROR"],
  ])("of %d that never ends is read to a limit only", async (code, expected) => {
    const { client } = await connected((_, response) => forever(response, "no! ", code));
    const error = await failure(client.get(ConfigMap, key));
    expect(error.code).toBe(expected);
    expect(error.message.length).toBeLessThan(1000);
  });

  test("with a long message gives a shorter one", async () => {
    const { client } = await connected((_, response) =>
      json(response, { kind: "Status", code: 422, reason: "Invalid", message: "m".repeat(500_000) }, 422),
    );
    expect((await failure(client.get(ConfigMap, key))).message).toHaveLength(10_000);
  });

  test("that is nested too deep is refused", async () => {
    const deep = `{"kind":"ConfigMap","data":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const { client } = await connected((_, response) => void response.writeHead(200).end(deep));
    expect(await failure(client.get(ConfigMap, key))).toMatchObject({ code: "KUBERNETES_ANSWER_TOO_LARGE" });
  });
});

describe("a list of an API server", () => {
  const page = (items: readonly object[], token: string) => ({
    kind: "ConfigMapList",
    apiVersion: "v1",
    metadata: { resourceVersion: "1", ...(token === "" ? {} : { continue: token }) },
    items,
  });

  test("of objects too large for a page is read in smaller pages", async () => {
    const { client, server } = await connected(({ query }, response) => {
      const limit = Number(query.get("limit"));
      if (limit > 5) return forever(response, " ");
      json(
        response,
        page([{ metadata: { name: query.get("continue") ?? "first" } }], query.has("continue") ? "" : "next"),
      );
    });
    const { items } = await client.list(ConfigMap, { namespace: "default" });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["first", "next"]);
    expect(server.requests.map(({ query }) => query.get("limit"))).toEqual(["500", "50", "5", "5"]);
  });

  test("with one object too large for any page ends with an error that says so", async () => {
    const { client, server } = await connected((_, response) => forever(response, " "));
    expect(await failure(client.list(ConfigMap, { namespace: "default" }))).toMatchObject({
      code: "KUBERNETES_ANSWER_TOO_LARGE",
      message: expect.stringContaining("one of its objects alone is too large"),
    });
    expect(server.requests.map(({ query }) => query.get("limit"))).toEqual(["500", "50", "5", "1"]);
  });

  test("whose pages never end has a limit", { timeout: 300_000 }, async () => {
    let count = 0;
    const { client } = await connected((_, response) => json(response, page([], `t${(count += 1)}`)));
    expect(await failure(client.list(ConfigMap))).toMatchObject({ code: "KUBERNETES_LIST_ENDLESS" });
    expect(count).toBe(10_000);
  });
});

describe("a watch", () => {
  test("whose line never ends is ended with a code", async () => {
    const { client } = await connected((_, response) => forever(response, "x"));
    const read = async (): Promise<void> => {
      for await (const event of client.watch(ConfigMap, { resourceVersion: "1" })) void event;
    };
    expect(await failure(read())).toMatchObject({ code: "KUBERNETES_ANSWER_TOO_LARGE", details: { limit: 16 * MIB } });
  });
});

describe("a file that a kubeconfig names", () => {
  test("may be a file without an end, which is refused", () => {
    expect(() => loadKubeconfig({ path: "/dev/zero" })).toThrow(
      expect.objectContaining({ code: "KUBECONFIG_INVALID" }),
    );
  });

  test("may be a text of any size, which is refused beyond 1 MiB", () => {
    expect(() => loadKubeconfig({ text: `a: ${"x".repeat(MIB)}` })).toThrow(
      expect.objectContaining({ code: "KUBECONFIG_INVALID", message: expect.stringContaining("larger than 1 MiB") }),
    );
  });

  test("may be a file of 2 MiB with many contexts, and is refused with a clear message beyond 8 MiB", () => {
    const folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
    try {
      const path = join(folder, "config");
      const certificate = "x".repeat(2 * MIB);
      const cluster = `{name: c, cluster: {server: "https://localhost:1"}}, {name: d, cluster: {server: "https://localhost:2", x: ${certificate}}}`;
      writeFileSync(path, `clusters: [${cluster}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n`);
      expect(loadKubeconfig({ path }).server).toBe("https://localhost:1");
      writeFileSync(path, `a: ${"x".repeat(8 * MIB)}`);
      expect(() => loadKubeconfig({ path })).toThrow(
        expect.objectContaining({ code: "KUBECONFIG_INVALID", message: expect.stringContaining("larger than 8 MiB") }),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("may have many keys, which are read in linear time", () => {
    const keys = Array.from({ length: 50_000 }, (_, i) => `k${i}: 1`).join("\n");
    const before = process.threadCpuUsage();
    expect(() => loadKubeconfig({ text: keys })).toThrow(
      expect.objectContaining({ code: "KUBECONFIG_CONTEXT_UNKNOWN" }),
    );
    // To compare each key with all before it takes a minute.
    expect(process.threadCpuUsage(before).user / 1e6).toBeLessThan(15);
  });

  test("may be a plugin that prints without an end, which is ended", async () => {
    const command = join(folder(), "plugin");
    writeFileSync(command, "#!/bin/sh\nexec cat /dev/zero\n", { mode: 0o755 });
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command,
      args: [],
      env: {},
      provideClusterInfo: false,
      interactiveMode: "Never" as const,
    };
    expect(await failure(runExecPlugin({ server: "https://a", exec }))).toMatchObject({
      code: "KUBERNETES_EXEC_PLUGIN",
      message: expect.stringContaining("printed more than 1 MiB"),
    });
  });
});
