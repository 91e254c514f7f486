import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CausewayError, createMetrics, VirtualClock } from "@causeway/foundation";
import { afterEach, describe, expect, test } from "vitest";
import type { ClusterConfig } from "../config/interface.ts";
import { json, openWatch, refuse, ScriptedServer, type Answer } from "../testing/scripted-server.ts";
import { ConfigMap, Node } from "../types/core.ts";
import { createClient } from "./client.ts";
import * as errors from "./errors.ts";
import type { KubernetesClient } from "./interface.ts";
import type { ClientOptions } from "./transport.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function world(
  answer: Answer,
  config: Partial<ClusterConfig> = {},
  options: ClientOptions = {},
): Promise<{ server: ScriptedServer; client: KubernetesClient }> {
  const server = await ScriptedServer.start(answer);
  const client = createClient({ server: server.url, ...config }, options);
  ends.push(() => Promise.all([client.close(), server.stop()]));
  return { server, client };
}

const key = { namespace: "n", name: "a" };
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "n", name: "a" } };

async function thrown(promise: Promise<unknown>): Promise<CausewayError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CausewayError);
  return error as CausewayError;
}

describe("a refused request", () => {
  const cases: [code: number, reason: string, expected: string, predicate: (error: unknown) => boolean][] = [
    [404, "NotFound", "KUBERNETES_NOT_FOUND", errors.isNotFound],
    [409, "Conflict", "KUBERNETES_CONFLICT", errors.isConflict],
    [409, "AlreadyExists", "KUBERNETES_ALREADY_EXISTS", errors.isAlreadyExists],
    [403, "Forbidden", "KUBERNETES_FORBIDDEN", errors.isForbidden],
    [401, "Unauthorized", "KUBERNETES_UNAUTHORIZED", errors.isUnauthorized],
    [422, "Invalid", "KUBERNETES_INVALID", errors.isInvalid],
    [410, "Expired", "KUBERNETES_EXPIRED", errors.isExpired],
    [410, "Gone", "KUBERNETES_EXPIRED", errors.isExpired],
    [429, "TooManyRequests", "KUBERNETES_TOO_MANY_REQUESTS", errors.isTooManyRequests],
  ];
  test.each(cases)("with HTTP %i and reason %s is %s", async (code, reason, expected, predicate) => {
    const { client } = await world((_, response) => refuse(response, code, reason, "said so"));
    const error = await thrown(client.get(ConfigMap, key));
    expect(error).toMatchObject({ code: expected, message: "said so", details: { status: { reason } } });
    expect(predicate(error)).toBe(true);
  });

  test("without a Status is classified by its HTTP code", async () => {
    const { client } = await world((_, response) => void response.writeHead(502).end("<html>bad gateway"));
    expect(await thrown(client.get(ConfigMap, key))).toMatchObject({
      code: "KUBERNETES_SERVICE_UNAVAILABLE",
      message: "GET /api/v1/namespaces/n/configmaps/a failed with HTTP 502",
    });
  });

  test("is undefined to find, and done to delete, if there is no such object", async () => {
    const { client } = await world((_, response) => refuse(response, 404, "NotFound"));
    expect(await client.find(ConfigMap, key)).toBeUndefined();
    await client.delete(ConfigMap, key);
  });
});

