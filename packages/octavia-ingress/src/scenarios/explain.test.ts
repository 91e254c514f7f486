import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { GatewayClass, Gateway, HTTPRoute } from "../objects/gateway.ts";
import { explainGateway } from "../gateway/explain.ts";
import { annotation, GATEWAY_CONTROLLER } from "../names.ts";
import { installGatewayKinds } from "../testing/gateway-kinds.ts";
import { IngressWorld, to } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
let w: IngressWorld;
const key = { namespace: "default", name: "web" };

beforeAll(async () => {
  w = await IngressWorld.start();
  await installGatewayKinds(w.client);
  for (const [i, name] of ["one", "two"].entries()) await w.service(name, 30_001 + i);
});
afterEach(async () => {
  w.run();
  await w.clear();
  await w.stopAll();
  expect(await w.left()).toEqual([]);
});
afterAll(() => w.close());

const paths = (...list: ReturnType<typeof to>[]) => ({ rules: [{ host: "a.example", http: { paths: list } }] });

/** The types of the steps, round by round. */
async function steps(kind?: typeof explainGateway): Promise<string[][] | undefined> {
  const explained = await w.explain(key, kind);
  return explained?.rounds.map((round) => round.map(({ step }) => step.type));
}

/** The writes of the cloud that are planned. */
async function writes(): Promise<string[]> {
  const explained = await w.explain(key);
  const calls = (explained?.rounds ?? []).flat().flatMap((step) => step.calls);
  return calls
    .filter(({ method, service }) => method !== "GET" && service !== "kubernetes")
    .map(({ method, route }) => `${method} ${route.replaceAll("{id}", "ID")}`);
}

test("plan ingress shows every round of a new Ingress, and writes nothing", async () => {
  await w.ingress("web", paths(to("one"), to("two", "/two")), { annotations: { [annotation.internal]: "false" } });
  expect(await steps()).toEqual([["add-finalizer"], ["create-load-balancer"], ["create-floating-ip"]]);
  expect(await w.left()).toEqual([]);
});

test("plan ingress shows the writes that the controller then makes, and nothing at rest", async () => {
  const stop = w.run();
  await w.ingress("web", paths(to("one")));
  await w.address("web");
  await stop();
  expect(await steps()).toEqual([]);
  await w.change("web", { spec: paths(to("two", "/two"), to("one")) });
  const planned = await writes();
  expect(planned).toHaveLength(6);
  w.calls();
  w.run();
  await w.until("an end", async () => (await steps())?.length === 0);
  expect(w.calls().filter((call) => !call.startsWith("GET"))).toEqual(planned);
});

test("plan ingress shows fields that change with their values", async () => {
  const stop = w.run();
  await w.ingress("web", paths(to("one")));
  await w.address("web");
  await stop();
  const annotations = { [annotation.sourceRanges]: "10.0.0.0/8" };
  await w.change("web", { metadata: { annotations } });
  const explained = await w.explain(key);
  expect(explained?.rounds.flat().map(({ aim }) => aim)).toEqual([
    {
      type: "update-listener",
      target: expect.any(String),
      differences: [{ field: "allowed_cidrs", from: null, to: ["10.0.0.0/8"] }],
    },
  ]);
});

test("plan ingress shows the release of an Ingress that loses its class, and no Ingress of another controller", async () => {
  const stop = w.run();
  await w.ingress("web", paths(to("one")));
  await w.address("web");
  await stop();
  await w.change("web", { metadata: { annotations: { "kubernetes.io/ingress.class": "nginx" } } });
  expect((await steps())?.flat()).toEqual(["delete-load-balancer", "clear-status", "remove-finalizer"]);
  await w.change("web", { metadata: { annotations: { "kubernetes.io/ingress.class": "openstack" } } });
  expect(await w.explain({ namespace: "default", name: "none" })).toBeUndefined();
});

test("plan ingress shows every round of a Gateway", async () => {
  const apiVersion = "gateway.networking.k8s.io/v1";
  const spec = { controllerName: GATEWAY_CONTROLLER };
  await w.client.create(GatewayClass, { apiVersion, kind: "GatewayClass", metadata: { name: "octavia" }, spec });
  await w.client.create(Gateway, {
    apiVersion,
    kind: "Gateway",
    metadata: key,
    spec: { gatewayClassName: "octavia", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] },
  });
  const rules = [{ backendRefs: [{ name: "one", port: 80 }] }];
  const route = { parentRefs: [{ name: "web" }], rules };
  await w.client.create(HTTPRoute, { apiVersion, kind: "HTTPRoute", metadata: { ...key, name: "r" }, spec: route });
  expect(await steps(explainGateway)).toEqual([["add-finalizer"], ["create-load-balancer"]]);
  await w.client.delete(HTTPRoute, { ...key, name: "r" });
  await w.client.delete(Gateway, key);
});
