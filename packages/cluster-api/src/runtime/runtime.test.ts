import { createServer } from "node:https";
import { once } from "node:events";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import type { ExtensionConfig, ExtensionConfigStatus } from "@causeway/api";
import { afterEach, describe, expect, test } from "vitest";
import { createExtensionClient, longestResponse, urlOf } from "./client.ts";
import { handlersOf, readDiscovery } from "./handlers.ts";
import { hooksApi, readResponse } from "./hooks.ts";

const config = (
  name: string,
  spec: Partial<ExtensionConfig["spec"]> = {},
  handlers: ExtensionConfigStatus["handlers"] = [],
): ExtensionConfig => ({
  apiVersion: "runtime.cluster.x-k8s.io/v1beta2",
  kind: "ExtensionConfig",
  metadata: { name },
  spec: { clientConfig: { url: "https://ext.example.com" }, ...spec },
  status: { handlers },
});
const handler = (name: string, hook = "BeforeClusterUpgrade", more: object = {}) => ({
  name,
  requestHook: { apiVersion: hooksApi, hook },
  ...more,
});

describe("the URL of an extension", () => {
  test.each<[string, ExtensionConfig["spec"]["clientConfig"], string | RegExp]>([
    ["is its own", { url: "https://a.io:8443/base/" }, `https://a.io:8443/base/${hooksApi}/discovery`],
    ["is that of its Service", { service: { name: "e", namespace: "n" } }, `https://e.n.svc/${hooksApi}/discovery`],
    [
      "has the Service's port and path",
      { service: { name: "e", namespace: "n", port: 8443, path: "/p" } },
      `https://e.n.svc:8443/p/${hooksApi}/discovery`,
    ],
    ["is not plain HTTP", { url: "http://a.io" }, /must begin with https/],
    ["is not two", { url: "https://a.io", service: { name: "e", namespace: "n" } }, /exactly one/],
    ["is not none", {}, /exactly one/],
  ])("%s", (_, clientConfig, expected) => {
    const read = () => urlOf(config("e", { clientConfig }), "discovery").toString();
    if (typeof expected === "string") expect(read()).toBe(expected);
    else expect(read).toThrow(expected);
  });
});

describe("the response to discovery", () => {
  test("gives handlers with their defaults, by name", () => {
    const body = {
      status: "Success",
      handlers: [handler("b", "X", { failurePolicy: "Ignore", timeoutSeconds: 3 }), handler("a")],
    };
    expect(readDiscovery(body, "ext")).toEqual([
      { ...handler("a.ext"), timeoutSeconds: 10, failurePolicy: "Fail" },
      { ...handler("b.ext", "X"), timeoutSeconds: 3, failurePolicy: "Ignore" },
    ]);
    expect(readDiscovery({ status: "Success" }, "ext")).toEqual([]);
  });
  test.each<[string, unknown, RegExp]>([
    ["that is not an object", [], /not a JSON object/],
    ["that failed", { status: "Failure", message: "why" }, /discovery failed: why/],
    ["with a wrong name", { status: "Success", handlers: [handler("A b")] }, /is not a name/],
    ["with a name twice", { status: "Success", handlers: [handler("a"), handler("a")] }, /the same name/],
    ["without a hook", { status: "Success", handlers: [{ name: "a" }] }, /names no hook/],
    [
      "with a long timeout",
      { status: "Success", handlers: [handler("a", "X", { timeoutSeconds: 31 })] },
      /from 1 to 30/,
    ],
    ["with another policy", { status: "Success", handlers: [handler("a", "X", { failurePolicy: "No" })] }, /neither/],
    ["with too many", { status: "Success", handlers: Array.from({ length: 101 }, () => handler("a")) }, /100 handlers/],
  ])("%s is an error", (_, body, expected) => {
    expect(() => readDiscovery(body, "ext")).toThrow(expected);
  });
});