describe("the wire", () => {
  test("carries each verb as the API wants it", async () => {
    const { client, server } = await world((_, response) => json(response, map));
    await client.create(ConfigMap, map, { fieldManager: "me", dryRun: true });
    await client.update(ConfigMap, map, { subresource: "status" });
    await client.patch(ConfigMap, key, { type: "json", body: [{ op: "remove", path: "/data" }] });
    await client.patch(ConfigMap, key, { type: "merge", body: { data: null } });
    await client.patch(ConfigMap, key, { type: "strategic", body: {} });
    await client.apply(ConfigMap, map, { fieldManager: "me", subresource: "status" });
    await client.apply(ConfigMap, map, { fieldManager: "me", force: false });
    await client.delete(ConfigMap, key, { propagationPolicy: "Foreground", preconditions: { uid: "u" } });
    await client.get(Node, { namespace: "", name: "node-1" });
    await client.request("POST", "/apis/x", { query: { a: "b c" }, body: { y: 1 } });
    const seen = server.requests.map(({ method, path, query, headers }) =>
      [method, path + (query.size > 0 ? `?${query.toString()}` : ""), headers["content-type"] ?? ""].join(" ").trim(),
    );
    expect(seen).toEqual([
      "POST /api/v1/namespaces/n/configmaps?fieldManager=me&dryRun=All application/json",
      "PUT /api/v1/namespaces/n/configmaps/a/status application/json",
      "PATCH /api/v1/namespaces/n/configmaps/a application/json-patch+json",
      "PATCH /api/v1/namespaces/n/configmaps/a application/merge-patch+json",
      "PATCH /api/v1/namespaces/n/configmaps/a application/strategic-merge-patch+json",
      "PATCH /api/v1/namespaces/n/configmaps/a/status?force=true&fieldManager=me application/apply-patch+yaml",
      "PATCH /api/v1/namespaces/n/configmaps/a?force=false&fieldManager=me application/apply-patch+yaml",
      "DELETE /api/v1/namespaces/n/configmaps/a application/json",
      "GET /api/v1/nodes/node-1",
      "POST /apis/x?a=b+c application/json",
    ]);
    expect(server.requests[7]?.body).toEqual({
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: "Foreground",
      preconditions: { uid: "u" },
    });
  });

  test("keeps the server's path, and unknown fields", async () => {
    const strange = { ...map, metadata: { ...map.metadata, future: [1] }, other: { x: null } };
    const { server } = await world((_, response) => json(response, strange));
    const client = createClient({ server: `${server.url}/clusters/demo/` });
    ends.push(() => client.close());
    expect(client.server).toBe(`${server.url}/clusters/demo`);
    expect(await client.get(ConfigMap, key)).toEqual(strange);
    expect(server.requests[0]?.path).toBe("/clusters/demo/api/v1/namespaces/n/configmaps/a");
  });

  test("refuses what would name another object", async () => {
    const { client, server } = await world((_, response) => json(response, map));
    expect((await thrown(client.get(ConfigMap, { namespace: "", name: "a" }))).code).toBe(
      "KUBERNETES_NAMESPACE_REQUIRED",
    );
    expect((await thrown(client.delete(ConfigMap, { namespace: "n", name: "" }))).code).toBe(
      "KUBERNETES_NAME_REQUIRED",
    );
    expect(server.requests).toEqual([]);
  });

  test("is never plain text off the loopback address", () => {
    for (const server of ["http://10.0.0.1:8080", "http://127.evil.example", "ftp://x", "nonsense"]) {
      expect(() => createClient({ server })).toThrow(CausewayError);
    }
  });

  test("rejects a response that is not a Kubernetes object", async () => {
    const { client } = await world((_, response) => void response.end("<html>hello"));
    expect((await thrown(client.get(ConfigMap, key))).code).toBe("KUBERNETES_MALFORMED_ANSWER");
    expect((await thrown(client.list(ConfigMap))).code).toBe("KUBERNETES_MALFORMED_ANSWER");
    expect(await client.request("GET", "/readyz")).toBe("<html>hello");
  });
});

describe("a list", () => {
  const page = (names: string[], token?: string) => ({
    kind: "ConfigMapList",
    apiVersion: "v1",
    metadata: { resourceVersion: "7", ...(token ? { continue: token } : {}) },
    items: names.map((name) => ({ metadata: { namespace: "n", name } })),
  });

  test("takes as many pages as there are, and names the kind of each item", async () => {
    const { client, server } = await world((request, response) =>
      json(response, request.query.get("continue") === "more" ? page(["b"]) : page(["a"], "more")),
    );
    const list = await client.list(ConfigMap, { namespace: "n", labelSelector: "a=b" });
    expect(list.resourceVersion).toBe("7");
    expect(list.items.map((item) => [item.apiVersion, item.kind, item.metadata.name])).toEqual([
      ["v1", "ConfigMap", "a"],
      ["v1", "ConfigMap", "b"],
    ]);
    expect(server.requests.map((request) => request.query.get("limit"))).toEqual(["500", "500"]);
  });

  test("begins again, once, when its continue token has expired", async () => {
    let expired = 0;
    const { client } = await world((request, response) => {
      if (!request.query.has("continue")) return json(response, page(["a"], "old"));
      return expired++ === 0 ? refuse(response, 410, "Expired") : json(response, page(["b"]));
    });
    expect((await client.list(ConfigMap)).items.map((item) => item.metadata.name)).toEqual(["a", "b"]);
  });
});

