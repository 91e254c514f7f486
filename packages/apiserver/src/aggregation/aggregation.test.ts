import type { IncomingHttpHeaders } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { createAuthority, issueCertificate, systemClock, type KeyPair } from "@causeway/foundation";
import {
  createClient,
  loadKubeconfig,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { Agent, request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApiServer } from "../start.ts";
import type { ApiServer } from "../interface.ts";

const HOUR = 3_600_000;
const type = (group: string, kind: string, plural: string, namespaced: boolean): ResourceType<KubeObject> => ({
  group,
  version: "v1",
  kind,
  plural,
  namespaced,
});
const APIService = type("apiregistration.k8s.io", "APIService", "apiservices", false);
const Service = type("", "Service", "services", true);
const Endpoints = type("", "Endpoints", "endpoints", true);
const Namespace = type("", "Namespace", "namespaces", false);
const ConfigMap = type("", "ConfigMap", "configmaps", true);

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly proxy: string;
}

let server: ApiServer;
let client: KubernetesClient;
let extension: Server;
let authority: KeyPair;
/** What clients requested; what the server itself requests, at times of its own, is in `probes`. */
let seen: Seen[] = [];
const probes: Seen[] = [];
let api: (
  method: string,
  path: string,
  options?: { body?: string; headers?: Record<string, string> },
) => Promise<{ code: number; body: string; headers: Record<string, unknown> }>;
const closing: (() => unknown)[] = [];

const resources = [
  { name: "gadgets", singularName: "gadget", namespaced: true, kind: "Gadget", verbs: ["get", "list"] },
  { name: "gadgets/status", singularName: "", namespaced: true, kind: "Gadget", verbs: ["get"] },
];

async function until<T>(probe: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    await systemClock.sleep(10);
  }
}

const condition = (name: string): Promise<Record<string, string> | undefined> =>
  client
    .find(APIService, { namespace: "", name })
    .then(
      (found) => (found as unknown as { status?: { conditions?: Record<string, string>[] } })?.status?.conditions?.[0],
    );

