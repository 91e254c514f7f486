import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { getCondition, Namespace, type Condition } from "@causeway/kubernetes";
import { GATEWAY_CONTROLLER } from "../names.ts";
import {
  Gateway,
  GatewayClass,
  HTTPRoute,
  refusedRoutes,
  type GatewayListener,
  type GatewaySpec,
  type RouteRule,
  type RouteSpec,
} from "../objects/gateway.ts";
import { installGatewayKinds, OldReferenceGrant, OldTlsRoute } from "../testing/gateway-kinds.ts";
import { IngressWorld } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const NAME = "kube_gateway_c_default_web";
let w: IngressWorld;

beforeAll(async () => {
  w = await IngressWorld.start();
  await installGatewayKinds(w.client);
  for (const [i, name] of ["one", "two"].entries()) await w.service(name, 30_001 + i);
  await w.client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } });
  await w.service("far", 30_009, "other");
  const spec = { controllerName: GATEWAY_CONTROLLER };
  const apiVersion = "gateway.networking.k8s.io/v1";
  await w.client.create(GatewayClass, { apiVersion, kind: "GatewayClass", metadata: { name: "octavia" }, spec });
  w.run();
});
afterEach(async () => {
  for (const type of [HTTPRoute, OldTlsRoute, ...refusedRoutes])
    for (const { metadata } of (await w.client.list(type)).items)
      await w.client.delete(type, { namespace: metadata.namespace ?? "", name: metadata.name });
  for (const { metadata } of (await w.client.list(OldReferenceGrant)).items)
    await w.client.delete(OldReferenceGrant, { namespace: metadata.namespace ?? "", name: metadata.name });
  for (const { metadata } of (await w.client.list(Gateway)).items)
    await w.client.delete(Gateway, { namespace: "default", name: metadata.name });
  await w.until("Gateways to go", async () => (await w.client.list(Gateway)).items.length === 0);
  expect(await w.left()).toEqual([]);
});
afterAll(() => w.close());

const http: GatewayListener = { name: "http", port: 80, protocol: "HTTP" };
const both = (port: number): string => `10.88.0.10:${port},10.88.0.11:${port}`;
const rule = (path: string, service: string, more: Partial<RouteRule> = {}): RouteRule => ({
  matches: [{ path: { type: "PathPrefix", value: path } }],
  backendRefs: [{ name: service, port: 80 }],
  ...more,
});