describe("the Kubernetes client", () => {
  const retryHeader = (code: number) => {
    let asked = 0;
    const answer: Answer = (_, response) => {
      if (asked++ > 0) return json(response, map);
      response.setHeader("retry-after", "3");
      return refuse(response, code, code === 429 ? "TooManyRequests" : "ServiceUnavailable");
    };
    return answer;
  };
  const waits = (): { clock: VirtualClock; slept: number[] } => {
    const slept: number[] = [];
    class RecordingClock extends VirtualClock {
      override sleep(milliseconds: number): Promise<void> {
        slept.push(milliseconds);
        return Promise.resolve();
      }
    }
    return { clock: new RecordingClock(), slept };
  };

  test.each<[string, number, (client: KubernetesClient) => Promise<unknown>, boolean]>([
    ["a read after a 429", 429, (client) => client.get(ConfigMap, key), true],
    ["a create after a 429, which was not acted on", 429, (client) => client.create(ConfigMap, map), true],
    ["an apply after a 503", 503, (client) => client.apply(ConfigMap, map, { fieldManager: "me" }), true],
    ["no create after a 503, which may have been acted on", 503, (client) => client.create(ConfigMap, map), false],
    [
      "no JSON patch after a 503",
      503,
      (client) => client.patch(ConfigMap, key, { type: "json", body: [{ op: "add", path: "/x/-", value: 1 }] }),
      false,
    ],
  ])("repeats %s", async (_, code, call, repeated) => {
    const { clock, slept } = waits();
    const { client } = await world(retryHeader(code), {}, { clock });
    if (repeated) await call(client);
    else await thrown(call(client));
    expect(slept).toEqual(repeated ? [3000] : []);
  });

  test("reads the token file again when the server refuses the token", async () => {
    const directory = await mkdtemp(join(tmpdir(), "token-"));
    ends.push(() => rm(directory, { recursive: true }));
    const tokenFile = join(directory, "token");
    await writeFile(tokenFile, "one\n");
    const { client, server } = await world(
      (request, response) =>
        request.headers.authorization === "Bearer two" ? json(response, map) : refuse(response, 401, "Unauthorized"),
      { tokenFile },
    );
    expect((await thrown(client.get(ConfigMap, key))).code).toBe("KUBERNETES_UNAUTHORIZED");
    await writeFile(tokenFile, "two\n");
    await client.get(ConfigMap, key);
    expect(server.requests.map((request) => request.headers.authorization).at(-1)).toBe("Bearer two");
  });

  test("runs the credential plugin again when the server refuses its token", async () => {
    const directory = await mkdtemp(join(tmpdir(), "plugin-"));
    ends.push(() => rm(directory, { recursive: true }));
    const command = join(directory, "plugin");
    // Each run gives another token, and shows that the request came in.
    await writeFile(
      command,
      `#!/bin/sh
case "$KUBERNETES_EXEC_INFO" in *'"interactive":false'*) ;; *) exit 1;; esac
echo x >> ${directory}/runs
echo "{\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"t$(wc -l < ${directory}/runs | tr -d ' ')\\"}}"
`,
    );
    await chmod(command, 0o755);
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command,
      args: [],
      env: {},
      provideClusterInfo: true,
      interactiveMode: "IfAvailable" as const,
    };
    const { client, server } = await world(
      (request, response) =>
        request.headers.authorization === "Bearer t2" ? json(response, map) : refuse(response, 401, "Unauthorized"),
      { exec },
    );
    await client.get(ConfigMap, key);
    await client.get(ConfigMap, key);
    expect(server.requests.map((request) => request.headers.authorization)).toEqual([
      "Bearer t1",
      "Bearer t2",
      "Bearer t2",
    ]);
  });

  test("says which plugin is missing, and how to get it", async () => {
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "no-such-plugin-anywhere",
      args: [],
      env: {},
      provideClusterInfo: false,
      interactiveMode: "Never" as const,
      installHint: "Get it from the cloud.",
    };
    const { client } = await world((_, response) => json(response, map), { exec });
    const error = await thrown(client.get(ConfigMap, key));
    expect(error).toMatchObject({ code: "KUBERNETES_EXEC_PLUGIN", hint: "Get it from the cloud." });
  });
});