beforeAll(async () => {
  server = await startApiServer();
  closing.push(() => server.close());
  const text = await server.management.kubeconfig();
  const config = loadKubeconfig({ text });
  client = createClient(config);
  closing.push(() => client.close());
  const parsed = JSON.parse(JSON.stringify(config)) as {
    ca?: string;
    certificate?: string;
    key?: string;
    server: string;
  };
  const agent = new Agent({ connect: { ca: parsed.ca, cert: parsed.certificate, key: parsed.key } as object });
  closing.push(() => agent.close());
  api = async (method, path, { body, headers = {} } = {}) => {
    const answer = await request(`${parsed.server}${path}`, {
      method,
      dispatcher: agent,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return { code: answer.statusCode, body: await answer.body.text(), headers: answer.headers };
  };
  authority = await createAuthority({ commonName: "extension", lifetime: HOUR });
  const issued = await issueCertificate(authority, {
    commonName: "gadgets",
    dnsNames: ["gadgets.shop.svc"],
    usages: ["server"],
    lifetime: HOUR,
  });
  // As an extension server does: it believes those whom the ConfigMap names.
  const trust = await until(() =>
    client.find(ConfigMap, { namespace: "kube-system", name: "extension-apiserver-authentication" }),
  );
  const { data } = trust as unknown as { data: Record<string, string> };
  expect(data["requestheader-allowed-names"]).toBe('["front-proxy-client"]');
  extension = createServer(
    {
      cert: issued.certificate,
      key: issued.key,
      ca: data["requestheader-client-ca-file"] ?? "",
      requestCert: true,
      rejectUnauthorized: true,
    },
    (incoming, response) => {
      let body = "";
      incoming.on("data", (chunk: Buffer) => (body += chunk.toString()));
      incoming.on("end", () => {
        const proxy = String((incoming.socket as TLSSocket).getPeerCertificate().subject.CN);
        const own = incoming.headers["x-remote-user"] === "system:kube-aggregator";
        (own ? probes : seen).push({
          method: incoming.method,
          url: incoming.url,
          headers: incoming.headers,
          body,
          proxy,
        });
        const url = incoming.url ?? "";
        response.setHeader("content-type", "application/json");
        if (url === "/apis/gadgets.example.org/v1")
          return void response.end(
            JSON.stringify({ kind: "APIResourceList", groupVersion: "gadgets.example.org/v1", resources }),
          );
        if (url === "/openapi/v2")
          return void response.end(
            JSON.stringify({
              paths: {
                "/apis/gadgets.example.org/v1/gadgets": { get: { schema: { $ref: "#/definitions/Gadget" } } },
                "/other": {},
              },
              definitions: {
                Gadget: { properties: { part: { $ref: "#/definitions/Part" } } },
                Part: { type: "object" },
                Unused: {},
              },
            }),
          );
        if (url.includes("teapot")) return void response.writeHead(418).end('{"kind":"Status"}');
        if (url.includes("watch=true")) return void response.write('{"type":"ADDED"}\n');
        response.end(JSON.stringify({ kind: "GadgetList", items: [] }));
      });
    },
  );
  await new Promise<void>((done) => extension.listen(0, "127.0.0.1", done));
  closing.push(() => {
    extension.closeAllConnections();
    return new Promise((done) => extension.close(done));
  });
}, 120_000);
afterAll(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const manifest = (kind: string, apiVersion: string, metadata: object, rest: object): KubeObject =>
  ({ apiVersion, kind, metadata, ...rest }) as KubeObject;
const apiService = (group: string, changes: object = {}): KubeObject =>
  manifest(
    "APIService",
    "apiregistration.k8s.io/v1",
    { name: `v1.${group}` },
    {
      spec: {
        group,
        version: "v1",
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        service: { namespace: "shop", name: "gadgets" },
        caBundle: Buffer.from(authority.certificate).toString("base64"),
        ...changes,
      },
    },
  );

describe("an aggregated API", () => {
  const root = "/apis/gadgets.example.org/v1";
  beforeAll(async () => {
    await client.create(Namespace, manifest("Namespace", "v1", { name: "shop" }, {}));
    await client.create(APIService, apiService("gadgets.example.org"));
  });

  test("is not available until its Service has endpoints, and says why", async () => {
    const reason = (wanted: string) =>
      until(async () => ((await condition("v1.gadgets.example.org"))?.["reason"] === wanted ? true : undefined));
    await reason("ServiceNotFound");
    expect((await api("GET", `${root}/gadgets`)).code).toBe(503);
    await client.create(
      Service,
      manifest(
        "Service",
        "v1",
        { name: "gadgets", namespace: "shop" },
        { spec: { clusterIP: "None", ports: [{ name: "https", port: 443 }] } },
      ),
    );
    await reason("EndpointsNotFound");
    const { port } = extension.address() as AddressInfo;
    await client.create(
      Endpoints,
      manifest(
        "Endpoints",
        "v1",
        { name: "gadgets", namespace: "shop" },
        { subsets: [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ name: "https", port }] }] },
      ),
    );
    await reason("Passed");
    expect(await condition("v1.gadgets.example.org")).toMatchObject({ status: "True", message: "all checks passed" });
    // The check is the aggregator's own request.
    expect(probes[0]).toMatchObject({ url: root, headers: { "x-remote-user": "system:kube-aggregator" } });
  });

  test("is served by its server for the user who asks, without the user's credentials and claimed identities", async () => {
    seen = [];
    const answer = await api("POST", `${root}/namespaces/shop/gadgets?dryRun=All`, {
      body: '{"kind":"Gadget"}',
      headers: {
        "content-type": "application/json",
        "x-remote-user": "evil",
        "x-remote-extra-a": "evil",
        "impersonate-user": "jane",
        "impersonate-group": "system:masters",
      },
    });
    expect(answer).toMatchObject({ code: 200, body: '{"kind":"GadgetList","items":[]}' });
    expect(seen).toHaveLength(1);
    const [{ headers, ...rest } = { headers: {} }] = seen;
    expect(rest).toEqual({
      method: "POST",
      url: `${root}/namespaces/shop/gadgets?dryRun=All`,
      body: '{"kind":"Gadget"}',
      proxy: "front-proxy-client",
    });
    expect(headers).toMatchObject({
      "x-remote-user": "jane",
      "x-remote-group": "system:masters, system:authenticated",
      host: "gadgets.shop.svc",
    });
    expect(Object.keys(headers).filter((name) => /^(impersonate|authorization|x-remote-extra)/.test(name))).toEqual([]);
    expect(await api("GET", `${root}/namespaces/shop/gadgets/teapot`)).toMatchObject({
      code: 418,
      body: '{"kind":"Status"}',
    });
  });

  test("is authorized before anything is passed on", async () => {
    seen = [];
    const answer = await api("GET", `${root}/gadgets`, { headers: { "impersonate-user": "jane" } });
    expect(answer.code).toBe(403);
    expect(answer.body).toContain('cannot list resource \\"gadgets\\" in API group \\"gadgets.example.org\\"');
    expect((await api("GET", `${root}/gadgets%2Fx`)).code).toBe(400);
    expect(seen).toEqual([]);
  });

  test("refuses bodies beyond the limit of this server", async () => {
    const answer = await api("POST", `${root}/namespaces/shop/gadgets`, { body: "x".repeat(3 * 1024 * 1024 + 1) });
    expect(answer.code).toBe(413);
  });

  test("streams a watch, and ends it when the client goes", async () => {
    seen = [];
    const stop = new AbortController();
    const kubeconfig = loadKubeconfig({ text: await server.management.kubeconfig() });
    const watcher = createClient(kubeconfig);
    closing.push(() => watcher.close());
    const ended = new Promise<void>((resolve) =>
      extension.once("request", (incoming) => incoming.socket.once("close", () => resolve())),
    );
    const parsed = JSON.parse(JSON.stringify(kubeconfig)) as {
      ca: string;
      certificate: string;
      key: string;
      server: string;
    };
    const agent = new Agent({ connect: { ca: parsed.ca, cert: parsed.certificate, key: parsed.key } as object });
    const answer = await request(`${parsed.server}${root}/gadgets?watch=true`, {
      dispatcher: agent,
      signal: stop.signal,
    });
    const [line] = await answer.body.take(1).toArray();
    expect(String(line)).toContain("ADDED");
    await agent.destroy().catch(() => {});
    await ended;
  });

  test("is in discovery, aggregated and not, and in OpenAPI", async () => {
    const json = async (path: string, accept = "application/json") =>
      JSON.parse((await api("GET", path, { headers: { accept } })).body) as Record<string, unknown>;
    const { groups } = (await json("/apis")) as { groups: { name: string }[] };
    expect(groups.find(({ name }) => name === "gadgets.example.org")).toMatchObject({
      preferredVersion: { version: "v1" },
    });
    expect(await json("/apis/gadgets.example.org")).toMatchObject({ kind: "APIGroup", name: "gadgets.example.org" });
    expect(await json(root)).toMatchObject({ kind: "APIResourceList" });
    const { items } = (await json("/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")) as {
      items: { metadata: { name: string }; versions: unknown[] }[];
    };
    expect(items.find(({ metadata }) => metadata.name === "gadgets.example.org")?.versions).toEqual([
      {
        version: "v1",
        freshness: "Current",
        resources: [
          {
            resource: "gadgets",
            responseKind: { group: "gadgets.example.org", version: "v1", kind: "Gadget" },
            scope: "Namespaced",
            singularResource: "gadget",
            verbs: ["get", "list"],
            subresources: [
              {
                subresource: "status",
                responseKind: { group: "gadgets.example.org", version: "v1", kind: "Gadget" },
                verbs: ["get"],
              },
            ],
          },
        ],
      },
    ]);
    const swagger = (await json("/openapi/v2")) as { paths: object; definitions: object };
    expect(swagger.paths).toHaveProperty(["/apis/gadgets.example.org/v1/gadgets"]);
    expect(swagger.paths).not.toHaveProperty(["/other"]);
    expect(swagger.definitions).toMatchObject({ Gadget: {}, Part: { type: "object" } });
    expect(swagger.definitions).not.toHaveProperty("Unused");
    expect(((await json("/openapi/v3")) as { paths: object }).paths).toHaveProperty(["apis/gadgets.example.org/v1"]);
  });

  test("does not replace a group of this server, and is gone with its APIService", async () => {
    await client.create(APIService, apiService("apps"));
    await until(async () => ((await condition("v1.apps"))?.["reason"] === "ServedLocally" ? true : undefined));
    seen = [];
    expect((await api("GET", "/apis/apps/v1/deployments")).body).toContain("DeploymentList");
    expect(seen).toEqual([]);
    await client.delete(APIService, { namespace: "", name: "v1.gadgets.example.org" });
    expect((await api("GET", `${root}/gadgets`)).code).toBe(404);
  });

  const refused: [string, object, string][] = [
    ["another name", { version: "v2" }, "metadata.name"],
    ["no priority", { groupPriorityMinimum: 0 }, "spec.groupPriorityMinimum"],
    ["too high a priority", { versionPriority: 1001 }, "spec.versionPriority"],
    ["a bundle that is not checked", { insecureSkipTLSVerify: true }, "spec.insecureSkipTLSVerify"],
    ["a Service without a name", { service: { namespace: "shop" } }, "spec.service.name"],
  ];
  test.each(refused)("is refused with %s", async (_, changes, field) => {
    await expect(client.create(APIService, apiService("refused.example.org", changes))).rejects.toThrow(field);
  });
});