test("handlers are those of the hook and the namespace, by extension and name", () => {
  const configs = [
    config("z", {}, [handler("a.z")]),
    config("b", { namespaceSelector: { matchLabels: { team: "x" } } }, [handler("a.b")]),
    config("c", {}, [
      handler("a.c", "Other"),
      handler("d.c", "BeforeClusterUpgrade", { timeoutSeconds: 99, failurePolicy: "Ignore" }),
    ]),
  ];
  const of = (namespaceLabels: Record<string, string>) =>
    handlersOf(configs, { hook: "BeforeClusterUpgrade", namespaceLabels }).map(
      ({ config: { metadata }, name, timeout, isIgnorable }) => [metadata.name, name, timeout, isIgnorable],
    );
  expect(of({})).toEqual([
    ["c", "d", 30_000, true],
    ["z", "a", 10_000, false],
  ]);
  expect(of({ team: "x" }).map(([name]) => name)).toEqual(["b", "c", "z"]);
});

test.each<[unknown, object | RegExp]>([
  [{ status: "Success" }, { status: "Success", message: "", retryAfterSeconds: 0 }],
  [
    { status: "Success", retryAfterSeconds: 5, message: "m" },
    { status: "Success", message: "m", retryAfterSeconds: 5 },
  ],
  [{ status: "Success", retryAfterSeconds: -1 }, /whole number/],
  [{ status: "Yes" }, /no status/],
  ["x", /not a JSON object/],
])("the response %j is read", (body, expected) => {
  if (expected instanceof RegExp) expect(() => readResponse(body)).toThrow(expected);
  else expect(readResponse(body)).toEqual(expected);
});

describe("a call", () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  /** An extension that answers with this. */
  async function extension(answer: (path: string, body: string) => { status?: number; text: string } | undefined) {
    const now = Date.now();
    const authority = await createAuthority({ commonName: "authority", lifetime: 3_600_000, now });
    const pair = await issueCertificate(authority, {
      commonName: "extension",
      ipAddresses: ["127.0.0.1"],
      usages: ["server"],
      lifetime: 3_600_000,
      now,
    });
    const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const made = answer(request.url ?? "", body);
        if (made) response.writeHead(made.status ?? 200).end(made.text);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as { port: number };
    const caBundle = Buffer.from(authority.certificate).toString("base64");
    return { clientConfig: { url: `https://127.0.0.1:${port}`, caBundle } };
  }
  const call = (spec: ExtensionConfig["spec"], timeout = 5_000) =>
    createExtensionClient().call(
      { config: config("ext", spec), path: "beforeclusterupgrade/a", body: { x: 1 }, timeout },
      new AbortController().signal,
    );

  test("posts JSON to the handler's path and reads JSON", async () => {
    const seen: string[] = [];
    const spec = await extension((path, body) => {
      seen.push(path, body);
      return { text: '{"status":"Success"}' };
    });
    expect(await call(spec)).toEqual({ status: "Success" });
    expect(seen).toEqual([`/${hooksApi}/beforeclusterupgrade/a`, '{"x":1}']);
  });
  test.each<[string, () => { status?: number; text: string } | undefined, number, RegExp]>([
    ["no response in time", () => undefined, 100, /no response in 100 ms/],
    ["an error", () => ({ status: 500, text: "" }), 5_000, /status 500/],
    ["no JSON", () => ({ text: "<html>" }), 5_000, /JSON/],
    ["too much", () => ({ text: " ".repeat(longestResponse + 1) }), 5_000, /more than 1048576 bytes/],
  ])("fails at %s", async (_, answer, timeout, expected) => {
    await expect(call(await extension(answer), timeout)).rejects.toThrow(expected);
  });
  test("fails where the authority is another", async () => {
    const { clientConfig } = await extension(() => ({ text: "{}" }));
    const { caBundle } = (await extension(() => ({ text: "{}" }))).clientConfig;
    await expect(call({ clientConfig: { ...clientConfig, caBundle } })).rejects.toMatchObject({
      code: "RUNTIME_EXTENSION_FAILED",
    });
  });
});