describe("a server that cannot be reached", () => {
  test("is reported as such", async () => {
    const { client, server } = await world((_, response) => void response.destroy());
    expect(errors.isUnreachable(await thrown(client.create(ConfigMap, map)))).toBe(true);
    await server.stop();
    const error = await thrown(client.get(ConfigMap, key));
    expect(errors.isUnreachable(error)).toBe(true);
    expect(error.hint).toContain("Check that the API server runs");
    await server.listen(0);
  });

  test("is not what an abort looks like", async () => {
    const { client } = await world(() => {});
    const stop = new AbortController();
    const reason = new Error("enough");
    const asked = client.get(ConfigMap, key, { signal: stop.signal });
    setTimeout(() => stop.abort(reason), 20);
    await expect(asked).rejects.toBe(reason);
    await expect(client.get(ConfigMap, key, { signal: stop.signal })).rejects.toBe(reason);
  });
});

describe("a watch", () => {
  test("gives events and bookmarks, in pieces however cut", async () => {
    const { client } = await world(async (_, response) => {
      openWatch(response);
      const text = [
        { type: "ADDED", object: { ...map, data: { x: "é" } } },
        { type: "BOOKMARK", object: { kind: "ConfigMap", metadata: { resourceVersion: "9" } } },
      ]
        .map((each) => `${JSON.stringify(each)}\n`)
        .join("");
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    const events = await Array.fromAsync(client.watch(ConfigMap, { resourceVersion: "5", timeoutSeconds: 60 }));
    expect(events).toEqual([
      { type: "ADDED", object: { ...map, data: { x: "é" } } },
      { type: "BOOKMARK", resourceVersion: "9" },
    ]);
  });

  test("throws what an ERROR event represents", async () => {
    const { client } = await world((_, response) =>
      openWatch(response)("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old" }),
    );
    const error = await thrown(Array.fromAsync(client.watch(ConfigMap, { resourceVersion: "5" })));
    expect(errors.isExpired(error)).toBe(true);
  });

  test("closes its connection when its reader leaves", async () => {
    const closed = Promise.withResolvers<void>();
    const opened: number[] = [];
    const { client } = await world(
      (_, response) => {
        response.on("close", () => closed.resolve());
        openWatch(response)("ADDED", map);
      },
      {},
      { onWatch: (change) => opened.push(change) },
    );
    for await (const event of client.watch(ConfigMap, { resourceVersion: "5" })) {
      expect(event.type).toBe("ADDED");
      break;
    }
    await closed.promise;
    expect(opened).toEqual([1, -1]);
  });
});

test("requests are measured under client-go's names, with those that got no answer", async () => {
  const metrics = createMetrics();
  let refusals = 1;
  const { server, client } = await world(
    (_, response) => {
      if (refusals-- > 0) response.setHeader("retry-after", "0");
      if (response.hasHeader("retry-after")) return refuse(response, 429, "TooManyRequests", "not now");
      return json(response, map);
    },
    {},
    { metrics },
  );
  const { host } = new URL(server.url);
  await client.get(ConfigMap, key);
  await server.stop();
  await thrown(client.create(ConfigMap, map));
  const text = await metrics.render();
  expect(text).toContain(`rest_client_requests_total{code="429",method="GET",host="${host}"} 1`);
  expect(text).toContain(`rest_client_requests_total{code="200",method="GET",host="${host}"} 1`);
  expect(text).toContain(`rest_client_requests_total{code="<error>",method="POST",host="${host}"} 1`);
  expect(text).toContain(`rest_client_request_retries_total{code="429",verb="GET",host="${host}"} 1`);
  expect(text).toContain(`rest_client_request_duration_seconds_count{verb="GET",host="${host}"} 2`);
  expect(text).toContain(`rest_client_request_size_bytes_count{verb="POST",host="${host}"} 1`);
});