async function gateway(listeners: readonly GatewayListener[], more: Partial<GatewaySpec> = {}): Promise<void> {
  const metadata = { name: "web", namespace: "default" };
  const spec = { gatewayClassName: "octavia", listeners: [...listeners], ...more };
  await w.client.create(Gateway, { apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", metadata, spec });
}

async function route(
  name: string,
  spec: RouteSpec,
  how: { namespace?: string; kind?: "TLSRoute" } = {},
): Promise<void> {
  const { namespace = "default", kind } = how;
  const type = kind ? OldTlsRoute : HTTPRoute;
  await w.client.create(type, {
    apiVersion: `gateway.networking.k8s.io/${type.version}`,
    kind: type.kind,
    metadata: { name, namespace },
    spec: { parentRefs: [{ name: "web", namespace: "default" }], ...spec },
  });
}

const programmed = (): Promise<Gateway> =>
  w.until("the Gateway to be programmed", async () => {
    const found = await w.client.get(Gateway, { namespace: "default", name: "web" });
    return getCondition(found.status?.conditions, "Programmed")?.status === "True" && found;
  });

function conditionOf(
  name: string,
  type: string,
  how: { namespace?: string; kind?: "TLSRoute" } = {},
): Promise<Condition> {
  return w.until(`condition ${type} of ${name}`, async () => {
    const kind = how.kind ? OldTlsRoute : HTTPRoute;
    const found = await w.client.get(kind, { namespace: how.namespace ?? "default", name });
    return getCondition(found.status?.parents[0]?.conditions, type);
  });
}

async function listenerCondition(listener: string, type: string): Promise<Condition> {
  return w.until(`condition ${type} of listener ${listener}`, async () => {
    const found = await w.client.get(Gateway, { namespace: "default", name: "web" });
    return getCondition(found.status?.listeners?.find(({ name }) => name === listener)?.conditions, type);
  });
}

describe("a Gateway with HTTPRoutes", () => {
  test("is one load balancer, whose policies are in the order of the Gateway API", async () => {
    await gateway([http]);
    await route("shop", { hostnames: ["shop.example"], rules: [rule("/", "one"), rule("/cart", "two")] });
    const found = await programmed();
    const [lb] = await w.cloud.loadBalancing.loadBalancers.all({ name: NAME });
    expect(found.status?.addresses).toEqual([{ type: "IPAddress", value: lb?.vip_address }]);
    const wanted = [
      `^/cart(/.*)?$ ^shop\\.example(:80)?$ -> ${both(30_002)}`,
      `/ ^shop\\.example(:80)?$ -> ${both(30_001)}`,
    ];
    await w.until("the routes", async () => JSON.stringify(await w.routes(NAME)) === JSON.stringify(wanted));
    expect(await conditionOf("shop", "Accepted")).toMatchObject({ status: "True", reason: "Accepted" });
    expect(await conditionOf("shop", "ResolvedRefs")).toMatchObject({ status: "True" });
    await w.until("one attached route", async () => {
      const { status } = await w.client.get(Gateway, { namespace: "default", name: "web" });
      return status?.listeners?.[0]?.attachedRoutes === 1;
    });
    const accepted = await w.client.get(GatewayClass, { namespace: "", name: "octavia" });
    expect(getCondition(accepted.status?.conditions, "Accepted")?.status).toBe("True");
  });

  test.each([
    ["a query parameter", { matches: [{ queryParams: [{ name: "a", value: "b" }] }] }, "queryParams"],
    ["a method", { matches: [{ method: "GET" }] }, "method"],
    ["a header filter", { filters: [{ type: "RequestHeaderModifier" }] }, "filter RequestHeaderModifier"],
    ["a rewrite", { filters: [{ type: "URLRewrite" }] }, "filter URLRewrite"],
    ["a timeout", { timeouts: { request: "1s" } }, "timeouts"],
  ])("refuses a route with %s by name", async (_, more, name) => {
    await gateway([http]);
    await route("refused", { rules: [rule("/", "one", more as Partial<RouteRule>)] });
    const condition = await conditionOf("refused", "Accepted");
    expect(condition).toMatchObject({ status: "False", reason: "UnsupportedValue" });
    expect(condition.message).toContain(name);
  });

  test("shares requests by the weights of backends, and redirects", async () => {
    await gateway([http]);
    const backendRefs = [
      { name: "one", port: 80, weight: 90 },
      { name: "two", port: 80, weight: 10 },
    ];
    await route("weighted", {
      hostnames: ["a.example"],
      rules: [
        rule("/", "one", { backendRefs }),
        rule("/old", "one", {
          filters: [{ type: "RequestRedirect", requestRedirect: { scheme: "https", statusCode: 301 } }],
        }),
      ],
    });
    await programmed();
    const policies = await w.until("two policies", async () => {
      const all = await w.cloud.loadBalancing.l7Policies.all();
      return all.length === 2 && all.every((p) => p.admin_state_up) && all;
    });
    const redirect = policies.find(({ action }) => action === "REDIRECT_PREFIX");
    expect(redirect).toMatchObject({ redirect_prefix: "https://a.example", redirect_http_code: 301, position: 1 });
    const pool = policies.find(({ action }) => action === "REDIRECT_TO_POOL")?.redirect_pool_id ?? "";
    const members = await w.until("four members", async () => {
      const all = await w.cloud.loadBalancing.members(pool).all();
      return all.length === 4 && all;
    });
    expect(members.map((m) => `${m.protocol_port} ${m.weight}`).sort()).toEqual([
      "30001 90",
      "30001 90",
      "30002 10",
      "30002 10",
    ]);
  });

  test("takes a backend of another namespace only with a ReferenceGrant", async () => {
    await gateway([http]);
    await route("far", { rules: [rule("/", "far", { backendRefs: [{ name: "far", namespace: "other", port: 80 }] })] });
    expect(await conditionOf("far", "ResolvedRefs")).toMatchObject({ status: "False", reason: "RefNotPermitted" });
    const from = [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "default" }];
    await w.client.create(OldReferenceGrant, {
      apiVersion: "gateway.networking.k8s.io/v1beta1",
      kind: "ReferenceGrant",
      metadata: { name: "grant", namespace: "other" },
      spec: { from, to: [{ group: "", kind: "Service" }] },
    });
    await w.until("the reference", async () => (await conditionOf("far", "ResolvedRefs")).status === "True");
    await w.until("members", async () => (await w.routes(NAME))[0]?.endsWith(both(30_009)));
  });

  test("does not attach a route of another namespace, hostname or listener", async () => {
    await gateway([{ ...http, hostname: "*.example" }]);
    await route("foreign", { rules: [rule("/", "far")] }, { namespace: "other" });
    await route("elsewhere", { hostnames: ["a.org"], rules: [rule("/", "one")] });
    await route("nowhere", { parentRefs: [{ name: "web", sectionName: "none" }], rules: [rule("/", "one")] });
    const reason = async (name: string, namespace = "default") =>
      (await conditionOf(name, "Accepted", { namespace })).reason;
    expect(await reason("foreign", "other")).toBe("NotAllowedByListeners");
    expect(await reason("elsewhere")).toBe("NoMatchingListenerHostname");
    expect(await reason("nowhere")).toBe("NoMatchingParent");
  });
});

test.each(refusedRoutes.map((type) => [type.kind, type] as const))(
  "the Gateway controller refuses a %s in its status",
  async (kind, type) => {
    await gateway([http]);
    await w.client.create(type, {
      apiVersion: `gateway.networking.k8s.io/${type.version}`,
      kind,
      metadata: { name: "other", namespace: "default" },
      spec: { parentRefs: [{ name: "web" }], rules: [{ backendRefs: [{ name: "one", port: 80 }] }] },
    });
    const accepted = await w.until("the condition", async () => {
      const found = await w.client.get(type, { namespace: "default", name: "other" });
      return getCondition(found.status?.parents[0]?.conditions, "Accepted");
    });
    expect(accepted).toMatchObject({ status: "False", reason: "NotAllowedByListeners" });
    expect(accepted.message).toContain(`${kind} is not supported`);
    expect((await programmed()).status?.listeners?.[0]?.attachedRoutes).toBe(0);
  },
);

describe("a Gateway with TLS", () => {
  test("ends TLS with its Secrets, and lets it through to one TLSRoute", async () => {
    const lifetime = 86_400_000;
    const authority = await createAuthority({ commonName: "ca", lifetime });
    const names = { commonName: "a.example", dnsNames: ["a.example"], usages: ["server" as const] };
    await w.secret("cert", await issueCertificate(authority, { ...names, lifetime }));
    await gateway([
      { name: "https", port: 443, protocol: "HTTPS", tls: { certificateRefs: [{ name: "cert" }] } },
      { name: "through", port: 8443, protocol: "TLS", tls: { mode: "Passthrough" } },
      { name: "tcp", port: 9000, protocol: "TCP" },
      { name: "bad", port: 8444, protocol: "HTTPS", tls: { certificateRefs: [{ name: "absent" }] } },
    ]);
    await route("web", { parentRefs: [{ name: "web", sectionName: "https" }], rules: [rule("/", "one")] });
    const through = { parentRefs: [{ name: "web", sectionName: "through" }], hostnames: ["t.example"] };
    await route("first", { ...through, rules: [{ backendRefs: [{ name: "two", port: 80 }] }] }, { kind: "TLSRoute" });
    await programmed();
    const protocols = async () => {
      const all = await w.cloud.loadBalancing.listeners.all();
      return all
        .map((l) => `${l.protocol} ${l.protocol_port}`)
        .sort()
        .join();
    };
    await w.until("both listeners", async () => (await protocols()) === "HTTPS 8443,TERMINATED_HTTPS 443");
    await w.until("the pool of the TLSRoute", async () => {
      const [listener] = await w.cloud.loadBalancing.listeners.all({ protocol_port: 8443 });
      return (listener?.default_pool_id ?? null) !== null;
    });
    expect((await conditionOf("first", "Accepted", { kind: "TLSRoute" })).message).toContain(
      "does not check the server name",
    );
    expect(await listenerCondition("tcp", "Accepted")).toMatchObject({
      status: "False",
      reason: "UnsupportedProtocol",
    });
    expect(await listenerCondition("bad", "ResolvedRefs")).toMatchObject({
      status: "False",
      reason: "InvalidCertificateRef",
    });
    expect(await listenerCondition("https", "Programmed")).toMatchObject({ status: "True" });
    await new Promise((done) => setTimeout(done, 1_100));
    await route("second", { ...through, rules: [{ backendRefs: [{ name: "one", port: 80 }] }] }, { kind: "TLSRoute" });
    expect(await conditionOf("second", "Accepted", { kind: "TLSRoute" })).toMatchObject({ reason: "UnsupportedValue" });
  });
});
